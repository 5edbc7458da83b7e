/* x = v, A = M, C = J, B = J'. Where the mass is not dense, the matrix M + J'G J has one 6x6 block per body and per touching pair. */
#include "solver/velocity.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "linalg/mass.h"
#include "linalg/panel.h"
#include "solver/certificate.h"
#include "solver/rows.h"
#include "solver/stiffness.h"

#define B PC_BLOCK
#define BB PC_BLOCK_SIZE
#define MOMENTUM_ROUNDING 1e-14 /* relative: as good as sums of a few hundred terms can be */

typedef struct Velocity {
    const pcProblem* p;
    pcMass factor;
    double* own;
    double* difference; /* v - f; and M^-1 F */
    double* rhs;
    pcBlocks H;
    double* G; /* what H was factored with, … */
    int size;
    int factorization; /* … and which one of its factorizations that was */
} Velocity;

static const int* blocksOf(const pcProblem* p, int row) { return p->block + 2 * (size_t)row; }
static const double* jacobianOf(const pcProblem* p, int row) { return p->J + 12 * (size_t)row; }

/* A loop over cones or blocks, which threads share. */
typedef struct Loop {
    Velocity* s;
    const double *v, *c;
    double* out;
} Loop;

static void overCones(Velocity* s, pcLoopBody* body, const double* v, double* out)
{
    Loop loop = {.s = s, .v = v, .out = out};
    pcPoolLoop(s->p->pool, body, &loop, s->p->cones);
}

PC_SIMD static void velocitiesSome(void* context, int begin, int end)
{
    const Loop* loop = context;
    const pcProblem* p = loop->s->p;
    for (int k = begin; k < end; k++)
        for (int row = p->cone[k].row; row < p->cone[k].row + p->cone[k].rows; row++)
            loop->out[row] = rowTimes(p, row, loop->v) - p->target[row];
}

static void velocities(void* self, const double* v, double* u) { overCones(self, velocitiesSome, v, u); }

PC_SIMD static void changeSome(void* context, int begin, int end)
{
    const Loop* loop = context;
    const pcProblem* p = loop->s->p;
    for (int k = begin; k < end; k++)
        for (int row = p->cone[k].row; row < p->cone[k].row + p->cone[k].rows; row++) loop->out[row] = rowTimes(p, row, loop->v);
}

static void change(void* self, const double* dv, double* du) { overCones(self, changeSome, dv, du); }

PC_SIMD static void balanceSome(void* context, int begin, int end)
{
    const Loop* loop = context;
    const pcProblem* p = loop->s->p;
    const double* difference = loop->s->difference;
    int n = B * p->blocks;
    for (int b = begin; b < end; b++) {
        for (int i = B * b; i < B * (b + 1); i++) {
            if (p->dense)
                loop->out[i] = pcDot(n, p->mass + (size_t)i * (size_t)n, difference);
            else
                loop->out[i] = dotSix(p->mass + (size_t)i * B, difference + B * b);
        }
        addTouching(p, pcStiffnessTouching(&loop->s->H), b, -1.0, NULL, loop->c, loop->out + B * b);
    }
}

/* F = M (v - f) - J'c */
static void balance(void* self, const double* v, const double* c, double* F)
{
    Loop loop = {.s = self, .c = c, .out = F};
    const pcProblem* p = loop.s->p;
    for (int i = 0; i < B * p->blocks; i++) loop.s->difference[i] = v[i] - p->free[i];
    pcPoolLoop(p->pool, balanceSome, &loop, p->blocks);
}

/* Energy of the error, with the diagonal of M in place of M. */
static double norm(void* self, const double* F)
{
    const pcProblem* p = ((Velocity*)self)->p;
    double sum = 0.0;
    for (int i = 0, n = B * p->blocks; i < n; i++) {
        double m = p->dense ? p->mass[(size_t)i * (size_t)n + (size_t)i] : p->mass[i / B * BB + i % B * (B + 1)];
        sum += F[i] * F[i] / m;
    }
    return sqrt(sum);
}

/* max |J M^-1 F| */
static double error(void* self, const double* F)
{
    Velocity* s = self;
    const pcProblem* p = s->p;
    double most = 0.0;
    memcpy(s->difference, F, (size_t)(B * p->blocks) * sizeof *F);
    pcMassSolve(&s->factor, s->difference);
    for (int row = 0; row < p->rows; row++) most = larger(most, fabs(rowTimes(p, row, s->difference)));
    return most;
}

/* Where all contacts stay on pieces on which G is constant (they stick, are open, or slide in one dimension), the factors are those of the step
 * before. */
