/* pcontact sweep: many runs of one world with its parameters drawn, on all cores of a machine or on many machines. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapters/cli/cli.h"
#include "adapters/cli/options.h"
#include "adapters/cli/progress.h"
#include "adapters/cli/sweep_page.h"
#include "adapters/cli/worlds.h"
#include "adapters/sweep/share.h"
#include "adapters/sweep/summary.h"
#include "base/status.h"

static const char help[] =
    "Usage: pcontact sweep WORLD [--vary NAME=RANGE]... [--trials N] [--success FORMULA] [--csv BASE] [OPTION]...\n"
    "       mpirun [-n RANKS] pcontact sweep …\n\n"
    "Plays WORLD many times, with parameters drawn anew for each trial, and tells what came out of it.\n\n"
    "  pcontact sweep dice3 --vary mu=uniform:0.1:0.4 --trials 1000 --csv dice\n"
    "  pcontact sweep grasp --csv map                     the file itself says what is varied, and what success is\n"
    "  pcontact sweep grasp --csv map --resume            after a kill: only what is missing\n\n"
    "  --vary NAME=RANGE   RANGE: VALUE, uniform:LOW:HIGH, loguniform:LOW:HIGH, normal:MEAN:DEVIATION, choice:THIS:THAT…, "
    "grid:FROM:TO:STEP\n"
    "                      NAME: a setting (gamma); step, time; gravity.z; mu, mu2, bounce of all surfaces; of a model or link\n"
    "                      x y z roll pitch yaw (where it starts), vx … wz, mass, mu mu2 bounce kp kd slip1 slip2; of a joint\n"
    "                      max_force velocity damping stiffness friction: box.z, gripper::left.mu, gripper::slide.max_force\n"
    "  --trials N          for each cell of the grids; default 1 with a grid, else 100\n"
    "  --seed S            of all that is drawn; the same seed gives the same rows, whoever runs them; default 1\n"
    "  --success FORMULA   over parameters and what is noted of a trial: abs(end.box.yaw) < 0.1 and end.box.z - box.z > 0.5\n"
    "  --measure NAME=FORMULA  one more column\n"
    "  --rest SPEED        a trial ends when everything has been slower than this for five steps\n"
    "  --reach LENGTH      by which the best place of a map may be missed\n"
    "  --csv BASE          write BASE.trials.csv as trials end, BASE.plan.json, BASE.summary.csv and .json, and of grids BASE.map.csv and "
    ".json\n"
    "  --report FILE.html  write a page for the browser: how every number is spread, and the map of two grids\n"
    "  --resume            go on with BASE\n"
    "  --dry-run           only say how many trials there are, and how long they will take\n"
    "  --threads N         trials at the same time; default: one for each core, under mpirun one for each rank\n"
    "  --step H, --time T, --SETTING VALUE   as for 'run'; 'pcontact info --settings' explains them\n\n"
    "A name in a formula is a parameter, end.LINK.x … .yaw and .vx … .wz, end.time, end.rest, most.penetration, most.residual, missed.\n"
    "Exit code: 0; 1 if a trial had to be ODE's own, lost a body or could not be run; 2 for bad input, with nothing overwritten.\n";

typedef struct Options {
    const char* world;
    char path[PC_CLI_PATH];
    pcSettingsText settings;
    double step, time, rest, reach, trials, seed, threads; /* negative: not given */
    const char *success, *csv, *page;
    bool resume, dryRun;
    int varies, measures;
    const char *vary[2 * PC_SWEEP_VARIES], *measure[PC_SWEEP_MEASURES];
} Options;

/* ---- options ---- */

static bool isWhole(double number) { return number == floor(number) && fabs(number) < 9e15; }

/* -1: argv[*i] is not the option; else 0 or an exit code. */
static int readNumber(const char* name, bool whole, double least, double* out, int argc, char** argv, int* i)
{
    const char* text;
    double number;
    if (!pcCliOption(name, argc, argv, i, &text)) return -1;
    if (!text) return PC_CLI_BAD_INPUT;
    if (pcCliNumber(text, &number) && number >= least && (!whole || isWhole(number))) return *out = number, 0;
    return pcCliBadInput("%s must be a %snumber %s %g, not '%s'", name, whole ? "whole " : "", least > 0.0 && !whole ? "above" : "from",
                         least > 0.0 && !whole ? 0.0 : least, text);
}

static int readText(const char* name, const char** out, int argc, char** argv, int* i)
{
    if (!pcCliOption(name, argc, argv, i, out)) return -1;
    return *out ? 0 : PC_CLI_BAD_INPUT;
}

