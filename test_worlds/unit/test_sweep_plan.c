/* What is drawn for a trial: random numbers, ranges, formulas, targets in a world, plans. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "adapters/sweep/expression.h"
#include "adapters/sweep/plan.h"
#include "adapters/sweep/random.h"
#include "adapters/sweep/vary.h"
#include "test_worlds/unit/sdf_text.h"

/* ---- random numbers ---- */

/* The answers that the authors of the generator publish with it. */
PC_TEST(SweepRandom, PhiloxGivesTheKnownAnswers)
{
    static const struct {
        uint32_t counter[4], key[2], answer[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t out[4];
        pcPhilox(known[i].counter, known[i].key, out);
        for (int k = 0; k < 4; k++) PC_EXPECT_TRUE(out[k] == known[i].answer[k]);
    }
}

PC_TEST(SweepRandom, NumbersAreEvenAndDoNotFollowEachOther)
{
    enum { MANY = 200000 };
    double sum = 0.0, squares = 0.0, products = 0.0, last = 0.5;
    for (int k = 0; k < MANY; k++) {
        double u[2];
        pcRandomPair(7, (uint64_t)k, 3, u);
        PC_ASSERT_TRUE(u[0] > 0.0 && u[0] < 1.0 && u[1] > 0.0 && u[1] < 1.0);
        sum += u[0], squares += u[0] * u[0], products += (u[0] - 0.5) * (last - 0.5) + (u[0] - 0.5) * (u[1] - 0.5);
        last = u[0];
    }
    /* Five deviations of the mean of so many: 5 / sqrt(12 n), and likewise of the products, each of variance 2 / 144. */
    PC_EXPECT_NEAR(0.5, sum / MANY, 5.0 / sqrt(12.0 * MANY));
    PC_EXPECT_NEAR(1.0 / 3.0, squares / MANY, 5.0 * 0.3 / sqrt((double)MANY));
    PC_EXPECT_NEAR(0.0, products / MANY, 5.0 * 0.118 / sqrt((double)MANY));
}

/* ---- ranges ---- */

static pcVary vary(const char* text)
{
    pcVary v = {.count = -1};
    PC_EXPECT_STATUS(PC_OK, pcVaryParse(text, &v));
    return v;
}

typedef struct Moments {
    double mean, deviation, least, most;
} Moments;

static double plain(double x) { return x; }

static Moments momentsOf(const char* text, double (*of)(double))
{
    enum { MANY = 20000 };
    pcVary v = vary(text);
    Moments m = {.least = HUGE_VAL, .most = -HUGE_VAL};
    double squares = 0.0;
    for (int k = 0; k < MANY; k++) {
        double u[2];
        pcRandomPair(1, (uint64_t)k, 0, u);
        double x = of(pcVaryValue(&v, 0, u));
        m.mean += x / MANY, squares += x * x / MANY;
        m.least = fmin(m.least, x), m.most = fmax(m.most, x);
    }
    m.deviation = sqrt(squares - m.mean * m.mean);
    return m;
}

PC_TEST(SweepVary, RangesHaveTheMomentsOfTheirNames)
{
    Moments m = momentsOf("mu=uniform:0.1:0.4", plain);
    PC_EXPECT_NEAR(0.25, m.mean, 0.003);
    PC_EXPECT_NEAR(0.3 / sqrt(12.0), m.deviation, 0.002);
    PC_EXPECT_TRUE(m.least > 0.1 && m.least < 0.1005 && m.most < 0.4 && m.most > 0.3995);
    m = momentsOf("mu=normal:3:0.5", plain);
    PC_EXPECT_NEAR(3.0, m.mean, 0.02);
    PC_EXPECT_NEAR(0.5, m.deviation, 0.015);
    m = momentsOf("kp=loguniform:1e2:1e6", log10);
    PC_EXPECT_NEAR(4.0, m.mean, 0.05);
    PC_EXPECT_NEAR(4.0 / sqrt(12.0), m.deviation, 0.03);
    m = momentsOf("gamma=choice:0:1:1:1", plain);
    PC_EXPECT_NEAR(0.75, m.mean, 0.015);
    m = momentsOf("gamma=0.3", plain);
    PC_EXPECT_TRUE(m.least == 0.3 && m.most == 0.3);
}

PC_TEST(SweepVary, AGridHasItsEndsAndEveryStepBetween)
{
    const double unused[2] = {0.5, 0.5};
    pcVary v = vary("x=grid:-0.0095:0.0095:0.001");
    PC_EXPECT_EQ_INT(20, v.count);
    PC_EXPECT_NEAR(-0.0095, pcVaryValue(&v, 0, unused), 1e-18);
    PC_EXPECT_NEAR(0.0095, pcVaryValue(&v, 19, unused), 1e-17);
    PC_EXPECT_NEAR(-0.0005, pcVaryValue(&v, 9, unused), 1e-17);
    PC_EXPECT_EQ_INT(1, vary("x=grid:2:2:1").count);
    PC_EXPECT_EQ_INT(3, vary("x=grid:0:2.9:1").count);
}

PC_TEST(SweepVary, WordsAreChosenAndPrintedAsWords)
{
    char text[32];
    pcVary v = vary("solver=choice:auto:lemke");
    PC_EXPECT_EQ_INT(1, v.words);
    const double low[2] = {0.1, 0.5}, high[2] = {0.9, 0.5};
    pcVaryPrint(&v, pcVaryValue(&v, 0, low), text);
    PC_EXPECT_EQ_STR("auto", text);
    pcVaryPrint(&v, pcVaryValue(&v, 0, high), text);
    PC_EXPECT_EQ_STR("lemke", text);
}

PC_TEST(SweepVary, BadRangesAreRefusedInOneSentence)
{
    static const char* const bad[] = {"mu",
                                      "=1",
                                      "mu=",
                                      "mu=uniform",
                                      "mu=uniform:1",
                                      "mu=uniform:1:2:3",
                                      "mu=uniform:2:1",
                                      "mu=uniform:1:1",
                                      "mu=uniform:a:b",
                                      "mu=uniform:nan:1",
                                      "mu=uniform:-1.7e308:1.7e308",
                                      "mu=loguniform:0:1",
                                      "mu=normal:1:0",
                                      "mu=normal:1:-1",
                                      "mu=grid:0:1:0",
                                      "mu=grid:1:0:1",
                                      "mu=grid:0:1:1e-9",
                                      "mu=unifrom:0:1",
                                      "mu=choice",
                                      "mu=choice:1::2",
                                      "mu=choice:a b:c",
                                      "m u=1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        PC_CASE("%s", bad[i]);
        pcVary v = {.count = -7};
        PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcVaryParse(bad[i], &v));
        PC_EXPECT_TRUE(strlen(pcLastError()) > 10);
        PC_EXPECT_EQ_INT(-7, v.count);
    }
}

