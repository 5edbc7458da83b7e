#include "adapters/cli/convergence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

static const double H = 0.0025, SHIFT = 1e-9, CHAOTIC = 4.0;
enum { STEPS = 400, HALVINGS = 3, RUNS = HALVINGS + 1 };

const pcConvergenceWorld pcConvergenceWorlds[] = {
    {"three on a plane", PC_ELLIPSOIDS_THREE, 0, "mu=0"}, {"three on a plane, mu 0.4", PC_ELLIPSOIDS_THREE, 0, "mu=0.4"},
    {"two in a sphere", PC_ELLIPSOIDS_TWO, 0, "mu=0"},    {"two in a sphere, mu 0.4", PC_ELLIPSOIDS_TWO, 0, "mu=0.4 coneEdges=4"},
    {"lattice of 1", PC_ELLIPSOIDS_LATTICE, 1, "mu=0"},   {"lattice of 8", PC_ELLIPSOIDS_LATTICE, 8, "mu=0"},
    {"lattice of 27", PC_ELLIPSOIDS_LATTICE, 27, "mu=0"}, {"lattice of 66", PC_ELLIPSOIDS_LATTICE, 66, "mu=0"}};

/* Positions of all bodies at every H. */
typedef struct Path {
    int coordinates;
    double* x;
} Path;

static double* at(const Path* p, int step) { return p->x + (size_t)step * (size_t)p->coordinates; }

static void note(const pcEllipsoids* w, double* x)
{
    for (int i = 0; i < w->count; i++) memcpy(x + 3 * i, w->body[i].pose.position, 3 * sizeof *x);
}

/* To and fro, so that bodies are shifted against each other. */
static void shiftAll(pcEllipsoids* w, double shift)
{
    for (int i = 0; i < 3 * w->count; i++) w->body[i / 3].pose.position[i % 3] += i % 2 == 0 ? shift : -shift;
}

static pcStatus run(const pcConvergenceWorld* world, unsigned seed, int halvings, double shift, int steps, Path* path, pcConvergence* out)
{
    static pcEllipsoids w;
    pcStatus status = pcEllipsoidsMake(world->kind, world->count, seed, world->settings, &w);
    if (status != PC_OK) return status;
    w.h = H / (1 << halvings);
    out->bodies = w.count, path->coordinates = 3 * w.count;
    path->x = malloc((size_t)(steps + 1) * (size_t)path->coordinates * sizeof *path->x);
    if (!path->x) status = pcFail(PC_ERROR_MEMORY, "out of memory for %d steps of %d bodies", steps, w.count);
    if (status == PC_OK) shiftAll(&w, shift), note(&w, path->x);
    for (int n = 1; n <= steps && status == PC_OK; n++) {
        status = pcEllipsoidsStep(&w, 1 << halvings);
        note(&w, at(path, n));
    }
    out->unsolved += w.unsolved;
    pcEllipsoidsFree(&w);
    return status;
}

static double squareApart(const double* a, const double* b, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* The first step at which a body of the twins is CHAOTIC times as far apart as at the start. */
static int chaosOf(const Path* a, const Path* b)
{
    for (int n = 1; n < STEPS; n++)
        for (int i = 0; i < a->coordinates; i += 3)
            if (squareApart(at(a, n) + i, at(b, n) + i, 3) > CHAOTIC * CHAOTIC * squareApart(a->x + i, b->x + i, 3)) return n;
    return STEPS;
}

static double differenceUntil(const Path* a, const Path* b, int steps) { return squareApart(at(a, 1), at(b, 1), steps * a->coordinates); }

static void fillOrders(const Path path[RUNS], int chaos, pcConvergence* out)
{
    for (int q = 0; q < PC_CONVERGENCE_QUARTERS; q++) {
        int steps = (q + 1) * chaos / 4;
        double e[HALVINGS];
        for (int k = 0; k < HALVINGS; k++) e[k] = sqrt(differenceUntil(path + k, path + k + 1, steps));
        for (int k = 0; k < 2; k++) out->order[q][k] = log2(e[k] / e[k + 1]);
        out->last[q] = e[2] / sqrt((double)steps * path->coordinates);
    }
}

pcStatus pcConvergenceMeasure(const pcConvergenceWorld* world, unsigned seed, pcConvergence* out)
{
    Path path[RUNS] = {{0}}, twin = {0};
    *out = (pcConvergence){0};
    pcStatus status = run(world, seed, HALVINGS, 0.0, STEPS, path + HALVINGS, out);
    if (status == PC_OK) status = run(world, seed, HALVINGS, SHIFT, STEPS, &twin, out);
    int chaos = status == PC_OK ? chaosOf(path + HALVINGS, &twin) : 0;
    for (int k = 0; k < HALVINGS && status == PC_OK; k++) status = run(world, seed, k, 0.0, chaos, path + k, out);
    if (status == PC_OK) out->chaos = chaos * H, fillOrders(path, chaos, out);
    for (int k = 0; k < RUNS; k++) free(path[k].x);
    free(twin.x);
    return status;
}

bool pcConvergenceIsFirstOrder(const pcConvergence* c)
{
    for (int q = 0; q < PC_CONVERGENCE_QUARTERS; q++)
        for (int k = 0; k < 2; k++)
            if (!(c->order[q][k] >= 0.8 && c->order[q][k] <= 1.3)) return false;
    return true;
}
