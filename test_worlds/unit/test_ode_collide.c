/* pcCollide against dCollide's contract, against the metric, against ODE's own answers. */
#include <math.h>
#include <stdio.h>
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
    PC_EXPECT_STATUS(PC_OK, pcMetricPair(out->shape[0], out->pose, out->shape[1], out->pose + 1, out->flags, NULL, &out->metric));
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
    PC_ASSERT_STATUS(PC_OK,
                     pcEventsOfPair(c->shape[0], c->pose, c->shape[1], c->pose + 1, c->flags, &settings, NULL, events, MOST, &count));
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

/* ---- room, stride, flags ---- */

/* Fewer wanted: so many come, all of them contacts of the whole set, the deepest among them. */
static void expectReduced(const Case* c, int wanted, int flags)
{
    dContactGeom few[MOST];
    double deepest = 0, kept = 0;
    int count = pcCollide(c->geom[0], c->geom[1], wanted | flags, few, sizeof *few);
    PC_ASSERT_EQ_INT(c->count < wanted ? c->count : wanted, count);
    for (int i = 0; i < count; i++) {
        bool found = false;
        for (int k = 0; k < c->count; k++) found = found || sameContact(few + i, c->contact + k);
        PC_EXPECT_TRUE(found);
        kept = fmax(kept, few[i].depth);
    }
    for (int k = 0; k < c->count; k++) deepest = fmax(deepest, c->contact[k].depth);
    PC_EXPECT_NEAR(deepest, kept, 1e-8); /* of several that are equally deep, the outermost */
}

PC_TEST(OdeCollide, GivesNoMoreThanWantedAndKeepsTheDeepest)
{
    GeomScene* scene = geomsOpen(7);
    for (int i = 0; i < 900; i++) {
        static Case c;
        PC_CASE("pair %d", i);
        makeCase(scene, i, &c);
        for (int wanted = 1; wanted <= 8; wanted++) expectReduced(&c, wanted, wanted % 2 ? (int)CONTACTS_UNIMPORTANT : 0);
        PC_EXPECT_EQ_INT(0, pcCollide(c.geom[0], c.geom[1], 0, c.contact, sizeof *c.contact));
        PC_EXPECT_EQ_INT(0, pcCollide(c.geom[0], c.geom[1], 4, c.contact, sizeof *c.contact - 8));
        PC_EXPECT_EQ_INT(0, pcCollide(c.geom[0], c.geom[1], 4, NULL, sizeof *c.contact));
    }
    geomsClose(scene);
}

/* Into the middle of dContact, as hosts do it: what lies between is theirs. */
PC_TEST(OdeCollide, WritesNothingBetweenTheContacts)
{
    GeomScene* scene = geomsOpen(8);
    for (int i = 0; i < 300; i++) {
        static Case c;
        dContact contact[16], untouched;
        PC_CASE("pair %d", i);
        makeCase(scene, i, &c);
        memset(contact, 0xa5, sizeof contact);
        memset(&untouched, 0xa5, sizeof untouched);
        int count = pcCollide(c.geom[0], c.geom[1], 16, &contact[0].geom, sizeof *contact);
        for (int k = 0; k < 16; k++) {
            if (k < count && c.count <= 16) PC_EXPECT_TRUE(sameContact(&contact[k].geom, c.contact + k));
            PC_EXPECT_TRUE(memcmp(&contact[k].surface, &untouched.surface, sizeof untouched.surface) == 0);
            PC_EXPECT_TRUE(memcmp(contact[k].fdir1, untouched.fdir1, sizeof untouched.fdir1) == 0);
            if (k >= count) PC_EXPECT_TRUE(memcmp(&contact[k].geom, &untouched.geom, sizeof untouched.geom) == 0);
        }
    }
    geomsClose(scene);
}

