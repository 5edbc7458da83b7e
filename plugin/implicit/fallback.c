/* Where the implicit problem of an island was not solved: the LCP step (T 5.1), with contacts as they are before the step. */
#include <string.h>

#include "implicit/step.h"

static void contactOf(const pcImplicitRun* run, const pcBond* b, pcContact* out)
{
    *out = (pcContact){.body1 = b->body1, .body2 = b->body2, .gap = b->start};
    v3Store(out->point, b->x), v3Store(out->normal, b->n);
    out->surface = pcDefaultSurface(run->settings);
    out->surface.mu = b->limit[0], out->surface.mu2 = b->limit[1], out->surface.torsion = b->limit[2], out->surface.bounce = 0.0;
    v3Store(out->surface.direction1, b->t), v3Store(out->surface.surfaceVelocity, b->belt);
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

pcStatus pcImplicitFallBack(pcImplicitRun* run, pcWork* work)
{
    int bodies = run->system->bodyCount;
    if (!run->memory->lcp) {
        pcStatus status = pcMemoryCreate(&run->memory->lcp);
        if (status != PC_OK) return status;
    }
    for (int i = 0; i < work->bodies; i++)
        pcPlaceStill(&run->system->bodies[work->body[i]].pose, run->motion[work->body[i]].velocity, work->place + work->body[i]);
    work->bond = NULL, work->bonds = 0;
    for (int i = 0; i < work->nears; i++) work->near[work->nearOf[i]].bonds = 0;
    pcStatus status = pcBondsFind(work, false);
    if (status != PC_OK) return status;
    pcContact* contact = pcArenaNew(run->arena, pcContact, work->bonds);
    pcContactResult* touch = pcArenaNew(run->arena, pcContactResult, work->bonds);
    pcRow* row = pcArenaNew(run->arena, pcRow, work->rows);
    double *velocity = pcArenaNew(run->arena, double, 6 * (size_t)bodies), *impulse = pcArenaNew(run->arena, double, work->rows);
    if (!pcArenaGood(run->arena)) return PC_OK;
    for (int i = 0; i < work->bonds; i++) {
        v3 o;
        v3Complete(work->bond[i].n, &work->bond[i].t, &o);
        contactOf(run, work->bond + i, contact + i);
    }
    for (int i = 0; i < work->rows; i++) row[i] = run->system->rows[work->row[i]];
    pcSystem system = run->plain;
    system.contactCount = work->bonds, system.contacts = contact, system.rowCount = work->rows, system.rows = row;
    system.memory = run->memory->lcp;
    pcSettings settings = *run->settings;
    settings.model = PC_MODEL_LCP, settings.shadow = 0;
    pcSystemResult result = {.velocity = velocity, .rowImpulse = impulse, .contacts = touch, .contactCapacity = work->bonds};
    status = pcSystemStep(&system, &settings, run->h, &result);
    if (status != PC_OK) return status;
    for (int i = 0; i < work->bodies; i++) memcpy(work->v + 6 * (size_t)i, velocity + 6 * (size_t)work->body[i], 6 * sizeof(double));
    for (int i = 0; i < work->bonds; i++) takeImpulses(work->bond + i, touch + i);
    for (int i = 0; i < work->rows; i++) work->rowP[i] = impulse[i];
    return PC_OK;
}
