/*
 * pcontact bench solver: contact problems of others against Gauss-Seidel, every cone solver on hard worlds, Lemke's method against ODE's
 * dWorldStep; or the files that are given, by every solver that applies.
 *
 * What is fair. Gauss-Seidel gets sparse blocks, set up outside the timed part, and a real attempt at each contact's own problem. Its
 * residual and ours come from the same function, which neither solver uses.
 */
#include "adapters/cli/bench_solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/cli/bench_pairs.h"
#include "adapters/cli/cli.h"
#include "adapters/cli/options.h"
#include "adapters/cli/rival_sweeps.h"
#include "adapters/problems/read.h"
#include "pcontact/lcp.h"
#include "solver/certificate.h"

static const char* const contactFiles[] = {"boxesstack1-i100000-32",
                                           "capsules-i100-1090",
                                           "capsules-i101-404",
                                           "confeti-ex03",
                                           "fc2d_slidercranklagrangian00000",
                                           "frictioncontactproblem00031",
                                           "frictioncontactproblem00071",
                                           "frictioncontactproblem00237",
                                           "nespheres_10_1",
                                           "oneobject-i100000-316",
                                           "rover1039",
                                           "rover1040",
                                           "rover11035",
                                           "rover4144",
                                           "rover4396",
                                           "rover4609"};
enum { CONTACT_FILES = sizeof contactFiles / sizeof *contactFiles, MOST_RUNS = 21 };

void solverCsv(const SolverBench* b, const SolverRow* r)
{
    if (!b->csv) return;
    fprintf(b->csv, "%s,\"%s\",%s,%d,%.3e,", r->table, r->problem, r->method, r->contacts, r->residual);
    if (r->iterations >= 0) fprintf(b->csv, "%d", r->iterations);
    fputc(',', b->csv);
    if (r->fallbacks >= 0) fprintf(b->csv, "%d", r->fallbacks);
    fprintf(b->csv, ",%.6f,", r->ms);
    if (r->ratio >= 0) fprintf(b->csv, "%.3f", r->ratio);
    fputc('\n', b->csv);
}

static int outOfMemory(void)
{
    fputs("pcontact: bench solver: out of memory.\n", stderr);
    return PC_CLI_CHECK_FAILED;
}

/* ---- Contact problems of others ------------------------------------------------------------------------------------------------- */

typedef struct Duel {
    pcSolveInfo info;
    double ms, residual; /* ours */
    int sweeps[2];       /* the rival's, in our time and in ten times that */
    double rival[2];     /* and its residuals */
} Duel;

/* The median of several solves; fewer where one takes long. */
static double timeContacts(const SolverBench* b, const pcDelassus* p, pcSolveInfo* info, double* r)
{
    double sample[MOST_RUNS];
    int runs = b->quick ? 3 : MOST_RUNS, done = 0;
    pcSolveSettings settings = pcDefaultSolveSettings();
    for (double spent = 0.0; done < runs && spent < 5e8; spent += sample[done++]) {
        double start = benchNow();
        *info = pcDelassusSolve(p, &settings, r);
        sample[done] = benchNow() - start;
    }
    return benchStat(sample, done).median;
}

static bool duel(const SolverBench* b, const pcDelassus* p, Duel* out)
{
    size_t n = (size_t)p->dim * (size_t)p->contacts;
    double *ours = calloc(n + 1, sizeof *ours), *theirs = calloc(n + 1, sizeof *theirs);
    RivalSweeps* sweeps = rivalSweepsNew(p);
    bool good = ours && theirs && sweeps;
    if (good) {
        double ns = timeContacts(b, p, &out->info, ours), start = benchNow();
        out->ms = 1e-6 * ns, out->residual = rivalResidual(sweeps, ours);
        out->sweeps[0] = rivalSweep(sweeps, start + ns, theirs), out->rival[0] = rivalResidual(sweeps, theirs);
        out->sweeps[1] = out->sweeps[0] + rivalSweep(sweeps, benchNow() + 9.0 * ns, theirs), out->rival[1] = rivalResidual(sweeps, theirs);
    }
    rivalSweepsFree(sweeps), free(ours), free(theirs);
    return good;
}

