/* Packing a mesh into an immutable shape, and what every shape can be asked. */
#include "shape/shape.h"

#include <stdlib.h>
#include <string.h>

#include "base/dd.h"
#include "base/status.h"
#include "shape/triangles.h"

/* A facet this close to the centre, relative to the size of the body, has lost its side to rounding. */
static const double CENTRE_TOLERANCE = 8.0 * PC_ROUND;

pcShape* pcShapeNew(pcShapeKind kind)
{
    static _Atomic uint64_t created;
    pcShape* s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->kind = kind;
    atomic_init(&s->owners, 1);
    s->id = atomic_fetch_add(&created, 1u) + 1u;
    s->bytes = sizeof *s;
    return s;
}

pcShape* pcShapeShare(const pcShape* shape)
{
    pcShape* s = (pcShape*)(uintptr_t)shape; /* the count of owners is not part of what is immutable */
    if (s) atomic_fetch_add(&s->owners, 1);
    return s;
}

void pcShapeFree(pcShape* s)
{
    if (!s || atomic_fetch_sub(&s->owners, 1) > 1) return;
    pcTrianglesFree(s->triangles);
    free(s->vertex); /* the one block that holds every array */
    free(s->climb);
    free(s->table);
    free(s);
}

void pcMeshFree(pcMesh* mesh)
{
    free(mesh->vertex);
    free(mesh->ringStart);
    free(mesh->ringVertex);
    *mesh = (pcMesh){0};
}

/* ---- one block of memory, cut into arrays ---- */

typedef struct Cutter {
    char* base;
    size_t used;
} Cutter;

/* With a NULL base only counts. */
static void* cut(Cutter* c, size_t count, size_t size)
{
    void* at = c->base ? c->base + c->used : NULL;
    c->used += (count * size + 31u) & ~(size_t)31u;
    return at;
}

static void cutArrays(pcShape* s, Cutter* c, size_t corners)
{
    size_t nv = (size_t)s->vertexCount, nf = (size_t)s->facetCount, padded = (size_t)s->paddedCount;
    s->vertex = cut(c, 3 * nv, sizeof(double));
    s->k = cut(c, 4 * nv, sizeof(double));
    s->kx = cut(c, padded, sizeof(double));
    s->ky = cut(c, padded, sizeof(double));
    s->kz = cut(c, padded, sizeof(double));
    s->normal = cut(c, nf, sizeof(v3));
    s->offset = cut(c, nf, sizeof(double));
    s->edge = cut(c, corners / 2, sizeof(pcEdge));
    s->ringStart = cut(c, nf + 1, sizeof(int));
    s->ringVertex = cut(c, corners, sizeof(int));
    s->ringEdge = cut(c, corners, sizeof(int));
    s->ringFacet = cut(c, corners, sizeof(int));
    s->fanStart = cut(c, nv + 1, sizeof(int));
    s->fanVertex = cut(c, corners, sizeof(int));
    s->fanEdge = cut(c, corners, sizeof(int));
    s->fanFacet = cut(c, corners, sizeof(int));
}

static pcStatus allocateArrays(pcShape* s, const pcMesh* mesh)
{
    size_t corners = (size_t)mesh->ringStart[mesh->facetCount];
    s->vertexCount = mesh->vertexCount;
    s->facetCount = mesh->facetCount;
    s->edgeCount = (int)(corners / 2);
    s->paddedCount = (mesh->vertexCount + 3) & ~3;
    Cutter measure = {NULL, 0};
    cutArrays(s, &measure, corners);
    Cutter cutter = {calloc(1, measure.used), 0};
    if (!cutter.base) return pcFail(PC_ERROR_MEMORY, "no memory for a shape of %d vertices", mesh->vertexCount);
    cutArrays(s, &cutter, corners);
    s->bytes += measure.used;
    memcpy(s->vertex, mesh->vertex, 3 * (size_t)mesh->vertexCount * sizeof(double));
    memcpy(s->ringStart, mesh->ringStart, ((size_t)mesh->facetCount + 1) * sizeof(int));
    memcpy(s->ringVertex, mesh->ringVertex, corners * sizeof(int));
    return PC_OK;
}

