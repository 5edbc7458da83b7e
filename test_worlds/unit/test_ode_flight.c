/* flight=mean in worlds of ODE, whose own integration moves the bodies. */
#include <math.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/ode_boxes.h"

static double energyOf(const Boxes* b)
{
    dVector3 gravity;
    dMass mass;
    double sum = 0;
    dWorldGetGravity(b->world, gravity);
    for (int i = 0; i < b->count; i++) {
        const dReal *x = dBodyGetPosition(b->body[i]), *v = dBodyGetLinearVel(b->body[i]);
        dBodyGetMass(b->body[i], &mass);
        for (int k = 0; k < 3; k++) sum += mass.mass * (0.5 * v[k] * v[k] - gravity[k] * x[k]);
    }
    return sum;
}

static void countMove(dBodyID body) { ++*(int*)dBodyGetData(body); }

PC_TEST(OdeFlight, FreeFlightKeepsTheEnergyAndODEMovesTheBody)
{
    Boxes b;
    int moves = 0;
    boxesBegin(&b);
    dBodyID body = boxesAdd(&b, 0, 0, 60, 1);
    boxesAttach(&b, true, "flight=mean");
    dBodySetLinearVel(body, 1, 2, 10), dBodySetAngularVel(body, 1, 2, 3);
    dBodySetData(body, &moves), dBodySetMovedCallback(body, countMove);
    double start = energyOf(&b);
    for (int i = 0; i < 400; i++) {
        boxesStep(&b, 0.01);
        PC_EXPECT_NEAR(start, energyOf(&b), 1e-12 * start);
    }
    PC_EXPECT_EQ_INT(400, moves);
    boxesExpectOurs(&b);
    boxesEnd(&b);
}

PC_TEST(OdeFlight, BouncesKeepTheEnergyAndRestStaysRest)
{
    Boxes b;
    boxesBegin(&b);
    boxesAdd(&b, 0, 0, 3, 1), boxesAdd(&b, 5, 0, 0.5, 1), boxesAdd(&b, 5, 0, 1.5, 1);
    boxesAttach(&b, true, "flight=mean bounce=1 mu=0");
    double start = energyOf(&b);
    for (int i = 0; i < 2000; i++) {
        boxesStep(&b, 0.01);
        PC_EXPECT_NEAR(start, energyOf(&b), 1e-7 * start);
    }
    for (int i = 1; i < 3; i++) PC_EXPECT_NEAR(i - 0.5, dBodyGetPosition(b.body[i])[2], 1e-9);
    boxesExpectOurs(&b);
    boxesEnd(&b);
}

/* Damping comes after the motion, as in every step. */
PC_TEST(OdeFlight, DampingIsODEs)
{
    Boxes b;
    boxesBegin(&b);
    dBodyID body = boxesAdd(&b, 0, 0, 60, 1);
    dBodySetLinearDamping(body, 0.1), dBodySetLinearDampingThreshold(body, 0.0);
    dBodySetGravityMode(body, 0);
    boxesAttach(&b, true, "flight=mean");
    dBodySetLinearVel(body, 1, 0, 0);
    boxesStep(&b, 0.01);
    PC_EXPECT_NEAR(0.01, dBodyGetPosition(body)[0], 1e-15);
    PC_EXPECT_NEAR(0.9, dBodyGetLinearVel(body)[0], 1e-15);
    boxesEnd(&b);
}
