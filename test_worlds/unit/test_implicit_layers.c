/* Compliant layers (G 33-40): the experiments of G 6.3, energies against what backward Euler must lose, full matrices, slip. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/implicit_worlds.h"

static ImplicitWorld w; /* too large for the stack */
static const double g = 9.81, k = 1000.0;

static void run(double until)
{
    while (w.time < until - 0.5 * w.h) PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
}

/* ---- G 6.3 ---- */

/* In continuous time: 0.5 m of free fall, then d'' = g - k d from d' = sqrt(g) until d = 0.05. By bisection on the closed form. */
static double hitTime(void)
{
    double fall = sqrt(2.0 * 0.5 / g), speed = g * fall, omega = sqrt(k), low = 0.0, high = 0.05;
    for (int i = 0; i < 60; i++) {
        double t = 0.5 * (low + high), d = speed / omega * sin(omega * t) + g / k * (1.0 - cos(omega * t));
        *(d < 0.05 ? &low : &high) = t;
    }
    return fall + low;
}

PC_TEST(ImplicitLayers, CoreIsHitWhenTheLayerIsUsedUp)
{
    double hit = 0.0, deepest = 0.0, after = 0.0, lowest = HUGE_VAL, highest = 0.0;
    implicitLayered(&w, 1e-4, 0.05, PC_SCHEME_EULER);
    while (w.time < 0.8) {
        PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
        if (hit > 0.0 && w.time < hit + 2.5 * w.h) after = w.body[0].velocity[2];
        if (w.result.report.coreImpulse > 1.0) hit = w.time;
        deepest = fmax(deepest, 1.0 - w.body[0].pose.position[2]);
        if (hit > 0.0 && w.time > hit + 0.01)
            lowest = fmin(lowest, w.body[0].pose.position[2]), highest = fmax(highest, w.body[0].pose.position[2]);
        PC_ASSERT_EQ_INT(0, w.result.report.step.fallbacks);
        PC_ASSERT_TRUE(w.result.report.step.residual <= 1e-10);
    }
    PC_EXPECT_NEAR(0.34, hit, 0.005);
    PC_EXPECT_NEAR(hitTime(), hit, 5e-4);
    PC_EXPECT_NEAR(0.05, deepest, 1e-9); /* never deeper than the core */
    PC_EXPECT_NEAR(0.0, after, 0.01);    /* stopped, once the way that was left in the step of the hit is done */
    PC_EXPECT_GT(highest, 1.01); /* and thrown back by the spring, which holds k 0.05^2 / 2 - m g 0.05 = 0.76 J: to 0.077 above the floor */
    PC_EXPECT_NEAR(1.0 + (0.5 * k * 0.05 * 0.05 - g * 0.05) / g, highest, 2e-3);
    PC_EXPECT_GT(lowest, 0.95 - 1e-9);
    implicitWorldEnd(&w);
}

PC_TEST(ImplicitLayers, DeepLayerNeverShowsItsCore)
{
    double core = 0.0, deepest = 0.0, jump = 0.0, before = 0.0;
    implicitLayered(&w, 1e-4, 1.0, PC_SCHEME_EULER);
    while (w.time < 1.0) {
        PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
        core = fmax(core, w.result.report.coreImpulse), deepest = fmax(deepest, 1.0 - w.body[0].pose.position[2]);
        jump = fmax(jump, fabs(w.body[0].velocity[2] - before)), before = w.body[0].velocity[2];
    }
    PC_EXPECT_NEAR(0.0, core, 0.0);
    PC_EXPECT_NEAR(g / k + sqrt(g * g / (k * k) + 2.0 * g * 0.5 / k), deepest, 1e-3); /* of the energy */
    PC_EXPECT_LE(jump, 1e-4 * (k * deepest) + 1e-9);                                  /* smooth: only the spring and gravity act */
    implicitWorldEnd(&w);
}

/* ---- energy ---- */

/* Backward Euler loses g^2 h t / 2 per kg in flight. */
PC_TEST(ImplicitLayers, FlightLosesWhatBackwardEulerMust)
{
    double loss[2];
    for (int i = 0; i < 2; i++) {
        double h = 1e-4 * (1 << i);
        implicitLayered(&w, h, 1.0, PC_SCHEME_EULER);
        double start = implicitLayerEnergy(&w);
        run(0.3);
        loss[i] = start - implicitLayerEnergy(&w);
        PC_CASE("h=%g", h);
        PC_EXPECT_REL(0.5 * g * g * h * w.time, loss[i], 0.05);
        implicitWorldEnd(&w);
    }
    PC_EXPECT_REL(2.0, loss[1] / loss[0], 0.05);
}

