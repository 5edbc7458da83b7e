/* The papers' polyhedral worlds: who ends where, and what stabilization does to infeasibility (T 6.12, S 3.1). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapters/cli/ellipsoids.h"
#include "adapters/cli/play.h"
#include "adapters/gtest/pctest.h"

/* ---- a play and its end ---- */

enum { MOST_BODIES = 32 };

typedef struct End {
    int bodies;
    char name[MOST_BODIES][48];
    double place[MOST_BODIES][3], turned[MOST_BODIES], speed[MOST_BODIES]; /* turned in degrees */
    double lowest;                                                         /* centre of any body at any frame */
} End;

static double length(const dReal* v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static void look(void* context, const pcStage* stage, double time)
{
    End* end = context;
    (void)time;
    end->bodies = stage->bodies;
    for (int i = 0; i < stage->bodies && i < MOST_BODIES; i++) {
        dBodyID body = stage->body[i].body;
        const dReal* q = dBodyGetQuaternion(body);
        snprintf(end->name[i], sizeof end->name[i], "%s", stage->body[i].name);
        memcpy(end->place[i], dBodyGetPosition(body), sizeof end->place[i]);
        end->turned[i] = 2.0 * atan2(length(q + 1), fabs(q[0])) * 180.0 / 3.14159265358979323846;
        end->speed[i] = length(dBodyGetLinearVel(body)) + length(dBodyGetAngularVel(body));
        end->lowest = fmin(end->lowest, end->place[i][2]);
    }
}

static pcPlayed play(const char* world, const char* settings, double step, double time, End* endOrNull)
{
    char path[512];
    End own;
    End* end = endOrNull ? endOrNull : &own;
    pcPlayed played = {0};
    *end = (End){.lowest = HUGE_VAL};
    snprintf(path, sizeof path, "%s/papers/%s.world", PCONTACT_TEST_WORLDS, world);
    pcPlayPlan plan = {.file = path, .settings = settings, .step = step, .time = time, .frame = look, .context = end};
    pcStatus status = pcPlay(&plan, &played);
    PC_EXPECT_EQ_INT(PC_OK, status);
    if (status != PC_OK) fprintf(stderr, "%s\n", pcLastError());
    PC_EXPECT_EQ_INT(0, played.nativeSteps);
    PC_EXPECT_TRUE(played.finite);
    PC_EXPECT_TRUE(end->lowest > 0.05 || played.joints > 0); /* nobody through the floor */
    PC_EXPECT_TRUE(played.residual <= 1e-10);
    PC_EXPECT_TRUE(played.contacts == 0 || played.law <= 1e-9); /* the same from outside, by code that shares nothing with it */
    PC_EXPECT_EQ_INT(0, played.messages);
    return played;
}

static int bodyOf(const End* end, const char* name)
{
    for (int i = 0; i < end->bodies; i++)
        if (strcmp(end->name[i], name) == 0) return i;
    PC_FAIL("there is no such body");
    return 0;
}

static void expectRest(const End* end)
{
    for (int i = 0; i < end->bodies; i++) {
        PC_CASE("%s", end->name[i]);
        PC_EXPECT_NEAR(0.0, end->speed[i], 1e-3);
    }
}

/* ---- the stories ---- */

PC_TEST(Papers, Balance2StandsUntilASquareDropsAndAllEndsOnTheFloor)
{
    End before, end;
    play("balance2", "", 0.0, 0.5, &before);
    int plank = bodyOf(&before, "plank::body");
    PC_EXPECT_NEAR(1.625, before.place[plank][2], 1e-9); /* balanced: the square is still in the air */
    PC_EXPECT_NEAR(0.0, before.turned[plank], 1e-6);
    play("balance2", "", 0.0, 0.0, &end);
    expectRest(&end);
    PC_EXPECT_NEAR(0.125, end.place[plank][2], 1e-6);
    PC_EXPECT_NEAR(0.5, end.place[bodyOf(&end, "fulcrum::body")][2], 1e-6);
    for (const char* const* name = (const char* const[]){"left::body", "right::body", "dropped::body", NULL}; *name; name++) {
        PC_CASE("%s", *name);
        PC_EXPECT_NEAR(0.5, end.place[bodyOf(&end, *name)][2], 1e-6);
        PC_EXPECT_TRUE(end.place[bodyOf(&end, *name)][0] > 4.0); /* all slid off on the side of the blow */
    }
    PC_EXPECT_TRUE(end.place[bodyOf(&end, "fulcrum::body")][0] < -1.0); /* and the triangle went the other way */
}

PC_TEST(Papers, Pyramid1FallsLikeDominoes)
{
    End end;
    play("pyramid1", "", 0.0, 0.0, &end);
    expectRest(&end);
    for (int i = 0; i < end.bodies; i++) {
        PC_CASE("%s", end.name[i]);
        if (strncmp(end.name[i], "domino", 6) == 0) PC_EXPECT_TRUE(end.turned[i] > 60.0 && end.place[i][2] < 0.6);
    }
    PC_EXPECT_NEAR(90.0, end.turned[bodyOf(&end, "domino9::body")], 1e-3); /* the last lies flat */
}

PC_TEST(Papers, Dice3FallsOverTheEdge)
{
    End end;
    play("dice3", "", 0.0, 0.0, &end);
    int upper = bodyOf(&end, "upper::body"), lower = bodyOf(&end, "lower::body");
    PC_EXPECT_NEAR(0.5, end.place[upper][2], 1e-4);
    PC_EXPECT_NEAR(90.0, end.turned[upper], 5.0);
    PC_EXPECT_NEAR(0.5, end.place[lower][2], 1e-4);
    PC_EXPECT_TRUE(end.place[upper][0] > 1.0);
}

PC_TEST(Papers, Setup6PushesTheTetrahedronIntoTheCorner)
{
    End end;
    play("setup6", "", 0.0, 0.0, &end);
    expectRest(&end);
    int tetrahedron = bodyOf(&end, "tetrahedron::body"), cube = bodyOf(&end, "cube::body");
    for (int k = 0; k < 2; k++) PC_EXPECT_NEAR(0.3625, end.place[tetrahedron][k], 5e-3); /* its right angle in the corner, from 90 mm off */
    PC_EXPECT_NEAR(0.35, end.place[cube][2], 1e-4);
    PC_EXPECT_TRUE(hypot(end.place[cube][0], end.place[cube][1]) > 1.2); /* it slid away */
}

PC_TEST(Papers, EllipseComesToRock)
{
    End end;
    pcPlayed played = play("ellipse", "", 0.0, 0.0, &end);
    PC_EXPECT_NEAR(2.0, end.place[0][2], 0.05); /* on its long side */
    PC_EXPECT_TRUE(fabs(end.turned[0]) > 90.0); /* it rolled over */
    PC_EXPECT_TRUE(played.energyGain <= 1e-12);
}

/* ---- E's worlds: in files as in adapters/cli/ellipsoids.c ---- */

typedef struct EllipsoidFile {
    const char* name;
    pcEllipsoidKind kind;
    int count;
    double mu;
} EllipsoidFile;
static const EllipsoidFile ellipsoidFiles[] = {{"three_ellipsoids", PC_ELLIPSOIDS_THREE, 3, 0.4},
                                               {"lattice", PC_ELLIPSOIDS_LATTICE, 30, 0.0}};
enum { ELLIPSOID_FILES = sizeof ellipsoidFiles / sizeof *ellipsoidFiles };

static void expectNumbers(const double* wanted, const double* found, int count, double tolerance)
{
    for (int k = 0; k < count; k++) PC_EXPECT_NEAR(wanted[k], found[k], tolerance);
}

/* The inertia of an ellipsoid fixes its semi-axes, so that comparing mass and inertia alone would do; the shape is what collides. */
static void expectSameBody(const pcBody* b, const pcSceneLink* link, const pcSceneShape* shape)
{
    double sign = b->pose.quaternion[0] * link->pose.quaternion[0] + b->pose.quaternion[1] * link->pose.quaternion[1] +
                              b->pose.quaternion[2] * link->pose.quaternion[2] + b->pose.quaternion[3] * link->pose.quaternion[3] <
                          0.0
                      ? -1.0
                      : 1.0;
    PC_EXPECT_REL(b->mass, link->mass, 1e-12);
    expectNumbers(b->pose.position, link->pose.position, 3, 1e-12);
    for (int k = 0; k < 4; k++) PC_EXPECT_NEAR(b->pose.quaternion[k], sign * link->pose.quaternion[k], 1e-12);
    expectNumbers(b->inertia, link->inertia, 9, 1e-10);
    expectNumbers(b->velocity, link->velocity, 6, 1e-8);
    PC_ASSERT_EQ_INT(PC_SCENE_ELLIPSOID, shape->kind);
    for (int k = 0; k < 3; k++) {
        double i = shape->size[(k + 1) % 3], j = shape->size[(k + 2) % 3];
        PC_EXPECT_REL(b->inertia[4 * k], 0.2 * b->mass * (i * i + j * j), 1e-12);
    }
}

PC_TEST(Papers, FilesOfEllipsoidsSayWhatTheCodeSays)
{
    for (int n = 0; n < ELLIPSOID_FILES; n++) {
        const EllipsoidFile* f = ellipsoidFiles + n;
        static pcEllipsoids w;
        char path[512];
        pcScene* scene;
        PC_CASE("%s", f->name);
        snprintf(path, sizeof path, "%s/papers/%s.world", PCONTACT_TEST_WORLDS, f->name);
        PC_ASSERT_STATUS(PC_OK, pcEllipsoidsMake(f->kind, f->count, 1, "", &w));
        PC_ASSERT_STATUS(PC_OK, pcSceneRead(path, &scene));
        PC_ASSERT_EQ_INT(f->count, w.count);
        PC_ASSERT_EQ_INT(f->count + 1, scene->collisions); /* the plane comes first */
        for (int i = 0; i < f->count; i++) {
            const pcSceneCollision* c = scene->collision + 1 + i;
            PC_CASE("%s", scene->link[c->link].name);
            expectSameBody(w.body + i, scene->link + c->link, &c->shape);
            PC_EXPECT_NEAR(f->mu, c->surface.mu, 0.0);
        }
        pcSceneFree(scene);
        pcEllipsoidsFree(&w);
    }
}

PC_TEST(Papers, EllipsoidsRockAndScatterWithEveryStepSolved)
{
    for (int n = 0; n < ELLIPSOID_FILES; n++) {
        End end;
        PC_CASE("%s", ellipsoidFiles[n].name);
        pcPlayed played = play(ellipsoidFiles[n].name, "", 0.0, 0.0, &end);
        PC_EXPECT_EQ_INT(0, played.inaccurate);
        PC_EXPECT_TRUE(played.contacts >= 3);
        PC_EXPECT_TRUE(played.length.most < 0.02);
        for (int i = 0; i < end.bodies; i++)
            PC_EXPECT_TRUE(end.place[i][2] > 0.28 && end.place[i][2] < 1.2); /* none flew off: on the plane, or on one that is */
    }
}

/* ---- infeasibility against the step ---- */

/* The least squares slope of log I over log h, and each local one in its range. */
static double slopeOf(const double* h, const double* mean, int count, double least, double most)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < count; i++) {
        double x = log(h[i]), y = log(mean[i]);
        PC_EXPECT_TRUE(mean[i] > 1e-10); /* below, rounding would be fitted */
        sx += x, sy += y, sxx += x * x, sxy += x * y;
        if (i == 0) continue;
        PC_CASE("h = %g to %g", h[i - 1], h[i]);
        double local = (y - log(mean[i - 1])) / (x - log(h[i - 1]));
        PC_EXPECT_TRUE(local >= least && local <= most);
    }
    return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

