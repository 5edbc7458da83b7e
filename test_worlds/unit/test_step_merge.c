/* Bodies of several pieces, and corners that pass each other, without ODE. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/scene.h"

static void addPiece(Scene* s, int body, double x)
{
    pcShape* box;
    PC_ASSERT_STATUS(PC_OK, pcShapeBox((const double[3]){1, 1, 1}, &box));
    sceneShape(s, body, box);
    s->shape[s->system.shapeCount - 1].pose.position[0] = x;
}

/* A bar of three cubes in a row has four corners on the floor, and two points where its cubes meet, twice over. */
PC_TEST(StepMerge, NeighboursGiveEachContactOnce)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int bar = sceneBody(&s, (const double[3]){0, 0, 0.5}, 3, (const double[3]){0.5, 2.5, 2.5});
    for (int i = -1; i <= 1; i++) addPiece(&s, bar, i);
    for (int i = 0; i < 200; i++) {
        sceneStep(&s);
        if (s.result.contactCount != 8) PC_FAIL("step %d has %d contacts", i, s.result.contactCount);
    }
    PC_EXPECT_EQ_INT(8, s.result.report.events);
    PC_EXPECT_NEAR(0.5, s.body[bar].pose.position[2], 1e-9);
    sceneEnd(&s);
}

/* A cube on the seam of two: what lies above the seam is one contact with each, and none is lost. */
PC_TEST(StepMerge, CubeOnASeamRestsAndStays)
{
    Scene s;
    sceneBegin(&s);
    sceneFloor(&s);
    int bar = sceneBody(&s, (const double[3]){0, 0, 0.5}, 3, (const double[3]){0.5, 1.5, 1.5});
    addPiece(&s, bar, -0.5);
    addPiece(&s, bar, 0.5);
    int cube = sceneBox(&s, 0.1, 0.05, 1.25, (const double[3]){0.5, 0.5, 0.5}, 1);
    sceneRun(&s, 300);
    PC_EXPECT_NEAR(1.25, s.body[cube].pose.position[2], 1e-7);
    PC_EXPECT_NEAR(0.1, s.body[cube].pose.position[0], 1e-6);
    for (int i = 0; i < s.result.contactCount; i++) PC_EXPECT_NEAR(1, fabs(s.touch[i].normal[2]), 1e-9); /* no ghost at the seam */
    sceneEnd(&s);
}

/* On a table of one or of two flush pieces, or of two with a step between them; where it ends. */
static double slideTo(int pieces, double height)
{
    Scene s;
    pcShape* table;
    sceneBegin(&s);
    s.settings.mu = 0.1;
    PC_EXPECT_STATUS(PC_OK, pcShapeBox((const double[3]){pieces == 1 ? 8 : 4, 4, 1}, &table));
    for (int i = 0; i < pieces; i++) {
        sceneShape(&s, PC_WORLD, i == 0 ? table : pcShapeShare(table));
        s.shape[s.system.shapeCount - 1].pose.position[0] = pieces == 1 ? 0 : i == 0 ? -2 : 2;
        s.shape[s.system.shapeCount - 1].pose.position[2] = i == 0 ? 0 : height;
    }
    int cube = sceneBox(&s, -1, 0, 0.75, (const double[3]){0.5, 0.5, 0.5}, 1);
    s.body[cube].velocity[0] = 2;
    sceneRun(&s, 150);
    double x = s.body[cube].pose.position[0];
    PC_EXPECT_NEAR(0.75, s.body[cube].pose.position[2], 1e-6);
    sceneEnd(&s);
    return x;
}

PC_TEST(StepMerge, CubeSlidesOverASeamAsOverOneFace)
{
    double whole = slideTo(1, 0);
    PC_EXPECT_GT(whole, 0.5);
    PC_EXPECT_NEAR(whole, slideTo(2, 0), 1e-6);
    PC_EXPECT_LT(slideTo(2, 0.01), -0.2499); /* a step of a centimetre throws it back */
}

