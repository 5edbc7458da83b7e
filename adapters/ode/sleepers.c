/*
 * A shape i that is awake looks ahead (broadphase.h) by at most
 *
 *     R_i = h (2 S + 9 W r) + layer + margin + size_i / 1000,
 *
 *     S, W   the largest speed and spin, before the step and without impulses; guessed from the forces here, and looked at again afterwards
 *     r      how far points of a body are from its centre of mass, and from the centre of their shape
 *
 * 2 S: by its own speed, or one that strikes it, and by flight=mean; 9 W r: by turning, and by at most eight others that turn and strike it one
 * after the other. What sleeps does not move, so a body that sleeps outside of all boxes widened by R_i is in no pair. Boxes are rounded
 * outwards to a grid about as wide as they are: who is left out changes seldom, and with it the numbers by which the last step is remembered.
 */
#include "adapters/ode/sleepers.h"

#include <math.h>

#include "adapters/ode/probe.h"
#include "base/vec.h"

enum { MOST_BOXES = 32 };                                   /* more are thrown together */
static const double AHEAD = 1e-3, SLACK = 2.0, TURN = 0.02; /* of the size; of the guess of S and W; and W at least so much in a step */

typedef struct Box {
    dReal side[6]; /* low x, high x, … as ODE has it */
} Box;

typedef struct Awake {
    int boxes;
    Box box[MOST_BOXES];
    double farthest, largest; /* r, and the largest size */
} Awake;

static double sizeOf(const Box* b) { return v3Norm(v3Make(b->side[1] - b->side[0], b->side[3] - b->side[2], b->side[5] - b->side[4])); }

/* ---- what is awake ---- */

static void addBox(Awake* a, const Box* b)
{
    if (a->boxes < MOST_BOXES) {
        a->box[a->boxes++] = *b;
        return;
    }
    Box* last = a->box + MOST_BOXES - 1;
    for (int k = 0; k < 6; k += 2) {
        last->side[k] = smaller(last->side[k], b->side[k]);
        last->side[k + 1] = larger(last->side[k + 1], b->side[k + 1]);
    }
}

static void addAwake(Awake* a, pcGathered* g, dBodyID body, double gravity, double h)
{
    const dReal* x = dBodyGetPosition(body);
    dMass mass;
    dBodyGetMass(body, &mass);
    double pushed = h * (gravity + v3Norm(v3Load(dBodyGetForce(body))) / mass.mass);
    g->fastest = larger(g->fastest, SLACK * (v3Norm(v3Load(dBodyGetLinearVel(body))) + pushed));
    g->spin = larger(g->spin, SLACK * v3Norm(v3Load(dBodyGetAngularVel(body))) + TURN / h);
    for (dGeomID geom = dBodyGetFirstGeom(body); geom; geom = dBodyGetNextGeom(geom)) {
        Box b;
        double far[3];
        dGeomGetAABB(geom, b.side);
        for (int k = 0; k < 3; k++) far[k] = larger(fabs(b.side[2 * k] - x[k]), fabs(b.side[2 * k + 1] - x[k]));
        a->largest = larger(a->largest, sizeOf(&b));
        a->farthest = larger(a->farthest, v3Norm(v3Load(far)) + sizeOf(&b));
        addBox(a, &b);
    }
}

/* By R, the same for all, and out to the grid. */
static void widen(Awake* a, const pcGathered* g, const pcSettings* settings, double h)
{
    double R = h * (2.0 * g->fastest + 9.0 * g->spin * a->farthest) + settings->layer + settings->margin + AHEAD * a->largest;
    int exponent;
    frexp(a->largest + 2.0 * R, &exponent);
    for (int i = 0; i < a->boxes; i++)
        for (int k = 0; k < 6; k++) {
            double side = a->box[i].side[k] + (k % 2 ? R : -R), cells = ldexp(side, -exponent);
            a->box[i].side[k] = ldexp(k % 2 ? ceil(cells) : floor(cells), exponent);
        }
}

/* ---- what sleeps ---- */

static bool meets(const Awake* a, const Box* b)
{
    double ahead = AHEAD * sizeOf(b);
    for (int i = 0; i < a->boxes; i++) {
        const dReal* s = a->box[i].side;
        bool apart = false;
        for (int k = 0; k < 6; k += 2) apart |= !(b->side[k] - ahead <= s[k + 1] && s[k] <= b->side[k + 1] + ahead);
        if (!apart) return true;
    }
    return false;
}

/* Others bring dCollide's contacts, of two that sleep as well, which the report tells of. */
static bool isPlain(dGeomID geom)
{
    int class = dGeomGetClass(geom);
    return class == dSphereClass || class == dBoxClass || class == dCapsuleClass || class == dCylinderClass;
}

static bool isFar(const Awake* a, dBodyID body)
{
    if (!pcOdeSleeps(body) || dBodyGetNumJoints(body) > 0) return false;
    for (dGeomID geom = dBodyGetFirstGeom(body); geom; geom = dBodyGetNextGeom(geom)) {
        Box b;
        dGeomGetAABB(geom, b.side);
        if (!isPlain(geom) || meets(a, &b)) return false;
    }
    return true;
}

static bool someSleep(const pcGathered* g)
{
    for (int i = 0; i < g->bodies; i++)
        if (pcOdeSleeps(g->body[i])) return true;
    return false;
}

/* Rows that no joint makes may be of any body; model=implicit looks ahead in its own way. */
static bool mayLeave(const pcSpace* s, const pcGathered* g, const pcSettings* settings)
{
    bool ours = settings->model == PC_MODEL_LCP || settings->model == PC_MODEL_CONVEX;
    return s->space && !s->more.row && ours && settings->narrowphase != PC_NARROW_NATIVE && someSleep(g);
}

void pcSleepersLeave(const pcSpace* s, pcGathered* g, dWorldID world, const pcSettings* settings, double h)
{
    Awake a = {0};
    dVector3 gravity;
    if (!mayLeave(s, g, settings)) return;
    dWorldGetGravity(world, gravity);
    g->fastest = g->spin = 0.0;
    for (int i = 0; i < g->bodies; i++)
        if (!pcOdeSleeps(g->body[i])) addAwake(&a, g, g->body[i], v3Norm(v3Load(gravity)), h);
    widen(&a, g, settings, h);
    for (int i = 0; i < g->bodies; i++) g->parent[i] = isFar(&a, g->body[i]) ? -1 : i;
    pcGatherLeave(g, world);
}

bool pcSleepersAreFar(const pcGathered* g)
{
    for (int i = 0; g->left > 0 && i < g->bodies; i++) {
        const double *free = g->freeVelocity + 6 * (size_t)i, *v = g->state[i].velocity;
        if (!(larger(v3Norm(v3Load(free)), v3Norm(v3Load(v))) <= g->fastest)) return false;
        if (!(larger(v3Norm(v3Load(free + 3)), v3Norm(v3Load(v + 3))) <= g->spin)) return false;
    }
    return true;
}
