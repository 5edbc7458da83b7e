/* Events as a caller meets them: continuity, ids, the other order of bodies, room for fewer, bad input, memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/brute_events.h"
#include "test_worlds/unit/counting.h"

static const double PI = 3.14159265358979323846;
static const double zAxis[3] = {0, 0, 1};

enum { MOST = 4096 };
static pcEvent events[MOST];

/* ---- edge on edge ---- */

/* Two bodies, the second turning about a fixed axis. */
typedef struct Turn {
    pcShape* shape[2];
    pcPose start[2];
    double axis[3], margin, step;
    pcEvent before[64];
    int countBefore;
    pcMetric metricBefore;
    pcPose pose[2];          /* now */
    int lived, ended, aside; /* edge events: steps survived, beginnings and ends, those of them by the pair's normal alone */
} Turn;

static const pcEvent* findId(const pcEvent* list, int count, unsigned long long id)
{
    for (int i = 0; i < count; i++)
        if (list[i].id == id) return list + i;
    return NULL;
}

/* Distance of a point of the body from the nearer end of the edge that it lies on; the direction of that edge and its place. */
static long double fromEnd(const BruteBody* b, BV x, BV* direction, int* edge)
{
    long double best = HUGE_VALL, end = 0;
    for (int i = 0; i < b->edges; i++) {
        BV p = b->vertex[b->edge[i].vertex[0]], q = b->vertex[b->edge[i].vertex[1]], e = bvSub(q, p);
        e = bvScale(1 / bvNorm(e), e);
        long double off = bvNorm(bvCross(e, bvSub(x, p)));
        if (off < best) best = off, end = fminl(bvNorm(bvSub(x, p)), bvNorm(bvSub(x, q))), *direction = e, *edge = i;
    }
    PC_EXPECT_NEAR(0, (double)best, 1e-7);
    return end;
}

/* sine: of the angle of the two edges; D: of method.md, 1/|g|; end: how far the event is from the nearest end of its edges;
 * normal: of the facets of both edges. */
typedef struct Crossing {
    double sine, D, end;
    BV normal[2][2];
} Crossing;

static Crossing crossingOf(const Turn* turn, const pcPose pose[2], const pcEvent* e)
{
    static BruteBody body[2];
    int edge[2] = {0, 0};
    BV d[2], p[2] = {bvOf(e->point1), bvOf(e->point2)};
    for (int i = 0; i < 2; i++) bruteBody(turn->shape[i], pose + i, true, body + i);
    long double end0 = fromEnd(body, p[0], d, edge), end1 = fromEnd(body + 1, p[1], d + 1, edge + 1);
    BV cross = bvCross(d[0], d[1]), across = bvSub(bvSub(p[0], body[0].centre), bvSub(p[1], body[1].centre));
    long double sine = bvNorm(cross);
    Crossing out = {.sine = (double)sine, .D = (double)(fabsl(bvDot(cross, across)) / sine), .end = (double)fminl(end0, end1)};
    for (int i = 0; i < 4; i++) out.normal[i / 2][i % 2] = body[i / 2].normal[body[i / 2].edge[edge[i / 2]].facet[i % 2]];
    return out;
}

/* How far an event can move in one step: edges turn by `step`, their points move by their distance from the axis times that, t by that
 * over D, and the crossing of the two edges by all this over the sine of their angle. */
static double reachOf(const Turn* turn, const Crossing* c) { return 4 * turn->step * (1 + 1 / c->D) / (c->sine * c->sine); }

static void expectSmooth(Turn* turn, const pcEvent* was, const pcEvent* is)
{
    Crossing c = crossingOf(turn, turn->pose, is);
    if (c.sine < 0.05) return; /* nearly parallel: the crossing runs along the edges, see the ends of its life */
    double moved = bruteDistance(was->point, is->point), allowed = reachOf(turn, &c);
    if (!(moved <= allowed)) PC_FAIL("an edge event jumps by %g, allowed %g", moved, allowed);
    PC_EXPECT_NEAR(was->gap, is->gap, 4 * turn->step / c.sine);
    turn->lived++;
}

/* One end of an edge event's life, in the step where it was still there, beside the step where it is not: at an end of an edge, at the
 * margin, or where the edges are parallel. The search goes by the pair's normal (margin along it, no event that pushes against it, no
 * edge at the back of its body): where that normal jumps, from one face to the next, an event that it no longer faces may go as well. */
