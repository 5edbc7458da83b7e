/*
 * Newton's method on the minimum map: the thrown sphere that E could not solve, the problems of others, problems with one answer only,
 * problems with none; and the linear solver inside it.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "linalg/gmres.h"
#include "pcontact/lcp.h"
#include "pcontact/system.h"
#include "solver/certificate.h"
#include "solver/minmap.h"
#include "test_worlds/unit/counting.h"
#include "test_worlds/unit/lcp_judge.h"
#include "test_worlds/unit/problems.h"

#define MOST 40

/* ---- Cone problems ---- */

PC_TEST(Minmap, SolvesTenThousandThrownSpheresByItself)
{
    pcSolverMemory* memory = pcSolverMemoryCreate();
    pcArena arena = {0};
    int helped = 0, most = 0;
    for (int seed = 0; seed < 10000; seed++) {
        PC_CASE("seed %d", seed);
        pcThrow thrown = pcThrownSphere((uint64_t)seed, true);
        double v[6], c[3];
        pcConeSettings settings = {.tolerance = 1e-10};
        pcConeInfo info = pcMinmapConeSolve(&thrown.model.problem, &settings, memory, v, c);
        pcCertificate certificate = pcCertify(&thrown.model.problem, v, c, &arena);
        PC_EXPECT_EQ_INT(PC_SOLVED, info.solve.outcome);
        PC_EXPECT_LE(certificate.residual, 1e-10);
        PC_EXPECT_GE(thrown.gap + thrown.h * v[2], -1e-9 * thrown.h * thrown.model.problem.velocityScale); /* not through the plane */
        helped += info.solve.fallbacks, most = info.solve.iterations > most ? info.solve.iterations : most;
        pcModelFree(&thrown.model);
    }
    PC_EXPECT_LE((double)helped, 5.0);
    PC_EXPECT_LE((double)most, 60.0);
    pcArenaFree(&arena), pcSolverMemoryFree(memory);
}

/* ---- Trajectories ---- */

static double tenTo(pcRandom* random, double low, double high) { return pow(10.0, pcBetween(random, low, high)); }

/* What becomes of a thrown sphere: it falls on a plane, slides and rolls on, step after step from where the last one left it. */
typedef struct Fate {
    int steps, failed, helped;
    double deepest;  /* below the plane, by the radius */
    double residual; /* largest */
    double lowest;   /* that it came near the plane: smallest height of its lowest point, by the radius */
} Fate;

static Fate throwSphere(pcRandom* random, int steps)
{
    double radius = tenTo(random, -2, 1), mass = tenTo(random, -3, 3), h = tenTo(random, -4, -1), speed = tenTo(random, -2, 1);
    double I = 0.4 * mass * radius * radius;
    const double plane[4] = {0, 0, 1, 0};
    const pcPose origin = {{0, 0, 0}, {1, 0, 0, 0}};
    Fate fate = {.lowest = HUGE_VAL};
    pcShape *ball = NULL, *ground = NULL;
    pcMemory* memory = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeSphere(radius, &ball));
    PC_EXPECT_STATUS(PC_OK, pcShapeHalfSpace(plane, &ground));
    PC_EXPECT_STATUS(PC_OK, pcMemoryCreate(&memory));
    pcBody body = {.mass = mass, .inertia = {I, 0, 0, 0, I, 0, 0, 0, I}, .pose = origin};
    body.pose.position[2] = radius * (1.0 + 0.1 * pcBetween(random, 0.0, 1.0));
    for (int k = 0; k < 6; k++) body.velocity[k] = (k < 3 ? speed : speed / radius) * pcBetween(random, -1.0, k == 2 ? 0.0 : 1.0);
    const pcPlacedShape shapes[] = {{.shape = ball, .body = 0, .pose = origin}, {.shape = ground, .body = PC_WORLD, .pose = origin}};
    pcSystem system = {.bodyCount = 1, .bodies = &body, .shapeCount = 2, .shapes = shapes, .gravity = {0, 0, -9.81}, .memory = memory};
    pcSettings settings = pcDefaultSettings();
    PC_EXPECT_STATUS(PC_OK, pcSettingsParse(&settings, "solver=minmap"));
    settings.mu = pcBetween(random, 0.0, 1.5);
    double velocity[6];
    pcPose pose;
    pcSystemResult result = {.velocity = velocity, .pose = &pose};
    for (; fate.steps < steps && pcSystemStep(&system, &settings, h, &result) == PC_OK; fate.steps++) {
        memcpy(body.velocity, velocity, sizeof velocity), body.pose = pose;
        fate.failed += result.report.outcome != PC_SOLVED, fate.helped += result.report.fallbacks;
        double height = pose.position[2] / radius - 1.0;
        fate.deepest = height >= -fate.deepest ? fate.deepest : -height; /* a NaN is deep */
        fate.lowest = height < fate.lowest ? height : fate.lowest;
        fate.residual = result.report.residual <= fate.residual ? fate.residual : result.report.residual;
    }
    pcMemoryFree(memory), pcShapeFree(ball), pcShapeFree(ground);
    return fate;
}

