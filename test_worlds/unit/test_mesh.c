/* Meshes of triangles: what lies on them, slides over them and hits them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "pcontact/metric.h"
#include "test_worlds/unit/scene.h"

/* ---- meshes ---- */

typedef double Height(double x, double y);

/* A landscape of side x side cells over -wide .. wide, turned from a square grid by nothing; two triangles per cell, of which every
 * corner is a point of its own, as files have it. */
static pcShape* landscape(int side, double wide, Height* height)
{
    size_t corners = 6u * (size_t)side * (size_t)side;
    double* xyz = malloc(3 * corners * sizeof *xyz);
    int* index = malloc(corners * sizeof *index);
    pcShape* mesh = NULL;
    static const int cell[6][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}};
    for (size_t i = 0; i < corners; i++) {
        int c = (int)(i / 6), u = c % side + cell[i % 6][0], v = c / side + cell[i % 6][1];
        double x = wide * (2.0 * u / side - 1), y = wide * (2.0 * v / side - 1);
        xyz[3 * i] = x, xyz[3 * i + 1] = y, xyz[3 * i + 2] = height(x, y), index[i] = (int)i;
    }
    PC_EXPECT_STATUS(PC_OK, pcShapeMesh(xyz, (int)corners, index, (int)corners / 3, &mesh));
    free(xyz);
    free(index);
    return mesh;
}

static double flat(double x, double y) { return (void)x, (void)y, 0; }
static double valley(double x, double y) { return (void)y, fabs(x); }
static double ridge(double x, double y) { return (void)y, -0.5 * fabs(x); }
static double ramp(double x, double y) { return (void)y, x > 0 ? x : 0; }
static double waves(double x, double y) { return 0.2 * sin(1.3 * x) * cos(1.1 * y + 0.4); }

/* The surface of any polyhedron, its facets as fans of triangles. */
static pcShape* meshOf(const pcShape* s)
{
    int vertices, count = 0, index[512];
    const double* xyz = pcShapeVertices(s, &vertices);
    pcShapeInfo info;
    pcShape* mesh = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeDescribe(s, &info));
    for (int f = 0; f < info.facets; f++) {
        pcFacet facet;
        PC_EXPECT_STATUS(PC_OK, pcShapeFacet(s, f, &facet));
        for (int k = 1; k + 1 < facet.count && count + 3 <= 512; k++) {
            index[count++] = facet.vertex[0], index[count++] = facet.vertex[k], index[count++] = facet.vertex[k + 1];
        }
    }
    PC_EXPECT_STATUS(PC_OK, pcShapeMesh(xyz, vertices, index, count / 3, &mesh));
    return mesh;
}

/* ---- bodies ---- */

typedef pcShape* MakeBody(void);
static pcShape* aBox(void)
{
    pcShape* s = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeBox((const double[3]){0.7, 0.5, 0.4}, &s));
    return s;
}
static pcShape* aCylinder(void)
{
    pcShape* s = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeCylinder(0.3, 0.4, &s));
    return s;
}
static pcShape* aSphere(void)
{
    pcShape* s = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeSphere(0.2, &s));
    return s;
}
static pcShape* aCapsule(void)
{
    pcShape* s = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeCapsule(0.2, 0.5, &s));
    return s;
}
static pcShape* aTetrahedron(void)
{
    static const double xyz[] = {-0.3, -0.3, -0.2, 0.4, -0.2, -0.2, 0, 0.4, -0.2, 0, 0, 0.5};
    pcShape* s = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeFromPoints(xyz, 4, (const double[3]){0, 0, 0}, &s));
    return s;
}
static MakeBody* const bodies[] = {aBox, aCylinder, aSphere, aCapsule, aTetrahedron};
static const char* const names[] = {"box", "cylinder", "sphere", "capsule", "tetrahedron"};
enum { BODIES = 5 };

/* How far it reaches down from its centre as it stands. */
static double reachOf(MakeBody* make) { return make == aCapsule ? 0.45 : 0.2; }

static int addBody(Scene* s, MakeBody* make, double x, double y, double z)
{
    int body = sceneBody(s, (const double[3]){x, y, z}, 1, (const double[3]){0.03, 0.04, 0.05});
    sceneShape(s, body, make());
    return body;
}

