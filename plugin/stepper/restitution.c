/*
 * Restitution, and the bound on its energy: an impact never adds any.
 *
 *     v_old, v*   before the step; after it without impulses        push = v* - v_old       T(v) = 1/2 v'Mv
 *     b           velocity at which a row is driven (see driveOf)     e    bounce            c    impulses of the step
 *
 * Newton. A contact that hits has the target e (approach speed). With part p of it: (1 - p) b_0 + p e (approach), b_0 its target at e = 0.
 *
 * Poisson (S 5 names it, with an energy bound). Compression: the problem with b_n = 0 for the contacts that hit; answer v1, c1.
 * Decompression: each of them gives back p e c1, with the friction, torsion and rolling of every group that slides (one that sticks has
 * none to give, nor has a friction that is bounded by a force), then the problem again from f2 = v1 + p M^-1 J'e c1 with the rows' own
 * targets. Impulses add up and stay in their cones, which are convex.
 *
 * Neither law bounds the energy: with friction, or with several contacts, p = 1 may add some (Newton: a rod that jams; Poisson: a friction
 * that reverses). What an answer gains beyond what was put in is
 *
 *     G = T(v) - T(v_old) - w'M push - b'c,
 *
 * w'M push being the work of the step's forces along h w. Since M (v - v_old - push) = J'c,   G = (Jv - b)'c - T(v - v_old)  for w = v,
 * which at e = 0 is never positive. With w = v it is the energy that the report shows, and Poisson is held to it. A ball that bounces in
 * mid-step does not move along h v, though, but along h (v_old + v) / 2, where T(V) = T(-V) is no gain. By w = v it gains m g h V, which is
 * what the flight before and after loses (T(push) in every step of free fall). Newton's law promises a velocity, so it is held to G with
 * the larger of the two works. Where bodies fly (flight.c), nothing is lost before and after, and w is the way that they go.
 *
 * p = 1 if that gains nothing and has an answer, and nothing is struck that did not approach before; if something is, bodies bounce in turn
 * (impacts.c) where that loses less. Otherwise p = 0 is solved, whose gain (penetrations that are pushed out) is allowed to
 * all; then p is sought between: Poisson begins where v1 + p M^-1 J'e c1 alone would gain nothing, Newton in the middle, and both go on
 * by halves. What is tried depends on nothing but the island; only the answer that is kept tells the outcome.
 */
#include <string.h>

#include "solver/cone.h"
#include "stepper/bounce.h"

static const double SLACK = 4e-10;   /* of T(v) + T(v_old) + T(push), or the tolerance: rounding (StepRestitution.NeverGainsEnergy) */
static const double ENOUGH = 0.01;   /* of the same: who loses no more than that need not look for a larger p */
static const double SLIDING = 1e-6;  /* of the normal impulse: friction so near to its bound is at it */
static const double SLIPPING = 1e-7; /* of the problem's unit of velocity: slower is the solver's error, it sticks */
static const double LESS = 0.9375,
                    ALMOST = 0.99; /* a part of the bounce that gains nothing in most heaps; of the way to where the gain is 0 */
enum { ROUNDS = 5 };               /* of the search: p is found to 1/32 */

/* ---- energy ---- */

/* A normal row is driven by bodies that keep their velocity and by stabilization, which may push it out; a friction row by them and by
 * a belt. Room that is left before it touches (a negative target) drives nothing. */
static void driveOf(const pcIsland* island, double* drive)
{
    for (int i = 0; i < island->touches; i++) {
        const pcTouchRows* t = island->touchRows + i;
        drive[t->row[0]] = t->carried + larger(t->driven, 0.0);
        for (int k = 1; k < 6; k++)
            if (t->row[k] >= 0) drive[t->row[k]] = island->list.target[t->row[k]];
    }
}

/* b'c. A motor at its bound does not reach its target, so the rows of joints count with the velocity that they have. */
static double drivenWork(const pcBounce* b, double part)
{
    const pcIsland* island = b->s->island;
    const pcProblem* p = &island->problem;
    double sum = 0.0;
    for (int row = 0; row < p->rows; row++) {
        double velocity = row < island->rows ? pcRowVelocity(p, row, island->v) : b->drive[row];
        sum += velocity * (island->c[row] + b->c1[row] + part * b->back[row]);
    }
    return sum;
}

