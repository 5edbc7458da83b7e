/*
 * From u = V c + e0 to w = M z + q, in the units of scaled.h.
 *
 *     c  = shift + T z:  T has the unit vector of a row, a corner of a polygon in a group's rows, or nothing (slips)
 *     M  = T'V T + K,    q = T'(V shift + e0) + k                    K, k: the constants of reduce.h's table
 *     R, C               scales: M' = R M C
 *
 * V is dense and small, M is large: several columns for each row of V, and a path looks at few of them. So M' is never formed: a column is
 * computed when someone asks for it, with the scales in T. Those can be seen from V: it is positive semidefinite, so where all diagonal
 * entries of T'V T are there, they are the scales (scaled.h, P), and a slip's follow from those of its group. Else (impulse form, rows of
 * zeros, where mu is 0) scaled.c has to look at all of M.
 */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "solver/reduce.h"

/* A diagonal entry below this part of its terms, or of W's, is what rounding has left. */
#define GONE 1e-12

static size_t at(int i, int j, int n) { return (size_t)i * (size_t)n + (size_t)j; }

/* Whether z acts on c at all: slips do not. */
static bool acts(const pcReduced* r, int z) { return r->value[2 * z] != 0.0 || r->value[2 * z + 1] != 0.0; }

/* z's of a cone, and zeros up to a multiple of 4. */
static int widthOf(const pcReduced* r, int k) { return (r->first[k + 1] - r->first[k] + 3) & ~3; }

bool pcReducedRoom(pcReduced* r, pcArena* arena)
{
    const pcProblem* p = r->problem;
    int size = 0;
    r->startOfT = pcArenaRaw(arena, int, p->cones), r->coneOf = pcArenaRaw(arena, int, r->n);
    r->neighbour = pcArenaRaw(arena, int, (size_t)p->cones*(size_t)p->cones), r->neighbours = pcArenaRaw(arena, int, p->cones);
    r->answer = pcArenaRaw(arena, double, p->rows), r->q = pcArenaRaw(arena, double, r->n);
    if (!pcArenaGood(arena)) return false;
    for (int k = 0; k < p->cones; k++) {
        r->startOfT[k] = size, size += p->cone[k].rows * widthOf(r, k);
        for (int z = r->first[k]; z < r->first[k + 1]; z++) r->coneOf[z] = k;
    }
    r->T = pcArenaRaw(arena, double, size);
    return r->T && pcScaledNew(r->n, arena, &r->lcp);
}

/* ---- T ------------------------------------------------------------------------------------------------------------------------- */

/* z acts on `row` and, if `value2` is not 0, on the one after it. */
static void setColumn(pcReduced* r, int z, int row, double value, double value2)
{
    r->column[2 * z] = row, r->column[2 * z + 1] = value2 != 0.0 ? row + 1 : row;
    r->value[2 * z] = value, r->value[2 * z + 1] = value2;
}

/* lo <= c <= hi: from the finite bound inwards; with two of them, the second has a variable y. */
static void boundColumns(pcReduced* r, int k)
{
    const pcCone* cone = &r->problem->cone[k];
    bool up = isfinite(cone->lo), both = up && isfinite(cone->hi);
    r->shift[cone->row] = up ? cone->lo : cone->hi;
    setColumn(r, r->first[k], cone->row, up ? 1.0 : -1.0, 0.0);
    if (both) setColumn(r, r->first[k] + 1, cone->row, 0.0, 0.0);
}

/* A quarter of the corners by their angles, the others by quarter turns, if these lead to corners. */
static void groupColumns(pcReduced* r, int k, int g, int z, int row)
{
    int corners = pcReducedCorners(r, k, g), quarter = corners % 4 == 0 && r->width == 0.0 ? corners / 4 : corners;
    for (int i = 0; i < corners; i++) {
        double d[2];
        if (i < quarter)
            pcReducedCorner(r, k, g, i, d);
        else
            d[0] = -r->value[2 * (z + i - quarter) + 1], d[1] = r->value[2 * (z + i - quarter)];
        setColumn(r, z + i, row, d[0], d[1]);
    }
    setColumn(r, z + corners, row, 0.0, 0.0); /* its slip */
}

