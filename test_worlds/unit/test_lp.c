/*
 * Linear programs in few variables, judged by what needs no solver: in n variables an optimum lies in a corner of n rows, so all
 * corners can be tried; and it is bounded exactly if -c is a non-negative combination of n rows, so all of those can be tried too. Both
 * in long double. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "solver/lp.h"
#include "test_worlds/fuzz/cases.h"

#define MAX_ROWS 64

typedef struct Problem {
    int n, m;
    double A[MAX_ROWS * PC_LP_MAX], b[MAX_ROWS], c[PC_LP_MAX];
    double start[PC_LP_MAX]; /* feasible */
} Problem;

typedef struct Answer {
    pcSolveInfo info;
    double x[PC_LP_MAX], y[PC_LP_MAX];
    int active[PC_LP_MAX];
} Answer;

static double between(pcRandom* random, double low, double high) { return low + (high - low) * pcRandomUnit(random); }
static int integerBetween(pcRandom* random, int low, int high) { return low + (int)(pcRandomBits(random) % (uint64_t)(high - low + 1)); }

static const double* rowOf(const Problem* p, int k) { return p->A + (size_t)k * (size_t)p->n; }

static void addRow(Problem* p, const double* a, double b)
{
    memcpy(p->A + (size_t)p->m * (size_t)p->n, a, (size_t)p->n * sizeof *a);
    p->b[p->m++] = b;
}

static Answer solve(const Problem* p)
{
    Answer answer;
    memset(&answer, 0, sizeof answer);
    memcpy(answer.x, p->start, sizeof answer.x);
    pcLp lp = {p->n, p->m, p->A, p->b, p->c};
    answer.info = pcLpSolve(&lp, answer.x, answer.active, answer.y);
    return answer;
}

static long double product(int n, const double* a, const double* x)
{
    long double sum = 0.0L;
    for (int i = 0; i < n; i++) sum += (long double)a[i] * x[i];
    return sum;
}

static double sizeOfProduct(int n, const double* a, const double* x)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += fabs(a[i] * x[i]);
    return sum;
}

/* ---- what an answer must satisfy, whoever found it ---- */

/* The size of row k where x is as large as its largest part: a part that is 0 but for rounding must not be measured by itself. */
static double sizeOfRow(const Problem* p, int k, const double* x)
{
    double sum = 0.0, largest = 0.0;
    for (int i = 0; i < p->n; i++) sum += fabs(rowOf(p, k)[i]), largest = fmax(largest, fabs(x[i]));
    return fabs(p->b[k]) + sum * largest + 1e-300;
}

static double worstViolation(const Problem* p, const double* x)
{
    double worst = 0.0;
    for (int k = 0; k < p->m; k++) worst = fmax(worst, (double)(product(p->n, rowOf(p, k), x) - p->b[k]) / sizeOfRow(p, k, x));
    return worst;
}

/* y >= 0 and sum y a = -c prove that no feasible point is better than -sum y b. */
static void expectProof(const Problem* p, const Answer* answer, double tolerance)
{
    double size = 1e-300;
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < p->n; j++) size = fmax(size, fabs(answer->y[i] * rowOf(p, answer->active[i])[j]));
    for (int j = 0; j < p->n; j++) {
        long double sum = p->c[j];
        for (int i = 0; i < p->n; i++) sum += (long double)answer->y[i] * rowOf(p, answer->active[i])[j];
        PC_EXPECT_LE(fabs((double)sum), tolerance * size);
        PC_EXPECT_GE(answer->y[j], -tolerance * size);
    }
}

static void expectActiveRowsMeet(const Problem* p, const Answer* answer, double tolerance)
{
    for (int i = 0; i < p->n; i++) {
        int k = answer->active[i];
        PC_ASSERT_TRUE(k >= 0 && k < p->m);
        for (int j = 0; j < i; j++) PC_EXPECT_TRUE(answer->active[j] != k);
        PC_EXPECT_LE(fabs((double)(product(p->n, rowOf(p, k), answer->x) - p->b[k])), tolerance * sizeOfRow(p, k, answer->x));
    }
}

