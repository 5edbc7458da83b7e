/* Newton's method whose path is followed from piece to piece, the central path around its turns, and the sign of a determinant that tells where they
 * turn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "base/arena.h"
#include "solver/central.h"
#include "solver/certificate.h"
#include "solver/interior.h"
#include "solver/memory.h"
#include "solver/path.h"
#include "solver/sparse.h"
#include "solver/stiffness.h"
#include "test_worlds/unit/problems.h"

/* ---- the sign ---- */

/* By elimination without exchange of rows: signs of leading minors. */
static int signByMinors(int n, double* A)
{
    int sign = 1;
    for (int k = 0; k < n; k++) {
        if (A[k * n + k] < 0.0) sign = -sign;
        for (int i = k + 1; i < n; i++)
            for (int j = n - 1; j >= k; j--) A[i * n + j] -= A[i * n + k] / A[k * n + k] * A[k * n + j];
    }
    return sign;
}

PC_TEST(Blocks, TellTheSignOfTheDeterminant)
{
    enum { BLOCKS = 4, N = 6 * BLOCKS };
    const int pairs[] = {0, 1, 1, 2, 2, 3, 0, 2};
    pcRandom random = {21};
    int negative = 0;
    for (int i = 0; i < 400; i++) {
        double dense[N * N] = {0.0};
        pcArena arena = {0};
        pcBlocks A;
        PC_ASSERT_TRUE(pcBlocksPattern(&A, BLOCKS, pairs, 4, NULL, &arena));
        pcBlocksClear(&A);
        for (int p = -BLOCKS; p < 8; p++) {
            int row = p < 0 ? p + BLOCKS : pairs[p], column = p < 0 ? row : pairs[p ^ 1];
            double* block = pcBlocksAt(&A, row, column);
            for (int e = 0; e < 36; e++)
                dense[(6 * row + e / 6) * N + 6 * column + e % 6] = block[e] = pcBetween(&random, -1.0, 1.0) + (p < 0 && e % 7 == 0);
        }
        PC_ASSERT_TRUE(pcBlocksFactor(&A));
        int sign = signByMinors(N, dense);
        PC_EXPECT_EQ_INT(sign, pcBlocksSign(&A));
        negative += sign < 0;
        pcArenaFree(&arena);
    }
    PC_EXPECT_GT(negative, 50);
    PC_EXPECT_LT(negative, 350);
}

/* ---- the method ---- */

typedef struct Found {
    int inside; /* factorizations of interior.c */
    pcPathInfo info;
    pcCertificate certificate;
} Found;

typedef enum Start { GUESS, INSIDE, CENTRAL, WEIGHTED } Start;

/* From (v, c), from where interior.c ends if it does, or from a point of the central path. */
static Found solveFrom(Start start, const pcProblem* p, double* v, double* c)
{
    Found found = {.info = {.residual = HUGE_VAL}};
    pcArena arena = {0};
    pcLinear linear;
    pcBlocks H;
    if (!p->W && !p->dense && pcLinearForm(p, &arena, &linear) && pcStiffnessPattern(p, &arena, &H)) {
        if (start == INSIDE) found.inside = pcInteriorStart(p, linear.own, 1e-10, PC_INSIDE, &H, &arena, v, c);
        pcCentral* central = start >= CENTRAL ? pcCentralBegin(p, linear.own, start == WEIGHTED ? 0.5 : 0.0, &H, &arena) : NULL;
        if (central && pcCentralFollow(central, 1e-11, 4000, v, c) > 0.0) found.inside = pcCentralFactors(central);
        found.info = pcPathSolve(p, linear.own, 1e-10, 2000, &H, &arena, v, c);
    }
    found.certificate = pcCertify(p, v, c, &arena);
    pcArenaFree(&arena);
    return found;
}

static Found solve(Start start, const pcProblem* p)
{
    double *v = calloc((size_t)pcUnknowns(p) + 1, sizeof *v), *c = calloc((size_t)p->rows + 1, sizeof *c);
    pcConeStart(p, v, c);
    Found found = solveFrom(start, p, v, c);
    free(v), free(c);
    return found;
}

