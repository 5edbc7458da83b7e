/*
 * The certificate of cone problems, judged by solutions that can be written down: one body with a contact at its centre, so that every
 * row stands alone and v = f + J'c / m can be done in the head; and by what a projection is.
 */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "solver/certificate.h"
#include "test_worlds/unit/problems.h"
#include "test_worlds/unit/reference.h"

#define INFINITE ((double)INFINITY)
#define MAX_ROWS 64
#define MAX_BLOCKS 8

static const v3 up = {0.0, 0.0, 1.0}, along = {1.0, 0.0, 0.0}, still = {0.0, 0.0, 0.0};

/* ---- Solutions by hand ---- */

typedef struct Exact {
    const char* name;
    pcConeModel model;
    double v[6 * MAX_BLOCKS], c[MAX_ROWS];
} Exact;

/* A body of mass 1 and inertia 1 on a plane; impulses as given, velocities from them. */
static Exact onPlane(const char* name, bool coulomb, v3 velocity, v3 spin, pcTouch touch, const double* c)
{
    Exact exact = {.name = name, .model = pcModelStart(coulomb, 1.0)};
    touch.body1 = -1, touch.body2 = pcModelBody(&exact.model, 1.0, v3Make(1.0, 1.0, 1.0), velocity, spin);
    touch.normal = up, touch.tangent = along;
    pcModelTouch(&exact.model, &touch);
    memcpy(exact.c, c, (size_t)exact.model.problem.rows * sizeof(double));
    pcDual dual = pcDualOf(&exact.model.problem);
    pcDualVelocity(&dual, exact.c, exact.v);
    pcDualFree(&dual);
    return exact;
}

static Exact withLink(const char* name, double target, double lo, double hi, double soft, double c)
{
    Exact exact = {.name = name, .model = pcModelStart(true, 1.0), .v = {2.0 + c}, .c = {c}};
    int body = pcModelBody(&exact.model, 1.0, v3Make(1.0, 1.0, 1.0), v3Make(2.0, 0.0, 0.0), still);
    pcModelLink(&exact.model, &(pcLink){.body1 = body, .body2 = -1, .J = {1.0}, .target = target, .lo = lo, .hi = hi, .soft = soft});
    return exact;
}

/* Boxes at rest on each other: every contact carries a quarter of what lies above it. */
static Exact standing(const char* name, int kind, int variant, double g)
{
    Exact exact = {.name = name, .model = pcProblemKinds[kind].make(variant, true)};
    double weight = 0.0;
    for (int i = exact.model.problem.blocks - 1; i >= 0; i--) {
        weight += exact.model.mass[36 * i] * g;
        for (int k = 0; k < 4; k++) exact.c[12 * i + 3 * k] = weight / 4.0;
    }
    return exact;
}

static int kindNamed(const char* name)
{
    for (int i = 0; i < pcProblemKindCount; i++)
        if (strcmp(pcProblemKinds[i].name, name) == 0) return i;
    PC_FAIL("no kind of problem is called %s", name);
    return 0;
}

#define EXACTS 22

