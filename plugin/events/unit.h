/*
 * One event: whether two features meet, and all about it (T 3.5, T 3.14). Letters as in events.h. Included by find.c and round.c, where every
 * function here is inlined into the search.
 */
#ifndef PC_EVENTS_UNIT_H
#define PC_EVENTS_UNIT_H

#include "events/events.h"

/* Relative to the size of the bodies: closer than this to a corner is at the corner. As epsX by default, far above rounding. */
static const double CORNER_ZONE = 1e-9;
/* Sine of the angle below which two edges are parallel: well under CORNER_ZONE, so that corners are found before crossings are lost. */
static const double PARALLEL = 1e-10;
/* D below this fraction of the lengths it is a difference of is rounding: the features never meet, they slide along each other. */
static const double SLIDES = 1e-13;
/* Cosine to the pair's normal from which an event counts: what pushes across it would come and go with rounding, and normals of edges that
 * are nearly parallel are known to 1e-6 only. */
static const double FACING = 1e-5;
/* Above this, epsX is a choice and not an allowance for rounding: points are checked against whole bodies, as T 3.14 says. */
static const double WIDE = 1e-8;

/* t in range, own gap and distance along the pair's normal within the margin. `p1` is the pre-image on body 1. */
PC_INLINE bool isNear(const pcSearch* s, double t, double gap, v3 n, v3 p1)
{
    if (!(t >= s->low && t <= s->high) || !(gap <= s->margin) || !(v3Dot(n, s->metric->n) > FACING)) return false;
    double apart = s->sigma != 0.0 ? v3Dot(s->metric->n, s->frame->c) * (1.0 - 1.0 / t) : (t - 1.0) * v3Dot(s->metric->n, p1);
    return apart <= 2.0 * s->margin;
}

/* Whether y (in the body's axes, about its centre) satisfies facet k of the body widened by `slack`: a.y <= b (1 + slack). */
PC_INLINE bool inFacet(const pcShape* s, int k, v3 y, double slack) { return v3Dot(s->normal[k], y) <= s->offset[k] * (1.0 + slack); }

/* The ring edge of a facet with many corners whose wedge, seen from the first corner, holds y. */
PC_INLINE int wedgeOf(const pcShape* s, int facet, v3 y)
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
    int count, slot[8];
} Slots;

PC_INLINE void decidingSlots(const pcShape* s, int facet, v3 y, Slots* out)
{
    int first = s->ringStart[facet], size = s->ringStart[facet + 1] - first;
    out->count = size <= 8 ? size : 6;
    if (size <= 8) {
        for (int i = 0; i < size; i++) out->slot[i] = first + i;
        return;
    }
    int wedge = wedgeOf(s, facet, y);
    for (int i = 0; i < 4; i++) out->slot[i] = first + (wedge + i - 1 + size) % size;
    out->slot[4] = first, out->slot[5] = first + size - 1;
}

/* Whether y is in the body widened by slack, facet by facet (T 3.14). */
static bool inWidened(const pcShape* s, v3 y, double slack)
{
    for (int k = 0; k < s->facetCount; k++)
        if (!inFacet(s, k, y, slack)) return false;
    return true;
}

/* y on the plane of a facet: inside its polygon, up to slack? A slack that is not small lets y reach facets beyond the neighbours. */
PC_INLINE bool onFacet(const pcShape* s, const Slots* slots, v3 y, double slack)
{
    if (slack > WIDE) return inWidened(s, y, slack);
    for (int i = 0; i < slots->count; i++)
        if (!inFacet(s, s->ringFacet[slots->slot[i]], y, slack)) return false;
    return true;
}

/* One zone for both bodies, so that both say the same of a common point. */
PC_INLINE double cornerZone(const pcFrame* f) { return CORNER_ZONE * larger(f->shape1->outradius, f->shape2->outradius); }

/* The corner of a facet that y is at, or -1. */
PC_INLINE int cornerAt(const pcShape* s, const Slots* slots, v3 y, double zone)
{
    for (int i = 0; i < slots->count; i++) {
        v3 d = v3Sub(y, pcShapeK(s, s->ringVertex[slots->slot[i]]));
        if (v3Max(d) <= zone) return s->ringVertex[slots->slot[i]];
    }
    return -1;
}

/* epsX widens a body that is scaled by t by b epsX: as it is, by b epsX / t (T 3.14). */
PC_INLINE double slackOf(const pcSearch* s, double t, bool scales) { return scales ? s->settings->epsX / t : s->settings->epsX; }

