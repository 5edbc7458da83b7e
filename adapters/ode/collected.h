/*
 * Pairs that pcNearCallback has collected for the next step: all by value, because a program may destroy geoms and bodies before it steps,
 * and nobody tells. Ids of geoms are only numbers here; bodies are looked up in the world's own list before they are touched.
 */
#ifndef PC_ODE_COLLECTED_H
#define PC_ODE_COLLECTED_H

#include <stdbool.h>

#include "pcontact/pcontact.h"

typedef struct pcCollectedGeom {
    dGeomID id;
    dBodyID body;   /* NULL: none */
    pcShape* shape; /* a share of it; NULL: of a class that the metric does not know */
    pcPose pose;    /* of the shape, in the frame of the body; without one in world axes */
    unsigned category, collide;
} pcCollectedGeom;

typedef struct pcCollectedPair {
    int geom1, geom2;
    bool known;  /* the metric can measure it */
    bool joined; /* the program made contact joints for it: they win */
    dSurfaceParameters surface;
    int first, count; /* contacts of dCollide */
} pcCollectedPair;

/* Index + 1 by a hash of ids, 0: empty. */
typedef struct pcIdTable {
    int slots;
    int* slot;
} pcIdTable;

typedef struct pcCollected {
    int geoms, geomRoom, pairs, pairRoom, contacts, contactRoom;
    pcCollectedGeom* geom;
    pcCollectedPair* pair;
    dContactGeom* contact;
    pcIdTable geomTable, pairTable;
} pcCollected;

/* NULL: it was not collected. */
pcCollectedPair* pcCollectedFind(const pcCollected* collected, dGeomID geom1, dGeomID geom2);

/* A pair with its surface, and dCollide's contacts of it; false if out of memory. */
bool pcCollectedAdd(pcCollected* collected, dGeomID geom1, dGeomID geom2, const dSurfaceParameters* surface);

void pcCollectedClear(pcCollected* collected); /* for the next step */
void pcCollectedFree(pcCollected* collected);

/* Halves of a long as one: what meets in a long meets here. */
unsigned pcFoldBits(unsigned long bits);

/* A pose of the world in the frame of a body. */
pcPose pcPoseOnBody(const pcPose* body, const pcPose* world);

#endif
