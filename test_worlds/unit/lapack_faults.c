#include "test_worlds/unit/lapack_faults.h"

#include <lapack.h>
#include <stdatomic.h>

static _Atomic long countdown, failed;
static _Atomic bool goesOn;

void pcLapackFail(long count, bool onwards)
{
    atomic_store(&failed, 0), atomic_store(&goesOn, onwards);
    atomic_store(&countdown, count);
}

long pcLapackWork(void)
{
    atomic_store(&countdown, 0);
    return atomic_load(&failed);
}

/* As a matrix without a factor ends: partly overwritten or not, nobody may look at it. */
static bool fails(lapack_int* info)
{
    if (atomic_load(&countdown) == 0 || atomic_fetch_sub(&countdown, 1) > 1) return false;
    if (atomic_load(&goesOn)) atomic_store(&countdown, 1);
    atomic_fetch_add(&failed, 1);
    *info = 1;
    return true;
}

/* What the linker makes of a call of NAME (--wrap): fails, or hands over to LAPACK's own. */
#define STANDS_BEFORE(name, parameters, arguments) \
    void __real_##name parameters;                 \
    void __wrap_##name parameters;                 \
    void __wrap_##name parameters                  \
    {                                              \
        if (!fails(info)) __real_##name arguments; \
    }

STANDS_BEFORE(dgetrf_, (const lapack_int* m, const lapack_int* n, double* A, const lapack_int* lda, lapack_int* ipiv, lapack_int* info),
              (m, n, A, lda, ipiv, info))
STANDS_BEFORE(dgetri_,
              (const lapack_int* n, double* A, const lapack_int* lda, const lapack_int* ipiv, double* work, const lapack_int* lwork,
               lapack_int* info),
              (n, A, lda, ipiv, work, lwork, info))
STANDS_BEFORE(dgelsy_,
              (const lapack_int* m, const lapack_int* n, const lapack_int* nrhs, double* A, const lapack_int* lda, double* B,
               const lapack_int* ldb, lapack_int* jpvt, const double* rcond, lapack_int* rank, double* work, const lapack_int* lwork,
               lapack_int* info),
              (m, n, nrhs, A, lda, B, ldb, jpvt, rcond, rank, work, lwork, info))

#ifdef LAPACK_FORTRAN_STRLEN_END
#define LENGTH , size_t length
#define ONE , length
#else
#define LENGTH
#define ONE
#endif

STANDS_BEFORE(dgetrs_,
              (const char* trans, const lapack_int* n, const lapack_int* nrhs, const double* A, const lapack_int* lda,
               const lapack_int* ipiv, double* B, const lapack_int* ldb, lapack_int* info LENGTH),
              (trans, n, nrhs, A, lda, ipiv, B, ldb, info ONE))
STANDS_BEFORE(dpotrf_, (const char* uplo, const lapack_int* n, double* A, const lapack_int* lda, lapack_int* info LENGTH),
              (uplo, n, A, lda, info ONE))
STANDS_BEFORE(dpotri_, (const char* uplo, const lapack_int* n, double* A, const lapack_int* lda, lapack_int* info LENGTH),
              (uplo, n, A, lda, info ONE))
STANDS_BEFORE(dpotrs_,
              (const char* uplo, const lapack_int* n, const lapack_int* nrhs, const double* A, const lapack_int* lda, double* B,
               const lapack_int* ldb, lapack_int* info LENGTH),
              (uplo, n, nrhs, A, lda, B, ldb, info ONE))
STANDS_BEFORE(dpstrf_,
              (const char* uplo, const lapack_int* n, double* A, const lapack_int* lda, lapack_int* piv, lapack_int* rank,
               const double* tol, double* work, lapack_int* info LENGTH),
              (uplo, n, A, lda, piv, rank, tol, work, info ONE))
