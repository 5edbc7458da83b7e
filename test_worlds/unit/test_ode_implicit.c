/* model=implicit in worlds of ODE: spheres, boxes, capsules and cylinders over planes, by ODE's own integration. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "pcontact/pcontact.h"

typedef struct Floor {
    dWorldID world;
    dSpaceID space;
} Floor;

static Floor begin(const char* text)
{
    dInitODE2(0);
    Floor f = {dWorldCreate(), dHashSpaceCreate(0)};
    pcSettings settings = pcDefaultSettings();
    dWorldSetGravity(f.world, 0, 0, -9.81);
    dCreatePlane(f.space, 0, 0, 1, 0);
    PC_EXPECT_STATUS(PC_OK, pcSettingsParse(&settings, text));
    PC_EXPECT_STATUS(PC_OK, pcWorldAttach(f.world, f.space, &settings));
    return f;
}

static void end(Floor* f)
{
    pcWorldDetach(f->world);
    dSpaceDestroy(f->space);
    dWorldDestroy(f->world);
    dCloseODE();
}

static dBodyID add(const Floor* f, dGeomID geom, double z)
{
    dBodyID body = dBodyCreate(f->world);
    dGeomSetBody(geom, body);
    dBodySetPosition(body, 0, 0, z);
    return body;
}

/* The rotation inside the step is the one that ODE applies: a ball that rolls and spins stays on the floor to rounding, at any step. */
PC_TEST(OdeImplicit, BodiesEndWhereTheStepPutThem)
{
    static const double steps[] = {0.001, 0.01, 0.05};
    for (int i = 0; i < 3; i++)
        for (int shape = 0; shape < 4; shape++) {
            pcWorldReportExtra extra;
            PC_CASE("h=%g, shape %d", steps[i], shape);
            Floor f = begin("model=implicit mu=0.5");
            dGeomID geom = shape == 0   ? dCreateSphere(f.space, 0.5)
                           : shape == 1 ? dCreateCapsule(f.space, 0.3, 1.0)
                           : shape == 2 ? dCreateCylinder(f.space, 0.4, 1.0)
                                        : dCreateBox(f.space, 1, 0.8, 0.6);
            dBodyID body = add(&f, geom, 1.4);
            dBodySetLinearVel(body, 2, 0.3, 0), dBodySetAngularVel(body, 1, 4, 2);
            double lowest = HUGE_VAL;
            for (int k = 0; k < (i == 0 ? 1500 : 300); k++) {
                dReal box[6];
                PC_ASSERT_STATUS(PC_OK, pcWorldStep(f.world, steps[i]));
                dGeomGetAABB(geom, box);
                lowest = fmin(lowest, box[4]);
            }
            PC_ASSERT_STATUS(PC_OK, pcWorldReportMore(f.world, &extra));
            PC_EXPECT_EQ_INT(0, extra.nativeSteps);
            PC_EXPECT_GE(lowest, -1e-9);
            PC_EXPECT_LE(lowest, 1e-6); /* it did land */
            end(&f);
        }
}

PC_TEST(OdeImplicit, RollingBallKeepsItsEnergy)
{
    Floor f = begin("model=implicit mu=0.4");
    dBodyID body = add(&f, dCreateSphere(f.space, 1.0), 1.0);
    dMass mass;
    dMassSetSphereTotal(&mass, 1.0, 1.0);
    dBodySetMass(body, &mass);
    dBodySetLinearVel(body, -3, 0, 0), dBodySetAngularVel(body, 0, -3, 0);
    for (int k = 0; k < 2000; k++) PC_ASSERT_STATUS(PC_OK, pcWorldStep(f.world, 0.01));
    PC_EXPECT_NEAR(-3.0, dBodyGetLinearVel(body)[0], 1e-10);
    PC_EXPECT_NEAR(-3.0, dBodyGetAngularVel(body)[1], 1e-10);
    PC_EXPECT_NEAR(-60.0, dBodyGetPosition(body)[0], 1e-8);
    end(&f);
}

