/* The ratio metric and the Euclidean distance of round bodies, judged by round_judge.h, by sampled directions, by closed forms and by libccd. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/ccd/ccd.h"
#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/round_judge.h"

static bool flat(int kind) { return kind == SOLID_BOX || kind == SOLID_HULL; }

static pcStatus measure(const RoundScene* s, pcPairCache* cache, pcMetric* m)
{
    return pcMetricPair(s->solid[0]->shape, &s->pose[0], s->solid[1]->shape, &s->pose[1], s->flags, cache, m);
}

static pcStatus distance(const RoundScene* s, pcDistance* d)
{
    return pcEuclidPair(s->solid[0]->shape, &s->pose[0], s->solid[1]->shape, &s->pose[1], NULL, d);
}

typedef void PairTest(pcRandom* random, const Solid* a, const Solid* b);

/* All pairs of kinds but those of two polyhedra, `count` pairs of shapes for each. */
static void eachPair(int count, double spread, PairTest* test)
{
    pcRandom random = {17};
    for (int first = 0; first < SOLID_KINDS; first++)
        for (int second = first; second < SOLID_KINDS; second++) {
            if (flat(first) && flat(second)) continue;
            for (int i = 0; i < count; i++) {
                PC_CASE("kinds %d and %d, pair %d", first, second, i);
                Solid *a = solidMake(&random, (SolidKind)first, spread), *b = solidMake(&random, (SolidKind)second, spread);
                test(&random, a, b);
                solidFree(a);
                solidFree(b);
            }
        }
}

/* ---- shapes ---- */

PC_TEST(RoundShapes, BadSizesAreRefusedInWords)
{
    static const double bad[4] = {0, -1, (double)NAN, HUGE_VAL};
    pcShape* s = NULL;
    for (int i = 0; i < 4; i++) {
        pcStatus expected = i < 2 ? PC_ERROR_ARGUMENT : PC_ERROR_NOT_FINITE;
        for (int axis = 0; axis < 3; axis++) {
            double semi[3] = {1, 2, 3};
            semi[axis] = bad[i];
            PC_EXPECT_STATUS(expected, pcShapeEllipsoid(semi, &s));
            PC_EXPECT_TRUE(strstr(pcLastError(), "semi-axis of the ellipsoid") != NULL);
        }
        PC_EXPECT_STATUS(expected, pcShapeCapsule(bad[i], 1, &s));
        PC_EXPECT_STATUS(expected, pcShapeCapsule(1, bad[i], &s));
        PC_EXPECT_STATUS(expected, pcShapeCylinder(bad[i], 1, &s));
        PC_EXPECT_STATUS(expected, pcShapeCylinder(1, bad[i], &s));
        PC_EXPECT_STATUS(expected, pcShapeContainer(bad[i], &s));
    }
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeEllipsoid((const double[3]){1, 1, 1e9}, &s));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeEllipsoid(NULL, &s));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeSupport(NULL, &s));
    PC_EXPECT_TRUE(s == NULL);
}

static void unitBall(const void* context, const double d[3], double p[3])
{
    double scale = *(const double*)context;
    for (int i = 0; i < 3; i++) p[i] = scale * d[i];
}

PC_TEST(RoundShapes, SupportFunctionsThatBreakTheirPromiseAreRefused)
{
    double scale = 1, nothing = (double)NAN;
    pcShape* s = NULL;
    pcSupportDef fine = {unitBall, &scale, {0, 0, 0}, 1, 1}, small = fine, large = fine, nan = fine, reversed = fine;
    small.inradius = 1.5, small.outradius = 2, large.inradius = large.outradius = 0.5, nan.context = &nothing, reversed.outradius = 0.5;
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeSupport(&small, &s));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeSupport(&large, &s));
    PC_EXPECT_STATUS(PC_ERROR_NOT_FINITE, pcShapeSupport(&nan, &s));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeSupport(&reversed, &s));
    PC_ASSERT_STATUS(PC_OK, pcShapeSupport(&fine, &s));
    pcShapeFree(s);
}

PC_TEST(RoundShapes, SayWhatTheyAre)
{
    pcShape* s = NULL;
    pcShapeInfo info;
    PC_ASSERT_STATUS(PC_OK, pcShapeCylinder(0.5, 3, &s));
    PC_ASSERT_STATUS(PC_OK, pcShapeDescribe(s, &info));
    PC_EXPECT_EQ_INT(PC_SHAPE_CYLINDER, info.kind);
    PC_EXPECT_REL(3 * 0.25 * 3.14159265358979, info.volume, 1e-12);
    PC_EXPECT_REL(hypot(0.5, 1.5), info.outradius, 1e-15);
    PC_EXPECT_NEAR(3, info.length, 0);
    PC_EXPECT_NEAR(0.5, info.semi[0], 0);
    pcShapeFree(s);
}

/* ---- the metric is proven ---- */