static void contactColumns(pcReduced* r, int k)
{
    const pcCone* cone = &r->problem->cone[k];
    int z = r->first[k], row = cone->row + 1;
    setColumn(r, z++, cone->row, 1.0, 0.0);
    for (int g = 0; g < cone->groups; row += cone->groupSize[g++]) {
        groupColumns(r, k, g, z, row);
        z += pcReducedCorners(r, k, g) + 1;
    }
}

static void columns(pcReduced* r)
{
    for (int k = 0; k < r->problem->cones; k++) {
        if (r->problem->cone[k].kind == PC_CONE_BOX) boundColumns(r, k);
        if (r->problem->cone[k].kind == PC_CONE_FRICTION) contactColumns(r, k);
    }
}

static void scaleColumns(pcReduced* r)
{
    for (int k = 0; k < r->problem->cones; k++) {
        const pcCone* cone = &r->problem->cone[k];
        int width = widthOf(r, k);
        double* T = r->T + r->startOfT[k];
        memset(T, 0, (size_t)(cone->rows * width) * sizeof *T);
        for (int z = r->first[k]; z < r->first[k + 1]; z++)
            for (int e = 2 * z; e < 2 * z + 2; e++)
                T[(r->column[e] - cone->row) * width + z - r->first[k]] += r->value[e] * r->lcp.columnScale[z];
    }
}

/* ---- Scales -------------------------------------------------------------------------------------------------------------------- */

/* The scale of a z that acts on c; 0 if its diagonal entry is not there. */
static double ownScale(const pcReduced* r, int z)
{
    int rows = r->problem->rows, a = r->column[2 * z], b = r->column[2 * z + 1];
    double x = r->value[2 * z], y = r->value[2 * z + 1];
    double size = x * x * r->W[at(a, a, rows)] + y * y * r->W[at(b, b, rows)];
    double diagonal = x * x * r->V[at(a, a, rows)] + 2.0 * x * y * r->V[at(a, b, rows)] + y * y * r->V[at(b, b, rows)];
    return diagonal > GONE * size ? pcScaledPower(diagonal, true) : 0.0;
}

/* A z that acts on no c stands against those that it is tied to by ones: `row` is their largest C, `column` their largest R. */
static void tiedScale(pcReduced* r, int z, double row, double column)
{
    r->lcp.rowScale[z] = pcScaledPower(row, false);
    r->lcp.columnScale[z] = pcScaledPower(column, false);
}

static bool ownScales(pcReduced* r, int first, int end)
{
    for (int z = first; z < end; z++) {
        r->lcp.rowScale[z] = r->lcp.columnScale[z] = ownScale(r, z);
        if (r->lcp.rowScale[z] == 0.0) return false;
    }
    return true;
}

static bool contactScales(pcReduced* r, int k)
{
    const double* C = r->lcp.columnScale;
    int normal = r->first[k], z = normal + 1;
    if (!ownScales(r, normal, normal + 1)) return false;
    for (int g = 0; g < r->problem->cone[k].groups; g++) {
        int slip = z + pcReducedCorners(r, k, g);
        if (!ownScales(r, z, slip)) return false;
        double most = 0.0;
        for (; z < slip; z++) most = larger(most, C[z]), r->lcp.lifted[z] = 1;
        tiedScale(r, z++, larger(most, C[normal]), r->problem->coulomb ? most : larger(most, C[normal]));
    }
    return true;
}

static bool boundScales(pcReduced* r, int k)
{
    int z = r->first[k];
    if (!ownScales(r, z, z + 1)) return false;
    if (r->first[k + 1] != z + 2) return true;
    tiedScale(r, z + 1, r->lcp.columnScale[z], r->lcp.rowScale[z]);
    r->lcp.lifted[z] = 1;
    return true;
}

