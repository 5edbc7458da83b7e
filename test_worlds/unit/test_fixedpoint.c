/*
 * The fixed point of convex problems (T 5.17): that it contracts where T says so, says when it does not, and that P2's law of given slips
 * is what T 5.15 asks for.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "solver/anderson.h"
#include "solver/certificate.h"
#include "solver/cone.h"
#include "solver/fixedpoint.h"
#include "solver/sparse.h"
#include "test_worlds/unit/counting.h"
#include "test_worlds/unit/problems.h"

#define TURN 6.283185307179586
#define LOOKS 10000 /* directions */

typedef struct Answer {
    pcConeInfo info;
    double *v, *c;
} Answer;

static Answer solve(pcConeSolve* solver, const pcProblem* p, int chi, pcSolverMemory* memory)
{
    pcConeSettings settings = {.tolerance = 1e-10, .fixedPoint = chi};
    Answer answer = {.v = calloc(6 * (size_t)p->blocks + 1, sizeof(double)), .c = calloc((size_t)p->rows + 1, sizeof(double))};
    if (!answer.v || !answer.c) abort();
    answer.info = solver(p, &settings, memory, answer.v, answer.c);
    return answer;
}

static void drop(Answer* answer) { free(answer->v), free(answer->c); }

static void expectSolved(const pcProblem* p, const Answer* answer)
{
    pcArena arena = {0};
    pcCertificate certificate = pcCertify(p, answer->v, answer->c, &arena);
    PC_EXPECT_EQ_INT(PC_SOLVED, answer->info.solve.outcome);
    PC_EXPECT_LE(certificate.residual, 1e-10);
    PC_EXPECT_LE(certificate.momentum, 1e-13);
    pcArenaFree(&arena);
}

/* ---- Contraction ---- */

/* A flat block that slides and turns on a plane. */
static pcConeModel slidingBlock(double mu)
{
    pcConeModel model = pcModelStart(true, 1.0);
    v3 half = v3Make(0.5, 0.4, 0.2), up = v3Make(0.0, 0.0, 1.0);
    v3 moments = v3Make(half.y * half.y + half.z * half.z, half.x * half.x + half.z * half.z, half.x * half.x + half.y * half.y);
    int block = pcModelBody(&model, 2.0, v3Scale(2.0 / 3.0, moments), v3Make(0.8, 0.3, -0.0981), up);
    for (int k = 0; k < 4; k++) {
        v3 arm = v3Make(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, -half.z);
        pcModelTouch(&model, &(pcTouch){.body1 = -1, .body2 = block, .arm2 = arm, .normal = up, .mu = mu});
    }
    return model;
}

PC_TEST(FixedPoint, ContractsFasterWithLessFriction)
{
    pcSolverMemory* memory = pcSolverMemoryCreate();
    for (int chi = 1; chi <= 3; chi++) {
        double last = 1.0;
        for (double mu = 1.6; mu > 0.04; mu *= 0.5) {
            PC_CASE("chi_%d, mu = %g", chi, mu);
            pcConeModel model = slidingBlock(mu);
            Answer answer = solve(pcFixedPointSolve, &model.problem, chi, memory);
            expectSolved(&model.problem, &answer);
            PC_EXPECT_GT(answer.info.contraction, 0.0);
            PC_EXPECT_LT(answer.info.contraction, last);
            PC_EXPECT_EQ_INT(0, answer.info.solve.fallbacks);
            PC_EXPECT_EQ_STR("fixedpoint", answer.info.solver);
            last = answer.info.contraction;
            drop(&answer), pcModelFree(&model);
        }
    }
    pcSolverMemoryFree(memory);
}

/* Friction rows are multiplied by mu: so are they by more of it. */
static void multiplyFriction(pcConeModel* model, double factor)
{
    for (int k = 0; k < model->problem.cones; k++) {
        const pcCone* cone = &model->cone[k];
        for (int i = 12 * (cone->row + 1); cone->kind == PC_CONE_FRICTION && i < 12 * (cone->row + cone->rows); i++) model->J[i] *= factor;
    }
}

static double farthest(int n, const double* a, const double* b)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fabs(a[i] - b[i]) <= most ? most : fabs(a[i] - b[i]);
    return most;
}

/* Small mu: the Coulomb problem has one velocity (T 5.9), which all three find, and so does a method that shares no iteration with them. */
PC_TEST(FixedPoint, OfAllThreeMapsIsOneVelocityForSmallMu)
{
    pcSolverMemory* memory = pcSolverMemoryCreate();
    for (int variant = 0; variant < 24; variant++) {
        pcConeModel model = pcProblemKinds[0].make(variant, true);
        multiplyFriction(&model, 0.1);
        Answer other = solve(pcSparseSolve, &model.problem, 0, memory);
        for (int chi = 1; chi <= 3; chi++) {
            PC_CASE("%s %d, chi_%d", pcProblemKinds[0].name, variant, chi);
            Answer answer = solve(pcFixedPointSolve, &model.problem, chi, memory);
            expectSolved(&model.problem, &answer);
            PC_EXPECT_EQ_INT(0, answer.info.solve.fallbacks);
            PC_EXPECT_LT(answer.info.contraction, 0.5);
            PC_EXPECT_LE(farthest(6 * model.problem.blocks, answer.v, other.v), 1e-8 * model.problem.velocityScale);
            drop(&answer);
        }
        drop(&other), pcModelFree(&model);
    }
    pcSolverMemoryFree(memory);
}

