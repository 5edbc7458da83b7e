/* Round bodies in the step: they roll, stand and come to rest. */
#include <math.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/scene.h"

static int addCylinder(Scene* s, double x, double y, double z, double radius, double length, double mass)
{
    double across = mass * (3 * radius * radius + length * length) / 12;
    int body = sceneBody(s, (const double[3]){x, y, z}, mass, (const double[3]){across, across, 0.5 * mass * radius * radius});
    pcShape* shape = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeCylinder(radius, length, &shape));
    sceneShape(s, body, shape);
    return body;
}

static int addEllipsoid(Scene* s, double x, double y, double z, const double a[3], double mass)
{
    double inertia[3] = {0.2 * mass * (a[1] * a[1] + a[2] * a[2]), 0.2 * mass * (a[0] * a[0] + a[2] * a[2]),
                         0.2 * mass * (a[0] * a[0] + a[1] * a[1])};
    int body = sceneBody(s, (const double[3]){x, y, z}, mass, inertia);
    pcShape* shape = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeEllipsoid(a, &shape));
    sceneShape(s, body, shape);
    return body;
}

/* Its axis along y. */
static void layDown(Scene* s, int body)
{
    double q[4] = {sqrt(0.5), sqrt(0.5), 0, 0};
    for (int k = 0; k < 4; k++) s->body[body].pose.quaternion[k] = q[k];
}

PC_TEST(RoundWorlds, ARollingCylinderKeepsItsSpeed)
{
    static const double steps[2] = {0.001, 0.01};
    for (int i = 0; i < 2; i++) {
        PC_CASE("h = %g", steps[i]);
        Scene s;
        sceneBegin(&s);
        sceneFloor(&s);
        s.h = steps[i];
        int body = addCylinder(&s, 0, 0, 0.5, 0.5, 1, 2);
        layDown(&s, body);
        s.body[body].velocity[0] = 2, s.body[body].velocity[4] = 4;
        while (s.body[body].pose.position[0] < 10) sceneStep(&s);
        PC_EXPECT_REL(2, s.body[body].velocity[0], 1e-9);
        PC_EXPECT_REL(4, s.body[body].velocity[4], 1e-9);
        PC_EXPECT_NEAR(0, s.body[body].pose.position[1], 1e-6);
        PC_EXPECT_NEAR(0.5, s.body[body].pose.position[2], 1e-6);
        sceneEnd(&s);
    }
}

PC_TEST(RoundWorlds, AStandingCylinderDoesNotCreep)
{
    for (int onBox = 0; onBox < 2; onBox++) {
        PC_CASE("on a box: %d", onBox);
        Scene s;
        sceneBegin(&s);
        sceneFloor(&s);
        double base = onBox ? 0.5 : 0;
        if (onBox) sceneBox(&s, 0, 0, 0.25, (const double[3]){2, 2, 0.5}, 5);
        int body = addCylinder(&s, 0.1, 0.2, base + 0.5, 0.3, 1, 2);
        sceneRun(&s, 6000);
        const pcPose* pose = &s.body[body].pose;
        PC_EXPECT_NEAR(0.1, pose->position[0], 1e-9);
        PC_EXPECT_NEAR(0.2, pose->position[1], 1e-9);
        PC_EXPECT_NEAR(base + 0.5, pose->position[2], 1e-9);
        for (int k = 0; k < 4; k++) PC_EXPECT_NEAR(k == 0, pose->quaternion[k], 1e-9);
        sceneEnd(&s);
    }
}

/* On a circle that lies all around on the sphere: a can on its lower rim, and a flat ellipsoid, whose belly is flatter than the sphere. */
PC_TEST(RoundWorlds, WhatLiesInAContainerOnACircleComesToRest)
{
    for (int flat = 0; flat < 2; flat++) {
        PC_CASE("ellipsoid: %d", flat);
        Scene s;
        sceneBegin(&s);
        pcShape* wall = NULL;
        PC_ASSERT_STATUS(PC_OK, pcShapeContainer(0.8, &wall));
        sceneShape(&s, PC_WORLD, wall);
        s.settings.mu = 0.3;
        double z = 0.5 - sqrt(0.64 - 0.25);
        int body = flat ? addEllipsoid(&s, 0, 0, -0.55, (const double[3]){0.5, 0.5, 0.2}, 1) : addCylinder(&s, 0, 0, z + 0.01, 0.5, 1, 1);
        sceneRun(&s, 300);
        for (int i = 0; i < 700; i++) {
            sceneStep(&s);
            PC_EXPECT_LT(s.result.report.penetration, 1e-9);
            PC_EXPECT_LT(sceneSpeed(&s, body), 1e-9);
        }
        const pcPose* pose = &s.body[body].pose;
        PC_EXPECT_NEAR(0, pose->position[0], 1e-6);
        PC_EXPECT_NEAR(0, pose->position[1], 1e-6);
        if (!flat) PC_EXPECT_NEAR(z, pose->position[2], 1e-9);
        PC_EXPECT_LT(hypot(pose->quaternion[1], pose->quaternion[2]), 1e-6);
        PC_EXPECT_GE(s.result.contactCount, 6);
        sceneEnd(&s);
    }
}

