/* Worlds of one or two bodies whose motion is known: by theory, or exactly, as the first-order scheme makes it. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "base/vec.h"
#include "test_worlds/unit/scene.h"

static const double unitCube[3] = {1, 1, 1};

static void expectPlace(const Scene* s, int body, double x, double y, double z, double tolerance)
{
    const double* p = s->body[body].pose.position;
    PC_EXPECT_NEAR(x, p[0], tolerance);
    PC_EXPECT_NEAR(y, p[1], tolerance);
    PC_EXPECT_NEAR(z, p[2], tolerance);
}

static void expectSound(const Scene* s)
{
    PC_EXPECT_EQ_INT(PC_SOLVED, s->result.report.outcome);
    PC_EXPECT_LE(s->result.report.residual, 1e-9);
    PC_EXPECT_LE(s->result.report.energyError, 1e-8);
}

/* ---- rest ---- */

PC_TEST(StepWorlds, BoxAtRestStaysWhereItIs)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 0.5, unitCube, 2);
    for (int i = 0; i < 1000; i++) {
        sceneStep(&s);
        if (s.result.contactCount != 4) PC_FAIL("step %d has %d contacts", i, s.result.contactCount);
    }
    expectPlace(&s, box, 0, 0, 0.5, 1e-9);
    expectSound(&s);
    PC_EXPECT_NEAR(2 * 10 * s.h, s.touch[0].impulse[0] + s.touch[1].impulse[0] + s.touch[2].impulse[0] + s.touch[3].impulse[0], 1e-10);
    sceneEnd(&s);
}

PC_TEST(StepWorlds, TwoBoxStackStands)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int lower = sceneBox(&s, 0, 0, 0.5, unitCube, 1), upper = sceneBox(&s, 0.1, 0.05, 1.5, unitCube, 3);
    sceneRun(&s, 300);
    expectPlace(&s, lower, 0, 0, 0.5, 1e-7);
    expectPlace(&s, upper, 0.1, 0.05, 1.5, 1e-7);
    PC_EXPECT_EQ_INT(1, s.result.report.islands);
    expectSound(&s);
    sceneEnd(&s);
}

PC_TEST(StepWorlds, RelaxationHoldsABoxAtRest)
{
    Scene s;
    sceneBegin(&s);
    s.settings.model = PC_MODEL_CONVEX;
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 0.5, unitCube, 2);
    sceneRun(&s, 100);
    expectPlace(&s, box, 0, 0, 0.5, 1e-9);
    expectSound(&s);
    sceneEnd(&s);
}

/* ---- friction ---- */

/* v falls by mu g h in every step: x = h sum (v0 - k mu g h), and v0^2 / (2 mu g) as h goes to 0. */
static double slideDistance(double angle, int edges)
{
    Scene s;
    sceneBegin(&s);
    s.settings.coneEdges = edges;
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 0.25, (const double[3]){1, 1, 0.5}, 2);
    s.body[box].velocity[0] = 3 * cos(angle), s.body[box].velocity[1] = 3 * sin(angle);
    sceneRun(&s, 80);
    PC_EXPECT_NEAR(0, sceneSpeed(&s, box), 1e-8);
    const double* p = s.body[box].pose.position;
    double distance = hypot(p[0], p[1]);
    PC_EXPECT_NEAR(angle, atan2(p[1], p[0]), 1e-6);
    sceneEnd(&s);
    return distance;
}

PC_TEST(StepWorlds, SlidingBoxStopsWhereTheSchemeSays)
{
    double expected = 0;
    for (int k = 1; k <= 60; k++) expected += 0.01 * (3 - 0.05 * k);
    for (int edges = 0; edges <= 8; edges += 4)
        for (int turn = 0; turn < 3; turn++) {
            PC_CASE("edges=%d turn=%d", edges, turn);
            double distance = slideDistance(0.4 * turn, edges);
            PC_EXPECT_NEAR(expected, distance, 1e-6);
            PC_EXPECT_REL(3.0 * 3.0 / (2 * 0.5 * 10), distance, 0.02);
        }
}

PC_TEST(StepWorlds, FixedPolygonIsWeakerBetweenItsCorners)
{
    Scene s;
    sceneBegin(&s);
    s.settings.coneEdges = 4, s.settings.alignCone = 0;
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 0.25, (const double[3]){1, 1, 0.5}, 2);
    s.body[box].velocity[0] = s.body[box].velocity[1] = sqrt(4.5);
    sceneStep(&s);
    PC_EXPECT_NEAR(3 - 0.05 * sqrt(0.5), sceneSpeed(&s, box), 1e-8);
    sceneEnd(&s);
}

/* Gravity tilted instead of the plane: beyond w / h it tips about its edge, below it stands, as mu is large. */
static double tippingSpin(double slope, int steps)
{
    Scene s;
    sceneBegin(&s);
    s.settings.mu = 2;
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 1, (const double[3]){0.5, 0.5, 2}, 1);
    double length = sqrt(1 + slope * slope);
    s.system.gravity[0] = 10 * slope / length, s.system.gravity[2] = -10 / length;
    s.h = 0.001;
    sceneRun(&s, steps);
    double spin = s.body[box].velocity[4];
    sceneEnd(&s);
    return spin;
}

