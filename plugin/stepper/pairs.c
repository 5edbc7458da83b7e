/*
 * From placed shapes to contacts: candidate pairs, then the events of each. Pairs are measured by all threads, a batch at a time; contacts are
 * made of them in their order, so that nothing depends on the number of threads, and the host's callback is called by this thread alone.
 */
#include <string.h>

#include "base/rotation.h"
#include "base/status.h"
#include "shape/shape.h"
#include "stepper/stepper.h"

/* A pair with more events than this keeps the best set of this size: the deepest, and those that hold the support polygon wide. */
#define MOST_EVENTS 64
/* Pairs that are measured before contacts are made of them, where there are several threads; and how many of them are one task. */
#define BATCH 1024
#define AT_ONCE 8
/* So many bodies in a row may be struck one by the other within one step. */
#define MOST_ROUNDS 8

/* Cosine of normals that are one. */
static const double ONE_NORMAL = 1.0 - 1e-9;
/* Normals this near to each other, in length, are those of two faces that lie on each other. */
static const double ONE_FACE = 1e-5;

/* ---- pairs ---- */

static bool moves(const pcStep* step, int body) { return body >= 0 && step->motion[body].moves; }

static pcPace paceOf(const pcMotion* m)
{
    return (pcPace){larger(v3Norm(v3Load(m->velocity)), v3Norm(v3Load(m->free))),
                    larger(v3Norm(v3Load(m->velocity + 3)), v3Norm(v3Load(m->free + 3)))};
}

static void placeShape(pcStep* step, int index, const pcPace* pace, pcProxy* proxy)
{
    const pcPlacedShape* placed = step->system->shapes + index;
    int body = placed->body;
    pcPose* pose = step->pose + index;
    *pose = body >= 0 ? pcPoseCompose(&step->system->bodies[body].pose, &placed->pose) : placed->pose;
    pcAhead ahead = {.h = step->h, .margin = step->settings->margin, .layer = step->settings->layer};
    if (body >= 0) {
        ahead.centreOfMass = step->motion[body].position, ahead.pace = pace[body];
        ahead.velocity = v3Load(step->motion[body].free);
        if (step->settings->flight == PC_FLIGHT_MEAN)
            ahead.beyond = 0.5 * step->h * v3Norm(v3Sub(ahead.velocity, v3Load(step->motion[body].velocity)));
    }
    pcProxyPlace(placed->shape, pose, &ahead, proxy);
    proxy->body = body, proxy->moves = moves(step, body);
    proxy->category = placed->category, proxy->collide = placed->collide;
}

/* What `from` may make of `to` in a collision along the line of their centres: elastic, 2 m1 / (m1 + m2) of its speed; but never more
 * than that speed, or chains of bodies would look further and further. */
static bool strike(const pcStep* step, const pcProxy* from, const pcProxy* to, pcPace* pace)
{
    if (!to->moves || from->body < 0) return false;
    double m1 = step->motion[from->body].mass, m2 = step->motion[to->body].mass;
    double share = from->moves && m1 + m2 > 0.0 ? 2.0 * m1 / (m1 + m2) : 1.0;
    double speed = smaller(share, 1.0) * from->speed;
    if (!(speed > 1.01 * to->speed)) return false;
    pace[to->body].linear = larger(pace[to->body].linear, speed);
    return true;
}

/* A body that is struck within the step goes on to strike others: pairs make their slower body as fast as that; true if one became so. */
static bool sharePace(const pcStep* step, const pcProxy* proxies, pcPace* pace)
{
    bool faster = false;
    for (int i = 0; i < step->pairCount && step->settings->margin == 0.0; i++) {
        const pcProxy *a = proxies + step->pairs[i].shape1, *b = proxies + step->pairs[i].shape2;
        faster |= strike(step, a, b, pace) | strike(step, b, a, pace);
    }
    return faster;
}

/* The order of the last step, if it is of as many shapes. */
static int* orderOf(const pcStep* step, int count)
{
    int* order = pcArenaNew(step->arena, int, count);
    bool known = step->last->shapes == count;
    for (int i = 0; order && i < count; i++) order[i] = known ? step->last->order[i] : i;
    return order;
}

static void countPieces(pcStep* step)
{
    step->fixedPieces = 0;
    for (int i = 0; i < step->system->shapeCount; i++) {
        int body = step->system->shapes[i].body;
        (*(body >= 0 ? step->pieces + body : &step->fixedPieces))++;
    }
}

