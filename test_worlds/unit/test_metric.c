/*
 * The ratio metric by closed forms and by what any right answer must satisfy. The invariants prove r on their own: a direction gives a
 * lower bound, r >= n.c / h_W(n), a common point of the scaled bodies an upper one; both are evaluated here in long double over all
 * vertices and facets.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "metric/metric.h"
#include "test_worlds/fuzz/cases.h"

typedef struct Vec {
    long double x, y, z;
} Vec;

static Vec vecOf(const double* p) { return (Vec){p[0], p[1], p[2]}; }
static Vec plus(Vec a, Vec b) { return (Vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static Vec times(long double s, Vec a) { return (Vec){s * a.x, s * a.y, s * a.z}; }
static Vec minus(Vec a, Vec b) { return plus(a, times(-1.0L, b)); }
static long double dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static long double norm(Vec a) { return sqrtl(dot(a, a)); }
static Vec cross(Vec a, Vec b) { return (Vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

/* By a quaternion of any length. */
static Vec turned(const double q[4], Vec p)
{
    Vec u = {q[1], q[2], q[3]}, t = cross(u, p);
    long double square = dot(u, u) + (long double)q[0] * q[0];
    return plus(p, times(2.0L / square, plus(times(q[0], t), cross(u, t))));
}

static Vec turnedBack(const double q[4], Vec p)
{
    double back[4] = {q[0], -q[1], -q[2], -q[3]};
    return turned(back, p);
}

/* ---- scenes ---- */

static double between(pcRandom* random, double low, double high) { return low + (high - low) * pcRandomUnit(random); }
static pcPose poseAt(double x, double y, double z) { return (pcPose){{x, y, z}, {1.0, 0.0, 0.0, 0.0}}; }
static const pcPose atOrigin = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};

static pcPose randomPose(pcRandom* random, double reach)
{
    pcPose pose;
    for (int i = 0; i < 3; i++) pose.position[i] = between(random, -reach, reach);
    for (int i = 0; i < 4; i++) pose.quaternion[i] = between(random, -1.0, 1.0);
    pose.quaternion[0] += pose.quaternion[0] < 0.0 ? -0.1 : 0.1;
    return pose;
}

/* Round enough that no more than two digits are lost: points between half and the whole radius, one in each octant. */
static pcShape* roundHull(pcRandom* random, int count, double unit)
{
    double* xyz = malloc(3 * (size_t)count * sizeof *xyz);
    pcShape* shape = NULL;
    for (int i = 0; i < count; i++) {
        double p[3], square = 0.0;
        for (int a = 0; a < 3; a++) p[a] = between(random, 0.2, 1.0) * ((i >> a & 1) ? 1.0 : -1.0), square += p[a] * p[a];
        double size = between(random, 0.7, 1.0) / sqrt(square);
        for (int a = 0; a < 3; a++) xyz[3 * i + a] = unit * (size * p[a] + 0.3);
    }
    PC_EXPECT_STATUS(PC_OK, pcShapeFromPoints(xyz, count, NULL, &shape));
    free(xyz);
    return shape;
}

static pcShape* boxOf(double x, double y, double z)
{
    double size[3] = {x, y, z};
    pcShape* box = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeBox(size, &box));
    return box;
}

static pcShape* ballOf(double radius)
{
    pcShape* ball = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeSphere(radius, &ball));
    return ball;
}

static pcShape* halfSpaceOf(double a, double b, double c, double d)
{
    double plane[4] = {a, b, c, d};
    pcShape* shape = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeHalfSpace(plane, &shape));
    return shape;
}

static void freeBoth(pcShape* a, pcShape* b)
{
    pcShapeFree(a);
    pcShapeFree(b);
}

static pcMetric measure(const pcShape* a, const pcPose* pa, const pcShape* b, const pcPose* pb, unsigned flags)
{
    pcMetric m;
    memset(&m, 0, sizeof m); /* padding too, so that answers can be compared byte by byte */
    m.r = (double)NAN;
    PC_EXPECT_STATUS(PC_OK, pcMetricPair(a, pa, b, pb, flags, NULL, &m));
    return m;
}

static double ratio(const pcShape* a, pcPose pa, const pcShape* b, pcPose pb, unsigned flags) { return measure(a, &pa, b, &pb, flags).r; }

/* ---- what every answer satisfies ---- */

static Vec centreOf(const pcShape* s, const pcPose* p) { return plus(vecOf(p->position), turned(p->quaternion, vecOf(&s->centre.x))); }

/* Farthest reach about the centre along world n; of a polyhedron. */
static long double reach(const pcShape* s, const pcPose* p, Vec n)
{
    Vec d = turnedBack(p->quaternion, n);
    long double best = -HUGE_VALL;
    for (int i = 0; i < s->vertexCount; i++) best = fmaxl(best, dot(d, minus(vecOf(s->vertex + 3 * i), vecOf(&s->centre.x))));
    return best;
}

/* How far world point x lies outside, in units of the facet's distance from the centre: -1 at the centre, 0 on the surface. */
static long double outside(const pcShape* s, const pcPose* p, Vec x)
{
    Vec k = turnedBack(p->quaternion, minus(x, centreOf(s, p)));
    long double worst = -HUGE_VALL;
    for (int f = 0; f < s->facetCount; f++) worst = fmaxl(worst, dot(vecOf(&s->normal[f].x), k) / s->offset[f] - 1.0L);
    return worst;
}

typedef struct Scene {
    const pcShape *s1, *s2;
    pcPose p1, p2;
    unsigned flags;
} Scene;

