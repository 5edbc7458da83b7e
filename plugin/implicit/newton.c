/*
 * Newton's method in the velocities, in rounds: each holds the multipliers r and solves R(v) = 0 (solve.h); then r takes the impulses. Small
 * weights e make one round nearly the answer, and Newton's method hard to please; so a round that does not settle is begun again with large
 * ones, which then shrink.
 */
#include <string.h>

#include "implicit/solve.h"

#define LEAST 1e-6     /* weight, in own ones, of the last rounds */
#define MOST 100.0     /* and of those that always settle */
#define MOST_STEPS 25  /* of Newton's method in one round */
#define SHORTEST 0.002 /* part of a Newton step below which no better one is looked for */
#define MOST_ROUNDS 60
#define STALLED 1e-10 /* rest of a round, by scale, that need not shrink any more once it shrinks slowly: rounding */

static size_t sizeOf(const pcWork* work) { return 6 * (size_t)work->bodies * sizeof(double); }

static void setWeights(pcWork* work, double factor)
{
    for (int i = 0; i < work->bonds; i++)
        for (int k = 0; k < 2; k++) work->bond[i].e[k] = factor * work->bond[i].own[k];
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

/* Along the step as far as R shrinks; the last try stands if none does. Leaves the island evaluated there, with slopes. */
static bool search(pcWork* work, double merit, double shortest, double* part)
{
    int n = 6 * work->bodies;
    for (*part = 1.0;; *part *= 0.5) {
        for (int i = 0; i < n; i++) work->trial[i] = work->v[i] + *part * work->step[i];
        bool last = *part < shortest, known = pcWorkEvaluate(work, work->trial, true);
        if (!known && last) return false;
        if (known && (last || pcWorkMerit(work) <= (1.0 - 1e-4 * *part) * merit)) break;
    }
    memcpy(work->v, work->trial, sizeOf(work));
    return true;
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
    return pcWorkEvaluate(work, work->v, true);
}

/* One round; true if it settled: the answer's impulses balance the bodies and are those of the law. With small weights it gives up early,
 * because larger ones get there in fewer steps. */
static bool settle(pcWork* work, double tolerance, double factor, double noise)
{
    if (!pcWorkEvaluate(work, work->v, true)) return false;
    int most = factor < 0.5 ? 6 : MOST_STEPS;
    double shortest = factor < 0.5 ? 0.2 : SHORTEST, before = HUGE_VAL;
    for (int step = 0, stuck = 0; step < most && stuck < 3; step++) {
        double merit = pcWorkMerit(work), part;
        for (int i = 0; i < 6 * work->bodies; i++) work->step[i] = -work->R[i];
        work->newton++;
        if (!pcBlocksFactor(&work->matrix)) return false;
        pcBlocksSolve(&work->matrix, work->step);
        pcWorkPredict(work, work->step);
        if (stepSize(work) <= noise) return takeStep(work); /* nothing to be gained but rounding */
        if (!search(work, merit, shortest, &part)) return false;
        double rest = part == 1.0 ? larger(pcWorkImbalance(work), pcWorkDisagreement(work)) : HUGE_VAL;
        if (rest <= tolerance || (rest <= STALLED && !(rest < 0.1 * before))) return true;
        before = rest;
        stuck = part < shortest ? stuck + 1 : 0;
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

/* Rounds whose weights shrink as long as they settle, and grow where one does not. */
bool pcWorkSolve(pcWork* work, double tolerance, double goal)
{
    double factor = 1e-4, last = HUGE_VAL, residual = HUGE_VAL;
    if (!pcWorkEvaluate(work, work->v, false)) return false;
    pcWorkWeigh(work);
    double noise = noiseOf(work);
    goal = larger(goal, noise), tolerance = larger(tolerance, goal);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        memcpy(work->start, work->v, sizeOf(work));
        setWeights(work, factor);
        if (!settle(work, larger(goal, 1e-2 * factor * smaller(last, 0.1)), factor, noise)) {
            if (factor >= MOST) return false;
            factor = smaller(MOST, 100.0 * factor);
            memcpy(work->v, work->start, sizeOf(work));
            continue;
        }
        takeImpulses(work);
        residual = larger(pcWorkResidual(work), pcWorkImbalance(work));
        if (residual <= goal || (residual <= tolerance && !(residual < 0.2 * last))) return true;
        last = residual, factor = larger(LEAST, 0.1 * factor);
    }
    return false;
}
