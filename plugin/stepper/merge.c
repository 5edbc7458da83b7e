/*
 * Bodies of several convex pieces: where two pieces meet, both find the same contact. Contacts of one pair of bodies, from different pairs of
 * shapes, with the same point and normal are one: the deeper, or, where they are as deep as each other, the first, so that the choice does not
 * flicker from step to step.
 */
#include "stepper/stepper.h"

/* Points nearer than this part of their distance from the bodies, and normals by this much in length, are the same: far more than what the
 * metric leaves of rounding, far less than what could matter (StepMerge.NeighboursGiveEachContactOnce). */
static const double SAME = 1e-7;

/* Contacts of each body, as lists. */
typedef struct Lists {
    int* first; /* per body: index + 1, 0 none */
    int* next;  /* per contact */
    bool* dropped;
} Lists;

static int lowerBody(const pcTouch* t)
{
    if (t->body1 < 0 || t->body2 < 0) return t->body1 < 0 ? t->body2 : t->body1;
    return t->body1 < t->body2 ? t->body1 : t->body2;
}

static double armOf(const pcStep* step, const pcTouch* t)
{
    double arm1 = t->body1 >= 0 ? v3Size(v3Sub(t->point, step->motion[t->body1].position)) : 0.0;
    double arm2 = t->body2 >= 0 ? v3Size(v3Sub(t->point, step->motion[t->body2].position)) : 0.0;
    return larger(arm1, arm2);
}

static bool isSame(const pcTouch* a, const pcTouch* b, double near)
{
    bool alike = a->body1 == b->body1 && a->body2 == b->body2, turned = a->body1 == b->body2 && a->body2 == b->body1;
    if ((!alike && !turned) || (a->shape1 == b->shape1 && a->shape2 == b->shape2)) return false;
    v3 difference = alike ? v3Sub(a->normal, b->normal) : v3Add(a->normal, b->normal);
    return v3Max(difference) <= SAME && v3Max(v3Sub(a->point, b->point)) <= near;
}

/* The contact that is already kept and is the same as this one, or -1. */
static int findSame(const pcStep* step, const Lists* lists, const pcTouch* touch)
{
    double near = SAME * armOf(step, touch);
    for (int i = lists->first[lowerBody(touch)] - 1; i >= 0; i = lists->next[i] - 1)
        if (!lists->dropped[i] && isSame(step->touch + i, touch, near)) return i;
    return -1;
}

/* Drops either this contact or, if it is deeper, the one before that is the same. */
static void drop(const pcStep* step, Lists* lists, int index)
{
    const pcTouch* touch = step->touch + index;
    if (!pcStepHasPieces(step, touch->body1, touch->body2)) return;
    int same = findSame(step, lists, touch);
    bool deeper = same >= 0 && touch->gap < step->touch[same].gap - SAME * armOf(step, touch);
    if (same >= 0) lists->dropped[deeper ? same : index] = true;
    if (same >= 0 && !deeper) return;
    lists->next[index] = lists->first[lowerBody(touch)];
    lists->first[lowerBody(touch)] = index + 1;
}

void pcStepMerge(pcStep* step)
{
    int given = step->system->contactCount, kept = given;
    size_t mark = pcArenaMark(step->arena);
    if (step->touches - given < 2) return;
    Lists lists = {.first = pcArenaNew(step->arena, int, step->system->bodyCount)};
    lists.next = pcArenaNew(step->arena, int, step->touches), lists.dropped = pcArenaNew(step->arena, bool, step->touches);
    if (!pcArenaGood(step->arena)) return;
    for (int i = given; i < step->touches; i++) drop(step, &lists, i);
    for (int i = given; i < step->touches; i++)
        if (!lists.dropped[i]) step->touch[kept++] = step->touch[i];
    step->report.events -= step->touches - kept;
    step->touches = kept;
    pcArenaRelease(step->arena, mark);
}
