/* Rows, cones and islands: what the solvers are given. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "base/pool.h"
#include "constraint/constraint.h"
#include "test_worlds/fuzz/random.h"
#include "test_worlds/unit/scene.h"

static const double unit[3] = {1, 1, 1};

/* The assembly of a scene's bodies, rows and given contacts. */
typedef struct Built {
    pcArena arena;
    pcAssembly assembly;
    pcMotion motion[SCENE_MOST];
    pcTouch touch[SCENE_MOST];
    pcIsland* islands;
    int count;
} Built;

static void build(const Scene* s, Built* b)
{
    memset(b, 0, sizeof *b);
    pcMotionsFill(&s->system, s->h, b->motion);
    for (int i = 0; i < s->system.contactCount; i++) {
        const pcContact* c = s->contact + i;
        b->touch[i] = (pcTouch){c->body1, c->body2, -1, -1, -1, c->id, v3Load(c->point), v3Load(c->normal), c->gap, c->surface};
    }
    b->assembly = (pcAssembly){.arena = &b->arena, .system = &s->system, .settings = &s->settings, .h = s->h, .motion = b->motion};
    b->assembly.touch = b->touch, b->assembly.touches = s->system.contactCount;
    b->count = pcIslandsFind(&b->assembly, &b->islands);
    for (int i = 0; i < b->count; i++) PC_EXPECT_TRUE(pcIslandAssemble(&b->assembly, b->islands + i));
}

/* One body of mass 1 at the origin, one contact below it. */
static pcContact* beginOne(Scene* s, double gap)
{
    sceneBegin(s);
    sceneBody(s, (const double[3]){0, 0, 0}, 1, unit);
    return sceneContact(s, 0, (const double[3]){0.2, 0, -0.5}, gap);
}

static double rowTimes(const pcProblem* p, int row, const double* v)
{
    double sum = 0;
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 6 && p->block[2 * row + side] >= 0; k++)
            sum += p->J[12 * row + 6 * side + k] * v[6 * p->block[2 * row + side] + k];
    return sum;
}

PC_TEST(Assembly, IsotropicContactIsOneConeOfThreeRows)
{
    static Scene s;
    static Built b;
    pcContact* c = beginOne(&s, 0.001);
    c->surface.mu = 0.3;
    build(&s, &b);
    PC_ASSERT_EQ_INT(1, b.count);
    const pcProblem* p = &b.islands[0].problem;
    PC_EXPECT_EQ_INT(1, p->blocks);
    PC_EXPECT_EQ_INT(3, p->rows);
    PC_EXPECT_EQ_INT(1, p->cones);
    PC_EXPECT_EQ_INT(PC_CONE_FRICTION, p->cone[0].kind);
    PC_EXPECT_EQ_INT(1, p->cone[0].groups);
    PC_EXPECT_EQ_INT(2, p->cone[0].groupSize[0]);
    PC_EXPECT_NEAR(-0.001 / s.h, p->target[0], 1e-15);
    PC_EXPECT_NEAR(0.3, v3Norm(v3Load(p->J + 12 + 6)), 1e-15);
    const double spin[6] = {0, 0, 0, 0, 1, 0}; /* v = w x r = (-0.5, 0, -0.2) at the contact */
    PC_EXPECT_NEAR(-0.2, rowTimes(p, 0, spin), 1e-15);
    PC_EXPECT_NEAR(0.3 * 0.5, hypot(rowTimes(p, 1, spin), rowTimes(p, 2, spin)), 1e-15);
    pcArenaFree(&b.arena);
    sceneEnd(&s);
}

typedef struct Case {
    const char* name;
    double mu, mu2, torsion, rolling;
    int limit;
    int rows, cones, groups, size0;
} Case;

