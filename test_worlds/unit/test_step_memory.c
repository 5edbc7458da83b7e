/* What a step keeps and what it does not: warm starts, threads, allocations, order of results. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/counting.h"
#include "test_worlds/unit/scene.h"

static const double cube[3] = {1, 1, 1};

/* Towers of two boxes that slide and turn, apart from each other. */
static void towers(Scene* s, int count)
{
    sceneBegin(s);
    sceneFloor(s);
    for (int i = 0; i < count; i++) {
        sceneBox(s, 3.0 * i, 0, 0.5, cube, 1 + i);
        int upper = sceneBox(s, 3.0 * i + 0.1, 0.05 * i, 1.52, cube, 1);
        s->body[upper].velocity[0] = 0.5, s->body[upper].velocity[5] = 0.3 * i;
    }
}

PC_TEST(StepMemory, ThreadsGiveTheSameBits)
{
    static Scene one, many;
    static const pcSolver solvers[] = {PC_SOLVER_AUTO, PC_SOLVER_LEMKE};
    for (int round = 0; round < 4; round++) {
        int threads = round & 1 ? 5 : 2;
        PC_CASE("threads=%d solver=%d", threads, (int)solvers[round / 2]);
        towers(&one, 5), towers(&many, 5);
        one.settings.solver = many.settings.solver = solvers[round / 2];
        many.settings.threads = threads;
        for (int i = 0; i < 12; i++) {
            sceneStep(&one), sceneStep(&many);
            PC_EXPECT_TRUE(memcmp(one.body, many.body, sizeof one.body) == 0);
            PC_EXPECT_EQ_INT(one.result.report.iterations, many.result.report.iterations);
        }
        PC_EXPECT_EQ_INT(5, one.result.report.islands);
        sceneEnd(&one), sceneEnd(&many);
    }
}

PC_TEST(StepMemory, SameInputGivesTheSameBits)
{
    static Scene first, second;
    towers(&first, 3), towers(&second, 3);
    for (int i = 0; i < 20; i++) sceneStep(&first), sceneStep(&second);
    PC_EXPECT_TRUE(memcmp(first.body, second.body, sizeof first.body) == 0);
    sceneEnd(&first), sceneEnd(&second);
}

/* What a step finds before it begins, and no trace of having asked. */
PC_TEST(StepMemory, MeasuringChangesNothingAndSaysWhatTheStepWill)
{
    static Scene plain, asked;
    pcStepReport measured;
    towers(&plain, 3), towers(&asked, 3);
    for (int i = 0; i < 20; i++) {
        PC_ASSERT_STATUS(PC_OK, pcSystemMeasure(&asked.system, &asked.settings, asked.h, &measured));
        double kinetic = asked.result.report.kinetic;
        PC_EXPECT_TRUE(isnan(measured.residual) && measured.rows == 0);
        if (i > 0) PC_EXPECT_REL(kinetic, measured.kinetic, 1e-12);
        sceneStep(&plain), sceneStep(&asked);
        const pcStepReport* r = &asked.result.report;
        PC_EXPECT_EQ_INT(r->events, measured.events);
        PC_EXPECT_EQ_INT(r->pairs, measured.pairs);
        PC_EXPECT_NEAR(r->penetration, measured.penetration, 0);
        PC_EXPECT_NEAR(r->infeasibilityContact, measured.infeasibilityContact, 0);
    }
    PC_EXPECT_TRUE(memcmp(plain.body, asked.body, sizeof plain.body) == 0);
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSystemMeasure(&asked.system, &asked.settings, asked.h, NULL));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSystemMeasure(&asked.system, &asked.settings, 0.0, &measured));
    sceneEnd(&plain), sceneEnd(&asked);
}

static void forget(Scene* s)
{
    pcMemoryFree(s->system.memory);
    s->system.memory = NULL;
}

/* What a step has to say of the place that it leads to is what the next one finds there; asking changes nothing. Here boxes fall into
 * the floor and come out of it. */
