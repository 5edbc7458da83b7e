/*
 * Slow solvers of cone problems for tests: dense, in long double, without any of the ideas that make the library's fast. What they share
 * is the problem with the velocities eliminated,  u = W c + q,  W = J M^-1 J' + diag s,  q = J f - b,  v = f + Y c,  Y = M^-1 J'.
 */
#ifndef PC_UNIT_REFERENCE_H
#define PC_UNIT_REFERENCE_H

#include "solver/problem.h"

typedef long double Real;

typedef struct pcDual {
    const pcProblem* problem;
    int rows, size;  /* size: of v */
    Real *W, *q, *Y; /* rows x rows; rows; size x rows */
} pcDual;
pcDual pcDualOf(const pcProblem* problem);
void pcDualFree(pcDual* dual);
void pcDualVelocity(const pcDual* dual, const double* c, double* v);

/* Gaussian elimination with complete pivoting of the n x n system A x = b, both overwritten. What depends on the rest is set to 0;
 * returns the largest remainder of the equations that were left over, relative to the right-hand side. */
Real pcEliminate(int n, Real* A, Real* b, Real* x);

/* Frictionless problems by trying every set of contacts that press; FREE rows always hold. Friction rows get no impulse. At most 16
 * contacts, and no BOX. Returns the largest violation, dimensionless: rounding, if there is a solution. */
Real pcReferenceEnumerate(const pcProblem* problem, double* v, double* c);

/* Projected Gauss-Seidel, both models. Returns the sweeps used; stops when no impulse changes by more than `tolerance` of its own unit. */
int pcReferenceSweeps(const pcProblem* problem, int sweeps, double tolerance, double* v, double* c);

/* The convex model by accelerated projected gradients with restart. Returns the last step, in velocity by velocityScale. */
double pcReferenceConvex(const pcProblem* problem, int iterations, double* v, double* c);

#endif
