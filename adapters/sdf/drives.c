/* What acts at joints beside their own rows: see stage.h. */
#include <math.h>
#include <string.h>

#include "adapters/ode/host.h"
#include "adapters/sdf/inner.h"
#include "base/vec.h"

/* ---- damping and springs ---- */

static double angleOf(const pcStageDrive* d)
{
    switch (dJointGetType(d->joint)) {
    case dJointTypeHinge: return dJointGetHingeAngle(d->joint);
    case dJointTypeSlider: return dJointGetSliderPosition(d->joint);
    case dJointTypeUniversal: return d->which == 0 ? dJointGetUniversalAngle2(d->joint) : dJointGetUniversalAngle1(d->joint);
    case dJointTypeHinge2: return d->which == 0 ? dJointGetHinge2Angle1(d->joint) : dJointGetHinge2Angle2(d->joint);
    case dJointTypePiston: return dJointGetPistonAngle(d->joint);
    default: return 0.0;
    }
}

/* Of all angles that look the same, the one nearest to where it was. */
static double unwind(const pcStageDrive* d)
{
    const double turn = 6.283185307179586;
    double angle = angleOf(d);
    return dJointGetType(d->joint) == dJointTypeSlider ? angle : angle + turn * round((d->angle - angle) / turn);
}

void pcStageDrives(pcStage* stage, double h)
{
    for (int i = 0; i < stage->inner->drives; i++) {
        pcStageDrive* d = stage->inner->drive + i;
        double soft = larger(1.0 / (h * d->stiffness + d->damping), stage->inner->leastCfm);
        d->angle = unwind(d);
        double velocity = soft * d->stiffness * (d->reference - d->angle);
        bool slides = dJointGetType(d->motor) == dJointTypeLMotor;
        void (*set)(dJointID, int, dReal) = slides ? dJointSetLMotorParam : dJointSetAMotorParam;
        set(d->motor, dParamVel, velocity);
        set(d->motor, dParamCFM, soft);
    }
}

/* ---- screws and gears ---- */

static v3 worldVector(dBodyID body, const dReal* local)
{
    dVector3 out = {local[0], local[1], local[2]};
    if (body) dBodyVectorToWorld(body, local[0], local[1], local[2], out);
    return v3Load(out);
}

static v3 placeOf(dBodyID body) { return body ? v3Load(dBodyGetPosition(body)) : v3Make(0, 0, 0); }

/* Screw: way along the axis less ratio times the turn about it, child less parent. Gears: turn of the child and ratio turns of the parent. */
static void jacobianOf(const pcStageCoupling* c, double J[12])
{
    v3 a = worldVector(c->body1, c->axis1), b = worldVector(c->body2, c->axis2), turn1 = a, turn2 = v3Scale(c->ratio, b);
    memset(J, 0, 12 * sizeof *J);
    if (c->screw) {
        v3 place = v3Add(placeOf(c->body1), worldVector(c->body1, c->anchor));
        turn1 = v3AddScaled(v3Cross(v3Sub(place, placeOf(c->body1)), a), -c->ratio, a);
        turn2 = v3Neg(v3AddScaled(v3Cross(v3Sub(place, placeOf(c->body2)), a), -c->ratio, a));
        v3Store(J, a);
        v3Store(J + 6, v3Neg(a));
    }
    v3Store(J + 3, turn1);
    v3Store(J + 9, turn2);
    if (!c->body1) memset(J, 0, 6 * sizeof *J);
    if (!c->body2) memset(J + 6, 0, 6 * sizeof *J);
}

static double velocityOf(dBodyID body, const double* J)
{
    if (!body) return 0.0;
    return v3Dot(v3Load(J), v3Load(dBodyGetLinearVel(body))) + v3Dot(v3Load(J + 3), v3Load(dBodyGetAngularVel(body)));
}

static double rateOf(const pcStageCoupling* c, const double J[12]) { return velocityOf(c->body1, J) + velocityOf(c->body2, J + 6); }

static double targetOf(const pcStage* stage, const pcStageCoupling* c)
{
    double gamma = stage->settings.gamma;
    return -(isnan(gamma) ? dWorldGetERP(stage->world) : gamma) * c->error / stage->inner->h;
}

/* I^-1 t, in world axes. */
static v3 spinOf(dBodyID body, v3 torque)
{
    dMass mass;
    dVector3 local, world;
    dMatrix3 inverse;
    dBodyGetMass(body, &mass);
    dBodyVectorFromWorld(body, torque.x, torque.y, torque.z, local);
    dInvertPDMatrix(mass.I, inverse, 3);
    dVector3 spin;
    dMultiply0_331(spin, inverse, local);
    dBodyVectorToWorld(body, spin[0], spin[1], spin[2], world);
    return v3Load(world);
}

static double mobilityOf(dBodyID body, const double* J)
{
    dMass mass;
    if (!body || dBodyIsKinematic(body)) return 0.0;
    dBodyGetMass(body, &mass);
    return v3Dot(v3Load(J), v3Load(J)) / mass.mass + v3Dot(v3Load(J + 3), spinOf(body, v3Load(J + 3)));
}

static void push(dBodyID body, const double* J, double force)
{
    if (!body || dBodyIsKinematic(body)) return;
    dBodyAddForce(body, force * J[0], force * J[1], force * J[2]);
    dBodyAddTorque(body, force * J[3], force * J[4], force * J[5]);
}

void pcStageCouple(pcStage* stage, double h)
{
    for (int i = 0; i < stage->inner->couplings; i++) {
        const pcStageCoupling* c = stage->inner->coupling + i;
        double J[12];
        jacobianOf(c, J);
        double mobility = mobilityOf(c->body1, J) + mobilityOf(c->body2, J + 6);
        double force = mobility > 0.0 ? (targetOf(stage, c) - rateOf(c, J)) / (h * mobility) : 0.0;
        push(c->body1, J, force);
        push(c->body2, J + 6, force);
    }
}

void pcStageCoupled(pcStage* stage, double h)
{
    for (int i = 0; i < stage->inner->couplings; i++) {
        pcStageCoupling* c = stage->inner->coupling + i;
        double J[12];
        jacobianOf(c, J);
        c->error += h * rateOf(c, J);
    }
}

int pcStageRow(void* context, int index, pcHostRow* out)
{
    const pcStage* stage = context;
    if (index >= stage->inner->couplings) return 0;
    const pcStageCoupling* c = stage->inner->coupling + index;
    *out = (pcHostRow){.body1 = c->body1, .body2 = c->body2};
    jacobianOf(c, out->row.jacobian);
    out->row.target = targetOf(stage, c), out->row.error = c->error;
    out->row.lo = -HUGE_VAL, out->row.hi = HUGE_VAL;
    return 1;
}
