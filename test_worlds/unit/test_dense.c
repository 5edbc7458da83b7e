/* Factorizations and panel products, judged by multiplying out. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "linalg/dense.h"
#include "linalg/panel.h"
#include "test_worlds/fuzz/cases.h"

#define MAX 40

typedef struct Matrix {
    int n, ld;
    double a[MAX * (MAX + 3)];
} Matrix;

static double at(const Matrix* m, int i, int j) { return m->a[i + j * m->ld]; }

static Matrix randomMatrix(pcRandom* random, int n)
{
    Matrix m = {.n = n, .ld = n + 3};
    for (int i = 0; i < n * m.ld; i++) m.a[i] = 2.0 * pcRandomUnit(random) - 1.0;
    return m;
}

/* A A' of n x rank, plus `shift` on the diagonal. */
static Matrix gram(pcRandom* random, int n, int rank, double shift)
{
    Matrix A = randomMatrix(random, n), m = {.n = n, .ld = n + 3};
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            m.a[i + j * m.ld] = i == j ? shift : 0.0;
            for (int k = 0; k < rank; k++) m.a[i + j * m.ld] += at(&A, i, k) * at(&A, j, k);
        }
    return m;
}

static double errorOf(const Matrix* m, bool transposed, const double* x, const double* b)
{
    double worst = 0.0;
    for (int i = 0; i < m->n; i++) {
        double sum = -b[i], size = fabs(b[i]);
        for (int j = 0; j < m->n; j++) {
            double term = (transposed ? at(m, j, i) : at(m, i, j)) * x[j];
            sum += term, size += fabs(term);
        }
        worst = fmax(worst, fabs(sum) / size);
    }
    return worst;
}

/* The largest entry of A X - 1; of X only the lower triangle counts if `lower`. */
static double errorOfInverse(const Matrix* A, const Matrix* X, bool lower)
{
    double worst = 0.0;
    for (int i = 0; i < A->n; i++)
        for (int j = 0; j < A->n; j++) {
            double sum = i == j ? -1.0 : 0.0;
            for (int k = 0; k < A->n; k++) sum += at(A, i, k) * (lower && k < j ? at(X, j, k) : at(X, k, j));
            worst = fmax(worst, fabs(sum));
        }
    return worst;
}

PC_TEST(Dense, LuSolvesBothSidesAndInverts)
{
    pcRandom random = {21};
    for (int n = 1; n <= MAX; n += 3) {
        PC_CASE("n = %d", n);
        Matrix A = randomMatrix(&random, n), LU = A;
        int pivots[MAX];
        double b[MAX], x[MAX], work[32 * MAX];
        for (int i = 0; i < n; i++) b[i] = pcRandomUnit(&random), A.a[i + i * A.ld] += 2.0, LU.a[i + i * A.ld] += 2.0;
        PC_ASSERT_EQ_INT(0, pcLuFactor(n, LU.a, LU.ld, pivots));
        for (int side = 0; side < 2; side++) {
            memcpy(x, b, sizeof x);
            PC_EXPECT_EQ_INT(0, pcLuSolve(n, LU.a, LU.ld, pivots, side == 1, x));
            PC_EXPECT_LE(errorOf(&A, side == 1, x, b), 1e-13);
        }
        PC_EXPECT_EQ_INT(0, pcLuInvert(n, LU.a, LU.ld, pivots, work, 32 * n));
        PC_EXPECT_LE(errorOfInverse(&A, &LU, false), 1e-11);
    }
}

PC_TEST(Dense, LuSaysWherePivotsVanish)
{
    double A[4] = {1.0, 2.0, 2.0, 4.0};
    int pivots[2];
    PC_EXPECT_EQ_INT(2, pcLuFactor(2, A, 2, pivots));
}

PC_TEST(Dense, CholeskySolvesAndInverts)
{
    pcRandom random = {22};
    for (int n = 1; n <= MAX; n += 3) {
        PC_CASE("n = %d", n);
        Matrix A = gram(&random, n, n, 1.0), L = A;
        double b[MAX], x[MAX];
        for (int i = 0; i < n; i++) x[i] = b[i] = pcRandomUnit(&random);
        PC_ASSERT_EQ_INT(0, pcCholeskyFactor(n, L.a, L.ld));
        PC_EXPECT_EQ_INT(0, pcCholeskySolve(n, L.a, L.ld, x));
        PC_EXPECT_LE(errorOf(&A, false, x, b), 1e-13);
        PC_EXPECT_EQ_INT(0, pcCholeskyInvert(n, L.a, L.ld));
        PC_EXPECT_LE(errorOfInverse(&A, &L, true), 1e-11);
    }
}

PC_TEST(Dense, CholeskyRefusesWhatIsNotDefinite)
{
    double A[4] = {1.0, 2.0, 2.0, 1.0};
    PC_EXPECT_EQ_INT(2, pcCholeskyFactor(2, A, 2));
}

