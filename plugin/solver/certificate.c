/*
 * The certificate of (v, c): the natural map of the cone complementarity problem, row velocities, cone excess and momentum.
 *
 *     u = J v - b + s c                                                         row velocities
 *     u~ = u + (sum_g h_g(-u_g)) n     coulomb, else u~ = u                     h_g: support function of the group's disc or polygon
 *     F = C - proj_K(C - U),   C = c / (k c0),   U = u~ / v0                    zero exactly at solutions, whatever the scales
 *
 * Scales. v0 is problem->velocityScale. c0 = v0 / w with w the mean diagonal of the cone's own J M^-1 J' + s: an impulse of 1 (times c0)
 * changes the cone's own velocity by about 1 (times v0). So F is the same in any units of mass, length and time, and for a body of 1e-6 kg
 * as for one of 1e6 kg.
 *
 * k = max(1, |c| / c0). A light body under a load of a million times its mass carries C = 1e6, and c itself is rounded by 1e-16 C: no
 * figure that counts impulses in units of c0 could then come below 1e-10. Divided by k, an impulse's error counts relative to the impulse,
 * while velocities still count in full: u of a pressed contact enters F undivided. F is zero at the same points (k only chooses rho =
 * k / w), and reads as a backward error: with cones, bounds and targets changed by F, the latter in units of v0, (v, c) is exact.
 *
 * Momentum, p = M (v - f) - J'c, is measured in the norm that knows no units, |p|^2 = p'M^-1 p, per block (dense: all at once), relative
 * to the sizes of what is summed: |M v| + |M f| + sum |c_r| |J_r'| + |M v0|. It is nothing but rounding for a solver that works in v or
 * gets v from c.
 */
#include "solver/certificate.h"

#include <math.h>

#include "base/simd.h"

#define HALF_TURN 3.14159265358979323846
#define FEW_EDGES 16

/* The larger of two figures, where what is not a number counts as infinite. */
static double worse(double a, double b) { return b <= a ? a : b > a ? b : (double)INFINITY; }

static size_t at(int i, int j, int n) { return (size_t)i * (size_t)n + (size_t)j; }

/* ---- Cones ---- */

/*
 * A group's vector x as its set sees it. The set of a polygon, seen in the sector of the edge that x looks at, is
 * { out <= r a, |along| <= r s } with a = cos(pi/m), s = sin(pi/m): `out` along the edge's normal n, `along` the edge, r = c_n. A disc is
 * the same with n = x / |x|, a = 1, s = 0. Hence one formula for all of them:
 *     h(x - proj x) = a (out - r a)+ + s (|along| - r s)+
 */
typedef struct Facet {
    double n[2];
    double out, along;
    double a, s;
} Facet;

static bool isPolygon(const pcCone* cone, int g) { return g == 0 && cone->edges > 0 && cone->groupSize[0] == 2; }

static int firstRow(const pcCone* cone, int g)
{
    int row = 1;
    for (int i = 0; i < g; i++) row += cone->groupSize[i];
    return row;
}

/* What a polygon's edges have in common. Contacts of a world mostly share one: it is kept until another one comes. */
typedef struct Polygon {
    int edges;
    double angle;
    double a, s;                 /* see above */
    double normal[FEW_EDGES][2]; /* of the edges, if they are few */
} Polygon;

/* Of few edges, trying all takes less than an angle does. A quarter of the normals by their angles, the others by quarter turns, if these
 * lead to normals. */
static void listNormals(Polygon* polygon)
{
    double half = HALF_TURN / polygon->edges, first = remainder(polygon->angle, 2.0 * half); /* small angles are rounded least */
    int edges = polygon->edges, quarter = edges % 4 == 0 ? edges / 4 : edges;
    for (int i = 0; i < quarter; i++) {
        double middle = first + (2.0 * i + 1.0) * half;
        polygon->normal[i][0] = cos(middle), polygon->normal[i][1] = sin(middle);
    }
    for (int i = quarter; i < edges; i++)
        polygon->normal[i][0] = -polygon->normal[i - quarter][1], polygon->normal[i][1] = polygon->normal[i - quarter][0];
}