PC_TEST(StepWorlds, TallBoxTipsAboutItsEdge)
{
    double torque = 10 / sqrt(1.09) * (0.3 * 1 - 0.25), inertia = (0.25 + 4) / 12 + 1 + 0.0625;
    PC_EXPECT_REL(torque / inertia * 0.02, tippingSpin(0.3, 20), 0.01);
    PC_EXPECT_NEAR(0, tippingSpin(0.2, 20), 1e-8);
}

PC_TEST(StepWorlds, SlidingSphereEndsRolling)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int ball = sceneSphere(&s, 0, 0, 0.3, 0.3, 2);
    s.body[ball].velocity[0] = 2;
    sceneRun(&s, 100);
    PC_EXPECT_NEAR(2 * 5.0 / 7, s.body[ball].velocity[0], 1e-8);
    PC_EXPECT_NEAR(2 * 5.0 / 7 / 0.3, s.body[ball].velocity[4], 1e-7);
    expectSound(&s);
    sceneEnd(&s);
}

/* The floor is shape 0, so that it is body 1 of every pair. */
static int withSurface(void* context, int shape1, int shape2, pcSurface* surface)
{
    (void)shape1, (void)shape2;
    *surface = *(const pcSurface*)context;
    return 1;
}

static void useSurface(Scene* s, pcSurface* surface) { s->system.surface = withSurface, s->system.surfaceContext = surface; }

PC_TEST(StepWorlds, BeltCarriesABox)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 0.25, (const double[3]){1, 1, 0.5}, 2);
    pcSurface belt = pcDefaultSurface(&s.settings);
    belt.surfaceVelocity[0] = -0.7; /* of the box's surface relative to the floor's: the floor runs towards +x */
    useSurface(&s, &belt);
    sceneStep(&s);
    PC_EXPECT_NEAR(0.05, s.body[box].velocity[0], 1e-9);
    sceneRun(&s, 40);
    PC_EXPECT_NEAR(0.7, s.body[box].velocity[0], 1e-9);
    sceneEnd(&s);
}

PC_TEST(StepWorlds, FrictionDiffersByDirection)
{
    for (int way = 0; way < 2; way++) {
        PC_CASE("way=%d", way);
        Scene s;
        sceneBegin(&s);
        sceneFloor(&s);
        int box = sceneBox(&s, 0, 0, 0.1, (const double[3]){1, 1, 0.2}, 2);
        pcSurface ice = pcDefaultSurface(&s.settings);
        ice.mu = 0.1, ice.mu2 = 0.8, ice.direction1[0] = 3, ice.direction1[2] = 1; /* its upright part does not count */
        useSurface(&s, &ice);
        s.body[box].velocity[way] = 2;
        sceneRun(&s, 10);
        PC_EXPECT_NEAR(2 - 10 * (way ? 0.08 : 0.01), s.body[box].velocity[way], 1e-8);
        PC_EXPECT_NEAR(0, s.body[box].velocity[1 - way], 1e-8);
        sceneEnd(&s);
    }
}

PC_TEST(StepWorlds, TorsionStopsASpinningSphere)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int ball = sceneSphere(&s, 0, 0, 0.3, 0.3, 2);
    pcSurface surface = pcDefaultSurface(&s.settings);
    surface.torsion = 0.02;
    useSurface(&s, &surface);
    s.body[ball].velocity[5] = 5;
    double loss = 0.02 * 2 * 10 * s.h / (0.4 * 2 * 0.09);
    sceneRun(&s, 20);
    PC_EXPECT_NEAR(5 - 20 * loss, s.body[ball].velocity[5], 1e-8);
    sceneRun(&s, 100);
    PC_EXPECT_NEAR(0, s.body[ball].velocity[5], 1e-8);
    sceneEnd(&s);
}

PC_TEST(StepWorlds, SpinningBoxIsStoppedByItsCorners)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 0.5, unitCube, 2);
    s.body[box].velocity[5] = 1;
    double arm = sqrt(0.5), loss = 0.5 * 2 * 10 * s.h * arm / (2.0 / 6);
    sceneStep(&s);
    PC_EXPECT_NEAR(1 - loss, s.body[box].velocity[5], 1e-7);
    sceneRun(&s, 50);
    PC_EXPECT_NEAR(0, s.body[box].velocity[5], 1e-8);
    sceneEnd(&s);
}

PC_TEST(StepWorlds, RollingFrictionStopsARollingSphere)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int ball = sceneSphere(&s, 0, 0, 0.3, 0.3, 2);
    pcSurface surface = pcDefaultSurface(&s.settings);
    surface.rolling = 0.01;
    useSurface(&s, &surface);
    s.body[ball].velocity[0] = 0.6, s.body[ball].velocity[4] = 2;
    double loss = 0.01 * 10 * s.h / (1.4 * 0.3);
    sceneRun(&s, 20);
    PC_EXPECT_NEAR(0.6 - 20 * loss, s.body[ball].velocity[0], 1e-7);
    sceneRun(&s, 300);
    PC_EXPECT_NEAR(0, s.body[ball].velocity[0], 1e-8);
    sceneEnd(&s);
}

PC_TEST(StepWorlds, InfiniteFrictionNeverSlides)
{
    Scene s;
    sceneBegin(&s);
    s.settings.mu = HUGE_VAL;
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 0.1, (const double[3]){1, 1, 0.2}, 2);
    s.system.gravity[0] = 20;
    sceneRun(&s, 20);
    expectPlace(&s, box, 0, 0, 0.1, 1e-8);
    sceneEnd(&s);
}

