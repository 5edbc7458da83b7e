/*
 * Convex hulls by qhull (its reentrant library). Qhull merges facets that are coplanar to within its rounding bound; what comes back is
 * cleaned to rings of corners, counter-clockwise from outside, over the points that really are corners.
 */
#define _POSIX_C_SOURCE 200809L
#include <libqhull_r/qhull_ra.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/dd.h"
#include "base/status.h"
#include "shape/shape.h"

/* Extents below this fraction of the coordinates are rounding, not thickness. */
static const double FLAT = 16.0 * PC_ROUND;

static pcStatus checkPoints(const double* xyz, int count, v3* low, v3* high)
{
    *low = *high = v3Load(xyz);
    for (int i = 0; i < count; i++) {
        v3 p = v3Load(xyz + 3 * (size_t)i);
        if (!v3Finite(p)) return pcFail(PC_ERROR_NOT_FINITE, "point %d (%g, %g, %g) is not finite", i, p.x, p.y, p.z);
        low->x = fmin(low->x, p.x), low->y = fmin(low->y, p.y), low->z = fmin(low->z, p.z);
        high->x = fmax(high->x, p.x), high->y = fmax(high->y, p.y), high->z = fmax(high->z, p.z);
    }
    return PC_OK;
}

/* The power of two that brings an extent near 1: scaling by it rounds nothing. */
static double unitScale(double extent)
{
    int exponent;
    frexp(extent, &exponent);
    return ldexp(1.0, exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent);
}

/* Hulls do not change under affine maps, but qhull's idea of flatness does: each axis is brought to unit length about the middle. */
static pcStatus normalisedCopy(const double* xyz, int count, double** out)
{
    v3 low, high;
    pcStatus status = checkPoints(xyz, count, &low, &high);
    if (status != PC_OK) return status;
    double middle[3] = {0.5 * low.x + 0.5 * high.x, 0.5 * low.y + 0.5 * high.y, 0.5 * low.z + 0.5 * high.z};
    double extent[3] = {high.x - low.x, high.y - low.y, high.z - low.z};
    double reach[3] = {fmax(fabs(low.x), fabs(high.x)), fmax(fabs(low.y), fabs(high.y)), fmax(fabs(low.z), fabs(high.z))};
    for (int axis = 0; axis < 3; axis++)
        if (!(extent[axis] > FLAT * reach[axis]) || !isfinite(extent[axis]))
            return pcFail(PC_ERROR_FLAT, "the points have no extent along %c: they do not span a volume", "xyz"[axis]);
    double* copy = malloc(3 * (size_t)count * sizeof *copy);
    if (!copy) return pcFail(PC_ERROR_MEMORY, "no memory for the hull of %d points", count);
    double scale[3] = {unitScale(extent[0]), unitScale(extent[1]), unitScale(extent[2])};
    for (size_t i = 0; i < 3 * (size_t)count; i++) copy[i] = (xyz[i] - middle[i % 3]) * scale[i % 3];
    *out = copy;
    return PC_OK;
}

/* ---- thin clouds at an angle ---- */

/* Four points that span the cloud: u, v, w from `origin`, of positive volume. */
typedef struct Span {
    v3 origin;
    dd3 u, v, w, vw, wu, uv; /* and their cross products */
    dd volume;
} Span;

static dd3 spanTo(const Span* s, const double* xyz, int i) { return dd3Difference(v3Load(xyz + 3 * (size_t)i), s->origin); }

/* Each the farthest there is: from a point, from a line, from a plane. */
static void spanCloud(const double* xyz, int count, Span* s)
{
    double farthest[3] = {0.0, 0.0, 0.0};
    s->origin = v3Load(xyz), s->u = s->v = s->w = dd3Of(v3Make(0.0, 0.0, 0.0));
    for (int i = 0; i < count; i++) {
        dd3 p = spanTo(s, xyz, i);
        double distance = v3Norm(dd3Round(p));
        if (distance > farthest[0]) farthest[0] = distance, s->u = p;
    }
    for (int i = 0; i < count; i++) {
        dd3 p = spanTo(s, xyz, i);
        double area = v3Norm(dd3Round(dd3Cross(s->u, p)));
        if (area > farthest[1]) farthest[1] = area, s->v = p;
    }
    s->uv = dd3Cross(s->u, s->v), s->volume = ddOf(0.0);
    for (int i = 0; i < count; i++) {
        dd3 p = spanTo(s, xyz, i);
        dd volume = dd3Dot(s->uv, p);
        if (fabs(volume.hi) > farthest[2]) farthest[2] = fabs(volume.hi), s->w = p, s->volume = volume;
    }
    if (s->volume.hi < 0.0) { /* a mirrored cloud would have its rings the wrong way round */
        dd3 swap = s->u;
        s->u = s->v, s->v = swap, s->uv = dd3Cross(s->u, s->v), s->volume = ddNeg(s->volume);
    }
    s->vw = dd3Cross(s->v, s->w), s->wu = dd3Cross(s->w, s->u);
}

