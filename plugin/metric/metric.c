/* One query: into the frame of body 1, the cheapest method that can certify its answer, and back to world axes. */
#include "metric/metric.h"

#include "base/status.h"

/* ---- the frame ---- */

/* Products of the two quaternions are formed, and squared, also in doubled precision: within this none leaves the range of doubles. */
PC_INLINE bool squaresUsable(double square1, double square2)
{
    double both = square1 * square2;
    return (smaller(square1, square2) > 1e-200) & (both > 1e-240) & (both < 1e240);
}

/* The same of one of them and of their product. */
PC_INLINE bool productUsable(double square1, double both)
{
    return (square1 > 1e-200) & (both > 1e-240) & (both < 1e240) & (both > square1 * 1e-200);
}

static pcStatus checkPose(const pcPose* pose, int body)
{
    double square = quaternionSquare(pose->quaternion);
    if (!v3Finite(v3Load(pose->position))) return pcFail(PC_ERROR_NOT_FINITE, "the position of body %d is not finite", body);
    if (!(square - square == 0.0)) return pcFail(PC_ERROR_NOT_FINITE, "the quaternion of body %d is not finite", body);
    if (!(square > 1e-200)) return pcFail(PC_ERROR_ARGUMENT, "the quaternion of body %d is zero", body);
    return PC_OK;
}

/* What is wrong with a pair whose frame cannot be placed. */
static pcStatus checkPoses(const pcPose* pose1, const pcPose* pose2)
{
    pcStatus status = checkPose(pose1, 1);
    if (status == PC_OK) status = checkPose(pose2, 2);
    if (status != PC_OK) return status;
    double square1 = quaternionSquare(pose1->quaternion), square2 = quaternionSquare(pose2->quaternion);
    if (squaresUsable(square1, square2)) return pcFail(PC_ERROR_NOT_FINITE, "the bodies are too far apart: their distance is not finite");
    return pcFail(PC_ERROR_ARGUMENT, "the quaternions have the lengths %g and %g: too far from 1", sqrt(square1), sqrt(square2));
}

/* c = R1' (p2 - p1) + R centre2 - centre1: positions are subtracted first, so that a scene far from the origin loses nothing. */
PC_INLINE bool placeFrame(pcFrame* f)
{
    const double *q1 = f->pose1->quaternion, *q2 = f->pose2->quaternion;
    double square1 = m3FromQuaternion(v4Load(q1), &f->R1), both = m3FromQuaternion(quaternionBetween(q1, q2), &f->R);
    v3 apart = v3Sub(v3Load(f->pose2->position), v3Load(f->pose1->position));
    f->c = m3TMul(&f->R1, apart);
    double lengths = 8.0 * v3Size(apart);
    if (!f->shape1->centred) { /* a box is, and need not wait */
        f->c = v3Sub(f->c, f->shape1->centre);
        lengths += 2.0 * f->shape1->centreSize;
    }
    if (!f->shape2->centred) {
        f->c = v3Add(f->c, m3Mul(&f->R, f->shape2->centre));
        lengths += 10.0 * f->shape2->centreSize;
    }
    f->error = PC_ROUND * lengths;
    return productUsable(square1, both) & v3Finite(f->c);
}

/* Inlined into pcMetricPair, and so into its clones. */
PC_INLINE pcStatus makeFrame(const pcShape* s1, const pcPose* p1, const pcShape* s2, const pcPose* p2, unsigned flags, pcFrame* out)
{
    if (!s1 || !s2 || !p1 || !p2) return pcFail(PC_ERROR_ARGUMENT, "a pair needs two shapes and two poses");
    if (flags & ~(PC_FIXED_1 | PC_FIXED_2))
        return pcFail(PC_ERROR_ARGUMENT, "unknown flags %#x: PC_FIXED_1 and PC_FIXED_2 are known", flags);
    bool fixed1 = (flags & PC_FIXED_1) || s1->unbounded, fixed2 = (flags & PC_FIXED_2) || s2->unbounded;
    if (fixed1 && fixed2) return pcFail(PC_ERROR_ARGUMENT, "both bodies are fixed: no body is left to scale");
    out->swapped = fixed1, out->sigma = fixed1 || fixed2 ? 0.0 : 1.0;
    out->shape1 = fixed1 ? s2 : s1, out->shape2 = fixed1 ? s1 : s2;
    out->pose1 = fixed1 ? p2 : p1, out->pose2 = fixed1 ? p1 : p2;
    return placeFrame(out) ? PC_OK : checkPoses(p1, p2);
}

