/* The Coulomb problem as a fixed point of convex ones (T 5.17). */
#ifndef PC_SOLVER_FIXEDPOINT_H
#define PC_SOLVER_FIXEDPOINT_H

#include "solver/problem.h"

/* settings->fixedPoint chooses chi_1, chi_2 or chi_3 (0: chi_2). Iterations are passes, maxIterations limits them. info.contraction is
 * the ratio of the last two changes that were not accelerated, above 1 where chi does not contract; then `sparse` takes over, which counts
 * as a fall-back. A problem that is not Coulomb's is P1(0), one pass. */
pcConeInfo pcFixedPointSolve(const pcProblem* problem, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c);

#endif
