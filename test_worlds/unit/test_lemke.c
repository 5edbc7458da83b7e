/*
 * Lemke's method on small problems of every kind, judged by definition and by trying everything (lcp_judge.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "solver/lemke.h"
#include "test_worlds/fuzz/cases.h"
#include "test_worlds/unit/lcp_judge.h"

#define MAX 24

typedef struct Problem {
    int n, kind; /* of the judge */
    double M[MAX * MAX], q[MAX];
} Problem;

typedef struct Answer {
    pcSolveInfo info;
    double z[MAX], ray[MAX];
    unsigned char basis[MAX];
} Answer;

static double between(pcRandom* random, double low, double high) { return low + (high - low) * pcRandomUnit(random); }
static int integerBetween(pcRandom* random, int low, int high) { return low + (int)(pcRandomBits(random) % (uint64_t)(high - low + 1)); }

static Answer solveFrom(const Problem* p, const unsigned char* guess)
{
    Answer answer = {0};
    pcArena arena = {0};
    pcScaledLcp lcp;
    PC_EXPECT_TRUE(pcScaledMake(p->n, p->M, p->q, &arena, &lcp));
    size_t mark = pcArenaMark(&arena);
    pcLemke lemke = {&lcp, 1e-10, 0, guess, answer.basis};
    answer.info = pcLemkeSolve(&lemke, &arena, answer.z, answer.ray);
    PC_EXPECT_EQ_INT((long long)mark, (long long)arena.used);
    pcArenaFree(&arena);
    return answer;
}

static Answer solve(const Problem* p) { return solveFrom(p, NULL); }

static void expectSolved(const Problem* p, const Answer* answer)
{
    PC_ASSERT_EQ_INT(PC_SOLVED, answer->info.outcome);
    PC_EXPECT_LE(answer->info.residual, 1e-11);
    PC_EXPECT_LE(pcJudgeSolution(p->n, p->kind, p->M, p->q, answer->z), 1e-10);
}

/* Whatever the problem: an answer that says what it is. */
static void expectDefined(const Problem* p, const Answer* answer)
{
    PC_EXPECT_TRUE(answer->info.residual >= 0.0);
    for (int i = 0; i < p->n; i++) PC_EXPECT_TRUE(answer->z[i] >= 0.0 && !isinf(answer->z[i]));
    if (answer->info.outcome == PC_SOLVED) expectSolved(p, answer);
    bool proven = pcJudgeInfeasible(p->n, p->M, p->q, answer->ray) || pcJudgeRay(p->n, p->M, answer->ray);
    if (answer->info.outcome == PC_RAY) PC_EXPECT_TRUE(proven);
}

/* ---- kinds of problems ---- */

typedef Problem Maker(pcRandom* random, int n);

static void addGram(Problem* p, pcRandom* random, int rank, bool whole)
{
    double A[MAX * MAX];
    for (int i = 0; i < p->n * rank; i++) A[i] = whole ? integerBetween(random, -1, 1) : between(random, -1.0, 1.0);
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < p->n; j++)
            for (int k = 0; k < rank; k++) p->M[i * p->n + j] += A[i * rank + k] * A[j * rank + k];
}

/* A skew part leaves M semidefinite. */
static void addSkew(Problem* p, pcRandom* random, bool whole)
{
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < i; j++) {
            double s = whole ? integerBetween(random, -1, 1) : between(random, -1.0, 1.0);
            p->M[i * p->n + j] += s, p->M[j * p->n + i] -= s;
        }
}

static void fillRight(Problem* p, pcRandom* random, bool whole)
{
    for (int i = 0; i < p->n; i++) p->q[i] = whole ? integerBetween(random, -2, 2) : between(random, -1.0, 0.5);
}

static Problem definite(pcRandom* random, int n)
{
    Problem p = {.n = n, .kind = n};
    addGram(&p, random, n, false), addSkew(&p, random, false), fillRight(&p, random, false);
    for (int i = 0; i < n; i++) p.M[i * n + i] += 0.01;
    return p;
}

