/*
 * Coulomb's law (T 5.1, with the circular cone) by an interior point method, in velocity space.
 *
 *     M (v - f) = J'c,     y = u + |u_t| n,  u = J v - b + s c,     c o y = m e,     c and y inside K,     m -> 0
 *
 *     C, Y     impulses and velocities in units of the cone: C = c w / v0, Y = y / v0, with w the mean of its own J M^-1 J'
 *     W        scaling of Nesterov and Todd (soc.h):  lambda = W C = W^-1 Y
 *     t        u_t / |u_t|, smoothed below SMOOTH sqrt(m):  the shift of De Saxce is inside the derivative, dY = (1 + n t') du - r
 *     step     lambda o (W dC + W^-1 dY) = sigma m e - lambda o lambda [- q],  hence dC = g - W^-2 (1 + n t') du
 *              (M + J'W^-2 (1 + n t') J) dv = J'g - (M (v - f) - J'c):      one factorization, two solutions and more
 *     q        first the second order W^-1 dY' o W dC' of a step to m = 0 (Mehrotra); then, as long as that makes the step longer, also what the
 *              products of all cones, a bit beyond the end of the step, lack to eigenvalues between m' / 10 and 10 m', m' = sigma m
 *              (Gondzio). A factorization of a pile takes 25 times as long as a solution; with up to four of these a pile of 1000 by the
 *              relaxation (T 5.7) takes 37 factorizations up to here, and 49 without. Under Coulomb's law, where the path turns, they are left
 *              out: 43 steps of that pile took 24 s with them and 26 s without, by other turns
 *
 * A FREE row has c - u/e for its next impulse, with a small e. Polygons count as discs: near enough for a start.
 *
 * Why this is the start. Without the shift the problem is convex, and 18 to 25 factorizations end at m = 1e-14 whatever the pile. With it
 * the path to m = 0 is still there, but may turn back on itself where contacts change from stick to slide (the determinant of the matrix
 * changes its sign there): steps become short, and m stays at 1e-6 to 1e-9. Of 1100 to 1800 contacts of a falling pile 7 to 96 are then
 * not yet on the piece where they end, which the rounds of proximal.c find out in 30 to 500 steps; from nothing they take 300 to 3000, or
 * stay at 1e-4. On shaken balls the path hardly turns, and 14 to 20 factorizations leave two to ten Newton steps to do. central.c follows the path
 * around its turns, which takes hundreds to thousands. Tried as well and slower: damping the shift (its fixed point
 * contracts by 0.99 per pass where contacts are nearly redundant), leaving the derivative of the shift away.
 */
#include "solver/interior.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "solver/interior_cones.h"
#include "solver/rows.h"
#include "solver/soc.h"
#include "solver/stiffness.h"

typedef pcInterior Interior;

#define LIMIT 40     /* factorizations */
#define CLOSE 1e-2   /* of the residual asked for … */
#define CLOSEST 1e-8 /* … but not less than this, is the root of m at the end */
#define SHORT 0.1    /* steps this short are a turn of the path; so many of them end it */
#define SHORT_LIMIT 3
#define NEAR 1e-3      /* … as far as m has come to less than this: until then the start is to blame */
#define CENTRING 0.2   /* after a step shorter than this the next one only goes back to the middle */
#define BORDER 0.99    /* of the way to the border of a cone */
#define CORRECTIONS 4  /* of the products of cones in a step, … */
#define FURTHER 1.08   /* … so many times further on than the step goes, … */
#define FURTHER_BY 0.2 /* … and by this, … */
#define GAIN 0.2       /* … if it then goes this part of the difference further; … */
#define WORTH 6.0      /* … where a factorization takes as long as so many solutions, there is one of them, … */
#define ALL_WORTH 16.0 /* … and here all */
#define CENTRAL 1e-2   /* no cone's share of m may fall behind the others' by more than this */
#define APART \
    0.5 /* of what a guess is off by, the root of m at its start: with a fifth of that, steps are short; with three times, many; … */
#define LEAST_APART \
    3e-2 /* … but not less than this: nearer to the borders, every step is short (1e-3: a fifth more time for a pile that lies) */
