/* Joints of ODE through our solver: every step from the same state must be ODE's own. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/ode_twin.h"

static const double H = 0.01;

/* Forces are known less well than velocities where rows are nearly redundant. */
static void runExactly(Twin* t, double tolerance)
{
    twinRun(t, 100, H);
    PC_EXPECT_LE(t->worst, tolerance);
    PC_EXPECT_LE(t->worstFeedback, 1e3 * tolerance);
    twinExpectOurs(t);
}

/* ---- one joint of each kind ---- */

typedef void MakeJoint(Twin* t, int first, int second, bool powered);

static void makeBall(Twin* t, int a, int b, bool powered)
{
    JOINT(t, Ball, a, b, (dJointSetBallAnchor(j, 0.5, 0.1, 0), dJointSetBallParam(j, dParamERP, powered ? 0.5 : 0.3)));
}

static void makeHinge(Twin* t, int a, int b, bool powered)
{
    JOINT(t, Hinge, a, b, {
        dJointSetHingeAnchor(j, 0.5, 0, 0), dJointSetHingeAxis(j, 0.2, 1, 0.1);
        if (powered) dJointSetHingeParam(j, dParamVel, 3), dJointSetHingeParam(j, dParamFMax, 4), dJointSetHingeParam(j, dParamHiStop, 0.1);
        if (powered) dJointSetHingeParam(j, dParamLoStop, -0.1), dJointSetHingeParam(j, dParamBounce, 0.4);
    });
}

static void makeSlider(Twin* t, int a, int b, bool powered)
{
    JOINT(t, Slider, a, b, {
        dJointSetSliderAxis(j, 1, 0.3, 0.1);
        if (powered) dJointSetSliderParam(j, dParamVel, 2), dJointSetSliderParam(j, dParamFMax, 9);
        if (powered) dJointSetSliderParam(j, dParamHiStop, 0.05), dJointSetSliderParam(j, dParamLoStop, -0.05);
    });
}

static void makeUniversal(Twin* t, int a, int b, bool powered)
{
    JOINT(t, Universal, a, b, {
        dJointSetUniversalAnchor(j, 0.4, 0, 0.1), dJointSetUniversalAxis1(j, 0, 1, 0), dJointSetUniversalAxis2(j, 0, 0, 1);
        if (powered) dJointSetUniversalParam(j, dParamVel, 2), dJointSetUniversalParam(j, dParamFMax, 3);
        if (powered) dJointSetUniversalParam(j, dParamHiStop2, 0.1), dJointSetUniversalParam(j, dParamLoStop2, -0.1);
    });
}

static void makeHinge2(Twin* t, int a, int b, bool powered)
{
    const dVector3 axis1 = {0, 0, 1}, axis2 = {0, 1, 0};
    JOINT(t, Hinge2, a, b, {
        dJointSetHinge2Anchor(j, 0.5, 0, 0), dJointSetHinge2Axes(j, axis1, axis2);
        dJointSetHinge2Param(j, dParamSuspensionERP, 0.4), dJointSetHinge2Param(j, dParamSuspensionCFM, 0.01);
        if (powered) dJointSetHinge2Param(j, dParamVel2, 5), dJointSetHinge2Param(j, dParamFMax2, 2);
        if (powered) dJointSetHinge2Param(j, dParamLoStop, -0.1), dJointSetHinge2Param(j, dParamHiStop, 0.1);
    });
}

static void makeFixed(Twin* t, int a, int b, bool powered)
{
    JOINT(t, Fixed, a, b, (dJointSetFixed(j), dJointSetFixedParam(j, dParamCFM, powered ? 1e-3 : 1e-8)));
}

static void makeAMotor(Twin* t, int a, int b, bool powered)
{
    JOINT(t, AMotor, a, b, {
        dJointSetAMotorNumAxes(j, 3);
        for (int k = 0; k < 3; k++) dJointSetAMotorAxis(j, k, b < 0 ? 0 : 1, k == 0, k == 1, k == 2);
        dJointSetAMotorParam(j, dParamVel, 1), dJointSetAMotorParam(j, dParamFMax, powered ? 2 : 0);
        dJointSetAMotorParam(j, dParamVel2, -1), dJointSetAMotorParam(j, dParamFMax2, 1);
    });
}

