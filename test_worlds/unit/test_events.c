/*
 * Which events a pair has: the corners of the overlap of two faces (T 3.4), one event per corner (T 3.11), continuity, ids, capacity,
 * manners. References are convex polygon clipping in long double and plain geometry: nothing here is compared with the code under test.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/brute_events.h"

static const double PI = 3.14159265358979323846;
static const double zAxis[3] = {0, 0, 1};

enum { MOST = 4096 };
static pcEvent events[MOST];

static pcEventSettings withMargin(double margin)
{
    pcEventSettings settings = pcDefaultEventSettings();
    settings.margin = margin;
    return settings;
}

static BV world(const double* p) { return bvOf(p); }
static double distance(const double* a, const double* b) { return (double)bvNorm(bvSub(bvOf(a), bvOf(b))); }

/* ---- a body lying on a body ---- */

/* Two prisms about the z axis, one on the other, in a world that may be turned as a whole. */
typedef struct Stack {
    pcShape *lower, *upper;
    double halfLower, halfUpper; /* heights */
    bool lowerFirst, lowerFixed;
    pcPose room; /* of the whole scene; a turn makes faces parallel only to rounding */
} Stack;

static Stack stackOf(pcShape* lower, double lowerHeight, pcShape* upper, double upperHeight)
{
    return (Stack){lower, upper, 0.5 * lowerHeight, 0.5 * upperHeight, true, false, {{0, 0, 0}, {1, 0, 0, 0}}};
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

static pcPose upperPose(const Stack* s, const Lie* lie) { return brutePose(lie->x, lie->y, s->halfLower + s->halfUpper + lie->gap, zAxis, lie->yaw); }

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
    pcEventSettings settings = withMargin(margin);
    pcPose low = {{0, 0, 0}, {1, 0, 0, 0}}, high = upperPose(s, lie);
    low = inRoom(s, &low), high = inRoom(s, &high);
    unsigned flags = !s->lowerFixed ? 0 : s->lowerFirst ? PC_FIXED_1 : PC_FIXED_2;
    pcStatus status = s->lowerFirst ? pcEventsOfPair(s->lower, &low, s->upper, &high, flags, &settings, NULL, events, MOST, &count)
                                    : pcEventsOfPair(s->upper, &high, s->lower, &low, flags, &settings, NULL, events, MOST, &count);
    PC_EXPECT_STATUS(PC_OK, status);
    return status == PC_OK ? count : -1;
}

/* Ids ascend, so none is there twice; and no two events share a point. */
static void expectNoDuplicates(int count)
{
    for (int i = 0; i < count; i++) {
        if (i > 0) PC_EXPECT_TRUE(events[i - 1].id < events[i].id);
        for (int j = 0; j < i; j++)
            if (distance(events[i].point, events[j].point) < 5e-10) PC_FAIL("events %d and %d share a point", j, i);
    }
}

static long double nearest(const BrutePolygon* p, BV x)
{
    long double best = HUGE_VALL;
    for (int i = 0; i < p->count; i++) best = fminl(best, hypotl(p->corner[i].x - x.x, p->corner[i].y - x.y));
    return best;
}

/* Rounding moves the crossing of two edges that are nearly parallel by 1e-16 over their angle: `tolerance` allows for it. A corner that
 * sticks out by less than 1e-9 need not be an event: nothing rests on it. */
static void expectCorners(const Stack* s, const BrutePolygon* overlap, int count, double tolerance)
{
    for (int i = 0; i < count; i++) {
        long double off = nearest(overlap, outOfRoom(s, events[i].point));
        if (!(off <= tolerance)) PC_FAIL("event %d of kind %d is %.3Lg from the next corner of the overlap", i, (int)events[i].kind, off);
    }
    for (int k = 0; k < overlap->count; k++) {
        long double best = HUGE_VALL;
        for (int i = 0; i < count; i++) {
            BV x = outOfRoom(s, events[i].point);
            best = fminl(best, hypotl(x.x - overlap->corner[k].x, x.y - overlap->corner[k].y));
        }
        if (!(best <= tolerance) && bruteSticksOut(overlap, k) > 1e-9L)
            PC_FAIL("corner %d of %d (%.9Lg, %.9Lg) of the overlap has no event; the next of %d is %.3Lg away", k, overlap->count, overlap->corner[k].x, overlap->corner[k].y, count, best);
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
    PC_CASE("yaw %.17g at (%.17g, %.17g), gap %g, lower %s%s", lie.yaw, lie.x, lie.y, lie.gap, s->lowerFirst ? "first" : "second", s->lowerFixed ? ", fixed" : "");
    overlapOf(s, &lie, &overlap);
    int count = eventsOfStack(s, &lie, margin);
    if (count < 0) return count;
    PC_EXPECT_LE(count, MOST);
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
        for (int k = 0; k < 6; k++) {
            Lie lie = places[k % 3];
            lie.yaw = k < 3 ? PI / sides[i] : 0.1234 * k;
            checkEveryRole(&s, lie, 0, 1e-8);
        }
        int count = checkLie(&s, (Lie){0, 0, 0, 0}, 0, 1e-8); /* corner on corner, all the way round */
        PC_EXPECT_EQ_INT(sides[i], count);
        freeStack(&s);
    }
}

