/*
 * Every solver of the table on every kind of problem, judged by the certificate, by the energy identity, by slow references where there
 * is one right answer, and by telling the same problem in another order. Which solver must reach what stands in one table below.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "solver/certificate.h"
#include "test_worlds/unit/counting.h"
#include "test_worlds/unit/problems.h"
#include "test_worlds/unit/reference.h"

#define INFINITE ((double)INFINITY)

/* What is asked of a solver. Missing a target is allowed for a share of the problems only if the solver says so itself. */
typedef struct Demand {
    const char* name;
    double target;   /* of the residual */
    int largestRows; /* problems beyond are for others */
    double mayMiss;
} Demand;

static const Demand demands[] = {{"auto", 1e-10, INT_MAX, 0.0}, {"lemke", 1e-10, 600, 0.0}, {"sparse", 1e-10, INT_MAX, 0.0}};
static const Demand usual = {"", 1e-8, INT_MAX, 0.0};

static Demand demandOf(const pcConeSolver* solver)
{
    for (size_t i = 0; i < sizeof demands / sizeof *demands; i++)
        if (strcmp(demands[i].name, solver->name) == 0) return demands[i];
    return usual;
}

/* ---- A solver at work ---- */

typedef struct Bench {
    const pcConeSolver* solver;
    Demand demand;
    pcSolverMemory* memory; /* one for all: sizes grow and shrink as they come */
    pcArena arena;
    int solved, missed;
} Bench;

typedef struct Answer {
    pcConeInfo info;
    double *v, *c;
    pcCertificate certificate;
} Answer;

static Bench benchFor(int row)
{
    Bench bench = {.solver = &pcConeSolvers[row], .memory = pcSolverMemoryCreate()};
    bench.demand = demandOf(bench.solver);
    return bench;
}

static void clearBench(Bench* bench)
{
    int all = bench->solved + bench->missed;
    if (bench->missed > bench->demand.mayMiss * all) PC_FAIL("%s missed %d of %d", bench->solver->name, bench->missed, all);
    pcSolverMemoryFree(bench->memory);
    pcArenaFree(&bench->arena);
}

/* Numbers that are none: who reads a guess that was not given will show it. */
static double* poisoned(int count)
{
    double* place = malloc((size_t)(count + 1) * sizeof(double));
    if (!place) abort();
    for (int i = 0; i <= count; i++) place[i] = (double)NAN;
    return place;
}

static Answer answerOn(const pcProblem* problem) { return (Answer){.v = poisoned(6 * problem->blocks), .c = poisoned(problem->rows)}; }

static void dropAnswer(Answer* answer)
{
    free(answer->v), free(answer->c);
    *answer = (Answer){0};
}

static void run(Bench* bench, const pcProblem* problem, bool warm, Answer* answer)
{
    pcConeSettings settings = {.tolerance = bench->demand.target, .fixedPoint = 1, .warm = warm};
    answer->info = bench->solver->solve(problem, &settings, bench->memory, answer->v, answer->c);
    answer->certificate = pcCertify(problem, answer->v, answer->c, &bench->arena);
}

static Answer solved(Bench* bench, const pcProblem* problem)
{
    Answer answer = answerOn(problem);
    run(bench, problem, false, &answer);
    return answer;
}

/* What holds for every answer, good or bad: finite, explained by its impulses, and reported as it is. */
static void expectHonest(const Bench* bench, const Answer* answer)
{
    double said = answer->info.solve.residual, measured = answer->certificate.residual;
    PC_EXPECT_LE(measured, 1e300);
    PC_EXPECT_LE(answer->certificate.momentum, 1e-13);
    if (!(fabs(said - measured) <= 1e-14 || (said <= 2.0 * measured && measured <= 2.0 * said)))
        PC_FAIL("residual %g reported as %g", measured, said);
    if (answer->info.solve.outcome == PC_SOLVED) PC_EXPECT_LE(measured, 2.0 * bench->demand.target);
    PC_EXPECT_TRUE(answer->info.solver != NULL);
    PC_EXPECT_TRUE(answer->info.solve.outcome != PC_BAD_INPUT);
}

