/* Small dense systems on the stack, where a call to LAPACK costs more than the work: Gauss with row pivots. */
#ifndef PC_LINALG_SMALL_H
#define PC_LINALG_SMALL_H

#include <math.h>
#include <stdbool.h>

/* A x = B for `columns` right sides: A (n x n, row-major, row length ld) is destroyed, B (n rows of ldb) becomes x. False: singular to
 * working precision. */
static inline bool pcSmallSolve(int n, double* A, int ld, double* B, int columns, int ldb)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) largest = fabs(A[i * ld + k]) > largest ? fabs(A[i * ld + k]) : largest;
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++) pivot = fabs(A[i * ld + k]) > fabs(A[pivot * ld + k]) ? i : pivot;
        if (!(fabs(A[pivot * ld + k]) > 1e-15 * largest)) return false;
        if (pivot != k) {
            for (int j = k; j < n; j++) {
                double swap = A[k * ld + j];
                A[k * ld + j] = A[pivot * ld + j], A[pivot * ld + j] = swap;
            }
            for (int j = 0; j < columns; j++) {
                double swap = B[k * ldb + j];
                B[k * ldb + j] = B[pivot * ldb + j], B[pivot * ldb + j] = swap;
            }
        }
        double inverse = 1.0 / A[k * ld + k];
        for (int i = k + 1; i < n; i++) {
            double factor = A[i * ld + k] * inverse;
            if (factor == 0.0) continue;
            for (int j = k + 1; j < n; j++) A[i * ld + j] -= factor * A[k * ld + j];
            for (int j = 0; j < columns; j++) B[i * ldb + j] -= factor * B[k * ldb + j];
        }
    }
    for (int i = n - 1; i >= 0; i--)
        for (int j = 0; j < columns; j++) {
            double sum = B[i * ldb + j];
            for (int k = i + 1; k < n; k++) sum -= A[i * ld + k] * B[k * ldb + j];
            B[i * ldb + j] = sum / A[i * ld + i];
        }
    return true;
}

#endif
