/* model=implicit for a world of ODE: the gathered system by the geometrically implicit step. */
#ifndef PC_ODE_IMPLICIT_H
#define PC_ODE_IMPLICIT_H

#include "adapters/ode/registry.h"

/* As pcSystemStep. The bodies end where ODE's own integration will put them. */
pcStatus pcHostImplicitStep(pcHost* host, const pcSystem* system, const pcSettings* settings, double h, pcSystemResult* result);

#endif
