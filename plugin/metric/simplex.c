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

/* Masks of one lane. */
static const int64_t LANE[4][4] = {{-1, 0, 0, 0}, {0, -1, 0, 0}, {0, 0, -1, 0}, {0, 0, 0, -1}};

typedef struct Tableau {
    v4d col[4]; /* columns of the inverse basis */
    v4d x;      /* weights of the basis under the turned ray */
    v3 n;
    double s;
    int side[4], vertex[4]; /* whose column stands where: body 0 or 1; vertex -1 is no vertex but an inner point of the start */
} Tableau;

/* The three inner points lie on the ball inscribed in body 1, evenly around the ray, at the angle that pcShape chose (`innerAlong`,
 * `innerAcross`): the inverse basis is their dual triad. */
PC_INLINE void startInside(const pcFrame* f, Tableau* t)
{
    const double half = 0.5, high = 0.86602540378443865; /* cosine and sine of 60 degrees */
    double length = v3Norm(f->c), sigma = f->sigma, across = f->shape1->innerAcross;
    v3 axis = v3Scale(1.0 / length, f->c), u, v, q[3];
    v3Complete(axis, &u, &v);
    v3 along = v3Scale(f->shape1->innerAlong, axis), back = v3AddScaled(along, -half * across, u), sum = v3Scale(3.0, along);
    q[0] = v3AddScaled(along, across, u), q[1] = v3AddScaled(back, high * across, v), q[2] = v3AddScaled(back, -high * across, v);
    t->col[0] = (v4d){q[0].x, q[1].x, q[2].x, sigma * sum.x};
    t->col[1] = (v4d){q[0].y, q[1].y, q[2].y, sigma * sum.y};
    t->col[2] = (v4d){q[0].z, q[1].z, q[2].z, sigma * sum.z};
    t->col[3] = (v4d){0.0, 0.0, 0.0, -1.0};
    v3 ray = v3Add(f->c, v3Scale(RAY_TURN * length, v3AddScaled(v3Scale(0.57, u), 0.83, v)));
    t->x = t->col[0] * ray.x + t->col[1] * ray.y + t->col[2] * ray.z + t->col[3] * (sigma - 1.0);
    t->n = sum;
    t->s = 0.0;
    for (int i = 0; i < 4; i++) t->side[i] = i == 3, t->vertex[i] = -1;
}

PC_INLINE bool inBasis(const Tableau* t, int side, int vertex)
{
    bool found = false;
    for (int i = 0; i < 4; i++) found |= (t->side[i] == side) & (t->vertex[i] == vertex);
    return found;
}

/* One pivot: the column of a vertex enters at reduced cost `cost` < 0. False if nothing blocks it, which exact arithmetic excludes. */
PC_INLINE bool enter(Tableau* t, double sigma, int side, int vertex, v3 k, double cost)
{
    double w = side == 0 ? 1.0 : -1.0, last = side == 0 ? sigma : -1.0;
    v4d d = (t->col[0] * k.x + t->col[1] * k.y + t->col[2] * k.z) * w + t->col[3] * last;
    v4d size = v4Abs(d);
    double largest = larger(larger(size[0], size[1]), larger(size[2], size[3]));
    v4d perD = 1.0 / d, ratio = v4Select(d > PIVOT_TOLERANCE * largest, t->x * perD, v4Splat(HUGE_VAL));
    int p01 = ratio[1] < ratio[0], p23 = 2 + (ratio[3] < ratio[2]);
    double low01 = smaller(ratio[1], ratio[0]), low23 = smaller(ratio[3], ratio[2]);
    int p = low23 < low01 ? p23 : p01;
    double step = smaller(low23, low01), theta[4];
    if (!(step < HUGE_VAL)) return false;
    v4i here;
    __builtin_memcpy(&here, LANE[p], sizeof here); /* a lane written alone would stall the next read */
    for (int j = 0; j < 4; j++) {
        theta[j] = t->col[j][p] * perD[p];
        t->col[j] = v4Select(here, v4Splat(theta[j]), t->col[j] - d * theta[j]);
    }
    t->x = v4Select(here, v4Splat(step), t->x - d * step);
    t->n = v3Add(t->n, v3Make(cost * theta[0], cost * theta[1], cost * theta[2]));
    t->s += cost * theta[3];
    t->side[p] = side, t->vertex[p] = vertex;
    return true;
}

/* What the search knows of one body: how to ask it, and the vertex that it named last. */
typedef struct Side {
    const pcShape* shape;
    double noise; /* an excess below noise |n| is rounding */
    int last;
} Side;

/* A vertex of that body beyond its plane, `level` along d. On a large body a vertex that is merely good will do while it still
 * improves: the one that the direction table proposes, or the last one; only when it does not is the farthest looked for. */
