/*
 * c in K, u~(x) in K*, c'u~ = 0, A (x - f) = B c:  solved by a sequence of regularized problems whose solutions converge to that of the
 * unregularized one (proximal point method), each by Newton's method.
 *
 *     round k:   u~ + E (c - r_k) = w,  c in K, w in K*, c'w = 0      <=>      c = proj_K^E(r_k - E^-1 u~)      (projection in norm E)
 *                F(x) = A (x - f) - B c(x) = 0                        by Newton: (A + B G C) dx = -F,  G = -dc/du
 *                r_{k+1} = c;  E smaller
 *
 *     u~   u + (sum_g |u_g|) n: the shift of De Saxce is inside the derivative, so the Coulomb problem itself is solved, not a sequence
 *          of relaxed ones; u~ = u for the relaxation
 *     E    diagonal: eps times the row's own velocity per impulse, so eps is dimensionless
 *     y    velocity of a soft row, y = S c: one more unknown per soft row, eliminated inside its cone
 *
 * Redundant rows make B'A^-1 B singular but never A + B G C. E does not limit the answer: what is left of it is E (c - r_k), which
 * goes to 0. In u = u_k + C (x - x_k) the velocities are carried as a sum of changes during a round: E^-1 multiplies their rounding error, and
 * one error that stays the same is only a change of b in the last digit, while a new one in every step would keep Newton from ending.
 */
#include "solver/proximal.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "solver/cone.h"

/* eps of the first round; below EPS_FINE it is reduced only if that is needed; of the round that settles */
#define EPS_COLD 0.1
#define EPS_WARM 1e-4
#define EPS_FINE 1e-5
#define EPS_LEAST 1e-11
#define EPS_MOST 1e4
#define EPS_SETTLE 1e-2
/* Newton steps in all; in one round; in one round without getting better by a tenth */
#define ITERATION_LIMIT 500
#define INNER_LIMIT 60
#define STALL_LIMIT 14
#define SETTLE_LIMIT 2
#define QUIET_LIMIT 3
#define HALVINGS 6
#define COARSE 0.1  /* a full Newton step below this part of what E holds back ends a round: the next one moves more than that, … */
#define FINEST 30.0 /* … if that is more than so many tolerances */
/* In piles */
#define CHORD 0.3       /* of the balance: a full step that leaves no more is followed by one with the same factors, … */
#define CHORDS 0.5      /* … which counts if it leaves no more than this */
#define UPHILL 0.5      /* of the slope at the beginning of a step: where it goes up by more, the step is too long; … */
#define SEARCH_LIMIT 30 /* evaluations until it is right */
#define LEAST_PART 1e-3 /* of what is left, in one of them */
#define PILE_COARSE 0.3
#define PILE_FINEST 3.0
#define ROUNDED 0.1 /* of the balance: small steps that leave more (full ones: more than CHORD) are all rounding, and end a round */
#define JAMMED_LIMIT 20
#define MARGIN 0.2  /* of the tolerance: what is measured here is not quite what the certificate measures */
#define ROUGH 1e-14 /* row velocities that F stands for, in units of velocity: as good as rounding lets it be */
#define RESTART_LIMIT 60
#define HUGE 1e30 /* velocities beyond this many units are no solution */

typedef struct State {
    double *x, *u, *y; /* unknowns, row velocities without softness, velocity of the softness */
    double* c;
    double *F, norm; /* balance of x, and of y in Fy */
    double* Fy;
} State;

typedef struct Method {
    const pcLinear* p;
    State now, trial;
    double *r, *weight, *G, *local, *dx, *du, *dy, *rhs, *load;
    double *stillX, *stillC; /* where rounds began to hold back the same: from then on impulses only grow */
    int* offset;             /* of each cone's block in G */
    double eps;
    double rounding; /* what F may stand for at the end */
    int iterations;
    bool pile, old; /* old: the factors of the last step serve for the next one */
} Method;

