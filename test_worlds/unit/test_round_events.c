/* Contact sets of round bodies: how many events, where, with which gap; gradients against finite differences; names that last. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/round_judge.h"

enum { MOST = 64 };

typedef struct Pair {
    pcShape* shape[2];
    pcPose pose[2];
    unsigned flags;
} Pair;

static pcShape* floorShape(void)
{
    pcShape* s = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeHalfSpace((const double[4]){0, 0, 1, 0}, &s));
    return s;
}

static pcShape* cylinder(double radius, double length)
{
    pcShape* s = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeCylinder(radius, length, &s));
    return s;
}

static pcShape* capsule(double radius, double length)
{
    pcShape* s = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeCapsule(radius, length, &s));
    return s;
}

static pcShape* box(double x, double y, double z)
{
    pcShape* s = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeBox((const double[3]){x, y, z}, &s));
    return s;
}

static pcPose upright(double x, double y, double z) { return (pcPose){{x, y, z}, {1, 0, 0, 0}}; }
/* Its axis along y. */
static pcPose lying(double x, double y, double z) { return (pcPose){{x, y, z}, {1, 1, 0, 0}}; }

static void freePair(Pair* p)
{
    pcShapeFree(p->shape[0]);
    pcShapeFree(p->shape[1]);
}

static int eventsOf(const Pair* p, double margin, pcGapKind gap, pcEvent out[MOST])
{
    int count = 0;
    pcEventSettings settings = pcDefaultEventSettings();
    settings.margin = margin, settings.gap = gap;
    PC_EXPECT_STATUS(PC_OK,
                     pcEventsOfPair(p->shape[0], &p->pose[0], p->shape[1], &p->pose[1], p->flags, &settings, NULL, out, MOST, &count));
    PC_EXPECT_LE(count, MOST);
    return count;
}

/* ---- contact sets ---- */

/* `count` events at the gap, all with the normal along z; the largest extents of their points along x and y. */
static void expectSet(const Pair* p, int count, double gap, double x, double y)
{
    pcEvent e[MOST];
    double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
    int found = eventsOf(p, 0.01, PC_GAP_LENGTH, e);
    PC_EXPECT_EQ_INT(count, found);
    for (int i = 0; i < found; i++) {
        PC_EXPECT_NEAR(gap, e[i].gap, 1e-12);
        PC_EXPECT_NEAR(-1, e[i].normal[2], 1e-9);
        PC_EXPECT_EQ_INT(PC_SMOOTH, e[i].kind);
        for (int k = 0; k < 2; k++) low[k] = fmin(low[k], e[i].point1[k]), high[k] = fmax(high[k], e[i].point1[k]);
    }
    PC_EXPECT_NEAR(x, high[0] - low[0], 1e-6);
    PC_EXPECT_NEAR(y, high[1] - low[1], 1e-6);
}

PC_TEST(RoundEvents, OnAPlane)
{
    Pair lies = {{cylinder(0.5, 2), floorShape()}, {lying(0, 0, 0.501), upright(0, 0, 0)}, 0};
    expectSet(&lies, 2, 0.001, 0, 2);
    Pair stands = {{cylinder(0.5, 2), floorShape()}, {upright(0, 0, 1), upright(0, 0, 0)}, 0};
    expectSet(&stands, 6, 0, 1, 0.5 * sqrt(3));
    Pair pill = {{capsule(0.5, 2), floorShape()}, {lying(3, 0, 0.499), upright(0, 0, 0)}, 0};
    expectSet(&pill, 2, -0.001, 0, 2);
    Pair ball = {{capsule(0.5, 2), floorShape()}, {upright(0, 0, 1.5), upright(0, 0, 0)}, 0};
    expectSet(&ball, 1, 0, 0, 0);
    freePair(&lies), freePair(&stands), freePair(&pill), freePair(&ball);
}

