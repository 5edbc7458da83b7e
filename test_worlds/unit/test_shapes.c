/*
 * Shapes: what they are made of, what they say of themselves, and what they refuse. Expected values are closed forms or brute force; each
 * surface is walked edge by edge through the public facets and the inner adjacency alike.
 */
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapters/gtest/pctest.h"
#include "shape/shape.h"
#include "test_worlds/fuzz/cases.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

static const double PI = 3.14159265358979323846, GOLDEN = 1.6180339887498949;

/* ---- points ---- */

typedef struct Cloud {
    int count;
    double* xyz;
} Cloud;

static Cloud cloudOf(int capacity) { return (Cloud){0, calloc(3 * (size_t)capacity, sizeof(double))}; }
static void addPoint(Cloud* cloud, double x, double y, double z) { v3Store(cloud->xyz + 3 * (size_t)cloud->count++, v3Make(x, y, z)); }

static double between(pcRandom* random, double low, double high) { return low + (high - low) * pcRandomUnit(random); }

static v3 randomUnit(pcRandom* random)
{
    double z = between(random, -1.0, 1.0), angle = between(random, 0.0, 2.0 * PI), r = sqrt(1.0 - z * z);
    return v3Make(r * cos(angle), r * sin(angle), z);
}

/* A rotation by its three columns. */
typedef struct Turn {
    v3 x, y, z;
} Turn;

static Turn randomTurn(pcRandom* random)
{
    Turn t = {.x = randomUnit(random)};
    v3 side = v3Cross(t.x, randomUnit(random));
    t.y = v3Scale(1.0 / v3Norm(side), side), t.z = v3Cross(t.x, t.y);
    return t;
}

static v3 turned(const Turn* t, v3 p) { return v3AddScaled(v3AddScaled(v3Scale(p.x, t->x), p.y, t->y), p.z, t->z); }

/* Stretched along its own axes, then turned and moved. */
static void place(Cloud* cloud, v3 stretch, const Turn* turn, v3 move)
{
    for (int i = 0; i < cloud->count; i++) {
        v3 p = v3Load(cloud->xyz + 3 * i);
        v3Store(cloud->xyz + 3 * i, v3Add(turned(turn, v3Make(stretch.x * p.x, stretch.y * p.y, stretch.z * p.z)), move));
    }
}

static void shuffle(Cloud* cloud, pcRandom* random)
{
    for (int i = cloud->count - 1; i > 0; i--) {
        int j = (int)(pcRandomBits(random) % (uint64_t)(i + 1));
        v3 p = v3Load(cloud->xyz + 3 * i), q = v3Load(cloud->xyz + 3 * j);
        v3Store(cloud->xyz + 3 * i, q), v3Store(cloud->xyz + 3 * j, p);
    }
}

static Cloud onSphere(pcRandom* random, int count)
{
    Cloud cloud = cloudOf(count);
    for (int i = 0; i < count; i++) {
        v3 p = randomUnit(random);
        addPoint(&cloud, p.x, p.y, p.z);
    }
    return cloud;
}

/* Plane rows a b c d of a shape. */
static double* planesOf(const pcShape* shape)
{
    double* rows = calloc(4 * (size_t)shape->facetCount, sizeof *rows);
    for (int f = 0; f < shape->facetCount; f++) {
        pcFacet facet = {.count = 0};
        PC_EXPECT_STATUS(PC_OK, pcShapeFacet(shape, f, &facet));
        memcpy(rows + 4 * (size_t)f, facet.plane, sizeof facet.plane);
    }
    return rows;
}

static pcShape* hullOf(const Cloud* cloud, const double* centre)
{
    pcShape* shape = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeFromPoints(cloud->xyz, cloud->count, centre, &shape));
    return shape;
}

static pcShape* bodyOf(const double* rows, int count)
{
    pcShape* shape = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeFromPlanes(rows, count, NULL, &shape));
    return shape;
}

static pcShapeInfo infoOf(const pcShape* shape)
{
    pcShapeInfo info = {.vertices = -1};
    PC_EXPECT_STATUS(PC_OK, pcShapeDescribe(shape, &info));
    return info;
}

static void expectCounts(const pcShape* shape, int vertices, int edges, int facets)
{
    pcShapeInfo info = infoOf(shape);
    PC_EXPECT_EQ_INT(vertices, info.vertices);
    PC_EXPECT_EQ_INT(edges, info.edges);
    PC_EXPECT_EQ_INT(facets, info.facets);
}

static void expectVertexAt(const pcShape* shape, v3 p, double tolerance)
{
    int count = 0;
    const double* v = pcShapeVertices(shape, &count);
    double nearest = HUGE_VAL;
    for (int i = 0; i < count; i++) nearest = fmin(nearest, v3Norm(v3Sub(v3Load(v + 3 * i), p)));
    PC_EXPECT_LE(nearest, tolerance);
}

/* ---- a surface, walked ---- */

static int slotOfEdge(const pcFacet* facet, int from, int to)
{
    for (int i = 0; i < facet->count; i++)
        if (facet->vertex[i] == from && facet->vertex[(i + 1) % facet->count] == to) return i;
    return -1;
}

static void expectRing(const pcShape* s, int f, double tolerance)
{
    pcFacet facet, other;
    PC_ASSERT_STATUS(PC_OK, pcShapeFacet(s, f, &facet));
    PC_ASSERT_TRUE(facet.count >= 3);
    v3 a = v3Load(facet.plane), area = {0.0, 0.0, 0.0}, origin = pcShapeVertex(s, facet.vertex[0]);
    PC_EXPECT_NEAR(1.0, v3Norm(a), 4e-16);
    for (int i = 0; i < facet.count; i++) {
        int u = facet.vertex[i], v = facet.vertex[(i + 1) % facet.count];
        PC_ASSERT_TRUE(u >= 0 && u < s->vertexCount && u != v);
        PC_EXPECT_NEAR(facet.plane[3], v3Dot(a, pcShapeVertex(s, u)), tolerance);
        area = v3Add(area, v3Cross(v3Sub(pcShapeVertex(s, u), origin), v3Sub(pcShapeVertex(s, v), origin)));
        PC_ASSERT_STATUS(PC_OK, pcShapeFacet(s, facet.neighbour[i], &other));
        int back = slotOfEdge(&other, v, u); /* the neighbour has the same edge the other way round, and this facet across it */
        PC_ASSERT_TRUE(back >= 0);
        PC_EXPECT_EQ_INT(f, other.neighbour[back]);
        pcEdge e = s->edge[s->ringEdge[s->ringStart[f] + i]];
        bool forward = e.vertex[0] == u && e.vertex[1] == v && e.facet[0] == f && e.facet[1] == facet.neighbour[i];
        bool backward = e.vertex[1] == u && e.vertex[0] == v && e.facet[1] == f && e.facet[0] == facet.neighbour[i];
        PC_EXPECT_TRUE(forward || backward);
    }
    PC_EXPECT_GT(v3Dot(area, a), 0.0); /* counter-clockwise from outside */
}

