/*
 * Events of pairs with a round body. Letters as in events.h and metric/round.h.
 *
 * Most of these touch in one point: that of the metric. A cylinder or capsule that lies, and a cylinder that stands, touch along a line or
 * a face: the events are then the corners of the contact region, as for polyhedra (T 3.4), each with its own t and gradient:
 *
 *   corner on face    an end of a line, a point of a rim or a vertex, over a facet, a cap or a plane
 *   line on line      a line (the side of a cylinder or capsule) across an edge or another line
 *   end on line       where two lines, or a line and an edge, are nearly parallel
 *   rim on line       where the rim of a cap leaves a face or the side of another cylinder, and rim on rim between caps
 *
 * An end is a core point with the round part around it: it touches a face where the face's normal says. On a rim stand RIM points at angles
 * that are fixed in the body: so a body at rest keeps its contacts, and their names. If none of the events is as near as the pair
 * itself (a cap that is tilted stands on a point between two of those), the point of the metric is one more.
 */
#include "events/unit.h"
#include "metric/length.h"

#define RIM 6
#define EDGES 256
/* Of the smaller body: by so much the point of a length may leave its feature where that of t lies on it. And of the balls inside the bodies:
 * what of these features reach less along their normal is seen from the side. */
static const double ASTRAY = 0.1;
/* Of Newton's method on a crossing; the first few suffice. */
#define LOOKS 20
/* Relative to r: an event this near to the pair stands for it. A cylinder tilted by so much stands as it should, and keeps its contacts. */
static const double SAME = 1e-11;
/* Cosine between the normal and the axis of a cylinder from which a cap comes into question, and the side no more. */
static const double UPRIGHT = 0.7;
/* Sine of lines that are parallel, and of those of a rim and an edge that only touch. */
static const double ALONG = 1e-6, GRAZES = 1e-4;

typedef enum Form {
    TIP,   /* touches in a point */
    LINE,  /* the side of a capsule or cylinder */
    DISC,  /* the cap of a cylinder */
    FLAT,  /* a polyhedron */
    PLANE, /* a half-space */
} Form;

typedef struct Side {
    const pcShape* shape;
    int index;
    Form form;
    int end; /* DISC: 0 or 1 */
    v3 d;    /* towards the other body, in its own axes */
    pcFeatureSet vertices, facets;
    int edges, edge[EDGES];
} Side;

/* Names of features of round bodies; those of polyhedra are 3 i, 3 i + 1, 3 i + 2 for vertices, edges and facets. */
enum { NAME_TIP = 0, NAME_END = 1, NAME_LINE = 3, NAME_CAP = 4, NAME_CROSSING = 6, NAME_RIM = 16 };

/* ---- how a side meets the normal ---- */

PC_INLINE double acrossAxis(v3 a) { return sqrt(a.x * a.x + a.y * a.y); }

PC_INLINE Form formOf(const pcShape* s, v3 d, double depth)
{
    double length = s->coreCount > 1 ? 2.0 * s->end[1][2] : 0.0;
    if (s->kind == PC_SHAPE_HALFSPACE) return PLANE;
    if (pcShapeIsPolyhedron(s)) return FLAT;
    if (s->kind == PC_SHAPE_CYLINDER && fabs(d.z) > UPRIGHT) return 2.0 * s->radius * acrossAxis(d) <= depth ? DISC : TIP;
    return s->coreCount > 1 && length * fabs(d.z) <= depth ? LINE : TIP;
}

static void addEdges(Side* side)
{
    const pcShape* s = side->shape;
    side->edges = 0;
    for (int i = 0; i < side->facets.count; i++) {
        int facet = side->facets.item[i];
        for (int slot = s->ringStart[facet]; slot < s->ringStart[facet + 1]; slot++) {
            bool first = s->ringFacet[slot] > facet || !pcFeatureSetHas(&side->facets, s->ringFacet[slot]);
            if (first && side->edges < EDGES) side->edge[side->edges++] = s->ringEdge[slot];
        }
    }
}

PC_INLINE void lookAt(const pcSearch* search, int index, double depth, Side* out)
{
    const pcFrame* f = search->frame;
    const pcShape* s = pcFrameShape(f, index);
    v3 local = pcFrameLocal(f, index, search->metric->n);
    out->shape = s, out->index = index, out->d = index == 0 ? local : v3Neg(local);
    out->form = formOf(s, out->d, depth), out->end = out->d.z > 0.0;
    out->vertices.count = out->facets.count = out->edges = 0;
    if (out->form != FLAT) return;
    pcSupport top = pcSupportOf(s, out->d);
    if (!pcNearVertices(s, out->d, top.value - depth, top.vertex, &out->vertices) ||
        !pcNearFacets(s, out->d, FACING, &out->vertices, &out->facets))
        pcNearThinned(s, out->d, top.vertex, &out->vertices, &out->facets);
    addEdges(out);
}