static int readList(const char* name, const char** list, int* count, int most, int argc, char** argv, int* i)
{
    const char* text;
    int code = readText(name, &text, argc, argv, i);
    if (code != 0) return code;
    if (*count == most) return pcCliBadInput("there are more than %d times %s", most, name);
    list[(*count)++] = text;
    return 0;
}

static int readFlag(const char* name, bool* flag, char** argv, const int* i)
{
    if (strcmp(argv[*i], name) != 0) return -1;
    *flag = true;
    return 0;
}

/* What a world file may say as well. */
static int readCommon(Options* o, int argc, char** argv, int* i)
{
    int code;
    if ((code = readList("--vary", o->vary, &o->varies, PC_SWEEP_VARIES, argc, argv, i)) >= 0) return code;
    if ((code = readList("--measure", o->measure, &o->measures, PC_SWEEP_MEASURES, argc, argv, i)) >= 0) return code;
    if ((code = readNumber("--trials", true, 1.0, &o->trials, argc, argv, i)) >= 0) return code;
    if ((code = readNumber("--rest", false, 0.0, &o->rest, argc, argv, i)) >= 0) return code;
    if ((code = readNumber("--reach", false, 0.0, &o->reach, argc, argv, i)) >= 0) return code;
    return readText("--success", &o->success, argc, argv, i);
}

static int readOption(Options* o, int argc, char** argv, int* i)
{
    int code = readCommon(o, argc, argv, i);
    if (code >= 0) return code;
    if ((code = readNumber("--seed", true, 0.0, &o->seed, argc, argv, i)) >= 0) return code;
    if ((code = readNumber("--threads", true, 1.0, &o->threads, argc, argv, i)) >= 0) return code;
    if ((code = readNumber("--step", false, 1e-9, &o->step, argc, argv, i)) >= 0) return code;
    if ((code = readNumber("--time", false, 1e-9, &o->time, argc, argv, i)) >= 0) return code;
    if ((code = readText("--csv", &o->csv, argc, argv, i)) >= 0) return code;
    if ((code = readText("--report", &o->page, argc, argv, i)) >= 0) return code;
    if ((code = readFlag("--resume", &o->resume, argv, i)) >= 0) return code;
    if ((code = readFlag("--dry-run", &o->dryRun, argv, i)) >= 0) return code;
    return pcCliSetting(&o->settings, "sweep", argc, argv, i);
}

static int readOptions(Options* o, int argc, char** argv)
{
    *o = (Options){.step = -1.0, .time = -1.0, .rest = -1.0, .reach = -1.0, .trials = -1.0, .seed = -1.0, .threads = -1.0};
    for (int i = 0; i < argc; i++) {
        int code = 0;
        if (argv[i][0] == '-')
            code = readOption(o, argc, argv, &i);
        else if (o->world)
            code = pcCliBadInput("'sweep' plays one world, but there are '%s' and '%s'", o->world, argv[i]);
        else
            o->world = argv[i];
        if (code != 0) return code;
    }
    if (!o->world) return pcCliBadInput("a world is missing; 'pcontact sweep --help' explains it");
    if (o->resume && !o->csv) return pcCliBadInput("--resume needs the --csv BASE of the sweep to go on with");
    return pcCliFindWorld(o->world, o->path);
}

/* ---- what the file says, where the command does not ---- */

static bool sameName(const char* a, const char* b)
{
    size_t length = strcspn(a, "=");
    return strncmp(a, b, length) == 0 && b[length] == '=';
}

/* The file's first; those that the command gives again are the command's. */
static void mergeVaries(Options* o, const Options* file)
{
    Options own = *o;
    o->varies = 0;
    for (int i = 0; i < file->varies; i++) {
        bool again = false;
        for (int k = 0; k < own.varies; k++) again |= sameName(file->vary[i], own.vary[k]);
        if (!again) o->vary[o->varies++] = file->vary[i];
    }
    for (int i = 0; i < own.varies; i++) o->vary[o->varies++] = own.vary[i];
}

