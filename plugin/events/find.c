/*
 * Finding the events of a pair (T 3.14, 3.15). Letters as in events.h.
 *
 * Which features can meet. At an event the pre-images p1, p2 of its point lie on the two bodies as they are. Only events whose
 * pre-images are at most 2 margin apart along the pair's normal are looked at: an event may have a small gap along its own normal and yet
 * belong to features far from the contact (two boxes stacked flush have side faces whose planes nearly coincide). Then every
 * feature of an event has a point within 2 margin - (gap of the pair) of its body's support plane: near.c lists those.
 *
 * One point, one event. A corner over an edge or a corner of the other body meets several of its features at once. A corner has one
 * event, with the facet that faces the pair's normal best; an edge crossing within CORNER_ZONE of an end belongs to that corner;
 * where two corners meet, body 1's has the event.
 */
#include <stdlib.h>

#include "events/events.h"

/* Relative to the body's size: closer than this to a corner is at the corner. As epsX by default, far above rounding. */
static const double CORNER_ZONE = 1e-9;
/* Sine of the angle below which two edges are parallel: well under CORNER_ZONE, so that corners are found before crossings are lost. */
static const double PARALLEL = 1e-10;
/* D below this fraction of the lengths it is a difference of: the features never meet, they slide along each other. */
static const double SLIDES = 1e-9;
/* Pairs of features above which sorting pays. */
#define SWEEP_LIMIT 4096
/* Edges at PC_NEAR_LIMIT vertices: a patch of a surface has about three for each. */
#define EDGE_LIMIT (3 * PC_NEAR_LIMIT)
/* No event of this corner yet. */
#define NONE (-2)

/* ---- one candidate ---- */

/* t in range, own gap and distance along the pair's normal within the margin. `p1` is the pre-image on body 1. */
static bool isNear(const pcSearch* s, double t, double gap, v3 n, v3 p1)
{
    if (!(t >= s->low && t <= s->high) || !(gap <= s->margin) || !(v3Dot(n, s->metric->n) > 0.0)) return false;
    double apart = s->sigma != 0.0 ? v3Dot(s->metric->n, s->frame->c) * (1.0 - 1.0 / t) : (t - 1.0) * v3Dot(s->metric->n, p1);
    return apart <= 2.0 * s->margin;
}

/* Whether y (in the body's axes, about its centre) satisfies facet k of the body widened by `slack`: a.y <= b (1 + slack). */
static bool inFacet(const pcShape* s, int k, v3 y, double slack) { return v3Dot(s->normal[k], y) <= s->offset[k] * (1.0 + slack); }