/* ---- sliding ---- */

/* The way over a plane or over 20,000 triangles, until it has gone 10 m; all poses on the way. */
enum { STEPS = 450 };
static void slide(MakeBody* make, double angle, pcShape* floor, pcPose* way)
{
    Scene s;
    sceneBegin(&s);
    s.settings.mu = 0.02;
    sceneShape(&s, PC_WORLD, floor);
    int body = addBody(&s, make, -4.1 * cos(angle), -4.1 * sin(angle), reachOf(make));
    s.body[body].velocity[0] = 3 * cos(angle), s.body[body].velocity[1] = 3 * sin(angle);
    for (int i = 0; i < STEPS; i++) {
        sceneStep(&s);
        way[i] = s.body[body].pose;
    }
    sceneEnd(&s);
}

PC_TEST(Mesh, WhatSlidesOverTrianglesSlidesAsOverAPlane)
{
    static pcPose plane[STEPS], mesh[STEPS];
    pcShape* floor = NULL;
    pcShape* triangles = landscape(100, 10, flat);
    PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace((const double[4]){0, 0, 1, 0}, &floor));
    for (int i = 0; i < BODIES; i++)
        for (int k = 0; k < 2; k++) {
            PC_CASE("%s, direction %d", names[i], k);
            slide(bodies[i], 0.4 * k, pcShapeShare(floor), plane);
            slide(bodies[i], 0.4 * k, pcShapeShare(triangles), mesh);
            double way = 0, apart = 0;
            for (int n = 0; n < STEPS; n++)
                for (int a = 0; a < 3; a++) {
                    apart = fmax(apart, fabs(plane[n].position[a] - mesh[n].position[a]));
                    if (a < 2)
                        way = fmax(way, hypot(plane[n].position[0] - plane[0].position[0], plane[n].position[1] - plane[0].position[1]));
                }
            PC_EXPECT_GT(way, 10);
            PC_EXPECT_LT(apart, 1e-6);
        }
    pcShapeFree(floor);
    pcShapeFree(triangles);
}

/* ---- against the polyhedron whose surface it is ---- */

static double number(unsigned* seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) / 16777216.0;
}

static pcPose somewhere(unsigned* seed, double far)
{
    pcPose p = {{0, 0, 0}, {1, 0, 0, 0}};
    double size = 0;
    for (int k = 0; k < 3; k++) p.position[k] = 2 * number(seed) - 1, size += p.position[k] * p.position[k];
    for (int k = 0; k < 3; k++) p.position[k] *= far / sqrt(size);
    for (int k = 0; k < 4; k++) p.quaternion[k] = 2 * number(seed) - 1;
    return p;
}

/* Brought along the line of centres to where the pair is `gap` apart. */
static bool bringTo(const pcShape* body, pcPose* pose, const pcShape* still, const pcPose* at, double gap)
{
    pcMetric m;
    for (int i = 0; i < 60; i++) {
        if (pcMetricPair(body, pose, still, at, PC_FIXED_2, NULL, &m) != PC_OK) return false;
        double off = m.gap - gap, size = 0, along = 0;
        if (fabs(off) < 1e-10) return true;
        for (int k = 0; k < 3; k++) size += pose->position[k] * pose->position[k];
        for (int k = 0; k < 3; k++) along -= pose->position[k] * m.normal[k] / sqrt(size);
        if (!(along > 0.1)) return false;
        for (int k = 0; k < 3; k++) pose->position[k] -= off / along * pose->position[k] / sqrt(size);
    }
    return false;
}

static double distance(const double* a, const double* b) { return sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2)); }

/* Each event of the one has one of the other at its point, with its gap and normal. */
static int unmatched(const pcEvent* a, int countA, const pcEvent* b, int countB, double gap)
{
    int missing = 0;
    for (int i = 0; i < countA; i++) {
        bool found = a[i].gap > gap;
        for (int k = 0; k < countB && !found; k++)
            found =
                distance(a[i].point1, b[k].point1) < 1e-6 && fabs(a[i].gap - b[k].gap) < 1e-7 && distance(a[i].normal, b[k].normal) < 1e-6;
        missing += !found;
    }
    return missing;
}

