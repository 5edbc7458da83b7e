/* The rival of our step: ODE's dWorldStep on the same boxes with the same contacts. Silent, and it never ends the program. */
#ifndef PC_ADAPTERS_CLI_RIVAL_ODE_H
#define PC_ADAPTERS_CLI_RIVAL_ODE_H

#include "adapters/cli/bench_boxes.h"

typedef struct RivalOde RivalOde;

/* NULL: built without ODE, or it does not start. */
RivalOde* rivalOdeNew(const BoxScene* scene);
void rivalOdeFree(RivalOde* ode);

/* One step from these velocities, in the scene's position: what is found, and the ns of dWorldStep alone. Contact joints are made before
 * the clock starts. Negative: ODE gave up. */
double rivalOdeStep(RivalOde* ode, const double* velocity, BoxState* out);

/* Complaints of ODE so far. */
int rivalOdeMessages(const RivalOde* ode);

#endif
