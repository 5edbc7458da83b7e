/* Worlds of ODE in trouble: numbers that are none, calls that make no sense, memory and worlds taken away. */
#define _GNU_SOURCE
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "adapters/ode/host.h"
#include "pcontact/pcontact.h"
#include "test_worlds/unit/ode_boxes.h"

static const double H = 0.01;
static const char* const models[4] = {"model=native", "model=quick", "model=lcp", "model=convex"};

/* At its stop. */
static dJointID addPoweredHinge(const Boxes* b, dBodyID body1, dBodyID body2)
{
    dJointID hinge = dJointCreateHinge(b->world, NULL);
    dJointAttach(hinge, body1, body2);
    dJointSetHingeParam(hinge, dParamLoStop, 0), dJointSetHingeParam(hinge, dParamHiStop, 0);
    dJointSetHingeParam(hinge, dParamVel, 2), dJointSetHingeParam(hinge, dParamFMax, 5);
    return hinge;
}

/* A pool of threads that the host gives to the world, and takes away again, between any two steps. */
PC_TEST(OdeTrouble, ThreadPoolMayComeAndGo)
{
    Boxes b;
    boxesBegin(&b);
    addPoweredHinge(&b, boxesAdd(&b, 0, 0, 5, 1), NULL);
    boxesAdd(&b, 3, 0, 0.5, 1);
    boxesAttach(&b, false, "model=lcp");
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++) boxesStep(&b, H);
        dThreadingImplementationID threading = dThreadingAllocateMultiThreadedImplementation();
        dThreadingThreadPoolID pool = dThreadingAllocateThreadPool(2, 0, dAllocateFlagBasicData, NULL);
        dThreadingThreadPoolServeMultiThreadedImplementation(pool, threading);
        dWorldSetStepThreadingImplementation(b.world, dThreadingImplementationGetFunctions(threading), threading);
        for (int i = 0; i < 3; i++) boxesStep(&b, H);
        dThreadingImplementationShutdownProcessing(threading);
        dThreadingFreeThreadPool(pool);
        dWorldSetStepThreadingImplementation(b.world, NULL, NULL);
        dThreadingFreeImplementation(threading);
    }
    boxesExpectOurs(&b);
    boxesEnd(&b);
}

/* A powered joint at its stop needs the memory of ODE's steps. */
PC_TEST(OdeTrouble, WorkingMemoryMayBeGivenBackAtAnyTime)
{
    Boxes b;
    boxesBegin(&b);
    addPoweredHinge(&b, boxesAdd(&b, 0, 0, 5, 1), NULL);
    boxesAttach(&b, false, "model=lcp");
    for (int i = 0; i < 10; i++) {
        PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
        dWorldCleanupWorkingMemory(b.world);
    }
    boxesExpectOurs(&b);
    boxesEnd(&b);
}

PC_TEST(OdeTrouble, BadCallsAreRefused)
{
    Boxes b;
    boxesBegin(&b);
    dBodyID box = boxesAdd(&b, 0, 0, 5, 1);
    pcSettings raw = {0}, unsolved = boxesSettings("solver=fixedpoint model=convex");
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcWorldAttach(NULL, NULL, NULL));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcWorldAttach(b.world, NULL, &raw));
    PC_EXPECT_STATUS(PC_ERROR_UNSUPPORTED, pcWorldAttach(b.world, NULL, &unsolved));
    PC_EXPECT_STATUS(PC_ERROR_UNSUPPORTED, pcWorldSetSettings(b.world, &unsolved));
    const char* const shadows[2] = {"model=shadow:native", "model=shadow:quick"};
    for (int i = 0; i < 2; i++) {
        pcSettings nothing = boxesSettings(shadows[i]);
        PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcWorldAttach(b.world, NULL, &nothing));
    }
    pcNearCallback(b.world, NULL, b.floor), pcNearCallback(NULL, b.geom[0], b.floor); /* nobody's */
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcWorldDetach(b.world));
    PC_EXPECT_STATUS(PC_OK, pcWorldAttach(b.world, NULL, NULL));
    const double bad[4] = {0, -0.01, (double)NAN, HUGE_VAL};
    for (int i = 0; i < 4; i++) PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcWorldStep(b.world, bad[i]));
    PC_EXPECT_NEAR(0, dBodyGetLinearVel(box)[2], 0);
    PC_EXPECT_EQ_INT(0, boxesExtra(&b).steps);
    boxesEnd(&b);
}

