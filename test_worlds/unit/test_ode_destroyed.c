/* What a program destroys between collecting and stepping, in any order; and contacts still apart. Meant to run under the sanitizers too. */
#define _GNU_SOURCE
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "adapters/gtest/pctest.h"
#include "adapters/ode/hooks.h"
#include "pcontact/pcontact.h"
#include "test_worlds/unit/ode_boxes.h"

static const double H = 0.01;
static const char* const models[4] = {"model=native", "model=quick", "model=lcp", "model=convex"};

static void addCapsule(Boxes* b, dBodyID body)
{
    dGeomID capsule = dCreateCapsule(b->space, 0.3, 1);
    dGeomSetBody(capsule, body);
    dGeomSetOffsetPosition(capsule, 0, 0, -0.1);
}

/* ODE's own steps have something to say about boxes that are in each other. */
static void keepQuiet(int number, const char* text, va_list arguments) { (void)number, (void)text, (void)arguments; }

/* Everything near something: boxes in each other and in the floor, and a shape that the metric does not know. */
static void build(Boxes* b)
{
    boxesBegin(b);
    dSetMessageHandler(keepQuiet);
    for (int i = 0; i < 6; i++) boxesAdd(b, 0.99 * i, 0, 0.495, 1);
    addCapsule(b, b->body[0]), addCapsule(b, b->body[3]);
}

static void endQuiet(Boxes* b)
{
    dSetMessageHandler(NULL);
    boxesEnd(b);
}

typedef enum What { GEOM, BODY, FLOOR, GEOM_AND_NEW, BODY_AND_NEW, EVERYTHING, WHATS } What;

static void destroy(Boxes* b, What what)
{
    dBodyID body = b->body[3];
    if (what == FLOOR) dGeomDestroy(b->floor);
    if (what == GEOM || what == GEOM_AND_NEW) dGeomDestroy(b->geom[3]);
    if (what == GEOM_AND_NEW) dCreateSphere(b->space, 0.5); /* likely where the other was */
    if (what == BODY || what == BODY_AND_NEW) dBodyDestroy(body);
    if (what == BODY_AND_NEW) dBodyCreate(b->world);
    if (what != EVERYTHING) return;
    for (int i = dSpaceGetNumGeoms(b->space); i-- > 0;) dGeomDestroy(dSpaceGetGeom(b->space, i));
    for (int i = 0; i < b->count; i++) dBodyDestroy(b->body[i]);
}

PC_TEST(OdeDestroyed, CollectedPairsOutliveTheirGeomsAndBodies)
{
    for (int what = 0; what < WHATS; what++)
        for (int m = 0; m < 4; m++) {
            PC_CASE("%s what=%d", models[m], what);
            Boxes b;
            build(&b);
            boxesAttach(&b, false, models[m]);
            for (int i = 0; i < 3; i++) {
                dSpaceCollide(b.space, b.world, pcNearCallback);
                if (i == 1) destroy(&b, (What)what);
                PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
            }
            if (m >= 2) boxesExpectOurs(&b);
            if (what != EVERYTHING) PC_EXPECT_GT(dBodyGetPosition(b.body[0])[2], what == FLOOR ? 0.4 : 0.48);
            endQuiet(&b);
        }
}

/* Collected, but never stepped: shares of shapes go with the world. */
PC_TEST(OdeDestroyed, PairsMayBeCollectedInVain)
{
    Boxes b;
    build(&b);
    boxesAttach(&b, false, "model=lcp");
    dSpaceCollide(b.space, b.world, pcNearCallback);
    endQuiet(&b);
}

PC_TEST(OdeDestroyed, AnythingGoesInAnyOrderWhileAttachedWithASpace)
{
    for (int seed = 0; seed < 40; seed++) {
        PC_CASE("seed=%d", seed);
        Boxes b;
        unsigned random = (unsigned)seed * 2654435761u + 1u;
        build(&b);
        boxesAttach(&b, true, models[seed % 4]);
        dJointID joint[3];
        for (int i = 0; i < 3; i++)
            joint[i] = dJointCreateBall(b.world, i ? NULL : b.group), dJointAttach(joint[i], b.body[i], b.body[i + 1]);
        for (int i = 0; i < 12; i++) {
            PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
            random = random * 1664525u + 1013904223u;
            int which = (int)(random >> 24) % 6;
            if (i % 3 == 0 && b.body[which]) dBodyDestroy(b.body[which]), b.body[which] = NULL;
            if (i % 3 == 1 && b.geom[which]) dGeomDestroy(b.geom[which]), b.geom[which] = NULL;
            if (i % 3 == 2 && which < 3 && which > 0 && joint[which]) dJointDestroy(joint[which]), joint[which] = NULL;
            if (i == 7) dJointGroupEmpty(b.group);
        }
        endQuiet(&b);
    }
}

