/*
 * The ratio metric against libccd: metric equivalence (T 2.16) and sign.
 *
 * With D = |x2 - x1| the distance of the centres, eps the radius of a ball about each centre inside its body, and s the Euclidean
 * distance or the Minkowski depth:
 *     apart:        s / D <= rho   <= s / eps
 *     penetrating:  s / D <= |rho| <= s / (2 eps r)      (T prints s / eps, which is false when deep: see the cubes below)
 *
 * What libccd's tolerance leaves open. s is not taken from libccd on trust: adapters/ccd gives bounds, below and above, that hold
 * whatever tolerance it stopped at. The lower bound of s is used on the left and the upper bound on the right, so that no true s can
 * fail a test that the bounds pass, and how wide they are is tested too: else the test could be passed by saying nothing.
 * ROUNDING is relative and covers the last operations of either side: rho loses digits as 1e-16 / |r - 1|, and |r - 1| >= 1e-3 here.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/ccd/ccd.h"
#include "adapters/gtest/pctest.h"
#include "pcontact/metric.h"

#define ROUNDING 1e-12

/* EPA stops when |w| (h - |w|) is below its tolerance, w its nearest point: at 1e-12 the bounds of a depth s meet to about 1e-12 / s.
 * It also stops when a new point is nearer than sqrt(1e-12) to the face it should replace, so that 1e-6 may remain.
 * Deep inside it may stop for good: it replaces only the nearest face by a new point, not all that the point sees, so that its polytope
 * can fold, and its answer be half of what it should. The bounds hold there too, but are wide: for that the share of narrow ones is
 * tested instead (measured: 0.97 at r = 0.5, 0.76 at r = 0.1). */
static const double epaTolerance = 1e-12;
static const double openDepth = 2e-6;
static const double shallow = 0.8; /* r from which every depth must be narrow */
static int deepPairs, deepNarrow;

/* ---- random pairs ---- */