PC_INLINE pcSupport beyond(const Side* side, v3 d, double level, double size)
{
    const pcShape* s = side->shape;
    if (s->vertexCount <= PC_SCAN_LIMIT) return pcSupportScan(s, d);
    pcSupport good = pcSupportAt(s, d, pcSupportStart(s, d));
    if (good.value - level > side->noise * size) return good;
    if (side->last >= 0) {
        pcSupport last = pcSupportAt(s, d, side->last);
        good = last.value > good.value ? last : good;
    }
    return pcSupportClimb(s, d, good);
}

/* Pivots until neither body has a vertex beyond the planes of the multipliers. */
PC_INLINE bool pivotToOptimum(const pcFrame* f, Tableau* t)
{
    Side side[2] = {{f->shape1, 8.0 * PC_ROUND * f->shape1->outradius, -1}, {f->shape2, 8.0 * PC_ROUND * f->shape2->outradius, -1}};
    for (int iteration = 0; iteration < ITERATION_LIMIT; iteration++) {
        double size = v3Size(t->n), level1 = 1.0 - f->sigma * t->s, level2 = t->s, over[2];
        pcSupport far1 = beyond(side, t->n, level1, size), far2 = beyond(side + 1, v3Neg(m3TMul(&f->R, t->n)), level2, size);
        v3 k[2] = {pcShapeK(f->shape1, far1.vertex), pcFrameK2(f, far2.vertex)};
        over[0] = far1.value - level1, over[1] = far2.value - level2;
        side[0].last = far1.vertex, side[1].last = far2.vertex;
        int first = over[1] > over[0], second = 1 - first;
        if (!(over[first] > side[first].noise * size) || inBasis(t, first, side[first].last)) {
            first = second; /* the other may still improve by more than its own, smaller, noise */
            if (!(over[first] > side[first].noise * size) || inBasis(t, first, side[first].last)) return true;
        }
        if (!enter(t, f->sigma, first, side[first].last, k[first], -over[first])) return false;
        /* the other vertex is known already: is it beyond its plane as that stands now? */
        second = 1 - first;
        double now = second == 0 ? v3Dot(t->n, k[0]) - 1.0 + f->sigma * t->s : -v3Dot(t->n, k[1]) - t->s;
        if (now > side[second].noise * size && !inBasis(t, second, side[second].last) &&
            !enter(t, f->sigma, second, side[second].last, k[second], -now))
            return false;
    }
    return false;
}

/* ---- what a basis says, from the true data ---- */

/* The features of a basis in the frame: vertices a of body 1 and b of body 2, and the edges that span the plane of contact. `count1` is a
 * constant wherever these functions are inlined: the three sorts of contact are three programs, told apart by one branch. */
typedef struct Features {
    v3 a, b; /* the first vertex of each */
    v3 e, g; /* 3 + 1: two edges of body 1; 2 + 2: one of each; 1 + 3: two of body 2 */
} Features;

PC_INLINE void gatherFeatures(const pcFrame* f, const int v[4], int count1, Features* q)
{
    const pcShape *s1 = f->shape1, *s2 = f->shape2;
    v3 b = pcShapeK(s2, v[count1]);
    q->a = pcShapeK(s1, v[0]);
    q->b = m3Mul(&f->R, b);
    q->e = count1 >= 2 ? v3Sub(pcShapeK(s1, v[1]), q->a) : m3Mul(&f->R, v3Sub(pcShapeK(s2, v[2]), b));
    q->g = count1 == 3 ? v3Sub(pcShapeK(s1, v[2]), q->a) : m3Mul(&f->R, v3Sub(pcShapeK(s2, v[3]), b));
}

/* The common point x (from centre 1) and the least of the weights that make it, each between 0 and 1 if feasible. With f1 = r and
 * f2 = r or 1 the factors of the bodies:  f1 a-part = c + f2 b-part  in the plane spanned by e and g, cross = e x g. */
PC_INLINE double witness(const pcFrame* f, const Features* q, int count1, v3 cross, double perSquare, double r, double perR, v3* point)
{
    bool two = f->sigma != 0.0;
    double f2 = two ? r : 1.0, perF2 = two ? perR : 1.0;
    v3 from1 = v3Scale(r, q->a), from2 = v3AddScaled(f->c, f2, q->b), m = v3Sub(from2, from1);
    double alpha = v3Dot(v3Cross(m, q->g), cross) * perSquare * (count1 == 1 ? -perF2 : perR);
    double beta = v3Dot(v3Cross(q->e, m), cross) * perSquare * (count1 == 3 ? perR : -perF2);
    *point = count1 == 3 ? from2 : count1 == 2 ? v3AddScaled(from1, r * alpha, q->e) : from1;
    double last = count1 == 2 ? smaller(1.0 - alpha, 1.0 - beta) : 1.0 - alpha - beta;
    return smaller(smaller(alpha, beta), last);
}

