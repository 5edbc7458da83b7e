/*
 * Events of a pair: the basic contact units of T chapter 3, found from the metric's direction outwards.
 *
 * All in the frame of metric.h (axes of body 1, from its centre). An event is two features and the factor t at which they meet (T 3.5):
 *
 *   corner k1 on facet (a, b) of body 2     D = b - a.k1           t = -a.c / D             n = -a
 *   facet (a, b) of body 1 on corner k2     D = b - a.k2           t =  a.c / D             n =  a
 *   edge (k1, e) on edge (k2, g)            D = n.(k1 - k2)        t =  n.c / D             n = e x g, turned so that D > 0
 *
 * and one-sided with body 2's lengths moved from D into the numerator. D > 0 always: the features come together as the bodies grow.
 * Its own signed distance along the unit n is (t - 1) D; |g| of method.md is 1 / D.
 */
#ifndef PC_EVENTS_EVENTS_H
#define PC_EVENTS_EVENTS_H

#include "metric/metric.h"

/* More near vertices or facets of one body than this, and the search goes less deep. */
#define PC_NEAR_LIMIT 1024
/* More events of one pair than this are counted, but only the first so many are kept. Two faces of PC_NEAR_LIMIT corners have fewer. */
#define PC_FOUND_LIMIT 2048
/* The first so many are kept with all that is known of them; the others are computed again when they are written. */
#define PC_UNIT_LIMIT 32

/* Features of one body: the list, and a way to find in it: a bit for each where the body has at most 64, else a hash table that grows. */
typedef struct pcFeatureSet {
    int count, mask; /* mask 0: bits are used */
    uint64_t bits;
    int item[PC_NEAR_LIMIT];
    int slot[2 * PC_NEAR_LIMIT];
} pcFeatureSet;

/* An event that was found: its features, and what choosing among events needs. */
typedef struct pcFound {
    unsigned long long id; /* as the caller sees it */
    pcEventKind kind;
    int feature1, feature2; /* of the frame's body 1 and 2: vertices, facets or edges as the kind says */
    double gap;             /* own, a length */
    double facing;          /* cosine to the pair's normal */
    double u, v;            /* its point across the pair's normal */
    int unit;               /* where the search keeps all about it, or -1 */
} pcFound;

/* All about one event. */
typedef struct pcUnit {
    double t, D, gap;
    v3 n;      /* unit, from body 1 to body 2 of the frame */
    v3 x;      /* common point of the scaled features */
    v3 arm;    /* where the length gap acts: the corner as it is, or the closest points of the edges */
    int at[2]; /* the corner of each body that it coincides with, -1: none */
} pcUnit;

/* One search. */
typedef struct pcSearch {
    const pcFrame* frame;
    const pcFrameMetric* metric;
    const pcEventSettings* settings;
    double margin;    /* with the slop that rounding needs */
    double low, high; /* range of t */
    double reach;     /* length by which epsX lets points leave the bodies as they are */
    double sigma;     /* as the metric was solved */
    v3 u, v;          /* across the pair's normal */
    int count;        /* events there are */
    int kept;         /* of them in `found` */
    double pastEnds;  /* how far an edge crossing may lie past an end, in edge lengths: none by default, any if epsX is wide */
    pcFound* found;   /* room for PC_FOUND_LIMIT */
    pcUnit* unit;     /* room for PC_UNIT_LIMIT */
    v3* force;        /* of events between round shapes, as many: unit direction of the gradient of t, where n is that of the length gap */
} pcSearch;

/* One of the two is a mesh (mesh.c). */
typedef struct pcMeshPair {
    const pcShape* shape[2];
    const pcPose* pose[2];
    const pcEventSettings* settings;
} pcMeshPair;
pcStatus pcEventsOfMesh(const pcMeshPair* pair, pcEvent* events, int capacity, int* count);

void pcSortById(pcFound* found, int count);

void pcSearchPlane(pcSearch* s);     /* body 2 is a half-space (find.c) */
void pcSearchPolyhedra(pcSearch* s); /* find.c */
void pcSearchRound(pcSearch* s);     /* one body at least is round (round.c) */

/* The unit of a found event, false if it is none (find.c). */
bool pcUnitOf(const pcSearch* s, pcEventKind kind, int feature1, int feature2, pcUnit* out);

/* The vertices with d.k >= floor, d in the body's own axes, flooding from the highest; their facets with a.d > facing (near.c).
 * False if there are too many. */
bool pcNearVertices(const pcShape* s, v3 d, double floor, int highest, pcFeatureSet* out);
bool pcNearFacets(const pcShape* s, v3 d, double facing, const pcFeatureSet* vertices, pcFeatureSet* out);
/* Where there are too many at the very support plane: the facet there with corners and neighbours from all around it. */
void pcNearThinned(const pcShape* s, v3 d, int highest, pcFeatureSet* vertices, pcFeatureSet* facets);
bool pcFeatureSetLookUp(const pcFeatureSet* set, int item);
PC_INLINE bool pcFeatureSetHas(const pcFeatureSet* set, int item)
{
    return set->mask == 0 ? set->bits >> item & 1u : pcFeatureSetLookUp(set, item);
}

/* Brings the `capacity` best of `count` to the front: the deepest (of equals to `slop` the outermost), then those that widen the support
 * polygon most (select.c). */
void pcSelectWidest(pcFound* found, int count, int capacity, double slop);

/* The first `count` found, in world axes and the caller's order of bodies (write.c). */
void pcEventsWrite(const pcSearch* s, int count, pcEvent* out);

PC_INLINE pcEventKind pcKindForCaller(const pcFrame* f, pcEventKind kind)
{
    if (!f->swapped) return kind;
    return kind == PC_CORNER_FACE ? PC_FACE_CORNER : kind == PC_FACE_CORNER ? PC_CORNER_FACE : kind;
}

/* Two bits of kind, 31 of each feature. */
PC_INLINE unsigned long long pcEventId(const pcFrame* f, pcEventKind kind, int feature1, int feature2)
{
    unsigned long long first = (unsigned)(f->swapped ? feature2 : feature1), second = (unsigned)(f->swapped ? feature1 : feature2);
    return (unsigned long long)pcKindForCaller(f, kind) << 62 | first << 31 | second;
}

#endif
