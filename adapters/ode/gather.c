/*
 * Free velocity as both of ODE's steppers compute it, I in world axes:
 *
 *     v = v0 + h (F / m + g),     w = w1 + h I^-1 T,     w1 = (I - h [L]x)^-1 L,  L = I w0     (gyroscopic mode off: w1 = w0)
 */
#include "adapters/ode/gather.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/ode/contacts.h"
#include "adapters/ode/probe.h"
#include "adapters/ode/rows.h"
#include "base/status.h"
#include "base/vec.h"

/* ---- room ---- */

bool pcGrow(void* array, int* room, int needed, size_t size)
{
    void *old, *wider;
    if (needed <= *room) return true;
    int more = needed + needed / 2 + 16;
    memcpy(&old, array, sizeof old);
    wider = realloc(old, (size_t)more * size);
    if (!wider) return false;
    memcpy(array, &wider, sizeof wider);
    *room = more;
    return true;
}

/* Several arrays of the same length. */
static bool growBodies(pcGathered* g, int needed)
{
    if (needed <= g->bodyRoom) return true;
    int room[8];
    for (int i = 0; i < 8; i++) room[i] = g->bodyRoom;
    bool good = pcGrow(&g->body, room, needed, sizeof *g->body) && pcGrow(&g->state, room + 1, needed, sizeof *g->state) &&
                pcGrow(&g->freeVelocity, room + 2, needed, 6 * sizeof(double)) && pcGrow(&g->force, room + 3, needed, 6 * sizeof(double)) &&
                pcGrow(&g->velocity, room + 4, needed, 6 * sizeof(double)) && pcGrow(&g->parent, room + 5, needed, sizeof(int)) &&
                pcGrow(&g->flags, room + 6, needed, sizeof(unsigned)) && pcGrow(&g->moved, room + 7, needed, sizeof *g->moved);
    if (good) g->bodyRoom = room[0];
    return good;
}

static bool growRows(pcGathered* g, int needed)
{
    int room = g->rowRoom;
    return pcGrow(&g->row, &room, needed, sizeof *g->row) && pcGrow(&g->rowImpulse, &g->rowRoom, needed, sizeof(double));
}

static bool growSlots(pcGathered* g, int bodies)
{
    int slots = 16;
    while (slots < 2 * bodies) slots *= 2;
    if (slots > g->slots) {
        int* wider = realloc(g->slot, (size_t)slots * sizeof *wider);
        if (!wider) return false;
        g->slot = wider, g->slots = slots;
    }
    memset(g->slot, 0, (size_t)g->slots * sizeof *g->slot);
    return true;
}

void pcGatheredFree(pcGathered* g)
{
    void* all[] = {g->body,  g->state, g->freeVelocity, g->force,   g->velocity,   g->parent, g->slot,
                   g->joint, g->row,   g->rowImpulse,   g->contact, g->touchJoint, g->flags,  g->moved};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    *g = (pcGathered){0};
}

static pcStatus outOfMemory(void) { return pcFail(PC_ERROR_MEMORY, "out of memory for the bodies and joints of a world"); }

/* ---- which body is which ---- */

static unsigned slotOf(const pcGathered* g, dBodyID body)
{
    uint64_t x = (uint64_t)(uintptr_t)body * 0x9e3779b97f4a7c15ull;
    return (unsigned)(x >> 32) & ((unsigned)g->slots - 1u);
}

static void remember(pcGathered* g, int index)
{
    unsigned at = slotOf(g, g->body[index]);
    while (g->slot[at]) at = (at + 1u) & ((unsigned)g->slots - 1u);
    g->slot[at] = index + 1;
}

int pcGatheredIndex(const pcGathered* g, dBodyID body)
{
    if (!body || g->slots == 0) return -1;
    for (unsigned at = slotOf(g, body); g->slot[at]; at = (at + 1u) & ((unsigned)g->slots - 1u))
        if (g->body[g->slot[at] - 1] == body) return g->slot[at] - 1;
    return -1;
}

/* ---- bodies ---- */

static pcBodyKind kindOf(dBodyID body)
{
    if (pcOdeSleeps(body)) return PC_BODY_STATIC;
    return dBodyIsKinematic(body) ? PC_BODY_KINEMATIC : PC_BODY_DYNAMIC;
}

static void readBody(dBodyID body, pcBody* out)
{
    dMass mass;
    dBodyGetMass(body, &mass);
    *out = (pcBody){.kind = kindOf(body), .mass = mass.mass};
    memcpy(out->pose.position, dBodyGetPosition(body), 3 * sizeof(double));
    memcpy(out->pose.quaternion, dBodyGetQuaternion(body), 4 * sizeof(double));
    for (int i = 0; i < 3; i++) memcpy(out->inertia + 3 * i, mass.I + 4 * i, 3 * sizeof(double));
    if (out->kind == PC_BODY_STATIC) return;
    memcpy(out->velocity, dBodyGetLinearVel(body), 3 * sizeof(double));
    memcpy(out->velocity + 3, dBodyGetAngularVel(body), 3 * sizeof(double));
}

