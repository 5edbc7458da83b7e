/* The points of a convex geom. ODE has no getter for them; where its object keeps them is learnt from geoms of our own. */
#ifndef PC_ODE_CONVEX_H
#define PC_ODE_CONVEX_H

#include <stdbool.h>

#include "pcontact/pcontact.h"

typedef struct pcOdePoints {
    const dReal* xyz; /* the host's own array, x y z each */
    int count;
} pcOdePoints;

/* False: this ODE keeps them in a way that we do not understand (pcLastError() says so), or there are none. */
bool pcOdeConvexPoints(dGeomID convex, pcOdePoints* out);

#endif
