#include "adapters/ode/step.h"

#include <math.h>
#include <string.h>

#include "adapters/ode/inject.h"
#include "adapters/ode/log.h"
#include "adapters/ode/native.h"
#include "base/status.h"
#include "base/vec.h"

/* ---- native steps ---- */

static bool isQuick(const pcHost* host) { return host->native == pcNativeOde()->worldQuickStep; }

static void countNative(pcHost* host, const char* reason)
{
    host->report = (pcStepReport){.solver = isQuick(host) ? "quick" : "native"};
    host->extra.native = 1;
    host->extra.nativeSteps++;
    snprintf(host->extra.reason, sizeof host->extra.reason, "%s", reason);
}

static void stepNatively(pcHost* host, double h)
{
    countNative(host, "");
    pcSpaceJoin(&host->space, host->world, &host->settings);
    host->native(host->world, h);
    pcSpacePart(&host->space);
}

/* A step that could not be solved: the world is as it was, but for auto-disable, which has had its turn. */
static void fallBack(pcHost* host, double h)
{
    countNative(host, pcLastError());
    pcGatherUndo(&host->gathered);
    pcSpaceJoin(&host->space, host->world, &host->settings);
    pcInjectNativeStep(&host->gathered, host->world, h, host->native);
    pcSpacePart(&host->space);
}

/* ---- our steps ---- */

/* As ODE begins a step: idle bodies fall asleep, what touches others that are awake wakes. */
static pcStatus begin(pcHost* host, double h)
{
    pcGathered* g = &host->gathered;
    pcStatus status = pcGatherList(g, host->world);
    if (status != PC_OK) return status;
    pcSpaceAutoDisable(&host->space, g, host->world, h);
    pcGatherTie(g, host->world);
    pcSpaceTie(&host->space, g);
    pcGatherWake(g);
    return PC_OK;
}

static pcStatus gather(pcHost* host, double h)
{
    pcGathered* g = &host->gathered;
    pcGatherStates(g);
    pcInjectPrepare(g, host->world);
    pcStatus status = pcGatherJoints(g, host->world, h, host->settings.gamma);
    if (status == PC_OK) status = pcSpaceRows(&host->space, g);
    pcSpaceFilter(&host->space, g);
    if (status == PC_OK) status = pcGatherContacts(g, host->world, &host->settings, h);
    if (status == PC_OK) status = pcSpaceGather(&host->space, g, host->world, &host->settings, h);
    pcGatherFree(g, host->world, h);
    return status;
}

static pcSystem systemOf(pcHost* host)
{
    pcGathered* g = &host->gathered;
    dVector3 gravity;
    dWorldGetGravity(host->world, gravity);
    pcSystem system = {.bodyCount = g->bodies,
                       .bodies = g->state,
                       .rowCount = g->rows,
                       .rows = g->row,
                       .contactCount = g->contacts,
                       .contacts = g->contact,
                       .gravity = {gravity[0], gravity[1], gravity[2]},
                       .freeVelocity = g->freeVelocity,
                       .memory = host->memory};
    pcSpaceShapes(&host->space, &system);
    return system;
}

static pcStatus solve(pcHost* host, double h)
{
    pcGathered* g = &host->gathered;
    pcSettings settings = host->settings;
    settings.shadow = 0, settings.narrowphase = PC_NARROW_RATIO;
    if (!pcGrow(&host->touch, &host->touchRoom, g->contacts, sizeof *host->touch))
        return pcFail(PC_ERROR_MEMORY, "out of memory for contacts");
    pcSystem system = systemOf(host);
    pcSystemResult result = {
        .velocity = g->velocity, .rowImpulse = g->rowImpulse, .contacts = host->touch, .contactCapacity = host->touchRoom};
    pcStatus status = pcSystemStep(&system, &settings, h, &result);
    if (status != PC_OK) return status;
    host->report = result.report;
    host->touches = result.contactCount < host->touchRoom ? result.contactCount : host->touchRoom;
    pcGrow(&host->touch, &host->touchRoom, result.contactCount, sizeof *host->touch); /* for the next step: as many come again */
    return PC_OK;
}

