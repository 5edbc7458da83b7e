/*
 * pcontact bench step, second part: the same scene from the same start under dWorldStep, dWorldQuickStep with 20 and with 200 iterations, and
 * our model, measured by the same code; and under Bullet and MuJoCo where they were built (rivals.h).
 *
 * Each play is a process of its own: one step of dWorldStep may take minutes, so whoever exceeds the cap is ended, and what it has measured
 * until then, in memory that it shares with us, is printed. A step counts as settled if no body moves faster than SETTLED after it.
 *
 *   solver      what follows once contacts are known: of ODE its step with the making of contact joints, of ours assembly and solution
 *   residual    by the judge (judge.h), the same for all
 *   missed      steps of ours whose own certificate is above 1e-8; loose: above 1e-10, of which one in a thousand may be
 *   creep       the furthest that a body of a standing scene gets after a fifth of the time; speed: the fastest that one is after that
 *   stands      no body has left its place by more than the scene allows
 *   rests       it stands, without creep, speed and penetration beyond CREEP, SPEED and what the scene allows
 *   pairs       of ours: candidate pairs, all of the broadphase
 *   KB/contact  of memory beyond what the process had before it read the scene
 */
#include "adapters/cli/bench_scenes.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "adapters/cli/alone.h"
#include "adapters/cli/bench_pairs.h"
#include "adapters/cli/cli.h"
#include "adapters/cli/judge.h"
#include "adapters/cli/options.h"
#include "adapters/cli/play.h"
#include "adapters/cli/rivals.h"
#include "adapters/cli/states.h"
#include "adapters/cli/worlds.h"
#include "base/status.h"

enum { MOST_STEPS = 12000, MODELS = 6 };
static const double SETTLED = 0.05, MISSED = 1e-8, LOOSE = 1e-10, DEFAULT_CAP = 20.0;

typedef struct Scene {
    const char* name;
    double stands;      /* length; 0: it is not meant to stand */
    double penetration; /* that it may have at rest */
    const char* settings;
} Scene;

static const double CREEP = 1e-9, SPEED = 1e-9;

static const Scene scenes[] = {
    {"stack10", 0.1, 1e-8, ""},
    {"stack10_gap", 0.1, 1e-8, ""},
    {"stackmass", 0.1, 1e-8, ""},
    {"under1e4", 0.1, 1e-8, ""},
    {"under1e6", 0.1, 1e-8, ""},
    {"wall55", 0.05, 1e-8, ""},
    {"wall55_gap", 0.05, 1e-8, ""},
    {"wall210", 0.05, 1e-7, ""},
    {"wall210_gap", 0.05, 1e-7, ""},
    {"wall820", 0.05, 1e-7, ""},
    {"wall5050", 0.05, 1e-7, ""},
    {"kapla", 0.005, 1e-8, ""},
    {"domino20", 0, 0, ""},
    {"chain10", 0, 0, "implicitJoints=1"},
    {"chain10_side", 0, 0, "implicitJoints=1"},
    {"ragdolls", 0, 0, ""},
    {"brazil_nut", 0, 0, ""},
    {"brazil_nut_balls", 0, 0, ""},
    {"pile1000", 0, 0, ""},
    {"pile10000", 0, 0, ""},
};
enum { SCENES = sizeof scenes / sizeof scenes[0] };

typedef struct Model {
    const char *name, *settings;
    int iterations;     /* of QuickStep */
    const char* engine; /* another one (rivals.h); NULL: ODE's world */
} Model;

static const Model models[MODELS] = {
    {"dWorldStep", "model=native", 0, NULL}, {"quick20", "model=quick", 20, NULL}, {"quick200", "model=quick", 200, NULL},
    {"bullet", "model=lcp", 0, "bullet"},    {"mujoco", "model=lcp", 0, "mujoco"}, {"ours", "", 0, NULL},
};

/* Written by the process that plays, read by the one that prints. */
typedef struct Measured {
    int bodies, joints, steps, planned, settledSteps, contacts, missed, loose, native, messages;
    double allContacts; /* of all steps together */
    double residual, ownResidual, penetration, joint, creep, moved, speed, megabytesBefore;
    bool failed, absent; /* absent: there is no such engine, or it does not have what the scene needs */
    char sentence[256];
    double all[MOST_STEPS], solver[MOST_STEPS], pairs[MOST_STEPS];
    bool settled[MOST_STEPS];
} Measured;

