/*
 * Blocks of W by rows, dim x dim each, those of zeros left out. A visit solves its contact alone, with the others held: a few projected
 * steps r := proj_K(r - rho (u + mu |u_t| n)), rho from the own block, which is kept out of the row.
 */
#include "adapters/cli/rival_sweeps.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/cli/bench_pairs.h"

enum { VISIT_STEPS = 10 };

struct RivalSweeps {
    const pcDelassus* p;
    int* first;    /* of each contact's blocks, and one more */
    int* column;   /* contact that a block belongs to */
    double* block; /* row-major */
    double* own;   /* the diagonal blocks */
    double scale;  /* max |q| */
};

/* Nearest point of { |t| <= mu n } to x = (n, t). */
static void project(int dim, double mu, const double* x, double* y)
{
    double t = dim == 2 ? fabs(x[1]) : sqrt(x[1] * x[1] + x[2] * x[2]);
    bool inside = t <= mu * x[0];
    double n = inside ? x[0] : mu * t <= -x[0] ? 0.0 : (x[0] + mu * t) / (1.0 + mu * mu);
    double shrink = inside ? 1.0 : n > 0.0 ? mu * n / t : 0.0;
    y[0] = n;
    for (int i = 1; i < dim; i++) y[i] = shrink * x[i];
}

/* y := proj_K(r - rho (u + mu |u_t| n)) */
static void naturalStep(int dim, double mu, double rho, const double* r, const double* u, double* y)
{
    double x[3] = {0.0}, slip = dim == 2 ? fabs(u[1]) : sqrt(u[1] * u[1] + u[2] * u[2]);
    for (int i = 0; i < dim; i++) x[i] = r[i] - rho * u[i];
    x[0] -= rho * mu * slip;
    project(dim, mu, x, y);
}

static void addBlock(int dim, const double* A, const double* x, double* y)
{
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++) y[i] += A[dim * i + j] * x[j];
}

/* ---- Setup --------------------------------------------------------------------------------------------------------------------- */

/* Which blocks there are: one byte for each pair of contacts. */
static unsigned char* pairsOf(const pcDelassus* p)
{
    size_t n = (size_t)p->contacts;
    unsigned char* there = calloc(n * n + 1, 1);
    for (int e = 0; there && e < p->nonzeros; e++)
        if (p->value[e] != 0.0) there[(size_t)(p->row[e] / p->dim) * n + (size_t)(p->col[e] / p->dim)] = 1;
    for (size_t k = 0; there && k < n; k++) there[k * n + k] = 0;
    return there;
}

static bool allocate(RivalSweeps* s, const unsigned char* there)
{
    size_t n = (size_t)s->p->contacts, size = (size_t)s->p->dim * (size_t)s->p->dim, blocks = 0;
    for (size_t i = 0; i < n * n; i++) blocks += there[i];
    s->first = calloc(n + 1, sizeof *s->first), s->column = calloc(blocks + 1, sizeof *s->column);
    s->block = calloc(blocks * size + 1, sizeof *s->block), s->own = calloc(n * size + 1, sizeof *s->own);
    return s->first && s->column && s->block && s->own;
}

static void fill(RivalSweeps* s, const unsigned char* there, int* place)
{
    const pcDelassus* p = s->p;
    size_t n = (size_t)p->contacts;
    int dim = p->dim, blocks = 0;
    for (size_t i = 0; i < n * n; i++) {
        if (i % n == 0) s->first[i / n] = blocks;
        if (there[i]) s->column[blocks] = (int)(i % n), place[i] = blocks++;
    }
    s->first[n] = blocks;
    for (int e = 0; e < p->nonzeros; e++) {
        int k = p->row[e] / dim, j = p->col[e] / dim, at = dim * (p->row[e] % dim) + p->col[e] % dim;
        if (k == j)
            s->own[dim * dim * k + at] += p->value[e];
        else if (p->value[e] != 0.0)
            s->block[(size_t)(dim * dim) * (size_t)place[(size_t)k * n + (size_t)j] + (size_t)at] += p->value[e];
    }
}

