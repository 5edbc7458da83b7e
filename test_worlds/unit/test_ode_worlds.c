/* Worlds of ODE under our models: attaching, swapping, spaces, friction. */
#define _GNU_SOURCE /* mkstemp, M_PI */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "adapters/ode/host.h"
#include "pcontact/pcontact.h"
#include "test_worlds/unit/ode_boxes.h"

static const double H = 0.01;
/* ---- four worlds in one process ---- */

static const char* const models[4] = {"model=native", "model=quick", "model=lcp", "model=convex"};

static void build(Boxes* b, int model, bool withSpace)
{
    boxesBegin(b);
    for (int i = 0; i < 4; i++) dBodySetAngularVel(boxesAdd(b, 0.1 * i, 0.02 * i, 0.6 + 1.1 * i, 1), 0.1 * i, 0.2, 0.3);
    boxesAttach(b, withSpace, models[model]);
}

static BoxesState runAlone(int model, bool withSpace, int steps)
{
    Boxes b;
    dRandSetSeed(1); /* ODE's steppers shuffle by a random number that is one for the process */
    build(&b, model, withSpace);
    for (int i = 0; i < steps; i++) {
        if (model < 2) dRandSetSeed((unsigned long)i);
        boxesStep(&b, H);
    }
    BoxesState s = boxesState(&b);
    boxesEnd(&b);
    return s;
}

static void expectAlone(bool withSpace)
{
    Boxes b[4];
    for (int m = 0; m < 4; m++) build(b + m, m, withSpace);
    for (int i = 0; i < 200; i++)
        for (int m = 0; m < 4; m++) {
            if (m < 2) dRandSetSeed((unsigned long)i);
            boxesStep(b + m, H);
        }
    for (int m = 0; m < 4; m++) {
        PC_CASE("%s space=%d", models[m], withSpace);
        BoxesState together = boxesState(b + m), alone = runAlone(m, withSpace, 200);
        PC_EXPECT_TRUE(memcmp(&together, &alone, sizeof alone) == 0);
        if (m >= 2) boxesExpectOurs(b + m);
        boxesEnd(b + m);
    }
}

PC_TEST(OdeWorlds, FourModelsInOneProcessDoNotMeet)
{
    expectAlone(false);
    expectAlone(true);
}

typedef struct Job {
    int model;
    BoxesState state;
} Job;

static void* runJob(void* context)
{
    Job* job = context;
    dAllocateODEDataForThread((unsigned)dAllocateMaskAll);
    Boxes b;
    build(&b, job->model, job->model == 3);
    for (int i = 0; i < 100; i++) boxesStep(&b, H);
    job->state = boxesState(&b);
    boxesEnd(&b);
    dCleanupODEAllDataForThread();
    return NULL;
}

PC_TEST(OdeWorlds, TwoThreadsStepTwoWorlds)
{
    dInitODE2(0);
    Job jobs[2] = {{.model = 2}, {.model = 3}};
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) pthread_create(thread + i, NULL, runJob, jobs + i);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < 2; i++) {
        BoxesState alone = runAlone(jobs[i].model, jobs[i].model == 3, 100);
        PC_EXPECT_TRUE(memcmp(&jobs[i].state, &alone, sizeof alone) == 0);
    }
    dCloseODE();
}

PC_TEST(OdeWorlds, ModelsSwapEveryTenStepsForTenThousand)
{
    Boxes b;
    build(&b, 0, false);
    for (int i = 0; i < 10000; i++) {
        pcSettings s = boxesSettings(models[i / 10 % 4]);
        if (i % 10 == 0) PC_ASSERT_STATUS(PC_OK, pcWorldSetSettings(b.world, &s));
        boxesStep(&b, H);
    }
    pcWorldReportExtra extra = boxesExtra(&b);
    PC_EXPECT_EQ_INT(10000, extra.steps);
    PC_EXPECT_EQ_INT(5000, extra.nativeSteps);
    for (int i = 0; i < 4; i++) PC_EXPECT_GT(dBodyGetPosition(b.body[i])[2], 0.4);
    boxesEnd(&b);
}

