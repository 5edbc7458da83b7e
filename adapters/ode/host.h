/* What a library that stands between a program and ODE asks for beyond the public header. */
#ifndef PC_ODE_HOST_H
#define PC_ODE_HOST_H

#include "pcontact/pcontact.h"

/* 1: the world is attached. */
int pcOdeAttached(dWorldID world);

/* A step that the host asked for, by dWorldQuickStep if `quick`: then a step that has to be native, or is beside a shadow, is a quick one.
 * Not PC_OK: nothing was done. */
pcStatus pcOdeHostStep(dWorldID world, dReal h, int quick);

/* It is about to be destroyed, attached or not. */
void pcOdeForgetWorld(dWorldID world);

/* ---- for readers of world files, which can say more than ODE has words for ---- */

/* Of a pair of geoms, beyond its dSurfaceParameters. It comes empty: all 0 and NaN. */
typedef struct pcSurfaceMore {
    double direction1[3]; /* in which mu counts, world axes; 0 0 0: any */
    double fastest, sink; /* as pcSurface has them; NaN: the world's. ODE's own steps do without */
} pcSurfaceMore;

/* A row that no joint makes. ODE's own steps do without. */
typedef struct pcHostRow {
    dBodyID body1, body2; /* NULL: the world; not both */
    pcRow row;            /* but for its bodies */
} pcHostRow;

typedef struct pcWorldMore {
    void* context;
    void (*surface)(void* context, dGeomID geom1, dGeomID geom2, pcSurfaceMore* more); /* NULL: nothing more */
    int (*row)(void* context, int index, pcHostRow* row); /* 0: there is none of that index; NULL: none at all */
} pcWorldMore;

/* Of a world that is attached. */
pcStatus pcOdeSetMore(dWorldID world, const pcWorldMore* more);

#endif
