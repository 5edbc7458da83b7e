#include "test_worlds/unit/ode_twin.h"

#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"

/* The setters of joints with two axes complain while only one of them is set. */
static void ignore(int number, const char* text, va_list arguments) { (void)number, (void)text, (void)arguments; }

void twinBegin(Twin* t)
{
    pcSettings settings = pcDefaultSettings();
    memset(t, 0, sizeof *t);
    settings.tolerance = 1e-14;
    dInitODE2(0);
    dSetMessageHandler(ignore);
    for (int i = 0; i < 2; i++) {
        t->world[i] = dWorldCreate();
        dWorldSetGravity(t->world[i], 0.3, -0.2, -9.81);
    }
    PC_ASSERT_STATUS(PC_OK, pcWorldAttach(t->world[0], NULL, &settings));
}

void twinEnd(Twin* t)
{
    PC_EXPECT_STATUS(PC_OK, pcWorldDetach(t->world[0]));
    for (int i = 0; i < 2; i++) dWorldDestroy(t->world[i]);
    dSetMessageHandler(NULL);
    dCloseODE();
}

int twinBody(Twin* t, double x, double y, double z)
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

void twinKeep(Twin* t, dJointID a, dJointID b)
{
    t->joint[0][t->joints] = a, t->joint[1][t->joints] = b;
    dJointSetFeedback(a, &t->feedback[0][t->joints]);
    dJointSetFeedback(b, &t->feedback[1][t->joints]);
    t->joints++;
}

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

void twinExpectOurs(const Twin* t)
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

void twinRun(Twin* t, int steps, double h)
{
    for (int i = 0; i < steps; i++) {
        double d = stepDifference(t, h);
        if (!(d <= t->worst)) t->worst = d;
        t->worstFeedback = fmax(t->worstFeedback, feedbackDifference(t));
    }
}