/* w'M push. */
static double workOf(const pcBounce* b)
{
    const pcIsland* island = b->s->island;
    const pcProblem* p = &island->problem;
    double work = pcMassProduct(p, island->v, b->push), mean = 0.5 * (work + pcMassProduct(p, b->old, b->push));
    if (b->poisson || !island->way) return b->poisson ? work : larger(work, mean);
    pcIslandFly(b->s, b->inTurn ? b->c1 : NULL);
    work = pcMassProduct(p, island->way, b->push);
    memcpy(b->d, island->way, 6 * (size_t)p->blocks * sizeof *b->d);
    for (int i = 0; i < 6 * p->blocks; i++)
        if (i % 6 >= 3) b->d[i] = 0.5 * (b->old[i] + island->v[i]);
    return larger(work, pcMassProduct(p, b->d, b->push));
}

static void measure(const pcBounce* b, pcTrial* t)
{
    const pcProblem* p = &b->s->island->problem;
    double after = pcKineticEnergy(p, b->s->island->v), before = pcKineticEnergy(p, b->old);
    t->gain = after - before - workOf(b) - drivenWork(b, t->part);
    t->scale = after + before + pcKineticEnergy(p, b->push);
}

/* Written so that what is no number is not allowed. */
static bool allowed(const pcBounce* b, const pcTrial* t, double limit)
{
    return t->gain <= limit + larger(SLACK, b->s->step->settings->tolerance) * t->scale;
}

/* ---- the problem of a part ---- */

static void enterNewton(pcIsland* island, double part)
{
    for (int i = 0; i < island->touches; i++) {
        const pcTouchRows* t = island->touchRows + i;
        if (t->bounced > t->target) island->list.target[t->row[0]] = t->carried + (1.0 - part) * t->target + part * t->bounced;
        if (t->flown < t->target) island->list.target[t->row[0]] = t->carried + (part < 1.0 ? t->target : t->flown);
    }
}

static void enter(const pcBounce* b, double part)
{
    if (!b->poisson) enterNewton(b->s->island, part);
    for (int i = 0; b->poisson && i < 6 * b->s->island->problem.blocks; i++) b->f2[i] = b->v1[i] + part * b->d[i];
}

/* From the free velocity: what is found does not depend on what was tried before. */
static pcTrial attempt(pcBounce* b, double part)
{
    pcIsland* island = b->s->island;
    const pcProblem* p = &island->problem;
    pcTrial t = {.part = part};
    enter(b, part);
    memcpy(island->v, p->free, 6 * (size_t)p->blocks * sizeof(double));
    memset(island->c, 0, (size_t)p->rows * sizeof(double));
    t.info = pcIslandSolveOnce(b->s, false);
    b->iterations += t.info.solve.iterations, b->fallbacks += t.info.solve.fallbacks;
    measure(b, &t);
    return t;
}

/* ---- Poisson ---- */

/* Friction rows of a cone. */
typedef struct Group {
    const pcCone* cone;
    int first, size; /* in the cone */
} Group;

/* At its bound: a little more would be outside. The bound is a disc or a polygon, so the projection is asked. */
static bool isAtBound(Group g, const double* c)
{
    static const double even[PC_CONE_ROWS] = {1, 1, 1, 1, 1, 1}, still[PC_CONE_ROWS] = {0};
    double x[PC_CONE_ROWS] = {0.0}, projected[PC_CONE_ROWS] = {0.0}, moved = 0.0;
    for (int k = 0; k < g.cone->rows; k++) x[k] = c[g.cone->row + k];
    for (int k = g.first; k < g.first + g.size; k++) x[k] *= 1.0 + SLIDING;
    pcConeLaw(g.cone, PC_LAW_RELAXED, NULL, even, x, still, projected, NULL);
    for (int k = g.first; k < g.first + g.size; k++) moved = larger(moved, fabs(x[k] - projected[k]));
    return moved > 1e-3 * SLIDING * x[0];
}

/* Several contacts of one body brace each other by frictions that nothing determines; they may be at their bounds, but do not slip. */
static bool slips(const pcProblem* p, Group g, const double* v)
{
    double slip = 0.0;
    for (int row = g.cone->row + g.first; row < g.cone->row + g.first + g.size; row++)
        slip = larger(slip, fabs(pcRowVelocity(p, row, v) - p->target[row]));
    return slip > SLIPPING * p->velocityScale;
}

static void giveBack(const pcBounce* b, const pcCone* cone, double e)
{
    b->back[cone->row] = e * b->c1[cone->row];
    Group group = {.cone = cone, .first = 1};
    for (int g = 0; g < cone->groups; group.first += cone->groupSize[g++]) {
        group.size = cone->groupSize[g];
        if (!(b->c1[cone->row] > 0.0) || !isAtBound(group, b->c1) || !slips(&b->s->island->problem, group, b->v1)) continue;
        for (int row = cone->row + group.first; row < cone->row + group.first + group.size; row++) b->back[row] = e * b->c1[row];
    }
}