static void makeLMotor(Twin* t, int a, int b, bool powered)
{
    JOINT(t, LMotor, a, b, {
        dJointSetLMotorNumAxes(j, 2);
        dJointSetLMotorAxis(j, 0, 0, 1, 0, 0), dJointSetLMotorAxis(j, 1, 0, 0, 1, 0);
        dJointSetLMotorParam(j, dParamVel, 1), dJointSetLMotorParam(j, dParamFMax, powered ? 5 : 1);
    });
}

static void makePlane2D(Twin* t, int a, int b, bool powered)
{
    (void)b;
    JOINT(t, Plane2D, a, -1, {
        if (powered) dJointSetPlane2DXParam(j, dParamVel, 1), dJointSetPlane2DXParam(j, dParamFMax, 3);
        if (powered) dJointSetPlane2DAngleParam(j, dParamVel, 2), dJointSetPlane2DAngleParam(j, dParamFMax, 1);
    });
}

static void makePR(Twin* t, int a, int b, bool powered)
{
    JOINT(t, PR, a, b, {
        dJointSetPRAnchor(j, 0.5, 0, 0), dJointSetPRAxis1(j, 1, 0, 0), dJointSetPRAxis2(j, 0, 0, 1);
        if (powered) dJointSetPRParam(j, dParamHiStop, 0.05), dJointSetPRParam(j, dParamLoStop, -0.05);
        if (powered) dJointSetPRParam(j, dParamVel2, 2), dJointSetPRParam(j, dParamFMax2, 2);
    });
}

static void makePU(Twin* t, int a, int b, bool powered)
{
    JOINT(t, PU, a, b, {
        dJointSetPUAnchor(j, 0.5, 0, 0), dJointSetPUAxis1(j, 0, 1, 0), dJointSetPUAxis2(j, 0, 0, 1), dJointSetPUAxisP(j, 1, 0, 0);
        if (powered) dJointSetPUParam(j, dParamVel3, 1), dJointSetPUParam(j, dParamFMax3, 4);
        if (powered) dJointSetPUParam(j, dParamHiStop1, 0.1), dJointSetPUParam(j, dParamLoStop1, -0.1);
    });
}

static void makePiston(Twin* t, int a, int b, bool powered)
{
    JOINT(t, Piston, a, b, {
        dJointSetPistonAnchor(j, 0.5, 0, 0), dJointSetPistonAxis(j, 1, 0, 0);
        if (powered) dJointSetPistonParam(j, dParamVel1, 1), dJointSetPistonParam(j, dParamFMax1, 4);
        if (powered) dJointSetPistonParam(j, dParamHiStop2, 0.1), dJointSetPistonParam(j, dParamLoStop2, -0.1);
    });
}

static void makeDBall(Twin* t, int a, int b, bool powered)
{
    JOINT(t, DBall, a, b,
          (dJointSetDBallAnchor1(j, 0.1, 0, 0), dJointSetDBallAnchor2(j, 1.2, 0.3, 0), dJointSetDBallDistance(j, powered ? 1.3 : 1.14)));
}

static void makeDHinge(Twin* t, int a, int b, bool powered)
{
    (void)powered;
    JOINT(t, DHinge, a, b, (dJointSetDHingeAxis(j, 0, 0, 1), dJointSetDHingeAnchor1(j, 0, 0.2, 0), dJointSetDHingeAnchor2(j, 1, -0.2, 0)));
}

static void makeTransmission(Twin* t, int a, int b, bool powered)
{
    JOINT(t, Transmission, a, b, {
        dJointSetTransmissionMode(j, dTransmissionParallelAxes);
        dJointSetTransmissionAxis(j, 0, 0, 1);
        dJointSetTransmissionRatio(j, powered ? 2 : 1);
        dJointSetTransmissionAnchor1(j, 0, 0, 0), dJointSetTransmissionAnchor2(j, 1, 0, 0);
    });
}

