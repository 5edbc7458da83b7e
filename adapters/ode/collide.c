/* One pair of geoms: its shapes, its events, and those as contacts of ODE. */
#include "adapters/ode/collide.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "adapters/ode/colliders.h"
#include "adapters/ode/meshes.h"
#include "adapters/ode/native.h"
#include "adapters/ode/shapes.h"
#include "adapters/ode/warm.h"
#include "base/rotation.h"
#include "shape/shape.h"

static _Atomic double lookahead;

void pcOdeSetLookahead(double margin) { atomic_store(&lookahead, margin > 0.0 && margin < HUGE_VAL ? margin : 0.0); }

double pcOdeLookahead(void) { return atomic_load_explicit(&lookahead, memory_order_relaxed); }

/* ---- a pair ---- */

typedef struct Pair {
    dGeomID geom[2];  /* as the caller names them */
    dGeomID named[2]; /* as the contacts name them */
    const pcShape* shape[2];
    pcPose pose[2];
    unsigned flags;
    pcEventSettings settings;
} Pair;

/* A GeomTransform without its info mode lets its contacts name what it holds. */
static dGeomID namedGeom(dGeomID geom)
{
    while (dGeomGetClass(geom) == dGeomTransformClass && !dGeomTransformGetInfo(geom)) geom = dGeomTransformGetGeom(geom);
    return geom;
}

/* What has no body never moves, so it does not scale. Of two such, one must. */
static unsigned fixedFlags(dGeomID geom1, dGeomID geom2)
{
    bool free1 = dGeomGetBody(geom1) != NULL, free2 = dGeomGetBody(geom2) != NULL;
    return free1 == free2 ? 0u : free1 ? PC_FIXED_2 : PC_FIXED_1;
}

/* Two planes have no contact; meshes have events with bounded convex shapes only. */
static bool metricKnows(const pcShape* shape1, const pcShape* shape2)
{
    bool mesh1 = shape1->kind == PC_SHAPE_MESH, mesh2 = shape2->kind == PC_SHAPE_MESH;
    bool plane1 = shape1->kind == PC_SHAPE_HALFSPACE, plane2 = shape2->kind == PC_SHAPE_HALFSPACE;
    return !((plane1 || mesh1) && (plane2 || mesh2));
}

bool pcOdeMetricKnows(dGeomID geom1, dGeomID geom2)
{
    pcPose pose;
    const pcShape *shape1 = pcOdeShapeOf(geom1, &pose), *shape2 = pcOdeShapeOf(geom2, &pose);
    return shape1 && shape2 && metricKnows(shape1, shape2);
}

/* Two spheres, unless we look ahead, which ODE does not. */
static bool nativeIsAsGood(const Pair* p)
{
    return p->shape[0]->kind == PC_SHAPE_SPHERE && p->shape[1]->kind == PC_SHAPE_SPHERE && !(p->settings.margin > 0.0);
}

static bool readPair(dGeomID geom1, dGeomID geom2, Pair* out)
{
    out->shape[0] = pcOdeShapeOf(geom1, out->pose);
    out->shape[1] = out->shape[0] ? pcOdeShapeOf(geom2, out->pose + 1) : NULL;
    out->settings = pcDefaultEventSettings();
    out->settings.margin = pcOdeLookahead();
    if (!out->shape[1] || !metricKnows(out->shape[0], out->shape[1]) || nativeIsAsGood(out)) return false;
    out->geom[0] = geom1, out->geom[1] = geom2;
    out->named[0] = namedGeom(geom1), out->named[1] = namedGeom(geom2);
    out->flags = fixedFlags(geom1, geom2);
    return true;
}

/* Balls around both geoms that do not meet: most pairs that are near to a broadphase of boxes. NaN does not decide. */
static bool clearlyApart(const Pair* p)
{
    double reach = p->settings.margin, apart = 0.0;
    for (int i = 0; i < 2; i++) {
        if (p->shape[i]->kind == PC_SHAPE_HALFSPACE) return false;
        reach += p->shape[i]->outradius + v3Size(p->shape[i]->centre);
    }
    for (int k = 0; k < 3; k++) {
        double d = p->pose[1].position[k] - p->pose[0].position[k];
        apart += d * d;
    }
    return apart > 1.001 * reach * reach && apart < HUGE_VAL;
}

/* ---- its events ---- */

