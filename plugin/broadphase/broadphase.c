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

static bool areWanted(unsigned category1, unsigned collide1, unsigned category2, unsigned collide2)
{
    bool any = (category1 | collide1) == 0 || (category2 | collide2) == 0;
    return any || (category1 & collide2) != 0 || (category2 & collide1) != 0;
}

static bool mayCollide(const pcProxy* a, const pcProxy* b)
{
    if ((a->body == b->body && a->body >= 0) || (!a->moves && !b->moves) || (a->unbounded && b->unbounded)) return false;
    return areWanted(a->category, a->collide, b->category, b->collide);
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
    if (plane->turn == 0.0 && v3Dot(n, corner) > plane->offset + box->ahead + plane->ahead + slop)
        return false; /* marginOf is at most that */
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
    int (*pair)[2]; /* the smaller shape first */
    int count, capacity;
} PairList;

static void addPair(PairList* list, int a, int b)
{
    if (list->count == list->capacity) {
        int capacity = list->capacity > 0 ? 2 * list->capacity : 256,
            (*wider)[2] = pcArenaTake(list->arena, (size_t)capacity, sizeof *wider);
        if (!wider) return;
        if (list->count > 0) memcpy(wider, list->pair, (size_t)list->count * sizeof *wider);
        list->pair = wider, list->capacity = capacity;
    }
    list->pair[list->count][0] = a < b ? a : b, list->pair[list->count++][1] = a < b ? b : a;
}

static double along(v3 a, int axis) { return axis == 0 ? a.x : axis == 1 ? a.y : a.z; }

/* The axes, those first along which the centres vary more. */
static void widestAxes(const pcProxy* proxies, int count, int axis[3])
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
    axis[1] = varies[next] >= varies[other] ? next : other, axis[2] = 3 - axis[0] - axis[1];
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

/* ---- columns ----
 * In three dimensions, many boxes share every place along one axis. So they are also dealt into columns: strips along the axis where they vary
 * second most, crossed with strips along the third. Each column is swept by itself. A pair that shares several columns counts in the first
 * of these. */

enum { MOST_STRIPS = 128, MOST_COPIES = 16 }; /* along an axis; copies of a box, on average: with more, there are no strips along an axis */

/* What the sweep reads of a box, close together; its ends along the axes in their order, that of the sweep first. */
typedef struct Slab {
    double low[3], high[3];
    int index, body;         /* of its proxy; that of its body */
    short first[2], last[2]; /* of its strips */
    unsigned category, collide;
    bool moves;
} Slab;

static Slab slabOf(const pcProxy* proxies, int index, const int axis[3])
{
    const pcProxy* p = proxies + index;
    Slab s = {.index = index, .body = p->body, .category = p->category, .collide = p->collide, .moves = p->moves};
    for (int k = 0; k < 3; k++) s.low[k] = along(p->low, axis[k]), s.high[k] = along(p->high, axis[k]);
    return s;
}

typedef struct Strips {
    int axis, count; /* axis: 1 or 2, in the order of the slabs */
    double from, width;
} Strips;

static Strips oneStrip(int axis) { return (Strips){axis, 1, 0.0, 1.0}; }

static Strips stripsOf(const Slab* slabs, int boxes, int axis)
{
    double low = HUGE_VAL, high = -HUGE_VAL, extent = 0.0;
    for (int i = 0; i < boxes; i++) {
        low = smaller(low, slabs[i].low[axis]), high = larger(high, slabs[i].high[axis]);
        extent += slabs[i].high[axis] - slabs[i].low[axis];
    }
    double width = boxes > 0 ? 1.5 * extent / boxes : 0.0, count = (high - low) / width, most = smaller(MOST_STRIPS, boxes / 8);
    if (!(count >= 4.0 && count < HUGE_VAL && most >= 4.0)) return oneStrip(axis);
    return count <= most ? (Strips){axis, (int)count, low, width} : (Strips){axis, (int)most, low, (high - low) / (int)most};
}

static short stripAt(const Strips* strips, double x)
{
    double at = (x - strips->from) / strips->width;
    return (short)(!(at > 0.0) ? 0 : at < strips->count - 1 ? (int)at : strips->count - 1);
}

/* How many places in columns the boxes take. */
static long long dealColumns(const Strips strips[2], Slab* slabs, int boxes)
{
    long long places = 0;
    for (int i = 0; i < boxes; i++) {
        Slab* s = slabs + i;
        for (int k = 0; k < 2; k++) {
            s->first[k] = stripAt(strips + k, s->low[strips[k].axis]);
            s->last[k] = stripAt(strips + k, s->high[strips[k].axis]);
        }
        places += (long long)(s->last[0] - s->first[0] + 1) * (s->last[1] - s->first[1] + 1);
    }
    return places;
}

/* Of two that meet along the axis of the sweep. */
static bool slabsMeet(const Slab* a, const Slab* b)
{
    return a->low[1] <= b->high[1] && b->low[1] <= a->high[1] && a->low[2] <= b->high[2] && b->low[2] <= a->high[2];
}