/* P'A P = L L' with as many columns as the rank. */
PC_TEST(Dense, PivotedCholeskyFindsTheRank)
{
    pcRandom random = {23};
    for (int rank = 0; rank <= 12; rank++) {
        PC_CASE("rank %d", rank);
        Matrix A = gram(&random, 12, rank, 0.0), L = A;
        int order[MAX], found = -1;
        double work[2 * MAX], worst = 0.0;
        PC_ASSERT_EQ_INT(0, pcCholeskyPivoted(12, L.a, L.ld, 1e-12, order, &found, work));
        PC_EXPECT_EQ_INT(rank, found);
        for (int i = 0; i < 12; i++)
            for (int j = 0; j <= i; j++) {
                double sum = -at(&A, order[i], order[j]);
                for (int k = 0; k < found && k <= j; k++) sum += at(&L, i, k) * at(&L, j, k);
                worst = fmax(worst, fabs(sum));
            }
        PC_EXPECT_LE(worst, 1e-11);
    }
}

/* What is left is across everything that A reaches, A'(A x - b) = 0; and the shortest x lies in what A' reaches, where A is symmetric: A y = x. */
PC_TEST(Dense, LeastSquaresLeavesTheLeastByTheShortestStep)
{
    pcRandom random = {24};
    for (int rank = 1; rank <= 12; rank++) {
        PC_CASE("rank %d", rank);
        Matrix A = gram(&random, 12, rank, 0.0), work = A;
        double b[MAX], x[MAX], y[MAX], left[MAX], room[8 * MAX];
        int pivots[MAX];
        for (int i = 0; i < 12; i++) x[i] = b[i] = pcRandomUnit(&random);
        PC_ASSERT_EQ_INT(0, pcLeastSquares(12, work.a, work.ld, x, 1e-12, pivots, room, 8 * 12));
        for (int i = 0; i < 12; i++) {
            left[i] = -b[i], y[i] = x[i];
            for (int j = 0; j < 12; j++) left[i] += at(&A, i, j) * x[j];
        }
        for (int i = 0; i < 12; i++) {
            double sum = 0.0;
            for (int j = 0; j < 12; j++) sum += at(&A, j, i) * left[j];
            PC_EXPECT_NEAR(0.0, sum, 1e-9);
        }
        work = A;
        PC_ASSERT_EQ_INT(0, pcLeastSquares(12, work.a, work.ld, y, 1e-12, pivots, room, 8 * 12));
        PC_EXPECT_LE(errorOf(&A, false, y, x), 1e-7);
    }
}

PC_TEST(Panel, MultipliesAsTheDefinitionSays)
{
    pcRandom random = {24};
    for (int m = 0; m <= 37; m++) {
        PC_CASE("m = %d", m);
        Matrix H = randomMatrix(&random, MAX), before = H;
        int n = (m * 7) % 11;
        pcPanel panel = {m, n, H.ld, H.a};
        double u[MAX], f[MAX], y[MAX] = {0.0}, v[MAX];
        for (int i = 0; i < MAX; i++) u[i] = pcRandomUnit(&random), f[i] = i % 3 ? pcRandomUnit(&random) : 0.0;
        pcPanelTimes(&panel, f, y);
        pcPanelTransposedTimes(&panel, u, v);
        pcPanelRankOne(&panel, u, f);
        for (int i = 0; i < MAX; i++) {
            double sum = 0.0;
            for (int j = 0; j < n; j++) sum += at(&before, i, j) * f[j];
            PC_EXPECT_NEAR(i < m ? sum : 0.0, y[i], 1e-14);
            for (int j = 0; j < MAX; j++) PC_EXPECT_NEAR(at(&before, i, j) + (i < m && j < n ? u[i] * f[j] : 0.0), at(&H, i, j), 1e-15);
        }
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int i = 0; i < m; i++) sum += at(&before, i, j) * u[i];
            PC_EXPECT_NEAR(sum, v[j], 1e-14);
        }
    }
}

/* ---- threads ---- */

#define SOLVES 6000
#define LARGEST 48

/* Solves one of four systems, over and over; counts the answers that differ in a bit from those of a thread alone. */
typedef struct Solver {
    const double (*alone)[LARGEST];
    int wrong;
} Solver;

static void solveSystem(int which, double* x)
{
    int n = 9 + 13 * which, pivots[LARGEST];
    double A[LARGEST * LARGEST];
    pcRandom random = {(uint64_t)which + 1};
    for (int i = 0; i < n * n; i++) A[i] = pcRandomUnit(&random) + (i % (n + 1) == 0 ? n : 0);
    for (int i = 0; i < n; i++) x[i] = 1.0;
    if (pcLuFactor(n, A, n, pivots) != 0 || pcLuSolve(n, A, n, pivots, false, x) != 0) x[0] = NAN;
}

static void* solveMany(void* argument)
{
    Solver* solver = argument;
    for (int k = 0; k < SOLVES; k++) {
        double x[LARGEST];
        solveSystem(k % 4, x);
        solver->wrong += memcmp(x, solver->alone[k % 4], (size_t)(9 + 13 * (k % 4)) * sizeof *x) != 0;
    }
    return NULL;
}

PC_TEST(Dense, GivesTheSameBitsOnManyThreadsAtOnce)
{
    static double alone[4][LARGEST];
    for (int which = 0; which < 4; which++) {
        solveSystem(which, alone[which]);
        PC_ASSERT_TRUE(isfinite(alone[which][0]));
    }
    pthread_t threads[4];
    Solver solvers[4];
    for (int i = 0; i < 4; i++) {
        solvers[i] = (Solver){(const double(*)[LARGEST])alone, 0};
        PC_ASSERT_EQ_INT(0, pthread_create(&threads[i], NULL, solveMany, &solvers[i]));
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        PC_EXPECT_EQ_INT(0, solvers[i].wrong);
    }
}
