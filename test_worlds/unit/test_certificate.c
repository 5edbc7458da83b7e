/*
 * The judge is judged first: cases that can be worked out by hand, an enumeration that shares no idea with the simplex method, answers
 * that are wrong on purpose. Then it judges the library on a slice of the degenerate cases; the fuzz program runs them by the million.
 */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/fuzz/run.h"
#include "test_worlds/unit/certificate.h"

#ifndef PCONTACT_SANITIZE
#define PCONTACT_SANITIZE ""
#endif

static const pcPose atOrigin = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};

static pcPose poseAt(double x, double y, double z) { return (pcPose){{x, y, z}, {1.0, 0.0, 0.0, 0.0}}; }

static pcShape* cubeOf(double edge)
{
    double size[3] = {edge, edge, edge};
    pcShape* cube = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeBox(size, &cube));
    return cube;
}

static pcShape* regularTetrahedron(void)
{
    static const double xyz[] = {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1}, origin[3] = {0, 0, 0};
    pcShape* shape = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeFromPoints(xyz, 4, origin, &shape));
    return shape;
}

static pcScene sceneOf(const pcShape* first, const pcShape* second, pcPose pose2)
{
    return (pcScene){{first, second}, {atOrigin, pose2}, 0u, NULL};
}

/* Certifies to far better than it must, and gives exactly this r. */
static void expectRatio(const pcScene* scene, double r)
{
    pcRatioCertificate c;
    PC_ASSERT_TRUE(pcRatioCertify(scene, NULL, &c));
    PC_EXPECT_NEAR(r, c.r, 1e-15 * fabs(r));
    PC_EXPECT_LE((double)(c.upper - c.lower), 1e-26 * fabs(r));
    PC_EXPECT_LE(pcRatioError(&c, r), 1e-15);
}

PC_TEST(Certificate, OfUnitCubesAlongAnAxisIsTheirDistance)
{
    pcShape* cube = cubeOf(1.0);
    for (int i = 1; i <= 8; i++) {
        PC_CASE("distance %d / 4", i);
        pcScene scene = sceneOf(cube, cube, poseAt(0.25 * i, 0.0, 0.0));
        expectRatio(&scene, 0.25 * i);
    }
    pcShapeFree(cube);
}

PC_TEST(Certificate, HoldsWhereTheRayLeavesThroughACornerOrAnEdge)
{
    pcShape* cube = cubeOf(1.0);
    pcScene corner = sceneOf(cube, cube, poseAt(3.0, 3.0, -3.0)), edge = sceneOf(cube, cube, poseAt(0.0, -2.0, 2.0));
    expectRatio(&corner, 3.0);
    expectRatio(&edge, 2.0);
    pcShapeFree(cube);
}

/* T - T has the corners (+-2, +-2, 0) and so on: r = max(|x| / 2, (|x| + |y| + |z|) / 4). */
PC_TEST(Certificate, OfTwoTetrahedraIsThatOfTheirCuboctahedron)
{
    pcShape* shape = regularTetrahedron();
    pcScene facet = sceneOf(shape, shape, poseAt(2.0, 2.0, 2.0)), square = sceneOf(shape, shape, poseAt(5.0, 1.0, -2.0));
    expectRatio(&facet, 1.5);
    expectRatio(&square, 2.5);
    pcShapeFree(shape);
}

PC_TEST(Certificate, OfAHalfSpaceIsHeightOverSupportAndGoesOnBelow)
{
    static const double plane[4] = {0.0, 0.0, 2.0, 1.0}; /* z <= 1/2 */
    pcShape *cube = cubeOf(1.0), *ground = NULL;
    PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace(plane, &ground));
    pcScene above = {{cube, ground}, {poseAt(7.0, 0.0, 2.5), atOrigin}, 0u, plane};
    pcScene below = {{ground, cube}, {atOrigin, poseAt(0.0, 0.0, -0.5)}, 0u, plane};
    expectRatio(&above, 4.0);
    expectRatio(&below, -2.0);
    pcShapeFree(cube);
    pcShapeFree(ground);
}

