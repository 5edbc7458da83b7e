#include "linalg/dense.h"

#include <lapack.h>
#include <pthread.h>

/* Debian's serial OpenBLAS takes its buffers without a lock: two calls at the same time mix their numbers up (2 wrong answers in 80,000
 * factorizations on four threads). So one call at a time; what runs in parallel are islands, and these use it little. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
#define ALONE(call) (pthread_mutex_lock(&turn), call, pthread_mutex_unlock(&turn))

int pcLuFactor(int n, double* A, int ld, int* pivots)
{
    int status = 0;
    ALONE(LAPACK_dgetrf(&n, &n, A, &ld, pivots, &status));
    return status;
}

int pcLuSolve(int n, const double* LU, int ld, const int* pivots, bool transposed, double* b)
{
    int status = 0, one = 1;
    ALONE(LAPACK_dgetrs(transposed ? "T" : "N", &n, &one, LU, &ld, pivots, b, &n, &status));
    return status;
}

int pcLuInvert(int n, double* LU, int ld, const int* pivots, double* work, int workSize)
{
    int status = 0;
    ALONE(LAPACK_dgetri(&n, LU, &ld, pivots, work, &workSize, &status));
    return status;
}

int pcCholeskyFactor(int n, double* A, int ld)
{
    int status = 0;
    ALONE(LAPACK_dpotrf("L", &n, A, &ld, &status));
    return status;
}

int pcCholeskySolve(int n, const double* L, int ld, double* b)
{
    int status = 0, one = 1;
    ALONE(LAPACK_dpotrs("L", &n, &one, L, &ld, b, &n, &status));
    return status;
}

int pcCholeskyInvert(int n, double* L, int ld)
{
    int status = 0;
    ALONE(LAPACK_dpotri("L", &n, L, &ld, &status));
    return status;
}

int pcCholeskyPivoted(int n, double* A, int ld, double tolerance, int* order, int* rank, double* work)
{
    int status = 0;
    *rank = 0;
    ALONE(LAPACK_dpstrf("L", &n, A, &ld, order, rank, &tolerance, work, &status));
    for (int k = 0; k < n && status >= 0; k++) order[k]--; /* Fortran counts from 1 */
    return status > 0 ? 0 : status;                        /* positive: the rank is below n */
}

int pcLeastSquares(int n, double* A, int ld, double* b, double tolerance, int* pivots, double* work, int workSize)
{
    int status = 0, one = 1, rank = 0;
    for (int i = 0; i < n; i++) pivots[i] = 0; /* any order of columns */
    ALONE(LAPACK_dgelsy(&n, &n, &one, A, &ld, b, &n, pivots, &tolerance, &rank, work, &workSize, &status));
    return status;
}

extern char* openblas_get_config(void) __attribute__((weak)); /* OpenBLAS alone has it */

const char* pcLapackName(void) { return openblas_get_config ? openblas_get_config() : ""; }
