/* M + J'G J: the matrix of Newton's method in velocity space, one 6x6 block per body and per pair of bodies that a row ties together. */
#ifndef PC_SOLVER_STIFFNESS_H
#define PC_SOLVER_STIFFNESS_H

#include "linalg/blocks.h"
#include "solver/problem.h"
#include "solver/touching.h"

/* false: out of memory. */
bool pcStiffnessPattern(const pcProblem* problem, pcArena* arena, pcBlocks* out);

/* Which cones touch which blocks of the problem. */
const pcTouching* pcStiffnessTouching(const pcBlocks* pattern);

/* Its factors; false: it is singular to working precision. The pattern must be that of this problem. G: per cone a matrix of its rows,
 * row-major, from offset[cone] on; by the relaxation it is symmetric, and not negative. */
bool pcStiffnessFactor(const pcProblem* problem, const double* G, const int* offset, pcBlocks* out);

#endif
