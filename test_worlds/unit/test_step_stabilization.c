/* Bodies that are where they cannot be: how fast they come apart, and that nothing is thrown. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "base/vec.h"
#include "test_worlds/unit/scene.h"

/* ---- stabilization ---- */

/* Depth of a ball after so many steps that begins 1e-4 deep: gamma^2 |d| < g h^2, so that nothing is thrown. */
static double depthAfter(Scene* s, int steps)
{
    sceneFloor(s);
    int ball = sceneSphere(s, 0, 0, 0.1 - 1e-4, 0.1, 1);
    sceneRun(s, steps);
    double depth = 0.1 - s->body[ball].pose.position[2];
    sceneEnd(s);
    return depth;
}

PC_TEST(StepWorlds, PenetrationDecaysByOneMinusGamma)
{
    Scene s;
    sceneBegin(&s);
    s.settings.gamma = 0.3;
    PC_EXPECT_REL(1e-4 * pow(0.7, 10), depthAfter(&s, 10), 1e-4);
    sceneBegin(&s);
    s.settings.gamma = 0;
    PC_EXPECT_REL(1e-4, depthAfter(&s, 10), 1e-8);
    for (double gamma = 1; gamma <= 2; gamma += 0.5) { /* all of it in one step; beyond 1 the ball comes out as far as it is too much */
        PC_CASE("gamma=%g", gamma);
        sceneBegin(&s);
        s.settings.gamma = gamma;
        PC_EXPECT_NEAR(1e-4 * (1 - gamma), depthAfter(&s, 1), 1e-12);
    }
    sceneBegin(&s);
    PC_EXPECT_REL(1e-4 * pow(0.8, 10), depthAfter(&s, 10), 1e-4);
    sceneBegin(&s);
    s.settings.adaptiveGamma = 1;
    PC_EXPECT_NEAR(0, depthAfter(&s, 1), 1e-12);
}

/* Deep: as fast as can be without leaving the ground. */
PC_TEST(StepWorlds, AdaptiveGammaDoesNotThrow)
{
    Scene s;
    sceneBegin(&s);
    s.settings.adaptiveGamma = 1;
    sceneFloor(&s);
    int ball = sceneSphere(&s, 0, 0, 0.06, 0.1, 1);
    double highest = 0;
    for (int i = 0; i < 200; i++) {
        sceneStep(&s);
        highest = larger(highest, s.body[ball].pose.position[2]);
    }
    PC_EXPECT_LE(highest, 0.1 + 1e-9);
    PC_EXPECT_NEAR(0.1, s.body[ball].pose.position[2], 1e-6);
    sceneEnd(&s);
}

/* v + s c = 0 and v = -g h + c. */
PC_TEST(StepWorlds, SoftContactYields)
{
    Scene s;
    sceneBegin(&s);
    int body = sceneBody(&s, (const double[3]){0, 0, 0}, 1, unitCube);
    sceneContact(&s, body, (const double[3]){0, 0, 0}, 0)->surface.softness = 0.25;
    sceneStep(&s);
    PC_EXPECT_NEAR(-0.25 * 0.1 / 1.25, s.body[body].velocity[2], 1e-10);
    PC_EXPECT_NEAR(0.1 / 1.25, s.touch[0].impulse[0], 1e-10);
    sceneEnd(&s);
}

/* The other gaps agree with the length where bodies touch. */
PC_TEST(StepWorlds, BoxRestsWithEveryGap)
{
    for (int gap = 0; gap < 3; gap++) {
        PC_CASE("gap=%d", gap);
        Scene s;
        sceneBegin(&s);
        s.settings.gap = (pcGapKind)gap;
        sceneFloor(&s);
        int lower = sceneBox(&s, 0, 0, 0.5, unitCube, 1), upper = sceneBox(&s, 0.2, 0, 1.5, unitCube, 1);
        sceneRun(&s, 50);
        sceneExpectPlace(&s, lower, 0, 0, 0.5, 1e-7);
        sceneExpectPlace(&s, upper, 0.2, 0, 1.5, 1e-7);
        sceneEnd(&s);
    }
}

/* Shapes whose centres coincide have no direction apart; they come apart all the same. */
PC_TEST(StepWorlds, CoincidentBoxesComeApart)
{
    Scene s;
    sceneBegin(&s);
    memset(s.system.gravity, 0, sizeof s.system.gravity);
    sceneBox(&s, 0, 0, 0, unitCube, 1), sceneBox(&s, 0, 0, 0, unitCube, 1);
    sceneRun(&s, 100);
    v3 apart = v3Sub(v3Load(s.body[0].pose.position), v3Load(s.body[1].pose.position));
    PC_EXPECT_GT(v3Max(apart), 0.99);
    sceneEnd(&s);
}