/* Round polyhedra; `one` if body 1 moves over a fixed body 2. */
static void expectRight(const Scene* s, const pcMetric* m, bool one)
{
    Vec n = vecOf(m->normal), x1 = centreOf(s->s1, &s->p1), x2 = centreOf(s->s2, &s->p2), point = vecOf(m->point);
    Vec point1 = vecOf(m->point1), point2 = vecOf(m->point2);
    long double h1 = reach(s->s1, &s->p1, n), h2 = reach(s->s2, &s->p2, times(-1.0L, n)), away = dot(n, minus(x2, x1));
    double size = s->s1->outradius + s->s2->outradius + (double)norm(minus(x2, x1)) + (double)norm(x1);
    PC_EXPECT_NEAR(1.0, (double)norm(n), 1e-14);
    PC_EXPECT_REL(m->r, (double)(one ? (away - h2) / h1 : away / (h1 + h2)), 1e-12);
    PC_EXPECT_LE((double)outside(s->s1, &s->p1, point1), 1e-12 * (1.0 + 1.0 / m->r));
    PC_EXPECT_LE((double)outside(s->s2, &s->p2, point2), 1e-12 * (1.0 + 1.0 / m->r));
    PC_EXPECT_GE((double)outside(s->s1, &s->p1, point1), -1e-12 * (1.0 + 1.0 / m->r));
    PC_EXPECT_GE((double)outside(s->s2, &s->p2, point2), -1e-12 * (1.0 + 1.0 / m->r));
    PC_EXPECT_LE((double)norm(minus(point, plus(x1, times(m->r, minus(point1, x1))))), 1e-13 * size);
    PC_EXPECT_LE((double)norm(minus(point, one ? point2 : plus(x2, times(m->r, minus(point2, x2))))), 1e-13 * size);
    PC_EXPECT_NEAR((double)(away - h1 - h2), m->gap, 1e-12 * size);
    PC_EXPECT_NEAR((double)((m->r - 1.0L) * (one ? h1 : h1 + h2)), m->gap, 1e-12 * size); /* |g| = 1 / h */
    PC_EXPECT_NEAR((m->r - 1.0) / m->r, m->rho, 1e-14 * (1.0 + 1.0 / m->r));
    PC_EXPECT_TRUE(m->lower <= m->r && m->r <= m->upper);
    PC_EXPECT_LE(m->upper - m->lower, 2e-13 * m->r);
}

typedef void SceneCheck(const Scene* scene, int number);

/* Hulls of 8 to 200 points and boxes, from deep inside to far apart. */
static void overRandomScenes(uint64_t seed, int count, SceneCheck* check)
{
    pcRandom random = {seed};
    for (int i = 0; i < count; i++) {
        PC_CASE("scene %d", i);
        pcShape* a = i % 4 == 1 ? boxOf(1.0, between(&random, 0.5, 1.0), 0.7) : roundHull(&random, 8 + (i * 7) % 190, 1.0);
        pcShape* b = i % 4 >= 1 && i % 4 < 3 ? boxOf(1.0, 0.8, between(&random, 0.5, 1.0)) : roundHull(&random, 8 + i % 60, 1.0);
        Scene scene = {a, b, randomPose(&random, 1.0), randomPose(&random, i % 3 == 0 ? 0.8 : 4.0), 0u};
        check(&scene, i);
        freeBoth(a, b);
    }
}

static void checkInvariants(const Scene* s, int number)
{
    (void)number;
    pcMetric m = measure(s->s1, &s->p1, s->s2, &s->p2, s->flags);
    expectRight(s, &m, false);
}

PC_TEST(Metric, ProvesItselfOnRandomPairs) { overRandomScenes(1, 400, checkInvariants); }

static void expectSameVector(const double* a, const double* b, double sign, double tolerance)
{
    for (int i = 0; i < 3; i++) PC_EXPECT_NEAR(a[i], sign * b[i], tolerance);
}

/* T 2.13. The points are unique in scenes without parallel features, up to the condition of their features. */
static void checkSymmetry(const Scene* s, int number)
{
    static const unsigned other[3] = {0u, PC_FIXED_2, PC_FIXED_1};
    unsigned flags = number % 2 ? 0u : number % 4 ? PC_FIXED_1 : PC_FIXED_2;
    pcMetric a = measure(s->s1, &s->p1, s->s2, &s->p2, flags), b = measure(s->s2, &s->p2, s->s1, &s->p1, other[flags]);
    PC_EXPECT_REL(a.r, b.r, 1e-13);
    PC_EXPECT_NEAR(a.gap, b.gap, 1e-12);
    expectSameVector(a.normal, b.normal, -1.0, 1e-11);
    expectSameVector(a.point, b.point, 1.0, 1e-9);
    expectSameVector(a.point1, b.point2, 1.0, 1e-9 / a.r);
    expectSameVector(a.point2, b.point1, 1.0, 1e-9 / a.r);
}

PC_TEST(Metric, IsSymmetric) { overRandomScenes(2, 400, checkSymmetry); }

