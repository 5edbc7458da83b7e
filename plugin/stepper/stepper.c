/* One step, in order: the table of contents of this library. */
#define _POSIX_C_SOURCE 200809L

#include "stepper/stepper.h"

#include <time.h>
#include <unistd.h>

#include "base/status.h"

/* ---- beginning and end ---- */

static int threadsOf(const pcSettings* settings)
{
    if (settings->threads > 0) return settings->threads;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > 256 ? 256 : (int)cores;
}

static pcStatus begin(pcStep* step)
{
    pcMemory* memory = step->memory;
    step->threads = threadsOf(step->settings);
    step->arena = &memory->arena;
    step->last = memory->history + memory->last, step->now = memory->history + 1 - memory->last;
    pcArenaRelease(&step->now->arena, 0);
    if (!pcMemoryPrepare(memory, step->threads)) return pcFail(PC_ERROR_MEMORY, "out of memory for %d threads", step->threads);
    return pcStepChooseSolver(step->settings, &step->solver);
}

static void gather(pcStep* step)
{
    step->motion = pcArenaNew(step->arena, pcMotion, step->system->bodyCount);
    if (step->motion) pcMotionsFill(step->system, step->h, step->motion);
    if (step->motion && step->settings->implicitJoints) pcStepStiffen(step);
}

static pcStatus assemble(pcStep* step)
{
    step->assembly = (pcAssembly){.arena = step->arena, .system = step->system, .settings = step->settings, .h = step->h};
    step->assembly.motion = step->motion, step->assembly.touch = step->touch, step->assembly.touches = step->touches;
    step->assembly.pool = step->memory->pool, step->assembly.threads = step->threads;
    step->islandCount = pcIslandsFind(&step->assembly, &step->islands);
    for (int i = 0; i < step->islandCount; i++)
        if (!pcIslandAssemble(&step->assembly, step->islands + i) && pcArenaGood(step->arena))
            return pcFail(PC_ERROR_ARGUMENT, "mobility: it is not positive definite");
    return PC_OK;
}

static bool hasMemory(const pcStep* step) { return pcArenaGood(step->arena) && pcArenaGood(&step->now->arena); }

/* Milliseconds since *mark, which becomes now. */
static double lap(struct timespec* mark)
{
    struct timespec before = *mark;
    clock_gettime(CLOCK_MONOTONIC, mark);
    return 1e3 * (double)(mark->tv_sec - before.tv_sec) + 1e-6 * (double)(mark->tv_nsec - before.tv_nsec);
}

/* The histories change places. The older one gets as much room as the newer, so that the next step allocates nothing. */
static void end(pcStep* step)
{
    const pcHistory* now = step->now;
    const pcHistorySize size = {now->shapes, now->pairs, step->touches, now->rows};
    if (step->last->arena.peak < now->arena.peak) pcHistoryBegin(step->last, &size);
    step->memory->last = 1 - step->memory->last;
    pcMemoryLevel(step->memory);
}

/* ---- the step ---- */

/* A phase, by its place in report.milliseconds. Out of memory, a phase leaves what it has, and the next one does not begin. */
typedef pcStatus Phase(pcStep* step);

static pcStatus pairs(pcStep* step)
{
    gather(step);
    if (hasMemory(step)) pcStepPairs(step);
    return PC_OK;
}

static pcStatus solve(pcStep* step)
{
    pcStepWarm(step);
    pcStepSolve(step);
    if (step->pointCount > 0 && hasMemory(step)) pcStepHoldPoints(step);
    pcStatus status = hasMemory(step) && !step->memory->trying ? pcStepCalm(step) : PC_OK;
    if (pcMemoryStarved(step->memory)) /* what such an island has for an answer is none */
        return pcFail(PC_ERROR_MEMORY, "out of memory in solving a step of %d bodies", step->system->bodyCount);
    return status;
}

