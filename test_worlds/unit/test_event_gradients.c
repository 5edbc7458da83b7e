/*
 * What an event says of its change: gradients of t and of the length gap against finite differences, conservation of momentum, and the
 * three gaps that a row may have, against quantities recomputed from vertices.
 */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/brute_events.h"

enum { MOST = 64 };

/* ---- scenes: two bodies near each other, centres off the pose origins ---- */

typedef struct Scene {
    pcShape* shape[2];
    pcPose pose[2];
    unsigned flags;
    bool plane; /* body 2 is a half-space */
} Scene;

static pcShape* randomShape(unsigned long long* state, int kind)
{
    double size[3], at[3], centre[3];
    for (int k = 0; k < 3; k++) {
        size[k] = bruteBetween(state, 0.5, 1.2), at[k] = bruteBetween(state, -0.5, 0.5);
        centre[k] = at[k] + 0.3 * size[k] * bruteBetween(state, -1, 1);
    }
    if (kind == 0) return bruteBox(size[0], size[1], size[2]);
    if (kind == 1) return bruteBlock(size, at, centre);
    return bruteHull(state, kind == 2 ? 4 : 5 + (int)(8 * bruteUniform(state)));
}

static BV centreOf(const pcShape* shape, const pcPose* pose)
{
    pcShapeInfo info;
    return pcShapeDescribe(shape, &info) == PC_OK ? brutePlace(pose, info.centre) : (BV){0, 0, 0};
}

static bool measure(const Scene* s, pcMetric* m)
{
    return pcMetricPair(s->shape[0], &s->pose[0], s->shape[1], &s->pose[1], s->flags, NULL, m) == PC_OK;
}

static void moveBody2(Scene* s, const double* direction, double by)
{
    for (int k = 0; k < 3; k++) s->pose[1].position[k] += by * direction[k];
}

/* From far along a random direction until the gap is about `gap`; the pair's own gap says how far to go. */
static bool approach(Scene* s, const double direction[3], double gap)
{
    moveBody2(s, direction, 3);
    for (int i = 0; i < 60; i++) {
        pcMetric m;
        if (!measure(s, &m)) return false;
        double along = (double)bvDot(bvOf(m.normal), bvOf(direction));
        if (fabs(m.gap - gap) < 0.1 * fabs(gap) + 1e-6) return true;
        if (!(fabs(along) > 1e-3)) return false;
        moveBody2(s, direction, 0.9 * (gap - m.gap) / along);
    }
    return true;
}

/* roles: 0 two-sided, 1 and 2 that body fixed, 3 a half-space under body 1, 4 the half-space first. */
static bool randomScene(unsigned long long* state, int role, double gap, Scene* out)
{
    double direction[3], plane[4];
    *out = (Scene){.flags = role == 1 ? PC_FIXED_1 : role == 2 ? PC_FIXED_2 : 0, .plane = role >= 3};
    for (int i = 0; i < 2; i++) {
        out->shape[i] = randomShape(state, (int)(4 * bruteUniform(state)));
        bruteDirection(state, 4, out->pose[i].quaternion);
        for (int k = 0; k < 3; k++) out->pose[i].position[k] = i == 0 ? bruteBetween(state, -0.5, 0.5) : out->pose[0].position[k];
    }
    bruteDirection(state, 3, direction);
    if (role >= 3) {
        pcShapeFree(out->shape[role == 3]);
        bruteDirection(state, 3, plane);
        plane[3] = bruteBetween(state, -0.5, 0.5);
        pcShape* floor = NULL;
        if (pcShapeHalfSpace(plane, &floor) != PC_OK) return false;
        out->shape[role == 3] = floor;
        for (int k = 0; k < 3; k++) direction[k] = plane[k];
        pcPose turned = {{0, 0, 0}, {0, 0, 0, 0}};
        memcpy(turned.quaternion, out->pose[role == 3].quaternion, sizeof turned.quaternion);
        BV n = brutePlace(&turned, plane);
        double sign = role == 3 ? -1 : 1; /* body 2 moves: the half-space back into its solid, or the body out of it */
        direction[0] = sign * (double)n.x, direction[1] = sign * (double)n.y, direction[2] = sign * (double)n.z;
    }
    return out->shape[0] && out->shape[1] && approach(out, direction, gap);
}

