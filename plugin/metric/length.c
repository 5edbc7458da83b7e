/*
 * Euclidean distance of two convex bodies, signed: s = max over unit n of  n.c - h1(n) - h2(-n)  where they are apart (each n proves a
 * lower bound, each pair of points an upper one), and where they overlap a local maximum of the same, the depth with its sign changed,
 * to which rays lead from the normal of the ratio metric (depth.c).
 *
 * Features and Newton's method as for the ratio (round.h). Which features: first those of the ratio, which are the same near contact;
 * else the method of Gilbert, Johnson and Keerthi, whose simplices name them.
 */
#include "metric/length.h"

#include "base/status.h"

#define GJK_LIMIT 200
/* Of the lengths involved: what a distance may lack. */
static const double TOLERANCE = 1e-13;
/* Bounds of GJK alone, where Newton's method finds nothing to hold on to. */
static const double USABLE = 1e-7;
/* Of the lengths involved: how far below its plane the first end of a ray may lie, and how much closer each time that it leads no further. */
static const double COARSE = 1e-2, FINER = 0.1;
#define RAY_LIMIT 200
#define MOST_DOUBLINGS 13 /* of a turn */
/* Of Newton's method on a support function: each costs many calls, and where it has flats there is no curvature to be found. */
#define ASKED_TRIES 6
/* Ratio from which on, and cosine to the ratio's normal within which, a depth found at once is the one that rays would lead to: elsewhere the
 * features that are at hand, other ones with and without a cache, lead here or there. */
static const double SHALLOW = 0.9, NEAR = 0.995;

typedef struct Query {
    const pcFrame* f;
    double size;  /* of the lengths involved */
    double lower; /* the best of all directions so far, and which */
    v3 direction;
    pcLengthAnswer best;
    bool found;
} Query;

static double sizeOf(const pcFrame* f) { return v3Norm(f->c) + f->shape1->outradius + f->shape2->outradius; }

/* What the true support functions say along a unit n. */
static double along(const pcFrame* f, v3 n) { return v3Dot(n, f->c) - pcFrameTip(f, 0, n).value - pcFrameTip(f, 1, n).value; }

static void note(Query* q, v3 n, double s)
{
    if (s > q->lower) q->lower = s, q->direction = n;
}

static void keep(Query* q, v3 n, double s, v3 p1, v3 p2)
{
    q->best = (pcLengthAnswer){.n = n, .s = s, .p1 = p1, .p2 = p2, .lower = s, .upper = s};
    q->found = true;
}

static bool isIn(const Query* q, int side, v3 point)
{
    const pcShape* s = pcFrameShape(q->f, side);
    v3 k = pcFrameLocal(q->f, side, point);
    for (int i = 0; i < s->facetCount; i++)
        if (!(v3Dot(s->normal[i], k) <= s->offset[i] + TOLERANCE * q->size)) return false;
    return true;
}

/* A basis names three corners of a face, which may have more: a point beside these three may still be on the face. */
static bool liesOnFaces(const Query* q, const pcFeature* a, const pcFeature* b, const pcFit* fit)
{
    const pcFeature* feature[2] = {a, b};
    const v3 point[2] = {fit->p1, fit->p2};
    for (int side = 0; side < 2; side++)
        if (feature[side]->count > 1 && !(pcShapeIsPolyhedron(pcFrameShape(q->f, side)) && isIn(q, side, point[side]))) return false;
    return a->count == 3 || b->count == 3;
}

/* True if the features are those that the distance is between, to rounding. */
static bool tryFeatures(Query* q, const pcFeature* a, const pcFeature* b, v3 start)
{
    pcFit fit;
    if (!pcFitFeatures(q->f, PC_LENGTH, a, b, start, &fit)) return false;
    double s = along(q->f, fit.n);
    note(q, fit.n, s);
    if (!(fit.rest <= TOLERANCE * q->size) || !(fit.value - s <= TOLERANCE * q->size)) return false;
    if (!(fit.outside <= TOLERANCE * q->size) && !liesOnFaces(q, a, b, &fit)) return false;
    keep(q, fit.n, fit.value, fit.p1, fit.p2);
    return true;
}

