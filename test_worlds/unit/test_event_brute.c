/*
 * Events against exhaustion: every corner with every face, every edge with every edge, each a 4x4 system in long double (T 3.5); and
 * r as the maximum over components (T 3.13), every four rows with a linear system of their own.
 */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/brute_events.h"

enum { MOST = 512 };

typedef struct Pair {
    pcShape* shape[2];
    pcPose pose[2];
    unsigned flags;
    BruteBody body[2];
} Pair;

static pcShape* smallShape(unsigned long long* state)
{
    double kind = bruteUniform(state);
    if (kind < 0.3) return bruteBox(bruteBetween(state, 0.4, 1.2), bruteBetween(state, 0.4, 1.2), bruteBetween(state, 0.4, 1.2));
    return bruteHull(state, kind < 0.5 ? 4 : 4 + (int)(9 * bruteUniform(state)));
}

/* A fixed body that the moving centre is inside of scales as well: the one-sided ratio would be 0. */
static bool fillBodies(Pair* p)
{
    for (int i = 0; i < 2; i++)
        if (!bruteBody(p->shape[i], p->pose + i, !(p->flags & (i == 0 ? PC_FIXED_1 : PC_FIXED_2)), p->body + i)) return false;
    for (int i = 0; i < 2; i++)
        if (!p->body[i].scales && bruteOutside(p->body + i, p->body[1 - i].centre) <= 0) p->body[i].scales = true;
    return true;
}

/* Centres so far apart in a random direction that r is about `ratio`: r is proportional to that distance two-sided, and one-sided the
 * distance between touching and far is searched by halving. */
static bool placeAtRatio(Pair* p, const double direction[3], double ratio)
{
    double low = 0.01, high = 6;
    pcShapeInfo info;
    BV c1, c2;
    if (pcShapeDescribe(p->shape[0], &info) != PC_OK) return false;
    c1 = brutePlace(p->pose, info.centre);
    memset(p->pose[1].position, 0, sizeof p->pose[1].position);
    if (pcShapeDescribe(p->shape[1], &info) != PC_OK) return false;
    c2 = brutePlace(p->pose + 1, info.centre);
    for (int i = 0; i < 40; i++) {
        double middle = 0.5 * (low + high);
        BV at = bvSub(bvAdd(c1, bvScale(middle, bvOf(direction))), c2);
        p->pose[1].position[0] = (double)at.x, p->pose[1].position[1] = (double)at.y, p->pose[1].position[2] = (double)at.z;
        pcMetric m;
        if (pcMetricPair(p->shape[0], p->pose, p->shape[1], p->pose + 1, p->flags, NULL, &m) != PC_OK) return false;
        if (m.r < ratio)
            low = middle;
        else
            high = middle;
        if (i > 3 && fabs(m.r - ratio) < 1e-3) break;
    }
    return true;
}

static bool randomPair(unsigned long long* state, unsigned flags, double ratio, Pair* p)
{
    double direction[3];
    *p = (Pair){.flags = flags};
    for (int i = 0; i < 2; i++) {
        p->shape[i] = smallShape(state);
        bruteDirection(state, 4, p->pose[i].quaternion);
    }
    bruteDirection(state, 3, direction);
    return p->shape[0] && p->shape[1] && placeAtRatio(p, direction, ratio) && fillBodies(p);
}

static void freePair(Pair* p)
{
    pcShapeFree(p->shape[0]);
    pcShapeFree(p->shape[1]);
}

static bool same(const pcEvent* e, const BruteEvent* b)
{
    return e->kind == b->kind && fabsl(e->t - b->t) <= 1e-12L * b->t && bvNorm(bvSub(bvOf(e->point), b->x)) <= 1e-9L &&
           bvNorm(bvSub(bvOf(e->normal), b->n)) <= 1e-9L;
}

static bool roughly(const pcEvent* e, const BruteEvent* b)
{
    return e->kind == b->kind && fabsl(e->t - b->t) <= 1e-7L * b->t && bvNorm(bvSub(bvOf(e->point), b->x)) <= 1e-5L;
}