/* ---- zero-gap stack ---- */

static int messages;

static void countMessage(int number, const char* text, va_list arguments)
{
    (void)number, (void)text, (void)arguments;
    messages++;
}

static void makeStack(Boxes* b)
{
    boxesBegin(b);
    for (int i = 0; i < 10; i++) boxesAdd(b, 0, 0, 0.5 + i, 1);
}

static void stackOfTen(bool withSpace)
{
    Boxes b;
    makeStack(&b);
    boxesAttach(&b, withSpace, "model=lcp");
    messages = 0;
    dSetMessageHandler(countMessage);
    for (int i = 0; i < 300; i++) {
        if (withSpace)
            PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
        else
            boxesStep(&b, H);
    }
    dSetMessageHandler(NULL);
    PC_EXPECT_EQ_INT(0, messages);
    boxesExpectOurs(&b);
    /* The host's dCollide knows only what touches, and at a gap of zero rounding decides: each time it finds nothing a box falls for a step,
     * g h^2 = 1 mm. Looking ahead, nothing moves. */
    double allowed = withSpace ? 1e-9 : 3.0 * 9.81 * H * H;
    for (int i = 0; i < 10; i++) PC_EXPECT_NEAR(0.5 + i, dBodyGetPosition(b.body[i])[2], allowed);
    boxesEnd(&b);
}

/* The same by dWorldStep: it complains, so the message above is worth waiting for. */
static int messagesOfOde(void)
{
    Boxes b;
    makeStack(&b);
    messages = 0;
    dSetMessageHandler(countMessage);
    boxesAttach(&b, false, "model=native");
    for (int i = 0; i < 300; i++) boxesStep(&b, H);
    dSetMessageHandler(NULL);
    boxesEnd(&b);
    return messages;
}

PC_TEST(OdeWorlds, ZeroGapStackStandsWithoutAMessage)
{
    stackOfTen(false);
    stackOfTen(true);
    int theirs = messagesOfOde();
    printf("messages of ODE: %d by its own step, none by ours\n", theirs);
    PC_EXPECT_GT(theirs, 0);
}

/* ---- spaces ---- */

PC_TEST(OdeWorlds, NothingFallsThroughTheFloorOfASpaceUnderAnyModel)
{
    for (int m = 0; m < 6; m++) {
        const char* text = m < 4 ? models[m] : m == 4 ? "model=lcp narrowphase=native" : "model=lcp narrowphase=euclid";
        PC_CASE("%s", text);
        Boxes b;
        boxesBegin(&b);
        boxesAdd(&b, 0, 0, 0.9, 1), boxesAdd(&b, 0.1, 0, 2.2, 1);
        boxesAttach(&b, true, text);
        for (int i = 0; i < 300; i++) PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
        PC_EXPECT_NEAR(0.5, dBodyGetPosition(b.body[0])[2], 0.01);
        PC_EXPECT_NEAR(1.5, dBodyGetPosition(b.body[1])[2], 0.01);
        if (m >= 2) boxesExpectOurs(&b);
        PC_EXPECT_EQ_INT(0, dBodyGetNumJoints(b.body[0]));
        boxesEnd(&b);
    }
}

/* A bullet that would be through a thin wall within one step. */
PC_TEST(OdeWorlds, SpaceLooksAhead)
{
    Boxes b;
    boxesBegin(&b);
    dGeomID wall = dCreateBox(b.space, 0.02, 4, 4);
    dGeomSetPosition(wall, 1, 0, 2);
    dBodyID bullet = boxesAdd(&b, 0, 0, 2, 0.1);
    dBodySetLinearVel(bullet, 200, 0, 0);
    boxesAttach(&b, true, "model=lcp");
    for (int i = 0; i < 5; i++) PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
    PC_EXPECT_LT(dBodyGetPosition(bullet)[0], 0.95);
    boxesEnd(&b);
}

static int noPair(void* context, dGeomID a, dGeomID b, dSurfaceParameters* surface)
{
    (void)a, (void)b, (void)surface;
    ++*(int*)context;
    return 0;
}