/* More corners than a search looks at: it may find fewer events, but it ends, and what it finds is true. */
PC_TEST(Events, FacesOfMoreCornersThanAreSearchedGiveTrueEvents)
{
    Stack s = stackOf(bruteBox(2, 2, 1), 1, brutePrism(3000, 0.5, 1), 1);
    int count = eventsOfStack(&s, &(Lie){0, 0, 0, 0}, 0);
    PC_EXPECT_GE(count, 3);
    for (int i = 0; i < count && i < MOST; i++) {
        PC_EXPECT_NEAR(0.5, events[i].point[2], 1e-12);
        PC_EXPECT_NEAR(0.5, hypot(events[i].point[0], events[i].point[1]), 1e-12);
    }
    freeStack(&s);
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
        pcEventSettings settings = withMargin(0.02);
        int count = -1;
        bool floorFirst = i & 1;
        if (floorFirst)
            PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(floor, &still, box, &pose, 0, &settings, NULL, events, MOST, &count));
        else
            PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(box, &pose, floor, &still, 0, &settings, NULL, events, MOST, &count));
        PC_ASSERT_EQ_INT(4, count);
        expectNoDuplicates(count);
        unsigned seen = 0;
        for (int k = 0; k < count; k++) {
            PC_EXPECT_NEAR(gap, events[k].gap, 1e-14);
            PC_EXPECT_NEAR((0.3 + gap) / 0.3, events[k].t, 1e-13);
            PC_EXPECT_EQ_INT(floorFirst ? PC_FACE_CORNER : PC_CORNER_FACE, events[k].kind);
            for (unsigned corner = 0; corner < 4; corner++) {
                double local[3] = {corner & 1 ? 0.5 : -0.5, corner & 2 ? 0.4 : -0.4, -0.3};
                if (bvNorm(bvSub(world(floorFirst ? events[k].point2 : events[k].point1), brutePlace(&pose, local))) < 1e-14L) seen |= 1u << corner;
            }
        }
        PC_EXPECT_EQ_INT(15, seen);
    }
    pcShapeFree(box);
    pcShapeFree(floor);
}

/* The fixed body is a box or a half-space: its top is at z = 0 either way. */
PC_TEST(Events, ATipOfTwentyFacetsIsOneEvent)
{
    pcShape *under[2] = {bruteBox(2, 2, 1), NULL}, *tips[2] = {brutePyramid(20, 0.5, 0.7, false), brutePyramid(20, 0.5, 0.7, true)};
    PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace((double[4]){0, 0, 1, 0}, under + 1));
    for (int i = 0; i < 2 * 2 * 3 * 4; i++) {
        int plane = i & 1, tip = i >> 1 & 1, gap = (i >> 2) % 3, role = (i >> 2) / 3;
        double height = (gap - 1) * 0.01;
        pcPose still = {{0, 0, plane ? 0 : -0.5}, {1, 0, 0, 0}}, pose = brutePose(0.1, 0.2, 0.7 + height, zAxis, 0.3);
        pcEventSettings settings = withMargin(0.02);
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
        PC_EXPECT_NEAR(0, distance(role & 1 ? events[0].point2 : events[0].point1, (double[3]){0.1, 0.2, height}), 1e-14);
    }
    for (int i = 0; i < 2; i++) pcShapeFree(under[i]), pcShapeFree(tips[i]);
}

/* ---- edge on edge ---- */

