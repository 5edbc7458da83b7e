/*
 * x+ = g - dG y,   y = argmin |f - dF y|      (Anderson's method, in differences; Walker and Ni's form)
 *
 *     f    g(x) - x of this pass              dF, dG   columns: f and g of a pass minus those of the pass before, newest first
 *     Q R  of dF, by Gram-Schmidt done twice; a column that depends on newer ones is left out, so old passes never spoil new ones
 */
#include "solver/anderson.h"

#include <math.h>
#include <string.h>

#define DEPTH PC_ANDERSON_DEPTH
#define DEPENDENT 1e-6 /* of a column's length: what is left of it is mostly rounding of the inner solves */

bool pcAndersonNew(pcAnderson* a, int n, pcArena* arena)
{
    *a = (pcAnderson){.n = n, .count = -1};
    a->f = pcArenaNew(arena, double, n), a->g = pcArenaNew(arena, double, n);
    for (int j = 0; j < DEPTH; j++) a->df[j] = pcArenaNew(arena, double, n), a->dg[j] = pcArenaNew(arena, double, n);
    for (int j = 0; j < DEPTH; j++) a->room[j] = pcArenaNew(arena, double, n);
    return pcArenaGood(arena);
}

void pcAndersonReset(pcAnderson* a) { a->count = -1; }

static double dot(int n, const double* a, const double* b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Notes the differences to the pass before; count is -1 if there was none. */
static void remember(pcAnderson* a, const double* x, const double* g)
{
    double *df = a->df[DEPTH - 1], *dg = a->dg[DEPTH - 1];
    for (int i = 0; i < a->n; i++) df[i] = g[i] - x[i] - a->f[i], dg[i] = g[i] - a->g[i];
    for (int i = 0; i < a->n; i++) a->f[i] = g[i] - x[i], a->g[i] = g[i];
    if (++a->count == 0) return;
    for (int j = DEPTH - 1; j > 0; j--) a->df[j] = a->df[j - 1], a->dg[j] = a->dg[j - 1];
    a->df[0] = df, a->dg[0] = dg;
    if (a->count > DEPTH) a->count = DEPTH;
}

/* q -= Q Q'q twice, the coefficients into R's column; whether something is left, then of length 1. */
static bool orthogonalize(const pcAnderson* a, int column, double R[DEPTH][DEPTH], double* q)
{
    double before = sqrt(dot(a->n, q, q));
    for (int twice = 0; twice < 2; twice++) {
        for (int k = 0; k < column; k++) {
            double along = dot(a->n, a->room[k], q);
            R[k][column] += along;
            for (int i = 0; i < a->n; i++) q[i] -= along * a->room[k][i];
        }
    }
    R[column][column] = sqrt(dot(a->n, q, q));
    if (!(R[column][column] > DEPENDENT * before)) return false;
    for (int i = 0; i < a->n; i++) q[i] /= R[column][column];
    return true;
}

void pcAndersonStep(pcAnderson* a, double* x, const double* g)
{
    double R[DEPTH][DEPTH] = {{0.0}}, y[DEPTH];
    int from[DEPTH], columns = 0;
    remember(a, x, g);
    for (int j = 0; j < a->count; j++) {
        for (int k = 0; k < columns; k++) R[k][columns] = 0.0;
        memcpy(a->room[columns], a->df[j], (size_t)a->n * sizeof *x);
        if (orthogonalize(a, columns, R, a->room[columns])) from[columns++] = j;
    }
    for (int k = columns - 1; k >= 0; k--) {
        y[k] = dot(a->n, a->room[k], a->f);
        for (int l = k + 1; l < columns; l++) y[k] -= R[k][l] * y[l];
        y[k] /= R[k][k];
    }
    memcpy(x, g, (size_t)a->n * sizeof *x);
    for (int k = 0; k < columns; k++) {
        for (int i = 0; i < a->n; i++) x[i] -= y[k] * a->dg[from[k]][i];
    }
}
