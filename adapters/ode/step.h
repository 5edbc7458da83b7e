/* One step of an attached world: native, or gathered, solved and injected. */
#ifndef PC_ODE_STEP_H
#define PC_ODE_STEP_H

#include "adapters/ode/registry.h"

/* `native`: ODE's own step that the program called, for steps that cannot be ours. The model quick is always ODE's quick one. */
/* A world that is set to ODE's own solver, and of which nobody wants to know more: its step is the native one, and counted. */
bool pcHostIsBare(const pcHost* host);
void pcHostStepBare(pcHost* host, double h, int (*native)(dWorldID, dReal));

/* Not PC_OK: the numbers of joints or contacts would end the program in ODE's own solver, and nothing was done. */
pcStatus pcHostStep(pcHost* host, double h, int (*native)(dWorldID, dReal));

/* How far ahead this world wants dCollide to look after a step of h: by lookahead=1 its margin; without one what two bodies, as fast as the
 * fastest of that step, cover in the next. 0 before the first step (h = 0), and for ODE's own models. */
double pcHostReach(const pcHost* host, double h);

#endif
