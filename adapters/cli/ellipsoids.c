#define _POSIX_C_SOURCE 200809L

#include "adapters/cli/ellipsoids.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/status.h"

static const double DENSITY = 1000.0, PI = 3.14159265358979323846, APART = 1.05, CONTAINER = 2.0;

/* Between low and high, from a sequence that is the same on every machine. */
static double between(unsigned* seed, double low, double high)
{
    *seed = *seed * 1664525u + 1013904223u;
    return low + (high - low) * ((*seed >> 8) / 16777216.0);
}

static pcStatus addBody(pcEllipsoids* w, const double a[3], const double x[3], const double q[4])
{
    pcBody* b = w->body + w->count;
    double mass = 4.0 / 3.0 * PI * a[0] * a[1] * a[2] * DENSITY, size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    *b = (pcBody){.mass = mass};
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        b->pose.position[k] = x[k];
        b->inertia[4 * k] = 0.2 * mass * (a[i] * a[i] + a[j] * a[j]);
    }
    for (int k = 0; k < 4; k++) b->pose.quaternion[k] = q[k] / size;
    pcStatus status = pcShapeEllipsoid(a, w->owned + w->count);
    if (status != PC_OK) return status;
    w->shape[w->count] = (pcPlacedShape){.shape = w->owned[w->count], .body = w->count, .pose = {.quaternion = {1.0}}};
    w->count++;
    return PC_OK;
}

static pcStatus addGround(pcEllipsoids* w, pcStatus made)
{
    if (made == PC_OK) w->shape[w->count] = (pcPlacedShape){.shape = w->owned[w->count], .body = PC_WORLD, .pose = {.quaternion = {1.0}}};
    return made;
}

static pcStatus addFloor(pcEllipsoids* w)
{
    static const double floor[4] = {0.0, 0.0, 1.0, 0.0};
    return addGround(w, pcShapeHalfSpace(floor, w->owned + w->count));
}

/* ---- the worlds ---- */

static pcStatus makeLattice(pcEllipsoids* w, int count, unsigned seed)
{
    int side = 1;
    pcStatus status = PC_OK;
    while (side * side * side < count) side++;
    for (int n = 0; n < count && status == PC_OK; n++) {
        double a[3], x[3] = {APART * (n % side), APART * (n / side % side), 0.55 + APART * (n / (side * side))}, q[4];
        for (int k = 0; k < 3; k++) a[k] = between(&seed, 0.3, 0.5);
        for (int k = 0; k < 4; k++) q[k] = between(&seed, -1.0, 1.0);
        status = addBody(w, a, x, q);
        for (int k = 0; k < 6; k++) w->body[n].velocity[k] = between(&seed, -1.0, 1.0);
    }
    return status == PC_OK ? addFloor(w) : status;
}

/* From a turn about x, how far an ellipsoid reaches down. */
static double reachOf(const double a[3], double angle) { return hypot(a[2] * cos(angle), a[1] * sin(angle)); }

/* They touch the plane from the start, so that nothing but rolling, rocking and sliding happens. */
static pcStatus makeThree(pcEllipsoids* w)
{
    static const double a[3][3] = {{0.5, 0.4, 0.3}, {0.3, 0.45, 0.35}, {0.4, 0.3, 0.5}}, angle[3] = {0.3, -0.5, 0.8};
    pcStatus status = PC_OK;
    for (int i = 0; i < 3 && status == PC_OK; i++) {
        double x[3] = {3.0 * i, 0.2 * i, reachOf(a[i], angle[i])}, q[4] = {cos(0.5 * angle[i]), sin(0.5 * angle[i]), 0.0, 0.0};
        status = addBody(w, a[i], x, q);
        w->body[i].velocity[0] = 0.1 * (i + 1), w->body[i].velocity[4] = 0.2;
    }
    return status == PC_OK ? addFloor(w) : status;
}

