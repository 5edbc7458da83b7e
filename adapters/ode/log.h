/* report=FILE: one line per step. */
#ifndef PC_ODE_LOG_H
#define PC_ODE_LOG_H

#include "adapters/ode/registry.h"

/* Opens what the settings name, if it is not open already; closes what they no longer name. */
pcStatus pcHostLogOpen(pcHost* host);

/* The step just taken. */
void pcHostLog(pcHost* host);

#endif
