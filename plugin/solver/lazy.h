/* Two ways to do less for the same answer, before any solver is asked: see lazy.c. */
#ifndef PC_SOLVER_LAZY_H
#define PC_SOLVER_LAZY_H

#include "solver/problem.h"

/* Whether the guess c, with the v that it makes, is already an answer; v is written in any case. *info is written if it is. */
bool pcGuessSolve(const pcProblem* problem, const pcConeSettings* settings, pcSolverMemory* memory, pcConeInfo* info, double* v,
                  const double* c);

/* Solves with `solve`, leaving out contacts as long as they do not act. v comes in with what the guess c makes of it, or without a guess
 * with anything. false: there is hardly one to leave out, and nothing was done. */
bool pcLazySolve(const pcProblem* problem, const pcConeSettings* settings, pcSolverMemory* memory, pcConeSolve* solve, pcConeInfo* info,
                 double* v, double* c);

#endif
