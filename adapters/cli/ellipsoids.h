/*
 * The worlds of E section 7, through the public API and without any engine: ellipsoids on a plane or in a spherical container.
 *
 * E gives no numbers; chosen here: semi-axes between 0.3 and 0.5 m, 1000 kg / m^3, 9.81 m/s^2, random turns, and velocities of up to 1 m/s and
 * 1 rad/s in the lattice (of 1.05 m).
 */
#ifndef PC_CLI_ELLIPSOIDS_H
#define PC_CLI_ELLIPSOIDS_H

#include <stdbool.h>

#include "pcontact/system.h"

typedef enum pcEllipsoidKind {
    PC_ELLIPSOIDS_LATTICE, /* a cube of them, or the lower part of one, over a plane, with random velocities */
    PC_ELLIPSOIDS_THREE,   /* three different ones rock and roll on a plane, far from each other */
    PC_ELLIPSOIDS_TWO      /* two in a container slide down its wall towards each other */
} pcEllipsoidKind;

enum { PC_ELLIPSOIDS_MOST = 128 };

typedef struct pcEllipsoids {
    int count;
    pcBody body[PC_ELLIPSOIDS_MOST];
    pcPlacedShape shape[PC_ELLIPSOIDS_MOST + 1];
    pcShape* owned[PC_ELLIPSOIDS_MOST + 1];
    pcSystem system;
    pcSettings settings;
    double h;
    /* of all steps so far */
    int steps, collisions, unsolved;
    long iterations, products, restarts, fallbacks;
    double milliseconds, penetration, residual;
} pcEllipsoids;

/* PC_ERROR_ARGUMENT if there are too many, or too few; `count` is that of the lattice. */
pcStatus pcEllipsoidsMake(pcEllipsoidKind kind, int count, unsigned seed, const char* settings, pcEllipsoids* out);
void pcEllipsoidsFree(pcEllipsoids* world);

pcStatus pcEllipsoidsStep(pcEllipsoids* world, int steps);

#endif
