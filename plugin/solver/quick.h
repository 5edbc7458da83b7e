/* A quick try at a small cone problem, before a method that is certain does it: sweeps to see which contacts press and slide, then Newton
 * steps on what they have shown. */
#ifndef PC_SOLVER_QUICK_H
#define PC_SOLVER_QUICK_H

#include "base/arena.h"
#include "solver/problem.h"

/* true: v and c passed the certificate. false: the problem is not of the kind, or this did not end well; v and c are as they came in. With
 * settings->warm they hold a guess, else what they hold does not matter. Steps are added to info->iterations in both cases. */
bool pcQuickSolve(const pcProblem* problem, const pcConeSettings* settings, pcArena* arena, pcSolveInfo* info, double* v, double* c);

#endif