PC_TEST(OdeTrouble, NaNInTheHostMakesACountedNativeStepThatIsOdes)
{
    BoxesState state[2];
    for (int m = 0; m < 2; m++) {
        Boxes b;
        boxesBegin(&b);
        for (int i = 0; i < 4; i++) boxesAdd(&b, 3 * i, 0, 5, 1);
        dBodySetLinearVel(b.body[2], (double)NAN, 0, 0);
        dBodyAddForce(b.body[0], 1, 2, 3);
        dJointID hinge = addPoweredHinge(&b, b.body[0], b.body[1]); /* its rows add torque */
        dJointSetHingeAnchor(hinge, 1.5, 0, 5), dJointSetHingeAxis(hinge, 0, 1, 0);
        boxesAttach(&b, false, m ? "model=lcp" : "model=native");
        pcWorldStep(b.world, H);
        pcWorldReportExtra extra = boxesExtra(&b);
        PC_EXPECT_EQ_INT(1, extra.nativeSteps);
        if (m) PC_EXPECT_TRUE(strstr(extra.reason, "velocity") != NULL);
        state[m] = boxesState(&b);
        boxesEnd(&b);
    }
    PC_EXPECT_TRUE(memcmp(state, state + 1, sizeof *state) == 0);
}

/* Numbers that are none, anywhere in the host: a native step, counted, with the reason; the other bodies fall on. */
PC_TEST(OdeTrouble, BadNumbersAnywhereMakeCountedNativeSteps)
{
    for (int what = 0; what < 3; what++)
        for (int infinite = 0; infinite < 2; infinite++) {
            PC_CASE("what=%d infinite=%d", what, infinite);
            double bad = infinite ? HUGE_VAL : (double)NAN;
            Boxes b;
            boxesBegin(&b);
            dBodyID good = boxesAdd(&b, 0, 0, 5, 1), odd = boxesAdd(&b, 5, 0, 5, 1);
            dGeomDestroy(b.geom[1]); /* ODE's own spaces do not bear it */
            if (what == 0) dBodySetPosition(odd, bad, 0, 0);
            if (what == 1) dBodySetLinearVel(odd, 0, bad, 0);
            if (what == 2) dBodyAddForce(odd, 0, 0, bad);
            boxesAttach(&b, false, "model=lcp");
            for (int i = 0; i < 3; i++) PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
            PC_EXPECT_GE(boxesExtra(&b).nativeSteps, 1);
            PC_EXPECT_TRUE(boxesExtra(&b).reason[0] != 0);
            PC_EXPECT_NEAR(-3 * 10 * H, dBodyGetLinearVel(good)[2], 1e-12);
            boxesEnd(&b);
        }
}

static void spoil(const Boxes* b, dBodyID body, int what)
{
    double bad = what % 2 ? HUGE_VAL : (double)NAN;
    switch (what / 2) {
    case 0: dBodySetAngularVel(body, 0, bad, 0); break;
    case 1: dBodyAddTorque(body, bad, 0, 0); break;
    case 2: dBodySetPosition(body, bad, 0, 5); break;
    case 3: dBodySetLinearVel(body, 0, bad, 0); break;
    case 4: dBodyAddForce(body, 0, 0, bad); break;
    default: dWorldSetGravity(b->world, 0, 0, bad); break;
    }
}

