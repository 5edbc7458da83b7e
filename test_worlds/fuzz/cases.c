/*
 * A family is a row of a table: which shapes, how they are turned, where the centre of body 2 lies seen from body 1, how far, and what
 * else. What each of them is for: numerics that are fine in general position fail where features line up exactly, or almost exactly,
 * and where lengths of very different size meet. So directions go through features, distances make r = 1 to the last bit or miss it by
 * one, and shapes are as thin, small and eccentric as method §1 says they may be. */
#include "test_worlds/fuzz/cases.h"

#include <math.h>
#include <string.h>

#define MAX_POINTS 64
#define PI 3.14159265358979323846

/* ---- random numbers ---- */

static pcRandom randomFor(uint64_t seed, uint64_t a, uint64_t b)
{
    pcRandom random = {seed * 0x2545f4914f6cdd1du + a};
    random.state = pcRandomBits(&random) + b;
    random.state = pcRandomBits(&random);
    return random;
}

static int pick(pcRandom* random, int count) { return (int)(pcRandomBits(random) % (uint64_t)count); }

static bool chance(pcRandom* random, double p) { return pcRandomUnit(random) < p; }

static double between(pcRandom* random, double low, double high) { return low + (high - low) * pcRandomUnit(random); }

static double logBetween(pcRandom* random, double low, double high) { return pow(10.0, between(random, log10(low), log10(high))); }

/* ---- small vectors ---- */

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static double norm(const double a[3]) { return sqrt(dot(a, a)); }

static void randomDirection(pcRandom* random, double d[3])
{
    double size;
    do {
        for (int i = 0; i < 3; i++) d[i] = between(random, -1.0, 1.0);
        size = norm(d);
    } while (size > 1.0 || size < 0.1);
    for (int i = 0; i < 3; i++) d[i] /= size;
}

/* Signed permutations and half turns come out exact as long as the quaternion is a small integer one. */
static void turnBy(const double quaternion[4], const double x[3], double y[3])
{
    double w = quaternion[0], a = quaternion[1], b = quaternion[2], c = quaternion[3];
    double s = w * w + a * a + b * b + c * c;
    double r[9] = {w * w + a * a - b * b - c * c, 2 * (a * b - w * c),           2 * (a * c + w * b),
                   2 * (a * b + w * c),           w * w - a * a + b * b - c * c, 2 * (b * c - w * a),
                   2 * (a * c - w * b),           2 * (b * c + w * a),           w * w - a * a - b * b + c * c};
    double t[3] = {dot(r, x) / s, dot(r + 3, x) / s, dot(r + 6, x) / s};
    memcpy(y, t, sizeof t);
}

/* ---- point sets ---- */

typedef struct Points {
    double xyz[3 * MAX_POINTS];
    int count;
} Points;

static void addPoint(Points* points, double x, double y, double z)
{
    double* p = points->xyz + 3 * points->count++;
    p[0] = x, p[1] = y, p[2] = z;
}

static void prism(Points* points, int sides, double height)
{
    for (int i = 0; i < sides; i++) {
        double angle = 2.0 * PI * i / sides;
        addPoint(points, cos(angle), sin(angle), -0.5 * height);
        addPoint(points, cos(angle), sin(angle), 0.5 * height);
    }
}

static void tetrahedron(Points* p) { addPoint(p, 1, 1, 1), addPoint(p, 1, -1, -1), addPoint(p, -1, 1, -1), addPoint(p, -1, -1, 1); }

