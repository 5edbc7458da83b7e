/*
 * The worlds of others in test_worlds/peers: all load and run, and what that simulator's own tests expect of some of them holds under our
 * model (ODE's own beside it, printed). PCONTACT_WORLD_SECONDS says how long each one runs; a run of its own has 10.
 */
#define _GNU_SOURCE /* setenv */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/sdf_text.h"

#define PEERS PCONTACT_TEST_WORLDS "/peers/"

/* ---- all of them ---- */

typedef struct Run {
    double residual, penetration, joint;
    int natives, inaccurate, lost, messages, bodies, joints;
} Run;

static double secondsEach(void)
{
    const char* text = getenv("PCONTACT_WORLD_SECONDS");
    return text ? atof(text) : *PCONTACT_SANITIZE ? 0.1 : 1.0;
}

static void judgeStep(const pcStage* stage, Run* run)
{
    pcStepReport report;
    pcWorldReport(stage->world, &report);
    run->residual = fmax(run->residual, report.residual);
    run->penetration = fmax(run->penetration, report.penetration);
    run->joint = fmax(run->joint, report.infeasibilityJoint);
    run->inaccurate += report.outcome != PC_SOLVED;
    for (int i = 0; i < stage->bodies; i++) {
        const dReal *x = dBodyGetPosition(stage->body[i].body), *v = dBodyGetLinearVel(stage->body[i].body);
        run->lost += !isfinite(x[0] + x[1] + x[2] + v[0] + v[1] + v[2]);
    }
}

static Run runWorld(const char* file, const char* settings, double seconds)
{
    Run run = {.natives = -1};
    pcScene* scene = NULL;
    pcStage* stage = NULL;
    pcWorldReportExtra extra;
    pcSettings chosen;
    if (pcSceneRead(file, &scene) == PC_OK && pcStageMake(scene, &stage) == PC_OK) {
        chosen = stage->settings;
        if (pcSettingsParse(&chosen, settings) == PC_OK && pcStageAttach(stage, &chosen) == PC_OK) {
            int steps = (int)lround(seconds / stage->step);
            for (int i = 0; i < steps && pcStageStep(stage, stage->step) == PC_OK; i++) judgeStep(stage, &run);
            pcWorldReportMore(stage->world, &extra);
            run.natives = extra.steps == steps ? extra.nativeSteps : -2;
            run.messages = stage->messages, run.bodies = stage->bodies, run.joints = stage->joints;
        }
    }
    if (run.natives < 0) PC_FAIL("%s", pcLastError());
    pcStageFree(stage);
    pcSceneFree(scene);
    return run;
}

PC_TEST(SdfWorlds, AllWorldsOfOthersLoadAndRun)
{
    glob_t found;
    double seconds = secondsEach();
    PC_ASSERT_EQ_INT(0, glob(PEERS "*.world", 0, NULL, &found));
    PC_EXPECT_EQ_INT(31, found.gl_pathc);
    printf("%-34s bodies joints  residual  depth     joints    inaccurate native messages   (%g s under lcp)\n", "world", seconds);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char* name = strrchr(found.gl_pathv[i], '/') + 1;
        PC_CASE("%s", name);
        Run run = runWorld(found.gl_pathv[i], "model=lcp", seconds);
        printf("%-34s %6d %6d  %.1e   %.1e   %.1e   %10d %6d %8d\n", name, run.bodies, run.joints, run.residual, run.penetration, run.joint,
               run.inaccurate, run.natives, run.messages);
        PC_EXPECT_EQ_INT(0, run.natives);
        PC_EXPECT_EQ_INT(0, run.lost);
        PC_EXPECT_EQ_INT(0, run.messages);
        PC_EXPECT_LE(run.residual, 1e-6);
        PC_EXPECT_LE(run.inaccurate, 0);
    }
    globfree(&found);
}

/* ---- expectations.csv, row by row ---- */

typedef struct Judged {
    double worst; /* deviation */
    double allowed;
} Judged;

/* A world of the folder, or of a text. */
typedef struct Opened {
    pcScene* scene;
    pcStage* stage;
} Opened;

static Opened openStage(const char* name, const char* settings)
{
    char file[600];
    Opened o = {0};
    pcSettings chosen;
    snprintf(file, sizeof file, PEERS "%s", name);
    if (pcSceneRead(file, &o.scene) != PC_OK || pcStageMake(o.scene, &o.stage) != PC_OK) {
        PC_FAIL("%s", pcLastError());
        return o;
    }
    chosen = o.stage->settings;
    if (pcSettingsParse(&chosen, settings) != PC_OK || pcStageAttach(o.stage, &chosen) != PC_OK) PC_FAIL("%s", pcLastError());
    return o;
}

static void closeStage(Opened* o)
{
    pcStageFree(o->stage);
    pcSceneFree(o->scene);
}

