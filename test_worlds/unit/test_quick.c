/* The quick try before the certain methods: what it returns is good, what it cannot do it leaves alone, and it can do most. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "solver/certificate.h"
#include "solver/quick.h"
#include "test_worlds/unit/problems.h"

typedef struct Try {
    bool solved;
    pcSolveInfo info;
    double *v, *c;
    pcCertificate certificate; /* if solved */
} Try;

static double* filled(int count, double value)
{
    double* place = malloc((size_t)(count + 1) * sizeof *place);
    if (!place) abort();
    for (int i = 0; i <= count; i++) place[i] = value;
    return place;
}

static Try tryOn(const pcProblem* p, const pcConeSettings* settings)
{
    pcArena arena = {0};
    Try t = {.info = {.outcome = PC_LIMIT}, .v = filled(6 * p->blocks, 42.0), .c = filled(p->rows, 43.0)};
    t.solved = pcQuickSolve(p, settings, &arena, &t.info, t.v, t.c);
    if (t.solved) t.certificate = pcCertify(p, t.v, t.c, &arena);
    PC_EXPECT_EQ_INT(0, (int)pcArenaMark(&arena));
    pcArenaFree(&arena);
    return t;
}

static void drop(Try* t) { free(t->v), free(t->c); }

static void expectUntouched(const pcProblem* p, const pcConeSettings* settings)
{
    Try t = tryOn(p, settings);
    PC_EXPECT_FALSE(t.solved);
    for (int i = 0; i < 6 * p->blocks; i++) PC_EXPECT_TRUE(t.v[i] == 42.0);
    for (int i = 0; i < p->rows; i++) PC_EXPECT_TRUE(t.c[i] == 43.0);
    drop(&t);
}

static pcConeModel modelOf(const char* kind, int variant, bool coulomb)
{
    for (int i = 0; i < pcProblemKindCount; i++)
        if (strcmp(pcProblemKinds[i].name, kind) == 0) return pcProblemKinds[i].make(variant, coulomb);
    PC_FAIL("there is no kind '%s'", kind);
    return pcModelStart(coulomb, 1.0);
}

PC_TEST(Quick, IsRightWhereItSaysSoAndMostlyDoes)
{
    const pcConeSettings settings = {.tolerance = 1e-10};
    int tried = 0, solved = 0;
    for (int kind = 0; kind < pcProblemKindCount; kind++)
        for (int variant = 0; variant < pcProblemKinds[kind].variants; variant++) {
            PC_CASE("%s %d", pcProblemKinds[kind].name, variant);
            pcConeModel model = pcProblemKinds[kind].make(variant, true);
            Try t = tryOn(&model.problem, &settings);
            tried++, solved += t.solved;
            PC_EXPECT_EQ_INT(t.solved, t.info.outcome == PC_SOLVED && t.info.iterations > 0);
            PC_EXPECT_LE(t.certificate.residual, 1e-10);
            PC_EXPECT_LE(t.certificate.momentum, 1e-13);
            drop(&t), pcModelFree(&model);
        }
    PC_EXPECT_GE(solved, 0.6 * tried); /* soft and dense ones are not for it */
}

PC_TEST(Quick, NeedsFewStepsForBoxesAtRest)
{
    const pcConeSettings settings = {.tolerance = 1e-10};
    for (int variant = 0; variant < 4; variant++) {
        PC_CASE("stack %d", variant);
        pcConeModel model = modelOf("zero-gap stack", variant, true);
        Try t = tryOn(&model.problem, &settings);
        PC_EXPECT_TRUE(t.solved);
        PC_EXPECT_LE(t.info.iterations, 10);
        drop(&t), pcModelFree(&model);
    }
}

PC_TEST(Quick, TakesAGuess)
{
    pcConeModel model = modelOf("zero-gap stack", 3, true);
    const pcConeSettings cold = {.tolerance = 1e-10}, warm = {.tolerance = 1e-10, .warm = true};
    pcArena arena = {0};
    Try t = tryOn(&model.problem, &cold);
    pcSolveInfo again = {0};
    PC_EXPECT_TRUE(pcQuickSolve(&model.problem, &warm, &arena, &again, t.v, t.c));
    PC_EXPECT_LE(again.iterations, t.info.iterations / 2);
    drop(&t), pcArenaFree(&arena), pcModelFree(&model);
}

PC_TEST(Quick, LeavesAloneWhatIsNotForIt)
{
    const pcConeSettings settings = {.tolerance = 1e-10}, limited = {.tolerance = 1e-10, .maxIterations = 3};
    pcConeModel relaxed = modelOf("random contacts", 0, false), soft = modelOf("soft contacts", 0, true);
    pcConeModel dense = modelOf("dense mass", 0, true), large = modelOf("zero-gap stack", 4, true),
                plain = modelOf("random contacts", 0, true);
    expectUntouched(&relaxed.problem, &settings), expectUntouched(&soft.problem, &settings), expectUntouched(&dense.problem, &settings);
    expectUntouched(&large.problem, &settings), expectUntouched(&plain.problem, &limited);
    pcModelFree(&relaxed), pcModelFree(&soft), pcModelFree(&dense), pcModelFree(&large), pcModelFree(&plain);
}

PC_TEST(Quick, LeavesAloneWhatNobodyCanSolve)
{
    const pcConeSettings settings = {.tolerance = 1e-10};
    pcConeModel model = pcJammedWedge(3, true);
    expectUntouched(&model.problem, &settings);
    pcModelFree(&model);
}