static pcStatus result(pcStep* step)
{
    pcStatus status = pcStepVelocities(step);
    if (status == PC_OK && hasMemory(step)) pcStepWays(step);
    if (status == PC_OK && hasMemory(step)) pcStepKeep(step);
    if (status == PC_OK && hasMemory(step)) pcStepSummary(step);
    return status;
}

static Phase* const phases[] = {
    pairs,        /* which shapes could touch within the step */
    pcStepEvents, /* where: the events of each pair, and the contacts that were given */
    assemble,     /* what hangs together, and the problem of each such island */
    solve,        /* from the impulses of the last step, largest islands first */
    result,       /* velocities, what the next step begins with, the report */
};

static pcStatus run(pcStep* step)
{
    struct timespec mark;
    double* ms = step->report.milliseconds;
    clock_gettime(CLOCK_MONOTONIC, &mark);
    pcStatus status = begin(step);
    for (int i = 0; i < 5 && status == PC_OK; i++) {
        status = phases[i](step);
        ms[5] += ms[i] = lap(&mark);
        if (status == PC_OK && !hasMemory(step))
            return pcFail(PC_ERROR_MEMORY, "out of memory in a step of %d bodies", step->system->bodyCount);
    }
    return status;
}

/* ---- without the step ---- */

static pcStatus measure(pcStep* step)
{
    pcStatus status = begin(step);
    if (status == PC_OK) status = pairs(step);
    if (status == PC_OK && hasMemory(step)) status = pcStepEvents(step);
    if (status == PC_OK && !hasMemory(step)) status = pcFail(PC_ERROR_MEMORY, "out of memory for %d bodies", step->system->bodyCount);
    if (status == PC_OK) pcStepMeasure(step);
    return status;
}

pcStatus pcSystemMeasure(const pcSystem* system, const pcSettings* settings, double h, pcStepReport* report)
{
    pcMemory own = {0};
    pcSystemResult unused = {0};
    pcStatus status = pcStepCheck(system, settings, h, report ? &unused : NULL);
    if (status != PC_OK) return status;
    pcStep step = {.system = system, .settings = settings, .h = h, .memory = system->memory ? system->memory : &own};
    status = measure(&step);
    if (status == PC_OK) *report = step.report;
    pcArenaRelease(&step.memory->arena, 0);
    if (!system->memory) pcMemoryClear(&own);
    return status;
}

/* ---- both ---- */

/* The bodies where the step has put them. Joint rows and given contacts are the caller's, who alone can say what becomes of them. */
static void reportAfter(pcStep* step)
{
    const pcSystem* s = step->system;
    pcStepReport found, *report = &step->result->report;
    pcSystem moved = *s;
    pcBody* body = pcArenaNew(step->arena, pcBody, s->bodyCount);
    for (int i = 0; body && i < s->bodyCount; i++) {
        body[i] = s->bodies[i];
        body[i].pose = pcPoseAdvance(&s->bodies[i].pose, step->way + 6 * (size_t)i, step->h);
    }
    moved.bodies = body, moved.rowCount = moved.contactCount = 0, moved.memory = step->memory;
    if (!body || pcSystemMeasure(&moved, step->settings, step->h, &found) != PC_OK) return;
    if (s->contactCount == 0) report->infeasibilityContactAfter = found.infeasibilityContact, report->penetrationAfter = found.penetration;
    if (s->rowCount == 0) report->infeasibilityJointAfter = 0.0;
}

pcStatus pcSystemStep(const pcSystem* system, const pcSettings* settings, double h, pcSystemResult* out)
{
    pcMemory own = {0};
    pcStatus status = pcStepCheck(system, settings, h, out);
    if (status != PC_OK) return status;
    pcStep step = {.system = system, .settings = settings, .h = h, .result = out, .memory = system->memory ? system->memory : &own};
    status = run(&step);
    if (status == PC_OK) {
        pcStepWrite(&step);
        end(&step);
        if (settings->reportAfter) reportAfter(&step);
    }
    pcArenaRelease(&step.memory->arena, 0);
    if (!system->memory) pcMemoryClear(&own);
    return status;
}
