/*
 * The simplex method of simplex.c in doubled precision, for pairs that double precision cannot certify: thin bodies (a relative error of
 * 1e-16 in a length of 1 is 1e-7 of a thickness of 1e-9), rays through edges, centres close to a facet. The input is taken as
 * exact: the doubles of the poses, vertices and centres; rotations come from the quaternions in doubled precision. Every support
 * query looks at all vertices: at those within rounding of the best in doubled precision.
 *
 * Letters as in metric.h. The right-hand side is turned by 1e-25 for the choice of pivots, the answer computed for the true one.
 */
#include "base/dd.h"
#include "metric/metric.h"

/* Never reached in the fuzz program; if it is, the bounds of the last basis say how good it is. */
#define ITERATION_LIMIT 400
static const double RAY_TURN = 1e-25;
/* Doubled precision is good to 1e-32; conditions of 1e9 (thickness) squared would leave 1e-14 of a pivot. */
static const double PIVOT_TOLERANCE = 1e-24;
/* There is no better method to hand on to. Where r itself is tiny (a centre all but on the surface of a fixed body) the bounds may be wider
 * than PC_METRIC_TOLERANCE though r is right; they say so. */
static const double ACCEPTED = 1e-9;

typedef struct ddM3 {
    dd3 row[3];
} ddM3;

typedef struct ExactFrame {
    const pcShape *shape1, *shape2;
    dd sigma;
    ddM3 R; /* body 2's axes to body 1's */
    dd3 c;
    double unit; /* of length, a power of two near the size of the bodies: lengths and the ones of the fourth row are then alike */
} ExactFrame;

typedef struct ExactTableau {
    dd inverse[4][4]; /* row i belongs to basis position i */
    dd x[4];
    dd y[4];      /* multipliers: n and s */
    double noise; /* how far the basis itself is from its planes: below that, no vertex is beyond them */
    int side[4], vertex[4];
    dd column[4][4]; /* of the basis */
} ExactTableau;

/* ---- poses in doubled precision ---- */

static dd3 ddM3Mul(const ddM3* m, dd3 a) { return (dd3){dd3Dot(m->row[0], a), dd3Dot(m->row[1], a), dd3Dot(m->row[2], a)}; }

static dd3 ddM3TMul(const ddM3* m, dd3 a)
{
    return dd3Add(dd3Add(dd3Scale(a.x, m->row[0]), dd3Scale(a.y, m->row[1])), dd3Scale(a.z, m->row[2]));
}

/* As m3FromQuaternion. */
static ddM3 rotationOf(const dd q[4])
{
    dd square = ddAdd(ddAdd(ddMul(q[0], q[0]), ddMul(q[1], q[1])), ddAdd(ddMul(q[2], q[2]), ddMul(q[3], q[3])));
    dd s = ddDiv(ddOf(2.0), square), one = ddOf(1.0);
    dd w = q[0], x = q[1], y = q[2], z = q[3];
    dd sx = ddMul(s, x), sy = ddMul(s, y), sz = ddMul(s, z);
    dd wx = ddMul(w, sx), wy = ddMul(w, sy), wz = ddMul(w, sz);
    dd xx = ddMul(x, sx), xy = ddMul(x, sy), xz = ddMul(x, sz), yy = ddMul(y, sy), yz = ddMul(y, sz), zz = ddMul(z, sz);
    return (ddM3){{{ddSub(one, ddAdd(yy, zz)), ddSub(xy, wz), ddAdd(xz, wy)},
                   {ddAdd(xy, wz), ddSub(one, ddAdd(xx, zz)), ddSub(yz, wx)},
                   {ddSub(xz, wy), ddAdd(yz, wx), ddSub(one, ddAdd(xx, yy))}}};
}

static dd sumOfProducts(const double p[4], const double q[4], const int a[4], const int b[4], const double sign[4])
{
    dd sum = ddOf(0.0);
    for (int i = 0; i < 4; i++) sum = ddAdd(sum, ddScale(sign[i], ddTwoProduct(p[a[i]], q[b[i]])));
    return sum;
}

