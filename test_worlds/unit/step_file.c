#include "test_worlds/unit/step_file.h"

#include <math.h>
#include <stdlib.h>

#include "adapters/gtest/pctest.h"
#include "solver/certificate.h"

static double offOf(const pcProblem* p, const double* v, const double* c, pcArena* arena)
{
    pcCertificate certificate = pcCertify(p, v, c, arena);
    return pcCertificateOff(&certificate);
}

bool stepFileSolve(const char* path, const char* solver, double tolerance, StepFile* out)
{
    char message[PC_READ_MESSAGE] = "";
    if (!pcProblemRead(path, &out->file, message)) {
        PC_FAIL("%s", message);
        return false;
    }
    PC_EXPECT_EQ_INT(PC_FILE_STEP, out->file.kind);
    const pcProblem* p = &out->file.step;
    pcArena arena = {0};
    pcSolverMemory* memory = pcSolverMemoryCreate();
    pcConeSettings settings = {.tolerance = tolerance > 0.0 ? tolerance : out->file.tolerance, .fixedPoint = 1};
    out->v = calloc(6 * (size_t)p->blocks, sizeof *out->v), out->c = calloc((size_t)p->rows + 1, sizeof *out->c);
    out->then = out->file.c ? offOf(p, out->file.v, out->file.c, &arena) : HUGE_VAL;
    out->info = pcConeSolverFind(solver)->solve(p, &settings, memory, out->v, out->c).solve;
    out->now = offOf(p, out->v, out->c, &arena);
    pcSolverMemoryFree(memory), pcArenaFree(&arena);
    return true;
}

void stepFileEnd(StepFile* step) { free(step->v), free(step->c), pcProblemFileFree(&step->file); }
