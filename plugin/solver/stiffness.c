/*
 * Every column of the matrix is made where it is factored, by the thread that does so: a block's own mass and cones, and what ties it to
 * blocks that are eliminated later.
 */
#include "solver/stiffness.h"

#include <string.h>

#include "base/simd.h"
#include "solver/touching.h"

#define B PC_BLOCK
#define BB PC_BLOCK_SIZE
#define CHOLESKY_BLOCKS \
    40 /* below, half the time is little, and a stack of mass ratio 1e6 has its last digit from rows exchanged in LU factors */

bool pcStiffnessPattern(const pcProblem* p, pcArena* arena, pcBlocks* out)
{
    int count = 0, most = p->dense ? p->blocks * (p->blocks - 1) / 2 : p->cones;
    int* pairs = pcArenaNew(arena, int, 2 * most);
    pcTouching* touching = pcArenaNew(arena, pcTouching, 1);
    if (!pcArenaGood(arena) || !pcTouchingFind(p, arena, touching)) return false;
    for (int i = 0; p->dense && i < p->blocks; i++) {
        for (int j = 0; j < i; j++) pairs[count++] = i, pairs[count++] = j;
    }
    for (int k = 0; !p->dense && k < p->cones; k++) {
        const int* block = p->block + 2 * (size_t)p->cone[k].row;
        if (block[0] >= 0 && block[1] >= 0) pairs[count++] = block[0], pairs[count++] = block[1];
    }
    bool good = pcBlocksPattern(out, p->blocks, pairs, count / 2, p->pool, arena);
    out->source = touching;
    return good;
}

const pcTouching* pcStiffnessTouching(const pcBlocks* pattern) { return pattern->source; }

typedef struct Source {
    const pcProblem* p;
    const double* G;
    const int* offset;
} Source;

static void addDense(const pcProblem* p, int i, int j, double* to)
{
    size_t n = (size_t)(B * p->blocks);
    const double* from = p->mass + (size_t)(B * i) * n + (size_t)(B * j);
    for (int e = 0; e < BB; e++) to[e] += from[(size_t)(e / B) * n + (size_t)(e % B)];
}

static void addMass(const pcProblem* p, const pcBlocks* H, int block, const pcBlocksColumn* to)
{
    if (!p->dense) {
        memcpy(to->diagonal, p->mass + (size_t)block * BB, BB * sizeof *to->diagonal);
        return;
    }
    addDense(p, block, block, to->diagonal);
    for (int j = 0; j < p->blocks; j++) {
        if (H->place[j] <= H->place[block]) continue;
        size_t entry = (size_t)to->where[H->place[j]] * BB;
        addDense(p, block, j, to->upper + entry);
        if (to->lower) addDense(p, j, block, to->lower + entry);
    }
}

/* Rows of a cone, as far as they act on one block: four and two numbers each. */
typedef struct Side {
    v4d four[PC_CONE_ROWS];
    v2d two[PC_CONE_ROWS];
} Side;

/* G J */
PC_INLINE void sideTimes(int rows, const double* G, const double* J, Side* out)
{
    for (int r = 0; r < rows; r++) {
        v4d four = v4Splat(0.0);
        v2d two = {0.0, 0.0}, right;
        for (int k = 0; k < rows; k++) {
            double g = G[r * rows + k];
            __builtin_memcpy(&right, J + 12 * k + 4, sizeof right);
            four += v4Splat(g) * v4Load(J + 12 * k), two += (v2d){g, g} * right;
        }
        out->four[r] = four, out->two[r] = two;
    }
}

/* to += J'X */
PC_INLINE void addTurned(int rows, const double* J, const Side* X, double* to)
{
    PC_UNROLL(6) for (int i = 0; i < B; i++, to += B)
    {
        v4d four = v4Load(to);
        v2d two;
        __builtin_memcpy(&two, to + 4, sizeof two);
        for (int r = 0; r < rows; r++) {
            double j = J[12 * r + i];
            four += v4Splat(j) * X->four[r], two += (v2d){j, j} * X->two[r];
        }
        v4Store(to, four);
        __builtin_memcpy(to + 4, &two, sizeof two);
    }
}

