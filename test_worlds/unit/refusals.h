/* Memory that is refused, block by block. */
#ifndef PC_UNIT_REFUSALS_H
#define PC_UNIT_REFUSALS_H

#include <stdbool.h>

#include "pcontact/types.h"

/* A failure is out of memory, and says so: or the test has failed. */
bool pcWentWell(pcStatus status);

/* Each block that `run` asks for is refused in turn, alone and with all that follow; there are more than `least`. `run` gives back all that it
 * has made, and returns whether all went well. */
void pcRefuseAll(bool (*run)(void), int least);

#endif
