/*
 * Problem: enclose r of a pair of polyhedra, as a linear program over vertices, in quadruple precision.
 *
 *   k1_i  vertices of the moving body 1 about its centre      c  = x2 - x1
 *   k2_j  vertices of body 2 about its centre                 L  a length that puts all four rows on one scale
 *   u, v  weights of the vertices of body 1 and body 2        (n, s) multipliers of the three rows and the last one
 *
 *   two-sided (method T 2.3, 2.12):  min sum u   s.t.   sum u k1 - sum v k2       = c,   sum u - sum v = 0,   u, v >= 0
 *   one-sided (T 2.18):              min sum u   s.t.   sum u k1 - sum v (k2 + c) = 0,         sum v   = 1
 *
 *   primal bound: sum u (two-sided: the larger of the two sums, as both bodies contain their centres)
 *   dual bound:   n.c / (max n.k1 - min n.k2)   or   min n.(k2 + c) / max n.k1
 *
 * Simplex method on four columns, factored anew for every pivot. It starts from a small cross of points around the centre of body 1:
 * these lie inside the body, so they change no optimum, they make a feasible start without a first phase, and none can be left in an
 * optimal basis. The right-hand side is perturbed for pivoting only, so that rays through vertices and edges do not cycle.
 *
 * Rounding. The columns are right to a few 2^-113 of |k| + |centre|; an error e of the common point, or of a vertex, moves r by at most
 * |e| / rho, rho the radius of a ball about the centre inside the scaled bodies. `slackOf` adds that to both sides.
 */
#include "certificate.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "quad.h"

#define ROWS 4
#define MAX_CANDIDATES 96
#define MAX_PIVOTS 300
#define QUAD_EPS 0x1p-112

typedef struct Body {
    const pcShape* shape;
    const double* vertex;
    int count;
    pcQuad rotation[9]; /* shape axes to world */
    pcQuad centre[3];   /* shape axes */
    double radius;      /* largest |k| */
    double reach;       /* largest |coordinate| of a vertex, for rounding errors */
    double inradius;
} Body;

typedef struct Column {
    pcQuad a[ROWS];
    int body;   /* 0, 1 */
    int vertex; /* < 0: of the start cross */
} Column;

typedef struct Program {
    Body body[2];
    bool oneSided;
    pcQuad c[3];
    double distance; /* |c| */
    double input;    /* the lengths that c was summed from */
    double scale;    /* L */
    pcQuad rhs[ROWS];
    Column candidate[MAX_CANDIDATES];
    int candidates;
    Column basis[ROWS];
    int pivots;
    pcQuad lower, upper; /* best so far, without slack */
    bool haveUpper, haveLower;
} Program;

/* ---- 4x4 systems ---- */

/* LU of a 4x4 matrix with partial pivoting: row order[i] of the matrix is row i of LU. */
typedef struct Factor {
    pcQuad lu[ROWS][ROWS];
    int order[ROWS];
} Factor;

static void swapRows(Factor* f, int i, int j)
{
    if (i == j) return;
    for (int k = 0; k < ROWS; k++) {
        pcQuad t = f->lu[i][k];
        f->lu[i][k] = f->lu[j][k], f->lu[j][k] = t;
    }
    int t = f->order[i];
    f->order[i] = f->order[j], f->order[j] = t;
}

static int largestBelow(const Factor* f, int k)
{
    int best = k;
    for (int i = k + 1; i < ROWS; i++)
        if (quadAbs(f->lu[i][k]) > quadAbs(f->lu[best][k])) best = i;
    return best;
}

static bool factor(const Column basis[ROWS], Factor* f)
{
    for (int i = 0; i < ROWS; i++) {
        f->order[i] = i;
        for (int k = 0; k < ROWS; k++) f->lu[i][k] = basis[k].a[i];
    }
    for (int k = 0; k < ROWS; k++) {
        swapRows(f, k, largestBelow(f, k));
        if (f->lu[k][k] == 0) return false;
        pcQuad inverse = 1 / f->lu[k][k];
        for (int i = k + 1; i < ROWS; i++) {
            if (f->lu[i][k] == 0) continue;
            f->lu[i][k] *= inverse;
            for (int j = k + 1; j < ROWS; j++) f->lu[i][j] -= f->lu[i][k] * f->lu[k][j];
        }
    }
    return true;
}

/* B x = b */
static void solve(const Factor* f, const pcQuad b[ROWS], pcQuad x[ROWS])
{
    for (int i = 0; i < ROWS; i++) {
        x[i] = b[f->order[i]];
        for (int k = 0; k < i; k++) x[i] -= f->lu[i][k] * x[k];
    }
    for (int i = ROWS - 1; i >= 0; i--) {
        for (int k = i + 1; k < ROWS; k++) x[i] -= f->lu[i][k] * x[k];
        x[i] /= f->lu[i][i];
    }
}

