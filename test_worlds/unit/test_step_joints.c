/* implicitJoints: points that joints hold are where they belong at the end of every step, and nothing is gained by it. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "base/rotation.h"
#include "base/vec.h"
#include "test_worlds/unit/scene.h"

/* A chain of rods of 1 m along x, held by points of their ends; the first one by the world at the origin unless it floats. */
typedef struct Chain {
    Scene scene;
    int links;
    bool floats;
} Chain;

static v3 armOf(const pcBody* body, double x)
{
    m3 R;
    m3FromQuaternion(v4Load(body->pose.quaternion), &R);
    return m3Mul(&R, v3Make(x, 0, 0));
}

static v3 endOf(const pcBody* body, double x) { return v3Add(v3Load(body->pose.position), armOf(body, x)); }

static void chainBegin(Chain* chain, int links, bool floats, double lastMass)
{
    Scene* s = &chain->scene;
    sceneBegin(s);
    chain->links = links, chain->floats = floats;
    for (int i = 0; i < links; i++) {
        double mass = i == links - 1 ? lastMass : 1.0, turn = mass / 12.0;
        sceneBody(s, (const double[3]){i + 0.5, 0, 0}, mass, (const double[3]){0.01 * turn, turn, turn});
    }
}

/* Between link i - 1 and link i. */
static v3 gapAt(const Chain* chain, int i)
{
    const pcBody* body = chain->scene.body;
    v3 before = i > 0 ? endOf(body + i - 1, 0.5) : v3Make(0, 0, 0);
    return v3Sub(before, endOf(body + i, -0.5));
}

static void addPoint(Chain* chain, int i)
{
    const pcBody* body = chain->scene.body;
    v3 arm[2] = {i > 0 ? armOf(body + i - 1, 0.5) : v3Make(0, 0, 0), armOf(body + i, -0.5)}, gap = gapAt(chain, i);
    const double error[3] = {gap.x, gap.y, gap.z};
    for (int k = 0; k < 3; k++) {
        pcRow* row = sceneRow(&chain->scene, i > 0 ? i - 1 : PC_WORLD, i);
        v3 axis = {k == 0, k == 1, k == 2};
        for (int side = i > 0 ? 0 : 1; side < 2; side++) {
            v3Store(row->jacobian + 6 * side, v3Scale(side ? -1 : 1, axis));
            v3Store(row->jacobian + 6 * side + 3, v3Scale(side ? -1 : 1, v3Cross(arm[side], axis)));
        }
        row->target = -error[k] / chain->scene.h, row->error = error[k];
    }
}

static double drift(const Chain* chain)
{
    double most = 0.0;
    for (int i = chain->floats; i < chain->links; i++) most = fmax(most, v3Norm(gapAt(chain, i)));
    return most;
}

/* The largest drift on the way. */
static double chainRun(Chain* chain, int steps)
{
    double most = 0.0;
    for (int step = 0; step < steps; step++) {
        chain->scene.system.rowCount = 0;
        for (int i = chain->floats; i < chain->links; i++) addPoint(chain, i);
        sceneStep(&chain->scene);
        most = fmax(most, drift(chain));
    }
    return most;
}

PC_TEST(ImplicitJoints, HoldAPointWhereTheStepEnds)
{
    for (int implicit = 0; implicit < 2; implicit++) {
        PC_CASE("implicitJoints=%d", implicit);
        Chain chain;
        chainBegin(&chain, 3, false, 1.0);
        chain.scene.settings.implicitJoints = implicit;
        chain.scene.body[2].velocity[1] = 1.0;
        double most = chainRun(&chain, 200);
        if (implicit)
            PC_EXPECT_LE(most, 1e-10);
        else
            PC_EXPECT_LE(1e-4, most); /* what rows alone leave, to be stabilized away */
        sceneEnd(&chain.scene);
    }
}

PC_TEST(ImplicitJoints, KeepMomentumAndGainNoEnergy)
{
    Chain chain;
    chainBegin(&chain, 4, true, 100.0);
    Scene* s = &chain.scene;
    memset(s->system.gravity, 0, sizeof s->system.gravity);
    s->settings.implicitJoints = 1;
    s->body[0].velocity[1] = 1.0, s->body[3].velocity[2] = 0.5;
    double before[3], energy = 0.0;
    for (int k = 0; k < 3; k++)
        before[k] = s->body[0].velocity[k] + s->body[1].velocity[k] + s->body[2].velocity[k] + 100.0 * s->body[3].velocity[k];
    for (int step = 0; step < 300; step++) {
        PC_EXPECT_LE(chainRun(&chain, 1), 1e-9);
        double now = s->result.report.kinetic;
        if (step > 0) PC_EXPECT_LE(now, energy * (1.0 + 1e-3)); /* the first step makes the start fit the joints */
        energy = step == 0 ? now : energy;
    }
    for (int k = 0; k < 3; k++) {
        double after = s->body[0].velocity[k] + s->body[1].velocity[k] + s->body[2].velocity[k] + 100.0 * s->body[3].velocity[k];
        PC_EXPECT_NEAR(before[k], after, 1e-9);
    }
    PC_EXPECT_LE(0.8 * energy, s->result.report.kinetic);
    sceneEnd(s);
}

/* Rods of 1 kg that carry 1000 kg swing across the pull at 600 / s: a step of 0.02 s is six times too long for them. */
PC_TEST(ImplicitJoints, CarryAThousandTimesTheirMassAtLargeSteps)
{
    Chain chain;
    chainBegin(&chain, 5, false, 1000.0);
    Scene* s = &chain.scene;
    s->h = 0.02, s->settings.implicitJoints = 1;
    double start = 0.0, least = HUGE_VAL, gain = 0.0;
    for (int step = 0; step < 250; step++) {
        PC_EXPECT_LE(chainRun(&chain, 1), 1e-8);
        double energy = s->result.report.energy;
        start = step == 0 ? energy : start;
        least = fmin(least, energy), gain = fmax(gain, energy - least);
    }
    PC_EXPECT_LE(gain, 1e-6 * 1000 * 10 * 5);
    PC_EXPECT_LE(start - least, 0.2 * 1000 * 10 * 5);
    sceneEnd(s);
}

/* Rows that hold no point, such as a slider's, are left alone: the same answer to the bit. */
PC_TEST(ImplicitJoints, LeaveOtherRowsAlone)
{
    double velocity[2][6];
    for (int implicit = 0; implicit < 2; implicit++) {
        Scene s;
        sceneBegin(&s);
        s.settings.implicitJoints = implicit;
        int body = sceneBody(&s, (const double[3]){0, 0, 0}, 1.0, (const double[3]){1, 2, 3});
        s.body[body].velocity[4] = 3.0;
        for (int k = 0; k < 2; k++) {
            pcRow* row = sceneRow(&s, body, PC_WORLD);
            row->jacobian[k] = 1.0, row->jacobian[4 - k] = k ? 0.3 : -0.3;
        }
        sceneStep(&s);
        memcpy(velocity[implicit], s.body[body].velocity, sizeof velocity[0]);
        sceneEnd(&s);
    }
    PC_EXPECT_EQ_INT(0, memcmp(velocity[0], velocity[1], sizeof velocity[0]));
}
