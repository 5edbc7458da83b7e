/* The worlds of G under the implicit step: what the paper shows, and what its equations promise. */
#include <math.h>
#include <string.h>

#include "adapters/cli/disc.h"
#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/counting.h"
#include "test_worlds/unit/implicit_worlds.h"

static ImplicitWorld w; /* too large for the stack */

/* ---- G 6.1 ---- */

/* G: no loss within 1e-6. 100 rolls are 200 pi / 3 s: 20944 steps. A disc given by its function alone has a line of closest points: the point
 * stays where it is along the line. */
PC_TEST(ImplicitWorlds, DiscKeepsItsEnergyOverAHundredRolls)
{
    const double start = 0.5 * 9.0 + 0.25 * 9.0;
    for (int kind = 0; kind < DISC_KINDS; kind++) {
        PC_CASE("disc as a %s", discNames[kind]);
        implicitDisc(&w, (DiscKind)kind, 0.01);
        double worst = 0.0, high = 0.0;
        int fallbacks = 0;
        for (int i = 0; i < 20944; i++) {
            PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
            worst = fmax(worst, fabs(w.result.report.step.kinetic - start)), high = fmax(high, fabs(w.body[0].pose.position[2] - 1.0));
            fallbacks += w.result.report.step.fallbacks;
        }
        PC_EXPECT_LE(worst, 1e-9);
        PC_EXPECT_LE(high, 1e-9);
        PC_EXPECT_EQ_INT(0, fallbacks);
        PC_EXPECT_NEAR(-3.0 * 209.44, w.body[0].pose.position[0], 1e-6);
        implicitWorldEnd(&w);
    }
}

/* G's figure 1: `pcontact bench disc` is the whole table. */
PC_TEST(ImplicitWorlds, PolygonsLoseWhereTheDiscDoesNot)
{
    static const int corners[] = {10, 50};
    pcDiscRun run;
    PC_ASSERT_STATUS(PC_OK, pcDiscRoll(0, "model=implicit mu=0.5", 0.01, 5.0, &run));
    PC_EXPECT_NEAR(0.0, run.lost, 1e-9);
    PC_EXPECT_NEAR(10.0, run.way, 1e-9);
    for (int i = 0; i < 2; i++) {
        PC_CASE("corners=%d", corners[i]);
        PC_ASSERT_STATUS(PC_OK, pcDiscRoll(corners[i], "model=lcp mu=0.5", 0.01, 5.0, &run));
        PC_EXPECT_GT(run.lost, 0.1 * run.before);
    }
}

/* ---- G 6.2 ---- */

/* When contact 2 begins to slide, when contact 1 ends, when contact 2 ends: seconds. */
typedef struct Story {
    double slides, leaves1, leaves2;
    double roughest; /* largest second difference of the velocity, by speed, three steps or more from any of these */
    double jump;     /* largest first difference, likewise, once it is on its way: from 1 s on */
    double friction; /* largest | |friction| - mu p_n | by mu p_n where a contact slides: 1 always does */
    double penetration, residual;
    int fallbacks;
    int slid2; /* steps in which contact 2 slides */
} Story;

static const pcImplicitContact* contactWith(int form)
{
    for (int i = 0; i < w.result.contactCount; i++)
        if (w.contact[i].form2 == form && w.contact[i].impulse[0] > 0.0) return w.contact + i;
    return NULL;
}

/* |p_f| in the norm of the ellipsoid G 5. */
static double frictionOf(const pcImplicitContact* c)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) sum += c->limit[k] > 0.0 ? pow(c->impulse[1 + k] / c->limit[k], 2) : 0.0;
    return sqrt(sum);
}

static void watch(Story* s, double time)
{
    const pcImplicitContact *one = contactWith(1), *two = contactWith(2);
    if (one) s->leaves1 = time, s->friction = fmax(s->friction, fabs(frictionOf(one) / one->impulse[0] - 1.0));
    if (two) s->leaves2 = time;
    if (two && hypot(two->slip[0], two->slip[1]) > 1e-6) {
        s->friction = fmax(s->friction, fabs(frictionOf(two) / two->impulse[0] - 1.0)), s->slid2++;
        if (s->slides == 0.0) s->slides = time;
    }
    s->penetration = fmax(s->penetration, w.result.report.penetration), s->residual = fmax(s->residual, w.result.report.step.residual);
    s->fallbacks += w.result.report.step.fallbacks;
}

