/*
 * Metric, distance and events of a pair of shapes whose poses are bytes. Answers are judged from both sides by code of its own: the normal by
 * the support functions of the two bodies, which prove r from below, the common point by their gauges, which prove it from above:
 *
 *     n.(x2 - x1) = s1 h1(n) + s2 h2(-n),      gauge_i(point - x_i) <= s_i,      s_i = r, or 1 where a body does not scale
 */
#include "pcontact/metric.h"

#include <float.h>

#include "test_worlds/fuzz/targets/target.h"

typedef struct Body {
    pcShape* shape;
    pcShapeInfo info;
    double plane[4]; /* of a half-space */
} Body;

enum { HULL, BOX, NEEDLE, PLATE, TETRAHEDRON, PRISM, SPHERE, ELLIPSOID, CAPSULE, CYLINDER, HALF_SPACE, CONTAINER, MESH, BODIES };

static Body bodies[BODIES];

/* ---- the bodies ---- */

static void keep(int which, pcStatus status)
{
    REQUIRE(status == PC_OK && pcShapeDescribe(bodies[which].shape, &bodies[which].info) == PC_OK, "%s", pcLastError());
}

static void makeBodies(void)
{
    static const double tetrahedron[] = {1, 1, 1, -1, -1, 1, -1, 1, -1, 1, -1, -1};
    static const double floor[4] = {0, 0, 1, 0};
    static const double ground[] = {-3, -3, 0, 3, -3, 0, 3, 3, 0, -3, 3, 0, 0, 0, 1};
    static const int triangles[] = {0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4};
    double hull[3 * 20], prism[3 * 12];
    for (int i = 0; i < 20; i++) hull[3 * i] = cos(i), hull[3 * i + 1] = 0.8 * sin(2.5 * i), hull[3 * i + 2] = 0.7 * cos(1.7 * i + 1);
    for (int i = 0; i < 12; i++)
        prism[3 * i] = cos(i * 3.14159265358979 / 3), prism[3 * i + 1] = sin(i * 3.14159265358979 / 3),
                  prism[3 * i + 2] = i < 6 ? -0.25 : 0.25;
    keep(HULL, pcShapeFromPoints(hull, 20, NULL, &bodies[HULL].shape));
    keep(BOX, pcShapeBox((double[]){1, 2, 0.5}, &bodies[BOX].shape));
    keep(NEEDLE, pcShapeBox((double[]){1, 0.01, 0.01}, &bodies[NEEDLE].shape));
    keep(PLATE, pcShapeBox((double[]){2, 2, 0.01}, &bodies[PLATE].shape));
    keep(TETRAHEDRON, pcShapeFromPoints(tetrahedron, 4, NULL, &bodies[TETRAHEDRON].shape));
    keep(PRISM, pcShapeFromPoints(prism, 12, NULL, &bodies[PRISM].shape));
    keep(SPHERE, pcShapeSphere(0.5, &bodies[SPHERE].shape));
    keep(ELLIPSOID, pcShapeEllipsoid((double[]){1, 0.5, 0.25}, &bodies[ELLIPSOID].shape));
    keep(CAPSULE, pcShapeCapsule(0.25, 1, &bodies[CAPSULE].shape));
    keep(CYLINDER, pcShapeCylinder(0.5, 1, &bodies[CYLINDER].shape));
    keep(HALF_SPACE, pcShapeHalfSpace(floor, &bodies[HALF_SPACE].shape));
    keep(CONTAINER, pcShapeContainer(3, &bodies[CONTAINER].shape));
    keep(MESH, pcShapeMesh(ground, 5, triangles, 4, &bodies[MESH].shape));
}

/* ---- supports and gauges ---- */

static double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Into the axes of the body, or by `out` out of them: v + 2 w (q x v) + 2 q x (q x v) with q or its conjugate. */
static void turn(const double quaternion[4], bool out, const double v[3], double to[3])
{
    double length = sqrt(dot(quaternion, quaternion) + quaternion[3] * quaternion[3]), sign = out ? 1.0 : -1.0, q[3], t[3];
    double w = quaternion[0] / length;
    for (int k = 0; k < 3; k++) q[k] = sign * quaternion[1 + k] / length;
    for (int k = 0; k < 3; k++) t[k] = 2.0 * (q[(k + 1) % 3] * v[(k + 2) % 3] - q[(k + 2) % 3] * v[(k + 1) % 3]);
    for (int k = 0; k < 3; k++) to[k] = v[k] + w * t[k] + q[(k + 1) % 3] * t[(k + 2) % 3] - q[(k + 2) % 3] * t[(k + 1) % 3];
}