PC_SIMD pcStatus pcFrameMake(const pcShape* s1, const pcPose* p1, const pcShape* s2, const pcPose* p2, unsigned flags, pcFrame* out)
{
    return makeFrame(s1, p1, s2, p2, flags, out);
}

/* Whether body 1's centre lies in the bounded fixed body 2 beyond doubt: the one-sided r is then 0. */
static bool centreClearlyInside(const pcFrame* f)
{
    v3 centre1 = v3Neg(m3TMul(&f->R, f->c));
    double doubt = 1e-12 * (v3Norm(f->c) + f->shape2->outradius) + f->error;
    for (int k = 0; k < f->shape2->facetCount; k++)
        if (!(v3Dot(f->shape2->normal[k], centre1) < f->shape2->offset[k] - doubt)) return false;
    return true;
}

static pcStatus coincident(void)
{
    return pcFail(PC_ERROR_COINCIDENT, "the centres of the two shapes coincide, so no direction is defined");
}

/* ---- closed forms ---- */

/* Over a plane: r = height of the centre / how far the body reaches towards the plane (T 2.18, without t >= 0). */
static bool overPlane(const pcFrame* f, pcFrameMetric* out)
{
    v3 down = v3Neg(m3Mul(&f->R, f->shape2->planeNormal));
    pcTip tip = pcTipOf(f->shape1, down);
    double height = v3Dot(down, f->c), reach = tip.value;
    v3 k = tip.k;
    double length = PC_ROUND * (10.0 * v3Norm(f->c) + 14.0 * f->shape1->outradius) + f->error;
    out->r = height / reach;
    double error = length * (1.0 + fabs(out->r)) / reach;
    out->lower = out->r - error, out->upper = out->r + error;
    out->sigma = 0.0;
    out->n = down, out->D = reach, out->point = v3Scale(out->r, k), out->corner = k;
    out->hasBasis = false;
    out->path = PC_PATH_CLOSED;
    return error <= PC_METRIC_TOLERANCE * fabs(out->r);
}

static pcStatus betweenSpheres(const pcFrame* f, pcFrameMetric* out)
{
    double distance = v3Norm(f->c), R1 = f->shape1->radius, R2 = f->shape2->radius;
    double sigma = distance <= R2 ? 1.0 : f->sigma; /* the moving centre is inside: two-sided */
    out->sigma = sigma;
    out->D = R1 + sigma * R2;
    out->r = (distance - (1.0 - sigma) * R2) / out->D;
    double error = (PC_ROUND * (6.0 * distance + 4.0 * (R1 + R2)) + f->error) / out->D;
    out->lower = out->r - error, out->upper = out->r + error;
    out->n = v3Scale(1.0 / distance, f->c);
    out->point = v3Scale(out->r * R1, out->n);
    out->hasBasis = false;
    out->path = PC_PATH_CLOSED;
    return PC_OK;
}

/* ---- polyhedra ---- */

static const pcBasis* recall(const pcFrame* f, const pcPairCache* cache, pcBasis* basis)
{
    if (!cache || cache->shape[0] != f->shape1->id || cache->shape[1] != f->shape2->id) return NULL;
    unsigned vertices1 = (unsigned)f->shape1->vertexCount, vertices2 = (unsigned)f->shape2->vertexCount; /* negative ones are large */
    bool good = (unsigned)cache->count1 - 1u < 3u;
    basis->count1 = cache->count1;
    for (int i = 0; i < 4; i++) {
        basis->vertex[i] = cache->feature[i];
        good &= (unsigned)cache->feature[i] < (i < cache->count1 ? vertices1 : vertices2);
    }
    return good ? basis : NULL;
}

static void remember(const pcFrame* f, const pcFrameMetric* m, pcPairCache* cache)
{
    if (!cache || !m->hasBasis) return;
    cache->shape[0] = f->shape1->id, cache->shape[1] = f->shape2->id;
    for (int i = 0; i < 4; i++) cache->feature[i] = m->basis.vertex[i];
    cache->count1 = m->basis.count1;
}

