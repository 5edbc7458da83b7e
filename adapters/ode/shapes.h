/* ODE's geoms as shapes of the ratio metric. A geom keeps its shape and its pairs' warm starts for as long as its class and sizes stay. */
#ifndef PC_ODE_SHAPES_H
#define PC_ODE_SHAPES_H

#include "pcontact/pcontact.h"

/* The shape of a geom and its pose in the world (of a GeomTransform: of what it transforms). NULL: of a class the metric does not know. The
 * shape belongs to the geom, and is good until the geom is destroyed or its sizes change. */
const pcShape* pcOdeShapeOf(dGeomID geom, pcPose* pose);

/* What is known of a geom, or of all, is forgotten: it was destroyed, or ODE was closed. */
void pcOdeForgetGeom(dGeomID geom);
void pcOdeForgetAllGeoms(void);

#endif
