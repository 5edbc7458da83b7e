/* report=FILE: one line per step. */
#ifndef PC_ODE_LOG_H
#define PC_ODE_LOG_H

#include "adapters/ode/registry.h"

/* Opens the file of that name, if it is not open already, and closes the one before; "": none. On failure all stays as it was. */
pcStatus pcHostLogOpen(pcHost* host, const char* name);
void pcHostLogClose(pcHost* host);

/* The step just taken. */
void pcHostLog(pcHost* host);

#endif
