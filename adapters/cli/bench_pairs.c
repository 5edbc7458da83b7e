/* Pairs for the benchmarks, and how their queries are timed. */
#define _POSIX_C_SOURCE 200809L

#include "adapters/cli/bench_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- random numbers: splitmix64, Box and Muller ---- */

double benchUniform(BenchRig* b)
{
    unsigned long long z = (b->random += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double gauss(BenchRig* b)
{
    double radius = sqrt(-2 * log(benchUniform(b)));
    return radius * cos(6.283185307179586 * benchUniform(b));
}

void benchOnSphere(BenchRig* b, int n, double* x)
{
    double square = 0;
    for (int i = 0; i < n; i++) {
        x[i] = gauss(b);
        square += x[i] * x[i];
    }
    for (int i = 0; i < n; i++) x[i] /= sqrt(square);
}

/* ---- statistics ---- */

static int ascending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

BenchStat benchStat(double* sample, int count)
{
    if (count == 0) return (BenchStat){NAN, NAN};
    qsort(sample, (size_t)count, sizeof *sample, ascending);
    return (BenchStat){sample[count / 2], sample[(99 * (count - 1) + 50) / 100]};
}

/* Mean of the middle half. */
static double middleOf(double* sample, int count)
{
    double sum = 0;
    int from = count / 4, to = count - from;
    qsort(sample, (size_t)count, sizeof *sample, ascending);
    for (int i = from; i < to; i++) sum += sample[i];
    return sum / (to - from);
}

/* ---- timing ---- */

double benchNow(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* A failure stays, however often the pair is asked again: a call that failed must not pass for a fast one. */
static void note(BenchPair* p, pcStatus status)
{
    if (status != PC_OK) p->status = status;
}

void benchMetric(BenchPair* p, pcPairCache* cache)
{
    note(p, pcMetricPair(p->shape[0], &p->body[0].pose, p->shape[1], &p->body[1].pose, 0, cache, &p->metric));
}

void benchEvents(BenchPair* p, pcPairCache* cache)
{
    note(p, pcEventsOfPair(p->shape[0], &p->body[0].pose, p->shape[1], &p->body[1].pose, 0, p->events, cache, p->event, BENCH_EVENTS,
                           &p->eventCount));
}

void benchMetricCold(BenchPair* p) { benchMetric(p, NULL); }

void benchMetricWarm(BenchPair* p)
{
    pcPairCache cache = p->cache;
    benchMetric(p, &cache);
}

void benchEventsCold(BenchPair* p) { benchEvents(p, NULL); }

void benchEventsWarm(BenchPair* p)
{
    pcPairCache cache = p->cache;
    benchEvents(p, &cache);
}

void benchMprCold(BenchPair* p) { p->answer = pcCcdMpr(&p->body[0], &p->body[1], &p->settings, NULL, &p->contact); }

void benchMprQuick(BenchPair* p)
{
    pcCcdSettings quick = p->settings;
    quick.climbOnly = 0;
    p->answer = pcCcdMpr(&p->body[0], &p->body[1], &quick, NULL, &p->contact);
}

void benchMprWarm(BenchPair* p)
{
    pcCcdHint hint = p->hint;
    p->answer = pcCcdMpr(&p->body[0], &p->body[1], &p->settings, &hint, &p->contact);
}

void benchEpaCold(BenchPair* p) { p->answer = pcCcdDepth(&p->body[0], &p->body[1], &p->settings, NULL, &p->contact); }

static void nothing(BenchPair* p) { (void)p; }

static double timeOf(const BenchRig* b, BenchQuery* query, BenchPair* pair)
{
    double start = benchNow();
    for (int i = 0; i < b->batch; i++) query(pair);
    return (benchNow() - start - b->clock) / b->batch;
}

/* One method on all pairs: a lap that only brings its data back into the caches, then the timed one. */
static void timeLap(BenchRig* b, int count, BenchQuery* query, double* ns)
{
    for (int i = 0; i < count; i++) query(&b->pair[i]);
    for (int i = 0; i < count; i++) ns[i * b->passes] = timeOf(b, query, &b->pair[i]);
}

void benchTimePairs(BenchRig* b, int count, int methods, BenchQuery* const* query)
{
    for (int pass = 0; pass < b->passes; pass++)
        for (int m = 0; m < methods; m++) timeLap(b, count, query[m], b->pass + m * count * b->passes + pass);
    for (int m = 0; m < methods; m++)
        for (int i = 0; i < count; i++) b->sample[m][i] = middleOf(b->pass + (m * count + i) * b->passes, b->passes);
}

void benchReadClock(BenchRig* b)
{
    static BenchQuery* const method[1] = {nothing};
    b->clock = 0;
    benchTimePairs(b, b->pairs, 1, method);
    b->clock = b->batch * middleOf(b->sample[0], b->pairs);
}

/* ---- bodies and pairs ---- */

pcStatus benchMakeHull(BenchRig* b, int vertices, pcShape** out)
{
    double* xyz = malloc(3 * (size_t)vertices * sizeof *xyz);
    if (!xyz) return PC_ERROR_MEMORY;
    for (int i = 0; i < vertices; i++) benchOnSphere(b, 3, xyz + 3 * i);
    pcStatus status = pcShapeFromPoints(xyz, vertices, NULL, out);
    free(xyz);
    return status;
}

static pcStatus makeBox(BenchRig* b, pcShape** out)
{
    double size[3] = {0.5 + benchUniform(b), 0.5 + benchUniform(b), 0.5 + benchUniform(b)};
    return pcShapeBox(size, out);
}

/* At most 8192 vertices in all, but two bodies at least. */
static int bodiesOf(int vertices)
{
    int fitting = vertices ? 8192 / vertices : BENCH_HULLS;
    return fitting < 2 ? 2 : fitting < BENCH_HULLS ? fitting : BENCH_HULLS;
}

pcStatus benchMakeBodies(BenchRig* b, int vertices, BenchBodies* out)
{
    out->count = bodiesOf(vertices);
    for (int i = 0; i < out->count; i++) {
        pcStatus status = vertices ? benchMakeHull(b, vertices, &out->shape[i]) : makeBox(b, &out->shape[i]);
        if (status == PC_OK) status = pcCcdShapeCreate(out->shape[i], &out->ccd[i]);
        if (status == PC_OK) status = pcShapeDescribe(out->shape[i], &out->info[i]);
        if (status != PC_OK) return status;
        if (vertices && out->info[i].vertices != vertices) return PC_ERROR_INTERNAL;
    }
    return PC_OK;
}

void benchFreeBodies(BenchBodies* bodies)
{
    for (int i = 0; i < bodies->count; i++) {
        pcCcdShapeFree(bodies->ccd[i]);
        pcShapeFree(bodies->shape[i]);
    }
}

void benchTurn(const double q[4], const double v[3], double out[3])
{
    double t[3] = {2 * (q[2] * v[2] - q[3] * v[1]), 2 * (q[3] * v[0] - q[1] * v[2]), 2 * (q[1] * v[1] - q[2] * v[0])};
    out[0] = v[0] + q[0] * t[0] + q[2] * t[2] - q[3] * t[1];
    out[1] = v[1] + q[0] * t[1] + q[3] * t[0] - q[1] * t[2];
    out[2] = v[2] + q[0] * t[2] + q[1] * t[1] - q[2] * t[0];
}

static void putCentreAt(pcPose* pose, const double centre[3], const double at[3])
{
    double offset[3];
    benchTurn(pose->quaternion, centre, offset);
    for (int k = 0; k < 3; k++) pose->position[k] = at[k] - offset[k];
}

static void placeAtDistance(BenchPair* p, double distance)
{
    double second[3];
    for (int k = 0; k < 3; k++) second[k] = p->first[k] + distance * p->direction[k];
    putCentreAt(&p->body[1].pose, p->centre[1], second);
}

/* r is proportional to the distance of the centres, so one query says where every other r is. */
void benchPlaceAtRatio(BenchPair* p, double ratio) { placeAtDistance(p, ratio * p->touch); }

pcStatus benchMakePair(BenchRig* b, const BenchBodies* bodies, BenchPair* p)
{
    int count = bodies->count;
    int chosen[2] = {(int)(benchUniform(b) * count), 1 + (int)(benchUniform(b) * (count - 1))};
    chosen[1] = (chosen[0] + chosen[1]) % count;
    *p = (BenchPair){.settings = pcCcdDefaultSettings()};
    p->settings.climbOnly = 1;
    for (int side = 0; side < 2; side++) {
        p->shape[side] = bodies->shape[chosen[side]];
        p->body[side].shape = bodies->ccd[chosen[side]];
        memcpy(p->centre[side], bodies->info[chosen[side]].centre, sizeof p->centre[side]);
        benchOnSphere(b, 4, p->body[side].pose.quaternion);
    }
    benchOnSphere(b, 3, p->first);
    benchOnSphere(b, 3, p->direction);
    putCentreAt(&p->body[0].pose, p->centre[0], p->first);
    placeAtDistance(p, 2);
    benchMetricCold(p);
    p->touch = 2 / p->metric.r;
    return p->status;
}
