/* Which cones touch which blocks: sums over cones by blocks, J'c among them, can then be shared between threads, each block's in the order of
 * its cones. */
#ifndef PC_SOLVER_TOUCHING_H
#define PC_SOLVER_TOUCHING_H

#include "base/arena.h"
#include "solver/problem.h"

typedef struct pcTouching {
    int* start; /* of block b: start[b] .. start[b + 1] - 1 */
    int* cone;  /* ascending */
} pcTouching;

/* false: out of memory. */
bool pcTouchingFind(const pcProblem* problem, pcArena* arena, pcTouching* out);

#endif