/* conj(p) q, as quaternionBetween. */
static void exactBetween(const double p[4], const double q[4], dd out[4])
{
    static const int order[4] = {0, 1, 2, 3};
    static const int partner[4][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
    static const double sign[4][4] = {{1, 1, 1, 1}, {1, -1, -1, 1}, {1, 1, -1, -1}, {1, -1, 1, -1}};
    for (int i = 0; i < 4; i++) out[i] = sumOfProducts(p, q, order, partner[i], sign[i]);
}

static ExactFrame exactFrame(const pcFrame* f)
{
    dd between[4], own[4];
    exactBetween(f->pose1->quaternion, f->pose2->quaternion, between);
    for (int i = 0; i < 4; i++) own[i] = ddOf(f->pose1->quaternion[i]);
    ddM3 R = rotationOf(between), R1 = rotationOf(own);
    dd3 apart = ddM3TMul(&R1, dd3Difference(v3Load(f->pose2->position), v3Load(f->pose1->position)));
    dd3 centre2 = ddM3Mul(&R, dd3Of(f->shape2->centre));
    dd3 c = dd3Sub(dd3Add(apart, centre2), dd3Of(f->shape1->centre));
    int exponent;
    frexp(f->shape1->outradius + f->shape2->outradius, &exponent);
    return (ExactFrame){f->shape1, f->shape2, ddOf(f->sigma), R, c, ldexp(1.0, exponent)};
}

static dd3 exactK(const pcShape* s, int i) { return dd3Difference(pcShapeVertex(s, i), s->centre); }

/* ---- support over all vertices ---- */

typedef struct ExactSupport {
    int vertex;
    dd value;
} ExactSupport;

static ExactSupport exactSupport(const pcShape* s, dd3 d)
{
    v3 rough = dd3Round(d);
    pcSupport best = pcSupportScan(s, rough);
    double reach = 16.0 * PC_ROUND * v3Norm(rough) * s->outradius;
    ExactSupport top = {-1, {0.0, 0.0}};
    for (int i = 0; i < s->vertexCount; i++) {
        if (v3Dot(pcShapeK(s, i), rough) < best.value - reach) continue;
        dd value = dd3Dot(exactK(s, i), d);
        if (top.vertex < 0 || ddLess(top.value, value)) top = (ExactSupport){i, value};
    }
    if (top.vertex < 0) top = (ExactSupport){best.vertex, dd3Dot(exactK(s, best.vertex), d)}; /* only if d is not finite */
    return top;
}

static ExactSupport supportOfSide(const ExactFrame* f, int side, dd3 n)
{
    if (side == 0) return exactSupport(f->shape1, n);
    dd3 local = ddM3TMul(&f->R, n);
    return exactSupport(f->shape2, (dd3){ddNeg(local.x), ddNeg(local.y), ddNeg(local.z)});
}

static dd3 pointOfSide(const ExactFrame* f, int side, int vertex)
{
    return side == 0 ? exactK(f->shape1, vertex) : ddM3Mul(&f->R, exactK(f->shape2, vertex));
}

/* ---- tableau ---- */

/* (k1; sigma) or (-k2; -1). */
static void columnOf(const ExactFrame* f, int side, dd3 k, dd a[4])
{
    dd sign = ddOf((side == 0 ? 1.0 : -1.0) / f->unit);
    a[0] = ddMul(sign, k.x), a[1] = ddMul(sign, k.y), a[2] = ddMul(sign, k.z);
    a[3] = side == 0 ? f->sigma : ddOf(-1.0);
}

static void trueRightSide(const ExactFrame* f, dd rhs[4])
{
    dd3 c = dd3Scale(ddOf(1.0 / f->unit), f->c);
    rhs[0] = c.x, rhs[1] = c.y, rhs[2] = c.z, rhs[3] = ddSub(f->sigma, ddOf(1.0));
}

/* Turned along no edge of any everyday body. */
static void turnedRightSide(const ExactFrame* f, dd rhs[4])
{
    static const double turn[3] = {0.5377, -0.8231, 0.1837};
    double size = v3Norm(dd3Round(f->c)) / f->unit;
    trueRightSide(f, rhs);
    for (int i = 0; i < 3; i++) rhs[i] = ddAdd(rhs[i], ddOf(turn[i] * RAY_TURN * size));
    rhs[3] = ddAdd(rhs[3], ddOf(0.3119 * RAY_TURN * larger(size, 1.0)));
}

static bool eliminate(dd M[4][8], int c)
{
    int p = c;
    for (int i = c + 1; i < 4; i++)
        if (fabs(M[i][c].hi) > fabs(M[p][c].hi)) p = i;
    if (!(fabs(M[p][c].hi) > 0.0)) return false;
    for (int j = 0; j < 8; j++) {
        dd swap = M[c][j];
        M[c][j] = M[p][j], M[p][j] = swap;
    }
    dd inverse = ddDiv(ddOf(1.0), M[c][c]);
    for (int j = 0; j < 8; j++) M[c][j] = ddMul(M[c][j], inverse);
    for (int i = 0; i < 4; i++) {
        dd factor = M[i][c];
        for (int j = 0; i != c && j < 8; j++) M[i][j] = ddSub(M[i][j], ddMul(factor, M[c][j]));
    }
    return true;
}

static bool invert(ExactTableau* t)
{
    dd M[4][8];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) M[i][j] = t->column[j][i], M[i][4 + j] = ddOf(i == j ? 1.0 : 0.0);
    for (int c = 0; c < 4; c++)
        if (!eliminate(M, c)) return false;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) t->inverse[i][j] = M[i][4 + j];
    return true;
}