static bool isFirstOf(const Slab* a, const Slab* b, int k, int strip)
{
    return strip == (a->first[k] > b->first[k] ? a->first[k] : b->first[k]);
}

/* Its boxes by their lower end, copied one behind the other: a sweep that follows indices waits for memory. */
typedef struct Column {
    int place[2], count;
    const Slab* member;
} Column;

static void sweepColumn(const Column* column, PairList* list)
{
    const Slab *end = column->member + column->count, *a, *b;
    for (a = column->member; a < end; a++) {
        double reach = a->high[0];
        for (b = a + 1; b < end && b->low[0] <= reach; b++) {
            if (!slabsMeet(a, b) || !isFirstOf(a, b, 0, column->place[0]) || !isFirstOf(a, b, 1, column->place[1])) continue;
            if ((a->moves || b->moves) && (a->body != b->body || a->body < 0) &&
                areWanted(a->category, a->collide, b->category, b->collide))
                addPair(list, a->index, b->index);
        }
    }
}

/* Members of all columns, one column after the other, by a counting sort: start[k] .. start[k + 1] - 1 of column k. */
static void fillColumns(const Strips strips[2], const Slab* slabs, int boxes, int* start, Slab* member)
{
    int columns = strips[0].count * strips[1].count;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < boxes; i++)
            for (int k = slabs[i].first[0]; k <= slabs[i].last[0]; k++)
                for (int m = slabs[i].first[1]; m <= slabs[i].last[1]; m++) {
                    int column = k * strips[1].count + m;
                    if (pass)
                        member[start[column + 1]++] = slabs[i];
                    else
                        start[column + 2]++;
                }
        for (int k = 0; pass == 0 && k < columns; k++) start[k + 2] += start[k + 1];
    }
}

static void sweep(const pcProxy* proxies, const pcKeyed* sorted, int boxes, const int axis[3], PairList* list)
{
    Slab* slabs = pcArenaRaw(list->arena, Slab, boxes);
    if (!slabs) return;
    for (int i = 0; i < boxes; i++) slabs[i] = slabOf(proxies, sorted[i].index, axis);
    Strips strips[2] = {stripsOf(slabs, boxes, 1), stripsOf(slabs, boxes, 2)};
    long long places = dealColumns(strips, slabs, boxes);
    for (int k = 1; k >= 0 && places > (long long)MOST_COPIES * boxes; k--)
        strips[k] = oneStrip(1 + k), places = dealColumns(strips, slabs, boxes);
    int columns = strips[0].count * strips[1].count;
    int* start = pcArenaNew(list->arena, int, columns + 2);
    Slab* member = pcArenaRaw(list->arena, Slab, places);
    if (!pcArenaGood(list->arena)) return;
    fillColumns(strips, slabs, boxes, start, member);
    for (int k = 0; k < columns; k++) {
        const Column column = {{k / strips[1].count, k % strips[1].count}, start[k + 1] - start[k], member + start[k]};
        sweepColumn(&column, list);
    }
}

static void sweepPlane(const pcProxy* proxies, const int* order, int boxes, int plane, PairList* list)
{
    for (int i = 0; i < boxes; i++)
        if (pcProxiesMeet(proxies + order[i], proxies + plane)) addPair(list, order[i], plane);
}

/* By shape1 (counting), then by shape2: few pairs have the same shape1. */
static pcPair* orderPairs(const PairList* list, const pcProxy* proxies, int count)
{
    int* start = pcArenaNew(list->arena, int, count + 1);
    pcPair* pairs = pcArenaNew(list->arena, pcPair, list->count); /* zeroed: no shape1 but 0 */
    if (!pcArenaGood(list->arena)) return NULL;
    for (int i = 0; i < list->count; i++) start[list->pair[i][0] + 1]++;
    for (int i = 0; i < count; i++) start[i + 1] += start[i];
    for (int i = 0; i < list->count; i++) {
        int a = list->pair[i][0], b = list->pair[i][1], at = start[a]++;
        for (; at > 0 && pairs[at - 1].shape1 == a && pairs[at - 1].shape2 > b; at--) pairs[at] = pairs[at - 1];
        pairs[at] = (pcPair){a, b, marginOf(proxies + a, proxies + b)};
    }
    return pairs;
}

int pcPairsFind(pcArena* arena, const pcProxy* proxies, int count, int* order, pcPair** out)
{
    PairList list = {.arena = arena};
    pcKeyed* sorted = NULL;
    int axis[3];
    widestAxes(proxies, count, axis);
    int boxes = sortBoxes(arena, proxies, count, axis[0], order, &sorted);
    sweep(proxies, sorted, boxes, axis, &list);
    for (int i = boxes; i < count; i++) sweepPlane(proxies, order, boxes, order[i], &list);
    pcPair* pairs = orderPairs(&list, proxies, count);
    if (!pairs) return 0;
    *out = pairs;
    return list.count;
}