static void reportDuel(SolverBench* b, const char* name, const pcDelassus* p, const Duel* d)
{
    bool missed = !(d->residual <= (p->dim == 2 ? BENCH_PLANAR_TOLERANCE : BENCH_TOLERANCE));
    b->missed += missed;
    printf("%-32s %8d %4d %10.1e %10d %10.3f %12.1e %12.1e%s\n", name, p->contacts, p->dim, d->residual, d->info.iterations, d->ms,
           d->rival[0], d->rival[1], missed ? "  missed" : "");
    solverCsv(b, &(SolverRow){"contacts", name, "auto", p->contacts, d->info.iterations, d->info.fallbacks, d->residual, d->ms, -1.0});
    for (int i = 0; i < 2; i++)
        solverCsv(b, &(SolverRow){"contacts", name, i ? "Gauss-Seidel in 10 times our time" : "Gauss-Seidel in our time", p->contacts,
                                  d->sweeps[i], -1, d->rival[i], i ? 10.0 * d->ms : d->ms, -1.0});
}

static int contactsTable(SolverBench* b)
{
    puts("Contact problems of others, circular cones, cold; Gauss-Seidel in the same time and in ten times that:");
    printf("%-32s %8s %4s %10s %10s %10s %12s %12s\n", "file", "contacts", "dim", "residual", "iterations", "ms", "rival", "rival, 10 x");
    for (int i = 0; i < CONTACT_FILES; i++) {
        char path[512], message[PC_READ_MESSAGE];
        pcProblemFile file;
        Duel d = {0};
        snprintf(path, sizeof path, "%s/problems/contact/%s.txt", PCONTACT_TEST_WORLDS, contactFiles[i]);
        if (!pcProblemRead(path, &file, message)) return pcCliBadInput("%s", message);
        bool small = file.contacts.contacts <= 100, good = (b->quick && !small) || duel(b, &file.contacts, &d);
        if (good && !(b->quick && !small)) reportDuel(b, contactFiles[i], &file.contacts, &d);
        pcProblemFileFree(&file);
        if (!good) return outOfMemory();
    }
    return PC_CLI_OK;
}

/* ---- Files --------------------------------------------------------------------------------------------------------------------- */

static const char* const solverNames[] = {"auto", "lemke", "minmap", "sparse", "fixedpoint"};
enum { SOLVER_NAMES = sizeof solverNames / sizeof *solverNames };

static pcSolveInfo solveFile(const pcProblemFile* file, const char* solver, double* x)
{
    pcSolveSettings settings = pcDefaultSolveSettings();
    settings.solver = solver;
    return file->kind == PC_FILE_LCP ? pcLcpSolve(&file->lcp, &settings, x) : pcDelassusSolve(&file->contacts, &settings, x);
}

/* Whether a solver is for this kind of problem: an empty one tells. */
static bool applies(const pcProblemFile* file, const char* solver)
{
    pcProblemFile none = {.kind = file->kind, .contacts = {.dim = 3}};
    return solveFile(&none, solver, NULL).outcome != PC_BAD_INPUT;
}

/* Methods on a dense complementarity problem of several variables per row: beyond this they take minutes. */
static bool tooLarge(const pcProblemFile* file, const char* solver)
{
    bool dense = strcmp(solver, "lemke") == 0 || strcmp(solver, "minmap") == 0;
    return dense && file->kind == PC_FILE_CONTACTS && file->contacts.dim * file->contacts.contacts > 240;
}

static const char* outcomeText(pcOutcome outcome)
{
    switch (outcome) {
    case PC_SOLVED: return "solved";
    case PC_INACCURATE: return "inaccurate";
    case PC_RAY: return "ray";
    case PC_LIMIT: return "limit";
    case PC_BAD_INPUT: return "refused";
    }
    return "unknown";
}

/* The library's last sentence ends with a full stop; the tool adds its own. */
static int refused(const char* path)
{
    const char* why = pcLastError();
    return pcCliBadInput("%s: %.*s", path, (int)strlen(why) - (*why != '\0'), why);
}