pcStatus pcGatherList(pcGathered* g, dWorldID world)
{
    int count = pcOdeBodies(world);
    g->bodies = g->joints = g->rows = g->touchJoints = g->contacts = g->jointContacts = g->left = 0;
    if (!growBodies(g, count) || !growSlots(g, count)) return outOfMemory();
    memset(g->untranslated, 0, sizeof g->untranslated);
    for (dBodyID body = pcOdeFirstBody(world); body && g->bodies < count; body = pcOdeNextBody(body)) {
        int i = g->bodies++;
        g->body[i] = body;
        memcpy(g->force + 6 * (size_t)i, dBodyGetForce(body), 3 * sizeof(double));
        memcpy(g->force + 6 * (size_t)i + 3, dBodyGetTorque(body), 3 * sizeof(double));
        remember(g, i);
    }
    return PC_OK;
}

void pcGatherLeave(pcGathered* g, dWorldID world)
{
    int all = g->bodies;
    g->world = world, g->bodies = 0;
    for (int i = 0; i < all; i++) {
        if (g->parent[i] < 0) continue;
        size_t at = (size_t)g->bodies++;
        g->body[at] = g->body[i];
        memmove(g->force + 6 * at, g->force + 6 * (size_t)i, 6 * sizeof *g->force);
    }
    g->left = all - g->bodies;
    if (g->left == 0) return;
    memset(g->slot, 0, (size_t)g->slots * sizeof *g->slot);
    for (int i = 0; i < g->bodies; i++) remember(g, i);
}

bool pcGatheredLeft(const pcGathered* g, dBodyID body)
{
    return g->left > 0 && body && dBodyGetWorld(body) == g->world && pcGatheredIndex(g, body) < 0;
}

void pcGatherStates(pcGathered* g)
{
    for (int i = 0; i < g->bodies; i++) readBody(g->body[i], g->state + i);
}

void pcGatherUndo(const pcGathered* g)
{
    for (int i = 0; i < g->bodies; i++) {
        const double* f = g->force + 6 * (size_t)i;
        dBodySetForce(g->body[i], f[0], f[1], f[2]);
        dBodySetTorque(g->body[i], f[3], f[4], f[5]);
    }
}

/* ---- sleep ---- */

