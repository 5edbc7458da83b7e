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

/* From the ratio's answer; false if only the ratio's own normal could be used. Both bodies are bounded. */
bool pcFrameLength(const pcFrame* f, const pcFrameMetric* m, pcLengthAnswer* out);

#endif
