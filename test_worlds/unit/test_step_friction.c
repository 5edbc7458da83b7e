/* Friction in worlds of one or two bodies, and what else a surface can ask for: by theory, or exactly, as the first-order scheme makes it. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "base/vec.h"
#include "test_worlds/unit/scene.h"

/* ---- friction ---- */

/* v falls by mu g h in every step: x = h sum (v0 - k mu g h), and v0^2 / (2 mu g) as h goes to 0. */
static double slideDistance(double angle, int edges)
{
    Scene s;
    sceneBegin(&s);
    s.settings.coneEdges = edges;
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 0.25, (const double[3]){1, 1, 0.5}, 2);
    s.body[box].velocity[0] = 3 * cos(angle), s.body[box].velocity[1] = 3 * sin(angle);
    sceneRun(&s, 80);
    PC_EXPECT_NEAR(0, sceneSpeed(&s, box), 1e-8);
    const double* p = s.body[box].pose.position;
    double distance = hypot(p[0], p[1]);
    PC_EXPECT_NEAR(angle, atan2(p[1], p[0]), 1e-6);
    sceneEnd(&s);
    return distance;
}

PC_TEST(StepWorlds, SlidingBoxStopsWhereTheSchemeSays)
{
    double expected = 0;
    for (int k = 1; k <= 60; k++) expected += 0.01 * (3 - 0.05 * k);
    for (int edges = 0; edges <= 8; edges += 4)
        for (int turn = 0; turn < 3; turn++) {
            PC_CASE("edges=%d turn=%d", edges, turn);
            double distance = slideDistance(0.4 * turn, edges);
            PC_EXPECT_NEAR(expected, distance, 1e-6);
            PC_EXPECT_REL(3.0 * 3.0 / (2 * 0.5 * 10), distance, 0.02);
        }
}

PC_TEST(StepWorlds, FixedPolygonIsWeakerBetweenItsCorners)
{
    Scene s;
    sceneBegin(&s);
    s.settings.coneEdges = 4, s.settings.alignCone = 0;
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 0.25, (const double[3]){1, 1, 0.5}, 2);
    s.body[box].velocity[0] = s.body[box].velocity[1] = sqrt(4.5);
    sceneStep(&s);
    PC_EXPECT_NEAR(3 - 0.05 * sqrt(0.5), sceneSpeed(&s, box), 1e-8);
    sceneEnd(&s);
}

/* Gravity tilted instead of the plane: beyond w / h it tips about its edge, below it stands, as mu is large. */
static double tippingSpin(double slope, int steps)
{
    Scene s;
    sceneBegin(&s);
    s.settings.mu = 2;
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 1, (const double[3]){0.5, 0.5, 2}, 1);
    double length = sqrt(1 + slope * slope);
    s.system.gravity[0] = 10 * slope / length, s.system.gravity[2] = -10 / length;
    s.h = 0.001;
    sceneRun(&s, steps);
    double spin = s.body[box].velocity[4];
    sceneEnd(&s);
    return spin;
}

PC_TEST(StepWorlds, TallBoxTipsAboutItsEdge)
{
    double torque = 10 / sqrt(1.09) * (0.3 * 1 - 0.25), inertia = (0.25 + 4) / 12 + 1 + 0.0625;
    PC_EXPECT_REL(torque / inertia * 0.02, tippingSpin(0.3, 20), 0.01);
    PC_EXPECT_NEAR(0, tippingSpin(0.2, 20), 1e-8);
}

PC_TEST(StepWorlds, SlidingSphereEndsRolling)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int ball = sceneSphere(&s, 0, 0, 0.3, 0.3, 2);
    s.body[ball].velocity[0] = 2;
    sceneRun(&s, 100);
    PC_EXPECT_NEAR(2 * 5.0 / 7, s.body[ball].velocity[0], 1e-8);
    PC_EXPECT_NEAR(2 * 5.0 / 7 / 0.3, s.body[ball].velocity[4], 1e-7);
    sceneExpectSound(&s);
    sceneEnd(&s);
}

/* The floor is shape 0, so that it is body 1 of every pair. */
static int withSurface(void* context, int shape1, int shape2, pcSurface* surface)
{
    (void)shape1, (void)shape2;
    *surface = *(const pcSurface*)context;
    return 1;
}

static void useSurface(Scene* s, pcSurface* surface) { s->system.surface = withSurface, s->system.surfaceContext = surface; }

