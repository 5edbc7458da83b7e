/*
 * F(z) = min(z, w) = 0,  w = M z + q      (all in the units of scaled.h)
 *
 *     A      active: w_i < z_i, where F_i = w_i; elsewhere F_i = z_i
 *     d      Newton's direction:  d_i = -z_i outside A,   M_AA d_A = -w_A - (M d_outside)_A      by GMRES, never factored        (E)
 *     P      preconditioner: Gauss and Seidel's method, once through all contacts and back, so that an impulse is felt by all that it
 *            reaches; B its blocks, those of M_AA that belong to one contact, with SHIFT on the diagonal, inverted
 *     phi    sqrt(z^2 + w^2) - z - w, of Fischer and Burmeister: zero where F is
 *     Psi    1/2 sum phi^2: smooth, where 1/2 |F|^2 is not; its gradient is g = a phi + M'(b phi), a = z/r - 1, b = w/r - 1
 *     eps    of a round: w + eps (z - y) in place of w, M + eps I in place of M, with y the answer of the round before (proximal
 *            point method): what is solved in the end is the same
 *
 * E's method takes d as it is and may cycle, or stop at a point that solves nothing: a sphere thrown along a plane. Two things are done
 * about it. Friction makes M_AA singular for many A (more corners active than directions), and then there is no d or a senseless one: eps
 * makes it regular, from large to small; without friction the first round has none. And a step must make Psi smaller than the largest of the last few values (Newton's may climb for
 * a while); where no length of d does, the step is along -g, and where that fails the round is repeated with a larger eps. Every point is
 * measured afresh from z, so that errors do not add up. What is not solved then is Lemke's.
 */
#include "solver/minmap.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "linalg/gmres.h"
#include "solver/fan.h"
#include "solver/lemke.h"
#include "solver/scaled.h"

#define LARGEST 450 /* rows of a cone problem: 150 contacts, a dense matrix of 1500 variables and 20 MB */
#define STEP_LIMIT 120
#define ROUND_LIMIT 25 /* steps of one round */
#define EPS_COLD 0.1   /* of the first round; a diagonal of M is 1 */
#define EPS_WARM 1e-5
#define EPS_LEAST 1e-8
#define FAILURE_LIMIT 3 /* rounds that may fail */
#define ROUND_GOOD 0.03 /* a round is done when its own residual is this part of the problem's */
#define POLISHED 1e-15  /* a residual that is rounding */
#define MEMORY 4        /* values of Psi that a step is compared with */
#define CLIMB 10.0      /* … but never more than this many times the present one */
#define SLOW_LIMIT 6    /* steps of a round along -g, or shorter than SHORT: more of them would crawl */
#define SHORT 0.1
#define HALVINGS 10
#define LESS 1e-4 /* what a step must gain, relative to its length */
#define SHIFT 1e-2
#define WEAK 1e-6 /* a pivot of a block; entries are about 1 */
#define GMRES_RESTART 80
#define GMRES_LIMIT 240  /* products of one direction */
#define PRODUCT_LIMIT 4  /* of all directions, times n + 100: about what Lemke's method would cost */
#define GMRES_USABLE 0.5 /* a relative residual; a direction worse than that is no Newton direction */
#define GMRES_MOST 1e-3  /* relative residuals: what always is enough */
#define GMRES_LEAST 1e-9

typedef struct Newton {
    pcScaledLcp* lcp;
    double *z, *w, Psi; /* w with its share of eps, and as much room again for its size */
    double eps, *y;     /* of the round */
    double *d, *dw, *g; /* direction, M d, gradient of Psi */
    double *tryZ, *tryW;
    double *best, bestResidual;
    double last[MEMORY]; /* of Psi */
    int steps, slowSteps, products, restarts;
    /* the equation on A */
    int active, *index;     /* A, in order */
    double *rhs, *x, *room; /* of A; room for all rows */
    int groups, *first;     /* groups of A, as places in index */
    double *blocks, *share; /* B, one after the other; of one group */
    pcArena* arena;
} Newton;

