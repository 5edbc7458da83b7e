/* The public call for complementarity problems: what it accepts, refuses and promises. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "pcontact/lcp.h"
#include "test_worlds/unit/lcp_judge.h"

#define MAX_FILE 32

static const double M2[4] = {2.0, 1.0, 1.0, 2.0}, q2[2] = {-5.0, -6.0};

/* ---- accepts ---- */

PC_TEST(Lcp, SolvesTheTextbookProblem)
{
    pcSolveSettings settings = pcDefaultSolveSettings();
    double z[2];
    pcSolveInfo info = pcLcpSolve(&(pcLcp){2, M2, q2}, &settings, z);
    PC_ASSERT_EQ_INT(PC_SOLVED, info.outcome);
    PC_EXPECT_LE(info.residual, 1e-15);
    PC_EXPECT_NEAR(4.0 / 3.0, z[0], 1e-15);
    PC_EXPECT_NEAR(7.0 / 3.0, z[1], 1e-15);
}

PC_TEST(Lcp, SolvesTheEmptyProblem)
{
    pcSolveSettings settings = pcDefaultSolveSettings();
    pcSolveInfo info = pcLcpSolve(&(pcLcp){0, NULL, NULL}, &settings, NULL);
    PC_EXPECT_EQ_INT(PC_SOLVED, info.outcome);
    PC_EXPECT_NEAR(0.0, info.residual, 0.0);
}

/* One unknown: every sign of M and q. */
PC_TEST(Lcp, SolvesOrExplainsEveryProblemInOneUnknown)
{
    for (int m = -1; m <= 1; m++)
        for (int s = -1; s <= 1; s++) {
            PC_CASE("M = %d, q = %d", m, s);
            double M = m, q = s, z = -7.0, ray = -7.0;
            pcSolveSettings settings = pcDefaultSolveSettings();
            settings.ray = &ray;
            pcSolveInfo info = pcLcpSolve(&(pcLcp){1, &M, &q}, &settings, &z);
            bool solvable = s >= 0 || m > 0;
            PC_ASSERT_EQ_INT(solvable ? PC_SOLVED : PC_RAY, info.outcome);
            if (solvable)
                PC_EXPECT_NEAR(s >= 0 ? 0.0 : 1.0, z, 0.0);
            else
                PC_EXPECT_TRUE(pcJudgeInfeasible(1, &M, &q, &ray));
        }
}

PC_TEST(Lcp, NeedsNoPivotWithTheAnswerAsGuess)
{
    pcSolveSettings settings = pcDefaultSolveSettings();
    double z[2], start[2] = {1.0, 1.0};
    PC_EXPECT_GT(pcLcpSolve(&(pcLcp){2, M2, q2}, &settings, z).iterations, 0);
    settings.start = start;
    pcSolveInfo info = pcLcpSolve(&(pcLcp){2, M2, q2}, &settings, z);
    PC_EXPECT_EQ_INT(PC_SOLVED, info.outcome);
    PC_EXPECT_EQ_INT(0, info.iterations);
    PC_EXPECT_NEAR(4.0 / 3.0, z[0], 1e-15);
}

PC_TEST(Lcp, StopsAtItsPivotLimit)
{
    double M[25] = {0.0}, q[5], z[5];
    for (int i = 0; i < 5; i++) M[6 * i] = 1.0, q[i] = -1.0 - i;
    pcSolveSettings settings = pcDefaultSolveSettings();
    settings.maxIterations = 2;
    pcSolveInfo info = pcLcpSolve(&(pcLcp){5, M, q}, &settings, z);
    PC_EXPECT_EQ_INT(PC_LIMIT, info.outcome);
    PC_EXPECT_EQ_INT(2, info.iterations);
    PC_EXPECT_GT(info.residual, 1e-3);
    for (int i = 0; i < 5; i++) PC_EXPECT_GE(z[i], 0.0);
}

/* ---- refuses ---- */

static void expectRefused(const pcLcp* problem, const pcSolveSettings* settings, const char* word)
{
    double z[2] = {-7.0, -7.0};
    pcSolveInfo info = pcLcpSolve(problem, settings, z);
    PC_EXPECT_EQ_INT(PC_BAD_INPUT, info.outcome);
    PC_EXPECT_FALSE(isnan(info.residual));
    PC_EXPECT_TRUE(z[0] == -7.0 && z[1] == -7.0);
    PC_EXPECT_TRUE(strstr(pcLastError(), word) != NULL);
}

PC_TEST(Lcp, RefusesWhatIsMissing)
{
    pcSolveSettings settings = pcDefaultSolveSettings();
    expectRefused(NULL, &settings, "problem");
    expectRefused(&(pcLcp){2, NULL, q2}, &settings, "NULL");
    expectRefused(&(pcLcp){2, M2, NULL}, &settings, "NULL");
    expectRefused(&(pcLcp){-1, M2, q2}, &settings, "negative");
    expectRefused(&(pcLcp){2, M2, q2}, NULL, "pcDefaultSolveSettings");
    PC_EXPECT_EQ_INT(PC_BAD_INPUT, pcLcpSolve(&(pcLcp){2, M2, q2}, &settings, NULL).outcome);
}

