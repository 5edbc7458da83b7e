/*
 * Faces and tips: face on face gives exactly the corners of the overlap (T 3.4), a corner of many facets gives one event (T 3.11).
 * The reference is the clipping of convex polygons in long double, and plain heights: nothing is compared with the code under test.
 */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/brute_events.h"

static const double PI = 3.14159265358979323846;
static const double zAxis[3] = {0, 0, 1};

enum { MOST = 4096 };
static pcEvent events[MOST];

/* ---- a body lying on a body ---- */

/* Two prisms about the z axis, one on the other, in a world that may be turned as a whole. */
typedef struct Stack {
    pcShape *lower, *upper;
    double halfLower, halfUpper; /* heights */
    bool lowerFirst, lowerFixed;
    double size; /* half the diagonal of the larger: what the tolerances of the search are measured by */
    pcPose room; /* of the whole scene; a turn makes faces parallel only to rounding */
} Stack;

static Stack stackOf(pcShape* lower, double lowerHeight, pcShape* upper, double upperHeight)
{
    return (Stack){lower, upper, 0.5 * lowerHeight, 0.5 * upperHeight, true, false, 1, {{0, 0, 0}, {1, 0, 0, 0}}};
}

static void freeStack(Stack* s)
{
    pcShapeFree(s->lower);
    pcShapeFree(s->upper);
}

/* Where the upper body lies. */
typedef struct Lie {
    double x, y, yaw, gap;
} Lie;

static pcPose upperPose(const Stack* s, const Lie* lie)
{
    return brutePose(lie->x, lie->y, s->halfLower + s->halfUpper + lie->gap, zAxis, lie->yaw);
}

/* A pose of the scene, in the room. */
static pcPose inRoom(const Stack* s, const pcPose* pose)
{
    const double *p = s->room.quaternion, *q = pose->quaternion;
    BV at = brutePlace(&s->room, pose->position);
    return (pcPose){{(double)at.x, (double)at.y, (double)at.z},
                    {p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
                     p[0] * q[2] + p[2] * q[0] + p[3] * q[1] - p[1] * q[3], p[0] * q[3] + p[3] * q[0] + p[1] * q[2] - p[2] * q[1]}};
}

static BV outOfRoom(const Stack* s, const double* point)
{
    BV shifted = bvSub(bvOf(point), bvOf(s->room.position));
    pcPose back = {{0, 0, 0}, {s->room.quaternion[0], -s->room.quaternion[1], -s->room.quaternion[2], -s->room.quaternion[3]}};
    double local[3] = {(double)shifted.x, (double)shifted.y, (double)shifted.z};
    return brutePlace(&back, local);
}

/* The least factor at which the two faces meet: plain heights. */
static long double stackRatio(const Stack* s, const Lie* lie)
{
    long double height = (long double)s->halfLower + s->halfUpper + lie->gap;
    return s->lowerFixed ? (height - s->halfLower) / s->halfUpper : height / ((long double)s->halfLower + s->halfUpper);
}

/* The top (up = 1) or bottom (up = -1) face seen from above, counter-clockwise, scaled about its centre. */
static void faceOf(const pcShape* shape, int up, const pcPose* pose, long double scale, BrutePolygon* out)
{
    int count;
    const double* xyz = pcShapeVertices(shape, &count);
    pcShapeInfo info;
    out->count = 0;
    PC_ASSERT_STATUS(PC_OK, pcShapeDescribe(shape, &info));
    for (int i = 0; i < info.facets; i++) {
        pcFacet facet;
        PC_ASSERT_STATUS(PC_OK, pcShapeFacet(shape, i, &facet));
        if (!(facet.plane[2] * up > 0.9)) continue;
        for (int k = 0; k < facet.count; k++) {
            BV v = brutePlace(pose, xyz + 3 * facet.vertex[up > 0 ? k : facet.count - 1 - k]), centre = bvOf(pose->position);
            out->corner[out->count++] = (BP){centre.x + scale * (v.x - centre.x), centre.y + scale * (v.y - centre.y)};
        }
    }
}