/* Of one block's column: its diagonal, and the two blocks that tie it to another one, or NULL; where G is symmetric, `lower` is not asked for. */
typedef struct Tie {
    double *diagonal, *lower, *upper;
} Tie;

PC_INLINE void addRows(int rows, const double* G, const double* own, const double* other, const Tie* to)
{
    Side x;
    sideTimes(rows, G, own, &x);
    addTurned(rows, own, &x, to->diagonal);
    if (!to->upper) return;
    if (to->lower) addTurned(rows, other, &x, to->lower);
    sideTimes(rows, G, other, &x);
    addTurned(rows, own, &x, to->upper);
}

/* A contact that is open, or a bound that is reached, gives way to nothing. */
PC_INLINE bool isRigid(int rows, const double* G)
{
    for (int i = 0; i < rows * rows; i++)
        if (G[i] != 0.0) return true;
    return false;
}

/* to += sum, which is nothing again. */
PC_INLINE void flush(double* sum, double* to)
{
    for (int i = 0; i < B; i++, to += B, sum += B) { /* as it was written, row by row: other widths would wait for the stores */
        v4Store(to, v4Load(to) + v4Load(sum)), v4Store(sum, v4Splat(0.0));
        to[4] += sum[4], to[5] += sum[5], sum[4] = sum[5] = 0.0;
    }
}

/* What a column is made of lies all over memory: asked for before it is needed. */
PC_INLINE void fetch(const Source* source, int block, const pcTouching* touching)
{
    const pcProblem* p = source->p;
    if (!p->dense) PC_UNROLL(5) for (int e = 0; e < BB; e += 8) __builtin_prefetch(p->mass + (size_t)block * BB + e);
    for (int i = touching->start[block]; i < touching->start[block + 1]; i++) {
        int cone = touching->cone[i];
        const double *G = source->G + source->offset[cone], *J = p->J + 12 * (size_t)p->cone[cone].row;
        __builtin_prefetch(G), __builtin_prefetch(G + 8);
        PC_UNROLL(5) for (int e = 0; e < BB; e += 8) __builtin_prefetch(J + e);
    }
}

/* Cones between the same two blocks mostly follow each other: they are summed up first, so that the mass is rounded less often. */
PC_SIMD static void fillColumn(const void* context, const pcBlocks* H, int block, const pcBlocksColumn* column)
{
    const Source* source = context;
    const pcProblem* p = source->p;
    const pcTouching* touching = pcStiffnessTouching(H);
    double sum[BB] = {0.0};
    Tie to = {.diagonal = sum};
    int before = -1;
    fetch(source, block, touching);
    addMass(p, H, block, column);
    for (int i = touching->start[block]; i < touching->start[block + 1]; i++) {
        const pcCone* cone = p->cone + touching->cone[i];
        const int* blocks = p->block + 2 * (size_t)cone->row;
        const double *G = source->G + source->offset[touching->cone[i]], *J = p->J + 12 * (size_t)cone->row;
        int side = blocks[0] != block, other = blocks[1 - side];
        if (!isRigid(cone->rows, G)) continue;
        if (other != before) {
            bool tied = other >= 0 && H->place[other] > H->place[block];
            size_t entry = tied ? (size_t)column->where[H->place[other]] * BB : 0;
            to.lower = tied && column->lower ? column->lower + entry : NULL, to.upper = tied ? column->upper + entry : NULL;
            flush(sum, column->diagonal), before = other;
        }
        if (cone->rows == 3) /* as nearly all have, in a plane 2: the compiler unrolls these */
            addRows(3, G, J + B * side, J + B * (1 - side), &to);
        else if (cone->rows == 2)
            addRows(2, G, J + B * side, J + B * (1 - side), &to);
        else
            addRows(cone->rows, G, J + B * side, J + B * (1 - side), &to);
    }
    flush(sum, column->diagonal);
}

bool pcStiffnessFactor(const pcProblem* p, const double* G, const int* offset, pcBlocks* H)
{
    const Source source = {p, G, offset};
    if (!p->coulomb && p->blocks >= CHOLESKY_BLOCKS && pcBlocksFactorSymmetric(H, fillColumn, &source)) return true;
    return pcBlocksFactorFilled(H, fillColumn, &source);
}