/* The ring edge of a facet with many corners whose wedge, seen from the first corner, holds y. */
static int wedgeOf(const pcShape* s, int facet, v3 y)
{
    int first = s->ringStart[facet], low = 1, high = s->ringStart[facet + 1] - first - 1;
    v3 origin = pcShapeK(s, s->ringVertex[first]), w = v3Sub(y, origin);
    while (high - low > 1) {
        int middle = (low + high) / 2;
        v3 spoke = v3Sub(pcShapeK(s, s->ringVertex[first + middle]), origin);
        if (v3Dot(v3Cross(spoke, w), s->normal[facet]) >= 0.0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The slots of a facet's ring that decide about y: all of a small ring, else those of the wedge and of the first corner. */
typedef struct Slots {
    int count, slot[16];
} Slots;

static Slots decidingSlots(const pcShape* s, int facet, v3 y)
{
    int first = s->ringStart[facet], size = s->ringStart[facet + 1] - first;
    Slots out = {0};
    if (size <= 8) {
        for (int i = 0; i < size; i++) out.slot[out.count++] = first + i;
        return out;
    }
    int wedge = wedgeOf(s, facet, y);
    for (int i = -1; i <= 2; i++) out.slot[out.count++] = first + (wedge + i + size) % size;
    out.slot[out.count++] = first, out.slot[out.count++] = first + size - 1;
    return out;
}

/* y on the plane of `facet`: inside its polygon, up to slack? */
static bool onFacet(const pcShape* s, const Slots* slots, v3 y, double slack)
{
    for (int i = 0; i < slots->count; i++)
        if (!inFacet(s, s->ringFacet[slots->slot[i]], y, slack)) return false;
    return true;
}

static bool atCornerOf(const pcShape* s, const Slots* slots, v3 y)
{
    double zone = CORNER_ZONE * s->outradius;
    for (int i = 0; i < slots->count; i++) {
        v3 d = v3Sub(y, pcShapeK(s, s->ringVertex[slots->slot[i]]));
        if (v3Max(d) <= zone) return true;
    }
    return false;
}

/* epsX widens a body that is scaled by t by b epsX: as it is, by b epsX / t (T 3.14). */
static double slackOf(const pcSearch* s, double t, bool scales) { return scales ? s->settings->epsX / t : s->settings->epsX; }

/* ---- corner of body 1 on a facet of body 2 ---- */

static bool cornerOnFacet(const pcSearch* s, int vertex, int facet, pcUnit* out)
{
    const pcFrame* f = s->frame;
    const pcShape* s2 = f->shape2;
    v3 k = pcShapeK(f->shape1, vertex), a = m3Mul(&f->R, s2->normal[facet]);
    double b = s2->offset[facet], reach = v3Dot(a, k), far = v3Dot(a, f->c);
    bool two = s->sigma != 0.0;
    double D = (two ? b : 0.0) - reach, t = -(far + (two ? 0.0 : b)) / D, gap = reach - far - b;
    if (!(D > SLIDES * f->shape1->outradius) || !isNear(s, t, gap, v3Neg(a), k)) return false;
    v3 x = v3Scale(t, k), y = two ? v3AddScaled(k, -1.0 / t, f->c) : v3Sub(x, f->c), local = m3TMul(&f->R, y);
    Slots slots = decidingSlots(s2, facet, local);
    if (!onFacet(s2, &slots, local, slackOf(s, t, two))) return false;
    *out = (pcUnit){t, D, gap, v3Neg(a), x, k};
    return true;
}

/* ---- facet of body 1 on a corner of body 2 ---- */

static bool facetOnCorner(const pcSearch* s, int facet, int vertex, pcUnit* out)
{
    const pcFrame* f = s->frame;
    const pcShape* s1 = f->shape1;
    v3 a = s1->normal[facet], k = pcFrameK2(f, vertex), corner = v3Add(f->c, k);
    double b = s1->offset[facet], reach = v3Dot(a, k), far = v3Dot(a, f->c);
    bool two = s->sigma != 0.0;
    double D = two ? b - reach : b, t = (two ? far : far + reach) / D, gap = far + reach - b;
    if (!(D > SLIDES * f->shape2->outradius)) return false;
    v3 y = two ? v3AddScaled(k, 1.0 / t, f->c) : v3Scale(1.0 / t, corner);
    if (!isNear(s, t, gap, a, y)) return false;
    Slots slots = decidingSlots(s1, facet, y);
    if (!onFacet(s1, &slots, y, slackOf(s, t, true)) || atCornerOf(s1, &slots, y)) return false;
    *out = (pcUnit){t, D, gap, a, v3Scale(t, y), corner};
    return true;
}

/* ---- edge on edge ---- */

/* Whether y, on the line of an edge but beyond its end `vertex`, is still in the widened body. */
static bool pastEnd(const pcShape* s, int vertex, v3 y, double slack)
{
    for (int at = s->fanStart[vertex]; at < s->fanStart[vertex + 1]; at++)
        if (!inFacet(s, s->fanFacet[at], y, slack)) return false;
    return true;
}

/* The crossing at `part` of the way along an edge: on it (or past its end by what epsX allows), and not at one of its corners. */
static bool onEdge(const pcShape* s, const pcEdge* edge, double part, v3 y, double length, double slack)
{
    double zone = CORNER_ZONE * s->outradius / length, toEnd = smaller(part, 1.0 - part);
    if (fabs(toEnd) <= zone) return false;
    return toEnd > 0.0 || (slack > 10.0 * CORNER_ZONE && pastEnd(s, edge->vertex[part > 0.5], y, slack));
}

/* f1 (k1 + alpha e) = c + f2 (k2 + beta g), with m = c + f2 k2 - f1 k1 in the plane of e and g. */
static bool edgeOnEdge(const pcSearch* s, int edge1, int edge2, pcUnit* out)
{
    const pcFrame* f = s->frame;
    const pcEdge *q1 = f->shape1->edge + edge1, *q2 = f->shape2->edge + edge2;
    v3 k1 = pcShapeK(f->shape1, q1->vertex[0]), e = v3Sub(pcShapeK(f->shape1, q1->vertex[1]), k1);
    v3 k2 = pcShapeK(f->shape2, q2->vertex[0]), g = m3Mul(&f->R, v3Sub(pcShapeK(f->shape2, q2->vertex[1]), k2));
    k2 = m3Mul(&f->R, k2);
    v3 cross = v3Cross(e, g), n = cross;
    double square = v3Dot(cross, cross), ee = v3Dot(e, e), gg = v3Dot(g, g);
    if (!(square > PARALLEL * PARALLEL * ee * gg)) return false;
    bool two = s->sigma != 0.0;
    double D = v3Dot(n, two ? v3Sub(k1, k2) : k1), length = sqrt(square);
    if (D < 0.0) n = v3Neg(n), D = -D;
    if (!(D > SLIDES * length * f->shape1->outradius)) return false;
    double t = v3Dot(n, two ? f->c : v3Add(f->c, k2)) / D;
    n = v3Scale(1.0 / length, n), D /= length;
    double f1 = t, f2 = two ? t : 1.0;
    v3 m = v3Sub(v3AddScaled(f->c, f2, k2), v3Scale(f1, k1));
    double alpha = v3Dot(v3Cross(m, g), cross) / (square * f1), beta = v3Dot(v3Cross(m, e), cross) / (square * f2);
    v3 y1 = v3AddScaled(k1, alpha, e), x = v3Scale(t, y1);
    double gap = v3Dot(n, v3Sub(v3Add(f->c, k2), k1));
    if (!isNear(s, t, gap, n, y1)) return false;
    if (!onEdge(f->shape1, q1, alpha, y1, sqrt(ee), slackOf(s, t, true))) return false;
    v3 y2 = v3AddScaled(pcShapeK(f->shape2, q2->vertex[0]), beta, m3TMul(&f->R, g));
    if (!onEdge(f->shape2, q2, beta, y2, sqrt(gg), slackOf(s, t, two))) return false;
    v3 apart = v3Sub(v3Add(f->c, k2), k1); /* closest points of the two lines as they are */
    v3 arm = v3AddScaled(k1, v3Dot(v3Cross(apart, g), cross) / square, e);
    *out = (pcUnit){t, D, gap, n, x, arm};
    return true;
}

/* ---- over a plane, and between round shapes ---- */

/* t = height of the centre / reach of the corner (T 2.18); it goes on below the surface, where t <= 0. */
static bool cornerOnPlane(const pcSearch* s, int vertex, pcUnit* out)
{
    v3 k = pcShapeK(s->frame->shape1, vertex), n = s->metric->n;
    double height = s->metric->r * s->metric->D, D = v3Dot(n, k), t = height / D, gap = height - D;
    if (!(D > SLIDES * s->frame->shape1->outradius) || !(gap <= s->margin) || !(t >= s->low && t <= s->high)) return false;
    *out = (pcUnit){t, D, gap, n, v3Scale(t, k), k};
    return true;
}

static bool smooth(const pcSearch* s, pcUnit* out)
{
    const pcFrameMetric* m = s->metric;
    v3 origin = {0.0, 0.0, 0.0};
    *out = (pcUnit){m->r, m->D, (m->r - 1.0) * m->D, m->n, m->point, pcPreimage(origin, m->point, m->r)};
    return out->gap <= s->margin;
}

/* ---- which features meet: boxes across the normal, swept ---- */

/* What a feature covers across the pair's normal, as pre-images on body 1 (see coverOfBody2). */
typedef struct Cover {
    double low[2], high[2];
    int feature;
} Cover;

static void extend(Cover* c, const pcSearch* s, v3 k)
{
    double p[2] = {v3Dot(k, s->u), v3Dot(k, s->v)};
    for (int i = 0; i < 2; i++) c->low[i] = smaller(c->low[i], p[i]), c->high[i] = larger(c->high[i], p[i]);
}

static Cover emptyCover(int feature) { return (Cover){{HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL}, feature}; }

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

static int compareCovers(const void* a, const void* b)
{
    const Cover *x = a, *y = b;
    if (x->low[0] < y->low[0] || x->low[0] > y->low[0]) return x->low[0] < y->low[0] ? -1 : 1;
    return (x->feature > y->feature) - (x->feature < y->feature);
}

/* All pairs of covers that meet, each once: of every pair the one that begins first looks ahead in the other list. */
static void sweep(pcSearch* s, Cover* a, int countA, Cover* b, int countB, PairTest* test, void* context)
{
    qsort(a, (size_t)countA, sizeof *a, compareCovers);
    qsort(b, (size_t)countB, sizeof *b, compareCovers);
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

static void forMeeting(pcSearch* s, Cover* a, int countA, Cover* b, int countB, PairTest* test, void* context)
{
    if ((long)countA * countB > SWEEP_LIMIT) {
        sweep(s, a, countA, b, countB, test, context);
        return;
    }
    for (int i = 0; i < countA; i++)
        for (int j = 0; j < countB; j++)
            if (coversMeet(a + i, b + j)) test(s, a[i].feature, b[j].feature, context);
}

/* ---- the three kinds, and who keeps what ---- */

bool pcUnitOf(const pcSearch* s, pcEventKind kind, int feature1, int feature2, pcUnit* out)
{
    switch (kind) {
    case PC_CORNER_FACE: return s->frame->shape2->kind == PC_SHAPE_HALFSPACE ? cornerOnPlane(s, feature1, out) : cornerOnFacet(s, feature1, feature2, out);
    case PC_FACE_CORNER: return facetOnCorner(s, feature1, feature2, out);
    case PC_EDGE_EDGE: return edgeOnEdge(s, feature1, feature2, out);
    case PC_SMOOTH: return smooth(s, out);
    }
    return false;
}

static pcFound summary(const pcSearch* s, pcEventKind kind, int feature1, int feature2, const pcUnit* unit)
{
    return (pcFound){pcEventId(s->frame, kind, feature1, feature2), kind, feature1, feature2, unit->gap, v3Dot(unit->n, s->metric->n),
                     v3Dot(unit->x, s->u), v3Dot(unit->x, s->v)};
}

/* Where it was kept, or -1. */
static int keep(pcSearch* s, pcFound found)
{
    s->count++;
    if (s->kept == PC_FOUND_LIMIT) return -1;
    s->found[s->kept] = found;
    return s->kept++;
}

/* A corner meets a facet: if it has met one before, the one that faces the pair's normal better stays. */
static void tryCorner(pcSearch* s, pcEventKind kind, int feature1, int feature2, int* place)
{
    pcUnit unit;
    if (!pcUnitOf(s, kind, feature1, feature2, &unit)) return;
    pcFound found = summary(s, kind, feature1, feature2, &unit);
    if (*place == NONE)
        *place = keep(s, found);
    else if (*place >= 0 && found.facing > s->found[*place].facing)
        s->found[*place] = found;
}

/* Near features of both bodies, and where the event of each near vertex is kept. */
typedef struct Near {
    pcFeatureSet vertices[2], facets[2];
    int place[2][PC_NEAR_LIMIT];
    int edgeCount[2];
    int edge[2][EDGE_LIMIT];
    Cover cover[2][EDGE_LIMIT];
} Near;

/* Vertices are passed by their place in the near set. */
static void tryCornerOnFacet(pcSearch* s, int vertex, int facet, void* context)
{
    Near* near = context;
    tryCorner(s, PC_CORNER_FACE, near->vertices[0].item[vertex], facet, near->place[0] + vertex);
}

static void tryFacetOnCorner(pcSearch* s, int facet, int vertex, void* context)
{
    Near* near = context;
    tryCorner(s, PC_FACE_CORNER, facet, near->vertices[1].item[vertex], near->place[1] + vertex);
}

static void tryEdges(pcSearch* s, int edge1, int edge2, void* context)
{
    (void)context;
    pcUnit unit;
    if (edgeOnEdge(s, edge1, edge2, &unit)) keep(s, summary(s, PC_EDGE_EDGE, edge1, edge2, &unit));
}

/* Edges with a near end, each once. */
static bool nearEdges(const pcShape* s, const pcFeatureSet* vertices, int* edge, int* count)
{
    *count = 0;
    for (int i = 0; i < vertices->count; i++) {
        int vertex = vertices->item[i];
        for (int at = s->fanStart[vertex]; at < s->fanStart[vertex + 1]; at++) {
            int other = s->fanVertex[at];
            if (other < vertex && pcFeatureSetHas(vertices, other)) continue;
            if (*count == EDGE_LIMIT) return false;
            edge[(*count)++] = s->fanEdge[at];
        }
    }
    return true;
}

static bool nearFeatures(const pcSearch* s, double depth, Near* near)
{
    const pcShape* shape[2] = {s->frame->shape1, s->frame->shape2};
    v3 direction[2] = {s->metric->n, v3Neg(m3TMul(&s->frame->R, s->metric->n))};
    for (int side = 0; side < 2; side++) {
        pcSupport top = pcSupportOf(shape[side], direction[side], -1);
        if (!pcNearVertices(shape[side], direction[side], top.value - depth, top.vertex, near->vertices + side)) return false;
        if (!pcNearFacets(shape[side], near->vertices + side, near->facets + side)) return false;
        if (!nearEdges(shape[side], near->vertices + side, near->edge[side], near->edgeCount + side)) return false;
        for (int i = 0; i < near->vertices[side].count; i++) near->place[side][i] = NONE;
    }
    return true;
}

static v3 placed(const pcSearch* s, int side, int vertex) { return side == 0 ? pcShapeK(s->frame->shape1, vertex) : pcFrameK2(s->frame, vertex); }

static void finishCover(const pcSearch* s, int side, Cover* c)
{
    double slack = (s->settings->epsX + CORNER_ZONE) * (s->frame->shape1->outradius + s->frame->shape2->outradius);
    if (side == 1) asSeenFromBody1(c, s, slack);
}

static int coverVertices(const pcSearch* s, Near* near, int side)
{
    const pcFeatureSet* set = near->vertices + side;
    for (int i = 0; i < set->count; i++) {
        Cover c = emptyCover(i);
        extend(&c, s, placed(s, side, set->item[i]));
        finishCover(s, side, &c);
        near->cover[side][i] = c;
    }
    return set->count;
}

static int coverFacets(const pcSearch* s, Near* near, int side)
{
    const pcShape* shape = side == 0 ? s->frame->shape1 : s->frame->shape2;
    const pcFeatureSet* set = near->facets + side;
    for (int i = 0; i < set->count; i++) {
        Cover c = emptyCover(set->item[i]);
        for (int slot = shape->ringStart[set->item[i]]; slot < shape->ringStart[set->item[i] + 1]; slot++)
            extend(&c, s, placed(s, side, shape->ringVertex[slot]));
        finishCover(s, side, &c);
        near->cover[side][i] = c;
    }
    return set->count;
}

static int coverEdges(const pcSearch* s, Near* near, int side)
{
    const pcShape* shape = side == 0 ? s->frame->shape1 : s->frame->shape2;
    for (int i = 0; i < near->edgeCount[side]; i++) {
        const pcEdge* edge = shape->edge + near->edge[side][i];
        Cover c = emptyCover(near->edge[side][i]);
        extend(&c, s, placed(s, side, edge->vertex[0]));
        extend(&c, s, placed(s, side, edge->vertex[1]));
        finishCover(s, side, &c);
        near->cover[side][i] = c;
    }
    return near->edgeCount[side];
}

void pcSearchPolyhedra(pcSearch* s)
{
    Near near;
    double depth = 2.0 * s->margin - (s->metric->r - 1.0) * s->metric->D;
    depth += s->settings->epsX * (s->frame->shape1->outradius + s->frame->shape2->outradius);
    while (!nearFeatures(s, depth, &near)) depth *= 0.5;
    int count1 = coverVertices(s, &near, 0), count2 = coverFacets(s, &near, 1);
    forMeeting(s, near.cover[0], count1, near.cover[1], count2, tryCornerOnFacet, &near);
    count1 = coverFacets(s, &near, 0), count2 = coverVertices(s, &near, 1);
    forMeeting(s, near.cover[0], count1, near.cover[1], count2, tryFacetOnCorner, &near);
    count1 = coverEdges(s, &near, 0), count2 = coverEdges(s, &near, 1);
    forMeeting(s, near.cover[0], count1, near.cover[1], count2, tryEdges, &near);
}

/* Over a plane every near vertex is an event; no feature of the plane is needed. */
void pcSearchPlane(pcSearch* s)
{
    const pcShape* shape = s->frame->shape1;
    pcFeatureSet near;
    double depth = 2.0 * s->margin + larger(0.0, (1.0 - s->metric->r) * s->metric->D);
    pcSupport top = pcSupportOf(shape, s->metric->n, -1);
    while (!pcNearVertices(shape, s->metric->n, top.value - depth, top.vertex, &near)) depth *= 0.5;
    for (int i = 0; i < near.count; i++) {
        pcUnit unit;
        if (cornerOnPlane(s, near.item[i], &unit)) keep(s, summary(s, PC_CORNER_FACE, near.item[i], 0, &unit));
    }
}

void pcSearchSmooth(pcSearch* s)
{
    pcUnit unit;
    if (smooth(s, &unit)) keep(s, summary(s, PC_SMOOTH, 0, 0, &unit));
}
