/* G's worlds as files, under model=implicit: what `pcontact compare disc --model implicit`, `compare two_spheres --model implicit`, `compare
 * quasi_rigid` and `compare quasi_rigid_deep` play. */
#include <math.h>
#include <string.h>

#include "adapters/cli/play.h"
#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/implicit_worlds.h"

static pcPlayed play(const char* file, const char* settings, pcStatus (*watch)(void*, const pcPlayMoment*), void* watcher)
{
    pcPlayed played = {0};
    pcPlayPlan plan = {.file = file, .settings = settings, .watch = watch, .watcher = watcher};
    PC_EXPECT_STATUS(PC_OK, pcPlay(&plan, &played));
    PC_EXPECT_EQ_INT(0, played.nativeSteps);
    PC_EXPECT_EQ_INT(0, played.inaccurate);
    PC_EXPECT_LE(played.residual, 1e-10);
    PC_EXPECT_EQ_STR("", played.skipped);
    return played;
}

/* ---- G 6.1 ---- */

typedef struct Rolling {
    double least, most; /* kinetic energy */
} Rolling;

static pcStatus watchDisc(void* watcher, const pcPlayMoment* moment)
{
    Rolling* r = watcher;
    const dReal *v = dBodyGetLinearVel(moment->stage->body[0].body), *w = dBodyGetAngularVel(moment->stage->body[0].body);
    double energy = 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + 0.25 * w[1] * w[1];
    r->least = fmin(r->least, energy), r->most = fmax(r->most, energy);
    return PC_OK;
}

PC_TEST(PapersImplicit, DiscKeepsItsEnergyForTenTurns)
{
    Rolling r = {HUGE_VAL, 0.0};
    pcPlayed played = play(PCONTACT_TEST_WORLDS "/papers/disc.world", "model=implicit", watchDisc, &r);
    PC_EXPECT_EQ_INT(2094, played.steps);
    PC_EXPECT_LE(played.length.most, 1e-9);
    PC_EXPECT_LE(played.law, 1e-10); /* Coulomb's, at the end of the step */
    PC_EXPECT_TRUE(isnan(played.coreMet));
    PC_EXPECT_NEAR(6.75, r.least, 1e-9);
    PC_EXPECT_NEAR(6.75, r.most, 1e-9);
}

/* ---- G 6.2 ---- */

typedef struct Hollow {
    double last[2]; /* when the first and the second last pushed */
    double slides;  /* when it began to slide on the second */
} Hollow;

/* Velocity of the ball where it touches a sphere about `centre`. */
static double slipOn(dBodyID ball, const double centre[3])
{
    const dReal *x = dBodyGetPosition(ball), *v = dBodyGetLinearVel(ball), *w = dBodyGetAngularVel(ball);
    double d[3] = {centre[0] - x[0], centre[1] - x[1], centre[2] - x[2]}, far = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    for (int k = 0; k < 3; k++) d[k] /= far;
    double u[3] = {v[0] + w[1] * d[2] - w[2] * d[1], v[1] + w[2] * d[0] - w[0] * d[2], v[2] + w[0] * d[1] - w[1] * d[0]};
    double along = u[0] * d[0] + u[1] * d[1] + u[2] * d[2];
    return sqrt(fmax(0.0, u[0] * u[0] + u[1] * u[1] + u[2] * u[2] - along * along));
}

static pcStatus watchSpheres(void* watcher, const pcPlayMoment* moment)
{
    static const double second[3] = {0.0, 11.4, 0.0};
    Hollow* r = watcher;
    pcWorldContact contact[8];
    int count = 0;
    double time = moment->h * moment->step;
    if (moment->step == 0) return PC_OK;
    PC_EXPECT_STATUS(PC_OK, pcWorldContacts(moment->stage->world, contact, 8, &count));
    for (int i = 0; i < count && i < 8; i++) {
        const pcWorldContact* c = contact + i;
        double push = c->normal[0] * c->impulse[0] + c->normal[1] * c->impulse[1] + c->normal[2] * c->impulse[2];
        if (push > 0.0) r->last[hypot(c->point[1] - 11.4, hypot(c->point[0], c->point[2])) < 9.1] = time;
    }
    if (r->slides == 0.0 && r->last[1] == time && slipOn(moment->stage->body[0].body, second) > 1e-6) r->slides = time;
    return PC_OK;
}

PC_TEST(PapersImplicit, SphereLeavesTheTwoWhenThePaperSays)
{
    Hollow r = {{0, 0}, 0};
    pcPlayed played = play(PCONTACT_TEST_WORLDS "/papers/two_spheres.world", "model=implicit", watchSpheres, &r);
    PC_EXPECT_EQ_INT(400, played.steps);
    PC_EXPECT_LE(played.length.most, 1e-9);
    PC_EXPECT_NEAR(3.2, r.last[0], 0.1);
    PC_EXPECT_NEAR(3.6, r.last[1], 0.1);
    PC_EXPECT_NEAR(3.0, r.slides, 0.1);
}

/* ---- G 6.3 ---- */

/* How high the disc is after each step. */
typedef struct Fall {
    double height[10001];
} Fall;

static pcStatus watchFall(void* watcher, const pcPlayMoment* moment)
{
    ((Fall*)watcher)->height[moment->step] = dBodyGetPosition(moment->stage->body[0].body)[2];
    return PC_OK;
}

/* The file, through the stage and ODE's integration, moves as the functions alone do. */
static void expectFall(const Fall* f, double deepest)
{
    static ImplicitWorld w; /* too large for the stack */
    double off = 0.0;
    implicitLayered(&w, 1e-4, deepest, PC_SCHEME_EULER);
    for (int i = 1; i <= 10000; i++) {
        PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
        off = fmax(off, fabs(f->height[i] - w.body[0].pose.position[2]));
    }
    PC_EXPECT_LE(off, 1e-9);
    implicitWorldEnd(&w);
}

PC_TEST(PapersImplicit, DiscStrikesTheCoreOfALayerWhenThePaperSays)
{
    static Fall f;
    pcPlayed played = play(PCONTACT_TEST_WORLDS "/papers/quasi_rigid.world", "", watchFall, &f), native = {0};
    PC_EXPECT_EQ_INT(10000, played.steps);
    PC_EXPECT_EQ_INT(PC_MODEL_IMPLICIT, (int)played.settings.model);
    PC_EXPECT_NEAR(0.34, played.coreMet, 0.005);
    PC_EXPECT_NEAR(0.05, played.length.most, 1e-9); /* the layer, and nothing of its core */
    PC_EXPECT_LE(played.law, 1e-8);
    expectFall(&f, 0.05);

    pcPlayPlan plan = {.file = PCONTACT_TEST_WORLDS "/papers/quasi_rigid.world", .settings = "model=native"};
    PC_ASSERT_STATUS(PC_OK, pcPlay(&plan, &native));
    PC_EXPECT_NEAR(played.coreMet, native.coreMet, 2e-4); /* the same spring so far */
    PC_EXPECT_GT(native.length.most, 0.1);                /* which goes on where the core would be */
}

PC_TEST(PapersImplicit, DiscNeverMeetsTheCoreOfADeepLayer)
{
    static Fall f;
    const double g = 9.81, k = 1000.0;
    pcPlayed played = play(PCONTACT_TEST_WORLDS "/papers/quasi_rigid_deep.world", "", watchFall, &f);
    PC_EXPECT_TRUE(isnan(played.coreMet));
    PC_EXPECT_NEAR(g / k + sqrt(g * g / (k * k) + 2.0 * g * 0.5 / k), played.length.most, 1e-3); /* of the energy */
    expectFall(&f, 1.0);
}
