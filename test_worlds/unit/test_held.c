/* Rows that hold one block, taken out of the problem; and blocks of few freedoms, packed together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "base/arena.h"
#include "solver/certificate.h"
#include "solver/held.h"
#include "solver/pack.h"
#include "solver/rows.h"
#include "solver/sparse.h"
#include "test_worlds/unit/counting.h"
#include "test_worlds/unit/model.h"

#define MOST_BLOCKS 100
static const double TOLERANCE = 1e-10, INFINITE = (double)INFINITY;

/* ---- what a problem is solved with: a solver that notes what it is asked ---- */

typedef struct Seen {
    int calls, blocks, rows;
    int freedoms[MOST_BLOCKS];
    double guess; /* residual of what comes in as the guess */
} Seen;
static Seen seen;

static pcConeInfo solveAndNote(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c)
{
    pcArena arena = {0};
    seen.calls++, seen.blocks = p->blocks, seen.rows = p->rows;
    for (int i = 0; i < p->blocks; i++) seen.freedoms[i] = p->freedoms ? p->freedoms[i] : 6;
    if (settings->warm) seen.guess = pcCertify(p, v, c, &arena).residual;
    pcArenaFree(&arena);
    return pcSparseSolve(p, settings, memory, v, c);
}

static pcConeInfo packAndNote(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c)
{
    pcConeInfo info = {0};
    PC_EXPECT_TRUE(pcPackSolve(p, settings, memory, solveAndNote, &info, v, c));
    return info;
}

typedef struct Answer {
    bool done;
    pcConeInfo info;
    double *v, *c;
    pcCertificate certificate;
} Answer;

/* By pcHeldSolve with `solve`, or without it the problem as it is; from `guess`, if there is one. */
static Answer answerOf(const pcProblem* p, pcConeSolve* solve, const Answer* guess)
{
    pcArena arena = {0};
    pcSolverMemory* memory = pcSolverMemoryCreate();
    pcConeSettings settings = {.tolerance = TOLERANCE, .warm = guess != NULL};
    Answer a = {.done = true, .v = calloc(6 * (size_t)p->blocks, sizeof *a.v), .c = calloc((size_t)p->rows + 1, sizeof *a.c)};
    if (guess) memcpy(a.v, guess->v, 6 * (size_t)p->blocks * sizeof *a.v), memcpy(a.c, guess->c, (size_t)p->rows * sizeof *a.c);
    seen = (Seen){0};
    if (solve)
        a.done = pcHeldSolve(p, &settings, memory, solve, &a.info, a.v, a.c);
    else
        a.info = pcSparseSolve(p, &settings, memory, a.v, a.c);
    a.certificate = pcCertify(p, a.v, a.c, &arena);
    pcArenaFree(&arena), pcSolverMemoryFree(memory);
    return a;
}

static void drop(Answer* a) { free(a->v), free(a->c); }

/* The answer is one of the whole problem, and the velocity, of which the relaxation has one only, that of the problem as it is. */
static void expectSame(const pcProblem* p, const Answer* a)
{
    Answer whole = answerOf(p, NULL, NULL);
    PC_EXPECT_TRUE(a->done);
    PC_EXPECT_EQ_INT(PC_SOLVED, a->info.solve.outcome);
    PC_EXPECT_LE(a->certificate.residual, TOLERANCE);
    PC_EXPECT_LE(a->certificate.equality, 1e-13);
    PC_EXPECT_LE(a->certificate.momentum, 1e-13);
    PC_EXPECT_TRUE(a->info.certified && a->info.certificate.residual == a->certificate.residual);
    for (int i = 0; !p->coulomb && i < 6 * p->blocks; i++) PC_EXPECT_NEAR(whole.v[i], a->v[i], 1e-9 * p->velocityScale);
    drop(&whole);
}

/* ---- problems ---- */

static void hold(pcConeModel* model, int body, const double J[6], double soft)
{
    pcLink link = {.body1 = body, .body2 = -1, .lo = -INFINITE, .hi = INFINITE, .soft = soft};
    memcpy(link.J, J, 6 * sizeof *J);
    pcModelLink(model, &link);
}

