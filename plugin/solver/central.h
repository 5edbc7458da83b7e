/* Coulomb's law in packed piles: the path of interior.c, followed around its turns until it ends at a solution. */
#ifndef PC_SOLVER_CENTRAL_H
#define PC_SOLVER_CENTRAL_H

#include "linalg/blocks.h"
#include "solver/problem.h"

typedef struct pcCentral pcCentral;

/* Whether there is such a path: none for bounded rows, polygons, cones of several groups, soft contacts, no contact at all, the relaxation, a dense mass. */
bool pcCentralApplies(const pcProblem* problem);

/* At the beginning of the path, or of another one, on which contacts are weighted by a power of what they carry: where one is long another may be short.
 * power: 0 for none. own: J_i M^-1 J_i' of every row; H: the pattern of M + J'G J. All of it lives in the arena. NULL: it does not apply, or
 * memory ran out. */
pcCentral* pcCentralBegin(const pcProblem* problem, const double* own, double power, pcBlocks* H, pcArena* arena);

/* Goes on until m is at most `aim`, or until H was factored `limit` times since the call. (v, c) is what belongs to where it is then, about the root of m
 * off a solution. Returns m; 0: there is no going on, and v and c are as before. It may be called again, and others may use H meanwhile. */
double pcCentralFollow(pcCentral* path, double aim, int limit, double* v, double* c);

/* What belongs to where it is, also where there is no going on. False: it is not on the path yet, and v and c are as before. */
bool pcCentralAnswer(const pcCentral* path, double* v, double* c);

/* Only these cones have De Saxce's shift |u_t|, the others obey the relaxation (T 5.7); to be said before the path is followed. One for each cone, which
 * live as long as the path. */
void pcCentralLift(pcCentral* path, const bool* lifted);

/* How many times H was factored so far. */
int pcCentralFactors(const pcCentral* path);

#endif