/* ---- keeping ---- */

PC_INLINE bool isKnown(const pcSearch* s, v3 x)
{
    double zone = s->frame->shape2->unbounded ? CORNER_ZONE * s->frame->shape1->outradius : cornerZone(s->frame);
    for (int i = 0; i < s->kept; i++)
        if (v3Max(v3Sub(s->unit[i].x, x)) <= zone) return true;
    return false;
}

/* One point, one event; no more than can be kept with all about them. */
PC_INLINE void keepOnce(pcSearch* s, const pcUnit* unit, v3 force, int name1, int name2)
{
    if (s->kept == PC_UNIT_LIMIT || isKnown(s, unit->x)) return;
    s->force[s->kept] = force;
    keep(s, PC_SMOOTH, name1, name2, unit);
}

/* `side` is that of the first name. */
PC_INLINE void keepNamed(pcSearch* s, int side, const pcUnit* unit, v3 force, int name, int other)
{
    keepOnce(s, unit, force, side == 0 ? name : other, side == 0 ? other : name);
}

/* By t and by length: the gap that is asked for decides whose normal counts. */
static bool unitOfFits(const pcSearch* s, const pcFit* ratio, const pcFit* length, pcUnit* out)
{
    bool own = s->settings->gap == PC_GAP_LENGTH;
    double gap = own ? length->value : (ratio->value - 1.0) * ratio->D;
    *out = (pcUnit){.t = ratio->value, .D = ratio->D, .gap = gap, .x = v3Scale(ratio->value, ratio->p1), .at = {-1, -1}};
    out->n = own ? length->n : ratio->n, out->arm = own ? length->p1 : ratio->p1;
    return isNear(s, out->t, gap, ratio->n, ratio->p1);
}

PC_INLINE pcMeasure measureOf(const pcSearch* s) { return s->sigma != 0.0 ? PC_TWO_SIDED : PC_ONE_SIDED; }

/* ---- corner on face ---- */

/* a.x <= b about the centre of its body, in the frame. */
typedef struct Face {
    v3 a;
    double b;
    int facet; /* of a polyhedron */
    int name;
} Face;

PC_INLINE int faceCount(const Side* side) { return side->form == FLAT ? side->facets.count : side->form == DISC || side->form == PLANE; }

PC_INLINE Face faceOf(const pcFrame* f, const Side* side, int i)
{
    const pcShape* s = side->shape;
    if (side->form == FLAT) {
        int facet = side->facets.item[i];
        return (Face){pcFramePlaced(f, side->index, s->normal[facet]), s->offset[facet], facet, 3 * facet + 2};
    }
    if (side->form == PLANE) return (Face){pcFramePlaced(f, side->index, s->planeNormal), 0.0, -1, NAME_TIP};
    v3 axis = v3Make(0.0, 0.0, side->end ? 1.0 : -1.0);
    return (Face){pcFramePlaced(f, side->index, axis), s->end[1][2], -1, NAME_CAP + side->end};
}

/* Whether y, a point of the face's plane about its body's centre, lies on the face. */
PC_INLINE bool liesOn(const pcSearch* s, const Side* side, const Face* face, v3 y, double slack)
{
    v3 local = pcFrameLocal(s->frame, side->index, y);
    Slots slots;
    if (side->form == PLANE) return true;
    if (side->form == DISC) return acrossAxis(local) <= side->shape->radius * (1.0 + slack);
    decidingSlots(side->shape, face->facet, local, &slots);
    return onFacet(side->shape, &slots, local, slack);
}

/* A corner k of the body `corner` (0 or 1) on a face of the other: the formulas of cornerOnFacet and facetOnCorner in unit.h. */
PC_INLINE bool meetFace(const pcSearch* s, int corner, v3 k, const Side* other, const Face* face, pcUnit* out)
{
    const pcFrame* f = s->frame;
    bool two = s->sigma != 0.0;
    v3 a = face->a, y, p1;
    double b = face->b, reach = v3Dot(a, k), far = v3Dot(a, f->c), D, t, gap;
    if (corner == 0)
        D = (two ? b : 0.0) - reach, t = -(far + (two ? 0.0 : b)) / D, gap = reach - far - b, p1 = k;
    else
        D = two ? b - reach : b, t = (two ? far : far + reach) / D, gap = far + reach - b;
    if (!(D > SLIDES * f->shape1->outradius)) return false;
    if (corner == 0)
        y = two ? v3AddScaled(k, -1.0 / t, f->c) : v3Sub(v3Scale(t, k), f->c);
    else
        y = p1 = two ? v3AddScaled(k, 1.0 / t, f->c) : v3Scale(1.0 / t, v3Add(f->c, k));
    v3 n = corner == 0 ? v3Neg(a) : a, x = v3Scale(t, p1), arm = corner == 0 ? k : v3Add(f->c, k);
    if (!isNear(s, t, gap, n, p1) || !liesOn(s, other, face, y, slackOf(s, t, corner == 1 || two))) return false;
    *out = (pcUnit){t, D, gap, n, x, arm, {-1, -1}};
    return true;
}

