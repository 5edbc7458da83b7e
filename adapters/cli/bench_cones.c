/* The table of cone solvers: every row of pcConeSolvers on worlds that are hard in different ways. */
#include <stdlib.h>
#include <string.h>

#include "adapters/cli/bench_pairs.h"
#include "adapters/cli/bench_solver.h"
#include "adapters/cli/cli.h"
#include "solver/certificate.h"
#include "test_worlds/unit/problems.h"

typedef struct World {
    const char *name, *kind;
    int variant;
} World;

static const World worlds[] = {
    {"400 contacts under a box, at rest", "redundant contacts", 3},
    {"400 contacts under a box, sliding and turning", "redundant contacts", 11},
    {"16 contacts under a box, sliding and turning", "redundant contacts", 9},
    {"zero-gap stack of 10", "zero-gap stack", 3},
    {"zero-gap stack of 50", "zero-gap stack", 4},
    {"zero-gap stack of 50, top pushed", "zero-gap stack", 9},
    {"1 under 10^6 kg", "mass ratio stack", 0},
    {"1, 10, ... 10^6 kg, heavy on top", "mass ratio stack", 2},
    {"chain of 10, load 1000:1, end on the floor", "chain", 7},
    {"random contacts", "random contacts", 5},
    {"random contacts, torsion and rolling", "torsion and rolling", 4},
};
enum { WORLDS = sizeof worlds / sizeof *worlds, MOST_RUNS = 21 };

/* Methods on a dense complementarity problem of several variables per row: beyond this they take minutes. */
static bool tooLarge(const SolverBench* bench, const pcConeSolver* solver, const pcProblem* p)
{
    bool dense = strcmp(solver->name, "lemke") == 0 || strcmp(solver->name, "minmap") == 0;
    return dense && p->rows > (bench->quick ? 100 : 240);
}

static pcConeModel makeWorld(const World* world)
{
    for (int i = 0; i < pcProblemKindCount; i++)
        if (strcmp(pcProblemKinds[i].name, world->kind) == 0) return pcProblemKinds[i].make(world->variant, true);
    return pcModelStart(true, 1.0);
}

typedef struct Answer {
    double *v, *c;
    pcConeInfo info;
    double residual, ms;
} Answer;

/* The median of several cold solves; one is enough where it takes long. */
static void timeSolver(const SolverBench* bench, const pcConeSolver* solver, const pcProblem* p, pcSolverMemory* memory, Answer* a)
{
    double sample[MOST_RUNS];
    int runs = bench->quick ? 3 : MOST_RUNS, done = 0;
    pcConeSettings settings = {.tolerance = 1e-10, .fixedPoint = 1};
    for (double spent = 0.0; done < runs && spent < 5e8; spent += sample[done++]) {
        double start = benchNow();
        a->info = solver->solve(p, &settings, memory, a->v, a->c);
        sample[done] = benchNow() - start;
    }
    a->ms = 1e-6 * benchStat(sample, done).median;
    pcArena arena = {0};
    a->residual = pcCertify(p, a->v, a->c, &arena).residual;
    pcArenaFree(&arena);
}

static void report(SolverBench* bench, const World* world, const pcConeSolver* solver, const pcProblem* p, const Answer* a)
{
    bool missed = !(a->residual <= BENCH_TOLERANCE);
    bench->missed += missed;
    printf("%-46s %6d %-10s %10.1e %10d %6d %10.3f  by %s%s\n", world->name, p->rows, solver->name, a->residual, a->info.solve.iterations,
           a->info.solve.fallbacks, a->ms, a->info.solver, missed ? ", missed" : "");
    solverCsv(bench, &(SolverRow){"cones", world->name, solver->name, p->cones, a->info.solve.iterations, a->info.solve.fallbacks,
                                  a->residual, a->ms, -1.0});
}

static bool runWorld(SolverBench* bench, const World* world, pcSolverMemory* memory)
{
    pcConeModel model = makeWorld(world);
    const pcProblem* p = &model.problem;
    Answer a = {.v = calloc((size_t)(6 * p->blocks) + 1, sizeof *a.v), .c = calloc((size_t)p->rows + 1, sizeof *a.c)};
    for (int i = 0; a.v && a.c && i < pcConeSolverCount; i++) {
        const pcConeSolver* solver = &pcConeSolvers[i];
        if (!solver->coulomb) continue;
        if (tooLarge(bench, solver, p)) {
            printf("%-46s %6d %-10s %10s\n", world->name, p->rows, solver->name, "too large");
            continue;
        }
        timeSolver(bench, solver, p, memory, &a);
        report(bench, world, solver, p, &a);
    }
    bool good = a.v && a.c;
    free(a.v), free(a.c), pcModelFree(&model);
    return good;
}

int solverConesTable(SolverBench* bench)
{
    pcSolverMemory* memory = pcSolverMemoryCreate();
    bool good = memory != NULL;
    puts("\nSolvers of the table on worlds that are hard in different ways, circular cones, cold:");
    printf("%-46s %6s %-10s %10s %10s %6s %10s\n", "world", "rows", "solver", "residual", "iterations", "falls", "ms");
    for (int i = 0; good && i < WORLDS; i++) good = runWorld(bench, &worlds[i], memory);
    pcSolverMemoryFree(memory);
    if (!good) fputs("pcontact: bench solver: out of memory.\n", stderr);
    return good ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
}
