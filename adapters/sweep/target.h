/*
 * What the name of a parameter means in a world, and setting it.
 *
 *   gamma, solver, …            a setting
 *   step, time                  seconds per step, and of the whole trial
 *   gravity.x                   of the world
 *   mu, mu2, bounce             of every surface; mu sets mu2 too
 *   OBJECT.x … .yaw             where a model or a link starts: x y z roll pitch yaw, in the world; what belongs to it moves along
 *   OBJECT.vx … .wz             how fast its links start
 *   OBJECT.mass                 of each of its links; inertia in proportion
 *   OBJECT.mu, mu2, bounce, kp, kd, slip1, slip2        of its collisions
 *   JOINT.max_force, velocity, damping, stiffness, friction
 *
 * OBJECT is the name of a model, link or collision: "gripper", "gripper::left".
 */
#ifndef PC_SWEEP_TARGET_H
#define PC_SWEEP_TARGET_H

#include "adapters/sdf/scene.h"
#include "adapters/sweep/vary.h"

/* A world that belongs to one trial at a time: what can be varied is its own, the rest is shared with the scene it was made from. */
typedef struct pcTrialWorld {
    pcScene scene;
    const pcScene* source;
    pcSettings settings;
    double step, time;
} pcTrialWorld;

typedef struct pcTarget {
    int kind, field; /* private */
    char object[PC_VARY_NAME];
} pcTarget;

/* The source must outlive it. */
pcStatus pcTrialWorldMake(const pcScene* source, const pcSettings* settings, double step, double time, pcTrialWorld* out);
void pcTrialWorldFree(pcTrialWorld* world);

/* As the file has it, with other settings, step and time. */
void pcTrialWorldReset(pcTrialWorld* world, const pcSettings* settings, double step, double time);

/* PC_ERROR_ARGUMENT: no such thing, or not of that kind; one sentence. */
pcStatus pcTargetFind(const pcScene* scene, const char* name, pcTarget* out);
pcStatus pcTargetSet(const pcTarget* target, const pcVary* vary, double value, pcTrialWorld* world);

/* Whether `name` is the object or a part of it: "a::b" is of "a". */
int pcIsPartOf(const char* name, const char* object);

#endif
