#include "adapters/cli/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/vec.h"

/* ---- before ---- */

static double massOf(dBodyID body)
{
    dMass mass;
    dBodyGetMass(body, &mass);
    return mass.mass;
}

static bool moves(dBodyID body) { return body && !dBodyIsKinematic(body); }

/* A joint of the body that ends in the world, or in what moves by its own will. */
static bool isAnchor(dJointID joint)
{
    dBodyID body[2] = {dJointGetBody(joint, 0), dJointGetBody(joint, 1)};
    return (moves(body[0]) && !body[1]) || (moves(body[1]) && !body[0]);
}

pcStatus pcJudgeBegin(pcJudge* j, const pcStage* stage)
{
    int joints = 0;
    *j = (pcJudge){0};
    for (int i = 0; i < stage->bodies; i++) joints += dBodyGetNumJoints(stage->body[i].body);
    j->anchor = calloc((size_t)joints + 1, sizeof *j->anchor);
    j->place = calloc(3 * (size_t)stage->bodies + 1, sizeof *j->place);
    if (!j->anchor || !j->place) return pcFail(PC_ERROR_MEMORY, "out of memory for the forces of %d joints", joints);
    for (int i = 0; i < stage->bodies; i++) {
        dBodyID body = stage->body[i].body;
        dBodySetData(body, j->place + 3 * (size_t)i);
        if (!moves(body)) continue;
        j->mass += massOf(body);
        j->damped |= dBodyGetLinearDamping(body) != 0.0 || !dBodyGetGravityMode(body);
        for (int k = 0; k < dBodyGetNumJoints(body); k++)
            if (isAnchor(dBodyGetJoint(body, k))) dJointSetFeedback(dBodyGetJoint(body, k), j->anchor + j->anchors++);
    }
    return PC_OK;
}

void pcJudgeEnd(pcJudge* j)
{
    free(j->contact);
    free(j->anchor);
    free(j->place);
    *j = (pcJudge){0};
}

static v3 momentumOf(const pcStage* stage, double* fastest)
{
    v3 sum = v3Make(0, 0, 0);
    for (int i = 0; i < stage->bodies; i++) {
        dBodyID body = stage->body[i].body;
        v3 v = v3Load(dBodyGetLinearVel(body));
        *fastest = fmax(*fastest, v3Norm(v));
        if (moves(body)) sum = v3AddScaled(sum, massOf(body), v);
    }
    return sum;
}

void pcJudgeBefore(pcJudge* j, const pcStage* stage)
{
    j->fastest = 0.0;
    v3Store(j->before, momentumOf(stage, &j->fastest));
    for (int i = 0; i < stage->bodies; i++) v3Store(j->place + 3 * (size_t)i, v3Load(dBodyGetPosition(stage->body[i].body)));
}

/* ---- the law of one contact ---- */

/* At the contact where the step has it: with the body where it is after the step, or where it was before. */
static v3 velocityAt(dBodyID body, const double* point, bool after)
{
    if (!body) return v3Make(0, 0, 0);
    v3 v = v3Load(dBodyGetLinearVel(body)), centre = v3Load(after ? dBodyGetPosition(body) : (const double*)dBodyGetData(body));
    return v3Add(v, v3Cross(v3Load(dBodyGetAngularVel(body)), v3Sub(v3Load(point), centre)));
}

/* Normal part, and the friction as two numbers that the cone bounds by the normal part alone: each divided by its mu. */
typedef struct Split {
    double normal, first, second;
} Split;

static Split split(const pcWorldContact* c, v3 a, double perMu, double perMu2)
{
    v3 n = v3Load(c->normal), t = v3Load(c->tangent1);
    t = v3AddScaled(t, -v3Dot(t, n), n);
    t = v3Scale(1.0 / v3Norm(t), t);
    return (Split){v3Dot(n, a), perMu * v3Dot(t, a), perMu2 * v3Dot(v3Cross(n, t), a)};
}

static double per(double mu) { return mu > 0.0 ? 1.0 / mu : 0.0; }

/* The nearest point of the cone |friction| <= normal. */
static Split project(Split x)
{
    double friction = hypot(x.first, x.second), along = 0.5 * (x.normal + friction);
    if (friction <= x.normal) return x;
    if (friction <= -x.normal) return (Split){0, 0, 0};
    return (Split){along, along * x.first / friction, along * x.second / friction};
}

