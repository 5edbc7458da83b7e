#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include "adapters/ode/step.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "adapters/ode/collide.h"
#include "adapters/ode/implicit.h"
#include "adapters/ode/inject.h"
#include "adapters/ode/log.h"
#include "adapters/ode/native.h"
#include "adapters/ode/sleepers.h"
#include "adapters/ode/view.h"
#include "base/status.h"
#include "base/vec.h"

static bool isHostModel(pcModel model) { return model == PC_MODEL_NATIVE || model == PC_MODEL_QUICK; }

/* Two bodies that approach each other as fast as the fastest went in the step of h; spins and sizes of bodies are not known here. */
double pcHostReach(const pcHost* host, double h)
{
    const pcSettings* s = &host->settings;
    const pcGathered* g = &host->gathered;
    dVector3 gravity;
    double fastest = 0.0;
    if (!s->lookahead || s->shadow || isHostModel(s->model)) return 0.0;
    if (s->margin > 0.0) return s->margin;
    if (!(h > 0.0)) return 0.0;
    for (int i = 0; i < g->bodies; i++) fastest = larger(fastest, v3Norm(v3Load(g->velocity + 6 * (size_t)i)));
    dWorldGetGravity(host->world, gravity);
    return 2.0 * h * (fastest + h * v3Norm(v3Load(gravity)));
}

/* Milliseconds since *mark, which becomes now. */
static double lap(struct timespec* mark)
{
    struct timespec before = *mark;
    clock_gettime(CLOCK_MONOTONIC, mark);
    return 1e3 * (double)(mark->tv_sec - before.tv_sec) + 1e-6 * (double)(mark->tv_nsec - before.tv_nsec);
}

/* ---- native steps ---- */

static bool isQuick(const pcHost* host) { return host->native == pcNativeOde()->worldQuickStep; }

/* Somebody wants to know: a bare native step costs nothing more. */
static bool isWatched(const pcHost* host) { return host->log || !pcSpaceIdle(&host->space); }

/* Before the step. */
static void countNative(pcHost* host, double h, const char* reason)
{
    host->extra.reason[0] = 0;
    if (*reason) snprintf(host->extra.reason, sizeof host->extra.reason, "%s", reason);
    host->extra.native = 1;
    host->extra.nativeSteps++;
    host->report = pcHostUnknown();
    if (isWatched(host)) pcHostMeasure(host, h, &host->report);
    host->report.solver = isQuick(host) ? "quick" : "native";
}

/* The contact joints of a native step, while it lasts. */
static void join(pcHost* host, double h)
{
    pcSpaceJoin(&host->space, &host->gathered, host->world, &host->settings);
    pcHostSurface surface = pcHostSurfaceOf(host->world, &host->settings, h);
    surface.gamma = NAN; /* ODE knows nothing of it */
    pcTouchesBegin(&host->felt, host->space.temporary, host->space.temporaries, &surface);
}

static void part(pcHost* host, double h)
{
    pcTouchesEnd(&host->felt, host->space.temporary, h);
    pcSpacePart(&host->space);
}

static void stepNatively(pcHost* host, double h)
{
    struct timespec mark;
    countNative(host, h, "");
    clock_gettime(CLOCK_MONOTONIC, &mark);
    join(host, h);
    host->native(host->world, h);
    part(host, h);
    host->extra.milliseconds[PC_HOST_INJECT] = lap(&mark);
}

/* The world is as it was, but for auto-disable, which has had its turn. */
static void stepInstead(pcHost* host, double h)
{
    struct timespec mark;
    clock_gettime(CLOCK_MONOTONIC, &mark);
    join(host, h);
    pcInjectNativeStep(&host->gathered, host->world, h, host->native);
    part(host, h);
    host->extra.milliseconds[PC_HOST_INJECT] = lap(&mark);
}

