/* dump=FOLDER: islands whose answers missed the tolerance, each a file that `pcontact bench solver FILE` solves again. */
#ifndef PC_ODE_DUMP_H
#define PC_ODE_DUMP_H

#include "adapters/ode/registry.h"

/* Whether the folder that the settings name is there, or could be made, and can be written to. */
pcStatus pcDumpCheck(const pcSettings* settings);

/* From now on as the world's settings say. */
void pcDumpStart(pcHost* host);

#endif
