/* Blocks of few freedoms, several in one: see pack.c. */
#ifndef PC_SOLVER_PACK_H
#define PC_SOLVER_PACK_H

#include "solver/problem.h"

/* Solves with `solve` the same problem in fewer blocks. false: all blocks have six freedoms or memory is out, and nothing was done. */
bool pcPackSolve(const pcProblem* problem, const pcConeSettings* settings, pcSolverMemory* memory, pcConeSolve* solve, pcConeInfo* info,
                 double* v, double* c);

#endif
