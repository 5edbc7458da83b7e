/* The table of solvers of cone problems, and the memory they share. A new solver is one file and one row. */
#include <stdlib.h>
#include <string.h>

#include "solver/auto.h"
#include "solver/fixedpoint.h"
#include "solver/lemke_cone.h"
#include "solver/memory.h"
#include "solver/minmap.h"
#include "solver/problem.h"
#include "solver/sparse.h"

const pcConeSolver pcConeSolvers[] = {
    {"auto", pcAutoSolve, true, true},         {"lemke", pcLemkeConeSolve, true, true},
    {"sparse", pcSparseSolve, true, true},     {"fixedpoint", pcFixedPointSolve, true, false},
    {"minmap", pcMinmapConeSolve, true, true},
};
const int pcConeSolverCount = (int)(sizeof pcConeSolvers / sizeof *pcConeSolvers);

const pcConeSolver* pcConeSolverFind(const char* name)
{
    for (int i = 0; i < pcConeSolverCount; i++) {
        if (strcmp(pcConeSolvers[i].name, name) == 0) return &pcConeSolvers[i];
    }
    return NULL;
}

pcSolverMemory* pcSolverMemoryCreate(void) { return calloc(1, sizeof(pcSolverMemory)); }

size_t pcSolverMemoryPeak(const pcSolverMemory* memory) { return memory->arena.peak; }

void pcSolverMemoryMatch(pcSolverMemory* memory, size_t peak) { pcArenaMatch(&memory->arena, peak); }

bool pcSolverMemoryStarved(pcSolverMemory* memory)
{
    bool starved = memory->arena.starved || memory->beside.starved;
    memory->arena.starved = memory->beside.starved = false;
    return starved;
}

void pcSolverMemoryFree(pcSolverMemory* memory)
{
    if (memory) pcArenaFree(&memory->arena), pcArenaFree(&memory->beside);
    free(memory);
}
