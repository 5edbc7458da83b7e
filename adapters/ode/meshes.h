/*
 * ODE's triangle meshes and height fields as meshes of ours.
 *
 * A mesh belongs to ODE's data, which many geoms may share. ODE does not say when data change, and comparing all of it at every call would take
 * longer than the collision: a few triangles are compared at each call, others at the next, so that new data at the same address, or data built
 * anew, are noticed at once, and a single height that has changed when its turn comes.
 */
#ifndef PC_ODE_MESHES_H
#define PC_ODE_MESHES_H

#include <stdbool.h>

#include "pcontact/pcontact.h"

/* Whether a geom is of a class that this file knows. */
bool pcOdeIsMesh(dGeomID geom);

/* Its mesh in the axes of the geom. NULL: it has none, or must stay with ODE: callbacks of the program choose its triangles; a height field that
 * goes on without end; a build of ODE whose height fields we do not understand. It is good for as long as the data, or for a minute
 * without being asked for. Any thread may ask at any time. */
const pcShape* pcOdeMeshOf(dGeomID geom);

/* A geom that cannot be placed has no pose, and asking for it aborts. */
bool pcOdeHasPose(dGeomID heightfield);

/* The triangle, as ODE counts them, that is nearest to a point in the axes of the mesh. */
int pcOdeTriangleAt(const pcShape* mesh, const double point[3]);

void pcOdeForgetMeshes(void);

#endif
