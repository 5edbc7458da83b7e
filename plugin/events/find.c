/*
 * Finding the events of a pair (T 3.14, 3.15). Letters as in events.h.
 *
 * Which features can meet. At an event the pre-images p1, p2 of its point lie on the two bodies as they are. Only events whose
 * pre-images are at most 2 margin apart along the pair's normal are looked at: an event may have a small gap along its own normal and yet
 * belong to features far from the contact (two boxes stacked flush have side faces whose planes nearly coincide). Then every
 * feature of an event has a point within 2 margin - (gap of the pair) of its body's support plane: near.c lists those.
 *
 * Of those, only facets that face the other body (cosine to the pair's normal above FACING) and edges of such facets take part: the side
 * faces of stacked boxes never touch each other, whatever rounding says of their planes.
 *
 * One point, one event. A corner over an edge or a corner of the other body meets several of its features at once. A corner has one
 * event, with the facet that faces the pair's normal best. Corners of body 1 come first, then those of body 2, then edges; an event
 * within CORNER_ZONE of a corner that has one already is that one.
 */
#include "events/unit.h"

/* Pairs of features up to which trying each is cheaper than sorting out those that are far apart. */
#define FEW_PAIRS 64
/* Near edges of one body. */
#define EDGE_LIMIT (2 * PC_NEAR_LIMIT)
/* No event of this corner yet. */
#define NONE (-2)

/* ---- which features meet: boxes across the normal, swept ---- */

/* What a feature covers across the pair's normal, as pre-images on body 1 (see asSeenFromBody1). */
typedef struct Cover {
    double low[2], high[2];
    int feature;
} Cover;

static void extend(Cover* c, const pcSearch* s, v3 k)
{
    double p[2] = {v3Dot(k, s->u), v3Dot(k, s->v)};
    for (int i = 0; i < 2; i++) c->low[i] = smaller(c->low[i], p[i]), c->high[i] = larger(c->high[i], p[i]);
}

/* A point p2 of body 2 meets p1 = p2 + c / t, one-sided (p2 + c) / t: its cover over all t that come into question. */
static void asSeenFromBody1(Cover* c, const pcSearch* s, double slack)
{
    double fast = 1.0 / s->low, slow = s->high < HUGE_VAL ? 1.0 / s->high : 0.0;
    double centre[2] = {v3Dot(s->frame->c, s->u), v3Dot(s->frame->c, s->v)};
    for (int i = 0; i < 2; i++) {
        double low = c->low[i], high = c->high[i];
        if (s->sigma != 0.0) {
            low += smaller(centre[i] * slow, centre[i] * fast), high += larger(centre[i] * slow, centre[i] * fast);
        } else {
            low += centre[i], high += centre[i];
            low = smaller(low * slow, low * fast), high = larger(high * slow, high * fast);
        }
        c->low[i] = low - slack, c->high[i] = high + slack;
    }
}

static bool coversMeet(const Cover* a, const Cover* b)
{
    return (a->low[0] <= b->high[0]) & (b->low[0] <= a->high[0]) & (a->low[1] <= b->high[1]) & (b->low[1] <= a->high[1]);
}

typedef void PairTest(pcSearch* s, int feature1, int feature2, void* context);

static bool before(const Cover* x, const Cover* y)
{
    return x->low[0] < y->low[0] || (!(x->low[0] > y->low[0]) && x->feature < y->feature);
}

/* By Shell's method: in place, where the C library's qsort allocates. */
static void sortCovers(Cover* c, int count)
{
    static const int gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (int i = gaps[g]; i < count; i++) {
            Cover moving = c[i];
            int j = i;
            for (; j >= gaps[g] && before(&moving, c + j - gaps[g]); j -= gaps[g]) c[j] = c[j - gaps[g]];
            c[j] = moving;
        }
}

