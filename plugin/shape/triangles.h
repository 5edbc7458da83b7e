/*
 * A surface of triangles that are solid on one side: counter-clockwise from outside, as those of a convex shape.
 *
 * What touches a surface touches it in one of two ways. A corner (or a round part) of the other body lies on a flat piece: a `face`,
 * which is all triangles of one plane that hang together, so that seams within it are none. Or an edge or a face of the other body lies on an
 * edge that stands out: of two triangles that meet at less than 180 degrees of solid, or the border of the surface. Edges that are flat
 * or hollow touch nothing but what their triangles touch already, and nothing can catch on them.
 */
#ifndef PC_SHAPE_TRIANGLES_H
#define PC_SHAPE_TRIANGLES_H

#include "shape/shape.h"

typedef enum pcCrease { PC_CREASE_FLAT = 0, PC_CREASE_HOLLOW, PC_CREASE_RIDGE, PC_CREASE_BORDER } pcCrease;

/* The solid lies below both of its triangles; a border has the second triangle -1. */
typedef struct pcMeshEdge {
    int vertex[2]; /* in the order of triangle[0] */
    int triangle[2];
    pcCrease crease;
} pcMeshEdge;

typedef struct pcTriangle {
    int vertex[3];
    int edge[3]; /* from vertex i to vertex i + 1 */
    int face;
    int source; /* of the caller */
    v3 normal;  /* unit, out of the solid; of its own, while that of its face belongs to the first triangle of the face */
} pcTriangle;

/* Boxes around triangles, in the order of a walk down the tree: node i + 1 is the first child of node i, `next` is where to go on past it. */
typedef struct pcMeshNode {
    v3 low, high;
    int next;
    int triangle; /* of a leaf; else -1 */
} pcMeshNode;

typedef struct pcTriangles {
    int vertexCount, triangleCount, edgeCount, faceCount, nodeCount;
    double size; /* of the largest coordinate about the middle: what rounding is relative to */
    v3* vertex;  /* no two the same */
    pcTriangle* triangle;
    pcMeshEdge* edge;
    v3* faceNormal; /* of the plane of each face: n.x = offset */
    double* faceOffset;
    int *fanStart, *fanVertex; /* vertex i has edges to fanVertex[fanStart[i] .. fanStart[i+1] - 1] */
    pcMeshNode* node;
    pcShape* blade; /* a tetrahedron: what edges are measured as gets its numbers, and shares its topology */
} pcTriangles;

void pcTrianglesFree(pcTriangles* t);

/* The next triangle after *node whose box meets (low, high), -1: no more. Start with *node = 0. */
PC_INLINE int pcTrianglesNext(const pcTriangles* t, v3 low, v3 high, int* node)
{
    while (*node < t->nodeCount) {
        const pcMeshNode* at = t->node + *node;
        bool meets = (at->low.x <= high.x) & (low.x <= at->high.x) & (at->low.y <= high.y) & (low.y <= at->high.y) & (at->low.z <= high.z) &
                     (low.z <= at->high.z);
        *node = meets ? *node + 1 : at->next;
        if (meets && at->triangle >= 0) return at->triangle;
    }
    return -1;
}

PC_INLINE v3 pcTriangleCorner(const pcTriangles* t, int triangle, int i) { return t->vertex[t->triangle[triangle].vertex[i]]; }

/* The point of a triangle that is nearest to x; and the triangle that has the nearest of all. */
v3 pcTriangleNearest(const pcTriangles* t, int triangle, v3 x);
int pcTrianglesNearest(const pcTriangles* t, v3 x);

#endif
