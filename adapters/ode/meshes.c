#define _POSIX_C_SOURCE 200809L

#include "adapters/ode/meshes.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapters/ode/native.h"
#include "base/status.h"
#include "shape/triangles.h"

/* ---- height fields: where their data keeps what it was built from ---- */

/* Of data that is built by one of dGeomHeightfieldDataBuild...: ODE has no getters. As in convex.c, the offsets are learnt from data of our own
 * with recognisable numbers, and each must be unique. */
typedef struct FieldLayout {
    size_t width, depth;                      /* dReal */
    size_t widthSamples, depthSamples, wraps; /* int */
    size_t pose;                              /* of the geom: a pointer that only those have that can be placed */
} FieldLayout;

typedef dReal GetHeight(const void* data, int x, int z);

static FieldLayout layout;
static GetHeight* heightAt;
static bool understood;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* What is searched of each object. Both are far larger: the data hold room for ten contacts, a geom begins with its links and box. */
enum { DATA_BYTES = 192, GEOM_BYTES = 96 };

static bool uniqueOffset(const void* object[2], size_t bytes, const void* value0, const void* value1, size_t size, size_t* out)
{
    int hits = 0;
    for (size_t at = 0; at + size <= bytes; at += size)
        if (memcmp((const char*)object[0] + at, value0, size) == 0 && memcmp((const char*)object[1] + at, value1, size) == 0)
            *out = at, hits++;
    return hits == 1;
}

/* The pointer that geoms[0] and [1], which can be placed, have, and [2] and [3] do not. */
static bool findPose(const dGeomID geoms[4], size_t* out)
{
    int hits = 0;
    for (size_t at = 0; at + sizeof(void*) <= GEOM_BYTES; at += sizeof(void*)) {
        void* word[4];
        for (int i = 0; i < 4; i++) memcpy(word + i, (const char*)geoms[i] + at, sizeof *word);
        bool unlike = word[0] && word[1] && word[0] != word[1] && !word[2] && !word[3];
        if (unlike) *out = at, hits++;
    }
    return hits == 1;
}

typedef struct FieldNumbers {
    dReal width, depth;
    int widthSamples, depthSamples, copies, wraps;
} FieldNumbers;

static const FieldNumbers known[2] = {{3.25, 5.75, 3, 4, 1, 0}, {7.125, 2.375, 5, 2, 0, 1}};

static bool learn(const dHeightfieldDataID data[2], const dGeomID geoms[4])
{
    const void* object[2] = {data[0], data[1]};
    const FieldNumbers *a = known, *b = known + 1;
    return uniqueOffset(object, DATA_BYTES, &a->width, &b->width, sizeof a->width, &layout.width) &&
           uniqueOffset(object, DATA_BYTES, &a->depth, &b->depth, sizeof a->depth, &layout.depth) &&
           uniqueOffset(object, DATA_BYTES, &a->widthSamples, &b->widthSamples, sizeof(int), &layout.widthSamples) &&
           uniqueOffset(object, DATA_BYTES, &a->depthSamples, &b->depthSamples, sizeof(int), &layout.depthSamples) &&
           uniqueOffset(object, DATA_BYTES, &a->wraps, &b->wraps, sizeof(int), &layout.wraps) && findPose(geoms, &layout.pose) &&
           pcNativeSymbol("_ZN17dxHeightfieldData9GetHeightEii", &heightAt);
}

static void probeFields(void)
{
    static const double heights[12] = {0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5};
    dHeightfieldDataID data[2];
    dGeomID geoms[4];
    if (!pcNativeOde()) return;
    for (int i = 0; i < 2; i++) {
        const FieldNumbers* n = known + i;
        data[i] = dGeomHeightfieldDataCreate();
        dGeomHeightfieldDataBuildDouble(data[i], heights, n->copies, n->width, n->depth, n->widthSamples, n->depthSamples, 2, 0.25, 1,
                                        n->wraps);
    }
    for (int i = 0; i < 4; i++) geoms[i] = dCreateHeightfield(NULL, data[0], i < 2);
    understood = learn(data, geoms) && heightAt(data[0], 1, 2) == 2 * heights[7] + 0.25 && heightAt(data[0], 2, 0) == 2 * heights[2] + 0.25;
    for (int i = 0; i < 4; i++) pcNativeOde()->geomDestroy(geoms[i]);
    for (int i = 0; i < 2; i++) dGeomHeightfieldDataDestroy(data[i]);
}

