/* The last digits of a small problem with discs: Newton's method in the impulses, from an answer that is nearly right. */
#ifndef PC_SOLVER_POLISH_H
#define PC_SOLVER_POLISH_H

#include "solver/reduce.h"

/* Whether (v, c), which come in as an answer, became one whose residual and momentum are within `tolerance`; else they are as they were.
 * Adds its steps to `iterations`. */
bool pcPolish(const pcReduced* reduced, double tolerance, pcArena* arena, int* iterations, double* v, double* c);

#endif
