/*
 * minimise c.x  subject to  A x <= b        (few variables, many rows)
 *
 *   x        the point, kept feasible
 *   active   rows that hold with equality at x; n of them make a corner
 *   y        their multipliers, sum y_i a_i = -c: all non-negative means optimal
 *
 * First walk from the given point along -c, sliding along the rows that are met, to a corner; then the simplex method from corner
 * to corner. Rows are moved outwards by tiny, all different amounts while walking, so that no two corners coincide and no step has length
 * zero; at the end the true rows are put back and a few dual steps repair what little that changed.
 */
#include "solver/lp.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Relative outward shift of the rows: far above rounding (1e-16), far below what a caller could call a different problem. */
static const double SHIFT = 1e-12;
/* A multiplier or a slope below this fraction of its natural size is rounding. */
static const double NEGLIGIBLE = 1e-13;
/* Square of the cosine between a row and a direction below which they may be at right angles. */
static const double SUSPICIOUS = 1e-18;

typedef struct Walk {
    const pcLp* lp;
    double scale; /* of x: the largest size of a row at the start, relative to its numbers */
    double x[PC_LP_MAX];
    int active[PC_LP_MAX];
    int count; /* of active rows */
    int iterations;
} Walk;

static double dot(int n, const double* a, const double* b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static const double* rowOf(const pcLp* lp, int k) { return lp->A + (size_t)k * (size_t)lp->n; }

static double sizeOf(const pcLp* lp, int k, const double* x)
{
    const double* a = rowOf(lp, k);
    double size = fabs(lp->b[k]);
    for (int i = 0; i < lp->n; i++) size += fabs(a[i] * x[i]);
    return size;
}

/* A number in [1, 2) that differs from row to row but not from run to run. */
static double jitter(int k)
{
    uint64_t z = ((uint64_t)k + 1u) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z ^= z >> 27;
    return 1.0 + (double)(z >> 11) * 0x1p-53;
}

static double sumOfRow(const pcLp* lp, int k)
{
    const double* a = rowOf(lp, k);
    double sum = 0.0;
    for (int i = 0; i < lp->n; i++) sum += fabs(a[i]);
    return sum;
}

static double scaleOf(const pcLp* lp, const double* x)
{
    double scale = 0.0;
    for (int k = 0; k < lp->m; k++) scale = fmax(scale, sizeOf(lp, k, x) / (sumOfRow(lp, k) + 1e-300));
    return scale > 0.0 ? scale : 1.0; /* all rows through the origin, and x there: any scale will do */
}

/* What a violation of row k is relative to. Where its own size vanishes (it goes through the origin, and x is there but for rounding) the
 * scale of the other rows counts: such a row would not be shifted at all, and any rounding would be a violation of 1. */
static double naturalSize(const Walk* w, int k)
{
    double size = sizeOf(w->lp, k, w->x), other = w->scale * sumOfRow(w->lp, k);
    return size > SHIFT * other ? size : other;
}

static double shiftedBound(const Walk* w, int k) { return w->lp->b[k] + SHIFT * jitter(k) * naturalSize(w, k); }

static bool isActive(const Walk* w, int k)
{
    for (int i = 0; i < w->count; i++)
        if (w->active[i] == k) return true;
    return false;
}

/* Gaussian elimination with partial pivoting; false if the matrix is singular to working precision. */
static bool solveSquare(int n, double M[PC_LP_MAX][PC_LP_MAX], double* rhs)
{
    for (int col = 0; col < n; col++) {
        int pivot = col;
        for (int i = col + 1; i < n; i++)
            if (fabs(M[i][col]) > fabs(M[pivot][col])) pivot = i;
        if (!(fabs(M[pivot][col]) > 0.0)) return false;
        for (int j = 0; j < n; j++) {
            double swap = M[col][j];
            M[col][j] = M[pivot][j], M[pivot][j] = swap;
        }
        double swap = rhs[col];
        rhs[col] = rhs[pivot], rhs[pivot] = swap;
        for (int i = col + 1; i < n; i++) {
            double factor = M[i][col] / M[col][col];
            for (int j = col; j < n; j++) M[i][j] -= factor * M[col][j];
            rhs[i] -= factor * rhs[col];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) rhs[i] -= M[i][j] * rhs[j];
        rhs[i] /= M[i][i];
    }
    return true;
}

/* Solves with the matrix of active rows, or its transpose. */
static bool solveActive(const Walk* w, bool transposed, double* rhs)
{
    int n = w->lp->n;
    double M[PC_LP_MAX][PC_LP_MAX];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) M[i][j] = transposed ? rowOf(w->lp, w->active[j])[i] : rowOf(w->lp, w->active[i])[j];
    return solveSquare(n, M, rhs);
}

