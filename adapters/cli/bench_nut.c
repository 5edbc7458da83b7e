/*
 * pcontact bench nut: the Brazil nut (T ch. 7) with balls and with polyhedra. The large body's height after each shake, for several seeds,
 * and when it is first on top; and the largest step that a spring-damper contact survives in the same world of balls.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapters/cli/cli.h"
#include "adapters/cli/nut.h"
#include "adapters/cli/options.h"
#include "adapters/cli/penalty.h"
#include "adapters/cli/worlds.h"

static const char help[] = "Usage: pcontact bench nut [balls] [polyhedra] [penalty] [--seeds N] [--shakes N] [--csv FILE]\n\n"
                           "Shakes 270 bodies until the large one is on top, in both worlds (brazil_nut_balls, brazil_nut) or the one that "
                           "is named, and tells the\n"
                           "largest step at which a spring-damper contact survives the balls. The whole of it takes hours.\n\n"
                           "  --seeds N    other random starts, default 5\n"
                           "  --shakes N   at most, default 80\n"
                           "  --csv FILE   every height as a line: world,method,seed,shakes,height\n";

enum { SEEDS = 20, WORLDS = 2, EVERY = 5 };

static const char* const names[WORLDS] = {"balls", "polyhedra"};
static const char* const worlds[WORLDS] = {"brazil_nut_balls", "brazil_nut"};

typedef struct Bench {
    bool named[WORLDS], penalty, any;
    int seeds, shakes;
    FILE* csv;
} Bench;

static int failed(void) { return pcCliBadInput("%s", pcLastError()); }

/* ---- telling ---- */

static void writeTrack(const Bench* b, const char* world, const char* method, int seed, const pcNutTrack* track)
{
    for (int i = 0; b->csv && i < track->shakes; i++) fprintf(b->csv, "%s,%s,%d,%d,%.6g\n", world, method, seed, i + 1, track->height[i]);
}

static void printHead(const Bench* b)
{
    printf("  seed  on top after  height by the fill after shakes");
    for (int i = EVERY; i <= b->shakes && i <= 12 * EVERY; i += EVERY) printf("%5d", i);
    putchar('\n');
}

static void printTrack(const Bench* b, int seed, const pcNutTrack* track)
{
    char onTop[16] = "not yet";
    if (track->onTop) snprintf(onTop, sizeof onTop, "%d", track->onTop);
    printf("%6d  %12s  %35s", seed, onTop, "");
    for (int i = EVERY; i <= b->shakes && i <= 12 * EVERY && i <= track->shakes; i += EVERY) printf("%5.2f", track->height[i - 1]);
    putchar('\n');
    fflush(stdout);
}

/* ---- our own steps ---- */

static int benchWorld(const Bench* b, int which)
{
    char path[PC_CLI_PATH];
    double ms = 0.0, slowest = 0.0, residual = 0.0, ratio = 0.0;
    int missed = 0, outside = 0;
    if (pcCliFindWorld(worlds[which], path) != 0) return PC_CLI_BAD_INPUT;
    printf("\n%s\n", worlds[which]);
    printHead(b);
    for (int seed = 1; seed <= b->seeds; seed++) {
        pcNutRun run;
        pcNutPlan plan = {.file = path, .seed = (unsigned)seed, .shakes = b->shakes};
        if (pcNutPlay(&plan, &run) != PC_OK) return failed();
        printTrack(b, seed, &run.track);
        writeTrack(b, worlds[which], "pcontact", seed, &run.track);
        ms += run.milliseconds / b->seeds, ratio += run.ratio / b->seeds;
        slowest = fmax(slowest, run.slowest), residual = fmax(residual, run.residual);
        missed += run.inaccurate + run.nativeSteps, outside += run.outside;
    }
    printf("  %.3g ms per step, %.3g at most; residual at most %.2g, %d steps missed the tolerance; mean penetration %.2g of the bodies' "
           "size;\n"
           "  %d bodies outside\n",
           ms, slowest, residual, missed, ratio, outside);
    return outside == 0 ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
}

/* ---- springs and dampers ---- */

typedef struct Watched {
    pcNutCast cast;
    pcNutTrack track;
} Watched;

static void watch(void* context, int shakes, const double* xz)
{
    (void)shakes;
    Watched* w = context;
    pcNutWatch(&w->cast, xz, &w->track);
}

