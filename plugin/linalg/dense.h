/*
 * Factorizations of dense matrices: the only place that knows LAPACK. Matrices are column-major, A[row + column * ld], and are
 * overwritten by their factors; vectors are contiguous. Nothing allocates, nothing prints, nothing aborts.
 *
 * Status: 0 done; k > 0 the k-th pivot is zero or negative, so that there is no such factor; < 0 a wrong argument.
 */
#ifndef PC_LINALG_DENSE_H
#define PC_LINALG_DENSE_H

#include <stdbool.h>

/* P A = L U, with n pivots. */
int pcLuFactor(int n, double* A, int ld, int* pivots);
/* A x = b, or A'x = b; b becomes x. */
int pcLuSolve(int n, const double* LU, int ld, const int* pivots, bool transposed, double* b);
/* The factors become the inverse. Work: 32 n numbers keep it fast, n are enough. */
int pcLuInvert(int n, double* LU, int ld, const int* pivots, double* work, int workSize);

/* A = L L'; only the lower triangle is read and written. */
int pcCholeskyFactor(int n, double* A, int ld);
int pcCholeskySolve(int n, const double* L, int ld, double* b);
/* The factor becomes the inverse, of which only the lower triangle is written. */
int pcCholeskyInvert(int n, double* L, int ld);

/* P'A P = L L' with the largest remaining diagonal first; stops where that is at most `tolerance` (an absolute number; < 0: n eps max
 * A_ii) and tells the rank so far. order[k] is the row of A at place k. Work: 2 n numbers. A rank below n is no failure. */
int pcCholeskyPivoted(int n, double* A, int ld, double tolerance, int* order, int* rank, double* work);

/* The shortest of all x for which |A x - b| is least; b becomes x. Directions that A makes shorter than `tolerance` times the longest count as
 * none. Work: 8 n numbers at least; n pivots. */
int pcLeastSquares(int n, double* A, int ld, double* b, double tolerance, int* pivots, double* work, int workSize);

/* Whose LAPACK it is that was loaded, and how it was built; "" where it does not say. */
const char* pcLapackName(void);

#endif
