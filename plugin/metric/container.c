/*
 * A body in a spherical container of radius R about c (E 5.3). Grown by t about its own centre it touches the wall where
 *
 *   g(t) = max over its points k of |t k - c| = R,      g convex in t,  g' = u.k = h(u),  u along t k - c
 *
 * so Newton's method in t descends to r = min over u of (R + u.c) / h(u) from above, and each of its values is an upper bound. The
 * farthest point is a corner, a point of an end ball or of a rim; of an ellipsoid (semi-axes a, |y| = 1, k = a y, o = -c) it solves
 *
 *   (lambda - t^2 a_i^2) y_i = t a_i o_i,      sum y_i^2 = 1,      lambda >= t^2 a_max^2                            (E 24 with c_i^2)
 *
 * for the largest lambda. The degenerate cases of E's appendix are those where o has no part along the longest axes: there lambda may be
 * t^2 a_max^2 itself, and the rest of |y| = 1 lies along that axis, on either side.
 *
 * Once the centre is outside, r <= 0 is that of the point which is farthest out as the body is.
 */
#include "metric/round.h"

#define ROOT_LIMIT 60

static v3 along(v3 a)
{
    double size = v3Norm(a);
    return size > 0.0 ? v3Scale(1.0 / size, a) : v3Make(0.0, 0.0, 1.0);
}

static pcFarthest farthestOf(v3 k, v3 o, double t)
{
    v3 x = v3Sub(v3Scale(t, k), o);
    return (pcFarthest){k, along(x), v3Norm(x)};
}

static pcFarthest farther(pcFarthest a, pcFarthest b) { return b.distance > a.distance ? b : a; }

static pcFarthest farthestCorner(const pcShape* s, v3 o, double t)
{
    pcFarthest best = farthestOf(pcShapeK(s, 0), o, t);
    for (int i = 1; i < s->vertexCount; i++) best = farther(best, farthestOf(pcShapeK(s, i), o, t));
    return best;
}

/* Around a core point: along the ball, or along the disc in the plane across the axis. */
static pcFarthest farthestAround(const pcShape* s, int end, v3 o, double t)
{
    v3 core = pcShapeK(s, end), x = v3Sub(v3Scale(t, core), o);
    if (s->kind == PC_SHAPE_CYLINDER) {
        x.z = 0.0;
        if (v3Max(x) == 0.0) x.x = 1.0;
    }
    return farthestOf(v3AddScaled(core, s->radius, along(x)), o, t);
}

/* sum b_i^2 / (mu + g_i)^2 = 1 for mu >= 0, mu = lambda - t^2 a_max^2, g_i = t^2 (a_max^2 - a_i^2). 1 / sqrt(sum) is concave in mu, so
 * Newton's method on it climbs to the root from the left, where one term alone makes the sum at least 1. */
static double secularRoot(const double b[3], const double g[3])
{
    double mu = 0.0;
    for (int i = 0; i < 3; i++) mu = larger(mu, fabs(b[i]) - g[i]);
    for (int step = 0; step < ROOT_LIMIT; step++) {
        double sum = 0.0, slope = 0.0;
        for (int i = 0; i < 3; i++) {
            double y = mu + g[i] > 0.0 ? b[i] / (mu + g[i]) : 0.0;
            sum += y * y, slope += mu + g[i] > 0.0 ? y * y / (mu + g[i]) : 0.0;
        }
        if (!(sum > 1.0)) break; /* mu = 0 may have no root to its right: the degenerate case */
        double change = (sqrt(sum) - 1.0) * sum / slope;
        mu += change;
        if (change <= 2.0 * PC_ROUND * mu) break;
    }
    return mu;
}

/* What is left of |y| = 1 goes along the longest axis: in the degenerate case all that the others leave, else rounding. */
static pcFarthest farthestOnEllipsoid(const pcShape* s, v3 o, double t)
{
    double a[3] = {s->semi.x, s->semi.y, s->semi.z}, from[3] = {-o.x, -o.y, -o.z}, b[3], g[3], y[3], square = 0.0;
    int longest = a[0] >= a[1] && a[0] >= a[2] ? 0 : a[1] >= a[2] ? 1 : 2;
    for (int i = 0; i < 3; i++) b[i] = t * a[i] * from[i], g[i] = t * t * (a[longest] - a[i]) * (a[longest] + a[i]);
    double mu = secularRoot(b, g);
    for (int i = 0; i < 3; i++) {
        y[i] = mu + g[i] > 0.0 ? b[i] / (mu + g[i]) : 0.0;
        square += i == longest ? 0.0 : y[i] * y[i];
    }
    y[longest] = copysign(sqrt(larger(0.0, 1.0 - square)), from[longest]);
    double size = sqrt(square + y[longest] * y[longest]);
    return farthestOf(v3Make(a[0] * y[0] / size, a[1] * y[1] / size, a[2] * y[2] / size), o, t);
}

/* From the six ends of the axes uphill: each tip along the last direction lies farther out. The best of six hills. */
static pcFarthest farthestAsked(const pcShape* s, v3 o, double t)
{
    pcFarthest best = {.distance = -1.0};
    for (int start = 0; start < 6; start++) {
        double sign = start % 2 == 0 ? 1.0 : -1.0;
        v3 u = v3Make(start / 2 == 0 ? sign : 0.0, start / 2 == 1 ? sign : 0.0, start / 2 == 2 ? sign : 0.0);
        pcFarthest here = farthestOf(pcTipOf(s, u).k, o, t);
        for (int i = 0; i < 1000; i++) {
            pcFarthest next = farthestOf(pcTipOf(s, here.u).k, o, t);
            if (!(next.distance > here.distance * (1.0 + PC_ROUND))) break;
            here = next;
        }
        best = farther(best, here);
    }
    return best;
}

pcFarthest pcFarthestFrom(const pcShape* s, v3 o, double t)
{
    if (pcShapeIsPolyhedron(s)) return farthestCorner(s, o, t);
    if (s->kind == PC_SHAPE_SUPPORT) return farthestAsked(s, o, t);
    if (s->kind == PC_SHAPE_ELLIPSOID) return farthestOnEllipsoid(s, o, t);
    pcFarthest first = farthestAround(s, 0, o, t);
    return s->coreCount > 1 ? farther(first, farthestAround(s, 1, o, t)) : first;
}

void pcMetricContainer(const pcFrame* f, pcFrameMetric* out)
{
    double R = f->shape2->radius, t = 1.0;
    pcFarthest far = pcFarthestFrom(f->shape1, f->c, t);
    for (int i = 0; i < ROOT_LIMIT && v3Norm(f->c) < R; i++) {
        double next = (R + v3Dot(far.u, f->c)) / v3Dot(far.u, far.k), last = t;
        t = next;
        far = pcFarthestFrom(f->shape1, f->c, t);
        if (i > 0 && !(next < last * (1.0 - 2.0 * PC_ROUND))) break;
    }
    if (!(v3Dot(far.u, far.k) > 0.0))
        far.k = pcTipOf(f->shape1, far.u).k; /* its centre is on the sphere: scaled by 0, all corners are as far */
    double D = v3Dot(far.u, far.k), r = (R + v3Dot(far.u, f->c)) / D;
    double error = (PC_ROUND * (10.0 * v3Norm(f->c) + 8.0 * R + 14.0 * fabs(r) * f->shape1->outradius) + f->error) / D;
    out->r = r, out->lower = r - error, out->upper = r + error;
    out->sigma = 0.0, out->n = far.u, out->D = D, out->corner = far.k, out->point = v3Scale(r, far.k);
    out->hasBasis = false;
    out->path = PC_PATH_CLOSED;
}