static pcShape* anIcosahedron(void)
{
    static const double twelve[] = {0, 1,    1.6, 0,  -1,   1.6, 0,   1, -1.6, 0,    -1, -1.6, 1,   1.6, 0,  -1,   1.6, 0,
                                    1, -1.6, 0,   -1, -1.6, 0,   1.6, 0, 1,    -1.6, 0,  1,    1.6, 0,   -1, -1.6, 0,   -1};
    pcShape* s = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeFromPoints(twelve, 12, NULL, &s));
    return s;
}

static double least(const pcEvent* e, int count)
{
    double gap = 1;
    for (int k = 0; k < count; k++) gap = fmin(gap, e[k].gap);
    return gap;
}

/* Beside contact, in it and past it a body is as far from the surface of a polyhedron as from the polyhedron. A polyhedron's own events may lie
 * lower where they are still to come. */
PC_TEST(Mesh, TheSurfaceOfAPolyhedronIsTouchedAsThePolyhedron)
{
    unsigned seed = 5;
    int tried = 0;
    for (int solid = 0; solid < 2; solid++) {
        pcShape* still = NULL;
        PC_ASSERT_STATUS(PC_OK, pcShapeBox((const double[3]){2, 1.5, 1}, &still));
        if (solid) pcShapeFree(still), still = anIcosahedron();
        pcShape* mesh = meshOf(still);
        for (int n = 0; n < 300 * BODIES; n++) {
            PC_CASE("solid %d, %s, case %d", solid, names[n % BODIES], n);
            pcShape* body = bodies[n % BODIES]();
            double gap = n % 3 == 0 ? 0 : n % 3 == 1 ? 0.005 : -0.002;
            pcPose at = {{0, 0, 0}, {1, 0, 0, 0}}, pose = somewhere(&seed, 3);
            pcEventSettings settings = pcDefaultEventSettings();
            settings.margin = 0.01;
            pcEvent a[64], b[64];
            int countA, countB;
            if (bringTo(body, &pose, still, &at, gap)) {
                PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(body, &pose, still, &at, PC_FIXED_2, &settings, NULL, a, 64, &countA));
                PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(body, &pose, mesh, &at, 0, &settings, NULL, b, 64, &countB));
                PC_EXPECT_LT(least(b, countB), fmax(1.03 * gap, gap) + 2e-5); /* along the shortest way, or the ratio's */
                PC_EXPECT_GT(least(b, countB), fmin(gap, least(a, countA)) - 1e-4);
                tried++;
            }
            pcShapeFree(body);
        }
        pcShapeFree(mesh);
        pcShapeFree(still);
    }
    PC_EXPECT_GT(tried, 2500);
}

/* What lies flush on a table, over its middle, its edge or its corner, touches the surface of the table in the same corners. */
PC_TEST(Mesh, FaceOnFaceGivesTheCornersOfTheOverlap)
{
    pcShape* still = NULL;
    PC_ASSERT_STATUS(PC_OK, pcShapeBox((const double[3]){2, 1.5, 1}, &still));
    pcShape* mesh = meshOf(still);
    unsigned seed = 9;
    for (int i = 0; i < BODIES - 1; i++) /* the ball has no face */
        for (int n = 0; n < 100; n++) {
            if (bodies[i] == aSphere) continue;
            PC_CASE("%s, case %d", names[i], n);
            pcShape* body = bodies[i]();
            double turn = 3 * number(&seed), half = i == 3 ? 0.45 : 0.2;
            pcPose at = {{0, 0, 0}, {1, 0, 0, 0}};
            pcPose pose = {{2.4 * number(&seed) - 1.2, 1.8 * number(&seed) - 0.9, 0.5 + half + (n % 3 - 1) * 0.001},
                           {cos(turn), 0, 0, sin(turn)}};
            pcEventSettings settings = pcDefaultEventSettings();
            settings.margin = 0.005;
            pcEvent a[64], b[64];
            int countA, countB;
            PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(body, &pose, still, &at, PC_FIXED_2, &settings, NULL, a, 64, &countA));
            PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(body, &pose, mesh, &at, 0, &settings, NULL, b, 64, &countB));
            PC_EXPECT_EQ_INT(0, unmatched(a, countA, b, countB, 0.0049));
            PC_EXPECT_EQ_INT(0, unmatched(b, countB, a, countA, 0.0049));
            pcShapeFree(body);
        }
    pcShapeFree(mesh);
    pcShapeFree(still);
}