static const Polygon* polygonOf(const pcCone* cone, Polygon* kept)
{
    if (kept->edges == cone->edges && kept->angle == cone->angle) return kept;
    kept->edges = cone->edges, kept->angle = cone->angle;
    kept->a = cos(HALF_TURN / cone->edges), kept->s = sin(HALF_TURN / cone->edges);
    if (cone->edges <= FEW_EDGES) listNormals(kept);
    return kept;
}

static void findByAngle(const Polygon* polygon, const double x[2], double normal[2])
{
    double half = HALF_TURN / polygon->edges, sector = floor((atan2(x[1], x[0]) - polygon->angle) / (2.0 * half));
    double middle = polygon->angle + (2.0 * sector + 1.0) * half;
    normal[0] = cos(middle), normal[1] = sin(middle);
}

/* The edge that x looks at is the one along whose normal it is longest. */
static void findByTrying(const Polygon* polygon, const double x[2], double normal[2])
{
    double most = -(double)INFINITY;
    int best = 0;
    for (int i = 0; i < polygon->edges; i++) {
        double along = polygon->normal[i][0] * x[0] + polygon->normal[i][1] * x[1];
        if (along > most) most = along, best = i;
    }
    normal[0] = polygon->normal[best][0], normal[1] = polygon->normal[best][1];
}

static void lookAtEdge(const Polygon* polygon, const double x[2], Facet* facet)
{
    facet->a = polygon->a, facet->s = polygon->s;
    if (polygon->edges <= FEW_EDGES)
        findByTrying(polygon, x, facet->n);
    else
        findByAngle(polygon, x, facet->n);
}

static void lookAtArc(const double x[2], Facet* facet)
{
    double length = sqrt(x[0] * x[0] + x[1] * x[1]);
    facet->n[0] = length > 0.0 ? x[0] / length : 1.0, facet->n[1] = length > 0.0 ? x[1] / length : 0.0;
    facet->a = 1.0, facet->s = 0.0;
}

static Facet facetOf(const pcCone* cone, int g, const double* own, double sign, Polygon* kept)
{
    const double* p = own + firstRow(cone, g);
    double x[2] = {sign * p[0], cone->groupSize[g] == 2 ? sign * p[1] : 0.0};
    Facet facet;
    if (isPolygon(cone, g))
        lookAtEdge(polygonOf(cone, kept), x, &facet);
    else
        lookAtArc(x, &facet);
    facet.out = facet.n[0] * x[0] + facet.n[1] * x[1];
    facet.along = facet.n[0] * x[1] - facet.n[1] * x[0];
    return facet;
}

static double slipOf(const pcCone* cone, int g, const double* u, Polygon* kept)
{
    Facet facet = facetOf(cone, g, u, -1.0, kept);
    return facet.a * facet.out + facet.s * fabs(facet.along);
}

double pcConeSlip(const pcCone* cone, int g, const double* u)
{
    Polygon polygon = {.edges = 0};
    return slipOf(cone, g, u, &polygon);
}

static double beyond(const Facet* f, double r)
{
    return f->a * larger(0.0, f->out - r * f->a) + f->s * larger(0.0, fabs(f->along) - r * f->s);
}

static double beyondSlope(const Facet* f, double r)
{
    return (f->out > r * f->a ? f->a * f->a : 0.0) + (fabs(f->along) > r * f->s ? f->s * f->s : 0.0);
}

/*
 * c_n of the projection: with r = c_n given, each group's projection is closed form, and the derivative of the distance that is left is
 *     q(r) = r - x_n - sum_g h_g(x_g - proj x_g),     wanted: q(r) = 0, or r = 0 where q(0) >= 0.
 * q rises, is concave and piecewise linear with at most two corners per group: Newton from the left passes one corner per step at least,
 * never the root, and ends on it.
 */
static double normalOfProjection(const pcCone* cone, double x, const Facet* facet)
{
    double r = larger(0.0, x);
    for (int step = 0; step <= 2 * PC_CONE_GROUPS + 1; step++) {
        double q = r - x, slope = 1.0;
        for (int g = 0; g < cone->groups; g++) q -= beyond(&facet[g], r), slope += beyondSlope(&facet[g], r);
        if (q >= 0.0) break;
        r -= q / slope;
    }
    return r;
}