/* What looking at neighbours only may miss. */
PC_INLINE double climbError(const pcShape* s) { return s->vertexCount <= PC_SCAN_LIMIT ? 0.0 : s->roughness; }

/* Lengths that the error bounds are made of. */
typedef struct Lengths {
    double e, g;         /* of the spanning edges, at least */
    double body1, body2; /* circumradii; body 2's in units of its own factor */
    double centre;       /* |c| / r */
    double inner;        /* radius of a ball in what grows */
} Lengths;

PC_INLINE void setLengths(const pcFrame* f, const Features* q, double perR, Lengths* out)
{
    bool two = f->sigma != 0.0;
    out->e = v3Size(q->e), out->g = v3Size(q->g), out->centre = v3Size(f->c) * perR;
    out->body1 = f->shape1->outradius, out->body2 = f->shape2->outradius * (two ? 1.0 : larger(1.0, perR));
    out->inner = two ? f->shape1->inradius + f->shape2->inradius : f->shape1->inradius;
}

/* Relative forward error of r = n.c / D: of the vertices, of the centre distance, and of n through the span of the contact. */
PC_INLINE double relativeError(const pcFrame* f, const Lengths* l, double perSize, double perDepth, double perR)
{
    double vertices = ERROR_K1 * l->body1 + ERROR_K2 * l->body2, missed = climbError(f->shape1) + climbError(f->shape2);
    double cross = ERROR_CROSS * l->e * l->g * larger(l->e, l->g) * perSize;
    return (PC_ROUND * (vertices + cross + ERROR_C * l->centre) + missed + f->error * perR) * perDepth;
}

/* Error of a weight: what the two sides of m = c + f2 b - f1 a lose, seen across the thinner way of the spanned plane. */
PC_INLINE double weightError(const Lengths* l, double perSize)
{
    double across = larger(l->e, l->g) * perSize;
    return PC_ROUND * (16.0 * (l->centre + l->body1 + l->body2) * across + 8.0 * l->e * l->g * perSize);
}

PC_INLINE double largestLane(v4d a) { return larger(larger(a[0], a[1]), larger(a[2], a[3])); }

/* The farthest that a body reaches along d, given a vertex that is farthest if the basis is right: then asking its neighbours is enough. If
 * the first step up is no more than rounding, all the steps after it together are no more than the body's roughness (heights along a
 * path over a convex body rise ever less); if it is more, the climb goes on. */
PC_INLINE double reachFrom(const pcShape* s, v3 d, int vertex)
{
    v4d dx = v4Splat(d.x), dy = v4Splat(d.y), dz = v4Splat(d.z), best = v4Splat(-HUGE_VAL);
    if (s->vertexCount <= PC_SCAN_LIMIT) {
        for (int i = 0; i < s->paddedCount; i += 4)
            best = v4Max(best, v4Load(s->kx + i) * dx + v4Load(s->ky + i) * dy + v4Load(s->kz + i) * dz);
        return largestLane(best);
    }
    pcSupport own = pcSupportAt(s, d, vertex);
    for (int b = s->climbStart[vertex]; b < s->climbStart[vertex + 1]; b++) {
        const pcClimbBlock* block = s->climb + b;
        best = v4Max(best, v4Load(block->x) * dx + v4Load(block->y) * dy + v4Load(block->z) * dz);
    }
    double reach = larger(largestLane(best), own.value);
    return reach - own.value <= 2.0 * PC_ROUND * v3Size(d) * s->outradius ? reach : pcSupportClimb(s, d, own).value;
}

