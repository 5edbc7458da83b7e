/* The mass matrix of a problem, factored: 6x6 blocks each by itself, or one dense matrix. */
#ifndef PC_LINALG_MASS_H
#define PC_LINALG_MASS_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct pcMass {
    int blocks;
    bool dense;
    double* L; /* M = L L'; of blocks with the reciprocals of its diagonal in their place */
} pcMass;

/* M: 36 numbers per block, or (6 blocks)^2; row-major. false: out of memory, or not positive definite. */
bool pcMassFactor(pcMass* mass, int blocks, bool dense, const double* M, pcArena* arena);

/* x := M^-1 x, 6 numbers per block. */
void pcMassSolve(const pcMass* mass, double* x);

/* The same of a single block, which knows no other: not for dense masses. */
void pcMassSolveBlock(const pcMass* mass, int block, double* x);
/* And of several at once, in vector lanes: row r is at r * stride. */
void pcMassSolveRows(const pcMass* mass, int block, int rows, const double* from, double* to, int stride);

#endif
