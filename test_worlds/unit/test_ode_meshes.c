/* ODE's triangle meshes and height fields by the metric: behind dCollide, and in attached worlds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "adapters/ode/meshes.h"
#include "pcontact/pcontact.h"

/* ---- floors ---- */

enum { SIDE = 100, POINTS = (SIDE + 1) * (SIDE + 1), TRIANGLES = 2 * SIDE * SIDE };
static const double WIDE = 20;

typedef struct Floor {
    dTriMeshDataID mesh;
    dHeightfieldDataID field;
    dGeomID geom;
    double* xyz;
    dTriIndex* index;
    double* height;
} Floor;

static double hills(double x, double y) { return 0.15 * sin(1.7 * x) * cos(1.3 * y); }

static void makeTriangles(Floor* f, bool flat)
{
    f->xyz = malloc(3 * POINTS * sizeof *f->xyz), f->index = malloc(3 * TRIANGLES * sizeof *f->index);
    for (int i = 0; i < POINTS; i++) {
        double x = WIDE * (i % (SIDE + 1) / (double)SIDE - 0.5), y = WIDE * (i / (SIDE + 1) / (double)SIDE - 0.5);
        f->xyz[3 * i] = x, f->xyz[3 * i + 1] = y, f->xyz[3 * i + 2] = flat ? 0 : hills(x, y);
    }
    for (int i = 0; i < TRIANGLES; i++) {
        unsigned a = (unsigned)(i / 2 % SIDE + i / 2 / SIDE * (SIDE + 1)), b = a + 1, c = a + SIDE + 1, d = c + 1;
        unsigned even[3] = {a, b, d}, odd[3] = {a, d, c};
        for (int k = 0; k < 3; k++) f->index[3 * i + k] = (dTriIndex)(i % 2 ? odd[k] : even[k]);
    }
}

static Floor makeMesh(dSpaceID space, bool flat)
{
    Floor f = {0};
    makeTriangles(&f, flat);
    f.mesh = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildDouble(f.mesh, f.xyz, 3 * sizeof *f.xyz, POINTS, f.index, 3 * TRIANGLES, 3 * sizeof *f.index);
    f.geom = dCreateTriMesh(space, f.mesh, NULL, NULL, NULL);
    return f;
}

/* Its heights stand along y: turned upright. */
static Floor makeField(dSpaceID space, bool flat)
{
    Floor f = {.height = malloc(POINTS * sizeof(double)), .field = dGeomHeightfieldDataCreate()};
    for (int i = 0; i < POINTS; i++) {
        double x = WIDE * (i % (SIDE + 1) / (double)SIDE - 0.5), z = WIDE * (i / (SIDE + 1) / (double)SIDE - 0.5);
        f.height[i] = flat ? 0 : hills(x, -z);
    }
    dGeomHeightfieldDataBuildDouble(f.field, f.height, 0, WIDE, WIDE, SIDE + 1, SIDE + 1, 1, 0, 1, 0);
    dGeomHeightfieldDataSetBounds(f.field, -1, 1);
    f.geom = dCreateHeightfield(space, f.field, 1);
    dMatrix3 R = {1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0};
    dGeomSetRotation(f.geom, R);
    return f;
}

static void freeFloor(Floor* f)
{
    dGeomDestroy(f->geom);
    if (f->mesh) dGeomTriMeshDataDestroy(f->mesh);
    if (f->field) dGeomHeightfieldDataDestroy(f->field);
    free(f->xyz), free(f->index), free(f->height);
}

typedef enum Ground { PLANE, MESH, FIELD } Ground;
static const char* const groundNames[] = {"plane", "mesh", "height field"};

static Floor makeGround(dSpaceID space, Ground ground, bool flat)
{
    if (ground == MESH) return makeMesh(space, flat);
    if (ground == FIELD) return makeField(space, flat);
    return (Floor){.geom = dCreatePlane(space, 0, 0, 1, 0)};
}

/* ---- worlds ---- */

enum { KINDS = 5 };
static const char* const kindNames[KINDS] = {"box", "sphere", "capsule", "cylinder", "convex"};
static const double REACH = 0.2; /* of each, down from its centre */