static bool tryBasis(Query* q, const pcBasis* basis, v3 n)
{
    pcFeature named[2], tip[2], cap[2];
    pcFeaturesOfBasis(q->f, basis, n, named, tip);
    bool capped[2] = {pcCapAlong(q->f, 0, n, cap), pcCapAlong(q->f, 1, n, cap + 1)};
    if (capped[0] && tryFeatures(q, cap, tip + 1, n)) return true;
    if (capped[1] && tryFeatures(q, tip, cap + 1, n)) return true;
    if (tryFeatures(q, named, named + 1, n)) return true;
    if (named[0].count > 1 && tryFeatures(q, named, tip + 1, n)) return true;
    if (named[1].count > 1 && tryFeatures(q, tip, named + 1, n)) return true;
    return named[0].count + named[1].count > 2 && tryFeatures(q, tip, tip + 1, n);
}

/* ---- Gilbert, Johnson, Keerthi ---- */

/* Points of W = K1 - K2 and what they are made of. */
typedef struct Simplex {
    int count;
    v3 w[4], k1[4], k2[4];
    int vertex1[4], vertex2[4];
    double weight[4];
} Simplex;

/* Weights of the point of a subset's affine hull nearest to c; false if it lies outside the subset. */
static bool nearestOf(const Simplex* x, const int* at, int count, v3 c, double weight[3], v3* out)
{
    v3 d = v3Sub(c, x->w[at[0]]);
    weight[0] = 1.0, *out = x->w[at[0]];
    if (count == 1) return true;
    v3 e = v3Sub(x->w[at[1]], x->w[at[0]]);
    if (count == 2) {
        weight[1] = v3Dot(d, e) / v3Dot(e, e), weight[0] = 1.0 - weight[1];
        *out = v3AddScaled(*out, weight[1], e);
        return weight[0] >= 0.0 && weight[1] >= 0.0;
    }
    v3 g = v3Sub(x->w[at[2]], x->w[at[0]]), cross = v3Cross(e, g);
    double square = v3Dot(cross, cross);
    weight[1] = v3Dot(v3Cross(d, g), cross) / square, weight[2] = v3Dot(v3Cross(e, d), cross) / square;
    weight[0] = 1.0 - weight[1] - weight[2];
    *out = v3AddScaled(v3AddScaled(*out, weight[1], e), weight[2], g);
    return weight[0] >= 0.0 && weight[1] >= 0.0 && weight[2] >= 0.0;
}

/* Reduces the simplex to the face that holds its point nearest to c: all faces of at most three points are looked at. */
static v3 reduce(Simplex* x, v3 c)
{
    double best = HUGE_VAL, bestWeight[3] = {1.0, 0.0, 0.0};
    int bestAt[3] = {0, 0, 0}, bestCount = 1;
    v3 nearest = x->w[0];
    for (int set = 1; set < 1 << x->count; set++) {
        int at[4] = {0}, count = 0;
        double weight[3] = {0.0, 0.0, 0.0};
        v3 here;
        for (int i = 0; i < x->count; i++)
            if (set >> i & 1) at[count++] = i;
        if (count > 3 || !nearestOf(x, at, count, c, weight, &here)) continue;
        double distance = v3Norm(v3Sub(c, here));
        if (!(distance < best)) continue;
        best = distance, bestCount = count, nearest = here;
        for (int i = 0; i < count; i++) bestAt[i] = at[i], bestWeight[i] = weight[i];
    }
    Simplex all = *x;
    x->count = bestCount;
    for (int i = 0; i < bestCount; i++) {
        int j = bestAt[i];
        x->w[i] = all.w[j], x->k1[i] = all.k1[j], x->k2[i] = all.k2[j], x->weight[i] = bestWeight[i];
        x->vertex1[i] = all.vertex1[j], x->vertex2[i] = all.vertex2[j];
    }
    return nearest;
}

