/* model=implicit in worlds of ODE: spheres, boxes, capsules and cylinders over planes, by ODE's own integration. */
#include <math.h>

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