PC_TEST(Assembly, GroupsAreThoseThatTheSurfaceHas)
{
    static const Case cases[] = {
        {"frictionless", 0, (double)NAN, 0, 0, 0, 1, 1, 0, 0},    {"one direction", 0.3, 0, 0, 0, 0, 2, 1, 1, 1},
        {"other direction", 0, 0.3, 0, 0, 0, 2, 1, 1, 1},         {"torsion alone", 0, 0, 0.1, 0, 0, 2, 1, 1, 1},
        {"rolling alone", 0, 0, 0, 0.1, 0, 3, 1, 1, 2},           {"all", 0.3, 0.2, 0.1, 0.1, 0, 6, 1, 3, 2},
        {"sticking", HUGE_VAL, (double)NAN, 0, 0, 0, 3, 3, 0, 0}, {"sticking one way", 0.3, HUGE_VAL, 0, 0, 0, 3, 2, 1, 1},
        {"bounded", 5, (double)NAN, 0, 0, 1, 3, 3, 0, 0},         {"bounded and rolling", 5, 0, 0.1, 0.1, 1, 5, 2, 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PC_CASE("%s", cases[i].name);
        static Scene s;
        static Built b;
        pcContact* c = beginOne(&s, 0);
        c->surface.mu = cases[i].mu, c->surface.mu2 = cases[i].mu2, c->surface.forceLimit = cases[i].limit;
        c->surface.torsion = cases[i].torsion, c->surface.rolling = cases[i].rolling;
        build(&s, &b);
        const pcProblem* p = &b.islands[0].problem;
        PC_EXPECT_EQ_INT(cases[i].rows, p->rows);
        PC_EXPECT_EQ_INT(cases[i].cones, p->cones);
        PC_EXPECT_EQ_INT(cases[i].groups, p->cone[0].groups);
        if (cases[i].groups > 0) PC_EXPECT_EQ_INT(cases[i].size0, p->cone[0].groupSize[0]);
        for (int k = 0, row = 0; k < p->cones; row += p->cone[k++].rows) PC_EXPECT_EQ_INT(row, p->cone[k].row);
        pcArenaFree(&b.arena);
        sceneEnd(&s);
    }
}

/* What cannot know whether it is pressed waits until it will be. */
PC_TEST(Assembly, SticksAndBoundsOnlyWherePressed)
{
    for (int i = 0; i < 4; i++) {
        PC_CASE("i=%d", i);
        static Scene s;
        static Built b;
        pcContact* c = beginOne(&s, i % 2 ? 0.01 : 0.0005); /* falls by 0.001 in the step */
        c->surface.mu = i / 2 ? 5 : HUGE_VAL, c->surface.forceLimit = i / 2;
        build(&s, &b);
        PC_EXPECT_EQ_INT(i % 2 ? 1 : 3, b.islands[0].problem.rows);
        pcArenaFree(&b.arena);
        sceneEnd(&s);
    }
}

PC_TEST(Assembly, SoftnessAndSlipScaleWithTheirRows)
{
    static Scene s;
    static Built b;
    pcContact* c = beginOne(&s, 0);
    c->surface.mu = 0.5, c->surface.softness = 0.1, c->surface.slip1 = 0.2, c->surface.slip2 = 0.4;
    c->surface.surfaceVelocity[0] = 3, c->surface.direction1[0] = 1;
    build(&s, &b);
    const pcProblem* p = &b.islands[0].problem;
    PC_EXPECT_NEAR(0.1, p->soft[0], 1e-15);
    PC_EXPECT_NEAR(0.25 * 0.2, p->soft[1], 1e-15);
    PC_EXPECT_NEAR(0.25 * 0.4, p->soft[2], 1e-15);
    PC_EXPECT_NEAR(-1.5, p->target[1], 1e-15);
    PC_EXPECT_NEAR(0, p->target[2], 1e-15);
    pcArenaFree(&b.arena);
    sceneEnd(&s);
}

PC_TEST(Assembly, TargetFollowsTheGap)
{
    static const struct {
        double gap, gamma;
        pcGammaGap form;
        double target;
    } cases[] = {{0.002, 0.5, PC_GAMMA_TOUCH, -0.2},          {0.002, 0.5, PC_GAMMA_PAPER, -0.1}, {-0.002, 0.5, PC_GAMMA_TOUCH, 0.1},
                 {-0.002, (double)NAN, PC_GAMMA_TOUCH, 0.04}, {-0.002, 0, PC_GAMMA_TOUCH, 0},     {-0.002, 1.5, PC_GAMMA_PAPER, 0.3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PC_CASE("i=%d", (int)i);
        static Scene s;
        static Built b;
        beginOne(&s, cases[i].gap);
        s.settings.gamma = cases[i].gamma, s.settings.gammaGap = cases[i].form;
        build(&s, &b);
        PC_EXPECT_NEAR(cases[i].target, b.islands[0].problem.target[0], 1e-14);
        pcArenaFree(&b.arena);
        sceneEnd(&s);
    }
}

PC_TEST(Assembly, PolygonTurnsToTheSlidingDirection)
{
    static Scene s;
    static Built b;
    pcContact* c = beginOne(&s, 0);
    c->surface.mu = 0.2, c->surface.mu2 = 0.6, c->surface.direction1[0] = 1;
    s.settings.coneEdges = 6;
    s.body[0].velocity[0] = 3, s.body[0].velocity[1] = 2;
    build(&s, &b);
    PC_EXPECT_EQ_INT(6, b.islands[0].problem.cone[0].edges);
    PC_EXPECT_NEAR(atan2(0.6 * 2, 0.2 * 3), b.islands[0].problem.cone[0].angle, 1e-12);
    pcArenaFree(&b.arena);
    sceneEnd(&s);
}

/* Where the normal turns a little, the tangents do. */
PC_TEST(Assembly, TangentsAreOrthonormalAndFollowTheNormal)
{
    v3 before[2] = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i <= 600; i++) {
        static Scene s;
        static Built b;
        pcContact* c = beginOne(&s, 0);
        double lean = 0.003 * i; /* from upright through level to leaning over */
        v3 n = {sin(lean) * 0.6, sin(lean) * 0.8, cos(lean)}, cross;
        v3Store(c->normal, n);
        build(&s, &b);
        v3 t1 = b.islands[0].touchRows[0].tangent1, t2 = b.islands[0].touchRows[0].tangent2;
        cross = v3Cross(t1, t2);
        PC_EXPECT_NEAR(1, v3Norm(t1), 1e-14);
        PC_EXPECT_NEAR(1, v3Norm(t2), 1e-14);
        PC_EXPECT_NEAR(0, v3Dot(t1, t2), 1e-14);
        PC_EXPECT_NEAR(1, v3Dot(cross, n), 1e-14);
        if (i > 0) PC_EXPECT_LE(v3Norm(v3Sub(t1, before[0])) + v3Norm(v3Sub(t2, before[1])), 0.02);
        before[0] = t1, before[1] = t2;
        pcArenaFree(&b.arena);
        sceneEnd(&s);
    }
}

PC_TEST(Assembly, BodiesThatDoNotMoveGoIntoTheTarget)
{
    static Scene s;
    static Built b;
    sceneBegin(&s);
    for (int i = 0; i < 2; i++) sceneBody(&s, (const double[3]){i, 0, 0}, 1, unit);
    s.body[0].kind = PC_BODY_KINEMATIC;
    s.body[0].velocity[0] = 2, s.body[0].velocity[5] = 3;
    pcRow* row = sceneRow(&s, 0, 1);
    row->jacobian[0] = -1, row->jacobian[5] = 0.5, row->jacobian[6] = 1, row->target = 10;
    build(&s, &b);
    const pcProblem* p = &b.islands[0].problem;
    PC_EXPECT_EQ_INT(-1, p->block[0]);
    PC_EXPECT_EQ_INT(0, p->block[1]);
    PC_EXPECT_NEAR(10 + 2 - 1.5, p->target[0], 1e-14);
    for (int k = 0; k < 6; k++) PC_EXPECT_TRUE(p->J[k] == 0);
    pcArenaFree(&b.arena);
    sceneEnd(&s);
}

/* 0-3 by a row, 1-4 by a contact, 2 alone on the world, 5 alone; what is fixed ties nothing together. */
PC_TEST(Assembly, IslandsAreWhatHangsTogether)
{
    static Scene s;
    static Built b;
    sceneBegin(&s);
    for (int i = 0; i < 7; i++) sceneBody(&s, (const double[3]){i, 0, 0}, 1, unit);
    s.body[6].kind = PC_BODY_STATIC;
    sceneRow(&s, 3, 0)->jacobian[0] = 1;
    sceneRow(&s, 6, 2)->jacobian[6] = 1;
    sceneContact(&s, 4, unit, 0)->body1 = 1;
    sceneContact(&s, 4, unit, 0)->body1 = 6;
    sceneContact(&s, 0, unit, 0)->body1 = 6;
    sceneRow(&s, PC_WORLD, 6)->jacobian[6] = 1;
    build(&s, &b);
    PC_ASSERT_EQ_INT(3, b.count);
    static const int first[3][5] = {{2, 0, 3, 1, 1}, {2, 1, 4, 0, 2}, {1, 2, -1, 1, 0}}; /* bodies; the first two; rows, contacts */
    for (int i = 0; i < 3; i++) {
        const pcIsland* island = b.islands + i;
        PC_EXPECT_EQ_INT(first[i][0], island->bodies);
        PC_EXPECT_EQ_INT(first[i][1], island->body[0]);
        if (island->bodies > 1) PC_EXPECT_EQ_INT(first[i][2], island->body[1]);
        PC_EXPECT_EQ_INT(first[i][3], island->rows);
        PC_EXPECT_EQ_INT(first[i][4], island->touches);
    }
    pcArenaFree(&b.arena);
    sceneEnd(&s);
}

/* The contact of an event is its wrench: the same row, about the centre of mass. */
PC_TEST(Assembly, EventsKeepTheirWrench)
{
    pcShape *box = NULL, *other = NULL;
    PC_ASSERT_STATUS(PC_OK, pcShapeBox(unit, &box));
    PC_ASSERT_STATUS(PC_OK, pcShapeBox((const double[3]){2, 1, 0.5}, &other));
    pcPose pose1 = {{0, 0, 0}, {0.9, 0.1, 0.3, -0.2}}, pose2 = {{0.3, 0.2, 0.72}, {0.5, -0.4, 0.3, 0.6}};
    pcEventSettings settings = pcDefaultEventSettings();
    settings.margin = 0.5;
    pcEvent events[32];
    int count = 0;
    for (int kind = 0; kind < 3; kind++) {
        settings.gap = (pcGapKind)kind;
        PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(box, &pose1, other, &pose2, 0, &settings, NULL, events, 32, &count));
        PC_EXPECT_GT(count, 0);
        for (int i = 0; i < count; i++) {
            pcTouch touch = pcTouchOfEvent(events + i, &pose2);
            v3 n = v3Load(events[i].normal), torque1 = v3Neg(v3Cross(v3Sub(touch.point, v3Load(pose1.position)), n));
            v3 torque2 = v3Cross(v3Sub(touch.point, v3Load(pose2.position)), n);
            PC_EXPECT_LE(v3Norm(v3Sub(torque1, v3Load(events[i].wrench + 3))), 1e-13);
            PC_EXPECT_LE(v3Norm(v3Sub(torque2, v3Load(events[i].wrench + 9))), 1e-13);
        }
    }
    pcShapeFree(box), pcShapeFree(other);
}