static void expectProven(pcRandom* random, const Solid* a, const Solid* b)
{
    for (int i = 0; i < 12; i++) {
        RoundScene s = roundScene(random, a, b, exp(roundBetween(random, -3, 2)), i % 3 == 0);
        pcMetric m;
        PC_EXPECT_STATUS(PC_OK, measure(&s, NULL, &m));
        roundExpectProven(&s, &m, a->kind == SOLID_PILLOW || b->kind == SOLID_PILLOW ? 1e-6 : 1e-13);
    }
}

PC_TEST(RoundMetric, RandomPairsOfAllKindsAreProven) { eachPair(40, 1.0, expectProven); }

static void expectProvenThin(pcRandom* random, const Solid* a, const Solid* b)
{
    for (int i = 0; i < 4; i++) {
        RoundScene s = roundScene(random, a, b, exp(roundBetween(random, -2, 4)), i == 0);
        pcMetric m;
        PC_EXPECT_STATUS(PC_OK, measure(&s, NULL, &m));
        roundExpectProven(&s, &m, a->kind >= SOLID_EGG || b->kind >= SOLID_EGG ? 1e-5 : 1e-9);
    }
}

PC_TEST(RoundMetric, ThinPairsAreProven) { eachPair(10, 3.0, expectProvenThin); }

PC_TEST(RoundMetric, AxesOfAMillionToOneWork)
{
    pcRandom random = {5};
    Solid *needle = solidOf(SOLID_ELLIPSOID, (const double[4]){1e-3, 1e-3, 1e3, 0}),
          *plate = solidOf(SOLID_ELLIPSOID, (const double[4]){1e3, 1e3, 1e-3, 0});
    Solid* other[4] = {solidOf(SOLID_SPHERE, (const double[4]){1, 1, 1, 0}), solidOf(SOLID_BOX, (const double[4]){1, 2, 3, 0}), plate,
                       needle};
    double widest = 0;
    for (int i = 0; i < 4000; i++) {
        RoundScene s = roundScene(&random, i % 2 ? needle : plate, other[i / 2 % 4], exp(roundBetween(&random, -3, 8)), false);
        pcMetric m;
        PC_CASE("case %d", i);
        PC_EXPECT_STATUS(PC_OK, measure(&s, NULL, &m));
        PC_EXPECT_LE(m.r * (1 - 1e-8), (double)roundBelow(&s, m.normal, roundOneSided(&s)));
        widest = fmax(widest, (m.upper - m.lower) / m.r);
    }
    PC_EXPECT_LT(widest, 1e-6);
    for (int i = 0; i < 4; i++) solidFree(other[i]);
}

/* No direction of a thousand, nor any that a climb from the best of them finds, proves more than r; and they come near it. */
static void expectLargest(pcRandom* random, const Solid* a, const Solid* b)
{
    RoundScene s = roundScene(random, a, b, 3, false);
    pcMetric m;
    double best[3] = {1, 0, 0}, n[3];
    PC_EXPECT_STATUS(PC_OK, measure(&s, NULL, &m));
    bool one = roundOneSided(&s);
    long double top = -HUGE_VALL;
    for (int i = 0; i < 3000; i++) {
        double spread = i < 1000 ? 1 : pow(0.994, i - 1000), size = 0;
        roundDirection(random, n);
        for (int k = 0; k < 3; k++) n[k] = i < 1000 ? n[k] : best[k] + spread * n[k], size += n[k] * n[k];
        for (int k = 0; k < 3; k++) n[k] /= sqrt(size);
        long double value = roundBelow(&s, n, one);
        if (value > top) top = value, memcpy(best, n, sizeof best);
    }
    PC_EXPECT_LE((double)top, m.r * (1 + 1e-12));
    PC_EXPECT_LE(m.r * (1 - 3e-3), (double)top);
}

PC_TEST(RoundMetric, NoSampledDirectionProvesMore) { eachPair(6, 0.7, expectLargest); }

/* Along a motion, with the cache of the last step, the answer is the same. */
static void expectWarmAsCold(pcRandom* random, const Solid* a, const Solid* b)
{
    RoundScene s = roundScene(random, a, b, 2, false);
    pcPairCache cache = {0};
    double wide = a->kind == SOLID_PILLOW || b->kind == SOLID_PILLOW ? 1e-6 : 1e-12;
    for (int i = 0; i < 30; i++) {
        pcMetric warm, cold;
        PC_EXPECT_STATUS(PC_OK, measure(&s, &cache, &warm));
        PC_EXPECT_STATUS(PC_OK, measure(&s, NULL, &cold));
        PC_EXPECT_NEAR(cold.r, warm.r, wide * cold.r + (cold.upper - cold.lower));
        for (int k = 0; k < 3; k++) s.pose[1].position[k] += 0.01 * roundBetween(random, -1, 1);
        for (int k = 0; k < 4; k++) s.pose[1].quaternion[k] += 0.01 * roundBetween(random, -1, 1);
    }
}

PC_TEST(RoundMetric, WarmIsAsCold) { eachPair(8, 0.7, expectWarmAsCold); }