static bool factor(Velocity* s, const double* G, const int* offset)
{
    size_t size = (size_t)s->size * sizeof *G;
    if (s->factorization == s->H.factorization && memcmp(G, s->G, size) == 0) return true;
    memcpy(s->G, G, size);
    bool good = pcStiffnessFactor(s->p, G, offset, &s->H);
    s->factorization = good ? s->H.factorization : -1;
    return good;
}

static bool newton(void* self, const double* G, const int* offset, const double* rhs, double* dv)
{
    Velocity* s = self;
    memcpy(dv, rhs, (size_t)(B * s->p->blocks) * sizeof *dv);
    if (G && !factor(s, G, offset)) return false;
    pcBlocksSolve(&s->H, dv);
    return true;
}

/* J_i M^-1 J_i' of a row; z has room for all blocks, or where M is not dense for two. */
static double ownOf(const Velocity* s, int row, double* z)
{
    const pcProblem* p = s->p;
    const int* block = blocksOf(p, row);
    const double* J = jacobianOf(p, row);
    double own = 0.0;
    if (p->dense) memset(z, 0, (size_t)(B * p->blocks) * sizeof *z);
    for (int side = 0; side < 2; side++) {
        if (block[side] < 0) continue;
        double* at = z + (p->dense ? B * block[side] : B * side);
        memcpy(at, J + B * side, B * sizeof *z);
        if (!p->dense) pcMassSolveBlock(&s->factor, block[side], at), own += dotSix(J + B * side, at);
    }
    if (p->dense) pcMassSolve(&s->factor, z), own = rowTimes(p, row, z);
    return own > 0.0 ? own : 1.0; /* a row that moves nothing: any weight will do */
}

static void ownsOfSome(void* context, int begin, int end)
{
    const Velocity* s = context;
    double z[2 * B];
    for (int k = begin; k < end; k++)
        for (int row = s->p->cone[k].row; row < s->p->cone[k].row + s->p->cone[k].rows; row++) s->own[row] = ownOf(s, row, z);
}

static bool findOwns(Velocity* s, pcArena* arena)
{
    const pcProblem* p = s->p;
    if (!pcMassFactor(&s->factor, p->blocks, p->dense, p->mass, arena)) return false;
    if (!p->dense) {
        pcPoolLoop(p->pool, ownsOfSome, s, p->cones);
        return true;
    }
    double* z = pcArenaRaw(arena, double, B * p->blocks);
    for (int row = 0; z && row < p->rows; row++) s->own[row] = ownOf(s, row, z);
    return z != NULL;
}

bool pcVelocityForm(const pcProblem* p, pcArena* arena, pcLinear* out)
{
    Velocity* s = pcArenaNew(arena, Velocity, 1);
    if (!s) return false;
    s->p = p, s->factorization = -1;
    for (int k = 0; k < p->cones; k++) s->size += p->cone[k].rows * p->cone[k].rows;
    s->own = pcArenaNew(arena, double, p->rows), s->G = pcArenaRaw(arena, double, s->size);
    s->difference = pcArenaNew(arena, double, B * p->blocks), s->rhs = pcArenaNew(arena, double, B * p->blocks);
    if (!pcArenaGood(arena) || !findOwns(s, arena) || !pcStiffnessPattern(p, arena, &s->H)) return false;
    out->own = s->own, out->self = s;
    out->velocities = velocities, out->change = change, out->balance = balance;
    out->norm = norm, out->error = error, out->newton = newton;
    return true;
}

pcBlocks* pcVelocityBlocks(const pcLinear* linear) { return &((Velocity*)linear->self)->H; }

pcCertificate pcBalanceMomentum(const pcProblem* p, const pcLinear* linear, double tolerance, pcArena* arena, double* v, const double* c)
{
    Velocity* s = linear->self;
    pcCertificate before = pcCertify(p, v, c, arena);
    if (p->W) return before; /* there is no momentum in it */
    double* F = s->rhs;
    linear->balance(s, v, c, F);
    if (before.momentum <= MOMENTUM_ROUNDING || !(linear->error(s, F) <= 0.1 * tolerance * p->velocityScale)) return before;
    for (int i = 0; i < B * p->blocks; i++) F[i] = v[i], v[i] -= s->difference[i]; /* difference: M^-1 F */
    pcCertificate after = pcCertify(p, v, c, arena);
    if (after.momentum < before.momentum && after.residual <= larger(before.residual, 0.5 * tolerance)) return after;
    memcpy(v, F, (size_t)(B * p->blocks) * sizeof *v);
    return before;
}