/* Boxes among themselves and whatever lies on a plane have closed forms, which begin nowhere. */
static bool hasWarmStart(const Pair* p)
{
    bool boxes = p->shape[0]->kind == PC_SHAPE_BOX && p->shape[1]->kind == PC_SHAPE_BOX;
    return pcShapeIsPolyhedron(p->shape[0]) && pcShapeIsPolyhedron(p->shape[1]) && !boxes;
}

static pcStatus eventsAt(const Pair* p, const pcPose* pose1, pcEvent* events, int capacity, int* count)
{
    if (!hasWarmStart(p))
        return pcEventsOfPair(p->shape[0], pose1, p->shape[1], p->pose + 1, p->flags, &p->settings, NULL, events, capacity, count);
    pcPairCache cache = pcOdeRecall(p->geom[0], p->geom[1]);
    pcStatus status = pcEventsOfPair(p->shape[0], pose1, p->shape[1], p->pose + 1, p->flags, &p->settings, &cache, events, capacity, count);
    if (status == PC_OK) pcOdeRemember(p->geom[0], p->geom[1], &cache);
    return status;
}

/* A world axis, of those of either geom. */
static v3 axisOf(const pcPose* pose, int axis)
{
    m3 R;
    m3FromQuaternion(v4Load(pose->quaternion), &R);
    return v3OfLanes(R.column[axis]);
}

/* Where the centres coincide any direction is as good to the metric; bodies part soonest along one of their axes if they are boxes, so
 * geom 1 is moved a little along each, and the least deep answer counts. */
static pcStatus eventsOfCoincident(const Pair* p, pcEvent* events, int capacity, int* count)
{
    double step = 1e-6 * (p->shape[0]->inradius + p->shape[1]->inradius), least = HUGE_VAL;
    pcPose best = p->pose[0];
    for (int axis = 0; axis < 6; axis++) {
        pcPose moved = p->pose[0];
        pcMetric metric;
        v3Store(moved.position, v3AddScaled(v3Load(moved.position), step, axisOf(p->pose + axis / 3, axis % 3)));
        if (pcMetricPair(p->shape[0], &moved, p->shape[1], p->pose + 1, p->flags, NULL, &metric) != PC_OK) continue;
        if (-metric.gap < least) least = -metric.gap, best = moved;
    }
    return eventsAt(p, &best, events, capacity, count);
}

static pcStatus eventsOf(const Pair* p, pcEvent* events, int capacity, int* count)
{
    pcStatus status = eventsAt(p, p->pose, events, capacity, count);
    return status == PC_ERROR_COINCIDENT ? eventsOfCoincident(p, events, capacity, count) : status;
}

/* ---- events as contacts ---- */

static int sideOf(pcEventKind kind, int body, unsigned long long id)
{
    int index = (int)(id >> (body == 0 ? 31 : 0) & 0x7fffffffu);
    switch (kind) {
    case PC_CORNER_FACE: return 4 * index + (body == 0 ? 0 : 2);
    case PC_FACE_CORNER: return 4 * index + (body == 0 ? 2 : 0);
    case PC_EDGE_EDGE: return 4 * index + 1;
    case PC_SMOOTH: break;
    }
    return -1;
}

/* Of a mesh the triangle, as ODE has it. */
static int sideOn(const Pair* p, const pcEvent* e, int body)
{
    if (p->shape[body]->kind != PC_SHAPE_MESH) return sideOf(e->kind, body, e->id);
    double local[3];
    m3 R;
    m3FromQuaternion(v4Load(p->pose[body].quaternion), &R);
    v3 x = v3Load(body == 0 ? e->point1 : e->point2);
    v3Store(local, m3TMul(&R, v3Sub(x, v3Load(p->pose[body].position))));
    return pcOdeTriangleAt(p->shape[body], local);
}

/* A surface that the other body reaches below. */
static bool isGround(const pcShape* s) { return s->kind == PC_SHAPE_HALFSPACE || s->kind == PC_SHAPE_MESH; }

/* The corner as it is; of two edges halfway between their points; over a plane or a mesh what of a round body reaches below it. */
static v3 placeOf(const Pair* p, const pcEvent* e)
{
    v3 point1 = v3Load(e->point1), point2 = v3Load(e->point2);
    bool round = e->kind == PC_SMOOTH;
    if (e->kind == PC_CORNER_FACE || (round && isGround(p->shape[1]))) return point1;
    if (e->kind == PC_FACE_CORNER || (round && isGround(p->shape[0]))) return point2;
    return v3Scale(0.5, v3Add(point1, point2));
}

