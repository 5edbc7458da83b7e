/*
 * Bodies: inertia in world axes, the velocity without impulses, the motion over a step.
 *
 *     v*      = v + h (g + force / m)
 *     omega*  : I (w1 - w0) + h wm x I wm = h torque,   wm = (w0 + w1) / 2,   in body axes
 *
 * The implicit midpoint rule keeps the energy and the length of the angular momentum of a body that turns freely, however fast; the
 * explicit form gains energy without bound. Turning by exp(h omega) leaves omega where it is in body axes, so that nothing is lost
 * between two steps.
 */
#include "constraint/constraint.h"

#include <string.h>

#include "base/rotation.h"
#include "constraint/m33.h"

/* R I R', symmetric to the last bit. */
static void turnInertia(const m3* R, const double inertia[9], double out[9])
{
    v3 row[3];
    for (int i = 0; i < 3; i++) row[i] = v3OfLanes(R->row[i]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k <= i; k++) out[3 * i + k] = out[3 * k + i] = v3Dot(row[i], m33Times(inertia, row[k]));
}

/* ---- free motion ---- */

/* f(w) = I (w - w0) + h wm x I wm - h torque at w = w0 + d, and its derivative by d. */
static v3 gyroscope(const double I[9], v3 w0, v3 d, double h, v3 push, double derivative[9])
{
    v3 m = v3AddScaled(w0, 0.5, d), L = m33Times(I, m);
    /* d/dd of h m x I m = h/2 ([m]x I - [I m]x) */
    for (int k = 0; k < 3; k++) {
        v3 e = {k == 0, k == 1, k == 2}, column = v3Add(v3Cross(m, m33Times(I, e)), v3Cross(e, L));
        column = v3AddScaled(m33Times(I, e), 0.5 * h, column);
        derivative[k] = column.x, derivative[3 + k] = column.y, derivative[6 + k] = column.z;
    }
    return v3Sub(v3AddScaled(m33Times(I, d), h, v3Cross(m, L)), push);
}

/* By Newton's method; false if it does not settle. */
static bool spinMidpoint(const double I[9], v3* w, v3 torque, double h)
{
    v3 d = {0, 0, 0}, push = v3Scale(h, torque);
    double derivative[9], scale = v3Size(m33Times(I, *w)) + v3Size(push);
    for (int i = 0; i < 12; i++) {
        v3 f = gyroscope(I, *w, d, h, push, derivative);
        bool settled = v3Size(f) <= 4.0 * PC_ROUND * scale, nearly = i >= 8 && v3Size(f) <= 64.0 * PC_ROUND * scale;
        if (settled || nearly) return *w = v3Add(*w, d), true;
        d = v3Sub(d, m33Solve(derivative, f));
    }
    return false;
}

/* In shorter parts where a body turns by radians within the step. Where 64 are not enough the gyroscopic torque is left out: then omega
 * stays in body axes, and with it the energy. */
static v3 spinFreely(const double I[9], v3 w0, v3 torque, double h)
{
    for (int parts = 1; parts <= 64; parts *= 4) {
        v3 w = w0;
        int done = 0;
        while (done < parts && spinMidpoint(I, &w, torque, h / parts)) done++;
        if (done == parts) return w;
    }
    return v3AddScaled(w0, h, m33Solve(I, torque));
}

static void moveFreely(const pcSystem* system, const pcBody* body, const m3* R, double h, double free[6])
{
    v3 acceleration = v3AddScaled(v3Load(system->gravity), 1.0 / body->mass, v3Load(body->force));
    v3Store(free, v3AddScaled(v3Load(body->velocity), h, acceleration));
    v3 w0 = m3TMul(R, v3Load(body->velocity + 3)), torque = m3TMul(R, v3Load(body->force + 3));
    v3Store(free + 3, m3Mul(R, spinFreely(body->inertia, w0, torque, h)));
}

static void fillMotion(const pcSystem* system, int index, double h, pcMotion* out)
{
    const pcBody* body = system->bodies + index;
    memset(out, 0, sizeof *out);
    out->moves = body->kind == PC_BODY_DYNAMIC;
    out->position = v3Load(body->pose.position);
    if (body->kind != PC_BODY_STATIC) memcpy(out->velocity, body->velocity, sizeof out->velocity);
    memcpy(out->free, out->velocity, sizeof out->free);
    if (!out->moves || system->mobility) return;
    m3 R;
    m3FromQuaternion(v4Load(body->pose.quaternion), &R);
    out->mass = body->mass;
    turnInertia(&R, body->inertia, out->inertia);
    m33Invert(out->inertia, out->inverseInertia);
    if (!system->freeVelocity) moveFreely(system, body, &R, h, out->free);
}

/* With a mobility: v* = v + h (mobility force + g). Bodies that do not move exert nothing through it. */
static void moveByMobility(const pcSystem* system, double h, pcMotion* out)
{
    size_t n = 6 * (size_t)system->bodyCount;
    for (size_t i = 0; i < n; i++) {
        if (!out[i / 6].moves) continue;
        double sum = i % 6 < 3 ? system->gravity[i % 6] : 0.0;
        for (size_t k = 0; k < n; k++)
            if (out[k / 6].moves) sum += system->mobility[i * n + k] * system->bodies[k / 6].force[k % 6];
        out[i / 6].free[i % 6] += h * sum;
    }
}

void pcMotionsFill(const pcSystem* system, double h, pcMotion* out)
{
    for (int i = 0; i < system->bodyCount; i++) {
        fillMotion(system, i, h, out + i);
        if (system->freeVelocity && out[i].moves) memcpy(out[i].free, system->freeVelocity + 6 * (size_t)i, sizeof out[i].free);
    }
    if (system->mobility && !system->freeVelocity) moveByMobility(system, h, out);
}

/* ---- use ---- */

void pcMotionMass(const pcMotion* motion, double block[36])
{
    memset(block, 0, 36 * sizeof *block);
    for (int i = 0; i < 3; i++) {
        block[7 * i] = motion->mass;
        for (int k = 0; k < 3; k++) block[6 * (3 + i) + 3 + k] = motion->inertia[3 * i + k];
    }
}

void pcMotionAnswer(const pcMotion* motion, const double impulse[6], double out[6])
{
    v3Store(out, v3Scale(1.0 / motion->mass, v3Load(impulse)));
    v3Store(out + 3, m33Times(motion->inverseInertia, v3Load(impulse + 3)));
}

v3 pcPointVelocity(const pcMotion* motion, const double velocity[6], v3 x)
{
    return v3Add(v3Load(velocity), v3Cross(v3Load(velocity + 3), v3Sub(x, motion->position)));
}
