/*
 * Cone problems by Lemke's method: a pass of fan.c is one path, from the basis that the guess tells.
 *
 * Polygons. Most problems of a world with few contacts need no path: which contacts press, stick and slide can be guessed, and the answer
 * of the linear equations that follow is seen to be right (quick.c). The path is for those whose guess is wrong, and for discs.
 */
#include "solver/lemke_cone.h"

#include <limits.h>

#include "solver/fan.h"
#include "solver/lazy.h"
#include "solver/lemke.h"
#include "solver/memory.h"
#include "solver/quick.h"

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
    pcConeInfo info = {.solver = "sweeps"};
    if (settings->guess > 0.0 && pcGuessSolve(problem, settings, memory, &info, v, c)) return info;
    bool tries = !settings->hard && !pcFanHasDiscs(problem);
    if (tries && pcQuickSolve(problem, settings, &memory->arena, &info.solve, v, c)) return info;
    int tried = info.solve.iterations;
    info = pcFanSolve(&lemke, problem, settings, memory, v, c);
    info.solve.iterations += tried;
    return info;
}
