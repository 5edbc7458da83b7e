/* Cone problems in impulse form, with dense linear algebra. */
#ifndef PC_SOLVER_DELASSUS_H
#define PC_SOLVER_DELASSUS_H

#include "solver/proximal.h"

/* false: out of memory. `out` lives as long as the arena is not released. */
bool pcImpulseForm(const pcProblem* problem, pcArena* arena, pcLinear* out);

#endif
