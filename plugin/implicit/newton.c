/*
 * Newton's method in the velocities, in rounds: each holds the multipliers r and solves R(v) = 0 (solve.h); then r takes the impulses. Small
 * weights e make one round nearly the answer, and Newton's method hard to please; so a round that does not settle is begun again with large
 * ones, which then shrink.
 */
#include <string.h>

#include "implicit/solve.h"

#define LEAST 1e-6     /* weight, in own ones, of the last rounds */
#define TINIEST 1e-11  /* of rounds in which impulses creep */
#define MOST 100.0     /* and of those that always settle */
#define MOST_STEPS 25  /* of Newton's method in one round */
#define SHORTEST 0.002 /* part of a Newton step below which no better one is looked for */
#define LOOSE 1e-13    /* rest of a loose level that is one of rounding */
#define STALLED 1e-10  /* rest of a round, by scale, that need not shrink any more once it shrinks slowly: rounding */

static size_t sizeOf(const pcWork* work) { return 6 * (size_t)work->bodies * sizeof(double); }

static void setWeights(pcWork* work, double factor)
{
    for (int i = 0; i < work->bonds; i++)
        for (int k = 0; k < 4; k++) work->bond[i].e[k] = factor * work->bond[i].own[k];
    for (int i = 0; i < work->rows; i++) work->rowE[i] = factor * work->rowOwn[i];
}

static void takeImpulses(pcWork* work)
{
    for (int i = 0; i < work->bonds; i++) {
        pcBond* b = work->bond + i;
        memcpy(b->r, b->p, sizeof b->r), b->core = b->coreP;
    }
    if (work->rows > 0) memcpy(work->rowR, work->rowP, (size_t)work->rows * sizeof(double));
}

/* ---- impulses on their way to a bound ---- */

/* The first t > 0 at which |p_f + t d_f| = p_n + t d_n, for p inside. */
static double boundOf(const double p[4], const double d[4])
{
    double a = -d[0] * d[0], b = -p[0] * d[0], c = -p[0] * p[0];
    for (int k = 1; k < 4; k++) a += d[k] * d[k], b += p[k] * d[k], c += p[k] * p[k];
    if (!(c < -1e-9 * p[0] * p[0])) return HUGE_VAL; /* it slides already */
    double root = b * b - a * c;
    if (root < 0.0) return HUGE_VAL;
    double t = -c / (b + sqrt(root)); /* of a t^2 + 2 b t + c = 0, c < 0: the smaller positive one, if there is any */
    return t > 0.0 ? t : HUGE_VAL;
}

/* Contacts that press against each other, and cannot all hold: from round to round their impulses grow by the same little amount, u / e, until
 * one of them slides. This goes there at once. */
static void goToBound(pcWork* work)
{
    double far = HUGE_VAL, d[4];
    for (int i = 0; i < work->bonds; i++) {
        const pcBond* b = work->bond + i;
        for (int k = 0; k < 4; k++) d[k] = b->p[k] - b->r[k];
        if (!b->layer && b->p[0] > 0.0) far = smaller(far, boundOf(b->p, d));
    }
    if (!(far < HUGE_VAL)) return;
    for (int i = 0; i < work->bonds; i++) {
        pcBond* b = work->bond + i;
        for (int k = 0; k < 4 && !b->layer; k++) b->p[k] += far * (b->p[k] - b->r[k]);
        if (!b->layer) b->p[0] = larger(0.0, b->p[0]), b->coreP = b->p[0];
    }
    for (int i = 0; i < work->rows; i++) work->rowP[i] += far * (work->rowP[i] - work->rowR[i]);
}

/* ---- one round ---- */

/* v + part of the step; the island evaluated there, with slopes. */
static bool tryPart(pcWork* work, double part)
{
    int n = 6 * work->bodies;
    for (int i = 0; i < n; i++) work->trial[i] = work->v[i] + part * work->step[i];
    pcLooseMove(work, part);
    return pcWorkEvaluate(work, work->trial, true);
}

static double meritOf(const pcWork* work) { return pcWorkMerit(work) + pcLooseMerit(work); }

/* Along the step as far as R shrinks. Where it does not, at a kink, half of the step is taken all the same: *part is then 0. */
static bool search(pcWork* work, double merit, double shortest, double* part)
{
    bool known = false;
    for (*part = 1.0; *part >= shortest; *part *= 0.5) {
        known = tryPart(work, *part);
        if (known && meritOf(work) <= (1.0 - 1e-4 * *part) * merit) break;
    }
    if (*part < shortest) {
        *part = 0.0;
        double leap = 0.5;
        for (known = false; !known && leap > 1e-3; leap *= 0.5) known = tryPart(work, leap);
    }
    if (known) memcpy(work->v, work->trial, sizeOf(work));
    return known;
}

/* By scale. */
static double stepSize(const pcWork* work)
{
    double size = 0.0;
    for (int i = 0; i < work->bodies; i++)
        size = larger(size, larger(v3Max(v3Load(work->step + 6 * i)), work->arm * v3Max(v3Load(work->step + 6 * i + 3))));
    return size / work->scale;
}

static bool takeStep(pcWork* work)
{
    for (int i = 0; i < 6 * work->bodies; i++) work->v[i] += work->step[i];
    pcLooseMove(work, 1.0);
    return pcWorkEvaluate(work, work->v, true);
}

