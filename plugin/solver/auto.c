/*
 * Which solver gets a problem: a small one gets a quick try (quick.c). `sparse` finds the answer of nearly all others, at a cost that
 * follows the number of blocks; where it ends without, and the problem is small enough for a dense method, Lemke's method gets it. The
 * better answer is returned, with the name of who found it; if neither passed the residual test, the outcome says so.
 */
#include "solver/auto.h"

#include <math.h>
#include <string.h>

#include "solver/lemke_cone.h"
#include "solver/memory.h"
#include "solver/quick.h"
#include "solver/sparse.h"

#define LEMKE_ROWS 240 /* a dense LCP of about 700 variables */

static bool better(const pcSolveInfo* a, const pcSolveInfo* b)
{
    return a->outcome == PC_SOLVED ? b->outcome != PC_SOLVED : b->outcome != PC_SOLVED && a->residual < b->residual;
}

pcConeInfo pcAutoSolve(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c)
{
    pcConeInfo info = {.solver = "quick"};
    if (pcQuickSolve(p, settings, &memory->arena, &info.solve, v, c)) return info;
    int tried = info.solve.iterations;
    info = pcSparseSolve(p, settings, memory, v, c);
    info.solve.iterations += tried;
    bool bounded = settings->maxIterations > 0; /* who limits the work does not want more of it */
    if (info.solve.outcome == PC_SOLVED || p->rows > LEMKE_ROWS || bounded) return info;
    pcArena* arena = &memory->arena;
    size_t mark = pcArenaMark(arena), unknowns = (size_t)pcUnknowns(p), rows = (size_t)p->rows;
    double *x = pcArenaNew(arena, double, unknowns), *y = pcArenaNew(arena, double, rows);
    if (pcArenaGood(arena)) {
        pcConeSettings cold = *settings;
        cold.warm = false, cold.maxIterations = 0;
        pcConeInfo second = pcLemkeConeSolve(p, &cold, memory, x, y);
        second.solve.iterations += info.solve.iterations;
        second.solve.fallbacks += info.solve.fallbacks + 1;
        bool won = better(&second.solve, &info.solve);
        if (won) memcpy(v, x, unknowns * sizeof *v), memcpy(c, y, rows * sizeof *c);
        info = won ? second : (pcConeInfo){.solve = {info.solve.outcome, second.solve.iterations, info.solve.residual, second.solve.fallbacks},
                                           .solver = info.solver};
    }
    pcArenaRelease(arena, mark);
    return info;
}
