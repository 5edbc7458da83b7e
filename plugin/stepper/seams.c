/*
 * Seams between the pieces of a body. A contact on a face that a neighbouring piece covers is none: seen as a whole, the body has no
 * surface there. Without this, what slides over the seam of two flush pieces would be held by the side of the second, of which nothing
 * stands out, because a pair is measured by the direction in which it is farthest apart.
 *
 * Whether the face is covered is asked beside the contact point: for points s of the face around it, eps away, is s lifted by eps off the
 * face inside another piece? Where at least one s is free, as in the inner corner of an L, the contact stays. A body that has sunk into
 * that other piece is lifted out of it before: else what is deep in a corner would be held by neither of its sides.
 */
#include "base/rotation.h"
#include "shape/shape.h"
#include "stepper/stepper.h"

/* Of the arm of the contact: how far s is away; a tenth of it is what counts as inside. Steps between pieces smaller than this part are taken as
 * flush (StepMerge.CubeSlidesOverASeamAsOverOneFace). */
static const double EPS = 1e-5;
enum { AROUND = 8 };

/* Pairs of each body, as lists. */
typedef struct Pairs {
    const pcStep* step;
    int* first;   /* per body: index + 1, 0 none */
    int* next;    /* per pair */
    int* deepest; /* per pair: its deepest contact, -1 if it has none */
} Pairs;

static int bodyOf(const pcStep* step, int shape) { return step->system->shapes[shape].body; }

static int lowerOf(int body1, int body2)
{
    if (body1 < 0 || body2 < 0) return body1 < 0 ? body2 : body1;
    return body1 < body2 ? body1 : body2;
}

/* ---- inside ---- */

static bool isInside(const pcStep* step, int index, v3 x, double depth)
{
    const pcShape* shape = step->system->shapes[index].shape;
    const pcPose* pose = step->pose + index;
    m3 R;
    m3FromQuaternion(v4Load(pose->quaternion), &R);
    v3 local = m3TMul(&R, v3Sub(x, v3Load(pose->position)));
    return pcShapeHolds(shape, local, depth);
}

/* The next pair, after pair `at`, of another piece of the same body with the same other body: index + 1, 0 none; and that piece. */
static int nextOther(const Pairs* pairs, const pcTouch* touch, int piece, int at, int* other)
{
    const pcStep* step = pairs->step;
    int body = bodyOf(step, piece), opposite = touch->body1 == body ? touch->body2 : touch->body1;
    for (; at > 0; at = pairs->next[at - 1]) {
        int a = step->pairs[at - 1].shape1, b = step->pairs[at - 1].shape2;
        int mine = bodyOf(step, a) == body ? a : b, theirs = mine == a ? b : a;
        *other = mine;
        if (mine != piece && bodyOf(step, mine) == body && bodyOf(step, theirs) == opposite) return at;
    }
    return 0;
}

static int firstPair(const Pairs* pairs, const pcTouch* touch) { return pairs->first[lowerOf(touch->body1, touch->body2)]; }

/* Out of `piece`, as far as the pair has sunk into each other. */
static v3 liftedOut(const Pairs* pairs, int pair, int piece, v3 x)
{
    if (pairs->deepest[pair] < 0) return x;
    const pcTouch* t = pairs->step->touch + pairs->deepest[pair];
    double depth = larger(-t->gap, 0.0);
    return v3AddScaled(x, t->shape1 == piece ? depth : -depth, t->normal);
}

static bool isInsideOther(const Pairs* pairs, const pcTouch* touch, int piece, v3 x, double depth)
{
    int other, at = nextOther(pairs, touch, piece, firstPair(pairs, touch), &other);
    for (; at > 0; at = nextOther(pairs, touch, piece, pairs->next[at - 1], &other))
        if (isInside(pairs->step, other, liftedOut(pairs, at - 1, other, x), depth)) return true;
    return false;
}

/* ---- covered ---- */

