/* Out of memory at any block, LAPACK that fails, iterations that run out: a clear answer, nothing lost, nothing kept. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "pcontact/implicit.h"
#include "pcontact/lcp.h"
#include "pcontact/metric.h"
#include "test_worlds/unit/counting.h"
#include "test_worlds/unit/lapack_faults.h"
#include "test_worlds/unit/lcp_judge.h"
#include "test_worlds/unit/refusals.h"
#include "test_worlds/unit/scene.h"

/* ---- every block in turn ---- */

static bool freed(pcStatus status, pcShape** shape)
{
    if (status == PC_OK) pcShapeFree(*shape);
    return pcWentWell(status);
}

static void ball(const void* context, const double direction[3], double point[3])
{
    (void)context;
    for (int k = 0; k < 3; k++) point[k] = direction[k];
}

static bool makeShapes(void)
{
    static const double points[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 0.2, 0.2, 0.2}, size[3] = {1, 2, 3};
    static const double planes[] = {1, 0, 0, 1, -1, 0, 0, 1, 0, 1, 0, 1, 0, -1, 0, 1, 0, 0, 1, 1, 0, 0, -1, 1, 1, 1, 1, 1.5};
    static const int triangles[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
    const pcSupportDef def = {ball, NULL, {0, 0, 0}, 1, 1};
    pcShape* s;
    bool well = freed(pcShapeFromPoints(points, 6, NULL, &s), &s);
    well &= freed(pcShapeFromPlanes(planes, 7, NULL, &s), &s);
    well &= freed(pcShapeBox(size, &s), &s) & freed(pcShapeSphere(1, &s), &s) & freed(pcShapeEllipsoid(size, &s), &s);
    well &= freed(pcShapeCapsule(1, 2, &s), &s) & freed(pcShapeCylinder(1, 2, &s), &s) & freed(pcShapeContainer(3, &s), &s);
    well &= freed(pcShapeHalfSpace(planes, &s), &s) & freed(pcShapeSupport(&def, &s), &s);
    return well & freed(pcShapeMesh(points, 4, triangles, 4, &s), &s);
}

PC_TEST(Faults, ShapesWithoutMemoryAreRefusedAndLeaveNothing)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    pcRefuseAll(makeShapes, 40);
}

/* Qhull itself keeps a block of its own then. */
PC_TEST(Faults, HullsForWhichQhullHasNoMemoryAreRefused)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    long refused = 1;
    int n = 0;
    for (; refused > 0 && n < 1000; n++) {
        PC_CASE("block %d", n + 1);
        pcAllocationsRefuseQhull(n + 1, n % 2 == 1);
        bool well = makeShapes();
        refused = pcAllocationsAllow();
        PC_EXPECT_TRUE(well == (refused == 0));
    }
    PC_EXPECT_GT(n, 5);
}

static const char* solverUnderTest;

/* Solved, or it says why not. */
static bool solved(const pcSolveInfo* info, const double* z, int n)
{
    for (int i = 0; i < n; i++) PC_EXPECT_TRUE(isfinite(z[i]));
    PC_EXPECT_FALSE(isnan(info->residual));
    if (info->outcome == PC_SOLVED) PC_EXPECT_LE(info->residual, 1e-10);
    return info->outcome == PC_SOLVED;
}

static const double M3[9] = {2, 1, 0, 1, 2, 1, 0, 1, 2}, q3[3] = {-1, -2, 1};

static pcSolveInfo solveLcpWithin(const char* solver, int most, double* z)
{
    pcLcp lcp = {3, M3, q3};
    pcSolveSettings settings = pcDefaultSolveSettings();
    settings.solver = solver, settings.maxIterations = most;
    for (int i = 0; i < 3; i++) z[i] = 0;
    return pcLcpSolve(&lcp, &settings, z);
}

static bool solveLcp(void)
{
    double z[3];
    pcSolveInfo info = solveLcpWithin(solverUnderTest, 0, z);
    return solved(&info, z, 3);
}

