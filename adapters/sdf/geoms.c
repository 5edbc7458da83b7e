/* Collisions as geoms of ODE. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/sdf/inner.h"
#include "base/pose.h"
#include "base/status.h"
#include "base/vec.h"

enum { ELLIPSOID_POINTS = 200 };

static pcStatus outOfMemory(void) { return pcFail(PC_ERROR_MEMORY, "out of memory for the geoms of a world"); }

/* ---- convex geoms ---- */

static size_t cornersOf(const pcShape* shape, int facets)
{
    size_t sum = 0;
    pcFacet facet;
    for (int i = 0; i < facets; i++) sum += pcShapeFacet(shape, i, &facet) == PC_OK ? (size_t)facet.count : 0u;
    return sum;
}

/* About its centroid, which ODE's collider needs inside. */
static void fillHull(const pcShape* shape, const pcShapeInfo* info, pcStageHull* out)
{
    int count = 0;
    const double* vertex = pcShapeVertices(shape, &count);
    unsigned* next = out->polygons;
    for (int i = 0; i < 3 * count; i++) out->points[i] = vertex[i] - info->centroid[i % 3];
    for (int i = 0; i < info->facets; i++) {
        pcFacet facet;
        pcShapeFacet(shape, i, &facet);
        dReal* plane = out->planes + 4 * i;
        memcpy(plane, facet.plane, sizeof facet.plane);
        for (int k = 0; k < 3; k++) plane[3] -= plane[k] * info->centroid[k];
        *next++ = (unsigned)facet.count;
        for (int k = 0; k < facet.count; k++) *next++ = (unsigned)facet.vertex[k];
    }
}

static pcStatus makeHull(pcStage* stage, const pcScenePoints* points, dGeomID* out, double centroid[3])
{
    pcStageInner* inner = stage->inner;
    pcShape* shape;
    pcShapeInfo info;
    pcStatus status = pcShapeFromPoints(points->xyz, points->count, NULL, &shape);
    if (status != PC_OK) return status;
    pcShapeDescribe(shape, &info);
    size_t facets = (size_t)info.facets;
    pcStageHull hull = {.planes = malloc(4 * facets * sizeof(dReal)), .points = malloc(3 * (size_t)info.vertices * sizeof(dReal))};
    hull.polygons = malloc((facets + cornersOf(shape, info.facets)) * sizeof *hull.polygons);
    bool good = pcStageRoom(&inner->hull, inner->hulls, sizeof hull);
    if (good)
        inner->hull[inner->hulls++] = hull;
    else
        free(hull.planes), free(hull.points), free(hull.polygons);
    good = good && hull.planes && hull.points && hull.polygons;
    if (good) {
        fillHull(shape, &info, &hull);
        *out = dCreateConvex(0, hull.planes, (unsigned)info.facets, hull.points, (unsigned)info.vertices, hull.polygons);
        memcpy(centroid, info.centroid, sizeof info.centroid);
    }
    pcShapeFree(shape);
    return good ? PC_OK : outOfMemory();
}

/* Points of a spiral, evenly spread over a sphere, stretched, and those across from them: so the centre of their hull is that of the ellipsoid. */
static void spreadPoints(const double axes[3], double (*xyz)[3])
{
    const double golden = 2.399963229728653;
    for (int i = 0; i < ELLIPSOID_POINTS / 2; i++) {
        double z = 1.0 - 2.0 * i / (ELLIPSOID_POINTS - 1), radius = sqrt(larger(1.0 - z * z, 0.0));
        double unit[3] = {radius * cos(golden * i), radius * sin(golden * i), z};
        for (int k = 0; k < 3; k++) xyz[2 * i][k] = axes[k] * unit[k], xyz[2 * i + 1][k] = -xyz[2 * i][k];
    }
}

/* ---- placing ---- */

/* A geom at a pose in the world: on its body with an offset, or by itself. */
static void placeGeom(pcStage* stage, dGeomID geom, dBodyID body, const pcPose* pose)
{
    const double* x = pose->position;
    dSpaceAdd(stage->space, geom);
    if (body) {
        dGeomSetBody(geom, body);
        dGeomSetOffsetWorldPosition(geom, x[0], x[1], x[2]);
        dGeomSetOffsetWorldQuaternion(geom, pose->quaternion);
    } else {
        dGeomSetPosition(geom, x[0], x[1], x[2]);
        dGeomSetQuaternion(geom, pose->quaternion);
    }
}

static pcStatus finishGeom(dGeomID geom, pcStageGeom* data)
{
    dGeomSetData(geom, data);
    dGeomSetCategoryBits(geom, data->collision->bits);
    dGeomSetCollideBits(geom, data->collision->bits);
    return data->collision->soft ? pcGeomSetLayer(geom, &data->collision->layer) : PC_OK;
}