/* A core point with its round part where -a touches it. */
PC_INLINE v3 roundCorner(const pcFrame* f, const Side* side, int end, v3 a)
{
    v3 Ad = v3Times(side->shape->semi, pcFrameLocal(f, side->index, a)), core = pcShapeK(side->shape, end);
    double size = v3Norm(Ad);
    if (size > 0.0) core = v3AddScaled(core, -1.0 / size, v3Times(side->shape->semi, Ad));
    return pcFramePlaced(f, side->index, core);
}

static const double rimCosine[RIM] = {1.0, 0.5, -0.5, -1.0, -0.5, 0.5};
static const double rimSine[RIM] = {0.0, 0.86602540378443865, 0.86602540378443865, 0.0, -0.86602540378443865, -0.86602540378443865};

PC_INLINE v3 rimPoint(const pcFrame* f, const Side* side, int i)
{
    double r = side->shape->radius;
    return pcFramePlaced(f, side->index, v3Make(r * rimCosine[i], r * rimSine[i], side->shape->end[side->end][2]));
}

PC_INLINE int cornerCount(const Side* side) { return side->form == LINE ? 2 : side->form == DISC ? RIM : side->vertices.count; }

/* Corner i as the face sees it, and its name. */
PC_INLINE v3 cornerOf(const pcFrame* f, const Side* side, int i, v3 a, int* name)
{
    if (side->form == LINE) {
        *name = NAME_END + i;
        return roundCorner(f, side, i, a);
    }
    if (side->form == DISC) {
        *name = NAME_RIM + RIM * side->end + i;
        return rimPoint(f, side, i);
    }
    *name = 3 * side->vertices.item[i];
    return pcFramePlaced(f, side->index, pcShapeK(side->shape, side->vertices.item[i]));
}

/* Each corner has one event: with the face that faces the pair's normal best. The first face, most often the only one, is placed once. */
PC_INLINE void cornersOnFaces(pcSearch* s, const Side* corners, const Side* faces)
{
    if (faceCount(faces) == 0) return;
    const Face first = faceOf(s->frame, faces, 0);
    for (int i = 0; i < cornerCount(corners); i++) {
        pcUnit best, unit;
        double facing = -1.0;
        int name = 0, bestName = 0, bestFace = 0;
        for (int j = 0; j < faceCount(faces); j++) {
            Face face = j == 0 ? first : faceOf(s->frame, faces, j);
            v3 k = cornerOf(s->frame, corners, i, face.a, &name);
            if (!meetFace(s, corners->index, k, faces, &face, &unit) || !(v3Dot(unit.n, s->metric->n) > facing)) continue;
            facing = v3Dot(unit.n, s->metric->n), best = unit, bestName = name, bestFace = face.name;
        }
        if (facing > 0.0) keepNamed(s, corners->index, &best, best.n, bestName, bestFace);
    }
}

/* ---- lines ---- */

typedef struct Straight {
    pcFeature feature;
    v3 e; /* from end to end, in the frame */
    int name;
} Straight;

PC_INLINE int lineCount(const Side* side) { return side->form == LINE ? 1 : side->edges; }

PC_INLINE Straight straightOf(const pcFrame* f, const Side* side, int i)
{
    Straight line = {.feature = {.count = 2, .vertex = {0, 1}}, .name = NAME_LINE};
    if (side->form == FLAT) {
        const pcEdge* edge = side->shape->edge + side->edge[i];
        line.feature.vertex[0] = edge->vertex[0], line.feature.vertex[1] = edge->vertex[1], line.name = 3 * side->edge[i] + 1;
    }
    v3 first = pcShapeK(side->shape, line.feature.vertex[0]), second = pcShapeK(side->shape, line.feature.vertex[1]);
    line.e = pcFramePlaced(f, side->index, v3Sub(second, first));
    return line;
}

/* Two features by t and by length; their points must lie on them, by t up to rounding. (Lines that are all but parallel come nearest to each
 * other anywhere: far outside, where an impulse would have no end of leverage.) */
