/*
 * A cone problem reduced to a linear complementarity problem in its impulses (T 5.1, T 5.7): for the solvers that work on those.
 *
 *     w = M z + q, z >= 0, w >= 0, z'w = 0:      a contact is z = (c_n, then per group: beta one per corner of its polygon, lambda its slip)
 *
 *     0 <= c_n    _|_  u_n                    >= 0      (u_n - sum_g lambda_g in the relaxation)
 *     0 <= beta   _|_  d'u_g + lambda_g       >= 0
 *     0 <= lambda _|_  c_n - sum beta         >= 0
 *
 * FREE rows are eliminated; of dependent ones only as many take part as have rank. A disc is replaced by a polygon: `edges` corners, the
 * first at its own angle, which may be changed between two assemblies.
 */
#ifndef PC_SOLVER_REDUCE_H
#define PC_SOLVER_REDUCE_H

#include "solver/problem.h"
#include "solver/scaled.h"

#define PC_FAN_NARROW \
    12 /* corners: eight spread evenly, and two on either side of the first, at the width and at PC_FAN_SHRINK times the width */
#define PC_FAN_SHRINK 8.0

typedef struct pcReduced {
    const pcProblem* problem;
    int n;
    pcScaledLcp lcp; /* M and q */
    double *W, *u0;  /* u = W c + u0 with the FREE rows given and taken as they are; rows x rows, symmetric, softness included */
    int edges;       /* corners of the polygon that stands for a disc */
    double width;    /* 0: they are spread evenly; else PC_FAN_NARROW of them, some no further than this from the first */
    double* angle;   /* PC_CONE_GROUPS per cone: of the first corner */
    /* private */
    double* Z;            /* M^-1 J', one row of 6 blocks numbers per row */
    double *V, *e0;       /* W and u0 with the FREE rows eliminated; V is W if there are none */
    int frees, rank;      /* FREE rows, and how many of them are independent */
    int *freeRow, *order; /* which rows; in the order of their factor */
    double* factor;       /* Cholesky factor of their part of W, frees x frees */
    int* first;           /* per cone: its first z; one more at the end */
    int* column;          /* T, per z: two rows of c that it acts on … */
    double* value;        /* … and how strongly */
    double* T;            /* T times the scales of lcp, per cone a matrix of rows x (its z's, and zeros up to a multiple of 4) */
    int* startOfT;        /* per cone */
    int* coneOf;          /* per z */
    int* neighbour;       /* per cone, as many as there are cones: those that its impulses move, … */
    int* neighbours;      /* … and their number */
    double* shift;        /* per row: c = shift + … (bounds) */
    double* answer;       /* room for a velocity per row */
    double* q;            /* per z */
    double* x;            /* room for a number per FREE row */
} pcReduced;

/* Whether a group is a disc, whose polygon is a stand-in. */
bool pcReducedIsDisc(const pcCone* cone, int group);
/* How many corners a group has here, and the i-th one (two numbers, the second 0 for a group of one row). */
int pcReducedCorners(const pcReduced* reduced, int cone, int group);
void pcReducedCorner(const pcReduced* reduced, int cone, int group, int i, double d[2]);

/* Everything that does not depend on angles, which start at 0. false: out of memory, or a mass that is not positive definite. */
bool pcReduce(const pcProblem* problem, int edges, pcArena* arena, pcReduced* out);
/* M and q for the present angles: see reduce_lcp.c. false: out of memory. */
bool pcReducedAssemble(pcReduced* reduced, pcArena* arena);
/* For pcReduce: room for what pcReducedAssemble makes. */
bool pcReducedRoom(pcReduced* reduced, pcArena* arena);
/* v and c of z, in which friction that rounding took over its limit is brought back. */
void pcReducedExpand(const pcReduced* reduced, double* z, double* v, double* c);
/* v = f + M^-1 J'c, or W c. */
void pcReducedVelocity(const pcReduced* reduced, const double* c, double* v);
/* A z that gives c as nearly as it can: a guess for a solver that starts from one. */
void pcReducedGuess(const pcReduced* reduced, const double* c, double* z);

#endif
