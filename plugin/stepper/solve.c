/* Islands to solvers and back: warm start, threads. What bounces is in restitution.c. */
#include "base/sort.h"
#include "linalg/blocks.h"
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
    island->still = island->touches > 0;
    for (int i = 0; i < island->touches; i++) {
        const pcTouch* touch = step->touch + island->touch[i];
        const pcKeptTouch* kept = pcHistoryFind(step->last, touch);
        island->still = island->still && kept && kept->still;
        if (kept) guessTouch(step, kept, island->touchRows + i, island->c);
    }
}

void pcStepWarm(pcStep* step)
{
    if (!step->last->solved) return;
    for (int i = 0; i < step->islandCount; i++) guessIsland(step, step->islands + i);
}

/* ---- all islands ---- */

/* A guess is taken for the answer up to this part of the tolerance, because it is wrong in the same way in every step. After a step that was
 * solved it must be better: what pushed a body back where it belongs is no impulse of rest, nor is what stops it in the next step. Taken
 * for one, it sets the body going again, for ever. */
static const double STILL = 0.5, STOPPED = 0.1;

pcConeInfo pcIslandSolveOnce(const pcIslandSolve* s, bool warm)
{
    const pcSettings* chosen = s->step->settings;
    pcConeSettings settings = {.tolerance = chosen->tolerance, .fixedPoint = chosen->fixedPoint, .warm = warm};
    if (s->island->touches > 0) settings.guess = (s->island->still ? STILL : STOPPED) * chosen->tolerance;
    return s->step->solver->solve(&s->island->problem, &settings, s->worker->solver, s->island->v, s->island->c);
}

void pcIslandJudge(const pcIslandSolve* s, pcIslandJudged* answer)
{
    answer->certificate =
        answer->info.certified ? answer->info.certificate : pcCertify(&s->island->problem, s->island->v, s->island->c, &s->worker->arena);
    answer->energyError = pcEnergyError(&s->island->problem, s->island->v, s->island->c);
}

static void showMissed(const pcIslandSolve* s, int index, pcBounceLaw law)
{
    const pcMemory* memory = s->step->memory;
    const pcMissed missed = {index, &s->island->problem, s->island->v, law == PC_BOUNCE_POISSON ? NULL : s->island->c,
                             s->step->settings->tolerance};
    if (memory->missed) memory->missed(memory->missedContext, &missed);
}

static void solveTask(void* context, int task, int worker)
{
    pcStep* step = context;
    int index = step->largestFirst[task];
    pcIslandJudged* answer = step->answers + index;
    const pcIslandSolve s = {step, step->islands + index, step->memory->worker + worker};
    answer->info = pcIslandSolveOnce(&s, step->last->solved);
    while (pcIslandLands(&s)) answer->info = pcIslandSolveOnce(&s, true);
    pcBounceLaw law = pcIslandBounces(s.island);
    if (law == PC_BOUNCE_NONE)
        pcIslandJudge(&s, answer);
    else
        pcIslandRestore(&s, law, answer);
    if (answer->info.solve.outcome != PC_SOLVED) showMissed(&s, index, law);
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
    if (!orderIslands(step) || step->islandCount == 0) return;
    bool sharing = step->islands[step->largestFirst[0]].problem.blocks >= PC_SHARED_BLOCKS;
    for (int i = 0; i < step->islandCount; i++) step->islands[i].problem.pool = step->memory->pool;
    pcPoolRun(step->memory->pool, step->threads, sharing, solveTask, step, step->islandCount);
}
