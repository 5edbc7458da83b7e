#include "adapters/ode/space.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/ode/ahead.h"
#include "adapters/ode/collide.h"
#include "adapters/ode/inject.h"
#include "adapters/ode/native.h"
#include "adapters/ode/probe.h"
#include "adapters/ode/shapes.h"
#include "base/pose.h"
#include "base/status.h"
#include "base/vec.h"

enum { MOST_CONTACTS = 64 }; /* of a pair by dCollide */

void pcSpaceFree(pcSpace* s)
{
    void* all[] = {s->pair, s->slot, s->shape, s->geom, s->temporary, s->mute, s->strike, s->members.slot, s->round, s->plane};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    *s = (pcSpace){0};
}

static pcStatus outOfMemory(void) { return pcFail(PC_ERROR_MEMORY, "out of memory for the geoms of a space"); }

/* ---- sets of geoms ---- */

static dGeomID* placeOf(const pcGeomSet* set, dGeomID geom)
{
    unsigned mask = (unsigned)set->slots - 1u, at = (unsigned)((uint64_t)(uintptr_t)geom * 0x9e3779b97f4a7c15ull >> 32) & mask;
    while (set->slot[at] && set->slot[at] != geom) at = (at + 1u) & mask;
    return set->slot + at;
}

static bool isMember(const pcGeomSet* set, dGeomID geom) { return geom && set->count > 0 && *placeOf(set, geom) == geom; }

static void clearSet(pcGeomSet* set)
{
    if (set->slots > 0) memset(set->slot, 0, (size_t)set->slots * sizeof *set->slot);
    set->count = 0;
}

static bool widenSet(pcGeomSet* set)
{
    pcGeomSet wider = {.slots = set->slots ? 2 * set->slots : 64};
    wider.slot = calloc((size_t)wider.slots, sizeof *wider.slot);
    if (!wider.slot) return false;
    for (int i = 0; i < set->slots; i++)
        if (set->slot[i]) *placeOf(&wider, set->slot[i]) = set->slot[i], wider.count++;
    free(set->slot);
    *set = wider;
    return true;
}

/* False if out of memory. */
static bool addMember(pcGeomSet* set, dGeomID geom)
{
    if (2 * (set->count + 1) > set->slots && !widenSet(set)) return false;
    dGeomID* place = placeOf(set, geom);
    set->count += *place != geom;
    *place = geom;
    return true;
}

static bool addMembers(pcGeomSet* set, dSpaceID space)
{
    bool good = true;
    for (int i = 0; i < dSpaceGetNumGeoms(space) && good; i++) {
        dGeomID geom = dSpaceGetGeom(space, i);
        good = dGeomIsSpace(geom) ? addMembers(set, (dSpaceID)geom) : addMember(set, geom);
    }
    return good;
}

/* ---- pairs that were collected ---- */

static unsigned slotOf(const pcSpace* s, dGeomID geom1, dGeomID geom2)
{
    uint64_t x = ((uint64_t)(uintptr_t)geom1 ^ (uint64_t)(uintptr_t)geom2) * 0x9e3779b97f4a7c15ull; /* either way round */
    return (unsigned)(x >> 32) & ((unsigned)s->slots - 1u);
}

static bool isPair(const pcGeomPair* pair, dGeomID geom1, dGeomID geom2)
{
    return (pair->geom1 == geom1 && pair->geom2 == geom2) || (pair->geom1 == geom2 && pair->geom2 == geom1);
}

static bool isCollected(const pcSpace* s, dGeomID geom1, dGeomID geom2)
{
    if (s->pairs == 0) return false;
    for (unsigned at = slotOf(s, geom1, geom2); s->slot[at]; at = (at + 1u) & ((unsigned)s->slots - 1u))
        if (isPair(s->pair + s->slot[at] - 1, geom1, geom2)) return true;
    return false;
}

static void enter(pcSpace* s, int index)
{
    unsigned at = slotOf(s, s->pair[index].geom1, s->pair[index].geom2);
    while (s->slot[at]) at = (at + 1u) & ((unsigned)s->slots - 1u);
    s->slot[at] = index + 1;
}

static bool growSlots(pcSpace* s)
{
    if (2 * (s->pairs + 1) <= s->slots) return true;
    int slots = s->slots ? 2 * s->slots : 64;
    int* wider = realloc(s->slot, (size_t)slots * sizeof *wider);
    if (!wider) return false;
    memset(wider, 0, (size_t)slots * sizeof *wider);
    s->slot = wider, s->slots = slots;
    for (int i = 0; i < s->pairs; i++) enter(s, i);
    return true;
}