bool pcStepHasPieces(const pcStep* step, int body1, int body2)
{
    return (body1 >= 0 ? step->pieces[body1] : step->fixedPieces) > 1 || (body2 >= 0 ? step->pieces[body2] : step->fixedPieces) > 1;
}

void pcStepPairs(pcStep* step)
{
    int count = step->system->shapeCount, bodies = step->system->bodyCount;
    step->order = orderOf(step, count);
    pcProxy* proxies = pcArenaNew(step->arena, pcProxy, count);
    pcPace* pace = pcArenaNew(step->arena, pcPace, bodies);
    step->pose = pcArenaNew(step->arena, pcPose, count), step->pieces = pcArenaNew(step->arena, int, bodies);
    if (!pcArenaGood(step->arena)) return;
    countPieces(step);
    for (int i = 0; i < bodies; i++) pace[i] = paceOf(step->motion + i);
    size_t mark = pcArenaMark(step->arena);
    for (int round = 0; round == 0 || (round < MOST_ROUNDS && sharePace(step, proxies, pace)); round++) {
        pcArenaRelease(step->arena, mark);
        for (int i = 0; i < count; i++) placeShape(step, i, pace, proxies + i);
        step->pairCount = pcPairsFind(step->arena, proxies, count, step->order, &step->pairs);
        if (!pcArenaGood(step->arena)) return;
    }
    step->report.pairs = step->pairCount;
}

/* ---- contacts ---- */

/* Room for a few more than in the last step to begin with. */
static pcTouch* addTouch(pcStep* step)
{
    if (step->touches == step->touchCapacity) {
        int capacity = step->touchCapacity > 0 ? 2 * step->touchCapacity : 256 + step->last->touches + step->last->touches / 4;
        pcTouch* wider = pcArenaRaw(step->arena, pcTouch, capacity);
        if (!wider) return NULL;
        if (step->touches > 0) memcpy(wider, step->touch, (size_t)step->touches * sizeof *wider);
        step->touch = wider, step->touchCapacity = capacity;
    }
    return step->touch + step->touches++;
}

static void addGiven(pcStep* step)
{
    for (int i = 0; i < step->system->contactCount; i++) {
        const pcContact* c = step->system->contacts + i;
        pcTouch* touch = addTouch(step);
        if (!touch) return;
        v3 n = v3Load(c->normal);
        *touch = (pcTouch){c->body1, c->body2, -1, -1, -1, c->id, v3Load(c->point), v3Scale(1.0 / v3Norm(n), n), c->gap, c->surface};
    }
}

static pcEventSettings eventSettings(const pcStep* step, double margin)
{
    pcEventSettings s = pcDefaultEventSettings();
    s.margin = margin;
    s.epsX = step->settings->epsX, s.epsT = step->settings->epsT, s.eps0 = step->settings->eps0;
    s.gap = step->settings->narrowphase == PC_NARROW_EUCLID ? PC_GAP_LENGTH : step->settings->gap;
    return s;
}

static unsigned fixedFlags(const pcStep* step, const pcPair* pair)
{
    const pcPlacedShape* shapes = step->system->shapes;
    return (moves(step, shapes[pair->shape1].body) ? 0u : PC_FIXED_1) | (moves(step, shapes[pair->shape2].body) ? 0u : PC_FIXED_2);
}

/* Centres that coincide have no direction: then from a place beside it, so that the two are pushed apart instead of staying so for ever. */
static pcStatus eventsOf(const pcStep* step, const pcPair* pair, pcPairCache* cache, pcEvent* events, int* count)
{
    const pcShape *shape1 = step->system->shapes[pair->shape1].shape, *shape2 = step->system->shapes[pair->shape2].shape;
    pcPose pose1 = step->pose[pair->shape1], pose2 = step->pose[pair->shape2];
    pcEventSettings settings = eventSettings(step, pair->margin);
    unsigned flags = fixedFlags(step, pair);
    pcStatus status = pcEventsOfPair(shape1, &pose1, shape2, &pose2, flags, &settings, cache, events, MOST_EVENTS, count);
    pcShapeInfo info;
    if (status != PC_ERROR_COINCIDENT || pcShapeDescribe(shape1, &info) != PC_OK) return status;
    pose1.position[2] -= 1e-6 * info.inradius;
    return pcEventsOfPair(shape1, &pose1, shape2, &pose2, flags, &settings, cache, events, MOST_EVENTS, count);
}