static void freeScene(Scene* s)
{
    pcShapeFree(s->shape[0]);
    pcShapeFree(s->shape[1]);
}

static int eventsOf(const Scene* s, double margin, pcGapKind gap, pcEvent out[MOST])
{
    int count = -1;
    pcEventSettings settings = pcDefaultEventSettings();
    settings.margin = margin, settings.gap = gap;
    pcStatus status = pcEventsOfPair(s->shape[0], &s->pose[0], s->shape[1], &s->pose[1], s->flags, &settings, NULL, out, MOST, &count);
    PC_EXPECT_STATUS(PC_OK, status);
    PC_EXPECT_LE(count, MOST);
    return status == PC_OK && count <= MOST ? count : 0;
}

static const pcEvent* findId(const pcEvent* list, int count, unsigned long long id)
{
    for (int i = 0; i < count; i++)
        if (list[i].id == id) return list + i;
    return NULL;
}

/* ---- gradients ---- */

/* Coordinate k of twelve: position then turn about a world axis, of body 1 then 2. */
static Scene moved(const Scene* s, int k, double by)
{
    Scene out = *s;
    pcPose* pose = out.pose + k / 6;
    double axis[3] = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
    if (k % 6 < 3)
        pose->position[k % 3] += by;
    else
        *pose = bruteTurned(pose, axis, by);
    return out;
}

/* t and gap of one event at four places around the scene; false where it is not an event any more. */
typedef struct Slope {
    double t, gap;
    bool known;
} Slope;

/* Five-point differences: error (step/scale)^4, so that both it and rounding over the step stay below 1e-9. */
static void slopesAlong(const Scene* s, double margin, int k, double step, const pcEvent* list, int count, Slope* out)
{
    static const double place[4] = {-2, -1, 1, 2}, weight[4] = {1 / 12., -8 / 12., 8 / 12., -1 / 12.};
    pcEvent around[MOST];
    for (int i = 0; i < count; i++) out[i] = (Slope){0, 0, true};
    for (int p = 0; p < 4; p++) {
        Scene there = moved(s, k, place[p] * step);
        int found = eventsOf(&there, margin, PC_GAP_LENGTH, around);
        for (int i = 0; i < count; i++) {
            const pcEvent* e = findId(around, found, list[i].id);
            out[i].known = out[i].known && e;
            if (e) out[i].t += weight[p] * e->t / step, out[i].gap += weight[p] * e->gap / step;
        }
    }
}

static double largest(const double row[12])
{
    double most = 0;
    for (int k = 0; k < 12; k++) most = fmax(most, fabs(row[k]));
    return most;
}

/* How many events of each kind were followed. */
typedef struct Tally {
    int kind[3], lost;
} Tally;

static void checkSlopes(const Scene* s, double margin, Tally* tally)
{
    static pcEvent list[MOST];
    static Slope slope[12][MOST];
    int count = eventsOf(s, margin, PC_GAP_LENGTH, list);
    for (int k = 0; k < 12; k++) slopesAlong(s, margin, k, 5e-5, list, count, slope[k]);
    for (int i = 0; i < count; i++) {
        bool known = true;
        for (int k = 0; k < 12; k++) known = known && slope[k][i].known;
        if (!known) tally->lost++;
        for (int k = 0; known && k < 12; k++) {
            double scaleT = largest(list[i].gradient), scaleGap = largest(list[i].wrench);
            if (!(fabs(list[i].gradient[k] - slope[k][i].t) <= 1e-6 * scaleT))
                PC_FAIL("event %d, kind %d: dt/dq%d is %.12g, differences give %.12g", i, (int)list[i].kind, k, list[i].gradient[k],
                        slope[k][i].t);
            if (!(fabs(list[i].wrench[k] - slope[k][i].gap) <= 1e-6 * scaleGap))
                PC_FAIL("event %d, kind %d: dgap/dq%d is %.12g, differences give %.12g", i, (int)list[i].kind, k, list[i].wrench[k],
                        slope[k][i].gap);
        }
        if (known) tally->kind[list[i].kind]++;
    }
}

