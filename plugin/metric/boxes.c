/*
 * Two boxes: the facets of their Minkowski difference have 15 normals at most, so
 *
 *   r = max over the axes n of  |n.c| / (h1(n) + h2(n))      two-sided,      (|n.c| - h2(n)) / h1(n)   one-sided
 *   n = e_i (faces of box 1), R_j (faces of box 2, column j of R), e_i x R_j (edges);  h1(n) = sum a_i |n_i|, h2(n) = sum b_j |n.R_j|
 *
 * Each axis is a lower bound of r. The winner is confirmed by a common point of the scaled boxes, an upper bound: then nothing need be said
 * of the axes that did not win, and nearly parallel edges, whose axis is all rounding, can be left out. Where the point is not found
 * (the left-out edge was the winner) the general method decides.
 */
#include "base/status.h"
#include "metric/metric.h"

/* Edges closer to parallel than this (sine squared) are left to the general method. */
static const double PARALLEL = 1e-8;
/* How far the point may leave a box, relative to its size, before the axis counts as not confirmed. Enters the upper bound. */
static const double OUTSIDE = 2e-15;

/* The two boxes as numbers: half sizes a and b, box 2's axes as columns of R, its centre c, factors sigma as in metric.h. */
typedef struct Boxes {
    double a[3], b[3], c[3], R[3][3], sigma;
} Boxes;

typedef struct Axis {
    double numerator, denominator;
    int i, j; /* face of 1: (i, -1); face of 2: (-1, j); edges: (i, j) */
} Axis;

PC_INLINE void load(double out[3], v3 a) { out[0] = a.x, out[1] = a.y, out[2] = a.z; }

PC_INLINE Boxes boxesOf(const pcFrame* f)
{
    Boxes B = {.sigma = f->sigma};
    load(B.a, f->shape1->half);
    load(B.b, f->shape2->half);
    load(B.c, f->c);
    for (int i = 0; i < 3; i++) load(B.R[i], f->R.row[i]);
    return B;
}

PC_INLINE void challenge(Axis* best, double distance, double h1, double h2, double sigma, int i, int j)
{
    double numerator = sigma != 0.0 ? distance : distance - h2, denominator = sigma != 0.0 ? h1 + h2 : h1;
    if (numerator * best->denominator > best->numerator * denominator) *best = (Axis){numerator, denominator, i, j};
}

PC_INLINE Axis bestAxis(const Boxes* B)
{
    const double *a = B->a, *b = B->b, *c = B->c;
    double Q[3][3];
    Axis best = {-1.0, 1e-300, -1, -1};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) Q[i][j] = fabs(B->R[i][j]);
    for (int i = 0; i < 3; i++) challenge(&best, fabs(c[i]), a[i], b[0] * Q[i][0] + b[1] * Q[i][1] + b[2] * Q[i][2], B->sigma, i, -1);
    for (int j = 0; j < 3; j++) {
        double distance = fabs(c[0] * B->R[0][j] + c[1] * B->R[1][j] + c[2] * B->R[2][j]);
        challenge(&best, distance, a[0] * Q[0][j] + a[1] * Q[1][j] + a[2] * Q[2][j], b[j], B->sigma, -1, j);
    }
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
#pragma GCC unroll 3
        for (int j = 0; j < 3; j++) { /* n = e_i x R_j has components -R[i2][j] along i1 and R[i1][j] along i2 */
            const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            double square = Q[i1][j] * Q[i1][j] + Q[i2][j] * Q[i2][j];
            double distance = square > PARALLEL ? fabs(c[i2] * B->R[i1][j] - c[i1] * B->R[i2][j]) : -1.0;
            challenge(&best, distance, a[i1] * Q[i2][j] + a[i2] * Q[i1][j], b[j1] * Q[i][j2] + b[j2] * Q[i][j1], B->sigma, i, j);
        }
    }
    return best;
}

/* ---- confirmation: a common point ---- */

/* The face `i` of one box (half sizes a, factor f) against the other box (half sizes b, factor o, axes R, centre d). `up` is the side
 * of the face. Fills the point from the first box's centre and how far outside it had to be taken, relative to the normal extent. */
typedef struct FaceOn {
    double a[3], b[3], d[3], R[3][3], f, o, up;
    int i;
} FaceOn;

typedef struct Polygon {
    int count;
    double x[12], y[12];
} Polygon;