/* T 2.14: along the line of centres r is proportional to their distance, so that the touching pose is known from any other. */
static void checkTrichotomy(const Scene* s, int number)
{
    static const double factors[] = {0.1, 0.5, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 2.0, 100.0};
    (void)number;
    Vec x1 = centreOf(s->s1, &s->p1), x2 = centreOf(s->s2, &s->p2), apart = minus(x2, x1);
    long double r = measure(s->s1, &s->p1, s->s2, &s->p2, 0).r;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        pcPose moved = s->p2;
        Vec shift = times(factors[i] / r - 1.0L, apart);
        double by[3] = {(double)shift.x, (double)shift.y, (double)shift.z};
        for (int a = 0; a < 3; a++) moved.position[a] += by[a];
        pcMetric m = measure(s->s1, &s->p1, s->s2, &moved, 0);
        PC_EXPECT_NEAR(factors[i], m.r, 1e-13 + 1e-14 * factors[i]); /* the moved position is rounded, and 1e-16 of it */
        PC_EXPECT_TRUE((m.r < 1.0) == (factors[i] < 1.0) || factors[i] == 1.0);
        PC_EXPECT_TRUE((m.gap > 0.0) == (m.r > 1.0) && (m.rho > 0.0) == (m.r > 1.0));
    }
}

PC_TEST(Metric, IsBelowAtAndAboveOneAsBodiesPenetrateTouchAndPart) { overRandomScenes(3, 200, checkTrichotomy); }

PC_TEST(Metric, OfBoxesAlongAnAxisIsDistanceOverHalfSizes)
{
    pcShape *a = boxOf(1.0, 2.0, 3.0), *b = boxOf(0.5, 0.25, 1.0);
    static const double half[3] = {0.75, 1.125, 2.0};
    for (int i = 0; i < 60; i++) {
        int axis = i % 3;
        double distance = 0.125 * (1 + i / 3), at[3] = {0.0, 0.0, 0.0};
        PC_CASE("axis %d, distance %g", axis, distance);
        at[axis] = i % 2 ? distance : -distance;
        pcPose pose = poseAt(at[0], at[1], at[2]);
        pcMetric m = measure(a, &atOrigin, b, &pose, 0);
        PC_EXPECT_REL(distance / half[axis], m.r, 1e-15);
        PC_EXPECT_NEAR(distance - half[axis], m.gap, 1e-15);
        PC_EXPECT_NEAR(i % 2 ? 1.0 : -1.0, m.normal[axis], 0.0);
        PC_EXPECT_EQ_INT(PC_PATH_CLOSED, m.path);
    }
    freeBoth(a, b);
}

/* ---- one-sided ---- */

static void checkOneSided(const Scene* s, int number)
{
    (void)number;
    Scene one = *s;
    one.flags = PC_FIXED_2;
    pcMetric m = measure(one.s1, &one.p1, one.s2, &one.p2, one.flags);
    bool inside = outside(one.s2, &one.p2, centreOf(one.s1, &one.p1)) <= 0.0L;
    if (inside) expectRight(&one, &m, false); /* the one-sided r would be 0: the two-sided form is used then */
    if (!inside && m.r > 0.01) expectRight(&one, &m, true);
}

PC_TEST(MetricOneSided, ProvesItselfOnRandomPairs) { overRandomScenes(4, 400, checkOneSided); }

/* Moving half sizes 0.5, fixed ones 1, 2, 3. */
PC_TEST(MetricOneSided, OfABoxOverAFixedBoxIsHeightOverHalfSize)
{
    pcShape *moving = boxOf(1.0, 1.0, 1.0), *fixed = boxOf(2.0, 4.0, 6.0);
    for (int i = 1; i < 40; i++) {
        double height = 0.0625 * i;
        PC_CASE("height %g", height);
        pcPose above = poseAt(0.25, -0.5, 3.0 + height);
        pcMetric m = measure(moving, &above, fixed, &atOrigin, PC_FIXED_2);
        PC_EXPECT_REL(height / 0.5, m.r, 1e-14);
        PC_EXPECT_NEAR(height - 0.5, m.gap, 1e-14);
        PC_EXPECT_NEAR(-1.0, m.normal[2], 0.0);
        PC_EXPECT_NEAR(3.0, m.point[2], 1e-14); /* the fixed surface stays where it is */
        PC_EXPECT_EQ_INT(0, memcmp(m.point, m.point2, sizeof m.point));
        PC_EXPECT_NEAR(2.5 + height, m.point1[2], 1e-13);
        PC_EXPECT_REL(m.r, ratio(fixed, atOrigin, moving, above, PC_FIXED_1), 1e-14);
    }
    freeBoth(moving, fixed);
}

PC_TEST(MetricOneSided, BecomesTwoSidedWhereTheMovingCentreIsInside)
{
    pcShape *moving = boxOf(1.0, 1.0, 1.0), *fixed = boxOf(2.0, 4.0, 6.0);
    for (int i = 1; i <= 16; i++) { /* 16: exactly on the surface */
        PC_CASE("centre at %g", i / 16.0);
        PC_EXPECT_REL(i / 16.0 / 1.5, ratio(moving, poseAt(i / 16.0, 0, 0), fixed, atOrigin, PC_FIXED_2), 1e-15);
    }
    PC_EXPECT_REL(0.002, ratio(moving, poseAt(1.001, 0, 0), fixed, atOrigin, PC_FIXED_2), 1e-12);
    freeBoth(moving, fixed);
}