static size_t squareSum(const pcMinmap* p)
{
    size_t sum = p->groups ? 0 : (size_t)p->lcp->n;
    for (int k = 0; k < p->groups; k++) {
        size_t size = (size_t)(p->first[k + 1] - p->first[k]);
        sum += size * size;
    }
    return sum;
}

static bool newtonNew(Newton* m, const pcMinmap* p, pcArena* arena)
{
    *m = (Newton){.arena = arena, .bestResidual = INFINITY, .lcp = p->lcp};
    m->w = pcArenaNew(arena, double, 2 * (size_t)m->lcp->ld);
    double** vectors[] = {&m->z, &m->d, &m->dw, &m->g, &m->tryZ, &m->tryW, &m->best, &m->y, &m->rhs, &m->x, &m->room, &m->share};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = pcArenaNew(arena, double, m->lcp->ld);
    m->index = pcArenaNew(arena, int, p->lcp->n);
    m->first = pcArenaNew(arena, int, (p->groups ? p->groups : p->lcp->n) + 1);
    m->blocks = pcArenaNew(arena, double, squareSum(p));
    return pcArenaGood(arena);
}

/* ---- Merit ---------------------------------------------------------------------------------------------------------------------- */

/* Written so that nothing cancels where both are positive. */
static double fischer(double z, double w)
{
    double r = sqrt(z * z + w * w), sum = z + w;
    return sum > 0.0 ? -2.0 * z * w / (r + sum) : r - sum;
}

static double meritOf(int n, const double* z, const double* w)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double phi = fischer(z[i], w[i]);
        sum += phi * phi;
    }
    return 0.5 * sum;
}

/* g into m->g; returns |g|^2. */
static double gradient(Newton* m)
{
    int n = m->lcp->n;
    double square = 0.0;
    for (int i = 0; i < n; i++) {
        double r = sqrt(m->z[i] * m->z[i] + m->w[i] * m->w[i]), phi = fischer(m->z[i], m->w[i]);
        m->g[i] = r > 0.0 ? (m->z[i] / r - 1.0) * phi : 0.0;
        m->room[i] = r > 0.0 ? (m->w[i] / r - 1.0) * phi : 0.0;
        m->g[i] += m->eps * m->room[i];
    }
    for (int j = 0; j < n; j++) {
        const double* column = pcScaledColumn(m->lcp, j);
        for (int i = 0; i < n; i++) m->g[j] += column[i] * m->room[i];
        square += m->g[j] * m->g[j];
    }
    return square;
}

/* ---- The Newton equation on the active rows ------------------------------------------------------------------------------------- */

static void findActive(Newton* m, const pcMinmap* p)
{
    m->active = 0, m->groups = 0;
    for (int i = 0, k = 0; i < p->lcp->n; i++) {
        bool starts = p->groups == 0;
        for (; k < p->groups && p->first[k] <= i; k++) starts = true;
        if (starts && (m->groups == 0 || m->first[m->groups - 1] < m->active)) m->first[m->groups++] = m->active;
        if (m->w[i] < m->z[i]) m->index[m->active++] = i;
    }
    m->first[m->groups] = m->active;
}

/* A := A^-1 by Gauss and Jordan. Without exchanges: SHIFT keeps pivots away from 0, and where it does not there is no block. */
static bool invert(int n, double* A)
{
    for (int k = 0; k < n; k++) {
        double *row = A + k * n, pivot = row[k];
        if (!(fabs(pivot) > WEAK)) return false;
        row[k] = 1.0;
        for (int j = 0; j < n; j++) row[j] /= pivot;
        for (int i = 0; i < n; i++) {
            double *other = A + i * n, factor = other[k];
            if (i == k || factor == 0.0) continue;
            other[k] = 0.0;
            for (int j = 0; j < n; j++) other[j] -= factor * row[j];
        }
    }
    return true;
}

/* B of the group whose variables are at `index`; the identity if there is none. */
static void makeBlock(const Newton* m, int size, const int* index, double* block)
{
    for (int e = 0; e < size * size; e++) {
        int i = e / size, j = e % size;
        block[e] = pcScaledColumn(m->lcp, index[j])[index[i]] + (i == j ? SHIFT + m->eps : 0.0);
    }
    if (invert(size, block)) return;
    for (int e = 0; e < size * size; e++) block[e] = e % (size + 1) == 0 ? 1.0 : 0.0;
}