/* r, bounds, normal and point of a basis. Returns whether it is certified; *feasible whether its weights are those of a point at all. */
PC_INLINE bool certifyAs(const pcFrame* f, const pcBasis* basis, int count1, pcFrameMetric* out, bool* feasible)
{
    Features q;
    gatherFeatures(f, basis->vertex, count1, &q);
    bool two = f->sigma != 0.0;
    v3 cross = v3Cross(q.e, q.g);
    double signedD = v3Dot(cross, two ? v3Sub(q.a, q.b) : q.a), sign = copysign(1.0, signedD), D = fabs(signedD);
    v3 n = v3Scale(sign, cross), local = v3Neg(m3TMul(&f->R, n));
    double away = v3Dot(n, f->c), over = two ? away : away + v3Dot(n, q.b), r = over / D, perR = D / over;
    double perSquare = 1.0 / v3Dot(cross, cross), perSize = sqrt(perSquare);
    *feasible = false;
    if (!((D > 0.0) & (r > 0.0))) return false;
    double h1 = reachFrom(f->shape1, n, basis->vertex[0]), h2 = reachFrom(f->shape2, local, basis->vertex[count1]);
    double weight = witness(f, &q, count1, cross, perSquare, r, perR, &out->point);
    *feasible = weight >= -1e-12;
    if (!*feasible) return false;
    double low = two ? away / (h1 + h2) : (away - h2) / h1;
    Lengths l;
    setLengths(f, &q, perR, &l);
    double depth = D * perSize, error = relativeError(f, &l, perSize, 1.0 / depth, perR), doubt = weightError(&l, perSize);
    double missing = weight < doubt ? 4.0 * (doubt - smaller(weight, 0.0)) * (1.0 + (l.body1 + l.body2) / l.inner) : 0.0;
    out->r = r;
    out->lower = smaller(low, r) * (1.0 - error);
    out->upper = r * (1.0 + error + missing);
    out->n = v3Scale(perSize, n);
    out->D = depth;
    out->basis = *basis;
    out->hasBasis = true;
    return (r - out->lower <= PC_METRIC_TOLERANCE * r) & (out->upper - r <= PC_METRIC_TOLERANCE * r);
}

PC_INLINE bool certify(const pcFrame* f, const pcBasis* basis, pcFrameMetric* out, bool* feasible)
{
    switch (basis->count1) {
    case 1: return certifyAs(f, basis, 1, out, feasible);
    case 2: return certifyAs(f, basis, 2, out, feasible);
    default: return certifyAs(f, basis, 3, out, feasible);
    }
}

/* ---- warm start ---- */

/* Inverse of the 4x4 basis by Gauss-Jordan with row pivoting; false if singular. */
PC_INLINE bool invertBasis(const pcFrame* f, const pcBasis* basis, Tableau* t)
{
    double M[4][8] = {{0}};
    for (int j = 0; j < 4; j++) {
        bool own = j < basis->count1;
        double w = own ? 1.0 : -1.0;
        v3 k = own ? pcShapeK(f->shape1, basis->vertex[j]) : pcFrameK2(f, basis->vertex[j]);
        M[0][j] = w * k.x, M[1][j] = w * k.y, M[2][j] = w * k.z, M[3][j] = own ? f->sigma : -1.0;
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
    v4d cost = {1.0, basis->count1 > 1, basis->count1 > 2, 0.0};
    double y[4];
    for (int j = 0; j < 4; j++) {
        v4d product = cost * t->col[j];
        y[j] = product[0] + product[1] + product[2] + product[3];
    }
    t->n = v3Make(y[0], y[1], y[2]), t->s = y[3];
    for (int i = 0; i < 4; i++) t->side[i] = i >= basis->count1, t->vertex[i] = basis->vertex[i];
    return v3Finite(t->n);
}

/* A start from inside, then the vertices of a basis that is no longer feasible: they are known, so they cost no support query. */
PC_INLINE bool startNear(const pcFrame* f, const pcBasis* basis, Tableau* t)
{
    double noise[2] = {8.0 * PC_ROUND * f->shape1->outradius, 8.0 * PC_ROUND * f->shape2->outradius};
    startInside(f, t);
    for (int i = 0; i < 4; i++) {
        int side = i >= basis->count1, vertex = basis->vertex[i];
        v3 k = side == 0 ? pcShapeK(f->shape1, vertex) : pcFrameK2(f, vertex);
        double over = side == 0 ? v3Dot(t->n, k) - 1.0 + f->sigma * t->s : -v3Dot(t->n, k) - t->s;
        if (over > noise[side] * v3Size(t->n) && !enter(t, f->sigma, side, vertex, k, -over)) return false;
    }
    return true;
}

PC_INLINE bool finish(const pcFrame* f, Tableau* t, pcFrameMetric* out)
{
    pcBasis basis;
    bool feasible;
    return pivotToOptimum(f, t) && pcBasisSort(t->side, t->vertex, &basis) && certify(f, &basis, out, &feasible);
}

/* From what is known to what is sure: the basis as it was, pivots from it, pivots near it, pivots from inside. */
PC_SIMD bool pcMetricSimplex(const pcFrame* f, const pcBasis* startOrNull, pcFrameMetric* out)
{
    Tableau t;
    bool feasible = false;
    out->path = PC_PATH_WARM;
    if (startOrNull && certify(f, startOrNull, out, &feasible)) return true;
    out->path = PC_PATH_SIMPLEX;
    out->hasBasis = false;
    if (feasible && startFrom(f, startOrNull, &t) && finish(f, &t, out)) return true;
    if (startOrNull && !feasible && startNear(f, startOrNull, &t) && finish(f, &t, out)) return true;
    startInside(f, &t);
    return finish(f, &t, out);
}
