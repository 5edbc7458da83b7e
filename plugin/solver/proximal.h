/*
 * The proximal Newton method: one algorithm for every cone problem, over any linear algebra that can do four things. The velocity
 * form with sparse blocks (velocity.c) and the impulse form with a dense matrix (delassus.c) are two rows of the same kind.
 */
#ifndef PC_SOLVER_PROXIMAL_H
#define PC_SOLVER_PROXIMAL_H

#include "base/arena.h"
#include "base/pool.h"
#include "solver/cone.h"

/* F(x) = A (x - f) - B c,  u = C x - b. */
typedef struct pcLinear {
    int unknowns, rows, cones;
    const pcCone* cone;
    const double* soft; /* per row, or NULL: none */
    const double* own;  /* per row: the diagonal of C A^-1 B, velocity per impulse; > 0 */
    pcLaw law;
    const bool* lifted; /* PC_LAW_COULOMB: per cone, whether it has De Saxce's shift; the others obey the relaxation. NULL: all have it */
    const double* slip; /* PC_LAW_GIVEN_SLIP: per row, read at the first row of each group; else NULL */
    double velocityScale;
    pcPool* pool; /* threads that help; NULL: none */
    void* self;
    void (*velocities)(void* self, const double* x, double* u);               /* u = C x - b */
    void (*change)(void* self, const double* dx, double* du);                 /* du = C dx */
    void (*balance)(void* self, const double* x, const double* c, double* F); /* F = A (x - f) - B c */
    double (*norm)(void* self, const double* F);                              /* >= 0; comparable between two F of this problem */
    double (*error)(void* self, const double* F);                             /* largest row velocity that F stands for: |C A^-1 F| */
    /* (A + B G C) dx = rhs; of a pile (below) G may be NULL: that of the call before */
    bool (*newton)(void* self, const double* G, const int* offset, const double* rhs, double* dx);
} pcLinear;

typedef struct pcProximalSettings {
    double tolerance;  /* of the natural residual, by velocityScale */
    int maxIterations; /* Newton steps; 0: 500 */
    int maxRestarts;   /* rounds that may be repeated; 0: 60 */
    bool warm;         /* x and c come in with a guess */
    bool pile; /* large, and by the relaxation: then F is the gradient of a convex function, and factors cost more than anything else */
    double rounding; /* row velocities, by velocityScale, that the balance may be off by at the end; 0: as little as rounding leaves */
    double* held;    /* or NULL: room for what E still held back in the last round, a velocity per row: E (c - r) */
} pcProximalSettings;

typedef struct pcProximalInfo {
    bool converged;
    int iterations;  /* Newton steps */
    int rounds;      /* proximal steps */
    int restarts;    /* rounds that had to be repeated with more regularization */
    bool jammed;     /* ended because nothing gave way any more, and impulses only grew */
    double residual; /* natural residual as the method sees it */
} pcProximalInfo;

/* Writes its best x and c. */
pcProximalInfo pcProximalSolve(const pcLinear* problem, const pcProximalSettings* settings, pcArena* arena, double* x, double* c);

#endif