PC_TEST(StepMemory, ReportAfterAStepIsWhatTheNextOneFindsBefore)
{
    static Scene plain, asked;
    for (int withMemory = 0; withMemory < 2; withMemory++) {
        PC_CASE("memory=%d", withMemory);
        towers(&plain, 3), towers(&asked, 3);
        plain.body[0].pose.position[2] = asked.body[0].pose.position[2] = 0.48;
        asked.settings.reportAfter = 1;
        if (!withMemory) forget(&plain), forget(&asked);
        for (int i = 0; i < 20; i++) {
            pcStepReport last = asked.result.report;
            sceneStep(&plain), sceneStep(&asked);
            const pcStepReport *r = &asked.result.report, *p = &plain.result.report;
            PC_EXPECT_TRUE(isnan(p->infeasibilityContactAfter) && isnan(p->penetrationAfter) && isnan(p->infeasibilityJointAfter));
            PC_EXPECT_NEAR(0, r->infeasibilityJointAfter, 0);
            PC_EXPECT_TRUE(r->penetrationAfter > 1e-4 && r->penetrationAfter < r->penetration);
            if (i == 0) continue;
            PC_EXPECT_NEAR(last.penetrationAfter, r->penetration, 1e-15);
            PC_EXPECT_NEAR(last.infeasibilityContactAfter, r->infeasibilityContact, 1e-13);
        }
        PC_EXPECT_TRUE(memcmp(plain.body, asked.body, sizeof plain.body) == 0);
        sceneEnd(&plain), sceneEnd(&asked);
    }
}

PC_TEST(StepMemory, ReportAfterAStepLeavesOutWhatOnlyTheCallerKnows)
{
    static Scene s;
    towers(&s, 1);
    s.settings.reportAfter = 1;
    sceneRow(&s, PC_WORLD, sceneBody(&s, (const double[3]){0, 8, 0}, 1, cube))->jacobian[6] = 1;
    sceneStep(&s);
    PC_EXPECT_TRUE(isnan(s.result.report.infeasibilityJointAfter));
    PC_EXPECT_NEAR(0, s.result.report.penetrationAfter, 1e-12);
    sceneContact(&s, 2, (const double[3]){0, 8, 0}, -0.01);
    sceneStep(&s);
    PC_EXPECT_TRUE(isnan(s.result.report.penetrationAfter) && isnan(s.result.report.infeasibilityContactAfter));
    sceneEnd(&s);
}

PC_TEST(StepMemory, WarmStartSavesIterations)
{
    static Scene s;
    towers(&s, 1);
    memset(s.body[1].velocity, 0, sizeof s.body[1].velocity);
    s.body[1].pose.position[2] = 1.5;
    sceneStep(&s);
    int cold = s.result.report.iterations;
    sceneRun(&s, 5);
    PC_EXPECT_LT(s.result.report.iterations, cold);
    sceneEnd(&s);
}

/* Given contacts are recognised by their id and come first among the results, in their own order. */
PC_TEST(StepMemory, GivenContactsComeFirst)
{
    static Scene s;
    towers(&s, 1);
    int load = sceneBody(&s, (const double[3]){0, 8, 0}, 1, cube);
    for (int i = 0; i < 3; i++) sceneContact(&s, load, (const double[3]){cos(2.0 * i), 8 + sin(2.0 * i), 0}, 0)->id = (unsigned)(30 - i);
    sceneRun(&s, 3);
    for (int i = 0; i < 3; i++) {
        PC_EXPECT_EQ_INT(30 - i, s.touch[i].id);
        PC_EXPECT_EQ_INT(-1, s.touch[i].shape1);
        PC_EXPECT_GT(s.touch[i].impulse[0], 0);
    }
    PC_EXPECT_EQ_INT(0, s.touch[3].shape1);
    PC_EXPECT_EQ_INT(s.result.report.contacts, s.result.contactCount);
    PC_EXPECT_EQ_INT(s.result.report.events + 3, s.result.contactCount);
    sceneEnd(&s);
}

PC_TEST(StepMemory, ResultsMayBeUnwantedOrTooMany)
{
    static Scene s;
    towers(&s, 2);
    s.result = (pcSystemResult){0};
    sceneStep(&s);
    int all = s.result.contactCount;
    PC_EXPECT_GE(all, 8);
    s.result.contacts = s.touch, s.result.contactCapacity = 3;
    s.touch[3].id = 12345;
    sceneStep(&s);
    PC_EXPECT_EQ_INT(all, s.result.contactCount);
    PC_EXPECT_EQ_INT(12345, s.touch[3].id);
    sceneEnd(&s);
}

PC_TEST(StepMemory, EmptySystemSteps)
{
    static Scene s;
    sceneBegin(&s);
    sceneStep(&s);
    PC_EXPECT_EQ_STR("none", s.result.report.solver);
    PC_EXPECT_EQ_INT(PC_SOLVED, s.result.report.outcome);
    s.system.bodies = NULL, s.system.shapes = NULL, s.system.rows = NULL, s.system.contacts = NULL;
    sceneStep(&s);
    sceneEnd(&s);
}