PC_TEST(RoundMetric, ConcentricBodiesAreRefused)
{
    pcRandom random = {3};
    for (int kind = SOLID_SPHERE; kind < SOLID_KINDS; kind++) {
        Solid* a = solidMake(&random, (SolidKind)kind, 0.5);
        RoundScene s = roundScene(&random, a, a, 0, true);
        pcMetric m;
        s.pose[1] = s.pose[0];
        PC_EXPECT_STATUS(PC_ERROR_COINCIDENT, measure(&s, NULL, &m));
        solidFree(a);
    }
}

/* ---- over a plane, in a container ---- */

PC_TEST(RoundMetric, OverAPlaneByHeightAndReach)
{
    pcRandom random = {11};
    pcShape* floor = NULL;
    PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace((const double[4]){0, 0, 1, 0}, &floor));
    pcPose ground = {{0, 0, 0}, {1, 0, 0, 0}};
    for (int i = 0; i < 400; i++) {
        Solid* a = solidMake(&random, (SolidKind)(SOLID_SPHERE + i % 6), 1);
        RoundScene s = roundScene(&random, a, a, 2, false);
        double down[3] = {0, 0, -1};
        pcMetric m;
        pcDistance d;
        s.pose[0] = s.pose[1];
        long double apart = roundApart(&s, down), reach = -apart / 2; /* of one body with itself: both sides are there */
        PC_EXPECT_STATUS(PC_OK, pcMetricPair(a->shape, &s.pose[0], floor, &ground, 0, NULL, &m));
        PC_EXPECT_STATUS(PC_OK, pcEuclidPair(a->shape, &s.pose[0], floor, &ground, NULL, &d));
        PC_EXPECT_NEAR(m.gap, d.distance, 1e-14);
        if (a->kind != SOLID_EGG) PC_EXPECT_NEAR(s.pose[0].position[2] / (double)reach, m.r, 1e-13 * (1 + fabs(m.r)));
        PC_EXPECT_NEAR(0, m.point2[2], 1e-14);
        solidFree(a);
    }
    pcShapeFree(floor);
}

/* The farthest point of many on the surface, then of many near it. */
static double sampledFarthest(pcRandom* random, const double a[3], const double o[3])
{
    double best[3] = {1, 0, 0}, top = 0, y[3];
    for (int i = 0; i < 6000; i++) {
        double spread = i < 2000 ? 1 : pow(0.995, i - 2000), size = 0, square = 0;
        roundDirection(random, y);
        for (int k = 0; k < 3; k++) y[k] = i < 2000 ? y[k] : best[k] + spread * y[k], size += y[k] * y[k];
        for (int k = 0; k < 3; k++) y[k] /= sqrt(size), square += pow(o[k] + a[k] * y[k], 2);
        if (square > top) top = square, memcpy(best, y, sizeof best);
    }
    return sqrt(top);
}

PC_TEST(RoundContainer, EllipsoidsAlsoInTheDegeneratePlaces)
{
    pcRandom random = {23};
    pcShape* wall = NULL;
    PC_ASSERT_STATUS(PC_OK, pcShapeContainer(3, &wall));
    pcPose middle = {{0, 0, 0}, {1, 0, 0, 0}};
    static const double axes[6][3] = {{1, 2, 0.5}, {2, 2, 0.5}, {1, 1, 1}, {0.5, 1, 1}, {4, 1, 1}, {1e-3, 2, 1}};
    for (int i = 0; i < 6; i++)
        for (int mask = 0; mask < 8; mask++)
            for (int scale = 0; scale < 3; scale++) {
                PC_CASE("ellipsoid %d, off along %d, %d", i, mask, scale);
                double o[3] = {mask & 1 ? 0.3 : 0, mask & 2 ? -0.4 : 0, mask & 4 ? 0.2 : 0};
                for (int k = 0; k < 3; k++) o[k] *= scale == 0 ? 1 : scale == 1 ? 1e-9 : 5;
                pcPose pose = {{o[0], o[1], o[2]}, {1, 0, 0, 0}};
                pcShape* body = NULL;
                pcDistance d;
                pcMetric m;
                PC_ASSERT_STATUS(PC_OK, pcShapeEllipsoid(axes[i], &body));
                PC_EXPECT_STATUS(PC_OK, pcEuclidPair(body, &pose, wall, &middle, NULL, &d));
                PC_EXPECT_NEAR(3 - sampledFarthest(&random, axes[i], o), d.distance, 2e-5);
                PC_EXPECT_STATUS(PC_OK, pcMetricPair(body, &pose, wall, &middle, 0, NULL, &m));
                double grown[3] = {m.r * axes[i][0], m.r * axes[i][1], m.r * axes[i][2]};
                if (m.r > 0) PC_EXPECT_NEAR(3, sampledFarthest(&random, grown, o), 6e-5);
                PC_EXPECT_EQ_INT(m.r < 1, d.distance < 0);
                pcShapeFree(body);
            }
    pcShapeFree(wall);
}