PC_TEST(Minmap, ThrownSpheresLandAndRollOnThroughManySteps)
{
    enum { THROWS = 300, STEPS = 60 };
    pcRandom random = {21};
    int helped = 0, landed = 0;
    for (int i = 0; i < THROWS; i++) {
        PC_CASE("throw %d", i);
        Fate fate = throwSphere(&random, STEPS);
        PC_EXPECT_EQ_INT(STEPS, fate.steps);
        PC_EXPECT_EQ_INT(0, fate.failed);
        PC_EXPECT_LE(fate.deepest, 1e-9);
        PC_EXPECT_LE(fate.residual, 1e-10);
        helped += fate.helped, landed += fate.lowest <= 1e-6;
    }
    PC_EXPECT_LE((double)helped, 2.0); /* of 18,000 steps */
    PC_EXPECT_GE((double)landed, THROWS / 2.0);
}

/* ---- Few contacts ---- */

/* Friction of every kind; what Newton's method leaves is somebody else's, but mostly it leaves nothing. */
PC_TEST(Minmap, SeldomNeedsHelpWithFewContacts)
{
    pcSolverMemory* memory = pcSolverMemoryCreate();
    int helped = 0;
    for (int seed = 0; seed < 200; seed++) {
        PC_CASE("seed %d", seed);
        pcConeModel model = pcSmallMixture((uint64_t)seed, seed % 2);
        const pcProblem* p = &model.problem;
        double *v = calloc(6 * (size_t)p->blocks, sizeof *v), *c = calloc((size_t)p->rows, sizeof *c);
        pcConeSettings settings = {.tolerance = 1e-10};
        pcConeInfo info = pcMinmapConeSolve(p, &settings, memory, v, c);
        PC_EXPECT_EQ_INT(PC_SOLVED, info.solve.outcome);
        helped += info.solve.fallbacks > 0;
        free(v), free(c), pcModelFree(&model);
    }
    PC_EXPECT_LE((double)helped, 20.0);
    pcSolverMemoryFree(memory);
}

PC_TEST(Minmap, AllocatesNothingTheSecondTime)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    pcSolverMemory* memory = pcSolverMemoryCreate();
    pcConeModel model = pcProblemKinds[0].make(5, true);
    double *v = calloc(6 * (size_t)model.problem.blocks, sizeof *v), *c = calloc((size_t)model.problem.rows, sizeof *c);
    pcConeSettings settings = {.tolerance = 1e-10};
    pcCountingStart();
    pcMinmapConeSolve(&model.problem, &settings, memory, v, c);
    PC_EXPECT_GT((double)pcCountingStop(), 0.0);
    pcCountingStart();
    pcMinmapConeSolve(&model.problem, &settings, memory, v, c);
    PC_EXPECT_EQ_INT(0, pcCountingStop());
    free(v), free(c), pcModelFree(&model), pcSolverMemoryFree(memory);
}

/* ---- Plain problems ---- */

typedef struct Plain {
    int n;
    double M[MOST * MOST], q[MOST];
} Plain;

static pcSolveInfo solvePlain(const Plain* p, const char* solver, const double* start, double* z, double* ray)
{
    pcSolveSettings settings = pcDefaultSolveSettings();
    settings.solver = solver, settings.ray = ray, settings.start = start;
    return pcLcpSolve(&(pcLcp){p->n, p->M, p->q}, &settings, z);
}

static bool readNumbers(FILE* file, int count, double* out)
{
    for (int i = 0; i < count; i++)
        if (fscanf(file, "%lf", out + i) != 1) return false;
    return true;
}

static bool readPlain(const char* name, Plain* out)
{
    char path[512], word[2];
    snprintf(path, sizeof path, "%s/problems/lcp/%s", PCONTACT_TEST_WORLDS, name);
    FILE* file = fopen(path, "r");
    if (!file) return false;
    bool good = fscanf(file, "n %d", &out->n) == 1 && out->n > 0 && out->n <= MOST;
    good = good && readNumbers(file, out->n * out->n, out->M) && fscanf(file, "%1s", word) == 1 && word[0] == 'q';
    good = good && readNumbers(file, out->n, out->q);
    fclose(file);
    return good;
}

