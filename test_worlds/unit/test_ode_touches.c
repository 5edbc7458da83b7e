/* The contacts of a step from outside, under every model: they carry what they must, and change momentum by what they say. */
#include <math.h>
#include <string.h>
#include <stdbool.h>

#include "adapters/gtest/pctest.h"
#include "pcontact/pcontact.h"

typedef struct Pile {
    dWorldID world;
    dSpaceID space;
    dBodyID lower, upper;
} Pile;

static const double H = 0.01, G = 9.81, LOWER = 2.0, UPPER = 3.0;

static dBodyID cube(const Pile* pile, double z, double mass)
{
    dMass m;
    dBodyID body = dBodyCreate(pile->world);
    dGeomID geom = dCreateBox(pile->space, 1, 1, 1);
    dMassSetBoxTotal(&m, mass, 1, 1, 1);
    dBodySetMass(body, &m);
    dGeomSetBody(geom, body);
    dBodySetPosition(body, 0, 0, z);
    return body;
}

static Pile make(const char* model)
{
    pcSettings settings = pcDefaultSettings();
    dInitODE2(0);
    Pile pile = {.world = dWorldCreate(), .space = dHashSpaceCreate(0)};
    dWorldSetGravity(pile.world, 0, 0, -G);
    dCreatePlane(pile.space, 0, 0, 1, 0);
    pile.lower = cube(&pile, 0.5, LOWER), pile.upper = cube(&pile, 1.5, UPPER);
    PC_EXPECT_EQ_INT(PC_OK, pcSettingsParse(&settings, model));
    PC_EXPECT_EQ_INT(PC_OK, pcWorldAttach(pile.world, pile.space, &settings));
    return pile;
}

static void destroy(Pile* pile)
{
    pcWorldDetach(pile->world);
    dSpaceDestroy(pile->space);
    dWorldDestroy(pile->world);
    dCloseODE();
}

/* Impulses on a body, all contacts together. */
static void impulseOn(const pcWorldContact* contact, int count, dBodyID body, double sum[3])
{
    for (int k = 0; k < 3; k++) sum[k] = 0.0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            if (contact[i].body2 == body) sum[k] += contact[i].impulse[k];
            if (contact[i].body1 == body) sum[k] -= contact[i].impulse[k];
        }
}

static const char* const models[] = {"model=native", "model=quick", "model=lcp", "model=convex"};

PC_TEST(OdeTouches, TellWhatChangedMomentumUnderEveryModel)
{
    for (int m = 0; m < 4; m++) {
        PC_CASE("%s", models[m]);
        Pile pile = make(models[m]);
        int most = 0;
        dBodySetPosition(pile.lower, 0, 0, 0.4999), dBodySetPosition(pile.upper, 0, 0, 1.4997); /* so that dCollide is sure */
        dBodySetLinearVel(pile.upper, 1, 0.5, 0);
        for (int step = 0; step < 20; step++) {
            pcWorldContact contact[64];
            int count;
            double impulse[3], before[2][3];
            dBodyID body[2] = {pile.lower, pile.upper};
            double mass[2] = {LOWER, UPPER};
            for (int i = 0; i < 6; i++) before[i / 3][i % 3] = dBodyGetLinearVel(body[i / 3])[i % 3];
            PC_ASSERT_EQ_INT(PC_OK, pcWorldStep(pile.world, H));
            PC_ASSERT_EQ_INT(PC_OK, pcWorldContacts(pile.world, contact, 64, &count));
            PC_ASSERT_TRUE(count <= 64);
            most = count > most ? count : most;
            for (int i = 0; i < 2; i++) {
                impulseOn(contact, count, body[i], impulse);
                for (int k = 0; k < 3; k++) {
                    double change = mass[i] * (dBodyGetLinearVel(body[i])[k] - before[i][k] + (k == 2 ? G * H : 0.0));
                    PC_EXPECT_NEAR(change, impulse[k], 1e-9);
                }
            }
        }
        PC_EXPECT_TRUE(most >= 8); /* both faces */
        destroy(&pile);
    }
}

