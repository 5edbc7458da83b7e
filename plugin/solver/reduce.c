/*
 * From M v = M f + J'c to u = V c + e0, and back.
 *
 *     W  = J M^-1 J' + S,   u = W c + u0,   u0 = J f - b                           all rows
 *     V  = W - W_.e W_ee^-1 W_e.,   e0 = u0 - W_.e W_ee^-1 u0_e                    FREE rows e eliminated: u_e = 0
 *
 * What comes of V and e0 is in reduce_lcp.c.
 *
 * Dependent FREE rows. W_ee is factored with pivoting after its rows were brought to unit diagonal; rows that add no rank carry no impulse. Where their
 * targets contradict each other, u0_e is replaced by its nearest point in the range of W_ee: the velocity then is the least-squares one.
 */
#include "solver/reduce.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "linalg/dense.h"
#include "linalg/mass.h"
#include "solver/rows.h"

#define TWO_PI 6.283185307179586476925286766559
#define LEFT_OVER 1e-14 /* of a row's own size: less is rounding of what the FREE rows have taken away */
#define RANK 1e-11      /* of a unit diagonal: less is rounding of what the rows before have in common with this one */

static size_t at(int i, int j, int n) { return (size_t)i * (size_t)n + (size_t)j; }

/* ---- Delassus matrix ----------------------------------------------------------------------------------------------------------- */

static int widthOf(const pcProblem* p) { return p->dense ? 6 * p->blocks : 12; }

/* Z_r = M^-1 J_r': for block masses twelve numbers, in the places of J's; for a dense mass all of them. */
static bool mobilities(const pcProblem* p, double* Z, pcArena* arena)
{
    pcMass mass;
    size_t mark = pcArenaMark(arena);
    bool good = pcMassFactor(&mass, p->blocks, p->dense, p->mass, arena);
    for (int row = 0; good && p->dense && row < p->rows; row++) {
        double* z = Z + at(row, 0, widthOf(p));
        for (int side = 0; side < 2; side++) {
            int block = p->block[2 * row + side];
            if (block >= 0) memcpy(z + 6 * block, p->J + at(row, 6 * side, 12), 6 * sizeof *z);
        }
        pcMassSolve(&mass, z);
    }
    for (int k = 0; good && !p->dense && k < p->cones; k++) {
        const pcCone* cone = &p->cone[k];
        for (int side = 0; side < 2; side++) {
            int block = p->block[2 * cone->row + side];
            size_t first = at(cone->row, 6 * side, 12);
            if (block >= 0) pcMassSolveRows(&mass, block, cone->rows, p->J + first, Z + first, 12);
        }
    }
    pcArenaRelease(arena, mark);
    return good;
}

/* J_i M^-1 J_j' for a dense mass. */
static double coupling(const pcProblem* p, const double* Z, int i, int j)
{
    double sum = 0.0;
    for (int a = 0; a < 2; a++) {
        int block = p->block[2 * i + a];
        if (block < 0) continue;
        const double *J = p->J + at(i, 6 * a, 12), *z = Z + at(j, 6 * block, widthOf(p));
        for (int k = 0; k < 6; k++) sum += J[k] * z[k];
    }
    return sum;
}

/* What side a of cone k and side b of cone l have to do with each other: they are the same block. */
static void couple(pcReduced* r, const pcCone* k, int a, const pcCone* l, int b)
{
    const pcProblem* p = r->problem;
    for (int i = k->row; i < k->row + k->rows; i++) {
        const double* J = p->J + at(i, 6 * a, 12);
        double* W = r->W + at(i, 0, p->rows);
        for (int j = l->row; j < l->row + l->rows; j++) W[j] += dotSix(J, r->Z + at(j, 6 * b, 12));
    }
}

/* All rows of a cone have the same two blocks: cones without a common one are passed over. */
static void coupleCones(pcReduced* r, const pcCone* k, const pcCone* l)
{
    const int *mine = r->problem->block + 2 * k->row, *other = r->problem->block + 2 * l->row;
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 2; b++)
            if (mine[a] >= 0 && mine[a] == other[b]) couple(r, k, a, l, b);
    }
}

