/* What ODE does besides solving stays ODE's: sleep and waking, kinematic bodies, damping, speed limits, callbacks. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "pcontact/pcontact.h"
#include "test_worlds/unit/counting.h"
#include "test_worlds/unit/ode_boxes.h"

static const double H = 0.01;
static const char* const models[4] = {"model=native", "model=quick", "model=lcp", "model=convex"};

PC_TEST(OdeHabits, BodiesFallAsleepAndWakeAsNatively)
{
    for (int withSpace = 0; withSpace < 2; withSpace++)
        for (int m = 0; m < 3; m += 2) {
            PC_CASE("%s space=%d", models[m], withSpace);
            Boxes b;
            boxesBegin(&b);
            dWorldSetAutoDisableFlag(b.world, 1);
            dWorldSetAutoDisableSteps(b.world, 20), dWorldSetAutoDisableTime(b.world, 0.1);
            dWorldSetContactSurfaceLayer(b.world, 1e-3);
            dBodyID lower = boxesAdd(&b, 0, 0, 0.4995, 1), upper = boxesAdd(&b, 0, 0, 3, 1);
            dBodyDisable(upper);
            boxesAttach(&b, withSpace, models[m]);
            for (int i = 0; i < 60; i++) boxesStep(&b, H);
            PC_EXPECT_FALSE(dBodyIsEnabled(lower));
            PC_EXPECT_FALSE(dBodyIsEnabled(upper));
            PC_EXPECT_NEAR(3, dBodyGetPosition(upper)[2], 0);
            dBodySetPosition(upper, 0, 0, 1.6), dBodyEnable(upper);
            bool woken = false;
            for (int i = 0; i < 40; i++) boxesStep(&b, H), woken |= dBodyIsEnabled(lower);
            PC_EXPECT_TRUE(woken);
            for (int i = 0; i < 200; i++) boxesStep(&b, H);
            PC_EXPECT_FALSE(dBodyIsEnabled(lower));
            PC_EXPECT_FALSE(dBodyIsEnabled(upper));
            PC_EXPECT_NEAR(1.5, dBodyGetPosition(upper)[2], 0.01);
            boxesEnd(&b);
        }
}

/* Three boxes on each other, asleep, and one far above that hangs in the air, asleep as well; `others` fall elsewhere all the time. */
typedef struct Sleepers {
    Boxes boxes;
    dBodyID stack[3], high;
} Sleepers;

static void sleepersBegin(Sleepers* s, int others)
{
    boxesBegin(&s->boxes);
    for (int i = 0; i < 3; i++) s->stack[i] = boxesAdd(&s->boxes, 0, 0, 0.5 + i, 1), dBodyDisable(s->stack[i]);
    s->high = boxesAdd(&s->boxes, 0, 0, 9, 1), dBodyDisable(s->high);
    for (int i = 0; i < others; i++) boxesAdd(&s->boxes, 5 + 2 * i, 0, 1000, 1);
    boxesAttach(&s->boxes, 1, "model=lcp");
    for (int i = 0; i < 5; i++) boxesStep(&s->boxes, H);
    for (int i = 0; i < 3; i++) PC_EXPECT_FALSE(dBodyIsEnabled(s->stack[i]));
    PC_EXPECT_FALSE(dBodyIsEnabled(s->high));
}

static void sleepersStep(Sleepers* s, int steps)
{
    for (int i = 0; i < steps; i++) boxesStep(&s->boxes, H);
}

static void sleepersEnd(Sleepers* s)
{
    boxesExpectOurs(&s->boxes);
    boxesEnd(&s->boxes);
}

/* One that is awake, put on top by hand, wakes all three, also those that it does not touch; with few and with many others that are awake. */
PC_TEST(OdeSleepers, WakeTogetherWhenTheHostPutsABodyOnThem)
{
    for (int others = 1; others <= 41; others += 40) {
        PC_CASE("others=%d", others);
        Sleepers s;
        sleepersBegin(&s, others);
        dBodySetPosition(s.high, 0, 0, 3.4999), dBodyEnable(s.high);
        sleepersStep(&s, 1);
        for (int i = 0; i < 3; i++) PC_EXPECT_TRUE(dBodyIsEnabled(s.stack[i]));
        sleepersStep(&s, 20);
        PC_EXPECT_NEAR(3.5, dBodyGetPosition(s.high)[2], 1e-3);
        sleepersEnd(&s);
    }
}

