#include "solver/stiffness.h"

#include <string.h>

#include "base/simd.h"

#define B PC_BLOCK
#define BB PC_BLOCK_SIZE
#define HALF_BLOCKS 40 /* smaller matrices are factored as fast with both halves */

bool pcStiffnessPattern(const pcProblem* p, pcArena* arena, pcBlocks* out)
{
    int count = 0, most = p->dense ? p->blocks * (p->blocks - 1) / 2 : p->cones;
    int* pairs = pcArenaNew(arena, int, 2 * most);
    if (!pairs) return false;
    for (int i = 0; p->dense && i < p->blocks; i++) {
        for (int j = 0; j < i; j++) pairs[count++] = i, pairs[count++] = j;
    }
    for (int k = 0; !p->dense && k < p->cones; k++) {
        const int* block = p->block + 2 * (size_t)p->cone[k].row;
        if (block[0] >= 0 && block[1] >= 0) pairs[count++] = block[0], pairs[count++] = block[1];
    }
    bool good = pcBlocksPattern(out, p->blocks, pairs, count / 2, p->pool, arena);
    out->symmetric = !p->coulomb && p->blocks >= HALF_BLOCKS; /* G is: a projection's derivative */
    return good;
}

static void addMass(const pcProblem* p, pcBlocks* H)
{
    size_t n = (size_t)(B * p->blocks);
    for (int i = 0; i < p->blocks && !p->dense; i++) memcpy(pcBlocksAt(H, i, i), p->mass + (size_t)i * BB, BB * sizeof(double));
    for (int i = 0; i < p->blocks && p->dense; i++) {
        for (int j = 0; j < p->blocks; j++) {
            double* to = pcBlocksAt(H, i, j);
            const double* from = p->mass + (size_t)(B * i) * n + (size_t)(B * j);
            for (int e = 0; e < BB; e++) to[e] += from[(size_t)(e / B) * n + (size_t)(e % B)];
        }
    }
}

/* J'G J of all cones between the same two blocks, which mostly follow each other: 12x12, side by side as J is. */
typedef struct Pair {
    int block[2]; /* -1 -1: nothing yet */
    double sum[144];
} Pair;

PC_SIMD static void flush(pcBlocks* H, Pair* pair)
{
    if (pair->block[0] < 0 && pair->block[1] < 0) return;
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 2; b++) {
            if (pair->block[a] < 0 || pair->block[b] < 0 || pcBlocksIsOther(H, pair->block[a], pair->block[b])) continue;
            double* to = pcBlocksAt(H, pair->block[a], pair->block[b]);
            const double* from = pair->sum + 12 * B * a + B * b;
            for (int i = 0; i < B; i++, to += B, from += 12) {
                v4Store(to, v4Load(to) + v4Load(from));
                to[4] += from[4], to[5] += from[5];
            }
        }
    }
    memset(pair->sum, 0, sizeof pair->sum);
}

/* sum += J'(G J) */
PC_INLINE void addBoth(int rows, const double* J, const double* G, double* sum)
{
    for (int r = 0; r < rows; r++) {
        v4d x = v4Splat(0.0), y = x, z = x;
        for (int k = 0; k < rows; k++) {
            v4d g = v4Splat(G[r * rows + k]);
            x += g * v4Load(J + 12 * k), y += g * v4Load(J + 12 * k + 4), z += g * v4Load(J + 12 * k + 8);
        }
        for (int i = 0; i < 12; i++) {
            v4d j = v4Splat(J[12 * r + i]);
            double* to = sum + 12 * i;
            v4Store(to, v4Load(to) + j * x), v4Store(to + 4, v4Load(to + 4) + j * y), v4Store(to + 8, v4Load(to + 8) + j * z);
        }
    }
}

/* The same for the one side that is not fixed; J and sum begin there. */
PC_INLINE void addOne(int rows, const double* J, const double* G, double* sum)
{
    v4d x[PC_CONE_ROWS];
    v2d y[PC_CONE_ROWS], two;
    for (int r = 0; r < rows; r++) {
        x[r] = v4Splat(0.0), y[r] = (v2d){0.0, 0.0};
        for (int k = 0; k < rows; k++) {
            double g = G[r * rows + k];
            __builtin_memcpy(&two, J + 12 * k + 4, sizeof two);
            x[r] += v4Splat(g) * v4Load(J + 12 * k), y[r] += (v2d){g, g} * two;
        }
    }
    for (int i = 0; i < B; i++) {
        double* to = sum + 12 * i;
        v4d four = v4Load(to);
        __builtin_memcpy(&two, to + 4, sizeof two);
        for (int r = 0; r < rows; r++) four += v4Splat(J[12 * r + i]) * x[r], two += (v2d){J[12 * r + i], J[12 * r + i]} * y[r];
        v4Store(to, four);
        __builtin_memcpy(to + 4, &two, sizeof two);
    }
}

PC_SIMD static void addCone(int rows, const int* block, const double* J, const double* G, double* sum)
{
    int side = block[0] < 0;
    if (block[0] >= 0 && block[1] >= 0)
        addBoth(rows, J, G, sum);
    else if (rows == 3) /* as nearly all have: the compiler unrolls these */
        addOne(3, J + B * side, G, sum + 13 * B * side);
    else
        addOne(rows, J + B * side, G, sum + 13 * B * side);
}

/* A contact that is open, or a bound that is reached, gives way to nothing. */
static bool isRigid(int rows, const double* G)
{
    for (int i = 0; i < rows * rows; i++)
        if (G[i] != 0.0) return true;
    return false;
}

static void addCones(const pcProblem* p, const double* G, const int* offset, pcBlocks* H)
{
    Pair pair = {.block = {-1, -1}};
    for (int k = 0; k < p->cones; k++) {
        const pcCone* cone = &p->cone[k];
        const int* block = p->block + 2 * (size_t)cone->row;
        if (!isRigid(cone->rows, G + offset[k])) continue;
        if (block[0] != pair.block[0] || block[1] != pair.block[1]) {
            flush(H, &pair);
            memcpy(pair.block, block, sizeof pair.block);
        }
        addCone(cone->rows, block, p->J + 12 * (size_t)cone->row, G + offset[k], pair.sum);
    }
    flush(H, &pair);
}

void pcStiffnessFill(const pcProblem* p, const double* G, const int* offset, pcBlocks* H)
{
    pcBlocksClear(H);
    addMass(p, H);
    addCones(p, G, offset, H);
}
