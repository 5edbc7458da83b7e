/* What is told of steps: by the same measure for every model, in files, and for those that missed their tolerance. */
#define _GNU_SOURCE /* mkdtemp */
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapters/gtest/pctest.h"
#include "adapters/ode/registry.h"
#include "pcontact/pcontact.h"
#include "stepper/memory.h"
#include "test_worlds/unit/ode_boxes.h"
#include "test_worlds/unit/step_file.h"

static const double H = 0.01;
static const char* const models[4] = {"model=native", "model=quick", "model=lcp", "model=convex"};

/* A box sunk into the floor, one above it, and one on a ball joint that has come apart. */
static void build(Boxes* b)
{
    boxesBegin(b);
    boxesAdd(b, 0, 0, 0.49, 1), boxesAdd(b, 3, 0, 0.5001, 1);
    dBodyID hung = boxesAdd(b, 0, 0, 5, 1);
    dBodySetAngularVel(hung, 0.1, 0.2, 0.3);
    boxesAdd(b, 6, 0, 3, 1);
    dJointID ball = dJointCreateBall(b->world, NULL);
    dJointAttach(ball, hung, NULL);
    dJointSetBallAnchor(ball, 0, 0, 6);
    dBodySetPosition(hung, 0, 0.02, 5);
}

static double energyOf(const Boxes* b)
{
    double sum = 0;
    for (int i = 0; i < b->count; i++) {
        const dReal *v = dBodyGetLinearVel(b->body[i]), *w = dBodyGetAngularVel(b->body[i]), *x = dBodyGetPosition(b->body[i]);
        sum += 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) / 12 + 10 * x[2];
    }
    return sum;
}

PC_TEST(OdeReports, EveryModelIsMeasuredByTheSameCode)
{
    pcStepReport first = {0};
    for (int m = 0; m < 4; m++) {
        PC_CASE("%s", models[m]);
        Boxes b;
        build(&b);
        boxesAttach(&b, true, models[m]);
        PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
        pcStepReport r = boxesReport(&b);
        PC_EXPECT_NEAR(0.01, r.penetration, 1e-12);
        PC_EXPECT_GT(r.infeasibilityContact, 1e-3);
        PC_EXPECT_NEAR(0.02, r.infeasibilityJoint, 1e-12);
        PC_EXPECT_EQ_INT(8, r.events);
        PC_EXPECT_EQ_INT(4, r.bodies);
        PC_EXPECT_EQ_INT(1, boxesExtra(&b).joints);
        PC_EXPECT_REL(energyOf(&b), r.energy, 1e-12);
        PC_EXPECT_TRUE(isnan(r.residual) == (m < 2) && isnan(r.coneExcess) == (m < 2));
        PC_EXPECT_GT(boxesExtra(&b).milliseconds[PC_HOST_ALL], 0);
        if (m == 0) first = r;
        PC_EXPECT_NEAR(first.infeasibilityContact, r.infeasibilityContact, 0);
        PC_EXPECT_NEAR(first.infeasibilityJoint, r.infeasibilityJoint, 1e-15);
        boxesEnd(&b);
    }
}

/* The way of the program: contact joints, no space, and somebody who asks for a file. */
PC_TEST(OdeReports, NativeStepsWithAFileAreMeasuredFromContactJoints)
{
    Boxes b;
    build(&b);
    boxesAttach(&b, false, "model=native report=/dev/null");
    boxesStep(&b, H);
    pcStepReport r = boxesReport(&b);
    PC_EXPECT_NEAR(0.01, r.penetration, 1e-12);
    PC_EXPECT_NEAR(0.02, r.infeasibilityJoint, 1e-12);
    PC_EXPECT_EQ_INT(4, r.contacts);
    PC_EXPECT_EQ_INT(1 + 4, boxesExtra(&b).joints);
    PC_EXPECT_REL(energyOf(&b), r.energy, 1e-12);
    boxesEnd(&b);
}

PC_TEST(OdeReports, BareNativeStepSaysNothing)
{
    Boxes b;
    build(&b);
    boxesAttach(&b, false, "model=native");
    boxesStep(&b, H);
    pcStepReport r = boxesReport(&b);
    PC_EXPECT_TRUE(isnan(r.energy) && isnan(r.penetration) && isnan(r.infeasibilityJoint) && isnan(r.residual));
    boxesEnd(&b);
}

