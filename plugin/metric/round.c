/*
 * The ratio metric of bodies of which at least one is round. Letters as in metric.h and round.h.
 *
 * Two bodies whose cores are points (spheres, ellipsoids) need Newton's method alone. Else the simplex method of simplex.c, with support
 * points in place of vertices, finds which features meet: it closes in on r from above while every direction that it asks proves a
 * bound from below. On flat contacts it ends by itself; on round ones it would creep, so from time to time the features of its
 * basis are handed to Newton's method (fit.c). Whatever direction and common point come of it, they prove r:
 *
 *   lower   n.c / (h1 + h2), or (n.c - h2) / h1, by the true support functions
 *   upper   c = f1 p1 - f2 p2 + rest  with p1, p2 in the bodies:  r <= t + |rest| / (radius of a ball in what grows)
 */
#include "metric/round.h"

#include "base/status.h"

#define PIVOT_LIMIT 300
static const double RAY_TURN = 1e-13;
static const double PIVOT_TOLERANCE = 1e-12;
/* The bounds first have to be this close, relative to r, before Newton's method is tried, and then this much closer for each new try. */
static const double FIRST_TRY = 0.3, NEXT_TRY = 0.3;
/* Tries of a support function before the end: its curvature costs four calls, and where it has flats there is none to be found. */
#define ASKED_TRIES 6
/* A one-sided r below this is 0: the centre is in the fixed body or on its surface. */
static const double ON_SURFACE = 1e-10;
/* Cosine to the axis of a cylinder from which its cap comes into question. */
static const double CAP = 0.99;
/* Where the bounds do not meet within rounding, they may be this far apart, relative to r, and the answer says so: faces of a support
 * function with rounded edges. */
static const double USABLE = 1e-6;
/* Facets of a polyhedron that are looked through for a face that the other body rests on, and the difference in height of its corners, of
 * the body's size. */
#define FEW 32
static const double LEVEL = 1e-9;
/* Turns of the search for a common point. */
#define TURNS 12
/* Of |c|: points this near are one. */
static const double SAME_POINT = 16.0 * PC_ROUND;

static const pcFeature POINT = {.count = 1};

typedef struct Query {
    const pcFrame* f;
    double sigma, inner; /* of the ball in what grows */
    double lower;        /* the best of all directions so far, with its error */
    double tolerance;    /* of the bounds, relative to r */
    pcFrameMetric* out;
} Query;

static v3 unit(v3 a) { return v3Scale(1.0 / v3Norm(a), a); }

/* ---- bounds ---- */

/* Relative error of n.c / D from rounding: of the tips, of c and of the turned n. */
static double errorAlong(const Query* q, double r, double depth)
{
    const pcFrame* f = q->f;
    double f2 = q->sigma != 0.0 ? 1.0 : 1.0 / r;
    double lengths = 4.0 * f->shape1->outradius + 12.0 * f->shape2->outradius * f2 + 4.0 * v3Norm(f->c) / r;
    return (PC_ROUND * lengths + f->error / r) / depth;
}

/* What the true support functions say along a unit n. */
static double provenBelow(Query* q, v3 n, double* reach)
{
    pcTip tip1 = pcFrameTip(q->f, 0, n), tip2 = pcFrameTip(q->f, 1, n);
    double away = v3Dot(n, q->f->c), D = q->sigma != 0.0 ? tip1.value + tip2.value : tip1.value;
    double low = (q->sigma != 0.0 ? away : away - tip2.value) / D;
    double sure = low > 0.0 ? low * (1.0 - errorAlong(q, low, D)) : 0.0;
    q->lower = larger(q->lower, sure);
    *reach = D;
    return low;
}

/* e with k in (1 + e) K; infinite where no simple form tells. A point that rounding has moved along the surface leaves the body by the square
 * of that only, which the radius of a ball inside would not know. */
static double excessOf(const pcShape* s, v3 k)
{
    v3 near;
    if (pcIsQuadric(s)) return larger(0.0, v3Norm(v3Make(k.x / s->semi.x, k.y / s->semi.y, k.z / s->semi.z)) - 1.0);
    return pcShapeNearest(s, k, &near) ? v3Norm(v3Sub(k, near)) / s->inradius : HUGE_VAL;
}