/* What falls onto a body that the host has moved in its sleep finds it where it is now, and not where it was. */
PC_TEST(OdeSleepers, AreFoundWhereTheHostHasMovedThemInTheirSleep)
{
    Sleepers s;
    sleepersBegin(&s, 1);
    for (int i = 0; i < 3; i++) dBodySetPosition(s.stack[i], 20, 0, 0.5 + i);
    dBodySetPosition(s.high, 20, 0, 3.7), dBodyEnable(s.high);
    dBodyID passing = boxesAdd(&s.boxes, 0, 0, 1.2, 1);
    sleepersStep(&s, 100);
    PC_EXPECT_NEAR(3.5, dBodyGetPosition(s.high)[2], 1e-3);
    PC_EXPECT_NEAR(0.5, dBodyGetPosition(passing)[2], 1e-3);
    sleepersEnd(&s);
}

PC_TEST(OdeSleepers, FallWhenTheHostWakesThem)
{
    Sleepers s;
    sleepersBegin(&s, 1);
    dBodyEnable(s.high);
    sleepersStep(&s, 10);
    PC_EXPECT_NEAR(9 - 10 * H * H * 55, dBodyGetPosition(s.high)[2], 1e-9);
    for (int i = 0; i < 3; i++) PC_EXPECT_FALSE(dBodyIsEnabled(s.stack[i]));
    sleepersStep(&s, 190);
    PC_EXPECT_NEAR(3.5, dBodyGetPosition(s.high)[2], 1e-3);
    sleepersEnd(&s);
}

/* The highest of the stack becomes half as high in its sleep, where its middle stays. */
PC_TEST(OdeSleepers, HaveTheSizesThatTheHostGivesThemInTheirSleep)
{
    Sleepers s;
    sleepersBegin(&s, 1);
    dGeomBoxSetLengths(dBodyGetFirstGeom(s.stack[2]), 1, 1, 0.5);
    dBodySetKinematic(s.stack[2]);
    dBodySetPosition(s.high, 0, 0, 3.6), dBodyEnable(s.high);
    sleepersStep(&s, 100);
    PC_EXPECT_NEAR(3.25, dBodyGetPosition(s.high)[2], 1e-3);
    sleepersEnd(&s);
}

/* Four stacks of three that sleep, and one box that slides into the first and throws it into the second. Held by a joint that has no rows,
 * what sleeps is in every step; without, only while something that is awake may come to it. */
static void slideBegin(Boxes* b, bool held)
{
    boxesBegin(b);
    dBodyID slider = boxesAdd(b, -6, 0, 0.5, 1);
    for (int i = 0; i < 12; i++) {
        dBodyID body = boxesAdd(b, 2.5 * (i / 3), 0, 0.5 + i % 3, 1);
        dBodyDisable(body);
        if (held) dJointAttach(dJointCreateLMotor(b->world, NULL), body, NULL);
    }
    boxesAttach(b, true, "model=lcp mu=0.2");
    dBodySetLinearVel(slider, 12, 0, 0);
}

static void expectAlike(const Boxes* a, const Boxes* b)
{
    pcStepReport all = boxesReport(a), some = boxesReport(b);
    PC_EXPECT_EQ_INT(all.bodies, some.bodies);
    PC_EXPECT_EQ_INT(all.pairs, some.pairs);
    PC_EXPECT_EQ_INT(all.contacts, some.contacts);
    PC_EXPECT_REL(all.energy, some.energy, 1e-9);
    for (int i = 0; i < a->count; i++) {
        PC_EXPECT_EQ_INT(dBodyIsEnabled(a->body[i]), dBodyIsEnabled(b->body[i]));
        for (int k = 0; k < 3; k++) PC_EXPECT_NEAR(dBodyGetPosition(a->body[i])[k], dBodyGetPosition(b->body[i])[k], 1e-8);
    }
}

PC_TEST(OdeSleepers, AreMetAndWokenAsIfTheyHadBeenThereAllTheTime)
{
    Boxes all, some;
    slideBegin(&all, true), slideBegin(&some, false);
    for (int i = 0; i < 60; i++) {
        PC_CASE("step %d", i);
        boxesStep(&all, H), boxesStep(&some, H);
        expectAlike(&all, &some);
    }
    PC_EXPECT_TRUE(dBodyIsEnabled(some.body[1]));
    PC_EXPECT_FALSE(dBodyIsEnabled(some.body[12]));
    boxesExpectOurs(&all), boxesExpectOurs(&some);
    boxesEnd(&all), boxesEnd(&some);
}