static bool stateNew(State* s, const pcLinear* p, pcArena* arena)
{
    s->x = pcArenaNew(arena, double, p->unknowns), s->F = pcArenaNew(arena, double, p->unknowns);
    s->u = pcArenaNew(arena, double, p->rows), s->y = pcArenaNew(arena, double, p->rows);
    s->c = pcArenaNew(arena, double, p->rows), s->Fy = pcArenaNew(arena, double, p->rows);
    return pcArenaGood(arena);
}

static void copy(double* to, const double* from, int n) { memcpy(to, from, (size_t)n * sizeof *to); }

static bool methodNew(Method* m, const pcLinear* p, pcArena* arena)
{
    int size = 0;
    m->p = p;
    m->offset = pcArenaNew(arena, int, p->cones + 1);
    if (!m->offset) return false;
    for (int k = 0; k < p->cones; k++) m->offset[k] = size, size += p->cone[k].rows * p->cone[k].rows;
    m->r = pcArenaNew(arena, double, p->rows), m->weight = pcArenaNew(arena, double, p->rows);
    m->G = pcArenaNew(arena, double, size), m->local = pcArenaNew(arena, double, size);
    m->dx = pcArenaNew(arena, double, p->unknowns), m->rhs = pcArenaNew(arena, double, p->unknowns);
    m->du = pcArenaNew(arena, double, p->rows), m->dy = pcArenaNew(arena, double, p->rows);
    m->load = pcArenaNew(arena, double, p->rows);
    m->stillX = pcArenaNew(arena, double, p->unknowns), m->stillC = pcArenaNew(arena, double, p->rows);
    return stateNew(&m->now, p, arena) && stateNew(&m->trial, p, arena);
}

/* Equal weights within a group: the projection needs that, and the choice of friction directions then has no effect. */
static void setWeights(Method* m, double eps)
{
    const pcLinear* p = m->p;
    m->eps = eps;
    for (int k = 0; k < p->cones; k++) {
        const pcCone* cone = &p->cone[k];
        const double* own = p->own + cone->row;
        double* weight = m->weight + cone->row;
        weight[0] = eps * own[0];
        for (int g = 0, row = 1; g < (cone->kind == PC_CONE_FRICTION ? cone->groups : 0); row += cone->groupSize[g++]) {
            if (cone->groupSize[g] == 1) {
                weight[row] = eps * own[row];
            } else {
                weight[row] = weight[row + 1] = eps * 0.5 * (own[row] + own[row + 1]);
            }
        }
    }
}

static double softOf(const pcLinear* p, int row) { return p->soft ? p->soft[row] : 0.0; }

static pcLaw lawOf(const pcLinear* p, int k) { return p->lifted && !p->lifted[k] && p->law == PC_LAW_COULOMB ? PC_LAW_RELAXED : p->law; }

static void coneLaw(const Method* m, int k, State* s)
{
    const pcCone* cone = &m->p->cone[k];
    int row = cone->row;
    double u[PC_CONE_ROWS];
    for (int i = 0; i < cone->rows; i++) u[i] = s->u[row + i] + s->y[row + i];
    pcConeLaw(cone, lawOf(m->p, k), m->p->slip ? m->p->slip + row : NULL, m->weight + row, m->r + row, u, s->c + row, m->G + m->offset[k]);
}

typedef struct Laws {
    const Method* m;
    State* s;
} Laws;

static void lawOfSome(void* context, int begin, int end)
{
    const Laws* laws = context;
    for (int k = begin; k < end; k++) coneLaw(laws->m, k, laws->s);
}

