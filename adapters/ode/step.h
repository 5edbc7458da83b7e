/* One step of an attached world: native, or gathered, solved and injected. */
#ifndef PC_ODE_STEP_H
#define PC_ODE_STEP_H

#include "adapters/ode/registry.h"

void pcHostStep(pcHost* host, double h);

#endif