/* `place` on the face of a piece, `out` the direction off it. */
static bool isCovered(const Pairs* pairs, const pcTouch* touch, int piece, v3 place, v3 out)
{
    static const double around[AROUND][2] = {{1, 0}, {0.7, 0.7}, {0, 1}, {-0.7, 0.7}, {-1, 0}, {-0.7, -0.7}, {0, -1}, {0.7, -0.7}};
    const pcMotion* motion = pairs->step->motion + lowerOf(touch->body1, touch->body2);
    double eps = EPS * v3Norm(v3Sub(place, motion->position));
    bool hasFace = false;
    int other;
    v3 u, v;
    if (!nextOther(pairs, touch, piece, firstPair(pairs, touch), &other)) return false;
    v3Complete(out, &u, &v);
    for (int i = 0; i < AROUND; i++) {
        v3 s = v3AddScaled(v3AddScaled(place, eps * around[i][0], u), eps * around[i][1], v);
        if (!isInside(pairs->step, piece, v3AddScaled(s, -eps, out), 0.1 * eps)) continue;
        hasFace = true;
        if (!isInsideOther(pairs, touch, piece, v3AddScaled(s, eps, out), 0.1 * eps)) return false;
    }
    return hasFace;
}

static bool isOnSeam(const Pairs* pairs, const pcTouch* t)
{
    if (!pcStepHasPieces(pairs->step, t->body1, t->body2)) return false;
    v3 place1 = v3AddScaled(t->point, -0.5 * t->gap, t->normal), place2 = v3AddScaled(t->point, 0.5 * t->gap, t->normal);
    return isCovered(pairs, t, t->shape1, place1, t->normal) || isCovered(pairs, t, t->shape2, place2, v3Neg(t->normal));
}

/* Lists the pairs by their lower body; false if no two pairs are of the same bodies, so that there is no seam to look for. */
static bool listPairs(Pairs* pairs)
{
    const pcStep* step = pairs->step;
    bool several = false;
    for (int i = 0; i < step->pairCount; i++) {
        int a = bodyOf(step, step->pairs[i].shape1), b = bodyOf(step, step->pairs[i].shape2), key = lowerOf(a, b);
        several |= pairs->first[key] > 0;
        pairs->next[i] = pairs->first[key];
        pairs->first[key] = i + 1;
    }
    return several;
}

/* Contacts stand in the order of their pairs. */
static void findDeepest(Pairs* pairs)
{
    const pcStep* step = pairs->step;
    int at = step->system->contactCount;
    for (int i = 0; i < step->pairCount; i++) {
        const pcPair* pair = step->pairs + i;
        pairs->deepest[i] = -1;
        for (; at < step->touches && step->touch[at].shape1 == pair->shape1 && step->touch[at].shape2 == pair->shape2; at++)
            if (pairs->deepest[i] < 0 || step->touch[at].gap < step->touch[pairs->deepest[i]].gap) pairs->deepest[i] = at;
    }
}

void pcStepSeams(pcStep* step)
{
    int given = step->system->contactCount, kept = given;
    size_t mark = pcArenaMark(step->arena);
    Pairs pairs = {.step = step, .first = pcArenaNew(step->arena, int, step->system->bodyCount)};
    pairs.next = pcArenaNew(step->arena, int, step->pairCount);
    pairs.deepest = pcArenaNew(step->arena, int, step->pairCount);
    bool* covered = pcArenaNew(step->arena, bool, step->touches);
    if (!pcArenaGood(step->arena)) return;
    if (listPairs(&pairs)) {
        findDeepest(&pairs);
        for (int i = given; i < step->touches; i++) covered[i] = isOnSeam(&pairs, step->touch + i);
        for (int i = given; i < step->touches; i++)
            if (!covered[i]) step->touch[kept++] = step->touch[i];
        step->report.events -= step->touches - kept;
        step->touches = kept;
    }
    pcArenaRelease(step->arena, mark);
}
