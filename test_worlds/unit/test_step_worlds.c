/* Worlds of one or two bodies whose motion is known: by theory, or exactly, as the first-order scheme makes it. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "base/rotation.h"
#include "base/vec.h"
#include "test_worlds/unit/scene.h"

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
    sceneExpectPlace(&s, box, 0, 0, 0.5, 1e-9);
    sceneExpectSound(&s);
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
    sceneExpectPlace(&s, lower, 0, 0, 0.5, 1e-7);
    sceneExpectPlace(&s, upper, 0.1, 0.05, 1.5, 1e-7);
    PC_EXPECT_EQ_INT(1, s.result.report.islands);
    sceneExpectSound(&s);
    sceneEnd(&s);
}

/* Rounding of gaps and impulses must not add up: from some step on nothing moves any more, not by the last bit. */
PC_TEST(StepWorlds, StackComesToRestToTheBit)
{
    static const pcSolver solvers[] = {PC_SOLVER_AUTO, PC_SOLVER_LEMKE};
    for (int k = 0; k < 2; k++) {
        Scene s;
        pcPose rest[SCENE_MOST];
        sceneBegin(&s);
        s.settings.solver = solvers[k];
        sceneFloor(&s);
        for (int i = 0; i < 5; i++) sceneBox(&s, 0.07 * i, 0.05 * (i % 2), 0.5 + 1.001 * i, unitCube, 1 + i % 3);
        sceneRun(&s, 300);
        for (int i = 0; i < 5; i++) rest[i] = s.body[i].pose;
        sceneRun(&s, 300);
        for (int i = 0; i < 5; i++) {
            PC_CASE("solver %d, body %d", k, i);
            PC_EXPECT_TRUE(memcmp(&rest[i], &s.body[i].pose, sizeof rest[i]) == 0);
            PC_EXPECT_TRUE(sceneSpeed(&s, i) == 0.0);
        }
        sceneExpectSound(&s);
        sceneEnd(&s);
    }
}

/* However little accuracy is asked for, what moves slowly is not at rest. */
PC_TEST(StepWorlds, SlowSliderOnIceKeepsMoving)
{
    const double speed = 5e-10, tolerances[] = {1e-10, 1e-4};
    for (int k = 0; k < 2; k++) {
        PC_CASE("tolerance %g", tolerances[k]);
        Scene s;
        sceneBegin(&s);
        s.settings.mu = 0, s.settings.tolerance = tolerances[k];
        sceneFloor(&s);
        int box = sceneBox(&s, 0, 0, 0.5, unitCube, 2);
        s.body[box].velocity[0] = speed;
        sceneRun(&s, 1000);
        PC_EXPECT_NEAR(1000 * s.h * speed, s.body[box].pose.position[0], 1e-13);
        sceneEnd(&s);
    }
}

PC_TEST(StepWorlds, RelaxationHoldsABoxAtRest)
{
    Scene s;
    sceneBegin(&s);
    s.settings.model = PC_MODEL_CONVEX;
    sceneFloor(&s);
    int box = sceneBox(&s, 0, 0, 0.5, unitCube, 2);
    sceneRun(&s, 100);
    sceneExpectPlace(&s, box, 0, 0, 0.5, 1e-9);
    sceneExpectSound(&s);
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
    sceneExpectSound(&s);
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

/* |I omega| about the centre of mass. */
static double spinMomentum(const pcBody* body)
{
    m3 R;
    m3FromQuaternion(v4Load(body->pose.quaternion), &R);
    v3 own = m3TMul(&R, v3Load(body->velocity + 3));
    return v3Norm(v3Make(body->inertia[0] * own.x, body->inertia[4] * own.y, body->inertia[8] * own.z));
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
    double start = s.result.report.kinetic, momentum = spinMomentum(s.body + body);
    sceneRun(&s, 5000);
    PC_EXPECT_REL(start, s.result.report.kinetic, 1e-10);
    PC_EXPECT_REL(momentum, spinMomentum(s.body + body), 1e-10);
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
    sceneExpectPlace(&s, table, 0, 0, 0, 0);
    sceneExpectPlace(&s, box, 0, 0, 1, 1e-9);
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
        sceneExpectPlace(&s, box, 0, 0, 0.5, 1e-8);
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
