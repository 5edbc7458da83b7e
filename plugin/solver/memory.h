/* What pcSolverMemory holds; for the solvers of this folder. */
#ifndef PC_SOLVER_MEMORY_H
#define PC_SOLVER_MEMORY_H

#include "base/arena.h"

struct pcSolverMemory {
    pcArena arena;  /* of the solve under way; empty between solves */
    pcArena beside; /* … and of what a second thread tries beside it (sparse.c) */
};

#endif
