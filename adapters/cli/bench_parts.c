/*
 * pcontact bench step, parts of a step by themselves, in milliseconds of the processor (CPU time of this thread: others on the machine do not
 * count, what they do to its caches does).
 *
 *   broadphase   boxes of 10 to 20 cm, turned by chance, in a cube as tight as a pile; every box drifts by up to 5 mm in a step
 *   sleep        stacks of ten boxes that auto-disable has put to sleep, beside one ball that is kept awake: what the step costs more than that
 *                of the ball alone
 */
#define _GNU_SOURCE
#include "adapters/cli/bench_parts.h"

#include <math.h>
#include <ode/ode.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapters/cli/bench_pairs.h"
#include "broadphase/broadphase.h"
#include "pcontact/pcontact.h"

static const double STEP = 0.01;
enum { MOST_ROUNDS = 60 };

static double processorNow(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* ---- broadphase ---- */

typedef struct Cloud {
    int count;
    pcShape** shape;
    pcPose* pose;
    v3* velocity;
    int* order;
    pcProxy* proxy;
    pcArena arena;
} Cloud;

static bool cloudMake(Cloud* cloud, int count)
{
    int side = (int)ceil(cbrt(count));
    BenchRig rig = {.random = 7};
    *cloud =
        (Cloud){.count = count, .shape = calloc((size_t)count, sizeof *cloud->shape), .pose = calloc((size_t)count, sizeof *cloud->pose)};
    cloud->velocity = calloc((size_t)count, sizeof *cloud->velocity), cloud->order = calloc((size_t)count, sizeof *cloud->order);
    cloud->proxy = calloc((size_t)count, sizeof *cloud->proxy);
    if (!cloud->shape || !cloud->pose || !cloud->velocity || !cloud->order || !cloud->proxy) return false;
    for (int i = 0; i < count; i++) {
        double size[3], *q = cloud->pose[i].quaternion;
        int place[3] = {i % side, i / side % side, i / side / side};
        for (int k = 0; k < 3; k++) size[k] = 0.1 + 0.1 * benchUniform(&rig), cloud->pose[i].position[k] = 0.18 * place[k];
        for (int k = 0; k < 4; k++) q[k] = benchUniform(&rig) - 0.5;
        cloud->velocity[i] = v3Make(benchUniform(&rig) - 0.5, benchUniform(&rig) - 0.5, benchUniform(&rig) - 0.5);
        cloud->order[i] = i;
        if (pcShapeBox(size, cloud->shape + i) != PC_OK) return false;
    }
    return true;
}

static void cloudFree(Cloud* cloud)
{
    for (int i = 0; cloud->shape && i < cloud->count; i++) pcShapeFree(cloud->shape[i]);
    free(cloud->shape), free(cloud->pose), free(cloud->velocity), free(cloud->order), free(cloud->proxy);
    pcArenaFree(&cloud->arena);
}

/* Forth and back, so that the cube stays one; returns how many pairs there are. */
static int cloudStep(Cloud* cloud, int round)
{
    pcPair* pairs;
    for (int i = 0; i < cloud->count; i++) {
        v3 v = v3Scale(round / 8 % 2 ? -1 : 1, cloud->velocity[i]);
        v3Store(cloud->pose[i].position, v3AddScaled(v3Load(cloud->pose[i].position), STEP, v));
        pcAhead ahead = {.h = STEP, .velocity = v, .centreOfMass = v3Load(cloud->pose[i].position), .pace = {v3Norm(v), 0.0}};
        pcProxyPlace(cloud->shape[i], cloud->pose + i, &ahead, cloud->proxy + i);
        cloud->proxy[i].body = i, cloud->proxy[i].moves = true;
    }
    int count = pcPairsFind(&cloud->arena, cloud->proxy, cloud->count, cloud->order, &pairs);
    pcArenaRelease(&cloud->arena, 0);
    return count;
}

double pcBenchBroadphase(int bodies, int* pairs)
{
    Cloud cloud;
    double ms[MOST_ROUNDS];
    bool good = cloudMake(&cloud, bodies);
    for (int round = -5; good && round < MOST_ROUNDS; round++) { /* some to warm up */
        double start = processorNow();
        *pairs = cloudStep(&cloud, round + 8);
        if (round >= 0) ms[round] = processorNow() - start;
    }
    cloudFree(&cloud);
    return good ? benchStat(ms, MOST_ROUNDS).median : (double)NAN;
}

/* ---- sleep ---- */

static void addBody(dWorldID world, dSpaceID space, double x, double z)
{
    dBodyID body = dBodyCreate(world);
    dMass mass;
    dMassSetBoxTotal(&mass, 1, 1, 1, 1);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, x, 0, z);
    dGeomSetBody(dCreateBox(space, 1, 1, 1), body);
}

static bool allSleep(dWorldID world, dSpaceID space)
{
    (void)world;
    for (int i = 0; i < dSpaceGetNumGeoms(space); i++) {
        dBodyID body = dGeomGetBody(dSpaceGetGeom(space, i));
        if (body && dBodyIsEnabled(body) && dBodyGetAutoDisableFlag(body)) return false;
    }
    return true;
}

double pcBenchSleep(int stacks)
{
    dWorldID world = dWorldCreate();
    dSpaceID space = dHashSpaceCreate(0);
    double ms[MOST_ROUNDS];
    dWorldSetGravity(world, 0, 0, -9.81);
    dWorldSetAutoDisableFlag(world, 1);
    dCreatePlane(space, 0, 0, 1, 0);
    for (int i = 0; i < 10 * stacks; i++) addBody(world, space, 3.0 * (1 + i / 10), 0.5 + i % 10);
    addBody(world, space, 0, 50);
    dBodyID awake = dGeomGetBody(dSpaceGetGeom(space, 0)); /* ODE lists the last one first */
    dBodySetAutoDisableFlag(awake, 0);
    bool good = pcWorldAttach(world, space, NULL) == PC_OK;
    for (int i = 0; good && i < 200 && (i < 20 || !allSleep(world, space)); i++) good = pcWorldStep(world, STEP) == PC_OK;
    good = good && allSleep(world, space);
    dBodySetPosition(awake, 0, 0, 50), dBodySetLinearVel(awake, 0, 0, 0);
    for (int i = 0; good && i < MOST_ROUNDS; i++) {
        double start = processorNow();
        good = pcWorldStep(world, STEP) == PC_OK;
        ms[i] = processorNow() - start;
    }
    pcWorldDetach(world);
    dSpaceDestroy(space), dWorldDestroy(world);
    return good ? benchStat(ms, MOST_ROUNDS).median : (double)NAN;
}