static double uniform(unsigned long long* state)
{
    unsigned long long z = (*state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static void onSphere(unsigned long long* state, int n, double* x)
{
    double square = 0;
    for (int i = 0; i < n; i++) {
        x[i] = sqrt(-2 * log(uniform(state))) * cos(6.283185307179586 * uniform(state));
        square += x[i] * x[i];
    }
    for (int i = 0; i < n; i++) x[i] /= sqrt(square);
}

static pcShape* hullOf(unsigned long long* state, int vertices)
{
    double* xyz = malloc(3 * (size_t)vertices * sizeof *xyz);
    pcShape* shape = NULL;
    double stretch[3] = {0.3 + uniform(state), 0.3 + uniform(state), 0.3 + uniform(state)};
    for (int i = 0; i < vertices; i++) onSphere(state, 3, xyz + 3 * i);
    for (int i = 0; i < 3 * vertices; i++) xyz[i] *= stretch[i % 3];
    PC_EXPECT_STATUS(PC_OK, pcShapeFromPoints(xyz, vertices, NULL, &shape));
    free(xyz);
    return shape;
}

static pcShape* boxOf(double x, double y, double z)
{
    pcShape* shape = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeBox((double[3]){x, y, z}, &shape));
    return shape;
}

/* A box or a hull of 4 to 400 vertices: below and above the size from which adapters/ccd climbs. */
static pcShape* randomShape(unsigned long long* state)
{
    if (uniform(state) < 0.4) return boxOf(0.3 + uniform(state), 0.3 + uniform(state), 0.3 + uniform(state));
    return hullOf(state, (int)(4 * pow(100, uniform(state))));
}

typedef struct Pair {
    pcShape* shape[2];
    pcShapeInfo info[2];
    pcCcdShape* ccd[2];
    pcCcdBody body[2]; /* also holds the poses */
    double D, eps;
    pcMetric metric;
} Pair;

static void freePair(Pair* p)
{
    for (int side = 0; side < 2; side++) {
        pcCcdShapeFree(p->ccd[side]);
        pcShapeFree(p->shape[side]);
    }
}

/* Takes over the shapes. */
static bool makePair(pcShape* first, pcShape* second, Pair* p)
{
    *p = (Pair){.shape = {first, second}};
    for (int side = 0; side < 2; side++) {
        pcStatus status = p->shape[side] ? pcShapeDescribe(p->shape[side], &p->info[side]) : PC_ERROR_ARGUMENT;
        if (status == PC_OK) status = pcCcdShapeCreate(p->shape[side], &p->ccd[side]);
        PC_EXPECT_STATUS(PC_OK, status);
        if (status != PC_OK) return false;
        p->body[side] = (pcCcdBody){.shape = p->ccd[side], .pose = {.quaternion = {1, 0, 0, 0}}};
    }
    p->eps = fmin(p->info[0].inradius, p->info[1].inradius);
    return true;
}

static void turn(const double q[4], const double v[3], double out[3])
{
    double t[3] = {2 * (q[2] * v[2] - q[3] * v[1]), 2 * (q[3] * v[0] - q[1] * v[2]), 2 * (q[1] * v[1] - q[2] * v[0])};
    out[0] = v[0] + q[0] * t[0] + q[2] * t[2] - q[3] * t[1];
    out[1] = v[1] + q[0] * t[1] + q[3] * t[0] - q[1] * t[2];
    out[2] = v[2] + q[0] * t[2] + q[1] * t[1] - q[2] * t[0];
}

static bool measure(Pair* p)
{
    double centre[2][3], square = 0;
    for (int side = 0; side < 2; side++) turn(p->body[side].pose.quaternion, p->info[side].centre, centre[side]);
    for (int k = 0; k < 3; k++) square += pow(p->body[1].pose.position[k] + centre[1][k] - p->body[0].pose.position[k] - centre[0][k], 2);
    p->D = sqrt(square);
    pcStatus status = pcMetricPair(p->shape[0], &p->body[0].pose, p->shape[1], &p->body[1].pose, 0, NULL, &p->metric);
    PC_EXPECT_STATUS(PC_OK, status);
    return status == PC_OK;
}

static void placeBody2(Pair* p, const double at[3])
{
    double centre[3];
    turn(p->body[1].pose.quaternion, p->info[1].centre, centre);
    for (int k = 0; k < 3; k++) p->body[1].pose.position[k] = at[k] - centre[k];
}

/* Random turns, body 2 in a random direction, so far that r is `ratio`: r is proportional to the distance of the centres. */
static bool placeAtRatio(unsigned long long* state, Pair* p, double ratio)
{
    double direction[3], at[3], centre[3];
    for (int side = 0; side < 2; side++) onSphere(state, 4, p->body[side].pose.quaternion);
    onSphere(state, 3, direction);
    turn(p->body[0].pose.quaternion, p->info[0].centre, centre);
    for (int k = 0; k < 3; k++) at[k] = centre[k] + direction[k];
    placeBody2(p, at);
    if (!measure(p)) return false;
    double scale = ratio / p->metric.r;
    for (int k = 0; k < 3; k++) at[k] = centre[k] + scale * direction[k];
    placeBody2(p, at);
    return measure(p);
}

typedef void PairCheck(const Pair* pair);

static void overRandomPairs(unsigned long long seed, const double* ratio, int ratios, PairCheck* check)
{
    enum { PAIRS = 400 };
    for (int i = 0; i < PAIRS; i++) {
        unsigned long long state = seed + (unsigned long long)i * 1000003u;
        Pair pair;
        bool ready = makePair(randomShape(&state), randomShape(&state), &pair);
        for (int k = 0; k < ratios && ready; k++) {
            PC_CASE("pair %d, %d and %d vertices, r=%g", i, pair.info[0].vertices, pair.info[1].vertices, ratio[k]);
            ready = placeAtRatio(&state, &pair, ratio[k]);
            if (ready) check(&pair);
        }
        freePair(&pair);
    }
}

/* ---- the reference itself ---- */

static double bruteWidth(const Pair* p, const double n[3])
{
    double top[2];
    for (int side = 0; side < 2; side++) {
        int count = 0;
        const double* v = pcShapeVertices(p->shape[side], &count);
        top[side] = -INFINITY;
        for (int i = 0; i < count; i++) {
            double w[3], sum = 0;
            turn(p->body[side].pose.quaternion, v + 3 * i, w);
            for (int k = 0; k < 3; k++) sum += n[k] * (w[k] + p->body[side].pose.position[k]);
            top[side] = fmax(top[side], side == 0 ? sum : -sum);
        }
    }
    return top[0] + top[1];
}

/* Along facet normals all corners of a facet tie. */
static void supportsAreExtreme(const Pair* p)
{
    for (int f = 0; f < p->info[0].facets; f += 1 + p->info[0].facets / 40) {
        pcFacet facet;
        double n[3];
        PC_ASSERT_STATUS(PC_OK, pcShapeFacet(p->shape[0], f, &facet));
        turn(p->body[0].pose.quaternion, facet.plane, n);
        for (int flip = 0; flip < 2; flip++) {
            for (int k = 0; k < 3; k++) n[k] = -n[k];
            PC_EXPECT_NEAR(bruteWidth(p, n), pcCcdWidth(&p->body[0], &p->body[1], n), 1e-14);
        }
    }
}

PC_TEST(CcdReference, SupportsAreExtremeAlsoWhereVerticesTie) { overRandomPairs(1, (double[1]){1.2}, 1, supportsAreExtreme); }

PC_TEST(CcdReference, KnowsTheDistanceOfBoxesFaceEdgeAndCornerApart)
{
    static const struct {
        double at[3], distance;
    } cases[] = {{{1.5, 0, 0}, 0.5}, {{1.3, 0.2, 1.4}, 0.5}, {{1.2, -1.3, 1.6}, 0.7}, {{0, 0.3, -1.0625}, 0.0625}};
    Pair pair;
    bool ready = makePair(boxOf(1, 1, 1), boxOf(1, 1, 1), &pair);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && ready; i++) {
        pcCcdGap gap = {0};
        PC_CASE("case %zu", i);
        placeBody2(&pair, cases[i].at);
        PC_EXPECT_EQ_INT(PC_CCD_APART, pcCcdDistance(&pair.body[0], &pair.body[1], &gap));
        PC_EXPECT_LE(gap.lower, cases[i].distance * (1 + ROUNDING));
        PC_EXPECT_GE(gap.upper, cases[i].distance * (1 - ROUNDING));
        PC_EXPECT_NEAR(gap.lower, gap.upper, 1e-10);
    }
    freePair(&pair);
}

