/* The table that the preload library asks for. */
#include "adapters/ode/hooks.h"

#include "adapters/ode/layers.h"
#include "adapters/ode/registry.h"

/* Nothing is kept by body or joint from one step to the next. */
static void forgetBody(dBodyID body) { (void)body; }
static void forgetJoint(dJointID joint) { (void)joint; }

static void forgetGeom(dGeomID geom)
{
    pcHostForgetSpace(geom);
    pcOdeForgetGeom(geom);
    pcOdeForgetLayer(geom);
}

static void forgetAllGeoms(void)
{
    pcOdeForgetAllGeoms();
    pcOdeForgetAllLayers();
}

const pcOdeHooks* pcOdeHooksGet(void)
{
    static const pcOdeHooks hooks = {
        .native = pcNativeOde,
        .attached = pcOdeAttached,
        .hostStep = pcOdeHostStep,
        .forgetWorld = pcOdeForgetWorld,
        .forgetBody = forgetBody,
        .forgetJoint = forgetJoint,
        .forgetGeom = forgetGeom,
        .forgetAllGeoms = forgetAllGeoms,
    };
    return &hooks;
}
