/*
 * Two boxes: the facets of their Minkowski difference have 15 normals at most, so
 *
 *   r = max over the axes n of  |n.c| / (h1(n) + h2(n))      two-sided,      (|n.c| - h2(n)) / h1(n)   one-sided
 *   n = e_i (faces of box 1), R_j (faces of box 2, column j of R), e_i x R_j (edges);  h1(n) = sum a_i |n_i|, h2(n) = sum b_j |n.R_j|
 *
 * Three axes go side by side in the lanes of a vector. Each axis is a lower bound of r. The winner is confirmed by a common point of the
 * scaled boxes, an upper bound: then nothing need be said of the axes that did not win, and nearly parallel edges, whose axis is all
 * rounding, can be left out. Where the point is not found (the left-out edge was the winner) the general method decides.
 */
#include "metric/metric.h"

/* Edges closer to parallel than this (sine squared) are left to the general method. */
static const double PARALLEL = 1e-8;
/* How far the point may leave a box, relative to its size, before the axis counts as not confirmed. Enters the upper bound. */
static const double OUTSIDE = 2e-15;
/* Where faces are parallel, axes of their edges coincide with the face's to within rounding: the face is to win then. */
static const double FACE_BONUS = 0x1p-46; /* (1 + b)(1 - b) rounds to 1 */

/* Half sizes of both boxes; axes[0][j] is axis j of box 2 in box 1's axes (column j of R), axes[1][i] axis i of box 1 in box 2's (row i);
 * centre[0] is box 2's in box 1's axes, centre[1] box 1's in box 2's. distance[i]: n.c of the edge axes n = e_i x R_j over lanes j. The
 * fourth lane is empty. */
typedef struct Boxes {
    v4d half[2], centre[2], distance[3];
    const v4d* axes[2];
} Boxes;

/* Loaded, not built: writing one lane of a vector and reading it back whole stalls the processor. */
static const double UNIT[3][4] = {{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}};
static const double NO_LIMIT[3][4] = {{HUGE_VAL, 0.0, 0.0, 0.0}, {0.0, HUGE_VAL, 0.0, 0.0}, {0.0, 0.0, HUGE_VAL, 0.0}};
/* Looked up, not computed: a remainder becomes branches, and which axis it is cannot be predicted. */
static const int NEXT[3] = {1, 2, 0}, PREVIOUS[3] = {2, 0, 1};

PC_INLINE v4d nextLane(v4d a) { return __builtin_shufflevector(a, a, 1, 2, 0, 3); }     /* lane j holds what j+1 held */
PC_INLINE v4d previousLane(v4d a) { return __builtin_shufflevector(a, a, 2, 0, 1, 3); } /* lane j holds what j+2 held */
PC_INLINE v4d withSign(v4d magnitude, v4d sign) { return (v4d)(((v4i)magnitude & INT64_MAX) | ((v4i)sign & INT64_MIN)); }

PC_INLINE void loadBoxes(const pcFrame* f, Boxes* B)
{
    const v4d* row = f->R.row;
    v3 c = f->c;
    B->half[0] = v3ToLanes(f->shape1->half), B->half[1] = v3ToLanes(f->shape2->half);
    B->centre[0] = v3ToLanes(c), B->centre[1] = -(row[0] * c.x + row[1] * c.y + row[2] * c.z);
    B->axes[0] = f->R.column, B->axes[1] = row;
    B->distance[0] = row[1] * c.z - row[2] * c.y;
    B->distance[1] = row[2] * c.x - row[0] * c.z;
    B->distance[2] = row[0] * c.y - row[1] * c.x;
}

/* Three axes side by side, each as a fraction (divided once, at the end), and the family it is of: 0 faces of box 1, 1 faces of box 2,
 * 2 + i edges of edge i. */
typedef struct Axes {
    v4d numerator, denominator;
    v4i family;
} Axes;

PC_INLINE void setAxes(Axes* out, v4d distance, v4d h1, v4d h2, bool two, int64_t family)
{
    out->numerator = two ? distance : distance - h2;
    out->denominator = two ? h1 + h2 : h1;
    out->family = (v4i){family, family, family, family};
}

/* Lane by lane the larger fraction; the first one where they are equal. */
PC_INLINE void keepLarger(Axes* a, const Axes* b)
{
    v4i wins = b->numerator * a->denominator > a->numerator * b->denominator;
    a->numerator = v4Select(wins, b->numerator, a->numerator);
    a->denominator = v4Select(wins, b->denominator, a->denominator);
    a->family = v4SelectInt(wins, b->family, a->family);
}

