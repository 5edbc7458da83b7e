/* Restitution by both laws: what comes back, and that no energy comes with it. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "base/vec.h"
#include "test_worlds/fuzz/cases.h"
#include "test_worlds/unit/scene.h"

static const double unit[3] = {1, 1, 1};
static const double origin[3] = {0, 0, 0};
static const pcModel models[2] = {PC_MODEL_LCP, PC_MODEL_CONVEX};

static void beginWithoutGravity(Scene* s, pcRestitution law, double e)
{
    sceneBegin(s);
    memset(s->system.gravity, 0, sizeof s->system.gravity);
    s->settings.restitution = law, s->settings.bounce = e;
}

/* Relative to a frame that moves with the velocity u. */
static double kinetic(const Scene* s, v3 u)
{
    double sum = 0;
    for (int i = 0; i < s->system.bodyCount; i++) {
        const pcBody* b = s->body + i;
        v3 v = v3Sub(v3Load(b->velocity), u), w = v3Load(b->velocity + 3);
        if (b->kind != PC_BODY_DYNAMIC) continue;
        sum += 0.5 * b->mass * v3Dot(v, v);
        sum += 0.5 * (b->inertia[0] * w.x * w.x + b->inertia[4] * w.y * w.y + b->inertia[8] * w.z * w.z);
    }
    return sum;
}

/* ---- what comes back ---- */

PC_TEST(StepRestitution, EqualMassesExchangeTheirVelocities)
{
    for (int law = 0; law < 2; law++)
        for (int model = 0; model < 2; model++) {
            PC_CASE("law=%d model=%d", law, model);
            Scene s;
            beginWithoutGravity(&s, (pcRestitution)law, 1);
            s.settings.model = models[model];
            sceneSphere(&s, 0, 0, 0, 0.1, 1), sceneSphere(&s, 0.205, 0, 0, 0.1, 1);
            s.body[0].velocity[0] = 2, s.body[1].velocity[0] = -1;
            sceneStep(&s);
            PC_EXPECT_NEAR(-1, s.body[0].velocity[0], 1e-9);
            PC_EXPECT_NEAR(2, s.body[1].velocity[0], 1e-9);
            sceneEnd(&s);
        }
}

/* A point of mass 2 slides over the ground at 2, 2 and hits it at 1: friction mu (1 + e) of it along the sliding, and on the side of a
 * square cone, whose corners are on the axes, 1 / sqrt 2 of that. */
PC_TEST(StepRestitution, PoissonGivesFrictionBackWhateverTheCone)
{
    for (int edges = 0; edges <= 4; edges += 4)
        for (int align = 0; align < 2; align++) {
            PC_CASE("edges=%d align=%d", edges, align);
            Scene s;
            beginWithoutGravity(&s, PC_RESTITUTION_POISSON, 1);
            s.settings.coneEdges = edges, s.settings.alignCone = align, s.settings.mu = 0.3;
            int body = sceneBody(&s, origin, 2, unit);
            double* v = s.body[body].velocity;
            v[0] = v[1] = 2, v[2] = -1;
            sceneContact(&s, body, origin, 0);
            sceneStep(&s);
            double side = edges == 4 && !align ? sqrt(0.5) : 1;
            PC_EXPECT_NEAR(2 - 0.3 * 2 * side * sqrt(0.5), v[0], 1e-9);
            PC_EXPECT_NEAR(v[0], v[1], 1e-9);
            PC_EXPECT_NEAR(1, v[2], 1e-9);
            sceneEnd(&s);
        }
}

/* Moment length (1 + e) m V about the normal, or about a tangent; spinning slowly, it stops in the compression and stays so. */
PC_TEST(StepRestitution, PoissonGivesTorsionAndRollingBackWhereTheySlide)
{
    for (int axis = 0; axis < 3; axis++)
        for (int fast = 0; fast < 2; fast++) {
            PC_CASE("axis=%d fast=%d", axis, fast);
            Scene s;
            beginWithoutGravity(&s, PC_RESTITUTION_POISSON, 1);
            int body = sceneBody(&s, origin, 2, unit);
            double* v = s.body[body].velocity;
            v[2] = -1, v[3 + axis] = fast ? 3 : 0.1;
            pcContact* c = sceneContact(&s, body, origin, 0);
            c->surface.torsion = c->surface.rolling = 0.2;
            sceneStep(&s);
            PC_EXPECT_NEAR(fast ? 3 - 0.2 * 2 * 2 : 0, v[3 + axis], 1e-9);
            PC_EXPECT_NEAR(1, v[2], 1e-9);
            sceneEnd(&s);
        }
}