/* mu as a force: 4 N on 2 kg, whatever the weight. */
PC_TEST(StepWorlds, ForceLimitIsAForce)
{
    for (int coulomb = 0; coulomb < 2; coulomb++) {
        PC_CASE("coulomb=%d", coulomb);
        Scene s;
        sceneBegin(&s);
        s.settings.friction = coulomb ? PC_FRICTION_COULOMB : PC_FRICTION_HOST;
        int box = sceneBody(&s, (const double[3]){0, 0, 0}, 2, unitCube);
        pcContact* c = sceneContact(&s, box, (const double[3]){0, 0, 0}, 0);
        c->surface.forceLimit = 1, c->surface.mu = 0.4;
        s.body[box].velocity[0] = 3, s.body[box].velocity[1] = 4;
        sceneStep(&s);
        PC_EXPECT_NEAR(5 - (coulomb ? 0.4 * 10 : 0.4 / 2) * s.h, sceneSpeed(&s, box), 1e-9);
        sceneEnd(&s);
    }
}

/* ---- surfaces that a host has ---- */

/* A body on one contact that it is pushed out of; its velocity along the normal after a step. */
static double pushedOut(double gap, const pcSurface* surface)
{
    Scene s;
    sceneBegin(&s);
    s.settings.gamma = 0.5;
    int box = sceneBody(&s, (const double[3]){0, 0, 0}, 2, unitCube);
    sceneContact(&s, box, (const double[3]){0, 0, 0}, gap)->surface = *surface;
    sceneStep(&s);
    double v = s.body[box].velocity[2];
    sceneEnd(&s);
    return v;
}

PC_TEST(StepWorlds, SurfaceHasItsOwnGammaLimitAndLayer)
{
    const pcSurface usual = pcDefaultSurface(NULL);
    pcSurface surface = usual;
    PC_EXPECT_NEAR(0.5, pushedOut(-0.01, &surface), 1e-9);
    surface.gamma = 0.2;
    PC_EXPECT_NEAR(0.2, pushedOut(-0.01, &surface), 1e-9);
    surface = usual, surface.fastest = 0.3;
    PC_EXPECT_NEAR(0.3, pushedOut(-0.01, &surface), 1e-9);
    surface = usual, surface.sink = 0.004;
    PC_EXPECT_NEAR(0.3, pushedOut(-0.01, &surface), 1e-9);
    PC_EXPECT_NEAR(0, pushedOut(-0.003, &surface), 1e-9);
    PC_EXPECT_NEAR(-0.05, pushedOut(0.0005, &surface), 1e-9); /* what is apart is not nearer for it */
    surface = usual, surface.normalVelocity = 0.7;
    PC_EXPECT_NEAR(1.2, pushedOut(-0.01, &surface), 1e-9);
    surface.fastest = 0.9;
    PC_EXPECT_NEAR(0.9, pushedOut(-0.01, &surface), 1e-9);
    surface.bounce = 0.5; /* a surface that comes at 0.7 throws at 0.7 + 0.35 */
    PC_EXPECT_NEAR(1.05, pushedOut(0, &surface), 1e-9);
}

/* Along x a force of 0.4 N at most, along y a coefficient, or the other way round. */
PC_TEST(StepWorlds, ForceLimitOfOneDirectionOnly)
{
    for (int first = 0; first < 2; first++) {
        PC_CASE("first=%d", first);
        Scene s;
        sceneBegin(&s);
        int box = sceneBody(&s, (const double[3]){0, 0, 0}, 2, unitCube);
        pcSurface* surface = &sceneContact(&s, box, (const double[3]){0, 0, 0}, 0)->surface;
        surface->forceLimit = first ? PC_LIMIT_FRICTION1 : PC_LIMIT_FRICTION2, surface->mu = surface->mu2 = 0.4;
        surface->direction1[0] = 1;
        s.body[box].velocity[0] = 3, s.body[box].velocity[1] = 4;
        sceneStep(&s);
        PC_EXPECT_NEAR(3 - (first ? 0.4 / 2 : 0.4 * 10) * s.h, s.body[box].velocity[0], 1e-9);
        PC_EXPECT_NEAR(4 - (first ? 0.4 * 10 : 0.4 / 2) * s.h, s.body[box].velocity[1], 1e-9);
        sceneEnd(&s);
    }
}

/* A sphere of inertia 1 turning about each axis under its own law. */
PC_TEST(StepWorlds, MomentLimitsAreMoments)
{
    Scene s;
    sceneBegin(&s);
    int ball = sceneBody(&s, (const double[3]){0, 0, 0}, 2, unitCube);
    pcSurface* surface = &sceneContact(&s, ball, (const double[3]){0, 0, 0}, 0)->surface;
    surface->mu = 0, surface->direction1[0] = 1;
    surface->rolling = 0.3, surface->rolling2 = HUGE_VAL, surface->torsion = 0.01;
    surface->momentLimit = PC_LIMIT_ROLLING1 | PC_LIMIT_ROLLING2;
    for (int k = 3; k < 6; k++) s.body[ball].velocity[k] = 1;
    sceneStep(&s);
    PC_EXPECT_NEAR(1 - 0.3 * s.h, s.body[ball].velocity[3], 1e-9);
    PC_EXPECT_NEAR(0, s.body[ball].velocity[4], 1e-9);
    PC_EXPECT_NEAR(1 - 0.01 * 2 * 10 * s.h, s.body[ball].velocity[5], 1e-9);
    sceneEnd(&s);
}

