/*
 * The cone K = { x0 >= |x1| } of one to three numbers, x1 the others, as interior point methods see it. It is its own dual, and a Jordan
 * algebra: x o y = (x'y, x0 y1 + y0 x1) with unit e = (1, 0); det x = x0^2 - |x1|^2; eigenvalues x0 +- |x1|.
 *
 * Scaling of Nesterov and Todd: the one symmetric W with W c = W^-1 y = lambda for c and y inside K. With c, y divided by the roots of
 * their determinants, R = diag(1, -1, -1) and 2 g^2 = 1 + c'y:   w = (y + R c) / 2g,   eta^4 = det y / det c,   W^-2 = (2 Rw Rw' - R) / eta^2.
 */
#ifndef PC_SOLVER_SOC_H
#define PC_SOLVER_SOC_H

#include <math.h>

#include "base/vec.h"

#define PC_SOC_ROWS 3

typedef struct pcSocScale {
    double w[PC_SOC_ROWS];
    double eta;
    double lambda[PC_SOC_ROWS];
} pcSocScale;

static inline double pcSocTail(int n, const double* x) { return n < 2 ? 0.0 : n < 3 ? fabs(x[1]) : sqrt(x[1] * x[1] + x[2] * x[2]); }

/* The tails' product. */
static inline double pcSocDot(int n, const double* x, const double* y) { return (n > 1 ? x[1] * y[1] : 0.0) + (n > 2 ? x[2] * y[2] : 0.0); }

static inline double pcSocDet(int n, const double* x)
{
    double tail = pcSocTail(n, x);
    return (x[0] - tail) * (x[0] + tail);
}

/* The largest a for which x + a d is in K; x is inside. Roots of det(x + a d) without cancellation. */
static inline double pcSocReach(int n, const double* x, const double* d)
{
    double a = d[0] * d[0] - pcSocDot(n, d, d), b = x[0] * d[0] - pcSocDot(n, x, d), c = pcSocDet(n, x), least = HUGE_VAL;
    double inside = b * b - a * c;
    if (n > 1 && inside >= 0.0) {
        double q = -(b + copysign(sqrt(inside), b)), first = a != 0.0 ? q / a : HUGE_VAL, second = q != 0.0 ? c / q : HUGE_VAL;
        if (first > 0.0) least = smaller(least, first);
        if (second > 0.0) least = smaller(least, second);
    }
    return d[0] < 0.0 ? smaller(least, -x[0] / d[0]) : least;
}

/* out = W x (times = 1) or W^-1 x (times = -1); out may be x. */
static inline void pcSocApply(int n, const pcSocScale* s, double times, const double* x, double* out)
{
    double tail = times * pcSocDot(n, s->w, x), head = x[0], size = times > 0.0 ? s->eta : 1.0 / s->eta;
    double along = times * head + times * tail / (1.0 + s->w[0]);
    out[0] = size * (s->w[0] * head + tail);
    for (int i = 1; i < n; i++) out[i] = size * (x[i] + s->w[i] * along);
}

/* W^-2 x */
static inline void pcSocApplyTwice(int n, const pcSocScale* s, const double* x, double* out)
{
    double turned = 2.0 * (s->w[0] * x[0] - pcSocDot(n, s->w, x)), size = 1.0 / (s->eta * s->eta);
    for (int i = n - 1; i > 0; i--) out[i] = size * (x[i] - turned * s->w[i]);
    out[0] = size * (turned * s->w[0] - x[0]);
}

static inline void pcSocScaling(int n, const double* c, const double* y, pcSocScale* out)
{
    double dc = sqrt(pcSocDet(n, c)), dy = sqrt(pcSocDet(n, y)), product = (c[0] * y[0] + pcSocDot(n, c, y)) / (dc * dy);
    double half = 0.5 / sqrt(0.5 * (1.0 + product));
    out->w[0] = half * (y[0] / dy + c[0] / dc);
    for (int i = 1; i < n; i++) out->w[i] = half * (y[i] / dy - c[i] / dc);
    out->eta = sqrt(dy / dc);
    pcSocApply(n, out, 1.0, c, out->lambda);
}

/* out = x o y; may not be either. */
static inline void pcSocProduct(int n, const double* x, const double* y, double* out)
{
    out[0] = x[0] * y[0] + pcSocDot(n, x, y);
    for (int i = 1; i < n; i++) out[i] = x[0] * y[i] + y[0] * x[i];
}

/* out with x o out = r; may be r. */
static inline void pcSocDivide(int n, const double* x, const double* r, double* out)
{
    double det = pcSocDet(n, x), tail = pcSocDot(n, x, r), head = r[0];
    out[0] = (x[0] * head - tail) / det;
    for (int i = 1; i < n; i++) out[i] = (-x[i] * head + (det * r[i] + tail * x[i]) / x[0]) / det;
}

/* c and y inside K with c - y = z and c o y = m e, which is the point of the central path next to c and y with that difference. Along each
 * eigenvector of z: c y = m, c - y = l. */
static inline void pcSocCentre(int n, const double* z, double m, double* c, double* y)
{
    double tail = pcSocTail(n, z), along[2][2];
    for (int i = 0; i < 2; i++) {
        double l = i ? z[0] - tail : z[0] + tail, more = 0.5 * (fabs(l) + sqrt(l * l + 4.0 * m)), less = more > 0.0 ? m / more : 0.0;
        along[i][0] = l > 0.0 ? more : less, along[i][1] = l > 0.0 ? less : more;
    }
    c[0] = 0.5 * (along[0][0] + along[1][0]), y[0] = 0.5 * (along[0][1] + along[1][1]);
    for (int i = 1; i < n; i++) {
        double part = tail > 0.0 ? 0.5 * z[i] / tail : 0.0;
        c[i] = part * (along[0][0] - along[1][0]), y[i] = part * (along[0][1] - along[1][1]);
    }
}

#endif
