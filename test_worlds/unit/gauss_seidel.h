/*
 * The problem of solver/problem.h by projected Gauss-Seidel: slow, short, and sharing no code with the solvers it is compared with.
 * Residual: the split natural map of gaussSeidelResidual, dimensionless.
 */
#ifndef PC_UNIT_GAUSS_SEIDEL_H
#define PC_UNIT_GAUSS_SEIDEL_H

#include "solver/problem.h"

pcConeSolve pcGaussSeidel;

/* Largest step that one projection would still make: the normal impulse by u_n, then each group by its own velocity. By impulse scale. */
double pcGaussSeidelResidual(const pcProblem* problem, const double* v, const double* c);

#endif