/* B' y = b */
static void solveTransposed(const Factor* f, const pcQuad b[ROWS], pcQuad y[ROWS])
{
    pcQuad t[ROWS];
    for (int i = 0; i < ROWS; i++) {
        t[i] = b[i];
        for (int k = 0; k < i; k++) t[i] -= f->lu[k][i] * t[k];
        t[i] /= f->lu[i][i];
    }
    for (int i = ROWS - 1; i >= 0; i--)
        for (int k = i + 1; k < ROWS; k++) t[i] -= f->lu[k][i] * t[k];
    for (int i = 0; i < ROWS; i++) y[f->order[i]] = t[i];
}

/* ---- the linear program of a scene ---- */

static bool isPolyhedron(const pcShapeInfo* info) { return info->kind == PC_SHAPE_POLYHEDRON || info->kind == PC_SHAPE_BOX; }

static double reachOf(const double* vertex, int count)
{
    double reach = 0.0;
    for (int i = 0; i < 3 * count; i++) reach = fmax(reach, fabs(vertex[i]));
    return reach;
}

static bool loadBody(const pcShape* shape, const pcPose* pose, Body* b)
{
    pcShapeInfo info;
    if (pcShapeDescribe(shape, &info) != PC_OK || !isPolyhedron(&info)) return false;
    b->shape = shape;
    b->vertex = pcShapeVertices(shape, &b->count);
    if (!b->vertex || b->count < 4) return false;
    rotationOf(pose->quaternion, b->rotation);
    for (int i = 0; i < 3; i++) b->centre[i] = quad(info.centre[i]);
    b->radius = info.outradius;
    b->reach = reachOf(b->vertex, b->count);
    b->inradius = info.inradius;
    return true;
}

/* x2 - x1, the positions subtracted first so that a scene far from the origin loses nothing. */
static void centreDifference(Program* p, const pcPose* pose1, const pcPose* pose2)
{
    pcQuad x1[3], x2[3];
    rotate(p->body[0].rotation, p->body[0].centre, x1);
    rotate(p->body[1].rotation, p->body[1].centre, x2);
    pcQuad apart[3];
    for (int i = 0; i < 3; i++) {
        apart[i] = (pcQuad)pose2->position[i] - (pcQuad)pose1->position[i];
        p->c[i] = apart[i] + (x2[i] - x1[i]);
    }
    p->distance = length3(p->c);
    p->input = length3(apart) + length3(x1) + length3(x2);
}

static void setForm(Program* p, bool oneSided)
{
    p->oneSided = oneSided;
    p->scale = fmax(p->body[0].radius, p->body[1].radius);
    if (oneSided) p->scale = fmax(p->scale, p->distance);
    for (int i = 0; i < 3; i++) p->rhs[i] = oneSided ? 0 : p->c[i];
    p->rhs[3] = oneSided ? -(pcQuad)p->scale : 0;
    p->candidates = 0;
    p->haveLower = p->haveUpper = false;
}

/* The column of a point k (world axes, about the centre of its body). */
static Column columnOf(const Program* p, int body, int vertex, const pcQuad k[3])
{
    Column column = {.body = body, .vertex = vertex};
    for (int i = 0; i < 3; i++) {
        if (body == 0)
            column.a[i] = k[i];
        else
            column.a[i] = p->oneSided ? -(k[i] + p->c[i]) : -k[i];
    }
    if (body == 0)
        column.a[3] = p->oneSided ? 0 : (pcQuad)p->scale;
    else
        column.a[3] = -(pcQuad)p->scale;
    return column;
}

static Column vertexColumn(const Program* p, int body, int vertex)
{
    const Body* b = &p->body[body];
    pcQuad k[3], world[3];
    for (int i = 0; i < 3; i++) k[i] = (pcQuad)b->vertex[3 * vertex + i] - b->centre[i];
    rotate(b->rotation, k, world);
    return columnOf(p, body, vertex, world);
}

static pcQuad costOf(const Column* column) { return column->body == 0 ? 1 : 0; }

static int addCandidate(Program* p, int body, int vertex)
{
    for (int i = 0; i < p->candidates; i++)
        if (p->candidate[i].body == body && p->candidate[i].vertex == vertex) return i;
    int slot = p->candidates < MAX_CANDIDATES ? p->candidates++ : p->pivots % MAX_CANDIDATES;
    p->candidate[slot] = vertexColumn(p, body, vertex);
    return slot;
}

/* ---- supports over all vertices ---- */

typedef struct Support {
    pcQuad value; /* largest d.k */
    int vertex;
} Support;

static double scoreOf(const Body* b, const double d[3], int i)
{
    return d[0] * b->vertex[3 * i] + d[1] * b->vertex[3 * i + 1] + d[2] * b->vertex[3 * i + 2];
}

static double bestScore(const Body* b, const double d[3])
{
    double best = scoreOf(b, d, 0);
    for (int i = 1; i < b->count; i++) best = fmax(best, scoreOf(b, d, i));
    return best;
}

