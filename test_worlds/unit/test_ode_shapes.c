/* Geoms and their shapes: other sizes, other geoms at the same address, offsets, transforms, threads, memory. */
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "adapters/ode/convex.h"
#include "adapters/ode/shapes.h"
#include "test_worlds/unit/counting.h"
#include "test_worlds/unit/ode_geoms.h"

static const double origin[3] = {0, 0, 0};

static pcShapeInfo infoOf(dGeomID geom)
{
    pcPose pose;
    pcShapeInfo info = {0};
    const pcShape* shape = pcOdeShapeOf(geom, &pose);
    PC_EXPECT_TRUE(shape != NULL);
    if (shape) pcShapeDescribe(shape, &info);
    return info;
}

/* ---- sizes ---- */

PC_TEST(OdeShapes, FollowEveryChangeOfSize)
{
    GeomScene* scene = geomsOpen(1);
    dGeomID box = geomsBox(scene, 1, 2, 3), sphere = geomsAdd(scene, dCreateSphere(0, 1), false);
    PC_EXPECT_NEAR(6, infoOf(box).volume, 1e-12);
    dGeomBoxSetLengths(box, 1, 2, 4);
    PC_EXPECT_NEAR(8, infoOf(box).volume, 1e-12);
    PC_EXPECT_NEAR(1, infoOf(sphere).outradius, 0);
    dGeomSphereSetRadius(sphere, 2);
    PC_EXPECT_NEAR(2, infoOf(sphere).outradius, 0);
    geomsClose(scene);
}

/* A box stands for an ellipsoid until it has other lengths, or the shape is taken back; what is refused changes nothing. */
PC_TEST(OdeShapes, CanBeGivenToAGeom)
{
    static const double semi[3] = {0.5, 0.5, 0.3}, ground[4] = {0, 0, 1, 0};
    GeomScene* scene = geomsOpen(3);
    dContactGeom contact[8];
    pcShape *egg = NULL, *half = NULL;
    dGeomID box = geomsBox(scene, 1, 1, 1), plane = geomsAdd(scene, dCreatePlane(0, 0, 0, 1, -0.29), true);
    PC_ASSERT_STATUS(PC_OK, pcShapeEllipsoid(semi, &egg));
    PC_ASSERT_STATUS(PC_OK, pcShapeHalfSpace(ground, &half));
    PC_EXPECT_STATUS(PC_OK, pcGeomSetShape(box, egg));
    pcShapeFree(egg);
    PC_EXPECT_EQ_INT(1, pcCollide(box, plane, 8, contact, sizeof *contact));
    PC_EXPECT_NEAR(0.01, contact[0].depth, 1e-14);
    PC_EXPECT_STATUS(PC_ERROR_UNSUPPORTED, pcGeomSetShape(plane, half));
    PC_EXPECT_STATUS(PC_ERROR_UNSUPPORTED, pcGeomSetShape(box, half));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcGeomSetShape(NULL, NULL));
    PC_EXPECT_EQ_INT(1, pcCollide(box, plane, 8, contact, sizeof *contact));
    PC_EXPECT_STATUS(PC_OK, pcGeomSetShape(box, NULL));
    PC_EXPECT_EQ_INT(4, pcCollide(box, plane, 8, contact, sizeof *contact));
    PC_ASSERT_STATUS(PC_OK, pcShapeEllipsoid(semi, &egg));
    PC_EXPECT_STATUS(PC_OK, pcGeomSetShape(box, egg));
    dGeomBoxSetLengths(box, 1, 1, 0.9);
    PC_EXPECT_EQ_INT(4, pcCollide(box, plane, 8, contact, sizeof *contact));
    pcShapeFree(egg), pcShapeFree(half);
    geomsClose(scene);
}

PC_TEST(OdeShapes, FollowAPlaneThatMoves)
{
    GeomScene* scene = geomsOpen(2);
    dContactGeom contact[8];
    dGeomID box = geomsBox(scene, 1, 1, 1), plane = geomsAdd(scene, dCreatePlane(0, 0, 0, 1, -0.49), true);
    PC_EXPECT_EQ_INT(4, pcCollide(box, plane, 8, contact, sizeof *contact));
    PC_EXPECT_NEAR(0.01, contact[0].depth, 1e-15);
    dGeomPlaneSetParams(plane, 1, 0, 0, -0.4);
    PC_EXPECT_EQ_INT(4, pcCollide(box, plane, 8, contact, sizeof *contact));
    PC_EXPECT_NEAR(0.1, contact[0].depth, 1e-15);
    PC_EXPECT_NEAR(1, contact[0].normal[0], 1e-15); /* into the box */
    geomsClose(scene);
}

