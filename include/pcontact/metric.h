/*
 * The ratio metric of two convex shapes and the events (basic contact units) of a pair.
 *
 * r is the least factor by which both shapes, scaled about their centres, touch (T 2.3): r < 1 penetrating, 1 touching, > 1 apart.
 * An event is one elementary contact of the pair, corner on face or edge on edge (T 3.5); the events are the corners of the contact region.
 * Round shapes touch in one point, or in the corners of a line or face: a cylinder that lies has two events, one that stands has six points
 * of its rim that are fixed in the body, and those where the rim leaves the face below it.
 */
#ifndef PCONTACT_METRIC_H
#define PCONTACT_METRIC_H

#include "pcontact/shape.h"
#include "pcontact/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags: that body does not scale (static geometry, T 2.18). A half-space never scales, whatever the flags say.
 * When the moving centre is inside a bounded fixed body, or on its surface, the one-sided r would be 0: the two-sided form is used then. */
#define PC_FIXED_1 1u
#define PC_FIXED_2 2u

/* Remembers where the last query of one pair ended. Zero it before the first use; keep one per pair; it owns nothing and may be
 * copied, zeroed or dropped at any time. A cache of another pair costs time, never correctness. The fields are private. */
typedef struct pcPairCache {
    unsigned long long shape[2];
    int feature[4];
    int count1;
    double normal[3];
} pcPairCache;

/* How a metric was found; for statistics. */
typedef enum pcMetricPath {
    PC_PATH_CLOSED = 0, /* closed form: boxes, half-spaces, spheres */
    PC_PATH_WARM,       /* the cached features were still the right ones */
    PC_PATH_SIMPLEX,    /* support-side simplex in double precision */
    PC_PATH_EXACT,      /* the same in doubled precision: thin or degenerate pairs */
    PC_PATH_FACETS,     /* facet LP, the last resort */
    PC_PATH_NEWTON      /* round shapes: Newton's method on the normal */
} pcMetricPath;

typedef struct pcMetric {
    double r;            /* the ratio; for a half-space it may be <= 0: the moving centre is below the surface */
    double lower, upper; /* certified: lower <= true r <= upper (PC_PATH_FACETS alone only estimates them) */
    double rho;          /* (r - 1) / r (T 2.4); minus infinity where r <= 0 */
    double gap;          /* signed distance along `normal`, a length: (r - 1) / |g| */
    double normal[3];    /* unit, from body 1 to body 2 */
    double point[3];     /* common point of the two scaled bodies, world axes */
    double point1[3];    /* its pre-images in the bodies as they are: x_i + (point - x_i) / r; */
    double point2[3];    /* a body that does not scale has the point itself */
    pcMetricPath path;
} pcMetric;

/* `cacheOrNull` is read and updated. PC_ERROR_COINCIDENT if the two centres coincide. */
PC_API pcStatus pcMetricPair(const pcShape* shape1, const pcPose* pose1, const pcShape* shape2, const pcPose* pose2, unsigned flags,
                             pcPairCache* cacheOrNull, pcMetric* out);

/* The Euclidean distance, signed. Overlapping bodies have as many depths as directions: this is a least one, than which no direction beside its
 * own is better, and never more than that along the ratio's normal or along an axis of a body whose centre is deep in the other (r below 0.9). */
typedef struct pcDistance {
    double distance;     /* > 0 apart; < 0: minus the depth */
    double lower, upper; /* apart: certified. Overlapping: the least depth of all is at most -lower, and `upper` is only what was found */
    double normal[3];    /* unit, from body 1 to body 2 */
    double point1[3];    /* closest points, or the points that lie deepest in the other body along `normal` */
    double point2[3];
} pcDistance;

/* No body scales; a cache may be that of the pair's pcMetricPair. PC_ERROR_COINCIDENT if the two centres coincide. */
PC_API pcStatus pcEuclidPair(const pcShape* shape1, const pcPose* pose1, const pcShape* shape2, const pcPose* pose2,
                             pcPairCache* cacheOrNull, pcDistance* out);

