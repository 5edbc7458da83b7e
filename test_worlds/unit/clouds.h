/*
 * Clouds of points with known hulls: what the tests of shapes share. Points may be turned, stretched, moved and shuffled; bodies with
 * closed forms say what their volume and radii are.
 */
#ifndef PC_UNIT_CLOUDS_H
#define PC_UNIT_CLOUDS_H

#include <stdlib.h>

#include "adapters/gtest/pctest.h"
#include "shape/shape.h"
#include "test_worlds/fuzz/cases.h"

#define PI 3.14159265358979323846
#define GOLDEN 1.6180339887498949

/* ---- points ---- */

typedef struct Cloud {
    int count;
    double* xyz;
} Cloud;

PC_INLINE Cloud cloudOf(int capacity) { return (Cloud){0, calloc(3 * (size_t)capacity, sizeof(double))}; }
PC_INLINE void addPoint(Cloud* cloud, double x, double y, double z) { v3Store(cloud->xyz + 3 * (size_t)cloud->count++, v3Make(x, y, z)); }

PC_INLINE double between(pcRandom* random, double low, double high) { return low + (high - low) * pcRandomUnit(random); }

PC_INLINE v3 randomUnit(pcRandom* random)
{
    double z = between(random, -1.0, 1.0), angle = between(random, 0.0, 2.0 * PI), r = sqrt(1.0 - z * z);
    return v3Make(r * cos(angle), r * sin(angle), z);
}

/* A rotation by its three columns. */
typedef struct Turn {
    v3 x, y, z;
} Turn;

PC_INLINE Turn randomTurn(pcRandom* random)
{
    Turn t = {.x = randomUnit(random)};
    v3 side = v3Cross(t.x, randomUnit(random));
    t.y = v3Scale(1.0 / v3Norm(side), side), t.z = v3Cross(t.x, t.y);
    return t;
}

PC_INLINE v3 turned(const Turn* t, v3 p) { return v3AddScaled(v3AddScaled(v3Scale(p.x, t->x), p.y, t->y), p.z, t->z); }

/* Stretched along its own axes, then turned and moved. */
PC_INLINE void place(Cloud* cloud, v3 stretch, const Turn* turn, v3 move)
{
    for (int i = 0; i < cloud->count; i++) {
        v3 p = v3Load(cloud->xyz + 3 * i);
        v3Store(cloud->xyz + 3 * i, v3Add(turned(turn, v3Make(stretch.x * p.x, stretch.y * p.y, stretch.z * p.z)), move));
    }
}

PC_INLINE void shuffle(Cloud* cloud, pcRandom* random)
{
    for (int i = cloud->count - 1; i > 0; i--) {
        int j = (int)(pcRandomBits(random) % (uint64_t)(i + 1));
        v3 p = v3Load(cloud->xyz + 3 * i), q = v3Load(cloud->xyz + 3 * j);
        v3Store(cloud->xyz + 3 * i, q), v3Store(cloud->xyz + 3 * j, p);
    }
}

PC_INLINE Cloud onSphere(pcRandom* random, int count)
{
    Cloud cloud = cloudOf(count);
    for (int i = 0; i < count; i++) {
        v3 p = randomUnit(random);
        addPoint(&cloud, p.x, p.y, p.z);
    }
    return cloud;
}

PC_INLINE pcShape* hullOf(const Cloud* cloud, const double* centre)
{
    pcShape* shape = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeFromPoints(cloud->xyz, cloud->count, centre, &shape));
    return shape;
}

PC_INLINE pcShapeInfo infoOf(const pcShape* shape)
{
    pcShapeInfo info = {.vertices = -1};
    PC_EXPECT_STATUS(PC_OK, pcShapeDescribe(shape, &info));
    return info;
}

PC_INLINE void expectCounts(const pcShape* shape, int vertices, int edges, int facets)
{
    pcShapeInfo info = infoOf(shape);
    PC_EXPECT_EQ_INT(vertices, info.vertices);
    PC_EXPECT_EQ_INT(edges, info.edges);
    PC_EXPECT_EQ_INT(facets, info.facets);
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
PC_INLINE void addRectangles(Cloud* cloud, double a, double b)
{
    for (int i = 0; i < 4; i++) {
        double u = i & 1 ? a : -a, v = i & 2 ? b : -b;
        addPoint(cloud, 0.0, u, v), addPoint(cloud, v, 0.0, u), addPoint(cloud, u, v, 0.0);
    }
}

PC_INLINE Cloud regularPoints(int which)
{
    Cloud cloud = cloudOf(20);
    for (int i = 0; i < 8 && which != 2 && which != 4; i++)
        if (which != 0 || i == 7 || i == 1 || i == 2 || i == 4)
            addPoint(&cloud, i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0);
    for (int i = 0; i < 6 && which == 2; i++)
        addPoint(&cloud, i / 2 == 0 ? 1.0 - 2 * (i % 2) : 0.0, i / 2 == 1 ? 1.0 - 2 * (i % 2) : 0.0, i / 2 == 2 ? 1.0 - 2 * (i % 2) : 0.0);
    if (which == 3) addRectangles(&cloud, 1.0 / GOLDEN, GOLDEN);
    if (which == 4) addRectangles(&cloud, 1.0, GOLDEN);
    return cloud;
}

/* n sides on the unit circle; a prism of height h, or a pyramid if `tip`. */
PC_INLINE Cloud prismPoints(int n, double h, bool tip)
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

/* The cube |x|, |y|, |z| <= 1 as rows a b c d. */
static const double cubeRows[24] = {1, 0, 0, 1, -1, 0, 0, 1, 0, 1, 0, 1, 0, -1, 0, 1, 0, 0, 1, 1, 0, 0, -1, 1};

#endif