/* All with mu = 1/2: rows n, t1 / 2, t2 / 2. Impulses over unit mass. */
static void makeExacts(Exact exact[EXACTS])
{
    const pcTouch disc = {.mu = 0.5}, plain = {.mu = -1.0}, flat = {.mu = 0.5, .planar = true}, spring = {.mu = 0.5, .soft = 0.25};
    const pcTouch square = {.mu = 0.5, .edges = 4}, all = {.mu = 0.5, .torsion = 0.2, .rolling = 0.1};
    const pcTouch ice = {.mu = 0.5, .mu2 = 0.1}, ahead = {.mu = 0.5, .target = -3.0};
    const double none[6] = {0.0}, press[1] = {1.0}, hold[3] = {1.0, -0.2, 0.4}, slide[3] = {1.0, -0.6, -0.8}, back[2] = {1.0, 1.0};
    const double relaxed = (1.0 + 2.0 * 0.5) / (1.0 + 0.25), lift[3] = {relaxed, -relaxed, 0.0}, sink[3] = {0.8, 0.0, 0.0};
    const double corner[3] = {1.0, -1.0, 0.0}, edge[3] = {1.0, -0.7, -0.3}, sunk[3] = {0.8, -0.8, 0.0};
    const double spin[6] = {1.0, -1.0, 0.0, -1.0, -0.6, 0.8}, held[6] = {1.0, -1.0, 0.0, 0.5, -0.5, 0.1};
    const double slow = 1e-3, across[3] = {1.0, 0.0, -1.0};
    int stack = kindNamed("zero-gap stack"), ratio = kindNamed("mass ratio stack"), n = 0;
    exact[n++] = onPlane("leaving", true, v3Make(1.0, 2.0, 3.0), still, disc, none);
    exact[n++] = onPlane("leaving, relaxed", false, v3Make(1.0, 2.0, 3.0), still, disc, none);
    exact[n++] = onPlane("still far", true, v3Make(1.0, 0.0, -2.0), still, ahead, none);
    exact[n++] = onPlane("pressed without friction", true, v3Make(1.0, 0.0, -1.0), still, plain, press);
    exact[n++] = onPlane("sticking", true, v3Make(0.1, -0.2, -1.0), still, disc, hold);
    exact[n++] = onPlane("sticking, relaxed", false, v3Make(0.1, -0.2, -1.0), still, disc, hold);
    exact[n++] = onPlane("sliding", true, v3Make(0.9, 1.2, -1.0), still, disc, slide);
    exact[n++] = onPlane("about to slide", true, v3Make(0.3, 0.4, -1.0), still, disc, slide);
    exact[n++] = onPlane("creeping", true, v3Make(0.3 + 0.6 * slow, 0.4 + 0.8 * slow, -1.0), still, disc, slide);
    exact[n++] = onPlane("sliding, relaxed", false, v3Make(2.0, 0.0, -1.0), still, disc, lift);
    exact[n++] = onPlane("sliding in the plane", true, v3Make(-1.0, 0.0, -1.0), still, flat, back);
    exact[n++] = onPlane("sliding across, anisotropic", true, v3Make(0.0, 1.0, -1.0), still, ice, across);
    exact[n++] = onPlane("soft", true, v3Make(0.0, 0.0, -1.0), still, spring, sink);
    exact[n++] = onPlane("soft and sliding", true, v3Make(2.0, 0.0, -1.0), still, spring, sunk);
    exact[n++] = onPlane("square, to a corner", true, v3Make(2.0, 0.5, -1.0), still, square, corner);
    exact[n++] = onPlane("square, on an edge", true, v3Make(1.35, 1.15, -1.0), still, square, edge);
    exact[n++] = onPlane("sliding, spinning and rolling", true, v3Make(2.0, 0.0, -1.0), v3Make(0.66, -0.88, 3.0), all, spin);
    exact[n++] = onPlane("sliding only", true, v3Make(2.0, 0.0, -1.0), v3Make(0.05, -0.01, -0.1), all, held);
    exact[n++] = withLink("joint", 0.5, -INFINITE, INFINITE, 0.0, -1.5);
    exact[n++] = withLink("weak motor", 0.5, -1.0, 1.0, 0.0, -1.0);
    exact[n++] = standing("stack", stack, 2, 9.81 * 0.01);
    exact[n++] = standing("a million times its weight", ratio, 4, 9.81 * 0.01);
    PC_EXPECT_EQ_INT(EXACTS, n);
}

static void freeExacts(Exact exact[EXACTS])
{
    for (int i = 0; i < EXACTS; i++) pcModelFree(&exact[i].model);
}

static double largestOf(pcCertificate c) { return fmax(fmax(c.residual, c.equality), fmax(c.coneExcess, c.momentum)); }

PC_TEST(ConeCertificate, IsZeroToRoundingOnSolutionsMadeByHand)
{
    Exact exact[EXACTS];
    pcArena arena = {0};
    makeExacts(exact);
    for (int i = 0; i < EXACTS; i++) {
        PC_CASE("%s", exact[i].name);
        pcCertificate found = pcCertify(&exact[i].model.problem, exact[i].v, exact[i].c, &arena);
        PC_EXPECT_LE(largestOf(found), 1e-15);
        PC_EXPECT_LE(pcEnergyError(&exact[i].model.problem, exact[i].v, exact[i].c), 1e-15);
    }
    freeExacts(exact);
    pcArenaFree(&arena);
}