static void projectGroup(const Facet* f, int size, double r, double* x)
{
    if (f->out <= r * f->a && (f->s == 0.0 || fabs(f->along) <= r * f->s)) return; /* inside: not one bit may change */
    double out = smaller(r * f->a, f->out), along = copysign(smaller(r * f->s, fabs(f->along)), f->along);
    x[0] = out * f->n[0] - along * f->n[1];
    if (size == 2) x[1] = out * f->n[1] + along * f->n[0];
}

/* Within the circles that every group's set has in it: most contacts that stick are. */
static bool wellInside(const pcCone* cone, const double* x, Polygon* kept)
{
    for (int g = 0, i = 1; g < cone->groups; i += cone->groupSize[g++]) {
        double second = cone->groupSize[g] == 2 ? x[i + 1] : 0.0, r = isPolygon(cone, g) ? polygonOf(cone, kept)->a * x[0] : x[0];
        if (!(x[i] * x[i] + second * second <= r * r)) return false;
    }
    return x[0] >= 0.0;
}

static void projectFriction(const pcCone* cone, double* x, Polygon* kept)
{
    if (wellInside(cone, x, kept)) return;
    Facet facet[PC_CONE_GROUPS];
    for (int g = 0; g < cone->groups; g++) facet[g] = facetOf(cone, g, x, 1.0, kept);
    x[0] = normalOfProjection(cone, x[0], facet);
    for (int g = 0; g < cone->groups; g++) projectGroup(&facet[g], cone->groupSize[g], x[0], x + firstRow(cone, g));
}

static void project(const pcCone* cone, double* x, Polygon* kept)
{
    if (cone->kind == PC_CONE_BOX) x[0] = smaller(cone->hi, larger(cone->lo, x[0]));
    if (cone->kind == PC_CONE_FRICTION) projectFriction(cone, x, kept);
}

void pcConeProject(const pcCone* cone, const double* x, double* projected)
{
    Polygon polygon = {.edges = 0};
    for (int i = 0; i < cone->rows; i++) projected[i] = x[i];
    project(cone, projected, &polygon);
}

/* ---- Mass: blocks, each by its own Cholesky factor; a dense mass is one large block ---- */

typedef struct Masses {
    int parts, size;
    const double* M;
    double* L;
} Masses;

static Masses massesOf(const pcProblem* problem)
{
    int all = 6 * problem->blocks;
    Masses masses = {problem->blocks, 6, problem->mass, NULL};
    if (problem->dense) masses.parts = all > 0, masses.size = all;
    return masses;
}

static size_t partStart(const Masses* masses, int part) { return (size_t)part * (size_t)masses->size * (size_t)masses->size; }

/* L L' = M, with the reciprocal of L's diagonal in its place; a matrix that is not positive definite leaves numbers that are none, and
 * these reach the figures. */
PC_INLINE void factor(int n, const double* M, double* L)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = M[at(i, j, n)];
            for (int k = 0; k < j; k++) sum -= L[at(i, k, n)] * L[at(j, k, n)];
            L[at(i, j, n)] = i == j ? 1.0 / sqrt(sum) : sum * L[at(j, j, n)];
        }
}

/* x <- L^-1 x; returns |x|^2 = x'M^-1 x of the x that came in. */
PC_INLINE double reduceBy(int n, const double* L, double* x)
{
    double square = 0.0;
    for (int i = 0; i < n; i++) {
        double sum = x[i];
        for (int k = 0; k < i; k++) sum -= L[at(i, k, n)] * x[k];
        x[i] = sum * L[at(i, i, n)];
        square += x[i] * x[i];
    }
    return square;
}

/* Nearly all blocks are bodies: with the size known, the compiler unrolls what is most of the work. */
static double reduce(int n, const double* L, double* x) { return n == 6 ? reduceBy(6, L, x) : reduceBy(n, L, x); }

PC_INLINE double massNorm(int n, const double* M, const double* x)
{
    double square = 0.0;
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j < n; j++) sum += M[at(i, j, n)] * x[j];
        square += x[i] * sum;
    }
    return sqrt(square);
}

/* ---- Rows ---- */

typedef struct Judge {
    const pcProblem* problem;
    const double *v, *c;
    Masses masses;
    double* u;              /* per row */
    double* mobility;       /* per row: its own J M^-1 J' + s */
    double largest;         /* of these */
    double* p;              /* M (v - f) - J'c */
    double* terms;          /* per part: the sizes of what p is made of */
    double* room;           /* one part */
    pcCertificate* partial; /* of the cones of each chunk; `residual` holds their largest mobility first */
} Judge;