/* A hinged arm of ODE's with a ball at its end, resting on the floor: joint rows and a contact in one island. */
PC_TEST(OdeImplicit, JointsOfOdeHold)
{
    Floor f = begin("model=implicit");
    dBodyID body = add(&f, dCreateSphere(f.space, 0.5), 1.2);
    dJointID hinge = dJointCreateHinge(f.world, 0);
    dJointAttach(hinge, body, 0);
    dJointSetHingeAnchor(hinge, -2, 0, 1.2), dJointSetHingeAxis(hinge, 0, 1, 0);
    pcStepReport report;
    for (int k = 0; k < 300; k++) {
        PC_ASSERT_STATUS(PC_OK, pcWorldStep(f.world, 0.01));
        PC_ASSERT_STATUS(PC_OK, pcWorldReport(f.world, &report));
        PC_ASSERT_EQ_INT(0, report.fallbacks);
    }
    const dReal* x = dBodyGetPosition(body);
    PC_EXPECT_NEAR(0.5, x[2], 1e-6);
    PC_EXPECT_NEAR(2.0, hypot(x[0] + 2.0, x[2] - 1.2), 1e-3); /* as well as ODE's joint rows hold it */
    end(&f);
}

/* Swapped between any two steps, like every model. */
PC_TEST(OdeImplicit, ModelsSwapWhileABoxSlides)
{
    static const char* const text[] = {"model=implicit", "model=lcp", "model=native", "model=shadow:implicit"};
    Floor f = begin("model=lcp");
    dBodyID body = add(&f, dCreateBox(f.space, 1, 1, 0.5), 0.25);
    dBodySetLinearVel(body, 2, 0, 0);
    for (int k = 0; k < 80; k++) {
        pcSettings settings = pcDefaultSettings();
        PC_ASSERT_STATUS(PC_OK, pcSettingsParse(&settings, text[k / 5 % 4]));
        PC_ASSERT_STATUS(PC_OK, pcWorldSetSettings(f.world, &settings));
        PC_ASSERT_STATUS(PC_OK, pcWorldStep(f.world, 0.01));
    }
    PC_EXPECT_NEAR(0.25, dBodyGetPosition(body)[2], 5e-3); /* ODE's own steps let it sink a little */
    PC_EXPECT_LE(fabs(dBodyGetLinearVel(body)[0]), 1e-3);
    end(&f);
}

/* ---- layers ---- */

/* A box of 1 kg on the floor, both with layers: of four contacts each holds a quarter, and springs in series give way by the sum of what each would. */
PC_TEST(OdeImplicit, LayersOfTwoGeomsActInSeries)
{
    static const pcLayer soft = {.stiffness = {4000, 0, 0, 0, 3000, 0, 0, 0, 3000},
                                 .damping = {40, 0, 0, 0, 40, 0, 0, 0, 40},
                                 .deepest = 0.1,
                                 .tangential = 1},
                         softer = {.stiffness = {1000, 0, 0, 0, 2000, 0, 0, 0, 2000},
                                   .damping = {40, 0, 0, 0, 40, 0, 0, 0, 40},
                                   .deepest = 0.1,
                                   .tangential = 1};
    Floor f = begin("model=implicit mu=0.8");
    dWorldSetGravity(f.world, 1, 0, -9.81);
    dGeomID floor = dSpaceGetGeom(f.space, 0), box = dCreateBox(f.space, 1, 1, 0.5);
    dBodyID body = add(&f, box, 0.25);
    pcStepReport report;
    dMass mass;
    dMassSetBoxTotal(&mass, 1.0, 1.0, 1.0, 0.5);
    dBodySetMass(body, &mass);
    PC_ASSERT_STATUS(PC_OK, pcGeomSetLayer(floor, &soft));
    PC_ASSERT_STATUS(PC_OK, pcGeomSetLayer(box, &softer));
    for (int k = 0; k < 3000; k++) PC_ASSERT_STATUS(PC_OK, pcWorldStep(f.world, 1e-3));
    PC_ASSERT_STATUS(PC_OK, pcWorldReport(f.world, &report));
    PC_EXPECT_EQ_INT(4, report.contacts);
    PC_EXPECT_EQ_INT(0, report.fallbacks);
    PC_EXPECT_NEAR(0.25 - 9.81 / 4.0 * (1.0 / 4000.0 + 1.0 / 1000.0), dBodyGetPosition(body)[2],
                   1e-5); /* it leans a little: one side is deeper */
    PC_EXPECT_LE(fabs(dBodyGetLinearVel(body)[0]), 1e-6);
    PC_EXPECT_GT(dBodyGetPosition(body)[0], 0.25 * (1.0 / 3000.0 + 1.0 / 2000.0)); /* it has given way along the floor, and no more moves */
    PC_EXPECT_LE(dBodyGetPosition(body)[0], 0.01);

    PC_ASSERT_STATUS(PC_OK, pcGeomSetLayer(box, NULL)); /* the other remains */
    for (int k = 0; k < 3000; k++) PC_ASSERT_STATUS(PC_OK, pcWorldStep(f.world, 1e-3));
    PC_EXPECT_NEAR(0.25 - 9.81 / 4.0 / 4000.0, dBodyGetPosition(body)[2], 1e-5);

    PC_ASSERT_STATUS(PC_OK, pcGeomSetLayer(floor, NULL));
    for (int k = 0; k < 300; k++) PC_ASSERT_STATUS(PC_OK, pcWorldStep(f.world, 1e-3));
    PC_EXPECT_NEAR(0.25, dBodyGetPosition(body)[2], 1e-9);
    end(&f);
}