/* Impulses disturbed by 1e-6 of their size, velocities moving along: the residual says about that much, neither less nor more. */
PC_TEST(ConeCertificate, IsAboutAMillionthWhenImpulsesAreOffByThat)
{
    Exact exact[EXACTS];
    pcRandom random = {7};
    pcArena arena = {0};
    makeExacts(exact);
    for (int i = 0; i < EXACTS; i++) {
        PC_CASE("%s", exact[i].name);
        pcDual dual = pcDualOf(&exact[i].model.problem);
        for (int r = 0; r < dual.rows; r++)
            exact[i].c[r] += (pcRandomBits(&random) & 1u ? 1e-6 : 2e-6) * fmax(exact[i].model.problem.velocityScale, fabs(exact[i].c[r]));
        pcDualVelocity(&dual, exact[i].c, exact[i].v);
        pcCertificate found = pcCertify(&exact[i].model.problem, exact[i].v, exact[i].c, &arena);
        PC_EXPECT_GE(found.residual, 1e-7);
        PC_EXPECT_LE(found.residual, i == EXACTS - 1 ? 10.0 : 1e-4); /* the last: a millionth of its load moves the light box a lot */
        PC_EXPECT_LE(found.momentum, 1e-15);
        pcDualFree(&dual);
    }
    freeExacts(exact);
    pcArenaFree(&arena);
}

PC_TEST(ConeCertificate, SeesVelocitiesThatImpulsesDoNotExplain)
{
    Exact exact[EXACTS];
    pcArena arena = {0};
    makeExacts(exact);
    for (int i = 0; i < EXACTS; i++) {
        PC_CASE("%s", exact[i].name);
        exact[i].v[3] += 1e-6;
        pcCertificate found = pcCertify(&exact[i].model.problem, exact[i].v, exact[i].c, &arena);
        PC_EXPECT_GE(found.momentum, 1e-13); /* under a load of a million, a millionth is no more than that; rounding is 1e-16 */
        PC_EXPECT_LE(found.momentum, 1e-5);
    }
    freeExacts(exact);
    pcArenaFree(&arena);
}

/* What a wrong solver would hand in: each must be seen by the figure that is for it. */
PC_TEST(ConeCertificate, NamesWhatIsWrong)
{
    pcArena arena = {0};
    const double outside[3] = {1.0, -1.5, 0.0}, pulling[3] = {-1.0, 0.0, 0.0}, forward[3] = {1.0, 1.0, 0.0};
    Exact wrong[3] = {onPlane("beyond the cone", true, v3Make(2.0, 0.0, -1.0), still, (pcTouch){.mu = 0.5}, outside),
                      onPlane("pulling", true, v3Make(0.0, 0.0, 1.0), still, (pcTouch){.mu = 0.5}, pulling),
                      onPlane("friction that drives", true, v3Make(2.0, 0.0, -1.0), still, (pcTouch){.mu = 0.5}, forward)};
    for (int i = 0; i < 3; i++) {
        PC_CASE("%s", wrong[i].name);
        pcCertificate found = pcCertify(&wrong[i].model.problem, wrong[i].v, wrong[i].c, &arena);
        PC_EXPECT_GE(found.residual, 0.1);
        if (i < 2)
            PC_EXPECT_GE(found.coneExcess, 0.1);
        else
            PC_EXPECT_LE(found.coneExcess, 1e-15);
        if (i == 2) PC_EXPECT_GE(pcEnergyError(&wrong[i].model.problem, wrong[i].v, wrong[i].c), 0.1);
        pcModelFree(&wrong[i].model);
    }
    Exact apart = withLink("joint that moves", 0.5, -INFINITE, INFINITE, 0.0, 0.0);
    PC_EXPECT_NEAR(1.5, pcCertify(&apart.model.problem, apart.v, apart.c, &arena).equality, 1e-15);
    pcModelFree(&apart.model);
    pcArenaFree(&arena);
}

/* ---- Projections ---- */

static pcCone randomCone(pcRandom* random)
{
    const int edges[6] = {0, 3, 4, 6, 8, 16};
    pcCone cone = {.kind = PC_CONE_FRICTION, .rows = 1, .groups = (int)(pcRandomBits(random) % 4)};
    for (int g = 0; g < cone.groups; g++) cone.rows += cone.groupSize[g] = g == 1 ? 1 : (int)(1 + pcRandomBits(random) % 2);
    cone.edges = edges[pcRandomBits(random) % 6], cone.angle = pcBetween(random, -4.0, 4.0);
    return cone;
}

