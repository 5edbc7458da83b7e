/*
 * What the preload library needs of this one beyond the public headers, behind one exported function. It stands between a program and ODE,
 * sees every step and everything that is destroyed, and tells it here.
 *
 * Forgetting comes before the native destruction, for things that this library has never seen as well, from any thread, and also while
 * this library itself destroys something: hooks must be quick and must not be called with a lock held that they take.
 */
#ifndef PC_ODE_HOOKS_H
#define PC_ODE_HOOKS_H

#include "adapters/ode/host.h"
#include "adapters/ode/native.h"
#include "adapters/ode/shapes.h"

/* A world that is forgotten detaches. Its bodies follow one by one; its joints go without a word, and so do the joints of a group: nothing that
 * must not be stale may be kept by joint from one step to the next. */
typedef struct pcOdeHooks {
    const pcNative* (*native)(void);
    int (*attached)(dWorldID);
    pcStatus (*hostStep)(dWorldID, dReal, int);
    void (*forgetWorld)(dWorldID);
    void (*forgetBody)(dBodyID);
    void (*forgetJoint)(dJointID);
    void (*forgetGeom)(dGeomID); /* spaces too: they are geoms */
    void (*forgetAllGeoms)(void);
} pcOdeHooks;

/* Not for programs: only the preload library of the same build may call it. */
PC_API const pcOdeHooks* pcOdeHooksGet(void);

#endif