/* A turned box over a tilted plane: r = height of the centre / sum of half sizes times |n along the box's axes|. */
PC_TEST(MetricOneSided, OverAHalfSpaceIsHeightOverSupport)
{
    static const double half[3] = {0.5, 1.0, 1.5};
    pcShape* box = boxOf(1.0, 2.0, 3.0);
    pcRandom random = {5};
    for (int i = 0; i < 300; i++) {
        PC_CASE("pose %d", i);
        double a = between(&random, -2, 2), b = between(&random, -2, 2), c = between(&random, 0.1, 2), d = between(&random, -3, 3);
        pcShape* ground = halfSpaceOf(a, b, c, d);
        pcPose pose = randomPose(&random, 3.0), floor = randomPose(&random, 1.0);
        Vec up = {a, b, c}, axes;
        long double length = norm(up);
        up = times(1.0L / length, turned(floor.quaternion, up));
        long double height = dot(up, minus(vecOf(pose.position), vecOf(floor.position))) - d / length;
        axes = turnedBack(pose.quaternion, up);
        long double support = half[0] * fabsl(axes.x) + half[1] * fabsl(axes.y) + half[2] * fabsl(axes.z);
        pcMetric m = measure(box, &pose, ground, &floor, i % 2 ? PC_FIXED_2 : 0u), swapped = measure(ground, &floor, box, &pose, 0u);
        PC_EXPECT_REL((double)(height / support), m.r, 1e-13);
        PC_EXPECT_NEAR((double)(height - support), m.gap, 1e-13);
        PC_EXPECT_REL(m.r, swapped.r, 1e-13);
        PC_EXPECT_NEAR(-1.0, (double)dot(up, vecOf(m.normal)), 1e-14);
        expectSameVector(m.normal, swapped.normal, -1.0, 1e-15);
        PC_EXPECT_NEAR(0.0, (double)(dot(up, minus(vecOf(m.point2), vecOf(floor.position))) - d / length), 1e-13);
        PC_EXPECT_TRUE(m.lower <= m.r && m.r <= m.upper && m.upper - m.lower <= 2e-13 * fabs(m.r));
        pcShapeFree(ground);
    }
    pcShapeFree(box);
}

PC_TEST(MetricOneSided, GoesOnWhereTheCentreIsOnOrBelowTheSurface)
{
    pcShape *box = boxOf(1.0, 1.0, 1.0), *ball = ballOf(0.5), *ground = halfSpaceOf(0.0, 0.0, 2.0, 0.0), *body[2] = {box, ball};
    for (int i = 0; i < 18; i++) {
        double height = 0.5 * (i / 2 - 4);
        PC_CASE("%s at height %g", i % 2 ? "ball" : "box", height);
        pcPose pose = poseAt(7.0, 0.0, height);
        pcMetric m = measure(body[i % 2], &pose, ground, &atOrigin, 0);
        PC_EXPECT_NEAR(2.0 * height, m.r, 1e-14);
        PC_EXPECT_NEAR(height - 0.5, m.gap, 1e-14);
        PC_EXPECT_NEAR(-1.0, m.normal[2], 0.0);
        PC_EXPECT_NEAR(0.0, m.point[2], 1e-14);
        PC_EXPECT_TRUE(height > 0.0 ? fabs(m.rho - (1.0 - 0.5 / height)) < 1e-13 : m.rho == -HUGE_VAL);
        for (int a = 0; a < 3; a++) PC_EXPECT_TRUE(isfinite(m.point1[a]) && isfinite(m.point2[a]));
    }
    pcShapeFree(ground);
    freeBoth(box, ball);
}

/* ---- spheres ---- */

PC_TEST(MetricSphere, OfTwoSpheresIsDistanceOverRadii)
{
    pcShape *a = ballOf(0.75), *b = ballOf(2.0);
    pcRandom random = {6};
    for (int i = 0; i < 200; i++) {
        PC_CASE("pose %d", i);
        pcPose pa = randomPose(&random, 1.0), pb = randomPose(&random, 4.0);
        Vec apart = minus(vecOf(pb.position), vecOf(pa.position));
        double d = (double)norm(apart);
        pcMetric m = measure(a, &pa, b, &pb, 0);
        PC_EXPECT_REL(d / 2.75, m.r, 1e-14);
        PC_EXPECT_NEAR(d - 2.75, m.gap, 1e-14);
        PC_EXPECT_NEAR(d, (double)dot(apart, vecOf(m.normal)), 1e-14);
        PC_EXPECT_NEAR(0.75, (double)norm(minus(vecOf(m.point1), vecOf(pa.position))), 1e-14);
        PC_EXPECT_NEAR(2.0, (double)norm(minus(vecOf(m.point2), vecOf(pb.position))), 1e-14);
        PC_EXPECT_TRUE(m.lower <= d / 2.75 && d / 2.75 <= m.upper && m.upper - m.lower <= 2e-13 * m.r);
        double second = ratio(a, pa, b, pb, PC_FIXED_2), first = ratio(a, pa, b, pb, PC_FIXED_1);
        PC_EXPECT_NEAR(d > 2.0 ? (d - 2.0) / 0.75 : d / 2.75, second, 1e-14);
        PC_EXPECT_NEAR(d > 0.75 ? (d - 0.75) / 2.0 : d / 2.75, first, 1e-14);
    }
    freeBoth(a, b);
}

/* ---- one number, three ways ---- */

static void checkThreeWays(const Scene* s, int number)
{
    pcFrame frame;
    pcFrameMetric facets, exact;
    unsigned flags = number % 5 == 0 && outside(s->s2, &s->p2, centreOf(s->s1, &s->p1)) > 0.01L ? PC_FIXED_2 : 0u;
    pcMetric m = measure(s->s1, &s->p1, s->s2, &s->p2, flags);
    PC_ASSERT_STATUS(PC_OK, pcFrameMake(s->s1, &s->p1, s->s2, &s->p2, flags, &frame));
    PC_EXPECT_TRUE(pcMetricFacets(&frame, &facets));
    PC_EXPECT_REL(m.r, facets.r, 1e-11);
    PC_EXPECT_TRUE(pcMetricExact(&frame, NULL, &exact));
    PC_EXPECT_REL(m.r, exact.r, 1e-13);
    PC_EXPECT_TRUE(exact.lower <= m.upper && m.lower <= exact.upper); /* both enclose the true r */
    PC_EXPECT_LE(exact.upper - exact.lower, 2e-13 * exact.r);
}