/* Two round plates have more contacts than any buffer of ours begins with. */
PC_TEST(OdeCollide, GivesHundredsOfContactsToWhoWantsThem)
{
    enum { CORNERS = 60, ROOM = 250 };
    GeomScene* scene = geomsOpen(9);
    pcShape* plate = brutePrism(CORNERS, 1, 0.2);
    double origin[3] = {0, 0, 0}, depth = 0.001;
    dGeomID lower = geomsConvex(scene, plate, origin), upper = geomsConvex(scene, plate, origin);
    static dContactGeom contact[ROOM];
    dGeomSetPosition(upper, 0.1, 0.05, 0.2 - depth);
    int all = pcCollide(lower, upper, ROOM, contact, sizeof *contact);
    PC_EXPECT_GT(all, 40);
    for (int i = 0; i < all; i++) {
        PC_EXPECT_NEAR(depth, contact[i].depth, 1e-12);
        PC_EXPECT_NEAR(-1, contact[i].normal[2], 1e-12);
    }
    PC_EXPECT_EQ_INT(40, pcCollide(lower, upper, 40, contact, sizeof *contact));
    PC_EXPECT_EQ_INT(4, pcCollide(lower, upper, 4, contact, sizeof *contact));
    pcShapeFree(plate);
    geomsClose(scene);
}

/* ---- order, rules, other classes ---- */

static const dContactGeom* nearestContact(const dContactGeom* list, int count, const dContactGeom* to)
{
    const dContactGeom* best = NULL;
    for (int i = 0; i < count; i++)
        if (list[i].side1 == to->side1 && list[i].side2 == to->side2 &&
            (!best || distance(list[i].pos, to->pos) < distance(best->pos, to->pos)))
            best = list + i;
    return best;
}

PC_TEST(OdeCollide, AnswersTheSameInTheOtherOrder)
{
    GeomScene* scene = geomsOpen(10);
    for (int i = 0; i < 900; i++) {
        static Case c;
        dContactGeom other[MOST];
        PC_CASE("pair %d", i);
        makeCase(scene, i, &c);
        PC_ASSERT_EQ_INT(c.count, pcCollide(c.geom[1], c.geom[0], MOST, other, sizeof *other));
        for (int k = 0; k < c.count; k++) {
            dContactGeom turned = turnedRound(c.contact + k);
            const dContactGeom* match = nearestContact(other, c.count, &turned);
            PC_ASSERT_TRUE(match != NULL);
            PC_EXPECT_NEAR(0, distance(match->pos, turned.pos), 1e-9);
            PC_EXPECT_NEAR(0, distance(match->normal, turned.normal), 1e-9);
            PC_EXPECT_NEAR(match->depth, turned.depth, 1e-11);
        }
    }
    geomsClose(scene);
}

PC_TEST(OdeCollide, FollowsTheRulesOfDCollide)
{
    GeomScene* scene = geomsOpen(11);
    dContactGeom contact[8];
    dGeomID a = geomsBox(scene, 1, 1, 1), b = geomsAdd(scene, dCreateBox(0, 1, 1, 1), true);
    PC_EXPECT_EQ_INT(0, pcCollide(a, a, 8, contact, sizeof *contact));
    PC_EXPECT_EQ_INT(0, pcCollide(a, NULL, 8, contact, sizeof *contact));
    dGeomSetPosition(b, 0.1, 0.2, 0.9);
    PC_EXPECT_EQ_INT(4, pcCollide(a, b, 8, contact, sizeof *contact));
    dGeomSetBody(b, dGeomGetBody(a));
    PC_EXPECT_EQ_INT(0, pcCollide(a, b, 8, contact, sizeof *contact));
    dGeomID plane = geomsAdd(scene, dCreatePlane(0, 0, 0, 1, 0), true), other = geomsAdd(scene, dCreatePlane(0, 0, 1, 0, 0), true);
    PC_EXPECT_EQ_INT(0, pcCollide(plane, other, 8, contact, sizeof *contact));
    dGeomID still = geomsAdd(scene, dCreateBox(0, 1, 1, 1), true);
    dGeomSetPosition(still, 0, 0, 0.49);
    PC_EXPECT_EQ_INT(4, pcCollide(plane, still, 8, contact, sizeof *contact)); /* neither has a body */
    geomsClose(scene);
}

