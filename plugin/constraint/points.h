/* Points that joints hold, found in their rows: where they are at the end of a step, and how stiff the pull at them is (points.c). */
#ifndef PC_CONSTRAINT_POINTS_H
#define PC_CONSTRAINT_POINTS_H

#include "constraint/constraint.h"

/* Three consecutive rows of the system that hold a point of body 1 at a point of body 2. */
typedef struct pcHeldPoint {
    int row;     /* the first of them */
    int body[2]; /* PC_WORLD: none */
    v3 arm[2];   /* from the body's position, world axes; 0 of PC_WORLD */
} pcHeldPoint;

/* In the order of their rows; returns how many, 0 also if out of memory (see the arena). */
int pcHeldPointsFind(pcArena* arena, const pcSystem* system, pcHeldPoint** out);

/* The bodies at which the points pull with `force` (per row of the system, on body 1) turn as sluggishly as a step of h needs: their inertia,
 * its inverse and their free velocity. */
void pcHeldPointsStiffen(pcArena* arena, const pcSystem* system, const pcHeldPoint* points, int count, const double* force, double h,
                         pcMotion* motion);

/* a.(e1 - e2) / h of the k-th row of a point whose bodies move by these velocities: what the row must ask for less. */
double pcHeldPointBend(const pcSystem* system, const pcHeldPoint* point, int k, const double velocity1[6], const double velocity2[6],
                       double h);

#endif
