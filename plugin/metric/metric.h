/*
 * The ratio metric of a pair, in the frame where it is computed: the axes of body 1, origin at its centre.
 *
 *   c          centre of body 2
 *   k1, k2     vertices about their own centres; body 2's are turned into the frame by R
 *   sigma      1 two-sided, 0 one-sided (body 2 does not scale)
 *   r          min sum(lambda)   s.t.   sum lambda_i k1_i - sum mu_j k2_j = c,
 *                                       sigma sum(lambda) - sum(mu) = sigma - 1,   lambda, mu >= 0        (T 2.3 from the vertex side)
 *            = max n.c - (1 - sigma) s   s.t.   h1(n) <= 1 - sigma s,  h2(-n) <= s                         (its dual)
 *
 * The four vertices of an optimal basis are the features in contact: 3 + 1 a face of body 1 on a corner of body 2, 2 + 2 edge on edge,
 * 1 + 3 a corner on a face.
 */
#ifndef PC_METRIC_METRIC_H
#define PC_METRIC_METRIC_H

#include "base/rotation.h"
#include "pcontact/metric.h"
#include "shape/shape.h"

/* What a certified answer may lack, relative to r; wider, and the next, more careful method takes over. */
#define PC_METRIC_TOLERANCE 1e-13

typedef struct pcFrame {
    const pcShape *shape1, *shape2; /* never a half-space or container first; the fixed one second */
    const pcPose *pose1, *pose2;
    bool swapped; /* body 1 here is body 2 of the caller */
    double sigma;
    m3 R1; /* frame to world */
    m3 R;  /* body 2's axes to the frame */
    v3 c;
    double error; /* bound on |c error|, in length; rotations are off by a few PC_ROUND */
} pcFrame;

/* Four vertices, body 1's first. */
typedef struct pcBasis {
    int count1; /* 1, 2 or 3 */
    int vertex[4];
} pcBasis;

/* Sorts the columns of a finished tableau, side 0 or 1; false if one is no vertex (-1) or all are of one body. */
PC_INLINE bool pcBasisSort(const int side[4], const int vertex[4], pcBasis* out)
{
    int at = 0;
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < 4; i++)
            if (side[i] == s) out->vertex[at++] = vertex[i];
        if (s == 0) out->count1 = at;
    }
    bool vertices = (vertex[0] | vertex[1] | vertex[2] | vertex[3]) >= 0;
    return vertices && out->count1 >= 1 && out->count1 <= 3;
}

/* An answer in the frame. D = h_W(n) two-sided, h1(n) one-sided, so that n.c / D (or (n.c - h2(-n)) / D) is r. */
typedef struct pcFrameMetric {
    double r, lower, upper;
    v3 n;          /* unit */
    double D;      /* along the unit n: the gap is (r - 1) D */
    double sigma;  /* as solved: 1 also where a one-sided query had to become two-sided */
    v3 point;      /* of the scaled bodies, from the centre of body 1 */
    v3 corner;     /* over a plane only: where body 1 reaches lowest, the pre-image of `point` even where r = 0 */
    pcBasis basis; /* of round shapes the core points that meet, -1 where there are fewer; hasBasis is false */
    bool hasBasis;
    pcMetricPath path;
} pcFrameMetric;

pcStatus pcFrameMake(const pcShape* s1, const pcPose* p1, const pcShape* s2, const pcPose* p2, unsigned flags, pcFrame* out);
pcStatus pcFrameSolve(const pcFrame* frame, pcPairCache* cacheOrNull, pcFrameMetric* out);

/* Each returns whether the answer is certified to PC_METRIC_TOLERANCE; if not, `basis` is still the best known start. */
bool pcMetricBoxes(const pcFrame* frame, pcFrameMetric* out);                               /* boxes.c */
bool pcMetricSimplex(const pcFrame* frame, const pcBasis* startOrNull, pcFrameMetric* out); /* simplex.c */
bool pcMetricExact(const pcFrame* frame, const pcBasis* startOrNull, pcFrameMetric* out);   /* exact.c */
bool pcMetricFacets(const pcFrame* frame, pcFrameMetric* out); /* facets.c: only to about 1e-12, its bounds are estimates */
pcStatus pcMetricRound(const pcFrame* frame, pcPairCache* cacheOrNull, pcFrameMetric* out); /* round.c */
void pcMetricContainer(const pcFrame* frame, pcFrameMetric* out);                           /* container.c */
void pcMetricExactPlane(const pcFrame* frame, pcFrameMetric* out);                          /* exact.c: polyhedron over a half-space */

/* (r - 1) / r, minus infinity where r <= 0 (T 2.4). */
PC_INLINE double pcRatioToRho(double r) { return r > 0.0 ? (r - 1.0) / r : -HUGE_VAL; }

/* Of a point x of the body scaled by t, not 0: centre + (x - centre) / t. */
PC_INLINE v3 pcPreimage(v3 centre, v3 x, double t) { return v3AddScaled(centre, 1.0 / t, v3Sub(x, centre)); }

PC_INLINE v3 pcFrameK2(const pcFrame* f, int i) { return m3Mul(&f->R, pcShapeK(f->shape2, i)); }

#endif