static bool meet(const pcSearch* s, const pcFeature* a, const pcFeature* b, pcUnit* out, pcFit* ratio, pcFit* length)
{
    const pcShape *shape1 = s->frame->shape1, *shape2 = s->frame->shape2;
    double zone = cornerZone(s->frame), astray = ASTRAY * smaller(shape1->outradius, shape2->outradius);
    double aside = ASTRAY * (shape1->inradius + s->sigma * shape2->inradius);
    if (!pcFitFeatures(s->frame, PC_LENGTH, a, b, s->metric->n, length) || !(length->value <= 4.0 * s->margin)) return false;
    if (!(length->outside <= astray)) return false;
    if (!pcFitFeatures(s->frame, measureOf(s), a, b, s->metric->n, ratio) || !(ratio->outside <= zone)) return false;
    return ratio->D >= aside && unitOfFits(s, ratio, length, out);
}

static double sineOf(v3 a, v3 b) { return v3Norm(v3Cross(a, b)) / (v3Norm(a) * v3Norm(b)); }

/* How far the bodies reach beyond these features along the normal: more than the window, and the normal is not one that they can push
 * along. A cylinder beside an edge of the face that it lies on is not pushed by that edge. */
static bool canPush(const pcSearch* s, const pcFit* fit, double depth)
{
    pcTip tip1 = pcFrameTip(s->frame, 0, fit->n), tip2 = pcFrameTip(s->frame, 1, fit->n);
    return tip1.value - v3Dot(fit->n, fit->p1) <= depth && tip2.value + v3Dot(fit->n, fit->p2) <= depth;
}

/* How far crossings move with t, relative to the lengths of the features: those that come into question lie between r and there. */
PC_INLINE double driftOf(const pcSearch* s) { return 0.1 + 4.0 * s->margin / (fabs(s->metric->r) * s->metric->D); }

/* Whether two lines, as they are scaled at r and seen along the pair's normal, come near to crossing within both: most do not. */
PC_INLINE bool mayCross(const pcSearch* s, const Straight* a, const Straight* b)
{
    const pcFrame* f = s->frame;
    double r = s->metric->r, f2 = s->sigma != 0.0 ? r : 1.0, drift = driftOf(s);
    v3 from = v3Scale(r, pcShapeK(f->shape1, a->feature.vertex[0])), to = v3AddScaled(f->c, f2, pcFrameK2(f, b->feature.vertex[0]));
    v3 m = v3Sub(to, from), e = v3Scale(r, a->e), g = v3Scale(f2, b->e), n = s->metric->n;
    double area = v3Dot(v3Cross(e, g), n), alpha = v3Dot(v3Cross(m, g), n), beta = v3Dot(v3Cross(m, e), n), slack = drift * fabs(area);
    double low = -slack, high = fabs(area) + slack, sign = area < 0.0 ? -1.0 : 1.0;
    return sign * alpha >= low && sign * alpha <= high && sign * beta >= low && sign * beta <= high;
}

static void endsOnLine(pcSearch* s, const Side* ends, const Straight* of, const Side* lines, const Straight* line, double depth)
{
    for (int i = 0; i < 2; i++) {
        pcFeature end = {.count = 1, .vertex = {of->feature.vertex[i]}};
        pcUnit unit;
        pcFit ratio, fit;
        bool met =
            ends->index == 0 ? meet(s, &end, &line->feature, &unit, &ratio, &fit) : meet(s, &line->feature, &end, &unit, &ratio, &fit);
        int name = ends->form == LINE ? NAME_END + i : 3 * end.vertex[0];
        if (met && canPush(s, &fit, depth)) keepNamed(s, lines->index, &unit, ratio.n, line->name, name);
    }
}

PC_INLINE void linesOnLines(pcSearch* s, const Side* side, double depth)
{
    double round = side[0].shape->radius + side[1].shape->radius;
    for (int i = 0; i < lineCount(side); i++) {
        Straight a = straightOf(s->frame, side, i);
        for (int j = 0; j < lineCount(side + 1); j++) {
            Straight b = straightOf(s->frame, side + 1, j);
            double sine = sineOf(a.e, b.e), across = sine * smaller(v3Norm(a.e), v3Norm(b.e));
            pcUnit unit;
            pcFit ratio, fit;
            if (across * across <= 2.0 * round * depth) { /* the ends are no farther than the window below the middle */
                endsOnLine(s, side, &a, side + 1, &b, depth);
                endsOnLine(s, side + 1, &b, side, &a, depth);
            }
            if (sine > ALONG && mayCross(s, &a, &b) && meet(s, &a.feature, &b.feature, &unit, &ratio, &fit))
                keepNamed(s, 0, &unit, ratio.n, a.name, b.name);
        }
    }
}

/* ---- rims ---- */

/* What a rim crosses: the line from k to k + g about the centre of the other body. */
typedef struct Crossed {
    const Side* side;
    Straight line;
    v3 k, g;
} Crossed;

