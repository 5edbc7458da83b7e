/*
 * Geoms and their shapes.
 *
 * What is remembered of a geom is remembered together with what the shape was made from: class, lengths, points. Both are compared at every
 * call, so an address that ODE has given to another geom, new lengths, or other points in the same array can only cost the making of a new
 * shape. Unless somebody says that a geom is gone we never learn it, so what nobody has asked for in a long time is dropped when room is
 * needed.
 */
#define _GNU_SOURCE
#include "adapters/ode/shapes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapters/ode/collected.h"
#include "adapters/ode/convex.h"
#include "adapters/ode/meshes.h"
#include "base/status.h"
#include "shape/shape.h"

/* What a shape is made from. */
typedef struct Source {
    int class;
    dReal size[4];      /* lengths of a box; radius; plane a b c d */
    pcOdePoints points; /* of a convex */
} Source;

typedef struct Entry {
    struct Entry* next;
    dGeomID geom;
    Source source;  /* with points of its own */
    pcShape* shape; /* NULL: this source makes none, for instance points in one plane */
    bool given;     /* by pcGeomSetShape: kept for as long as the source stays */
    unsigned asked; /* round of the shard in which it was last asked for */
} Entry;

/* Geoms by their address, in parts that have a lock each. */
enum { SHARDS = 64, BUCKETS = 256, MOST_UNSWEPT = 512 };
/* Seconds that a round lasts at least. */
static _Atomic int patience = 60;

typedef struct Shard {
    pthread_mutex_t lock;
    int count;
    unsigned round;
    time_t roundBegan;
    Entry* bucket[BUCKETS];
} Shard;

static Shard shards[SHARDS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void initShards(void)
{
    for (int i = 0; i < SHARDS; i++) pthread_mutex_init(&shards[i].lock, NULL);
}

static uint64_t hashOf(dGeomID geom) { return ((uint64_t)(uintptr_t)geom >> 4) * 0x9e3779b97f4a7c15u; }

static Shard* lockShard(dGeomID geom, Entry*** bucket)
{
    pthread_once(&once, initShards);
    uint64_t hash = hashOf(geom);
    Shard* shard = shards + (hash >> 58);
    *bucket = shard->bucket + (hash >> 50 & (BUCKETS - 1));
    pthread_mutex_lock(&shard->lock);
    return shard;
}

/* ---- sources ---- */

static bool readBox(dGeomID geom, Source* out)
{
    dVector3 lengths;
    dGeomBoxGetLengths(geom, lengths);
    memcpy(out->size, lengths, 3 * sizeof *lengths);
    return true;
}

static bool readPlane(dGeomID geom, Source* out)
{
    dVector4 plane;
    dGeomPlaneGetParams(geom, plane);
    memcpy(out->size, plane, sizeof out->size);
    return true;
}

static bool readCapsule(dGeomID geom, Source* out)
{
    dReal radius, length;
    dGeomCapsuleGetParams(geom, &radius, &length);
    out->size[0] = radius, out->size[1] = length;
    return true;
}

static bool readCylinder(dGeomID geom, Source* out)
{
    dReal radius, length;
    dGeomCylinderGetParams(geom, &radius, &length);
    out->size[0] = radius, out->size[1] = length;
    return true;
}

/* False: a class that the metric does not know. */
static bool readSource(dGeomID geom, Source* out)
{
    *out = (Source){.class = dGeomGetClass(geom)};
    switch (out->class) {
    case dBoxClass: return readBox(geom, out);
    case dPlaneClass: return readPlane(geom, out);
    case dSphereClass: out->size[0] = dGeomSphereGetRadius(geom); return true;
    case dCapsuleClass: return readCapsule(geom, out);
    case dCylinderClass: return readCylinder(geom, out);
    case dConvexClass: return pcOdeConvexPoints(geom, &out->points);
    default: return false;
    }
}

static size_t pointBytes(const Source* s) { return 3 * (size_t)s->points.count * sizeof *s->points.xyz; }

static bool sameSource(const Source* a, const Source* b)
{
    if (a->class != b->class || memcmp(a->size, b->size, sizeof a->size) != 0 || a->points.count != b->points.count) return false;
    return a->points.count == 0 || memcmp(a->points.xyz, b->points.xyz, pointBytes(a)) == 0;
}

static pcShape* shapeOfPoints(const pcOdePoints* points)
{
    pcShape* shape = NULL;
    size_t count = 3 * (size_t)points->count;
    double* xyz = malloc(count * sizeof *xyz);
    if (!xyz) return NULL;
    for (size_t i = 0; i < count; i++) xyz[i] = (double)points->xyz[i];
    if (pcShapeFromPoints(xyz, points->count, NULL, &shape) != PC_OK) shape = NULL;
    free(xyz);
    return shape;
}

/* NULL: sizes that are not positive and finite, points in one plane. */
static pcShape* shapeOfSource(const Source* s)
{
    pcShape* shape = NULL;
    double size[4] = {(double)s->size[0], (double)s->size[1], (double)s->size[2], (double)s->size[3]};
    pcStatus status = PC_OK;
    switch (s->class) {
    case dBoxClass: status = pcShapeBox(size, &shape); break;
    case dSphereClass: status = pcShapeSphere(size[0], &shape); break;
    case dCapsuleClass: status = pcShapeCapsule(size[0], size[1], &shape); break;
    case dCylinderClass: status = pcShapeCylinder(size[0], size[1], &shape); break;
    case dPlaneClass: status = pcShapeHalfSpace(size, &shape); break;
    default: return shapeOfPoints(&s->points);
    }
    return status == PC_OK ? shape : NULL;
}

/* ---- entries ---- */

static void freeEntry(Entry* entry)
{
    if (!entry) return;
    pcShapeFree(entry->shape);
    free((void*)entry->source.points.xyz);
    free(entry);
}

/* With its own shape, or a share of that which is given. NULL: out of memory. */
static Entry* newEntry(dGeomID geom, const Source* source, const pcShape* givenOrNull)
{
    Entry* entry = malloc(sizeof *entry);
    dReal* points = source->points.count > 0 ? malloc(pointBytes(source)) : NULL;
    if (!entry || (source->points.count > 0 && !points)) {
        free(entry);
        free(points);
        return NULL;
    }
    if (points) memcpy(points, source->points.xyz, pointBytes(source));
    *entry = (Entry){.geom = geom, .source = *source, .given = givenOrNull != NULL};
    entry->shape = givenOrNull ? pcShapeShare(givenOrNull) : shapeOfSource(source);
    entry->source.points.xyz = points;
    return entry;
}

static void removeEntry(Shard* shard, Entry** link)
{
    Entry* gone = *link;
    *link = gone->next;
    shard->count--;
    freeEntry(gone);
}

/* Drops what has not been asked for in this round or the one before. */
static void sweep(Shard* shard)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - shard->roundBegan < atomic_load(&patience)) return;
    shard->roundBegan = now.tv_sec;
    shard->round++;
    for (int i = 0; i < BUCKETS; i++)
        for (Entry** link = shard->bucket + i; *link;)
            if (shard->round - (*link)->asked >= 2 && !(*link)->given)
                removeEntry(shard, link);
            else
                link = &(*link)->next;
}

