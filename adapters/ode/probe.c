#include "adapters/ode/probe.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/ode/native.h"
#include "base/status.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pcLayout layout;
static const char* missing; /* NULL: all was found */

/* ---- reading at an offset ---- */

static const void* pointerAt(const void* object, size_t offset)
{
    void* value;
    memcpy(&value, (const char*)object + offset, sizeof value);
    return value;
}

static int intAt(const void* object, size_t offset)
{
    int value;
    memcpy(&value, (const char*)object + offset, sizeof value);
    return value;
}

int pcOdeBodies(dWorldID world) { return intAt(world, layout.bodyCount); }
int pcOdeJoints(dWorldID world) { return intAt(world, layout.jointCount); }
dBodyID pcOdeFirstBody(dWorldID world) { return (dBodyID)(uintptr_t)pointerAt(world, layout.firstBody); }
dBodyID pcOdeNextBody(dBodyID body) { return (dBodyID)(uintptr_t)pointerAt(body, layout.nextBody); }
dJointID pcOdeFirstJoint(dWorldID world) { return (dJointID)(uintptr_t)pointerAt(world, layout.firstJoint); }
dJointID pcOdeNextJoint(dJointID joint) { return (dJointID)(uintptr_t)pointerAt(joint, layout.nextJoint); }
int pcOdeHasMemory(dWorldID world) { return pointerAt(world, layout.workingMemory) != NULL; }
unsigned pcOdeBodyFlags(dBodyID body) { return (unsigned)intAt(body, layout.bodyFlags); }
bool pcOdeSleeps(dBodyID body) { return ((unsigned)intAt(body, layout.bodyFlags) & layout.disabled) != 0; }
void pcOdeSetBodyFlags(dBodyID body, unsigned flags) { memcpy((char*)body + layout.bodyFlags, &flags, sizeof flags); }
const dContact* pcOdeContact(dJointID joint) { return (const dContact*)(const void*)((const char*)joint + layout.contact); }

/* An entry of a body's list of joints with nothing in it, and none after it. */
void pcOdePretendJoint(dBodyID body, int on)
{
    static void* const empty[8] = {NULL};
    const void* entry = on ? empty : NULL;
    memcpy((char*)body + layout.bodyJoints, &entry, sizeof entry);
}

/* ---- the sizes of objects ---- */

/* An object's id is the address of its allocation. ODE's allocation handler is one for the process; ours takes notes on this thread only. */
enum { MOST_NOTES = 64 };
typedef struct Note {
    void* address;
    size_t size;
} Note;
static _Thread_local Note* notes;
static _Thread_local int noteCount;
static _Atomic(dAllocFunction*) hostAlloc; /* another thread of the host may make a world while we look */

static void* allocate(dsizeint size)
{
    dAllocFunction* host = atomic_load(&hostAlloc);
    void* address = host ? host(size) : malloc(size);
    if (notes && noteCount < MOST_NOTES) notes[noteCount++] = (Note){address, size};
    return address;
}

static size_t sizeOf(const void* object)
{
    for (int i = noteCount - 1; i >= 0; i--)
        if (notes[i].address == object) return notes[i].size;
    return 0;
}

/* ---- searching ---- */

/* Where the pointer stands in the object, if it does so exactly once. */
static bool findPointer(const void* object, const void* wanted, size_t* offset)
{
    size_t size = sizeOf(object);
    int found = 0;
    for (size_t at = 0; at + sizeof wanted <= size; at += sizeof wanted)
        if (pointerAt(object, at) == wanted) *offset = at, found++;
    return found == 1;
}

/* A copy of an object's bytes. */
typedef struct Picture {
    unsigned char bytes[4096];
    size_t size;
} Picture;

static bool take(const void* object, Picture* out)
{
    out->size = sizeOf(object);
    if (out->size == 0 || out->size > sizeof out->bytes) return false;
    memcpy(out->bytes, object, out->size);
    return true;
}

/* Where an int was `before` and has become `after`, if at one place only. */
static bool findInt(const void* object, const Picture* picture, int before, int after, size_t* offset)
{
    int found = 0;
    for (size_t at = 0; at + sizeof(int) <= picture->size; at += sizeof(int))
        if (intAt(picture->bytes, at) == before && intAt(object, at) == after) *offset = at, found++;
    return found == 1;
}

/* Where a pointer was NULL and no longer is, if at one place only. */
static bool findAppeared(const void* object, const Picture* picture, size_t* offset)
{
    int found = 0;
    for (size_t at = 0; at + sizeof(void*) <= picture->size; at += sizeof(void*))
        if (!pointerAt(picture->bytes, at) && pointerAt(object, at)) *offset = at, found++;
    return found == 1;
}

/* The only word that has changed, and the only bit of it. */
static bool findBit(const void* object, const Picture* picture, size_t* offset, unsigned* bit)
{
    int found = 0;
    for (size_t at = 0; at + sizeof(int) <= picture->size; at += sizeof(int)) {
        unsigned change = (unsigned)(intAt(picture->bytes, at) ^ intAt(object, at));
        if (change) *offset = at, *bit = change, found++;
    }
    return found == 1 && (*bit & (*bit - 1)) == 0;
}