static void expectFan(const pcShape* s, int vertex)
{
    int first = s->fanStart[vertex], end = s->fanStart[vertex + 1];
    PC_EXPECT_GE(end - first, 3);
    for (int i = first; i < end; i++) {
        pcEdge e = s->edge[s->fanEdge[i]];
        bool ends = (e.vertex[0] == vertex && e.vertex[1] == s->fanVertex[i]) || (e.vertex[1] == vertex && e.vertex[0] == s->fanVertex[i]);
        PC_EXPECT_TRUE(ends);
        pcFacet facet;
        PC_ASSERT_STATUS(PC_OK, pcShapeFacet(s, s->fanFacet[i], &facet));
        PC_EXPECT_GE(slotOfEdge(&facet, vertex, s->fanVertex[i]), 0);
        for (int j = first; j < i; j++) PC_EXPECT_TRUE(s->fanFacet[j] != s->fanFacet[i] && s->fanEdge[j] != s->fanEdge[i]);
    }
}

static void expectConvex(const pcShape* s, double tolerance)
{
    double inradius = HUGE_VAL, outradius = 0.0;
    for (int f = 0; f < s->facetCount; f++) {
        pcFacet facet;
        PC_ASSERT_STATUS(PC_OK, pcShapeFacet(s, f, &facet));
        v3 a = v3Load(facet.plane);
        for (int i = 0; i < s->vertexCount; i++) PC_EXPECT_LE(v3Dot(a, pcShapeVertex(s, i)) - facet.plane[3], tolerance);
        inradius = fmin(inradius, facet.plane[3] - v3Dot(a, s->centre));
    }
    for (int i = 0; i < s->vertexCount; i++) outradius = fmax(outradius, v3Norm(v3Sub(pcShapeVertex(s, i), s->centre)));
    PC_EXPECT_NEAR(inradius, s->inradius, tolerance);
    PC_EXPECT_NEAR(outradius, s->outradius, tolerance);
}

/* `rounding` of coordinates as large as the farthest vertex from the origin. */
static void expectClosedSurface(const pcShape* s, double rounding)
{
    double reach = 0.0;
    for (int i = 0; i < s->vertexCount; i++) reach = fmax(reach, v3Norm(pcShapeVertex(s, i)));
    PC_EXPECT_EQ_INT(2, s->vertexCount - s->edgeCount + s->facetCount);
    PC_EXPECT_EQ_INT(2 * s->edgeCount, s->ringStart[s->facetCount]);
    PC_EXPECT_EQ_INT(2 * s->edgeCount, s->fanStart[s->vertexCount]);
    for (int f = 0; f < s->facetCount; f++) expectRing(s, f, rounding * reach);
    for (int i = 0; i < s->vertexCount; i++) expectFan(s, i);
    expectConvex(s, rounding * reach);
}

/* ---- bodies with closed forms ---- */

typedef struct Regular {
    const char* name;
    int vertices, edges, facets, corners;
    double edge;
    double volume, inradius, outradius; /* of edge length 1 */
} Regular;

static const Regular regular[5] = {
    {"tetrahedron", 4, 6, 4, 3, 2.8284271247461903, 0.11785113019775793, 0.20412414523193154, 0.61237243569579447},
    {"cube", 8, 12, 6, 4, 2.0, 1.0, 0.5, 0.86602540378443860},
    {"octahedron", 6, 12, 8, 3, 1.4142135623730951, 0.47140452079103168, 0.40824829046386302, 0.70710678118654757},
    {"dodecahedron", 20, 30, 12, 5, 1.2360679774997896, 7.6631189606246317, 1.1135163644116068, 1.4012585384440737},
    {"icosahedron", 12, 30, 20, 3, 2.0, 2.1816949906249123, 0.75576131407617079, 0.95105651629515353}};

/* (0, +-a, +-b) and its cyclic turns. */
static void addRectangles(Cloud* cloud, double a, double b)
{
    for (int i = 0; i < 4; i++) {
        double u = i & 1 ? a : -a, v = i & 2 ? b : -b;
        addPoint(cloud, 0.0, u, v), addPoint(cloud, v, 0.0, u), addPoint(cloud, u, v, 0.0);
    }
}

static Cloud regularPoints(int which)
{
    Cloud cloud = cloudOf(20);
    for (int i = 0; i < 8 && which != 2 && which != 4; i++)
        if (which != 0 || i == 7 || i == 1 || i == 2 || i == 4) addPoint(&cloud, i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0);
    for (int i = 0; i < 6 && which == 2; i++)
        addPoint(&cloud, i / 2 == 0 ? 1.0 - 2 * (i % 2) : 0.0, i / 2 == 1 ? 1.0 - 2 * (i % 2) : 0.0, i / 2 == 2 ? 1.0 - 2 * (i % 2) : 0.0);
    if (which == 3) addRectangles(&cloud, 1.0 / GOLDEN, GOLDEN);
    if (which == 4) addRectangles(&cloud, 1.0, GOLDEN);
    return cloud;
}

static void expectRegular(const pcShape* shape, const Regular* is, v3 middle)
{
    pcShapeInfo info = infoOf(shape);
    expectCounts(shape, is->vertices, is->edges, is->facets);
    for (int f = 0; f < info.facets; f++) PC_EXPECT_EQ_INT(is->corners, shape->ringStart[f + 1] - shape->ringStart[f]);
    PC_EXPECT_REL(is->volume * pow(is->edge, 3.0), info.volume, 1e-13);
    PC_EXPECT_REL(is->inradius * is->edge, info.inradius, 1e-13);
    PC_EXPECT_REL(is->outradius * is->edge, info.outradius, 1e-13);
    PC_EXPECT_NEAR(0.0, v3Norm(v3Sub(v3Load(info.centroid), middle)), 1e-14);
    PC_EXPECT_EQ_INT(0, memcmp(info.centroid, info.centre, sizeof info.centre));
    expectClosedSurface(shape, 1e-14);
}