static dGeomID makeGeom(dSpaceID space, int kind)
{
    static const dReal planes[] = {1, 0, 0, 0.35, -1, 0, 0, 0.35, 0, 1, 0, 0.25, 0, -1, 0, 0.25, 0, 0, 1, 0.2, 0, 0, -1, 0.2};
    static const dReal points[] = {-.35, -.25, -.2, .35, -.25, -.2, -.35, .25, -.2, .35, .25, -.2,
                                   -.35, -.25, .2,  .35, -.25, .2,  -.35, .25, .2,  .35, .25, .2};
    static const unsigned faces[] = {4, 1, 3, 7, 5, 4, 0, 4, 6, 2, 4, 2, 6, 7, 3, 4, 0, 1, 5, 4, 4, 4, 5, 7, 6, 4, 0, 2, 3, 1};
    switch (kind) {
    case 0: return dCreateBox(space, 0.7, 0.5, 0.4);
    case 1: return dCreateSphere(space, 0.2);
    case 2: return dCreateCapsule(space, 0.2, 0.5);
    case 3: return dCreateCylinder(space, 0.3, 0.4);
    default: return dCreateConvex(space, planes, 6, points, 8, faces);
    }
}

typedef struct World {
    dWorldID world;
    dSpaceID space;
    dBodyID body;
    dGeomID geom;
    Floor floor;
} World;

static World makeWorld(Ground ground, bool flat, int kind, double z)
{
    World w = {.world = dWorldCreate(), .space = dHashSpaceCreate(NULL)};
    dMass mass;
    dWorldSetGravity(w.world, 0, 0, -9.81);
    w.floor = makeGround(w.space, ground, flat);
    w.body = dBodyCreate(w.world), w.geom = makeGeom(w.space, kind);
    dGeomSetBody(w.geom, w.body);
    dMassSetBoxTotal(&mass, 1, 0.7, 0.5, 0.4);
    dBodySetMass(w.body, &mass);
    dBodySetPosition(w.body, -4.1, 0.13, z);
    dMatrix3 lying = {1, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0, 0};
    if (kind == 2) dBodySetRotation(w.body, lying); /* the capsule along y */
    return w;
}

static void freeWorld(World* w)
{
    dGeomDestroy(w->geom);
    freeFloor(&w->floor);
    dSpaceDestroy(w->space);
    dWorldDestroy(w->world);
}

static dJointGroupID group;
static void nearCallback(void* data, dGeomID a, dGeomID b)
{
    World* w = data;
    dContact contact[16];
    int count = dCollide(a, b, 16, &contact[0].geom, sizeof *contact);
    for (int i = 0; i < count; i++) {
        contact[i].surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = 0.02};
        dJointAttach(dJointCreateContact(w->world, group, contact + i), dGeomGetBody(contact[i].geom.g1), dGeomGetBody(contact[i].geom.g2));
    }
}

/* ---- sliding ---- */

enum { STEPS = 450 };
typedef struct Way {
    double at[STEPS][3];
    int native;
} Way;

/* Our step finds the contacts itself; or near callbacks and joints, whose contacts overridden colliders give. */
static void slide(Ground ground, int kind, bool attached, Way* way)
{
    double sunk = attached ? 0 : 1e-4; /* what only touches a mesh is no pair of a space: its box is as flat as the floor */
    World w = makeWorld(ground, true, kind, REACH - sunk);
    dWorldSetContactSurfaceLayer(w.world, sunk);
    dBodySetLinearVel(w.body, 3, 0.4, 0);
    pcSettings settings = pcDefaultSettings();
    settings.mu = 0.02;
    PC_EXPECT_STATUS(PC_OK, pcWorldAttach(w.world, attached ? w.space : NULL, &settings));
    group = dJointGroupCreate(0);
    for (int i = 0; i < STEPS; i++) {
        if (!attached) dSpaceCollide(w.space, &w, nearCallback);
        pcWorldStep(w.world, 0.01);
        if (!attached) dJointGroupEmpty(group);
        memcpy(way->at[i], dBodyGetPosition(w.body), sizeof way->at[i]);
    }
    pcWorldReportExtra report;
    PC_EXPECT_STATUS(PC_OK, pcWorldReportMore(w.world, &report));
    way->native = report.nativeSteps;
    dJointGroupDestroy(group);
    PC_EXPECT_STATUS(PC_OK, pcWorldDetach(w.world));
    freeWorld(&w);
}

static double apart(const Way* a, const Way* b)
{
    double most = 0;
    for (int i = 0; i < STEPS; i++)
        for (int k = 0; k < 3; k++) most = fmax(most, fabs(a->at[i][k] - b->at[i][k]));
    return most;
}

PC_TEST(OdeMeshes, BodiesSlideOverTwentyThousandTrianglesAsOverAPlane)
{
    static Way plane, other;
    dInitODE2(0);
    for (int kind = 0; kind < KINDS; kind++) {
        slide(PLANE, kind, true, &plane);
        PC_EXPECT_GT(plane.at[STEPS - 1][0] - plane.at[0][0], 10);
        for (Ground ground = MESH; ground <= FIELD; ground++) {
            PC_CASE("%s on a %s", kindNames[kind], groundNames[ground]);
            slide(ground, kind, true, &other);
            PC_EXPECT_LT(apart(&plane, &other), 1e-6);
            PC_EXPECT_EQ_INT(0, other.native);
        }
    }
    dCloseODE();
}