enum { ROOM = 8192 };
static double v[ROOM][3]; /* of the story told last: velocity after each step */

/* Within three steps of the start or of a transition. */
static bool isNearEvent(const Story* s, double time, double h)
{
    const double events[] = {h, s->slides, s->leaves1, s->leaves2};
    bool near = false;
    for (int k = 0; k < 4; k++) near |= fabs(time - events[k]) < 3.5 * h;
    return near;
}

static Story tell(double h)
{
    Story s = {0};
    implicitTwoSpheres(&w, h);
    int steps = (int)(4.0 / h + 0.5);
    for (int i = 0; i < steps && i < ROOM; i++) {
        PC_EXPECT_STATUS(PC_OK, implicitWorldStep(&w));
        memcpy(v[i], w.body[0].velocity, sizeof v[i]);
        watch(&s, w.time);
    }
    for (int i = 1; i + 1 < steps && i < ROOM - 1; i++) {
        double speed = 0.0, bend = 0.0, jump = 0.0;
        bool near = isNearEvent(&s, (i + 1) * h, h);
        for (int k = 0; k < 3; k++)
            speed += v[i][k] * v[i][k], bend += pow(v[i + 1][k] - 2.0 * v[i][k] + v[i - 1][k], 2), jump += pow(v[i + 1][k] - v[i][k], 2);
        if (!near) s.roughest = fmax(s.roughest, sqrt(bend / speed));
        if (!near && i * h > 1.0) s.jump = fmax(s.jump, sqrt(jump / speed));
    }
    implicitWorldEnd(&w);
    return s;
}

/* G: contact 2 rolls to about 3 s, contact 1 ends near 3.2 s, contact 2 near 3.6 s. Between such events the velocity bends by less than a
 * thousandth of the speed in a step. */
PC_TEST(ImplicitWorlds, SphereOnTwoSpheresTellsTheStoryOfThePaper)
{
    Story s = tell(0.01);
    PC_EXPECT_NEAR(3.0, s.slides, 0.1);
    PC_EXPECT_NEAR(3.2, s.leaves1, 0.1);
    PC_EXPECT_NEAR(3.6, s.leaves2, 0.1);
    PC_EXPECT_LE(s.roughest, 1e-3);
    PC_EXPECT_LE(s.friction, 1e-8);
    PC_EXPECT_GE(s.slid2, 60);
    PC_EXPECT_LE(s.penetration, 1e-9);
    PC_EXPECT_LE(s.residual, 1e-10);
    PC_EXPECT_EQ_INT(0, s.fallbacks);
}

/* Taken by the letter, no velocity of the paper's world can change by less than a thousandth of itself in a step of 0.01: the force alone makes
 * 0.102 m/s of it, 2 % of the 5.2 m/s with which it leaves. It does where a step is short enough for the force, and at every step the
 * change is not more than that. */
PC_TEST(ImplicitWorlds, SphereOnTwoSpheresNeverJumps)
{
    const double force = sqrt(1.0 + 2.6 * 2.6 + 9.81 * 9.81);
    Story s = tell(0.01), fine = tell(0.0005);
    PC_EXPECT_LE(s.jump, force * 0.01 / 5.2);
    PC_EXPECT_REL(0.013, s.jump, 0.05);
    PC_EXPECT_LE(fine.jump, 7e-4);
    PC_EXPECT_REL(20.0, s.jump / fine.jump, 0.05); /* of first order in h: what is left is acceleration */
    PC_EXPECT_LE(fine.roughest, 1e-5);
    PC_EXPECT_EQ_INT(0, fine.fallbacks);
}

/* What the sentence means: of each change within a step of 0.01, that which the motion makes in this time, forces and contacts acting together, is known
 * from steps 20 times as short; what is left, a jump, is less than a thousandth of the speed, at every step outside of transitions. */
PC_TEST(ImplicitWorlds, SphereOnTwoSpheresChangesItsVelocityAsItsMotionDoes)
{
    enum { STEPS = 400, FINER = 20 };
    static double coarse[STEPS][3];
    const double h = 0.01;
    Story s = tell(h);
    memcpy(coarse, v, sizeof coarse);
    tell(h / FINER);
    double most = 0.0;
    for (int i = 0; i + 1 < STEPS; i++) {
        const double *now = v[FINER * (i + 2) - 1], *before = v[FINER * (i + 1) - 1];
        double speed = 0.0, left = 0.0;
        if (isNearEvent(&s, (i + 1) * h, h)) continue;
        for (int k = 0; k < 3; k++) speed += pow(coarse[i][k], 2), left += pow(coarse[i + 1][k] - coarse[i][k] - now[k] + before[k], 2);
        most = fmax(most, sqrt(left / speed));
    }
    PC_EXPECT_LE(most, 3e-4);
}

