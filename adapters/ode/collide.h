/*
 * dCollide's contract on top of the ratio metric.
 *
 *   normal       unit, into geom 1 (the metric's points from body 1 to body 2: the sign changes here)
 *   depth        length along the normal, >= 0; below 0 only while looking ahead: the bodies are that far apart
 *   pos          where the corner is, as ODE has it; of two edges halfway between the points that meet. In both bodies, up to the distance
 *                between those points. (The common point of the scaled bodies is always in both, but of a thin plate that has sunk in by
 *                a tenth of its thickness it draws the support in by as much.)
 *   side1, side2 the feature of each geom: 4 index + 0 a corner, 1 an edge, 2 a face. The same contact has the same pair in every step.
 *                -1: of a sphere, which has only one. Of a mesh its triangle
 */
#ifndef PC_ODE_COLLIDE_H
#define PC_ODE_COLLIDE_H

#include <stdbool.h>

#include "pcontact/pcontact.h"

/* How far apart a contact may be and still be returned, for the whole process; 0 (as at the start): only what touches. A host that knows
 * nothing of gaps would feel phantom touches. Anything but a finite length >= 0 counts as 0. */
void pcOdeSetLookahead(double margin);
double pcOdeLookahead(void);

/* Whether the metric can measure this pair: that both geoms have shapes is not enough. */
bool pcOdeMetricKnows(dGeomID geom1, dGeomID geom2);

/* Contacts by the metric, without dCollide's rules about spaces and bodies. -1: the metric does not know this pair, or is
 * no better than ODE. */
int pcOdeCollideByMetric(dGeomID geom1, dGeomID geom2, int flags, dContactGeom* contacts, int skip);

/* ODE's own answer, also where overrides are in place. */
int pcOdeCollideNatively(dGeomID geom1, dGeomID geom2, int flags, dContactGeom* contacts, int skip);

#endif
