/*
 * pcontact bench metric: our metric and libccd on the same pairs in the same run.
 *
 * What is fair. libccd gets the supports of adapters/ccd (box by signs, small hulls by scan, others by hill climbing), its own default
 * tolerance of 1e-4, and in the warm scene the vertices where its last query ended, although it has no warm start of its own. Ours finds
 * r to full precision. libccd's penetration calls do their whole work only where bodies penetrate, so that every ratio is against
 * libccd at r = 0.99; ours is also timed at r = 1.01.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/cli/bench_pairs.h"
#include "adapters/cli/bench_round.h"
#include "adapters/cli/cli.h"
#include "adapters/cli/options.h"
#include "pcontact/metric.h"

enum { SIZES = 7, WARM_STEPS = 10 };

typedef struct Size {
    int vertices;                  /* 0: boxes */
    double coldTarget, warmTarget; /* least ratio to libccd MPR; 0: none */
} Size;

static const Size sizes[SIZES] = {{0, 10, 8}, {8, 1.6, 8}, {32, 2.2, 8}, {128, 2.2, 8}, {512, 2.8, 8}, {2048, 4.5, 8}, {8192, 6, 0}};

static const double slopeTarget = 0.30;    /* of log time against log vertices, cold */
static const double setupTarget = 100e6;   /* ns, 8192 vertices */
static const double eventsTarget = 1000.0; /* ns, box on box, after the metric */

typedef struct Bench {
    FILE* csv;
    BenchRig rig;
    int compared, disagreed; /* our sign against libccd's, our batches against our single queries */
    int belowTarget;
    double boxMpr; /* median, for the ratio of the batched boxes */
    double sizeLog[SIZES], timeLog[2][SIZES];
    int slopePoints;
} Bench;

static double slopeOf(const double* x, const double* y, int count)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < count; i++) {
        sx += x[i];
        sy += y[i];
        sxx += x[i] * x[i];
        sxy += x[i] * y[i];
    }
    return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

/* ---- output ---- */

static void csvRow(Bench* b, const char* scene, const char* method, int vertices, BenchStat s, double ratio, double target)
{
    if (!b->csv) return;
    fprintf(b->csv, "%s,%s,%d,%.1f,%.1f,", scene, method, vertices, s.median, s.p99);
    if (ratio > 0) fprintf(b->csv, "%.3f", ratio);
    fputc(',', b->csv);
    if (target > 0) fprintf(b->csv, "%.3g", target);
    fputc('\n', b->csv);
}

/* "" where there is no target or it is met; a NaN does not meet it. */
static const char* markOf(Bench* b, int hasTarget, int met)
{
    if (!hasTarget || met) return "";
    b->belowTarget++;
    return "  below target";
}

static const char* sizeName(const Size* size, char text[16])
{
    if (size->vertices == 0) return "box";
    snprintf(text, 16, "%d", size->vertices);
    return text;
}

static int failure(const char* what, pcStatus status)
{
    fprintf(stderr, "pcontact: bench metric: %s failed: %s.\n", what, *pcLastError() ? pcLastError() : pcStatusText(status));
    return PC_CLI_CHECK_FAILED;
}

/* ---- cold and warm queries against libccd ---- */

static void compareSigns(Bench* b, BenchPair* pair)
{
    benchMetricCold(pair);
    pcCcdAnswer expected = pair->status == PC_OK && pair->metric.r < 1 ? PC_CCD_PENETRATING : PC_CCD_APART;
    benchMprCold(pair);
    b->disagreed += pair->answer != expected;
    benchEpaCold(pair);
    b->disagreed += pair->answer != expected;
    b->compared += 2;
}

typedef struct Cold {
    BenchStat inside, outside, mpr, epa, quick; /* ours at r = 0.99 and 1.01; libccd at 0.99; `quick`: MPR by signs or a scan */
} Cold;

static void placeAll(Bench* b, double ratio)
{
    for (int i = 0; i < b->rig.pairs; i++) benchPlaceAtRatio(&b->rig.pair[i], ratio);
    for (int i = 0; i < b->rig.pairs; i++) compareSigns(b, &b->rig.pair[i]);
}

