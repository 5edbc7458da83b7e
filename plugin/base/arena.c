#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64u /* a cache line, and enough for every vector */
#define SMALLEST ((size_t)1 << 16)

typedef struct pcArenaChunk {
    struct pcArenaChunk* older;
    size_t start; /* the arena's `used` where this chunk begins */
    size_t size;  /* bytes of room behind this header */
    unsigned char padding[ALIGNMENT - 3 * sizeof(size_t)];
} Chunk;

_Static_assert(sizeof(Chunk) == ALIGNMENT, "room must begin aligned");

static Chunk* newChunk(pcArena* arena, size_t size)
{
    Chunk* chunk = aligned_alloc(ALIGNMENT, sizeof(Chunk) + size);
    if (!chunk) return NULL;
    chunk->older = arena->newest, chunk->start = arena->used, chunk->size = size;
    return arena->newest = chunk;
}

static void dropNewest(pcArena* arena)
{
    Chunk* chunk = arena->newest;
    arena->newest = chunk->older;
    free(chunk);
}

static void* refuse(pcArena* arena)
{
    arena->exhausted = arena->starved = true;
    return NULL;
}

void* pcArenaTake(pcArena* arena, size_t count, size_t size)
{
    if (arena->exhausted || (size && count > (SIZE_MAX / 4) / size)) return refuse(arena);
    size_t bytes = (count * size + ALIGNMENT) & ~(size_t)(ALIGNMENT - 1); /* never 0: every answer is a different place */
    Chunk* chunk = arena->newest;
    if (!chunk || arena->used - chunk->start + bytes > chunk->size) {
        size_t room = arena->used < SMALLEST ? SMALLEST : arena->used; /* doubles */
        chunk = newChunk(arena, room > bytes ? room & ~(size_t)(ALIGNMENT - 1) : bytes);
        if (!chunk) return refuse(arena);
    }
    unsigned char* place = (unsigned char*)(chunk + 1) + (arena->used - chunk->start);
    arena->used += bytes;
    if (arena->used > arena->peak) arena->peak = arena->used;
    return place;
}

void* pcArenaTakeZeroed(pcArena* arena, size_t count, size_t size)
{
    void* place = pcArenaTake(arena, count, size);
    return place ? memset(place, 0, count * size) : NULL;
}

bool pcArenaGood(const pcArena* arena) { return !arena->exhausted; }
size_t pcArenaMark(const pcArena* arena) { return arena->used; }

void pcArenaRelease(pcArena* arena, size_t mark)
{
    arena->used = mark;
    arena->exhausted = false;
    while (arena->newest && arena->newest->older && arena->newest->start >= mark) dropNewest(arena);
    if (mark == 0 && arena->newest && arena->newest->size < arena->peak) {
        dropNewest(arena);
        newChunk(arena, (arena->peak + arena->peak / 4 + ALIGNMENT) & ~(size_t)(ALIGNMENT - 1)); /* rounds that grow little by little */
    }
}

void pcArenaMatch(pcArena* arena, size_t peak)
{
    if (arena->peak >= peak) return;
    pcArenaTake(arena, peak, 1);
    pcArenaRelease(arena, 0);
    arena->starved = false; /* nobody needs it yet */
}

void pcArenaFree(pcArena* arena)
{
    while (arena->newest) dropNewest(arena);
    *arena = (pcArena){0};
}