PC_TEST(RoundEvents, OnABox)
{
    Pair within = {{cylinder(0.5, 2), box(4, 4, 1)}, {lying(0, 0, 1), upright(0, 0, 0)}, PC_FIXED_2};
    expectSet(&within, 2, 0, 0, 2);
    Pair beyond = {{cylinder(0.5, 2), box(4, 1, 1)}, {lying(0, 0, 1), upright(0, 0, 0)}, PC_FIXED_2};
    expectSet(&beyond, 2, 0, 0, 1);
    Pair half = {{capsule(0.5, 2), box(4, 2, 1)}, {lying(0, 1, 1), upright(0, 0, 0)}, PC_FIXED_2};
    expectSet(&half, 2, 0, 0, 1);
    Pair stands = {{cylinder(0.5, 2), box(4, 4, 1)}, {upright(0, 0, 1.5), upright(0, 0, 0)}, PC_FIXED_2};
    expectSet(&stands, 6, 0, 1, 0.5 * sqrt(3));
    Pair over = {{cylinder(0.5, 2), box(4, 4, 1)}, {upright(2, 0, 1.5), upright(0, 0, 0)}, PC_FIXED_2}; /* half of the cap is outside */
    pcEvent e[MOST];
    int count = eventsOf(&over, 0.01, PC_GAP_LENGTH, e);
    double widest = 0, farthest = -9;
    PC_EXPECT_GE(count, 4);
    for (int i = 0; i < count; i++) widest = fmax(widest, fabs(e[i].point1[1])), farthest = fmax(farthest, e[i].point1[0]);
    PC_EXPECT_NEAR(0.5, widest, 1e-9); /* where the rim crosses the edge */
    PC_EXPECT_NEAR(2, farthest, 1e-9);
    Pair small = {{cylinder(2, 1), box(1, 1, 1)}, {upright(0, 0, 1), upright(0, 0, 0)}, 0}; /* all four corners under the cap */
    expectSet(&small, 4, 0, 1, 1);
    freePair(&within), freePair(&beyond), freePair(&half), freePair(&stands), freePair(&over), freePair(&small);
}

PC_TEST(RoundEvents, LineOnEdgeAndOnLine)
{
    /* a box with an edge downwards along the cylinder's highest line */
    pcPose edge = {{0, 0, 0.5 + sqrt(0.5)}, {cos(0.39269908169872414), 0, sin(0.39269908169872414), 0}};
    Pair roof = {{box(1, 1, 1), cylinder(0.5, 3)}, {edge, lying(0, 0, 0)}, 0};
    expectSet(&roof, 2, 0, 0, 1);
    Pair parallel = {{cylinder(0.5, 2), cylinder(0.25, 2)}, {lying(0, 0.5, 0.75), lying(0, 0, 0)}, 0};
    expectSet(&parallel, 2, 0, 0, 1.5);
    pcPose across = {{0, 0, 0.75}, {1, 0, 1, 0}};
    Pair crossed = {{cylinder(0.5, 2), capsule(0.25, 2)}, {across, lying(0, 0, 0)}, 0};
    expectSet(&crossed, 1, 0, 0, 0);
    Pair caps = {{cylinder(0.5, 1), cylinder(0.5, 1)}, {upright(0.5, 0, 1), upright(0, 0, 0)}, 0};
    pcEvent e[MOST];
    double widest = 0;
    int count = eventsOf(&caps, 0.01, PC_GAP_LENGTH, e);
    for (int i = 0; i < count; i++) widest = fmax(widest, fabs(e[i].point1[1]));
    PC_EXPECT_GE(count, 4);
    PC_EXPECT_NEAR(sqrt(0.25 - 0.0625), widest, 1e-9); /* where the two rims cross */
    freePair(&roof), freePair(&parallel), freePair(&crossed), freePair(&caps);
}

