/* From a soup of triangles to a surface: corners at the same place become one, edges know their two triangles, faces their plane. */
#include "shape/triangles.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* A triangle whose height is less than this part of its longest side has no plane that could be trusted. */
static const double THIN = 1e-9;
/* Sine of the angle up to which an edge is flat. What counts as flat is not felt as an edge: of a plate as long as the surface it may
 * lift a corner by this part of its length. */
static const double FLAT = 1e-6;
/* How far triangles of one face may leave its plane, of the size of the mesh. */
static const double COPLANAR = 1e-12;

void pcTrianglesFree(pcTriangles* t)
{
    if (!t) return;
    void* all[] = {t->vertex, t->triangle, t->edge, t->faceNormal, t->faceOffset, t->fanStart, t->fanVertex, t->node};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    pcShapeFree(t->blade);
    free(t);
}

/* ---- corners ---- */

typedef struct Corner {
    v3 at;
    int index; /* of the caller */
} Corner;

static int compareNumbers(double a, double b) { return a < b ? -1 : a > b; }

static int compareCorners(const void* a, const void* b)
{
    const Corner *p = a, *q = b;
    int order = compareNumbers(p->at.x, q->at.x);
    if (order == 0) order = compareNumbers(p->at.y, q->at.y);
    return order != 0 ? order : compareNumbers(p->at.z, q->at.z);
}

/* `to[i]`: the vertex that point i of the caller has become. */
static bool weld(pcTriangles* t, const double* xyz, int count, int* to)
{
    Corner* corner = malloc((size_t)count * sizeof *corner);
    t->vertex = malloc((size_t)count * sizeof *t->vertex);
    if (!corner || !t->vertex) {
        free(corner);
        return false;
    }
    for (int i = 0; i < count; i++) corner[i] = (Corner){v3Load(xyz + 3 * (size_t)i), i};
    qsort(corner, (size_t)count, sizeof *corner, compareCorners);
    for (int i = 0; i < count; i++) {
        bool first = i == 0 || compareCorners(corner + i - 1, corner + i) != 0;
        if (first) t->vertex[t->vertexCount++] = corner[i].at;
        to[corner[i].index] = t->vertexCount - 1;
    }
    free(corner);
    return true;
}

/* ---- triangles ---- */

static v3 crossOf(const pcTriangles* t, const int v[3])
{
    return v3Cross(v3Sub(t->vertex[v[1]], t->vertex[v[0]]), v3Sub(t->vertex[v[2]], t->vertex[v[0]]));
}

static bool hasPlane(const pcTriangles* t, const int v[3], v3* normal)
{
    v3 cross = crossOf(t, v);
    double longest = 0.0, area = v3Norm(cross);
    for (int i = 0; i < 3; i++) longest = larger(longest, v3Norm(v3Sub(t->vertex[v[(i + 1) % 3]], t->vertex[v[i]])));
    *normal = v3Scale(1.0 / area, cross);
    return area > THIN * longest * longest;
}

/* What is no triangle, a line or a point, is left out: its neighbours have borders there. */
static bool listTriangles(pcTriangles* t, const int* index, int count, const int* to)
{
    t->triangle = malloc((size_t)count * sizeof *t->triangle);
    if (!t->triangle) return false;
    for (int i = 0; i < count; i++) {
        pcTriangle one = {.face = -1, .source = i};
        for (int k = 0; k < 3; k++) one.vertex[k] = to[index[3 * (size_t)i + (size_t)k]];
        if (hasPlane(t, one.vertex, &one.normal)) t->triangle[t->triangleCount++] = one;
    }
    return true;
}

/* ---- edges ---- */

typedef struct Half {
    int low, high, triangle, slot;
    bool forward;
} Half;

static int compareHalves(const void* a, const void* b)
{
    const Half *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    if (x->forward != y->forward) return (int)y->forward - (int)x->forward;
    return x->triangle - y->triangle;
}

static Half halfOf(const pcTriangles* t, int triangle, int slot)
{
    int u = t->triangle[triangle].vertex[slot], v = t->triangle[triangle].vertex[(slot + 1) % 3];
    return (Half){u < v ? u : v, u < v ? v : u, triangle, slot, u < v};
}

static int cornerAcross(const pcTriangles* t, int triangle, const pcMeshEdge* e)
{
    const int* v = t->triangle[triangle].vertex;
    for (int k = 0; k < 3; k++)
        if (v[k] != e->vertex[0] && v[k] != e->vertex[1]) return v[k];
    return v[0];
}