static void corner(const pcCone* cone, int i, double d[2])
{
    double angle = cone->angle + 2.0 * 3.14159265358979323846 * i / cone->edges;
    d[0] = cos(angle), d[1] = sin(angle);
}

static bool polygonal(const pcCone* cone, int g) { return g == 0 && cone->edges > 0 && cone->groupSize[0] == 2; }

/* A point of the group's set: weights of corners, or a point of the disc; every second one on its border. */
static void pointOfGroup(const pcCone* cone, int g, pcRandom* random, double* x)
{
    double angle = pcBetween(random, 0.0, 6.3), radius = pcRandomBits(random) & 1u ? 1.0 : pcRandomUnit(random), one[2], two[2],
           t = pcRandomUnit(random);
    x[0] = cone->groupSize[g] == 2 ? radius * cos(angle) : pcBetween(random, -1.0, 1.0);
    if (cone->groupSize[g] == 2) x[1] = radius * sin(angle);
    if (!polygonal(cone, g)) return;
    int i = (int)(pcRandomBits(random) % (uint64_t)cone->edges);
    corner(cone, i, one), corner(cone, i + 1, two);
    for (int k = 0; k < 2; k++) x[k] = radius * (t * one[k] + (1.0 - t) * two[k]);
}

static void pointOfCone(const pcCone* cone, pcRandom* random, double* y)
{
    int row = 1;
    y[0] = 3.0 * pcRandomUnit(random);
    for (int g = 0; g < cone->groups; g++) {
        pointOfGroup(cone, g, random, y + row);
        for (int i = 0; i < cone->groupSize[g]; i++) y[row + i] *= y[0];
        row += cone->groupSize[g];
    }
}

/* How far a point lies outside: by the definition of the set. */
static double outsideBy(const pcCone* cone, const double* x)
{
    double worst = -x[0];
    for (int g = 0, row = 1; g < cone->groups; row += cone->groupSize[g++]) {
        double length = cone->groupSize[g] == 2 ? hypot(x[row], x[row + 1]) : fabs(x[row]);
        if (!polygonal(cone, g)) worst = fmax(worst, length - x[0]);
        for (int i = 0; i < cone->edges && polygonal(cone, g); i++) {
            double one[2], two[2];
            corner(cone, i, one), corner(cone, i + 1, two);
            double ex = two[0] - one[0], ey = two[1] - one[1], side = ex * (x[row + 1] - x[0] * one[1]) - ey * (x[row] - x[0] * one[0]);
            worst = fmax(worst, -side / hypot(ex, ey));
        }
    }
    return worst;
}

/* p = proj x exactly if p in K and (x - p).(y - p) <= 0 for all y in K. */
PC_TEST(ConeProjection, IsNearestOfAllPointsOfTheCone)
{
    pcRandom random = {11};
    for (int i = 0; i < 20000; i++) {
        PC_CASE("i=%d", i);
        pcCone cone = randomCone(&random);
        double x[PC_CONE_ROWS] = {0.0}, p[PC_CONE_ROWS] = {0.0}, y[PC_CONE_ROWS] = {0.0};
        for (int k = 0; k < cone.rows; k++) x[k] = pcBetween(&random, -2.0, 2.0);
        if (i % 8 == 0) pointOfCone(&cone, &random, x);
        pcConeProject(&cone, x, p);
        PC_ASSERT_LE(outsideBy(&cone, p), 4e-15);
        for (int trial = 0; trial < 30; trial++) {
            pointOfCone(&cone, &random, y);
            double sum = 0.0;
            for (int k = 0; k < cone.rows; k++) sum += (x[k] - p[k]) * (y[k] - p[k]);
            PC_ASSERT_LE(sum, 1e-14);
        }
    }
}

