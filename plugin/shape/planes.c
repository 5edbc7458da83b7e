/*
 * A polyhedron from half-spaces a_k . x <= d_k. With an interior point x0, the half-spaces become the points a_k / (d_k - a_k.x0) of the
 * dual body, and each facet { n . y = b } of their hull is the corner x0 + n / b. The interior point is the deepest one, by a small LP.
 */
#include <stdlib.h>

#include "base/status.h"
#include "shape/shape.h"
#include "solver/lp.h"

/* A set thinner than this fraction of its offsets is empty to within rounding. */
static const double THIN = 64.0 * PC_ROUND;

/* Rows a_k (unit), 1 and right-hand sides d_k of the LP  min -s  with  a_k . x + s <= d_k. */
static pcStatus normaliseRows(const double* abcd, int count, double* rows, double* d)
{
    for (int k = 0; k < count; k++) {
        const double* given = abcd + 4 * (size_t)k;
        v3 a;
        if (!v3Finite(v3Load(given)) || !isfinite(given[3]))
            return pcFail(PC_ERROR_NOT_FINITE, "half-space %d has a number that is not finite", k);
        if (!pcUnitPlane(given, &a, d + k))
            return pcFail(PC_ERROR_ARGUMENT, "half-space %d has a zero normal, or is farther away than numbers go", k);
        v3Store(rows + 4 * (size_t)k, a);
        rows[4 * (size_t)k + 3] = 1.0;
    }
    return PC_OK;
}

static pcStatus deepestPoint(const double* rows, const double* d, int count, v3* out)
{
    static const double cost[4] = {0.0, 0.0, 0.0, -1.0};
    double x[4] = {0.0, 0.0, 0.0, d[0]}, y[PC_LP_MAX], size = 0.0;
    int active[PC_LP_MAX];
    for (int k = 0; k < count; k++) x[3] = fmin(x[3], d[k]);
    pcLp lp = {4, count, rows, d, cost};
    pcSolveInfo info = pcLpSolve(&lp, x, active, y);
    if (info.outcome != PC_SOLVED) return pcFail(PC_ERROR_UNBOUNDED, "the %d half-spaces do not bound a volume", count);
    for (int i = 0; i < 4; i++) size = fmax(size, fabs(d[active[i]])); /* of the rows that decide: one far away decides nothing */
    if (!(x[3] > THIN * (size + v3Norm(v3Load(x))))) return pcFail(PC_ERROR_EMPTY, "the %d half-spaces have no common interior", count);
    *out = v3Load(x);
    return PC_OK;
}

/* Facets of the dual hull are corners of the body; the dual hull must have the origin strictly inside, or the body is unbounded. */
static pcStatus cornersFromDual(const pcMesh* dual, v3 x0, double* corner)
{
    static const double origin[3] = {0.0, 0.0, 0.0};
    pcShape* s;
    pcStatus status = pcShapeFromMesh(dual, PC_SHAPE_POLYHEDRON, origin, &s);
    if (status == PC_ERROR_CENTRE) return pcFail(PC_ERROR_UNBOUNDED, "the half-spaces do not bound a volume");
    if (status != PC_OK) return status;
    for (int f = 0; f < s->facetCount; f++) v3Store(corner + 3 * (size_t)f, v3AddScaled(x0, 1.0 / s->offset[f], s->normal[f]));
    pcShapeFree(s);
    return PC_OK;
}

static pcStatus bodyFromDual(const pcMesh* dual, v3 x0, const double* centreOrNull, pcShape** out)
{
    double* corner = malloc(3 * (size_t)dual->facetCount * sizeof *corner);
    if (!corner) return pcFail(PC_ERROR_MEMORY, "no memory for a shape of %d corners", dual->facetCount);
    pcStatus status = cornersFromDual(dual, x0, corner);
    if (status == PC_OK) status = pcShapeFromPoints(corner, dual->facetCount, centreOrNull, out);
    free(corner);
    return status;
}

static pcStatus bodyFromRows(double* rows, const double* d, int count, const double* centreOrNull, pcShape** out)
{
    v3 x0 = {0};
    pcStatus status = deepestPoint(rows, d, count, &x0);
    if (status != PC_OK) return status;
    for (int k = 0; k < count; k++) { /* the dual points overwrite the rows, three for four: never ahead of what is still read */
        v3 a = v3Load(rows + 4 * (size_t)k);
        v3Store(rows + 3 * (size_t)k, v3Scale(1.0 / (d[k] - v3Dot(a, x0)), a));
    }
    pcMesh dual;
    status = pcMeshFromPoints(rows, count, &dual);
    if (status == PC_ERROR_FLAT) return pcFail(PC_ERROR_UNBOUNDED, "the %d half-spaces do not bound a volume", count);
    if (status != PC_OK) return status;
    status = bodyFromDual(&dual, x0, centreOrNull, out);
    pcMeshFree(&dual);
    return status;
}

/* Beside a half-space at 1e300 the others drown, in the LP and in the dual body. So the answer is looked at: no corner may be above a half-space
 * by more than this part of the body. */
static const double WITHIN = 1e-7;

static pcStatus checkCorners(const pcShape* s, const double* abcd, int count)
{
    double size = s->outradius + v3Max(s->centre);
    for (int k = 0; k < count; k++) {
        v3 a = {0};
        double offset = 0.0;
        pcUnitPlane(abcd + 4 * (size_t)k, &a, &offset);
        for (int i = 0; i < s->vertexCount; i++)
            if (!(v3Dot(a, v3Load(s->vertex + 3 * (size_t)i)) <= offset + WITHIN * size))
                return pcFail(PC_ERROR_ARGUMENT,
                              "half-space %d and others differ too much in size for what they have in common to be found", k);
    }
    return PC_OK;
}

pcStatus pcShapeFromPlanes(const double* abcd, int count, const double* centreOrNull, pcShape** out)
{
    if (!abcd || !out) return pcFail(PC_ERROR_ARGUMENT, "pcShapeFromPlanes needs half-spaces and a place for the shape");
    if (count < 4) return pcFail(count < 0 ? PC_ERROR_ARGUMENT : PC_ERROR_UNBOUNDED, "%d half-spaces cannot bound a volume", count);
    double* rows = malloc(5 * (size_t)count * sizeof *rows);
    if (!rows) return pcFail(PC_ERROR_MEMORY, "no memory for %d half-spaces", count);
    double* d = rows + 4 * (size_t)count;
    pcStatus status = normaliseRows(abcd, count, rows, d);
    pcShape* made = NULL;
    if (status == PC_OK) status = bodyFromRows(rows, d, count, centreOrNull, &made);
    free(rows);
    if (status == PC_OK) status = checkCorners(made, abcd, count);
    if (status == PC_OK)
        *out = made;
    else
        pcShapeFree(made);
    return status;
}
