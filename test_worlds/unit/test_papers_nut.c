/* The Brazil nut in its quick form, its rival, and what its worlds are made of: populations and shakes. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapters/cli/nut.h"
#include "adapters/cli/penalty.h"
#include "adapters/gtest/pctest.h"

static const char balls[] = PCONTACT_TEST_WORLDS "/papers/brazil_nut_balls.world";
static const char polyhedra[] = PCONTACT_TEST_WORLDS "/papers/brazil_nut.world";

/* ---- small files ---- */

static const char SMALL[] = "<model name='ball'><link name='body'><collision name='c'><geometry><sphere><radius>0.5</radius></sphere>"
                            "</geometry></collision></link></model>";

static pcStatus readText(const char* physics, const char* more, unsigned seed, pcScene** scene)
{
    char name[] = "/tmp/pcontact_world_XXXXXX";
    int file = mkstemp(name);
    FILE* out = fdopen(file, "w");
    fprintf(out,
            "<sdf version='1.6'><world name='w'>%s<gravity>0 0 -10</gravity><physics "
            "type='ode'><pcontact>%s</pcontact></physics></world></sdf>\n",
            more, physics);
    fclose(out);
    pcStatus status = pcSceneReadSeeded(name, seed, scene);
    remove(name);
    return status;
}

static pcStatus readPopulation(const char* physics, const char* rest, unsigned seed, pcScene** scene)
{
    char text[1024];
    snprintf(text, sizeof text, "<population name='p'>%s%s</population>", SMALL, rest);
    return readText(physics, text, seed, scene);
}

static double distance(const pcScene* scene, int i, int k)
{
    const double *a = scene->link[i].pose.position, *b = scene->link[k].pose.position;
    return sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
}

static double nearest(const pcScene* scene)
{
    double least = HUGE_VAL;
    for (int i = 0; i < scene->links; i++)
        for (int k = 0; k < i; k++) least = fmin(least, distance(scene, i, k));
    return least;
}

static void checkPlaces(const pcScene* scene, const double (*expected)[3])
{
    for (int i = 0; i < scene->links; i++)
        for (int k = 0; k < 3; k++) PC_EXPECT_NEAR(expected[i][k], scene->link[i].pose.position[k], 1e-12);
}

/* ---- populations ---- */

PC_TEST(Population, OfAGridHasItsMiddleAtItsPose)
{
    static const double expected[][3] = {{-1, 1, 5}, {1, 1, 5}, {3, 1, 5}, {-1, 4, 5}, {1, 4, 5}, {3, 4, 5}};
    pcScene* scene = NULL;
    PC_ASSERT_STATUS(PC_OK, readPopulation("",
                                           "<pose>1 2.5 5 0 0 0</pose><distribution><type>grid</type><rows>2</rows><cols>3</cols>"
                                           "<step>2 3 0</step></distribution>",
                                           0, &scene));
    PC_ASSERT_EQ_INT(6, scene->links);
    PC_EXPECT_EQ_STR("ball_clone_0::body", scene->link[0].name);
    PC_EXPECT_EQ_STR("ball_clone_5::body", scene->link[5].name);
    checkPlaces(scene, expected);
    pcSceneFree(scene);
}

PC_TEST(Population, OfALineGoesThroughTheMiddleOfItsRegion)
{
    static const double expected[][3] = {{0, 0, -2}, {0, 0, 0}};
    pcScene* scene = NULL;
    PC_ASSERT_STATUS(PC_OK, readPopulation("",
                                           "<model_count>2</model_count><distribution><type>linear-z</type></distribution>"
                                           "<box><size>3 3 4</size></box>",
                                           0, &scene));
    PC_ASSERT_EQ_INT(2, scene->links);
    checkPlaces(scene, expected);
    pcSceneFree(scene);
}