PC_TEST(ConeProjection, LeavesPointsOfTheConeAlone)
{
    pcRandom random = {12};
    for (int i = 0; i < 5000; i++) {
        PC_CASE("i=%d", i);
        pcCone cone = randomCone(&random);
        double x[PC_CONE_ROWS] = {0.0}, p[PC_CONE_ROWS] = {0.0};
        pointOfCone(&cone, &random, x);
        pcConeProject(&cone, x, p);
        for (int k = 0; k < cone.rows; k++) PC_ASSERT_NEAR(x[k], p[k], 2e-15);
    }
}

PC_TEST(ConeProjection, SlipIsTheLargestWorkOfTheSet)
{
    pcRandom random = {13};
    for (int i = 0; i < 5000; i++) {
        PC_CASE("i=%d", i);
        pcCone cone = randomCone(&random);
        double u[PC_CONE_ROWS], largest = 0.0, d[2];
        for (int k = 0; k < PC_CONE_ROWS; k++) u[k] = pcBetween(&random, -1.0, 1.0);
        for (int g = 0, row = 1; g < cone.groups; row += cone.groupSize[g++]) {
            largest = cone.groupSize[g] == 2 ? hypot(u[row], u[row + 1]) : fabs(u[row]);
            if (polygonal(&cone, g)) largest = -INFINITE;
            for (int k = 0; k < cone.edges && polygonal(&cone, g); k++)
                corner(&cone, k, d), largest = fmax(largest, -d[0] * u[row] - d[1] * u[row + 1]);
            PC_ASSERT_NEAR(largest, pcConeSlip(&cone, g, u), 2e-15); /* corner() rounds angles up to 10 by 9e-16 */
        }
    }
}

/* ---- Scales ---- */

static void randomAnswer(const pcProblem* problem, pcRandom* random, double* v, double* c)
{
    for (int i = 0; i < 6 * problem->blocks; i++) v[i] = pcBetween(random, -1.0, 1.0);
    for (int r = 0; r < problem->rows; r++) c[r] = pcBetween(random, -0.5, 1.0);
}

static void expectSame(pcCertificate a, pcCertificate b, double tolerance)
{
    PC_EXPECT_REL(a.residual, b.residual, tolerance);
    PC_EXPECT_REL(a.coneExcess, b.coneExcess, tolerance);
    PC_EXPECT_REL(a.momentum, b.momentum, tolerance);
    PC_EXPECT_REL(a.equality, b.equality, tolerance);
}

PC_TEST(ConeCertificate, KnowsNoUnits)
{
    pcArena arena = {0};
    pcRandom random = {17};
    const pcUnits units[3] = {{1e-6, 1e-15, 1e-3}, {1e6, 1e9, 1.0}, {1.0, 1e-12, 1e4}};
    for (uint64_t seed = 0; seed < 60; seed++) {
        PC_CASE("seed=%d", (int)seed);
        const pcUnits* unit = &units[seed % 3];
        pcConeModel model = pcSmallMixture(seed, seed % 2), other = pcModelInUnits(&model, *unit);
        double v[6 * MAX_BLOCKS], c[MAX_ROWS], v2[6 * MAX_BLOCKS], c2[MAX_ROWS];
        randomAnswer(&model.problem, &random, v, c);
        for (int i = 0; i < 6 * model.problem.blocks; i++) v2[i] = v[i] * (i % 6 < 3 ? unit->length : 1.0) / unit->time;
        for (int r = 0; r < model.problem.rows; r++) c2[r] = c[r] * unit->mass * unit->length / unit->time;
        expectSame(pcCertify(&model.problem, v, c, &arena), pcCertify(&other.problem, v2, c2, &arena), 1e-10);
        PC_EXPECT_REL(pcEnergyError(&model.problem, v, c), pcEnergyError(&other.problem, v2, c2), 1e-10);
        pcModelFree(&model), pcModelFree(&other);
    }
    pcArenaFree(&arena);
}

PC_TEST(ConeCertificate, IsTheSameInAnyOrder)
{
    pcArena arena = {0};
    pcRandom random = {19};
    for (uint64_t seed = 0; seed < 60; seed++) {
        PC_CASE("seed=%d", (int)seed);
        pcConeModel model = pcSmallMixture(seed, seed % 2);
        if (seed % 3 == 0) pcModelMakeDense(&model, 0.1);
        pcShuffle shuffle = pcModelShuffled(&model, &random);
        double v[6 * MAX_BLOCKS], c[MAX_ROWS], v2[6 * MAX_BLOCKS], c2[MAX_ROWS];
        randomAnswer(&model.problem, &random, v2, c2);
        pcShuffleBack(&shuffle, &model, v2, c2, v, c);
        expectSame(pcCertify(&model.problem, v, c, &arena), pcCertify(&shuffle.model.problem, v2, c2, &arena), 1e-12);
        pcShuffleFree(&shuffle), pcModelFree(&model);
    }
    pcArenaFree(&arena);
}

