/*
 * Geoms without a shape over planes, looking ahead. dCollide knows only what touches; but the depth in a plane that is raised by a length is the depth
 * in the plane itself plus that length, for every shape, and the points are the same. So dCollide can look ahead here.
 */
#ifndef PC_ODE_AHEAD_H
#define PC_ODE_AHEAD_H

#include "adapters/ode/gather.h"

/* How far the geom looks ahead: as plugin/broadphase has it for a pair with something at rest. */
double pcAheadMargin(const pcGathered* gathered, dGeomID geom, const double gravity[3], const pcSettings* settings, double h);

/* Contacts of geom with plane, those still apart with negative depth; `raised` is a plane in no space to work with. */
int pcAheadCollide(dGeomID geom, dGeomID plane, dGeomID raised, double margin, dContactGeom* contacts, int most);

#endif
