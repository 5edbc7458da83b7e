/* Sort and sweep along the axis where the shapes are spread widest; half-spaces and containers, which have no box, against all others. */
#include "broadphase/broadphase.h"

#include <string.h>

#include "base/rotation.h"
#include "base/sort.h"
#include "shape/shape.h"

static const double RELATIVE_AHEAD = 1e-3; /* of the size; Broadphase.ContactsAtRestPersist fails without it */

/* ---- boxes ---- */

/* How far the shape reaches from its centre along a unit direction in its own axes. */
static double supportAlong(const pcShape* s, v3 direction)
{
    if (s->kind == PC_SHAPE_BOX || s->kind == PC_SHAPE_MESH) return fabs(direction.x) * s->half.x + fabs(direction.y) * s->half.y + fabs(direction.z) * s->half.z;
    return pcTipOf(s, direction).value;
}

static void placeBox(const pcShape* s, const m3* R, pcProxy* out)
{
    v3 axis[3] = {v3OfLanes(R->row[0]), v3OfLanes(R->row[1]), v3OfLanes(R->row[2])}; /* the world's axes seen by the shape */
    double up[3], down[3];
    for (int i = 0; i < 3; i++) up[i] = supportAlong(s, axis[i]), down[i] = supportAlong(s, v3Neg(axis[i]));
    double wide = out->ahead + 8.0 * PC_ROUND * (v3Size(out->at) + s->outradius);
    out->low = v3Make(out->at.x - down[0] - wide, out->at.y - down[1] - wide, out->at.z - down[2] - wide);
    out->high = v3Make(out->at.x + up[0] + wide, out->at.y + up[1] + wide, out->at.z + up[2] + wide);
}

static void placePlane(const pcShape* s, const m3* R, const pcPose* pose, pcProxy* out)
{
    out->at = v3Load(pose->position);
    if (s->kind == PC_SHAPE_CONTAINER) return;
    out->normal = m3Mul(R, s->planeNormal);
    out->offset = s->planeOffset + v3Dot(out->normal, out->at);
}

void pcProxyPlace(const pcShape* shape, const pcPose* pose, const pcAhead* ahead, pcProxy* out)
{
    m3 R;
    m3FromQuaternion(v4Load(pose->quaternion), &R);
    out->unbounded = shape->unbounded, out->radius = shape->kind == PC_SHAPE_CONTAINER ? shape->radius : 0.0;
    double size = out->unbounded ? 0.0 : shape->outradius;
    out->at = v3Add(v3Load(pose->position), m3Mul(&R, shape->centre));
    double reach = out->unbounded ? 0.0 : v3Norm(v3Sub(out->at, ahead->centreOfMass)) + size;
    out->speed = ahead->pace.linear + ahead->pace.angular * reach;
    double h = ahead->margin > 0.0 ? 0.0 : ahead->h; /* a named margin is all there is */
    double look = shape->kind == PC_SHAPE_MESH ? 0.0 : RELATIVE_AHEAD * size; /* a landscape looks no further than what lies on it */
    out->fixed = 0.5 * ahead->layer + (ahead->margin > 0.0 ? 0.5 * ahead->margin : look);
    out->linear = h * ahead->pace.linear, out->spin = h * ahead->pace.angular * reach;
    out->step = v3Scale(h, ahead->velocity);
    out->ahead = out->fixed + out->linear + out->spin;
    out->turn = h * ahead->pace.angular;
    if (out->unbounded)
        placePlane(shape, &R, pose, out);
    else
        placeBox(shape, &R, out);
}

/* ---- pairs ---- */

static bool mayCollide(const pcProxy* a, const pcProxy* b)
{
    if ((a->body == b->body && a->body >= 0) || (!a->moves && !b->moves) || (a->unbounded && b->unbounded)) return false;
    bool any = (a->category | a->collide) == 0 || (b->category | b->collide) == 0;
    return any || (a->category & b->collide) != 0 || (b->category & a->collide) != 0;
}

static double marginOf(const pcProxy* a, const pcProxy* b)
{
    const pcProxy *plane = a->unbounded ? a : b, *other = a->unbounded ? b : a;
    double turned = plane->unbounded ? plane->turn * (v3Norm(v3Sub(other->at, plane->at)) + v3Norm(v3Sub(other->high, other->low))) : 0.0;
    double approach = larger(v3Norm(v3Sub(a->step, b->step)), larger(a->linear, b->linear));
    return approach + a->spin + b->spin + a->fixed + b->fixed + turned;
}

/* The lowest corner of the box over the plane. */
static bool reachesPlane(const pcProxy* box, const pcProxy* plane)
{
    v3 n = plane->normal;
    v3 corner = {n.x > 0.0 ? box->low.x : box->high.x, n.y > 0.0 ? box->low.y : box->high.y, n.z > 0.0 ? box->low.z : box->high.z};
    double slop = 8.0 * PC_ROUND * (v3Size(corner) + fabs(plane->offset));
    return v3Dot(n, corner) <= plane->offset + marginOf(box, plane) + slop;
}

