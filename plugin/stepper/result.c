/* The end of a step: velocities, what the next step will begin with, the report, and the caller's arrays. */
#include <string.h>

#include "base/status.h"
#include "stepper/stepper.h"

/* ---- velocities ---- */

#define FASTEST 1e150

pcStatus pcStepVelocities(pcStep* step)
{
    int bodies = step->system->bodyCount;
    step->velocity = pcArenaNew(step->arena, double, 6 * (size_t)bodies);
    if (!step->velocity) return PC_OK; /* the arena remembers */
    for (int i = 0; i < bodies; i++) memcpy(step->velocity + 6 * (size_t)i, step->motion[i].free, 6 * sizeof(double));
    for (int i = 0; i < step->islandCount; i++) {
        const pcIsland* island = step->islands + i;
        for (int k = 0; k < island->bodies; k++)
            memcpy(step->velocity + 6 * (size_t)island->body[k], island->v + 6 * (size_t)k, 6 * sizeof(double));
    }
    for (int i = 0; i < 6 * bodies; i++)
        if (!(fabs(step->velocity[i]) < FASTEST)) /* beyond it, squares overflow and poses are lost */
            return pcFail(PC_ERROR_INTERNAL, "the solver %s found no usable velocity for body %d", step->solver->name, i / 6);
    return PC_OK;
}

/* Bodies that nothing touches fly, if they may; with a mobility they never do. */
void pcStepWays(pcStep* step)
{
    size_t n = 6 * (size_t)step->system->bodyCount;
    step->way = step->velocity;
    if (step->settings->flight != PC_FLIGHT_MEAN || step->system->mobility) return;
    step->way = pcArenaNew(step->arena, double, n);
    if (!step->way) return; /* the arena remembers */
    memcpy(step->way, step->velocity, n * sizeof *step->way);
    for (size_t i = 0; i < n; i++)
        if (i % 6 < 3) step->way[i] = 0.5 * (step->motion[i / 6].velocity[i % 6] + step->velocity[i]);
    for (int i = 0; i < step->islandCount; i++) {
        const pcIsland* island = step->islands + i;
        const double* way = island->way ? island->way : island->v;
        for (int k = 0; k < island->bodies; k++) memcpy(step->way + 6 * (size_t)island->body[k], way + 6 * (size_t)k, 6 * sizeof *way);
    }
}

/* ---- impulses ---- */

/* Normal, friction along the tangents, torsion, rolling about the tangents. */
static void impulsesOf(const pcIsland* island, int i, double out[6])
{
    const pcTouchRows* rows = island->touchRows + i;
    for (int k = 0; k < 6; k++) out[k] = rows->row[k] >= 0 ? rows->scale[k] * island->c[rows->row[k]] : 0.0;
}

static v3 inPlane(const pcTouchRows* rows, double a, double b) { return v3AddScaled(v3Scale(a, rows->tangent1), b, rows->tangent2); }

static void keepTouch(pcStep* step, const pcIsland* island, int i, bool still)
{
    const pcTouch* touch = step->touch + island->touch[i];
    const pcTouchRows* rows = island->touchRows + i;
    double impulse[6];
    impulsesOf(island, i, impulse);
    pcKeptTouch kept = {touch->body1, touch->body2, touch->shape1, touch->shape2, touch->id, .normal = impulse[0], .torsion = impulse[3]};
    kept.still = still;
    kept.friction = inPlane(rows, impulse[1], impulse[2]), kept.rolling = inPlane(rows, impulse[4], impulse[5]);
    pcHistoryKeep(step->now, &kept);
}

void pcStepKeep(pcStep* step)
{
    pcHistory* now = step->now;
    const pcHistorySize size = {step->system->shapeCount, step->pairCount, step->touches, step->system->rowCount};
    if (!pcHistoryBegin(now, &size)) return;
    now->h = step->h, now->solved = true;
    if (size.shapes > 0) memcpy(now->order, step->order, (size_t)size.shapes * sizeof *now->order);
    if (size.pairs > 0) memcpy(now->pair, step->kept, (size_t)size.pairs * sizeof *now->pair);
    for (int i = 0; i < step->islandCount; i++) {
        const pcIsland* island = step->islands + i;
        for (int k = 0; k < island->rows; k++) now->rowImpulse[island->row[k]] = island->c[k];
        bool still = step->answers[i].info.solve.outcome == PC_SOLVED && step->answers[i].info.solve.iterations == 0;
        for (int k = 0; k < island->touches; k++) keepTouch(step, island, k, still);
    }
}

/* ---- report ---- */

static void judgeIslands(pcStep* step)
{
    pcStepReport* r = &step->report;
    r->islands = step->islandCount, r->solver = "none";
    for (int i = 0; i < step->islandCount; i++) {
        const pcIslandJudged* answer = step->answers + i;
        int rows = step->islands[i].problem.rows;
        r->rows += rows;
        if (rows > r->largestIsland) r->largestIsland = rows, r->solver = answer->info.solver;
        r->contacts += step->islands[i].touches;
        r->outcome = answer->info.solve.outcome > r->outcome ? answer->info.solve.outcome : r->outcome;
        r->iterations += answer->info.solve.iterations, r->fallbacks += answer->info.solve.fallbacks;
        r->products += answer->info.solve.products, r->restarts += answer->info.solve.restarts;
        bool solved = answer->info.solve.outcome == PC_SOLVED;
        r->residual = larger(r->residual, solved ? answer->certificate.residual : pcCertificateOff(&answer->certificate));
        r->equality = larger(r->equality, answer->certificate.equality);
        r->coneExcess = larger(r->coneExcess, answer->certificate.coneExcess);
        r->energyError = larger(r->energyError, answer->energyError);
        r->contraction = larger(r->contraction, answer->info.contraction);
    }
}

