/*
 * Cone problems by a method for linear complementarity problems, on their reduction to the impulses.
 *
 *     w       a group's own velocity per impulse: mean diagonal of its part of W
 *     angle   of its fan's first corner; wanted: that of w c_g - u_g, where its impulse would like to go
 *
 * Polygons and frictionless contacts: exact at once. Discs: the fan of a group that slides is turned until one corner opposes the slip;
 * where it sticks, until one corner lies along the impulse. A fan turned so gives what the disc gives, so the fixed point of turning and
 * solving solves the circular problem. Turning alone converges linearly, in tens of passes where many contacts slide: Anderson's method
 * is told the angles of those that do. From pass to pass the last impulses give the guess, so that a pass needs few iterations or none.
 * Where turning does not settle (friction of 50 and more, as for tyres), fans become narrow, and Newton's method on the discs takes over.
 * What is then missing (v = f + M^-1 J'c has lost digits where a light body carries a heavy one) is left to the proximal method from there
 * on, counted as a fall-back.
 */
#include "solver/fan.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "solver/anderson.h"
#include "solver/certificate.h"
#include "solver/memory.h"
#include "solver/polish.h"
#include "solver/sparse.h"

#define EDGES 8     /* corners of a fan */
#define PASSES 20   /* turns of the fans */
#define FINE 0.03   /* of the tolerance: turning goes on until then, where it still helps; velocities of ill-conditioned worlds need it */
#define NARROWER 10 /* passes with fans that are narrower from pass to pass, … */
#define NARROW_RESIDUAL 0.01 /* … from answers as near as this, … */
#define NARROW_ROWS 240      /* … of problems up to this size */
#define STALL 4              /* passes without getting better by half: then turning does not help */
#define HELPED 3             /* passes in which the method had to be helped: the others would be as hard */
#define SLIDES 1e-7          /* |u| / (w |c|): less is the rounding of a group that sticks */
#define ROUNDING 1e-12       /* an answer as good as this refutes a ray */
#define HALF_TURN 3.14159265358979323846

typedef struct Fan {
    pcReduced reduced;
    double* z;
    bool discs;     /* there are any; else nothing is turned, and what follows is not there */
    double* wanted; /* angles, as reduced.angle */
    pcAnderson anderson;
} Fan;

bool pcFanHasDiscs(const pcProblem* p)
{
    for (int k = 0; k < p->cones; k++)
        for (int g = 0; g < (p->cone[k].kind == PC_CONE_FRICTION ? p->cone[k].groups : 0); g++)
            if (pcReducedIsDisc(&p->cone[k], g)) return true;
    return false;
}

static bool fanNew(Fan* fan, const pcFanMethod* method, const pcProblem* p, int edges, pcArena* arena)
{
    if (p->rows > method->largest || !pcReduce(p, edges, arena, &fan->reduced)) return false;
    fan->z = pcArenaRaw(arena, double, fan->reduced.n);
    fan->discs = pcFanHasDiscs(p);
    if (!fan->discs) return pcArenaGood(arena);
    fan->wanted = pcArenaNew(arena, double, p->cones* PC_CONE_GROUPS);
    return pcArenaGood(arena) && pcAndersonNew(&fan->anderson, p->cones * PC_CONE_GROUPS, arena);
}

/* Where a disc's fan should point. A fan whose slip does not depend on it is turned at once, so that Anderson's method sees no change. */
static void aim(Fan* fan, int k, int group, int row, const double* c)
{
    const pcReduced* r = &fan->reduced;
    size_t rows = (size_t)r->problem->rows;
    double *angle = &r->angle[k * PC_CONE_GROUPS + group], *wanted = &fan->wanted[k * PC_CONE_GROUPS + group], u[2];
    double w = 0.5 * (r->W[(size_t)row * (rows + 1)] + r->W[(size_t)(row + 1) * (rows + 1)]);
    for (int i = 0; i < 2; i++) {
        u[i] = r->u0[row + i];
        for (size_t j = 0; j < rows; j++) u[i] += r->W[(size_t)(row + i) * rows + j] * c[j];
    }
    double x = w * c[row] - u[0], y = w * c[row + 1] - u[1];
    if (x != 0.0 || y != 0.0) *wanted = *angle + remainder(atan2(y, x) - *angle, 2.0 * HALF_TURN);
    bool slides = c[r->problem->cone[k].row] > 0.0 && hypot(u[0], u[1]) > SLIDES * w * hypot(c[row], c[row + 1]);
    if (!slides) *angle = *wanted;
}

