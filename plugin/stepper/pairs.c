/* From placed shapes to contacts: candidate pairs, then the events of each. */
#include <string.h>

#include "base/status.h"
#include "stepper/stepper.h"

/* A pair with more events than this keeps the best set of this size: the deepest, and those that hold the support polygon wide. */
#define MOST_EVENTS 64
/* So many bodies in a row may be struck one by the other within one step. */
#define MOST_ROUNDS 8

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

void pcStepPairs(pcStep* step)
{
    int count = step->system->shapeCount, bodies = step->system->bodyCount;
    step->order = orderOf(step, count);
    pcProxy* proxies = pcArenaNew(step->arena, pcProxy, count);
    pcPace* pace = pcArenaNew(step->arena, pcPace, bodies);
    step->pose = pcArenaNew(step->arena, pcPose, count);
    if (!pcArenaGood(step->arena)) return;
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

static pcTouch* addTouch(pcStep* step)
{
    if (step->touches == step->touchCapacity) {
        int capacity = step->touchCapacity > 0 ? 2 * step->touchCapacity : 256;
        pcTouch* wider = pcArenaNew(step->arena, pcTouch, capacity);
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
static pcStatus eventsOf(pcStep* step, const pcPair* pair, pcPairCache* cache, pcEvent* events, int* count)
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

static void addEvent(pcStep* step, const pcPair* pair, const pcEvent* event, const pcSurface* surface)
{
    pcTouch* touch = addTouch(step);
    if (!touch) return; /* the arena remembers */
    *touch = pcTouchOfEvent(event, step->pose + pair->shape2);
    touch->body1 = step->system->shapes[pair->shape1].body, touch->body2 = step->system->shapes[pair->shape2].body;
    touch->shape1 = pair->shape1, touch->shape2 = pair->shape2, touch->surface = *surface;
    step->report.infeasibilityContact = larger(step->report.infeasibilityContact, -event->phi);
    step->report.events++;
}

/* A pair that cannot be measured must not fall through each other unnoticed: the step is refused, unless the callback takes the pair out
 * (because its contacts are given, for example). */
static pcStatus addPair(pcStep* step, const pcPair* pair, pcPairCache* cache)
{
    pcEvent events[MOST_EVENTS];
    pcSurface surface;
    int count = 0;
    bool wanted;
    pcStatus measured = eventsOf(step, pair, cache, events, &count);
    if (measured == PC_OK && count == 0) return PC_OK;
    pcStatus status = surfaceOf(step, pair, &surface, &wanted);
    if (status != PC_OK || !wanted) return status;
    if (measured != PC_OK) return pcFail(measured, "shapes %d and %d: %s", pair->shape1, pair->shape2, pcStatusText(measured));
    for (int i = 0; i < count && i < MOST_EVENTS; i++) addEvent(step, pair, events + i, &surface);
    return PC_OK;
}

pcStatus pcStepEvents(pcStep* step)
{
    int from = 0;
    step->kept = pcArenaNew(step->arena, pcKeptPair, step->pairCount);
    addGiven(step);
    for (int i = 0; step->kept && i < step->pairCount; i++) {
        const pcPair* pair = step->pairs + i;
        step->kept[i] = (pcKeptPair){pair->shape1, pair->shape2, pcHistoryCache(step->last, pair, &from)};
        pcStatus status = addPair(step, pair, &step->kept[i].cache);
        if (status != PC_OK) return status;
    }
    if (pcArenaGood(step->arena)) pcStepSeams(step);
    if (pcArenaGood(step->arena)) pcStepMerge(step);
    return PC_OK;
}
