#include "adapters/ode/inject.h"

#include <pthread.h>
#include <string.h>

#include "adapters/ode/native.h"
#include "adapters/ode/probe.h"
#include "base/status.h"
#include "base/vec.h"

/* ---- ODE's functions ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void (*stepBody)(dBodyID, double);
static void (*handleAutoDisabling)(dWorldID, double);
static void* (*processingContext)(dWorldID); /* of a world that has stepped; NULL if the host has given its memory back */
static bool (*ensureSync)(void*, dWorldID);  /* the locks of such a context, made anew where the host has changed its threads */
static bool complete;

/* Worlds of a program without threads of its own share what ODE queues its work in. */
static pthread_mutex_t queueLock = PTHREAD_MUTEX_INITIALIZER;

static void find(void)
{
    complete = pcNativeOde() && pcNativeSymbol("_Z10dxStepBodyP6dxBodyd", &stepBody) &&
               pcNativeSymbol("_Z28dInternalHandleAutoDisablingP7dxWorldd", &handleAutoDisabling) &&
               pcNativeSymbol("_ZNK7dxWorld31unsafeGetWorldProcessingContextEv", &processingContext) &&
               pcNativeSymbol("_ZN21dxWorldProcessContext36EnsureStepperSyncObjectsAreAllocatedEP7dxWorld", &ensureSync);
}

pcStatus pcInjectReady(void)
{
    pthread_once(&once, find);
    if (complete) return PC_OK;
    return pcFail(PC_ERROR_UNSUPPORTED, "this build of ODE is not one we understand: its integration of a body was not found");
}

/* ---- steps around the step ---- */

void pcInjectAutoDisable(dWorldID world, double h) { handleAutoDisabling(world, h); }

void pcInjectPrepare(const pcGathered* g, dWorldID world)
{
    void* context = pcOdeHasMemory(world) ? processingContext(world) : NULL;
    if (context && ensureSync(context, world)) return;
    for (int i = 0; i < g->bodies; i++) {
        g->flags[i] = pcOdeBodyFlags(g->body[i]);
        pcOdeSetBodyFlags(g->body[i], g->flags[i] | pcOdeLayout()->disabled);
    }
    pthread_mutex_lock(&queueLock);
    pcNativeOde()->worldStep(world, 1.0);
    pthread_mutex_unlock(&queueLock);
    for (int i = 0; i < g->bodies; i++) pcOdeSetBodyFlags(g->body[i], g->flags[i]);
}

/* Only the auto-disable bit comes back: a body may have been woken within the step. */
void pcInjectNativeStep(const pcGathered* g, dWorldID world, double h, int (*step)(dWorldID, dReal))
{
    unsigned automatic = pcOdeLayout()->autoDisable;
    for (int i = 0; i < g->bodies; i++) {
        g->flags[i] = pcOdeBodyFlags(g->body[i]);
        pcOdeSetBodyFlags(g->body[i], g->flags[i] & ~automatic);
    }
    step(world, h);
    for (int i = 0; i < g->bodies; i++) pcOdeSetBodyFlags(g->body[i], pcOdeBodyFlags(g->body[i]) | (g->flags[i] & automatic));
}

/* ---- velocities ---- */

/* ODE will add h v. */
static void place(dBodyID body, const pcPose* moved, const double v[6], double h)
{
    v3 x = v3AddScaled(v3Load(moved->position), -h, v3Load(v));
    dBodySetPosition(body, x.x, x.y, x.z);
}

void pcInjectVelocities(const pcGathered* g, bool moved, double h)
{
    for (int i = 0; i < g->bodies; i++) {
        const double* v = g->velocity + 6 * (size_t)i;
        if (g->state[i].kind != PC_BODY_DYNAMIC) continue;
        dBodySetLinearVel(g->body[i], v[0], v[1], v[2]);
        dBodySetAngularVel(g->body[i], v[3], v[4], v[5]);
        if (moved) place(g->body[i], g->moved + i, v, h);
    }
    for (int i = 0; i < g->bodies; i++) {
        if (g->state[i].kind == PC_BODY_STATIC) continue;
        stepBody(g->body[i], h);
        dBodySetForce(g->body[i], 0, 0, 0);
        dBodySetTorque(g->body[i], 0, 0, 0);
    }
}

/* ---- feedback ---- */

static void addWrench(const double J[6], double force, dReal f[3], dReal t[3])
{
    for (int k = 0; k < 3; k++) f[k] += J[k] * force, t[k] += J[3 + k] * force;
}

/* ODE's first force is on its first node: on the body itself, for a joint attached as (0, body). */
static void rowFeedback(const pcGathered* g, const pcHostJoint* joint, double h)
{
    dJointFeedback* feedback = dJointGetFeedback(joint->joint);
    if (!feedback) return;
    memset(feedback, 0, sizeof *feedback);
    for (int i = joint->first; i < joint->first + joint->count; i++) {
        addWrench(g->row[i].jacobian, g->rowImpulse[i] / h, feedback->f1, feedback->t1);
        addWrench(g->row[i].jacobian + 6, g->rowImpulse[i] / h, feedback->f2, feedback->t2);
    }
}

/* The wrench of a contact on body 2 about a centre: force, torque. */
static void wrenchAbout(const pcContactResult* c, const double* centre, double sign, dReal f[3], dReal t[3])
{
    v3 n = v3Load(c->normal), t1 = v3Load(c->tangent1), t2 = v3Load(c->tangent2);
    v3 force = v3AddScaled(v3AddScaled(v3Scale(c->impulse[0], n), c->impulse[1], t1), c->impulse[2], t2);
    v3 moment = v3AddScaled(v3AddScaled(v3Scale(c->impulse[3], n), c->impulse[4], t1), c->impulse[5], t2);
    v3 arm = v3Sub(v3Load(c->point), v3Load(centre));
    v3Store(f, v3Scale(sign, force));
    v3Store(t, v3Scale(sign, v3Add(v3Cross(arm, force), moment)));
}

static void contactFeedback(const pcGathered* g, dJointID joint, const pcContactResult* c, double h)
{
    dJointFeedback* feedback = dJointGetFeedback(joint);
    if (!feedback) return;
    memset(feedback, 0, sizeof *feedback);
    bool turned = c->body2 < 0; /* attached as (0, body): then that body is ODE's first node */
    if (c->body2 >= 0) wrenchAbout(c, g->state[c->body2].pose.position, 1.0 / h, feedback->f1, feedback->t1);
    if (c->body1 >= 0)
        wrenchAbout(c, g->state[c->body1].pose.position, -1.0 / h, turned ? feedback->f1 : feedback->f2,
                    turned ? feedback->t1 : feedback->t2);
}

void pcInjectFeedback(const pcGathered* g, const pcContactResult* touches, int touchCount, double h)
{
    for (int i = 0; i < g->joints; i++) rowFeedback(g, g->joint + i, h);
    for (int i = 0; i < g->touchJoints; i++) {
        const pcHostJoint* touch = g->touchJoint + i;
        if (touch->count > 0 && touch->first < touchCount) contactFeedback(g, touch->joint, touches + touch->first, h);
    }
}
