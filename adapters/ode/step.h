/* One step of an attached world: native, or gathered, solved and injected. */
#ifndef PC_ODE_STEP_H
#define PC_ODE_STEP_H

#include "adapters/ode/registry.h"

/* `native`: ODE's own step that the program called, for steps that cannot be ours. The model quick is always ODE's quick one. */
void pcHostStep(pcHost* host, double h, int (*native)(dWorldID, dReal));

#endif