/* All vertices in doubles, and those that rounding lets compete in quads. Three products and the rounded direction are wrong by less
 * than 4 x 2^-53 |d|_1 reach each, so twice that apart is decided; the margin is twice as wide again. */
static Support supportOf(const Body* b, const pcQuad world[3])
{
    pcQuad local[3];
    rotateBack(b->rotation, world, local);
    double d[3] = {(double)local[0], (double)local[1], (double)local[2]};
    double margin = 0x1p-49 * (fabs(d[0]) + fabs(d[1]) + fabs(d[2])) * b->reach;
    double least = bestScore(b, d) - margin;
    Support top = {0, -1};
    for (int i = 0; i < b->count; i++) {
        if (scoreOf(b, d, i) < least) continue;
        const double* v = b->vertex + 3 * i;
        pcQuad value = local[0] * quad(v[0]) + local[1] * quad(v[1]) + local[2] * quad(v[2]);
        if (top.vertex < 0 || value > top.value) top = (Support){value, i};
    }
    top.value -= dot3(local, b->centre);
    return top;
}

/* The two supports that a direction n is judged by: high = max n.k1, low = min n.k2 (one-sided: min n.(k2 + c)). */
typedef struct Slab {
    Support high, low;
} Slab;

static Slab slabOf(const Program* p, const pcQuad n[3])
{
    pcQuad back[3] = {-n[0], -n[1], -n[2]};
    Slab slab = {supportOf(&p->body[0], n), supportOf(&p->body[1], back)};
    slab.low.value = -slab.low.value;
    if (p->oneSided) slab.low.value += dot3(n, p->c);
    return slab;
}

/* The ratio that direction n proves; false if it proves nothing. */
static bool dualValue(const Program* p, const pcQuad n[3], const Slab* slab, pcQuad* value)
{
    pcQuad below = p->oneSided ? slab->high.value : slab->high.value - slab->low.value;
    if (!(below > 0)) return false;
    *value = (p->oneSided ? slab->low.value : dot3(n, p->c)) / below;
    return true;
}

static void raiseLower(Program* p, const pcQuad n[3], const Slab* slab)
{
    pcQuad value;
    if (!dualValue(p, n, slab, &value)) return;
    if (!p->haveLower || value > p->lower) p->lower = value;
    p->haveLower = true;
}

/* ---- simplex method ---- */

/* Where the cross has to reach: c, or the first vertex of body 2 seen from the centre of body 1. */
static pcQuad towards(const Program* p, int i) { return p->oneSided ? -p->basis[3].a[i] : p->c[i]; }

/* A point of body 2 (two-sided: its centre), and three points of the cross on the side of what is left to reach. */
static void startBasis(Program* p)
{
    pcQuad zero[3] = {0, 0, 0}, arm = quad(p->body[0].inradius * 0.0625);
    p->basis[3] = p->oneSided ? vertexColumn(p, 1, 0) : columnOf(p, 1, -1, zero);
    for (int i = 0; i < 3; i++) {
        pcQuad k[3] = {0, 0, 0};
        k[i] = towards(p, i) < 0 ? -arm : arm;
        p->basis[i] = columnOf(p, 0, -1 - i, k);
    }
}

/* The perturbed right-hand side; fixed numbers without a pattern, as bodies have none that fits them. */
static void perturbedRhs(const Program* p, double size, int turn, pcQuad rhs[ROWS])
{
    static const double pattern[ROWS] = {0.7548776662466927, 0.5698402909980532, -0.6180339887498949, 0.3819660112501051};
    double length = p->oneSided ? p->scale : p->distance;
    for (int i = 0; i < ROWS; i++) {
        double sign = i < 3 && towards(p, i) < 0 ? -1.0 : 1.0; /* keeps the start feasible */
        rhs[i] = p->rhs[i] + (pcQuad)(sign * fabs(pattern[(i + turn) % ROWS]) * size * length) * (i == 3 ? (pcQuad)-0.5 : 1);
    }
}

/* How much column a would gain per unit of weight under the multipliers y; <= 0: nothing. */
static pcQuad gainOf(const Column* column, const pcQuad y[ROWS]) { return dot3(y, column->a) + y[3] * column->a[3] - costOf(column); }

/* *gain: only what exceeds it counts, and what the best one brings. */
static int bestCandidate(const Program* p, const pcQuad y[ROWS], pcQuad* gain)
{
    int best = -1;
    for (int i = 0; i < p->candidates; i++) {
        pcQuad own = gainOf(&p->candidate[i], y);
        if (own > *gain) *gain = own, best = i;
    }
    return best;
}

/* Prices every vertex; also the place where a direction proves its bound. */
static int bestVertex(Program* p, const pcQuad y[ROWS], pcQuad noise)
{
    Slab slab = slabOf(p, y);
    raiseLower(p, y, &slab);
    pcQuad gain1 = slab.high.value + (p->oneSided ? 0 : y[3] * quad(p->scale)) - 1;
    pcQuad gain2 = -slab.low.value - y[3] * quad(p->scale);
    if (!(gain1 > noise) && !(gain2 > noise)) return -1;
    if (gain1 > noise && gain2 > noise) addCandidate(p, gain1 > gain2 ? 1 : 0, gain1 > gain2 ? slab.low.vertex : slab.high.vertex);
    return gain1 > gain2 ? addCandidate(p, 0, slab.high.vertex) : addCandidate(p, 1, slab.low.vertex);
}