/* In the inner corner of an L both faces hold. */
PC_TEST(StepMerge, CubeInAnInnerCornerTouchesBothFaces)
{
    Scene s;
    pcShape *low, *high;
    sceneBegin(&s);
    s.system.gravity[0] = -8;
    s.settings.mu = 0.1;
    PC_ASSERT_STATUS(PC_OK, pcShapeBox((const double[3]){4, 4, 1}, &low));
    PC_ASSERT_STATUS(PC_OK, pcShapeBox((const double[3]){1, 4, 4}, &high));
    sceneShape(&s, PC_WORLD, low);
    sceneShape(&s, PC_WORLD, high);
    s.shape[1].pose.position[0] = -2.5, s.shape[1].pose.position[2] = 1.5; /* from the foot of the other up */
    int cube = sceneBox(&s, -1.6, 0, 0.75, (const double[3]){0.5, 0.5, 0.5}, 1);
    sceneRun(&s, 200);
    PC_EXPECT_NEAR(-1.75, s.body[cube].pose.position[0], 1e-6);
    PC_EXPECT_NEAR(0.75, s.body[cube].pose.position[2], 1e-6);
    PC_EXPECT_EQ_INT(8, s.result.contactCount);
    sceneEnd(&s);
}

/* What has sunk into the corner of a floor and two walls is held by all three, and comes out of all three. */
PC_TEST(StepMerge, CubeDeepInACornerIsHeldByAllItsFaces)
{
    static const double planes[3][4] = {{0, 0, 1, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}};
    Scene s;
    sceneBegin(&s);
    s.system.gravity[0] = s.system.gravity[1] = -3;
    for (int i = 0; i < 3; i++) {
        pcShape* plane;
        PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace(planes[i], &plane));
        sceneShape(&s, PC_WORLD, plane);
    }
    int cube = sceneBox(&s, 0.24, 0.23, 0.24, (const double[3]){0.5, 0.5, 0.5}, 1);
    sceneStep(&s);
    PC_EXPECT_EQ_INT(12, s.result.contactCount);
    sceneRun(&s, 300);
    for (int k = 0; k < 3; k++) PC_EXPECT_NEAR(0.25, s.body[cube].pose.position[k], 1e-6);
    sceneEnd(&s);
}

/* A round piece covers what lies inside it, and nothing else: a box keeps its contacts beside a wheel, a ball or a bean on the same body. */
PC_TEST(StepMerge, RoundPiecesHideOnlyWhatTheyHold)
{
    static const double semi[3] = {0.2, 0.3, 0.1};
    for (int kind = 0; kind < 4; kind++) {
        PC_CASE("piece %d", kind);
        Scene s;
        pcShape* piece = NULL;
        sceneBegin(&s);
        sceneFloor(&s);
        int body = sceneBox(&s, 0, 0, 0.5, (const double[3]){1, 1, 1}, 1);
        PC_ASSERT_STATUS(PC_OK, kind == 0   ? pcShapeCylinder(0.3, 0.2, &piece)
                                : kind == 1 ? pcShapeCapsule(0.2, 0.2, &piece)
                                : kind == 2 ? pcShapeEllipsoid(semi, &piece)
                                            : pcShapeSphere(0.3, &piece));
        sceneShape(&s, body, piece);
        s.shape[2].pose.position[0] = 1;
        s.shape[2].pose.position[2] = kind == 2 ? -0.4 : kind == 1 ? -0.2 : kind == 0 ? -0.4 : -0.2; /* each reaches the floor */
        sceneRun(&s, 50);
        PC_EXPECT_NEAR(0.5, s.body[body].pose.position[2], 1e-6);
        int corners = 0;
        for (int i = 0; i < s.result.contactCount; i++)
            corners += fabs(fabs(s.touch[i].point[0]) - 0.5) < 1e-6 && s.touch[i].point[0] < 0.6;
        PC_EXPECT_EQ_INT(4, corners);
        PC_EXPECT_GT(s.result.contactCount, 4);
        sceneEnd(&s);
    }
}

/* ---- corners that pass each other ---- */

static double between(unsigned* seed, double low, double high)
{
    *seed = *seed * 1664525u + 1013904223u;
    return low + (high - low) * ((*seed >> 8) / 16777216.0);
}

