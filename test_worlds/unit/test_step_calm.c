/* Steps that miss their tolerance throw nobody; those that meet it are used, however fast. */
#define _GNU_SOURCE
#include <glob.h>
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "adapters/problems/read.h"
#include "base/vec.h"
#include "test_worlds/unit/scene.h"

static const double origin[3] = {0, 0, 0};

static v3 unit(v3 x) { return v3Scale(1 / v3Norm(x), x); }

/* ---- a wedge ---- */

/* Two planes that press on a point from above and below, all but parallel: out of both at once it can only go at 1 / slope of what it is pushed. */
static void beginWedge(Scene* s, double slope)
{
    sceneBegin(s);
    memset(s->system.gravity, 0, sizeof s->system.gravity);
    s->settings.gamma = 1, s->settings.mu = 0;
    int body = sceneBody(s, origin, 1, unitCube);
    for (int side = -1; side <= 1; side += 2) {
        pcContact* c = sceneContact(s, body, origin, -0.01);
        v3Store(c->normal, unit(v3Make(slope, 0, side)));
    }
}

PC_TEST(StepCalm, AnswersThatMeetTheirToleranceAreUsedHoweverFast)
{
    Scene s;
    beginWedge(&s, 1e-3);
    sceneStep(&s);
    sceneExpectSound(&s);
    PC_EXPECT_REL(1e3, s.body[0].velocity[0], 1e-5);
    sceneEnd(&s);
}

PC_TEST(StepCalm, AWedgeThrowsNobodyUnlessThatIsTheAnswer)
{
    int missed = 0;
    for (int model = 0; model < 2; model++)
        for (int digit = 2; digit < 18; digit++) {
            PC_CASE("model=%d slope=1e-%d", model, digit);
            Scene s;
            beginWedge(&s, pow(10, -digit));
            s.settings.model = model ? PC_MODEL_CONVEX : PC_MODEL_LCP;
            sceneStep(&s);
            bool solved = s.result.report.outcome == PC_SOLVED;
            if (!solved) PC_EXPECT_LE(sceneSpeed(&s, 0), 4);
            missed += !solved;
            sceneEnd(&s);
        }
    PC_EXPECT_GT(missed, 0);
}

/* A joint that is a metre off along each of two axes that are all but one: it cannot be where both want it. */
PC_TEST(StepCalm, JointsThatContradictEachOtherThrowNobody)
{
    int missed = 0;
    for (int digit = 2; digit < 18; digit++) {
        PC_CASE("slope=1e-%d", digit);
        Scene s;
        sceneBegin(&s);
        int body = sceneBody(&s, origin, 1, unitCube);
        for (int side = -1; side <= 1; side += 2) {
            pcRow* row = sceneRow(&s, body, PC_WORLD);
            row->jacobian[0] = 1, row->jacobian[1] = side * pow(10, -digit);
            row->target = side, row->error = -0.01 * side;
        }
        sceneStep(&s);
        bool solved = s.result.report.outcome == PC_SOLVED;
        if (!solved) PC_EXPECT_LE(sceneSpeed(&s, 0), 4);
        missed += !solved;
        sceneEnd(&s);
    }
    PC_EXPECT_GT(missed, 0);
}

/* ---- islands that were thrown ---- */

/* A contact of the one body of the island, which is at the origin, from its rows. */
static void addContact(Scene* s, const pcProblem* p, const pcCone* cone)
{
    int side = p->block[2 * cone->row] < 0, first = cone->row;
    const double* J = p->J + 12 * (size_t)first + 6 * (size_t)side;
    double sign = side ? 1 : -1;
    v3 n = v3Scale(sign, v3Load(J)), r = v3Cross(n, v3Scale(sign, v3Load(J + 3)));
    pcContact* c = sceneContact(s, 0, origin, -p->target[first] * s->h);
    if (!side) c->body1 = 0, c->body2 = PC_WORLD;
    c->surface.mu = 0;
    if (cone->rows == 3) {
        v3 t = v3Load(J + 12), o = v3Load(J + 24), moment = v3Load(J + 15);
        r = v3AddScaled(r, v3Dot(moment, o) / v3Dot(v3Cross(t, o), n), n);
        c->surface.mu = v3Norm(t);
        v3Store(c->surface.direction1, unit(t));
    }
    v3Store(c->normal, n), v3Store(c->point, r);
}

static void addRow(Scene* s, const pcProblem* p, const pcCone* cone)
{
    const int* block = p->block + 2 * (size_t)cone->row;
    pcRow* row = sceneRow(s, block[0] < 0 ? PC_WORLD : block[0], block[1] < 0 ? PC_WORLD : block[1]);
    memcpy(row->jacobian, p->J + 12 * (size_t)cone->row, sizeof row->jacobian);
    row->target = p->target[cone->row], row->softness = p->soft[cone->row];
    if (cone->kind == PC_CONE_BOX) row->lo = cone->lo, row->hi = cone->hi;
}

static void beginIsland(Scene* s, const pcProblem* p)
{
    sceneBegin(s);
    memset(s->system.gravity, 0, sizeof s->system.gravity);
    s->settings.gamma = 1, s->settings.coneEdges = 0, s->settings.model = p->coulomb ? PC_MODEL_LCP : PC_MODEL_CONVEX;
    s->system.freeVelocity = p->free;
    for (int i = 0; i < p->blocks; i++) {
        const double* M = p->mass + 36 * (size_t)i;
        int body = sceneBody(s, origin, M[0], unitCube);
        for (int k = 0; k < 9; k++) s->body[body].inertia[k] = M[6 * (3 + k / 3) + 3 + k % 3];
        memcpy(s->body[body].velocity, p->free + 6 * (size_t)i, sizeof s->body[body].velocity);
    }
    for (const pcCone* cone = p->cone; cone < p->cone + p->cones; cone++)
        (cone->kind == PC_CONE_FRICTION ? addContact : addRow)(s, p, cone);
}

static double energyOf(const double* M, const double* v)
{
    double sum = 0;
    for (int i = 0; i < 36; i++) sum += 0.5 * v[i / 6] * M[i] * v[i % 6];
    return sum;
}

static void playIsland(const pcProblem* p)
{
    Scene s;
    beginIsland(&s, p);
    sceneStep(&s);
    PC_EXPECT_TRUE(s.result.report.outcome != PC_SOLVED);
    PC_EXPECT_GT(s.result.report.residual, s.settings.tolerance);
    for (int i = 0; i < p->blocks; i++) {
        const double *M = p->mass + 36 * (size_t)i, *f = p->free + 6 * (size_t)i;
        double most = 0.5 * M[0] * p->velocityScale * p->velocityScale;
        PC_EXPECT_LE(energyOf(M, s.body[i].velocity), 16 * (energyOf(M, f) + most));
    }
    sceneEnd(&s);
}

PC_TEST(StepCalm, IslandsThatWereThrownAreNot)
{
    glob_t found;
    PC_ASSERT_EQ_INT(0, glob(PCONTACT_TEST_WORLDS "/problems/steps/thrown_*.txt", 0, NULL, &found));
    PC_EXPECT_GE((int)found.gl_pathc, 4);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        pcProblemFile file;
        char message[PC_READ_MESSAGE] = "";
        PC_CASE("%s", found.gl_pathv[i]);
        if (pcProblemRead(found.gl_pathv[i], &file, message)) {
            playIsland(&file.step);
            pcProblemFileFree(&file);
        } else
            PC_FAIL("%s", message);
    }
    globfree(&found);
}