/* Fills in c, F and their norm for x, u, y. The softness counts in the norm by the velocity it is off. */
static void evaluate(const Method* m, State* s)
{
    const pcLinear* p = m->p;
    double soft = 0.0;
    pcPoolLoop(p->pool, lawOfSome, &(Laws){m, s}, p->cones);
    p->balance(p->self, s->x, s->c, s->F);
    for (int i = 0; p->soft && i < p->rows; i++) {
        s->Fy[i] = s->y[i] - p->soft[i] * s->c[i];
        soft += s->Fy[i] * s->Fy[i] / p->own[i];
    }
    double norm = p->norm(p->self, s->F);
    s->norm = sqrt(norm * norm + soft);
}

/* Gauss elimination with row exchange: n <= 6, and I + S G is never singular where the relaxation is concerned. */
static bool solveSmall(int n, double* A, double* b, int columns)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++) best = fabs(A[i * n + k]) > fabs(A[best * n + k]) ? i : best;
        if (A[best * n + k] == 0.0) return false;
        for (int j = 0; best != k && j < n; j++) {
            double swap = A[k * n + j];
            A[k * n + j] = A[best * n + j], A[best * n + j] = swap;
        }
        for (int j = 0; best != k && j < columns; j++) {
            double swap = b[k * columns + j];
            b[k * columns + j] = b[best * columns + j], b[best * columns + j] = swap;
        }
        for (int i = 0; i < n; i++) {
            double factor = i == k ? 0.0 : A[i * n + k] / A[k * n + k];
            for (int j = k; factor != 0.0 && j < n; j++) A[i * n + j] -= factor * A[k * n + j];
            for (int j = 0; factor != 0.0 && j < columns; j++) b[i * columns + j] -= factor * b[k * columns + j];
        }
    }
    for (int k = 0; k < n; k++) {
        for (int j = 0; j < columns; j++) b[k * columns + j] /= A[k * n + k];
    }
    return true;
}

/* A cone with softness S:  dy = -(I + S G)^-1 (Fy + S G du),  dc = -G (du + dy).
 * Hence dc = -Gs du + g with Gs = G (I + S G)^-1 and g = Gs Fy, and dy = S dc - Fy. */
static bool condense(const Method* m, int k, double* Gs, double* g)
{
    const pcCone* cone = &m->p->cone[k];
    int n = cone->rows;
    const double* G = m->G + m->offset[k];
    bool soft = false;
    for (int i = 0; i < n; i++) g[i] = 0.0, soft = soft || softOf(m->p, cone->row + i) > 0.0;
    copy(Gs, G, n * n);
    if (!soft) return true;
    double T[PC_CONE_ROWS * PC_CONE_ROWS], X[PC_CONE_ROWS * PC_CONE_ROWS]; /* (I + S G)' X = G', Gs = X' */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            T[j * n + i] = (i == j ? 1.0 : 0.0) + m->p->soft[cone->row + i] * G[i * n + j];
            X[j * n + i] = G[i * n + j];
        }
    }
    if (!solveSmall(n, T, X, n)) return false;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) Gs[i * n + j] = X[j * n + i], g[i] += X[j * n + i] * m->now.Fy[cone->row + j];
    }
    return true;
}

/* The Newton direction dx, du, dy at `now`, whose G is in m->G. */
static bool direction(Method* m)
{
    const pcLinear* p = m->p;
    double* g = m->load;
    for (int k = 0; k < p->cones; k++) {
        if (!condense(m, k, m->local + m->offset[k], g + p->cone[k].row)) return false;
    }
    /* F + A dx - B dc = 0 with dc = -Gs C dx + g */
    copy(m->trial.x, m->now.x, p->unknowns);
    if (p->soft) {
        for (int i = 0; i < p->rows; i++) m->trial.c[i] = m->now.c[i] + g[i];
        p->balance(p->self, m->now.x, m->trial.c, m->rhs);
    } else {
        copy(m->rhs, m->now.F, p->unknowns);
    }
    for (int i = 0; i < p->unknowns; i++) m->rhs[i] = -m->rhs[i];
    if (!p->newton(p->self, m->old ? NULL : m->local, m->offset, m->rhs, m->dx)) return false;
    p->change(p->self, m->dx, m->du);
    memset(m->dy, 0, (size_t)p->rows * sizeof *m->dy);
    for (int k = 0; p->soft && k < p->cones; k++) {
        int n = p->cone[k].rows, row = p->cone[k].row;
        const double* Gs = m->local + m->offset[k];
        for (int i = 0; i < n; i++) {
            double dc = g[row + i];
            for (int j = 0; j < n; j++) dc -= Gs[i * n + j] * m->du[row + j];
            if (p->soft[row + i] > 0.0) m->dy[row + i] = p->soft[row + i] * dc - m->now.Fy[row + i];
        }
    }
    return true;
}

