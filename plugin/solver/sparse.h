/* Cone problems in velocity form, with sparse linear algebra. */
#ifndef PC_SOLVER_SPARSE_H
#define PC_SOLVER_SPARSE_H

#include "solver/proximal.h"

/* false: out of memory, or a mass that is not positive definite. `out` lives as long as the arena is not released. */
bool pcVelocityForm(const pcProblem* problem, pcArena* arena, pcLinear* out);

pcConeInfo pcSparseSolve(const pcProblem* problem, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c);

#endif