PC_TEST(OdeTouches, SayWhatTheStepAskedFor)
{
    for (int m = 0; m < 3; m += 2) {
        PC_CASE("%s", models[m]);
        Pile pile = make(models[m]);
        pcWorldContact contact[64];
        int count, deep = 0;
        dWorldSetERP(pile.world, 0.4);
        dBodySetPosition(pile.lower, 0, 0, 0.49);
        dBodySetPosition(pile.upper, 0, 0, 5.0);
        PC_ASSERT_EQ_INT(PC_OK, pcWorldStep(pile.world, H));
        PC_ASSERT_EQ_INT(PC_OK, pcWorldContacts(pile.world, contact, 64, &count));
        PC_EXPECT_EQ_INT(4, count);
        for (int i = 0; i < count; i++) {
            deep += fabs(contact[i].gap + 0.01) < 1e-12;
            PC_EXPECT_NEAR(0.4 * 0.01 / H, contact[i].target, 1e-9);
            PC_EXPECT_NEAR(0.5, contact[i].mu, 0.0);
            bool upwards = contact[i].body2 == pile.lower;
            PC_EXPECT_TRUE(contact[i].body1 == (upwards ? NULL : pile.lower));
            PC_EXPECT_NEAR(upwards ? 1.0 : -1.0, contact[i].normal[2], 1e-12);
        }
        PC_EXPECT_EQ_INT(4, deep);
        destroy(&pile);
    }
}

PC_TEST(OdeTouches, CountMayExceedTheCapacity)
{
    Pile pile = make("model=lcp");
    pcWorldContact contact[2];
    int count = 0;
    PC_ASSERT_EQ_INT(PC_OK, pcWorldStep(pile.world, H));
    PC_EXPECT_EQ_INT(PC_OK, pcWorldContacts(pile.world, contact, 2, &count));
    PC_EXPECT_EQ_INT(8, count);
    PC_EXPECT_EQ_INT(PC_OK, pcWorldContacts(pile.world, NULL, 0, &count));
    PC_EXPECT_EQ_INT(PC_ERROR_ARGUMENT, pcWorldContacts(pile.world, NULL, 2, &count));
    PC_EXPECT_EQ_INT(PC_ERROR_ARGUMENT, pcWorldContacts(pile.world, contact, 2, NULL));
    destroy(&pile);
}

/* Bodies that come, and a look at the world, change nothing of what the last step did. */
PC_TEST(OdeTouches, StayWhenBodiesComeAndTheWorldIsMeasured)
{
    Pile pile = make("model=lcp");
    pcWorldContact before[64], after[64];
    pcStepReport report;
    int count, again;
    PC_ASSERT_EQ_INT(PC_OK, pcWorldStep(pile.world, H));
    PC_ASSERT_EQ_INT(PC_OK, pcWorldContacts(pile.world, before, 64, &count));
    for (int i = 0; i < 3; i++) dBodyCreate(pile.world);
    PC_EXPECT_EQ_INT(PC_OK, pcWorldMeasure(pile.world, H, &report));
    PC_EXPECT_EQ_INT(5, report.bodies);
    PC_ASSERT_EQ_INT(PC_OK, pcWorldContacts(pile.world, after, 64, &again));
    PC_ASSERT_EQ_INT(count, again);
    PC_EXPECT_TRUE(memcmp(before, after, (size_t)count * sizeof *before) == 0);
    destroy(&pile);
}

/* A bare native step has contacts of its own that nobody reads: those of the step before are gone. */
PC_TEST(OdeTouches, GoWithTheSpace)
{
    Pile pile = make("model=native");
    int count;
    PC_ASSERT_EQ_INT(PC_OK, pcWorldStep(pile.world, H));
    PC_ASSERT_EQ_INT(PC_OK, pcWorldContacts(pile.world, NULL, 0, &count));
    PC_EXPECT_GT(count, 0);
    pcSettings settings = pcDefaultSettings();
    settings.model = PC_MODEL_NATIVE;
    PC_ASSERT_EQ_INT(PC_OK, pcWorldAttach(pile.world, NULL, &settings));
    PC_ASSERT_EQ_INT(PC_OK, pcWorldStep(pile.world, H));
    PC_ASSERT_EQ_INT(PC_OK, pcWorldContacts(pile.world, NULL, 0, &count));
    PC_EXPECT_EQ_INT(0, count);
    destroy(&pile);
}

/* ---- kinds ---- */

typedef struct Kinds {
    int given, corners, edges, smooth; /* how many contacts of which kind */
} Kinds;

