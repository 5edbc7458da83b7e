/* Our colliders behind dCollide, and the former ones back again. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "adapters/ode/collide.h"
#include "adapters/ode/shapes.h"
#include "test_worlds/unit/ode_geoms.h"

enum { ROOM = 16, GEOMS = 24 };
enum { CLASSES = 6 };
static const int classes[CLASSES] = {dBoxClass, dConvexClass, dSphereClass, dPlaneClass, dCapsuleClass, dCylinderClass};

/* One answer of dCollide for every ordered pair of a scene. */
typedef struct Answers {
    int count[GEOMS][GEOMS];
    dContactGeom contact[GEOMS][GEOMS][ROOM];
} Answers;

static void scatterAll(GeomScene* scene, dGeomID* geom)
{
    for (int i = 0; i < GEOMS; i++) {
        geom[i] = geomsRandom(scene, classes[i % CLASSES], false);
        geomsScatter(scene, geom[i], 0.9);
    }
}

typedef int Collide(dGeomID, dGeomID, int, dContactGeom*, int);

static void askAll(Collide* collide, dGeomID* geom, Answers* out)
{
    for (int i = 0; i < GEOMS; i++)
        for (int j = 0; j < GEOMS; j++) out->count[i][j] = collide(geom[i], geom[j], ROOM, out->contact[i][j], sizeof(dContactGeom));
}

static bool sameAnswer(const Answers* a, const Answers* b, int i, int j)
{
    if (a->count[i][j] != b->count[i][j]) return false;
    for (int k = 0; k < a->count[i][j]; k++)
        if (!sameContact(a->contact[i][j] + k, b->contact[i][j] + k)) return false;
    return true;
}

/* a's answer to (i, j) is b's to (j, i), turned round. */
static bool turnedAnswer(const Answers* a, const Answers* b, int i, int j)
{
    if (a->count[i][j] != b->count[j][i]) return false;
    for (int k = 0; k < a->count[i][j]; k++) {
        dContactGeom turned = turnedRound(b->contact[j][i] + k);
        if (!sameContact(a->contact[i][j] + k, &turned)) return false;
    }
    return true;
}

static void expectSameAnswers(const Answers* a, const Answers* b)
{
    for (int i = 0; i < GEOMS; i++)
        for (int j = 0; j < GEOMS; j++) {
            PC_CASE("classes %d and %d", classes[i % CLASSES], classes[j % CLASSES]);
            PC_EXPECT_TRUE(sameAnswer(a, b, i, j));
        }
}

static Answers before, now, ours;

/* ODE calls a collider with the geoms in the order of its table, and always exchanged where both are of one class. */
PC_TEST(OdeColliders, PutTheMetricBehindDCollide)
{
    for (int round = 0; round < 20; round++) {
        GeomScene* scene = geomsOpen(50 + (unsigned)round);
        dGeomID geom[GEOMS];
        scatterAll(scene, geom);
        askAll(pcCollide, geom, &ours);
        PC_ASSERT_STATUS(PC_OK, pcOverrideColliders());
        askAll(dCollide, geom, &now);
        PC_EXPECT_STATUS(PC_OK, pcRestoreColliders());
        for (int i = 0; i < GEOMS; i++)
            for (int j = 0; j < GEOMS; j++) {
                PC_CASE("round %d, classes %d and %d", round, classes[i % CLASSES], classes[j % CLASSES]);
                PC_EXPECT_TRUE(sameAnswer(&now, &ours, i, j) || turnedAnswer(&now, &ours, i, j));
            }
        geomsClose(scene);
    }
}

/* Two spheres too, of which ODE's own collider sees nothing before they touch. */
PC_TEST(OdeColliders, LookAheadOfEveryPair)
{
    GeomScene* scene = geomsOpen(70);
    dGeomID geom[GEOMS];
    PC_ASSERT_STATUS(PC_OK, pcOverrideColliders());
    for (int round = 0; round < 5; round++) {
        scatterAll(scene, geom);
        pcOdeSetLookahead(0.3);
        askAll(pcCollide, geom, &ours);
        askAll(dCollide, geom, &now);
        pcOdeSetLookahead(0);
        for (int i = 0; i < GEOMS; i++)
            for (int j = 0; j < GEOMS; j++) {
                PC_CASE("round %d, classes %d and %d", round, classes[i % CLASSES], classes[j % CLASSES]);
                PC_EXPECT_TRUE(sameAnswer(&now, &ours, i, j) || turnedAnswer(&now, &ours, i, j));
            }
    }
    dGeomID a = geomsAdd(scene, dCreateSphere(0, 0.5), false), b = geomsAdd(scene, dCreateSphere(0, 0.5), false);
    dContactGeom contact[4];
    dGeomSetPosition(b, 1.02, 0, 0);
    PC_EXPECT_EQ_INT(0, dCollide(a, b, 4, contact, sizeof *contact));
    pcOdeSetLookahead(0.05);
    PC_EXPECT_EQ_INT(1, dCollide(a, b, 4, contact, sizeof *contact));
    PC_EXPECT_NEAR(-0.02, contact[0].depth, 1e-14);
    PC_EXPECT_NEAR(-1, contact[0].normal[0], 1e-15);
    PC_EXPECT_TRUE(contact[0].g1 == a && contact[0].g2 == b);
    pcOdeSetLookahead(0);
    PC_EXPECT_STATUS(PC_OK, pcRestoreColliders());
    PC_EXPECT_EQ_INT(0, dCollide(a, b, 4, contact, sizeof *contact));
    geomsClose(scene);
}