/* First order: halving h halves how far the velocity is from the next, while it rolls on one, slides on both, slides on one, and flies; and the
 * transitions come to a limit. */
PC_TEST(ImplicitWorlds, SphereOnTwoSpheresConvergesInTheStep)
{
    enum { HALVINGS = 5, TIMES = 4 };
    static const double times[TIMES] = {2.5, 3.1, 3.5, 4.0};
    Story s[HALVINGS];
    double at[HALVINGS][TIMES][3], d[HALVINGS - 1][TIMES];
    for (int i = 0; i < HALVINGS; i++) {
        double h = 0.01 / (1 << i);
        s[i] = tell(h);
        for (int k = 0; k < TIMES; k++) memcpy(at[i][k], v[(int)(times[k] / h + 0.5) - 1], sizeof at[i][k]);
    }
    for (int i = 0; i + 1 < HALVINGS; i++)
        for (int k = 0; k < TIMES; k++) {
            const double *a = at[i][k], *b = at[i + 1][k];
            d[i][k] = hypot(hypot(b[0] - a[0], b[1] - a[1]), b[2] - a[2]);
            PC_CASE("h=%g, at %g s", 0.01 / (1 << i), times[k]);
            if (i > 0) PC_EXPECT_REL(2.0, d[i - 1][k] / d[i][k], 0.015);
        }
    for (int i = 0; i < HALVINGS; i++) {
        double h = 0.01 / (1 << i);
        const Story* limit = s + HALVINGS - 1;
        PC_CASE("h=%g", h);
        PC_EXPECT_NEAR(limit->slides, s[i].slides, 2.0 * h);
        PC_EXPECT_NEAR(limit->leaves1, s[i].leaves1, 2.0 * h);
        PC_EXPECT_NEAR(limit->leaves2, s[i].leaves2, 2.0 * h);
        PC_EXPECT_EQ_INT(0, s[i].fallbacks);
    }
}

/* ---- no penetration, whatever the step ---- */

/* The third row of the rotation: what is up, in the axes of the body. */
static void upOf(const double q[4], double up[3])
{
    up[0] = 2.0 * (q[1] * q[3] - q[0] * q[2]), up[1] = 2.0 * (q[2] * q[3] + q[0] * q[1]);
    up[2] = 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]);
}

/* How far below its centre a disc reaches, of radius 1 and length 1 about its y axis. */
static double reachOfDisc(const double up[3]) { return hypot(up[0], up[2]) + 0.5 * fabs(up[1]); }

/* … and the superellipsoid of implicitPole, whose support function is the dual norm, with exponents 4/3 and 6/5. */
static double reachOfPole(const double up[3])
{
    double flat = pow(pow(fabs(1.0 * up[0]), 4.0 / 3.0) + pow(fabs(0.8 * up[1]), 4.0 / 3.0), 0.75);
    return pow(pow(flat, 1.2) + pow(fabs(0.6 * up[2]), 1.2), 1.0 / 1.2);
}

typedef enum World { ROLLING, FALLING, HOLLOW, BALLS, LAYER, DEEP_LAYER, MIDPOINT, POLE, WORLDS } World;
static const char* const worldNames[WORLDS] = {
    "disc", "disc that falls askew", "two spheres", "balls", "layer", "deep layer", "layer by midpoint", "superellipsoid on its pole"};

static void makeWorld(World world, double h)
{
    if (world == ROLLING) implicitDisc(&w, DISC_SPHERE, h);
    if (world == FALLING) implicitDisc(&w, DISC_CYLINDER, h), w.body[0].pose.position[2] = 1.4, w.body[0].velocity[3] = 2.0;
    if (world == HOLLOW) implicitTwoSpheres(&w, h);
    if (world == BALLS)
        implicitApart(&w, 3, h), w.body[0].pose.position[2] = 2.0, w.body[1].velocity[2] = -5.0, w.body[1].pose.position[2] = 1.5;
    if (world == LAYER || world == DEEP_LAYER) implicitLayered(&w, h, world == LAYER ? 0.05 : 1.0, PC_SCHEME_EULER);
    if (world == MIDPOINT) implicitLayered(&w, h, 0.05, PC_SCHEME_MIDPOINT);
    if (world == POLE) implicitPole(&w, h);
}