static bool isAside(const Crossing* c, BV n, BV pairNormal, double allowed)
{
    long double front1 = fmaxl(bvDot(c->normal[0][0], pairNormal), bvDot(c->normal[0][1], pairNormal));
    long double front2 = fmaxl(-bvDot(c->normal[1][0], pairNormal), -bvDot(c->normal[1][1], pairNormal));
    return bvDot(pairNormal, n) <= allowed || front1 <= allowed || front2 <= allowed;
}

static void expectEndOfLife(Turn* turn, const pcPose pose[2], const pcEvent* e, const pcMetric* here, const pcMetric* beside)
{
    Crossing c = crossingOf(turn, pose, e);
    double allowed = reachOf(turn, &c);
    BV apart = bvSub(bvOf(e->point2), bvOf(e->point1)), n = bvOf(e->normal);
    double along = (double)fmaxl(bvDot(bvOf(here->normal), apart), bvDot(bvOf(beside->normal), apart));
    bool atEnd = c.end <= allowed, atMargin = e->gap >= turn->margin - allowed || along >= 2 * turn->margin - allowed;
    bool parallel = c.sine < 0.05, aside = isAside(&c, n, bvOf(beside->normal), 2 * turn->step);
    turn->ended++;
    if (!atEnd && !atMargin && !parallel && aside) turn->aside++;
    if (!atEnd && !atMargin && !parallel && !aside)
        PC_FAIL("edge event %llx begins or ends %g from an end of its edges; gap %g, along the pair's normal %g, margin %g", e->id, c.end,
                e->gap, along, turn->margin);
}

/* What pushes at right angles to the pair's normal is decided by rounding, and comes and goes with it. */
static void expectFacing(const pcEvent* list, int count, const pcMetric* m)
{
    for (int i = 0; i < count; i++) {
        double facing = (double)bvDot(bvOf(m->normal), bvOf(list[i].normal));
        if (!(facing > 1e-9))
            PC_FAIL("event %d of kind %d, gap %g, faces the pair's normal with a cosine of %g", i, (int)list[i].kind, list[i].gap, facing);
    }
}

static void compareSteps(Turn* turn, const pcPose last[2], const pcEvent* now, int count, const pcMetric* m)
{
    for (int k = 0; k < count; k++) {
        const pcEvent* was = findId(turn->before, turn->countBefore, now[k].id);
        if (now[k].kind != PC_EDGE_EDGE) continue;
        if (was)
            expectSmooth(turn, was, now + k);
        else
            expectEndOfLife(turn, turn->pose, now + k, m, &turn->metricBefore);
    }
    for (int k = 0; k < turn->countBefore; k++)
        if (turn->before[k].kind == PC_EDGE_EDGE && !findId(now, count, turn->before[k].id))
            expectEndOfLife(turn, last, turn->before + k, &turn->metricBefore, m);
}

static void stepTurn(Turn* turn, int i, double angle)
{
    static pcEvent now[64];
    int count = -1;
    pcEventSettings settings = bruteSettings(turn->margin);
    pcPose last[2] = {turn->pose[0], turn->pose[1]};
    pcMetric m;
    turn->pose[0] = turn->start[0], turn->pose[1] = bruteTurned(turn->start + 1, turn->axis, angle);
    PC_ASSERT_STATUS(PC_OK,
                     pcEventsOfPair(turn->shape[0], turn->pose, turn->shape[1], turn->pose + 1, 0, &settings, NULL, now, 64, &count));
    PC_ASSERT_LE(count, 64);
    PC_ASSERT_STATUS(PC_OK, pcMetricPair(turn->shape[0], turn->pose, turn->shape[1], turn->pose + 1, 0, NULL, &m));
    expectFacing(now, count, &m);
    if (i > 0) compareSteps(turn, last, now, count, &m);
    memcpy(turn->before, now, (size_t)count * sizeof *now);
    turn->countBefore = count, turn->metricBefore = m;
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
    PC_EXPECT_GT(turn.ended, 20);
}

PC_TEST(Events, EdgeOnEdgeOfCrossedRidgesLivesWhileTheyCross)
{
    Turn turn = {.shape = {bruteBox(2, 1, 1), bruteBox(1, 2, 1)}, .margin = 0.05, .step = 1e-3, .axis = {0, 0, 1}};
    turn.start[0] = brutePose(0, 0, 0, (double[3]){1, 0, 0}, PI / 4),
    turn.start[1] = brutePose(0, 0, sqrt(2) + 0.01, (double[3]){0, 1, 0}, PI / 4);
    runTurn(&turn, -1.4, 1.4, "ridges");
    PC_EXPECT_GT(turn.lived, 2700);
}

