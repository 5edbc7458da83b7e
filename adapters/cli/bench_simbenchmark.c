/*
 * pcontact bench simbenchmark: the contact scenes of SimBenchmark (Kang and Hwangbo 2018), with its parameters and its measures of error, under
 * ODE's two solvers and ours, beside the figures that were published with it (its data folder, ERP 0). The worlds are in
 * test_worlds/peers/scenes; what SDF has no word for is done here: the push on the plate, and the small shifts of the balls, which are
 * drawn by another generator than there.
 *
 *   rolling    mean over the steps of |v - v(t)|^2 of the plate plus that of the first ball. Friction f1 = mu1 (M + n m) g brakes the
 *              plate; the balls roll, so that the push F makes  a_ball = (F - f1) / (M (3.5 + n m / M)),  a_plate = 3.5 a_ball
 *   666        mean of the squared penetrations, summed over all pairs of balls and over balls and ground
 *   elastic    mean of (E - E_0)^2, E_0 the energy of the start
 *   bouncing   likewise, E_0 = m g H of all balls
 *   Kapla      steps until the last block of the top storey is below the floor of that storey, at most 60,000
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/cli/alone.h"
#include "adapters/cli/cli.h"
#include "adapters/cli/options.h"
#include "adapters/cli/progress.h"
#include "adapters/cli/worlds.h"
#include "adapters/sdf/stage.h"

static const char help[] =
    "Usage: pcontact bench simbenchmark [SCENE]... [--quick] [--cap T] [--csv FILE]\n\n"
    "Plays scenes of SimBenchmark, measured as there, and prints the error beside the published figures:\n\n"
    "  rolling-y, rolling-xy   a plate with 25 balls is pushed along an axis and across: squared error of the velocities\n"
    "  666                     216 balls fall on a heap: squared penetration\n"
    "  elastic                 216 balls bounce without loss: squared error of the energy\n"
    "  bouncing                49 balls bounce without loss: squared error of the energy; ours with flight=mean\n"
    "  kapla                   a tower of 102 blocks: steps until it falls, 60000 if it does not\n\n"
    "  --quick     a tenth of the time of each scene\n"
    "  --cap T     seconds of the clock for one scene under one model; 60\n"
    "  --csv FILE  the table as CSV\n\n"
    "Exit code: 1 if ours is above the best published figure in one of them.\n";

typedef struct Run Run;

typedef struct Scene {
    const char *name, *world;
    double h, time;
    double (*error)(const Run* run, double time); /* of the state before a step; NULL: counts the steps until it falls */
    double push[2];                               /* on the first body */
    double shift;                                 /* each body by up to this, by chance */
    double ode, best;                             /* published: the better of ODE's solvers, and the best of all engines */
    const char* engine;                           /* which that was */
    const char* ours;                             /* settings of ours beyond the defaults, or NULL */
} Scene;

enum { OURS = 2, MODELS = 3 };
static const struct {
    const char *name, *settings;
} models[MODELS] = {{"dWorldStep", "model=native"}, {"quick", "model=quick"}, {"ours", "model=lcp"}};

/* Shared with the process that plays. */
typedef struct Outcome {
    int steps, planned;
    double sum; /* of the error */
    bool fell, failed;
    char sentence[256];
} Outcome;

struct Run {
    const Scene* scene;
    const char* file;
    const char* settings;
    const char* more; /* or NULL */
    double time, cap;
    Outcome* out;
    pcStage* stage;
    double energy; /* of the start */
};

/* ---- measures ---- */

static const double GRAVITY = 9.81, BALL = 0.1;

static double square(double x) { return x * x; }

static double velocityError(const Run* run, int body, double a, double time)
{
    const dReal* v = dBodyGetLinearVel(run->stage->body[body].body);
    double push = hypot(run->scene->push[0], run->scene->push[1]), speed = a * time / push;
    return square(v[0] - speed * run->scene->push[0]) + square(v[1] - speed * run->scene->push[1]) + square(v[2]);
}

static double rollingError(const Run* run, double time)
{
    const double m = 1.0, M = 10.0, n = 25.0, mu = 0.4;
    double push = hypot(run->scene->push[0], run->scene->push[1]), brake = mu * (M + n * m) * GRAVITY;
    double ball =
        (push - brake) / (M * (3.5 + n * m / M)); /* both friction on a ball and its rolling: 1 / m + r^2 / (0.4 m r^2) = 3.5 / m */
    return velocityError(run, 0, 3.5 * ball, time) + velocityError(run, 1, ball, time);
}

static double penetrationError(const Run* run, double time)
{
    double sum = 0.0;
    (void)time;
    for (int i = 0; i < run->stage->bodies; i++) {
        const dReal* x = dBodyGetPosition(run->stage->body[i].body);
        for (int k = i + 1; k < run->stage->bodies; k++) {
            const dReal* y = dBodyGetPosition(run->stage->body[k].body);
            sum += square(fmax(0.0, 2.0 * BALL - sqrt(square(x[0] - y[0]) + square(x[1] - y[1]) + square(x[2] - y[2]))));
        }
        sum += square(fmax(0.0, BALL - x[2]));
    }
    return sum;
}

