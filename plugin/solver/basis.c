/*
 * H = ([M d]_RB)^-1 under exchanges      (see basis.h)
 *
 *   c = [M d]_R,j      the column of an entering z_j            u = H c = -dx
 *   g = [M d]_i,B      the row of a leaving w_i                 v = g H
 *   s                  the pivot: how the leaving variable answers to the entering one
 *
 * enters  leaves                      the new inverse
 * z_j     w_i     G grows             [H + u v/s, -u/s; -v/s, 1/s]        s = m_ij - g u
 * z_j     z_b     column b becomes c  row b: H_b/s,  others H_a - u_a H_b/s      s = u_b
 * w_p     w_i     row p becomes g     column p: H_p/s,  others H_a - v_a H_p/s   s = v_p
 * w_p     z_b     G shrinks           H - H_p H_b/s without row b, column p      s = H_bp
 */
#include "solver/basis.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "linalg/dense.h"
#include "linalg/panel.h"

/* A factor whose diagonal falls by this much against its largest entry is singular: what it would solve is rounding. */
static const double SINGULAR = 1e-13;
/* An error of G dx that a step of refinement removes at the cost of one more product with H. */
static const double REFINE = 1e-12;

bool pcBasisMake(pcScaledLcp* lcp, pcArena* arena, pcBasis* out)
{
    size_t n = (size_t)lcp->n + 1, ld = (n + 7) / 8 * 8;
    if (ld % 64 == 0) ld += 8; /* as in scaled.c */
    *out = (pcBasis){.lcp = lcp, .ld = (int)ld};
    int** places[] = {&out->row, &out->rowPlace, &out->column, &out->columnPlace, &out->pivots};
    double** vectors[] = {&out->x, &out->w, &out->dx, &out->dw, &out->u, &out->v};
    size_t placeCount = sizeof places / sizeof *places, vectorCount = sizeof vectors / sizeof *vectors, length = ld + (size_t)lcp->ld;
    int* place = pcArenaRaw(arena, int, placeCount* n);
    double* vector = pcArenaRaw(arena, double, vectorCount* length);
    out->H = pcArenaRaw(arena, double, ld* n);
    out->work = pcArenaRaw(arena, double, 32 * n);
    if (!pcArenaGood(arena)) return false;
    for (size_t i = 0; i < placeCount; i++) *places[i] = place + i * n;
    for (size_t i = 0; i < vectorCount; i++) *vectors[i] = vector + i * length;
    pcBasisReset(out);
    return true;
}

void pcBasisReset(pcBasis* b)
{
    int n = b->lcp->n;
    for (int i = 0; i <= n; i++) b->rowPlace[i] = b->columnPlace[i] = -1;
    b->k = b->age = 0;
    memcpy(b->w, b->lcp->q, (size_t)b->lcp->ld * sizeof *b->w);
}

static void admit(pcBasis* b, int i, int j)
{
    b->row[b->k] = i, b->rowPlace[i] = b->k;
    b->column[b->k] = j, b->columnPlace[j] = b->k;
    b->k++;
}

void pcBasisSet(pcBasis* b, const unsigned char* set)
{
    pcBasisReset(b);
    for (int i = 0; i < b->lcp->n; i++)
        if (set[i]) admit(b, i, i);
}

static double* columnOfH(const pcBasis* b, int p) { return b->H + (size_t)p * (size_t)b->ld; }
static pcPanel panelOf(const pcBasis* b) { return (pcPanel){b->k, b->k, b->ld, b->H}; }

/* ---- factorization and values ---- */

static void gather(pcBasis* b)
{
    for (int c = 0; c < b->k; c++) {
        const double* m = pcScaledColumn(b->lcp, b->column[c]);
        double* g = columnOfH(b, c);
        for (int p = 0; p < b->k; p++) g[p] = m[b->row[p]];
    }
}

static bool wellPivoted(const pcBasis* b)
{
    double least = INFINITY, most = 0.0;
    for (int p = 0; p < b->k; p++) {
        double pivot = fabs(columnOfH(b, p)[p]);
        least = smaller(least, pivot), most = larger(most, pivot);
    }
    return least > SINGULAR * most;
}