PC_TEST(RoundEvents, ATiltedCapStandsOnItsLowestPoint)
{
    double tilt = 1e-3;
    pcPose pose = {{0, 0, 1}, {cos(0.5 * tilt), 0, sin(0.5 * tilt), 0}};
    pose.position[2] = cos(tilt) + 0.5 * sin(tilt); /* touching */
    Pair p = {{cylinder(0.5, 2), floorShape()}, {pose, upright(0, 0, 0)}, 0};
    for (int turned = 0; turned < 2; turned++) {
        /* about its own axis, so that no point of the rim that is fixed in it is the lowest */
        double a = turned ? 0.4 : 0, q[4] = {cos(a), 0, 0, sin(a)}, w = pose.quaternion[0], y = pose.quaternion[2];
        p.pose[0].quaternion[0] = w * q[0], p.pose[0].quaternion[1] = y * q[3], p.pose[0].quaternion[2] = y * q[0];
        p.pose[0].quaternion[3] = w * q[3];
        pcEvent e[MOST];
        int count = eventsOf(&p, 0.01, PC_GAP_LENGTH, e);
        double lowest = HUGE_VAL;
        for (int i = 0; i < count; i++) lowest = fmin(lowest, e[i].gap);
        PC_EXPECT_EQ_INT(6 + turned, count);
        PC_EXPECT_NEAR(0, lowest, 1e-12);
    }
    freePair(&p);
}

PC_TEST(RoundEvents, NamesLastWhileABodyRollsAndTurns)
{
    Pair p = {{cylinder(0.5, 2), floorShape()}, {lying(0, 0, 0.5), upright(0, 0, 0)}, 0};
    unsigned long long first[2] = {0, 0};
    for (int i = 0; i < 50; i++) {
        double a = 0.3 * i, half = sqrt(0.5); /* turns about its own axis, then the axis lies down */
        p.pose[0] = (pcPose){{0.15 * i, 0, 0.5}, {half * cos(a), half * cos(a), -half * sin(a), half * sin(a)}};
        pcEvent e[MOST];
        int count = eventsOf(&p, 0.01, PC_GAP_LENGTH, e);
        PC_ASSERT_EQ_INT(2, count);
        for (int k = 0; k < 2; k++) {
            if (i == 0) first[k] = e[k].id;
            PC_EXPECT_TRUE(first[k] == e[k].id);
            PC_EXPECT_NEAR(0.15 * i, e[k].point1[0], 1e-12);
        }
    }
    freePair(&p);
}

PC_TEST(RoundEvents, InAContainer)
{
    pcShape *wall = NULL, *can = cylinder(0.5, 1), *cube = box(1, 1, 1), *pill = capsule(0.25, 1);
    double R = sqrt(0.5 + 0.25);
    PC_ASSERT_STATUS(PC_OK, pcShapeContainer(R, &wall));
    Pair boxed = {{cube, wall}, {upright(0, 0, 0), upright(0, 0, 0)}, 0};
    pcEvent e[MOST];
    PC_EXPECT_EQ_INT(8, eventsOf(&boxed, 0.01, PC_GAP_LENGTH, e));
    for (int i = 0; i < 8; i++) PC_EXPECT_NEAR(0, e[i].gap, 1e-15);
    Pair pilled = {{pill, wall}, {upright(0, 0, 0), upright(0, 0, 0)}, 0};
    PC_EXPECT_EQ_INT(2, eventsOf(&pilled, 0.2, PC_GAP_LENGTH, e));
    PC_EXPECT_NEAR(R - 0.75, e[0].gap, 1e-15);
    PC_EXPECT_NEAR(1, fabs(e[0].normal[2]), 1e-12);
    Pair canned = {{can, wall}, {upright(0, 0, -0.05), upright(0, 0, 0)}, 0};
    PC_EXPECT_EQ_INT(6, eventsOf(&canned, 0.13, PC_GAP_LENGTH, e));
    for (int i = 0; i < 6; i++) PC_EXPECT_NEAR(R - hypot(0.5, 0.55), e[i].gap, 1e-15);
    pcShapeFree(can);
    pcShapeFree(wall);
    pcShapeFree(cube);
    pcShapeFree(pill);
}

/* ---- gradients ---- */

