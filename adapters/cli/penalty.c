#include "adapters/cli/penalty.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

static const double CHAINS = 8.0, DAMPING = 0.45;

typedef struct Disc {
    double x[2], v[2], spin, force[2], torque;
    double radius, mass, inertia;
} Disc;

typedef struct Wall {
    double normal[2], offset;
} Wall;

typedef struct Penalty {
    const pcScene* scene;
    int discs, walls, pairs, room;
    Disc* disc;
    Wall* wall;
    int (*pair)[2]; /* that may touch until something has moved by half the skin */
    double* at;     /* where discs were when the pairs were listed */
    double* centre; /* for whoever asks */
    double mu, k, c, g, least, skin, overlap;
} Penalty;

/* ---- from the scene ---- */

static void addShape(Penalty* p, const pcSceneCollision* c)
{
    const pcSceneLink* link = p->scene->link + c->link;
    p->mu = c->surface.mu;
    if (c->shape.kind == PC_SCENE_PLANE) {
        Wall* w = p->wall + p->walls++;
        w->normal[0] = c->shape.normal[0], w->normal[1] = c->shape.normal[2];
        w->offset =
            w->normal[0] * (link->pose.position[0] + c->pose.position[0]) + w->normal[1] * (link->pose.position[2] + c->pose.position[2]);
        return;
    }
    Disc* d = p->disc + p->discs++;
    *d = (Disc){.x = {link->pose.position[0], link->pose.position[2]}, .radius = c->shape.size[0], .mass = link->mass};
    d->inertia = link->inertia[4];
    if (p->least == 0.0 || d->radius < p->least) p->least = d->radius;
}

/* The most that a disc on the floor carries: the weight of all by the number of discs that fit side by side, and CHAINS times that, because
 * loads gather in chains, and under the largest disc. */
static void chooseSprings(Penalty* p, double overlap)
{
    double mass = 0.0, lightest = p->disc[0].mass, left = HUGE_VAL, right = -HUGE_VAL;
    for (int i = 0; i < p->discs; i++) {
        const Disc* d = p->disc + i;
        mass += d->mass, lightest = fmin(lightest, d->mass);
        left = fmin(left, d->x[0] - d->radius), right = fmax(right, d->x[0] + d->radius);
    }
    double carried = CHAINS * mass * p->g * 2.0 * p->least / (right - left);
    p->k = carried / (overlap * p->least);
    p->c = 2.0 * DAMPING * sqrt(p->k * 0.5 * lightest);
    p->skin = p->least;
}

static pcStatus setUp(Penalty* p, double overlap)
{
    const pcScene* scene = p->scene;
    size_t room = (size_t)scene->collisions + 1;
    p->disc = calloc(room, sizeof *p->disc), p->wall = calloc(room, sizeof *p->wall);
    p->at = calloc(2 * room, sizeof *p->at), p->centre = calloc(2 * room, sizeof *p->centre);
    if (!p->disc || !p->wall || !p->at || !p->centre) return pcFail(PC_ERROR_MEMORY, "out of memory for discs");
    for (int i = 0; i < scene->collisions; i++) {
        const pcSceneCollision* c = scene->collision + i;
        bool fixed = scene->link[c->link].fixed;
        if (c->shape.kind != (fixed ? PC_SCENE_PLANE : PC_SCENE_SPHERE) || scene->physics.planar != 2)
            return pcFail(PC_ERROR_ARGUMENT, "a spring-damper contact is there only for spheres among planes, planar in xz");
        addShape(p, c);
    }
    p->g = -scene->physics.gravity[2];
    if (p->discs == 0 || !(p->g > 0.0)) return pcFail(PC_ERROR_ARGUMENT, "a spring-damper contact needs discs, and gravity along -z");
    chooseSprings(p, overlap > 0.0 ? overlap : 0.01);
    return PC_OK;
}

/* ---- pairs ---- */

static bool moved(const Penalty* p)
{
    for (int i = 0; i < p->discs; i++) {
        double x = p->disc[i].x[0] - p->at[2 * i], z = p->disc[i].x[1] - p->at[2 * i + 1];
        if (!(x * x + z * z <= 0.25 * p->skin * p->skin)) return true;
    }
    return p->room == 0;
}

static pcStatus listPairs(Penalty* p)
{
    p->pairs = 0;
    for (int i = 0; i < p->discs; i++) {
        for (int j = 0; j < i; j++) {
            double x = p->disc[i].x[0] - p->disc[j].x[0], z = p->disc[i].x[1] - p->disc[j].x[1];
            double near = p->disc[i].radius + p->disc[j].radius + p->skin;
            if (x * x + z * z > near * near) continue;
            if (p->pairs == p->room) {
                int wider = p->room ? 2 * p->room : 4096;
                void* pair = realloc(p->pair, (size_t)wider * sizeof *p->pair);
                if (!pair) return pcFail(PC_ERROR_MEMORY, "out of memory for pairs of discs");
                p->pair = pair, p->room = wider;
            }
            p->pair[p->pairs][0] = i, p->pair[p->pairs++][1] = j;
        }
        memcpy(p->at + 2 * i, p->disc[i].x, sizeof p->disc[i].x);
    }
    return PC_OK;
}

/* ---- forces ---- */

