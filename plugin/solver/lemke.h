/* Lemke's method for dense linear complementarity problems: z >= 0, w = M z + q >= 0, z'w = 0, for any square M. */
#ifndef PC_SOLVER_LEMKE_H
#define PC_SOLVER_LEMKE_H

#include "pcontact/types.h"
#include "solver/scaled.h"

typedef struct pcLemke {
    pcScaledLcp* lcp;                 /* M and q; its column n is used */
    double tolerance;                 /* of the residual */
    int maxPivots;                    /* in all; 0: chosen from n */
    const unsigned char* guessOrNull; /* n flags: z_i is meant to be > 0. A right guess needs no pivot, a wrong one is pivoted away */
    unsigned char* basisOrNull; /* n flags out: where z_i is basic in the end, also at 0. The best guess for a problem like this one */
} pcLemke;

/* `z` is the best point met, always written; the residual is measured on it: see pcScaledResidual. `ray` (n
 * numbers, largest 1) is written with PC_RAY only: u >= 0 with either
 *     M'u <= 0 and q'u < 0            no z >= 0 makes M z + q >= 0 (always so if M is semidefinite), or
 *     M u >= 0 and u_i (M u)_i = 0    z can grow along u with w staying complementary,
 * checked to RAY_TOLERANCE of lemke.c in the units of scaled.h. Iterations are pivots, fallbacks are fresh starts with another covering
 * vector. Numbers must be finite. All memory is given back to the arena; if it has none the outcome is PC_LIMIT and z = 0. */
pcSolveInfo pcLemkeSolve(const pcLemke* problem, pcArena* arena, double* z, double* rayOrNull);

#endif