/* An answer to a problem that has one. False if the solver said that it missed. */
static bool expectGood(Bench* bench, const pcProblem* problem, const Answer* answer)
{
    double target = bench->demand.target;
    expectHonest(bench, answer);
    bool good = answer->info.solve.outcome == PC_SOLVED;
    bench->solved += good, bench->missed += !good;
    if (!good && bench->demand.mayMiss > 0.0) return false;
    PC_EXPECT_EQ_INT(PC_SOLVED, answer->info.solve.outcome);
    PC_EXPECT_LE(answer->certificate.residual, target);
    PC_EXPECT_LE(answer->certificate.equality, target);
    PC_EXPECT_LE(answer->certificate.coneExcess, target);
    PC_EXPECT_LE(pcEnergyError(problem, answer->v, answer->c), 10.0 * target);
    return good;
}

/* The largest difference of row velocities, which know no unit of length, by velocityScale. */
static double velocityDifference(const pcProblem* problem, const double* v, const double* w)
{
    double worst = 0.0;
    for (int r = 0; r < problem->rows; r++) {
        double u = 0.0;
        for (int i = 0; i < 12; i++) {
            int block = problem->block[2 * r + i / 6];
            if (block >= 0) u += problem->J[12 * r + i] * (v[6 * block + i % 6] - w[6 * block + i % 6]);
        }
        worst = fabs(u) <= worst ? worst : fabs(u);
    }
    return worst / problem->velocityScale;
}

/* ---- Every kind of problem ---- */

typedef void Check(Bench* bench, const pcConeModel* model);

static bool solves(const Bench* bench, bool coulomb) { return coulomb ? bench->solver->coulomb : bench->solver->convex; }

static void overVariants(Bench* bench, const pcProblemKind* kind, bool coulomb, Check* check)
{
    for (int variant = 0; variant < kind->variants; variant++) {
        PC_CASE("%s: %s, variant %d, %s", bench->solver->name, kind->name, variant, coulomb ? "coulomb" : "convex");
        pcConeModel model = kind->make(variant, coulomb);
        if (model.problem.rows <= bench->demand.largestRows) check(bench, &model);
        pcModelFree(&model);
    }
}

/* models: 1 the convex one, 2 coulomb, 3 both. */
static void overEverything(int models, Check* check)
{
    for (int row = 0; row < pcConeSolverCount; row++) {
        Bench bench = benchFor(row);
        for (int k = 0; k < pcProblemKindCount; k++)
            for (int coulomb = 0; coulomb < 2; coulomb++)
                if ((models >> coulomb & 1) && solves(&bench, coulomb)) overVariants(&bench, &pcProblemKinds[k], coulomb, check);
        clearBench(&bench);
    }
}

static void checkSolved(Bench* bench, const pcConeModel* model)
{
    Answer answer = solved(bench, &model->problem);
    expectGood(bench, &model->problem, &answer);
    dropAnswer(&answer);
}

PC_TEST(Solvers, SolveEveryKindOfProblem) { overEverything(3, checkSolved); }

static Answer solvedInOtherOrder(Bench* bench, const pcConeModel* model, uint64_t seed)
{
    pcRandom random = {seed};
    pcShuffle shuffle = pcModelShuffled(model, &random);
    Answer told = solved(bench, &shuffle.model.problem), back = answerOn(&model->problem);
    pcShuffleBack(&shuffle, model, told.v, told.c, back.v, back.c);
    back.info = told.info, back.certificate = pcCertify(&model->problem, back.v, back.c, &bench->arena);
    dropAnswer(&told);
    pcShuffleFree(&shuffle);
    return back;
}

