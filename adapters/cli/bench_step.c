/*
 * pcontact bench step: what standing between a program and ODE costs, and then what whole scenes cost (bench_scenes.c).
 *
 * Free bodies have nothing to solve, so all that our step does more than ODE's is reading the world and writing it back. Both worlds take
 * their steps in turn, so that they share every disturbance; medians are compared. Instructions of native steps under the preload library are
 * counted by valgrind in a program of its own, which is this one again; loading is paid once and taken out: many steps minus none.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <math.h>
#include <ode/ode.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/cli/bench_pairs.h"
#include "adapters/cli/bench_parts.h"
#include "adapters/cli/bench_scenes.h"
#include "adapters/cli/cli.h"
#include "adapters/cli/options.h"
#include "pcontact/pcontact.h"

#define TARGET_RATIO 3.0   /* gather and inject, in native steps */
#define TARGET_PERCENT 2.0 /* more instructions of a native step */
#define TARGET_BROADPHASE 5.0
enum { BODIES = 1000, MOST_STEPS = 400, COUNTED_STEPS = 500 };
static const double STEP = 0.01;

static const char help[] =
    "Usage: pcontact bench step [SCENE]... [--quick] [--csv FILE] [--json FILE] [--time T] [--cap T] [--ours] [--settings TEXT]\n"
    "                          [--from STATES]\n\n"
    "Times the broadphase and sleeping bodies, then reading and writing a world of 1000 free bodies against ODE's own step of the same "
    "world,\n"
    "and counts\n"
    "the instructions that the preload library adds to a native step (by valgrind, if it is installed). Then, or only, if any is named,\n"
    "plays scenes under dWorldStep, dWorldQuickStep with 20 and 200 iterations, and our model:\n\n"
    "  pcontact bench step stack10 wall55 --csv scenes.csv\n"
    "  pcontact bench step pile100 pile300 pile1000 --ours            and how time grows with contacts from one to the next\n"
    "  pcontact bench step pile1000 --from out.states.csv             from where 'pcontact run pile1000 --csv out' was ended\n\n"
    "  --quick          fewer repetitions, no valgrind, no scenes but those that are named\n"
    "  --csv FILE       also write what,value,unit,target; of named scenes: scene,model,stands,...\n"
    "  --scenes FILE    the scenes' table as CSV where both are wanted\n"
    "  --json FILE      the scenes' table as JSON\n"
    "  --time T         seconds that a scene lasts, in place of its own\n"
    "  --cap T          seconds of the clock for one scene under one model, then it is ended; 20\n"
    "  --ours           scenes under our model alone\n"
    "  --settings TEXT  of our model: \"threads=2 gamma=1\"\n"
    "  --from STATES    of one scene: ODE and ours go on where such states (BASE.states.csv of 'pcontact run') end; T counts from its "
    "start\n"
    "  --native N       only take N native steps of a free body, and print nothing: this is what valgrind counts\n"
    "  --attached       the same of a world that is attached, and set to native\n\n"
    "Exit code: 1 if a target is missed, or one of our steps in a scene has a residual above 1e-8, was native, or did not stand.\n";

typedef struct Options {
    bool quick, help, attached;
    const char* csv;
    int native; /* -1: not asked for */
    const char* scenesCsv;
    pcBenchScenes scenes;
} Options;

typedef struct StepBench {
    FILE* csv;
    bool quick, missed;
} StepBench;

/* One line of the table; target < 0: none. */
static void report(StepBench* b, const char* what, double value, const char* unit, double target)
{
    bool missed = target >= 0.0 && !(value <= target);
    b->missed |= missed;
    printf("%-64s %10.4g %-6s", what, value, unit);
    if (target >= 0.0) printf(" at most %g%s", target, missed ? ", missed" : "");
    putchar('\n');
    if (b->csv) fprintf(b->csv, "%s,%.6g,%s,", what, value, unit);
    if (b->csv && target >= 0.0) fprintf(b->csv, "%g", target);
    if (b->csv) fputc('\n', b->csv);
}

/* ---- Worlds ---------------------------------------------------------------------------------------------------------------------- */

