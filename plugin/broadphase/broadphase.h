/*
 * Candidate pairs of placed shapes: every pair that could touch within the step.
 *
 * How far a pair looks ahead (S 2.12: eps_hat = v_max h), if the settings name no margin:
 *
 *     margin = h (max(|v1 - v2|, |v1|, |v2|) + |omega1| reach1 + |omega2| reach2) + 0.001 (size1 + size2)
 *
 *     |v|, |omega|   the larger of the velocity before the step and the one without any impulse, which holds h g as well; of a body that
 *                    a faster one may strike within the step: what that can make of it (stepper/pairs.c)
 *     reach          of its points from the body's centre of mass            size   outradius; half-spaces and containers have none
 *
 * Bodies that fall together have no relative velocity until the first is stopped: hence each speed by itself, but not their sum. (Asked by somebody who falls
 * along with them, who only looks as far as pushes go from body to body, a pile that lands has as many contacts.) At rest
 * h^2 |g| and the part of the size remain, so that a contact at rest never comes and goes. A layer between bodies is looked across as
 * well. A named margin is the distance of the two. Boxes are widened by each body's own part, so that none of these pairs is missed.
 */
#ifndef PC_BROADPHASE_BROADPHASE_H
#define PC_BROADPHASE_BROADPHASE_H

#include "base/arena.h"
#include "base/vec.h"
#include "pcontact/shape.h"

/* How a body moves during the step: speeds, not velocities. */
typedef struct pcPace {
    double linear, angular;
} pcPace;

/* What the margin of a pair depends on. */
typedef struct pcLook {
    v3 step;             /* h times the velocity without impulses */
    double linear, spin; /* h times the speed of its centre of mass, and of its points about that */
    double fixed;        /* the part that does not depend on speeds */
    double turn;         /* unbounded: h |omega|; far from its body it moves that much faster */
} pcLook;

/* What the search knows of a shape. */
typedef struct pcProxy {
    v3 low, high; /* box around it, widened by `ahead`; of unbounded ones not used */
    v3 at;        /* centre; of unbounded ones the position of their pose */
    double ahead; /* length that its box is widened by */
    pcLook look;
    double speed;   /* of its fastest point */
    bool unbounded; /* half-space or container */
    double radius;  /* container; 0: half-space */
    v3 normal;      /* half-space: normal.x <= offset in world axes */
    double offset;
    int body;
    bool moves; /* its body is dynamic */
    unsigned category, collide;
} pcProxy;

typedef struct pcPair {
    int shape1, shape2; /* shape1 < shape2 */
    double margin;      /* how far the pair looks ahead */
} pcPair;

typedef struct pcAhead {
    double h;
    double margin;             /* > 0: as the settings say */
    double layer;              /* kept between bodies: it counts as part of them */
    v3 centreOfMass, velocity; /* the latter without impulses */
    pcPace pace;
    double beyond; /* how much farther than h times that velocity it may go (flight=mean) */
} pcAhead;

/* Fills in everything that follows from shape, pose and motion; body, moves, category and collide are the caller's. */
void pcProxyPlace(const pcShape* shape, const pcPose* pose, const pcAhead* ahead, pcProxy* out);

/* All pairs in the order of (shape1, shape2), in the arena; returns how many. `order` is a permutation of the shapes, and is updated: that
 * of the last step makes sorting cheap. */
int pcPairsFind(pcArena* arena, const pcProxy* proxies, int count, int* order, pcPair** out);

/* Whether two proxies are a pair, by all that is known of them: what pcPairsFind finds without looking at all pairs. */
bool pcProxiesMeet(const pcProxy* a, const pcProxy* b);

#endif
