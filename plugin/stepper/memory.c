/* Two histories take turns: the step reads the last one and writes the other; a step that fails leaves the last one as it was. */
#include "stepper/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

pcStatus pcMemoryCreate(pcMemory** out)
{
    if (!out) return pcFail(PC_ERROR_ARGUMENT, "pcMemoryCreate needs a place for the memory");
    pcMemory* memory = calloc(1, sizeof *memory);
    if (!memory) return pcFail(PC_ERROR_MEMORY, "out of memory for the memory of a system");
    *out = memory;
    return PC_OK;
}

void pcMemoryClear(pcMemory* memory)
{
    pcPoolFree(memory->pool);
    for (int i = 0; i < memory->workers; i++) {
        pcSolverMemoryFree(memory->worker[i].solver);
        pcArenaFree(&memory->worker[i].arena);
    }
    free(memory->worker);
    pcArenaFree(&memory->arena);
    for (int i = 0; i < 2; i++) pcArenaFree(&memory->history[i].arena);
    *memory = (pcMemory){0};
}

void pcMemoryFree(pcMemory* memoryOrNull)
{
    if (memoryOrNull) pcMemoryClear(memoryOrNull);
    free(memoryOrNull);
}

bool pcMemoryPrepare(pcMemory* memory, int threads)
{
    if (!memory->pool && !(memory->pool = pcPoolCreate())) return false;
    if (memory->workers >= threads) return true;
    pcWorker* wider = realloc(memory->worker, (size_t)threads * sizeof *wider);
    if (!wider) return false;
    memory->worker = wider;
    for (; memory->workers < threads; memory->workers++) {
        wider[memory->workers] = (pcWorker){.solver = pcSolverMemoryCreate()};
        if (!wider[memory->workers].solver) return false;
    }
    return true;
}

bool pcMemoryStarved(pcMemory* memory)
{
    bool starved = false;
    for (int i = 0; i < memory->workers; i++) {
        starved |= pcSolverMemoryStarved(memory->worker[i].solver) || memory->worker[i].arena.starved;
        memory->worker[i].arena.starved = false;
    }
    return starved;
}

/* Which worker gets an island is chance: so that this decides nothing about memory, all have the room of the one that has most. Only of small
 * islands: large ones would take it for every thread. */
void pcMemoryLevel(pcMemory* memory)
{
    enum { SMALL = 1 << 20 };
    size_t solver = 0, arena = 0;
    for (int i = 0; i < memory->workers; i++) {
        size_t peak = pcSolverMemoryPeak(memory->worker[i].solver), other = memory->worker[i].arena.peak;
        if (peak > solver && peak <= SMALL) solver = peak;
        if (other > arena && other <= SMALL) arena = other;
    }
    for (int i = 0; i < memory->workers; i++) {
        pcSolverMemoryMatch(memory->worker[i].solver, solver);
        pcArenaMatch(&memory->worker[i].arena, arena);
    }
}

pcPairCache pcHistoryCache(const pcHistory* history, const pcPair* pair, int* from)
{
    for (; *from < history->pairs; ++*from) {
        const pcKeptPair* kept = history->pair + *from;
        if (kept->shape1 == pair->shape1 && kept->shape2 == pair->shape2) return kept->cache;
        if (kept->shape1 > pair->shape1 || (kept->shape1 == pair->shape1 && kept->shape2 > pair->shape2)) break;
    }
    return (pcPairCache){0};
}

static void takeArrays(pcHistory* history, const pcHistorySize* size)
{
    pcArena* arena = &history->arena;
    *history = (pcHistory){.arena = *arena, .shapes = size->shapes, .pairs = size->pairs, .rows = size->rows, .slots = 16};
    while (history->slots < 2 * size->touches) history->slots *= 2;
    history->order = pcArenaNew(arena, int, size->shapes);
    history->pair = pcArenaNew(arena, pcKeptPair, size->pairs);
    history->touch = pcArenaNew(arena, pcKeptTouch, size->touches);
    history->slot = pcArenaNew(arena, int, history->slots);
    history->rowImpulse = pcArenaNew(arena, double, size->rows);
}

/* More than ever before may come in pieces: then it is given back, which joins them, and taken again. */
bool pcHistoryBegin(pcHistory* history, const pcHistorySize* size)
{
    for (size_t peak = SIZE_MAX; peak != history->arena.peak;) {
        peak = history->arena.peak;
        pcArenaRelease(&history->arena, 0);
        takeArrays(history, size);
    }
    return pcArenaGood(&history->arena);
}

/* ---- impulses ---- */

static unsigned hashOf(int body1, int body2, int shape1, int shape2, unsigned long long id)
{
    unsigned long long x = id;
    int part[4] = {body1, body2, shape1, shape2};
    for (int i = 0; i < 4; i++) x = (x ^ (x >> 29) ^ (unsigned)part[i]) * 0x9e3779b97f4a7c15ull;
    return (unsigned)(x >> 32);
}

/* Given contacts without an id cannot be recognised. */
void pcHistoryKeep(pcHistory* history, const pcKeptTouch* touch)
{
    if (touch->shape1 < 0 && touch->id == 0) return;
    unsigned mask = (unsigned)history->slots - 1, at = hashOf(touch->body1, touch->body2, touch->shape1, touch->shape2, touch->id) & mask;
    while (history->slot[at]) at = (at + 1) & mask;
    history->touch[history->touches++] = *touch;
    history->slot[at] = history->touches;
}

static bool isSame(const pcKeptTouch* kept, const pcTouch* touch)
{
    return kept->id == touch->id && kept->body1 == touch->body1 && kept->body2 == touch->body2 && kept->shape1 == touch->shape1 &&
           kept->shape2 == touch->shape2;
}

const pcKeptTouch* pcHistoryFind(const pcHistory* history, const pcTouch* touch)
{
    if (history->touches == 0) return NULL;
    unsigned mask = (unsigned)history->slots - 1, at = hashOf(touch->body1, touch->body2, touch->shape1, touch->shape2, touch->id) & mask;
    for (; history->slot[at]; at = (at + 1) & mask)
        if (isSame(history->touch + history->slot[at] - 1, touch)) return history->touch + history->slot[at] - 1;
    return NULL;
}