/* By turns the nearest point of one body and of the other, scaled as they are: true with the length that is still between them. */
static bool commonPoint(const Query* q, double r, v3* x, double* apart)
{
    const pcFrame* f = q->f;
    double f2 = q->sigma != 0.0 ? r : 1.0;
    *apart = HUGE_VAL;
    for (int i = 0; i < TURNS; i++) {
        v3 k1, k2;
        if (!pcShapeNearest(f->shape1, v3Scale(1.0 / r, *x), &k1)) return false;
        v3 x1 = v3Scale(r, k1);
        if (!pcShapeNearest(f->shape2, m3TMul(&f->R, v3Scale(1.0 / f2, v3Sub(x1, f->c))), &k2)) return false;
        v3 x2 = v3AddScaled(f->c, f2, m3Mul(&f->R, k2));
        *apart = v3Norm(v3Sub(x2, x1));
        *x = x2;
        if (*apart <= SAME_POINT * v3Size(f->c)) break;
    }
    return true;
}

/* Writes the answer of a direction and a common point: `excess` r more, and the point is in both bodies for sure. */
static bool conclude(Query* q, v3 n, double D, double r, v3 x, double excess, pcMetricPath path)
{
    pcFrameMetric* out = q->out;
    double error = errorAlong(q, r, D), upper = r * (1.0 + excess) * (1.0 + error), allowed = larger(q->tolerance, 8.0 * error) * r;
    if (!(upper - q->lower <= allowed) || !(q->lower - r <= allowed)) return false;
    out->r = r, out->lower = smaller(q->lower, r), out->upper = larger(upper, r);
    out->sigma = q->sigma, out->n = n, out->D = D, out->point = x, out->path = path;
    return true;
}

/* ---- features by Newton's method ---- */

/* The common point is that of one body, if the other holds it too: of the body that can tell best; else it is looked for. */
static bool concludeFit(Query* q, const pcFit* fit, pcMetricPath path)
{
    const pcFrame* f = q->f;
    double r = fit->value, f2 = q->sigma != 0.0 ? r : 1.0, apart;
    v3 x1 = v3Scale(r, fit->p1), x2 = v3AddScaled(f->c, f2, fit->p2);
    if (fit->outside == 0.0) {
        double missing = fit->rest / (q->inner * r);
        if (conclude(q, fit->n, fit->D, r, x1, missing, path)) return true;
        if (conclude(q, fit->n, fit->D, r, x2, excessOf(f->shape1, v3Scale(1.0 / r, x2)), path)) return true;
        v3 k2 = m3TMul(&f->R, v3Scale(1.0 / r, v3Sub(x1, f->c)));
        if (q->sigma != 0.0 && conclude(q, fit->n, fit->D, r, x1, excessOf(f->shape2, k2), path)) return true;
    }
    return commonPoint(q, r, &x1, &apart) && conclude(q, fit->n, fit->D, r, x1, apart / (q->inner * r), path);
}

static bool tryFeatures(Query* q, const pcFeature* a, const pcFeature* b, v3 start, pcMetricPath path)
{
    pcFit fit;
    bool smooth = pcIsQuadric(q->f->shape1) && pcIsQuadric(q->f->shape2);
    double reach;
    if (!pcFitFeatures(q->f, q->sigma != 0.0 ? PC_TWO_SIDED : PC_ONE_SIDED, a, b, start, &fit)) return false;
    if (!(fit.value > 0.0)) return false;
    if (smooth) /* their only features: the value is what the support functions say */
        q->lower = larger(q->lower, fit.value * (1.0 - errorAlong(q, fit.value, fit.D)));
    else if (!(provenBelow(q, fit.n, &reach) >= fit.value * (1.0 - 1e-9)))
        return false;
    return concludeFit(q, &fit, path);
}

/* The core points of one side, each once. */
static pcFeature featureOf(const int* vertex, int count)
{
    pcFeature feature = {.count = 0};
    for (int i = 0; i < count && feature.count < 3; i++) {
        bool known = vertex[i] < 0;
        for (int j = 0; j < feature.count; j++) known |= feature.vertex[j] == vertex[i];
        if (!known) feature.vertex[feature.count++] = vertex[i];
    }
    return feature;
}

