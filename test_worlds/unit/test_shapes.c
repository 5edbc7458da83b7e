/*
 * Shapes: what they are made of and what they say of themselves. Expected values are closed forms or brute force; each surface is walked
 * edge by edge through the public facets and the inner adjacency alike.
 */
#include <math.h>
#include <string.h>

#include "test_worlds/unit/clouds.h"

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

static pcShape* bodyOf(const double* rows, int count)
{
    pcShape* shape = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeFromPlanes(rows, count, NULL, &shape));
    return shape;
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
    static const double extra[][4] = {{1, 0, 0, 5},      {1, 1, 0, 2},   {1, 1, 1, 3},  {1, 0, 0, 1},
                                      {0.6, 0.8, 0, 40}, {1, 0, 0, 1e6}, {0, 1, 0, 1e9}};
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

/* ---- against all corners of three rows ---- */

static double volumeOfThree(v3 a, v3 b, v3 c) { return v3Dot(a, v3Cross(b, c)); }

/* The corner of three rows, if they have one and it is inside all others. Exact to a few roundings: the numbers are small and whole. */
static bool cornerOf(const double* rows, int count, const int pick[3], v3* x)
{
    v3 a = v3Load(rows + 4 * pick[0]), b = v3Load(rows + 4 * pick[1]), c = v3Load(rows + 4 * pick[2]);
    double det = volumeOfThree(a, b, c), d[3] = {rows[4 * pick[0] + 3], rows[4 * pick[1] + 3], rows[4 * pick[2] + 3]};
    if (det == 0.0) return false;
    *x = v3Add(v3Add(v3Scale(d[0] / det, v3Cross(b, c)), v3Scale(d[1] / det, v3Cross(c, a))), v3Scale(d[2] / det, v3Cross(a, b)));
    for (int k = 0; k < count; k++)
        if (v3Dot(v3Load(rows + 4 * k), *x) > rows[4 * k + 3] + 1e-12) return false;
    return true;
}

static int allCorners(const double* rows, int count, v3* corner)
{
    int found = 0;
    v3 x;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            for (int k = 0; k < j; k++) {
                bool fresh = cornerOf(rows, count, (int[]){i, j, k}, &x);
                for (int n = 0; n < found && fresh; n++) fresh = v3Norm(v3Sub(corner[n], x)) > 1e-9;
                if (fresh) corner[found++] = x;
            }
    return found;
}

/* Rows along the 26 directions to the neighbours in a grid, about a cube: they meet in corners of many rows, touch, repeat, miss. Some go
 * through the origin, so that it lies on the boundary or outside. */
PC_TEST(ShapeFromPlanes, HasTheCornersOfAllTriplesOfWholeNumberedRows)
{
    pcRandom random = {19};
    int made = 0;
    for (int i = 0; i < 1000; i++) {
        PC_CASE("set %d", i);
        double rows[4 * 20];
        v3 corner[400];
        int count = 6 + i % 15;
        memcpy(rows, cubeRows, sizeof cubeRows);
        for (int k = 24; k < 4 * count; k++) rows[k] = (double)(pcRandomBits(&random) % 3) - (k % 4 == 3 ? 0.0 : 1.0);
        for (int k = 6; k < count; k++)
            if (v3Max(v3Load(rows + 4 * k)) == 0.0) rows[4 * k] = 1.0;
        int corners = allCorners(rows, count, corner);
        pcShape* shape = NULL;
        pcStatus status = pcShapeFromPlanes(rows, count, NULL, &shape);
        if (status == PC_ERROR_EMPTY) { /* then all corners must lie in one plane */
            for (int k = 3; k < corners; k++) {
                v3 a = v3Sub(corner[1], corner[0]), b = v3Sub(corner[2], corner[0]);
                for (int n = 3; n < corners && v3Norm(v3Cross(a, b)) < 1e-9; n++) b = v3Sub(corner[n], corner[0]);
                PC_EXPECT_NEAR(0.0, volumeOfThree(a, b, v3Sub(corner[k], corner[0])), 1e-9);
            }
            continue;
        }
        PC_EXPECT_STATUS(PC_OK, status);
        if (status != PC_OK) continue;
        made++;
        PC_EXPECT_EQ_INT(corners, infoOf(shape).vertices);
        for (int k = 0; k < corners; k++) expectVertexAt(shape, corner[k], 1e-13);
        pcShapeFree(shape);
    }
    PC_EXPECT_GT(made, 200);
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
