/*
 * The public call for contact problems given by their Delassus matrix: what may come in, and how it becomes a cone problem.
 *
 *     friction rows times mu:  W' = S W S, q' = S q, r = S c, S = diag(1, mu, mu):  every cone is then the unit one of problem.h
 *
 * A contact without friction keeps its normal row only: the others would be rows of zeros.
 */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"
#include "pcontact/lcp.h"
#include "solver/problem.h"
#include "solver/public.h"

typedef struct Contacts {
    pcProblem problem;
    double *W, *target, *soft, *c, *x; /* x = W c */
    pcCone* cone;
    int* place;    /* of each row of the caller's: row here, or -1 */
    double* scale; /* S */
} Contacts;

/* ---- What may come in ---------------------------------------------------------------------------------------------------------- */

static bool refuse(pcStatus status, const char* sentence) { return pcFail(status, "%s", sentence) == PC_OK; }

static bool sizesAreGood(const pcDelassus* p, const double* r)
{
    if (!p) return refuse(PC_ERROR_ARGUMENT, "The problem is missing (NULL).");
    if (p->contacts < 0 || p->nonzeros < 0) return refuse(PC_ERROR_ARGUMENT, "The number of contacts or of nonzeros is negative.");
    if (p->dim != 2 && p->dim != 3) return pcFail(PC_ERROR_ARGUMENT, "dim is %d; it must be 2 or 3.", p->dim) == PC_OK;
    if (p->contacts > PC_LARGEST_PROBLEM / p->dim) return refuse(PC_ERROR_ARGUMENT, "There are too many contacts for a dense matrix.");
    if (p->contacts > 0 && (!p->q || !p->mu || !r)) return refuse(PC_ERROR_ARGUMENT, "q, mu or the place for r is missing (NULL).");
    if (p->nonzeros > 0 && (!p->row || !p->col || !p->value)) return refuse(PC_ERROR_ARGUMENT, "row, col or value is missing (NULL).");
    return true;
}

static bool entriesAreGood(const pcDelassus* p)
{
    int n = p->dim * p->contacts;
    for (int k = 0; k < p->nonzeros; k++) {
        if (p->row[k] < 0 || p->row[k] >= n || p->col[k] < 0 || p->col[k] >= n)
            return pcFail(PC_ERROR_ARGUMENT, "Nonzero %d stands at (%d, %d), outside a matrix of %d rows.", k, p->row[k], p->col[k], n) ==
                   PC_OK;
        if (!isfinite(p->value[k])) return pcFail(PC_ERROR_NOT_FINITE, "Nonzero %d is NaN or infinite.", k) == PC_OK;
    }
    for (int i = 0; i < n; i++)
        if (!isfinite(p->q[i])) return pcFail(PC_ERROR_NOT_FINITE, "q[%d] is NaN or infinite.", i) == PC_OK;
    for (int k = 0; k < p->contacts; k++)
        if (!isfinite(p->mu[k]) || p->mu[k] < 0.0) return pcFail(PC_ERROR_ARGUMENT, "mu[%d] is negative, NaN or infinite.", k) == PC_OK;
    return true;
}

static bool unknownSolver(const char* name)
{
    char names[200] = "";
    for (int i = 0; i < pcConeSolverCount; i++) {
        if (i) strncat(names, ", ", sizeof names - strlen(names) - 1);
        strncat(names, pcConeSolvers[i].name, sizeof names - strlen(names) - 1);
    }
    return pcFail(PC_ERROR_ARGUMENT, "There is no solver \"%.40s\" for a contact problem; there are: %s.", name, names) == PC_OK;
}

static bool choiceIsGood(const pcDelassus* p, const pcSolveSettings* settings)
{
    if (!pcSolveSettingsGood(settings)) return false;
    if (!pcConeSolverFind(settings->solver)) return unknownSolver(settings->solver);
    int edges = settings->coneEdges;
    if (edges != 0 && (edges < 4 || edges > 1024 || edges % 2 != 0))
        return pcFail(PC_ERROR_ARGUMENT, "coneEdges is %d; it must be even, from 4 to 1024, or 0 for the circular cone.", edges) == PC_OK;
    for (int i = 0; settings->start && i < p->dim * p->contacts; i++)
        if (!isfinite(settings->start[i])) return refuse(PC_ERROR_NOT_FINITE, "The starting guess has an entry that is NaN or infinite.");
    return true;
}

/* ---- The problem --------------------------------------------------------------------------------------------------------------- */

