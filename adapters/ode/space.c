#include "adapters/ode/space.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/ode/ahead.h"
#include "adapters/ode/collide.h"
#include "adapters/ode/inject.h"
#include "adapters/ode/meshes.h"
#include "adapters/ode/native.h"
#include "adapters/ode/probe.h"
#include "adapters/ode/shapes.h"
#include "base/status.h"
#include "base/vec.h"

void pcSpaceFree(pcSpace* s)
{
    void* all[] = {s->shape, s->geom, s->temporary, s->mute, s->strike, s->members.slot, s->strange, s->plane};
    pcCollectedFree(&s->collected);
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

bool pcSpaceCollect(pcSpace* s, dGeomID geom1, dGeomID geom2, const pcSettings* settings)
{
    dSurfaceParameters surface;
    pcSurface usual = pcDefaultSurface(settings);
    if (s->space) return true; /* its pairs are found here */
    if (pcCollectedFind(&s->collected, geom1, geom2) || !surfaceOf(s, geom1, geom2, &usual, &surface)) return true;
    return pcCollectedAdd(&s->collected, geom1, geom2, &surface);
}

static const pcSurfaceMore NO_MORE = {.fastest = NAN, .sink = NAN};

static pcSurfaceMore moreOf(const pcSpace* s, dGeomID a, dGeomID b)
{
    pcSurfaceMore more = NO_MORE;
    if (s->space && s->more.surface) s->more.surface(s->more.context, a, b, &more);
    return more;
}

static void addMore(const pcSurfaceMore* more, pcSurface* out)
{
    if (v3Norm(v3Load(more->direction1)) > 0.0) memcpy(out->direction1, more->direction1, sizeof out->direction1);
    if (!isnan(more->fastest)) out->fastest = smaller(out->fastest, more->fastest);
    if (!isnan(more->sink)) out->sink = larger(out->sink, more->sink);
}

/* ---- going through pairs of the space ---- */

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
}

/* Of the collected pairs the next that still counts, from *index on; NULL: no more. With a space there are none. */
static const pcCollectedPair* nextCollected(const pcSpace* s, int* index)
{
    while (!s->space && *index < s->collected.pairs) {
        const pcCollectedPair* pair = s->collected.pair + (*index)++;
        if (!pair->joined) return pair;
    }
    return NULL;
}

bool pcSpaceIdle(const pcSpace* s) { return !s->space && s->collected.pairs == 0; }

/* ---- bodies of collected geoms ---- */

typedef struct Place {
    bool good; /* false: its body is no more */
    int body;  /* PC_WORLD: it never had one */
} Place;

static Place placeOfGeom(const pcCollectedGeom* geom, const pcGathered* g)
{
    int body = pcGatheredIndex(g, geom->body);
    return (Place){body >= 0 || !geom->body, body};
}

static bool placesOf(const pcSpace* s, const pcCollectedPair* pair, const pcGathered* g, int body[2])
{
    Place a = placeOfGeom(s->collected.geom + pair->geom1, g), b = placeOfGeom(s->collected.geom + pair->geom2, g);
    body[0] = a.body, body[1] = b.body;
    return a.good && b.good;
}

/* ---- sleep ---- */

/* So many bodies that are awake are held against all geoms, one by one; with more, the space goes through all pairs. */
enum { FEW_AWAKE = 32 };

typedef struct Ties {
    pcSpace* space;
    pcGathered* gathered;
    pcSurface usual;
    bool all;   /* also of two that sleep */
    bool found; /* one that sleeps touches one that is awake */
} Ties;

/* Contacts of kinematic bodies alone wake nobody. */
static bool oneSleeps(const pcGathered* g, int i, int k, bool orBoth)
{
    if (i < 0 || k < 0 || (dBodyIsKinematic(g->body[i]) && dBodyIsKinematic(g->body[k]))) return false;
    bool first = pcOdeSleeps(g->body[i]), second = pcOdeSleeps(g->body[k]);
    return first != second || (first && orBoth);
}