/* Two spheres, which ODE knows as well; classes that the metric does not know, and whole spaces. */
PC_TEST(OdeCollide, LeavesOtherClassesToOde)
{
    GeomScene* scene = geomsOpen(12);
    dSpaceID space = dSimpleSpaceCreate(0);
    int contacts = 0;
    dGeomID box = geomsBox(scene, 1, 1, 1), sphere = geomsAdd(scene, dCreateSphere(0, 0.5), false),
            ball = geomsAdd(scene, dCreateSphere(0, 0.7), false);
    dGeomID other[3] = {sphere, geomsAdd(scene, dCreateRay(0, 3), false), (dGeomID)space};
    geomsAdd(scene, dCreateSphere(space, 0.6), false);
    for (int i = 0; i < 400; i++) {
        dContactGeom ours[8], theirs[8];
        PC_CASE("case %d", i);
        for (int k = 0; k < 2; k++) geomsScatter(scene, other[k], 1.2);
        dGeomID b = other[i % 3], a = b == sphere ? ball : box;
        int count = pcCollide(a, b, 8, ours, sizeof *ours);
        PC_ASSERT_EQ_INT(dCollide(a, b, 8, theirs, sizeof *theirs), count);
        for (int k = 0; k < count; k++, contacts++) PC_EXPECT_TRUE(sameContact(ours + k, theirs + k));
    }
    PC_EXPECT_GT(contacts, 50);
    PC_EXPECT_TRUE(pcOdeMetricKnows(sphere, sphere) && pcOdeMetricKnows(box, box));
    PC_EXPECT_FALSE(pcOdeMetricKnows(box, other[1]));
    geomsClose(scene);
    dSpaceDestroy(space);
}

/* ---- against ODE's box on box ---- */

/* How far the two overlap along a direction: by what they would have to part along it. */
static double overlap(const Case* c, const dReal* n)
{
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        const dReal *R = dGeomGetRotation(c->geom[k]), *p = dGeomGetPosition(c->geom[k]);
        dVector3 lengths;
        dGeomBoxGetLengths(c->geom[k], lengths);
        for (int j = 0; j < 3; j++) sum += 0.5 * lengths[j] * fabs(R[j] * n[0] + R[4 + j] * n[1] + R[8 + j] * n[2]);
        sum += (k == 0 ? -1 : 1) * (p[0] * n[0] + p[1] * n[1] + p[2] * n[2]);
    }
    return sum;
}

static double deepestOf(const dContactGeom* list, int count)
{
    double depth = 0;
    for (int i = 0; i < count; i++) depth = fmax(depth, list[i].depth);
    return depth;
}

/* Moves the second box along our normal until the pair is `depth` deep. */
static void makeShallow(Case* c, double depth)
{
    for (int again = 0; again < 6; again++) {
        double move = -c->metric.gap - depth, *p = c->pose[1].position;
        for (int k = 0; k < 3; k++) p[k] += move * c->metric.normal[k];
        dGeomSetPosition(c->geom[1], p[0], p[1], p[2]);
        pcOdeShapeOf(c->geom[1], c->pose + 1);
        PC_EXPECT_STATUS(PC_OK, pcMetricPair(c->shape[0], c->pose, c->shape[1], c->pose + 1, c->flags, NULL, &c->metric));
    }
    c->count = pcCollide(c->geom[0], c->geom[1], MOST, c->contact, sizeof *c->contact);
}

/* ODE takes the axis of least overlap, with 5 % in favour of faces; the metric takes that of the least ratio. On shallow contacts both are
 * the same but for a few boxes that touch near an edge of the contact region; then ours is deeper along its own axis, and right about it. */
PC_TEST(OdeCollide, IsAsDeepAsOdesBoxOnBox)
{
    GeomScene* scene = geomsOpen(13);
    int agree = 0, compared = 0;
    for (int i = 0; i < 1500; i++) {
        static Case c;
        dContactGeom theirs[MOST];
        PC_CASE("pair %d", i);
        makeCase(scene, KNOWN * i, &c);
        makeShallow(&c, 1e-3);
        int count = dCollide(c.geom[0], c.geom[1], MOST, theirs, sizeof *theirs);
        if (c.count == 0 || count == 0) continue;
        dReal n[3] = {-c.metric.normal[0], -c.metric.normal[1], -c.metric.normal[2]};
        PC_EXPECT_REL(overlap(&c, n), -c.metric.gap, 1e-6);
        PC_EXPECT_LE(deepestOf(theirs, count), overlap(&c, theirs[0].normal) * (1 + 1e-6)); /* clipping may lose its deepest corner */
        PC_EXPECT_LE(overlap(&c, theirs[0].normal), 1.06 * -c.metric.gap);
        compared++;
        if (distance(n, theirs[0].normal) > 1e-9) continue;
        agree++;
        PC_EXPECT_REL(deepestOf(theirs, count), -c.metric.gap, 1e-6);
    }
    printf("shallow boxes: the same normal as ODE in %d of %d pairs\n", agree, compared);
    PC_EXPECT_GT(compared, 1400);
    PC_EXPECT_GT(agree, 0.9 * compared);
    geomsClose(scene);
}