/* The farthest corner of the box from the middle of the container. */
static bool reachesWall(const pcProxy* box, const pcProxy* container)
{
    v3 low = v3Sub(box->low, container->at), high = v3Sub(box->high, container->at);
    v3 corner = {larger(-low.x, high.x), larger(-low.y, high.y), larger(-low.z, high.z)};
    return v3Norm(corner) * (1.0 + 8.0 * PC_ROUND) >= container->radius - marginOf(box, container);
}

static bool reaches(const pcProxy* box, const pcProxy* solid)
{
    return solid->radius > 0.0 ? reachesWall(box, solid) : reachesPlane(box, solid);
}

static bool boxesMeet(const pcProxy* a, const pcProxy* b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y && a->low.z <= b->high.z &&
           b->low.z <= a->high.z;
}

bool pcProxiesMeet(const pcProxy* a, const pcProxy* b)
{
    if (!mayCollide(a, b)) return false;
    if (a->unbounded) return reaches(b, a);
    return b->unbounded ? reaches(a, b) : boxesMeet(a, b);
}

/* ---- sweep ---- */

typedef struct PairList {
    pcArena* arena;
    pcKeyed* pair; /* key: shape1, shape2 */
    int count, capacity;
} PairList;

static void addPair(PairList* list, int a, int b)
{
    if (list->count == list->capacity) {
        int capacity = list->capacity > 0 ? 2 * list->capacity : 256;
        pcKeyed* wider = pcArenaNew(list->arena, pcKeyed, capacity);
        if (!wider) return;
        if (list->count > 0) memcpy(wider, list->pair, (size_t)list->count * sizeof *wider);
        list->pair = wider, list->capacity = capacity;
    }
    uint64_t first = (uint64_t)(a < b ? a : b), second = (uint64_t)(a < b ? b : a);
    list->pair[list->count++] = (pcKeyed){.key = first << 32 | second};
}

static double along(v3 a, int axis) { return axis == 0 ? a.x : axis == 1 ? a.y : a.z; }

/* The axes along which the centres vary most, and second most. */
static void widestAxes(const pcProxy* proxies, int count, int axis[2])
{
    v3 sum = {0, 0, 0}, square = {0, 0, 0};
    int boxes = 0;
    for (int i = 0; i < count; i++) {
        if (proxies[i].unbounded) continue;
        v3 p = v3Scale(0.5, v3Add(proxies[i].low, proxies[i].high));
        sum = v3Add(sum, p), square = v3Add(square, v3Make(p.x * p.x, p.y * p.y, p.z * p.z)), boxes++;
    }
    double n = boxes > 0 ? boxes : 1;
    double varies[3] = {square.x - sum.x * sum.x / n, square.y - sum.y * sum.y / n, square.z - sum.z * sum.z / n};
    axis[0] = varies[0] >= varies[1] && varies[0] >= varies[2] ? 0 : varies[1] >= varies[2] ? 1 : 2;
    int next = (axis[0] + 1) % 3, other = (axis[0] + 2) % 3;
    axis[1] = varies[next] >= varies[other] ? next : other;
}

/* The boxes by their lower end; returns how many shapes have one. */
static int sortBoxes(pcArena* arena, const pcProxy* proxies, int count, int axis, int* order, pcKeyed** out)
{
    pcKeyed *sorted = pcArenaNew(arena, pcKeyed, count), *room = pcArenaNew(arena, pcKeyed, count);
    int boxes = 0, planes = 0;
    if (!pcArenaGood(arena)) return 0;
    for (int i = 0; i < count; i++)
        if (!proxies[order[i]].unbounded) sorted[boxes++] = (pcKeyed){pcKeyOfNumber(along(proxies[order[i]].low, axis)), order[i]};
    pcSortKeyed(sorted, boxes, room);
    for (int i = 0; i < boxes; i++) order[i] = sorted[i].index;
    for (int i = 0; i < count; i++)
        if (proxies[i].unbounded) order[boxes + planes++] = i;
    *out = sorted;
    return boxes;
}

/* ---- strips ----
 * In three dimensions, many boxes share every place along one axis. So they are also dealt into strips along the axis where they vary second
 * most, and each strip is swept by itself. A pair that shares several strips counts in the first of these. */

enum { MOST_STRIPS = 256, MOST_COPIES = 16 }; /* copies of a box, on average; with more, there is one strip */

/* What the sweep reads of a box, close together. */
typedef struct Slab {
    v3 low, high;
    int index, first, last; /* of its proxy; of its strips */
} Slab;

typedef struct Strips {
    int count;
    double from, width;
} Strips;