static void tryStep(Method* m, double a)
{
    const pcLinear* p = m->p;
    for (int i = 0; i < p->unknowns; i++) m->trial.x[i] = m->now.x[i] + a * m->dx[i];
    for (int i = 0; i < p->rows; i++) m->trial.u[i] = m->now.u[i] + a * m->du[i], m->trial.y[i] = m->now.y[i] + a * m->dy[i];
    evaluate(m, &m->trial);
}

static void accept(Method* m)
{
    State swap = m->now;
    m->now = m->trial, m->trial = swap;
}

static double largestStep(const Method* m)
{
    double step = 0.0;
    for (int i = 0; i < m->p->rows; i++) step = larger(step, fabs(m->du[i] + m->dy[i]));
    return step / m->p->velocityScale;
}

/* Row velocities that F stands for. */
static double errorOf(const Method* m) { return m->p->error(m->p->self, m->now.F) / m->p->velocityScale; }

/* What the regularization still holds back: max |E (c - r)|, by the velocity scale. */
static double heldBack(const Method* m)
{
    double most = 0.0;
    for (int i = 0; i < m->p->rows; i++) most = larger(most, fabs(m->weight[i] * (m->now.c[i] - m->r[i])));
    return most / m->p->velocityScale;
}

/* A full Newton step from `now` to `trial`; how far it moves a row. Where the factors are those of the step before and it does not get better by
 * them, they are made anew. Infinite: there is none. */
static double fullStep(Method* m)
{
    if (!direction(m)) return INFINITY;
    double moved = largestStep(m);
    if (!(moved < HUGE)) return INFINITY;
    tryStep(m, 1.0);
    if (!m->old || m->trial.norm <= CHORDS * m->now.norm) return moved;
    m->old = false;
    evaluate(m, &m->now); /* its G */
    return fullStep(m);
}

static double slopeOf(const Method* m, const double* F)
{
    double sum = 0.0;
    for (int i = 0; i < m->p->unknowns; i++) sum += m->dx[i] * F[i];
    return sum;
}

/* In a pile F is the gradient of a convex function, whose slope along the step grows from -down to `up`: where it is 0, or no more than UPHILL of
 * what it was. By false position, where the slope at the end that stays is halved every time, and by every third time halving. One contact that is about to
 * open or to stick ends a step after 1e-3 to 1e-8 of its length. Whoever stops short of that point is still on the same side of it, and so the
 * next step is as short: rounds of a pile of ten thousand took up to fourteen of them. To meet it takes 1 to 8 evaluations; a factorization
 * takes as long as a hundred. */
static double lowest(Method* m, double down, double up)
{
    double low = 0.0, high = 1.0, atLow = -down, atHigh = up, a = 1.0;
    for (int i = 0; i < SEARCH_LIMIT; i++) {
        double part = i % 3 == 2 ? 0.5 : atLow / (atLow - atHigh);
        tryStep(m, a = low + (high - low) * larger(LEAST_PART, smaller(1.0 - LEAST_PART, part)));
        double slope = slopeOf(m, m->trial.F);
        if (!(fabs(slope) > UPHILL * down)) return a;
        if (slope > 0.0)
            atHigh = slope, high = a, atLow *= 0.5;
        else
            atLow = slope, low = a, atHigh *= 0.5;
    }
    if (a != high) tryStep(m, a = high);
    return a;
}

