#include "adapters/ode/collected.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/ode/collide.h"
#include "adapters/ode/gather.h"
#include "adapters/ode/native.h"
#include "adapters/ode/shapes.h"
#include "adapters/ode/space.h"
#include "base/pose.h"
#include "shape/shape.h"

/* ---- tables ---- */

static unsigned slotOf(const pcIdTable* table, uintptr_t key)
{
    return (unsigned)((uint64_t)key * 0x9e3779b97f4a7c15ull >> 32) & ((unsigned)table->slots - 1u);
}

static unsigned after(const pcIdTable* table, unsigned at) { return (at + 1u) & ((unsigned)table->slots - 1u); }

static void enter(pcIdTable* table, uintptr_t key, int index)
{
    unsigned at = slotOf(table, key);
    while (table->slot[at]) at = after(table, at);
    table->slot[at] = index + 1;
}

static void clearTable(pcIdTable* table)
{
    if (table->slots > 0) memset(table->slot, 0, (size_t)table->slots * sizeof *table->slot);
}

/* Room for one more than `count`, at most half full. *anew: it is empty now. False if out of memory. */
static bool widen(pcIdTable* table, int count, bool* anew)
{
    *anew = 2 * (count + 1) > table->slots;
    if (!*anew) return true;
    int slots = table->slots ? 2 * table->slots : 64;
    int* wider = realloc(table->slot, (size_t)slots * sizeof *wider);
    if (!wider) return false;
    table->slot = wider, table->slots = slots;
    clearTable(table);
    return true;
}

/* Either way round. */
static uintptr_t keyOf(dGeomID geom1, dGeomID geom2) { return (uintptr_t)geom1 ^ (uintptr_t)geom2; }

static uintptr_t keyOfPair(const pcCollected* c, int index)
{
    return keyOf(c->geom[c->pair[index].geom1].id, c->geom[c->pair[index].geom2].id);
}

/* ---- geoms ---- */

unsigned pcFoldBits(unsigned long bits) { return (unsigned)(bits | (bits >> 16 >> 16)); }

pcPose pcPoseOnBody(const pcPose* body, const pcPose* world)
{
    const double* q = body->quaternion;
    pcPose back = {.quaternion = {q[0], -q[1], -q[2], -q[3]}}, moved = *world;
    for (int k = 0; k < 3; k++) moved.position[k] -= body->position[k];
    return pcPoseCompose(&back, &moved);
}

static pcPose poseOfBody(dBodyID body)
{
    pcPose pose;
    memcpy(pose.position, dBodyGetPosition(body), sizeof pose.position);
    memcpy(pose.quaternion, dBodyGetQuaternion(body), sizeof pose.quaternion);
    return pose;
}

static pcCollectedGeom readGeom(dGeomID id)
{
    pcCollectedGeom geom = {.id = id, .body = dGeomGetBody(id)};
    geom.category = pcFoldBits(dGeomGetCategoryBits(id)), geom.collide = pcFoldBits(dGeomGetCollideBits(id));
    geom.shape = pcShapeShare(pcOdeShapeOf(id, &geom.pose));
    if (geom.shape && geom.body) {
        pcPose body = poseOfBody(geom.body);
        geom.pose = pcPoseOnBody(&body, &geom.pose);
    }
    return geom;
}

/* Its index; -1 if out of memory. */
static int addGeom(pcCollected* c, dGeomID id)
{
    bool anew;
    pcIdTable* table = &c->geomTable;
    for (unsigned at = table->slots ? slotOf(table, (uintptr_t)id) : 0; table->slots && table->slot[at]; at = after(table, at))
        if (c->geom[table->slot[at] - 1].id == id) return table->slot[at] - 1;
    if (!pcGrow(&c->geom, &c->geomRoom, c->geoms + 1, sizeof *c->geom) || !widen(table, c->geoms, &anew)) return -1;
    for (int i = 0; anew && i < c->geoms; i++) enter(table, (uintptr_t)c->geom[i].id, i);
    c->geom[c->geoms] = readGeom(id);
    enter(table, (uintptr_t)id, c->geoms);
    return c->geoms++;
}

/* ---- pairs ---- */

pcCollectedPair* pcCollectedFind(const pcCollected* c, dGeomID geom1, dGeomID geom2)
{
    const pcIdTable* table = &c->pairTable;
    if (c->pairs == 0) return NULL;
    for (unsigned at = slotOf(table, keyOf(geom1, geom2)); table->slot[at]; at = after(table, at)) {
        pcCollectedPair* pair = c->pair + table->slot[at] - 1;
        dGeomID a = c->geom[pair->geom1].id, b = c->geom[pair->geom2].id;
        if ((a == geom1 && b == geom2) || (a == geom2 && b == geom1)) return pair;
    }
    return NULL;
}

/* dCollide's contacts, at the end of the list; how many, -1 if out of memory. */
static int addContacts(pcCollected* c, dGeomID geom1, dGeomID geom2)
{
    if (!pcGrow(&c->contact, &c->contactRoom, c->contacts + PC_MOST_CONTACTS, sizeof *c->contact)) return -1;
    int count = pcNativeOde()->collide(geom1, geom2, PC_MOST_CONTACTS, c->contact + c->contacts, sizeof *c->contact);
    c->contacts += count;
    return count;
}

bool pcCollectedAdd(pcCollected* c, dGeomID geom1, dGeomID geom2, const dSurfaceParameters* surface)
{
    bool anew;
    int i = addGeom(c, geom1), k = addGeom(c, geom2), first = c->contacts;
    if (i < 0 || k < 0 || !pcGrow(&c->pair, &c->pairRoom, c->pairs + 1, sizeof *c->pair) || !widen(&c->pairTable, c->pairs, &anew))
        return false;
    for (int j = 0; anew && j < c->pairs; j++) enter(&c->pairTable, keyOfPair(c, j), j);
    int count = addContacts(c, geom1, geom2);
    if (count < 0) return false;
    c->pair[c->pairs] = (pcCollectedPair){i, k, pcOdeMetricKnows(geom1, geom2), false, *surface, first, count};
    enter(&c->pairTable, keyOf(geom1, geom2), c->pairs++);
    return true;
}

void pcCollectedClear(pcCollected* c)
{
    if (c->geoms == 0) return;
    for (int i = 0; i < c->geoms; i++) pcShapeFree(c->geom[i].shape);
    c->geoms = c->pairs = c->contacts = 0;
    clearTable(&c->geomTable), clearTable(&c->pairTable);
}

void pcCollectedFree(pcCollected* c)
{
    pcCollectedClear(c);
    free(c->geom), free(c->pair), free(c->contact), free(c->geomTable.slot), free(c->pairTable.slot);
    *c = (pcCollected){0};
}
