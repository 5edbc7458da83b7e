/* The layout of ODE: lists and contacts read back against what was made. */
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "adapters/ode/native.h"
#include "adapters/ode/probe.h"
#include "adapters/ode/rows.h"

PC_TEST(OdeProbe, UnderstandsTheOdeThatIsInstalled)
{
    const pcLayout* layout = pcOdeLayout();
    PC_ASSERT_TRUE(layout != NULL);
    PC_EXPECT_STATUS(PC_OK, pcOdeRowsReady());
    PC_EXPECT_TRUE(layout->disabled != 0 && layout->autoDisable != 0 && layout->disabled != layout->autoDisable);
    PC_EXPECT_TRUE(pcOdeLayout() == layout);
}

PC_TEST(OdeProbe, NativeFunctionsAreOdes)
{
    const pcNative* native = pcNativeOde();
    PC_ASSERT_TRUE(native != NULL);
    PC_EXPECT_TRUE(native->worldStep == dWorldStep && native->collide == dCollide);
    int (*none)(void) = NULL;
    PC_EXPECT_FALSE(pcNativeSymbol("dWorldStepThatNobodyHas", &none));
    PC_EXPECT_TRUE(none == NULL);
}

/* ---- lists ---- */

enum { MOST = 40 };
typedef struct Made {
    dWorldID world;
    dBodyID body[MOST];
    dJointID joint[MOST];
    double depth[MOST];
} Made;

static void change(Made* m, unsigned random)
{
    unsigned i = random % MOST, k = (random >> 10) % MOST;
    if (m->body[i])
        dBodyDestroy(m->body[i]), m->body[i] = NULL;
    else
        m->body[i] = dBodyCreate(m->world);
    if (m->joint[k]) {
        dJointDestroy(m->joint[k]), m->joint[k] = NULL;
        return;
    }
    dContact contact;
    memset(&contact, 0, sizeof contact);
    m->depth[k] = contact.geom.depth = random;
    m->joint[k] = dJointCreateContact(m->world, NULL, &contact);
    if (m->body[i]) dJointAttach(m->joint[k], random % 2 ? m->body[i] : NULL, random % 2 ? NULL : m->body[i]);
}

static int errorsIn(const Made* m)
{
    int wrong = 0, bodies = 0, joints = 0;
    for (dBodyID b = pcOdeFirstBody(m->world); b; b = pcOdeNextBody(b), bodies++) wrong += dBodyGetWorld(b) != m->world;
    for (dJointID j = pcOdeFirstJoint(m->world); j; j = pcOdeNextJoint(j)) joints++;
    for (int i = 0; i < MOST; i++) {
        bodies -= m->body[i] != NULL, joints -= m->joint[i] != NULL;
        if (m->joint[i]) wrong += pcOdeContact(m->joint[i])->geom.depth != m->depth[i];
    }
    return wrong + (bodies != 0) + (joints != 0) + (pcOdeCheckWorld(m->world) != PC_OK);
}

PC_TEST(OdeProbe, ListsAWorldThatChangesAtRandom)
{
    dInitODE2(0);
    PC_ASSERT_TRUE(pcOdeLayout() != NULL);
    Made m = {.world = dWorldCreate()};
    unsigned random = 3;
    int wrong = 0;
    for (int turn = 0; turn < 20000; turn++) {
        random = random * 1664525u + 1013904223u;
        change(&m, random >> 8);
        if (turn % 10 == 0) wrong += errorsIn(&m);
    }
    PC_EXPECT_EQ_INT(0, wrong);
    dWorldDestroy(m.world);
    dCloseODE();
}

PC_TEST(OdeProbe, FlagsAreReadAndWritten)
{
    dInitODE2(0);
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    const pcLayout* layout = pcOdeLayout();
    PC_ASSERT_TRUE(layout != NULL);
    pcOdeSetBodyFlags(body, pcOdeBodyFlags(body) | layout->disabled | layout->autoDisable);
    PC_EXPECT_FALSE(dBodyIsEnabled(body));
    PC_EXPECT_TRUE(dBodyGetAutoDisableFlag(body));
    pcOdeSetBodyFlags(body, pcOdeBodyFlags(body) & ~layout->disabled);
    PC_EXPECT_TRUE(dBodyIsEnabled(body));
    PC_EXPECT_TRUE(dBodyGetGravityMode(body));
    dWorldDestroy(world);
    dCloseODE();
}

PC_TEST(OdeProbe, OdeBelievesInAJointOnlyWhileItIsPretended)
{
    dInitODE2(0);
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    PC_ASSERT_TRUE(pcOdeLayout() != NULL);
    pcOdePretendJoint(body, 1);
    PC_EXPECT_EQ_INT(1, dBodyGetNumJoints(body));
    pcOdePretendJoint(body, 0);
    PC_EXPECT_EQ_INT(0, dBodyGetNumJoints(body));
    dJointAttach(dJointCreateBall(world, NULL), body, NULL);
    PC_EXPECT_EQ_INT(1, dBodyGetNumJoints(body));
    dWorldDestroy(world);
    dCloseODE();
}