static int addFileOptions(Options* o, const pcScene* scene)
{
    Options file = {.rest = -1.0, .reach = -1.0, .trials = -1.0};
    for (int k = 0; k < scene->physics.options; k++) {
        const pcSceneOption* option = scene->physics.option + k;
        char name[80];
        snprintf(name, sizeof name, "--%.70s", option->name);
        char* words[] = {name, (char*)option->value};
        int i = 0, code = readCommon(&file, 2, words, &i);
        if (code < 0)
            return pcCliBadInput("%s:%d: <sweep> knows vary, measure, success, trials, rest and reach, not <%.40s>", o->path, option->line,
                                 option->name);
        if (code > 0) return code;
    }
    mergeVaries(o, &file);
    for (int i = 0; i < file.measures && o->measures < PC_SWEEP_MEASURES; i++) o->measure[o->measures++] = file.measure[i];
    if (!o->success) o->success = file.success;
    if (o->trials < 0.0) o->trials = file.trials;
    if (o->rest < 0.0) o->rest = file.rest;
    if (o->reach < 0.0) o->reach = file.reach;
    return 0;
}

/* ---- the run ---- */

static int threadsOf(const Options* o, const pcRanks* ranks)
{
    if (o->threads > 0.0) return (int)fmin(o->threads, 1024.0);
    long cores = ranks ? 1 : sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (int)cores : 1;
}

static void timeText(double seconds, char text[32])
{
    if (seconds < 100.0)
        snprintf(text, 32, "%.3g s", seconds);
    else if (seconds < 6000.0)
        snprintf(text, 32, "%.3g min", seconds / 60.0);
    else
        snprintf(text, 32, "%.3g h", seconds / 3600.0);
}

/* Some trials, spread over all, for about two seconds. */
static int dryRun(const pcPlan* plan, int threads)
{
    enum { FEW = 50 };
    pcTrialRunner* runner;
    char each[32], all[32], reason[PC_TRIAL_REASON];
    double row[PC_SWEEP_COLUMNS], start = pcCliClock(), seconds = 0.0;
    int ran = 0;
    if (pcTrialRunnerMake(plan, &runner) != PC_OK) return pcCliBadInput("%s", pcLastError());
    for (; ran < FEW && ran < plan->trials && seconds < 2.0; ran++, seconds = pcCliClock() - start)
        pcTrialRun(runner, ran * (plan->trials / (plan->trials < FEW ? plan->trials : FEW)), row, reason);
    pcTrialRunnerFree(runner);
    int together = plan->serial ? 1 : threads;
    timeText(seconds / ran, each);
    timeText(seconds / ran * (double)plan->trials / together, all);
    printf("%lld trials: about %s each by %d of them, %s on %d thread%s\n", plan->trials, each, ran, all, together,
           together > 1 ? "s" : "");
    return PC_CLI_OK;
}

static void showProgress(void* context, long long done, long long all, double seconds)
{
    char left[32], unit[64];
    timeText(done > 0 ? seconds / (double)done * (double)(all - done) : 0.0, left);
    snprintf(unit, sizeof unit, "trials, %s left  ", done > 0 ? left : "?");
    pcProgressShow(context, (double)done, (double)all, unit);
}

static void tellShare(const pcShare* s, const char* world)
{
    char text[32];
    const pcPlan* plan = s->plan;
    timeText(s->seconds, text);
    printf("%s: %lld trials", world, plan->trials);
    if (plan->grids > 0) printf(" (%lld in each of %lld cells)", plan->repeats, plan->cells);
    printf(", seed %llu", (unsigned long long)plan->seed);
    if (s->ran < plan->trials) printf("; %lld were there already", plan->trials - s->ran);
    putchar('\n');
    if (s->ran == 0) return;
    printf("%lld run in %s by %d thread%s: %.1f per second", s->ran, text, s->workers, s->workers > 1 ? "s" : "",
           (double)s->ran / s->seconds);
    if (s->ranHere > 0) printf(", %.1f per second of a core", (double)s->ranHere / s->processor);
    putchar('\n');
    if (s->reason[0]) printf("trial %lld: %s\n", s->reasonTrial, s->reason);
}

static int tellResults(const Options* o, const pcShare* share, pcCliPage* page)
{
    pcSummary* summary = NULL;
    pcStatus status = pcSummaryMake(share->table, fmax(o->reach, 0.0), &summary);
    if (status == PC_OK && o->csv) status = pcSummaryWrite(summary, o->csv);
    if (status == PC_OK) {
        tellShare(share, o->world);
        pcSummaryTell(summary);
        if (o->csv) printf("written: %s.trials.csv, %s.summary.json%s\n", o->csv, o->csv, summary->cell ? " and maps" : "");
    }
    int code = status == PC_OK && o->page ? pcCliSweepPage(page, o->world, summary) : 0;
    if (status == PC_OK && o->page && code == 0) printf("written: %s\n", o->page);
    bool allOk = summary && summary->status[PC_TRIAL_OK] == summary->rows;
    pcSummaryFree(summary);
    if (status != PC_OK) return pcCliBadInput("%s", pcLastError());
    return code != 0 ? code : allOk ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
}

