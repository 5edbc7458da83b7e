/* Candidate pairs against all pairs, and against motion: what touches within a step was a candidate before it. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "base/pose.h"
#include "base/sort.h"
#include "broadphase/broadphase.h"
#include "test_worlds/unit/clouds.h"
#include "test_worlds/unit/scene.h"

enum { KINDS = 4, MOST = 300 };

static void makeShapes(pcRandom* random, pcShape* shapes[KINDS])
{
    Cloud cloud = onSphere(random, 30);
    PC_EXPECT_STATUS(PC_OK, pcShapeBox((const double[3]){1, 0.5, 0.3}, shapes));
    PC_EXPECT_STATUS(PC_OK, pcShapeSphere(0.4, shapes + 1));
    shapes[2] = hullOf(&cloud, NULL);
    PC_EXPECT_STATUS(PC_OK, pcShapeHalfSpace((const double[4]){0, 0.1, 2, -1}, shapes + 3));
    free(cloud.xyz);
}

static void freeShapes(pcShape* shapes[KINDS])
{
    for (int i = 0; i < KINDS; i++) pcShapeFree(shapes[i]);
}

static pcPose randomPose(pcRandom* random, double spread)
{
    pcPose pose;
    for (int i = 0; i < 3; i++) pose.position[i] = between(random, -spread, spread);
    for (int i = 0; i < 4; i++) pose.quaternion[i] = between(random, -1, 1);
    return pose;
}

/* Half-spaces are rare and stand still. */
static int randomKind(pcRandom* random) { return between(random, 0, 1) < 0.02 ? 3 : (int)between(random, 0, 3); }

static void expectSamePairs(const pcProxy* proxies, int count, const pcPair* pairs, int pairCount)
{
    int at = 0;
    for (int i = 0; i < count; i++)
        for (int k = i + 1; k < count; k++) {
            bool listed = at < pairCount && pairs[at].shape1 == i && pairs[at].shape2 == k;
            if (listed != pcProxiesMeet(proxies + i, proxies + k)) PC_FAIL("pair %d %d is %s", i, k, listed ? "too many" : "missing");
            at += listed;
        }
    PC_EXPECT_EQ_INT(at, pairCount);
}

PC_TEST(Broadphase, FindsThePairsThatAllPairsGive)
{
    pcRandom random = {11};
    pcShape* shapes[KINDS];
    pcProxy proxies[MOST] = {0};
    pcPose pose[MOST];
    int order[MOST], kind[MOST];
    pcArena arena = {0};
    makeShapes(&random, shapes);
    for (int i = 0; i < MOST; i++) order[i] = i, kind[i] = randomKind(&random), pose[i] = randomPose(&random, 5);
    for (int round = 0; round < 20; round++) {
        PC_CASE("round=%d", round);
        pcArenaRelease(&arena, 0);
        for (int i = 0; i < MOST; i++) {
            pose[i].position[round % 3] += between(&random, -0.2, 0.2);
            pcAhead ahead = {.h = 0.01, .centreOfMass = v3Load(pose[i].position), .pace = {between(&random, 0, 5), between(&random, 0, 5)}};
            pcProxyPlace(shapes[kind[i]], pose + i, &ahead, proxies + i);
            proxies[i].body = i / 2 - 1, proxies[i].moves = i % 5 > 0;
            proxies[i].category = i % 3 ? 0 : 1u << (i % 4), proxies[i].collide = i % 3 ? 0 : 3;
        }
        pcPair* pairs = NULL;
        int count = pcPairsFind(&arena, proxies, MOST, order, &pairs);
        expectSamePairs(proxies, MOST, pairs, count);
        PC_EXPECT_GT(count, 50);
    }
    pcArenaFree(&arena);
    freeShapes(shapes);
}

