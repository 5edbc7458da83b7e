/*
 * Events of a convex body and a mesh (shape/triangles.h), by the metric of two sorts of pairs:
 *
 *   the body and the half-space below a face: its corners, lines and rims that lie over the face are events;
 *   the body and a blade below each edge that stands out: its edges and faces on that edge, or on its ends, are events.
 *
 * A blade is a tetrahedron with the edge p q as its ridge, at most 90 degrees sharp and nowhere outside the solid. It is there to be measured,
 * not to be felt: an event counts only if it lies on p q and its normal n stands in the cone that the triangles leave,
 *
 *   n.t <= 0   for the directions t from the edge into its two triangles, and at an end for those of all edges that meet there.
 *
 * Over a face, a point x at the signed height s over its plane counts if it lies within a triangle; beyond a hollow edge as far as the search
 * looks ahead, for there the planes of both triangles bound what is free; and at a ridge if it belongs to this side of it.
 */
#include <string.h>

#include "base/status.h"
#include "events/events.h"
#include "shape/triangles.h"

/* Events of the body with one face or one edge, and with the whole mesh; of more the deepest are kept. */
enum { PART = 64, MOST = 128 };
/* Faces that are remembered as done; what is found again is known by its id. */
enum { DONE = 64 };
/* Relative to the sizes of mesh and body: what counts as on an edge or in a triangle. */
static const double ON_EDGE = 1e-9;
/* Sine by which a normal may lean out of its cone. */
static const double IN_CONE = 1e-6;
/* The least and the largest half angle of a blade, as sines. */
static const double SHARP = 0.05, BLUNT = 0.70710678118654752;

typedef struct Blade {
    pcShape shape;
    _Alignas(32) double vertex[12], k[16], kx[4], ky[4], kz[4];
    v3 normal[4];
    double offset[4];
} Blade;

typedef struct Tour {
    const pcMeshPair* pair;
    const pcTriangles* mesh;
    const pcShape* body;
    const pcPose *pose, *meshPose;
    bool meshFirst;
    m3 R;         /* mesh to world */
    m3 toBody;    /* mesh to the body's axes */
    v3 centre;    /* of the body, in the axes of the mesh, as all that follows */
    v3 low, high; /* box around the body, widened by the margin */
    double margin;
    double slop; /* length that rounding may account for */
    int faces, face[DONE];
    int count, kept;
    pcEvent event[MOST];
} Tour;

static v3 toMesh(const Tour* t, const double world[3]) { return m3TMul(&t->R, v3Sub(v3Load(world), v3Load(t->meshPose->position))); }

/* ---- keeping ---- */

enum { FEATURE_BITS = 31 };
#define FEATURE_MASK 0x7fffffffull

/* With the feature of the mesh in place of that of the half-space or blade. */
static unsigned long long idOf(const Tour* t, unsigned long long id, int feature)
{
    unsigned long long kept = id & ~(t->meshFirst ? FEATURE_MASK << FEATURE_BITS : FEATURE_MASK);
    return kept | (unsigned long long)(unsigned)feature << (t->meshFirst ? FEATURE_BITS : 0);
}

static int featureIn(const Tour* t, unsigned long long id) { return (int)(id >> (t->meshFirst ? FEATURE_BITS : 0) & FEATURE_MASK); }

static int placeOf(const Tour* t, const pcEvent* e)
{
    int highest = 0;
    for (int i = 0; i < t->kept; i++) {
        if (t->event[i].id == e->id) return -1;
        if (t->event[i].gap > t->event[highest].gap) highest = i;
    }
    if (t->kept < MOST) return t->kept;
    return e->gap < t->event[highest].gap ? highest : -1;
}

static void keep(Tour* t, const pcEvent* event, int feature)
{
    pcEvent e = *event;
    e.id = idOf(t, event->id, feature);
    int place = placeOf(t, &e);
    if (place < 0) return;
    t->count += place == t->kept, t->kept += place == t->kept;
    t->event[place] = e;
}