static int ice(void* context, dGeomID a, dGeomID b, dSurfaceParameters* surface)
{
    (void)context, (void)a, (void)b;
    surface->mu = 0;
    return 1;
}

PC_TEST(OdeWorlds, SurfaceCallbackDecides)
{
    for (int m = 0; m < 3; m += 2) {
        PC_CASE("%s", models[m]);
        Boxes b;
        int asked = 0;
        boxesBegin(&b);
        dBodyID box = boxesAdd(&b, 0, 0, 0.5, 1);
        dBodySetLinearVel(box, 1, 0, 0);
        boxesAttach(&b, true, models[m]);
        PC_EXPECT_STATUS(PC_OK, pcWorldSetSurface(b.world, ice, NULL));
        for (int i = 0; i < 50; i++) pcWorldStep(b.world, H);
        PC_EXPECT_NEAR(1, dBodyGetLinearVel(box)[0], 1e-6);
        PC_EXPECT_STATUS(PC_OK, pcWorldSetSurface(b.world, noPair, &asked));
        for (int i = 0; i < 50; i++) pcWorldStep(b.world, H);
        PC_EXPECT_GT(asked, 0);
        PC_EXPECT_LT(dBodyGetPosition(box)[2], -0.5);
        boxesEnd(&b);
    }
}

static int demanding(void* context, dGeomID a, dGeomID b, dSurfaceParameters* surface)
{
    (void)a, (void)b;
    int mode = *(const int*)context;
    surface->mode |= mode;
    surface->bounce = 1.5, surface->bounce_vel = 0, surface->motion1 = surface->motion2 = 7;
    return 1;
}

static void expectNamed(int mode, const char* names, bool ball)
{
    Boxes b;
    boxesBegin(&b);
    boxesAdd(&b, 0, 0, 0.499, 1);
    if (ball) {
        dGeomDestroy(b.geom[0]);
        dGeomSetBody(dCreateSphere(b.space, 0.5), b.body[0]);
    }
    boxesAttach(&b, true, ball ? "model=lcp narrowphase=native" : "model=lcp");
    PC_EXPECT_STATUS(PC_OK, pcWorldSetSurface(b.world, demanding, &mode));
    PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
    PC_EXPECT_EQ_STR(names, boxesExtra(&b).untranslatedNames);
    PC_EXPECT_TRUE((boxesExtra(&b).untranslated > 0) == (*names != 0));
    PC_EXPECT_NEAR(0, dBodyGetLinearVel(b.body[0])[0], 1e-9);
    boxesExpectOurs(&b);
    boxesEnd(&b);
}

/* A surface has no directions, and nothing bounces higher than it fell: who asks for that is told, whoever found the contacts. */
PC_TEST(OdeWorlds, WhatASurfaceCallbackCannotHaveIsNamed)
{
    for (int ball = 0; ball < 2; ball++) {
        PC_CASE("ball=%d", ball);
        expectNamed(0, "", ball);
        expectNamed(dContactFDir1, "directions in a surface callback", ball);
        expectNamed(dContactMotion1, "directions in a surface callback", ball);
        expectNamed(dContactMotion2, "directions in a surface callback", ball);
        expectNamed(dContactBounce, "bounce above 1", ball);
        expectNamed(dContactBounce | dContactMotion1, "directions in a surface callback, bounce above 1", ball);
    }
}