static int rootOf(int* parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

void pcGatheredTie(pcGathered* g, int body1, int body2)
{
    g->parent[rootOf(g->parent, body1)] = rootOf(g->parent, body2);
    g->tied = true;
}

/* The flag only: the counters of auto-disable stay, as they do natively. */
void pcGatheredWake(pcGathered* g, int body) { pcOdeSetBodyFlags(g->body[body], pcOdeBodyFlags(g->body[body]) & ~pcOdeLayout()->disabled); }

bool pcGatheredMixed(const pcGathered* g)
{
    for (int i = 1; i < g->bodies; i++)
        if (pcOdeSleeps(g->body[i]) != pcOdeSleeps(g->body[0])) return true;
    return false;
}

static bool isDynamic(dBodyID body) { return body && !dBodyIsKinematic(body); }

/* To ODE a joint of kinematic bodies alone is none: it does not wake, and is not in the step. */
static bool counts(dJointID joint)
{
    return dJointIsEnabled(joint) && (isDynamic(dJointGetBody(joint, 0)) || isDynamic(dJointGetBody(joint, 1)));
}

void pcGatherTie(pcGathered* g, dWorldID world)
{
    for (int i = 0; i < g->bodies; i++) g->parent[i] = i;
    g->tied = false;
    if (!pcGatheredMixed(g)) return;
    for (dJointID joint = pcOdeFirstJoint(world); joint; joint = pcOdeNextJoint(joint)) {
        int i = pcGatheredIndex(g, dJointGetBody(joint, 0)), k = pcGatheredIndex(g, dJointGetBody(joint, 1));
        if (i >= 0 && k >= 0 && counts(joint)) pcGatheredTie(g, i, k);
    }
}

/* A root that is awake stands for its island. */
void pcGatherWake(pcGathered* g)
{
    if (!g->tied || !pcGatheredMixed(g)) return;
    for (int i = 0; i < g->bodies; i++)
        if (!pcOdeSleeps(g->body[i])) pcGatheredWake(g, rootOf(g->parent, i));
    for (int i = 0; i < g->bodies; i++)
        if (!pcOdeSleeps(g->body[rootOf(g->parent, i)])) pcGatheredWake(g, i);
}

/* ---- joints ---- */

static bool isAwake(const pcGathered* g, int body) { return body >= 0 && g->state[body].kind != PC_BODY_STATIC; }

/* Natively a joint is in the step if it counts and holds a body that is awake. */
static bool takesPart(const pcGathered* g, dJointID joint)
{
    if (!counts(joint)) return false;
    return isAwake(g, pcGatheredIndex(g, dJointGetBody(joint, 0))) || isAwake(g, pcGatheredIndex(g, dJointGetBody(joint, 1)));
}

static pcStatus addJoint(pcGathered* g, dJointID joint, const pcRowQuery* query)
{
    if (!pcGrow(&g->joint, &g->jointRoom, g->joints + 1, sizeof *g->joint) || !growRows(g, g->rows + PC_JOINT_ROWS)) return outOfMemory();
    int turned = pcOdeJointTurned(joint), body1 = pcGatheredIndex(g, dJointGetBody(joint, turned)),
        body2 = pcGatheredIndex(g, dJointGetBody(joint, !turned));
    int count = pcOdeJointRows(joint, query, g->row + g->rows, &g->untranslated[PC_UNTRANSLATED_BOUND]);
    for (int i = 0; i < count; i++) g->row[g->rows + i].body1 = body1, g->row[g->rows + i].body2 = body2;
    if (count > 0) g->joint[g->joints++] = (pcHostJoint){joint, g->rows, count};
    g->rows += count;
    return PC_OK;
}

pcStatus pcGatherJoints(pcGathered* g, dWorldID world, double h, double gamma)
{
    pcRowQuery query = {.h = h, .erp = dWorldGetERP(world), .cfm = dWorldGetCFM(world), .gamma = gamma};
    pcStatus status = PC_OK;
    for (dJointID joint = pcOdeFirstJoint(world); joint && status == PC_OK; joint = pcOdeNextJoint(joint)) {
        if (!takesPart(g, joint)) continue;
        if (dJointGetType(joint) != dJointTypeContact)
            status = addJoint(g, joint, &query);
        else if (pcGrow(&g->touchJoint, &g->touchJointRoom, g->touchJoints + 1, sizeof *g->touchJoint))
            g->touchJoint[g->touchJoints++] = (pcHostJoint){.joint = joint};
        else
            status = outOfMemory();
    }
    return status;
}

/* The normal of a contact that a program filled in by hand need not be quite unit; one without any means nothing. */
static bool normalise(pcContact* contact)
{
    v3 n = v3Load(contact->normal);
    double length = v3Norm(n);
    v3Store(contact->normal, v3Scale(1.0 / length, n));
    return length > 1e-6 && length < 1e6;
}

static void addContact(pcGathered* g, pcHostJoint* touch, const pcHostSurface* host)
{
    dJointID joint = touch->joint;
    const dContact* contact = pcOdeContact(joint);
    pcContact* out = g->contact + g->contacts;
    *out = (pcContact){.body1 = pcGatheredIndex(g, dJointGetBody(joint, 1)), .body2 = pcGatheredIndex(g, dJointGetBody(joint, 0))};
    pcContactOfHost(host, contact, pcOdeJointTurned(joint), out);
    if (!normalise(out)) {
        g->untranslated[PC_UNTRANSLATED_NORMAL]++;
        return;
    }
    g->untranslated[PC_UNTRANSLATED_BOUNCE] += (contact->surface.mode & dContactBounce) && contact->surface.bounce > 1.0;
    out->id = pcContactId(contact, g->state, out);
    touch->first = g->contacts++, touch->count = 1;
}

pcStatus pcGatherContacts(pcGathered* g, dWorldID world, const pcSettings* settings, double h)
{
    if (!pcGrow(&g->contact, &g->contactRoom, g->touchJoints, sizeof *g->contact)) return outOfMemory();
    pcHostSurface host = pcHostSurfaceOf(world, settings, h);
    for (int i = 0; i < g->touchJoints; i++) addContact(g, g->touchJoint + i, &host);
    g->jointContacts = g->contacts;
    return PC_OK;
}

static bool isUsableRow(const pcRow* row)
{
    for (int k = 0; k < 12; k++)
        if (!isfinite(row->jacobian[k])) return false;
    return !isnan(row->target) && !isnan(row->softness);
}

static bool isUsableContact(const pcContact* c)
{
    const pcSurface* s = &c->surface;
    return v3Finite(v3Load(c->point)) && isfinite(c->gap) && isfinite(s->gamma) && isfinite(s->normalVelocity) &&
           v3Finite(v3Load(s->surfaceVelocity)) && v3Finite(v3Load(s->direction1));
}

/* ODE makes directions of a normal by dividing by its length: NaN in all bodies, and the end of the program. */
static bool hasNormal(const dContact* contact)
{
    v3 n = v3Load(contact->geom.normal);
    return v3Dot(n, n) > 0.0 && v3Finite(n);
}

/* Not by what was gathered: that may have ended at the first joint. */
static bool isUsableJoint(dJointID joint)
{
    bool acts = dJointGetType(joint) == dJointTypeContact && dJointIsEnabled(joint) && (dJointGetBody(joint, 0) || dJointGetBody(joint, 1));
    return !acts || hasNormal(pcOdeContact(joint));
}

bool pcGatheredUsable(const pcGathered* g, dWorldID world)
{
    bool good = true;
    for (dJointID joint = pcOdeFirstJoint(world); joint && good; joint = pcOdeNextJoint(joint)) good = isUsableJoint(joint);
    for (int i = 0; i < g->rows && good; i++) good = isUsableRow(g->row + i);
    for (int i = 0; i < g->jointContacts && good; i++) good = isUsableContact(g->contact + i);
    return good;
}

/* ---- free motion ---- */

typedef struct Inertia {
    v3 row[3];
} Inertia;

static v3 timesInertia(const Inertia* I, v3 a) { return v3Make(v3Dot(I->row[0], a), v3Dot(I->row[1], a), v3Dot(I->row[2], a)); }

static v3 column(const Inertia* m, int k)
{
    double part[3][3];
    for (int i = 0; i < 3; i++) v3Store(part[i], m->row[i]);
    return v3Make(part[0][k], part[1][k], part[2][k]);
}

/* x of m x = b; false if m has no inverse. */
static bool solve(const Inertia* m, v3 b, v3* x)
{
    v3 c0 = column(m, 0), c1 = column(m, 1), c2 = column(m, 2), c12 = v3Cross(c1, c2);
    double determinant = v3Dot(c0, c12);
    if (determinant == 0.0) return false;
    *x = v3Scale(1.0 / determinant, v3Make(v3Dot(b, c12), v3Dot(c0, v3Cross(b, c2)), v3Dot(c0, v3Cross(c1, b))));
    return true;
}

/* R I R'. */
static Inertia inWorld(dBodyID body, const double I[9])
{
    const dReal* R = dBodyGetRotation(body);
    Inertia out, half;
    v3 row[3];
    for (int i = 0; i < 3; i++) row[i] = v3Load(R + 4 * i), out.row[i] = v3Load(I + 3 * i);
    for (int i = 0; i < 3; i++) half.row[i] = timesInertia(&out, row[i]); /* I R': its columns */
    for (int i = 0; i < 3; i++) out.row[i] = v3Make(v3Dot(row[i], half.row[0]), v3Dot(row[i], half.row[1]), v3Dot(row[i], half.row[2]));
    return out;
}

/* (I - h [L]x)^-1 L, or w0 where ODE leaves it out: no inverse. */
static v3 turnFreely(const Inertia* I, v3 w0, double h)
{
    v3 L = timesInertia(I, w0), w1;
    Inertia m = *I;
    m.row[0] = v3AddScaled(m.row[0], -h, v3Make(0, -L.z, L.y));
    m.row[1] = v3AddScaled(m.row[1], -h, v3Make(L.z, 0, -L.x));
    m.row[2] = v3AddScaled(m.row[2], -h, v3Make(-L.y, L.x, 0));
    return solve(&m, L, &w1) ? w1 : w0;
}

static void moveFreely(dBodyID body, const pcBody* state, v3 gravity, double h, double free[6])
{
    Inertia I = inWorld(body, state->inertia);
    v3 acceleration = v3Scale(1.0 / state->mass, v3Load(dBodyGetForce(body))), turn = v3Make(0, 0, 0);
    if (dBodyGetGravityMode(body)) acceleration = v3Add(acceleration, gravity);
    v3 w = v3Load(state->velocity + 3);
    if (dBodyGetGyroscopicMode(body)) w = turnFreely(&I, w, h);
    solve(&I, v3Load(dBodyGetTorque(body)), &turn);
    v3Store(free, v3AddScaled(v3Load(state->velocity), h, acceleration));
    v3Store(free + 3, v3AddScaled(w, h, turn));
}

void pcGatherFree(pcGathered* g, dWorldID world, double h)
{
    dVector3 gravity;
    dWorldGetGravity(world, gravity);
    for (int i = 0; i < g->bodies; i++) {
        double* free = g->freeVelocity + 6 * (size_t)i;
        memcpy(free, g->state[i].velocity, 6 * sizeof *free);
        if (g->state[i].kind == PC_BODY_DYNAMIC) moveFreely(g->body[i], g->state + i, v3Load(gravity), h, free);
    }
}