/* Two-sided r of many box pairs at once, by SIMD: sizes are full edge lengths, three per box; poses one per box. Writes r[i] for
 * each pair; a pair that the closed form cannot decide to full precision is solved as pcMetricPair solves it. All pairs are checked before
 * the first ratio is written; only running out of memory can stop it later. */
PC_API pcStatus pcMetricBoxPairs(int count, const double* size1, const pcPose* pose1, const double* size2, const pcPose* pose2, double* r);

typedef enum pcEventKind {
    PC_CORNER_FACE = 0, /* a corner of body 1 on a face of body 2 */
    PC_FACE_CORNER,     /* a face of body 1 on a corner of body 2 */
    PC_EDGE_EDGE,
    PC_SMOOTH /* a round shape is part of it */
} pcEventKind;

/* Which signed distance becomes the row of an event (`gap` and `wrench` of pcEvent). */
typedef enum pcGapKind {
    PC_GAP_LENGTH = 0, /* own distance of the two features as they are */
    PC_GAP_RATIO,      /* the papers' t (t - 1) / |g| at the scaled point (T 4.17) */
    PC_GAP_PAIR        /* the pair's r (r - 1) / |g| for all its events (R 4.10) */
} pcGapKind;

/* Selection of nearly active events (T 3.14). Start from pcDefaultEventSettings(): a struct that did not is refused. */
typedef struct pcEventSettings {
    double margin; /* length >= 0: an event counts if its own gap is at most this; 0 means touching or penetrating */
    double epsX;   /* dimensionless: its point may leave either scaled body by b_k epsX */
    double epsT;   /* dimensionless: t <= r + epsT; infinite: no cap */
    double eps0;   /* dimensionless: r - eps0 <= t, and never below r / 2; infinite: no other cap */
    pcGapKind gap;
    unsigned cookie; /* private */
} pcEventSettings;
PC_API pcEventSettings pcDefaultEventSettings(void);

typedef struct pcEvent {
    pcEventKind kind;
    unsigned long long id; /* the features of both bodies: the same contact has the same id in every step */
    double t;              /* the factor at which its features meet */
    double phi;            /* (t - 1) / t; minus infinity where t <= 0 */
    double gap;            /* as pcEventSettings.gap says, a length */
    double normal[3];      /* unit, from body 1 to body 2 */
    double point[3];       /* where the scaled features meet, world axes */
    double point1[3];      /* its pre-images in the bodies as they are */
    double point2[3];
    double gradient[12]; /* of t: x1, theta1, x2, theta2 */
    double wrench[12];   /* unit normal wrench of the row that belongs to `gap`: for PC_GAP_LENGTH exactly the gradient of `gap` */
} pcEvent;

/* Writes at most `capacity` events. *count is how many there are; if that exceeds `capacity`, the ones written are the deepest and then
 * those that keep the support polygon widest. Events are ordered by id. `events` may be NULL if capacity is 0.
 *
 * An event counts if its own gap is within the margin, its two pre-images are at most 2 margin apart along the pair's normal, and its
 * normal faces that of the pair. Limits: of two polyhedra at most 1024 near corners and facets of each take part (those nearest the
 * contact, or evenly spread around a face that has more), and of more than 2048 events so many are kept, the deepest among them, and
 * counted where there is room for all; of a pair with a round shape 32 are kept, and of one with a mesh the 128
 * deepest. Allocates nothing; the search takes up to 400 KB of stack, with a mesh 100 KB more. */
PC_API pcStatus pcEventsOfPair(const pcShape* shape1, const pcPose* pose1, const pcShape* shape2, const pcPose* pose2, unsigned flags,
                               const pcEventSettings* settings, pcPairCache* cacheOrNull, pcEvent* events, int capacity, int* count);

#ifdef __cplusplus
}
#endif
#endif