/* What ODE would end the program for, in the step or in its spaces: a sentence, and nothing is done. */
PC_TEST(OdeTrouble, NumbersThatWouldEndTheProgramAreRefused)
{
    for (int m = 0; m < 4; m++)
        for (int what = 0; what < 12; what++) {
            PC_CASE("%s, what=%d", models[m], what);
            Boxes b;
            pcStepReport report;
            bool turning = what < 4;
            boxesBegin(&b);
            dBodyID good = boxesAdd(&b, 0, 0, 5, 1), odd = boxesAdd(&b, 5, 0, 5, 1);
            bool withSpace = !turning || what % 2 || m < 2; /* without one, bare native worlds are ODE's own affair */
            boxesAttach(&b, withSpace, models[m]);
            spoil(&b, odd, what);
            PC_EXPECT_STATUS(PC_ERROR_NOT_FINITE, pcWorldMeasure(b.world, H, &report));
            PC_EXPECT_STATUS(PC_ERROR_NOT_FINITE, pcWorldStep(b.world, H));
            PC_EXPECT_TRUE(strstr(pcLastError(), "not finite") != NULL);
            PC_EXPECT_NEAR(0, dBodyGetLinearVel(good)[2], 0);
            dBodyDestroy(odd);
            dGeomDestroy(b.geom[1]);
            dWorldSetGravity(b.world, 0, 0, -10);
            PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
            PC_EXPECT_NEAR(-10 * H, dBodyGetLinearVel(good)[2], 1e-12);
            boxesEnd(&b);
        }
}

/* The same where joints hold the body, and numbers of the joints themselves. Contact: of the first box with the floor. */
enum { POSITION, VELOCITY, FORCE, DEPTH, PLACE, MOTION, MOTOR, CFM, BROKEN };

static void breakWorld(const Boxes* b, dJointID hinge, int what, double bad)
{
    if (what == POSITION) dBodySetPosition(b->body[0], bad, 0, 0.5);
    if (what == VELOCITY) dBodySetLinearVel(b->body[0], 0, bad, 0);
    if (what == FORCE) dBodySetForce(b->body[0], 0, 0, bad);
    if (what == MOTOR) dJointSetHingeParam(hinge, dParamVel, bad), dJointSetHingeParam(hinge, dParamFMax, 1);
    if (what == CFM) dWorldSetCFM(b->world, bad);
}

static void touchFloor(const Boxes* b, int what, double bad)
{
    dContact contact = {.surface = {.mode = dContactApprox1 | dContactMotionN, .mu = 0.5}};
    contact.geom.normal[2] = 1, contact.geom.depth = 0.001;
    if (what == DEPTH) contact.geom.depth = bad;
    if (what == PLACE) contact.geom.pos[0] = bad;
    if (what == MOTION) contact.surface.motionN = bad;
    dJointAttach(dJointCreateContact(b->world, b->group, &contact), b->body[0], NULL);
}

static void mendWorld(const Boxes* b, dJointID hinge)
{
    dBodySetPosition(b->body[0], 0, 0, 0.5), dBodySetLinearVel(b->body[0], 0, 0, 0), dBodySetForce(b->body[0], 0, 0, 0);
    dJointSetHingeParam(hinge, dParamVel, 0), dWorldSetCFM(b->world, 1e-10);
    dJointGroupEmpty(b->group);
    touchFloor(b, BROKEN, 0);
}

static void stepBroken(const char* settings, int what, double bad)
{
    Boxes b;
    boxesBegin(&b);
    boxesAdd(&b, 0, 0, 0.5, 1), boxesAdd(&b, 2, 0, 0.5, 1);
    dBodyID good = boxesAdd(&b, 5, 0, 5, 1);
    dJointID hinge = dJointCreateHinge(b.world, NULL);
    dJointAttach(hinge, b.body[0], b.body[1]);
    dJointSetHingeAnchor(hinge, 1, 0, 0.5), dJointSetHingeAxis(hinge, 0, 1, 0);
    dBodyAddForce(good, 1, 2, 3);
    boxesAttach(&b, false, settings);
    breakWorld(&b, hinge, what, bad), touchFloor(&b, what, bad);
    PC_EXPECT_STATUS(PC_ERROR_NOT_FINITE, pcWorldStep(b.world, H));
    PC_EXPECT_TRUE(strstr(pcLastError(), "nothing was done") != NULL);
    PC_EXPECT_EQ_INT(0, boxesExtra(&b).steps);
    PC_EXPECT_NEAR(2, dBodyGetForce(good)[1], 0);
    mendWorld(&b, hinge);
    PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
    PC_EXPECT_NEAR((3 - 10) * H, dBodyGetLinearVel(good)[2], 1e-12);
    PC_EXPECT_EQ_INT(1, boxesExtra(&b).steps);
    PC_EXPECT_EQ_STR("", boxesExtra(&b).reason);
    boxesEnd(&b);
}