static void overlapOf(const Stack* s, const Lie* lie, BrutePolygon* out)
{
    static BrutePolygon top, bottom;
    pcPose low = {{0, 0, 0}, {1, 0, 0, 0}}, high = upperPose(s, lie);
    long double r = stackRatio(s, lie);
    faceOf(s->lower, 1, &low, s->lowerFixed ? 1 : r, &top);
    faceOf(s->upper, -1, &high, r, &bottom);
    bruteClip(&bottom, &top, 1e-8L, out);
}

static int eventsOfStack(const Stack* s, const Lie* lie, double margin)
{
    int count = -1;
    pcEventSettings settings = bruteSettings(margin);
    pcPose low = {{0, 0, 0}, {1, 0, 0, 0}}, high = upperPose(s, lie);
    low = inRoom(s, &low), high = inRoom(s, &high);
    unsigned flags = !s->lowerFixed ? 0 : s->lowerFirst ? PC_FIXED_1 : PC_FIXED_2;
    pcStatus status = s->lowerFirst ? pcEventsOfPair(s->lower, &low, s->upper, &high, flags, &settings, NULL, events, MOST, &count)
                                    : pcEventsOfPair(s->upper, &high, s->lower, &low, flags, &settings, NULL, events, MOST, &count);
    PC_EXPECT_STATUS(PC_OK, status);
    return status == PC_OK ? count : -1;
}

/* The points of the events, seen from above. */
static BP seen[MOST];

static void seeFromAbove(const Stack* s, int count)
{
    for (int i = 0; i < count; i++) {
        BV x = outOfRoom(s, events[i].point);
        seen[i] = (BP){x.x, x.y};
    }
}

static double between(BP a, BP b) { return hypot((double)(a.x - b.x), (double)(a.y - b.y)); }

/* Ids ascend, so none is there twice; and no two events share a point. */
static void expectNoDuplicates(int count)
{
    for (int i = 0; i < count; i++) {
        if (i > 0) PC_EXPECT_TRUE(events[i - 1].id < events[i].id);
        for (int j = 0; j < i; j++)
            if (!(between(seen[i], seen[j]) >= 5e-10)) PC_FAIL("events %d and %d share a point", j, i);
    }
}

static double nearest(const BP* list, int count, BP x)
{
    double best = HUGE_VAL;
    for (int i = 0; i < count; i++) best = fmin(best, between(list[i], x));
    return best;
}

/* Rounding moves the crossing of two edges that are nearly parallel by 1e-16 over their angle: `tolerance` allows for it. A corner that
 * sticks out by less than 1e-9 of the bodies' size need not be an event: nothing rests on it. */
static void expectCorners(const Stack* s, const BrutePolygon* overlap, int count, double tolerance)
{
    for (int i = 0; i < count; i++) {
        double off = nearest(overlap->corner, overlap->count, seen[i]);
        if (!(off <= tolerance)) PC_FAIL("event %d of kind %d is %.3g from the next corner of the overlap", i, (int)events[i].kind, off);
    }
    for (int k = 0; k < overlap->count; k++) {
        double off = nearest(seen, count, overlap->corner[k]);
        if (!(off <= tolerance) && bruteSticksOut(overlap, k) > 1e-9L * s->size)
            PC_FAIL("corner %d of %d of the overlap, (%.12g, %.12g), has no event; the next of %d is %.3g away", k, overlap->count,
                    (double)overlap->corner[k].x, (double)overlap->corner[k].y, count, off);
    }
}

/* All in one plane, at the factor that the heights give, along z. */
static void expectFlat(const Stack* s, const Lie* lie, int count)
{
    double r = (double)stackRatio(s, lie), z = s->lowerFixed ? s->halfLower : r * s->halfLower;
    for (int i = 0; i < count; i++) {
        PC_EXPECT_NEAR(r, events[i].t, 1e-13);
        PC_EXPECT_NEAR(lie->gap, events[i].gap, 1e-13);
        PC_EXPECT_NEAR(z, (double)outOfRoom(s, events[i].point).z, 1e-12);
    }
}