/* ---- corner of body 1 on a facet of body 2 ---- */

PC_INLINE bool cornerOnFacet(const pcSearch* s, int vertex, int facet, pcUnit* out)
{
    const pcFrame* f = s->frame;
    const pcShape* s2 = f->shape2;
    v3 k = pcShapeK(f->shape1, vertex), a = m3Mul(&f->R, s2->normal[facet]);
    double b = s2->offset[facet], reach = v3Dot(a, k), far = v3Dot(a, f->c);
    bool two = s->sigma != 0.0;
    double D = (two ? b : 0.0) - reach, t = -(far + (two ? 0.0 : b)) / D, gap = reach - far - b;
    if (!(D > SLIDES * f->shape1->outradius) || !isNear(s, t, gap, v3Neg(a), k)) return false;
    v3 x = v3Scale(t, k), y = two ? v3AddScaled(k, -1.0 / t, f->c) : v3Sub(x, f->c), local = m3TMul(&f->R, y);
    Slots slots;
    decidingSlots(s2, facet, local, &slots);
    if (!onFacet(s2, &slots, local, slackOf(s, t, two))) return false;
    *out = (pcUnit){t, D, gap, v3Neg(a), x, k, {-1, -1}};
    return true;
}

/* ---- facet of body 1 on a corner of body 2 ---- */

PC_INLINE bool facetOnCorner(const pcSearch* s, int facet, int vertex, pcUnit* out)
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
    Slots slots;
    decidingSlots(s1, facet, y, &slots);
    if (!onFacet(s1, &slots, y, slackOf(s, t, true))) return false;
    *out = (pcUnit){t, D, gap, a, v3Scale(t, y), corner, {cornerAt(s1, &slots, y, cornerZone(f)), -1}};
    return true;
}

/* ---- edge on edge ---- */

/* The crossing at `part` of the way along an edge of that squared length: on it, or past its end by what epsX allows. */
PC_INLINE bool onEdge(const pcShape* s, double part, v3 y, double square, double slack)
{
    double toEnd = smaller(part, 1.0 - part), zone = CORNER_ZONE * s->outradius;
    return toEnd >= 0.0 || toEnd * toEnd * square <= zone * zone || (slack > WIDE && inWidened(s, y, slack));
}

/* The end of an edge that is within the zone of the other edge's line, or -1: squares of lengths, `square` of the cross product of the
 * two edges and `other` of the other edge. */
PC_INLINE int endAt(const pcEdge* edge, double part, double square, double other, double zone)
{
    double toEnd = smaller(part, 1.0 - part);
    return toEnd * toEnd * square <= zone * zone * other ? edge->vertex[part > 0.5] : -1;
}

/* An edge of either body in the frame: its line is k + part e. */
typedef struct Line {
    v3 k, e;
    int edge;
} Line;

PC_INLINE Line lineOf(const pcFrame* f, int side, int edge)
{
    const pcShape* s = side == 0 ? f->shape1 : f->shape2;
    v3 k = pcShapeK(s, s->edge[edge].vertex[0]), e = v3Sub(pcShapeK(s, s->edge[edge].vertex[1]), k);
    return side == 0 ? (Line){k, e, edge} : (Line){m3Mul(&f->R, k), m3Mul(&f->R, e), edge};
}

/* f1 (k1 + alpha e) = c + f2 (k2 + beta g), with m = c + f2 k2 - f1 k1 in the plane of e and g and n = e x g towards body 2. Most pairs
 * of edges that are tried do not meet, so they are refused before anything is divided: all is multiplied by D, f1 D = over. */