enum { HEAPS = 24 };

static int countSolvedHeaps(Start start)
{
    int solved = 0;
    for (int i = 0; i < HEAPS; i++) {
        pcConeModel model = pcHeap(12 + 2 * i, 2.0, true, 300u + (uint64_t)i);
        Found found = solve(start, &model.problem);
        PC_CASE("heap %d: %d contacts, %d factorizations", i, model.problem.cones, found.info.factors);
        PC_EXPECT_GT(found.info.factors, 0);
        if (found.info.residual <= 1e-10) {
            PC_EXPECT_LE(found.certificate.residual, 1e-9);
            PC_EXPECT_LE(found.certificate.momentum, 1e-9);
            solved++;
        }
        pcModelFree(&model);
    }
    return solved;
}

PC_TEST(Path, SolvesHeaps) { PC_EXPECT_GE(countSolvedHeaps(INSIDE), HEAPS - 2); }

PC_TEST(Path, SolvesAllHeapsFromTheCentralPath) { PC_EXPECT_EQ_INT(HEAPS, countSolvedHeaps(CENTRAL)); }

PC_TEST(Path, SolvesAllHeapsFromTheWeightedPath) { PC_EXPECT_EQ_INT(HEAPS, countSolvedHeaps(WEIGHTED)); }

/* A central path of a problem, and what it takes. */
typedef struct Trip {
    pcArena arena;
    pcLinear linear;
    pcBlocks H;
    pcCentral* central;
    double *v, *c;
} Trip;

static bool tripBegin(Trip* trip, const pcProblem* p, double power)
{
    *trip = (Trip){.v = calloc((size_t)pcUnknowns(p), sizeof *trip->v), .c = calloc((size_t)p->rows, sizeof *trip->c)};
    if (pcLinearForm(p, &trip->arena, &trip->linear) && pcStiffnessPattern(p, &trip->arena, &trip->H))
        trip->central = pcCentralBegin(p, trip->linear.own, power, &trip->H, &trip->arena);
    return trip->central != NULL;
}

static void tripEnd(Trip* trip) { pcArenaFree(&trip->arena), free(trip->v), free(trip->c); }

/* What is left of a contact on the path is at most about the root of m, whatever its weight. */
PC_TEST(Central, ComesAsNearAsTheRootOfItsParameter)
{
    for (int i = 0; i < HEAPS; i++) {
        pcConeModel model = pcHeap(12 + 2 * i, 2.0, true, 300u + (uint64_t)i);
        Trip trip;
        PC_ASSERT_TRUE(tripBegin(&trip, &model.problem, 0.5 * (i % 4 - 1)));
        for (double m = 1e-4; m > 1e-13; m *= 1e-2) {
            PC_CASE("heap %d, m = %g", i, m);
            double there = pcCentralFollow(trip.central, m, 4000, trip.v, trip.c);
            PC_ASSERT_TRUE(there > 0.0 && there <= m);
            PC_EXPECT_LE(pcCertify(&model.problem, trip.v, trip.c, &trip.arena).residual, 5.0 * sqrt(m));
        }
        tripEnd(&trip), pcModelFree(&model);
    }
}

