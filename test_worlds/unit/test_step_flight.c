/* flight=mean: what flies and bounces keeps its energy, what lies stays where it is, and nothing sinks in; without it all is as ever. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "base/vec.h"
#include "test_worlds/fuzz/random.h"
#include "test_worlds/unit/scene.h"

static void begin(Scene* s, double bounce)
{
    sceneBegin(s);
    s->settings.flight = PC_FLIGHT_MEAN, s->settings.bounce = bounce, s->settings.mu = 0;
}

static double energyOf(const Scene* s)
{
    double sum = 0;
    for (int i = 0; i < s->system.bodyCount; i++) {
        const pcBody* b = s->body + i;
        v3 v = v3Load(b->velocity), w = v3Load(b->velocity + 3);
        sum += b->mass * (0.5 * v3Dot(v, v) - v3Dot(v3Load(s->system.gravity), v3Load(b->pose.position)));
        sum += 0.5 * b->inertia[0] * v3Dot(w, w); /* of balls */
    }
    return sum;
}

/* ---- as ever ---- */

PC_TEST(StepFlight, IsOffByDefault)
{
    Scene s;
    sceneBegin(&s);
    PC_EXPECT_TRUE(s.settings.flight == PC_FLIGHT_END);
    int ball = sceneSphere(&s, 0, 0, 8, 0.5, 2);
    double z = 8, v = 0;
    for (int i = 0; i < 100; i++) {
        sceneStep(&s);
        v += s.h * -10, z += s.h * v;
        PC_EXPECT_TRUE(s.body[ball].velocity[2] == v && s.body[ball].pose.position[2] == z);
    }
    sceneEnd(&s);
}

/* ---- flight ---- */

PC_TEST(StepFlight, FreeFlightKeepsTheEnergy)
{
    Scene s;
    begin(&s, 0);
    int ball = sceneSphere(&s, 0, 0, 0, 0.5, 2);
    s.body[ball].velocity[0] = 3, s.body[ball].velocity[2] = 20, s.body[ball].velocity[4] = 5;
    double start = energyOf(&s);
    for (int i = 1; i <= 1000; i++) {
        sceneStep(&s);
        double t = i * s.h;
        PC_EXPECT_NEAR(start, energyOf(&s), 1e-12 * start);
        PC_EXPECT_NEAR(start, s.result.report.energy, 1e-12 * start);
        sceneExpectPlace(&s, ball, 3 * t, 0, 20 * t - 5 * t * t, 1e-10);
    }
    sceneEnd(&s);
}

/* The solver's tolerance is 1e-10; each bounce may be off by that. */
PC_TEST(StepFlight, HundredBouncesKeepTheEnergy)
{
    static const double steps[] = {0.01, 0.0033, 0.017, 0.05};
    for (int k = 0; k < 4; k++) {
        PC_CASE("h=%g", steps[k]);
        Scene s;
        begin(&s, 1);
        s.h = steps[k];
        sceneFloor(&s);
        int ball = sceneSphere(&s, 0, 0, 1.7, 0.1, 2), bounces = 0;
        double start = energyOf(&s), low = 1;
        for (int i = 0; i < 60000 && bounces < 100; i++) {
            double before = s.body[ball].velocity[2];
            sceneStep(&s);
            bounces += before < 0 && s.body[ball].velocity[2] > 0;
            low = fmin(low, s.body[ball].pose.position[2] - 0.1);
            PC_EXPECT_NEAR(start, energyOf(&s), 1e-9 * start);
        }
        PC_EXPECT_EQ_INT(100, bounces);
        PC_EXPECT_GE(low, -1e-10);
        sceneEnd(&s);
    }
}

/* The way to a ceiling grows shorter within the step, that to the floor longer; both are bounced off. */
PC_TEST(StepFlight, BounceBetweenFloorAndCeilingKeepsTheEnergy)
{
    Scene s;
    begin(&s, 1);
    sceneFloor(&s);
    pcShape* ceiling = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeHalfSpace((const double[4]){0, 0, -1, -1}, &ceiling));
    sceneShape(&s, PC_WORLD, ceiling);
    int ball = sceneSphere(&s, 0, 0, 0.4, 0.1, 2);
    s.body[ball].velocity[2] = 4.2;
    double start = energyOf(&s);
    for (int i = 0; i < 5000; i++) {
        sceneStep(&s);
        PC_EXPECT_NEAR(start, energyOf(&s), 1e-8 * start);
        PC_EXPECT_NEAR(0.5, s.body[ball].pose.position[2], 0.4 + 1e-10);
    }
    sceneEnd(&s);
}

