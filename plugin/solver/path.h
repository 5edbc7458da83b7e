/* Coulomb's law in large piles, to the last digits: Newton's method, and its path followed from piece to piece where it runs in circles. */
#ifndef PC_SOLVER_PATH_H
#define PC_SOLVER_PATH_H

#include "linalg/blocks.h"
#include "solver/problem.h"

typedef struct pcPathInfo {
    double residual; /* natural residual as the method sees it; infinite: nothing was found */
    int factors; /* how many times H was factored; 0: the problem is none for this method (polygons, several groups, soft contacts, …) */
} pcPathInfo;

/* (v, c) come in near a solution, and go out as the nearest that was found; unchanged where nothing was. patience: how many
 * factorizations may bring no answer that is twice as near; H: the pattern of M + J'G J. */
pcPathInfo pcPathSolve(const pcProblem* problem, const double* own, double tolerance, int patience, pcBlocks* H, pcArena* arena, double* v,
                       double* c);

#endif