/* A crossing of edges that are nearly parallel is badly conditioned: 1e-12 can be asked of the others only. */
static bool wellPosed(const Pair* p, const BruteEvent* b)
{
    if (b->kind != PC_EDGE_EDGE) return b->D > 1e-2L;
    BV d[2];
    for (int i = 0; i < 2; i++) {
        const int* v = p->body[i].edge[b->feature[i]].vertex;
        d[i] = bvSub(p->body[i].vertex[v[1]], p->body[i].vertex[v[0]]);
    }
    return b->D > 1e-2L && bvNorm(bvCross(d[0], d[1])) > 1e-2L * bvNorm(d[0]) * bvNorm(d[1]);
}

/* An edge takes part if one of its facets faces the other body: `towards` is the pair's normal, seen from this body. */
static bool edgeFaces(const BruteBody* body, int edge, BV towards)
{
    const int* f = body->edge[edge].facet;
    return fmaxl(bvDot(body->normal[f[0]], towards), bvDot(body->normal[f[1]], towards)) > 1e-7L;
}

static bool edgesFace(const Pair* p, const BruteEvent* b, BV normal)
{
    if (b->kind != PC_EDGE_EDGE) return true;
    return edgeFaces(p->body, b->feature[0], normal) && edgeFaces(p->body + 1, b->feature[1], bvScale(-1, normal));
}

/* What find.c documents, with a hand's breadth on either side: sure events must come, only possible ones may. */
static bool isSure(const Pair* p, const BruteEvent* b, double margin)
{
    const long double away = 1e-7L;
    return wellPosed(p, b) && b->gap <= margin - away && b->apart <= 2 * margin - away && b->facing >= away && b->leaves <= away * away;
}

static bool atCorner(const BruteBody* body, BV x)
{
    for (int i = 0; i < body->vertices; i++)
        if (bvNorm(bvSub(body->vertex[i], x)) < 1e-7L) return true;
    return false;
}

/* Where a corner meets an edge or a corner, several events are one: only its place can be asked for. */
static bool isMerged(const Pair* p, const BruteEvent* b)
{
    bool corner1 = atCorner(p->body, b->point[0]), corner2 = atCorner(p->body + 1, b->point[1]);
    return b->kind == PC_EDGE_EDGE ? corner1 || corner2 : corner1 && corner2;
}

/* The event that decides r. */
static const BruteEvent* deciding(const BruteEvent* brute, int all)
{
    const BruteEvent* best = brute;
    for (int k = 1; k < all; k++)
        if (brute[k].optimal && (!best->optimal || brute[k].t < best->t)) best = brute + k;
    return best;
}

typedef struct Tally {
    int returned, sure, pairs;
} Tally;

static void expectSameEvents(const Pair* p, double margin, Tally* tally)
{
    static BruteEvent brute[4096];
    static pcEvent events[MOST];
    pcEventSettings settings = pcDefaultEventSettings();
    settings.margin = margin;
    int count = -1, all = bruteEvents(p->body, p->body + 1, 1e-8L, brute, 4096);
    PC_ASSERT_GT(all, 0);
    PC_ASSERT_STATUS(PC_OK,
                     pcEventsOfPair(p->shape[0], p->pose, p->shape[1], p->pose + 1, p->flags, &settings, NULL, events, MOST, &count));
    PC_ASSERT_LE(count, MOST);
    tally->pairs++;
    for (int i = 0; i < count; i++, tally->returned++) {
        bool found = false;
        for (int k = 0; k < all && !found; k++)
            found = same(events + i, brute + k) || (!wellPosed(p, brute + k) && roughly(events + i, brute + k));
        if (!found)
            PC_FAIL("event %d of %d, kind %d, t = %.15g, is not among the %d of exhaustion", i, count, (int)events[i].kind, events[i].t,
                    all);
        PC_EXPECT_LE(events[i].gap, margin + 1e-8);
    }
    const BruteEvent* decides = deciding(brute, all);
    if (decides->gap > margin - 1e-7L) return; /* events are looked for only where the pair itself is near */
    for (int k = 0; k < all; k++) {
        if (!isSure(p, brute + k, margin) || isMerged(p, brute + k) || !edgesFace(p, brute + k, decides->n)) continue;
        bool found = false;
        for (int i = 0; i < count && !found; i++) found = same(events + i, brute + k);
        if (!found)
            PC_FAIL("missing: kind %d, features %d %d, t = %.15Lg, gap %Lg, apart %Lg, facing %Lg", (int)brute[k].kind, brute[k].feature[0],
                    brute[k].feature[1], brute[k].t, brute[k].gap, brute[k].apart, brute[k].facing);
        tally->sure++;
    }
}