/* Two bodies, the second turning about a fixed axis. */
typedef struct Turn {
    pcShape* shape[2];
    pcPose start[2];
    double axis[3], margin, step;
    pcEvent before[64];
    int countBefore;
    pcPose pose[2]; /* now */
    int lived, born; /* edge events: steps survived, and appearances or disappearances */
} Turn;

static const pcEvent* findId(const pcEvent* list, int count, unsigned long long id)
{
    for (int i = 0; i < count; i++)
        if (list[i].id == id) return list + i;
    return NULL;
}

/* Distance of a point of the body from the nearer end of the edge that it lies on; the direction of that edge. */
static long double fromEnd(const BruteBody* b, BV x, BV* direction)
{
    long double best = HUGE_VALL, end = 0;
    for (int i = 0; i < b->edges; i++) {
        BV p = b->vertex[b->edge[i].vertex[0]], q = b->vertex[b->edge[i].vertex[1]], e = bvSub(q, p);
        e = bvScale(1 / bvNorm(e), e);
        long double off = bvNorm(bvCross(e, bvSub(x, p)));
        if (off < best) best = off, end = fminl(bvNorm(bvSub(x, p)), bvNorm(bvSub(x, q))), *direction = e;
    }
    PC_EXPECT_NEAR(0, (double)best, 1e-7);
    return end;
}

/* sine: of the angle of the two edges; end: how far the event is from the nearest end of its edges. */
typedef struct Crossing {
    double sine, end;
} Crossing;

static Crossing crossingOf(const Turn* turn, const pcPose pose[2], const pcEvent* e)
{
    static BruteBody body[2];
    BV d[2];
    for (int i = 0; i < 2; i++) bruteBody(turn->shape[i], pose + i, true, body + i);
    long double end0 = fromEnd(body, world(e->point1), d), end1 = fromEnd(body + 1, world(e->point2), d + 1);
    return (Crossing){(double)bvNorm(bvCross(d[0], d[1])), (double)fminl(end0, end1)};
}

/* Edges that turn by `step` move their points by at most REACH step, and their crossing by that over the sine of their angle. */
static const double REACH = 4;

static void expectSmooth(Turn* turn, const pcEvent* was, const pcEvent* is)
{
    Crossing c = crossingOf(turn, turn->pose, is);
    if (c.sine < 0.05) return; /* nearly parallel: the crossing runs along the edges, see the ends of its life */
    double moved = distance(was->point, is->point), allowed = REACH * turn->step / (c.sine * c.sine);
    if (!(moved <= allowed)) PC_FAIL("an edge event jumps by %g, allowed %g", moved, allowed);
    PC_EXPECT_NEAR(was->gap, is->gap, REACH * turn->step / c.sine);
    turn->lived++;
}

/* One end of an edge event's life: at an end of an edge, at the margin, or where the edges are parallel. */
static void expectEndOfLife(Turn* turn, const pcPose pose[2], const pcEvent* e, const pcMetric* m)
{
    Crossing c = crossingOf(turn, pose, e);
    double allowed = REACH * turn->step / (c.sine * c.sine);
    double apart = (double)bvDot(bvOf(m->normal), bvSub(bvOf(e->point2), bvOf(e->point1)));
    bool atEnd = c.end <= allowed, atMargin = e->gap >= turn->margin - allowed || apart >= 2 * turn->margin - allowed;
    bool parallel = c.sine < 0.05;
    turn->born++;
    if (!atEnd && !atMargin && !parallel)
        PC_FAIL("an edge event %llx begins or ends %g from an end of its edges, gap %g, apart %g of 2 * %g, sine %g, facing %g", e->id, c.end, e->gap, apart, turn->margin,
                c.sine, (double)bvDot(bvOf(m->normal), bvOf(e->normal)));
}