/* Contacts without De Saxce's shift obey the relaxation, and those with it Coulomb's law. */
PC_TEST(Central, LiftsTheContactsThatItIsToldTo)
{
    for (int i = 0; i < HEAPS; i++) {
        pcConeModel model = pcHeap(12 + 2 * i, 2.0, true, 300u + (uint64_t)i);
        pcProblem relaxed = model.problem;
        bool* lifted = calloc((size_t)relaxed.cones, sizeof *lifted);
        double* v[2];
        relaxed.coulomb = false;
        for (int all = 0; all < 2; all++) {
            Trip trip;
            PC_CASE("heap %d, %s lifted", i, all ? "all" : "none");
            for (int k = 0; k < relaxed.cones; k++) lifted[k] = all;
            PC_ASSERT_TRUE(tripBegin(&trip, &model.problem, 0.0));
            pcCentralLift(trip.central, lifted);
            PC_EXPECT_FALSE(pcCentralAnswer(trip.central, trip.v, trip.c));
            PC_ASSERT_TRUE(pcCentralFollow(trip.central, 1e-10, 4000, trip.v, trip.c) > 0.0);
            PC_EXPECT_LE(pcCertify(all ? &model.problem : &relaxed, trip.v, trip.c, &trip.arena).residual, 5e-5);
            v[all] = trip.v, trip.v = NULL;
            tripEnd(&trip);
        }
        Trip usual;
        PC_ASSERT_TRUE(tripBegin(&usual, &model.problem, 0.0));
        PC_ASSERT_TRUE(pcCentralFollow(usual.central, 1e-10, 4000, usual.v, usual.c) > 0.0);
        PC_EXPECT_TRUE(memcmp(usual.v, v[1], (size_t)pcUnknowns(&relaxed) * sizeof *usual.v) == 0);
        PC_EXPECT_TRUE(memcmp(usual.v, v[0], (size_t)pcUnknowns(&relaxed) * sizeof *usual.v) != 0);
        tripEnd(&usual), free(v[0]), free(v[1]), free(lifted), pcModelFree(&model);
    }
}

/* Newton's method likewise, to the bit. */
PC_TEST(Proximal, LiftsTheContactsThatItIsToldTo)
{
    enum { NONE_LIFTED, RELAXED, ALL_LIFTED, COULOMB, WAYS };
    pcConeModel model = pcHeap(30, 2.0, true, 311);
    size_t unknowns = (size_t)pcUnknowns(&model.problem), cones = (size_t)model.problem.cones;
    double* v[WAYS];
    for (int way = 0; way < WAYS; way++) {
        pcArena arena = {0};
        pcLinear linear;
        pcProblem p = model.problem;
        bool* lifted = calloc(cones, sizeof *lifted);
        double* c = calloc((size_t)p.rows, sizeof *c);
        v[way] = calloc(unknowns, sizeof *v[way]);
        p.coulomb = way != RELAXED;
        for (size_t k = 0; k < cones; k++) lifted[k] = way == ALL_LIFTED;
        PC_ASSERT_TRUE(pcLinearForm(&p, &arena, &linear));
        if (way == NONE_LIFTED || way == ALL_LIFTED) linear.lifted = lifted;
        pcConeStart(&p, v[way], c);
        pcProximalSolve(&linear, &(pcProximalSettings){.tolerance = 1e-10}, &arena, v[way], c);
        if (way == RELAXED) PC_EXPECT_LE(pcCertify(&p, v[way], c, &arena).residual, 1e-9);
        free(lifted), free(c), pcArenaFree(&arena);
    }
    PC_EXPECT_TRUE(memcmp(v[NONE_LIFTED], v[RELAXED], unknowns * sizeof **v) == 0);
    PC_EXPECT_TRUE(memcmp(v[ALL_LIFTED], v[COULOMB], unknowns * sizeof **v) == 0);
    PC_EXPECT_TRUE(memcmp(v[RELAXED], v[COULOMB], unknowns * sizeof **v) != 0);
    for (int way = 0; way < WAYS; way++) free(v[way]);
    pcModelFree(&model);
}

/* Newton steps from nothing to the relaxation of a heap, as a pile or not. */
static int stepsToTheRelaxation(const pcProblem* p, bool pile)
{
    pcArena arena = {0};
    pcLinear linear;
    double *v = calloc((size_t)pcUnknowns(p), sizeof *v), *c = calloc((size_t)p->rows, sizeof *c);
    pcProximalInfo info = {.iterations = 0};
    pcConeStart(p, v, c);
    if (pcLinearForm(p, &arena, &linear))
        info = pcProximalSolve(&linear, &(pcProximalSettings){.tolerance = 1e-10, .pile = pile}, &arena, v, c);
    PC_EXPECT_TRUE(info.converged);
    pcCertificate certificate = pcCertify(p, v, c, &arena);
    PC_EXPECT_LE(certificate.residual, 1e-10);
    PC_EXPECT_LE(certificate.momentum, 1e-10);
    free(v), free(c), pcArenaFree(&arena);
    return info.iterations;
}