/* By the height of the second triangle's far corner over the plane of the first, relative to its distance from the edge. */
static pcCrease creaseOf(const pcTriangles* t, const pcMeshEdge* e)
{
    if (e->triangle[1] < 0) return PC_CREASE_BORDER;
    const pcTriangle *a = t->triangle + e->triangle[0], *b = t->triangle + e->triangle[1];
    v3 p = t->vertex[e->vertex[0]], along = v3Sub(t->vertex[e->vertex[1]], p);
    v3 far = v3Sub(t->vertex[cornerAcross(t, e->triangle[1], e)], p);
    double width = v3Norm(v3Cross(along, far)) / v3Norm(along), height = v3Dot(a->normal, far);
    if (fabs(height) <= FLAT * width) return v3Dot(a->normal, b->normal) > 0.0 ? PC_CREASE_FLAT : PC_CREASE_RIDGE; /* or folded over */
    return height < 0.0 ? PC_CREASE_RIDGE : PC_CREASE_HOLLOW;
}

static void addEdge(pcTriangles* t, const Half* a, const Half* b)
{
    pcMeshEdge* e = t->edge + t->edgeCount;
    *e = (pcMeshEdge){{a->forward ? a->low : a->high, a->forward ? a->high : a->low}, {a->triangle, b ? b->triangle : -1}, PC_CREASE_FLAT};
    e->crease = creaseOf(t, e);
    t->triangle[a->triangle].edge[a->slot] = t->edgeCount;
    if (b) t->triangle[b->triangle].edge[b->slot] = t->edgeCount;
    t->edgeCount++;
}

/* An edge has its two triangles, wound alike; where there are more, or they are not wound alike, each has a border of its own. */
static bool listEdges(pcTriangles* t)
{
    int count = 3 * t->triangleCount;
    Half* half = malloc((size_t)count * sizeof *half);
    t->edge = malloc((size_t)count * sizeof *t->edge);
    if (!half || !t->edge) {
        free(half);
        return false;
    }
    for (int i = 0; i < count; i++) half[i] = halfOf(t, i / 3, i % 3);
    qsort(half, (size_t)count, sizeof *half, compareHalves);
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && half[end].low == half[i].low && half[end].high == half[i].high;) end++;
        bool joined = end - i == 2 && half[i].forward != half[i + 1].forward;
        if (joined) addEdge(t, half + i, half + i + 1);
        for (int k = i; k < end && !joined; k++) addEdge(t, half + k, NULL);
    }
    free(half);
    return true;
}

static bool listFans(pcTriangles* t)
{
    t->fanStart = calloc((size_t)t->vertexCount + 2, sizeof *t->fanStart);
    t->fanVertex = malloc(2 * (size_t)t->edgeCount * sizeof *t->fanVertex);
    if (!t->fanStart || !t->fanVertex) return false;
    int* place = t->fanStart + 1; /* place[i] runs over the fan of vertex i, and ends where the next one starts */
    for (int e = 0; e < t->edgeCount; e++)
        for (int k = 0; k < 2; k++) place[t->edge[e].vertex[k] + 1]++;
    for (int i = 0; i < t->vertexCount; i++) place[i + 1] += place[i];
    for (int e = 0; e < t->edgeCount; e++)
        for (int k = 0; k < 2; k++) t->fanVertex[place[t->edge[e].vertex[k]]++] = t->edge[e].vertex[1 - k];
    return true;
}

/* ---- faces ---- */

static bool liesInFace(const pcTriangles* t, int triangle, int face)
{
    for (int k = 0; k < 3; k++)
        if (!(fabs(v3Dot(t->faceNormal[face], pcTriangleCorner(t, triangle, k)) - t->faceOffset[face]) <= COPLANAR * t->size)) return false;
    return true;
}

static void floodFace(pcTriangles* t, int seed, int* stack)
{
    int face = t->faceCount++, depth = 0;
    t->faceNormal[face] = t->triangle[seed].normal;
    t->faceOffset[face] = v3Dot(t->triangle[seed].normal, pcTriangleCorner(t, seed, 0));
    t->triangle[seed].face = face;
    for (stack[depth++] = seed; depth > 0;) {
        const pcTriangle* at = t->triangle + stack[--depth];
        for (int k = 0; k < 3; k++) {
            const pcMeshEdge* e = t->edge + at->edge[k];
            if (e->crease != PC_CREASE_FLAT) continue;
            int other = at == t->triangle + e->triangle[0] ? e->triangle[1] : e->triangle[0];
            if (t->triangle[other].face >= 0 || !liesInFace(t, other, face)) continue;
            t->triangle[other].face = face;
            stack[depth++] = other;
        }
    }
}