/* One round; true if it settled: the answer's impulses balance the bodies and are those of the law. With small weights it gives up early,
 * because larger ones get there in fewer steps. */
static bool settle(pcWork* work, double tolerance, double factor, double noise)
{
    if (!pcWorkEvaluate(work, work->v, true)) return false;
    int most = factor < 0.5 ? 6 : MOST_STEPS, patience = factor < 0.5 ? 1 : 6;
    double shortest = factor < 0.5 ? 0.2 : SHORTEST, before = HUGE_VAL;
    for (int step = 0, stuck = 0; step < most && stuck < patience; step++) {
        double merit = meritOf(work), part;
        for (int i = 0; i < 6 * work->bodies; i++) work->step[i] = -work->R[i] - work->D[i];
        work->newton++;
        if (!pcBlocksFactor(&work->matrix)) return false;
        pcBlocksSolve(&work->matrix, work->step);
        pcWorkPredict(work, work->step), pcLoosePredict(work, work->step);
        if (stepSize(work) <= noise) return takeStep(work); /* nothing to be gained but rounding */
        if (!search(work, merit, shortest, &part)) return false;
        double rest = part == 1.0 ? larger(larger(pcWorkImbalance(work), pcWorkDisagreement(work)), pcLooseRest(work)) : HUGE_VAL;
        if (rest <= tolerance || (rest <= STALLED && !(rest < 0.1 * before))) return true;
        before = rest;
        stuck += part == 0.0;
    }
    return false;
}

/* Velocities cannot be told apart below this, by scale: gaps are differences of places, and are divided by h. */
static double noiseOf(const pcWork* work)
{
    double size = work->arm;
    for (int i = 0; i < work->bodies; i++) size = larger(size, v3Max(work->place[work->body[i]].at));
    return 4.0 * PC_ROUND * size / (work->move.h * work->scale);
}

static void forgetImpulses(pcWork* work)
{
    for (int i = 0; i < work->bonds; i++) memset(work->bond[i].r, 0, sizeof work->bond[i].r), work->bond[i].core = 0.0;
    if (work->rows > 0) memset(work->rowR, 0, (size_t)work->rows * sizeof(double));
}

/* A contact that pulls by no more than the tolerance does not push. */
static void clean(pcWork* work, double tolerance)
{
    for (int i = 0; i < work->bonds; i++) {
        pcBond* b = work->bond + i;
        if (!b->layer && b->p[0] < 0.0 && -b->own[0] * b->p[0] <= tolerance * work->scale) memset(b->p, 0, sizeof b->p), b->coreP = 0.0;
    }
}

/* Rounds whose weights shrink as long as they settle, and grow where one does not. */
typedef struct Plan {
    double factor, shrink; /* of the first round; from round to round */
    int rounds;
} Plan;

static bool follow(pcWork* work, const Plan* plan, double tolerance, double goal, double noise)
{
    double factor = plan->factor, last = HUGE_VAL;
    for (int round = 0; round < plan->rounds; round++) {
        memcpy(work->start, work->v, sizeOf(work)), pcLooseKeep(work);
        setWeights(work, factor);
        if (!settle(work, larger(goal, 1e-2 * factor * smaller(last, 0.1)), factor, noise)) {
            if (factor >= MOST) return false;
            factor = smaller(MOST, 100.0 * factor);
            memcpy(work->v, work->start, sizeOf(work)), pcLooseReturn(work);
            continue;
        }
        clean(work, tolerance);
        double residual = larger(pcWorkResidual(work), pcWorkImbalance(work));
        if (residual <= goal || (residual <= tolerance && !(residual < 0.2 * last))) {
            takeImpulses(work);
            return pcLooseRest(work) <= LOOSE;
        }
        bool creeps = factor <= LEAST && residual > 0.8 * last; /* impulses still on their way to a bound: they move by u / e in a round */
        if (round > 0 && residual > 0.8 * last && residual < 1.25 * last) goToBound(work);
        takeImpulses(work);
        factor = creeps ? larger(TINIEST, 0.01 * factor) : larger(smaller(factor, LEAST), plan->shrink * factor);
        last = residual;
    }
    return false;
}

/* From the guess; if that leads nowhere, from nothing: impulses that press bodies against each other without any use hardly shrink by
 * themselves. */
bool pcWorkSolve(pcWork* work, double tolerance, double goal)
{
    static const Plan plans[] = {{1e-4, 0.1, 25}, {1.0, 0.1, 30}, {100.0, 0.3, 50}};
    if (!pcWorkEvaluate(work, work->v, false)) return false;
    pcWorkWeigh(work);
    double noise = noiseOf(work);
    goal = larger(goal, noise), tolerance = larger(tolerance, goal);
    memcpy(work->first, work->v, sizeOf(work));
    for (int i = 0; i < (work->brief ? 1 : 3); i++) {
        if (work->full) pcLooseBegin(work);
        bool good = pcArenaGood(work->arena) && follow(work, plans + i, tolerance, goal, noise) && pcLooseIsRight(work);
        pcLooseEnd(work);
        if (good) return true;
        memcpy(work->v, work->first, sizeOf(work));
        forgetImpulses(work);
        if (work->full && !pcWorkEvaluate(work, work->v, false)) return false;
    }
    return false;
}