static void stepTurn(Turn* turn, int i, double angle)
{
    static pcEvent now[64];
    int count = -1;
    pcEventSettings settings = withMargin(turn->margin);
    pcPose last[2] = {turn->pose[0], turn->pose[1]};
    pcMetric m, old;
    turn->pose[0] = turn->start[0], turn->pose[1] = bruteTurned(turn->start + 1, turn->axis, angle);
    PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(turn->shape[0], turn->pose, turn->shape[1], turn->pose + 1, 0, &settings, NULL, now, 64, &count));
    PC_ASSERT_LE(count, 64);
    PC_ASSERT_STATUS(PC_OK, pcMetricPair(turn->shape[0], turn->pose, turn->shape[1], turn->pose + 1, 0, NULL, &m));
    if (i > 0) {
        PC_ASSERT_STATUS(PC_OK, pcMetricPair(turn->shape[0], last, turn->shape[1], last + 1, 0, NULL, &old));
        for (int k = 0; k < count; k++) {
            const pcEvent* was = findId(turn->before, turn->countBefore, now[k].id);
            if (now[k].kind != PC_EDGE_EDGE) continue;
            if (was)
                expectSmooth(turn, was, now + k);
            else
                expectEndOfLife(turn, turn->pose, now + k, &m);
        }
        for (int k = 0; k < turn->countBefore; k++)
            if (turn->before[k].kind == PC_EDGE_EDGE && !findId(now, count, turn->before[k].id)) expectEndOfLife(turn, last, turn->before + k, &old);
    }
    memcpy(turn->before, now, (size_t)count * sizeof *now);
    turn->countBefore = count;
}

static void runTurn(Turn* turn, double from, double to, const char* what)
{
    int steps = (int)((to - from) / turn->step);
    for (int i = 0; i <= steps; i++) {
        PC_CASE("%s, angle %.17g", what, from + i * turn->step);
        stepTurn(turn, i, from + i * turn->step);
    }
    for (int k = 0; k < 2; k++) pcShapeFree(turn->shape[k]);
}

PC_TEST(Events, EdgeOnEdgeOfTurningFacesComesAndGoesAtItsEnds)
{
    Turn turn = {.shape = {bruteBox(1, 1, 1), bruteBox(0.9, 1.2, 0.5)}, .margin = 0.05, .step = 1e-3, .axis = {0, 0, 1}};
    turn.start[0] = brutePose(0, 0, 0, zAxis, 0), turn.start[1] = brutePose(0.2, 0.1, 0.76, zAxis, 0);
    runTurn(&turn, 0, 2 * PI, "yaw");
    PC_EXPECT_GT(turn.lived, 10000);
    PC_EXPECT_GT(turn.born, 20);
}

PC_TEST(Events, EdgeOnEdgeOfCrossedRidgesLivesWhileTheyCross)
{
    Turn turn = {.shape = {bruteBox(2, 1, 1), bruteBox(1, 2, 1)}, .margin = 0.05, .step = 1e-3, .axis = {0, 0, 1}};
    turn.start[0] = brutePose(0, 0, 0, (double[3]){1, 0, 0}, PI / 4), turn.start[1] = brutePose(0, 0, sqrt(2) + 0.01, (double[3]){0, 1, 0}, PI / 4);
    runTurn(&turn, -1.4, 1.4, "ridges");
    PC_EXPECT_GT(turn.lived, 2700);
}

PC_TEST(Events, EdgeOnEdgeIsContinuousAsBodiesTumble)
{
    unsigned long long state = 31;
    int lived = 0, born = 0;
    for (int i = 0; i < 12; i++) {
        Turn turn = {.margin = 0.05, .step = 1e-3};
        pcShapeInfo info[2];
        for (int k = 0; k < 2; k++) {
            turn.shape[k] = i & 1 ? bruteHull(&state, 8) : bruteBox(bruteBetween(&state, 0.6, 1.2), 1, bruteBetween(&state, 0.6, 1.2));
            PC_ASSERT_STATUS(PC_OK, pcShapeDescribe(turn.shape[k], info + k));
            bruteDirection(&state, 4, turn.start[k].quaternion);
        }
        bruteDirection(&state, 3, turn.axis);
        double away[3], reach = 0.85 * (info[0].inradius + info[1].inradius) + 0.3 * (info[0].outradius + info[1].outradius) * bruteUniform(&state);
        bruteDirection(&state, 3, away);
        for (int k = 0; k < 3; k++) turn.start[1].position[k] = reach * away[k];
        char what[32] = "tumble 0";
        what[7] = (char)('a' + i);
        runTurn(&turn, 0, 2, what);
        lived += turn.lived, born += turn.born;
    }
    PC_EXPECT_GT(lived, 1000);
    PC_EXPECT_GT(born, 20);
}

/* ---- ids ---- */