/* e c1 of the contacts that hit. Cones and contacts are in the same order, and the first row of a contact is the first of its cone. */
static void returned(const pcBounce* b)
{
    const pcIsland* island = b->s->island;
    const pcCone* cone = island->list.cone;
    for (int i = 0; i < island->touches; i++) {
        while (cone->row < island->touchRows[i].row[0]) cone++;
        if (island->touchRows[i].impact) giveBack(b, cone, island->touchRows[i].bounce);
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

static void decompress(pcBounce* b)
{
    pcIsland* island = b->s->island;
    memcpy(b->v1, island->v, 6 * (size_t)island->problem.blocks * sizeof(double));
    memcpy(b->c1, island->c, (size_t)island->problem.rows * sizeof(double));
    returned(b);
    addTransposed(&island->problem, b->back, b->f2);
    pcIslandAnswer(&b->s->step->assembly, island, b->f2, b->d);
    enterDecompression(island, b->c1);
    island->problem.free = b->f2;
}

/* The largest p with G(v1 + p d) <= max(G(v1), 0): the root of x p^2 + y p + z <= 0, where z <= 0. */
static double firstGuess(const pcBounce* b)
{
    const pcIsland* island = b->s->island;
    const pcProblem* p = &island->problem;
    if (!b->poisson) return 0.5;
    double x = pcKineticEnergy(p, b->d), y = pcMassProduct(p, b->d, b->v1) - pcMassProduct(p, b->d, b->push);
    double z = pcKineticEnergy(p, b->v1) - pcKineticEnergy(p, b->old) - pcMassProduct(p, b->v1, b->push);
    for (int row = island->rows; row < p->rows; row++) y -= b->drive[row] * b->back[row], z -= b->drive[row] * b->c1[row];
    z = smaller(z, 0.0);
    double root = sqrt(larger(y * y - 4.0 * x * z, 0.0)), part = y > 0.0 ? -2.0 * z / (y + root) : (root - y) / (2.0 * x);
    return part > 0.0 && part < 1.0 ? part : 0.5;
}

/* ---- the search ---- */

static void keep(pcBounce* b, const pcTrial* t)
{
    const pcIsland* island = b->s->island;
    memcpy(b->keptV, island->v, 6 * (size_t)island->problem.blocks * sizeof(double));
    memcpy(b->keptC, island->c, (size_t)island->problem.rows * sizeof(double));
    b->kept = t->part, b->keptInfo = t->info;
}

/* The kept answer and its problem take their places again. */
static void recall(const pcBounce* b)
{
    pcIsland* island = b->s->island;
    enter(b, b->kept);
    memcpy(island->v, b->keptV, 6 * (size_t)island->problem.blocks * sizeof(double));
    memcpy(island->c, b->keptC, (size_t)island->problem.rows * sizeof(double));
}

/* Contacts may ask for bounces that contradict each other; smaller ones then have an answer. */
static bool isWorse(const pcTrial* t, const pcConeInfo* other) { return t->info.solve.outcome > other->solve.outcome; }

static void halve(pcBounce* b, double limit)
{
    double low = 0.0, high = 1.0, part = firstGuess(b);
    for (int round = 0; round < ROUNDS; round++, part = 0.5 * (low + high)) {
        pcTrial t = attempt(b, part);
        if (!allowed(b, &t, limit) || isWorse(&t, &b->keptInfo)) {
            high = part;
            continue;
        }
        low = part;
        keep(b, &t);
        if (t.gain > limit - ENOUGH * t.scale) return;
    }
}

/* The whole gained, or has no answer: what e = 0 has of either is not restitution's. */
static void lessen(pcBounce* b, const pcTrial* whole)
{
    keep(b, whole);
    pcTrial none = attempt(b, 0.0);
    double limit = larger(none.gain, 0.0);
    if (!allowed(b, whole, limit) || isWorse(whole, &none.info)) {
        keep(b, &none);
        halve(b, limit);
    }
    recall(b);
    for (int i = 0; b->kept < 1.0 && i < b->s->island->touches; i++) b->s->island->touchRows[i].flown = b->s->island->touchRows[i].target;
}

/* ---- one after the other ---- */

static pcTrial tryInTurn(pcBounce* b, double part)
{
    memset(b->c1, 0, (size_t)b->s->island->problem.rows * sizeof(double));
    pcTrial t = {.part = 1.0, .info = pcImpactsInTurn(b, part)};
    measure(b, &t);
    return t;
}

/* What flies keeps its energy but where its way would lead into another body, and then gains some: as much less bounces. */
static pcTrial turnLess(pcBounce* b, const pcTrial* whole)
{
    pcTrial less = tryInTurn(b, LESS), t;
    if (!allowed(b, &less, 0.0) || !(whole->gain > less.gain)) return less;
    t = tryInTurn(b, LESS + (1.0 - LESS) * ALMOST * less.gain / (less.gain - whole->gain));
    return t.info.solve.outcome == PC_SOLVED && allowed(b, &t, 0.0) ? t : tryInTurn(b, LESS);
}

/* Where contacts are struck by what others bounce, or where bouncing all at once gains energy or has no answer: true if it is better
 * to let them bounce in turn, and that is the answer now. */
static bool bouncesInTurn(pcBounce* b, const pcTrial* whole, bool good)
{
    const double* free = b->s->island->problem.free;
    if (b->poisson || !pcImpactsApply(b) || (good && !pcImpactsFollow(b))) return false;
    keep(b, whole);
    b->inTurn = true;
    pcTrial t = tryInTurn(b, 1.0);
    if (b->s->island->way && !allowed(b, &t, 0.0)) t = turnLess(b, &t);
    if (t.info.solve.outcome == PC_SOLVED && allowed(b, &t, 0.0) && (!good || t.gain > whole->gain)) {
        pcImpactsSettle(b);
        b->keptInfo = t.info;
        return true;
    }
    b->inTurn = false;
    b->s->island->problem.free = free;
    memset(b->c1, 0, (size_t)b->s->island->problem.rows * sizeof(double));
    recall(b);
    return false;
}

/* ---- begin and end ---- */

static bool begin(pcBounce* b)
{
    const pcIsland* island = b->s->island;
    const pcProblem* p = &island->problem;
    size_t n = 6 * (size_t)p->blocks;
    pcArena* arena = &b->s->worker->arena;
    double** bodies[] = {&b->old, &b->push, &b->v1, &b->d, &b->f2, &b->keptV};
    double** rows[] = {&b->drive, &b->c1, &b->back, &b->keptC};
    for (int i = 0; i < 6; i++) *bodies[i] = pcArenaNew(arena, double, n);
    for (int i = 0; i < 4; i++) *rows[i] = pcArenaNew(arena, double, p->rows);
    if (!pcArenaGood(arena)) return false;
    for (size_t i = 0; i < n; i++) {
        b->old[i] = b->s->step->motion[island->body[i / 6]].velocity[i % 6];
        b->push[i] = p->free[i] - b->old[i];
    }
    driveOf(island, b->drive);
    return true;
}

/* All that was tried counts as work, but only what is in the answer as its outcome: Poisson's compression is. */
static void writeInfo(const pcBounce* b, pcConeInfo* info)
{
    const pcSolveInfo first = info->solve;
    if (!b->poisson) *info = b->keptInfo;
    if (b->poisson && b->keptInfo.solve.outcome > first.outcome) info->solve.outcome = b->keptInfo.solve.outcome;
    if (b->poisson) info->solve.residual = larger(first.residual, b->keptInfo.solve.residual);
    info->solve.iterations = first.iterations + b->iterations, info->solve.fallbacks = first.fallbacks + b->fallbacks;
}

pcBounceLaw pcIslandBounces(const pcIsland* island)
{
    pcBounceLaw law = PC_BOUNCE_NONE;
    for (int i = 0; i < island->touches; i++) {
        if (island->touchRows[i].impact) return PC_BOUNCE_POISSON;
        if (island->touchRows[i].bounced > island->touchRows[i].target) law = PC_BOUNCE_NEWTON;
    }
    return law;
}

void pcIslandRestore(const pcIslandSolve* s, pcBounceLaw law, pcIslandJudged* answer)
{
    pcBounce b = {.s = s, .poisson = law == PC_BOUNCE_POISSON};
    if (!begin(&b)) { /* out of memory: compressed, but not given back; or bounced, but not looked at */
        answer->info.solve.outcome = PC_INACCURATE;
        return;
    }
    pcTrial whole = {.part = 1.0, .info = answer->info};
    if (b.poisson) {
        decompress(&b);
        whole = attempt(&b, 1.0);
    } else
        measure(&b, &whole);
    b.kept = 1.0, b.keptInfo = whole.info;
    bool good = allowed(&b, &whole, 0.0) && whole.info.solve.outcome == PC_SOLVED;
    if (!bouncesInTurn(&b, &whole, good) && !good) lessen(&b, &whole);
    writeInfo(&b, &answer->info);
    pcIslandJudge(s, answer);
    pcIslandFly(s, b.inTurn ? b.c1 : NULL);
    for (int i = 0; i < s->island->problem.rows; i++) s->island->c[i] += b.c1[i] + b.kept * b.back[i];
}
