/*
 * Convex shapes.
 *
 * A shape lives in its own axes; a pcPose places it. Its `centre` is the point that the ratio metric scales it about
 * (method T 2.3: P(xo, t)); it must lie strictly inside and need not be the origin of the shape's axes.
 * Shapes are immutable: any number of threads may use one at the same time.
 */
#ifndef PCONTACT_SHAPE_H
#define PCONTACT_SHAPE_H

#include <stddef.h>

#include "pcontact/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pcShape pcShape;

typedef enum pcShapeKind {
    PC_SHAPE_POLYHEDRON = 0,
    PC_SHAPE_BOX,       /* a polyhedron whose pairs have a closed form */
    PC_SHAPE_HALFSPACE, /* unbounded: never scales, so its pairs are one-sided */
    PC_SHAPE_SPHERE,
    PC_SHAPE_ELLIPSOID,
    PC_SHAPE_CAPSULE,
    PC_SHAPE_CYLINDER,
    PC_SHAPE_CONTAINER, /* all but a ball: never scales, and what touches it does so from inside the ball */
    PC_SHAPE_SUPPORT,   /* whatever convex body a function of the caller describes */
    PC_SHAPE_MESH       /* a surface of triangles: not convex, so it has events with convex shapes, but no ratio */
} pcShapeKind;

/* Convex hull of `count` >= 4 points, x y z each; coplanar facets are merged, inner points dropped. NULL centre: the centroid. */
PC_API pcStatus pcShapeFromPoints(const double* xyz, int count, const double* centreOrNull, pcShape** out);

/* The bounded, non-empty intersection of the half-spaces a.x <= d, rows a b c d; rows need not be normalised. NULL centre: the centroid. */
PC_API pcStatus pcShapeFromPlanes(const double* abcd, int count, const double* centreOrNull, pcShape** out);

/* A box of full edge lengths `size` about the origin. */
PC_API pcStatus pcShapeBox(const double size[3], pcShape** out);

/* A ball about the origin. */
PC_API pcStatus pcShapeSphere(double radius, pcShape** out);

/* An ellipsoid about the origin, its semi-axes along x, y and z; ratios of up to 1e6 between them are fine. */
PC_API pcStatus pcShapeEllipsoid(const double semiAxes[3], pcShape** out);

/* A ball of that radius moved along a segment of that length, which lies along z about the origin; the whole is length + 2 radius long. */
PC_API pcStatus pcShapeCapsule(double radius, double length, pcShape** out);

/* A cylinder about the origin, its axis along z. */
PC_API pcStatus pcShapeCylinder(double radius, double length, pcShape** out);

/* A spherical container about the origin: solid outside the ball of that radius, free inside. Its pairs are one-sided, as those of a
 * half-space: r is the factor at which the other body, grown about its centre, first touches the wall. */
PC_API pcStatus pcShapeContainer(double radius, pcShape** out);

/* A convex body by its support function: point = a point of the body that lies farthest along the direction (of unit length), in the shape's
 * axes. It is called from many threads at once and must be a function of the direction alone. The body must hold the ball of
 * `inradius` about `centre` and lie in that of `outradius`: both enter the certified bounds, and are tried in some directions when
 * the shape is made. Where the surface is smooth, the metric is as exact as that of an ellipsoid; corners, edges and faces are fine. */
typedef struct pcSupportDef {
    void (*support)(const void* context, const double direction[3], double point[3]);
    const void* context; /* must live as long as the shape */
    double centre[3];
    double inradius, outradius;
} pcSupportDef;
PC_API pcStatus pcShapeSupport(const pcSupportDef* def, pcShape** out);

/* The half-space a.x <= d, given as a b c d: solid on the side that the normal points away from. */
PC_API pcStatus pcShapeHalfSpace(const double abcd[4], pcShape** out);

/* A surface of triangles, three points each, counter-clockwise seen from outside: solid on the other side. Points at the same place are one;
 * triangles without an area are left out. A body whose centre is behind a triangle does not feel it. Flat and hollow edges between
 * triangles are not felt, so that nothing catches on them. Its pairs are those with bounded convex shapes; it never scales. */
PC_API pcStatus pcShapeMesh(const double* xyz, int pointCount, const int* triangles, int triangleCount, pcShape** out);

/* One more owner of the same shape: each owner calls pcShapeFree once. Returns its argument. */
PC_API pcShape* pcShapeShare(const pcShape* shape);

/* Gives up one ownership; NULL is allowed. */
PC_API void pcShapeFree(pcShape* shape);

/* What a shape says of itself. Lengths are in the shape's own axes. */
typedef struct pcShapeInfo {
    pcShapeKind kind;
    int vertices, edges, facets;
    size_t bytes;  /* all memory held by the shape */
    double volume; /* infinite for a half-space and a container; NaN for a support function */
    double centroid[3];
    double centre[3]; /* what the ratio metric scales about */
    double inradius;  /* of the largest ball about `centre` inside the shape */
    double outradius; /* of the smallest ball about `centre` around it */
    double semi[3];   /* sphere, capsule, ellipsoid: semi-axes of the round part; cylinder: radius, radius, 0; container: radius; else 0 */
    double length;    /* of the segment along z that the round part is moved along: capsule and cylinder; else 0 */
} pcShapeInfo;
PC_API pcStatus pcShapeDescribe(const pcShape* shape, pcShapeInfo* out);

/* The vertices of a polyhedron, x y z each, in the shape's axes; NULL and 0 for other shapes. Valid as long as the shape. */
PC_API const double* pcShapeVertices(const pcShape* shape, int* count);

/* Facet `index` of a polyhedron: its plane a.x <= d (unit a), its corners counter-clockwise seen from outside, and the facet across
 * the edge that leaves each corner. The arrays are valid as long as the shape. */
typedef struct pcFacet {
    double plane[4];
    int count;
    const int* vertex;
    const int* neighbour;
} pcFacet;
PC_API pcStatus pcShapeFacet(const pcShape* shape, int index, pcFacet* out);

#ifdef __cplusplus
}
#endif
#endif