/* B x = rhs: by the inverse, then refined, because the inverse of a thin basis is far less accurate than a solution need be. Returns
 * the largest residual left. */
static double solveWeights(const ExactTableau* t, const dd rhs[4], dd x[4])
{
    double left = 0.0;
    for (int i = 0; i < 4; i++) x[i] = ddOf(0.0);
    for (int pass = 0; pass < 4; pass++) {
        dd rest[4];
        left = 0.0;
        for (int i = 0; i < 4; i++) {
            rest[i] = rhs[i];
            for (int j = 0; j < 4; j++) rest[i] = ddSub(rest[i], ddMul(t->column[j][i], x[j]));
            left = larger(left, fabs(rest[i].hi));
        }
        for (int i = 0; i < 4 && pass < 3; i++)
            for (int j = 0; j < 4; j++) x[i] = ddAdd(x[i], ddMul(t->inverse[i][j], rest[j]));
    }
    return left;
}

/* y B = cost, in the same way. */
static double solveMultipliers(const ExactTableau* t, dd y[4])
{
    double left = 0.0;
    for (int i = 0; i < 4; i++) y[i] = ddOf(0.0);
    for (int pass = 0; pass < 4; pass++) {
        dd rest[4];
        left = 0.0;
        for (int j = 0; j < 4; j++) {
            rest[j] = ddOf(t->side[j] == 0 ? 1.0 : 0.0);
            for (int i = 0; i < 4; i++) rest[j] = ddSub(rest[j], ddMul(y[i], t->column[j][i]));
            left = larger(left, fabs(rest[j].hi));
        }
        for (int i = 0; i < 4 && pass < 3; i++)
            for (int j = 0; j < 4; j++) y[i] = ddAdd(y[i], ddMul(rest[j], t->inverse[j][i]));
    }
    return left;
}

/* Weights and multipliers of the basis that stands in the columns. */
static bool factorize(const ExactFrame* f, ExactTableau* t)
{
    dd rhs[4];
    if (!invert(t)) return false;
    t->noise = solveMultipliers(t, t->y);
    turnedRightSide(f, rhs);
    solveWeights(t, rhs, t->x);
    return true;
}

/* As startInside of simplex.c: any three points around the ray will do, so they are rounded to double. */
static bool startInside(const ExactFrame* f, ExactTableau* t)
{
    v3 c = dd3Round(f->c), axis = v3Scale(1.0 / v3Norm(c), c), u, v;
    v3Complete(axis, &u, &v);
    double rho = 0.99 * f->shape1->inradius;
    v3 base = v3Scale(0.57 * rho, axis), start[4];
    start[0] = v3AddScaled(base, 0.81 * rho, u);
    start[1] = v3AddScaled(v3AddScaled(base, -0.4 * rho, u), 0.7 * rho, v);
    start[2] = v3AddScaled(v3AddScaled(base, -0.4 * rho, u), -0.7 * rho, v);
    start[3] = v3Make(0.0, 0.0, 0.0);
    for (int i = 0; i < 4; i++) {
        t->side[i] = i == 3, t->vertex[i] = -1;
        columnOf(f, t->side[i], dd3Of(start[i]), t->column[i]);
    }
    return factorize(f, t);
}

/* Takes up a given basis if its weights are feasible. */
static bool startFrom(const ExactFrame* f, const pcBasis* basis, ExactTableau* t)
{
    for (int i = 0; i < 4; i++) {
        t->side[i] = i >= basis->count1, t->vertex[i] = basis->vertex[i];
        columnOf(f, t->side[i], pointOfSide(f, t->side[i], t->vertex[i]), t->column[i]);
    }
    if (!factorize(f, t)) return false;
    for (int i = 0; i < 4; i++)
        if (!ddPositive(t->x[i])) return false;
    return true;
}

/* ---- pivots ---- */

/* n in true lengths. */
static dd3 directionOf(const ExactFrame* f, const ExactTableau* t)
{
    return dd3Scale(ddOf(1.0 / f->unit), (dd3){t->y[0], t->y[1], t->y[2]});
}

