/*
 * Features of round bodies and how two of them meet. A body is a core and a round part (shape.h), so its surface is made of pieces, each a
 * corner, edge or face of the core with the round part around it; the cap of a cylinder is one more. On two such pieces the support
 * function of the pair is smooth, and the direction n in which they meet is found by Newton's method.
 *
 *   measure      value                               f1   f2    zero at the answer, across n
 *   two-sided    t = n.c / (h1 + h2)                 t    t     rho = c - f1 p1 + f2 p2
 *   one-sided    t = (n.c - h2) / h1                 t    1     the same
 *   length       s = n.c - h1 - h2,  |n| = 1         1    1     the same, but for its part s along n
 *
 *   p1, p2       points of the bodies where n and -n touch, about their centres;  h1 = n.p1,  h2 = -n.p2
 *   H1, H2       dp1/dn and dp2/d(-n), symmetric, with H n = 0:  H = (A A - (A m)(A m)') / |A n|,  m = A n / |A n|
 *
 * The value is stationary in n where rho vanishes, and the value's own change is of second order; so a Newton step d solves
 * (f1 H1 + f2 H2) d = rho, for the length (H1 + H2 + s) d = rho, in two dimensions across n, in one where an edge of a core holds n in
 * the plane across it; two edges name n without any step.
 */
#ifndef PC_METRIC_ROUND_H
#define PC_METRIC_ROUND_H

#include "metric/metric.h"

typedef struct pcFeature {
    int count;     /* core points: 1 a corner, 2 an edge, 3 a face; of a cap 1, its centre */
    int vertex[3]; /* which */
    bool cap;      /* of a cylinder, all of it */
} pcFeature;

typedef enum pcMeasure { PC_TWO_SIDED, PC_ONE_SIDED, PC_LENGTH } pcMeasure;

typedef struct pcFit {
    v3 n;           /* unit, from body 1 to body 2 */
    double value;   /* t, or the length s */
    double D;       /* t is n.c / D or (n.c - h2) / D along the unit n; 1 for the length */
    v3 p1, p2;      /* where they meet, about their own centres, in the frame */
    double outside; /* length by which such a point leaves its feature; 0 if none does */
    double rest;    /* length that is left of rho */
} pcFit;

/* From a direction near the answer. False if the features do not name a direction, or Newton's method does not end. */
bool pcFitFeatures(const pcFrame* f, pcMeasure measure, const pcFeature* a, const pcFeature* b, v3 start, pcFit* out);

/* What a basis names: the features, and beside them the single corners that n touches (round.c). */
void pcFeaturesOfBasis(const pcFrame* f, const pcBasis* basis, v3 n, pcFeature named[2], pcFeature tip[2]);
/* The cap of a cylinder that n leads through, if it is near one (round.c). */
bool pcCapAlong(const pcFrame* f, int side, v3 n, pcFeature* out);

/* The farthest point of body 1 along n (side 0) or of body 2 along -n (side 1), in the frame. */
PC_INLINE pcTip pcFrameTip(const pcFrame* f, int side, v3 n)
{
    if (side == 0) return pcTipOf(f->shape1, n);
    pcTip tip = pcTipOf(f->shape2, v3Neg(m3TMul(&f->R, n)));
    tip.k = m3Mul(&f->R, tip.k);
    return tip;
}

PC_INLINE bool pcIsQuadric(const pcShape* s) { return s->kind == PC_SHAPE_SPHERE || s->kind == PC_SHAPE_ELLIPSOID; }
PC_INLINE const pcShape* pcFrameShape(const pcFrame* f, int side) { return side == 0 ? f->shape1 : f->shape2; }
PC_INLINE v3 pcFrameLocal(const pcFrame* f, int side, v3 a) { return side == 0 ? a : m3TMul(&f->R, a); }
PC_INLINE v3 pcFramePlaced(const pcFrame* f, int side, v3 a) { return side == 0 ? a : m3Mul(&f->R, a); }

/* The point of a bounded shape nearest to k, both about its centre in its own axes; false where no simple form is known (nearest.c). */
bool pcShapeNearest(const pcShape* s, v3 k, v3* out);

/* The point of body 1, scaled by t > 0 and about its centre, that lies farthest from o, and the direction from there (container.c). */
typedef struct pcFarthest {
    v3 k; /* of the body as it is */
    v3 u; /* unit, along t k - o */
    double distance;
} pcFarthest;
pcFarthest pcFarthestFrom(const pcShape* s, v3 o, double t);

#endif