/* Where a point of the other body, about its centre, lies as seen by the body of the rim when it is scaled; for a length, moved along n. */
PC_INLINE v3 seenFrom(const pcSearch* s, int rim, v3 k, const pcFit* at, pcMeasure measure)
{
    double f1 = measure == PC_LENGTH ? 1.0 : at->value, f2 = measure == PC_TWO_SIDED ? at->value : 1.0;
    v3 shift = measure == PC_LENGTH ? v3Scale(at->value, at->n) : v3Make(0.0, 0.0, 0.0);
    if (rim == 0) return v3Scale(1.0 / f1, v3Sub(v3AddScaled(s->frame->c, f2, k), shift));
    return v3Scale(1.0 / f2, v3Add(v3Sub(v3Scale(f1, k), s->frame->c), shift));
}

/* One of the two places where the segment from p to q, seen in the plane of the cap, crosses its circle. */
static bool crossCircle(v3 p, v3 q, double r, int which, double* part)
{
    double dx = q.x - p.x, dy = q.y - p.y, a = dx * dx + dy * dy, b = p.x * dx + p.y * dy, c = p.x * p.x + p.y * p.y - r * r;
    double root = b * b - a * c;
    if (!(root > 0.0) || !(a > 0.0)) return false;
    *part = (-b + (which ? 1.0 : -1.0) * sqrt(root)) / a;
    return *part >= 0.0 && *part <= 1.0;
}

/* The same of two circles in one plane: the other's centre at p, radius r2. */
static bool crossCircles(v3 p, double r, double r2, int which, double* angle)
{
    double d = hypot(p.x, p.y), along = (d * d + r * r - r2 * r2) / (2.0 * d), square = r * r - along * along;
    if (!(d > 0.0) || !(square > 0.0)) return false;
    double across = (which ? 1.0 : -1.0) * sqrt(square);
    *angle = atan2(along * p.y + across * p.x, along * p.x - across * p.y);
    return true;
}

/* The line as it touches a face along n: of a round side the line of its surface. */
PC_INLINE void placeLine(const pcSearch* s, Crossed* c, v3 n)
{
    const pcFrame* f = s->frame;
    v3 a = c->side->index == 0 ? v3Neg(n) : n;
    if (c->side->form == LINE)
        c->k = roundCorner(f, c->side, 0, a);
    else
        c->k = pcFramePlaced(f, c->side->index, pcShapeK(c->side->shape, c->line.feature.vertex[0]));
    c->g = c->line.e;
}

/* The value that follows from the two tangents and points of a fit; false if they graze, or do not come together along their normal. */
static bool valueFrom(const pcSearch* s, v3 tangent1, v3 tangent2, pcMeasure measure, pcFit* fit)
{
    v3 n = v3Cross(tangent1, tangent2);
    double size = v3Norm(n);
    if (!(size > GRAZES * v3Norm(tangent1) * v3Norm(tangent2))) return false;
    fit->n = v3Scale((v3Dot(n, s->metric->n) < 0.0 ? -1.0 : 1.0) / size, n);
    double h1 = v3Dot(fit->n, fit->p1), h2 = -v3Dot(fit->n, fit->p2), away = v3Dot(fit->n, s->frame->c);
    fit->D = measure == PC_LENGTH ? 1.0 : measure == PC_TWO_SIDED ? h1 + h2 : h1;
    fit->value = measure == PC_LENGTH ? away - h1 - h2 : (measure == PC_TWO_SIDED ? away : away - h2) / fit->D;
    return fit->D > 0.0 && (measure == PC_LENGTH || fit->value > 0.0);
}

/* The point of the rim in the unit direction (x, y) of its plane, and the tangent there, in the frame. */
static v3 towardsRim(const pcFrame* f, const Side* rim, double x, double y, v3* tangent)
{
    double r = rim->shape->radius;
    *tangent = pcFramePlaced(f, rim->index, v3Make(-y, x, 0.0));
    return pcFramePlaced(f, rim->index, v3Make(r * x, r * y, rim->shape->end[rim->end][2]));
}

static v3 onRim(const pcFrame* f, const Side* rim, double angle, v3* tangent)
{
    return towardsRim(f, rim, cos(angle), sin(angle), tangent);
}

PC_INLINE pcFit startAtPair(const pcSearch* s, pcMeasure measure)
{
    const pcFrameMetric* m = s->metric;
    return (pcFit){.n = m->n, .value = measure == PC_LENGTH ? (m->r - 1.0) * m->D : m->r, .D = m->D};
}

/* Whether a look changed nothing any more. */
static bool hasSettled(const Side* rim, pcMeasure measure, double last, double now)
{
    return fabs(now - last) <= 4.0 * PC_ROUND * (measure == PC_LENGTH ? rim->shape->outradius : fabs(last));
}

