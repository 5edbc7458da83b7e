/*
 * Joints of a scene as joints of ODE. The child is ODE's first body: then ODE's angles and positions grow as SDF's do. A child that is the
 * world changes places with the parent, and the axes turn round.
 *
 *     fixed Fixed   revolute Hinge   prismatic Slider   ball Ball   universal Universal   screw Piston and a coupling   gearbox a coupling
 *     revolute2 Hinge2 where both links move, the axes are not parallel and the second has no limits (its first body is the parent, so the
 *               axes turn round as well), else Universal
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/sdf/inner.h"
#include "base/status.h"
#include "base/vec.h"

typedef void SetParameter(dJointID, int, dReal);

/* A joint while it is made. */
typedef struct Making {
    pcStage* stage;
    const pcSceneJoint* source;
    dBodyID body1, body2; /* child and parent, unless the child is the world */
    double axis[2][3];
    dJointID joint;
    SetParameter* set;
    int group[2]; /* of ODE's parameters, for each axis */
} Making;

static pcStatus outOfMemory(void) { return pcFail(PC_ERROR_MEMORY, "out of memory for the joints of a world"); }

/* ---- parameters ---- */

static void setSaid(Making* m, int parameter, double value)
{
    if (!isnan(value)) m->set(m->joint, parameter, value);
}

static void setSoft(Making* m, int parameter, double cfm)
{
    if (!isnan(cfm)) m->set(m->joint, parameter, larger(cfm, m->stage->inner->leastCfm));
}

static void setAxisParameters(Making* m, int i)
{
    const pcSceneAxis* axis = m->source->axis + i;
    const pcSceneJoint* s = m->source;
    int g = m->group[i];
    double scale = s->kind == PC_SCENE_SCREW ? s->pitch : 1.0; /* the limits of a screw stop its way along the axis */
    double lower = scale > 0.0 ? scale * axis->lower : scale * axis->upper, upper = scale > 0.0 ? scale * axis->upper : scale * axis->lower;
    int stops = s->kind == PC_SCENE_SCREW ? 0 : g;
    if (lower > -HUGE_VAL) m->set(m->joint, dParamLoStop + stops, lower);
    if (upper < HUGE_VAL) m->set(m->joint, dParamHiStop + stops, upper);
    if (lower > -HUGE_VAL) m->set(m->joint, dParamLoStop + stops, lower); /* again: a stop beyond the other was not taken */
    setSoft(m, dParamStopCFM + stops, s->stopCfm);
    setSaid(m, dParamStopERP + stops, s->stopErp);
    setSaid(m, dParamBounce + stops, s->bounce);
    setSaid(m, dParamFudgeFactor + g, s->fudge);
    setSaid(m, dParamVel + g, s->motorVelocity);
    setSaid(m, dParamFMax + g, s->maxForce);
    if (axis->friction > 0.0) {
        m->set(m->joint, dParamVel + g, 0.0);
        m->set(m->joint, dParamFMax + g, axis->friction);
    }
}

/* ---- kinds ---- */

static dJointID makeJoint(Making* m, dJointID joint, SetParameter* set)
{
    m->joint = joint, m->set = set;
    dJointAttach(joint, m->body1, m->body2);
    return joint;
}

static void makeHinge(Making* m)
{
    const double *x = m->source->anchor, *a = m->axis[0];
    dJointID j = makeJoint(m, dJointCreateHinge(m->stage->world, 0), dJointSetHingeParam);
    dJointSetHingeAnchor(j, x[0], x[1], x[2]);
    dJointSetHingeAxis(j, a[0], a[1], a[2]);
}

static void makeSlider(Making* m)
{
    const double* a = m->axis[0];
    dJointID j = makeJoint(m, dJointCreateSlider(m->stage->world, 0), dJointSetSliderParam);
    dJointSetSliderAxis(j, a[0], a[1], a[2]);
}

static void makeBall(Making* m)
{
    const double* x = m->source->anchor;
    dJointID j = makeJoint(m, dJointCreateBall(m->stage->world, 0), dJointSetBallParam);
    dJointSetBallAnchor(j, x[0], x[1], x[2]);
}

static void makeFixed(Making* m) { dJointSetFixed(makeJoint(m, dJointCreateFixed(m->stage->world, 0), dJointSetFixedParam)); }

