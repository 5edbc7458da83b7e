/*
 * Memory of one piece of work: taken in order, given back all at once (or back to a mark), kept for the next time. After the first
 * round of a size nothing is allocated any more.
 *
 *     size_t mark = pcArenaMark(arena);
 *     double* x = pcArenaNew(arena, double, n);      // zeroed; NULL when out of memory, and then also for everything until the release
 *     if (!pcArenaGood(arena)) …
 *     pcArenaRelease(arena, mark);
 */
#ifndef PC_BASE_ARENA_H
#define PC_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pcArena {
    struct pcArenaChunk* newest;
    size_t used; /* bytes taken in all chunks, holes included */
    size_t peak; /* largest `used` so far */
    bool exhausted;
    bool starved; /* a block was refused; stays so when the arena is released, until somebody has seen it */
} pcArena; /* zero-initialised: empty */

#define pcArenaNew(arena, type, count) ((type*)pcArenaTakeZeroed((arena), (size_t)(count), sizeof(type)))
/* The same, not zeroed: for what is written before it is read. Zeroing costs a small problem as much as solving it. */
#define pcArenaRaw(arena, type, count) ((type*)pcArenaTake((arena), (size_t)(count), sizeof(type)))

void* pcArenaTakeZeroed(pcArena* arena, size_t count, size_t size);
void* pcArenaTake(pcArena* arena, size_t count, size_t size);
bool pcArenaGood(const pcArena* arena);
size_t pcArenaMark(const pcArena* arena);
void pcArenaRelease(pcArena* arena, size_t mark); /* mark 0: everything; several chunks become one, so that the next round fits */
void pcArenaMatch(pcArena* arena, size_t peak);   /* an empty arena gets room for rounds of this size, if it can be had */
void pcArenaFree(pcArena* arena);

#endif