PC_TEST(OdeWorlds, BitsDisabledGeomsAndJointedBodiesDoNotTouch)
{
    for (int how = 0; how < 3; how++) {
        PC_CASE("how=%d", how);
        Boxes b;
        boxesBegin(&b);
        boxesAdd(&b, 0, 0, 0.5, 1), boxesAdd(&b, 0, 0, 1.2, 1);
        if (how == 0) dGeomSetCategoryBits(b.geom[1], 2ul << 33), dGeomSetCollideBits(b.geom[1], 4ul << 33);
        if (how == 1) dGeomDisable(b.geom[1]);
        if (how == 2) {
            dJointID slider = dJointCreateSlider(b.world, NULL);
            dJointAttach(slider, b.body[1], b.body[0]);
            dJointSetSliderAxis(slider, 0, 0, 1);
        }
        dGeomSetCategoryBits(b.geom[0], 1), dGeomSetCollideBits(b.geom[0], 1);
        dGeomSetCategoryBits(b.floor, 1), dGeomSetCollideBits(b.floor, 1);
        boxesAttach(&b, true, "model=lcp");
        for (int i = 0; i < 10; i++) pcWorldStep(b.world, H);
        PC_EXPECT_NEAR(-1, dBodyGetLinearVel(b.body[1])[2], 1e-3);
        PC_EXPECT_NEAR(0.5, dBodyGetPosition(b.body[0])[2], 1e-6);
        boxesExpectOurs(&b);
        boxesEnd(&b);
    }
}

/* What the metric does not know comes by dCollide: a body on a field of heights. */
static dReal flat(void* data, int x, int z)
{
    (void)data, (void)x, (void)z;
    return 0;
}

PC_TEST(OdeWorlds, PairsUnknownToTheMetricComeByDCollide)
{
    Boxes b;
    boxesBegin(&b);
    dGeomDestroy(b.floor);
    dHeightfieldDataID heights = dGeomHeightfieldDataCreate();
    dGeomHeightfieldDataBuildCallback(heights, NULL, flat, 10, 10, 11, 11, 1, 0, 1, 0);
    dGeomID field = dCreateHeightfield(b.space, heights, 1);
    dMatrix3 up;
    dRFromAxisAndAngle(up, 1, 0, 0, M_PI / 2);
    dGeomSetRotation(field, up);
    dBodyID box = boxesAdd(&b, 0, 0, 0.52, 1);
    boxesAttach(&b, true, "model=lcp");
    for (int i = 0; i < 200; i++) PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
    PC_EXPECT_NEAR(0.5, dBodyGetPosition(box)[2], 0.01);
    boxesExpectOurs(&b);
    boxesEnd(&b);
    dGeomHeightfieldDataDestroy(heights);
}

/* Found once: by the metric, or by dCollide. */
PC_TEST(OdeWorlds, BallOnAPlaneIsOneContact)
{
    Boxes b;
    dMass mass;
    pcStepReport report;
    boxesBegin(&b);
    dBodyID ball = dBodyCreate(b.world);
    dMassSetSphereTotal(&mass, 1, 0.5);
    dBodySetMass(ball, &mass);
    dGeomSetBody(dCreateSphere(b.space, 0.5), ball);
    dBodySetPosition(ball, 0, 0, 0.5);
    boxesAttach(&b, true, "model=lcp");
    for (int i = 0; i < 10; i++) PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
    PC_EXPECT_STATUS(PC_OK, pcWorldReport(b.world, &report));
    PC_EXPECT_EQ_INT(1, report.contacts);
    PC_EXPECT_EQ_INT(3, report.rows);
    boxesEnd(&b);
}

PC_TEST(OdeWorlds, SpheresRestOnBoxes)
{
    for (int m = 0; m < 4; m++) {
        PC_CASE("%s", models[m]);
        Boxes b;
        boxesBegin(&b);
        boxesAdd(&b, 0, 0, 0.5, 1);
        dBodyID ball = dBodyCreate(b.world);
        dGeomSetBody(dCreateSphere(b.space, 0.3), ball);
        dBodySetPosition(ball, 0, 0, 1.31);
        boxesAttach(&b, true, models[m]);
        for (int i = 0; i < 100; i++) PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
        PC_EXPECT_NEAR(1.3, dBodyGetPosition(ball)[2], 5e-3);
        if (m >= 2) boxesExpectOurs(&b);
        boxesEnd(&b);
    }
}

