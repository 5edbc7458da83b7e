/*
 * Lemke's method against ODE's dWorldStep on the same problems.
 *
 * What is fair. Both get plain arrays of bodies and contacts and are timed from there to new velocities: ours with the assembly of the
 * cone problem, island by island as a step does it; ODE with its islands and its integration of positions, which is little, but without
 * the making of contact joints. Both solve every step from the same velocities, those that ours found the step before, in the same
 * place, so that the problems stay comparable while a sliding box comes to rest. The residual is the certificate's, for both.
 */
#include "adapters/cli/bench_boxes.h"

#include <math.h>
#include <string.h>

#include "adapters/cli/bench_pairs.h"
#include "adapters/cli/bench_solver.h"
#include "adapters/cli/cli.h"
#include "adapters/cli/rival_ode.h"
#include "solver/certificate.h"

enum { MOST_STEPS = 20, MOST_RUNS = 9, METHODS = 4 };

#define TARGET_CONTACTS 16 /* from here on Lemke's method is meant to be no slower than ODE */
#define DEPTH 1e-4
#define QUARTER_TURN 0.78539816339744830962 /* of the square that ODE's pyramid is: half of a right angle */

/* ---- Scenes -------------------------------------------------------------------------------------------------------------------- */

typedef struct SceneKind {
    const char* name;
    int islands, boxesEach;
    double slide, push, spin; /* speed of all boxes along (0.8, 0.6); of the top one; about the vertical */
} SceneKind;