static Strips stripsOf(const Slab* slabs, int boxes, int axis)
{
    double low = HUGE_VAL, high = -HUGE_VAL, extent = 0.0;
    for (int i = 0; i < boxes; i++) {
        low = smaller(low, along(slabs[i].low, axis)), high = larger(high, along(slabs[i].high, axis));
        extent += along(slabs[i].high, axis) - along(slabs[i].low, axis);
    }
    double width = boxes > 0 ? 2.0 * extent / boxes : 0.0, count = (high - low) / width;
    if (!(count >= 4.0 && count < HUGE_VAL)) return (Strips){1, 0.0, 1.0};
    return count <= MOST_STRIPS ? (Strips){(int)count, low, width} : (Strips){MOST_STRIPS, low, (high - low) / MOST_STRIPS};
}

static int stripAt(const Strips* strips, double x)
{
    double at = (x - strips->from) / strips->width;
    return !(at > 0.0) ? 0 : at < strips->count - 1 ? (int)at : strips->count - 1;
}

/* How many places in strips the boxes take. */
static long long dealStrips(const Strips* strips, int axis, Slab* slabs, int boxes)
{
    long long places = 0;
    for (int i = 0; i < boxes; i++) {
        slabs[i].first = stripAt(strips, along(slabs[i].low, axis)), slabs[i].last = stripAt(strips, along(slabs[i].high, axis));
        places += slabs[i].last - slabs[i].first + 1;
    }
    return places;
}

static bool slabsMeet(const Slab* a, const Slab* b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y && a->low.z <= b->high.z &&
           b->low.z <= a->high.z;
}

static void sweepStrip(const pcProxy* proxies, const Slab* slabs, const int* member, int count, int strip, int axis, PairList* list)
{
    for (int i = 0; i < count; i++) {
        const Slab* a = slabs + member[i];
        double end = along(a->high, axis);
        for (int k = i + 1; k < count && along(slabs[member[k]].low, axis) <= end; k++) {
            const Slab* b = slabs + member[k];
            if (!slabsMeet(a, b) || strip != (a->first > b->first ? a->first : b->first)) continue;
            if (mayCollide(proxies + a->index, proxies + b->index)) addPair(list, a->index, b->index);
        }
    }
}

static void sweep(const pcProxy* proxies, const pcKeyed* sorted, int boxes, const int axis[2], PairList* list)
{
    Slab* slabs = pcArenaRaw(list->arena, Slab, boxes);
    if (!slabs) return;
    for (int i = 0; i < boxes; i++) slabs[i] = (Slab){proxies[sorted[i].index].low, proxies[sorted[i].index].high, sorted[i].index, 0, 0};
    Strips strips = stripsOf(slabs, boxes, axis[1]);
    long long places = dealStrips(&strips, axis[1], slabs, boxes);
    if (places > (long long)MOST_COPIES * boxes) strips = (Strips){1, 0.0, 1.0}, places = dealStrips(&strips, axis[1], slabs, boxes);
    int *start = pcArenaNew(list->arena, int, strips.count + 2), *member = pcArenaRaw(list->arena, int, places);
    if (!pcArenaGood(list->arena)) return;
    for (int i = 0; i < boxes; i++)
        for (int k = slabs[i].first; k <= slabs[i].last; k++) start[k + 2]++;
    for (int k = 0; k < strips.count; k++) start[k + 2] += start[k + 1];
    for (int i = 0; i < boxes; i++)
        for (int k = slabs[i].first; k <= slabs[i].last; k++) member[start[k + 1]++] = i;
    for (int k = 0; k < strips.count; k++) sweepStrip(proxies, slabs, member + start[k], start[k + 1] - start[k], k, axis[0], list);
}

static void sweepPlane(const pcProxy* proxies, const int* order, int boxes, int plane, PairList* list)
{
    for (int i = 0; i < boxes; i++)
        if (pcProxiesMeet(proxies + order[i], proxies + plane)) addPair(list, order[i], plane);
}

int pcPairsFind(pcArena* arena, const pcProxy* proxies, int count, int* order, pcPair** out)
{
    PairList list = {.arena = arena};
    pcKeyed* sorted = NULL;
    int axis[2];
    widestAxes(proxies, count, axis);
    int boxes = sortBoxes(arena, proxies, count, axis[0], order, &sorted);
    sweep(proxies, sorted, boxes, axis, &list);
    for (int i = boxes; i < count; i++) sweepPlane(proxies, order, boxes, order[i], &list);
    pcKeyed* room = pcArenaNew(arena, pcKeyed, list.count);
    pcPair* pairs = pcArenaNew(arena, pcPair, list.count);
    if (!pcArenaGood(arena)) return 0;
    pcSortKeyed(list.pair, list.count, room);
    for (int i = 0; i < list.count; i++) {
        int a = (int)(list.pair[i].key >> 32), b = (int)(list.pair[i].key & 0xffffffffu);
        pairs[i] = (pcPair){a, b, marginOf(proxies + a, proxies + b)};
    }
    *out = pairs;
    return list.count;
}