static FieldNumbers readField(const void* data)
{
    FieldNumbers n = {0};
    const char* object = data;
    memcpy(&n.width, object + layout.width, sizeof n.width);
    memcpy(&n.depth, object + layout.depth, sizeof n.depth);
    memcpy(&n.widthSamples, object + layout.widthSamples, sizeof n.widthSamples);
    memcpy(&n.depthSamples, object + layout.depthSamples, sizeof n.depthSamples);
    memcpy(&n.wraps, object + layout.wraps, sizeof n.wraps);
    return n;
}

bool pcOdeHasPose(dGeomID heightfield)
{
    void* pose;
    pthread_once(&once, probeFields);
    if (!understood) return false;
    memcpy(&pose, (const char*)heightfield + layout.pose, sizeof pose);
    return pose != NULL;
}

/* ---- what ODE holds ---- */

/* A corner of a triangle as ODE has it, in the axes of the geom. */
typedef struct Source {
    int class;
    const void* data;
    int triangles;
    FieldNumbers field;
    dGeomID scratch; /* a mesh geom of the same data at the origin: its corners are those of the data */
} Source;

/* The cell (x, z) has the corners A (x, z), B (x + 1, z), C (x, z + 1) and D: its triangles are A C B and B C D, counter-clockwise from above. */
static void fieldCorner(const Source* s, int triangle, int corner, double out[3])
{
    static const int cell[2][3][2] = {{{0, 0}, {0, 1}, {1, 0}}, {{1, 0}, {0, 1}, {1, 1}}};
    const FieldNumbers* n = &s->field;
    int across = n->widthSamples - 1, x = triangle / 2 % across + cell[triangle % 2][corner][0],
        z = triangle / 2 / across + cell[triangle % 2][corner][1];
    out[0] = (double)n->width * (x / (double)across - 0.5);
    out[1] = (double)heightAt(s->data, x, z);
    out[2] = (double)n->depth * (z / (double)(n->depthSamples - 1) - 0.5);
}

static void readTriangle(const Source* s, int triangle, double out[9])
{
    dVector3 v[3];
    if (s->class == dTriMeshClass) dGeomTriMeshGetTriangle(s->scratch, triangle, v, v + 1, v + 2);
    for (int k = 0; k < 3; k++)
        if (s->class == dTriMeshClass)
            for (int i = 0; i < 3; i++) out[3 * k + i] = (double)v[k][i];
        else
            fieldCorner(s, triangle, k, out + 3 * k);
}

static bool readMesh(dGeomID geom, Source* out)
{
    if (dGeomTriMeshGetCallback(geom) || dGeomTriMeshGetArrayCallback(geom)) return false;
    out->data = dGeomTriMeshGetData(geom);
    out->triangles = out->data ? dGeomTriMeshGetTriangleCount(geom) : 0;
    return out->triangles > 0;
}

static bool readHeightfield(dGeomID geom, Source* out)
{
    pthread_once(&once, probeFields);
    out->data = dGeomHeightfieldGetHeightfieldData(geom);
    if (!understood || !out->data) return false;
    out->field = readField(out->data);
    out->triangles = 2 * (out->field.widthSamples - 1) * (out->field.depthSamples - 1);
    return !out->field.wraps && out->triangles > 0;
}

bool pcOdeIsMesh(dGeomID geom) { return dGeomGetClass(geom) == dTriMeshClass || dGeomGetClass(geom) == dHeightfieldClass; }

static bool readSource(dGeomID geom, Source* out)
{
    *out = (Source){.class = dGeomGetClass(geom)};
    return out->class == dTriMeshClass ? readMesh(geom, out) : readHeightfield(geom, out);
}

/* ---- meshes that are known ---- */

enum { BUCKETS = 64, MOST_UNSWEPT = 128, PATIENCE = 60, SAMPLES = 4, RETIRED = 16 };

typedef struct Entry {
    struct Entry* next;
    Source source;
    pcShape* shape; /* NULL: its triangles make none */
    int cursor; /* the triangle of the mesh that is compared next */
    time_t asked;
} Entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Entry* bucket[BUCKETS];
static int entries;
static dGeomID scratch;            /* for reading meshes, one at a time */
static pcShape* retired[RETIRED]; /* of data that have changed: a step that has begun may still use them */
static int retirements;

static Entry** bucketOf(const void* data) { return bucket + ((uintptr_t)data >> 4) * 0x9e3779b97f4a7c15u % BUCKETS; }

static void removeEntry(Entry** link)
{
    Entry* gone = *link;
    pcShape** place = retired + retirements++ % RETIRED;
    *link = gone->next;
    pcShapeFree(*place);
    *place = gone->shape;
    free(gone);
    entries--;
}