PC_TEST(Lcp, RefusesSettingsThatCannotBe)
{
    pcLcp problem = {2, M2, q2};
    pcSolveSettings raw = {.solver = "lemke", .tolerance = 1e-10}, settings = pcDefaultSolveSettings();
    expectRefused(&problem, &raw, "pcDefaultSolveSettings");
    settings.tolerance = (double)NAN;
    expectRefused(&problem, &settings, "tolerance");
    settings.tolerance = 0.0;
    expectRefused(&problem, &settings, "tolerance");
    settings = pcDefaultSolveSettings();
    settings.maxIterations = -1;
    expectRefused(&problem, &settings, "maxIterations");
    settings = pcDefaultSolveSettings();
    settings.solver = NULL;
    expectRefused(&problem, &settings, "solver");
}

PC_TEST(Lcp, NamesTheSolversItHasWhenAskedForAnother)
{
    pcSolveSettings settings = pcDefaultSolveSettings();
    settings.solver = "lemmy";
    expectRefused(&(pcLcp){2, M2, q2}, &settings, "lemmy");
    PC_EXPECT_TRUE(strstr(pcLastError(), "auto, lemke") != NULL);
}

PC_TEST(Lcp, RefusesNumbersThatAreNotFinite)
{
    const double bad[3] = {(double)NAN, (double)INFINITY, (double)-INFINITY};
    for (int k = 0; k < 3; k++) {
        pcSolveSettings settings = pcDefaultSolveSettings();
        for (int i = 0; i < 4; i++) {
            double M[4];
            memcpy(M, M2, sizeof M);
            M[i] = bad[k];
            expectRefused(&(pcLcp){2, M, q2}, &settings, "M has");
        }
        double q[2] = {-5.0, bad[k]};
        expectRefused(&(pcLcp){2, M2, q}, &settings, "q has");
        settings.start = q;
        expectRefused(&(pcLcp){2, M2, q2}, &settings, "guess");
    }
}

/* ---- problems of others ---- */

typedef struct Problem {
    int n;
    double M[MAX_FILE * MAX_FILE], q[MAX_FILE];
} Problem;

static bool readNumbers(FILE* file, int count, double* out)
{
    for (int i = 0; i < count; i++)
        if (fscanf(file, "%lf", out + i) != 1) return false;
    return true;
}

static bool readProblem(const char* name, Problem* out)
{
    char path[512], word[2];
    snprintf(path, sizeof path, "%s/problems/lcp/%s.txt", PCONTACT_TEST_WORLDS, name);
    FILE* file = fopen(path, "r");
    if (!file) return false;
    bool good = fscanf(file, "n %d", &out->n) == 1 && out->n > 0 && out->n <= MAX_FILE;
    good = good && readNumbers(file, out->n * out->n, out->M) && fscanf(file, "%1s", word) == 1 && word[0] == 'q';
    good = good && readNumbers(file, out->n, out->q);
    fclose(file);
    return good;
}

PC_TEST(Lcp, SolvesTheProblemsOfOthers)
{
    static const char* const names[] = {"trivial", "deudeu", "ortiz", "exp_murty",         "cps_1",
                                        "cps_2",   "cps_3",  "cps_4", "pang_isolated_sol", "mmc"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        PC_CASE("%s", names[k]);
        Problem p;
        PC_ASSERT_TRUE(readProblem(names[k], &p));
        double z[MAX_FILE], ray[MAX_FILE];
        pcSolveSettings settings = pcDefaultSolveSettings();
        settings.ray = ray;
        pcSolveInfo info = pcLcpSolve(&(pcLcp){p.n, p.M, p.q}, &settings, z);
        if (info.outcome == PC_RAY) {
            PC_EXPECT_TRUE(pcJudgeInfeasible(p.n, p.M, p.q, ray));
            continue;
        }
        PC_ASSERT_EQ_INT(PC_SOLVED, info.outcome);
        PC_EXPECT_LE(info.residual, 1e-13);
        PC_EXPECT_LE(pcJudgeSolution(p.n, p.n, p.M, p.q, z), 1e-13);
    }
}

/* A diagonal of rounding must not set a scale: the row beside it would disappear. */
PC_TEST(Lcp, DiagonalOfRoundingHidesNothing)
{
    const double q[3] = {-1, -0.1, 0.1};
    for (int k = 0; k <= 32; k += 4) {
        PC_CASE("1e-%d", k);
        const double M[9] = {1, 0, 0, 0, k ? pow(10.0, -k) : 0.0, 1, 0, -1, 0};
        double z[3];
        pcSolveSettings settings = pcDefaultSolveSettings();
        pcSolveInfo info = pcLcpSolve(&(pcLcp){3, M, q}, &settings, z);
        PC_EXPECT_EQ_INT(PC_SOLVED, info.outcome);
        PC_EXPECT_NEAR(1.0, z[0], 1e-9);
        PC_EXPECT_NEAR(0.1, z[1], 1e-9);
    }
    const double apart[4] = {1, 0, 0, 1e-32}, load[2] = {-1, -0.01};
    double z[2];
    pcSolveSettings settings = pcDefaultSolveSettings();
    pcSolveInfo info = pcLcpSolve(&(pcLcp){2, apart, load}, &settings, z);
    PC_EXPECT_TRUE(info.outcome != PC_SOLVED || fabs(z[0] - 1.0) <= 1e-9); /* right, or said not to be */
}