/* By other arrays, and by other numbers in the same ones, which ODE itself would not notice either. */
PC_TEST(OdeShapes, FollowThePointsOfAConvex)
{
    GeomScene* scene = geomsOpen(3);
    pcShape *small = bruteBox(1, 1, 1), *large = bruteBox(2, 2, 2);
    dGeomID geom = geomsConvex(scene, small, origin);
    ConvexData other = convexData(large, origin);
    PC_EXPECT_NEAR(1, infoOf(geom).volume, 1e-12);
    dGeomSetConvex(geom, other.planes, other.planeCount, other.points, other.pointCount, other.polygons);
    PC_EXPECT_NEAR(8, infoOf(geom).volume, 1e-12);
    for (unsigned i = 0; i < 3 * other.pointCount; i++) other.points[i] *= 2;
    PC_EXPECT_NEAR(64, infoOf(geom).volume, 1e-10);
    pcOdePoints points;
    PC_EXPECT_TRUE(pcOdeConvexPoints(geom, &points));
    PC_EXPECT_TRUE(points.xyz == other.points && points.count == 8);
    geomsClose(scene);
    convexFree(&other);
    pcShapeFree(small);
    pcShapeFree(large);
}

/* Points in one plane, and classes that the metric does not know. */
PC_TEST(OdeShapes, AreNotMadeOfWhatHasNone)
{
    GeomScene* scene = geomsOpen(4);
    pcPose pose;
    dContactGeom contact[8];
    pcShape* box = bruteBox(1, 1, 1);
    dGeomID flat = geomsConvex(scene, box, origin), other = geomsBox(scene, 1, 1, 1);
    for (unsigned i = 0; i < scene->data[0].pointCount; i++) scene->data[0].points[3 * i + 2] = 0;
    PC_EXPECT_TRUE(pcOdeShapeOf(flat, &pose) == NULL);
    PC_EXPECT_GE(pcCollide(flat, other, 8, contact, sizeof *contact), 0); /* ODE's answer, whatever it is */
    PC_EXPECT_TRUE(pcOdeShapeOf(geomsAdd(scene, dCreateRay(0, 1), false), &pose) == NULL);
    PC_EXPECT_TRUE(pcOdeShapeOf(geomsAdd(scene, dCreateGeomTransform(0), false), &pose) == NULL);
    geomsClose(scene);
    pcShapeFree(box);
}

/* ---- geoms that come and go ---- */

/* Whether one of the last geoms had this address. */
static bool livedBefore(dGeomID geom, int i)
{
    static dGeomID last[16];
    bool found = false;
    for (int k = 0; k < 16; k++) found = found || last[k] == geom;
    last[i % 16] = geom;
    return found;
}

PC_TEST(OdeShapes, AreNotThoseOfTheGeomThatLivedThereBefore)
{
    GeomScene* scene = geomsOpen(5);
    int recycled = 0;
    for (int i = 0; i < 3000; i++) {
        PC_CASE("geom %d", i);
        dContactGeom contact[8];
        double size = 0.5 + bruteUniform(&scene->state);
        dGeomID geom = i % 3 == 0 ? dCreateSphere(0, size) : dCreateBox(0, size, size, size), plane = dCreatePlane(0, 0, 0, 1, 0);
        dGeomSetPosition(geom, 0, 0, (i % 3 == 0 ? size : 0.5 * size) - 0.01);
        recycled += livedBefore(geom, i);
        int count = pcCollide(geom, plane, 8, contact, sizeof *contact);
        PC_EXPECT_EQ_INT(i % 3 == 0 ? 1 : 4, count);
        for (int k = 0; k < count; k++) PC_EXPECT_NEAR(0.01, contact[k].depth, 1e-14);
        dGeomDestroy(geom);
        dGeomDestroy(plane);
        if (i % 2) pcOdeForgetGeom(geom); /* whether we are told or not */
    }
    PC_EXPECT_GT(recycled, COUNTS_ALLOCATIONS ? 500 : -1);
    geomsClose(scene);
}

