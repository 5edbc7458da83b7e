/*
 * Sparse matrices of 6x6 blocks whose pattern is symmetric and whose values need not be: ordering, LU factors or Cholesky's, solution.
 *
 *     pcBlocksPattern(&A, n, pairs, pairCount, pool, arena)    // which blocks (i, j) and (j, i) are there; the diagonal always is
 *     pcBlocksClear(&A), *pcBlocksAt(&A, i, j) += …            // values, row-major in each block
 *     pcBlocksFactor(&A), pcBlocksSolve(&A, x)                 // x: right side in, solution out
 *
 * or, so that threads that share the factorization share this too, pcBlocksFactorFilled with a function that gives the values of a column; of
 * values that are symmetric and positive definite, pcBlocksFactorSymmetric takes half the time.
 */
#ifndef PC_LINALG_BLOCKS_H
#define PC_LINALG_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/pool.h"

#define PC_BLOCK 6
#define PC_BLOCK_SIZE (PC_BLOCK * PC_BLOCK)
#define PC_SHARED_BLOCKS 100 /* from this many on, other threads may be worth waking */

typedef struct pcBlocks {
    int n;
    int *place, *order;    /* of block row i in the order of elimination, and which one has that place */
    int* start;            /* column k of the factors: entries start[k] .. start[k + 1] - 1 */
    int* row;              /* their rows (places), ascending, > k */
    bool symmetric;        /* the factors that are there are Cholesky's: `diagonal` and `upper` alone */
    double* diagonal;      /* n blocks; after factoring their own factors */
    double* lower;         /* block (row[e], k); after factoring all of column k side by side: PC_BLOCK rows, each block turned */
    double* upper;         /* block (k, row[e]); after factoring all of row k side by side */
    int* pivot;            /* PC_BLOCK per diagonal block */
    int* rowStart;         /* row j of the lower factor: rowStart[j] .. rowStart[j + 1] - 1 … */
    int *column, *at;      /* … its columns, ascending, and which entry of them it is */
    int* task;             /* columns in the order in which threads take them: every one after those that act on it … */
    int *taskStart, tasks; /* … and where those begin that one thread takes at once */
    pcPool* pool;          /* who helps; NULL: nobody, or it is not worth while */
    _Atomic int* done;     /* per column: the last factorization that finished it */
    int factorization;
    int* where;   /* work, n for each thread: where row i stands in the present column */
    double* x;    /* work: PC_BLOCK * n */
    double* work; /* workSize for each thread: the values of the present column */
    size_t workSize;
    const void* source; /* of the one who made the pattern, for its values */
} pcBlocks;

/* false: out of memory (the arena says so too). A pair may be given many times. pool: whose threads help with large factors, if not NULL; the
 * factors are the same to the bit. */
bool pcBlocksPattern(pcBlocks* A, int n, const int* pairs, int pairCount, pcPool* pool, pcArena* arena);
void pcBlocksClear(pcBlocks* A);
/* Where block (i, j) is kept until it is factored; it must be in the pattern. */
double* pcBlocksAt(pcBlocks* A, int i, int j);
/* false: a diagonal block is singular to working precision. */
bool pcBlocksFactor(pcBlocks* A);
/* Where a column's values go, row-major in each block: blocks (j, block) and (block, j) for all j with a later place are `lower` and
 * `upper` number where[place of j]. `lower` is NULL where the values are symmetric. */
typedef struct pcBlocksColumn {
    double *diagonal, *lower, *upper;
    const int* where;
} pcBlocksColumn;
/* Adds the values of a column; all were zero before. Threads may call it for different columns at the same time. */
typedef void pcBlocksFill(const void* context, const pcBlocks* A, int block, const pcBlocksColumn* to);
bool pcBlocksFactorFilled(pcBlocks* A, pcBlocksFill* fill, const void* context);
/* The same by Cholesky's method; false: it is not positive definite to working precision. */
bool pcBlocksFactorSymmetric(pcBlocks* A, pcBlocksFill* fill, const void* context);
void pcBlocksSolve(pcBlocks* A, double* x);
/* Of the determinant, once it is factored: 1 or -1. */
int pcBlocksSign(const pcBlocks* A);

#endif
