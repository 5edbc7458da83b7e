/*
 * A judge of pcMetricPair that shares nothing with it.
 *
 * The true ratio r of a pair is enclosed between a primal and a dual bound, both evaluated in quadruple precision from public data
 * only: the vertices of pcShapeVertices (these doubles are the body), the centre, the poses. The primal bound is a common point of the two
 * scaled bodies, given by non-negative weights; the dual bound is a direction, checked against every vertex. Whatever found them, the two
 * bounds prove each other, so a hint can make the judge faster but never wrong.
 */
#ifndef PC_UNIT_CERTIFICATE_H
#define PC_UNIT_CERTIFICATE_H

#include <float.h>
#include <stdbool.h>

#include "pcontact/metric.h"

#if LDBL_MANT_DIG == 113
typedef long double pcQuad;
#else
__extension__ typedef __float128 pcQuad;
#endif

/* What pcMetricPair is asked. `plane` is the a b c d that a half-space of the pair was made from: a shape does not tell it. */
typedef struct pcScene {
    const pcShape* shape[2];
    pcPose pose[2];
    unsigned flags;
    const double* plane;
} pcScene;

typedef struct pcRatioCertificate {
    pcQuad lower, upper; /* proven: lower <= r <= upper, rounding included */
    double r;            /* the middle, rounded */
    double centres;      /* |x2 - x1|, a length; 0 means that no r exists */
    int pivots;
    bool ok;     /* the two bounds agree to PC_CERTIFIED, relative */
    bool border; /* one-sided, and the moving centre lies on the surface of the fixed body to rounding: either form is right */
} pcRatioCertificate;

/* A tenth of what the library promises (1e-13): below it, r counts as known. Most certificates are good to 1e-25; what comes near this
 * are one-sided pairs of thin bodies whose moving centre is about to reach the surface. */
#define PC_CERTIFIED 1e-14

/* `hintOrNull`: a direction from body 1 to body 2 that may be the optimal one. False if the pair has no polyhedron to certify or the
 * bounds do not close. */
bool pcRatioCertify(const pcScene* scene, const double* hintOrNull, pcRatioCertificate* out);

/* |r - true r| / |true r|, 0 inside the certified interval. Infinite for NaN. */
double pcRatioError(const pcRatioCertificate* certificate, double r);

/* What the judge thinks of one answer. The last three are measured in units of what rounding `normal` to doubles can cost
 * (derived in certificate.c): at most 1 is right. */
typedef struct pcVerdict {
    pcRatioCertificate certificate;
    double error;       /* relative, of r */
    bool boundsHold;    /* lower <= true r <= upper, and lower <= r <= upper */
    double boundsWidth; /* relative */
    double unit;        /* of | |normal| - 1 | */
    double dual;        /* the ratio that `normal` proves falls short of r */
    double gap;         /* `gap` against the distance of the two supporting planes across `normal` */
    double preimages;   /* point_i against x_i + (point - x_i) / r */
} pcVerdict;

/* False if the scene could not be certified. */
bool pcJudge(const pcScene* scene, const pcMetric* answer, pcVerdict* out);

#endif