bool pcSpaceCollect(pcSpace* s, dGeomID geom1, dGeomID geom2)
{
    if (isCollected(s, geom1, geom2)) return true;
    if (!pcGrow(&s->pair, &s->pairRoom, s->pairs + 1, sizeof *s->pair) || !growSlots(s)) return false;
    s->pair[s->pairs] = (pcGeomPair){geom1, geom2};
    enter(s, s->pairs++);
    return true;
}

static void forgetPairs(pcSpace* s)
{
    if (s->pairs > 0) memset(s->slot, 0, (size_t)s->slots * sizeof *s->slot);
    s->pairs = 0;
}

/* ---- which pairs may touch ---- */

/* Rays feel, but do not push. */
static bool isSolid(dGeomID geom) { return dGeomIsEnabled(geom) && !dGeomIsSpace(geom) && dGeomGetClass(geom) != dRayClass; }

static bool bitsMeet(dGeomID a, dGeomID b)
{
    return (dGeomGetCategoryBits(a) & dGeomGetCollideBits(b)) || (dGeomGetCategoryBits(b) & dGeomGetCollideBits(a));
}

/* Bodies that a joint holds together do not push each other, as the near callbacks of ODE's users have it. */
static bool mayTouch(dGeomID a, dGeomID b)
{
    dBodyID body1 = dGeomGetBody(a), body2 = dGeomGetBody(b);
    if (body1 == body2 || !isSolid(a) || !isSolid(b) || !bitsMeet(a, b)) return false;
    return !body1 || !body2 || !dAreConnectedExcluding(body1, body2, dJointTypeContact);
}

static dSurfaceParameters usualSurface(const pcSurface* s)
{
    dSurfaceParameters out = {.mode = dContactApprox1, .mu = s->mu};
    if (!isnan(s->mu2)) out.mode |= dContactMu2, out.mu2 = s->mu2;
    if (s->bounce > 0.0) out.mode |= dContactBounce, out.bounce = s->bounce;
    return out;
}

/* The surface of a pair that may touch; false: it does not. */
static bool surfaceOf(const pcSpace* s, dGeomID a, dGeomID b, const pcSurface* settings, dSurfaceParameters* out)
{
    *out = usualSurface(settings);
    if (!mayTouch(a, b)) return false;
    return !s->surface || s->surface(s->surfaceContext, a, b, out) != 0;
}

static pcSurfaceMore moreOf(const pcSpace* s, dGeomID a, dGeomID b)
{
    pcSurfaceMore more = {.fastest = NAN, .sink = NAN};
    if (s->more.surface) s->more.surface(s->more.context, a, b, &more);
    return more;
}

static void addMore(const pcSurfaceMore* more, pcSurface* out)
{
    if (v3Norm(v3Load(more->direction1)) > 0.0) memcpy(out->direction1, more->direction1, sizeof out->direction1);
    if (!isnan(more->fastest)) out->fastest = smaller(out->fastest, more->fastest);
    if (!isnan(more->sink)) out->sink = larger(out->sink, more->sink);
}

/* ---- going through pairs ---- */

typedef void PairVisit(void* context, dGeomID a, dGeomID b);
typedef struct Tour {
    PairVisit* visit;
    void* context;
} Tour;

static void near(void* data, dGeomID a, dGeomID b)
{
    const Tour* tour = data;
    if (dGeomIsSpace(a) || dGeomIsSpace(b))
        dSpaceCollide2(a, b, data, near);
    else
        tour->visit(tour->context, a, b);
}

static void visitSpace(dSpaceID space, Tour* tour)
{
    dSpaceCollide(space, tour, near);
    for (int i = 0; i < dSpaceGetNumGeoms(space); i++) {
        dGeomID geom = dSpaceGetGeom(space, i);
        if (dGeomIsSpace(geom)) visitSpace((dSpaceID)geom, tour);
    }
}

static void visitPairs(const pcSpace* s, PairVisit* visit, void* context)
{
    Tour tour = {visit, context};
    if (s->space) visitSpace(s->space, &tour);
    for (int i = 0; !s->space && i < s->pairs; i++) visit(context, s->pair[i].geom1, s->pair[i].geom2);
}

static bool isIdle(const pcSpace* s) { return !s->space && s->pairs == 0; }

/* ---- sleep ---- */