/* Events of the body and a part of the mesh, in the caller's order of bodies; a pair that has no direction has none. */
static int eventsWith(const Tour* t, const pcShape* part, pcEvent events[PART])
{
    int count = 0;
    unsigned flags = part->unbounded ? 0u : t->meshFirst ? PC_FIXED_1 : PC_FIXED_2;
    const pcShape *shape1 = t->meshFirst ? part : t->body, *shape2 = t->meshFirst ? t->body : part;
    pcStatus status =
        pcEventsOfPair(shape1, t->pair->pose[0], shape2, t->pair->pose[1], flags, t->pair->settings, NULL, events, PART, &count);
    return status != PC_OK ? 0 : count < PART ? count : PART;
}

/* ---- faces ---- */

static double heightOver(const pcTriangles* m, int face, v3 x) { return v3Dot(m->faceNormal[face], x) - m->faceOffset[face]; }

static int otherTriangle(const pcMeshEdge* e, int triangle) { return e->triangle[0] == triangle ? e->triangle[1] : e->triangle[0]; }

/* How far the body reaches below a plane of unit normal through p; < 0: not as far as that. */
static double depthBelow(const Tour* t, v3 normal, v3 p)
{
    return pcTipOf(t->body, v3Neg(m3Mul(&t->toBody, normal))).value - v3Dot(normal, v3Sub(t->centre, p));
}

/* From the mesh to the body, in the axes of the mesh. */
static v3 outOf(const Tour* t, const pcEvent* e)
{
    v3 n = m3TMul(&t->R, v3Load(e->normal));
    return t->meshFirst ? n : v3Neg(n);
}

/* How deep the body is below what supports the mesh at an edge that it touches; infinite: it does not. Edges are tried before faces. */
static double depthOnEdge(const Tour* t, int edge, v3 p)
{
    double depth = HUGE_VAL;
    for (int i = 0; i < t->kept; i++)
        if (t->event[i].gap < 0.0 && featureIn(t, t->event[i].id) == t->mesh->faceCount + edge)
            depth = smaller(depth, depthBelow(t, outOf(t, t->event + i), p));
    return depth;
}

/* Whether a point x near a ridge, `beyond` it as seen from this one of its two triangles, belongs to this triangle.
 *
 * Where the body itself is: a convex body that touches the inside of a face is nowhere below its plane. So that triangle counts which the body
 * is less deep in, if it does not leave sooner over the ridge; or, for a point still outside, any that it could come to touch within the margin.
 * Where the point is: over the triangle; or past the ridge, outside, and higher above its plane than above the other, for to be above one is
 * enough. At a blunt ridge both ways out are nearly the same, and the point alone decides. */
static bool belongsTo(const Tour* t, int triangle, int edge, v3 x, double beyond)
{
    const pcMeshEdge* e = t->mesh->edge + edge;
    v3 n = t->mesh->triangle[triangle].normal, n2 = t->mesh->triangle[otherTriangle(e, triangle)].normal, p = t->mesh->vertex[e->vertex[0]];
    double own = v3Dot(n, v3Sub(x, p)), others = v3Dot(n2, v3Sub(x, p));
    bool outside = own > t->slop || others > t->slop, higher = own >= others - t->slop, blunt = v3Dot(n, n2) > BLUNT;
    if (outside && beyond > t->slop && !higher) return false;
    if (blunt && (outside || higher)) return true;
    double limit = smaller(depthBelow(t, n2, p), depthOnEdge(t, edge, p));
    return depthBelow(t, n, p) <= (outside ? larger(limit, t->margin) : limit) + t->slop;
}

/* Whether x, at height s over the triangle, is on its side of one of its edges. */
static bool isWithin(const Tour* t, int triangle, int slot, v3 x, double s)
{
    const pcTriangles* m = t->mesh;
    int edge = m->triangle[triangle].edge[slot];
    v3 p = pcTriangleCorner(m, triangle, slot), along = v3Sub(pcTriangleCorner(m, triangle, (slot + 1) % 3), p);
    v3 out = v3Cross(along, m->triangle[triangle].normal);
    double beyond = v3Dot(out, v3Sub(x, p)) / v3Norm(out);
    if (m->edge[edge].crease == PC_CREASE_RIDGE) return belongsTo(t, triangle, edge, x, beyond);
    return beyond <= t->slop + (m->edge[edge].crease == PC_CREASE_HOLLOW ? t->margin + larger(0.0, -s) : 0.0);
}

