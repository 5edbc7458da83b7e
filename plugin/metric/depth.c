/*
 * Where a ray from inside leaves W = K1 - K2, which holds c because the bodies overlap.
 *
 *   g(n)   = h1(n) + h2(-n) - n.c    depth along a unit n: of the plane that bounds W there, as seen from c
 *   tau    where c + tau d is on the surface of W;  tau <= g(d), the plane across d lies outside
 *   n      normal of W there:  g(n) = tau d.n <= tau <= g(d)
 *
 * So the normal of the place where a ray leaves is never a worse direction than the ray, and one that leads nowhere better meets the surface
 * at a right angle: a least depth. No curvature is asked for, and a kink is a place like any other.
 *
 * By portals: a triangle of points of W that the ray leads through, moved outwards until no point of W lies beyond it.
 */
#include "metric/length.h"

#define PORTAL_LIMIT 200
/* Sine between the ray and the farthest point along it, below which that point is where the ray leaves. */
static const double STRAIGHT = 1e-15;

static pcExitPoint pointAlong(const pcFrame* f, v3 n)
{
    pcTip tip1 = pcFrameTip(f, 0, n), tip2 = pcFrameTip(f, 1, n);
    return (pcExitPoint){v3Sub(v3Sub(tip1.k, tip2.k), f->c), tip1.k, tip2.k, {tip1.vertex, tip2.vertex}};
}

PC_INLINE double volume(v3 a, v3 b, v3 c) { return v3Dot(a, v3Cross(b, c)); }

/* Three points around the ray: a at first is the one along it, b the one along the normal of the plane through it and the ray. Each next one lies
 * beyond the plane of two of them and c, on the ray's side, and takes the place of the one that it leaves on the other side. */
static bool findPortal(const pcFrame* f, v3 d, pcExit* out)
{
    pcExitPoint a = pointAlong(f, d), b, e;
    v3 across = v3Cross(a.w, d);
    if (!(v3Norm(across) > STRAIGHT * v3Norm(a.w))) return false;
    b = pointAlong(f, v3Scale(1.0 / v3Norm(across), across));
    for (int i = 0; i < PORTAL_LIMIT; i++) {
        v3 m = v3Cross(a.w, b.w);
        double size = v3Norm(m);
        if (!(size > 0.0)) return false;
        e = pointAlong(f, v3Scale((v3Dot(m, d) < 0.0 ? -1.0 : 1.0) / size, m));
        double sign = v3Dot(m, d) < 0.0 ? -1.0 : 1.0;
        if (sign * volume(d, a.w, e.w) > 0.0)
            b = e; /* the ray is not between a and e's side of b */
        else if (sign * volume(d, e.w, b.w) > 0.0)
            a = e;
        else {
            out->corner[0] = a, out->corner[1] = b, out->corner[2] = e;
            return true;
        }
    }
    return false;
}

/* Its normal, towards the ray's end. */
static v3 normalOf(const pcExit* x, v3 d)
{
    v3 n = v3Cross(v3Sub(x->corner[1].w, x->corner[0].w), v3Sub(x->corner[2].w, x->corner[0].w));
    double size = v3Norm(n);
    if (!(size > 0.0)) return d;
    return v3Scale((v3Dot(n, d) < 0.0 ? -1.0 : 1.0) / size, n);
}

/* Of the three triangles that a point beyond makes with two corners, the one that the ray leads through; false if rounding hides it. */
static bool narrow(pcExit* x, v3 d, const pcExitPoint* beyond)
{
    double turn = volume(x->corner[0].w, x->corner[1].w, x->corner[2].w) < 0.0 ? -1.0 : 1.0, side[3];
    for (int i = 0; i < 3; i++) side[i] = turn * volume(d, x->corner[i].w, beyond->w);
    /* Between corners i and i + 1: to the left of the plane through corner i, to the right of that through the next. */
    for (int i = 0; i < 3; i++)
        if (side[i] <= 0.0 && side[(i + 1) % 3] >= 0.0) {
            x->corner[(i + 2) % 3] = *beyond;
            return true;
        }
    return false;
}

/* Shares of the corners in the point on the ray. */
static void weigh(pcExit* x, v3 d)
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        x->weight[i] = larger(0.0, volume(d, x->corner[(i + 1) % 3].w, x->corner[(i + 2) % 3].w) *
                                       (volume(x->corner[0].w, x->corner[1].w, x->corner[2].w) < 0.0 ? -1.0 : 1.0));
        sum += x->weight[i];
    }
    for (int i = 0; i < 3; i++) x->weight[i] = sum > 0.0 ? x->weight[i] / sum : i == 0;
}

bool pcFrameExit(const pcFrame* f, v3 d, double closeness, pcExit* out)
{
    if (!findPortal(f, d, out)) return false;
    for (int i = 0;; i++) {
        v3 n = normalOf(out, d);
        pcExitPoint beyond = pointAlong(f, n);
        out->n = n, out->depth = v3Dot(n, beyond.w);
        if (i >= PORTAL_LIMIT || !(out->depth - v3Dot(n, out->corner[0].w) > closeness) || !narrow(out, d, &beyond)) break;
    }
    weigh(out, d);
    return true;
}