/* A corner of nearly parallel rows loses digits by their angle: random problems of this size have angles down to about 1e-3. */
static void expectSolved(const Problem* p, const Answer* answer)
{
    PC_ASSERT_EQ_INT(PC_SOLVED, answer->info.outcome);
    PC_EXPECT_LE(worstViolation(p, answer->x), 1e-12);
    PC_EXPECT_LE(answer->info.residual, 1e-12); /* what is solved says so */
    PC_EXPECT_GT(answer->info.iterations, 0);
    expectActiveRowsMeet(p, answer, 1e-11);
    expectProof(p, answer, 1e-11);
}

/* ---- by trying everything ---- */

/* Gauss-Jordan with full pivoting; false if singular to rounding. */
static bool solveSquare(int n, long double M[PC_LP_MAX][PC_LP_MAX + 1])
{
    for (int c = 0; c < n; c++) {
        int p = c;
        for (int i = c + 1; i < n; i++)
            if (fabsl(M[i][c]) > fabsl(M[p][c])) p = i;
        if (!(fabsl(M[p][c]) > 1e-13L)) return false;
        for (int j = 0; j <= n; j++) {
            long double swap = M[c][j];
            M[c][j] = M[p][j], M[p][j] = swap;
        }
        for (int i = 0; i < n; i++) {
            long double factor = M[i][c] / M[c][c];
            for (int j = c; i != c && j <= n; j++) M[i][j] -= factor * M[c][j];
        }
    }
    for (int i = 0; i < n; i++) M[i][n] /= M[i][i];
    return true;
}

typedef struct Tried {
    bool anyCorner, bounded;
    long double least;
} Tried;

static void tryCorner(const Problem* p, const int* rows, Tried* tried)
{
    long double M[PC_LP_MAX][PC_LP_MAX + 1], value = 0.0L;
    double x[PC_LP_MAX];
    for (int i = 0; i < p->n; i++) {
        for (int j = 0; j < p->n; j++) M[i][j] = rowOf(p, rows[i])[j];
        M[i][p->n] = p->b[rows[i]];
    }
    if (!solveSquare(p->n, M)) return;
    for (int i = 0; i < p->n; i++) x[i] = (double)M[i][p->n], value += p->c[i] * M[i][p->n];
    if (worstViolation(p, x) > 1e-12) return;
    if (!tried->anyCorner || value < tried->least) tried->least = value;
    tried->anyCorner = true;
}

static void tryProof(const Problem* p, const int* rows, Tried* tried)
{
    long double M[PC_LP_MAX][PC_LP_MAX + 1];
    for (int i = 0; i < p->n; i++) {
        for (int j = 0; j < p->n; j++) M[i][j] = rowOf(p, rows[j])[i];
        M[i][p->n] = -p->c[i];
    }
    if (!solveSquare(p->n, M)) return;
    bool proof = true;
    for (int i = 0; i < p->n; i++) proof = proof && M[i][p->n] >= -1e-12L;
    tried->bounded = tried->bounded || proof;
}

static Tried tryEverything(const Problem* p)
{
    Tried tried = {false, false, 0.0L};
    int rows[PC_LP_MAX] = {0, 1, 2, 3};
    for (;;) {
        tryCorner(p, rows, &tried);
        tryProof(p, rows, &tried);
        int at = p->n - 1;
        while (at >= 0 && rows[at] == p->m - p->n + at) at--;
        if (at < 0) return tried;
        rows[at]++;
        for (int i = at + 1; i < p->n; i++) rows[i] = rows[i - 1] + 1;
    }
}

static void expectAsTried(const Problem* p)
{
    Tried tried = tryEverything(p);
    Answer answer = solve(p);
    if (!tried.bounded) {
        PC_EXPECT_EQ_INT(PC_RAY, answer.info.outcome);
        return;
    }
    expectSolved(p, &answer);
    PC_EXPECT_TRUE(tried.anyCorner);
    PC_EXPECT_NEAR((double)tried.least, (double)product(p->n, p->c, answer.x), 1e-11 * (1.0 + sizeOfProduct(p->n, p->c, answer.x)));
}

/* ---- by hand ---- */