PC_TEST(StepMemory, StepsWithoutOne)
{
    static Scene with, without;
    towers(&with, 1), towers(&without, 1);
    pcMemory* kept = without.system.memory;
    without.system.memory = NULL;
    sceneRun(&with, 10), sceneRun(&without, 10);
    for (int i = 0; i < 3; i++) PC_EXPECT_NEAR(with.body[1].pose.position[i], without.body[1].pose.position[i], 1e-6);
    without.system.memory = kept;
    sceneEnd(&with), sceneEnd(&without);
}

/* A refused step leaves the memory as it was. */
PC_TEST(StepMemory, SurvivesARefusedStep)
{
    static Scene s;
    towers(&s, 1);
    sceneRun(&s, 3);
    double mass = s.body[0].mass;
    s.body[0].mass = -1;
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSystemStep(&s.system, &s.settings, s.h, &s.result));
    s.body[0].mass = mass;
    sceneRun(&s, 3);
    sceneEnd(&s);
}

/* Shapes, rows and bodies come and go between steps of one memory. */
PC_TEST(StepMemory, SystemMayChangeBetweenSteps)
{
    static Scene s;
    towers(&s, 4);
    sceneRun(&s, 2);
    for (int round = 0; round < 3; round++) {
        s.system.shapeCount -= 2, s.system.bodyCount -= 2;
        sceneRow(&s, PC_WORLD, 0)->jacobian[6] = 1;
        s.settings.threads = 1 + round;
        sceneRun(&s, 2);
    }
    s.system.rowCount = 0, s.system.shapeCount += 6, s.system.bodyCount += 6;
    sceneRun(&s, 2);
    PC_EXPECT_EQ_INT(4, s.result.report.islands);
    sceneEnd(&s);
}

PC_TEST(StepMemory, SecondStepAllocatesNothing)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    static Scene s;
    towers(&s, 5);
    sceneStep(&s);
    long before = allocationCount();
    sceneStep(&s);
    PC_EXPECT_EQ_INT(0, allocationCount() - before);
    sceneRun(&s, 20);
    before = allocationCount();
    sceneRun(&s, 10);
    PC_EXPECT_EQ_INT(0, allocationCount() - before);
    sceneEnd(&s);
}

/* Boxes of many sizes fall into a shaft: contacts come and go in every step, on one thread and on two. */
static void pile(Scene* s, int threads)
{
    static const double walls[4][4] = {{1, 0, 0, -1.2}, {-1, 0, 0, -1.2}, {0, 1, 0, -1.2}, {0, -1, 0, -1.2}};
    sceneBegin(s);
    s->settings.threads = threads;
    sceneFloor(s);
    for (int i = 0; i < 4; i++) {
        pcShape* wall;
        PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace(walls[i], &wall));
        sceneShape(s, PC_WORLD, wall);
    }
    for (int i = 0; i < 24; i++) {
        const double size[3] = {0.4 + 0.01 * (i % 7), 0.5 + 0.02 * (i % 5), 0.6 - 0.02 * (i % 3)};
        int body = sceneBox(s, 0.75 * (i % 3) - 0.75 + 0.02 * (i % 4), 0.75 * (i / 3 % 2) - 0.4, 0.5 + 0.9 * (i / 6), size, 1 + i % 4);
        s->body[body].velocity[3] = 0.3 * (i % 3), s->body[body].velocity[4] = 0.2 * (i % 5);
    }
}

PC_TEST(StepMemory, PileAllocatesNothingOnceItHasFallen)
{
    static Scene s;
    if (!COUNTS_ALLOCATIONS) PC_SKIP("a sanitizer stands before the C library");
    for (int threads = 1; threads <= 2; threads++) {
        PC_CASE("threads=%d", threads);
        pile(&s, threads);
        sceneRun(&s, 130); /* each new maximum of contacts takes memory once */
        int contacts = s.result.report.contacts;
        pcCountingStart();
        sceneRun(&s, 40);
        PC_EXPECT_EQ_INT(0, pcCountingStop());
        PC_EXPECT_LE(60, contacts);
        PC_EXPECT_TRUE(s.result.report.outcome == PC_SOLVED);
        sceneEnd(&s);
    }
}

PC_TEST(StepMemory, StepWithoutContactsAllocatesNothing)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    static Scene s;
    towers(&s, 5);
    s.system.gravity[2] = 0;
    for (int i = 0; i < 10; i++) s.body[i].pose.position[2] *= 2, s.body[i].velocity[0] = 0;
    sceneStep(&s);
    long before = allocationCount();
    sceneRun(&s, 10);
    PC_EXPECT_EQ_INT(0, s.result.report.islands);
    PC_EXPECT_EQ_INT(0, allocationCount() - before);
    sceneEnd(&s);
}
