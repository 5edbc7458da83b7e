/* What an implicit step is given is looked at before anything is done with it. */
#include <stdio.h>

#include "base/status.h"
#include "implicit/step.h"
#include "implicit/system.h"
#include "stepper/stepper.h"

pcStatus pcLayerCheck(const pcLayer* layer)
{
    double sum = 0.0;
    for (int i = 0; i < 9; i++) sum += (layer->stiffness[i] - layer->stiffness[i]) + (layer->damping[i] - layer->damping[i]);
    if (sum != 0.0) return pcFail(PC_ERROR_NOT_FINITE, "the layer holds a number that is NaN or infinite");
    if (!(layer->stiffness[0] > 0.0))
        return pcFail(PC_ERROR_ARGUMENT, "the layer's normal stiffness is %g; it must be > 0", layer->stiffness[0]);
    if (!(layer->damping[0] >= 0.0))
        return pcFail(PC_ERROR_ARGUMENT, "the layer's normal damping is %g; it must be >= 0", layer->damping[0]);
    if (!(layer->deepest > 0.0)) return pcFail(PC_ERROR_ARGUMENT, "the layer's deepest deflection is %g; it must be > 0", layer->deepest);
    const double* K = layer->stiffness;
    if (layer->tangential && !(K[4] > 0.0 && K[8] > 0.0 && K[4] * K[8] > K[5] * K[7]))
        return pcFail(PC_ERROR_ARGUMENT, "the layer's tangential stiffness is not positive definite");
    return PC_OK;
}

static pcStatus checkLayer(const pcLayer* layer, int index)
{
    char sentence[200];
    pcStatus status = pcLayerCheck(layer);
    if (status == PC_OK) return PC_OK;
    snprintf(sentence, sizeof sentence, "%s", pcLastError());
    return pcFail(status, "form %d: %s", index, sentence);
}

static pcStatus checkForm(const pcImplicitSystem* s, int index)
{
    const pcPlacedForm* placed = s->forms + index;
    if (!placed->form) return pcFail(PC_ERROR_ARGUMENT, "form %d is NULL", index);
    if (placed->body != PC_WORLD && (placed->body < 0 || placed->body >= s->bodyCount))
        return pcFail(PC_ERROR_ARGUMENT, "form %d: body %d does not exist; there are %d, or PC_WORLD", index, placed->body, s->bodyCount);
    double square = quaternionSquare(placed->pose.quaternion);
    if (!v3Finite(v3Load(placed->pose.position)) || !(square > 1e-200 && square < 1e200))
        return pcFail(PC_ERROR_ARGUMENT, "form %d: its pose is not finite, or its quaternion has no length", index);
    return placed->layer ? checkLayer(placed->layer, index) : PC_OK;
}

pcStatus pcImplicitCheck(pcImplicitRun* run, const pcImplicitResult* result)
{
    const pcImplicitSystem* s = run->system;
    if (!s || !result || !run->settings) return pcFail(PC_ERROR_ARGUMENT, "a system, settings and a place for the result are needed");
    if (result->contactCapacity < 0) return pcFail(PC_ERROR_ARGUMENT, "the result has room for %d contacts", result->contactCapacity);
    if ((int)s->turn < 0 || s->turn > PC_TURN_TANGENT || (int)s->scheme < 0 || s->scheme > PC_SCHEME_MIDPOINT)
        return pcFail(PC_ERROR_ARGUMENT, "there is no turn %d or scheme %d", (int)s->turn, (int)s->scheme);
    if (s->formCount < 0 || (s->formCount > 0 && !s->forms)) return pcFail(PC_ERROR_ARGUMENT, "%d forms at NULL", s->formCount);
    run->plain = (pcSystem){.bodyCount = s->bodyCount, .bodies = s->bodies, .rowCount = s->rowCount, .rows = s->rows};
    run->plain.contactCount = s->contactCount, run->plain.contacts = s->contacts, run->plain.freeVelocity = s->freeVelocity;
    for (int i = 0; i < 3; i++) run->plain.gravity[i] = s->gravity[i];
    pcSettings settings = *run->settings;
    settings.model = PC_MODEL_LCP, settings.shadow = 0;
    pcSystemResult unused = {0};
    pcStatus status = pcStepCheck(&run->plain, &settings, run->h, &unused);
    for (int i = 0; i < s->formCount && status == PC_OK; i++) status = checkForm(s, i);
    return status;
}
