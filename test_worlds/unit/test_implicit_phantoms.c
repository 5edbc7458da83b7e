/*
 * Phantom collisions: a body that passes an edge within a step and is beside it at the end. The linearised step takes the face over which it is
 * when the step begins for endless, and holds it up; the implicit step does not touch it. That nothing touches on the way is proven by distances
 * along it.
 */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "base/rotation.h"
#include "pcontact/metric.h"
#include "test_worlds/unit/clouds.h"
#include "test_worlds/unit/implicit_worlds.h"

static const double steps[] = {1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1};
enum { STEPS = sizeof steps / sizeof *steps };

static ImplicitWorld w; /* too large for the stack */

/* A plate of 0.5 x 0.5 x 0.02, and a block of 1 x 1 x 1 whose top is z = 0, with an edge at x = 0.5. No gravity. */
typedef struct Flight {
    double h;
    pcShape *plate, *block;
    pcPose start;
    double velocity[6];
} Flight;

static const pcPose under = {{0, 0, -0.5}, {1, 0, 0, 0}}, origin = {{0, 0, 0}, {1, 0, 0, 0}};
static const double plateSize[3] = {0.5, 0.5, 0.02}, blockSize[3] = {1, 1, 1};

static void beginFlights(Flight* f)
{
    *f = (Flight){.start = origin};
    PC_EXPECT_STATUS(PC_OK, pcShapeBox(plateSize, &f->plate));
    PC_EXPECT_STATUS(PC_OK, pcShapeBox(blockSize, &f->block));
}

static void endFlights(Flight* f) { pcShapeFree(f->plate), pcShapeFree(f->block); }

/* ---- the way ---- */