static Entry** findLink(Entry** bucket, dGeomID geom)
{
    while (*bucket && (*bucket)->geom != geom) bucket = &(*bucket)->next;
    return bucket;
}

/* Of a class that is not known, only what was given. */
static const pcShape* remembered(dGeomID geom, const Source* source, bool known)
{
    Entry** bucket;
    Shard* shard = lockShard(geom, &bucket);
    Entry** link = findLink(bucket, geom);
    if (*link && !sameSource(&(*link)->source, source)) removeEntry(shard, link), link = findLink(bucket, geom);
    if (!*link && known) {
        if (shard->count >= MOST_UNSWEPT) sweep(shard), link = findLink(bucket, geom);
        *link = newEntry(geom, source, NULL);
        shard->count += *link != NULL;
    }
    const pcShape* shape = *link ? (*link)->shape : NULL;
    if (*link) (*link)->asked = shard->round;
    pthread_mutex_unlock(&shard->lock);
    return shape;
}

/* ---- poses ---- */

typedef struct Placed {
    double position[3];
    dMatrix3 R; /* ODE's: three rows of four */
} Placed;

static void placeGeom(dGeomID geom, Placed* out)
{
    static const dMatrix3 unturned = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    int class = dGeomGetClass(geom); /* what has no pose must not be asked for it */
    bool placed = class != dPlaneClass && (class != dHeightfieldClass || pcOdeHasPose(geom));
    const dReal* position = placed ? dGeomGetPosition(geom) : NULL;
    for (int i = 0; i < 3; i++) out->position[i] = position ? (double)position[i] : 0.0;
    memcpy(out->R, placed ? dGeomGetRotation(geom) : unturned, sizeof out->R);
}

/* inner, given in the axes of outer. */
static void compose(const Placed* outer, Placed* inner)
{
    Placed at = *inner;
    for (int i = 0; i < 3; i++) {
        const dReal* row = outer->R + 4 * i;
        inner->position[i] = outer->position[i];
        for (int k = 0; k < 3; k++) {
            inner->position[i] += (double)row[k] * at.position[k];
            inner->R[4 * i + k] = row[0] * at.R[k] + row[1] * at.R[4 + k] + row[2] * at.R[8 + k];
        }
    }
}

