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

static const char help[] =
    "Usage: pcontact bench nut [balls] [polyhedra] [penalty] [--seeds N] [--first N] [--shakes N] [--csv FILE] [--SETTING VALUE]...\n\n"
    "Shakes 270 bodies until the large one is on top, in both worlds (brazil_nut_balls, brazil_nut) or the one that is named, and tells "
    "the\n"
    "largest step at which a spring-damper contact survives the balls. Balls take minutes for a seed, polyhedra more.\n\n"
    "  --seeds N    so many random starts, default 5\n"
    "  --first N    the first of them, default 1\n"
    "  --shakes N   at most, default 80\n"
    "  --csv FILE   every height as a line: world,method,seed,shakes,height\n"
    "  --SETTING    on top of what the files say: --model lcp, --tolerance 1e-8\n\n"
    "Exit code: 0; 1 if a nut is not on top after these shakes, or a body got out of the container; 2 for bad input.\n";

enum { SEEDS = 20, WORLDS = 2, EVERY = 5, SHAKES_SURVIVED = 20 };
static const double FINE = 2e-4; /* step of the springs where their nut is watched */

static const char* const names[WORLDS] = {"balls", "polyhedra"};
static const char* const worlds[WORLDS] = {"brazil_nut_balls", "brazil_nut"};

typedef struct Bench {
    bool named[WORLDS], penalty, any;
    int seeds, first, shakes;
    pcSettingsText settings;
    FILE* csv;
    const char* csvName;
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
    int missed = 0, outside = 0, below = 0;
    if (pcCliFindWorld(worlds[which], path) != 0) return PC_CLI_BAD_INPUT;
    printf("\n%s\n", worlds[which]);
    printHead(b);
    for (int seed = b->first; seed < b->first + b->seeds; seed++) {
        pcNutRun run;
        pcNutPlan plan = {.file = path, .settings = b->settings.text, .seed = (unsigned)seed, .shakes = b->shakes};
        if (pcNutPlay(&plan, &run) != PC_OK) return failed();
        printTrack(b, seed, &run.track);
        writeTrack(b, worlds[which], "pcontact", seed, &run.track);
        ms += run.milliseconds / b->seeds, ratio += run.ratio / b->seeds;
        slowest = fmax(slowest, run.slowest), residual = fmax(residual, run.residual);
        missed += run.inaccurate + run.nativeSteps, outside += run.outside, below += run.track.onTop == 0;
    }
    printf("  %.3g ms per step, %.3g at most; residual at most %.2g, %d steps missed the tolerance; mean penetration %.2g of the bodies' "
           "size;\n"
           "  %d bodies outside\n",
           ms, slowest, residual, missed, ratio, outside);
    return outside == 0 && below == 0 ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
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
static pcStatus largestStep(const pcScene* scene, double time, double overlap, double* step)
{
    pcPenaltyRun run = {.survived = false};
    for (*step = scene->physics.step; !run.survived && *step > 1e-8; *step *= 0.5) {
        pcStatus status = pcPenaltyPlay(scene, &(pcPenaltyPlan){.step = *step, .time = time, .overlap = overlap}, &run);
        if (status != PC_OK) return status;
        printf("  h = %-9.3g %s after %.3g s; overlap at most %.2g of the smallest radius\n", *step, run.survived ? "survives" : "lost",
               run.time, run.overlap);
        fflush(stdout);
    }
    *step *= 2.0;
    return PC_OK;
}

/* Soft springs, and some that are closer to hard bodies: the step goes with the root of the overlap. */
static pcStatus benchSprings(const pcScene* scene)
{
    static const double overlap[] = {1e-2, 1e-4};
    pcStatus status = PC_OK;
    for (int i = 0; i < 2 && status == PC_OK; i++) {
        double step = 0.0;
        printf("  springs that give way by %g of the smallest radius under the weight of all:\n", overlap[i]);
        status = largestStep(scene, SHAKES_SURVIVED / scene->physics.shakeFrequency, overlap[i], &step);
        if (status == PC_OK)
            printf("  the step of our worlds is %g s: %.3g times as large\n", scene->physics.step, scene->physics.step / step);
    }
    return status;
}

static int benchPenaltySeed(const Bench* b, const char* path, int seed)
{
    pcScene* scene;
    Watched w = {.track = {0}};
    pcPenaltyRun run;
    if (pcSceneReadSeeded(path, (unsigned)seed, &scene) != PC_OK) return failed();
    pcStatus status = pcNutFind(scene, &w.cast);
    if (status == PC_OK && seed == b->first) {
        status = benchSprings(scene);
        printf("  its heights at h = %g\n", FINE);
        printHead(b);
    }
    pcPenaltyPlan plan = {.step = FINE, .time = b->shakes / scene->physics.shakeFrequency, .shaken = watch, .context = &w};
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
    printf("\n%s by springs and dampers\n", worlds[0]);
    for (int seed = b->first; seed < b->first + b->seeds && code == PC_CLI_OK; seed++) code = benchPenaltySeed(b, path, seed);
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
    b->csv = fopen(file, "w"), b->csvName = file;
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
        if (code < 0) code = readCount("--first", 1000000, &b->first, argc, argv, &i);
        if (code < 0) code = readCount("--shakes", PC_NUT_MOST_SHAKES, &b->shakes, argc, argv, &i);
        if (code < 0 && pcCliOption("--csv", argc, argv, &i, &file)) code = readCsv(b, file);
        if (code < 0 && nameWorld(b, argv[i])) code = PC_CLI_OK;
        if (code < 0 && argv[i][0] == '-') code = pcCliSetting(&b->settings, "bench nut", argc, argv, &i);
        if (code < 0) return pcCliBadInput("'bench nut' knows no '%s'; 'pcontact bench nut --help' explains it", argv[i]);
        if (code > 0) return code;
    }
    return -1;
}

static int worse(int a, int b) { return a > b ? a : b; }

int pcCliBenchNut(int argc, char** argv)
{
    Bench b = {.seeds = 5, .first = 1, .shakes = 80};
    int code = readOptions(&b, argc, argv);
    if (code < 0) {
        code = PC_CLI_OK;
        for (int i = 0; i < WORLDS && code != PC_CLI_BAD_INPUT; i++)
            if (!b.any || b.named[i]) code = worse(code, benchWorld(&b, i));
        if (code != PC_CLI_BAD_INPUT && (!b.any || b.penalty)) code = worse(code, benchPenalty(&b));
    }
    return pcCliCloseFile(b.csv, b.csvName, code);
}
