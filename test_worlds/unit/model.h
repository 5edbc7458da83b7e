/*
 * Cone problems built piece by piece, for the tests of the solvers: a model owns the arrays that its pcProblem points to.
 *
 *     pcConeModel model = pcModelStart(true, 1.0);
 *     int box = pcModelBody(&model, 1.0, v3Make(.1, .1, .1), v3Make(0, 0, -.1), v3Make(0, 0, 0));
 *     pcModelTouch(&model, &(pcTouch){.body1 = -1, .body2 = box, .arm2 = v3Make(0, 0, -.5), .normal = v3Make(0, 0, 1), .mu = .5});
 *     … model.problem …
 *     pcModelFree(&model);
 */
#ifndef PC_UNIT_MODEL_H
#define PC_UNIT_MODEL_H

#include "base/vec.h"
#include "solver/problem.h"
#include "test_worlds/fuzz/cases.h"

typedef struct pcConeModel {
    pcProblem problem;
    double *mass, *free, *J, *target, *soft;
    int* block;
    pcCone* cone;
} pcConeModel;

pcConeModel pcModelStart(bool coulomb, double velocityScale);
void pcModelFree(pcConeModel* model);

/* A body with its inertia along the world's axes and the velocity it has without impulses; returns its block. */
int pcModelBody(pcConeModel* model, double mass, v3 inertia, v3 velocity, v3 spin);

/* Replaces a body's inertia, row-major, about its centre. */
void pcModelInertia(pcConeModel* model, int body, const double inertia[9]);

/* A contact: u_n = n . (velocity of body 2 - velocity of body 1) - target >= 0. */
typedef struct pcTouch {
    int body1, body2; /* -1: the fixed world */
    v3 arm1, arm2;    /* from the centres to the contact */
    v3 normal;        /* unit, from body 1 to body 2 */
    v3 tangent;       /* unit and across the normal; 0 0 0: any */
    double target;    /* -gap / h */
    double mu;        /* < 0: no friction rows at all; 0: rows of zeros */
    double mu2;       /* along the other tangent; 0: as mu */
    bool planar;      /* one friction row instead of two */
    double torsion, rolling;
    int edges;
    double angle;
    double soft; /* of the normal row */
    double slip; /* of the friction rows */
} pcTouch;
void pcModelTouch(pcConeModel* model, const pcTouch* touch);

/* A joint, motor or stop: one row, J v + soft c = target within lo <= c <= hi; infinite on both sides: an equality. */
typedef struct pcLink {
    int body1, body2;
    double J[12];
    double target, lo, hi, soft;
} pcLink;
void pcModelLink(pcConeModel* model, const pcLink* link);

/* Three rows that hold a point of two bodies together. */
void pcModelBall(pcConeModel* model, int body1, v3 arm1, int body2, v3 arm2);

/* The same problem with a dense mass: its blocks, and a positive definite coupling of relative size `coupling` between them. */
void pcModelMakeDense(pcConeModel* model, double coupling);

/* The same problem in other units: lengths in units of 1 / `length`, and likewise. Linear velocities grow by length / time. */
typedef struct pcUnits {
    double length, mass, time;
} pcUnits;
pcConeModel pcModelInUnits(const pcConeModel* model, pcUnits units);

/* The same problem told in another order: cones, blocks and the two sides of a row. */
typedef struct pcShuffle {
    pcConeModel model;
    int* coneFrom;  /* its cone i is the other's cone coneFrom[i] */
    int* blockFrom; /* and likewise its block */
} pcShuffle;
pcShuffle pcModelShuffled(const pcConeModel* model, pcRandom* random);
void pcShuffleBack(const pcShuffle* shuffle, const pcConeModel* original, const double* v, const double* c, double* vOriginal,
                   double* cOriginal);
void pcShuffleFree(pcShuffle* shuffle);

double pcBetween(pcRandom* random, double low, double high);
v3 pcDirection(pcRandom* random); /* unit */

#endif
