/*
 * The ratio metric from the vertex side, in double precision: a primal simplex method whose columns are found by support queries.
 *
 *   min sum(lambda)   B x = rhs,   columns (k1; sigma) of body 1 at cost 1, (-k2; -1) of body 2 at cost 0,   rhs (c; sigma - 1)
 *   (n, s)            multipliers: n is the direction in which the supports are asked
 *
 * It begins inside: three points of the ball inscribed in body 1 around the ray c, and the centre of body 2. These are points of the bodies
 * though not vertices, so the start is feasible, and better columns drive them out. Degenerate rays (through an edge or a vertex of
 * the Minkowski difference) would make steps of length zero: the ray is turned by 1e-13 for the choice of pivots only. What the
 * final basis says is then computed anew from the true data, with bounds; an answer that is not certified goes to exact.c.
 */
#include "metric/metric.h"

#define ITERATION_LIMIT 200
static const double RAY_TURN = 1e-13;
/* A pivot below this fraction of its column is rounding. */
static const double PIVOT_TOLERANCE = 1e-12;
/* Constants of the forward error bound, in units of PC_ROUND: a vertex of body 1, one of body 2 (turned by R), the centre distance. */
static const double ERROR_K1 = 3.0, ERROR_K2 = 10.0, ERROR_C = 3.0, ERROR_CROSS = 8.0;

typedef struct Tableau {
    v4d col[4]; /* columns of the inverse basis */
    v4d x;      /* weights of the basis under the turned ray */
    v3 n;
    double s;
    pcBasis basis;
} Tableau;

/* Any unit vectors u, v with (axis, u, v) orthonormal. */
PC_INLINE void completeFrame(v3 axis, v3* u, v3* v)
{
    double sign = axis.z >= 0.0 ? 1.0 : -1.0, a = -1.0 / (sign + axis.z), b = axis.x * axis.y * a;
    *u = v3Make(1.0 + sign * axis.x * axis.x * a, sign * b, -sign * axis.x);
    *v = v3Make(b, sign + axis.y * axis.y * a, -axis.y);
}

/* The three inner points are rho times an orthonormal triad about the ray, so the inverse basis is its transpose. */
PC_INLINE void startInside(const pcFrame* f, Tableau* t)
{
    double rho = f->shape1->inradius, length = v3Norm(f->c), sigma = f->sigma;
    v3 axis = v3Scale(1.0 / length, f->c), u, v, q[3];
    completeFrame(axis, &u, &v);
    const double a = 0.57735026918962576, b = 0.81649658092772603, c = 0.40824829046386302, d = 0.70710678118654752;
    q[0] = v3AddScaled(v3Scale(a, axis), b, u);
    q[1] = v3AddScaled(v3AddScaled(v3Scale(a, axis), -c, u), d, v);
    q[2] = v3AddScaled(v3AddScaled(v3Scale(a, axis), -c, u), -d, v);
    v3 sum = v3Add(q[0], v3Add(q[1], q[2]));
    double inverse = 1.0 / rho;
    t->col[0] = (v4d){q[0].x, q[1].x, q[2].x, sigma * sum.x} * inverse;
    t->col[1] = (v4d){q[0].y, q[1].y, q[2].y, sigma * sum.y} * inverse;
    t->col[2] = (v4d){q[0].z, q[1].z, q[2].z, sigma * sum.z} * inverse;
    t->col[3] = (v4d){0.0, 0.0, 0.0, -1.0};
    v3 ray = v3Add(f->c, v3Scale(RAY_TURN * length, v3AddScaled(v3Scale(0.57, u), 0.83, v)));
    t->x = t->col[0] * ray.x + t->col[1] * ray.y + t->col[2] * ray.z + t->col[3] * (sigma - 1.0);
    t->n = v3Scale(inverse, sum);
    t->s = 0.0;
    t->basis = (pcBasis){{0, 0, 0, 1}, {-1, -1, -1, -1}};
}

PC_INLINE bool inBasis(const pcBasis* b, int side, int vertex)
{
    bool found = false;
    for (int i = 0; i < 4; i++) found |= (b->side[i] == side) & (b->vertex[i] == vertex);
    return found;
}