/* Down from the step of the world, by halves, until it survives. */
static pcStatus largestStep(const pcScene* scene, double time, double* step)
{
    pcPenaltyRun run = {.survived = false};
    for (*step = scene->physics.step; !run.survived && *step > 1e-8; *step *= 0.5) {
        pcStatus status = pcPenaltyPlay(scene, &(pcPenaltyPlan){.step = *step, .time = time}, &run);
        if (status != PC_OK) return status;
        printf("  h = %-9.3g %s after %.3g s; overlap at most %.2g of the smallest radius\n", *step, run.survived ? "survives" : "lost",
               run.time, run.overlap);
    }
    *step *= 2.0;
    return PC_OK;
}

static int benchPenaltySeed(const Bench* b, const char* path, int seed)
{
    pcScene* scene;
    Watched w = {.track = {0}};
    pcPenaltyRun run;
    double step = 0.0;
    if (pcSceneReadSeeded(path, (unsigned)seed, &scene) != PC_OK) return failed();
    double time = b->shakes / scene->physics.shakeFrequency;
    pcStatus status = pcNutFind(scene, &w.cast);
    if (status == PC_OK && seed == 1) {
        status = largestStep(scene, time, &step);
        if (status == PC_OK)
            printf("  The step of our worlds is %g s: %.3g times as large.\n", scene->physics.step, scene->physics.step / step);
        printHead(b);
    }
    pcPenaltyPlan plan = {.step = 1e-4, .time = time, .shaken = watch, .context = &w};
    if (status == PC_OK) status = pcPenaltyPlay(scene, &plan, &run);
    pcSceneFree(scene);
    if (status != PC_OK) return failed();
    printTrack(b, seed, &w.track);
    writeTrack(b, worlds[0], "penalty", seed, &w.track);
    return PC_CLI_OK;
}

static int benchPenalty(const Bench* b)
{
    char path[PC_CLI_PATH];
    int code = pcCliFindWorld(worlds[0], path);
    if (code != 0) return code;
    printf("\n%s by springs and dampers; its heights at h = 0.0001\n", worlds[0]);
    for (int seed = 1; seed <= b->seeds && code == PC_CLI_OK; seed++) code = benchPenaltySeed(b, path, seed);
    return code;
}

/* ---- options ---- */

static bool nameWorld(Bench* b, const char* word)
{
    for (int i = 0; i < WORLDS; i++)
        if (strcmp(names[i], word) == 0) return b->named[i] = b->any = true;
    if (strcmp(word, "penalty") != 0) return false;
    return b->penalty = b->any = true;
}

/* -1: argv[*i] is not that option. */
static int readCount(const char* name, int most, int* out, int argc, char** argv, int* i)
{
    const char* value;
    double number;
    if (!pcCliOption(name, argc, argv, i, &value)) return -1;
    if (!value) return PC_CLI_BAD_INPUT;
    if (!pcCliNumber(value, &number) || !(number >= 1.0 && number <= most) || number != floor(number))
        return pcCliBadInput("%s must be a whole number from 1 to %d, not '%s'", name, most, value);
    *out = (int)number;
    return PC_CLI_OK;
}

static int readCsv(Bench* b, const char* file)
{
    if (!file) return PC_CLI_BAD_INPUT;
    b->csv = fopen(file, "w");
    if (!b->csv) return pcCliBadInput("'%s' cannot be written", file);
    fputs("world,method,seed,shakes,height\n", b->csv);
    return PC_CLI_OK;
}

/* -1: go on. */
static int readOptions(Bench* b, int argc, char** argv)
{
    for (int i = 0; i < argc; i++) {
        const char* file;
        if (pcCliIsHelp(argv[i])) return fputs(help, stdout) >= 0 ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
        int code = readCount("--seeds", SEEDS, &b->seeds, argc, argv, &i);
        if (code < 0) code = readCount("--shakes", PC_NUT_MOST_SHAKES, &b->shakes, argc, argv, &i);
        if (code < 0 && pcCliOption("--csv", argc, argv, &i, &file)) code = readCsv(b, file);
        if (code < 0 && nameWorld(b, argv[i])) code = PC_CLI_OK;
        if (code < 0) return pcCliBadInput("'bench nut' knows no '%s'; 'pcontact bench nut --help' explains it", argv[i]);
        if (code > 0) return code;
    }
    return -1;
}

int pcCliBenchNut(int argc, char** argv)
{
    Bench b = {.seeds = 5, .shakes = 80};
    int code = readOptions(&b, argc, argv);
    if (code < 0) {
        code = PC_CLI_OK;
        for (int i = 0; i < WORLDS && code == PC_CLI_OK; i++)
            if (!b.any || b.named[i]) code = benchWorld(&b, i);
        if (code == PC_CLI_OK && (!b.any || b.penalty)) code = benchPenalty(&b);
    }
    if (b.csv && fclose(b.csv) != 0 && code == PC_CLI_OK) code = PC_CLI_CHECK_FAILED;
    return code;
}