/* What is printed of it; NaN: there is none. */
typedef struct Row {
    const char *scene, *model, *stands, *rests;
    double bodies, steps, contacts, median, p99, settled, moving, p99Solver, residual, ownResidual, missed, loose, penetration, joint,
        creep;
    double messages, native, megabytes, speed, pairs, kilobytes;
} Row;

/* ---- playing: in a process of its own ---- */

typedef struct Play {
    pcScene* scene;
    pcStage* stage;
    pcJudge judge;
    bool goesOn;             /* from a state */
    double h, *start, *mark; /* positions, three per body: at the start, and after a fifth of the time */
    Measured* out;
} Play;

static void keepPlaces(const Play* p, double* place)
{
    for (int i = 0; i < p->stage->bodies; i++) memcpy(place + 3 * i, dBodyGetPosition(p->stage->body[i].body), 3 * sizeof *place);
}

static double furthest(const Play* p, const double* from)
{
    double most = 0.0;
    for (int i = 0; i < p->stage->bodies; i++) {
        const dReal* x = dBodyGetPosition(p->stage->body[i].body);
        double away = sqrt((x[0] - from[3 * i]) * (x[0] - from[3 * i]) + (x[1] - from[3 * i + 1]) * (x[1] - from[3 * i + 1]) +
                           (x[2] - from[3 * i + 2]) * (x[2] - from[3 * i + 2]));
        most = away <= most ? most : away; /* what is nowhere is furthest */
    }
    return most;
}