static double noiseOf(const Program* p, const pcQuad y[ROWS])
{
    double lengths = p->body[0].radius + p->body[1].radius + p->body[0].reach + p->body[1].reach + (p->oneSided ? p->distance : 0.0);
    return 16.0 * QUAD_EPS * (1.0 + (length3(y) + fabs((double)y[3])) * lengths);
}

/* The basic column that reaches zero first; of (nearly) equals the one with the largest pivot, which keeps the basis well conditioned. */
static int leavingOf(const pcQuad weight[ROWS], const pcQuad d[ROWS])
{
    pcQuad largest = 0, step = 0;
    int leaving = -1;
    for (int k = 0; k < ROWS; k++)
        if (quadAbs(d[k]) > largest) largest = quadAbs(d[k]);
    for (int k = 0; k < ROWS; k++) {
        if (!(d[k] > largest * (pcQuad)0x1p-96)) continue;
        pcQuad ratio = (weight[k] > 0 ? weight[k] : 0) / d[k];
        if (leaving < 0 || ratio < step || (ratio == step && d[k] > d[leaving])) step = ratio, leaving = k;
    }
    return leaving;
}

static void multipliers(const Program* p, const Factor* f, pcQuad y[ROWS])
{
    pcQuad cost[ROWS];
    for (int k = 0; k < ROWS; k++) cost[k] = costOf(&p->basis[k]);
    solveTransposed(f, cost, y);
}

/* ---- bounds ---- */

/* Sums of the weights of both bodies, and what they leave of the right-hand side once weights below zero, and those of the start cross,
 * are dropped. */
typedef struct Primal {
    pcQuad sum[2];
    pcQuad left[3];
    bool valid;
} Primal;

static Primal primalOf(const Program* p, pcQuad weight[ROWS])
{
    Primal primal = {.valid = true};
    for (int k = 0; k < ROWS; k++) {
        if (!(weight[k] > 0) || p->basis[k].vertex < 0) weight[k] = 0;
        primal.sum[p->basis[k].body] += weight[k];
    }
    if (p->oneSided && !(primal.sum[1] > 0)) primal.valid = false;
    for (int i = 0; i < 3 && primal.valid; i++) {
        primal.left[i] = p->rhs[i];
        for (int k = 0; k < ROWS; k++) primal.left[i] -= weight[k] * p->basis[k].a[i];
        if (p->oneSided) primal.left[i] /= primal.sum[1];
    }
    return primal;
}

/* Radius of a ball in the set that r measures by: the scaled bodies. Half of what the shapes say, in case they round. */
static double ballOf(const Program* p) { return 0.5 * (p->body[0].inradius + (p->oneSided ? 0.0 : p->body[1].inradius)); }

/* Reads the primal bound off the current basis, with the true right-hand side. */
static void dropUpper(Program* p)
{
    Factor f;
    if (!factor(p->basis, &f)) return;
    pcQuad weight[ROWS];
    solve(&f, p->rhs, weight);
    Primal primal = primalOf(p, weight);
    if (!primal.valid) return;
    pcQuad upper = p->oneSided ? primal.sum[0] / primal.sum[1] : primal.sum[0] > primal.sum[1] ? primal.sum[0] : primal.sum[1];
    upper += (pcQuad)(length3(primal.left) * (1.0 + 1e-9) / ballOf(p));
    if (!p->haveUpper || upper < p->upper) p->upper = upper;
    p->haveUpper = true;
}

/* By how much rounding (of vertices, rotations, sums) moves the common point of bodies whose weights sum up to this. */
static double roundingOf(const Program* p, double weights)
{
    double bodies = p->body[0].radius + p->body[0].reach + p->body[1].radius + p->body[1].reach;
    return 16.0 * QUAD_EPS * (weights * bodies + p->input);
}

/* What rounding can do to r at worst: a ball inside the bodies has to cover that motion. */
static double slackOf(const Program* p)
{
    double r = fabs((double)p->upper);
    return roundingOf(p, p->oneSided ? 1.0 + r : r) / ballOf(p);
}

/* Largest change of each weight that the rounding of all columns can bring, by the inverse of the basis. */
static bool weightsStand(const Factor* f, const pcQuad weight[ROWS], double rounding)
{
    double change[ROWS] = {0.0};
    for (int i = 0; i < ROWS; i++) {
        pcQuad unit[ROWS] = {0}, column[ROWS];
        unit[i] = 1;
        solve(f, unit, column);
        for (int k = 0; k < ROWS; k++) change[k] += fabs((double)column[k]) * rounding;
    }
    for (int k = 0; k < ROWS; k++)
        if (!(weight[k] > quad(2.0 * change[k]))) return false;
    return true;
}