PC_TEST(StepWorlds, BeltCarriesABox)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 0.25, (const double[3]){1, 1, 0.5}, 2);
    pcSurface belt = pcDefaultSurface(&s.settings);
    belt.surfaceVelocity[0] = -0.7; /* of the box's surface relative to the floor's: the floor runs towards +x */
    useSurface(&s, &belt);
    sceneStep(&s);
    PC_EXPECT_NEAR(0.05, s.body[box].velocity[0], 1e-9);
    sceneRun(&s, 40);
    PC_EXPECT_NEAR(0.7, s.body[box].velocity[0], 1e-9);
    sceneEnd(&s);
}

PC_TEST(StepWorlds, FrictionDiffersByDirection)
{
    for (int way = 0; way < 2; way++) {
        PC_CASE("way=%d", way);
        Scene s;
        sceneBegin(&s);
        sceneFloor(&s);
        int box = sceneBox(&s, 0, 0, 0.1, (const double[3]){1, 1, 0.2}, 2);
        pcSurface ice = pcDefaultSurface(&s.settings);
        ice.mu = 0.1, ice.mu2 = 0.8, ice.direction1[0] = 3, ice.direction1[2] = 1; /* its upright part does not count */
        useSurface(&s, &ice);
        s.body[box].velocity[way] = 2;
        sceneRun(&s, 10);
        PC_EXPECT_NEAR(2 - 10 * (way ? 0.08 : 0.01), s.body[box].velocity[way], 1e-8);
        PC_EXPECT_NEAR(0, s.body[box].velocity[1 - way], 1e-8);
        sceneEnd(&s);
    }
}

PC_TEST(StepWorlds, TorsionStopsASpinningSphere)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int ball = sceneSphere(&s, 0, 0, 0.3, 0.3, 2);
    pcSurface surface = pcDefaultSurface(&s.settings);
    surface.torsion = 0.02;
    useSurface(&s, &surface);
    s.body[ball].velocity[5] = 5;
    double loss = 0.02 * 2 * 10 * s.h / (0.4 * 2 * 0.09);
    sceneRun(&s, 20);
    PC_EXPECT_NEAR(5 - 20 * loss, s.body[ball].velocity[5], 1e-8);
    sceneRun(&s, 100);
    PC_EXPECT_NEAR(0, s.body[ball].velocity[5], 1e-8);
    sceneEnd(&s);
}

PC_TEST(StepWorlds, SpinningBoxIsStoppedByItsCorners)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 0.5, unitCube, 2);
    s.body[box].velocity[5] = 1;
    double arm = sqrt(0.5), loss = 0.5 * 2 * 10 * s.h * arm / (2.0 / 6);
    sceneStep(&s);
    PC_EXPECT_NEAR(1 - loss, s.body[box].velocity[5], 1e-7);
    sceneRun(&s, 50);
    PC_EXPECT_NEAR(0, s.body[box].velocity[5], 1e-8);
    sceneEnd(&s);
}

PC_TEST(StepWorlds, RollingFrictionStopsARollingSphere)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int ball = sceneSphere(&s, 0, 0, 0.3, 0.3, 2);
    pcSurface surface = pcDefaultSurface(&s.settings);
    surface.rolling = 0.01;
    useSurface(&s, &surface);
    s.body[ball].velocity[0] = 0.6, s.body[ball].velocity[4] = 2;
    double loss = 0.01 * 10 * s.h / (1.4 * 0.3);
    sceneRun(&s, 20);
    PC_EXPECT_NEAR(0.6 - 20 * loss, s.body[ball].velocity[0], 1e-7);
    sceneRun(&s, 300);
    PC_EXPECT_NEAR(0, s.body[ball].velocity[0], 1e-8);
    sceneEnd(&s);
}

PC_TEST(StepWorlds, InfiniteFrictionNeverSlides)
{
    Scene s;
    sceneBegin(&s);
    s.settings.mu = HUGE_VAL;
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 0.1, (const double[3]){1, 1, 0.2}, 2);
    s.system.gravity[0] = 20;
    sceneRun(&s, 20);
    sceneExpectPlace(&s, box, 0, 0, 0.1, 1e-8);
    sceneEnd(&s);
}

/* mu as a force: 4 N on 2 kg, whatever the weight. */
PC_TEST(StepWorlds, ForceLimitIsAForce)
{
    for (int coulomb = 0; coulomb < 2; coulomb++) {
        PC_CASE("coulomb=%d", coulomb);
        Scene s;
        sceneBegin(&s);
        s.settings.friction = coulomb ? PC_FRICTION_COULOMB : PC_FRICTION_HOST;
        int box = sceneBody(&s, (const double[3]){0, 0, 0}, 2, unitCube);
        pcContact* c = sceneContact(&s, box, (const double[3]){0, 0, 0}, 0);
        c->surface.forceLimit = 1, c->surface.mu = 0.4;
        s.body[box].velocity[0] = 3, s.body[box].velocity[1] = 4;
        sceneStep(&s);
        PC_EXPECT_NEAR(5 - (coulomb ? 0.4 * 10 : 0.4 / 2) * s.h, sceneSpeed(&s, box), 1e-9);
        sceneEnd(&s);
    }
}

