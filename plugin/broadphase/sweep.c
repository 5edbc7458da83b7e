/*
 * Sort and sweep along the axis where the boxes are spread widest.
 *
 * In three dimensions, many boxes share every place along one axis. So they are also dealt into columns: strips along the axis where they vary
 * second most, crossed with strips along the third. Each column is swept by itself, four boxes at a time. A pair that shares several
 * columns counts in the first of these: that in which for either axis one of the two has its first strip.
 *
 * 10,000 boxes as tight as in a pile meet in 111,000 pairs, and 340,000 pairs of a column meet along the axis of the sweep. Which of them meet is
 * chance to a processor, so nothing is decided by a branch: every one is written to the list, and the list becomes longer if it counts.
 */
#include "broadphase/sweep.h"

#include <string.h>

#include "base/simd.h"
#include "base/sort.h"

/* ---- lists ---- */

bool pcPairListGrow(pcPairList* list, int more)
{
    int needed = list->count + more, capacity = list->capacity > 0 ? list->capacity : 256;
    if (needed <= list->capacity) return true;
    while (capacity < needed) capacity *= 2;
    int(*wider)[2] = pcArenaTake(list->arena, (size_t)capacity, sizeof *wider);
    if (!wider) return false;
    if (list->count > 0) memcpy(wider, list->pair, (size_t)list->count * sizeof *wider);
    list->pair = wider, list->capacity = capacity;
    return true;
}

void pcPairListAdd(pcPairList* list, int a, int b)
{
    if (!pcPairListGrow(list, 1)) return;
    list->pair[list->count][0] = a < b ? a : b, list->pair[list->count++][1] = a < b ? b : a;
}

/* ---- sorting ---- */

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
static int sortBoxes(pcArena* arena, const pcProxy* proxies, int count, int axis, int* order)
{
    pcKeyed *sorted = pcArenaRaw(arena, pcKeyed, count), *room = pcArenaRaw(arena, pcKeyed, count);
    int boxes = 0, planes = 0;
    if (!pcArenaGood(arena)) return 0;
    for (int i = 0; i < count; i++)
        if (!proxies[order[i]].unbounded) sorted[boxes++] = (pcKeyed){pcKeyOfNumber(along(proxies[order[i]].low, axis)), order[i]};
    pcSortKeyed(sorted, boxes, room);
    for (int i = 0; i < boxes; i++) order[i] = sorted[i].index;
    for (int i = 0; i < count; i++)
        if (proxies[i].unbounded) order[boxes + planes++] = i;
    return boxes;
}

/* ---- boxes, close together ---- */

/* Its ends are along the axes in their order, that of the sweep first. */
typedef struct Slab {
    double low[3], high[3];
    int index;               /* of its proxy */
    int body;                /* that of its body; of what has none a number of its own, below 0 */
    short first[2], last[2]; /* of its strips */
    bool moves;
} Slab;

static Slab slabOf(const pcProxy* proxies, int index, const int axis[3])
{
    const pcProxy* p = proxies + index;
    Slab s = {.index = index, .body = p->body >= 0 ? p->body : -1 - index, .moves = p->moves};
    for (int k = 0; k < 3; k++) s.low[k] = along(p->low, axis[k]), s.high[k] = along(p->high, axis[k]);
    return s;
}

/* ---- strips ---- */

enum { MOST_STRIPS = 128, MOST_COPIES = 16 }; /* along an axis; copies of a box, on average: with more, there are no strips along an axis */

typedef struct Strips {
    int axis, count; /* axis: 1 or 2, in the order of the slabs */
    double from, perLength;
} Strips;

static Strips oneStrip(int axis) { return (Strips){axis, 1, 0.0, 0.0}; }

