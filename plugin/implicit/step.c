/* One implicit step, in order. */
#define _POSIX_C_SOURCE 200809L

#include "implicit/step.h"

#include <string.h>
#include <time.h>

#include "base/status.h"
#include "shape/shape.h"

#define MOST_LOOKS 4 /* how often pairs are looked for again because a body got faster than was thought */

/* ---- gathering ---- */

static pcStatus gather(pcImplicitRun* run)
{
    const pcImplicitSystem* s = run->system;
    int n = s->bodyCount;
    run->motion = pcArenaNew(run->arena, pcMotion, n);
    run->pace = pcArenaNew(run->arena, pcPace, n);
    run->place = pcArenaRaw(run->arena, pcPlace, n + 1);
    run->velocity = pcArenaNew(run->arena, double, 6 * (size_t)n);
    run->midpoint = pcArenaNew(run->arena, bool, n);
    run->rowImpulse = pcArenaNew(run->arena, double, s->rowCount);
    run->given = pcArenaNew(run->arena, pcBond*, s->contactCount);
    if (!pcArenaGood(run->arena)) return PC_OK;
    pcMotionsFill(&run->plain, run->h, run->motion);
    for (int i = 0; i < n; i++) {
        const pcMotion* m = run->motion + i;
        run->pace[i].linear = larger(v3Norm(v3Load(m->velocity)), v3Norm(v3Load(m->free)));
        run->pace[i].angular = larger(v3Norm(v3Load(m->velocity + 3)), v3Norm(v3Load(m->free + 3)));
    }
    return PC_OK;
}

/* Everything at its end without impulses; what does not move by impulses stays there. */
static void placeAll(pcImplicitRun* run)
{
    static const pcPose origin = {{0, 0, 0}, {1, 0, 0, 0}};
    static const double still[6];
    for (int i = 0; i < run->system->bodyCount; i++) {
        const pcMotion* m = run->motion + i;
        memcpy(run->velocity + 6 * (size_t)i, m->free, sizeof m->free);
        run->midpoint[i] = run->system->scheme == PC_SCHEME_MIDPOINT && m->moves;
        pcMove move = {run->h, run->system->turn, run->midpoint[i]};
        pcPose end = pcMoveBody(&move, &run->system->bodies[i].pose, m->velocity, m->free);
        pcPlaceStill(&end, m->free, run->place + i);
    }
    pcPlaceStill(&origin, still, run->place + run->system->bodyCount);
}

static void findIslands(pcImplicitRun* run)
{
    const pcImplicitSystem* s = run->system;
    run->tie = pcArenaNew(run->arena, pcTouch, run->nears + s->contactCount);
    if (!run->tie) return;
    for (int i = 0; i < run->nears; i++) run->tie[i].body1 = run->near[i].body1, run->tie[i].body2 = run->near[i].body2;
    for (int i = 0; i < s->contactCount; i++)
        run->tie[run->nears + i].body1 = s->contacts[i].body1, run->tie[run->nears + i].body2 = s->contacts[i].body2;
    run->assembly = (pcAssembly){.arena = run->arena, .system = &run->plain, .settings = run->settings, .h = run->h, .motion = run->motion};
    run->assembly.touch = run->tie, run->assembly.touches = run->nears + s->contactCount;
    run->islandCount = pcIslandsFind(&run->assembly, &run->islands);
}

/* ---- solving ---- */

static pcWork workOf(pcImplicitRun* run, const pcIsland* island)
{
    pcWork work = {.arena = run->arena, .system = run->system, .settings = run->settings, .motion = run->motion};
    work.move = (pcMove){run->h, run->system->turn, false};
    work.local = run->assembly.local, work.place = run->place, work.near = run->near;
    work.bodies = island->bodies, work.body = island->body, work.rows = island->rows, work.row = island->row;
    while (work.nears < island->touches && island->touch[work.nears] < run->nears) work.nears++;
    work.nearOf = island->touch;
    int* givenOf = pcArenaRaw(run->arena, int, island->touches - work.nears);
    for (int i = work.nears; givenOf && i < island->touches; i++) givenOf[work.givens++] = island->touch[i] - run->nears;
    work.givenOf = givenOf;
    if (run->last->givens == run->system->contactCount) work.given = run->last->given;
    work.rowR = pcArenaNew(run->arena, double, work.rows);
    for (int i = 0; work.rowR && i < work.rows && run->last->rows == run->system->rowCount; i++)
        work.rowR[i] = run->last->rowImpulse[work.row[i]];
    return work;
}

static bool actsRigidly(const pcWork* work)
{
    if (work->rows > 0) return true;
    for (int i = 0; i < work->bonds; i++)
        if (work->bond[i].coreP > 0.0) return true;
    return false;
}

