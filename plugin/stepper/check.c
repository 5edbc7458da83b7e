/* What a step is given is looked at before anything is done with it: every number, index and range, with a sentence for each mistake. */
#include <stddef.h>
#include <string.h>

#include "base/status.h"
#include "stepper/settings.h"
#include "stepper/stepper.h"

/* ---- small questions ---- */

static bool finite(const double* x, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += x[i] - x[i]; /* 0, or NaN for NaN and infinity */
    return sum == 0.0;
}

static pcStatus notFinite(const char* owner, int index, const char* what)
{
    return pcFail(PC_ERROR_NOT_FINITE, "%s %d: its %s holds a number that is NaN or infinite", owner, index, what);
}

static pcStatus checkPose(const pcPose* pose, const char* owner, int index)
{
    if (!finite(pose->position, 3)) return notFinite(owner, index, "position");
    if (!finite(pose->quaternion, 4)) return notFinite(owner, index, "quaternion");
    double square = 0.0;
    for (int i = 0; i < 4; i++) square += pose->quaternion[i] * pose->quaternion[i];
    if (!(square > 1e-200 && square < 1e200))
        return pcFail(PC_ERROR_ARGUMENT, "%s %d: its quaternion has the length %g", owner, index, sqrt(square));
    return PC_OK;
}

static bool isBody(const pcSystem* s, int body) { return body == PC_WORLD || (body >= 0 && body < s->bodyCount); }

static pcStatus checkBodies2(const pcSystem* s, const char* owner, int index, int body1, int body2)
{
    if (!isBody(s, body1) || !isBody(s, body2))
        return pcFail(PC_ERROR_ARGUMENT, "%s %d: body %d does not exist; there are %d, or PC_WORLD", owner, index,
                      isBody(s, body1) ? body2 : body1, s->bodyCount);
    if (body1 == body2) return pcFail(PC_ERROR_ARGUMENT, "%s %d: both its bodies are %d", owner, index, body1);
    return PC_OK;
}

/* ---- bodies ---- */

/* Positive definite: all leading minors are. Symmetric: to rounding. */
static pcStatus checkInertia(const double I[9], int index)
{
    if (!finite(I, 9)) return notFinite("body", index, "inertia");
    double size = fabs(I[0]) + fabs(I[4]) + fabs(I[8]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < i; k++)
            if (!(fabs(I[3 * i + k] - I[3 * k + i]) <= 1e-9 * size))
                return pcFail(PC_ERROR_ARGUMENT, "body %d: its inertia is not symmetric: %g and %g", index, I[3 * i + k], I[3 * k + i]);
    double minor2 = I[0] * I[4] - I[1] * I[3];
    double minor3 = I[0] * (I[4] * I[8] - I[5] * I[7]) - I[1] * (I[3] * I[8] - I[5] * I[6]) + I[2] * (I[3] * I[7] - I[4] * I[6]);
    if (!(I[0] > 0.0 && minor2 > 0.0 && minor3 > 0.0))
        return pcFail(PC_ERROR_ARGUMENT, "body %d: its inertia is not positive definite", index);
    return PC_OK;
}

static pcStatus checkBody(const pcSystem* s, int index)
{
    const pcBody* b = s->bodies + index;
    if ((int)b->kind < PC_BODY_DYNAMIC || b->kind > PC_BODY_STATIC)
        return pcFail(PC_ERROR_ARGUMENT, "body %d: there is no kind %d of body", index, (int)b->kind);
    pcStatus status = checkPose(&b->pose, "body", index);
    if (status != PC_OK) return status;
    if (!finite(b->velocity, 6)) return notFinite("body", index, "velocity");
    if (!finite(b->force, 6)) return notFinite("body", index, "force");
    if (b->kind != PC_BODY_DYNAMIC || s->mobility) return PC_OK;
    if (!(b->mass > 0.0 && b->mass < HUGE_VAL))
        return pcFail(PC_ERROR_ARGUMENT, "body %d: its mass is %g; a dynamic body's must be > 0", index, b->mass);
    return checkInertia(b->inertia, index);
}

/* ---- shapes, rows, contacts ---- */

static pcStatus checkShape(const pcSystem* s, int index)
{
    const pcPlacedShape* placed = s->shapes + index;
    if (!placed->shape) return pcFail(PC_ERROR_ARGUMENT, "shape %d is NULL", index);
    if (!isBody(s, placed->body))
        return pcFail(PC_ERROR_ARGUMENT, "shape %d: body %d does not exist; there are %d, or PC_WORLD", index, placed->body, s->bodyCount);
    return checkPose(&placed->pose, "shape", index);
}