PC_TEST(SweepVary, PrintedNumbersReadBackTheSame)
{
    char text[32];
    double back;
    for (int k = 0; k < 20000; k++) {
        double u[2];
        pcRandomPair(3, (uint64_t)k, 0, u);
        double x = ldexp(u[0] - 0.5, (int)(100.0 * u[1]) - 50);
        pcNumberPrint(x, text);
        PC_ASSERT_TRUE(pcNumberRead(text, &back) && back == x);
    }
    pcNumberPrint(0.1, text);
    PC_EXPECT_EQ_STR("0.1", text);
    pcNumberPrint(NAN, text);
    PC_EXPECT_EQ_STR("", text);
}

/* ---- formulas ---- */

static const char* const names[] = {"a", "end.gear::body.x", "b"};

static int findName(void* context, const char* name)
{
    (void)context;
    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

static double formula(const char* text)
{
    const double values[3] = {2.0, -3.0, NAN};
    pcExpression* e;
    if (pcExpressionParse(text, findName, NULL, &e) != PC_OK) {
        PC_FAIL("'%s': %s", text, pcLastError());
        return NAN;
    }
    double value = pcExpressionValue(e, values);
    pcExpressionFree(e);
    return value;
}

PC_TEST(SweepExpression, FollowsTheRulesOfArithmetic)
{
    PC_EXPECT_NEAR(7.0, formula("1 + 2 * 3"), 0.0);
    PC_EXPECT_NEAR(9.0, formula("(1 + 2) * 3"), 0.0);
    PC_EXPECT_NEAR(-4.0, formula("1 - 2 - 3"), 0.0);
    PC_EXPECT_NEAR(0.5, formula("8 / 4 / 4"), 0.0);
    PC_EXPECT_NEAR(-2.0, formula("-a"), 0.0);
    PC_EXPECT_NEAR(5.0, formula("a - end.gear::body.x"), 0.0);
    PC_EXPECT_NEAR(1.5e-3, formula("1.5e-3"), 0.0);
    PC_EXPECT_NEAR(sqrt(13.0), formula("hypot(a, end.gear::body.x)"), 1e-15);
    PC_EXPECT_NEAR(atan2(2.0, -3.0), formula("atan2(a,end.gear::body.x)"), 0.0);
    PC_EXPECT_NEAR(1.0, formula("sin(a)*sin(a) + cos(a)*cos(a)"), 1e-15);
    PC_EXPECT_NEAR(3.0, formula("max(abs(end.gear::body.x), min(a, sqrt(4)))"), 0.0);
}

PC_TEST(SweepExpression, TruthIsOneAndNothingIsTrueOfNaN)
{
    PC_EXPECT_NEAR(1.0, formula("a > 1 and end.gear::body.x < 0"), 0.0);
    PC_EXPECT_NEAR(0.0, formula("a > 3 or a == 1"), 0.0);
    PC_EXPECT_NEAR(1.0, formula("1 > 2 and 1 > 2 or 1 < 2"), 0.0); /* and binds tighter */
    PC_EXPECT_NEAR(1.0, formula("not a > 3"), 0.0);                /* not is looser than > */
    PC_EXPECT_NEAR(1.0, formula("a >= 2 and a <= 2 and a != 3"), 0.0);
    PC_EXPECT_NEAR(0.0, formula("b == b or b != b or b < 1 or b >= 1"), 0.0);
}

PC_TEST(SweepExpression, WhatIsNoFormulaIsRefused)
{
    static const char* const bad[] = {"",    "1 +", "(1",       "1)",        "c",          "sin(1,2)", "hypot(1)", "sin 1", "1 2",
                                      "a b", "&",   "end.nose", "abs(a) < ", "a <> 1 and", "not",      "1..2",     "()"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        PC_CASE("'%s'", bad[i]);
        pcExpression* e = NULL;
        PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcExpressionParse(bad[i], findName, NULL, &e));
        PC_EXPECT_TRUE(e == NULL);
    }
    char deep[400], longer[3000] = "1";
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = 0;
    pcExpression* e = NULL;
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcExpressionParse(deep, findName, NULL, &e));
    for (int i = 0; i < 400; i++) strcat(longer, " + 1");
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcExpressionParse(longer, findName, NULL, &e));
}