static void measurePlaces(pcStep* step)
{
    pcStepReport* r = &step->report;
    const pcSystem* s = step->system;
    for (int i = 0; i < step->touches; i++) r->penetration = larger(r->penetration, -step->touch[i].gap);
    for (int i = 0; i < s->rowCount; i++)
        if (s->rows[i].lo == -HUGE_VAL && s->rows[i].hi == HUGE_VAL)
            r->infeasibilityJoint = larger(r->infeasibilityJoint, fabs(s->rows[i].error));
}

/* As long as nobody has looked. */
static void leaveAfter(pcStepReport* r) { r->infeasibilityContactAfter = r->penetrationAfter = r->infeasibilityJointAfter = (double)NAN; }

static double kineticOf(const pcMotion* m, const double v[6])
{
    double block[36];
    pcMotionMass(m, block);
    pcProblem one = {.blocks = 1, .mass = block};
    return pcKineticEnergy(&one, v);
}

/* Of a body with the velocity v that has gone by h way. Turning by exp(h omega) leaves omega where it is in body axes, so the kinetic energy is
 * that of the old pose. */
static void addEnergy(pcStep* step, const pcMotion* m, const double v[6], const double way[6], double h)
{
    if (!m->moves || step->system->mobility) return;
    step->report.kinetic += kineticOf(m, v);
    step->report.energy -= m->mass * v3Dot(v3Load(step->system->gravity), v3AddScaled(m->position, h, v3Load(way)));
}

/* With a mobility it is known only where something acts. */
static void measureEnergy(pcStep* step)
{
    pcStepReport* r = &step->report;
    const pcSystem* s = step->system;
    for (size_t i = 0; i < (size_t)s->bodyCount; i++) addEnergy(step, step->motion + i, step->velocity + 6 * i, step->way + 6 * i, step->h);
    for (int i = 0; s->mobility && i < step->islandCount; i++) r->kinetic += pcKineticEnergy(&step->islands[i].problem, step->islands[i].v);
    r->energy += r->kinetic;
}

void pcStepSummary(pcStep* step)
{
    step->report.bodies = step->system->bodyCount;
    judgeIslands(step);
    measurePlaces(step);
    leaveAfter(&step->report);
    measureEnergy(step);
}

void pcStepMeasure(pcStep* step)
{
    pcStepReport* r = &step->report;
    r->bodies = step->system->bodyCount, r->contacts = step->touches, r->solver = "none";
    r->residual = r->equality = r->coneExcess = r->energyError = (double)NAN;
    measurePlaces(step);
    leaveAfter(r);
    for (int i = 0; i < step->system->bodyCount; i++)
        addEnergy(step, step->motion + i, step->motion[i].velocity, step->motion[i].velocity, 0.0);
    r->energy += r->kinetic;
    if (step->system->mobility) r->kinetic = r->energy = (double)NAN;
}

/* ---- the caller's arrays ---- */

static void writeBodies(const pcStep* step)
{
    const pcSystem* s = step->system;
    for (int i = 0; i < s->bodyCount; i++) {
        const double* v = step->velocity + 6 * (size_t)i;
        if (step->result->velocity) memcpy(step->result->velocity + 6 * (size_t)i, v, 6 * sizeof *v);
        if (step->result->pose) step->result->pose[i] = pcPoseAdvance(&s->bodies[i].pose, step->way + 6 * (size_t)i, step->h);
    }
}

static void writeContact(const pcTouch* touch, pcContactResult* out)
{
    *out = (pcContactResult){.body1 = touch->body1,
                             .body2 = touch->body2,
                             .shape1 = touch->shape1,
                             .shape2 = touch->shape2,
                             .kind = touch->kind,
                             .id = touch->id};
    v3Store(out->point, touch->point);
    v3Store(out->normal, touch->normal);
    out->gap = touch->gap;
    out->softness = touch->surface.softness, out->slip1 = touch->surface.slip1, out->slip2 = touch->surface.slip2;
    out->mu = touch->surface.mu, out->mu2 = isnan(touch->surface.mu2) ? out->mu : touch->surface.mu2;
}

static void writeContacts(const pcStep* step)
{
    pcSystemResult* r = step->result;
    r->contactCount = step->touches;
    int room = r->contacts ? r->contactCapacity : 0;
    pcContactResult* wider = step->touches > room && r->grow ? r->grow(r->growContext, step->touches) : NULL;
    if (wider) r->contacts = wider, room = r->contactCapacity = step->touches;
    for (int i = 0; i < step->touches && i < room; i++) writeContact(step->touch + i, r->contacts + i);
    for (int i = 0; i < step->islandCount; i++)
        for (int k = 0; k < step->islands[i].touches; k++) {
            int at = step->islands[i].touch[k];
            if (at >= room) continue;
            const pcTouchRows* rows = step->islands[i].touchRows + k;
            v3Store(r->contacts[at].tangent1, rows->tangent1);
            v3Store(r->contacts[at].tangent2, rows->tangent2);
            r->contacts[at].target = rows->flown < rows->target ? rows->flown : rows->bounced;
            impulsesOf(step->islands + i, k, r->contacts[at].impulse);
        }
}

void pcStepWrite(const pcStep* step)
{
    writeBodies(step);
    writeContacts(step);
    if (step->result->rowImpulse && step->system->rowCount > 0)
        memcpy(step->result->rowImpulse, step->now->rowImpulse, (size_t)step->system->rowCount * sizeof(double));
    step->result->report = step->report;
}