static dWorldID makeWorld(int bodies)
{
    dWorldID world = dWorldCreate();
    dMass mass;
    dMassSetBoxTotal(&mass, 1, 1, 2, 3);
    dWorldSetGravity(world, 0, 0, -9.81);
    for (int i = 0; i < bodies; i++) {
        dBodyID body = dBodyCreate(world);
        dBodySetMass(body, &mass);
        dBodySetPosition(body, 3 * i, 0, 0);
        dBodySetAngularVel(body, 0.1, 0.2, 0.3);
    }
    return world;
}

/* ---- Milliseconds ------------------------------------------------------------------------------------------------------------------ */

enum { NATIVE = PC_HOST_TIMES, BESIDES, SAMPLES };

static bool timeSteps(dWorldID ours, dWorldID theirs, int steps, double sample[SAMPLES][MOST_STEPS])
{
    for (int i = -10; i < steps; i++) { /* some to warm up */
        pcWorldReportExtra extra;
        double start = benchNow();
        dWorldStep(theirs, STEP);
        double native = 1e-6 * (benchNow() - start);
        start = benchNow();
        pcStatus status = pcWorldStep(ours, STEP);
        double all = 1e-6 * (benchNow() - start);
        if (status != PC_OK || pcWorldReportMore(ours, &extra) != PC_OK || extra.native) return false;
        for (int k = 0; i >= 0 && k < PC_HOST_TIMES; k++) sample[k][i] = extra.milliseconds[k];
        if (i >= 0) sample[NATIVE][i] = native, sample[PC_HOST_ALL][i] = all, sample[BESIDES][i] = all - extra.milliseconds[PC_HOST_SOLVE];
    }
    return true;
}

static void reportTimes(StepBench* b, double sample[SAMPLES][MOST_STEPS], int steps)
{
    double ms[SAMPLES];
    for (int k = 0; k < SAMPLES; k++) ms[k] = benchStat(sample[k], steps).median;
    report(b, "a native step of 1000 free bodies", ms[NATIVE], "ms", -1.0);
    report(b, "gather: reading them", ms[PC_HOST_GATHER], "ms", -1.0);
    report(b, "inject: writing them, and ODE's integration", ms[PC_HOST_INJECT], "ms", -1.0);
    report(b, "solve: pcSystemStep, with nothing to solve", ms[PC_HOST_SOLVE], "ms", -1.0);
    report(b, "all but solving: gather, inject and the report", ms[BESIDES], "ms", -1.0);
    report(b, "the same in native steps", ms[BESIDES] / ms[NATIVE], "", TARGET_RATIO);
    report(b, "the whole step, in native steps", ms[PC_HOST_ALL] / ms[NATIVE], "", -1.0);
}

static int benchTimes(StepBench* b)
{
    static double sample[SAMPLES][MOST_STEPS];
    int steps = b->quick ? 50 : MOST_STEPS;
    dWorldID ours = makeWorld(BODIES), theirs = makeWorld(BODIES);
    bool good = pcWorldAttach(ours, NULL, NULL) == PC_OK && timeSteps(ours, theirs, steps, sample);
    if (good) reportTimes(b, sample, steps);
    if (!good) fprintf(stderr, "pcontact: bench step: %s.\n", pcLastError());
    pcWorldDetach(ours);
    dWorldDestroy(ours), dWorldDestroy(theirs);
    return good ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
}

/* ---- Instructions ---------------------------------------------------------------------------------------------------------------- */

static int takeNativeSteps(int steps, bool attached)
{
    dWorldID world = makeWorld(1);
    pcSettings settings = pcDefaultSettings();
    settings.model = PC_MODEL_NATIVE;
    bool good = !attached || pcWorldAttach(world, NULL, &settings) == PC_OK;
    for (int i = 0; i < steps && good; i++) attached ? (void)pcWorldStep(world, STEP) : (void)dWorldStep(world, STEP);
    if (attached) pcWorldDetach(world);
    dWorldDestroy(world);
    return good ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
}

