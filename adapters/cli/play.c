#define _POSIX_C_SOURCE 200809L
#include "adapters/cli/play.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/cli/judge.h"
#include "adapters/cli/progress.h"
#include "adapters/cli/states.h"
#include "base/status.h"

/* A body counts as at rest if it gets nowhere faster than this, over the last quarter of the time. */
static const double AT_REST = 0.02;

typedef struct Play {
    const pcPlayPlan* plan;
    pcPlayed* out;
    pcScene* scene;
    pcStage* stage;
    pcJudge judge;
    FILE* states;
    int first, steps, lostLines; /* first: taken before this play began */
    double* ms;
    double* settled; /* positions when the last quarter began, three per body */
    double lowest;   /* energy so far */
    pcProgress progress;
} Play;

/* ---- measures ---- */

static void spread(pcSpread* s, double value)
{
    s->most = s->count == 0 ? value : fmax(s->most, value);
    s->count++;
    if (isfinite(s->mean)) s->mean = isfinite(value) ? s->mean + (value - s->mean) / s->count : value; /* once infinite, it stays so */
}

static double largerOrKnown(double a, double b) { return isnan(a) || b > a ? b : a; }

static double dot(const dReal* a, const dReal* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* From ODE's own numbers, whatever the step says of itself. */
static void energyOf(const pcStage* stage, double* kinetic, double* potential)
{
    dVector3 gravity;
    dWorldGetGravity(stage->world, gravity);
    *kinetic = *potential = 0.0;
    for (int i = 0; i < stage->bodies; i++) {
        dBodyID body = stage->body[i].body;
        dMass mass;
        dVector3 spin, moment;
        const dReal* w = dBodyGetAngularVel(body);
        dBodyGetMass(body, &mass);
        dBodyVectorFromWorld(body, w[0], w[1], w[2], spin);
        for (int k = 0; k < 3; k++) moment[k] = dot(mass.I + 4 * k, spin);
        *kinetic += 0.5 * mass.mass * dot(dBodyGetLinearVel(body), dBodyGetLinearVel(body)) + 0.5 * dot(spin, moment);
        if (dBodyGetGravityMode(body)) *potential -= mass.mass * dot(gravity, dBodyGetPosition(body));
    }
}

static void measureEnergy(Play* p)
{
    double kinetic, potential;
    energyOf(p->stage, &kinetic, &potential);
    p->lowest = fmin(p->lowest, kinetic + potential);
    double gain = kinetic + potential - p->lowest;
    p->out->energyGain = largerOrKnown(p->out->energyGain, gain);
}

static void measureReport(Play* p, int step)
{
    pcStepReport report;
    pcWorldReportExtra extra;
    pcPlayed* out = p->out;
    if (pcWorldReport(p->stage->world, &report) != PC_OK || pcWorldReportMore(p->stage->world, &extra) != PC_OK) return;
    spread(&out->infeasibility, fmax(report.infeasibilityContact, report.infeasibilityJoint));
    spread(&out->ratio, report.infeasibilityContact + 0.0);
    spread(&out->joint, report.infeasibilityJoint);
    spread(&out->length, report.penetration + 0.0); /* of which a -0 would be printed so */
    out->contacts = report.contacts > out->contacts ? report.contacts : out->contacts;
    if (extra.native && extra.reason[0]) out->nativeSteps++, memcpy(out->reason, extra.reason, sizeof out->reason);
    if (!extra.native) out->residual = largerOrKnown(out->residual, report.residual);
    out->inaccurate += !extra.native && report.outcome == PC_INACCURATE;
    p->lostLines = extra.lostLines;
    p->ms[step - p->first] = extra.milliseconds[PC_HOST_ALL];
}

static void measureLaws(Play* p)
{
    pcPlayed* out = p->out;
    pcLawVerdict verdict = pcJudgeAfter(&p->judge, p->stage, out->step);
    if (!isnan(verdict.law)) out->law = largerOrKnown(out->law, verdict.law);
    if (!isnan(verdict.coneExcess)) out->coneExcess = largerOrKnown(out->coneExcess, verdict.coneExcess);
    if (!isnan(verdict.momentum)) out->momentum = largerOrKnown(out->momentum, verdict.momentum);
}

static void measureLayers(Play* p, double time)
{
    const double usedUp = 1e-6; /* of its depth: where a step that knows the core leaves it */
    if (isnan(p->out->coreMet) && pcStageLayerLeft(p->stage) <= usedUp) p->out->coreMet = time;
}

static void markSettled(Play* p)
{
    for (int i = 0; i < p->stage->bodies; i++) memcpy(p->settled + 3 * i, dBodyGetPosition(p->stage->body[i].body), 3 * sizeof *p->settled);
}

static void measureCreep(Play* p, double time)
{
    for (int i = 0; i < p->stage->bodies; i++) {
        const dReal* x = dBodyGetPosition(p->stage->body[i].body);
        double away = 0.0;
        for (int k = 0; k < 3; k++) away = hypot(away, x[k] - p->settled[3 * i + k]);
        if (!isfinite(away)) p->out->finite = false;
        if (away / time < AT_REST) p->out->creep = largerOrKnown(p->out->creep, away / time);
    }
}

static int byValue(const void* a, const void* b)
{
    return (*(const double*)a > *(const double*)b) - (*(const double*)a < *(const double*)b);
}

static void summarize(Play* p, int quarter)
{
    pcPlayed* out = p->out;
    measureCreep(p, (p->steps - quarter) * p->out->step);
    qsort(p->ms, (size_t)out->steps, sizeof *p->ms, byValue);
    out->median = p->ms[out->steps / 2], out->p99 = p->ms[(int)ceil(0.99 * (out->steps - 1))];
    out->messages = p->stage->messages;
}

/* ---- the play ---- */

static void showFrame(const Play* p, int step)
{
    double now = step * p->out->step, half = 0.5 * p->out->step;
    bool wanted = step == p->first || step == p->steps;
    for (int i = 0; i < p->stage->frames; i++) wanted |= fabs(p->stage->frame[i] - now) < half;
    if (wanted && p->plan->frame) p->plan->frame(p->plan->context, p->stage, now);
}

static pcStatus tellWatcher(const Play* p, int step)
{
    pcPlayMoment moment = {p->scene, p->stage, p->out->step, step - p->first, p->out->steps};
    return p->plan->watch ? p->plan->watch(p->plan->watcher, &moment) : PC_OK;
}

static pcStatus takeStep(Play* p, int step)
{
    pcJudgeBefore(&p->judge, p->stage);
    pcStatus status = pcStageStep(p->stage, p->out->step);
    if (status != PC_OK) return status;
    measureReport(p, step);
    measureLaws(p);
    measureEnergy(p);
    measureLayers(p, (step + 1) * p->out->step);
    if (p->states) pcStatesWrite(p->states, p->stage, (step + 1) * p->out->step);
    showFrame(p, step + 1);
    pcProgressShow(&p->progress, (step + 1) * p->out->step, p->out->time, "s");
    return tellWatcher(p, step + 1);
}

static pcStatus playStage(Play* p)
{
    int quarter = p->steps - (p->steps - p->first + 3) / 4;
    if (p->states) pcStatesWrite(p->states, p->stage, p->first * p->out->step);
    showFrame(p, p->first);
    measureEnergy(p);
    p->progress = pcProgressBegin(p->plan->name);
    pcStatus begun = tellWatcher(p, p->first);
    if (begun != PC_OK) return begun;
    for (int step = p->first; step < p->steps; step++) {
        if (step == quarter) markSettled(p);
        pcStatus status = takeStep(p, step);
        if (status != PC_OK) return status;
    }
    pcProgressEnd(&p->progress);
    summarize(p, quarter);
    return PC_OK;
}

/* Where the states of another run end. */
static pcStatus goOn(Play* p)
{
    double time = 0.0;
    if (!p->plan->from) return PC_OK;
    pcStatus status = p->plan->csv ? pcStatesSpare(p->plan->csv, p->plan->from) : PC_OK;
    if (status == PC_OK) status = pcStatesTake(p->plan->from, p->stage, &time);
    if (status != PC_OK) return status;
    double steps = round(time / p->out->step);
    if (!(steps >= 0.0 && steps < p->steps))
        return pcFail(PC_ERROR_ARGUMENT, "'%s' ends at %g s: nothing is left of the %g s to play", p->plan->from, time, p->out->time);
    p->first = (int)steps;
    return PC_OK;
}

static pcStatus chooseTimes(Play* p)
{
    pcPlayed* out = p->out;
    out->step = p->plan->step > 0.0 ? p->plan->step : p->stage->step;
    out->time = p->plan->time > 0.0 ? p->plan->time : p->stage->time > 0.0 ? p->stage->time : 10.0;
    double steps = ceil(out->time / out->step - 1e-9);
    if (!(steps >= 1.0 && steps < 1e8)) return pcFail(PC_ERROR_ARGUMENT, "%g s in steps of %g s: too many steps", out->time, out->step);
    p->steps = (int)steps;
    pcStatus status = goOn(p);
    if (status != PC_OK) return status;
    out->steps = p->steps - p->first;
    p->ms = malloc((size_t)out->steps * sizeof *p->ms);
    p->settled = malloc((3 * (size_t)p->stage->bodies + 1) * sizeof *p->settled);
    return p->ms && p->settled ? PC_OK : pcFail(PC_ERROR_MEMORY, "out of memory for %d steps", p->steps);
}

static pcStatus attach(const Play* p)
{
    pcSettings* settings = &p->out->settings;
    *settings = p->stage->settings;
    pcStatus status = pcSettingsParse(settings, p->plan->settings);
    if (status != PC_OK) return status;
    int length = 0;
    if (p->plan->csv) length = snprintf(settings->report, sizeof settings->report, "%s.steps.csv", p->plan->csv);
    if (length >= (int)sizeof settings->report) return pcFail(PC_ERROR_ARGUMENT, "the name '%s' is too long", p->plan->csv);
    return pcStageAttach(p->stage, settings);
}

static pcStatus setUp(Play* p)
{
    pcStatus status = pcSceneRead(p->plan->file, &p->scene);
    if (status == PC_OK) status = pcStageMake(p->scene, &p->stage);
    if (status == PC_OK) status = chooseTimes(p);
    if (status == PC_OK) status = attach(p);
    if (status == PC_OK && p->plan->csv) status = pcStatesOpen(p->plan->csv, &p->states);
    if (status == PC_OK) status = pcJudgeBegin(&p->judge, p->stage);
    if (status == PC_OK) snprintf(p->out->skipped, sizeof p->out->skipped, "%s", p->stage->skipped);
    if (status == PC_OK) p->out->bodies = p->stage->bodies, p->out->joints = p->stage->joints;
    return status;
}

static pcStatus tearDown(Play* p, pcStatus status)
{
    bool lost = p->states && ferror(p->states);
    if (p->states && fclose(p->states) != 0) lost = true;
    if (lost && status == PC_OK) status = pcFail(PC_ERROR_ARGUMENT, "'%s.states.csv' could not be written to its end", p->plan->csv);
    if (p->lostLines > 0 && status == PC_OK)
        status = pcFail(PC_ERROR_ARGUMENT, "'%s' could not be written to its end", p->out->settings.report);
    pcStageFree(p->stage);
    pcJudgeEnd(&p->judge);
    pcSceneFree(p->scene);
    free(p->ms);
    free(p->settled);
    return status;
}

pcStatus pcPlay(const pcPlayPlan* plan, pcPlayed* out)
{
    Play p = {.plan = plan, .out = out, .lowest = HUGE_VAL};
    *out = (pcPlayed){.finite = true, .coneExcess = NAN, .law = NAN, .residual = NAN, .energyGain = NAN, .momentum = NAN, .creep = NAN};
    out->coreMet = NAN;
    pcStatus status = setUp(&p);
    if (status == PC_OK) status = playStage(&p);
    return tearDown(&p, status);
}

void pcPlayedSize(const pcPlayed* p, char text[PC_PLAYED_SIZE])
{
    snprintf(text, PC_PLAYED_SIZE, "%d %s, %d joint%s, %d step%s of %g s", p->bodies, p->bodies == 1 ? "body" : "bodies", p->joints,
             p->joints == 1 ? "" : "s", p->steps, p->steps == 1 ? "" : "s", p->step);
}