static void measureCold(Bench* b, Cold* out)
{
    static BenchQuery* const method[4] = {benchMetricCold, benchMprCold, benchEpaCold, benchMprQuick};
    placeAll(b, 1.01);
    benchTimePairs(&b->rig, b->rig.pairs, 4, method); /* libccd only so that ours finds the same machine as below */
    out->outside = benchStat(b->rig.sample[0], b->rig.pairs);
    placeAll(b, 0.99);
    benchTimePairs(&b->rig, b->rig.pairs, 4, method);
    out->inside = benchStat(b->rig.sample[0], b->rig.pairs);
    out->mpr = benchStat(b->rig.sample[1], b->rig.pairs);
    out->epa = benchStat(b->rig.sample[2], b->rig.pairs);
    out->quick = benchStat(b->rig.sample[3], b->rig.pairs);
}

static void reportCold(Bench* b, const Size* size, const Cold* c)
{
    char name[16];
    int vertices = size->vertices ? size->vertices : 8;
    const char* scene[2] = {size->vertices ? "hull cold r=0.99" : "box cold r=0.99",
                            size->vertices ? "hull cold r=1.01" : "box cold r=1.01"};
    double ratio = c->mpr.median / c->inside.median, outsideRatio = c->mpr.median / c->outside.median;
    printf("%8s %8.0f %8.0f %8.0f %8.0f %8.0f %8.0f %8.0f %8.0f %8.0f %8.1f %8.1f %7.1f%s\n", sizeName(size, name), c->inside.median,
           c->inside.p99, c->outside.median, c->outside.p99, c->mpr.median, c->mpr.p99, c->quick.median, c->epa.median, c->epa.p99,
           c->epa.median / c->inside.median, ratio, size->coldTarget, markOf(b, 1, ratio >= size->coldTarget));
    csvRow(b, scene[0], "pcontact", vertices, c->inside, ratio, size->coldTarget);
    csvRow(b, scene[1], "pcontact", vertices, c->outside, outsideRatio, size->coldTarget);
    csvRow(b, scene[0], "libccd MPR", vertices, c->mpr, 1, 0);
    csvRow(b, scene[0], "libccd MPR, signs or scan", vertices, c->quick, c->mpr.median / c->quick.median, 0);
    csvRow(b, scene[0], "libccd GJK+EPA", vertices, c->epa, c->mpr.median / c->epa.median, 0);
}

static void noteForSlope(Bench* b, const Size* size, const Cold* c)
{
    if (size->vertices == 0) {
        b->boxMpr = c->mpr.median;
        return;
    }
    b->sizeLog[b->slopePoints] = log(size->vertices);
    b->timeLog[0][b->slopePoints] = log(c->inside.median);
    b->timeLog[1][b->slopePoints] = log(c->outside.median);
    b->slopePoints++;
}

/* Turns body 2 by half a degree about its axis and moves it by 1e-3 along its drift. */
static void stepPose(BenchPair* pair)
{
    pcPose* pose = &pair->body[1].pose;
    const double* axis = pair->axis;
    const double half = 0.25 * 3.14159265358979323846 / 180;
    double a[4] = {cos(half), sin(half) * axis[0], sin(half) * axis[1], sin(half) * axis[2]};
    double q[4];
    memcpy(q, pose->quaternion, sizeof q);
    pose->quaternion[0] = a[0] * q[0] - a[1] * q[1] - a[2] * q[2] - a[3] * q[3];
    pose->quaternion[1] = a[0] * q[1] + a[1] * q[0] + a[2] * q[3] - a[3] * q[2];
    pose->quaternion[2] = a[0] * q[2] - a[1] * q[3] + a[2] * q[0] + a[3] * q[1];
    pose->quaternion[3] = a[0] * q[3] + a[1] * q[2] - a[2] * q[1] + a[3] * q[0];
    for (int k = 0; k < 3; k++) pose->position[k] += 1e-3 * pair->drift[k];
}

/* Within 1e-3 of r = 1 libccd's tolerance may decide its sign: those steps are not compared. */
static void compareWarm(Bench* b, const BenchPair* pair)
{
    if (fabs(pair->metric.r - 1) < 1e-3) return;
    b->disagreed += (pair->answer == PC_CCD_PENETRATING) != (pair->metric.r < 1);
    b->compared++;
}

/* Remembers where each method ended on this pair. */
static void moveOn(BenchPair* pair)
{
    benchMetric(pair, &pair->cache);
    pair->answer = pcCcdMpr(&pair->body[0], &pair->body[1], &pair->settings, &pair->hint, &pair->contact);
}