/* The program makes its contact joints from dCollide. */
PC_TEST(OdeMeshes, OverriddenCollidersSlideOverThemToo)
{
    static Way plane, other;
    dInitODE2(0);
    PC_ASSERT_STATUS(PC_OK, pcOverrideColliders());
    for (int kind = 0; kind < KINDS; kind++) {
        slide(PLANE, kind, false, &plane);
        PC_EXPECT_GT(plane.at[STEPS - 1][0] - plane.at[0][0], 10);
        for (Ground ground = MESH; ground <= FIELD; ground++) {
            PC_CASE("%s on a %s", kindNames[kind], groundNames[ground]);
            slide(ground, kind, false, &other);
            PC_EXPECT_LT(apart(&plane, &other), 1e-6);
        }
    }
    PC_EXPECT_STATUS(PC_OK, pcRestoreColliders());
    dCloseODE();
}

/* Over hills: no deeper than on the way down, and never through. */
PC_TEST(OdeMeshes, HillsHoldWhatFallsOnThem)
{
    dInitODE2(0);
    for (Ground ground = MESH; ground <= FIELD; ground++)
        for (int kind = 0; kind < KINDS; kind++) {
            PC_CASE("%s on a %s", kindNames[kind], groundNames[ground]);
            World w = makeWorld(ground, false, kind, 1);
            PC_ASSERT_STATUS(PC_OK, pcWorldAttach(w.world, w.space, NULL));
            double deepest = 0;
            for (int i = 0; i < 150; i++) {
                pcStepReport report;
                pcWorldStep(w.world, 0.01);
                PC_ASSERT_STATUS(PC_OK, pcWorldReport(w.world, &report));
                deepest = fmax(deepest, report.penetration);
            }
            const dReal* p = dBodyGetPosition(w.body);
            PC_EXPECT_LT(deepest, 0.005);
            PC_EXPECT_GT(p[2] - hills(p[0], p[1]), 0.15);
            PC_EXPECT_STATUS(PC_OK, pcWorldDetach(w.world));
            freeWorld(&w);
        }
    dCloseODE();
}

/* Where ODE's answer is right, that of a ball on one triangle, ours is the same: point, normal, depth and triangle. */
PC_TEST(OdeMeshes, ABallTouchesTheTriangleThatOdeNames)
{
    dInitODE2(0);
    Floor f = makeMesh(NULL, false);
    dGeomID ball = dCreateSphere(NULL, 0.05);
    int compared = 0;
    for (int i = 0; i < 400; i++) {
        dContactGeom ours[8], native[8];
        double x = -8 + 0.039 * i, y = 3.3 - 0.017 * i;
        dGeomSetPosition(ball, x, y, hills(x, y) + 0.045);
        int count = pcCollide(ball, f.geom, 8, ours, sizeof *ours), theirs = dCollide(ball, f.geom, 8, native, sizeof *native);
        if (theirs != 1 || native->normal[2] < 0.9) continue;
        PC_CASE("place %d", i);
        PC_ASSERT_GE(count, 1);
        int at = 0;
        for (int k = 1; k < count; k++)
            if (ours[k].depth > ours[at].depth) at = k;
        if (fabs(ours[at].depth - native->depth) > 1e-9) continue; /* they have taken the neighbour */
        compared++;
        PC_EXPECT_EQ_INT(native->side2, ours[at].side2);
        for (int k = 0; k < 3; k++) PC_EXPECT_NEAR(native->normal[k], ours[at].normal[k], 1e-9);
    }
    PC_EXPECT_GT(compared, 120);
    dGeomDestroy(ball);
    freeFloor(&f);
    dCloseODE();
}

/* Data that are built anew at the same address, or another mesh there, are another shape. */
PC_TEST(OdeMeshes, ChangedDataAreNoticed)
{
    dInitODE2(0);
    Floor f = makeMesh(NULL, true);
    dGeomID ball = dCreateSphere(NULL, 0.5);
    dContactGeom contact[4];
    dGeomSetPosition(ball, 0.3, 0.1, 1.45);
    PC_EXPECT_EQ_INT(0, pcCollide(ball, f.geom, 4, contact, sizeof *contact));
    for (int i = 0; i < POINTS; i++) f.xyz[3 * i + 2] = 1;
    dGeomTriMeshDataBuildDouble(f.mesh, f.xyz, 3 * sizeof *f.xyz, POINTS, f.index, 3 * TRIANGLES, 3 * sizeof *f.index);
    dGeomTriMeshSetData(f.geom, f.mesh);
    PC_EXPECT_EQ_INT(1, pcCollide(ball, f.geom, 4, contact, sizeof *contact));
    PC_EXPECT_NEAR(0.05, contact->depth, 1e-12);
    dGeomDestroy(ball);
    freeFloor(&f);
    dCloseODE();
}