static void tiePair(void* context, dGeomID a, dGeomID b)
{
    Ties* ties = context;
    dSurfaceParameters surface;
    dContactGeom contact;
    int i = pcGatheredIndex(ties->gathered, dGeomGetBody(a)), k = pcGatheredIndex(ties->gathered, dGeomGetBody(b));
    if (!oneSleeps(ties->gathered, i, k, ties->all)) return;
    if (!surfaceOf(ties->space, a, b, &ties->usual, &surface) || pcNativeOde()->collide(a, b, 1, &contact, sizeof contact) == 0) return;
    pcGatheredTie(ties->gathered, i, k);
    ties->found = true;
}

static bool isWithin(dGeomID geom, dSpaceID space)
{
    dSpaceID at = dGeomGetSpace(geom);
    while (at && at != space) at = dGeomGetSpace((dGeomID)at);
    return at != NULL;
}

static int countAwake(const pcGathered* g)
{
    int awake = 0;
    for (int i = 0; i < g->bodies; i++) awake += !pcOdeSleeps(g->body[i]);
    return awake;
}

/* What is awake against everything. */
static void visitAwake(const pcSpace* s, const pcGathered* g, Tour* tour)
{
    for (int i = 0; i < g->bodies; i++)
        for (dGeomID geom = pcOdeSleeps(g->body[i]) ? NULL : dBodyGetFirstGeom(g->body[i]); geom; geom = dBodyGetNextGeom(geom))
            if (isWithin(geom, s->space)) dSpaceCollide2(geom, (dGeomID)s->space, tour, near);
}

/* Who sleeps stays so as long as nobody who is awake touches one of them: only then does it matter who lies on whom. */
static void tieSpace(Ties* ties)
{
    const pcSpace* s = ties->space;
    Tour tour = {tiePair, ties};
    if (countAwake(ties->gathered) <= FEW_AWAKE)
        visitAwake(s, ties->gathered, &tour);
    else
        visitSpace(s->space, &tour);
    ties->all = true;
    if (ties->found) visitSpace(s->space, &tour);
}

static void tieCollected(const pcSpace* s, pcGathered* g)
{
    const pcCollectedPair* pair;
    int body[2];
    for (int i = 0; (pair = nextCollected(s, &i)) != NULL;)
        if (pair->count > 0 && placesOf(s, pair, g, body) && oneSleeps(g, body[0], body[1], true)) pcGatheredTie(g, body[0], body[1]);
}

void pcSpaceTie(pcSpace* s, pcGathered* g)
{
    if (pcSpaceIdle(s)) return;
    for (int i = 0; i < s->struck; i++) {
        int body = pcGatheredIndex(g, s->strike[i].body);
        if (body >= 0 && s->strike[i].asleep) pcGatheredWake(g, body);
    }
    if (!pcGatheredMixed(g)) return;
    Ties ties = {.space = s, .gathered = g, .usual = pcDefaultSurface(NULL)};
    if (s->space)
        tieSpace(&ties);
    else
        tieCollected(s, g);
}

void pcSpaceAutoDisable(pcSpace* s, const pcGathered* g, dWorldID world, double h)
{
    for (int i = 0; i < s->struck; i++) {
        int at = pcGatheredIndex(g, s->strike[i].body);
        s->strike[i].held = at >= 0 && dBodyGetNumJoints(g->body[at]) == 0; /* once, if it is in the list again */
        if (s->strike[i].held) pcOdePretendJoint(g->body[at], 1);
    }
    pcInjectAutoDisable(world, h);
    for (int i = 0; i < s->struck; i++)
        if (s->strike[i].held) pcOdePretendJoint(s->strike[i].body, 0);
}

/* ---- shapes ---- */