static bool hasFunctions(const pcImplicitSystem* s, const pcNear* near)
{
    return s->forms[near->form1].form->piece[near->piece1].count > 0 && s->forms[near->form2].form->piece[near->piece2].count > 0;
}

/* Pairs with faces: one contact by their functions each, or their events again. False: there are none. */
static bool makeSingle(const pcImplicitRun* run, pcWork* work, bool single)
{
    bool any = false;
    work->single = single;
    for (int i = 0; i < work->nears; i++) {
        pcNear* near = work->near + work->nearOf[i];
        if (!near->faces || near->soft || !hasFunctions(run->system, near)) continue;
        near->events = !single, near->level = (pcLevel){0}, any = true;
    }
    return any;
}

static bool hasRim(const pcImplicitRun* run, const pcWork* work)
{
    for (int i = 0; i < work->nears; i++) {
        const pcNear* near = work->near + work->nearOf[i];
        const pcPiece* piece[2] = {run->system->forms[near->form1].form->piece + near->piece1,
                                   run->system->forms[near->form2].form->piece + near->piece2};
        for (int k = 0; k < 2 && near->faces; k++)
            if (piece[k]->shape && piece[k]->shape->kind == PC_SHAPE_CYLINDER) return true;
    }
    return false;
}

/* Ways to the end of the step, one after the other until one leads there; nearly always the first does. The third is Newton's method on
 * the complementarity problem as a whole. With a single contact for each pair, G's own form of the problem, lines and faces that all but lie
 * on each other have no corners that run along them with the smallest turn. What a rim does that all but lies flat is hard to foresee: more of
 * its points are kept where few of them did not lead to an answer. */
typedef struct Way {
    pcStart from;
    bool full, single; /* as in pcWork */
    double flat;
} Way;
#define FLAT 1e-5
static const Way ways[] = {{PC_START_LAST, false, false, FLAT},  {PC_START_LINEAR, true, false, FLAT}, {PC_START_LCP, true, false, FLAT},
                           {PC_START_LINEAR, true, true, FLAT},  {PC_START_LCP, true, true, FLAT},     {PC_START_CREEP, false, false, FLAT},
                           {PC_START_LAST, false, false, 1e-3},  {PC_START_CREEP, false, false, 1e-3}, {PC_START_LAST, false, false, 0.05},
                           {PC_START_CREEP, false, false, 0.05}, {PC_START_LAST, true, false, FLAT},   {PC_START_CREEP, true, false, FLAT}};

static bool wasFull(const pcWork* work)
{
    for (int i = 0; i < work->nears; i++)
        if (work->near[work->nearOf[i]].full) return true;
    return false;
}

static void keepFull(pcWork* work)
{
    for (int i = 0; i < work->nears; i++) work->near[work->nearOf[i]].full = work->full && work->near[work->nearOf[i]].bonds > 0;
}

static pcStatus solveWith(pcImplicitRun* run, pcWork* work, pcIslandEnd* end)
{
    pcStatus status = PC_OK;
    *end = (pcIslandEnd){.residual = HUGE_VAL};
    for (size_t i = 0; i < sizeof ways / sizeof *ways && status == PC_OK && !end->solved && pcArenaGood(run->arena); i++) {
        const Way* way = ways + i;
        if (way->single != work->single && !makeSingle(run, work, way->single) && way->single) continue;
        if (way->flat > FLAT && !hasRim(run, work)) continue;
        work->flat = way->flat, work->full = way->full || (i == 0 && wasFull(work)); /* what was flat in the last step is so in this */
        status = way->from == PC_START_LCP ? pcImplicitApproach(run, work, end) : pcIslandImplicit(work, way->from, end);
    }
    if (end->solved) keepFull(work);
    if (!end->solved && work->single) makeSingle(run, work, false);
    work->full = false;
    return status;
}

/* Midpoint where nothing rigid acts, else Euler. */
static pcStatus solveOnce(pcImplicitRun* run, pcWork* work, pcIslandEnd* end)
{
    work->move.midpoint = run->system->scheme == PC_SCHEME_MIDPOINT && work->rows == 0;
    pcStatus status = solveWith(run, work, end);
    if (status != PC_OK || !work->move.midpoint || (end->solved && !actsRigidly(work))) return status;
    work->move.midpoint = false;
    return solveWith(run, work, end);
}

static void takeIsland(pcImplicitRun* run, const pcWork* work)
{
    for (int i = 0; i < work->bodies; i++) {
        memcpy(run->velocity + 6 * (size_t)work->body[i], work->v + 6 * (size_t)i, 6 * sizeof(double));
        run->midpoint[work->body[i]] = work->move.midpoint;
    }
    for (int i = 0; i < work->rows; i++) run->rowImpulse[work->row[i]] = work->rowP[i];
    for (int i = 0; i < work->bonds && work->bond[i].near < 0; i++) run->given[-1 - work->bond[i].near] = work->bond + i;
}

