/* World files as live worlds: what joints, surfaces and settings of a file do there, under our model and under ODE's. */
#define _GNU_SOURCE /* M_PI */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/sdf_text.h"

#define GROUND \
    "<model name='ground'><static>1</static><link name='l'><collision name='c'><geometry><plane/></geometry></collision></link></model>"
#define PHYSICS(h) "<physics type='ode'><max_step_size>" h "</max_step_size></physics>"
#define BOX "<geometry><box><size>1 1 1</size></box></geometry>"
static const char* const both[] = {"model=lcp", "model=native"};

static double z(dBodyID body) { return body ? dBodyGetPosition(body)[2] : (double)NAN; }

/* ---- bodies ---- */

PC_TEST(SdfStage, BodiesStandAtTheirCentresOfMass)
{
    pcStage* s =
        sdfStage(sdfWorld("1.6", PHYSICS("0.01") GROUND
                          "<model name='m'><pose>0 0 0.5 0 0 0</pose><link name='l'><inertial><pose>0.1 0.2 -0.3 0 0 0</pose></inertial>"
                          "<collision name='c'>" BOX "</collision></link></model>"),
                 "model=lcp");
    PC_ASSERT_TRUE(s != NULL);
    const dReal* x = dBodyGetPosition(sdfBody(s, "m::l"));
    PC_EXPECT_NEAR(0.1, x[0], 1e-15);
    PC_EXPECT_NEAR(0.2, x[1], 1e-15);
    PC_EXPECT_NEAR(0.2, x[2], 1e-15);
    sdfRun(s, 2);
    PC_EXPECT_NEAR(0.2, z(sdfBody(s, "m::l")), 1e-9);
    PC_EXPECT_EQ_INT(1, s->bodies);
    PC_EXPECT_EQ_INT(0, s->messages);
    pcStageFree(s);
}