static double energyOf(const pcStage* stage)
{
    double sum = 0.0;
    for (int i = 0; i < stage->bodies; i++) {
        dBodyID body = stage->body[i].body;
        const dReal *x = dBodyGetPosition(body), *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
        dMass mass;
        dBodyGetMass(body, &mass); /* of a ball: its inertia is the same about every axis */
        sum += mass.mass * (GRAVITY * x[2] + 0.5 * (square(v[0]) + square(v[1]) + square(v[2])));
        sum += 0.5 * mass.I[0] * (square(w[0]) + square(w[1]) + square(w[2]));
    }
    return sum;
}

static double energyError(const Run* run, double time)
{
    (void)time;
    return square(energyOf(run->stage) - run->energy);
}

static bool hasFallen(const Run* run) { return dBodyGetPosition(run->stage->body[run->stage->bodies - 1].body)[2] < 1.0; }

static const Scene scenes[] = {
    {.name = "rolling-y",
     .world = "rolling",
     .h = 0.001,
     .time = 4,
     .error = rollingError,
     .push = {0, 150},
     .ode = 7.67e-9,
     .best = 4.93e-9,
     .engine = "Bullet"},
    {.name = "rolling-xy",
     .world = "rolling",
     .h = 0.001,
     .time = 4,
     .error = rollingError,
     .push = {75, 129.9038105676658},
     .ode = 3.145,
     .best = 6.43e-9,
     .engine = "Bullet"},
    {.name = "666",
     .world = "balls666",
     .h = 0.01,
     .time = 10,
     .error = penetrationError,
     .shift = 1e-3,
     .ode = 0.0161,
     .best = 0.0153,
     .engine = "RaiSim"},
    {.name = "elastic",
     .world = "balls666_elastic",
     .h = 0.01,
     .time = 10,
     .error = energyError,
     .shift = 1e-3,
     .ode = 8.56e6,
     .best = 5.18e6,
     .engine = "RaiSim"},
    {.name = "bouncing",
     .world = "bouncing",
     .h = 0.01,
     .time = 20,
     .error = energyError,
     .ode = 18808.3,
     .best = 185.953,
     .engine = "RaiSim",
     .ours = "flight=mean"},
    {.name = "kapla", .world = "kapla", .h = 0.01, .time = 600, .ode = 124, .best = 60000, .engine = "RaiSim"},
};
enum { SCENES = sizeof scenes / sizeof scenes[0], ITERATIONS = 1000 }; /* of QuickStep, as there */

/* ---- one run, in a process of its own ---- */

/* Uniform in 0 .. 1, the same everywhere. */
static double chance(unsigned long long* state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*state >> 11) * 0x1p-53;
}

static pcStatus setUp(Run* run)
{
    pcScene* scene;
    pcSettings settings = pcDefaultSettings();
    unsigned long long state = 42;
    pcStatus status = pcSceneRead(run->file, &scene);
    if (status == PC_OK) status = pcStageMake(scene, &run->stage);
    if (status != PC_OK) return status;
    dWorldSetERP(run->stage->world, 0.0);
    dWorldSetQuickStepNumIterations(run->stage->world, ITERATIONS);
    for (int i = 0; i < run->stage->bodies && run->scene->shift > 0.0; i++) {
        dBodyID body = run->stage->body[i].body;
        const dReal* x = dBodyGetPosition(body);
        double by[3];
        for (int k = 0; k < 3; k++) by[k] = run->scene->shift * chance(&state);
        dBodySetPosition(body, x[0] + by[0], x[1] + by[1], x[2] + by[2]);
    }
    run->energy = energyOf(run->stage);
    status = pcSettingsParse(&settings, run->settings);
    if (status == PC_OK && run->more) status = pcSettingsParse(&settings, run->more);
    return status == PC_OK ? pcStageAttach(run->stage, &settings) : status;
}

static void play(void* context)
{
    Run* run = context;
    const Scene* scene = run->scene;
    Outcome* out = run->out;
    double begun = pcCliClock();
    pcStatus status = setUp(run);
    for (; status == PC_OK && out->steps < out->planned && pcCliClock() - begun < run->cap; out->steps++) {
        if (scene->error) out->sum += scene->error(run, out->steps * scene->h);
        if (!scene->error && (out->fell = hasFallen(run))) break;
        if (scene->push[1] != 0.0) dBodyAddForce(run->stage->body[0].body, scene->push[0], scene->push[1], 0.0);
        status = pcStageStep(run->stage, scene->h);
    }
    if (status != PC_OK) out->failed = true, snprintf(out->sentence, sizeof out->sentence, "%s", pcLastError());
}

/* ---- all of them ---- */

typedef struct Options {
    const char* scene[SCENES];
    int scenes;
    bool quick, help;
    double cap;
    const char* csv;
} Options;

static double figureOf(const Scene* scene, const Outcome* out)
{
    return scene->error ? (out->steps > 0 ? out->sum / out->steps : (double)NAN) : out->steps;
}

