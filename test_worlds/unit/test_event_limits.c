/* Events and metric at the edges of what they promise: wide tolerances, bodies without thickness, many vertices, extreme numbers,
 * threads. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/brute_events.h"

enum { MOST = 64 };

static const double upright[4] = {1, 0, 0, 0};

static pcPose at(double x, double y, double z)
{
    pcPose pose = {{x, y, z}, {1, 0, 0, 0}};
    memcpy(pose.quaternion, upright, sizeof upright);
    return pose;
}

static pcShape* halfSpace(double a, double b, double c, double d)
{
    const double plane[4] = {a, b, c, d};
    pcShape* shape = NULL;
    return pcShapeHalfSpace(plane, &shape) == PC_OK ? shape : NULL;
}

static pcShape* octahedron(void)
{
    static const double points[] = {1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1};
    pcShape* shape = NULL;
    return pcShapeFromPoints(points, 6, NULL, &shape) == PC_OK ? shape : NULL;
}

/* ---- the thesis' tolerances ---- */

/* By how much x leaves the body scaled by t, in units of b: the largest of (a.(x - centre) / b) - t over all facets (T 3.14). */
static double leaves(const pcShape* shape, const pcPose* pose, const double x[3], double t)
{
    BruteBody body;
    long double most = -1e300L;
    if (!bruteBody(shape, pose, true, &body)) return HUGE_VAL;
    for (int k = 0; k < body.facets; k++) {
        long double over = bvDot(body.normal[k], bvSub(bvOf(x), body.centre)) / body.offset[k] - (long double)t;
        if (over > most) most = over;
    }
    return (double)most;
}

static pcEventSettings thesisSettings(void)
{
    pcEventSettings settings = bruteSettings(1.0);
    settings.epsX = 0.5, settings.epsT = 0.5, settings.eps0 = 1e-7;
    return settings;
}

PC_TEST(EventTolerances, KeepEveryPointWithinEpsXAndEveryFactorWithinItsRange)
{
    pcShape *box = bruteBox(1, 1.2, 0.8), *body[2] = {octahedron(), bruteBox(1, 1, 1)};
    pcEventSettings settings = thesisSettings();
    unsigned long long state = 20;
    int seen = 0;
    for (int i = 0; i < 2000; i++) {
        pcShape* other = body[i % 2];
        pcPose here = at(0, 0, 0), there = at(0, 0, 0);
        double direction[3];
        bruteDirection(&state, 3, direction);
        bruteDirection(&state, 4, there.quaternion);
        for (int k = 0; k < 3; k++) there.position[k] = 1.3 * direction[k];
        pcEvent events[MOST];
        pcMetric metric;
        int count = 0;
        PC_CASE("pose %d", i);
        PC_ASSERT_STATUS(PC_OK, pcMetricPair(box, &here, other, &there, 0, NULL, &metric));
        PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(box, &here, other, &there, 0, &settings, NULL, events, MOST, &count));
        for (int n = 0; n < count && n < MOST; n++, seen++) {
            PC_EXPECT_LE(leaves(box, &here, events[n].point, events[n].t), settings.epsX * (1 + 1e-9));
            PC_EXPECT_LE(leaves(other, &there, events[n].point, events[n].t), settings.epsX * (1 + 1e-9));
            PC_EXPECT_LE(events[n].t, metric.r + settings.epsT + 1e-12);
            PC_EXPECT_GE(events[n].t, metric.r - settings.eps0 - 1e-12);
        }
    }
    PC_EXPECT_GT(seen, 2000); /* there was something to look at */
    pcShapeFree(box);
    pcShapeFree(body[0]);
    pcShapeFree(body[1]);
}

