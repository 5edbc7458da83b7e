#include "adapters/ode/implicit.h"

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

pcStatus pcHostImplicitStep(pcHost* host, const pcSystem* system, const pcSettings* settings, double h, pcSystemResult* result)
{
    if (!host->implicit) {
        pcStatus status = pcImplicitMemoryCreate(&host->implicit);
        if (status != PC_OK) return status;
    }
    return pcImplicitSystemStep(system, host->implicit, turnOf(&host->gathered), settings, h, result);
}
