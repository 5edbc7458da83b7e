/* Bodies that are not convex: several convex collisions on one link. */
#define _GNU_SOURCE /* M_PI */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/sdf_text.h"

#define GROUND \
    "<model name='ground'><static>1</static><link name='l'><collision name='c'><geometry><plane/></geometry></collision></link></model>"
#define PIECE(pose, size) "<collision name='c'><pose>" pose "</pose><geometry><box><size>" size "</size></box></geometry></collision>"
#define SMOOTH(pose, size)                                                                                              \
    "<collision name='c'><pose>" pose "</pose><geometry><box><size>" size "</size></box></geometry><surface><friction>" \
    "<ode><mu>0.1</mu></ode></friction></surface></collision>"
#define PHYSICS "<gravity>0 0 -10</gravity><physics type='ode'><max_step_size>0.01</max_step_size></physics>"

static int contactsOf(const pcStage* s)
{
    pcStepReport report;
    pcWorldReport(s->world, &report);
    return report.contacts;
}

static double residualOf(const pcStage* s)
{
    pcStepReport report;
    pcWorldReport(s->world, &report);
    return report.residual;
}

/* A top of 2 x 1 x 0.1 on four legs of 1 m: sixteen corners on the ground, from start to end. */
PC_TEST(SdfPieces, TableOfFiveBoxesRests)
{
    pcStage* s = sdfStage(
        sdfWorld("1.6",
                 PHYSICS GROUND "<model name='table'><pose>0 0 0.5 0 0 0</pose><link name='l'>" PIECE("0 0 0.55 0 0 0", "2 1 0.1")
                     PIECE("0.9 0.4 0 0 0 0", "0.1 0.1 1") PIECE("-0.9 0.4 0 0 0 0", "0.1 0.1 1") PIECE("0.9 -0.4 0 0 0 0", "0.1 0.1 1")
                         PIECE("-0.9 -0.4 0 0 0 0", "0.1 0.1 1") "</link></model>"
                                                                 "<model name='cup'><pose>0.8 0.3 1.25 0 0 0.3</pose><link name='l'>" PIECE(
                                                                     "0 0 0 0 0 0", "0.2 0.2 0.3") "</link></model>"),
        "model=lcp");
    PC_ASSERT_TRUE(s != NULL);
    dBodyID table = sdfBody(s, "table::l"), cup = sdfBody(s, "cup::l");
    for (int i = 0; i < 500; i++) {
        sdfRun(s, s->step);
        if (contactsOf(s) != 20) PC_FAIL("step %d has %d contacts: 16 of the legs and 4 of the cup are there", i, contactsOf(s));
        PC_EXPECT_LE(residualOf(s), 1e-9);
    }
    PC_EXPECT_NEAR(0.5, dBodyGetPosition(table)[2], 1e-9);
    PC_EXPECT_NEAR(1.25, dBodyGetPosition(cup)[2], 1e-9);
    PC_EXPECT_NEAR(0.0, dBodyGetPosition(table)[0], 1e-9);
    pcStageFree(s);
}

/* An L of two boxes in the corner of ground and wall, pulled into it: it touches both, and does not move. */
PC_TEST(SdfPieces, LRestsInACorner)
{
    pcStage* s =
        sdfStage(sdfWorld("1.6", "<gravity>-3 0 -10</gravity><physics type='ode'><max_step_size>0.01</max_step_size></physics>" GROUND
                                 "<model name='wall'><static>1</static><link name='l'><collision name='c'><geometry><plane><normal>1 0 "
                                 "0</normal></plane></geometry>"
                                 "</collision></link></model><model name='L'><pose>0.3 0 0.2 0 0 0</pose><link name='l'>" SMOOTH(
                                     "0 0 0.5 0 0 0", "0.2 0.5 1") SMOOTH("0.4 0 0.1 0 0 0", "0.6 0.5 0.2") "</link></model>"),
                 "model=lcp");
    PC_ASSERT_TRUE(s != NULL);
    dBodyID body = sdfBody(s, "L::l");
    sdfRun(s, 3);
    PC_EXPECT_NEAR(0.1, dBodyGetPosition(body)[0], 1e-6);
    PC_EXPECT_NEAR(0.0, dBodyGetPosition(body)[2], 1e-6);
    PC_EXPECT_NEAR(1.0, dBodyGetQuaternion(body)[0], 1e-9);
    PC_EXPECT_EQ_INT(4 + 6, contactsOf(s)); /* four on the wall; on the ground the two corners where the pieces meet count once */
    pcStageFree(s);
}