typedef struct Ties {
    pcSpace* space;
    pcGathered* gathered;
    pcSurface usual;
} Ties;

static bool sleeps(dBodyID body) { return (pcOdeBodyFlags(body) & pcOdeLayout()->disabled) != 0; }

static void tiePair(void* context, dGeomID a, dGeomID b)
{
    Ties* ties = context;
    dSurfaceParameters surface;
    dContactGeom contact;
    int i = pcGatheredIndex(ties->gathered, dGeomGetBody(a)), k = pcGatheredIndex(ties->gathered, dGeomGetBody(b));
    if (i < 0 || k < 0 || (!sleeps(ties->gathered->body[i]) && !sleeps(ties->gathered->body[k]))) return;
    if (surfaceOf(ties->space, a, b, &ties->usual, &surface) && pcNativeOde()->collide(a, b, 1, &contact, sizeof contact) > 0)
        pcGatheredTie(ties->gathered, i, k);
}

void pcSpaceTie(pcSpace* s, pcGathered* g)
{
    if (isIdle(s)) return;
    for (int i = 0; i < s->struck; i++) {
        int body = pcGatheredIndex(g, s->strike[i].body);
        if (body >= 0 && s->strike[i].asleep) pcGatheredWake(g, body);
    }
    if (!pcGatheredMixed(g)) return;
    Ties ties = {.space = s, .gathered = g, .usual = pcDefaultSurface(NULL)};
    visitPairs(s, tiePair, &ties);
}

void pcSpaceAutoDisable(pcSpace* s, const pcGathered* g, dWorldID world, double h)
{
    s->temporaries = 0;
    for (int i = 0; i < s->struck; i++) {
        int at = pcGatheredIndex(g, s->strike[i].body);
        if (at < 0 || dBodyGetNumJoints(g->body[at]) > 0) continue;
        if (!pcGrow(&s->temporary, &s->temporaryRoom, s->temporaries + 1, sizeof *s->temporary)) continue;
        dJointID joint = s->temporary[s->temporaries++] = dJointCreateNull(world, NULL);
        dJointAttach(joint, g->body[at], NULL);
    }
    pcInjectAutoDisable(world, h);
    pcSpacePart(s);
}

/* ---- shapes ---- */

/* The pose in the frame of a body. */
static pcPose poseIn(const pcPose* body, const pcPose* world)
{
    const double* q = body->quaternion;
    pcPose back = {.quaternion = {q[0], -q[1], -q[2], -q[3]}}, moved = *world;
    for (int k = 0; k < 3; k++) moved.position[k] -= body->position[k];
    return pcPoseCompose(&back, &moved);
}

/* Halves of a long as one: what meets in a long meets here; the surface callback looks at the whole. */
static unsigned fold(unsigned long bits) { return (unsigned)(bits | (bits >> 16 >> 16)); }

/* Of a class that the metric measures against every other that it knows. */
static bool meetsAll(dGeomID geom)
{
    int class = dGeomGetClass(geom);
    return class == dBoxClass || class == dConvexClass || class == dPlaneClass;
}

static bool addGeom(dGeomID** list, int* count, int* room, dGeomID geom)
{
    if (!pcGrow(list, room, *count + 1, sizeof **list)) return false;
    (*list)[(*count)++] = geom;
    return true;
}

/* For contacts that dCollide finds looking ahead. */
static bool listGeom(pcSpace* s, dGeomID geom)
{
    if (dGeomGetClass(geom) == dPlaneClass) return addGeom(&s->plane, &s->planes, &s->planeRoom, geom);
    return meetsAll(geom) || addGeom(&s->round, &s->rounds, &s->roundRoom, geom);
}

static pcStatus addShape(pcSpace* s, const pcGathered* g, dGeomID geom)
{
    pcPose pose;
    unsigned category = fold(dGeomGetCategoryBits(geom)), collide = fold(dGeomGetCollideBits(geom));
    if (!isSolid(geom) || (category == 0 && collide == 0)) return PC_OK;
    if (!listGeom(s, geom)) return outOfMemory();
    const pcShape* shape = pcOdeShapeOf(geom, &pose);
    s->unknown |= !shape || !meetsAll(geom);
    if (!shape) return PC_OK;
    int room = s->shapeRoom, body = pcGatheredIndex(g, dGeomGetBody(geom));
    if (!pcGrow(&s->shape, &room, s->shapes + 1, sizeof *s->shape)) return outOfMemory();
    if (!pcGrow(&s->geom, &s->shapeRoom, s->shapes + 1, sizeof *s->geom)) return outOfMemory();
    s->geom[s->shapes] = geom;
    s->shape[s->shapes++] = (pcPlacedShape){shape, body, body >= 0 ? poseIn(&g->state[body].pose, &pose) : pose, category, collide};
    return PC_OK;
}

