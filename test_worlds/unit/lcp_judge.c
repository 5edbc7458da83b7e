#include "test_worlds/unit/lcp_judge.h"

#include <math.h>
#include <stddef.h>

/* What is 0 but for the rounding of long double in the small problems tried here, whose numbers are about 1. */
static const long double ZERO = 1e-12L;
static const long double TOLERANCE = 1e-8L;

static long double at(int n, const double* M, int i, int j) { return M[(size_t)i * (size_t)n + (size_t)j]; }

/* A product, and its size if all unknowns were 1. */
typedef struct Sum {
    long double value, size;
} Sum;

static void add(Sum* sum, long double factor, double x) { sum->value += factor * x, sum->size += fabsl(factor); }

static Sum rowTimes(int n, const double* M, int i, const double* z)
{
    Sum sum = {0.0L, 0.0L};
    for (int j = 0; j < n; j++) add(&sum, at(n, M, i, j), z[j]);
    return sum;
}

static Sum columnTimes(int n, const double* M, int j, const double* u)
{
    Sum sum = {0.0L, 0.0L};
    for (int i = 0; i < n; i++) add(&sum, at(n, M, i, j), u[i]);
    return sum;
}

/* The largest of each kind. */
static void largest(int n, int kind, const double* x, long double out[2])
{
    out[0] = out[1] = 0.0L;
    for (int i = 0; i < n; i++) out[i >= kind] = fmaxl(out[i >= kind], fabsl((long double)x[i]));
}

/* What an unknown of this kind must be to move rows of the first kind by 1. */
static long double weightless(int n, int kind, const double* M, int which)
{
    long double most = 0.0L;
    for (int i = 0; i < kind; i++)
        for (int j = which ? kind : 0; j < (which ? n : kind); j++) most = fmaxl(most, fabsl(at(n, M, i, j)));
    return most > 0.0L ? 1.0L / most : 0.0L;
}

double pcJudgeSolution(int n, int kind, const double* M, const double* q, const double* z)
{
    long double Z[2], Q[2], worst = 0.0L;
    largest(n, kind, z, Z), largest(n, kind, q, Q);
    for (int k = 0; k < 2; k++) Z[k] = fmaxl(Z[k], weightless(n, kind, M, k) * fmaxl(Q[0], Q[1]));
    for (int i = 0; i < n; i++) {
        if (!(z[i] >= 0.0) || isinf(z[i])) return (double)INFINITY;
        long double w = rowTimes(n, M, i, z).value + q[i], W = Q[i >= kind];
        for (int j = 0; j < n; j++) W += fabsl(at(n, M, i, j)) * Z[j >= kind];
        if (!(W > 0.0L)) continue;
        worst = fmaxl(worst, w < 0.0L ? -w / W : z[i] > 0.0 ? fminl(w / W, z[i] / Z[i >= kind]) : 0.0L);
    }
    return (double)worst;
}

/* u >= 0, its largest entry 1. */
static bool isDirection(int n, const double* u)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        if (!(u[i] >= 0.0)) return false;
        most = fmax(most, u[i]);
    }
    return most == 1.0;
}

bool pcJudgeInfeasible(int n, const double* M, const double* q, const double* u)
{
    Sum qu = {0.0L, 0.0L};
    if (!isDirection(n, u)) return false;
    for (int i = 0; i < n; i++) add(&qu, q[i], u[i]);
    if (!(qu.value < -TOLERANCE * qu.size)) return false;
    for (int j = 0; j < n; j++) {
        Sum column = columnTimes(n, M, j, u);
        if (!(column.value <= TOLERANCE * column.size)) return false;
    }
    return true;
}

bool pcJudgeRay(int n, const double* M, const double* u)
{
    if (!isDirection(n, u)) return false;
    for (int i = 0; i < n; i++) {
        Sum row = rowTimes(n, M, i, u);
        if (!(row.value >= -TOLERANCE * row.size)) return false;
        if (u[i] > (double)TOLERANCE && !(row.value <= TOLERANCE * row.size)) return false;
    }
    return true;
}

/* ---- by trying everything ---- */

/* Gauss-Jordan with row pivoting; false if singular. */
static bool solveSquare(int n, long double A[PC_JUDGE_MAX][PC_JUDGE_MAX + 1])
{
    for (int c = 0; c < n; c++) {
        int p = c;
        for (int i = c + 1; i < n; i++)
            if (fabsl(A[i][c]) > fabsl(A[p][c])) p = i;
        if (!(fabsl(A[p][c]) > ZERO)) return false;
        for (int j = 0; j <= n; j++) {
            long double swap = A[c][j];
            A[c][j] = A[p][j], A[p][j] = swap;
        }
        for (int i = 0; i < n; i++) {
            long double factor = i == c ? 0.0L : A[i][c] / A[c][c];
            for (int j = c; factor != 0.0L && j <= n; j++) A[i][j] -= factor * A[c][j];
        }
    }
    for (int i = 0; i < n; i++) A[i][n] /= A[i][i];
    return true;
}

/* The corner where n of the 2n inequalities hold with equality; chosen[k] < n: z, else w. */
static void tryCorner(int n, const double* M, const double* q, const int* chosen, pcJudged* judged)
{
    long double A[PC_JUDGE_MAX][PC_JUDGE_MAX + 1] = {{0.0L}};
    for (int k = 0; k < n; k++) {
        int i = chosen[k] % n;
        for (int j = 0; j < n; j++) A[k][j] = chosen[k] < n ? (long double)(i == j) : at(n, M, i, j);
        A[k][n] = chosen[k] < n ? 0.0L : -(long double)q[i];
    }
    if (!solveSquare(n, A)) return;
    bool complementary = true;
    for (int i = 0; i < n; i++) {
        long double w = q[i], size = fabsl(w) + 1.0L;
        for (int j = 0; j < n; j++) w += at(n, M, i, j) * A[j][n], size += fabsl(at(n, M, i, j) * A[j][n]);
        if (A[i][n] < -ZERO * size || w < -ZERO * size) return;
        complementary = complementary && (A[i][n] <= ZERO * size || w <= ZERO * size);
    }
    judged->feasible = true;
    judged->solvable = judged->solvable || complementary;
}

pcJudged pcJudgeByTrying(int n, const double* M, const double* q)
{
    pcJudged judged = {false, false};
    int chosen[PC_JUDGE_MAX];
    for (int k = 0; k < n; k++) chosen[k] = k;
    for (;;) {
        tryCorner(n, M, q, chosen, &judged);
        int k = n - 1;
        while (k >= 0 && chosen[k] == n + k) k--;
        if (k < 0 || judged.solvable) return judged;
        chosen[k]++;
        for (int i = k + 1; i < n; i++) chosen[i] = chosen[i - 1] + 1;
    }
}
