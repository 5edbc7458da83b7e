/* Joints of ODE through our solver: every step from the same state must be ODE's own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "pcontact/pcontact.h"

static const double H = 0.01;
enum { MOST = 16 };

/* The same world twice: one stepped by us, one by ODE. */
typedef struct Twin {
    dWorldID world[2];
    dBodyID body[2][MOST];
    dJointID joint[2][2 * MOST];
    dJointFeedback feedback[2][2 * MOST];
    int bodies, joints;
} Twin;

static void begin(Twin* t)
{
    pcSettings settings = pcDefaultSettings();
    memset(t, 0, sizeof *t);
    settings.tolerance = 1e-14;
    dInitODE2(0);
    for (int i = 0; i < 2; i++) {
        t->world[i] = dWorldCreate();
        dWorldSetGravity(t->world[i], 0.3, -0.2, -9.81);
    }
    PC_ASSERT_STATUS(PC_OK, pcWorldAttach(t->world[0], NULL, &settings));
}

static void end(Twin* t)
{
    PC_EXPECT_STATUS(PC_OK, pcWorldDetach(t->world[0]));
    for (int i = 0; i < 2; i++) dWorldDestroy(t->world[i]);
    dCloseODE();
}

static int addBody(Twin* t, double x, double y, double z)
{
    int index = t->bodies++;
    for (int i = 0; i < 2; i++) {
        dMass mass;
        dMassSetBoxTotal(&mass, 1.0 + 0.3 * index, 0.5, 0.3 + 0.1 * index, 0.7);
        dBodyID b = t->body[i][index] = dBodyCreate(t->world[i]);
        dBodySetMass(b, &mass);
        dBodySetPosition(b, x, y, z);
        dBodySetLinearVel(b, 0.3 * index, 0.1, -0.2);
        dBodySetAngularVel(b, 0.5, -0.4 * index, 0.3);
    }
    return index;
}

static void keep(Twin* t, dJointID a, dJointID b)
{
    t->joint[0][t->joints] = a, t->joint[1][t->joints] = b;
    dJointSetFeedback(a, &t->feedback[0][t->joints]);
    dJointSetFeedback(b, &t->feedback[1][t->joints]);
    t->joints++;
}

/* A joint of a kind between two bodies, -1: the world; `set` once it is attached. */
#define JOINT(t, Kind, first, second, ...)                                                                         \
    do {                                                                                                           \
        dJointID made[2];                                                                                          \
        for (int w = 0; w < 2; w++) {                                                                              \
            dJointID j = made[w] = dJointCreate##Kind((t)->world[w], NULL);                                        \
            dJointAttach(j, (first) < 0 ? NULL : (t)->body[w][first], (second) < 0 ? NULL : (t)->body[w][second]); \
            __VA_ARGS__;                                                                                           \
        }                                                                                                          \
        keep(t, made[0], made[1]);                                                                                 \
    } while (0)

static void copyState(Twin* t)
{
    for (int i = 0; i < t->bodies; i++) {
        const dBodyID from = t->body[0][i], to = t->body[1][i];
        const dReal *x = dBodyGetPosition(from), *v = dBodyGetLinearVel(from), *w = dBodyGetAngularVel(from);
        dQuaternion q;
        memcpy(q, dBodyGetQuaternion(from), sizeof q);
        dBodySetQuaternion(from, q), dBodySetQuaternion(to, q); /* both normalise it */
        dBodySetPosition(to, x[0], x[1], x[2]);
        dBodySetLinearVel(to, v[0], v[1], v[2]), dBodySetAngularVel(to, w[0], w[1], w[2]);
    }
}

static double largestOf(const dReal* a, int count)
{
    double largest = 0;
    for (int k = 0; k < count; k++) largest = fmax(largest, fabs(a[k]));
    return largest;
}

static double differenceOf(const dReal* a, const dReal* b, int count)
{
    double largest = 0;
    for (int k = 0; k < count; k++)
        if (!(fabs(a[k] - b[k]) <= largest)) largest = fabs(a[k] - b[k]);
    return largest;
}

/* By the largest velocity there is; 1 where everything rests. */
static double stepDifference(Twin* t, double h)
{
    double difference = 0, scale = 1;
    copyState(t);
    PC_EXPECT_STATUS(PC_OK, pcWorldStep(t->world[0], h));
    dWorldStep(t->world[1], h);
    for (int i = 0; i < t->bodies; i++) {
        const dBodyID a = t->body[0][i], b = t->body[1][i];
        scale = fmax(scale, fmax(largestOf(dBodyGetLinearVel(b), 3), largestOf(dBodyGetAngularVel(b), 3)));
        double d[4] = {
            differenceOf(dBodyGetLinearVel(a), dBodyGetLinearVel(b), 3), differenceOf(dBodyGetAngularVel(a), dBodyGetAngularVel(b), 3),
            differenceOf(dBodyGetPosition(a), dBodyGetPosition(b), 3), differenceOf(dBodyGetQuaternion(a), dBodyGetQuaternion(b), 4)};
        for (int k = 0; k < 4; k++)
            if (!(d[k] <= difference)) difference = d[k];
    }
    return difference / scale;
}

static void expectNoFallBack(const Twin* t)
{
    pcWorldReportExtra extra;
    PC_ASSERT_STATUS(PC_OK, pcWorldReportMore(t->world[0], &extra));
    if (extra.nativeSteps) PC_FAIL("%d of %d steps were native: %s", extra.nativeSteps, extra.steps, extra.reason);
    PC_EXPECT_EQ_INT(0, extra.untranslated);
}

static double feedbackDifference(const Twin* t)
{
    double difference = 0, scale = 1;
    for (int i = 0; i < t->joints; i++) {
        const dJointFeedback *a = &t->feedback[0][i], *b = &t->feedback[1][i];
        const dReal *x[4] = {a->f1, a->t1, a->f2, a->t2}, *y[4] = {b->f1, b->t1, b->f2, b->t2};
        for (int k = 0; k < 4; k++) {
            difference = fmax(difference, differenceOf(x[k], y[k], 3));
            scale = fmax(scale, largestOf(y[k], 3));
        }
    }
    return difference / scale;
}

/* So many steps, each from the same state in both worlds. */
static void run(Twin* t, int steps, double h, double tolerance)
{
    double worst = 0, worstFeedback = 0;
    for (int i = 0; i < steps; i++) {
        double d = stepDifference(t, h);
        if (!(d <= worst)) worst = d;
        worstFeedback = fmax(worstFeedback, feedbackDifference(t));
    }
    PC_EXPECT_LE(worst, tolerance);
    PC_EXPECT_LE(worstFeedback, 1e3 * tolerance);
    expectNoFallBack(t);
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
            begin(&t);
            int a = addBody(&t, 0, 0, 0), b = addBody(&t, 1, 0, 0);
            kinds[kind].make(&t, sides == 2 ? -1 : a, sides == 0 ? b : sides == 1 ? -1 : a, powered);
            run(&t, 100, H, 1e-10);
            end(&t);
        }
}