static bool listFaces(pcTriangles* t)
{
    size_t count = (size_t)t->triangleCount;
    int* stack = malloc(count * sizeof *stack);
    t->faceNormal = malloc(count * sizeof *t->faceNormal), t->faceOffset = malloc(count * sizeof *t->faceOffset);
    bool good = stack && t->faceNormal && t->faceOffset;
    for (int i = 0; good && i < t->triangleCount; i++)
        if (t->triangle[i].face < 0) floodFace(t, i, stack);
    free(stack);
    return good;
}

/* ---- the tree of boxes ---- */

typedef struct Leaf {
    v3 low, high, middle;
    int triangle;
} Leaf;

static v3 lower(v3 a, v3 b) { return v3Make(smaller(a.x, b.x), smaller(a.y, b.y), smaller(a.z, b.z)); }
static v3 upper(v3 a, v3 b) { return v3Make(larger(a.x, b.x), larger(a.y, b.y), larger(a.z, b.z)); }
static double along(v3 a, int axis) { return axis == 0 ? a.x : axis == 1 ? a.y : a.z; }

static Leaf leafOf(const pcTriangles* t, int triangle)
{
    v3 a = pcTriangleCorner(t, triangle, 0), b = pcTriangleCorner(t, triangle, 1), c = pcTriangleCorner(t, triangle, 2);
    Leaf leaf = {lower(a, lower(b, c)), upper(a, upper(b, c)), {0.0, 0.0, 0.0}, triangle};
    leaf.middle = v3Scale(0.5, v3Add(leaf.low, leaf.high));
    return leaf;
}

/* Those before `split` along the widest axis of the middles come first; how many they are. Where all are on one side: half of them. */
static int divide(Leaf* leaf, int count)
{
    v3 low = leaf->middle, high = leaf->middle;
    for (int i = 1; i < count; i++) low = lower(low, leaf[i].middle), high = upper(high, leaf[i].middle);
    v3 wide = v3Sub(high, low);
    int axis = wide.x >= wide.y && wide.x >= wide.z ? 0 : wide.y >= wide.z ? 1 : 2, first = 0;
    double split = 0.5 * (along(low, axis) + along(high, axis));
    for (int i = 0; i < count; i++)
        if (along(leaf[i].middle, axis) < split) {
            Leaf keep = leaf[i];
            leaf[i] = leaf[first], leaf[first++] = keep;
        }
    return first > 0 && first < count ? first : count / 2;
}

/* The larger part comes last and takes the turn of its parent: what is left for recursion has at most half. */
static void buildTree(pcTriangles* t, Leaf* leaf, int count)
{
    for (;;) {
        pcMeshNode* node = t->node + t->nodeCount++;
        *node = (pcMeshNode){leaf->low, leaf->high, t->nodeCount - 1 + 2 * count - 1, count == 1 ? leaf->triangle : -1};
        for (int i = 1; i < count; i++) node->low = lower(node->low, leaf[i].low), node->high = upper(node->high, leaf[i].high);
        if (count == 1) return;
        int first = divide(leaf, count), rest = count - first;
        if (first <= rest) {
            buildTree(t, leaf, first);
            leaf += first, count = rest;
        } else {
            buildTree(t, leaf + first, rest);
            count = first;
        }
    }
}

static bool listNodes(pcTriangles* t)
{
    size_t count = (size_t)t->triangleCount;
    Leaf* leaf = malloc(count * sizeof *leaf);
    t->node = malloc(2 * count * sizeof *t->node);
    bool good = leaf && t->node;
    for (int i = 0; good && i < t->triangleCount; i++) leaf[i] = leafOf(t, i);
    if (good) buildTree(t, leaf, t->triangleCount);
    free(leaf);
    return good;
}

/* ---- questions ---- */

v3 pcTriangleNearest(const pcTriangles* t, int triangle, v3 x)
{
    v3 n = t->triangle[triangle].normal, best = {0.0, 0.0, 0.0},
       foot = v3AddScaled(x, -v3Dot(n, v3Sub(x, pcTriangleCorner(t, triangle, 0))), n);
    double least = HUGE_VAL;
    bool inside = true;
    for (int slot = 0; slot < 3; slot++) {
        v3 p = pcTriangleCorner(t, triangle, slot), along = v3Sub(pcTriangleCorner(t, triangle, (slot + 1) % 3), p);
        double at = v3Dot(along, v3Sub(x, p)) / v3Dot(along, along);
        v3 y = v3AddScaled(p, smaller(larger(at, 0.0), 1.0), along);
        double apart = v3Norm(v3Sub(x, y));
        inside &= v3Dot(v3Cross(along, n), v3Sub(foot, p)) <= 0.0;
        if (apart < least) least = apart, best = y;
    }
    return inside ? foot : best;
}

