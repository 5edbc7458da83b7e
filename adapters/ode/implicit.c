#include "adapters/ode/implicit.h"

#include "adapters/ode/layers.h"
#include "base/status.h"
#include "implicit/system.h"

/* ODE turns a body by a step along the tangent, unless it is told to turn it by the finite rotation. The step knows one way for all bodies: that
 * of most of them. */
static pcTurn turnOf(const pcGathered* g)
{
    int finite = 0, moving = 0;
    for (int i = 0; i < g->bodies; i++) {
        if (g->state[i].kind != PC_BODY_DYNAMIC) continue;
        moving++, finite += dBodyGetFiniteRotationMode(g->body[i]) != 0;
    }
    return 2 * finite > moving ? PC_TURN_EXPONENTIAL : PC_TURN_TANGENT;
}

/* *layers: one for each shape of the system, or NULL if none has any. */
static pcStatus findLayers(pcHost* host, const pcLayer* const** layers)
{
    int count = host->space.shapes, room = host->layerRoom;
    *layers = NULL;
    if (count == 0 || !pcOdeHasLayers()) return PC_OK;
    if (!pcGrow(&host->layer, &room, count, sizeof *host->layer) || !pcGrow(&host->layerOf, &host->layerRoom, count, sizeof *host->layerOf))
        return pcFail(PC_ERROR_MEMORY, "out of memory for the layers of %d geoms", count);
    if (pcOdeLayersOf(host->space.geom, count, host->layer, host->layerOf)) *layers = host->layerOf;
    return PC_OK;
}

pcStatus pcHostImplicitStep(pcHost* host, const pcSystem* system, const pcSettings* settings, double h, pcSystemResult* result)
{
    const pcLayer* const* layers;
    if (!host->implicit) {
        pcStatus status = pcImplicitMemoryCreate(&host->implicit);
        if (status != PC_OK) return status;
    }
    pcStatus status = findLayers(host, &layers);
    if (status != PC_OK) return status;
    return pcImplicitLayeredStep(system, layers, host->implicit, turnOf(&host->gathered), settings, h, result);
}