/* A torque sets a long box spinning, which looks farther then than its own spin tells. */
PC_TEST(OdeSleepers, AreMetByWhatForcesMakeFast)
{
    Boxes b;
    boxesBegin(&b);
    dBodyID rod = boxesAdd(&b, 0, 0, 200, 1), sleeper = boxesAdd(&b, 0, 18, 200, 1);
    dGeomBoxSetLengths(dBodyGetFirstGeom(rod), 9, 0.1, 0.1);
    dBodyDisable(sleeper);
    boxesAttach(&b, true, "model=lcp");
    dBodyAddTorque(rod, 0, 0, 10000);
    boxesStep(&b, H);
    PC_EXPECT_EQ_INT(2, boxesReport(&b).bodies);
    PC_EXPECT_EQ_INT(1, boxesReport(&b).pairs);
    boxesExpectOurs(&b);
    boxesEnd(&b);
}

PC_TEST(OdeSleepers, LeaveNothingToDoWhereAllSleep)
{
    Boxes b;
    boxesBegin(&b);
    for (int i = 0; i < 5; i++) dBodyDisable(boxesAdd(&b, 0, 0, 0.5 + i, 1));
    boxesAttach(&b, true, "model=lcp");
    for (int i = 0; i < 3; i++) boxesStep(&b, H);
    PC_EXPECT_EQ_INT(5, boxesReport(&b).bodies);
    PC_EXPECT_EQ_INT(0, boxesReport(&b).contacts);
    for (int i = 0; i < 5; i++) PC_EXPECT_TRUE(dBodyGetPosition(b.body[i])[2] == 0.5 + i && !dBodyIsEnabled(b.body[i]));
    boxesExpectOurs(&b);
    boxesEnd(&b);
}

PC_TEST(OdeHabits, KinematicBodiesCarry)
{
    for (int withSpace = 0; withSpace < 2; withSpace++) {
        Boxes b;
        boxesBegin(&b);
        dBodyID lift = boxesAdd(&b, 0, 0, 5, 1), box = boxesAdd(&b, 0, 0, 5.999, 1);
        dBodySetKinematic(lift);
        dBodySetLinearVel(lift, 0.2, 0, 0.5);
        boxesAttach(&b, withSpace, "model=lcp mu=2");
        b.mu = 2;
        for (int i = 0; i < 100; i++) boxesStep(&b, H);
        PC_EXPECT_NEAR(5.5, dBodyGetPosition(lift)[2], 1e-9);
        PC_EXPECT_NEAR(6.5, dBodyGetPosition(box)[2], 5e-3);
        PC_EXPECT_NEAR(0.2, dBodyGetLinearVel(box)[0], 1e-3);
        boxesExpectOurs(&b);
        boxesEnd(&b);
    }
}

static int movedCalls;
static void moved(dBodyID body)
{
    (void)body;
    movedCalls++;
}

/* Everything that ODE does with a velocity besides solving for it. */
static void setHabits(dBodyID body)
{
    dBodySetDamping(body, 0.05, 0.1);
    dBodySetMaxAngularSpeed(body, 3);
    dBodySetFiniteRotationMode(body, 1), dBodySetFiniteRotationAxis(body, 0, 0, 1);
    dBodySetMovedCallback(body, moved);
    dBodySetAngularVel(body, 1, 2, 5);
    dBodyAddForce(body, 1, 2, 3), dBodyAddTorque(body, 0.3, 0.2, 0.1);
}

PC_TEST(OdeHabits, DampingSpeedLimitFiniteRotationAndCallbacksAreOdes)
{
    BoxesState state[2];
    int calls[2];
    for (int m = 0; m < 2; m++) {
        Boxes b;
        boxesBegin(&b);
        for (int i = 0; i < 4; i++) setHabits(boxesAdd(&b, 3 * i, 0, 50, 1));
        dBodySetGravityMode(b.body[1], 0), dBodySetGyroscopicMode(b.body[2], 0);
        dMass mass;
        dMassSetBoxTotal(&mass, 2, 1, 2, 3);
        for (int i = 0; i < 4; i++) dBodySetMass(b.body[i], &mass);
        boxesAttach(&b, false, m ? "model=lcp" : "model=native");
        movedCalls = 0;
        for (int i = 0; i < 50; i++) pcWorldStep(b.world, H);
        PC_EXPECT_NEAR(0, dBodyGetForce(b.body[0])[0], 0);
        state[m] = boxesState(&b), calls[m] = movedCalls;
        boxesEnd(&b);
    }
    for (int i = 0; i < 4 * 13; i++) PC_EXPECT_NEAR(state[0].numbers[i], state[1].numbers[i], 1e-12 * fmax(1, fabs(state[0].numbers[i])));
    PC_EXPECT_EQ_INT(200, calls[0]);
    PC_EXPECT_EQ_INT(calls[0], calls[1]);
}