static int runAll(const Options* o, const pcPlan* plan, const pcRanks* ranks, pcCliPage* page)
{
    pcTable table;
    pcStore* store = NULL;
    pcProgress progress = pcProgressBegin("sweep");
    pcStatus status = pcTableMake(plan, &table);
    if (status == PC_OK && o->csv) status = pcStoreOpen(o->csv, o->resume, &table, &store);
    if (status != PC_OK) {
        pcShareDismiss(ranks, PC_CLI_BAD_INPUT);
        pcTableFree(&table);
        return pcCliBadInput("%s", pcLastError());
    }
    pcShare share = {.plan = plan, .table = &table, .store = store, .ranks = ranks, .threads = threadsOf(o, ranks)};
    share.progress = showProgress, share.context = &progress;
    status = pcShareRun(&share);
    pcProgressEnd(&progress);
    if (status == PC_OK && store) status = pcStoreSort(store, &table);
    int code = status == PC_OK ? tellResults(o, &share, page) : pcCliBadInput("%s", pcLastError());
    pcStoreClose(store);
    pcTableFree(&table);
    return code;
}

/* Rank 0 of a job, or the only process. */
static int lead(const Options* o, const pcPlan* plan, const pcRanks* ranks, pcCliPage* page)
{
    if (plan && !o->dryRun) return runAll(o, plan, ranks, page);
    pcShareDismiss(ranks, plan ? PC_CLI_OK : PC_CLI_BAD_INPUT);
    return plan ? dryRun(plan, threadsOf(o, ranks) * (ranks ? ranks->size : 1)) : PC_CLI_BAD_INPUT;
}

static pcPlan* makePlan(Options* o, const pcScene* scene)
{
    pcPlan* plan = NULL;
    const char* slash = strrchr(o->path, '/'); /* the same world from any folder */
    if (addFileOptions(o, scene) != 0) return NULL;
    pcSweepOrder order = {.world = slash ? slash + 1 : o->path, .scene = scene, .settings = o->settings.text, .step = fmax(o->step, 0.0)};
    order.time = fmax(o->time, 0.0), order.rest = fmax(o->rest, 0.0), order.success = o->success;
    order.varies = o->varies, order.vary = o->vary, order.measures = o->measures, order.measure = o->measure;
    order.trials = (long long)o->trials, order.seed = o->seed >= 0.0 ? (uint64_t)o->seed : 1;
    if (pcPlanMake(&order, &plan) != PC_OK) pcCliBadInput("%s", pcLastError());
    return plan;
}

static int sweep(Options* o, const pcRanks* ranks, pcCliPage* page)
{
    pcScene* scene = NULL;
    pcPlan* plan = NULL;
    if (pcSceneRead(o->path, &scene) == PC_OK)
        plan = makePlan(o, scene);
    else
        pcCliBadInput("%s", pcLastError());
    int code = ranks && ranks->rank > 0 ? pcShareServe(ranks, plan, threadsOf(o, ranks)) : lead(o, plan, ranks, page);
    pcPlanFree(plan);
    pcSceneFree(scene);
    return code;
}

int pcCliSweep(int argc, char** argv)
{
    Options options;
    const pcRanks* ranks;
    if (!pcRanksSpeaks() && !(freopen("/dev/null", "w", stderr) && freopen("/dev/null", "w", stdout))) return PC_CLI_BAD_INPUT;
    for (int i = 0; i < argc; i++)
        if (pcCliIsHelp(argv[i])) return fputs(help, stdout) >= 0 ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
    if (pcRanksFind(&ranks) != PC_OK) {
        pcCliBadInput("%s", pcLastError());
        return pcRanksSpeaks() ? PC_CLI_BAD_INPUT : PC_CLI_OK; /* or mpirun might end the one that speaks before it has */
    }
    static pcCliPage page;
    int code = readOptions(&options, argc, argv);
    bool writes = code == 0 && !options.dryRun && !(ranks && ranks->rank > 0); /* rank 0 writes the page */
    if (writes) code = pcCliPageBegin(&page, options.page, "sweep", argc, argv);
    if (code == 0)
        code = sweep(&options, ranks, &page);
    else if (ranks && ranks->rank == 0)
        pcShareDismiss(ranks, code);
    pcCliPageDrop(&page);
    if (ranks) ranks->finish();
    return code;
}