#define FINE 1e-4         /* residual from which on a path goes on where a rough answer ended, and above which an answer is rough; … */
#define MOST_INSIDE 0.5   /* … if it left more than this part of all contacts inside */
#define NEAR_ENOUGH 1e-11 /* m to which a path from a guess has come that ended before its aim: no reason to begin from nothing, … */
#define ON_ENOUGH 1e-9    /* … and one that went on from a rough answer: from nothing it ends no nearer */
#define STALLS \
    0.3 /* of so small an m: two steps, neither of them short, that leave more by the relaxation are rounding (in H the masses are lost) */

/* ---- loops, shared between threads ---- */

static void overCones(Interior* s, pcLoopBody* body) { pcPoolLoop(s->p->pool, body, s, s->p->cones); }
static void overBlocks(Interior* s, pcLoopBody* body) { pcPoolLoop(s->p->pool, body, s, s->p->blocks); }

static double sumOf(const Interior* s, int count)
{
    double sum = 0.0;
    for (int i = 0; i < pcChunks(count); i++) sum += s->partial[i];
    return sum;
}

static double largestOf(const Interior* s, int count)
{
    double most = -HUGE_VAL;
    for (int i = 0; i < pcChunks(count); i++) most = larger(most, s->partial[i]);
    return most;
}

static bool applies(const pcProblem* p)
{
    for (int k = 0; k < p->cones; k++)
        if (p->cone[k].kind == PC_CONE_BOX || p->cone[k].rows > PC_SOC_ROWS || p->cone[k].groups > 1) return false;
    return !p->W && !p->dense;
}

static bool allocate(Interior* s, pcArena* arena)
{
    size_t rows = (size_t)s->p->rows, cones = (size_t)s->p->cones, size = 6 * (size_t)s->p->blocks;
    int all = 0;
    s->offset = pcArenaRaw(arena, int, cones + 1), s->own = pcArenaRaw(arena, double, cones);
    if (!s->offset) return false;
    for (size_t k = 0; k < cones; k++) s->offset[k] = all, all += s->p->cone[k].rows * s->p->cone[k].rows;
    s->v = pcArenaRaw(arena, double, size), s->F = pcArenaRaw(arena, double, size), s->dv = pcArenaRaw(arena, double, size);
    s->C = pcArenaNew(arena, double, rows), s->Y = pcArenaNew(arena, double, rows), s->u = pcArenaNew(arena, double, rows);
    s->r = pcArenaNew(arena, double, rows), s->t = pcArenaNew(arena, double, rows), s->g = pcArenaNew(arena, double, rows);
    s->dC = pcArenaNew(arena, double, rows), s->dY = pcArenaNew(arena, double, rows), s->q = pcArenaNew(arena, double, rows);
    s->keptV = pcArenaRaw(arena, double, size), s->keptC = pcArenaRaw(arena, double, rows), s->keptY = pcArenaRaw(arena, double, rows);
    s->slip = pcArenaNew(arena, double, cones), s->eta = pcArenaNew(arena, double, cones), s->four = pcArenaRaw(arena, bool, cones);
    s->w = pcArenaNew(arena, double, rows), s->lambda = pcArenaNew(arena, double, rows), s->G = pcArenaNew(arena, double, all);
    s->partial = pcArenaRaw(arena, double, pcChunks(s->p->cones) + pcChunks(s->p->blocks));
    return pcArenaGood(arena);
}

/* ---- where it stands ---- */

static void massTimes(const pcProblem* p, int block, const double* x, double* out)
{
    for (int i = 0; i < 6; i++) out[i] = dotSix(p->mass + 36 * (size_t)block + 6 * i, x);
}

/* F = M (v - f) - J'c */
PC_SIMD static void balance(void* context, int begin, int end)
{
    Interior* s = context;
    for (int b = begin; b < end; b++) {
        double moved[6];
        for (int i = 0; i < 6; i++) moved[i] = s->v[6 * b + i] - s->p->free[6 * b + i];
        massTimes(s->p, b, moved, s->F + 6 * b);
        addTouching(s->p, s->touching, b, -s->unit, s->own, s->C, s->F + 6 * b);
    }
}

static void measure(Interior* s)
{
    overCones(s, pcConesMeasure);
    s->largest = largestOf(s, s->p->cones);
    overBlocks(s, balance);
}