/* ---- joints ---- */

/* Rows that hold the point `at` of body 2, given in its axes, to the point `place` of the world. */
static void holdPoint(Scene* s, int body, v3 at, v3 place, double gamma)
{
    const pcBody* b = s->body + body;
    v3 x = v3Load(b->pose.position);
    const double* q = b->pose.quaternion;
    v3 u = v3Load(q + 1), turned = v3AddScaled(at, 2, v3Cross(u, v3AddScaled(v3Cross(u, at), q[0], at)));
    v3 error = v3Sub(v3Add(x, turned), place);
    double part[3] = {error.x, error.y, error.z};
    s->system.rowCount = 0;
    for (int i = 0; i < 3; i++) {
        pcRow* row = sceneRow(s, PC_WORLD, body);
        v3 axis = {i == 0, i == 1, i == 2};
        v3Store(row->jacobian + 6, axis);
        v3Store(row->jacobian + 9, v3Cross(turned, axis));
        row->error = part[i], row->target = -gamma * part[i] / s->h;
    }
}

PC_TEST(StepWorlds, PendulumKeepsItsLength)
{
    Scene s;
    sceneBegin(&s);
    int bob = sceneBody(&s, (const double[3]){1, 0, 0}, 2, (const double[3]){0.1, 0.2, 0.3});
    double worst = 0, highest = -HUGE_VAL;
    for (int i = 0; i < 2000; i++) {
        holdPoint(&s, bob, v3Make(-1, 0, 0), v3Make(0, 0, 0), 1);
        sceneStep(&s);
        worst = larger(worst, s.result.report.infeasibilityJoint);
        highest = larger(highest, s.result.report.energy);
    }
    PC_EXPECT_LE(worst, 3e-3); /* h^2 v^2 / 2 with v^2 = 2 g: S 3.1 */
    PC_EXPECT_LE(highest, 0.02 * 2 * 10);
    expectSound(&s);
    sceneEnd(&s);
}

/* A fast top precesses at m g L / (I3 spin). */
PC_TEST(StepWorlds, TopPrecesses)
{
    Scene s;
    sceneBegin(&s);
    s.h = 0.001;
    double m = 1, L = 0.1, I1 = 0.002, I3 = 0.001, spin = 400, rate = m * 10 * L / (I3 * spin);
    int top = sceneBody(&s, (const double[3]){L, 0, 0}, m, (const double[3]){I3, I1, I1}); /* its axis lies along x */
    s.body[top].velocity[3] = spin;
    s.body[top].velocity[5] = rate, s.body[top].velocity[1] = rate * L;
    double start = 0;
    for (int i = 0; i < 1000; i++) {
        holdPoint(&s, top, v3Make(-L, 0, 0), v3Make(0, 0, 0), 0.5);
        sceneStep(&s);
        if (i == 0) start = s.result.report.energy;
    }
    const double* x = s.body[top].pose.position;
    double angle = atan2(x[1], x[0]), expected = remainder(rate * 1.0, 2 * 3.14159265358979323846);
    PC_EXPECT_NEAR(expected, angle, 0.05 * expected);
    PC_EXPECT_NEAR(0, x[2], 0.02);
    PC_EXPECT_REL(start, s.result.report.energy, 0.01);
    sceneEnd(&s);
}

/* Turning freely about no axis of its own: energy and |angular momentum| are kept for ever. */
PC_TEST(StepWorlds, FreeSpinKeepsEnergyAndMomentum)
{
    Scene s;
    sceneBegin(&s);
    memset(s.system.gravity, 0, sizeof s.system.gravity);
    int body = sceneBody(&s, (const double[3]){0, 0, 0}, 1, (const double[3]){1, 2, 3});
    double* w = s.body[body].velocity + 3;
    w[0] = 3, w[1] = 5, w[2] = 0.1;
    sceneStep(&s);
    double start = s.result.report.kinetic;
    sceneRun(&s, 5000);
    PC_EXPECT_REL(start, s.result.report.kinetic, 1e-10);
    sceneEnd(&s);
}

static double spinAfter(Scene* s, int body, int steps)
{
    sceneRun(s, steps);
    return s->body[body].velocity[3];
}

PC_TEST(StepWorlds, MotorIsBoundedAndThenHolds)
{
    Scene s;
    sceneBegin(&s);
    int wheel = sceneBody(&s, (const double[3]){0, 0, 0}, 1, (const double[3]){0.5, 0.5, 0.5});
    pcRow* row = sceneRow(&s, PC_WORLD, wheel);
    row->jacobian[9] = 1, row->target = 5, row->hi = 2 * s.h, row->lo = -row->hi;
    PC_EXPECT_NEAR(2 * 0.1 / 0.5, spinAfter(&s, wheel, 10), 1e-10);
    PC_EXPECT_NEAR(5, spinAfter(&s, wheel, 200), 1e-10);
    PC_EXPECT_NEAR(0, s.rowImpulse[0], 1e-12);
    sceneEnd(&s);
}

PC_TEST(StepWorlds, StopHoldsOneWayOnly)
{
    Scene s;
    sceneBegin(&s);
    int body = sceneBody(&s, (const double[3]){0, 0, 0}, 1, unitCube);
    pcRow* row = sceneRow(&s, PC_WORLD, body);
    row->jacobian[8] = 1, row->lo = 0;
    sceneRun(&s, 10);
    PC_EXPECT_NEAR(0, s.body[body].velocity[2], 1e-12);
    PC_EXPECT_NEAR(10 * s.h, s.rowImpulse[0], 1e-12);
    s.body[body].velocity[2] = 1;
    sceneStep(&s);
    PC_EXPECT_NEAR(0.9, s.body[body].velocity[2], 1e-12);
    sceneEnd(&s);
}