PC_TEST(Population, AtRandomFollowsItsSeedAndLeavesRoom)
{
    static const char rest[] = "<model_count>40</model_count><pose>0 0 3 0 0 0</pose><distribution><type>random</type></distribution>"
                               "<cylinder><radius>4</radius><length>6</length></cylinder>";
    pcScene *one = NULL, *same = NULL, *other = NULL;
    PC_ASSERT_STATUS(PC_OK, readPopulation("<seed>7</seed>", rest, 0, &one));
    PC_ASSERT_STATUS(PC_OK, readPopulation("", rest, 7, &same));
    PC_ASSERT_STATUS(PC_OK, readPopulation("<seed>7</seed>", rest, 8, &other));
    PC_EXPECT_EQ_INT(40, one->links);
    PC_EXPECT_GE(nearest(one), 1.0);
    PC_EXPECT_GE(nearest(other), 1.0);
    double differs = 0.0;
    for (int i = 0; i < one->links; i++) {
        const double *x = one->link[i].pose.position, *y = same->link[i].pose.position, *z = other->link[i].pose.position;
        PC_EXPECT_LE(hypot(x[0], x[1]), 4.0);
        PC_EXPECT_TRUE(x[2] >= 3.0 && x[2] <= 9.0);
        PC_EXPECT_EQ_INT(0, memcmp(x, y, 3 * sizeof *x));
        differs = fmax(differs, fabs(x[0] - z[0]));
    }
    PC_EXPECT_GT(differs, 0.1);
    pcSceneFree(one);
    pcSceneFree(same);
    pcSceneFree(other);
}

PC_TEST(Population, KeepsClearOfWhatIsThere)
{
    char text[2048];
    pcScene* scene = NULL;
    snprintf(
        text, sizeof text,
        "<model name='box'><static>true</static><link name='body'><collision name='c'><geometry><box><size>2 2 8</size></box></geometry>"
        "</collision><collision name='floor'><pose>0 0 -2 0 0 0</pose><geometry><plane><normal>0 0 1</normal></plane></geometry>"
        "</collision></link></model><population name='p'>%s<model_count>16</model_count><distribution><type>uniform</type></distribution>"
        "<box><size>8 0 8</size></box></population>",
        SMALL);
    PC_ASSERT_STATUS(PC_OK, readText("<planar>xz</planar>", text, 0, &scene));
    PC_ASSERT_EQ_INT(17, scene->links);
    for (int i = 1; i < scene->links; i++) {
        const double* x = scene->link[i].pose.position;
        PC_EXPECT_NEAR(0.0, x[1], 0.0);
        PC_EXPECT_GE(x[2], -1.5);
        PC_EXPECT_TRUE(fabs(x[0]) >= 1.5);
    }
    pcSceneFree(scene);
}

PC_TEST(Population, SaysWhatIsWrong)
{
    static const struct {
        const char *rest, *words;
    } bad[] = {
        {"<model_count>9</model_count><box><size>1 0 1</size></box>", "no room for model"},
        {"<model_count>-1</model_count><box><size>1 0 1</size></box>", "-1 models"},
        {"<model_count>100000</model_count><box><size>1 0 1</size></box>", "100000 models"},
        {"<model_count>2</model_count>", "needs a region"},
        {"<model_count>2</model_count><box><size>1 -1 1</size></box>", "negative length"},
        {"<model_count>2</model_count><cylinder><length>1</length></cylinder>", "<radius> > 0"},
        {"<distribution><type>heap</type></distribution>", "not 'heap'"},
        {"<distribution><type>grid</type><rows>0</rows></distribution>", "0 rows"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pcScene* scene = NULL;
        PC_CASE("%s", bad[i].rest);
        PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, readPopulation("", bad[i].rest, 0, &scene));
        PC_EXPECT_TRUE(strstr(pcLastError(), bad[i].words) != NULL && strstr(pcLastError(), ":1: ") != NULL);
    }
    pcScene* scene = NULL;
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, readText("", "<population name='p'><model_count>1</model_count></population>", 0, &scene));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, readText("<seed>0</seed>", "", 0, &scene));
}