static void expectSecondOrder(const char* world, double fallen)
{
    static const double h[] = {0.02, 0.01, 0.002, 0.001};
    double mean[4];
    for (int i = 0; i < 4; i++) {
        End end;
        mean[i] = play(world, "gamma=1", h[i], 0.0, &end).infeasibility.mean;
        PC_EXPECT_TRUE(end.place[1][2] < fallen); /* it happened */
    }
    double slope = slopeOf(h, mean, 4, 1.5, 2.5);
    printf("  %s: slope %.2f\n", world, slope);
    PC_EXPECT_TRUE(slope >= 1.8 && slope <= 2.4);
}

PC_TEST(Papers, InfeasibilityOfPersistentContactFallsWithTheSquareOfTheStep)
{
    expectSecondOrder("balance2", 0.2); /* the plank */
    expectSecondOrder("pyramid1", 0.6); /* the first domino */
}

static void expectBound(const char* world, const char* settings, const double* h, int count, double fallen, int who)
{
    double K = 0.0;
    for (int i = 0; i < count; i++) {
        End end;
        PC_CASE("%s, h = %g", world, h[i]);
        double mean = play(world, settings, h[i], 0.0, &end).infeasibility.mean;
        PC_EXPECT_TRUE(end.place[who][2] < fallen);
        PC_EXPECT_TRUE(mean > 1e-10);
        if (i == 0) K = mean / (h[i] * h[i]);
        PC_EXPECT_TRUE(mean <= K * h[i] * h[i] * (1.0 + 1e-12));
    }
}