static double size3(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* a after b. */
static void turnAfter(const double a[4], const double b[4], double out[4])
{
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

static pcPose placeAt(const Flight* f, double time)
{
    const double *x = f->velocity, *s = f->velocity + 3;
    double spin = size3(s), half = 0.5 * spin * time, part = spin > 0.0 ? sin(half) / spin : 0.0;
    double turn[4] = {cos(half), part * s[0], part * s[1], part * s[2]};
    pcPose pose = f->start;
    for (int k = 0; k < 3; k++) pose.position[k] += time * x[k];
    turnAfter(turn, f->start.quaternion, pose.quaternion);
    return pose;
}

/* Whether it stays farther than `least` from the block all the way. No point of the plate is faster than `fastest`, so that at a distance d
 * nothing can touch for d / fastest: the next moment to look at. */
static bool isClear(const Flight* f, double least)
{
    const double farthest = 0.36; /* of its points from its centre */
    double fastest = size3(f->velocity) + farthest * size3(f->velocity + 3), time = 0.0;
    bool clear = true, done = false;
    while (clear && !done) {
        pcPose pose = placeAt(f, time);
        pcDistance d;
        if (pcEuclidPair(f->plate, &pose, f->block, &under, NULL, &d) != PC_OK) return false;
        clear = d.lower > least, done = time == f->h;
        time = fmin(f->h, time + d.lower / fastest);
    }
    return clear;
}

/* ---- the two steps ---- */

static void changeByLinear(const Flight* f, double change[6])
{
    pcBody body = {.pose = f->start, .mass = 1.0, .inertia = {0.02, 0, 0, 0, 0.02, 0, 0, 0, 0.02}};
    const pcPlacedShape shapes[] = {{.shape = f->plate, .body = 0, .pose = origin}, {.shape = f->block, .body = PC_WORLD, .pose = under}};
    pcSystem system = {.bodyCount = 1, .bodies = &body, .shapeCount = 2, .shapes = shapes};
    pcSettings settings = pcDefaultSettings();
    pcSystemResult result = {.velocity = change};
    memcpy(body.velocity, f->velocity, sizeof body.velocity);
    PC_EXPECT_STATUS(PC_OK, pcSystemStep(&system, &settings, f->h, &result));
    for (int k = 0; k < 6; k++) change[k] -= f->velocity[k];
}

static void changeByImplicit(const Flight* f, double change[6])
{
    pcForm *plate = NULL, *block = NULL;
    implicitWorldBegin(&w);
    PC_EXPECT_STATUS(PC_OK, pcFormOfShape(f->plate, &plate));
    PC_EXPECT_STATUS(PC_OK, pcFormOfShape(f->block, &block));
    w.h = f->h, w.system.gravity[2] = 0.0;
    int body = implicitBody(&w, implicitOwn(&w, plate), 1.0, 0.02);
    implicitFixed(&w, implicitOwn(&w, block), 0, 0, -0.5);
    w.body[body].pose = f->start;
    memcpy(w.body[body].velocity, f->velocity, sizeof f->velocity);
    PC_EXPECT_STATUS(PC_OK, implicitWorldStep(&w));
    PC_EXPECT_EQ_INT(0, w.result.report.step.fallbacks);
    PC_EXPECT_NEAR(0.0, w.result.report.coreImpulse, 0.0);
    PC_EXPECT_LE(w.result.report.penetration, 1e-9);
    for (int k = 0; k < 6; k++) change[k] = w.velocity[k] - f->velocity[k];
    implicitWorldEnd(&w);
}

static double size6(const double v[6]) { return hypot(size3(v), size3(v + 3)); }

/* ---- one plate ---- */

/* The rear lower edge of the plate is 1 cm inside the edge x = 0.5 of the block and 6 mm over it; within the step it goes out by 10 cm and
 * down by 5 cm, and so passes the edge 1 mm above. Once with that way in every step, once at 2 m/s and the way in proportion to the step. */
PC_TEST(ImplicitPhantoms, PlatePassingAnEdgeIsNotTouched)
{
    Flight f;
    beginFlights(&f);
    for (int i = 0; i < STEPS; i++)
        for (int scaled = 0; scaled < 2; scaled++) {
            double h = f.h = steps[i], way = scaled ? 20.0 * h : 1.0, change[6];
            PC_CASE("h=%g, way of %g cm", h, 10.0 * way);
            f.start.position[0] = 0.5 - 0.01 * way + 0.25, f.start.position[2] = 0.006 * way + 0.01;
            memcpy(f.velocity, (double[6]){0.1 * way / h, 0, -0.05 * way / h}, sizeof f.velocity);
            PC_EXPECT_TRUE(isClear(&f, 5e-4 * way));
            changeByLinear(&f, change); /* the phantom: its rear is held at 0, 6 mm below where it was, so that it tips */
            PC_EXPECT_GT(change[2], 0.1 * fabs(f.velocity[2]));
            PC_EXPECT_GT(fabs(change[4]), 0.5 * fabs(f.velocity[2]));
            changeByImplicit(&f, change);
            PC_EXPECT_LE(size6(change), 1e-13 * size6(f.velocity));
        }
    endFlights(&f);
}

/* ---- many plates ---- */

static v3 cornerOf(const pcPose* pose, int which)
{
    m3 R;
    m3FromQuaternion(v4Load(pose->quaternion), &R);
    v3 own = v3Make(which & 1 ? 0.25 : -0.25, which & 2 ? 0.25 : -0.25, which & 4 ? 0.01 : -0.01);
    return m3Mul(&R, own);
}

/* Turned and tilted by chance, its lowest corner over the block near the edge, moving out and down, and spinning a little. */
static void throwPlate(Flight* f, double h, pcRandom* random)
{
    double yaw = between(random, 0.0, PI), tilt = between(random, 0.0, 0.3), about = between(random, 0.0, 2.0 * PI);
    double turn[4] = {cos(yaw), 0, 0, sin(yaw)}, tip[4] = {cos(tilt), sin(tilt) * cos(about), sin(tilt) * sin(about), 0};
    f->h = h, f->start = origin;
    turnAfter(tip, turn, f->start.quaternion);
    v3 low = cornerOf(&f->start, 0);
    for (int k = 1; k < 8; k++) low = cornerOf(&f->start, k).z < low.z ? cornerOf(&f->start, k) : low;
    double out = between(random, 1.0, 3.0), down = between(random, 0.3, 2.0), inside = between(random, 0.01, 0.4) * h * out;
    double over = inside * down / out + between(random, 0.01, 0.3) * h * down;
    v3Store(f->start.position, v3Sub(v3Make(0.5 - inside, between(random, -0.3, 0.3), over), low));
    f->velocity[0] = out, f->velocity[1] = between(random, -0.5, 0.5), f->velocity[2] = -down;
    for (int k = 3; k < 6; k++) f->velocity[k] = between(random, -1.0, 1.0);
}

PC_TEST(ImplicitPhantoms, PlatesThatTouchNothingOnTheirWayAreNotTouched)
{
    Flight f;
    pcRandom random = {7};
    int allPassed = 0, allPhantoms = 0;
    beginFlights(&f);
    for (int i = 0; i < STEPS; i++) {
        int passed = 0, phantoms = 0;
        for (int trial = 0; trial < 400; trial++) {
            double change[6];
            PC_CASE("h=%g, trial %d", steps[i], trial);
            throwPlate(&f, steps[i], &random);
            if (!isClear(&f, 1e-3 * f.h)) continue;
            passed++;
            changeByLinear(&f, change);
            phantoms += size6(change) > 0.01 * size6(f.velocity);
            changeByImplicit(&f, change);
            PC_EXPECT_LE(size6(change), 1e-13 * size6(f.velocity));
        }
        PC_CASE("h=%g", steps[i]);
        PC_EXPECT_GT(passed, 150);
        PC_EXPECT_GT(phantoms, 3 * passed / 4);
        allPassed += passed, allPhantoms += phantoms;
    }
    PC_EXPECT_GE(allPassed, 1300); /* of 2800 thrown */
    PC_EXPECT_GE(allPhantoms, 1150);
    endFlights(&f);
}