static pcPose turnedAbout(pcPose p, const double axis[3], double angle)
{
    double w = cos(0.5 * angle), s = sin(0.5 * angle), x = s * axis[0], y = s * axis[1], z = s * axis[2], *q = p.quaternion;
    double r[4] = {w * q[0] - x * q[1] - y * q[2] - z * q[3], w * q[1] + x * q[0] + y * q[3] - z * q[2],
                   w * q[2] - x * q[3] + y * q[0] + z * q[1], w * q[3] + x * q[2] - y * q[1] + z * q[0]};
    memcpy(p.quaternion, r, sizeof r);
    return p;
}

static Pair moved(const Pair* p, int k, double by)
{
    Pair out = *p;
    double axis[3] = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
    if (k % 6 < 3)
        out.pose[k / 6].position[k % 3] += by;
    else
        out.pose[k / 6] = turnedAbout(out.pose[k / 6], axis, by);
    return out;
}

static const pcEvent* withId(const pcEvent* e, int count, unsigned long long id)
{
    for (int i = 0; i < count; i++)
        if (e[i].id == id) return e + i;
    return NULL;
}

/* Differences of t and of the length gap along twelve coordinates; returns how many were compared. */
static int expectGradients(const Pair* p, double margin)
{
    const double step = 1e-6;
    pcEvent here[MOST], up[MOST], down[MOST];
    int count = eventsOf(p, margin, PC_GAP_LENGTH, here), compared = 0;
    for (int k = 0; k < 12; k++) {
        Pair more = moved(p, k, step), less = moved(p, k, -step);
        int ups = eventsOf(&more, margin, PC_GAP_LENGTH, up), downs = eventsOf(&less, margin, PC_GAP_LENGTH, down);
        for (int i = 0; i < count; i++) {
            const pcEvent *a = withId(up, ups, here[i].id), *b = withId(down, downs, here[i].id);
            if (!a || !b) continue;
            PC_EXPECT_NEAR((a->t - b->t) / (2 * step), here[i].gradient[k], 2e-5 * (1 + fabs(here[i].gradient[k])));
            PC_EXPECT_NEAR((a->gap - b->gap) / (2 * step), here[i].wrench[k], 2e-5);
            compared++;
        }
    }
    return compared;
}

static const SolidKind bodies[6] = {SOLID_SPHERE, SOLID_ELLIPSOID, SOLID_CAPSULE, SOLID_CYLINDER, SOLID_BOX, SOLID_EGG};

/* The widest angle between neighbours, as seen from the vertical axis: below 180 degrees, and a body stands on them. */
static double widestGap(const pcEvent* e, int count)
{
    double angle[MOST], widest = 0;
    for (int i = 0; i < count; i++) {
        angle[i] = atan2(e[i].point1[1], e[i].point1[0]);
        for (int j = i; j > 0 && angle[j - 1] > angle[j]; j--) {
            double swap = angle[j];
            angle[j] = angle[j - 1], angle[j - 1] = swap;
        }
    }
    for (int i = 0; i < count; i++) widest = fmax(widest, i > 0 ? angle[i] - angle[i - 1] : angle[0] + 2 * acos(-1) - angle[count - 1]);
    return widest;
}

