/*
 * Find Gamma with Gamma = sum_g Lambda_g(P1(Gamma)): then P1(Gamma) solves the Coulomb problem (T 5.1, lemma 5.1).
 *
 *     P1(Gamma)    the relaxation T 5.7 with u_n + Gamma in place of u_n: a convex problem, one velocity                (T 5.8)
 *     P2(lambda)   u_n >= 0, |u_g| <= lambda_g: a convex problem, one velocity                                          (T 5.15, 5.16)
 *     Lambda_g     slip of group g; rows are already multiplied by mu, so it is the papers' mu Lambda                   (T 5.9)
 *
 *     chi_1(u)     = P1(sum Lambda(u))           state x: all row velocities u = J v - b + s c, which is all that Lambda sees of v
 *     chi_2(Gamma) = sum Lambda(P1(Gamma))       state x: Gamma, one number per cone                                    (T 5.17)
 *     chi_3(Gamma) = sum Lambda(P2(Lambda(P1(Gamma))))
 *
 * P1 and P2 are solved by the proximal Newton method, each warm from its own last pass. The answer is always that of P1; what it misses of
 * Coulomb's law is |Gamma - sum Lambda(u)|, so that is what ends the iteration, also for chi_3, whose fixed points need not be
 * solutions where it does not contract. Two plain passes measure the contraction, then Anderson's method takes the steps; where one of
 * them makes things worse, the iteration goes back to the best x and steps plainly. T proves contraction for small mu only.
 */
#include "solver/fixedpoint.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "solver/anderson.h"
#include "solver/memory.h"
#include "solver/sparse.h"
#include "solver/velocity.h"

#define PASS_LIMIT 80
#define PLAIN_PASSES 2     /* at the start and after every return to the best x */
#define RETURN_LIMIT 4     /* returns to the best x: then it does not contract */
#define WORSE 3.0          /* a change this many times the best one calls for a return; Anderson's steps are not monotone */
#define INNER_LOOSEST 1e-6 /* tolerance of P1 and P2 while Gamma is far off; then a part of what it is off by */
#define MOMENTUM 1e-13     /* relative: more is no rounding, and another pass finds it */

typedef struct Chi {
    const pcProblem* p;
    int which;
    int states;        /* numbers of x */
    pcProblem shifted; /* p with its own targets */
    double* target;
    pcLinear P1, P2; /* the same matrices; they differ in law and targets */
    double *v, *c;   /* of P1: the answer */
    double *v2, *c2; /* of P2 */
    double *u, *slip, *Gamma, *slips;
    double inner;  /* tolerance of P1 and P2 */
    double missed; /* max |Gamma - sum Lambda(u)| at P1's answer, by velocityScale */
    bool started2; /* v2, c2 hold those of a pass */
    pcArena* arena;
} Chi;

static bool chiNew(Chi* chi, const pcProblem* p, int which, pcArena* arena)
{
    size_t rows = (size_t)p->rows, cones = (size_t)p->cones;
    chi->p = p, chi->which = which, chi->arena = arena;
    chi->states = which == 1 ? p->rows : p->cones;
    chi->target = pcArenaNew(arena, double, rows);
    chi->u = pcArenaNew(arena, double, rows), chi->slip = pcArenaNew(arena, double, rows);
    chi->c2 = pcArenaNew(arena, double, rows), chi->v2 = pcArenaNew(arena, double, pcUnknowns(p));
    chi->Gamma = pcArenaNew(arena, double, cones), chi->slips = pcArenaNew(arena, double, cones);
    chi->shifted = *p, chi->shifted.target = chi->target, chi->shifted.coulomb = false;
    if (!pcArenaGood(arena) || !pcLinearForm(&chi->shifted, arena, &chi->P1)) return false;
    chi->P2 = chi->P1, chi->P2.law = PC_LAW_GIVEN_SLIP, chi->P2.slip = chi->slip;
    return true;
}

/* ---- The maps P1, P2, Lambda ---------------------------------------------------------------------------------------------------- */

/* Targets of P1(Gamma), or with NULL those of the problem. */
static void setTargets(Chi* chi, const double* Gamma)
{
    for (int i = 0; i < chi->p->rows; i++) chi->target[i] = chi->p->target[i];
    for (int k = 0; Gamma && k < chi->p->cones; k++) chi->target[chi->p->cone[k].row] -= Gamma[k];
}

/* Velocities of all rows, softness included; to the problem's own targets. */
static void rowVelocities(Chi* chi, const double* v, const double* c, double* u)
{
    setTargets(chi, NULL);
    chi->P1.velocities(chi->P1.self, v, u);
    for (int i = 0; i < chi->p->rows; i++) u[i] += chi->p->soft[i] * c[i];
}

