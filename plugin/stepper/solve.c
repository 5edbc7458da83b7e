/*
 * Islands to solvers and back: warm start, threads, restitution by Poisson's hypothesis.
 *
 * Poisson (S 5 names it, with an energy bound). Compression: the problem with b_n = 0 for the contacts that hit; answer v1, c1.
 * Decompression: each of them gives back e c1 (with its friction if it slides; one that sticks has none to give), then the problem again
 * from f2 = v1 + e M^-1 J'c1 with the rows' own targets. Impulses add up and stay in their cones, which are convex. Should the kinetic
 * energy exceed that of both v* and v1, the impulse given back is halved until it does not.
 */
#include <string.h>

#include "base/sort.h"
#include "stepper/stepper.h"

#if __has_include("solver/certificate.h")
#include "solver/certificate.h"
#else
pcCertificate pcCertifyStandIn(const pcProblem* problem, const double* v, const double* c, pcArena* arena); /* solver/table.c */
#define pcCertify pcCertifyStandIn
#endif

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

static bool slides(const pcTouchRows* t, const double* c)
{
    double c1 = t->row[1] >= 0 ? c[t->row[1]] : 0.0, c2 = t->row[2] >= 0 ? c[t->row[2]] : 0.0, n = c[t->row[0]];
    return n > 0.0 && sqrt(c1 * c1 + c2 * c2) >= n * (1.0 - 1e-6); /* rows are multiplied by mu: the cone is that of a unit disc */
}

/* e c1 of the contacts that hit. */
static void returned(const pcIsland* island, const double* c1, double part, double* back)
{
    memset(back, 0, (size_t)island->problem.rows * sizeof *back);
    for (int i = 0; i < island->touches; i++) {
        const pcTouchRows* t = island->touchRows + i;
        if (!t->impact) continue;
        int most = slides(t, c1) ? 3 : 1;
        for (int k = 0; k < most; k++)
            if (t->row[k] >= 0) back[t->row[k]] = part * t->bounce * c1[t->row[k]];
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

static pcConeInfo solveOnce(const Solve* s, bool warm, double* v, double* c)
{
    pcConeSettings settings = s->settings;
    settings.warm = warm;
    return s->step->solver->solve(&s->island->problem, &settings, s->worker->solver, v, c);
}

static void merge(pcConeInfo* sum, pcConeInfo more)
{
    sum->solve.iterations += more.solve.iterations, sum->solve.fallbacks += more.solve.fallbacks;
    sum->solve.outcome = more.solve.outcome > sum->solve.outcome ? more.solve.outcome : sum->solve.outcome;
    sum->solve.residual = larger(sum->solve.residual, more.solve.residual);
}

/* v2 and c2 for one size of what is given back; true if no energy was gained. */
static bool decompress(const Solve* s, const double* v1, const double* c1, double part, double limit, double* f2, double* back,
                       pcConeInfo* info)
{
    pcIsland* island = s->island;
    size_t n = 6 * (size_t)island->bodies;
    size_t mark = pcArenaMark(&s->worker->arena);
    double* impulse = pcArenaNew(&s->worker->arena, double, n);
    returned(island, c1, part, back);
    addTransposed(&island->problem, back, impulse);
    pcIslandAnswer(&s->step->assembly, island, impulse, f2);
    for (size_t i = 0; i < n; i++) f2[i] += v1[i], island->v[i] = f2[i];
    memset(island->c, 0, (size_t)island->problem.rows * sizeof *island->c);
    merge(info, solveOnce(s, false, island->v, island->c));
    pcArenaRelease(&s->worker->arena, mark);
    return pcKineticEnergy(&island->problem, island->v) <= limit * (1.0 + 1e-12);
}

static void judge(const Solve* s, const double* v, const double* c, pcIslandJudged* answer)
{
    answer->certificate = pcCertify(&s->island->problem, v, c, &s->worker->arena);
    answer->energyError = pcEnergyError(&s->island->problem, v, c);
}

static void restore(const Solve* s, pcIslandJudged* answer)
{
    pcIsland* island = s->island;
    pcProblem* p = &island->problem;
    size_t n = 6 * (size_t)p->blocks, rows = (size_t)p->rows;
    pcArena* arena = &s->worker->arena;
    double *v1 = pcArenaNew(arena, double, n), *f2 = pcArenaNew(arena, double, n);
    double *c1 = pcArenaNew(arena, double, rows), *back = pcArenaNew(arena, double, rows);
    if (!pcArenaGood(arena)) return;
    memcpy(v1, island->v, n * sizeof *v1), memcpy(c1, island->c, rows * sizeof *c1);
    double limit = larger(pcKineticEnergy(p, p->free), pcKineticEnergy(p, v1));
    enterDecompression(island, c1);
    p->free = f2;
    for (double part = 1.0; !decompress(s, v1, c1, part, limit, f2, back, &answer->info) && part > 0.0;)
        part = part > 0.02 ? 0.5 * part : 0.0;
    judge(s, island->v, island->c, answer);
    for (size_t i = 0; i < rows; i++) island->c[i] += c1[i] + back[i];
}

/* ---- all islands ---- */

static void solveTask(void* context, int task, int worker)
{
    pcStep* step = context;
    int index = step->largestFirst[task];
    pcIslandJudged* answer = step->answers + index;
    Solve s = {.step = step, .island = step->islands + index, .worker = step->memory->worker + worker};
    s.settings = (pcConeSettings){.tolerance = step->settings->tolerance, .fixedPoint = step->settings->fixedPoint};
    answer->info = solveOnce(&s, step->last->solved, s.island->v, s.island->c);
    if (hasImpact(s.island))
        restore(&s, answer);
    else
        judge(&s, s.island->v, s.island->c, answer);
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