/* A rim that the sphere is all around, tilted by less than it matters, has events all around; a tilted one has its farthest point among them. */
PC_TEST(RoundEvents, ARimInAContainerStandsOnItsCircle)
{
    pcRandom random = {71};
    pcShape* wall = NULL;
    PC_ASSERT_STATUS(PC_OK, pcShapeContainer(0.8, &wall));
    for (int i = 0; i < 400; i++) {
        double about = roundBetween(&random, 0, 6.3),
               tilt = i < 200 ? pow(10, roundBetween(&random, -12, -4)) : roundBetween(&random, 0.01, 0.5);
        double gap = i % 2 ? 1e-3 : -1e-3, nearest = HUGE_VAL;
        bool flat = i % 4 < 2;
        PC_CASE("%d: tilt %g", i, tilt);
        pcShape* body = flat ? NULL : cylinder(0.5, 1);
        if (flat) PC_ASSERT_STATUS(PC_OK, pcShapeEllipsoid((const double[3]){0.5, 0.5, 0.2}, &body));
        Pair p = {{body, wall}, {upright(0, 0, 0), upright(0, 0, 0)}, 0};
        p.pose[0] = turnedAbout(p.pose[0], (const double[3]){0, 0, 1}, roundBetween(&random, 0, 6.3));
        p.pose[0] = turnedAbout(p.pose[0], (const double[3]){cos(about), sin(about), 0}, tilt);
        for (int k = 0; k < 60; k++) { /* down until the pair's distance is the gap */
            pcDistance d;
            PC_ASSERT_STATUS(PC_OK, pcEuclidPair(body, &p.pose[0], wall, &p.pose[1], NULL, &d));
            p.pose[0].position[2] -= 0.5 * (d.distance - gap);
        }
        pcDistance d;
        PC_ASSERT_STATUS(PC_OK, pcEuclidPair(body, &p.pose[0], wall, &p.pose[1], NULL, &d));
        pcEvent e[MOST];
        int count = eventsOf(&p, 2e-3, PC_GAP_LENGTH, e);
        for (int k = 0; k < count; k++) nearest = fmin(nearest, e[k].gap);
        PC_EXPECT_NEAR(d.distance, nearest, 1e-9);
        if (i < 200) PC_EXPECT_GE(count, 3);
        if (i < 200) PC_EXPECT_LE(widestGap(e, count), 2.1);
        pcShapeFree(body);
    }
    pcShapeFree(wall);
}

PC_TEST(RoundEvents, GradientsOfPointsAreThoseOfDifferences)
{
    pcRandom random = {41};
    int compared = 0;
    for (int i = 0; i < 300; i++) {
        PC_CASE("pair %d", i);
        Solid *a = solidMake(&random, bodies[i % 4], 0.4), *b = solidMake(&random, bodies[i / 4 % 6], 0.4);
        RoundScene s = roundScene(&random, a, b, 1, false);
        Pair p = {{a->shape, b->shape}, {s.pose[0], s.pose[1]}, s.flags};
        for (int k = 0; k < 4; k++) { /* lengths of quaternions do not matter, but turns about the world's axes do */
            double size = 0;
            for (int j = 0; j < 4; j++) size += p.pose[k % 2].quaternion[j] * p.pose[k % 2].quaternion[j];
            for (int j = 0; j < 4; j++) p.pose[k % 2].quaternion[j] /= sqrt(size);
        }
        double way[3], gap = roundBetween(&random, -0.1, 0.02);
        roundDirection(&random, way);
        pcMetric m = {.gap = 1};
        for (int k = 0; k < 3; k++) p.pose[1].position[k] = 6 * way[k];
        for (int k = 0; k < 60 && fabs(m.gap - gap) > 1e-3; k++) {
            if (pcMetricPair(a->shape, &p.pose[0], b->shape, &p.pose[1], p.flags, NULL, &m) != PC_OK) break;
            for (int j = 0; j < 3; j++) p.pose[1].position[j] += 0.8 * (gap - m.gap) * m.normal[j];
        }
        compared += expectGradients(&p, 0.05);
        solidFree(a);
        solidFree(b);
    }
    PC_EXPECT_GT(compared, 2500);
}