/* Turns every disc's fan to where it should point, or where `accelerated` passes say that it will. */
static void turn(Fan* fan, const double* c, bool accelerated)
{
    const pcProblem* p = fan->reduced.problem;
    if (!fan->discs) return;
    memcpy(fan->wanted, fan->reduced.angle, (size_t)(p->cones * PC_CONE_GROUPS) * sizeof *fan->wanted);
    for (int k = 0; k < p->cones; k++) {
        const pcCone* cone = &p->cone[k];
        for (int g = 0, row = cone->row + 1; g < (cone->kind == PC_CONE_FRICTION ? cone->groups : 0); row += cone->groupSize[g++]) {
            if (pcReducedIsDisc(cone, g)) aim(fan, k, g, row, c);
        }
    }
    if (!accelerated) pcAndersonReset(&fan->anderson);
    pcAndersonStep(&fan->anderson, fan->reduced.angle, fan->wanted);
}

/* One LCP. With `known`, v and c are those of the pass before, or of the caller. */
static pcSolveInfo pass(const pcFanMethod* method, Fan* fan, bool known, const pcConeSettings* settings, pcArena* arena, double* v,
                        double* c)
{
    pcReduced* r = &fan->reduced;
    if (!pcReducedAssemble(r, arena)) return (pcSolveInfo){.outcome = PC_LIMIT, .residual = INFINITY};
    if (known) pcReducedGuess(r, c, fan->z);
    pcSolveInfo info = method->solve(r, 0.01 * settings->tolerance, settings->maxIterations, known, arena, fan->z);
    pcReducedExpand(r, fan->z, v, c);
    return info;
}

/* A ray says that there is no answer; where one is there but for rounding, the ray was made of that. */
static pcOutcome outcomeOf(const pcCertificate* certificate, double tolerance, pcOutcome lcp)
{
    if (certificate->residual <= tolerance && certificate->momentum <= tolerance) return PC_SOLVED;
    return lcp == PC_RAY && !(pcCertificateOff(certificate) <= ROUNDING) ? PC_RAY : PC_INACCURATE;
}

/* The last digits, from what there is; or all of them, from nothing. What is not better is not taken. */
static void finish(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, pcConeInfo* info, double* v, double* c)
{
    size_t mark = pcArenaMark(&memory->arena), unknowns = (size_t)pcUnknowns(p), rows = (size_t)p->rows;
    double *x = pcArenaNew(&memory->arena, double, unknowns), *y = pcArenaNew(&memory->arena, double, rows);
    if (pcArenaGood(&memory->arena)) {
        memcpy(x, v, unknowns * sizeof *x), memcpy(y, c, rows * sizeof *y);
        pcConeSettings other = {.tolerance = settings->tolerance, .warm = isfinite(info->solve.residual)};
        other.maxIterations = settings->maxIterations; /* who limits the work wants no more of it here either */
        pcConeInfo found = pcSparseSolve(p, &other, memory, x, y);
        info->solve.fallbacks++;
        /* Of answers about as good, this one: a ray, or a fan, may have let go of rows that could have been met. */
        if (found.solve.outcome == PC_SOLVED || !(2.0 * info->solve.residual < found.solve.residual)) {
            memcpy(v, x, unknowns * sizeof *x), memcpy(c, y, rows * sizeof *y);
            info->solve.residual = found.solve.residual;
            info->solve.outcome = found.solve.outcome, info->solver = found.solver;
        }
    }
    pcArenaRelease(&memory->arena, mark);
}

/* Turning has not settled, but each pass was solved: the last ones leave a few contacts whose slip turns as their fans do. From there Newton's
 * method on the discs themselves; where it fails, a pass with fans whose corners crowd about the direction it would start from, closer
 * from pass to pass. */
