/*
 * <population>: clones of a model, NAME_clone_0 and on, spread over a region. It is read after everything else of the world, because what
 * is drawn by chance keeps clear of what is there: of other clones by a ball about each, of boxes and planes by their distance.
 *
 *   grid       rows times cols, `step` from one to the next: columns along x, rows along y; its middle at the population's pose
 *   linear-x   from one end of the region in equal ways to before the other, in the middle of its other two directions; likewise y and z
 *   random     drawn by chance; the same seed gives the same world
 *   uniform    evenly spread: the points of a Halton sequence
 *
 * A box has its middle at the population's pose, a cylinder stands on it. The region holds the origins of the clones, not all of their
 * bodies; it may be flat. A clone's own <pose> comes on top. In a world that is <planar> a clone is as wide as it is in the plane.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapters/sdf/reader.h"
#include "base/pose.h"
#include "base/vec.h"

enum { MOST_CLONES = 10000, MOST_TRIES = 2000 };

/* A collision that was there before. */
typedef struct Obstacle {
    pcSceneShape* shape;
    pcPose pose;
    double reach; /* from its origin */
} Obstacle;

typedef struct Population {
    const xmlNode* node;
    xmlNode* model;
    const char* type;
    int count, rows, cols;
    double step[3], low[3], high[3]; /* of the region, or of the box around a cylinder */
    double radius;                   /* of a cylinder; 0: a box */
    pcPose pose;
    double (*done)[4]; /* where the clones are so far, and their radius */
    int obstacles;
    Obstacle* obstacle;
} Population;

/* ---- reading ---- */

static void readRegion(pcSdfReader* r, Population* p)
{
    const xmlNode *box = pcSdfChild(p->node, "box"), *cylinder = pcSdfChild(p->node, "cylinder");
    double size[3] = {0}, length = pcSdfPositive(r, cylinder, "length", 0.0);
    if (!box && !cylinder) pcSdfFail(r, p->node, "<population> needs a region, <box> or <cylinder>");
    pcSdfVector(r, box, "size", size);
    p->radius = box ? 0.0 : pcSdfPositive(r, cylinder, "radius", 0.0);
    if (!box && !(p->radius > 0.0)) pcSdfFail(r, cylinder ? cylinder : p->node, "the region <cylinder> needs a <radius> > 0");
    for (int k = 0; k < 3; k++) {
        if (size[k] < 0.0) pcSdfFail(r, box, "the region has the negative length %g", size[k]);
        p->low[k] = box ? -0.5 * size[k] : k < 2 ? -p->radius : 0.0;
        p->high[k] = box ? 0.5 * size[k] : k < 2 ? p->radius : length;
    }
}

static void readGrid(pcSdfReader* r, const xmlNode* distribution, Population* p)
{
    p->rows = pcSdfInteger(r, distribution, "rows", 1);
    p->cols = pcSdfInteger(r, distribution, "cols", 1);
    pcSdfVector(r, distribution, "step", p->step);
    if (p->rows < 1 || p->cols < 1 || p->rows > MOST_CLONES || p->cols > MOST_CLONES)
        pcSdfFail(r, distribution, "a grid of %d rows and %d columns: both must be 1 to %d", p->rows, p->cols, MOST_CLONES);
    p->count = r->status == PC_OK ? p->rows * p->cols : 0;
}

static void readPopulation(pcSdfReader* r, Population* p)
{
    static const char* const known[] = {"model", "model_count", "pose", "distribution", "box", "cylinder", "frame", NULL};
    static const char* const types[] = {"random", "uniform", "grid", "linear-x", "linear-y", "linear-z"};
    const xmlNode* distribution = pcSdfChild(p->node, "distribution");
    bool good = false;
    p->type = distribution ? pcSdfText(r, pcSdfChild(distribution, "type")) : "random";
    p->pose = pcSdfPose(r, p->node);
    p->model = pcSdfChild(p->node, "model");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) good |= strcmp(p->type, types[i]) == 0;
    if (!good) pcSdfFail(r, distribution, "a <distribution> can be random, uniform, grid or linear-x, -y, -z, not '%.60s'", p->type);
    if (!p->model) pcSdfFail(r, p->node, "<population> needs a <model>");
    if (strcmp(p->type, "grid") == 0) {
        readGrid(r, distribution, p);
    } else {
        p->count = pcSdfInteger(r, p->node, "model_count", 1);
        readRegion(r, p);
    }
    if (p->count < 0 || p->count > MOST_CLONES) pcSdfFail(r, p->node, "%d models: there can be 0 to %d", p->count, MOST_CLONES);
    pcSdfSkip(r, p->node, known);
}

/* ---- how far bodies reach ---- */

static v3 inWorld(const pcPose* pose, v3 point)
{
    pcPose local = {.quaternion = {1, 0, 0, 0}};
    v3Store(local.position, point);
    return v3Load(pcPoseCompose(pose, &local).position);
}