/* Rows of a powered joint at its stop add torque, and waking looks at contacts: none of it may stay. */
static BoxesState run(int model, bool withSpace, bool watched)
{
    Boxes b;
    char text[100];
    pcStepReport report;
    build(&b);
    dJointID hinge = dJointCreateHinge(b.world, NULL);
    dJointAttach(hinge, b.body[3], NULL);
    dJointSetHingeAnchor(hinge, 6.5, 0, 3), dJointSetHingeAxis(hinge, 0, 1, 0);
    dJointSetHingeParam(hinge, dParamLoStop, 0), dJointSetHingeParam(hinge, dParamHiStop, 0);
    dJointSetHingeParam(hinge, dParamVel, 2), dJointSetHingeParam(hinge, dParamFMax, 5);
    snprintf(text, sizeof text, "%s%s", models[model], watched ? " report=/dev/null" : "");
    boxesAttach(&b, withSpace, text);
    for (int i = 0; i < 50; i++) {
        dRandSetSeed((unsigned long)i);
        if (watched) PC_EXPECT_STATUS(PC_OK, pcWorldMeasure(b.world, H, &report));
        boxesStep(&b, H);
        if (watched) PC_EXPECT_STATUS(PC_OK, pcWorldMeasure(b.world, H, &report));
    }
    BoxesState s = boxesState(&b);
    boxesEnd(&b);
    return s;
}

PC_TEST(OdeReports, MeasuringLeavesTheWorldAsItWas)
{
    for (int m = 0; m < 4; m++)
        for (int withSpace = 0; withSpace < 2; withSpace++) {
            PC_CASE("%s space=%d", models[m], withSpace);
            BoxesState alone = run(m, withSpace, false), watched = run(m, withSpace, true);
            PC_EXPECT_TRUE(memcmp(&alone, &watched, sizeof alone) == 0);
        }
}

PC_TEST(OdeReports, MeasureAfterAStepIsWhatTheNextOneFindsBefore)
{
    Boxes b;
    pcStepReport after;
    build(&b);
    boxesAttach(&b, true, "model=lcp");
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcWorldMeasure(b.world, 0, &after));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcWorldMeasure(b.world, H, NULL));
    for (int i = 0; i < 20; i++) {
        PC_EXPECT_STATUS(PC_OK, pcWorldMeasure(b.world, H, &after));
        PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
        pcStepReport r = boxesReport(&b);
        PC_EXPECT_NEAR(r.penetration, after.penetration, 1e-15);
        PC_EXPECT_NEAR(r.infeasibilityContact, after.infeasibilityContact, 1e-13);
        PC_EXPECT_NEAR(r.infeasibilityJoint, after.infeasibilityJoint, 0);
        PC_EXPECT_EQ_INT(r.events, after.events);
    }
    boxesEnd(&b);
}

PC_TEST(OdeReports, ReportAfterAStepIsWhatTheNextOneFindsBefore)
{
    for (int m = 0; m < 4; m++) {
        PC_CASE("%s", models[m]);
        char text[60];
        Boxes b;
        build(&b);
        snprintf(text, sizeof text, "%s reportAfter=1", models[m]);
        boxesAttach(&b, true, text);
        pcStepReport last = {0};
        for (int i = 0; i < 10; i++) {
            PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
            pcStepReport r = boxesReport(&b);
            PC_EXPECT_TRUE(r.infeasibilityJointAfter < r.infeasibilityJoint && r.infeasibilityContactAfter > 0);
            if (i > 0) {
                PC_EXPECT_NEAR(last.penetrationAfter, r.penetration, 1e-15);
                PC_EXPECT_NEAR(last.infeasibilityContactAfter, r.infeasibilityContact, 1e-13);
                PC_EXPECT_NEAR(last.infeasibilityJointAfter, r.infeasibilityJoint, 1e-15);
            }
            last = r;
        }
        boxesEnd(&b);
    }
}

/* A program's contact joints tell of the place before the step: what they say must not pass for the one after it. */
PC_TEST(OdeReports, ReportAfterAStepOfContactJointsTellsOfJointsOnly)
{
    Boxes b;
    build(&b);
    boxesAttach(&b, false, "model=lcp reportAfter=1");
    boxesStep(&b, H);
    pcStepReport r = boxesReport(&b);
    PC_EXPECT_NEAR(0.01, r.penetration, 1e-12);
    PC_EXPECT_TRUE(isnan(r.penetrationAfter) && isnan(r.infeasibilityContactAfter));
    PC_EXPECT_TRUE(r.infeasibilityJointAfter > 0.0 && r.infeasibilityJointAfter < r.infeasibilityJoint);
    boxesEnd(&b);
}

/* ---- files ---- */

/* A stack with a motor beside it and a box that jumps: contacts, equalities, bounds, in one island or several. */
static void buildHard(Boxes* b)
{
    boxesBegin(b);
    for (int i = 0; i < 5; i++) boxesAdd(b, 0.1 * (i % 2), 0.05 * i, 0.499 + 0.998 * i, 1);
    dBodyID arm = boxesAdd(b, 1.3, 0, 0.499, 1);
    dBodySetLinearVel(b->body[2], 1, 0.5, -1), dBodySetAngularVel(b->body[4], 0.3, 0.7, 2);
    dJointID hinge = dJointCreateHinge(b->world, NULL);
    dJointAttach(hinge, b->body[0], arm);
    dJointSetHingeAnchor(hinge, 0.6, 0, 0.5), dJointSetHingeAxis(hinge, 0, 1, 0);
    dJointSetHingeParam(hinge, dParamVel, 1), dJointSetHingeParam(hinge, dParamFMax, 2);
}

