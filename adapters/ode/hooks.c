/* The table that the preload library asks for, and what its functions do where nothing better is linked. */
#include "adapters/ode/hooks.h"

#define STAND_IN __attribute__((weak))

STAND_IN int pcOdeAttached(dWorldID world)
{
    pcWorldReportExtra extra;
    return pcWorldReportMore(world, &extra) == PC_OK;
}

STAND_IN pcStatus pcOdeHostStep(dWorldID world, dReal h, int quick)
{
    (void)quick;
    return pcWorldStep(world, h);
}

STAND_IN void pcOdeForgetWorld(dWorldID world)
{
    if (pcOdeAttached(world)) pcWorldDetach(world);
}

STAND_IN void pcOdeForgetBody(dBodyID body) { (void)body; }
STAND_IN void pcOdeForgetJoint(dJointID joint) { (void)joint; }
STAND_IN void pcOdeForgetGeom(dGeomID geom) { (void)geom; }
STAND_IN void pcOdeForgetAllGeoms(void) {}

const pcOdeHooks* pcOdeHooksGet(void)
{
    static const pcOdeHooks hooks = {
        .native = pcNativeOde,
        .attached = pcOdeAttached,
        .hostStep = pcOdeHostStep,
        .forgetWorld = pcOdeForgetWorld,
        .forgetBody = pcOdeForgetBody,
        .forgetJoint = pcOdeForgetJoint,
        .forgetGeom = pcOdeForgetGeom,
        .forgetAllGeoms = pcOdeForgetAllGeoms,
    };
    return &hooks;
}
