/*
 * Linear complementarity problems and contact problems given by their Delassus matrix: plain arrays in, plain arrays out.
 *
 * Both calls write the answer whenever they have one, also an inaccurate one, and always fill `residual`; only PC_BAD_INPUT leaves the
 * answer as it was (pcLastError() says why). They keep no state and may be called from any thread.
 */
#ifndef PCONTACT_LCP_H
#define PCONTACT_LCP_H

#include "pcontact/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How to solve. Start from pcDefaultSolveSettings(): a struct that did not is refused. */
typedef struct pcSolveSettings {
    const char* solver;  /* "auto", "lemke", "minmap"; for contact problems also "fixedpoint" and "sparse" */
    double tolerance;    /* of the residual, dimensionless; default 1e-10 */
    int maxIterations;   /* pivots of lemke, Newton steps of the others; 0: chosen from the size */
    int coneEdges;       /* friction cone of pcDelassusSolve: even, 4 to 1024, or 0 for the circular one; in 2D it has no effect */
    const double* start; /* a guess of the answer, or NULL: helps when it is good, costs little when it is not */
    double* ray;         /* room for n numbers, or NULL: written with PC_RAY only */
    unsigned cookie;     /* private */
} pcSolveSettings;
PC_API pcSolveSettings pcDefaultSolveSettings(void);

/* Find z >= 0 with w = M z + q >= 0 and z'w = 0. */
typedef struct pcLcp {
    int n;
    const double* M; /* n x n, row-major */
    const double* q;
} pcLcp;

/* residual: max_i |min(z'_i, w'_i)| in the problem's own units z = s C z', w = s R^-1 w', so that it is dimensionless: R and C are
 * diagonal and make the diagonal of R M C about 1 (rows and columns without one: their largest entry), s makes |R q / s|_inf about 1.
 * Rows of w whose terms are beyond 4096 are measured against these / 4096: more is not in a double.
 * PC_RAY: settings->ray is a u >= 0, largest entry 1, with either M'u <= 0 and q'u < 0, which proves that no z >= 0 makes M z + q >= 0
 * (always so if M is positive semidefinite); or M u >= 0 and u_i (M u)_i = 0, along which z can grow with w staying complementary. */
PC_API pcSolveInfo pcLcpSolve(const pcLcp* problem, const pcSolveSettings* settings, double* z);

/* Contacts with dry friction: velocities u = W r + q; each contact has `dim` rows (2 or 3), the normal one first.
 * Find reactions r with |r_t| <= mu r_n, r_n >= 0 _|_ u_n >= 0, and r_t opposing u_t with full strength where it slides. */
typedef struct pcDelassus {
    int contacts;
    int dim;
    int nonzeros; /* W as triplets; those that meet add up */
    const int* row;
    const int* col;
    const double* value;
    const double* q;  /* dim * contacts */
    const double* mu; /* contacts */
} pcDelassus;

/* residual: max over contacts of |r - proj_K(r - rho (u + mu |u_t| n))|, dimensionless: friction rows multiplied by mu (so that K is the
 * unit cone), velocities divided by the largest |q| of these rows, impulses by that over the mean diagonal of the contact's own block of W,
 * or by the impulse itself where that is larger. */
PC_API pcSolveInfo pcDelassusSolve(const pcDelassus* problem, const pcSolveSettings* settings, double* r);

#ifdef __cplusplus
}
#endif
#endif