/* The relaxation has one velocity only: whoever finds it, and in whatever order it is told. To 1e-9, so all are asked for 1e-10. */
static void checkSameVelocity(Bench* bench, const pcConeModel* model)
{
    bench->demand.target = 1e-10;
    Answer first = solved(bench, &model->problem), second = solvedInOtherOrder(bench, model, 31);
    bool good = expectGood(bench, &model->problem, &first) & expectGood(bench, &model->problem, &second);
    if (good) PC_EXPECT_LE(velocityDifference(&model->problem, first.v, second.v), 10.0 * bench->demand.target);
    dropAnswer(&first), dropAnswer(&second);
}

PC_TEST(Solvers, ConvexVelocityDoesNotDependOnOrder) { overEverything(1, checkSameVelocity); }

static void checkOtherOrders(Bench* bench, const pcConeModel* model)
{
    for (uint64_t order = 1; order <= 2; order++) {
        Answer answer = solvedInOtherOrder(bench, model, order);
        expectGood(bench, &model->problem, &answer);
        dropAnswer(&answer);
    }
}

PC_TEST(Solvers, CoulombIsSolvedInEveryOrder) { overEverything(2, checkOtherOrders); }

/* Started at the answer a solver stays there; started anywhere it gets there. */
static void checkWarm(Bench* bench, const pcConeModel* model)
{
    pcRandom random = {37};
    const pcProblem* problem = &model->problem;
    Answer answer = solved(bench, problem);
    if (expectGood(bench, problem, &answer)) run(bench, problem, true, &answer), expectGood(bench, problem, &answer);
    for (int i = 0; i < 6 * problem->blocks; i++) answer.v[i] = problem->velocityScale * pcBetween(&random, -10.0, 10.0);
    for (int r = 0; r < problem->rows; r++) answer.c[r] *= pcBetween(&random, -10.0, 10.0);
    run(bench, problem, true, &answer);
    expectGood(bench, problem, &answer);
    dropAnswer(&answer);
}

PC_TEST(Solvers, WarmStartsNeverHurt) { overEverything(3, checkWarm); }

/* Same input, same bits, whatever was solved before. */
static void checkRepeats(Bench* bench, const pcConeModel* model)
{
    const pcProblem* problem = &model->problem;
    Bench fresh = *bench;
    fresh.memory = pcSolverMemoryCreate(), fresh.arena = (pcArena){0};
    Answer first = solved(bench, problem), second = solved(&fresh, problem);
    PC_EXPECT_TRUE(memcmp(first.v, second.v, 6 * (size_t)problem->blocks * sizeof(double)) == 0);
    PC_EXPECT_TRUE(memcmp(first.c, second.c, (size_t)problem->rows * sizeof(double)) == 0);
    pcSolverMemoryFree(fresh.memory), pcArenaFree(&fresh.arena);
    dropAnswer(&first), dropAnswer(&second);
}

PC_TEST(Solvers, RepeatThemselvesBitForBit) { overEverything(3, checkRepeats); }

/* ---- Against references ---- */

PC_TEST(Solvers, ConvexVelocityIsThatOfTheReference)
{
    for (int row = 0; row < pcConeSolverCount; row++) {
        Bench bench = benchFor(row);
        for (uint64_t seed = 0; seed < 100 && solves(&bench, false); seed++) {
            PC_CASE("%s: seed %d", bench.solver->name, (int)seed);
            pcConeModel model = pcSmallMixture(seed, false);
            Answer reference = answerOn(&model.problem), answer = solved(&bench, &model.problem);
            PC_EXPECT_LE(pcReferenceConvex(&model.problem, 100000, reference.v, reference.c), 1e-13);
            if (expectGood(&bench, &model.problem, &answer))
                PC_EXPECT_LE(velocityDifference(&model.problem, reference.v, answer.v), 10.0 * bench.demand.target);
            dropAnswer(&reference), dropAnswer(&answer);
            pcModelFree(&model);
        }
        clearBench(&bench);
    }
}

