/*
 * Impacts one after the other. Newton's law at once asks every contact that approaches for e times its approach, and of the others that they
 * do not overlap. But a ball that bounces off the ground strikes the one above it, which fell as fast as it and so did not approach: their
 * contact stops them dead, or takes back what the ground gave. In truth it bounces too, a moment later. So, in rounds:
 *
 *     v := v_old + push / 2
 *     as long as a contact hits, gap + h u <= 0 with an approach -u that is an impact:
 *         the contacts that hit get u' >= -e u, the others nothing; v := the answer
 *     v := v + push / 2, and the problem of the step without bounce for what is left
 *
 * Without friction each round keeps the energy at e = 1, because every impulse c finds u' = -u:  T' - T = c'(u + u') / 2 = 0. Half of the push
 * before and half after is what Newton's law has for a single ball at e = 1: it leaves as fast as it came.
 * An approach is an impact if it is faster than what the forces of one step make of rest: what lies on the ground does not begin to hop.
 */
#include <string.h>

#include "stepper/bounce.h"

enum { MOST_ROUNDS = 48 };
static const double FAR = 1e4; /* in units of the problem's velocity: a contact with so much room does not act */

bool pcImpactsApply(const pcBounce* b)
{
    const pcIsland* island = b->s->island;
    if (island->rows > 0 || island->problem.dense) return false;
    for (int i = 0; i < island->problem.cones; i++)
        if (island->problem.cone[i].kind != PC_CONE_FRICTION) return false;
    return true;
}

/* What forces make of rest in this step, between two bodies. */
static double gainedInStep(const pcBounce* b)
{
    double most = 0.0;
    for (int i = 0; i < b->s->island->problem.blocks; i++) most = larger(most, v3Norm(v3Load(b->push + 6 * (size_t)i)));
    return 2.0 * most;
}

static const pcTouch* touchAt(const pcBounce* b, int i) { return b->s->step->touch + b->s->island->touch[i]; }

static double lightness(const pcBounce* b, int body)
{
    const pcMotion* m = body >= 0 ? b->s->step->motion + body : NULL;
    return m && m->moves ? 1.0 / m->mass : 0.0;
}

/* Struck: it bounces, but did not approach, and its impulse is more than that of a weight at rest. */
static bool isStruck(const pcBounce* b, int i, double slow)
{
    const pcTouch* touch = touchAt(b, i);
    const pcTouchRows* rows = b->s->island->touchRows + i;
    if (!(touch->surface.bounce > 0.0) || rows->bounced > rows->target) return false;
    return b->s->island->c[rows->row[0]] * (lightness(b, touch->body1) + lightness(b, touch->body2)) > slow;
}

bool pcImpactsFollow(const pcBounce* b)
{
    const pcIsland* island = b->s->island;
    double slow = gainedInStep(b);
    bool hit = false, struck = false;
    for (int i = 0; i < island->touches; i++) {
        const pcTouchRows* rows = island->touchRows + i;
        hit |= rows->bounced > rows->target && rows->bounced > touchAt(b, i)->surface.bounce * slow;
        struck |= isStruck(b, i, slow);
    }
    return hit && struck;
}

/* Targets of a round for the velocity v, with part of the bounce; returns how many contacts hit. */
static int enterRound(const pcBounce* b, double part, const double* v, double slow)
{
    const pcIsland* island = b->s->island;
    const pcStep* step = b->s->step;
    int hits = 0;
    for (int i = 0; i < island->touches; i++) {
        const pcTouch* touch = touchAt(b, i);
        const pcTouchRows* rows = island->touchRows + i;
        double u = pcRowVelocity(&island->problem, rows->row[0], v) - rows->carried, approach = touch->surface.normalVelocity - u;
        bool reaches = touch->gap - step->settings->layer + step->h * u <= 0.0;
        bool hit = reaches && touch->surface.bounce > 0.0 && approach > larger(slow, touch->surface.bounceVelocity);
        double wanted =
            hit ? part * touch->surface.bounce * approach + touch->surface.normalVelocity : -FAR * island->problem.velocityScale;
        island->list.target[rows->row[0]] = rows->carried + wanted;
        hits += hit;
    }
    return hits;
}

static pcConeInfo solveFrom(pcBounce* b, const double* free)
{
    pcIsland* island = b->s->island;
    island->problem.free = free;
    memcpy(island->v, free, 6 * (size_t)island->problem.blocks * sizeof(double));
    memset(island->c, 0, (size_t)island->problem.rows * sizeof(double));
    pcConeInfo info = pcIslandSolveOnce(b->s, false);
    b->iterations += info.solve.iterations, b->fallbacks += info.solve.fallbacks;
    return info;
}

pcConeInfo pcImpactsInTurn(pcBounce* b, double part)
{
    pcIsland* island = b->s->island;
    size_t n = 6 * (size_t)island->problem.blocks;
    double slow = gainedInStep(b);
    for (size_t i = 0; i < n; i++) b->f2[i] = b->old[i] + 0.5 * b->push[i];
    for (int round = 0; round < MOST_ROUNDS && enterRound(b, part, b->f2, slow) > 0; round++) {
        pcConeInfo info = solveFrom(b, b->f2);
        if (info.solve.outcome != PC_SOLVED) return info;
        for (int row = 0; row < island->problem.rows; row++) b->c1[row] += island->c[row];
        memcpy(b->f2, island->v, n * sizeof *b->f2);
    }
    for (size_t i = 0; i < n; i++) b->f2[i] += 0.5 * b->push[i];
    for (int i = 0; i < island->touches; i++)
        island->list.target[island->touchRows[i].row[0]] = island->touchRows[i].carried + island->touchRows[i].target;
    return solveFrom(b, b->f2);
}

void pcImpactsSettle(const pcBounce* b)
{
    const pcIsland* island = b->s->island;
    for (int i = 0; i < island->touches; i++) {
        pcTouchRows* rows = island->touchRows + i;
        rows->bounced = rows->flown = rows->target;
        if (b->c1[rows->row[0]] > 0.0) rows->bounced = pcRowVelocity(&island->problem, rows->row[0], island->v) - rows->carried;
    }
}