/* Nearly flat contacts, a little tilted, so that every sort of event is among them. */
PC_TEST(RoundEvents, GradientsOfSetsAreThoseOfDifferences)
{
    pcRandom random = {43};
    int compared = 0;
    for (int i = 0; i < 240; i++) {
        PC_CASE("set %d", i);
        int scene = i % 8;
        pcPose low = upright(0, 0, 0), high = scene == 0 || scene == 1 || scene == 6 ? lying(0.2, 0.1, 1.0) : upright(0.2, 0.3, 1.5);
        Pair p = {{NULL, NULL}, {high, low}, i / 8 % 2 ? 0 : PC_FIXED_2};
        if (scene == 0) p.shape[0] = cylinder(0.5, 2), p.shape[1] = box(4, 1, 1);
        if (scene == 1) p.shape[0] = capsule(0.5, 2), p.shape[1] = box(4, 1, 1);
        if (scene == 2) p.shape[0] = cylinder(0.5, 2), p.shape[1] = box(1, 1, 1);
        if (scene == 3) p.shape[0] = cylinder(0.5, 2), p.shape[1] = cylinder(0.5, 1);
        if (scene == 4) p.shape[0] = cylinder(0.5, 2), p.shape[1] = floorShape(), p.pose[0].position[2] = 1, p.flags = 0;
        if (scene == 5) p.shape[0] = box(1, 1, 2), p.shape[1] = cylinder(0.5, 1);
        if (scene == 6) p.shape[0] = cylinder(0.5, 2), p.shape[1] = cylinder(0.7, 1);
        if (scene == 7)
            p.shape[0] = box(3, 3, 1), p.shape[1] = cylinder(0.5, 2), p.pose[1] = lying(0, 0, 0), p.pose[0] = upright(0.3, 0.2, 1);
        for (int k = 0; k < 2; k++) {
            double axis[3], size = 0;
            for (int j = 0; j < 4; j++) size += p.pose[k].quaternion[j] * p.pose[k].quaternion[j];
            for (int j = 0; j < 4; j++) p.pose[k].quaternion[j] /= sqrt(size);
            roundDirection(&random, axis);
            p.pose[k] = turnedAbout(p.pose[k], axis, roundBetween(&random, -0.01, 0.01));
        }
        p.pose[0].position[2] += roundBetween(&random, -0.01, 0.01);
        compared += expectGradients(&p, 0.05);
        freePair(&p);
    }
    PC_EXPECT_GT(compared, 8000);
}

/* ---- against a judge that knows nothing of features (round_judge.h) ---- */

static double spread(pcRandom* random, double low, double high) { return exp(roundBetween(random, log(low), log(high))); }

/* A cylinder tilted by anything from 1e-9 to 0.3 over a box that is wider, deep in it or above it: the rim's lowest point is radius sin + half
 * length cos below its centre, and an event is there, to 1e-9. */
PC_TEST(RoundEvents, TheLowestPointOfARimIsNeverMissed)
{
    pcRandom random = {57};
    for (int i = 0; i < 4000; i++) {
        double radius = spread(&random, 0.1, 1), length = spread(&random, 0.1, 2), tilt = spread(&random, 1e-9, 0.3), margin = 0;
        double gap = spread(&random, 1e-9, 0.03) * (i % 2 ? 1 : -1), axis[3] = {0, 0, 1}, about = roundBetween(&random, 0, 6.3);
        Pair p = {
            {cylinder(radius, length), box(5 * radius, 5 * radius, 8)}, {upright(0, 0, 0), upright(0, 0, -4)}, i % 4 < 2 ? PC_FIXED_2 : 0};
        p.pose[0] = turnedAbout(p.pose[0], axis, roundBetween(&random, 0, 6.3));
        p.pose[0] = turnedAbout(p.pose[0], (const double[3]){cos(about), sin(about), 0}, tilt);
        p.pose[0].position[2] = radius * sin(tilt) + 0.5 * length * cos(tilt) + gap;
        margin = gap > 0 ? 2 * gap : i % 3 == 0 ? 0.0 : 0.01;
        PC_CASE("%d: radius %g, length %g, tilt %g, gap %g", i, radius, length, tilt, gap);
        pcEvent e[MOST];
        int count = eventsOf(&p, margin, PC_GAP_LENGTH, e);
        double lowest = HUGE_VAL;
        for (int k = 0; k < count; k++) lowest = fmin(lowest, e[k].gap);
        PC_EXPECT_NEAR(gap, lowest, 1e-9 * (radius + length));
        freePair(&p);
    }
}