static void makeNull(Twin* t, int a, int b, bool powered)
{
    (void)powered;
    JOINT(t, Null, a, b, (void)j);
}

typedef struct Kind {
    const char* name;
    MakeJoint* make;
    bool needsTwo; /* no sense with the world */
} Kind;
static const Kind kinds[] = {{"ball", makeBall, false},
                             {"hinge", makeHinge, false},
                             {"slider", makeSlider, false},
                             {"universal", makeUniversal, false},
                             {"hinge2", makeHinge2, true},
                             {"fixed", makeFixed, false},
                             {"amotor", makeAMotor, false},
                             {"lmotor", makeLMotor, false},
                             {"plane2d", makePlane2D, false},
                             {"pr", makePR, false},
                             {"pu", makePU, false},
                             {"piston", makePiston, false},
                             {"dball", makeDBall, false},
                             {"dhinge", makeDHinge, true},
                             {"transmission", makeTransmission, true},
                             {"null", makeNull, false}};
enum { KINDS = sizeof kinds / sizeof *kinds };

PC_TEST(OdeJoints, EveryKindMovesAsNatively)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int how = 0; how < 6; how++) {
            bool powered = how % 2;
            int sides = how / 2; /* two bodies; body and world; world and body */
            if (sides > 0 && kinds[kind].needsTwo) continue;
            PC_CASE("%s powered=%d sides=%d", kinds[kind].name, powered, sides);
            Twin t;
            twinBegin(&t);
            int a = twinBody(&t, 0, 0, 0), b = twinBody(&t, 1, 0, 0);
            kinds[kind].make(&t, sides == 2 ? -1 : a, sides == 0 ? b : sides == 1 ? -1 : a, powered);
            runExactly(&t, 1e-10);
            twinEnd(&t);
        }
}

/* Rows, bounds and motors are the same to every solver of both models. */
PC_TEST(OdeJoints, EveryKindMovesAsNativelyByEverySolver)
{
    const char* const methods[] = {"model=lcp solver=lemke",    "model=lcp solver=fixedpoint", "model=lcp solver=minmap",
                                   "model=lcp solver=sparse",   "model=convex solver=lemke",   "model=convex solver=minmap",
                                   "model=convex solver=sparse"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            PC_CASE("%s, %s", methods[i], kinds[kind].name);
            Twin t;
            pcSettings settings = pcDefaultSettings();
            twinBegin(&t);
            settings.tolerance = 1e-13;
            PC_EXPECT_STATUS(PC_OK, pcSettingsParse(&settings, methods[i]));
            PC_EXPECT_STATUS(PC_OK, pcWorldSetSettings(t.world[0], &settings));
            int a = twinBody(&t, 0, 0, 0), b = twinBody(&t, 1, 0, 0);
            kinds[kind].make(&t, a, b, true);
            twinRun(&t, 20, H);
            PC_EXPECT_LE(t.worst, 1e-10);
            twinExpectOurs(&t);
            twinEnd(&t);
        }
}

/* ---- gamma ---- */

/* In place of the ERP of the joint (ball) or of the world (hinge); ODE gets the same one. */
PC_TEST(OdeJoints, GammaTakesThePlaceOfErp)
{
    for (int hinge = 0; hinge < 2; hinge++)
        for (int zero = 0; zero < 2; zero++) {
            PC_CASE("hinge=%d zero=%d", hinge, zero);
            Twin t;
            pcStepReport report;
            pcSettings settings = pcDefaultSettings();
            settings.gamma = zero ? 0 : 0.7, settings.tolerance = 1e-14;
            twinBegin(&t);
            pcWorldSetSettings(t.world[0], &settings);
            twinBody(&t, 0, 0, 0);
            if (hinge)
                makeHinge(&t, 0, -1, false);
            else
                makeBall(&t, 0, -1, false);
            dWorldSetERP(t.world[1], settings.gamma);
            if (!hinge) dJointSetBallParam(t.joint[1][0], dParamERP, settings.gamma);
            dBodySetPosition(t.body[0][0], 0.03, 0.04, 0);
            twinRun(&t, 1, H);
            PC_EXPECT_LE(t.worst, 1e-10);
            PC_EXPECT_STATUS(PC_OK, pcWorldReport(t.world[0], &report));
            PC_EXPECT_NEAR(0.04, report.infeasibilityJoint, 1e-12);
            if (!hinge) PC_EXPECT_NEAR(0.3, dJointGetBallParam(t.joint[0][0], dParamERP), 0);
            twinEnd(&t);
        }
}

