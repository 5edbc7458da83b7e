/* Cone problems in impulse form: u = W c + q. */
#ifndef PC_SOLVER_DELASSUS_H
#define PC_SOLVER_DELASSUS_H

#include "solver/proximal.h"

typedef struct pcImpulseProblem {
    int n;
    const double* W; /* n x n, column-major; friction rows and columns already multiplied by their coefficient */
    const double* q;
    int cones;
    const pcCone* cone;
} pcImpulseProblem;

/* false: out of memory. `out` lives as long as the arena is not released. */
bool pcImpulseForm(const pcImpulseProblem* problem, pcArena* arena, pcLinear* out);

#endif