static int checkLie(const Stack* s, Lie lie, double margin, double tolerance)
{
    static BrutePolygon overlap;
    PC_CASE("yaw %.17g at (%.17g, %.17g), gap %g, lower %s%s", lie.yaw, lie.x, lie.y, lie.gap, s->lowerFirst ? "first" : "second",
            s->lowerFixed ? ", fixed" : "");
    overlapOf(s, &lie, &overlap);
    int count = eventsOfStack(s, &lie, margin);
    if (count < 0) return count;
    PC_EXPECT_LE(count, MOST);
    seeFromAbove(s, count);
    expectNoDuplicates(count);
    expectCorners(s, &overlap, count, tolerance);
    expectFlat(s, &lie, count);
    return count;
}

/* The four ways to say who lies on whom. */
static void checkEveryRole(Stack* s, Lie lie, double margin, double tolerance)
{
    for (int role = 0; role < 4; role++) {
        s->lowerFirst = (role & 1) == 0, s->lowerFixed = role >= 2;
        checkLie(s, lie, margin, tolerance);
    }
}

static const Lie places[] = {{0, 0, 0, 0}, {0.3, 0.1, 0, 0}, {-0.45, 0.4, 0, 0}};

static void sweepYaw(Stack* s, int steps, double gap, double margin)
{
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (int i = 0; i <= steps; i++) {
            Lie lie = places[p];
            lie.yaw = i * 2 * PI / steps, lie.gap = gap;
            checkEveryRole(s, lie, margin, 1e-8);
        }
}

PC_TEST(Events, FaceOnFaceGivesTheCornersOfTheOverlap)
{
    static const double upper[][3] = {{1, 1, 1}, {0.6, 0.7, 0.5}, {2.5, 0.3, 0.2}, {3, 3, 0.1}};
    for (size_t i = 0; i < sizeof upper / sizeof *upper; i++) {
        Stack s = stackOf(bruteBox(1, 1, 1), 1, bruteBox(upper[i][0], upper[i][1], upper[i][2]), upper[i][2]);
        sweepYaw(&s, 360, 0, 0);
        freeStack(&s);
    }
}

/* Just off a multiple of 90 degrees edges are nearly parallel and corners nearly coincide: a corner must be neither lost nor doubled
 * where one kind of event hands over to the next. */
PC_TEST(Events, FaceOnFaceLosesNoCornerAtTinyAngles)
{
    static const double upper[][3] = {{1, 1, 1}, {1, 0.5, 1}, {0.3, 1, 0.5}};
    for (size_t i = 0; i < sizeof upper / sizeof *upper; i++) {
        Stack s = stackOf(bruteBox(1, 1, 1), 1, bruteBox(upper[i][0], upper[i][1], upper[i][2]), upper[i][2]);
        for (double angle = 1e-12; angle < 1e-3; angle *= 1.07)
            for (int quarter = 0; quarter < 4; quarter++) {
                Lie lie = {0, 0, 0.5 * PI * quarter + (quarter & 1 ? -angle : angle), 0};
                checkEveryRole(&s, lie, 0, 1e-8 + 1e-14 / fmax(angle, 1e-10));
            }
        freeStack(&s);
    }
}

PC_TEST(Events, FaceOnFaceLosesNoCornerAtTinyShifts)
{
    Stack s = stackOf(bruteBox(1, 1, 1), 1, bruteBox(1, 1, 1), 1);
    for (double shift = 1e-12; shift < 1e-3; shift *= 1.07)
        for (int way = 1; way < 16; way++) {
            Lie lie = {(way & 1 ? shift : 0) - (way & 2 ? 0.7 * shift : 0), (way & 4 ? shift : 0) - (way & 8 ? 0.4 * shift : 0), 0, 0};
            checkEveryRole(&s, lie, 0, 1e-8);
        }
    freeStack(&s);
}

/* Flat bodies of other sizes: a tolerance that is measured by one length and used against another shows here. */
PC_TEST(Events, FaceOnFaceLosesNoCornerOfPlanks)
{
    Stack s = stackOf(bruteBox(10, 1, 0.1), 0.1, bruteBox(10, 1, 0.1), 0.1);
    s.size = 5.1;
    for (double shift = 1e-11; shift < 1e-3; shift *= 1.1) {
        checkEveryRole(&s, (Lie){shift, 0, 0, 0}, 0, 2e-8);
        checkEveryRole(&s, (Lie){0, shift, 0, 0}, 0, 2e-8);
        checkEveryRole(&s, (Lie){-shift, 0.6 * shift, 0, 0}, 0, 2e-8);
        checkEveryRole(&s, (Lie){0, 0, shift, 0}, 0, 2e-8 + 1e-13 / fmax(shift, 1e-10));
    }
    freeStack(&s);
}