static double rowVelocity(const pcProblem* problem, const double* v, const double* c, int r)
{
    double u = 0.0;
    for (int side = 0; side < 2; side++) {
        int block = problem->block[2 * r + side];
        for (int i = 0; i < 6 && block >= 0; i++)
            u += problem->J[12 * (size_t)r + 6 * (size_t)side + (size_t)i] * v[6 * (size_t)block + (size_t)i];
    }
    return u - problem->target[r] + problem->soft[r] * c[r];
}

static void addRow(const Judge* judge, int r, int side, double scale, double* to)
{
    const double* J = judge->problem->J + 12 * (size_t)r + 6 * (size_t)side;
    for (int i = 0; i < 6; i++) to[i] += scale * J[i];
}

/* One row over a dense mass: its velocity, |J_r'|^2 in the norm of M^-1, and what it adds to momentum. */
static void measureRow(Judge* judge, int r)
{
    const pcProblem* problem = judge->problem;
    const int* block = problem->block + 2 * (size_t)r;
    int n = judge->masses.size;
    for (int i = 0; i < n; i++) judge->room[i] = 0.0;
    for (int side = 0; side < 2; side++) {
        if (block[side] < 0) continue;
        addRow(judge, r, side, 1.0, judge->room + 6 * (size_t)block[side]);
        addRow(judge, r, side, -judge->c[r], judge->p + 6 * (size_t)block[side]);
    }
    double square = n ? reduce(n, judge->masses.L, judge->room) : 0.0;
    if (n) judge->terms[0] += fabs(judge->c[r]) * sqrt(square);
    judge->u[r] = rowVelocity(problem, judge->v, judge->c, r);
    judge->mobility[r] = square + problem->soft[r];
    judge->largest = larger(judge->largest, judge->mobility[r]);
}

/* The same for the rows of a cone between blocks, four at a time: most of the work of a certificate, because x = L^-1 J_r' is. Rows without
 * impulse add nothing to momentum: threads may do them at the same time. Returns the largest mobility. */
PC_INLINE double measureRows(Judge* judge, const pcCone* cone)
{
    double largest = 0.0;
    static const double nothing[12];
    const pcProblem* problem = judge->problem;
    const int* block = problem->block + 2 * (size_t)cone->row;
    for (int first = cone->row, end = cone->row + cone->rows; first < end; first += 4) {
        int rows = end - first < 4 ? end - first : 4;
        const double *J[4], *c = judge->c + first;
        v4d u = v4Splat(0.0), w = u;
        for (int r = 0; r < 4; r++) J[r] = r < rows ? problem->J + 12 * (size_t)(first + r) : nothing;
        for (int side = 0; side < 2; side++) {
            if (block[side] < 0) continue;
            const double *L = judge->masses.L + partStart(&judge->masses, block[side]), *v = judge->v + 6 * (size_t)block[side];
            const double* row[4] = {J[0] + 6 * side, J[1] + 6 * side, J[2] + 6 * side, J[3] + 6 * side};
            v4d x[6], square = v4Splat(0.0);
            v4TurnSix(row, x);
            PC_UNROLL(6)
            for (int i = 0; i < 6; i++) {
                u += v4Splat(v[i]) * x[i];
                PC_UNROLL(6)
                for (int k = 0; k < 6; k++)
                    if (k < i) x[i] -= v4Splat(L[6 * i + k]) * x[k];
                x[i] *= v4Splat(L[6 * i + i]);
                square += x[i] * x[i];
            }
            for (int r = 0; r < rows; r++) {
                if (c[r] == 0.0) continue;
                addRow(judge, first + r, side, -c[r], judge->p + 6 * (size_t)block[side]);
                judge->terms[block[side]] += fabs(c[r]) * sqrt(square[r]);
            }
            w += square;
        }
        for (int r = 0, row = first; r < rows; r++, row++) {
            judge->u[row] = u[r] - problem->target[row] + problem->soft[row] * c[r];
            judge->mobility[row] = w[r] + problem->soft[row];
            largest = larger(largest, judge->mobility[row]);
        }
    }
    return largest;
}