/* ---- topology ---- */

/* One side of an edge: the corner slot that it leaves from. */
typedef struct HalfEdge {
    int low, high; /* its vertices, ordered */
    int slot, facet;
    bool forward; /* runs from low to high */
} HalfEdge;

static int compareHalfEdges(const void* a, const void* b)
{
    const HalfEdge *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return (int)y->forward - (int)x->forward;
}

static void listHalfEdges(const pcShape* s, HalfEdge* half)
{
    for (int f = 0; f < s->facetCount; f++)
        for (int slot = s->ringStart[f]; slot < s->ringStart[f + 1]; slot++) {
            int next = slot + 1 < s->ringStart[f + 1] ? slot + 1 : s->ringStart[f];
            int u = s->ringVertex[slot], v = s->ringVertex[next];
            half[slot] = (HalfEdge){u < v ? u : v, u < v ? v : u, slot, f, u < v};
        }
}

/* Pairs the two sides of every edge; a closed surface has exactly one of each direction. */
static bool joinHalfEdges(pcShape* s, const HalfEdge* half)
{
    for (int e = 0; e < s->edgeCount; e++) {
        const HalfEdge *a = half + 2 * e, *b = a + 1;
        if (a->low != b->low || a->high != b->high || !a->forward || b->forward) return false;
        s->edge[e] = (pcEdge){{a->low, a->high}, {a->facet, b->facet}};
        s->ringEdge[a->slot] = s->ringEdge[b->slot] = e;
        s->ringFacet[a->slot] = b->facet, s->ringFacet[b->slot] = a->facet;
    }
    return true;
}

/* Every corner slot of a facet gives its vertex one edge (the one that leaves it) and one facet. */
static void buildFans(pcShape* s)
{
    int corners = s->ringStart[s->facetCount];
    for (int slot = 0; slot < corners; slot++) s->fanStart[s->ringVertex[slot] + 1]++;
    for (int i = 0; i < s->vertexCount; i++) s->fanStart[i + 1] += s->fanStart[i];
    for (int f = 0; f < s->facetCount; f++)
        for (int slot = s->ringStart[f]; slot < s->ringStart[f + 1]; slot++) {
            int next = slot + 1 < s->ringStart[f + 1] ? slot + 1 : s->ringStart[f];
            int at = s->fanStart[s->ringVertex[slot]]++;
            s->fanVertex[at] = s->ringVertex[next];
            s->fanEdge[at] = s->ringEdge[slot];
            s->fanFacet[at] = f;
        }
    for (int i = s->vertexCount; i > 0; i--) s->fanStart[i] = s->fanStart[i - 1];
    s->fanStart[0] = 0;
}

static pcStatus buildTopology(pcShape* s)
{
    int corners = s->ringStart[s->facetCount];
    if (corners % 2 != 0 || s->vertexCount - corners / 2 + s->facetCount != 2)
        return pcFail(PC_ERROR_FLAT, "the hull is not a closed surface: the points lie in a plane to within rounding");
    HalfEdge* half = malloc((size_t)corners * sizeof *half);
    if (!half) return pcFail(PC_ERROR_MEMORY, "no memory for the edges of a shape of %d vertices", s->vertexCount);
    listHalfEdges(s, half);
    qsort(half, (size_t)corners, sizeof *half, compareHalfEdges);
    bool closed = joinHalfEdges(s, half);
    free(half);
    if (!closed) return pcFail(PC_ERROR_FLAT, "the hull is not a closed surface: the points lie in a plane to within rounding");
    buildFans(s);
    return PC_OK;
}

/* ---- geometry ---- */

/* Doubled precision throughout: the volume of a needle of thickness 1e-9 is 1e-18 of the products it is a difference of. */

static dd3 difference(const pcShape* s, int vertex, v3 origin) { return dd3Difference(pcShapeVertex(s, vertex), origin); }

