/* An answer into the world: new velocities, ODE's own integration of them, joint feedback. */
#ifndef PC_ODE_INJECT_H
#define PC_ODE_INJECT_H

#include "adapters/ode/gather.h"

/* PC_OK if ODE's functions for it were found. */
pcStatus pcInjectReady(void);

/* What ODE does at the beginning of every step: bodies that have been idle long enough are disabled. */
void pcInjectAutoDisable(dWorldID world, double h);

/* ODE's row and integration functions lean on what a step of its own sets up. A world that has had none, or whose host has given that
 * memory back, gets one in which every body sleeps: it does nothing else. */
void pcInjectPrepare(const pcGathered* gathered, dWorldID world);

/* A native step of a world in which auto-disable has had its turn already. */
void pcInjectNativeStep(const pcGathered* gathered, dWorldID world, double h, int (*step)(dWorldID, dReal));

/* Every body that is awake gets its velocity of gathered->velocity and moves: cap of the angular speed, finite rotation, moved callback
 * and damping are ODE's. `moved`: to the positions of gathered->moved. Force accumulators end empty, as after any step. */
void pcInjectVelocities(const pcGathered* gathered, bool moved, double h);

/* Forces and torques of joints and contact joints where the host asked for them. `touches` are the contacts as they were solved, the
 * gathered ones first. */
void pcInjectFeedback(const pcGathered* gathered, const pcContactResult* touches, int touchCount, double h);

#endif