static bool liesOverTriangle(const Tour* t, int triangle, v3 x, double s)
{
    for (int slot = 0; slot < 3; slot++)
        if (!isWithin(t, triangle, slot, x, s)) return false;
    return true;
}

/* A point below a face need not be inside the solid: it may have left it through a triangle that is nearer, and in front of which it is. */
static bool hasLeft(const Tour* t, v3 x, double depth)
{
    const pcTriangles* m = t->mesh;
    v3 wide = {depth, depth, depth}, low = v3Sub(x, wide), high = v3Add(x, wide);
    for (int node = 0, at; (at = pcTrianglesNext(m, low, high, &node)) >= 0;) {
        v3 apart = v3Sub(x, pcTriangleNearest(m, at, x));
        if (v3Norm(apart) < depth - t->slop && v3Dot(apart, m->triangle[at].normal) > t->slop) return true;
    }
    return false;
}

static bool liesOverFace(const Tour* t, int face, v3 x)
{
    const pcTriangles* m = t->mesh;
    double s = heightOver(m, face, x), reach = t->margin + fabs(s) + t->slop;
    v3 foot = v3AddScaled(x, -s, m->faceNormal[face]), wide = {reach, reach, reach};
    v3 low = v3Sub(foot, wide), high = v3Add(foot, wide);
    for (int node = 0, at; (at = pcTrianglesNext(m, low, high, &node)) >= 0;)
        if (m->triangle[at].face == face && liesOverTriangle(t, at, x, s)) return s > -t->slop || !hasLeft(t, x, -s);
    return false;
}

static pcShape halfSpaceBelow(const pcTriangles* m, int face)
{
    v3 n = m->faceNormal[face];
    pcShape s = {.kind = PC_SHAPE_HALFSPACE, .unbounded = true, .planeNormal = n, .planeOffset = m->faceOffset[face]};
    v3Store(s.plane, n);
    s.plane[3] = s.planeOffset;
    s.volume = s.inradius = s.outradius = HUGE_VAL;
    s.centre = s.centroid = v3Scale(s.planeOffset, n);
    s.centreSize = v3Size(s.centre);
    return s;
}

static bool isDone(Tour* t, int face)
{
    int known = t->faces < DONE ? t->faces : DONE;
    for (int i = 0; i < known; i++)
        if (t->face[i] == face) return true;
    t->face[t->faces++ % DONE] = face;
    return false;
}

static void tryFace(Tour* t, int face)
{
    pcEvent events[PART];
    if (isDone(t, face) || !(heightOver(t->mesh, face, t->centre) > 0.0)) return;
    pcShape below = halfSpaceBelow(t->mesh, face);
    int count = eventsWith(t, &below, events);
    for (int i = 0; i < count; i++)
        if (liesOverFace(t, face, toMesh(t, t->meshFirst ? events[i].point2 : events[i].point1))) keep(t, events + i, face);
}

/* ---- edges ---- */

/* An edge p q and what the triangles leave free above it. */
typedef struct Ridge {
    v3 p, q, along; /* `along` is unit */
    double length;
    v3 into[2];   /* unit, from the edge into the solid's two surfaces, across it */
    v3 normal[2]; /* of those */
} Ridge;

/* The second surface of a border leans outwards by 45 degrees: what comes from the side below is not held up. */
static Ridge ridgeOf(const pcTriangles* m, const pcMeshEdge* e)
{
    Ridge r = {.p = m->vertex[e->vertex[0]], .q = m->vertex[e->vertex[1]], .normal = {m->triangle[e->triangle[0]].normal}};
    v3 d = v3Sub(r.q, r.p);
    r.length = v3Norm(d);
    r.along = v3Scale(1.0 / r.length, d);
    r.into[0] = v3Cross(r.normal[0], r.along);
    v3 leaning = v3Scale(BLUNT, v3Sub(r.normal[0], r.into[0]));
    r.normal[1] = e->triangle[1] >= 0 ? m->triangle[e->triangle[1]].normal : leaning;
    r.into[1] = v3Cross(r.along, r.normal[1]);
    return r;
}