/* The cap that n leads through, if it is near one. */
bool pcCapAlong(const pcFrame* f, int side, v3 n, pcFeature* out)
{
    if (pcFrameShape(f, side)->kind != PC_SHAPE_CYLINDER) return false;
    double z = pcFrameLocal(f, side, n).z * (side == 0 ? 1.0 : -1.0);
    *out = (pcFeature){.count = 1, .vertex = {z > 0.0}, .cap = true};
    return fabs(z) > CAP * v3Norm(n);
}

void pcFeaturesOfBasis(const pcFrame* f, const pcBasis* basis, v3 n, pcFeature named[2], pcFeature tip[2])
{
    named[0] = featureOf(basis->vertex, basis->count1), named[1] = featureOf(basis->vertex + basis->count1, 4 - basis->count1);
    for (int side = 0; side < 2; side++) {
        tip[side] = (pcFeature){.count = 1, .vertex = {pcFrameTip(f, side, n).vertex}};
        if (named[side].count == 0) named[side] = tip[side];
    }
}

/* The features that a basis names, then with single corners in place of edges and faces, and caps. */
static bool tryBasis(Query* q, const pcBasis* basis, v3 n, pcMetricPath path)
{
    pcFeature named[2], tip[2], cap;
    bool same[2];
    pcFeaturesOfBasis(q->f, basis, n, named, tip);
    for (int side = 0; side < 2; side++) same[side] = named[side].count == 1 && named[side].vertex[0] == tip[side].vertex[0];
    if (pcCapAlong(q->f, 0, n, &cap) && tryFeatures(q, &cap, tip + 1, n, path)) return true;
    if (pcCapAlong(q->f, 1, n, &cap) && tryFeatures(q, tip, &cap, n, path)) return true;
    if (tryFeatures(q, named, named + 1, n, path)) return true;
    if (!same[1] && named[0].count > 1 && tryFeatures(q, named, tip + 1, n, path)) return true;
    if (!same[0] && named[1].count > 1 && tryFeatures(q, tip, named + 1, n, path)) return true;
    return !(same[0] && same[1]) && tryFeatures(q, tip, tip + 1, n, path);
}

/* Edges along each other: no single pair of lines, but each end of one against the other, among which is one that lies over it. */
static bool tryEnds(Query* q, const pcBasis* basis, v3 n)
{
    pcFeature named[2], tip[2];
    pcFeaturesOfBasis(q->f, basis, n, named, tip);
    for (int side = 0; side < 2; side++)
        for (int i = 0; named[side].count > 1 && i < named[side].count; i++) {
            const pcFeature end = {.count = 1, .vertex = {named[side].vertex[i]}};
            if (tryFeatures(q, side == 0 ? &end : named, side == 0 ? named + 1 : &end, n, PC_PATH_NEWTON)) return true;
        }
    return false;
}

/* ---- the simplex method on support points ---- */

typedef struct Tableau {
    double inverse[4][4]; /* of the basis: row i belongs to column i of the basis */
    double x[4];          /* weights under the turned ray */
    v3 n;
    double s;
    int side[4], vertex[4]; /* vertex -1: an inner point of the start */
    v3 k[4];
} Tableau;

