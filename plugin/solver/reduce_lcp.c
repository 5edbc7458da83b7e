/*
 * From u = V c + e0 to w = M z + q, in the units of scaled.h.
 *
 *     c  = shift + T z:  T has the unit vector of a row, a corner of a polygon in a group's rows, or nothing (slips)
 *     M  = T'V T + K,    q = T'(V shift + e0) + k                    K, k: the constants of reduce.h's table
 *     R, C               scales: M' = R M C
 *
 * V is dense and small, M is large, and made of blocks T_k'V_kl T_l for cones that have to do with each other: only those are computed, and
 * with the scales in T, M' is written at once. That these are right can be seen from V: it is positive semidefinite, so where all diagonal
 * entries of T'V T are there, they are the scales (scaled.h, P), and a slip's follow from those of its group. Else (impulse form, rows of
 * zeros, where mu is 0) scaled.c has to look at M.
 */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "solver/reduce.h"

/* A diagonal entry below this part of its terms, or of W's, is what rounding has left. */
#define GONE 1e-12

static size_t at(int i, int j, int n) { return (size_t)i * (size_t)n + (size_t)j; }

/* z's of a cone, and zeros up to a multiple of 4. */
static int widthOf(const pcReduced* r, int k) { return (r->first[k + 1] - r->first[k] + 3) & ~3; }

bool pcReducedRoom(pcReduced* r, pcArena* arena)
{
    const pcProblem* p = r->problem;
    int size = 0, largest = 0;
    r->startOfT = pcArenaRaw(arena, int, p->cones);
    for (int k = 0; r->startOfT && k < p->cones; k++) {
        int own = p->cone[k].rows * widthOf(r, k);
        r->startOfT[k] = size;
        size += own, largest = own > largest ? own : largest;
    }
    r->T = pcArenaRaw(arena, double, size), r->room = pcArenaRaw(arena, double, PC_CONE_ROWS* largest);
    r->pushed = pcArenaRaw(arena, double, p->rows), r->q = pcArenaRaw(arena, double, r->n);
    return pcScaledNew(r->n, arena, &r->lcp) && pcArenaGood(arena);
}

/* ---- T ------------------------------------------------------------------------------------------------------------------------- */

/* z acts on `row` and, if `value2` is not 0, on the one after it. */
static void setColumn(pcReduced* r, int z, int row, double value, double value2)
{
    r->column[2 * z] = row, r->column[2 * z + 1] = value2 != 0.0 ? row + 1 : row;
    r->value[2 * z] = value, r->value[2 * z + 1] = value2;
}

/* lo <= c <= hi: from the finite bound inwards; with two of them, the second has a variable y: see boundConstants(). */
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
    int corners = pcReducedCorners(r, k, g), quarter = corners % 4 == 0 ? corners / 4 : corners;
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
        for (; z < slip; z++) most = larger(most, C[z]);
        tiedScale(r, z++, larger(most, C[normal]), r->problem->coulomb ? most : larger(most, C[normal]));
    }
    return true;
}

static bool boundScales(pcReduced* r, int k)
{
    int z = r->first[k];
    if (!ownScales(r, z, z + 1)) return false;
    if (r->first[k + 1] == z + 2) tiedScale(r, z + 1, r->lcp.columnScale[z], r->lcp.rowScale[z]);
    return true;
}

/* R and C; false: V does not tell them. */
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

/* U = V_kl T_l, row by row as wide as T_l. */
PC_INLINE void answerOf(const pcReduced* r, const pcCone* mine, const pcCone* other, const double* T, int width, double* U)
{
    for (int i = 0; i < mine->rows; i++) {
        const double* V = r->V + at(mine->row + i, other->row, r->problem->rows);
        for (int y = 0; y < width; y += 4) {
            v4d sum = v4Splat(V[0]) * v4Load(T + y);
            for (int j = 1; j < other->rows; j++) sum += v4Splat(V[j]) * v4Load(T + j * width + y);
            v4Store(U + i * width + y, sum);
        }
    }
}