/* Up, in the middle of the cone: by the normals where they are not nearly opposite, else by the surfaces. */
static v3 upOf(const Ridge* r)
{
    v3 up = v3Dot(r->normal[0], r->normal[1]) > -0.5 ? v3Add(r->normal[0], r->normal[1]) : v3Neg(v3Add(r->into[0], r->into[1]));
    return v3Scale(1.0 / v3Norm(up), up);
}

static v3 ringNormal(const Blade* b, int facet, v3* corner)
{
    const int* ring = b->shape.ringVertex + b->shape.ringStart[facet];
    *corner = v3Load(b->vertex + 3 * ring[0]);
    v3 n = v3Cross(v3Sub(v3Load(b->vertex + 3 * ring[1]), *corner), v3Sub(v3Load(b->vertex + 3 * ring[2]), *corner));
    return v3Scale(1.0 / v3Norm(n), n);
}

/* About their middle: what shape.c does for a hull, without its memory. */
static void measureBlade(Blade* b)
{
    pcShape* s = &b->shape;
    double coordinate = 0.0;
    s->centre = v3Scale(0.25, v3Add(v3Add(v3Load(b->vertex), v3Load(b->vertex + 3)), v3Add(v3Load(b->vertex + 6), v3Load(b->vertex + 9))));
    s->centroid = s->centre, s->centred = false, s->centreSize = v3Size(s->centre), s->inradius = HUGE_VAL, s->outradius = 0.0;
    for (int i = 0; i < 4; i++) {
        v3 vertex = v3Load(b->vertex + 3 * i), k = v3Sub(vertex, s->centre), corner, n = ringNormal(b, i, &corner);
        v3Store(b->k + 4 * i, k);
        b->kx[i] = k.x, b->ky[i] = k.y, b->kz[i] = k.z;
        b->normal[i] = n, b->offset[i] = v3Dot(n, v3Sub(corner, s->centre));
        s->inradius = smaller(s->inradius, b->offset[i]), s->outradius = larger(s->outradius, v3Norm(k));
        coordinate = larger(coordinate, v3Max(vertex));
    }
    s->roughness = 14.0 * PC_ROUND * (coordinate + s->outradius);
    pcPlaceInnerPoints(s);
}

/* Positive if the corners stand as those of the unit tetrahedron. */
static double handOf(const double* vertex)
{
    v3 o = v3Load(vertex);
    return v3Dot(v3Sub(v3Load(vertex + 3), o), v3Cross(v3Sub(v3Load(vertex + 6), o), v3Sub(v3Load(vertex + 9), o)));
}

static void makeBlade(const pcTriangles* m, const Ridge* r, Blade* b)
{
    v3 up = upOf(r), across = v3Cross(r->along, up), middle = v3Scale(0.5, v3Add(r->p, r->q));
    double half = smaller(fabs(v3Dot(r->into[0], across)), BLUNT), sine = larger(half, SHARP), size = 0.5 * r->length;
    v3 foot = v3AddScaled(middle, -size * sqrt(1.0 - sine * sine), up);
    memcpy(&b->shape, m->blade, sizeof b->shape);
    b->shape.vertex = b->vertex, b->shape.k = b->k, b->shape.kx = b->kx, b->shape.ky = b->ky, b->shape.kz = b->kz;
    b->shape.normal = b->normal, b->shape.offset = b->offset;
    v3Store(b->vertex, r->p);
    v3Store(b->vertex + 3, r->q);
    v3Store(b->vertex + 6, v3AddScaled(foot, size * sine, across));
    v3Store(b->vertex + 9, v3AddScaled(foot, -size * sine, across));
    if (handOf(b->vertex) * handOf(m->blade->vertex) < 0.0) {
        v3Store(b->vertex + 6, v3AddScaled(foot, -size * sine, across));
        v3Store(b->vertex + 9, v3AddScaled(foot, size * sine, across));
    }
    measureBlade(b);
}