/* ---- targets ---- */

#define LINK(name, pose)                \
    "<link name='" name "'><pose>" pose \
    "</pose><collision name='c'><geometry><sphere><radius>1</radius></sphere></geometry></collision></link>"

static pcScene* armScene(void)
{
    pcScene* scene = NULL;
    PC_EXPECT_STATUS(
        PC_OK,
        sdfRead(sdfWorld("1.6", "%s",
                         "<model name='arm'><pose>1 0 0 0 0 0</pose>" LINK("near", "0 2 0 0 0 0")
                             LINK("far",
                                  "0 4 0 0 0 0") "<joint name='base' type='revolute'><parent>world</parent><child>near</child><axis><xyz>1 "
                                                 "0 0</xyz></axis></joint>"
                                                 "<joint name='elbow' type='revolute'><parent>near</parent><child>far</child><axis><xyz>1 "
                                                 "0 0</xyz></axis></joint>"
                                                 "</model><model name='ball'>" LINK("l", "0 0 9 0 0 0") "</model>"),
                &scene));
    return scene;
}

static pcStatus set(pcTrialWorld* world, const char* text)
{
    pcTarget target;
    pcVary v = vary(text);
    const double u[2] = {0.5, 0.5};
    pcStatus status = pcTargetFind(&world->scene, v.name, &target);
    return status == PC_OK ? pcTargetSet(&target, &v, pcVaryValue(&v, 0, u), world) : status;
}