/* n = e_i x R_j over lanes j has components -R_kj along m = i+1 and R_mj along k = i+2; q are the absolute rows. */
PC_INLINE void edgeAxes(Axes* out, const Boxes* B, const v4d* q, int i, int m, int k, bool two)
{
    v4d a = B->half[0], b = B->half[1];
    v4i clear = q[m] * q[m] + q[k] * q[k] > PARALLEL;
    v4d distance = v4Select(clear, v4Abs(B->distance[i]), v4Splat(-1.0));
    setAxes(out, distance, q[k] * a[m] + q[m] * a[k], nextLane(b) * previousLane(q[i]) + previousLane(b) * nextLane(q[i]), two, 2 + i);
}

/* The best axis: its lane and family, r, and the reciprocals that the bounds need; D is that of the axis as it is, not of its unit
 * vector. */
typedef struct Winner {
    int lane, family;
    double r, perR, D, perD;
} Winner;

PC_INLINE Winner bestAxis(const Boxes* B, bool two)
{
    const v4d *row = B->axes[1], *column = B->axes[0], q[3] = {v4Abs(row[0]), v4Abs(row[1]), v4Abs(row[2])};
    v4d a = B->half[0], b = B->half[1];
    Axes faces, faces2, edges0, edges1, edges2;
    setAxes(&faces, v4Abs(B->centre[0]), a, v4Abs(column[0]) * b[0] + v4Abs(column[1]) * b[1] + v4Abs(column[2]) * b[2], two, 0);
    setAxes(&faces2, v4Abs(B->centre[1]), q[0] * a[0] + q[1] * a[1] + q[2] * a[2], b, two, 1);
    edgeAxes(&edges0, B, q, 0, 1, 2, two);
    edgeAxes(&edges1, B, q, 1, 2, 0, two);
    edgeAxes(&edges2, B, q, 2, 0, 1, two);
    keepLarger(&faces, &faces2);
    keepLarger(&edges0, &edges1);
    faces.numerator *= 1.0 + FACE_BONUS;
    keepLarger(&edges0, &edges2);
    keepLarger(&faces, &edges0);
    v4d over = faces.numerator, D = faces.denominator, ratio = over / D, inverse = D / over, perD = 1.0 / D;
    /* Which lane: while the division goes on, and without a branch, because it cannot be predicted. */
    int third = (over[2] * D[0] > over[0] * D[2]) & (over[2] * D[1] > over[1] * D[2]), second = over[1] * D[0] > over[0] * D[1];
    int lane = 2 * third + (second & !third), family = (int)faces.family[lane];
    double bonus = family < 2 ? 1.0 - FACE_BONUS : 1.0;
    return (Winner){lane, family, ratio[lane] * bonus, inverse[lane], D[lane], perD[lane]};
}

/* ---- confirmation: a common point ---- */

/* A face of one box (half sizes a, factor f, normal axis i, side up) against the other box (its axes as columns in the first box's axes,
 * its centre d, factor o). Of the other box's corners `corner` lies lowest over the face: in its own axes, unscaled. */
typedef struct FaceOn {
    v4d a, d, corner;
    const v4d* column;
    double f, o, up;
    int i;
} FaceOn;

typedef struct Polygon {
    int count;
    double x[12], y[12];
} Polygon;

/* Cuts away what lies beyond sign * coordinate <= bound, coordinate 0 or 1. */
static Polygon clipPolygon(const Polygon* in, int coordinate, double sign, double bound)
{
    Polygon out;
    out.count = 0;
    for (int i = 0; i < in->count; i++) {
        int j = i + 1 < in->count ? i + 1 : 0;
        double p = sign * (coordinate == 0 ? in->x[i] : in->y[i]) - bound, q = sign * (coordinate == 0 ? in->x[j] : in->y[j]) - bound;
        if (p <= 0.0) out.x[out.count] = in->x[i], out.y[out.count++] = in->y[i];
        if ((p < 0.0 && q > 0.0) || (p > 0.0 && q < 0.0)) {
            double t = p / (p - q);
            out.x[out.count] = in->x[i] + t * (in->x[j] - in->x[i]), out.y[out.count++] = in->y[i] + t * (in->y[j] - in->y[i]);
        }
    }
    return out;
}

/* The other box's edge or face that lies flat on the face: from its nearest corner along one or two steps, in the axes (u, v) across i.
 * Its points are higher than the corner by at most `loss`. */
typedef struct Flat {
    double x, y, dx[2], dy[2], loss;
    int steps;
} Flat;

