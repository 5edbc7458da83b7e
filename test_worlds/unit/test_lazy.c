/* Guesses that are answers, and contacts that are left out because they do not act. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "base/arena.h"
#include "solver/certificate.h"
#include "test_worlds/unit/problems.h"

static const double TOLERANCE = 1e-10;

typedef struct Answer {
    pcConeInfo info;
    double *v, *c, residual;
} Answer;

/* From the answer `guess`, if there is one. */
static Answer solveFrom(const pcProblem* p, const Answer* guess, double trust)
{
    pcArena arena = {0};
    pcSolverMemory* memory = pcSolverMemoryCreate();
    Answer a = {.v = calloc((size_t)pcUnknowns(p) + 1, sizeof *a.v), .c = calloc((size_t)p->rows + 1, sizeof *a.c)};
    if (guess) memcpy(a.c, guess->c, (size_t)p->rows * sizeof *a.c);
    const pcConeSettings settings = {.tolerance = TOLERANCE, .warm = guess != NULL, .guess = trust};
    a.info = pcConeSolverFind("auto")->solve(p, &settings, memory, a.v, a.c);
    a.residual = pcCertify(p, a.v, a.c, &arena).residual;
    pcArenaFree(&arena), pcSolverMemoryFree(memory);
    return a;
}

static void drop(Answer* a) { free(a->v), free(a->c); }

static pcConeModel stack(int variant, bool coulomb)
{
    for (int i = 0; i < pcProblemKindCount; i++)
        if (strcmp(pcProblemKinds[i].name, "zero-gap stack") == 0) return pcProblemKinds[i].make(variant, coulomb);
    PC_FAIL("there are no stacks");
    return pcModelStart(coulomb, 1.0);
}

PC_TEST(Guess, IsTakenIfItIsAnAnswer)
{
    pcConeModel model = stack(3, true);
    Answer first = solveFrom(&model.problem, NULL, 0.0), again = solveFrom(&model.problem, &first, TOLERANCE);
    PC_EXPECT_EQ_STR("guess", again.info.solver);
    PC_EXPECT_EQ_INT(0, again.info.solve.iterations);
    PC_EXPECT_TRUE(memcmp(first.c, again.c, (size_t)model.problem.rows * sizeof *first.c) == 0);
    PC_EXPECT_LE(again.residual, TOLERANCE);
    drop(&first), drop(&again), pcModelFree(&model);
}

PC_TEST(Guess, IsNotTakenIfItIsNoneOrNobodyAsks)
{
    pcConeModel model = stack(3, true);
    Answer first = solveFrom(&model.problem, NULL, 0.0), unasked = solveFrom(&model.problem, &first, 0.0);
    PC_EXPECT_TRUE(strcmp(unasked.info.solver, "guess") != 0);
    first.c[0] *= 1.001;
    Answer wrong = solveFrom(&model.problem, &first, TOLERANCE);
    PC_EXPECT_TRUE(strcmp(wrong.info.solver, "guess") != 0);
    PC_EXPECT_LE(wrong.residual, TOLERANCE);
    drop(&first), drop(&unasked), drop(&wrong), pcModelFree(&model);
}

/* The same stack with every contact once more, far apart: the answer is that of the stack, and nothing presses there. */
PC_TEST(Lazy, ContactsFarApartChangeNothing)
{
    for (int coulomb = 0; coulomb < 2; coulomb++) {
        pcConeModel model = stack(2, coulomb);
        pcProblem p = model.problem, more = p;
        size_t rows = (size_t)p.rows, cones = (size_t)p.cones;
        int* block = calloc(4 * rows, sizeof *block);
        double *J = calloc(24 * rows, sizeof *J), *target = calloc(2 * rows, sizeof *target), *soft = calloc(2 * rows, sizeof *soft);
        pcCone* cone = calloc(2 * cones, sizeof *cone);
        for (size_t twice = 0; twice < 2; twice++) {
            memcpy(block + 2 * rows * twice, p.block, 2 * rows * sizeof *block), memcpy(J + 12 * rows * twice, p.J, 12 * rows * sizeof *J);
            memcpy(target + rows * twice, p.target, rows * sizeof *target), memcpy(soft + rows * twice, p.soft, rows * sizeof *soft);
            memcpy(cone + cones * twice, p.cone, cones * sizeof *cone);
        }
        for (size_t i = 0; i < cones; i++) cone[cones + i].row += p.rows, target[cone[cones + i].row] = -1e3 * p.velocityScale;
        more.rows *= 2, more.cones *= 2, more.block = block, more.J = J, more.target = target, more.soft = soft, more.cone = cone;
        Answer a = solveFrom(&more, NULL, 0.0);
        PC_EXPECT_EQ_INT(PC_SOLVED, a.info.solve.outcome);
        PC_EXPECT_LE(a.residual, TOLERANCE);
        for (size_t i = rows; i < 2 * rows; i++) PC_EXPECT_TRUE(a.c[i] == 0.0);
        drop(&a), free(block), free(J), free(target), free(soft), free(cone), pcModelFree(&model);
    }
}