/* ---- what is looked for ---- */

typedef struct Scratch {
    dWorldID world;
    dBodyID body[3];
    dJointID joint[5];
} Scratch;

/* Telling a world how much to reserve makes it, a first step would do so too, along with other things. */
static const char* findWorkingMemory(const Scratch* s)
{
    Picture world;
    const dWorldStepReserveInfo reserve = {.struct_size = sizeof reserve, .reserve_factor = 1.2f, .reserve_minimum = 65536};
    if (!take(s->world, &world)) return "the size of a world";
    dWorldSetStepMemoryReservationPolicy(s->world, &reserve);
    return findAppeared(s->world, &world, &layout.workingMemory) ? NULL : "the working memory of a world";
}

static const char* findCounts(Scratch* s)
{
    Picture world;
    s->body[0] = dBodyCreate(s->world);
    for (int i = 0; i < 2; i++) s->joint[i] = dJointCreateBall(s->world, NULL);
    if (!take(s->world, &world)) return "the size of a world";
    for (int i = 1; i < 3; i++) s->body[i] = dBodyCreate(s->world);
    for (int i = 2; i < 5; i++) s->joint[i] = dJointCreateBall(s->world, NULL);
    if (!findInt(s->world, &world, 1, 3, &layout.bodyCount)) return "the number of bodies of a world";
    return findInt(s->world, &world, 2, 5, &layout.jointCount) ? NULL : "the number of joints of a world";
}

/* The newest object comes first in its list. */
static const char* findLists(const Scratch* s)
{
    size_t again;
    if (!findPointer(s->world, s->body[2], &layout.firstBody)) return "the first body of a world";
    if (!findPointer(s->world, s->joint[4], &layout.firstJoint)) return "the first joint of a world";
    if (!findPointer(s->body[2], s->body[1], &layout.nextBody)) return "the next body after a body";
    if (!findPointer(s->joint[4], s->joint[3], &layout.nextJoint)) return "the next joint after a joint";
    if (!findPointer(s->body[1], s->body[0], &again) || again != layout.nextBody) return "the next body after a body";
    if (!findPointer(s->joint[3], s->joint[2], &again) || again != layout.nextJoint) return "the next joint after a joint";
    return NULL;
}

static const char* findFlags(const Scratch* s)
{
    Picture body;
    size_t again;
    dBodyID b = s->body[0];
    dBodySetAutoDisableFlag(b, 0);
    if (!take(b, &body)) return "the size of a body";
    dBodyDisable(b);
    if (!findBit(b, &body, &layout.bodyFlags, &layout.disabled)) return "the flag of a disabled body";
    dBodyEnable(b);
    take(b, &body);
    dBodySetAutoDisableFlag(b, 1);
    bool found = findBit(b, &body, &again, &layout.autoDisable) && again == layout.bodyFlags;
    dBodySetAutoDisableFlag(b, 0);
    return found ? NULL : "the flag of a body that disables itself";
}

static const char* findJointsOfBody(const Scratch* s)
{
    Picture body;
    if (!take(s->body[0], &body)) return "the size of a body";
    dJointAttach(s->joint[0], s->body[0], NULL);
    bool found = findAppeared(s->body[0], &body, &layout.bodyJoints);
    dJointAttach(s->joint[0], NULL, NULL);
    if (!found || pointerAt(s->body[0], layout.bodyJoints)) return "the joints of a body";
    pcOdePretendJoint(s->body[0], 1);
    found = dBodyGetNumJoints(s->body[0]) == 1;
    pcOdePretendJoint(s->body[0], 0);
    return found && dBodyGetNumJoints(s->body[0]) == 0 ? NULL : "the joints of a body";
}

/* Numbers that stand nowhere by chance. */
static void fillContact(dContact* contact)
{
    double* numbers[] = {contact->geom.pos, contact->geom.normal, contact->fdir1};
    memset(contact, 0, sizeof *contact);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) numbers[i][k] = 1234.5 + 17.25 * i + 3.125 * k;
    contact->geom.depth = 4321.75, contact->geom.side1 = 1234567, contact->geom.side2 = 7654321;
    contact->surface.mode = dContactBounce | dContactMu2;
    contact->surface.mu = 777.125, contact->surface.mu2 = 888.25, contact->surface.bounce = 0.4375;
}

static bool sameContact(const dContact* a, const dContact* b)
{
    return memcmp(a->geom.pos, b->geom.pos, 3 * sizeof(dReal)) == 0 && memcmp(a->geom.normal, b->geom.normal, 3 * sizeof(dReal)) == 0 &&
           memcmp(a->fdir1, b->fdir1, 3 * sizeof(dReal)) == 0 && a->geom.depth == b->geom.depth && a->geom.side1 == b->geom.side1 &&
           a->geom.side2 == b->geom.side2 && a->surface.mode == b->surface.mode && a->surface.mu == b->surface.mu &&
           a->surface.mu2 == b->surface.mu2 && a->surface.bounce == b->surface.bounce;
}

