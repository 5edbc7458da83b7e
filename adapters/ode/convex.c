/*
 * Where a convex geom keeps its points.
 *
 * Two geoms of our own with recognisable arrays and different counts are made. The offsets at which both objects hold their own pointer and
 * their own count must be unique, and must still hold after the arrays have been exchanged; otherwise convex geoms stay with ODE.
 */
#include "adapters/ode/convex.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* ---- the geoms of our own: prisms about the z axis ---- */

enum { MOST_CORNERS = 7, MOST_POINTS = 2 * MOST_CORNERS, MOST_FACES = MOST_CORNERS + 2 };

typedef struct Prism {
    dReal point[3 * MOST_POINTS], plane[4 * MOST_FACES];
    unsigned polygon[MOST_CORNERS * 5 + 2 * (MOST_CORNERS + 1)];
    unsigned points, planes;
} Prism;

static void writePlane(Prism* p, double x, double y, double z, double offset)
{
    dReal* row = p->plane + 4 * p->planes++;
    row[0] = (dReal)x, row[1] = (dReal)y, row[2] = (dReal)z, row[3] = (dReal)offset;
}

/* Faces counter-clockwise from outside: the sides, the bottom, the top. Points are the lower ring and then the upper one. */
static void writeFaces(Prism* p, unsigned corners)
{
    unsigned* next = p->polygon;
    for (unsigned i = 0; i < corners; i++) {
        unsigned j = (i + 1) % corners, face[5] = {4, i, j, j + corners, i + corners};
        memcpy(next, face, sizeof face), next += 5;
    }
    for (unsigned top = 0; top < 2; top++) {
        *next++ = corners;
        for (unsigned i = 0; i < corners; i++) *next++ = top ? corners + i : corners - 1 - i;
    }
}

static void makePrism(Prism* p, unsigned corners)
{
    const double turn = 6.283185307179586 / corners;
    memset(p, 0, sizeof *p);
    p->points = 2 * corners;
    for (unsigned i = 0; i < p->points; i++) {
        dReal* x = p->point + 3 * i;
        x[0] = (dReal)cos(turn * i), x[1] = (dReal)sin(turn * i), x[2] = i < corners ? -1 : 1;
    }
    for (unsigned i = 0; i < corners; i++) writePlane(p, cos(turn * (i + 0.5)), sin(turn * (i + 0.5)), 0, cos(0.5 * turn));
    writePlane(p, 0, 0, -1, 1);
    writePlane(p, 0, 0, 1, 1);
    writeFaces(p, corners);
}

/* ---- their size ---- */

/* While a geom of ours is made, ODE's allocations pass here and go where they always went. Those of other threads pass through unnoted. */
enum { MOST_NOTES = 8 };
static dAllocFunction* hostAlloc;
static _Thread_local int notes = -1; /* -1: this thread is not noting */
static _Thread_local struct {
    void* at;
    size_t bytes;
} note[MOST_NOTES];

static void* noteAlloc(dsizeint bytes)
{
    void* at = hostAlloc ? hostAlloc(bytes) : malloc(bytes);
    if (notes >= 0 && notes < MOST_NOTES) note[notes].at = at, note[notes++].bytes = bytes;
    return at;
}

typedef struct Probe {
    Prism prism;
    dGeomID geom;
    size_t bytes; /* of the object that the id points to; 0: it is none of the allocations */
} Probe;

static void makeProbe(Probe* probe, unsigned corners)
{
    const Prism* p = &probe->prism;
    makePrism(&probe->prism, corners);
    hostAlloc = dGetAllocHandler();
    notes = 0;
    dSetAllocHandler(noteAlloc);
    probe->geom = dCreateConvex(0, p->plane, p->planes, p->point, p->points, p->polygon);
    dSetAllocHandler(hostAlloc);
    probe->bytes = 0;
    for (int i = 0; i < notes; i++)
        if (note[i].at == (void*)probe->geom) probe->bytes = note[i].bytes;
    notes = -1;
}

/* ---- where things are ---- */

typedef struct Layout {
    size_t points, count; /* offsets of `const dReal*` and `unsigned` */
} Layout;

static Layout layout;
static bool understood;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static pcOdePoints readPoints(dGeomID geom, const Layout* at)
{
    const char* object = (const char*)geom;
    unsigned count;
    pcOdePoints out;
    memcpy(&out.xyz, object + at->points, sizeof out.xyz);
    memcpy(&count, object + at->count, sizeof count);
    out.count = (int)count;
    return out;
}

static bool holds(const Probe* probe, size_t offset, const void* value, size_t bytes)
{
    return memcmp((const char*)probe->geom + offset, value, bytes) == 0;
}

/* The one offset at which both objects hold their own value; false if there is none or more than one. */
static bool uniqueOffset(const Probe probe[2], const void* value0, const void* value1, size_t bytes, size_t* out)
{
    int hits = 0;
    for (size_t offset = 0; offset + bytes <= probe[0].bytes; offset += bytes)
        if (holds(probe, offset, value0, bytes) && holds(probe + 1, offset, value1, bytes)) *out = offset, hits++;
    return hits == 1;
}

static bool readsBack(const Probe* probe, const Prism* p, const Layout* at)
{
    pcOdePoints points = readPoints(probe->geom, at);
    return points.xyz == p->point && points.count == (int)p->points;
}

static bool learn(Probe probe[2], Layout* out)
{
    const Prism *p0 = &probe[0].prism, *p1 = &probe[1].prism;
    const dReal *array0 = p0->point, *array1 = p1->point;
    if (probe[0].bytes == 0 || probe[0].bytes != probe[1].bytes) return false;
    if (!uniqueOffset(probe, &array0, &array1, sizeof array0, &out->points)) return false;
    if (!uniqueOffset(probe, &p0->points, &p1->points, sizeof p0->points, &out->count)) return false;
    dGeomSetConvex(probe[0].geom, p1->plane, p1->planes, p1->point, p1->points, p1->polygon);
    return readsBack(probe, p1, out) && readsBack(probe + 1, p1, out);
}

static void probeLayout(void)
{
    Probe probe[2];
    makeProbe(probe, 7);
    makeProbe(probe + 1, 5);
    understood = learn(probe, &layout);
    for (int i = 0; i < 2; i++) dGeomDestroy(probe[i].geom);
}

bool pcOdeConvexPoints(dGeomID convex, pcOdePoints* out)
{
    pthread_once(&once, probeLayout);
    if (!understood) {
        pcFail(PC_ERROR_UNSUPPORTED, "this build of ODE keeps the points of a convex geom where they cannot be found");
        return false;
    }
    *out = readPoints(convex, &layout);
    return out->xyz && out->count > 0;
}