static void sumGaps(void* context, int begin, int end)
{
    const Interior* s = context;
    double sum = 0.0;
    for (int k = begin; k < end; k++) {
        int row = s->p->cone[k].row;
        for (int i = row; i < row + s->p->cone[k].rows && pcIsContact(s->p->cone + k); i++)
            sum += (s->C[i] + s->a * s->dC[i]) * (s->Y[i] + s->a * s->dY[i]);
    }
    s->partial[begin / PC_CHUNK] = sum;
}

/* C'Y a times further on, in the mean of all contacts. */
static double gapAt(Interior* s, double a)
{
    s->a = a;
    overCones(s, sumGaps);
    return s->contacts ? sumOf(s, s->p->cones) / s->contacts : 0.0;
}

/* det C det Y of a contact, so far along the step. */
static double shareOf(const Interior* s, const pcCone* cone)
{
    double C[PC_SOC_ROWS], Y[PC_SOC_ROWS];
    for (int i = 0, row = cone->row; i < cone->rows; i++, row++) C[i] = s->C[row] + s->a * s->dC[row], Y[i] = s->Y[row] + s->a * s->dY[row];
    return pcSocDet(cone->rows, C) * pcSocDet(cone->rows, Y);
}

/* How far the contacts of a chunk fall behind; what is not a number does, by far. */
static void findShares(void* context, int begin, int end)
{
    const Interior* s = context;
    double behind = -HUGE_VAL;
    for (int k = begin; k < end; k++) {
        double share = pcIsContact(s->p->cone + k) ? shareOf(s, s->p->cone + k) : HUGE_VAL;
        behind = larger(behind, isnan(share) ? HUGE_VAL : -share);
    }
    s->partial[begin / PC_CHUNK] = behind;
}

/* Whether no contact is much nearer to its borders than the others. */
static bool isCentral(Interior* s, double a)
{
    double least = CENTRAL * gapAt(s, a);
    overCones(s, findShares);
    return -largestOf(s, s->p->cones) >= least * least;
}

/* ---- one step ---- */

static bool factor(Interior* s)
{
    overCones(s, pcConesStiffen);
    return pcStiffnessFactor(s->p, s->G, s->offset, s->H);
}

PC_SIMD static void loadBlocks(void* context, int begin, int end)
{
    Interior* s = context;
    for (int i = 6 * begin; i < 6 * end; i++) s->dv[i] = -s->F[i];
    for (int b = begin; b < end; b++) addTouching(s->p, s->touching, b, s->unit, s->own, s->g, s->dv + 6 * b);
}

/* dv, dC, dY towards c o y = aim e; returns how far it is to the border of a cone. */
static double direct(Interior* s, double aim, pcOrder order)
{
    s->aim = aim, s->order = order;
    overCones(s, pcConesLoad);
    overBlocks(s, loadBlocks);
    pcBlocksSolve(s->H, s->dv);
    overCones(s, pcConesAnswer);
    return -largestOf(s, s->p->cones);
}

static void moveCones(void* context, int begin, int end)
{
    Interior* s = context;
    const pcCone* cone = s->p->cone;
    double sum = 0.0;
    for (int i = cone[begin].row; i < cone[end - 1].row + cone[end - 1].rows; i++) {
        s->C[i] += s->a * s->dC[i], s->Y[i] += s->a * s->dY[i];
        sum += s->C[i] - s->C[i];
    }
    s->partial[begin / PC_CHUNK] = sum;
}

/* A part of the way; false: it leads to what is not a number. */
static bool move(Interior* s, double a)
{
    double sum = 0.0;
    s->a = a;
    overCones(s, moveCones);
    for (int i = 0; i < 6 * s->p->blocks; i++) s->v[i] += a * s->dv[i], sum += s->v[i] - s->v[i];
    return sum + sumOf(s, s->p->cones) == 0.0;
}

/* The step that is there can be gone to `a` of its length: makes a longer one of it as long as that pays. Returns how far that one can be gone. */
static double correct(Interior* s, double aim, double a)
{
    size_t rows = (size_t)s->p->rows * sizeof *s->dC, size = 6 * (size_t)s->p->blocks * sizeof *s->dv;
    for (int i = 0; i < s->corrections && a < BORDER; i++) {
        double further = smaller(1.0, FURTHER * a + FURTHER_BY);
        memcpy(s->keptV, s->dv, size), memcpy(s->keptC, s->dC, rows), memcpy(s->keptY, s->dY, rows);
        s->a = further;
        overCones(s, pcConesCorrect);
        double longer = smaller(1.0, BORDER * direct(s, aim, PC_ORDER_CORRECTED));
        if (longer < a) memcpy(s->dv, s->keptV, size), memcpy(s->dC, s->keptC, rows), memcpy(s->dY, s->keptY, rows);
        if (longer < a + GAIN * (further - a)) return larger(a, longer);
        a = longer;
    }
    return a;
}

