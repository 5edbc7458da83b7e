/* Factors of sparse matrices of blocks, of patterns that ask for every way in which columns may act on each other: against the matrix itself. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "base/arena.h"
#include "base/pool.h"
#include "linalg/blocks.h"
#include "test_worlds/unit/problems.h"

enum { MOST = 150, ROOM = MOST * (MOST - 1) };

typedef struct Ties {
    int n, count;
    int pair[ROOM];
} Ties;

static void tie(Ties* ties, int i, int j)
{
    if (i != j && ties->count < ROOM / 2) ties->pair[2 * ties->count] = i, ties->pair[2 * ties->count + 1] = j, ties->count++;
}

static void tieChain(Ties* ties)
{
    for (int i = 1; i < ties->n; i++) tie(ties, i - 1, i);
}

/* Every one of the last `tail` with each other. */
static void tieTail(Ties* ties, int tail)
{
    for (int i = ties->n - tail; i < ties->n; i++)
        for (int j = ties->n - tail; j < i; j++) tie(ties, i, j);
}

/* Cliques of sizes by chance that hang together by one block each: columns that have the same rows, in numbers odd and even. */
static void tieCliques(Ties* ties, pcRandom* random)
{
    for (int begin = 0, end; begin < ties->n - 1; begin = end - 1) {
        end = begin + 2 + (int)pcBetween(random, 0.0, 9.99);
        if (end > ties->n) end = ties->n;
        for (int i = begin; i < end; i++)
            for (int j = begin; j < i; j++) tie(ties, i, j);
    }
}

static void tieByChance(Ties* ties, int count, pcRandom* random)
{
    for (int i = 0; i < count; i++) tie(ties, (int)pcBetween(random, 0.0, ties->n - 0.01), (int)pcBetween(random, 0.0, ties->n - 0.01));
}

/* The matrix itself, row by row, and a right side; what is not tied is zero. */
typedef struct Whole {
    const Ties* ties;
    double *A, *b;
} Whole;

static void fillWhole(Whole* whole, pcRandom* random)
{
    size_t n = 6 * (size_t)whole->ties->n;
    memset(whole->A, 0, n * n * sizeof(double));
    for (int p = -whole->ties->n; p < 2 * whole->ties->count; p++) {
        int i = p < 0 ? p + whole->ties->n : whole->ties->pair[p], j = p < 0 ? i : whole->ties->pair[p ^ 1];
        for (size_t e = 0; e < 36; e++) whole->A[(6 * (size_t)i + e / 6) * n + 6 * (size_t)j + e % 6] = pcBetween(random, -1.0, 1.0);
    }
    for (size_t i = 0; i < n; i++) whole->A[i * n + (i ^ 1)] += 4.0 * sqrt((double)n); /* rows of a block must be exchanged */
    for (size_t i = 0; i < n; i++) whole->b[i] = pcBetween(random, -1.0, 1.0);
}

/* Symmetric and positive definite: a weight on the diagonal for every row, more than what else is in it. */
static void makeDefinite(Whole* whole)
{
    size_t n = 6 * (size_t)whole->ties->n;
    for (size_t i = 0; i < n; i++) {
        whole->A[i * n + (i ^ 1)] -= 4.0 * sqrt((double)n);
        for (size_t j = 0; j < i; j++) whole->A[j * n + i] = whole->A[i * n + j];
    }
    for (size_t i = 0; i < n; i++) {
        double others = 0.0;
        for (size_t j = 0; j < n; j++) others += j == i ? 0.0 : fabs(whole->A[i * n + j]);
        whole->A[i * (n + 1)] = 1.0 + others;
    }
}

static void copyBlock(const Whole* whole, int i, int j, double* to)
{
    size_t n = 6 * (size_t)whole->ties->n;
    for (size_t e = 0; e < 36; e++) to[e] = whole->A[(6 * (size_t)i + e / 6) * n + 6 * (size_t)j + e % 6];
}

static void fillColumn(const void* context, const pcBlocks* A, int block, const pcBlocksColumn* to)
{
    const Whole* whole = context;
    copyBlock(whole, block, block, to->diagonal);
    for (int p = 0; p < 2 * whole->ties->count; p++) {
        int i = whole->ties->pair[p], j = whole->ties->pair[p ^ 1];
        if (j != block || A->place[i] < A->place[block]) continue;
        if (to->lower) copyBlock(whole, i, block, to->lower + 36 * to->where[A->place[i]]);
        copyBlock(whole, block, i, to->upper + 36 * to->where[A->place[i]]);
    }
}

static void fillBlocks(const Whole* whole, pcBlocks* A)
{
    pcBlocksClear(A);
    for (int i = 0; i < whole->ties->n; i++) copyBlock(whole, i, i, pcBlocksAt(A, i, i));
    for (int p = 0; p < 2 * whole->ties->count; p++) {
        int i = whole->ties->pair[p], j = whole->ties->pair[p ^ 1];
        copyBlock(whole, i, j, pcBlocksAt(A, i, j));
    }
}

/* One way to the solution x; factored twice, since nothing may be left of the first time, and where there are two ways, first by the other one. */
typedef struct Way {
    const Whole* whole;
    pcPool* pool;
    bool filled, symmetric, good;
    double* x;
} Way;

static bool factor(const Way* way, bool symmetric, pcBlocks* A)
{
    if (!way->filled) fillBlocks(way->whole, A);
    return symmetric     ? pcBlocksFactorSymmetric(A, fillColumn, way->whole)
           : way->filled ? pcBlocksFactorFilled(A, fillColumn, way->whole)
                         : pcBlocksFactor(A);
}