PC_INLINE Flat flatFeature(const FaceOn* q, v4d at)
{
    int u = NEXT[q->i], v = PREVIOUS[q->i];
    Flat flat = {at[u], at[v], {0.0, 0.0}, {0.0, 0.0}, 0.0, 0};
    for (int j = 0; j < 3; j++) {
        double slope = fabs(q->column[j][q->i]), step = -2.0 * q->o * q->corner[j];
        if (slope >= 1e-13 || flat.steps == 2) continue;
        flat.loss += fabs(step) * slope;
        flat.dx[flat.steps] = step * q->column[j][u], flat.dy[flat.steps++] = step * q->column[j][v];
    }
    return flat;
}

/* The middle of the overlap of the flat feature and the rectangle |x| <= X, |y| <= Y, by clipping. */
static bool clippedMiddle(const Flat* flat, double X, double Y, double* x, double* y)
{
    static const int walk[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    Polygon p;
    p.count = 2 * flat->steps;
    for (int n = 0; n < p.count; n++) {
        p.x[n] = flat->x + walk[n][0] * flat->dx[0] + walk[n][1] * flat->dx[1];
        p.y[n] = flat->y + walk[n][0] * flat->dy[0] + walk[n][1] * flat->dy[1];
    }
    for (int side = 0; side < 4 && p.count > 0; side++) p = clipPolygon(&p, side / 2, side % 2 ? 1.0 : -1.0, side < 2 ? X : Y);
    if (p.count == 0) return false;
    *x = *y = 0.0;
    for (int n = 0; n < p.count; n++) *x += p.x[n] / p.count, *y += p.y[n] / p.count;
    return true;
}

/* The nearest corner lies beside the face, but an edge or a face is flat on it, and any common point will do: the middle of the feature,
 * the middle of the face, or else the middle of the overlap. */
PC_INLINE bool commonPoint(const Flat* flat, double X, double Y, double* x, double* y)
{
    *x = flat->x + 0.5 * (flat->dx[0] + flat->dx[1]), *y = flat->y + 0.5 * (flat->dy[0] + flat->dy[1]);
    if (fabs(*x) <= X && fabs(*y) <= Y) return true;
    if (flat->steps == 2) { /* the face's middle, in steps from the feature's middle: within half a step each way? */
        double s0 = *x * flat->dx[0] + *y * flat->dy[0], s1 = *x * flat->dx[1] + *y * flat->dy[1];
        double q0 = flat->dx[0] * flat->dx[0] + flat->dy[0] * flat->dy[0], q1 = flat->dx[1] * flat->dx[1] + flat->dy[1] * flat->dy[1];
        if (fabs(s0) <= 0.5 * q0 && fabs(s1) <= 0.5 * q1) {
            *x = *y = 0.0;
            return true;
        }
    }
    return clippedMiddle(flat, X, Y, x, y);
}

PC_INLINE bool overlapMiddle(const FaceOn* q, v4d at, v4d* point, double* loss)
{
    int u = NEXT[q->i], v = PREVIOUS[q->i];
    Flat flat = flatFeature(q, at);
    double x, y, room = q->f * (1.0 + OUTSIDE);
    if (flat.steps == 0 || !commonPoint(&flat, q->a[u] * room, q->a[v] * room, &x, &y)) return false;
    *loss = flat.loss;
    (*point)[u] = x, (*point)[v] = y, (*point)[q->i] = q->up * q->f * q->a[q->i];
    return true;
}

/* A face of box `side` wins: look from that box. Which one it is cannot be predicted, so the two are one program that reads from either
 * place. The point is usually the other box's lowest corner: of box 1 that is known in the frame as it is, any other point of box 2's
 * axes must be turned. */
PC_INLINE bool confirmFace(const Boxes* B, bool two, int side, int i, double r, double* loss, v4d* n, v4d* point)
{
    double other = two ? r : 1.0, up = copysign(1.0, B->centre[side][i]);
    const v4d *column = B->axes[side], *across = B->axes[1 - side]; /* across[i]: axis i as the other box sees it */
    v4d corner = withSign(B->half[1 - side], across[i] * -up);
    FaceOn q = {B->half[side], B->centre[side], corner, column, side ? other : r, side ? r : other, up, i};
    v4d at = q.d + (column[0] * corner[0] + column[1] * corner[1] + column[2] * corner[2]) * q.o;
    v4i second = {-side, -side, -side, -side}, inside = v4Abs(at) <= q.a * (q.f * (1.0 + OUTSIDE)) + v4Load(NO_LIMIT[i]);
    *n = v4Select(second, B->axes[0][i] * -up, v4Load(UNIT[i]) * up);
    *point = v4Select(second, corner * q.o, at);
    *loss = 0.0;
    if (inside[0] & inside[1] & inside[2]) return true;
    v4d p = at;
    if (!overlapMiddle(&q, at, &p, loss)) return false;
    v4d turned = B->centre[0] + B->axes[0][0] * p[0] + B->axes[0][1] * p[1] + B->axes[0][2] * p[2];
    *point = v4Select(second, turned, p);
    return true;
}

/* Edge i of box 1 on edge j of box 2: f1 (k1 + alpha e_i) = c + f2 (k2 + beta R_j). With m = c + f2 k2 - f1 k1 that is
 * f1 alpha e_i = m + f2 beta R_j: across e_i it gives beta, along e_i alpha. perSine = 1 / |e_i x R_j|. */
PC_INLINE bool confirmEdges(const Boxes* B, bool two, int i, int j, double r, double* perSine, v4d* normal, v4d* point)
{
    const int j1 = NEXT[j], j2 = PREVIOUS[j];
    const v4d* column = B->axes[0];
    v4d a = B->half[0], b = B->half[1], row = B->axes[1][i], unit = v4Load(UNIT[i]), off = 1.0 - unit, edge = column[j], slope = edge * off;
    double side = copysign(1.0, B->distance[i][j]), square = slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2];
    v4d n = (nextLane(unit) * previousLane(edge) - previousLane(unit) * nextLane(edge)) * side;
    v4d k1 = withSign(a, n) * off; /* n.R_(j+1) = R_i(j+2), n.R_(j+2) = -R_i(j+1) */
    v4d k2 = column[j1] * copysign(b[j1], -side * row[j2]) + column[j2] * copysign(b[j2], side * row[j1]);
    v4d c = B->centre[0], m = two ? c + (k2 - k1) * r : c + k2 - k1 * r, parts = m * slope;
    double perSquare = 1.0 / square, beta = -(parts[0] + parts[1] + parts[2]) * perSquare, room = 1.0 + OUTSIDE;
    v4d along = (m + edge * beta) * unit;
    v4i inside = v4Abs(along) <= a * (r * room);
    *perSine = sqrt(perSquare);
    *normal = n * *perSine;
    *point = k1 * r + along;
    return inside[0] & inside[1] & inside[2] & -(fabs(beta) <= (two ? r : 1.0) * b[j] * room);
}