/* n points from the mesh to the body. */
static bool standsOnVertex(const pcTriangles* m, int vertex, v3 n)
{
    for (int i = m->fanStart[vertex]; i < m->fanStart[vertex + 1]; i++) {
        v3 along = v3Sub(m->vertex[m->fanVertex[i]], m->vertex[vertex]);
        if (v3Dot(n, along) > IN_CONE * v3Norm(along)) return false;
    }
    return true;
}

/* Where on the edge it is, as a feature of the mesh: the edge, or one of its ends; -1: not there, or not facing out of the solid. */
static int featureOf(const Tour* t, int edge, const Ridge* r, const pcEvent* e)
{
    const pcTriangles* m = t->mesh;
    pcEventKind cornerOfBody = t->meshFirst ? PC_FACE_CORNER : PC_CORNER_FACE;
    v3 x = toMesh(t, t->meshFirst ? e->point1 : e->point2), from = v3Sub(x, r->p), n = outOf(t, e);
    double at = v3Dot(from, r->along);
    if (e->kind == cornerOfBody || !(v3Norm(v3AddScaled(from, -at, r->along)) <= t->slop)) return -1;
    if (v3Dot(n, r->into[0]) > IN_CONE || v3Dot(n, r->into[1]) > IN_CONE) return -1;
    if (at > t->slop && at < r->length - t->slop) return m->faceCount + edge;
    int vertex = m->edge[edge].vertex[at > 0.5 * r->length];
    return standsOnVertex(m, vertex, n) ? m->faceCount + m->edgeCount + vertex : -1;
}

static bool isNearEdge(const Tour* t, const Ridge* r)
{
    double at = smaller(larger(v3Dot(v3Sub(t->centre, r->p), r->along), 0.0), r->length);
    v3 apart = v3Sub(t->centre, v3AddScaled(r->p, at, r->along));
    double above0 = v3Dot(r->normal[0], v3Sub(t->centre, r->p)), above1 = v3Dot(r->normal[1], v3Sub(t->centre, r->p));
    return (above0 > 0.0 || above1 > 0.0) && v3Norm(apart) <= t->body->outradius + t->margin + t->slop;
}

static void tryEdge(Tour* t, int edge)
{
    pcEvent events[PART];
    Blade blade;
    Ridge ridge = ridgeOf(t->mesh, t->mesh->edge + edge);
    if (!isNearEdge(t, &ridge)) return;
    makeBlade(t->mesh, &ridge, &blade);
    int count = eventsWith(t, &blade.shape, events);
    for (int i = 0; i < count; i++) {
        int feature = featureOf(t, edge, &ridge, events + i);
        if (feature >= 0) keep(t, events + i, feature);
    }
}

/* ---- the tour ---- */

/* Around the body in the axes of the mesh. */
static void placeBox(Tour* t)
{
    double low[3], high[3], centre[3];
    m3FromQuaternion(quaternionBetween(t->pose->quaternion, t->meshPose->quaternion), &t->toBody);
    v3Store(centre, t->centre);
    for (int i = 0; i < 3; i++) {
        v3 axis = v3OfLanes(t->toBody.column[i]);
        high[i] = centre[i] + pcTipOf(t->body, axis).value + t->margin + t->slop;
        low[i] = centre[i] - pcTipOf(t->body, v3Neg(axis)).value - t->margin - t->slop;
    }
    t->low = v3Load(low), t->high = v3Load(high);
}

