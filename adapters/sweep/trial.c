#include "adapters/sweep/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/sdf/stage.h"
#include "base/pose.h"
#include "base/status.h"

enum { RESTING_STEPS = 5 }; /* in a row, below the speed of rest: a body that turns back is slow for one or two */

struct pcTrialRunner {
    const pcPlan* plan;
    pcTrialWorld world;
    pcStage* stage;
};

pcStatus pcTrialRunnerMake(const pcPlan* plan, pcTrialRunner** out)
{
    pcTrialRunner* r = calloc(1, sizeof *r);
    if (!r) return pcFail(PC_ERROR_MEMORY, "out of memory for a trial");
    r->plan = plan;
    pcStatus status = pcTrialWorldMake(plan->scene, &plan->settings, plan->step, plan->time, &r->world);
    if (status == PC_OK)
        *out = r;
    else
        free(r);
    return status;
}

static void dropStage(pcTrialRunner* r)
{
    pcStageFree(r->stage);
    r->stage = NULL;
}

void pcTrialRunnerFree(pcTrialRunner* r)
{
    if (!r) return;
    dropStage(r);
    pcTrialWorldFree(&r->world);
    free(r);
}

static pcStatus setUp(pcTrialRunner* r, const double* row)
{
    const pcPlan* plan = r->plan;
    pcStatus status = PC_OK;
    pcTrialWorldReset(&r->world, &plan->settings, plan->step, plan->time);
    for (int i = 0; i < plan->varies && status == PC_OK; i++) status = pcTargetSet(plan->target + i, plan->vary + i, row[i], &r->world);
    if (status != PC_OK) return status;
    status = pcStageMake(&r->world.scene, &r->stage);
    return status == PC_OK ? pcStageAttach(r->stage, &r->world.settings) : status;
}

/* ---- what is seen on the way ---- */

typedef struct Seen {
    double time, penetration, residual;
    int missed, native, resting;
    bool lost;
    char reason[PC_TRIAL_REASON];
} Seen;

static double norm(const dReal* v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* Of its centre, or of its mass about it: radius of gyration times spin. */
static double speedOf(dBodyID body)
{
    dMass mass;
    dBodyGetMass(body, &mass);
    double radius = sqrt((mass.I[0] + mass.I[5] + mass.I[10]) / (2.0 * mass.mass));
    return fmax(norm(dBodyGetLinearVel(body)), radius * norm(dBodyGetAngularVel(body)));
}

static bool isResting(const pcStage* stage, double speed)
{
    for (int i = 0; i < stage->bodies; i++)
        if (!dBodyIsKinematic(stage->body[i].body) && !(speedOf(stage->body[i].body) < speed)) return false;
    return true;
}

static void see(const pcTrialRunner* r, Seen* seen)
{
    pcStepReport report;
    pcWorldReportExtra extra;
    if (pcWorldReport(r->stage->world, &report) != PC_OK || pcWorldReportMore(r->stage->world, &extra) != PC_OK) return;
    seen->penetration = fmax(seen->penetration, report.penetration);
    if (!extra.native) seen->residual = isnan(seen->residual) ? report.residual : fmax(seen->residual, report.residual);
    seen->missed += !extra.native && report.outcome == PC_INACCURATE;
    if (!extra.native || !extra.reason[0]) return;
    seen->native++;
    snprintf(seen->reason, sizeof seen->reason, "%.*s", PC_TRIAL_REASON - 1, extra.reason);
}

static pcStatus play(pcTrialRunner* r, Seen* seen)
{
    double steps = ceil(r->world.time / r->world.step - 1e-9), rest = r->plan->rest;
    if (!(steps >= 1.0 && steps < 1e8))
        return pcFail(PC_ERROR_ARGUMENT, "%g s in steps of %g s: too many steps", r->world.time, r->world.step);
    for (int i = 0; i < (int)steps && seen->resting < RESTING_STEPS; i++) {
        pcStatus status = pcStageStep(r->stage, r->world.step);
        if (status != PC_OK) return status;
        see(r, seen);
        seen->time = (i + 1) * r->world.step;
        if (rest > 0.0) seen->resting = isResting(r->stage, rest) ? seen->resting + 1 : 0;
    }
    return PC_OK;
}

/* ---- the row ---- */

/* The link's frame, not its centre of mass. */
static void endOfLink(const pcTrialRunner* r, int link, double out[12])
{
    const pcStage* stage = r->stage;
    for (int i = 0; i < stage->bodies; i++) {
        if (stage->body[i].link != link) continue;
        dBodyID body = stage->body[i].body;
        pcPose pose, centre = {.quaternion = {1, 0, 0, 0}};
        memcpy(pose.position, dBodyGetPosition(body), sizeof pose.position);
        memcpy(pose.quaternion, dBodyGetQuaternion(body), sizeof pose.quaternion);
        for (int k = 0; k < 3; k++) centre.position[k] = -r->world.scene.link[link].centre[k];
        pose = pcPoseCompose(&pose, &centre);
        pcScenePoseNumbers(&pose, out);
        memcpy(out + 6, dBodyGetLinearVel(body), 3 * sizeof *out);
        memcpy(out + 9, dBodyGetAngularVel(body), 3 * sizeof *out);
    }
}

static double numberOf(const pcTrialRunner* r, const pcColumn* c, const Seen* seen)
{
    double end[12] = {0};
    switch (c->kind) {
    case PC_COLUMN_TIME: return seen->time;
    case PC_COLUMN_REST: return seen->resting >= RESTING_STEPS;
    case PC_COLUMN_PENETRATION: return seen->penetration;
    case PC_COLUMN_RESIDUAL: return seen->residual;
    case PC_COLUMN_MISSED: return seen->missed;
    case PC_COLUMN_LINK: endOfLink(r, c->which, end); return end[c->field];
    default: return NAN;
    }
}

static void fillRow(const pcTrialRunner* r, Seen* seen, double* row)
{
    const pcPlan* plan = r->plan;
    for (int i = plan->varies; i < plan->columns; i++) {
        const pcColumn* c = plan->column + i;
        row[i] = c->kind == PC_COLUMN_MEASURE ? pcExpressionValue(plan->measure[c->which], row) : numberOf(r, c, seen);
        seen->lost |= c->kind == PC_COLUMN_LINK && !isfinite(row[i]);
    }
    row[pcPlanColumn(plan, PC_COLUMN_STATUS)] = seen->lost ? PC_TRIAL_LOST : seen->native ? PC_TRIAL_NATIVE : PC_TRIAL_OK;
    if (plan->success) row[pcPlanColumn(plan, PC_COLUMN_SUCCESS)] = pcExpressionValue(plan->success, row) != 0.0;
}

void pcTrialRun(pcTrialRunner* r, long long trial, double* row, char reason[PC_TRIAL_REASON])
{
    const pcPlan* plan = r->plan;
    Seen seen = {.residual = NAN};
    for (int i = 0; i < plan->columns; i++) row[i] = NAN;
    pcPlanDraw(plan, trial, row);
    if (plan->serial) dRandSetSeed((unsigned long)trial);
    pcStatus status = setUp(r, row);
    if (status == PC_OK) status = play(r, &seen);
    if (status == PC_OK)
        fillRow(r, &seen, row);
    else
        row[pcPlanColumn(plan, PC_COLUMN_STATUS)] = status == PC_ERROR_NOT_FINITE ? PC_TRIAL_LOST : PC_TRIAL_FAILED;
    snprintf(reason, PC_TRIAL_REASON, "%.*s", PC_TRIAL_REASON - 1, status == PC_OK ? seen.reason : pcLastError());
    dropStage(r);
}