/* And e^(-h omega^2 t) of the oscillation on the spring: from rest 4 mm above where it would lie, so that it never leaves the floor. */
PC_TEST(ImplicitLayers, SpringLosesWhatBackwardEulerMust)
{
    double rest = g / k, loss[2];
    for (int i = 0; i < 2; i++) {
        double h = 1e-4 * (1 << i);
        implicitLayered(&w, h, 1.0, PC_SCHEME_EULER);
        w.body[0].pose.position[2] = 1.0 - rest + 0.004;
        double bottom = 9.81 * (1.0 - rest) + 0.5 * k * rest * rest, start = implicitLayerEnergy(&w) - bottom;
        run(2.0);
        double left = (implicitLayerEnergy(&w) - bottom) / start;
        PC_CASE("h=%g", h);
        PC_EXPECT_REL(h * k * w.time, -log(left), 0.05);
        loss[i] = -log(left);
        implicitWorldEnd(&w);
    }
    PC_EXPECT_REL(2.0, loss[1] / loss[0], 0.05);
}

/* The midpoint rule keeps 1e-5 J, through bounces, and in the first experiment after the core was hit. */
PC_TEST(ImplicitLayers, MidpointKeepsTheEnergy)
{
    for (int i = 0; i < 2; i++) {
        double worst = 0.0, kept = 0.0;
        bool hit = false;
        PC_CASE("deepest=%g", i ? 0.05 : 1.0);
        implicitLayered(&w, 1e-4, i ? 0.05 : 1.0, PC_SCHEME_MIDPOINT);
        double start = implicitLayerEnergy(&w);
        while (w.time < 2.0) {
            PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
            if (i == 1 && w.result.report.coreImpulse > 0.0) hit = true, start = implicitLayerEnergy(&w);
            worst = fmax(worst, fabs(implicitLayerEnergy(&w) - start)), kept = implicitLayerEnergy(&w);
            if (i == 1 && w.result.report.coreImpulse > 0.0) worst = 0.0;
        }
        PC_EXPECT_LE(worst, 1e-5);
        PC_EXPECT_NEAR(start, kept, 1e-5);
        PC_EXPECT_TRUE(hit == (i == 1));
        implicitWorldEnd(&w);
    }
}

/* ---- matrices ---- */

/* A block on a layered floor, pulled along x by `force`: four contacts by events. */
static void block(const pcLayer* layer, double mu, double force)
{
    const double size[3] = {1.0, 1.0, 0.5}, plane[4] = {0, 0, 1, 0};
    pcShape* shape;
    pcForm *box = NULL, *floor = NULL;
    implicitWorldBegin(&w);
    PC_ASSERT_STATUS(PC_OK, pcShapeBox(size, &shape));
    PC_ASSERT_STATUS(PC_OK, pcFormOfShape(shape, &box));
    PC_ASSERT_STATUS(PC_OK, pcFormHalfSpace(plane, &floor));
    pcShapeFree(shape);
    w.h = 1e-3, w.surface.mu = mu, w.surface.direction1[0] = 1.0;
    w.layer = *layer;
    int body = implicitBody(&w, implicitOwn(&w, box), 1.0, 0.1);
    w.body[body].pose.position[2] = 0.25, w.body[body].force[0] = force;
    implicitFixed(&w, implicitOwn(&w, floor), 0, 0, 0);
    w.form[1].layer = &w.layer;
}

/* G 37 on what is reported: p = h K d + C (d - d_old), friction against the deflection. */
static void expectLaw(double before[4][3], bool sticks)
{
    for (int i = 0; i < 4; i++) {
        const pcImplicitContact* c = w.contact + i;
        double d[3] = {fmax(0.0, -c->gap), c->deflection[0], c->deflection[1]}, p[3];
        for (int r = 0; r < 3; r++) {
            p[r] = 0.0;
            for (int m = 0; m < 3; m++)
                p[r] += w.h * w.layer.stiffness[3 * r + m] * d[m] + w.layer.damping[3 * r + m] * (d[m] - before[i][m]);
        }
        double scale = w.h * g;
        PC_EXPECT_NEAR(p[0], c->impulse[0], 1e-9 * scale);
        PC_EXPECT_NEAR(-p[1], c->impulse[1], 1e-9 * scale);
        PC_EXPECT_NEAR(-p[2], c->impulse[2], 1e-9 * scale);
        double friction = hypot(c->impulse[1], c->impulse[2]), most = w.surface.mu * c->impulse[0];
        PC_EXPECT_LE(friction, most * (1.0 + 1e-9));
        if (!sticks) PC_EXPECT_NEAR(most, friction, 1e-8 * most);
    }
}

static const pcLayer full = {.stiffness = {4000, 300, -200, 250, 3000, 400, -150, 350, 2500},
                             .damping = {60, 5, -3, 4, 50, 6, -2, 5, 45},
                             .deepest = 0.1,
                             .tangential = 1};

PC_TEST(ImplicitLayers, FullMatricesHoldABlock)
{
    double before[4][3], normal = 0.0, along = 0.0;
    block(&full, 0.8, 2.0);
    for (int i = 0; i < 2000; i++) {
        for (int c = 0; c < 4; c++)
            before[c][0] = fmax(0.0, -w.contact[c].gap), before[c][1] = w.contact[c].deflection[0],
            before[c][2] = w.contact[c].deflection[1];
        PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
        PC_ASSERT_EQ_INT(4, w.result.contactCount);
        PC_ASSERT_EQ_INT(0, w.result.report.step.fallbacks);
        if (i > 5) expectLaw(before, true);
    }
    for (int c = 0; c < 4; c++)
        normal += w.contact[c].impulse[0],
            along += w.contact[c].impulse[1] * w.contact[c].tangent1[0] + w.contact[c].impulse[2] * w.contact[c].tangent2[0];
    PC_EXPECT_REL(w.h * g, normal, 1e-6);  /* at rest */
    PC_EXPECT_REL(w.h * 2.0, along, 1e-6); /* on the floor, which is body 2 */
    PC_EXPECT_LE(fabs(w.body[0].velocity[0]), 1e-6);
    implicitWorldEnd(&w);
}