static bool isLoaded(const Judge* judge, const pcCone* cone)
{
    for (int i = cone->row; i < cone->row + cone->rows; i++)
        if (judge->c[i] != 0.0) return true;
    return false;
}

PC_SIMD static void measureUnloaded(void* context, int begin, int end)
{
    Judge* judge = context;
    const pcCone* cone = judge->problem->cone;
    double largest = 0.0;
    for (int k = begin; k < end; k++)
        if (!isLoaded(judge, cone + k)) largest = larger(largest, measureRows(judge, cone + k));
    judge->partial[begin / PC_CHUNK].residual = largest;
}

PC_SIMD static void measureLoaded(Judge* judge)
{
    const pcCone* cone = judge->problem->cone;
    for (int k = 0; k < judge->problem->cones; k++)
        if (isLoaded(judge, cone + k)) judge->largest = larger(judge->largest, measureRows(judge, cone + k));
}

static void measure(Judge* judge)
{
    const pcProblem* problem = judge->problem;
    for (int r = 0; r < problem->rows && problem->dense; r++) measureRow(judge, r);
    if (problem->dense) return;
    pcPoolLoop(problem->pool, measureUnloaded, judge, problem->cones);
    for (int i = 0; i < pcChunks(problem->cones); i++) judge->largest = larger(judge->largest, judge->partial[i].residual);
    measureLoaded(judge);
}

/* ---- The four figures ---- */

/* A cone that nothing can move (both bodies fixed, or rows of zeros) borrows the problem's largest mobility. */
static double coneMobility(const Judge* judge, const pcCone* cone)
{
    double sum = 0.0;
    for (int i = 0; i < cone->rows; i++) sum += judge->mobility[cone->row + i];
    double mean = sum / cone->rows, any = judge->largest > 0.0 ? judge->largest : 1.0;
    return mean == 0.0 ? any : mean;
}

/* c of the cone in its own units, and the cone in the same units. */
static pcCone scaledCone(const Judge* judge, const pcCone* cone, double* C)
{
    pcCone scaled = *cone;
    double w = coneMobility(judge, cone) / judge->problem->velocityScale, square = 0.0;
    for (int i = 0; i < cone->rows; i++) C[i] = w * judge->c[cone->row + i], square += C[i] * C[i];
    double k = larger(1.0, sqrt(square));
    for (int i = 0; i < cone->rows; i++) C[i] /= k;
    scaled.lo = w / k * cone->lo, scaled.hi = w / k * cone->hi;
    return scaled;
}

static void coneVelocity(const Judge* judge, const pcCone* cone, Polygon* kept, double* U)
{
    for (int i = 0; i < cone->rows; i++) U[i] = judge->u[cone->row + i] / judge->problem->velocityScale;
    if (cone->kind != PC_CONE_FRICTION || !judge->problem->coulomb) return;
    double slip = 0.0;
    for (int g = 0; g < cone->groups; g++) slip += slipOf(cone, g, U, kept);
    U[0] += slip;
}

/* |C - proj_K(C - U)|. */
static double naturalMap(const pcCone* cone, const double* C, const double* U, Polygon* kept)
{
    double x[PC_CONE_ROWS] = {0.0}, square = 0.0;
    for (int i = 0; i < cone->rows; i++) x[i] = C[i] - U[i];
    project(cone, x, kept);
    for (int i = 0; i < cone->rows; i++) square += (C[i] - x[i]) * (C[i] - x[i]);
    return sqrt(square);
}

static void judgeCone(const Judge* judge, const pcCone* cone, Polygon* kept, pcCertificate* certificate)
{
    double C[PC_CONE_ROWS] = {0.0}, U[PC_CONE_ROWS] = {0.0};
    const double still[PC_CONE_ROWS] = {0.0};
    pcCone scaled = scaledCone(judge, cone, C);
    coneVelocity(judge, cone, kept, U);
    if (cone->kind == PC_CONE_FREE) {
        certificate->equality = worse(certificate->equality, fabs(U[0]));
        certificate->residual = worse(certificate->residual, fabs(U[0])); /* what the natural map is for K = R */
    } else {
        certificate->residual = worse(certificate->residual, naturalMap(&scaled, C, U, kept));
        certificate->coneExcess = worse(certificate->coneExcess, naturalMap(&scaled, C, still, kept));
    }
}