/* One pivot: the column of that vertex enters at reduced cost `cost` < 0. False if nothing blocks it, which exact arithmetic excludes. */
PC_INLINE bool enter(Tableau* t, double sigma, int side, int vertex, v3 k, double cost)
{
    double w = side == 0 ? 1.0 : -1.0, last = side == 0 ? sigma : -1.0;
    v4d d = t->col[0] * (w * k.x) + t->col[1] * (w * k.y) + t->col[2] * (w * k.z) + t->col[3] * last;
    v4d size = v4Abs(d);
    double largest = fmax(fmax(size[0], size[1]), fmax(size[2], size[3]));
    v4d ratio = v4Select(d > PIVOT_TOLERANCE * largest, t->x / d, v4Splat(HUGE_VAL));
    int p = 0;
    for (int i = 1; i < 4; i++)
        if (ratio[i] < ratio[p]) p = i;
    if (!(ratio[p] < HUGE_VAL)) return false;
    double inverse = 1.0 / d[p], theta[4], step = t->x[p] * inverse;
    for (int j = 0; j < 4; j++) {
        theta[j] = t->col[j][p] * inverse;
        t->col[j] -= d * theta[j];
        t->col[j][p] = theta[j];
    }
    t->x -= d * step;
    t->x[p] = step;
    t->n = v3Add(t->n, v3Make(cost * theta[0], cost * theta[1], cost * theta[2]));
    t->s += cost * theta[3];
    t->basis.side[p] = side;
    t->basis.vertex[p] = vertex;
    return true;
}

/* Above the scan limit: climb from whichever is higher, the last vertex found or the one the direction table proposes. */
PC_INLINE pcSupport supportNear(const pcShape* s, v3 d, int last)
{
    if (s->vertexCount <= PC_SCAN_LIMIT) return pcSupportScan(s, d);
    int start = pcSupportStart(s, d);
    if (last >= 0 && v3Dot(pcShapeK(s, last), d) > v3Dot(pcShapeK(s, start), d)) start = last;
    return pcSupportClimb(s, d, start);
}

/* Pivots until neither body has a vertex beyond the planes of the multipliers. */
PC_INLINE bool pivotToOptimum(const pcFrame* f, Tableau* t)
{
    int last1 = -1, last2 = -1;
    double noise1 = 8.0 * PC_ROUND * f->shape1->outradius, noise2 = 8.0 * PC_ROUND * f->shape2->outradius;
    for (int iteration = 0; iteration < ITERATION_LIMIT; iteration++) {
        pcSupport far1 = supportNear(f->shape1, t->n, last1);
        pcSupport far2 = supportNear(f->shape2, v3Neg(m3TMul(f->R, t->n)), last2);
        last1 = far1.vertex, last2 = far2.vertex;
        double size = fabs(t->n.x) + fabs(t->n.y) + fabs(t->n.z);
        double over1 = far1.value - (1.0 - f->sigma * t->s), over2 = far2.value - t->s;
        bool enters1 = over1 > noise1 * size && !inBasis(&t->basis, 0, last1);
        bool enters2 = over2 > noise2 * size && !inBasis(&t->basis, 1, last2);
        if (!enters1 && !enters2) return true;
        v3 k1 = pcShapeK(f->shape1, last1), k2 = pcFrameK2(f, last2);
        bool first1 = enters1 && (!enters2 || over1 >= over2);
        if (first1 && !enter(t, f->sigma, 0, last1, k1, -over1)) return false;
        if (enters2) { /* under the multipliers as they are now */
            over2 = first1 ? -v3Dot(t->n, k2) - t->s : over2;
            if (over2 > noise2 * size && !enter(t, f->sigma, 1, last2, k2, -over2)) return false;
        }
        if (enters1 && !first1) {
            over1 = v3Dot(t->n, k1) - (1.0 - f->sigma * t->s);
            if (over1 > noise1 * size && !enter(t, f->sigma, 0, last1, k1, -over1)) return false;
        }
    }
    return false;
}

/* ---- what a basis says, from the true data ---- */

/* The features of a basis in the frame: `count1` vertices a of body 1, 4 - count1 vertices b of body 2, and the edges that span the
 * plane of contact. Every array has a slot for each of the three possible vertices, so that no index depends on the counts. */
typedef struct Features {
    int count1, first1, first2;
    v3 a[4], b[4];
    v3 e, g; /* edge vectors whose cross product is the normal */
} Features;