/* All pairs turn and move together, as in a simulation, and each keeps its own direction. Every step is timed with the caches that the
 * step before left. libccd's time counts where it found the bodies penetrating: elsewhere its call stops early. */
static void measureWarm(Bench* b, BenchStat* ours, BenchStat* mpr)
{
    static BenchQuery* const method[2] = {benchMetricWarm, benchMprWarm};
    int count = b->rig.pairs / WARM_STEPS, ourCount = 0, mprCount = 0;
    double *oursAll = b->rig.sample[2], *mprAll = b->rig.sample[3];
    for (int i = 0; i < count; i++) {
        benchOnSphere(&b->rig, 3, b->rig.pair[i].axis);
        benchOnSphere(&b->rig, 3, b->rig.pair[i].drift);
        moveOn(&b->rig.pair[i]);
    }
    for (int step = 0; step < WARM_STEPS; step++) {
        for (int i = 0; i < count; i++) stepPose(&b->rig.pair[i]);
        benchTimePairs(&b->rig, count, 2, method);
        for (int i = 0; i < count; i++) {
            compareWarm(b, &b->rig.pair[i]);
            oursAll[ourCount++] = b->rig.sample[0][i];
            if (b->rig.pair[i].answer == PC_CCD_PENETRATING) mprAll[mprCount++] = b->rig.sample[1][i];
            moveOn(&b->rig.pair[i]);
        }
    }
    *ours = benchStat(oursAll, ourCount);
    *mpr = benchStat(mprAll, mprCount);
}

static void reportWarm(Bench* b, const Size* size, BenchStat ours, BenchStat mpr)
{
    char name[16], target[16] = "-";
    int vertices = size->vertices ? size->vertices : 8;
    const char* scene = size->vertices ? "hull warm" : "box warm";
    double ratio = mpr.median / ours.median;
    if (size->warmTarget > 0) snprintf(target, sizeof target, "%.1f", size->warmTarget);
    printf("%8s %8.0f %8.0f %8.0f %8.0f %8.1f %7s%s\n", sizeName(size, name), ours.median, ours.p99, mpr.median, mpr.p99, ratio, target,
           markOf(b, size->warmTarget > 0, ratio >= size->warmTarget));
    csvRow(b, scene, "pcontact", vertices, ours, ratio, size->warmTarget);
    csvRow(b, scene, "libccd MPR", vertices, mpr, 1, 0);
}

/* ---- sizes, setup, batches, events ---- */

/* The failure of any query, or PC_OK. */
static pcStatus anyFailure(const Bench* b)
{
    for (int i = 0; i < b->rig.pairs; i++)
        if (b->rig.pair[i].status != PC_OK) return b->rig.pair[i].status;
    return PC_OK;
}

static pcStatus measureSize(Bench* b, const Size* size, Cold* cold, BenchStat warm[2])
{
    BenchBodies bodies = {0};
    pcStatus status = benchMakeBodies(&b->rig, size->vertices, &bodies);
    for (int i = 0; i < b->rig.pairs && status == PC_OK; i++) status = benchMakePair(&b->rig, &bodies, &b->rig.pair[i]);
    if (status == PC_OK) {
        measureCold(b, cold);
        measureWarm(b, &warm[0], &warm[1]);
        status = anyFailure(b);
    }
    benchFreeBodies(&bodies);
    return status;
}

static int sizesScene(Bench* b)
{
    BenchStat warm[SIZES][2];
    printf("Cold: no cache. Ratios are libccd / pcontact at r = 0.99. Times in ns.\n");
    printf("libccd's supports climb; MPR* answers by signs for boxes and by a scan up to 40 vertices.\n");
    printf("%8s %17s %17s %17s %8s %17s %17s\n", "", "pcontact r=0.99", "pcontact r=1.01", "libccd MPR", "MPR*", "libccd GJK+EPA",
           "ratio to");
    printf("%8s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s %7s\n", "vertices", "median", "p99", "median", "p99", "median", "p99", "median",
           "median", "p99", "EPA", "MPR", "target");
    for (int i = 0; i < SIZES; i++) {
        Cold cold = {0};
        pcStatus status = measureSize(b, &sizes[i], &cold, warm[i]);
        if (status != PC_OK) return failure("a query", status);
        reportCold(b, &sizes[i], &cold);
        noteForSlope(b, &sizes[i], &cold);
        fflush(stdout);
    }
    printf("\nWarm: 0.5 degrees and 1e-3 per step, with a pair cache.\n%8s %17s %17s\n", "", "pcontact", "libccd MPR");
    printf("%8s %8s %8s %8s %8s %8s %7s\n", "vertices", "median", "p99", "median", "p99", "ratio", "target");
    for (int i = 0; i < SIZES; i++) reportWarm(b, &sizes[i], warm[i][0], warm[i][1]);
    return 0;
}

