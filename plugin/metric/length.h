/* Euclidean distance of two bodies in the frame of the ratio metric (length.c). */
#ifndef PC_METRIC_LENGTH_H
#define PC_METRIC_LENGTH_H

#include "metric/round.h"

typedef struct pcLengthAnswer {
    v3 n;                /* unit, from body 1 to body 2 */
    double s;            /* signed distance */
    v3 p1, p2;           /* closest points, or those that lie deepest in the other body along n, about their own centres */
    double lower, upper; /* of bodies apart; overlapping, the depth is at most -lower */
} pcLengthAnswer;

/* A point of W = K1 - K2, as seen from c, and what it is made of. */
typedef struct pcExitPoint {
    v3 w, k1, k2;
    int vertex[2];
} pcExitPoint;

/* Where a ray leaves W: the triangle that it leads through, and the plane beside it that bounds W (depth.c). */
typedef struct pcExit {
    v3 n; /* unit */
    double depth;
    pcExitPoint corner[3];
    double weight[3];
} pcExit;

/* The ray from c along the unit d, of bodies that overlap; the triangle lies at most `closeness` below its plane. False if d itself is the normal
 * where it leaves, to rounding. */
bool pcFrameExit(const pcFrame* f, v3 d, double closeness, pcExit* out);

/* From the ratio's answer: the distance, or the least depth that rays from the ratio's normal lead to. False if only that normal itself could be
 * used, of bodies apart. Both bodies are bounded. */
bool pcFrameLength(const pcFrame* f, const pcFrameMetric* m, pcLengthAnswer* out);

#endif