PC_TEST(Metric, IsTheSameFromTheVerticesTheFacetsAndInDoubledPrecision) { overRandomScenes(7, 400, checkThreeWays); }

/* ---- units, quaternions, places ---- */

static pcPose scaledPose(pcPose pose, double unit)
{
    for (int a = 0; a < 3; a++) pose.position[a] *= unit;
    return pose;
}

PC_TEST(Metric, ChangesOnlyUnitsWhenTheSceneIsScaled)
{
    for (int i = 0; i < 120; i++) {
        double unit = i % 2 ? 1e-6 : 1e6;
        PC_CASE("scene %d by %g", i, unit);
        pcRandom one = {100 + (uint64_t)i}, two = one, poses = {200 + (uint64_t)i};
        bool box = i % 3 == 0;
        pcShape *a = box ? boxOf(1, 2, 3) : roundHull(&one, 30, 1.0), *b = roundHull(&one, 60, 1.0);
        pcShape *A = box ? boxOf(unit, 2 * unit, 3 * unit) : roundHull(&two, 30, unit), *B = roundHull(&two, 60, unit);
        pcPose pa = randomPose(&poses, 1.0), pb = randomPose(&poses, 3.0), PA = scaledPose(pa, unit), PB = scaledPose(pb, unit);
        pcMetric m = measure(a, &pa, b, &pb, 0), M = measure(A, &PA, B, &PB, 0);
        PC_EXPECT_REL(m.r, M.r, 1e-13);
        PC_EXPECT_REL(m.rho, M.rho, 1e-12 / fabs(m.r - 1.0));
        PC_EXPECT_NEAR(m.gap * unit, M.gap, 1e-12 * unit);
        for (int k = 0; k < 3; k++) PC_EXPECT_NEAR(m.point[k] * unit, M.point[k], 1e-10 * unit);
        expectSameVector(m.normal, M.normal, 1.0, 1e-11);
        freeBoth(a, b);
        freeBoth(A, B);
    }
}

static void checkQuaternionLength(const Scene* s, int number)
{
    static const double lengths[] = {1e-30, 1e-3, 0.1, 3.0, 1e3, 1e30};
    pcMetric m = measure(s->s1, &s->p1, s->s2, &s->p2, 0);
    Scene longer = *s;
    for (int i = 0; i < 4; i++) longer.p1.quaternion[i] *= lengths[number % 6], longer.p2.quaternion[i] *= lengths[number / 6 % 6];
    pcMetric n = measure(longer.s1, &longer.p1, longer.s2, &longer.p2, 0);
    PC_EXPECT_REL(m.r, n.r, 1e-13);
    expectRight(&longer, &n, false);
}

PC_TEST(Metric, DoesNotCareHowLongQuaternionsAre) { overRandomScenes(8, 72, checkQuaternionLength); }

/* Quaternions need not be unit, but the products of very short or long ones leave the range of doubles. Then it must be said that the
 * quaternion is at fault; a wrong ratio or another excuse would be found by nobody. */
PC_TEST(Metric, TakesQuaternionsOfAnyLengthOrSaysThatTheyAreAtFault)
{
    static const double lengths[] = {1e-150, 1e-120, 1e-90, 1e-50, 1e50, 1e90, 1e120, 1e150};
    pcRandom random = {9};
    pcShape *box = boxOf(1.0, 2.0, 3.0), *ground = halfSpaceOf(1.0, 0.0, 0.0, -1.0), *hull = roundHull(&random, 30, 1.0);
    const pcShape* other[3] = {box, hull, ground};
    for (int i = 0; i < 24; i++) {
        double length = lengths[i / 3];
        PC_CASE("length %g, pair %d", length, i % 3);
        pcPose pa = {{4, 1, 2}, {length, 0, 0, 0.5 * length}}, qa = {{4, 1, 2}, {1, 0, 0, 0.5}};
        pcPose pb = {{0, 0, 0}, {length, 0, length, 0}}, qb = {{0, 0, 0}, {1, 0, 1, 0}};
        pcMetric m = {.r = (double)NAN};
        pcStatus status = pcMetricPair(box, &pa, other[i % 3], &pb, 0, NULL, &m);
        if (status == PC_OK)
            PC_EXPECT_REL(ratio(box, qa, other[i % 3], qb, 0), m.r, 1e-13);
        else
            PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, status);
        PC_EXPECT_TRUE(status == PC_OK || length < 1e-50 || length > 1e50);
    }
    freeBoth(box, ground);
    pcShapeFree(hull);
}

/* Multiples of 2^-10 stay exact at 2^30, so the scene is the same and so must be r. */
static void checkFarAway(const Scene* s, int number)
{
    Scene near = *s, far;
    double shift = number % 2 ? 0x1p30 : -0x1p36;
    for (int a = 0; a < 3; a++) {
        near.p1.position[a] = floor(s->p1.position[a] * 1024.0) / 1024.0, near.p2.position[a] = floor(s->p2.position[a] * 1024.0) / 1024.0;
    }
    far = near;
    for (int a = 0; a < 3; a++) far.p1.position[a] += shift, far.p2.position[a] += shift;
    pcMetric m = measure(near.s1, &near.p1, near.s2, &near.p2, 0), n = measure(far.s1, &far.p1, far.s2, &far.p2, 0);
    PC_EXPECT_REL(m.r, n.r, 1e-15);
    PC_EXPECT_NEAR(m.gap, n.gap, 1e-14);
    expectSameVector(m.normal, n.normal, 1.0, 1e-15);
}

