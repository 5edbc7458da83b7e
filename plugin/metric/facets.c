/*
 * The ratio metric from the facet side: the linear program of T 2.3 itself,
 *
 *   min t   s.t.   a_k.x - b_k t <= 0                        facets of body 1, x from its centre
 *                  a_k.x - sigma b_k t <= a_k.c + (1-sigma) b_k   facets of body 2
 *
 * It shares nothing with the vertex side but the shapes, so that each can judge the other. Facet planes are rounded, so it is right to
 * about 1e-13 on round bodies and less on thin ones; as the last resort of a query it says so by its bounds.
 */
#include <stdlib.h>

#include "metric/metric.h"
#include "solver/lp.h"

static const double CLAIM = 1e-11;

static void fillRows(const pcFrame* f, double* A, double* b)
{
    const pcShape *s1 = f->shape1, *s2 = f->shape2;
    for (int k = 0; k < s1->facetCount; k++, A += 4, b++) {
        v3Store(A, s1->normal[k]);
        A[3] = -s1->offset[k];
        *b = 0.0;
    }
    for (int k = 0; k < s2->facetCount; k++, A += 4, b++) {
        v3 a = m3Mul(&f->R, s2->normal[k]);
        v3Store(A, a);
        A[3] = -f->sigma * s2->offset[k];
        *b = v3Dot(a, f->c) + (1.0 - f->sigma) * s2->offset[k];
    }
}

/* The centre of the body that moves least: body 1's own two-sided, body 2's one-sided; t large enough for the other. */
static void feasibleStart(const pcFrame* f, const double* A, const double* b, int rows, double x[4])
{
    v3 start = f->sigma != 0.0 ? v3Make(0.0, 0.0, 0.0) : f->c;
    v3Store(x, start);
    x[3] = 0.0;
    for (int k = 0; k < rows; k++) {
        const double* a = A + 4 * (size_t)k;
        double over = v3Dot(v3Load(a), start) - b[k];
        if (a[3] < 0.0 && over > 0.0) x[3] = larger(x[3], over / -a[3]);
    }
    x[3] *= 1.0 + 1e-9;
}

static bool solveRows(const pcFrame* f, double* A, int rows, pcFrameMetric* out)
{
    static const double cost[4] = {0.0, 0.0, 0.0, 1.0};
    double *b = A + 4 * (size_t)rows, x[4], y[PC_LP_MAX];
    int active[PC_LP_MAX];
    fillRows(f, A, b);
    feasibleStart(f, A, b, rows, x);
    pcLp lp = {4, rows, A, b, cost};
    pcSolveInfo info = pcLpSolve(&lp, x, active, y);
    if (info.outcome != PC_SOLVED) return false;
    v3 g = {0};
    for (int i = 0; i < 4; i++)
        if (active[i] < f->shape1->facetCount) g = v3AddScaled(g, y[i], v3Load(A + 4 * (size_t)active[i]));
    double size = v3Norm(g);
    out->r = x[3], out->lower = x[3] * (1.0 - CLAIM), out->upper = x[3] * (1.0 + CLAIM);
    out->n = v3Scale(1.0 / size, g), out->D = 1.0 / size, out->point = v3Load(x);
    out->hasBasis = false;
    out->path = PC_PATH_FACETS;
    return size > 0.0;
}

bool pcMetricFacets(const pcFrame* f, pcFrameMetric* out)
{
    int rows = f->shape1->facetCount + f->shape2->facetCount;
    double* A = malloc(5 * (size_t)rows * sizeof *A);
    bool solved = A && solveRows(f, A, rows, out);
    free(A);
    return solved;
}
