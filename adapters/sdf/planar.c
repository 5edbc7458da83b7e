/* Worlds in a plane: a body of three dimensions keeps three of its freedoms. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/sdf/inner.h"
#include "base/status.h"

/* No motion across the plane, no turn about its axes. */
static void addRows(dWorldID world, dBodyID body, int across)
{
    dJointID along = dJointCreateLMotor(world, 0), turns = dJointCreateAMotor(world, 0);
    dJointAttach(along, body, 0);
    dJointAttach(turns, body, 0);
    dJointSetLMotorNumAxes(along, 1);
    dJointSetLMotorAxis(along, 0, 0, across == 0, across == 1, across == 2);
    dJointSetLMotorParam(along, dParamVel, 0);
    dJointSetLMotorParam(along, dParamFMax, dInfinity);
    dJointSetAMotorNumAxes(turns, 2);
    for (int i = 0; i < 2; i++) {
        int axis = (across + 1 + i) % 3, group = i * dParamGroup;
        dJointSetAMotorAxis(turns, i, 0, axis == 0, axis == 1, axis == 2);
        dJointSetAMotorParam(turns, dParamVel + group, 0);
        dJointSetAMotorParam(turns, dParamFMax + group, dInfinity);
    }
}

pcStatus pcStagePlanar(pcStage* stage)
{
    pcStageInner* inner = stage->inner;
    int across = inner->scene->physics.planar - 1;
    if (across < 0) return PC_OK;
    inner->plane = calloc((size_t)stage->bodies + 1, sizeof *inner->plane);
    if (!inner->plane) return pcFail(PC_ERROR_MEMORY, "out of memory for a world");
    for (int i = 0; i < stage->bodies; i++) {
        dBodyID body = stage->body[i].body;
        inner->plane[i].place = dBodyGetPosition(body)[across];
        memcpy(inner->plane[i].upright, dBodyGetQuaternion(body), sizeof inner->plane[i].upright);
        if (!dBodyIsKinematic(body)) addRows(stage->world, body, across);
    }
    return PC_OK;
}

/* q = turn * upright; what of the turn is not about the axis across is rounding. */
static void straighten(dBodyID body, const pcStagePlane* plane, int across)
{
    dQuaternion turn, kept = {0}, q;
    dQMultiply2(turn, dBodyGetQuaternion(body), plane->upright);
    kept[0] = turn[0], kept[1 + across] = turn[1 + across];
    double size = sqrt(kept[0] * kept[0] + kept[1 + across] * kept[1 + across]);
    if (!(size > 0.5)) return;
    kept[0] /= size, kept[1 + across] /= size;
    dQMultiply0(q, kept, plane->upright);
    dBodySetQuaternion(body, q);
}

void pcStageFlatten(pcStage* stage)
{
    pcStageInner* inner = stage->inner;
    int across = inner->scene->physics.planar - 1;
    for (int i = 0; across >= 0 && i < stage->bodies; i++) {
        dBodyID body = stage->body[i].body;
        dVector3 x, v, w = {0};
        if (dBodyIsKinematic(body)) continue;
        memcpy(x, dBodyGetPosition(body), sizeof x);
        memcpy(v, dBodyGetLinearVel(body), sizeof v);
        x[across] = inner->plane[i].place, v[across] = 0.0, w[across] = dBodyGetAngularVel(body)[across];
        dBodySetPosition(body, x[0], x[1], x[2]);
        dBodySetLinearVel(body, v[0], v[1], v[2]);
        dBodySetAngularVel(body, w[0], w[1], w[2]);
        straighten(body, inner->plane + i, across);
    }
}