PC_TEST(Events, EdgeOnEdgeIsContinuousAsBodiesTumble)
{
    unsigned long long state = 31;
    int lived = 0, ended = 0, aside = 0;
    for (int i = 0; i < 12; i++) {
        Turn turn = {.margin = 0.05, .step = 1e-3};
        pcShapeInfo info[2];
        for (int k = 0; k < 2; k++) {
            turn.shape[k] = i & 1 ? bruteHull(&state, 8) : bruteBox(bruteBetween(&state, 0.6, 1.2), 1, bruteBetween(&state, 0.6, 1.2));
            PC_ASSERT_STATUS(PC_OK, pcShapeDescribe(turn.shape[k], info + k));
            bruteDirection(&state, 4, turn.start[k].quaternion);
        }
        bruteDirection(&state, 3, turn.axis);
        double away[3],
            reach = 0.85 * (info[0].inradius + info[1].inradius) + 0.3 * (info[0].outradius + info[1].outradius) * bruteUniform(&state);
        bruteDirection(&state, 3, away);
        for (int k = 0; k < 3; k++) turn.start[1].position[k] = reach * away[k];
        char what[32] = "tumble 0";
        what[7] = (char)('a' + i);
        runTurn(&turn, 0, 2, what);
        lived += turn.lived, ended += turn.ended, aside += turn.aside;
    }
    PC_EXPECT_GT(lived, 1000);
    PC_EXPECT_GT(ended, 20);
    PC_EXPECT_LT(aside, 0.1 * ended); /* the exception, not the rule */
}

/* ---- ids ---- */

static int eventsOn(const pcShape* lower, const pcShape* upper, const pcPose* pose)
{
    pcPose still = {{0, 0, 0}, {1, 0, 0, 0}};
    pcEventSettings settings = bruteSettings(0.01);
    int count = -1;
    PC_EXPECT_STATUS(PC_OK, pcEventsOfPair(lower, &still, upper, pose, 0, &settings, NULL, events, MOST, &count));
    return count;
}

