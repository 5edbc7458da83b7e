#include "implicit_worlds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const pcPose origin = {{0, 0, 0}, {1, 0, 0, 0}};
static const double ground[4] = {0, 0, 1, 0};

/* ---- any world ---- */

static void must(pcStatus status)
{
    if (status != PC_OK) abort();
}

static int surfaceOf(void* context, int form1, int form2, pcSurface* out)
{
    (void)form1, (void)form2;
    *out = ((ImplicitWorld*)context)->surface;
    return 1;
}

void implicitWorldBegin(ImplicitWorld* w)
{
    memset(w, 0, sizeof *w);
    w->h = 0.01, w->settings = pcDefaultSettings(), w->surface = pcDefaultSurface(&w->settings);
    must(pcImplicitMemoryCreate(&w->system.memory));
    w->system.bodies = w->body, w->system.forms = w->form, w->system.gravity[2] = -9.81;
    w->system.surface = surfaceOf, w->system.surfaceContext = w;
    w->result = (pcImplicitResult){.velocity = w->velocity, .pose = w->pose, .contacts = w->contact, .contactCapacity = IMPLICIT_CONTACTS};
}

void implicitWorldEnd(ImplicitWorld* w)
{
    pcImplicitMemoryFree(w->system.memory);
    for (int i = 0; i < w->ownedCount; i++) pcFormFree(w->owned[i]);
}

pcForm* implicitOwn(ImplicitWorld* w, pcForm* form)
{
    if (!form || w->ownedCount == 16) abort();
    return w->owned[w->ownedCount++] = form;
}

int implicitBody(ImplicitWorld* w, const pcForm* form, double mass, double inertia)
{
    int body = w->system.bodyCount++;
    w->body[body] = (pcBody){.pose = origin, .mass = mass, .inertia = {inertia, 0, 0, 0, inertia, 0, 0, 0, inertia}};
    if (form) w->form[w->system.formCount++] = (pcPlacedForm){.form = form, .body = body, .pose = origin};
    return body;
}

void implicitFixed(ImplicitWorld* w, const pcForm* form, double x, double y, double z)
{
    w->form[w->system.formCount++] = (pcPlacedForm){.form = form, .body = PC_WORLD, .pose = {{x, y, z}, {1, 0, 0, 0}}};
}

pcStatus implicitWorldStep(ImplicitWorld* w)
{
    pcStatus status = pcImplicitStep(&w->system, &w->settings, w->h, &w->result);
    if (status != PC_OK) return status;
    for (int i = 0; i < w->system.bodyCount; i++) {
        memcpy(w->body[i].velocity, w->velocity + 6 * i, sizeof w->body[i].velocity);
        w->body[i].pose = w->pose[i];
    }
    w->time += w->h;
    return PC_OK;
}

/* ---- G 6.1 ---- */

const char* const discNames[DISC_KINDS] = {"sphere", "cylinder", "function x^2 + z^2 - 1"};

/* G's own: f = (x^2 + z^2 - 1) / 2, a cylinder without ends. */
static double discValue(const void* context, const double x[3], double gradient[3], double hessian[9])
{
    (void)context;
    memset(hessian, 0, 9 * sizeof *hessian);
    gradient[0] = x[0], gradient[1] = 0.0, gradient[2] = x[2], hessian[0] = hessian[8] = 1.0;
    return 0.5 * (x[0] * x[0] + x[2] * x[2] - 1.0);
}

static pcForm* discForm(DiscKind kind)
{
    static const pcConvexDef def = {discValue, NULL};
    static const double inside[3];
    pcForm* form = NULL;
    if (kind == DISC_SPHERE) must(pcFormSphere(1.0, &form));
    if (kind == DISC_CYLINDER) must(pcFormCylinder(1.0, 1.0, &form));
    if (kind == DISC_FUNCTION) must(pcFormFunctions(&def, 1, inside, 10.0, &form));
    return form;
}

static const pcForm* groundForm(ImplicitWorld* w)
{
    pcForm* form = NULL;
    must(pcFormHalfSpace(ground, &form));
    return implicitOwn(w, form);
}