PC_TEST(Shape, MeasuresTheFiveRegularBodiesHoweverTheyAreTurned)
{
    pcRandom random = {1};
    for (int which = 0; which < 5; which++)
        for (int i = 0; i < 40; i++) {
            PC_CASE("%s, turn %d", regular[which].name, i);
            Cloud cloud = regularPoints(which);
            Turn turn = i == 0 ? (Turn){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}} : randomTurn(&random);
            v3 move = i == 0 ? v3Make(0, 0, 0) : v3Make(0.1, -0.3, 0.7);
            place(&cloud, v3Make(1, 1, 1), &turn, move);
            pcShape* shape = hullOf(&cloud, NULL);
            expectRegular(shape, regular + which, move);
            pcShapeFree(shape);
            free(cloud.xyz);
        }
}

/* n sides on the unit circle; a prism of height h, or a pyramid if `tip`. */
static Cloud prismPoints(int n, double h, bool tip)
{
    Cloud cloud = cloudOf(2 * n + 1);
    for (int i = 0; i < n; i++) {
        double x = cos(2.0 * PI * i / n), y = sin(2.0 * PI * i / n);
        addPoint(&cloud, x, y, 0.0);
        if (!tip) addPoint(&cloud, x, y, h);
    }
    if (tip) addPoint(&cloud, 0.0, 0.0, h);
    return cloud;
}

PC_TEST(Shape, MeasuresPrismsAndPyramids)
{
    static const int sides[] = {3, 4, 5, 6, 7, 12, 20, 64};
    pcRandom random = {2};
    for (int i = 0; i < 32; i++) {
        int n = sides[i / 4];
        bool tip = i % 2;
        PC_CASE("%s of %d sides, %s", tip ? "pyramid" : "prism", n, i % 4 < 2 ? "upright" : "turned");
        Cloud cloud = prismPoints(n, 3.0, tip);
        Turn turn = i % 4 < 2 ? (Turn){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}} : randomTurn(&random);
        place(&cloud, v3Make(1, 1, 1), &turn, v3Make(0, 0, 0));
        pcShape* shape = hullOf(&cloud, NULL);
        double base = 0.5 * n * sin(2.0 * PI / n);
        if (tip)
            expectCounts(shape, n + 1, 2 * n, n + 1);
        else
            expectCounts(shape, 2 * n, 3 * n, n + 2);
        PC_EXPECT_REL(tip ? base : 3.0 * base, infoOf(shape).volume, 1e-13);
        v3 middle = turned(&turn, v3Make(0.0, 0.0, tip ? 0.75 : 1.5));
        PC_EXPECT_NEAR(0.0, v3Norm(v3Sub(middle, v3Load(infoOf(shape).centroid))), 1e-13);
        expectClosedSurface(shape, 1e-14);
        pcShapeFree(shape);
        free(cloud.xyz);
    }
}

/* ---- from points ---- */

static Cloud gridOfCube(double step)
{
    Cloud cloud = cloudOf(54);
    for (int i = 0; i < 27; i++) addPoint(&cloud, step * (i % 3 - 1), step * (i / 3 % 3 - 1), step * (i / 9 - 1));
    return cloud;
}

PC_TEST(ShapeFromPoints, KeepsOnlyTheCornersOfAGridInAnyOrder)
{
    pcRandom random = {3};
    for (int i = 0; i < 60; i++) {
        double step = i % 3 == 0 ? 1.0 : i % 3 == 1 ? 1e-6 : 0.1;
        PC_CASE("order %d, step %g", i, step);
        Cloud cloud = gridOfCube(step);
        for (int k = 0; k < 27 && i % 2 == 1; k++) addPoint(&cloud, cloud.xyz[3 * k], cloud.xyz[3 * k + 1], cloud.xyz[3 * k + 2]);
        shuffle(&cloud, &random);
        pcShape* shape = hullOf(&cloud, NULL);
        expectCounts(shape, 8, 12, 6);
        for (int f = 0; f < 6; f++) PC_EXPECT_EQ_INT(4, shape->ringStart[f + 1] - shape->ringStart[f]);
        for (int c = 0; c < 8; c++) expectVertexAt(shape, v3Make(c & 1 ? step : -step, c & 2 ? step : -step, c & 4 ? step : -step), 0.0);
        PC_EXPECT_REL(8.0 * step * step * step, infoOf(shape).volume, 1e-14);
        expectClosedSurface(shape, 1e-14);
        pcShapeFree(shape);
        free(cloud.xyz);
    }
}

/* Midpoints and centres are corners by rounding only: a turned grid must lose them too. */
PC_TEST(ShapeFromPoints, KeepsOnlyTheCornersOfATurnedGrid)
{
    pcRandom random = {4};
    for (int i = 0; i < 60; i++) {
        PC_CASE("turn %d", i);
        Cloud cloud = gridOfCube(1.0);
        Turn turn = randomTurn(&random);
        place(&cloud, v3Make(1, 1, 1), &turn, v3Make(0.2, 0.3, 0.4));
        pcShape* shape = hullOf(&cloud, NULL);
        PC_EXPECT_REL(8.0, infoOf(shape).volume, 1e-13);
        expectCounts(shape, 8, 12, 6);
        pcShapeFree(shape);
        free(cloud.xyz);
    }
}

PC_TEST(ShapeFromPoints, TakesTheCentreItIsGiven)
{
    static const double centre[3] = {0.5, -0.25, 0.0};
    Cloud cloud = regularPoints(1);
    pcShape* shape = hullOf(&cloud, centre);
    pcShapeInfo info = infoOf(shape);
    PC_EXPECT_EQ_INT(0, memcmp(centre, info.centre, sizeof centre));
    PC_EXPECT_NEAR(0.0, v3Norm(v3Load(info.centroid)), 1e-15);
    PC_EXPECT_NEAR(0.5, info.inradius, 1e-15);
    PC_EXPECT_NEAR(sqrt(1.5 * 1.5 + 1.25 * 1.25 + 1.0), info.outradius, 1e-15);
    pcShapeFree(shape);
    free(cloud.xyz);
}