PC_TEST(Events, FaceOnFaceGivesTheCornersAcrossAGap)
{
    Stack s = stackOf(bruteBox(1, 1, 1), 1, bruteBox(1, 0.8, 0.6), 0.6);
    sweepYaw(&s, 180, 0.02, 0.05);
    sweepYaw(&s, 45, 0.05, 0.05); /* on the margin */
    freeStack(&s);
}

PC_TEST(Events, FaceOnFaceGivesTheCornersInPenetration)
{
    Stack s = stackOf(bruteBox(1, 1, 1), 1, bruteBox(1, 0.8, 0.6), 0.6);
    sweepYaw(&s, 180, -0.01, 0);
    sweepYaw(&s, 180, -0.05, 0.02);
    freeStack(&s);
}

PC_TEST(Events, FaceOnFaceGivesTheCornersOfAHexagonOnABox)
{
    Stack s = stackOf(bruteBox(1, 1, 1), 1, brutePrism(6, 0.6, 0.5), 0.5);
    sweepYaw(&s, 180, 0, 0);
    sweepYaw(&s, 90, 0.02, 0.03);
    freeStack(&s);
}

/* In a turned room the faces are parallel only to rounding, so that the metric's normal is any of those within it. */
PC_TEST(Events, FaceOnFaceGivesTheCornersInATurnedRoom)
{
    unsigned long long state = 11;
    for (int i = 0; i < 400; i++) {
        Stack s = stackOf(bruteBox(1, 1, 1), 1, i & 1 ? bruteBox(1, 1, 1) : brutePrism(6, 0.6, 1), 1);
        bruteDirection(&state, 4, s.room.quaternion);
        for (int k = 0; k < 3; k++) s.room.position[k] = bruteBetween(&state, -1, 1);
        Lie lie = places[i % 3];
        lie.yaw = i % 5 ? bruteBetween(&state, 0, 6.28) : 0.25 * PI * (i % 8);
        checkEveryRole(&s, lie, 0.01, 1e-8);
        freeStack(&s);
    }
}

PC_TEST(Events, FaceOnFaceGivesTheCornersOfPrismsOfManySides)
{
    static const int sides[] = {3, 8, 9, 17, 100, 333, 1000};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        Stack s = stackOf(brutePrism(sides[i], 0.5, 0.4), 0.4, brutePrism(sides[i], 0.5, 0.6), 0.6);
        for (int k = 0; k < (sides[i] < 500 ? 6 : 2); k++) {
            Lie lie = places[k % 3];
            lie.yaw = k < 3 ? PI / sides[i] : 0.1234 * k;
            checkEveryRole(&s, lie, 0, 1e-8);
        }
        int count = checkLie(&s, (Lie){0, 0, 0, 0}, 0, 1e-8); /* corner on corner, all the way round */
        PC_EXPECT_EQ_INT(sides[i], count);
        freeStack(&s);
    }
}

/* More corners than a search looks at: it may find fewer events, but it ends, what it finds is true, and the body does not tip. */
static void expectWholeCircle(int count)
{
    const double part = PI / 8;
    bool found[16] = {false};
    PC_ASSERT_TRUE(count >= 16 && count <= MOST);
    for (int i = 0; i < count; i++) {
        double x = events[i].point[0], y = events[i].point[1];
        PC_EXPECT_NEAR(0.5, events[i].point[2], 1e-12);
        PC_EXPECT_NEAR(0.5, hypot(x, y), 1e-12);
        found[(int)((atan2(y, x) + PI) / part) % 16] = true;
    }
    for (int i = 0; i < 16; i++)
        if (!found[i]) PC_FAIL("no event between %g and %g degrees", 22.5 * i - 180, 22.5 * i - 157.5);
}

