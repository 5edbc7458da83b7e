/*
 * A cone problem reduced to a linear complementarity problem in its impulses (T 5.1, T 5.7): for the solvers that work on those.
 *
 *     c = T z + t,    w = M z + q:    a contact is z = (c_n, beta.., lambda..), beta one per corner of a group's polygon, lambda its slip
 *
 *     0 <= c_n    _|_  u_n                    >= 0      (u_n - sum_g lambda_g in the relaxation)
 *     0 <= beta   _|_  d'u_g + lambda_g       >= 0
 *     0 <= lambda _|_  c_n - sum beta         >= 0
 *
 * FREE rows are eliminated; of dependent ones only as many are kept as have rank. A disc is replaced by a polygon with `edges` corners,
 * the first at the angle given for it.
 */
#ifndef PC_SOLVER_REDUCE_H
#define PC_SOLVER_REDUCE_H

#include "base/arena.h"
#include "solver/problem.h"

typedef struct pcReduced {
    const pcProblem* problem;
    int n;
    double *M, *q;  /* the LCP, M row-major */
    double *W, *u0; /* rows x rows, row-major: u = W c + u0 for all rows, softness included */
    int edges;      /* corners of the polygon that stands for a disc */
    double* angle;  /* per cone and group: of its first corner */
    double* Linverse; /* private: M^-1 J' */
    /* private: how z maps to c */
    int* first;     /* per cone: its first z */
    int frees, *freeRow;
    int rank;
    double* freeFactor;
} pcReduced;

/* How many corners a group has, and where. */
int pcReducedCorners(const pcReduced* reduced, const pcCone* cone, int group);

/* W, u0 and the maps: once per problem. false: out of memory, or a mass that is not positive definite. */
bool pcReduce(const pcProblem* problem, int edges, pcArena* arena, pcReduced* out);
/* M and q for the present angles. */
void pcReducedAssemble(pcReduced* reduced);
/* v and c of z. */
void pcReducedExpand(const pcReduced* reduced, const double* z, double* v, double* c);
/* z of c: which z would be positive at the impulses c with their velocities u = W c + u0. */
void pcReducedGuess(const pcReduced* reduced, const double* c, double* z);

#endif