/* Sums of tetrahedra from one vertex, exact for any closed surface. */
static void measureVolume(pcShape* s)
{
    v3 origin = pcShapeVertex(s, 0);
    dd six = ddOf(0.0);
    dd3 moment = dd3Of(v3Make(0.0, 0.0, 0.0));
    for (int f = 0; f < s->facetCount; f++) {
        dd3 a = difference(s, s->ringVertex[s->ringStart[f]], origin);
        for (int slot = s->ringStart[f] + 1; slot + 1 < s->ringStart[f + 1]; slot++) {
            dd3 b = difference(s, s->ringVertex[slot], origin), c = difference(s, s->ringVertex[slot + 1], origin);
            dd part = dd3Dot(a, dd3Cross(b, c));
            six = ddAdd(six, part);
            moment = dd3Add(moment, dd3Scale(part, dd3Add(a, dd3Add(b, c))));
        }
    }
    s->volume = ddRound(six) / 6.0;
    s->centroid = v3Add(origin, dd3Round(dd3Scale(ddDiv(ddOf(0.25), six), moment)));
}

/* Newell's normal, from differences to the first corner. */
static v3 facetNormal(const pcShape* s, int f)
{
    v3 origin = pcShapeVertex(s, s->ringVertex[s->ringStart[f]]);
    dd3 area = dd3Of(v3Make(0.0, 0.0, 0.0));
    for (int slot = s->ringStart[f] + 1; slot + 1 < s->ringStart[f + 1]; slot++)
        area = dd3Add(area, dd3Cross(difference(s, s->ringVertex[slot], origin), difference(s, s->ringVertex[slot + 1], origin)));
    v3 sum = dd3Round(area);
    sum = v3Scale(1.0 / v3Max(sum), sum);
    return v3Scale(1.0 / v3Norm(sum), sum);
}

static double facetOffset(const pcShape* s, int f, v3 a)
{
    double b = -HUGE_VAL;
    for (int slot = s->ringStart[f]; slot < s->ringStart[f + 1]; slot++)
        b = larger(b, ddRound(dd3Dot(dd3Of(a), difference(s, s->ringVertex[slot], s->centre))));
    return b;
}

/* False if a facet has no area, and so no plane. */
static bool measureFacets(pcShape* s)
{
    for (int f = 0; f < s->facetCount; f++) {
        v3 a = facetNormal(s, f);
        double b = facetOffset(s, f, a);
        if (!v3Finite(a) || !isfinite(b)) return false;
        s->normal[f] = a, s->offset[f] = b;
        s->inradius = f == 0 ? b : smaller(s->inradius, b);
        int corners = s->ringStart[f + 1] - s->ringStart[f];
        if (corners > s->largestFacet) s->largestFacet = corners;
    }
    return true;
}

/* Coordinates are rounded, so a hull is convex only to a few roundings of them; a climb can stop short at every corner of a facet. */
static void measureRoughness(pcShape* s)
{
    double coordinate = 0.0;
    for (int i = 0; i < 3 * s->vertexCount; i++) coordinate = larger(coordinate, fabs(s->vertex[i]));
    s->roughness = PC_ROUND * (8.0 + 2.0 * s->largestFacet) * (coordinate + s->outradius);
}

/* The simplex method starts from three points of the inscribed ball around the ray of the query. The normal where that ray leaves the body
 * is at most acos(inradius / outradius) away from it, so about there the points stand: close around the ray of a round body of many
 * vertices, where wide ones would have to be replaced again and again; but no wider than an orthonormal triad. */
void pcPlaceInnerPoints(pcShape* s)
{
    double cosine = fmin(fmax(s->inradius / s->outradius, 0.57735026918962576), 0.9999), sine = sqrt(1.0 - cosine * cosine);
    s->innerAlong = 1.0 / (3.0 * s->inradius * cosine), s->innerAcross = 2.0 / (3.0 * s->inradius * sine);
}