/* The part left of and below the diagonal, then its mirror image. */
static void fillDelassus(pcReduced* r)
{
    const pcProblem* p = r->problem;
    for (int k = 0; !p->dense && k < p->cones; k++) {
        for (int l = 0; l <= k; l++) coupleCones(r, &p->cone[k], &p->cone[l]);
    }
    for (int i = 0; i < p->rows; i++) {
        for (int j = 0; p->dense && j <= i; j++) r->W[at(i, j, p->rows)] = coupling(p, r->Z, i, j);
        for (int j = 0; j < i; j++) r->W[at(j, i, p->rows)] = r->W[at(i, j, p->rows)];
    }
}

/* Impulse form: W as given, which is column-major, and need not be symmetric as long as no row is FREE or bounded. */
static void copyDelassus(pcReduced* r)
{
    int rows = r->problem->rows;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < rows; j++) r->W[at(i, j, rows)] = r->problem->W[at(j, i, rows)];
    }
}

static void delassus(pcReduced* r)
{
    const pcProblem* p = r->problem;
    if (p->W)
        copyDelassus(r);
    else
        fillDelassus(r);
    for (int i = 0; i < p->rows; i++) {
        r->W[at(i, i, p->rows)] += p->soft[i];
        r->u0[i] = -p->target[i];
        for (int side = 0; side < 2 && !p->W; side++) {
            int block = p->block[2 * i + side];
            if (block >= 0) r->u0[i] += dotSix(p->J + at(i, 6 * side, 12), p->free + 6 * block);
        }
    }
}

/* ---- FREE rows ----------------------------------------------------------------------------------------------------------------- */

/* The k-th of the independent FREE rows. */
static int freeAt(const pcReduced* r, int k) { return r->freeRow[r->order[k]]; }

/* x := W_II^-1 x over the independent rows, x in their order. */
static void freeSolve(const pcReduced* r, double* x)
{
    int rows = r->problem->rows;
    for (int k = 0; k < r->rank; k++) x[k] /= sqrt(r->W[at(freeAt(r, k), freeAt(r, k), rows)]);
    if (r->rank) pcCholeskySolve(r->rank, r->factor, r->frees, x);
    for (int k = 0; k < r->rank; k++) x[k] /= sqrt(r->W[at(freeAt(r, k), freeAt(r, k), rows)]);
}

static bool factorFrees(pcReduced* r, pcArena* arena)
{
    int n = r->frees, rows = r->problem->rows;
    double* work = pcArenaNew(arena, double, 2 * n);
    if (!work) return false;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            int a = r->freeRow[i], b = r->freeRow[j];
            double scale = sqrt(r->W[at(a, a, rows)] * r->W[at(b, b, rows)]);
            r->factor[at(j, i, n)] = scale > 0.0 ? r->W[at(a, b, rows)] / scale : 0.0;
        }
    }
    return n == 0 || pcCholeskyPivoted(n, r->factor, n, RANK, r->order, &r->rank, work) >= 0;
}

/* u0 of the FREE rows moved to the nearest point that impulses can undo: K y with K = W_eI W_II^-1, K'K y = K'u0. */
static bool reconcile(pcReduced* r, pcArena* arena)
{
    int n = r->frees, k = r->rank, rows = r->problem->rows;
    if (k == n) return true;
    double *K = pcArenaNew(arena, double, (size_t)n*(size_t)k + 1), *A = pcArenaNew(arena, double, (size_t)k*(size_t)k + 1);
    double* y = pcArenaNew(arena, double, k + 1);
    if (!pcArenaGood(arena)) return false;
    for (int e = 0; e < n; e++) {
        double* row = K + at(e, 0, k);
        for (int i = 0; i < k; i++) row[i] = r->W[at(r->freeRow[e], freeAt(r, i), rows)];
        freeSolve(r, row);
        for (int i = 0; i < k; i++) y[i] += row[i] * r->u0[r->freeRow[e]];
        for (int i = 0; i < k * k; i++) A[i] += row[i / k] * row[i % k];
    }
    if (k && (pcCholeskyFactor(k, A, k) != 0 || pcCholeskySolve(k, A, k, y) != 0)) return false;
    for (int i = 0; i < k; i++) r->e0[freeAt(r, i)] = y[i];
    return true;
}