PC_TEST(Assembly, FreeVelocityIsTakenAsGiven)
{
    static Scene s;
    static Built b;
    double given[6] = {1, 2, 3, 4, 5, 6};
    beginOne(&s, 0);
    s.system.freeVelocity = given;
    build(&s, &b);
    PC_EXPECT_TRUE(memcmp(given, b.islands[0].problem.free, sizeof given) == 0);
    pcArenaFree(&b.arena);
    sceneEnd(&s);
}

/* However fast it turns, a body without torque gains no energy. */
PC_TEST(Assembly, GyroscopeIsStableAtAnySpeed)
{
    for (int i = 0; i < 8; i++) {
        PC_CASE("i=%d", i);
        static Scene s;
        sceneBegin(&s);
        memset(s.system.gravity, 0, sizeof s.system.gravity);
        sceneBody(&s, (const double[3]){0, 0, 0}, 1, (const double[3]){0.1, 1, 1.05});
        double speed = pow(10, i);
        s.body[0].velocity[3] = speed, s.body[0].velocity[4] = 0.5 * speed, s.body[0].velocity[5] = -0.3 * speed;
        double last = HUGE_VAL;
        for (int k = 0; k < 50; k++) {
            sceneStep(&s);
            if (!(s.result.report.kinetic <= last * (1 + 1e-12))) PC_FAIL("energy rises from %g to %g", last, s.result.report.kinetic);
            last = s.result.report.kinetic;
        }
        sceneEnd(&s);
    }
}

