/* Worlds of one or two bodies whose motion is known. */
#include <math.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/scene.h"

static const double unitCube[3] = {1, 1, 1};

PC_TEST(StepWorlds, BoxAtRestStaysWhereItIs)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 0.5, unitCube, 2);
    sceneRun(&s, 1000);
    const double* x = s.body[box].pose.position;
    PC_EXPECT_NEAR(0, x[0], 1e-9);
    PC_EXPECT_NEAR(0, x[1], 1e-9);
    PC_EXPECT_NEAR(0.5, x[2], 1e-9);
    PC_EXPECT_EQ_INT(4, s.result.contactCount);
    PC_EXPECT_LE(s.result.report.residual, 1e-9);
    PC_EXPECT_LE(s.result.report.energyError, 1e-9);
    sceneEnd(&s);
}
