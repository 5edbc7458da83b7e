/* Hosts that step several worlds at once, each in a thread of its own, with pools of threads that they give to ODE: meant for the thread sanitizer. */
#include <pthread.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "pcontact/pcontact.h"
#include "test_worlds/unit/ode_boxes.h"

enum { WORLDS = 4, STEPS = 40 };
static const double H = 0.01;

/* What a host may do with a world: every model, our own threads beside the host's, contacts found here or by a callback. */
static const struct Way {
    const char* settings;
    bool withSpace;
} ways[WORLDS] = {
    {"model=lcp threads=2", true}, {"model=convex threads=2", false}, {"model=quick", true}, {"model=shadow:lcp threads=2", false}};

typedef struct Pool {
    dThreadingImplementationID threading;
    dThreadingThreadPoolID threads;
} Pool;

static Pool poolBegin(dWorldID world)
{
    Pool p = {dThreadingAllocateMultiThreadedImplementation(), dThreadingAllocateThreadPool(2, 0, dAllocateFlagBasicData, NULL)};
    dThreadingThreadPoolServeMultiThreadedImplementation(p.threads, p.threading);
    dWorldSetStepThreadingImplementation(world, dThreadingImplementationGetFunctions(p.threading), p.threading);
    return p;
}

static void poolEnd(Pool* p, dWorldID world)
{
    dThreadingImplementationShutdownProcessing(p->threading);
    dThreadingFreeThreadPool(p->threads);
    dWorldSetStepThreadingImplementation(world, NULL, NULL);
    dThreadingFreeImplementation(p->threading);
}

typedef struct Host {
    const struct Way* way;
    bool pooled;
    BoxesState state;
    int steps;
} Host;

/* Eight islands that slide and come to rest. */
static void play(Host* host)
{
    Boxes b;
    boxesBegin(&b);
    for (int i = 0; i < 8; i++) dBodySetLinearVel(boxesAdd(&b, 3 * i, 0, 0.5, 1), 0.3 * i, 0.2, 0);
    boxesAttach(&b, host->way->withSpace, host->way->settings);
    Pool pool = host->pooled ? poolBegin(b.world) : (Pool){0};
    for (int i = 0; i < STEPS; i++) {
        if (host->way->withSpace)
            PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
        else
            boxesStep(&b, H);
    }
    host->state = boxesState(&b);
    host->steps = boxesExtra(&b).steps;
    if (host->pooled) poolEnd(&pool, b.world);
    boxesEnd(&b);
}

static void* playInThread(void* host)
{
    dAllocateODEDataForThread((unsigned)dAllocateMaskAll);
    play(host);
    dCleanupODEAllDataForThread();
    return NULL;
}

/* On a pool QuickStep takes its rows in whatever order its threads come, so of that world only the steps are counted. */
static void expectAsAlone(Host* host)
{
    Host alone = {.way = host->way};
    PC_CASE("%s", host->way->settings);
    play(&alone);
    PC_EXPECT_EQ_INT(STEPS, host->steps);
    if (strcmp(host->way->settings, "model=quick") != 0) PC_EXPECT_TRUE(memcmp(&host->state, &alone.state, sizeof alone.state) == 0);
}

/* The shadowed world is moved by dWorldStep, which on a pool races with itself: two islands write to one piece of its memory, and in one run of ten
 * bodies end up to 1e-3 elsewhere, by model=native too. So that one has no pool. */
PC_TEST(OdeThreads, WorldsInFourThreadsWithPoolsOfTheHostMoveAsAlone)
{
    pthread_t thread[WORLDS];
    Host host[WORLDS];
    dInitODE2(0);
    for (int i = 0; i < WORLDS; i++) {
        host[i] = (Host){.way = ways + i, .pooled = strstr(ways[i].settings, "shadow") == NULL};
        PC_ASSERT_EQ_INT(0, pthread_create(thread + i, NULL, playInThread, host + i));
    }
    for (int i = 0; i < WORLDS; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < WORLDS; i++) expectAsAlone(host + i);
    dCloseODE();
}

/* A world that wanders from thread to thread, as with hosts whose jobs go to whoever is free. */
typedef struct Wanderer {
    Boxes* boxes;
    int steps;
} Wanderer;

static void* stepOn(void* context)
{
    const Wanderer* w = context;
    dAllocateODEDataForThread((unsigned)dAllocateMaskAll);
    for (int i = 0; i < w->steps; i++) boxesStep(w->boxes, H);
    dCleanupODEAllDataForThread();
    return NULL;
}

static BoxesState stackAfter(bool wandering)
{
    Boxes b;
    boxesBegin(&b);
    for (int i = 0; i < 4; i++) boxesAdd(&b, 0.01 * i, 0, 0.5 + i, 1);
    boxesAttach(&b, false, "model=lcp threads=2");
    for (int i = 0; i < 6; i++) {
        pthread_t thread;
        Wanderer w = {&b, 5};
        if (!wandering)
            stepOn(&w);
        else if (pthread_create(&thread, NULL, stepOn, &w) == 0)
            pthread_join(thread, NULL);
    }
    boxesExpectOurs(&b);
    PC_EXPECT_EQ_INT(30, boxesExtra(&b).steps);
    BoxesState state = boxesState(&b);
    boxesEnd(&b);
    return state;
}

PC_TEST(OdeThreads, AWorldMayBeSteppedByOneThreadAfterTheOther)
{
    BoxesState wandered = stackAfter(true), stayed = stackAfter(false);
    PC_EXPECT_TRUE(memcmp(&wandered, &stayed, sizeof stayed) == 0);
}