static Tally checkSlopesOfScenes(unsigned long long seed, int role, int scenes)
{
    unsigned long long state = seed;
    Tally tally = {{0, 0, 0}, 0};
    for (int i = 0; i < scenes; i++) {
        static const double gaps[] = {0.02, 1e-3, -0.01, -0.05};
        Scene s;
        PC_CASE("role %d, scene %d", role, i);
        if (randomScene(&state, role, gaps[i % 4], &s)) checkSlopes(&s, 0.05, &tally);
        freeScene(&s);
    }
    return tally;
}

/* An event may end within the steps of the differences; it must not be the rule. */
static void expectFollowed(const Tally* t) { PC_EXPECT_LT(t->lost, 0.05 * (t->kind[0] + t->kind[1] + t->kind[2])); }

PC_TEST(EventGradients, AreTheFiniteDifferencesOfTwoSidedEvents)
{
    Tally t = checkSlopesOfScenes(101, 0, 600);
    for (int kind = 0; kind < 3; kind++) PC_EXPECT_GT(t.kind[kind], 100);
    expectFollowed(&t);
}

PC_TEST(EventGradients, AreTheFiniteDifferencesOverAFixedBody)
{
    for (int role = 1; role <= 2; role++) {
        Tally t = checkSlopesOfScenes(202, role, 400);
        for (int kind = 0; kind < 3; kind++) PC_EXPECT_GT(t.kind[kind], 60);
        expectFollowed(&t);
    }
}

PC_TEST(EventGradients, AreTheFiniteDifferencesOverAHalfSpace)
{
    for (int role = 3; role <= 4; role++) {
        Tally t = checkSlopesOfScenes(303, role, 300);
        PC_EXPECT_GT(t.kind[role == 3 ? PC_CORNER_FACE : PC_FACE_CORNER], 200);
        PC_EXPECT_EQ_INT(0, t.kind[PC_EDGE_EDGE] + t.kind[role == 3 ? PC_FACE_CORNER : PC_CORNER_FACE]);
        expectFollowed(&t);
    }
}

/* ---- momentum ---- */

/* Forces cancel exactly, torques about any point to rounding: measured against force times the lengths in play. */
static void expectConserved(const Scene* s, const double row[12], double reach)
{
    BV f1 = bvOf(row), f2 = bvOf(row + 6), about = {0.3L, -0.2L, 0.7L};
    BV torque = bvAdd(bvOf(row + 3), bvOf(row + 9));
    torque = bvAdd(torque, bvCross(bvSub(bvOf(s->pose[0].position), about), f1));
    torque = bvAdd(torque, bvCross(bvSub(bvOf(s->pose[1].position), about), f2));
    for (int k = 0; k < 3; k++) PC_EXPECT_TRUE(row[k] == -row[k + 6]);
    PC_EXPECT_NEAR(0, (double)(bvNorm(torque) / bvNorm(f1)) / (1 + reach), 1e-14);
}

PC_TEST(EventGradients, ConserveMomentum)
{
    unsigned long long state = 404;
    static const double gaps[] = {0.03, 0, -0.02};
    int checked = 0;
    for (int i = 0; i < 1500; i++) {
        Scene s;
        static pcEvent list[MOST];
        PC_CASE("scene %d", i);
        bool made = randomScene(&state, i % 5, gaps[i % 3], &s);
        for (int gap = PC_GAP_LENGTH; made && gap <= PC_GAP_PAIR; gap++) {
            int count = eventsOf(&s, 0.05, (pcGapKind)gap, list);
            for (int k = 0; k < count; k++, checked++) {
                double reach = (double)bvNorm(bvOf(list[k].point));
                expectConserved(&s, list[k].gradient, reach);
                expectConserved(&s, list[k].wrench, reach);
                PC_EXPECT_NEAR(1, (double)bvNorm(bvOf(list[k].wrench + 6)), 1e-14);
            }
        }
        freeScene(&s);
    }
    PC_EXPECT_GT(checked, 3000);
}