static double length(const dReal* v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* NaN counts as lost. */
static void widen(Judged* j, double deviation)
{
    if (!(fabs(deviation) <= j->worst)) j->worst = isnan(deviation) ? HUGE_VAL : fabs(deviation);
}

static double smallestMu(const pcStage* stage, const pcScene* scene, int body)
{
    for (int i = 0; i < scene->collisions; i++)
        if (scene->collision[i].link == stage->body[body].link) return scene->collision[i].surface.mu;
    return NAN;
}

static void friction(const char* settings, Judged* across)
{
    Judged* along = across + 1;
    Opened o = openStage("friction_demo.world", settings);
    across->allowed = along->allowed = 1e-3;
    if (!o.stage) return;
    for (int i = 1; i <= 20; i++) {
        sdfRun(o.stage, 0.5);
        for (int k = 0; k < o.stage->bodies; k++) {
            const dReal* v = dBodyGetLinearVel(o.stage->body[k].body);
            double mu = smallestMu(o.stage, o.scene, k), expected = mu >= 1.0 ? 0.0 : (-1.0 + mu) * 0.5 * i;
            widen(across, v[0]);
            widen(across, v[2]);
            widen(along, v[1] - expected);
        }
    }
    closeStage(&o);
}

/* In flight: z and v of the first-order scheme, which every solver here has: z = z0 - g h^2 n (n + 1) / 2. At rest: height. */
static void drop(const char* settings, Judged* flight)
{
    Judged *rest = flight + 1, *speed = flight + 2;
    Opened o = openStage("drop_test.world", settings);
    *flight = (Judged){0, 1e-4}, *rest = (Judged){0, 1e-5}, *speed = (Judged){0, 0.0101};
    if (!o.stage) return;
    for (int n = 1; n <= 1500; n++) {
        double h = o.stage->step, free = 10.5 - 10 * h * h * n * (n + 1.0) / 2;
        sdfRun(o.stage, h);
        for (int k = 0; k < o.stage->bodies; k++) {
            dBodyID body = o.stage->body[k].body;
            if (free > 0.5) widen(flight, fmax(fabs(dBodyGetPosition(body)[2] - free), fabs(dBodyGetLinearVel(body)[2] + 10 * h * n)));
            if (n == 1500) widen(rest, dBodyGetPosition(body)[2] - 0.5);
            if (n == 1500) widen(speed, length(dBodyGetLinearVel(body)));
        }
    }
    closeStage(&o);
}

static void fixedJoint(const char* settings, Judged* j)
{
    Opened o = openStage("fixed_joint.world", settings);
    *j = (Judged){HUGE_VAL, 1e-9};
    dReal start[16][7];
    if (!o.stage) return;
    j->worst = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < o.stage->bodies && k < 16; k++)
            for (int i = 0; i < 7; i++) {
                const dReal value = i < 3 ? dBodyGetPosition(o.stage->body[k].body)[i] : dBodyGetQuaternion(o.stage->body[k].body)[i - 3];
                if (pass == 0) start[k][i] = value;
                widen(j, value - start[k][i]);
            }
        if (pass == 0) sdfRun(o.stage, 100 * o.stage->step);
    }
    closeStage(&o);
}

static void freeLoop(const char* settings, Judged* j)
{
    Opened o = openStage("free_loop.world", settings);
    *j = (Judged){HUGE_VAL, 0.5};
    if (!o.stage) return;
    j->worst = 0.0;
    sdfRun(o.stage, 15);
    for (int k = 0; k < o.stage->bodies; k++) {
        widen(j, length(dBodyGetLinearVel(o.stage->body[k].body)));
        widen(j, length(dBodyGetAngularVel(o.stage->body[k].body)));
    }
    for (int k = 0; k < o.stage->joints; k++)
        if (dJointGetType(o.stage->joint[k].joint) == dJointTypeHinge) widen(j, 5 * dJointGetHingeAngleRate(o.stage->joint[k].joint));
    closeStage(&o);
}

static void zeroContacts(const char* settings, Judged* j)
{
    Opened o = openStage("zero_max_contacts.world", settings);
    *j = (Judged){HUGE_VAL, 1e-9};
    if (!o.stage) return;
    j->worst = 0.0;
    sdfRun(o.stage, 1);
    double h = o.stage->step, n = round(1 / h);
    widen(j, dBodyGetPosition(o.stage->body[0].body)[2] - (1 - 9.8 * h * h * n * (n + 1) / 2));
    closeStage(&o);
}

static void poseOffset(const char* settings, Judged* j)
{
    Opened o = openStage("collision_pose_offset.world", settings);
    *j = (Judged){HUGE_VAL, 1e-2};
    if (!o.stage) return;
    j->worst = 0.0;
    sdfRun(o.stage, 5);
    for (int i = 0; i < dSpaceGetNumGeoms(o.stage->space); i++) {
        dGeomID geom = dSpaceGetGeom(o.stage->space, i);
        dReal box[6];
        if (!dGeomGetBody(geom)) continue;
        dGeomGetAABB(geom, box);
        widen(j, dGeomGetPosition(geom)[2] - (box[5] - box[4]) / 2);
    }
    closeStage(&o);
}