/* d minus its parts along the orthonormal q[0..count-1], twice for accuracy. */
static void projectOut(int n, int count, double q[PC_LP_MAX][PC_LP_MAX], double* d)
{
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < count; j++) {
            double part = dot(n, q[j], d);
            for (int i = 0; i < n; i++) d[i] -= part * q[j][i];
        }
}

/* Whether row k is a combination of the active rows but the one at position `leave` (-1: of all). Its slope along a direction that keeps
 * those rows is then rounding, however large it looks beside its own terms, and taking it in would make the corner singular. */
static bool dependent(const Walk* w, int leave, int k)
{
    int n = w->lp->n, count = 0;
    double q[PC_LP_MAX][PC_LP_MAX], rest[PC_LP_MAX];
    for (int i = 0; i < w->count; i++) {
        if (i == leave) continue;
        memcpy(q[count], rowOf(w->lp, w->active[i]), (size_t)n * sizeof **q);
        projectOut(n, count, q, q[count]);
        double norm = sqrt(dot(n, q[count], q[count]));
        if (!(norm > 0.0)) continue;
        for (int j = 0; j < n; j++) q[count][j] /= norm;
        count++;
    }
    const double* a = rowOf(w->lp, k);
    memcpy(rest, a, (size_t)n * sizeof *rest);
    projectOut(n, count, q, rest);
    return !(dot(n, rest, rest) > NEGLIGIBLE * NEGLIGIBLE * dot(n, a, a));
}

/* The first row met from x along d, -1 if none; moves x there. `leave` is the position of the active row that d leaves, -1 if none. */
static int advance(Walk* w, const double* d, int leave)
{
    const pcLp* lp = w->lp;
    int hit = -1;
    double best = INFINITY;
    for (int k = 0; k < lp->m; k++) {
        const double* a = rowOf(lp, k);
        double slope = dot(lp->n, a, d);
        double natural = 0.0;
        for (int i = 0; i < lp->n; i++) natural += fabs(a[i] * d[i]);
        if (!(slope > NEGLIGIBLE * natural) || isActive(w, k)) continue;
        if (slope * slope < SUSPICIOUS * dot(lp->n, a, a) * dot(lp->n, d, d) && dependent(w, leave, k)) continue;
        double step = (shiftedBound(w, k) - dot(lp->n, a, w->x)) / slope;
        if (step < best) best = step, hit = k;
    }
    if (hit < 0) return -1;
    for (int i = 0; i < lp->n; i++) w->x[i] += fmax(best, 0.0) * d[i];
    return hit;
}

/* A direction that keeps the active rows: along -c if that still descends, else any. Returns whether it descends. */
static bool slideDirection(const Walk* w, double q[PC_LP_MAX][PC_LP_MAX], double* d)
{
    int n = w->lp->n;
    for (int i = 0; i < n; i++) d[i] = -w->lp->c[i];
    double before = sqrt(dot(n, d, d));
    projectOut(n, w->count, q, d);
    if (sqrt(dot(n, d, d)) > 1e-10 * before) return true;
    double longest = 0.0, trial[PC_LP_MAX];
    for (int axis = 0; axis < n; axis++) {
        memset(trial, 0, sizeof trial);
        trial[axis] = 1.0;
        projectOut(n, w->count, q, trial);
        if (dot(n, trial, trial) > longest) longest = dot(n, trial, trial), memcpy(d, trial, sizeof trial);
    }
    return false;
}