/* A one-sided r below this that even doubled precision cannot certify is 0: the centre is on the surface of the fixed body. */
static const double ON_SURFACE = 1e-12;

typedef enum Progress { SOLVED, CENTRE_INSIDE, UNSOLVED } Progress;

/* From fast to careful: each method hands on what it could not certify. One-sided, r is 0 where the moving centre is inside the fixed
 * body or on its surface. */
static Progress solvePolyhedra(const pcFrame* f, pcPairCache* cache, pcFrameMetric* out)
{
    pcBasis recalled;
    const pcBasis* start = recall(f, cache, &recalled);
    out->sigma = f->sigma;
    if (pcMetricSimplex(f, start, out)) return SOLVED;
    if (f->sigma == 0.0 && centreClearlyInside(f)) return CENTRE_INSIDE;
    pcBasis best = out->basis;
    out->r = HUGE_VAL;
    if (pcMetricExact(f, out->hasBasis ? &best : NULL, out)) return SOLVED;
    return f->sigma == 0.0 && out->r < ON_SURFACE ? CENTRE_INSIDE : UNSOLVED;
}

static Progress solveTwoSided(const pcFrame* frame, pcPairCache* cache, pcFrameMetric* out)
{
    pcFrame f = *frame;
    f.sigma = out->sigma = 1.0;
    bool boxes = f.shape1->kind == PC_SHAPE_BOX && f.shape2->kind == PC_SHAPE_BOX;
    if ((boxes && pcMetricBoxes(&f, out)) || solvePolyhedra(&f, cache, out) == SOLVED) return SOLVED;
    return pcMetricFacets(&f, out) ? SOLVED : UNSOLVED;
}

static pcStatus betweenPolyhedra(const pcFrame* f, pcPairCache* cache, pcFrameMetric* out)
{
    Progress progress = solvePolyhedra(f, cache, out);
    if (progress == UNSOLVED && v3Max(f->c) <= 8.0 * f->error) return coincident(); /* to rounding, and to doubled precision */
    if (progress == UNSOLVED && pcMetricFacets(f, out)) progress = SOLVED;
    if (progress == CENTRE_INSIDE) progress = solveTwoSided(f, cache, out);
    if (progress != SOLVED)
        return pcFail(PC_ERROR_INTERNAL, "no method found the ratio of a pair of %d and %d vertices", f->shape1->vertexCount,
                      f->shape2->vertexCount);
    if (out->path != PC_PATH_WARM) remember(f, out, cache);
    return PC_OK;
}

pcStatus pcFrameSolve(const pcFrame* f, pcPairCache* cache, pcFrameMetric* out)
{
    out->sigma = f->sigma;
    if (f->shape1->kind == PC_SHAPE_BOX && f->shape2->kind == PC_SHAPE_BOX && pcMetricBoxes(f, out)) return PC_OK;
    if (f->shape1->kind == PC_SHAPE_MESH || f->shape2->kind == PC_SHAPE_MESH)
        return pcFail(PC_ERROR_UNSUPPORTED, "a mesh is not convex: it has events with convex shapes, but no ratio");
    if (f->shape2->kind == PC_SHAPE_HALFSPACE) {
        if (!overPlane(f, out) && pcShapeIsPolyhedron(f->shape1)) pcMetricExactPlane(f, out);
        return PC_OK;
    }
    if (f->shape2->kind == PC_SHAPE_CONTAINER) {
        pcMetricContainer(f, out);
        return PC_OK;
    }
    if (!(v3Max(f->c) > 1e-150 * (f->shape1->outradius + f->shape2->outradius))) return coincident();
    if (pcShapeIsPolyhedron(f->shape1) && pcShapeIsPolyhedron(f->shape2)) return betweenPolyhedra(f, cache, out);
    if (f->shape1->kind == PC_SHAPE_SPHERE && f->shape2->kind == PC_SHAPE_SPHERE) return betweenSpheres(f, out);
    return pcMetricRound(f, cache, out);
}

/* ---- back to the world ---- */

PC_INLINE v4d turned(const pcFrame* f, v3 a) { return f->R1.column[0] * a.x + f->R1.column[1] * a.y + f->R1.column[2] * a.z; }