static void narrow(const pcFanMethod* method, const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, pcConeInfo* info,
                   double* v, double* c)
{
    pcArena* arena = &memory->arena;
    size_t mark = pcArenaMark(arena), unknowns = (size_t)pcUnknowns(p), rows = (size_t)p->rows;
    Fan fan = {0};
    double *x = pcArenaRaw(arena, double, unknowns), *y = pcArenaRaw(arena, double, rows), width = HALF_TURN / 4.0;
    bool goesOn = pcArenaGood(arena) && fanNew(&fan, method, p, PC_FAN_NARROW, arena);
    if (goesOn) memcpy(x, v, unknowns * sizeof *x), memcpy(y, c, rows * sizeof *y);
    for (int round = 0; goesOn; round++) {
        bool polished = pcPolish(&fan.reduced, settings->tolerance, arena, &info->solve.iterations, x, y);
        pcCertificate certificate = pcCertify(p, x, y, arena);
        if (pcCertificateOff(&certificate) < info->solve.residual) {
            memcpy(v, x, unknowns * sizeof *v), memcpy(c, y, rows * sizeof *c);
            info->solve.residual = pcCertificateOff(&certificate),
            info->solve.outcome = outcomeOf(&certificate, settings->tolerance, PC_SOLVED);
        }
        goesOn = !polished && round < NARROWER;
        if (!goesOn) break;
        fan.reduced.width = width /= PC_FAN_SHRINK;
        turn(&fan, y, false);
        pcSolveInfo lcp = pass(method, &fan, true, settings, arena, x, y);
        info->solve.iterations += lcp.iterations, info->solve.fallbacks += lcp.fallbacks;
        goesOn = lcp.outcome == PC_SOLVED;
    }
    pcArenaRelease(arena, mark);
}

/* Passes until they get no better. The best of them goes to v and c: a later one may end on a ray. */
static void passes(const pcFanMethod* method, const pcProblem* p, const pcConeSettings* settings, pcArena* arena, pcConeInfo* info,
                   double* v, double* c)
{
    Fan fan = {0};
    size_t unknowns = (size_t)pcUnknowns(p), rows = (size_t)p->rows;
    double *x = pcArenaRaw(arena, double, unknowns), *y = pcArenaRaw(arena, double, rows), last = INFINITY;
    bool ready = fanNew(&fan, method, p, EDGES, arena) && pcArenaGood(arena), known = settings->warm;
    if (!ready) return;
    memcpy(x, v, unknowns * sizeof *x), memcpy(y, c, rows * sizeof *y);
    turn(&fan, y, false);
    for (int round = 0, stall = 0, helped = 0; round < (fan.discs ? PASSES : 1) && stall < STALL && helped < HELPED;
         round++, known = true) {
        pcSolveInfo lcp = pass(method, &fan, known, settings, arena, x, y);
        pcCertificate certificate = pcCertify(p, x, y, arena);
        double residual = certificate.residual, best = info->solve.residual;
        info->solve.iterations += lcp.iterations, info->solve.fallbacks += lcp.fallbacks;
        info->solve.products += lcp.products, info->solve.restarts += lcp.restarts;
        if (residual < best || round == 0) {
            memcpy(v, x, unknowns * sizeof *v), memcpy(c, y, rows * sizeof *c);
            info->solve.residual = residual, info->solve.outcome = outcomeOf(&certificate, settings->tolerance, lcp.outcome);
        }
        bool fine = residual <= FINE * settings->tolerance || !fan.discs;
        if ((info->solve.outcome == PC_SOLVED && fine) || lcp.outcome == PC_RAY) break;
        helped += lcp.fallbacks > 0;
        stall = residual < 0.5 * best ? 0 : stall + 1;
        turn(&fan, y, residual < last && round > 0);
        last = residual;
    }
}

pcConeInfo pcFanSolve(const pcFanMethod* method, const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, double* v,
                      double* c)
{
    pcConeInfo info = {.solve = {.outcome = PC_LIMIT, .residual = INFINITY}, .solver = method->name};
    size_t mark = pcArenaMark(&memory->arena);
    if (!settings->warm) pcConeStart(p, v, c);
    passes(method, p, settings, &memory->arena, &info, v, c);
    pcArenaRelease(&memory->arena, mark);
    bool small = p->rows <= NARROW_ROWS && settings->maxIterations == 0, near = info.solve.residual <= NARROW_RESIDUAL;
    if (info.solve.outcome != PC_SOLVED && small && near && pcFanHasDiscs(p)) narrow(method, p, settings, memory, &info, v, c);
    if (info.solve.outcome != PC_SOLVED) finish(p, settings, memory, &info, v, c);
    return info;
}
