/* Mass from mobility: the inverse of a dense symmetric positive definite matrix, by Cholesky: A = L L', A^-1 = L^-T L^-1. */
#include "constraint/constraint.h"

/* L in the lower triangle of `a`; false at the first pivot that is not positive beyond rounding. */
static bool factor(double* a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k <= i; k++) {
            double sum = a[i * n + k], whole = sum;
            for (size_t j = 0; j < k; j++) sum -= a[i * n + j] * a[k * n + j];
            if (i == k && !(sum > 4.0 * PC_ROUND * (double)n * whole)) return false;
            a[i * n + k] = i == k ? sqrt(sum) : sum / a[k * n + k];
        }
    return true;
}

/* Column `at` of the inverse. */
static void solveUnit(const double* L, size_t n, size_t at, double* x)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = i == at ? 1.0 : 0.0;
        for (size_t k = at; k < i; k++) x[i] -= L[i * n + k] * x[k];
        x[i] /= L[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) x[i] -= L[k * n + i] * x[k];
        x[i] /= L[i * n + i];
    }
}

bool pcInvertSymmetric(pcArena* arena, const double* matrix, int size, double* inverse)
{
    size_t n = (size_t)size, mark = pcArenaMark(arena);
    double *L = pcArenaNew(arena, double, n*n), *x = pcArenaNew(arena, double, n);
    if (!pcArenaGood(arena)) return false;
    for (size_t i = 0; i < n * n; i++) L[i] = matrix[i];
    bool good = factor(L, n);
    for (size_t k = 0; good && k < n; k++) {
        solveUnit(L, n, k, x);
        for (size_t i = k; i < n; i++) inverse[i * n + k] = inverse[k * n + i] = x[i];
    }
    pcArenaRelease(arena, mark);
    return good;
}