PC_TEST(OdeWorlds, NearCallbackCollectsPairsForOneStep)
{
    Boxes b;
    boxesBegin(&b);
    dBodyID box = boxesAdd(&b, 0, 0, 0.5, 1);
    boxesAttach(&b, false, "model=lcp");
    for (int i = 0; i < 100; i++) {
        dSpaceCollide(b.space, b.world, pcNearCallback);
        PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
    }
    PC_EXPECT_NEAR(0.5, dBodyGetPosition(box)[2], 1e-6);
    PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
    PC_EXPECT_NEAR(-10 * H, dBodyGetLinearVel(box)[2], 1e-6);
    boxesEnd(&b);
}

PC_TEST(OdeWorlds, HostContactsOfTheAttachedSpaceAreIgnoredAndCounted)
{
    for (int m = 0; m < 3; m += 2) {
        PC_CASE("%s", models[m]);
        Boxes b;
        boxesBegin(&b);
        boxesAdd(&b, 0, 0, 0.499, 1);
        boxesAttach(&b, true, models[m]);
        boxesStep(&b, H);
        PC_EXPECT_EQ_INT(4, boxesExtra(&b).ignoredContacts);
        boxesEnd(&b);
    }
}

/* ---- friction ---- */

typedef struct Slide {
    double distance, heading, speed; /* way, its direction, and what speed is left */
} Slide;

/* A plate, which cannot tip. */
static Slide slide(const char* settings, double angle, double h)
{
    Boxes b;
    boxesBegin(&b);
    dBodyID plate = boxesAdd(&b, 0, 0, 0.4995, 1);
    dMass mass;
    dMassSetBoxTotal(&mass, 1, 1, 1, 0.1);
    dBodySetMass(plate, &mass);
    dGeomBoxSetLengths(b.geom[0], 1, 1, 0.1);
    dBodySetPosition(plate, 0, 0, 0.0495);
    dBodySetLinearVel(plate, 3 * cos(angle), 3 * sin(angle), 0);
    boxesAttach(&b, false, settings);
    dWorldSetContactSurfaceLayer(b.world, 1e-3);
    for (int i = 0; i * h < 1; i++) boxesStep(&b, h);
    const dReal *x = dBodyGetPosition(plate), *v = dBodyGetLinearVel(plate);
    Slide s = {hypot(x[0], x[1]), atan2(x[1], x[0]), hypot(v[0], v[1])};
    boxesEnd(&b);
    return s;
}

/* The largest errors over seventy-two directions. The scheme brakes at the end of each step: that costs v h / 2 of way, which is taken off. */
static Slide worstSlide(const char* settings)
{
    double expected = 3.0 * 3.0 / (2 * 0.5 * 10);
    Slide worst = {0};
    for (int i = 0; i < 72; i++) {
        double angle = 2 * M_PI * i / 72;
        Slide s = slide(settings, angle, H);
        worst.distance = fmax(worst.distance, fabs((s.distance + 0.5 * 3 * H) / expected - 1));
        worst.heading = fmax(worst.heading, fabs(remainder(s.heading - angle, 2 * M_PI)) * 180 / M_PI);
        worst.speed = fmax(worst.speed, s.speed);
    }
    printf("%-32s distance within %.2g, heading within %.2g degrees\n", settings, worst.distance, worst.heading);
    return worst;
}

PC_TEST(OdeWorlds, FrictionIsTheSameInSeventyTwoDirections)
{
    const char* const settings[] = {"model=lcp", "model=lcp coneEdges=8 alignCone=1"};
    for (int i = 0; i < 2; i++) {
        PC_CASE("%s", settings[i]);
        Slide worst = worstSlide(settings[i]);
        PC_EXPECT_LE(worst.distance, 0.005);
        PC_EXPECT_LE(worst.heading, 0.1);
        PC_EXPECT_LE(worst.speed, 1e-6);
    }
    dSetMessageHandler(countMessage);
    Slide native = worstSlide("model=native"); /* its friction is that of a square */
    PC_EXPECT_GT(native.distance, 0.2);
    worstSlide("model=quick");
    dSetMessageHandler(NULL);
}