static Strips stripsOf(const Slab* slabs, int boxes, int axis)
{
    double low = HUGE_VAL, high = -HUGE_VAL, extent = 0.0;
    for (int i = 0; i < boxes; i++) {
        low = smaller(low, slabs[i].low[axis]), high = larger(high, slabs[i].high[axis]);
        extent += slabs[i].high[axis] - slabs[i].low[axis];
    }
    double width = boxes > 0 ? 1.5 * extent / boxes : 0.0, count = (high - low) / width, most = smaller(MOST_STRIPS, boxes / 8);
    if (!(count >= 4.0 && count < HUGE_VAL && most >= 4.0)) return oneStrip(axis);
    return count <= most ? (Strips){axis, (int)count, low, 1.0 / width} : (Strips){axis, (int)most, low, (int)most / (high - low)};
}

static short stripAt(const Strips* strips, double x)
{
    double at = (x - strips->from) * strips->perLength;
    return (short)(!(at > 0.0) ? 0 : at < strips->count - 1 ? (int)at : strips->count - 1);
}

/* How many places in columns the boxes take. */
static long long dealStrips(const Strips strips[2], Slab* slabs, int boxes)
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

/* ---- columns ---- */

/* Members of all columns, one column after the other, by a counting sort: start[k] .. start[k + 1] - 1 of column k. Returns how many
 * the fullest has. */
static int fillColumns(const Strips strips[2], const Slab* slabs, int boxes, int* start, int* member)
{
    int columns = strips[0].count * strips[1].count, most = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < boxes; i++)
            for (int k = slabs[i].first[0]; k <= slabs[i].last[0]; k++)
                for (int m = slabs[i].first[1]; m <= slabs[i].last[1]; m++) {
                    int column = k * strips[1].count + m;
                    if (pass)
                        member[start[column + 1]++] = i;
                    else
                        start[column + 2]++;
                }
        for (int k = 0; pass == 0 && k < columns; k++) {
            most = start[k + 2] > most ? start[k + 2] : most;
            start[k + 2] += start[k + 1];
        }
    }
    return most;
}

enum { LANES = 4, FIRST_0 = 1, FIRST_1 = 2, MOVES = 4, ALL_FLAGS = 7 };

/* The boxes of a column by their lower end, each number in an array of its own, and behind the last as many as lanes that begin nowhere. */
typedef struct Column {
    int count;
    double *low[3], *high[3];
    int64_t *body, *flags; /* FIRST_k: the column is in its first strip */
    int* index;
} Column;

static Column roomForColumn(pcArena* arena, int most)
{
    Column c = {.body = pcArenaRaw(arena, int64_t, most + LANES),
                .flags = pcArenaRaw(arena, int64_t, most + LANES),
                .index = pcArenaRaw(arena, int, most + LANES)};
    for (int k = 0; k < 3; k++) c.low[k] = pcArenaRaw(arena, double, most + LANES), c.high[k] = pcArenaRaw(arena, double, most + LANES);
    return c;
}

static void putSlab(Column* c, int at, const Slab* s, int strip0, int strip1)
{
    for (int k = 0; k < 3; k++) c->low[k][at] = s->low[k], c->high[k][at] = s->high[k];
    c->body[at] = s->body, c->index[at] = s->index;
    c->flags[at] = (s->first[0] == strip0 ? FIRST_0 : 0) | (s->first[1] == strip1 ? FIRST_1 : 0) | (s->moves ? MOVES : 0);
}

static void endColumn(Column* c, int count)
{
    static const Slab nowhere = {.low = {(double)NAN, 0, 0}};
    for (int k = 0; k < LANES; k++) putSlab(c, count + k, &nowhere, 1, 1);
    c->count = count;
}

PC_INLINE v4i fourInts(const int64_t* p)
{
    v4i a;
    __builtin_memcpy(&a, p, sizeof a);
    return a;
}

