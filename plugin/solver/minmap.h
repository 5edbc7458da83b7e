/* Newton's method on the minimum map of a linear complementarity problem (E): z >= 0, w = M z + q >= 0, z'w = 0. */
#ifndef PC_SOLVER_MINMAP_H
#define PC_SOLVER_MINMAP_H

#include "solver/problem.h"
#include "solver/scaled.h"

typedef struct pcMinmap {
    pcScaledLcp* lcp;  /* M and q; its column n is used */
    double tolerance;  /* of the residual: see pcScaledResidual */
    int maxIterations; /* Newton steps; 0: the method's own */
    bool guess;        /* z comes in with one */
    int groups;        /* variables that belong together (a contact), for the inner linear solver; 0: none are known */
    const int* first;  /* per group its first variable, and n at the end */
} pcMinmap;

/* `z` is always written. Iterations are Newton steps, and pivots where Lemke's method took over, from the active set that Newton's ended
 * with; that counts as a fall-back. Numbers must be finite. All memory is given back to the arena. */
pcSolveInfo pcMinmapSolve(const pcMinmap* problem, pcArena* arena, double* z, double* rayOrNull);

/* Cone problems; where Lemke's method fails too, `sparse` finishes. */
pcConeInfo pcMinmapConeSolve(const pcProblem* problem, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c);

#endif
