/* The law of one cone (problem.h), regularized, with its derivative: what a Newton method needs to know. Knows of one cone only. */
#ifndef PC_SOLVER_CONE_H
#define PC_SOLVER_CONE_H

#include "solver/problem.h"

/* c = the impulse that answers row velocities u, given the impulse r of the last round and weights e (velocity per impulse, equal
 * within a group):   c = argmin over K of  |c - (r - u~/e)|^2 in the norm of e,
 * and, unless NULL, G = -dc/du (an element of the generalized Jacobian), rows x rows, row-major. */
void pcConeLaw(const pcCone* cone, bool coulomb, const double* e, const double* r, const double* u, double* c, double* G);

#endif