PC_INLINE bool gatherFeatures(const pcFrame* f, const pcBasis* basis, Features* out)
{
    int count1 = 0, count2 = 0;
    out->first1 = out->first2 = 0;
    for (int i = 0; i < 4; i++) {
        int vertex = basis->vertex[i];
        if (vertex < 0) return false;
        if (basis->side[i] == 0) {
            if (count1 == 0) out->first1 = vertex;
            out->a[count1++] = pcShapeK(f->shape1, vertex);
        } else {
            if (count2 == 0) out->first2 = vertex;
            out->b[count2++] = pcFrameK2(f, vertex);
        }
    }
    out->count1 = count1;
    if (count1 == 0 || count1 == 4) return false;
    out->e = count1 >= 2 ? v3Sub(out->a[1], out->a[0]) : v3Sub(out->b[1], out->b[0]);
    out->g = count1 == 3 ? v3Sub(out->a[2], out->a[0]) : count1 == 2 ? v3Sub(out->b[1], out->b[0]) : v3Sub(out->b[2], out->b[0]);
    return true;
}

/* The common point x (from centre 1) and the most negative of the weights that make it, each between 0 and 1 if feasible. With
 * f1 = r and f2 = r or 1 the factors of the bodies:  f1 a-part = c + f2 b-part  in the plane spanned by e and g, cross = e x g. */
PC_INLINE double witness(const pcFrame* f, const Features* q, v3 cross, double r, v3* point)
{
    double f1 = r, f2 = f->sigma != 0.0 ? r : 1.0, square = v3Dot(cross, cross);
    v3 m = v3Sub(v3AddScaled(f->c, f2, q->b[0]), v3Scale(f1, q->a[0]));
    double alpha = v3Dot(v3Cross(m, q->g), cross) / square, beta = v3Dot(v3Cross(q->e, m), cross) / square;
    if (q->count1 == 2) { /* f1 alpha e - f2 beta' g = m */
        alpha /= f1, beta /= -f2;
        *point = v3Scale(f1, v3AddScaled(q->a[0], alpha, q->e));
        return fmin(fmin(alpha, 1.0 - alpha), fmin(beta, 1.0 - beta));
    }
    if (q->count1 == 3) {
        alpha /= f1, beta /= f1;
        *point = v3AddScaled(f->c, f2, q->b[0]);
    } else {
        alpha /= -f2, beta /= -f2;
        *point = v3Scale(f1, q->a[0]);
    }
    return fmin(fmin(alpha, beta), 1.0 - alpha - beta);
}

/* What climbing may miss on a facet of many corners, where neighbours differ by less than rounding. */
PC_INLINE double climbError(const pcShape* s) { return s->vertexCount <= PC_SCAN_LIMIT ? 0.0 : 2.0 * s->largestFacet * s->outradius; }

/* Relative forward error of r = n.c / D: of the vertices, of the centre distance, and of n through the span of the contact. */
PC_INLINE double relativeError(const pcFrame* f, const Features* q, double size, double D, double r)
{
    double e = v3Norm(q->e), g = v3Norm(q->g), R1 = f->shape1->outradius, R2 = f->shape2->outradius;
    double vertices = ERROR_K1 * R1 + ERROR_K2 * R2 + climbError(f->shape1) + climbError(f->shape2);
    double centres = ERROR_C * v3Norm(f->c) + f->error / PC_ROUND;
    double cross = ERROR_CROSS * e * g * fmax(e, g) / size;
    double fixed = f->sigma != 0.0 ? 1.0 : 1.0 + 1.0 / r; /* one-sided, body 2's errors are not scaled by r */
    return PC_ROUND * ((vertices + cross) * fixed + centres / r) * size / D;
}

