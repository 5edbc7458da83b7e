#include "solver/stiffness.h"

#include <string.h>

#include "base/simd.h"

#define B PC_BLOCK
#define BB PC_BLOCK_SIZE

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
    return pcBlocksPattern(out, p->blocks, pairs, count / 2, arena);
}

static void addMass(const pcProblem* p, pcBlocks* H)
{
    size_t n = (size_t)(B * p->blocks);
    for (int i = 0; i < p->blocks; i++) {
        for (int j = p->dense ? 0 : i; j < (p->dense ? p->blocks : i + 1); j++) {
            double* to = pcBlocksAt(H, i, j);
            const double* from = p->dense ? p->mass + (size_t)(B * i) * n + (size_t)(B * j) : p->mass + (size_t)i * BB;
            for (int e = 0; e < BB; e++) to[e] += from[(size_t)(e / B) * (p->dense ? n : B) + (size_t)(e % B)];
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
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 2; b++) {
            if (pair->block[a] < 0 || pair->block[b] < 0) continue;
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
PC_SIMD static void addCone(int rows, const double* J, const double* G, double* sum)
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
        addCone(cone->rows, p->J + 12 * (size_t)cone->row, G + offset[k], pair.sum);
    }
    flush(H, &pair);
}

void pcStiffnessFill(const pcProblem* p, const double* G, const int* offset, pcBlocks* H)
{
    pcBlocksClear(H);
    addMass(p, H);
    addCones(p, G, offset, H);
}