/* One row for each solver; the exit code. */
static int solveByAll(SolverBench* b, const char* path, const pcProblemFile* file, double* x)
{
    int size = file->kind == PC_FILE_LCP ? file->lcp.n : file->contacts.contacts;
    bool solved = false;
    for (int i = 0; i < SOLVER_NAMES; i++) {
        if (!applies(file, solverNames[i]) || tooLarge(file, solverNames[i])) continue;
        double start = benchNow();
        pcSolveInfo info = solveFile(file, solverNames[i], x);
        double ms = 1e-6 * (benchNow() - start);
        if (info.outcome == PC_BAD_INPUT) return refused(path);
        solved = solved || info.outcome == PC_SOLVED;
        printf("%-48s %6s %6d %-10s %-10s %10.1e %10d %6d %10.3f\n", path, file->kind == PC_FILE_LCP ? "lcp" : "cone", size, solverNames[i],
               outcomeText(info.outcome), info.residual, info.iterations, info.fallbacks, ms);
        solverCsv(b, &(SolverRow){"files", path, solverNames[i], size, info.iterations, info.fallbacks, info.residual, ms, -1.0});
    }
    return solved ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
}

/* ---- Islands of a step ---------------------------------------------------------------------------------------------------------- */

static void reportStep(SolverBench* b, const char* path, const pcProblem* p, const char* solver, const pcSolveInfo* info, double ms)
{
    printf("%-48s %6s %6d %-10s %-10s %10.1e %10d %6d %10.3f\n", path, "step", p->rows, solver, outcomeText(info->outcome), info->residual,
           info->iterations, info->fallbacks, ms);
    solverCsv(b, &(SolverRow){"files", path, solver, p->cones, info->iterations, info->fallbacks, info->residual, ms, -1.0});
}

/* What the step had, by the same certificate as what comes now. */
static void reportAnswer(SolverBench* b, const char* path, const pcProblemFile* file, pcArena* arena)
{
    if (!file->c) return;
    pcSolveInfo info = {.outcome = PC_INACCURATE, .residual = pcCertify(&file->step, file->v, file->c, arena).residual};
    reportStep(b, path, &file->step, "the step", &info, 0.0);
}

static bool solvesStep(const pcConeSolver* solver, const pcProblem* p)
{
    bool dense = strcmp(solver->name, "lemke") == 0 || strcmp(solver->name, "minmap") == 0;
    return (p->coulomb ? solver->coulomb : solver->convex) && !(dense && p->rows > 240);
}

/* Cold, by the tolerance that was missed. */
static int solveStepByAll(SolverBench* b, const char* path, const pcProblemFile* file, double* x)
{
    const pcProblem* p = &file->step;
    double *v = x, *c = x + 6 * p->blocks;
    pcConeSettings settings = {.tolerance = file->tolerance, .fixedPoint = 1};
    pcSolverMemory* memory = pcSolverMemoryCreate();
    pcArena arena = {0};
    bool solved = false;
    if (!memory) return outOfMemory();
    reportAnswer(b, path, file, &arena);
    for (int i = 0; i < pcConeSolverCount; i++) {
        if (!solvesStep(pcConeSolvers + i, p)) continue;
        double start = benchNow();
        pcSolveInfo info = pcConeSolvers[i].solve(p, &settings, memory, v, c).solve;
        double ms = 1e-6 * (benchNow() - start);
        info.residual = pcCertify(p, v, c, &arena).residual;
        solved = solved || info.outcome == PC_SOLVED;
        reportStep(b, path, p, pcConeSolvers[i].name, &info, ms);
    }
    pcSolverMemoryFree(memory), pcArenaFree(&arena);
    return solved ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
}

/* How many numbers an answer has. */
static size_t answerSize(const pcProblemFile* file)
{
    switch (file->kind) {
    case PC_FILE_LCP: return (size_t)file->lcp.n;
    case PC_FILE_CONTACTS: return (size_t)file->contacts.dim * (size_t)file->contacts.contacts;
    case PC_FILE_STEP: break;
    }
    return 6 * (size_t)file->step.blocks + (size_t)file->step.rows;
}