/* Shortens a step until it is as good as it should be, and returns its length; NaN: no length will do. In a pile its length is right if it does not go uphill at its
 * end, even where F grows, as it may at a kink. (Judged by F alone, steps that moved hardly anything went to and fro over one kink, in one of 400 steps of a pile of
 * 1000.) Else F itself must become less, unless hardly anything moves. */
static double shorten(Method* m, double moved, double enough)
{
    double before = m->now.norm, a = 1.0;
    if (m->pile) {
        double down = -slopeOf(m, m->now.F), up = slopeOf(m, m->trial.F);
        return down > 0.0 && up > UPHILL * down ? lowest(m, down, up) : a; /* else it is all rounding */
    }
    for (int halving = 0; moved > enough && halving < HALVINGS && !(m->trial.norm <= before * (1.0 - 1e-4 * a)); halving++) {
        tryStep(m, a *= 0.5);
    }
    return moved > enough && !(m->trial.norm <= before * (1.0 - 1e-4 * a)) ? (double)NAN : a;
}

/* One regularized problem; `finest`: less held back than this, and the round may be the last. Ends when full Newton steps move no row by more than
 * `enough` and leave no more than rounding in F. A step is shortened; where no length helps (a kink), the full one is taken: it lands on another piece. */
static bool solveRound(Method* m, double enough, double finest, int limit, int* steps)
{
    int sinceBest = 0, quiet = 0;
    evaluate(m, &m->now);
    double best = m->now.norm;
    m->old = false;
    for (*steps = 0; *steps < limit && sinceBest < STALL_LIMIT; ++*steps, m->iterations++) {
        double before = m->now.norm, moved = fullStep(m), a = isinf(moved) ? (double)NAN : shorten(m, moved, enough);
        if (isnan(a)) return false;
        accept(m);
        m->old = m->pile && a == 1.0 && m->now.norm <= CHORD * before;
        sinceBest = m->now.norm < 0.9 * best ? 0 : sinceBest + 1;
        best = smaller(best, m->now.norm);
        quiet += moved <= enough;
        double held = heldBack(m);
        bool coarse = a == 1.0 && moved <= (m->pile ? PILE_COARSE : COARSE) * held && held > finest;
        bool contracts = m->pile && *steps + 1 < limit && (m->old || m->now.norm <= ROUNDED * before);
        bool still = quiet >= QUIET_LIMIT && !contracts;
        if (coarse || still || (quiet && errorOf(m) <= larger(m->rounding, 1e-3 * enough))) {
            ++*steps, m->iterations++;
            return true;
        }
    }
    return false;
}

static void startRound(Method* m, const double* x, const double* c)
{
    const pcLinear* p = m->p;
    copy(m->now.x, x, p->unknowns), copy(m->r, c, p->rows);
    p->velocities(p->self, x, m->now.u);
    for (int i = 0; i < p->rows; i++) m->now.y[i] = softOf(p, i) * c[i];
}

/* How small the next E may be. Where it became very small, 1/E has amplified rounding, seen in F: a round with a larger one settles c
 * without moving it. */
typedef struct Schedule {
    double eps, failed; /* `failed`: an eps that was too small a short while ago */
    double held;        /* of the last good round */
    int settled;        /* how often E was made larger again for accuracy */
    double least;       /* smallest eps of a good round */
    int same;           /* rounds in a row that held back the same, whatever E was: nothing can give way, impulses only grow */
} Schedule;