PC_TEST(ShapeFromPoints, KeepsRandomHullsClosedAndEveryPointInside)
{
    pcRandom random = {5};
    for (int i = 0; i < 60; i++) {
        int count = 4 + i * i / 4;
        PC_CASE("%d points", count);
        Cloud cloud = cloudOf(count);
        for (int k = 0; k < count; k++) addPoint(&cloud, between(&random, -1, 1), between(&random, -1, 1), between(&random, -1, 1));
        pcShape* shape = hullOf(&cloud, NULL);
        expectClosedSurface(shape, 1e-13);
        for (int f = 0; f < shape->facetCount; f++)
            for (int k = 0; k < count; k++)
                PC_EXPECT_LE(v3Dot(shape->normal[f], v3Sub(v3Load(cloud.xyz + 3 * k), shape->centre)) - shape->offset[f], 1e-13);
        pcShapeFree(shape);
        free(cloud.xyz);
    }
}

/* A thickness of 1e-9 is 1e7 units in the last place of a length of 1: the volume is good to 1e-7 and no better. */
PC_TEST(ShapeFromPoints, MeasuresNeedlesAndPlatesAtAnyAngle)
{
    static const double thin[] = {1e-3, 1e-6, 1e-9};
    pcRandom random = {6};
    for (int i = 0; i < 600; i++) {
        int which = i % 5;
        double t = thin[i / 5 % 3];
        v3 stretch = i % 2 ? v3Make(1.0, 1.0, t) : v3Make(1.0, t, t);
        PC_CASE("%s %d stretched by %g %g %g", regular[which].name, i, stretch.x, stretch.y, stretch.z);
        Cloud cloud = regularPoints(which);
        Turn turn = randomTurn(&random);
        place(&cloud, stretch, &turn, v3Make(0, 0, 0));
        pcShape* shape = hullOf(&cloud, NULL);
        if (shape) {
            pcShapeInfo info = infoOf(shape);
            double volume = regular[which].volume * pow(regular[which].edge, 3.0) * stretch.y * stretch.z;
            PC_EXPECT_REL(volume, info.volume, 1e-6);
            PC_EXPECT_GT(info.inradius, 0.1 * t);
            expectClosedSurface(shape, 1e-14);
        }
        pcShapeFree(shape);
        free(cloud.xyz);
    }
}

/* Whole numbers stay exact at 2^40, so that nothing but the library could spoil the cube. */
PC_TEST(ShapeFromPoints, StaysExactFarFromTheOrigin)
{
    static const double far[] = {0x1p20, 0x1p40, -0x1p45};
    for (int i = 0; i < 3; i++) {
        PC_CASE("at %g", far[i]);
        Cloud cloud = gridOfCube(1.0);
        Turn same = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        place(&cloud, v3Make(1, 1, 1), &same, v3Make(far[i], -0.5 * far[i], far[i]));
        pcShape* shape = hullOf(&cloud, NULL);
        expectCounts(shape, 8, 12, 6);
        pcShapeInfo info = infoOf(shape);
        PC_EXPECT_NEAR(8.0, info.volume, 1e-14);
        PC_EXPECT_NEAR(1.0, info.inradius, 1e-14);
        PC_EXPECT_NEAR(far[i], info.centroid[0], 0.0);
        pcShapeFree(shape);
        free(cloud.xyz);
    }
}

PC_TEST(ShapeFromPoints, ChangesOnlyUnitsWhenScaled)
{
    pcRandom random = {7};
    for (int i = 0; i < 20; i++) {
        double unit = i % 2 ? 1e-6 : 1e6;
        PC_CASE("hull %d by %g", i, unit);
        Cloud cloud = onSphere(&random, 20 + 10 * i);
        pcShape* shape = hullOf(&cloud, NULL);
        for (int k = 0; k < 3 * cloud.count; k++) cloud.xyz[k] *= unit;
        pcShape* scaled = hullOf(&cloud, NULL);
        pcShapeInfo a = infoOf(shape), b = infoOf(scaled);
        expectCounts(scaled, a.vertices, a.edges, a.facets);
        PC_EXPECT_REL(a.volume * unit * unit * unit, b.volume, 1e-13);
        PC_EXPECT_REL(a.inradius * unit, b.inradius, 1e-13);
        PC_EXPECT_REL(a.outradius * unit, b.outradius, 1e-13);
        pcShapeFree(shape);
        pcShapeFree(scaled);
        free(cloud.xyz);
    }
}

/* ---- from half-spaces ---- */

static const double cubeRows[24] = {1, 0, 0, 1, -1, 0, 0, 1, 0, 1, 0, 1, 0, -1, 0, 1, 0, 0, 1, 1, 0, 0, -1, 1};

PC_TEST(ShapeFromPlanes, MakesACubeFromRowsOfAnyLength)
{
    double rows[24];
    for (int scale = 0; scale < 4; scale++) {
        static const double lengths[4] = {1.0, 3.7, 1e-7, 1e9};
        PC_CASE("rows of length %g", lengths[scale]);
        for (int i = 0; i < 24; i++) rows[i] = cubeRows[i] * (i / 4 % 2 ? lengths[scale] : 1.0);
        pcShape* cube = bodyOf(rows, 6);
        expectRegular(cube, regular + 1, v3Make(0, 0, 0));
        pcShapeFree(cube);
    }
}

PC_TEST(ShapeFromPlanes, MakesAnOctahedronFromEightRowsAndATetrahedronFromFour)
{
    double rows[32];
    for (int i = 0; i < 8; i++)
        for (int axis = 0; axis < 4; axis++) rows[4 * i + axis] = axis == 3 || (i >> axis & 1) ? 1.0 : -1.0;
    pcShape* octahedron = bodyOf(rows, 8);
    expectRegular(octahedron, regular + 2, v3Make(0, 0, 0));
    for (int i = 0; i < 6; i++) PC_EXPECT_EQ_INT(4, octahedron->fanStart[i + 1] - octahedron->fanStart[i]);
    static const double four[16] = {1, 1, -1, 1, 1, -1, 1, 1, -1, 1, 1, 1, -1, -1, -1, 1};
    pcShape* tetrahedron = bodyOf(four, 4);
    expectRegular(tetrahedron, regular, v3Make(0, 0, 0));
    pcShapeFree(octahedron);
    pcShapeFree(tetrahedron);
}