PC_TEST(EventTolerances, AWideEpsXAcceptsACornerBesideTheFaceAndTheDefaultDoesNot)
{
    pcShape *small = bruteBox(0.2, 0.2, 0.2), *table = bruteBox(2, 2, 2);
    /* one side of the small box stands 0.05 past the table's edge: two corners on the face, two beside it */
    pcPose pose = at(0.95, 0, 1.1), ground = at(0, 0, 0);
    pcEventSettings strict = bruteSettings(0.01), wide = strict;
    wide.epsX = 0.1;
    pcEvent events[MOST];
    int strictCount = 0, wideCount = 0, corners[2] = {0, 0};
    PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(small, &pose, table, &ground, PC_FIXED_2, &strict, NULL, events, MOST, &strictCount));
    for (int i = 0; i < strictCount; i++) corners[0] += events[i].kind == PC_CORNER_FACE;
    PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(small, &pose, table, &ground, PC_FIXED_2, &wide, NULL, events, MOST, &wideCount));
    for (int i = 0; i < wideCount; i++) corners[1] += events[i].kind == PC_CORNER_FACE;
    PC_EXPECT_EQ_INT(2, corners[0]);
    PC_EXPECT_EQ_INT(4, corners[1]);
    pcShapeFree(small);
    pcShapeFree(table);
}

/* ---- bodies without thickness ---- */

PC_TEST(ThinPlates, RestOnFourCornersHoweverThin)
{
    static const double thickness[] = {1e-2, 1e-4, 1e-6, 1e-8, 1e-9};
    pcShape *ground = halfSpace(0, 0, 1, 0), *table = bruteBox(4, 4, 1);
    pcEventSettings settings = bruteSettings(0);
    for (size_t i = 0; i < sizeof thickness / sizeof *thickness; i++) {
        pcShape* plate = bruteBox(1, 1, thickness[i]);
        pcPose pose = at(0.25, 0.125, 0.5 * thickness[i]), origin = at(0, 0, 0), below = at(0, 0, -0.5);
        pcEvent events[MOST];
        int onGround = 0, onTable = 0;
        PC_CASE("thickness %g", thickness[i]);
        PC_EXPECT_STATUS(PC_OK, pcEventsOfPair(plate, &pose, ground, &origin, 0, &settings, NULL, events, MOST, &onGround));
        PC_EXPECT_STATUS(PC_OK, pcEventsOfPair(plate, &pose, table, &below, PC_FIXED_2, &settings, NULL, events, MOST, &onTable));
        PC_EXPECT_EQ_INT(4, onGround);
        PC_EXPECT_EQ_INT(4, onTable);
        pcShapeFree(plate);
    }
    pcShapeFree(ground);
    pcShapeFree(table);
}

/* ---- many vertices ---- */

static int verticesBelow(const pcShape* shape, double height)
{
    int count, below = 0;
    const double* vertex = pcShapeVertices(shape, &count);
    for (int i = 0; i < count; i++) below += vertex[3 * i + 2] + height <= 0;
    return below;
}

PC_TEST(EventCount, OverAPlaneIsEveryVertexBelowItHoweverMany)
{
    unsigned long long state = 3;
    static double points[3 * 6000];
    pcShape *ball = NULL, *ground = halfSpace(0, 0, 1, 0);
    for (int i = 0; i < 6000; i++) bruteDirection(&state, 3, points + 3 * i);
    const double centre[3] = {0, 0, 0};
    PC_ASSERT_STATUS(PC_OK, pcShapeFromPoints(points, 6000, centre, &ball));
    static const double heights[] = {0.99, 0.9, 0.7, 0.4, 0.1};
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
        pcPose pose = at(0, 0, heights[i]), origin = at(0, 0, 0);
        pcEventSettings settings = bruteSettings(0);
        pcEvent few[8];
        int count = 0, kept = 0;
        PC_CASE("centre at %g", heights[i]);
        PC_EXPECT_STATUS(PC_OK, pcEventsOfPair(ball, &pose, ground, &origin, 0, &settings, NULL, NULL, 0, &count));
        PC_EXPECT_EQ_INT(verticesBelow(ball, heights[i]), count);
        PC_EXPECT_STATUS(PC_OK, pcEventsOfPair(ball, &pose, ground, &origin, 0, &settings, NULL, few, 8, &kept));
        double deepest = 1;
        for (int k = 0; k < 8; k++) deepest = fmin(deepest, few[k].gap);
        pcMetric metric;
        PC_EXPECT_STATUS(PC_OK, pcMetricPair(ball, &pose, ground, &origin, 0, NULL, &metric));
        PC_EXPECT_NEAR(metric.gap, deepest, 1e-12);
    }
    pcShapeFree(ball);
    pcShapeFree(ground);
}

