/*
 * What a problem can be spared.
 *
 * The guess. In a world at rest the impulses of the last step are those of this one. Then v = f + M^-1 J'c and one certificate are all the
 * work.
 *
 * Contacts that do not act. Looking ahead finds ten contacts for every one that will press; but a contact with c = 0 is no part of the
 * problem, as long as u~ is in K* without it. So: solve with the contacts that the guess presses or drives together, look at the others
 * with the v that comes out, take in those that are violated, and again from there. The end of it solves the whole problem, not an
 * approximation of it: what was left out has c = 0 and u~ in K*, to the last digit.
 */
#include "solver/lazy.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "linalg/mass.h"
#include "solver/certificate.h"
#include "solver/memory.h"

#define FEWEST_CONES 24 /* smaller problems are solved at once */
#define WORTH_IT 0.8    /* at most this part of the cones is left, or all are taken */
#define ROUNDS 12       /* then all are taken */
#define NEARLY 0.0      /* of the velocity scale: contacts that open no faster than this are taken in */

/* ---- the guess ---- */

static double rowVelocity(const pcProblem* p, int row, const double* v)
{
    const int* block = p->block + 2 * (size_t)row;
    const double* J = p->J + 12 * (size_t)row;
    double u = -p->target[row];
    for (int side = 0; side < 2; side++)
        for (int i = 0; block[side] >= 0 && i < 6; i++) u += J[6 * side + i] * v[6 * (size_t)block[side] + (size_t)i];
    return u;
}

/* v = f + M^-1 J'c */
static bool follow(const pcProblem* p, const double* c, pcArena* arena, double* v)
{
    pcMass mass;
    size_t mark = pcArenaMark(arena), n = 6 * (size_t)p->blocks;
    bool good = pcMassFactor(&mass, p->blocks, false, p->mass, arena);
    memset(v, 0, n * sizeof *v);
    for (int row = 0; row < p->rows; row++) {
        if (c[row] == 0.0) continue;
        for (int side = 0; side < 2; side++) {
            int block = p->block[2 * (size_t)row + (size_t)side];
            const double* J = p->J + 12 * (size_t)row + 6 * side;
            for (int i = 0; block >= 0 && i < 6; i++) v[6 * (size_t)block + (size_t)i] += J[i] * c[row];
        }
    }
    if (good) pcMassSolve(&mass, v);
    for (size_t i = 0; i < n; i++) v[i] = good ? v[i] + p->free[i] : p->free[i];
    pcArenaRelease(arena, mark);
    return good;
}

bool pcGuessSolve(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, pcConeInfo* info, double* v, const double* c)
{
    if (!settings->warm || p->W || p->dense || !follow(p, c, &memory->arena, v) || !(settings->guess > 0.0)) return false;
    pcCertificate certificate = pcCertify(p, v, c, &memory->arena);
    if (!(certificate.residual <= settings->guess && certificate.momentum <= settings->tolerance)) return false;
    *info = (pcConeInfo){.solve = {.outcome = PC_SOLVED, .residual = certificate.residual}, .solver = "guess"};
    return true;
}

/* ---- contacts that act ---- */

typedef struct Lazy {
    const pcProblem* p;
    bool* taken; /* per cone */
    int cones, rows;
    pcProblem part;
    int* block;
    double *J, *target, *soft, *c;
    pcCone* cone;
} Lazy;

static bool lazyNew(Lazy* s, const pcProblem* p, pcArena* arena)
{
    size_t rows = (size_t)p->rows;
    *s = (Lazy){.p = p, .part = *p};
    s->taken = pcArenaNew(arena, bool, p->cones), s->cone = pcArenaRaw(arena, pcCone, p->cones);
    s->block = pcArenaRaw(arena, int, 2 * rows), s->J = pcArenaRaw(arena, double, 12 * rows);
    s->target = pcArenaRaw(arena, double, rows), s->soft = pcArenaRaw(arena, double, rows), s->c = pcArenaRaw(arena, double, rows);
    return pcArenaGood(arena);
}

