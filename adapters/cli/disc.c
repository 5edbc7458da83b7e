#include "adapters/cli/disc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "pcontact/implicit.h"

static const double RADIUS = 1.0, MASS = 1.0, SPEED = 2.0, WIDTH = 0.5, GRAVITY = 9.81, PI = 3.14159265358979323846;

/* About the y axis, a side of the polygon down. */
static pcStatus makePolygon(int corners, pcShape** out)
{
    double* xyz = malloc(6 * (size_t)corners * sizeof *xyz);
    static const double centre[3] = {0.0, 0.0, 0.0};
    if (!xyz) return pcFail(PC_ERROR_MEMORY, "no memory for a polygon of %d corners", corners);
    for (int i = 0; i < 2 * corners; i++) {
        double angle = 2.0 * PI * (i / 2 + 0.5) / corners - 0.5 * PI;
        xyz[3 * i] = RADIUS * cos(angle), xyz[3 * i + 1] = (i % 2 - 0.5) * WIDTH, xyz[3 * i + 2] = RADIUS * sin(angle);
    }
    pcStatus status = pcShapeFromPoints(xyz, 2 * corners, centre, out);
    free(xyz);
    return status;
}

static pcStatus makeShape(int corners, pcShape** out)
{
    if (corners == 0) return pcShapeCylinder(RADIUS, WIDTH, out);
    return corners >= 3 ? makePolygon(corners, out) : pcFail(PC_ERROR_ARGUMENT, "a polygon of %d corners", corners);
}

/* Of motion and height over that of rest on a side. */
static double energyOf(const pcBody* b, double rest)
{
    const double* v = b->velocity;
    double J = b->inertia[4], across = b->inertia[0];
    double kinetic =
        0.5 * MASS * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + 0.5 * J * v[4] * v[4] + 0.5 * across * (v[3] * v[3] + v[5] * v[5]);
    return kinetic + MASS * GRAVITY * (b->pose.position[2] - rest);
}

static pcStatus roll(pcSystem* system, pcImplicitMemory* memory, pcBody* body, const pcSettings* settings, double h, int steps,
                     pcDiscRun* out)
{
    double velocity[6];
    pcPose pose;
    pcSystemResult result = {.velocity = velocity, .pose = &pose};
    pcStatus status = PC_OK;
    for (int n = 0; n < steps && status == PC_OK; n++) {
        if (settings->model == PC_MODEL_IMPLICIT)
            status = pcImplicitSystemStep(system, memory, PC_TURN_EXPONENTIAL, settings, h, &result);
        else
            status = pcSystemStep(system, settings, h, &result);
        if (status != PC_OK) break;
        body->pose = pose;
        memcpy(body->velocity, velocity, sizeof velocity);
        out->residual = fmax(out->residual, result.report.residual), out->penetration = fmax(out->penetration, result.report.penetration);
    }
    return status;
}

pcStatus pcDiscRoll(int corners, const char* text, double h, double seconds, pcDiscRun* out)
{
    static const double floor[4] = {0.0, 0.0, 1.0, 0.0};
    pcShape *shape = NULL, *ground = NULL;
    pcSettings settings = pcDefaultSettings();
    double rest = corners > 0 ? RADIUS * cos(PI / corners) : RADIUS, J = 0.5 * MASS * RADIUS * RADIUS,
           across = 0.5 * J + MASS * WIDTH * WIDTH / 12.0;
    pcBody body = {.mass = MASS, .pose = {{0.0, 0.0, rest}, {1.0, 0.0, 0.0, 0.0}}, .velocity = {SPEED, 0.0, 0.0, 0.0, SPEED / RADIUS, 0.0}};
    body.inertia[0] = body.inertia[8] = across, body.inertia[4] = J;
    pcPlacedShape shapes[2] = {{.body = 0, .pose = {.quaternion = {1.0}}}, {.body = PC_WORLD, .pose = {.quaternion = {1.0}}}};
    if (corners == 0) shapes[0].pose.quaternion[0] = shapes[0].pose.quaternion[1] = sqrt(0.5); /* a cylinder's axis is z */
    pcSystem system = {.bodyCount = 1, .bodies = &body, .shapeCount = 2, .shapes = shapes, .gravity = {0.0, 0.0, -GRAVITY}};
    pcStatus status = pcSettingsParse(&settings, text);
    if (status == PC_OK) status = makeShape(corners, &shape);
    if (status == PC_OK) status = pcShapeHalfSpace(floor, &ground);
    pcImplicitMemory* memory = NULL;
    if (status == PC_OK) status = pcMemoryCreate(&system.memory);
    if (status == PC_OK) status = pcImplicitMemoryCreate(&memory);
    shapes[0].shape = shape, shapes[1].shape = ground;
    *out = (pcDiscRun){.before = energyOf(&body, rest)};
    if (status == PC_OK) status = roll(&system, memory, &body, &settings, h, (int)lround(seconds / h), out);
    out->way = body.pose.position[0], out->lost = out->before - energyOf(&body, rest);
    pcMemoryFree(system.memory);
    pcImplicitMemoryFree(memory);
    pcShapeFree(shape);
    pcShapeFree(ground);
    return status;
}