PC_TEST(Events, FacesOfMoreCornersThanAreSearchedStillCarryAllAround)
{
    pcShape *prism = brutePrism(3000, 0.5, 1), *box = bruteBox(2, 2, 1), *floor = NULL;
    PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace((double[4]){0, 0, 1, 0.5}, &floor));
    pcPose low = {{0, 0, 0}, {1, 0, 0, 0}}, high = {{0, 0, 1}, {1, 0, 0, 0}};
    pcEventSettings settings = bruteSettings(0.01);
    for (int role = 0; role < 4; role++) {
        const pcShape* under = role & 1 ? floor : box;
        int count = -1;
        PC_CASE("%s, the prism %s", role & 1 ? "half-space" : "box", role & 2 ? "first" : "second");
        if (role & 2)
            PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(prism, &high, under, &low, 0, &settings, NULL, events, MOST, &count));
        else
            PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(under, &low, prism, &high, 0, &settings, NULL, events, MOST, &count));
        expectWholeCircle(count);
    }
    pcShapeFree(prism);
    pcShapeFree(box);
    pcShapeFree(floor);
}

/* ---- over a half-space ---- */

PC_TEST(Events, BoxFlatOnAHalfSpaceTouchesAtItsFourCorners)
{
    static const double gaps[] = {0, 0.01, -0.02};
    pcShape *box = bruteBox(1, 0.8, 0.6), *floor = NULL;
    PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace((double[4]){0, 0, 1, 0.25}, &floor));
    for (int i = 0; i < 3 * 360; i++) {
        double yaw = PI / 180 * (i / 3), gap = gaps[i % 3];
        PC_CASE("yaw %g gap %g", yaw, gap);
        pcPose pose = brutePose(0.1, -0.2, 0.25 + 0.3 + gap, zAxis, yaw), still = {{0, 0, 0}, {1, 0, 0, 0}};
        pcEventSettings settings = bruteSettings(0.02);
        int count = -1;
        bool floorFirst = i & 1;
        if (floorFirst)
            PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(floor, &still, box, &pose, 0, &settings, NULL, events, MOST, &count));
        else
            PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(box, &pose, floor, &still, 0, &settings, NULL, events, MOST, &count));
        PC_ASSERT_EQ_INT(4, count);
        unsigned found = 0;
        for (int k = 0; k < count; k++) {
            PC_EXPECT_NEAR(gap, events[k].gap, 1e-14);
            PC_EXPECT_NEAR((0.3 + gap) / 0.3, events[k].t, 1e-13);
            PC_EXPECT_EQ_INT(floorFirst ? PC_FACE_CORNER : PC_CORNER_FACE, events[k].kind);
            for (unsigned corner = 0; corner < 4; corner++) {
                double local[3] = {corner & 1 ? 0.5 : -0.5, corner & 2 ? 0.4 : -0.4, -0.3};
                if (bvNorm(bvSub(bvOf(floorFirst ? events[k].point2 : events[k].point1), brutePlace(&pose, local))) < 1e-14L)
                    found |= 1u << corner;
            }
        }
        PC_EXPECT_EQ_INT(15, found);
    }
    pcShapeFree(box);
    pcShapeFree(floor);
}

PC_TEST(Events, ATipOfMoreFacetsThanAreSearchedIsOneEvent)
{
    static double xyz[3 * 4001];
    pcShape *tip = NULL, *box = bruteBox(2, 2, 1);
    for (int i = 0; i < 4000; i++) xyz[3 * i] = 0.5 * cos(PI * i / 2000), xyz[3 * i + 1] = 0.5 * sin(PI * i / 2000), xyz[3 * i + 2] = 0.7;
    PC_ASSERT_STATUS(PC_OK, pcShapeFromPoints(xyz, 4001, NULL, &tip)); /* the last point is the origin */
    pcPose low = {{0, 0, -0.5}, {1, 0, 0, 0}}, high = {{0.1, 0.2, 0.001}, {1, 0, 0, 0}};
    pcEventSettings settings = bruteSettings(0.01);
    int count = -1;
    PC_EXPECT_STATUS(PC_OK, pcEventsOfPair(tip, &high, box, &low, 0, &settings, NULL, events, MOST, &count));
    PC_EXPECT_EQ_INT(1, count);
    PC_EXPECT_NEAR(0, bruteDistance(events[0].point1, (double[3]){0.1, 0.2, 0.001}), 1e-13);
    pcShapeFree(tip);
    pcShapeFree(box);
}

