/* pcCollide against dCollide's contract, against the metric, against ODE's own answers. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "adapters/ode/collide.h"
#include "adapters/ode/native.h"
#include "adapters/ode/shapes.h"
#include "test_worlds/unit/ode_geoms.h"

enum { MOST = 64 };

static const int knownPairs[][2] = {{dBoxClass, dBoxClass},       {dBoxClass, dPlaneClass},    {dBoxClass, dConvexClass},
                                    {dConvexClass, dConvexClass}, {dConvexClass, dPlaneClass}, {dSphereClass, dPlaneClass}};
enum { KNOWN = sizeof knownPairs / sizeof *knownPairs };

static double dot(const dReal* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static double distance(const dReal* a, const dReal* b) { return sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2)); }

/* ---- one random pair ---- */

typedef struct Case {
    dGeomID geom[2];
    const pcShape* shape[2];
    pcPose pose[2];
    unsigned flags;
    pcMetric metric;
    dContactGeom contact[MOST];
    int count;
} Case;

/* Kind i of pair, in either order, one of the two without a body now and then. */
static void makeCase(GeomScene* scene, int i, Case* out)
{
    const int* classes = knownPairs[i % KNOWN];
    bool exchanged = i / KNOWN % 2 == 1, fixed = i % 5 == 0;
    dGeomID a = geomsRandom(scene, classes[0], false), b = geomsRandom(scene, classes[1], fixed);
    geomsScatter(scene, a, classes[1] == dPlaneClass ? 0.8 : 0.1);
    geomsScatter(scene, b, 1.2);
    out->geom[0] = exchanged ? b : a, out->geom[1] = exchanged ? a : b;
    for (int k = 0; k < 2; k++) out->shape[k] = pcOdeShapeOf(out->geom[k], out->pose + k);
    bool bodiless[2] = {!dGeomGetBody(out->geom[0]), !dGeomGetBody(out->geom[1])};
    out->flags = bodiless[0] == bodiless[1] ? 0u : bodiless[0] ? PC_FIXED_1 : PC_FIXED_2;
    PC_EXPECT_STATUS(PC_OK,
                     pcMetricPair(out->shape[0], out->pose, out->shape[1], out->pose + 1, out->flags, NULL, &out->metric));
    out->count = pcCollide(out->geom[0], out->geom[1], MOST, out->contact, sizeof *out->contact);
}

/* How far x is outside a geom; negative inside. */
static double outside(const Case* c, int k, const dReal* x)
{
    static BruteBody body;
    double at[3] = {x[0], x[1], x[2]};
    dVector4 plane;
    switch (dGeomGetClass(c->geom[k])) {
    case dPlaneClass: dGeomPlaneGetParams(c->geom[k], plane); return dot(plane, at) - plane[3];
    case dSphereClass: return distance(x, dGeomGetPosition(c->geom[k])) - dGeomSphereGetRadius(c->geom[k]);
    default: bruteBody(c->shape[k], c->pose + k, true, &body); return (double)bruteOutside(&body, bvOf(at));
    }
}

/* Contacts are the events of the pair, in their order. */
static void expectContact(const Case* c, const dContactGeom* contact, const pcEvent* e)
{
    double apart = bruteDistance(e->point1, e->point2);
    PC_EXPECT_NEAR(1, dot(contact->normal, contact->normal), 1e-14);
    PC_EXPECT_LT(dot(contact->normal, c->metric.normal), 0); /* into geom 1 */
    PC_EXPECT_NEAR(-1, dot(contact->normal, e->normal), 1e-14);
    PC_EXPECT_GE(contact->depth, 0);
    PC_EXPECT_NEAR(contact->depth, fmax(0, -e->gap), 0);
    PC_EXPECT_TRUE(contact->g1 == c->geom[0] && contact->g2 == c->geom[1]);
    for (int k = 0; k < 2; k++) PC_EXPECT_LE(outside(c, k, contact->pos), (e->kind == PC_SMOOTH ? 0 : apart) + 1e-9);
}

static void expectContacts(const Case* c)
{
    static pcEvent events[MOST];
    pcEventSettings settings = pcDefaultEventSettings();
    int count = -1;
    PC_ASSERT_STATUS(PC_OK, pcEventsOfPair(c->shape[0], c->pose, c->shape[1], c->pose + 1, c->flags, &settings, NULL, events, MOST, &count));
    PC_ASSERT_EQ_INT(count, c->count);
    for (int i = 0; i < count; i++) expectContact(c, c->contact + i, events + i);
}

/* How far from the metric's gap the contact is that comes nearest to it. */
static double offMetric(const Case* c)
{
    double best = HUGE_VAL;
    for (int i = 0; i < c->count; i++) best = fmin(best, fabs(c->contact[i].depth + c->metric.gap));
    return best;
}

PC_TEST(OdeCollide, KeepsTheContractOnRandomPairs)
{
    int touching = 0, contacts = 0;
    for (int round = 0; round < 6; round++) {
        GeomScene* scene = geomsOpen(100 + (unsigned)round);
        for (int i = 0; i < 1000; i++) {
            static Case c;
            PC_CASE("round %d, pair %d", round, i);
            makeCase(scene, i, &c);
            PC_EXPECT_TRUE((c.count > 0) == (c.metric.gap <= 0));
            expectContacts(&c);
            if (c.count > 0) PC_EXPECT_NEAR(0, offMetric(&c), 1e-10);
            touching += c.count > 0, contacts += c.count;
        }
        geomsClose(scene);
    }
    PC_EXPECT_GT(touching, 3000);
    PC_EXPECT_GT(contacts, 6000);
}