/* ---- worlds ---- */

PC_TEST(Mesh, ABallInAValleyRestsOnBothSides)
{
    Scene s;
    sceneBegin(&s);
    s.settings.mu = 0;
    sceneShape(&s, PC_WORLD, landscape(20, 2, valley));
    int ball = addBody(&s, aSphere, 0.05, 0.03, 0.4);
    sceneRun(&s, 400);
    PC_EXPECT_NEAR(0.2 * sqrt(2), s.body[ball].pose.position[2], 1e-6);
    PC_EXPECT_NEAR(0, s.body[ball].pose.position[0], 1e-6);
    PC_EXPECT_EQ_INT(2, s.result.contactCount);
    for (int i = 0; i < s.result.contactCount; i++) PC_EXPECT_NEAR(sqrt(0.5), fabs(s.touch[i].normal[2]), 1e-9);
    sceneEnd(&s);
}

/* Ridges are felt: a plate lies across one, held up by nothing else. */
PC_TEST(Mesh, ABoxBalancesOnARidge)
{
    Scene s;
    sceneBegin(&s);
    sceneShape(&s, PC_WORLD, landscape(20, 2, ridge));
    int box = addBody(&s, aBox, 0, 0.03, 0.2);
    sceneRun(&s, 100);
    PC_EXPECT_NEAR(0.2, s.body[box].pose.position[2], 1e-6);
    PC_EXPECT_GT(s.result.contactCount, 1);
    for (int i = 0; i < s.result.contactCount; i++) PC_EXPECT_NEAR(0, s.touch[i].point[0], 1e-9);
    sceneEnd(&s);
}

/* A floor that rises at 45 degrees is met where it rises, not a step later; and the box comes back. */
PC_TEST(Mesh, ARampAheadIsSeen)
{
    for (int i = 0; i < BODIES; i++) {
        PC_CASE("%s", names[i]);
        Scene s;
        sceneBegin(&s);
        s.settings.mu = 0;
        sceneShape(&s, PC_WORLD, landscape(40, 4, ramp));
        int body = addBody(&s, bodies[i], -1.013, 0.1, reachOf(bodies[i]));
        s.body[body].velocity[0] = 3;
        double deepest = 0, farthest = -2;
        for (int n = 0; n < 200; n++) {
            sceneStep(&s);
            if (s.body[body].pose.position[0] < -3.5) break;
            deepest = fmax(deepest, s.result.report.penetration);
            farthest = fmax(farthest, s.body[body].pose.position[0]);
            PC_EXPECT_GT(s.body[body].pose.position[2], 0);
        }
        PC_EXPECT_LT(deepest, 0.002); /* C h^2 v^2 with h v = 0.03 */
        PC_EXPECT_GT(farthest, -0.4);
        sceneEnd(&s);
    }
}

/* Hills and hollows much smaller than the bodies, and larger. */
PC_TEST(Mesh, WhatFallsOnALandscapeStaysOnIt)
{
    for (int fine = 0; fine < 2; fine++) {
        Scene s;
        sceneBegin(&s);
        sceneShape(&s, PC_WORLD, landscape(fine ? 60 : 12, 3, waves));
        for (int i = 0; i < BODIES; i++) {
            int body = addBody(&s, bodies[i], 0.9 * i - 1.8, 0.3 * i - 0.6, 1);
            s.body[body].pose.quaternion[1] = 0.3 * i, s.body[body].pose.quaternion[2] = 0.4 - 0.2 * i;
        }
        double deepest = 0;
        for (int n = 0; n < 200; n++) {
            sceneStep(&s);
            deepest = fmax(deepest, s.result.report.penetration);
        }
        for (int i = 0; i < BODIES; i++) {
            PC_CASE("%s, %s cells", names[i], fine ? "fine" : "coarse");
            const double* p = s.body[i].pose.position;
            if (fabs(p[0]) < 2.7 && fabs(p[1]) < 2.7) PC_EXPECT_GT(p[2] - waves(p[0], p[1]), 0.1);
        }
        PC_EXPECT_LT(deepest, 0.01);
        sceneEnd(&s);
    }
}