/* max { -u.c : c in group g at c_n = 1 }: of a disc the length of u; of a polygon at the corner that looks most against u. */
static double slipOfGroup(const pcCone* cone, int g, const double* u)
{
    const double turn = 6.283185307179586;
    double length = cone->groupSize[g] == 2 ? hypot(u[0], u[1]) : fabs(u[0]);
    if (g > 0 || cone->groupSize[g] != 2 || cone->edges == 0) return length;
    double away = remainder(atan2(-u[1], -u[0]) - cone->angle, turn / cone->edges);
    return length * cos(away);
}

/* Lambda(u): into `slip` at the first row of each group, unless NULL; their sum per cone into `sums`. */
static void slipsOf(const Chi* chi, const double* u, double* slip, double* sums)
{
    for (int k = 0; k < chi->p->cones; k++) {
        const pcCone* cone = &chi->p->cone[k];
        sums[k] = 0.0;
        for (int g = 0, row = cone->row + 1; g < (cone->kind == PC_CONE_FRICTION ? cone->groups : 0); row += cone->groupSize[g++]) {
            double each = slipOfGroup(cone, g, u + row);
            sums[k] += each;
            if (slip) slip[row] = each;
        }
    }
}

/* From the last (v, c), and where that leads nowhere from none. */
static bool solveInner(const Chi* chi, const pcLinear* P, double* v, double* c)
{
    pcProximalSettings settings = {.tolerance = chi->inner, .warm = true};
    if (pcProximalSolve(P, &settings, chi->arena, v, c).converged) return true;
    pcConeStart(chi->p, v, c);
    settings.warm = false;
    return pcProximalSolve(P, &settings, chi->arena, v, c).converged;
}

/* (v, c) = P1(Gamma), u and what it misses of Coulomb's law: also where the method is not content with its (v, c), which may do. */
static bool solveP1(Chi* chi)
{
    setTargets(chi, chi->Gamma);
    bool solved = solveInner(chi, &chi->P1, chi->v, chi->c);
    rowVelocities(chi, chi->v, chi->c, chi->u);
    slipsOf(chi, chi->u, chi->slip, chi->slips);
    chi->missed = 0.0;
    for (int k = 0; k < chi->p->cones; k++) {
        chi->missed = larger(chi->missed, fabs(chi->Gamma[k] - chi->slips[k]) / chi->p->velocityScale);
    }
    return solved;
}

/* slips = sum Lambda(P2(slip)). */
static bool solveP2(Chi* chi)
{
    if (!chi->started2) memcpy(chi->v2, chi->v, (size_t)pcUnknowns(chi->p) * sizeof *chi->v2);
    if (!chi->started2) memcpy(chi->c2, chi->c, (size_t)chi->p->rows * sizeof *chi->c2);
    chi->started2 = true;
    setTargets(chi, NULL);
    if (!solveInner(chi, &chi->P2, chi->v2, chi->c2)) return false;
    rowVelocities(chi, chi->v2, chi->c2, chi->u);
    slipsOf(chi, chi->u, NULL, chi->slips);
    return true;
}

static bool apply(Chi* chi, const double* x, double* g)
{
    if (chi->which == 1) {
        slipsOf(chi, x, NULL, chi->Gamma);
    } else {
        memcpy(chi->Gamma, x, (size_t)chi->states * sizeof *x);
    }
    if (!solveP1(chi) || (chi->which == 3 && !solveP2(chi))) return false;
    memcpy(g, chi->which == 1 ? chi->u : chi->slips, (size_t)chi->states * sizeof *g);
    return true;
}

/* ---- The iteration -------------------------------------------------------------------------------------------------------------- */

typedef struct Iteration {
    double *x, *g, *best; /* best: g of the least change so far */
    double change, leastChange, lastChange;
    int plain; /* plain steps since the start or the last return */
    int returns;
    double contraction;
    pcAnderson anderson;
} Iteration;

static bool iterationNew(Iteration* it, int n, pcArena* arena)
{
    it->x = pcArenaNew(arena, double, n), it->g = pcArenaNew(arena, double, n), it->best = pcArenaNew(arena, double, n);
    it->leastChange = INFINITY;
    return pcArenaGood(arena) && pcAndersonNew(&it->anderson, n, arena);
}

