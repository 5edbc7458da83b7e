/* Anderson's acceleration of a fixed-point iteration x <- g(x): the next x is the combination of the last few g(x_j) whose changes
 * f_j = g(x_j) - x_j cancel best. */
#ifndef PC_SOLVER_ANDERSON_H
#define PC_SOLVER_ANDERSON_H

#include "base/arena.h"

#define PC_ANDERSON_DEPTH 5

typedef struct pcAnderson {
    int n, count;                                          /* numbers of x; differences held */
    double *f, *g;                                         /* of the last pass */
    double *df[PC_ANDERSON_DEPTH], *dg[PC_ANDERSON_DEPTH]; /* newest first */
    double* room[PC_ANDERSON_DEPTH];
} pcAnderson;

/* false: out of memory. Lives as long as the arena is not released. */
bool pcAndersonNew(pcAnderson* anderson, int n, pcArena* arena);

/* x and g(x) of a pass: x becomes the next one. The first call after a reset is a plain step. */
void pcAndersonStep(pcAnderson* anderson, double* x, const double* g);

/* Forgets all passes. */
void pcAndersonReset(pcAnderson* anderson);

#endif