/* Holds unit vectors of a body, by the bits of `which`. */
static void holdAxes(pcConeModel* model, int body, int which, double soft)
{
    for (int i = 0; i < 6; i++) {
        double J[6] = {0.0};
        J[i] = 1.0;
        if (which >> i & 1) hold(model, body, J, soft);
    }
}
enum { PLANE_XZ = 1 << 1 | 1 << 3 | 1 << 5, ALL_AXES = 63 };

static void touch(pcConeModel* model, pcRandom* random, int body1, int body2, bool flat)
{
    v3 n = pcDirection(random);
    pcTouch t = {.body1 = body1, .body2 = body2, .mu = pcBetween(random, 0.1, 0.8)};
    if (flat) {
        double angle = pcBetween(random, -3.1, 3.1);
        n = v3Make(sin(angle), 0.0, cos(angle));
        t.planar = true, t.tangent = v3Make(cos(angle), 0.0, -sin(angle));
    }
    t.normal = n, t.arm1 = v3Scale(0.1, n), t.arm2 = v3Scale(-0.1, n);
    if (!flat) t.arm1 = v3Add(t.arm1, v3Scale(0.1, pcDirection(random))), t.arm2 = v3Add(t.arm2, v3Scale(0.1, pcDirection(random)));
    pcModelTouch(model, &t);
}

static int addBody(pcConeModel* model, pcRandom* random)
{
    double mass = pow(10.0, pcBetween(random, -1.0, 1.0)), moment = 0.004 * mass;
    return pcModelBody(model, mass, v3Make(moment, 1.3 * moment, 0.9 * moment), pcDirection(random), pcDirection(random));
}

/* Targets that some velocity meets, so that there is an answer: `drift` says how fast held numbers move. */
static void makeFeasible(pcConeModel* model, pcRandom* random, double drift)
{
    double v[6 * MOST_BLOCKS];
    const pcProblem* p = &model->problem;
    for (int i = 0; i < 6 * p->blocks; i++) v[i] = pcBetween(random, -drift, drift);
    for (int k = 0; k < p->cones; k++) {
        int row = p->cone[k].row;
        model->target[row] = rowTimes(p, row, v);
        if (p->cone[k].kind != PC_CONE_FRICTION) continue;
        for (int i = 1; i < p->cone[k].rows; i++) model->target[row] -= fabs(rowTimes(p, row + i, v));
        if (pcRandomUnit(random) < 0.3) model->target[row] -= pcRandomUnit(random);
    }
}

/* A chain of bodies, each touching the one before it, the first one the world, and some others. */
static pcConeModel chain(uint64_t seed, int bodies, int which, bool flat, bool coulomb)
{
    pcRandom random = {seed};
    pcConeModel model = pcModelStart(coulomb, 1.0);
    for (int i = 0; i < bodies; i++) holdAxes(&model, addBody(&model, &random), which, 0.0);
    for (int i = 0; i < bodies; i++) touch(&model, &random, i - 1, i, flat);
    for (int i = 2; i < bodies; i += 2) touch(&model, &random, (int)(pcRandomBits(&random) % (uint64_t)i), i, flat);
    makeFeasible(&model, &random, flat ? 0.0 : 0.3);
    return model;
}

/* ---- blocks that are held ---- */

PC_TEST(Held, BodiesInAPlaneKeepThreeFreedoms)
{
    for (int seed = 1; seed <= 20; seed++) {
        PC_CASE("seed %d", seed);
        pcConeModel model = chain((uint64_t)seed, 12, PLANE_XZ, true, seed % 2 == 0);
        Answer a = answerOf(&model.problem, solveAndNote, NULL);
        PC_EXPECT_EQ_INT(model.problem.rows - 3 * 12, seen.rows);
        for (int i = 0; i < 12; i++) PC_EXPECT_EQ_INT(3, seen.freedoms[i]);
        expectSame(&model.problem, &a);
        drop(&a), pcModelFree(&model);
    }
}

