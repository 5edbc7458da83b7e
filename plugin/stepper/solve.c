/*
 * Islands to solvers and back: warm start, threads, restitution by Poisson's hypothesis.
 *
 * Poisson (S 5 names it, with an energy bound). Compression: the problem with b_n = 0 for the contacts that hit; answer v1, c1.
 * Decompression: each of them gives back e c1 (with its friction if it slides; one that sticks has none to give), then the problem again
 * from f2 = v1 + e M^-1 J'c1 with the rows' own targets. Impulses add up and stay in their cones, which are convex.
 *
 * Energy of a velocity, the work of the step's forces taken off:   E(v) = 1/2 v'Mv - v'M (v* - v_old). With a part p of e c1 given back,
 *
 *     E(v1 + p d) = E(v1) + p d'M (v1 - v* + v_old) + p^2 / 2 d'Md  <=  max(E(v_old) + b'c1, E(v1)) + p b'e c1
 *
 * must hold; b'c is the work of bodies that keep their velocity. The largest p <= 1 that does is used.
 */
#include <string.h>

#include "base/sort.h"
#include "solver/certificate.h"
#include "stepper/stepper.h"

/* ---- warm start ---- */

static void guessTouch(const pcStep* step, const pcKeptTouch* kept, const pcTouchRows* rows, double* c)
{
    double scale = step->h / step->last->h;
    double physical[6] = {kept->normal,  v3Dot(kept->friction, rows->tangent1), v3Dot(kept->friction, rows->tangent2),
                          kept->torsion, v3Dot(kept->rolling, rows->tangent1),  v3Dot(kept->rolling, rows->tangent2)};
    for (int k = 0; k < 6; k++)
        if (rows->row[k] >= 0) c[rows->row[k]] = scale * physical[k] / rows->scale[k];
}

static void guessIsland(const pcStep* step, pcIsland* island)
{
    for (int i = 0; i < island->rows; i++)
        if (step->last->rows == step->system->rowCount) island->c[i] = step->last->rowImpulse[island->row[i]] * (step->h / step->last->h);
    for (int i = 0; i < island->touches; i++) {
        const pcTouch* touch = step->touch + island->touch[i];
        const pcKeptTouch* kept = pcHistoryFind(step->last, touch);
        if (kept) guessTouch(step, kept, island->touchRows + i, island->c);
    }
}

void pcStepWarm(pcStep* step)
{
    if (!step->last->solved) return;
    for (int i = 0; i < step->islandCount; i++) guessIsland(step, step->islands + i);
}

/* ---- restitution ---- */

static bool hasImpact(const pcIsland* island)
{
    for (int i = 0; i < island->touches; i++)
        if (island->touchRows[i].impact) return true;
    return false;
}

/* Rows are multiplied by mu: the cone is that of a unit disc. */
static bool slides(const pcTouchRows* t, const double* c)
{
    double c1 = t->inCone[0] ? c[t->row[1]] : 0.0, c2 = t->inCone[1] ? c[t->row[2]] : 0.0, n = c[t->row[0]];
    return n > 0.0 && sqrt(c1 * c1 + c2 * c2) >= n * (1.0 - 1e-6);
}

/* e c1 of the contacts that hit. */
static void returned(const pcIsland* island, const double* c1, double* back)
{
    for (int i = 0; i < island->touches; i++) {
        const pcTouchRows* t = island->touchRows + i;
        if (!t->impact) continue;
        back[t->row[0]] = t->bounce * c1[t->row[0]];
        for (int k = 0; k < 2 && slides(t, c1); k++)
            if (t->inCone[k]) back[t->row[1 + k]] = t->bounce * c1[t->row[1 + k]];
    }
}

static void addTransposed(const pcProblem* p, const double* c, double* impulse)
{
    for (int row = 0; row < p->rows; row++)
        for (int side = 0; side < 2; side++) {
            int block = p->block[2 * row + side];
            for (int k = 0; block >= 0 && k < 6; k++) impulse[6 * block + k] += p->J[12 * row + 6 * side + k] * c[row];
        }
}