/* -1 in the lane of each of the four from b on that meets a, 0 in others; the two share this column along the axis of the sweep. */
PC_INLINE v4i meetFour(const Column* c, int a, int b)
{
    v4i meet = (v4Load(c->low[0] + b) <= c->high[0][a]) & (fourInts(c->body + b) != c->body[a]);
    for (int k = 1; k < 3; k++) meet &= (v4Load(c->low[k] + b) <= c->high[k][a]) & (v4Load(c->high[k] + b) >= c->low[k][a]);
    return meet & ((fourInts(c->flags + b) | c->flags[a]) == ALL_FLAGS);
}

PC_SIMD static void sweepColumn(const Column* c, pcPairList* list)
{
    for (int a = 0; a < c->count; a++)
        for (int b = a + 1; c->low[0][b] <= c->high[0][a]; b += LANES) {
            if (list->count + LANES > list->capacity && !pcPairListGrow(list, LANES)) return;
            v4i meet = meetFour(c, a, b);
            int i = c->index[a];
            for (int k = 0; k < LANES; k++) {
                int m = c->index[b + k], *place = list->pair[list->count];
                place[0] = i < m ? i : m, place[1] = i < m ? m : i;
                list->count -= (int)meet[k];
            }
        }
}

static void sweepColumns(const Strips strips[2], const Slab* slabs, int boxes, long long places, pcPairList* list)
{
    int columns = strips[0].count * strips[1].count;
    int *start = pcArenaNew(list->arena, int, columns + 2), *member = pcArenaRaw(list->arena, int, places);
    if (!pcArenaGood(list->arena)) return;
    Column column = roomForColumn(list->arena, fillColumns(strips, slabs, boxes, start, member));
    if (!pcArenaGood(list->arena) || !pcPairListGrow(list, 8 * boxes)) return;
    for (int k = 0; k < columns && pcArenaGood(list->arena); k++) {
        for (int i = start[k]; i < start[k + 1]; i++)
            putSlab(&column, i - start[k], slabs + member[i], k / strips[1].count, k % strips[1].count);
        endColumn(&column, start[k + 1] - start[k]);
        sweepColumn(&column, list);
    }
}

/* ---- the whole ---- */

/* Most worlds have one kind of shapes, all of which collide. */
static bool allAreWanted(const pcProxy* proxies, int count)
{
    for (int i = 1; i < count; i++)
        if (proxies[i].category != proxies[0].category || proxies[i].collide != proxies[0].collide) return false;
    return count == 0 || pcAreWanted(proxies->category, proxies->collide, proxies->category, proxies->collide);
}

static void dropUnwanted(const pcProxy* proxies, pcPairList* list)
{
    int kept = 0;
    for (int i = 0; i < list->count; i++) {
        const pcProxy *a = proxies + list->pair[i][0], *b = proxies + list->pair[i][1];
        if (pcAreWanted(a->category, a->collide, b->category, b->collide)) memcpy(list->pair[kept++], list->pair[i], sizeof *list->pair);
    }
    list->count = kept;
}

int pcSweepBoxes(const pcProxy* proxies, int count, int* order, pcPairList* list)
{
    int axis[3];
    widestAxes(proxies, count, axis);
    int boxes = sortBoxes(list->arena, proxies, count, axis[0], order);
    Slab* slabs = pcArenaRaw(list->arena, Slab, boxes);
    if (!pcArenaGood(list->arena)) return 0;
    for (int i = 0; i < boxes; i++) slabs[i] = slabOf(proxies, order[i], axis);
    Strips strips[2] = {stripsOf(slabs, boxes, 1), stripsOf(slabs, boxes, 2)};
    long long places = dealStrips(strips, slabs, boxes);
    for (int k = 1; k >= 0 && places > (long long)MOST_COPIES * boxes; k--)
        strips[k] = oneStrip(1 + k), places = dealStrips(strips, slabs, boxes);
    sweepColumns(strips, slabs, boxes, places, list);
    if (!allAreWanted(proxies, count)) dropUnwanted(proxies, list);
    return boxes;
}