PC_TEST(StepWorlds, LayerIsKeptFree)
{
    Scene s;
    sceneBegin(&s);
    s.settings.layer = 0.005;
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 0.51, unitCube, 2);
    sceneRun(&s, 100);
    PC_EXPECT_NEAR(0.505, s.body[box].pose.position[2], 1e-6);
    sceneEnd(&s);
}

/* Nothing slows a box before it touches; the papers' form does (gamma times a positive gap). */
PC_TEST(StepWorlds, FallIsFreeUntilItTouches)
{
    for (int paper = 0; paper < 2; paper++) {
        PC_CASE("paper=%d", paper);
        Scene s;
        sceneBegin(&s);
        s.settings.gammaGap = paper ? PC_GAMMA_PAPER : PC_GAMMA_TOUCH, s.settings.gamma = 0.3;
        sceneFloor(&s);
        int ball = sceneSphere(&s, 0, 0, 0.1 + 0.02, 0.1, 1);
        s.body[ball].velocity[2] = -2;
        sceneStep(&s);
        PC_EXPECT_NEAR(paper ? -0.3 * 0.02 / s.h : -2, s.body[ball].velocity[2], 1e-9);
        sceneEnd(&s);
    }
}

/* What cannot be met must not cost what can: the velocity between two drives that contradict each other, and the floor still holds. */
PC_TEST(StepWorlds, ContradictoryDrivesDoNotSwitchTheFloorOff)
{
    static const pcSolver solvers[] = {PC_SOLVER_AUTO, PC_SOLVER_LEMKE, PC_SOLVER_FIXEDPOINT, PC_SOLVER_MINMAP, PC_SOLVER_SPARSE};
    for (int i = 0; i < 5; i++) {
        PC_CASE("solver %d", (int)solvers[i]);
        Scene s;
        sceneBegin(&s);
        s.settings.solver = solvers[i];
        int body = sceneBody(&s, (const double[3]){0, 0, 0}, 1, (const double[3]){1, 1, 1});
        s.body[body].velocity[1] = 1, s.body[body].velocity[2] = -1;
        sceneContact(&s, body, (const double[3]){0, 0, 0}, 0.0);
        for (int k = 0; k < 2; k++) {
            pcRow* row = sceneRow(&s, PC_WORLD, body);
            row->jacobian[6] = 1, row->target = k ? 1 : -2;
        }
        sceneStep(&s);
        PC_EXPECT_TRUE(s.result.report.outcome != PC_SOLVED);
        PC_EXPECT_NEAR(-0.5, s.body[body].velocity[0], 1e-6);
        PC_EXPECT_NEAR(0.0, s.body[body].velocity[2], 1e-6);
        PC_EXPECT_NEAR(1.1, s.touch[0].impulse[0], 1e-6);
        PC_EXPECT_LE(fabs(s.rowImpulse[0]) + fabs(s.rowImpulse[1]), 10.0);
        sceneEnd(&s);
    }
}

/* A slot 2 mm too narrow: no velocity separates both walls, but friction holds the box. */
PC_TEST(StepWorlds, BoxInATooNarrowSlotIsHeld)
{
    static const pcSolver solvers[] = {PC_SOLVER_AUTO, PC_SOLVER_LEMKE, PC_SOLVER_SPARSE};
    for (int i = 0; i < 3; i++) {
        PC_CASE("solver %d", (int)solvers[i]);
        Scene s;
        sceneBegin(&s);
        s.settings.solver = solvers[i];
        sceneBox(&s, 0, 0, 0, unitCube, 2);
        pcShape *left, *right;
        PC_ASSERT_EQ_INT(PC_OK, pcShapeHalfSpace((const double[4]){1, 0, 0, -0.499}, &left));
        PC_ASSERT_EQ_INT(PC_OK, pcShapeHalfSpace((const double[4]){-1, 0, 0, -0.499}, &right));
        sceneShape(&s, PC_WORLD, left), sceneShape(&s, PC_WORLD, right);
        sceneRun(&s, 50);
        PC_EXPECT_NEAR(0.0, s.body[0].pose.position[2], 1e-6);
        PC_EXPECT_NEAR(0.0, s.body[0].pose.position[0], 1e-6);
        sceneEnd(&s);
    }
}