/* On `a`, from b (NULL: a wall), whose surface overlaps it by d; n points from b to a. */
static void touch(Penalty* p, Disc* a, Disc* b, const double n[2], double d)
{
    double u[2] = {a->v[0] - (b ? b->v[0] : 0.0), a->v[1] - (b ? b->v[1] : 0.0)};
    double spins = a->radius * a->spin + (b ? b->radius * b->spin : 0.0); /* of the surfaces along t */
    double t[2] = {-n[1], n[0]};
    double slip = u[0] * t[0] + u[1] * t[1] - spins;
    double push = fmax(0.0, p->k * d - p->c * (u[0] * n[0] + u[1] * n[1]));
    double rub = copysign(fmin(p->mu * push, p->c * fabs(slip)), -slip);
    p->overlap = fmax(p->overlap, d);
    for (int k = 0; k < 2; k++) {
        a->force[k] += push * n[k] + rub * t[k];
        if (b) b->force[k] -= push * n[k] + rub * t[k];
    }
    a->torque -= rub * a->radius;
    if (b) b->torque -= rub * b->radius;
}

static void gatherForces(Penalty* p, double g)
{
    for (int i = 0; i < p->discs; i++) {
        Disc* d = p->disc + i;
        d->force[0] = d->torque = 0.0, d->force[1] = -d->mass * g;
        for (int w = 0; w < p->walls; w++) {
            const double* n = p->wall[w].normal;
            double depth = d->radius - (n[0] * d->x[0] + n[1] * d->x[1] - p->wall[w].offset);
            if (depth > 0.0) touch(p, d, NULL, n, depth);
        }
    }
    for (int i = 0; i < p->pairs; i++) {
        Disc *a = p->disc + p->pair[i][0], *b = p->disc + p->pair[i][1];
        double n[2] = {a->x[0] - b->x[0], a->x[1] - b->x[1]}, reach = a->radius + b->radius;
        double square = n[0] * n[0] + n[1] * n[1];
        if (!(square < reach * reach && square > 0.0)) continue;
        double far = sqrt(square);
        n[0] /= far, n[1] /= far;
        touch(p, a, b, n, reach - far);
    }
}

/* The kinetic energy after the step. */
static double advance(Penalty* p, double h)
{
    double energy = 0.0;
    for (int i = 0; i < p->discs; i++) {
        Disc* d = p->disc + i;
        for (int k = 0; k < 2; k++) d->v[k] += h * d->force[k] / d->mass, d->x[k] += h * d->v[k];
        d->spin += h * d->torque / d->inertia;
        energy += 0.5 * d->mass * (d->v[0] * d->v[0] + d->v[1] * d->v[1]) + 0.5 * d->inertia * d->spin * d->spin;
    }
    return energy;
}

/* ---- the play ---- */

static bool inside(const Penalty* p)
{
    for (int i = 0; i < p->discs; i++)
        for (int w = 0; w < p->walls; w++) {
            const double *n = p->wall[w].normal, *x = p->disc[i].x;
            if (!(n[0] * x[0] + n[1] * x[1] - p->wall[w].offset > -p->disc[i].radius)) return false;
        }
    return true;
}

/* All discs together as fast as a fall from the highest place and the shake could make them, ten times over. */
static double mostEnergy(const Penalty* p, double speed)
{
    double mass = 0.0, high = 0.0;
    for (int i = 0; i < p->discs; i++) mass += p->disc[i].mass, high = fmax(high, p->disc[i].x[1]);
    return 10.0 * mass * (p->g * high + speed * speed);
}

static void tell(Penalty* p, const pcPenaltyPlan* plan, int shakes)
{
    for (int i = 0; i < p->discs; i++) memcpy(p->centre + 2 * i, p->disc[i].x, sizeof p->disc[i].x);
    plan->shaken(plan->context, shakes, p->centre);
}

static pcStatus play(Penalty* p, const pcPenaltyPlan* plan, pcPenaltyRun* out)
{
    const pcScenePhysics* physics = &p->scene->physics;
    double turns = 6.283185307179586 * physics->shakeFrequency, most = mostEnergy(p, turns * physics->shakeAmplitude);
    int steps = (int)ceil(plan->time / plan->step - 1e-9), shakes = 0;
    out->survived = true;
    for (int i = 0; i < steps && out->survived; i++) {
        double shake = physics->shakeAmplitude * turns * turns * sin(turns * (i + 0.5) * plan->step);
        pcStatus status = moved(p) ? listPairs(p) : PC_OK;
        if (status != PC_OK) return status;
        if (i <= steps / 2) p->overlap = 0.0;
        gatherForces(p, p->g - shake);
        out->survived = advance(p, plan->step) <= most && inside(p);
        out->time = (i + 1) * plan->step;
        int done = (int)floor(out->time * physics->shakeFrequency + 1e-9);
        if (done > shakes && plan->shaken) tell(p, plan, done);
        shakes = done;
    }
    out->overlap = p->overlap / p->least;
    return PC_OK;
}

pcStatus pcPenaltyPlay(const pcScene* scene, const pcPenaltyPlan* plan, pcPenaltyRun* out)
{
    Penalty p = {.scene = scene};
    *out = (pcPenaltyRun){.survived = false};
    if (!(plan->step > 0.0 && plan->time / plan->step < 1e9))
        return pcFail(PC_ERROR_ARGUMENT, "%g s in steps of %g s", plan->time, plan->step);
    pcStatus status = setUp(&p, plan->overlap);
    if (status == PC_OK) status = play(&p, plan, out);
    void* all[] = {p.disc, p.wall, p.pair, p.at, p.centre};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    return status;
}
