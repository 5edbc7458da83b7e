/* Linear programs in few variables: the facet side of the metric, and the deepest point of a set of half-spaces. */
#ifndef PC_SOLVER_LP_H
#define PC_SOLVER_LP_H

#include "pcontact/types.h"

#define PC_LP_MAX 4

/* minimise c.x subject to a_k.x <= b_k, k = 0 .. m-1; A is row-major, m rows of n <= PC_LP_MAX numbers. */
typedef struct pcLp {
    int n, m;
    const double* A;
    const double* b;
    const double* c;
} pcLp;

/* `x` holds a feasible point on entry and the minimiser on return; `active` the n rows that meet there and `y` >= 0 their multipliers:
 * sum y_i a_i = -c. PC_RAY if the minimum is unbounded. The residual is the largest row violation, relative to the size of the row. */
pcSolveInfo pcLpSolve(const pcLp* lp, double* x, int active[PC_LP_MAX], double y[PC_LP_MAX]);

#endif
