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
    double friction; /* largest | |friction| - mu p_n | by mu p_n while contact 1 slides */
    double penetration, residual;
    int fallbacks;
    double end[3]; /* velocity when contact 2 ends */
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
    if (two) s->leaves2 = time, memcpy(s->end, w.body[0].velocity, sizeof s->end);
    if (two && s->slides == 0.0 && hypot(two->slip[0], two->slip[1]) > 1e-6) s->slides = time;
    s->penetration = fmax(s->penetration, w.result.report.penetration), s->residual = fmax(s->residual, w.result.report.step.residual);
    s->fallbacks += w.result.report.step.fallbacks;
}

static Story tell(double h)
{
    static double v[4096][3];
    Story s = {0};
    implicitTwoSpheres(&w, h);
    int steps = (int)(4.0 / h + 0.5);
    for (int i = 0; i < steps && i < 4096; i++) {
        PC_EXPECT_STATUS(PC_OK, implicitWorldStep(&w));
        memcpy(v[i], w.body[0].velocity, sizeof v[i]);
        watch(&s, w.time);
    }
    const double events[] = {h, s.slides, s.leaves1, s.leaves2};
    for (int i = 1; i + 1 < steps && i < 4095; i++) {
        double speed = 0.0, bend = 0.0;
        int near = 0;
        for (int k = 0; k < 4; k++) near |= fabs((i + 1) * h - events[k]) < 3.5 * h;
        for (int k = 0; k < 3; k++) speed += v[i][k] * v[i][k], bend += pow(v[i + 1][k] - 2.0 * v[i][k] + v[i - 1][k], 2);
        if (!near) s.roughest = fmax(s.roughest, sqrt(bend / speed));
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
    PC_EXPECT_LE(s.penetration, 1e-9);
    PC_EXPECT_LE(s.residual, 1e-10);
    PC_EXPECT_EQ_INT(0, s.fallbacks);
}

/* First order: halving h halves the distance to the next; the sequence has a limit. */
PC_TEST(ImplicitWorlds, SphereOnTwoSpheresConvergesInTheStep)
{
    Story s[4];
    for (int i = 0; i < 4; i++) s[i] = tell(0.01 / (1 << i));
    double d[3];
    for (int i = 0; i < 3; i++)
        d[i] = hypot(hypot(s[i + 1].end[0] - s[i].end[0], s[i + 1].end[1] - s[i].end[1]), s[i + 1].leaves1 - s[i].leaves1);
    PC_EXPECT_LE(d[2], 0.6 * d[0]);
    for (int i = 0; i < 4; i++) {
        PC_CASE("h=%g", 0.01 / (1 << i));
        PC_EXPECT_NEAR(s[3].slides, s[i].slides, 0.05);
        PC_EXPECT_NEAR(s[3].leaves1, s[i].leaves1, 0.05);
        PC_EXPECT_NEAR(s[3].leaves2, s[i].leaves2, 0.05);
        PC_EXPECT_EQ_INT(0, s[i].fallbacks);
    }
}

/* ---- no penetration, whatever the step ---- */

PC_TEST(ImplicitWorlds, NothingPenetratesAtTheEndOfAnyStep)
{
    static const double steps[] = {1e-3, 3e-3, 1e-2, 3e-2, 0.1};
    for (int i = 0; i < 5; i++)
        for (int world = 0; world < 4; world++) {
            double h = steps[i], worst = 0.0;
            int fallbacks = 0, count = (int)fmin(2.0 / h + 0.5, 400.0);
            PC_CASE("world %d, h=%g", world, h);
            if (world == 0) implicitDisc(&w, DISC_SPHERE, h);
            if (world == 1) implicitDisc(&w, DISC_CYLINDER, h), w.body[0].pose.position[2] = 1.4, w.body[0].velocity[3] = 2.0;
            if (world == 2) implicitTwoSpheres(&w, h);
            if (world == 3)
                implicitApart(&w, 3, h), w.body[0].pose.position[2] = 2.0, w.body[1].velocity[2] = -5.0, w.body[1].pose.position[2] = 1.5;
            for (int k = 0; k < count; k++) {
                PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
                worst = fmax(worst, w.result.report.penetration), fallbacks += w.result.report.step.fallbacks;
                for (int b = 0; b < w.system.bodyCount && (world == 0 || world == 3); b++)
                    worst = fmax(worst, 1.0 - w.body[b].pose.position[2]);
            }
            PC_EXPECT_LE(worst, 1e-9);
            PC_EXPECT_EQ_INT(0, fallbacks);
            implicitWorldEnd(&w);
        }
}

/* ---- phantom collisions ---- */

/* A thin plate flies past the upper edge of a block so that its lower front corner, 2 mm over the block's top when the step begins, is beside
 * the block and below its top when it ends: it never touches. The linearised step, which takes the top for endless, stops it. */
PC_TEST(ImplicitWorlds, PlatePassingAnEdgeIsNotTouched)
{
    const double h = 0.05, size[3] = {0.5, 0.5, 0.02}, blockSize[3] = {1, 1, 1};
    pcForm *plate = NULL, *block = NULL;
    pcShape *plateShape, *blockShape;
    implicitWorldBegin(&w);
    PC_ASSERT_STATUS(PC_OK, pcShapeBox(size, &plateShape));
    PC_ASSERT_STATUS(PC_OK, pcShapeBox(blockSize, &blockShape));
    PC_ASSERT_STATUS(PC_OK, pcFormOfShape(plateShape, &plate));
    PC_ASSERT_STATUS(PC_OK, pcFormOfShape(blockShape, &block));
    int body = implicitBody(&w, implicitOwn(&w, plate), 1.0, 0.02);
    implicitFixed(&w, implicitOwn(&w, block), 0, 0, -0.5);
    /* Its rear lower corner is 1 cm inside the edge x = 0.5, 2 mm above it; it moves out by 10 cm and down by 5 cm. */
    w.h = h, w.system.gravity[2] = 0.0;
    w.body[body].pose = (pcPose){{0.49 + 0.25, 0, 0.012}, {1, 0, 0, 0}};
    w.body[body].velocity[0] = 0.1 / h, w.body[body].velocity[2] = -0.05 / h;

    const pcPose origin = {{0, 0, 0}, {1, 0, 0, 0}}, under = {{0, 0, -0.5}, {1, 0, 0, 0}};
    const pcPlacedShape shapes[] = {{.shape = plateShape, .body = 0, .pose = origin},
                                    {.shape = blockShape, .body = PC_WORLD, .pose = under}};
    pcSystem linear = {.bodyCount = 1, .bodies = w.body, .shapeCount = 2, .shapes = shapes};
    double stopped[6];
    pcSystemResult beside = {.velocity = stopped};
    PC_ASSERT_STATUS(PC_OK, pcSystemStep(&linear, &w.settings, h, &beside));
    PC_EXPECT_GT(stopped[2], -0.8); /* a phantom: its rear is held 2 mm below where it was, so that it tips */
    PC_EXPECT_GT(fabs(stopped[4]), 0.5);

    PC_ASSERT_STATUS(PC_OK, implicitWorldStep(&w));
    PC_EXPECT_NEAR(-1.0, w.velocity[2], 1e-14);
    PC_EXPECT_NEAR(2.0, w.velocity[0], 1e-14);
    PC_EXPECT_NEAR(0.0, w.result.report.coreImpulse, 0.0);
    PC_EXPECT_LE(w.result.report.penetration, 1e-9);
    implicitWorldEnd(&w);
    pcShapeFree(plateShape), pcShapeFree(blockShape);
}

/* ---- joints ---- */

/* A ball on a weightless arm about the y axis through the origin, held by equality rows; the arm swings it down on the floor and rests. */
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