/* V and e0. Their FREE rows are not used again, but for those of e0, which are u0's. */
static void eliminate(pcReduced* r)
{
    int rows = r->problem->rows;
    if (r->frees == 0) return; /* V is W */
    memcpy(r->V, r->W, at(rows, 0, rows) * sizeof *r->V);
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < r->rank; k++) r->x[k] = r->W[at(i, freeAt(r, k), rows)];
        freeSolve(r, r->x);
        for (int k = 0; k < r->rank; k++) {
            const double* row = r->W + at(freeAt(r, k), 0, rows);
            for (int j = 0; r->x[k] != 0.0 && j < rows; j++) r->V[at(i, j, rows)] -= r->x[k] * row[j];
        }
    }
    for (int i = 0; r->rank && i < rows; i++) {
        for (int j = 0; j < rows; j++) {
            double size = sqrt(r->W[at(i, i, rows)] * r->W[at(j, j, rows)]);
            if (fabs(r->V[at(i, j, rows)]) <= LEFT_OVER * size) r->V[at(i, j, rows)] = 0.0;
        }
    }
    for (int k = 0; k < r->rank; k++) r->x[k] = r->e0[freeAt(r, k)];
    freeSolve(r, r->x);
    for (int k = 0; k < r->problem->cones; k++) {
        const pcCone* cone = &r->problem->cone[k];
        for (int i = cone->row; cone->kind != PC_CONE_FREE && i < cone->row + cone->rows; i++) {
            for (int f = 0; f < r->rank; f++) r->e0[i] -= r->W[at(i, freeAt(r, f), rows)] * r->x[f];
        }
    }
}

/* ---- Variables ----------------------------------------------------------------------------------------------------------------- */

bool pcReducedIsDisc(const pcCone* cone, int group) { return cone->groupSize[group] == 2 && !(group == 0 && cone->edges); }

int pcReducedCorners(const pcReduced* r, int k, int group)
{
    const pcCone* cone = &r->problem->cone[k];
    return cone->groupSize[group] == 1 ? 2 : pcReducedIsDisc(cone, group) ? r->edges : cone->edges;
}

/* From the first corner of a disc's polygon to the i-th. */
static double turnTo(const pcReduced* r, int i)
{
    if (r->width == 0.0) return i * (TWO_PI / r->edges);
    int side = i <= r->edges / 2 ? i : r->edges - i;
    double turn = side > 2 ? (side - 2) * (TWO_PI / 8) : side == 2 ? PC_FAN_SHRINK * r->width : side * r->width;
    return i == side ? turn : -turn;
}

void pcReducedCorner(const pcReduced* r, int k, int group, int i, double d[2])
{
    const pcCone* cone = &r->problem->cone[k];
    bool disc = pcReducedIsDisc(cone, group);
    double angle = disc ? r->angle[k * PC_CONE_GROUPS + group] + turnTo(r, i) : cone->angle + i * (TWO_PI / pcReducedCorners(r, k, group));
    bool single = cone->groupSize[group] == 1;
    d[0] = single ? (i ? -1.0 : 1.0) : cos(angle);
    d[1] = single ? 0.0 : sin(angle);
}

static int variablesOf(const pcReduced* r, int k)
{
    const pcCone* cone = &r->problem->cone[k];
    if (cone->kind == PC_CONE_FREE) return 0;
    if (cone->kind == PC_CONE_BOX) return isfinite(cone->lo) && isfinite(cone->hi) ? 2 : 1;
    int count = 1;
    for (int g = 0; g < cone->groups; g++) count += pcReducedCorners(r, k, g) + 1;
    return count;
}

/* ---- The problem --------------------------------------------------------------------------------------------------------------- */