/* How deep a body lies in what is rigid: from its pose alone. */
static double depthOf(World world, const pcPose* pose)
{
    const double* x = pose->position;
    double up[3];
    upOf(pose->quaternion, up);
    if (world == HOLLOW) return fmax(11.0 - hypot(hypot(x[0], x[1]), x[2]), 10.0 - hypot(hypot(x[0], x[1] - 11.4), x[2]));
    double reach = world == FALLING ? reachOfDisc(up) : world == POLE ? reachOfPole(up) : 1.0;
    return reach - x[2] - (world == LAYER || world == MIDPOINT ? 0.05 : world == DEEP_LAYER ? 1.0 : 0.0);
}

/* What comes to rest on its pole is tilted by less and less, down to the smallest numbers there are. */
PC_TEST(ImplicitWorlds, APoleMayBeTiltedByNextToNothing)
{
    for (double tilt = 1e-2; tilt > 0.0; tilt *= 1e-3) {
        PC_CASE("tilted by %g", tilt);
        implicitPole(&w, 0.02);
        w.body[0].pose = (pcPose){{0, 0, 0.6}, {1, tilt, -0.5 * tilt, 0}}, w.body[0].velocity[4] = 0.0;
        for (int i = 0; i < 10; i++) PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
        PC_EXPECT_NEAR(0.6, w.body[0].pose.position[2], 0.3 * tilt + 1e-14);
        implicitWorldEnd(&w);
    }
}

/* For 4 s, in which the sphere leaves both spheres. */
PC_TEST(ImplicitWorlds, NothingPenetratesAtTheEndOfAnyStep)
{
    static const double steps[] = {1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1};
    for (int i = 0; i < 7; i++)
        for (int world = 0; world < WORLDS; world++) {
            double said = 0.0, depth = 0.0;
            int fallbacks = 0;
            PC_CASE("%s, h=%g", worldNames[world], steps[i]);
            makeWorld((World)world, steps[i]);
            while (w.time < 4.0 - 0.5 * w.h) {
                PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
                said = fmax(said, w.result.report.penetration), fallbacks += w.result.report.step.fallbacks;
                for (int b = 0; b < w.system.bodyCount; b++) depth = fmax(depth, depthOf((World)world, &w.body[b].pose));
            }
            PC_EXPECT_LE(said, 1e-9);
            PC_EXPECT_LE(depth, 1e-9);
            PC_EXPECT_EQ_INT(0, fallbacks);
            implicitWorldEnd(&w);
        }
}

/* ---- flat poles ---- */

/* At the pole of a superellipsoid the Hessian vanishes: the point it stands on moves as a root of its tilt, by 1e-3 for one rounding error of a
 * pose. It rocks and comes to rest; where it stands, the point is under its centre, found by the balance of moments. */
PC_TEST(ImplicitWorlds, SuperellipsoidStandsOnItsFlatPole)
{
    static const double steps[] = {0.002, 0.01, 0.05};
    for (int i = 0; i < 3; i++) {
        int fallbacks = 0;
        double residual = 0.0, off = 0.0;
        PC_CASE("h=%g", steps[i]);
        implicitPole(&w, steps[i]);
        for (int k = 0; k < 300; k++) {
            PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
            fallbacks += w.result.report.step.fallbacks, residual = fmax(residual, w.result.report.step.residual);
        }
        for (int k = 0; k < 2; k++) off = fmax(off, fabs(w.contact[0].point1[k] - w.body[0].pose.position[k]));
        PC_EXPECT_EQ_INT(0, fallbacks);
        PC_EXPECT_LE(residual, 1e-10);
        PC_EXPECT_EQ_INT(1, w.result.contactCount);
        PC_EXPECT_REL(9.81 * steps[i], w.contact[0].impulse[0], 0.2);
        PC_EXPECT_LE(off, 0.5); /* it has not fallen over */
        implicitWorldEnd(&w);
    }
}

/* ---- joints ---- */