static dGeomID makePlane(pcStage* stage, const pcSceneShape* shape, const pcPose* pose)
{
    pcPose turn = *pose, normal = {.quaternion = {1, 0, 0, 0}};
    memset(turn.position, 0, sizeof turn.position);
    memcpy(normal.position, shape->normal, sizeof shape->normal);
    v3 n = v3Load(pcPoseCompose(&turn, &normal).position);
    return dCreatePlane(stage->space, n.x, n.y, n.z, v3Dot(n, v3Load(pose->position)));
}

static dGeomID makeSimple(const pcSceneShape* shape)
{
    const double* size = shape->size;
    switch (shape->kind) {
    case PC_SCENE_BOX: return dCreateBox(0, size[0], size[1], size[2]);
    case PC_SCENE_SPHERE: return dCreateSphere(0, size[0]);
    case PC_SCENE_CYLINDER: return dCreateCylinder(0, size[0], size[1]);
    default: return dCreateCapsule(0, size[0], size[1]);
    }
}

/* ODE has no ellipsoid: its own steps take a hull, ours the ellipsoid itself. */
static pcStatus addEllipsoid(pcStage* stage, const double axes[3], dBodyID body, const pcPose* pose, pcStageGeom* data)
{
    double xyz[ELLIPSOID_POINTS][3], centroid[3];
    pcScenePoints points = {ELLIPSOID_POINTS, xyz[0]};
    pcShape* shape = NULL;
    dGeomID geom = NULL;
    spreadPoints(axes, xyz);
    pcStatus status = makeHull(stage, &points, &geom, centroid); /* the centroid is 0 but for rounding */
    if (status == PC_OK) placeGeom(stage, geom, body, pose), status = finishGeom(geom, data);
    if (status == PC_OK) status = pcShapeEllipsoid(axes, &shape);
    if (status == PC_OK) status = pcGeomSetShape(geom, shape);
    pcShapeFree(shape);
    pcStageNote(stage, "ellipsoid, taken by ODE's own steps as the hull of 200 of its points");
    return status;
}

static pcStatus addHulls(pcStage* stage, const pcScenePoints* piece, int pieces, dBodyID body, const pcPose* pose, pcStageGeom* data)
{
    for (int i = 0; i < pieces; i++) {
        dGeomID geom = NULL;
        pcPose centre = {.quaternion = {1, 0, 0, 0}};
        pcStatus status = makeHull(stage, piece + i, &geom, centre.position);
        if (status != PC_OK) return status;
        pcPose place = pcPoseCompose(pose, &centre);
        placeGeom(stage, geom, body, &place);
        status = finishGeom(geom, data);
        if (status != PC_OK) return status;
    }
    return PC_OK;
}

static pcStatus addGeom(pcStage* stage, const pcSceneCollision* c, pcStageGeom* data)
{
    const pcSceneLink* link = stage->inner->scene->link + c->link;
    dBodyID body = stage->inner->bodyOfLink[c->link];
    pcPose pose = pcPoseCompose(&link->pose, &c->pose);
    if (c->shape.kind == PC_SCENE_HULLS) return addHulls(stage, c->shape.piece, c->shape.pieces, body, &pose, data);
    if (c->shape.kind == PC_SCENE_ELLIPSOID) return addEllipsoid(stage, c->shape.size, body, &pose, data);
    bool plane = c->shape.kind == PC_SCENE_PLANE;
    dGeomID geom = plane ? makePlane(stage, &c->shape, &pose) : makeSimple(&c->shape);
    if (!plane) placeGeom(stage, geom, body, &pose);
    if (plane && body) pcStageNote(stage, "plane on a link that moves: it stays where it is");
    return finishGeom(geom, data);
}

pcStatus pcStageGeoms(pcStage* stage)
{
    pcStageInner* inner = stage->inner;
    const pcScene* scene = inner->scene;
    pcStatus status = PC_OK;
    inner->geom = calloc((size_t)scene->collisions + 1, sizeof *inner->geom);
    if (!inner->geom) return outOfMemory();
    for (int i = 0; i < scene->collisions && status == PC_OK; i++) {
        const pcSceneCollision* c = scene->collision + i;
        const pcSceneLink* link = scene->link + c->link;
        inner->layered |= c->soft;
        inner->geom[i] = (pcStageGeom){.collision = c, .link = c->link, .model = link->model, .selfCollide = link->selfCollide};
        if (c->maxContacts != 0 && scene->physics.maxContacts != 0 && !c->surface.passive) status = addGeom(stage, c, inner->geom + i);
    }
    return status;
}