void implicitDisc(ImplicitWorld* w, DiscKind kind, double h)
{
    implicitWorldBegin(w);
    w->h = h, w->surface.mu = 0.4;
    int disc = implicitBody(w, implicitOwn(w, discForm(kind)), 1.0, 0.5);
    if (kind == DISC_CYLINDER) w->form[0].pose.quaternion[0] = w->form[0].pose.quaternion[1] = sqrt(0.5); /* its axis along y */
    w->body[disc].pose.position[2] = 1.0, w->body[disc].velocity[0] = -3.0, w->body[disc].velocity[4] = -3.0;
    implicitFixed(w, groundForm(w), 0, 0, 0);
}

/* ---- G 6.2 ---- */

void implicitTwoSpheres(ImplicitWorld* w, double h)
{
    static const double force[3] = {1.0, 2.6, -9.81}, start[3] = {0.0, 6.62105263157895, 8.78417110772903};
    pcForm *one = NULL, *ten = NULL, *nine = NULL;
    implicitWorldBegin(w);
    must(pcFormSphere(1.0, &one)), must(pcFormSphere(10.0, &ten)), must(pcFormSphere(9.0, &nine));
    w->h = h, w->surface.mu = 0.2, w->surface.torsion = 0.2 * 0.3, w->system.gravity[2] = 0.0;
    int body = implicitBody(w, implicitOwn(w, one), 1.0, 0.4);
    memcpy(w->body[body].force, force, sizeof force), memcpy(w->body[body].pose.position, start, sizeof start);
    implicitFixed(w, implicitOwn(w, ten), 0, 0, 0), implicitFixed(w, implicitOwn(w, nine), 0, 11.4, 0);
}

/* ---- G 6.3 ---- */

void implicitLayered(ImplicitWorld* w, double h, double deepest, pcScheme scheme)
{
    pcForm* ball = NULL;
    implicitWorldBegin(w);
    must(pcFormSphere(1.0, &ball));
    w->h = h, w->surface.mu = 0.0, w->system.scheme = scheme;
    w->body[implicitBody(w, implicitOwn(w, ball), 1.0, 0.5)].pose.position[2] = 1.5;
    implicitFixed(w, groundForm(w), 0, 0, 0);
    w->layer = (pcLayer){.stiffness = {1000.0}, .deepest = deepest};
    w->form[1].layer = &w->layer;
}

double implicitLayerEnergy(const ImplicitWorld* w)
{
    double speed = w->body[0].velocity[2], height = w->body[0].pose.position[2], deep = fmax(0.0, 1.0 - height);
    return 0.5 * speed * speed + 9.81 * height + 0.5 * w->layer.stiffness[0] * deep * deep;
}

/* ---- flat ---- */

void implicitPole(ImplicitWorld* w, double h)
{
    static const double semiAxes[3] = {1.0, 0.8, 0.6};
    pcForm* form = NULL;
    implicitWorldBegin(w);
    must(pcFormSuperellipsoid(semiAxes, 4.0, 6.0, &form));
    w->h = h, w->surface.mu = 0.5, w->surface.torsion = 0.01;
    int body = implicitBody(w, implicitOwn(w, form), 1.0, 0.3);
    w->body[body].pose = (pcPose){{0, 0, 0.62}, {cos(0.01), sin(0.01), 0, 0}}, w->body[body].velocity[4] = 0.1;
    implicitFixed(w, groundForm(w), 0, 0, 0);
}

/* ---- many ---- */

void implicitApart(ImplicitWorld* w, int count, double h)
{
    pcForm* ball = NULL;
    implicitWorldBegin(w);
    must(pcFormSphere(1.0, &ball));
    implicitOwn(w, ball), w->h = h;
    for (int i = 0; i < count; i++) {
        int body = implicitBody(w, ball, 1.0, 0.4);
        w->body[body].pose.position[0] = 10.0 * (i % 16), w->body[body].pose.position[1] = 10.0 * (i / 16);
        w->body[body].pose.position[2] = 1.0, w->body[body].velocity[0] = 1.0;
    }
    implicitFixed(w, groundForm(w), 0, 0, 0);
}