/* All pairs of covers that meet, each once: of every pair the one that begins first looks ahead in the other list. */
static void sweep(pcSearch* s, Cover* a, int countA, Cover* b, int countB, PairTest* test, void* context)
{
    sortCovers(a, countA);
    sortCovers(b, countB);
    for (int i = 0, j = 0; i < countA && j < countB;) {
        if (a[i].low[0] <= b[j].low[0]) {
            for (int k = j; k < countB && b[k].low[0] <= a[i].high[0]; k++)
                if (coversMeet(a + i, b + k)) test(s, a[i].feature, b[k].feature, context);
            i++;
        } else {
            for (int k = i; k < countA && a[k].low[0] <= b[j].high[0]; k++)
                if (coversMeet(a + k, b + j)) test(s, a[k].feature, b[j].feature, context);
            j++;
        }
    }
}

/* ---- the three kinds, and who keeps what ---- */

bool pcUnitOf(const pcSearch* s, pcEventKind kind, int feature1, int feature2, pcUnit* out)
{
    switch (kind) {
    case PC_CORNER_FACE:
        return s->frame->shape2->kind == PC_SHAPE_HALFSPACE ? cornerOnPlane(s, feature1, out) : cornerOnFacet(s, feature1, feature2, out);
    case PC_FACE_CORNER: return facetOnCorner(s, feature1, feature2, out);
    case PC_EDGE_EDGE: {
        Line a = lineOf(s->frame, 0, feature1), b = lineOf(s->frame, 1, feature2);
        return edgeOnEdge(s, &a, &b, out);
    }
    case PC_SMOOTH: break; /* always kept with all that is known of it */
    }
    return false;
}

/* Near features of both bodies, and where the event of each near vertex is kept. */
typedef struct Near {
    pcFeatureSet vertices[2], facets[2];
    int place[2][PC_NEAR_LIMIT];
    int edgeCount[2];
    int edge[2][EDGE_LIMIT];
    Line line[2][FEW_PAIRS]; /* of the edges, where there are few */
    Cover cover[2][EDGE_LIMIT];
} Near;

/* Whether a corner (-1: none) has its event already. Rarely asked, so a scan will do. */
PC_INLINE bool cornerHasEvent(const Near* near, int side, int vertex)
{
    for (int i = 0; vertex >= 0 && i < near->vertices[side].count; i++)
        if (near->vertices[side].item[i] == vertex) return near->place[side][i] != NONE;
    return false;
}

/* A corner meets a facet: if it has met one before, the one that faces the pair's normal better stays. */
PC_INLINE void tryCorner(pcSearch* s, const Near* near, pcEventKind kind, int feature1, int feature2, int* place)
{
    pcUnit room, *unit = nextUnit(s, &room);
    bool meets = kind == PC_CORNER_FACE ? cornerOnFacet(s, feature1, feature2, unit) : facetOnCorner(s, feature1, feature2, unit);
    if (!meets || cornerHasEvent(near, 0, unit->at[0])) return;
    if (*place == NONE)
        *place = keep(s, kind, feature1, feature2, unit);
    else if (*place >= 0 && v3Dot(unit->n, s->metric->n) > s->found[*place].facing)
        put(s, *place, kind, feature1, feature2, unit);
}

/* Vertices are passed by their place in the near set. */
PC_INLINE void tryCornerOnFacet(pcSearch* s, int vertex, int facet, void* context)
{
    Near* near = context;
    tryCorner(s, near, PC_CORNER_FACE, near->vertices[0].item[vertex], facet, near->place[0] + vertex);
}

PC_INLINE void tryFacetOnCorner(pcSearch* s, int facet, int vertex, void* context)
{
    Near* near = context;
    tryCorner(s, near, PC_FACE_CORNER, facet, near->vertices[1].item[vertex], near->place[1] + vertex);
}

PC_INLINE void tryLines(pcSearch* s, const Near* near, const Line* a, const Line* b)
{
    pcUnit room, *unit = nextUnit(s, &room);
    if (!edgeOnEdge(s, a, b, unit) || cornerHasEvent(near, 0, unit->at[0]) || cornerHasEvent(near, 1, unit->at[1])) return;
    keep(s, PC_EDGE_EDGE, a->edge, b->edge, unit);
}

static void tryEdges(pcSearch* s, int edge1, int edge2, void* context)
{
    Line a = lineOf(s->frame, 0, edge1), b = lineOf(s->frame, 1, edge2);
    tryLines(s, context, &a, &b);
}