/* Mehrotra's choice: aims as far as a step to m = 0 could go. Returns how long the step should be. */
static double step(Interior* s, bool centring)
{
    double aim = s->m, a;
    if (!centring) {
        double reach = direct(s, 0.0, PC_ORDER_FIRST), left = larger(gapAt(s, smaller(1.0, reach)) / s->m, 0.0);
        aim *= smaller(1.0, left * left * left);
    }
    a = correct(s, aim, smaller(1.0, BORDER * direct(s, aim, centring ? PC_ORDER_FIRST : PC_ORDER_SECOND)));
    for (int tries = 0; tries < 30 && !isCentral(s, a); tries++) a *= 0.8;
    return a;
}

/* ---- from beginning to end ---- */

static void setUnits(Interior* s, const double* own)
{
    for (int k = 0; k < s->p->cones; k++) {
        const pcCone* cone = s->p->cone + k;
        s->own[k] = 0.0, s->contacts += pcIsContact(cone);
        for (int i = 0; i < cone->rows; i++) s->own[k] += own[cone->row + i] / cone->rows;
    }
}

/* How many corrections pay, by the block products of a factorization and of a solution. */
static int correctionsFor(const pcBlocks* H)
{
    double factor = 0.0, solution = 2.0 * H->n;
    for (int k = 0; k < H->n; k++) {
        double count = H->start[k + 1] - H->start[k];
        factor += count * count + 2.0 * count + 8.0, solution += 2.0 * count;
    }
    return factor < WORTH * solution ? 0 : factor < ALL_WORTH * solution ? 1 : CORRECTIONS;
}

static void begin(Interior* s)
{
    for (int i = 0; i < 6 * s->p->blocks; i++) s->v[i] = s->p->free[i];
    memset(s->C, 0, (size_t)s->p->rows * sizeof *s->C);
    for (int k = 0; k < s->p->cones; k++) {
        const pcCone* cone = s->p->cone + k;
        double *C = s->C + cone->row, *Y = s->Y + cone->row;
        if (!pcIsContact(cone)) continue;
        pcConeVelocity(s, k, Y);
        double slip = pcSocTail(cone->rows, Y);
        C[0] = 1.0, Y[0] = 1.0 + slip + larger(Y[0], 0.0);
    }
}

/* C - Y of every contact, if C and Y are what the guess says: in r. Returns how far the guess is off: max |C - proj_K(C - Y)|. */
static double guessDifference(Interior* s, const double* v, const double* c)
{
    double most = 0.0, nearest[PC_SOC_ROWS], other[PC_SOC_ROWS];
    for (int i = 0; i < 6 * s->p->blocks; i++) s->v[i] = v[i];
    for (int k = 0; k < s->p->cones; k++) {
        const pcCone* cone = s->p->cone + k;
        double *C = s->C + cone->row, *Y = s->Y + cone->row, *r = s->r + cone->row;
        for (int i = 0; i < cone->rows; i++) C[i] = c[cone->row + i] * s->own[k] / s->unit;
        if (!pcIsContact(cone)) continue;
        pcConeVelocity(s, k, Y);
        if (s->p->coulomb) Y[0] += pcSocTail(cone->rows, Y);
        for (int i = 0; i < cone->rows; i++) r[i] = C[i] - Y[i];
        pcSocCentre(cone->rows, r, 0.0, nearest, other);
        for (int i = 0; i < cone->rows; i++) most = larger(most, fabs(nearest[i] - C[i]));
    }
    return most;
}

static bool isInside(const Interior* s, const pcCone* cone)
{
    const double *C = s->C + cone->row, *Y = s->Y + cone->row;
    return pcIsContact(cone) && C[0] > pcSocTail(cone->rows, C) && Y[0] > pcSocTail(cone->rows, Y);
}