static void slopeScene(Bench* b)
{
    static const char* const name[2] = {"0.99", "1.01"};
    printf("\n");
    for (int i = 0; i < 2; i++) {
        double slope = slopeOf(b->sizeLog, b->timeLog[i], b->slopePoints);
        printf("slope of log time against log vertices, cold, r = %s: %.3f (target at most %.2f)%s\n", name[i], slope, slopeTarget,
               markOf(b, 1, slope <= slopeTarget));
    }
}

static int setupScene(Bench* b)
{
    enum { VERTICES = 8192, RUNS = 5 };
    double sample[RUNS];
    for (int i = 0; i < RUNS; i++) {
        pcShape* shape = NULL;
        double start = benchNow();
        pcStatus status = benchMakeHull(&b->rig, VERTICES, &shape);
        sample[i] = benchNow() - start;
        pcShapeFree(shape);
        if (status != PC_OK) return failure("setup of a shape", status);
    }
    BenchStat s = benchStat(sample, RUNS);
    printf("setup of a hull of %d random points: %.1f ms (target below %.0f)%s\n", VERTICES, s.median * 1e-6, setupTarget * 1e-6,
           markOf(b, 1, s.median < setupTarget));
    csvRow(b, "setup", "pcontact", VERTICES, s, 0, setupTarget);
    return 0;
}

enum { BATCH = 1024 };

/* Box pairs as pcMetricBoxPairs reads them. */
typedef struct BoxBatch {
    double size[2][3 * BATCH];
    pcPose pose[2][BATCH];
    double single[BATCH], r[BATCH];
} BoxBatch;

static pcStatus fillBatch(Bench* b, BoxBatch* batch)
{
    BenchBodies bodies = {0};
    pcStatus status = benchMakeBodies(&b->rig, 0, &bodies);
    for (int i = 0; i < BATCH && status == PC_OK; i++) {
        BenchPair pair;
        status = benchMakePair(&b->rig, &bodies, &pair);
        if (status != PC_OK) break;
        benchPlaceAtRatio(&pair, i % 2 ? 0.99 : 1.01);
        benchMetricCold(&pair);
        batch->single[i] = pair.metric.r;
        for (int side = 0; side < 2; side++) {
            const double* vertex = pcShapeVertices(pair.shape[side], &(int){0});
            for (int k = 0; k < 3; k++) batch->size[side][3 * i + k] = 2 * fabs(vertex[k]);
            batch->pose[side][i] = pair.body[side].pose;
        }
    }
    benchFreeBodies(&bodies);
    return status;
}

static pcStatus timeBatch(Bench* b, BoxBatch* batch, BenchStat* out)
{
    enum { RUNS = 101 };
    double sample[RUNS];
    for (int i = 0; i < RUNS; i++) {
        double start = benchNow();
        pcStatus status = pcMetricBoxPairs(BATCH, batch->size[0], batch->pose[0], batch->size[1], batch->pose[1], batch->r);
        sample[i] = (benchNow() - start) / BATCH;
        if (status != PC_OK) return status;
    }
    for (int i = 0; i < BATCH; i++) b->disagreed += !(fabs(batch->r[i] - batch->single[i]) <= 1e-12 * batch->single[i]);
    b->compared += BATCH;
    *out = benchStat(sample, RUNS);
    return PC_OK;
}

static int batchScene(Bench* b)
{
    BenchStat s;
    BoxBatch* batch = malloc(sizeof *batch);
    pcStatus status = batch ? fillBatch(b, batch) : PC_ERROR_MEMORY;
    if (status == PC_OK) status = timeBatch(b, batch, &s);
    free(batch);
    if (status != PC_OK) return failure("the batch of box pairs", status);
    printf("box pairs in batches: %.1f ns per pair, %.1f times libccd MPR\n", s.median, b->boxMpr / s.median);
    csvRow(b, "box batch", "pcontact", 8, s, b->boxMpr / s.median, 0);
    return 0;
}

