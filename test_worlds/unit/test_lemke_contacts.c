/* Lemke's method on the problems it is for: contacts with friction, many of them redundant, all of them touching exactly. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "solver/lemke.h"
#include "test_worlds/unit/contact_lcp.h"
#include "test_worlds/unit/counting.h"
#include "test_worlds/unit/lcp_judge.h"

static const double UP[3] = {0.0, 0.0, 1.0};

static pcSolveInfo solve(const pcTestLcp* lcp, pcArena* arena, double* z, double* ray)
{
    pcSolveInfo info = {.outcome = PC_LIMIT, .residual = INFINITY};
    pcScaledLcp scaled;
    if (pcScaledMake(lcp->n, lcp->M, lcp->q, arena, &scaled)) info = pcLemkeSolve(&(pcLemke){&scaled, 1e-10, 0, NULL, NULL}, arena, z, ray);
    pcArenaRelease(arena, 0);
    return info;
}

/* Solves, judges, frees the problem; returns the sum of normal impulses. */
static double expectSolved(pcTestLcp* lcp, double tolerance)
{
    pcArena arena = {0};
    double* z = calloc((size_t)lcp->n, sizeof *z);
    double sum = 0.0;
    pcSolveInfo info = solve(lcp, &arena, z, NULL);
    PC_EXPECT_EQ_INT(PC_SOLVED, info.outcome);
    PC_EXPECT_LE(info.residual, tolerance);
    PC_EXPECT_LE(pcJudgeSolution(lcp->n, lcp->n - lcp->contacts, lcp->M, lcp->q, z), 100.0 * tolerance);
    for (int c = 0; c < lcp->contacts; c++) sum += z[c];
    free(z);
    pcArenaFree(&arena);
    pcTestLcpFree(lcp);
    return sum;
}

/* A box on a grid of contacts, sliding along x as fast as told. */
static pcTestLcp boxOnGrid(int side, double mu, double slide)
{
    pcTestBody box = {2.0, {0.5, 0.5, 0.5}, {0.0, 0.0, 0.5}, {slide, 0.0, -0.0981, 0.0, 0.0, 0.0}};
    pcTestContact* contacts = calloc((size_t)(side * side), sizeof *contacts);
    for (int c = 0; c < side * side; c++) {
        contacts[c] =
            (pcTestContact){0, -1, {(double)(c % side) / (side - 1) - 0.5, (double)(c / side) / (side - 1) - 0.5, 0.0}, {0}, 0.0, mu};
        memcpy(contacts[c].normal, UP, sizeof UP);
    }
    pcTestLcp lcp = pcTestLcpMake(&box, 1, contacts, side * side, 4);
    free(contacts);
    return lcp;
}

/* The mass times the speed that is stopped, however many contacts share it. Sliding, every contact has a slip speed of its own. */
PC_TEST(LemkeContacts, CarriesABoxOnFourHundredRedundantContacts)
{
    pcTestLcp resting = boxOnGrid(20, 0.5, 0.0), sliding = boxOnGrid(10, 0.5, 1.0);
    PC_EXPECT_NEAR(2.0 * 0.0981, expectSolved(&resting, 1e-11), 1e-10);
    PC_EXPECT_NEAR(2.0 * 0.0981, expectSolved(&sliding, 1e-11), 1e-10);
}

PC_TEST(LemkeContacts, CarriesAStackOfFiftyThatTouchesExactly)
{
    pcTestLcp lcp = pcTestStackLcp(&(pcTestStack){50, 4, 0.5, 0.0, 1.0, 1.0, 1});
    PC_EXPECT_EQ_INT(1200, lcp.n);
    PC_EXPECT_NEAR(50.0 * 51.0 / 2.0 * 0.0981, expectSolved(&lcp, 1e-11), 1e-8); /* contact i carries the boxes above it */
}