PC_TEST(CcdReference, RefusesShapesWithoutEnd)
{
    pcShape *floor = NULL, *wall = NULL;
    pcCcdShape* ccd = NULL;
    PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace((const double[4]){0, 0, 1, 0}, &floor));
    PC_ASSERT_STATUS(PC_OK, pcShapeContainer(1, &wall));
    PC_EXPECT_STATUS(PC_ERROR_UNSUPPORTED, pcCcdShapeCreate(floor, &ccd));
    PC_EXPECT_STATUS(PC_ERROR_UNSUPPORTED, pcCcdShapeCreate(wall, &ccd));
    pcShapeFree(floor);
    pcShapeFree(wall);
}

/* ---- metric equivalence ---- */

static void equivalentApart(const Pair* p)
{
    pcCcdGap s = {0};
    PC_ASSERT_EQ_INT(PC_CCD_APART, pcCcdDistance(&p->body[0], &p->body[1], &s));
    PC_EXPECT_NEAR(s.lower, s.upper, 1e-9 * p->D);
    PC_EXPECT_LE(s.lower / p->D, p->metric.rho * (1 + ROUNDING));
    PC_EXPECT_LE(p->metric.rho, s.upper / p->eps * (1 + ROUNDING));
    PC_EXPECT_LE(p->metric.gap, s.upper * (1 + ROUNDING)); /* along one normal the gap is at most the distance */
}