PC_TEST(StepWorlds, ContradictoryJointsAreReportedNotRefused)
{
    Scene s;
    sceneBegin(&s);
    int body = sceneBody(&s, (const double[3]){0, 0, 0}, 1, unitCube);
    for (int i = 0; i < 2; i++) {
        pcRow* row = sceneRow(&s, PC_WORLD, body);
        row->jacobian[6] = 1, row->target = i;
    }
    sceneStep(&s);
    PC_EXPECT_TRUE(s.result.report.outcome != PC_SOLVED);
    sceneEnd(&s);
}

/* ---- other bodies ---- */

PC_TEST(StepWorlds, KinematicPusherPushes)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 0.5, unitCube, 2), pusher = sceneBox(&s, -1.05, 0, 0.6, unitCube, 1);
    s.body[pusher].kind = PC_BODY_KINEMATIC;
    s.body[pusher].velocity[0] = 1;
    sceneRun(&s, 100);
    PC_EXPECT_NEAR(-0.05, s.body[pusher].pose.position[0], 1e-12);
    PC_EXPECT_NEAR(0.95, s.body[box].pose.position[0], 1e-6);
    PC_EXPECT_NEAR(1, s.body[box].velocity[0], 1e-8);
    PC_EXPECT_NEAR(0.5, s.body[box].pose.position[2], 1e-6);
    sceneEnd(&s);
}

PC_TEST(StepWorlds, StaticBodyIgnoresItsVelocity)
{
    Scene s;
    sceneBegin(&s);
    int table = sceneBox(&s, 0, 0, 0, (const double[3]){4, 4, 1}, 1), box = sceneBox(&s, 0, 0, 1, unitCube, 1);
    s.body[table].kind = PC_BODY_STATIC;
    s.body[table].velocity[2] = 7;
    sceneRun(&s, 20);
    expectPlace(&s, table, 0, 0, 0, 0);
    expectPlace(&s, box, 0, 0, 1, 1e-9);
    sceneEnd(&s);
}

static void setMobility(double* mobility, int bodies, double mass, double inertia)
{
    int n = 6 * bodies;
    memset(mobility, 0, sizeof(double) * (size_t)(n * n));
    for (int i = 0; i < n; i++) mobility[i * n + i] = i % 6 < 3 ? 1 / mass : 1 / inertia;
}

PC_TEST(StepWorlds, MobilityOfMassesIsTheSameAsMasses)
{
    double mobility[144], place[2];
    setMobility(mobility, 2, 2, 0.4 * 2 * 0.09);
    for (int way = 0; way < 2; way++) {
        Scene s;
        sceneBegin(&s);
        sceneFloor(&s);
        sceneSphere(&s, 0, 0, 0.3, 0.3, 2), sceneSphere(&s, 0.1, 0, 0.9, 0.3, 2);
        s.body[0].velocity[0] = 1;
        s.system.mobility = way ? mobility : NULL;
        sceneRun(&s, 30);
        place[way] = s.body[1].pose.position[0];
        sceneEnd(&s);
    }
    PC_EXPECT_NEAR(place[0], place[1], 1e-8);
}

/* Only body 0 touches the floor; body 1 feels its impulse through the mobility. */
PC_TEST(StepWorlds, MobilityCouplesBodies)
{
    double mobility[144];
    Scene s;
    sceneBegin(&s);
    setMobility(mobility, 2, 1, 1);
    mobility[2 * 12 + 8] = mobility[8 * 12 + 2] = 0.25;
    sceneFloor(&s);
    sceneSphere(&s, 0, 0, 0.3, 0.3, 1), sceneSphere(&s, 5, 0, 9, 0.3, 1);
    s.system.mobility = mobility;
    sceneStep(&s);
    PC_EXPECT_NEAR(0, s.body[0].velocity[2], 1e-10);
    PC_EXPECT_NEAR(-0.1 + 0.25 * 0.1, s.body[1].velocity[2], 1e-10);
    PC_EXPECT_EQ_INT(1, s.result.report.islands);
    sceneEnd(&s);
}

/* ---- conservation ---- */

static v3 momentumOf(const Scene* s)
{
    v3 sum = {0, 0, 0};
    for (int i = 0; i < s->system.bodyCount; i++) sum = v3AddScaled(sum, s->body[i].mass, v3Load(s->body[i].velocity));
    return sum;
}

/* About the origin; of bodies whose inertia is the same about every axis. */
static v3 turningOf(const Scene* s)
{
    v3 sum = {0, 0, 0};
    for (int i = 0; i < s->system.bodyCount; i++) {
        const pcBody* b = s->body + i;
        sum = v3AddScaled(sum, b->mass, v3Cross(v3Load(b->pose.position), v3Load(b->velocity)));
        sum = v3AddScaled(sum, b->inertia[0], v3Load(b->velocity + 3));
    }
    return sum;
}