PC_TEST(Proximal, MeetsKinksWhereItStopsGoingDownhill)
{
    int piles = 0, others = 0;
    for (int i = 0; i < HEAPS; i++) {
        pcConeModel model = pcHeap(PC_HEAP_BALLS - 2 * i, 2.0, false, 500u + (uint64_t)i);
        PC_CASE("heap %d: %d contacts", i, model.problem.cones);
        int pile = stepsToTheRelaxation(&model.problem, true), other = stepsToTheRelaxation(&model.problem, false);
        piles += pile, others += other;
        pcModelFree(&model);
    }
    PC_EXPECT_LT(piles, others); /* that stop short of kinks */
}

PC_TEST(Central, EndsAtItsLimitAndGoesOnFromThere)
{
    pcConeModel model = pcHeap(40, 2.0, true, 7);
    Trip trip;
    PC_ASSERT_TRUE(tripBegin(&trip, &model.problem, 0.0));
    double first = pcCentralFollow(trip.central, 1e-10, 1, trip.v, trip.c);
    int begun = pcCentralFactors(trip.central);
    double second = pcCentralFollow(trip.central, 1e-10, 10, trip.v, trip.c);
    PC_EXPECT_GT(first, 1e-10);
    PC_EXPECT_LT(second, first);
    PC_EXPECT_LE(pcCentralFactors(trip.central), begun + 16); /* a step that is under way is ended */
    PC_EXPECT_LE(pcCentralFollow(trip.central, 1e-10, 4000, trip.v, trip.c), 1e-10);
    PC_EXPECT_LE(pcCertify(&model.problem, trip.v, trip.c, &trip.arena).residual, 1e-4);
    tripEnd(&trip), pcModelFree(&model);
}

PC_TEST(Central, IsNotThereForWhatIsNoneForIt)
{
    for (int kind = 0; kind < 4; kind++) { /* polygons, softness, no contact, the relaxation */
        pcConeModel model = pcModelStart(kind != 3, 1.0);
        pcArena arena = {0};
        pcBlocks H;
        double own[3] = {1, 1, 1}, soft[3] = {kind == 1, 0, 0};
        pcModelBody(&model, 1.0, v3Make(.1, .1, .1), v3Make(0, 0, -.1), v3Make(0, 0, 0));
        pcModelTouch(&model,
                     &(pcTouch){.body1 = -1, .arm2 = v3Make(0, 0, -.5), .normal = v3Make(0, 0, 1), .mu = .5, .edges = kind == 0 ? 4 : 0});
        pcProblem p = model.problem;
        pcCone cone = *p.cone;
        if (kind == 2) cone.kind = PC_CONE_FREE;
        p.soft = soft, p.cone = &cone;
        PC_CASE("kind %d", kind);
        PC_ASSERT_TRUE(pcStiffnessPattern(&p, &arena, &H));
        PC_EXPECT_TRUE(pcCentralBegin(&p, own, 0.0, &H, &arena) == NULL);
        pcArenaFree(&arena), pcModelFree(&model);
    }
}

/* Contacts come in a few at a time: the answer without them is a better start than none. */
PC_TEST(Path, GoesOnFromTheAnswerWithoutThreeContacts)
{
    int near = 0, far = 0, solved = 0;
    for (int i = 0; i < HEAPS; i++) {
        pcConeModel model = pcHeap(12 + 2 * i, 2.0, true, 300u + (uint64_t)i);
        const pcProblem* whole = &model.problem;
        pcProblem part = *whole;
        part.cones -= 3, part.rows = part.cone[part.cones].row;
        double *v = calloc((size_t)pcUnknowns(whole), sizeof *v), *c = calloc((size_t)whole->rows, sizeof *c);
        pcConeStart(whole, v, c);
        solveFrom(INSIDE, &part, v, c);
        Found found = solveFrom(GUESS, whole, v, c);
        near += found.info.factors;
        Found cold = solve(INSIDE, whole);
        far += cold.inside + cold.info.factors;
        solved += found.info.residual <= 1e-10 && found.certificate.residual <= 1e-9 && found.certificate.momentum <= 1e-9;
        free(v), free(c);
        pcModelFree(&model);
    }
    printf("%d factorizations from the answer without three contacts, %d from the inside\n", near, far);
    PC_EXPECT_GE(solved, HEAPS - 2);
    PC_EXPECT_LT(near, far);
}