static Problem deficient(pcRandom* random, int n)
{
    Problem p = {.n = n, .kind = n};
    addGram(&p, random, integerBetween(random, 1, n), false), fillRight(&p, random, false);
    return p;
}

static Problem deficientSkew(pcRandom* random, int n)
{
    Problem p = {.n = n, .kind = n};
    addGram(&p, random, integerBetween(random, 1, n), false), addSkew(&p, random, false), fillRight(&p, random, false);
    return p;
}

static Problem wholeSymmetric(pcRandom* random, int n)
{
    Problem p = {.n = n, .kind = n};
    addGram(&p, random, integerBetween(random, 1, n), true), fillRight(&p, random, true);
    return p;
}

static Problem wholeSkew(pcRandom* random, int n)
{
    Problem p = {.n = n, .kind = n};
    addGram(&p, random, integerBetween(random, 1, n), true), addSkew(&p, random, true), fillRight(&p, random, true);
    return p;
}

/* Linear programs: M is skew, with a zero diagonal. */
static Problem linearProgram(pcRandom* random, int n)
{
    Problem p = {.n = n, .kind = n};
    addSkew(&p, random, true), fillRight(&p, random, true);
    return p;
}

/* q falls along a direction that M does not see. */
static Problem infeasible(pcRandom* random, int n)
{
    Problem p = deficient(random, n);
    for (int i = 0; i < n; i++) p.M[i * n + n - 1] = p.M[(n - 1) * n + i] = 0.0;
    p.q[n - 1] = -between(random, 0.1, 1.0);
    return p;
}

static Problem anything(pcRandom* random, int n)
{
    Problem p = {.n = n, .kind = n};
    for (int i = 0; i < n * n; i++) p.M[i] = between(random, -1.0, 1.0);
    fillRight(&p, random, false);
    return p;
}

static Problem anyWhole(pcRandom* random, int n)
{
    Problem p = {.n = n, .kind = n};
    for (int i = 0; i < n * n; i++) p.M[i] = integerBetween(random, -1, 1);
    fillRight(&p, random, true);
    return p;
}

/* Contacts of one body in the plane, with friction by two edges: z = (c_n, beta, lambda), 4 unknowns per contact. The directions of
 * the normals lie within 60 degrees and mu < 1/2, so that the friction cone is pointed. */
static Problem friction(pcRandom* random, int n)
{
    int m = n / 4;
    Problem p = {.n = 4 * m, .kind = 3 * m};
    double J[3 * MAX][3], mu[MAX];
    for (int c = 0; c < m; c++) {
        double a = between(random, -0.5, 0.5), x = between(random, -1.0, 1.0), y = between(random, -1.0, 0.0);
        double direction[3][2] = {{sin(a), cos(a)}, {cos(a), -sin(a)}, {-cos(a), sin(a)}};
        for (int k = 0; k < 3; k++) {
            double* row = J[k == 0 ? c : m + 2 * c + k - 1];
            row[0] = direction[k][0], row[1] = direction[k][1], row[2] = x * direction[k][1] - y * direction[k][0];
        }
        mu[c] = between(random, 0.0, 0.5);
    }
    double v[3] = {between(random, -1.0, 1.0), between(random, -2.0, 0.5), between(random, -1.0, 1.0)};
    for (int i = 0; i < 3 * m; i++)
        for (int k = 0; k < 3; k++) {
            p.q[i] += J[i][k] * v[k];
            for (int j = 0; j < 3 * m; j++) p.M[i * p.n + j] += J[i][k] * J[j][k] * (k == 2 ? 3.0 : 1.0);
        }
    for (int c = 0; c < m; c++) {
        int slip = 3 * m + c;
        p.M[slip * p.n + c] = mu[c];
        for (int e = m + 2 * c; e < m + 2 * c + 2; e++) p.M[e * p.n + slip] = 1.0, p.M[slip * p.n + e] = -1.0;
    }
    return p;
}