/* Four corners carry the hit, and nothing says how; frictions that brace each other give nothing back. */
PC_TEST(StepRestitution, FlatBoxBouncesFlat)
{
    for (int law = 0; law < 2; law++) {
        PC_CASE("law=%d", law);
        Scene s;
        sceneBegin(&s);
        s.settings.restitution = (pcRestitution)law, s.settings.bounce = 1, s.h = 0.005;
        sceneFloor(&s);
        int box = sceneBox(&s, 0, 0, 1.5, unit, 1);
        for (int i = 0; i < 400; i++) {
            sceneStep(&s);
            for (int k = 3; k < 6; k++) PC_EXPECT_NEAR(0, s.body[box].velocity[k], 1e-7);
        }
        sceneEnd(&s);
    }
}

/* A step of 1 ms: e^2 of the height it fell from, at both laws, to what a step of gravity does. */
PC_TEST(StepRestitution, HeightIsTheSquareOfTheBounce)
{
    for (int law = 0; law < 2; law++)
        for (int i = 0; i <= 4; i++) {
            double e = 0.25 * i, highest = 0;
            PC_CASE("law=%d e=%g", law, e);
            Scene s;
            sceneBegin(&s);
            s.settings.restitution = (pcRestitution)law, s.settings.bounce = e, s.h = 0.001;
            sceneFloor(&s);
            int ball = sceneSphere(&s, 0, 0, 1.1, 0.1, 1);
            for (int k = 0; k < 1200; k++) {
                sceneStep(&s);
                if (k > 460) highest = larger(highest, s.body[ball].pose.position[2] - 0.1);
            }
            PC_EXPECT_NEAR(e * e, highest, 0.01);
            sceneEnd(&s);
        }
}

/* Several touch at once; the whole of what was compressed comes back. */
PC_TEST(StepRestitution, RowOfSpheresKeepsItsEnergy)
{
    for (int law = 0; law < 2; law++)
        for (int count = 2; count <= 6; count++) {
            PC_CASE("law=%d count=%d", law, count);
            Scene s;
            beginWithoutGravity(&s, (pcRestitution)law, 1);
            s.settings.mu = 0;
            for (int i = 0; i < count; i++) sceneSphere(&s, i, 0, 0, 0.5, 1);
            s.body[0].pose.position[0] = -0.005, s.body[0].velocity[0] = 1;
            sceneStep(&s);
            PC_EXPECT_NEAR(0.5, kinetic(&s, v3Make(0, 0, 0)), 1e-9);
            sceneEnd(&s);
        }
}

/* Six balls above each other, 1 cm apart, fall on the ground at 4 m/s, 4 cm in a step: the lowest bounces and strikes the next, and so on. In
 * the end all of them rise as fast as they fell. */
PC_TEST(StepRestitution, ColumnBouncesInTurn)
{
    static Scene s;
    sceneBegin(&s);
    s.settings.bounce = 1, s.settings.mu = 0;
    sceneFloor(&s);
    for (int i = 0; i < 6; i++) s.body[sceneSphere(&s, 0, 0, 0.12 + 0.21 * i, 0.1, 10)].velocity[2] = -4;
    sceneRun(&s, 12);
    double energy = 0;
    for (int i = 0; i < 6; i++) {
        PC_EXPECT_TRUE(s.body[i].velocity[2] > 2);
        energy += 0.5 * s.body[i].velocity[2] * s.body[i].velocity[2] + 10 * s.body[i].pose.position[2];
    }
    PC_EXPECT_NEAR(6 * 8 + 10 * (6 * 0.12 + 15 * 0.21), energy, 0.05 * 6 * 8);
    sceneEnd(&s);
}

/* ---- rest ---- */

static void makeStack(Scene* s, pcRestitution law, double e)
{
    sceneBegin(s);
    s->settings.restitution = law, s->settings.bounce = e;
    sceneFloor(s);
    for (int i = 0; i < 8; i++) sceneBox(s, 0.02 * (i % 3), 0.01 * (i % 2), 0.5 + i, unit, 1);
}