/* For thin bodies the ball is small and the bound above far too wide. If all four weights stay positive whatever the rounding, the basis
 * is the optimal one for the exact columns too, and r moves by y.(rounding) only. */
static bool tightSlack(const Program* p, double* slack)
{
    Factor f;
    pcQuad y[ROWS], weight[ROWS];
    if (!factor(p->basis, &f)) return false;
    multipliers(p, &f, y);
    solve(&f, p->rhs, weight);
    double sum = 0.0;
    for (int k = 0; k < ROWS; k++) {
        if (p->basis[k].vertex < 0) return false;
        sum += fabs((double)weight[k]);
    }
    double rounding = roundingOf(p, sum);
    *slack = 4.0 * rounding * length3(y);
    return weightsStand(&f, weight, rounding);
}

/* The bounds agree far better than they must. */
static bool closed(const Program* p) { return p->haveLower && p->haveUpper && p->upper - p->lower <= quad(0.01 * PC_CERTIFIED) * p->upper; }

/* One-sided, and the centre of body 1 is inside body 2: the optimum is 0, up to what the perturbation leaves. */
static bool vanished(const Program* p) { return p->oneSided && p->haveUpper && p->upper <= quad(0x1p30 * slackOf(p)); }

/* In a badly conditioned basis rounding alone can promise gains, and pivots would go on for ever: look whether the bounds have met. */
static bool proven(Program* p, const pcQuad y[ROWS])
{
    Slab slab = slabOf(p, y);
    raiseLower(p, y, &slab);
    dropUpper(p);
    return closed(p);
}

/* One pivot; false when there is none to make, or no need. */
static bool pivot(Program* p, const pcQuad rhs[ROWS])
{
    Factor f;
    if (!factor(p->basis, &f)) return false;
    pcQuad y[ROWS], weight[ROWS], d[ROWS];
    multipliers(p, &f, y);
    pcQuad noise = quad(noiseOf(p, y)), gain = noise;
    int enter = bestCandidate(p, y, &gain);
    if (enter < 0)
        enter = bestVertex(p, y, noise);
    else if (gain < quad(0x1p-60) && proven(p, y))
        return false;
    if (enter < 0) return false;
    solve(&f, rhs, weight);
    solve(&f, p->candidate[enter].a, d);
    int leaving = leavingOf(weight, d);
    if (leaving < 0) return false;
    p->basis[leaving] = p->candidate[enter];
    p->pivots++;
    return true;
}

/* Small perturbations keep the bounds tight, larger ones stand above the rounding of badly conditioned bases; where none of them leads
 * to the end, the same sizes in other directions do. */
static void run(Program* p)
{
    static const double perturbation[] = {1e-30, 1e-28, 1e-32, 1e-26, 1e-24, 0.0, 1e-22, 1e-20};
    const int sizes = (int)(sizeof perturbation / sizeof *perturbation);
    for (int k = 0; k < ROWS * sizes; k++) {
        pcQuad rhs[ROWS];
        startBasis(p);
        perturbedRhs(p, perturbation[k % sizes], k / sizes, rhs);
        int last = p->pivots + MAX_PIVOTS;
        while (p->pivots < last && pivot(p, rhs)) continue;
        dropUpper(p);
        if (closed(p) || vanished(p)) return;
    }
}

/* ---- hint ---- */

/* Puts the vertices within a small slab of the support into the candidates: a start, so plain doubles do. */
static void hintBody(Program* p, int body, const pcQuad world[3])
{
    const Body* b = &p->body[body];
    pcQuad local[3];
    rotateBack(b->rotation, world, local);
    double d[3] = {(double)local[0], (double)local[1], (double)local[2]};
    double least = bestScore(b, d) - 1e-9 * b->radius;
    int room = MAX_CANDIDATES / 4;
    for (int i = 0; i < b->count && room > 0; i++)
        if (scoreOf(b, d, i) >= least) addCandidate(p, body, i), room--;
}

static void takeHint(Program* p, const double* normal, double sign)
{
    if (!normal) return;
    pcQuad n[3], back[3];
    for (int i = 0; i < 3; i++) {
        if (!isfinite(normal[i])) return;
        n[i] = quad(sign * normal[i]), back[i] = -n[i];
    }
    hintBody(p, 0, n);
    hintBody(p, 1, back);
}

/* ---- half-spaces ---- */

/* The surface a.x = d in world axes, the height of the moving centre above it and the body's support towards it, both times |a|. */
typedef struct Height {
    pcQuad a[3];
    pcQuad height, support;
    double lengths; /* that the height was summed from, times |a| */
} Height;

static void supportTowards(const Body* b, Height* h)
{
    pcQuad down[3] = {-h->a[0], -h->a[1], -h->a[2]};
    h->support = supportOf(b, down).value;
}

