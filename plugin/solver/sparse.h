/* Cone problems by the proximal Newton method: in velocity form with sparse linear algebra, in impulse form as delassus.h has it. */
#ifndef PC_SOLVER_SPARSE_H
#define PC_SOLVER_SPARSE_H

#include "solver/proximal.h"

/* false: out of memory, or a mass that is not positive definite. `out` lives as long as the arena is not released. */
bool pcLinearForm(const pcProblem* problem, pcArena* arena, pcLinear* out);

/* v without impulses and no impulse: where a solver starts that has no guess. */
void pcConeStart(const pcProblem* problem, double* v, double* c);

pcConeInfo pcSparseSolve(const pcProblem* problem, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c);

#endif