static pcStatus addSpace(pcSpace* s, const pcGathered* g, dSpaceID space)
{
    pcStatus status = PC_OK;
    for (int i = 0; i < dSpaceGetNumGeoms(space) && status == PC_OK; i++) {
        dGeomID geom = dSpaceGetGeom(space, i);
        status = dGeomIsSpace(geom) ? addSpace(s, g, (dSpaceID)geom) : addShape(s, g, geom);
    }
    return status;
}

/* Geoms of the collected pairs, each once. */
static pcStatus addCollected(pcSpace* s, const pcGathered* g)
{
    pcStatus status = PC_OK;
    clearSet(&s->members);
    for (int i = 0; i < 2 * s->pairs && status == PC_OK; i++) {
        dGeomID geom = i % 2 ? s->pair[i / 2].geom2 : s->pair[i / 2].geom1;
        if (isMember(&s->members, geom)) continue;
        status = addMember(&s->members, geom) ? addShape(s, g, geom) : outOfMemory();
    }
    return status;
}

/* ---- contacts of pairs that the metric does not know ---- */

typedef struct Filler {
    pcSpace* space;
    pcGathered* gathered;
    bool native; /* dCollide for every pair */
    bool ahead;  /* planes are looked at ahead */
    pcStatus status;
} Filler;

/* A surface callback has no direction to give; what is known beyond it may have: then its part across the normal, if there is any. */
static void fillContact(dContact* contact, const dContactGeom* geom, const dSurfaceParameters* surface, const pcSurfaceMore* more)
{
    v3 n = v3Load(geom->normal), direction = v3Load(more->direction1);
    v3 across = v3AddScaled(direction, -v3Dot(direction, n), n);
    double size = v3Norm(across);
    *contact = (dContact){.surface = *surface, .geom = *geom};
    contact->surface.mode &= ~dContactFDir1;
    if (!(size > 1e-6 * v3Norm(direction))) return;
    contact->surface.mode |= dContactFDir1;
    v3Store(contact->fdir1, v3Scale(1.0 / size, across));
}

static void addGiven(Filler* f, const dContact* contact, const pcSurfaceMore* more)
{
    pcGathered* g = f->gathered;
    if (!pcGrow(&g->contact, &g->contactRoom, g->contacts + 1, sizeof *g->contact)) {
        f->status = outOfMemory();
        return;
    }
    pcContact* out = g->contact + g->contacts;
    *out = (pcContact){.body1 = pcGatheredIndex(g, dGeomGetBody(contact->geom.g2)),
                       .body2 = pcGatheredIndex(g, dGeomGetBody(contact->geom.g1))};
    if (out->body1 == out->body2) return;
    pcContactOfHost(&f->space->host, contact, out->body2 < 0, out);
    addMore(more, &out->surface);
    if (!(v3Norm(v3Load(out->normal)) > 0.5)) {
        g->untranslated[PC_UNTRANSLATED_NORMAL]++;
        return;
    }
    out->id = pcContactId(contact, g->state, out);
    g->contacts++;
}

static void fillContacts(Filler* f, const dContactGeom* geoms, int count, const dSurfaceParameters* surface)
{
    if (count == 0) return;
    pcSurfaceMore more = moreOf(f->space, geoms->g1, geoms->g2);
    for (int i = 0; i < count; i++) {
        dContact contact;
        fillContact(&contact, geoms + i, surface, &more);
        addGiven(f, &contact, &more);
    }
}

static bool isPlane(dGeomID geom) { return dGeomGetClass(geom) == dPlaneClass; }

static void fillPair(void* context, dGeomID a, dGeomID b)
{
    Filler* f = context;
    dContactGeom geoms[MOST_CONTACTS];
    dSurfaceParameters surface;
    if (!isSolid(a) || !isSolid(b)) return;
    if (!f->native && pcOdeMetricKnows(a, b)) return;
    if (f->ahead && (isPlane(a) || isPlane(b))) return; /* fillPlanes looks at them */
    if (!surfaceOf(f->space, a, b, &f->space->host.surface, &surface)) return;
    fillContacts(f, geoms, pcNativeOde()->collide(a, b, MOST_CONTACTS, geoms, sizeof *geoms), &surface);
}

