/* The end of an implicit step: the report, what the next step begins with, and the caller's arrays. */
#include <string.h>

#include "implicit/step.h"
#include "pcontact/metric.h"
#include "shape/shape.h"

pcPose pcImplicitPose(const pcImplicitRun* run, int body)
{
    pcMove move = {run->h, run->system->turn, run->midpoint[body]};
    return pcMoveBody(&move, &run->system->bodies[body].pose, run->motion[body].velocity, run->velocity + 6 * (size_t)body);
}

/* ---- report ---- */

static void measureBond(pcImplicitRun* run, const pcBond* b)
{
    pcImplicitReport* r = &run->report;
    double allowed = b->layer ? b->layer->deepest : 0.0;
    r->penetration = larger(r->penetration, -b->s - allowed);
    r->step.penetration = larger(r->step.penetration, -b->start); /* the deflection of a layer counts, as for every model */
    r->coreImpulse += b->coreP;
}

/* rho of a pair that penetrates before the step, as the other stepper measures it. Functions that are no shape have no ratio. */
static void measureRatio(pcImplicitRun* run, const pcNear* near)
{
    const pcImplicitSystem* s = run->system;
    const int body[2] = {near->body1, near->body2}, form[2] = {near->form1, near->form2}, piece[2] = {near->piece1, near->piece2};
    const pcShape* shape[2];
    pcPose pose[2];
    pcMetric metric;
    unsigned flags = 0;
    double deepest = 0.0;
    for (int k = 0; k < near->bonds; k++) deepest = larger(deepest, -near->bond[k].start);
    if (!(deepest > 0.0)) return;
    for (int k = 0; k < 2; k++) {
        const pcPlacedForm* placed = s->forms + form[k];
        const pcPiece* own = placed->form->piece + piece[k];
        pcPose outer = body[k] >= 0 ? pcPoseCompose(&s->bodies[body[k]].pose, &placed->pose) : placed->pose;
        shape[k] = own->shape, pose[k] = pcPoseCompose(&outer, &own->pose);
        if (body[k] < 0 || !run->motion[body[k]].moves) flags |= k ? PC_FIXED_2 : PC_FIXED_1;
    }
    if (!shape[0] || !shape[1] || pcMetricPair(shape[0], pose, shape[1], pose + 1, flags, NULL, &metric) != PC_OK) return;
    run->report.step.infeasibilityContact = larger(run->report.step.infeasibilityContact, -metric.rho);
}

static void measureEnergy(pcImplicitRun* run)
{
    pcStepReport* r = &run->report.step;
    for (int i = 0; i < run->system->bodyCount; i++) {
        const pcMotion* m = run->motion + i;
        if (!m->moves) continue;
        const double* v = run->velocity + 6 * (size_t)i;
        v3 w = v3Load(v + 3), L = {v3Dot(v3Load(m->inertia), w), v3Dot(v3Load(m->inertia + 3), w), v3Dot(v3Load(m->inertia + 6), w)};
        pcPose end = pcImplicitPose(run, i);
        r->kinetic += 0.5 * m->mass * v3Dot(v3Load(v), v3Load(v)) + 0.5 * v3Dot(w, L);
        r->energy -= m->mass * v3Dot(v3Load(run->system->gravity), v3Load(end.position));
    }
    r->energy += r->kinetic;
}

void pcImplicitSummary(pcImplicitRun* run)
{
    pcStepReport* r = &run->report.step;
    r->bodies = run->system->bodyCount, r->pairs = run->nears, r->islands = run->islandCount;
    r->iterations = run->report.newton;
    r->solver = run->islandCount == 0 ? "none" : r->fallbacks > 0 ? "lcp" : "implicit";
    for (int i = 0; i < run->nears; i++) {
        r->events += run->near[i].bonds;
        for (int k = 0; k < run->near[i].bonds; k++) measureBond(run, run->near[i].bond + k);
        measureRatio(run, run->near + i);
    }
    for (int i = 0; i < run->system->contactCount; i++)
        if (run->given[i]) measureBond(run, run->given[i]);
    for (int i = 0; i < run->system->rowCount; i++) {
        const pcRow* row = run->system->rows + i;
        if (row->lo == -HUGE_VAL && row->hi == HUGE_VAL) r->infeasibilityJoint = larger(r->infeasibilityJoint, fabs(row->error));
    }
    measureEnergy(run);
}

/* ---- memory ---- */

static pcKeptBond keepOf(const pcBond* b) { return pcBondKeep(b, b->p, b->coreP, b->deflection); }