/* Where the rim and the line cross as they are scaled, and what t follows; again with that t: it moves the crossing by the tilt of the two
 * faces only. */
static bool crossLine(const pcSearch* s, const Side* rim, Crossed* c, int which, pcMeasure measure, pcFit* fit)
{
    const pcFrame* f = s->frame;
    *fit = startAtPair(s, measure);
    for (int i = 0; i < LOOKS; i++) {
        double last = fit->value, part;
        placeLine(s, c, fit->n);
        v3 p = pcFrameLocal(f, rim->index, seenFrom(s, rim->index, c->k, fit, measure)), tangent;
        v3 q = pcFrameLocal(f, rim->index, seenFrom(s, rim->index, v3Add(c->k, c->g), fit, measure));
        if (!crossCircle(p, q, rim->shape->radius, which, &part)) return false;
        double x = p.x + part * (q.x - p.x), y = p.y + part * (q.y - p.y), perSize = 1.0 / sqrt(x * x + y * y);
        v3 own = towardsRim(f, rim, perSize * x, perSize * y, &tangent), other = v3AddScaled(c->k, part, c->g);
        fit->p1 = rim->index == 0 ? own : other, fit->p2 = rim->index == 0 ? other : own;
        if (!valueFrom(s, tangent, c->g, measure, fit)) return false;
        if (i > 0 && hasSettled(rim, measure, last, fit->value)) break;
    }
    return true;
}

/* Two rims: from where they would cross if their planes were one, by Newton's method on both angles: what is left of rho is taken apart
 * along the two tangents. `rim` is of body 1. */
static bool crossRims(const pcSearch* s, const Side* rim, const Side* other, int which, pcMeasure measure, pcFit* fit)
{
    const pcFrame* f = s->frame;
    double angle1, angle2;
    v3 tangent1, tangent2, centre = pcFramePlaced(f, 1, pcShapeK(other->shape, other->end));
    *fit = startAtPair(s, measure);
    double scale = measure == PC_ONE_SIDED ? 1.0 / fit->value : 1.0;
    v3 seen = pcFrameLocal(f, 0, seenFrom(s, 0, centre, fit, measure));
    if (!crossCircles(seen, rim->shape->radius, scale * other->shape->radius, which, &angle1)) return false;
    v3 local = pcFrameLocal(f, 1, seenFrom(s, 1, onRim(f, rim, angle1, &tangent1), fit, measure));
    angle2 = atan2(local.y, local.x);
    for (int i = 0; i < LOOKS; i++) {
        double last = fit->value;
        fit->p1 = onRim(f, rim, angle1, &tangent1), fit->p2 = onRim(f, other, angle2, &tangent2);
        if (!valueFrom(s, tangent1, tangent2, measure, fit)) return false;
        double f1 = measure == PC_LENGTH ? 1.0 : fit->value, f2 = measure == PC_TWO_SIDED ? fit->value : 1.0;
        v3 rho = v3Add(v3AddScaled(f->c, -f1, fit->p1), v3Scale(f2, fit->p2)), cross = v3Cross(tangent1, tangent2);
        double square = v3Dot(cross, cross), a = v3Dot(v3Cross(rho, tangent2), cross) / square,
               b = v3Dot(v3Cross(tangent1, rho), cross) / square;
        if (i > 0 && hasSettled(rim, measure, last, fit->value)) break;
        angle1 += a / (f1 * rim->shape->radius), angle2 -= b / (f2 * other->shape->radius);
    }
    return true;
}

static void keepCrossing(pcSearch* s, const Side* rim, const pcFit* ratio, const pcFit* length, int which, int other)
{
    pcUnit unit;
    if (unitOfFits(s, ratio, length, &unit)) keepNamed(s, rim->index, &unit, ratio->n, NAME_CROSSING + 2 * rim->end + which, other);
}

/* Whether the line, seen at r in the plane of the cap, comes near the rim: from outside it, or to beyond it. In squares: most lines do not. */
PC_INLINE bool mayLeave(const pcSearch* s, const Side* rim, Crossed* c, const pcFit* at, double slack)
{
    placeLine(s, c, at->n);
    v3 p = pcFrameLocal(s->frame, rim->index, seenFrom(s, rim->index, c->k, at, measureOf(s)));
    v3 q = pcFrameLocal(s->frame, rim->index, seenFrom(s, rim->index, v3Add(c->k, c->g), at, measureOf(s)));
    double dx = q.x - p.x, dy = q.y - p.y, square = dx * dx + dy * dy, along = -(p.x * dx + p.y * dy), r = rim->shape->radius;
    double first = p.x * p.x + p.y * p.y, second = q.x * q.x + q.y * q.y, beside = p.x * dy - p.y * dx;
    if (!(slack * slack * larger(first, second) >= r * r)) return false;
    if (along <= 0.0) return first <= slack * slack * r * r;
    if (along >= square) return second <= slack * slack * r * r;
    return beside * beside <= slack * slack * r * r * square;
}

