/*
 * Which events to keep when the caller has room for fewer: the deepest first, because it decides whether bodies part; then, one by one, the
 * event farthest from those kept, because a wide support polygon is what keeps a body from tipping. Distances are across the
 * pair's normal; ties go to the deeper event, then to the one found first.
 */
#include "events/events.h"

static void swap(pcFound* found, int i, int j)
{
    pcFound keep = found[i];
    found[i] = found[j], found[j] = keep;
}

static double distanceAcross(const pcFound* a, const pcFound* b)
{
    double x = a->u - b->u, y = a->v - b->v;
    return x * x + y * y;
}

static int deepest(const pcFound* found, int count)
{
    int best = 0;
    for (int i = 1; i < count; i++)
        if (found[i].gap < found[best].gap) best = i;
    return best;
}

/* `reach[i]`: squared distance of event i from the nearest one kept so far. */
static int farthest(const pcFound* found, const double* reach, int from, int count)
{
    int best = from;
    for (int i = from + 1; i < count; i++)
        if (reach[i] > reach[best] || (!(reach[i] < reach[best]) && found[i].gap < found[best].gap)) best = i;
    return best;
}

void pcSelectWidest(pcFound* found, int count, int capacity)
{
    double reach[PC_FOUND_LIMIT];
    if (capacity <= 0 || count <= capacity) return;
    swap(found, 0, deepest(found, count));
    for (int i = 1; i < count; i++) reach[i] = HUGE_VAL;
    for (int kept = 1; kept < capacity; kept++) {
        for (int i = kept; i < count; i++) reach[i] = smaller(reach[i], distanceAcross(found + i, found + kept - 1));
        int next = farthest(found, reach, kept, count);
        swap(found, kept, next);
        reach[next] = reach[kept];
    }
}