/* Without a space, of pairs that pcNearCallback has collected. */
PC_TEST(OdeImplicit, LayersOfCollectedPairsGiveWay)
{
    static const pcLayer soft = {.stiffness = {1000}, .damping = {50}, .deepest = 0.05};
    Floor f = begin("model=implicit");
    pcSettings settings = pcDefaultSettings();
    PC_ASSERT_STATUS(PC_OK, pcSettingsParse(&settings, "model=implicit"));
    PC_ASSERT_STATUS(PC_OK, pcWorldAttach(f.world, NULL, &settings));
    dGeomID ball = dCreateSphere(f.space, 1);
    dBodyID body = add(&f, ball, 1.0);
    PC_ASSERT_STATUS(PC_OK, pcGeomSetLayer(ball, &soft));
    for (int k = 0; k < 2000; k++) {
        dSpaceCollide(f.space, f.world, pcNearCallback);
        PC_ASSERT_STATUS(PC_OK, pcWorldStep(f.world, 1e-3));
    }
    PC_EXPECT_NEAR(1.0 - 9.81 / 1000.0, dBodyGetPosition(body)[2], 1e-6);
    PC_ASSERT_STATUS(PC_OK, pcGeomSetLayer(ball, NULL));
    end(&f);
}

PC_TEST(OdeImplicit, LayersThatCannotBeAreRefused)
{
    static const pcLayer bad[] = {{.stiffness = {0}, .deepest = 1},
                                  {.stiffness = {NAN}, .deepest = 1},
                                  {.stiffness = {1}, .damping = {-1}, .deepest = 1},
                                  {.stiffness = {1}, .deepest = 0},
                                  {.stiffness = {1}, .deepest = 1, .tangential = 1}};
    static const char* const why[] = {"normal stiffness is 0", "NaN or infinite", "normal damping is -1", "deepest deflection is 0",
                                      "not positive definite"};
    static const pcLayer good = {.stiffness = {1000}, .deepest = HUGE_VAL};
    Floor f = begin("model=implicit");
    dGeomID floor = dSpaceGetGeom(f.space, 0);
    PC_ASSERT_STATUS(PC_OK, pcGeomSetLayer(floor, &good));
    for (int i = 0; i < 5; i++) {
        PC_CASE("%s", why[i]);
        PC_EXPECT_STATUS(i == 1 ? PC_ERROR_NOT_FINITE : PC_ERROR_ARGUMENT, pcGeomSetLayer(floor, bad + i));
        PC_EXPECT_TRUE(strstr(pcLastError(), why[i]) != NULL);
    }
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcGeomSetLayer(NULL, &good));
    PC_EXPECT_STATUS(PC_ERROR_UNSUPPORTED, pcGeomSetLayer((dGeomID)f.space, &good));
    dBodyID body = add(&f, dCreateSphere(f.space, 1), 1.0); /* a refusal has changed nothing: it sinks in by m g / k */
    for (int k = 0; k < 5000; k++) PC_ASSERT_STATUS(PC_OK, pcWorldStep(f.world, 5e-3));
    PC_EXPECT_NEAR(1.0 - 9.81 / 1000.0, dBodyGetPosition(body)[2], 1e-6);
    PC_EXPECT_STATUS(PC_OK, pcGeomSetLayer(floor, NULL));
    PC_EXPECT_STATUS(PC_OK, pcGeomSetLayer(floor, NULL)); /* nothing to take back */
    end(&f);
}