/* m, if the guess is a point of the path but for a few contacts; else 0. */
static double guessGap(const Interior* s)
{
    double sum = 0.0;
    int inside = 0;
    for (int k = 0; k < s->p->cones; k++) {
        const pcCone* cone = s->p->cone + k;
        if (!isInside(s, cone)) continue;
        sum += s->C[cone->row] * s->Y[cone->row] + pcSocDot(cone->rows, s->C + cone->row, s->Y + cone->row), inside++;
    }
    return inside > MOST_INSIDE * s->contacts ? sum / inside : 0.0;
}

/* On the central path next to the guess: where a rough answer ended, but for contacts that came in since, or as far from the borders as the guess is off.
 * Returns to which m it should come; 0: that is no nearer than the beginning. */
static double beginNear(Interior* s, double residual, const double* v, const double* c)
{
    double off = larger(LEAST_APART, APART * guessDifference(s, v, c)), m = residual <= FINE ? guessGap(s) : 0.0;
    for (int k = 0; k < s->p->cones; k++) {
        const pcCone* cone = s->p->cone + k;
        bool stays = m > 0.0 && isInside(s, cone) && shareOf(s, cone) >= CENTRAL * CENTRAL * m * m;
        if (pcIsContact(cone) && !stays)
            pcSocCentre(cone->rows, s->r + cone->row, m > 0.0 ? m : off * off, s->C + cone->row, s->Y + cone->row);
    }
    return m > 0.0 ? ON_ENOUGH : off < 1.0 ? NEAR_ENOUGH : 0.0;
}

/* What presses less than it opens is open; but a rough answer stays inside the cones. */
static void end(const Interior* s, bool rough, double* v, double* c)
{
    for (int i = 0; i < 6 * s->p->blocks; i++) v[i] = s->v[i];
    for (int k = 0; k < s->p->cones; k++) {
        const pcCone* cone = s->p->cone + k;
        bool open = !rough && pcIsContact(cone) && s->C[cone->row] < s->Y[cone->row] && s->C[cone->row] * s->C[cone->row] < s->m;
        for (int i = cone->row; i < cone->row + cone->rows; i++) c[i] = open ? 0.0 : s->C[i] * s->unit / s->own[k];
    }
}

/* Along the path from where s stands until it ends or turns; returns how many factorizations it took. */
static int follow(Interior* s, double stop)
{
    int factors = 0, shorts = 0;
    bool good = true;
    double before = HUGE_VAL, last = HUGE_VAL, shorter = 1.0; /* m two steps ago, and one; the length of the shorter of these steps */
    for (double a = 1.0; good && factors < LIMIT && shorts < SHORT_LIMIT; shorts += a < SHORT && s->m < NEAR) {
        s->m = gapAt(s, 0.0);
        measure(s);
        if (s->m <= stop * stop && s->largest <= stop) break;
        if (!s->p->coulomb && s->m <= NEAR_ENOUGH && s->largest <= stop && shorter >= CENTRING && s->m > STALLS * before) break;
        before = last, last = s->m, shorter = a;
        factors++;
        if (!factor(s)) break;
        a = step(s, a < CENTRING), shorter = smaller(shorter, a);
        good = move(s, a);
    }
    if (!good) s->m = HUGE_VAL;
    return factors;
}

int pcInteriorStart(const pcProblem* p, const double* own, double residual, pcInside inside, pcBlocks* H, pcArena* arena, double* v,
                    double* c)
{
    if (!applies(p)) return PC_NO_START;
    Interior s = {.p = p, .H = H, .unit = p->velocityScale, .touching = pcStiffnessTouching(H), .m = HUGE_VAL};
    size_t mark = pcArenaMark(arena);
    int factors = 0;
    double stop = larger(CLOSE * residual, CLOSEST);
    bool good = allocate(&s, arena);
    if (good) setUnits(&s, own), pcConesPair(&s), s.corrections = p->coulomb ? 0 : correctionsFor(H);
    double enough = good && inside == PC_INSIDE_NEAR ? beginNear(&s, residual, v, c) : 0.0;
    if (enough > 0.0) factors = follow(&s, stop);
    bool there = s.m <= larger(stop * stop, enough) && s.largest <= larger(stop, sqrt(enough));
    if (good && !there) begin(&s), factors += follow(&s, stop);
    good = good && s.m < NEAR;
    if (good) end(&s, residual > FINE && !p->coulomb, v, c);
    pcArenaRelease(arena, mark);
    return good ? factors : PC_NO_START;
}
