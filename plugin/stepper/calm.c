/*
 * Answers that missed their tolerance and would throw a body are not used.
 *
 *     f    velocity without impulses     v0   unit of velocity: the fastest that the problem knows of (assemble.c)     T(v) = 1/2 v'Mv
 *
 * A body that others squeeze, as in a wedge, can be pushed out of all of them at once along the wedge only, at any multiple of v0; if it cannot at
 * all, impulses grow until a solver ends. Either answer is nearly the same along the rows, and flings the body. No bound follows from the
 * energy balance: it is b'c, the work of what pushes bodies out, that is so large. So the bound is on each body,
 *
 *     T(v) <= MOST (T(f) + T(v0)),
 *
 * and a step beyond it is solved once more without what pushes and whose impulse has no bound: penetrations stay, joints keep their errors. Then v = 0
 * would do for all that is at rest, and T(v) <= T(f) but for bodies that keep their velocity and motors, which have a bound. The outcome is
 * still that the tolerance was missed, and the residual is that of the problem as it was asked.
 *
 * An answer that met its tolerance is used however fast it is.
 */
#include <string.h>

#include "base/status.h"
#include "stepper/stepper.h"

/* Four times as fast. Of 3402 islands that missed in 50,000 steps of random worlds (test_worlds/soak, from story 2201) 7 are above three times, and
 * these go on to 1e4 times. */
static const double MOST = 16.0;

/* ---- who is thrown ---- */

/* Written so that what is no number is too fast. A dense mass does not tell whose energy it is: all bodies are one part. */
static bool isThrown(const pcProblem* p, int part, const double* v)
{
    int blocks = p->dense ? p->blocks : 1;
    size_t first = 6 * (size_t)part, n = 6 * (size_t)blocks;
    const pcProblem own = {.blocks = blocks, .dense = p->dense, .mass = p->mass + 6 * first};
    double mass = 0.0;
    for (size_t i = 0; i < n; i++)
        if (i % 6 < 3) mass += own.mass[i * n + i] / 3.0;
    double unit = 0.5 * mass * p->velocityScale * p->velocityScale;
    return !(pcKineticEnergy(&own, v + first) <= MOST * (pcKineticEnergy(&own, p->free + first) + unit));
}

/* The body of the system, -1 if there is none. */
static int thrownBody(const pcIsland* island)
{
    int parts = island->problem.dense ? 1 : island->problem.blocks;
    for (int i = 0; i < parts; i++)
        if (isThrown(&island->problem, i, island->v)) return island->body[i];
    return -1;
}

/* ---- the problem without what pushes ---- */

/* Of a target, what does not push with an impulse that has no bound: room before a contact or a stop is left, a motor with a bound stays. */
static double calm(double target, double lo, double hi)
{
    if (hi == HUGE_VAL) target = smaller(target, 0.0);
    if (lo == -HUGE_VAL) target = larger(target, 0.0);
    return target;
}

/* What bodies that keep their velocity add to a target stays. */
static void calmTargets(const pcStep* step, pcIsland* island)
{
    double* target = island->list.target;
    for (int i = 0; i < island->rows; i++) {
        const pcRow* row = step->system->rows + island->row[i];
        target[i] += calm(row->target, row->lo, row->hi) - row->target;
    }
    for (int i = 0; i < island->touches; i++) {
        const pcTouchRows* t = island->touchRows + i;
        target[t->row[0]] = t->carried + smaller(t->target, 0.0);
    }
}

/* Assembled anew: restitution and joints that are held have changed the problem. False if out of memory. */
static bool solveCalmly(pcStep* step, pcIsland* island, pcIslandJudged* answer)
{
    const pcIslandSolve s = {step, island, step->memory->worker};
    pcPool* pool = island->problem.pool;
    if (!pcIslandAssemble(&step->assembly, island)) return false;
    double* asked = pcArenaNew(step->arena, double, island->list.rows);
    if (!asked) return false;
    memcpy(asked, island->list.target, (size_t)island->list.rows * sizeof *asked);
    island->problem.pool = pool;
    calmTargets(step, island);
    pcSolveInfo before = answer->info.solve;
    answer->info = pcIslandSolveOnce(&s, false);
    answer->info.certified = false;
    if (answer->info.solve.outcome < before.outcome) answer->info.solve.outcome = before.outcome;
    answer->info.solve.iterations += before.iterations, answer->info.solve.fallbacks += before.fallbacks + 1;
    memcpy(island->list.target, asked, (size_t)island->list.rows * sizeof *asked);
    pcIslandJudge(&s, answer);
    answer->info.solve.residual = pcCertificateOff(&answer->certificate);
    pcArenaRelease(&s.worker->arena, 0);
    return true;
}

pcStatus pcStepCalm(pcStep* step)
{
    for (int i = 0; i < step->islandCount; i++) {
        pcIsland* island = step->islands + i;
        if (step->answers[i].info.solve.outcome == PC_SOLVED || thrownBody(island) < 0) continue;
        if (!solveCalmly(step, island, step->answers + i)) return PC_OK; /* the arena remembers */
        int body = thrownBody(island);
        if (body >= 0)
            return pcFail(PC_ERROR_INTERNAL, "the solver %s missed the tolerance and would throw body %d", step->solver->name, body);
    }
    return PC_OK;
}