/* With the quaternion's first number in the fourth lane. */
PC_INLINE v4d positionOf(const pcPose* pose) { return v4Load((const double*)(const void*)pose); }

/* In lanes throughout: each vector is turned into the world once. */
PC_INLINE void writeMetric(const pcFrame* f, const pcFrameMetric* m, pcMetric* out)
{
    double perR = 1.0 / m->r;
    v4d n = turned(f, m->n), centre1 = positionOf(f->pose1), centre2 = positionOf(f->pose2) - centre1;
    if (!(f->shape1->centred & f->shape2->centred)) centre1 += turned(f, f->shape1->centre), centre2 = turned(f, f->c);
    v4d point = turned(f, m->point), own = m->r != 0.0 ? point * perR : turned(f, m->corner);
    v4d other = m->sigma != 0.0 ? centre2 + (point - centre2) * perR : point;
    out->r = m->r, out->lower = m->lower, out->upper = m->upper;
    out->rho = pcRatioToRho(m->r);
    out->gap = (m->r - 1.0) * m->D;
    v3Store(out->normal, v3OfLanes(f->swapped ? -n : n));
    v3Store(out->point, v3OfLanes(centre1 + point));
    v3Store(out->point1, v3OfLanes(centre1 + (f->swapped ? other : own)));
    v3Store(out->point2, v3OfLanes(centre1 + (f->swapped ? own : other)));
    out->path = m->path;
}

/* Two spheres need no axes: r is the distance of the centres over the sum of the radii, or beyond the fixed radius over the other. */
static bool spheresInWorld(const pcShape* s1, const pcPose* p1, const pcShape* s2, const pcPose* p2, unsigned flags, pcMetric* out)
{
    v3 x1 = v3Load(p1->position), x2 = v3Load(p2->position), c = v3Sub(x2, x1);
    double square = v3Dot(c, c), R1 = s1->radius, R2 = s2->radius;
    bool usable = squaresUsable(quaternionSquare(p1->quaternion), quaternionSquare(p2->quaternion)) && square > 1e-200 && square < 1e200;
    if (!usable || flags > PC_FIXED_2) return false; /* the general way says what is wrong */
    double distance = sqrt(square), fixed = flags == PC_FIXED_1 ? R1 : flags == PC_FIXED_2 ? R2 : 0.0;
    if (distance <= fixed) fixed = 0.0; /* the moving centre is inside: two-sided */
    double D = fixed == 0.0 ? R1 + R2 : flags == PC_FIXED_1 ? R2 : R1, perD = 1.0 / D, r = (distance - fixed) * perD;
    double error = PC_ROUND * (8.0 * distance + 6.0 * (R1 + R2)) * perD;
    v3 n = v3Scale(1.0 / distance, c), own1 = v3AddScaled(x1, R1, n), own2 = v3AddScaled(x2, -R2, n);
    bool still1 = fixed != 0.0 && flags == PC_FIXED_1;
    out->r = r, out->lower = r - error, out->upper = r + error;
    out->rho = pcRatioToRho(r);
    out->gap = (r - 1.0) * D;
    v3Store(out->normal, n);
    v3Store(out->point, still1 ? own1 : v3AddScaled(x1, r * R1, n));
    v3Store(out->point1, own1);
    v3Store(out->point2, own2);
    out->path = PC_PATH_CLOSED;
    return true;
}

PC_SIMD pcStatus pcMetricPair(const pcShape* shape1, const pcPose* pose1, const pcShape* shape2, const pcPose* pose2, unsigned flags,
                              pcPairCache* cacheOrNull, pcMetric* out)
{
    pcFrame frame;
    pcFrameMetric metric;
    if (!out) return pcFail(PC_ERROR_ARGUMENT, "pcMetricPair needs a place for the answer");
    if (shape1 && shape2 && pose1 && pose2 && shape1->kind == PC_SHAPE_SPHERE && shape2->kind == PC_SHAPE_SPHERE &&
        spheresInWorld(shape1, pose1, shape2, pose2, flags, out))
        return PC_OK;
    pcStatus status = makeFrame(shape1, pose1, shape2, pose2, flags, &frame);
    if (status == PC_OK) status = pcFrameSolve(&frame, cacheOrNull, &metric);
    if (status == PC_OK) writeMetric(&frame, &metric, out);
    return status;
}