PC_TEST(StepWorlds, CollisionConservesMomentum)
{
    Scene s;
    sceneBegin(&s);
    memset(s.system.gravity, 0, sizeof s.system.gravity);
    sceneBox(&s, 0, 0, 0, unitCube, 2), sceneBox(&s, 1.2, 0.3, 0.2, unitCube, 3);
    const double turned[4] = {0.9, 0.2, -0.3, 0.25};
    memcpy(s.body[1].pose.quaternion, turned, sizeof turned);
    s.body[0].velocity[0] = 4, s.body[0].velocity[4] = 1, s.body[1].velocity[1] = -1;
    v3 momentum = momentumOf(&s), turning = turningOf(&s);
    int touched = 0;
    for (int i = 0; i < 30; i++) {
        sceneStep(&s);
        for (int k = 0; k < s.result.contactCount; k++) touched += s.touch[k].impulse[0] > 0;
        PC_EXPECT_LE(v3Norm(v3Sub(momentumOf(&s), momentum)), 1e-12);
        PC_EXPECT_LE(v3Norm(v3Sub(turningOf(&s), turning)), 1e-11);
    }
    PC_EXPECT_GT(touched, 0);
    sceneEnd(&s);
}

/* The same world in other units of length and mass. */
static void runScaled(double length, double mass, pcPose* out)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    for (int i = 0; i < 3; i++) s.system.gravity[i] *= length;
    double size[3] = {length, length, length};
    int box = sceneBox(&s, 0, 0, 0.8 * length, size, 2 * mass);
    s.body[box].velocity[0] = length;
    s.body[box].velocity[3] = 1, s.body[box].velocity[4] = 0.5;
    sceneRun(&s, 60);
    *out = s.body[box].pose;
    sceneEnd(&s);
}

PC_TEST(StepWorlds, UnitsDoNotMatter)
{
    pcPose plain, scaled;
    runScaled(1, 1, &plain);
    for (int i = 0; i < 2; i++) {
        double length = i ? 1e-4 : 1000, mass = i ? 1e6 : 1e-3;
        PC_CASE("length=%g", length);
        runScaled(length, mass, &scaled);
        for (int k = 0; k < 3; k++) PC_EXPECT_NEAR(plain.position[k], scaled.position[k] / length, 1e-6);
        for (int k = 0; k < 4; k++) PC_EXPECT_NEAR(plain.quaternion[k], scaled.quaternion[k], 1e-6);
    }
}

/* ---- restitution ---- */

/* Height that a ball reaches after its first bounce from 1 m. */
static double bounceHeight(pcRestitution law, double e, double h)
{
    Scene s;
    sceneBegin(&s);
    s.settings.restitution = law, s.settings.bounce = e;
    s.h = h;
    sceneFloor(&s);
    int ball = sceneSphere(&s, 0, 0, 1.1, 0.1, 1);
    double highest = 0, energy = 0;
    bool down = true;
    for (double t = 0; t < 1.2; t += h) {
        sceneStep(&s);
        double gained = law == PC_RESTITUTION_POISSON ? 1e-9 : 1.1 * 10 * sqrt(20) * h; /* Newton: g v h, of the step it bounces in */
        if (energy != 0 && s.result.report.energy > energy + gained) PC_FAIL("energy rises from %g to %g", energy, s.result.report.energy);
        energy = s.result.report.energy;
        if (s.body[ball].velocity[2] > 0) down = false;
        if (!down) highest = larger(highest, s.body[ball].pose.position[2] - 0.1);
    }
    sceneEnd(&s);
    return highest;
}

PC_TEST(StepWorlds, BallBouncesAsHighAsItsRestitutionSays)
{
    for (int law = 0; law < 2; law++)
        for (int i = 0; i < 3; i++) {
            double e = 0.4 + 0.3 * i;
            PC_CASE("law=%d e=%g", law, e);
            PC_EXPECT_NEAR(e * e, bounceHeight((pcRestitution)law, e, 0.001), 0.02);
        }
}

PC_TEST(StepWorlds, RestingBoxIsNotThrownByRestitution)
{
    for (int law = 0; law < 2; law++) {
        PC_CASE("law=%d", law);
        Scene s;
        sceneBegin(&s);
        s.settings.restitution = (pcRestitution)law, s.settings.bounce = 0.8;
        sceneFloor(&s);
        int box = sceneBox(&s, 0, 0, 0.5, unitCube, 2);
        sceneRun(&s, 200);
        expectPlace(&s, box, 0, 0, 0.5, 1e-8);
        sceneEnd(&s);
    }
}

/* A racket that keeps its velocity gives more than its own: (1 + e) V. */
PC_TEST(StepWorlds, RacketGivesItsEnergy)
{
    for (int law = 0; law < 2; law++) {
        PC_CASE("law=%d", law);
        Scene s;
        sceneBegin(&s);
        memset(s.system.gravity, 0, sizeof s.system.gravity);
        s.settings.restitution = (pcRestitution)law, s.settings.bounce = 0.8;
        int ball = sceneSphere(&s, 0.51, 0, 0, 0.1, 1), racket = sceneSphere(&s, 0, 0, 0, 0.4, 1);
        s.body[racket].kind = PC_BODY_KINEMATIC;
        s.body[racket].velocity[0] = 3;
        sceneRun(&s, 3);
        PC_EXPECT_NEAR(1.8 * 3, s.body[ball].velocity[0], 1e-8);
        sceneEnd(&s);
    }
}