static const SceneKind kinds[] = {{"a box at rest", 1, 1, 0.0, 0.0, 0.0},
                                  {"a box sliding", 1, 1, 1.0, 0.0, 0.0},
                                  {"a box sliding and turning", 1, 1, 1.0, 0.0, 3.0},
                                  {"4 boxes at rest", 4, 1, 0.0, 0.0, 0.0},
                                  {"4 boxes sliding and turning", 4, 1, 1.0, 0.0, 3.0},
                                  {"stack of 4 at rest", 1, 4, 0.0, 0.0, 0.0},
                                  {"stack of 4, top pushed", 1, 4, 0.0, 1.0, 0.0},
                                  {"stack of 4 sliding", 1, 4, 1.0, 0.0, 0.0},
                                  {"12 boxes sliding and turning", 12, 1, 1.0, 0.0, 3.0},
                                  {"stack of 12 at rest", 1, 12, 0.0, 0.0, 0.0},
                                  {"stack of 12, top pushed", 1, 12, 0.0, 1.0, 0.0},
                                  {"stack of 12 sliding", 1, 12, 1.0, 0.0, 0.0}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void addBox(BoxScene* scene, int level, double x)
{
    int i = scene->boxes++;
    scene->box[i] = (Box){.mass = 1.0 + 0.1 * level, .side = 1.0, .position = {x, 0.0, level + 0.5}};
    for (int corner = 0; corner < 4; corner++) {
        Touch* t = &scene->touch[scene->touches++];
        *t = (Touch){.lower = level ? i - 1 : -1, .upper = i, .point = {x + (corner & 1 ? 0.5 : -0.5), corner & 2 ? 0.5 : -0.5, level}};
        t->depth = DEPTH * (1.0 + 0.1 * corner);
    }
}

static void makeScene(const SceneKind* kind, BoxScene* scene, BoxState* start)
{
    *scene = (BoxScene){.islands = kind->islands, .boxesEach = kind->boxesEach};
    *start = (BoxState){0};
    for (int island = 0; island < kind->islands; island++)
        for (int level = 0; level < kind->boxesEach; level++) {
            double* v = start->velocity + 6 * scene->boxes;
            double speed = kind->slide * (1.0 + 0.05 * island) + (level == kind->boxesEach - 1 ? kind->push : 0.0);
            v[0] = 0.8 * speed, v[1] = 0.6 * speed, v[5] = kind->spin;
            addBox(scene, level, 3.0 * island);
        }
}

/* ---- An island as a cone problem ------------------------------------------------------------------------------------------------ */

typedef struct Arrays {
    pcProblem problem;
    bool discs; /* in place of squares: through their corners */
    double mass[36 * MOST_BOXES], free[6 * MOST_BOXES], J[12 * 3 * MOST_TOUCHES], target[3 * MOST_TOUCHES], soft[3 * MOST_TOUCHES];
    int block[2 * 3 * MOST_TOUCHES];
    pcCone cone[MOST_TOUCHES];
} Arrays;

static void putBox(Arrays* a, int i, const Box* box, const double* velocity)
{
    double *M = a->mass + 36 * i, *f = a->free + 6 * i;
    memset(M, 0, 36 * sizeof *M);
    for (int k = 0; k < 3; k++) M[7 * k] = box->mass, M[7 * (k + 3)] = box->mass * box->side * box->side / 6.0;
    memcpy(f, velocity, 6 * sizeof *f);
    f[2] -= BOXES_GRAVITY * BOXES_STEP;
}

/* The velocity along `axis` of a box at `point`: d . (v + w x r) */
static void putSide(double* J, const Box* box, const double* point, int axis, double sign)
{
    double r[3], d[3] = {0.0};
    for (int i = 0; i < 3; i++) r[i] = point[i] - box->position[i];
    d[axis] = sign;
    for (int i = 0; i < 3; i++) J[i] = d[i], J[3 + i] = r[(i + 1) % 3] * d[(i + 2) % 3] - r[(i + 2) % 3] * d[(i + 1) % 3];
}

/* Rows normal, x, y; the square |c| <= mu c_n has its corners at sqrt(2) mu, at 45 degrees. */
static void putTouch(Arrays* a, int k, const BoxScene* scene, int firstBox, const Touch* t)
{
    const int axis[3] = {2, 0, 1};
    memset(a->J + 36 * k, 0, 36 * sizeof *a->J);
    for (int i = 0; i < 3; i++) {
        int row = 3 * k + i;
        double scale = i ? BOXES_MU * sqrt(2.0) : 1.0;
        a->block[2 * row] = t->lower < 0 ? -1 : t->lower - firstBox, a->block[2 * row + 1] = t->upper - firstBox;
        if (t->lower >= 0) putSide(a->J + 12 * row, &scene->box[t->lower], t->point, axis[i], -scale);
        putSide(a->J + 12 * row + 6, &scene->box[t->upper], t->point, axis[i], scale);
        a->target[row] = i ? 0.0 : BOXES_ERP * t->depth / BOXES_STEP;
        a->soft[row] = 0.0;
    }
    a->cone[k] = (pcCone){.kind = PC_CONE_FRICTION, .row = 3 * k, .rows = 3, .groups = 1, .groupSize = {2}};
    if (!a->discs) a->cone[k].edges = 4, a->cone[k].angle = QUARTER_TURN;
}

static void assemble(Arrays* a, const BoxScene* scene, int island, const double* velocity)
{
    int boxes = scene->boxesEach, firstBox = island * boxes, touches = 4 * boxes;
    double scale = BOXES_GRAVITY * BOXES_STEP;
    for (int i = 0; i < boxes; i++) putBox(a, i, &scene->box[firstBox + i], velocity + 6 * (firstBox + i));
    for (int i = 0; i < 6 * boxes; i++) scale = fmax(scale, fabs(a->free[i]));
    for (int k = 0; k < touches; k++) putTouch(a, k, scene, firstBox, &scene->touch[4 * firstBox + k]);
    a->problem = (pcProblem){.blocks = boxes,
                             .mass = a->mass,
                             .free = a->free,
                             .rows = 3 * touches,
                             .block = a->block,
                             .J = a->J,
                             .target = a->target,
                             .soft = a->soft,
                             .cones = touches,
                             .cone = a->cone,
                             .coulomb = true,
                             .velocityScale = scale};
}

/* ---- One step ------------------------------------------------------------------------------------------------------------------ */

typedef struct Method {
    const char *name, *solver;
    bool warm;
} Method;

static const Method methods[METHODS] = {
    {"lemke", "lemke", false}, {"lemke, warm", "lemke", true}, {"auto", "auto", false}, {"auto, warm", "auto", true}};

typedef struct Rig {
    SolverBench* bench;
    BoxScene scene;
    Arrays arrays;
    pcSolverMemory* memory;
    pcArena arena;
} Rig;

/* All islands, from arrays to velocities; c is in units of the cone. Returns the iterations. */
static int stepByOurs(Rig* rig, const Method* method, const double* velocity, BoxState* state)
{
    const pcConeSolver* solver = pcConeSolverFind(method->solver);
    pcConeSettings settings = {.tolerance = 1e-10, .fixedPoint = 1, .warm = method->warm};
    int iterations = 0;
    for (int island = 0; island < rig->scene.islands; island++) {
        int first = island * rig->scene.boxesEach;
        assemble(&rig->arrays, &rig->scene, island, velocity);
        iterations += solver->solve(&rig->arrays.problem, &settings, rig->memory, state->velocity + 6 * first, state->impulse + 12 * first)
                          .solve.iterations;
    }
    return iterations;
}

static double residualOf(Rig* rig, const double* velocity, const BoxState* state)
{
    double most = 0.0;
    for (int island = 0; island < rig->scene.islands; island++) {
        int first = island * rig->scene.boxesEach;
        assemble(&rig->arrays, &rig->scene, island, velocity);
        pcCertificate found = pcCertify(&rig->arrays.problem, state->velocity + 6 * first, state->impulse + 12 * first, &rig->arena);
        most = fmax(most, fmax(found.residual, found.momentum));
    }
    return most;
}

/* Friction impulses in units of the cone, as `ours` are. */
static void inConeUnits(const BoxScene* scene, BoxState* state)
{
    for (int i = 0; i < 3 * scene->touches; i++) state->impulse[i] /= i % 3 ? BOXES_MU * sqrt(2.0) : 1.0;
}

/* ---- The table ----------------------------------------------------------------------------------------------------------------- */

typedef struct Tally {
    int steps, iterations[METHODS];
    double ns[METHODS + 1][MOST_STEPS]; /* the last: ODE */
    double residual[METHODS + 1];
    bool odeBroken;
} Tally;

/* The median of several runs, ns. */
static double timeStep(Rig* rig, const Method* method, int runs, const BoxState* now, BoxState* found, int* iterations)
{
    double sample[MOST_RUNS];
    for (int i = 0; i < runs; i++) {
        *found = *now;
        double start = benchNow();
        *iterations = stepByOurs(rig, method, now->velocity, found);
        sample[i] = benchNow() - start;
    }
    return benchStat(sample, runs).median;
}

static void timeOurs(Rig* rig, int m, int runs, const BoxState* now, BoxState* found, Tally* tally)
{
    int iterations = 0;
    tally->ns[m][tally->steps] = timeStep(rig, &methods[m], runs, now, found, &iterations);
    tally->iterations[m] += iterations;
    tally->residual[m] = fmax(tally->residual[m], residualOf(rig, now->velocity, found));
}

static void timeOde(Rig* rig, RivalOde* ode, int runs, const double* velocity, Tally* tally)
{
    double sample[MOST_RUNS];
    BoxState found;
    for (int i = 0; ode && i < runs; i++) sample[i] = rivalOdeStep(ode, velocity, &found);
    tally->odeBroken = !ode || sample[runs - 1] < 0.0;
    if (tally->odeBroken) return;
    inConeUnits(&rig->scene, &found);
    tally->ns[METHODS][tally->steps] = benchStat(sample, runs).median;
    tally->residual[METHODS] = fmax(tally->residual[METHODS], residualOf(rig, velocity, &found));
}

/* The first step is for warming up: caches, memory, and a guess for the second. */
static void follow(Rig* rig, const BoxState* start, RivalOde* ode, Tally* tally)
{
    int steps = rig->bench->quick ? 4 : MOST_STEPS, runs = rig->bench->quick ? 3 : MOST_RUNS;
    BoxState now = *start, found;
    for (int step = 0; step < steps; step++) {
        for (int m = 0; m < METHODS; m++) timeOurs(rig, m, runs, &now, &found, tally);
        timeOde(rig, ode, runs, now.velocity, tally);
        stepByOurs(rig, &methods[0], now.velocity, &now);
        if (step == 0)
            *tally = (Tally){0};
        else
            tally->steps++;
    }
}

static void report(Rig* rig, const char* name, Tally* t, int complaints)
{
    double ms[METHODS + 1], worst = 0.0;
    for (int m = 0; m <= METHODS; m++) ms[m] = 1e-6 * benchStat(t->ns[m], t->steps).median;
    for (int m = 0; m < METHODS; m++) worst = fmax(worst, t->residual[m]);
    bool below = !t->odeBroken && rig->scene.touches >= TARGET_CONTACTS && !(ms[0] <= ms[METHODS]);
    rig->bench->belowTarget += below, rig->bench->missed += !(worst <= BENCH_TOLERANCE);
    printf("%-28s %4d %9.4f", name, rig->scene.touches, ms[METHODS]);
    for (int m = 0; m < METHODS; m++) printf(" %9.4f %6.2f", ms[m], ms[METHODS] / ms[m]);
    printf(" %6.1f %6.1f %9.1e %9.1e %6d%s\n", (double)t->iterations[0] / t->steps, (double)t->iterations[1] / t->steps, worst,
           t->odeBroken ? (double)NAN : t->residual[METHODS], complaints, below ? "  below target" : "");
    for (int m = 0; m <= METHODS; m++)
        solverCsv(rig->bench, &(SolverRow){"boxes", name, m < METHODS ? methods[m].name : "dWorldStep", rig->scene.touches,
                                           m < METHODS ? t->iterations[m] / t->steps : -1, -1, t->residual[m], ms[m], ms[METHODS] / ms[m]});
}

static void runScene(Rig* rig, const SceneKind* kind)
{
    BoxState start;
    Tally tally = {0};
    makeScene(kind, &rig->scene, &start);
    RivalOde* ode = rivalOdeNew(&rig->scene);
    follow(rig, &start, ode, &tally);
    report(rig, kind->name, &tally, rivalOdeMessages(ode));
    rivalOdeFree(ode);
}

/* ---- auto against the others --------------------------------------------------------------------------------------------------- */

/* `auto` first; `minmap` is never the quickest of these. */
static const char* const solvers[] = {"auto", "lemke", "sparse", "fixedpoint"};
enum { SOLVERS = sizeof solvers / sizeof *solvers, COMPARED_RUNS = 3 };

/* Median ms of each on the same steps, which are those of `auto`, cold. */
static void compareOn(Rig* rig, const SceneKind* kind, bool warm, double* ms)
{
    int steps = rig->bench->quick ? 4 : MOST_STEPS, iterations;
    double ns[SOLVERS][MOST_STEPS];
    const Method cold = {"auto", "auto", false};
    BoxState now, found;
    makeScene(kind, &rig->scene, &now);
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < SOLVERS; i++)
            ns[i][step] = timeStep(rig, &(Method){solvers[i], solvers[i], warm}, COMPARED_RUNS, &now, &found, &iterations);
        stepByOurs(rig, &cold, now.velocity, &now);
    }
    for (int i = 0; i < SOLVERS; i++) ms[i] = 1e-6 * benchStat(ns[i] + 1, steps - 1).median;
}