PC_TEST(OdeShapes, CanBeForgottenAtAnyTime)
{
    GeomScene* scene = geomsOpen(6);
    dContactGeom first[8], again[8];
    dGeomID a = geomsRandom(scene, dConvexClass, false), b = geomsRandom(scene, dConvexClass, false);
    dGeomSetPosition(b, 0.3, 0.2, 0.1);
    int count = pcCollide(a, b, 8, first, sizeof *first);
    PC_EXPECT_GT(count, 0);
    for (int i = 0; i < 6; i++) {
        if (i % 3 == 0) pcOdeForgetGeom(a);
        if (i % 3 == 1) pcOdeForgetGeom(b), pcOdeForgetGeom(b);
        if (i % 3 == 2) pcOdeForgetAllGeoms();
        PC_ASSERT_EQ_INT(count, pcCollide(a, b, 8, again, sizeof *again));
        for (int k = 0; k < count; k++) PC_EXPECT_TRUE(sameContact(first + k, again + k));
    }
    geomsClose(scene);
}

/* ---- warm start ---- */

/* A pair as it tumbles, all contacts of all steps: once from what the step before left behind, once from nothing. */
PC_TEST(OdeShapes, AnswerTheSameBitsWarmAndCold)
{
    enum { PAIRS = 150, STEPS = 40 };
    GeomScene* scene = geomsOpen(7);
    int contacts = 0;
    for (int i = 0; i < PAIRS; i++) {
        dGeomID a = geomsRandom(scene, dConvexClass, false), b = geomsRandom(scene, i % 2 ? dConvexClass : dBoxClass, i % 3 == 0);
        double spin[3], at[3];
        geomsScatter(scene, a, 0.1);
        bruteDirection(&scene->state, 3, spin);
        bruteDirection(&scene->state, 3, at);
        for (int k = 0; k < STEPS; k++) {
            dContactGeom warm[32], cold[32];
            dMatrix3 R;
            PC_CASE("pair %d, step %d", i, k);
            dRFromAxisAndAngle(R, spin[0], spin[1], spin[2], 0.05 * k);
            dGeomSetRotation(b, R);
            dGeomSetPosition(b, (0.3 + 0.02 * k) * at[0], (0.3 + 0.02 * k) * at[1], (0.3 + 0.02 * k) * at[2]);
            int count = pcCollide(a, b, 32, warm, sizeof *warm);
            if (k % 4 == 0) pcOdeForgetGeom(a), pcOdeForgetGeom(b);
            if (k % 4 != 0) continue;
            PC_ASSERT_EQ_INT(count, pcCollide(a, b, 32, cold, sizeof *cold));
            for (int c = 0; c < count; c++, contacts++) PC_EXPECT_TRUE(sameContact(warm + c, cold + c));
        }
    }
    PC_EXPECT_GT(contacts, 1000);
    geomsClose(scene);
}

/* ---- offsets and transforms ---- */

static void expectSameContacts(dGeomID a, dGeomID b, dGeomID plain, dGeomID named)
{
    dContactGeom contact[16], expected[16];
    int count = pcCollide(a, b, 16, contact, sizeof *contact);
    PC_ASSERT_EQ_INT(pcCollide(plain, b, 16, expected, sizeof *expected), count);
    for (int i = 0; i < count; i++) {
        PC_EXPECT_TRUE(contact[i].g1 == named && contact[i].g2 == b);
        PC_EXPECT_NEAR(expected[i].depth, contact[i].depth, 1e-12);
        for (int k = 0; k < 3; k++) {
            PC_EXPECT_NEAR(expected[i].pos[k], contact[i].pos[k], 1e-11);
            PC_EXPECT_NEAR(expected[i].normal[k], contact[i].normal[k], 1e-11);
        }
    }
}

/* Where a place given in the axes of a body is in the world. */
static void placeLike(dGeomID geom, const dReal* position, const dMatrix3 turn, const double* offset, const dMatrix3 own)
{
    dVector3 at;
    dMatrix3 R;
    dVector3 local = {offset[0], offset[1], offset[2]};
    dMultiply0(at, turn, local, 3, 3, 1);
    dMultiply0(R, turn, own, 3, 3, 3);
    dGeomSetRotation(geom, R);
    dGeomSetPosition(geom, at[0] + position[0], at[1] + position[1], at[2] + position[2]);
}