static void cube(Points* p)
{
    for (int i = 0; i < 8; i++) addPoint(p, i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
}

static void octahedron(Points* p)
{
    addPoint(p, 1, 0, 0), addPoint(p, -1, 0, 0), addPoint(p, 0, 1, 0), addPoint(p, 0, -1, 0), addPoint(p, 0, 0, 1), addPoint(p, 0, 0, -1);
}

/* The three golden rectangles, corners (+-a, +-b, 0) and their cyclic turns: an icosahedron, and with the cube a dodecahedron. */
static void rectangles(Points* p, double a, double b)
{
    for (int i = 0; i < 4; i++) {
        double x = i & 1 ? a : -a, y = i & 2 ? b : -b;
        addPoint(p, x, y, 0), addPoint(p, 0, x, y), addPoint(p, y, 0, x);
    }
}

static void platonic(Points* p, int which)
{
    const double golden = 1.6180339887498949;
    switch (which) {
    case 0: tetrahedron(p); break;
    case 1: cube(p); break;
    case 2: octahedron(p); break;
    case 3: rectangles(p, golden, 1.0); break;
    default: cube(p), rectangles(p, 1.0 / golden, golden); break;
    }
}

/* Inside a ball, on it, or on a coarse grid (many coplanar points); at least 4, at most 50. */
static void cloud(Points* p, pcRandom* random)
{
    int count = 4 + pick(random, 47), kind = pick(random, 3);
    if (chance(random, 0.3)) count = 4 + pick(random, 5);
    for (int i = 0; i < count; i++) {
        double d[3];
        randomDirection(random, d);
        double radius = kind == 0 ? between(random, 0.2, 1.0) : 1.0;
        for (int k = 0; k < 3; k++) d[k] = kind == 2 ? round(4.0 * d[k]) / 4.0 : d[k] * radius;
        addPoint(p, d[0], d[1], d[2]);
    }
}

static void stretch(Points* p, double x, double y, double z)
{
    for (int i = 0; i < p->count; i++) p->xyz[3 * i] *= x, p->xyz[3 * i + 1] *= y, p->xyz[3 * i + 2] *= z;
}

static void shift(Points* p, const double by[3])
{
    for (int i = 0; i < 3 * p->count; i++) p->xyz[i] += by[i % 3];
}

static void turnPoints(Points* p, const double quaternion[4])
{
    for (int i = 0; i < p->count; i++) turnBy(quaternion, p->xyz + 3 * i, p->xyz + 3 * i);
}

/* ---- turns ---- */

typedef enum Turn {
    TURN_SPECIAL, /* multiples of 90, 45, 30 degrees and rational turns */
    TURN_RANDOM,
    TURN_SAME, /* both bodies alike */
    TURN_ANY
} Turn;

static void halfAngle(double quaternion[4], int axis, double degrees)
{
    double q[4] = {cos(degrees * PI / 360.0), 0.0, 0.0, 0.0};
    q[1 + axis] = sin(degrees * PI / 360.0);
    memcpy(quaternion, q, sizeof q);
}

static void specialTurn(pcRandom* random, double q[4])
{
    static const double exact[][4] = {{1, 0, 0, 0},  {1, 1, 0, 0}, {1, 0, -1, 0}, {1, 0, 0, 1}, {0, 1, 0, 0}, {0, 0, 0, 1}, {1, 1, 1, 1},
                                      {1, -1, 1, 1}, {0, 1, 1, 0}, {3, 1, 0, 0},  {2, 0, 1, 0}, {1, 0, 0, 2}, {2, 1, 1, 1}};
    int exactCount = (int)(sizeof exact / sizeof *exact);
    if (chance(random, 0.5)) {
        memcpy(q, exact[pick(random, exactCount)], sizeof exact[0]);
        return;
    }
    static const double degrees[] = {45.0, 135.0, -45.0, 30.0, 60.0, 36.0, 72.0, 15.0, 90.0};
    halfAngle(q, pick(random, 3), degrees[pick(random, (int)(sizeof degrees / sizeof *degrees))]);
}

static void randomTurn(pcRandom* random, double q[4])
{
    double size;
    do {
        for (int i = 0; i < 4; i++) q[i] = between(random, -1.0, 1.0);
        size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    } while (size > 1.0 || size < 0.1);
    for (int i = 0; i < 4; i++) q[i] /= size;
}

/* Almost the identity: parallel faces that are not quite. */
static void slightTurn(pcRandom* random, double q[4])
{
    double d[3], angle = logBetween(random, 1e-16, 1e-2);
    randomDirection(random, d);
    q[0] = 1.0;
    for (int i = 0; i < 3; i++) q[1 + i] = angle * d[i];
}

static void anyTurn(pcRandom* random, double q[4])
{
    int kind = pick(random, 5);
    if (kind < 2)
        specialTurn(random, q);
    else if (kind < 4)
        randomTurn(random, q);
    else
        slightTurn(random, q);
}

static void turnPair(pcRandom* random, Turn turn, pcPose pose[2])
{
    for (int i = 0; i < 2; i++) {
        double* q = pose[i].quaternion;
        if (i == 1 && turn == TURN_SAME)
            memcpy(q, pose[0].quaternion, sizeof pose[0].quaternion);
        else if (turn == TURN_SPECIAL || (turn == TURN_SAME && chance(random, 0.5)))
            specialTurn(random, q);
        else if (turn == TURN_ANY)
            anyTurn(random, q);
        else
            randomTurn(random, q);
    }
}

/* ---- shapes of a block ---- */

typedef enum Pool {
    POOL_BOXES,
    POOL_PRISMS,
    POOL_PLATONIC,
    POOL_HULLS,
    POOL_NEEDLES,
    POOL_PLATES,
    POOL_SIZES,
    POOL_CENTRES,
    POOL_GROUND,
    POOL_SCALED,
    POOL_MIXED,
    POOL_MILD /* the same, less so: one-sided, small and thin together pass what quadruple precision can certify */
} Pool;

static void anySolid(pcRandom* random, Points* p)
{
    switch (pick(random, 4)) {
    case 0: prism(p, 3 + pick(random, 10), between(random, 0.5, 3.0)); break;
    case 1: platonic(p, pick(random, 5)); break;
    case 2: cube(p), stretch(p, 1 + pick(random, 5), 1 + pick(random, 5), 1 + pick(random, 5)); break;
    default: cloud(p, random); break;
    }
}

static pcStatus makeBox(pcRandom* random, double unit, pcShape** out)
{
    double size[3];
    for (int i = 0; i < 3; i++) size[i] = unit * (1 + pick(random, 6));
    return pcShapeBox(size, out);
}

/* Thin along one axis (plates) or two (needles), as a box or as a hull; half the hulls lie askew in their own axes. */
static pcStatus makeThin(pcRandom* random, double scale, double thinnest, bool needle, pcShape** out)
{
    double thin = logBetween(random, thinnest, 1.0), wide = needle ? thin * between(random, 1.0, 3.0) : between(random, 0.5, 2.0);
    if (chance(random, 0.4)) {
        double size[3] = {scale, scale * wide, scale * thin};
        return pcShapeBox(size, out);
    }
    Points p = {.count = 0};
    anySolid(random, &p);
    stretch(&p, scale, scale * wide, scale * thin);
    double askew[4];
    anyTurn(random, askew);
    if (chance(random, 0.5)) turnPoints(&p, askew);
    return pcShapeFromPoints(p.xyz, p.count, NULL, out);
}

static pcStatus makeSolid(pcRandom* random, double scale, pcShape** out)
{
    if (chance(random, 0.25)) return makeBox(random, scale, out);
    Points p = {.count = 0};
    anySolid(random, &p);
    stretch(&p, scale, scale, scale);
    return pcShapeFromPoints(p.xyz, p.count, NULL, out);
}

/* A point of facet `index`: somewhere inside it, or the middle of its corners. */
static void facetPoint(const pcShape* shape, const pcFacet* facet, pcRandom* random, double point[3])
{
    const double* vertex = pcShapeVertices(shape, NULL);
    bool middle = chance(random, 0.5);
    double sum = 0.0;
    point[0] = point[1] = point[2] = 0.0;
    for (int i = 0; i < facet->count; i++) {
        double weight = middle ? 1.0 : between(random, 0.1, 1.0);
        for (int k = 0; k < 3; k++) point[k] += weight * vertex[3 * facet->vertex[i] + k];
        sum += weight;
    }
    for (int k = 0; k < 3; k++) point[k] /= sum;
}

/* A centre that is off the middle, down to 1e-9 of the way from a facet. */
static bool eccentricCentre(const pcShape* shape, pcRandom* random, double centre[3])
{
    pcShapeInfo info;
    pcFacet facet;
    if (pcShapeDescribe(shape, &info) != PC_OK) return false;
    if (pcShapeFacet(shape, pick(random, info.facets), &facet) != PC_OK) return false;
    double on[3], depth = logBetween(random, 1e-9, 1.0);
    facetPoint(shape, &facet, random, on);
    for (int k = 0; k < 3; k++) centre[k] = on[k] + depth * (info.centroid[k] - on[k]);
    return true;
}

static pcStatus makeEccentric(pcRandom* random, double scale, pcShape** out)
{
    Points p = {.count = 0};
    anySolid(random, &p);
    stretch(&p, scale, scale, scale);
    double away[3];
    randomDirection(random, away);
    for (int k = 0; k < 3; k++) away[k] *= scale * logBetween(random, 0.1, 1e3);
    if (chance(random, 0.5)) shift(&p, away);
    pcShape* plain;
    pcStatus status = pcShapeFromPoints(p.xyz, p.count, NULL, &plain);
    if (status != PC_OK) return status;
    double centre[3];
    bool found = eccentricCentre(plain, random, centre);
    pcShapeFree(plain);
    return found ? pcShapeFromPoints(p.xyz, p.count, centre, out) : PC_ERROR_INTERNAL;
}

/* About the origin, which makes differences of centres exact. */
static pcStatus makeRegular(pcRandom* random, Pool pool, pcShape** out)
{
    static const double origin[3] = {0.0, 0.0, 0.0};
    Points p = {.count = 0};
    if (pool == POOL_PRISMS)
        prism(&p, 3 + pick(random, 10), (double)(1 + pick(random, 4)));
    else
        platonic(&p, pick(random, 5));
    return pcShapeFromPoints(p.xyz, p.count, origin, out);
}

/* Normals along axes, so that normalising them is exact and heights near 0 can be judged; poses turn them anyway. */
static pcStatus makeGround(pcRandom* random, int slot, double plane[4], pcShape** out)
{
    static const double normals[][3] = {{0, 0, 1}, {0, -1, 0}, {1, 0, 0}, {0, 0, -4}};
    memcpy(plane, normals[slot % 4], 3 * sizeof *plane);
    plane[3] = chance(random, 0.3) ? 0.0 : between(random, -3.0, 3.0);
    return pcShapeHalfSpace(plane, out);
}

static pcStatus makeMixed(pcRandom* random, double smallest, double thinnest, pcShape** out)
{
    double scale = logBetween(random, smallest, 1.0);
    switch (pick(random, 4)) {
    case 0: return makeThin(random, scale, thinnest, true, out);
    case 1: return makeThin(random, scale, thinnest, false, out);
    case 2: return makeEccentric(random, scale, out);
    default: return makeSolid(random, scale, out);
    }
}

#define GROUND_SHAPES 8

/* One scale for all shapes of a block: what changes is the unit of length. */
static double blockScale(const pcCaseSet* set)
{
    static const double units[] = {1e-6, 1e6, 1e-3, 0x1p-20};
    pcRandom random = randomFor(set->seed, 77, set->block);
    return chance(&random, 0.6) ? units[pick(&random, 4)] : logBetween(&random, 1e-8, 1e8);
}

static pcStatus makeShape(pcCaseSet* set, Pool pool, int slot, pcRandom* random)
{
    pcShape** out = &set->shape[slot];
    switch (pool) {
    case POOL_BOXES: return makeBox(random, 1.0, out);
    case POOL_PRISMS:
    case POOL_PLATONIC: return makeRegular(random, pool, out);
    case POOL_NEEDLES: return makeThin(random, 1.0, 1e-9, true, out);
    case POOL_PLATES: return makeThin(random, 1.0, 1e-9, false, out);
    case POOL_SIZES: return makeSolid(random, logBetween(random, 1e-9, 1.0), out);
    case POOL_CENTRES: return makeEccentric(random, 1.0, out);
    case POOL_GROUND: return slot < GROUND_SHAPES ? makeGround(random, slot, set->plane[slot], out) : makeMixed(random, 1e-5, 1e-9, out);
    case POOL_SCALED: return makeSolid(random, blockScale(set), out);
    case POOL_MIXED: return makeMixed(random, 1e-5, 1e-9, out);
    case POOL_MILD: return makeMixed(random, 1e-3, 1e-6, out);
    default: return makeSolid(random, 1.0, out);
    }
}

/* ---- where body 2 lies ---- */

typedef enum Aim {
    AIM_GRID, /* integer and half-integer differences */
    AIM_RANDOM,
    AIM_FEATURE, /* along a vertex, an edge middle, a facet middle or a facet normal of either body */
    AIM_SUM,     /* exactly through a vertex, edge or face of the Minkowski sum */
    AIM_ANY
} Aim;

/* A feature of a body about its centre, world axes: a vertex, the middle of an edge or of a facet. */
static void featureOf(pcRandom* random, const pcShape* shape, const pcPose* pose, double k[3])
{
    pcShapeInfo info;
    pcFacet facet;
    const double* vertex = pcShapeVertices(shape, NULL);
    if (pcShapeDescribe(shape, &info) != PC_OK || pcShapeFacet(shape, pick(random, info.facets), &facet) != PC_OK) return;
    int corner = pick(random, facet.count), kind = pick(random, 3), from = corner, to = corner + 1;
    if (kind == 1) to = corner + 2;
    if (kind == 2) from = 0, to = facet.count;
    double sum[3] = {0.0, 0.0, 0.0};
    for (int i = from; i < to; i++)
        for (int a = 0; a < 3; a++) sum[a] += vertex[3 * facet.vertex[i % facet.count] + a];
    for (int a = 0; a < 3; a++) sum[a] = sum[a] / (to - from) - info.centre[a];
    turnBy(pose->quaternion, sum, k);
}

static void normalOf(pcRandom* random, const pcShape* shape, const pcPose* pose, double n[3])
{
    pcShapeInfo info;
    pcFacet facet;
    if (pcShapeDescribe(shape, &info) != PC_OK || pcShapeFacet(shape, pick(random, info.facets), &facet) != PC_OK) return;
    turnBy(pose->quaternion, facet.plane, n);
}

static double outradiusOf(const pcShape* shape)
{
    pcShapeInfo info;
    return pcShapeDescribe(shape, &info) == PC_OK ? info.outradius : 1.0;
}

static void aimSum(pcRandom* random, const pcScene* scene, double c[3])
{
    double k1[3] = {1.0, 0.0, 0.0}, k2[3] = {0.0, 0.0, 0.0};
    featureOf(random, scene->shape[0], &scene->pose[0], k1);
    featureOf(random, scene->shape[1], &scene->pose[1], k2);
    double t = ldexp(1.0, pick(random, 5) - 2);
    if (chance(random, 0.3)) t = 1.0;
    for (int i = 0; i < 3; i++) c[i] = t * (k1[i] - k2[i]);
}

static void aimGrid(pcRandom* random, double c[3])
{
    double unit = chance(random, 0.5) ? 1.0 : 0.5;
    for (int i = 0; i < 3; i++) c[i] = chance(random, 0.3) ? 0.0 : unit * (pick(random, 17) - 8);
}

static void aimFeature(pcRandom* random, const pcScene* scene, double c[3])
{
    int body = pick(random, 2);
    double d[3] = {1.0, 0.0, 0.0};
    if (chance(random, 0.4))
        normalOf(random, scene->shape[body], &scene->pose[body], d);
    else
        featureOf(random, scene->shape[body], &scene->pose[body], d);
    double radii = outradiusOf(scene->shape[0]) + outradiusOf(scene->shape[1]);
    double t = (chance(random, 0.5) ? -1.0 : 1.0) * logBetween(random, 1e-3, 10.0) * radii / fmax(norm(d), 1e-300);
    for (int i = 0; i < 3; i++) c[i] = t * d[i];
}

static void aimRandom(pcRandom* random, const pcScene* scene, double c[3])
{
    double radii = outradiusOf(scene->shape[0]) + outradiusOf(scene->shape[1]);
    double far = logBetween(random, 0.01, 100.0);
    randomDirection(random, c);
    for (int i = 0; i < 3; i++) c[i] *= far * radii;
}

static void aimAt(pcRandom* random, Aim aim, const pcScene* scene, double c[3])
{
    if (aim == AIM_ANY) aim = (Aim)(1 + pick(random, 3));
    switch (aim) {
    case AIM_GRID: aimGrid(random, c); break;
    case AIM_FEATURE: aimFeature(random, scene, c); break;
    case AIM_SUM: aimSum(random, scene, c); break;
    default: aimRandom(random, scene, c); break;
    }
}

/* Puts the centre of body 2 at c from the centre of body 1. */
static void place(pcScene* scene, const double c[3])
{
    double x[2][3];
    for (int i = 0; i < 2; i++) {
        pcShapeInfo info;
        if (pcShapeDescribe(scene->shape[i], &info) != PC_OK) return;
        turnBy(scene->pose[i].quaternion, info.centre, x[i]);
    }
    for (int k = 0; k < 3; k++) scene->pose[1].position[k] = scene->pose[0].position[k] + (c[k] + (x[0][k] - x[1][k]));
}

/* Moves the pair to r = 1, or to the last few bits beside it. The library says where that is; whether it is right is judged later. */
static void settle(pcRandom* random, pcScene* scene)
{
    static const double beside[] = {0.0, 0.0, 0x1p-52, -0x1p-52, 1e-14, -1e-12, 1e-9, -1e-6, 1e-3, -1e-3};
    double off = beside[pick(random, (int)(sizeof beside / sizeof *beside))];
    pcMetric m;
    if (pcMetricPair(scene->shape[0], &scene->pose[0], scene->shape[1], &scene->pose[1], scene->flags, NULL, &m) != PC_OK) return;
    for (int k = 0; k < 3; k++) scene->pose[1].position[k] -= m.normal[k] * m.gap * (1.0 + off);
}

/* ---- extras ---- */

#define EXTRA_SETTLE 1u /* half of the cases are brought to r = 1 */
#define EXTRA_NOISE 2u  /* some coordinates are one ulp off; a zero, one ulp of 1 */
#define EXTRA_FIXED 4u  /* one body does not scale */
#define EXTRA_FAR 8u    /* 1e3 to 1e6 sizes from the origin */
#define EXTRA_SCALE_Q 16u
#define EXTRA_MOTION 32u
#define EXTRA_SELF 64u /* a shape against itself */

static void noise(pcRandom* random, pcScene* scene)
{
    for (int i = 0; i < 6; i++) {
        double* x = &scene->pose[i / 3].position[i % 3];
        double up = chance(random, 0.5) ? 1.0 : -1.0;
        if (chance(random, 0.2)) *x = *x == 0.0 ? up * 0x1p-53 : nextafter(*x, up * HUGE_VAL);
        double* q = &scene->pose[i / 3].quaternion[i % 3];
        if (chance(random, 0.1) && *q != 0.0) *q = nextafter(*q, 0.0);
    }
}

static void stretchQuaternion(pcRandom* random, double q[4])
{
    double factor = chance(random, 0.2) ? logBetween(random, 1e-100, 1e100) : logBetween(random, 1e-3, 1e3);
    for (int i = 0; i < 4; i++) q[i] *= factor;
}

/* Body 1 goes far away; body 2 follows when it is placed. */
static void goFar(pcRandom* random, pcScene* scene)
{
    double radii = outradiusOf(scene->shape[0]) + outradiusOf(scene->shape[1]), d[3];
    randomDirection(random, d);
    double far = radii * logBetween(random, 1e3, 1e6);
    for (int i = 0; i < 3; i++) scene->pose[0].position[i] = far * d[i];
}

/* A few steps of about half a degree and a thousandth of the size, sometimes one without any motion. */
static void setMotion(pcRandom* random, pcCase* c)
{
    double size = outradiusOf(c->scene.shape[0]), angle = chance(random, 0.2) ? 0.0 : logBetween(random, 1e-6, 1e-2);
    double step = chance(random, 0.2) ? 0.0 : size * logBetween(random, 1e-6, 1e-2);
    c->steps = 4;
    randomDirection(random, c->turn);
    randomDirection(random, c->move);
    for (int i = 0; i < 3; i++) c->turn[i] *= angle, c->move[i] *= step;
}

void pcCaseAdvance(pcCase* c)
{
    double* q = c->scene.pose[0].quaternion;
    const double* t = c->turn;
    double p[4] = {q[0] - t[0] * q[1] - t[1] * q[2] - t[2] * q[3], q[1] + t[0] * q[0] + t[1] * q[3] - t[2] * q[2],
                   q[2] + t[1] * q[0] + t[2] * q[1] - t[0] * q[3], q[3] + t[2] * q[0] + t[0] * q[2] - t[1] * q[1]};
    memcpy(q, p, sizeof p);
    for (int i = 0; i < 3; i++) c->scene.pose[0].position[i] += c->move[i];
}

/* ---- half-spaces ---- */

/* Heights of both signs, near 0 too. */
static double groundHeight(pcRandom* random, double size)
{
    double sign = chance(random, 0.3) ? -1.0 : 1.0;
    if (chance(random, 0.1)) return 0.0;
    return sign * size * logBetween(random, chance(random, 0.2) ? 1e-12 : 0.01, 10.0);
}

static void placeOverGround(pcRandom* random, pcScene* scene, int ground)
{
    int body = 1 - ground;
    const double* plane = scene->plane;
    double size = outradiusOf(scene->shape[body]), length = norm(plane), side[3], at[3];
    double height = groundHeight(random, size);
    randomDirection(random, side);
    for (int i = 0; i < 3; i++) at[i] = plane[i] / length * (plane[3] / length + height);
    /* Sideways along the surface: the height stays, up to rounding. */
    for (int i = 0; i < 3; i++) at[i] += plane[i] == 0.0 ? 3.0 * size * side[i] : 0.0;
    pcShapeInfo info;
    if (pcShapeDescribe(scene->shape[body], &info) != PC_OK) return;
    double x[3];
    turnBy(scene->pose[ground].quaternion, at, at);
    turnBy(scene->pose[body].quaternion, info.centre, x);
    for (int i = 0; i < 3; i++) scene->pose[body].position[i] = scene->pose[ground].position[i] + (at[i] - x[i]);
}

static void makeGroundCase(const pcCaseSet* set, pcRandom* random, pcScene* scene)
{
    int ground = pick(random, 2), slot = pick(random, GROUND_SHAPES);
    scene->shape[ground] = set->shape[slot];
    scene->plane = set->plane[slot];
    scene->shape[1 - ground] = set->shape[GROUND_SHAPES + pick(random, PC_SET_SHAPES - GROUND_SHAPES)];
    turnPair(random, TURN_ANY, scene->pose);
    if (chance(random, 0.3))
        for (int i = 0; i < 3; i++) scene->pose[ground].position[i] = between(random, -5.0, 5.0);
    scene->flags = (unsigned)pick(random, 2) ? 0u : ground == 0 ? PC_FIXED_1 : PC_FIXED_2;
    placeOverGround(random, scene, ground);
}

/* ---- families ---- */

typedef struct Family {
    const char* name;
    Pool pool;
    Turn turn;
    Aim aim;
    unsigned extras;
} Family;

static const Family families[] = {
    {"boxes", POOL_BOXES, TURN_SPECIAL, AIM_GRID, EXTRA_NOISE},
    {"boxes_touching", POOL_BOXES, TURN_ANY, AIM_FEATURE, EXTRA_SETTLE | EXTRA_NOISE},
    {"prisms", POOL_PRISMS, TURN_SPECIAL, AIM_GRID, EXTRA_NOISE},
    {"prisms_stacked", POOL_PRISMS, TURN_SAME, AIM_FEATURE, EXTRA_SETTLE},
    {"platonic", POOL_PLATONIC, TURN_SPECIAL, AIM_SUM, EXTRA_NOISE},
    {"self", POOL_HULLS, TURN_SAME, AIM_FEATURE, EXTRA_SELF | EXTRA_SETTLE},
    {"rays", POOL_HULLS, TURN_SPECIAL, AIM_SUM, EXTRA_NOISE},
    {"rays_turned", POOL_HULLS, TURN_ANY, AIM_SUM, EXTRA_NOISE},
    {"needles", POOL_NEEDLES, TURN_ANY, AIM_ANY, EXTRA_SETTLE},
    {"plates", POOL_PLATES, TURN_ANY, AIM_ANY, EXTRA_SETTLE},
    {"plates_aligned", POOL_PLATES, TURN_SAME, AIM_FEATURE, EXTRA_SETTLE},
    {"sizes", POOL_SIZES, TURN_ANY, AIM_ANY, EXTRA_SETTLE},
    {"hulls", POOL_HULLS, TURN_RANDOM, AIM_RANDOM, EXTRA_SETTLE},
    {"centres", POOL_CENTRES, TURN_ANY, AIM_ANY, EXTRA_SETTLE},
    {"fixed", POOL_HULLS, TURN_ANY, AIM_ANY, EXTRA_FIXED | EXTRA_SETTLE},
    {"fixed_plates", POOL_PLATES, TURN_ANY, AIM_ANY, EXTRA_FIXED | EXTRA_SETTLE},
    {"fixed_mixed", POOL_MILD, TURN_ANY, AIM_ANY, EXTRA_FIXED | EXTRA_SETTLE},
    {"ground", POOL_GROUND, TURN_ANY, AIM_RANDOM, 0},
    {"scaled", POOL_SCALED, TURN_ANY, AIM_ANY, EXTRA_SETTLE},
    {"far", POOL_HULLS, TURN_ANY, AIM_ANY, EXTRA_FAR | EXTRA_SETTLE},
    {"quaternions", POOL_HULLS, TURN_ANY, AIM_ANY, EXTRA_SCALE_Q},
    {"mixed", POOL_MIXED, TURN_ANY, AIM_ANY, EXTRA_SETTLE | EXTRA_SCALE_Q},
    {"motion", POOL_HULLS, TURN_ANY, AIM_ANY, EXTRA_MOTION | EXTRA_SETTLE},
    {"motion_boxes", POOL_BOXES, TURN_SPECIAL, AIM_FEATURE, EXTRA_MOTION | EXTRA_SETTLE},
    {"motion_mixed", POOL_MILD, TURN_ANY, AIM_ANY, EXTRA_MOTION | EXTRA_SETTLE | EXTRA_FIXED},
};

int pcFamilyCount(void) { return (int)(sizeof families / sizeof *families); }

const char* pcFamilyName(int family) { return family >= 0 && family < pcFamilyCount() ? families[family].name : NULL; }

int pcFamilyByName(const char* name)
{
    for (int i = 0; i < pcFamilyCount(); i++)
        if (strcmp(families[i].name, name) == 0) return i;
    return -1;
}

bool pcCaseSetMake(uint64_t seed, int family, uint64_t block, pcCaseSet* out)
{
    memset(out, 0, sizeof *out);
    out->family = family, out->seed = seed, out->block = block;
    pcRandom random = randomFor(seed, (uint64_t)family * 2u + 1u, block);
    for (int slot = 0; slot < PC_SET_SHAPES; slot++) {
        int left = 20;
        while (left > 0 && makeShape(out, families[family].pool, slot, &random) != PC_OK) out->refused++, left--;
        if (left == 0) {
            pcCaseSetFree(out);
            return false;
        }
    }
    return true;
}

void pcCaseSetFree(pcCaseSet* set)
{
    for (int i = 0; i < PC_SET_SHAPES; i++) pcShapeFree(set->shape[i]);
    memset(set->shape, 0, sizeof set->shape);
}

static void makePairCase(const pcCaseSet* set, const Family* family, pcRandom* random, pcCase* out)
{
    pcScene* scene = &out->scene;
    unsigned extras = family->extras;
    int first = pick(random, PC_SET_SHAPES), second = extras & EXTRA_SELF ? first : pick(random, PC_SET_SHAPES);
    scene->shape[0] = set->shape[first], scene->shape[1] = set->shape[second];
    turnPair(random, family->turn, scene->pose);
    if (extras & EXTRA_SCALE_Q) stretchQuaternion(random, scene->pose[pick(random, 2)].quaternion);
    if (extras & EXTRA_FAR) goFar(random, scene);
    if (extras & EXTRA_FIXED) scene->flags = pick(random, 2) ? PC_FIXED_1 : PC_FIXED_2;
    double c[3] = {1.0, 0.0, 0.0};
    aimAt(random, family->aim, scene, c);
    place(scene, c);
    if (extras & EXTRA_SETTLE && chance(random, 0.5)) settle(random, scene);
    if (extras & EXTRA_NOISE && chance(random, 0.5)) noise(random, scene);
    if (extras & EXTRA_MOTION) setMotion(random, out);
}

void pcCaseMake(const pcCaseSet* set, int index, pcCase* out)
{
    memset(out, 0, sizeof *out);
    out->steps = 1;
    const Family* family = &families[set->family];
    uint64_t number = set->block * PC_BLOCK_CASES + (uint64_t)index;
    pcRandom random = randomFor(set->seed, (uint64_t)set->family * 2u, number);
    if (family->pool == POOL_GROUND)
        makeGroundCase(set, &random, &out->scene);
    else
        makePairCase(set, family, &random, out);
}