static void judgeSome(void* context, int begin, int end)
{
    Judge* judge = context;
    pcCertificate found = {0.0, 0.0, 0.0, 0.0};
    Polygon polygon = {.edges = 0};
    for (int k = begin; k < end; k++) judgeCone(judge, judge->problem->cone + k, &polygon, &found);
    judge->partial[begin / PC_CHUNK] = found;
}

static void judgeCones(Judge* judge, pcCertificate* certificate)
{
    pcPoolLoop(judge->problem->pool, judgeSome, judge, judge->problem->cones);
    for (int i = 0; i < pcChunks(judge->problem->cones); i++) {
        const pcCertificate* found = judge->partial + i;
        certificate->residual = worse(certificate->residual, found->residual);
        certificate->equality = worse(certificate->equality, found->equality);
        certificate->coneExcess = worse(certificate->coneExcess, found->coneExcess);
    }
}

PC_INLINE double largestMass(const double* M, int n)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++)
        if (i % 6 < 3) largest = larger(largest, M[at(i, i, n)]);
    return largest;
}

PC_INLINE void startPartOf(int n, Judge* judge, int part)
{
    const double* M = judge->masses.M + partStart(&judge->masses, part);
    size_t first = (size_t)part * (size_t)n;
    const double *v = judge->v + first, *f = judge->problem->free + first;
    factor(n, M, judge->masses.L + partStart(&judge->masses, part));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) judge->p[first + (size_t)i] += M[at(i, j, n)] * (v[j] - f[j]);
    judge->terms[part] = massNorm(n, M, v) + massNorm(n, M, f) + judge->problem->velocityScale * sqrt(largestMass(M, n));
}

static void startPart(Judge* judge, int part)
{
    int n = judge->masses.size;
    if (n == 6)
        startPartOf(6, judge, part);
    else
        startPartOf(n, judge, part);
}

static double momentumError(const Judge* judge, int part)
{
    int n = judge->masses.size;
    double* p = judge->p + (size_t)part * (size_t)n;
    return sqrt(reduce(n, judge->masses.L + partStart(&judge->masses, part), p)) / judge->terms[part];
}

static bool allFinite(const double* x, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) sum += x[i] - x[i]; /* NaN for every x that is none or infinite, else 0 */
    return sum == 0.0;
}

static bool startJudge(Judge* judge, pcArena* arena)
{
    size_t rows = (size_t)judge->problem->rows, all = 6 * (size_t)judge->problem->blocks;
    judge->masses = massesOf(judge->problem);
    judge->masses.L = pcArenaRaw(arena, double, partStart(&judge->masses, judge->masses.parts));
    judge->u = pcArenaRaw(arena, double, rows), judge->mobility = pcArenaRaw(arena, double, rows);
    judge->p = pcArenaNew(arena, double, all), judge->terms = pcArenaRaw(arena, double, judge->masses.parts);
    judge->room = pcArenaRaw(arena, double, judge->masses.size);
    judge->partial = pcArenaRaw(arena, pcCertificate, pcChunks(judge->problem->cones));
    return pcArenaGood(arena) && allFinite(judge->v, all) && allFinite(judge->c, rows);
}

/* Impulse form: u = W c - b + s c, whatever v says. */
static void measureImpulses(Judge* judge)
{
    const pcProblem* problem = judge->problem;
    size_t n = (size_t)problem->rows;
    for (size_t r = 0; r < n; r++) {
        judge->u[r] = problem->soft[r] * judge->c[r] - problem->target[r];
        judge->mobility[r] = problem->W[r * n + r] + problem->soft[r];
        judge->largest = larger(judge->largest, judge->mobility[r]);
    }
    for (size_t j = 0; j < n; j++)
        for (size_t r = 0; r < n; r++) judge->u[r] += problem->W[j * n + r] * judge->c[j];
}

static pcCertificate judged(Judge* judge)
{
    pcCertificate certificate = {0.0, 0.0, 0.0, 0.0};
    if (judge->problem->W) measureImpulses(judge);
    for (int part = 0; part < judge->masses.parts; part++) startPart(judge, part);
    if (!judge->problem->W) measure(judge);
    judgeCones(judge, &certificate);
    for (int part = 0; part < judge->masses.parts; part++) certificate.momentum = worse(certificate.momentum, momentumError(judge, part));
    return certificate;
}

