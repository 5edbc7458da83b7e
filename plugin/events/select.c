/*
 * Which events to keep when the caller has room for fewer: the deepest first, because it decides whether bodies part; then up to
 * the fourth the one that widens the support polygon most, because that is what keeps a body from tipping; then the one farthest from
 * those kept. Lengths and areas are across the pair's normal; ties go to the deeper event, then to the one found first.
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

/* Of several that are equally deep to `slop`, the one farthest out. */
static int deepest(const pcFound* found, int count, double slop)
{
    pcFound middle = {.u = 0.0, .v = 0.0};
    double depth = HUGE_VAL;
    int at = -1;
    for (int i = 0; i < count; i++) {
        depth = smaller(depth, found[i].gap);
        middle.u += found[i].u / count, middle.v += found[i].v / count;
    }
    for (int i = 0; i < count; i++)
        if (found[i].gap <= depth + slop && (at < 0 || distanceAcross(found + i, &middle) > distanceAcross(found + at, &middle))) at = i;
    return at;
}

/* Twice the signed area of the triangle a b c. */
static double turn(const pcFound* a, const pcFound* b, const pcFound* c)
{
    return (b->u - a->u) * (c->v - a->v) - (b->v - a->v) * (c->u - a->u);
}

/* What event c adds to the polygon of the first `kept` <= 3: a length, then areas. A point outside a triangle sees one or two of its
 * sides. */
static double widening(const pcFound* found, int kept, const pcFound* c)
{
    if (kept == 1) return distanceAcross(found, c);
    if (kept == 2) return fabs(turn(found, found + 1, c));
    double side = turn(found, found + 1, found + 2) < 0.0 ? -1.0 : 1.0, sum = 0.0;
    for (int i = 0; i < 3; i++) sum += larger(0.0, -side * turn(found + i, found + (i + 1) % 3, c));
    return sum;
}

static int best(const pcFound* found, const double* value, int from, int count)
{
    int at = from;
    for (int i = from + 1; i < count; i++)
        if (value[i] > value[at] || (!(value[i] < value[at]) && found[i].gap < found[at].gap)) at = i;
    return at;
}

static void chooseNext(pcFound* found, double* value, int kept, int count)
{
    for (int i = kept; i < count; i++) value[i] = widening(found, kept, found + i);
    swap(found, kept, best(found, value, kept, count));
}

/* `reach[i]`: squared distance of event i from the nearest one kept so far. */
void pcSelectWidest(pcFound* found, int count, int capacity, double slop)
{
    double reach[PC_FOUND_LIMIT];
    if (capacity <= 0 || count <= capacity) return;
    swap(found, 0, deepest(found, count, slop));
    for (int kept = 1; kept < capacity && kept < 4; kept++) chooseNext(found, reach, kept, count);
    for (int again = 1; again < 3 && capacity >= 4; again++) { /* the second and third were chosen before the others were known */
        swap(found, again, 3);
        chooseNext(found, reach, 3, count);
    }
    for (int i = 4; i < count; i++) {
        reach[i] = HUGE_VAL;
        for (int k = 0; k < 4; k++) reach[i] = smaller(reach[i], distanceAcross(found + i, found + k));
    }
    for (int kept = 4; kept < capacity; kept++) {
        int next = best(found, reach, kept, count);
        swap(found, kept, next);
        reach[next] = reach[kept];
        for (int i = kept + 1; i < count; i++) reach[i] = smaller(reach[i], distanceAcross(found + i, found + kept));
    }
}
