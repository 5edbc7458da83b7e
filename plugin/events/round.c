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
/* Relative to r: an event this near to the pair stands for it. */
static const double SAME = 1e-7;
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

static Form formOf(const pcShape* s, v3 d, double depth)
{
    double length = s->coreCount > 1 ? 2.0 * s->end[1][2] : 0.0;
    if (s->kind == PC_SHAPE_HALFSPACE) return PLANE;
    if (pcShapeIsPolyhedron(s)) return FLAT;
    if (s->kind == PC_SHAPE_CYLINDER && fabs(d.z) > UPRIGHT) return 2.0 * s->radius * hypot(d.x, d.y) <= depth ? DISC : TIP;
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

static void lookAt(const pcSearch* search, int index, double depth, Side* out)
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

static bool isKnown(const pcSearch* s, const pcUnit* unit)
{
    double u = v3Dot(unit->x, s->u), v = v3Dot(unit->x, s->v), zone = CORNER_ZONE * s->frame->shape1->outradius;
    if (!s->frame->shape2->unbounded) zone = cornerZone(s->frame);
    for (int i = 0; i < s->kept; i++)
        if (fabs(s->found[i].u - u) <= zone && fabs(s->found[i].v - v) <= zone) return true;
    return false;
}

/* One point, one event; no more than can be kept with all about them. */
static void keepOnce(pcSearch* s, const pcUnit* unit, v3 force, int name1, int name2)
{
    if (s->kept == PC_UNIT_LIMIT || isKnown(s, unit)) return;
    s->force[s->kept] = force;
    keep(s, PC_SMOOTH, name1, name2, unit);
}

/* `side` is that of the first name. */
static void keepNamed(pcSearch* s, int side, const pcUnit* unit, v3 force, int name, int other)
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

static pcMeasure measureOf(const pcSearch* s) { return s->sigma != 0.0 ? PC_TWO_SIDED : PC_ONE_SIDED; }

/* ---- corner on face ---- */

/* a.x <= b about the centre of its body, in the frame. */
typedef struct Face {
    v3 a;
    double b;
    int facet; /* of a polyhedron */
    int name;
} Face;

static int faceCount(const Side* side) { return side->form == FLAT ? side->facets.count : side->form == DISC || side->form == PLANE; }

static Face faceOf(const pcFrame* f, const Side* side, int i)
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
static bool liesOn(const pcSearch* s, const Side* side, const Face* face, v3 y, double slack)
{
    v3 local = pcFrameLocal(s->frame, side->index, y);
    Slots slots;
    if (side->form == PLANE) return true;
    if (side->form == DISC) return hypot(local.x, local.y) <= side->shape->radius * (1.0 + slack);
    decidingSlots(side->shape, face->facet, local, &slots);
    return onFacet(side->shape, &slots, local, slack);
}

/* A corner k of the body `corner` (0 or 1) on a face of the other: the formulas of cornerOnFacet and facetOnCorner in unit.h. */
static bool meetFace(const pcSearch* s, int corner, v3 k, const Side* other, const Face* face, pcUnit* out)
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
static v3 roundCorner(const pcFrame* f, const Side* side, int end, v3 a)
{
    v3 Ad = v3Times(side->shape->semi, pcFrameLocal(f, side->index, a)), core = pcShapeK(side->shape, end);
    double size = v3Norm(Ad);
    if (size > 0.0) core = v3AddScaled(core, -1.0 / size, v3Times(side->shape->semi, Ad));
    return pcFramePlaced(f, side->index, core);
}

static v3 rimPoint(const pcFrame* f, const Side* side, int i)
{
    double angle = 6.28318530717958648 * i / RIM, r = side->shape->radius;
    return pcFramePlaced(f, side->index, v3Make(r * cos(angle), r * sin(angle), side->shape->end[side->end][2]));
}

static int cornerCount(const Side* side) { return side->form == LINE ? 2 : side->form == DISC ? RIM : side->vertices.count; }

/* Corner i as the face sees it, and its name. */
static v3 cornerOf(const pcFrame* f, const Side* side, int i, v3 a, int* name)
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

/* Each corner has one event: with the face that faces the pair's normal best. */
static void cornersOnFaces(pcSearch* s, const Side* corners, const Side* faces)
{
    for (int i = 0; i < cornerCount(corners); i++) {
        pcUnit best, unit;
        double facing = -1.0;
        int name = 0, bestName = 0, bestFace = 0;
        for (int j = 0; j < faceCount(faces); j++) {
            Face face = faceOf(s->frame, faces, j);
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

static int lineCount(const Side* side) { return side->form == LINE ? 1 : side->edges; }

static Straight straightOf(const pcFrame* f, const Side* side, int i)
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

/* Two features by t and by length; their points must lie on them up to rounding. */
static bool meet(const pcSearch* s, const pcFeature* a, const pcFeature* b, pcUnit* out, pcFit* ratio, pcFit* length)
{
    double zone = cornerZone(s->frame);
    if (!pcFitFeatures(s->frame, PC_LENGTH, a, b, s->metric->n, length) || !(length->value <= 4.0 * s->margin)) return false;
    if (!pcFitFeatures(s->frame, measureOf(s), a, b, s->metric->n, ratio) || !(ratio->outside <= zone)) return false;
    return unitOfFits(s, ratio, length, out);
}

static double sineOf(v3 a, v3 b) { return v3Norm(v3Cross(a, b)) / (v3Norm(a) * v3Norm(b)); }

/* How far the bodies reach beyond these features along the normal: more than the window, and the normal is not one that they can push
 * along. A cylinder beside an edge of the face that it lies on is not pushed by that edge. */
static bool canPush(const pcSearch* s, const pcFit* fit, double depth)
{
    pcTip tip1 = pcFrameTip(s->frame, 0, fit->n), tip2 = pcFrameTip(s->frame, 1, fit->n);
    return tip1.value - v3Dot(fit->n, fit->p1) <= depth && tip2.value + v3Dot(fit->n, fit->p2) <= depth;
}

static void endsOnLine(pcSearch* s, const Side* ends, const Straight* of, const Side* lines, const Straight* line, double depth)
{
    for (int i = 0; i < 2; i++) {
        pcFeature end = {.count = 1, .vertex = {of->feature.vertex[i]}};
        pcUnit unit;
        pcFit ratio, fit;
        bool met = ends->index == 0 ? meet(s, &end, &line->feature, &unit, &ratio, &fit) : meet(s, &line->feature, &end, &unit, &ratio, &fit);
        int name = ends->form == LINE ? NAME_END + i : 3 * end.vertex[0];
        if (met && canPush(s, &fit, depth)) keepNamed(s, lines->index, &unit, ratio.n, line->name, name);
    }
}

static void linesOnLines(pcSearch* s, const Side* side, double depth)
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
            if (sine > ALONG && meet(s, &a.feature, &b.feature, &unit, &ratio, &fit)) keepNamed(s, 0, &unit, ratio.n, a.name, b.name);
        }
    }
}

/* ---- rims ---- */

/* What a rim crosses: the line from k to k + g about the centre of the other body, or its rim. */
typedef struct Crossed {
    const Side* side;
    bool rim;
    Straight line;
    v3 k, g;
} Crossed;

/* Where a point of the other body, about its centre, lies as seen by the body of the rim when it is scaled; for a length, moved along n. */
static v3 seenFrom(const pcSearch* s, int rim, v3 k, const pcFit* at, pcMeasure measure)
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
static bool crossCircles(v3 p, double r, double r2, int which, v3* out)
{
    double d = hypot(p.x, p.y), along = (d * d + r * r - r2 * r2) / (2.0 * d), square = r * r - along * along;
    if (!(d > 0.0) || !(square > 0.0)) return false;
    double across = (which ? 1.0 : -1.0) * sqrt(square);
    *out = v3Make((along * p.x - across * p.y) / d, (along * p.y + across * p.x) / d, 0.0);
    return true;
}

/* The line as it touches a face along n: of a round side the line of its surface. */
static void placeLine(const pcSearch* s, Crossed* c, v3 n)
{
    const pcFrame* f = s->frame;
    v3 a = c->side->index == 0 ? v3Neg(n) : n;
    if (c->side->form == LINE)
        c->k = roundCorner(f, c->side, 0, a);
    else
        c->k = pcFramePlaced(f, c->side->index, pcShapeK(c->side->shape, c->line.feature.vertex[0]));
    c->g = c->line.e;
}

/* One look: where the rim and the line (or the other rim) cross as they are scaled by *fit, and what t follows from there. */
static bool crossOnce(const pcSearch* s, const Side* rim, Crossed* c, int which, pcMeasure measure, pcFit* fit)
{
    const pcFrame* f = s->frame;
    double r = rim->shape->radius, part;
    v3 seen, other, g;
    if (c->rim) {
        v3 centre = pcFramePlaced(f, c->side->index, pcShapeK(c->side->shape, c->side->end));
        double scale = measure == PC_ONE_SIDED ? (rim->index == 0 ? 1.0 / fit->value : fit->value) : 1.0;
        if (!crossCircles(pcFrameLocal(f, rim->index, seenFrom(s, rim->index, centre, fit, measure)), r, scale * c->side->shape->radius,
                          which, &seen))
            return false;
        v3 back = seenFrom(s, 1 - rim->index, pcFramePlaced(f, rim->index, v3Make(seen.x, seen.y, rim->shape->end[rim->end][2])), fit, measure);
        if (measure == PC_LENGTH) back = v3AddScaled(back, rim->index == 0 ? 2.0 * fit->value : -2.0 * fit->value, fit->n);
        v3 local = pcFrameLocal(f, c->side->index, back);
        double size = hypot(local.x, local.y), r2 = c->side->shape->radius;
        other = pcFramePlaced(f, c->side->index, v3Make(r2 * local.x / size, r2 * local.y / size, c->side->shape->end[c->side->end][2]));
        g = pcFramePlaced(f, c->side->index, v3Make(-local.y / size, local.x / size, 0.0));
    } else {
        placeLine(s, c, fit->n);
        v3 p = pcFrameLocal(f, rim->index, seenFrom(s, rim->index, c->k, fit, measure));
        v3 q = pcFrameLocal(f, rim->index, seenFrom(s, rim->index, v3Add(c->k, c->g), fit, measure));
        if (!crossCircle(p, q, r, which, &part)) return false;
        seen = v3Make(p.x + part * (q.x - p.x), p.y + part * (q.y - p.y), 0.0), other = v3AddScaled(c->k, part, c->g), g = c->g;
    }
    double size = hypot(seen.x, seen.y);
    v3 own = pcFramePlaced(f, rim->index, v3Make(r * seen.x / size, r * seen.y / size, rim->shape->end[rim->end][2]));
    v3 tangent = pcFramePlaced(f, rim->index, v3Make(-seen.y / size, seen.x / size, 0.0)), n = v3Cross(tangent, g);
    double sine = v3Norm(n) / v3Norm(g);
    if (!(sine > GRAZES)) return false;
    fit->n = v3Scale((v3Dot(n, s->metric->n) < 0.0 ? -1.0 : 1.0) / (sine * v3Norm(g)), n);
    fit->p1 = rim->index == 0 ? own : other, fit->p2 = rim->index == 0 ? other : own;
    double h1 = v3Dot(fit->n, fit->p1), h2 = -v3Dot(fit->n, fit->p2), away = v3Dot(fit->n, f->c);
    fit->D = measure == PC_LENGTH ? 1.0 : measure == PC_TWO_SIDED ? h1 + h2 : h1;
    fit->value = measure == PC_LENGTH ? away - h1 - h2 : (measure == PC_TWO_SIDED ? away : away - h2) / fit->D;
    return fit->D > 0.0 && (measure == PC_LENGTH || fit->value > 0.0);
}

/* The look is repeated with what it says until that does not change: t moves the crossing by the tilt of the two faces only. */
static bool crossRim(const pcSearch* s, const Side* rim, Crossed* c, int which, pcMeasure measure, pcFit* fit)
{
    const pcFrameMetric* m = s->metric;
    *fit = (pcFit){.n = m->n, .value = measure == PC_LENGTH ? (m->r - 1.0) * m->D : m->r, .D = m->D};
    for (int i = 0; i < 20; i++) {
        double last = fit->value, scale = measure == PC_LENGTH ? rim->shape->outradius : last;
        if (!crossOnce(s, rim, c, which, measure, fit)) return false;
        if (i > 0 && fabs(fit->value - last) <= 4.0 * PC_ROUND * scale) break;
    }
    return true;
}

static void keepCrossings(pcSearch* s, const Side* rim, Crossed* c, int name)
{
    for (int which = 0; which < 2; which++) {
        pcFit ratio, length;
        pcUnit unit;
        if (!crossRim(s, rim, c, which, measureOf(s), &ratio) || !crossRim(s, rim, c, which, PC_LENGTH, &length)) continue;
        if (unitOfFits(s, &ratio, &length, &unit)) keepNamed(s, rim->index, &unit, ratio.n, NAME_CROSSING + 2 * rim->end + which, name);
    }
}

static void rimOnLines(pcSearch* s, const Side* rim, const Side* other)
{
    for (int i = 0; i < lineCount(other); i++) {
        Crossed c = {.side = other, .line = straightOf(s->frame, other, i)};
        keepCrossings(s, rim, &c, c.line.name);
    }
    if (other->form == DISC && rim->index == 0) {
        Crossed c = {.side = other, .rim = true};
        keepCrossings(s, rim, &c, NAME_CAP + other->end);
    }
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

/* Each corner or end with the ball or disc around it by itself: |t k - c| = R, by Newton's method in t (metric/container.c). */
static void keepInside(pcSearch* s, v3 k, v3 asIs, int name)
{
    const pcFrame* f = s->frame;
    double R = f->shape2->radius;
    v3 x = v3Sub(k, f->c), now = v3Sub(asIs, f->c);
    double square = v3Dot(k, k), half = v3Dot(k, f->c), rest = v3Dot(f->c, f->c) - R * R, root = half * half - square * rest;
    double t = root > 0.0 ? (half + sqrt(root)) / square : s->metric->r, distance = v3Norm(now);
    v3 u = v3Scale(1.0 / v3Norm(v3Sub(v3Scale(t, k), f->c)), v3Sub(v3Scale(t, k), f->c));
    pcUnit unit = {t, v3Dot(u, k), R - distance, u, v3Scale(t, k), asIs, {-1, -1}};
    if (s->settings->gap == PC_GAP_LENGTH && distance > 0.0) unit.n = v3Scale(1.0 / distance, now);
    if (s->settings->gap != PC_GAP_LENGTH) unit.gap = (t - 1.0) * unit.D;
    bool near = unit.gap <= s->margin && unit.D > SLIDES * f->shape1->outradius && t >= s->low && t <= s->high;
    if (near && v3Dot(x, x) > 0.0) keepOnce(s, &unit, u, name, NAME_TIP);
}

static void searchContainer(pcSearch* s)
{
    const pcFrame* f = s->frame;
    const pcShape* shape = f->shape1;
    if (pcShapeIsPolyhedron(shape)) {
        for (int i = 0; i < shape->vertexCount; i++) keepInside(s, pcShapeK(shape, i), pcShapeK(shape, i), 3 * i);
        return;
    }
    pcFarthest now = pcFarthestFrom(shape, f->c, 1.0);
    keepInside(s, s->metric->corner, now.k, NAME_TIP);
    if (shape->coreCount < 2) return;
    for (int end = 0; end < 2; end++) { /* the other end, if it is near as well */
        pcShape half = *shape;
        half.coreCount = 1, half.k = half.end[0], half.end[0][2] = shape->end[end][2];
        pcFarthest scaled = pcFarthestFrom(&half, f->c, s->metric->r), as = pcFarthestFrom(&half, f->c, 1.0);
        keepInside(s, scaled.k, as.k, NAME_END + end);
    }
}

/* ---- all ---- */

static bool standsForPair(const pcSearch* s)
{
    double nearest = HUGE_VAL;
    for (int i = 0; i < s->kept; i++) nearest = smaller(nearest, s->unit[i].t);
    return nearest <= s->metric->r + SAME * fabs(s->metric->r);
}

void pcSearchRound(pcSearch* s)
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
    }
    if (!standsForPair(s)) keepPoint(s);
}
