/*
 * soc.h for four cones of two or three numbers at a time, a lane each: the same operations in the same order, so the same bits. n is known to the
 * compiler wherever these are inlined.
 */
#ifndef PC_SOLVER_SOC4_H
#define PC_SOLVER_SOC4_H

#include <math.h>

#include "base/simd.h"
#include "solver/soc.h"

/* x[i]: the i-th number of each of the four. */
typedef struct pcFour {
    v4d x[PC_SOC_ROWS];
} pcFour;

typedef struct pcFourScale {
    pcFour w, lambda;
    v4d eta;
} pcFourScale;

/* Numbers of four cones that lie one after the other. */
PC_INLINE pcFour fourLoad(int n, const double* p)
{
    v4d a = v4Load(p), b = v4Load(p + 4);
    pcFour out = {{v4Splat(0.0), v4Splat(0.0), v4Splat(0.0)}};
    if (n == 2) {
        out.x[0] = __builtin_shufflevector(a, b, 0, 2, 4, 6), out.x[1] = __builtin_shufflevector(a, b, 1, 3, 5, 7);
        return out;
    }
    v4d c = v4Load(p + 8);
    v4d first = __builtin_shufflevector(a, b, 0, 3, 6, 6), second = __builtin_shufflevector(a, b, 1, 4, 7, 7),
        third = __builtin_shufflevector(a, b, 2, 5, 5, 5);
    out.x[0] = __builtin_shufflevector(first, c, 0, 1, 2, 5), out.x[1] = __builtin_shufflevector(second, c, 0, 1, 2, 6);
    out.x[2] = __builtin_shufflevector(third, c, 0, 1, 4, 7);
    return out;
}

PC_INLINE void fourStore(int n, double* p, const pcFour* from)
{
    v4d low = __builtin_shufflevector(from->x[0], from->x[1], 0, 4, 1, 5),
        high = __builtin_shufflevector(from->x[0], from->x[1], 2, 6, 3, 7);
    if (n == 2) {
        v4Store(p, low), v4Store(p + 4, high);
        return;
    }
    v4d z = from->x[2]; /* low: x0 y0 x1 y1, high: x2 y2 x3 y3 */
    v4Store(p, __builtin_shufflevector(low, z, 0, 1, 4, 2));
    v4d middle = __builtin_shufflevector(low, z, 3, 5, 5, 5);
    v4Store(p + 4, __builtin_shufflevector(middle, high, 0, 1, 4, 5));
    v4d last = __builtin_shufflevector(high, z, 2, 3, 6, 7); /* x3 y3 z2 z3 */
    v4Store(p + 8, __builtin_shufflevector(last, last, 2, 0, 1, 3));
}

PC_INLINE v4d fourRoot(v4d a)
{
    double x[4];
    v4Store(x, a);
    for (int i = 0; i < 4; i++) x[i] = sqrt(x[i]);
    return v4Load(x);
}

PC_INLINE v4d v4Min(v4d a, v4d b) { return v4Select(a < b, a, b); }

PC_INLINE v4d fourTail(int n, const pcFour* x) { return n == 2 ? v4Abs(x->x[1]) : fourRoot(x->x[1] * x->x[1] + x->x[2] * x->x[2]); }

PC_INLINE v4d fourDot(int n, const pcFour* x, const pcFour* y) { return x->x[1] * y->x[1] + (n > 2 ? x->x[2] * y->x[2] : v4Splat(0.0)); }

PC_INLINE v4d fourDet(int n, const pcFour* x)
{
    v4d tail = fourTail(n, x);
    return (x->x[0] - tail) * (x->x[0] + tail);
}

PC_INLINE v4d fourReach(int n, const pcFour* x, const pcFour* d)
{
    const v4d none = v4Splat(0.0), far = v4Splat(HUGE_VAL);
    v4d a = d->x[0] * d->x[0] - fourDot(n, d, d), b = x->x[0] * d->x[0] - fourDot(n, x, d), c = fourDet(n, x), least = far;
    v4d inside = b * b - a * c, root = fourRoot(v4Select(inside >= none, inside, none));
    v4i signs = v4SelectInt((v4i)b < 0, (v4i){INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN}, (v4i){0, 0, 0, 0});
    v4d q = -(b + (v4d)((v4i)root | signs));
    v4d first = v4Select(a != none, q / a, far), second = v4Select(q != none, c / q, far);
    least = v4Select((first > none) & (first < least), first, least);
    least = v4Select((second > none) & (second < least), second, least);
    least = v4Select(inside >= none, least, far);
    return v4Select(d->x[0] < none, v4Min(least, -x->x[0] / d->x[0]), least);
}

/* W x (times = 1) or W^-1 x (times = -1) */
PC_INLINE pcFour fourApply(int n, const pcFourScale* s, double times, const pcFour* x)
{
    v4d tail = v4Splat(times) * fourDot(n, &s->w, x), head = x->x[0], size = times > 0.0 ? s->eta : v4Splat(1.0) / s->eta;
    v4d along = v4Splat(times) * head + v4Splat(times) * tail / (v4Splat(1.0) + s->w.x[0]);
    pcFour out = {{size * (s->w.x[0] * head + tail), v4Splat(0.0), v4Splat(0.0)}};
    for (int i = 1; i < n; i++) out.x[i] = size * (x->x[i] + s->w.x[i] * along);
    return out;
}

/* W^-2 x */
PC_INLINE pcFour fourApplyTwice(int n, const pcFourScale* s, const pcFour* x)
{
    v4d turned = v4Splat(2.0) * (s->w.x[0] * x->x[0] - fourDot(n, &s->w, x)), size = v4Splat(1.0) / (s->eta * s->eta);
    pcFour out = {{size * (turned * s->w.x[0] - x->x[0]), v4Splat(0.0), v4Splat(0.0)}};
    for (int i = 1; i < n; i++) out.x[i] = size * (x->x[i] - turned * s->w.x[i]);
    return out;
}

PC_INLINE pcFour fourProduct(int n, const pcFour* x, const pcFour* y)
{
    pcFour out = {{x->x[0] * y->x[0] + fourDot(n, x, y), v4Splat(0.0), v4Splat(0.0)}};
    for (int i = 1; i < n; i++) out.x[i] = x->x[0] * y->x[i] + y->x[0] * x->x[i];
    return out;
}

PC_INLINE pcFour fourDivide(int n, const pcFour* x, const pcFour* r)
{
    v4d det = fourDet(n, x), tail = fourDot(n, x, r), head = r->x[0];
    pcFour out = {{(x->x[0] * head - tail) / det, v4Splat(0.0), v4Splat(0.0)}};
    for (int i = 1; i < n; i++) out.x[i] = (-x->x[i] * head + (det * r->x[i] + tail * x->x[i]) / x->x[0]) / det;
    return out;
}

PC_INLINE pcFourScale fourScaling(int n, const pcFour* c, const pcFour* y)
{
    pcFourScale out;
    v4d dc = fourRoot(fourDet(n, c)), dy = fourRoot(fourDet(n, y)), product = (c->x[0] * y->x[0] + fourDot(n, c, y)) / (dc * dy);
    v4d half = v4Splat(0.5) / fourRoot(v4Splat(0.5) * (v4Splat(1.0) + product));
    out.w.x[0] = half * (y->x[0] / dy + c->x[0] / dc), out.w.x[2] = v4Splat(0.0);
    for (int i = 1; i < n; i++) out.w.x[i] = half * (y->x[i] / dy - c->x[i] / dc);
    out.eta = fourRoot(dy / dc);
    out.lambda = fourApply(n, &out, 1.0, c);
    return out;
}

#endif