/* As in simplex.c: three points of the ball in body 1 around the ray, and the centre of body 2. */
static void startInside(const Query* q, Tableau* t)
{
    const double half = 0.5, high = 0.86602540378443865;
    const pcShape* s = q->f->shape1;
    double length = v3Norm(q->f->c), across = s->innerAcross, sigma = q->sigma;
    v3 axis = v3Scale(1.0 / length, q->f->c), u, v, row[3];
    v3Complete(axis, &u, &v);
    v3 along = v3Scale(s->innerAlong, axis), back = v3AddScaled(along, -half * across, u), sum = v3Scale(3.0, along);
    row[0] = v3AddScaled(along, across, u), row[1] = v3AddScaled(back, high * across, v), row[2] = v3AddScaled(back, -high * across, v);
    double volume = v3Dot(row[0], v3Cross(row[1], row[2]));
    v3 ray = v3Add(q->f->c, v3Scale(RAY_TURN * length, v3AddScaled(v3Scale(0.57, u), 0.83, v)));
    for (int i = 0; i < 3; i++) {
        v3Store(t->inverse[i], row[i]);
        t->inverse[i][3] = 0.0, t->x[i] = v3Dot(row[i], ray);
        t->side[i] = 0, t->vertex[i] = -1;
        t->k[i] = v3Scale(1.0 / volume, v3Cross(row[(i + 1) % 3], row[(i + 2) % 3])); /* the points: the triad dual to the rows */
    }
    v3Store(t->inverse[3], v3Scale(sigma, sum));
    t->inverse[3][3] = -1.0, t->x[3] = sigma * v3Dot(sum, ray) - (sigma - 1.0);
    t->side[3] = 1, t->vertex[3] = -1, t->k[3] = v3Make(0.0, 0.0, 0.0);
    t->n = sum, t->s = 0.0;
}

/* How far a tip lies beyond the plane that the multipliers name for its body. */
static double excess(const Query* q, const Tableau* t, int side, v3 k)
{
    return side == 0 ? v3Dot(t->n, k) - 1.0 + q->sigma * t->s : -v3Dot(t->n, k) - t->s;
}

static bool enter(const Query* q, Tableau* t, int side, const pcTip* tip)
{
    double w = side == 0 ? 1.0 : -1.0, last = side == 0 ? q->sigma : -1.0, cost = -excess(q, t, side, tip->k), d[4], largest = 0.0;
    for (int i = 0; i < 4; i++) {
        d[i] = w * v3Dot(v3Load(t->inverse[i]), tip->k) + last * t->inverse[i][3];
        largest = larger(largest, fabs(d[i]));
    }
    int p = -1;
    double step = HUGE_VAL;
    for (int i = 0; i < 4; i++)
        if (d[i] > PIVOT_TOLERANCE * largest && t->x[i] / d[i] < step) p = i, step = t->x[i] / d[i];
    if (p < 0) return false;
    double theta[4];
    for (int j = 0; j < 4; j++) theta[j] = t->inverse[p][j] / d[p];
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) t->inverse[i][j] = i == p ? theta[j] : t->inverse[i][j] - d[i] * theta[j];
        t->x[i] = i == p ? step : t->x[i] - d[i] * step;
    }
    t->n = v3AddScaled(t->n, cost, v3Load(theta)), t->s += cost * theta[3];
    t->side[p] = side, t->vertex[p] = tip->vertex, t->k[p] = tip->k;
    return true;
}

/* Body 1's points first. */
static pcBasis sortedBasis(const Tableau* t)
{
    pcBasis basis = {.count1 = 0};
    int at = 0;
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < 4; i++)
            if (t->side[i] == side) basis.vertex[at++] = t->vertex[i];
        if (side == 0) basis.count1 = at;
    }
    return basis;
}

/* Solves M x = b by elimination with row pivoting; false if singular. */
static bool solveFour(double M[4][5], double x[4])
{
    for (int c = 0; c < 4; c++) {
        int p = c;
        for (int i = c + 1; i < 4; i++)
            if (fabs(M[i][c]) > fabs(M[p][c])) p = i;
        if (!(fabs(M[p][c]) > 0.0)) return false;
        for (int j = 0; j < 5; j++) {
            double swap = M[c][j];
            M[c][j] = M[p][j], M[p][j] = swap;
        }
        for (int i = 0; i < 4; i++) {
            double factor = i == c ? 0.0 : M[i][c] / M[c][c];
            for (int j = c; j < 5; j++) M[i][j] -= factor * M[c][j];
        }
    }
    for (int i = 0; i < 4; i++) x[i] = M[i][4] / M[i][i];
    return true;
}