/* The cloud in the axes of its span, where no cloud is thin: for what qhull takes for flat because it lies thin across the axes.
 * False if it is flat to within the rounding of its coordinates. */
static bool straighten(const double* xyz, int count, double* points)
{
    Span s;
    double reach = 0.0;
    for (size_t i = 0; i < 3 * (size_t)count; i++) reach = larger(reach, fabs(xyz[i]));
    spanCloud(xyz, count, &s);
    double area = v3Norm(dd3Round(s.uv)), length = larger(v3Norm(dd3Round(s.u)), v3Norm(dd3Round(s.v)));
    if (!(area > 64.0 * PC_ROUND * reach * length) || !(s.volume.hi > 64.0 * PC_ROUND * reach * area)) return false;
    for (int i = 0; i < count; i++) {
        dd3 p = spanTo(&s, xyz, i);
        dd x = ddDiv(dd3Dot(p, s.vw), s.volume), y = ddDiv(dd3Dot(p, s.wu), s.volume), z = ddDiv(dd3Dot(p, s.uv), s.volume);
        v3Store(points + 3 * (size_t)i, v3Make(ddRound(x), ddRound(y), ddRound(z)));
    }
    return true;
}

/* ---- from qhull's facets to rings ---- */

static size_t countCorners(qhT* qh, int* facets)
{
    facetT* facet;
    size_t corners = 0;
    *facets = 0;
    FORALLfacets {
        corners += (size_t)qh_setsize(qh, facet->vertices);
        ++*facets;
    }
    return corners;
}

/* Twice the area vector of a ring of points. */
static v3 ringArea(const double* xyz, const int* ring, int count)
{
    v3 origin = v3Load(xyz + 3 * (size_t)ring[0]), sum = {0};
    for (int i = 1; i + 1 < count; i++)
        sum = v3Add(sum, v3Cross(v3Sub(v3Load(xyz + 3 * (size_t)ring[i]), origin), v3Sub(v3Load(xyz + 3 * (size_t)ring[i + 1]), origin)));
    return sum;
}

static void reverse(int* ring, int count)
{
    for (int i = 0, j = count - 1; i < j; i++, j--) {
        int swap = ring[i];
        ring[i] = ring[j], ring[j] = swap;
    }
}

/* Rings of point numbers, oriented by qhull's outward normals in the normalised axes. */
static void readRings(qhT* qh, const double* points, pcMesh* mesh)
{
    facetT* facet;
    int at = 0, f = 0;
    FORALLfacets {
        int count = 0, *ring = mesh->ringVertex + at;
        setT* corners = qh_facet3vertex(qh, facet);
        vertexT *vertex, **vertexp;
        FOREACHvertex_(corners) ring[count++] = qh_pointid(qh, vertex->point);
        qh_settempfree(qh, &corners);
        if (v3Dot(ringArea(points, ring, count), v3Load(facet->normal)) < 0.0) reverse(ring, count);
        mesh->ringStart[f++] = at;
        at += count;
    }
    mesh->ringStart[f] = at;
}

/* A point on the line between two facets is no corner: it belongs to two facets only. Drops it from both rings. */
static void dropStraightCorners(pcMesh* mesh, const int* facetsAt)
{
    int to = 0, start = 0;
    for (int f = 0; f < mesh->facetCount; f++) {
        int end = mesh->ringStart[f + 1], first = to;
        for (int slot = start; slot < end; slot++)
            if (facetsAt[mesh->ringVertex[slot]] > 2) mesh->ringVertex[to++] = mesh->ringVertex[slot];
        start = end;
        mesh->ringStart[f] = first;
    }
    mesh->ringStart[mesh->facetCount] = to;
}

/* Renumbers the points that are corners 0, 1, 2 … in their given order, and copies their given coordinates. */
static pcStatus keepCorners(pcMesh* mesh, const double* xyz, int count)
{
    int* use = calloc((size_t)count, sizeof *use);
    if (!use) return pcFail(PC_ERROR_MEMORY, "no memory for the hull of %d points", count);
    for (int i = 0; i < mesh->ringStart[mesh->facetCount]; i++) use[mesh->ringVertex[i]]++;
    dropStraightCorners(mesh, use);
    for (int i = 0; i < count; i++) use[i] = use[i] > 2 ? mesh->vertexCount++ : -1;
    mesh->vertex = malloc(3 * (size_t)mesh->vertexCount * sizeof *mesh->vertex + 1);
    if (mesh->vertex)
        for (int i = 0; i < count; i++)
            if (use[i] >= 0) memcpy(mesh->vertex + 3 * (size_t)use[i], xyz + 3 * (size_t)i, 3 * sizeof *xyz);
    for (int i = 0; i < mesh->ringStart[mesh->facetCount]; i++) mesh->ringVertex[i] = use[mesh->ringVertex[i]];
    free(use);
    return mesh->vertex ? PC_OK : pcFail(PC_ERROR_MEMORY, "no memory for the hull of %d points", count);
}