/* How far the body reaches beyond its centre along a unit direction of the world. */
static double supportOf(const Body* body, const pcPose* pose, const double direction[3])
{
    const pcShapeInfo* i = &body->info;
    double d[3], most = -HUGE_VAL;
    int count;
    turn(pose->quaternion, false, direction, d);
    const double* vertex = pcShapeVertices(body->shape, &count);
    for (int k = 0; k < count; k++) most = fmax(most, dot(d, vertex + 3 * k) - dot(d, i->centre));
    if (count > 0) return most;
    double round =
        sqrt(d[0] * d[0] * i->semi[0] * i->semi[0] + d[1] * d[1] * i->semi[1] * i->semi[1] + d[2] * d[2] * i->semi[2] * i->semi[2]);
    return round + 0.5 * i->length * fabs(d[2]);
}

/* By how much p leaves the body grown to `scale` about its centre, a length; p in the body's axes, from its centre. */
static double leaves(const Body* body, double scale, const double p[3])
{
    const pcShapeInfo* i = &body->info;
    double most = -HUGE_VAL, across = hypot(p[0], p[1]), beyond = fmax(fabs(p[2]) - 0.5 * scale * i->length, 0.0);
    for (int k = 0; k < i->facets; k++) {
        pcFacet f;
        if (pcShapeFacet(body->shape, k, &f) == PC_OK) most = fmax(most, dot(f.plane, p) - scale * (f.plane[3] - dot(f.plane, i->centre)));
    }
    if (i->facets > 0) return most;
    switch (i->kind) {
    case PC_SHAPE_CYLINDER: return fmax(across - scale * i->semi[0], beyond);
    case PC_SHAPE_CAPSULE: return hypot(across, beyond) - scale * i->semi[0];
    default: {
        double gauge = 0.0;
        for (int k = 0; k < 3; k++) gauge = hypot(gauge, p[k] / i->semi[k]);
        return (gauge - scale) * fmin(i->semi[0], fmin(i->semi[1], i->semi[2])); /* at least, for gauges near the scale */
    }
    }
}

/* ---- the pair ---- */

typedef struct Pair {
    const Body* body[2];
    pcPose pose[2];
    unsigned flags;
} Pair;

static pcPose takePose(Bytes* b)
{
    static const double odd[6][4] = {{1, 0, 0, 0}, {1, 1, 0, 0}, {1, 0, 1, 0}, {1, 0, 0, 1}, {1, 1, 1, 1}, {0, 1, 1, 0}};
    pcPose pose;
    int kind = takeBelow(b, 8);
    for (int k = 0; k < 3; k++) pose.position[k] = kind & 1 ? takeFine(b, 3.0) : takeGrid(b);
    if (kind < 6) memcpy(pose.quaternion, odd[takeBelow(b, 6)], sizeof pose.quaternion);
    for (int k = 0; k < 4 && kind >= 6; k++) pose.quaternion[k] = takeFine(b, 1.0);
    return pose;
}

static bool isConvex(const Body* body) { return body - bodies < HALF_SPACE; }

static void centreOf(const Pair* p, int i, double out[3])
{
    turn(p->pose[i].quaternion, true, p->body[i]->info.centre, out);
    for (int k = 0; k < 3; k++) out[k] += p->pose[i].position[k];
}

/* n.(x2 - x1) and the reach of both bodies towards each other. */
typedef struct Across {
    double way, reach[2], size;
} Across;

static Across across(const Pair* p, const double n[3])
{
    double x[2][3], back[3] = {-n[0], -n[1], -n[2]};
    Across a = {0};
    for (int i = 0; i < 2; i++) centreOf(p, i, x[i]);
    for (int k = 0; k < 3; k++) a.way += n[k] * (x[1][k] - x[0][k]), a.size = fmax(a.size, fabs(x[1][k] - x[0][k]));
    a.reach[0] = supportOf(p->body[0], p->pose, n), a.reach[1] = supportOf(p->body[1], p->pose + 1, back);
    a.size = a.size + p->body[0]->info.outradius + p->body[1]->info.outradius;
    return a;
}

