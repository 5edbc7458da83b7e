/* Box, sphere and plane only: until the shapes of all classes are there. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/ode/native.h"
#include "adapters/ode/shapes.h"

typedef struct Known {
    int class;
    dVector4 size;
    pcShape* shape;
    struct Known* next;
} Known;
static Known* known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void measure(dGeomID geom, dVector4 size)
{
    for (int k = 0; k < 4; k++) size[k] = 0;
    switch (dGeomGetClass(geom)) {
    case dBoxClass: dGeomBoxGetLengths(geom, size); break;
    case dSphereClass: size[0] = dGeomSphereGetRadius(geom); break;
    case dPlaneClass: dGeomPlaneGetParams(geom, size); break;
    default: break;
    }
}

static pcShape* make(int class, const dVector4 size)
{
    pcShape* shape = NULL;
    if (class == dBoxClass) pcShapeBox(size, &shape);
    if (class == dSphereClass) pcShapeSphere(size[0], &shape);
    if (class == dPlaneClass) pcShapeHalfSpace(size, &shape);
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
    dVector4 size;
    int class = dGeomGetClass(geom);
    measure(geom, size);
    pthread_mutex_lock(&lock);
    Known* k = known;
    while (k && (k->class != class || memcmp(k->size, size, 3 * sizeof(dReal)) != 0)) k = k->next;
    if (!k) {
        k = calloc(1, sizeof *k);
        k->class = class, k->shape = make(class, size), k->next = known;
        memcpy(k->size, size, sizeof k->size);
        known = k;
    }
    pthread_mutex_unlock(&lock);
    return k->shape;
}

void pcOdeForgetGeom(dGeomID geom) { (void)geom; }
void pcOdeForgetAllGeoms(void) {}
int pcCollide(dGeomID a, dGeomID b, int flags, dContactGeom* contacts, int skip)
{
    return pcNativeOde()->collide(a, b, flags, contacts, skip);
}
pcStatus pcOverrideColliders(void) { return PC_OK; }
pcStatus pcRestoreColliders(void) { return PC_OK; }
