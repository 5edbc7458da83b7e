/* Cone problems by Lemke's method. */
#ifndef PC_SOLVER_LEMKE_CONE_H
#define PC_SOLVER_LEMKE_CONE_H

#include "solver/problem.h"

/* maxIterations: pivots of one pass. hard: polygons get no quick try before. */
pcConeInfo pcLemkeConeSolve(const pcProblem* problem, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c);

#endif
