/* Forms: functions with their derivatives, what is refused, unions; and the implicit step through pcSystem. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "implicit/form.h"
#include "test_worlds/unit/implicit_worlds.h"

static ImplicitWorld w; /* too large for the stack */
static const pcPose origin = {{0, 0, 0}, {1, 0, 0, 0}};
static const double semi[3] = {0.5, 0.8, 1.1};

/* ---- derivatives ---- */

static void expectDerivatives(const pcFunction* f, v3 x)
{
    const double e = 1e-5;
    pcJet jet = pcFunctionAt(f, x);
    double g[3], scale = 1.0 + v3Norm(jet.g);
    v3Store(g, jet.g);
    PC_EXPECT_NEAR(jet.f, pcFunctionValue(f, x), 1e-14 * scale);
    for (int k = 0; k < 3; k++) {
        v3 d = {k == 0 ? e : 0, k == 1 ? e : 0, k == 2 ? e : 0};
        pcJet up = pcFunctionAt(f, v3Add(x, d)), down = pcFunctionAt(f, v3Sub(x, d));
        PC_EXPECT_NEAR((up.f - down.f) / (2 * e), g[k], 1e-7 * scale);
        double column[3];
        v3Store(column, v3Scale(0.5 / e, v3Sub(up.g, down.g)));
        for (int i = 0; i < 3; i++) PC_EXPECT_NEAR(column[i], jet.curved ? jet.H[3 * i + k] : 0.0, 1e-6 * scale * 10.0);
    }
}

/* By differences, in and around the body, turned and moved as parts of an intersection are. */
PC_TEST(ImplicitForms, GradientsAndHessiansAreTheDerivatives)
{
    pcForm* form[5];
    PC_ASSERT_STATUS(PC_OK, pcFormSphere(0.7, form));
    PC_ASSERT_STATUS(PC_OK, pcFormEllipsoid(semi, form + 1));
    PC_ASSERT_STATUS(PC_OK, pcFormSuperellipsoid(semi, 2.7, 4.5, form + 2));
    PC_ASSERT_STATUS(PC_OK, pcFormCylinder(0.6, 1.2, form + 3));
    PC_ASSERT_STATUS(PC_OK, pcFormCapsule(0.4, 1.0, form + 4));
    const pcPose turned = {{0.2, -0.1, 0.3}, {0.8, 0.2, -0.5, 0.3}};
    for (int i = 0; i < 5; i++) {
        const pcForm* part = form[i];
        const double inside[3] = {0.2, -0.1, 0.3};
        pcForm* moved;
        PC_ASSERT_STATUS(PC_OK, pcFormIntersection(&part, &turned, 1, inside, &moved));
        for (int n = 0; n < 40; n++) {
            v3 x = {sin(1.3 * n + 0.3) * 1.2, cos(0.7 * n + 0.1) * 1.1, sin(2.1 * n + 0.2) * 1.3};
            PC_CASE("form %d, point %d", i, n);
            for (int k = 0; k < form[i]->piece->count; k++) expectDerivatives(form[i]->piece->function + k, x);
            for (int k = 0; k < moved->piece->count; k++) expectDerivatives(moved->piece->function + k, x);
        }
        pcFormFree(moved);
    }
    for (int i = 0; i < 5; i++) pcFormFree(form[i]);
}

PC_TEST(ImplicitForms, ValueIsZeroOnTheSurface)
{
    pcForm* form;
    PC_ASSERT_STATUS(PC_OK, pcFormSuperellipsoid(semi, 3.0, 5.0, &form));
    double u = 0.6, v = pow(1.0 - pow(u, 3.0), 1.0 / 3.0), s = 0.7, z = pow(1.0 - pow(s, 5.0), 0.2);
    const double x[3] = {semi[0] * u * s, semi[1] * v * s, semi[2] * z}, in[3] = {0.1, 0.1, 0.1}, out[3] = {1, 1, 1};
    PC_EXPECT_NEAR(0.0, pcFormValue(form, x), 1e-14);
    PC_EXPECT_LT(pcFormValue(form, in), 0.0);
    PC_EXPECT_GT(pcFormValue(form, out), 0.0);
    pcFormFree(form);
}

/* ---- bad input ---- */

static double constant(const void* context, const double x[3], double gradient[3], double hessian[9])
{
    (void)x;
    memset(gradient, 0, 3 * sizeof *gradient), memset(hessian, 0, 9 * sizeof *hessian);
    return *(const double*)context;
}