static double distance(int n, const double* a, const double* b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* The change of this pass, and the contraction if the step that led here was plain. */
static void measure(Iteration* it, int n)
{
    size_t size = (size_t)n * sizeof *it->x;
    it->lastChange = it->change, it->change = distance(n, it->g, it->x);
    if (it->plain > 0 && it->plain <= PLAIN_PASSES && it->lastChange > 0.0) it->contraction = it->change / it->lastChange;
    if (!(it->change < it->leastChange)) return;
    it->leastChange = it->change;
    memcpy(it->best, it->g, size);
}

/* The next x; Gamma stays >= 0, as slips are. */
static void step(Iteration* it, const Chi* chi)
{
    size_t size = (size_t)chi->states * sizeof *it->x;
    if (it->change > WORSE * it->leastChange) {
        memcpy(it->x, it->best, size);
        pcAndersonReset(&it->anderson);
        it->plain = 0, it->returns++, it->leastChange = INFINITY; /* the least one may have been an error of P1 */
        return;
    }
    pcAndersonStep(&it->anderson, it->x, it->g);
    if (it->plain++ < PLAIN_PASSES) memcpy(it->x, it->g, size);
    for (int i = 0; chi->which != 1 && i < chi->states; i++) it->x[i] = larger(it->x[i], 0.0);
}

/* Whether (v, c) is the solution, by the certificate. */
static bool judge(const Chi* chi, double tolerance, pcSolveInfo* solve)
{
    pcCertificate certificate = pcBalanceMomentum(chi->p, &chi->P1, tolerance, chi->arena, chi->v, chi->c);
    bool good = certificate.residual <= tolerance && certificate.momentum <= smaller(MOMENTUM, tolerance);
    solve->residual = certificate.residual;
    solve->outcome = good ? PC_SOLVED : isfinite(certificate.residual) ? PC_INACCURATE : PC_LIMIT;
    return good;
}

/* Runs chi until P1's answer obeys Coulomb's law; false: it does not contract, or P1 or P2 was not solved. */
static bool iterate(Chi* chi, Iteration* it, const pcConeSettings* settings, pcSolveInfo* solve)
{
    int limit = settings->maxIterations ? settings->maxIterations : PASS_LIMIT;
    double enough = 0.3 * settings->tolerance;
    chi->inner = larger(enough, INNER_LOOSEST);
    while (solve->iterations < limit && it->returns <= RETURN_LIMIT) {
        bool solved = apply(chi, it->x, it->g);
        solve->iterations++;
        bool close = chi->missed <= enough && chi->inner <= enough;
        if (close && judge(chi, settings->tolerance, solve)) return true;
        if (!solved) return false;
        measure(it, chi->states);
        step(it, chi);
        chi->inner = larger(enough, smaller(INNER_LOOSEST, (it->returns ? 1e-4 : 1e-2) * chi->missed));
    }
    return false;
}

static void start(Chi* chi, Iteration* it, bool warm)
{
    const pcProblem* p = chi->p;
    if (!warm) {
        pcConeStart(p, chi->v, chi->c); /* and x = 0: the relaxation comes first */
        return;
    }
    rowVelocities(chi, chi->v, chi->c, chi->u);
    if (chi->which == 1) {
        memcpy(it->x, chi->u, (size_t)p->rows * sizeof *it->x);
    } else {
        slipsOf(chi, chi->u, NULL, it->x);
    }
}

/* ---- The solver ----------------------------------------------------------------------------------------------------------------- */

static void fallBack(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c, pcConeInfo* info)
{
    pcConeSettings cold = {.tolerance = settings->tolerance, .maxIterations = settings->maxIterations};
    pcConeInfo other = pcSparseSolve(p, &cold, memory, v, c);
    other.solve.fallbacks = 1;
    other.solve.iterations += info->solve.iterations;
    other.contraction = info->contraction;
    *info = other;
}

pcConeInfo pcFixedPointSolve(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c)
{
    pcConeInfo info = {.solve = {.outcome = PC_LIMIT, .residual = INFINITY}, .solver = "fixedpoint"};
    pcArena* arena = &memory->arena;
    if (!p->coulomb) return pcSparseSolve(p, settings, memory, v, c); /* P1(0), no more */
    Chi chi = {.v = v, .c = c};
    Iteration it = {0};
    size_t mark = pcArenaMark(arena);
    bool done = false;
    if (chiNew(&chi, p, settings->fixedPoint ? settings->fixedPoint : 2, arena) && iterationNew(&it, chi.states, arena)) {
        start(&chi, &it, settings->warm);
        done = iterate(&chi, &it, settings, &info.solve);
    }
    info.contraction = it.contraction;
    pcArenaRelease(arena, mark);
    if (!done) fallBack(p, settings, memory, v, c, &info);
    return info;
}