static pcStatus solveIsland(pcImplicitRun* run, const pcIsland* island)
{
    pcWork work = workOf(run, island);
    pcIslandEnd end;
    pcImplicitReport* r = &run->report;
    if (!pcArenaGood(run->arena)) return PC_OK;
    pcStatus status = solveOnce(run, &work, &end);
    if (status != PC_OK || !pcArenaGood(run->arena)) return status;
    r->newton += work.newton, r->rounds = end.rounds > r->rounds ? end.rounds : r->rounds;
    if (!end.solved) {
        r->step.fallbacks++, r->step.outcome = PC_INACCURATE;
        work.move.midpoint = false;
        status = pcImplicitFallBack(run, &work);
        if (status != PC_OK || !pcArenaGood(run->arena)) return status;
    } else {
        r->step.residual = larger(r->step.residual, end.residual);
        if (end.residual > run->settings->tolerance) r->step.outcome = PC_INACCURATE; /* rounding of places allows no better */
    }
    int rows = work.rows + 3 * work.bonds;
    r->step.rows += rows, r->step.contacts += work.bonds,
        r->step.largestIsland = rows > r->step.largestIsland ? rows : r->step.largestIsland;
    takeIsland(run, &work);
    return PC_OK;
}

/* A body that got faster than the pairs were found for: true, and its pace is raised. */
static bool gotFaster(pcImplicitRun* run)
{
    bool faster = false;
    for (int i = 0; i < run->system->bodyCount; i++) {
        double linear = v3Norm(v3Load(run->velocity + 6 * i)), angular = v3Norm(v3Load(run->velocity + 6 * i + 3));
        pcPace* pace = run->pace + i;
        if (linear > 1.01 * pace->linear + 1e-12) pace->linear = linear, faster = true;
        if (angular > 1.01 * pace->angular + 1e-12) pace->angular = angular, faster = true;
    }
    return faster && !(run->settings->margin > 0.0);
}

static pcStatus solveAll(pcImplicitRun* run)
{
    size_t mark = pcArenaMark(run->arena);
    for (int look = 0; look < MOST_LOOKS; look++) {
        pcArenaRelease(run->arena, mark);
        run->report = (pcImplicitReport){0};
        pcStatus status = pcImplicitPairs(run);
        if (status != PC_OK || !pcArenaGood(run->arena)) return status;
        placeAll(run);
        findIslands(run);
        for (int i = 0; i < run->islandCount && pcArenaGood(run->arena); i++) {
            status = solveIsland(run, run->islands + i);
            if (status != PC_OK) return status;
        }
        if (!pcArenaGood(run->arena) || !gotFaster(run)) break;
    }
    return PC_OK;
}

/* ---- the step ---- */

static pcStatus steps(pcImplicitRun* run)
{
    pcStatus status = gather(run);
    if (status == PC_OK && pcArenaGood(run->arena)) status = solveAll(run);
    if (status == PC_OK && pcArenaGood(run->arena)) pcImplicitSummary(run);
    if (status == PC_OK && pcArenaGood(run->arena)) pcImplicitKeep(run);
    if (status == PC_OK && (!pcArenaGood(run->arena) || !pcArenaGood(&run->now->arena)))
        return pcFail(PC_ERROR_MEMORY, "out of memory in an implicit step of %d bodies", run->system->bodyCount);
    return status;
}

pcStatus pcImplicitStepKinds(const pcImplicitSystem* system, const pcSettings* settings, double h, pcImplicitResult* result,
                             int* kindOrNull)
{
    pcImplicitMemory own = {0};
    pcImplicitRun run = {.system = system, .settings = settings, .h = h, .kind = kindOrNull};
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    pcStatus status = pcImplicitCheck(&run, result);
    if (status != PC_OK) return status;
    run.memory = system->memory ? system->memory : &own;
    run.arena = &run.memory->arena;
    run.last = run.memory->kept + run.memory->last, run.now = run.memory->kept + 1 - run.memory->last;
    pcArenaRelease(&run.now->arena, 0);
    status = steps(&run);
    if (status == PC_OK) {
        clock_gettime(CLOCK_MONOTONIC, &to);
        run.report.step.milliseconds[5] = 1e3 * (double)(to.tv_sec - from.tv_sec) + 1e-6 * (double)(to.tv_nsec - from.tv_nsec);
        pcImplicitWrite(&run, result);
        run.memory->last = 1 - run.memory->last;
    }
    pcArenaRelease(run.arena, 0);
    if (!system->memory) pcImplicitMemoryClear(&own);
    return status;
}

pcStatus pcImplicitStep(const pcImplicitSystem* system, const pcSettings* settings, double h, pcImplicitResult* result)
{
    return pcImplicitStepKinds(system, settings, h, result, NULL);
}