/* ---- against trying everything ---- */

typedef struct Tally {
    int all, feasible, solvable, solved, proven;
} Tally;

static void compare(const Problem* p, bool semidefinite, Tally* tally)
{
    Answer answer = solve(p);
    pcJudged judged = pcJudgeByTrying(p->n, p->M, p->q);
    expectDefined(p, &answer);
    if (semidefinite) {
        PC_EXPECT_TRUE(judged.feasible == judged.solvable); /* else the judge is wrong */
        PC_EXPECT_EQ_INT(judged.feasible ? PC_SOLVED : PC_RAY, answer.info.outcome);
        if (!judged.feasible) PC_EXPECT_TRUE(pcJudgeInfeasible(p->n, p->M, p->q, answer.ray));
    }
    if (answer.info.outcome == PC_SOLVED) PC_EXPECT_TRUE(judged.solvable);
    tally->all++, tally->feasible += judged.feasible, tally->solvable += judged.solvable;
    tally->solved += answer.info.outcome == PC_SOLVED, tally->proven += answer.info.outcome == PC_RAY;
}

static Tally compareMany(Maker* make, bool semidefinite, uint64_t seed, int count)
{
    pcRandom random = {seed};
    Tally tally = {0};
    for (int i = 0; i < count; i++) {
        int n = i % 25 == 24 ? 8 : 1 + i % 6;
        PC_CASE("problem %d of seed %d, n = %d", i, (int)seed, n);
        Problem p = make(&random, n);
        compare(&p, semidefinite, &tally);
    }
    return tally;
}

PC_TEST(Lemke, SolvesEveryDefiniteProblem)
{
    Tally tally = compareMany(definite, true, 1, 150);
    PC_EXPECT_EQ_INT(tally.all, tally.solved);
}

PC_TEST(Lemke, SolvesASemidefiniteProblemExactlyIfItIsFeasible)
{
    Tally symmetric = compareMany(deficient, true, 2, 150), skew = compareMany(deficientSkew, true, 3, 150);
    PC_EXPECT_GT(symmetric.solved, 30); /* else the comparison would be of one kind only */
    PC_EXPECT_GT(symmetric.proven, 30);
    PC_EXPECT_GT(skew.solved, 30);
}

PC_TEST(Lemke, IsNotConfusedByWholeNumbers)
{
    Tally symmetric = compareMany(wholeSymmetric, true, 4, 150), skew = compareMany(wholeSkew, true, 5, 150);
    Tally programs = compareMany(linearProgram, true, 6, 150);
    PC_EXPECT_GT(symmetric.solved, 30);
    PC_EXPECT_GT(symmetric.proven, 30);
    PC_EXPECT_GT(skew.solved, 30);
    PC_EXPECT_GT(programs.solved, 30);
    PC_EXPECT_GT(programs.proven, 30);
}

PC_TEST(Lemke, ProvesThatAnInfeasibleProblemHasNoSolution)
{
    Tally tally = compareMany(infeasible, true, 7, 150);
    PC_EXPECT_EQ_INT(tally.all, tally.proven);
}

PC_TEST(Lemke, SolvesFrictionWhereTheConeIsPointed)
{
    pcRandom random = {8};
    Tally tally = {0};
    for (int i = 0; i < 60; i++) {
        PC_CASE("problem %d", i);
        Problem p = friction(&random, i % 3 ? 4 : 8);
        compare(&p, false, &tally);
    }
    PC_EXPECT_EQ_INT(tally.all, tally.solved);
    for (int i = 0; i < 200; i++) {
        PC_CASE("larger problem %d", i);
        Problem p = friction(&random, 4 * (1 + i % 6));
        Answer answer = solve(&p);
        expectSolved(&p, &answer);
    }
}