static void randomTurn(GeomScene* scene, dMatrix3 R)
{
    double q[4];
    bruteDirection(&scene->state, 4, q);
    dRfromQ(R, q);
}

PC_TEST(OdeShapes, AreWhereOffsetsAndTransformsPutThem)
{
    GeomScene* scene = geomsOpen(8);
    for (int i = 0; i < 400; i++) {
        PC_CASE("case %d", i);
        double size[3] = {1, 0.8, 0.6}, offset[3];
        dMatrix3 turn, own;
        bruteDirection(&scene->state, 3, offset);
        randomTurn(scene, turn);
        randomTurn(scene, own);
        dGeomID plain = geomsBox(scene, size[0], size[1], size[2]), moved = geomsBox(scene, size[0], size[1], size[2]);
        dGeomID other = geomsRandom(scene, i % 2 ? dBoxClass : dConvexClass, i % 3 == 0);
        dGeomID transform = geomsAdd(scene, dCreateGeomTransform(0), false), inner = dCreateBox(0, size[0], size[1], size[2]);
        dVector3 position = {0.4, -0.2, 0.1};
        dGeomSetRotation(inner, own);
        dGeomSetPosition(inner, offset[0], offset[1], offset[2]);
        dGeomTransformSetCleanup(transform, 1);
        dGeomTransformSetGeom(transform, inner);
        dGeomTransformSetInfo(transform, i % 2);
        placeLike(plain, position, turn, offset, own);
        dBodySetRotation(dGeomGetBody(moved), turn);
        dBodySetPosition(dGeomGetBody(moved), position[0], position[1], position[2]);
        dGeomSetOffsetPosition(moved, offset[0], offset[1], offset[2]);
        dGeomSetOffsetRotation(moved, own);
        dGeomSetRotation(transform, turn);
        dGeomSetPosition(transform, position[0], position[1], position[2]);
        geomsScatter(scene, other, 1);
        expectSameContacts(moved, other, plain, moved);
        expectSameContacts(transform, other, plain, i % 2 ? transform : inner);
        if (scene->geoms > 4000) geomsClose(scene), scene = geomsOpen(9 + (unsigned)i);
    }
    geomsClose(scene);
}

/* ---- threads ---- */

enum { THREAD_PAIRS = 60, THREAD_STEPS = 50 };

typedef struct Worker {
    dGeomID a[THREAD_PAIRS], b[THREAD_PAIRS], floor;
    dContactGeom contact[THREAD_STEPS][THREAD_PAIRS][2][4];
    int count[THREAD_STEPS][THREAD_PAIRS][2];
} Worker;

static void* work(void* context)
{
    Worker* w = context;
    for (int k = 0; k < THREAD_STEPS; k++)
        for (int i = 0; i < THREAD_PAIRS; i++) {
            dGeomSetPosition(w->b[i], 0.4 + 0.01 * k, 0.2, 0.3);
            w->count[k][i][0] = pcCollide(w->a[i], w->b[i], 4, w->contact[k][i][0], sizeof(dContactGeom));
            w->count[k][i][1] = pcCollide(w->b[i], w->floor, 4, w->contact[k][i][1], sizeof(dContactGeom));
        }
    return NULL;
}

static void expectSameWork(const Worker* a, const Worker* b)
{
    for (int k = 0; k < THREAD_STEPS; k++)
        for (int i = 0; i < 2 * THREAD_PAIRS; i++) {
            PC_ASSERT_EQ_INT(a->count[k][i / 2][i % 2], b->count[k][i / 2][i % 2]);
            for (int c = 0; c < a->count[k][i / 2][i % 2]; c++)
                PC_EXPECT_TRUE(sameContact(&a->contact[k][i / 2][i % 2][c], &b->contact[k][i / 2][i % 2][c]));
        }
}