PC_INLINE void rimOnLines(pcSearch* s, const Side* rim, const Side* other)
{
    pcFit ratio, length;
    const pcFit at = startAtPair(s, measureOf(s));
    double slack = 1.0 + driftOf(s);
    for (int i = 0; i < lineCount(other); i++) {
        Crossed c = {.side = other, .line = straightOf(s->frame, other, i)};
        if (!mayLeave(s, rim, &c, &at, slack)) continue;
        for (int which = 0; which < 2; which++)
            if (crossLine(s, rim, &c, which, measureOf(s), &ratio) && crossLine(s, rim, &c, which, PC_LENGTH, &length))
                keepCrossing(s, rim, &ratio, &length, which, c.line.name);
    }
}

static void rimOnRim(pcSearch* s, const Side* side)
{
    pcFit ratio, length;
    for (int which = 0; which < 2; which++)
        if (crossRims(s, side, side + 1, which, measureOf(s), &ratio) && crossRims(s, side, side + 1, which, PC_LENGTH, &length))
            keepCrossing(s, side, &ratio, &length, which, NAME_CAP + side[1].end);
}

/* ---- one point ---- */

static void keepPoint(pcSearch* s)
{
    const pcFrame* f = s->frame;
    const pcFrameMetric* m = s->metric;
    v3 origin = {0.0, 0.0, 0.0}, own = f->shape2->unbounded ? m->corner : pcPreimage(origin, m->point, m->r);
    pcUnit unit = {m->r, m->D, (m->r - 1.0) * m->D, m->n, m->point, own, {-1, -1}};
    bool spheres = f->shape1->kind == PC_SHAPE_SPHERE && f->shape2->kind == PC_SHAPE_SPHERE;
    pcLengthAnswer length;
    if (s->settings->gap == PC_GAP_LENGTH && !spheres && !f->shape2->unbounded && pcFrameLength(f, m, &length))
        unit.gap = length.s, unit.n = length.n, unit.arm = length.p1;
    if (unit.gap <= s->margin) keepOnce(s, &unit, m->n, NAME_TIP, NAME_TIP);
}

/* ---- in a container ---- */

static bool standsForPair(const pcSearch* s)
{
    double nearest = HUGE_VAL;
    for (int i = 0; i < s->kept; i++) nearest = smaller(nearest, s->unit[i].t);
    return nearest <= s->metric->r + SAME * fabs(s->metric->r);
}

/* A corner k, or a point that takes its place as the body grows: |t k - c| = R (metric/container.c). `asIs` is that of the body as it is. */
static void keepInside(pcSearch* s, double t, v3 k, v3 asIs, int name)
{
    const pcFrame* f = s->frame;
    v3 scaled = v3Sub(v3Scale(t, k), f->c), now = v3Sub(asIs, f->c);
    double distance = v3Norm(now), size = v3Norm(scaled);
    if (!(distance > 0.0 && size > 0.0)) return;
    v3 u = v3Scale(1.0 / size, scaled);
    pcUnit unit = {t, v3Dot(u, k), f->shape2->radius - distance, u, v3Scale(t, k), asIs, {-1, -1}};
    if (s->settings->gap == PC_GAP_LENGTH)
        unit.n = v3Scale(1.0 / distance, now);
    else
        unit.gap = (t - 1.0) * unit.D;
    bool near = unit.gap <= s->margin && unit.D > SLIDES * f->shape1->outradius && t >= s->low && t <= s->high;
    if (near) keepOnce(s, &unit, u, name, NAME_TIP);
}

static double cornerFactor(const pcFrame* f, v3 k)
{
    double R = f->shape2->radius, square = v3Dot(k, k), half = v3Dot(k, f->c), rest = v3Dot(f->c, f->c) - R * R;
    return (half + sqrt(larger(0.0, half * half - square * rest))) / square;
}

/* Points of the body by themselves, each a corner: where all of them come near the sphere at once, the body stands on all of them. */
static void cornerInside(pcSearch* s, v3 k, int name) { keepInside(s, cornerFactor(s->frame, k), k, k, name); }

static void rimInside(pcSearch* s, int end)
{
    const pcShape* shape = s->frame->shape1;
    for (int i = 0; i < RIM; i++)
        cornerInside(s, v3Make(shape->radius * rimCosine[i], shape->radius * rimSine[i], shape->end[end][2]), NAME_RIM + RIM * end + i);
}