/* What the basis itself proves: its weights anew from the true ray, those below 0 left out, and what c then lacks. */
static bool tryWeights(Query* q, const Tableau* t, v3 n)
{
    const pcFrame* f = q->f;
    double M[4][5], x[4], size = v3Norm(n), r = 0.0, weight2 = 0.0;
    v3 p1 = {0.0, 0.0, 0.0}, p2 = {0.0, 0.0, 0.0};
    for (int j = 0; j < 4; j++) {
        double w = t->side[j] == 0 ? 1.0 : -1.0;
        M[0][j] = w * t->k[j].x, M[1][j] = w * t->k[j].y, M[2][j] = w * t->k[j].z, M[3][j] = t->side[j] == 0 ? q->sigma : -1.0;
    }
    M[0][4] = f->c.x, M[1][4] = f->c.y, M[2][4] = f->c.z, M[3][4] = q->sigma - 1.0;
    if (!solveFour(M, x)) return false;
    for (int j = 0; j < 4; j++) {
        double weight = larger(x[j], 0.0);
        if (t->side[j] == 0)
            r += weight, p1 = v3AddScaled(p1, weight, t->k[j]);
        else
            weight2 += weight, p2 = v3AddScaled(p2, weight, t->k[j]);
    }
    double f2 = q->sigma != 0.0 ? r : 1.0;
    if (!(r > 0.0) || !(weight2 > 0.0)) return false;
    v3 rest = v3Add(v3Sub(f->c, p1), v3Scale(f2 / weight2, p2));
    double D, low = provenBelow(q, v3Scale(1.0 / size, n), &D);
    return low > 0.0 && conclude(q, v3Scale(1.0 / size, n), D, r, p1, v3Norm(rest) / (q->inner * r), PC_PATH_SIMPLEX);
}

typedef enum Progress { SOLVED, CENTRE_INSIDE, UNSOLVED } Progress;

/* Pivots until the bounds meet. `wide` is how close they were at the last try. */
static Progress pivot(Query* q, Tableau* t)
{
    const pcFrame* f = q->f;
    double noise[2] = {8.0 * PC_ROUND * f->shape1->outradius, 8.0 * PC_ROUND * f->shape2->outradius}, wide = HUGE_VAL;
    bool asked = f->shape1->kind == PC_SHAPE_SUPPORT || f->shape2->kind == PC_SHAPE_SUPPORT;
    int tries = asked ? ASKED_TRIES : PIVOT_LIMIT;
    for (int i = 0; i < PIVOT_LIMIT; i++) {
        v3 n = t->n;
        double size = v3Norm(n), upper = 0.0;
        pcTip tip[2] = {pcFrameTip(f, 0, n), pcFrameTip(f, 1, n)};
        double away = v3Dot(n, f->c), low = q->sigma != 0.0 ? away / (tip[0].value + tip[1].value) : (away - tip[1].value) / tip[0].value;
        for (int j = 0; j < 4; j++) upper += t->side[j] == 0 ? t->x[j] : 0.0;
        if (q->sigma == 0.0 && upper < ON_SURFACE) return CENTRE_INSIDE;
        double between = (upper - low) / upper, over[2] = {excess(q, t, 0, tip[0].k), excess(q, t, 1, tip[1].k)};
        int first = over[1] / noise[1] > over[0] / noise[0], second = 1 - first;
        bool ends = !(over[first] > noise[first] * size);
        if (low > 0.0 && (ends || (between < FIRST_TRY && between < NEXT_TRY * wide))) {
            pcBasis basis = sortedBasis(t);
            wide = between, q->out->basis = basis;
            if ((tries-- > 0 || ends) && tryBasis(q, &basis, v3Scale(1.0 / size, n), PC_PATH_NEWTON)) return SOLVED;
            if ((ends || between < 1e-10) && tryWeights(q, t, n)) return SOLVED;
        }
        if (ends || !enter(q, t, first, tip + first)) break;
        if (excess(q, t, second, tip[second].k) > noise[second] * v3Norm(t->n)) enter(q, t, second, tip + second);
    }
    q->tolerance = USABLE, q->out->basis = sortedBasis(t);
    v3 n = unit(t->n);
    bool found = tryEnds(q, &q->out->basis, n) || tryWeights(q, t, t->n) || tryBasis(q, &q->out->basis, n, PC_PATH_SIMPLEX);
    return found ? SOLVED : UNSOLVED;
}