static pcStatus placeCentre(pcShape* s, const double* centreOrNull)
{
    s->centre = centreOrNull ? v3Load(centreOrNull) : s->centroid;
    s->centreSize = v3Size(s->centre), s->centred = s->centreSize == 0.0;
    for (int i = 0; i < s->paddedCount; i++) {
        v3 k = v3Sub(pcShapeVertex(s, i < s->vertexCount ? i : 0), s->centre);
        s->kx[i] = k.x, s->ky[i] = k.y, s->kz[i] = k.z;
        if (i < s->vertexCount) v3Store(s->k + 4 * (size_t)i, k);
        s->outradius = fmax(s->outradius, v3Norm(k));
    }
    if (!measureFacets(s)) return pcFail(PC_ERROR_FLAT, "a facet of the hull has no area: the points are flat to within rounding");
    measureRoughness(s);
    if (!(s->inradius > CENTRE_TOLERANCE * s->outradius))
        return pcFail(PC_ERROR_CENTRE, "the centre (%g, %g, %g) is not strictly inside the shape", s->centre.x, s->centre.y, s->centre.z);
    pcPlaceInnerPoints(s);
    return PC_OK;
}

/* ---- support tables ---- */

static void fillClimbBlocks(pcShape* s)
{
    for (int i = 0; i < s->vertexCount; i++) {
        int first = s->fanStart[i], count = s->fanStart[i + 1] - first;
        for (int n = 0; n < 4 * (s->climbStart[i + 1] - s->climbStart[i]); n++) {
            pcClimbBlock* block = s->climb + s->climbStart[i] + n / 4;
            int neighbour = s->fanVertex[first + (n < count ? n : count - 1)];
            block->x[n % 4] = s->kx[neighbour], block->y[n % 4] = s->ky[neighbour], block->z[n % 4] = s->kz[neighbour];
            block->index[n % 4] = neighbour;
        }
    }
}

static v3 cellDirection(int side, int face, int i, int j)
{
    double u = (2 * i + 1 - side) / (double)side, v = (2 * j + 1 - side) / (double)side, w = face % 2 == 0 ? 1.0 : -1.0;
    return face / 2 == 0 ? v3Make(w, u, v) : face / 2 == 1 ? v3Make(v, w, u) : v3Make(u, v, w);
}

static void fillTable(pcShape* s)
{
    int side = s->tableSide, last = 0;
    for (int cell = 0; cell < 6 * side * side; cell++) {
        v3 d = cellDirection(side, cell / (side * side), cell / side % side, cell % side);
        last = pcSupportClimb(s, d, pcSupportAt(s, d, last)).vertex;
        s->table[cell] = last;
    }
}

/* Climbing blocks and the table of start vertices: about four cells for each vertex, so that the cell names the farthest vertex or a
 * neighbour of it. */
static pcStatus buildSupport(pcShape* s)
{
    int blocks = 0;
    if (s->vertexCount <= PC_SCAN_LIMIT) return PC_OK;
    for (int i = 0; i < s->vertexCount; i++) blocks += (s->fanStart[i + 1] - s->fanStart[i] + 3) / 4;
    size_t blockBytes = (size_t)blocks * sizeof(pcClimbBlock), startBytes = ((size_t)s->vertexCount + 1) * sizeof(int);
    s->tableSide = (int)fmin(ceil(sqrt(s->vertexCount / 1.5)), 96.0);
    size_t tableBytes = 6u * (size_t)s->tableSide * (size_t)s->tableSide * sizeof(int);
    s->climb = malloc(blockBytes + startBytes);
    s->table = malloc(tableBytes);
    if (!s->climb || !s->table) return pcFail(PC_ERROR_MEMORY, "no memory for the support tables of %d vertices", s->vertexCount);
    s->bytes += blockBytes + startBytes + tableBytes;
    s->climbStart = (int*)(void*)(s->climb + blocks);
    s->climbStart[0] = 0;
    for (int i = 0; i < s->vertexCount; i++) s->climbStart[i + 1] = s->climbStart[i] + (s->fanStart[i + 1] - s->fanStart[i] + 3) / 4;
    fillClimbBlocks(s);
    fillTable(s);
    return PC_OK;
}