/* Round geoms with planes. */
static void fillPlanes(Filler* f, dWorldID world, const pcSettings* settings, double h)
{
    pcSpace* s = f->space;
    dContactGeom geoms[MOST_CONTACTS];
    dSurfaceParameters surface;
    dVector3 gravity;
    dWorldGetGravity(world, gravity);
    dGeomID raised = dCreatePlane(NULL, 0, 0, 1, 0);
    for (int i = 0; i < s->rounds; i++) {
        double margin = pcAheadMargin(f->gathered, s->round[i], gravity, settings, h);
        for (int k = 0; k < s->planes; k++) {
            int count = pcAheadCollide(s->round[i], s->plane[k], raised, margin, geoms, MOST_CONTACTS);
            if (count > 0 && surfaceOf(s, s->round[i], s->plane[k], &s->host.surface, &surface)) fillContacts(f, geoms, count, &surface);
        }
    }
    dGeomDestroy(raised);
}

/* ---- contact joints of the host that stand for the same ---- */

static bool isOurs(const pcSpace* s, const dContact* contact)
{
    return isMember(&s->members, contact->geom.g1) && isMember(&s->members, contact->geom.g2);
}

static void ignoreJoints(pcSpace* s, pcGathered* g)
{
    int kept = 0;
    if (g->touchJoints == 0) return;
    clearSet(&s->members);
    addMembers(&s->members, s->space);
    for (int i = 0; i < g->touchJoints; i++) {
        if (isOurs(s, pcOdeContact(g->touchJoint[i].joint)))
            s->ignored++;
        else
            g->touchJoint[kept++] = g->touchJoint[i];
    }
    g->touchJoints = kept;
}

/* A joint that the host made wins over the same pair collected. */
static void dropJoined(pcSpace* s, const pcGathered* g)
{
    int kept = 0;
    for (int i = 0; i < s->pairs; i++) {
        bool joined = false;
        for (int k = 0; k < g->touchJoints && !joined; k++) {
            const dContactGeom* geom = &pcOdeContact(g->touchJoint[k].joint)->geom;
            joined = isPair(s->pair + i, geom->g1, geom->g2);
        }
        if (!joined) s->pair[kept++] = s->pair[i];
    }
    s->pairs = kept;
    memset(s->slot, 0, (size_t)s->slots * sizeof *s->slot);
    for (int i = 0; i < kept; i++) enter(s, i);
}

void pcSpaceFilter(pcSpace* s, pcGathered* g)
{
    s->ignored = 0;
    if (s->space) forgetPairs(s);
    if (s->space)
        ignoreJoints(s, g);
    else if (s->pairs > 0)
        dropJoined(s, g);
}

/* ---- the step ---- */

pcStatus pcSpaceGather(pcSpace* s, pcGathered* g, dWorldID world, const pcSettings* settings, double h)
{
    s->shapes = s->rounds = s->planes = s->directed = 0, s->unknown = false, s->active = !isIdle(s);
    if (!s->active) return PC_OK;
    s->host = pcHostSurfaceOf(world, settings, h);
    bool native = settings->narrowphase == PC_NARROW_NATIVE;
    pcStatus status = PC_OK;
    if (!native) status = s->space ? addSpace(s, g, s->space) : addCollected(s, g);
    Filler filler = {.space = s, .gathered = g, .native = native, .ahead = !native && s->space};
    if (status == PC_OK && (native || s->unknown)) visitPairs(s, fillPair, &filler);
    if (status == PC_OK && filler.ahead && s->rounds > 0 && s->planes > 0) fillPlanes(&filler, world, settings, h);
    return status == PC_OK ? filler.status : status;
}

static int pairSurface(void* context, int shape1, int shape2, pcSurface* surface)
{
    pcSpace* s = context;
    dGeomID a = s->geom[shape1], b = s->geom[shape2];
    dSurfaceParameters parameters;
    if (!pcOdeMetricKnows(a, b)) return 0; /* its contacts are given */
    if (!s->space && !isCollected(s, a, b)) return 0;
    if (!surfaceOf(s, a, b, &s->host.surface, &parameters)) return 0;
    s->directed += !pcSurfaceOfPair(&s->host, &parameters, surface);
    pcSurfaceMore more = moreOf(s, a, b);
    addMore(&more, surface);
    return 1;
}