/* Touching in an edge or a corner, repeated, near and far away: none of them cuts anything off. */
PC_TEST(ShapeFromPlanes, DropsRedundantRows)
{
    static const double extra[][4] = {{1, 0, 0, 5}, {1, 1, 0, 2}, {1, 1, 1, 3}, {1, 0, 0, 1}, {0.6, 0.8, 0, 40}, {1, 0, 0, 1e6}, {0, 1, 0, 1e9}};
    double rows[24 + 28];
    memcpy(rows, cubeRows, sizeof cubeRows);
    for (size_t i = 0; i < sizeof extra / sizeof *extra; i++) {
        PC_CASE("with %g %g %g | %g", extra[i][0], extra[i][1], extra[i][2], extra[i][3]);
        memcpy(rows + 24, extra[i], sizeof extra[i]);
        pcShape* cube = bodyOf(rows, 7);
        if (cube) expectRegular(cube, regular + 1, v3Make(0, 0, 0));
        pcShapeFree(cube);
    }
    PC_CASE("with all of them");
    memcpy(rows + 24, extra, sizeof extra);
    pcShape* cube = bodyOf(rows, 6 + (int)(sizeof extra / sizeof *extra));
    if (cube) expectRegular(cube, regular + 1, v3Make(0, 0, 0));
    pcShapeFree(cube);
}

PC_TEST(ShapeFromPlanes, IsNotMadeEmptyByARowBeyondTheHorizon)
{
    double rows[28] = {[24] = 0.0, 0.0, 1.0, 1e15};
    memcpy(rows, cubeRows, sizeof cubeRows);
    pcShape* cube = bodyOf(rows, 7);
    if (cube) expectRegular(cube, regular + 1, v3Make(0, 0, 0));
    pcShapeFree(cube);
}

PC_TEST(ShapeFromPlanes, MakesOneCornerWhereTwentyRowsMeet)
{
    double rows[84] = {0.0, 0.0, -1.0, 0.0};
    for (int i = 0; i < 20; i++) { /* a pyramid over z = 0 with its tip at (0, 0, 2) and an inscribed unit circle at its foot */
        double* row = rows + 4 * (i + 1);
        row[0] = cos(2.0 * PI * i / 20), row[1] = sin(2.0 * PI * i / 20), row[2] = 0.5, row[3] = 1.0;
    }
    pcShape* shape = bodyOf(rows, 21);
    expectCounts(shape, 21, 40, 21);
    expectVertexAt(shape, v3Make(0, 0, 2), 1e-14);
    PC_EXPECT_REL(20.0 * tan(PI / 20.0) * 2.0 / 3.0, infoOf(shape).volume, 1e-13);
    expectClosedSurface(shape, 1e-14);
    pcShapeFree(shape);
}

PC_TEST(ShapeFromPlanes, MakesSlabsDownToABillionthAtAnyAngle)
{
    pcRandom random = {8};
    for (int i = 0; i < 120; i++) {
        double thick = pow(10.0, -3.0 * (1 + i % 3)), rows[24];
        PC_CASE("slab %d of thickness %g", i, thick);
        Turn turn = i < 3 ? (Turn){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}} : randomTurn(&random);
        for (int k = 0; k < 6; k++) {
            v3Store(rows + 4 * k, turned(&turn, v3Load(cubeRows + 4 * k)));
            rows[4 * k + 3] = k / 2 == 2 ? 0.5 * thick : 1.0;
        }
        pcShape* slab = bodyOf(rows, 6);
        if (slab) {
            PC_EXPECT_REL(4.0 * thick, infoOf(slab).volume, 1e-6);
            PC_EXPECT_REL(0.5 * thick, infoOf(slab).inradius, 1e-6);
            expectClosedSurface(slab, 1e-14);
        }
        pcShapeFree(slab);
    }
}

PC_TEST(ShapeFromPlanes, GivesBackTheCornersWhoseFacetsItIsGiven)
{
    pcRandom random = {9};
    for (int i = 0; i < 40; i++) {
        PC_CASE("hull %d", i);
        Cloud cloud = onSphere(&random, 4 + 4 * i);
        pcShape* shape = hullOf(&cloud, NULL);
        double* rows = planesOf(shape);
        pcShape* again = bodyOf(rows, shape->facetCount);
        if (again) {
            PC_EXPECT_REL(infoOf(shape).volume, infoOf(again).volume, 1e-11);
            PC_EXPECT_EQ_INT(shape->vertexCount, again->vertexCount);
            for (int k = 0; k < shape->vertexCount; k++) expectVertexAt(again, pcShapeVertex(shape, k), 1e-9);
            expectClosedSurface(again, 1e-11);
        }
        free(rows);
        pcShapeFree(shape);
        pcShapeFree(again);
        free(cloud.xyz);
    }
}

/* ---- simple shapes ---- */

PC_TEST(ShapeSimple, BoxSphereAndHalfSpaceDescribeThemselves)
{
    static const double size[3] = {1.0, 2.0, 1e-9}, plane[4] = {0.0, 3.0, 4.0, 10.0};
    pcShape *box = NULL, *ball = NULL, *ground = NULL;
    PC_ASSERT_STATUS(PC_OK, pcShapeBox(size, &box));
    PC_ASSERT_STATUS(PC_OK, pcShapeSphere(0.5, &ball));
    PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace(plane, &ground));
    expectCounts(box, 8, 12, 6);
    expectClosedSurface(box, 1e-15);
    PC_EXPECT_REL(2e-9, infoOf(box).volume, 1e-15);
    PC_EXPECT_REL(0.5e-9, infoOf(box).inradius, 1e-15);
    PC_EXPECT_EQ_INT(PC_SHAPE_BOX, infoOf(box).kind);
    expectCounts(ball, 0, 0, 0);
    PC_EXPECT_REL(PI / 6.0, infoOf(ball).volume, 1e-15);
    PC_EXPECT_NEAR(0.5, infoOf(ball).inradius, 0.0);
    PC_EXPECT_TRUE(isinf(infoOf(ground).volume));
    PC_EXPECT_NEAR(2.0, 0.6 * infoOf(ground).centre[1] + 0.8 * infoOf(ground).centre[2], 1e-15); /* on its surface */
    int count = 7;
    PC_EXPECT_TRUE(pcShapeVertices(ball, &count) == NULL);
    PC_EXPECT_EQ_INT(0, count);
    pcFacet facet = {.count = 7};
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeFacet(ball, 0, &facet));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeFacet(box, 6, &facet));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeFacet(box, -1, &facet));
    PC_EXPECT_EQ_INT(7, facet.count);
    pcShapeFree(box);
    pcShapeFree(ball);
    pcShapeFree(ground);
}