/* ---- rows ---- */

/* How far the body reaches from its centre in direction n, by all its vertices. */
static long double reachOf(const pcShape* shape, const pcPose* pose, BV n)
{
    int count;
    const double* xyz = pcShapeVertices(shape, &count);
    BV centre = centreOf(shape, pose);
    long double most = -HUGE_VALL;
    for (int i = 0; i < count; i++) most = fmaxl(most, bvDot(n, bvSub(brutePlace(pose, xyz + 3 * i), centre)));
    return most;
}

/* 1/|g| of the pair: both reaches two-sided, else that of the body that scales. */
static double pairD(const Scene* s, const pcMetric* m)
{
    BV n = bvOf(m->normal), back = bvScale(-1, n);
    bool first = !(s->flags & PC_FIXED_1) && pcShapeVertices(s->shape[0], &(int){0}) != NULL;
    bool second = !(s->flags & PC_FIXED_2) && pcShapeVertices(s->shape[1], &(int){0}) != NULL;
    return (double)((first ? reachOf(s->shape[0], &s->pose[0], n) : 0) + (second ? reachOf(s->shape[1], &s->pose[1], back) : 0));
}

/* The three gaps of the same events. */
typedef struct Gaps {
    int count;
    pcEvent length[MOST], ratio[MOST], pair[MOST];
} Gaps;

static bool gapsOf(const Scene* s, double margin, Gaps* g)
{
    g->count = eventsOf(s, margin, PC_GAP_LENGTH, g->length);
    int ratio = eventsOf(s, margin, PC_GAP_RATIO, g->ratio), pair = eventsOf(s, margin, PC_GAP_PAIR, g->pair);
    PC_EXPECT_TRUE(ratio == g->count && pair == g->count);
    return ratio == g->count && pair == g->count;
}

static double gradientNorm(const pcEvent* e) { return (double)bvNorm(bvOf(e->gradient)); }

static void checkGapFormulas(const Scene* s, const Gaps* g)
{
    pcMetric m;
    PC_ASSERT_TRUE(measure(s, &m));
    double D = pairD(s, &m);
    for (int i = 0; i < g->count; i++) {
        const pcEvent* e = g->length + i;
        PC_EXPECT_TRUE(e->id == g->ratio[i].id && e->id == g->pair[i].id);
        PC_EXPECT_NEAR((e->t - 1) / e->t, e->phi, 1e-15);
        PC_EXPECT_NEAR((e->t - 1) / gradientNorm(e), e->gap, 1e-13);
        PC_EXPECT_NEAR(e->t * (e->t - 1) / gradientNorm(e), g->ratio[i].gap, 1e-13);
        PC_EXPECT_NEAR(m.r * (m.r - 1) * D, g->pair[i].gap, 1e-13);
        for (int k = 0; k < 3; k++) PC_EXPECT_NEAR(e->gradient[6 + k] / gradientNorm(e), e->normal[k], 1e-14);
    }
}

PC_TEST(EventRows, HaveTheGapsOfTheMethod)
{
    unsigned long long state = 505;
    static const double gaps[] = {0.03, 1e-4, -0.02};
    static Gaps g;
    int checked = 0;
    for (int i = 0; i < 1000; i++) {
        Scene s;
        PC_CASE("scene %d", i);
        if (randomScene(&state, i % 5, gaps[i % 3], &s) && gapsOf(&s, 0.05, &g)) checkGapFormulas(&s, &g), checked += g.count;
        freeScene(&s);
    }
    PC_EXPECT_GT(checked, 1000);
}