static double fastest(const Play* p)
{
    double most = 0.0;
    for (int i = 0; i < p->stage->bodies; i++) {
        const dReal* v = dBodyGetLinearVel(p->stage->body[i].body);
        most = fmax(most, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    }
    return most;
}

/* What is seen of bodies alone. */
static void measurePlaces(Play* p, int step, const pcStepReport* report)
{
    Measured* out = p->out;
    double speed = fastest(p);
    out->penetration = fmax(out->penetration, report->penetration);
    out->joint = fmax(out->joint, report->infeasibilityJoint);
    out->contacts = report->contacts > out->contacts ? report->contacts : out->contacts;
    out->settled[step] = speed <= SETTLED;
    out->allContacts += report->contacts;
    if (step >= out->planned / 5) out->speed = speed <= out->speed ? out->speed : speed;
}

static void measureStep(Play* p, int step)
{
    pcStepReport report;
    pcWorldReportExtra extra;
    Measured* out = p->out;
    pcLawVerdict verdict = pcJudgeAfter(&p->judge, p->stage, p->h);
    if (pcWorldReport(p->stage->world, &report) != PC_OK || pcWorldReportMore(p->stage->world, &extra) != PC_OK) return;
    if (!isnan(verdict.law)) out->residual = fmax(out->residual, verdict.law);
    if (!extra.native) {
        double own = fmax(report.residual, report.equality);
        out->ownResidual = fmax(out->ownResidual, own);
        out->missed += !(own <= MISSED), out->loose += !(own <= LOOSE);
    }
    out->native += extra.native && extra.reason[0];
    measurePlaces(p, step, &report);
    out->all[step] = extra.milliseconds[PC_HOST_ALL];
    out->solver[step] = extra.native ? extra.milliseconds[PC_HOST_INJECT] : report.milliseconds[2] + report.milliseconds[3];
    out->pairs[step] = report.milliseconds[0];
}

static void playSteps(Play* p, double cap)
{
    Measured* out = p->out;
    double begun = benchNow();
    keepPlaces(p, p->start), keepPlaces(p, p->mark);
    for (int step = 0; step < out->planned && benchNow() - begun < 1e9 * cap; step++) {
        if (step == out->planned / 5) keepPlaces(p, p->mark);
        pcJudgeBefore(&p->judge, p->stage);
        if (pcStageStep(p->stage, p->h) != PC_OK) {
            out->failed = true, snprintf(out->sentence, sizeof out->sentence, "%s", pcLastError());
            return;
        }
        measureStep(p, step);
        out->creep = furthest(p, p->mark), out->moved = furthest(p, p->start), out->messages = p->stage->messages;
        out->steps = step + 1;
    }
}

/* Another engine plays; where it puts the bodies is measured as ever. It tells of no impulses, so there is no residual. */
static void playRival(Play* p, const char* file, const char* engine, double cap)
{
    Measured* out = p->out;
    pcRival rival;
    double begun = benchNow();
    if (p->goesOn || !pcRivalBegin(&rival, engine, file, p->h, out->planned)) { /* others read the file and no states */
        out->absent = true;
        return;
    }
    keepPlaces(p, p->start), keepPlaces(p, p->mark);
    for (int step = 0; step < out->planned && benchNow() - begun < 1e9 * cap; step++) {
        pcStepReport report;
        if (step == out->planned / 5) keepPlaces(p, p->mark);
        if (!pcRivalStep(&rival, p->scene, p->stage, out->all + step)) break;
        if (pcWorldMeasure(p->stage->world, p->h, &report) == PC_OK) measurePlaces(p, step, &report);
        out->solver[step] = out->all[step];
        out->creep = furthest(p, p->mark), out->moved = furthest(p, p->start);
        out->steps = step + 1;
    }
    out->absent = out->steps == 0;
    pcRivalEnd(&rival);
}

/* How long the scene is played: what is left of it where it goes on from a state. */
static pcStatus choosePlan(Play* p, const pcBenchScenes* plan)
{
    double time = plan->time > 0.0 ? plan->time : p->stage->time > 0.0 ? p->stage->time : 10.0, begin = 0.0;
    pcStatus status = plan->from ? pcStatesTake(plan->from, p->stage, &begin) : PC_OK;
    p->goesOn = plan->from != NULL;
    p->h = p->stage->step;
    double left = ceil(time / p->h - 1e-9) - round(begin / p->h);
    p->out->planned = (int)fmax(0.0, fmin(MOST_STEPS, left));
    if (status != PC_OK || (p->out->planned > 0 && begin >= 0.0)) return status;
    return pcFail(PC_ERROR_ARGUMENT, "'%s' ends at %g s: nothing is left of the %g s to play", plan->from, begin, time);
}

/* `own` are settings of ours for this scene. */
static pcStatus setUp(Play* p, const char* file, const Model* model, const pcBenchScenes* plan, const char* own)
{
    pcSettings settings;
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    p->out->megabytesBefore = (double)usage.ru_maxrss / 1024.0;
    pcStatus status = pcSceneRead(file, &p->scene);
    if (status == PC_OK) status = pcStageMake(p->scene, &p->stage);
    if (status != PC_OK) return status;
    settings = p->stage->settings;
    if (model->iterations) dWorldSetQuickStepNumIterations(p->stage->world, model->iterations);
    bool ours = !*model->settings;
    status = pcSettingsParse(&settings, ours ? own : model->settings);
    if (status == PC_OK && ours && plan->settings) status = pcSettingsParse(&settings, plan->settings);
    if (status == PC_OK) status = pcStageAttach(p->stage, &settings);
    if (status == PC_OK) status = pcJudgeBegin(&p->judge, p->stage);
    if (status == PC_OK) status = choosePlan(p, plan);
    p->out->bodies = p->stage->bodies, p->out->joints = p->stage->joints;
    if (status != PC_OK) return status;
    p->start = calloc(6 * (size_t)p->stage->bodies + 6, sizeof *p->start), p->mark = p->start + 3 * p->stage->bodies;
    return p->start ? PC_OK : pcFail(PC_ERROR_MEMORY, "out of memory for the scenes");
}

/* All it has goes with the process. */
typedef struct Task {
    const char *file, *own;
    const Model* model;
    const pcBenchScenes* plan;
    double cap;
    Measured* out;
} Task;

static void playAlone(void* context)
{
    const Task* task = context;
    Play p = {.out = task->out};
    if (setUp(&p, task->file, task->model, task->plan, task->own) == PC_OK) {
        if (task->model->engine)
            playRival(&p, task->file, task->model->engine, task->cap);
        else
            playSteps(&p, task->cap);
    } else {
        task->out->failed = true, snprintf(task->out->sentence, sizeof task->out->sentence, "%s", pcLastError());
    }
    free(p.start);
}

/* ---- what came out ---- */

static double medianOf(double* sample, int count) { return count > 0 ? benchStat(sample, count).median : (double)NAN; }

/* The solver's times of settled or of moving steps. */
static double solverOf(const Measured* m, bool settled, double* room)
{
    int count = 0;
    for (int i = 0; i < m->steps; i++)
        if (m->settled[i] == settled) room[count++] = m->solver[i];
    return medianOf(room, count);
}

static void summarize(const Measured* m, const Scene* scene, const char* name, const Model* model, double megabytes, Row* row)
{
    static double room[MOST_STEPS];
    bool ours = !*model->settings;
    *row = (Row){.scene = name, .model = model->name, .bodies = m->bodies, .steps = m->steps, .contacts = m->contacts};
    memcpy(room, m->all, sizeof room);
    BenchStat all = m->steps ? benchStat(room, m->steps) : (BenchStat){(double)NAN, (double)NAN};
    row->median = all.median, row->p99 = all.p99;
    memcpy(room, m->solver, sizeof room);
    row->p99Solver = m->steps ? benchStat(room, m->steps).p99 : (double)NAN;
    row->settled = solverOf(m, true, room), row->moving = solverOf(m, false, room);
    row->residual = model->engine ? (double)NAN : m->residual, row->ownResidual = ours ? m->ownResidual : (double)NAN,
    row->missed = ours ? m->missed : (double)NAN, row->loose = ours ? m->loose : (double)NAN;
    row->penetration = m->penetration, row->joint = m->joints ? m->joint : (double)NAN;
    row->creep = scene && scene->stands > 0.0 ? m->creep : (double)NAN;
    row->messages = m->messages, row->native = m->native, row->megabytes = model->engine ? (double)NAN : megabytes;
    row->speed = scene && scene->stands > 0.0 ? m->speed : (double)NAN;
    memcpy(room, m->pairs, sizeof room);
    row->pairs = ours ? medianOf(room, m->steps) : (double)NAN;
    row->kilobytes = m->contacts > 0 && !model->engine ? 1024.0 * (megabytes - m->megabytesBefore) / m->contacts : (double)NAN;
    bool stood = scene && m->moved <= scene->stands && m->steps > 0;
    bool meant = scene && scene->stands > 0.0,
         still = stood && m->creep <= CREEP && m->speed <= SPEED && m->penetration <= scene->penetration;
    const char* yes = m->steps < m->planned ? "so far" : "yes";
    row->stands = !meant ? "-" : stood ? yes : "no", row->rests = !meant ? "-" : still ? yes : "no";
}

/* ---- printing ---- */

typedef struct Field {
    const char* key;
    size_t place;
} Field;

static const Field fields[] = {
    {"bodies", offsetof(Row, bodies)},
    {"steps", offsetof(Row, steps)},
    {"contacts_max", offsetof(Row, contacts)},
    {"ms_median", offsetof(Row, median)},
    {"ms_p99", offsetof(Row, p99)},
    {"solver_ms_settled", offsetof(Row, settled)},
    {"solver_ms_moving", offsetof(Row, moving)},
    {"solver_ms_p99", offsetof(Row, p99Solver)},
    {"residual_max", offsetof(Row, residual)},
    {"own_residual_max", offsetof(Row, ownResidual)},
    {"missed_steps", offsetof(Row, missed)},
    {"loose_steps", offsetof(Row, loose)},
    {"penetration_max", offsetof(Row, penetration)},
    {"joint_error_max", offsetof(Row, joint)},
    {"creep", offsetof(Row, creep)},
    {"speed", offsetof(Row, speed)},
    {"pairs_ms", offsetof(Row, pairs)},
    {"kilobytes_per_contact", offsetof(Row, kilobytes)},
    {"ode_messages", offsetof(Row, messages)},
    {"fallback_steps", offsetof(Row, native)},
    {"megabytes", offsetof(Row, megabytes)},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

static double valueOf(const Row* row, int field)
{
    double value;
    memcpy(&value, (const char*)row + fields[field].place, sizeof value);
    return value;
}

static void printNumber(const char* format, int width, double value)
{
    if (isnan(value))
        printf(" %*s", width, "-");
    else
        printf(format, width, value);
}

static void printRow(const Row* row)
{
    printf("%-16s %-10s", row->scene, row->model);
    printNumber(" %*.0f", 5, row->steps), printNumber(" %*.0f", 6, row->contacts);
    printNumber(" %*.3g", 8, row->median), printNumber(" %*.3g", 8, row->p99);
    printNumber(" %*.3g", 8, row->settled), printNumber(" %*.3g", 8, row->moving);
    printNumber(" %*.1e", 8, row->residual), printNumber(" %*.1e", 8, row->ownResidual), printNumber(" %*.0f", 6, row->missed);
    printNumber(" %*.0f", 5, row->loose);
    printNumber(" %*.1e", 8, row->penetration), printNumber(" %*.1e", 8, row->joint), printNumber(" %*.1e", 8, row->creep);
    printNumber(" %*.1e", 8, row->speed);
    printf(" %6s %6s", row->stands, row->rests);
    printNumber(" %*.3g", 6, row->pairs);
    printNumber(" %*.0f", 5, row->megabytes), printNumber(" %*.1f", 6, row->kilobytes);
    putchar('\n');
    fflush(stdout);
}

static void printHead(void)
{
    printf("\n%-16s %-10s %5s %6s %8s %8s %8s %8s %8s %8s %6s %5s %8s %8s %8s %8s %6s %6s %6s %5s %6s\n", "scene", "model", "steps",
           "cont.", "ms", "p99", "solver,", "solver,", "residual", "own", "missed", "loose", "penetr.", "joint", "creep", "speed", "stands",
           "rests", "pairs,", "MB", "KB per");
    printf("%-16s %-10s %5s %6s %8s %8s %8s %8s %82s %6s %12s\n", "", "", "", "", "median", "", "settled", "moving", "", "ms", "contact");
}

static void writeCsv(FILE* file, const Row* row)
{
    fprintf(file, "%s,%s,%s,%s", row->scene, row->model, row->stands, row->rests);
    for (int i = 0; i < FIELDS; i++) {
        fputc(',', file);
        if (!isnan(valueOf(row, i))) fprintf(file, "%.6g", valueOf(row, i));
    }
    fputc('\n', file);
}

static void writeJson(FILE* file, const Row* row, bool first)
{
    fprintf(file, "%s\n  {\"scene\": \"%s\", \"model\": \"%s\", \"stands\": \"%s\", \"rests\": \"%s\"", first ? "[" : ",", row->scene,
            row->model, row->stands, row->rests);
    for (int i = 0; i < FIELDS; i++)
        fprintf(file, isfinite(valueOf(row, i)) ? ", \"%s\": %.6g" : ", \"%s\": null", fields[i].key, valueOf(row, i));
    fputc('}', file);
}

/* ---- all scenes ---- */

typedef struct Bench {
    const pcBenchScenes* plan;
    Measured* shared;
    FILE *csv, *json;
    int rows;
    int steps, missed, loose; /* of ours, in all */
    bool failed;              /* one of our steps missed, or was native, or a scene does not rest */
    struct {
        double count, x, y, xx, xy;
    } growth; /* sums over scenes under our model: x, y the logarithms of contacts and of the solver's time per step */
} Bench;

static void addGrowth(Bench* b)
{
    const Measured* m = b->shared;
    double time = 0.0;
    for (int i = 0; i < m->steps; i++) time += m->solver[i];
    if (!(time > 0.0 && m->allContacts > 0.0)) return;
    double x = log(m->allContacts / m->steps), y = log(time / m->steps);
    b->growth.count += 1.0, b->growth.x += x, b->growth.y += y, b->growth.xx += x * x, b->growth.xy += x * y;
}

/* The slope of the line through all scenes. */
static void printGrowth(const Bench* b)
{
    double n = b->growth.count, spread = n * b->growth.xx - b->growth.x * b->growth.x;
    if (n < 2.0 || !(spread > 1e-6)) return;
    printf("\nour solver's time per step grows as contacts^%.2f over these scenes\n",
           (n * b->growth.xy - b->growth.x * b->growth.y) / spread);
}

/* One scene under one model, in a process of its own: false if it could not begin. */
static bool playOne(Bench* b, const Scene* scene, const char* name, const char* file, const Model* model)
{
    double cap = b->plan->cap > 0.0 ? b->plan->cap : DEFAULT_CAP;
    memset(b->shared, 0, sizeof *b->shared);
    Task task = {file, scene ? scene->settings : "", model, b->plan, cap, b->shared};
    double megabytes = pcAlone(playAlone, &task, 2.0 * cap + 10.0);
    if (megabytes < 0.0) return pcCliBadInput("no process for '%s': %s", name, strerror(errno)), false;
    if (b->shared->failed) return pcCliBadInput("%s", b->shared->sentence), false;
    if (b->shared->absent) return true;
    Row row;
    summarize(b->shared, scene, name, model, megabytes, &row);
    printRow(&row);
    if (b->csv) writeCsv(b->csv, &row);
    if (b->json) writeJson(b->json, &row, b->rows == 0);
    b->rows++;
    if (!*model->settings) {
        addGrowth(b);
        b->steps += b->shared->steps, b->missed += b->shared->missed, b->loose += b->shared->loose;
        b->failed |= b->shared->missed > 0 || b->shared->native > 0 || strcmp(row.rests, "no") == 0;
    }
    return true;
}

static bool playScene(Bench* b, const char* name)
{
    char file[PC_CLI_PATH];
    const Scene* scene = NULL;
    if (pcCliFindWorld(name, file) != 0) return false;
    for (int i = 0; i < SCENES; i++)
        if (strcmp(scenes[i].name, name) == 0) scene = scenes + i;
    for (int k = b->plan->ours ? MODELS - 1 : 0; k < MODELS; k++)
        if (!playOne(b, scene, name, file, models + k)) return false;
    return true;
}

static bool wouldLose(const char* fileOrNull, const char* from)
{
    if (!fileOrNull || !from || !pcStatesIsFile(fileOrNull, from)) return false;
    pcCliBadInput("'%s' is what the scene goes on from, and would be lost: --csv and --json take another name", from);
    return true;
}

static bool openFiles(Bench* b)
{
    if (wouldLose(b->plan->csv, b->plan->from) || wouldLose(b->plan->json, b->plan->from)) return false;
    if (b->plan->csv && !(b->csv = fopen(b->plan->csv, "w"))) return pcCliBadInput("the file '%s' cannot be written", b->plan->csv), false;
    if (b->plan->json && !(b->json = fopen(b->plan->json, "w")))
        return pcCliBadInput("the file '%s' cannot be written", b->plan->json), false;
    if (!b->csv) return true;
    fputs("scene,model,stands,rests", b->csv);
    for (int i = 0; i < FIELDS; i++) fprintf(b->csv, ",%s", fields[i].key);
    fputc('\n', b->csv);
    return true;
}

static int closeFiles(Bench* b, int code)
{
    if (b->json) fputs(b->rows ? "\n]\n" : "[]\n", b->json);
    code = pcCliCloseFile(b->csv, b->plan->csv, code);
    return pcCliCloseFile(b->json, b->plan->json, code);
}

int pcBenchScenesRun(const pcBenchScenes* plan)
{
    Bench b = {.plan = plan};
    b.shared = pcAloneRoom(sizeof *b.shared);
    if (!b.shared) return pcCliBadInput("out of memory for the scenes");
    bool good = openFiles(&b);
    if (good) printHead();
    for (int i = 0; good && i < (plan->scenes ? plan->scenes : SCENES); i++)
        good = playScene(&b, plan->scenes ? plan->scene[i] : scenes[i].name);
    if (good && b.steps > 0)
        printf("\nof %d steps of ours %d have a residual above %g (target 0) and %d above %g (target 1 in 1000)\n", b.steps, b.missed,
               MISSED, b.loose, LOOSE);
    if (good && plan->scenes > 1) printGrowth(&b);
    int code = closeFiles(&b, !good ? PC_CLI_BAD_INPUT : b.failed ? PC_CLI_CHECK_FAILED : PC_CLI_OK);
    pcAloneRoomFree(b.shared, sizeof *b.shared);
    return code;
}