PC_TEST(SweepTarget, AModelMovesWithItsLinksAndJoints)
{
    pcScene* scene = armScene();
    PC_ASSERT_TRUE(scene != NULL);
    pcSettings settings = pcDefaultSettings();
    pcTrialWorld world;
    PC_ASSERT_STATUS(PC_OK, pcTrialWorldMake(scene, &settings, 0.01, 1.0, &world));
    PC_EXPECT_STATUS(PC_OK, set(&world, "arm.x=5"));
    PC_EXPECT_STATUS(PC_OK, set(&world, "arm.yaw=1.5707963267948966"));
    /* About the model's own origin, now at (5, 0, 0): 2 and 4 along its y, which is the world's -x; its x axis is the world's y. */
    const double* near = world.scene.link[0].pose.position;
    const double* far = world.scene.link[1].pose.position;
    PC_EXPECT_NEAR(3.0, near[0], 1e-14);
    PC_EXPECT_NEAR(0.0, near[1], 1e-14);
    PC_EXPECT_NEAR(1.0, far[0], 1e-14);
    PC_EXPECT_NEAR(3.0, world.scene.joint[0].anchor[0], 1e-14);
    PC_EXPECT_NEAR(1.0, world.scene.joint[1].axis[0].xyz[1], 1e-14);
    PC_EXPECT_NEAR(9.0, world.scene.link[2].pose.position[2], 0.0);
    /* The next trial starts from the file again. */
    pcTrialWorldReset(&world, &settings, 0.01, 1.0);
    PC_EXPECT_NEAR(1.0, world.scene.link[0].pose.position[0], 0.0);
    PC_EXPECT_NEAR(0.0, world.scene.joint[1].axis[0].xyz[1], 0.0);
    pcTrialWorldFree(&world);
    pcSceneFree(scene);
}

PC_TEST(SweepTarget, NumbersOfSurfacesMassesMotorsAndSettingsAreSet)
{
    pcScene* scene = armScene();
    PC_ASSERT_TRUE(scene != NULL);
    pcSettings settings = pcDefaultSettings();
    pcTrialWorld world;
    PC_ASSERT_STATUS(PC_OK, pcTrialWorldMake(scene, &settings, 0.01, 1.0, &world));
    double inertia = world.scene.link[2].inertia[0];
    PC_EXPECT_STATUS(PC_OK, set(&world, "mu=0.125"));
    PC_EXPECT_STATUS(PC_OK, set(&world, "ball.mu=0.5"));
    PC_EXPECT_STATUS(PC_OK, set(&world, "ball.mass=3"));
    PC_EXPECT_STATUS(PC_OK, set(&world, "ball::l.vz=-2"));
    PC_EXPECT_STATUS(PC_OK, set(&world, "arm::elbow.max_force=7"));
    PC_EXPECT_STATUS(PC_OK, set(&world, "gravity.z=-1.5"));
    PC_EXPECT_STATUS(PC_OK, set(&world, "step=0.002"));
    PC_EXPECT_STATUS(PC_OK, set(&world, "solver=lemke"));
    PC_EXPECT_NEAR(0.125, world.scene.collision[0].surface.mu, 0.0);
    PC_EXPECT_NEAR(0.125, world.scene.collision[1].surface.mu2, 0.0);
    PC_EXPECT_NEAR(0.5, world.scene.collision[2].surface.mu, 0.0);
    PC_EXPECT_NEAR(3.0, world.scene.link[2].mass, 0.0);
    PC_EXPECT_NEAR(3.0 * inertia / scene->link[2].mass, world.scene.link[2].inertia[0], 1e-15);
    PC_EXPECT_NEAR(-2.0, world.scene.link[2].velocity[2], 0.0);
    PC_EXPECT_NEAR(7.0, world.scene.joint[1].maxForce, 0.0);
    PC_EXPECT_TRUE(isnan(world.scene.joint[0].maxForce));
    PC_EXPECT_NEAR(-1.5, world.scene.physics.gravity[2], 0.0);
    PC_EXPECT_NEAR(0.002, world.step, 0.0);
    PC_EXPECT_EQ_INT(PC_SOLVER_LEMKE, world.settings.solver);
    PC_EXPECT_NEAR(1.0, scene->collision[0].surface.mu, 0.0); /* the file's own is as it was */
    pcTrialWorldFree(&world);
    pcSceneFree(scene);
}