/* ---- many contacts, by several threads ---- */

enum { MANY = 5000 };

/* Contacts of every kind that a surface makes, most of them too far away to be pressed, so that their bounds are left out. */
static void fillMany(pcTouch* touch, const pcSettings* settings)
{
    pcRandom random = {7};
    for (int i = 0; i < MANY; i++) {
        uint64_t bits = pcRandomBits(&random);
        pcSurface s = pcDefaultSurface(settings);
        s.mu = bits & 1 ? 0.5 : 0.0, s.torsion = bits & 2 ? 0.01 : 0.0, s.rolling = bits & 4 ? 0.02 : 0.0;
        if ((bits & 24) == 8) s.mu = HUGE_VAL;
        if ((bits & 96) == 32) s.forceLimit = PC_LIMIT_FRICTION;
        touch[i] = (pcTouch){-1, 0, -1, -1, -1, (unsigned long long)i, {0.001 * i, 0, -0.5}, {0, 0, 1}, bits & 128 ? 1.0 : 0.0, s};
    }
}

PC_TEST(Assembly, ThreadsThatShareManyContactsMakeTheSameProblem)
{
    static Scene s;
    static pcTouch touch[MANY];
    static pcMotion motion[SCENE_MOST];
    pcPool* pool = pcPoolCreate();
    pcArena arena[2] = {{0}, {0}};
    pcIsland* island[2];
    sceneBegin(&s);
    s.settings.friction = PC_FRICTION_HOST;
    sceneBody(&s, (const double[3]){0, 0, 0}, 1, unit);
    pcMotionsFill(&s.system, s.h, motion);
    fillMany(touch, &s.settings);
    for (int i = 0; i < 2; i++) {
        pcAssembly a = {.arena = arena + i, .system = &s.system, .settings = &s.settings, .h = s.h, .motion = motion};
        a.touch = touch, a.touches = MANY, a.pool = pool, a.threads = i == 0 ? 1 : 3;
        PC_ASSERT_EQ_INT(1, pcIslandsFind(&a, island + i));
        PC_ASSERT_TRUE(pcIslandAssemble(&a, island[i]));
    }
    const pcProblem *one = &island[0]->problem, *many = &island[1]->problem;
    PC_ASSERT_EQ_INT(one->rows, many->rows);
    PC_ASSERT_EQ_INT(one->cones, many->cones);
    size_t rows = (size_t)one->rows;
    PC_EXPECT_TRUE(rows > MANY && one->cones > MANY);
    PC_EXPECT_TRUE(memcmp(one->block, many->block, 2 * rows * sizeof *one->block) == 0);
    PC_EXPECT_TRUE(memcmp(one->J, many->J, 12 * rows * sizeof *one->J) == 0);
    PC_EXPECT_TRUE(memcmp(one->target, many->target, rows * sizeof *one->target) == 0);
    PC_EXPECT_TRUE(memcmp(one->soft, many->soft, rows * sizeof *one->soft) == 0);
    PC_EXPECT_NEAR(one->velocityScale, many->velocityScale, 0);
    for (int k = 0; k < one->cones; k++) {
        const pcCone *a = one->cone + k, *b = many->cone + k;
        if (a->kind != b->kind || a->row != b->row || a->rows != b->rows || a->groups != b->groups) PC_FAIL("cone %d differs", k);
    }
    for (int i = 0; i < MANY; i++)
        if (memcmp(island[0]->touchRows[i].row, island[1]->touchRows[i].row, sizeof island[0]->touchRows[i].row) != 0)
            PC_FAIL("rows of contact %d differ", i);
    pcPoolFree(pool);
    pcArenaFree(arena), pcArenaFree(arena + 1);
    sceneEnd(&s);
}