/* w = q + [M d]_B x; w_R into r (with the error of x), then 0. Returns the largest |r|. */
static double finishValues(pcBasis* b, double* r)
{
    double worst = 0.0;
    memcpy(b->w, b->lcp->q, (size_t)b->lcp->ld * sizeof *b->w);
    pcScaledAdd(b->lcp, b->k, b->column, b->x, b->w);
    for (int p = 0; p < b->k; p++) {
        r[p] = b->w[b->row[p]];
        worst = larger(worst, fabs(r[p]));
        b->w[b->row[p]] = 0.0;
    }
    return worst;
}

/* v = G^-1 r, by the factors or by H. */
static void solveG(pcBasis* b, bool factored, const double* r, double* v)
{
    pcPanel H = panelOf(b);
    if (factored) {
        memcpy(v, r, (size_t)b->k * sizeof *v);
        pcLuSolve(b->k, b->H, b->ld, b->pivots, false, v);
    } else {
        memset(v, 0, (size_t)b->k * sizeof *v);
        pcPanelTimes(&H, r, v);
    }
}

/* x -= G^-1 r, as long as it halves the error; a step that makes it larger is taken back. */
static void refine(pcBasis* b, bool factored)
{
    double before = INFINITY, now = finishValues(b, b->u);
    for (int round = 0; round < 4 && now > 0.0 && now < 0.5 * before; round++) {
        before = now;
        solveG(b, factored, b->u, b->v);
        for (int c = 0; c < b->k; c++) b->x[c] -= b->v[c];
        now = finishValues(b, b->u);
        if (now <= before) continue;
        for (int c = 0; c < b->k; c++) b->x[c] += b->v[c];
        finishValues(b, b->u);
    }
}

bool pcBasisFactor(pcBasis* b)
{
    gather(b);
    if (b->k && (pcLuFactor(b->k, b->H, b->ld, b->pivots) || !wellPivoted(b))) return false;
    memset(b->x, 0, (size_t)b->k * sizeof *b->x);
    refine(b, true);
    b->age = 0;
    return true;
}

bool pcBasisInvert(pcBasis* b) { return !b->k || pcLuInvert(b->k, b->H, b->ld, b->pivots, b->work, 32 * b->k) == 0; }

void pcBasisValues(pcBasis* b) { refine(b, false); }

/* ---- response ---- */

/* dw = column of the entering variable + [M d]_B dx. Its part in R must vanish (be 1 for an entering w): returns the largest error. */
static double finishResponse(pcBasis* b, int variable, double* error)
{
    int n = b->lcp->n;
    double worst = 0.0;
    memset(b->dw, 0, (size_t)b->lcp->ld * sizeof *b->dw);
    if (variable <= n) memcpy(b->dw, pcScaledColumn(b->lcp, variable), (size_t)b->lcp->ld * sizeof *b->dw);
    pcScaledAdd(b->lcp, b->k, b->column, b->dx, b->dw);
    if (variable > n) b->dw[variable - n - 1] -= 1.0;
    for (int p = 0; p < b->k; p++) {
        error[p] = -b->dw[b->row[p]];
        worst = larger(worst, fabs(error[p]));
        b->dw[b->row[p]] = 0.0;
    }
    return worst;
}

double pcBasisResponse(pcBasis* b, int variable)
{
    int n = b->lcp->n, k = b->k;
    pcPanel H = panelOf(b);
    if (variable > n) {
        memcpy(b->dx, columnOfH(b, b->rowPlace[variable - n - 1]), (size_t)k * sizeof *b->dx);
    } else {
        const double* m = pcScaledColumn(b->lcp, variable);
        for (int p = 0; p < k; p++) b->u[p] = -m[b->row[p]];
        memset(b->dx, 0, (size_t)k * sizeof *b->dx);
        pcPanelTimes(&H, b->u, b->dx);
    }
    double error = finishResponse(b, variable, b->u), size = larger(1.0, pcLargest(k, b->dx));
    if (error <= REFINE * size) return error / size;
    pcPanelTimes(&H, b->u, b->dx);
    return finishResponse(b, variable, b->u) / size;
}

void pcBasisRow(const pcBasis* b, int basic, double* row)
{
    int n = b->lcp->n;
    if (basic > n) pcScaledRow(b->lcp, basic - n - 1, b->k, b->column, row);
}

double pcBasisEntry(const pcBasis* b, int basic, const double* row, int variable)
{
    int n = b->lcp->n;
    const double* h = columnOfH(b, b->rowPlace[variable - n - 1]);
    return basic <= n ? h[b->columnPlace[basic]] : pcDot(b->k, row, h);
}