PC_TEST(Papers, InfeasibilityOfImpactsStaysBelowTheSquareOfTheStep)
{
    static const double dice[] = {0.1, 0.05, 0.01, 0.005}, setup[] = {0.1, 0.03, 0.01, 0.003, 0.001};
    expectBound("dice3", "gamma=1", dice, 4, 0.6, 1);
    expectBound("setup6", "gamma=0.3", setup, 5, 0.4, 1);
}

PC_TEST(Papers, PinnedBoxShowsTheTheorem)
{
    static const double h[] = {0.02, 0.01, 0.005, 0.0025};
    const struct {
        const char* settings;
        double least, most;
    } cases[] = {{"gamma=1", 1.9, 2.1}, {"gamma=0", 0.8, 1.2}};
    for (int k = 0; k < 2; k++) {
        double mean[4];
        PC_CASE("%s", cases[k].settings);
        for (int i = 0; i < 4; i++) mean[i] = play("pinned", cases[k].settings, h[i], 0.0, NULL).infeasibility.mean;
        double slope = slopeOf(h, mean, 4, cases[k].least - 0.2, cases[k].most + 0.2);
        printf("  pinned, %s: slope %.2f\n", cases[k].settings, slope);
        PC_EXPECT_TRUE(slope >= cases[k].least && slope <= cases[k].most);
    }
}

