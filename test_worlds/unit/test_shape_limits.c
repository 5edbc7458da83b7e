/*
 * Shapes in use and at their limits: supports in every direction against brute force, owners and threads, memory, and what is refused
 * with a status and a sentence, leaving nothing behind.
 */
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "test_worlds/unit/clouds.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

/* ---- support ---- */

static void expectSupport(const pcShape* s, v3 d)
{
    long double best = -HUGE_VALL;
    for (int i = 0; i < s->vertexCount; i++)
        best = fmaxl(best, (long double)d.x * s->kx[i] + (long double)d.y * s->ky[i] + (long double)d.z * s->kz[i]);
    double rounding =
        4.0 * PC_ROUND * v3Norm(d) * s->outradius; /* each step uphill may be decided by as much; on a facet they may add up */
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
    for (int i = 0; i < 8; i++)
        expectSupport(s, v3Make(i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0)); /* corners of the table */
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
    expectCounts(cube, 8, 12, 6);
    PC_EXPECT_NEAR(8.0, infoOf(cube).volume, 1e-14);
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
            if (i < 3)
                centre[i] = wild[w], refusePoints(PC_ERROR_NOT_FINITE, cube.xyz, 8, centre),
                refusePlanes(PC_ERROR_NOT_FINITE, cubeRows, 6, centre), centre[i] = 0.0;
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