/* The second problem in place of the first: own targets again, and for soft and bounded rows what the first phase has left of them. */
static void enterDecompression(pcIsland* island, const double* c1)
{
    pcRows* list = &island->list;
    for (int row = 0; row < list->rows; row++) list->target[row] -= list->soft[row] * c1[row];
    for (int i = 0; i < island->touches; i++)
        if (island->touchRows[i].impact) list->target[island->touchRows[i].row[0]] += island->touchRows[i].target;
    for (pcCone* cone = list->cone; cone < list->cone + list->cones; cone++)
        if (cone->kind == PC_CONE_BOX) cone->lo -= c1[cone->row], cone->hi -= c1[cone->row];
}

typedef struct Solve {
    pcStep* step;
    pcIsland* island;
    pcWorker* worker;
    pcConeSettings settings;
} Solve;

static pcConeInfo solveOnce(const Solve* s, bool warm)
{
    pcConeSettings settings = s->settings;
    settings.warm = warm;
    return s->step->solver->solve(&s->island->problem, &settings, s->worker->solver, s->island->v, s->island->c);
}

static void judge(const Solve* s, pcIslandJudged* answer)
{
    answer->certificate = pcCertify(&s->island->problem, s->island->v, s->island->c, &s->worker->arena);
    answer->energyError = pcEnergyError(&s->island->problem, s->island->v, s->island->c);
}

static void addInfo(pcConeInfo* sum, pcConeInfo more)
{
    sum->solve.iterations += more.solve.iterations, sum->solve.fallbacks += more.solve.fallbacks;
    sum->solve.outcome = more.solve.outcome > sum->solve.outcome ? more.solve.outcome : sum->solve.outcome;
    sum->solve.residual = larger(sum->solve.residual, more.solve.residual);
}

/* What the second phase is made from; all of it lives in the worker's arena. */
typedef struct Phase2 {
    double *old, *push; /* v_old; v* - v_old */
    double *v1, *c1;
    double* back; /* e c1 */
    double* d;    /* M^-1 J'e c1 */
    double* f2;
    double limit, work; /* E may be limit + p work */
} Phase2;

static double energyOf(const pcProblem* p, const Phase2* r, const double* v)
{
    return pcKineticEnergy(p, v) - pcMassProduct(p, v, r->push);
}

/* b'c over the contacts that hit. */
static double workOf(const pcIsland* island, const double* c)
{
    double sum = 0.0;
    for (int i = 0; i < island->touches; i++)
        for (int k = 0; island->touchRows[i].impact && k < 3; k++) {
            int row = island->touchRows[i].row[k];
            if (row >= 0) sum += island->list.target[row] * c[row];
        }
    return sum;
}

static bool beginPhase2(const Solve* s, Phase2* r)
{
    const pcIsland* island = s->island;
    const pcProblem* p = &island->problem;
    size_t n = 6 * (size_t)p->blocks, rows = (size_t)p->rows;
    pcArena* arena = &s->worker->arena;
    double** bodies[] = {&r->old, &r->push, &r->v1, &r->d, &r->f2};
    for (int i = 0; i < 5; i++) *bodies[i] = pcArenaNew(arena, double, n);
    r->c1 = pcArenaNew(arena, double, rows), r->back = pcArenaNew(arena, double, rows);
    if (!pcArenaGood(arena)) return false;
    memcpy(r->v1, island->v, n * sizeof(double)), memcpy(r->c1, island->c, rows * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        r->old[i] = s->step->motion[island->body[i / 6]].velocity[i % 6];
        r->push[i] = p->free[i] - r->old[i];
    }
    returned(island, r->c1, r->back);
    addTransposed(p, r->back, r->f2);
    pcIslandAnswer(&s->step->assembly, island, r->f2, r->d);
    r->limit = larger(energyOf(p, r, r->old) + workOf(island, r->c1), energyOf(p, r, r->v1));
    r->work = workOf(island, r->back);
    return true;
}

