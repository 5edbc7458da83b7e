/*
 * Cone problems in impulse form, for the proximal Newton method (proximal.c): the unknown is x = W c, so A = I, f = 0, C = I, B = W, and W
 * need neither be symmetric nor have full rank.
 */
#include "solver/delassus.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "linalg/dense.h"

typedef struct Impulse {
    const pcProblem* p;
    int n, cones;
    const pcCone* cone;
    const double* W; /* column-major */
    double *own, *matrix;
    int* pivots;
    int* active;           /* rows of cones that answer, */
    bool* answers;         /* and which cones those are */
    double *solved, *room; /* dx of active rows: in their places, and without gaps */
} Impulse;

static void velocities(void* self, const double* x, double* u)
{
    const Impulse* s = self;
    for (int i = 0; i < s->n; i++) u[i] = x[i] - s->p->target[i];
}

static void change(void* self, const double* dx, double* du) { memcpy(du, dx, (size_t)((Impulse*)self)->n * sizeof *du); }

static void balance(void* self, const double* x, const double* c, double* F)
{
    const Impulse* s = self;
    for (int i = 0; i < s->n; i++) F[i] = x[i];
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

/* The rows of cones that answer at all: the others' part of G is zero. */
static int findActive(Impulse* s, const double* G, const int* offset)
{
    int count = 0;
    for (int k = 0; k < s->cones; k++) {
        int rows = s->cone[k].rows;
        bool answers = false;
        for (int e = 0; e < rows * rows; e++) answers = answers || G[offset[k] + e] != 0.0;
        for (int i = 0; answers && i < rows; i++) s->active[count++] = s->cone[k].row + i;
        s->answers[k] = answers;
    }
    return count;
}

/* (I + W_aa G_aa) in s->matrix, `count` by `count`. */
static void assembleActive(Impulse* s, const double* G, const int* offset, int count)
{
    size_t n = (size_t)s->n, m = (size_t)count, column = 0;
    memset(s->matrix, 0, m * m * sizeof *s->matrix);
    for (int k = 0; k < s->cones; k++) {
        int rows = s->cone[k].rows, first = s->cone[k].row;
        for (int e = 0; s->answers[k] && e < rows * rows; e++) {
            double g = G[offset[k] + e];
            const double* from = s->W + (size_t)(first + e / rows) * n;
            double* to = s->matrix + (column + (size_t)(e % rows)) * m;
            for (size_t i = 0; g != 0.0 && i < m; i++) to[i] += g * from[s->active[i]];
        }
        column += s->answers[k] ? (size_t)rows : 0;
    }
    for (size_t i = 0; i < m; i++) s->matrix[i * m + i] += 1.0;
}

/* dx = rhs - W G dx in the rows of cones that do not answer; dx of the others is there. */
static void fillInactive(const Impulse* s, const double* G, const int* offset, double* dx)
{
    size_t n = (size_t)s->n;
    for (int k = 0; k < s->cones; k++) {
        int rows = s->cone[k].rows, first = s->cone[k].row;
        for (int i = 0; s->answers[k] && i < rows; i++) {
            double impulse = 0.0;
            for (int j = 0; j < rows; j++) impulse += G[offset[k] + i * rows + j] * s->solved[first + j];
            for (size_t r = 0; impulse != 0.0 && r < n; r++) dx[r] -= impulse * s->W[(size_t)(first + i) * n + r];
        }
    }
}

/* (I + W G) dx = rhs, by elimination over the cones that answer. */
static bool newton(void* self, const double* G, const int* offset, const double* rhs, double* dx)
{
    Impulse* s = self;
    int count = findActive(s, G, offset);
    memcpy(dx, rhs, (size_t)s->n * sizeof *dx);
    if (count == 0) return true;
    assembleActive(s, G, offset, count);
    for (int i = 0; i < count; i++) s->room[i] = rhs[s->active[i]];
    if (pcLuFactor(count, s->matrix, count, s->pivots) != 0) return false;
    if (pcLuSolve(count, s->matrix, count, s->pivots, false, s->room) != 0) return false;
    for (int i = 0; i < count; i++) s->solved[s->active[i]] = s->room[i];
    fillInactive(s, G, offset, dx);
    for (int i = 0; i < count; i++) dx[s->active[i]] = s->room[i];
    return true;
}

bool pcImpulseForm(const pcProblem* p, pcArena* arena, pcLinear* out)
{
    Impulse* s = pcArenaNew(arena, Impulse, 1);
    if (!s) return false;
    size_t n = (size_t)p->rows;
    *s = (Impulse){.p = p, .n = p->rows, .cones = p->cones, .cone = p->cone, .W = p->W};
    s->own = pcArenaNew(arena, double, n), s->matrix = pcArenaNew(arena, double, n* n), s->pivots = pcArenaNew(arena, int, n);
    s->active = pcArenaNew(arena, int, n), s->answers = pcArenaNew(arena, bool, p->cones);
    s->solved = pcArenaNew(arena, double, n), s->room = pcArenaNew(arena, double, n);
    if (!pcArenaGood(arena)) return false;
    for (size_t i = 0; i < n; i++) s->own[i] = p->W[i * n + i] > 0.0 ? p->W[i * n + i] : 1.0;
    out->own = s->own, out->self = s;
    out->velocities = velocities, out->change = change, out->balance = balance;
    out->norm = norm, out->error = error, out->newton = newton;
    return true;
}
