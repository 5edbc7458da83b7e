#include "test_worlds/unit/ode_boxes.h"

#include <pthread.h>
#include <string.h>

#include "adapters/gtest/pctest.h"

/* ODE counts who has initialized it, and threads are not expected. */
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

void boxesBegin(Boxes* b)
{
    pthread_mutex_lock(&counting);
    dInitODE2(0);
    pthread_mutex_unlock(&counting);
    *b = (Boxes){.world = dWorldCreate(), .space = dHashSpaceCreate(NULL), .group = dJointGroupCreate(0), .mu = 0.5};
    dWorldSetGravity(b->world, 0, 0, -10);
    b->floor = dCreatePlane(b->space, 0, 0, 1, 0);
}

void boxesEnd(Boxes* b)
{
    pcWorldDetach(b->world);
    dJointGroupDestroy(b->group);
    dSpaceDestroy(b->space);
    dWorldDestroy(b->world);
    pthread_mutex_lock(&counting);
    dCloseODE();
    pthread_mutex_unlock(&counting);
}

dBodyID boxesAdd(Boxes* b, double x, double y, double z, double size)
{
    dMass mass;
    int i = b->count++;
    dMassSetBoxTotal(&mass, 1, size, size, size);
    b->body[i] = dBodyCreate(b->world);
    b->geom[i] = dCreateBox(b->space, size, size, size);
    dBodySetMass(b->body[i], &mass);
    dGeomSetBody(b->geom[i], b->body[i]);
    dBodySetPosition(b->body[i], x, y, z);
    return b->body[i];
}

static void near(void* data, dGeomID g1, dGeomID g2)
{
    Boxes* b = data;
    dContact contact[8];
    int count = dCollide(g1, g2, 8, &contact[0].geom, sizeof *contact);
    for (int i = 0; i < count; i++) {
        memset(&contact[i].surface, 0x7f, sizeof contact[i].surface);
        contact[i].surface.mode = dContactApprox1, contact[i].surface.mu = b->mu;
        dJointAttach(dJointCreateContact(b->world, b->group, contact + i), dGeomGetBody(g1), dGeomGetBody(g2));
    }
}

void boxesStep(Boxes* b, double h)
{
    dSpaceCollide(b->space, b, near);
    PC_EXPECT_STATUS(PC_OK, pcWorldStep(b->world, h));
    dJointGroupEmpty(b->group);
}

pcSettings boxesSettings(const char* text)
{
    pcSettings s = pcDefaultSettings();
    PC_EXPECT_STATUS(PC_OK, pcSettingsParse(&s, text));
    return s;
}

void boxesAttach(Boxes* b, bool withSpace, const char* text)
{
    pcSettings s = boxesSettings(text);
    PC_ASSERT_STATUS(PC_OK, pcWorldAttach(b->world, withSpace ? b->space : NULL, &s));
}

pcStepReport boxesReport(const Boxes* b)
{
    pcStepReport report = {0};
    PC_EXPECT_STATUS(PC_OK, pcWorldReport(b->world, &report));
    return report;
}

pcWorldReportExtra boxesExtra(const Boxes* b)
{
    pcWorldReportExtra extra = {0};
    PC_EXPECT_STATUS(PC_OK, pcWorldReportMore(b->world, &extra));
    return extra;
}

void boxesExpectOurs(const Boxes* b)
{
    pcWorldReportExtra extra = boxesExtra(b);
    if (extra.nativeSteps) PC_FAIL("%d of %d steps were native: %s", extra.nativeSteps, extra.steps, extra.reason);
}

BoxesState boxesState(const Boxes* b)
{
    BoxesState s;
    for (int i = 0; i < 4; i++) {
        memcpy(s.numbers + 13 * i, dBodyGetPosition(b->body[i]), 3 * sizeof(double));
        memcpy(s.numbers + 13 * i + 3, dBodyGetQuaternion(b->body[i]), 4 * sizeof(double));
        memcpy(s.numbers + 13 * i + 7, dBodyGetLinearVel(b->body[i]), 3 * sizeof(double));
        memcpy(s.numbers + 13 * i + 10, dBodyGetAngularVel(b->body[i]), 3 * sizeof(double));
    }
    return s;
}