void pcSpaceShapes(pcSpace* s, pcSystem* system)
{
    system->shapeCount = s->shapes, system->shapes = s->shape;
    system->surface = pairSurface, system->surfaceContext = s;
}

pcStatus pcSpaceRows(const pcSpace* s, pcGathered* g)
{
    pcHostRow more;
    for (int i = 0; s->more.row && s->more.row(s->more.context, i, &more); i++) {
        int room = g->rowRoom;
        if (!pcGrow(&g->row, &room, g->rows + 1, sizeof *g->row)) return outOfMemory();
        if (!pcGrow(&g->rowImpulse, &g->rowRoom, g->rows + 1, sizeof *g->rowImpulse)) return outOfMemory();
        more.row.body1 = pcGatheredIndex(g, more.body1), more.row.body2 = pcGatheredIndex(g, more.body2);
        g->row[g->rows++] = more.row;
    }
    return PC_OK;
}

static void strikeBody(pcSpace* s, const pcGathered* g, int body)
{
    if (body < 0 || !pcGrow(&s->strike, &s->struckRoom, s->struck + 1, sizeof *s->strike)) return;
    s->strike[s->struck++] = (pcStruck){g->body[body], g->state[body].kind == PC_BODY_STATIC};
}

void pcSpaceKeep(pcSpace* s, const pcGathered* g, const pcContactResult* touches, int touchCount)
{
    s->struck = 0;
    for (int i = 0; s->active && i < touchCount; i++) {
        if (!(touches[i].impulse[0] > 0.0)) continue;
        strikeBody(s, g, touches[i].body1);
        strikeBody(s, g, touches[i].body2);
    }
    forgetPairs(s);
}

/* ---- native steps ---- */

typedef struct Joiner {
    pcSpace* space;
    dWorldID world;
    pcSurface usual;
} Joiner;

static void joinPair(void* context, dGeomID a, dGeomID b)
{
    Joiner* j = context;
    pcSpace* s = j->space;
    dContactGeom geoms[MOST_CONTACTS];
    dSurfaceParameters surface;
    if (!dGeomGetBody(a) && !dGeomGetBody(b)) return;
    if (!surfaceOf(s, a, b, &j->usual, &surface)) return;
    int count = pcNativeOde()->collide(a, b, MOST_CONTACTS, geoms, sizeof *geoms);
    pcSurfaceMore more = moreOf(s, a, b);
    for (int i = 0; i < count; i++) {
        dContact contact;
        if (!pcGrow(&s->temporary, &s->temporaryRoom, s->temporaries + 1, sizeof *s->temporary)) return;
        fillContact(&contact, geoms + i, &surface, &more);
        if (!(v3Norm(v3Load(contact.geom.normal)) > 0.5)) continue; /* ODE would end the program */
        dJointID joint = s->temporary[s->temporaries++] = dJointCreateContact(j->world, NULL, &contact);
        dJointAttach(joint, dGeomGetBody(geoms[i].g1), dGeomGetBody(geoms[i].g2));
    }
}

static void muteJoints(pcSpace* s, dWorldID world)
{
    s->muted = s->ignored = 0;
    if (!s->space || !pcOdeFirstJoint(world)) return;
    clearSet(&s->members);
    addMembers(&s->members, s->space);
    for (dJointID joint = pcOdeFirstJoint(world); joint; joint = pcOdeNextJoint(joint)) {
        if (dJointGetType(joint) != dJointTypeContact || !dJointIsEnabled(joint) || !isOurs(s, pcOdeContact(joint))) continue;
        if (!pcGrow(&s->mute, &s->mutedRoom, s->muted + 1, sizeof *s->mute)) return;
        s->mute[s->muted++] = joint;
        s->ignored++;
        dJointDisable(joint);
    }
}

void pcSpaceJoin(pcSpace* s, dWorldID world, const pcSettings* settings)
{
    s->temporaries = s->muted = 0;
    if (isIdle(s)) return;
    muteJoints(s, world);
    Joiner joiner = {.space = s, .world = world, .usual = pcDefaultSurface(settings)};
    visitPairs(s, joinPair, &joiner);
    forgetPairs(s);
}

void pcSpacePart(pcSpace* s)
{
    for (int i = 0; i < s->temporaries; i++) pcNativeOde()->jointDestroy(s->temporary[i]);
    for (int i = 0; i < s->muted; i++) dJointEnable(s->mute[i]);
    s->temporaries = s->muted = 0;
}