/* r, bounds, normal and point of a basis. Returns whether it is certified; *feasible whether its weights are those of a point at all. */
PC_INLINE bool certify(const pcFrame* f, const pcBasis* basis, pcFrameMetric* out, bool* feasible)
{
    Features q;
    *feasible = false;
    if (!gatherFeatures(f, basis, &q)) return false;
    bool two = f->sigma != 0.0;
    v3 cross = v3Cross(q.e, q.g), n = cross, w = two ? v3Sub(q.a[0], q.b[0]) : q.a[0];
    double D = v3Dot(n, w);
    if (D < 0.0) n = v3Neg(n), D = -D;
    double r = v3Dot(n, two ? f->c : v3Add(f->c, q.b[0])) / D;
    if (!(D > 0.0) || !(r > 0.0)) return false;
    double weight = witness(f, &q, cross, r, &out->point);
    *feasible = weight >= -1e-12;
    if (!(weight >= -1e-12)) return false;
    double size = v3Norm(n);
    pcSupport far1 = pcSupportOf(f->shape1, n, q.first1), far2 = pcSupportOf(f->shape2, v3Neg(m3TMul(f->R, n)), q.first2);
    double h1 = fmax(far1.value, v3Dot(n, q.a[0])), h2 = fmax(far2.value, -v3Dot(n, q.b[0]));
    double low = two ? v3Dot(n, f->c) / (h1 + h2) : (v3Dot(n, f->c) - h2) / h1;
    double error = relativeError(f, &q, size, D, r);
    double inner = two ? f->shape1->inradius + f->shape2->inradius : f->shape1->inradius;
    double outer = f->shape1->outradius + (two ? f->shape2->outradius : f->shape2->outradius / r);
    out->r = r;
    out->lower = fmin(low, r) * (1.0 - error);
    out->upper = r * (1.0 + error + 4.0 * fmax(-weight, 0.0) * (1.0 + outer / inner));
    out->n = v3Scale(1.0 / size, n);
    out->D = D / size;
    out->basis = *basis;
    out->hasBasis = true;
    return r - out->lower <= PC_METRIC_TOLERANCE * r && out->upper - r <= PC_METRIC_TOLERANCE * r;
}

/* ---- warm start ---- */

/* Inverse of the 4x4 basis by Gauss-Jordan with row pivoting; false if singular. */
PC_INLINE bool invertBasis(const pcFrame* f, const pcBasis* basis, Tableau* t)
{
    double M[4][8] = {{0}};
    for (int j = 0; j < 4; j++) {
        double w = basis->side[j] == 0 ? 1.0 : -1.0;
        v3 k = basis->side[j] == 0 ? pcShapeK(f->shape1, basis->vertex[j]) : pcFrameK2(f, basis->vertex[j]);
        M[0][j] = w * k.x, M[1][j] = w * k.y, M[2][j] = w * k.z, M[3][j] = basis->side[j] == 0 ? f->sigma : -1.0;
        M[j][4 + j] = 1.0;
    }
    for (int c = 0; c < 4; c++) {
        int p = c;
        for (int i = c + 1; i < 4; i++)
            if (fabs(M[i][c]) > fabs(M[p][c])) p = i;
        if (!(fabs(M[p][c]) > 0.0)) return false;
        for (int j = 0; j < 8; j++) {
            double swap = M[c][j];
            M[c][j] = M[p][j], M[p][j] = swap;
        }
        double inverse = 1.0 / M[c][c];
        for (int j = 0; j < 8; j++) M[c][j] *= inverse;
        for (int i = 0; i < 4; i++)
            if (i != c) {
                double factor = M[i][c];
                for (int j = 0; j < 8; j++) M[i][j] -= factor * M[c][j];
            }
    }
    for (int j = 0; j < 4; j++) t->col[j] = (v4d){M[0][4 + j], M[1][4 + j], M[2][4 + j], M[3][4 + j]};
    return true;
}

/* Takes up a basis whose weights are feasible; false if it cannot. */
PC_INLINE bool startFrom(const pcFrame* f, const pcBasis* basis, Tableau* t)
{
    if (!invertBasis(f, basis, t)) return false;
    t->x = t->col[0] * f->c.x + t->col[1] * f->c.y + t->col[2] * f->c.z + t->col[3] * (f->sigma - 1.0);
    v4d cost = {basis->side[0] == 0, basis->side[1] == 0, basis->side[2] == 0, basis->side[3] == 0};
    double y[4];
    for (int j = 0; j < 4; j++) {
        v4d product = cost * t->col[j];
        y[j] = product[0] + product[1] + product[2] + product[3];
    }
    t->n = v3Make(y[0], y[1], y[2]), t->s = y[3];
    t->basis = *basis;
    return v3Finite(t->n);
}

PC_SIMD bool pcMetricSimplex(const pcFrame* f, const pcBasis* startOrNull, pcFrameMetric* out)
{
    Tableau t;
    bool feasible = false;
    out->path = PC_PATH_WARM;
    if (startOrNull && certify(f, startOrNull, out, &feasible)) return true;
    out->path = PC_PATH_SIMPLEX;
    out->hasBasis = false;
    if (!feasible || !startFrom(f, startOrNull, &t)) startInside(f, &t);
    if (!pivotToOptimum(f, &t)) return false;
    out->basis = t.basis;
    return certify(f, &t.basis, out, &feasible);
}
