/* Cone problems by Lemke's method: a pass of fan.c is one path, from the basis that the guess tells. */
#include "solver/lemke_cone.h"

#include <limits.h>

#include "solver/fan.h"
#include "solver/lemke.h"

static pcSolveInfo solve(pcReduced* r, double tolerance, int maxPivots, bool guess, pcArena* arena, double* z)
{
    size_t mark = pcArenaMark(arena);
    unsigned char* basis = pcArenaRaw(arena, unsigned char, r->n);
    for (int i = 0; guess && basis && i < r->n; i++) basis[i] = z[i] > 0.0;
    pcLemke lcp = {.lcp = &r->lcp, .tolerance = tolerance, .maxPivots = maxPivots, .guessOrNull = guess ? basis : NULL};
    pcSolveInfo info = pcLemkeSolve(&lcp, arena, z, NULL);
    pcArenaRelease(arena, mark);
    return info;
}

pcConeInfo pcLemkeConeSolve(const pcProblem* problem, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c)
{
    const pcFanMethod lemke = {"lemke", INT_MAX, solve};
    return pcFanSolve(&lemke, problem, settings, memory, v, c);
}