/* What of a way is in the plane that the world is in. */
static v3 inPlane(const pcSdfReader* r, v3 way)
{
    double xyz[3];
    v3Store(xyz, way);
    if (r->scene->physics.planar) xyz[r->scene->physics.planar - 1] = 0.0;
    return v3Load(xyz);
}

static double reach(const pcSdfReader* r, v3 way) { return v3Norm(inPlane(r, way)); }

/* Points whose hull, `around` wider, holds a shape; their number. */
static int cornersOf(const pcSceneShape* s, double corner[8][3], double* around)
{
    bool box = s->kind == PC_SCENE_BOX, round = s->kind == PC_SCENE_CYLINDER || s->kind == PC_SCENE_CAPSULE;
    int count = box ? 8 : round ? 2 : 1;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) corner[i][k] = box ? (i >> k & 1 ? 0.5 : -0.5) * s->size[k] : 0.0;
    if (round) corner[0][2] = -0.5 * s->size[1], corner[1][2] = 0.5 * s->size[1];
    *around = box ? 0.0 : s->kind == PC_SCENE_ELLIPSOID ? larger(s->size[0], larger(s->size[1], s->size[2])) : s->size[0];
    return count;
}

/* The furthest that a shape reaches from a point. */
static double reachOf(const pcSdfReader* r, const pcSceneShape* s, const pcPose* pose, v3 from)
{
    double corner[8][3], around = 0.0, most = 0.0;
    if (s->kind == PC_SCENE_PLANE) return 0.0;
    if (s->kind != PC_SCENE_HULLS) {
        int count = cornersOf(s, corner, &around);
        for (int i = 0; i < count; i++) most = larger(most, reach(r, v3Sub(inWorld(pose, v3Load(corner[i])), from)));
    }
    for (int i = 0; i < s->pieces; i++)
        for (int k = 0; k < s->piece[i].count; k++)
            most = larger(most, reach(r, v3Sub(inWorld(pose, v3Load(s->piece[i].xyz + 3 * k)), from)));
    return most + around;
}

/* At most its distance from a point; of boxes and planes exactly. */
static double distanceOf(const pcSdfReader* r, const Obstacle* o, v3 point)
{
    v3 way = inPlane(r, v3Sub(point, v3Load(o->pose.position)));
    pcPose turn = o->pose;
    memset(turn.position, 0, sizeof turn.position);
    if (o->shape->kind == PC_SCENE_PLANE) return v3Dot(inWorld(&turn, v3Load(o->shape->normal)), way);
    if (o->shape->kind != PC_SCENE_BOX) return v3Norm(way) - o->reach;
    double outside[3];
    for (int k = 0; k < 3; k++) {
        v3 axis = v3Make(k == 0, k == 1, k == 2);
        outside[k] = larger(0.0, fabs(v3Dot(inWorld(&turn, axis), way)) - 0.5 * o->shape->size[k]);
    }
    return v3Norm(v3Load(outside));
}

static void listObstacles(pcSdfReader* r, Population* p)
{
    int count = r->scene->collisions;
    p->obstacle = pcSdfKeep(r, ((size_t)count + 1) * sizeof *p->obstacle);
    for (int i = 0; i < count && r->status == PC_OK; i++) {
        Obstacle* o = p->obstacle + p->obstacles++;
        o->shape = pcSdfKeep(r, sizeof *o->shape);
        if (!o->shape) return;
        *o->shape = r->scene->collision[i].shape;
        o->pose = pcSdfFrameWorld(r, r->collisionFrame[i]);
        o->reach = reachOf(r, o->shape, &o->pose, v3Load(o->pose.position));
    }
}

static bool isFree(pcSdfReader* r, const Population* p, int clone, v3 place, double radius)
{
    for (int i = 0; i < clone; i++, r->distances++)
        if (reach(r, v3Sub(place, v3Load(p->done[i]))) < radius + p->done[i][3]) return false;
    for (int i = 0; i < p->obstacles; i++, r->distances += 100)
        if (distanceOf(r, p->obstacle + i, place) < radius) return false;
    return true;
}

/* ---- places ---- */

