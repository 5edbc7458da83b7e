/* A table of solvers with the slow reference as its only row: stands in where the library has no table of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/certificate.h"
#include "test_worlds/unit/reference.h"

struct pcSolverMemory {
    pcArena arena;
};

pcSolverMemory* pcSolverMemoryCreate(void) { return calloc(1, sizeof(pcSolverMemory)); }

void pcSolverMemoryFree(pcSolverMemory* memory)
{
    if (memory) pcArenaFree(&memory->arena);
    free(memory);
}

static pcConeInfo solveBySweeps(const pcProblem* problem, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c)
{
    pcConeInfo info = {.solver = "sweeps"};
    info.solve.iterations =
        pcReferenceSweeps(problem, settings->maxIterations > 0 ? settings->maxIterations : 5000, settings->tolerance / 10.0, v, c);
    info.solve.residual = pcCertify(problem, v, c, &memory->arena).residual;
    info.solve.outcome = info.solve.residual <= settings->tolerance ? PC_SOLVED : PC_INACCURATE;
    return info;
}

const pcConeSolver pcConeSolvers[] = {{"sweeps", solveBySweeps, true, true}};
const int pcConeSolverCount = 1;

const pcConeSolver* pcConeSolverFind(const char* name) { return strcmp(name, "sweeps") == 0 ? &pcConeSolvers[0] : NULL; }