PC_TEST(SweepTarget, WhatIsNotThereOrCannotBeIsRefused)
{
    static const char* const bad[] = {"nobody.x=1", "ball.colour=1",   "ball.x=choice:a:b", "ball.mass=0", "ball.mu=-1",
                                      "step=0",     "arm.max_power=1", "ball.velocity=1",   "gamma=7",     "nose=1",
                                      "report=x",   "ball.x=1e12",     "arm::far.x=1" /* would tear the elbow */};
    pcScene* scene = armScene();
    PC_ASSERT_TRUE(scene != NULL);
    pcSettings settings = pcDefaultSettings();
    pcTrialWorld world;
    PC_ASSERT_STATUS(PC_OK, pcTrialWorldMake(scene, &settings, 0.01, 1.0, &world));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        PC_CASE("%s", bad[i]);
        PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, set(&world, bad[i]));
        PC_EXPECT_TRUE(strlen(pcLastError()) > 10);
    }
    pcTrialWorldFree(&world);
    pcSceneFree(scene);
}

/* ---- plans ---- */

static pcStatus makePlan(const pcScene* scene, const char* const* varies, int count, uint64_t seed, pcPlan** out)
{
    pcSweepOrder order = {.world = "test", .scene = scene, .settings = "", .varies = count, .vary = varies, .trials = 5, .seed = seed};
    return pcPlanMake(&order, out);
}

PC_TEST(SweepPlan, ATrialDependsOnSeedAndNumberAlone)
{
    static const char* const varies[] = {"ball.x=grid:0:2:1", "mu=uniform:0:1", "ball.y=grid:0:1:1", "ball.z=normal:0:1"};
    pcScene* scene = armScene();
    pcPlan *plan = NULL, *other = NULL;
    PC_ASSERT_STATUS(PC_OK, makePlan(scene, varies, 4, 11, &plan));
    PC_ASSERT_STATUS(PC_OK, makePlan(scene, varies, 4, 12, &other));
    PC_EXPECT_EQ_INT(6, (int)plan->cells);
    PC_EXPECT_EQ_INT(30, (int)plan->trials);
    int visits[3][2] = {{0}}, same = 0;
    for (long long k = 29; k >= 0; k--) { /* whatever the order */
        double a[4], b[4], c[4];
        pcPlanDraw(plan, k, a);
        pcPlanDraw(plan, (k * 7) % 30, b);
        pcPlanDraw(plan, k, b);
        pcPlanDraw(other, k, c);
        for (int i = 0; i < 4; i++) PC_EXPECT_TRUE(a[i] == b[i]);
        PC_EXPECT_TRUE(a[0] == c[0] && a[2] == c[2]); /* grids do not depend on the seed */
        same += a[1] == c[1] || a[3] == c[3];
        visits[(int)a[0]][(int)a[2]]++;
    }
    PC_EXPECT_EQ_INT(0, same);
    for (int i = 0; i < 6; i++) PC_EXPECT_EQ_INT(5, visits[i % 3][i / 3]);
    PC_EXPECT_TRUE(strcmp(plan->text, other->text) != 0);
    pcPlanFree(plan);
    pcPlanFree(other);
    pcSceneFree(scene);
}

PC_TEST(SweepPlan, ImpossibleOrdersAreRefused)
{
    static const char* const twice[] = {"mu=1", "mu=2"};
    static const char* const below[] = {"ball.mass=uniform:-1:2"};
    static const char* const huge[] = {"ball.x=grid:0:99999:1", "ball.y=grid:0:99999:1"};
    static const char* const measures[] = {"height = end.ball.z", "height = end.ball.x"};
    pcScene* scene = armScene();
    pcPlan* plan = NULL;
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, makePlan(scene, twice, 2, 1, &plan));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, makePlan(scene, below, 1, 1, &plan));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, makePlan(scene, huge, 2, 1, &plan));
    pcSweepOrder order = {.world = "test", .scene = scene, .settings = "", .trials = 0, .seed = 1};
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcPlanMake(&order, &plan));
    order.trials = 1, order.settings = "report=file.csv";
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcPlanMake(&order, &plan));
    order.settings = "", order.measure = measures, order.measures = 2;
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcPlanMake(&order, &plan));
    order.measures = 0, order.success = "end.arm.x > 0"; /* it has two links */
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcPlanMake(&order, &plan));
    PC_EXPECT_TRUE(plan == NULL);
    pcSceneFree(scene);
}