#define GROUND "<include><uri>model://ground_plane</uri></include>"

static void fallingBox(const char* settings, Judged* j)
{
    pcStage* s =
        sdfStage(sdfWorld("1.6", GROUND "<model name='m'><pose>0 0 5 0 0 0</pose><link name='l'><collision name='c'><geometry><box>"
                                        "<size>1 1 1</size></box></geometry></collision></link></model>"),
                 settings);
    *j = (Judged){HUGE_VAL, 1e-2};
    if (!s) return;
    j->worst = 0.0;
    dBodyID body = sdfBody(s, "m::l");
    for (int n = 1; n <= 2000; n++) {
        double t = n * s->step, fallen = 9.8 * t * t / 2;
        sdfRun(s, s->step);
        if (fallen > 0.1 && fallen < 4.4) widen(j, (5 - dBodyGetPosition(body)[2]) / fallen - 1);
    }
    widen(j, dBodyGetPosition(body)[2] - 0.5);
    widen(j, length(dBodyGetLinearVel(body)));
    pcStageFree(s);
}

/* Its centre of mass lies beside its middle: it rocks, without slipping. */
static void offsetSphere(const char* settings, Judged* j)
{
    pcStage* s = sdfStage(
        sdfWorld("1.6", GROUND "<model name='m'><pose>0 0 1 0 0 0</pose><link name='l'><inertial><pose>0.2 0 0 0 0 0</pose><mass>1</mass>"
                               "<inertia><ixx>0.4</ixx><iyy>0.4</iyy><izz>0.4</izz></inertia></inertial><collision name='c'>"
                               "<geometry><sphere><radius>1</radius></sphere></geometry></collision></link></model>"),
        settings);
    *j = (Judged){HUGE_VAL, 1e-2};
    double fastest = 0.0;
    if (!s) return;
    j->worst = 0.0;
    dBodyID body = sdfBody(s, "m::l");
    for (int n = 0; n < 3000; n++) {
        dVector3 v;
        sdfRun(s, s->step);
        dBodyGetRelPointVel(body, -0.2, 0, 0, v);
        widen(j, v[0] - dBodyGetAngularVel(body)[1]);
        fastest = fmax(fastest, fabs(v[0]));
    }
    if (!(fastest > 0.5)) widen(j, NAN); /* it must have rolled */
    pcStageFree(s);
}

enum { MOST_ROWS = 3 };

typedef struct Expectation {
    const char* world;
    void (*judge)(const char* settings, Judged* rows);
    const char* quantity[MOST_ROWS];
} Expectation;

static void expectRows(const Expectation* e)
{
    Judged ours[MOST_ROWS] = {{0}}, native[MOST_ROWS] = {{0}};
    e->judge("model=lcp", ours);
    e->judge("model=native", native);
    for (int i = 0; i < MOST_ROWS && e->quantity[i]; i++) {
        PC_CASE("%s: %s", e->world, e->quantity[i]);
        printf("%-28s %-38s %10.2g %10.2g %10.2g%s\n", e->world, e->quantity[i], ours[i].allowed, ours[i].worst, native[i].worst,
               native[i].worst <= native[i].allowed ? "" : " (beyond)");
        PC_EXPECT_LE(ours[i].worst, ours[i].allowed);
    }
}

PC_TEST(SdfWorlds, WhatTheirTestsExpectHolds)
{
    static const Expectation table[] = {{"friction_demo", friction, {"speed along x and z", "speed along y against (g + mu) t"}},
                                        {"drop_test", drop, {"free fall, z and v", "height at rest", "speed at rest"}},
                                        {"fixed_joint", fixedJoint, {"pose after 100 steps"}},
                                        {"free_loop", freeLoop, {"speeds after 15 s (joints: times 5)"}},
                                        {"zero_max_contacts", zeroContacts, {"falls through for 1 s"}},
                                        {"collision_pose_offset", poseOffset, {"height of the collisions"}},
                                        {"box on ground_plane", fallingBox, {"fall, then rest"}},
                                        {"sphere, centre of mass off", offsetSphere, {"rolls: v - w r"}}};
    if (*PCONTACT_SANITIZE) PC_SKIP("long runs: without the sanitizers");
    printf("%-28s %-38s %10s %10s %10s\n", "world", "deviation of", "allowed", "lcp", "native");
    setenv("PCONTACT_MODELS", PEERS "models", 1); /* for worlds that are written into another folder */
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) expectRows(table + i);
    unsetenv("PCONTACT_MODELS");
}