static void makeFolder(char name[200])
{
    snprintf(name, 200, "%s/pcontactXXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : P_tmpdir);
    PC_EXPECT_TRUE(mkdtemp(name) != NULL);
}

/* How many files there were. */
static int removeFolder(const char* name)
{
    int count = 0;
    DIR* folder = opendir(name);
    for (struct dirent* entry; folder && (entry = readdir(folder)) != NULL;) {
        char path[500];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", name, entry->d_name);
        count++, remove(path);
    }
    if (folder) closedir(folder);
    rmdir(name);
    return count;
}

static int linesOf(const char* name)
{
    int lines = 0;
    FILE* file = fopen(name, "r");
    for (int c; file && (c = fgetc(file)) != EOF;) lines += c == '\n';
    if (file) fclose(file);
    return lines;
}

PC_TEST(OdeReports, TwoWorldsDoNotWriteOverEachOther)
{
    char folder[200], text[300];
    Boxes b[2];
    makeFolder(folder);
    snprintf(text, sizeof text, "report=%s/steps.csv", folder);
    for (int i = 0; i < 2; i++) build(b + i), boxesAttach(b + i, true, text);
    for (int i = 0; i < 2; i++) PC_EXPECT_STATUS(PC_OK, pcWorldStep(b[i].world, H));
    for (int i = 0; i < 2; i++) boxesEnd(b + i);
    PC_EXPECT_EQ_INT(2, removeFolder(folder));
}

/* A program that builds its world anew, as for the next level of a game: the lines of the first are not lost. */
PC_TEST(OdeReports, WorldsOneAfterTheOtherDoNotWriteOverEachOther)
{
    char folder[200], text[300], name[300];
    makeFolder(folder);
    snprintf(text, sizeof text, "report=%s/steps.csv", folder);
    for (int i = 0; i < 3; i++) {
        Boxes b;
        build(&b), boxesAttach(&b, true, text);
        for (int k = 0; k <= i; k++) PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
        boxesEnd(&b);
    }
    snprintf(name, sizeof name, "%s/steps.csv", folder);
    PC_EXPECT_EQ_INT(2, linesOf(name));
    snprintf(name, sizeof name, "%s/steps.3.csv", folder);
    PC_EXPECT_EQ_INT(4, linesOf(name));
    PC_EXPECT_EQ_INT(3, removeFolder(folder));
}

PC_TEST(OdeReports, WorldsShareWhatIsNoFile)
{
    Boxes b[2];
    for (int i = 0; i < 2; i++) build(b + i), boxesAttach(b + i, true, "report=/dev/null");
    for (int i = 0; i < 2; i++) PC_EXPECT_STATUS(PC_OK, pcWorldStep(b[i].world, H));
    for (int i = 0; i < 2; i++) boxesEnd(b + i);
    PC_EXPECT_TRUE(access("/dev/null.2", F_OK) != 0);
}

/* Worlds of their own, but one report file, one folder, one look-ahead. */
static void* stepInThread(void* text)
{
    Boxes b;
    pcStepReport report;
    dAllocateODEDataForThread((unsigned)dAllocateMaskAll);
    for (int round = 0; round < 2; round++) {
        buildHard(&b);
        boxesAttach(&b, round % 2, text);
        for (int i = 0; i < 3; i++) {
            dSpaceCollide(b.space, b.world, pcNearCallback);
            PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
            PC_EXPECT_STATUS(PC_OK, pcWorldMeasure(b.world, H, &report));
        }
        boxesEnd(&b);
    }
    dCleanupODEAllDataForThread();
    return NULL;
}

PC_TEST(OdeReports, TwoThreadsShareFileFolderAndLookahead)
{
    char folder[200], text[500];
    pthread_t thread[2];
    makeFolder(folder);
    snprintf(text, sizeof text, "lookahead=1 threads=2 tolerance=1e-16 report=%s/steps.csv dump=%s", folder, folder);
    dInitODE2(0);
    for (int i = 0; i < 2; i++) PC_ASSERT_EQ_INT(0, pthread_create(thread + i, NULL, stepInThread, text));
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    dCloseODE();
    PC_EXPECT_GT(removeFolder(folder), 1);
}

PC_TEST(OdeReports, WhatCannotBeWrittenChangesNothing)
{
    Boxes b;
    build(&b);
    const char* const wrong[] = {"dump=/dev/null", "dump=/dev/null/folder", "report=/dev/null/file", "dump=/no/such/folder"};
    for (int i = 0; i < 4; i++) {
        PC_CASE("%s", wrong[i]);
        pcSettings s = boxesSettings(wrong[i]);
        PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcWorldAttach(b.world, b.space, &s));
        PC_EXPECT_TRUE(strstr(pcLastError(), wrong[i]) != NULL);
        PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcWorldDetach(b.world)); /* it is not attached */
    }
    boxesAttach(&b, true, "model=convex");
    for (int i = 0; i < 4; i++) {
        pcSettings s = boxesSettings(wrong[i]);
        PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcWorldSetSettings(b.world, &s));
    }
    PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
    boxesExpectOurs(&b);
    boxesEnd(&b);
}