static time_t seconds(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static void sweep(time_t now)
{
    for (int i = 0; i < BUCKETS; i++)
        for (Entry** link = bucket + i; *link;)
            if (now - (*link)->asked > PATIENCE)
                removeEntry(link);
            else
                link = &(*link)->next;
}

static pcShape* shapeOf(const Source* s)
{
    pcShape* shape = NULL;
    size_t corners = 3 * (size_t)s->triangles;
    double* xyz = malloc(3 * corners * sizeof *xyz);
    int* index = malloc(corners * sizeof *index);
    for (int i = 0; xyz && index && i < s->triangles; i++) {
        readTriangle(s, i, xyz + 9 * (size_t)i);
        for (int k = 0; k < 3; k++) index[3 * i + k] = 3 * i + k;
    }
    if (!xyz || !index || pcShapeMesh(xyz, (int)corners, index, s->triangles, &shape) != PC_OK) shape = NULL;
    free(xyz);
    free(index);
    return shape;
}

static bool sameSource(const Source* a, const Source* b)
{
    return a->class == b->class && a->data == b->data && a->triangles == b->triangles && a->field.widthSamples == b->field.widthSamples &&
           a->field.width == b->field.width && a->field.depth == b->field.depth;
}

static bool sameTriangle(const Source* s, const pcTriangles* mesh, int triangle)
{
    double corner[9];
    readTriangle(s, mesh->triangle[triangle].source, corner);
    for (int k = 0; k < 3; k++) {
        v3 at = pcTriangleCorner(mesh, triangle, k);
        if (!(at.x == corner[3 * k] && at.y == corner[3 * k + 1] && at.z == corner[3 * k + 2])) return false;
    }
    return true;
}

static bool isAsKnown(Entry* e, const Source* s)
{
    if (!sameSource(&e->source, s)) return false;
    for (int i = 0; e->shape && i < SAMPLES; i++) {
        e->cursor = (e->cursor + 1) % e->shape->triangles->triangleCount;
        if (!sameTriangle(s, e->shape->triangles, e->cursor)) return false;
    }
    return true;
}

/* Reading through a geom of our own: that of the program turns and moves its triangles. */
static bool takeScratch(Source* s)
{
    if (s->class != dTriMeshClass) return true;
    dTriMeshDataID data = (dTriMeshDataID)(uintptr_t)s->data;
    if (!scratch)
        scratch = dCreateTriMesh(NULL, data, NULL, NULL, NULL);
    else
        dGeomTriMeshSetData(scratch, data);
    s->scratch = scratch;
    return scratch != NULL;
}

static Entry* addEntry(const Source* s)
{
    time_t now = seconds();
    if (entries >= MOST_UNSWEPT) sweep(now);
    Entry *e = malloc(sizeof *e), **first = bucketOf(s->data);
    if (!e) return NULL;
    *e = (Entry){.next = *first, .source = *s, .shape = shapeOf(s), .asked = now};
    *first = e;
    entries++;
    return e;
}

static const pcShape* remembered(const Source* s)
{
    Entry** link = bucketOf(s->data);
    while (*link && (*link)->source.data != s->data) link = &(*link)->next;
    Entry* e = *link;
    if (e && !isAsKnown(e, s)) removeEntry(link), e = NULL;
    if (!e) e = addEntry(s);
    if (e) e->asked = seconds();
    return e ? e->shape : NULL;
}

const pcShape* pcOdeMeshOf(dGeomID geom)
{
    Source source;
    const pcShape* shape = NULL;
    if (!readSource(geom, &source)) return NULL;
    pthread_mutex_lock(&lock);
    if (takeScratch(&source)) shape = remembered(&source);
    pthread_mutex_unlock(&lock);
    return shape;
}

void pcOdeForgetMeshes(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < BUCKETS; i++)
        while (bucket[i]) removeEntry(bucket + i);
    for (int i = 0; i < RETIRED; i++) pcShapeFree(retired[i]), retired[i] = NULL;
    if (scratch && pcNativeOde()) pcNativeOde()->geomDestroy(scratch);
    scratch = NULL;
    pthread_mutex_unlock(&lock);
}

/* ---- triangles ---- */

int pcOdeTriangleAt(const pcShape* mesh, const double point[3])
{
    const pcTriangles* t = mesh->triangles;
    int found = pcTrianglesNearest(t, v3Load(point));
    return found >= 0 ? t->triangle[found].source : -1;
}