/* An approach of 1e-14 is no impact, nor is one that gravity makes within a step. */
PC_TEST(StepRestitution, StackAtRestCostsNoMore)
{
    static Scene bounces, rests;
    for (int law = 0; law < 2; law++) {
        PC_CASE("law=%d", law);
        int with = 0, without = 0;
        makeStack(&bounces, (pcRestitution)law, 0.5), makeStack(&rests, (pcRestitution)law, 0);
        for (int i = 0; i < 200; i++) {
            sceneStep(&bounces), sceneStep(&rests);
            with += bounces.result.report.iterations, without += rests.result.report.iterations;
            PC_EXPECT_TRUE(bounces.result.report.outcome == PC_SOLVED);
        }
        if (law == PC_RESTITUTION_POISSON) {
            PC_EXPECT_EQ_INT(without, with);
            PC_EXPECT_TRUE(memcmp(rests.body, bounces.body, sizeof rests.body) == 0);
        } else
            PC_EXPECT_LE(with, 2 * without + 20); /* whatever 1e-11 m/s does, it does it again at half the speed */
        sceneEnd(&bounces), sceneEnd(&rests);
    }
}

/* Contacts that part do not bounce: not one bit changes. */
PC_TEST(StepRestitution, PartingContactsKeepTheirBits)
{
    static Scene s[2];
    for (int law = 0; law < 2; law++) {
        PC_CASE("law=%d", law);
        for (int i = 0; i < 2; i++) {
            makeStack(&s[i], (pcRestitution)law, i);
            for (int k = 0; k < 8; k++) s[i].body[k].velocity[2] = 0.3 * (k + 1), s[i].body[k].velocity[0] = 0.1 * k;
            sceneStep(&s[i]);
            sceneEnd(&s[i]);
        }
        PC_EXPECT_TRUE(memcmp(s[0].body, s[1].body, sizeof s[0].body) == 0);
    }
}

/* ---- energy ---- */

/* A rod of length 1 whose lower end hits with friction: Newton's law alone takes 1.167 J to 1.526 J at 127.5 degrees. */
PC_TEST(StepRestitution, RodThatJamsGainsNothing)
{
    for (int law = 0; law < 2; law++)
        for (int i = 0; i < 48; i++) {
            double angle = i % 24 * acos(-1.0) / 24;
            PC_CASE("law=%d degrees=%g model=%d", law, i % 24 * 7.5, i / 24);
            Scene s;
            beginWithoutGravity(&s, (pcRestitution)law, 1);
            s.settings.mu = 0.9, s.settings.model = models[i / 24];
            int rod = sceneBody(&s, origin, 1, (const double[3]){1. / 12, 1. / 12, 1. / 12});
            double* v = s.body[rod].velocity;
            v[0] = -1, v[2] = -1, v[4] = 2;
            sceneContact(&s, rod, (const double[3]){-0.5 * cos(angle), 0, -0.5 * sin(angle)}, 0);
            sceneStep(&s);
            PC_EXPECT_LE(kinetic(&s, v3Make(0, 0, 0)), 7. / 6 * (1 + 1e-9));
            PC_EXPECT_TRUE(s.result.report.outcome == PC_SOLVED);
            sceneEnd(&s);
        }
}

/* The report's energy, potential included: gravity pulls the ball from the ceiling, so what it gains on the way is not the bounce's. */
PC_TEST(StepRestitution, BallUnderCeilingGainsNothing)
{
    for (int law = 0; law < 2; law++) {
        PC_CASE("law=%d", law);
        Scene s;
        sceneBegin(&s);
        s.settings.restitution = (pcRestitution)law, s.settings.bounce = 1;
        int ball = sceneBody(&s, origin, 1, unit);
        s.body[ball].velocity[2] = 3;
        sceneContact(&s, ball, origin, 0)->normal[2] = -1;
        sceneStep(&s);
        PC_EXPECT_LE(s.result.report.energy, 4.5 * (1 + 1e-9));
        PC_EXPECT_NEAR(-3, s.body[ball].velocity[2], 0.11);
        sceneEnd(&s);
    }
}

static double between(pcRandom* random, double low, double high) { return low + (high - low) * pcRandomUnit(random); }
static int below(pcRandom* random, int count) { return (int)(pcRandomBits(random) % (unsigned)count); }

