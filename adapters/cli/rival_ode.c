#include "adapters/cli/rival_ode.h"

#include <stddef.h>

#ifdef PCONTACT_WITH_ODE

#include <ode/ode.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/cli/bench_pairs.h"

struct RivalOde {
    const BoxScene* scene;
    dWorldID world;
    dJointGroupID group;
    dBodyID body[MOST_BOXES];
    dJointFeedback feedback[MOST_TOUCHES];
    bool broken;
};

/* ODE ends the program after an error, whatever its handler did: the handler must not return. */
static jmp_buf wayOut;
static int messages;

static void complain(int number, const char* text, va_list arguments)
{
    (void)number, (void)text, (void)arguments;
    messages++;
}

static void giveUp(int number, const char* text, va_list arguments)
{
    complain(number, text, arguments);
    longjmp(wayOut, 1);
}

static void addBody(RivalOde* s, int i)
{
    const Box* box = &s->scene->box[i];
    dMass mass;
    dMassSetBoxTotal(&mass, box->mass, box->side, box->side, box->side);
    s->body[i] = dBodyCreate(s->world);
    dBodySetMass(s->body[i], &mass);
    dBodySetGyroscopicMode(s->body[i], 0); /* ours has none of it here */
}

static void build(RivalOde* s)
{
    if (setjmp(wayOut) != 0) {
        s->broken = true;
        return;
    }
    s->world = dWorldCreate();
    s->group = dJointGroupCreate(0);
    dWorldSetGravity(s->world, 0.0, 0.0, -BOXES_GRAVITY);
    dWorldSetERP(s->world, BOXES_ERP);
    dWorldSetCFM(s->world, 1e-10);
    for (int i = 0; i < s->scene->boxes; i++) addBody(s, i);
}

RivalOde* rivalOdeNew(const BoxScene* scene)
{
    RivalOde* s = calloc(1, sizeof *s);
    if (!s || !dInitODE2(0)) {
        free(s);
        return NULL;
    }
    s->scene = scene, messages = 0;
    dSetMessageHandler(complain), dSetErrorHandler(giveUp), dSetDebugHandler(giveUp);
    build(s);
    return s;
}

/* A world that ODE gave up on is left alone: taking it down might complain again. */
void rivalOdeFree(RivalOde* s)
{
    if (!s) return;
    if (!s->broken && setjmp(wayOut) == 0) {
        dJointGroupDestroy(s->group), dWorldDestroy(s->world);
        dCloseODE();
    }
    dSetMessageHandler(NULL), dSetErrorHandler(NULL), dSetDebugHandler(NULL);
    free(s);
}

static void place(RivalOde* s, const double* velocity)
{
    const double upright[4] = {1.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < s->scene->boxes; i++) {
        const double *x = s->scene->box[i].position, *v = velocity + 6 * i;
        dBodySetPosition(s->body[i], x[0], x[1], x[2]), dBodySetQuaternion(s->body[i], upright);
        dBodySetLinearVel(s->body[i], v[0], v[1], v[2]), dBodySetAngularVel(s->body[i], v[3], v[4], v[5]);
    }
}

/* ODE's normal points into its first body: so that is the upper one. */
static void touch(RivalOde* s, int k)
{
    const Touch* t = &s->scene->touch[k];
    dContact contact;
    memset(&contact, 0, sizeof contact);
    contact.surface.mode = dContactApprox1 | dContactFDir1;
    contact.surface.mu = BOXES_MU;
    contact.fdir1[0] = 1.0;
    contact.geom.normal[2] = 1.0, contact.geom.depth = t->depth;
    memcpy(contact.geom.pos, t->point, sizeof t->point);
    dJointID joint = dJointCreateContact(s->world, s->group, &contact);
    dJointAttach(joint, s->body[t->upper], t->lower < 0 ? NULL : s->body[t->lower]);
    dJointSetFeedback(joint, &s->feedback[k]);
}

static void collect(const RivalOde* s, BoxState* out)
{
    for (int i = 0; i < s->scene->boxes; i++) {
        memcpy(out->velocity + 6 * i, dBodyGetLinearVel(s->body[i]), 3 * sizeof(double));
        memcpy(out->velocity + 6 * i + 3, dBodyGetAngularVel(s->body[i]), 3 * sizeof(double));
    }
    for (int k = 0; k < s->scene->touches; k++) {
        const double* force = s->feedback[k].f1;
        double* impulse = out->impulse + 3 * k;
        impulse[0] = BOXES_STEP * force[2], impulse[1] = BOXES_STEP * force[0], impulse[2] = BOXES_STEP * force[1];
    }
}

double rivalOdeStep(RivalOde* s, const double* velocity, BoxState* out)
{
    if (s->broken || setjmp(wayOut) != 0) {
        s->broken = true;
        return -1.0;
    }
    dJointGroupEmpty(s->group);
    place(s, velocity);
    for (int k = 0; k < s->scene->touches; k++) touch(s, k);
    double start = benchNow();
    dWorldStep(s->world, BOXES_STEP);
    double ns = benchNow() - start;
    collect(s, out);
    return ns;
}

int rivalOdeMessages(const RivalOde* s) { return s ? messages : 0; }

#else

RivalOde* rivalOdeNew(const BoxScene* scene)
{
    (void)scene;
    return NULL;
}

void rivalOdeFree(RivalOde* ode) { (void)ode; }

double rivalOdeStep(RivalOde* ode, const double* velocity, BoxState* out)
{
    (void)ode, (void)velocity, (void)out;
    return -1.0;
}

int rivalOdeMessages(const RivalOde* ode)
{
    (void)ode;
    return 0;
}

#endif