static pcStatus begin(Tour* t, const pcMeshPair* pair)
{
    m3 R;
    t->pair = pair, t->meshFirst = pair->shape[0]->kind == PC_SHAPE_MESH;
    t->body = pair->shape[t->meshFirst], t->mesh = pair->shape[!t->meshFirst]->triangles;
    t->pose = pair->pose[t->meshFirst], t->meshPose = pair->pose[!t->meshFirst];
    if (!t->mesh || t->body->unbounded || t->body->kind == PC_SHAPE_MESH)
        return pcFail(PC_ERROR_UNSUPPORTED, "a mesh has events with bounded convex shapes only");
    for (int i = 0; i < 2; i++) {
        double square = quaternionSquare(pair->pose[i]->quaternion);
        if (!v3Finite(v3Load(pair->pose[i]->position)) || !(square - square == 0.0))
            return pcFail(PC_ERROR_NOT_FINITE, "the pose of body %d is not finite", i + 1);
        if (!(square > 1e-100 && square < 1e100)) return pcFail(PC_ERROR_ARGUMENT, "the quaternion of body %d is too far from 1", i + 1);
    }
    m3FromQuaternion(v4Load(t->meshPose->quaternion), &t->R);
    m3FromQuaternion(v4Load(t->pose->quaternion), &R);
    v3 world = v3Add(v3Load(t->pose->position), m3Mul(&R, t->body->centre)), apart = v3Sub(world, v3Load(t->meshPose->position));
    t->centre = m3TMul(&t->R, apart);
    t->margin = pair->settings->margin, t->slop = ON_EDGE * (t->mesh->size + t->body->outradius);
    placeBox(t);
    return PC_OK;
}

/* Each edge from the first of its triangles that is visited. */
static bool isItsTurn(const Tour* t, int triangle, const pcMeshEdge* e)
{
    if (e->crease < PC_CREASE_RIDGE) return false;
    if (e->triangle[0] == triangle) return true;
    const pcTriangles* m = t->mesh;
    v3 a = pcTriangleCorner(m, e->triangle[0], 0), b = pcTriangleCorner(m, e->triangle[0], 1), c = pcTriangleCorner(m, e->triangle[0], 2);
    v3 low = v3Make(smaller(a.x, smaller(b.x, c.x)), smaller(a.y, smaller(b.y, c.y)), smaller(a.z, smaller(b.z, c.z)));
    v3 high = v3Make(larger(a.x, larger(b.x, c.x)), larger(a.y, larger(b.y, c.y)), larger(a.z, larger(b.z, c.z)));
    bool visited =
        low.x <= t->high.x && t->low.x <= high.x && low.y <= t->high.y && t->low.y <= high.y && low.z <= t->high.z && t->low.z <= high.z;
    return !visited;
}

static void tour(Tour* t)
{
    const pcTriangles* m = t->mesh;
    for (int node = 0, at; (at = pcTrianglesNext(m, t->low, t->high, &node)) >= 0;)
        for (int slot = 0; slot < 3; slot++) {
            int edge = m->triangle[at].edge[slot];
            if (isItsTurn(t, at, m->edge + edge)) tryEdge(t, edge);
        }
    for (int node = 0, at; (at = pcTrianglesNext(m, t->low, t->high, &node)) >= 0;) tryFace(t, m->triangle[at].face);
}

/* ---- choosing and writing ---- */

/* As the events of other pairs: across their mean normal. */
static void listFound(const Tour* t, pcFound* found)
{
    v3 mean = {0.0, 0.0, 0.0}, u, v;
    for (int i = 0; i < t->kept; i++) mean = v3Add(mean, v3Load(t->event[i].normal));
    double size = v3Norm(mean);
    v3Complete(size > 0.1 ? v3Scale(1.0 / size, mean) : v3Load(t->event[0].normal), &u, &v);
    for (int i = 0; i < t->kept; i++) {
        const pcEvent* e = t->event + i;
        v3 x = v3Sub(v3Load(e->point), v3Load(t->pose->position));
        found[i] = (pcFound){.id = e->id, .kind = e->kind, .gap = e->gap, .u = v3Dot(u, x), .v = v3Dot(v, x), .unit = i};
    }
}

pcStatus pcEventsOfMesh(const pcMeshPair* pair, pcEvent* events, int capacity, int* count)
{
    Tour t;
    pcFound found[MOST];
    t.faces = t.count = t.kept = 0;
    pcStatus status = begin(&t, pair);
    if (status != PC_OK) return status;
    tour(&t);
    if (t.kept > 0) listFound(&t, found);
    pcSelectWidest(found, t.kept, capacity, ON_EDGE * t.body->outradius);
    int written = t.kept < capacity ? t.kept : capacity;
    pcSortById(found, written);
    for (int i = 0; i < written; i++) events[i] = t.event[found[i].unit];
    *count = t.kept;
    return PC_OK;
}