static void requireInside(const Pair* p, int i, double scale, const double point[3], double slack)
{
    double x[3], away[3], local[3];
    centreOf(p, i, x);
    for (int k = 0; k < 3; k++) away[k] = point[k] - x[k];
    turn(p->pose[i].quaternion, false, away, local);
    REQUIRE(leaves(p->body[i], scale, local) <= slack, "the point leaves body %d by %g", i + 1, leaves(p->body[i], scale, local));
}

static bool isUnit(const double n[3]) { return fabs(sqrt(dot(n, n)) - 1.0) < 1e-12; }

static bool allFinite(const double* x, int count)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

/* Of the size of the pair. The common point of a flat end and an edge or a face that lies along it is one of many: there it is known to
 * SIDEWAYS only, though r and the normal are exact. */
static const double SLACK = 1e-8, SIDEWAYS = 1e-6;

static bool isFlat(const Body* body) { return body - bodies <= PRISM; }

/* What a few roundings of the places make of r: a thin plate or a needle all but on the surface of a fixed body has an r that is not much more. */
static double roundingOf(const Pair* p)
{
    double places = 0.0, thinnest = fmin(p->body[0]->info.inradius, p->body[1]->info.inradius);
    for (int i = 0; i < 2; i++) places += sqrt(dot(p->pose[i].position, p->pose[i].position));
    return 8.0 * DBL_EPSILON * places / thinnest;
}

static void requireMetric(const Pair* p, const pcMetric* m)
{
    REQUIRE(isUnit(m->normal) && m->lower <= m->r && m->r <= m->upper && allFinite(m->point, 9) && isfinite(m->gap), "r %g in %g .. %g",
            m->r, m->lower, m->upper);
    if (!isConvex(p->body[0]) || !isConvex(p->body[1])) return;
    Across a = across(p, m->normal);
    double slack = (SLACK + m->upper - m->lower) * a.size; /* an answer that is not exact says so by its bounds */
    REQUIRE(m->upper - m->lower <= 2e-6 * m->r + 1e-13 + roundingOf(p), "bounds %g and %g of r %g", m->lower, m->upper, m->r);
    REQUIRE(m->r > 0.0, "r %g", m->r);
    double one = a.way - m->r * (a.reach[0] + a.reach[1]); /* the two-sided form, also where a moving centre is inside the fixed body */
    double scale[2] = {p->flags & PC_FIXED_1 ? 1.0 : m->r, p->flags & PC_FIXED_2 ? 1.0 : m->r};
    double asked = a.way - scale[0] * a.reach[0] - scale[1] * a.reach[1];
    bool both = fabs(one) < fabs(asked);
    if (both) scale[0] = scale[1] = m->r;
    REQUIRE(fmin(fabs(one), fabs(asked)) <= slack * fmax(1.0, m->r), "r %.17g: the normal proves it but for %g and %g", m->r, one, asked);
    REQUIRE(fabs(m->gap - (a.way - a.reach[0] - a.reach[1])) <= slack * fmax(1.0, m->r), "gap %g, along the normal %g", m->gap,
            a.way - a.reach[0] - a.reach[1]);
    if (!isFlat(p->body[0]) || !isFlat(p->body[1])) slack += SIDEWAYS * a.size;
    for (int i = 0; i < 2; i++) requireInside(p, i, scale[i], m->point, slack * fmax(1.0, m->r));
}

/* Whether the centre of a body that scales is on the surface of one that does not, to rounding: r jumps there, to 0 from the two-sided one. */
static bool isOnTheBorder(const Pair* p)
{
    double x[2][3], away[3], local[3];
    int fixed = p->flags & PC_FIXED_1 ? 0 : 1;
    if (!(p->flags & (PC_FIXED_1 | PC_FIXED_2)) || !isConvex(p->body[fixed])) return false;
    for (int i = 0; i < 2; i++) centreOf(p, i, x[i]);
    for (int k = 0; k < 3; k++) away[k] = x[1 - fixed][k] - x[fixed][k];
    turn(p->pose[fixed].quaternion, false, away, local);
    return fabs(leaves(p->body[fixed], 1.0, local)) <= 1e-13 * (p->body[fixed]->info.outradius + sqrt(dot(away, away)));
}

/* Two answers agree as far as the bounds of both say that they are known. */
static bool agree(const pcMetric* a, const pcMetric* b)
{
    return fabs(a->r - b->r) <= 1e-9 * fmax(1.0, fabs(a->r)) + 2.0 * (a->upper - a->lower) + 2.0 * (b->upper - b->lower);
}