PC_TEST(Certificate, OfAFixedBodyIsOneSidedUntilTheCentreIsInside)
{
    pcShape *moving = cubeOf(1.0), *fixed = cubeOf(2.0);
    pcScene second = sceneOf(moving, fixed, poseAt(3.0, 0.5, 0.0));
    second.flags = PC_FIXED_2;
    expectRatio(&second, 4.0); /* 2 from the surface, half an edge of the moving one */
    pcScene first = sceneOf(fixed, moving, poseAt(0.0, -2.0, 0.0));
    first.flags = PC_FIXED_1;
    expectRatio(&first, 2.0);
    pcScene inside = sceneOf(moving, fixed, poseAt(0.75, 0.0, 0.0));
    inside.flags = PC_FIXED_2;
    expectRatio(&inside, 0.5);
    pcShapeFree(moving);
    pcShapeFree(fixed);
}

PC_TEST(Certificate, SaysWhereACentreLiesOnTheBorder)
{
    pcShape *moving = cubeOf(1.0), *fixed = cubeOf(2.0);
    pcScene scene = sceneOf(moving, fixed, poseAt(1.0, 0.25, 0.0));
    scene.flags = PC_FIXED_2;
    pcRatioCertificate c;
    PC_EXPECT_TRUE(pcRatioCertify(&scene, NULL, &c));
    PC_EXPECT_TRUE(c.border);
    pcShapeFree(moving);
    pcShapeFree(fixed);
}

/* ---- against an enumeration ---- */

typedef struct Cloud {
    double k[16][3]; /* about the centre, world axes */
    int count;
} Cloud;

static void cross(const double a[3], const double b[3], double n[3])
{
    for (int i = 0; i < 3; i++) n[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* By a unit quaternion. */
static void turned(const double q[4], const double k[3], double out[3])
{
    double t[3], s[3];
    cross(q + 1, k, t);
    cross(q + 1, t, s);
    for (int a = 0; a < 3; a++) out[a] = k[a] + 2.0 * (q[0] * t[a] + s[a]);
}

/* In doubles, and only for bodies that are neither thin nor small. */
static Cloud cloudOf(const pcShape* shape, const pcPose* pose)
{
    Cloud cloud = {.count = 0};
    pcShapeInfo info;
    const double* v = pcShapeVertices(shape, &cloud.count);
    PC_EXPECT_STATUS(PC_OK, pcShapeDescribe(shape, &info));
    for (int i = 0; i < cloud.count; i++) {
        double k[3];
        for (int a = 0; a < 3; a++) k[a] = v[3 * i + a] - info.centre[a];
        turned(pose->quaternion, k, cloud.k[i]);
    }
    return cloud;
}

static double along(const double n[3], const double k[3]) { return n[0] * k[0] + n[1] * k[1] + n[2] * k[2]; }

static double supportOver(const Cloud* cloud, const double n[3], double sign)
{
    double best = sign * along(n, cloud->k[0]);
    for (int i = 1; i < cloud->count; i++) best = fmax(best, sign * along(n, cloud->k[i]));
    return best;
}

/* The better of n and -n. */
static double ratioAlong(const Cloud* one, const Cloud* two, const double c[3], const double n[3])
{
    double best = 0.0;
    if (along(n, n) < 1e-12) return best;
    for (double sign = -1.0; sign <= 1.0; sign += 2.0)
        best = fmax(best, sign * along(n, c) / (supportOver(one, n, sign) + supportOver(two, n, -sign)));
    return best;
}

/* Every facet normal is across two differences of one body's vertices, or one of each body's: so take them all. */
static double enumerated(const Cloud* one, const Cloud* two, const double c[3])
{
    double edge[256][3], n[3], best = 0.0;
    int edges = 0;
    for (int body = 0; body < 2; body++) {
        const Cloud* cloud = body == 0 ? one : two;
        for (int i = 0; i < cloud->count; i++)
            for (int j = 0; j < i; j++, edges++)
                for (int a = 0; a < 3; a++) edge[edges][a] = cloud->k[i][a] - cloud->k[j][a];
    }
    for (int i = 0; i < edges; i++)
        for (int j = 0; j < i; j++) {
            cross(edge[i], edge[j], n);
            best = fmax(best, ratioAlong(one, two, c, n));
        }
    return best;
}

static pcShape* randomShape(pcRandom* random, int points)
{
    double xyz[3 * 16];
    for (int i = 0; i < 3 * points; i++) xyz[i] = 2.0 * pcRandomUnit(random) - 1.0;
    pcShape* shape = NULL;
    PC_EXPECT_STATUS(PC_OK, pcShapeFromPoints(xyz, points, NULL, &shape));
    return shape;
}

static pcPose randomPose(pcRandom* random, double reach)
{
    pcPose pose;
    double square = 0.0;
    for (int i = 0; i < 3; i++) pose.position[i] = reach * (2.0 * pcRandomUnit(random) - 1.0);
    for (int i = 0; i < 4; i++) pose.quaternion[i] = pcRandomUnit(random) + 0.01, square += pose.quaternion[i] * pose.quaternion[i];
    for (int i = 0; i < 4; i++) pose.quaternion[i] /= sqrt(square);
    return pose;
}

static void centreOf(const pcShape* shape, const pcPose* pose, double x[3])
{
    pcShapeInfo info;
    PC_EXPECT_STATUS(PC_OK, pcShapeDescribe(shape, &info));
    turned(pose->quaternion, info.centre, x);
    for (int a = 0; a < 3; a++) x[a] += pose->position[a];
}

PC_TEST(Certificate, AgreesWithEnumerationOnSmallHulls)
{
    pcRandom random = {2024};
    for (int i = 0; i < 40; i++) {
        PC_CASE("pair %d", i);
        pcShape *first = randomShape(&random, 4 + i % 4), *second = randomShape(&random, 4 + i % 3);
        pcScene scene = {{first, second}, {randomPose(&random, 1.0), randomPose(&random, 4.0)}, 0u, NULL};
        Cloud one = cloudOf(first, &scene.pose[0]), two = cloudOf(second, &scene.pose[1]);
        double x1[3], x2[3];
        centreOf(first, &scene.pose[0], x1);
        centreOf(second, &scene.pose[1], x2);
        double c[3] = {x2[0] - x1[0], x2[1] - x1[1], x2[2] - x1[2]};
        pcRatioCertificate certificate;
        PC_EXPECT_TRUE(pcRatioCertify(&scene, NULL, &certificate));
        PC_EXPECT_REL(enumerated(&one, &two, c), certificate.r, 1e-11);
        pcShapeFree(first);
        pcShapeFree(second);
    }
}

/* ---- hints and wrong answers ---- */

PC_TEST(Certificate, DoesNotDependOnItsHint)
{
    static const double hints[][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 0, 0}, {0.3, -0.9, 0.1}, {1e300, 1e300, 0}, {(double)NAN, 0, 0}};
    pcRandom random = {7};
    pcShape *first = randomShape(&random, 12), *second = randomShape(&random, 12);
    pcScene scene = {{first, second}, {randomPose(&random, 1.0), randomPose(&random, 3.0)}, 0u, NULL};
    pcRatioCertificate free, hinted;
    PC_ASSERT_TRUE(pcRatioCertify(&scene, NULL, &free));
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        PC_CASE("hint %zu", i);
        PC_EXPECT_TRUE(pcRatioCertify(&scene, hints[i], &hinted));
        PC_EXPECT_LE(fabs((double)(free.lower - hinted.lower)), 1e-28);
        PC_EXPECT_LE(fabs((double)(free.upper - hinted.upper)), 1e-28);
    }
    pcShapeFree(first);
    pcShapeFree(second);
}