/* ---- support ---- */

static void expectSupport(const pcShape* s, v3 d)
{
    long double best = -HUGE_VALL;
    for (int i = 0; i < s->vertexCount; i++)
        best = fmaxl(best, (long double)d.x * s->kx[i] + (long double)d.y * s->ky[i] + (long double)d.z * s->kz[i]);
    double rounding = 4.0 * PC_ROUND * v3Norm(d) * s->outradius; /* each step uphill may be decided by as much; on a facet they may add up */
    pcSupport found[2] = {pcSupportOf(s, d), pcSupportScan(s, d)};
    for (int i = 0; i < 2; i++) {
        PC_ASSERT_TRUE(found[i].vertex >= 0 && found[i].vertex < s->vertexCount);
        PC_EXPECT_NEAR((double)best, found[i].value, rounding * (i == 0 ? s->largestFacet : 1));
        PC_EXPECT_NEAR(v3Dot(pcShapeK(s, found[i].vertex), d), found[i].value, rounding);
    }
}

static void expectSupports(const pcShape* s, pcRandom* random)
{
    for (int i = 0; i < 6; i++) expectSupport(s, v3Scale(i % 2 ? 1.0 : -1.0, v3Make(i / 2 == 0, i / 2 == 1, i / 2 == 2)));
    for (int i = 0; i < 300; i++) expectSupport(s, v3Scale(pow(10.0, i % 13 - 6), randomUnit(random)));
    for (int i = 0; i < 200; i++) expectSupport(s, s->normal[pcRandomBits(random) % (uint64_t)s->facetCount]);
    for (int i = 0; i < 8; i++) expectSupport(s, v3Make(i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0)); /* corners of the table */
}

PC_TEST(ShapeSupport, IsTheFarthestVertexForEveryDirection)
{
    static const int counts[] = {5, 8, 39, 40, 41, 43, 120, 1000, 5000};
    pcRandom random = {10};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int flat = 0; flat < 3; flat++) {
            PC_CASE("%d points, flattened by 1e-%d", counts[i], 3 * flat);
            Cloud cloud = onSphere(&random, counts[i]);
            Turn turn = randomTurn(&random);
            place(&cloud, v3Make(1.0, 1.0, pow(10.0, -3.0 * flat)), &turn, v3Make(3.0, 0.0, -1.0));
            pcShape* shape = hullOf(&cloud, NULL);
            expectSupports(shape, &random);
            pcShapeFree(shape);
            free(cloud.xyz);
        }
}

/* A facet of 200 corners: along its normal all of them are farthest to rounding. */
PC_TEST(ShapeSupport, FindsItsWayOverFacetsOfManyCorners)
{
    pcRandom random = {11};
    for (int i = 0; i < 20; i++) {
        PC_CASE("prism %d", i);
        Cloud cloud = prismPoints(200, 0.5, i % 2);
        Turn turn = randomTurn(&random);
        place(&cloud, v3Make(1, 1, 1), &turn, v3Make(0, 0, 0));
        pcShape* shape = hullOf(&cloud, NULL);
        expectSupports(shape, &random);
        pcShapeFree(shape);
        free(cloud.xyz);
    }
}

/* ---- ownership, threads, memory ---- */

PC_TEST(ShapeOwners, ShareOneShapeAndFreeItInAnyOrder)
{
    Cloud cloud = regularPoints(4);
    for (int order = 0; order < 2; order++) {
        pcShape *first = hullOf(&cloud, NULL), *second = pcShapeShare(first), *third = pcShapeShare(second);
        PC_EXPECT_TRUE(first == second && second == third);
        pcShapeFree(order == 0 ? first : third);
        expectCounts(second, 12, 30, 20);
        pcShapeFree(second);
        expectCounts(order == 0 ? third : first, 12, 30, 20);
        pcShapeFree(order == 0 ? third : first);
    }
    PC_EXPECT_TRUE(pcShapeShare(NULL) == NULL);
    pcShapeFree(NULL);
    free(cloud.xyz);
}

typedef struct Reader {
    pthread_t thread;
    const pcShape* shape;
    double sum;
} Reader;

static void* readShape(void* argument)
{
    Reader* reader = argument;
    pcRandom random = {12};
    for (int i = 0; i < 2000; i++) {
        pcShape* own = pcShapeShare(reader->shape);
        pcFacet facet = {.count = 0};
        pcShapeInfo info = {.vertices = 0};
        pcShapeFacet(own, i % own->facetCount, &facet);
        pcShapeDescribe(own, &info);
        reader->sum += facet.plane[3] + info.volume + pcSupportOf(own, randomUnit(&random)).value;
        pcShapeFree(own);
    }
    return NULL;
}

PC_TEST(ShapeOwners, MayReadOneShapeFromManyThreads)
{
    pcRandom random = {13};
    Cloud cloud = onSphere(&random, 300);
    pcShape* shape = hullOf(&cloud, NULL);
    Reader reader[4] = {{.shape = shape}, {.shape = shape}, {.shape = shape}, {.shape = shape}};
    for (int i = 0; i < 4; i++) PC_ASSERT_EQ_INT(0, pthread_create(&reader[i].thread, NULL, readShape, reader + i));
    for (int i = 0; i < 4; i++) pthread_join(reader[i].thread, NULL);
    for (int i = 1; i < 4; i++) PC_EXPECT_EQ_INT(0, memcmp(&reader[0].sum, &reader[i].sum, sizeof(double)));
    PC_EXPECT_EQ_INT(1, atomic_load(&shape->owners));
    pcShapeFree(shape);
    free(cloud.xyz);
}