/* The part of T'V T that belongs to two cones. The zeros beyond T_k's z's fall on the next cone's, which are written later. */
PC_SIMD static void assemblePair(pcReduced* r, int k, int l)
{
    const pcCone *mine = &r->problem->cone[k], *other = &r->problem->cone[l];
    const double* T = r->T + r->startOfT[k];
    int width = widthOf(r, k), otherWidth = widthOf(r, l);
    answerOf(r, mine, other, r->T + r->startOfT[l], otherWidth, r->room);
    for (int y = 0; y < r->first[l + 1] - r->first[l]; y++) {
        double* M = r->lcp.column + at(r->first[l] + y, r->first[k], r->lcp.ld);
        for (int z = 0; z < width; z += 4) {
            v4d sum = v4Splat(r->room[y]) * v4Load(T + z);
            for (int i = 1; i < mine->rows; i++) sum += v4Splat(r->room[i * otherWidth + y]) * v4Load(T + i * width + z);
            v4Store(M + z, sum);
        }
    }
}

/* Appends the blocks that rows first .. end - 1 are in to a list that begins at `start` and ends before `next`; returns its new end. */
static int listBlocks(pcScaledLcp* lcp, int start, int next, int first, int end)
{
    int block = first / PC_SCALED_BLOCK * PC_SCALED_BLOCK;
    if (next > start && lcp->block[next - 1] == block) block += PC_SCALED_BLOCK;
    for (; block < end; block += PC_SCALED_BLOCK) lcp->block[next++] = block;
    return next;
}

/* All columns of cone l. They share a list of blocks. */
static int assembleCone(pcReduced* r, int l, int start)
{
    int next = start;
    for (int k = 0; k < r->problem->cones; k++) {
        if (r->first[k] == r->first[k + 1] || (k != l && apart(r, k, l))) continue; /* M is zero from the beginning */
        assemblePair(r, k, l);
        next = listBlocks(&r->lcp, start, next, r->first[k], r->first[k + 1]);
    }
    for (int z = r->first[l]; z < r->first[l + 1]; z++) r->lcp.blockStart[z] = start, r->lcp.blockCount[z] = next - start;
    return next;
}

static void entry(pcReduced* r, int i, int j, double value)
{
    r->lcp.column[at(j, i, r->lcp.ld)] += value * r->lcp.rowScale[i] * r->lcp.columnScale[j];
}

/* w = u + y, 0 <= y _|_ hi - lo - z >= 0. */
static void boundConstants(pcReduced* r, int k)
{
    const pcCone* cone = &r->problem->cone[k];
    int z = r->first[k];
    if (r->first[k + 1] != z + 2) return;
    entry(r, z, z + 1, 1.0), entry(r, z + 1, z, -1.0);
    r->q[z + 1] += cone->hi - cone->lo;
}

static void contactConstants(pcReduced* r, int k)
{
    const pcCone* cone = &r->problem->cone[k];
    int normal = r->first[k], z = normal + 1;
    for (int g = 0; g < cone->groups; g++) {
        int slip = z + pcReducedCorners(r, k, g);
        for (; z < slip; z++) entry(r, z, slip, 1.0), entry(r, slip, z, -1.0);
        entry(r, slip, normal, 1.0);
        if (!r->problem->coulomb) entry(r, normal, slip, -1.0);
        z++;
    }
}

static void constants(pcReduced* r)
{
    for (int k = 0; k < r->problem->cones; k++) {
        if (r->problem->cone[k].kind == PC_CONE_BOX) boundConstants(r, k);
        if (r->problem->cone[k].kind == PC_CONE_FRICTION) contactConstants(r, k);
    }
}

/* q without the constants: T'(V shift + e0). */
static void assembleVector(pcReduced* r)
{
    int rows = r->problem->rows;
    memcpy(r->pushed, r->e0, (size_t)rows * sizeof *r->pushed);
    for (int i = 0; i < rows; i++) {
        for (int j = 0; r->shift[i] != 0.0 && j < rows; j++) r->pushed[j] += r->V[at(i, j, rows)] * r->shift[i];
    }
    for (int z = 0; z < r->n; z++)
        r->q[z] = r->value[2 * z] * r->pushed[r->column[2 * z]] + r->value[2 * z + 1] * r->pushed[r->column[2 * z + 1]];
}

bool pcReducedAssemble(pcReduced* r, pcArena* arena)
{
    columns(r);
    bool scaled = findScales(r);
    scaleColumns(r);
    for (int l = 0, next = 0; l < r->problem->cones; l++) next = assembleCone(r, l, next);
    assembleVector(r);
    constants(r);
    if (!scaled && !pcScaledBalance(&r->lcp, arena)) return false;
    pcScaledSetVector(&r->lcp, r->q);
    return true;
}
