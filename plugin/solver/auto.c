/*
 * Which solver gets a problem. First it is made small: a guess may be the answer, rows that hold one block are taken out with the freedoms that
 * they hold (held.c), contacts that do not act are left out (lazy.c), and blocks of few freedoms are packed into fewer (pack.c). What is left gets
 * a quick try (quick.c). `sparse` finds the answer of nearly all others, at a cost that
 * follows the number of blocks; where it ends without, and the problem is small enough for a dense method, Lemke's method gets it. The
 * better answer is returned, with the name of who found it; if neither passed the residual test, the outcome says so.
 *
 * Few rows and no discs are what Lemke's method is best at: there it comes after the quick try, and `sparse` after it.
 */
#include "solver/auto.h"

#include <math.h>
#include <string.h>

#include "solver/fan.h"
#include "solver/held.h"
#include "solver/lazy.h"
#include "solver/lemke_cone.h"
#include "solver/memory.h"
#include "solver/pack.h"
#include "solver/quick.h"
#include "solver/sparse.h"

#define DENSE_ROWS 240 /* a dense LCP of about 700 variables */
#define PATH_ROWS 150  /* of polygons: up to here a path of Lemke's method takes less time than `sparse` */

/* Where nothing can be met (contradictory joints, a squeezed body), the largest residual is that of what cannot be met, for everyone;
 * then the answer of a method that balances it is kept against one that ended on a ray, which may have let go of everything else. */
static bool better(const pcSolveInfo* a, const pcSolveInfo* b)
{
    if (a->outcome == PC_SOLVED || b->outcome == PC_SOLVED) return a->outcome == PC_SOLVED && b->outcome != PC_SOLVED;
    return a->residual < 0.5 * b->residual;
}

/* `second` also tries; the better answer stays in v and c. */
static void tryAlso(pcConeSolve* second, const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, pcConeInfo* info,
                    double* v, double* c)
{
    pcArena* arena = &memory->arena;
    size_t mark = pcArenaMark(arena), unknowns = (size_t)pcUnknowns(p), rows = (size_t)p->rows;
    double *x = pcArenaNew(arena, double, unknowns), *y = pcArenaNew(arena, double, rows);
    if (pcArenaGood(arena)) {
        pcConeInfo other = second(p, &(pcConeSettings){.tolerance = settings->tolerance, .hard = true}, memory, x, y);
        pcSolveInfo before = info->solve;
        if (better(&other.solve, &info->solve)) {
            memcpy(v, x, unknowns * sizeof *v), memcpy(c, y, rows * sizeof *c);
            *info = other;
        }
        info->solve.iterations = before.iterations + other.solve.iterations;
        info->solve.fallbacks = before.fallbacks + other.solve.fallbacks + 1;
    }
    pcArenaRelease(arena, mark);
}

static pcConeInfo solveAll(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c)
{
    pcConeInfo info = {.solver = "sweeps"};                                        /* not "quick": that is ODE's dWorldQuickStep */
    bool paths = p->rows <= PATH_ROWS && p->coulomb && !p->W && !pcFanHasDiscs(p); /* then lemke makes the quick try */
    if (!paths && !settings->hard && pcQuickSolve(p, settings, &memory->arena, &info.solve, v, c)) return info;
    int tried = info.solve.iterations;
    info = (paths ? pcLemkeConeSolve : pcSparseSolve)(p, settings, memory, v, c);
    info.solve.iterations += tried;
    bool more =
        p->rows <= DENSE_ROWS && settings->maxIterations == 0 && settings->rough == 0.0; /* who limits the work wants no more of it */
    if (more && info.solve.outcome != PC_SOLVED) tryAlso(paths ? pcSparseSolve : pcLemkeConeSolve, p, settings, memory, &info, v, c);
    return info;
}

static pcConeInfo solvePacked(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c)
{
    pcConeInfo info;
    if (pcPackSolve(p, settings, memory, solveAll, &info, v, c)) return info;
    return solveAll(p, settings, memory, v, c);
}

static pcConeInfo solveLazily(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c)
{
    pcConeInfo info = {.solver = "guess"};
    if (pcLazySolve(p, settings, memory, solvePacked, &info, v, c)) return info;
    return solvePacked(p, settings, memory, v, c);
}

pcConeInfo pcAutoSolve(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c)
{
    pcConeInfo info;
    if (pcGuessSolve(p, settings, memory, &info, v, c)) return info;
    pcConeSettings rest = *settings;
    rest.guess = 0.0; /* it is known that it is not */
    if (pcHeldSolve(p, &rest, memory, solveLazily, &info, v, c)) return info;
    return solveLazily(p, &rest, memory, v, c);
}