/* Nothing can hold it: its gap is what it is too large by, with its sign, and steps go on. */
PC_TEST(RoundWorlds, AContainerSmallerThanItsContentIsNoFailure)
{
    for (int kind = 0; kind < 3; kind++) {
        PC_CASE("kind %d", kind);
        Scene s;
        sceneBegin(&s);
        pcShape* wall = NULL;
        PC_ASSERT_STATUS(PC_OK, pcShapeContainer(0.4, &wall));
        sceneShape(&s, PC_WORLD, wall);
        int body = kind == 0   ? sceneSphere(&s, 0.01, 0, 0, 0.5, 1)
                   : kind == 1 ? addEllipsoid(&s, 0, 0, 0, (const double[3]){0.5, 0.3, 0.2}, 1)
                               : addCylinder(&s, 0, 0, 0, 0.3, 0.8, 1);
        double deep = kind == 0 ? 0.11 : 0.1;
        for (int i = 0; i < 200; i++) {
            sceneStep(&s);
            if (i == 0) PC_EXPECT_NEAR(deep, s.result.report.penetration, 1e-12);
            for (int k = 0; k < 3; k++) PC_EXPECT_LT(fabs(s.body[body].pose.position[k]), 1);
            for (int k = 0; k < 6; k++) PC_EXPECT_LT(fabs(s.body[body].velocity[k]), 1e3);
        }
        sceneEnd(&s);
    }
}

PC_TEST(RoundWorlds, ACapsuleRestsOnTwoPoints)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int body = sceneBody(&s, (const double[3]){0, 0, 0.6}, 1, (const double[3]){0.1, 0.1, 0.02});
    pcShape* shape = NULL;
    PC_ASSERT_STATUS(PC_OK, pcShapeCapsule(0.2, 1, &shape));
    sceneShape(&s, body, shape);
    s.body[body].pose.quaternion[0] = cos(0.7), s.body[body].pose.quaternion[1] = sin(0.7);
    sceneRun(&s, 600);
    PC_EXPECT_NEAR(0.2, s.body[body].pose.position[2], 1e-5);
    PC_EXPECT_LT(sceneSpeed(&s, body), 1e-6);
    PC_EXPECT_EQ_INT(2, s.result.contactCount);
    sceneEnd(&s);
}

static int withSurface(void* context, int shape1, int shape2, pcSurface* surface)
{
    (void)shape1, (void)shape2;
    *surface = *(const pcSurface*)context;
    return 1;
}

/* Rolling friction lets it come to rest: without, it would rock for ever. */
PC_TEST(RoundWorlds, AnEllipsoidComesToRestOnItsShortAxis)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int body = addEllipsoid(&s, 0, 0, 1, (const double[3]){0.5, 0.4, 0.2}, 1);
    s.body[body].pose.quaternion[1] = 0.4, s.body[body].pose.quaternion[2] = 0.2;
    pcSurface surface = pcDefaultSurface(&s.settings);
    surface.mu = 0.5, surface.rolling = 0.005, surface.torsion = 0.005;
    s.system.surface = withSurface, s.system.surfaceContext = &surface;
    sceneRun(&s, 3000);
    PC_EXPECT_LT(sceneSpeed(&s, body), 1e-6);
    PC_EXPECT_NEAR(0.2, s.body[body].pose.position[2], 1e-3);
    sceneEnd(&s);
}

PC_TEST(RoundWorlds, EllipsoidsStayInTheirContainer)
{
    for (int euclid = 0; euclid < 2; euclid++) {
        PC_CASE("narrowphase=%s", euclid ? "euclid" : "ratio");
        Scene s;
        sceneBegin(&s);
        pcShape* wall = NULL;
        PC_ASSERT_STATUS(PC_OK, pcShapeContainer(1.5, &wall));
        sceneShape(&s, PC_WORLD, wall);
        if (euclid) s.settings.narrowphase = PC_NARROW_EUCLID;
        int first = addEllipsoid(&s, 0.5, 0.1, 0, (const double[3]){0.5, 0.3, 0.2}, 1);
        int second = addEllipsoid(&s, -0.5, 0, 0.1, (const double[3]){0.3, 0.3, 0.6}, 1);
        s.h = 0.002;
        for (int i = 0; i < 2000; i++) {
            sceneStep(&s);
            PC_EXPECT_LT(s.result.report.penetration, 6e-3);
        }
        for (int k = 0; k < 2; k++) {
            const double* p = s.body[k ? second : first].pose.position;
            PC_EXPECT_LT(p[0] * p[0] + p[1] * p[1] + p[2] * p[2], 1.3 * 1.3);
            PC_EXPECT_LT(p[2], 0.5);
        }
        sceneEnd(&s);
    }
}

PC_TEST(RoundWorlds, APileOfAllKindsComesDown)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    sceneBox(&s, 0, 0, 0.5, (const double[3]){2, 2, 1}, 5);
    int can = addCylinder(&s, 0.1, 0.05, 1.6, 0.4, 1, 1);
    addEllipsoid(&s, 0.2, 0, 2.6, (const double[3]){0.5, 0.3, 0.2}, 1);
    sceneSphere(&s, -0.2, 0.1, 3.4, 0.3, 1);
    int second = addCylinder(&s, 0, 0, 4.2, 0.3, 0.8, 1);
    layDown(&s, second);
    for (int i = 0; i < 500; i++) {
        sceneStep(&s);
        PC_EXPECT_LT(s.result.report.penetration, 1e-2);
    }
    for (int i = 0; i < s.system.bodyCount; i++) PC_EXPECT_GT(s.body[i].pose.position[2], 0.19);
    PC_EXPECT_GT(s.body[can].pose.position[2], 0.3);
    sceneEnd(&s);
}