static void layOut(Contacts* s, const pcDelassus* p, int edges)
{
    int rows = 0;
    for (int k = 0; k < p->contacts; k++) {
        int friction = p->mu[k] > 0.0 ? p->dim - 1 : 0;
        pcCone cone = {.kind = PC_CONE_FRICTION, .row = rows, .rows = 1 + friction, .groups = friction > 0, .groupSize = {friction}};
        if (friction == 2) cone.edges = edges;
        s->cone[k] = cone;
        for (int i = 0; i < p->dim; i++) {
            s->place[p->dim * k + i] = i <= friction ? rows++ : -1;
            s->scale[p->dim * k + i] = i ? p->mu[k] : 1.0;
        }
    }
    s->problem = (pcProblem){.rows = rows, .cones = p->contacts, .cone = s->cone, .coulomb = true};
}

static void fill(Contacts* s, const pcDelassus* p, const double* start)
{
    double largest = 0.0;
    size_t n = (size_t)s->problem.rows;
    for (int k = 0; k < p->nonzeros; k++) {
        int i = s->place[p->row[k]], j = s->place[p->col[k]];
        if (i >= 0 && j >= 0) s->W[(size_t)i + (size_t)j * n] += s->scale[p->row[k]] * s->scale[p->col[k]] * p->value[k];
    }
    for (int i = 0; i < p->dim * p->contacts; i++) {
        int at = s->place[i];
        if (at < 0) continue;
        s->target[at] = -s->scale[i] * p->q[i];
        largest = larger(largest, fabs(s->target[at]));
        if (start) s->c[at] = start[i] / s->scale[i];
    }
    for (size_t j = 0; start && j < n; j++)
        for (size_t i = 0; s->c[j] != 0.0 && i < n; i++) s->x[i] += s->W[i + j * n] * s->c[j];
    s->problem.W = s->W, s->problem.target = s->target, s->problem.soft = s->soft;
    s->problem.velocityScale = largest > 0.0 ? largest : 1.0;
}

static bool contactsNew(Contacts* s, const pcDelassus* p, const pcSolveSettings* settings, pcArena* arena)
{
    size_t all = (size_t)p->dim * (size_t)p->contacts;
    s->cone = pcArenaNew(arena, pcCone, p->contacts);
    s->place = pcArenaNew(arena, int, all), s->scale = pcArenaNew(arena, double, all);
    if (!pcArenaGood(arena)) return false;
    layOut(s, p, settings->coneEdges);
    size_t n = (size_t)s->problem.rows;
    s->W = pcArenaNew(arena, double, n* n);
    s->target = pcArenaNew(arena, double, n), s->soft = pcArenaNew(arena, double, n);
    s->c = pcArenaNew(arena, double, n), s->x = pcArenaNew(arena, double, n);
    if (!pcArenaGood(arena)) return false;
    fill(s, p, settings->start);
    return true;
}

static pcSolveInfo solve(Contacts* s, const pcSolveSettings* settings)
{
    pcSolveInfo info = {.outcome = PC_LIMIT, .residual = INFINITY};
    if (s->problem.rows == 0) return (pcSolveInfo){.outcome = PC_SOLVED};
    pcConeSettings cone = {
        .tolerance = settings->tolerance, .maxIterations = settings->maxIterations, .warm = settings->start, .fixedPoint = 2};
    pcSolverMemory* memory = pcSolverMemoryCreate();
    if (memory) info = pcConeSolverFind(settings->solver)->solve(&s->problem, &cone, memory, s->x, s->c).solve;
    pcSolverMemoryFree(memory);
    return info;
}

pcSolveInfo pcDelassusSolve(const pcDelassus* p, const pcSolveSettings* settings, double* r)
{
    pcSolveInfo info = {.outcome = PC_BAD_INPUT, .residual = INFINITY};
    if (!sizesAreGood(p, r) || !choiceIsGood(p, settings) || !entriesAreGood(p)) return info;
    pcArena arena = {0};
    Contacts s = {0};
    if (!contactsNew(&s, p, settings, &arena)) {
        pcFail(PC_ERROR_MEMORY, "Out of memory for a contact problem of %d rows.", p->dim * p->contacts);
    } else {
        info = solve(&s, settings);
        bool finite = true;
        for (int i = 0; i < p->dim * p->contacts; i++)
            r[i] = s.place[i] >= 0 ? s.scale[i] * s.c[s.place[i]] : 0.0, finite &= isfinite(r[i]) != 0;
        if (!finite) { /* beyond what a double holds: no answer */
            memset(r, 0, (size_t)(p->dim * p->contacts) * sizeof *r);
            info.outcome = PC_LIMIT, info.residual = INFINITY;
        }
    }
    pcArenaFree(&arena);
    return info;
}