/* Cuts away what lies beyond sign * coordinate <= bound, coordinate 0 or 1. */
static Polygon clipPolygon(const Polygon* in, int coordinate, double sign, double bound)
{
    Polygon out = {0};
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

/* The other box's nearest corner lies beside the face, but its face or edge is parallel to it: the middle of the overlap will do. The
 * directions that are flat (|R_ij| tiny) span a segment or a rectangle; points of it are lower by at most `loss`. */
static bool overlapMiddle(const FaceOn* q, const double corner[3], const double toward[3], double point[3], double* loss)
{
    int u = (q->i + 1) % 3, v = (q->i + 2) % 3, flat[3], flats = 0;
    *loss = 0.0;
    for (int j = 0; j < 3; j++)
        if (fabs(q->R[q->i][j]) < 1e-13) flat[flats++] = j, *loss += 2.0 * q->o * q->b[j] * fabs(q->R[q->i][j]);
    if (flats == 0 || flats > 2) return false;
    Polygon p = {0};
    static const int walk[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    for (int n = 0; n < 2 * flats; n++) {
        double x = corner[u], y = corner[v];
        for (int m = 0; m < flats; m++) {
            double step = walk[n][m] ? -2.0 * q->o * q->b[flat[m]] * toward[flat[m]] : 0.0;
            x += step * q->R[u][flat[m]], y += step * q->R[v][flat[m]];
        }
        p.x[p.count] = x, p.y[p.count++] = y;
    }
    for (int side = 0; side < 4 && p.count > 0; side++)
        p = clipPolygon(&p, side / 2, side % 2 ? 1.0 : -1.0, q->f * q->a[side / 2 ? v : u] * (1.0 + OUTSIDE));
    if (p.count == 0) return false;
    point[u] = point[v] = 0.0;
    for (int n = 0; n < p.count; n++) point[u] += p.x[n] / p.count, point[v] += p.y[n] / p.count;
    point[q->i] = q->up * q->f * q->a[q->i];
    return true;
}

PC_INLINE bool confirmFace(const FaceOn* q, double point[3], double* loss)
{
    int u = (q->i + 1) % 3, v = (q->i + 2) % 3;
    double toward[3];
    for (int m = 0; m < 3; m++) point[m] = q->d[m];
    for (int j = 0; j < 3; j++) { /* the other box's corner that lies lowest over the face */
        toward[j] = q->up * q->R[q->i][j] > 0.0 ? -1.0 : 1.0;
        double step = q->o * q->b[j] * toward[j];
        for (int m = 0; m < 3; m++) point[m] += step * q->R[m][j];
    }
    *loss = 0.0;
    if (fabs(point[u]) <= q->f * q->a[u] * (1.0 + OUTSIDE) && fabs(point[v]) <= q->f * q->a[v] * (1.0 + OUTSIDE)) return true;
    double corner[3] = {point[0], point[1], point[2]};
    return overlapMiddle(q, corner, toward, point, loss);
}

/* Face of box 1 wins: look from box 1. */
PC_INLINE bool confirmFace1(const Boxes* B, int i, double r, double* loss, v3* n, v3* point)
{
    double up = B->c[i] > 0.0 ? 1.0 : -1.0, p[3], axis[3] = {0.0, 0.0, 0.0};
    FaceOn q = {.f = r, .o = B->sigma != 0.0 ? r : 1.0, .up = up, .i = i};
    __builtin_memcpy(q.a, B->a, sizeof q.a);
    __builtin_memcpy(q.b, B->b, sizeof q.b);
    __builtin_memcpy(q.d, B->c, sizeof q.d);
    __builtin_memcpy(q.R, B->R, sizeof q.R);
    bool found = confirmFace(&q, p, loss);
    axis[i] = up;
    *n = v3Load(axis), *point = v3Load(p);
    return found;
}

/* Face of box 2 wins: look from box 2, and turn the point back. */
PC_INLINE bool confirmFace2(const Boxes* B, int j, double r, double* loss, v3* n, v3* point)
{
    double p[3], along = B->c[0] * B->R[0][j] + B->c[1] * B->R[1][j] + B->c[2] * B->R[2][j];
    FaceOn q = {.f = B->sigma != 0.0 ? r : 1.0, .o = r, .up = along > 0.0 ? -1.0 : 1.0, .i = j};
    __builtin_memcpy(q.a, B->b, sizeof q.a);
    __builtin_memcpy(q.b, B->a, sizeof q.b);
    for (int k = 0; k < 3; k++) {
        q.d[k] = -(B->c[0] * B->R[0][k] + B->c[1] * B->R[1][k] + B->c[2] * B->R[2][k]);
        for (int m = 0; m < 3; m++) q.R[k][m] = B->R[m][k];
    }
    bool found = confirmFace(&q, p, loss);
    *n = v3Scale(-q.up, v3Make(B->R[0][j], B->R[1][j], B->R[2][j]));
    double x[3];
    for (int m = 0; m < 3; m++) x[m] = B->c[m] + B->R[m][0] * p[0] + B->R[m][1] * p[1] + B->R[m][2] * p[2];
    *point = v3Load(x);
    return found;
}

/* Edge i of box 1 on edge j of box 2: f1 (k1 + alpha e_i) = c + f2 (k2 + beta R_j), with m = c + f2 k2 - f1 k1 and n = e_i x R_j. */
PC_INLINE bool confirmEdges(const Boxes* B, int i, int j, double r, v3* n, v3* point)
{
    double f1 = r, f2 = B->sigma != 0.0 ? r : 1.0, e[3] = {0.0, 0.0, 0.0}, k1[3], k2[3] = {0.0, 0.0, 0.0};
    e[i] = 1.0;
    v3 edge1 = v3Load(e), edge2 = v3Make(B->R[0][j], B->R[1][j], B->R[2][j]), c = v3Load(B->c), axis = v3Cross(edge1, edge2);
    if (v3Dot(axis, c) < 0.0) axis = v3Neg(axis);
    double along[3] = {axis.x, axis.y, axis.z};
    for (int m = 0; m < 3; m++) k1[m] = m == i ? 0.0 : (along[m] > 0.0 ? B->a[m] : -B->a[m]);
    for (int l = 0; l < 3; l++) {
        double part = along[0] * B->R[0][l] + along[1] * B->R[1][l] + along[2] * B->R[2][l];
        double step = l == j ? 0.0 : (part > 0.0 ? -B->b[l] : B->b[l]);
        for (int m = 0; m < 3; m++) k2[m] += step * B->R[m][l];
    }
    v3 m = v3Sub(v3AddScaled(c, f2, v3Load(k2)), v3Scale(f1, v3Load(k1)));
    v3 cross = v3Cross(edge1, edge2);
    double square = v3Dot(cross, cross), alpha = v3Dot(v3Cross(m, edge2), cross) / square, beta = v3Dot(v3Cross(m, edge1), cross) / square;
    *n = axis;
    *point = v3AddScaled(v3Scale(f1, v3Load(k1)), alpha, edge1);
    return fabs(alpha) <= f1 * B->a[i] * (1.0 + OUTSIDE) && fabs(beta) <= f2 * B->b[j] * (1.0 + OUTSIDE);
}

/* Rounding of c, of R and of the sums, relative to D; an edge axis loses by the sine of its edges as well. */
PC_INLINE double relativeError(const pcFrame* f, double r, double D, double sine)
{
    double R1 = f->shape1->outradius, R2 = f->shape2->outradius, fixed = f->sigma != 0.0 ? 1.0 : 1.0 + 1.0 / r;
    double lengths = (3.0 * R1 + 10.0 * R2) * fixed + (f->error / PC_ROUND + 6.0 * v3Norm(f->c)) / r;
    return PC_ROUND * lengths / (D * sine);
}

bool pcMetricBoxes(const pcFrame* f, pcFrameMetric* out)
{
    Boxes B = boxesOf(f);
    Axis axis = bestAxis(&B);
    double r = axis.numerator / axis.denominator, loss = 0.0;
    if (!(r > 0.0)) return false;
    bool found, edges = axis.i >= 0 && axis.j >= 0;
    if (edges)
        found = confirmEdges(&B, axis.i, axis.j, r, &out->n, &out->point);
    else if (axis.i >= 0)
        found = confirmFace1(&B, axis.i, r, &loss, &out->n, &out->point);
    else
        found = confirmFace2(&B, axis.j, r, &loss, &out->n, &out->point);
    out->hasBasis = false;
    if (!found) return false;
    double sine = edges ? v3Norm(out->n) : 1.0, D = axis.denominator / sine;
    double inner = B.sigma != 0.0 ? f->shape1->inradius + f->shape2->inradius : f->shape1->inradius;
    double outside = OUTSIDE * (f->shape1->outradius + f->shape2->outradius * (B.sigma != 0.0 ? 1.0 : 1.0 / r)) / inner;
    double error = relativeError(f, r, D, sine);
    out->n = edges ? v3Scale(1.0 / sine, out->n) : out->n;
    out->r = r, out->D = D;
    out->lower = r * (1.0 - error), out->upper = r * (1.0 + error + outside) + loss / D;
    out->path = PC_PATH_CLOSED;
    return error <= PC_METRIC_TOLERANCE && out->upper - r <= PC_METRIC_TOLERANCE * r;
}