PC_TEST(RoundContainer, OtherBodiesByTheirFarthestPoint)
{
    pcShape *wall = NULL, *ball = NULL, *capsule = NULL, *can = NULL, *box = NULL;
    PC_ASSERT_STATUS(PC_OK, pcShapeContainer(2, &wall));
    PC_ASSERT_STATUS(PC_OK, pcShapeSphere(0.5, &ball));
    PC_ASSERT_STATUS(PC_OK, pcShapeCapsule(0.25, 1, &capsule));
    PC_ASSERT_STATUS(PC_OK, pcShapeCylinder(0.5, 1, &can));
    PC_ASSERT_STATUS(PC_OK, pcShapeBox((const double[3]){1, 1, 1}, &box));
    pcPose middle = {{0, 0, 0}, {1, 0, 0, 0}}, off = {{1, 0, 0}, {1, 0, 0, 0}}, up = {{0, 0, 0.5}, {1, 0, 0, 0}};
    pcMetric m;
    PC_EXPECT_STATUS(PC_OK, pcMetricPair(ball, &off, wall, &middle, 0, NULL, &m));
    PC_EXPECT_NEAR(2, m.r, 1e-15);
    PC_EXPECT_NEAR(0.5, m.gap, 1e-15);
    PC_EXPECT_NEAR(1, m.normal[0], 1e-15);
    PC_EXPECT_STATUS(PC_OK, pcMetricPair(wall, &middle, ball, &off, 0, NULL, &m));
    PC_EXPECT_NEAR(-1, m.normal[0], 1e-15);
    PC_EXPECT_STATUS(PC_OK, pcMetricPair(ball, &middle, wall, &middle, 0, NULL, &m)); /* concentric is fine here */
    PC_EXPECT_NEAR(4, m.r, 1e-15);
    pcDistance d;
    PC_EXPECT_STATUS(PC_OK, pcEuclidPair(capsule, &up, wall, &middle, NULL, &d));
    PC_EXPECT_NEAR(2 - 1.25, d.distance, 1e-15);
    PC_EXPECT_STATUS(PC_OK, pcEuclidPair(can, &up, wall, &middle, NULL, &d));
    PC_EXPECT_NEAR(2 - hypot(1, 0.5), d.distance, 1e-15);
    PC_EXPECT_STATUS(PC_OK, pcEuclidPair(box, &up, wall, &middle, NULL, &d));
    PC_EXPECT_NEAR(2 - sqrt(1.5), d.distance, 1e-15);
    pcPose out = {{5, 0, 0}, {1, 0, 0, 0}};
    PC_EXPECT_STATUS(PC_OK, pcMetricPair(ball, &out, wall, &middle, 0, NULL, &m));
    PC_EXPECT_LT(m.r, 0);
    PC_EXPECT_NEAR(-3.5, m.gap, 1e-14);
    pcShape* all[5] = {wall, ball, capsule, can, box};
    for (int i = 0; i < 5; i++) pcShapeFree(all[i]);
}

/* ---- Euclidean distance ---- */

static void expectDistance(pcRandom* random, const Solid* a, const Solid* b)
{
    for (int i = 0; i < 8; i++) {
        RoundScene s = roundScene(random, a, b, exp(roundBetween(random, -1, 2)), i == 0);
        pcDistance d;
        double between = 0, size = 20;
        PC_EXPECT_STATUS(PC_OK, distance(&s, &d));
        long double apart = roundApart(&s, d.normal);
        bool wide = a->kind >= SOLID_EGG || b->kind >= SOLID_EGG;
        double allowed = wide ? 1e-6 * size : 1e-12 * size;
        if (d.distance > 0) {
            for (int k = 0; k < 3; k++) between += pow(d.point2[k] - d.point1[k], 2);
            PC_EXPECT_NEAR(d.distance, sqrt(between), allowed);
            PC_EXPECT_LE((double)roundReach(&s, 0, d.point1), 1 + allowed);
            PC_EXPECT_LE((double)roundReach(&s, 1, d.point2), 1 + allowed);
            PC_EXPECT_LE(d.distance - allowed, (double)apart);
            PC_EXPECT_LE(d.lower, d.distance);
            PC_EXPECT_LE(d.distance, d.upper);
        } else {
            PC_EXPECT_NEAR(d.distance, (double)apart, allowed);
        }
    }
}

PC_TEST(RoundDistance, IsProvenForAllKinds) { eachPair(25, 0.8, expectDistance); }

PC_TEST(RoundDistance, DepthIsNoMoreThanAlongTheRatiosNormal)
{
    pcRandom random = {29};
    for (int i = 0; i < 600; i++) {
        Solid *a = solidMake(&random, (SolidKind)(SOLID_SPHERE + i % 4), 0.5),
              *b = solidMake(&random, (SolidKind)(SOLID_SPHERE + i / 4 % 4), 0.5);
        RoundScene s = roundScene(&random, a, b, 0.5, false);
        pcDistance d;
        pcMetric m;
        PC_EXPECT_STATUS(PC_OK, distance(&s, &d));
        s.flags = 0;
        PC_EXPECT_STATUS(PC_OK, measure(&s, NULL, &m));
        PC_EXPECT_LE(m.gap - 1e-12, d.distance);
        solidFree(a);
        solidFree(b);
    }
}

