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

/* Half sizes a, b; row[i]: R_ij over lanes j; column[j]: R_ij over lanes i. `centre[0]` is box 2's in box 1's axes, `centre[1]` box 1's in
 * box 2's. The fourth lane is empty. */
typedef struct Boxes {
    v4d a, b, centre[2], absRow[3];
    const v4d *row, *column;
} Boxes;

/* Loaded, not built: writing one lane of a vector and reading it back whole stalls the processor. */
static const double UNIT[3][4] = {{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}};
static const double NO_LIMIT[3][4] = {{HUGE_VAL, 0.0, 0.0, 0.0}, {0.0, HUGE_VAL, 0.0, 0.0}, {0.0, 0.0, HUGE_VAL, 0.0}};

PC_INLINE v4d nextLane(v4d a) { return __builtin_shufflevector(a, a, 1, 2, 0, 3); }     /* lane j holds what j+1 held */
PC_INLINE v4d previousLane(v4d a) { return __builtin_shufflevector(a, a, 2, 0, 1, 3); } /* lane j holds what j+2 held */
PC_INLINE v4d withSign(v4d magnitude, v4d sign) { return (v4d)(((v4i)magnitude & INT64_MAX) | ((v4i)sign & INT64_MIN)); }

PC_INLINE void loadBoxes(const pcFrame* f, Boxes* B)
{
    const v4d* row = f->R.row;
    B->a = v3ToLanes(f->shape1->half), B->b = v3ToLanes(f->shape2->half);
    B->centre[0] = v3ToLanes(f->c), B->centre[1] = -(row[0] * f->c.x + row[1] * f->c.y + row[2] * f->c.z);
    B->row = row, B->column = f->R.column;
    for (int i = 0; i < 3; i++) B->absRow[i] = v4Abs(f->R.row[i]);
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

/* n = e_i x R_j over lanes j has components -R_kj along m = i+1 and R_mj along k = i+2. */
PC_INLINE void edgeAxes(Axes* out, const Boxes* B, int i, int m, int k, v4d b1, v4d b2, bool two)
{
    const v4d *row = B->row, *q = B->absRow;
    v4d c = B->centre[0], distance = v4Abs(row[m] * c[k] - row[k] * c[m]);
    v4i clear = q[m] * q[m] + q[k] * q[k] > PARALLEL;
    distance = v4Select(clear, distance, v4Splat(-1.0));
    setAxes(out, distance, q[k] * B->a[m] + q[m] * B->a[k], b1 * previousLane(q[i]) + b2 * nextLane(q[i]), two, 2 + i);
}

/* The best axis: its lane and family, r, and the reciprocals that the bounds need; D is that of the axis as it is, not of its unit
 * vector. */
typedef struct Winner {
    int lane, family;
    double r, perR, D, perD;
} Winner;

PC_INLINE Winner bestAxis(const Boxes* B, bool two)
{
    const v4d* q = B->absRow;
    v4d a = B->a, b = B->b, b1 = nextLane(b), b2 = previousLane(b);
    v4d reach1 = v4Abs(B->column[0]) * b[0] + v4Abs(B->column[1]) * b[1] + v4Abs(B->column[2]) * b[2];
    Axes faces, faces2, edges0, edges1, edges2;
    setAxes(&faces, v4Abs(B->centre[0]), a, reach1, two, 0);
    setAxes(&faces2, v4Abs(B->centre[1]), q[0] * a[0] + q[1] * a[1] + q[2] * a[2], b, two, 1);
    edgeAxes(&edges0, B, 0, 1, 2, b1, b2, two);
    edgeAxes(&edges1, B, 1, 2, 0, b1, b2, two);
    edgeAxes(&edges2, B, 2, 0, 1, b1, b2, two);
    keepLarger(&faces, &faces2);
    keepLarger(&edges0, &edges1);
    faces.numerator *= 1.0 + FACE_BONUS;
    keepLarger(&edges0, &edges2);
    keepLarger(&faces, &edges0);
    v4d ratio = faces.numerator / faces.denominator, inverse = faces.denominator / faces.numerator, perD = 1.0 / faces.denominator;
    double r0 = ratio[0], r1 = ratio[1], r2 = ratio[2], r01 = larger(r1, r0);
    int lane = r2 > r01 ? 2 : r1 > r0, family = (int)faces.family[lane];
    double bonus = family < 2 ? 1.0 - FACE_BONUS : 1.0;
    return (Winner){lane, family, larger(r2, r01) * bonus, inverse[lane], faces.denominator[lane], perD[lane]};
}

/* ---- confirmation: a common point ---- */

/* A face of one box (half sizes a, factor f, normal axis i, side up) against the other box (half sizes b, factor o, its axes as columns in
 * the first box's axes, its centre d). */
typedef struct FaceOn {
    v4d a, b, d;
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

PC_INLINE Flat flatFeature(const FaceOn* q, v4d corner, const double toward[3])
{
    int u = (q->i + 1) % 3, v = (q->i + 2) % 3;
    Flat flat = {corner[u], corner[v], {0.0, 0.0}, {0.0, 0.0}, 0.0, 0};
    for (int j = 0; j < 3; j++) {
        double slope = fabs(q->column[j][q->i]), step = -2.0 * q->o * q->b[j] * toward[j];
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

PC_INLINE bool overlapMiddle(const FaceOn* q, v4d corner, const double toward[3], v4d* point, double* loss)
{
    int u = (q->i + 1) % 3, v = (q->i + 2) % 3;
    Flat flat = flatFeature(q, corner, toward);
    double x, y, room = q->f * (1.0 + OUTSIDE);
    if (flat.steps == 0 || !commonPoint(&flat, q->a[u] * room, q->a[v] * room, &x, &y)) return false;
    *loss = flat.loss;
    (*point)[u] = x, (*point)[v] = y, (*point)[q->i] = q->up * q->f * q->a[q->i];
    return true;
}

PC_INLINE bool confirmFace(const FaceOn* q, v4d* point, double* loss)
{
    double toward[3];
    v4d corner = q->d;
    for (int j = 0; j < 3; j++) { /* the other box's corner that lies lowest over the face */
        toward[j] = copysign(1.0, -q->up * q->column[j][q->i]);
        corner += q->column[j] * (q->o * q->b[j] * toward[j]);
    }
    *point = corner;
    *loss = 0.0;
    v4d room = q->a * (q->f * (1.0 + OUTSIDE)) + v4Load(NO_LIMIT[q->i]);
    v4i inside = v4Abs(corner) <= room;
    if (inside[0] & inside[1] & inside[2]) return true;
    return overlapMiddle(q, corner, toward, point, loss);
}

/* A face of box `side` wins: look from that box, and turn the point back if it is box 2. Which one it is cannot be predicted, so the two
 * are one program that reads from either place. */
PC_INLINE bool confirmFaceOf(const Boxes* B, bool two, int side, int i, double r, double* loss, v4d* n, v4d* point)
{
    double other = two ? r : 1.0, up = copysign(1.0, B->centre[side][i]), f = side ? other : r, o = side ? r : other;
    FaceOn q = {side ? B->b : B->a, side ? B->a : B->b, B->centre[side], side ? B->row : B->column, f, o, up, i};
    bool found = confirmFace(&q, point, loss);
    v4d p = *point, turned = B->centre[0] + B->column[0] * p[0] + B->column[1] * p[1] + B->column[2] * p[2];
    v4i second = {-side, -side, -side, -side};
    *point = v4Select(second, turned, p);
    *n = v4Select(second, B->column[i] * -up, v4Load(UNIT[i]) * up);
    return found;
}

/* Edge i of box 1 on edge j of box 2: f1 (k1 + alpha e_i) = c + f2 (k2 + beta R_j), with m = c + f2 k2 - f1 k1 and n = e_i x R_j. */
PC_INLINE bool confirmEdges(const Boxes* B, bool two, int i, int j, double r, v4d* normal, v4d* point)
{
    const int j1 = j == 2 ? 0 : j + 1, j2 = j == 0 ? 2 : j - 1;
    double f1 = r, f2 = two ? r : 1.0;
    v4d unit = v4Load(UNIT[i]), edge = B->column[j];
    v4d n = nextLane(unit) * previousLane(edge) - previousLane(unit) * nextLane(edge), n0 = n;
    v4d c = B->centre[0];
    double side = copysign(1.0, n[0] * c[0] + n[1] * c[1] + n[2] * c[2]);
    n *= side;
    v4d k1 = withSign(B->a, n) * (1.0 - unit); /* n.R_(j+1) = R_i(j+2), n.R_(j+2) = -R_i(j+1) */
    double s1 = copysign(B->b[j1], -side * B->row[i][j2]), s2 = copysign(B->b[j2], side * B->row[i][j1]);
    v4d k2 = B->column[j1] * s1 + B->column[j2] * s2, m = c + k2 * f2 - k1 * f1;
    double square = n0[0] * n0[0] + n0[1] * n0[1] + n0[2] * n0[2];
    v4d alphaParts = (nextLane(m) * previousLane(edge) - previousLane(m) * nextLane(edge)) * n0;
    v4d betaParts = (nextLane(m) * previousLane(unit) - previousLane(m) * nextLane(unit)) * n0;
    double alpha = alphaParts[0] + alphaParts[1] + alphaParts[2], beta = betaParts[0] + betaParts[1] + betaParts[2];
    *normal = n;
    *point = k1 * f1 + unit * (alpha / square);
    double room = square * (1.0 + OUTSIDE);
    return (fabs(alpha) <= f1 * B->a[i] * room) & (fabs(beta) <= f2 * B->b[j] * room);
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
    if (w.family >= 2) {
        found = confirmEdges(&B, two, w.family - 2, w.lane, r, &n, &point);
        perSine = 1.0 / sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        n *= perSine;
    } else {
        found = confirmFaceOf(&B, two, w.family, w.lane, r, &loss, &n, &point);
    }
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
