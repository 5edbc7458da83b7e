/*
 * Convex shapes from the inside. Everything about a polyhedron is measured from its centre: k = vertex - centre, facet k is
 * { a_k . x <= b_k } with unit a_k and b_k > 0. The vertices as given are kept beside k: they are what the shape exactly is.
 *
 * Every bounded shape but a support function is a core, the hull of few or many points k, and a round part around it, the image of the
 * unit ball under A = diag(semi):  h(d) = max d.k + |A d|.   sphere, ellipsoid: one point;  capsule: a segment and a ball;
 * cylinder: a segment and a disc (semi.z = 0);  polyhedron: no round part.
 */
#ifndef PC_SHAPE_SHAPE_H
#define PC_SHAPE_SHAPE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/simd.h"
#include "pcontact/shape.h"

/* Up to this many vertices a scan over all of them beats climbing from one to the next (measured by `pcontact bench metric`). */
#define PC_SCAN_LIMIT 32

typedef struct pcEdge {
    int vertex[2];
    int facet[2]; /* facet[0] has the edge in the direction vertex[0] -> vertex[1] */
} pcEdge;

/* Neighbours of one vertex, four at a time; a short last block repeats its last neighbour. */
typedef struct pcClimbBlock {
    double x[4], y[4], z[4];
    int64_t index[4];
} pcClimbBlock;

struct pcShape {
    pcShapeKind kind;
    _Atomic int owners;
    uint64_t id; /* unique in the process: what pair caches recognise a shape by */
    size_t bytes;
    v3 centre, centroid;
    bool centred;      /* the centre is the origin */
    double centreSize; /* v3Size of it */
    double volume, inradius, outradius;
    double innerAlong, innerAcross; /* where the simplex method starts: see pcPlaceInnerPoints */
    bool unbounded;                 /* half-space or container */
    double radius;                  /* sphere, capsule, cylinder, container */
    v3 half;                        /* box, or box around a mesh: half edge lengths */
    v3 semi;                        /* round part; zero of a polyhedron */
    int coreCount;                  /* core points of a round shape: 1, or 2 along z, kept in `end` */
    double end[2][4];
    pcSupportDef def;              /* support function */
    struct pcTriangles* triangles; /* mesh; `half` is that of its box */
    double plane[4];               /* half-space: as given */
    v3 planeNormal;                /* and with a unit normal */
    double planeOffset;

    int vertexCount, edgeCount, facetCount, paddedCount;
    int largestFacet;     /* corners of the facet with the most */
    double roughness;     /* length by which rounding of the vertices may break convexity, and so mislead a climb */
    double* vertex;       /* x y z as given */
    double* k;            /* vertex - centre, x y z 0: one vertex lies in one line of the cache */
    double *kx, *ky, *kz; /* the same by coordinate, padded to a multiple of four with vertex 0 */
    v3* normal;           /* a_k */
    double* offset;       /* b_k, about the centre */
    pcEdge* edge;
    int* ringStart; /* facet k has its corners at ringStart[k] .. ringStart[k+1] - 1, counter-clockwise from outside */
    int *ringVertex, *ringEdge, *ringFacet; /* corner, the edge that leaves it, the facet across that edge */
    int* fanStart;                          /* vertex i has its edges and facets at fanStart[i] .. fanStart[i+1] - 1, unordered */
    int *fanVertex, *fanEdge, *fanFacet;
    int* climbStart;
    pcClimbBlock* climb;
    int tableSide; /* cells along one edge of the cube of directions; 0: no table */
    int* table;
};

PC_INLINE bool pcShapeIsPolyhedron(const pcShape* s) { return s->kind == PC_SHAPE_POLYHEDRON || s->kind == PC_SHAPE_BOX; }
PC_INLINE v3 pcShapeK(const pcShape* s, int i) { return v3Load(s->k + 4 * (size_t)i); }
PC_INLINE v3 v3Times(v3 a, v3 b) { return v3Make(a.x * b.x, a.y * b.y, a.z * b.z); }
PC_INLINE v3 pcShapeVertex(const pcShape* s, int i) { return v3Load(s->vertex + 3 * (size_t)i); }