static int comparedWithLibccd;

static void expectAsLibccd(pcRandom* random, const Solid* a, const Solid* b)
{
    pcCcdShape *first = NULL, *second = NULL;
    if (a->kind >= SOLID_EGG || b->kind >= SOLID_EGG) return;
    PC_EXPECT_STATUS(PC_OK, pcCcdShapeCreate(a->shape, &first));
    PC_EXPECT_STATUS(PC_OK, pcCcdShapeCreate(b->shape, &second));
    for (int i = 0; i < 6; i++) {
        RoundScene s = roundScene(random, a, b, 4, false);
        pcCcdBody body1 = {first, s.pose[0]}, body2 = {second, s.pose[1]};
        pcCcdGap gap;
        pcDistance d;
        PC_EXPECT_STATUS(PC_OK, distance(&s, &d));
        if (pcCcdDistance(&body1, &body2, &gap) != PC_CCD_APART) continue;
        PC_EXPECT_LE(gap.lower, d.distance + 1e-12);
        PC_EXPECT_LE(d.distance, gap.upper + 1e-12);
        comparedWithLibccd++;
    }
    pcCcdShapeFree(first);
    pcCcdShapeFree(second);
}

PC_TEST(RoundDistance, LiesBetweenTheBoundsOfLibccd)
{
    comparedWithLibccd = 0;
    eachPair(12, 0.7, expectAsLibccd);
    PC_EXPECT_GE(comparedWithLibccd, 1000);
}

/* ---- depth ---- */

static bool asked(const Solid* s) { return s->kind >= SOLID_EGG; }

/* Of overlapping bodies: how many by their ratio, in quarters, so that a test knows that it saw every depth. */
static int overlaps[4];

static void countOverlap(const RoundScene* s)
{
    pcMetric m;
    RoundScene two = *s;
    two.flags = 0;
    if (measure(&two, NULL, &m) == PC_OK && m.r < 1) overlaps[(int)(4 * m.r)]++;
}

static void expectOverlapsOfAllDepths(int each)
{
    for (int i = 0; i < 4; i++) {
        PC_CASE("r from %g to %g", 0.25 * i, 0.25 * (i + 1));
        PC_EXPECT_GE(overlaps[i], each);
    }
}

/* Along a motion, with the cache of the last step: a rounding of the ratio's normal must not decide which depth is found. */
static void expectDepthWarmAsCold(pcRandom* random, const Solid* a, const Solid* b)
{
    RoundScene s = roundScene(random, a, b, exp(roundBetween(random, -2, 0.3)), false);
    pcPairCache cache = {0};
    for (int i = 0; i < 20; i++) {
        pcDistance warm, cold;
        PC_EXPECT_STATUS(PC_OK, distance(&s, &cold));
        PC_EXPECT_STATUS(PC_OK, pcEuclidPair(a->shape, &s.pose[0], b->shape, &s.pose[1], &cache, &warm));
        PC_EXPECT_NEAR(cold.distance, warm.distance, asked(a) || asked(b) ? 1e-6 : 1e-11);
        countOverlap(&s);
        for (int k = 0; k < 3; k++) s.pose[1].position[k] += 0.02 * roundBetween(random, -1, 1);
        for (int k = 0; k < 4; k++) s.pose[1].quaternion[k] += 0.02 * roundBetween(random, -1, 1);
    }
}

PC_TEST(RoundDistance, WarmIsAsCold)
{
    memset(overlaps, 0, sizeof overlaps);
    eachPair(30, 0.7, expectDepthWarmAsCold);
    expectOverlapsOfAllDepths(1000);
}

/* A unit direction at an angle of about `angle` to n. */
static void besides(pcRandom* random, const double n[3], double angle, double out[3])
{
    double size = 0;
    roundDirection(random, out);
    for (int k = 0; k < 3; k++) out[k] = n[k] + angle * out[k], size += out[k] * out[k];
    for (int k = 0; k < 3; k++) out[k] /= sqrt(size);
}

static int notTheLeast, depths;

/* It is the depth along its normal, no more than along the ratio's, and no direction beside its own is better. Of directions anywhere hardly
 * ever one is: deep in each other bodies have several least depths, and those from the ratio's normal and the axes are looked at. */