/* ---- who wakes whom ---- */

typedef enum Way { BALLS, CONTACTS, SPACE, WAYS } Way;

/* Bodies side by side, each held to the next or touching it; d: asleep, D: awake, k, K: the same of kinematic ones. */
static void buildChain(Boxes* b, const char* kinds, Way way)
{
    boxesBegin(b);
    dGeomDestroy(b->floor);
    dWorldSetGravity(b->world, 0, 0, 0);
    for (int i = 0; kinds[i]; i++) {
        dBodyID body = boxesAdd(b, 0.999 * i, 0, 0, 1);
        if (kinds[i] == 'k' || kinds[i] == 'K') dBodySetKinematic(body);
        if (kinds[i] == 'k' || kinds[i] == 'd') dBodyDisable(body);
        if (i == 0 || way == SPACE) continue;
        dContact contact = {.geom = {.normal = {1}, .depth = 0.001}};
        dJointID joint = way == BALLS ? dJointCreateBall(b->world, NULL) : dJointCreateContact(b->world, b->group, &contact);
        dJointAttach(joint, body, b->body[i - 1]);
    }
}

/* Bit i: body i is awake after one step. */
static int wakenBy(const char* settings, const char* kinds, Way way)
{
    Boxes b;
    int awake = 0;
    buildChain(&b, kinds, way);
    boxesAttach(&b, way == SPACE, settings);
    PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
    for (int i = 0; i < b.count; i++) awake |= dBodyIsEnabled(b.body[i]) << i;
    boxesEnd(&b);
    return awake;
}

PC_TEST(OdeHabits, WakingIsNativeForEveryChainOfThree)
{
    for (int way = 0; way < WAYS; way++)
        for (int n = 0; n < 64; n++) {
            const char kinds[4] = {"dDkK"[n % 4], "dDkK"[n / 4 % 4], "dDkK"[n / 16], 0};
            PC_CASE("%s way=%d", kinds, way);
            PC_EXPECT_EQ_INT(wakenBy("model=native", kinds, (Way)way), wakenBy("model=lcp", kinds, (Way)way));
        }
}

/* Natively such a joint is not in the step: nobody hears of it. */
PC_TEST(OdeHabits, JointsOfKinematicBodiesAloneAreNotInTheStep)
{
    Boxes b;
    buildChain(&b, "KK", BALLS);
    dJointID joint = dBodyGetJoint(b.body[0], 0);
    dJointFeedback feedback = {.f1 = {7}};
    dJointSetFeedback(joint, &feedback);
    dBodySetPosition(b.body[0], 0, 5, 0);
    boxesAttach(&b, false, "model=lcp");
    PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
    PC_EXPECT_EQ_INT(0, boxesExtra(&b).joints);
    PC_EXPECT_NEAR(0, boxesReport(&b).infeasibilityJoint, 0);
    PC_EXPECT_NEAR(7, feedback.f1[0], 0);
    boxesEnd(&b);
}

/* ---- memory ---- */

/* What a step allocates once a stack stands; its bodies may fall asleep, but never do. */
static int allocatedBySteps(const char* settings, bool withSpace, bool collected)
{
    Boxes b;
    int allocated = 0;
    boxesBegin(&b);
    dWorldSetAutoDisableFlag(b.world, 1);
    dWorldSetAutoDisableLinearThreshold(b.world, 0), dWorldSetAutoDisableAngularThreshold(b.world, 0);
    for (int i = 0; i < 5; i++) boxesAdd(&b, 0.02 * i, 0, 0.499 + 0.999 * i, 1);
    boxesAttach(&b, withSpace, settings);
    for (int i = 0; i < 60; i++) {
        if (collected) dSpaceCollide(b.space, b.world, pcNearCallback);
        pcCountingStart();
        PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
        if (i >= 40) allocated += pcCountingStop();
    }
    boxesExpectOurs(&b);
    boxesEnd(&b);
    return allocated;
}

PC_TEST(OdeHabits, StepsAllocateNothingOnceTheyAreWarm)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    const char* const settings[] = {"model=lcp", "model=convex", "model=lcp solver=lemke", "model=lcp solver=sparse"};
    for (int i = 0; i < 4; i++)
        for (int withSpace = 0; withSpace < 2; withSpace++) {
            PC_CASE("%s space=%d", settings[i], withSpace);
            PC_EXPECT_EQ_INT(0, allocatedBySteps(settings[i], withSpace, !withSpace));
        }
}