/* ---- ellipsoids ---- */

/* (M1 + M2) n = c with M = A A: the answer if the sum of the two were an ellipsoid. Body 1's axes are the frame's. */
static bool startBetween(const pcFrame* f, double share1, v3* n)
{
    v3 a = v3Times(f->shape1->semi, f->shape1->semi), b = v3Times(f->shape2->semi, f->shape2->semi);
    double M[3][3], own[3] = {share1 * a.x, share1 * a.y, share1 * a.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            M[i][j] = (i == j ? own[i] : 0.0) + f->R.row[i][0] * b.x * f->R.row[j][0] + f->R.row[i][1] * b.y * f->R.row[j][1] +
                      f->R.row[i][2] * b.z * f->R.row[j][2];
    v3 x = v3Make(M[0][0], M[1][0], M[2][0]), y = v3Make(M[0][1], M[1][1], M[2][1]), z = v3Make(M[0][2], M[1][2], M[2][2]);
    v3 yz = v3Cross(y, z), zx = v3Cross(z, x), xy = v3Cross(x, y);
    double det = v3Dot(x, yz);
    *n = v3Scale(1.0 / det, v3Make(v3Dot(yz, f->c), v3Dot(zx, f->c), v3Dot(xy, f->c)));
    double size = v3Norm(*n);
    *n = v3Scale(1.0 / size, *n);
    return det > 0.0 && size > 0.0 && v3Finite(*n);
}

static bool centreInQuadric(const pcFrame* f)
{
    v3 c = m3TMul(&f->R, f->c), a = f->shape2->semi;
    return v3Norm(v3Make(c.x / a.x, c.y / a.y, c.z / a.z)) <= 1.0 + ON_SURFACE;
}

static Progress betweenQuadrics(Query* q)
{
    v3 n;
    if (q->sigma == 0.0 && centreInQuadric(q->f)) return CENTRE_INSIDE;
    q->out->basis = (pcBasis){.count1 = 1};
    if (startBetween(q->f, 1.0, &n) && tryFeatures(q, &POINT, &POINT, n, PC_PATH_NEWTON)) return SOLVED;
    return q->sigma == 0.0 && startBetween(q->f, 1e-6, &n) && tryFeatures(q, &POINT, &POINT, n, PC_PATH_NEWTON) ? SOLVED : UNSOLVED;
}

/* ---- flat contacts at once ---- */

/* The facet of a polyhedron through which the ray from its centre along d leaves it. */
static int facetTowards(const pcShape* s, v3 d)
{
    int best = 0;
    double most = 0.0;
    for (int i = 0; i < s->facetCount; i++) {
        double part = v3Dot(s->normal[i], d) / s->offset[i];
        if (part > most) most = part, best = i;
    }
    return best;
}

/* Core points that lie farthest along d, up to three of them: a corner, an edge or a face; and the first of all. */
static void flatAlong(const pcShape* s, v3 d, pcFeature* flat, pcFeature* tip)
{
    int count = pcShapeIsPolyhedron(s) ? s->vertexCount : s->coreCount;
    double top = -HUGE_VAL;
    *tip = *flat = (pcFeature){.count = 0};
    for (int i = 0; i < count; i++) {
        double along = v3Dot(pcShapeK(s, i), d);
        if (along > top) top = along, tip->vertex[0] = i;
    }
    for (int i = 0; i < count && flat->count < 3; i++)
        if (v3Dot(pcShapeK(s, i), d) >= top - LEVEL * s->outradius) flat->vertex[flat->count++] = i;
    tip->count = 1;
}

static void noteFeatures(const pcFeature* a, const pcFeature* b, pcBasis* out)
{
    out->count1 = a->count;
    for (int i = 0; i < 4; i++) {
        const pcFeature* of = i < a->count ? a : b;
        int at = i < a->count ? i : i - a->count;
        out->vertex[i] = at < of->count ? of->vertex[at] : -1;
    }
}

/* Bodies mostly rest on faces: the face of a small polyhedron that looks at the other body, and what of that body faces it. */
static bool tryFace(Query* q, int side)
{
    const pcFrame* f = q->f;
    const pcShape* s = pcFrameShape(f, side);
    double sign = side == 0 ? 1.0 : -1.0;
    if (!pcShapeIsPolyhedron(s) || s->facetCount > FEW || pcFrameShape(f, 1 - side)->kind == PC_SHAPE_SUPPORT) return false;
    v3 a = s->normal[facetTowards(s, v3Scale(sign, pcFrameLocal(f, side, f->c)))], n = v3Scale(sign, pcFramePlaced(f, side, a));
    pcFeature flat[2], tip[2], cap;
    for (int i = 0; i < 2; i++) flatAlong(pcFrameShape(f, i), v3Scale(i == 0 ? 1.0 : -1.0, pcFrameLocal(f, i, n)), flat + i, tip + i);
    noteFeatures(flat, flat + 1, &q->out->basis);
    if (pcCapAlong(f, 1 - side, n, &cap)) return tryFeatures(q, side == 1 ? &cap : tip, side == 1 ? tip + 1 : &cap, n, PC_PATH_NEWTON);
    return tryFeatures(q, flat, flat + 1, n, PC_PATH_NEWTON);
}

/* ---- one query ---- */

static bool recall(const pcFrame* f, const pcPairCache* cache, pcBasis* basis, v3* n)
{
    if (!cache || cache->shape[0] != f->shape1->id || cache->shape[1] != f->shape2->id || cache->count1 < 0 || cache->count1 > 4)
        return false;
    basis->count1 = cache->count1;
    for (int i = 0; i < 4; i++) {
        const pcShape* s = i < cache->count1 ? f->shape1 : f->shape2;
        int limit = pcShapeIsPolyhedron(s) ? s->vertexCount : s->coreCount;
        basis->vertex[i] = cache->feature[i] < limit ? cache->feature[i] : -1;
    }
    *n = v3Load(cache->normal);
    return v3Finite(*n) && v3Norm(*n) > 0.5;
}

static void remember(const pcFrame* f, const pcFrameMetric* m, pcPairCache* cache)
{
    if (!cache) return;
    cache->shape[0] = f->shape1->id, cache->shape[1] = f->shape2->id;
    for (int i = 0; i < 4; i++) cache->feature[i] = m->basis.vertex[i];
    cache->count1 = m->basis.count1;
    v3Store(cache->normal, m->n);
}

static Progress solveCold(Query* q)
{
    Tableau t;
    if (pcIsQuadric(q->f->shape1) && pcIsQuadric(q->f->shape2)) {
        Progress progress = betweenQuadrics(q);
        if (progress != UNSOLVED) return progress;
    }
    bool rests = (tryFace(q, 0) || tryFace(q, 1)) && !(q->sigma == 0.0 && q->out->r < ON_SURFACE);
    if (rests) return SOLVED;
    startInside(q, &t);
    return pivot(q, &t);
}

static Progress solve(const pcFrame* f, double sigma, const pcPairCache* cache, pcFrameMetric* out)
{
    Query q = {.f = f, .sigma = sigma, .inner = f->shape1->inradius + sigma * f->shape2->inradius, .out = out};
    q.tolerance = PC_METRIC_TOLERANCE;
    pcBasis basis;
    v3 n;
    if (recall(f, cache, &basis, &n)) {
        out->basis = basis;
        bool smooth = pcIsQuadric(f->shape1) && pcIsQuadric(f->shape2);
        if (smooth ? tryFeatures(&q, &POINT, &POINT, n, PC_PATH_WARM) : tryBasis(&q, &basis, n, PC_PATH_WARM)) return SOLVED;
    }
    return solveCold(&q);
}

pcStatus pcMetricRound(const pcFrame* f, pcPairCache* cache, pcFrameMetric* out)
{
    Progress progress = solve(f, f->sigma, cache, out);
    if (progress == CENTRE_INSIDE) progress = solve(f, 1.0, cache, out);
    if (progress != SOLVED)
        return pcFail(PC_ERROR_INTERNAL, "no method found the ratio of two shapes of kinds %d and %d", f->shape1->kind, f->shape2->kind);
    out->hasBasis = false;
    remember(f, out, cache);
    return PC_OK;
}
