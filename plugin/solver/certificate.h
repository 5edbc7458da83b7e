/*
 * How good a solution of a cone problem is: by formulas only, sharing nothing with any solver. See problem.h for the problem and for what
 * the figures are; certificate.c says how they are scaled.
 */
#ifndef PC_SOLVER_CERTIFICATE_H
#define PC_SOLVER_CERTIFICATE_H

#include "base/arena.h"
#include "solver/problem.h"

/* Every figure is >= 0, and infinite where a number is not finite or memory ran out: what cannot be judged is not good. The arena is
 * left as it was found. */
pcCertificate pcCertify(const pcProblem* problem, const double* v, const double* c, pcArena* arena);

/* Velocity form only. The energy identity of a step: |left - right| / (sum of the sizes of its terms); infinite if a number is not finite. */
double pcEnergyError(const pcProblem* problem, const double* v, const double* c);

/* Two parts of it, for tests; solvers have their own. The nearest point of K to x, for a cone of any kind; `rows` numbers each, which may be the same ones. */
void pcConeProject(const pcCone* cone, const double* x, double* projected);

/* max { -u.c : c in the set of group g at c_n = 1 }: |u| for a disc, max_i -d_i.u for a polygon with corners d_i. u: the cone's own rows. */
double pcConeSlip(const pcCone* cone, int g, const double* u);

#endif
