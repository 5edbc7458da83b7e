#include "linalg/dense.h"

#include <lapack.h>

int pcLuFactor(int n, double* A, int ld, int* pivots)
{
    int status = 0;
    LAPACK_dgetrf(&n, &n, A, &ld, pivots, &status);
    return status;
}

int pcLuSolve(int n, const double* LU, int ld, const int* pivots, bool transposed, double* b)
{
    int status = 0, one = 1;
    LAPACK_dgetrs(transposed ? "T" : "N", &n, &one, LU, &ld, pivots, b, &n, &status);
    return status;
}

int pcLuInvert(int n, double* LU, int ld, const int* pivots, double* work, int workSize)
{
    int status = 0;
    LAPACK_dgetri(&n, LU, &ld, pivots, work, &workSize, &status);
    return status;
}

int pcCholeskyFactor(int n, double* A, int ld)
{
    int status = 0;
    LAPACK_dpotrf("L", &n, A, &ld, &status);
    return status;
}

int pcCholeskySolve(int n, const double* L, int ld, double* b)
{
    int status = 0, one = 1;
    LAPACK_dpotrs("L", &n, &one, L, &ld, b, &n, &status);
    return status;
}

int pcCholeskyInvert(int n, double* L, int ld)
{
    int status = 0;
    LAPACK_dpotri("L", &n, L, &ld, &status);
    return status;
}

int pcCholeskyPivoted(int n, double* A, int ld, double tolerance, int* order, int* rank, double* work)
{
    int status = 0;
    *rank = 0;
    LAPACK_dpstrf("L", &n, A, &ld, order, rank, &tolerance, work, &status);
    for (int k = 0; k < n && status >= 0; k++) order[k]--; /* Fortran counts from 1 */
    return status > 0 ? 0 : status;                        /* positive: the rank is below n */
}