/* The features that its corners name: at most three of one body and four in all. */
static pcBasis basisOf(const Simplex* x)
{
    pcBasis basis = {.count1 = 0, .vertex = {-1, -1, -1, -1}};
    int other[3], others = 0;
    for (int i = 0; i < x->count; i++) {
        bool known1 = false, known2 = false;
        for (int j = 0; j < i; j++) known1 |= x->vertex1[j] == x->vertex1[i], known2 |= x->vertex2[j] == x->vertex2[i];
        if (!known1) basis.vertex[basis.count1++] = x->vertex1[i];
        if (!known2) other[others++] = x->vertex2[i];
    }
    for (int i = 0; i < others && basis.count1 + i < 4; i++) basis.vertex[basis.count1 + i] = other[i];
    return basis;
}

static void keepSimplex(Query* q, const Simplex* x, v3 n, double distance)
{
    v3 p1 = {0.0, 0.0, 0.0}, p2 = {0.0, 0.0, 0.0};
    for (int i = 0; i < x->count; i++) p1 = v3AddScaled(p1, x->weight[i], x->k1[i]), p2 = v3AddScaled(p2, x->weight[i], x->k2[i]);
    keep(q, n, distance, p1, p2);
}

static bool searchApart(Query* q, v3 start)
{
    const pcFrame* f = q->f;
    Simplex x = {.count = 0};
    v3 n = start;
    double closeness = HUGE_VAL;
    for (int i = 0; i < GJK_LIMIT; i++) {
        pcTip tip1 = pcFrameTip(f, 0, n), tip2 = pcFrameTip(f, 1, n);
        int at = x.count++;
        x.w[at] = v3Sub(tip1.k, tip2.k), x.k1[at] = tip1.k, x.k2[at] = tip2.k, x.vertex1[at] = tip1.vertex, x.vertex2[at] = tip2.vertex;
        note(q, n, v3Dot(n, f->c) - tip1.value - tip2.value);
        v3 away = v3Sub(f->c, reduce(&x, f->c));
        double distance = v3Norm(away), between = distance - q->lower;
        if (!(distance > 0.0)) return false;
        n = v3Scale(1.0 / distance, away);
        if (between < 0.3 * closeness) {
            pcBasis basis = basisOf(&x);
            closeness = between;
            if (tryBasis(q, &basis, n)) return true;
            keepSimplex(q, &x, n, distance);
        }
        if (between <= TOLERANCE * q->size) return true;
    }
    return q->found && q->best.upper - q->lower <= USABLE * q->size;
}

/* ---- down to a least depth ---- */

static bool isBest(const Query* q) { return q->best.s >= q->lower - TOLERANCE * q->size; }

static pcBasis basisOfExit(const pcExit* x)
{
    Simplex corners = {.count = 3};
    for (int i = 0; i < 3; i++) corners.vertex1[i] = x->corner[i].vertex[0], corners.vertex2[i] = x->corner[i].vertex[1];
    return basisOf(&corners);
}

/* The bottom by rays alone: the best direction, and the points where a ray along it leaves. */
static void keepExit(Query* q, const pcExit* x)
{
    v3 p1 = {0.0, 0.0, 0.0}, p2 = {0.0, 0.0, 0.0};
    for (int i = 0; i < 3; i++) p1 = v3AddScaled(p1, x->weight[i], x->corner[i].k1), p2 = v3AddScaled(p2, x->weight[i], x->corner[i].k2);
    keep(q, q->direction, q->lower, p1, p2);
}

/* Where the surface is curved nearly as c sees it, rays turn by little each time: the same turn, twice as far as long as that is better. */
static void turnOn(Query* q, v3 from, v3 to)
{
    for (int doublings = 1; doublings <= MOST_DOUBLINGS; doublings++) {
        v3 n = v3AddScaled(from, ldexp(1.0, doublings), v3Sub(to, from));
        n = v3Scale(1.0 / v3Norm(n), n);
        double s = along(q->f, n);
        if (!(s > q->lower)) return;
        note(q, n, s);
    }
}

/* Each ray along the best direction so far ends at one that is no worse (depth.c): the depth only sinks, to where no ray leads on. Newton's
 * method is asked at each end, and ends the search where it finds the bottom. */