/* ---- exchange ---- */

/* G grows by row i and column j. */
static void grow(pcBasis* b, int i, int j)
{
    int k = b->k;
    pcPanel H = panelOf(b);
    double s = b->dw[i];
    pcScaledRow(b->lcp, i, k, b->column, b->u);
    pcPanelTransposedTimes(&H, b->u, b->v);
    for (int p = 0; p < k; p++) b->v[p] /= -s;
    pcPanelRankOne(&H, b->dx, b->v); /* H + u v/s with dx = -u */
    for (int p = 0; p < k; p++) columnOfH(b, p)[k] = b->v[p];
    double* last = columnOfH(b, k);
    for (int c = 0; c < k; c++) last[c] = b->dx[c] / s;
    last[k] = 1.0 / s;
    admit(b, i, j);
}

/* Column `at` of G becomes that of z_j. */
static void replaceColumn(pcBasis* b, int at, int j)
{
    pcPanel H = panelOf(b);
    double s = -b->dx[at];
    for (int p = 0; p < b->k; p++) b->v[p] = columnOfH(b, p)[at] / s;
    pcPanelRankOne(&H, b->dx, b->v);
    for (int p = 0; p < b->k; p++) columnOfH(b, p)[at] = b->v[p];
    b->columnPlace[b->column[at]] = -1;
    b->column[at] = j, b->columnPlace[j] = at;
}

/* Row `at` of G becomes that of w_i; dx is column `at` of H. */
static void replaceRow(pcBasis* b, int at, int i)
{
    pcPanel H = panelOf(b);
    pcScaledRow(b->lcp, i, b->k, b->column, b->u);
    pcPanelTransposedTimes(&H, b->u, b->v);
    double s = b->dw[i];
    for (int p = 0; p < b->k; p++) b->v[p] /= -s;
    b->v[at] = 0.0;
    pcPanelRankOne(&H, b->dx, b->v);
    double* h = columnOfH(b, at);
    for (int c = 0; c < b->k; c++) h[c] = b->dx[c] / s;
    b->rowPlace[b->row[at]] = -1;
    b->row[at] = i, b->rowPlace[i] = at;
}

/* G loses row `p` and column `c`; dx is column p of H. The last ones take their places. */
static void shrink(pcBasis* b, int p, int c)
{
    int last = b->k - 1;
    pcPanel H = panelOf(b);
    double s = b->dx[c];
    for (int a = 0; a <= last; a++) b->v[a] = -columnOfH(b, a)[c] / s;
    b->v[p] = 0.0;
    pcPanelRankOne(&H, b->dx, b->v);
    if (p != last) memcpy(columnOfH(b, p), columnOfH(b, last), (size_t)b->k * sizeof *b->H);
    for (int a = 0; a < last; a++) columnOfH(b, a)[c] = columnOfH(b, a)[last];
    b->rowPlace[b->row[p]] = b->columnPlace[b->column[c]] = -1;
    b->row[p] = b->row[last], b->column[c] = b->column[last], b->x[c] = b->x[last];
    if (p != last) b->rowPlace[b->row[p]] = p;
    if (c != last) b->columnPlace[b->column[c]] = c;
    b->k--;
}

static void move(pcBasis* b, double step)
{
    pcAddScaled(b->k, step, b->dx, b->x);
    pcAddScaled(b->lcp->n, step, b->dw, b->w);
}

void pcBasisExchange(pcBasis* b, int enter, int leave, double step)
{
    int n = b->lcp->n;
    bool columnEnters = enter <= n, columnLeaves = leave <= n;
    int entering = columnEnters ? -1 : b->rowPlace[enter - n - 1], leaving = columnLeaves ? b->columnPlace[leave] : -1;
    move(b, step);
    if (columnEnters && columnLeaves) replaceColumn(b, leaving, enter);
    if (columnEnters && !columnLeaves) grow(b, leave - n - 1, enter);
    if (!columnEnters && columnLeaves) shrink(b, entering, leaving);
    if (!columnEnters && !columnLeaves) replaceRow(b, entering, leave - n - 1);
    if (columnEnters) b->x[b->columnPlace[enter]] = step;
    if (!columnEnters) b->w[enter - n - 1] = step;
    if (!columnLeaves) b->w[leave - n - 1] = 0.0;
    b->age++;
}