/* Cylinders and capsules against edges, faces and corners of boxes, looking far ahead: no event is deeper than the bodies are along its normal,
 * and none acts where there is no body. */
PC_TEST(RoundEvents, NoneIsDeeperThanTheBodiesAreOrActsBesideThem)
{
    pcRandom random = {58};
    int found = 0;
    for (int i = 0; i < 6000; i++) {
        Solid *a = solidMake(&random, i % 2 ? SOLID_CYLINDER : SOLID_CAPSULE, 1), *b = solidMake(&random, SOLID_BOX, 1);
        RoundScene s = roundScene(&random, a, b, 1, i % 3 == 0);
        Pair p = {{a->shape, b->shape}, {s.pose[0], s.pose[1]}, 0};
        pcMetric m;
        PC_CASE("%d", i);
        PC_ASSERT_STATUS(PC_OK, pcMetricPair(p.shape[0], &p.pose[0], p.shape[1], &p.pose[1], 0, NULL, &m));
        double part = (1 + spread(&random, 1e-9, 0.8) * (i % 4 < 2 ? 1 : -1)) / m.r;
        for (int k = 0; k < 3; k++) {
            double *x = p.pose[1].position, from = p.pose[0].position[k];
            s.pose[1].position[k] = x[k] = from + part * (x[k] - from);
        }
        pcEvent e[MOST];
        int count = eventsOf(&p, spread(&random, 1e-6, 0.5), PC_GAP_LENGTH, e);
        for (int k = 0; k < count; k++, found++) {
            PC_EXPECT_TRUE(isfinite(e[k].gap) && (double)roundApart(&s, e[k].normal) <= e[k].gap + 1e-9);
            PC_EXPECT_TRUE(roundReach(&s, 0, e[k].point1) <= 1.1L && roundReach(&s, 1, e[k].point2) <= 1.1L);
        }
        solidFree(a), solidFree(b);
    }
    PC_EXPECT_GT((double)found, 6000.0);
}

/* Balls that touch a face to rounding, or are a bit above or below it, anywhere on the face, first or second of the pair: what pushes them goes
 * through their middle. (A ball at rest is that near; an arm to a corner of the face turned it.) */
PC_TEST(RoundEvents, BallsOnFacesAreNotTurned)
{
    pcRandom random = {61};
    int touched = 0;
    for (int i = 0; i < 4000; i++) {
        Solid *ball = solidMake(&random, SOLID_SPHERE, 0.5), *block = solidMake(&random, i % 2 ? SOLID_BOX : SOLID_HULL, 0.5);
        RoundScene s = roundScene(&random, ball, block, 3, i % 5 == 0);
        pcDistance d;
        PC_CASE("%d", i);
        for (int turn = 0; turn < 5; turn++) {
            PC_ASSERT_STATUS(PC_OK, pcEuclidPair(ball->shape, &s.pose[0], block->shape, &s.pose[1], NULL, &d));
            for (int k = 0; k < 3; k++) s.pose[1].position[k] -= (d.distance - (i % 4 - 1) * 1e-16) * d.normal[k];
        }
        int first = i / 2 % 2;
        Pair p = {{block->shape, ball->shape}, {s.pose[1], s.pose[0]}, 0};
        if (first) p = (Pair){{ball->shape, block->shape}, {s.pose[0], s.pose[1]}, 0};
        pcEvent e[MOST];
        int count = eventsOf(&p, 0.01, PC_GAP_LENGTH, e);
        PC_EXPECT_EQ_INT(1, count);
        touched += fabs(e[0].gap) <= 1e-15;
        for (int k = 0; k < 3; k++) PC_EXPECT_NEAR(0, e[0].wrench[(first ? 3 : 9) + k], 1e-12 + 2 * fabs(e[0].gap));
        solidFree(ball), solidFree(block);
    }
    PC_EXPECT_GT((double)touched, 3000.0);
}