static void nameUntranslated(pcHost* host)
{
    static const char* const names[PC_UNTRANSLATED_KINDS] = {"joint rows bounded by other rows", "contacts without a normal",
                                                             "motion of a pair's surface", "bounce above 1"};
    char* text = host->extra.untranslatedNames;
    host->gathered.untranslated[PC_UNTRANSLATED_MOTION] = host->space.directed;
    for (int i = 0; i < PC_UNTRANSLATED_KINDS; i++) {
        int count = host->gathered.untranslated[i];
        host->extra.untranslated += count;
        if (count == 0) continue;
        size_t length = strlen(text);
        snprintf(text + length, sizeof host->extra.untranslatedNames - length, "%s%s", length ? ", " : "", names[i]);
    }
}

static pcStatus gatherAndSolve(pcHost* host, double h)
{
    pcStatus status = begin(host, h);
    if (status == PC_OK) status = gather(host, h);
    if (status == PC_OK) status = solve(host, h);
    nameUntranslated(host);
    return status;
}

static void stepOurs(pcHost* host, double h)
{
    if (gatherAndSolve(host, h) != PC_OK) {
        fallBack(host, h);
        return;
    }
    pcInjectFeedback(&host->gathered, host->touch, host->touches, h);
    pcSpaceKeep(&host->space, &host->gathered, host->touch, host->touches);
    pcInjectVelocities(&host->gathered, h);
}

/* ---- shadow ---- */

/* Damping comes after the motion: the velocity that moved a body linearly is read from its way. */
static double differenceOf(const pcGathered* g, int i, double h)
{
    const double* ours = g->velocity + 6 * (size_t)i;
    const dReal *x = dBodyGetPosition(g->body[i]), *w = dBodyGetAngularVel(g->body[i]);
    double largest = 0.0;
    for (int k = 0; k < 3; k++) {
        largest = larger(largest, fabs((x[k] - g->state[i].pose.position[k]) / h - ours[k]));
        if (dBodyGetAngularDamping(g->body[i]) == 0.0) largest = larger(largest, fabs(w[k] - ours[3 + k]));
    }
    return largest;
}

static double shadowDifference(const pcGathered* g, double gravity, double h)
{
    double difference = 0.0, scale = gravity * h;
    for (int i = 0; i < g->bodies; i++) {
        if (g->state[i].kind != PC_BODY_DYNAMIC) continue;
        for (int k = 0; k < 6; k++) scale = larger(scale, fabs(g->freeVelocity[6 * i + k]));
        difference = larger(difference, differenceOf(g, i, h));
    }
    return scale > 0.0 ? difference / scale : difference;
}

static void stepBeside(pcHost* host, double h)
{
    pcGathered* g = &host->gathered;
    dVector3 gravity;
    if (gatherAndSolve(host, h) != PC_OK) {
        fallBack(host, h);
        return;
    }
    pcStepReport report = host->report;
    fallBack(host, h);
    host->report = report;
    host->extra.reason[0] = 0;
    pcSpaceKeep(&host->space, g, host->touch, host->touches);
    dWorldGetGravity(host->world, gravity);
    host->extra.shadowDifference = shadowDifference(g, v3Norm(v3Load(gravity)), h);
}

/* ---- the step ---- */

static bool isHostModel(pcModel model) { return model == PC_MODEL_NATIVE || model == PC_MODEL_QUICK; }

void pcHostStep(pcHost* host, double h, int (*native)(dWorldID, dReal))
{
    host->native = host->settings.model == PC_MODEL_QUICK ? pcNativeOde()->worldQuickStep : native;
    int steps = host->extra.steps, natives = host->extra.nativeSteps;
    char reason[sizeof host->extra.reason];
    memcpy(reason, host->extra.reason, sizeof reason);
    host->extra = (pcWorldReportExtra){.steps = steps + 1, .nativeSteps = natives};
    memcpy(host->extra.reason, reason, sizeof reason);
    if (isHostModel(host->settings.model))
        stepNatively(host, h);
    else if (host->settings.shadow)
        stepBeside(host, h);
    else
        stepOurs(host, h);
    host->time += h;
    host->extra.ignoredContacts = host->space.ignored;
    pcHostLog(host);
}