pcCertificate pcCertify(const pcProblem* problem, const double* v, const double* c, pcArena* arena)
{
    const double unknown = (double)INFINITY;
    pcCertificate certificate = {unknown, unknown, unknown, unknown};
    Judge judge = {.problem = problem, .v = v, .c = c};
    size_t mark = pcArenaMark(arena);
    if (startJudge(&judge, arena)) certificate = judged(&judge);
    pcArenaRelease(arena, mark);
    return certificate;
}

/* ---- Energy ----
 *
 * M (v - f) = J'c multiplied by v', and J v = u + b - s c, give exactly
 *     1/2 v'Mv - 1/2 f'Mf + 1/2 (v-f)'M(v-f)  =  sum_r c_r (b_r - s_r c_r) + c'u
 * and complementarity says what c'u is, cone by cone:
 *     FREE      0
 *     BOX       lo u+ - hi u-            (u > 0 only at lo, u < 0 only at hi; an infinite bound is never reached)
 *     FRICTION  -c_n sum_g h_g(-u_g)     coulomb: c'u~ = 0, and u~ has that much more of the normal
 *               0                        the relaxation
 * So work done against friction, bounds and softness must account for all energy that is lost. */

typedef struct Balance {
    double sum, size;
} Balance;

static void add(Balance* balance, double term) { balance->sum += term, balance->size += fabs(term); }

static double boundWork(double bound, double u) { return u > 0.0 && isfinite(bound) ? bound * u : 0.0; }

static void addCone(const pcProblem* problem, const pcCone* cone, const double* v, const double* c, Balance* right)
{
    double u[PC_CONE_ROWS];
    for (int i = 0; i < cone->rows; i++) {
        int r = cone->row + i;
        u[i] = rowVelocity(problem, v, c, r);
        add(right, c[r] * problem->target[r]), add(right, -problem->soft[r] * c[r] * c[r]);
    }
    if (cone->kind == PC_CONE_BOX) add(right, boundWork(cone->lo, u[0])), add(right, boundWork(cone->hi, -u[0]) * -1.0);
    for (int g = 0; g < cone->groups && cone->kind == PC_CONE_FRICTION && problem->coulomb; g++)
        add(right, -c[cone->row] * pcConeSlip(cone, g, u));
}

static double smallestMass(const double* M, int n)
{
    double smallest = (double)INFINITY;
    for (int i = 0; i < n; i++)
        if (i % 6 < 3) smallest = smaller(smallest, M[at(i, i, n)]);
    return smallest;
}

/* The kinetic energies of v, f and v - f in one part; returns that of the part's smallest mass at unit velocity. */
static double addKinetic(const pcProblem* problem, const Masses* masses, int part, const double* v, Balance* left)
{
    int n = masses->size;
    const double* M = masses->M + partStart(masses, part);
    size_t first = (size_t)part * (size_t)n;
    const double* f = problem->free + first;
    v += first;
    double energy[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double m = 0.5 * M[at(i, j, n)];
            energy[0] += v[i] * m * v[j], energy[1] += f[i] * m * f[j], energy[2] += (v[i] - f[i]) * m * (v[j] - f[j]);
        }
    add(left, energy[0]), add(left, -energy[1]), add(left, energy[2]);
    return 0.5 * smallestMass(M, n) * problem->velocityScale * problem->velocityScale;
}

double pcEnergyError(const pcProblem* problem, const double* v, const double* c)
{
    Balance left = {0.0, 0.0}, right = {0.0, 0.0};
    Masses masses = massesOf(problem);
    double unit = (double)INFINITY; /* the lightest body at unit velocity: below that a difference means nothing */
    for (int part = 0; part < masses.parts; part++) unit = smaller(unit, addKinetic(problem, &masses, part, v, &left));
    for (int i = 0; i < problem->cones; i++) addCone(problem, &problem->cone[i], v, c, &right);
    double scale = masses.parts > 0 ? unit + left.size + right.size : 1.0;
    return worse(0.0, fabs(left.sum - right.sum) / scale);
}