static void expectLeastDepth(pcRandom* random, const Solid* a, const Solid* b)
{
    for (int i = 0; i < 6; i++) {
        RoundScene s = roundScene(random, a, b, exp(roundBetween(random, -2, 0.3)), false);
        double wide = asked(a) || asked(b) ? 1e-6 : 1e-11, n[3];
        pcDistance d;
        pcMetric m;
        s.flags = 0;
        PC_EXPECT_STATUS(PC_OK, distance(&s, &d));
        PC_EXPECT_STATUS(PC_OK, measure(&s, NULL, &m));
        if (!(d.distance < 0)) continue;
        countOverlap(&s);
        PC_EXPECT_NEAR((double)roundApart(&s, d.normal), d.distance, wide);
        PC_EXPECT_LE(m.gap, d.distance + wide);
        PC_EXPECT_LE(d.distance, d.lower + 1e-12);
        double best = -HUGE_VAL;
        for (int k = 0; k < 200; k++) {
            besides(random, d.normal, pow(10, roundBetween(random, -6, -4)), n);
            best = fmax(best, (double)roundApart(&s, n));
        }
        PC_EXPECT_LE(best, d.distance + wide);
        for (int k = 0; k < 400; k++) {
            roundDirection(random, n);
            best = fmax(best, (double)roundApart(&s, n));
        }
        notTheLeast += best > d.distance + 1e-4, depths++;
    }
}

PC_TEST(RoundDistance, DepthIsALeastOne)
{
    memset(overlaps, 0, sizeof overlaps);
    notTheLeast = depths = 0;
    eachPair(25, 0.7, expectLeastDepth);
    expectOverlapsOfAllDepths(200);
    PC_EXPECT_LE(notTheLeast, depths / 25);
}

/* Needles and plates: what cannot be as exact is still the depth along its normal, and no more than along the ratio's. */
static void expectThinDepth(pcRandom* random, const Solid* a, const Solid* b)
{
    for (int i = 0; i < 6; i++) {
        RoundScene s = roundScene(random, a, b, exp(roundBetween(random, -3, 1)), i == 0);
        pcDistance d;
        pcMetric m;
        s.flags = 0;
        if (measure(&s, NULL, &m) != PC_OK || !(m.r < 1)) continue;
        PC_EXPECT_STATUS(PC_OK, distance(&s, &d));
        double wide = asked(a) || asked(b) ? 1e-4 : 1e-9;
        PC_EXPECT_NEAR((double)roundApart(&s, d.normal), d.distance, wide);
        PC_EXPECT_LE(m.gap, d.distance + wide);
        countOverlap(&s);
    }
}

PC_TEST(RoundDistance, ThinBodiesHaveADepthToo)
{
    memset(overlaps, 0, sizeof overlaps);
    eachPair(20, 3.0, expectThinDepth);
    expectOverlapsOfAllDepths(100);
}

static int comparedDepths;

/* By code of others: the expanding polytope lies inside W, so that no depth is less than its; the portal that the ray between the centres passes
 * has a plane, and no more than the depth of that is needed. */
static void expectDepthAsLibccd(pcRandom* random, const Solid* a, const Solid* b)
{
    pcCcdShape *first = NULL, *second = NULL;
    if (asked(a) || asked(b)) return;
    PC_EXPECT_STATUS(PC_OK, pcCcdShapeCreate(a->shape, &first));
    PC_EXPECT_STATUS(PC_OK, pcCcdShapeCreate(b->shape, &second));
    pcCcdSettings settings = pcCcdDefaultSettings();
    for (int i = 0; i < 6; i++) {
        RoundScene s = roundScene(random, a, b, exp(roundBetween(random, -2, 0.3)), false);
        pcCcdBody body1 = {first, s.pose[0]}, body2 = {second, s.pose[1]};
        pcCcdContact inner, portal;
        pcDistance d;
        PC_EXPECT_STATUS(PC_OK, distance(&s, &d));
        if (!(d.distance < -1e-3)) continue;
        PC_EXPECT_NEAR(pcCcdWidth(&body1, &body2, d.normal), -d.distance, 1e-11);
        if (pcCcdDepth(&body1, &body2, &settings, NULL, &inner) == PC_CCD_PENETRATING)
            PC_EXPECT_LE(inner.depth, -d.distance + 1e-9), comparedDepths++;
        if (pcCcdMpr(&body1, &body2, &settings, NULL, &portal) == PC_CCD_PENETRATING && fabs(portal.normal[0]) + fabs(portal.normal[1]) > 0)
            PC_EXPECT_LE(-d.distance, pcCcdWidth(&body1, &body2, portal.normal) + 1e-3), comparedDepths++;
    }
    pcCcdShapeFree(first);
    pcCcdShapeFree(second);
}

PC_TEST(RoundDistance, DepthLiesBetweenThoseOfLibccd)
{
    comparedDepths = 0;
    eachPair(12, 0.7, expectDepthAsLibccd);
    PC_EXPECT_GE(comparedDepths, 1000);
}

/* ---- Euclidean distance against directions and the ratio ---- */