/* A cube of boxes, `spacing` apart: 0 puts all of them into one place. */
static void expectPairsOfCube(int count, double spacing, int atLeast)
{
    pcRandom random = {17};
    pcShape* box;
    pcArena arena = {0};
    pcProxy* proxies = pcArenaNew(&arena, pcProxy, count);
    int *order = pcArenaNew(&arena, int, count), side = (int)ceil(cbrt(count));
    PC_EXPECT_STATUS(PC_OK, pcShapeBox((const double[3]){0.1, 0.15, 0.2}, &box));
    for (int i = 0; i < count; i++) {
        pcPose pose = randomPose(&random, 0.02);
        const int place[3] = {i % side, i / side % side, i / side / side};
        for (int k = 0; k < 3; k++) pose.position[k] += spacing * place[k];
        pcAhead ahead = {.h = 0.01, .centreOfMass = v3Load(pose.position), .pace = {between(&random, 0, 1), 0}};
        pcProxyPlace(box, &pose, &ahead, proxies + i);
        order[i] = i, proxies[i].body = i, proxies[i].moves = i % 7 > 0;
        proxies[i].category = proxies[i].collide = ~0u;
    }
    pcPair* pairs = NULL;
    int found = pcPairsFind(&arena, proxies, count, order, &pairs);
    expectSamePairs(proxies, count, pairs, found);
    PC_EXPECT_GE(found, atLeast);
    pcArenaFree(&arena);
    pcShapeFree(box);
}

PC_TEST(Broadphase, FindsThePairsOfTightPiles)
{
    expectPairsOfCube(1500, 0.18, 10000);
    expectPairsOfCube(300, 0.0, 40000);
    for (int few = 0; few < 10; few++) expectPairsOfCube(few, 0.0, 0);
}

/* Two bodies, one step of their motion in many parts: if they touch in any of them, they were a pair, and its margin covered the gap. */
static int touchesWithin(pcRandom* random, pcShape* const shapes[KINDS])
{
    double h = 0.02, velocity[2][6];
    int kind[2] = {(int)between(random, 0, 3), (int)between(random, 0, 4)}, order[2] = {0, 1};
    pcPose pose[2] = {randomPose(random, 0.9), randomPose(random, 0.5)};
    pcProxy proxies[2] = {0};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 6; k++) velocity[i][k] = between(random, -8, 8);
        pcAhead ahead = {.h = h, .centreOfMass = v3Load(pose[i].position)};
        ahead.pace = (pcPace){v3Norm(v3Load(velocity[i])), v3Norm(v3Load(velocity[i] + 3))};
        pcProxyPlace(shapes[kind[i]], pose + i, &ahead, proxies + i);
        proxies[i].body = i, proxies[i].moves = true;
    }
    pcArena arena = {0};
    pcPair* pairs = NULL;
    int found = pcPairsFind(&arena, proxies, 2, order, &pairs), touched = 0;
    double margin = found ? pairs[0].margin : 0;
    pcArenaFree(&arena);
    pcMetric before, m;
    if (pcMetricPair(shapes[kind[0]], pose, shapes[kind[1]], pose + 1, 0, NULL, &before) == PC_ERROR_UNSUPPORTED) return 0;
    for (int part = 1; part <= 8 && before.gap > 0; part++) {
        pcPose moved[2] = {pcPoseAdvance(pose, velocity[0], h * part / 8), pcPoseAdvance(pose + 1, velocity[1], h * part / 8)};
        if (pcMetricPair(shapes[kind[0]], moved, shapes[kind[1]], moved + 1, 0, NULL, &m) == PC_OK && m.gap <= 0) touched = 1;
    }
    if (touched && !found) PC_FAIL("shapes of kind %d and %d touch but are no pair", kind[0], kind[1]);
    if (touched && !(before.gap <= margin * (before.r > 1 ? before.r : 1))) PC_FAIL("gap %g, margin %g", before.gap, margin);
    return touched;
}

PC_TEST(Broadphase, MissesNothingThatTouchesWithinTheStep)
{
    pcRandom random = {12};
    pcShape* shapes[KINDS];
    int touched = 0;
    makeShapes(&random, shapes);
    for (int i = 0; i < 10000; i++) {
        PC_CASE("i=%d", i);
        touched += touchesWithin(&random, shapes);
    }
    PC_EXPECT_GT(touched, 100);
    freeShapes(shapes);
}

/* The first strikes the second, which within the same step would go through the third, and that through the fourth. */
PC_TEST(Broadphase, LooksAheadForBodiesThatAreStruck)
{
    static const double mass[4] = {5, 1, 1, 0.2};
    Scene s;
    sceneBegin(&s);
    memset(s.system.gravity, 0, sizeof s.system.gravity);
    for (int i = 0; i < 4; i++) sceneSphere(&s, 0.11 * i, 0, 0, 0.05, mass[i]);
    s.body[0].velocity[0] = 20;
    sceneStep(&s);
    PC_EXPECT_GT(s.body[3].velocity[0], 10);
    for (int i = 1; i < 4; i++) PC_EXPECT_GE(s.body[i].pose.position[0] - s.body[i - 1].pose.position[0], 0.1 - 1e-6);
    sceneEnd(&s);
}