/* The first axis of SDF is the parent's, that of ODE its first body's. */
static void makeUniversal(Making* m)
{
    const double *x = m->source->anchor, *a = m->axis[0], *b = m->axis[1];
    dJointID j = makeJoint(m, dJointCreateUniversal(m->stage->world, 0), dJointSetUniversalParam);
    dJointSetUniversalAnchor(j, x[0], x[1], x[2]);
    bool upright = fabs(a[2]) > 0.9;
    dJointSetUniversalAxis1(j, upright, 0, !upright); /* for now: ODE starts with x and y, and complains of parallel axes in between */
    dJointSetUniversalAxis2(j, a[0], a[1], a[2]);
    dJointSetUniversalAxis1(j, b[0], b[1], b[2]);
    m->group[0] = dParamGroup, m->group[1] = 0;
    if (fabs(v3Dot(v3Load(a), v3Load(b))) > 1e-6) pcStageNote(m->stage, "joint of two axes that are not at right angles");
}

static void makeHinge2(Making* m)
{
    const double *x = m->source->anchor, *a = m->axis[0], *b = m->axis[1];
    const pcSceneAxis* second = m->source->axis + 1;
    bool parallel = fabs(v3Dot(v3Load(a), v3Load(b))) > 0.999, stops = second->lower > -HUGE_VAL || second->upper < HUGE_VAL;
    if (!m->body2 || parallel || stops) {
        makeUniversal(m);
        return;
    }
    dBodyID child = m->body1;
    m->body1 = m->body2, m->body2 = child;
    for (int k = 0; k < 3; k++) m->axis[0][k] = -a[k], m->axis[1][k] = -b[k];
    dJointID j = makeJoint(m, dJointCreateHinge2(m->stage->world, 0), dJointSetHinge2Param);
    dJointSetHinge2Anchor(j, x[0], x[1], x[2]);
    dJointSetHinge2Axes(j, a, b);
    setSoft(m, dParamSuspensionCFM, m->source->suspensionCfm);
    setSaid(m, dParamSuspensionERP, m->source->suspensionErp);
    m->group[1] = dParamGroup;
}

static void makePiston(Making* m)
{
    const double *x = m->source->anchor, *a = m->axis[0];
    dJointID j = makeJoint(m, dJointCreatePiston(m->stage->world, 0), dJointSetPistonParam);
    dJointSetPistonAnchor(j, x[0], x[1], x[2]);
    dJointSetPistonAxis(j, a[0], a[1], a[2]);
    m->group[0] = dParamGroup; /* the first group is the way along the axis */
}

/* ---- couplings ---- */

static void vectorIn(dBodyID body, const double* world, dVector3 out)
{
    memcpy(out, world, 3 * sizeof *world);
    if (body) dBodyVectorFromWorld(body, world[0], world[1], world[2], out);
}

static pcStatus addCoupling(Making* m)
{
    pcStageInner* inner = m->stage->inner;
    const pcSceneJoint* s = m->source;
    bool screw = s->kind == PC_SCENE_SCREW;
    pcStageCoupling c = {.body1 = m->body1, .body2 = m->body2, .screw = screw, .ratio = screw ? s->pitch : s->ratio};
    vectorIn(c.body1, m->axis[screw ? 0 : 1], c.axis1);
    vectorIn(c.body2, m->axis[0], c.axis2);
    memcpy(c.anchor, s->anchor, sizeof s->anchor);
    if (c.body1) dBodyGetPosRelPoint(c.body1, s->anchor[0], s->anchor[1], s->anchor[2], c.anchor);
    if (!pcStageRoom(&inner->coupling, inner->couplings, sizeof c)) return outOfMemory();
    inner->coupling[inner->couplings++] = c;
    return PC_OK;
}

/* ---- damping and springs ---- */

static pcStatus addDrive(Making* m, int which)
{
    pcStageInner* inner = m->stage->inner;
    const pcSceneAxis* axis = m->source->axis + which;
    const double* a = m->axis[which];
    pcStageDrive drive = {
        .joint = m->joint, .which = which, .stiffness = axis->stiffness, .damping = axis->damping, .reference = axis->reference};
    bool slides = m->source->kind == PC_SCENE_PRISMATIC, onParent = dJointGetType(m->joint) == dJointTypeHinge2 ? which == 1 : which == 0;
    bool one = m->source->kind != PC_SCENE_UNIVERSAL && m->source->kind != PC_SCENE_REVOLUTE2;
    int relative = one ? 1 : onParent ? 2 : 1;
    if (relative == 2 && !m->body2) relative = 0;
    drive.motor = slides ? dJointCreateLMotor(m->stage->world, 0) : dJointCreateAMotor(m->stage->world, 0);
    dJointAttach(drive.motor, m->body1, m->body2);
    if (slides) {
        dJointSetLMotorNumAxes(drive.motor, 1);
        dJointSetLMotorAxis(drive.motor, 0, relative, a[0], a[1], a[2]);
        dJointSetLMotorParam(drive.motor, dParamFMax, dInfinity);
    } else {
        dJointSetAMotorNumAxes(drive.motor, 1);
        dJointSetAMotorAxis(drive.motor, 0, relative, a[0], a[1], a[2]);
        dJointSetAMotorParam(drive.motor, dParamFMax, dInfinity);
    }
    if (!pcStageRoom(&inner->drive, inner->drives, sizeof drive)) return outOfMemory();
    inner->drive[inner->drives++] = drive;
    return PC_OK;
}