/* Not worse than the best published; what the clock has cut short has not fallen. */
static bool isGood(const Scene* scene, const Outcome* out) { return scene->error ? figureOf(scene, out) <= scene->best : !out->fell; }

static bool playScene(const Scene* scene, const Options* options, Outcome* out, FILE* csv, bool* good)
{
    char file[PC_CLI_PATH];
    if (pcCliFindWorld(scene->world, file) != 0) return false;
    printf("%-11s %6g", scene->name, scene->h);
    if (csv) fprintf(csv, "%s,%g", scene->name, scene->h);
    for (int i = 0; i < MODELS; i++) {
        const char* more = i == OURS ? scene->ours : NULL;
        Run run = {.scene = scene, .file = file, .settings = models[i].settings, .more = more, .cap = options->cap, .out = out};
        memset(out, 0, sizeof *out);
        out->planned = (int)lround(scene->time / scene->h / (options->quick ? 10.0 : 1.0));
        if (pcAlone(play, &run, options->cap + 60.0) < 0.0)
            return pcCliBadInput("no process for '%s': %s", scene->name, strerror(errno)), false;
        if (out->failed) return pcCliBadInput("%s", out->sentence), false;
        bool cut = out->steps < out->planned && !out->fell;
        printf(" %11.4g%c", figureOf(scene, out), cut ? '+' : ' ');
        if (csv) fprintf(csv, ",%.6g,%d", figureOf(scene, out), out->steps);
        fflush(stdout);
    }
    *good = isGood(scene, out);
    const char* ours = scene->ours ? scene->ours : "";
    printf(" %11.4g %11.4g %-7s %-5s %s\n", scene->ode, scene->best, scene->engine, *good ? "" : "worse", ours);
    if (csv) fprintf(csv, ",%g,%g,%s,%s,%s\n", scene->ode, scene->best, scene->engine, *good ? "yes" : "no", ours);
    return true;
}

static int parse(int argc, char** argv, Options* out)
{
    for (int i = 0; i < argc; i++) {
        const char* value;
        if (pcCliOption("--csv", argc, argv, &i, &value)) {
            if (!(out->csv = value)) return PC_CLI_BAD_INPUT;
        } else if (pcCliOption("--cap", argc, argv, &i, &value)) {
            if (!value) return PC_CLI_BAD_INPUT;
            if (!pcCliNumber(value, &out->cap) || !(out->cap > 0.0)) return pcCliBadInput("--cap takes seconds > 0, not '%s'", value);
        } else if (strcmp(argv[i], "--quick") == 0) {
            out->quick = true;
        } else if (pcCliIsHelp(argv[i])) {
            out->help = true;
        } else if (argv[i][0] == '-' || out->scenes == SCENES) {
            return pcCliBadInput("'bench simbenchmark' knows no '%s'; 'pcontact bench simbenchmark --help' explains it", argv[i]);
        } else {
            out->scene[out->scenes++] = argv[i];
        }
    }
    return PC_CLI_OK;
}

static int runAll(const Options* options, Outcome* out, FILE* csv)
{
    bool all = true;
    printf("                    measured here                          published\n%-11s %6s", "scene", "h");
    for (int i = 0; i < MODELS; i++) printf(" %11s ", models[i].name);
    printf(" %11s %11s %13s %s\n", "ODE", "best", "", "settings of ours");
    if (csv) fputs("scene,h,dWorldStep,steps,quick,steps,ours,steps,published_ode,published_best,engine,at_or_below,our_settings\n", csv);
    for (int k = 0; k < (options->scenes ? options->scenes : SCENES); k++) {
        const Scene* scene = options->scenes ? NULL : scenes + k;
        for (int i = 0; i < SCENES && !scene; i++) scene = strcmp(scenes[i].name, options->scene[k]) == 0 ? scenes + i : NULL;
        bool good;
        if (!scene) return pcCliBadInput("there is no scene '%s'; 'pcontact bench simbenchmark --help' lists them", options->scene[k]);
        if (!playScene(scene, options, out, csv, &good)) return PC_CLI_BAD_INPUT;
        all &= good;
    }
    puts("+ the clock has ended it before its time");
    return all ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
}

int pcCliBenchSimbenchmark(int argc, char** argv)
{
    Options options = {.cap = 60.0};
    int code = parse(argc, argv, &options);
    if (code != PC_CLI_OK) return code;
    if (options.help) return fputs(help, stdout) < 0 ? PC_CLI_CHECK_FAILED : PC_CLI_OK;
    FILE* csv = options.csv ? fopen(options.csv, "w") : NULL;
    if (options.csv && !csv) return pcCliBadInput("the file '%s' cannot be written", options.csv);
    Outcome* out = pcAloneRoom(sizeof *out);
    code = out ? runAll(&options, out, csv) : pcCliBadInput("out of memory for the scenes");
    if (out) pcAloneRoomFree(out, sizeof *out);
    return pcCliCloseFile(csv, options.csv, code);
}