PC_TEST(MetricEquivalence, HoldsForDistancesOfSeparatePairs)
{
    overRandomPairs(2, (double[]){1.001, 1.01, 1.1, 1.5, 3, 20}, 6, equivalentApart);
}

static void expectNarrow(double open, double allowed, double r)
{
    if (r > shallow) {
        PC_EXPECT_LE(open, allowed);
        return;
    }
    deepPairs++;
    deepNarrow += open <= allowed;
}

static void equivalentInside(const Pair* p)
{
    pcCcdSettings settings = pcCcdDefaultSettings();
    settings.epaTolerance = epaTolerance;
    pcCcdContact contact = {0};
    PC_ASSERT_EQ_INT(PC_CCD_PENETRATING, pcCcdDepth(&p->body[0], &p->body[1], &settings, NULL, &contact));
    double lower = contact.depth, upper = pcCcdWidth(&p->body[0], &p->body[1], contact.normal);
    PC_EXPECT_LE(lower, upper * (1 + ROUNDING) + 1e-14);
    expectNarrow(upper - lower, openDepth + 2 * epaTolerance / lower, p->metric.r);
    PC_EXPECT_LE(lower / p->D, -p->metric.rho * (1 + ROUNDING));
    PC_EXPECT_LE(-p->metric.rho, upper / (2 * p->eps * p->metric.r) * (1 + ROUNDING));
    PC_EXPECT_LE(lower, -p->metric.gap * (1 + ROUNDING)); /* along one normal the depth is at least the least depth */
}

PC_TEST(MetricEquivalence, HoldsForDepthsOfPenetratingPairs)
{
    deepPairs = deepNarrow = 0;
    overRandomPairs(3, (double[]){0.999, 0.99, 0.9, 0.5, 0.1}, 5, equivalentInside);
    PC_CASE("%d of %d deep pairs are narrow", deepNarrow, deepPairs);
    PC_EXPECT_GT(deepPairs, 700);
    PC_EXPECT_GT(deepNarrow, 0.7 * deepPairs);
}

PC_TEST(MetricEquivalence, UpperBoundOfTheThesisIsFalseWhenDeep)
{
    Pair pair;
    pcCcdContact contact = {0};
    pcCcdSettings settings = pcCcdDefaultSettings();
    if (makePair(boxOf(1, 1, 1), boxOf(1, 1, 1), &pair)) {
        placeBody2(&pair, (double[3]){0.1, 0, 0});
        measure(&pair);
        PC_EXPECT_EQ_INT(PC_CCD_PENETRATING, pcCcdDepth(&pair.body[0], &pair.body[1], &settings, NULL, &contact));
        PC_EXPECT_NEAR(0.9, contact.depth, 1e-12);
        PC_EXPECT_NEAR(-9, pair.metric.rho, 1e-12);
        PC_EXPECT_GT(-pair.metric.rho, 4 * contact.depth / pair.eps);
        PC_EXPECT_NEAR(-pair.metric.rho, contact.depth / (2 * pair.eps * pair.metric.r), 1e-11);
    }
    freePair(&pair);
}

/* ---- sign ---- */

/* libccd's tolerances are absolute (1e-4 and below, bodies of size 1), so |r - 1| >= 1e-3 is far from where they could decide. */
static void signsAgree(const Pair* p)
{
    pcCcdSettings settings = pcCcdDefaultSettings();
    pcCcdContact contact;
    pcCcdAnswer expected = p->metric.r < 1 ? PC_CCD_PENETRATING : PC_CCD_APART;
    PC_EXPECT_EQ_INT(expected, pcCcdMpr(&p->body[0], &p->body[1], &settings, NULL, &contact));
    PC_EXPECT_EQ_INT(expected, pcCcdMprIntersect(&p->body[0], &p->body[1], &settings));
    PC_EXPECT_EQ_INT(expected, pcCcdDepth(&p->body[0], &p->body[1], &settings, NULL, &contact));
}

PC_TEST(MetricSign, AgreesWithLibccd) { overRandomPairs(4, (double[]){0.3, 0.9, 0.99, 0.999, 1.001, 1.01, 1.1, 3}, 8, signsAgree); }
