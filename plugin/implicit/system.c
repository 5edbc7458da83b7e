/* The implicit step of a pcSystem: shapes become forms, which the memory keeps, and the answer is written as pcSystemStep writes it. */
#include "implicit/system.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "implicit/step.h"
#include "shape/shape.h"
#include "stepper/stepper.h"

/* ---- shapes ---- */

static bool makeRoom(pcImplicitMemory* memory, int count)
{
    if (count <= memory->shapes) return true;
    pcForm** form = realloc(memory->form, (size_t)count * sizeof *form);
    if (form) memory->form = form;
    unsigned long long* id = form ? realloc(memory->shapeId, (size_t)count * sizeof *id) : NULL;
    if (!id) return false;
    memory->shapeId = id;
    for (; memory->shapes < count; memory->shapes++) memory->form[memory->shapes] = NULL, memory->shapeId[memory->shapes] = 0;
    return true;
}

static pcStatus formsOf(const pcSystem* system, const pcLayer* const* layers, pcImplicitMemory* memory, pcPlacedForm* out)
{
    if (!makeRoom(memory, system->shapeCount)) return pcFail(PC_ERROR_MEMORY, "out of memory for %d forms", system->shapeCount);
    for (int i = 0; i < system->shapeCount; i++) {
        const pcPlacedShape* placed = system->shapes + i;
        if (!memory->form[i] || memory->shapeId[i] != placed->shape->id) {
            pcFormFree(memory->form[i]);
            memory->form[i] = NULL;
            pcStatus status = pcFormOfShape(placed->shape, memory->form + i);
            if (status != PC_OK) return status;
            memory->shapeId[i] = placed->shape->id;
        }
        out[i] = (pcPlacedForm){.form = memory->form[i], .body = placed->body, .pose = placed->pose};
        out[i].category = placed->category, out[i].collide = placed->collide;
        out[i].layer = layers ? layers[i] : NULL;
    }
    return PC_OK;
}

/* ---- the answer ---- */

/* What was asked of the normal velocity u, which makes of the gap g that of the end, g + h u to first order: 0 <= p _|_ g + h u >= 0. With a layer
 * p = h k d' - c h u, d' = -g - h u (G 37), unless its core is met, where d' is the deepest. */
static void askedOf(const pcImplicitContact* from, const pcLayer* layerOrNull, double h, pcContactResult* out)
{
    out->target = -from->before / h;
    if (!layerOrNull) return;
    double k = layerOrNull->stiffness[0], c = layerOrNull->damping[0];
    bool core = from->core > 0.0;
    out->target = core ? -(from->before + layerOrNull->deepest) / h : -from->before * k / (h * k + c);
    out->softness = core ? 0.0 : 1.0 / (h * (h * k + c));
}

static void contactOf(const pcImplicitContact* from, int kind, pcContactResult* out)
{
    *out = (pcContactResult){.body1 = from->body1, .body2 = from->body2, .shape1 = from->form1, .shape2 = from->form2};
    out->kind = kind, out->id = from->id;
    for (int i = 0; i < 3; i++) {
        out->point[i] = 0.5 * (from->point1[i] + from->point2[i]);
        out->normal[i] = from->normal[i], out->tangent1[i] = from->tangent1[i], out->tangent2[i] = from->tangent2[i];
    }
    out->gap = from->before, out->mu = from->limit[0], out->mu2 = from->limit[1];
    for (int i = 0; i < 4; i++) out->impulse[i] = from->impulse[i];
}

static void writeContacts(const pcImplicitResult* from, const int* kind, const pcLayer* const* layers, double h, pcSystemResult* result)
{
    int count = from->contactCount, room = result->contacts ? result->contactCapacity : 0;
    pcContactResult* wider = count > room && result->grow ? result->grow(result->growContext, count) : NULL;
    if (wider) result->contacts = wider, room = result->contactCapacity = count;
    result->contactCount = count;
    for (int i = 0; i < count && i < room; i++) {
        const pcImplicitContact* c = from->contacts + i;
        pcLayer layer;
        bool soft = layers && c->form1 >= 0 && pcLayerOfPair(layers[c->form1], layers[c->form2], &layer);
        contactOf(c, kind[i], result->contacts + i);
        askedOf(c, soft ? &layer : NULL, h, result->contacts + i);
    }
}

