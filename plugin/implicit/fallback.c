/*
 * The LCP step (T 5.1) of an island, by the other stepper. With contacts as they are before the step it is the answer where the implicit
 * problem was not solved. With contacts as they are at the end of it, where v_k puts the bodies,
 *
 *     0 <= p_n _|_ gap(q_k) / h + N (v - v_k) >= 0,      friction by W(q_k)
 *
 * it is a step of Newton's method on the complementarity problem itself: which contacts push and slide is found as a whole, and not by going
 * on from where one is. Impulses that friction makes grow with what they push against (Painleve) are not found otherwise.
 */
#include <string.h>

#include "implicit/step.h"
#include "stepper/memory.h"

/* n.(velocity of body 2 relative to body 1 at x). */
static double approach(const pcWork* work, const pcBond* b)
{
    const pcPlace *p1 = pcPlaceOf(work, b->body1), *p2 = pcPlaceOf(work, b->body2);
    v3 v1 = v3Add(p1->v, v3Cross(p1->w, v3Sub(b->x, p1->at))), v2 = v3Add(p2->v, v3Cross(p2->w, v3Sub(b->x, p2->at)));
    return v3Dot(b->n, v3Sub(v2, v1));
}

static void contactOf(const pcImplicitRun* run, const pcWork* work, const pcBond* b, bool end, pcContact* out)
{
    *out = (pcContact){.body1 = b->body1, .body2 = b->body2, .gap = end ? b->s - run->h * approach(work, b) : b->start};
    v3Store(out->point, b->x), v3Store(out->normal, b->n);
    out->surface = pcDefaultSurface(run->settings);
    out->surface.mu = b->limit[0], out->surface.mu2 = b->limit[1], out->surface.torsion = b->limit[2], out->surface.bounce = 0.0;
    v3Store(out->surface.direction1, b->t), v3Store(out->surface.surfaceVelocity, b->belt);
    if (end) out->surface.gamma = 1.0;
    if (!b->layer) return;
    const pcLayer* layer = b->layer; /* a spring, implicitly: u + c / (h (h k + d)) = -gap / h */
    out->surface.softness = 1.0 / (run->h * (run->h * layer->stiffness[0] + layer->damping[0]));
    out->surface.gamma = 1.0;
}

static void takeImpulses(pcBond* b, const pcContactResult* from)
{
    b->x = v3Load(from->point), b->n = v3Load(from->normal), b->t = v3Load(from->tangent1), b->o = v3Load(from->tangent2);
    b->s = b->start, b->p[0] = b->coreP = from->impulse[0];
    for (int k = 0; k < 3; k++) b->p[1 + k] = b->limit[k] > 0.0 ? from->impulse[1 + k] / b->limit[k] : 0.0;
}

/* Bodies where they are at the end, so that arms are those there; turned and heavy as before the step. */
static const pcBody* bodiesAtEnd(const pcImplicitRun* run, const pcWork* work)
{
    pcBody* body = pcArenaRaw(run->arena, pcBody, run->system->bodyCount);
    if (!body) return NULL;
    memcpy(body, run->system->bodies, (size_t)run->system->bodyCount * sizeof *body);
    for (int i = 0; i < run->system->bodyCount; i++) v3Store(body[i].pose.position, work->place[i].at);
    return body;
}

/* The bonds at hand, linearised; v and p of the answer. */
static pcStatus linear(pcImplicitRun* run, pcWork* work, bool end)
{
    if (!run->memory->lcp) {
        pcStatus status = pcMemoryCreate(&run->memory->lcp);
        if (status != PC_OK) return status;
    }
    pcContact* contact = pcArenaNew(run->arena, pcContact, work->bonds);
    pcContactResult* touch = pcArenaNew(run->arena, pcContactResult, work->bonds);
    pcRow* row = pcArenaNew(run->arena, pcRow, work->rows);
    double *velocity = pcArenaNew(run->arena, double, 6 * (size_t)run->system->bodyCount),
           *impulse = pcArenaNew(run->arena, double, work->rows);
    pcSystem system = run->plain;
    if (end) system.bodies = bodiesAtEnd(run, work);
    if (!pcArenaGood(run->arena)) return PC_OK;
    for (int i = 0; i < work->bonds; i++) {
        v3 o;
        v3Complete(work->bond[i].n, &work->bond[i].t, &o);
        contactOf(run, work, work->bond + i, end, contact + i);
    }
    for (int i = 0; i < work->rows; i++) row[i] = run->system->rows[work->row[i]];
    system.contactCount = work->bonds, system.contacts = contact, system.rowCount = work->rows, system.rows = row;
    system.memory = run->memory->lcp, system.memory->trying = run->trying;
    pcSettings settings = *run->settings;
    settings.model = PC_MODEL_LCP, settings.shadow = 0;
    pcSystemResult result = {.velocity = velocity, .rowImpulse = impulse, .contacts = touch, .contactCapacity = work->bonds};
    pcStatus status = pcSystemStep(&system, &settings, run->h, &result);
    if (status != PC_OK) return status;
    for (int i = 0; i < work->bodies; i++) memcpy(work->v + 6 * (size_t)i, velocity + 6 * (size_t)work->body[i], 6 * sizeof(double));
    for (int i = 0; i < work->bonds; i++) takeImpulses(work->bond + i, touch + i);
    for (int i = 0; i < work->rows; i++) work->rowP[i] = impulse[i];
    return PC_OK;
}

pcStatus pcImplicitFallBack(pcImplicitRun* run, pcWork* work)
{
    for (int i = 0; i < work->bodies; i++)
        pcPlaceStill(&run->system->bodies[work->body[i]].pose, run->motion[work->body[i]].velocity, work->place + work->body[i]);
    work->bond = NULL, work->bonds = 0;
    for (int i = 0; i < work->nears; i++) work->near[work->nearOf[i]].bonds = 0;
    pcStatus status = pcBondsFind(work, false);
    return status == PC_OK ? linear(run, work, false) : status;
}

/* Whole steps at first, then halves: where features change from one to the next, whole ones go to and fro. */
static double partOf(int round) { return round < 7 ? 1.0 : 0.5; }

pcStatus pcImplicitApproach(pcImplicitRun* run, pcWork* work, pcIslandEnd* out)
{
    enum { MOST = 30 };
    size_t size = 6 * (size_t)work->bodies;
    double* at = pcArenaRaw(run->arena, double, size);
    run->trying = true;
    pcStatus status = at ? pcImplicitFallBack(run, work) : PC_OK;
    for (int round = 0; round < MOST && status == PC_OK && pcArenaGood(run->arena); round++) {
        bool known = false;
        memcpy(at, work->v, size * sizeof *at);
        status = pcIslandFrom(work, out);
        if (status != PC_OK || out->solved || !pcArenaGood(run->arena)) break;
        memcpy(work->v, at, size * sizeof *at);
        status = pcIslandFind(work, &known);
        if (!known) break;
        if (status == PC_OK && pcArenaGood(run->arena)) status = linear(run, work, true);
        for (size_t i = 0; i < size; i++) work->v[i] = at[i] + partOf(round) * (work->v[i] - at[i]);
    }
    run->trying = false;
    return status;
}
