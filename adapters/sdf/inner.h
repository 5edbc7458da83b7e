/* A stage from the inside. */
#ifndef PC_SDF_INNER_H
#define PC_SDF_INNER_H

#include "adapters/ode/host.h"
#include "adapters/sdf/stage.h"

/* Behind dGeomGetData. */
typedef struct pcStageGeom {
    const pcSceneCollision* collision;
    int link, model;
    bool selfCollide;
} pcStageGeom;

/* Arrays that a convex geom of ODE points into. */
typedef struct pcStageHull {
    dReal *planes, *points;
    unsigned* polygons;
} pcStageHull;

/* A row of damping and spring beside a joint. */
typedef struct pcStageDrive {
    dJointID motor, joint;
    int which; /* first or second axis */
    double stiffness, damping, reference;
    double angle; /* where the joint was, turns counted */
} pcStageDrive;

/* A row that ties two bodies: J v = 0, J from axes that are fixed in them. */
typedef struct pcStageCoupling {
    dBodyID body1, body2;          /* NULL: the world */
    bool screw;                    /* else gears */
    dVector3 axis1, axis2, anchor; /* in the bodies; of a screw: axis1 and anchor, in body 1, or in the world if there is none */
    double ratio;                  /* of a screw: metres per radian */
    double error;                  /* the row's velocity, summed up */
} pcStageCoupling;

typedef struct pcStagePlane {
    double place;        /* along the axis across the plane */
    dQuaternion upright; /* the orientation it started from */
} pcStagePlane;

typedef struct pcStageInner {
    pcScene* scene;       /* shared */
    double h;             /* of the step at hand */
    double time;          /* before it */
    double leastCfm;      /* of all rows; 0: as usual */
    double mostCfm;       /* of the world */
    double (*inertia)[9]; /* of each link that moves */
    const char* lopsided; /* a link that makes the world one for which ODE's own step ends the program; NULL: none */
    bool layered;         /* a geom has a layer */
    bool attached, native;
    dThreadingImplementationID jobs; /* of its world's own steps */
    dBodyID* bodyOfLink;             /* NULL for fixed links */
    int geoms, hulls, drives, couplings, joinedPairs;
    pcStageGeom* geom;
    pcStageHull* hull;
    pcStageDrive* drive;
    pcStageCoupling* coupling;
    int (*joined)[2]; /* pairs of links, the smaller first, in order */
    pcStagePlane* plane;
    char* skipped;
} pcStageInner;

bool pcStageRoom(void* array, int count, size_t size); /* one more item after `count`; false: out of memory */
void pcStageNote(pcStage* stage, const char* text);

/* balance.c: sets `inertia`, `leastCfm`, `mostCfm` and `lopsided` */
pcStatus pcStageBalance(pcStage* stage);

/* geoms.c */
pcStatus pcStageGeoms(pcStage* stage);

/* surfaces.c */
int pcStageSurface(void* stage, dGeomID geom1, dGeomID geom2, dSurfaceParameters* surface);
void pcStageSurfaceMore(void* stage, dGeomID geom1, dGeomID geom2, pcSurfaceMore* more);

double pcStageFastest(const pcStage* stage); /* max_vel of a surface that does not say */

/* joints.c */
pcStatus pcStageJoints(pcStage* stage);
int pcStageComparePairs(const void* a, const void* b); /* of `joined`, for qsort and bsearch */

/* drives.c: damping, springs, screws and gears */
void pcStageDrives(pcStage* stage, double h);  /* before a step */
void pcStageCouple(pcStage* stage, double h);  /* before a native step */
void pcStageCoupled(pcStage* stage, double h); /* after any step */
int pcStageRow(void* stage, int index, pcHostRow* row);

/* planar.c */
pcStatus pcStagePlanar(pcStage* stage);
void pcStageFlatten(pcStage* stage); /* after a step */

#endif
