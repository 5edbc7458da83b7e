/*
 * Cone problems that a solver must solve, and some that nobody can: what the tests of solvers run over. Numbers of a variant give the
 * same problem always.
 */
#ifndef PC_UNIT_PROBLEMS_H
#define PC_UNIT_PROBLEMS_H

#include "test_worlds/unit/model.h"

/* Problems that have a solution, in both models; a name says what is hard about them. */
typedef struct pcProblemKind {
    const char* name;
    int variants;
    pcConeModel (*make)(int variant, bool coulomb);
} pcProblemKind;
extern const pcProblemKind pcProblemKinds[];
extern const int pcProblemKindCount;

/* Unilateral rows without friction, at most 8, and up to 4 equality rows; small enough for the enumeration of reference.h. With `zeroRows`,
 * contacts keep friction rows: of zeros, as mu = 0 makes them. */
pcConeModel pcFrictionless(uint64_t seed, bool zeroRows, bool coulomb);

/* At most 4 bodies, 5 contacts of every kind, bounds and joints: small enough for a slow reference. */
pcConeModel pcSmallMixture(uint64_t seed, bool coulomb);

/* A sphere thrown at or along a plane: gravity, spin, apart or penetrating. */
typedef struct pcThrow {
    pcConeModel model;
    double gap, h, radius;
} pcThrow;
pcThrow pcThrownSphere(uint64_t seed, bool coulomb);

/* Balls of diameter 1 thrown into a corner of the world, over a square of this width, every one in touch with all that are near. */
#define PC_HEAP_BALLS 300 /* at most */
pcConeModel pcHeap(int balls, double width, bool coulomb, uint64_t seed);

/* A wedge between two walls with mu = 10: impulses can grow without end and balance each other. 0: at rest, 1: pushed, 2: walls that
 * nearly face each other, 3: both penetrate, which nothing can resolve. */
#define PC_WEDGES 4
pcConeModel pcJammedWedge(int variant, bool coulomb);

/* The same equality row twice with different targets, which least squares meets in the middle. 0: a box, 1: with a contact, 2: the
 * end of a chain, with a contact. */
#define PC_CONTRADICTIONS 3
pcConeModel pcContradiction(int variant, bool coulomb);
pcConeModel pcContradictionInTheMiddle(int variant, bool coulomb); /* once, with the mean target: it has the wanted velocity */

#endif