PC_TEST(Events, KeepTheirIdsWhileABoxSlidesAndTurns)
{
    Stack s = stackOf(bruteBox(3, 3, 1), 1, bruteBox(1, 1, 1), 1);
    unsigned long long first[4] = {0}, straddle[4] = {0};
    for (int i = 0; i < 500; i++) {
        PC_CASE("step %d", i);
        Lie inside = {-0.4 + 1e-3 * i, 0.2, 1e-3 * i, 1e-4 * sin(i)}, across = {1.4 + 1e-4 * i, 0.1, 0.2 + 1e-3 * i, 1e-4 * sin(i)};
        PC_ASSERT_EQ_INT(4, eventsOfStack(&s, &inside, 0.01));
        for (int k = 0; k < 4; k++) {
            if (i == 0) first[k] = events[k].id;
            PC_EXPECT_TRUE(events[k].id == first[k]);
        }
        PC_ASSERT_EQ_INT(4, eventsOfStack(&s, &across, 0.01)); /* two corners, two crossings of edges */
        for (int k = 0; k < 4; k++) {
            if (i == 0) straddle[k] = events[k].id;
            PC_EXPECT_TRUE(events[k].id == straddle[k]);
        }
    }
    freeStack(&s);
}

/* Slightly tilted, so that the deepest event changes from corner to corner, which must not touch the ids. */
PC_TEST(Events, KeepTheirIdsWhileABoxRocks)
{
    pcShape *floor = bruteBox(3, 3, 1), *box = bruteBox(1, 1, 1);
    unsigned long long first[4] = {0};
    for (int i = 0; i < 400; i++) {
        PC_CASE("step %d", i);
        double axis[3] = {cos(0.05 * i), sin(0.05 * i), 0};
        pcPose still = {{0, 0, -0.5}, {1, 0, 0, 0}}, pose = brutePose(0.2, 0.1, 0.501, axis, 2e-3);
        pcEventSettings settings = withMargin(0.01);
        int count = -1;
        PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(box, &pose, floor, &still, i & 1 ? PC_FIXED_2 : 0, &settings, NULL, events, MOST, &count));
        PC_ASSERT_EQ_INT(4, count);
        for (int k = 0; k < 4; k++) {
            if (i == 0) first[k] = events[k].id;
            PC_EXPECT_TRUE(events[k].id == first[k]);
        }
    }
    pcShapeFree(floor);
    pcShapeFree(box);
}

/* ---- the other way round ---- */

static pcEventKind mirrored(pcEventKind kind) { return kind == PC_CORNER_FACE ? PC_FACE_CORNER : kind == PC_FACE_CORNER ? PC_CORNER_FACE : kind; }

/* The same event with the bodies exchanged, found by its point. */
static const pcEvent* mirrorOf(const pcEvent* e, const pcEvent* list, int count)
{
    const pcEvent* best = NULL;
    for (int i = 0; i < count; i++)
        if (list[i].kind == mirrored(e->kind) && (!best || distance(list[i].point, e->point) < distance(best->point, e->point))) best = list + i;
    return best;
}

static void expectMirror(const pcEvent* e, const pcEvent* m)
{
    PC_ASSERT_TRUE(m != NULL);
    PC_EXPECT_REL(e->t, m->t, 1e-12);
    PC_EXPECT_NEAR(e->gap, m->gap, 1e-12);
    PC_EXPECT_NEAR(0, distance(e->point, m->point), 1e-11);
    PC_EXPECT_NEAR(0, distance(e->point1, m->point2), 1e-11);
    PC_EXPECT_NEAR(0, distance(e->point2, m->point1), 1e-11);
    for (int k = 0; k < 3; k++) PC_EXPECT_NEAR(e->normal[k], -m->normal[k], 1e-12);
    for (int k = 0; k < 12; k++) {
        PC_EXPECT_NEAR(e->gradient[k], m->gradient[(k + 6) % 12], 1e-10);
        PC_EXPECT_NEAR(e->wrench[k], m->wrench[(k + 6) % 12], 1e-10);
    }
}