static void afterSuccess(Schedule* s, double held, int steps, double tolerance)
{
    bool fast = held <= 0.03 * s->held, fine = s->eps <= EPS_FINE;
    bool still = held >= 0.98 * s->held && held <= 1.02 * s->held;
    s->same = !still ? 0 : s->eps >= s->least ? s->same + 1 : s->same; /* at a smaller E than ever the same is no news */
    s->least = smaller(s->least, s->eps);
    s->held = held;
    if (held <= 0.1 * tolerance || (fine && fast)) return; /* another round like this one will do */
    double next = s->eps * (steps <= 4 ? 0.01 : steps <= 10 ? 0.1 : 0.3);
    if (next <= s->failed) next = sqrt(s->eps * s->failed);
    s->eps = larger(next, fine ? EPS_LEAST : 0.5 * EPS_FINE);
    s->failed *= 0.3;
}

static void afterFailure(Schedule* s)
{
    s->failed = s->eps;
    s->eps = smaller(s->eps * 10.0, EPS_MOST);
}

/* One round from (x, c); on success they are replaced, and the return is what is still held back. NaN: it failed. */
static double advance(Method* m, double eps, double enough, double finest, int limit, int* steps, double* x, double* c)
{
    setWeights(m, eps);
    startRound(m, x, c);
    bool good = solveRound(m, enough, finest, limit, steps);
    double held = heldBack(m);
    if (!good || !(held < HUGE)) return NAN;
    copy(x, m->now.x, m->p->unknowns), copy(c, m->now.c, m->p->rows);
    return held;
}

pcProximalInfo pcProximalSolve(const pcLinear* p, const pcProximalSettings* settings, pcArena* arena, double* x, double* c)
{
    pcProximalInfo info = {.residual = INFINITY};
    Method method = {0}, *m = &method;
    size_t mark = pcArenaMark(arena);
    double tolerance = MARGIN * settings->tolerance;
    int limit = settings->maxIterations ? settings->maxIterations : ITERATION_LIMIT, steps = 0;
    int restarts = settings->maxRestarts ? settings->maxRestarts : RESTART_LIMIT;
    Schedule s = {.eps = settings->warm ? EPS_WARM : EPS_COLD, .held = INFINITY, .least = INFINITY};
    bool memory = methodNew(m, p, arena);
    m->rounding = larger(ROUGH, settings->rounding), m->pile = settings->pile && !p->soft;
    while (memory && !info.converged && s.same < JAMMED_LIMIT && m->iterations < limit && info.restarts <= restarts) {
        double enough = s.held <= tolerance ? 0.1 * tolerance : larger(0.1 * tolerance, smaller(1e-4 * s.eps, 1e-6));
        int left = limit - m->iterations;
        double finest = (m->pile ? PILE_FINEST : FINEST) * tolerance;
        double held = advance(m, s.eps, enough, finest, left < INNER_LIMIT ? left : INNER_LIMIT, &steps, x, c);
        info.rounds++;
        if (isnan(held)) {
            afterFailure(&s), info.restarts++;
            continue;
        }
        for (int i = 0; settings->held && i < p->rows; i++) settings->held[i] = m->weight[i] * (m->now.c[i] - m->r[i]);
        double rounding = errorOf(m);
        info.residual = held + enough + rounding;
        bool close = held + enough <= tolerance, rough = rounding > m->rounding && s.settled < SETTLE_LIMIT;
        info.converged = close && !rough;
        if (close && rough) {
            s.eps = larger(s.eps, EPS_SETTLE * ROUGH / m->rounding), s.held = held, s.settled++; /* rounding goes with 1/E */
        } else {
            int before = s.same;
            afterSuccess(&s, held, steps, tolerance);
            if (before == 0 && s.same == 1) copy(m->stillX, x, p->unknowns), copy(m->stillC, c, p->rows);
        }
    }
    info.jammed = !info.converged && s.same >= JAMMED_LIMIT;
    if (info.jammed) copy(x, m->stillX, p->unknowns), copy(c, m->stillC, p->rows);
    info.iterations = m->iterations;
    pcArenaRelease(arena, mark);
    return info;
}
