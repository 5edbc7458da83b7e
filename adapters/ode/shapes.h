/* ODE's geoms as shapes of the ratio metric. A geom keeps its shape and its pairs' warm starts for as long as its class and sizes stay. */
#ifndef PC_ODE_SHAPES_H
#define PC_ODE_SHAPES_H

#include "pcontact/pcontact.h"

/* The shape of a geom and its pose in the world (of a GeomTransform: of what it transforms). NULL: of a class the metric does not know, or
 * of sizes that make no body. The shape belongs to the geom, and is good until the geom is destroyed or its sizes change; who wants to keep
 * it for more than a minute without asking again takes a share of it (pcShapeShare). Any thread may ask at any time. */
const pcShape* pcOdeShapeOf(dGeomID geom, pcPose* pose);

/* The same with its pose in the axes of the body that the geom is on and whose pose is given; NULL: in the world's. */
const pcShape* pcOdeShapeOnBody(dGeomID geom, const pcPose* bodyOrNull, pcPose* pose);

/* What is known of a geom, or of all, is forgotten: it was destroyed, or ODE was closed. */
void pcOdeForgetGeom(dGeomID geom);
void pcOdeForgetAllGeoms(void);

/* Nobody has to say that a geom is gone: where there are tens of thousands, a shape that has not been asked for in so many seconds (60 at the
 * start) makes room for new ones. */
void pcOdeSetShapePatience(int seconds);

#endif