/* From the rotation and not from dGeomGetQuaternion: while ODE collides what a GeomTransform holds, that one gives the body's. */
static void writePose(const Placed* at, pcPose* pose)
{
    dQuaternion q;
    dQfromR(q, at->R);
    for (int i = 0; i < 4; i++) pose->quaternion[i] = (double)q[i];
    memcpy(pose->position, at->position, sizeof pose->position);
}

/* A transform within a transform is followed, to no endless depth. */
const pcShape* pcOdeShapeOf(dGeomID geom, pcPose* pose)
{
    Placed at, outer;
    Source source;
    bool transformed = false;
    for (int depth = 0; geom && dGeomGetClass(geom) == dGeomTransformClass && depth < 16; depth++) {
        Placed own;
        placeGeom(geom, &own);
        if (transformed) compose(&outer, &own);
        outer = own, transformed = true;
        geom = dGeomTransformGetGeom(geom);
    }
    if (!geom) return NULL;
    bool mesh = pcOdeIsMesh(geom), known = !mesh && readSource(geom, &source);
    const pcShape* shape = mesh ? pcOdeMeshOf(geom) : remembered(geom, &source, known);
    if (!shape) return NULL;
    placeGeom(geom, &at);
    if (transformed) compose(&outer, &at);
    writePose(&at, pose);
    return shape;
}

/* A geom without an offset is where its body is, to the last bit. */
const pcShape* pcOdeShapeOnBody(dGeomID geom, const pcPose* bodyOrNull, pcPose* pose)
{
    static const pcPose same = {.quaternion = {1, 0, 0, 0}};
    bool mesh = pcOdeIsMesh(geom);
    Source source;
    if (!bodyOrNull || mesh || dGeomIsOffset(geom) || dGeomGetClass(geom) == dGeomTransformClass) {
        const pcShape* shape = pcOdeShapeOf(geom, pose);
        if (shape && bodyOrNull) *pose = pcPoseOnBody(bodyOrNull, pose);
        return shape;
    }
    *pose = same;
    bool known = readSource(geom, &source);
    return remembered(geom, &source, known);
}

/* ---- giving ---- */

static pcStatus checkGiven(dGeomID geom, const pcShape* shape)
{
    if (!geom) return pcFail(PC_ERROR_ARGUMENT, "pcGeomSetShape: no geom");
    if (dGeomIsSpace(geom) || pcOdeIsMesh(geom) || dGeomGetClass(geom) == dPlaneClass || dGeomGetClass(geom) == dGeomTransformClass)
        return pcFail(PC_ERROR_UNSUPPORTED, "pcGeomSetShape: a space, mesh, plane or transform cannot have another shape");
    if (shape && (shape->unbounded || shape->triangles))
        return pcFail(PC_ERROR_UNSUPPORTED, "pcGeomSetShape: only a bounded convex shape can stand for a geom");
    return PC_OK;
}

pcStatus pcGeomSetShape(dGeomID geom, const pcShape* shapeOrNull)
{
    pcStatus status = checkGiven(geom, shapeOrNull);
    if (status != PC_OK) return status;
    pcOdeForgetGeom(geom);
    if (!shapeOrNull) return PC_OK;
    Source source;
    readSource(geom, &source);
    Entry **bucket, *entry = newEntry(geom, &source, shapeOrNull);
    if (!entry) return pcFail(PC_ERROR_MEMORY, "out of memory for the shape of a geom");
    Shard* shard = lockShard(geom, &bucket);
    entry->next = *bucket, entry->asked = shard->round, *bucket = entry;
    shard->count++;
    pthread_mutex_unlock(&shard->lock);
    return PC_OK;
}

/* ---- forgetting ---- */

void pcOdeSetShapePatience(int seconds) { atomic_store(&patience, seconds); }

void pcOdeForgetGeom(dGeomID geom)
{
    Entry** bucket;
    Shard* shard = lockShard(geom, &bucket);
    Entry** link = findLink(bucket, geom);
    if (*link) removeEntry(shard, link);
    pthread_mutex_unlock(&shard->lock);
}

void pcOdeForgetAllGeoms(void)
{
    pcOdeForgetMeshes();
    pthread_once(&once, initShards);
    for (int i = 0; i < SHARDS; i++) {
        pthread_mutex_lock(&shards[i].lock);
        for (int b = 0; b < BUCKETS; b++)
            while (shards[i].bucket[b]) removeEntry(shards + i, shards[i].bucket + b);
        pthread_mutex_unlock(&shards[i].lock);
    }
}