/* A mesh may be the surface of a body that moves: it tumbles as the body whose surface it is. */
PC_TEST(Mesh, TheSurfaceOfABoxMovesAsTheBox)
{
    double end[2][3];
    for (int asMesh = 0; asMesh < 2; asMesh++) {
        Scene s;
        pcShape *table = NULL, *box = NULL;
        sceneBegin(&s);
        PC_ASSERT_STATUS(PC_OK, pcShapeBox((const double[3]){4, 4, 1}, &table));
        PC_ASSERT_STATUS(PC_OK, pcShapeBox((const double[3]){0.7, 0.5, 0.4}, &box));
        sceneShape(&s, PC_WORLD, table);
        int body = sceneBody(&s, (const double[3]){0, 0, 0.8}, 1, (const double[3]){0.03, 0.04, 0.05});
        sceneShape(&s, body, asMesh ? meshOf(box) : pcShapeShare(box));
        s.body[body].velocity[0] = 1;
        sceneRun(&s, 100);
        for (int k = 0; k < 3; k++) end[asMesh][k] = s.body[body].pose.position[k];
        pcShapeFree(box);
        sceneEnd(&s);
    }
    for (int k = 0; k < 3; k++) PC_EXPECT_NEAR(end[0][k], end[1][k], 1e-7);
}

PC_TEST(Mesh, WhatIsBehindIsNotTouched)
{
    pcShape *floor = landscape(10, 2, flat), *box = aBox();
    pcPose at = {{0, 0, 0}, {1, 0, 0, 0}}, pose = {{0.1, 0.2, 0}, {1, 0, 0, 0}};
    pcEventSettings settings = pcDefaultEventSettings();
    pcEvent events[64];
    for (int side = -1; side < 2; side += 2) {
        int count = -1;
        pose.position[2] = 0.19 * side;
        PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(box, &pose, floor, &at, 0, &settings, NULL, events, 64, &count));
        PC_EXPECT_EQ_INT(side > 0 ? 4 : 0, count);
        for (int i = 0; i < count; i++) PC_EXPECT_NEAR(-0.01, events[i].gap, 1e-12);
    }
    pcShapeFree(floor);
    pcShapeFree(box);
}

/* The order of the two turns normals and points, and nothing else. */
PC_TEST(Mesh, EitherMayComeFirst)
{
    pcShape* mesh = landscape(12, 3, waves);
    pcPose at = {{0.3, -0.2, 0.1}, {0.9, 0.1, -0.2, 0.3}};
    unsigned seed = 3;
    for (int i = 0; i < BODIES; i++) {
        pcShape* body = bodies[i]();
        for (int n = 0; n < 20; n++) {
            pcPose pose = somewhere(&seed, 0.4 + 0.3 * number(&seed));
            pcEventSettings settings = pcDefaultEventSettings();
            settings.margin = 0.05;
            pcEvent a[64], b[64];
            int countA, countB;
            PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(body, &pose, mesh, &at, 0, &settings, NULL, a, 64, &countA));
            PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(mesh, &at, body, &pose, 0, &settings, NULL, b, 64, &countB));
            PC_ASSERT_EQ_INT(countA, countB);
            int matched = 0;
            for (int k = 0; k < countA; k++)
                for (int m = 0; m < countB; m++)
                    matched += distance(a[k].point1, b[m].point2) < 1e-12 && fabs(a[k].gap - b[m].gap) < 1e-12 &&
                               fabs(a[k].wrench[4] - b[m].wrench[10]) < 1e-12;
            PC_EXPECT_GE(matched, countA);
        }
        pcShapeFree(body);
    }
    pcShapeFree(mesh);
}