/* ---- mechanisms ---- */

PC_TEST(OdeJoints, ChainOfBallsMovesAsNatively)
{
    Twin t;
    twinBegin(&t);
    for (int i = 0; i < 10; i++) twinBody(&t, i, 0, 0);
    for (int i = 0; i < 10; i++) JOINT(&t, Ball, i, i - 1, dJointSetBallAnchor(j, i - 0.5, 0, 0));
    runExactly(&t, 1e-10);
    twinEnd(&t);
}

/* Four hinges with parallel axes close a loop: three rows too many. */
PC_TEST(OdeJoints, RedundantLoopMovesAsNatively)
{
    Twin t;
    twinBegin(&t);
    const double corner[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    for (int i = 0; i < 4; i++) twinBody(&t, corner[i][0], corner[i][1], 0);
    for (int i = 0; i < 4; i++) {
        int next = (i + 1) % 4;
        double x = 0.5 * (corner[i][0] + corner[next][0]), y = 0.5 * (corner[i][1] + corner[next][1]);
        JOINT(&t, Hinge, i, next, (dJointSetHingeAnchor(j, x, y, 0), dJointSetHingeAxis(j, 0, 0, 1)));
    }
    JOINT(&t, Hinge, 0, -1, (dJointSetHingeAnchor(j, 0, 0, 0), dJointSetHingeAxis(j, 0, 0, 1)));
    twinRun(&t, 100, H);
    PC_EXPECT_LE(t.worst, 1e-7);
    twinExpectOurs(&t);
    twinEnd(&t);
}

static unsigned next(unsigned* random) { return (*random = *random * 1664525u + 1013904223u) >> 8; }

/* A tree of random kinds of joints; every third one holds its last body by two hinges on one axis: five rows too many. */
static void randomMechanism(Twin* t, unsigned seed, bool* loop)
{
    unsigned random = seed;
    int bodies = 2 + (int)(next(&random) % 5);
    for (int i = 0; i < bodies; i++) twinBody(t, i, 0.1 * (next(&random) % 5), 0.1 * (next(&random) % 7));
    *loop = seed % 3 == 0;
    for (int i = 0; *loop && i < 2; i++) makeHinge(t, bodies - 1, bodies - 2, false);
    for (int i = 0; i < bodies - *loop; i++) {
        const Kind* kind = kinds + next(&random) % KINDS;
        int other = i == 0 ? -1 : (int)(next(&random) % (unsigned)i);
        if (kind->make == makeDHinge || (other < 0 && kind->needsTwo)) continue; /* ODE has no rows of one whose anchors are off */
        kind->make(t, i, other, next(&random) % 2);
    }
}

PC_TEST(OdeJoints, RandomMechanismsMoveAsNatively)
{
    double worst[2] = {0, 0};
    for (unsigned seed = 1; seed <= 1000; seed++) {
        PC_CASE("seed=%u", seed);
        Twin t;
        bool loop;
        twinBegin(&t);
        randomMechanism(&t, seed, &loop);
        twinRun(&t, 100, H);
        worst[loop] = fmax(worst[loop], t.worst);
        PC_EXPECT_LE(t.worst, loop ? 1e-7 : 1e-10);
        twinExpectOurs(&t);
        twinEnd(&t);
    }
    printf("worst difference: trees %.2g, loops %.2g\n", worst[0], worst[1]);
}