static pcStatus surfaceOf(pcStep* step, const pcPair* pair, pcSurface* out, bool* wanted)
{
    *out = pcDefaultSurface(step->settings), *wanted = true;
    if (!step->system->surface) return PC_OK;
    *wanted = step->system->surface(step->system->surfaceContext, pair->shape1, pair->shape2, out) != 0;
    return *wanted ? pcSurfaceCheck(out, "pair with shape", pair->shape2) : PC_OK;
}

/* A shape in the world. */
typedef struct Placed {
    const pcShape* shape;
    m3 R;
    v3 centre;
} Placed;

static Placed placedOf(const pcStep* step, int index)
{
    const pcPose* pose = step->pose + index;
    Placed p = {.shape = step->system->shapes[index].shape};
    m3FromQuaternion(v4Load(pose->quaternion), &p.R);
    p.centre = v3Add(v3Load(pose->position), m3Mul(&p.R, p.shape->centre));
    return p;
}

/* n.c - h1 - h2: how far apart the two are along n, in the world. */
static double apartAlong(const Placed* placed, v3 n)
{
    double apart = 0.0;
    for (int i = 0; i < 2; i++) {
        v3 outwards = i == 0 ? n : v3Neg(n);
        apart -= v3Dot(outwards, placed[i].centre) + pcTipOf(placed[i].shape, m3TMul(&placed[i].R, outwards)).value;
    }
    return apart;
}

static bool hasTips(const pcStep* step, int shape)
{
    const pcShape* s = step->system->shapes[shape].shape;
    return !s->unbounded && !s->triangles;
}

static bool haveOneNormal(const pcEvent* events, int count)
{
    for (int i = 1; i < count; i++)
        if (v3Dot(v3Load(events[i].normal), v3Load(events[0].normal)) < ONE_NORMAL) return false;
    return true;
}

/* Bodies are apart if they are so along one direction, but rows ask for all of them at once. Where a corner comes to the end of the face that it
 * slides on, the edge there comes near the corner's own other face, and its row would stop the body although along that face's normal
 * the two overlap by far. Nothing moves farther than the margin within the step: an event that is still apart, and whose normal is twice that
 * worse than the best one, is not what keeps them apart in the end. Returns how many are left. */
static int dropBlocked(const pcStep* step, const pcPair* pair, pcEvent* events, int count)
{
    double apart[MOST_EVENTS], best = -HUGE_VAL;
    int left = 0;
    if (step->settings->gap != PC_GAP_LENGTH || step->settings->margin > 0.0 || haveOneNormal(events, count)) return count;
    if (!hasTips(step, pair->shape1) || !hasTips(step, pair->shape2)) return count;
    const Placed placed[2] = {placedOf(step, pair->shape1), placedOf(step, pair->shape2)};
    for (int i = 0; i < count; i++) {
        bool again = i > 0 && memcmp(events[i].normal, events[i - 1].normal, sizeof events[i].normal) == 0;
        apart[i] = again ? apart[i - 1] : apartAlong(placed, v3Load(events[i].normal));
        best = larger(best, apart[i]);
    }
    for (int i = 0; i < count; i++)
        if (events[i].gap <= 0.0 || apart[i] >= best - 2.0 * pair->margin) events[left++] = events[i];
    return left;
}

/* Events are the corners of one contact region (T 3.4). Of two faces that lie on each other, corners of either have the other's normal, and crossing
 * edges one of their own. As directions of one and the same region they all but contradict each other, by as much as the faces are from parallel: rows of a net that can only hold if
 * contacts slip by 1e-9 of a velocity here and let go there. With the first one's normal for all of them nothing is left to contradict, and a
 * patch sticks, or slides, as one. */
static v3 normalOf(const pcEvent* events, int index)
{
    v3 own = v3Load(events[index].normal);
    for (int i = 0; i < index; i++)
        if (v3Max(v3Sub(v3Load(events[i].normal), own)) <= ONE_FACE) return v3Load(events[i].normal);
    return own;
}