/* ---- shakes ---- */

PC_TEST(Shake, IsGravityOfTheFrameThatShakes)
{
    const double h = 0.001, A = 0.02, w = 2.0 * 3.14159265358979323846 * 5.0, g = 10.0;
    pcScene* scene = NULL;
    pcStage* stage = NULL;
    PC_ASSERT_STATUS(PC_OK, readText("<shake>0.02 5</shake>", SMALL, 0, &scene));
    PC_ASSERT_STATUS(PC_OK, pcStageMake(scene, &stage));
    PC_ASSERT_EQ_INT(1, stage->bodies);
    for (int i = 1; i <= 130; i++) {
        PC_ASSERT_STATUS(PC_OK, pcStageStep(stage, h));
        /* z'' = -g + A w^2 sin(w t), from rest: what falls freely, seen from a floor that goes as A sin(w t) and started at A w. */
        double velocity = -g * i * h + A * w * (1.0 - cos(w * i * h));
        PC_EXPECT_NEAR(velocity, dBodyGetLinearVel(stage->body[0].body)[2], 1e-4);
    }
    pcStageFree(stage);
    pcSceneFree(scene);
}

PC_TEST(Shake, GoesOnInItsPhase)
{
    const double h = 0.001;
    pcScene* scene = NULL;
    pcStage *stage = NULL, *later = NULL;
    PC_ASSERT_STATUS(PC_OK, readText("<shake>0.02 5</shake>", SMALL, 0, &scene));
    PC_ASSERT_STATUS(PC_OK, pcStageMake(scene, &stage));
    PC_ASSERT_STATUS(PC_OK, pcStageMake(scene, &later));
    for (int i = 0; i < 31; i++) PC_ASSERT_STATUS(PC_OK, pcStageStep(stage, h));
    pcStageGoOnAt(later, 30 * h);
    PC_ASSERT_STATUS(PC_OK, pcStageStep(later, h));
    dVector3 gravity, same;
    dWorldGetGravity(stage->world, gravity), dWorldGetGravity(later->world, same);
    PC_EXPECT_NEAR(gravity[2], same[2], 1e-9);
    PC_EXPECT_GT(fabs(gravity[2] + 10.0), 1.0);
    pcStageFree(stage), pcStageFree(later), pcSceneFree(scene);
}

PC_TEST(Shake, RefusesNonsense)
{
    static const char* const bad[] = {"<shake>1</shake>", "<shake>-1 2</shake>", "<shake>1 0</shake>", "<shake>1 nan</shake>",
                                      "<shake>1 2 3</shake>"};
    pcScene* scene = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        PC_CASE("%s", bad[i]);
        PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, readText(bad[i], SMALL, 0, &scene));
        PC_EXPECT_TRUE(strstr(pcLastError(), "<shake>") != NULL);
    }
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, readText("<shake>1 1</shake>", "<gravity>0 0 0</gravity>", 0, &scene));
}

/* ---- the Brazil nut ---- */

/* Everybody stays in, hardly into each other, and every step is solved. */
static void checkQuickForm(const pcNutPlan* plan, int bodies)
{
    pcNutRun run;
    PC_ASSERT_STATUS(PC_OK, pcNutPlay(plan, &run));
    PC_EXPECT_EQ_INT(bodies, run.bodies);
    PC_EXPECT_TRUE(run.track.shakes == plan->shakes || run.track.onTop == run.track.shakes);
    PC_EXPECT_GE(run.steps, 25 * run.track.shakes);
    PC_EXPECT_EQ_INT(0, run.outside);
    PC_EXPECT_EQ_INT(0, run.nativeSteps);
    PC_EXPECT_LE(run.residual, 1e-8);
    PC_EXPECT_LE(run.ratio, 0.01);
    for (int i = 0; i < run.track.shakes; i++) PC_EXPECT_TRUE(run.track.height[i] > 0.05 && run.track.height[i] < 3.0);
}