PC_TEST(OdeShapes, ServeTwoThreadsTheSameBits)
{
    GeomScene* scene = geomsOpen(10);
    Worker* worker[4];
    dGeomID floor = geomsAdd(scene, dCreatePlane(0, 0, 0, 1, 0.1), true);
    for (int t = 0; t < 2; t++) {
        worker[t] = calloc(1, sizeof *worker[t]);
        worker[t]->floor = floor;
        for (int i = 0; i < THREAD_PAIRS; i++) {
            worker[t]->a[i] = geomsRandom(scene, i % 2 ? dBoxClass : dConvexClass, false);
            worker[t]->b[i] = geomsRandom(scene, i % 3 ? dConvexClass : dBoxClass, false);
        }
    }
    pthread_t thread[2];
    for (int t = 0; t < 2; t++) PC_ASSERT_EQ_INT(0, pthread_create(thread + t, NULL, work, worker[t]));
    for (int t = 0; t < 2; t++) pthread_join(thread[t], NULL);
    for (int t = 0; t < 2; t++) {
        Worker* alone = calloc(1, sizeof *alone);
        *alone = *worker[t];
        memset(alone->contact, 0, sizeof alone->contact);
        work(alone);
        expectSameWork(worker[t], alone);
        free(alone);
        free(worker[t]);
    }
    geomsClose(scene);
}

/* ---- memory ---- */

PC_TEST(OdeShapes, AllocateNothingOnceTheyAreKnown)
{
#if COUNTS_ALLOCATIONS
    GeomScene* scene = geomsOpen(11);
    dGeomID geom[20];
    dContactGeom contact[32];
    for (int i = 0; i < 20; i++) geom[i] = geomsRandom(scene, i % 2 ? dBoxClass : dConvexClass, false), geomsScatter(scene, geom[i], 1);
    for (int round = 0; round < 3; round++) {
        if (round == 1) pcCountingStart();
        for (int i = 0; i < 20; i++)
            for (int j = 0; j < 20; j++) pcCollide(geom[i], geom[j], 32, contact, sizeof *contact);
    }
    PC_EXPECT_EQ_INT(0, pcCountingStop());
    geomsClose(scene);
#else
    PC_SKIP("a sanitizer stands before the C library");
#endif
}

/* A million queries of geoms that never come again and whose end nobody tells us. */
PC_TEST(OdeShapes, DoNotPileUp)
{
    GeomScene* scene = geomsOpen(12);
    dGeomID floor = geomsAdd(scene, dCreatePlane(0, 0, 0, 1, 0), true);
    dContactGeom contact[4];
    const int geoms = COUNTS_ALLOCATIONS ? 100000 : 5000;
    long contacts = 0;
    size_t before = 0;
    for (int i = 0; i < geoms; i++) {
        dGeomID box = dCreateBox(0, 1 + 1e-6 * i, 1, 1);
        dGeomSetPosition(box, 0, 0, 0.499);
        for (int k = 0; k < 10; k++) contacts += pcCollide(box, floor, 4, contact, sizeof *contact);
        dGeomDestroy(box);
        if (i == geoms / 10) before = mallinfo2().uordblks;
    }
    PC_EXPECT_EQ_INT(40L * geoms, contacts);
    if (COUNTS_ALLOCATIONS) PC_EXPECT_LE((double)mallinfo2().uordblks, (double)before + 1e5);
    geomsClose(scene);
}

/* All at addresses of their own, so that only time tells which are no longer asked for. */
PC_TEST(OdeShapes, MakeRoomForOthersWhenNobodyAsks)
{
#if COUNTS_ALLOCATIONS
    enum { GEOMS = 60000 };
    dGeomID* geom = malloc(GEOMS * sizeof *geom);
    pcPose pose;
    dInitODE2(0);
    pcOdeForgetAllGeoms();
    for (int i = 0; i < GEOMS; i++) geom[i] = dCreateBox(0, 1, 1, 1);
    size_t before = mallinfo2().uordblks;
    for (int patience = 0; patience <= 60; patience += 60) {
        pcOdeSetShapePatience(patience);
        for (int i = 0; i < GEOMS; i++) PC_EXPECT_TRUE(pcOdeShapeOf(geom[i], &pose) != NULL);
        double kept = (double)(mallinfo2().uordblks - before) / 2300; /* bytes of a box's shape and what surrounds it */
        if (patience == 0) PC_EXPECT_LT(kept, 0.75 * GEOMS);
        if (patience == 60) PC_EXPECT_GT(kept, 0.95 * GEOMS);
    }
    for (int i = 0; i < GEOMS; i++) dGeomDestroy(geom[i]);
    pcOdeForgetAllGeoms();
    free(geom);
    dCloseODE();
#else
    PC_SKIP("a sanitizer stands before the C library");
#endif
}