static void expectEnded(const Plain* p, const char* solver)
{
    double z[MOST], ray[MOST];
    pcSolveInfo info = solvePlain(p, solver, NULL, z, ray);
    if (info.outcome == PC_RAY) {
        PC_EXPECT_TRUE(pcJudgeInfeasible(p->n, p->M, p->q, ray));
        return;
    }
    PC_EXPECT_EQ_INT(PC_SOLVED, info.outcome);
    PC_EXPECT_LE(info.residual, 1e-10);
    PC_EXPECT_LE(pcJudgeSolution(p->n, p->n, p->M, p->q, z), 1e-10);
}

PC_TEST(Minmap, SolvesTheProblemsOfOthersAsLemkeDoes)
{
    DIR* folder = opendir(PCONTACT_TEST_WORLDS "/problems/lcp");
    int count = 0;
    PC_ASSERT_TRUE(folder != NULL);
    for (struct dirent* entry; (entry = readdir(folder)) != NULL;) {
        if (!strstr(entry->d_name, ".txt")) continue;
        PC_CASE("%s", entry->d_name);
        Plain p;
        PC_EXPECT_TRUE(readPlain(entry->d_name, &p));
        expectEnded(&p, "minmap"), expectEnded(&p, "lemke");
        count++;
    }
    closedir(folder);
    PC_EXPECT_GE((double)count, 10.0);
}

/* M = B'B + skew + a little: positive definite and unsymmetric, so there is one answer. */
static Plain definite(int n, pcRandom* random)
{
    Plain p = {.n = n};
    double B[MOST * MOST];
    for (int i = 0; i < n * n; i++) B[i] = pcBetween(random, -1.0, 1.0);
    for (int i = 0; i < n; i++) {
        p.q[i] = pcBetween(random, -1.0, 1.0);
        for (int j = 0; j < n; j++) {
            p.M[i * n + j] = B[i * n + j] - B[j * n + i] + (i == j ? 0.1 : 0.0);
            for (int k = 0; k < n; k++) p.M[i * n + j] += B[k * n + i] * B[k * n + j];
        }
    }
    return p;
}

PC_TEST(Minmap, FindsTheOnlyAnswerOfADefiniteProblem)
{
    pcRandom random = {5};
    int helped = 0;
    for (int trial = 0; trial < 300; trial++) {
        PC_CASE("trial %d", trial);
        Plain p = definite(1 + trial % MOST, &random);
        double z[MOST], other[MOST];
        pcSolveInfo info = solvePlain(&p, "minmap", NULL, z, NULL);
        PC_EXPECT_EQ_INT(PC_SOLVED, info.outcome);
        PC_EXPECT_EQ_INT(PC_SOLVED, solvePlain(&p, "lemke", NULL, other, NULL).outcome);
        for (int i = 0; i < p.n; i++) PC_EXPECT_NEAR(other[i], z[i], 1e-8);
        helped += info.fallbacks;
    }
    PC_EXPECT_LE((double)helped, 6.0);
}

PC_TEST(Minmap, NeedsNoMoreThanALastStepFromTheAnswer)
{
    pcRandom random = {6};
    for (int trial = 0; trial < 50; trial++) {
        PC_CASE("trial %d", trial);
        Plain p = definite(20, &random);
        double z[MOST], again[MOST];
        solvePlain(&p, "minmap", NULL, z, NULL);
        PC_EXPECT_LE((double)solvePlain(&p, "minmap", z, again, NULL).iterations, 1.0);
    }
}

PC_TEST(Minmap, ReportsRayWhereNothingIsFeasible)
{
    Plain p = {.n = 2, .M = {-1.0, 0.0, 0.0, 1.0}, .q = {-1.0, 1.0}};
    double z[2], ray[2];
    pcSolveInfo info = solvePlain(&p, "minmap", NULL, z, ray);
    PC_EXPECT_EQ_INT(PC_RAY, info.outcome);
    PC_EXPECT_TRUE(pcJudgeInfeasible(2, p.M, p.q, ray));
    PC_EXPECT_EQ_INT(1, info.fallbacks);
}

/* ---- GMRES ---- */

typedef struct System {
    int n;
    double A[MOST * MOST];
} System;

static void multiply(void* self, const double* x, double* y)
{
    const System* s = self;
    for (int i = 0; i < s->n; i++) {
        y[i] = 0.0;
        for (int j = 0; j < s->n; j++) y[i] += s->A[i * s->n + j] * x[j];
    }
}