static Kinds kindsOf(dWorldID world)
{
    pcWorldContact contact[64];
    int count = 0;
    Kinds out = {0};
    PC_EXPECT_EQ_INT(PC_OK, pcWorldStep(world, H));
    PC_EXPECT_EQ_INT(PC_OK, pcWorldContacts(world, contact, 64, &count));
    for (int i = 0; i < count && i < 64; i++) {
        int kind = contact[i].kind;
        out.given += kind == -1, out.smooth += kind == PC_SMOOTH, out.edges += kind == PC_EDGE_EDGE;
        out.corners += kind == PC_CORNER_FACE || kind == PC_FACE_CORNER;
    }
    PC_EXPECT_EQ_INT(count, out.given + out.corners + out.edges + out.smooth);
    return out;
}

static dBodyID place(const Pile* pile, dGeomID geom, double z)
{
    dBodyID body = dBodyCreate(pile->world);
    dGeomSetBody(geom, body);
    dBodySetPosition(body, 0, 0, z);
    return body;
}

/* Of bodies that lie on the floor, or on each other, one kind each. */
static Kinds kindsWhere(const char* model, int scene)
{
    pcSettings settings = pcDefaultSettings();
    dInitODE2(0);
    Pile pile = {.world = dWorldCreate(), .space = dHashSpaceCreate(0)};
    dWorldSetGravity(pile.world, 0, 0, -G);
    dGeomID ground = dCreatePlane(pile.space, 0, 0, 1, scene == 5 ? -100 : 0);
    PC_EXPECT_EQ_INT(PC_OK, pcSettingsParse(&settings, model));
    PC_EXPECT_EQ_INT(PC_OK, pcWorldAttach(pile.world, scene == 6 ? NULL : pile.space, &settings));
    dMatrix3 turn;
    dBodyID body;
    switch (scene) {
    case 0: place(&pile, dCreateSphere(pile.space, 0.5), 0.5); break;
    case 1: place(&pile, dCreateBox(pile.space, 1, 1, 1), 0.5); break;
    case 2:
    case 3: /* lying */
        body = place(&pile, scene == 2 ? dCreateCapsule(pile.space, 0.5, 1) : dCreateCylinder(pile.space, 0.5, 1), 0.5);
        dRFromAxisAndAngle(turn, 1, 0, 0, M_PI / 2);
        dBodySetRotation(body, turn);
        break;
    case 4: /* a ball on a box that is held */
        dBodySetKinematic(place(&pile, dCreateBox(pile.space, 1, 1, 1), 0.5));
        place(&pile, dCreateSphere(pile.space, 0.5), 1.5);
        break;
    case 5: /* edge across edge */
        body = place(&pile, dCreateBox(pile.space, 1, 3, 1), 0);
        dRFromAxisAndAngle(turn, 0, 1, 0, M_PI / 4);
        dBodySetRotation(body, turn), dBodySetKinematic(body);
        body = place(&pile, dCreateBox(pile.space, 3, 1, 1), sqrt(2.0));
        dRFromAxisAndAngle(turn, 1, 0, 0, M_PI / 4);
        dBodySetRotation(body, turn);
        break;
    default: { /* a contact joint of the program's own */
        dContact contact = {.surface = {.mu = 1.0}};
        dGeomID ball = dCreateSphere(pile.space, 0.5);
        body = place(&pile, ball, 0.499);
        PC_EXPECT_EQ_INT(1, dCollide(ball, ground, 1, &contact.geom, sizeof contact.geom));
        dJointAttach(dJointCreateContact(pile.world, 0, &contact), body, 0);
    }
    }
    Kinds out = kindsOf(pile.world);
    destroy(&pile);
    return out;
}

PC_TEST(OdeTouches, TellTheSameKindsUnderEveryModelOfOurs)
{
    static const char* const ours[] = {"model=lcp", "model=convex", "model=implicit"};
    static const struct {
        const char* name;
        Kinds kinds;
    } expected[] = {{"sphere on plane", {.smooth = 1}},   {"box on plane", {.corners = 4}}, {"capsule on plane", {.smooth = 2}},
                    {"cylinder on plane", {.smooth = 2}}, {"sphere on box", {.smooth = 1}}, {"edge across edge", {.edges = 1}},
                    {"a joint of the host", {.given = 1}}};
    for (int m = 0; m < 3; m++)
        for (int scene = 0; scene < 7; scene++) {
            PC_CASE("%s, %s", ours[m], expected[scene].name);
            Kinds k = kindsWhere(ours[m], scene), e = expected[scene].kinds;
            PC_EXPECT_EQ_INT(e.given, k.given);
            PC_EXPECT_EQ_INT(e.corners, k.corners);
            PC_EXPECT_EQ_INT(e.edges, k.edges);
            PC_EXPECT_EQ_INT(e.smooth, k.smooth);
        }
}
