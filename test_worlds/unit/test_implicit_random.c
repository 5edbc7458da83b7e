/* Random contact configurations against a judge that shares nothing with the solver; `pcontact bench implicit` runs 100,000 of them. */
#include <math.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/implicit_judge.h"

enum { SEEDS = 150, ROOM = 128 };

/* Failures: an island that took the LCP step. In 150 seeds of 8 families none is expected (rate below 1 in 10,000). */
PC_TEST(ImplicitRandom, ConfigurationsAreSolvedAndTheJudgeAgrees)
{
    for (int family = 0; family < CASE_FAMILIES; family++) {
        int pushing = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            static pcImplicitContact contact[ROOM];
            double v[6 * CASE_BODIES];
            pcPose pose[CASE_BODIES];
            ImplicitCase c;
            pcImplicitResult result = {.velocity = v, .pose = pose, .contacts = contact, .contactCapacity = ROOM};
            PC_CASE("%s, seed %d", implicitFamilyNames[family], seed);
            implicitCaseMake(family, (unsigned)seed, CASE_MOST, &c);
            PC_EXPECT_STATUS(PC_OK, pcImplicitStep(&c.system, &c.settings, c.h, &result));
            PC_EXPECT_EQ_INT(0, result.report.step.fallbacks);
            PC_EXPECT_LE(result.contactCount, ROOM);
            ImplicitVerdict verdict = implicitJudge(&c, &result);
            PC_EXPECT_LE(implicitWorst(&verdict), 1e-10);
            PC_EXPECT_LE(verdict.points, 1e-12);
            PC_EXPECT_LE(verdict.pose, 1e-14);
            PC_EXPECT_LE(verdict.penetration, 1e-9);
            pushing += result.report.coreImpulse > 0.0;
            implicitCaseFree(&c);
        }
        PC_CASE("%s", implicitFamilyNames[family]);
        PC_EXPECT_GE(pushing, SEEDS / 5); /* else it would be a test of free flight */
    }
}

/* The judge itself: an answer that is off by 1e-8 does not pass. */
PC_TEST(ImplicitRandom, TheJudgeSeesSmallMistakes)
{
    static pcImplicitContact contact[ROOM];
    double v[6 * CASE_BODIES];
    pcPose pose[CASE_BODIES];
    ImplicitCase c;
    pcImplicitResult result = {.velocity = v, .pose = pose, .contacts = contact, .contactCapacity = ROOM};
    int seed = 0;
    do {
        implicitCaseMake(0, (unsigned)++seed, CASE_MOST, &c);
        PC_ASSERT_STATUS(PC_OK, pcImplicitStep(&c.system, &c.settings, c.h, &result));
        if (!(result.report.coreImpulse > 0.0 && c.surface.mu > 0.1)) implicitCaseFree(&c);
    } while (!(result.report.coreImpulse > 0.0 && c.surface.mu > 0.1));
    double unit = 1e-8 * (1.0 + fabs(v[0]) + fabs(v[3]));
    contact[0].impulse[0] += unit * c.body[0].mass;
    ImplicitVerdict verdict = implicitJudge(&c, &result);
    PC_EXPECT_GT(verdict.momentum, 1e-10);
    contact[0].impulse[0] -= unit * c.body[0].mass;
    pose[0].position[2] -= 1e-8;
    verdict = implicitJudge(&c, &result);
    PC_EXPECT_GT(verdict.normal, 1e-10);
    PC_EXPECT_GT(verdict.pose, 1e-9);
    PC_EXPECT_GT(verdict.penetration, 1e-9);
    pose[0].position[2] += 1e-8;
    contact[0].impulse[1] *= 1.0 + 1e-6, contact[0].impulse[2] *= 1.0 + 1e-6;
    verdict = implicitJudge(&c, &result);
    PC_EXPECT_GT(implicitWorst(&verdict), 1e-10);
    implicitCaseFree(&c);
}
