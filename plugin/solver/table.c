/* The table of solvers: one row each. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "solver/problem.h"
#include "test_worlds/unit/gauss_seidel.h"

struct pcSolverMemory {
    pcArena arena;
};

pcSolverMemory* pcSolverMemoryCreate(void) { return calloc(1, sizeof(pcSolverMemory)); }

void pcSolverMemoryFree(pcSolverMemory* memory)
{
    if (memory) pcArenaFree(&memory->arena);
    free(memory);
}

const pcConeSolver pcConeSolvers[] = {{"auto", pcGaussSeidel, true, true}, {"sparse", pcGaussSeidel, true, true}};
const int pcConeSolverCount = sizeof pcConeSolvers / sizeof *pcConeSolvers;

const pcConeSolver* pcConeSolverFind(const char* name)
{
    for (int i = 0; i < pcConeSolverCount; i++)
        if (strcmp(pcConeSolvers[i].name, name) == 0) return pcConeSolvers + i;
    return NULL;
}

/* Stands in until solver/certificate.c is here. */
pcCertificate pcCertifyStandIn(const pcProblem* problem, const double* v, const double* c, pcArena* arena);
pcCertificate pcCertifyStandIn(const pcProblem* problem, const double* v, const double* c, pcArena* arena)
{
    (void)arena;
    return (pcCertificate){.residual = pcGaussSeidelResidual(problem, v, c)};
}