/* R, C, and what slips lift; false: V does not tell them. */
static bool findScales(pcReduced* r)
{
    bool found = !r->problem->W;
    for (int k = 0; found && k < r->problem->cones; k++) {
        if (r->problem->cone[k].kind == PC_CONE_BOX) found = boundScales(r, k);
        if (r->problem->cone[k].kind == PC_CONE_FRICTION) found = contactScales(r, k);
    }
    for (int z = 0; !found && z < r->n; z++) r->lcp.rowScale[z] = r->lcp.columnScale[z] = 1.0;
    return found;
}

/* ---- M ------------------------------------------------------------------------------------------------------------------------- */

/* Whether the impulses of cone l leave the velocities of cone k alone: so do most pairs of a large problem. */
static bool apart(const pcReduced* r, int k, int l)
{
    const pcCone *mine = &r->problem->cone[k], *other = &r->problem->cone[l];
    for (int i = mine->row; i < mine->row + mine->rows; i++) {
        const double* V = r->V + at(i, other->row, r->problem->rows);
        for (int j = 0; j < other->rows; j++)
            if (V[j] != 0.0) return false;
    }
    return true;
}

/* Appends the blocks that rows first .. end - 1 are in to a list that begins at `start` and ends before `next`; returns its new end. */
static int listBlocks(pcScaledLcp* lcp, int start, int next, int first, int end)
{
    int block = first / PC_SCALED_BLOCK * PC_SCALED_BLOCK;
    if (next > start && lcp->block[next - 1] == block) block += PC_SCALED_BLOCK;
    for (; block < end; block += PC_SCALED_BLOCK) lcp->block[next++] = block;
    return next;
}

/* The neighbours of cone l, and the blocks that these are in: all its columns share the list, and those of z's that act on no c have a part
 * of it, their own cone's. */
static int listCone(pcReduced* r, int l, int start)
{
    pcScaledLcp* lcp = &r->lcp;
    int next = start, own = start, ownEnd = start, *neighbour = r->neighbour + at(l, 0, r->problem->cones);
    r->neighbours[l] = 0;
    for (int k = 0; k < r->problem->cones; k++) {
        if (r->first[k] == r->first[k + 1] || (k != l && apart(r, k, l))) continue;
        neighbour[r->neighbours[l]++] = k;
        next = listBlocks(lcp, start, next, r->first[k], r->first[k + 1]);
        if (k == l) ownEnd = next;
    }
    while (own < ownEnd && lcp->block[own] + PC_SCALED_BLOCK <= r->first[l]) own++;
    for (int z = r->first[l]; z < r->first[l + 1]; z++) {
        bool all = acts(r, z);
        lcp->blockStart[z] = all ? start : own, lcp->blockCount[z] = all ? next - start : ownEnd - own;
    }
    return next;
}

/* u = V T_z: the velocities that a z gives to all rows. V is symmetric, but for the impulse form's. */
PC_SIMD static void answerTo(const pcReduced* r, int z, double* u)
{
    int rows = r->problem->rows, a = r->column[2 * z], b = r->column[2 * z + 1];
    double x = r->value[2 * z] * r->lcp.columnScale[z], y = r->value[2 * z + 1] * r->lcp.columnScale[z];
    const double *one = r->V + at(a, 0, rows), *two = r->V + at(b, 0, rows);
    for (int i = 0; i < rows && !r->problem->W; i++) u[i] = x * one[i] + y * two[i];
    for (int i = 0; i < rows && r->problem->W; i++) u[i] = x * r->V[at(i, a, rows)] + y * r->V[at(i, b, rows)];
}

/* T_k'u. The zeros beyond the cone's z's fall on the next one's, which are written later. */
PC_INLINE void alongCone(int rows, int width, const double* T, const double* u, double* out)
{
    for (int z = 0; z < width; z += 4) {
        v4d sum = v4Splat(u[0]) * v4Load(T + z);
        for (int i = 1; i < rows; i++) sum += v4Splat(u[i]) * v4Load(T + i * width + z);
        v4Store(out + z, sum);
    }
}

