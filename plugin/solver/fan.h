/* Cone problems by a method for linear complementarity problems, whichever: what such methods share. */
#ifndef PC_SOLVER_FAN_H
#define PC_SOLVER_FAN_H

#include "solver/reduce.h"

/* One reduced problem as it stands: writes z, its best, always. `guess`: z comes in with a guess. */
typedef struct pcFanMethod {
    const char* name;
    int largest; /* rows; problems with more are left to `sparse` at once */
    pcSolveInfo (*solve)(pcReduced* reduced, double tolerance, int maxIterations, bool guess, pcArena* arena, double* z);
} pcFanMethod;

/* maxIterations: of the method, in one pass. Fall-backs are the method's own, and one more if `sparse` had to finish. */
pcConeInfo pcFanSolve(const pcFanMethod* method, const pcProblem* problem, const pcConeSettings* settings, pcSolverMemory* memory,
                      double* v, double* c);

/* Whether there is anything to turn: else one pass is exact. */
bool pcFanHasDiscs(const pcProblem* problem);

#endif