static void randomContact(pcRandom* random, Scene* s, int ground, int body)
{
    const double point[3] = {between(random, -0.5, 0.5), between(random, -0.5, 0.5), body - 0.5};
    pcContact* c = sceneContact(s, body, point, 0);
    v3 n = v3Make(between(random, -0.5, 0.5), between(random, -0.5, 0.5), between(random, 0.1, 1));
    v3Store(c->normal, v3Scale(1 / v3Norm(n), n));
    c->body1 = body > 0 ? body - 1 : ground;
    c->surface.mu = below(random, 5) ? between(random, 0, 2) : 0;
    c->surface.bounce = below(random, 3) ? between(random, 0, 1) : 1;
    if (below(random, 4) == 0) c->surface.torsion = 0.1;
    if (below(random, 4) == 0) c->surface.rolling = 0.1;
    if (below(random, 6) == 0) c->surface.mu2 = between(random, 0, 2), c->surface.direction1[0] = 1;
    if (below(random, 12) == 0) c->surface.mu = HUGE_VAL;
}

/* A ball joint between two bodies of the tower. */
static void addJoint(Scene* s, int body)
{
    const v3 arm[2] = {v3Make(0.2, 0, 0.5), v3Make(0.2, 0, -0.5)};
    for (int k = 0; k < 3; k++) {
        pcRow* row = sceneRow(s, body, body + 1);
        v3 axis = v3Make(k == 0, k == 1, k == 2);
        v3Store(row->jacobian, v3Scale(-1, axis)), v3Store(row->jacobian + 3, v3Scale(-1, v3Cross(arm[0], axis)));
        v3Store(row->jacobian + 6, axis), v3Store(row->jacobian + 9, v3Cross(arm[1], axis));
    }
}

/* A tower of bodies that hit each other and the ground, which may be a body of constant velocity u. */
static void makeImpact(pcRandom* random, Scene* s, v3 u, bool joints)
{
    int count = 1 + joints + below(random, 3);
    for (int i = 0; i < count; i++) {
        const double diagonal[3] = {between(random, 0.2, 0.3), between(random, 0.2, 0.3), between(random, 0.2, 0.3)};
        int body = sceneBody(s, (const double[3]){0, 0, i}, pow(10, between(random, -1, 1)), diagonal);
        for (int k = 0; k < 6; k++) s->body[body].velocity[k] = between(random, -2, 2);
        v3Store(s->body[body].velocity, v3Add(u, v3Load(s->body[body].velocity)));
    }
    int ground = v3Norm(u) > 0 ? sceneBody(s, (const double[3]){0, 0, -1}, 1, unit) : PC_WORLD;
    if (ground >= 0) s->body[ground].kind = PC_BODY_KINEMATIC, v3Store(s->body[ground].velocity, u);
    for (int i = below(random, 3 * count); i >= 0; i--) randomContact(random, s, ground, below(random, count));
    if (joints) addJoint(s, below(random, count - 1));
}

/* Whether it was solved to its tolerance. */
static bool gainsNothing(uint64_t seed, int law, int model, bool joints)
{
    static Scene s;
    pcRandom random = {977 * seed + 1};
    static const int edges[3] = {0, 4, 8};
    double old[6 * SCENE_MOST];
    beginWithoutGravity(&s, (pcRestitution)law, 0);
    s.settings.model = models[model], s.settings.coneEdges = edges[seed % 3], s.settings.alignCone = seed % 2;
    v3 u = seed % 4 ? v3Make(0, 0, 0) : v3Make(between(&random, -2, 2), 1, between(&random, -2, 2));
    makeImpact(&random, &s, u, joints);
    for (int i = 0; i < s.system.bodyCount; i++) memcpy(old + 6 * i, s.body[i].velocity, 6 * sizeof *old);
    s.system.freeVelocity = old; /* the gyroscopic torque would do work on its own */
    double before = kinetic(&s, u);
    sceneStep(&s);
    double after = kinetic(&s, u);
    PC_EXPECT_LE(after, before * (1 + 1e-9));
    PC_EXPECT_LE(s.result.report.coneExcess, 1e-9);
    sceneEnd(&s);
    return s.result.report.outcome == PC_SOLVED;
}

PC_TEST(StepRestitution, NeverGainsEnergy)
{
    for (int law = 0; law < 2; law++)
        for (int model = 0; model < 2; model++)
            for (int joints = 0; joints < 2; joints++) {
                int solved = 0;
                for (uint64_t seed = 1; seed <= 120; seed++) {
                    PC_CASE("law=%d model=%d joints=%d seed=%d", law, model, joints, (int)seed);
                    solved += gainsNothing(seed, law, model, joints);
                }
                PC_CASE("law=%d model=%d joints=%d", law, model, joints);
                PC_EXPECT_GE(solved, 119);
            }
}
