/* The grasp map of G section 6.4: the piece has the shape that the paper gives, and is caught or lost where statics say so. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "adapters/sweep/share.h"
#include "adapters/sweep/summary.h"
#include "adapters/sweep/trial.h"

static const double RADIUS = 0.02075; /* of the disc, and of the circle that the teeth stand on */

static pcScene* readGrasp(void)
{
    pcScene* scene = NULL;
    PC_EXPECT_STATUS(PC_OK, pcSceneRead(PCONTACT_TEST_WORLDS "/papers/grasp.world", &scene));
    return scene;
}

static const pcSceneCollision* collisionOf(const pcScene* scene, const char* name)
{
    for (int i = 0; i < scene->collisions; i++)
        if (strcmp(scene->collision[i].name, name) == 0) return scene->collision + i;
    return NULL;
}

/* G 57 with the six angles of the paper. */
PC_TEST(Grasp, TeethAreTheSuperellipsesOfThePaper)
{
    static const double angle[6] = {4.103727, 4.253125, 4.402522, 5.022255, 5.171653, 5.321051};
    pcScene* scene = readGrasp();
    PC_ASSERT_TRUE(scene != NULL);
    const pcSceneCollision *teeth = collisionOf(scene, "gear::body::teeth"), *disc = collisionOf(scene, "gear::body::disc");
    PC_ASSERT_TRUE(teeth && disc && teeth->shape.pieces == 6);
    PC_EXPECT_NEAR(RADIUS, disc->shape.size[0], 0.0);
    for (int i = 0; i < 6; i++) {
        const pcScenePoints* tooth = teeth->shape.piece + i;
        double c = cos(angle[i]), s = sin(angle[i]);
        int outline = 0;
        for (int k = 0; k < tooth->count; k++) {
            const double* p = tooth->xyz + 3 * k;
            double dx = 1e3 * (p[0] - RADIUS * c), dy = 1e3 * (p[1] - RADIUS * s); /* millimetres */
            double out = c * dx + s * dy, across = c * dy - s * dx;
            if (p[2] != 0.0) continue;
            outline++;
            PC_EXPECT_NEAR(1.0, pow(out / 2.3, 4) + pow(across / 1.1, 4), 1e-4);
        }
        PC_EXPECT_EQ_INT(24, outline);
    }
    pcSceneFree(scene);
}

/* The plan of the file with other places and frictions. */
static pcPlan* graspPlan(const pcScene* scene, const char* const* vary, int count)
{
    const char *measure[4], *success = NULL;
    int measures = 0;
    double rest = 0.0;
    pcPlan* plan = NULL;
    for (int i = 0; i < scene->physics.options; i++) {
        const pcSceneOption* o = scene->physics.option + i;
        if (strcmp(o->name, "measure") == 0 && measures < 4) measure[measures++] = o->value;
        if (strcmp(o->name, "success") == 0) success = o->value;
        if (strcmp(o->name, "rest") == 0) PC_EXPECT_TRUE(pcNumberRead(o->value, &rest));
    }
    pcSweepOrder order = {
        .world = "grasp", .scene = scene, .settings = "", .rest = rest, .varies = count, .vary = vary, .trials = 1, .seed = 1};
    order.measure = measure, order.measures = measures, order.success = success;
    PC_EXPECT_STATUS(PC_OK, pcPlanMake(&order, &plan));
    return plan;
}

/* From (x, y) millimetres, with friction mu at the jaws: 1 caught, 0 not. */
static int isCaught(const pcScene* scene, double x, double y, double mu)
{
    char text[3][64];
    const char* vary[] = {text[0], text[1], text[2]};
    double row[PC_SWEEP_COLUMNS];
    char reason[PC_TRIAL_REASON];
    pcTrialRunner* runner = NULL;
    snprintf(text[0], sizeof text[0], "gripper.x=%.9g", 1e-3 * x);
    snprintf(text[1], sizeof text[1], "gripper.y=%.9g", 1e-3 * y);
    snprintf(text[2], sizeof text[2], "gripper.mu=%.9g", mu);
    pcPlan* plan = graspPlan(scene, vary, 3);
    if (!plan || pcTrialRunnerMake(plan, &runner) != PC_OK) return -1;
    pcTrialRun(runner, 0, row, reason);
    PC_EXPECT_EQ_INT(PC_TRIAL_OK, (int)row[pcPlanColumn(plan, PC_COLUMN_STATUS)]);
    PC_EXPECT_LE(row[pcPlanColumn(plan, PC_COLUMN_RESIDUAL)], 1e-8); /* the tolerance of the file */
    int caught = (int)row[pcPlanColumn(plan, PC_COLUMN_SUCCESS)];
    pcTrialRunnerFree(runner);
    pcPlanFree(plan);
    return caught;
}

/* Two fingertips that press a disc from both sides, y below its centre: the forces can balance without moving it if both lie within the
 * friction cones, that is mu >= tan(asin(y / R)); else it is squeezed out, upwards, onto the teeth. The table takes 0.13 N of 10 N. */
PC_TEST(Grasp, TheDiscIsSqueezedOutExactlyWhereFrictionCannotHoldIt)
{
    pcScene* scene = readGrasp();
    PC_ASSERT_TRUE(scene != NULL);
    for (double y = -4.0; y >= -12.0; y -= 4.0) {
        double limit = tan(asin(-1e-3 * y / RADIUS));
        PC_CASE("y %g, limit of mu %g", y, limit);
        PC_EXPECT_EQ_INT(1, isCaught(scene, 0.0, y, 0.9 * limit));
        PC_EXPECT_EQ_INT(0, isCaught(scene, 0.0, y, 1.1 * limit));
    }
    pcSceneFree(scene);
}

PC_TEST(Grasp, SweetSpotAndThreeMillimetresAroundItSucceed)
{
    pcScene* scene = readGrasp();
    PC_ASSERT_TRUE(scene != NULL);
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++) {
            PC_CASE("%d %d", 3 * i, 3 * j - 11);
            PC_EXPECT_EQ_INT(1, isCaught(scene, 3.0 * i, -11.0 + 3.0 * j, 0.2));
        }
    PC_EXPECT_EQ_INT(0, isCaught(scene, 0.0, -1.5, 0.2));  /* held by the middle */
    PC_EXPECT_EQ_INT(0, isCaught(scene, 0.0, -19.5, 0.2)); /* below the outermost teeth */
    pcSceneFree(scene);
}

/* Left and right are the same in the mirror, away from the edges of the map where rounding decides. */
PC_TEST(Grasp, TheMapIsSymmetric)
{
    static const double place[][2] = {{9.5, -8.5}, {9.5, -13.5}, {6.5, -11.5}, {4.5, -14.5}, {2.5, -18.5}, {8.5, -16.5}};
    pcScene* scene = readGrasp();
    PC_ASSERT_TRUE(scene != NULL);
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        PC_CASE("%g %g", place[i][0], place[i][1]);
        PC_EXPECT_EQ_INT(isCaught(scene, place[i][0], place[i][1], 0.15), isCaught(scene, -place[i][0], place[i][1], 0.15));
    }
    pcSceneFree(scene);
}