PC_TEST(ImplicitLayers, BlockSlidesAtTheConeOfTheLayer)
{
    double before[4][3];
    block(&full, 0.3, 6.0);
    for (int i = 0; i < 400; i++) {
        for (int c = 0; c < 4; c++)
            before[c][0] = fmax(0.0, -w.contact[c].gap), before[c][1] = w.contact[c].deflection[0],
            before[c][2] = w.contact[c].deflection[1];
        PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
        PC_ASSERT_EQ_INT(0, w.result.report.step.fallbacks);
        if (i > 200) expectLaw(before, false);
    }
    PC_EXPECT_GT(w.body[0].velocity[0], 0.5); /* (6 - 0.3 g) t / m = 1.2 m/s, less what starts it */
    implicitWorldEnd(&w);
}

/* ---- intersections (G 39-40) ---- */

/* Over the middle of a face, a layered box is a layered half-space. */
PC_TEST(ImplicitLayers, LayeredBoxGivesWayLikeALayeredFloor)
{
    double height[2];
    for (int i = 0; i < 2; i++) {
        implicitLayered(&w, 1e-3, 0.2, PC_SCHEME_EULER);
        if (i == 1) {
            const double planes[24] = {1, 0, 0, 3, -1, 0, 0, 3, 0, 1, 0, 3, 0, -1, 0, 3, 0, 0, 1, 0, 0, 0, -1, 2};
            pcForm* box = NULL;
            PC_ASSERT_STATUS(PC_OK, pcFormPolyhedron(planes, 6, &box));
            w.form[1].form = implicitOwn(&w, box);
        }
        run(0.5);
        height[i] = w.body[0].pose.position[2];
        PC_EXPECT_LE(w.result.report.step.residual, 1e-10);
        implicitWorldEnd(&w);
    }
    PC_EXPECT_NEAR(height[0], height[1], 1e-9);
}

/* On an edge of a layered box two of its functions are active. The ball lies there as deep as the spring has it, or on the core, and what pushes
 * is the law of the layer in every step. */
PC_TEST(ImplicitLayers, BallLiesOnAnEdgeOfALayeredBox)
{
    const double c = sqrt(0.5), top = 1.0 / c, planes[24] = {c, 0, c, 1, -c, 0, c, 1, c, 0, -c, 1, -c, 0, -c, 1, 0, 1, 0, 2, 0, -1, 0, 2};
    static const double deepest[] = {0.1, 0.005};
    for (int i = 0; i < 2; i++) {
        pcForm *box = NULL, *ball = NULL;
        double before = 0.0, damping = 60.0, last = 0.0;
        PC_CASE("deepest=%g", deepest[i]);
        implicitWorldBegin(&w);
        PC_ASSERT_STATUS(PC_OK, pcFormPolyhedron(planes, 6, &box));
        PC_ASSERT_STATUS(PC_OK, pcFormSphere(0.5, &ball));
        w.h = 1e-3, w.surface.mu = 0.5;
        w.layer = (pcLayer){.stiffness = {k}, .damping = {damping}, .deepest = deepest[i]};
        implicitBody(&w, implicitOwn(&w, ball), 1.0, 0.1);
        w.body[0].pose.position[2] = top + 0.5;
        implicitFixed(&w, implicitOwn(&w, box), 0, 0, 0);
        w.form[1].layer = &w.layer;
        for (int step = 0; step < 1500; step++) {
            PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
            PC_ASSERT_EQ_INT(0, w.result.report.step.fallbacks);
            PC_ASSERT_EQ_INT(1, w.result.contactCount);
            double d = top + 0.5 - w.body[0].pose.position[2], spring = w.h * k * d + damping * (d - before);
            PC_EXPECT_LE(w.result.report.step.residual, 1e-10);
            PC_EXPECT_NEAR(d, -w.contact[0].gap, 1e-12);
            PC_EXPECT_LE(d, deepest[i] + 1e-12);
            PC_EXPECT_NEAR(spring, w.contact[0].impulse[0] - w.contact[0].core, 1e-9 * w.h * g);
            before = d, last = w.contact[0].impulse[0];
        }
        PC_EXPECT_NEAR(fmin(g / k, deepest[i]), before, 1e-10);
        PC_EXPECT_REL(w.h * g, last, 1e-9);
        PC_EXPECT_NEAR(w.h * fmax(0.0, g - k * deepest[i]), w.contact[0].core, 1e-9 * w.h * g);
        PC_EXPECT_NEAR(0.0, w.body[0].pose.position[0], 1e-12);
        implicitWorldEnd(&w);
    }
}