static bool findVariables(pcReduced* r, pcArena* arena)
{
    const pcProblem* p = r->problem;
    r->first = pcArenaRaw(arena, int, p->cones + 1);
    r->freeRow = pcArenaNew(arena, int, p->cones + 1), r->order = pcArenaNew(arena, int, p->cones + 1);
    r->angle = pcArenaNew(arena, double, (size_t)p->cones* PC_CONE_GROUPS);
    if (!pcArenaGood(arena)) return false;
    for (int k = 0; k < p->cones; k++) {
        r->first[k] = r->n;
        r->n += variablesOf(r, k);
        if (p->cone[k].kind == PC_CONE_FREE) r->freeRow[r->frees++] = p->cone[k].row;
    }
    r->first[p->cones] = r->n;
    return true;
}

bool pcReduce(const pcProblem* p, int edges, pcArena* arena, pcReduced* r)
{
    *r = (pcReduced){.problem = p, .edges = edges};
    if (!findVariables(r, arena)) return false;
    size_t rows = (size_t)p->rows, n = (size_t)r->n, frees = (size_t)r->frees;
    r->W = pcArenaNew(arena, double, rows* rows), r->V = frees ? pcArenaRaw(arena, double, rows* rows) : r->W;
    r->u0 = pcArenaRaw(arena, double, rows), r->e0 = pcArenaRaw(arena, double, rows), r->shift = pcArenaNew(arena, double, rows);
    if (!p->W) r->Z = p->dense ? pcArenaNew(arena, double, rows*(size_t)widthOf(p)) : pcArenaRaw(arena, double, 12 * rows);
    r->column = pcArenaRaw(arena, int, 2 * n), r->value = pcArenaRaw(arena, double, 2 * n);
    r->factor = pcArenaRaw(arena, double, frees* frees);
    r->x = pcArenaRaw(arena, double, frees);
    if (!pcArenaGood(arena) || (!p->W && !mobilities(p, r->Z, arena))) return false;
    delassus(r);
    memcpy(r->e0, r->u0, rows * sizeof *r->e0);
    if (!factorFrees(r, arena) || !reconcile(r, arena)) return false;
    eliminate(r);
    return pcReducedRoom(r, arena);
}

/* Impulses of the FREE rows for the others': W_II c_I = -(e0_I + W_Ir c_r). */
static void freeImpulses(const pcReduced* r, double* c)
{
    int rows = r->problem->rows;
    for (int k = 0; k < r->rank; k++) {
        r->x[k] = -r->e0[freeAt(r, k)];
        for (int j = 0; j < rows; j++) r->x[k] -= r->W[at(freeAt(r, k), j, rows)] * c[j];
    }
    freeSolve(r, r->x);
    for (int k = 0; k < r->rank; k++) c[freeAt(r, k)] = r->x[k];
}

void pcReducedVelocity(const pcReduced* r, const double* c, double* v)
{
    const pcProblem* p = r->problem;
    for (int i = 0; i < pcUnknowns(p); i++) v[i] = p->W ? 0.0 : p->free[i];
    for (int row = 0; row < p->rows; row++) {
        const double* column = p->W ? p->W + at(row, 0, p->rows) : r->Z + at(row, 0, widthOf(p));
        if (c[row] == 0.0) continue;
        for (int i = 0; (p->W || p->dense) && i < pcUnknowns(p); i++) v[i] += c[row] * column[i];
        for (int side = 0; side < 2 && !p->W && !p->dense; side++) {
            int block = p->block[2 * row + side];
            for (int i = 0; block >= 0 && i < 6; i++) v[6 * block + i] += c[row] * column[6 * side + i];
        }
    }
}

/* Friction that exceeds its limit does so by rounding, of z or of c_n where that is next to nothing: it is brought back. */
static void keepLimits(const pcReduced* r, double* z)
{
    for (int k = 0; k < r->problem->cones; k++) {
        const pcCone* cone = &r->problem->cone[k];
        int normal = r->first[k], corner = normal + 1;
        for (int g = 0; g < (cone->kind == PC_CONE_FRICTION ? cone->groups : 0); g++) {
            int slip = corner + pcReducedCorners(r, k, g);
            double sum = 0.0, limit = larger(z[normal], 0.0);
            for (int i = corner; i < slip; i++) sum += z[i];
            for (int i = corner; sum > limit && i < slip; i++) z[i] *= limit / sum;
            corner = slip + 1;
        }
    }
}

