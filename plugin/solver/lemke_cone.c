/*
 * Cone problems by Lemke's method on their reduction to the impulses, where the quick try of quick.c has not been enough.
 *
 * Polygons and frictionless contacts: exact at once. Discs: the fan
 * of a group that slides is turned until one corner opposes the slip; where it sticks, until one corner lies along the impulse. A
 * fan turned so gives what the disc gives, so the fixed point of turning and solving solves the circular problem. From pass to pass the
 * last impulses give the guess of the basis, so a pass needs few pivots or none. Turning converges linearly; and v = f + M^-1 J'c has lost
 * digits where a light body carries a heavy one. What is then missing is left to the proximal method from there on, counted as a
 * fall-back.
 */
#include "solver/lemke_cone.h"

#include <math.h>
#include <string.h>

#include "solver/certificate.h"
#include "solver/lemke.h"
#include "solver/memory.h"
#include "solver/quick.h"
#include "solver/reduce.h"
#include "solver/sparse.h"

#define EDGES 8      /* corners of a fan */
#define PASSES 8     /* turns of the fans */

typedef struct Fan {
    pcReduced reduced;
    double *z, *u;
    unsigned char* basis;
} Fan;

static bool fanNew(Fan* fan, const pcProblem* p, pcArena* arena)
{
    if (!pcReduce(p, EDGES, arena, &fan->reduced)) return false;
    fan->z = pcArenaNew(arena, double, fan->reduced.n);
    fan->u = pcArenaNew(arena, double, p->rows);
    fan->basis = pcArenaNew(arena, unsigned char, fan->reduced.n);
    return pcArenaGood(arena);
}

/* Turns every disc's fan to where its impulse wants to go: w c - u, w the group's own velocity per impulse. false: there are no discs. */
static bool turn(Fan* fan, const double* c)
{
    pcReduced* r = &fan->reduced;
    const pcProblem* p = r->problem;
    size_t rows = (size_t)p->rows;
    bool any = false;
    for (int k = 0; k < p->cones; k++) {
        const pcCone* cone = &p->cone[k];
        for (int g = 0, row = cone->row + 1; g < (cone->kind == PC_CONE_FRICTION ? cone->groups : 0); row += cone->groupSize[g++]) {
            if (!pcReducedIsDisc(cone, g)) continue;
            double u[2], w = 0.5 * (r->W[(size_t)row * (rows + 1)] + r->W[(size_t)(row + 1) * (rows + 1)]);
            for (int i = 0; i < 2; i++) {
                u[i] = r->u0[row + i];
                for (size_t j = 0; j < rows; j++) u[i] += r->W[(size_t)(row + i) * rows + j] * c[j];
            }
            double x = w * c[row] - u[0], y = w * c[row + 1] - u[1];
            if (x != 0.0 || y != 0.0) r->angle[k * PC_CONE_GROUPS + g] = atan2(y, x);
            any = true;
        }
    }
    return any;
}

/* One LCP. With `known`, v and c are those of the pass before, or of the caller. */
static pcSolveInfo pass(Fan* fan, bool known, const pcConeSettings* settings, pcArena* arena, double* v, double* c)
{
    pcReduced* r = &fan->reduced;
    pcReducedAssemble(r);
    if (known) {
        pcReducedGuess(r, c, fan->z);
        for (int i = 0; i < r->n; i++) fan->basis[i] = fan->z[i] > 0.0;
    }
    pcLemke lcp = {.n = r->n, .M = r->M, .q = r->q, .tolerance = 0.01 * settings->tolerance, .maxPivots = settings->maxIterations};
    lcp.guessOrNull = known ? fan->basis : NULL;
    pcSolveInfo info = pcLemkeSolve(&lcp, arena, fan->z, NULL);
    pcReducedExpand(r, fan->z, v, c);
    return info;
}

static pcOutcome outcomeOf(const pcCertificate* certificate, double tolerance, pcOutcome lcp)
{
    if (certificate->residual <= tolerance && certificate->momentum <= tolerance) return PC_SOLVED;
    return lcp == PC_RAY ? PC_RAY : PC_INACCURATE;
}

/* The last digits. What it does not make better it leaves. */
static void finish(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, pcConeInfo* info, double* v, double* c)
{
    size_t mark = pcArenaMark(&memory->arena), unknowns = (size_t)(6 * p->blocks), rows = (size_t)p->rows;
    double *x = pcArenaNew(&memory->arena, double, unknowns), *y = pcArenaNew(&memory->arena, double, rows);
    if (pcArenaGood(&memory->arena)) {
        memcpy(x, v, unknowns * sizeof *x), memcpy(y, c, rows * sizeof *y);
        pcConeSettings warm = *settings;
        warm.warm = true, warm.maxIterations = 0;
        pcConeInfo found = pcSparseSolve(p, &warm, memory, x, y);
        info->solve.fallbacks++;
        if (found.solve.residual < info->solve.residual || found.solve.outcome == PC_SOLVED) {
            memcpy(v, x, unknowns * sizeof *x), memcpy(c, y, rows * sizeof *y);
            info->solve.residual = found.solve.residual;
            info->solve.outcome = found.solve.outcome;
        }
    }
    pcArenaRelease(&memory->arena, mark);
}

pcConeInfo pcLemkeConeSolve(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c)
{
    pcConeInfo info = {.solve = {.outcome = PC_LIMIT, .residual = INFINITY}, .solver = "lemke"};
    pcArena* arena = &memory->arena;
    if (pcQuickSolve(p, settings, arena, &info.solve, v, c)) return info;
    size_t mark = pcArenaMark(arena);
    Fan fan = {0};
    bool ready = fanNew(&fan, p, arena), known = settings->warm;
    if (!known) memset(c, 0, (size_t)p->rows * sizeof *c);
    bool discs = ready && turn(&fan, c);
    for (int round = 0; ready && round < (discs ? PASSES : 1); round++, known = true) {
        pcSolveInfo lcp = pass(&fan, known, settings, arena, v, c);
        pcCertificate certificate = pcCertify(p, v, c, arena);
        info.solve.iterations += lcp.iterations, info.solve.fallbacks += lcp.fallbacks;
        info.solve.residual = certificate.residual;
        info.solve.outcome = outcomeOf(&certificate, settings->tolerance, lcp.outcome);
        if (info.solve.outcome == PC_SOLVED || lcp.outcome == PC_RAY) break;
        turn(&fan, c);
    }
    pcArenaRelease(arena, mark);
    if (info.solve.outcome != PC_SOLVED && isfinite(info.solve.residual)) finish(p, settings, memory, &info, v, c);
    return info;
}
