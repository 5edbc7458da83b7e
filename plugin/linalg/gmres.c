/*
 * min |b - A x| over x in x_0 + P span(r, A P r, (A P)^2 r, ..)      (Saad and Schultz; preconditioned from the right)
 *
 *     r     b - A x at the last restart
 *     Q     orthonormal basis of the Krylov space, one row per vector;     A P Q_k = Q_k+1 H
 *     H     Hessenberg; Givens rotations (cs, sn) make it triangular as it grows, and s becomes the least-squares right side,
 *           whose last entry is the residual of the best x so far
 */
#include "linalg/gmres.h"

#include <math.h>
#include <string.h>

#define BREAKDOWN 1e-14 /* of a new direction, relative to what it was made from: the space is complete */
#define SINGULAR 1e-10  /* of H's diagonal, relative to its largest so far */

typedef struct Krylov {
    int n, m;
    double *Q, *H, *cs, *sn, *s, *y; /* H: column k has m + 1 places */
    double *t, *p;
    double largest; /* of H's diagonal, over all restarts */
} Krylov;

static bool krylovNew(Krylov* k, int n, int m, pcArena* arena)
{
    size_t size = (size_t)n, most = (size_t)m;
    *k = (Krylov){.n = n, .m = m};
    k->Q = pcArenaNew(arena, double, (most + 1) * size), k->H = pcArenaNew(arena, double, (most + 1) * most);
    k->cs = pcArenaNew(arena, double, most), k->sn = pcArenaNew(arena, double, most);
    k->s = pcArenaNew(arena, double, most + 1), k->y = pcArenaNew(arena, double, most);
    k->t = pcArenaNew(arena, double, size), k->p = pcArenaNew(arena, double, size);
    return pcArenaGood(arena);
}

static double dot(int n, const double* a, const double* b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static double* basisAt(const Krylov* k, int j) { return k->Q + (size_t)j * (size_t)k->n; }
static double* columnAt(const Krylov* k, int j) { return k->H + (size_t)j * (size_t)(k->m + 1); }

/* Q_{j+1} and column j of H; false where nothing is left of it. */
static bool arnoldi(Krylov* k, const pcGmres* p, int j)
{
    double *q = basisAt(k, j + 1), *h = columnAt(k, j);
    p->precondition(p->self, basisAt(k, j), k->t);
    p->multiply(p->self, k->t, q);
    double before = sqrt(dot(k->n, q, q));
    memset(h, 0, (size_t)(k->m + 1) * sizeof *h);
    for (int i = 0; i < 2 * (j + 1); i++) { /* Gram-Schmidt twice: once is not enough where the new direction is nearly old */
        const double* other = basisAt(k, i % (j + 1));
        double along = dot(k->n, q, other);
        h[i % (j + 1)] += along;
        for (int e = 0; e < k->n; e++) q[e] -= along * other[e];
    }
    h[j + 1] = sqrt(dot(k->n, q, q));
    if (!(h[j + 1] > BREAKDOWN * before)) {
        h[j + 1] = 0.0;
        return false;
    }
    for (int e = 0; e < k->n; e++) q[e] /= h[j + 1];
    return true;
}

/* Column j made triangular. */
static void rotate(Krylov* k, int j)
{
    double *h = columnAt(k, j), *s = k->s;
    for (int i = 0; i < j; i++) {
        double upper = k->cs[i] * h[i] + k->sn[i] * h[i + 1];
        h[i + 1] = -k->sn[i] * h[i] + k->cs[i] * h[i + 1], h[i] = upper;
    }
    double length = hypot(h[j], h[j + 1]);
    k->cs[j] = length > 0.0 ? h[j] / length : 1.0, k->sn[j] = length > 0.0 ? h[j + 1] / length : 0.0;
    h[j] = length, h[j + 1] = 0.0;
    s[j + 1] = -k->sn[j] * s[j], s[j] *= k->cs[j];
}

/* x += P Q y with H y = s. */
static void addSolution(Krylov* k, const pcGmres* p, int columns, double* x)
{
    for (int i = columns - 1; i >= 0; i--) {
        k->y[i] = k->s[i];
        for (int j = i + 1; j < columns; j++) k->y[i] -= columnAt(k, j)[i] * k->y[j];
        k->y[i] /= columnAt(k, i)[i];
    }
    memset(k->t, 0, (size_t)k->n * sizeof *k->t);
    for (int j = 0; j < columns; j++) {
        const double* q = basisAt(k, j);
        for (int e = 0; e < k->n; e++) k->t[e] += k->y[j] * q[e];
    }
    p->precondition(p->self, k->t, k->p);
    for (int e = 0; e < k->n; e++) x[e] += k->p[e];
}

/* r = b - A x into the first basis vector; its length. */
static double restartFrom(Krylov* k, const pcGmres* p, const double* b, const double* x)
{
    double* r = basisAt(k, 0);
    p->multiply(p->self, x, r);
    for (int e = 0; e < k->n; e++) r[e] = b[e] - r[e];
    double length = sqrt(dot(k->n, r, r));
    for (int e = 0; length > 0.0 && e < k->n; e++) r[e] /= length;
    memset(k->s, 0, (size_t)(k->m + 1) * sizeof *k->s);
    return k->s[0] = length;
}

/* Directions until `enough` is left of the residual, the space is complete or the limits are met; how many. One that makes H singular is
 * left out: A is singular then, and nothing that comes after could be told from rounding. */
static int grow(Krylov* k, const pcGmres* p, double enough, int* products)
{
    bool more = true;
    int j = 0;
    while (more && j < k->m && *products < p->limit && fabs(k->s[j]) > enough) {
        more = arnoldi(k, p, j);
        rotate(k, j);
        ++*products;
        double pivot = columnAt(k, j)[j];
        k->largest = fmax(k->largest, pivot);
        if (!(pivot > SINGULAR * k->largest)) break;
        j++;
    }
    return j;
}

pcGmresInfo pcGmresSolve(const pcGmres* p, const double* b, pcArena* arena, double* x)
{
    pcGmresInfo info = {.residual = 1.0};
    Krylov k;
    size_t mark = pcArenaMark(arena);
    double size = sqrt(dot(p->n, b, b)), last = INFINITY;
    memset(x, 0, (size_t)p->n * sizeof *x);
    bool ready = krylovNew(&k, p->n, p->restart < p->n ? p->restart : p->n, arena);
    while (ready && size > 0.0) {
        double length = restartFrom(&k, p, b, x);
        info.residual = length / size;
        if (info.residual <= p->tolerance || !(length < 0.9 * last) || info.products >= p->limit) break;
        info.restarts++;
        addSolution(&k, p, grow(&k, p, 0.5 * p->tolerance * size, &info.products), x);
        last = length;
    }
    if (ready && !(size > 0.0)) info.residual = 0.0;
    pcArenaRelease(arena, mark);
    return info;
}