/* A polyhedron's surface before it is packed into a shape: facet rings over a list of vertices. */
typedef struct pcMesh {
    int vertexCount, facetCount;
    double* vertex; /* x y z */
    int* ringStart; /* facetCount + 1 */
    int* ringVertex;
} pcMesh;
void pcMeshFree(pcMesh* mesh);

/* Convex hull by qhull, coplanar facets merged (hull.c). */
pcStatus pcMeshFromPoints(const double* xyz, int count, pcMesh* out);

/* The plane a.x = d by a unit normal. A power of two is taken out first, which rounds nothing, because 1 / a of a tiny normal is beyond all
 * numbers. False: there is no normal, or the plane is farther away than numbers go (simple.c). */
bool pcUnitPlane(const double abcd[4], v3* normal, double* offset);

/* Edges, fans, climbing blocks, table, volume, radii; takes a copy of the mesh (shape.c). */
pcStatus pcShapeFromMesh(const pcMesh* mesh, pcShapeKind kind, const double* centreOrNull, pcShape** out);

/* A shape without a surface mesh; NULL if out of memory (shape.c). */
pcShape* pcShapeNew(pcShapeKind kind);

/* From inradius and outradius (shape.c). */
void pcPlaceInnerPoints(pcShape* s);

/* Whether a point, in the shape's axes, is inside by at least `depth`; for an ellipsoid: inside the one with semi-axes shorter by that. A support
 * function answers for its inner ball alone; a mesh has no inside (shape.c). */
bool pcShapeHolds(const pcShape* s, v3 x, double depth);

/* A length that must be finite and positive, and what it is of, for the sentence (simple.c). */
pcStatus pcCheckLength(const char* what, double length);

/* The vertex that lies farthest in direction d (about the centre), and how far: the value of n.k. */
typedef struct pcSupport {
    int vertex;
    double value;
} pcSupport;

/* The best of four lanes. In vectors to the end: of scalars the compiler makes a branch, and which lane it is cannot be predicted. */
PC_INLINE pcSupport pcSupportReduce(v4d value, v4i at)
{
    v2d a = __builtin_shufflevector(value, value, 0, 1), b = __builtin_shufflevector(value, value, 2, 3);
    v2i atA = __builtin_shufflevector(at, at, 0, 1), atB = __builtin_shufflevector(at, at, 2, 3), better = b > a;
    a = v2Select(better, b, a), atA = (atB & better) | (atA & ~better);
    b = __builtin_shufflevector(a, a, 1, 0), atB = __builtin_shufflevector(atA, atA, 1, 0), better = b > a;
    a = v2Select(better, b, a), atA = (atB & better) | (atA & ~better);
    return (pcSupport){(int)atA[0], a[0]};
}

/* Over all vertices, four at a time. */
PC_INLINE pcSupport pcSupportScan(const pcShape* s, v3 d)
{
    v4d dx = v4Splat(d.x), dy = v4Splat(d.y), dz = v4Splat(d.z);
    v4d best = v4Load(s->kx) * dx + v4Load(s->ky) * dy + v4Load(s->kz) * dz;
    v4i index = {0, 1, 2, 3}, at = index;
    for (int i = 4; i < s->paddedCount; i += 4) {
        v4d value = v4Load(s->kx + i) * dx + v4Load(s->ky + i) * dy + v4Load(s->kz + i) * dz;
        index += 4;
        v4i better = value > best;
        best = v4Select(better, value, best);
        at = v4SelectInt(better, index, at);
    }
    pcSupport top = pcSupportReduce(best, at);
    top.vertex = top.vertex < s->vertexCount ? top.vertex : 0; /* the padding repeats vertex 0 */
    return top;
}

