#include "adapters/ode/view.h"

#include <math.h>

#include "adapters/ode/inject.h"
#include "adapters/ode/probe.h"
#include "base/status.h"
#include "base/vec.h"

pcStatus pcHostGather(pcHost* host, const pcSettings* settings, double h)
{
    pcGathered* g = &host->gathered;
    pcGatherStates(g);
    pcInjectPrepare(g, host->world);
    pcStatus status = pcGatherJoints(g, host->world, h, settings->gamma);
    if (status == PC_OK) status = pcSpaceRows(&host->space, g);
    pcSpaceFilter(&host->space, g);
    if (status == PC_OK) status = pcGatherContacts(g, host->world, settings, h);
    if (status == PC_OK) status = pcSpaceGather(&host->space, g, host->world, settings, h);
    pcGatherFree(g, host->world, h);
    return status;
}

pcSystem pcHostSystem(pcHost* host)
{
    pcGathered* g = &host->gathered;
    dVector3 gravity;
    dWorldGetGravity(host->world, gravity);
    pcSystem system = {.bodyCount = g->bodies,
                       .bodies = g->state,
                       .rowCount = g->rows,
                       .rows = g->row,
                       .contactCount = g->contacts,
                       .contacts = g->contact,
                       .gravity = {gravity[0], gravity[1], gravity[2]},
                       .freeVelocity = g->freeVelocity,
                       .memory = host->memory};
    pcSpaceShapes(&host->space, &system);
    return system;
}

/* ---- numbers ---- */

static bool isTurnable(dBodyID body)
{
    const dReal* q = dBodyGetQuaternion(body);
    double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    return isfinite(square) && v3Finite(v3Load(dBodyGetAngularVel(body))) && v3Finite(v3Load(dBodyGetTorque(body)));
}

static bool isMovable(dBodyID body)
{
    return v3Finite(v3Load(dBodyGetPosition(body))) && v3Finite(v3Load(dBodyGetLinearVel(body))) && v3Finite(v3Load(dBodyGetForce(body)));
}

/* ODE ends the program where a body cannot be turned, and where one is nowhere that is in a space or held by a joint: such a world is not
 * stepped at all. */
static pcStatus checkBody(dBodyID body, bool inSpace, bool gravity)
{
    if (!isTurnable(body)) return pcFail(PC_ERROR_NOT_FINITE, "turn, spin or torque of a body is not finite: nothing was done");
    if ((gravity && isMovable(body)) || (!inSpace && dBodyGetNumJoints(body) == 0)) return PC_OK;
    return pcFail(PC_ERROR_NOT_FINITE, "%s is not finite: nothing was done", gravity ? "position, velocity or force of a body" : "gravity");
}

pcStatus pcHostCheckNumbers(const pcHost* host)
{
    dVector3 gravity;
    pcStatus status = PC_OK;
    bool inSpace = !pcSpaceIdle(&host->space);
    dWorldGetGravity(host->world, gravity);
    for (dBodyID body = pcOdeFirstBody(host->world); body && status == PC_OK; body = pcOdeNextBody(body))
        status = checkBody(body, inSpace, v3Finite(v3Load(gravity)));
    return status;
}

/* ---- measures ---- */

pcStepReport pcHostUnknown(void)
{
    const double unknown = (double)NAN;
    return (pcStepReport){.solver = "none",
                          .residual = unknown,
                          .equality = unknown,
                          .coneExcess = unknown,
                          .energyError = unknown,
                          .infeasibilityContact = unknown,
                          .penetration = unknown,
                          .infeasibilityJoint = unknown,
                          .infeasibilityContactAfter = unknown,
                          .penetrationAfter = unknown,
                          .infeasibilityJointAfter = unknown,
                          .kinetic = unknown,
                          .energy = unknown};
}

/* Whatever the world is stepped by, it is measured as our own model would find it. */
static pcSettings measureSettings(const pcSettings* own)
{
    pcSettings settings = *own;
    settings.model = PC_MODEL_LCP, settings.shadow = 0, settings.solver = PC_SOLVER_AUTO, settings.narrowphase = PC_NARROW_RATIO;
    return settings;
}

static pcStatus measureGathered(pcHost* host, double h, pcStepReport* report)
{
    pcSettings settings = measureSettings(&host->settings);
    pcStatus status = pcHostGather(host, &settings, h);
    if (status != PC_OK) return status;
    pcSystem system = pcHostSystem(host);
    return pcSystemMeasure(&system, &settings, h, report);
}

pcStatus pcHostMeasure(pcHost* host, double h, pcStepReport* report)
{
    *report = pcHostUnknown();
    pcStatus status = pcGatherList(&host->gathered, host->world);
    if (status != PC_OK) return status;
    status = measureGathered(host, h, report);
    pcGatherUndo(&host->gathered);
    return status;
}

/* Contact joints of the program, and pairs that it has collected, tell where bodies were before the step. */
void pcHostReportAfter(pcHost* host, double h)
{
    pcStepReport now;
    if (!host->settings.reportAfter || pcHostMeasureAside(host, h, &now) != PC_OK) return;
    host->report.infeasibilityJointAfter = now.infeasibilityJoint;
    if (!host->space.space || host->gathered.touchJoints > 0) return;
    host->report.infeasibilityContactAfter = now.infeasibilityContact, host->report.penetrationAfter = now.penetration;
}

/* The contacts of the last step are told by the bodies that it gathered. */
static void exchangeGathered(pcHost* host)
{
    pcGathered kept = host->gathered;
    host->gathered = host->aside, host->aside = kept;
}

pcStatus pcHostMeasureAside(pcHost* host, double h, pcStepReport* report)
{
    pcStatus status = pcHostCheckNumbers(host);
    if (status != PC_OK) return status;
    exchangeGathered(host);
    status = pcHostMeasure(host, h, report);
    exchangeGathered(host);
    return status;
}

static double turning(const dMass* mass, const dReal w[3])
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++) sum += w[i] * v3Dot(v3Load(mass->I + 4 * i), v3Load(w));
    return 0.5 * sum;
}

void pcHostEnergy(const pcHost* host, pcStepReport* report)
{
    dVector3 gravity, w;
    dWorldGetGravity(host->world, gravity);
    report->kinetic = 0.0;
    double potential = 0.0;
    for (dBodyID body = pcOdeFirstBody(host->world); body; body = pcOdeNextBody(body)) {
        dMass mass;
        if (dBodyIsKinematic(body)) continue;
        dBodyGetMass(body, &mass);
        v3 v = v3Load(dBodyGetLinearVel(body)), x = v3Load(dBodyGetPosition(body));
        const dReal* spin = dBodyGetAngularVel(body);
        bool turns = spin[0] != 0.0 || spin[1] != 0.0 || spin[2] != 0.0;
        if (turns) dBodyVectorFromWorld(body, spin[0], spin[1], spin[2], w);
        report->kinetic += 0.5 * mass.mass * v3Dot(v, v) + (turns ? turning(&mass, w) : 0.0);
        if (dBodyGetGravityMode(body)) potential -= mass.mass * v3Dot(v3Load(gravity), x);
    }
    report->energy = report->kinetic + potential;
}
