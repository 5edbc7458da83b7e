/* The law of one cone (problem.h), regularized, with its derivative: what a Newton method needs to know. Knows of one cone only. */
#ifndef PC_SOLVER_CONE_H
#define PC_SOLVER_CONE_H

#include "solver/problem.h"

/* What friction does. GIVEN_SLIP is T 5.15: the slip of group g may not exceed lambda_g, whatever impulse that takes. */
typedef enum pcLaw { PC_LAW_RELAXED = 0, PC_LAW_COULOMB, PC_LAW_GIVEN_SLIP } pcLaw;

/* c = the impulse that answers row velocities u, given the impulse r of the last round and weights e (velocity per impulse, equal
 * within a group):   c = argmin over K of  |c - (r - u~/e)|^2 in the norm of e,
 * and, unless NULL, G = -dc/du (an element of the generalized Jacobian), rows x rows, row-major. With PC_LAW_GIVEN_SLIP
 *     c = argmin over c_n >= 0 of  |c - (r - u/e)|^2 / 2 in the norm of e + sum_g lambda_g (gauge of P_g)(c_g),
 * lambda_g = slip[first row of g]; slip is not read otherwise. */
void pcConeLaw(const pcCone* cone, pcLaw law, const double* slip, const double* e, const double* r, const double* u, double* c, double* G);

#endif