/* mu up to 10: T promises nothing there, half of these do not contract. */
PC_TEST(FixedPoint, ThatIsNotReachedIsLeftToAnotherMethodAndCounted)
{
    pcSolverMemory* memory = pcSolverMemoryCreate();
    int left = 0, growing = 0;
    for (int variant = 0; variant < 24; variant++) {
        PC_CASE("%s %d", pcProblemKinds[0].name, variant);
        pcConeModel model = pcProblemKinds[0].make(variant, true);
        multiplyFriction(&model, 10.0);
        Answer answer = solve(pcFixedPointSolve, &model.problem, 2, memory);
        expectSolved(&model.problem, &answer);
        PC_EXPECT_EQ_STR(answer.info.solve.fallbacks ? "sparse" : "fixedpoint", answer.info.solver);
        left += answer.info.solve.fallbacks, growing += answer.info.contraction >= 1.0;
        drop(&answer), pcModelFree(&model);
    }
    PC_EXPECT_GE((double)left, 3.0);
    PC_EXPECT_GE((double)growing, 3.0);
    pcSolverMemoryFree(memory);
}

PC_TEST(FixedPoint, OfARelaxationIsTheRelaxation)
{
    pcSolverMemory* memory = pcSolverMemoryCreate();
    pcConeModel model = slidingBlock(0.5);
    model.problem.coulomb = false;
    Answer answer = solve(pcFixedPointSolve, &model.problem, 2, memory);
    expectSolved(&model.problem, &answer);
    drop(&answer), pcModelFree(&model), pcSolverMemoryFree(memory);
}

PC_TEST(FixedPoint, AllocatesNothingTheSecondTime)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    for (int chi = 1; chi <= 3; chi++) {
        PC_CASE("chi_%d", chi);
        pcSolverMemory* memory = pcSolverMemoryCreate();
        pcConeModel model = slidingBlock(0.5);
        double v[6], c[12];
        pcConeSettings settings = {.tolerance = 1e-10, .fixedPoint = chi};
        pcCountingStart();
        pcFixedPointSolve(&model.problem, &settings, memory, v, c);
        PC_EXPECT_GT((double)pcCountingStop(), 0.0);
        pcCountingStart();
        pcFixedPointSolve(&model.problem, &settings, memory, v, c);
        PC_EXPECT_EQ_INT(0, pcCountingStop());
        pcModelFree(&model), pcSolverMemoryFree(memory);
    }
}

/* ---- The law of one disc ---- */

/* A contact with one disc has a law of its own; one that has a second group besides, in which nothing happens, must have the same. */
PC_TEST(DiscLaw, IsThatOfAContactWithAnIdleSecondGroup)
{
    pcRandom random = {21};
    const pcCone one = {.kind = PC_CONE_FRICTION, .groups = 1, .groupSize = {2}, .rows = 3};
    const pcCone two = {.kind = PC_CONE_FRICTION, .groups = 2, .groupSize = {2, 1}, .rows = 4};
    int open = 0, sticking = 0;
    for (int i = 0; i < 3000; i++) {
        double e[4] = {pcBetween(&random, 0.1, 1.0), pcBetween(&random, 0.1, 1.0), 0.0, 1.0}, r[4] = {0.0}, u[4] = {0.0};
        e[2] = e[1];
        for (int k = 0; k < 3; k++) r[k] = pcBetween(&random, -1.0, 2.0), u[k] = i % 10 ? pcBetween(&random, -1.0, 1.0) : 0.0;
        for (int law = PC_LAW_RELAXED; law <= PC_LAW_COULOMB; law++) {
            double c[3], G[9], cTwo[4], GTwo[16];
            pcConeLaw(&one, (pcLaw)law, NULL, e, r, u, c, G), pcConeLaw(&two, (pcLaw)law, NULL, e, r, u, cTwo, GTwo);
            for (int k = 0; k < 9; k++) {
                PC_EXPECT_NEAR(cTwo[k / 3], c[k / 3], 1e-13);
                PC_EXPECT_NEAR(GTwo[4 * (k / 3) + k % 3], G[k], 1e-12);
            }
            open += c[0] == 0.0, sticking += hypot(c[1], c[2]) < c[0] * (1.0 - 1e-12);
        }
    }
    PC_EXPECT_GT(open, 500);
    PC_EXPECT_GT(sticking, 500);
}

/* ---- The law of given slips ---- */

typedef struct Trial {
    pcCone cone;
    double slip[PC_CONE_ROWS], e[PC_CONE_ROWS], r[PC_CONE_ROWS], u[PC_CONE_ROWS];
} Trial;