static void writeContact(const Pair* p, const pcEvent* e, dContactGeom* out)
{
    v3 place = placeOf(p, e), n = v3Load(e->normal);
    double depth = p->settings.margin > 0.0 ? -e->gap : larger(0.0, -e->gap); /* touching is to rounding */
    out->pos[0] = (dReal)place.x, out->pos[1] = (dReal)place.y, out->pos[2] = (dReal)place.z, out->pos[3] = 0;
    out->normal[0] = (dReal)-n.x, out->normal[1] = (dReal)-n.y, out->normal[2] = (dReal)-n.z, out->normal[3] = 0;
    out->depth = (dReal)depth;
    out->g1 = p->named[0], out->g2 = p->named[1];
    out->side1 = sideOn(p, e, 0), out->side2 = sideOn(p, e, 1);
}

static void writeContacts(const Pair* p, const pcEvent* events, int count, dContactGeom* contacts, int skip)
{
    for (int i = 0; i < count; i++) writeContact(p, events + i, (dContactGeom*)((char*)contacts + (size_t)i * (size_t)skip));
}

enum { FEW = 32 };

/* Room for more is made only for the rare pair that needs it, up to `wanted`; without memory the best FEW have to do. */
static int collideMany(const Pair* p, int count, int wanted, dContactGeom* contacts, int skip)
{
    int room = count < wanted ? count : wanted, again = 0;
    pcEvent* events = malloc((size_t)room * sizeof *events);
    if (events && eventsOf(p, events, room, &again) == PC_OK)
        writeContacts(p, events, again < room ? again : room, contacts, skip);
    else
        again = room = 0;
    free(events);
    return again < room ? again : room;
}

/* -1: the metric failed for a reason of its own, and ODE may know better; of poses that are no poses nobody knows anything. */
static int collidePair(const Pair* p, int wanted, dContactGeom* contacts, int skip)
{
    pcEvent events[FEW];
    int count = 0, room = wanted < FEW ? wanted : FEW, written = 0;
    pcStatus status = eventsOf(p, events, room, &count);
    if (status == PC_ERROR_NOT_FINITE || status == PC_ERROR_ARGUMENT) return 0;
    if (status != PC_OK) return -1;
    if (count > room && wanted > room) written = collideMany(p, count, wanted, contacts, skip);
    if (written > 0) return written;
    written = count < room ? count : room;
    writeContacts(p, events, written, contacts, skip);
    return written;
}

int pcOdeCollideByMetric(dGeomID geom1, dGeomID geom2, int flags, dContactGeom* contacts, int skip)
{
    Pair pair;
    bool spheres = dGeomGetClass(geom1) == dSphereClass && dGeomGetClass(geom2) == dSphereClass;
    if (spheres && !(pcOdeLookahead() > 0.0)) return -1; /* as nativeIsAsGood, before any shape is looked for */
    if (!readPair(geom1, geom2, &pair)) return -1;
    if (clearlyApart(&pair)) return 0;
    return collidePair(&pair, flags & 0xffff, contacts, skip);
}

/* ---- dCollide ---- */

/* Spaces hand each of their pairs to dCollide again, where overrides are meant to be met. */
static int forward(dGeomID geom1, dGeomID geom2, int flags, dContactGeom* contacts, int skip)
{
    const pcNative* native = pcNativeOde();
    return native ? native->collide(geom1, geom2, flags, contacts, skip) : 0;
}

int pcOdeCollideNatively(dGeomID geom1, dGeomID geom2, int flags, dContactGeom* contacts, int skip)
{
    bool before = pcOdeBypassOverrides(true);
    int count = forward(geom1, geom2, flags, contacts, skip);
    pcOdeBypassOverrides(before);
    return count;
}

static bool onSameBody(dGeomID geom1, dGeomID geom2) { return dGeomGetBody(geom1) && dGeomGetBody(geom1) == dGeomGetBody(geom2); }

int pcCollide(dGeomID geom1, dGeomID geom2, int flags, dContactGeom* contacts, int skip)
{
    if (!geom1 || !geom2 || geom1 == geom2 || (flags & 0xffff) == 0 || !contacts || skip < (int)sizeof *contacts) return 0;
    if (dGeomIsSpace(geom1) || dGeomIsSpace(geom2)) return forward(geom1, geom2, flags, contacts, skip);
    if (onSameBody(geom1, geom2)) return 0;
    int count = pcOdeCollideByMetric(geom1, geom2, flags, contacts, skip);
    return count >= 0 ? count : pcOdeCollideNatively(geom1, geom2, flags, contacts, skip);
}
