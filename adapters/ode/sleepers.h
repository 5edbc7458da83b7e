/* Bodies that sleep where nothing that is awake can come within the step: they are left out of it. */
#ifndef PC_ODE_SLEEPERS_H
#define PC_ODE_SLEEPERS_H

#include "adapters/ode/space.h"

/* After waking: takes them out of the list. Contacts are those that there would be with them. */
void pcSleepersLeave(const pcSpace* space, pcGathered* gathered, dWorldID world, const pcSettings* settings, double h);

/* Once free velocities are known: nothing is faster than was thought. If false, the list must have them all. */
bool pcSleepersAreFar(const pcGathered* gathered);

#endif