/* No direction of a thousand, nor any that a climb from the best of them finds, separates the bodies by more; and they come near it. */
static void expectFarthest(pcRandom* random, const Solid* a, const Solid* b)
{
    RoundScene s = roundScene(random, a, b, 4, false);
    pcDistance d;
    double best[3] = {1, 0, 0}, n[3];
    long double top = -HUGE_VALL;
    PC_EXPECT_STATUS(PC_OK, distance(&s, &d));
    for (int i = 0; i < 3000; i++) {
        double spread = i < 1000 ? 1 : pow(0.994, i - 1000), size = 0;
        roundDirection(random, n);
        for (int k = 0; k < 3; k++) n[k] = i < 1000 ? n[k] : best[k] + spread * n[k], size += n[k] * n[k];
        for (int k = 0; k < 3; k++) n[k] /= sqrt(size);
        long double value = roundApart(&s, n);
        if (value > top) top = value, memcpy(best, n, sizeof best);
    }
    bool wide = a->kind >= SOLID_EGG || b->kind >= SOLID_EGG;
    if (d.distance > 0) PC_EXPECT_LE((double)top, d.distance + (wide ? 1e-5 : 1e-12));
    if (top > 0) PC_EXPECT_LE(d.distance - 5e-3, (double)top);
}

PC_TEST(RoundDistance, NoSampledDirectionSeparatesMore) { eachPair(6, 0.7, expectFarthest); }

/* The two measures agree about who touches whom, and bound each other (T 2.16): s / D <= rho <= s / (2 eps r). */
static void expectEquivalent(pcRandom* random, const Solid* a, const Solid* b)
{
    for (int i = 0; i < 6; i++) {
        RoundScene s = roundScene(random, a, b, 4, false);
        pcDistance d;
        pcMetric m;
        pcShapeInfo one, other;
        double far = 0;
        s.flags = 0;
        PC_EXPECT_STATUS(PC_OK, distance(&s, &d));
        PC_EXPECT_STATUS(PC_OK, measure(&s, NULL, &m));
        PC_EXPECT_STATUS(PC_OK, pcShapeDescribe(a->shape, &one));
        PC_EXPECT_STATUS(PC_OK, pcShapeDescribe(b->shape, &other));
        if (fabs(m.r - 1) > 1e-6) PC_EXPECT_EQ_INT(m.r < 1, d.distance < 0);
        bool centred = a->kind != SOLID_HULL && b->kind != SOLID_HULL && a->kind != SOLID_EGG && b->kind != SOLID_EGG;
        if (m.r <= 1 + 1e-6 || !centred) continue; /* the centre of a hull or an egg is not its position */
        for (int k = 0; k < 3; k++) far += pow(s.pose[1].position[k] - s.pose[0].position[k], 2);
        PC_EXPECT_LE(d.distance / sqrt(far), m.rho * (1 + 1e-5));
        PC_EXPECT_LE(m.rho, d.distance / ((one.inradius + other.inradius) * m.r) * (1 + 1e-5));
        PC_EXPECT_LE(m.gap, d.distance * (1 + 1e-5));
    }
}

PC_TEST(RoundDistance, AndRatioBoundEachOther) { eachPair(12, 0.7, expectEquivalent); }

/* E 44: dPhi = (-n, n x c1; n, -n x c2) . (dq1, dq2), with n the unit vector between the closest points, or
 * along the least depth of bodies that overlap, and c_i from the centre to its own. */
PC_TEST(RoundDistance, ItsJacobianIsThatOfE44)
{
    pcRandom random = {41};
    int tried = 0, overlapping = 0;
    for (int i = 0; i < 400; i++) {
        Solid *a = solidMake(&random, SOLID_ELLIPSOID, 0.8), *b = solidMake(&random, SOLID_ELLIPSOID, 0.8);
        RoundScene s = roundScene(&random, a, b, i % 2 ? 1.2 : 5, false);
        pcDistance d;
        PC_EXPECT_STATUS(PC_OK, distance(&s, &d));
        for (int q = 0; q < 12 && fabs(d.distance) > 0.1; q++) {
            double difference = 0, step = 1e-5, expected, c[3];
            const double *n = d.normal, *k = q < 6 ? d.point1 : d.point2, *r = s.pose[q / 6].position;
            for (int j = 0; j < 3; j++) c[j] = k[j] - r[j];
            int x = (q + 1) % 3, y = (q + 2) % 3;
            expected = q % 6 < 3 ? n[q % 3] : c[x] * n[y] - c[y] * n[x]; /* of body 2; -n x c = c x n */
            if (q < 6) expected = -expected;
            for (int side = -1; side <= 1; side += 2) {
                RoundScene moved = s;
                pcPose* p = moved.pose + q / 6;
                double half = 0.5 * side * step, w[4] = {cos(half), 0, 0, 0}, o[4];
                pcDistance at;
                if (q % 6 < 3) p->position[q % 3] += side * step;
                w[1 + q % 3] = sin(half);
                memcpy(o, p->quaternion, sizeof o);
                if (q % 6 >= 3) {
                    p->quaternion[0] = w[0] * o[0] - w[1] * o[1] - w[2] * o[2] - w[3] * o[3];
                    p->quaternion[1] = w[0] * o[1] + w[1] * o[0] + w[2] * o[3] - w[3] * o[2];
                    p->quaternion[2] = w[0] * o[2] - w[1] * o[3] + w[2] * o[0] + w[3] * o[1];
                    p->quaternion[3] = w[0] * o[3] + w[1] * o[2] - w[2] * o[1] + w[3] * o[0];
                }
                PC_EXPECT_STATUS(PC_OK, distance(&moved, &at));
                difference += side * at.distance / (2 * step);
            }
            PC_EXPECT_NEAR(expected, difference, 1e-6);
            tried++, overlapping += d.distance < 0;
        }
        solidFree(a);
        solidFree(b);
    }
    PC_EXPECT_GT(tried - overlapping, 1000);
    PC_EXPECT_GT(overlapping, 1000);
}

