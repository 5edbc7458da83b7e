/*
 * Pairs for the benchmarks, and how their queries are timed.
 *
 * A pass takes the methods in turn, so that they share every longer disturbance. Each goes twice through all pairs, one query per pair,
 * and the second time counts: a query finds branch predictors and caches as the same method left them on other pairs, as in a program
 * that uses one method. (Taking turns on each pair would time how the methods evict each other's shapes; repeating one query at once,
 * a machine that has learnt it by heart.) The time of a pair is the mean of the middle half of its passes (the clock of some machines
 * steps by 10 ns), less what reading the clock costs. Median and p99 are over pairs: p99 tells of hard pairs, not of a busy machine.
 */
#ifndef PC_ADAPTERS_CLI_BENCH_PAIRS_H
#define PC_ADAPTERS_CLI_BENCH_PAIRS_H

#include "adapters/ccd/ccd.h"
#include "pcontact/metric.h"

enum { BENCH_METHODS = 4, BENCH_HULLS = 8, BENCH_EVENTS = 16 };

/* One pair with all that its queries read and write. Answers go to memory that is read later, so no query can be optimised away. */
typedef struct BenchPair {
    const pcShape* shape[2];
    pcCcdBody body[2]; /* also holds the poses */
    pcCcdSettings settings;
    pcPairCache cache;
    pcCcdHint hint;
    pcMetric metric;
    pcCcdContact contact;
    pcStatus status;
    pcCcdAnswer answer;
    const pcEventSettings* events;
    pcEvent* event;
    int eventCount;
    void* rival[2]; /* the same bodies as geoms of ODE, where it is compared */
    int rivalCount;
    double centre[2][3];      /* of the shapes, in their axes */
    double first[3];          /* world centre of body 1 */
    double direction[3];      /* from there to the centre of body 2 */
    double axis[3], drift[3]; /* of the warm sequence */
    double touch;             /* the distance of the centres at which r = 1 */
} BenchPair;

/* What the timing needs. The caller sets the first four and gives the memory. */
typedef struct BenchRig {
    int pairs, passes, batch; /* batch: identical queries between two readings of the clock */
    unsigned long long random;
    double clock;                  /* ns that reading it costs */
    BenchPair* pair;               /* room for `pairs` of them, */
    double* pass;                  /* for the passes of every method on each, */
    double* sample[BENCH_METHODS]; /* and for one time per pair and method */
} BenchRig;

typedef struct BenchStat {
    double median, p99;
} BenchStat;

/* Sorts its argument. */
BenchStat benchStat(double* sample, int count);

/* Random numbers: the same pairs for the same seed on every machine. */
double benchUniform(BenchRig* b);                  /* in (0, 1) */
void benchOnSphere(BenchRig* b, int n, double* x); /* a direction for n = 3, a rotation for n = 4 */

/* The queries that are timed. A warm one works on a copy of the pair's cache, so that each repetition finds it as the step before
 * left it. */
typedef void BenchQuery(BenchPair* pair);
BenchQuery benchMetricCold, benchMetricWarm, benchEventsCold, benchEventsWarm, benchMprCold, benchMprWarm, benchMprQuick, benchEpaCold;
void benchMetric(BenchPair* p, pcPairCache* cache);
void benchEvents(BenchPair* p, pcPairCache* cache);

double benchNow(void); /* ns */
void benchReadClock(BenchRig* b);

/* Times every method on the first `count` pairs; what it finds goes to the front of b->sample. */
void benchTimePairs(BenchRig* b, int count, int methods, BenchQuery* const* query);

typedef struct BenchBodies {
    int count;
    pcShape* shape[BENCH_HULLS];
    pcCcdShape* ccd[BENCH_HULLS];
    pcShapeInfo info[BENCH_HULLS];
} BenchBodies;

/* The hull of random points on the unit sphere: all of them are vertices. */
pcStatus benchMakeHull(BenchRig* b, int vertices, pcShape** out);

/* Such hulls, or random boxes for vertices = 0; 8 of them, fewer if large, so that a pass does not time the memory instead. */
pcStatus benchMakeBodies(BenchRig* b, int vertices, BenchBodies* out);
void benchFreeBodies(BenchBodies* bodies);

/* Two of the bodies, randomly turned, centre from centre in a random direction, which benchPlaceAtRatio then keeps. */
pcStatus benchMakePair(BenchRig* b, const BenchBodies* bodies, BenchPair* p);
void benchPlaceAtRatio(BenchPair* p, double ratio);

void benchTurn(const double q[4], const double v[3], double out[3]); /* q v q* for a unit quaternion */

#endif