static void descend(Query* q)
{
    const pcFrame* f = q->f;
    double rounding = TOLERANCE * q->size, closeness = COARSE * q->size;
    bool asked = f->shape1->kind == PC_SHAPE_SUPPORT || f->shape2->kind == PC_SHAPE_SUPPORT;
    int tries = asked ? ASKED_TRIES : RAY_LIMIT;
    pcExit x;
    for (int i = 0; i < RAY_LIMIT; i++) {
        v3 d = q->direction;
        double before = q->lower;
        if (!pcFrameExit(f, d, closeness, &x)) {
            keep(q, d, before, pcFrameTip(f, 0, d).k, pcFrameTip(f, 1, d).k);
            return;
        }
        pcBasis basis = basisOfExit(&x);
        note(q, x.n, -x.depth);
        if (tries-- > 0 && tryBasis(q, &basis, x.n) && isBest(q)) return;
        turnOn(q, d, x.n);
        if (q->lower > before + rounding) continue;
        if (closeness <= rounding) break;
        closeness = larger(FINER * closeness, rounding);
    }
    keepExit(q, &x);
}

/* ---- from the ratio to the length ---- */

/* At a distance that is no more than the error of its points, so is the direction from one to the other: unless it proves as much as the best
 * of all directions does, the ratio's among them, that one is the normal. */
static void mendNormal(Query* q)
{
    if (q->best.s <= USABLE * q->size && along(q->f, q->best.n) < q->lower - TOLERANCE * q->size) q->best.n = q->direction;
}

/* The ratio's two points, on the bodies as they are. */
static void pointsOfRatio(const pcFrame* f, const pcFrameMetric* m, v3* p1, v3* p2)
{
    double f2 = m->sigma != 0.0 ? m->r : 1.0;
    *p1 = v3Scale(1.0 / m->r, m->point), *p2 = v3Scale(1.0 / f2, v3Sub(m->point, f->c));
}

/* Where bodies touch to rounding c is on the very surface of W, and the farthest points along the normal, or where a ray leaves, may be anywhere on the two
 * faces: unless they lie opposite each other, the bodies touch where the ratio says. */
static void mendPoints(Query* q, const pcFrameMetric* m)
{
    pcLengthAnswer* best = &q->best;
    v3 apart = v3AddScaled(v3Sub(v3Add(q->f->c, best->p2), best->p1), -best->s, best->n);
    if (fabs(m->r - 1.0) <= USABLE && !(v3Max(apart) <= USABLE * q->size)) pointsOfRatio(q->f, m, &best->p1, &best->p2);
}

/* To nine digits: normals that differ by rounding, with and without a cache, then begin alike and end alike, also on a ridge between two least
 * depths. */
static v3 rounded(v3 n)
{
    const double grid = 1073741824.0;
    v3 coarse = v3Make(rint(grid * n.x), rint(grid * n.y), rint(grid * n.z));
    return v3Scale(1.0 / v3Norm(coarse), coarse);
}

/* From the ratio's normal, so that the depth is no more than the ratio's gap. */
static void findDepth(Query* q, const pcFrameMetric* m)
{
    if (m->r > SHALLOW && tryBasis(q, &m->basis, m->n) && isBest(q) && v3Dot(q->best.n, m->n) > NEAR) return;
    v3 start = rounded(m->n);
    double ratios = along(q->f, m->n);
    q->lower = -HUGE_VAL;
    note(q, start, along(q->f, start));
    descend(q);
    note(q, m->n, ratios);
    if (!isBest(q)) descend(q);
}

/* Deep in each other bodies have several least depths: from the axes of both too, if one is better than what was found. */
static void lookAround(const pcFrame* f, pcLengthAnswer* found)
{
    Query q = {.f = f, .size = sizeOf(f), .lower = found->s};
    for (int i = 0; i < 12; i++) {
        double sign = i % 2 == 0 ? 1.0 : -1.0;
        int axis = i / 2 % 3;
        v3 n = pcFramePlaced(f, i / 6, v3Make(axis == 0 ? sign : 0.0, axis == 1 ? sign : 0.0, axis == 2 ? sign : 0.0));
        note(&q, n, along(f, n));
    }
    if (!(q.lower > found->s + TOLERANCE * q.size)) return;
    descend(&q);
    *found = q.best;
}