/* With a long axis along the wall's meridian, touching it in one end of the short one. */
static pcStatus makeTwo(pcEllipsoids* w)
{
    static const double a[2][3] = {{0.5, 0.35, 0.3}, {0.35, 0.45, 0.3}}, angle[2] = {1.2, -1.35};
    pcStatus status = PC_OK;
    for (int i = 0; i < 2 && status == PC_OK; i++) {
        double far = CONTAINER - a[i][2]; /* of the centre from the middle, on the lower half */
        double x[3] = {far * sin(angle[i]), 0.0, -far * cos(angle[i])}, q[4] = {cos(-0.5 * angle[i]), 0.0, sin(-0.5 * angle[i]), 0.0};
        status = addBody(w, a[i], x, q);
        w->body[i].velocity[1] = 0.1 * (i + 1);
    }
    return status == PC_OK ? addGround(w, pcShapeContainer(CONTAINER, w->owned + w->count)) : status;
}

static pcStatus makeKind(pcEllipsoids* w, pcEllipsoidKind kind, int count, unsigned seed)
{
    switch (kind) {
    case PC_ELLIPSOIDS_THREE: return makeThree(w);
    case PC_ELLIPSOIDS_TWO: return makeTwo(w);
    case PC_ELLIPSOIDS_LATTICE: break;
    }
    if (count < 1 || count > PC_ELLIPSOIDS_MOST)
        return pcFail(PC_ERROR_ARGUMENT, "%d ellipsoids: 1 to %d are possible", count, PC_ELLIPSOIDS_MOST);
    return makeLattice(w, count, seed);
}

pcStatus pcEllipsoidsMake(pcEllipsoidKind kind, int count, unsigned seed, const char* settings, pcEllipsoids* w)
{
    memset(w, 0, sizeof *w);
    w->h = 0.01;
    w->settings = pcDefaultSettings();
    pcStatus status = pcSettingsParse(&w->settings, settings);
    if (status == PC_OK) status = makeKind(w, kind, count, seed);
    w->system =
        (pcSystem){.bodyCount = w->count, .bodies = w->body, .shapeCount = w->count + 1, .shapes = w->shape, .gravity = {0.0, 0.0, -9.81}};
    if (status == PC_OK) status = pcMemoryCreate(&w->system.memory);
    if (status != PC_OK) pcEllipsoidsFree(w);
    return status;
}

void pcEllipsoidsFree(pcEllipsoids* w)
{
    for (int i = 0; i <= w->count; i++) pcShapeFree(w->owned[i]);
    pcMemoryFree(w->system.memory);
    memset(w, 0, sizeof *w);
}

/* ---- steps ---- */

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void add(pcEllipsoids* w, const pcStepReport* r)
{
    w->steps++;
    w->collisions += r->contacts, w->unsolved += r->outcome != PC_SOLVED;
    w->iterations += r->iterations, w->products += r->products, w->restarts += r->restarts, w->fallbacks += r->fallbacks;
    w->penetration = fmax(w->penetration, r->penetration), w->residual = fmax(w->residual, r->residual);
}

pcStatus pcEllipsoidsStep(pcEllipsoids* w, int steps)
{
    double velocity[6 * PC_ELLIPSOIDS_MOST], start = milliseconds();
    pcPose pose[PC_ELLIPSOIDS_MOST];
    pcSystemResult result = {.velocity = velocity, .pose = pose};
    pcStatus status = PC_OK;
    for (int n = 0; n < steps && status == PC_OK; n++) {
        status = pcSystemStep(&w->system, &w->settings, w->h, &result);
        for (int i = 0; status == PC_OK && i < w->count; i++) {
            w->body[i].pose = pose[i];
            memcpy(w->body[i].velocity, velocity + 6 * i, sizeof w->body[i].velocity);
        }
        if (status == PC_OK) add(w, &result.report);
    }
    w->milliseconds += milliseconds() - start;
    return status;
}