/* No promise but that an answer is what it claims to be; most solvable ones are solved all the same. */
PC_TEST(Lemke, IsHonestAboutMatricesOfNoKind)
{
    Tally tally = compareMany(anything, false, 9, 200), whole = compareMany(anyWhole, false, 10, 200);
    PC_EXPECT_GE(tally.solved, tally.solvable * 8 / 10);
    PC_EXPECT_GE(whole.solved, whole.solvable * 7 / 10);
}

/* ---- by hand ---- */

/* Murty's example: its path can have 2^n pivots. Solution: z = (0, .., 0, 1), the last one. */
PC_TEST(Lemke, SolvesMurtysExponentialExample)
{
    for (int n = 2; n <= 16; n++) {
        PC_CASE("n = %d", n);
        Problem p = {.n = n, .kind = n};
        for (int i = 0; i < n; i++) {
            p.q[i] = -1.0;
            for (int j = i; j < n; j++) p.M[i * n + j] = i == j ? 1.0 : 2.0;
        }
        Answer answer = solve(&p);
        expectSolved(&p, &answer);
        for (int i = 0; i < n; i++) PC_EXPECT_NEAR(i == n - 1 ? 1.0 : 0.0, answer.z[i], 1e-15);
    }
}

PC_TEST(Lemke, GivesZeroWhereNothingPushes)
{
    pcRandom random = {11};
    Problem p = anything(&random, 7);
    for (int i = 0; i < p.n; i++) p.q[i] = fabs(p.q[i]);
    Answer answer = solve(&p);
    PC_EXPECT_EQ_INT(PC_SOLVED, answer.info.outcome);
    PC_EXPECT_EQ_INT(0, answer.info.iterations);
    for (int i = 0; i < p.n; i++) PC_EXPECT_TRUE(answer.z[i] == 0.0);
}

/* ---- units and order ---- */

static double worstDifference(const Problem* p, const Answer* a, const Answer* b, const double* unit)
{
    double worst = 0.0, size = 1e-300;
    for (int i = 0; i < p->n; i++) size = fmax(size, fabs(a->z[i]));
    for (int i = 0; i < p->n; i++) worst = fmax(worst, fabs(a->z[i] - b->z[i] * unit[i]) / size);
    return worst;
}

/* z = D z', rows by R: M' = R M D, q' = R q; the answer of a definite problem is unique. */
PC_TEST(Lemke, DoesNotDependOnUnits)
{
    pcRandom random = {12};
    for (int k = 0; k < 200; k++) {
        PC_CASE("problem %d", k);
        Problem p = definite(&random, 12), scaled = p;
        double D[MAX], all = pow(10.0, between(&random, -6.0, 6.0));
        for (int i = 0; i < p.n; i++) D[i] = pow(10.0, between(&random, -3.0, 3.0));
        for (int i = 0; i < p.n; i++) {
            for (int j = 0; j < p.n; j++) scaled.M[i * p.n + j] *= D[i] * D[j] * all;
            scaled.q[i] *= D[i] * all;
        }
        Answer a = solve(&p), b = solve(&scaled);
        expectSolved(&p, &a);
        PC_EXPECT_EQ_INT(PC_SOLVED, b.info.outcome);
        PC_EXPECT_LE(worstDifference(&p, &a, &b, D), 1e-10);
    }
}

/* Masses a million times as large, lengths a million times as small: friction rows have units of their own. */
PC_TEST(Lemke, DoesNotDependOnTheUnitsOfFriction)
{
    pcRandom random = {13};
    static const double units[4] = {1e-6, 1e6, 1e-3, 1e9};
    for (int k = 0; k < 100; k++) {
        PC_CASE("problem %d", k);
        Problem p = friction(&random, 4 * (1 + k % 6)), scaled = p;
        double impulse = units[k % 4], speed = units[k / 4 % 4];
        int m = p.n / 4;
        for (int i = 0; i < p.n; i++) {
            for (int j = 0; j < p.n; j++)
                if (i < 3 * m && j < 3 * m) scaled.M[i * p.n + j] *= speed / impulse;
            scaled.q[i] *= speed;
        }
        Answer answer = solve(&scaled);
        expectSolved(&scaled, &answer);
        PC_EXPECT_LE(answer.info.residual, 1e-13);
    }
}

