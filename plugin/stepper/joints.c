/* Joints that hold where the step ends (constraint/points.c): islands with such joints are solved again with targets that are bent by what
 * the bodies turn, until the answer no longer changes them. */
#include <string.h>

#include "stepper/stepper.h"

/* Rounds settle by a factor of about h |w| each; a body that turns by more than a radian in a step has no use for the end of it. */
enum { MOST_ROUNDS = 8 };
static const double SETTLED = 0.1; /* of the tolerance, in units of the problem's velocity: what a target may still change */
static const double MOST_TURN = 1.0;

void pcStepStiffen(pcStep* step)
{
    const pcHistory* last = step->last;
    int rows = step->system->rowCount;
    if (step->system->mobility) return;
    step->pointCount = pcHeldPointsFind(step->arena, step->system, &step->points);
    if (step->pointCount == 0 || !last->solved || last->rows != rows) return;
    size_t mark = pcArenaMark(step->arena);
    double* force = pcArenaNew(step->arena, double, rows);
    for (int i = 0; force && i < rows; i++) force[i] = last->rowImpulse[i] / last->h;
    if (force) pcHeldPointsStiffen(step->arena, step->system, step->points, step->pointCount, force, step->h, step->motion);
    pcArenaRelease(step->arena, mark);
}

/* ---- one island ---- */

/* Which points are in which island, and the targets as they were. */
typedef struct Held {
    pcStep* step;
    int* start;     /* per island, and one more: where its points begin */
    int* point;     /* of the step, by island */
    int* row;       /* per row of the system: which it is in the problem of its island */
    double* target; /* likewise, as assembled */
} Held;

static const double* velocityOf(const pcStep* step, const pcIsland* island, int body)
{
    int local = body >= 0 ? step->assembly.local[body] : -1;
    return local >= 0 ? island->v + 6 * (size_t)local : body >= 0 ? step->motion[body].velocity : NULL;
}

static bool turnsSlowly(const double* velocity, double h) { return !velocity || h * v3Norm(v3Load(velocity + 3)) <= MOST_TURN; }

/* New targets from the island's answer; the most that one of them changed. */
static double bend(const Held* held, const pcIsland* island, int first, int end)
{
    const pcStep* step = held->step;
    double most = 0.0;
    for (int i = first; i < end; i++) {
        const pcHeldPoint* p = step->points + held->point[i];
        const double *v1 = velocityOf(step, island, p->body[0]), *v2 = velocityOf(step, island, p->body[1]);
        bool slow = turnsSlowly(v1, step->h) && turnsSlowly(v2, step->h);
        for (int k = 0; k < 3; k++) {
            double* target = island->list.target + held->row[p->row + k];
            double wanted = held->target[p->row + k] - (slow ? pcHeldPointBend(step->system, p, k, v1, v2, step->h) : 0.0);
            most = larger(most, fabs(wanted - *target));
            *target = wanted;
        }
    }
    return most;
}

static void holdTask(void* context, int index, int worker)
{
    const Held* held = context;
    pcStep* step = held->step;
    const pcIslandSolve s = {step, step->islands + index, step->memory->worker + worker};
    pcIslandJudged* answer = step->answers + index;
    int first = held->start[index], end = held->start[index + 1];
    double enough = SETTLED * step->settings->tolerance * s.island->problem.velocityScale;
    if (first == end || pcIslandBounces(s.island) != PC_BOUNCE_NONE) return;
    for (int round = 0; round < MOST_ROUNDS && bend(held, s.island, first, end) > enough; round++) {
        pcConeInfo info = pcIslandSolveOnce(&s, true);
        info.solve.iterations += answer->info.solve.iterations, info.solve.fallbacks += answer->info.solve.fallbacks;
        answer->info = info;
        pcIslandJudge(&s, answer);
        pcArenaRelease(&s.worker->arena, 0);
    }
}

/* ---- all of them ---- */

/* Where the rows of the system are: in which island, and in which row of its problem (row i of an island is row i of its problem). */
static void locate(Held* held, int* islandOf)
{
    const pcStep* step = held->step;
    for (int i = 0; i < step->system->rowCount; i++) islandOf[i] = -1;
    for (int i = 0; i < step->islandCount; i++)
        for (int k = 0; k < step->islands[i].rows; k++) {
            int row = step->islands[i].row[k];
            islandOf[row] = i, held->row[row] = k, held->target[row] = step->islands[i].list.target[k];
        }
}

/* Deals the points to their islands. */
static bool deal(Held* held)
{
    pcStep* step = held->step;
    int rows = step->system->rowCount, islands = step->islandCount, *islandOf = pcArenaNew(step->arena, int, rows);
    held->start = pcArenaNew(step->arena, int, islands + 2);
    held->point = pcArenaNew(step->arena, int, step->pointCount), held->row = pcArenaNew(step->arena, int, rows);
    held->target = pcArenaNew(step->arena, double, rows);
    if (!pcArenaGood(step->arena)) return false;
    locate(held, islandOf);
    int* next = held->start + 1; /* where the next point of an island goes; in the end, where those of the one after begin */
    for (int k = 0; k < step->pointCount; k++)
        if (islandOf[step->points[k].row] >= 0) next[islandOf[step->points[k].row] + 1]++;
    for (int i = 0; i < islands; i++) next[i + 1] += next[i];
    for (int k = 0; k < step->pointCount; k++)
        if (islandOf[step->points[k].row] >= 0) held->point[next[islandOf[step->points[k].row]]++] = k;
    return true;
}

void pcStepHoldPoints(pcStep* step)
{
    Held held = {.step = step};
    if (deal(&held)) pcPoolRun(step->memory->pool, step->threads, false, holdTask, &held, step->islandCount);
}