PC_TEST(ConeCertificate, DoesNotCareWhetherABlockMassIsWrittenDense)
{
    pcArena arena = {0};
    pcRandom random = {23};
    pcConeModel blocks = pcSmallMixture(5, true), dense = pcSmallMixture(5, true);
    pcModelMakeDense(&dense, 0.0);
    double v[6 * MAX_BLOCKS], c[MAX_ROWS];
    randomAnswer(&blocks.problem, &random, v, c);
    pcCertificate a = pcCertify(&blocks.problem, v, c, &arena), b = pcCertify(&dense.problem, v, c, &arena);
    PC_EXPECT_REL(a.residual, b.residual, 1e-13);
    PC_EXPECT_REL(pcEnergyError(&blocks.problem, v, c), pcEnergyError(&dense.problem, v, c), 1e-13);
    pcModelFree(&blocks), pcModelFree(&dense);
    pcArenaFree(&arena);
}

/* ---- Borders ---- */

PC_TEST(ConeCertificate, IsInfiniteWhereANumberIsNone)
{
    pcArena arena = {0};
    pcConeModel model = pcSmallMixture(2, true);
    const double poison[2] = {(double)NAN, INFINITE};
    double v[6 * MAX_BLOCKS] = {0.0}, c[MAX_ROWS] = {0.0};
    int all = 6 * model.problem.blocks + model.problem.rows;
    for (int i = 0; i < 2 * all; i++) {
        PC_CASE("place %d", i / 2);
        double* place = i / 2 < 6 * model.problem.blocks ? v + i / 2 : c + i / 2 - 6 * model.problem.blocks;
        *place = poison[i % 2];
        PC_EXPECT_TRUE(pcCertify(&model.problem, v, c, &arena).residual == INFINITE);
        PC_EXPECT_TRUE(pcEnergyError(&model.problem, v, c) == INFINITE);
        *place = 0.0;
    }
    model.J[0] = model.J[6] = (double)NAN;
    PC_EXPECT_TRUE(pcCertify(&model.problem, v, c, &arena).residual == INFINITE);
    pcModelFree(&model);
    pcArenaFree(&arena);
}

PC_TEST(ConeCertificate, IsZeroForNothing)
{
    pcArena arena = {0};
    pcConeModel model = pcModelStart(true, 1.0);
    double v[6] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, c[1] = {0.0};
    PC_EXPECT_TRUE(largestOf(pcCertify(&model.problem, v, c, &arena)) == 0.0);
    PC_EXPECT_TRUE(pcEnergyError(&model.problem, v, c) == 0.0);
    pcModelBody(&model, 1.0, v3Make(1.0, 1.0, 1.0), v3Make(1.0, 2.0, 3.0), v3Make(4.0, 5.0, 6.0));
    PC_EXPECT_TRUE(largestOf(pcCertify(&model.problem, v, c, &arena)) == 0.0);
    model.problem.dense = true;
    PC_EXPECT_TRUE(largestOf(pcCertify(&model.problem, v, c, &arena)) == 0.0);
    pcModelFree(&model);
    pcArenaFree(&arena);
}

PC_TEST(ConeCertificate, LeavesTheArenaAsItWas)
{
    pcArena arena = {0};
    pcConeModel model = pcSmallMixture(3, true);
    double v[6 * MAX_BLOCKS] = {0.0}, c[MAX_ROWS] = {0.0};
    double* mine = pcArenaNew(&arena, double, 1);
    *mine = 42.0;
    size_t mark = pcArenaMark(&arena);
    pcCertify(&model.problem, v, c, &arena);
    PC_EXPECT_EQ_INT(mark, pcArenaMark(&arena));
    PC_EXPECT_TRUE(*mine == 42.0);
    pcModelFree(&model);
    pcArenaFree(&arena);
}