/* Unit cubes, body 2 at (2, 0.5, 0): r = 2, the normal is x. */
static pcMetric rightAnswer(void)
{
    return (pcMetric){.r = 2.0,
                      .lower = 2.0,
                      .upper = 2.0,
                      .rho = 0.5,
                      .gap = 1.0,
                      .normal = {1.0, 0.0, 0.0},
                      .point = {1.0, 0.25, 0.0},
                      .point1 = {0.5, 0.125, 0.0},
                      .point2 = {1.5, 0.375, 0.0}};
}

PC_TEST(Judge, AcceptsARightAnswer)
{
    pcShape* cube = cubeOf(1.0);
    pcScene scene = sceneOf(cube, cube, poseAt(2.0, 0.5, 0.0));
    pcMetric answer = rightAnswer();
    pcVerdict verdict;
    PC_ASSERT_TRUE(pcJudge(&scene, &answer, &verdict));
    PC_EXPECT_LE(verdict.error, 1e-30);
    PC_EXPECT_TRUE(verdict.boundsHold);
    PC_EXPECT_LE(verdict.unit, 1.0);
    PC_EXPECT_LE(verdict.dual, 1.0);
    PC_EXPECT_LE(verdict.gap, 1.0);
    PC_EXPECT_LE(verdict.preimages, 1.0);
    pcShapeFree(cube);
}