/* Walks until n rows are active. PC_RAY: c.x falls for ever. PC_LIMIT: a whole line is feasible, so there is no corner. */
static pcOutcome reachCorner(Walk* w)
{
    int n = w->lp->n;
    double q[PC_LP_MAX][PC_LP_MAX], d[PC_LP_MAX];
    while (w->count < n) {
        bool descends = slideDirection(w, q, d);
        int hit = advance(w, d, -1);
        if (hit < 0 && !descends) {
            for (int i = 0; i < n; i++) d[i] = -d[i];
            hit = advance(w, d, -1);
        }
        if (hit < 0) return descends ? PC_RAY : PC_LIMIT;
        double* fresh = q[w->count];
        memcpy(fresh, rowOf(w->lp, hit), (size_t)n * sizeof *fresh);
        projectOut(n, w->count, q, fresh);
        double norm = sqrt(dot(n, fresh, fresh));
        for (int i = 0; i < n; i++) fresh[i] /= norm;
        w->active[w->count++] = hit;
        w->iterations++;
    }
    return PC_SOLVED;
}

static bool multipliers(const Walk* w, double* y)
{
    for (int i = 0; i < w->lp->n; i++) y[i] = -w->lp->c[i];
    return solveActive(w, true, y);
}

/* Simplex steps from the corner until no multiplier is negative. */
static pcOutcome descend(Walk* w, double* y)
{
    int n = w->lp->n, limit = 50 * (n + 10) + 4 * w->lp->m;
    while (w->iterations++ < limit) {
        if (!multipliers(w, y)) return PC_LIMIT;
        int leave = 0;
        double largest = 0.0;
        for (int i = 0; i < n; i++) {
            if (y[i] < y[leave]) leave = i;
            largest = fmax(largest, fabs(y[i]));
        }
        if (y[leave] >= -NEGLIGIBLE * largest) return PC_SOLVED;
        double d[PC_LP_MAX] = {0};
        d[leave] = -1.0;
        if (!solveActive(w, false, d)) return PC_LIMIT;
        int hit = advance(w, d, leave);
        if (hit < 0) return PC_RAY;
        w->active[leave] = hit;
    }
    return PC_LIMIT;
}

/* The corner of the active rows where they really are. */
static bool trueCorner(Walk* w)
{
    for (int i = 0; i < w->lp->n; i++) w->x[i] = w->lp->b[w->active[i]];
    return solveActive(w, false, w->x);
}

static int mostViolated(const Walk* w, double* violation)
{
    int worst = -1;
    *violation = 0.0;
    for (int k = 0; k < w->lp->m; k++) {
        double over = (dot(w->lp->n, rowOf(w->lp, k), w->x) - w->lp->b[k]) / (naturalSize(w, k) + 1e-300);
        if (over > *violation && !isActive(w, k)) *violation = over, worst = k;
    }
    return worst;
}

/* Dual simplex: bring the most violated row in, the row whose multiplier vanishes first out. */
static bool repair(Walk* w, double* y)
{
    double violation, part[PC_LP_MAX];
    int n = w->lp->n, worst = mostViolated(w, &violation);
    if (worst < 0 || violation < 4e-16) return false;
    memcpy(part, rowOf(w->lp, worst), (size_t)n * sizeof *part);
    if (!solveActive(w, true, part)) return false;
    int leave = -1;
    for (int i = 0; i < n; i++)
        if (part[i] > NEGLIGIBLE && (leave < 0 || y[i] * part[leave] < y[leave] * part[i])) leave = i;
    if (leave < 0) return false;
    w->active[leave] = worst;
    w->iterations++;
    return multipliers(w, y) && trueCorner(w);
}

pcSolveInfo pcLpSolve(const pcLp* lp, double* x, int active[PC_LP_MAX], double y[PC_LP_MAX])
{
    pcSolveInfo info = {.outcome = PC_BAD_INPUT, .residual = INFINITY};
    if (lp->n < 1 || lp->n > PC_LP_MAX || lp->m < lp->n) return info;
    Walk w = {.lp = lp};
    memcpy(w.x, x, (size_t)lp->n * sizeof *x);
    w.scale = scaleOf(lp, x);
    info.outcome = reachCorner(&w);
    if (info.outcome == PC_SOLVED) info.outcome = descend(&w, y);
    if (info.outcome == PC_SOLVED && !trueCorner(&w)) info.outcome = PC_LIMIT;
    for (int i = 0; info.outcome == PC_SOLVED && i < 20 && repair(&w, y); i++) continue;
    info.iterations = w.iterations;
    if (info.outcome != PC_SOLVED) return info;
    mostViolated(&w, &info.residual);
    memcpy(x, w.x, (size_t)lp->n * sizeof *x);
    memcpy(active, w.active, sizeof w.active);
    return info;
}
