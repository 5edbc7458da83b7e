/* Boxes by sort and sweep; half-spaces and containers, which have no box, against all others. */
#include "broadphase/broadphase.h"

#include "base/rotation.h"
#include "broadphase/sweep.h"
#include "shape/shape.h"

static const double RELATIVE_AHEAD = 1e-3; /* of the size; Broadphase.ContactsAtRestPersist fails without it */

/* ---- boxes ---- */

/* How far the shape reaches from its centre along an axis of the world, and against it; `axis` in the shape's own axes. */
static void reachAlong(const pcShape* s, v3 axis, double* up, double* down)
{
    if (s->kind == PC_SHAPE_BOX || s->kind == PC_SHAPE_MESH)
        *up = *down = fabs(axis.x) * s->half.x + fabs(axis.y) * s->half.y + fabs(axis.z) * s->half.z;
    else
        *up = pcTipOf(s, axis).value, *down = pcTipOf(s, v3Neg(axis)).value;
}

static void placeBox(const pcShape* s, const m3* R, pcProxy* out)
{
    double up[3], down[3];
    for (int i = 0; i < 3; i++) reachAlong(s, v3OfLanes(R->row[i]), up + i, down + i);
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
    double h = ahead->margin > 0.0 ? 0.0 : ahead->h;                             /* a named margin is all there is */
    double further = shape->kind == PC_SHAPE_MESH ? 0.0 : RELATIVE_AHEAD * size; /* a landscape looks no further than what lies on it */
    out->look = (pcLook){.step = v3Scale(h, ahead->velocity),
                         .linear = h * ahead->pace.linear,
                         .spin = h * ahead->pace.angular * reach,
                         .fixed = 0.5 * ahead->layer + (ahead->margin > 0.0 ? 0.5 * ahead->margin : further + ahead->beyond),
                         .turn = out->unbounded ? h * ahead->pace.angular : 0.0};
    out->ahead = out->look.fixed + out->look.linear + out->look.spin;
    if (out->unbounded)
        placePlane(shape, &R, pose, out);
    else
        placeBox(shape, &R, out);
}

/* ---- pairs ---- */

static bool mayCollide(const pcProxy* a, const pcProxy* b)
{
    if ((a->body == b->body && a->body >= 0) || (!a->moves && !b->moves) || (a->unbounded && b->unbounded)) return false;
    return pcAreWanted(a->category, a->collide, b->category, b->collide);
}

/* What is seen of the motion alone; the rest is of unbounded bodies that turn. */
PC_INLINE double marginOfLooks(const pcLook* a, const pcLook* b)
{
    double approach = larger(v3Norm(v3Sub(a->step, b->step)), larger(a->linear, b->linear));
    return approach + a->spin + b->spin + a->fixed + b->fixed;
}

static double marginOf(const pcProxy* a, const pcProxy* b)
{
    const pcProxy *plane = a->unbounded ? a : b, *other = a->unbounded ? b : a;
    double turned = plane->look.turn * (v3Norm(v3Sub(other->at, plane->at)) + v3Norm(v3Sub(other->high, other->low)));
    return marginOfLooks(&a->look, &b->look) + turned;
}

/* The lowest corner of the box over the plane. */
static bool reachesPlane(const pcProxy* box, const pcProxy* plane)
{
    v3 n = plane->normal;
    v3 corner = {n.x > 0.0 ? box->low.x : box->high.x, n.y > 0.0 ? box->low.y : box->high.y, n.z > 0.0 ? box->low.z : box->high.z};
    double slop = 8.0 * PC_ROUND * (v3Size(corner) + fabs(plane->offset));
    if (plane->look.turn == 0.0 && v3Dot(n, corner) > plane->offset + box->ahead + plane->ahead + slop)
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

/* ---- all pairs ---- */

static void sweepPlane(const pcProxy* proxies, const int* order, int boxes, int plane, pcPairList* list)
{
    for (int i = 0; i < boxes; i++)
        if (pcProxiesMeet(proxies + order[i], proxies + plane)) pcPairListAdd(list, order[i], plane);
}

/* Where each of `count` bins begins, from how many it has: bin[i + 1] of bin i. */
static void beginBins(int* bin, int count)
{
    for (int i = 0; i < count; i++) bin[i + 1] += bin[i];
}

/* The later shapes of all pairs, by the earlier, then by the later: two counting sorts, the less important one first. start[a] is then where those
 * of a end. NULL: out of memory. */
static const int* orderLater(const pcPairList* list, int count, int* start)
{
    int *ends = pcArenaNew(list->arena, int, count + 1), *earlier = pcArenaRaw(list->arena, int, list->count),
        *later = pcArenaRaw(list->arena, int, list->count);
    if (!pcArenaGood(list->arena)) return NULL;
    for (int i = 0; i < list->count; i++) start[list->pair[i][0] + 1]++, ends[list->pair[i][1] + 1]++;
    beginBins(start, count), beginBins(ends, count);
    for (int i = 0; i < list->count; i++) earlier[ends[list->pair[i][1]]++] = list->pair[i][0];
    for (int b = 0, i = 0; b < count; b++)
        for (; i < ends[b]; i++) later[start[earlier[i]]++] = b;
    return later;
}

static pcPair* orderPairs(const pcPairList* list, const pcProxy* proxies, int count)
{
    int* start = pcArenaNew(list->arena, int, count + 1);
    pcLook* look = pcArenaRaw(list->arena, pcLook, count);
    pcPair* pairs = pcArenaRaw(list->arena, pcPair, list->count);
    const int* later = pcArenaGood(list->arena) ? orderLater(list, count, start) : NULL;
    if (!later) return NULL;
    for (int i = 0; i < count; i++) look[i] = proxies[i].look;
    for (int a = 0, i = 0; a < count; a++)
        for (; i < start[a]; i++) {
            const pcLook* b = look + later[i];
            bool turns = look[a].turn > 0.0 || b->turn > 0.0;
            pairs[i] = (pcPair){a, later[i], turns ? marginOf(proxies + a, proxies + later[i]) : marginOfLooks(look + a, b)};
        }
    return pairs;
}

int pcPairsFind(pcArena* arena, const pcProxy* proxies, int count, int* order, pcPair** out)
{
    pcPairList list = {.arena = arena};
    int boxes = pcSweepBoxes(proxies, count, order, &list);
    if (!pcArenaGood(arena)) return 0;
    for (int i = boxes; i < count; i++) sweepPlane(proxies, order, boxes, order[i], &list);
    pcPair* pairs = orderPairs(&list, proxies, count);
    if (!pairs) return 0;
    *out = pairs;
    return list.count;
}