/* The speed after a second under a pull of so much of mu. */
static double pull(const char* settings, double part)
{
    Boxes b;
    boxesBegin(&b);
    dBodyID box = boxesAdd(&b, 0, 0, 0.4995, 1);
    dWorldSetContactSurfaceLayer(b.world, 1e-3);
    dWorldSetGravity(b.world, 10 * 0.5 * part * sqrt(0.5), 10 * 0.5 * part * sqrt(0.5), -10);
    boxesAttach(&b, false, settings);
    for (int i = 0; i < 100; i++) boxesStep(&b, H);
    double speed = hypot(dBodyGetLinearVel(box)[0], dBodyGetLinearVel(box)[1]);
    boxesEnd(&b);
    return speed;
}

PC_TEST(OdeWorlds, SticksBelowMuAndSlidesAboveIt)
{
    PC_EXPECT_NEAR(0, pull("model=lcp", 0.99), 1e-6);
    PC_EXPECT_NEAR(10 * 0.005, pull("model=lcp", 1.01), 1e-6);
    printf("pulled along a diagonal at 1.01 mu, speed after 1 s: ours %.3g, dWorldStep %.3g, dWorldQuickStep %.3g; expected 0.05\n",
           pull("model=lcp", 1.01), pull("model=native", 1.01), pull("model=quick", 1.01));
}

/* ---- shadow ---- */

PC_TEST(OdeWorlds, ShadowTouchesNothingAndTellsTheDifference)
{
    BoxesState native, shadow;
    double difference = 0;
    for (int m = 0; m < 2; m++) {
        Boxes b;
        boxesBegin(&b);
        for (int i = 0; i < 4; i++) boxesAdd(&b, 0.1 * i, 0, 0.5 + 1.001 * i, 1);
        boxesAttach(&b, false, m ? "model=shadow:lcp" : "model=native");
        for (int i = 0; i < 50; i++) {
            dRandSetSeed((unsigned long)i);
            boxesStep(&b, H);
            if (m) difference = fmax(difference, boxesExtra(&b).shadowDifference);
        }
        *(m ? &shadow : &native) = boxesState(&b);
        boxesEnd(&b);
    }
    PC_EXPECT_TRUE(memcmp(&native, &shadow, sizeof native) == 0);
    PC_EXPECT_GT(difference, 0);
    PC_EXPECT_LT(difference, 10);
}

/* ---- files and tables ---- */

PC_TEST(OdeWorlds, ReportFileHasALinePerStep)
{
    char name[200], text[400], line[1000];
    const char* columns = "step,time,model,solver,events,rows,iterations,residual,infeasibility_contact,infeasibility_joint,energy,ms";
    snprintf(name, sizeof name, "%s/pcontactXXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : P_tmpdir);
    int file = mkstemp(name), lines = 0;
    PC_ASSERT_TRUE(file >= 0);
    Boxes b;
    boxesBegin(&b);
    boxesAdd(&b, 0, 0, 0.499, 1);
    snprintf(text, sizeof text, "model=lcp report=%s", name);
    boxesAttach(&b, false, text);
    for (int i = 0; i < 7; i++) boxesStep(&b, H);
    boxesEnd(&b);
    FILE* csv = fopen(name, "r");
    PC_ASSERT_TRUE(csv != NULL);
    while (fgets(line, sizeof line, csv)) {
        if (lines == 0)
            PC_EXPECT_TRUE(strncmp(line, columns, strlen(columns)) == 0);
        else
            PC_EXPECT_TRUE(atoi(line) == lines && strstr(line, ",lcp,"));
        lines++;
    }
    PC_EXPECT_EQ_INT(8, lines);
    fclose(csv);
    remove(name);
}

PC_TEST(OdeWorlds, PluginTableHasTheFunctions)
{
    const pcPluginTable* table = pcPluginGet(PC_PLUGIN_VERSION);
    PC_ASSERT_TRUE(table != NULL);
    PC_EXPECT_TRUE(table->worldStep == pcWorldStep && table->restoreColliders == pcRestoreColliders);
    PC_EXPECT_TRUE(table->worldContacts == pcWorldContacts && table->statusText == pcStatusText);
    PC_EXPECT_TRUE(pcPluginGet(99) == NULL);
}