PC_TEST(Lp, FindsTheCornerOfATriangle)
{
    Problem p = {.n = 2, .c = {-1.0, -2.0}, .start = {0.25, 0.25}};
    addRow(&p, (double[]){-1.0, 0.0}, 0.0);
    addRow(&p, (double[]){0.0, -1.0}, 0.0);
    addRow(&p, (double[]){1.0, 1.0}, 3.0);
    Answer answer = solve(&p);
    expectSolved(&p, &answer);
    PC_EXPECT_NEAR(0.0, answer.x[0], 1e-15);
    PC_EXPECT_NEAR(3.0, answer.x[1], 1e-15);
}

PC_TEST(Lp, WorksInOneVariable)
{
    Problem p = {.n = 1, .c = {2.0}, .start = {5.0}};
    addRow(&p, (double[]){1.0}, 9.0);
    addRow(&p, (double[]){-2.0}, 6.0); /* x >= -3 */
    addRow(&p, (double[]){-1.0}, 4.0);
    Answer answer = solve(&p);
    expectSolved(&p, &answer);
    PC_EXPECT_NEAR(-3.0, answer.x[0], 1e-15);
    PC_EXPECT_NEAR(1.0, answer.y[0], 1e-15);
    PC_EXPECT_EQ_INT(1, answer.active[0]);
}

PC_TEST(Lp, FindsEveryCornerOfACube)
{
    for (int corner = 0; corner < 8; corner++) {
        PC_CASE("corner %d", corner);
        Problem p = {.n = 3, .start = {0.1, -0.2, 0.3}};
        for (int axis = 0; axis < 3; axis++) {
            double a[3] = {0.0, 0.0, 0.0};
            a[axis] = 1.0, addRow(&p, a, 1.0);
            a[axis] = -1.0, addRow(&p, a, 1.0);
            p.c[axis] = (corner >> axis & 1) ? -1.0 - axis : 1.0 + axis;
        }
        Answer answer = solve(&p);
        expectSolved(&p, &answer);
        for (int axis = 0; axis < 3; axis++) PC_EXPECT_NEAR((corner >> axis & 1) ? 1.0 : -1.0, answer.x[axis], 1e-15);
    }
}

/* The deepest point of a 3-4-5 triangular prism of height 10: its inscribed circle has radius 1, and the prism lets it slide along z. */
PC_TEST(Lp, FindsTheInscribedRadiusWhereTheOptimumIsAWholeEdge)
{
    Problem p = {.n = 4, .c = {0.0, 0.0, 0.0, -1.0}, .start = {0.5, 0.5, 0.5, 0.1}};
    addRow(&p, (double[]){-1.0, 0.0, 0.0, 1.0}, 0.0);
    addRow(&p, (double[]){0.0, -1.0, 0.0, 1.0}, 0.0);
    addRow(&p, (double[]){0.8, 0.6, 0.0, 1.0}, 2.4);
    addRow(&p, (double[]){0.0, 0.0, -1.0, 1.0}, 0.0);
    addRow(&p, (double[]){0.0, 0.0, 1.0, 1.0}, 10.0);
    Answer answer = solve(&p);
    expectSolved(&p, &answer);
    PC_EXPECT_NEAR(1.0, answer.x[3], 1e-15);
    PC_EXPECT_NEAR(1.0, answer.x[0], 1e-15);
    PC_EXPECT_NEAR(1.0, answer.x[1], 1e-15);
    PC_EXPECT_TRUE(answer.x[2] >= 1.0 - 1e-12 && answer.x[2] <= 9.0 + 1e-12);
}

PC_TEST(Lp, SaysRayWhereTheMinimumIsUnbounded)
{
    Problem p = {.n = 2, .c = {-1.0, 0.0}, .start = {1.0, 0.5}};
    addRow(&p, (double[]){0.0, 1.0}, 1.0);
    addRow(&p, (double[]){0.0, -1.0}, 0.0);
    addRow(&p, (double[]){-1.0, 0.0}, 0.0);
    Answer answer = solve(&p);
    PC_EXPECT_EQ_INT(PC_RAY, answer.info.outcome);
    PC_EXPECT_FALSE(isnan(answer.info.residual));
    PC_EXPECT_EQ_INT(0, memcmp(p.start, answer.x, sizeof p.start)); /* what is no answer is not written */
}

