/*
 * libccd as a second opinion: distance, penetration depth and portal refinement of two convex bodies.
 *
 * Two uses: the tests compare the ratio metric with Euclidean distances and depths found by code that shares nothing with ours,
 * and the benchmark times libccd on the pairs that it times us on. Works from the public headers of pcontact only.
 *
 * Signs: depth and distance are lengths >= 0; `normal` is unit and points from body 1 to body 2; poses are as everywhere.
 */
#ifndef PC_ADAPTERS_CCD_H
#define PC_ADAPTERS_CCD_H

#include "pcontact/shape.h"
#include "pcontact/types.h"

/* A shape as libccd's callbacks need it: vertices and the vertex graph of a polyhedron, the semi-axes of a round shape. Immutable; independent of the shape it came from. */
typedef struct pcCcdShape pcCcdShape;

/* PC_ERROR_UNSUPPORTED if the shape is a half-space, a container or a support function. */
pcStatus pcCcdShapeCreate(const pcShape* shape, pcCcdShape** out);
void pcCcdShapeFree(pcCcdShape* shape);

/* One placed body; both bodies of a query come as two of these, so that shapes and poses cannot be swapped. */
typedef struct pcCcdBody {
    const pcCcdShape* shape;
    pcPose pose;
} pcCcdBody;

/* libccd's own default tolerances, and a limit of iterations where libccd has none (its loops can cycle on degenerate pairs).
 * mprTolerance is a length. epaTolerance bounds a *squared* length: with the default 1e-4 a depth of 0.02 may be off by 5e-3. */
typedef struct pcCcdSettings {
    double epaTolerance;
    double mprTolerance;
    unsigned long maxIterations;
    int climbOnly; /* support by hill climbing for every body; else boxes answer by signs and hulls of few vertices by a scan */
} pcCcdSettings;
pcCcdSettings pcCcdDefaultSettings(void);

/* The vertices where the supports of a pair ended: hill climbing in the next query of the same pair starts there. Zero it first. */
typedef struct pcCcdHint {
    int vertex[2];
} pcCcdHint;

typedef struct pcCcdContact {
    double depth;
    double normal[3]; /* zero if libccd calls it a touching contact */
    double position[3];
} pcCcdContact;

typedef enum pcCcdAnswer { PC_CCD_FAILED = -1, PC_CCD_APART = 0, PC_CCD_PENETRATING = 1 } pcCcdAnswer;

/* Minkowski portal refinement: the depth at the portal that the ray between the centres passes, not the least depth.
 * `contact` is written if penetrating. NULL hint: every query starts from vertex 0. */
pcCcdAnswer pcCcdMpr(const pcCcdBody* body1, const pcCcdBody* body2, const pcCcdSettings* settings, pcCcdHint* hintOrNull,
                     pcCcdContact* contact);
pcCcdAnswer pcCcdMprIntersect(const pcCcdBody* body1, const pcCcdBody* body2, const pcCcdSettings* settings);

/* GJK and the expanding polytope: the least depth, from below. With W = P1 - P2 the true Minkowski depth s obeys
 *     depth <= s <= pcCcdWidth(normal)
 * because the polytope lies inside W, and any direction bounds s from above: what libccd's tolerance left open is known per pair. */
pcCcdAnswer pcCcdDepth(const pcCcdBody* body1, const pcCcdBody* body2, const pcCcdSettings* settings, pcCcdHint* hintOrNull,
                       pcCcdContact* contact);

/* Support function of W = P1 - P2: how far the bodies overlap along the unit vector `normal`; < 0 if it separates them. */
double pcCcdWidth(const pcCcdBody* body1, const pcCcdBody* body2, const double normal[3]);

/* The Euclidean distance lies between `lower` and `upper`: `upper` belongs to two points of the bodies, `lower` to a separating plane. */
typedef struct pcCcdGap {
    double lower, upper;
    int iterations;
} pcCcdGap;

/* Distance by GJK until upper - lower <= 1e-12 upper, or until rounding stops it: the bounds then say how far it came.
 * PC_CCD_PENETRATING (nothing written) if no separating plane was found. */
pcCcdAnswer pcCcdDistance(const pcCcdBody* body1, const pcCcdBody* body2, pcCcdGap* out);

#endif