static void expectMostAreSolved(Start start)
{
    int tried = 0, solved = 0;
    for (int kind = 0; kind < pcProblemKindCount; kind++)
        for (int variant = 0; variant < pcProblemKinds[kind].variants; variant++) {
            pcConeModel model = pcProblemKinds[kind].make(variant, true);
            Found found = solve(start, &model.problem);
            PC_CASE("%s, variant %d", pcProblemKinds[kind].name, variant);
            tried += found.info.factors > 0;
            if (found.info.residual <= 1e-10) {
                PC_EXPECT_LE(found.certificate.residual, 1e-9);
                solved++;
            }
            pcModelFree(&model);
        }
    PC_EXPECT_GT(tried, 30);
    PC_EXPECT_GE(solved, 0.8 * tried);
}

PC_TEST(Path, SaysHowFarItCameOnProblemsThatAreHardInDifferentWays) { expectMostAreSolved(INSIDE); }

PC_TEST(Path, DoesTheSameFromTheCentralPath) { expectMostAreSolved(CENTRAL); } /* joints are among them */

PC_TEST(Path, LeavesAProblemAloneThatIsNoneForIt)
{
    pcConeModel model = pcModelStart(true, 1.0);
    pcArena arena = {0};
    pcBlocks H;
    double v[6] = {1, 2, 3, 4, 5, 6}, c[3] = {7, 8, 9}, own[3] = {1, 1, 1};
    pcModelBody(&model, 1.0, v3Make(.1, .1, .1), v3Make(0, 0, -.1), v3Make(0, 0, 0));
    pcModelTouch(&model, &(pcTouch){.body1 = -1, .arm2 = v3Make(0, 0, -.5), .normal = v3Make(0, 0, 1), .mu = .5, .edges = 4});
    PC_ASSERT_TRUE(pcStiffnessPattern(&model.problem, &arena, &H));
    pcPathInfo info = pcPathSolve(&model.problem, own, 1e-10, 2000, &H, &arena, v, c);
    PC_EXPECT_EQ_INT(0, info.factors);
    PC_EXPECT_FALSE(isfinite(info.residual));
    for (int i = 0; i < 6; i++) PC_EXPECT_NEAR(i + 1.0, v[i], 0.0);
    for (int i = 0; i < 3; i++) PC_EXPECT_NEAR(i + 7.0, c[i], 0.0);
    pcArenaFree(&arena), pcModelFree(&model);
}

/* The relaxation has one answer, whatever the guess is worth: a start near it, or from nothing where that was not near enough. */
static void expectOneAnswer(const pcProblem* p, double same, pcSolverMemory* memory)
{
    pcArena arena = {0};
    pcRandom random = {77};
    size_t unknowns = (size_t)pcUnknowns(p), rows = (size_t)p->rows;
    double *v = calloc(unknowns, sizeof *v), *c = calloc(rows, sizeof *c), *w = calloc(unknowns, sizeof *w), *d = calloc(rows, sizeof *d);
    pcConeInfo cold = pcSparseSolve(p, &(pcConeSettings){.tolerance = 1e-10}, memory, v, c);
    for (double off = 1e-6; off < 1e6; off *= 1e3) {
        bool half = off > 1.0; /* the last guess: velocities of the answer, and impulses off by up to a half */
        PC_CASE("%d blocks, guess off by %g", p->blocks, half ? 0.5 : off);
        for (size_t k = 0; k < unknowns; k++) w[k] = v[k] + (half ? 0.0 : pcBetween(&random, -off, off));
        for (size_t k = 0; k < rows; k++) d[k] = half ? pcBetween(&random, 0.5, 1.5) * c[k] : c[k] + pcBetween(&random, -off, off);
        pcConeInfo warm = pcSparseSolve(p, &(pcConeSettings){.tolerance = 1e-10, .warm = true, .hard = true}, memory, w, d);
        pcCertificate certificate = pcCertify(p, w, d, &arena);
        PC_EXPECT_EQ_INT(cold.solve.outcome, warm.solve.outcome);
        PC_EXPECT_LE(certificate.residual, 1e-10);
        PC_EXPECT_LE(certificate.momentum, 1e-12);
        if (half) PC_EXPECT_LE(warm.solve.iterations, 60);
        for (size_t k = 0; k < unknowns; k++) PC_EXPECT_NEAR(v[k], w[k], same);
    }
    PC_EXPECT_EQ_INT(PC_SOLVED, cold.solve.outcome);
    free(v), free(c), free(w), free(d), pcArenaFree(&arena);
}