/* At distance s from contact the three gaps of the nearest event differ by no more than a multiple of s squared. */
PC_TEST(EventRows, AgreeToFirstOrderAtContact)
{
    unsigned long long state = 606;
    static Gaps g;
    int checked = 0;
    for (int i = 0; i < 600; i++) {
        Scene s;
        double gap = (i & 1 ? 1 : -1) * (i % 4 < 2 ? 1e-3 : 1e-4);
        PC_CASE("scene %d", i);
        if (randomScene(&state, i % 5, gap, &s) && gapsOf(&s, 0.01, &g) && g.count > 0) {
            int least = 0;
            for (int k = 1; k < g.count; k++)
                if (g.length[k].t < g.length[least].t) least = k;
            double own = g.length[least].gap, D = 1 / gradientNorm(g.length + least);
            PC_EXPECT_NEAR(own, g.ratio[least].gap, 1.01 * own * own / D);
            PC_EXPECT_NEAR(own, g.pair[least].gap, 1.01 * own * own / D);
            checked++;
        }
        freeScene(&s);
    }
    PC_EXPECT_GT(checked, 500);
}

/* gamma phi + h grad phi . v  =  (h |g| / t^2) (N . v + gamma d / h): the same inequality, and the same up to a positive factor. */
PC_TEST(EventRows, OfTheRatioSayTheSameAsThePapersInequality)
{
    unsigned long long state = 707;
    static pcEvent list[MOST];
    int checked = 0;
    for (int i = 0; i < 500; i++) {
        Scene s;
        PC_CASE("scene %d", i);
        int count = randomScene(&state, i % 5, i & 1 ? 0.03 : -0.02, &s) ? eventsOf(&s, 0.05, PC_GAP_RATIO, list) : 0;
        for (int k = 0; k < count; k++)
            for (int trial = 0; trial < 5; trial++, checked++) {
                const pcEvent* e = list + k;
                double h = pow(10, bruteBetween(&state, -3, -1)), gamma = bruteUniform(&state), v[12];
                bruteDirection(&state, 12, v);
                double paper = gamma * e->phi, row = gamma * e->gap / h, size = fabs(paper);
                for (int q = 0; q < 12; q++) {
                    paper += h * e->gradient[q] / (e->t * e->t) * v[q], row += e->wrench[q] * v[q];
                    size += fabs(h * e->gradient[q] / (e->t * e->t) * v[q]);
                }
                double factor = h * gradientNorm(e) / (e->t * e->t);
                PC_EXPECT_NEAR(paper, factor * row, 1e-13 * size);
                if (fabs(paper) > 1e-12 * size) PC_EXPECT_TRUE((paper >= 0) == (row >= 0));
            }
        freeScene(&s);
    }
    PC_EXPECT_GT(checked, 1000);
}

/* ---- thin plates ---- */

static double along(const double row[6], double vz) { return row[2] * vz; }

/* A plate of 10 mm, 10 mm above the floor, falling at 2.9 m/s, h = 0.01 s. Its centre is at 15 mm, so t = 15 / 5 = 3 and the ratio's gap is
 * 3 * 2 * 5 mm = 30 mm: N.v + d/h = -2.9 + 3 >= 0, the row lets it fall by 29 mm, and it ends 19 mm deep. The length is 10 mm:
 * -2.9 + 1 < 0, and the row acts. */
PC_TEST(EventRows, OfTheLengthCatchAThinPlateThatTheRatioLetsThrough)
{
    const double h = 0.01, vz = -2.9, z = 0.015;
    Scene s = {.pose = {{{0, 0, z}, {1, 0, 0, 0}}, {{0, 0, 0}, {1, 0, 0, 0}}}, .plane = true};
    static Gaps g;
    s.shape[0] = bruteBox(1, 1, 0.01);
    PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace((double[4]){0, 0, 1, 0}, &s.shape[1]));
    PC_ASSERT_TRUE(gapsOf(&s, 0.029, &g));
    PC_ASSERT_EQ_INT(4, g.count);
    for (int i = 0; i < 4; i++) {
        PC_EXPECT_NEAR(3, g.length[i].t, 1e-13);
        PC_EXPECT_NEAR(0.010, g.length[i].gap, 1e-15);
        PC_EXPECT_NEAR(0.030, g.ratio[i].gap, 1e-15);
        PC_EXPECT_NEAR(0.030, g.pair[i].gap, 1e-15);
        PC_EXPECT_NEAR(0.1, along(g.ratio[i].wrench, vz) + g.ratio[i].gap / h, 1e-12);
        PC_EXPECT_NEAR(-1.9, along(g.length[i].wrench, vz) + g.length[i].gap / h, 1e-12);
    }
    PC_EXPECT_NEAR(-0.019, z + h * vz - 0.005, 1e-15);
    freeScene(&s);
}