static Tally compareWithExhaustion(unsigned long long seed, unsigned flags, int pairs)
{
    unsigned long long state = seed;
    Tally tally = {0, 0, 0};
    for (int i = 0; i < pairs; i++) {
        static Pair p;
        double margin = bruteBetween(&state, 0.01, 0.1), ratio = bruteBetween(&state, 0.9, 1.1);
        PC_CASE("flags %u, pair %d", flags, i);
        if (randomPair(&state, flags, ratio, &p)) expectSameEvents(&p, margin, &tally);
        freePair(&p);
    }
    return tally;
}

PC_TEST(EventsByExhaustion, AreTheEventsOfTwoSidedPairs)
{
    Tally t = compareWithExhaustion(1001, 0, 1500);
    PC_EXPECT_GT(t.pairs, 1400);
    PC_EXPECT_GT(t.sure, 2000);
}

PC_TEST(EventsByExhaustion, AreTheEventsOverAFixedBody)
{
    for (unsigned flags = 1; flags <= 2; flags++) {
        Tally t = compareWithExhaustion(1002, flags, 700);
        PC_EXPECT_GT(t.pairs, 600);
        PC_EXPECT_GT(t.sure, 900);
    }
}

/* T 3.14's events touch no earlier than the bodies do. */
PC_TEST(EventsByExhaustion, HaveTheRatioAsTheirLeast)
{
    unsigned long long state = 1003;
    static BruteEvent brute[4096];
    for (int i = 0; i < 1500; i++) {
        static Pair p;
        pcMetric m;
        PC_CASE("pair %d", i);
        if (randomPair(&state, (unsigned)(i % 3), bruteBetween(&state, 0.7, 1.5), &p)) {
            int all = bruteEvents(p.body, p.body + 1, 1e-15L, brute, 4096);
            PC_ASSERT_GT(all, 0);
            PC_ASSERT_STATUS(PC_OK, pcMetricPair(p.shape[0], p.pose, p.shape[1], p.pose + 1, p.flags, NULL, &m));
            long double least = brute[0].t;
            for (int k = 1; k < all; k++) least = fminl(least, brute[k].t);
            PC_EXPECT_REL((double)least, m.r, 1e-12);
        }
        freePair(&p);
    }
}

PC_TEST(EventsByExhaustion, GiveTheRatioAsTheMaximumOverComponents)
{
    unsigned long long state = 1004;
    for (int i = 0; i < 400; i++) {
        static Pair p;
        pcMetric m;
        double direction[3], ratio = bruteBetween(&state, 0.3, 3);
        PC_CASE("pair %d", i);
        p = (Pair){.flags = (unsigned)(i / 4 % 3)};
        for (int k = 0; k < 2; k++) {
            p.shape[k] = (i >> k & 1) ? bruteBox(bruteBetween(&state, 0.4, 1.2), 1, bruteBetween(&state, 0.4, 1.2)) : bruteHull(&state, 4);
            bruteDirection(&state, 4, p.pose[k].quaternion);
        }
        bruteDirection(&state, 3, direction);
        PC_ASSERT_TRUE(placeAtRatio(&p, direction, p.flags ? fmax(ratio, 0.5) : ratio) && fillBodies(&p));
        PC_ASSERT_STATUS(PC_OK, pcMetricPair(p.shape[0], p.pose, p.shape[1], p.pose + 1, p.flags, NULL, &m));
        PC_EXPECT_REL((double)bruteComponents(p.body, p.body + 1), m.r, 1e-12);
        freePair(&p);
    }
}