PC_TEST(Sparse, FindsTheAnswerOfTheRelaxationFromAnyGuess)
{
    pcSolverMemory* memory = pcSolverMemoryCreate();
    for (int i = 0; i < HEAPS; i++) {
        pcConeModel model = pcHeap(12 + 2 * i, 2.0, false, 300u + (uint64_t)i);
        expectOneAnswer(&model.problem, 1e-7, memory);
        pcModelFree(&model);
    }
    pcSolverMemoryFree(memory);
}

/* A solution as a task of a pool of threads. */
typedef struct Solved {
    const pcProblem* p;
    pcSolverMemory* memory;
    double *v, *c;
    pcConeInfo info;
} Solved;

static void solveIt(void* context, int task, int worker)
{
    Solved* s = context;
    (void)task, (void)worker;
    s->info = pcSparseSolve(s->p, &(pcConeSettings){.tolerance = 1e-10, .hard = true}, s->memory, s->v, s->c);
}

/* Returns how much memory the tries beside others took. */
static size_t solveWith(int threads, pcProblem p, double* v, double* c, pcSolveInfo* info)
{
    Solved s = {.p = &p, .memory = pcSolverMemoryCreate(), .v = v, .c = c};
    p.pool = pcPoolCreate();
    pcPoolRun(p.pool, threads, true, solveIt, &s, 1);
    *info = s.info.solve;
    size_t beside = s.memory->beside.peak;
    pcPoolFree(p.pool), pcSolverMemoryFree(s.memory);
    return beside;
}

/* A heap one ball of which is squeezed, so that every path is tried, and none ends: two threads follow two of them at a time, and come to the same. */
PC_TEST(Sparse, ComesToTheSameByPathsFollowedSideBySide)
{
    pcConeModel model = pcHeap(60, 2.5, true, 5);
    for (int side = -1; side <= 1; side += 2)
        pcModelTouch(
            &model,
            &(pcTouch){.body1 = -1, .body2 = 7, .arm2 = v3Make(-0.5 * side, 0, 0), .normal = v3Make(side, 0, 0), .target = 0.1, .mu = 0.5});
    size_t unknowns = (size_t)pcUnknowns(&model.problem), rows = (size_t)model.problem.rows;
    double* answer[2];
    pcSolveInfo info[2];
    for (int i = 0; i < 2; i++) {
        answer[i] = calloc(unknowns + rows, sizeof(double));
        PC_EXPECT_GT((double)solveWith(i + 1, model.problem, answer[i], answer[i] + unknowns, info + i), 0.0);
        PC_EXPECT_TRUE(info[i].outcome != PC_SOLVED);
    }
    PC_EXPECT_EQ_INT(info[0].iterations, info[1].iterations);
    PC_EXPECT_NEAR(info[0].residual, info[1].residual, 0.0);
    PC_EXPECT_EQ_INT(0, memcmp(answer[0], answer[1], (unknowns + rows) * sizeof(double)));
    free(answer[0]), free(answer[1]), pcModelFree(&model);
}

/* So large that steps of the interior point method are corrected, and nobody asks for the last digit. */
PC_TEST(Sparse, FindsTheAnswerOfTheRelaxationInLargeHeaps)
{
    pcSolverMemory* memory = pcSolverMemoryCreate();
    for (uint64_t seed = 1; seed <= 4; seed++) {
        pcConeModel model = pcHeap(240, 5.0, false, seed);
        expectOneAnswer(&model.problem, 1e-9, memory);
        pcModelFree(&model);
    }
    pcSolverMemoryFree(memory);
}