/* ---- touching cells ---- */

typedef struct Normals {
    int contacts, zero, pairs;
} Normals;

static void countNormals(Normals* n, const dContactGeom* contact, int count)
{
    for (int i = 0; i < count; i++, n->contacts++) n->zero += !(dot(contact[i].normal, contact[i].normal) > 0.5);
    n->pairs += count > 0;
}

static void makeCells(GeomScene* scene, const double (*seed)[3], int cells, dGeomID* out)
{
    for (int i = 0; i < cells; i++) {
        pcShape* cell = voronoiCell(seed, cells, i);
        pcShapeInfo info;
        pcShapeDescribe(cell, &info);
        out[i] = geomsConvex(scene, cell, info.centroid);
        dGeomSetPosition(out[i], info.centroid[0], info.centroid[1], info.centroid[2]);
        pcShapeFree(cell);
    }
}

static void expectFaceContact(const dContactGeom* contact, const double* seed1, const double* seed2)
{
    double n[3], length = bruteDistance(seed1, seed2);
    for (int k = 0; k < 3; k++) n[k] = (seed1[k] - seed2[k]) / length;
    PC_EXPECT_NEAR(1, dot(contact->normal, contact->normal), 1e-14);
    PC_EXPECT_LE(contact->depth, 1e-9);
    PC_EXPECT_GT(dot(contact->normal, n), 0);
}

PC_TEST(OdeCollide, GivesUnitNormalsToTouchingVoronoiCells)
{
    enum { CELLS = 64, ROOM = 32 };
    Normals ours = {0}, theirs = {0};
    for (int round = 0; round < 5; round++) {
        GeomScene* scene = geomsOpen(20 + (unsigned)round);
        double seed[CELLS][3];
        dGeomID cell[CELLS];
        dContactGeom contact[ROOM];
        for (int i = 0; i < 3 * CELLS; i++) seed[i / 3][i % 3] = bruteUniform(&scene->state);
        makeCells(scene, (const double(*)[3])seed, CELLS, cell);
        for (int i = 0; i < CELLS; i++)
            for (int j = 0; j < i; j++) {
                PC_CASE("round %d, cells %d and %d", round, i, j);
                countNormals(&theirs, contact, dCollide(cell[i], cell[j], ROOM, contact, sizeof *contact));
                int count = pcCollide(cell[i], cell[j], ROOM, contact, sizeof *contact);
                countNormals(&ours, contact, count);
                for (int k = 0; k < count; k++) expectFaceContact(contact + k, seed[i], seed[j]);
            }
        geomsClose(scene);
    }
    printf("touching Voronoi cells: ODE %d contacts of %d pairs, %d with a zero normal; ours %d of %d, %d\n", theirs.contacts, theirs.pairs,
           theirs.zero, ours.contacts, ours.pairs, ours.zero);
    PC_EXPECT_EQ_INT(0, ours.zero);
    PC_EXPECT_GT(ours.pairs, 5 * 4 * CELLS); /* eight neighbours a cell */
    PC_EXPECT_GT(theirs.zero, 0);
}

/* ---- what has no direction, what is no number ---- */

PC_TEST(OdeCollide, GivesUnitNormalsWhereCentresCoincide)
{
    GeomScene* scene = geomsOpen(14);
    for (int i = 0; i < 200; i++) {
        dContactGeom contact[8];
        PC_CASE("pair %d", i);
        dGeomID a = geomsRandom(scene, i % 2 ? dBoxClass : dConvexClass, false);
        dGeomID b = geomsRandom(scene, i % 4 < 2 ? dBoxClass : dConvexClass, i % 3 == 0);
        geomsScatter(scene, a, i % 5 ? 0 : 3);
        dGeomSetPosition(b, dGeomGetPosition(a)[0], dGeomGetPosition(a)[1], dGeomGetPosition(a)[2]);
        int count = pcCollide(a, b, 8, contact, sizeof *contact);
        PC_EXPECT_GT(count, 0);
        for (int k = 0; k < count; k++) {
            PC_EXPECT_NEAR(1, dot(contact[k].normal, contact[k].normal), 1e-14);
            PC_EXPECT_GT(contact[k].depth, 0);
        }
    }
    dGeomID a = geomsBox(scene, 4, 4, 1), b = geomsBox(scene, 3, 3, 1);
    dContactGeom contact[8];
    PC_EXPECT_GT(pcCollide(a, b, 8, contact, sizeof *contact), 0);
    PC_EXPECT_NEAR(1, fabs(contact[0].normal[2]), 1e-5); /* out of the thin side */
    PC_EXPECT_NEAR(1, contact[0].depth, 1e-5);
    geomsClose(scene);
}