PC_TEST(Metric, IsTheSameFarFromTheOrigin) { overRandomScenes(10, 100, checkFarAway); }

/* ---- caches ---- */

static void turnPose(pcPose* pose, double angle, int axis)
{
    double c = cos(0.5 * angle), s = sin(0.5 * angle), q[4], u[3] = {axis == 0 ? s : 0.0, axis == 1 ? s : 0.0, axis == 2 ? s : 0.0};
    const double* p = pose->quaternion;
    q[0] = c * p[0] - u[0] * p[1] - u[1] * p[2] - u[2] * p[3];
    q[1] = c * p[1] + u[0] * p[0] + u[1] * p[3] - u[2] * p[2];
    q[2] = c * p[2] + u[1] * p[0] + u[2] * p[1] - u[0] * p[3];
    q[3] = c * p[3] + u[2] * p[0] + u[0] * p[2] - u[1] * p[1];
    memcpy(pose->quaternion, q, sizeof q);
}

PC_TEST(MetricCache, GivesTheSameRatioOverALongMotion)
{
    pcRandom random = {11};
    for (int pair = 0; pair < 4; pair++) {
        pcShape *a = roundHull(&random, 20 + 60 * pair, 1.0), *b = pair == 1 ? boxOf(1.0, 0.8, 0.6) : roundHull(&random, 100, 1.0);
        pcPose pa = randomPose(&random, 0.5), pb = poseAt(1.8, 0.2, -0.1);
        pcPairCache cache = {.count1 = 0};
        int warm = 0;
        for (int step = 0; step < 2000; step++) {
            PC_CASE("pair %d, step %d", pair, step);
            unsigned flags = pair == 3 ? PC_FIXED_2 : 0u;
            pcMetric m = {.r = (double)NAN}, cold = measure(a, &pa, b, &pb, flags);
            PC_EXPECT_STATUS(PC_OK, pcMetricPair(a, &pa, b, &pb, flags, &cache, &m));
            PC_EXPECT_REL(cold.r, m.r, 1e-13);
            warm += m.path == PC_PATH_WARM;
            turnPose(&pa, 0.00873, step / 100 % 3); /* half a degree */
            pb.position[step % 3] += 0.01 * sin(0.01 * step);
        }
        PC_EXPECT_GT(warm, 1000); /* else the cache would be worth nothing */
        freeBoth(a, b);
    }
}

static pcPairCache garbage(pcRandom* random, const pcShape* a, const pcShape* b, int kind)
{
    pcPairCache cache;
    unsigned char* bytes = (unsigned char*)&cache;
    for (size_t i = 0; i < sizeof cache; i++) bytes[i] = (unsigned char)pcRandomBits(random);
    if (kind == 0) return cache; /* random bytes; below, ones that pass for a cache of this pair */
    cache.shape[0] = a->id, cache.shape[1] = b->id;
    cache.count1 = kind == 1 ? (int)(pcRandomBits(random) % 7) - 1 : 1 + (int)(pcRandomBits(random) % 3);
    for (int i = 0; i < 4 && kind >= 2; i++) {
        int limit = i < cache.count1 ? a->vertexCount : b->vertexCount;
        cache.feature[i] = (int)(pcRandomBits(random) % (uint64_t)(kind == 2 ? limit : 3)); /* 3: repeated vertices */
    }
    return cache;
}

static void checkGarbage(const Scene* s, int number)
{
    pcRandom random = {300 + (uint64_t)number};
    unsigned flags = number % 7 == 0 ? PC_FIXED_2 : 0u;
    pcMetric cold = measure(s->s1, &s->p1, s->s2, &s->p2, flags);
    for (int i = 0; i < 40; i++) {
        pcPairCache cache = garbage(&random, s->s1, s->s2, i % 4);
        pcMetric m = {.r = (double)NAN};
        PC_EXPECT_STATUS(PC_OK, pcMetricPair(s->s1, &s->p1, s->s2, &s->p2, flags, &cache, &m));
        PC_EXPECT_REL(cold.r, m.r, 1e-13);
        PC_EXPECT_STATUS(PC_OK, pcMetricPair(s->s2, &s->p2, s->s1, &s->p1, flags ? PC_FIXED_1 : 0u, &cache, &m)); /* of another pair now */
        PC_EXPECT_REL(cold.r, m.r, 1e-13);
    }
}

PC_TEST(MetricCache, IsNeverBelieved) { overRandomScenes(12, 150, checkGarbage); }

/* ---- batches ---- */

#define MANY 203

typedef struct Batch {
    double size1[3 * MANY], size2[3 * MANY], r[MANY + 1];
    pcPose pose1[MANY], pose2[MANY];
} Batch;

/* kind 0 random, 1 parallel, 2 at 45 degrees with equal sizes. */
static void fillBatch(Batch* b, pcRandom* random, int kind)
{
    static const double eighth[4] = {0.92387953251128674, 0.0, 0.0, 0.38268343236508978};
    for (int i = 0; i < MANY; i++) {
        for (int a = 0; a < 3; a++) b->size1[3 * i + a] = kind == 2 ? 1.0 : between(random, 0.2, 2.0);
        for (int a = 0; a < 3; a++) b->size2[3 * i + a] = kind == 2 ? 2.0 : between(random, 0.2, 2.0);
        b->pose1[i] = randomPose(random, 1.0), b->pose2[i] = randomPose(random, 3.0);
        if (kind > 0) b->pose1[i] = poseAt(0.0, 0.0, 0.0), memcpy(b->pose2[i].quaternion, atOrigin.quaternion, sizeof atOrigin.quaternion);
        if (kind == 2) memcpy(b->pose2[i].quaternion, eighth, sizeof eighth);
        for (int a = 0; a < 3 && kind == 2; a++) b->pose2[i].position[a] = (double)(pcRandomBits(random) % 5) - 1.5;
    }
}