/* A ball whose velocity along x an equality row holds at 0.25 while it falls, strikes the floor and is made to roll by friction. */
PC_TEST(ImplicitWorlds, JointRowsHoldWhileContactsAct)
{
    implicitApart(&w, 1, 0.01);
    pcBody* b = w.body;
    b->pose.position[0] = 0.0, b->pose.position[2] = 1.3, b->velocity[0] = 0.0;
    pcRow row = {.body1 = 0, .body2 = PC_WORLD, .jacobian = {1, 0, 0}, .lo = -HUGE_VAL, .hi = HUGE_VAL, .target = 0.25};
    double impulse = 0.0;
    w.system.rowCount = 1, w.system.rows = &row, w.result.rowImpulse = &impulse;
    for (int i = 0; i < 100; i++) {
        PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
        PC_EXPECT_NEAR(0.25, b->velocity[0], 1e-11);
        PC_EXPECT_GE(b->pose.position[2], 1.0 - 1e-9);
    }
    PC_EXPECT_NEAR(1.0, b->pose.position[2], 1e-9);
    PC_EXPECT_NEAR(0.25, b->velocity[4], 1e-9); /* friction makes it roll */
    PC_EXPECT_LE(w.result.report.step.residual, 1e-10);
    implicitWorldEnd(&w);
}

/* ---- no answer ---- */

/* A ball between a wall and a press that closes: nothing keeps out of both. The step ends all the same, with the LCP's best, and says so. */
PC_TEST(ImplicitWorlds, SqueezedBallTakesTheLcpStepAndIsCounted)
{
    const double wall[4] = {1, 0, 0, -1}, press[4] = {-1, 0, 0, -1};
    pcForm *ball = NULL, *left = NULL, *right = NULL;
    implicitWorldBegin(&w);
    PC_ASSERT_STATUS(PC_OK, pcFormSphere(1.0, &ball));
    PC_ASSERT_STATUS(PC_OK, pcFormHalfSpace(wall, &left));
    PC_ASSERT_STATUS(PC_OK, pcFormHalfSpace(press, &right));
    w.system.gravity[2] = 0.0;
    implicitBody(&w, implicitOwn(&w, ball), 1.0, 0.4);
    int closes = implicitBody(&w, implicitOwn(&w, right), 1.0, 1.0);
    w.body[closes].kind = PC_BODY_KINEMATIC, w.body[closes].velocity[0] = -0.5;
    implicitFixed(&w, implicitOwn(&w, left), 0, 0, 0);
    for (int i = 0; i < 3; i++) {
        PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
        PC_EXPECT_EQ_INT(1, w.result.report.step.fallbacks);
        PC_EXPECT_EQ_INT(PC_INACCURATE, (int)w.result.report.step.outcome);
        PC_EXPECT_EQ_STR("lcp", w.result.report.step.solver);
        for (int k = 0; k < 6; k++) PC_EXPECT_LE(fabs(w.velocity[k]), 10.0);
    }
    implicitWorldEnd(&w);
}

/* Places of 10 m are rounded to 2e-15 m, which a step of 0.001 makes 2e-12 m/s of: no answer can be better, and the step says that it is not. */
PC_TEST(ImplicitWorlds, AnswersThatRoundingKeepsFromTheToleranceAreSaidToBeInaccurate)
{
    int inaccurate = 0;
    implicitTwoSpheres(&w, 0.001);
    w.settings.tolerance = 1e-14;
    for (int i = 0; i < 100; i++) {
        PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
        const pcStepReport* r = &w.result.report.step;
        PC_EXPECT_EQ_INT(0, r->fallbacks);
        PC_EXPECT_TRUE((r->outcome == PC_SOLVED) == (r->residual <= 1e-14));
        inaccurate += r->outcome == PC_INACCURATE;
    }
    PC_EXPECT_GT(inaccurate, 50);
    implicitWorldEnd(&w);
}

/* ---- manners ---- */

PC_TEST(ImplicitWorlds, SecondStepAllocatesNothing)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("allocations are not counted here");
    implicitTwoSpheres(&w, 0.01);
    for (int i = 0; i < 5; i++) PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
    pcCountingStart();
    for (int i = 0; i < 20; i++) PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
    PC_EXPECT_EQ_INT(0, pcCountingStop());
    implicitWorldEnd(&w);
}

PC_TEST(ImplicitWorlds, SameInputGivesTheSameBits)
{
    static pcBody first;
    for (int run = 0; run < 2; run++) {
        implicitTwoSpheres(&w, 0.01);
        for (int i = 0; i < 50; i++) PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
        if (run == 0) first = w.body[0];
        PC_EXPECT_TRUE(memcmp(&first, w.body, sizeof first) == 0);
        implicitWorldEnd(&w);
    }
}