PC_TEST(SdfStage, EveryShapeRestsOnThePlane)
{
    static const struct {
        const char* geometry;
        double height, tolerance;
    } table[] = {{"<box><size>1 1 1</size></box>", 0.5, 1e-6},
                 {"<sphere><radius>0.5</radius></sphere>", 0.5, 1e-6},
                 {"<cylinder><radius>0.5</radius><length>1</length></cylinder>", 0.5, 1e-6},
                 {"<capsule><radius>0.25</radius><length>0.5</length></capsule>", 0.5, 1e-6},
                 {"<ellipsoid><radii>0.6 0.6 0.5</radii></ellipsoid>", 0.5, 1e-6},
                 {"<polyline><point>-1 -1</point><point>1 -1</point><point>0 1</point><height>0.5</height></polyline>", 0.0, 1e-6}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (int k = 0; k < 2; k++) {
            PC_CASE("%s under %s", table[i].geometry, both[k]);
            pcStage* s = sdfStage(sdfWorld("1.6",
                                           PHYSICS("0.005") GROUND "<model name='m'><pose>0 0 0.7 0 0 0</pose><link name='l'><collision "
                                                                   "name='c'><geometry>%s</geometry></collision></link></model>",
                                           table[i].geometry),
                                  both[k]);
            PC_ASSERT_TRUE(s != NULL);
            sdfRun(s, 2);
            PC_EXPECT_NEAR(table[i].height, z(sdfBody(s, "m::l")), k == 0 ? table[i].tolerance : 3e-2);
            pcStageFree(s);
        }
}

PC_TEST(SdfStage, GravityAndKinematicLinksAreHonoured)
{
    pcStage* s = sdfStage(sdfWorld("1.6", PHYSICS("0.01") "<model name='a'><link name='l'><gravity>0</gravity></link></model>"
                                                          "<model name='b'><link name='l'><kinematic>1</kinematic></link></model>"
                                                          "<model name='c'><link name='l'/></model>"),
                          "");
    PC_ASSERT_TRUE(s != NULL);
    sdfRun(s, 1);
    PC_EXPECT_NEAR(0, z(sdfBody(s, "a::l")), 1e-15);
    PC_EXPECT_NEAR(0, z(sdfBody(s, "b::l")), 1e-15);
    PC_EXPECT_NEAR(-9.8 * 0.01 * 0.01 * 100 * 101 / 2, z(sdfBody(s, "c::l")), 1e-9);
    pcStageFree(s);
}

/* ---- who meets whom ---- */

static int contactsOf(const char* text)
{
    pcStepReport report = {0};
    pcStage* s = sdfStage(text, "model=lcp");
    if (!s) return -1;
    sdfRun(s, s->step);
    pcWorldReport(s->world, &report);
    pcStageFree(s);
    return report.contacts;
}

#define BOXES(model, first, second, joint)                                                                                      \
    sdfWorld("1.6",                                                                                                             \
             PHYSICS("0.01") "<model name='m'>%s<link name='a'>%s<collision name='c'>" BOX "%s</collision></link>"              \
                             "<link name='b'><pose>0 0 1 0 0 0</pose><collision name='c'>" BOX "</collision></link>%s</model>", \
             model, first, second, joint)

PC_TEST(SdfStage, LinksOfAModelMeetOnlyWithSelfCollide)
{
    PC_EXPECT_EQ_INT(0, contactsOf(BOXES("", "", "", "")));
    PC_EXPECT_EQ_INT(4, contactsOf(BOXES("<self_collide>1</self_collide>", "", "", "")));
    PC_EXPECT_EQ_INT(4, contactsOf(BOXES("", "<self_collide>1</self_collide>", "", "")));
    PC_EXPECT_EQ_INT(0, contactsOf(BOXES("<self_collide>1</self_collide>", "", "",
                                         "<joint name='j' type='ball'><parent>a</parent><child>b</child></joint>")));
    PC_EXPECT_EQ_INT(0, contactsOf(BOXES("<self_collide>1</self_collide>", "", "<max_contacts>0</max_contacts>", "")));
    PC_EXPECT_EQ_INT(0,
                     contactsOf(BOXES("<self_collide>1</self_collide>", "",
                                      "<surface><contact><collide_without_contact>1</collide_without_contact></contact></surface>", "")));
    PC_EXPECT_EQ_INT(0, contactsOf(BOXES("<self_collide>1</self_collide>", "",
                                         "<surface><contact><collide_bitmask>0xf0000</collide_bitmask></contact></surface>", "")));
    PC_EXPECT_EQ_INT(4, contactsOf(BOXES("<self_collide>1</self_collide>", "",
                                         "<surface><contact><collide_bitmask>0x10</collide_bitmask></contact></surface>", "")));
}

/* ---- surfaces ---- */

/* A box on a slope of its own making: gravity leans by 45 degrees along x and y. */
static void slide(const char* surface, const char* settings, double seconds, double velocity[3])
{
    pcStage* s = sdfStage(
        sdfWorld(
            "1.6",
            "<gravity>3 3 -10</gravity>" PHYSICS(
                "0.001") "<model name='ground'><static>1</static><link name='l'><collision name='c'><geometry><plane/></geometry><surface>"
                         "<friction><ode><mu>5</mu><mu2>5</mu2></ode></friction></surface></collision></link></model><model name='m'>"
                         "<pose>0 0 0.5 0 0 0</pose><link name='l'><inertial><inertia><ixx>100</ixx><iyy>100</iyy><izz>100</izz></inertia>"
                         "</inertial><collision name='c'>" BOX "<surface>%s</surface></collision></link></model>",
            surface),
        settings);
    for (int k = 0; k < 3; k++) velocity[k] = NAN;
    if (!s) return;
    sdfRun(s, seconds);
    const dReal* v = dBodyGetLinearVel(sdfBody(s, "m::l"));
    for (int k = 0; k < 3; k++) velocity[k] = v[k];
    pcStageFree(s);
}

PC_TEST(SdfStage, FrictionIsTheSmallerAndMayHaveADirection)
{
    double v[3];
    for (int k = 0; k < 2; k++) {
        PC_CASE("%s", both[k]);
        slide("<friction><ode><mu>0</mu><mu2>0</mu2></ode></friction>", both[k], 0.5, v);
        PC_EXPECT_NEAR(1.5, v[0], 1e-6);
        slide("<friction><ode><mu>1</mu><mu2>0</mu2><fdir1>1 0 0</fdir1></ode></friction>", both[k], 0.5, v);
        PC_EXPECT_NEAR(0.0, v[0], 1e-4);
        PC_EXPECT_NEAR(1.5, v[1], 1e-2);
        slide("<friction><ode><mu>1</mu><mu2>0</mu2><fdir1>0 1 0</fdir1></ode></friction>", both[k], 0.5, v);
        PC_EXPECT_NEAR(1.5, v[0], 1e-2);
        PC_EXPECT_NEAR(0.0, v[1], 1e-4);
    }
}

/* Slip: force * slip, shared by the contacts: v = 3 slip / 4 of each. */
PC_TEST(SdfStage, SlipGivesWay)
{
    double v[3];
    slide("<friction><ode><mu>5</mu><mu2>5</mu2><slip1>0.4</slip1><slip2>0.4</slip2></ode></friction>", "model=lcp", 1, v);
    PC_EXPECT_NEAR(0.3, v[0], 1e-2);
    PC_EXPECT_NEAR(0.3, v[1], 1e-2);
}

PC_TEST(SdfStage, BallsBounce)
{
    static const char ball[] = "<geometry><sphere><radius>0.5</radius></sphere></geometry><surface><bounce><restitution_coefficient>0.5"
                               "</restitution_coefficient><threshold>0.1</threshold></bounce></surface>";
    for (int k = 0; k < 2; k++) {
        PC_CASE("%s", both[k]);
        pcStage* s = sdfStage(
            sdfWorld(
                "1.6",
                PHYSICS("0.001") "<model name='a'><static>1</static><link name='l'><collision name='c'>%s</collision></link></model>"
                                 "<model name='b'><pose>0 0 2 0 0 0</pose><link name='l'><collision name='c'>%s</collision></link></model>",
                ball, ball),
            both[k]);
        PC_ASSERT_TRUE(s != NULL);
        double highest = 0.0, before = 0.0;
        for (int i = 0; i < 900; i++) {
            sdfRun(s, s->step);
            double speed = dBodyGetLinearVel(sdfBody(s, "b::l"))[2];
            if (speed > 0.0 && before < 0.0) highest = fmax(highest, speed);
            before = speed;
        }
        PC_EXPECT_NEAR(0.5 * sqrt(2 * 9.8), highest, 0.03);
        pcStageFree(s);
    }
}

/* Starting 0.5 deep: at 0.01 a second by the specification's default, at once if gamma says so. */
PC_TEST(SdfStage, DepthIsRepairedAsFastAsTheFileSays)
{
    static const char world[] = GROUND "<model name='m'><link name='l'><collision name='c'>" BOX "%s</collision></link></model>";
    pcStage* s = sdfStage(sdfWorld("1.6", world, ""), "model=lcp");
    PC_ASSERT_TRUE(s != NULL);
    sdfRun(s, 1);
    PC_EXPECT_NEAR(0.01, z(sdfBody(s, "m::l")), 1e-4);
    pcStageFree(s);
    s = sdfStage(sdfWorld("1.6", world, "<surface><contact><ode><max_vel>0.1</max_vel></ode></contact></surface>"), "model=lcp");
    PC_ASSERT_TRUE(s != NULL);
    sdfRun(s, 1);
    PC_EXPECT_NEAR(0.01, z(sdfBody(s, "m::l")), 1e-4); /* the ground still says 0.01 */
    pcStageFree(s);
    s = sdfStage(sdfWorld("1.6", world, ""), "model=lcp gamma=0.5");
    PC_ASSERT_TRUE(s != NULL);
    sdfRun(s, 0.001);
    PC_EXPECT_NEAR(0.25, z(sdfBody(s, "m::l")), 1e-9);
    pcStageFree(s);
}

/* ---- joints ---- */

#define HANG(type, axis)                                                                                              \
    "<model name='m'><link name='l'><inertial><pose>0 0 -1 0 0 0</pose></inertial></link><joint name='j' type='" type \
    "'><parent>world</parent><child>l</child><axis>" axis "</axis></joint></model>"

/* I a = -c a', I = 1 + m = 2. */
PC_TEST(SdfStage, DampingIsImplicit)
{
    for (int k = 0; k < 2; k++) {
        PC_CASE("%s", both[k]);
        pcStage* s = sdfStage(sdfWorld("1.6", "<gravity>0 0 0</gravity>" PHYSICS("0.001")
                                                  HANG("revolute", "<xyz>0 1 0</xyz><dynamics><damping>3</damping></dynamics>")),
                              both[k]);
        PC_ASSERT_TRUE(s != NULL);
        dBodyID body = sdfBody(s, "m::l");
        dBodySetAngularVel(body, 0, 1, 0);
        dBodySetLinearVel(body, -1, 0, 0);
        sdfRun(s, 1);
        PC_EXPECT_NEAR(exp(-1.5), dBodyGetAngularVel(body)[1], 1e-3);
        pcStageFree(s);
        s = sdfStage(sdfWorld("1.6", "<gravity>0 0 0</gravity>" PHYSICS("0.001")
                                         HANG("prismatic", "<xyz>0 1 0</xyz><dynamics><damping>1e7</damping></dynamics>")),
                     both[k]);
        PC_ASSERT_TRUE(s != NULL);
        body = sdfBody(s, "m::l");
        dBodySetLinearVel(body, 0, 1, 0);
        sdfRun(s, 0.01);
        PC_EXPECT_NEAR(0, dBodyGetLinearVel(body)[1], 1e-3); /* explicitly it would have gone off */
        pcStageFree(s);
    }
}

PC_TEST(SdfStage, SpringsPullToTheirReference)
{
    for (int k = 0; k < 2; k++) {
        PC_CASE("%s", both[k]);
        pcStage* s = sdfStage(
            sdfWorld("1.6",
                     PHYSICS("0.001")
                         HANG("prismatic", "<xyz>0 0 1</xyz><dynamics><damping>20</damping>"
                                           "<spring_stiffness>100</spring_stiffness><spring_reference>0.5</spring_reference></dynamics>")),
            both[k]);
        PC_ASSERT_TRUE(s != NULL);
        sdfRun(s, 5);
        PC_EXPECT_NEAR(0.5 - 0.098, dJointGetSliderPosition(sdfJoint(s, "m::j")), 1e-4);
        pcStageFree(s);
        s = sdfStage(sdfWorld("1.6", "<gravity>0 0 0</gravity>" PHYSICS("0.001")
                                         HANG("revolute",
                                              "<xyz>0 1 0</xyz><dynamics><damping>20</damping>"
                                              "<spring_stiffness>50</spring_stiffness><spring_reference>8</spring_reference></dynamics>")),
                     both[k]);
        PC_ASSERT_TRUE(s != NULL);
        sdfRun(s, 5);
        PC_EXPECT_NEAR(8 - 2 * M_PI, dJointGetHingeAngle(sdfJoint(s, "m::j")), 1e-3); /* more than one turn */
        pcStageFree(s);
    }
}

PC_TEST(SdfStage, JointFrictionHoldsUpToItsLimit)
{
    for (int k = 0; k < 2; k++) {
        PC_CASE("%s", both[k]);
        pcStage* s = sdfStage(
            sdfWorld("1.6", PHYSICS("0.001") HANG("prismatic", "<xyz>0 0 1</xyz><dynamics><friction>10</friction></dynamics>")), both[k]);
        PC_ASSERT_TRUE(s != NULL);
        sdfRun(s, 1);
        PC_EXPECT_NEAR(-1, z(sdfBody(s, "m::l")), 1e-9);
        pcStageFree(s);
        s = sdfStage(sdfWorld("1.6", PHYSICS("0.001") HANG("prismatic", "<xyz>0 0 1</xyz><dynamics><friction>4.8</friction></dynamics>")),
                     both[k]);
        PC_ASSERT_TRUE(s != NULL);
        sdfRun(s, 1);
        PC_EXPECT_NEAR(-5, dBodyGetLinearVel(sdfBody(s, "m::l"))[2], 1e-6);
        pcStageFree(s);
    }
}

/* The child turns positively about the axis, whichever of the two is the world. */
PC_TEST(SdfStage, LimitsStopTheChildOnTheRightSide)
{
    static const char* const ends[] = {"<parent>world</parent><child>l</child>", "<parent>l</parent><child>world</child>"};
    for (int k = 0; k < 4; k++) {
        PC_CASE("%s, %s", ends[k / 2], both[k % 2]);
        pcStage* s = sdfStage(
            sdfWorld("1.6",
                     "<gravity>0 0 0</gravity>" PHYSICS(
                         "0.001") "<model name='m'><link name='l'/><joint name='j' type='revolute'>%s"
                                  "<axis><xyz>0 0 1</xyz><limit><lower>-0.1</lower><upper>0.5</upper></limit></axis></joint></model>",
                     ends[k / 2]),
            both[k % 2]);
        PC_ASSERT_TRUE(s != NULL);
        double sign = k < 2 ? 1.0 : -1.0; /* of the body's own turn */
        dBodyID body = sdfBody(s, "m::l");
        double most = 0.0, least = 0.0;
        for (int i = 0; i < 2000; i++) {
            dBodySetAngularVel(body, 0, 0, i < 1000 ? sign : -sign);
            sdfRun(s, s->step);
            double angle = sign * 2 * atan2(dBodyGetQuaternion(body)[3], dBodyGetQuaternion(body)[0]);
            most = fmax(most, angle), least = fmin(least, angle);
        }
        PC_EXPECT_NEAR(0.5, most, 5e-3);
        PC_EXPECT_NEAR(-0.1, least, 5e-3);
        pcStageFree(s);
    }
}

/* How far the child turns about x or y, relative to a parent that hardly moves, if it is turned at 1 a second for a second. */
static double reachOf(const char* type, int axis, double way, const char* settings)
{
    pcStage* s = sdfStage(sdfWorld("1.6",
                                   "<gravity>0 0 0</gravity>" PHYSICS(
                                       "0.001") "<model name='m'><link name='a'><inertial><mass>1e6</mass><inertia><ixx>1e6</ixx>"
                                                "<iyy>1e6</iyy><izz>1e6</izz></inertia></inertial></link><link name='b'/><joint name='j' "
                                                "type='%s'><parent>a</parent><child>b</child>"
                                                "<axis><xyz>1 0 0</xyz><limit><lower>-0.1</lower><upper>0.2</upper></limit></axis>"
                                                "<axis2><xyz>0 1 0</xyz>%s</axis2></joint></model>",
                                   type, axis == 1 ? "<limit><lower>-0.3</lower><upper>0.4</upper></limit>" : ""),
                          settings);
    double most = 0.0;
    if (!s) return NAN;
    dBodyID body = sdfBody(s, "m::b");
    for (int i = 0; i < 1000; i++) {
        dBodySetAngularVel(body, axis == 0 ? way : 0, axis == 1 ? way : 0, 0);
        sdfRun(s, s->step);
        double angle = 2 * atan2(dBodyGetQuaternion(body)[1 + axis], dBodyGetQuaternion(body)[0]);
        most = fabs(angle) > fabs(most) ? angle : most;
    }
    pcStageFree(s);
    return most;
}

PC_TEST(SdfStage, BothAxesOfAJointHaveTheirOwnLimits)
{
    static const char* const types[] = {"universal", "revolute2"};
    for (int k = 0; k < 4; k++) {
        const char *type = types[k / 2], *settings = both[k % 2];
        PC_CASE("%s under %s", type, settings);
        PC_EXPECT_NEAR(0.2, reachOf(type, 0, 1, settings), 1e-2);
        PC_EXPECT_NEAR(-0.1, reachOf(type, 0, -1, settings), 1e-2);
        PC_EXPECT_NEAR(0.4, reachOf(type, 1, 1, settings), 1e-2);
        PC_EXPECT_NEAR(-0.3, reachOf(type, 1, -1, settings), 1e-2);
    }
}

PC_TEST(SdfStage, EveryJointHoldsWhatItShould)
{
    static const struct {
        const char* type;
        int ode; /* -1: none */
    } table[] = {{"fixed", dJointTypeFixed},     {"revolute", dJointTypeHinge},      {"prismatic", dJointTypeSlider},
                 {"ball", dJointTypeBall},       {"universal", dJointTypeUniversal}, {"screw", dJointTypePiston},
                 {"revolute2", dJointTypeHinge2}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (int k = 0; k < 2; k++) {
            PC_CASE("%s under %s", table[i].type, both[k]);
            pcStage* s = sdfStage(
                sdfWorld(
                    "1.6",
                    PHYSICS(
                        "0.002") "<model name='m'><link name='a'/><link name='b'><pose>1 0 0 0 0 0</pose></link>"
                                 "<joint name='top' type='ball'><parent>world</parent><child>a</child></joint><joint name='j' type='%s'>"
                                 "<parent>a</parent><child>b</child><axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 "
                                 "0</xyz></axis2></joint></model>",
                    table[i].type),
                both[k]);
            PC_ASSERT_TRUE(s != NULL);
            PC_EXPECT_EQ_INT(table[i].ode, dJointGetType(sdfJoint(s, "m::j")));
            sdfRun(s, 1);
            const dReal *a = dBodyGetPosition(sdfBody(s, "m::a")), *b = dBodyGetPosition(sdfBody(s, "m::b"));
            double apart = sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
            if (strcmp(table[i].type, "prismatic") && strcmp(table[i].type, "screw")) PC_EXPECT_NEAR(1, apart, 5e-3);
            PC_EXPECT_EQ_INT(0, s->messages);
            pcStageFree(s);
        }
}

/* A nut of mass 1 and inertia 1 on an upright screw, 0.5 m per radian: m z'' = -m g + f, I a'' = -0.5 f, z = 0.5 a. */
PC_TEST(SdfStage, ScrewsTurnAsTheyGo)
{
    for (int k = 0; k < 2; k++) {
        PC_CASE("%s", both[k]);
        pcStage* s = sdfStage(
            sdfWorld("1.6",
                     PHYSICS("0.001") "<model name='m'><link name='l'/><joint name='j' type='screw'><parent>world</parent><child>l</child>"
                                      "<thread_pitch>-2</thread_pitch><axis><xyz>0 0 1</xyz></axis></joint></model>"),
            both[k]);
        PC_ASSERT_TRUE(s != NULL);
        sdfRun(s, 1);
        dBodyID body = sdfBody(s, "m::l");
        double speed = dBodyGetLinearVel(body)[2], turn = dBodyGetAngularVel(body)[2];
        PC_EXPECT_NEAR(-9.8 * 0.25 / 1.25, speed, k == 0 ? 1e-6 : 0.02);
        PC_EXPECT_NEAR(speed, 0.5 * turn, k == 0 ? 1e-9 : 0.02);
        PC_EXPECT_NEAR(-9.8 * 0.25 / 1.25 / 2, dBodyGetPosition(body)[2], k == 0 ? 2e-3 : 2e-2);
        pcStageFree(s);
    }
}

/* Two wheels on the same axis: the child turns -3 times as fast as the parent, and a torque on one is felt by the other. */
PC_TEST(SdfStage, GearboxesKeepTheirRatio)
{
    for (int k = 0; k < 2; k++) {
        PC_CASE("%s", both[k]);
        pcStage* s = sdfStage(
            sdfWorld("1.6", "<gravity>0 0 0</gravity>" PHYSICS(
                                "0.001") "<model name='m'><link name='a'/><link name='b'/>"
                                         "<joint name='ja' type='revolute'><parent>world</parent><child>a</child></joint>"
                                         "<joint name='jb' type='revolute'><parent>world</parent><child>b</child></joint>"
                                         "<joint name='g' type='gearbox'><parent>a</parent><child>b</child><gearbox_ratio>3</gearbox_ratio>"
                                         "<gearbox_reference_body>world</gearbox_reference_body><axis/><axis2/></joint></model>"),
            both[k]);
        PC_ASSERT_TRUE(s != NULL);
        dBodyID a = sdfBody(s, "m::a"), b = sdfBody(s, "m::b");
        for (int i = 0; i < 1000; i++) {
            dBodyAddTorque(a, 0, 0, 10); /* (1 + 9) w' = 10 */
            sdfRun(s, s->step);
        }
        PC_EXPECT_NEAR(1, dBodyGetAngularVel(a)[2], k == 0 ? 1e-6 : 0.02);
        PC_EXPECT_NEAR(-3, dBodyGetAngularVel(b)[2], k == 0 ? 1e-6 : 0.02);
        pcStageFree(s);
    }
}

/* ---- planes ---- */

static void expectFlat(const pcStage* s)
{
    for (int i = 0; i < s->bodies; i++) {
        const dReal *x = dBodyGetPosition(s->body[i].body), *w = dBodyGetAngularVel(s->body[i].body),
                    *v = dBodyGetLinearVel(s->body[i].body);
        const dReal* R = dBodyGetRotation(s->body[i].body);
        if (x[1] != 0.25 || w[0] != 0.0 || w[2] != 0.0 || v[1] != 0.0 || fabs(R[5] - 1.0) > 1e-15)
            PC_FAIL("%s has left its plane: y %.17g v %g w %g %g, tilt %g", s->body[i].name, x[1], v[1], w[0], w[2], R[5] - 1.0);
    }
}

/* Boxes that fall on each other, pushed out of their plane all the time. */
PC_TEST(SdfStage, PlanarWorldsStayInTheirPlane)
{
    for (int k = 0; k < 2; k++) {
        PC_CASE("%s", both[k]);
        pcStage* s = sdfStage(
            sdfWorld("1.6",
                     "<gravity>0 1 -10</gravity><physics "
                     "type='ode'><max_step_size>0.01</max_step_size><pcontact><planar>xz</planar></pcontact></physics>" GROUND
                     "<model name='a'><pose>0 0.25 0.5 0 0 0</pose><link name='l'><collision name='c'>" BOX "</collision></link></model>"
                     "<model name='b'><pose>0.45 0.25 2 0 0.3 0</pose><link name='l'><collision name='c'>" BOX
                     "</collision></link></model>"),
            both[k]);
        PC_ASSERT_TRUE(s != NULL);
        for (int i = 0; i < 500; i++) {
            dBodyAddTorque(sdfBody(s, "b::l"), 1, 0, 1);
            sdfRun(s, s->step);
            expectFlat(s);
        }
        PC_EXPECT_NEAR(0.5, z(sdfBody(s, "a::l")), k == 0 ? 1e-4 : 1e-1);
        pcStageFree(s);
    }
}

/* A box slides by mu in the plane and stops where it should. */
PC_TEST(SdfStage, FrictionActsInThePlane)
{
    pcStage* s =
        sdfStage(sdfWorld("1.6", "<gravity>0 0 -10</gravity><physics "
                                 "type='ode'><max_step_size>0.001</max_step_size><pcontact><planar>xz</planar></pcontact></physics>" GROUND
                                 "<model name='a'><pose>0 0 0.05 0 0 0</pose><link name='l'><collision name='c'><geometry><box><size>1 1 "
                                 "0.1</size></box></geometry>"
                                 "<surface><friction><ode><mu>0.5</mu></ode></friction></surface></collision></link></model>"),
                 "model=lcp");
    PC_ASSERT_TRUE(s != NULL);
    dBodySetLinearVel(sdfBody(s, "a::l"), 2, 0, 0);
    sdfRun(s, 1);
    PC_EXPECT_NEAR(0.4, dBodyGetPosition(sdfBody(s, "a::l"))[0], 2e-3);
    PC_EXPECT_NEAR(0, dBodyGetLinearVel(sdfBody(s, "a::l"))[0], 1e-9);
    pcStageFree(s);
}

/* ---- settings ---- */

PC_TEST(SdfStage, SettingsOfTheFileAreItsDefaults)
{
    pcScene* scene;
    pcStage* stage;
    PC_ASSERT_STATUS(
        PC_OK,
        sdfRead(sdfWorld("1.6", "<physics><max_step_size>.02</max_step_size><pcontact><gamma>1</gamma><time>3</time></pcontact></physics>"
                                "<model name='m'><link name='l'/></model>"),
                &scene));
    PC_ASSERT_STATUS(PC_OK, pcStageMake(scene, &stage));
    PC_EXPECT_NEAR(1, stage->settings.gamma, 0);
    PC_EXPECT_NEAR(3, stage->time, 0);
    PC_EXPECT_NEAR(0.02, stage->step, 0);
    PC_EXPECT_STATUS(PC_OK, pcStageStep(stage, stage->step));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcStageStep(stage, 0));
    pcSettings native = stage->settings;
    native.model = PC_MODEL_NATIVE;
    PC_EXPECT_STATUS(PC_OK, pcStageAttach(stage, &native));
    PC_EXPECT_STATUS(PC_OK, pcStageStep(stage, stage->step));
    pcStageFree(stage);
    pcSceneFree(scene);
}

/* ---- out of proportion ---- */

PC_TEST(SdfStage, WorldsOutOfProportionAreNotForOdesOwnStep)
{
    static const char* const links[] = {"<collision name='c'><geometry><sphere><radius>1e7</radius></sphere></geometry></collision>",
                                        "<inertial><mass>1e-12</mass></inertial><collision name='c'><geometry><sphere><radius>1</radius>"
                                        "</sphere></geometry></collision>"};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        PC_CASE("%s", links[i]);
        pcStage* s = sdfStage(sdfWorld("1.6", PHYSICS("0.01") GROUND "<model name='m'><link name='l'>%s</link></model>", links[i]), "");
        PC_ASSERT_TRUE(s != NULL);
        pcSettings settings = s->settings;
        settings.model = PC_MODEL_NATIVE;
        PC_EXPECT_STATUS(PC_ERROR_UNSUPPORTED, pcStageAttach(s, &settings));
        PC_EXPECT_TRUE(strstr(pcLastError(), "'m::l'") != NULL);
        settings.model = PC_MODEL_QUICK;
        PC_EXPECT_STATUS(PC_OK, pcStageAttach(s, &settings));
        PC_EXPECT_STATUS(PC_OK, pcStageStep(s, s->step));
        pcStageFree(s);
    }
}

