/*
 * M' = R M C, q' = R q / s,  s = 2^exponent      (see scaled.h)
 *
 *   P   indices whose diagonal gives their scale: M_ii > 0, and no entry between two of them is much above 1 when so scaled
 *   Q   the others: scaled by their largest entry against P, and where there is none by their largest entry
 */
#include "solver/scaled.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/simd.h"

/* An entry this large beside two diagonals of 1 shows that these say nothing about scale; semidefinite matrices never exceed 1 (2 after
 * the rounding to powers of two). */
static const double DOMINANT = 1024.0;

/* 2^k next to 1/x, or to 1/sqrt(x) if `half`; exponents stay where products of three cannot overflow. */
static double inversePower(double x, bool half)
{
    int exponent;
    frexp(x, &exponent);
    exponent = half ? -(exponent >> 1) : 1 - exponent;
    return ldexp(1.0, exponent < -300 ? -300 : exponent > 300 ? 300 : exponent);
}

/* ---- scales ---- */

typedef struct Maxima {
    double* row;    /* max over j of |M_ij| c_j */
    double* column; /* max over i of r_i |M_ij| */
} Maxima;

/* One row's share: its weighted largest entry, and its entries into the column maxima. */
PC_INLINE double rowShare(int n, const double* m, const double* c, double r, double* columnMax)
{
    v4d best = v4Splat(0.0), r4 = v4Splat(r);
    int j = 0;
    for (; j + 4 <= n; j += 4) {
        v4d a = v4Abs(v4Load(m + j));
        best = v4Max(a * v4Load(c + j), best);
        v4Store(columnMax + j, v4Max(a * r4, v4Load(columnMax + j)));
    }
    double most = larger(larger(best[0], best[1]), larger(best[2], best[3]));
    for (; j < n; j++) {
        most = larger(most, fabs(m[j]) * c[j]);
        columnMax[j] = larger(columnMax[j], fabs(m[j]) * r);
    }
    return most;
}

PC_SIMD static void findMaxima(int n, const double* M, const double* r, const double* c, const Maxima* out)
{
    memset(out->column, 0, (size_t)n * sizeof *out->column);
    for (int i = 0; i < n; i++) out->row[i] = rowShare(n, M + (size_t)i * (size_t)n, c, r[i], out->column);
}

/* Takes out of P (r = c = 0) what is far from 1 in spite of its scale; whether there was any. */
static bool dropFromP(int n, const double* M, const Maxima* found, double* r, double* c)
{
    bool any = false;
    for (int i = 0; i < n; i++) {
        if (!(found->row[i] * r[i] > DOMINANT)) continue;
        for (int j = 0; j < n; j++)
            if (fabs(M[(size_t)i * (size_t)n + (size_t)j]) * r[i] * c[j] > DOMINANT) c[j] = 0.0, any = true;
    }
    for (int i = 0; i < n; i++) r[i] = c[i] = any && found->row[i] * r[i] > DOMINANT ? 0.0 : smaller(r[i], c[i]);
    return any;
}

static void fillMissing(int n, const double* largest, double* scale)
{
    for (int i = 0; i < n; i++)
        if (scale[i] == 0.0 && largest[i] > 0.0) scale[i] = inversePower(largest[i], false);
}

static void replaceZeros(int n, double* scale)
{
    for (int i = 0; i < n; i++)
        if (scale[i] == 0.0) scale[i] = 1.0;
}

static void chooseScales(int n, const double* M, const Maxima* work, double* r, double* c)
{
    int inP = 0;
    for (int i = 0; i < n; i++) r[i] = c[i] = 1.0;
    findMaxima(n, M, r, c, work);
    for (int i = 0; i < n; i++) {
        double diagonal = M[(size_t)i * (size_t)n + (size_t)i], noise = n * 2.0 * PC_ROUND * larger(work->row[i], work->column[i]);
        r[i] = c[i] = diagonal > noise ? inversePower(diagonal, true) : 0.0;
    }
    findMaxima(n, M, r, c, work);
    if (dropFromP(n, M, work, r, c)) findMaxima(n, M, r, c, work);
    fillMissing(n, work->row, r);
    fillMissing(n, work->column, c);
    for (int i = 0; i < n; i++) inP += r[i] > 0.0 && c[i] > 0.0;
    if (inP == n) return;
    replaceZeros(n, c); /* rows and columns that nothing in P touches: first the rows, as the columns are, then these */
    findMaxima(n, M, r, c, work);
    fillMissing(n, work->row, r);
    replaceZeros(n, r);
}

