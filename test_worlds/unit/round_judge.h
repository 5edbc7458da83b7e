/*
 * Round bodies for the tests, and a judge of their metric that shares nothing with the method: support functions and gauges in long
 * double, written down from the shape's own definition. A direction proves r from below, a common point from above.
 */
#ifndef PC_UNIT_ROUND_JUDGE_H
#define PC_UNIT_ROUND_JUDGE_H

#include <stdbool.h>

#include "pcontact/metric.h"
#include "test_worlds/fuzz/cases.h"

typedef enum SolidKind {
    SOLID_BOX,
    SOLID_HULL,
    SOLID_SPHERE,
    SOLID_ELLIPSOID,
    SOLID_CAPSULE,
    SOLID_CYLINDER,
    SOLID_EGG,
    SOLID_PILLOW,
    SOLID_KINDS
} SolidKind;

/* `size`: half edges, semi-axes, or radius and half length (the last of a pillow: the radius of its rounding). An egg and a pillow are
 * support functions: an ellipsoid away from the origin, and a box with rounded edges. */
typedef struct Solid {
    SolidKind kind;
    double size[4], middle[3];
    pcShape* shape;
} Solid;

/* On the heap, because a support function keeps its address. Sizes within exp(-spread) .. exp(spread). */
Solid* solidMake(pcRandom* random, SolidKind kind, double spread);
Solid* solidOf(SolidKind kind, const double size[4]);
void solidFree(Solid* solid);

/* One scene: body 2 at random within `reach` of body 1, both turned at random, or at right angles to each other. */
typedef struct RoundScene {
    const Solid* solid[2];
    pcPose pose[2];
    unsigned flags;
} RoundScene;
RoundScene roundScene(pcRandom* random, const Solid* a, const Solid* b, double reach, bool square);

/* n.c / (h1 + h2), or (n.c - h2) / h1 for the body that scales: what the world direction n, from body 1 to body 2, proves. */
long double roundBelow(const RoundScene* s, const double n[3], bool oneSided);
/* n.c - h1 - h2 for a unit n. */
long double roundApart(const RoundScene* s, const double n[3]);
/* The factor at which body i (0, 1) reaches the world point. */
long double roundReach(const RoundScene* s, int i, const double point[3]);
/* Whether the moving centre lies in the fixed body: the metric is two-sided then. */
bool roundOneSided(const RoundScene* s);

/* Fails the test if r, its bounds, its normal and its points are not proven. `slack` allows for points of thin bodies. */
void roundExpectProven(const RoundScene* s, const pcMetric* m, double slack);

double roundBetween(pcRandom* random, double low, double high);
void roundDirection(pcRandom* random, double out[3]);

#endif