void pcImplicitKeep(pcImplicitRun* run)
{
    pcKeptStep* now = run->now;
    const pcImplicitSystem* s = run->system;
    int bonds = 0;
    for (int i = 0; i < run->nears; i++) bonds += run->near[i].bonds;
    now->nears = run->nears, now->givens = s->contactCount, now->rows = s->rowCount, now->forms = s->formCount;
    now->near = pcArenaNew(&now->arena, pcKeptNear, run->nears), now->bond = pcArenaNew(&now->arena, pcKeptBond, bonds);
    now->given = pcArenaNew(&now->arena, pcKeptBond, s->contactCount);
    now->rowImpulse = pcArenaNew(&now->arena, double, s->rowCount), now->order = pcArenaNew(&now->arena, int, s->formCount);
    if (!pcArenaGood(&now->arena)) return;
    for (int i = 0, at = 0; i < run->nears; i++) {
        const pcNear* n = run->near + i;
        now->near[i] = (pcKeptNear){n->form1, n->form2, n->piece1, n->piece2, n->level, n->cache, at, n->bonds, n->full};
        for (int k = 0; k < n->bonds; k++) now->bond[at++] = keepOf(n->bond + k);
    }
    for (int i = 0; i < s->contactCount; i++)
        if (run->given[i]) now->given[i] = keepOf(run->given[i]);
    if (s->rowCount > 0) memcpy(now->rowImpulse, run->rowImpulse, (size_t)s->rowCount * sizeof(double));
    if (s->formCount > 0) memcpy(now->order, run->order, (size_t)s->formCount * sizeof(int));
}

/* ---- the caller's arrays ---- */

/* Closest points G 15-18, where functions describe the pair; else the features' own. */
static void writePoints(const pcImplicitRun* run, const pcBond* b, pcImplicitContact* out)
{
    v3 a1 = v3AddScaled(b->x, -0.5 * b->s, b->n), a2 = v3AddScaled(b->x, 0.5 * b->s, b->n);
    if (!b->frozen && !b->layer && !(b->p[0] > 0.0)) { /* where it pushes, all three are one */
        const pcNear* near = run->near + b->near;
        pcWork work = {.system = run->system};
        pcPlacedPiece side[2];
        pcPlace place[2];
        const int body[2] = {b->body1, b->body2}, form[2] = {near->form1, near->form2}, piece[2] = {near->piece1, near->piece2};
        for (int k = 0; k < 2; k++) {
            static const double still[6];
            pcPose pose = body[k] >= 0 ? pcImplicitPose(run, body[k]) : (pcPose){{0, 0, 0}, {1, 0, 0, 0}};
            pcPlaceStill(&pose, still, place + k);
            pcPlacePiece(&work, form[k], piece[k], place + k, side + k);
        }
        pcLevelPair pair = {{side, side + 1}, {1.0, 1.0}};
        pcClosest closest;
        if (pcLevelClosest(&pair, &near->level, &closest)) a1 = closest.a1, a2 = closest.a2, out->gap = closest.s;
    }
    v3Store(out->point1, a1), v3Store(out->point2, a2);
}

void pcImplicitWriteContact(const pcImplicitRun* run, const pcBond* b, pcImplicitContact* out)
{
    bool given = b->near < 0;
    *out = (pcImplicitContact){.body1 = b->body1, .body2 = b->body2, .form1 = -1, .form2 = -1, .id = b->id, .gap = b->s, .core = b->coreP};
    out->before = b->start;
    if (!given) out->form1 = run->near[b->near].form1, out->form2 = run->near[b->near].form2;
    v3Store(out->normal, b->n), v3Store(out->tangent1, b->t), v3Store(out->tangent2, b->o);
    out->impulse[0] = b->p[0];
    for (int k = 0; k < 3; k++) out->impulse[1 + k] = b->limit[k] * b->p[1 + k], out->slip[k] = b->slip[k], out->limit[k] = b->limit[k];
    out->deflection[0] = b->deflection[0], out->deflection[1] = b->deflection[1];
    writePoints(run, b, out);
}

static void writeBond(const pcImplicitRun* run, const pcBond* b, pcImplicitResult* result, int at)
{
    if (!result->contacts || at >= result->contactCapacity) return;
    pcImplicitWriteContact(run, b, result->contacts + at);
    if (run->kind) run->kind[at] = b->kind;
}

static void writeContacts(const pcImplicitRun* run, pcImplicitResult* result)
{
    int count = 0;
    for (int i = 0; i < run->system->contactCount; i++)
        if (run->given[i]) writeBond(run, run->given[i], result, count++);
    for (int i = 0; i < run->nears; i++)
        for (int k = 0; k < run->near[i].bonds; k++) writeBond(run, run->near[i].bond + k, result, count++);
    result->contactCount = count;
}

void pcImplicitWrite(const pcImplicitRun* run, pcImplicitResult* result)
{
    for (int i = 0; i < run->system->bodyCount; i++) {
        if (result->velocity) memcpy(result->velocity + 6 * (size_t)i, run->velocity + 6 * (size_t)i, 6 * sizeof(double));
        if (result->pose) result->pose[i] = pcImplicitPose(run, i);
    }
    if (result->rowImpulse && run->system->rowCount > 0)
        memcpy(result->rowImpulse, run->rowImpulse, (size_t)run->system->rowCount * sizeof(double));
    writeContacts(run, result);
    result->report = run->report;
}