static void requireSame(const Pair* p, pcPairCache* cache, const pcMetric* m)
{
    pcMetric again;
    if (isOnTheBorder(p)) return;
    unsigned swapped = (p->flags & PC_FIXED_1 ? PC_FIXED_2 : 0) | (p->flags & PC_FIXED_2 ? PC_FIXED_1 : 0);
    REQUIRE(pcMetricPair(p->body[0]->shape, p->pose, p->body[1]->shape, p->pose + 1, p->flags, cache, &again) == PC_OK, "%s",
            pcLastError());
    REQUIRE(agree(m, &again), "cold %.17g, warm %.17g", m->r, again.r);
    REQUIRE(pcMetricPair(p->body[1]->shape, p->pose + 1, p->body[0]->shape, p->pose, swapped, NULL, &again) == PC_OK, "%s", pcLastError());
    REQUIRE(agree(m, &again), "one way %.17g, the other %.17g", m->r, again.r);
}

static void requireDistance(const Pair* p)
{
    pcDistance d;
    if (!isConvex(p->body[0]) || !isConvex(p->body[1])) return;
    pcStatus status = pcEuclidPair(p->body[0]->shape, p->pose, p->body[1]->shape, p->pose + 1, NULL, &d);
    if (status != PC_OK) {
        requireRefusal(status);
        return;
    }
    Across a = across(p, d.normal);
    double along = a.way - a.reach[0] - a.reach[1], apart = 0.0, slack = 1e-6 * a.size;
    for (int k = 0; k < 3; k++) apart = hypot(apart, d.point2[k] - d.point1[k]);
    REQUIRE(isUnit(d.normal) && allFinite(d.point1, 6), "distance %g", d.distance);
    REQUIRE(fabs(along - d.distance) <= slack, "distance %.17g, of the supports %.17g", d.distance, along);
    if (d.distance <= 0.0) return;
    REQUIRE(d.lower <= d.upper && fabs(apart - d.distance) <= slack, "distance %.17g, of the points %.17g", d.distance, apart);
    requireInside(p, 0, 1.0, d.point1, slack), requireInside(p, 1, 1.0, d.point2, slack);
}

static void requireEvents(const Pair* p, Bytes* b, const pcMetric* metricOrNull)
{
    enum { ROOM = 12 };
    pcEventSettings settings = pcDefaultEventSettings();
    pcEvent event[ROOM];
    int capacity = takeBelow(b, ROOM + 1), count = -1;
    settings.margin = takeBelow(b, 5) / 16.0, settings.gap = (pcGapKind)takeBelow(b, 3);
    pcStatus status =
        pcEventsOfPair(p->body[0]->shape, p->pose, p->body[1]->shape, p->pose + 1, p->flags, &settings, NULL, event, capacity, &count);
    if (status != PC_OK) {
        requireRefusal(status);
        REQUIRE(count == -1, "a count was written");
        return;
    }
    REQUIRE(count >= 0, "count %d", count);
    for (int i = 0; i < count && i < capacity; i++) {
        const pcEvent* e = event + i;
        REQUIRE(isUnit(e->normal) && isfinite(e->gap) && allFinite(e->point, 9) && allFinite(e->gradient, 12), "event %d", i);
        for (int k = 0; k < i; k++) REQUIRE(event[k].id != e->id, "events %d and %d have one id", k, i);
    }
    bool deep = metricOrNull && metricOrNull->gap < -1e-6;
    REQUIRE(!deep || count > 0, "gap %g, and no event", metricOrNull ? metricOrNull->gap : 0.0);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    Bytes b = {data, size};
    if (!bodies[0].shape) makeBodies();
    Pair p;
    for (int i = 0; i < 2; i++) p.body[i] = bodies + takeBelow(&b, BODIES);
    p.flags = (unsigned)takeBelow(&b, 3);
    for (int i = 0; i < 2; i++) p.pose[i] = takePose(&b);
    pcPairCache cache = {0};
    pcMetric m;
    pcStatus status = pcMetricPair(p.body[0]->shape, p.pose, p.body[1]->shape, p.pose + 1, p.flags, &cache, &m);
    if (status == PC_OK)
        requireMetric(&p, &m), requireSame(&p, &cache, &m), requireDistance(&p);
    else
        requireRefusal(status);
    requireEvents(&p, &b, status == PC_OK ? &m : NULL);
    return 0;
}