static void solve(void* context, int task, int worker)
{
    Way* way = context;
    const Ties* ties = way->whole->ties;
    pcArena arena = {0};
    pcBlocks A;
    (void)task, (void)worker;
    way->good = pcBlocksPattern(&A, ties->n, ties->pair, ties->count, way->pool, &arena);
    way->good = way->good && factor(way, false, &A) && factor(way, way->symmetric, &A);
    memcpy(way->x, way->whole->b, 6 * (size_t)ties->n * sizeof(double));
    if (way->good) pcBlocksSolve(&A, way->x);
    pcArenaFree(&arena);
}

/* Largest part of A x - b */
static double errorOf(const Whole* whole, const double* x)
{
    double worst = 0.0;
    size_t n = 6 * (size_t)whole->ties->n;
    for (size_t i = 0; i < n; i++) {
        double sum = -whole->b[i];
        for (size_t j = 0; j < n; j++) sum += whole->A[i * n + j] * x[j];
        if (!(fabs(sum) <= worst)) worst = fabs(sum);
    }
    return worst;
}

/* x is of size one or less, A's rows sum up to some 100 at most: 1e-12 are a few hundred roundings of their products. */
static void checkWays(const Whole* whole, pcPool* pool)
{
    static double first[6 * MOST], x[6 * MOST];
    size_t size = 6 * (size_t)whole->ties->n * sizeof(double);
    Way way = {.whole = whole, .x = first};
    solve(&way, 0, 0);
    PC_ASSERT_TRUE(way.good);
    PC_EXPECT_LT(errorOf(whole, first), 1e-12);
    for (int threads = 1; threads <= 3; threads++) {
        way = (Way){.whole = whole, .pool = pool, .filled = threads != 1, .x = x};
        pcPoolRun(pool, threads, true, solve, &way, 1);
        PC_ASSERT_TRUE(way.good);
        PC_EXPECT_EQ_INT(0, memcmp(first, x, size));
    }
}

static void checkSymmetric(const Whole* whole, pcPool* pool)
{
    static double first[6 * MOST], x[6 * MOST];
    for (int threads = 1; threads <= 3; threads++) {
        Way way = {.whole = whole, .pool = pool, .filled = true, .symmetric = true, .x = threads == 1 ? first : x};
        pcPoolRun(pool, threads, true, solve, &way, 1);
        PC_ASSERT_TRUE(way.good);
        PC_EXPECT_LT(errorOf(whole, way.x), 1e-12);
        PC_EXPECT_EQ_INT(0, memcmp(first, way.x, 6 * (size_t)whole->ties->n * sizeof(double)));
    }
}

static void checkTies(const Ties* ties, pcPool* pool, pcRandom* random)
{
    size_t n = 6 * (size_t)ties->n;
    Whole whole = {ties, malloc(n * n * sizeof(double)), malloc(n * sizeof(double))};
    PC_ASSERT_TRUE(whole.A != NULL && whole.b != NULL);
    fillWhole(&whole, random);
    checkWays(&whole, pool);
    memset(whole.b, 0, n * sizeof(double)),
        whole.b[(size_t)pcBetween(random, 0.0, (double)n - 0.01)] = 1.0; /* most columns have nothing to act with */
    checkWays(&whole, pool);
    makeDefinite(&whole);
    checkWays(&whole, pool), checkSymmetric(&whole, pool);
    for (size_t i = 0; i < n; i++) whole.b[i] = pcBetween(random, -1.0, 1.0);
    checkSymmetric(&whole, pool);
    free(whole.A), free(whole.b);
}

PC_TEST(Blocks, SolveWhatTheMatrixSaysOnEveryPattern)
{
    static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 9, 12, 17, 30, 41};
    static Ties ties;
    pcPool* pool = pcPoolCreate();
    pcRandom random = {77};
    PC_ASSERT_TRUE(pool != NULL);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int kind = 0; kind < 6; kind++) {
            ties.n = sizes[s], ties.count = 0;
            if (kind == 1 || kind == 4) tieChain(&ties);
            if (kind == 2) tieCliques(&ties, &random);
            if (kind == 3 || kind == 5) tieByChance(&ties, ties.n, &random);
            if (kind == 4 || kind == 5) tieTail(&ties, (ties.n + 1) / 2);
            checkTies(&ties, pool, &random);
        }
    }
    pcPoolFree(pool);
}

/* Large enough to be shared: long runs of columns with the same rows at the end, branches of all kinds before. */
PC_TEST(Blocks, ManyWithADenseTailAreTheSameOnAnyNumberOfThreads)
{
    static Ties ties;
    pcPool* pool = pcPoolCreate();
    pcRandom random = {78};
    PC_ASSERT_TRUE(pool != NULL);
    for (int tail = 31; tail <= 46; tail += 5) {
        ties.n = MOST, ties.count = 0;
        tieCliques(&ties, &random), tieByChance(&ties, 60, &random), tieTail(&ties, tail);
        checkTies(&ties, pool, &random);
    }
    pcPoolFree(pool);
}

PC_TEST(Blocks, WhatIsNotPositiveDefiniteHasNoRootAndIsLeftToLU)
{
    static double A[18 * 18], b[18], x[18];
    static Ties ties = {.n = 3};
    pcRandom random = {79};
    Whole whole = {&ties, A, b};
    tieChain(&ties);
    for (int i = 0; i < 18; i++) {
        fillWhole(&whole, &random), makeDefinite(&whole);
        A[i * 19] = -A[i * 19];
        Way way = {.whole = &whole, .filled = true, .symmetric = true, .x = x};
        solve(&way, 0, 0);
        PC_EXPECT_TRUE(!way.good);
        way.symmetric = false;
        solve(&way, 0, 0);
        PC_EXPECT_TRUE(way.good);
        PC_EXPECT_LT(errorOf(&whole, x), 1e-12);
    }
}
