#include "solver/touching.h"

bool pcTouchingFind(const pcProblem* p, pcArena* arena, pcTouching* out)
{
    int* filled = pcArenaRaw(arena, int, p->blocks);
    out->start = pcArenaNew(arena, int, p->blocks + 1), out->cone = pcArenaRaw(arena, int, 2 * (size_t)p->cones);
    if (!pcArenaGood(arena)) return false;
    for (int i = 0; i < 2 * p->cones; i++) {
        int block = p->block[2 * (size_t)p->cone[i / 2].row + (size_t)(i % 2)];
        if (block >= 0) out->start[block + 1]++;
    }
    for (int b = 0; b < p->blocks; b++) out->start[b + 1] += out->start[b], filled[b] = out->start[b];
    for (int i = 0; i < 2 * p->cones; i++) {
        int block = p->block[2 * (size_t)p->cone[i / 2].row + (size_t)(i % 2)];
        if (block >= 0) out->cone[filled[block]++] = i / 2;
    }
    return true;
}
