/*
 * What interior.c does at every cone, whose letters these are: loops over cones, for pcPoolLoop. Four contacts that are alike are done at a time, to the
 * same bits as one by one.
 */
#ifndef PC_SOLVER_INTERIOR_CONES_H
#define PC_SOLVER_INTERIOR_CONES_H

#include <stdbool.h>

#include "linalg/blocks.h"
#include "solver/problem.h"
#include "solver/touching.h"

/* Of the step that is looked for. */
typedef enum pcOrder {
    PC_ORDER_FIRST,    /* q = 0 */
    PC_ORDER_SECOND,   /* q is that of the step before */
    PC_ORDER_CORRECTED /* q is there */
} pcOrder;

typedef struct pcInterior {
    const pcProblem* p;
    pcBlocks* H;
    double unit; /* v0 */
    double* own; /* per cone */
    double *v, *C, *Y, *u, *r, *t, *F;
    double* slip;             /* per cone: |u_t|, smoothed */
    double *w, *lambda, *eta; /* the scaling W: per row, per row, per cone */
    double *G, *g, *dv, *dC, *dY, *q;
    double *keptV, *keptC, *keptY; /* a step, while a longer one is looked for */
    int* offset;
    bool* four; /* per cone: it and the three after it are contacts of two or of three rows, all alike, and none is soft */
    int corrections;
    int contacts;      /* cones that are one */
    double m, largest; /* largest |r| */
    const pcTouching* touching;
    double aim, a;   /* what a loop works towards, and how far along the step it looks */
    pcOrder order;   /* of the step that is looked for */
    double* partial; /* what a loop over cones or blocks sums up, by its chunks */
} pcInterior;

static inline bool pcIsContact(const pcCone* cone) { return cone->kind == PC_CONE_FRICTION; }

/* `four`, once p is there. */
void pcConesPair(pcInterior* s);

/* u of a cone at v, in units of velocity. */
void pcConeVelocity(const pcInterior* s, int k, double* u);

/* Each for the context pcInterior: u, r = Y - u - |u_t| n and t, and by chunks the largest |r|; W and G = W^-2 (1 + n t') / own; g, what dC is where nothing
 * moves; dC and dY by dv, and by chunks how far it is to the border of a cone, negative; q, so that C o Y gets nearer to its aim `a` times further on. */
pcLoopBody pcConesMeasure, pcConesStiffen, pcConesLoad, pcConesAnswer, pcConesCorrect;

#endif