/* ---- gamma ---- */

PC_TEST(Papers, ShallowDepthDecaysByGammaEachStep)
{
    static const double gamma[] = {0.1, 0.3, 0.5, 0.9};
    const double h = 0.01;
    for (int k = 0; k < 4; k++) {
        PC_CASE("gamma %g", gamma[k]);
        PC_EXPECT_TRUE(gamma[k] * gamma[k] * 1e-3 < 9.81 * h * h); /* else it is thrown out */
        char settings[32];
        double depth[3];
        snprintf(settings, sizeof settings, "gamma=%g", gamma[k]);
        for (int i = 0; i < 3; i++) {
            End end;
            play("sunken", settings, h, (i + 1) * h, &end);
            depth[i] = 0.5 - end.place[0][2];
        }
        for (int i = 1; i < 3; i++) PC_EXPECT_NEAR(1.0 - gamma[k], depth[i] / depth[i - 1], 0.01 * (1.0 - gamma[k]));
    }
}

PC_TEST(Papers, WithoutStabilizationBalance2DriftsTenTimesAsFar)
{
    double none = play("balance2", "gamma=0", 0.02, 0.0, NULL).infeasibility.mean;
    double full = play("balance2", "gamma=1", 0.02, 0.0, NULL).infeasibility.mean;
    printf("  balance2, h = 0.02: mean infeasibility %.2e at gamma 0, %.2e at gamma 1\n", none, full);
    PC_EXPECT_TRUE(full > 1e-10 && none >= 10.0 * full);
}

/* The rule stands in plugin/constraint/contact.c. */
PC_TEST(Papers, AdaptiveGammaIsAsGoodAsTheBestFixedOne)
{
    static const char* const worlds[] = {"balance2", "pyramid1", "dice3", "setup6"};
    static const double gamma[] = {0.1, 0.25, 0.5, 0.75, 1.0}, h[] = {0.02, 0.01};
    for (int k = 0; k < 8; k++) {
        PC_CASE("%s, h = %g", worlds[k / 2], h[k % 2]);
        double best = HUGE_VAL;
        for (int i = 0; i < 5; i++) {
            char settings[32];
            snprintf(settings, sizeof settings, "gamma=%g", gamma[i]);
            best = fmin(best, play(worlds[k / 2], settings, h[k % 2], 0.0, NULL).infeasibility.mean);
        }
        pcPlayed adaptive = play(worlds[k / 2], "adaptiveGamma=1", h[k % 2], 0.0, NULL);
        PC_EXPECT_TRUE(adaptive.infeasibility.mean <= 1.05 * best);
        PC_EXPECT_TRUE(adaptive.energyGain <= 1e-9); /* no extra energy */
    }
}

/* The relaxation lifts what slides, so it is never infeasible; the papers' own gap and events are far more so at large steps. */
PC_TEST(Papers, OtherModelAndOtherGapBehaveAsTheTableSays)
{
    static const char* const worlds[] = {"balance2", "dice3"};
    static const char* const eps[] = {"gap=ratio gammaGap=paper gamma=1 epsX=0.01 epsT=0.1 eps0=1e-4",
                                      "gap=ratio gammaGap=paper gamma=1 epsX=0.5 epsT=0.2 eps0=1e-7"};
    for (int k = 0; k < 2; k++) {
        PC_CASE("%s", worlds[k]);
        double ours = play(worlds[k], "gamma=1", 0.02, 0.0, NULL).infeasibility.mean;
        double paper = play(worlds[k], eps[k], 0.02, 0.0, NULL).infeasibility.mean;
        PC_EXPECT_TRUE(paper > 10.0 * ours && paper < 1.0);
        char path[512];
        pcPlayed convex;
        snprintf(path, sizeof path, "%s/papers/%s.world", PCONTACT_TEST_WORLDS, worlds[k]);
        PC_EXPECT_EQ_INT(PC_OK, pcPlay(&(pcPlayPlan){.file = path, .settings = "model=convex gamma=1", .step = 0.02}, &convex));
        PC_EXPECT_TRUE(convex.infeasibility.mean < 1e-12 && convex.residual <= 1e-10 && convex.nativeSteps == 0);
    }
}