static void copyOver(void* self, const double* x, double* y) { memcpy(y, x, (size_t)((System*)self)->n * sizeof *y); }

static double errorOf(System* s, const double* x, const double* b)
{
    double y[MOST], worst = 0.0;
    multiply(s, x, y);
    for (int i = 0; i < s->n; i++) worst = fabs(y[i] - b[i]) <= worst ? worst : fabs(y[i] - b[i]);
    return worst;
}

PC_TEST(Gmres, SolvesAnySystemInAsManyProductsAsItHasRows)
{
    pcRandom random = {9};
    pcArena arena = {0};
    for (int n = 1; n <= MOST; n++) {
        PC_CASE("n = %d", n);
        System s = {.n = n};
        double b[MOST], x[MOST];
        for (int i = 0; i < n * n; i++) s.A[i] = pcBetween(&random, -1.0, 1.0) + (i % (n + 1) ? 0.0 : 2.0);
        for (int i = 0; i < n; i++) b[i] = pcBetween(&random, -1.0, 1.0);
        pcGmres gmres = {n, &s, multiply, copyOver, MOST, 4 * MOST, 1e-12};
        pcGmresInfo info = pcGmresSolve(&gmres, b, &arena, x);
        PC_EXPECT_LE(info.residual, 1e-12);
        PC_EXPECT_LE((double)info.products, n + 1.0);
        PC_EXPECT_LE(errorOf(&s, x, b), 1e-10);
    }
    pcArenaFree(&arena);
}

PC_TEST(Gmres, RestartsUntilItIsThere)
{
    pcRandom random = {10};
    pcArena arena = {0};
    System s = {.n = MOST};
    double b[MOST], x[MOST];
    for (int i = 0; i < MOST * MOST; i++) s.A[i] = 0.05 * pcBetween(&random, -1.0, 1.0) + (i % (MOST + 1) ? 0.0 : 1.0);
    for (int i = 0; i < MOST; i++) b[i] = pcBetween(&random, -1.0, 1.0);
    pcGmres gmres = {MOST, &s, multiply, copyOver, 4, 400, 1e-12};
    pcGmresInfo info = pcGmresSolve(&gmres, b, &arena, x);
    PC_EXPECT_GT((double)info.products, 4.0);
    PC_EXPECT_LE(errorOf(&s, x, b), 1e-11);
    PC_EXPECT_EQ_INT(0, (int)arena.used);
    pcArenaFree(&arena);
}

/* Rank 1, b in the range: a solution, and none that runs away along the null space. */
PC_TEST(Gmres, SolvesASingularSystemThatHasASolution)
{
    pcArena arena = {0};
    System s = {.n = 3, .A = {1, 2, 3, 2, 4, 6, 3, 6, 9}};
    double b[3] = {2, 4, 6}, x[3];
    pcGmres gmres = {3, &s, multiply, copyOver, 3, 30, 1e-12};
    PC_EXPECT_LE(pcGmresSolve(&gmres, b, &arena, x).residual, 1e-12);
    for (int i = 0; i < 3; i++) PC_EXPECT_LE(fabs(x[i]), 1.0);
    pcArenaFree(&arena);
}

/* Half the rank, b anywhere: no solution, but an x that makes things no worse than x = 0 and does not run away. */
PC_TEST(Gmres, KeepsItsHeadWhereThereIsNoSolution)
{
    enum { N = 8 };
    pcRandom random = {11};
    pcArena arena = {0};
    for (int trial = 0; trial < 100; trial++) {
        PC_CASE("trial %d", trial);
        System s = {.n = N};
        double B[N * N / 2], b[N], x[N];
        for (int i = 0; i < N * N / 2; i++) B[i] = pcBetween(&random, -1.0, 1.0);
        for (int i = 0; i < N * N; i++)
            for (int k = 0; k < N / 2; k++) s.A[i] += B[i / N * (N / 2) + k] * B[i % N * (N / 2) + k];
        for (int i = 0; i < N; i++) b[i] = pcBetween(&random, -1.0, 1.0);
        pcGmres gmres = {N, &s, multiply, copyOver, N, 10 * N, 1e-12};
        PC_EXPECT_LE(pcGmresSolve(&gmres, b, &arena, x).residual, 1.0 + 1e-9);
        for (int i = 0; i < N; i++) PC_EXPECT_LE(fabs(x[i]), 1e6);
    }
    pcArenaFree(&arena);
}