static const char* findContact(const Scratch* s)
{
    dContact contact;
    fillContact(&contact);
    dJointID joint = dJointCreateContact(s->world, NULL, &contact);
    size_t size = sizeOf(joint);
    int found = 0;
    for (size_t at = 0; at + sizeof contact <= size; at += sizeof(double))
        if (sameContact((const dContact*)(const void*)((const char*)joint + at), &contact)) layout.contact = at, found++;
    pcNativeOde()->jointDestroy(joint);
    return found == 1 ? NULL : "the contact in a contact joint";
}

/* ---- self-check ---- */

enum { CHECKED = 24 };

static bool listed(dWorldID world, dBodyID const* body, dJointID const* joint)
{
    int bodies = 0, joints = 0, known = 0;
    for (int i = 0; i < CHECKED; i++) bodies += body[i] != NULL, joints += joint[i] != NULL;
    if (pcOdeBodies(world) != bodies || pcOdeJoints(world) != joints) return false;
    dBodyID b = pcOdeFirstBody(world);
    for (int left = bodies; b && left > 0; left--, b = pcOdeNextBody(b))
        for (int i = 0; i < CHECKED; i++) known += body[i] == b;
    dJointID j = pcOdeFirstJoint(world);
    for (int left = joints; j && left > 0; left--, j = pcOdeNextJoint(j))
        for (int i = 0; i < CHECKED; i++) known += joint[i] == j;
    return !b && !j && known == bodies + joints;
}

/* Made and unmade in an order that repeats itself nowhere. */
static bool checkLists(void)
{
    dWorldID world = dWorldCreate();
    dJointGroupID group = dJointGroupCreate(0);
    dBodyID body[CHECKED] = {0};
    dJointID joint[CHECKED] = {0};
    dContact contact;
    unsigned random = 1;
    bool good = true;
    fillContact(&contact);
    for (int turn = 0; turn < 200 && good; turn++) {
        random = random * 1664525u + 1013904223u;
        unsigned i = (random >> 8) % CHECKED, k = (random >> 20) % CHECKED;
        if (body[i])
            pcNativeOde()->bodyDestroy(body[i]), body[i] = NULL;
        else
            body[i] = dBodyCreate(world);
        if (joint[k])
            pcNativeOde()->jointDestroy(joint[k]), joint[k] = NULL;
        else
            joint[k] = dJointCreateContact(world, NULL, &contact);
        if (joint[k] && body[i]) dJointAttach(joint[k], body[i], NULL);
        good = listed(world, body, joint) && (!joint[k] || sameContact(pcOdeContact(joint[k]), &contact));
    }
    dJointID grouped = dJointCreateContact(world, group, &contact);
    good = good && pcOdeFirstJoint(world) == grouped && sameContact(pcOdeContact(grouped), &contact);
    dJointGroupDestroy(group);
    pcNativeOde()->worldDestroy(world);
    return good;
}

/* ---- once ---- */

static const char* search(void)
{
    Scratch s = {.world = dWorldCreate()};
    const char* none = findWorkingMemory(&s);
    if (!none) none = findCounts(&s);
    if (!none) none = findLists(&s);
    if (!none) none = findFlags(&s);
    if (!none) none = findJointsOfBody(&s);
    if (!none) none = findContact(&s);
    pcNativeOde()->worldDestroy(s.world);
    return none;
}

static void probe(void)
{
    Note room[MOST_NOTES];
    if (!pcNativeOde()) {
        missing = "its own functions";
        return;
    }
    dAllocFunction* host = dGetAllocHandler();
    atomic_store(&hostAlloc, host);
    notes = room, noteCount = 0;
    dSetAllocHandler(allocate);
    missing = search();
    dSetAllocHandler(host);
    notes = NULL;
    if (!missing && !checkLists()) missing = "a list of bodies and joints that agrees with itself";
}

const pcLayout* pcOdeLayout(void)
{
    pthread_once(&once, probe);
    if (!missing) return &layout;
    pcFail(PC_ERROR_UNSUPPORTED, "this build of ODE is not one we understand: %s was not found; the world stays native", missing);
    return NULL;
}

pcStatus pcOdeCheckWorld(dWorldID world)
{
    if (!pcOdeLayout()) return PC_ERROR_UNSUPPORTED;
    int bodies = 0, joints = 0, most = pcOdeBodies(world), mostJoints = pcOdeJoints(world);
    bool own = true;
    for (dBodyID b = pcOdeFirstBody(world); b && own && bodies <= most; b = pcOdeNextBody(b), bodies++) own = dBodyGetWorld(b) == world;
    for (dJointID j = pcOdeFirstJoint(world); j && own && joints <= mostJoints; j = pcOdeNextJoint(j)) joints++;
    if (own && bodies == most && joints == mostJoints) return PC_OK;
    return pcFail(PC_ERROR_UNSUPPORTED, "the lists of the world hold %d bodies and %d joints, but it counts %d and %d; it stays native",
                  bodies, joints, most, mostJoints);
}