/* Rows at an angle to each other, that move: what contacts see of what is held counts. */
PC_TEST(Held, HingesOfTheWorldThatMove)
{
    for (int seed = 1; seed <= 20; seed++) {
        PC_CASE("seed %d", seed);
        pcRandom random = {(uint64_t)seed};
        pcConeModel model = pcModelStart(false, 1.0);
        for (int i = 0; i < 8; i++) {
            int body = addBody(&model, &random);
            pcModelBall(&model, body, v3Scale(0.2, pcDirection(&random)), -1, v3Make(0, 0, 0));
            v3 axis = pcDirection(&random), u, w;
            v3Complete(axis, &u, &w);
            hold(&model, body, (const double[6]){0, 0, 0, u.x, u.y, u.z}, 0.0);
            hold(&model, body, (const double[6]){0, 0, 0, u.x + w.x, u.y + w.y, u.z + w.z}, 0.0);
        }
        for (int i = 0; i < 8; i++) touch(&model, &random, i - 1, i, false);
        makeFeasible(&model, &random, 0.5);
        Answer a = answerOf(&model.problem, packAndNote, NULL);
        PC_EXPECT_EQ_INT(2, seen.blocks); /* six freedoms in one, two in the other */
        expectSame(&model.problem, &a);
        drop(&a), pcModelFree(&model);
    }
}

PC_TEST(Held, ABodyWithoutFreedomsMovesAsItIsTold)
{
    pcRandom random = {3};
    pcConeModel model = pcModelStart(false, 1.0);
    int still = addBody(&model, &random), other = addBody(&model, &random);
    holdAxes(&model, still, ALL_AXES, 0.0);
    holdAxes(&model, other, PLANE_XZ, 0.0);
    touch(&model, &random, still, other, true);
    touch(&model, &random, -1, still, true);
    makeFeasible(&model, &random, 0.4);
    Answer a = answerOf(&model.problem, solveAndNote, NULL);
    PC_EXPECT_EQ_INT(2, seen.rows); /* of the contact between the two; the other one has nothing to decide */
    expectSame(&model.problem, &a);
    for (int i = 0; i < 6; i++) PC_EXPECT_NEAR(model.target[i], a.v[6 * still + i], 1e-14);
    drop(&a), pcModelFree(&model);
}

PC_TEST(Held, NothingButHeldBodiesNeedNoSolver)
{
    pcRandom random = {4};
    pcConeModel model = pcModelStart(true, 1.0);
    holdAxes(&model, addBody(&model, &random), PLANE_XZ, 0.0);
    Answer a = answerOf(&model.problem, solveAndNote, NULL);
    PC_EXPECT_EQ_INT(0, seen.calls);
    expectSame(&model.problem, &a);
    for (int i = 0; i < 6; i++) PC_EXPECT_NEAR(PLANE_XZ >> i & 1 ? 0.0 : model.free[i], a.v[i], 1e-15);
    drop(&a), pcModelFree(&model);
}

/* ---- and those that are not ---- */

PC_TEST(Held, RowsThatContradictOrRepeatStay)
{
    for (int contradicts = 0; contradicts < 2; contradicts++) {
        pcRandom random = {5};
        pcConeModel model = pcModelStart(false, 1.0);
        int twice = addBody(&model, &random), once = addBody(&model, &random);
        for (int i = 0; i < 2; i++) hold(&model, twice, (const double[6]){1, 0, 0, 0, 0, 0}, 0.0);
        model.target[1] = contradicts;
        Answer alone = answerOf(&model.problem, solveAndNote, NULL);
        PC_EXPECT_FALSE(alone.done);
        PC_EXPECT_EQ_INT(0, seen.calls);
        holdAxes(&model, once, PLANE_XZ, 0.0);
        touch(&model, &random, twice, once, true);
        Answer both = answerOf(&model.problem, solveAndNote, NULL);
        PC_EXPECT_EQ_INT(6, seen.freedoms[twice]);
        PC_EXPECT_EQ_INT(3, seen.freedoms[once]);
        PC_EXPECT_TRUE(both.done == !contradicts);
        for (int i = 0; contradicts && i < 12; i++) PC_EXPECT_TRUE(both.v[i] == 0.0); /* as it came in */
        drop(&alone), drop(&both), pcModelFree(&model);
    }
}

