/* Random scenes under random settings: whatever comes, the step is finite, lawful and the same twice. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "base/vec.h"
#include "test_worlds/fuzz/cases.h"
#include "test_worlds/unit/scene.h"

static double between(pcRandom* random, double low, double high) { return low + (high - low) * pcRandomUnit(random); }
static int below(pcRandom* random, int count) { return (int)(pcRandomBits(random) % (unsigned)count); }

static int randomSurface(void* context, int shape1, int shape2, pcSurface* surface)
{
    pcRandom random = {*(const uint64_t*)context + (uint64_t)(64 * shape1 + shape2)};
    static const double mu[4] = {0, 0.3, 1, HUGE_VAL};
    surface->mu = mu[below(&random, 4)];
    if (below(&random, 3) == 0) surface->mu2 = mu[below(&random, 4)];
    if (below(&random, 3) == 0) surface->torsion = 0.02;
    if (below(&random, 3) == 0) surface->rolling = 0.01;
    surface->forceLimit = below(&random, 6) == 0;
    if (below(&random, 4) == 0) surface->bounce = between(&random, 0, 1);
    if (below(&random, 4) == 0) surface->surfaceVelocity[below(&random, 3)] = 1;
    if (below(&random, 4) == 0) surface->direction1[below(&random, 3)] = 1;
    if (below(&random, 6) == 0) surface->softness = 0.01, surface->slip1 = 0.02;
    return below(&random, 12) > 0;
}

static void randomSettings(pcRandom* random, pcSettings* s)
{
    s->tolerance = 1e-6;
    s->model = below(random, 8) ? PC_MODEL_LCP : PC_MODEL_CONVEX;
    s->gamma = below(random, 3) ? between(random, 0, 1) : (double)NAN;
    s->gammaGap = (pcGammaGap)below(random, 2), s->gap = (pcGapKind)below(random, 3);
    s->coneEdges = below(random, 2) ? 0 : 4 + 2 * below(random, 3);
    s->alignCone = below(random, 2), s->adaptiveGamma = below(random, 4) == 0, s->implicitJoints = below(random, 4) == 0;
    s->restitution = (pcRestitution)below(random, 2), s->friction = (pcFrictionLaw)below(random, 2);
    s->threads = 1 + below(random, 2);
}

static void randomBody(pcRandom* random, Scene* s, int i)
{
    const double size[3] = {between(random, 0.2, 1), between(random, 0.2, 1), between(random, 0.2, 1)};
    int body = sceneBox(s, between(random, -0.5, 0.5), between(random, -0.5, 0.5), 0.4 + 0.6 * i, size, between(random, 0.5, 5));
    pcBody* b = s->body + body;
    for (int k = 0; k < 4; k++) b->pose.quaternion[k] = between(random, -1, 1);
    for (int k = 0; k < 6; k++) b->velocity[k] = between(random, -2, 2), b->force[k] = between(random, -1, 1);
    if (below(random, 6) == 0) b->kind = below(random, 2) ? PC_BODY_KINEMATIC : PC_BODY_STATIC;
}

static void makeScene(uint64_t* seed, Scene* s)
{
    pcRandom random = {*seed};
    sceneBegin(s);
    randomSettings(&random, &s->settings);
    sceneFloor(s);
    int count = 1 + below(&random, 3);
    for (int i = 0; i < count; i++) randomBody(&random, s, i);
    s->system.surface = randomSurface, s->system.surfaceContext = seed;
    if (below(&random, 2)) {
        pcRow* row = sceneRow(s, PC_WORLD, below(&random, count));
        for (int k = 6; k < 12; k++) row->jacobian[k] = between(&random, -1, 1);
        row->target = between(&random, -1, 1);
        if (below(&random, 2)) row->lo = 0;
    }
}

/* No pull, and no more friction than each law allows. */
static void expectLawful(const Scene* s, uint64_t* seed)
{
    double scale = 0;
    for (int i = 0; i < s->result.contactCount; i++) scale = fmax(scale, fabs(s->touch[i].impulse[0]));
    for (int i = 0; i < s->result.contactCount; i++) {
        const pcContactResult* c = s->touch + i;
        pcSurface surface = pcDefaultSurface(&s->settings);
        randomSurface(seed, c->shape1, c->shape2, &surface);
        bool limit = surface.forceLimit && s->settings.friction == PC_FRICTION_HOST;
        double mu = fmax(surface.mu, isnan(surface.mu2) ? surface.mu : surface.mu2);
        PC_EXPECT_GE(c->impulse[0], 0);
        PC_EXPECT_LE(fabs(c->impulse[3]), surface.torsion * c->impulse[0] + 1e-9 * scale);
        PC_EXPECT_LE(hypot(c->impulse[4], c->impulse[5]), surface.rolling * c->impulse[0] + 1e-9 * scale);
        if (!limit && mu < HUGE_VAL) PC_EXPECT_LE(hypot(c->impulse[1], c->impulse[2]), mu * c->impulse[0] + 1e-9 * scale);
    }
}

PC_TEST(StepRandom, IsFiniteLawfulAndTheSameTwice)
{
    static Scene first, second;
    int touched = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        PC_CASE("seed=%d", (int)seed);
        uint64_t mine = 1000 * seed;
        makeScene(&mine, &first), makeScene(&mine, &second);
        second.settings.threads = 3 - first.settings.threads;
        for (int step = 0; step < 6; step++) {
            sceneStep(&first), sceneStep(&second);
            expectLawful(&first, &mine);
            touched += first.result.report.contacts > 0;
        }
        PC_EXPECT_TRUE(memcmp(first.body, second.body, sizeof first.body) == 0);
        for (int i = 0; i < first.system.bodyCount; i++) PC_EXPECT_LT(sceneSpeed(&first, i), 1e3);
        sceneEnd(&first), sceneEnd(&second);
    }
    PC_EXPECT_GT(touched, 120);
}