PC_TEST(Lemke, DoesNotDependOnTheOrderOfTheRows)
{
    pcRandom random = {14};
    for (int k = 0; k < 200; k++) {
        PC_CASE("problem %d", k);
        Problem p = definite(&random, 12), moved = p;
        int order[MAX];
        double ones[MAX];
        for (int i = 0; i < p.n; i++) order[i] = i, ones[i] = 1.0;
        for (int i = p.n - 1; i > 0; i--) {
            int j = integerBetween(&random, 0, i), swap = order[i];
            order[i] = order[j], order[j] = swap;
        }
        for (int i = 0; i < p.n; i++) {
            moved.q[i] = p.q[order[i]];
            for (int j = 0; j < p.n; j++) moved.M[i * p.n + j] = p.M[order[i] * p.n + order[j]];
        }
        Answer a = solve(&p), b = solve(&moved), back = b;
        for (int i = 0; i < p.n; i++) back.z[order[i]] = b.z[i];
        expectSolved(&p, &a);
        PC_EXPECT_LE(worstDifference(&p, &a, &back, ones), 1e-10);
    }
}

/* From 1e-300 to 1e300, and the smallest doubles there are: no answer is promised, but that it is one. */
PC_TEST(Lemke, StaysDefinedAtTheEdgeOfDoubles)
{
    pcRandom random = {17};
    for (int k = 0; k < 2000; k++) {
        PC_CASE("problem %d", k);
        Problem p = anything(&random, 1 + k % 9);
        double range = k % 2 ? 300.0 : 30.0;
        for (int i = 0; i < p.n * p.n; i++) p.M[i] *= k % 5 ? pow(10.0, between(&random, -range, range)) : 5e-324;
        for (int i = 0; i < p.n; i++) p.q[i] *= pow(10.0, between(&random, -range, range));
        Answer answer = solve(&p);
        PC_EXPECT_TRUE(answer.info.residual >= 0.0);
        for (int i = 0; i < p.n; i++) PC_EXPECT_TRUE(answer.z[i] >= 0.0 && !isinf(answer.z[i]));
        for (int i = 0; i < p.n; i++) PC_EXPECT_TRUE(answer.ray[i] >= 0.0 && answer.ray[i] <= 1.0);
    }
}

/* ---- guesses ---- */

PC_TEST(Lemke, NeedsNoPivotFromItsOwnBasis)
{
    pcRandom random = {15};
    for (int k = 0; k < 200; k++) {
        PC_CASE("problem %d", k);
        Problem p = k % 2 ? friction(&random, 24) : deficient(&random, 12);
        Answer cold = solve(&p);
        if (cold.info.outcome != PC_SOLVED) continue;
        Answer warm = solveFrom(&p, cold.basis);
        expectSolved(&p, &warm);
        PC_EXPECT_EQ_INT(0, warm.info.iterations);
    }
}

PC_TEST(Lemke, IsNotMisledByAWrongGuess)
{
    pcRandom random = {16};
    for (int k = 0; k < 400; k++) {
        PC_CASE("problem %d", k);
        Problem p = k % 2 ? friction(&random, 24) : deficient(&random, 12);
        unsigned char guess[MAX];
        for (int i = 0; i < p.n; i++) guess[i] = (unsigned char)integerBetween(&random, 0, 1);
        Answer cold = solve(&p), warm = solveFrom(&p, guess);
        PC_EXPECT_EQ_INT(cold.info.outcome, warm.info.outcome);
        expectDefined(&p, &warm);
    }
}