/* A step that could not be solved; where ODE's own would end the program, there is none. */
static pcStatus fallBack(pcHost* host, double h)
{
    char reason[sizeof host->extra.reason];
    snprintf(reason, sizeof reason, "%s", pcLastError());
    pcGatherUndo(&host->gathered);
    if (!pcGatheredUsable(&host->gathered, host->world)) return pcFail(PC_ERROR_NOT_FINITE, "%s: nothing was done", reason);
    countNative(host, h, reason);
    stepInstead(host, h);
    return PC_OK;
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
    pcSleepersLeave(&host->space, g, host->world, &host->settings, h);
    return PC_OK;
}

/* Again with all that sleep, if rows have made something faster than it was thought to be when they left. */
static pcStatus gather(pcHost* host, double h)
{
    pcGathered* g = &host->gathered;
    pcStatus status = pcHostGather(host, &host->settings, h);
    if (status != PC_OK || pcSleepersAreFar(g)) return status;
    pcGatherUndo(g);
    status = pcGatherList(g, host->world);
    return status == PC_OK ? pcHostGather(host, &host->settings, h) : status;
}

static pcContactResult* growTouches(void* context, int count)
{
    pcHost* host = context;
    return pcGrow(&host->touch, &host->touchRoom, count, sizeof *host->touch) ? host->touch : NULL;
}

static bool movesByMean(const pcHost* host) { return host->settings.flight == PC_FLIGHT_MEAN && host->settings.model != PC_MODEL_IMPLICIT; }

static pcStatus solve(pcHost* host, double h)
{
    pcGathered* g = &host->gathered;
    pcSettings settings = host->settings;
    settings.shadow = 0;
    if (settings.narrowphase == PC_NARROW_NATIVE) settings.narrowphase = PC_NARROW_RATIO; /* its contacts are given */
    pcSystem system = pcHostSystem(host);
    settings.reportAfter = 0; /* not before ODE has moved the bodies */
    pcSystemResult result = {.velocity = g->velocity,
                             .pose = movesByMean(host) ? g->moved : NULL,
                             .rowImpulse = g->rowImpulse,
                             .contacts = host->touch,
                             .contactCapacity = host->touchRoom,
                             .grow = growTouches,
                             .growContext = host};
    bool implicit = settings.model == PC_MODEL_IMPLICIT;
    pcStatus status = implicit ? pcHostImplicitStep(host, &system, &settings, h, &result) : pcSystemStep(&system, &settings, h, &result);
    if (status != PC_OK) return status;
    host->report = result.report;
    host->report.bodies += g->left;
    host->touches = result.contactCount < host->touchRoom ? result.contactCount : host->touchRoom; /* all, unless out of memory */
    return PC_OK;
}

static void nameUntranslated(pcHost* host)
{
    static const char* const names[PC_UNTRANSLATED_KINDS] = {"joint rows bounded by other rows", "contacts without a normal",
                                                             "directions in a surface callback", "bounce above 1"};
    char* text = host->extra.untranslatedNames;
    host->gathered.untranslated[PC_UNTRANSLATED_DIRECTION] += host->space.directed;
    host->gathered.untranslated[PC_UNTRANSLATED_BOUNCE] += host->space.bouncy;
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
    struct timespec mark;
    double* ms = host->extra.milliseconds;
    clock_gettime(CLOCK_MONOTONIC, &mark);
    pcStatus status = begin(host, h);
    if (status == PC_OK) status = gather(host, h);
    ms[PC_HOST_GATHER] = lap(&mark);
    if (status == PC_OK) status = solve(host, h);
    ms[PC_HOST_SOLVE] = lap(&mark);
    nameUntranslated(host);
    return status;
}