static pcStatus addPlaced(pcSpace* s, dGeomID geom, const pcPlacedShape* placed)
{
    int room = s->shapeRoom;
    if (!pcGrow(&s->shape, &room, s->shapes + 1, sizeof *s->shape)) return outOfMemory();
    if (!pcGrow(&s->geom, &s->shapeRoom, s->shapes + 1, sizeof *s->geom)) return outOfMemory();
    s->geom[s->shapes] = geom, s->shape[s->shapes++] = *placed;
    return PC_OK;
}

static bool addGeom(dGeomID** list, int* count, int* room, dGeomID geom)
{
    if (!pcGrow(list, room, *count + 1, sizeof **list)) return false;
    (*list)[(*count)++] = geom;
    return true;
}

/* For contacts that dCollide finds looking ahead: of geoms without a shape, with planes. */
static bool listGeom(pcSpace* s, dGeomID geom, bool known)
{
    if (dGeomGetClass(geom) == dPlaneClass) return addGeom(&s->plane, &s->planes, &s->planeRoom, geom);
    return known || addGeom(&s->strange, &s->stranges, &s->strangeRoom, geom);
}

static pcStatus addShape(pcSpace* s, const pcGathered* g, dGeomID geom)
{
    if (pcGatheredLeft(g, dGeomGetBody(geom))) return PC_OK;
    unsigned category = pcFoldBits(dGeomGetCategoryBits(geom)), collide = pcFoldBits(dGeomGetCollideBits(geom));
    if (!isSolid(geom) || (category == 0 && collide == 0)) return PC_OK;
    int body = pcGatheredIndex(g, dGeomGetBody(geom));
    pcPlacedShape placed = {.body = body, .category = category, .collide = collide};
    const pcShape* shape = placed.shape = pcOdeShapeOnBody(geom, body >= 0 ? &g->state[body].pose : NULL, &placed.pose);
    bool known = shape && !(dGeomGetBody(geom) && pcOdeIsMesh(geom)); /* one that moves may meet planes and other meshes */
    if (!listGeom(s, geom, known)) return outOfMemory();
    s->unknown |= !known;
    return shape ? addPlaced(s, geom, &placed) : PC_OK;
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

static pcStatus addCollected(pcSpace* s, const pcGathered* g)
{
    pcStatus status = PC_OK;
    s->unknown = true; /* each pair knows for itself */
    for (int i = 0; i < s->collected.geoms && status == PC_OK; i++) {
        const pcCollectedGeom* geom = s->collected.geom + i;
        Place place = placeOfGeom(geom, g);
        pcPlacedShape placed = {geom->shape, place.body, geom->pose, geom->category, geom->collide};
        if (geom->shape && place.good) status = addPlaced(s, geom->id, &placed);
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

/* The surface of a pair as our step can have it, and note of what it cannot. */
static dSurfaceParameters expressible(pcSpace* s, const dSurfaceParameters* surface)
{
    const int directed = dContactFDir1 | dContactMotion1 | dContactMotion2;
    dSurfaceParameters out = *surface;
    s->directed += (out.mode & directed) != 0;
    s->bouncy += (out.mode & dContactBounce) && out.bounce > 1.0;
    out.mode &= ~directed;
    return out;
}

/* `body`: of the pair's geoms, in their order; ODE's normal points into the first. */
static void addGiven(Filler* f, const dContact* contact, const pcSurfaceMore* more, const int body[2])
{
    pcGathered* g = f->gathered;
    if (!pcGrow(&g->contact, &g->contactRoom, g->contacts + 1, sizeof *g->contact)) {
        f->status = outOfMemory();
        return;
    }
    pcContact* out = g->contact + g->contacts;
    *out = (pcContact){.body1 = body[1], .body2 = body[0]};
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

static void addAllGiven(Filler* f, const dContactGeom* geoms, int count, const dSurfaceParameters* surface, const pcSurfaceMore* more,
                        const int body[2])
{
    if (count == 0) return;
    dSurfaceParameters known = expressible(f->space, surface);
    for (int i = 0; i < count; i++) {
        dContact contact;
        fillContact(&contact, geoms + i, &known, more);
        addGiven(f, &contact, more, body);
    }
}

/* Of two geoms that are there. */
static void fillContacts(Filler* f, dGeomID a, dGeomID b, const dContactGeom* geoms, int count, const dSurfaceParameters* surface)
{
    if (count == 0) return;
    const int body[2] = {pcGatheredIndex(f->gathered, dGeomGetBody(a)), pcGatheredIndex(f->gathered, dGeomGetBody(b))};
    pcSurfaceMore more = moreOf(f->space, a, b);
    addAllGiven(f, geoms, count, surface, &more, body);
}

static bool isPlane(dGeomID geom) { return dGeomGetClass(geom) == dPlaneClass; }

static void fillPair(void* context, dGeomID a, dGeomID b)
{
    Filler* f = context;
    dContactGeom geoms[PC_MOST_CONTACTS];
    dSurfaceParameters surface;
    if (!isSolid(a) || !isSolid(b)) return;
    if (!f->native && pcOdeMetricKnows(a, b)) return;
    if (f->ahead && (isPlane(a) || isPlane(b))) return; /* fillPlanes looks at them */
    if (!surfaceOf(f->space, a, b, &f->space->host.surface, &surface)) return;
    fillContacts(f, a, b, geoms, pcNativeOde()->collide(a, b, PC_MOST_CONTACTS, geoms, sizeof *geoms), &surface);
}

static void fillCollected(Filler* f)
{
    const pcSpace* s = f->space;
    const pcCollectedPair* pair;
    int body[2];
    for (int i = 0; (pair = nextCollected(s, &i)) != NULL;)
        if ((f->native || !pair->known) && placesOf(s, pair, f->gathered, body))
            addAllGiven(f, s->collected.contact + pair->first, pair->count, &pair->surface, &NO_MORE, body);
}

/* Geoms that the metric does not know with planes. */
static void fillPlanes(Filler* f, dWorldID world, const pcSettings* settings, double h)
{
    pcSpace* s = f->space;
    dContactGeom geoms[PC_MOST_CONTACTS];
    dSurfaceParameters surface;
    dVector3 gravity;
    dWorldGetGravity(world, gravity);
    dGeomID raised = dCreatePlane(NULL, 0, 0, 1, 0);
    for (int i = 0; i < s->stranges; i++) {
        double margin = pcAheadMargin(f->gathered, s->strange[i], gravity, settings, h);
        for (int k = 0; k < s->planes; k++) {
            dGeomID strange = s->strange[i], plane = s->plane[k];
            int count = pcAheadCollide(strange, plane, raised, margin, geoms, PC_MOST_CONTACTS);
            if (count > 0 && surfaceOf(s, strange, plane, &s->host.surface, &surface))
                fillContacts(f, strange, plane, geoms, count, &surface);
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
    for (int i = 0; i < s->collected.pairs; i++) s->collected.pair[i].joined = false;
    for (int i = 0; s->collected.pairs > 0 && i < g->touchJoints; i++) {
        const dContactGeom* geom = &pcOdeContact(g->touchJoint[i].joint)->geom;
        pcCollectedPair* pair = pcCollectedFind(&s->collected, geom->g1, geom->g2);
        if (pair) pair->joined = true;
    }
}

void pcSpaceFilter(pcSpace* s, pcGathered* g)
{
    s->ignored = 0;
    if (s->space)
        pcCollectedClear(&s->collected), ignoreJoints(s, g);
    else
        dropJoined(s, g);
}

/* ---- the step ---- */

pcStatus pcSpaceGather(pcSpace* s, pcGathered* g, dWorldID world, const pcSettings* settings, double h)
{
    s->shapes = s->stranges = s->planes = s->directed = s->bouncy = 0, s->unknown = false, s->active = !pcSpaceIdle(s);
    if (!s->active) return PC_OK;
    s->host = pcHostSurfaceOf(world, settings, h);
    bool native = settings->narrowphase == PC_NARROW_NATIVE;
    pcStatus status = PC_OK;
    if (!native) status = s->space ? addSpace(s, g, s->space) : addCollected(s, g);
    Filler filler = {.space = s, .gathered = g, .native = native, .ahead = !native && s->space};
    if (status == PC_OK && (native || s->unknown)) visitPairs(s, fillPair, &filler), fillCollected(&filler);
    if (status == PC_OK && filler.ahead && s->stranges > 0 && s->planes > 0) fillPlanes(&filler, world, settings, h);
    return status == PC_OK ? filler.status : status;
}

/* False: its contacts are given, or it does not touch. */
static bool surfaceInSpace(const pcSpace* s, dGeomID a, dGeomID b, dSurfaceParameters* out)
{
    return pcOdeMetricKnows(a, b) && surfaceOf(s, a, b, &s->host.surface, out);
}

static bool surfaceCollected(const pcSpace* s, dGeomID a, dGeomID b, dSurfaceParameters* out)
{
    const pcCollectedPair* pair = pcCollectedFind(&s->collected, a, b);
    if (!pair || pair->joined || !pair->known) return false;
    *out = pair->surface;
    return true;
}

static int pairSurface(void* context, int shape1, int shape2, pcSurface* surface)
{
    pcSpace* s = context;
    dGeomID a = s->geom[shape1], b = s->geom[shape2];
    dSurfaceParameters parameters;
    if (!(s->space ? surfaceInSpace(s, a, b, &parameters) : surfaceCollected(s, a, b, &parameters))) return 0;
    parameters = expressible(s, &parameters);
    pcSurfaceOfPair(&s->host, &parameters, surface);
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
    s->strike[s->struck++] = (pcStruck){.body = g->body[body], .asleep = g->state[body].kind == PC_BODY_STATIC};
}

void pcSpaceKeep(pcSpace* s, const pcGathered* g, const pcContactResult* touches, int touchCount)
{
    s->struck = 0;
    for (int i = 0; s->active && i < touchCount; i++) {
        if (!(touches[i].impulse[0] > 0.0)) continue;
        strikeBody(s, g, touches[i].body1);
        strikeBody(s, g, touches[i].body2);
    }
    pcCollectedClear(&s->collected);
}

/* ---- native steps ---- */

typedef struct Joiner {
    pcSpace* space;
    dWorldID world;
    pcSurface usual;
} Joiner;

/* Numbers that are none would end the program in ODE's solver; what was refused for a step of ours may come here. */
static dSurfaceParameters usable(const dSurfaceParameters* surface)
{
    dSurfaceParameters s = *surface;
    const struct {
        int bit;
        dReal value;
    } parts[] = {{dContactBounce, s.bounce + s.bounce_vel},
                 {dContactSoftERP, s.soft_erp},
                 {dContactSoftCFM, s.soft_cfm},
                 {dContactMotion1, s.motion1},
                 {dContactMotion2, s.motion2},
                 {dContactMotionN, s.motionN},
                 {dContactSlip1, s.slip1},
                 {dContactSlip2, s.slip2}};
    dReal* coefficient[] = {&s.mu, &s.mu2, &s.rho, &s.rho2, &s.rhoN};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!isfinite(parts[i].value)) s.mode &= ~parts[i].bit;
    for (size_t i = 0; i < sizeof coefficient / sizeof *coefficient; i++)
        if (!(*coefficient[i] >= 0.0)) *coefficient[i] = 0.0;
    return s;
}

/* Contacts of a pair of geoms with these bodies, at least one of them not NULL. */
static void joinContacts(Joiner* j, const dContactGeom* geoms, int count, const dSurfaceParameters* surface, const pcSurfaceMore* more,
                         const dBodyID body[2])
{
    pcSpace* s = j->space;
    dSurfaceParameters known = usable(surface);
    for (int i = 0; i < count; i++) {
        dContact contact;
        if (!pcGrow(&s->temporary, &s->temporaryRoom, s->temporaries + 1, sizeof *s->temporary)) return;
        fillContact(&contact, geoms + i, &known, more);
        if (!(v3Norm(v3Load(contact.geom.normal)) > 0.5) || contact.geom.depth < 0.0) continue; /* ODE would end the program; or pull */
        dJointID joint = s->temporary[s->temporaries++] = dJointCreateContact(j->world, NULL, &contact);
        dJointAttach(joint, body[0], body[1]);
    }
}

static void joinPair(void* context, dGeomID a, dGeomID b)
{
    Joiner* j = context;
    dContactGeom geoms[PC_MOST_CONTACTS];
    dSurfaceParameters surface;
    dBodyID body[2] = {dGeomGetBody(a), dGeomGetBody(b)};
    if (!body[0] && !body[1]) return;
    if (!surfaceOf(j->space, a, b, &j->usual, &surface)) return;
    int count = pcNativeOde()->collide(a, b, PC_MOST_CONTACTS, geoms, sizeof *geoms);
    pcSurfaceMore more = moreOf(j->space, a, b);
    joinContacts(j, geoms, count, &surface, &more, body);
}

static void joinCollected(Joiner* j, const pcGathered* g)
{
    const pcSpace* s = j->space;
    const pcCollectedPair* pair;
    int at[2];
    for (int i = 0; (pair = nextCollected(s, &i)) != NULL;) {
        if (!placesOf(s, pair, g, at) || (at[0] < 0 && at[1] < 0)) continue;
        dBodyID body[2] = {at[0] >= 0 ? g->body[at[0]] : NULL, at[1] >= 0 ? g->body[at[1]] : NULL};
        joinContacts(j, s->collected.contact + pair->first, pair->count, &pair->surface, &NO_MORE, body);
    }
}

/* Natively a contact still apart would count as touching. */
static bool isMuted(const pcSpace* s, dJointID joint, bool ahead, bool* ours)
{
    if (dJointGetType(joint) != dJointTypeContact || !dJointIsEnabled(joint)) return false;
    const dContact* contact = pcOdeContact(joint);
    *ours = s->space && isOurs(s, contact);
    return *ours || (ahead && contact->geom.depth < 0.0);
}

static void muteJoints(pcSpace* s, dWorldID world)
{
    bool ahead = pcOdeLookahead() > 0.0, ours;
    s->muted = s->ignored = 0;
    if ((!s->space && !ahead) || !pcOdeFirstJoint(world)) return;
    clearSet(&s->members);
    if (s->space) addMembers(&s->members, s->space);
    for (dJointID joint = pcOdeFirstJoint(world); joint; joint = pcOdeNextJoint(joint)) {
        if (!isMuted(s, joint, ahead, &ours)) continue;
        if (!pcGrow(&s->mute, &s->mutedRoom, s->muted + 1, sizeof *s->mute)) return;
        s->mute[s->muted++] = joint;
        s->ignored += ours;
        dJointDisable(joint);
    }
}

void pcSpaceJoin(pcSpace* s, const pcGathered* g, dWorldID world, const pcSettings* settings)
{
    s->temporaries = 0;
    muteJoints(s, world);
    if (pcSpaceIdle(s)) return;
    Joiner joiner = {.space = s, .world = world, .usual = pcDefaultSurface(settings)};
    visitPairs(s, joinPair, &joiner);
    joinCollected(&joiner, g);
    pcCollectedClear(&s->collected);
}

void pcSpacePart(pcSpace* s)
{
    for (int i = 0; i < s->temporaries; i++) pcNativeOde()->jointDestroy(s->temporary[i]);
    for (int i = 0; i < s->muted; i++) dJointEnable(s->mute[i]);
    s->temporaries = s->muted = 0;
}
