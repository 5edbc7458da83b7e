#include "adapters/ode/rows.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "adapters/ode/native.h"
#include "base/status.h"

/* ---- ODE's functions ---- */

/* Its Info1: two numbers of one byte, then room for a build where they should be wider: the self-check would notice. */
typedef struct Info1 {
    unsigned char rows, unbounded, rest[14];
} Info1;
typedef void GetInfo1(dJointID joint, Info1* info);
typedef void GetInfo2(dJointID joint, double fps, double erp, int rowskip, double* J1, double* J2, int pairskip, double* rhsCfm,
                      double* loHi, int* findex);

/* The ERP of a joint's own that stabilizes its equalities, where it has one. */
typedef struct OwnErp {
    double (*get)(dJointID, int);
    void (*set)(dJointID, int, dReal);
} OwnErp;

typedef struct Class {
    dJointType type;
    const char* name;
    OwnErp erp;
    GetInfo1* getInfo1;
    GetInfo2* getInfo2;
} Class;

static Class classes[] = {
    {.type = dJointTypeBall, .name = "dxJointBall", .erp = {dJointGetBallParam, dJointSetBallParam}},
    {.type = dJointTypeHinge, .name = "dxJointHinge"},
    {.type = dJointTypeSlider, .name = "dxJointSlider"},
    {.type = dJointTypeContact, .name = "dxJointContact"},
    {.type = dJointTypeUniversal, .name = "dxJointUniversal"},
    {.type = dJointTypeHinge2, .name = "dxJointHinge2"},
    {.type = dJointTypeFixed, .name = "dxJointFixed", .erp = {dJointGetFixedParam, dJointSetFixedParam}},
    {.type = dJointTypeNull, .name = "dxJointNull"},
    {.type = dJointTypeAMotor, .name = "dxJointAMotor"},
    {.type = dJointTypeLMotor, .name = "dxJointLMotor"},
    {.type = dJointTypePlane2D, .name = "dxJointPlane2D"},
    {.type = dJointTypePR, .name = "dxJointPR"},
    {.type = dJointTypePU, .name = "dxJointPU"},
    {.type = dJointTypePiston, .name = "dxJointPiston"},
    {.type = dJointTypeDBall, .name = "dxJointDBall", .erp = {dJointGetDBallParam, dJointSetDBallParam}},
    {.type = dJointTypeDHinge, .name = "dxJointDHinge", .erp = {dJointGetDHingeParam, dJointSetDHingeParam}},
    {.type = dJointTypeTransmission, .name = "dxJointTransmission", .erp = {dJointGetTransmissionParam, dJointSetTransmissionParam}},
};
enum { CLASSES = sizeof classes / sizeof *classes };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char* missing;
static Class* byType[32];

static bool findClass(Class* class)
{
    char name[128];
    snprintf(name, sizeof name, "_ZN%zu%s8getInfo1EPN7dxJoint5Info1E", strlen(class->name), class->name);
    if (!pcNativeSymbol(name, &class->getInfo1)) return false;
    snprintf(name, sizeof name, "_ZN%zu%s8getInfo2EddiPdS0_iS0_S0_Pi", strlen(class->name), class->name);
    if (!pcNativeSymbol(name, &class->getInfo2)) return false;
    byType[class->type] = class;
    return true;
}

/* A ball joint has three rows, all unbounded: so the counts are read as they are written. */
static bool countsAreBytes(void)
{
    dWorldID world = dWorldCreate();
    dJointID ball = dJointCreateBall(world, NULL);
    dJointAttach(ball, dBodyCreate(world), NULL);
    Info1 info;
    memset(&info, 0xee, sizeof info);
    byType[dJointTypeBall]->getInfo1(ball, &info);
    pcNativeOde()->worldDestroy(world);
    return info.rows == 3 && info.unbounded == 3 && info.rest[0] == 0xee;
}

static void find(void)
{
    if (!pcNativeOde()) missing = "ODE";
    for (int i = 0; i < CLASSES && !missing; i++)
        if (!findClass(classes + i)) missing = classes[i].name;
    if (!missing && !countsAreBytes()) missing = "the number of rows of a joint";
}