/* Runs a program with its stderr in `text`; its exit code, or -1. */
static int runQuietly(char* const* program, char* text, size_t room)
{
    int ends[2], status = -1;
    pid_t child;
    if (pipe(ends) != 0) return -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    int error = posix_spawnp(&child, program[0], &actions, NULL, program, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; error == 0 && used + 1 < room && (got = read(ends[0], text + used, room - 1 - used)) > 0;) used += (size_t)got;
    text[used] = 0;
    close(ends[0]);
    if (error == 0) waitpid(child, &status, 0);
    return error == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What is counted: a program, with the preload library or not, its world attached or not. */
typedef struct Counted {
    const char *self, *preloadOrNull;
    bool attached;
} Counted;

/* Instructions of so many native steps in a process of their own; < 0: valgrind did not count. */
static double countInstructions(const Counted* what, int steps)
{
    char number[16], text[1 << 14];
    char* program[] = {"valgrind",
                       "--tool=callgrind",
                       "--callgrind-out-file=/dev/null",
                       (char*)(size_t)what->self,
                       "bench",
                       "step",
                       "--native",
                       number,
                       NULL,
                       NULL};
    if (what->attached) program[8] = "--attached";
    snprintf(number, sizeof number, "%d", steps);
    if (what->preloadOrNull) setenv("LD_PRELOAD", what->preloadOrNull, 1), setenv("PCONTACT", "model=native", 1);
    int code = runQuietly(program, text, sizeof text);
    unsetenv("LD_PRELOAD"), unsetenv("PCONTACT");
    const char* count = strstr(text, "Collected : ");
    return code == 0 && count ? strtod(count + strlen("Collected : "), NULL) : -1.0;
}

static double perStep(const Counted* what)
{
    double many = countInstructions(what, COUNTED_STEPS), none = countInstructions(what, 0);
    return many >= 0.0 && none >= 0.0 ? (many - none) / COUNTED_STEPS : -1.0;
}

static int benchInstructions(StepBench* b)
{
    char self[PATH_MAX], preload[PATH_MAX], version[256];
    char* valgrind[] = {"valgrind", "--quiet", "--tool=none", "true", NULL};
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0 || pcCliFindPreload(preload) != 0) return PC_CLI_BAD_INPUT;
    self[length] = 0;
    if (runQuietly(valgrind, version, sizeof version) != 0) {
        puts("instructions of a native step: not counted, valgrind is not installed or does not run");
        return PC_CLI_OK;
    }
    double alone = perStep(&(Counted){.self = self}), loaded = perStep(&(Counted){.self = self, .preloadOrNull = preload}),
           attached = perStep(&(Counted){.self = self, .attached = true});
    if (!(alone > 0.0 && loaded > 0.0 && attached > 0.0)) {
        puts("instructions of a native step: not counted, valgrind failed");
        return PC_CLI_CHECK_FAILED;
    }
    report(b, "instructions of a native step of one free body", alone, "", -1.0);
    report(b, "the same under the preload library, world set to native", loaded, "", -1.0);
    report(b, "more instructions", 100.0 * (loaded - alone) / alone, "%", TARGET_PERCENT);
    report(b, "the same without it, attached by a call and set to native", attached, "", -1.0);
    return PC_CLI_OK;
}

/* ---- The command --------------------------------------------------------------------------------------------------------------- */

static int parseNative(const char* text, Options* out)
{
    char* end;
    long steps = strtol(text, &end, 10);
    if (*end || end == text || steps < 0 || steps > 1000000) return pcCliBadInput("--native takes a number of steps, not '%s'", text);
    out->native = (int)steps;
    return PC_CLI_OK;
}

static int parseSeconds(const char* name, const char* text, double* out)
{
    if (pcCliNumber(text, out) && *out > 0.0) return PC_CLI_OK;
    return pcCliBadInput("%s takes seconds > 0, not '%s'", name, text);
}

/* An option with a value; -1: it is none. */
static int parseValued(int argc, char** argv, int* i, Options* out)
{
    const char* value;
    if (pcCliOption("--csv", argc, argv, i, &value)) return (out->csv = value) ? PC_CLI_OK : PC_CLI_BAD_INPUT;
    if (pcCliOption("--scenes", argc, argv, i, &value)) return (out->scenesCsv = value) ? PC_CLI_OK : PC_CLI_BAD_INPUT;
    if (pcCliOption("--json", argc, argv, i, &value)) return (out->scenes.json = value) ? PC_CLI_OK : PC_CLI_BAD_INPUT;
    if (pcCliOption("--settings", argc, argv, i, &value)) return (out->scenes.settings = value) ? PC_CLI_OK : PC_CLI_BAD_INPUT;
    if (pcCliOption("--from", argc, argv, i, &value)) return (out->scenes.from = value) ? PC_CLI_OK : PC_CLI_BAD_INPUT;
    if (pcCliOption("--native", argc, argv, i, &value)) return value ? parseNative(value, out) : PC_CLI_BAD_INPUT;
    if (pcCliOption("--time", argc, argv, i, &value)) return value ? parseSeconds("--time", value, &out->scenes.time) : PC_CLI_BAD_INPUT;
    if (pcCliOption("--cap", argc, argv, i, &value)) return value ? parseSeconds("--cap", value, &out->scenes.cap) : PC_CLI_BAD_INPUT;
    return -1;
}