/* A prism of three to eight sides along y; how far it reaches down. */
static pcShape* randomPrism(unsigned* seed, double* low)
{
    int sides = 3 + (int)between(seed, 0, 6);
    double xyz[16][3], size = between(seed, 0.3, 1), width = between(seed, 0.2, 2), first = between(seed, 0, 6.3);
    pcShape* shape = NULL;
    for (int i = 0; i < sides; i++) {
        double a = first + 6.283185307179586 * (i + between(seed, 0, 0.5)) / sides;
        for (int k = 0; k < 2; k++) {
            double* at = xyz[2 * i + k];
            at[0] = size * cos(a), at[1] = k ? -0.5 * width : 0.5 * width, at[2] = size * sin(a);
        }
    }
    PC_EXPECT_STATUS(PC_OK, pcShapeFromPoints(xyz[0], 2 * sides, NULL, &shape));
    *low = HUGE_VAL;
    for (int i = 0; i < 2 * sides; i++) *low = fmin(*low, xyz[i][2]);
    return shape;
}

/* Without friction, and held upright, it slides on a corner to the end of a box and drops off. All that pushes it is the top of the box, up, and
 * then the edge at its end against what is behind the corner, forwards: it never slows down, also not in the step in which two corners pass. */
PC_TEST(StepMerge, CornersThatSlideOverAnEdgeDoNotStopThere)
{
    static const int held[4] = {1, 3, 4, 5};
    unsigned seed = 7;
    for (int run = 0; run < 40; run++) {
        Scene s;
        pcShape* table = NULL;
        double low, size[3] = {2, between(&seed, 0.2, 2), 1};
        PC_CASE("run %d", run);
        sceneBegin(&s);
        s.settings.mu = 0, s.h = between(&seed, 0.002, 0.012);
        pcShape* prism = randomPrism(&seed, &low);
        int body = sceneBody(&s, (const double[3]){0, 0, 0.5 - low}, 1, (const double[3]){0.1, 0.1, 0.1});
        sceneShape(&s, body, prism);
        PC_EXPECT_STATUS(PC_OK, pcShapeBox(size, &table));
        sceneShape(&s, PC_WORLD, table);
        for (int i = 0; i < 4; i++) sceneRow(&s, body, PC_WORLD)->jacobian[held[i]] = 1;
        double last = s.body[body].velocity[0] = between(&seed, 0.3, 3);
        while (s.body[body].pose.position[2] > -1 && s.body[body].pose.position[0] < 3) {
            sceneStep(&s);
            PC_EXPECT_GE(s.body[body].velocity[0], last * (1 - 1e-3));
            last = s.body[body].velocity[0];
        }
        sceneEnd(&s);
    }
}

/* How many normals the contacts of one step have. */
static int normalsOf(const Scene* s)
{
    int count = 0;
    for (int i = 0; i < s->result.contactCount; i++) {
        bool known = false;
        for (int k = 0; k < i; k++) known |= memcmp(s->touch[i].normal, s->touch[k].normal, sizeof s->touch[i].normal) == 0;
        count += !known;
    }
    return count;
}

/* Two cubes of which one lies on a part of the other touch where a corner of each lies on a face, and where edges cross. If the faces are parallel but for
 * `tilt`, all of that is one patch with one normal; if they are not, edges and faces have theirs. */
PC_TEST(StepMerge, FacesThatLieOnEachOtherHaveOneNormal)
{
    const double tilt[] = {0.0, 1e-9, 1e-7, 3e-6, 1e-3};
    for (int i = 0; i < 5; i++) {
        Scene s;
        pcShape* cube;
        PC_CASE("tilt %g", tilt[i]);
        sceneBegin(&s);
        PC_ASSERT_STATUS(PC_OK, pcShapeBox(unitCube, &cube));
        sceneShape(&s, PC_WORLD, cube);
        int body = sceneBox(&s, 0.3, 0.2, 1.0 - 1e-4, unitCube, 1);
        double* q = s.body[body].pose.quaternion;
        q[0] = cos(0.5 * tilt[i]), q[1] = 0.6 * sin(0.5 * tilt[i]), q[2] = 0.8 * sin(0.5 * tilt[i]);
        sceneStep(&s);
        PC_EXPECT_GE(s.result.contactCount, 4);
        if (tilt[i] < 1e-4)
            PC_EXPECT_EQ_INT(1, normalsOf(&s));
        else
            PC_EXPECT_GE(normalsOf(&s), 2);
        sceneExpectSound(&s);
        sceneEnd(&s);
    }
}