/* Rounding of c, of R and of the sums, relative to D; the D of an edge axis is shorter by the sine of its edges, and so is its
 * precision. */
PC_INLINE double relativeError(const pcFrame* f, bool two, double perR, double perD)
{
    double R1 = f->shape1->outradius, R2 = f->shape2->outradius, fixed = two ? 1.0 : 1.0 + perR;
    return ((3.0 * R1 + 10.0 * R2) * fixed * PC_ROUND + (f->error + 6.0 * PC_ROUND * v3Size(f->c)) * perR) * perD;
}

/* `two` is a constant where this is inlined: two-sided and one-sided are two programs. */
PC_INLINE bool solveBoxes(const pcFrame* f, bool two, pcFrameMetric* out)
{
    Boxes B;
    loadBoxes(f, &B);
    Winner w = bestAxis(&B, two);
    double r = w.r, loss = 0.0, perSine = 1.0;
    v4d n, point;
    bool found;
    out->hasBasis = false;
    if (!(r > 0.0)) return false;
    if (w.family >= 2)
        found = confirmEdges(&B, two, w.family - 2, w.lane, r, &perSine, &n, &point);
    else
        found = confirmFace(&B, two, w.family, w.lane, r, &loss, &n, &point);
    if (!found) return false;
    double inner = two ? f->shape1->inradius + f->shape2->inradius : f->shape1->inradius;
    double outside = OUTSIDE * (f->shape1->outradius + f->shape2->outradius * (two ? 1.0 : w.perR)) / inner;
    double error = relativeError(f, two, w.perR, w.perD);
    out->n = v3OfLanes(n), out->point = v3OfLanes(point);
    out->r = r, out->D = w.D * perSine;
    out->lower = r * (1.0 - error), out->upper = r * (1.0 + error + outside) + loss * w.perD;
    out->path = PC_PATH_CLOSED;
    return (error <= PC_METRIC_TOLERANCE) & (out->upper - r <= PC_METRIC_TOLERANCE * r);
}

PC_SIMD bool pcMetricBoxes(const pcFrame* f, pcFrameMetric* out)
{
    return f->sigma != 0.0 ? solveBoxes(f, true, out) : solveBoxes(f, false, out);
}