static pcStatus checkRow(const pcSystem* s, int index)
{
    const pcRow* row = s->rows + index;
    pcStatus status = checkBodies2(s, "row", index, row->body1, row->body2);
    if (status != PC_OK) return status;
    if (!finite(row->jacobian, 12)) return notFinite("row", index, "jacobian");
    if (!finite(&row->target, 1)) return notFinite("row", index, "target");
    if (!finite(&row->error, 1)) return notFinite("row", index, "error");
    if (!(row->lo <= row->hi) || row->lo == HUGE_VAL || row->hi == -HUGE_VAL)
        return pcFail(PC_ERROR_ARGUMENT, "row %d: its bounds are %g and %g; lo <= hi is needed", index, row->lo, row->hi);
    if (!(row->softness >= 0.0 && row->softness < HUGE_VAL))
        return pcFail(PC_ERROR_ARGUMENT, "row %d: its softness is %g; it must be >= 0", index, row->softness);
    return PC_OK;
}

/* The numbers of a surface that must be >= 0. */
typedef struct Quantity {
    const char* name;
    size_t offset;
    bool infinite, unset; /* it may be infinite, or NaN */
    int limit;            /* it may be infinite as a largest moment */
} Quantity;
static const Quantity quantities[] = {
    {.name = "mu", .offset = offsetof(pcSurface, mu), .infinite = true},
    {.name = "mu2", .offset = offsetof(pcSurface, mu2), .infinite = true, .unset = true},
    {.name = "torsion", .offset = offsetof(pcSurface, torsion), .limit = PC_LIMIT_TORSION},
    {.name = "rolling", .offset = offsetof(pcSurface, rolling), .limit = PC_LIMIT_ROLLING1},
    {.name = "rolling2", .offset = offsetof(pcSurface, rolling2), .limit = PC_LIMIT_ROLLING2, .unset = true},
    {.name = "gamma", .offset = offsetof(pcSurface, gamma), .unset = true},
    {.name = "fastest", .offset = offsetof(pcSurface, fastest), .infinite = true},
    {.name = "sink", .offset = offsetof(pcSurface, sink)},
    {.name = "bounce", .offset = offsetof(pcSurface, bounce)},
    {.name = "bounceVelocity", .offset = offsetof(pcSurface, bounceVelocity)},
    {.name = "softness", .offset = offsetof(pcSurface, softness)},
    {.name = "slip1", .offset = offsetof(pcSurface, slip1)},
    {.name = "slip2", .offset = offsetof(pcSurface, slip2)},
};

static bool quantityIsGood(const Quantity* q, const pcSurface* surface, double value)
{
    if (isnan(value)) return q->unset;
    if (value == HUGE_VAL) return q->infinite || (q->limit & surface->momentLimit) != 0;
    return value >= 0.0;
}

pcStatus pcSurfaceCheck(const pcSurface* surface, const char* what, int index)
{
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++) {
        double value;
        memcpy(&value, (const char*)surface + quantities[i].offset, sizeof value);
        if (quantityIsGood(quantities + i, surface, value)) continue;
        return pcFail(PC_ERROR_ARGUMENT, "%s %d: %s of its surface is %g; it must be >= 0", what, index, quantities[i].name, value);
    }
    if (!(surface->bounce <= 1.0))
        return pcFail(PC_ERROR_ARGUMENT, "%s %d: bounce of its surface is %g; it is at most 1", what, index, surface->bounce);
    if (surface->forceLimit < PC_LIMIT_NONE || surface->forceLimit > PC_LIMIT_FRICTION2)
        return pcFail(PC_ERROR_ARGUMENT, "%s %d: there is no forceLimit %d", what, index, surface->forceLimit);
    if (!finite(surface->direction1, 3)) return notFinite(what, index, "direction1");
    if (!finite(&surface->normalVelocity, 1)) return notFinite(what, index, "normalVelocity");
    if (!finite(surface->surfaceVelocity, 3)) return notFinite(what, index, "surfaceVelocity");
    return PC_OK;
}

static pcStatus checkContact(const pcSystem* s, int index)
{
    const pcContact* c = s->contacts + index;
    pcStatus status = checkBodies2(s, "contact", index, c->body1, c->body2);
    if (status != PC_OK) return status;
    if (!finite(c->point, 3)) return notFinite("contact", index, "point");
    if (!finite(c->normal, 3)) return notFinite("contact", index, "normal");
    if (!finite(&c->gap, 1)) return notFinite("contact", index, "gap");
    double length = v3Norm(v3Load(c->normal));
    if (!(fabs(length - 1.0) <= 1e-6))
        return pcFail(PC_ERROR_ARGUMENT, "contact %d: its normal has the length %g; it must be a unit vector", index, length);
    return pcSurfaceCheck(&c->surface, "contact", index);
}

/* ---- the whole ---- */

