/*
 * A linear complementarity problem in its own units: w = M z + q becomes  w' = M'z' + q'  with
 *
 *     M' = R M C,     q' = R q / s,     z = s C z',     w = s R^-1 w'        R, C diagonal > 0, s > 0: powers of two, so nothing is rounded
 *
 * Complementarity does not notice (z_i w_i = 0 exactly if z'_i w'_i = 0), so masses of 1e6 and millimetres for metres do not either. Where
 * M_ii > 0, R_i = C_i makes it about 1; then the entries of a positive semidefinite block are about 1 or less. The other rows and columns
 * (the cone rows mu c_n - E'beta of friction) are brought to 1 against those. |q'| has its largest entry in (1/2, 1].
 */
#ifndef PC_SOLVER_SCALED_H
#define PC_SOLVER_SCALED_H

#include <stdbool.h>

#include "base/arena.h"

/* Columns are kept apart in blocks of this many rows, of which only those that are not zero take part in products. */
#define PC_SCALED_BLOCK 8

typedef struct pcScaledLcp {
    int n, ld;
    double* column;        /* M' column-major, and column n: any further one (the covering vector); ld numbers each, zero beyond n */
    double* q;             /* q', zero beyond n */
    double* rowScale;      /* R */
    double* columnScale;   /* C, and 1 for column n */
    int exponent;          /* s = 2^exponent */
    int* block;            /* first rows of blocks that are not zero, ascending; */
    int* blockStart;       /* per column: where in `block` its own begin, */
    int* blockCount;       /* and how many there are */
    unsigned char* lifted; /* per row: a column without diagonal (friction's slip) has a positive entry there */
    /* A column that nobody has looked at yet need not be there: */
    unsigned char* ready;                                    /* per column: it is */
    void (*fill)(const void* source, int j, double* column); /* else this writes it: all ld numbers */
    const void* source;
} pcScaledLcp;

/* All of a problem, M row-major. False if the arena is out of memory. What is taken stays in the arena. */
bool pcScaledMake(int n, const double* M, const double* q, pcArena* arena, pcScaledLcp* out);

/* The same in parts, for who knows more about M than its numbers. Room, with no column ready, R and C 0. Then whoever asked for it sets the
 * blocks of all columns, and R, C and `lifted` with columns that are scaled by them; or fills columns with M as it is, and these three are
 * found here. Then q. */
bool pcScaledNew(int n, pcArena* arena, pcScaledLcp* out);
bool pcScaledBalance(pcScaledLcp* lcp, pcArena* arena);
void pcScaledSetVector(pcScaledLcp* lcp, const double* q);

/* 2^k next to 1/x, or to 1/sqrt(x) if `half`, for x > 0: what R and C are made of. */
double pcScaledPower(double x, bool half);

/* z' of z, and z of z'; false if that is beyond what doubles can hold: then it is the largest they can. */
void pcScaledTake(const pcScaledLcp* lcp, const double* z, double* scaled);
bool pcScaledGive(const pcScaledLcp* lcp, const double* scaled, double* z);

const double* pcScaledColumn(const pcScaledLcp* lcp, int j);

/* Row i of M' at the given columns. */
void pcScaledRow(const pcScaledLcp* lcp, int i, int count, const int* columns, double* out);

/* y += sum a_k column(columns_k); y has ld numbers. */
void pcScaledAdd(const pcScaledLcp* lcp, int count, const int* columns, const double* a, double* y);

/* Makes `values` (ld numbers, zero beyond n) column n. */
void pcScaledSetLast(pcScaledLcp* lcp, const double* values);

/* max_i |min(z'_i, w'_i / t_i)| for z' >= 0 (n numbers), with t_i = max(1, sum_j |M'_ij| z'_j / 4096): doubles hold w'_i to about 1e-16 of
 * its terms, so where these are beyond 4096 |q'| (mass ratios above that) they are what an error is measured against. `room` has 2 ld
 * numbers; its first half is left with w'. */
double pcScaledResidual(const pcScaledLcp* lcp, const double* z, double* room);

#endif