PC_TEST(StepWorlds, SlowApproachDoesNotBounce)
{
    for (int law = 0; law < 2; law++)
        for (int fast = 0; fast < 2; fast++) {
            PC_CASE("law=%d fast=%d", law, fast);
            Scene s;
            sceneBegin(&s);
            memset(s.system.gravity, 0, sizeof s.system.gravity);
            s.settings.restitution = (pcRestitution)law;
            int body = sceneBody(&s, (const double[3]){0, 0, 0}, 1, unitCube);
            pcContact* c = sceneContact(&s, body, (const double[3]){0, 0, 0}, 0);
            c->surface.bounce = 0.5, c->surface.bounceVelocity = 2;
            s.body[body].velocity[2] = fast ? -3 : -1;
            sceneStep(&s);
            PC_EXPECT_NEAR(fast ? 1.5 : 0, s.body[body].velocity[2], 1e-9);
            sceneEnd(&s);
        }
}

/* Two balls, equal masses, e = 1: they exchange their velocities; friction at an oblique hit takes energy, never adds it. */
PC_TEST(StepWorlds, PoissonKeepsEnergyWithinBounds)
{
    for (int oblique = 0; oblique < 2; oblique++) {
        PC_CASE("oblique=%d", oblique);
        Scene s;
        sceneBegin(&s);
        memset(s.system.gravity, 0, sizeof s.system.gravity);
        s.settings.restitution = PC_RESTITUTION_POISSON, s.settings.bounce = 1;
        sceneSphere(&s, 0, 0, 0, 0.1, 1), sceneSphere(&s, 0.21, oblique ? 0.08 : 0, 0, 0.1, 1);
        s.body[0].velocity[0] = 2, s.body[0].velocity[5] = oblique ? 10 : 0;
        double before = 0.5 * 4 + 0.5 * 0.4 * 0.01 * (oblique ? 100 : 0);
        sceneRun(&s, 5);
        PC_EXPECT_LE(s.result.report.kinetic, before * (1 + 1e-9));
        PC_EXPECT_GE(s.result.report.kinetic, before * (oblique ? 0.5 : 1 - 1e-9));
        if (!oblique) PC_EXPECT_NEAR(2, s.body[1].velocity[0], 1e-9);
        sceneEnd(&s);
    }
}

/* ---- stabilization ---- */

/* Depth of a ball after so many steps that begins 1e-4 deep: gamma^2 |d| < g h^2, so that nothing is thrown. */
static double depthAfter(Scene* s, int steps)
{
    sceneFloor(s);
    int ball = sceneSphere(s, 0, 0, 0.1 - 1e-4, 0.1, 1);
    sceneRun(s, steps);
    double depth = 0.1 - s->body[ball].pose.position[2];
    sceneEnd(s);
    return depth;
}

PC_TEST(StepWorlds, PenetrationDecaysByOneMinusGamma)
{
    Scene s;
    sceneBegin(&s);
    s.settings.gamma = 0.3;
    PC_EXPECT_REL(1e-4 * pow(0.7, 10), depthAfter(&s, 10), 1e-4);
    sceneBegin(&s);
    s.settings.gamma = 0;
    PC_EXPECT_REL(1e-4, depthAfter(&s, 10), 1e-8);
    for (double gamma = 1; gamma <= 2; gamma += 0.5) { /* all of it in one step; beyond 1 the ball comes out as far as it is too much */
        PC_CASE("gamma=%g", gamma);
        sceneBegin(&s);
        s.settings.gamma = gamma;
        PC_EXPECT_NEAR(1e-4 * (1 - gamma), depthAfter(&s, 1), 1e-12);
    }
    sceneBegin(&s);
    PC_EXPECT_REL(1e-4 * pow(0.8, 10), depthAfter(&s, 10), 1e-4);
    sceneBegin(&s);
    s.settings.adaptiveGamma = 1;
    PC_EXPECT_NEAR(0, depthAfter(&s, 1), 1e-12);
}

/* Deep: as fast as can be without leaving the ground. */
PC_TEST(StepWorlds, AdaptiveGammaDoesNotThrow)
{
    Scene s;
    sceneBegin(&s);
    s.settings.adaptiveGamma = 1;
    sceneFloor(&s);
    int ball = sceneSphere(&s, 0, 0, 0.06, 0.1, 1);
    double highest = 0;
    for (int i = 0; i < 200; i++) {
        sceneStep(&s);
        highest = larger(highest, s.body[ball].pose.position[2]);
    }
    PC_EXPECT_LE(highest, 0.1 + 1e-9);
    PC_EXPECT_NEAR(0.1, s.body[ball].pose.position[2], 1e-6);
    sceneEnd(&s);
}

/* v + s c = 0 and v = -g h + c. */
PC_TEST(StepWorlds, SoftContactYields)
{
    Scene s;
    sceneBegin(&s);
    int body = sceneBody(&s, (const double[3]){0, 0, 0}, 1, unitCube);
    sceneContact(&s, body, (const double[3]){0, 0, 0}, 0)->surface.softness = 0.25;
    sceneStep(&s);
    PC_EXPECT_NEAR(-0.25 * 0.1 / 1.25, s.body[body].velocity[2], 1e-10);
    PC_EXPECT_NEAR(0.1 / 1.25, s.touch[0].impulse[0], 1e-10);
    sceneEnd(&s);
}