/* Not even without gravity and velocities, where only the part of the size is left to look ahead. */
PC_TEST(Broadphase, ContactsAtRestPersist)
{
    Scene s;
    sceneBegin(&s);
    memset(s.system.gravity, 0, sizeof s.system.gravity);
    sceneFloor(&s);
    sceneBox(&s, 0, 0, 0.5 + 1e-4, (const double[3]){1, 1, 1}, 1);
    for (int i = 0; i < 20; i++) {
        sceneStep(&s);
        PC_EXPECT_EQ_INT(4, s.result.contactCount);
    }
    sceneEnd(&s);
}

static int pairsWith(unsigned category1, unsigned collide1, unsigned category2, unsigned collide2)
{
    Scene s;
    sceneBegin(&s);
    sceneSphere(&s, 0, 0, 0, 1, 1), sceneSphere(&s, 0, 0, 1.5, 1, 1);
    s.shape[0].category = category1, s.shape[0].collide = collide1;
    s.shape[1].category = category2, s.shape[1].collide = collide2;
    sceneStep(&s);
    int pairs = s.result.report.pairs;
    sceneEnd(&s);
    return pairs;
}

PC_TEST(Broadphase, RespectsCategories)
{
    PC_EXPECT_EQ_INT(1, pairsWith(0, 0, 0, 0));
    PC_EXPECT_EQ_INT(1, pairsWith(1, 2, 2, 0));
    PC_EXPECT_EQ_INT(1, pairsWith(1, 0, 2, 1));
    PC_EXPECT_EQ_INT(0, pairsWith(1, 1, 2, 2));
    PC_EXPECT_EQ_INT(1, pairsWith(1, 1, 0, 0));
}

PC_TEST(Broadphase, SkipsShapesOfOneBodyAndBodiesThatDoNotMove)
{
    Scene s;
    sceneBegin(&s);
    sceneSphere(&s, 0, 0, 0, 1, 1), sceneSphere(&s, 0, 0, 1.5, 1, 1);
    sceneFloor(&s);
    s.shape[1].body = 0;
    s.body[0].kind = s.body[1].kind = PC_BODY_KINEMATIC;
    sceneStep(&s);
    PC_EXPECT_EQ_INT(0, s.result.report.pairs);
    s.body[0].kind = PC_BODY_DYNAMIC;
    sceneStep(&s);
    PC_EXPECT_EQ_INT(2, s.result.report.pairs);
    sceneEnd(&s);
}

PC_TEST(Broadphase, UsesTheMarginOfTheSettings)
{
    for (int wide = 0; wide < 2; wide++) {
        Scene s;
        sceneBegin(&s);
        s.settings.margin = wide ? 0.3 : 0.1;
        sceneFloor(&s);
        sceneBox(&s, 0, 0, 0.7, (const double[3]){1, 1, 1}, 1);
        sceneStep(&s);
        PC_EXPECT_EQ_INT(wide ? 4 : 0, s.result.report.events);
        sceneEnd(&s);
    }
}

PC_TEST(Sort, IsStableAndOrdersNumbers)
{
    enum { COUNT = 1000 };
    pcRandom random = {3};
    static pcKeyed items[COUNT], room[COUNT];
    for (int i = 0; i < COUNT; i++) items[i] = (pcKeyed){pcKeyOfNumber(floor(between(&random, -20, 20)) * (i % 2 ? 1e-300 : 1e10)), i};
    pcSortKeyed(items, COUNT, room);
    for (int i = 1; i < COUNT; i++)
        PC_EXPECT_TRUE(items[i - 1].key < items[i].key || (items[i - 1].key == items[i].key && items[i - 1].index < items[i].index));
    PC_EXPECT_TRUE(pcKeyOfNumber(-1) < pcKeyOfNumber(-1e-300) && pcKeyOfNumber(-1e-300) < pcKeyOfNumber(0) &&
                   pcKeyOfNumber(0) < pcKeyOfNumber(2));
    PC_EXPECT_TRUE(pcKeyOfNumber(-HUGE_VAL) < pcKeyOfNumber(-1e300) && pcKeyOfNumber(1e300) < pcKeyOfNumber(HUGE_VAL));
}
