/*
 * A complementarity problem over cones: what every solver of this folder takes. In velocity form
 *
 *     M v = M f + J'c,      u = J v - b + s c,      per cone:  c in K,  u~ in K*,  c'u~ = 0
 *
 *     v   unknowns, in blocks of six             M   mass: 6x6 blocks, or dense          f   v without any impulse
 *     J   rows that touch at most two blocks     b   target                              s   softness of a row, >= 0
 *     c   impulses                               u   row velocities                      u~  see `coulomb`
 *
 * or in impulse form, where only the Delassus matrix W is known, which need be neither symmetric nor of full rank:
 *
 *     v = W c,      u = v - b + s c
 *
 * Cones. FREE: K = R, u = 0. BOX: lo <= c <= hi (one row). FRICTION: one normal row and groups of friction rows, already multiplied by
 * their coefficient, so that every group's law is that of a unit disc (or the polygon inscribed in it):
 *     K = { c_n >= 0, |c_g| <= c_n for every group g },     K* = { u_n >= sum_g |u_g| }.
 * coulomb: u~ = u + (sum_g |u_g|) n (De Saxce), which is T 5.1; otherwise u~ = u, which is the relaxation T 5.7.
 */
#ifndef PC_SOLVER_PROBLEM_H
#define PC_SOLVER_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/pool.h"
#include "pcontact/types.h"

typedef enum pcConeKind { PC_CONE_FREE = 0, PC_CONE_BOX, PC_CONE_FRICTION } pcConeKind;

#define PC_CONE_GROUPS 3
#define PC_CONE_ROWS 6

typedef struct pcCone {
    pcConeKind kind;
    int row;                       /* the first of its rows; a cone's rows are consecutive, cones are in row order */
    int rows;                      /* 1, or 1 + the sizes of the groups */
    double lo, hi;                 /* BOX: one of them may be infinite, not both */
    int groups;                    /* FRICTION: 0 .. PC_CONE_GROUPS; 0 is a frictionless contact */
    int groupSize[PC_CONE_GROUPS]; /* 1 or 2 */
    int edges;                     /* of a first group of size 2: 0 a disc, else the polygon with corners at angle + 2 pi i / edges */
    double angle;
} pcCone;

typedef struct pcProblem {
    int blocks;
    const double* mass; /* per block 36 numbers, row-major; dense: (6 blocks)^2, row-major */
    bool dense;
    const double* free;  /* f */
    const int* freedoms; /* per block: how many of its six numbers there are; the others have mass 1 and no row, and stay 0. NULL: all */
    int rows;
    const int* block; /* two per row; -1: none. If both are given they differ; all rows of a cone have the same two, in the same order */
    const double* J;  /* twelve per row */
    const double* target;
    const double* soft;
    const double* W; /* impulse form: rows^2, column-major; then blocks is 0, and what belongs to blocks is not looked at. Else NULL */
    int cones;
    const pcCone* cone;
    bool coulomb;
    pcPool* pool;         /* threads that help with factors of many blocks; NULL: none */
    double velocityScale; /* > 0: what counts as one unit of velocity in residuals: max(|f|, |g| h, gamma |d| / h) */
} pcProblem;

/* How many numbers v has. */
static inline int pcUnknowns(const pcProblem* problem) { return problem->W ? problem->rows : 6 * problem->blocks; }

/* How good (v, c) is, by formulas only; dimensionless. Impulses are scaled by velocityScale over the row's own J M^-1 J' (+ s). */
typedef struct pcCertificate {
    double residual;   /* max over cones of |c - proj_K(c - rho u~)| with rho = 1 / (own J M^-1 J'), by impulse scale */
    double equality;   /* max |u| of FREE rows, by velocityScale */
    double coneExcess; /* max distance of c from K, by impulse scale */
    double momentum;   /* max |M (v - f) - J'c|, by impulse scale: solvers keep this at rounding */
} pcCertificate;

/* How far an answer that missed its tolerance is off: a small residual is worth nothing where momentum was given up for it. */
static inline double pcCertificateOff(const pcCertificate* c) { return c->residual >= c->momentum ? c->residual : c->momentum; }

typedef struct pcConeSettings {
    double tolerance;
    int maxIterations; /* 0: the solver's own */
    int fixedPoint;    /* 1, 2, 3: which chi */
    bool warm;         /* v and c come in with a guess */
    double rough; /* an answer with about this residual will do where no short way leads to a better one; 0: it will not (auto, sparse) */
    bool close;   /* warm: the guess is an answer but for a few contacts (sparse) */
    bool hard;    /* short ways were tried in vain on much the same problem (auto, lemke) */
    double guess; /* the guess c is the answer if its residual is at most this; 0: it is not asked whether it is (auto, lemke) */
} pcConeSettings;

typedef struct pcConeInfo {
    pcSolveInfo solve;
    double contraction; /* fixedpoint: measured rate; else 0 */
    const char* solver; /* name of the method that gave the answer */
    bool certified;     /* the certificate of the answer is here already */
    pcCertificate certificate;
} pcConeInfo;

/* Memory of a solver that lives from solve to solve, so that the second solve of a size allocates nothing. */
typedef struct pcSolverMemory pcSolverMemory;
pcSolverMemory* pcSolverMemoryCreate(void);
void pcSolverMemoryFree(pcSolverMemory* memory);
size_t pcSolverMemoryPeak(const pcSolverMemory* memory);       /* most that a solve has taken, bytes */
void pcSolverMemoryMatch(pcSolverMemory* memory, size_t peak); /* room for a solve that takes as much */
bool pcSolverMemoryStarved(pcSolverMemory* memory);            /* whether a solve since the last question was refused memory */

/* One row of the table of solvers. solve() writes v and c always (its best), never unchecked: info.residual is measured on what it wrote. */
typedef pcConeInfo pcConeSolve(const pcProblem* problem, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c);
typedef struct pcConeSolver {
    const char* name;
    pcConeSolve* solve;
    bool coulomb, convex; /* which models it solves */
} pcConeSolver;
extern const pcConeSolver pcConeSolvers[];
extern const int pcConeSolverCount;
const pcConeSolver* pcConeSolverFind(const char* name); /* NULL: there is none */

#endif