PC_INLINE bool edgeOnEdge(const pcSearch* s, const Line* a, const Line* b, pcUnit* out)
{
    const pcFrame* f = s->frame;
    bool two = s->sigma != 0.0;
    v3 k1 = a->k, k2 = b->k, e = a->e, g = b->e, cross = v3Cross(e, g);
    double sign = v3Dot(cross, s->metric->n) < 0.0 ? -1.0 : 1.0, square = v3Dot(cross, cross);
    double reach1 = sign * v3Dot(cross, k1), reach2 = sign * v3Dot(cross, k2), far = sign * v3Dot(cross, f->c);
    double D = two ? reach1 - reach2 : reach1, over = two ? far : far + reach2, room = over - D, f2D = two ? over : D;
    bool apart = (room > 0.0) & (room * room > s->margin * s->margin * square);
    if (apart || !(D > 0.0)) return false;
    v3 m = v3Sub(v3AddScaled(v3Scale(D, f->c), f2D, k2), v3Scale(over, k1));
    double alpha = v3Dot(v3Cross(m, g), cross), whole1 = square * over, beta = v3Dot(v3Cross(m, e), cross), whole2 = square * f2D;
    double past = smaller(smaller(alpha, whole1 - alpha), smaller(beta, whole2 - beta));
    if (past < -s->pastEnds * larger(whole1, whole2)) return false;
    double t = over / D, perLength = 1.0 / sqrt(square), perSquare = perLength * perLength, ee = v3Dot(e, e), gg = v3Dot(g, g);
    if (!(square > PARALLEL * PARALLEL * ee * gg) || !(D * perLength > SLIDES * f->shape1->outradius)) return false;
    const pcEdge *edge1 = f->shape1->edge + a->edge, *edge2 = f->shape2->edge + b->edge;
    double zone = cornerZone(f);
    alpha /= whole1, beta /= whole2;
    v3 n = v3Scale(sign * perLength, cross), y1 = v3AddScaled(k1, alpha, e), y2 = m3TMul(&f->R, v3AddScaled(k2, beta, g));
    if (!isNear(s, t, room * perLength, n, y1)) return false;
    if (!onEdge(f->shape1, alpha, y1, ee, slackOf(s, t, true))) return false;
    if (!onEdge(f->shape2, beta, y2, gg, slackOf(s, t, two))) return false;
    /* The closest points of the two lines as they are; but those of nearly parallel lines that are still apart may be miles away, where no
     * contact will be: not beyond the edge by more than its length. */
    v3 between = v3Sub(v3Add(f->c, k2), k1);
    v3 arm = v3AddScaled(k1, smaller(larger(v3Dot(v3Cross(between, g), cross) * perSquare, -1.0), 2.0), e);
    *out = (pcUnit){t,
                    D * perLength,
                    room * perLength,
                    n,
                    v3Scale(t, y1),
                    arm,
                    {endAt(edge1, alpha, square, gg, zone), endAt(edge2, beta, square, ee, zone)}};
    return true;
}

/* ---- over a plane ---- */

/* t = height of the centre / reach of the corner (T 2.18); it goes on below the surface, where t <= 0. */
PC_INLINE bool cornerOnPlane(const pcSearch* s, int vertex, pcUnit* out)
{
    v3 k = pcShapeK(s->frame->shape1, vertex), n = s->metric->n;
    double height = s->metric->r * s->metric->D, D = v3Dot(n, k), t = height / D, gap = height - D;
    if (!(D > SLIDES * s->frame->shape1->outradius) || !(gap <= s->margin) || !(t >= s->low && t <= s->high)) return false;
    *out = (pcUnit){t, D, gap, n, v3Scale(t, k), k, {-1, -1}};
    return true;
}

/* ---- the list ---- */

/* Puts it at that place of the list; the first few with all that is known, so that it need not be computed again. */
PC_INLINE void put(pcSearch* s, int place, pcEventKind kind, int feature1, int feature2, const pcUnit* unit)
{
    pcFound* found = s->found + place;
    found->id = pcEventId(s->frame, kind, feature1, feature2);
    found->kind = kind, found->feature1 = feature1, found->feature2 = feature2;
    found->gap = unit->gap, found->facing = v3Dot(unit->n, s->metric->n);
    found->u = v3Dot(unit->x, s->u), found->v = v3Dot(unit->x, s->v);
    found->unit = place < PC_UNIT_LIMIT ? place : -1;
    if (place < PC_UNIT_LIMIT && unit != s->unit + place) s->unit[place] = *unit;
}

/* Where to compute the next unit: at once where it will be kept, if it is. A copy would wait until every number of it is written. */
PC_INLINE pcUnit* nextUnit(pcSearch* s, pcUnit* otherwise) { return s->kept < PC_UNIT_LIMIT ? s->unit + s->kept : otherwise; }

/* Where it was kept, or -1. In a full list it takes the place of one less deep, so that the deepest is always there. */
PC_INLINE int keep(pcSearch* s, pcEventKind kind, int feature1, int feature2, const pcUnit* unit)
{
    int place = s->count++ % PC_FOUND_LIMIT;
    if (s->kept < PC_FOUND_LIMIT)
        s->kept++;
    else if (!(unit->gap < s->found[place].gap))
        return -1;
    put(s, place, kind, feature1, feature2, unit);
    return place;
}

#endif