RivalSweeps* rivalSweepsNew(const pcDelassus* p)
{
    RivalSweeps* s = calloc(1, sizeof *s);
    unsigned char* there = pairsOf(p);
    int* place = calloc((size_t)p->contacts * (size_t)p->contacts + 1, sizeof *place);
    bool good = s && there && place;
    if (good) {
        s->p = p;
        for (int i = 0; i < p->dim * p->contacts; i++) s->scale = fmax(s->scale, fabs(p->q[i]));
        good = allocate(s, there);
    }
    if (good) fill(s, there, place);
    free(place), free(there);
    if (!good) rivalSweepsFree(s);
    return good ? s : NULL;
}

void rivalSweepsFree(RivalSweeps* s)
{
    if (!s) return;
    free(s->first), free(s->column), free(s->block), free(s->own);
    free(s);
}

/* ---- Work ---------------------------------------------------------------------------------------------------------------------- */

/* What the others do to contact k. */
static void pushOnto(const RivalSweeps* s, int k, const double* r, double* u)
{
    int dim = s->p->dim;
    memcpy(u, s->p->q + dim * k, (size_t)dim * sizeof *u);
    for (int b = s->first[k]; b < s->first[k + 1]; b++)
        addBlock(dim, s->block + (size_t)(dim * dim) * (size_t)b, r + dim * s->column[b], u);
}

/* An upper bound of the own block's eigenvalues: its largest row sum. */
static double boundOf(int dim, const double* own)
{
    double most = 0.0;
    for (int i = 0; i < dim; i++) {
        double sum = 0.0;
        for (int j = 0; j < dim; j++) sum += fabs(own[dim * i + j]);
        most = fmax(most, sum);
    }
    return most;
}

static void visit(const RivalSweeps* s, int k, double* r)
{
    int dim = s->p->dim;
    const double* own = s->own + dim * dim * k;
    double others[3], bound = boundOf(dim, own);
    pushOnto(s, k, r, others);
    for (int step = 0; bound > 0.0 && step < VISIT_STEPS; step++) {
        double u[3] = {others[0], others[1], dim > 2 ? others[2] : 0.0}, next[3], moved = 0.0;
        addBlock(dim, own, r + dim * k, u);
        naturalStep(dim, s->p->mu[k], 1.0 / bound, r + dim * k, u, next);
        for (int i = 0; i < dim; i++) moved = fmax(moved, fabs(next[i] - r[dim * k + i])), r[dim * k + i] = next[i];
        if (moved * bound <= 1e-15 * s->scale) break;
    }
}

int rivalSweep(RivalSweeps* s, double until, double* r)
{
    int sweeps = 0;
    do {
        for (int k = 0; k < s->p->contacts; k++) visit(s, k, r);
        sweeps++;
    } while (benchNow() < until);
    return sweeps;
}

double rivalResidual(RivalSweeps* s, const double* r)
{
    int dim = s->p->dim;
    double most = 0.0;
    for (int k = 0; k < s->p->contacts; k++) {
        const double* own = s->own + dim * dim * k;
        double u[3], y[3], w = 0.0, sum = 0.0;
        for (int i = 0; i < dim; i++) w += own[(dim + 1) * i] / dim;
        pushOnto(s, k, r, u);
        addBlock(dim, own, r + dim * k, u);
        naturalStep(dim, s->p->mu[k], 1.0 / w, r + dim * k, u, y);
        for (int i = 0; i < dim; i++) sum += (r[dim * k + i] - y[i]) * (r[dim * k + i] - y[i]);
        double residual = sqrt(sum) * w / (s->scale > 0.0 ? s->scale : 1.0);
        if (!(residual <= most)) most = residual; /* a NaN stays */
    }
    return most;
}