static bool heightAbove(const pcScene* scene, int moving, Body* b, Height* h)
{
    const pcPose *pose = &scene->pose[moving], *plane = &scene->pose[1 - moving];
    if (!scene->plane || !loadBody(scene->shape[moving], pose, b)) return false;
    pcQuad rotation[9], a[3] = {quad(scene->plane[0]), quad(scene->plane[1]), quad(scene->plane[2])}, x[3], apart[3];
    rotationOf(plane->quaternion, rotation);
    rotate(rotation, a, h->a);
    rotate(b->rotation, b->centre, x);
    for (int i = 0; i < 3; i++) apart[i] = (pcQuad)pose->position[i] - (pcQuad)plane->position[i];
    h->height = dot3(h->a, apart) + dot3(h->a, x) - (pcQuad)scene->plane[3];
    h->lengths = length3(a) * (length3(apart) + length3(x)) + fabs(scene->plane[3]);
    supportTowards(b, h);
    return h->support > 0;
}

static void certifyHeight(const Body* b, const Height* h, pcRatioCertificate* out)
{
    pcQuad r = h->height / h->support;
    double size = length3(h->a) * (b->radius + b->reach);
    double slack = 16.0 * QUAD_EPS * (h->lengths + fabs((double)r) * size) / (double)h->support;
    /* A height that vanishes against the numbers it is the difference of is known to this many of their digits, no more: doubled
     * precision. */
    double floor = 0x1p-96 * h->lengths / (double)h->support;
    out->lower = r - (pcQuad)(slack + floor), out->upper = r + (pcQuad)(slack + floor);
    out->r = (double)r;
    out->centres = HUGE_VAL;
    out->ok = slack <= PC_CERTIFIED * fabs(out->r) || slack <= floor;
}

/* ---- the public judge ---- */

/* A scene in the order of the program: the moving body first, normals along `sign`. */
typedef struct Order {
    int first, second;
    double sign;
    bool oneSided, halfSpace;
} Order;

static bool isHalfSpace(const pcShape* shape)
{
    pcShapeInfo info;
    return pcShapeDescribe(shape, &info) == PC_OK && info.kind == PC_SHAPE_HALFSPACE;
}

static Order orderOf(const pcScene* scene)
{
    bool half1 = isHalfSpace(scene->shape[0]), half2 = isHalfSpace(scene->shape[1]);
    bool fixed1 = half1 || (scene->flags & PC_FIXED_1), fixed2 = half2 || (scene->flags & PC_FIXED_2);
    Order order = {0, 1, 1.0, fixed1 != fixed2, half1 || half2};
    if (order.oneSided && fixed1) order = (Order){1, 0, -1.0, true, order.halfSpace};
    return order;
}

static bool loadProgram(const pcScene* scene, const Order* order, Program* p)
{
    p->pivots = 0;
    if (!loadBody(scene->shape[order->first], &scene->pose[order->first], &p->body[0])) return false;
    if (!loadBody(scene->shape[order->second], &scene->pose[order->second], &p->body[1])) return false;
    centreDifference(p, &scene->pose[order->first], &scene->pose[order->second]);
    return true;
}

static void writeCertificate(const Program* p, pcRatioCertificate* out)
{
    out->pivots = p->pivots;
    out->centres = p->distance;
    if (!p->haveLower || !p->haveUpper) return;
    double wide = slackOf(p), tight = wide;
    if (!(wide <= 0.01 * PC_CERTIFIED * (double)p->upper) && tightSlack(p, &tight)) wide = fmin(wide, tight);
    pcQuad slack = quad(wide);
    out->lower = p->lower - slack, out->upper = p->upper + slack;
    out->r = (double)((p->lower + p->upper) / 2);
    /* a centre all but on the surface of a fixed body: r is a difference of numbers 1 / r times larger. Errors are measured from the
     * interval. */
    double needed = p->oneSided && p->upper < quad(1e-6) ? fmax(1e-12, 1e-23 / (double)p->upper) : PC_CERTIFIED;
    out->ok = out->upper - out->lower <= quad(needed) * p->upper;
}

/* Depth of the moving centre inside the fixed body, by that body's planes: good to the rounding of doubles, which is what it is for. */
static double depthInside(const Program* p)
{
    const Body* b = &p->body[1];
    pcQuad x[3];
    rotateBack(b->rotation, p->c, x);
    for (int i = 0; i < 3; i++) x[i] = b->centre[i] - x[i];
    double depth = HUGE_VAL;
    pcFacet facet;
    for (int k = 0; pcShapeFacet(b->shape, k, &facet) == PC_OK; k++) {
        pcQuad a[3] = {quad(facet.plane[0]), quad(facet.plane[1]), quad(facet.plane[2])};
        depth = fmin(depth, (double)(quad(facet.plane[3]) - dot3(a, x)));
    }
    return depth;
}