PC_TEST(OdeCollide, FindsNothingWherePosesAreNoNumbers)
{
    GeomScene* scene = geomsOpen(15);
    dContactGeom contact[8];
    const double bad[2] = {(double)NAN, (double)INFINITY};
    for (int i = 0; i < KNOWN; i++)
        for (int k = 0; k < 4; k++) {
            PC_CASE("pair %d, case %d", i, k);
            dGeomID a = geomsRandom(scene, knownPairs[i][0], k == 3), b = geomsRandom(scene, knownPairs[i][1], false);
            dMatrix3 R = {bad[k % 2], 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
            if (k < 2)
                dGeomSetPosition(a, 0, bad[k % 2], 0);
            else if (k == 2)
                dGeomSetPosition(a, bad[0], bad[0], bad[0]);
            else
                dGeomSetRotation(a, R);
            PC_EXPECT_EQ_INT(0, pcCollide(a, b, 8, contact, sizeof *contact));
            PC_EXPECT_EQ_INT(0, pcCollide(b, a, 8, contact, sizeof *contact));
        }
    geomsClose(scene);
}

/* ---- looking ahead ---- */

PC_TEST(OdeCollide, LooksAheadOnlyWhenAsked)
{
    GeomScene* scene = geomsOpen(16);
    dContactGeom contact[8];
    dGeomID box = geomsBox(scene, 1, 1, 1), plane = geomsAdd(scene, dCreatePlane(0, 0, 0, 1, 0), true);
    dGeomID sphere = geomsAdd(scene, dCreateSphere(0, 0.5), false), other = geomsAdd(scene, dCreateSphere(0, 0.5), false);
    dGeomSetPosition(box, 0, 0, 0.51);
    dGeomSetPosition(sphere, 5, 0, 0.51);
    dGeomSetPosition(other, 6.02, 0, 0.51);
    PC_EXPECT_EQ_INT(0, pcCollide(box, plane, 8, contact, sizeof *contact));
    PC_EXPECT_EQ_INT(0, pcCollide(sphere, plane, 8, contact, sizeof *contact));
    pcOdeSetLookahead(0.05);
    PC_EXPECT_EQ_INT(4, pcCollide(box, plane, 8, contact, sizeof *contact));
    for (int i = 0; i < 4; i++) PC_EXPECT_NEAR(-0.01, contact[i].depth, 1e-15);
    PC_EXPECT_EQ_INT(1, pcCollide(sphere, plane, 8, contact, sizeof *contact));
    PC_EXPECT_NEAR(-0.01, contact[0].depth, 1e-15);
    PC_EXPECT_EQ_INT(1, pcCollide(sphere, other, 8, contact, sizeof *contact));
    PC_EXPECT_NEAR(-0.02, contact[0].depth, 1e-14);
    PC_EXPECT_NEAR(-1, contact[0].normal[0], 1e-15);
    pcOdeSetLookahead((double)NAN);
    PC_EXPECT_EQ_INT(0, pcCollide(box, plane, 8, contact, sizeof *contact));
    geomsClose(scene);
}

/* ---- round geoms ---- */

static dGeomID roundGeom(GeomScene* scene, int kind, double x)
{
    switch (kind) {
    case 0: return geomsAdd(scene, dCreateSphere(0, 0.3 + 0.3 * x), false);
    case 1: return geomsAdd(scene, dCreateCapsule(0, 0.2 + 0.2 * x, 0.5 + x), false);
    case 2: return geomsAdd(scene, dCreateCylinder(0, 0.2 + 0.4 * x, 0.5 + x), false);
    case 3: return geomsBox(scene, 0.4 + x, 0.8, 0.5);
    case 4: return geomsRandom(scene, dConvexClass, false);
    default: return geomsRandom(scene, dPlaneClass, true);
    }
}

static bool isRound(dGeomID geom)
{
    int class = dGeomGetClass(geom);
    return class == dSphereClass || class == dCapsuleClass || class == dCylinderClass;
}

/* How far a point is outside a geom, from the geom's own definition; not above 0 inside. */
static double outsideOf(dGeomID geom, const dReal* at)
{
    Case c = {.geom = {geom, NULL}};
    int class = dGeomGetClass(geom);
    dReal radius = 0, length = 0;
    dVector3 x;
    if (class != dCapsuleClass && class != dCylinderClass) {
        c.shape[0] = pcOdeShapeOf(geom, c.pose);
        return outside(&c, 0, at);
    }
    dGeomGetPosRelPoint(geom, at[0], at[1], at[2], x);
    if (class == dCapsuleClass) {
        dGeomCapsuleGetParams(geom, &radius, &length);
        return hypot(hypot(x[0], x[1]), fmax(0, fabs(x[2]) - 0.5 * length)) - radius;
    }
    dGeomCylinderGetParams(geom, &radius, &length);
    return fmax(hypot(x[0], x[1]) - radius, fabs(x[2]) - 0.5 * length);
}

/* dCollide's contract: unit normals, depths, a place that is within the depth of both geoms; and agreement with ODE on who touches whom, but for
 * what only just does. (ODE has no collider of a convex with a capsule or a cylinder.) */
PC_TEST(OdeCollide, RoundPairsKeepTheContract)
{
    enum { KINDS = 6, EACH = 3, ALL = KINDS * EACH };
    GeomScene* scene = geomsOpen(77);
    dGeomID geom[ALL];
    int touching = 0, differ = 0, seen[KINDS][KINDS] = {{0}};
    for (int i = 0; i < ALL; i++) geom[i] = roundGeom(scene, i / EACH, i % EACH / 3.0);
    for (int i = 0; i < 6000; i++) {
        dContactGeom ours[16], theirs[16];
        int first = i % ALL, second = (5 * i + i / ALL) % ALL;
        dGeomID a = geom[first], b = geom[second];
        if (a == b || !(isRound(a) || isRound(b))) continue;
        PC_CASE("case %d, kinds %d and %d", i, first / EACH, second / EACH);
        geomsScatter(scene, a, 0.7);
        geomsScatter(scene, b, 0.7);
        int count = pcCollide(a, b, 16, ours, sizeof *ours), native = pcOdeCollideNatively(a, b, 16, theirs, sizeof *theirs);
        double depth = 0.0;
        for (int k = 0; k < native; k++) depth = fmax(depth, (double)theirs[k].depth);
        for (int k = 0; k < count; k++) {
            const dReal* n = ours[k].normal;
            PC_EXPECT_NEAR(1.0, sqrt((double)(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])), 1e-9);
            PC_EXPECT_TRUE(ours[k].depth >= 0 && ours[k].g1 == a && ours[k].g2 == b);
            PC_EXPECT_LE(outsideOf(a, ours[k].pos), (double)ours[k].depth + 1e-9);
            PC_EXPECT_LE(outsideOf(b, ours[k].pos), (double)ours[k].depth + 1e-9);
        }
        bool odeCannot = (first / EACH == 4 || second / EACH == 4) && dGeomGetClass(a) != dSphereClass && dGeomGetClass(b) != dSphereClass;
        touching += count > 0, seen[first / EACH][second / EACH] += count > 0;
        differ += !odeCannot && (count > 0) != (native > 0) && !(native > 0 && depth < 1e-6);
    }
    PC_EXPECT_GT(touching, 500);
    for (int i = 0; i < KINDS; i++)
        for (int j = 0; j < KINDS; j++) {
            PC_CASE("kinds %d and %d", i, j);
            if (i < 3 || j < 3) PC_EXPECT_GT(seen[i][j] + seen[j][i], 10);
        }
    printf("round pairs: %d touch; ODE thinks otherwise of %d\n", touching, differ);
    PC_EXPECT_LE(differ, touching / 50); /* ODE's own misses */
    geomsClose(scene);
}