/* What a soft contact, or one that slips, yields to its impulse: the law is that of u with this added. */
static v3 yielding(const pcWorldContact* c)
{
    v3 n = v3Load(c->normal), t1 = v3Load(c->tangent1), p = v3Load(c->impulse);
    v3 t2 = v3Cross(n, t1), normal = v3Scale(c->softness * v3Dot(n, p), n);
    return v3AddScaled(v3AddScaled(normal, c->slip1 * v3Dot(t1, p), t1), c->slip2 * v3Dot(t2, p), t2);
}

/* Without friction the first two are 0, and of a friction that always holds nothing is asked but its normal part. */
static double lawError(const pcWorldContact* c, double w, bool after)
{
    bool holds = !(c->mu < HUGE_VAL) || !(c->mu2 < HUGE_VAL);
    v3 velocity = v3Add(v3Sub(velocityAt(c->body2, c->point, after), velocityAt(c->body1, c->point, after)), yielding(c));
    Split u = split(c, velocity, holds ? 0.0 : c->mu, holds ? 0.0 : c->mu2);
    Split p = split(c, v3Load(c->impulse), holds ? 0.0 : per(c->mu), holds ? 0.0 : per(c->mu2));
    u.normal += hypot(u.first, u.second) - c->target;
    Split there = project((Split){p.normal - u.normal / w, p.first - u.first / w, p.second - u.second / w});
    return w * sqrt(pow(p.normal - there.normal, 2) + pow(p.first - there.first, 2) + pow(p.second - there.second, 2));
}

static double excessOf(const pcWorldContact* c)
{
    if (!(c->mu < HUGE_VAL) || !(c->mu2 < HUGE_VAL)) return 0.0;
    Split p = split(c, v3Load(c->impulse), per(c->mu), per(c->mu2));
    double most = fmax(c->mu, c->mu2);
    return fmax(0.0, most * (hypot(p.first, p.second) - p.normal));
}

/* ---- after ---- */

static int contactsOf(pcJudge* j, dWorldID world)
{
    int count = 0;
    if (pcWorldContacts(world, j->contact, j->room, &count) != PC_OK) return 0;
    if (count > j->room) {
        pcWorldContact* wider = realloc(j->contact, 2 * (size_t)count * sizeof *wider);
        if (!wider) return 0;
        j->contact = wider, j->room = 2 * count;
        pcWorldContacts(world, j->contact, j->room, &count);
    }
    return count;
}

/* Impulses from outside on all that moves, over the step. */
static v3 outside(const pcJudge* j, int contacts, double h)
{
    v3 sum = v3Make(0, 0, 0);
    for (int i = 0; i < contacts; i++) {
        const pcWorldContact* c = j->contact + i;
        double sign = (double)moves(c->body2) - (double)moves(c->body1);
        sum = v3AddScaled(sum, sign, v3Load(c->impulse));
    }
    for (int i = 0; i < j->anchors; i++) sum = v3AddScaled(sum, h, v3Load(j->anchor[i].f1));
    return sum;
}

static double momentumError(const pcJudge* j, v3 after, int contacts, v3 gravity, double h)
{
    double scale = h * j->mass * v3Norm(gravity);
    if (j->damped || !(scale > 0.0)) return NAN;
    v3 expected = v3AddScaled(v3Add(v3Load(j->before), outside(j, contacts, h)), h * j->mass, gravity);
    return v3Norm(v3Sub(after, expected)) / scale;
}

pcLawVerdict pcJudgeAfter(pcJudge* j, const pcStage* stage, double h)
{
    dVector3 gravity;
    pcLawVerdict verdict = {NAN, NAN, NAN};
    int contacts = contactsOf(j, stage->world);
    double largest = 0.0;
    dWorldGetGravity(stage->world, gravity);
    v3 momentum = momentumOf(stage, &j->fastest);
    double speed = fmax(j->fastest, h * v3Norm(v3Load(gravity)));
    bool after = stage->settings.model == PC_MODEL_IMPLICIT; /* whose contacts are those of the end of the step */
    verdict.momentum = momentumError(j, momentum, contacts, v3Load(gravity), h);
    for (int i = 0; i < contacts; i++) {
        const pcWorldContact* c = j->contact + i;
        double w = (moves(c->body1) ? 1.0 / massOf(c->body1) : 0.0) + (moves(c->body2) ? 1.0 / massOf(c->body2) : 0.0);
        if (!(w > 0.0) || !(speed > 0.0)) continue;
        verdict.law = fmax(verdict.law, lawError(c, w, after) / speed);
        verdict.coneExcess = fmax(verdict.coneExcess, excessOf(c));
        largest = fmax(largest, v3Dot(v3Load(c->normal), v3Load(c->impulse)));
    }
    if (largest > 0.0) verdict.coneExcess /= largest;
    return verdict;
}