/* Triangles at random, through each other, folded, doubled and thin: what is found is a number, and never deeper than the body is large. */
PC_TEST(Mesh, AnySoupOfTrianglesHasFiniteEvents)
{
    unsigned seed = 17;
    int found = 0;
    for (int n = 0; n < 60; n++) {
        double xyz[3 * 40];
        int index[3 * 60];
        pcShape *mesh = NULL, *body = bodies[n % BODIES]();
        for (int i = 0; i < 3 * 40; i++) xyz[i] = n % 3 == 0 ? floor(4 * number(&seed)) / 2 - 1 : 2 * number(&seed) - 1;
        for (int i = 0; i < 3 * 60; i++) index[i] = (int)(40 * number(&seed));
        for (int i = 0; i < 9; i++) index[3 * 50 + i] = index[i]; /* some of them twice */
        pcStatus status = pcShapeMesh(xyz, 40, index, 60, &mesh);
        PC_ASSERT_STATUS(PC_OK, status);
        for (int k = 0; k < 20; k++) {
            PC_CASE("soup %d, place %d", n, k);
            pcPose at = somewhere(&seed, 0.5), pose = somewhere(&seed, 1.2 * number(&seed));
            pcEventSettings settings = pcDefaultEventSettings();
            pcEvent events[64];
            int count = -1;
            settings.margin = k % 2 ? 0 : 0.1;
            PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(body, &pose, mesh, &at, 0, &settings, NULL, events, 64, &count));
            for (int e = 0; e < count && e < 64; e++) {
                PC_EXPECT_NEAR(1, distance(events[e].normal, (const double[3]){0, 0, 0}), 1e-9);
                PC_EXPECT_LE(events[e].gap, settings.margin + 1e-6);
                PC_EXPECT_GT(events[e].gap, -2);
                for (int i = 0; i < 12; i++) PC_EXPECT_LT(fabs(events[e].wrench[i]), 10);
                if (e > 0) PC_EXPECT_TRUE(events[e].id > events[e - 1].id);
            }
            found += count;
        }
        pcShapeFree(body);
        pcShapeFree(mesh);
    }
    PC_EXPECT_GT(found, 1000);
}

PC_TEST(Mesh, BadInputIsRefusedWithASentence)
{
    double xyz[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 2, 0, 0};
    int good[] = {0, 1, 2}, line[] = {0, 1, 3}, wild[] = {0, 1, 4};
    pcShape *s = NULL, *plane = NULL, *mesh = NULL;
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeMesh(NULL, 4, good, 1, &s));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeMesh(xyz, 4, good, 0, &s));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeMesh(xyz, 4, wild, 1, &s));
    PC_EXPECT_STATUS(PC_ERROR_FLAT, pcShapeMesh(xyz, 4, line, 1, &s));
    xyz[4] = NAN;
    PC_EXPECT_STATUS(PC_ERROR_NOT_FINITE, pcShapeMesh(xyz, 4, good, 1, &s));
    xyz[4] = 0;
    PC_EXPECT_TRUE(s == NULL);
    PC_ASSERT_STATUS(PC_OK, pcShapeMesh(xyz, 4, good, 1, &mesh));
    PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace((const double[4]){0, 0, 1, 0}, &plane));
    pcPose at = {{0, 0, 0}, {1, 0, 0, 0}}, lost = {{0, NAN, 0}, {1, 0, 0, 0}};
    pcMetric m;
    pcDistance d;
    pcEvent events[4];
    int count;
    pcEventSettings settings = pcDefaultEventSettings();
    pcShape* box = aBox();
    PC_EXPECT_STATUS(PC_ERROR_UNSUPPORTED, pcMetricPair(mesh, &at, box, &at, 0, NULL, &m));
    PC_EXPECT_STATUS(PC_ERROR_UNSUPPORTED, pcEuclidPair(box, &at, mesh, &at, NULL, &d));
    PC_EXPECT_STATUS(PC_ERROR_UNSUPPORTED, pcEventsOfPair(mesh, &at, plane, &at, 0, &settings, NULL, events, 4, &count));
    PC_EXPECT_STATUS(PC_ERROR_UNSUPPORTED, pcEventsOfPair(mesh, &at, mesh, &at, 0, &settings, NULL, events, 4, &count));
    PC_EXPECT_STATUS(PC_ERROR_NOT_FINITE, pcEventsOfPair(mesh, &at, box, &lost, 0, &settings, NULL, events, 4, &count));
    pcShapeFree(box);
    pcShapeFree(plane);
    pcShapeFree(mesh);
}