static void makeBlocks(Newton* m)
{
    double* block = m->blocks;
    for (int k = 0; k < m->groups; k++) {
        int start = m->first[k], size = m->first[k + 1] - start;
        makeBlock(m, size, m->index + start, block);
        block += size * size;
    }
}

/* y_k += B_k r_k for group k, and r = x - (M + eps I) y, which is kept in room, as it is then. */
static void relax(Newton* m, int k, const double* block, double* y)
{
    int start = m->first[k], size = m->first[k + 1] - start;
    const int* index = m->index + start;
    for (int i = 0; i < size; i++) {
        m->share[i] = 0.0;
        for (int j = 0; j < size; j++) m->share[i] -= block[i * size + j] * m->room[index[j]];
    }
    for (int i = 0; i < size; i++) y[start + i] -= m->share[i], m->room[index[i]] += m->eps * m->share[i];
    pcScaledAdd(m->lcp, size, index, m->share, m->room);
}

static void precondition(void* self, const double* x, double* y)
{
    Newton* m = self;
    const double* block = m->blocks;
    memset(m->room, 0, (size_t)m->lcp->ld * sizeof *m->room);
    memset(y, 0, (size_t)m->active * sizeof *y);
    for (int i = 0; i < m->active; i++) m->room[m->index[i]] = x[i];
    for (int pass = 0; pass < 2 * m->groups; pass++) {
        bool back = pass >= m->groups;
        int k = back ? 2 * m->groups - 1 - pass : pass, size = m->first[k + 1] - m->first[k];
        if (back) block -= size * size;
        if (pass != m->groups) relax(m, k, block, y); /* the last group would follow itself */
        if (!back) block += size * size;
    }
}

static void multiply(void* self, const double* x, double* y)
{
    Newton* m = self;
    memset(m->room, 0, (size_t)m->lcp->ld * sizeof *m->room);
    pcScaledAdd(m->lcp, m->active, m->index, x, m->room);
    for (int k = 0; k < m->active; k++) y[k] = m->room[m->index[k]] + m->eps * x[k];
}

/* (M + eps I) d into dw. */
static void product(Newton* m)
{
    memset(m->dw, 0, (size_t)m->lcp->ld * sizeof *m->dw);
    for (int j = 0; j < m->lcp->n; j++) pcScaledAdd(m->lcp, 1, &j, m->d + j, m->dw);
    for (int i = 0; i < m->lcp->n; i++) m->dw[i] += m->eps * m->d[i];
}

/* d and dw, with `exact` as the part that may be left of the equation; false: GMRES found none that is worth trying. */
static bool newtonDirection(Newton* m, const pcMinmap* p, double exact)
{
    findActive(m, p);
    for (int i = 0; i < m->lcp->n; i++) m->d[i] = -m->z[i];
    for (int k = 0; k < m->active; k++) m->d[m->index[k]] = 0.0;
    product(m);
    for (int k = 0; k < m->active; k++) m->rhs[k] = -m->w[m->index[k]] - m->dw[m->index[k]];
    if (m->active == 0) return true;
    makeBlocks(m);
    pcGmres equation = {m->active, m, multiply, precondition, GMRES_RESTART, GMRES_LIMIT, exact};
    pcGmresInfo found = pcGmresSolve(&equation, m->rhs, m->arena, m->x);
    m->products += found.products, m->restarts += found.restarts;
    for (int k = 0; k < m->active; k++) m->d[m->index[k]] = m->x[k];
    product(m);
    return found.residual <= GMRES_USABLE;
}

/* ---- Steps ---------------------------------------------------------------------------------------------------------------------- */

static double tryStep(Newton* m, double a)
{
    for (int i = 0; i < m->lcp->n; i++) m->tryZ[i] = m->z[i] + a * m->d[i], m->tryW[i] = m->w[i] + a * m->dw[i];
    return meritOf(m->lcp->n, m->tryZ, m->tryW);
}

