/* Threads that share the parts of one task, and factors that come out the same however many threads made them. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "base/arena.h"
#include "base/pause.h"
#include "base/pool.h"
#include "linalg/blocks.h"
#include "test_worlds/unit/problems.h"

/* ---- parts ---- */

enum { TASKS = 5, PARTS = 400 };

typedef struct Shared {
    pcPool* pool;
    int width;
    _Atomic int taken[TASKS][PARTS];
    _Atomic int wrongWorker;
} Shared;

typedef struct OfTask {
    Shared* shared;
    int task;
} OfTask;

static void takePart(void* context, int part, int worker)
{
    const OfTask* of = context;
    if (worker < 0 || worker >= of->shared->width) atomic_fetch_add(&of->shared->wrongWorker, 1);
    for (int i = 0; part > 0 && atomic_load(&of->shared->taken[of->task][part - 1]) == 0; i++)
        pcPauseLonger(i); /* those before come first */
    atomic_fetch_add(&of->shared->taken[of->task][part], 1);
}

static void takeTask(void* context, int task, int worker)
{
    OfTask of = {context, task};
    (void)worker;
    pcPoolShare(of.shared->pool, takePart, &of, PARTS);
}

PC_TEST(Pool, EveryPartOfEveryTaskIsTakenOnceAndMayWaitForThoseBefore)
{
    static const int threads[] = {1, 2, 3, 8};
    pcPool* pool = pcPoolCreate();
    PC_ASSERT_TRUE(pool != NULL);
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        for (int tasks = 1; tasks <= TASKS; tasks++) {
            Shared* shared = calloc(1, sizeof *shared);
            PC_ASSERT_TRUE(shared != NULL);
            shared->pool = pool, shared->width = threads[t];
            pcPoolRun(pool, threads[t], true, takeTask, shared, tasks);
            for (int i = 0; i < tasks * PARTS; i++) PC_ASSERT_EQ_INT(1, shared->taken[i / PARTS][i % PARTS]);
            PC_EXPECT_EQ_INT(0, shared->wrongWorker);
            free(shared);
        }
    }
    pcPoolFree(pool);
}

static void countSome(void* context, int begin, int end)
{
    const OfTask* of = context;
    for (int i = begin; i < end; i++) atomic_fetch_add(&of->shared->taken[of->task][i], 1);
}

static void loopTask(void* context, int task, int worker)
{
    OfTask of = {context, task};
    (void)worker;
    for (int count = 0; count <= PARTS; count++) pcPoolLoop(of.shared->pool, countSome, &of, count);
}

PC_TEST(Pool, EveryPartOfALoopIsRunOnce)
{
    static const int threads[] = {1, 2, 3, 8};
    pcPool* pool = pcPoolCreate();
    PC_ASSERT_TRUE(pool != NULL);
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        Shared* shared = calloc(1, sizeof *shared);
        PC_ASSERT_TRUE(shared != NULL);
        shared->pool = pool, shared->width = threads[t];
        pcPoolRun(pool, threads[t], true, loopTask, shared, TASKS);
        for (int i = 0; i < TASKS * PARTS; i++) PC_ASSERT_EQ_INT(PARTS - i % PARTS, shared->taken[i / PARTS][i % PARTS]);
        free(shared);
    }
    pcPoolFree(pool);
}

PC_TEST(Pool, WithoutOneThePartsRunHere)
{
    Shared* shared = calloc(1, sizeof *shared);
    PC_ASSERT_TRUE(shared != NULL);
    shared->width = 1;
    takeTask(shared, 0, 0);
    for (int i = 0; i < PARTS; i++) PC_ASSERT_EQ_INT(1, shared->taken[0][i]);
    PC_EXPECT_EQ_INT(1, pcPoolWidth(NULL));
    free(shared);
}

/* ---- factors ---- */

enum { SIDE = 7, BLOCKS = SIDE * SIDE * SIDE };

/* A cube of blocks, each tied to its neighbours, of values by chance; the diagonal block `singular` is nothing, if it is not negative. */
typedef struct Cube {
    pcPool* pool;
    int singular;
    bool good;
    double x[6 * BLOCKS];
} Cube;

static int neighbours(int* pairs)
{
    int count = 0;
    for (int i = 0; i < BLOCKS; i++) {
        if (i % SIDE > 0) pairs[count++] = i, pairs[count++] = i - 1;
        if (i / SIDE % SIDE > 0) pairs[count++] = i, pairs[count++] = i - SIDE;
        if (i / SIDE / SIDE > 0) pairs[count++] = i, pairs[count++] = i - SIDE * SIDE;
    }
    return count / 2;
}

static void fillBlock(double* block, double diagonal, pcRandom* random)
{
    for (int e = 0; e < 36; e++) block[e] = pcBetween(random, -1.0, 1.0) + (e % 7 == 0 ? diagonal : 0.0);
}

static void factorCube(void* context, int task, int worker)
{
    static int pairs[6 * BLOCKS];
    Cube* cube = context;
    pcArena arena = {0};
    pcBlocks A;
    pcRandom random = {5};
    int count = neighbours(pairs);
    (void)task, (void)worker;
    cube->good = pcBlocksPattern(&A, BLOCKS, pairs, count, cube->pool, &arena);
    for (int again = 0; cube->good && again < 3; again++) {
        pcBlocksClear(&A);
        for (int i = 0; i < BLOCKS; i++) fillBlock(pcBlocksAt(&A, i, i), 20.0, &random);
        for (int p = 0; p < count; p++)
            fillBlock(pcBlocksAt(&A, pairs[2 * p], pairs[2 * p + 1]), 0.0, &random),
                fillBlock(pcBlocksAt(&A, pairs[2 * p + 1], pairs[2 * p]), 0.0, &random);
        for (int j = 0; cube->singular >= 0 && j < 36; j++) pcBlocksAt(&A, cube->singular, cube->singular)[j] = 0.0;
        cube->good = pcBlocksFactor(&A);
        for (int i = 0; i < 6 * BLOCKS; i++) cube->x[i] = pcBetween(&random, -1.0, 1.0);
        if (cube->good) pcBlocksSolve(&A, cube->x);
    }
    pcArenaFree(&arena);
}

PC_TEST(Pool, FactorsAreTheSameToTheBitOnAnyNumberOfThreads)
{
    static Cube one, many;
    pcPool* pool = pcPoolCreate();
    PC_ASSERT_TRUE(pool != NULL);
    one = (Cube){.singular = -1};
    factorCube(&one, 0, 0);
    PC_ASSERT_TRUE(one.good);
    for (int threads = 1; threads <= 4; threads++) {
        many = (Cube){.pool = pool, .singular = -1};
        pcPoolRun(pool, threads, true, factorCube, &many, 1);
        PC_ASSERT_TRUE(many.good);
        PC_EXPECT_EQ_INT(0, memcmp(one.x, many.x, sizeof one.x));
    }
    pcPoolFree(pool);
}

/* A corner of the cube is eliminated before its neighbours act on it. */
PC_TEST(Pool, ASingularColumnLeavesNoThreadWaiting)
{
    static Cube cube;
    pcPool* pool = pcPoolCreate();
    PC_ASSERT_TRUE(pool != NULL);
    for (int threads = 1; threads <= 4; threads++) {
        cube = (Cube){.pool = pool, .singular = 0};
        pcPoolRun(pool, threads, true, factorCube, &cube, 1);
        PC_EXPECT_FALSE(cube.good);
    }
    pcPoolFree(pool);
}