/* Edges of facing facets with a near end, each once: from its lower near end. */
PC_INLINE bool nearEdges(const pcSearch* search, int side, Near* near)
{
    const pcShape* s = side == 0 ? search->frame->shape1 : search->frame->shape2;
    const pcFeatureSet *vertices = near->vertices + side, *facets = near->facets + side;
    int* count = near->edgeCount + side;
    *count = 0;
    for (int i = 0; i < vertices->count; i++) {
        int vertex = vertices->item[i];
        for (int at = s->fanStart[vertex]; at < s->fanStart[vertex + 1]; at++) {
            const pcEdge* edge = s->edge + s->fanEdge[at];
            int other = s->fanVertex[at];
            if (!pcFeatureSetHas(facets, edge->facet[0]) && !pcFeatureSetHas(facets, edge->facet[1])) continue;
            if (other < vertex && pcFeatureSetHas(vertices, other)) continue;
            if (*count == EDGE_LIMIT) return false;
            near->edge[side][(*count)++] = s->fanEdge[at];
        }
    }
    return true;
}

/* Those at most `depth` below the support plane; less deep where they are too many, and thinned where even the support plane has too
 * many. */
PC_INLINE void nearOfSide(const pcSearch* s, int side, v3 direction, double depth, Near* near)
{
    const pcShape* shape = side == 0 ? s->frame->shape1 : s->frame->shape2;
    pcFeatureSet *vertices = near->vertices + side, *facets = near->facets + side;
    pcSupport top = pcSupportOf(shape, direction);
    bool found = false;
    for (; !found && depth > CORNER_ZONE * shape->outradius; depth *= 0.5)
        found = pcNearVertices(shape, direction, top.value - depth, top.vertex, vertices) &&
                pcNearFacets(shape, direction, FACING, vertices, facets) && nearEdges(s, side, near);
    if (!found) {
        pcNearThinned(shape, direction, top.vertex, vertices, facets);
        nearEdges(s, side, near); /* as many as there is room for */
    }
    for (int i = 0; i < vertices->count; i++) near->place[side][i] = NONE;
}

/* ---- trying the pairs ---- */

/* The near features of one body and of one sort. `item` NULL: they are passed by their place in the list. */
typedef struct List {
    int count;
    const int* item;
    void (*cover)(const pcSearch* s, const Near* near, int side, int place, Cover* out);
} List;

static v3 placed(const pcSearch* s, int side, int vertex)
{
    return side == 0 ? pcShapeK(s->frame->shape1, vertex) : pcFrameK2(s->frame, vertex);
}

static void coverVertex(const pcSearch* s, const Near* near, int side, int place, Cover* out)
{
    extend(out, s, placed(s, side, near->vertices[side].item[place]));
}

static void coverFacet(const pcSearch* s, const Near* near, int side, int place, Cover* out)
{
    const pcShape* shape = side == 0 ? s->frame->shape1 : s->frame->shape2;
    int facet = near->facets[side].item[place];
    for (int slot = shape->ringStart[facet]; slot < shape->ringStart[facet + 1]; slot++)
        extend(out, s, placed(s, side, shape->ringVertex[slot]));
}

static void coverEdge(const pcSearch* s, const Near* near, int side, int place, Cover* out)
{
    Line line = lineOf(s->frame, side, near->edge[side][place]);
    extend(out, s, line.k);
    extend(out, s, v3Add(line.k, line.e));
}

PC_INLINE List verticesOf(const Near* near, int side) { return (List){near->vertices[side].count, NULL, coverVertex}; }
PC_INLINE List facetsOf(const Near* near, int side) { return (List){near->facets[side].count, near->facets[side].item, coverFacet}; }
PC_INLINE List edgesOf(const Near* near, int side) { return (List){near->edgeCount[side], near->edge[side], coverEdge}; }