PC_TEST(Lp, IsNotSolvedWhereAWholeLineIsFeasible)
{
    Problem p = {.n = 2, .c = {0.0, 1.0}, .start = {3.0, 0.5}};
    addRow(&p, (double[]){0.0, 1.0}, 1.0);
    addRow(&p, (double[]){0.0, -1.0}, 0.0);
    Answer answer = solve(&p);
    PC_EXPECT_TRUE(answer.info.outcome != PC_SOLVED && answer.info.outcome != PC_BAD_INPUT);
    PC_EXPECT_FALSE(isnan(answer.info.residual));
}

PC_TEST(Lp, RefusesSizesItCannotSolve)
{
    Problem p = {.n = 3, .c = {1.0, 1.0, 1.0}};
    addRow(&p, (double[]){1.0, 0.0, 0.0}, 1.0);
    addRow(&p, (double[]){0.0, 1.0, 0.0}, 1.0);
    PC_EXPECT_EQ_INT(PC_BAD_INPUT, solve(&p).info.outcome); /* two rows make no corner in space */
    p.n = 0;
    PC_EXPECT_EQ_INT(PC_BAD_INPUT, solve(&p).info.outcome);
    p.n = 5;
    PC_EXPECT_EQ_INT(PC_BAD_INPUT, solve(&p).info.outcome);
}

/* ---- random ---- */

static Problem randomProblem(pcRandom* random, int n, int m)
{
    Problem p = {.n = n};
    for (int i = 0; i < n; i++) p.start[i] = between(random, -2.0, 2.0), p.c[i] = between(random, -1.0, 1.0);
    for (int k = 0; k < m; k++) {
        double a[PC_LP_MAX];
        for (int i = 0; i < n; i++) a[i] = between(random, -1.0, 1.0);
        addRow(&p, a, (double)product(n, a, p.start) + between(random, 0.01, 1.0));
    }
    return p;
}

PC_TEST(Lp, AgreesWithTryingEveryCornerOnRandomProblems)
{
    pcRandom random = {11};
    int bounded = 0, all = 0;
    for (int n = 2; n <= 4; n++)
        for (int m = n; m <= 12; m++)
            for (int i = 0; i < 60; i++, all++) {
                PC_CASE("n=%d m=%d problem %d", n, m, i);
                Problem p = randomProblem(&random, n, m);
                bounded += tryEverything(&p).bounded;
                expectAsTried(&p);
            }
    PC_EXPECT_GT(bounded, all / 5); /* else the comparison would be of one kind only */
    PC_EXPECT_LT(bounded, all - all / 5);
}

/* Small whole numbers: most corners have more than n rows, rows repeat, slopes are exactly zero. */
static Problem integerProblem(pcRandom* random, int n, int m)
{
    Problem p = {.n = n};
    for (int i = 0; i < n; i++) p.start[i] = integerBetween(random, -2, 2), p.c[i] = integerBetween(random, -2, 2);
    while (p.m < m) {
        double a[PC_LP_MAX], size = 0.0;
        for (int i = 0; i < n; i++) a[i] = integerBetween(random, -1, 1), size += fabs(a[i]);
        if (size > 0.0) addRow(&p, a, (double)product(n, a, p.start) + integerBetween(random, 0, 2));
    }
    return p;
}

static bool rowsSpan(const Problem* p)
{
    Problem all = *p;
    for (int k = 0; k < all.m; k++) all.b[k] = 0.0;
    memset(all.start, 0, sizeof all.start);
    return tryEverything(&all).anyCorner; /* the cone of the rows has its tip, and so some n rows are independent */
}

PC_TEST(Lp, AgreesWithTryingEveryCornerOnWholeNumbers)
{
    pcRandom random = {12};
    int tried = 0;
    for (int n = 2; n <= 4; n++)
        for (int m = n; m <= 12; m++)
            for (int i = 0; i < 60; i++) {
                PC_CASE("n=%d m=%d problem %d", n, m, i);
                Problem p = integerProblem(&random, n, m);
                if (!rowsSpan(&p)) continue;
                expectAsTried(&p);
                tried++;
            }
    PC_EXPECT_GT(tried, 1000);
}