/* A box and a cylinder in each other on the ground: hard contacts, with friction that world's cfm makes soft. */
PC_TEST(SdfStage, WorldsTooSoftToHoldAnythingAreStillSteppedByOde)
{
    static const char* const cfm[] = {"1e6", "1e9", "1e12", "1e30"};
    for (size_t i = 0; i < sizeof cfm / sizeof *cfm; i++) {
        PC_CASE("cfm %s", cfm[i]);
        pcStage* s = sdfStage(
            sdfWorld("1.6",
                     "<physics type='ode'><max_step_size>0.002</max_step_size><ode><constraints><cfm>%s</cfm></constraints></ode></physics>"
                     "<model name='ground'><link name='l'><collision name='c'><geometry><plane/></geometry></collision></link></model>"
                     "<model name='box'><pose>0 0 0.499 0 0 0.1</pose><link name='l'><collision name='c'>" BOX
                     "<surface><contact><ode><kd>10</kd></ode></contact></surface></collision></link></model>"
                     "<model name='cylinder'><pose>0.5 0 0.499 0 0 0.1</pose><link name='l'><collision name='c'>"
                     "<geometry><cylinder><radius>0.5</radius><length>1</length></cylinder></geometry></collision></link></model>",
                     cfm[i]),
            "model=native gamma=0.5");
        PC_ASSERT_TRUE(s != NULL);
        PC_EXPECT_TRUE(strstr(s->skipped, "cfm so large") != NULL);
        for (int k = 0; k < 25; k++) PC_EXPECT_STATUS(PC_OK, pcStageStep(s, s->step)); /* ODE has not ended the program */
        for (int k = 0; k < s->bodies; k++) PC_EXPECT_TRUE(isfinite(z(s->body[k].body)));
        pcStageFree(s);
    }
}
