/*
 * The rival of contact solvers: nonsmooth block Gauss-Seidel, contact by contact, with the circular cone. And the residual by which it
 * and ours are compared: the natural map of pcontact/lcp.h, in physical units.
 */
#ifndef PC_ADAPTERS_CLI_RIVAL_SWEEPS_H
#define PC_ADAPTERS_CLI_RIVAL_SWEEPS_H

#include "pcontact/lcp.h"

typedef struct RivalSweeps RivalSweeps;

/* NULL: out of memory. The problem must stay. */
RivalSweeps* rivalSweepsNew(const pcDelassus* problem);
void rivalSweepsFree(RivalSweeps* sweeps);

/* Goes on from r until the clock reads `until` (ns), at least one sweep; returns how many there were. */
int rivalSweep(RivalSweeps* sweeps, double until, double* r);

/* max over contacts of |r - proj_K(r - (u + mu |u_t| n) / w)| w / max |q|, w the mean diagonal of the contact's own block. */
double rivalResidual(RivalSweeps* sweeps, const double* r);

#endif