/* How fast a contact that carries nothing opens, beyond what its law asks for. */
static double opening(const pcProblem* p, const pcCone* cone, const double* v)
{
    double u[PC_CONE_ROWS];
    u[0] = rowVelocity(p, cone->row, v);
    if (p->coulomb || u[0] < 0.0) return u[0];
    for (int i = 1; i < cone->rows; i++) u[i] = rowVelocity(p, cone->row + i, v);
    for (int g = 0; g < cone->groups; g++) u[0] -= pcConeSlip(cone, g, u);
    return u[0];
}

/* Takes in what acts at v, or carries something in the guess; how many that are. */
static int takeIn(Lazy* s, const double* v, const double* cOrNull)
{
    int more = 0;
    for (int k = 0; k < s->p->cones; k++) {
        const pcCone* cone = s->p->cone + k;
        if (s->taken[k]) continue;
        bool acts = cone->kind != PC_CONE_FRICTION || (cOrNull && cOrNull[cone->row] > 0.0) ||
                    !(opening(s->p, cone, v) >= NEARLY * s->p->velocityScale);
        if (!acts) continue;
        s->taken[k] = true, more++;
        s->cones++, s->rows += cone->rows;
    }
    return more;
}

/* The problem of what is taken, with the impulses that it has so far. */
static void gather(Lazy* s, const double* c)
{
    const pcProblem* p = s->p;
    int cones = 0, row = 0;
    for (int k = 0; k < p->cones; k++) {
        const pcCone* cone = p->cone + k;
        size_t from = (size_t)cone->row, to = (size_t)row, rows = (size_t)cone->rows;
        if (!s->taken[k]) continue;
        s->cone[cones] = *cone, s->cone[cones++].row = row;
        memcpy(s->block + 2 * to, p->block + 2 * from, 2 * rows * sizeof *s->block);
        memcpy(s->J + 12 * to, p->J + 12 * from, 12 * rows * sizeof *s->J);
        memcpy(s->target + to, p->target + from, rows * sizeof *s->target);
        memcpy(s->soft + to, p->soft + from, rows * sizeof *s->soft);
        memcpy(s->c + to, c + from, rows * sizeof *s->c);
        row += cone->rows;
    }
    s->part.cones = cones, s->part.rows = row, s->part.cone = s->cone;
    s->part.block = s->block, s->part.J = s->J, s->part.target = s->target, s->part.soft = s->soft;
}

/* Impulses of what is taken back to where they belong; 0 of the others. */
static void scatter(const Lazy* s, double* c)
{
    memset(c, 0, (size_t)s->p->rows * sizeof *c);
    for (int k = 0, part = 0; k < s->p->cones; k++) {
        if (!s->taken[k]) continue;
        memcpy(c + s->p->cone[k].row, s->c + s->cone[part].row, (size_t)s->cone[part].rows * sizeof *c);
        part++;
    }
}

static bool isWorthIt(const Lazy* s) { return s->cones <= WORTH_IT * s->p->cones; }

static void takeAll(Lazy* s)
{
    for (int k = 0; k < s->p->cones; k++) s->taken[k] = true;
    s->cones = s->p->cones, s->rows = s->p->rows;
}

bool pcLazySolve(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, pcConeSolve* solve, pcConeInfo* info,
                 double* v, double* c)
{
    if (p->W || p->dense || p->cones < FEWEST_CONES || settings->maxIterations > 0) return false;
    Lazy s;
    pcConeSettings inner = *settings;
    size_t mark = pcArenaMark(&memory->arena);
    bool good = lazyNew(&s, p, &memory->arena);
    if (good) takeIn(&s, settings->warm ? v : p->free, settings->warm ? c : NULL);
    good = good && isWorthIt(&s);
    if (good && !settings->warm) memset(c, 0, (size_t)p->rows * sizeof *c);
    pcSolveInfo before = {0};
    for (int round = 1, more = 1; good && more; round++) {
        gather(&s, c);
        *info = solve(&s.part, &inner, memory, v, s.c);
        scatter(&s, c);
        before.iterations += info->solve.iterations, before.fallbacks += info->solve.fallbacks;
        more = takeIn(&s, v, NULL);
        if (more && round >= ROUNDS) takeAll(&s);
        inner.warm = true;
    }
    if (good) info->solve.iterations = before.iterations, info->solve.fallbacks = before.fallbacks;
    pcArenaRelease(&memory->arena, mark);
    return good;
}
