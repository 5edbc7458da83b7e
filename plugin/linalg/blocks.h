/*
 * Sparse matrices of 6x6 blocks whose pattern is symmetric and whose values need not be: ordering, LU factors, solution.
 *
 *     pcBlocksPattern(&A, n, pairs, pairCount, arena)    // which blocks (i, j) and (j, i) are there; the diagonal always is
 *     pcBlocksClear(&A), *pcBlocksAt(&A, i, j) += …      // values, row-major in each block
 *     pcBlocksFactor(&A), pcBlocksSolve(&A, x)           // x: right side in, solution out
 */
#ifndef PC_LINALG_BLOCKS_H
#define PC_LINALG_BLOCKS_H

#include <stdbool.h>

#include "base/arena.h"

#define PC_BLOCK 6
#define PC_BLOCK_SIZE (PC_BLOCK * PC_BLOCK)

typedef struct pcBlocks {
    int n;
    int* place;       /* of block row i in the order of elimination */
    int* start;       /* column k of the factors: entries start[k] .. start[k + 1] - 1 */
    int* row;         /* their rows (places), ascending, > k */
    double* diagonal; /* n blocks; after factoring their LU factors */
    double* lower;    /* block (row[e], k) */
    double* upper;    /* block (k, row[e]) */
    int* pivot;       /* PC_BLOCK per diagonal block */
    int *head, *next; /* work: which columns touch row j next */
    int *at, *where;  /* work: how far column k is used; where row i stands in the present column */
    double* x;        /* work: PC_BLOCK * n */
} pcBlocks;

/* false: out of memory (the arena says so too). A pair may be given many times. */
bool pcBlocksPattern(pcBlocks* A, int n, const int* pairs, int pairCount, pcArena* arena);
void pcBlocksClear(pcBlocks* A);
/* Where block (i, j) is kept; it must be in the pattern. */
double* pcBlocksAt(pcBlocks* A, int i, int j);
/* false: a diagonal block is singular to working precision. */
bool pcBlocksFactor(pcBlocks* A);
void pcBlocksSolve(pcBlocks* A, double* x);

#endif
