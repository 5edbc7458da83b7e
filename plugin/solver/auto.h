/* The solver that chooses. */
#ifndef PC_SOLVER_AUTO_H
#define PC_SOLVER_AUTO_H

#include "solver/problem.h"

pcConeInfo pcAutoSolve(const pcProblem* problem, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c);

#endif