/* In [0,1); splitmix64. */
static double chance(pcSdfReader* r)
{
    unsigned long long z = r->random += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* The digits of i in a base, mirrored at the point. */
static double mirrored(int i, int base)
{
    double part = 1.0, sum = 0.0;
    for (; i > 0; i /= base) sum += (part /= base) * (i % base);
    return sum;
}

/* A point of the region; false: of its box, but beside the cylinder. */
static bool drawPlace(pcSdfReader* r, const Population* p, int attempt, double out[3])
{
    static const int base[] = {2, 3, 5};
    bool even = strcmp(p->type, "uniform") == 0;
    for (int k = 0; k < 3; k++) {
        double part = even ? mirrored(attempt + 1, base[k]) : chance(r);
        out[k] = p->low[k] + part * (p->high[k] - p->low[k]);
    }
    return !(p->radius > 0.0) || hypot(out[0], out[1]) <= p->radius;
}

static void regularPlace(const Population* p, int clone, double out[3])
{
    if (strcmp(p->type, "grid") == 0) {
        out[0] = p->step[0] * (clone % p->cols - 0.5 * (p->cols - 1));
        out[1] = p->step[1] * (clone / p->cols - 0.5 * (p->rows - 1));
        out[2] = 0.0;
        return;
    }
    int along = p->type[strlen("linear-")] - 'x';
    for (int k = 0; k < 3; k++) out[k] = 0.5 * (p->low[k] + p->high[k]);
    out[along] = p->low[along] + (p->high[along] - p->low[along]) * clone / p->count;
}

/* Where in the region clone number `clone` goes, which reaches as far as `radius`. */
static void choosePlace(pcSdfReader* r, Population* p, int clone, double radius, int* attempt, double out[3])
{
    bool drawn = strcmp(p->type, "random") == 0 || strcmp(p->type, "uniform") == 0;
    if (!drawn) regularPlace(p, clone, out);
    for (int tries = 0; drawn; tries++) {
        if (tries == MOST_TRIES) {
            pcSdfFail(r, p->node, "no room for model %d of %d: %d places were tried, and each was too near to another body", clone + 1,
                      p->count, MOST_TRIES);
            return;
        }
        if (r->distances > PC_SDF_MOST_DISTANCES) {
            pcSdfFail(r, p->node, "no room for model %d of %d could be found within %d comparisons with other bodies", clone + 1, p->count,
                      PC_SDF_MOST_DISTANCES);
            return;
        }
        if (!drawPlace(r, p, (*attempt)++, out)) continue;
        v3 place = inWorld(&p->pose, v3Load(out));
        if (isFree(r, p, clone, place, radius)) break;
    }
    v3Store(p->done[clone], inWorld(&p->pose, v3Load(out)));
    p->done[clone][3] = radius;
}

/* ---- clones ---- */

/* How far collisions from number `first` on reach from a point. */
static double reachFrom(pcSdfReader* r, int first, v3 from)
{
    double most = 0.0;
    for (int i = first; i < r->scene->collisions && r->status == PC_OK; i++) {
        pcPose pose = pcSdfFrameWorld(r, r->collisionFrame[i]);
        most = larger(most, reachOf(r, &r->scene->collision[i].shape, &pose, from));
    }
    return most;
}

/* A model's pose, given by its place in the region. Its frames have their poses in it, so they stay known. */
static void putModel(pcSdfReader* r, const Population* p, int model, const pcPose* own, const double place[3])
{
    pcPose at = pcSdfIdentity();
    memcpy(at.position, place, sizeof at.position);
    at = pcPoseCompose(&at, own);
    r->frame[model].pose = pcPoseCompose(&p->pose, &at);
    r->frame[model].relative = NULL;
    r->frame[model].state = 0;
}

/* It is read, put into the middle of the region to see how far it reaches, and then to its place. */
static void addClone(pcSdfReader* r, Population* p, int clone, int* attempt)
{
    char number[32];
    double place[3] = {0};
    const char* name = pcSdfAttribute(r, p->model, "name");
    int model = r->frames, first = r->scene->collisions;
    snprintf(number, sizeof number, "_clone_%d", clone);
    pcSdfOverride override = {.name = pcSdfJoin(r, name ? name : "model", "", number)};
    pcSdfModel(r, p->model, 0, false, &override);
    if (r->status != PC_OK) return;
    pcPose own = r->frame[model].pose;
    putModel(r, p, model, &own, place);
    choosePlace(r, p, clone, reachFrom(r, first, v3Load(p->pose.position)), attempt, place);
    if (r->status == PC_OK) putModel(r, p, model, &own, place);
}

static int elementsIn(const xmlNode* node)
{
    int count = 1;
    for (const xmlNode* child = pcSdfFirst(node); child; child = pcSdfFollowing(child)) count += elementsIn(child);
    return count;
}

/* Each clone is read anew. */
static void checkSize(pcSdfReader* r, const Population* p)
{
    r->cloned += (long long)p->count * elementsIn(p->model);
    if (r->cloned > PC_SDF_MOST_CLONED)
        pcSdfFail(r, p->node, "%d clones of this model have more than %d elements", p->count, PC_SDF_MOST_CLONED);
}

void pcSdfPopulation(pcSdfReader* r, const xmlNode* node)
{
    int attempt = 0;
    Population p = {.node = node};
    readPopulation(r, &p);
    if (r->status == PC_OK) checkSize(r, &p);
    if (r->status != PC_OK) return;
    listObstacles(r, &p);
    p.done = pcSdfKeep(r, ((size_t)p.count + 1) * sizeof *p.done);
    for (int i = 0; i < p.count && r->status == PC_OK; i++) addClone(r, &p, i, &attempt);
}