/* How far a vertex lies beyond the plane that the multipliers put on its side; > 0: it should enter. */
static dd excess(const ExactFrame* f, const ExactTableau* t, int side, dd value)
{
    dd s = t->y[3];
    return side == 0 ? ddSub(value, ddSub(ddOf(1.0), ddMul(f->sigma, s))) : ddSub(value, s);
}

static bool inBasis(const ExactTableau* t, int side, int vertex)
{
    for (int i = 0; i < 4; i++)
        if (t->side[i] == side && t->vertex[i] == vertex) return true;
    return false;
}

/* The multipliers' own value of r: what they would prove if no vertex were in excess. */
static dd provenRatio(const ExactFrame* f, const ExactTableau* t)
{
    return ddAdd(dd3Dot(directionOf(f, t), f->c), ddMul(t->y[3], ddSub(f->sigma, ddOf(1.0))));
}

/* The side whose farthest vertex is most in excess; -1 if none is by more than an answer in double precision could show, or than the noise
 * of this arithmetic. An excess of body 1 lowers r by that fraction, one of a fixed body 2 by that much. */
static int improvingSide(const ExactFrame* f, const ExactTableau* t, ExactSupport far[2], dd over[2])
{
    dd3 n = directionOf(f, t);
    double size = v3Norm(dd3Round(n)), reach[2] = {f->shape1->outradius, f->shape2->outradius};
    double shows[2] = {1e-19, f->sigma.hi != 0.0 ? 1e-19 : 1e-19 * provenRatio(f, t).hi};
    int side = -1;
    for (int i = 0; i < 2; i++) {
        far[i] = supportOfSide(f, i, n);
        over[i] = excess(f, t, i, far[i].value);
        bool improves = over[i].hi > larger(shows[i], 1e-30 * size * reach[i] + 4.0 * t->noise) && !inBasis(t, i, far[i].vertex);
        if (improves && (side < 0 || ddLess(over[0], over[1]))) side = i;
    }
    return side;
}

static int leavingPosition(const ExactTableau* t, const dd d[4])
{
    double largest = 0.0;
    int p = -1;
    dd best = ddOf(0.0);
    for (int i = 0; i < 4; i++) largest = larger(largest, fabs(d[i].hi));
    for (int i = 0; i < 4; i++) {
        if (!(d[i].hi > PIVOT_TOLERANCE * largest)) continue;
        dd ratio = ddDiv(t->x[i], d[i]);
        if (p < 0 || ddLess(ratio, best)) p = i, best = ratio;
    }
    return p;
}

static bool enter(const ExactFrame* f, ExactTableau* t, int side, int vertex)
{
    dd a[4], d[4];
    columnOf(f, side, pointOfSide(f, side, vertex), a);
    solveWeights(t, a, d);
    int p = leavingPosition(t, d);
    if (p < 0) return false;
    t->side[p] = side, t->vertex[p] = vertex;
    for (int i = 0; i < 4; i++) t->column[p][i] = a[i];
    return factorize(f, t);
}

/* ---- the answer ---- */

/* What a weight -1 on this column costs to make good: the body must reach -k, which it does when grown by max a.(-k) / b over its facets. A
 * fixed body cannot grow; the other one covers the distance by its inscribed ball. */
static double costOfNegative(const ExactFrame* f, const ExactTableau* t, int i)
{
    const pcShape* s = t->side[i] == 0 ? f->shape1 : f->shape2;
    if (t->vertex[i] < 0) return 2.0;
    if (t->side[i] == 1 && f->sigma.hi == 0.0) return 1.0 + 2.0 * f->shape2->outradius / f->shape1->inradius;
    double most = 0.0;
    v3 k = pcShapeK(s, t->vertex[i]);
    for (int facet = 0; facet < s->facetCount; facet++) most = larger(most, -v3Dot(s->normal[facet], k) / s->offset[facet]);
    return 1.0 + 1.001 * most;
}

/* How far the true weight at position i may be from the one computed, if the equations are off by `left`: a row of B^-1 says. */
static double weightDoubt(const ExactTableau* t, int i, double left)
{
    double sum = 0.0;
    for (int j = 0; j < 4; j++) sum += fabs(t->inverse[i][j].hi);
    return 2.0 * sum * left;
}

/* Weights under the true ray, the point they make, and r. The bounds hold whatever the pivots did: what the multipliers lack as a proof of
 * the lower, what the weights lack as a point for the upper. Equations that are off by `left` move r by y left. */