static Trial randomTrial(pcRandom* random)
{
    static const int edges[] = {0, 4, 6, 16};
    Trial t = {.cone = {.kind = PC_CONE_FRICTION, .groups = 2, .groupSize = {2, 1}, .rows = 4}};
    t.cone.edges = edges[pcRandomBits(random) % 4], t.cone.angle = pcBetween(random, 0.0, 6.0);
    for (int i = 0; i < t.cone.rows; i++) {
        t.e[i] = i == 2 ? t.e[1] : pcBetween(random, 0.1, 1.0);
        t.r[i] = pcBetween(random, -1.0, 1.0), t.u[i] = pcBetween(random, -1.0, 1.0), t.slip[i] = pcBetween(random, 0.0, 1.0);
    }
    return t;
}

static void law(const Trial* t, double* c, double* G) { pcConeLaw(&t->cone, PC_LAW_GIVEN_SLIP, t->slip, t->e, t->r, t->u, c, G); }

/* max c'y over slip(y) <= 1, by looking in all directions: the gauge of the group's set. */
static double gaugeByLooking(const pcCone* cone, int g, const double* c)
{
    double most = 0.0, y[PC_CONE_ROWS] = {0.0};
    int row = g == 0 ? 1 : 3;
    for (int i = 0; i < (g == 0 ? LOOKS : 2); i++) {
        y[row] = g == 0 ? cos(i * (TURN / LOOKS)) : 1.0 - 2.0 * i;
        if (g == 0) y[row + 1] = sin(i * (TURN / LOOKS));
        double along = -(c[row] * y[row] + (g == 0 ? c[row + 1] * y[row + 1] : 0.0)) / pcConeSlip(cone, g, y);
        most = along > most ? along : most;
    }
    return most;
}

/* u' = u + e (c - r):  slip(u') <= lambda, and where there is an impulse it opposes a slip of exactly lambda: -c'u' = lambda gauge(c). */
PC_TEST(GivenSlip, IsKeptAndOpposed)
{
    pcRandom random = {77};
    for (int trial = 0; trial < 200; trial++) {
        Trial t = randomTrial(&random);
        PC_CASE("trial %d, %d edges", trial, t.cone.edges);
        double c[PC_CONE_ROWS], w[PC_CONE_ROWS];
        law(&t, c, NULL);
        for (int i = 0; i < t.cone.rows; i++) w[i] = t.u[i] + t.e[i] * (c[i] - t.r[i]);
        PC_EXPECT_GE(w[0], -1e-14);
        PC_EXPECT_NEAR(0.0, c[0] * w[0], 1e-14);
        for (int g = 0; g < 2; g++) {
            int row = g == 0 ? 1 : 3;
            double lambda = t.slip[row], work = -(c[row] * w[row] + (g == 0 ? c[2] * w[2] : 0.0));
            PC_EXPECT_LE(pcConeSlip(&t.cone, g, w), lambda + 1e-14);
            PC_EXPECT_NEAR(lambda * gaugeByLooking(&t.cone, g, c), work, 2.0 * TURN / LOOKS);
        }
    }
}

PC_TEST(GivenSlip, HasTheDerivativeThatItSays)
{
    pcRandom random = {78};
    int kinks = 0;
    for (int trial = 0; trial < 500; trial++) {
        Trial t = randomTrial(&random);
        double c[PC_CONE_ROWS], G[PC_CONE_ROWS * PC_CONE_ROWS], high[PC_CONE_ROWS], low[PC_CONE_ROWS], worst = 0.0;
        law(&t, c, G);
        for (int j = 0; j < t.cone.rows; j++) {
            Trial up = t, down = t;
            up.u[j] += 1e-6, down.u[j] -= 1e-6;
            law(&up, high, NULL), law(&down, low, NULL);
            for (int i = 0; i < t.cone.rows; i++) {
                double error = fabs(G[i * t.cone.rows + j] + (high[i] - low[i]) / 2e-6);
                worst = error <= worst ? worst : error;
            }
        }
        kinks += !(worst <= 1e-5); /* a kink within 1e-6 of u */
    }
    PC_EXPECT_LE((double)kinks, 2.0);
}

/* ---- Anderson's method ---- */

/* x <- A x + b with |A| = 0.95: plain steps need 600 to gain what n + 1 accelerated ones do. */
PC_TEST(Anderson, SolvesALinearFixedPointInAsManyPassesAsItHasNumbers)
{
    enum { N = 4 };
    static const double A[N][N] = {{0.9, 0.1, 0, 0}, {-0.1, 0.9, 0, 0}, {0, 0.2, -0.5, 0}, {0, 0, 0.3, 0.2}}, b[N] = {1, -2, 3, -4};
    pcArena arena = {0};
    pcAnderson anderson;
    double x[N] = {0.0}, g[N], change = 0.0;
    PC_ASSERT_TRUE(pcAndersonNew(&anderson, N, &arena));
    for (int pass = 0; pass < N + 2; pass++) {
        change = 0.0;
        for (int i = 0; i < N; i++) {
            g[i] = b[i];
            for (int j = 0; j < N; j++) g[i] += A[i][j] * x[j];
            change += fabs(g[i] - x[i]);
        }
        pcAndersonStep(&anderson, x, g);
    }
    PC_EXPECT_LE(change, 1e-9);
    pcArenaFree(&arena);
}
