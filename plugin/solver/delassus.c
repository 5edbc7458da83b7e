/*
 * Contact problems given by their Delassus matrix: u = W r + q. In the proximal Newton method (proximal.c) the unknown is u itself:
 * A = I, f = q, C = I, B = W, so W need neither be symmetric nor have full rank.
 */
#include "solver/delassus.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "linalg/dense.h"

typedef struct Impulse {
    int n, cones;
    const pcCone* cone;
    const double *W, *q; /* W column-major */
    double *own, *matrix;
    int* pivots;
} Impulse;

static void velocities(void* self, const double* x, double* u) { memcpy(u, x, (size_t)((Impulse*)self)->n * sizeof *u); }

static void balance(void* self, const double* x, const double* c, double* F)
{
    const Impulse* s = self;
    for (int i = 0; i < s->n; i++) F[i] = x[i] - s->q[i];
    for (int j = 0; j < s->n; j++) {
        const double* column = s->W + (size_t)j * (size_t)s->n;
        for (int i = 0; c[j] != 0.0 && i < s->n; i++) F[i] -= column[i] * c[j];
    }
}

static double norm(void* self, const double* F)
{
    const Impulse* s = self;
    double sum = 0.0;
    for (int i = 0; i < s->n; i++) sum += F[i] * F[i] / s->own[i];
    return sqrt(sum);
}

static double error(void* self, const double* F)
{
    double most = 0.0;
    for (int i = 0; i < ((Impulse*)self)->n; i++) most = larger(most, fabs(F[i]));
    return most;
}

/* (I + W G) dx = rhs */
static bool newton(void* self, const double* G, const int* offset, const double* rhs, double* dx)
{
    Impulse* s = self;
    size_t n = (size_t)s->n;
    memset(s->matrix, 0, n * n * sizeof *s->matrix);
    for (int k = 0; k < s->cones; k++) {
        int rows = s->cone[k].rows, first = s->cone[k].row;
        for (int e = 0; e < rows * rows; e++) {
            double g = G[offset[k] + e];
            const double* from = s->W + (size_t)(first + e / rows) * n;
            double* to = s->matrix + (size_t)(first + e % rows) * n;
            for (size_t i = 0; g != 0.0 && i < n; i++) to[i] += g * from[i];
        }
    }
    for (size_t i = 0; i < n; i++) s->matrix[i * n + i] += 1.0;
    memcpy(dx, rhs, n * sizeof *dx);
    return pcLuFactor(s->n, s->matrix, s->n, s->pivots) == 0 && pcLuSolve(s->n, s->matrix, s->n, s->pivots, false, dx) == 0;
}

bool pcImpulseForm(const pcImpulseProblem* p, pcArena* arena, pcLinear* out)
{
    Impulse* s = pcArenaNew(arena, Impulse, 1);
    if (!s) return false;
    size_t n = (size_t)p->n;
    *s = (Impulse){.n = p->n, .cones = p->cones, .cone = p->cone, .W = p->W, .q = p->q};
    s->own = pcArenaNew(arena, double, n), s->matrix = pcArenaNew(arena, double, n * n), s->pivots = pcArenaNew(arena, int, n);
    if (!pcArenaGood(arena)) return false;
    double scale = 0.0;
    for (size_t i = 0; i < n; i++) {
        s->own[i] = p->W[i * n + i] > 0.0 ? p->W[i * n + i] : 1.0;
        scale = larger(scale, fabs(p->q[i]));
    }
    *out = (pcLinear){.unknowns = p->n,
                      .rows = p->n,
                      .cones = p->cones,
                      .cone = p->cone,
                      .own = s->own,
                      .law = PC_LAW_COULOMB,
                      .velocityScale = scale > 0.0 ? scale : 1.0,
                      .self = s,
                      .velocities = velocities,
                      .change = velocities,
                      .balance = balance,
                      .norm = norm,
                      .error = error,
                      .newton = newton};
    return true;
}