static pcStatus addDrives(Making* m)
{
    pcStatus status = PC_OK;
    pcSceneJointKind kind = m->source->kind;
    int axes = kind == PC_SCENE_UNIVERSAL || kind == PC_SCENE_REVOLUTE2 ? 2 : kind == PC_SCENE_FIXED || kind == PC_SCENE_BALL ? 0 : 1;
    for (int i = 0; i < axes && status == PC_OK; i++) {
        const pcSceneAxis* axis = m->source->axis + i;
        setAxisParameters(m, i);
        if (axis->damping > 0.0 || axis->stiffness > 0.0) status = addDrive(m, i);
    }
    if (axes == 0) setSoft(m, dParamCFM, m->source->cfm);
    if (axes == 0) setSaid(m, dParamERP, m->source->erp);
    return status;
}

/* ---- all of them ---- */

static void beginJoint(Making* m)
{
    const pcSceneJoint* s = m->source;
    dBodyID *of = m->stage->inner->bodyOfLink, child = s->child >= 0 ? of[s->child] : NULL, parent = s->parent >= 0 ? of[s->parent] : NULL;
    double sign = child ? 1.0 : -1.0;
    m->body1 = child ? child : parent, m->body2 = child ? parent : NULL;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) m->axis[i][k] = sign * s->axis[i].xyz[k];
}

static pcStatus makeGears(Making* m)
{
    const pcSceneJoint* s = m->source;
    dBodyID* of = m->stage->inner->bodyOfLink;
    if (s->reference >= 0 && of[s->reference]) pcStageNote(m->stage, "gearbox on a reference link that moves: it counts as fixed");
    m->body1 = s->child >= 0 ? of[s->child] : NULL, m->body2 = s->parent >= 0 ? of[s->parent] : NULL;
    for (int i = 0; i < 2; i++) memcpy(m->axis[i], s->axis[i].xyz, sizeof m->axis[i]);
    return addCoupling(m);
}

static pcStatus addJoint(pcStage* stage, int index)
{
    static void (*const make[])(Making*) = {makeFixed, makeHinge, makeSlider, makeBall, makeUniversal, makeHinge2, makePiston};
    Making m = {.stage = stage, .source = stage->inner->scene->joint + index};
    beginJoint(&m);
    if (!m.body1) {
        pcStageNote(stage, "joint between links that do not move");
        return PC_OK;
    }
    if (m.source->kind == PC_SCENE_GEARBOX) return makeGears(&m);
    make[m.source->kind](&m);
    if (!pcStageRoom(&stage->joint, stage->joints, sizeof *stage->joint)) return outOfMemory();
    stage->joint[stage->joints++] = (pcStageJoint){m.source->name, m.joint, index};
    pcStatus status = addDrives(&m);
    if (status == PC_OK && m.source->kind == PC_SCENE_SCREW) status = addCoupling(&m);
    return status;
}

int pcStageComparePairs(const void* a, const void* b)
{
    const int *p = a, *q = b;
    return p[0] != q[0] ? (p[0] > q[0]) - (p[0] < q[0]) : (p[1] > q[1]) - (p[1] < q[1]);
}

static pcStatus listJoined(pcStageInner* inner)
{
    const pcScene* scene = inner->scene;
    inner->joined = calloc((size_t)scene->joints + 1, sizeof *inner->joined);
    if (!inner->joined) return outOfMemory();
    for (int i = 0; i < scene->joints; i++) {
        int a = scene->joint[i].parent, b = scene->joint[i].child, *pair = inner->joined[inner->joinedPairs++];
        pair[0] = a < b ? a : b, pair[1] = a < b ? b : a;
    }
    qsort(inner->joined, (size_t)inner->joinedPairs, sizeof *inner->joined, pcStageComparePairs);
    return PC_OK;
}

pcStatus pcStageJoints(pcStage* stage)
{
    pcStatus status = listJoined(stage->inner);
    for (int i = 0; i < stage->inner->scene->joints && status == PC_OK; i++) status = addJoint(stage, i);
    return status;
}