/* Its distance outside: r times the support of the moving body across the optimal direction y, which is 1 / |y|. */
static double distanceOutside(const Program* p)
{
    Factor f;
    pcQuad y[ROWS];
    if (!factor(p->basis, &f)) return 0.0;
    multipliers(p, &f, y);
    double steep = length3(y);
    return steep > 0.0 ? (double)p->upper / steep : 0.0;
}

/* The form of the metric changes at the surface, and doubles cannot tell on which side of it a centre is that lies on it to rounding. */
static bool onBorder(const Program* p)
{
    double lengths = p->input + p->body[1].reach;
    if (!p->oneSided) return false;
    return vanished(p) ? depthInside(p) <= 1e-14 * lengths : distanceOutside(p) <= 4e-15 * lengths;
}

static void certifyProgram(Program* p, bool oneSided, const double* hint, double sign, pcRatioCertificate* out)
{
    setForm(p, oneSided);
    takeHint(p, hint, sign);
    run(p);
    out->border = onBorder(p);
    /* pivots may also run in circles close to 0: then the planes of the fixed body say whether the centre is inside */
    bool inside = p->oneSided && !closed(p) && depthInside(p) > 1e-14 * (p->input + p->body[1].reach);
    if (vanished(p) || inside) {
        setForm(p, false);
        takeHint(p, hint, sign);
        run(p);
    }
    writeCertificate(p, out);
}

bool pcRatioCertify(const pcScene* scene, const double* hintOrNull, pcRatioCertificate* out)
{
    memset(out, 0, sizeof *out);
    Order order = orderOf(scene);
    if (order.halfSpace) {
        Body body;
        Height height;
        if (!heightAbove(scene, order.first, &body, &height)) return false;
        certifyHeight(&body, &height, out);
        return out->ok;
    }
    Program p;
    if (!loadProgram(scene, &order, &p)) return false;
    out->centres = p.distance;
    if (p.distance == 0.0) return true;
    certifyProgram(&p, order.oneSided, hintOrNull, order.sign, out);
    return out->ok;
}

double pcRatioError(const pcRatioCertificate* certificate, double r)
{
    if (!isfinite(r)) return HUGE_VAL;
    pcQuad x = quad(r), low = certificate->lower, high = certificate->upper;
    pcQuad off = x < low ? low - x : x > high ? x - high : 0;
    return off == 0 ? 0.0 : (double)(off / quadAbs((low + high) / 2));
}

/* ---- witness ---- */

/*
 * `normal` is a unit vector n* rounded to doubles: n = n* + e with |e| <= EPS, a few roundings. With H(n) the sum of the supports
 * (one-sided: of the moving body), R the radii that H sums, C the largest |c| (one-sided: |k2 + c|):
 *     n.c >= n*.c - EPS C  and  H(n) <= H(n*) + EPS R,   so   n.c / H(n) >= r - EPS (C + r R) / H(n).
 * The gap (r - 1) / |g| is (r - 1) H(n*) = n*.c - H(n*): evaluated with n it may differ by EPS (C + R).
 * Besides, n* need only be as good as the promise on r: a direction that proves r to PROOF, relative, is one.
 * Where several directions are optimal n* is the library's choice, so both are measured with its own n.
 */
#define NORMAL_EPS 1e-14
#define PROOF 2e-13

typedef struct Measure {
    pcQuad value; /* n.c or min n.(k2 + c) or the height */
    pcQuad support;
    double far, radii; /* C, R */
} Measure;

static void judgeWitness(const Measure* m, const pcMetric* answer, pcVerdict* out)
{
    const double* n = answer->normal;
    pcQuad exact[3] = {quad(n[0]), quad(n[1]), quad(n[2])}, square = dot3(exact, exact);
    out->unit = fabs((double)(square - 1)) / 2.0 / NORMAL_EPS;
    pcQuad r = (out->certificate.lower + out->certificate.upper) / 2, size = quadAbs(r);
    pcQuad allowed = quad(NORMAL_EPS) * (quad(m->far) + size * quad(m->radii)) / m->support + quad(PROOF) * size;
    out->dual = m->support > 0 ? (double)(quadAbs(r - m->value / m->support) / allowed) : HUGE_VAL;
    pcQuad gap = m->value - m->support, length = quad(NORMAL_EPS * (m->far + m->radii)) + quad(PROOF) * (1 + size) * m->support;
    out->gap = (double)(quadAbs(quad(answer->gap) - gap) / length);
}

static Measure measurePair(const Program* p, const pcQuad n[3])
{
    Slab slab = slabOf(p, n);
    if (p->oneSided) return (Measure){slab.low.value, slab.high.value, p->distance + p->body[1].radius, p->body[0].radius};
    return (Measure){dot3(n, p->c), slab.high.value - slab.low.value, p->distance, p->body[0].radius + p->body[1].radius};
}

static pcQuad quadSqrt(pcQuad x)
{
    pcQuad root = quad(sqrt((double)x));
    for (int i = 0; i < 2 && root > 0; i++) root = (root + x / root) / 2;
    return root;
}

