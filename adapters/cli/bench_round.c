/*
 * What is compared. Two spheres: our metric, our events (which is what a collider returns) and ODE's sphere collider. Two ellipsoids: our
 * metric, to rounding, and libccd's MPR at a tolerance of 1e-9, both penetrating (r = 0.99), cold and after a move of half a degree and
 * 1e-3. A cylinder on a box, lying or standing, 1e-3 deep: all our events, and ODE's collider for that pair with room for as many.
 */
#include "adapters/cli/bench_round.h"

#include <math.h>
#include <stdlib.h>

#ifdef PCONTACT_WITH_ODE
#include <ode/ode.h>
#endif

enum { BODIES = 8 };

static const double sphereTarget = 0.5, coldTarget = 2, coldNs = 2000, warmNs = 400, cylinderTarget = 1; /* ratios: theirs / ours */

typedef enum RoundScene { SPHERES, ELLIPSOIDS, CYLINDER_ON_BOX } RoundScene;

typedef struct Round {
    BenchRig* rig;
    FILE* csv;
    int* below;
    pcShape* shape[BODIES];
    pcCcdShape* ccd[BODIES];
    double size[BODIES][3];
    pcEventSettings settings;
    pcEvent event[BENCH_EVENTS];
} Round;

/* ---- ODE ---- */

#ifdef PCONTACT_WITH_ODE
static dGeomID geomOf(RoundScene scene, int which, const double size[3])
{
    if (scene == SPHERES) return dCreateSphere(NULL, size[0]);
    return which == 0 ? dCreateCylinder(NULL, size[0], size[1]) : dCreateBox(NULL, size[0], size[1], size[2]);
}

static void rivalBegin(void) { dInitODE2(0); }
static void rivalEnd(void) { dCloseODE(); }

static void giveRival(BenchPair* p, RoundScene scene, const double* size1, const double* size2)
{
    for (int i = 0; i < 2; i++) {
        const double *x = p->body[i].pose.position, *q = p->body[i].pose.quaternion;
        dGeomID geom = geomOf(scene, i, i == 0 ? size1 : size2);
        dQuaternion turn = {q[0], q[1], q[2], q[3]};
        dGeomSetPosition(geom, x[0], x[1], x[2]);
        dGeomSetQuaternion(geom, turn);
        p->rival[i] = geom;
    }
}

static void takeRival(BenchPair* p)
{
    for (int i = 0; i < 2; i++) {
        if (p->rival[i]) dGeomDestroy(p->rival[i]);
        p->rival[i] = NULL;
    }
}

static void rivalCold(BenchPair* p)
{
    dContactGeom contact[BENCH_EVENTS];
    p->rivalCount = dCollide(p->rival[0], p->rival[1], BENCH_EVENTS, contact, sizeof *contact);
}
#else
static void rivalBegin(void) {}
static void rivalEnd(void) {}
static void giveRival(BenchPair* p, RoundScene scene, const double* size1, const double* size2)
{
    (void)p, (void)scene, (void)size1, (void)size2;
}
static void takeRival(BenchPair* p) { (void)p; }
static void rivalCold(BenchPair* p) { p->rivalCount = 0; }
#endif

/* ---- pairs ---- */

static pcStatus makeBodies(Round* b, RoundScene scene)
{
    for (int i = 0; i < BODIES; i++) {
        double* a = b->size[i];
        for (int k = 0; k < 3; k++) a[k] = 0.5 + benchUniform(b->rig);
        pcStatus status = scene == SPHERES      ? pcShapeSphere(a[0], &b->shape[i])
                          : scene == ELLIPSOIDS ? pcShapeEllipsoid(a, &b->shape[i])
                          : i % 2 == 0          ? pcShapeCylinder(a[0], a[1], &b->shape[i])
                                                : (a[0] *= 4, a[1] *= 4, pcShapeBox(a, &b->shape[i]));
        if (status == PC_OK) status = pcCcdShapeCreate(b->shape[i], &b->ccd[i]);
        if (status != PC_OK) return status;
    }
    return PC_OK;
}

static void freeBodies(Round* b)
{
    for (int i = 0; i < b->rig->pairs; i++) takeRival(&b->rig->pair[i]);
    for (int i = 0; i < BODIES; i++) {
        pcCcdShapeFree(b->ccd[i]);
        pcShapeFree(b->shape[i]);
        b->ccd[i] = NULL, b->shape[i] = NULL;
    }
}