/* The other gaps agree with the length where bodies touch. */
PC_TEST(StepWorlds, BoxRestsWithEveryGap)
{
    for (int gap = 0; gap < 3; gap++) {
        PC_CASE("gap=%d", gap);
        Scene s;
        sceneBegin(&s);
        s.settings.gap = (pcGapKind)gap;
        sceneFloor(&s);
        int lower = sceneBox(&s, 0, 0, 0.5, unitCube, 1), upper = sceneBox(&s, 0.2, 0, 1.5, unitCube, 1);
        sceneRun(&s, 50);
        expectPlace(&s, lower, 0, 0, 0.5, 1e-7);
        expectPlace(&s, upper, 0.2, 0, 1.5, 1e-7);
        sceneEnd(&s);
    }
}

/* Shapes whose centres coincide have no direction apart; they come apart all the same. */
PC_TEST(StepWorlds, CoincidentBoxesComeApart)
{
    Scene s;
    sceneBegin(&s);
    memset(s.system.gravity, 0, sizeof s.system.gravity);
    sceneBox(&s, 0, 0, 0, unitCube, 1), sceneBox(&s, 0, 0, 0, unitCube, 1);
    sceneRun(&s, 100);
    v3 apart = v3Sub(v3Load(s.body[0].pose.position), v3Load(s.body[1].pose.position));
    PC_EXPECT_GT(v3Max(apart), 0.99);
    sceneEnd(&s);
}

PC_TEST(StepWorlds, LayerIsKeptFree)
{
    Scene s;
    sceneBegin(&s);
    s.settings.layer = 0.005;
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 0.51, unitCube, 2);
    sceneRun(&s, 100);
    PC_EXPECT_NEAR(0.505, s.body[box].pose.position[2], 1e-6);
    sceneEnd(&s);
}

/* Nothing slows a box before it touches; the papers' form does (gamma times a positive gap). */
PC_TEST(StepWorlds, FallIsFreeUntilItTouches)
{
    for (int paper = 0; paper < 2; paper++) {
        PC_CASE("paper=%d", paper);
        Scene s;
        sceneBegin(&s);
        s.settings.gammaGap = paper ? PC_GAMMA_PAPER : PC_GAMMA_TOUCH, s.settings.gamma = 0.3;
        sceneFloor(&s);
        int ball = sceneSphere(&s, 0, 0, 0.1 + 0.02, 0.1, 1);
        s.body[ball].velocity[2] = -2;
        sceneStep(&s);
        PC_EXPECT_NEAR(paper ? -0.3 * 0.02 / s.h : -2, s.body[ball].velocity[2], 1e-9);
        sceneEnd(&s);
    }
}

/* What cannot be met must not cost what can: the velocity between two drives that contradict each other, and the floor still holds. */
PC_TEST(StepWorlds, ContradictoryDrivesDoNotSwitchTheFloorOff)
{
    static const pcSolver solvers[] = {PC_SOLVER_AUTO, PC_SOLVER_LEMKE, PC_SOLVER_FIXEDPOINT, PC_SOLVER_MINMAP, PC_SOLVER_SPARSE};
    for (int i = 0; i < 5; i++) {
        PC_CASE("solver %d", (int)solvers[i]);
        Scene s;
        sceneBegin(&s);
        s.settings.solver = solvers[i];
        int body = sceneBody(&s, (const double[3]){0, 0, 0}, 1, (const double[3]){1, 1, 1});
        s.body[body].velocity[1] = 1, s.body[body].velocity[2] = -1;
        sceneContact(&s, body, (const double[3]){0, 0, 0}, 0.0);
        for (int k = 0; k < 2; k++) {
            pcRow* row = sceneRow(&s, PC_WORLD, body);
            row->jacobian[6] = 1, row->target = k ? 1 : -2;
        }
        sceneStep(&s);
        PC_EXPECT_TRUE(s.result.report.outcome != PC_SOLVED);
        PC_EXPECT_NEAR(-0.5, s.body[body].velocity[0], 1e-6);
        PC_EXPECT_NEAR(0.0, s.body[body].velocity[2], 1e-6);
        PC_EXPECT_NEAR(1.1, s.touch[0].impulse[0], 1e-6);
        PC_EXPECT_LE(fabs(s.rowImpulse[0]) + fabs(s.rowImpulse[1]), 10.0);
        sceneEnd(&s);
    }
}

/* A slot 2 mm too narrow: no velocity separates both walls, but friction holds the box. */
PC_TEST(StepWorlds, BoxInATooNarrowSlotIsHeld)
{
    static const pcSolver solvers[] = {PC_SOLVER_AUTO, PC_SOLVER_LEMKE, PC_SOLVER_SPARSE};
    for (int i = 0; i < 3; i++) {
        PC_CASE("solver %d", (int)solvers[i]);
        Scene s;
        sceneBegin(&s);
        s.settings.solver = solvers[i];
        sceneBox(&s, 0, 0, 0, unitCube, 2);
        pcShape *left, *right;
        PC_ASSERT_EQ_INT(PC_OK, pcShapeHalfSpace((const double[4]){1, 0, 0, -0.499}, &left));
        PC_ASSERT_EQ_INT(PC_OK, pcShapeHalfSpace((const double[4]){-1, 0, 0, -0.499}, &right));
        sceneShape(&s, PC_WORLD, left), sceneShape(&s, PC_WORLD, right);
        sceneRun(&s, 50);
        PC_EXPECT_NEAR(0.0, s.body[0].pose.position[2], 1e-6);
        PC_EXPECT_NEAR(0.0, s.body[0].pose.position[0], 1e-6);
        sceneEnd(&s);
    }
}
