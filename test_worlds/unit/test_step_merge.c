/* Bodies of several pieces, without ODE. */
#include <math.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/scene.h"

static void addPiece(Scene* s, int body, double x)
{
    pcShape* box;
    PC_ASSERT_STATUS(PC_OK, pcShapeBox((const double[3]){1, 1, 1}, &box));
    sceneShape(s, body, box);
    s->shape[s->system.shapeCount - 1].pose.position[0] = x;
}

/* A bar of three cubes in a row has four corners on the floor, and two points where its cubes meet, twice over. */
PC_TEST(StepMerge, NeighboursGiveEachContactOnce)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int bar = sceneBody(&s, (const double[3]){0, 0, 0.5}, 3, (const double[3]){0.5, 2.5, 2.5});
    for (int i = -1; i <= 1; i++) addPiece(&s, bar, i);
    for (int i = 0; i < 200; i++) {
        sceneStep(&s);
        if (s.result.contactCount != 8) PC_FAIL("step %d has %d contacts", i, s.result.contactCount);
    }
    PC_EXPECT_EQ_INT(8, s.result.report.events);
    PC_EXPECT_NEAR(0.5, s.body[bar].pose.position[2], 1e-9);
    sceneEnd(&s);
}

/* A cube on the seam of two: what lies above the seam is one contact with each, and none is lost. */
PC_TEST(StepMerge, CubeOnASeamRestsAndStays)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int bar = sceneBody(&s, (const double[3]){0, 0, 0.5}, 3, (const double[3]){0.5, 1.5, 1.5});
    addPiece(&s, bar, -0.5);
    addPiece(&s, bar, 0.5);
    int cube = sceneBox(&s, 0.1, 0.05, 1.25, (const double[3]){0.5, 0.5, 0.5}, 1);
    sceneRun(&s, 300);
    PC_EXPECT_NEAR(1.25, s.body[cube].pose.position[2], 1e-7);
    PC_EXPECT_NEAR(0.1, s.body[cube].pose.position[0], 1e-6);
    for (int i = 0; i < s.result.contactCount; i++) PC_EXPECT_NEAR(1, fabs(s.touch[i].normal[2]), 1e-9); /* no ghost at the seam */
    sceneEnd(&s);
}