static double aloneRatio(const Batch* b, int i)
{
    pcShape *one = NULL, *two = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeBox(b->size1 + 3 * i, &one));
    PC_EXPECT_STATUS(PC_OK, pcShapeBox(b->size2 + 3 * i, &two));
    double r = ratio(one, b->pose1[i], two, b->pose2[i], 0);
    freeBoth(one, two);
    return r;
}

PC_TEST(MetricBoxPairs, EqualPairsOneByOne)
{
    static Batch b;
    pcRandom random = {13};
    for (int kind = 0; kind < 3; kind++) {
        fillBatch(&b, &random, kind);
        PC_EXPECT_STATUS(PC_OK, pcMetricBoxPairs(MANY, b.size1, b.pose1, b.size2, b.pose2, b.r));
        for (int i = 0; i < MANY; i++) {
            PC_CASE("kind %d, pair %d", kind, i);
            PC_EXPECT_REL(aloneRatio(&b, i), b.r[i], 1e-13);
        }
    }
}

PC_TEST(MetricBoxPairs, TakeAnyCountAndWriteNoMore)
{
    static Batch b;
    pcRandom random = {14};
    fillBatch(&b, &random, 0);
    for (int count = 0; count <= 13; count++) {
        PC_CASE("count %d", count);
        for (int i = 0; i <= MANY; i++) b.r[i] = -7.0;
        PC_EXPECT_STATUS(PC_OK, pcMetricBoxPairs(count, b.size1, b.pose1, b.size2, b.pose2, b.r));
        for (int i = 0; i < count; i++) PC_EXPECT_REL(aloneRatio(&b, i), b.r[i], 1e-13);
        for (int i = count; i <= MANY; i++) PC_EXPECT_NEAR(-7.0, b.r[i], 0.0);
    }
    PC_EXPECT_STATUS(PC_OK, pcMetricBoxPairs(0, NULL, NULL, NULL, NULL, NULL));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcMetricBoxPairs(-1, b.size1, b.pose1, b.size2, b.pose2, b.r));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcMetricBoxPairs(4, NULL, b.pose1, b.size2, b.pose2, b.r));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcMetricBoxPairs(4, b.size1, b.pose1, b.size2, b.pose2, NULL));
}

/* One bad number in pair 6 of 9. */
static void expectBatchRefused(Batch* b, double* number, double bad, pcStatus expected)
{
    double keep = *number;
    *number = bad;
    for (int i = 0; i < 9; i++) b->r[i] = -7.0;
    PC_EXPECT_STATUS(expected, pcMetricBoxPairs(9, b->size1, b->pose1, b->size2, b->pose2, b->r));
    for (int i = 0; i < 9; i++) PC_EXPECT_NEAR(-7.0, b->r[i], 0.0);
    *number = keep;
}

PC_TEST(MetricBoxPairs, RefuseWhatPairsRefuseAndWriteNothing)
{
    static Batch b;
    pcRandom random = {15};
    fillBatch(&b, &random, 0);
    for (int a = 0; a < 3; a++) b.size1[18 + a] = b.size2[18 + a] = 2.0; /* so thick that one bad size does not put the pair in doubt */
    for (int a = 0; a < 3; a++) {
        PC_CASE("size %d", a);
        for (int body = 0; body < 2; body++) {
            double* size = (body == 0 ? b.size1 : b.size2) + 18 + a;
            expectBatchRefused(&b, size, 0.0, PC_ERROR_ARGUMENT);
            expectBatchRefused(&b, size, -0.1, PC_ERROR_ARGUMENT);
            expectBatchRefused(&b, size, (double)NAN, PC_ERROR_NOT_FINITE);
            expectBatchRefused(&b, size, (double)INFINITY, PC_ERROR_NOT_FINITE);
        }
        PC_CASE("pose %d", a);
        expectBatchRefused(&b, b.pose1[6].position + a, (double)NAN, PC_ERROR_NOT_FINITE);
        expectBatchRefused(&b, b.pose2[6].position + a, (double)INFINITY, PC_ERROR_NOT_FINITE);
        expectBatchRefused(&b, b.pose2[6].quaternion + a, (double)NAN, PC_ERROR_NOT_FINITE);
    }
    PC_CASE("zero quaternion");
    memset(b.pose1[6].quaternion, 0, sizeof b.pose1[6].quaternion);
    expectBatchRefused(&b, b.size1, 1.0, PC_ERROR_ARGUMENT);
    PC_CASE("coincident centres");
    b.pose1[6] = b.pose2[6];
    expectBatchRefused(&b, b.size1, 1.0, PC_ERROR_COINCIDENT);
}

/* ---- what is refused ---- */

static void expectRefused(pcStatus expected, const pcShape* a, const pcPose* pa, const pcShape* b, const pcPose* pb, unsigned flags)
{
    pcMetric m, before;
    pcPairCache cache, cacheBefore;
    memset(&m, 0xA5, sizeof m), before = m;
    memset(&cache, 0x5A, sizeof cache), cacheBefore = cache;
    PC_EXPECT_STATUS(expected, pcMetricPair(a, pa, b, pb, flags, &cache, &m));
    PC_EXPECT_TRUE(strlen(pcLastError()) > 8);
    PC_EXPECT_EQ_INT(0, memcmp(&m, &before, sizeof m));
    PC_EXPECT_EQ_INT(0, memcmp(&cache, &cacheBefore, sizeof cache));
}