/* ---- piles ---- */

enum { PILE = 100 };

/* A row of bodies, each of which touches the next one with this gap, on a ground that it touches with none. The target of the first such contact, by the
 * speed of what falls for a step, where a unit of length is so many metres. */
static double targetInARow(int bodies, double gap, double metres)
{
    static pcBody body[PILE];
    static pcMotion motion[PILE];
    static pcTouch touch[PILE];
    const double h = 0.01, g = 9.81 / metres;
    pcArena arena = {0};
    pcSettings settings = pcDefaultSettings();
    pcSystem system = {.bodyCount = bodies, .bodies = body, .gravity = {0, 0, -g}};
    for (int i = 0; i < bodies; i++) {
        body[i] = (pcBody){.pose = {{i / metres, 0, 0}, {1, 0, 0, 0}}, .mass = 1, .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
        touch[i] = (pcTouch){.body1 = i > 0 ? i - 1 : PC_WORLD, .body2 = i, .shape1 = -1, .shape2 = -1, .gap = i > 0 ? gap : 0.0};
        touch[i].normal = v3Make(1, 0, 0), touch[i].point = v3Make((i - 0.5) / metres, 0, 0);
        touch[i].surface = pcDefaultSurface(&settings);
    }
    pcMotionsFill(&system, h, motion);
    pcAssembly a = {.arena = &arena, .system = &system, .settings = &settings, .h = h, .motion = motion, .touch = touch, .touches = bodies};
    pcIsland* island;
    double target = (double)NAN;
    if (pcIslandsFind(&a, &island) == 1 && pcIslandAssemble(&a, island))
        target = island->problem.target[island->problem.cone[1].row] / (g * h);
    pcArenaFree(&arena);
    return target;
}

/* What a body falls by in a step is 1e-3 m here. */
PC_TEST(Assembly, OfAPileWhatIsNextToNothingIsNone)
{
    const double fall = 9.81e-4;
    for (double metres = 1e-3; metres <= 1e3; metres *= 1e3) {
        PC_CASE("lengths in %g m", metres);
        PC_EXPECT_NEAR(0.0, targetInARow(PILE, 0.9e-6 * fall / metres, metres), 0.0);
        PC_EXPECT_NEAR(0.0, targetInARow(PILE, -0.9e-5 * fall / metres, metres), 0.0);
        PC_EXPECT_NEAR(-1.1e-6, targetInARow(PILE, 1.1e-6 * fall / metres, metres), 1e-15);
        PC_EXPECT_NEAR(0.2 * 1.1e-5, targetInARow(PILE, -1.1e-5 * fall / metres, metres), 1e-15);
        PC_EXPECT_NEAR(-0.9e-6, targetInARow(PILE - 1, 0.9e-6 * fall / metres, metres), 1e-15);
        PC_EXPECT_NEAR(0.2 * 0.9e-5, targetInARow(PILE - 1, -0.9e-5 * fall / metres, metres), 1e-15);
    }
}