static void fillCovers(const pcSearch* s, Near* near, int side, const List* list)
{
    double slack = s->reach + CORNER_ZONE * (s->frame->shape1->outradius + s->frame->shape2->outradius);
    for (int i = 0; i < list->count; i++) {
        Cover c = {{HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL}, list->item ? list->item[i] : i};
        list->cover(s, near, side, i, &c);
        if (side == 1) asSeenFromBody1(&c, s, slack);
        near->cover[side][i] = c;
    }
}

/* Every pair that can meet. Inlined for each sort of pair, so that the test is too. */
PC_INLINE void tryPairs(pcSearch* s, Near* near, List a, List b, PairTest* test)
{
    if ((long)a.count * b.count <= FEW_PAIRS) {
        for (int i = 0; i < a.count; i++)
            for (int j = 0; j < b.count; j++) test(s, a.item ? a.item[i] : i, b.item ? b.item[j] : j, near);
        return;
    }
    fillCovers(s, near, 0, &a);
    fillCovers(s, near, 1, &b);
    sweep(s, near->cover[0], a.count, near->cover[1], b.count, test, near);
}

/* As tryPairs, with every edge brought into the frame once. */
PC_INLINE void tryFewEdges(pcSearch* s, Near* near)
{
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < near->edgeCount[side]; i++) near->line[side][i] = lineOf(s->frame, side, near->edge[side][i]);
    for (int i = 0; i < near->edgeCount[0]; i++)
        for (int j = 0; j < near->edgeCount[1]; j++) tryLines(s, near, near->line[0] + i, near->line[1] + j);
}

PC_SIMD void pcSearchPolyhedra(pcSearch* s)
{
    Near near;
    double depth = 2.0 * s->margin - (s->metric->r - 1.0) * s->metric->D;
    depth += s->reach + 2.0 * CORNER_ZONE * (s->frame->shape1->outradius + s->frame->shape2->outradius);
    nearOfSide(s, 0, s->metric->n, depth, &near);
    nearOfSide(s, 1, v3Neg(m3TMul(&s->frame->R, s->metric->n)), depth, &near);
    tryPairs(s, &near, verticesOf(&near, 0), facetsOf(&near, 1), tryCornerOnFacet);
    tryPairs(s, &near, facetsOf(&near, 0), verticesOf(&near, 1), tryFacetOnCorner);
    if (near.edgeCount[0] == 0 || near.edgeCount[1] == 0) return;
    if (near.edgeCount[0] * near.edgeCount[1] <= FEW_PAIRS) /* so that neither has more */
        tryFewEdges(s, &near);
    else
        tryPairs(s, &near, edgesOf(&near, 0), edgesOf(&near, 1), tryEdges);
}

static void tryCornerOnPlane(pcSearch* s, int vertex)
{
    pcUnit unit;
    if (cornerOnPlane(s, vertex, &unit)) keep(s, PC_CORNER_FACE, vertex, 0, &unit);
}

static int commonFactor(int a, int b)
{
    while (b != 0) {
        int rest = a % b;
        a = b, b = rest;
    }
    return a;
}

/* All vertices, in leaps that visit each once and leave no region for later: where not all events can be kept, those that are stand all
 * around, and the body does not tip. */
static void tryAllCorners(pcSearch* s)
{
    int count = s->frame->shape1->vertexCount, leap = (int)(0.618 * count);
    while (commonFactor(count, leap) != 1) leap++;
    for (int i = 0, vertex = 0; i < count; i++, vertex = vertex < count - leap ? vertex + leap : vertex - (count - leap))
        tryCornerOnPlane(s, vertex);
}

/* Over a plane every near vertex is an event; where there are more than the flood can hold, all vertices are looked at. */
void pcSearchPlane(pcSearch* s)
{
    const pcShape* shape = s->frame->shape1;
    pcFeatureSet near;
    double depth = s->margin + larger(0.0, (1.0 - s->metric->r) * s->metric->D) + 2.0 * CORNER_ZONE * shape->outradius;
    pcSupport top = pcSupportOf(shape, s->metric->n);
    bool flooded = pcNearVertices(shape, s->metric->n, top.value - depth, top.vertex, &near);
    for (int i = 0; flooded && i < near.count; i++) tryCornerOnPlane(s, near.item[i]);
    if (!flooded) tryAllCorners(s);
}
