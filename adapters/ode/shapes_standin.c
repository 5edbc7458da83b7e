/* Box, sphere and plane only: until the shapes of all classes are there. */
#include <math.h>
#include <stdlib.h>

#include "adapters/ode/native.h"
#include "adapters/ode/shapes.h"

typedef struct Known {
    dGeomID geom;
    pcShape* shape;
    struct Known* next;
} Known;
static Known* known;

static pcShape* make(dGeomID geom)
{
    pcShape* shape = NULL;
    dVector3 size;
    dVector4 plane;
    switch (dGeomGetClass(geom)) {
    case dBoxClass: dGeomBoxGetLengths(geom, size), pcShapeBox(size, &shape); break;
    case dSphereClass: pcShapeSphere(dGeomSphereGetRadius(geom), &shape); break;
    case dPlaneClass: dGeomPlaneGetParams(geom, plane), pcShapeHalfSpace(plane, &shape); break;
    default: break;
    }
    return shape;
}

const pcShape* pcOdeShapeOf(dGeomID geom, pcPose* pose)
{
    *pose = (pcPose){.quaternion = {1, 0, 0, 0}};
    if (dGeomGetClass(geom) != dPlaneClass) {
        const dReal* position = dGeomGetPosition(geom);
        for (int k = 0; k < 3; k++) pose->position[k] = position[k];
        dGeomGetQuaternion(geom, pose->quaternion);
    }
    for (Known* k = known; k; k = k->next)
        if (k->geom == geom) return k->shape;
    Known* fresh = calloc(1, sizeof *fresh);
    *fresh = (Known){geom, make(geom), known};
    known = fresh;
    return fresh->shape;
}

void pcOdeForgetGeom(dGeomID geom)
{
    for (Known* k = known; k; k = k->next)
        if (k->geom == geom) k->geom = NULL;
}
void pcOdeForgetAllGeoms(void)
{
    for (Known* k = known; k; k = k->next) k->geom = NULL;
}
int pcCollide(dGeomID a, dGeomID b, int flags, dContactGeom* contacts, int skip)
{
    return pcNativeOde()->collide(a, b, flags, contacts, skip);
}
pcStatus pcOverrideColliders(void) { return PC_OK; }
pcStatus pcRestoreColliders(void) { return PC_OK; }