PC_TEST(OdeColliders, RestoreEveryBit)
{
    for (int round = 0; round < 20; round++) {
        GeomScene* scene = geomsOpen(80 + (unsigned)round);
        dGeomID geom[GEOMS];
        scatterAll(scene, geom);
        askAll(dCollide, geom, &before);
        for (int again = 0; again < 3; again++) {
            PC_ASSERT_STATUS(PC_OK, pcOverrideColliders());
            PC_ASSERT_STATUS(PC_OK, pcOverrideColliders());
            PC_EXPECT_STATUS(PC_OK, pcRestoreColliders());
            PC_EXPECT_STATUS(PC_OK, pcRestoreColliders());
        }
        askAll(dCollide, geom, &now);
        expectSameAnswers(&before, &now);
        geomsClose(scene);
    }
}

/* Also while the overrides are in place. */
PC_TEST(OdeColliders, LetTheNativeAnswerThrough)
{
    GeomScene* scene = geomsOpen(110);
    dGeomID geom[GEOMS];
    scatterAll(scene, geom);
    askAll(dCollide, geom, &before);
    PC_ASSERT_STATUS(PC_OK, pcOverrideColliders());
    askAll(pcOdeCollideNatively, geom, &now);
    PC_EXPECT_STATUS(PC_OK, pcRestoreColliders());
    expectSameAnswers(&before, &now);
    geomsClose(scene);
}

static int hostCollider(dGeomID geom1, dGeomID geom2, int flags, dContactGeom* contacts, int skip)
{
    (void)flags, (void)skip;
    memset(contacts, 0, sizeof *contacts);
    contacts->normal[2] = 1, contacts->depth = 7, contacts->g1 = geom1, contacts->g2 = geom2;
    return 1;
}

/* Its own collider comes back to a program that had one; one that it sets later is not touched. A new start of ODE forgets it. */
PC_TEST(OdeColliders, RespectThoseOfTheHost)
{
    GeomScene* scene = geomsOpen(120);
    dContactGeom contact[8];
    dGeomID a = geomsBox(scene, 1, 1, 1), b = geomsBox(scene, 1, 1, 1), plane = geomsAdd(scene, dCreatePlane(0, 0, 0, 1, 0), true);
    dGeomSetPosition(b, 0.1, 0, 0.9);
    dSetColliderOverride(dBoxClass, dBoxClass, hostCollider);
    PC_ASSERT_STATUS(PC_OK, pcOverrideColliders());
    PC_EXPECT_EQ_INT(4, dCollide(a, b, 8, contact, sizeof *contact));
    dSetColliderOverride(dBoxClass, dPlaneClass, hostCollider);
    PC_EXPECT_STATUS(PC_OK, pcRestoreColliders());
    PC_EXPECT_EQ_INT(1, dCollide(a, b, 8, contact, sizeof *contact));
    PC_EXPECT_NEAR(7, contact[0].depth, 0);
    PC_EXPECT_NEAR(-1, contact[0].normal[2], 0); /* as ODE turns it round for a pair of one class */
    PC_EXPECT_EQ_INT(1, dCollide(a, plane, 8, contact, sizeof *contact));
    PC_EXPECT_NEAR(7, contact[0].depth, 0);
    geomsClose(scene);
    scene = geomsOpen(121);
    a = geomsBox(scene, 1, 1, 1), b = geomsBox(scene, 1, 1, 1);
    dGeomSetPosition(b, 0.1, 0, 0.9);
    PC_EXPECT_EQ_INT(4, dCollide(a, b, 8, contact, sizeof *contact));
    PC_EXPECT_NEAR(0.1, contact[0].depth, 1e-12);
    geomsClose(scene);
}

/* dSetColliderOverride aborts before ODE is initialised, and is forgotten when it is closed. */
PC_TEST(OdeColliders, NeedNoInitialisationAndOutliveAClose)
{
    PC_ASSERT_STATUS(PC_OK, pcOverrideColliders());
    for (int i = 0; i < 3; i++) {
        GeomScene* scene = geomsOpen(130);
        dContactGeom contact[8];
        dGeomID a = geomsRandom(scene, dConvexClass, false), b = geomsRandom(scene, dConvexClass, false);
        dGeomSetPosition(b, 0.3, 0.2, 0);
        PC_EXPECT_GT(dCollide(a, b, 8, contact, sizeof *contact), 1); /* ODE's own gives one */
        geomsClose(scene);
    }
    PC_EXPECT_STATUS(PC_OK, pcRestoreColliders());
}