PC_TEST(Events, AreMirroredWhenTheBodiesAreSwapped)
{
    unsigned long long state = 77;
    static pcEvent other[64];
    int checked = 0;
    for (int i = 0; i < 300; i++) {
        PC_CASE("pair %d", i);
        pcShape* shape[2] = {bruteHull(&state, 4 + i % 9), i & 1 ? bruteBox(0.8, 0.7, 0.9) : bruteHull(&state, 8)};
        pcPose pose[2];
        for (int k = 0; k < 2; k++) bruteDirection(&state, 4, pose[k].quaternion), memset(pose[k].position, 0, sizeof pose[k].position);
        bruteDirection(&state, 3, pose[1].position);
        pcEventSettings settings = withMargin(0.05);
        unsigned flags[3] = {0, PC_FIXED_1, PC_FIXED_2}, swapped[3] = {0, PC_FIXED_2, PC_FIXED_1};
        int count = -1, count2 = -1;
        PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(shape[0], pose, shape[1], pose + 1, flags[i % 3], &settings, NULL, events, 64, &count));
        PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(shape[1], pose + 1, shape[0], pose, swapped[i % 3], &settings, NULL, other, 64, &count2));
        PC_EXPECT_EQ_INT(count, count2);
        for (int k = 0; k < count; k++, checked++) expectMirror(events + k, mirrorOf(events + k, other, count2));
        for (int k = 0; k < 2; k++) pcShapeFree(shape[k]);
    }
    PC_EXPECT_GT(checked, 200);
}

/* ---- room for fewer ---- */

/* The hull of up to eight points of one plane by gift wrapping, its area. */
static long double hullArea(const BP* p, int count)
{
    BrutePolygon hull = {.count = 0};
    int start = 0, at;
    for (int i = 1; i < count; i++)
        if (p[i].x < p[start].x || (!(p[i].x > p[start].x) && p[i].y < p[start].y)) start = i;
    at = start;
    do {
        int next = at == 0 ? 1 : 0;
        for (int i = 0; i < count; i++) {
            long double turn = (p[next].x - p[at].x) * (p[i].y - p[at].y) - (p[next].y - p[at].y) * (p[i].x - p[at].x);
            if (i != at && turn < 0) next = i;
        }
        hull.corner[hull.count++] = p[at];
        at = next;
    } while (at != start && hull.count < count);
    return bruteArea(&hull);
}

static long double bestAreaOf4(const BP* p, int count)
{
    long double best = 0;
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++)
            for (int k = j + 1; k < count; k++)
                for (int l = k + 1; l < count; l++) best = fmaxl(best, hullArea((BP[4]){p[i], p[j], p[k], p[l]}, 4));
    return best;
}

/* A tilt makes one event the deepest. */
static void checkFourOfEight(pcShape* lower, pcShape* upper, double height, double yaw, double tilt)
{
    pcPose low = {{0, 0, 0}, {1, 0, 0, 0}}, turned = brutePose(0.01, 0.02, height, zAxis, yaw), high = bruteTurned(&turned, (double[3]){0.8, 0.6, 0}, tilt);
    pcEventSettings settings = withMargin(0.05);
    static pcEvent kept[4];
    BP all[64], four[4];
    int count = -1, again = -1, deepest = 0;
    PC_CASE("yaw %g tilt %g", yaw, tilt);
    PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(lower, &low, upper, &high, 0, &settings, NULL, events, 64, &count));
    PC_ASSERT_TRUE(count >= 4 && count <= 64);
    PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(lower, &low, upper, &high, 0, &settings, NULL, kept, 4, &again));
    PC_EXPECT_EQ_INT(count, again);
    for (int i = 0; i < count; i++) {
        all[i] = (BP){events[i].point[0], events[i].point[1]};
        if (events[i].gap < events[deepest].gap) deepest = i;
    }
    bool hasDeepest = false;
    for (int i = 0; i < 4; i++) {
        const pcEvent* full = findId(events, count, kept[i].id);
        PC_ASSERT_TRUE(full != NULL);
        PC_EXPECT_TRUE(memcmp(full, kept + i, sizeof *full) == 0);
        if (i > 0) PC_EXPECT_TRUE(kept[i - 1].id < kept[i].id);
        if (!(kept[i].gap > events[deepest].gap)) hasDeepest = true;
        four[i] = (BP){kept[i].point[0], kept[i].point[1]};
    }
    PC_EXPECT_TRUE(hasDeepest);
    PC_EXPECT_GE((double)(hullArea(four, 4) / bestAreaOf4(all, count)), 0.7);
}

