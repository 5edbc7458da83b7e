/* Rows that hold one block each, taken out of a problem before it is solved: see held.c. */
#ifndef PC_SOLVER_HELD_H
#define PC_SOLVER_HELD_H

#include "solver/problem.h"

/* Solves with `solve` what is left of a problem without such rows. v and c come in with the guess, if settings say that there is one. false: there
 * are none, or the answer of what is left is none of the whole: then v and c are as they were. */
bool pcHeldSolve(const pcProblem* problem, const pcConeSettings* settings, pcSolverMemory* memory, pcConeSolve* solve, pcConeInfo* info,
                 double* v, double* c);

#endif