/* ---- steps that missed their tolerance ---- */

/* The problem of the file is that of the step: the answer in it has the residual that the step reported, and solving it again gives the same
 * velocities, where there is only one answer. */
static void checkFile(const char* path, double reported, const char* solver)
{
    StepFile step;
    if (!stepFileSolve(path, solver, 1e-10, &step)) return;
    const pcProblem* p = &step.file.step;
    PC_EXPECT_NEAR(1e-16, step.file.tolerance, 0);
    if (step.file.c) PC_EXPECT_NEAR(reported, step.then, 0);
    PC_EXPECT_EQ_INT(PC_SOLVED, step.info.outcome);
    PC_EXPECT_LE(step.now, 1e-10);
    for (int i = 0; step.file.v && !p->coulomb && i < 6 * p->blocks; i++) PC_EXPECT_NEAR(step.file.v[i], step.v[i], 1e-7);
    stepFileEnd(&step);
}

/* The file of the only island that missed, of the world's last step. */
static void checkDump(const Boxes* b, const char* folder)
{
    char ending[64], path[300];
    int found = 0;
    DIR* opened = opendir(folder);
    snprintf(ending, sizeof ending, "_step%06d_island0.txt", boxesExtra(b).steps);
    for (struct dirent* entry; opened && (entry = readdir(opened)) != NULL;) {
        if (!strstr(entry->d_name, ending)) continue;
        snprintf(path, sizeof path, "%s/%.90s", folder, entry->d_name);
        checkFile(path, boxesReport(b).residual, "auto");
        found++;
    }
    if (opened) closedir(opened);
    PC_EXPECT_EQ_INT(1, found);
}

static void dumpAndCheck(const char* settings)
{
    char folder[200], text[400];
    Boxes b;
    makeFolder(folder);
    buildHard(&b);
    snprintf(text, sizeof text, "tolerance=1e-16 dump=%s %s", folder, settings);
    boxesAttach(&b, true, text);
    for (int i = 0; i < 100 && boxesExtra(&b).dumps == 0; i++) PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
    boxesExpectOurs(&b);
    PC_EXPECT_EQ_INT(PC_INACCURATE, boxesReport(&b).outcome);
    PC_EXPECT_EQ_INT(1, boxesExtra(&b).dumps);
    checkDump(&b, folder);
    boxesEnd(&b);
    PC_EXPECT_EQ_INT(1, removeFolder(folder));
}

PC_TEST(OdeReports, StepsThatMissTheirToleranceAreWrittenAndSolvedAgain)
{
    const char* const settings[] = {"model=lcp", "model=convex", "coneEdges=8", "bounce=0.5", "bounce=0.5 restitution=poisson",
                                    "threads=2"};
    for (int i = 0; i < 6; i++) {
        PC_CASE("%s", settings[i]);
        dumpAndCheck(settings[i]);
    }
}

/* Told directly, as the solver would: to miss so often takes long. */
PC_TEST(OdeReports, NoMoreThanAThousandFilesAreWritten)
{
    char folder[200], text[300];
    Boxes b;
    makeFolder(folder);
    boxesBegin(&b);
    snprintf(text, sizeof text, "dump=%s", folder);
    boxesAttach(&b, true, text);
    const double mass[36] = {[0] = 1, [7] = 1, [14] = 1, [21] = 1, [28] = 1, [35] = 1}, zero[6] = {0};
    const pcProblem problem = {.blocks = 1, .mass = mass, .free = zero, .velocityScale = 1};
    pcHost* host = pcHostFind(b.world);
    for (int i = 0; i < PC_MOST_DUMPS + 10; i++) {
        pcMissed missed = {i, &problem, zero, zero, 1e-10};
        host->memory->missed(host->memory->missedContext, &missed);
    }
    pcHostRelease(host);
    PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
    PC_EXPECT_EQ_INT(PC_MOST_DUMPS, boxesExtra(&b).dumps);
    boxesEnd(&b);
    PC_EXPECT_EQ_INT(PC_MOST_DUMPS, removeFolder(folder));
}