/* Two unit cubes face on face, 1e-3 deep, the whole turned at random. Aligned and shifted they overlap in a rectangle: 4 events;
 * turned against each other about the common normal, in an octagon: 8 events. */
static void placeFaceOnFace(Bench* b, BenchPair* p, int expected)
{
    double whole[4], angle = expected == 8 ? 0.5 + 0.5 * benchUniform(&b->rig) : 0;
    double shift[3] = {expected == 8 ? 0 : 0.3, expected == 8 ? 0 : 0.2, 0.999};
    double spin[4] = {cos(angle / 2), 0, 0, sin(angle / 2)};
    benchOnSphere(&b->rig, 4, whole);
    p->body[0].pose = (pcPose){.quaternion = {whole[0], whole[1], whole[2], whole[3]}};
    benchTurn(whole, shift, p->body[1].pose.position);
    double* q = p->body[1].pose.quaternion;
    q[0] = whole[0] * spin[0] - whole[3] * spin[3];
    q[1] = whole[1] * spin[0] + whole[2] * spin[3];
    q[2] = whole[2] * spin[0] - whole[1] * spin[3];
    q[3] = whole[3] * spin[0] + whole[0] * spin[3];
}

static void reportEvents(Bench* b, int expected, const char* name, double* after)
{
    char scene[32];
    BenchStat s = benchStat(after, b->rig.pairs);
    snprintf(scene, sizeof scene, "events %d %s", expected, name);
    printf("box on box, %d events, %s: %.0f ns after the metric, p99 %.0f (target at most %.0f)%s\n", expected, name, s.median, s.p99,
           eventsTarget, markOf(b, 1, s.median <= eventsTarget));
    csvRow(b, scene, "pcontact", 8, s, 0, eventsTarget);
}

/* Time of the events minus time of the metric alone, cold and warm, over many turned copies of the scene. */
static int eventsOf(Bench* b, const pcShape* cube, int expected)
{
    static BenchQuery* const method[BENCH_METHODS] = {benchMetricCold, benchEventsCold, benchMetricWarm, benchEventsWarm};
    pcEvent event[BENCH_EVENTS];
    pcEventSettings settings = pcDefaultEventSettings();
    settings.margin = 0.01;
    int odd = 0;
    for (int i = 0; i < b->rig.pairs; i++) {
        b->rig.pair[i] = (BenchPair){.shape = {cube, cube}, .events = &settings, .event = event};
        placeFaceOnFace(b, &b->rig.pair[i], expected);
        benchEvents(&b->rig.pair[i], &b->rig.pair[i].cache);
        odd += b->rig.pair[i].eventCount != expected;
    }
    benchTimePairs(&b->rig, b->rig.pairs, BENCH_METHODS, method);
    if (anyFailure(b) != PC_OK) return failure("the events of a pair", anyFailure(b));
    for (int i = 0; i < b->rig.pairs; i++)
        for (int m = 0; m < 2; m++) b->rig.sample[m][i] = b->rig.sample[2 * m + 1][i] - b->rig.sample[2 * m][i];
    reportEvents(b, expected, "cold", b->rig.sample[0]);
    reportEvents(b, expected, "warm", b->rig.sample[1]);
    if (odd) printf("  %d of %d such pairs gave another number of events\n", odd, b->rig.pairs);
    return PC_CLI_OK;
}

static int eventsScene(Bench* b)
{
    const double unit[3] = {1, 1, 1};
    pcShape* cube = NULL;
    pcStatus status = pcShapeBox(unit, &cube);
    if (status != PC_OK) return failure("a box", status);
    int result = eventsOf(b, cube, 4);
    if (result == PC_CLI_OK) result = eventsOf(b, cube, 8);
    pcShapeFree(cube);
    return result;
}

static int roundScene(Bench* b)
{
    pcStatus status = benchRound(&b->rig, b->csv, &b->belowTarget);
    return status == PC_OK ? PC_CLI_OK : failure("a query of round bodies", status);
}

/* ---- the command ---- */

typedef struct Options {
    const char* csv;
    int seed, batch, quick, help;
} Options;

