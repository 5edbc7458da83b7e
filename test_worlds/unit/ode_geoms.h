/* Geoms of ODE for the tests of its narrowphase: random ones, convex ones from shapes, the cells of a Voronoi diagram. */
#ifndef PC_UNIT_ODE_GEOMS_H
#define PC_UNIT_ODE_GEOMS_H

#include "pcontact/pcontact.h"
#include "test_worlds/unit/brute_events.h"

/* What ODE's convex geom only points to. */
typedef struct ConvexData {
    dReal *points, *planes;
    unsigned* polygons;
    unsigned pointCount, planeCount;
} ConvexData;

/* A polyhedron about `origin`, a point in its axes. */
ConvexData convexData(const pcShape* shape, const double origin[3]);
void convexFree(ConvexData* data);
dGeomID convexGeom(const ConvexData* data);

/* The part of the unit cube that is nearer to seed `index` than to any other; in the cube's axes. */
pcShape* voronoiCell(const double (*seed)[3], int count, int index);

/* ---- scenes ---- */

/* A world whose geoms and arrays are all freed with it. */
typedef struct GeomScene {
    dWorldID world;
    unsigned long long state;
    dGeomID geom[4096];
    ConvexData data[4096];
    int geoms, datas;
} GeomScene;

GeomScene* geomsOpen(unsigned long long seed);
void geomsClose(GeomScene* scene);

/* Belongs to the scene; with a body unless `fixed`. */
dGeomID geomsAdd(GeomScene* scene, dGeomID geom, bool fixed);
dGeomID geomsBox(GeomScene* scene, double x, double y, double z);
dGeomID geomsConvex(GeomScene* scene, const pcShape* shape, const double origin[3]);
/* A random box, convex, sphere or plane of size about 1, for a class of ODE; planes go near the origin. */
dGeomID geomsRandom(GeomScene* scene, int class, bool fixed);
/* A random orientation, and a place about `distance` from the origin. Planes stay. */
void geomsScatter(GeomScene* scene, dGeomID geom, double distance);

/* ---- contacts ---- */

/* Bit by bit, but for what is not filled in. */
bool sameContact(const dContactGeom* a, const dContactGeom* b);
/* As ODE turns a contact round when it has called a collider with the geoms exchanged. */
dContactGeom turnedRound(const dContactGeom* c);

#endif