static double apartFromBox(const pcMeshNode* node, v3 x)
{
    v3 out = upper(upper(v3Sub(node->low, x), v3Sub(x, node->high)), v3Make(0.0, 0.0, 0.0));
    return v3Norm(out);
}

int pcTrianglesNearest(const pcTriangles* t, v3 x)
{
    double least = HUGE_VAL;
    int found = -1;
    for (int at = 0; at < t->nodeCount;) {
        const pcMeshNode* node = t->node + at;
        bool near = apartFromBox(node, x) < least;
        double apart = near && node->triangle >= 0 ? v3Norm(v3Sub(x, pcTriangleNearest(t, node->triangle, x))) : HUGE_VAL;
        if (apart < least) least = apart, found = node->triangle;
        at = near ? at + 1 : node->next;
    }
    return found;
}

/* ---- the shape ---- */

static pcStatus checkInput(const double* xyz, int count, const int* index, int triangles)
{
    if (count < 3 || triangles < 1 || triangles > (1 << 26))
        return pcFail(PC_ERROR_ARGUMENT, "a mesh of %d points and %d triangles: at least 3 and 1, and at most 2^26 triangles", count,
                      triangles);
    for (int i = 0; i < count; i++)
        if (!v3Finite(v3Load(xyz + 3 * (size_t)i))) return pcFail(PC_ERROR_NOT_FINITE, "point %d of the mesh is not finite", i);
    for (size_t i = 0; i < 3 * (size_t)triangles; i++)
        if (index[i] < 0 || index[i] >= count)
            return pcFail(PC_ERROR_ARGUMENT, "triangle %d of the mesh names point %d of %d", (int)(i / 3), index[i], count);
    return PC_OK;
}

static pcStatus build(pcTriangles* t, const double* xyz, int count, const int* index, int triangles)
{
    static const double tetrahedron[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    int* to = malloc((size_t)count * sizeof *to);
    bool good = to && weld(t, xyz, count, to) && listTriangles(t, index, triangles, to);
    free(to);
    if (good && t->triangleCount == 0) return pcFail(PC_ERROR_FLAT, "no triangle of the mesh has an area");
    for (int i = 0; good && i < t->vertexCount; i++) t->size = larger(t->size, v3Max(t->vertex[i]));
    good = good && listEdges(t) && listFans(t) && listFaces(t) && listNodes(t);
    return good ? pcShapeFromPoints(tetrahedron, 4, NULL, &t->blade)
                : pcFail(PC_ERROR_MEMORY, "no memory for a mesh of %d triangles", triangles);
}

static size_t bytesOf(const pcTriangles* t)
{
    return sizeof *t + (size_t)t->vertexCount * (sizeof(v3) + sizeof(int)) + (size_t)t->triangleCount * (sizeof *t->triangle + sizeof(v3)) +
           (size_t)t->edgeCount * (sizeof *t->edge + 2 * sizeof(int)) + (size_t)t->nodeCount * sizeof *t->node;
}

static void placeMesh(pcShape* s)
{
    const pcTriangles* t = s->triangles;
    s->centre = s->centroid = v3Scale(0.5, v3Add(t->node->low, t->node->high));
    s->centreSize = v3Size(s->centre), s->centred = s->centreSize == 0.0;
    s->half = v3Scale(0.5, v3Sub(t->node->high, t->node->low));
    s->outradius = v3Norm(s->half), s->volume = NAN;
    s->bytes += bytesOf(t);
}

pcStatus pcShapeMesh(const double* xyz, int pointCount, const int* triangles, int triangleCount, pcShape** out)
{
    if (!xyz || !triangles || !out) return pcFail(PC_ERROR_ARGUMENT, "pcShapeMesh needs points, triangles and a place for the shape");
    pcStatus status = checkInput(xyz, pointCount, triangles, triangleCount);
    if (status != PC_OK) return status;
    pcShape* s = pcShapeNew(PC_SHAPE_MESH);
    if (s) s->triangles = calloc(1, sizeof *s->triangles);
    if (!s || !s->triangles) {
        pcShapeFree(s);
        return pcFail(PC_ERROR_MEMORY, "no memory for a mesh");
    }
    status = build(s->triangles, xyz, pointCount, triangles, triangleCount);
    if (status == PC_OK) {
        placeMesh(s);
        *out = s;
    } else {
        pcShapeFree(s);
    }
    return status;
}