PC_TEST(Judge, NoticesEveryWrongNumber)
{
    pcShape* cube = cubeOf(1.0);
    pcScene scene = sceneOf(cube, cube, poseAt(2.0, 0.5, 0.0));
    pcMetric answer = rightAnswer();
    pcVerdict verdict;
    answer.r = 2.0 * (1.0 + 2e-13);
    PC_EXPECT_TRUE(pcJudge(&scene, &answer, &verdict));
    PC_EXPECT_NEAR(2e-13, verdict.error, 1e-15);
    PC_EXPECT_FALSE(verdict.boundsHold);
    answer = rightAnswer(), answer.r = (double)NAN;
    PC_EXPECT_TRUE(pcJudge(&scene, &answer, &verdict));
    PC_EXPECT_FALSE(verdict.error <= PC_PROMISED_ERROR);
    answer = rightAnswer(), answer.lower = nextafter(2.0, 3.0), answer.upper = 2.1;
    PC_EXPECT_TRUE(pcJudge(&scene, &answer, &verdict));
    PC_EXPECT_FALSE(verdict.boundsHold);
    answer = rightAnswer(), answer.normal[0] = 1.0 + 1e-13;
    PC_EXPECT_TRUE(pcJudge(&scene, &answer, &verdict));
    PC_EXPECT_FALSE(verdict.unit <= 1.0);
    answer = rightAnswer(), answer.normal[1] = 1e-11;
    PC_EXPECT_TRUE(pcJudge(&scene, &answer, &verdict));
    PC_EXPECT_FALSE(verdict.dual <= 1.0);
    answer = rightAnswer(), answer.gap = 1.0 + 1e-11;
    PC_EXPECT_TRUE(pcJudge(&scene, &answer, &verdict));
    PC_EXPECT_FALSE(verdict.gap <= 1.0);
    answer = rightAnswer(), answer.point2[2] = 1e-11;
    PC_EXPECT_TRUE(pcJudge(&scene, &answer, &verdict));
    PC_EXPECT_FALSE(verdict.preimages <= 1.0);
    pcShapeFree(cube);
}

/* ---- the cases ---- */

PC_TEST(FuzzCases, AreTheSameForTheSameNumbers)
{
    for (int family = 0; family < pcFamilyCount(); family++) {
        PC_CASE("family %s", pcFamilyName(family));
        PC_EXPECT_EQ_INT(family, pcFamilyByName(pcFamilyName(family)));
        pcCaseSet one, two;
        PC_ASSERT_TRUE(pcCaseSetMake(5, family, 3, &one));
        PC_ASSERT_TRUE(pcCaseSetMake(5, family, 3, &two));
        pcCase a, b;
        pcCaseMake(&one, 17, &a);
        pcCaseMake(&two, 17, &b);
        PC_EXPECT_TRUE(memcmp(a.scene.pose, b.scene.pose, sizeof a.scene.pose) == 0);
        PC_EXPECT_EQ_INT(a.scene.flags, b.scene.flags);
        pcCaseSetFree(&one);
        pcCaseSetFree(&two);
    }
}

/* A sanitizer slows the cases down so much that a minute of them says little more than seconds do. */
PC_TEST(MetricFuzz, FindsNothingWrongInASliceOfDegenerateCases)
{
    static pcTally tally[PC_MAX_FAMILIES];
    bool sanitized = strlen(PCONTACT_SANITIZE) > 0 && strcmp(PCONTACT_SANITIZE, "OFF") != 0;
    pcFuzzPlan plan = {.seed = 1, .seconds = sanitized ? 10.0 : 60.0, .family = -1, .only = -1, .jobs = 2, .log = stderr};
    long long faults = pcFuzzRun(&plan, tally);
    if (faults > 0) pcFuzzPrint(stderr, tally);
    PC_EXPECT_EQ_INT(0, faults);
    for (int family = 0; family < pcFamilyCount(); family++) {
        PC_CASE("family %s", pcFamilyName(family));
        PC_EXPECT_TRUE(tally[family].cases > 0 || sanitized);
    }
}

/* A plate whose centre is 4e-15 of its reach outside another: the equations lose one unit of doubled precision, and the answer is still
 * the one-sided one. Found by ten million cases. */
PC_TEST(MetricFuzz, FindsNothingWrongInWhatWasWrongOnce)
{
    static pcTally tally[PC_MAX_FAMILIES];
    pcFuzzPlan plan = {.seed = 777, .family = pcFamilyByName("fixed_plates"), .only = 319608, .jobs = 1, .log = stderr};
    PC_EXPECT_EQ_INT(0, pcFuzzRun(&plan, tally));
    PC_EXPECT_EQ_INT(1, tally[plan.family].cases);
}