/* A line of the cylinder lies along the edge of a prism, over one end of it: any of their points is a common one. */
PC_TEST(RoundMetric, ACylinderAlongAnEdgeIsMeasuredFromTheEdge)
{
    double corner[3 * 12];
    pcShape *prism = NULL, *cylinder = NULL;
    for (int i = 0; i < 12; i++)
        corner[3 * i] = cos(i * 3.14159265358979 / 3), corner[3 * i + 1] = sin(i * 3.14159265358979 / 3),
                   corner[3 * i + 2] = i < 6 ? -0.25 : 0.25;
    PC_EXPECT_STATUS(PC_OK, pcShapeFromPoints(corner, 12, NULL, &prism));
    PC_EXPECT_STATUS(PC_OK, pcShapeCylinder(0.5, 1, &cylinder));
    for (int i = 0; i <= 40; i++) {
        double away = i == 0 ? 1.178558349609375 : 1.01 + 0.03 * i, up = i == 0 ? 0.21221923828125 : 0.02 * (i % 13);
        const pcPose still = {{0, 0, 0}, {1, 0, 0, 0}}, beside = {{away, 0, up}, {1, 0, 0, 1}};
        pcMetric m;
        PC_CASE("%g away, %g up", away, up);
        PC_EXPECT_STATUS(PC_OK, pcMetricPair(cylinder, &beside, prism, &still, PC_FIXED_2, NULL, &m));
        PC_EXPECT_NEAR((away - 1.0) / 0.5, m.r, 1e-13);
        PC_EXPECT_NEAR(-1.0, m.normal[0], 1e-9);
    }
    pcShapeFree(prism), pcShapeFree(cylinder);
}

/* A cap touches a face, and along another axis the two overlap by 1/16: they are 0 apart, not that deep. */
PC_TEST(RoundDistance, BodiesThatTouchAreNotDeepElsewhere)
{
    const pcPose lying = {{-4, -2.375, -2.3125}, {1, 0, 1, 0}}, box = {{-3, -3, -3}, {1, 0, 0, 0}};
    pcShape *cylinder = NULL, *block = NULL;
    pcDistance d;
    PC_EXPECT_STATUS(PC_OK, pcShapeCylinder(0.5, 1, &cylinder));
    PC_EXPECT_STATUS(PC_OK, pcShapeBox((double[]){1, 2, 0.5}, &block));
    PC_EXPECT_STATUS(PC_OK, pcEuclidPair(cylinder, &lying, block, &box, NULL, &d));
    PC_EXPECT_NEAR(0.0, d.distance, 1e-12);
    PC_EXPECT_NEAR(1.0, d.normal[0], 1e-9);
    PC_EXPECT_LE(d.upper - d.lower, 1e-12);
    pcShapeFree(cylinder), pcShapeFree(block);
}

/* Scenes that came to touch. */
static int touching;

/* Body 2 moved along the normal until the two are apart by no more than rounding: their points are then one, and on both. */
static void expectOnePoint(pcRandom* random, const Solid* a, const Solid* b)
{
    for (int i = 0; i < 12; i++) {
        RoundScene s = roundScene(random, a, b, exp(roundBetween(random, 1, 2)), i % 3 == 0);
        bool asked = a->kind >= SOLID_EGG || b->kind >= SOLID_EGG;
        double allowed = asked ? 1e-5 : 1e-6, apart = 0;
        pcDistance d;
        for (int turn = 0; turn < 6; turn++) {
            PC_ASSERT_STATUS(PC_OK, distance(&s, &d));
            for (int k = 0; turn < 5 && k < 3; k++) s.pose[1].position[k] -= d.distance * d.normal[k];
        }
        if (!(fabs(d.distance) <= 1e-13)) continue;
        touching++;
        for (int k = 0; k < 3; k++) apart = fmax(apart, fabs(d.point2[k] - d.point1[k]));
        PC_EXPECT_LE(apart, allowed);
        PC_EXPECT_LE((double)roundReach(&s, 0, d.point1), 1 + allowed);
        PC_EXPECT_LE((double)roundReach(&s, 1, d.point2), 1 + allowed);
    }
}

PC_TEST(RoundDistance, BodiesThatTouchToRoundingDoSoInOnePoint)
{
    touching = 0;
    eachPair(20, 0.7, expectOnePoint);
    PC_EXPECT_GT(touching, 7000); /* of 7920 */
}
