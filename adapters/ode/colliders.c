/*
 * Our colliders in ODE's table.
 *
 * ODE gives no access to the table but dSetColliderOverride, and that forgets what was there. So the table is found: a function of ours is put
 * in for two pairs that have no collider (plane on plane, ray on ray), and the library's own memory holds its address at exactly one place
 * each, the right distance apart. From there the colliders of all pairs can be read before they are replaced: those of this very build, or
 * what the program has overridden itself. The table is only ever read; writing is left to dSetColliderOverride, and its two pairs get back the
 * nothing that they had.
 *
 * Restoring a pair of different classes puts the former function back as it was. A pair of one class keeps a function of ours: whatever
 * dSetColliderOverride puts there is called with the geoms exchanged, so the former function needs one in front that exchanges them again.
 */
#define _GNU_SOURCE
#include "adapters/ode/colliders.h"

#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "adapters/ode/collide.h"
#include "adapters/ode/native.h"
#include "base/status.h"

typedef struct Collider {
    dColliderFn* function; /* NULL: pairs of these classes have no contacts */
    int reverse;           /* called with the geoms exchanged, and its contacts turned round */
} Collider;

/* All pairs of box, convex, plane, sphere, capsule and cylinder; and each of them but the plane with meshes and height fields. (Of two spheres
 * ODE's own answer is as good, unless we look ahead.) */
static const int pairs[][2] = {{dBoxClass, dBoxClass},
                               {dBoxClass, dPlaneClass},
                               {dConvexClass, dBoxClass},
                               {dConvexClass, dConvexClass},
                               {dConvexClass, dPlaneClass},
                               {dSphereClass, dSphereClass},
                               {dSphereClass, dPlaneClass},
                               {dSphereClass, dBoxClass},
                               {dSphereClass, dConvexClass},
                               {dSphereClass, dCapsuleClass},
                               {dSphereClass, dCylinderClass},
                               {dCapsuleClass, dCapsuleClass},
                               {dCapsuleClass, dBoxClass},
                               {dCapsuleClass, dPlaneClass},
                               {dCapsuleClass, dCylinderClass},
                               {dCapsuleClass, dConvexClass},
                               {dCylinderClass, dCylinderClass},
                               {dCylinderClass, dBoxClass},
                               {dCylinderClass, dPlaneClass},
                               {dCylinderClass, dConvexClass},
                               {dTriMeshClass, dSphereClass},
                               {dTriMeshClass, dBoxClass},
                               {dTriMeshClass, dCapsuleClass},
                               {dTriMeshClass, dCylinderClass},
                               {dTriMeshClass, dConvexClass},
                               {dHeightfieldClass, dSphereClass},
                               {dHeightfieldClass, dBoxClass},
                               {dHeightfieldClass, dCapsuleClass},
                               {dHeightfieldClass, dCylinderClass},
                               {dHeightfieldClass, dConvexClass}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const Collider* table;  /* ODE's, dGeomNumClasses by as many; NULL: not found yet */
static Collider former[PAIRS]; /* as they stood at [first class][second class] */
static bool holding;           /* our own count of ODE's initialisation, so that a host that closes ODE does not take the table away */

/* ---- finding the table ---- */

static int marker(dGeomID geom1, dGeomID geom2, int flags, dContactGeom* contacts, int skip)
{
    (void)geom1, (void)geom2, (void)flags, (void)contacts, (void)skip;
    return 0;
}

typedef struct Scan {
    uintptr_t code; /* an address in the library */
    dColliderFn* wanted;
    const Collider* hit;
    int hits;
} Scan;

static bool holdsAddress(const struct dl_phdr_info* object, uintptr_t address)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr)* part = object->dlpi_phdr + i;
        if (part->p_type == PT_LOAD && address - (object->dlpi_addr + part->p_vaddr) < part->p_memsz) return true;
    }
    return false;
}

static void scanPart(Scan* scan, uintptr_t from, size_t bytes)
{
    uintptr_t aligned = (from + sizeof(void*) - 1) / sizeof(void*) * sizeof(void*);
    for (uintptr_t at = aligned; at + sizeof(void*) <= from + bytes; at += sizeof(void*))
        if (memcmp((const void*)at, &scan->wanted, sizeof(void*)) == 0) scan->hit = (const Collider*)at, scan->hits++;
}

/* What the library can write to; the part that is read-only after loading is readable too. */
static int scanObject(struct dl_phdr_info* object, size_t size, void* context)
{
    Scan* scan = context;
    (void)size;
    if (!holdsAddress(object, scan->code)) return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr)* part = object->dlpi_phdr + i;
        if (part->p_type == PT_LOAD && (part->p_flags & PF_W)) scanPart(scan, object->dlpi_addr + part->p_vaddr, part->p_memsz);
    }
    return 1;
}

/* The entry of a class with itself, for a class that has no collider; NULL if it cannot be told. */
static const Collider* entryOf(int class, const pcNative* native)
{
    Scan scan = {.wanted = marker};
    memcpy(&scan.code, &native->collide, sizeof scan.code);
    dSetColliderOverride(class, class, marker);
    dl_iterate_phdr(scanObject, &scan);
    dSetColliderOverride(class, class, NULL);
    return scan.hits == 1 && !scan.hit->function ? scan.hit : NULL;
}