/* Two contacts that slide. */
static pcSolveInfo solveContactsWithin(const char* solver, int most, double* r)
{
    static const int row[] = {0, 1, 2, 3, 4, 5, 0, 3}, col[] = {0, 1, 2, 3, 4, 5, 3, 0};
    static const double value[] = {2, 1, 1, 2, 1, 1, 0.5, 0.5}, q[] = {-1, 0.4, 0.3, -2, 1, -1}, mu[] = {0.5, 0.3};
    pcDelassus problem = {2, 3, 8, row, col, value, q, mu};
    pcSolveSettings settings = pcDefaultSolveSettings();
    settings.solver = solver, settings.maxIterations = most;
    for (int i = 0; i < 6; i++) r[i] = 0;
    return pcDelassusSolve(&problem, &settings, r);
}

static bool solveContacts(void)
{
    double r[6];
    pcSolveInfo info = solveContactsWithin(solverUnderTest, 0, r);
    return solved(&info, r, 6);
}

static const char* const lcpSolvers[] = {"auto", "lemke", "minmap"};
static const char* const contactSolvers[] = {"auto", "sparse", "lemke", "fixedpoint", "minmap"};

PC_TEST(Faults, SolversWithoutMemorySayThatTheyHaveNotSolved)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    for (int i = 0; i < 3; i++) solverUnderTest = lcpSolvers[i], pcRefuseAll(solveLcp, 1);
    for (int i = 0; i < 5; i++) solverUnderTest = contactSolvers[i], pcRefuseAll(solveContacts, 1);
}

PC_TEST(Faults, SolversThatRunOutOfIterationsSayHowFarTheyGot)
{
    double z[6];
    for (int most = 1; most < 40; most++) {
        for (int i = 0; i < 3; i++) {
            PC_CASE("%s, %d iterations", lcpSolvers[i], most);
            pcSolveInfo info = solveLcpWithin(lcpSolvers[i], most, z);
            if (solved(&info, z, 3)) PC_EXPECT_LE(pcJudgeSolution(3, 3, M3, q3, z), 1e-9);
        }
        for (int i = 0; i < 5; i++) {
            PC_CASE("%s, %d iterations", contactSolvers[i], most);
            pcSolveInfo info = solveContactsWithin(contactSolvers[i], most, z);
            solved(&info, z, 6);
        }
    }
}

/* ---- steps ---- */

static const char* settingsUnderTest;

/* A tower, a ball beside it, and a hinge's row; nothing here asks for memory of its own. */
typedef struct Tower {
    pcShape* shape[3];
    pcMemory* memory;
    pcBody body[4];
    pcPlacedShape placed[5];
    pcRow row;
    pcSystem system;
} Tower;

static void place(Tower* t, int i, double x, double z)
{
    t->body[i] = (pcBody){.pose = {{x, 0, z}, {1, 0, 0, 0}}, .mass = 1 + i, .inertia = {0.2, 0, 0, 0, 0.2, 0, 0, 0, 0.2}};
    t->body[i].velocity[0] = 0.1 * i, t->body[i].velocity[2] = -0.5;
    t->placed[i] = (pcPlacedShape){.shape = t->shape[i == 3], .body = i, .pose = {{0, 0, 0}, {1, 0, 0, 0}}};
}

static bool towerMake(Tower* t)
{
    static const double size[3] = {1, 1, 1}, floor[4] = {0, 0, 1, 0};
    *t = (Tower){.memory = NULL};
    if (!pcWentWell(pcShapeBox(size, t->shape)) || !pcWentWell(pcShapeSphere(0.5, t->shape + 1)) ||
        !pcWentWell(pcShapeHalfSpace(floor, t->shape + 2)))
        return false;
    if (!pcWentWell(pcMemoryCreate(&t->memory))) return false;
    for (int i = 0; i < 3; i++) place(t, i, 0, 0.5 + i);
    place(t, 3, 2, 0.5);
    t->placed[4] = (pcPlacedShape){.shape = t->shape[2], .body = PC_WORLD, .pose = {{0, 0, 0}, {1, 0, 0, 0}}};
    t->row = (pcRow){.body1 = 2, .body2 = 3, .jacobian = {1, [6] = -1}, .lo = -HUGE_VAL, .hi = HUGE_VAL};
    t->system = (pcSystem){.bodyCount = 4,
                           .bodies = t->body,
                           .shapeCount = 5,
                           .shapes = t->placed,
                           .rowCount = 1,
                           .rows = &t->row,
                           .gravity = {0, 0, -10},
                           .memory = t->memory};
    return true;
}