/* ---- the scaled copy ---- */

/* Rows i .. i+7 of all columns: a cache line of each. */
static void copyRows(pcScaledLcp* lcp, int i)
{
    size_t n = (size_t)lcp->n, ld = (size_t)lcp->ld;
    int rows = lcp->n - i < PC_SCALED_BLOCK ? lcp->n - i : PC_SCALED_BLOCK;
    const double* m = lcp->M + (size_t)i * n;
    for (size_t j = 0; j < n; j++) {
        double* out = lcp->column + j * ld + (size_t)i;
        bool any = false;
        for (int k = 0; k < rows; k++) {
            out[k] = m[(size_t)k * n + j] * lcp->rowScale[i + k] * lcp->columnScale[j];
            any |= out[k] != 0.0;
        }
        if (any) lcp->block[j * (ld / PC_SCALED_BLOCK) + (size_t)lcp->blockCount[j]++] = i;
    }
}

/* Divides by the power of two that brings the largest entry into (1/2, 1]; returns its exponent. */
static int normalise(int n, double* x)
{
    int exponent = 0;
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = larger(largest, fabs(x[i]));
    if (!(largest > 0.0)) return 0;
    frexp(largest, &exponent);
    for (int i = 0; i < n; i++) x[i] = ldexp(x[i], -exponent);
    return exponent;
}

/* q' and the exponent of s: brought near 1 before it is multiplied by R as well as after, so that nothing overflows. */
static int scaleVector(int n, const double* q, const double* r, double* out)
{
    memcpy(out, q, (size_t)n * sizeof *out);
    int exponent = normalise(n, out);
    for (int i = 0; i < n; i++) out[i] *= r[i];
    return exponent + normalise(n, out);
}

bool pcScaledMake(int n, const double* M, const double* q, pcArena* arena, pcScaledLcp* out)
{
    int ld = (n + PC_SCALED_BLOCK - 1) / PC_SCALED_BLOCK * PC_SCALED_BLOCK;
    if (ld % 64 == 0) ld += PC_SCALED_BLOCK; /* columns a multiple of 512 bytes apart would share few cache lines */
    size_t columns = (size_t)n + 1, rows = (size_t)ld;
    *out = (pcScaledLcp){.n = n, .ld = ld, .M = M};
    out->column = pcArenaNew(arena, double, columns* rows);
    out->q = pcArenaNew(arena, double, rows);
    out->rowScale = pcArenaNew(arena, double, columns);
    out->columnScale = pcArenaNew(arena, double, columns);
    out->block = pcArenaNew(arena, int, columns*(rows / PC_SCALED_BLOCK));
    out->blockCount = pcArenaNew(arena, int, columns);
    Maxima work = {pcArenaNew(arena, double, n), pcArenaNew(arena, double, n)};
    if (!pcArenaGood(arena)) return false;
    chooseScales(n, M, &work, out->rowScale, out->columnScale);
    out->columnScale[n] = 1.0;
    for (int i = 0; i < n; i += PC_SCALED_BLOCK) copyRows(out, i);
    out->exponent = scaleVector(n, q, out->rowScale, out->q);
    return true;
}

/* ---- products ---- */

const double* pcScaledColumn(const pcScaledLcp* lcp, int j) { return lcp->column + (size_t)j * (size_t)lcp->ld; }

void pcScaledRow(const pcScaledLcp* lcp, int i, int count, const int* columns, double* out)
{
    const double* m = lcp->M + (size_t)i * (size_t)lcp->n;
    double r = lcp->rowScale[i];
    for (int k = 0; k < count; k++) {
        int j = columns[k];
        out[k] = j < lcp->n ? m[j] * r * lcp->columnScale[j] : pcScaledColumn(lcp, j)[i];
    }
}

/* y += a x, or y += a |x|, over the blocks of column j. */
PC_INLINE void addColumn(const pcScaledLcp* lcp, int j, double a, bool absolute, double* y)
{
    const double* x = lcp->column + (size_t)j * (size_t)lcp->ld;
    const int* block = lcp->block + (size_t)j * (size_t)(lcp->ld / PC_SCALED_BLOCK);
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
    int blocks = lcp->ld / PC_SCALED_BLOCK;
    memcpy(lcp->column + (size_t)lcp->n * (size_t)lcp->ld, values, (size_t)lcp->ld * sizeof *values);
    for (int b = 0; b < blocks; b++) lcp->block[(size_t)lcp->n * (size_t)blocks + (size_t)b] = b * PC_SCALED_BLOCK;
    lcp->blockCount[lcp->n] = blocks;
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