static void accept(Newton* m) { memcpy(m->z, m->tryZ, (size_t)m->lcp->n * sizeof *m->z); }

/* Shortens d from `a` on until Psi is `gain` a below `from`. */
static bool search(Newton* m, double a, double from, double gain)
{
    for (int halving = 0; halving < HALVINGS; halving++, a *= 0.5) {
        if (tryStep(m, a) <= from - a * gain) {
            m->slowSteps += a < SHORT;
            accept(m);
            return true;
        }
    }
    return false;
}

/* The nearer the solution, the more exactly. */
static bool newtonStep(Newton* m, const pcMinmap* p, double residual)
{
    double most = m->Psi, exact = larger(GMRES_LEAST, smaller(GMRES_MOST, 0.01 * residual));
    for (int i = 0; i < MEMORY; i++) most = larger(most, m->last[i]);
    return newtonDirection(m, p, exact) && search(m, 1.0, smaller(most, CLIMB * m->Psi), LESS * m->Psi);
}

/* Along -g, first to where a linear Psi would vanish. */
static bool gradientStep(Newton* m)
{
    double square = gradient(m);
    if (!(square > 0.0)) return false;
    for (int i = 0; i < m->lcp->n; i++) m->d[i] = -m->g[i];
    product(m);
    m->slowSteps++;
    return search(m, m->Psi / square, m->Psi, LESS * square);
}

/* Residual of the round at z, and in *residual that of the problem at z+, which is what an answer would be (Newton's method comes to 0
 * from both sides); kept if it is the best so far. */
static double measure(Newton* m, int step, double* residual)
{
    int n = m->lcp->n;
    double own = 0.0;
    for (int i = 0; i < n; i++) m->tryZ[i] = larger(0.0, m->z[i]);
    *residual = pcScaledResidual(m->lcp, m->tryZ, m->w);
    if (*residual < m->bestResidual) {
        m->bestResidual = *residual;
        memcpy(m->best, m->tryZ, (size_t)n * sizeof *m->best);
    }
    for (int i = 0; i < n; i++) {
        if (m->z[i] < 0.0) pcScaledAdd(m->lcp, 1, &i, &m->z[i], m->w);
    }
    for (int i = 0; i < n; i++) {
        m->w[i] += m->eps * (m->z[i] - m->y[i]);
        own = larger(own, fabs(smaller(m->z[i], m->w[i])));
    }
    m->Psi = m->last[step % MEMORY] = meritOf(n, m->z, m->w);
    return own;
}

typedef enum Round { ROUND_SOLVED, ROUND_DONE, ROUND_FAILED } Round;

static Round solveRound(Newton* m, const pcMinmap* p, int limit)
{
    memset(m->last, 0, sizeof m->last);
    m->slowSteps = 0;
    for (int step = 0;; step++, m->steps++) {
        double residual, own = measure(m, step, &residual);
        if (residual <= p->tolerance) return ROUND_SOLVED;
        if (own <= larger(0.3 * p->tolerance, ROUND_GOOD * residual)) return ROUND_DONE;
        if (step >= limit || m->slowSteps > SLOW_LIMIT || !isfinite(residual)) return ROUND_FAILED;
        if (!newtonStep(m, p, own) && !gradientStep(m)) return ROUND_FAILED;
    }
}

/* One more step at the solution: on the right active set it gives all digits there are. */
static void polish(Newton* m, const pcMinmap* p)
{
    double residual;
    m->eps = EPS_LEAST;
    memcpy(m->y, m->z, (size_t)p->lcp->n * sizeof *m->y);
    measure(m, 0, &residual);
    if (m->bestResidual <= POLISHED || !newtonDirection(m, p, GMRES_MOST)) return;
    tryStep(m, 1.0);
    accept(m);
    measure(m, 1, &residual);
    m->steps++;
}

/* Variables without a diagonal, which are those of slip, are what makes M_AA singular. */
static bool hasFriction(const pcScaledLcp* lcp)
{
    for (int i = 0; i < lcp->n; i++)
        if (lcp->lifted[i]) return true;
    return false;
}