/* Without friction the two models are one, and its velocity is unique. */
static void againstEnumeration(Bench* bench, uint64_t seed, bool coulomb)
{
    pcConeModel model = pcFrictionless(seed, seed % 4 == 3, coulomb);
    Answer reference = answerOn(&model.problem), answer = solved(bench, &model.problem);
    PC_EXPECT_LE((double)pcReferenceEnumerate(&model.problem, reference.v, reference.c), 1e-13);
    if (expectGood(bench, &model.problem, &answer))
        PC_EXPECT_LE(velocityDifference(&model.problem, reference.v, answer.v), 10.0 * bench->demand.target);
    dropAnswer(&reference), dropAnswer(&answer);
    pcModelFree(&model);
}

PC_TEST(Solvers, AgreeWithEnumerationWithoutFriction)
{
    for (int row = 0; row < pcConeSolverCount; row++) {
        Bench bench = benchFor(row);
        for (uint64_t seed = 0; seed < 1000; seed++) {
            bool coulomb = bench.solver->convex ? seed % 2 && bench.solver->coulomb : true;
            PC_CASE("%s: seed %d, %s", bench.solver->name, (int)seed, coulomb ? "coulomb" : "convex");
            againstEnumeration(&bench, seed, coulomb);
        }
        clearBench(&bench);
    }
}

/* ---- Spheres ---- */

static void throwOne(Bench* bench, uint64_t seed, bool coulomb)
{
    pcThrow thrown = pcThrownSphere(seed, coulomb);
    const pcProblem* problem = &thrown.model.problem;
    Answer answer = solved(bench, problem);
    double after = thrown.gap + thrown.h * answer.v[2]; /* the plane's normal is z */
    if (expectGood(bench, problem, &answer)) PC_EXPECT_GE(after, -2.0 * bench->demand.target * thrown.h * problem->velocityScale);
    dropAnswer(&answer);
    pcModelFree(&thrown.model);
}

PC_TEST(Solvers, NoneOfTenThousandSpheresFailsOrGoesThroughThePlane)
{
    for (int row = 0; row < pcConeSolverCount; row++) {
        Bench bench = benchFor(row);
        for (uint64_t seed = 0; seed < 10000; seed++) {
            bool coulomb = bench.solver->convex ? seed % 4 != 3 && bench.solver->coulomb : true;
            PC_CASE("%s: throw %d, %s", bench.solver->name, (int)seed, coulomb ? "coulomb" : "convex");
            throwOne(&bench, seed, coulomb);
        }
        clearBench(&bench);
    }
}

/* ---- Problems without a solution ---- */

typedef pcConeModel Make(int variant, bool coulomb);

/* Whatever it is called in the end, it is finite, consistent and says how good it is. */
static void expectDefined(Make* make, int variants)
{
    for (int row = 0; row < pcConeSolverCount; row++) {
        Bench bench = benchFor(row);
        for (int i = 0; i < 2 * variants; i++) {
            if (!solves(&bench, i % 2)) continue;
            PC_CASE("%s: variant %d, %s", bench.solver->name, i / 2, i % 2 ? "coulomb" : "convex");
            pcConeModel model = make(i / 2, i % 2);
            Answer answer = solved(&bench, &model.problem);
            expectHonest(&bench, &answer);
            dropAnswer(&answer);
            pcModelFree(&model);
        }
        clearBench(&bench);
    }
}

PC_TEST(Solvers, EndDefinedOnAJammedWedge) { expectDefined(pcJammedWedge, PC_WEDGES); }
PC_TEST(Solvers, EndDefinedOnContradictoryJoints) { expectDefined(pcContradiction, PC_CONTRADICTIONS); }

static void againstTheMiddle(Bench* bench, int variant, bool coulomb)
{
    pcConeModel model = pcContradiction(variant, coulomb), middle = pcContradictionInTheMiddle(variant, coulomb);
    Answer answer = solved(bench, &model.problem), wanted = answerOn(&middle.problem);
    pcReferenceSweeps(&middle.problem, 100000, 1e-14, wanted.v, wanted.c);
    PC_EXPECT_TRUE(answer.info.solve.outcome != PC_SOLVED);
    PC_EXPECT_NEAR(0.1, answer.certificate.equality, 1e-6);
    PC_EXPECT_LE(velocityDifference(&middle.problem, wanted.v, answer.v), 1e-6);
    dropAnswer(&answer), dropAnswer(&wanted);
    pcModelFree(&model), pcModelFree(&middle);
}