/* Against a half-space there is one direction only, so what is measured is its own value; `straight` says how far n is from it. */
static Measure measureHeight(const Body* b, const Height* h, const pcQuad n[3], double* straight)
{
    pcQuad size = quadSqrt(dot3(h->a, h->a)), off[3];
    for (int i = 0; i < 3; i++) off[i] = n[i] + h->a[i] / size;
    *straight = length3(off) / NORMAL_EPS;
    return (Measure){h->height / size, h->support / size, h->lengths / (double)size, b->radius};
}

static void worldCentre(const pcShapeInfo* info, const pcPose* pose, pcQuad x[3])
{
    pcQuad rotation[9], centre[3];
    rotationOf(pose->quaternion, rotation);
    for (int k = 0; k < 3; k++) centre[k] = quad(info->centre[k]);
    rotate(rotation, centre, x);
    for (int k = 0; k < 3; k++) x[k] += quad(pose->position[k]);
}

/* The lengths of a scene: points are no better than the rounding of these. */
static double sceneSize(const pcScene* scene)
{
    double size = 0.0;
    for (int i = 0; i < 2; i++) {
        pcShapeInfo info;
        if (pcShapeDescribe(scene->shape[i], &info) != PC_OK) continue;
        for (int k = 0; k < 3; k++) size += fabs(info.centre[k]) + fabs(scene->pose[i].position[k]);
    }
    return size;
}

/* How far `point` is from x + r (image - x), against the rounding of the numbers they are made from. */
static double preimageError(const pcScene* scene, int i, bool scales, double r, const double point[3], const double image[3])
{
    pcShapeInfo info;
    if (pcShapeDescribe(scene->shape[i], &info) != PC_OK) return HUGE_VAL;
    pcQuad x[3], off[3], at[3], p[3];
    worldCentre(&info, &scene->pose[i], x);
    for (int k = 0; k < 3; k++) {
        p[k] = quad(point[k]), at[k] = quad(image[k]);
        off[k] = p[k] - (scales ? x[k] + quad(r) * (at[k] - x[k]) : at[k]);
    }
    double size = length3(p) + (1.0 + fabs(r)) * (sceneSize(scene) + length3(at));
    double error = length3(off) / (1e-13 * size);
    return size == 0.0 ? 0.0 : isfinite(error) ? error : HUGE_VAL;
}

static void judgePoints(const pcScene* scene, const Order* order, bool oneSided, const pcMetric* answer, pcVerdict* out)
{
    bool scales1 = !oneSided || order->first == 0, scales2 = !oneSided || order->first == 1;
    double e1 = preimageError(scene, 0, scales1, answer->r, answer->point, answer->point1);
    double e2 = preimageError(scene, 1, scales2, answer->r, answer->point, answer->point2);
    out->preimages = fmax(e1, e2);
}

static void judgeNumbers(const pcMetric* answer, pcVerdict* out)
{
    const pcRatioCertificate* c = &out->certificate;
    out->error = pcRatioError(c, answer->r);
    out->boundsHold =
        (pcQuad)answer->lower <= c->upper && (pcQuad)answer->upper >= c->lower && answer->lower <= answer->r && answer->r <= answer->upper;
    out->boundsWidth = c->r == 0.0 ? 0.0 : (answer->upper - answer->lower) / fabs(c->r);
}

static bool judgeHalfSpace(const pcScene* scene, const Order* order, const pcMetric* answer, const pcQuad n[3], pcVerdict* out)
{
    Body body;
    Height height;
    double straight;
    if (!heightAbove(scene, order->first, &body, &height)) return false;
    certifyHeight(&body, &height, &out->certificate);
    if (!out->certificate.ok) return false;
    Measure measure = measureHeight(&body, &height, n, &straight);
    judgeWitness(&measure, answer, out);
    out->unit = fmax(out->unit, straight);
    judgePoints(scene, order, true, answer, out);
    return true;
}

static bool judgePolyhedra(const pcScene* scene, const Order* order, const pcMetric* answer, const pcQuad n[3], pcVerdict* out)
{
    Program p;
    if (!loadProgram(scene, order, &p) || p.distance == 0.0) return false;
    certifyProgram(&p, order->oneSided, answer->normal, order->sign, &out->certificate);
    if (!out->certificate.ok) return false;
    Measure measure = measurePair(&p, n);
    judgeWitness(&measure, answer, out);
    judgePoints(scene, order, p.oneSided, answer, out);
    return true;
}

bool pcJudge(const pcScene* scene, const pcMetric* answer, pcVerdict* out)
{
    memset(out, 0, sizeof *out);
    Order order = orderOf(scene);
    pcQuad n[3];
    for (int i = 0; i < 3; i++) n[i] = quad(order.sign * answer->normal[i]);
    bool judged = order.halfSpace ? judgeHalfSpace(scene, &order, answer, n, out) : judgePolyhedra(scene, &order, answer, n, out);
    if (judged) judgeNumbers(answer, out);
    return judged;
}