pcStatus pcShapeFromMesh(const pcMesh* mesh, pcShapeKind kind, const double* centreOrNull, pcShape** out)
{
    pcShape* s = pcShapeNew(kind);
    if (!s) return pcFail(PC_ERROR_MEMORY, "no memory for a shape");
    pcStatus status = allocateArrays(s, mesh);
    if (status == PC_OK) status = buildTopology(s);
    if (status == PC_OK) measureVolume(s);
    if (status == PC_OK && !(s->volume > 0.0)) status = pcFail(PC_ERROR_FLAT, "the points enclose no volume");
    if (status == PC_OK) status = placeCentre(s, centreOrNull);
    if (status == PC_OK) status = buildSupport(s);
    if (status == PC_OK)
        *out = s;
    else
        pcShapeFree(s);
    return status;
}

/* ---- questions ---- */

static bool polyhedronHolds(const pcShape* s, v3 k, double depth)
{
    for (int i = 0; i < s->facetCount; i++)
        if (v3Dot(s->normal[i], k) > s->offset[i] - depth) return false;
    return true;
}

static bool ellipsoidHolds(v3 semi, v3 k, double depth)
{
    v3 a = v3Make(semi.x - depth, semi.y - depth, semi.z - depth), part = v3Make(k.x / a.x, k.y / a.y, k.z / a.z);
    return a.x > 0.0 && a.y > 0.0 && a.z > 0.0 && v3Dot(part, part) <= 1.0;
}

bool pcShapeHolds(const pcShape* s, v3 x, double depth)
{
    v3 k = v3Sub(x, s->centre);
    double half = s->end[1][2], past = larger(0.0, fabs(k.z) - half); /* beyond the segment of a capsule */
    switch (s->kind) {
    case PC_SHAPE_POLYHEDRON:
    case PC_SHAPE_BOX: return polyhedronHolds(s, k, depth);
    case PC_SHAPE_HALFSPACE: return v3Dot(s->planeNormal, x) <= s->planeOffset - depth;
    case PC_SHAPE_ELLIPSOID: return ellipsoidHolds(s->semi, k, depth);
    case PC_SHAPE_SPHERE:
    case PC_SHAPE_CAPSULE: return v3Norm(v3Make(k.x, k.y, past)) <= s->radius - depth;
    case PC_SHAPE_CYLINDER: return hypot(k.x, k.y) <= s->radius - depth && fabs(k.z) <= half - depth;
    case PC_SHAPE_CONTAINER: return v3Norm(k) >= s->radius + depth;
    case PC_SHAPE_SUPPORT: return v3Norm(k) <= s->inradius - depth;
    case PC_SHAPE_MESH: break;
    }
    return false;
}

pcStatus pcShapeDescribe(const pcShape* s, pcShapeInfo* out)
{
    if (!s || !out) return pcFail(PC_ERROR_ARGUMENT, "pcShapeDescribe needs a shape and a place for the answer");
    *out = (pcShapeInfo){.kind = s->kind,
                         .vertices = s->vertexCount,
                         .edges = s->edgeCount,
                         .facets = s->facetCount,
                         .bytes = s->bytes,
                         .volume = s->volume,
                         .inradius = s->inradius,
                         .outradius = s->outradius};
    v3Store(out->centroid, s->centroid);
    v3Store(out->centre, s->centre);
    v3Store(out->semi, s->kind == PC_SHAPE_CONTAINER ? v3Make(s->radius, s->radius, s->radius) : s->semi);
    out->length = s->coreCount > 1 ? 2.0 * s->end[1][2] : 0.0;
    return PC_OK;
}

const double* pcShapeVertices(const pcShape* s, int* count)
{
    if (count) *count = s ? s->vertexCount : 0;
    return s ? s->vertex : NULL;
}

pcStatus pcShapeFacet(const pcShape* s, int index, pcFacet* out)
{
    if (!s || !out) return pcFail(PC_ERROR_ARGUMENT, "pcShapeFacet needs a shape and a place for the answer");
    if (index < 0 || index >= s->facetCount)
        return pcFail(PC_ERROR_ARGUMENT, "facet %d asked of a shape with %d facets", index, s->facetCount);
    int first = s->ringStart[index];
    *out = (pcFacet){.count = s->ringStart[index + 1] - first, .vertex = s->ringVertex + first, .neighbour = s->ringFacet + first};
    v3Store(out->plane, s->normal[index]);
    out->plane[3] = s->offset[index] + v3Dot(s->normal[index], s->centre);
    return PC_OK;
}