/* What it has allocated stands in `mesh` at every moment. */
static pcStatus meshFromQhull(qhT* qh, const double* points, const double* xyz, int count, pcMesh* mesh)
{
    size_t corners = countCorners(qh, &mesh->facetCount);
    mesh->ringStart = malloc(((size_t)mesh->facetCount + 1) * sizeof *mesh->ringStart);
    mesh->ringVertex = malloc(corners * sizeof *mesh->ringVertex + 1);
    if (!mesh->ringStart || !mesh->ringVertex) return pcFail(PC_ERROR_MEMORY, "no memory for the hull of %d points", count);
    readRings(qh, points, mesh);
    return keepCorners(mesh, xyz, count);
}

/* Outside its own entry points qhull would end the process on an internal error: here it comes back. What it had allocated by then it frees
 * with the rest; the mesh is freed here. */
static pcStatus readGuarded(qhT* qh, const double* points, const double* xyz, int count, pcMesh* out)
{
    pcMesh* volatile mesh = calloc(1, sizeof *mesh);
    pcStatus volatile status = PC_ERROR_INTERNAL;
    if (!mesh) return pcFail(PC_ERROR_MEMORY, "no memory for the hull of %d points", count);
    if (setjmp(qh->errexit) == 0) {
        qh->NOerrexit = False;
        status = meshFromQhull(qh, points, xyz, count, mesh);
    } else {
        status = pcFail(PC_ERROR_INTERNAL, "qhull failed on the facets of %d points", count);
    }
    qh->NOerrexit = True;
    if (status == PC_OK)
        *out = *mesh;
    else
        pcMeshFree(mesh);
    free(mesh);
    return status;
}

/* Qhull speaks through a file: it gets one in memory, so that nothing is printed inside a host. */
static pcStatus runQhull(double* points, const double* xyz, int count, pcMesh* out)
{
    char* words = NULL;
    size_t length = 0;
    FILE* sink = open_memstream(&words, &length);
    if (!sink) return pcFail(PC_ERROR_MEMORY, "no memory for the hull of %d points", count);
    qhT qhull, *qh = &qhull;
    qh_zero(qh, sink);
    char command[] = "qhull";
    int code = qh_new_qhull(qh, 3, count, points, False, command, sink, sink);
    pcStatus status = PC_OK;
    if (code == qh_ERRmem)
        status = pcFail(PC_ERROR_MEMORY, "no memory for the hull of %d points", count);
    else if (code != 0)
        status = PC_ERROR_FLAT; /* in words only if nothing else helps */
    else
        status = readGuarded(qh, points, xyz, count, out);
    int curlong, totlong;
    qh_freeqhull(qh, !qh_ALL);
    qh_memfreeshort(qh, &curlong, &totlong);
    fclose(sink);
    free(words);
    return status;
}

pcStatus pcMeshFromPoints(const double* xyz, int count, pcMesh* out)
{
    double* points = NULL;
    if (!xyz) return pcFail(PC_ERROR_ARGUMENT, "no points were given");
    if (count < 4) return pcFail(PC_ERROR_ARGUMENT, "%d points were given: a polyhedron needs at least 4", count);
    pcStatus status = normalisedCopy(xyz, count, &points);
    if (status == PC_OK) {
        status = runQhull(points, xyz, count, out);
        if (status == PC_ERROR_FLAT && straighten(xyz, count, points)) status = runQhull(points, xyz, count, out);
    }
    if (status == PC_ERROR_FLAT && points)
        pcFail(status, "the points do not span a volume: they lie in a plane or on a line to within rounding");
    free(points);
    return status;
}

pcStatus pcShapeFromPoints(const double* xyz, int count, const double* centreOrNull, pcShape** out)
{
    if (!out) return pcFail(PC_ERROR_ARGUMENT, "pcShapeFromPoints needs a place for the shape");
    if (centreOrNull && !v3Finite(v3Load(centreOrNull))) return pcFail(PC_ERROR_NOT_FINITE, "the centre is not finite");
    pcMesh mesh;
    pcStatus status = pcMeshFromPoints(xyz, count, &mesh);
    if (status != PC_OK) return status;
    status = pcShapeFromMesh(&mesh, PC_SHAPE_POLYHEDRON, centreOrNull, out);
    pcMeshFree(&mesh);
    return status;
}