PC_TEST(Events, KeepTheDeepestAndAWidePolygonWhenRoomIsShort)
{
    static const double size[][3] = {{1, 1, 1}, {1.2, 0.9, 0.5}, {3, 1, 0.5}, {10, 1, 0.5}};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        const double* a = size[i];
        pcShape *lower = bruteBox(a[0], a[1], a[2]), *upper = bruteBox(a[0], a[1], a[2]);
        for (int k = 1; k < 90; k++)
            for (int tilt = 0; tilt < 3; tilt++) checkFourOfEight(lower, upper, a[2], 0.5 * k * PI / 180, tilt * 1e-3 / a[0]);
        pcShapeFree(lower);
        pcShapeFree(upper);
    }
}

PC_TEST(Events, AreCountedWithoutABuffer)
{
    Stack s = stackOf(bruteBox(1, 1, 1), 1, bruteBox(1, 1, 1), 1);
    pcPose low = {{0, 0, 0}, {1, 0, 0, 0}}, high = brutePose(0, 0, 1, zAxis, PI / 4);
    pcEventSettings settings = pcDefaultEventSettings();
    for (int capacity = 0; capacity < 10; capacity++) {
        int count = -1;
        memset(events, 0x5a, 12 * sizeof *events);
        PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(s.lower, &low, s.upper, &high, 0, &settings, NULL, capacity ? events : NULL, capacity, &count));
        PC_EXPECT_EQ_INT(8, count);
        const unsigned char* beyond = (const unsigned char*)(events + (capacity < 8 ? capacity : 8));
        for (size_t i = 0; i < sizeof *events; i++) PC_EXPECT_EQ_INT(0x5a, beyond[i]);
    }
    freeStack(&s);
}

/* ---- manners ---- */

/* One query with something wrong: a status, a sentence, nothing written. */
typedef struct Query {
    const pcShape *shape1, *shape2;
    const pcPose *pose1, *pose2;
    unsigned flags;
    const pcEventSettings* settings;
    pcEvent* events;
    int capacity;
    int* count;
} Query;

static void expectRefused(const char* what, const Query* q)
{
    PC_CASE("%s", what);
    pcPairCache cache;
    unsigned char patternEvents[sizeof events[0]], patternCache[sizeof cache];
    memset(&cache, 0, sizeof cache), memset(patternCache, 0, sizeof cache);
    memset(events, 0x5a, sizeof *events), memset(patternEvents, 0x5a, sizeof patternEvents);
    if (q->count) *q->count = 4711;
    pcShape* none = NULL;
    pcShapeSphere(-1, &none); /* another sentence, so that an old one is not taken for a new one */
    char old[256] = "";
    strncpy(old, pcLastError(), sizeof old - 1);
    pcStatus status = pcEventsOfPair(q->shape1, q->pose1, q->shape2, q->pose2, q->flags, q->settings, &cache, q->events, q->capacity, q->count);
    PC_EXPECT_TRUE(status != PC_OK && status < PC_STATUS_COUNT);
    PC_EXPECT_TRUE(pcLastError()[0] != '\0' && strcmp(old, pcLastError()) != 0);
    PC_EXPECT_TRUE(memcmp(events, patternEvents, sizeof patternEvents) == 0);
    PC_EXPECT_TRUE(memcmp(&cache, patternCache, sizeof cache) == 0);
    if (q->count) PC_EXPECT_EQ_INT(4711, *q->count);
}

PC_TEST(Events, RefuseBadInputAndWriteNothing)
{
    pcShape *box = bruteBox(1, 1, 1), *ball = NULL, *floor = NULL;
    PC_ASSERT_STATUS(PC_OK, pcShapeSphere(1, &ball));
    PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace((double[4]){0, 0, 1, 0}, &floor));
    pcPose low = {{0, 0, 0}, {1, 0, 0, 0}}, high = {{0, 0, 1}, {1, 0, 0, 0}}, zero = {{0, 0, 1}, {0, 0, 0, 0}}, nan = {{0, 0, NAN}, {1, 0, 0, 0}};
    pcPose infinite = {{0, 0, 1}, {1, INFINITY, 0, 0}};
    pcEventSettings good = withMargin(0.01), raw = {.margin = 0.01, .epsX = 1e-9, .epsT = 1, .eps0 = 1}, bad[9];
    for (int i = 0; i < 9; i++) bad[i] = good;
    bad[0].margin = NAN, bad[1].margin = -0.01, bad[2].margin = INFINITY, bad[3].epsX = NAN, bad[4].epsX = -1, bad[5].epsT = NAN, bad[6].eps0 = -1;
    int strange = 7;
    memcpy(&bad[7].gap, &strange, sizeof strange), bad[8].epsT = -0.5;
    int count = 0;
    const Query fine = {box, box, &low, &high, 0, &good, events, 4, &count};
    PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(box, &low, box, &high, 0, &good, NULL, events, 4, &count));
    Query q;