/* Joints that contradict each other are met in the middle: least squares, as a limit of soft rows gives it. */
PC_TEST(Solvers, MeetContradictoryJointsInTheMiddle)
{
    for (int row = 0; row < pcConeSolverCount; row++) {
        Bench bench = benchFor(row);
        for (int i = 0; i < 2 * PC_CONTRADICTIONS && bench.demand.mayMiss == 0.0; i++) {
            PC_CASE("%s: variant %d, %s", bench.solver->name, i / 2, i % 2 ? "coulomb" : "convex");
            if (solves(&bench, i % 2)) againstTheMiddle(&bench, i / 2, i % 2);
        }
        clearBench(&bench);
    }
}

/* ---- Nothing ---- */

PC_TEST(Solvers, DoNothingWhereThereIsNothing)
{
    for (int row = 0; row < pcConeSolverCount; row++) {
        Bench bench = benchFor(row);
        PC_CASE("%s", bench.solver->name);
        pcConeModel model = pcModelStart(!bench.solver->convex, 1.0);
        Answer none = solved(&bench, &model.problem);
        expectGood(&bench, &model.problem, &none);
        pcModelBody(&model, 2.0, v3Make(1.0, 1.0, 1.0), v3Make(1.0, 2.0, 3.0), v3Make(4.0, 5.0, 6.0));
        Answer alone = solved(&bench, &model.problem);
        expectGood(&bench, &model.problem, &alone);
        for (int i = 0; i < 6; i++) PC_EXPECT_TRUE(alone.v[i] == i + 1.0);
        dropAnswer(&none), dropAnswer(&alone);
        pcModelFree(&model);
        clearBench(&bench);
    }
}

PC_TEST(Solvers, AreFoundByName)
{
    for (int row = 0; row < pcConeSolverCount; row++) {
        PC_CASE("%s", pcConeSolvers[row].name);
        PC_EXPECT_TRUE(pcConeSolverFind(pcConeSolvers[row].name) == &pcConeSolvers[row]);
        PC_EXPECT_TRUE(pcConeSolvers[row].coulomb || pcConeSolvers[row].convex);
    }
    PC_EXPECT_TRUE(pcConeSolverFind("no such solver") == NULL);
    PC_EXPECT_GT(pcConeSolverCount, 0);
}

/* One memory; the second time through all small problems it has met every size. */
static int counted;
static void solveAllSmall(const pcConeSolver* solver, pcSolverMemory* memory)
{
    pcConeSettings settings = {.tolerance = 1e-10, .fixedPoint = 1};
    for (int k = 0; k < pcProblemKindCount; k++) {
        pcConeModel model = pcProblemKinds[k].make(0, solver->coulomb);
        double v[600], c[600];
        if (model.problem.rows <= 600 && model.problem.blocks <= 100) {
            pcCountingStart();
            pcConeInfo info = solver->solve(&model.problem, &settings, memory, v, c);
            counted += pcCountingStop();
            PC_EXPECT_EQ_INT(PC_SOLVED, info.solve.outcome);
        }
        pcModelFree(&model);
    }
}

PC_TEST(Solvers, AllocateNothingTheSecondTime)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    for (int i = 0; i < pcConeSolverCount; i++) {
        PC_CASE("%s", pcConeSolvers[i].name);
        pcSolverMemory* memory = pcSolverMemoryCreate();
        counted = 0, solveAllSmall(&pcConeSolvers[i], memory);
        PC_EXPECT_GT(counted, 0);
        counted = 0, solveAllSmall(&pcConeSolvers[i], memory);
        PC_EXPECT_EQ_INT(0, counted);
        pcSolverMemoryFree(memory);
    }
}