static const Collider* at(const Collider* base, int class1, int class2) { return base + class1 * dGeomNumClasses + class2; }

/* Each function stands at its two places, once exchanged and once not. */
static bool looksRight(const Collider* base)
{
    for (int i = 0; i < PAIRS; i++) {
        const Collider *a = at(base, pairs[i][0], pairs[i][1]), *b = at(base, pairs[i][1], pairs[i][0]);
        bool exchanged = a->reverse + b->reverse == 1 || (a == b && (a->reverse == 0 || a->reverse == 1));
        if (a->function != b->function || !exchanged) return false;
    }
    return true;
}

static const Collider* findTable(void)
{
    const pcNative* native = pcNativeOde();
    if (!native) return NULL;
    const Collider *plane = entryOf(dPlaneClass, native), *ray = entryOf(dRayClass, native);
    if (!plane || !ray || ray - plane != (dRayClass - dPlaneClass) * (dGeomNumClasses + 1)) return NULL;
    const Collider* base = plane - dPlaneClass * (dGeomNumClasses + 1);
    return looksRight(base) ? base : NULL;
}

/* ---- our functions in it ---- */

static _Thread_local bool bypass;

bool pcOdeBypassOverrides(bool on)
{
    bool before = bypass;
    bypass = on;
    return before;
}

/* As ODE turns contacts round. */
static void exchange(dContactGeom* c)
{
    dGeomID geom = c->g1;
    int side = c->side1;
    for (int k = 0; k < 3; k++) c->normal[k] = -c->normal[k];
    c->g1 = c->g2, c->g2 = geom;
    c->side1 = c->side2, c->side2 = side;
}

/* The former collider with the geoms exchanged. */
static int callExchanged(dColliderFn* function, dGeomID geom1, dGeomID geom2, int flags, dContactGeom* contacts, int skip)
{
    int count = function(geom2, geom1, flags, contacts, skip);
    for (int i = 0; i < count; i++) exchange((dContactGeom*)((char*)contacts + (size_t)i * (size_t)skip));
    return count;
}

/* What ODE did for this pair before; geom 1 is of the first class of its row. */
static int callFormer(dGeomID geom1, dGeomID geom2, int flags, dContactGeom* contacts, int skip)
{
    int class1 = dGeomGetClass(geom1), class2 = dGeomGetClass(geom2);
    for (int i = 0; i < PAIRS; i++) {
        if (pairs[i][0] != class1 || pairs[i][1] != class2) continue;
        Collider was = former[i];
        bool arrivesExchanged = class1 == class2; /* see dSetColliderOverride */
        if (!was.function) return 0;
        if (arrivesExchanged != (was.reverse != 0)) return callExchanged(was.function, geom1, geom2, flags, contacts, skip);
        return was.function(geom1, geom2, flags, contacts, skip);
    }
    return 0;
}

static int byMetric(dGeomID geom1, dGeomID geom2, int flags, dContactGeom* contacts, int skip)
{
    int count = bypass ? -1 : pcOdeCollideByMetric(geom1, geom2, flags, contacts, skip);
    return count >= 0 ? count : callFormer(geom1, geom2, flags, contacts, skip);
}

static void overrideAll(void)
{
    for (int i = 0; i < PAIRS; i++) {
        const Collider* now = at(table, pairs[i][0], pairs[i][1]);
        if (now->function != byMetric && now->function != callFormer) former[i] = *now;
        dSetColliderOverride(pairs[i][0], pairs[i][1], byMetric);
    }
}

/* Only where ours still stands: what the program has put there since is its own. */
static void restoreAll(void)
{
    for (int i = 0; i < PAIRS; i++) {
        int class1 = pairs[i][0], class2 = pairs[i][1];
        if (at(table, class1, class2)->function != byMetric) continue;
        if (class1 == class2)
            dSetColliderOverride(class1, class2, callFormer);
        else
            dSetColliderOverride(former[i].reverse ? class2 : class1, former[i].reverse ? class1 : class2, former[i].function);
    }
}

/* ---- public ---- */

/* ODE counts its initialisations, and aborts on an override before the first. */
static pcStatus override(void)
{
    if (!holding && !dInitODE2(0)) return pcFail(PC_ERROR_UNSUPPORTED, "ODE could not be initialised");
    holding = true;
    if (!table) table = findTable();
    if (!table) return pcFail(PC_ERROR_UNSUPPORTED, "the colliders of this build of ODE cannot be found, so they could not be restored");
    overrideAll();
    return PC_OK;
}

static void releaseOde(void)
{
    const pcNative* native = pcNativeOde();
    if (holding && native) native->closeOde();
    holding = false;
}

pcStatus pcOverrideColliders(void)
{
    pthread_mutex_lock(&lock);
    pcStatus status = override();
    if (status != PC_OK) releaseOde();
    pthread_mutex_unlock(&lock);
    return status;
}

pcStatus pcRestoreColliders(void)
{
    pthread_mutex_lock(&lock);
    if (holding) restoreAll();
    releaseOde();
    pthread_mutex_unlock(&lock);
    return PC_OK;
}