PC_TEST(OdeTrouble, NumbersOfJointsThatWouldEndTheProgramAreRefused)
{
    const char* const settings[] = {"model=lcp", "model=convex", "model=shadow:lcp"};
    for (int i = 0; i < 3; i++)
        for (int what = 0; what < BROKEN; what++)
            for (int infinite = 0; infinite < (what < MOTOR ? 2 : 1); infinite++) {
                PC_CASE("%s what=%d infinite=%d", settings[i], what, infinite);
                stepBroken(settings[i], what, infinite ? HUGE_VAL : (double)NAN);
            }
}

/* An infinitely fast motor of limited force is nothing to ODE: its step is taken instead. */
PC_TEST(OdeTrouble, InfiniteMotorMakesACountedNativeStep)
{
    Boxes b;
    boxesBegin(&b);
    dJointID hinge = dJointCreateHinge(b.world, NULL);
    dJointAttach(hinge, boxesAdd(&b, 0, 0, 5, 1), NULL);
    breakWorld(&b, hinge, MOTOR, HUGE_VAL);
    boxesAttach(&b, false, "model=lcp");
    PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
    PC_EXPECT_EQ_INT(1, boxesExtra(&b).nativeSteps);
    PC_EXPECT_TRUE(strstr(boxesExtra(&b).reason, "target") != NULL);
    PC_EXPECT_TRUE(isfinite(dBodyGetAngularVel(b.body[0])[0]));
    boxesEnd(&b);
}

static int nonsense(void* context, dGeomID a, dGeomID b, dSurfaceParameters* surface)
{
    (void)context, (void)a, (void)b;
    dReal bad = (dReal)NAN;
    *surface = (dSurfaceParameters){-1, bad, bad, bad, bad, bad, bad, bad, bad, bad, bad, bad, bad, bad, bad};
    return 1;
}

/* A step that cannot be ours, of a world whose contacts are found here: a native one, with contact joints of its own, and still a floor. */
PC_TEST(OdeTrouble, SurfacesThatAreNonsenseMakeNativeStepsOnTheSameFloor)
{
    for (int native = 0; native < 2; native++) {
        Boxes b;
        boxesBegin(&b);
        dBodyID box = boxesAdd(&b, 0, 0, 0.5, 1);
        boxesAttach(&b, true, native ? "model=lcp narrowphase=native" : "model=lcp");
        PC_EXPECT_STATUS(PC_OK, pcWorldSetSurface(b.world, nonsense, NULL));
        for (int i = 0; i < 100; i++) PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
        PC_EXPECT_GE(boxesExtra(&b).nativeSteps, native ? 50 : 100); /* dCollide has contacts only of what touches */
        PC_EXPECT_NEAR(0.5, dBodyGetPosition(box)[2], 5e-3);
        boxesEnd(&b);
    }
}

static int stepAgain(void* context, dGeomID a, dGeomID b, dSurfaceParameters* surface)
{
    pcStepReport report;
    (void)a, (void)b, (void)surface;
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcWorldStep(context, H));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcWorldMeasure(context, H, &report));
    return 1;
}

PC_TEST(OdeTrouble, CallbacksCannotStepTheirWorld)
{
    for (int m = 0; m < 4; m++) {
        PC_CASE("%s", models[m]);
        Boxes b;
        boxesBegin(&b);
        dBodyID box = boxesAdd(&b, 0, 0, 0.5, 1);
        boxesAttach(&b, true, models[m]);
        PC_EXPECT_STATUS(PC_OK, pcWorldSetSurface(b.world, stepAgain, b.world));
        for (int i = 0; i < 20; i++) PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
        PC_EXPECT_NEAR(0.5, dBodyGetPosition(box)[2], 2e-3);
        boxesEnd(&b);
    }
}

