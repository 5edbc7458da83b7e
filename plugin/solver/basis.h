/*
 * A basis of the augmented complementarity problem  w = M z + d z_0 + q  in scaled form (scaled.h): which n of the 2n + 1 variables are
 * basic, their values, and how they answer when one of the others grows.
 *
 * Only what is not the identity is kept. With R the rows whose w is nonbasic (w_R = 0) and B the columns whose z (or z_0) is basic, both k
 * of them:
 *
 *     G = [M d]_RB,   H = G^-1,   x = z_B = -H q_R,   w = q + [M d]_B x
 *
 * so that a pivot costs O(k^2) plus the product with k sparse columns, and a new factorization O(k^3), however large n is.
 */
#ifndef PC_SOLVER_BASIS_H
#define PC_SOLVER_BASIS_H

#include "solver/scaled.h"

/* Variables are numbers: z_j is j, z_0 is n, w_i is n + 1 + i. */
typedef struct pcBasis {
    pcScaledLcp* lcp;
    int k, ld;
    double* H;        /* column-major, H[place of a column + place of a row * ld] */
    int* row;         /* R, in the order of H's columns */
    int* rowPlace;    /* n numbers: the place in R, -1: w_i is basic */
    int* column;      /* B, in the order of H's rows */
    int* columnPlace; /* n + 1 numbers: the place in B, -1: nonbasic */
    double *x, *w;    /* values; w_R = 0 */
    double *dx, *dw;  /* the last response */
    double *u, *v;    /* scratch */
    int* pivots;
    double* work;
    int age; /* exchanges since the factorization */
} pcBasis;

bool pcBasisMake(pcScaledLcp* lcp, pcArena* arena, pcBasis* out);

/* All w basic, with value q. */
void pcBasisReset(pcBasis* basis);

/* z_i basic and w_i not for the i with set[i] != 0; H is not there yet. */
void pcBasisSet(pcBasis* basis, const unsigned char* set);

/* LU of G in the place of H, and the values from it; false if G is singular to working precision. */
bool pcBasisFactor(pcBasis* basis);
/* After pcBasisFactor: H. */
bool pcBasisInvert(pcBasis* basis);

/* Values of x from H, refined on the data as long as that helps, and of w. */
void pcBasisValues(pcBasis* basis);

/* dx, dw: how the basic variables change per unit of a nonbasic one. Returns the relative error of G dx, which costs nothing to know. */
double pcBasisResponse(pcBasis* basis, int variable);

/* The same for one basic variable and a nonbasic w only, at O(k). `row` has k numbers, which the first function finds: they depend on the
 * basic variable only. */
void pcBasisRow(const pcBasis* basis, int basic, double* row);
double pcBasisEntry(const pcBasis* basis, int basic, const double* row, int variable);

/* Moves by `step` along the last response, which must be that of `enter`, and exchanges it for the basic variable `leave`. */
void pcBasisExchange(pcBasis* basis, int enter, int leave, double step);

#endif
