/*
 * Two bodies with three freedoms each have six numbers in two blocks of six, of which the factors of (M + J'G J) know nothing: they multiply
 * blocks, zeros included. Packed into one block the same numbers take an eighth of the products.
 *
 * Which ones: bodies that touch. Their common block has the neighbours of both, and these are mostly the same.
 */
#include "solver/pack.h"

#include <string.h>

#include "solver/memory.h"

typedef struct Pack {
    const pcProblem* p;
    int *start, *neighbour; /* per block: whom it has a cone with, from start[i] to start[i + 1] */
    int *in, *at;           /* per block: which packed one it is in, and from which number of it on; in = -1: none yet */
    pcProblem packed;
    double *mass, *free, *J, *v;
    int* pair;
} Pack;

static bool packNew(Pack* s, pcArena* arena)
{
    size_t blocks = (size_t)s->p->blocks, rows = (size_t)s->p->rows;
    s->start = pcArenaNew(arena, int, blocks + 2), s->neighbour = pcArenaRaw(arena, int, 2 * (size_t)s->p->cones);
    s->in = pcArenaRaw(arena, int, blocks), s->at = pcArenaRaw(arena, int, blocks);
    s->mass = pcArenaNew(arena, double, 36 * blocks), s->free = pcArenaNew(arena, double, 6 * blocks);
    s->v = pcArenaNew(arena, double, 6 * blocks);
    s->pair = pcArenaRaw(arena, int, 2 * rows), s->J = pcArenaNew(arena, double, 12 * rows);
    s->packed = *s->p, s->packed.blocks = 0, s->packed.freedoms = NULL;
    s->packed.mass = s->mass, s->packed.free = s->free, s->packed.block = s->pair, s->packed.J = s->J;
    return pcArenaGood(arena);
}

/* ---- which blocks ---- */

static void listNeighbours(Pack* s)
{
    const pcProblem* p = s->p;
    int* next = s->start + 1; /* where the list of a block goes on; at the end, where the next one begins */
    for (int fill = 0; fill < 2; fill++) {
        for (int k = 0; k < p->cones; k++) {
            const int* block = p->block + 2 * (size_t)p->cone[k].row;
            if (block[0] < 0 || block[1] < 0) continue;
            for (int side = 0; side < 2; side++) {
                if (fill)
                    s->neighbour[next[block[side]]++] = block[1 - side];
                else
                    next[block[side] + 1]++;
            }
        }
        for (int i = 0; !fill && i < p->blocks; i++) next[i + 1] += next[i];
    }
}

/* Somebody who touches `block`, is not packed yet and has no more freedoms than there is room for; -1: nobody. */
static int partnerOf(const Pack* s, int block, int room)
{
    for (int e = s->start[block]; e < s->start[block + 1]; e++) {
        int other = s->neighbour[e];
        if (s->in[other] < 0 && s->p->freedoms[other] <= room) return other;
    }
    return -1;
}

/* Each packed block begins with the first that is left, and goes on with who touches the last that came in. Looking for the partner with the
 * most neighbours in common, or beyond neighbours, made the factors no smaller. */
static void choose(Pack* s)
{
    for (int i = 0; i < s->p->blocks; i++) s->in[i] = -1;
    for (int i = 0; i < s->p->blocks; i++) {
        int used = 0;
        if (s->in[i] >= 0) continue;
        for (int next = i; next >= 0; next = partnerOf(s, next, 6 - used)) {
            s->in[next] = s->packed.blocks, s->at[next] = used;
            used += s->p->freedoms[next];
        }
        s->packed.blocks++;
    }
}

/* ---- there and back ---- */

static void addBlocks(Pack* s)
{
    for (int i = 0; i < 6 * s->packed.blocks; i++) s->mass[36 * (size_t)(i / 6) + 7 * (size_t)(i % 6)] = 1.0;
    for (int b = 0; b < s->p->blocks; b++) {
        const double *mass = s->p->mass + 36 * (size_t)b, *free = s->p->free + 6 * (size_t)b;
        int at = s->at[b], n = s->p->freedoms[b];
        double *toMass = s->mass + 36 * (size_t)s->in[b] + 7 * at, *toFree = s->free + 6 * (size_t)s->in[b] + at;
        for (int i = 0; i < n; i++) {
            toFree[i] = free[i];
            for (int j = 0; j < n; j++) toMass[6 * i + j] = mass[6 * i + j];
        }
    }
}

/* A row between two that are packed together has both of its sides in one block. */
static void addRow(Pack* s, int row)
{
    const int* block = s->p->block + 2 * (size_t)row;
    int *pair = s->pair + 2 * (size_t)row, in[2];
    for (int side = 0; side < 2; side++) in[side] = block[side] >= 0 ? s->in[block[side]] : -1;
    bool together = in[0] >= 0 && in[0] == in[1];
    for (int side = 0; side < 2; side++) {
        pair[side] = together && side == 1 ? -1 : in[side];
        if (in[side] < 0) continue;
        double* to = s->J + 12 * (size_t)row + (together ? 0 : 6 * side) + s->at[block[side]];
        const double* from = s->p->J + 12 * (size_t)row + 6 * side;
        for (int i = 0; i < s->p->freedoms[block[side]]; i++) to[i] = from[i];
    }
}

static void takeGuess(Pack* s, const double* v)
{
    for (int b = 0; b < s->p->blocks; b++)
        memcpy(s->v + 6 * (size_t)s->in[b] + s->at[b], v + 6 * (size_t)b, (size_t)s->p->freedoms[b] * sizeof *v);
}

static void giveAnswer(const Pack* s, double* v)
{
    memset(v, 0, 6 * (size_t)s->p->blocks * sizeof *v);
    for (int b = 0; b < s->p->blocks; b++)
        memcpy(v + 6 * (size_t)b, s->v + 6 * (size_t)s->in[b] + s->at[b], (size_t)s->p->freedoms[b] * sizeof *v);
}

bool pcPackSolve(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, pcConeSolve* solve, pcConeInfo* info,
                 double* v, double* c)
{
    if (!p->freedoms) return false;
    Pack s = {.p = p};
    size_t mark = pcArenaMark(&memory->arena);
    bool good = packNew(&s, &memory->arena);
    if (good) {
        listNeighbours(&s), choose(&s), addBlocks(&s);
        for (int row = 0; row < p->rows; row++) addRow(&s, row);
        if (settings->warm) takeGuess(&s, v);
        *info = solve(&s.packed, settings, memory, s.v, c);
        giveAnswer(&s, v);
    }
    pcArenaRelease(&memory->arena, mark);
    return good;
}