void pcReducedExpand(const pcReduced* r, double* z, double* v, double* c)
{
    keepLimits(r, z);
    for (int i = 0; i < r->problem->rows; i++) c[i] = r->shift[i];
    for (int i = 0; i < r->n; i++) {
        if (z[i] == 0.0) continue;
        for (int e = 2 * i; e < 2 * i + 2; e++) c[r->column[e]] += r->value[e] * z[i];
    }
    freeImpulses(r, c);
    pcReducedVelocity(r, c, v);
}

/* c_g between two neighbouring corners: beta of both. Returns their sum, which exceeds c_n only if c is outside its cone. */
static double guessGroup(const pcReduced* r, int k, int g, const double* c, double* beta)
{
    int corners = pcReducedCorners(r, k, g);
    double sum = 0.0, d[2], next[2];
    for (int i = 0; i < corners; i++) {
        pcReducedCorner(r, k, g, i, d), pcReducedCorner(r, k, g, (i + 1) % corners, next);
        double area = corners > 2 ? d[0] * next[1] - d[1] * next[0] : 1.0;
        double first = corners > 2 ? (c[0] * next[1] - c[1] * next[0]) / area : d[0] * c[0];
        double second = corners > 2 ? (d[0] * c[1] - d[1] * c[0]) / area : 0.0;
        if (!(first > 0.0 && second >= 0.0)) continue;
        beta[i] = first, beta[(i + 1) % corners] += second;
        return first + second;
    }
    return sum;
}

/* u_i at the impulses c. */
static double velocityAt(const pcReduced* r, int i, const double* c)
{
    double u = r->u0[i];
    for (int j = 0; j < r->problem->rows; j++) u += r->W[at(i, j, r->problem->rows)] * c[j];
    return u;
}

/* max_i -d_i'u of a group. */
static double slipAt(const pcReduced* r, int k, int g, int row, const double* c)
{
    double u[2] = {velocityAt(r, row, c), 0.0}, slip = 0.0, d[2];
    if (r->problem->cone[k].groupSize[g] > 1) u[1] = velocityAt(r, row + 1, c);
    for (int i = 0; i < pcReducedCorners(r, k, g); i++) {
        pcReducedCorner(r, k, g, i, d);
        slip = fmax(slip, -(d[0] * u[0] + d[1] * u[1]));
    }
    return slip;
}

/* lo <= c <= hi: from the bound that z counts from; y of the other one is the velocity that is held there. */
static void guessBound(const pcReduced* r, int k, const double* c, double* z)
{
    const pcCone* cone = &r->problem->cone[k];
    z[0] = fabs(c[cone->row] - r->shift[cone->row]);
    if (isfinite(cone->lo) && isfinite(cone->hi)) z[1] = c[cone->row] >= cone->hi ? fmax(0.0, -velocityAt(r, cone->row, c)) : 0.0;
}

void pcReducedGuess(const pcReduced* r, const double* c, double* z)
{
    const pcProblem* p = r->problem;
    memset(z, 0, (size_t)r->n * sizeof *z);
    for (int k = 0; k < p->cones; k++) {
        const pcCone* cone = &p->cone[k];
        int at0 = r->first[k], row = cone->row;
        if (cone->kind == PC_CONE_BOX) guessBound(r, k, c, z + at0);
        if (cone->kind != PC_CONE_FRICTION) continue;
        z[at0++] = c[row++];
        for (int g = 0; g < cone->groups; row += cone->groupSize[g++]) {
            double pair[2] = {c[row], cone->groupSize[g] > 1 ? c[row + 1] : 0.0};
            double sum = guessGroup(r, k, g, pair, z + at0);
            at0 += pcReducedCorners(r, k, g);
            z[at0++] = sum >= c[cone->row] * (1.0 - 1e-6) ? slipAt(r, k, g, row, c) : 0.0;
        }
    }
}