/* Two shakes: all have fallen, and were thrown up and caught again. The whole story takes minutes: pcontact bench nut. */
PC_TEST(BrazilNut, OfAllItsBodiesIsShakenTwice)
{
    PC_CASE("balls");
    checkQuickForm(&(pcNutPlan){.file = balls, .shakes = 2}, 270);
    PC_CASE("polyhedra");
    checkQuickForm(&(pcNutPlan){.file = polyhedra, .shakes = 2}, 270);
}

PC_TEST(BrazilNut, OfFewBodiesStaysInItsContainer)
{
    PC_CASE("balls");
    checkQuickForm(&(pcNutPlan){.file = balls, .bodies = 50, .shakes = 4}, 50);
    PC_CASE("polyhedra");
    checkQuickForm(&(pcNutPlan){.file = polyhedra, .bodies = 25, .shakes = 4}, 25);
}

PC_TEST(BrazilNut, IsOnTopWhenNobodyIsOverIt)
{
    const pcNutCast cast = {.bodies = 4, .nut = 1, .radius = 1.0};
    double xz[] = {-2, 1, 0, 3, 0.5, 3.6, 2, 3};
    pcNutTrack track = {0};
    pcNutWatch(&cast, xz, &track);
    PC_EXPECT_EQ_INT(0, track.onTop);
    PC_EXPECT_NEAR(3.0 / (2.0 * 7.6 / 3.0), track.height[0], 1e-12);
    xz[5] = 3.4;
    pcNutWatch(&cast, xz, &track);
    pcNutWatch(&cast, xz, &track);
    PC_EXPECT_EQ_INT(2, track.onTop);
    PC_EXPECT_EQ_INT(3, track.shakes);
}

/* The rival is no straw man: it survives at a small step with the overlap it is made for, and not at ours. */
PC_TEST(BrazilNut, OfSpringsNeedsASmallerStep)
{
    pcScene* scene = NULL;
    pcPenaltyRun fine, coarse, still;
    PC_ASSERT_STATUS(PC_OK, pcSceneRead(balls, &scene));
    PC_ASSERT_STATUS(PC_OK, pcPenaltyPlay(scene, &(pcPenaltyPlan){.step = 1e-4, .time = 1.0}, &fine));
    PC_ASSERT_STATUS(PC_OK, pcPenaltyPlay(scene, &(pcPenaltyPlan){.step = 0.01, .time = 1.0}, &coarse));
    PC_EXPECT_TRUE(fine.survived);
    PC_EXPECT_FALSE(coarse.survived);
    scene->physics.shakeAmplitude = 0.0;
    PC_ASSERT_STATUS(PC_OK, pcPenaltyPlay(scene, &(pcPenaltyPlan){.step = 1e-4, .time = 4.0}, &still));
    PC_EXPECT_TRUE(still.survived);
    PC_EXPECT_LE(still.overlap, 0.01);
    PC_EXPECT_GT(still.overlap, 0.002);
    pcSceneFree(scene);
}

PC_TEST(BrazilNut, RefusesWorldsWithoutANutOrAShake)
{
    pcScene* scene = NULL;
    pcNutCast cast;
    PC_ASSERT_STATUS(PC_OK, readText("", SMALL, 0, &scene));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcNutFind(scene, &cast));
    pcSceneFree(scene);
    PC_ASSERT_STATUS(PC_OK, pcSceneRead(polyhedra, &scene));
    PC_EXPECT_STATUS(PC_OK, pcNutFind(scene, &cast));
    PC_EXPECT_NEAR(0.1, cast.radius, 1e-6);
    pcPenaltyRun run;
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcPenaltyPlay(scene, &(pcPenaltyPlan){.step = 1e-3, .time = 1.0}, &run));
    scene->physics.shakeAmplitude = 0.0;
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcNutFind(scene, &cast));
    pcSceneFree(scene);
}