/* As the preload library tells it, before ODE destroys. */
PC_TEST(OdeDestroyed, WorldGoesOnWithoutItsSpace)
{
    for (int m = 0; m < 4; m++) {
        PC_CASE("%s", models[m]);
        Boxes b;
        build(&b);
        boxesAttach(&b, true, models[m]);
        PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
        pcOdeHooksGet()->forgetGeom((dGeomID)b.space);
        dSpaceDestroy(b.space);
        b.space = dSimpleSpaceCreate(NULL);
        double before = dBodyGetLinearVel(b.body[5])[2];
        for (int i = 0; i < 10; i++) PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
        PC_EXPECT_NEAR(before - 10 * 10 * H, dBodyGetLinearVel(b.body[5])[2], 1e-9);
        endQuiet(&b);
    }
}

PC_TEST(OdeDestroyed, BodiesOfAGeomTransformCarryItsContacts)
{
    Boxes b;
    boxesBegin(&b);
    dBodyID body = boxesAdd(&b, 0, 0, 5, 1);
    dGeomDestroy(b.geom[0]);
    dGeomID capsule = dCreateCapsule(NULL, 0.5, 1), outer = dCreateGeomTransform(b.space);
    dGeomTransformSetGeom(outer, capsule), dGeomTransformSetCleanup(outer, 1);
    dGeomSetBody(outer, body);
    dBodySetPosition(body, 0, 0, 0.999);
    boxesAttach(&b, true, "model=lcp");
    for (int i = 0; i < 50; i++) PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
    PC_EXPECT_NEAR(1, dBodyGetPosition(body)[2], 0.01);
    boxesExpectOurs(&b);
    boxesEnd(&b);
}

/* ---- looking ahead ---- */

static int contactsAbove(Boxes* b, double height)
{
    dContactGeom contacts[8];
    dBodySetPosition(b->body[0], 0, 0, 0.5 + height);
    return pcCollide(b->geom[0], b->floor, 8, contacts, sizeof *contacts);
}

PC_TEST(OdeDestroyed, DCollideLooksAheadAsFarAsAnAttachedWorldWants)
{
    Boxes b[2];
    for (int i = 0; i < 2; i++) boxesBegin(b + i), boxesAdd(b + i, 0, 0, 5, 1);
    PC_EXPECT_EQ_INT(0, contactsAbove(b, 0.01));
    boxesAttach(b, false, "lookahead=1 margin=0.02"), boxesAttach(b + 1, false, "lookahead=1 margin=0.1");
    PC_EXPECT_EQ_INT(4, contactsAbove(b, 0.09));
    boxesAttach(b + 1, false, "model=native lookahead=1 margin=0.1");
    PC_EXPECT_EQ_INT(0, contactsAbove(b, 0.09));
    PC_EXPECT_EQ_INT(4, contactsAbove(b, 0.01));
    boxesAttach(b, false, "lookahead=1"); /* without a margin: from the last step, of which there is none yet */
    PC_EXPECT_EQ_INT(0, contactsAbove(b, 0.01));
    dBodySetLinearVel(b[0].body[0], 0, 0, -3);
    PC_EXPECT_STATUS(PC_OK, pcWorldStep(b[0].world, H));
    PC_EXPECT_EQ_INT(4, contactsAbove(b, 0.05));
    PC_EXPECT_EQ_INT(0, contactsAbove(b, 0.08));
    for (int i = 0; i < 2; i++) boxesEnd(b + i);
    boxesBegin(b), boxesAdd(b, 0, 0, 5, 1);
    PC_EXPECT_EQ_INT(0, contactsAbove(b, 0.01));
    boxesEnd(b);
}

/* ODE would take a contact that is still apart for one that touches. */
PC_TEST(OdeDestroyed, ContactsStillApartAreNotFeltByNativeSteps)
{
    for (int m = 0; m < 3; m += 2) {
        PC_CASE("%s", models[m]);
        Boxes ahead, b;
        boxesBegin(&ahead), boxesBegin(&b);
        boxesAttach(&ahead, false, "lookahead=1 margin=0.5");
        dBodyID body = boxesAdd(&b, 0, 0, 0.7, 1);
        if (m == 2) dBodySetLinearVel(boxesAdd(&b, 5, 0, 5, 1), (double)NAN, 0, 0); /* no step of ours */
        boxesAttach(&b, false, models[m]);
        dContact contact[8];
        int count = pcCollide(b.geom[0], b.floor, 8, &contact[0].geom, sizeof *contact);
        PC_EXPECT_EQ_INT(4, count);
        for (int i = 0; i < count; i++) {
            contact[i].surface.mode = dContactApprox1, contact[i].surface.mu = 1;
            dJointAttach(dJointCreateContact(b.world, b.group, contact + i), body, NULL);
        }
        PC_EXPECT_STATUS(PC_OK, pcWorldStep(b.world, H));
        PC_EXPECT_EQ_INT(1, boxesExtra(&b).nativeSteps);
        PC_EXPECT_NEAR(-10 * H, dBodyGetLinearVel(body)[2], 1e-12);
        boxesEnd(&b), boxesEnd(&ahead);
    }
}