static int parse(int argc, char** argv, Options* out)
{
    for (int i = 0; i < argc; i++) {
        int code = parseValued(argc, argv, &i, out);
        if (code > PC_CLI_OK) return code;
        if (code == PC_CLI_OK) continue;
        if (strcmp(argv[i], "--quick") == 0) {
            out->quick = true;
        } else if (strcmp(argv[i], "--attached") == 0) {
            out->attached = true;
        } else if (strcmp(argv[i], "--ours") == 0) {
            out->scenes.ours = true;
        } else if (pcCliIsHelp(argv[i])) {
            out->help = true;
        } else if (argv[i][0] == '-') {
            return pcCliBadInput("there is no option '%s'; 'pcontact bench step --help' lists them", argv[i]);
        } else if (out->scenes.scenes == PC_BENCH_MOST_SCENES) {
            return pcCliBadInput("'bench step' takes at most %d scenes", PC_BENCH_MOST_SCENES);
        } else {
            out->scenes.scene[out->scenes.scenes++] = argv[i];
        }
    }
    return PC_CLI_OK;
}

/* Each with what it grows by from a tenth of the bodies: 1 is linear. */
static void benchParts(StepBench* b)
{
    int few, many;
    double small = pcBenchBroadphase(1000, &few), large = pcBenchBroadphase(10000, &many);
    report(b, "broadphase of 10,000 bodies", large, "ms", TARGET_BROADPHASE);
    report(b, "its pairs", many, "", -1.0);
    report(b, "its growth from 1000 bodies: exponent", log10(large / small), "", -1.0);
    double alone = pcBenchSleep(0), asleep = pcBenchSleep(10), more = pcBenchSleep(100);
    report(b, "a step of one falling body", alone, "ms", -1.0);
    report(b, "the same beside 100 bodies that sleep", asleep, "ms", -1.0);
    report(b, "the same beside 1000 bodies that sleep", more, "ms", -1.0);
    report(b, "per body that sleeps", 1e6 * (more - alone) / 1000.0, "ns", -1.0);
}

static int runAll(StepBench* b)
{
    benchParts(b);
    int code = benchTimes(b);
    if (code == PC_CLI_OK && !b->quick) code = benchInstructions(b);
    return code == PC_CLI_OK && b->missed ? PC_CLI_CHECK_FAILED : code;
}

static int runBare(const Options* options)
{
    StepBench b = {.quick = options->quick};
    if (options->csv && !(b.csv = fopen(options->csv, "w"))) return pcCliBadInput("the file '%s' cannot be written", options->csv);
    if (b.csv) fputs("what,value,unit,target\n", b.csv);
    dInitODE2(0);
    int code = options->native >= 0 ? takeNativeSteps(options->native, options->attached) : runAll(&b);
    dCloseODE();
    return pcCliCloseFile(b.csv, options->csv, code);
}

int pcCliBenchStep(int argc, char** argv)
{
    Options options = {.native = -1};
    int code = parse(argc, argv, &options), scenes = PC_CLI_OK;
    if (code != PC_CLI_OK) return code;
    if (options.help) {
        fputs(help, stdout);
        return PC_CLI_OK;
    }
    bool named = options.scenes.scenes > 0;
    if (options.scenes.from && options.scenes.scenes != 1)
        return pcCliBadInput("--from takes the states of one scene, which must be named");
    options.scenes.csv = options.scenesCsv ? options.scenesCsv : named ? options.csv : NULL;
    if (!named) code = runBare(&options);
    if (named || (!options.quick && options.native < 0 && code != PC_CLI_BAD_INPUT)) scenes = pcBenchScenesRun(&options.scenes);
    return scenes > code ? scenes : code;
}