/* What it stands on is a box or a half-space: the top is at z = 0 either way. */
PC_TEST(Events, ATipOfTwentyFacetsIsOneEvent)
{
    pcShape *under[2] = {bruteBox(2, 2, 1), NULL}, *tips[2] = {brutePyramid(20, 0.5, 0.7, false), brutePyramid(20, 0.5, 0.7, true)};
    PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace((double[4]){0, 0, 1, 0}, under + 1));
    for (int i = 0; i < 2 * 2 * 3 * 4; i++) {
        int plane = i & 1, tip = i >> 1 & 1, gap = (i >> 2) % 3, role = (i >> 2) / 3;
        double height = (gap - 1) * 0.01;
        pcPose still = {{0, 0, plane ? 0 : -0.5}, {1, 0, 0, 0}}, pose = brutePose(0.1, 0.2, 0.7 + height, zAxis, 0.3);
        pcEventSettings settings = bruteSettings(0.02);
        int count = -1;
        PC_CASE("%s, %s, height %g, role %d", plane ? "half-space" : "box", tip ? "bipyramid" : "pyramid", height, role);
        unsigned flags = role < 2 ? 0 : role & 1 ? PC_FIXED_1 : PC_FIXED_2;
        if (role & 1)
            PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(under[plane], &still, tips[tip], &pose, flags, &settings, NULL, events, MOST, &count));
        else
            PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(tips[tip], &pose, under[plane], &still, flags, &settings, NULL, events, MOST, &count));
        PC_ASSERT_EQ_INT(1, count);
        PC_EXPECT_EQ_INT(role & 1 ? PC_FACE_CORNER : PC_CORNER_FACE, events[0].kind);
        PC_EXPECT_NEAR(height, events[0].gap, 1e-14);
        PC_EXPECT_NEAR(0, bruteDistance(role & 1 ? events[0].point2 : events[0].point1, (double[3]){0.1, 0.2, height}), 1e-14);
    }
    for (int i = 0; i < 2; i++) pcShapeFree(under[i]), pcShapeFree(tips[i]);
}

/* ---- touching at less than a face ---- */

static int eventsInEveryOrder(const pcShape* a, const pcPose* poseA, const pcShape* b, const pcPose* poseB, int order)
{
    pcEventSettings settings = bruteSettings(0);
    int count = -1;
    unsigned flags = (unsigned)(order >> 1);
    pcStatus status = order & 1 ? pcEventsOfPair(b, poseB, a, poseA, flags, &settings, NULL, events, MOST, &count)
                                : pcEventsOfPair(a, poseA, b, poseB, flags, &settings, NULL, events, MOST, &count);
    PC_EXPECT_STATUS(PC_OK, status);
    return count;
}

/* Each of the expected points has exactly one event; several normals are right. */
static void expectPoints(int count, const double (*point)[3], int points)
{
    PC_EXPECT_EQ_INT(points, count);
    for (int k = 0; k < points; k++) {
        int here = 0;
        for (int i = 0; i < count && i < MOST; i++) here += bruteDistance(events[i].point, point[k]) < 1e-8;
        if (here != 1) PC_FAIL("%d events at (%g, %g, %g)", here, point[k][0], point[k][1], point[k][2]);
    }
}

/* Two roofs, ridge on ridge: they touch along 0 <= x <= 0.6, also with ridges that are parallel only to rounding. */
PC_TEST(Events, ParallelEdgesTouchAtTheEndsOfTheirOverlap)
{
    pcShape *lower = bruteBox(1.2, 1, 1), *upper = bruteBox(1.2, 1, 1);
    const double ends[2][3] = {{0, 0, 0}, {0.6, 0, 0}};
    for (int i = 0; i < 6 * 50; i++) {
        double roll = PI / 4 + 0.01 * (i / 6 - 25), turn = i % 4 ? 0 : 1e-13;
        pcPose flat = brutePose(0, 0, -sqrt(0.5), zAxis, 0), low = bruteTurned(&flat, (double[3]){1, 0, 0}, PI / 4);
        pcPose lifted = brutePose(0.6, 0, sqrt(0.5) * cos(roll - PI / 4), zAxis, turn),
               high = bruteTurned(&lifted, (double[3]){1, 0, 0}, roll);
        high.position[1] = -sqrt(0.5) * sin(roll - PI / 4); /* its lowest ridge stays over the other */
        PC_CASE("roll %g, turn %g, order %d", roll, turn, i % 6);
        expectPoints(eventsInEveryOrder(lower, &low, upper, &high, i % 6), ends, 2);
    }
    pcShapeFree(lower);
    pcShapeFree(upper);
}