/* ---- extreme numbers ---- */

PC_TEST(ExtremeNumbers, ACentreExactlyOnThePlaneLeavesThePreimagesAtTheCorners)
{
    pcShape *box = bruteBox(1, 1, 1), *ground = halfSpace(0, 0, 1, 0);
    pcPose pose = at(0, 0, 0), origin = at(0, 0, 0);
    pcEventSettings settings = bruteSettings(0);
    pcEvent events[MOST];
    pcMetric metric;
    int count = 0;
    PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(box, &pose, ground, &origin, 0, &settings, NULL, events, MOST, &count));
    PC_EXPECT_EQ_INT(4, count);
    for (int i = 0; i < count && i < MOST; i++) {
        PC_EXPECT_NEAR(0.5, fabs(events[i].point1[0]), 1e-15);
        PC_EXPECT_NEAR(-0.5, events[i].point1[2], 1e-15);
        PC_EXPECT_NEAR(-0.5, events[i].gap, 1e-15);
    }
    PC_ASSERT_STATUS(PC_OK, pcMetricPair(box, &pose, ground, &origin, 0, NULL, &metric));
    PC_EXPECT_NEAR(0, metric.r, 0);
    PC_EXPECT_NEAR(-0.5, metric.point1[2], 1e-15);
    pcShapeFree(box);
    pcShapeFree(ground);
}

PC_TEST(ExtremeNumbers, DistancesThatVanishOrOverflowAreRefused)
{
    pcShape *ball = NULL, *box = bruteBox(1, 1, 1);
    PC_ASSERT_STATUS(PC_OK, pcShapeSphere(1, &ball));
    pcPose here = at(0, 0, 0), near = at(1e-200, 0, 0), nearer = at(1e-320, 0, 0), left = at(-1.5e308, 0, 0), right = at(1.5e308, 0, 0);
    pcMetric metric;
    PC_EXPECT_STATUS(PC_ERROR_COINCIDENT, pcMetricPair(ball, &here, ball, &near, 0, NULL, &metric));
    PC_EXPECT_STATUS(PC_ERROR_COINCIDENT, pcMetricPair(box, &here, box, &nearer, 0, NULL, &metric));
    PC_EXPECT_STATUS(PC_ERROR_NOT_FINITE, pcMetricPair(box, &left, box, &right, 0, NULL, &metric));
    pcShapeFree(ball);
    pcShapeFree(box);
}

PC_TEST(ExtremeNumbers, TheLengthOfAPlanesNormalDoesNotMatter)
{
    static const double length[] = {1e-300, 1e-200, 1e-10, 1, 1e10, 1e200, 1e300};
    pcShape* box = bruteBox(1, 1, 1);
    pcPose aside = at(1e6, 0, 0.75), origin = at(0, 0, 0);
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        pcShape* ground = halfSpace(0, 0, length[i], 0);
        pcMetric metric;
        PC_CASE("length %g", length[i]);
        PC_ASSERT_STATUS(PC_OK, pcMetricPair(ground, &origin, box, &aside, 0, NULL, &metric));
        PC_EXPECT_NEAR(1.5, metric.r, 1e-13);
        PC_EXPECT_NEAR(0.25, metric.gap, 1e-13);
        PC_EXPECT_NEAR(1, metric.normal[2], 1e-14);
        pcShapeFree(ground);
    }
    pcShapeFree(box);
}