PC_TEST(MetricRefuses, CoincidentCentresAndTwoFixedBodies)
{
    static const double off[24] = {1, 1, 1, 3, 1, 1, 1, 3, 1, 3, 3, 1, 1, 1, 3, 3, 1, 3, 1, 3, 3, 3, 3, 3}, middle[3] = {2, 2, 2};
    pcShape *box = boxOf(1, 1, 1), *ball = ballOf(1.0), *ground = halfSpaceOf(0, 0, 1, 0), *cube = NULL;
    PC_ASSERT_STATUS(PC_OK, pcShapeFromPoints(off, 8, middle, &cube));
    pcPose back = poseAt(-2, -2, -2), aside = poseAt(3, 0, 0);
    expectRefused(PC_ERROR_COINCIDENT, box, &aside, box, &aside, 0);
    expectRefused(PC_ERROR_COINCIDENT, box, &aside, box, &aside, PC_FIXED_2);
    expectRefused(PC_ERROR_COINCIDENT, box, &atOrigin, cube, &back, 0); /* centres count, not positions */
    expectRefused(PC_ERROR_COINCIDENT, ball, &aside, ball, &aside, 0);
    expectRefused(PC_ERROR_COINCIDENT, ball, &aside, box, &aside, 0);
    expectRefused(PC_ERROR_ARGUMENT, ground, &aside, ground, &atOrigin, 0);
    PC_EXPECT_REL(4.0, ratio(cube, atOrigin, cube, poseAt(0, 8, 0), 0), 1e-15);
    freeBoth(box, ball);
    freeBoth(ground, cube);
}

PC_TEST(MetricRefuses, BadFlagsPosesAndPointers)
{
    pcShape *box = boxOf(1, 1, 1), *ground = halfSpaceOf(0, 0, 1, 0);
    pcPose good = poseAt(3, 0, 0);
    expectRefused(PC_ERROR_ARGUMENT, box, &good, box, &atOrigin, PC_FIXED_1 | PC_FIXED_2);
    expectRefused(PC_ERROR_ARGUMENT, box, &good, ground, &atOrigin, PC_FIXED_1);
    expectRefused(PC_ERROR_ARGUMENT, ground, &good, box, &atOrigin, PC_FIXED_2);
    for (unsigned bit = 4u; bit != 0u; bit <<= 1) expectRefused(PC_ERROR_ARGUMENT, box, &good, box, &atOrigin, bit | PC_FIXED_1);
    for (int i = 0; i < 14; i++) {
        static const double bad[2] = {(double)NAN, (double)INFINITY};
        PC_CASE("number %d", i);
        pcPose pose = good;
        *(i / 2 < 3 ? pose.position + i / 2 : pose.quaternion + i / 2 - 3) = bad[i % 2];
        expectRefused(PC_ERROR_NOT_FINITE, box, &pose, box, &atOrigin, 0);
        expectRefused(PC_ERROR_NOT_FINITE, box, &atOrigin, box, &pose, 0);
        expectRefused(PC_ERROR_NOT_FINITE, ground, &pose, box, &good, 0);
    }
    pcPose zero = {{3, 0, 0}, {0, 0, 0, 0}};
    expectRefused(PC_ERROR_ARGUMENT, box, &zero, box, &atOrigin, 0);
    expectRefused(PC_ERROR_ARGUMENT, box, &atOrigin, ground, &zero, 0);
    expectRefused(PC_ERROR_ARGUMENT, NULL, &good, box, &atOrigin, 0);
    expectRefused(PC_ERROR_ARGUMENT, box, NULL, box, &atOrigin, 0);
    expectRefused(PC_ERROR_ARGUMENT, box, &good, NULL, &atOrigin, 0);
    expectRefused(PC_ERROR_ARGUMENT, box, &good, box, NULL, 0);
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcMetricPair(box, &good, box, &atOrigin, 0, NULL, NULL));
    freeBoth(box, ground);
}

/* ---- same input, same bits ---- */

typedef struct Worker {
    pthread_t thread;
    Scene scene;
    pcMetric first;
    int differences;
} Worker;

static void* measureAgain(void* argument)
{
    Worker* w = argument;
    for (int i = 0; i < 300; i++) {
        pcMetric m;
        memset(&m, 0, sizeof m);
        w->differences += pcMetricPair(w->scene.s1, &w->scene.p1, w->scene.s2, &w->scene.p2, 0, NULL, &m) != PC_OK;
        w->differences += memcmp(&m, &w->first, sizeof m) != 0;
    }
    return NULL;
}

static void checkSameBits(const Scene* s, int number)
{
    (void)number;
    Worker worker[4];
    for (int i = 0; i < 4; i++) {
        worker[i] = (Worker){.scene = *s, .differences = 0};
        worker[i].first = measure(s->s1, &s->p1, s->s2, &s->p2, 0);
        PC_ASSERT_EQ_INT(0, pthread_create(&worker[i].thread, NULL, measureAgain, worker + i));
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(worker[i].thread, NULL);
        PC_EXPECT_EQ_INT(0, worker[i].differences);
    }
}

PC_TEST(Metric, GivesTheSameBitsAgainAndFromManyThreads) { overRandomScenes(16, 20, checkSameBits); }