static const char help[] =
    "Usage: pcontact bench metric [--quick] [--seed N] [--batch N] [--csv FILE]\n\n"
    "Times the ratio metric and libccd (MPR and GJK+EPA) on the same pairs; round bodies also against ODE's colliders.\n"
    "  --quick      fewer pairs and passes\n"
    "  --seed N     other pairs (default 1)\n"
    "  --batch N    N identical queries between two readings of the clock (default 1)\n"
    "  --csv FILE   also write scene,method,vertices,median_ns,p99_ns,ratio_to_mpr,target\n";

static int parseNumber(const char* name, const char* text, int* out)
{
    char* end = NULL;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || number < 1 || number > 1000000)
        return pcCliBadInput("%s must be a whole number from 1 to 1000000, not '%s'", name, text);
    *out = (int)number;
    return PC_CLI_OK;
}

static int parseValue(const char* name, const char* valueOrNull, Options* out)
{
    int* number = strcmp(name, "--seed") == 0 ? &out->seed : strcmp(name, "--batch") == 0 ? &out->batch : NULL;
    if (!number && strcmp(name, "--csv") != 0)
        return pcCliBadInput("there is no option '%s'; 'pcontact bench metric --help' lists them", name);
    if (!valueOrNull) return pcCliBadInput("%s needs a value", name);
    if (number) return parseNumber(name, valueOrNull, number);
    out->csv = valueOrNull;
    return PC_CLI_OK;
}

static int parse(int argc, char** argv, Options* out)
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            out->quick = 1;
        else if (pcCliIsHelp(argv[i]))
            out->help = 1;
        else {
            int code = parseValue(argv[i], i + 1 < argc ? argv[i + 1] : NULL, out);
            if (code != PC_CLI_OK) return code;
            i++;
        }
    }
    return PC_CLI_OK;
}

static int runAll(Bench* b)
{
    benchReadClock(&b->rig);
    int code = sizesScene(b);
    if (code == PC_CLI_OK) slopeScene(b);
    if (code == PC_CLI_OK) code = setupScene(b);
    if (code == PC_CLI_OK) code = batchScene(b);
    if (code == PC_CLI_OK) code = eventsScene(b);
    if (code == PC_CLI_OK) code = roundScene(b);
    if (code == PC_CLI_OK)
        printf("\n%d of %d comparisons with libccd or between our own paths disagree; %d figures below target\n", b->disagreed, b->compared,
               b->belowTarget);
    return code == PC_CLI_OK && b->disagreed > 0 ? PC_CLI_CHECK_FAILED : code; /* a slow machine is no failure, a wrong answer is */
}

static int runWithMemory(Bench* b)
{
    size_t pairs = (size_t)b->rig.pairs, passes = (size_t)b->rig.passes;
    b->rig.pair = calloc(pairs, sizeof *b->rig.pair);
    b->rig.pass = malloc(BENCH_METHODS * pairs * passes * sizeof *b->rig.pass);
    double* sample = malloc(BENCH_METHODS * pairs * sizeof *sample);
    for (size_t m = 0; sample && m < BENCH_METHODS; m++) b->rig.sample[m] = sample + m * pairs;
    int code = b->rig.pair && b->rig.pass && sample ? runAll(b) : failure("setting up", PC_ERROR_MEMORY);
    free(sample);
    free(b->rig.pass);
    free(b->rig.pair);
    return code;
}

int pcCliBenchMetric(int argc, char** argv)
{
    Options options = {.seed = 1, .batch = 1};
    int code = parse(argc, argv, &options);
    if (code != PC_CLI_OK) return code;
    if (options.help) {
        fputs(help, stdout);
        return PC_CLI_OK;
    }
    Bench b = {.rig = {.pairs = options.quick ? 100 : 400,
                       .passes = options.quick ? 5 : 9,
                       .batch = options.batch,
                       .random = (unsigned long long)options.seed}};
    if (options.csv && !(b.csv = fopen(options.csv, "w"))) return pcCliBadInput("the file '%s' cannot be written", options.csv);
    if (b.csv) fputs("scene,method,vertices,median_ns,p99_ns,ratio_to_mpr,target\n", b.csv);
    code = runWithMemory(&b);
    return pcCliCloseFile(b.csv, options.csv, code);
}