/* ---- surfaces that a host has ---- */

/* A body on one contact that it is pushed out of; its velocity along the normal after a step. */
static double pushedOut(double gap, const pcSurface* surface)
{
    Scene s;
    sceneBegin(&s);
    s.settings.gamma = 0.5;
    int box = sceneBody(&s, (const double[3]){0, 0, 0}, 2, unitCube);
    sceneContact(&s, box, (const double[3]){0, 0, 0}, gap)->surface = *surface;
    sceneStep(&s);
    double v = s.body[box].velocity[2];
    sceneEnd(&s);
    return v;
}

PC_TEST(StepWorlds, SurfaceHasItsOwnGammaLimitAndLayer)
{
    const pcSurface usual = pcDefaultSurface(NULL);
    pcSurface surface = usual;
    PC_EXPECT_NEAR(0.5, pushedOut(-0.01, &surface), 1e-9);
    surface.gamma = 0.2;
    PC_EXPECT_NEAR(0.2, pushedOut(-0.01, &surface), 1e-9);
    surface = usual, surface.fastest = 0.3;
    PC_EXPECT_NEAR(0.3, pushedOut(-0.01, &surface), 1e-9);
    surface = usual, surface.sink = 0.004;
    PC_EXPECT_NEAR(0.3, pushedOut(-0.01, &surface), 1e-9);
    PC_EXPECT_NEAR(0, pushedOut(-0.003, &surface), 1e-9);
    PC_EXPECT_NEAR(-0.05, pushedOut(0.0005, &surface), 1e-9); /* what is apart is not nearer for it */
    surface = usual, surface.normalVelocity = 0.7;
    PC_EXPECT_NEAR(1.2, pushedOut(-0.01, &surface), 1e-9);
    surface.fastest = 0.9;
    PC_EXPECT_NEAR(0.9, pushedOut(-0.01, &surface), 1e-9);
    surface.bounce = 0.5; /* a surface that comes at 0.7 throws at 0.7 + 0.35 */
    PC_EXPECT_NEAR(1.05, pushedOut(0, &surface), 1e-9);
}

/* Along x a force of 0.4 N at most, along y a coefficient, or the other way round. */
PC_TEST(StepWorlds, ForceLimitOfOneDirectionOnly)
{
    for (int first = 0; first < 2; first++) {
        PC_CASE("first=%d", first);
        Scene s;
        sceneBegin(&s);
        int box = sceneBody(&s, (const double[3]){0, 0, 0}, 2, unitCube);
        pcSurface* surface = &sceneContact(&s, box, (const double[3]){0, 0, 0}, 0)->surface;
        surface->forceLimit = first ? PC_LIMIT_FRICTION1 : PC_LIMIT_FRICTION2, surface->mu = surface->mu2 = 0.4;
        surface->direction1[0] = 1;
        s.body[box].velocity[0] = 3, s.body[box].velocity[1] = 4;
        sceneStep(&s);
        PC_EXPECT_NEAR(3 - (first ? 0.4 / 2 : 0.4 * 10) * s.h, s.body[box].velocity[0], 1e-9);
        PC_EXPECT_NEAR(4 - (first ? 0.4 * 10 : 0.4 / 2) * s.h, s.body[box].velocity[1], 1e-9);
        sceneEnd(&s);
    }
}

/* A sphere of inertia 1 turning about each axis under its own law. */
PC_TEST(StepWorlds, MomentLimitsAreMoments)
{
    Scene s;
    sceneBegin(&s);
    int ball = sceneBody(&s, (const double[3]){0, 0, 0}, 2, unitCube);
    pcSurface* surface = &sceneContact(&s, ball, (const double[3]){0, 0, 0}, 0)->surface;
    surface->mu = 0, surface->direction1[0] = 1;
    surface->rolling = 0.3, surface->rolling2 = HUGE_VAL, surface->torsion = 0.01;
    surface->momentLimit = PC_LIMIT_ROLLING1 | PC_LIMIT_ROLLING2;
    for (int k = 3; k < 6; k++) s.body[ball].velocity[k] = 1;
    sceneStep(&s);
    PC_EXPECT_NEAR(1 - 0.3 * s.h, s.body[ball].velocity[3], 1e-9);
    PC_EXPECT_NEAR(0, s.body[ball].velocity[4], 1e-9);
    PC_EXPECT_NEAR(1 - 0.01 * 2 * 10 * s.h, s.body[ball].velocity[5], 1e-9);
    sceneEnd(&s);
}