/* ---- threads ---- */

typedef struct Shared {
    pcShape *box, *hull;
    pcEvent events[MOST];
    int count;
} Shared;

static void* searchOften(void* argument)
{
    Shared* shared = argument;
    pcEventSettings settings = bruteSettings(1.0);
    pcPose here = at(0, 0, 0), there = at(0.1, 0.2, 1.1);
    for (int i = 0; i < 2000; i++) {
        memset(shared->events, 0, sizeof shared->events);
        if (pcEventsOfPair(shared->box, &here, shared->hull, &there, 0, &settings, NULL, shared->events, MOST, &shared->count) != PC_OK)
            shared->count = -1;
    }
    return NULL;
}

/* Threads of half a megabyte of stack: what the header promises must be enough. Sanitizers need more for themselves. */
PC_TEST(EventThreads, OfSmallStacksShareShapesAndGiveTheSameBits)
{
    enum { THREADS = 4 };
    unsigned long long state = 8;
    static Shared shared[THREADS];
    pthread_t thread[THREADS];
    pthread_attr_t attributes;
    pcShape *box = bruteBox(1, 1, 1), *hull = bruteHull(&state, 30);
    pthread_attr_init(&attributes);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    pthread_attr_setstacksize(&attributes, 512 * 1024);
#endif
    for (int i = 0; i < THREADS; i++) {
        shared[i].box = box, shared[i].hull = hull;
        PC_ASSERT_EQ_INT(0, pthread_create(thread + i, &attributes, searchOften, shared + i));
    }
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    PC_EXPECT_GT(shared[0].count, 0);
    for (int i = 1; i < THREADS; i++) {
        PC_EXPECT_EQ_INT(shared[0].count, shared[i].count);
        PC_EXPECT_TRUE(memcmp(shared[0].events, shared[i].events, sizeof shared[0].events) == 0);
    }
    pthread_attr_destroy(&attributes);
    pcShapeFree(box);
    pcShapeFree(hull);
}

/* ---- edges that are nearly parallel ---- */

static pcPose rolled(double x, double y, double z, double roll, double yaw)
{
    pcPose pose = at(x, y, z);
    const double along[3] = {1, 0, 0}, up[3] = {0, 0, 1};
    pose = bruteTurned(&pose, along, roll);
    return bruteTurned(&pose, up, yaw);
}

/* Two bars that lean, one above the other, still apart: their lines may meet miles away, but no event presses there. */
PC_TEST(EventLimits, NoEventPressesFarFromItsBodies)
{
    pcShape* bar = bruteBox(1, 0.3, 0.3);
    pcEventSettings settings = pcDefaultEventSettings();
    unsigned long long state = 5;
    int edges = 0;
    settings.margin = 0.2;
    for (int i = 0; i < 3000; i++) {
        pcPose low = rolled(0, 0, 0, 0.785 + 0.4 * bruteUniform(&state), 0), high;
        high = rolled(0.1, 0.05 * bruteUniform(&state), 0.55, 0.785 + 0.4 * bruteUniform(&state),
                      pow(10.0, -5.0 + 4.0 * bruteUniform(&state)));
        pcEvent events[MOST];
        int count = 0;
        PC_EXPECT_STATUS(PC_OK, pcEventsOfPair(bar, &low, bar, &high, 0, &settings, NULL, events, MOST, &count));
        for (int k = 0; k < count && k < MOST; k++) {
            double arm = hypot(hypot(events[k].wrench[3], events[k].wrench[4]), events[k].wrench[5]);
            PC_EXPECT_LE(arm, 2.0); /* half a bar, one bar past its end, and its width */
            edges += events[k].kind == PC_EDGE_EDGE;
        }
    }
    PC_EXPECT_GT(edges, 300);
    pcShapeFree(bar);
}