PC_TEST(LemkeContacts, SolvesDisorderedStacks)
{
    static const double disorder[5] = {1e-9, 1e-4, 0.01, 0.1, 1.0};
    for (int k = 0; k < 50; k++) {
        pcTestStack stack = {1 + k % 12, k % 3 ? 4 : 8, 0.1 + 0.2 * (k % 5), disorder[k % 5], 1.0, 1.0, (unsigned long long)k};
        PC_CASE("stack %d", k);
        pcTestLcp lcp = pcTestStackLcp(&stack);
        expectSolved(&lcp, 1e-11);
    }
}

PC_TEST(LemkeContacts, CarriesAMillionTimesTheMassAboveAndBelow)
{
    for (int k = 0; k < 8; k++) {
        PC_CASE("case %d", k);
        pcTestStack stack = {k % 2 ? 7 : 2, 4, 0.5, k / 4 ? 0.01 : 0.0, 1.0, k % 2 ? 10.0 : 1e6, 3};
        if (k / 2 % 2) stack.mass = pow(stack.ratio, stack.boxes - 1), stack.ratio = 1.0 / stack.ratio;
        pcTestLcp lcp = pcTestStackLcp(&stack);
        expectSolved(&lcp, 1e-10);
    }
}

/* Between two walls that lean over it with friction 10 a box is jammed: the friction cone is not pointed and a solution need not exist
 * or be unique. The answer must be one that says what it is. */
PC_TEST(LemkeContacts, EndsInADefinedWayWhereABoxIsJammed)
{
    for (int k = 0; k < 20; k++) {
        PC_CASE("case %d", k);
        double lean = 0.3 - 0.04 * k, across = cos(lean), up = -sin(lean);
        pcTestBody box = {1.0, {0.5, 0.5, 0.5}, {0.0, 0.0, 0.0}, {0.0, 0.1 * (k % 3), -0.5, 0.0, 0.2, 0.0}};
        pcTestContact contacts[8];
        for (int c = 0; c < 8; c++) {
            double side = c % 2 ? 0.5 : -0.5;
            contacts[c] = (pcTestContact){0, -1, {side, c / 2 % 2 - 0.5, c / 4 - 0.5}, {-2.0 * side * across, 0.0, up}, -0.1, 10.0};
        }
        pcTestLcp lcp = pcTestLcpMake(&box, 1, contacts, 8, 4);
        double z[48], ray[48];
        pcArena arena = {0};
        pcSolveInfo info = solve(&lcp, &arena, z, ray);
        PC_EXPECT_TRUE(info.residual >= 0.0 && !isnan(info.residual));
        for (int i = 0; i < lcp.n; i++) PC_EXPECT_TRUE(z[i] >= 0.0 && !isinf(z[i]));
        if (info.outcome == PC_SOLVED) PC_EXPECT_LE(pcJudgeSolution(lcp.n, lcp.n - lcp.contacts, lcp.M, lcp.q, z), 1e-9);
        bool proven = pcJudgeInfeasible(lcp.n, lcp.M, lcp.q, ray) || pcJudgeRay(lcp.n, lcp.M, ray);
        if (info.outcome == PC_RAY) PC_EXPECT_TRUE(proven);
        pcArenaFree(&arena);
        pcTestLcpFree(&lcp);
    }
}

PC_TEST(LemkeContacts, AllocatesNothingTheSecondTime)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    pcTestLcp first = pcTestStackLcp(&(pcTestStack){4, 4, 0.5, 0.0, 1.0, 1.0, 1}),
              second = pcTestStackLcp(&(pcTestStack){4, 4, 0.5, 0.1, 1.0, 1.0, 2});
    pcArena arena = {0};
    double z[96];
    pcCountingStart();
    solve(&first, &arena, z, NULL);
    PC_EXPECT_GT(pcCountingStop(), 0);
    pcArenaRelease(&arena, 0);
    pcCountingStart();
    pcSolveInfo info = solve(&second, &arena, z, NULL);
    PC_EXPECT_EQ_INT(0, pcCountingStop());
    PC_EXPECT_EQ_INT(PC_SOLVED, info.outcome);
    PC_EXPECT_EQ_INT(0, (long long)pcArenaMark(&arena));
    pcArenaFree(&arena);
    pcTestLcpFree(&first);
    pcTestLcpFree(&second);
}