/* ---- degenerate ---- */

/* All rows through one point; e = (1, 1, ..) points out of every one of them, so that start - e is inside. c is a sum of rows: the
 * point is optimal, and the proof is known to exist. */
static Problem fanOfRows(pcRandom* random, int n, int m, const double* corner)
{
    Problem p = {.n = n};
    while (p.m < m) {
        double a[PC_LP_MAX], sum = 0.0;
        for (int i = 0; i < n; i++) a[i] = integerBetween(random, -4, 4), sum += a[i];
        for (int i = 0; i < n; i++) a[i] = sum < 0.0 ? -a[i] : a[i];
        if (sum != 0.0) addRow(&p, a, (double)product(n, a, corner));
    }
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < n; i++) p.c[i] -= rowOf(&p, k)[i];
    return p;
}

static void expectCornerFrom(Problem* p, const double* corner, double inwards)
{
    for (int i = 0; i < p->n; i++) p->start[i] = corner[i] - inwards;
    Answer answer = solve(p);
    PC_ASSERT_EQ_INT(PC_SOLVED, answer.info.outcome);
    PC_EXPECT_LE(answer.info.residual, 1e-14);
    PC_EXPECT_NEAR((double)product(p->n, p->c, corner), (double)product(p->n, p->c, answer.x), 1e-12);
    expectProof(p, &answer, 1e-12);
}

PC_TEST(Lp, IsNotConfusedByManyRowsThroughOneCorner)
{
    static const double corners[2][PC_LP_MAX] = {{3.0, -2.0, 5.0, 1.0}, {0.0, 0.0, 0.0, 0.0}};
    static const double inwards[3] = {7.0, 0.125, 0.0};
    pcRandom random = {13};
    for (int i = 0; i < 600; i++) {
        int n = 2 + i % 3, m = 8 + i % 50;
        const double* corner = corners[i / 3 % 2];
        Problem p = fanOfRows(&random, n, m, corner);
        for (int from = 0; from < 3; from++) {
            PC_CASE("problem %d, n=%d m=%d, corner %g, from %g inside", i, n, m, corner[0], inwards[from]);
            expectCornerFrom(&p, corner, inwards[from]);
        }
    }
}

PC_TEST(Lp, TakesTheSameRowTwentyTimes)
{
    Problem p = {.n = 3, .c = {0.0, 0.0, 1.0}, .start = {0.0, 0.0, 1.0}};
    for (int i = 0; i < 20; i++) addRow(&p, (double[]){0.0, 0.0, -1.0}, 0.0);
    addRow(&p, (double[]){1.0, 0.0, 0.0}, 1.0);
    addRow(&p, (double[]){-1.0, -1.0, 0.0}, 1.0);
    addRow(&p, (double[]){-1.0, 1.0, 0.0}, 1.0);
    Answer answer = solve(&p);
    expectSolved(&p, &answer);
    PC_EXPECT_NEAR(0.0, answer.x[2], 1e-15);
}

PC_TEST(Lp, DoesNotDependOnTheUnitsOfItsRows)
{
    pcRandom random = {14};
    for (int i = 0; i < 200; i++) {
        PC_CASE("problem %d", i);
        Problem p = randomProblem(&random, 4, 12), scaled = p;
        for (int k = 0; k < p.m; k++) {
            double unit = pow(10.0, between(&random, -6.0, 6.0));
            for (int j = 0; j < 4; j++) scaled.A[4 * k + j] *= unit;
            scaled.b[k] *= unit;
        }
        Answer a = solve(&p), b = solve(&scaled);
        PC_EXPECT_EQ_INT(a.info.outcome, b.info.outcome);
        double size = 1.0 + sizeOfProduct(4, p.c, a.x);
        if (a.info.outcome == PC_SOLVED) PC_EXPECT_NEAR((double)product(4, p.c, a.x), (double)product(4, p.c, b.x), 1e-11 * size);
    }
}