static void reportCompared(Rig* rig, const SceneKind* kind)
{
    printf("%-28s %4d", kind->name, 4 * kind->islands * kind->boxesEach);
    for (int column = 0; column < 4; column++) {
        double ms[SOLVERS];
        int best = 1;
        rig->arrays.discs = column > 1;
        compareOn(rig, kind, column % 2 == 1, ms);
        for (int i = 2; i < SOLVERS; i++) best = ms[i] < ms[best] ? i : best;
        printf(" %9.4f %9.4f %-10s %5.2f", ms[0], ms[best], solvers[best], ms[0] / ms[best]);
    }
    putchar('\n');
    rig->arrays.discs = false;
}

static void compareAll(Rig* rig)
{
    puts("\nauto against the quickest of the others on the same boxes, ms per step: square cones cold and warm, circular cones cold and "
         "warm:");
    printf("%-28s %4s", "scene", "n");
    for (int column = 0; column < 4; column++) printf(" %9s %9s %-10s %5s", "auto", "best", "by", "ratio");
    putchar('\n');
    for (int i = 0; i < KINDS; i++) reportCompared(rig, &kinds[i]);
}

int solverBoxesTable(SolverBench* bench)
{
    static Rig rig;
    rig = (Rig){.bench = bench, .memory = pcSolverMemoryCreate()};
    if (!rig.memory) return PC_CLI_CHECK_FAILED;
#ifdef PCONTACT_WITH_ODE
    puts("\nBoxes on a plane, four contacts each, ODE's friction pyramid; ms per step, and how many times faster than dWorldStep (target: "
         "at\n"
         "least 1 for lemke, cold, from 16 contacts); steps and pivots of lemke, largest residuals, complaints of ODE:");
#else
    puts("\nBoxes on a plane, four contacts each, ODE's friction pyramid; ms per step; built without ODE, so nothing to compare with:");
#endif
    printf("%-28s %4s %9s %9s %6s %9s %6s %9s %6s %9s %6s %6s %6s %9s %9s %6s\n", "scene", "n", "ODE", "lemke", "x", "warm", "x", "auto",
           "x", "warm", "x", "steps", "warm", "ours", "ODE's", "compl.");
    for (int i = 0; i < KINDS; i++) runScene(&rig, &kinds[i]);
    compareAll(&rig);
    pcArenaFree(&rig.arena), pcSolverMemoryFree(rig.memory);
    return PC_CLI_OK;
}