/* e^2 of the height it fell from, not to what a step of gravity does, but to what the step misses of the top. */
PC_TEST(StepFlight, HeightIsTheSquareOfTheBounce)
{
    for (int i = 1; i <= 4; i++) {
        Scene s;
        begin(&s, 0.25 * i);
        PC_CASE("e=%g", s.settings.bounce);
        sceneFloor(&s);
        sceneSphere(&s, 0, 0, 1.1, 0.1, 1);
        for (int k = 0; k < 50; k++) sceneStep(&s);
        PC_EXPECT_REL(s.settings.bounce * s.settings.bounce * 10, energyOf(&s) - 1, 1e-8);
        sceneEnd(&s);
    }
}

PC_TEST(StepFlight, BallComesToRest)
{
    Scene s;
    begin(&s, 0.5);
    sceneFloor(&s);
    int ball = sceneSphere(&s, 0, 0, 0.6, 0.1, 1);
    sceneRun(&s, 300);
    sceneExpectPlace(&s, ball, 0, 0, 0.1, 1e-9);
    PC_EXPECT_LE(sceneSpeed(&s, ball), 1e-9);
    sceneEnd(&s);
}

/* ---- rest ---- */

PC_TEST(StepFlight, WhatLiesStaysWhereItIs)
{
    for (int count = 1; count <= 8; count += 7)
        for (int bouncy = 0; bouncy < 2; bouncy++) {
            PC_CASE("boxes=%d bouncy=%d", count, bouncy);
            Scene s;
            begin(&s, bouncy ? 0.9 : 0);
            s.settings.mu = 0.5;
            sceneFloor(&s);
            for (int i = 0; i < count; i++) sceneBox(&s, 0, 0, 0.5 + i, unitCube, 1);
            sceneRun(&s, 500);
            for (int i = 0; i < count; i++) {
                sceneExpectPlace(&s, i, 0, 0, 0.5 + i, 1e-10);
                PC_EXPECT_LE(sceneSpeed(&s, i), 1e-9);
            }
            sceneEnd(&s);
        }
}

/* A box that slides to rest, on the ground and while it falls on it, is where it is without. */
PC_TEST(StepFlight, WhatIsPressedMovesAsEver)
{
    Scene s[2];
    for (int i = 0; i < 2; i++) {
        begin(s + i, 0);
        s[i].settings.mu = 0.5, s[i].settings.flight = (pcFlight)i;
        sceneFloor(s + i);
        int box = sceneBox(s + i, 0, 0, 0.5, unitCube, 1);
        s[i].body[box].velocity[0] = 3;
        sceneRun(s + i, 100);
    }
    PC_EXPECT_TRUE(memcmp(s[0].body, s[1].body, sizeof s[0].body[0]) == 0);
    for (int i = 0; i < 2; i++) sceneEnd(s + i);
}

/* ---- many ---- */

/* Balls of one radius; how far the deepest pair, or one with the ground, overlaps. */
static double deepest(const Scene* s, double radius)
{
    double deep = 0;
    for (int i = 0; i < s->system.bodyCount; i++) {
        v3 x = v3Load(s->body[i].pose.position);
        deep = fmax(deep, radius - x.z);
        for (int k = 0; k < i; k++) deep = fmax(deep, 2 * radius - v3Norm(v3Sub(x, v3Load(s->body[k].pose.position))));
    }
    return deep;
}

/* Balls fall on balls and bounce: no step gains more energy than penetrations that are pushed out, and by both ways of flight they sink in alike. */
PC_TEST(StepFlight, HeapsGainNothingAndSinkNoDeeper)
{
    double deep[2] = {0, 0};
    for (int flight = 0; flight < 2; flight++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            PC_CASE("flight=%d seed=%d", flight, (int)seed);
            pcRandom random = {seed};
            Scene s;
            begin(&s, 0.5 + 0.05 * (double)(seed % 11));
            s.settings.flight = (pcFlight)flight;
            sceneFloor(&s);
            for (int i = 0; i < 8; i++)
                sceneSphere(&s, 0.21 * (i & 1) + 0.01 * pcRandomUnit(&random), 0.21 * (i >> 1 & 1), 0.3 + 0.22 * (i >> 2), 0.1, 1);
            double start = energyOf(&s), most = start;
            for (int i = 0; i < 300; i++) {
                sceneStep(&s);
                most = fmax(most, energyOf(&s));
                deep[flight] = fmax(deep[flight], deepest(&s, 0.1));
            }
            if (flight) PC_EXPECT_LE(most, start + 1e-3 * start);
            sceneEnd(&s);
        }
    PC_EXPECT_LE(deep[1], 1.01 * deep[0]);
}
