/* The robot hand of S section 4: it closes on the glass and loses it; without stabilization joints drift past 5 mm, with it they do not. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "adapters/sdf/stage.h"

static const double LIMIT = 0.005; /* where the paper's simulation ends */

typedef struct Grasp {
    double contact, joint; /* most of the play, lengths; contact penetration and |Theta| */
    double residual, push; /* push: most impulse of a finger on the glass */
    double moved;          /* the glass, away from the palm */
    int fingers;           /* that touched it */
    int native;
} Grasp;

static dBodyID bodyOf(const pcStage* stage, const char* name)
{
    for (int i = 0; i < stage->bodies; i++)
        if (strcmp(stage->body[i].name, name) == 0) return stage->body[i].body;
    return NULL;
}

static double impulseBetween(const pcStage* stage, dBodyID a, dBodyID b)
{
    enum { MOST = 512 };
    static pcWorldContact contact[MOST];
    double sum = 0.0;
    int count = 0;
    if (pcWorldContacts(stage->world, contact, MOST, &count) != PC_OK) return 0.0;
    for (int i = 0; i < count && i < MOST; i++) {
        bool both = (contact[i].body1 == a && contact[i].body2 == b) || (contact[i].body1 == b && contact[i].body2 == a);
        if (both) sum += hypot(hypot(contact[i].impulse[0], contact[i].impulse[1]), contact[i].impulse[2]);
    }
    return sum;
}

static void watch(const pcStage* stage, Grasp* g, bool touched[3])
{
    static const char* const tips[] = {"hand::upper_far", "hand::lower_far", "hand::thumb_far"};
    pcStepReport report;
    pcWorldReportExtra extra;
    PC_ASSERT_STATUS(PC_OK, pcWorldReport(stage->world, &report));
    PC_ASSERT_STATUS(PC_OK, pcWorldReportMore(stage->world, &extra));
    g->contact = fmax(g->contact, report.penetration), g->joint = fmax(g->joint, report.infeasibilityJoint);
    g->residual = fmax(g->residual, report.residual);
    g->native = extra.nativeSteps;
    for (int i = 0; i < 3; i++) {
        double push = impulseBetween(stage, bodyOf(stage, tips[i]), bodyOf(stage, "glass::body"));
        g->push = fmax(g->push, push);
        touched[i] |= push > 0.0;
    }
}

static Grasp play(const char* settings)
{
    pcScene* scene = NULL;
    pcStage* stage = NULL;
    pcSettings chosen;
    Grasp g = {0};
    bool touched[3] = {false};
    pcStatus status = pcSceneRead(PCONTACT_TEST_WORLDS "/papers/hand.world", &scene);
    if (status == PC_OK) status = pcStageMake(scene, &stage);
    if (status == PC_OK) chosen = stage->settings, status = pcSettingsParse(&chosen, settings);
    if (status == PC_OK) status = pcStageAttach(stage, &chosen);
    PC_EXPECT_STATUS(PC_OK, status);
    if (status == PC_OK) {
        PC_EXPECT_EQ_INT(6, stage->joints);
        PC_EXPECT_NEAR(0.0025, stage->step, 0.0);
        double start = dBodyGetPosition(bodyOf(stage, "glass::body"))[0];
        for (int i = 0; i < (int)round(stage->time / stage->step); i++) {
            PC_EXPECT_STATUS(PC_OK, pcStageStep(stage, stage->step));
            watch(stage, &g, touched);
        }
        g.moved = dBodyGetPosition(bodyOf(stage, "glass::body"))[0] - start;
        g.fingers = touched[0] + touched[1] + touched[2];
    }
    pcStageFree(stage);
    pcSceneFree(scene);
    return g;
}

/* It touched the glass with its fingers, lost it, and every step was solved. */
static void checkStory(const Grasp* g)
{
    PC_EXPECT_EQ_INT(3, g->fingers);
    PC_EXPECT_GT(g->push, 1e-4);
    PC_EXPECT_GT(g->moved, 0.05);
    PC_EXPECT_LT(g->moved, 0.5);
    PC_EXPECT_LE(g->residual, 1e-10);
    PC_EXPECT_EQ_INT(0, g->native);
}

PC_TEST(Hand, DriftsPastTheLimitWithoutStabilization)
{
    Grasp g = play("gamma=0");
    checkStory(&g);
    PC_EXPECT_GT(fmax(g.contact, g.joint), LIMIT);
    PC_EXPECT_LT(fmax(g.contact, g.joint), 10 * LIMIT);
}

PC_TEST(Hand, StaysWithinTheLimitWithStabilization)
{
    Grasp slow = play("gamma=0.2"), fast = play("gamma=1");
    PC_CASE("gamma 0.2");
    checkStory(&slow);
    PC_EXPECT_LT(fmax(slow.contact, slow.joint), 0.5 * LIMIT);
    PC_CASE("gamma 1");
    checkStory(&fast);
    PC_EXPECT_LT(fmax(fast.contact, fast.joint), 0.2 * LIMIT);
    PC_EXPECT_LT(fast.joint, slow.joint);
}