static pcStatus checkMobility(const pcSystem* s)
{
    size_t n = 6 * (size_t)s->bodyCount;
    for (size_t i = 0; s->mobility && i < n; i++)
        for (size_t k = 0; k <= i; k++) {
            double a = s->mobility[i * n + k], b = s->mobility[k * n + i],
                   size = sqrt(fabs(s->mobility[i * n + i] * s->mobility[k * n + k]));
            if (!finite(&a, 1) || !finite(&b, 1)) return pcFail(PC_ERROR_NOT_FINITE, "mobility: entry %zu, %zu is NaN or infinite", i, k);
            bool counts = s->bodies[i / 6].kind == PC_BODY_DYNAMIC && s->bodies[k / 6].kind == PC_BODY_DYNAMIC;
            if (counts && !(fabs(a - b) <= 1e-9 * size))
                return pcFail(PC_ERROR_ARGUMENT, "mobility: it is not symmetric at %zu, %zu: %g and %g", i, k, a, b);
            if (i == k && !(a > 0.0) && s->bodies[i / 6].kind == PC_BODY_DYNAMIC)
                return pcFail(PC_ERROR_ARGUMENT, "mobility: it is not positive definite: entry %zu, %zu is %g", i, i, a);
        }
    return PC_OK;
}

/* A list with its length: the check of one item. */
typedef struct List {
    const char* name;
    int count;
    const void* items;
    pcStatus (*check)(const pcSystem* system, int index);
} List;

static pcStatus checkList(const List* list)
{
    if (list->count < 0) return pcFail(PC_ERROR_ARGUMENT, "the number of %s is %d", list->name, list->count);
    if (list->count > 0 && !list->items) return pcFail(PC_ERROR_ARGUMENT, "there are %d %s, but the list is NULL", list->count, list->name);
    return PC_OK;
}

static pcStatus checkSystem(const pcSystem* s)
{
    const List lists[] = {{"bodies", s->bodyCount, s->bodies, checkBody},
                          {"shapes", s->shapeCount, s->shapes, checkShape},
                          {"rows", s->rowCount, s->rows, checkRow},
                          {"contacts", s->contactCount, s->contacts, checkContact}};
    pcStatus status = PC_OK;
    for (int i = 0; i < 4 && status == PC_OK; i++) status = checkList(lists + i);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < lists[i].count && status == PC_OK; k++) status = lists[i].check(s, k);
    if (status != PC_OK) return status;
    if (!finite(s->gravity, 3)) return pcFail(PC_ERROR_NOT_FINITE, "gravity holds a number that is NaN or infinite");
    for (int i = 0; s->freeVelocity && i < s->bodyCount; i++)
        if (!finite(s->freeVelocity + 6 * (size_t)i, 6)) return notFinite("body", i, "freeVelocity");
    return checkMobility(s);
}

/* What a step without a host can do. */
static pcStatus checkModel(const pcSystem* s, const pcSettings* settings)
{
    if (settings->shadow)
        return pcFail(PC_ERROR_UNSUPPORTED, "model=shadow:%s steps beside a host; there is none here", pcModelName(settings->model));
    if (settings->model != PC_MODEL_LCP && settings->model != PC_MODEL_CONVEX)
        return pcFail(PC_ERROR_UNSUPPORTED, "model=%s is not a model of pcSystemStep: lcp and convex are%s", pcModelName(settings->model),
                      settings->model == PC_MODEL_IMPLICIT ? ", and pcImplicitSystemStep has it" : "");
    if (settings->narrowphase == PC_NARROW_NATIVE && s->shapeCount > 0)
        return pcFail(PC_ERROR_UNSUPPORTED,
                      "only narrowphase=ratio and euclid find the contacts of shapes here; others can be given as contacts");
    return PC_OK;
}

pcStatus pcStepChooseSolver(const pcSettings* settings, const pcConeSolver** out)
{
    const char* name = pcSolverName(settings->solver);
    const pcConeSolver* solver = pcConeSolverFind(name);
    bool convex = settings->model == PC_MODEL_CONVEX;
    if (!solver) return pcFail(PC_ERROR_UNSUPPORTED, "there is no solver %s in this build", name);
    if (convex ? !solver->convex : !solver->coulomb)
        return pcFail(PC_ERROR_UNSUPPORTED, "solver=%s does not solve model=%s", name, pcModelName(settings->model));
    *out = solver;
    return PC_OK;
}

pcStatus pcStepCheck(const pcSystem* system, const pcSettings* settings, double h, const pcSystemResult* result)
{
    if (!system || !result) return pcFail(PC_ERROR_ARGUMENT, "a system and a place for the result are needed");
    if (result->contactCapacity < 0) return pcFail(PC_ERROR_ARGUMENT, "the result has room for %d contacts", result->contactCapacity);
    pcStatus status = pcSettingsCheck(settings);
    if (status != PC_OK) return status;
    if (!(h > 0.0 && h < HUGE_VAL)) return pcFail(PC_ERROR_ARGUMENT, "the step h is %g; it must be > 0", h);
    status = checkModel(system, settings);
    return status == PC_OK ? checkSystem(system) : status;
}