static int runFile(SolverBench* b, const char* path)
{
    pcProblemFile file;
    char message[PC_READ_MESSAGE];
    if (!pcProblemRead(path, &file, message)) return pcCliBadInput("%s", message);
    double* x = calloc(answerSize(&file) + 1, sizeof *x);
    int code = PC_CLI_OK;
    if (!x)
        code = outOfMemory();
    else
        code = file.kind == PC_FILE_STEP ? solveStepByAll(b, path, &file, x) : solveByAll(b, path, &file, x);
    free(x), pcProblemFileFree(&file);
    return code;
}

/* Bad input ends the run; a problem that nobody solved is remembered. */
static int runFiles(SolverBench* b, int count, char** paths)
{
    int result = PC_CLI_OK;
    printf("%-48s %6s %6s %-10s %-10s %10s %10s %6s %10s\n", "file", "kind", "size", "solver", "outcome", "residual", "iterations", "falls",
           "ms");
    for (int i = 0; i < count; i++) {
        int code = runFile(b, paths[i]);
        if (code == PC_CLI_BAD_INPUT) return code;
        if (code != PC_CLI_OK) result = code;
    }
    return result;
}

/* ---- The command --------------------------------------------------------------------------------------------------------------- */

typedef struct Options {
    const char* csv;
    bool quick, help;
    int files; /* of the arguments: gathered at their front */
} Options;

static const char help[] = "Usage: pcontact bench solver [--quick] [--csv FILE] [PROBLEM...]\n\n"
                           "Without PROBLEM: contact problems of others against Gauss-Seidel, every solver on hard worlds, and Lemke's\n"
                           "method against ODE's dWorldStep. With files: solves each by every solver that applies and is not too slow for "
                           "it; a file holds a contact\n"
                           "problem (dim D contacts N nonzeros K ...), a linear complementarity problem (n N ...), or an island\n"
                           "of a step that missed its tolerance, as the setting dump=FOLDER writes it (step blocks B ...).\n"
                           "  --quick      small problems only, and fewer repetitions\n"
                           "  --csv FILE   also write table,problem,method,contacts,residual,iterations,fallbacks,ms,ratio\n";

static int parse(int argc, char** argv, Options* out)
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            out->quick = true;
        else if (pcCliIsHelp(argv[i]))
            out->help = true;
        else if (strcmp(argv[i], "--csv") == 0 && i + 1 == argc)
            return pcCliBadInput("--csv needs a value");
        else if (strcmp(argv[i], "--csv") == 0)
            out->csv = argv[++i];
        else if (argv[i][0] == '-')
            return pcCliBadInput("there is no option '%s'; 'pcontact bench solver --help' lists them", argv[i]);
        else
            argv[out->files++] = argv[i];
    }
    return PC_CLI_OK;
}

static int runTables(SolverBench* b)
{
    int code = contactsTable(b);
    if (code == PC_CLI_OK) code = solverConesTable(b);
    if (code == PC_CLI_OK) code = solverBoxesTable(b);
    if (code != PC_CLI_OK) return code;
    printf("\n%d answers of ours are worse than %.0e (contacts in a plane: %.0e); %d times below target\n", b->missed, BENCH_TOLERANCE,
           BENCH_PLANAR_TOLERANCE, b->belowTarget);
    return b->missed ? PC_CLI_CHECK_FAILED : PC_CLI_OK; /* a slow machine is no failure, a wrong answer is */
}

int pcCliBenchSolver(int argc, char** argv)
{
    Options options = {0};
    int code = parse(argc, argv, &options);
    if (code != PC_CLI_OK) return code;
    if (options.help) {
        fputs(help, stdout);
        return PC_CLI_OK;
    }
    SolverBench b = {.quick = options.quick};
    if (options.csv && !(b.csv = fopen(options.csv, "w"))) return pcCliBadInput("the file '%s' cannot be written", options.csv);
    if (b.csv) fputs("table,problem,method,contacts,residual,iterations,fallbacks,ms,ratio\n", b.csv);
    code = options.files ? runFiles(&b, options.files, argv) : runTables(&b);
    return pcCliCloseFile(b.csv, options.csv, code);
}