static double bytesPerVertex(pcRandom* random, int count)
{
    Cloud cloud = onSphere(random, count);
    pcShape* shape = hullOf(&cloud, NULL);
    pcShapeInfo info = infoOf(shape);
    PC_EXPECT_EQ_INT(count, info.vertices);
    PC_EXPECT_EQ_INT(3 * count - 6, info.edges);
    PC_EXPECT_REL(4.0 / 3.0 * PI, info.volume, 20.0 / count); /* the hull of n points lacks about 14 / n of the ball */
    pcShapeFree(shape);
    free(cloud.xyz);
    return (double)info.bytes / count;
}

/* 6 edges and 2 triangles per vertex, each link stored from both sides, with a table of 4 cells per vertex: about 850 bytes. */
PC_TEST(ShapeMemory, GrowsLinearlyWithTheVertices)
{
    pcRandom random = {14};
    double small = bytesPerVertex(&random, 200);
    PC_EXPECT_LT(small, 1200.0);
    for (int count = 1000; count <= (sanitized ? 5000 : 25000); count *= 5) {
        PC_CASE("%d vertices", count);
        PC_EXPECT_LT(bytesPerVertex(&random, count), 1.05 * small);
    }
}

PC_TEST(ShapeMemory, OfAHundredThousandVerticesIsStillLinear)
{
    if (sanitized) PC_SKIP("a hull of 100,000 vertices takes minutes under a sanitizer");
    pcRandom random = {15};
    clock_t start = clock();
    PC_EXPECT_LT(bytesPerVertex(&random, 100000), 1200.0);
    PC_EXPECT_LT((double)(clock() - start) / CLOCKS_PER_SEC, 30.0);
}

PC_TEST(ShapeMemory, TakesAMillionPointsOfWhichEightAreCorners)
{
    if (sanitized) PC_SKIP("a million points take too long under a sanitizer");
    pcRandom random = {16};
    Cloud cloud = onSphere(&random, 999992);
    cloud.xyz = realloc(cloud.xyz, 3000000 * sizeof(double));
    for (int i = 0; i < 8; i++) addPoint(&cloud, i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0);
    clock_t start = clock();
    pcShape* cube = hullOf(&cloud, NULL);
    PC_EXPECT_LT((double)(clock() - start) / CLOCKS_PER_SEC, 20.0);
    expectRegular(cube, regular + 1, v3Make(0, 0, 0));
    PC_EXPECT_LT((double)infoOf(cube).bytes, 8192.0);
    pcShapeFree(cube);
    free(cloud.xyz);
}

/* ---- what is refused ---- */

static char marker;

/* An unlike failure comes first, so that its sentence cannot pass for the one expected. */
static pcShape* beforeRefusal(void)
{
    pcShape* none = NULL;
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeSphere(-123456789.0, &none));
    return (pcShape*)(void*)&marker;
}

static void expectRefused(pcStatus expected, pcStatus status, pcShape* out)
{
    PC_EXPECT_STATUS(expected, status);
    PC_EXPECT_TRUE(out == (pcShape*)(void*)&marker);
    PC_EXPECT_TRUE(strlen(pcLastError()) > 8 && strstr(pcLastError(), "-1.23457e+08") == NULL);
    if (out != (pcShape*)(void*)&marker) pcShapeFree(out);
}

static void refusePoints(pcStatus expected, const double* xyz, int count, const double* centre)
{
    pcShape* out = beforeRefusal();
    expectRefused(expected, pcShapeFromPoints(xyz, count, centre, &out), out);
}

static void refusePlanes(pcStatus expected, const double* rows, int count, const double* centre)
{
    pcShape* out = beforeRefusal();
    expectRefused(expected, pcShapeFromPlanes(rows, count, centre, &out), out);
}

static const double wild[3] = {(double)NAN, (double)INFINITY, -(double)INFINITY};

static void refuseWildNumbers(void)
{
    Cloud cube = regularPoints(1);
    double rows[24], size[3] = {1, 1, 1}, plane[4] = {0, 0, 1, 0}, centre[3] = {0, 0, 0};
    for (int w = 0; w < 3; w++) {
        for (int i = 0; i < 24; i++) {
            PC_CASE("number %d is %g", i, wild[w]);
            double keep = cube.xyz[i];
            cube.xyz[i] = wild[w], refusePoints(PC_ERROR_NOT_FINITE, cube.xyz, 8, NULL), cube.xyz[i] = keep;
            memcpy(rows, cubeRows, sizeof rows);
            rows[i] = wild[w], refusePlanes(PC_ERROR_NOT_FINITE, rows, 6, NULL);
            pcShape* out = beforeRefusal();
            if (i < 3) size[i] = wild[w], expectRefused(PC_ERROR_NOT_FINITE, pcShapeBox(size, &out), out), size[i] = 1.0;
            double old = i < 4 ? plane[i] : 0.0;
            if (i < 4) plane[i] = wild[w], expectRefused(PC_ERROR_NOT_FINITE, pcShapeHalfSpace(plane, &out), out), plane[i] = old;
            if (i < 3) centre[i] = wild[w], refusePoints(PC_ERROR_NOT_FINITE, cube.xyz, 8, centre), refusePlanes(PC_ERROR_NOT_FINITE, cubeRows, 6, centre), centre[i] = 0.0;
            if (i == 0) expectRefused(PC_ERROR_NOT_FINITE, pcShapeSphere(wild[w], &out), out);
        }
    }
    free(cube.xyz);
}