/* The largest p <= 1 with E(v1 + p d) <= limit + p work: the root of a p^2 + b p + c <= 0, where c <= 0. */
static double largestPart(const pcProblem* p, const Phase2* r)
{
    double a = pcKineticEnergy(p, r->d), b = pcMassProduct(p, r->d, r->v1) - pcMassProduct(p, r->d, r->push) - r->work;
    double c = smaller(energyOf(p, r, r->v1) - r->limit, 0.0);
    if (a + b + c <= 0.0) return 1.0;
    double root = sqrt(larger(b * b - 4.0 * a * c, 0.0));
    return b > 0.0 ? -2.0 * c / (b + root) : smaller(1.0, (root - b) / (2.0 * a)); /* a > 0 here: with a = 0 there is no d */
}

/* From v1 and a part of d to the answer; true if no energy was gained. */
static bool decompress(const Solve* s, const Phase2* r, double part, pcConeInfo* info)
{
    pcIsland* island = s->island;
    const pcProblem* p = &island->problem;
    for (int i = 0; i < 6 * p->blocks; i++) island->v[i] = r->f2[i] = r->v1[i] + part * r->d[i];
    memset(island->c, 0, (size_t)p->rows * sizeof(double));
    addInfo(info, solveOnce(s, false));
    return energyOf(p, r, island->v) <= r->limit + part * r->work + 1e-9 * (fabs(r->limit) + pcKineticEnergy(p, island->v));
}

static void restore(const Solve* s, pcIslandJudged* answer)
{
    Phase2 r;
    pcProblem* p = &s->island->problem;
    if (!beginPhase2(s, &r)) { /* out of memory: compressed, but not given back */
        answer->info.solve.outcome = PC_INACCURATE;
        return;
    }
    double part = largestPart(p, &r);
    enterDecompression(s->island, r.c1);
    p->free = r.f2;
    while (!decompress(s, &r, part, &answer->info) && part > 0.0) part = part > 0.05 ? 0.5 * part : 0.0;
    judge(s, answer);
    for (int i = 0; i < p->rows; i++) s->island->c[i] += r.c1[i] + part * r.back[i];
}

/* ---- all islands ---- */

static void solveTask(void* context, int task, int worker)
{
    pcStep* step = context;
    int index = step->largestFirst[task];
    pcIslandJudged* answer = step->answers + index;
    Solve s = {.step = step, .island = step->islands + index, .worker = step->memory->worker + worker};
    s.settings = (pcConeSettings){.tolerance = step->settings->tolerance, .fixedPoint = step->settings->fixedPoint};
    answer->info = solveOnce(&s, step->last->solved);
    if (hasImpact(s.island))
        restore(&s, answer);
    else
        judge(&s, answer);
    pcArenaRelease(&s.worker->arena, 0);
}

/* Largest first, so that the threads end together. */
static bool orderIslands(pcStep* step)
{
    int count = step->islandCount;
    pcKeyed *sorted = pcArenaNew(step->arena, pcKeyed, count), *room = pcArenaNew(step->arena, pcKeyed, count);
    step->largestFirst = pcArenaNew(step->arena, int, count);
    step->answers = pcArenaNew(step->arena, pcIslandJudged, count);
    if (!pcArenaGood(step->arena)) return false;
    for (int i = 0; i < count; i++) sorted[i] = (pcKeyed){(uint64_t)(INT32_MAX - step->islands[i].problem.rows), i};
    pcSortKeyed(sorted, count, room);
    for (int i = 0; i < count; i++) step->largestFirst[i] = sorted[i].index;
    return true;
}

void pcStepSolve(pcStep* step)
{
    if (orderIslands(step)) pcPoolRun(step->memory->pool, step->threads, solveTask, step, step->islandCount);
}
