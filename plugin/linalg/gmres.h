/* A x = b for any square A that can be multiplied with: the generalized minimal residual method, restarted. */
#ifndef PC_LINALG_GMRES_H
#define PC_LINALG_GMRES_H

#include "base/arena.h"

typedef struct pcGmres {
    int n;
    void* self;
    void (*multiply)(void* self, const double* x, double* y);     /* y = A x */
    void (*precondition)(void* self, const double* x, double* y); /* y = P x with P near A^-1; the two do not overlap */
    int restart;                                                  /* directions held at a time */
    int limit;                                                    /* products in all */
    double tolerance;                                             /* of |b - A x| / |b| */
} pcGmres;

typedef struct pcGmresInfo {
    int products, restarts; /* restarts: the first start counts too */
    double residual; /* |b - A x| / |b| that was reached; 1: no memory */
} pcGmresInfo;

/* Starts from x = 0. Where A is singular x is the best of its Krylov space. The arena is left as it was found. */
pcGmresInfo pcGmresSolve(const pcGmres* problem, const double* b, pcArena* arena, double* x);

#endif
