/* Where the last query of each pair of geoms ended, so that the next one begins there. */
#ifndef PC_ODE_WARM_H
#define PC_ODE_WARM_H

#include "pcontact/pcontact.h"

/* What is known of a pair, zero if nothing; and what is known of it from now on. Any thread may ask at any time. The store is of fixed size
 * and forgets; a pair's memory names the shapes that it is about, and those are never made twice, so it dies with the shape of either geom.
 * It decides how long a query takes, never what it answers. */
pcPairCache pcOdeRecall(dGeomID geom1, dGeomID geom2);
void pcOdeRemember(dGeomID geom1, dGeomID geom2, const pcPairCache* cache);

#endif