static void refuseArguments(void)
{
    static const int few[] = {3, 2, 1, 0, -1, INT_MIN};
    static const double sizes[] = {0.0, -0.0, -1.0, -1e-300}, zero[4] = {0, 0, 0, 1};
    Cloud cube = regularPoints(1);
    for (int i = 0; i < 6; i++) refusePoints(PC_ERROR_ARGUMENT, cube.xyz, few[i], NULL);
    for (int i = 0; i < 6; i++) refusePlanes(few[i] < 0 ? PC_ERROR_ARGUMENT : PC_ERROR_UNBOUNDED, cubeRows, few[i], NULL);
    refusePoints(PC_ERROR_ARGUMENT, NULL, 8, NULL);
    refusePlanes(PC_ERROR_ARGUMENT, NULL, 8, NULL);
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeFromPoints(cube.xyz, 8, NULL, NULL));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeFromPlanes(cubeRows, 6, NULL, NULL));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeBox(cube.xyz, NULL));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeSphere(1.0, NULL));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeHalfSpace(cubeRows, NULL));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeDescribe(NULL, NULL));
    for (int i = 0; i < 4; i++) {
        double size[3] = {1.0, i == 2 ? sizes[i] : 1.0, i == 2 ? 1.0 : sizes[i]};
        pcShape* out = beforeRefusal();
        expectRefused(PC_ERROR_ARGUMENT, pcShapeBox(size, &out), out);
        expectRefused(PC_ERROR_ARGUMENT, pcShapeSphere(sizes[i], &out), out);
        expectRefused(PC_ERROR_ARGUMENT, pcShapeHalfSpace(zero, &out), out);
        expectRefused(PC_ERROR_ARGUMENT, pcShapeBox(NULL, &out), out);
        expectRefused(PC_ERROR_ARGUMENT, pcShapeHalfSpace(NULL, &out), out);
    }
    double rows[28] = {[27] = 1.0};
    memcpy(rows, cubeRows, sizeof cubeRows);
    refusePlanes(PC_ERROR_ARGUMENT, rows, 7, NULL); /* its last normal is zero */
    free(cube.xyz);
}

/* rank 0: one point many times, 1: on a line, 2: in a plane; turned, so that they are flat only to rounding. */
static void refuseFlat(pcRandom* random, int i)
{
    int rank = i % 3, count = 4 + i % 40;
    PC_CASE("%d points of rank %d, turn %d", count, rank, i);
    Cloud cloud = cloudOf(count);
    for (int k = 0; k < count; k++) addPoint(&cloud, rank > 0 ? between(random, -1, 1) : 0.0, rank > 1 ? between(random, -1, 1) : 0.0, 0.0);
    Turn turn = i < 30 ? (Turn){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}} : randomTurn(random);
    place(&cloud, v3Make(1, 1, 1), &turn, i % 2 ? v3Make(0.3, 0.4, 0.5) : v3Make(0, 0, 0));
    refusePoints(PC_ERROR_FLAT, cloud.xyz, count, NULL);
    free(cloud.xyz);
}

/* Open prisms, wedges and cones, turned: that they are open is a matter of rounding where the open side is along no axis. */
static void refuseUnbounded(pcRandom* random, int i)
{
    static const double wedge[16] = {1, 0, 1, 1, -1, 0, 1, 1, 0, 1, 0, 1, 0, -1, 0, 1}; /* a tent without a floor */
    double rows[24];
    int count = i % 3 == 2 ? 4 : 4 + i % 3, kind = i % 3;
    PC_CASE("open body of kind %d, turn %d", kind, i);
    Turn turn = i < 3 ? (Turn){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}} : randomTurn(random);
    v3 move = i % 2 ? v3Make(0.4, 0.1, -2.0) : v3Make(0, 0, 0);
    for (int k = 0; k < count; k++) {
        const double* row = (kind == 2 ? wedge : cubeRows) + 4 * k;
        v3 a = turned(&turn, v3Load(row));
        v3Store(rows + 4 * k, a);
        rows[4 * k + 3] = row[3] + v3Dot(a, move);
    }
    refusePlanes(PC_ERROR_UNBOUNDED, rows, count, NULL);
}

static void refuseEmpty(void)
{
    static const double lids[][4] = {{1, 0, 0, -2}, {1, 0, 0, -1}, {1, 1, 1, -3}, {1, 1, 0, -2}, {1, 0, 0, -1e9}};
    double rows[28];
    memcpy(rows, cubeRows, sizeof cubeRows);
    for (size_t i = 0; i < sizeof lids / sizeof *lids; i++) { /* beyond the cube, or touching a face, a corner, an edge from outside */
        PC_CASE("lid %zu", i);
        memcpy(rows + 24, lids[i], sizeof lids[i]);
        refusePlanes(PC_ERROR_EMPTY, rows, 7, NULL);
    }
}

static void refuseCentres(void)
{
    static const double outside[][3] = {{1, 0, 0}, {1, 1, 1}, {0, -1, 1}, {1.5, 0, 0}, {0, 0, -1e9}, {0, 1.0 - 1e-17, 0}};
    Cloud cube = regularPoints(1);
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        PC_CASE("centre %g %g %g", outside[i][0], outside[i][1], outside[i][2]);
        refusePoints(PC_ERROR_CENTRE, cube.xyz, 8, outside[i]);
        refusePlanes(PC_ERROR_CENTRE, cubeRows, 6, outside[i]);
    }
    free(cube.xyz);
}

PC_TEST(ShapeRefuses, NumbersThatAreNotFinite) { refuseWildNumbers(); }
PC_TEST(ShapeRefuses, MissingArgumentsAndSizesOutOfRange) { refuseArguments(); }
PC_TEST(ShapeRefuses, HalfSpacesWithoutACommonInterior) { refuseEmpty(); }
PC_TEST(ShapeRefuses, CentresOnOrOutsideTheBoundary) { refuseCentres(); }

PC_TEST(ShapeRefuses, FlatPointsAlsoWhenTurned)
{
    pcRandom random = {17};
    for (int i = 0; i < 600; i++) refuseFlat(&random, i);
}

PC_TEST(ShapeRefuses, UnboundedSetsAlsoWhenTurned)
{
    pcRandom random = {18};
    for (int i = 0; i < 300; i++) refuseUnbounded(&random, i);
    refusePlanes(PC_ERROR_UNBOUNDED, cubeRows, 3, NULL);
}

/* A sanitizer would tell of a leak at the end; this tells without one. */
PC_TEST(ShapeRefuses, AndLeaksNothing)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    if (sanitized) PC_SKIP("the sanitizer looks for leaks itself");
    size_t before = 0;
    for (int round = 0; round < 4; round++) {
        pcRandom random = {19};
        refuseWildNumbers(), refuseArguments(), refuseEmpty(), refuseCentres();
        for (int i = 0; i < 60; i++) refuseFlat(&random, i), refuseUnbounded(&random, i);
        size_t now = mallinfo2().uordblks;
        if (round == 1) before = now; /* the first round may have filled buffers that stay */
        if (round > 1) PC_EXPECT_EQ_INT(before, now);
    }
#else
    PC_SKIP("this C library does not tell how much memory is in use");
#endif
}