/* A GeomTransform's collider of ODE hands what it holds to dCollide, and so to ours. */
PC_TEST(OdeColliders, AreMetThroughTransformsAndSpaces)
{
    GeomScene* scene = geomsOpen(140);
    PC_ASSERT_STATUS(PC_OK, pcOverrideColliders());
    for (int i = 0; i < 200; i++) {
        PC_CASE("case %d", i);
        dContactGeom ours1[ROOM], theirs[ROOM];
        dGeomID other = geomsRandom(scene, i % 2 ? dBoxClass : dConvexClass, false);
        dGeomID transform = geomsAdd(scene, dCreateGeomTransform(0), false), inner = dCreateBox(0, 1, 0.7, 0.5);
        geomsScatter(scene, inner, 0.5);
        dGeomTransformSetCleanup(transform, 1);
        dGeomTransformSetGeom(transform, inner);
        dGeomTransformSetInfo(transform, i % 2);
        geomsScatter(scene, transform, 0.5);
        geomsScatter(scene, other, 0.5);
        int count = pcCollide(transform, other, ROOM, ours1, sizeof *ours1);
        PC_ASSERT_EQ_INT(count, dCollide(transform, other, ROOM, theirs, sizeof *theirs));
        double depth[2] = {0, 0};
        for (int k = 0; k < count; k++) {
            PC_EXPECT_TRUE(theirs[k].g1 == ours1[k].g1 && theirs[k].g2 == ours1[k].g2);
            depth[0] += ours1[k].depth, depth[1] += theirs[k].depth;
        }
        PC_EXPECT_NEAR(depth[0], depth[1], 1e-11);
    }
    PC_EXPECT_STATUS(PC_OK, pcRestoreColliders());
    geomsClose(scene);
}

/* Poses that are no numbers reach the colliders as well. */
PC_TEST(OdeColliders, FindNothingWherePosesAreNoNumbers)
{
    GeomScene* scene = geomsOpen(150);
    dContactGeom contact[8];
    PC_ASSERT_STATUS(PC_OK, pcOverrideColliders());
    for (int i = 0; i < 4 * CLASSES; i++) {
        if (classes[i % CLASSES] == dPlaneClass || classes[i % CLASSES] == dSphereClass) continue;
        dGeomID a = geomsRandom(scene, classes[i % CLASSES], false), b = geomsRandom(scene, classes[i % 2], false);
        dGeomSetPosition(a, (double)NAN, 0, 0);
        PC_EXPECT_EQ_INT(0, dCollide(a, b, 8, contact, sizeof *contact));
    }
    PC_EXPECT_STATUS(PC_OK, pcRestoreColliders());
    geomsClose(scene);
}

/* What ODE's own contacts of touching cells make of the next step: an abort. With ours it steps. */
PC_TEST(OdeColliders, LetTouchingCellsStep)
{
    enum { CELLS = 30 };
    GeomScene* scene = geomsOpen(160);
    double seed[CELLS][3];
    dGeomID cell[CELLS];
    dJointGroupID group = dJointGroupCreate(0);
    PC_ASSERT_STATUS(PC_OK, pcOverrideColliders());
    for (int i = 0; i < 3 * CELLS; i++) seed[i / 3][i % 3] = bruteUniform(&scene->state);
    for (int i = 0; i < CELLS; i++) {
        pcShape* shape = voronoiCell((const double(*)[3])seed, CELLS, i);
        pcShapeInfo info;
        pcShapeDescribe(shape, &info);
        cell[i] = geomsConvex(scene, shape, info.centroid);
        dGeomSetPosition(cell[i], info.centroid[0], info.centroid[1], info.centroid[2]);
        pcShapeFree(shape);
    }
    for (int step = 0; step < 5; step++) {
        for (int i = 0; i < CELLS * CELLS; i++) {
            dContact contact[ROOM];
            dGeomID a = cell[i / CELLS], b = cell[i % CELLS];
            int count = i / CELLS > i % CELLS ? dCollide(a, b, ROOM, &contact[0].geom, sizeof *contact) : 0;
            for (int k = 0; k < count; k++) {
                contact[k].surface.mode = 0, contact[k].surface.mu = 1;
                dJointAttach(dJointCreateContact(scene->world, group, contact + k), dGeomGetBody(a), dGeomGetBody(b));
            }
        }
        dWorldQuickStep(scene->world, 0.01);
        dJointGroupEmpty(group);
    }
    for (int i = 0; i < CELLS; i++) PC_EXPECT_LT(fabs(dGeomGetPosition(cell[i])[0] - 0.5), 2);
    PC_EXPECT_STATUS(PC_OK, pcRestoreColliders());
    dJointGroupDestroy(group);
    geomsClose(scene);
}
