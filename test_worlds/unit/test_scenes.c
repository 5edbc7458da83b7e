/* Scenes of speed and scale in test_worlds/peers/scenes, in a short form: what must stand stands, and every step is solved. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapters/cli/play.h"
#include "adapters/gtest/pctest.h"

static pcPlayed playScene(const char* scene, const char* settings, double step, double time)
{
    char path[512];
    pcPlayed played = {0};
    snprintf(path, sizeof path, "%s/peers/scenes/%s.world", PCONTACT_TEST_WORLDS, scene);
    pcPlayPlan plan = {.file = path, .settings = settings, .step = step, .time = time};
    PC_EXPECT_STATUS(PC_OK, pcPlay(&plan, &played));
    PC_EXPECT_EQ_INT(0, played.nativeSteps);
    PC_EXPECT_EQ_INT(0, played.messages);
    PC_EXPECT_TRUE(played.finite);
    return played;
}

/* Creep, per second, over the last quarter: 1e-9 m in a minute is 1.7e-11 m/s. */
PC_TEST(Scenes, StacksAndWallsStand)
{
    static const char* const scenes[] = {"stack10", "stack10_gap", "wall55", "wall55_gap", "kapla"};
    for (int i = 0; i < 5; i++) {
        PC_CASE("%s", scenes[i]);
        pcPlayed played = playScene(scenes[i], "", 0.0, 1.0);
        PC_EXPECT_EQ_INT(0, played.inaccurate);
        PC_EXPECT_LE(played.residual, 1e-8);
        PC_EXPECT_LE(played.length.most, 1e-8);
        PC_EXPECT_LE(played.creep, 1.7e-11);
    }
}

PC_TEST(Scenes, LightBodiesCarryHeavyOnes)
{
    static const char* const scenes[] = {"stackmass", "under1e4", "under1e6"};
    for (int i = 0; i < 3; i++) {
        PC_CASE("%s", scenes[i]);
        pcPlayed played = playScene(scenes[i], "", 0.0, 2.0);
        PC_EXPECT_LE(played.residual, 1e-8);
        PC_EXPECT_LE(played.length.most, 1e-8);
        PC_EXPECT_LE(played.creep, 1.7e-11);
    }
}

PC_TEST(Scenes, DominoesFallWithEveryStepSolved)
{
    pcPlayed played = playScene("domino20", "", 0.0, 3.0);
    PC_EXPECT_EQ_INT(0, played.inaccurate);
    PC_EXPECT_LE(played.length.most, 5e-3); /* what turns by 0.05 in a step is off its tangent by that squared */
    PC_EXPECT_LE(played.energyGain, 0.1);
}

/* The error of the joints is of second order: a quarter at half the step. */
PC_TEST(Scenes, LoadedChainHoldsAtSmallSteps)
{
    double coarse = playScene("chain10", "gamma=1", 0.002, 1.0).joint.most, fine = playScene("chain10", "gamma=1", 0.001, 1.0).joint.most;
    PC_EXPECT_LE(coarse, 5e-5);
    PC_EXPECT_LE(fine, 0.4 * coarse);
}

/* Ten links of 1 kg, 1000 kg at their end: at h = 0.01 every engine tears them apart, exact solvers included. */
PC_TEST(Scenes, LoadedChainHoldsAtLargeSteps)
{
    static const struct {
        const char* scene;
        double step, time, drift;
    } cases[] = {{"chain10", 0.002, 0.6, 1e-6}, {"chain10", 0.01, 1.5, 1e-3}, {"chain10_side", 0.01, 1.5, 2e-3}};
    for (int i = 0; i < 3; i++) {
        PC_CASE("%s, h = %g", cases[i].scene, cases[i].step);
        pcPlayed played = playScene(cases[i].scene, "implicitJoints=1", cases[i].step, cases[i].time);
        PC_EXPECT_LE(played.joint.most, cases[i].drift);
        PC_EXPECT_LE(played.energyGain, 1e-9 * 1000 * 9.81 * 5.0);
        PC_EXPECT_EQ_INT(0, played.inaccurate);
    }
}

/* ---- threads ---- */

static pcStage* beginStage(const char* scene, const char* settings)
{
    char path[512];
    pcScene* read;
    pcStage* stage = NULL;
    snprintf(path, sizeof path, "%s/peers/scenes/%s.world", PCONTACT_TEST_WORLDS, scene);
    if (pcSceneRead(path, &read) != PC_OK) return NULL;
    if (pcStageMake(read, &stage) == PC_OK) {
        pcSettings chosen = stage->settings;
        PC_EXPECT_STATUS(PC_OK, pcSettingsParse(&chosen, settings));
        PC_EXPECT_STATUS(PC_OK, pcStageAttach(stage, &chosen));
    }
    pcSceneFree(read);
    return stage;
}

static bool areSame(const pcStage* a, const pcStage* b)
{
    bool same = a->bodies == b->bodies;
    for (int i = 0; same && i < a->bodies; i++) {
        dBodyID p = a->body[i].body, q = b->body[i].body;
        same = memcmp(dBodyGetPosition(p), dBodyGetPosition(q), 3 * sizeof(dReal)) == 0 &&
               memcmp(dBodyGetQuaternion(p), dBodyGetQuaternion(q), 4 * sizeof(dReal)) == 0 &&
               memcmp(dBodyGetLinearVel(p), dBodyGetLinearVel(q), 3 * sizeof(dReal)) == 0 &&
               memcmp(dBodyGetAngularVel(p), dBodyGetAngularVel(q), 3 * sizeof(dReal)) == 0;
    }
    return same;
}

PC_TEST(Scenes, TwoThreadsGiveTheSameBits)
{
    static const struct {
        const char *scene, *settings;
        int steps;
    } cases[] = {
        {"domino20", "", 90}, {"wall55_gap", "", 12}, {"ragdolls", "", 40}, {"ragdolls", "implicitJoints=1", 40}, {"pile300", "", 25}};
    for (int i = 0; i < 5; i++) {
        PC_CASE("%s %s", cases[i].scene, cases[i].settings);
        char two[64];
        snprintf(two, sizeof two, "%s threads=2", cases[i].settings);
        pcStage *one = beginStage(cases[i].scene, cases[i].settings), *other = beginStage(cases[i].scene, two);
        PC_ASSERT_TRUE(one && other);
        for (int step = 0; step < cases[i].steps; step++) {
            PC_EXPECT_STATUS(PC_OK, pcStageStep(one, 0.01));
            PC_EXPECT_STATUS(PC_OK, pcStageStep(other, 0.01));
        }
        PC_EXPECT_TRUE(areSame(one, other));
        pcStageFree(one), pcStageFree(other);
    }
}
