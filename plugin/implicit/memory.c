#include "implicit/memory.h"

#include <stdlib.h>

#include "base/status.h"

pcStatus pcImplicitMemoryCreate(pcImplicitMemory** out)
{
    if (!out) return pcFail(PC_ERROR_ARGUMENT, "where the memory goes is NULL");
    pcImplicitMemory* memory = calloc(1, sizeof *memory);
    if (!memory) return pcFail(PC_ERROR_MEMORY, "out of memory for the memory of steps");
    *out = memory;
    return PC_OK;
}

void pcImplicitMemoryClear(pcImplicitMemory* memory)
{
    pcArenaFree(&memory->arena);
    for (int i = 0; i < 2; i++) pcArenaFree(&memory->kept[i].arena);
    pcMemoryFree(memory->lcp);
    for (int i = 0; i < memory->shapes; i++) pcFormFree(memory->form[i]);
    free(memory->form), free(memory->shapeId), free(memory->contact), free(memory->kind);
}

void pcImplicitMemoryFree(pcImplicitMemory* memory)
{
    if (memory) pcImplicitMemoryClear(memory);
    free(memory);
}
