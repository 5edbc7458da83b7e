/* The velocity form of proximal.h: its unknowns are v, so that its cost follows the graph of blocks, not the number of rows. */
#ifndef PC_SOLVER_VELOCITY_H
#define PC_SOLVER_VELOCITY_H

#include "linalg/blocks.h"
#include "solver/proximal.h"

/* Fills in the functions of `out`. false: out of memory, or a mass that is not positive definite. They live as long as the arena is not released. */
bool pcVelocityForm(const pcProblem* problem, pcArena* arena, pcLinear* out);

/* M + J'G J of a velocity form, for others who factor it: the pattern, and room for factors. */
pcBlocks* pcVelocityBlocks(const pcLinear* linear);

/* Momentum lost in rounding is given back to v, unless the rows would notice. The certificate of (v, c) as it is then; `linear` is the form of
 * `problem`; in impulse form there is none to give back. */
pcCertificate pcBalanceMomentum(const pcProblem* problem, const pcLinear* linear, double tolerance, pcArena* arena, double* v,
                                const double* c);

#endif