PC_TEST(ImplicitForms, WhatIsNoBodyIsRefused)
{
    static const double positive = 1.0, inside[3], bad[3] = {0.5, -0.8, 1.1};
    const pcConvexDef outside = {constant, &positive}, none = {NULL, NULL};
    pcForm* form = NULL;
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcFormSuperellipsoid(semi, 1.5, 4.0, &form));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcFormSuperellipsoid(semi, 3.0, (double)NAN, &form));
    PC_EXPECT_TRUE(pcFormSuperellipsoid(bad, 3.0, 3.0, &form) != PC_OK);
    PC_EXPECT_TRUE(pcFormSphere(-1.0, &form) != PC_OK);
    PC_EXPECT_STATUS(PC_ERROR_CENTRE, pcFormFunctions(&outside, 1, inside, 1.0, &form));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcFormFunctions(&none, 1, inside, 1.0, &form));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcFormFunctions(&outside, 0, inside, 1.0, &form));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcFormUnion(NULL, &origin, 1, &form));
    PC_EXPECT_TRUE(form == NULL);
}

#define REFUSED(status, word, change)                        \
    do {                                                     \
        implicitDisc(&w, DISC_SPHERE, 0.01);                 \
        PC_CASE("%s", #change);                              \
        change;                                              \
        PC_EXPECT_STATUS(status, implicitWorldStep(&w));     \
        PC_EXPECT_TRUE(strstr(pcLastError(), word) != NULL); \
        implicitWorldEnd(&w);                                \
    } while (0)

PC_TEST(ImplicitForms, BadSystemsAreRefusedWithASentence)
{
    static const pcLayer soft = {.stiffness = {-1.0}, .deepest = 1.0}, flat = {.stiffness = {1.0}, .deepest = 0.0};
    REFUSED(PC_ERROR_ARGUMENT, "form 0", w.form[0].form = NULL);
    REFUSED(PC_ERROR_ARGUMENT, "body 7", w.form[0].body = 7);
    REFUSED(PC_ERROR_ARGUMENT, "quaternion", memset(w.form[0].pose.quaternion, 0, 32));
    REFUSED(PC_ERROR_NOT_FINITE, "velocity", w.body[0].velocity[2] = (double)NAN);
    REFUSED(PC_ERROR_ARGUMENT, "mass", w.body[0].mass = 0.0);
    REFUSED(PC_ERROR_ARGUMENT, "step h", w.h = 0.0);
    REFUSED(PC_ERROR_ARGUMENT, "stiffness", w.form[1].layer = &soft);
    REFUSED(PC_ERROR_ARGUMENT, "deepest", w.form[1].layer = &flat);
    REFUSED(PC_ERROR_ARGUMENT, "friction", w.surface.mu = -1.0);
    REFUSED(PC_ERROR_ARGUMENT, "turn", w.system.turn = (pcTurn)9);
}

/* ---- unions ---- */

/* A dumb-bell of two balls rolls over its own ends: a body that is not convex, on a floor, without loss and without sinking in. */
PC_TEST(ImplicitForms, UnionOfTwoBallsRolls)
{
    pcForm *ball = NULL, *pair = NULL, *floor = NULL;
    const double plane[4] = {0, 0, 1, 0};
    const pcPose place[2] = {{{0, 1.5, 0}, {1, 0, 0, 0}}, {{0, -1.5, 0}, {1, 0, 0, 0}}};
    implicitWorldBegin(&w);
    PC_ASSERT_STATUS(PC_OK, pcFormSphere(0.5, &ball));
    const pcForm* parts[2] = {implicitOwn(&w, ball), ball};
    PC_ASSERT_STATUS(PC_OK, pcFormUnion(parts, place, 2, &pair));
    PC_ASSERT_STATUS(PC_OK, pcFormHalfSpace(plane, &floor));
    int body = implicitBody(&w, implicitOwn(&w, pair), 2.0, 1.0);
    w.body[body].pose.position[2] = 0.5, w.body[body].velocity[0] = 1.0, w.body[body].velocity[4] = 2.0;
    implicitFixed(&w, implicitOwn(&w, floor), 0, 0, 0);
    for (int i = 0; i < 500; i++) {
        PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
        PC_ASSERT_EQ_INT(2, w.result.contactCount);
        PC_ASSERT_EQ_INT(0, w.result.report.step.fallbacks);
    }
    PC_EXPECT_NEAR(0.5, w.body[body].pose.position[2], 1e-10);
    PC_EXPECT_NEAR(1.0, w.body[body].velocity[0], 1e-10);
    PC_EXPECT_NEAR(5.0, w.body[body].pose.position[0], 1e-8);
    implicitWorldEnd(&w);
}

/* A lens, the intersection of two balls, falls on its rim and ends on its face: functions that are active change on the way. */
PC_TEST(ImplicitForms, LensFallsFromItsRimToItsFace)
{
    pcForm *ball = NULL, *lens = NULL, *floor = NULL;
    const double plane[4] = {0, 0, 1, 0}, inside[3] = {0, 0, 0};
    const pcPose place[2] = {{{0, 0, 0.6}, {1, 0, 0, 0}}, {{0, 0, -0.6}, {1, 0, 0, 0}}};
    double worst = 0.0;
    int fallbacks = 0;
    implicitWorldBegin(&w);
    PC_ASSERT_STATUS(PC_OK, pcFormSphere(1.0, &ball));
    const pcForm* parts[2] = {implicitOwn(&w, ball), ball};
    PC_ASSERT_STATUS(PC_OK, pcFormIntersection(parts, place, 2, inside, &lens));
    PC_ASSERT_STATUS(PC_OK, pcFormHalfSpace(plane, &floor));
    int body = implicitBody(&w, implicitOwn(&w, lens), 1.0, 0.15);
    w.body[body].pose = (pcPose){{0, 0, 0.95}, {cos(0.7), sin(0.7), 0, 0}}; /* tilted by 80 degrees */
    implicitFixed(&w, implicitOwn(&w, floor), 0, 0, 0);
    w.surface.mu = 0.8, w.surface.torsion = 0.02;
    for (int i = 0; i < 600; i++) {
        PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
        worst = fmax(worst, w.result.report.penetration), fallbacks += w.result.report.step.fallbacks;
    }
    PC_EXPECT_LE(worst, 1e-9);
    PC_EXPECT_EQ_INT(0, fallbacks);
    PC_EXPECT_LT(w.body[body].pose.position[2], 0.6); /* it is down: 0.4 flat, 0.8 on its rim */
    implicitWorldEnd(&w);
}

/* ---- through pcSystem ---- */

PC_TEST(ImplicitForms, SystemsOfShapesStepTheSameWay)
{
    const double size[3] = {1, 1, 0.5}, floor[4] = {0, 0, 1, 0};
    pcShape *box, *ground;
    pcImplicitMemory* memory;
    PC_ASSERT_STATUS(PC_OK, pcShapeBox(size, &box));
    PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace(floor, &ground));
    PC_ASSERT_STATUS(PC_OK, pcImplicitMemoryCreate(&memory));
    pcBody body = {.pose = {{0, 0, 0.25}, {1, 0, 0, 0}}, .velocity = {3}, .mass = 10, .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1.7}};
    const pcPlacedShape shapes[] = {{.shape = box, .body = 0, .pose = origin}, {.shape = ground, .body = PC_WORLD, .pose = origin}};
    pcSystem system = {.bodyCount = 1, .bodies = &body, .shapeCount = 2, .shapes = shapes, .gravity = {0, 0, -9.81}};
    pcSettings settings = pcDefaultSettings();
    PC_ASSERT_STATUS(PC_OK, pcSettingsParse(&settings, "model=implicit mu=0.5"));
    double velocity[6];
    pcPose pose;
    pcContactResult contact[8];
    for (int turn = 0; turn < 2; turn++) {
        body.pose = (pcPose){{0, 0, 0.25}, {1, 0, 0, 0}}, memset(body.velocity, 0, sizeof body.velocity), body.velocity[0] = 3.0;
        for (int i = 0; i < 100; i++) {
            pcSystemResult result = {.velocity = velocity, .pose = &pose, .contacts = contact, .contactCapacity = 8};
            PC_ASSERT_STATUS(PC_OK, pcImplicitSystemStep(&system, memory, (pcTurn)turn, &settings, 0.01, &result));
            memcpy(body.velocity, velocity, sizeof velocity), body.pose = pose;
            PC_ASSERT_EQ_INT(4, result.contactCount);
            PC_ASSERT_EQ_INT(0, result.report.fallbacks);
            PC_EXPECT_NEAR(10 * 9.81 * 0.01, contact[0].impulse[0] + contact[1].impulse[0] + contact[2].impulse[0] + contact[3].impulse[0],
                           1e-9);
        }
        /* v^2 / (2 mu g) in steps: the sum of h (v - k mu g h) while it is positive. */
        double way = 0.0;
        for (int k = 1; 3.0 - k * 0.5 * 9.81 * 0.01 > 0.0; k++) way += 0.01 * (3.0 - k * 0.5 * 9.81 * 0.01);
        PC_EXPECT_NEAR(way, body.pose.position[0], 1e-9);
        PC_EXPECT_NEAR(0.25, body.pose.position[2], 1e-10);
        PC_EXPECT_LE(fabs(velocity[0]), 1e-11);
    }
    pcImplicitMemoryFree(memory), pcShapeFree(box), pcShapeFree(ground);
}