bool pcFrameLength(const pcFrame* f, const pcFrameMetric* m, pcLengthAnswer* out)
{
    Query q = {.f = f, .size = sizeOf(f), .lower = -HUGE_VAL};
    bool apart = m->r > 1.0;
    note(&q, m->n, along(f, m->n));
    if (!apart) {
        findDepth(&q, m);
        mendPoints(&q, m);
        *out = q.best;
        return true;
    }
    /* Bodies that touch may overlap along other directions: features that meet there have a depth, not the distance. */
    if ((tryBasis(&q, &m->basis, m->n) && isBest(&q)) || (searchApart(&q, m->n) && isBest(&q))) {
        mendNormal(&q), mendPoints(&q, m);
        *out = q.best;
        out->lower = smaller(q.lower, out->s);
        return true;
    }
    /* Along the ratio's own normal: its two points scaled by 1, opposite each other up to the slope of that normal. */
    v3 p1, p2;
    double s = (m->r - 1.0) * m->D;
    pointsOfRatio(f, m, &p1, &p2);
    *out = (pcLengthAnswer){m->n, s, p1, p2, s, larger(s, v3Norm(v3Sub(v3Add(f->c, p2), p1)))}; /* points of the bodies, for sure */
    return false;
}

/* Shapes that do not scale have one direction for both measures: over a plane the ratio's own, in a container that of the farthest point. */
static void lengthToWall(const pcFrame* f, const pcFrameMetric* m, pcLengthAnswer* out)
{
    v3 k = m->corner, n = m->n;
    double s = (m->r - 1.0) * m->D;
    if (f->shape2->kind == PC_SHAPE_CONTAINER) {
        pcFarthest far = pcFarthestFrom(f->shape1, f->c, 1.0);
        k = far.k, n = far.u, s = f->shape2->radius - far.distance;
    }
    double error =
        16.0 * PC_ROUND * (v3Norm(f->c) + f->shape1->outradius + (f->shape2->kind == PC_SHAPE_CONTAINER ? f->shape2->radius : 0.0));
    *out = (pcLengthAnswer){n, s, k, v3Sub(v3AddScaled(k, s, n), f->c), s - error - f->error, s + error + f->error};
}

PC_INLINE void writeDistance(const pcFrame* f, const pcLengthAnswer* a, pcDistance* out)
{
    v3 centre1 = v3Add(v3Load(f->pose1->position), m3Mul(&f->R1, f->shape1->centre));
    v3 x1 = v3Add(centre1, m3Mul(&f->R1, a->p1)), x2 = v3Add(centre1, m3Mul(&f->R1, v3Add(f->c, a->p2))), n = m3Mul(&f->R1, a->n);
    out->distance = a->s, out->lower = a->lower, out->upper = a->upper;
    v3Store(out->normal, f->swapped ? v3Neg(n) : n);
    v3Store(out->point1, f->swapped ? x2 : x1);
    v3Store(out->point2, f->swapped ? x1 : x2);
}

pcStatus pcEuclidPair(const pcShape* shape1, const pcPose* pose1, const pcShape* shape2, const pcPose* pose2, pcPairCache* cacheOrNull,
                      pcDistance* out)
{
    pcFrame f;
    pcFrameMetric m;
    pcLengthAnswer answer;
    if (!out) return pcFail(PC_ERROR_ARGUMENT, "pcEuclidPair needs a place for the answer");
    pcStatus status = pcFrameMake(shape1, pose1, shape2, pose2, 0, &f);
    m.basis = (pcBasis){.count1 = 1, .vertex = {-1, -1, -1, -1}};
    if (status == PC_OK) status = pcFrameSolve(&f, cacheOrNull, &m);
    if (status != PC_OK) return status;
    if (f.shape2->unbounded)
        lengthToWall(&f, &m, &answer);
    else
        pcFrameLength(&f, &m, &answer);
    if (!f.shape2->unbounded && m.r <= SHALLOW) lookAround(&f, &answer);
    double error = 16.0 * PC_ROUND * (f.shape2->unbounded ? 0.0 : sizeOf(&f)) + f.error;
    answer.lower -= error, answer.upper += error;
    writeDistance(&f, &answer, out);
    return PC_OK;
}