/* Pre-images: on the surfaces of the bodies as they are, apart along the normal by the event's own gap, and the event's point from them. */
static void checkPreimages(const Scene* s, const pcEvent* e, double lengths)
{
    static BruteBody body[2];
    const double* point[2] = {e->point1, e->point2};
    for (int i = 0; i < 2; i++) {
        bool scales = !(s->flags & (i == 0 ? PC_FIXED_1 : PC_FIXED_2));
        PC_ASSERT_TRUE(bruteBody(s->shape[i], s->pose + i, scales, body + i));
        PC_EXPECT_NEAR(0, (double)bruteOutside(body + i, bvOf(point[i])), 2e-9 * lengths);
        BV from = body[i].centre, image = scales ? bvAdd(from, bvScale(e->t, bvSub(bvOf(point[i]), from))) : bvOf(point[i]);
        PC_EXPECT_NEAR(0, (double)bvNorm(bvSub(image, bvOf(e->point))), 1e-13 * lengths * (1 + e->t));
    }
    PC_EXPECT_NEAR(e->gap, (double)bvDot(bvOf(e->normal), bvSub(bvOf(e->point2), bvOf(e->point1))), 1e-13 * lengths);
}

PC_TEST(EventRows, OfPlatesHundredTimesAsWideAsThickHaveTheirPointsOnThePlates)
{
    unsigned long long state = 808;
    int checked = 0;
    for (int i = 0; i < 1200; i++) {
        static pcEvent list[MOST];
        static const double gaps[] = {0, 0.002, 0.01, -0.002};
        double axis[3], tilt = i % 3 == 0 ? 0 : pow(10, bruteBetween(&state, -6, -2));
        Scene s = {.shape = {bruteBox(1, 1, 0.01), i & 1 ? bruteBox(1, 1, 0.01) : bruteBox(0.7, 0.5, 0.007)}, .flags = (unsigned)(i % 3)};
        bruteDirection(&state, 3, axis);
        double x = bruteBetween(&state, -0.5, 0.5), y = bruteBetween(&state, -0.5, 0.5), z = (i & 1 ? 0.01 : 0.0085) + gaps[i % 4];
        pcPose flat = brutePose(x, y, z, (double[3]){0, 0, 1}, bruteBetween(&state, 0, 6));
        s.pose[0] = (pcPose){{0, 0, 0}, {1, 0, 0, 0}}, s.pose[1] = bruteTurned(&flat, axis, tilt);
        PC_CASE("plate %d, tilt %g", i, tilt);
        int count = eventsOf(&s, 0.011, PC_GAP_LENGTH, list);
        PC_EXPECT_GE(count, i % 4 == 2 ? 1 : 3); /* near the margin a tilt takes events away */
        for (int k = 0; k < count; k++, checked++) checkPreimages(&s, list + k, 1);
        freeScene(&s);
    }
    PC_EXPECT_GT(checked, 4000);
}

PC_TEST(EventRows, HaveTheirPointsOnTheBodies)
{
    unsigned long long state = 909;
    int checked = 0;
    for (int i = 0; i < 900; i++) {
        static pcEvent list[MOST];
        Scene s;
        PC_CASE("scene %d", i);
        int count = randomScene(&state, i % 3, i & 1 ? 0.03 : -0.03, &s) ? eventsOf(&s, 0.05, PC_GAP_LENGTH, list) : 0;
        for (int k = 0; k < count; k++, checked++) checkPreimages(&s, list + k, 2);
        freeScene(&s);
    }
    PC_EXPECT_GT(checked, 900);
}