/* ---- the step ---- */

static bool makeContactRoom(pcImplicitMemory* memory, int count)
{
    if (count <= memory->contactRoom) return true;
    pcImplicitContact* contact = realloc(memory->contact, (size_t)count * sizeof *contact);
    if (contact) memory->contact = contact;
    int* kind = contact ? realloc(memory->kind, (size_t)count * sizeof *kind) : NULL;
    if (!kind) return false;
    memory->kind = kind, memory->contactRoom = count;
    return true;
}

/* How many contacts a step can have is known afterwards only: once more with room for them where there was too little. */
static pcStatus stepWithRoom(const pcImplicitSystem* system, const pcSettings* settings, double h, pcImplicitMemory* memory,
                             pcImplicitResult* result)
{
    if (!makeContactRoom(memory, 64)) return pcFail(PC_ERROR_MEMORY, "out of memory for contacts");
    result->contacts = memory->contact, result->contactCapacity = memory->contactRoom;
    pcStatus status = pcImplicitStepKinds(system, settings, h, result, memory->kind);
    if (status != PC_OK || result->contactCount <= memory->contactRoom) return status;
    if (!makeContactRoom(memory, 2 * result->contactCount))
        return pcFail(PC_ERROR_MEMORY, "out of memory for %d contacts", result->contactCount);
    memory->last = 1 - memory->last; /* the same step again */
    result->contacts = memory->contact, result->contactCapacity = memory->contactRoom;
    return pcImplicitStepKinds(system, settings, h, result, memory->kind);
}

static pcStatus run(const pcSystem* system, const pcLayer* const* layers, pcImplicitMemory* memory, pcTurn turn, const pcSettings* settings,
                    double h, pcSystemResult* result)
{
    pcPlacedForm* form = calloc((size_t)system->shapeCount + 1, sizeof *form);
    if (!form) return pcFail(PC_ERROR_MEMORY, "out of memory for %d forms", system->shapeCount);
    pcStatus status = formsOf(system, layers, memory, form);
    pcImplicitSystem s = {.bodyCount = system->bodyCount, .bodies = system->bodies, .formCount = system->shapeCount, .forms = form};
    s.rowCount = system->rowCount, s.rows = system->rows, s.contactCount = system->contactCount, s.contacts = system->contacts;
    memcpy(s.gravity, system->gravity, sizeof s.gravity);
    s.freeVelocity = system->freeVelocity, s.surface = system->surface, s.surfaceContext = system->surfaceContext;
    s.memory = memory, s.turn = turn;
    pcImplicitResult own = {.velocity = result->velocity, .pose = result->pose, .rowImpulse = result->rowImpulse};
    if (status == PC_OK) status = stepWithRoom(&s, settings, h, memory, &own);
    free(form);
    if (status != PC_OK) return status;
    writeContacts(&own, memory->kind, layers, h, result);
    result->report = own.report.step;
    return PC_OK;
}

pcStatus pcImplicitLayeredStep(const pcSystem* system, const pcLayer* const* layers, pcImplicitMemory* memory, pcTurn turn,
                               const pcSettings* settings, double h, pcSystemResult* result)
{
    if (!settings) return pcFail(PC_ERROR_ARGUMENT, "settings are needed");
    pcSettings plain = *settings;
    plain.model = PC_MODEL_LCP, plain.shadow = 0;
    pcStatus status = pcStepCheck(system, &plain, h, result);
    if (status != PC_OK) return status;
    if (system->mobility) return pcFail(PC_ERROR_UNSUPPORTED, "model=implicit knows masses, not a mobility");
    pcImplicitMemory own = {0};
    status = run(system, layers, memory ? memory : &own, turn, settings, h, result);
    if (!memory) pcImplicitMemoryClear(&own);
    return status;
}

pcStatus pcImplicitSystemStep(const pcSystem* system, pcImplicitMemory* memory, pcTurn turn, const pcSettings* settings, double h,
                              pcSystemResult* result)
{
    return pcImplicitLayeredStep(system, NULL, memory, turn, settings, h, result);
}