PC_TEST(Held, SoftRowsStayWhereAContactLoadsThem)
{
    for (int flat = 0; flat < 2; flat++) {
        pcRandom random = {6};
        pcConeModel model = pcModelStart(false, 1.0);
        int body = addBody(&model, &random);
        holdAxes(&model, body, PLANE_XZ, 0.5);
        touch(&model, &random, -1, body, flat);
        Answer a = answerOf(&model.problem, solveAndNote, NULL);
        PC_EXPECT_TRUE(a.done == flat);
        if (flat) expectSame(&model.problem, &a);
        /* a soft row gives way by s c, which a contact in the plane does not change: m (v - f) = c, v + s c = 0 */
        double mass = model.mass[7], free = model.free[1];
        if (flat) PC_EXPECT_NEAR(free * mass * 0.5 / (1.0 + mass * 0.5), a.v[1], 1e-14);
        drop(&a), pcModelFree(&model);
    }
}

PC_TEST(Held, DenseMassesAreLeftAlone)
{
    pcConeModel model = chain(7, 3, PLANE_XZ, true, false);
    pcModelMakeDense(&model, 0.1);
    Answer a = answerOf(&model.problem, solveAndNote, NULL);
    PC_EXPECT_FALSE(a.done);
    PC_EXPECT_EQ_INT(0, seen.calls);
    drop(&a), pcModelFree(&model);
}

/* ---- guesses, blocks that are packed, memory ---- */

PC_TEST(Held, AGuessGoesThrough)
{
    for (int packed = 0; packed < 2; packed++) {
        pcConeModel model = chain(8, 10, PLANE_XZ, true, false);
        Answer first = answerOf(&model.problem, NULL, NULL), again = answerOf(&model.problem, packed ? packAndNote : solveAndNote, &first);
        PC_EXPECT_LE(seen.guess, 1e-9);
        expectSame(&model.problem, &again);
        drop(&first), drop(&again), pcModelFree(&model);
    }
}

PC_TEST(Pack, BodiesOfThreeFreedomsShareABlock)
{
    for (int seed = 1; seed <= 20; seed++) {
        PC_CASE("seed %d", seed);
        pcConeModel model = chain((uint64_t)seed, 16, PLANE_XZ, true, seed % 2 == 0);
        Answer a = answerOf(&model.problem, packAndNote, NULL);
        PC_EXPECT_LE(seen.blocks, 10);
        PC_EXPECT_GE(seen.blocks, 8);
        expectSame(&model.problem, &a);
        drop(&a), pcModelFree(&model);
    }
}

/* Four freedoms and two, and six that are not held at all. */
PC_TEST(Pack, BodiesOfAllKinds)
{
    const int which[] = {3, 15, 0, PLANE_XZ, 31, 1, 60};
    for (int seed = 1; seed <= 20; seed++) {
        PC_CASE("seed %d", seed);
        pcRandom random = {(uint64_t)seed};
        pcConeModel model = pcModelStart(false, 1.0);
        for (int i = 0; i < 21; i++) holdAxes(&model, addBody(&model, &random), which[i % 7], 0.0);
        for (int i = 0; i < 21; i++) touch(&model, &random, i - 1, i, false);
        makeFeasible(&model, &random, 0.3);
        Answer a = answerOf(&model.problem, packAndNote, NULL);
        PC_EXPECT_LT(seen.blocks, 21);
        expectSame(&model.problem, &a);
        drop(&a), pcModelFree(&model);
    }
}

PC_TEST(Held, TheSolverThatChoosesAllocatesNothingTheSecondTime)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    pcConeModel model = chain(9, 60, PLANE_XZ, true, false);
    pcSolverMemory* memory = pcSolverMemoryCreate();
    pcConeSettings settings = {.tolerance = TOLERANCE};
    double v[360], c[600];
    PC_ASSERT_LE(model.problem.rows, 600);
    for (int twice = 0; twice < 2; twice++) {
        pcCountingStart();
        pcConeInfo info = pcConeSolverFind("auto")->solve(&model.problem, &settings, memory, v, c);
        int count = pcCountingStop();
        PC_EXPECT_EQ_INT(PC_SOLVED, info.solve.outcome);
        PC_EXPECT_LE(info.certificate.equality, 1e-13); /* it came from here */
        if (twice) PC_EXPECT_EQ_INT(0, count);
    }
    pcSolverMemoryFree(memory), pcModelFree(&model);
}