static void addEvent(pcStep* step, const pcPair* pair, const pcEvent* event, v3 normal, const pcSurface* surface)
{
    pcTouch* touch = addTouch(step);
    if (!touch) return; /* the arena remembers */
    *touch = pcTouchOfEvent(event, step->pose + pair->shape2), touch->normal = normal;
    touch->body1 = step->system->shapes[pair->shape1].body, touch->body2 = step->system->shapes[pair->shape2].body;
    touch->shape1 = pair->shape1, touch->shape2 = pair->shape2, touch->surface = *surface;
    step->report.infeasibilityContact = larger(step->report.infeasibilityContact, -event->phi);
    step->report.events++;
}

typedef struct Measured {
    pcStatus status;
    bool known;
    int count;
    pcEvent events[MOST_EVENTS];
} Measured;

static void measurePair(const pcStep* step, int index, Measured* m)
{
    const pcPair* pair = step->pairs + index;
    if (m->known) return;
    m->count = 0, m->status = eventsOf(step, pair, &step->kept[index].cache, m->events, &m->count);
    if (m->status == PC_OK) m->count = dropBlocked(step, pair, m->events, m->count < MOST_EVENTS ? m->count : MOST_EVENTS);
}

/* A pair that cannot be measured must not fall through each other unnoticed: the step is refused, unless the callback takes the pair out
 * (because its contacts are given, for example). */
static pcStatus addPair(pcStep* step, const pcPair* pair, const Measured* m)
{
    pcSurface surface;
    bool wanted;
    if (m->status == PC_OK && m->count == 0) return PC_OK;
    pcStatus status = surfaceOf(step, pair, &surface, &wanted);
    if (status != PC_OK || !wanted) return status;
    if (m->status != PC_OK) return pcFail(m->status, "shapes %d and %d: %s", pair->shape1, pair->shape2, pcStatusText(m->status));
    for (int i = 0; i < m->count; i++) addEvent(step, pair, m->events + i, normalOf(m->events, i), &surface);
    return PC_OK;
}

/* ---- batches ---- */

typedef struct Batch {
    const pcStep* step;
    Measured* measured;
    int first, count;
} Batch;

/* A support function is the host's, who was not promised to be asked by several threads. */
static bool isOurs(const pcStep* step, int shape) { return step->system->shapes[shape].shape->kind != PC_SHAPE_SUPPORT; }

static void measureSome(void* context, int task, int worker)
{
    Batch* batch = context;
    (void)worker;
    for (int i = AT_ONCE * task; i < AT_ONCE * (task + 1) && i < batch->count; i++) {
        const pcPair* pair = batch->step->pairs + batch->first + i;
        if (!isOurs(batch->step, pair->shape1) || !isOurs(batch->step, pair->shape2)) continue;
        measurePair(batch->step, batch->first + i, batch->measured + i);
        batch->measured[i].known = true;
    }
}

static pcStatus addBatch(pcStep* step, Batch* batch)
{
    pcStatus status = PC_OK;
    for (int i = 0; i < batch->count; i++) batch->measured[i].known = false;
    if (batch->count > AT_ONCE)
        pcPoolRun(step->memory->pool, step->threads, false, measureSome, batch, (batch->count + AT_ONCE - 1) / AT_ONCE);
    for (int i = 0; i < batch->count && status == PC_OK; i++) {
        measurePair(step, batch->first + i, batch->measured + i);
        status = addPair(step, step->pairs + batch->first + i, batch->measured + i);
    }
    return status;
}

pcStatus pcStepEvents(pcStep* step)
{
    int from = 0, most = step->threads > 1 && step->pairCount > 2 * AT_ONCE ? BATCH : 1;
    Batch batch = {.step = step, .measured = pcArenaRaw(step->arena, Measured, most)};
    step->kept = pcArenaRaw(step->arena, pcKeptPair, step->pairCount);
    addGiven(step);
    if (!pcArenaGood(step->arena)) return PC_OK; /* the arena remembers */
    for (int i = 0; i < step->pairCount; i++)
        step->kept[i] = (pcKeptPair){step->pairs[i].shape1, step->pairs[i].shape2, pcHistoryCache(step->last, step->pairs + i, &from)};
    for (batch.first = 0; batch.first < step->pairCount; batch.first += most) {
        batch.count = step->pairCount - batch.first < most ? step->pairCount - batch.first : most;
        pcStatus status = addBatch(step, &batch);
        if (status != PC_OK) return status;
    }
    if (pcArenaGood(step->arena)) pcStepSeams(step);
    if (pcArenaGood(step->arena)) pcStepMerge(step);
    return PC_OK;
}