/* One end of a capsule or cylinder by itself: a body of one core point. Its farthest point is one more where no point of its rim is as near. */
static void endInside(pcSearch* s, int end)
{
    const pcFrame* f = s->frame;
    int before = s->kept;
    if (f->shape1->kind == PC_SHAPE_CYLINDER) rimInside(s, end);
    pcShape half = *f->shape1;
    half.coreCount = 1, half.k = half.end[0], half.end[0][2] = f->shape1->end[end][2];
    double t = s->metric->r;
    pcFarthest far = pcFarthestFrom(&half, f->c, t);
    for (int i = 0; i < LOOKS && t > 0.0; i++) {
        double next = (f->shape2->radius + v3Dot(far.u, f->c)) / v3Dot(far.u, far.k), last = t;
        t = next, far = pcFarthestFrom(&half, f->c, t);
        if (fabs(t - last) <= 4.0 * PC_ROUND * t) break;
    }
    for (int i = before; i < s->kept; i++)
        if (s->unit[i].t <= t + SAME * fabs(t)) return;
    keepInside(s, t, far.k, pcFarthestFrom(&half, f->c, 1.0).k, NAME_END + end);
}

/* An ellipsoid that is flatter than the sphere somewhere touches it along a ring around its shortest axis, or at both ends of the longest one:
 * points of the ring at the height of the farthest point, and that point's image at the other end. */
static void ringInside(pcSearch* s)
{
    const pcShape* shape = s->frame->shape1;
    double a[3], k[3], u[3];
    int first = 0, last = 0;
    v3Store(a, shape->semi), v3Store(k, pcFarthestFrom(shape, s->frame->c, 1.0).k);
    for (int i = 1; i < 3; i++) first = a[i] < a[first] ? i : first, last = a[i] >= a[last] ? i : last;
    if (!(a[last] * a[last] > s->frame->shape2->radius * a[first])) return;
    double height = k[first] / a[first], across = sqrt(larger(0.0, 1.0 - height * height));
    int x = (first + 1) % 3, y = (first + 2) % 3;
    for (int i = 0; i < RIM; i++) {
        u[first] = k[first], u[x] = a[x] * across * rimCosine[i], u[y] = a[y] * across * rimSine[i];
        cornerInside(s, v3Load(u), NAME_RIM + RIM * (height > 0.0) + i);
    }
    k[last] = -k[last];
    cornerInside(s, v3Load(k), NAME_END + (k[last] > 0.0));
}

/* The centre is outside: whatever grows about it leaves the ball. What holds the body is the point that is farthest out as it is. */
static void keepFarthest(pcSearch* s)
{
    const pcFrameMetric* m = s->metric;
    pcUnit unit = {m->r, m->D, (m->r - 1.0) * m->D, m->n, m->point, m->corner, {-1, -1}};
    keepOnce(s, &unit, m->n, NAME_TIP, NAME_TIP);
}

static void searchContainer(pcSearch* s)
{
    const pcShape* shape = s->frame->shape1;
    if (v3Norm(s->frame->c) >= s->frame->shape2->radius) {
        keepFarthest(s);
        return;
    }
    for (int i = 0; i < shape->vertexCount; i++) cornerInside(s, pcShapeK(shape, i), 3 * i);
    for (int end = 0; end < 2 && shape->coreCount > 1; end++) endInside(s, end);
    if (shape->kind == PC_SHAPE_ELLIPSOID) ringInside(s);
    if (!standsForPair(s)) keepInside(s, s->metric->r, s->metric->corner, pcFarthestFrom(shape, s->frame->c, 1.0).k, NAME_TIP);
}

/* ---- all ---- */

PC_SIMD void pcSearchRound(pcSearch* s)
{
    const pcFrame* f = s->frame;
    Side side[2];
    double size2 = f->shape2->unbounded ? 0.0 : f->shape2->outradius;
    double depth = 2.0 * s->margin - (s->metric->r - 1.0) * s->metric->D + 2.0 * CORNER_ZONE * (f->shape1->outradius + size2);
    if (f->shape2->kind == PC_SHAPE_CONTAINER) {
        searchContainer(s);
        return;
    }
    lookAt(s, 0, depth, side);
    lookAt(s, 1, depth, side + 1);
    if (side[0].form != TIP && side[1].form != TIP) {
        cornersOnFaces(s, side, side + 1);
        cornersOnFaces(s, side + 1, side);
        linesOnLines(s, side, depth);
        for (int i = 0; i < 2; i++)
            if (side[i].form == DISC) rimOnLines(s, side + i, side + 1 - i);
        if (side[0].form == DISC && side[1].form == DISC) rimOnRim(s, side);
    }
    if (!standsForPair(s)) keepPoint(s);
}
