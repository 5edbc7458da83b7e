/* ODE's table of colliders, and ours in it. */
#ifndef PC_ODE_COLLIDERS_H
#define PC_ODE_COLLIDERS_H

#include <stdbool.h>

/* While it is on, the overrides of this thread hand every pair to ODE. Returns what it was. */
bool pcOdeBypassOverrides(bool on);

#endif
