/* The public calls for plain complementarity problems: what may come in, and which solver gets it. */
#include "pcontact/lcp.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/status.h"
#include "base/vec.h"
#include "solver/lemke.h"
#include "solver/minmap.h"
#include "solver/public.h"

#define COOKIE 0x6c63704du
#define OWN_TERMS 1e-6 /* parts below this are rounding, or noise in the data */

pcSolveSettings pcDefaultSolveSettings(void) { return (pcSolveSettings){.solver = "auto", .tolerance = 1e-10, .cookie = COOKIE}; }

/* ---- solvers ---- */

static pcSolveInfo noMemory(const pcLcp* problem, double* z)
{
    memset(z, 0, (size_t)problem->n * sizeof *z);
    return (pcSolveInfo){.outcome = PC_LIMIT, .residual = INFINITY};
}

/* A guess says which z_i are positive. */
static pcSolveInfo solveByLemke(const pcLcp* problem, const pcSolveSettings* settings, pcArena* arena, double* z)
{
    unsigned char* guess = NULL;
    if (settings->start) {
        guess = pcArenaNew(arena, unsigned char, problem->n);
        for (int i = 0; guess && i < problem->n; i++) guess[i] = settings->start[i] > 0.0;
    }
    pcScaledLcp lcp;
    if (!pcScaledMake(problem->n, problem->M, problem->q, arena, &lcp)) return noMemory(problem, z);
    pcLemke lemke = {&lcp, settings->tolerance, settings->maxIterations, guess, NULL};
    return pcLemkeSolve(&lemke, arena, z, settings->ray);
}

/* A guess is where it starts. */
static pcSolveInfo solveByMinmap(const pcLcp* problem, const pcSolveSettings* settings, pcArena* arena, double* z)
{
    pcScaledLcp lcp;
    if (!pcScaledMake(problem->n, problem->M, problem->q, arena, &lcp)) return noMemory(problem, z);
    pcMinmap minmap = {.lcp = &lcp, .tolerance = settings->tolerance};
    minmap.maxIterations = settings->maxIterations, minmap.guess = settings->start != NULL;
    if (settings->start) memcpy(z, settings->start, (size_t)problem->n * sizeof *z);
    return pcMinmapSolve(&minmap, arena, z, settings->ray);
}

/* A new solver is one row here. */
typedef struct Solver {
    const char* name;
    pcSolveInfo (*solve)(const pcLcp* problem, const pcSolveSettings* settings, pcArena* arena, double* z);
} Solver;
static const Solver solvers[] = {{"auto", solveByLemke}, {"lemke", solveByLemke}, {"minmap", solveByMinmap}};
#define SOLVER_COUNT (sizeof solvers / sizeof *solvers)

static const Solver* findSolver(const char* name)
{
    for (size_t i = 0; i < SOLVER_COUNT; i++)
        if (strcmp(solvers[i].name, name) == 0) return solvers + i;
    char names[200] = "";
    for (size_t i = 0; i < SOLVER_COUNT; i++) {
        if (i) strncat(names, ", ", sizeof names - strlen(names) - 1);
        strncat(names, solvers[i].name, sizeof names - strlen(names) - 1);
    }
    pcFail(PC_ERROR_ARGUMENT, "There is no solver \"%.40s\" for a linear complementarity problem; there are: %s.", name, names);
    return NULL;
}

/* ---- what may come in ---- */

static bool refuse(pcStatus status, const char* sentence) { return pcFail(status, "%s", sentence) == PC_OK; }

static bool finite(size_t count, const double* values)
{
    double sum = 0.0; /* 0 v is NaN for infinite v and NaN, else 0 */
    for (size_t i = 0; i < count; i++) sum += 0.0 * values[i];
    return sum == 0.0;
}

bool pcSolveSettingsGood(const pcSolveSettings* settings)
{
    if (!settings) return refuse(PC_ERROR_ARGUMENT, "The settings are missing (NULL); start from pcDefaultSolveSettings().");
    if (settings->cookie != COOKIE) return refuse(PC_ERROR_ARGUMENT, "The settings do not come from pcDefaultSolveSettings().");
    if (!settings->solver) return refuse(PC_ERROR_ARGUMENT, "The name of the solver is missing (NULL).");
    if (!(settings->tolerance > 0.0) || isinf(settings->tolerance)) return refuse(PC_ERROR_ARGUMENT, "The tolerance must be a number > 0.");
    if (settings->maxIterations < 0) return refuse(PC_ERROR_ARGUMENT, "maxIterations must be 0 (chosen from the size) or more.");
    return true;
}

static bool problemIsGood(const pcLcp* problem, const double* z)
{
    if (!problem) return refuse(PC_ERROR_ARGUMENT, "The problem is missing (NULL).");
    if (problem->n < 0) return refuse(PC_ERROR_ARGUMENT, "The size n of the problem is negative.");
    if (problem->n > 0 && (!problem->M || !problem->q || !z))
        return refuse(PC_ERROR_ARGUMENT, "M, q or the place for z is missing (NULL).");
    return true;
}

static bool numbersAreFinite(const pcLcp* problem, const double* start)
{
    size_t n = (size_t)problem->n;
    if (!finite(n * n, problem->M)) return refuse(PC_ERROR_NOT_FINITE, "M has an entry that is NaN or infinite.");
    if (!finite(n, problem->q)) return refuse(PC_ERROR_NOT_FINITE, "q has an entry that is NaN or infinite.");
    if (start && !finite(n, start)) return refuse(PC_ERROR_NOT_FINITE, "The starting guess has an entry that is NaN or infinite.");
    return true;
}

/* The residual of scaled.h weighs rows against each other; where scales are 1e30 apart a row may then count for nothing. So once more by
 * each row's own terms: w_i < 0, or z_i and w_i both positive, by a part of what w_i is the sum of. */
static void doubt(const pcLcp* p, const double* z, double tolerance, pcSolveInfo* info)
{
    size_t n = (size_t)p->n;
    double largestZ = 0.0, largestQ = 0.0;
    for (size_t i = 0; i < n; i++) largestZ = larger(largestZ, fabs(z[i])), largestQ = larger(largestQ, fabs(p->q[i]));
    for (size_t i = 0; i < n; i++) {
        double w = p->q[i], terms = fabs(p->q[i]);
        for (size_t j = 0; j < n; j++) w += p->M[i * n + j] * z[j], terms += fabs(p->M[i * n + j] * z[j]);
        double wrong = w < 0.0 ? -w / terms : smaller(w / terms, z[i] / largestZ);
        if (wrong > OWN_TERMS && fabs(w) > OWN_TERMS * largestQ) info->residual = larger(info->residual, wrong);
    }
    if (info->outcome == PC_SOLVED && !(info->residual <= tolerance)) info->outcome = PC_INACCURATE;
}

pcSolveInfo pcLcpSolve(const pcLcp* problem, const pcSolveSettings* settings, double* z)
{
    pcSolveInfo info = {.outcome = PC_BAD_INPUT, .residual = INFINITY};
    if (!problemIsGood(problem, z) || !pcSolveSettingsGood(settings)) return info;
    const Solver* solver = findSolver(settings->solver);
    if (!solver) return info;
    if (problem->n == 0) return (pcSolveInfo){.outcome = PC_SOLVED};
    if (!numbersAreFinite(problem, settings->start)) return info;
    pcArena arena = {0};
    info = solver->solve(problem, settings, &arena, z);
    doubt(problem, z, settings->tolerance, &info);
    pcArenaFree(&arena);
    return info;
}