/* The next world may stand where the last one stood: it is not attached. */
PC_TEST(OdeTrouble, WorldAtThePlaceOfADestroyedOneIsAnother)
{
    int same = 0;
    for (int round = 0; round < 20; round++) {
        Boxes b;
        boxesBegin(&b);
        boxesAdd(&b, 0, 0, 0.5, 1);
        boxesAttach(&b, true, "model=lcp");
        PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
        dWorldID before = b.world;
        dWorldDestroy(b.world);
        dSpaceDestroy(b.space);
        dJointGroupDestroy(b.group);
        dWorldID next = dWorldCreate();
        dWorldSetGravity(next, 0, 0, -10);
        dBodyID body = dBodyCreate(next);
        same += next == before;
        PC_EXPECT_STATUS(PC_OK, pcWorldStep(next, H));
        PC_EXPECT_NEAR(-10 * H, dBodyGetLinearVel(body)[2], 1e-12);
        PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcWorldDetach(next)); /* it never was attached */
        dWorldDestroy(next);
        dCloseODE();
        if (next != before) pcOdeForgetWorld(before);
    }
    printf("a world at the same place %d times of 20\n", same);
}

/* A program that calls dWorldQuickStep gets it where a step cannot be ours. */
PC_TEST(OdeTrouble, StepsThatCannotBeOursAreTheProgramsOwn)
{
    for (int quick = 0; quick < 2; quick++) {
        Boxes b;
        pcStepReport report;
        boxesBegin(&b);
        dBodySetLinearVel(boxesAdd(&b, 0, 0, 5, 1), (double)NAN, 0, 0);
        boxesAttach(&b, false, "model=lcp");
        PC_EXPECT_TRUE(pcOdeAttached(b.world));
        PC_EXPECT_STATUS(PC_OK, pcOdeHostStep(b.world, H, quick));
        PC_EXPECT_STATUS(PC_OK, pcWorldReport(b.world, &report));
        PC_EXPECT_EQ_STR(quick ? "quick" : "native", report.solver);
        pcOdeForgetWorld(b.world);
        PC_EXPECT_FALSE(pcOdeAttached(b.world));
        boxesEnd(&b);
    }
}

PC_TEST(OdeTrouble, UnattachedJointsAndEmptyWorldsStep)
{
    Boxes b;
    boxesBegin(&b);
    boxesAttach(&b, false, "model=lcp");
    PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
    dContact contact = {.surface = {.mu = 1}};
    dJointCreateContact(b.world, b.group, &contact);
    dJointCreateHinge(b.world, NULL);
    boxesAdd(&b, 0, 0, 5, 1);
    dJointID hinge = dJointCreateHinge(b.world, NULL);
    dJointAttach(hinge, b.body[0], NULL), dJointDisable(hinge);
    PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
    PC_EXPECT_NEAR(-10 * H, dBodyGetLinearVel(b.body[0])[2], 1e-12);
    boxesExpectOurs(&b);
    boxesEnd(&b);
}

PC_TEST(OdeTrouble, WorldDestroyedWhileAttachedLeavesNothingBehind)
{
    dInitODE2(0);
    for (int i = 0; i < 50; i++) {
        dWorldID world = dWorldCreate(); /* likely at the address of the last one */
        PC_ASSERT_STATUS(PC_OK, pcWorldAttach(world, NULL, NULL));
        dBodyID body = dBodyCreate(world);
        dWorldSetGravity(world, 0, 0, -1);
        PC_EXPECT_STATUS(PC_OK, pcWorldStep(world, H));
        PC_EXPECT_NEAR(-H, dBodyGetLinearVel(body)[2], 1e-12);
        dWorldDestroy(world);
        if (i % 2) pcWorldDetach(world);
    }
    dCloseODE();
}