PC_SIMD static void alongNeighbours(const pcReduced* r, int l, const double* u, double* column)
{
    const int* neighbour = r->neighbour + at(l, 0, r->problem->cones);
    for (int m = 0; m < r->neighbours[l]; m++) {
        int k = neighbour[m], row = r->problem->cone[k].row;
        const double* T = r->T + r->startOfT[k];
        if (r->problem->cone[k].rows == 3) /* as nearly all have: the compiler unrolls these */
            alongCone(3, widthOf(r, k), T, u + row, column + r->first[k]);
        else
            alongCone(r->problem->cone[k].rows, widthOf(r, k), T, u + row, column + r->first[k]);
    }
}

/* M'_ij = value R_i C_j */
static void entry(const pcReduced* r, int i, int j, double value, double* column)
{
    column[i] = value * r->lcp.rowScale[i] * r->lcp.columnScale[j];
}

/* w = u + y, 0 <= y _|_ hi - lo - z >= 0. */
static void boundConstants(const pcReduced* r, int k, int j, double* column)
{
    int z = r->first[k];
    if (r->first[k + 1] != z + 2) return;
    if (j == z)
        entry(r, z + 1, j, -1.0, column);
    else
        entry(r, z, j, 1.0, column);
}

static void contactConstants(const pcReduced* r, int k, int j, double* column)
{
    int normal = r->first[k], z = normal + 1;
    for (int g = 0; g < r->problem->cone[k].groups; g++) {
        int first = z, slip = z + pcReducedCorners(r, k, g);
        if (j == normal) entry(r, slip, j, 1.0, column);
        if (j >= first && j < slip) entry(r, slip, j, -1.0, column);
        for (; j == slip && z < slip; z++) entry(r, z, j, 1.0, column);
        if (j == slip && !r->problem->coulomb) entry(r, normal, j, -1.0, column);
        z = slip + 1;
    }
}

/* Column j of M'. */
static void fillColumn(const void* source, int j, double* column)
{
    const pcReduced* r = source;
    int l = r->coneOf[j];
    memset(column, 0, (size_t)r->lcp.ld * sizeof *column);
    if (acts(r, j)) answerTo(r, j, r->answer), alongNeighbours(r, l, r->answer, column);
    if (r->problem->cone[l].kind == PC_CONE_BOX)
        boundConstants(r, l, j, column);
    else
        contactConstants(r, l, j, column);
}

/* ---- q ------------------------------------------------------------------------------------------------------------------------- */

static void assembleVector(pcReduced* r)
{
    const pcProblem* p = r->problem;
    double* pushed = r->answer;
    memcpy(pushed, r->e0, (size_t)p->rows * sizeof *pushed);
    for (int i = 0; i < p->rows; i++) {
        for (int j = 0; r->shift[i] != 0.0 && j < p->rows; j++) pushed[j] += r->V[at(i, j, p->rows)] * r->shift[i];
    }
    for (int z = 0; z < r->n; z++)
        r->q[z] = r->value[2 * z] * pushed[r->column[2 * z]] + r->value[2 * z + 1] * pushed[r->column[2 * z + 1]];
    for (int k = 0; k < p->cones; k++)
        if (p->cone[k].kind == PC_CONE_BOX && r->first[k + 1] == r->first[k] + 2) r->q[r->first[k] + 1] = p->cone[k].hi - p->cone[k].lo;
    pcScaledSetVector(&r->lcp, r->q);
}

bool pcReducedAssemble(pcReduced* r, pcArena* arena)
{
    columns(r);
    bool scaled = findScales(r);
    scaleColumns(r);
    for (int l = 0, next = 0; l < r->problem->cones; l++) next = listCone(r, l, next);
    memset(r->lcp.ready, 0, (size_t)r->n);
    r->lcp.fill = fillColumn, r->lcp.source = r;
    if (!scaled && !pcScaledBalance(&r->lcp, arena)) return false;
    assembleVector(r);
    return true;
}