/* ---- a gear in a rack ---- */

enum { TEETH = 12, RACK = 20 };
static const double PITCH = 0.1;  /* from tooth to tooth along the rack */
static const double TOOTH = 0.02; /* its height above and below the pitch line */

/* A tooth as a prism around the pitch line. Its flanks are straight, not involutes: so it is thin, and there is play. */
static int toothPoints(char* text, double height, double half)
{
    double lean = 0.2, tip = half - height * lean, foot = half + height * lean;
    return sprintf(text,
                   "<polyline><point>%.9g %.9g</point><point>%.9g %.9g</point><point>%.9g %.9g</point><point>%.9g "
                   "%.9g</point><height>0.1</height></polyline>",
                   -tip, height, tip, height, foot, -height, -foot, -height);
}

static int collision(char* text, double x, double y, double turn, const char* geometry)
{
    return sprintf(
        text,
        "<collision name='c'><pose>%.12g %.12g 0 0 0 "
        "%.12g</pose><geometry>%s</geometry><surface><friction><ode><mu>0</mu><mu2>0</mu2></ode></friction></surface></collision>",
        x, y, turn, geometry);
}

/* The gear turns about z over the rack, which slides along x. */
static const char* gearAndRack(void)
{
    static char gear[20000], rack[20000];
    char tooth[1000], *at = gear;
    double radius = TEETH * PITCH / (2 * M_PI), half = 0.12 * PITCH;
    toothPoints(tooth, TOOTH, half);
    for (int i = 0; i < TEETH; i++) {
        double angle = 2 * M_PI * i / TEETH;
        at += collision(at, -radius * sin(angle), radius * cos(angle), angle, tooth);
    }
    at = rack;
    for (int i = -RACK; i <= RACK; i++) at += collision(at, (i + 0.5) * PITCH, 0, 0, tooth);
    return sdfWorld(
        "1.6",
        "<gravity>0 0 0</gravity><physics type='ode'><max_step_size>0.01</max_step_size></physics>"
        "<model name='m'><self_collide>1</self_collide><link name='gear'><pose>0 %.12g 0 0 0 0</pose>%s</link><link name='rack'>%s</link>"
        "<joint name='turn' type='revolute'><parent>world</parent><child>gear</child><axis><xyz>0 0 1</xyz></axis>"
        "<physics><ode><max_force>1000</max_force><velocity>1</velocity></ode></physics></joint>"
        "<joint name='slide' type='prismatic'><parent>world</parent><child>rack</child><axis><xyz>1 0 "
        "0</xyz><dynamics><friction>1</friction></dynamics></axis></joint></model>",
        radius, gear, rack);
}

/* One revolution by a motor: from tooth to tooth the rack goes the way around the pitch circle; in between there is play. A tooth that comes
 * over the corner of another may be held for a step: it is looked at ahead. */
PC_TEST(SdfPieces, GearDrivesARackByItsTeeth)
{
    pcStage* s = sdfStage(gearAndRack(), "model=lcp");
    PC_ASSERT_TRUE(s != NULL);
    const double radius = TEETH * PITCH / (2 * M_PI);
    double turned = 0.0, first = NAN, last = NAN, firstAngle = NAN, lastAngle = NAN;
    int passed = 0, engaged = 0, steps = *PCONTACT_SANITIZE ? 150 : (int)lround(2 * M_PI / s->step);
    dBodyID gear = sdfBody(s, "m::gear"), rack = sdfBody(s, "m::rack");
    for (int i = 0; i < steps; i++) {
        sdfRun(s, s->step);
        turned += s->step * dBodyGetAngularVel(gear)[2];
        engaged += contactsOf(s) > 0;
        if (turned < (passed + 1) * 2 * M_PI / TEETH) continue;
        last = dBodyGetPosition(rack)[0], lastAngle = turned;
        if (passed++ == 0) first = last, firstAngle = turned;
    }
    double ratio = (last - first) / (radius * (lastAngle - firstAngle));
    printf("gear and rack: turned %.3f of %.3f, over %d teeth the ratio is %.4f\n", turned, steps * s->step, passed - 1, ratio);
    PC_EXPECT_NEAR(1.0, turned / (steps * s->step), 0.02);
    PC_EXPECT_NEAR(1.0, ratio, *PCONTACT_SANITIZE ? 0.2 : 0.01);
    PC_EXPECT_GT(engaged, steps * 9 / 10);
    pcStageFree(s);
}