/* Uphill over the vertex graph from `start`: on a convex body a local maximum is the maximum. */
PC_INLINE pcSupport pcSupportClimb(const pcShape* s, v3 d, pcSupport start)
{
    v4d dx = v4Splat(d.x), dy = v4Splat(d.y), dz = v4Splat(d.z);
    for (pcSupport top = start;;) {
        v4d best = v4Splat(top.value);
        v4i at = {top.vertex, top.vertex, top.vertex, top.vertex};
        for (int b = s->climbStart[top.vertex]; b < s->climbStart[top.vertex + 1]; b++) {
            const pcClimbBlock* block = s->climb + b;
            v4d value = v4Load(block->x) * dx + v4Load(block->y) * dy + v4Load(block->z) * dz;
            v4i index, better = value > best;
            __builtin_memcpy(&index, block->index, sizeof index);
            best = v4Select(better, value, best);
            at = v4SelectInt(better, index, at);
        }
        pcSupport next = pcSupportReduce(best, at);
        if (next.vertex == top.vertex) return top;
        top = next;
    }
}

/* The table's start vertex for a direction: the cell of the cube of directions that d points through. */
PC_INLINE int pcSupportStart(const pcShape* s, v3 d)
{
    double ax = fabs(d.x), ay = fabs(d.y), az = fabs(d.z), major, u, v;
    int face;
    if (ax >= ay && ax >= az)
        major = ax, face = d.x > 0.0 ? 0 : 1, u = d.y, v = d.z;
    else if (ay >= az)
        major = ay, face = d.y > 0.0 ? 2 : 3, u = d.z, v = d.x;
    else
        major = az, face = d.z > 0.0 ? 4 : 5, u = d.x, v = d.y;
    bool direction = major > 1e-290 && major < 1e290 && (u - u) + (v - v) == 0.0;
    if (!direction) return s->table[0]; /* any start will do, but no cast of what is no number */
    double scale = 0.5 * s->tableSide / major;
    int side = s->tableSide, i = (int)(u * scale + 0.5 * side), j = (int)(v * scale + 0.5 * side);
    i = i < 0 ? 0 : (i < side ? i : side - 1), j = j < 0 ? 0 : (j < side ? j : side - 1);
    return s->table[(face * side + i) * side + j];
}

PC_INLINE pcSupport pcSupportAt(const pcShape* s, v3 d, int vertex) { return (pcSupport){vertex, v3Dot(pcShapeK(s, vertex), d)}; }

/* The vertex of a polyhedron that lies farthest along d. */
PC_INLINE pcSupport pcSupportOf(const pcShape* s, v3 d)
{
    if (s->vertexCount <= PC_SCAN_LIMIT) return pcSupportScan(s, d);
    return pcSupportClimb(s, d, pcSupportAt(s, d, pcSupportStart(s, d)));
}

/* The point of any bounded shape that lies farthest along d, about its centre, in its own axes. */
typedef struct pcTip {
    v3 k;
    double value; /* d.k */
    int vertex;   /* of the core */
} pcTip;

/* By the function of the caller, who is promised a unit direction (round.c). */
pcTip pcTipAsked(const pcShape* s, v3 d);

PC_INLINE pcTip pcTipOf(const pcShape* s, v3 d)
{
    if (pcShapeIsPolyhedron(s)) {
        pcSupport far = pcSupportOf(s, d);
        return (pcTip){pcShapeK(s, far.vertex), far.value, far.vertex};
    }
    if (s->kind == PC_SHAPE_SUPPORT) return pcTipAsked(s, d);
    int vertex = (s->coreCount > 1) & (d.z > 0.0);
    v3 Ad = v3Times(s->semi, d), k = pcShapeK(s, vertex);
    double reach = v3Norm(Ad);
    if (reach > 0.0) k = v3AddScaled(k, 1.0 / reach, v3Times(s->semi, Ad)); /* none: straight over the cap of a cylinder */
    return (pcTip){k, pcShapeK(s, vertex).z * d.z + reach, vertex};
}

#endif
