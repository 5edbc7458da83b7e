#include "test_worlds/unit/ode_geoms.h"

#include <stdlib.h>
#include <string.h>

/* ---- convex geoms ---- */

static unsigned cornersOf(const pcShape* shape, int facets)
{
    unsigned sum = 0;
    pcFacet facet;
    for (int i = 0; i < facets; i++) sum += pcShapeFacet(shape, i, &facet) == PC_OK ? (unsigned)facet.count : 0u;
    return sum;
}

ConvexData convexData(const pcShape* shape, const double origin[3])
{
    pcShapeInfo info;
    int count = 0;
    pcShapeDescribe(shape, &info);
    const double* vertex = pcShapeVertices(shape, &count);
    size_t planes = (size_t)info.facets, points = (size_t)count;
    ConvexData out = {.points = malloc(3 * points * sizeof(dReal)), .planes = malloc(4 * planes * sizeof(dReal))};
    out.polygons = malloc((planes + cornersOf(shape, info.facets)) * sizeof *out.polygons);
    out.pointCount = (unsigned)count, out.planeCount = (unsigned)info.facets;
    for (size_t i = 0; i < 3 * points; i++) out.points[i] = vertex[i] - origin[i % 3];
    unsigned* next = out.polygons;
    for (int i = 0; i < info.facets; i++) {
        pcFacet facet;
        pcShapeFacet(shape, i, &facet);
        dReal* plane = out.planes + 4 * i;
        memcpy(plane, facet.plane, sizeof facet.plane);
        for (int k = 0; k < 3; k++) plane[3] -= plane[k] * origin[k];
        *next++ = (unsigned)facet.count;
        for (int k = 0; k < facet.count; k++) *next++ = (unsigned)facet.vertex[k];
    }
    return out;
}

void convexFree(ConvexData* data)
{
    free(data->points);
    free(data->planes);
    free(data->polygons);
}

dGeomID convexGeom(const ConvexData* d) { return dCreateConvex(0, d->planes, d->planeCount, d->points, d->pointCount, d->polygons); }

/* The six sides of the cube, and the plane halfway to every other seed. */
pcShape* voronoiCell(const double (*seed)[3], int count, int index)
{
    double(*plane)[4] = calloc((size_t)count + 6, sizeof *plane);
    pcShape* shape = NULL;
    int rows = 0;
    for (int k = 0; k < 3; k++) plane[rows][k] = 1, plane[rows++][3] = 1, plane[rows++][k] = -1;
    for (int j = 0; j < count; j++) {
        if (j == index) continue;
        double* row = plane[rows++];
        for (int k = 0; k < 3; k++) {
            row[k] = seed[j][k] - seed[index][k];
            row[3] += 0.5 * (seed[j][k] + seed[index][k]) * row[k];
        }
    }
    if (pcShapeFromPlanes(plane[0], rows, NULL, &shape) != PC_OK) shape = NULL;
    free(plane);
    return shape;
}

/* ---- scenes ---- */

GeomScene* geomsOpen(unsigned long long seed)
{
    GeomScene* scene = calloc(1, sizeof *scene);
    dInitODE2(0);
    scene->world = dWorldCreate();
    scene->state = seed;
    return scene;
}

void geomsClose(GeomScene* scene)
{
    for (int i = 0; i < scene->geoms; i++) dGeomDestroy(scene->geom[i]);
    for (int i = 0; i < scene->datas; i++) convexFree(scene->data + i);
    dWorldDestroy(scene->world);
    dCloseODE();
    free(scene);
}

dGeomID geomsAdd(GeomScene* scene, dGeomID geom, bool fixed)
{
    scene->geom[scene->geoms++] = geom;
    if (!fixed) dGeomSetBody(geom, dBodyCreate(scene->world));
    return geom;
}

dGeomID geomsBox(GeomScene* scene, double x, double y, double z) { return geomsAdd(scene, dCreateBox(0, x, y, z), false); }

static dGeomID addConvex(GeomScene* scene, const pcShape* shape, const double origin[3], bool fixed)
{
    scene->data[scene->datas] = convexData(shape, origin);
    return geomsAdd(scene, convexGeom(scene->data + scene->datas++), fixed);
}

dGeomID geomsConvex(GeomScene* scene, const pcShape* shape, const double origin[3]) { return addConvex(scene, shape, origin, false); }

static dGeomID randomConvex(GeomScene* scene, bool fixed)
{
    pcShape* shape = bruteHull(&scene->state, 5 + (int)(12 * bruteUniform(&scene->state)));
    pcShapeInfo info;
    pcShapeDescribe(shape, &info);
    dGeomID geom = addConvex(scene, shape, info.centre, fixed);
    pcShapeFree(shape);
    return geom;
}

dGeomID geomsRandom(GeomScene* scene, int class, bool fixed)
{
    unsigned long long* s = &scene->state;
    double n[3];
    switch (class) {
    case dBoxClass:
        return geomsAdd(scene, dCreateBox(0, bruteBetween(s, 0.3, 1.5), bruteBetween(s, 0.3, 1.5), bruteBetween(s, 0.3, 1.5)), fixed);
    case dSphereClass: return geomsAdd(scene, dCreateSphere(0, bruteBetween(s, 0.3, 1)), fixed);
    case dCapsuleClass: return geomsAdd(scene, dCreateCapsule(0, bruteBetween(s, 0.2, 0.6), bruteBetween(s, 0.3, 1.5)), fixed);
    case dCylinderClass: return geomsAdd(scene, dCreateCylinder(0, bruteBetween(s, 0.2, 0.6), bruteBetween(s, 0.3, 1.5)), fixed);
    case dConvexClass: return randomConvex(scene, fixed);
    default: break;
    }
    bruteDirection(s, 3, n);
    return geomsAdd(scene, dCreatePlane(0, n[0], n[1], n[2], bruteBetween(s, -0.2, 0.2)), true);
}

void geomsScatter(GeomScene* scene, dGeomID geom, double distance)
{
    double q[4], d[3];
    if (dGeomGetClass(geom) == dPlaneClass) return;
    bruteDirection(&scene->state, 4, q);
    bruteDirection(&scene->state, 3, d);
    double reach = distance * bruteBetween(&scene->state, 0.5, 1);
    dGeomSetQuaternion(geom, q);
    dGeomSetPosition(geom, reach * d[0], reach * d[1], reach * d[2]);
}

/* ---- contacts ---- */

bool sameContact(const dContactGeom* a, const dContactGeom* b)
{
    return memcmp(a->pos, b->pos, 3 * sizeof(dReal)) == 0 && memcmp(a->normal, b->normal, 3 * sizeof(dReal)) == 0 &&
           memcmp(&a->depth, &b->depth, sizeof(dReal)) == 0 && a->g1 == b->g1 && a->g2 == b->g2 && a->side1 == b->side1 &&
           a->side2 == b->side2;
}

dContactGeom turnedRound(const dContactGeom* c)
{
    dContactGeom out = *c;
    for (int k = 0; k < 3; k++) out.normal[k] = -c->normal[k];
    out.g1 = c->g2, out.g2 = c->g1;
    out.side1 = c->side2, out.side2 = c->side1;
    return out;
}