/* ---- agreement ---- */

static void expectAgreement(const pcConeModel* model, bool coulomb, double bound)
{
    const pcProblem* p = &model->problem;
    double *v = calloc((size_t)(12 * p->blocks + 2), sizeof *v), *first = v + 6 * p->blocks + 1,
           *c = calloc((size_t)p->rows + 1, sizeof *c);
    bool known = false;
    for (int i = 0; i < pcConeSolverCount; i++) {
        if (coulomb ? !pcConeSolvers[i].coulomb : !pcConeSolvers[i].convex) continue;
        if (p->rows > 60 && strcmp(pcConeSolvers[i].name, "minmap") == 0) continue; /* slow, and by its fall-backs from here on */
        if (p->rows > 600 && strcmp(pcConeSolvers[i].name, "lemke") == 0) continue; /* seconds */
        pcSolverMemory* memory = pcSolverMemoryCreate();
        pcConeSettings settings = {.tolerance = p->rows > 60 ? 1e-10 : 1e-11, .fixedPoint = 2};
        PC_EXPECT_LE(pcConeSolvers[i].solve(p, &settings, memory, v, c).solve.residual, 1e-10);
        if (!known) memcpy(first, v, (size_t)(6 * p->blocks) * sizeof *v);
        PC_EXPECT_LE(velocityDifference(p, v, first), bound);
        known = true;
        pcSolverMemoryFree(memory);
    }
    free(v), free(c);
}

PC_TEST(Solvers, AgreeOnTheVelocityOfTheRelaxation)
{
    for (int k = 0; k < pcProblemKindCount; k++) {
        for (int variant = 0; variant < pcProblemKinds[k].variants; variant++) {
            pcConeModel model = pcProblemKinds[k].make(variant, false);
            PC_CASE("%s, variant %d", pcProblemKinds[k].name, variant);
            expectAgreement(&model, false, 1e-9);
            pcModelFree(&model);
        }
    }
}

/* So little friction that the map of T 5.17 contracts: then its fixed point is the only solution, joints, stops and motors included. */
static bool slipperyMixture(uint64_t seed, pcConeModel* model)
{
    *model = pcSmallMixture(seed, true);
    for (int k = 0; k < model->problem.cones; k++) {
        const pcCone* cone = &model->cone[k];
        for (int i = 1; cone->kind == PC_CONE_FRICTION && i < cone->rows; i++) {
            for (int j = 0; j < 12; j++) model->J[12 * (cone->row + i) + j] *= 0.02;
            model->target[cone->row + i] *= 0.02, model->soft[cone->row + i] *= 0.02 * 0.02;
        }
    }
    double v[6 * 4], c[64];
    pcSolverMemory* memory = pcSolverMemoryCreate();
    pcConeSettings settings = {.tolerance = 1e-10, .fixedPoint = 2};
    pcConeInfo info = pcConeSolverFind("fixedpoint")->solve(&model->problem, &settings, memory, v, c);
    pcSolverMemoryFree(memory);
    return info.solve.fallbacks == 0 && info.contraction < 0.5;
}

PC_TEST(Solvers, AgreeOnCoulombsVelocityWhereFrictionIsSmall)
{
    int contracting = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        PC_CASE("seed %d", (int)seed);
        pcConeModel model;
        bool contracts = slipperyMixture(seed, &model);
        if (contracts) expectAgreement(&model, true, 1e-9);
        contracting += contracts;
        pcModelFree(&model);
    }
    PC_EXPECT_GT((double)contracting, 270.0);
}

/* One sphere on a plane has one solution, whatever mu is. */
PC_TEST(Solvers, AgreeOnCoulombsVelocityWhereItIsUnique)
{
    for (uint64_t seed = 1; seed <= 500; seed++) {
        PC_CASE("throw %d", (int)seed);
        pcThrow thrown = pcThrownSphere(seed, true);
        expectAgreement(&thrown.model, true, 1e-9);
        pcModelFree(&thrown.model);
    }
}
