/*
 * M' = R M C, q' = R q / s,  s = 2^exponent      (see scaled.h)
 *
 *   P   indices whose diagonal gives their scale: M_ii > 0, and no entry between two of them is much above 1 when so scaled
 *   Q   the others: scaled by their largest entry against P, and where there is none by their largest entry
 */
#include "solver/scaled.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/simd.h"

/* An entry this large beside two diagonals of 1 shows that these say nothing about scale; semidefinite matrices never exceed 1 (2 after
 * the rounding to powers of two). */
static const double DOMINANT = 1024.0;

/* 2^k, by the bits of a double: many of these are needed, and ldexp thinks about each. */
static double powerOfTwo(int k)
{
    uint64_t bits = (uint64_t)(k + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* k with 2^(k-1) <= x < 2^k; -1022 for all that is less than normal numbers are. */
static int exponentOf(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (int)(bits >> 52 & 2047u) - 1022;
}

double pcScaledPower(double x, bool half)
{
    int exponent = exponentOf(x);
    exponent = half ? -(exponent >> 1) : 1 - exponent;
    return powerOfTwo(exponent < -300 ? -300 : exponent > 300 ? 300 : exponent); /* where products of three cannot overflow */
}

PC_INLINE double* columnAt(const pcScaledLcp* lcp, int j)
{
    double* column = lcp->column + (size_t)j * (size_t)lcp->ld;
    if (!lcp->ready[j]) lcp->fill(lcp->source, j, column), lcp->ready[j] = 1;
    return column;
}

/* ---- scales ---- */

typedef struct Maxima {
    double* row;    /* max over j of |M_ij| c_j; ld numbers */
    double* column; /* max over i of r_i |M_ij| */
} Maxima;

/* One column's share: its entries into the row maxima, and its weighted largest entry. */
PC_INLINE double columnShare(const pcScaledLcp* lcp, int j, const double* r, double c, double* rowMax)
{
    const double* m = columnAt(lcp, j);
    const int* block = lcp->block + lcp->blockStart[j];
    v4d best = v4Splat(0.0), c4 = v4Splat(c);
    for (int b = 0; b < lcp->blockCount[j]; b++) {
        for (int i = block[b]; i < block[b] + PC_SCALED_BLOCK; i += 4) {
            v4d a = v4Abs(v4Load(m + i));
            best = v4Max(a * v4Load(r + i), best);
            v4Store(rowMax + i, v4Max(a * c4, v4Load(rowMax + i)));
        }
    }
    return larger(larger(best[0], best[1]), larger(best[2], best[3]));
}

PC_SIMD static void findMaxima(const pcScaledLcp* lcp, const Maxima* out)
{
    memset(out->row, 0, (size_t)lcp->ld * sizeof *out->row);
    for (int j = 0; j < lcp->n; j++) out->column[j] = columnShare(lcp, j, lcp->rowScale, lcp->columnScale[j], out->row);
}

/* Takes out of P (r = c = 0) what is far from 1 in spite of its scale; whether there was any. */
static bool dropFromP(const pcScaledLcp* lcp, const Maxima* found)
{
    double *r = lcp->rowScale, *c = lcp->columnScale;
    bool any = false;
    for (int j = 0; j < lcp->n; j++)
        if (found->column[j] * c[j] > DOMINANT) c[j] = 0.0, any = true;
    for (int i = 0; i < lcp->n; i++) r[i] = c[i] = any && found->row[i] * r[i] > DOMINANT ? 0.0 : smaller(r[i], c[i]);
    return any;
}

static void fillMissing(int n, const double* largest, double* scale)
{
    for (int i = 0; i < n; i++)
        if (scale[i] == 0.0 && largest[i] > 0.0) scale[i] = pcScaledPower(largest[i], false);
}

static void replaceZeros(int n, double* scale)
{
    for (int i = 0; i < n; i++)
        if (scale[i] == 0.0) scale[i] = 1.0;
}

static void chooseScales(const pcScaledLcp* lcp, const Maxima* work)
{
    int n = lcp->n, inP = 0;
    double *r = lcp->rowScale, *c = lcp->columnScale;
    findMaxima(lcp, work);
    for (int i = 0; i < n; i++) {
        double diagonal = columnAt(lcp, i)[i], noise = n * 2.0 * PC_ROUND * larger(work->row[i], work->column[i]);
        r[i] = c[i] = diagonal > noise ? pcScaledPower(diagonal, true) : 0.0;
    }
    findMaxima(lcp, work);
    if (dropFromP(lcp, work)) findMaxima(lcp, work);
    fillMissing(n, work->row, r);
    fillMissing(n, work->column, c);
    for (int i = 0; i < n; i++) inP += r[i] > 0.0 && c[i] > 0.0;
    if (inP == n) return;
    replaceZeros(n, c); /* rows and columns that nothing in P touches: first the rows, as the columns are, then these */
    findMaxima(lcp, work);
    fillMissing(n, work->row, r);
    replaceZeros(n, r);
}

PC_SIMD static void applyScales(const pcScaledLcp* lcp)
{
    for (int j = 0; j < lcp->n; j++) {
        double* m = columnAt(lcp, j);
        const int* block = lcp->block + lcp->blockStart[j];
        v4d c = v4Splat(lcp->columnScale[j]);
        for (int b = 0; b < lcp->blockCount[j]; b++)
            for (int i = block[b]; i < block[b] + PC_SCALED_BLOCK; i += 4) v4Store(m + i, v4Load(m + i) * v4Load(lcp->rowScale + i) * c);
    }
}

static void findLifted(const pcScaledLcp* lcp)
{
    memset(lcp->lifted, 0, (size_t)lcp->ld);
    for (int j = 0; j < lcp->n; j++) {
        const double* m = columnAt(lcp, j);
        for (int i = 0; m[j] == 0.0 && i < lcp->n; i++)
            if (m[i] > 0.0) lcp->lifted[i] = 1;
    }
}

bool pcScaledBalance(pcScaledLcp* lcp, pcArena* arena)
{
    size_t mark = pcArenaMark(arena);
    Maxima work = {pcArenaRaw(arena, double, lcp->ld), pcArenaRaw(arena, double, lcp->n)};
    bool good = pcArenaGood(arena);
    for (int i = 0; i < lcp->n; i++) lcp->rowScale[i] = lcp->columnScale[i] = 1.0;
    if (good) chooseScales(lcp, &work), applyScales(lcp), findLifted(lcp);
    pcArenaRelease(arena, mark);
    return good;
}

/* ---- vectors ---- */

/* x 2^exponent, in two factors that doubles can hold. */
typedef struct Power {
    double first, second;
} Power;

static Power powerOf(int exponent) { return (Power){ldexp(1.0, exponent / 2), ldexp(1.0, exponent - exponent / 2)}; }

/* Divides by the power of two that brings the largest entry into (1/2, 1]; returns its exponent. */
static int normalise(int n, double* x)
{
    int exponent = 0;
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = larger(largest, fabs(x[i]));
    if (!(largest > 0.0)) return 0;
    frexp(largest, &exponent);
    Power power = powerOf(-exponent);
    for (int i = 0; i < n; i++) x[i] = x[i] * power.first * power.second;
    return exponent;
}

/* Brought near 1 before it is multiplied by R as well as after, so that nothing overflows. */
void pcScaledSetVector(pcScaledLcp* lcp, const double* q)
{
    memcpy(lcp->q, q, (size_t)lcp->n * sizeof *q);
    lcp->exponent = normalise(lcp->n, lcp->q);
    for (int i = 0; i < lcp->n; i++) lcp->q[i] *= lcp->rowScale[i];
    lcp->exponent += normalise(lcp->n, lcp->q);
}

void pcScaledTake(const pcScaledLcp* lcp, const double* z, double* scaled)
{
    Power power = powerOf(-lcp->exponent);
    for (int i = 0; i < lcp->n; i++) scaled[i] = z[i] / lcp->columnScale[i] * power.first * power.second;
}

bool pcScaledGive(const pcScaledLcp* lcp, const double* scaled, double* z)
{
    Power power = powerOf(lcp->exponent);
    bool held = true;
    for (int i = 0; i < lcp->n; i++) {
        z[i] = scaled[i] * lcp->columnScale[i] * power.first * power.second;
        if (z[i] > DBL_MAX) z[i] = DBL_MAX, held = false;
    }
    return held;
}

/* ---- all of it ---- */

bool pcScaledNew(int n, pcArena* arena, pcScaledLcp* out)
{
    int ld = (n + 3 + PC_SCALED_BLOCK - 1) / PC_SCALED_BLOCK * PC_SCALED_BLOCK; /* 3: who writes four at a time may go on beyond the end */
    if (ld % 64 == 0) ld += PC_SCALED_BLOCK; /* columns a multiple of 512 bytes apart would share few cache lines */
    size_t columns = (size_t)n + 1, rows = (size_t)ld;
    *out = (pcScaledLcp){.n = n, .ld = ld};
    out->column = pcArenaRaw(arena, double, columns* rows);
    out->q = pcArenaNew(arena, double, rows);
    out->rowScale = pcArenaNew(arena, double, rows + 1);
    out->columnScale = pcArenaNew(arena, double, rows + 1);
    out->block = pcArenaRaw(arena, int, columns*(rows / PC_SCALED_BLOCK));
    out->blockStart = pcArenaRaw(arena, int, columns), out->blockCount = pcArenaNew(arena, int, columns);
    out->ready = pcArenaNew(arena, unsigned char, columns), out->lifted = pcArenaNew(arena, unsigned char, rows);
    if (!pcArenaGood(arena)) return false;
    out->columnScale[n] = 1.0;
    return true;
}

/* Rows i .. i+7 of all columns: a cache line of each. */
static void copyRows(pcScaledLcp* lcp, const double* M, int i)
{
    size_t n = (size_t)lcp->n;
    int rows = lcp->n - i < PC_SCALED_BLOCK ? lcp->n - i : PC_SCALED_BLOCK;
    const double* m = M + (size_t)i * n;
    for (int j = 0; j < lcp->n; j++) {
        double* out = columnAt(lcp, j) + i;
        bool any = false;
        for (int k = 0; k < rows; k++) {
            out[k] = m[(size_t)k * n + (size_t)j];
            any |= out[k] != 0.0;
        }
        if (any) lcp->block[lcp->blockStart[j] + lcp->blockCount[j]++] = i;
    }
}

bool pcScaledMake(int n, const double* M, const double* q, pcArena* arena, pcScaledLcp* out)
{
    if (!pcScaledNew(n, arena, out)) return false;
    memset(out->column, 0, (size_t)n * (size_t)out->ld * sizeof *out->column), memset(out->ready, 1, (size_t)n);
    for (int j = 0; j < n; j++) out->blockStart[j] = j * (out->ld / PC_SCALED_BLOCK);
    for (int i = 0; i < n; i += PC_SCALED_BLOCK) copyRows(out, M, i);
    if (!pcScaledBalance(out, arena)) return false;
    pcScaledSetVector(out, q);
    return true;
}

/* ---- products ---- */

const double* pcScaledColumn(const pcScaledLcp* lcp, int j) { return columnAt(lcp, j); }

void pcScaledRow(const pcScaledLcp* lcp, int i, int count, const int* columns, double* out)
{
    for (int k = 0; k < count; k++) out[k] = columnAt(lcp, columns[k])[i];
}

/* y += a x, or y += a |x|, over the blocks of column j. */
PC_INLINE void addColumn(const pcScaledLcp* lcp, int j, double a, bool absolute, double* y)
{
    const double* x = columnAt(lcp, j);
    const int* block = lcp->block + lcp->blockStart[j];
    v4d a4 = v4Splat(a);
    for (int b = 0; b < lcp->blockCount[j]; b++) {
        int i = block[b];
        v4d x0 = v4Load(x + i), x1 = v4Load(x + i + 4);
        if (absolute) x0 = v4Abs(x0), x1 = v4Abs(x1);
        v4Store(y + i, v4Load(y + i) + a4 * x0), v4Store(y + i + 4, v4Load(y + i + 4) + a4 * x1);
    }
}

PC_SIMD void pcScaledAdd(const pcScaledLcp* lcp, int count, const int* columns, const double* a, double* y)
{
    for (int k = 0; k < count; k++)
        if (a[k] != 0.0) addColumn(lcp, columns[k], a[k], false, y);
}

/* w = q + M z, and the size of its terms. */
PC_SIMD static void multiply(const pcScaledLcp* lcp, const double* z, double* w, double* size)
{
    memcpy(w, lcp->q, (size_t)lcp->ld * sizeof *w);
    memset(size, 0, (size_t)lcp->ld * sizeof *size);
    for (int j = 0; j < lcp->n; j++) {
        if (z[j] == 0.0) continue;
        addColumn(lcp, j, z[j], false, w);
        addColumn(lcp, j, z[j], true, size);
    }
}

void pcScaledSetLast(pcScaledLcp* lcp, const double* values)
{
    int n = lcp->n, blocks = lcp->ld / PC_SCALED_BLOCK;
    lcp->ready[n] = 1;
    memcpy(columnAt(lcp, n), values, (size_t)lcp->ld * sizeof *values);
    lcp->blockStart[n] = n * blocks, lcp->blockCount[n] = blocks;
    for (int b = 0; b < blocks; b++) lcp->block[n * blocks + b] = b * PC_SCALED_BLOCK;
}

double pcScaledResidual(const pcScaledLcp* lcp, const double* z, double* room)
{
    double *w = room, *size = room + lcp->ld, worst = 0.0;
    multiply(lcp, z, w, size);
    for (int i = 0; i < lcp->n; i++) {
        if (!isfinite(z[i] + w[i])) return INFINITY;
        worst = larger(worst, fabs(smaller(z[i], w[i] / larger(1.0, size[i] / 4096.0))));
    }
    return worst;
}