static bool conclude(const ExactFrame* f, const ExactTableau* t, const dd over[2], pcFrameMetric* out)
{
    dd rhs[4], x[4], r = ddOf(0.0);
    dd3 point = dd3Of(v3Make(0.0, 0.0, 0.0)), n = directionOf(f, t);
    double missing = 0.0;
    trueRightSide(f, rhs);
    double left = solveWeights(t, rhs, x);
    for (int i = 0; i < 4; i++) {
        double least = x[i].hi - weightDoubt(t, i, left);
        if (least < 0.0) missing -= 2.0 * least * costOfNegative(f, t, i);
        if (t->side[i] != 0) continue;
        dd share = ddMul(x[i], ddOf(f->unit));
        r = ddAdd(r, x[i]);
        point = dd3Add(point, dd3Scale(share, (dd3){t->column[i][0], t->column[i][1], t->column[i][2]}));
    }
    bool two = f->sigma.hi != 0.0;
    double value = ddRound(r), size = v3Norm(dd3Round(n));
    double proof = ddRound(provenRatio(f, t));
    double outer = f->shape1->outradius + f->shape2->outradius, shift = 0.0;
    for (int i = 0; i < 4; i++) shift += 2.0 * fabs(t->y[i].hi) * left;
    double loss =
        larger(over[0].hi, 0.0) + larger(over[1].hi, 0.0) * (two ? 1.0 : 1.0 / value) + 1e-29 * size * outer * (1.0 + 1.0 / value);
    double gain = (missing + shift) / value;
    out->r = value;
    out->lower = smaller(proof, value) * (1.0 - loss - 2.0 * PC_ROUND);
    out->upper = value * (1.0 + gain + 2.0 * PC_ROUND);
    out->n = v3Scale(1.0 / size, dd3Round(n));
    out->D = 1.0 / size; /* the multipliers are scaled to h_W(n) = 1, one-sided to h1(n) = 1 */
    out->point = dd3Round(point);
    out->hasBasis = pcBasisSort(t->side, t->vertex, &out->basis);
    out->path = PC_PATH_EXACT;
    bool ordered = value > 0.0 && out->lower <= value; /* a proof of less than 0 that loses more than all of itself would end above */
    return ordered && value - out->lower <= ACCEPTED * value && out->upper - value <= ACCEPTED * value;
}

bool pcMetricExact(const pcFrame* frame, const pcBasis* startOrNull, pcFrameMetric* out)
{
    ExactFrame f = exactFrame(frame);
    ExactTableau t;
    if ((!startOrNull || !startFrom(&f, startOrNull, &t)) && !startInside(&f, &t)) return false;
    for (int iteration = 0;; iteration++) {
        ExactSupport far[2];
        dd over[2];
        int side = improvingSide(&f, &t, far, over);
        if (side < 0 || iteration == ITERATION_LIMIT) return conclude(&f, &t, over, out);
        if (!enter(&f, &t, side, far[side].vertex)) return false;
    }
    return false;
}

/* As overPlane of metric.c, where the height is a small difference of large numbers: a body far from the plane's origin, or flat on it. */
void pcMetricExactPlane(const pcFrame* frame, pcFrameMetric* out)
{
    ExactFrame f = exactFrame(frame);
    dd3 up = ddM3Mul(&f.R, dd3Of(v3Load(frame->shape2->plane))); /* as given: r does not depend on its length */
    dd3 origin2 = dd3Sub(f.c, ddM3Mul(&f.R, dd3Of(frame->shape2->centre)));
    dd height = ddNeg(ddAdd(dd3Dot(up, origin2), ddOf(frame->shape2->plane[3])));
    ExactSupport far = exactSupport(f.shape1, (dd3){ddNeg(up.x), ddNeg(up.y), ddNeg(up.z)});
    double r = ddRound(ddDiv(height, far.value)), length = v3Norm(dd3Round(up));
    out->r = r;
    double lengths = v3Norm(dd3Round(origin2)) + f.shape1->outradius + fabs(frame->shape2->plane[3]) / length;
    double error = 4.0 * PC_ROUND * fabs(r) + 1e-29 * lengths * length / ddRound(far.value);
    out->lower = r - error, out->upper = r + error;
    out->n = v3Scale(-1.0 / length, dd3Round(up)), out->D = ddRound(far.value) / length;
    out->corner = dd3Round(exactK(f.shape1, far.vertex)), out->point = v3Scale(r, out->corner);
    out->sigma = 0.0;
    out->hasBasis = false;
    out->path = PC_PATH_EXACT;
}