PC_TEST(Events, KeepTheirIdsWhileABoxSlidesAndTurns)
{
    pcShape *lower = bruteBox(3, 3, 1), *upper = bruteBox(1, 1, 1);
    unsigned long long first[4] = {0}, straddle[4] = {0};
    for (int i = 0; i < 500; i++) {
        PC_CASE("step %d", i);
        pcPose inside = brutePose(-0.4 + 1e-3 * i, 0.2, 1 + 1e-4 * sin(i), zAxis, 1e-3 * i);
        pcPose across = brutePose(1.4 + 1e-4 * i, 0.1, 1 + 1e-4 * sin(i), zAxis, 0.2 + 1e-3 * i);
        PC_ASSERT_EQ_INT(4, eventsOn(lower, upper, &inside));
        for (int k = 0; k < 4; k++) {
            if (i == 0) first[k] = events[k].id;
            PC_EXPECT_TRUE(events[k].id == first[k]);
        }
        PC_ASSERT_EQ_INT(4, eventsOn(lower, upper, &across)); /* two corners, two crossings of edges */
        for (int k = 0; k < 4; k++) {
            if (i == 0) straddle[k] = events[k].id;
            PC_EXPECT_TRUE(events[k].id == straddle[k]);
        }
    }
    pcShapeFree(lower);
    pcShapeFree(upper);
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
        pcEventSettings settings = bruteSettings(0.01);
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

static pcEventKind mirrored(pcEventKind kind)
{
    return kind == PC_CORNER_FACE ? PC_FACE_CORNER : kind == PC_FACE_CORNER ? PC_CORNER_FACE : kind;
}

/* The same event with the bodies exchanged, found by its point. */
static const pcEvent* mirrorOf(const pcEvent* e, const pcEvent* list, int count)
{
    const pcEvent* best = NULL;
    for (int i = 0; i < count; i++)
        if (list[i].kind == mirrored(e->kind) && (!best || bruteDistance(list[i].point, e->point) < bruteDistance(best->point, e->point)))
            best = list + i;
    return best;
}

static void expectMirror(const pcEvent* e, const pcEvent* m)
{
    PC_ASSERT_TRUE(m != NULL);
    PC_EXPECT_REL(e->t, m->t, 1e-12);
    PC_EXPECT_NEAR(e->gap, m->gap, 1e-12);
    PC_EXPECT_NEAR(0, bruteDistance(e->point, m->point), 1e-11);
    PC_EXPECT_NEAR(0, bruteDistance(e->point1, m->point2), 1e-11);
    PC_EXPECT_NEAR(0, bruteDistance(e->point2, m->point1), 1e-11);
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
        pcEventSettings settings = bruteSettings(0.05);
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
    pcPose low = {{0, 0, 0}, {1, 0, 0, 0}}, turned = brutePose(0.01, 0.02, height, zAxis, yaw),
           high = bruteTurned(&turned, (double[3]){0.8, 0.6, 0}, tilt);
    pcEventSettings settings = bruteSettings(0.05);
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
        if (!(kept[i].gap > events[deepest].gap + 1e-8)) hasDeepest = true; /* one of those that rounding cannot tell apart */
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
    pcShape *lower = bruteBox(1, 1, 1), *upper = bruteBox(1, 1, 1);
    pcPose low = {{0, 0, 0}, {1, 0, 0, 0}}, high = brutePose(0, 0, 1, zAxis, PI / 4);
    pcEventSettings settings = pcDefaultEventSettings();
    for (int capacity = 0; capacity < 10; capacity++) {
        int count = -1;
        memset(events, 0x5a, 12 * sizeof *events);
        PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(lower, &low, upper, &high, 0, &settings, NULL, capacity ? events : NULL, capacity, &count));
        PC_EXPECT_EQ_INT(8, count);
        const unsigned char* beyond = (const unsigned char*)(events + (capacity < 8 ? capacity : 8));
        for (size_t i = 0; i < sizeof *events; i++) PC_EXPECT_EQ_INT(0x5a, beyond[i]);
    }
    pcShapeFree(lower);
    pcShapeFree(upper);
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
    pcStatus status =
        pcEventsOfPair(q->shape1, q->pose1, q->shape2, q->pose2, q->flags, q->settings, &cache, q->events, q->capacity, q->count);
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
    pcPose low = {{0, 0, 0}, {1, 0, 0, 0}}, high = {{0, 0, 1}, {1, 0, 0, 0}}, zero = {{0, 0, 1}, {0, 0, 0, 0}},
           nan = {{0, 0, NAN}, {1, 0, 0, 0}};
    pcPose infinite = {{0, 0, 1}, {1, INFINITY, 0, 0}};
    pcEventSettings good = bruteSettings(0.01), raw = {.margin = 0.01, .epsX = 1e-9, .epsT = 1, .eps0 = 1}, bad[9];
    for (int i = 0; i < 9; i++) bad[i] = good;
    bad[0].margin = NAN, bad[1].margin = -0.01, bad[2].margin = INFINITY, bad[3].epsX = NAN, bad[4].epsX = -1, bad[5].epsT = NAN,
    bad[6].eps0 = -1;
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
    REFUSED("a ball in the middle of a box", (q.shape2 = ball, q.pose2 = &low));
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

static long allocationsOf(const pcShape* a, const pcShape* b, unsigned flags, bool touching)
{
    pcPairCache cache = {0};
    pcEventSettings settings = bruteSettings(touching ? 10 : 0.05);
    pcMetric m;
    int count;
    long before = 0;
    for (int i = 0; i < 21; i++) {
        pcPose low = {{0, 0, 0}, {1, 0, 0, 0}}, high = brutePose(0.3, 0.2, 0.9, (double[3]){0.6, 0, 0.8}, 0.01 * i);
        if (i == 1) before = allocationCount(); /* the first may prepare something */
        if (pcMetricPair(a, &low, b, &high, flags, &cache, &m) != PC_OK) return -1;
        if (pcEventsOfPair(a, &low, b, &high, flags, &settings, &cache, events, 32, &count) != PC_OK) return -1;
    }
    return allocationCount() - before;
}

PC_TEST(Events, AllocateNothing)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    unsigned long long state = 5;
    pcShape *shapes[4] = {bruteBox(1, 1, 1), bruteHull(&state, 40), brutePrism(300, 0.6, 1), NULL}, *floor = NULL;
    PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace((double[4]){0, 0, 1, 0}, &floor));
    long start = allocationCount();
    void* volatile probe = malloc(1);
    free(probe);
    PC_ASSERT_GT((double)allocationCount(), (double)start); /* the counter works */
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