#define REFUSED(what, change) q = fine, change, expectRefused(what, &q)
    REFUSED("no shape 1", q.shape1 = NULL);
    REFUSED("no shape 2", q.shape2 = NULL);
    REFUSED("no pose 1", q.pose1 = NULL);
    REFUSED("no pose 2", q.pose2 = NULL);
    REFUSED("no settings", q.settings = NULL);
    REFUSED("no count", q.count = NULL);
    REFUSED("no buffer", q.events = NULL);
    REFUSED("negative capacity", q.capacity = -1);
    REFUSED("raw settings", q.settings = &raw);
    REFUSED("unknown flag", q.flags = 4);
    REFUSED("both fixed", q.flags = PC_FIXED_1 | PC_FIXED_2);
    REFUSED("half-space and a fixed box", (q.shape2 = floor, q.flags = PC_FIXED_1));
    REFUSED("two half-spaces", (q.shape1 = floor, q.shape2 = floor));
    REFUSED("a ball and a box", q.shape2 = ball);
    REFUSED("zero quaternion", q.pose2 = &zero);
    REFUSED("NaN position", q.pose2 = &nan);
    REFUSED("infinite quaternion", q.pose1 = &infinite);
    REFUSED("coincident centres", q.pose2 = &low);
#undef REFUSED
    for (int i = 0; i < 9; i++) {
        q = fine, q.settings = bad + i;
        expectRefused("settings out of range", &q);
    }
    pcShapeFree(box);
    pcShapeFree(ball);
    pcShapeFree(floor);
}

/* ---- memory ---- */

/* Counting what the whole program allocates, by standing before the C library. A sanitizer stands there already. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS 1
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);
extern void __libc_free(void* block);
static _Atomic long allocations;
void* malloc(size_t size) { return atomic_fetch_add(&allocations, 1), __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return atomic_fetch_add(&allocations, 1), __libc_calloc(count, size); }
void* realloc(void* block, size_t size) { return atomic_fetch_add(&allocations, 1), __libc_realloc(block, size); }
void free(void* block) { __libc_free(block); }
#else
#define COUNTS_ALLOCATIONS 0
static _Atomic long allocations;
#endif

static long allocationsOf(const pcShape* a, const pcShape* b, unsigned flags, bool touching)
{
    pcPairCache cache = {0};
    pcEventSettings settings = withMargin(touching ? 10 : 0.05);
    pcMetric m;
    int count;
    long before = 0;
    for (int i = 0; i < 101; i++) {
        pcPose low = {{0, 0, 0}, {1, 0, 0, 0}}, high = brutePose(0.3, 0.2, 0.9, (double[3]){0.6, 0, 0.8}, 0.01 * i);
        if (i == 1) before = atomic_load(&allocations); /* the first may prepare something */
        if (pcMetricPair(a, &low, b, &high, flags, &cache, &m) != PC_OK) return -1;
        if (pcEventsOfPair(a, &low, b, &high, flags, &settings, &cache, events, 32, &count) != PC_OK) return -1;
    }
    return atomic_load(&allocations) - before;
}

PC_TEST(Events, AllocateNothing)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    unsigned long long state = 5;
    pcShape *shapes[4] = {bruteBox(1, 1, 1), bruteHull(&state, 40), brutePrism(300, 0.6, 1), NULL}, *floor = NULL;
    PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace((double[4]){0, 0, 1, 0}, &floor));
    long start = atomic_load(&allocations);
    void* volatile probe = malloc(1);
    free(probe);
    PC_ASSERT_GT((double)atomic_load(&allocations), (double)start); /* the counter works */
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            for (int way = 0; way < 6; way++) {
                PC_CASE("shapes %d %d, way %d", i, k, way);
                PC_EXPECT_EQ_INT(0, allocationsOf(shapes[i], shapes[k], (unsigned)(way / 2), way & 1));
            }
        PC_EXPECT_EQ_INT(0, allocationsOf(floor, shapes[i], 0, true));
    }
    for (int i = 0; i < 4; i++) pcShapeFree(shapes[i]);
    pcShapeFree(floor);
}