static pcStatus stepOurs(pcHost* host, double h)
{
    if (gatherAndSolve(host, h) != PC_OK) return fallBack(host, h);
    struct timespec mark;
    clock_gettime(CLOCK_MONOTONIC, &mark);
    pcInjectFeedback(&host->gathered, host->touch, host->touches, h);
    pcSpaceKeep(&host->space, &host->gathered, host->touch, host->touches);
    pcInjectVelocities(&host->gathered, movesByMean(host), h);
    host->extra.milliseconds[PC_HOST_INJECT] = lap(&mark);
    pcHostLookAhead(host, pcHostReach(host, h));
    return PC_OK;
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

static pcStatus stepBeside(pcHost* host, double h)
{
    pcGathered* g = &host->gathered;
    dVector3 gravity;
    if (gatherAndSolve(host, h) != PC_OK) return fallBack(host, h);
    pcGatherUndo(g);
    host->extra.native = 1, host->extra.nativeSteps++, host->extra.reason[0] = 0;
    stepInstead(host, h);
    pcSpaceKeep(&host->space, g, host->touch, host->touches);
    dWorldGetGravity(host->world, gravity);
    host->extra.shadowDifference = shadowDifference(g, v3Norm(v3Load(gravity)), h);
    return PC_OK;
}

/* ---- the step ---- */

/* While dCollide looks ahead for another world, contacts that are still apart must be kept from ODE. */
bool pcHostIsBare(const pcHost* host)
{
    return isHostModel(host->settings.model) && !isWatched(host) && !host->stepping && !(pcOdeLookahead() > 0.0);
}

void pcHostStepBare(pcHost* host, double h, int (*native)(dWorldID, dReal))
{
    host->native = host->settings.model == PC_MODEL_QUICK ? pcNativeOde()->worldQuickStep : native;
    if (!host->extra.native || host->extra.reason[0]) { /* after steps of another kind */
        host->extra = (pcWorldReportExtra){.native = 1, .steps = host->extra.steps, .nativeSteps = host->extra.nativeSteps};
        host->report = pcHostUnknown();
    }
    host->report.solver = isQuick(host) ? "quick" : "native";
    host->extra.steps++, host->extra.nativeSteps++;
    host->felt.count = 0;
    host->time += h;
    host->native(host->world, h);
}

/* Counts go on, and the reason of the last native step stays. */
static void beginExtra(pcWorldReportExtra* extra)
{
    extra->steps++;
    extra->native = extra->untranslated = 0;
    extra->untranslatedNames[0] = 0;
    extra->shadowDifference = 0.0;
    for (int i = 0; i < PC_HOST_TIMES; i++) extra->milliseconds[i] = 0.0;
}

static void endExtra(pcHost* host, bool known)
{
    pcWorldReportExtra* extra = &host->extra;
    double* ms = extra->milliseconds;
    ms[PC_HOST_ALL] = ms[PC_HOST_GATHER] + ms[PC_HOST_SOLVE] + ms[PC_HOST_INJECT];
    extra->joints = known ? host->gathered.joints + host->gathered.touchJoints : 0;
    extra->ignoredContacts = host->space.ignored, extra->dumps = atomic_load(&host->dumps);
}

static pcStatus stepByModel(pcHost* host, double h)
{
    if (!isHostModel(host->settings.model)) return host->settings.shadow ? stepBeside(host, h) : stepOurs(host, h);
    stepNatively(host, h);
    return PC_OK;
}

pcStatus pcHostStep(pcHost* host, double h, int (*native)(dWorldID, dReal))
{
    host->native = host->settings.model == PC_MODEL_QUICK ? pcNativeOde()->worldQuickStep : native;
    pcWorldReportExtra before = host->extra;
    beginExtra(&host->extra);
    bool known = isWatched(host) || !isHostModel(host->settings.model);
    pcStatus status = stepByModel(host, h);
    if (status != PC_OK) {
        host->extra = before;
        return status;
    }
    endExtra(host, known);
    if (known) pcHostEnergy(host, &host->report), pcHostReportAfter(host, h);
    host->time += h;
    pcHostLog(host);
    return PC_OK;
}
