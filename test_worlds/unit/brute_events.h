/*
 * A second opinion on events that shares nothing with the library but the public data of its shapes: vertices, facet rings, centres.
 *
 * Everything is long double and by exhaustion. A potential event is the solution (x, t) of its four rows (T 3.5),
 *     a_k . (x - x_s(k)) = b_k t          (b_k instead of b_k t where the body does not scale)
 * and its multipliers y solve  sum y_k a_k = 0,  sum y_k b_k = 1  (the second over rows that scale): see method, "Gradient".
 * Also here: the small bodies, poses and random numbers that the event tests share.
 */
#ifndef PC_UNIT_BRUTE_EVENTS_H
#define PC_UNIT_BRUTE_EVENTS_H

#include <stdbool.h>

#include "pcontact/metric.h"

/* ---- vectors ---- */

typedef struct BV {
    long double x, y, z;
} BV;

BV bvOf(const double* p);
BV bvAdd(BV a, BV b);
BV bvSub(BV a, BV b);
BV bvScale(long double s, BV a);
BV bvCross(BV a, BV b);
long double bvDot(BV a, BV b);
long double bvNorm(BV a);

/* ---- random numbers, shapes, poses ---- */

double bruteUniform(unsigned long long* state); /* in (0, 1) */
double bruteBetween(unsigned long long* state, double low, double high);
void bruteDirection(unsigned long long* state, int n, double* out); /* unit, in n dimensions */

/* Shapes; a test that cannot make its shape fails by NULL. */
pcShape* bruteBox(double x, double y, double z);
pcShape* brutePrism(int corners, double radius, double height); /* about the origin, axis z, first corner on the x axis */
pcShape* bruteBlock(const double size[3], const double at[3], const double centre[3]); /* a box off its origin, scaled about `centre` */
pcShape* bruteHull(unsigned long long* state, int points);                 /* off its origin, centre off its centroid; size about 1 */
pcShape* brutePyramid(int sides, double radius, double height, bool both); /* tip down (-z); `both`: a second tip up, else a flat base */

pcPose brutePose(double x, double y, double z, const double axis[3], double angle);
pcPose bruteTurned(const pcPose* pose, const double axis[3], double angle); /* by a turn about a world axis through its position */

pcEventSettings bruteSettings(double margin); /* the default ones, but for the margin */
double bruteDistance(const double* a, const double* b);

/* ---- bodies in the world ---- */

typedef struct BruteEdge {
    int vertex[2], facet[2];
} BruteEdge;

enum { BRUTE_MOST = 64 };

/* A placed polyhedron of at most BRUTE_MOST vertices and facets. Facets are a.(x - centre) <= b, from the vertices and not from the
 * library. */
typedef struct BruteBody {
    int vertices, facets, edges;
    BV vertex[BRUTE_MOST], normal[BRUTE_MOST], centre;
    long double offset[BRUTE_MOST];
    int facetsOfVertex[BRUTE_MOST][BRUTE_MOST], facetCount[BRUTE_MOST];
    BruteEdge edge[2 * BRUTE_MOST];
    bool scales;
} BruteBody;

BV brutePlace(const pcPose* pose, const double* local);
bool bruteBody(const pcShape* shape, const pcPose* pose, bool scales, BruteBody* out);

/* How far x (of the body as it is) is outside its farthest facet; negative inside. A length. */
long double bruteOutside(const BruteBody* body, BV x);

/* ---- events ---- */

typedef struct BruteEvent {
    pcEventKind kind;
    int feature[2];     /* vertex, facet or edge as the kind says */
    long double t, D;   /* D = 1/|g| */
    long double gap;    /* of the pre-images along the normal */
    long double apart;  /* the same along the pair's normal; filled by bruteEvents */
    long double facing; /* cosine of the two normals; filled by bruteEvents */
    long double leaves; /* largest a_k.(x - x_s)/b_k - t over both bodies: <= 0 feasible (one-sided rows against 1) */
    BV n, x, point[2];
    bool optimal; /* its rows decide r: the normal separates the bodies where they touch */
} BruteEvent;

/* All combinations of a corner with a face and an edge with an edge that come together as the bodies grow and leave the bodies by at
 * most `slack`; -1 if `most` is too small. */
int bruteEvents(const BruteBody* one, const BruteBody* two, long double slack, BruteEvent* out, int most);

/* r as the largest LP optimum of four rows, 3 + 1, 2 + 2 or 1 + 3, with multipliers >= 0 (T 3.13). */
long double bruteComponents(const BruteBody* one, const BruteBody* two);

/* ---- polygons ---- */

typedef struct BP {
    long double x, y;
} BP;

enum { BRUTE_CORNERS = 4096 };
typedef struct BrutePolygon {
    int count;
    BP corner[BRUTE_CORNERS];
} BrutePolygon;

/* The common part of two convex polygons, both counter-clockwise (Sutherland and Hodgman); corners closer than `merge` become one. */
void bruteClip(const BrutePolygon* a, const BrutePolygon* b, long double merge, BrutePolygon* out);
long double bruteArea(const BrutePolygon* p);
/* How far corner i sticks out of the chord of its neighbours. */
long double bruteSticksOut(const BrutePolygon* p, int i);

#endif