static int allTriangles(dGeomID mesh, dGeomID other, int triangle) { return (void)mesh, (void)other, (void)triangle, 1; }

/* What must stay with ODE stays with ODE. */
PC_TEST(OdeMeshes, CallbacksAndEndlessFieldsStayNative)
{
    static const double heights[4] = {0, 0, 0, 0};
    dInitODE2(0);
    Floor f = makeMesh(NULL, true);
    PC_EXPECT_TRUE(pcOdeMeshOf(f.geom) != NULL);
    dGeomTriMeshSetCallback(f.geom, allTriangles);
    PC_EXPECT_TRUE(pcOdeMeshOf(f.geom) == NULL);
    freeFloor(&f);
    for (int wraps = 0; wraps < 2; wraps++) {
        dHeightfieldDataID data = dGeomHeightfieldDataCreate();
        dGeomHeightfieldDataBuildDouble(data, heights, 0, 4, 4, 2, 2, 1, 0, 1, wraps);
        dGeomID field = dCreateHeightfield(NULL, data, 0); /* it cannot be placed */
        PC_EXPECT_TRUE((pcOdeMeshOf(field) == NULL) == (wraps == 1));
        PC_EXPECT_FALSE(pcOdeHasPose(field));
        dGeomID ball = dCreateSphere(NULL, 0.5);
        dContactGeom contact[4];
        dGeomSetPosition(ball, 0.3, 0.45, 0.2);
        PC_EXPECT_EQ_INT(1, pcCollide(ball, field, 4, contact, sizeof *contact));
        PC_EXPECT_NEAR(0.05, contact->depth, 1e-9);
        PC_EXPECT_NEAR(1, contact->normal[1], 1e-9);
        dGeomDestroy(ball);
        dGeomDestroy(field);
        dGeomHeightfieldDataDestroy(data);
    }
    dCloseODE();
}

/* A mesh on a body: it falls on a plane and on a box, the one by ODE's contacts, the other by ours. */
PC_TEST(OdeMeshes, MeshesThatMoveComeToRest)
{
    static const double cube[] = {-.2, -.2, -.2, .2, -.2, -.2, -.2, .2, -.2, .2, .2, -.2,
                                  -.2, -.2, .2,  .2, -.2, .2,  -.2, .2, .2,  .2, .2, .2};
    static const dTriIndex index[] = {1, 3, 7, 1, 7, 5, 0, 4, 6, 0, 6, 2, 2, 6, 7, 2, 7, 3,
                                      0, 1, 5, 0, 5, 4, 4, 5, 7, 4, 7, 6, 0, 2, 3, 0, 3, 1};
    dInitODE2(0);
    for (int onBox = 0; onBox < 2; onBox++) {
        PC_CASE("on a box: %d", onBox);
        dWorldID world = dWorldCreate();
        dSpaceID space = dHashSpaceCreate(NULL);
        dTriMeshDataID data = dGeomTriMeshDataCreate();
        dMass mass;
        dWorldSetGravity(world, 0, 0, -9.81);
        if (onBox)
            dGeomSetPosition(dCreateBox(space, 2, 2, 1), 0, 0, -0.5);
        else
            dCreatePlane(space, 0, 0, 1, 0);
        dGeomTriMeshDataBuildDouble(data, cube, 3 * sizeof *cube, 8, index, 36, 3 * sizeof *index);
        dBodyID body = dBodyCreate(world);
        dMassSetBoxTotal(&mass, 1, 0.4, 0.4, 0.4);
        dBodySetMass(body, &mass);
        dGeomSetBody(dCreateTriMesh(space, data, NULL, NULL, NULL), body);
        dBodySetPosition(body, 0.1, 0.05, 0.4);
        PC_ASSERT_STATUS(PC_OK, pcWorldAttach(world, space, NULL));
        for (int i = 0; i < 100; i++) pcWorldStep(world, 0.01);
        PC_EXPECT_NEAR(0.2, dBodyGetPosition(body)[2], 1e-3);
        PC_EXPECT_NEAR(0.1, dBodyGetPosition(body)[0], 1e-3);
        PC_EXPECT_STATUS(PC_OK, pcWorldDetach(world));
        dSpaceDestroy(space);
        dWorldDestroy(world);
        dGeomTriMeshDataDestroy(data);
    }
    dCloseODE();
}