static void iterate(Newton* m, const pcMinmap* p)
{
    int limit = p->maxIterations ? p->maxIterations : STEP_LIMIT;
    double firstEps = p->guess ? EPS_WARM : EPS_COLD;
    size_t size = (size_t)p->lcp->n * sizeof *m->z;
    m->eps = hasFriction(p->lcp) ? firstEps : 0.0;
    for (int failures = 0; m->steps < limit && failures <= FAILURE_LIMIT && m->products < PRODUCT_LIMIT * (p->lcp->n + 100);) {
        memcpy(m->y, m->z, size);
        int before = m->steps, left = limit - before;
        Round round = solveRound(m, p, left < ROUND_LIMIT ? left : ROUND_LIMIT);
        if (round == ROUND_SOLVED) {
            polish(m, p);
            return;
        }
        if (round == ROUND_DONE && m->steps == before && m->eps == EPS_LEAST) return; /* the next round would be this one again */
        if (round == ROUND_FAILED) failures += m->eps > 0.0, memcpy(m->z, m->y, size);
        if (!(m->eps > 0.0))
            m->eps = firstEps;
        else
            m->eps = round == ROUND_FAILED ? 10.0 * m->eps : larger(EPS_LEAST, m->eps * (m->steps - before <= 5 ? 0.01 : 0.1));
    }
}

/* ---- The solvers ---------------------------------------------------------------------------------------------------------------- */

/* Lemke's method from the active set of the best point; its answer is taken if it is better. */
static void fallBack(Newton* m, const pcMinmap* p, double* z, double* rayOrNull, pcSolveInfo* info)
{
    unsigned char* guess = pcArenaNew(m->arena, unsigned char, p->lcp->n);
    pcScaledResidual(m->lcp, m->best, m->w);
    for (int i = 0; guess && i < p->lcp->n; i++) guess[i] = m->w[i] < m->best[i];
    pcLemke lemke = {.lcp = p->lcp, .tolerance = p->tolerance, .guessOrNull = guess};
    double* other = pcArenaNew(m->arena, double, p->lcp->n);
    if (!pcArenaGood(m->arena)) return;
    pcSolveInfo found = pcLemkeSolve(&lemke, m->arena, other, rayOrNull);
    info->fallbacks++, info->iterations += found.iterations;
    if (!(found.residual < info->residual) && found.outcome != PC_RAY) return;
    info->residual = found.residual, info->outcome = found.outcome;
    memcpy(z, other, (size_t)p->lcp->n * sizeof *z);
}

pcSolveInfo pcMinmapSolve(const pcMinmap* p, pcArena* arena, double* z, double* rayOrNull)
{
    pcSolveInfo info = {.outcome = PC_LIMIT, .residual = INFINITY};
    Newton newton, *m = &newton;
    size_t mark = pcArenaMark(arena);
    bool ready = newtonNew(m, p, arena);
    if (ready && p->guess) pcScaledTake(m->lcp, z, m->z);
    memset(z, 0, (size_t)p->lcp->n * sizeof *z);
    if (ready) {
        iterate(m, p);
        pcScaledGive(m->lcp, m->best, z);
        info.outcome = m->bestResidual <= p->tolerance ? PC_SOLVED : PC_INACCURATE;
        info.iterations = m->steps, info.residual = m->bestResidual;
        info.products = m->products, info.restarts = m->restarts;
        if (info.outcome != PC_SOLVED) fallBack(m, p, z, rayOrNull, &info);
    }
    pcArenaRelease(arena, mark);
    return info;
}

static pcSolveInfo solveReduced(pcReduced* r, double tolerance, int maxIterations, bool guess, pcArena* arena, double* z)
{
    pcMinmap minmap = {.lcp = &r->lcp, .tolerance = tolerance, .maxIterations = maxIterations, .guess = guess};
    minmap.groups = r->problem->cones, minmap.first = r->first;
    return pcMinmapSolve(&minmap, arena, z, NULL);
}

pcConeInfo pcMinmapConeSolve(const pcProblem* problem, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c)
{
    const pcFanMethod minmap = {"minmap", LARGEST, solveReduced};
    return pcFanSolve(&minmap, problem, settings, memory, v, c);
}