static void quaternionTimes(const double p[4], const double q[4], double out[4])
{
    out[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
    out[1] = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
    out[2] = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
    out[3] = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
}

/* Penetrating at r = 0.99 in a random direction. */
static pcStatus placeRandom(Round* b, BenchPair* p)
{
    double direction[3];
    for (int i = 0; i < 2; i++) benchOnSphere(b->rig, 4, p->body[i].pose.quaternion);
    benchOnSphere(b->rig, 3, direction);
    for (int k = 0; k < 3; k++) p->body[0].pose.position[k] = 0, p->body[1].pose.position[k] = direction[k];
    pcStatus status = pcMetricPair(p->shape[0], &p->body[0].pose, p->shape[1], &p->body[1].pose, 0, NULL, &p->metric);
    for (int k = 0; k < 3; k++) p->body[1].pose.position[k] *= 0.99 / p->metric.r;
    return status;
}

/* The cylinder on top of the box, 1e-3 deep, lying or standing, turned about the vertical; then the whole turned at random. */
static void placeOnBox(Round* b, BenchPair* p, const double* can, const double* box, int lies)
{
    double whole[4], angle = 3 * benchUniform(b->rig), spin[4] = {cos(angle), 0, 0, sin(angle)}, down[4] = {sqrt(0.5), sqrt(0.5), 0, 0},
                     q[4];
    double at[3] = {0.2 * benchUniform(b->rig), 0.2 * benchUniform(b->rig), 0.5 * box[2] + (lies ? can[0] : 0.5 * can[1]) - 1e-3};
    const double upright[4] = {1, 0, 0, 0};
    benchOnSphere(b->rig, 4, whole);
    quaternionTimes(spin, lies ? down : upright, q);
    quaternionTimes(whole, q, p->body[0].pose.quaternion);
    benchTurn(whole, at, p->body[0].pose.position);
    p->body[1].pose = (pcPose){.quaternion = {whole[0], whole[1], whole[2], whole[3]}};
}

static pcStatus makePairs(Round* b, RoundScene scene, int lies)
{
    for (int i = 0; i < b->rig->pairs; i++) {
        int first = (int)(benchUniform(b->rig) * (BODIES / 2)) * 2, second = (int)(benchUniform(b->rig) * (BODIES / 2)) * 2 + 1;
        BenchPair* p = &b->rig->pair[i];
        pcStatus status = PC_OK;
        *p = (BenchPair){
            .shape = {b->shape[first], b->shape[second]}, .settings = pcCcdDefaultSettings(), .events = &b->settings, .event = b->event};
        p->settings.mprTolerance = 1e-9;
        p->body[0].shape = b->ccd[first], p->body[1].shape = b->ccd[second];
        if (scene == CYLINDER_ON_BOX)
            placeOnBox(b, p, b->size[first], b->size[second], lies);
        else
            status = placeRandom(b, p);
        if (status != PC_OK) return status;
        if (scene != ELLIPSOIDS) giveRival(p, scene, b->size[first], b->size[second]);
    }
    return PC_OK;
}

/* Half a degree about a random axis and 1e-3 in a random direction, after the query that leaves the cache. */
static void moveOn(Round* b)
{
    for (int i = 0; i < b->rig->pairs; i++) {
        BenchPair* p = &b->rig->pair[i];
        pcPose* pose = &p->body[1].pose;
        double axis[3], way[3], half = 0.25 * 3.14159265358979323846 / 180, q[4];
        benchMetric(p, &p->cache);
        benchOnSphere(b->rig, 3, axis);
        benchOnSphere(b->rig, 3, way);
        double turn[4] = {cos(half), sin(half) * axis[0], sin(half) * axis[1], sin(half) * axis[2]};
        quaternionTimes(turn, pose->quaternion, q);
        for (int k = 0; k < 4; k++) pose->quaternion[k] = q[k];
        for (int k = 0; k < 3; k++) pose->position[k] += 1e-3 * way[k];
    }
}

static pcStatus anyFailure(const Round* b)
{
    for (int i = 0; i < b->rig->pairs; i++)
        if (b->rig->pair[i].status != PC_OK) return b->rig->pair[i].status;
    return PC_OK;
}

/* ---- rows ---- */

static BenchStat statOf(const Round* b, int method) { return benchStat(b->rig->sample[method], b->rig->pairs); }

static void csvRow(const Round* b, const char* scene, const char* method, BenchStat s, double ratio, double target)
{
    if (!b->csv) return;
    fprintf(b->csv, "%s,%s,0,%.1f,%.1f,%.3f,", scene, method, s.median, s.p99, ratio);
    if (target > 0) fprintf(b->csv, "%.3g", target);
    fputc('\n', b->csv);
}

static void report(Round* b, const char* scene, BenchStat ours, const char* rival, BenchStat theirs, double target, double most)
{
    double ratio = theirs.median / ours.median;
    int met = (!(target > 0) || ratio >= target) && (!(most > 0) || ours.median <= most);
    printf("%-34s %8.0f %8.0f %16s %8.0f %8.2f", scene, ours.median, ours.p99, rival, theirs.median, ratio);
    if (target > 0) printf("   target %.1f", target);
    if (most > 0) printf("   at most %.0f ns", most);
    printf("%s\n", met ? "" : "  below target");
    *b->below += !met;
    csvRow(b, scene, "pcontact", ours, ratio, target);
    csvRow(b, scene, rival, theirs, 1, 0);
}

static pcStatus spheres(Round* b)
{
    static BenchQuery* const method[3] = {benchMetricCold, benchEventsCold, rivalCold};
    pcStatus status = makePairs(b, SPHERES, 0);
    if (status != PC_OK) return status;
    benchTimePairs(b->rig, b->rig->pairs, 3, method);
    BenchStat metric = statOf(b, 0), events = statOf(b, 1), ode = statOf(b, 2);
    report(b, "sphere, sphere: metric", metric, "ODE dCollide", ode, sphereTarget, 0);
    report(b, "sphere, sphere: events", events, "ODE dCollide", ode, 0, 0);
    return anyFailure(b);
}

static pcStatus ellipsoids(Round* b)
{
    static BenchQuery* const cold[2] = {benchMetricCold, benchMprCold};
    static BenchQuery* const warm[2] = {benchMetricWarm, benchMprWarm};
    pcStatus status = makePairs(b, ELLIPSOIDS, 0);
    if (status != PC_OK) return status;
    benchTimePairs(b->rig, b->rig->pairs, 2, cold);
    BenchStat ours = statOf(b, 0), mpr = statOf(b, 1);
    report(b, "ellipsoid, ellipsoid: cold", ours, "libccd MPR 1e-9", mpr, coldTarget, coldNs);
    moveOn(b);
    benchTimePairs(b->rig, b->rig->pairs, 2, warm);
    ours = statOf(b, 0), mpr = statOf(b, 1);
    report(b, "ellipsoid, ellipsoid: warm", ours, "libccd MPR 1e-9", mpr, 0, warmNs);
    return anyFailure(b);
}

static pcStatus cylinderOnBox(Round* b, int lies)
{
    static BenchQuery* const method[3] = {benchEventsCold, benchEventsWarm, rivalCold};
    double ours = 0, theirs = 0;
    pcStatus status = makePairs(b, CYLINDER_ON_BOX, lies);
    if (status != PC_OK) return status;
    for (int i = 0; i < b->rig->pairs; i++) {
        BenchPair* p = &b->rig->pair[i];
        benchEvents(p, &p->cache);
        rivalCold(p);
        ours += p->eventCount, theirs += p->rivalCount;
    }
    benchTimePairs(b->rig, b->rig->pairs, 3, method);
    BenchStat cold = statOf(b, 0), warm = statOf(b, 1), ode = statOf(b, 2);
    report(b, lies ? "cylinder lying on box: events, cold" : "cylinder standing on box: cold", cold, "ODE dCollide", ode, cylinderTarget,
           0);
    report(b, lies ? "cylinder lying on box: events, warm" : "cylinder standing on box: warm", warm, "ODE dCollide", ode, cylinderTarget,
           0);
    printf("  contacts of a pair: %.1f ours, %.1f ODE's\n", ours / b->rig->pairs, theirs / b->rig->pairs);
    return anyFailure(b);
}

static pcStatus runScene(Round* b, RoundScene scene)
{
    pcStatus status = makeBodies(b, scene);
    if (status == PC_OK && scene == SPHERES) status = spheres(b);
    if (status == PC_OK && scene == ELLIPSOIDS) status = ellipsoids(b);
    for (int lies = 1; lies >= 0 && scene == CYLINDER_ON_BOX && status == PC_OK; lies--) {
        status = cylinderOnBox(b, lies);
        for (int i = 0; i < b->rig->pairs; i++) takeRival(&b->rig->pair[i]);
    }
    freeBodies(b);
    return status;
}

pcStatus benchRound(BenchRig* rig, FILE* csv, int* belowTarget)
{
    Round* b = calloc(1, sizeof *b);
    if (!b) return PC_ERROR_MEMORY;
    b->rig = rig, b->csv = csv, b->below = belowTarget, b->settings = pcDefaultEventSettings();
    b->settings.margin = 1e-3;
    printf("\nRound bodies. Ratios are theirs / ours. Times in ns.\n");
    printf("%-34s %8s %8s %16s %8s %8s\n", "", "median", "p99", "against", "median", "ratio");
    for (int i = 0; i < rig->pairs; i++) rig->pair[i] = (BenchPair){0};
    rivalBegin();
    pcStatus status = runScene(b, SPHERES);
    if (status == PC_OK) status = runScene(b, ELLIPSOIDS);
    if (status == PC_OK) status = runScene(b, CYLINDER_ON_BOX);
    rivalEnd();
    free(b);
    return status;
}