PC_TEST(Events, AnEdgeFlatOnAFaceTouchesAtItsTwoEnds)
{
    pcShape *lower = bruteBox(2, 2, 1), *upper = bruteBox(1, 0.5, 0.5);
    for (int i = 0; i < 6 * 60; i++) {
        double yaw = PI / 30 * (i / 6);
        pcPose low = brutePose(0, 0, -0.5, zAxis, 0), rolled = brutePose(0.1, 0.2, 0.5 * sqrt(0.5), (double[3]){1, 0, 0}, PI / 4);
        pcPose high = bruteTurned(&rolled, zAxis, yaw);
        const double ends[2][3] = {{0.1 + 0.5 * cos(yaw), 0.2 + 0.5 * sin(yaw), 0}, {0.1 - 0.5 * cos(yaw), 0.2 - 0.5 * sin(yaw), 0}};
        PC_CASE("yaw %g, order %d", yaw, i % 6);
        expectPoints(eventsInEveryOrder(lower, &low, upper, &high, i % 6), ends, 2);
    }
    pcShapeFree(lower);
    pcShapeFree(upper);
}

PC_TEST(Events, BoxesThatShareAnEdgeTouchAtItsTwoEnds)
{
    pcShape* box = bruteBox(1, 1, 1);
    const double ends[2][3] = {{0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}};
    for (int order = 0; order < 6; order++) {
        pcPose low = {{0, 0, 0}, {1, 0, 0, 0}}, high = {{1, 0, 1}, {1, 0, 0, 0}};
        PC_CASE("order %d", order);
        expectPoints(eventsInEveryOrder(box, &low, box, &high, order), ends, 2);
    }
    pcShapeFree(box);
}

PC_TEST(Events, CornerOnCornerIsOneEvent)
{
    pcShape* box = bruteBox(1, 1, 1);
    const double corner[1][3] = {{0.5, 0.5, 0.5}};
    for (int order = 0; order < 6; order++) {
        pcPose low = {{0, 0, 0}, {1, 0, 0, 0}}, high = {{1, 1, 1}, {1, 0, 0, 0}};
        PC_CASE("order %d", order);
        expectPoints(eventsInEveryOrder(box, &low, box, &high, order), corner, 1);
    }
    pcShapeFree(box);
}

/* A box flat on a bevelled block, two of its corners exactly over the edge of the bevel: they meet the top and the bevel at once, and
 * have one event each, with the top, because that faces the pair's normal better. */
PC_TEST(Events, ACornerOverAnEdgePushesAlongThePairsNormal)
{
    static const double profile[5][2] = {{-1, 0}, {0.5, 0}, {1, -0.5}, {1, -1}, {-1, -1}};
    const double corners[4][3] = {{0.5, 0.3, 0}, {0.5, -0.3, 0}, {-0.1, 0.3, 0}, {-0.1, -0.3, 0}};
    double xyz[30];
    pcShape *block = NULL, *box = bruteBox(0.6, 0.6, 0.4);
    for (int i = 0; i < 10; i++) xyz[3 * i] = profile[i % 5][0], xyz[3 * i + 1] = i < 5 ? -1 : 1, xyz[3 * i + 2] = profile[i % 5][1];
    PC_ASSERT_STATUS(PC_OK, pcShapeFromPoints(xyz, 10, NULL, &block));
    pcPose low = {{0, 0, 0}, {1, 0, 0, 0}}, high = {{0.2, 0, 0.2}, {1, 0, 0, 0}};
    for (int order = 0; order < 6; order++) {
        PC_CASE("order %d", order);
        int count = eventsInEveryOrder(block, &low, box, &high, order);
        expectPoints(count, corners, 4);
        for (int i = 0; i < count && i < 4; i++) PC_EXPECT_NEAR(order & 1 ? -1 : 1, events[i].normal[2], 1e-14);
    }
    pcShapeFree(block);
    pcShapeFree(box);
}