static void towerFree(Tower* t)
{
    for (int i = 0; i < 3; i++) pcShapeFree(t->shape[i]);
    pcMemoryFree(t->memory);
}

/* A step that is refused writes nothing; one that is taken is finite and says how good it is. */
static bool towerStep(Tower* t, const pcSettings* settings)
{
    double velocity[24];
    pcPose pose[4];
    for (int i = 0; i < 24; i++) velocity[i] = 77;
    pcSystemResult result = {.velocity = velocity, .pose = pose};
    if (!pcWentWell(pcSystemStep(&t->system, settings, 0.01, &result))) {
        for (int i = 0; i < 24; i++) PC_EXPECT_TRUE(velocity[i] == 77);
        return false;
    }
    for (int i = 0; i < 24; i++) PC_EXPECT_TRUE(fabs(velocity[i]) < 20);
    if (result.report.outcome == PC_SOLVED) PC_EXPECT_LE(result.report.residual, settings->tolerance);
    for (int i = 0; i < 4; i++) memcpy(t->body[i].velocity, velocity + 6 * i, 6 * sizeof *velocity), t->body[i].pose = pose[i];
    return result.report.outcome == PC_SOLVED;
}

static bool stepTower(void)
{
    Tower t;
    pcSettings settings = pcDefaultSettings();
    PC_EXPECT_STATUS(PC_OK, pcSettingsParse(&settings, settingsUnderTest));
    bool well = towerMake(&t);
    for (int i = 0; i < 3 && well; i++) well = towerStep(&t, &settings);
    towerFree(&t);
    return well;
}

static const char* const manySettings[] = {"",
                                           "model=convex",
                                           "solver=sparse",
                                           "solver=lemke coneEdges=8",
                                           "solver=fixedpoint",
                                           "solver=minmap coneEdges=4",
                                           "bounce=0.5 restitution=poisson",
                                           "implicitJoints=1 reportAfter=1"};
enum { SETTINGS = sizeof manySettings / sizeof *manySettings };

PC_TEST(Faults, StepsWithoutMemoryAreRefusedAndLeaveNothing)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    for (int i = 0; i < SETTINGS; i++) settingsUnderTest = manySettings[i], pcRefuseAll(stepTower, 10);
}

/* ---- LAPACK ---- */

static int failLapackInTurn(bool (*run)(void), bool onwards)
{
    long failed = 1;
    int n = 0;
    while (failed > 0 && n < 40) {
        PC_CASE("%s: call %d%s", settingsUnderTest, ++n, onwards ? " and all that follow" : "");
        pcLapackFail(n, onwards);
        run();
        failed = pcLapackWork();
    }
    return n - 1;
}

PC_TEST(Faults, LapackThatFailsMakesStepsThatSayHowGoodTheyAre)
{
    int calls = 0;
    for (int i = 0; i < SETTINGS; i++) {
        settingsUnderTest = manySettings[i];
        calls += failLapackInTurn(stepTower, false);
        failLapackInTurn(stepTower, true);
    }
    PC_EXPECT_GT(calls, 10);
}

PC_TEST(Faults, LapackThatFailsMakesSolversThatSayHowGoodTheyAre)
{
    int calls = 0;
    settingsUnderTest = "";
    for (int i = 0; i < 3; i++)
        solverUnderTest = lcpSolvers[i], calls += failLapackInTurn(solveLcp, false), failLapackInTurn(solveLcp, true);
    for (int i = 0; i < 5; i++)
        solverUnderTest = contactSolvers[i], calls += failLapackInTurn(solveContacts, false), failLapackInTurn(solveContacts, true);
    PC_EXPECT_GT(calls, 3);
}