pcStatus pcOdeRowsReady(void)
{
    pthread_once(&once, find);
    if (!missing) return PC_OK;
    return pcFail(PC_ERROR_UNSUPPORTED, "this build of ODE is not one we understand: the rows of %s were not found; the world stays native",
                  missing);
}

int pcOdeJointTurned(dJointID joint) { return !dJointGetBody(joint, 0) && dJointGetBody(joint, 1); }

/* ---- rows ---- */

/* One row as ODE wants it: its six numbers, then the pair (rhs, cfm), then the other six and the pair (lo, hi). */
typedef struct Block {
    double J1[6], rhs, cfm, J2[6], lo, hi;
} Block;
enum { SKIP = sizeof(Block) / sizeof(double) };

/* With an ERP of zero the position error would not be seen: it is asked for with 1, and taken out again. */
typedef struct Erp {
    double asked, part; /* part: what of the answer counts */
} Erp;

static Erp erpFor(double erp) { return erp > 0.0 ? (Erp){erp, 1.0} : (Erp){1.0, 0.0}; }

static void ask(const Class* class, dJointID joint, const pcRowQuery* q, const Erp* world, const Erp* own, Block* block, int* findex)
{
    double kept = 0.0;
    const OwnErp* erp = &class->erp;
    if (erp->get) kept = erp->get(joint, dParamERP), erp->set(joint, dParamERP, own->asked);
    class->getInfo2(joint, 1.0 / q->h, world->asked, SKIP, block->J1, block->J2, SKIP, &block->rhs, &block->lo, findex);
    if (erp->get) erp->set(joint, dParamERP, kept);
}

/* The first three rows of a fixed joint, and all of the other classes that have one, follow the joint's own ERP; the first of a hinge-2 is
 * its suspension, which is a spring. */
static const Erp* erpOfRow(const Class* class, int row, const Erp* world, const Erp* own)
{
    if (!class->erp.get || (class->type == dJointTypeFixed && row >= 3)) return world;
    return own;
}

/* Only what ODE calls unbounded is the joint itself: a motor of infinite force has no bounds either, but its right-hand side is a velocity
 * that is wanted, not an error. */
static void write(const Block* block, const pcRowQuery* q, bool itself, const Erp* erp, pcRow* out)
{
    *out = (pcRow){.softness = block->cfm / q->h, .lo = block->lo * q->h, .hi = block->hi * q->h, .target = block->rhs};
    memcpy(out->jacobian, block->J1, sizeof block->J1);
    memcpy(out->jacobian + 6, block->J2, sizeof block->J2);
    bool equality = block->lo == -dInfinity && block->hi == dInfinity;
    if (!equality || !itself) return;
    out->error = block->rhs * q->h / erp->asked;
    out->target = block->rhs * erp->part;
}

int pcOdeJointRows(dJointID joint, const pcRowQuery* q, pcRow rows[PC_JOINT_ROWS], int* untranslated)
{
    const Class* class = byType[dJointGetType(joint)];
    Info1 info = {0};
    Block block[PC_JOINT_ROWS];
    int findex[PC_JOINT_ROWS];
    class->getInfo1(joint, &info);
    if (info.rows == 0 || info.rows > PC_JOINT_ROWS) return 0;
    for (int i = 0; i < info.rows; i++) block[i] = (Block){.cfm = q->cfm, .lo = -dInfinity, .hi = dInfinity}, findex[i] = -1;
    bool set = !isnan(q->gamma);
    Erp world = erpFor(set ? q->gamma : q->erp), own = world;
    if (class->erp.get && !set) own = erpFor(class->erp.get(joint, dParamERP));
    ask(class, joint, q, &world, &own, block, findex);
    for (int i = 0; i < info.rows; i++) {
        write(block + i, q, i < info.unbounded, erpOfRow(class, i, &world, &own), rows + i);
        *untranslated += findex[i] >= 0;
    }
    return info.rows;
}
