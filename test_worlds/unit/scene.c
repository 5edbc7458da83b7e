#include "test_worlds/unit/scene.h"

#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"

void sceneBegin(Scene* s)
{
    memset(s, 0, sizeof *s);
    s->settings = pcDefaultSettings();
    s->h = 0.01;
    s->system = (pcSystem){.bodies = s->body, .shapes = s->shape, .rows = s->row, .contacts = s->contact, .gravity = {0, 0, -10}};
    s->result = (pcSystemResult){.rowImpulse = s->rowImpulse, .contacts = s->touch, .contactCapacity = SCENE_CONTACTS};
    PC_EXPECT_STATUS(PC_OK, pcMemoryCreate(&s->system.memory));
}

void sceneEnd(Scene* s)
{
    for (int i = 0; i < s->ownedCount; i++) pcShapeFree(s->owned[i]);
    pcMemoryFree(s->system.memory);
}

void sceneShape(Scene* s, int body, pcShape* shape)
{
    s->owned[s->ownedCount++] = shape;
    s->shape[s->system.shapeCount++] = (pcPlacedShape){.shape = shape, .body = body, .pose = {.quaternion = {1}}};
}

int sceneFloor(Scene* s)
{
    pcShape* shape = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeHalfSpace((const double[4]){0, 0, 1, 0}, &shape));
    sceneShape(s, PC_WORLD, shape);
    return s->system.shapeCount - 1;
}

int sceneBody(Scene* s, const double position[3], double mass, const double diagonal[3])
{
    pcBody* b = s->body + s->system.bodyCount;
    *b = (pcBody){.mass = mass, .pose.quaternion = {1}};
    memcpy(b->pose.position, position, sizeof b->pose.position);
    for (int i = 0; i < 3; i++) b->inertia[4 * i] = diagonal[i];
    return s->system.bodyCount++;
}

int sceneBox(Scene* s, double x, double y, double z, const double size[3], double mass)
{
    double a = size[0] * size[0], b = size[1] * size[1], c = size[2] * size[2], k = mass / 12;
    int body = sceneBody(s, (const double[3]){x, y, z}, mass, (const double[3]){k * (b + c), k * (a + c), k * (a + b)});
    pcShape* shape = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeBox(size, &shape));
    sceneShape(s, body, shape);
    return body;
}

int sceneSphere(Scene* s, double x, double y, double z, double radius, double mass)
{
    double k = 0.4 * mass * radius * radius;
    int body = sceneBody(s, (const double[3]){x, y, z}, mass, (const double[3]){k, k, k});
    pcShape* shape = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeSphere(radius, &shape));
    sceneShape(s, body, shape);
    return body;
}

pcRow* sceneRow(Scene* s, int body1, int body2)
{
    pcRow* row = s->row + s->system.rowCount++;
    *row = (pcRow){.body1 = body1, .body2 = body2, .lo = -HUGE_VAL, .hi = HUGE_VAL};
    return row;
}

pcContact* sceneContact(Scene* s, int body, const double point[3], double gap)
{
    pcContact* c = s->contact + s->system.contactCount++;
    *c = (pcContact){.body1 = PC_WORLD, .body2 = body, .id = (unsigned long long)s->system.contactCount, .normal = {0, 0, 1}, .gap = gap};
    memcpy(c->point, point, sizeof c->point);
    c->surface = pcDefaultSurface(&s->settings);
    return c;
}

void sceneStep(Scene* s)
{
    double velocity[6 * SCENE_MOST];
    pcPose pose[SCENE_MOST];
    s->result.velocity = velocity, s->result.pose = pose;
    pcStatus status = pcSystemStep(&s->system, &s->settings, s->h, &s->result);
    s->result.velocity = NULL, s->result.pose = NULL;
    if (status != PC_OK) {
        PC_FAIL("the step failed: %s", pcLastError());
        return;
    }
    for (int i = 0; i < s->system.bodyCount; i++) {
        s->body[i].pose = pose[i];
        memcpy(s->body[i].velocity, velocity + 6 * i, sizeof s->body[i].velocity);
    }
}

void sceneRun(Scene* s, int steps)
{
    for (int i = 0; i < steps; i++) sceneStep(s);
}

double sceneSpeed(const Scene* s, int body)
{
    const double* v = s->body[body].velocity;
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

void sceneExpectPlace(const Scene* s, int body, double x, double y, double z, double tolerance)
{
    const double* p = s->body[body].pose.position;
    PC_EXPECT_NEAR(x, p[0], tolerance);
    PC_EXPECT_NEAR(y, p[1], tolerance);
    PC_EXPECT_NEAR(z, p[2], tolerance);
}

void sceneExpectSound(const Scene* s)
{
    PC_EXPECT_EQ_INT(PC_SOLVED, s->result.report.outcome);
    PC_EXPECT_LE(s->result.report.residual, 1e-9);
    PC_EXPECT_LE(s->result.report.energyError, 1e-8);
}
