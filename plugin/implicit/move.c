/*
 * How a velocity moves a body, and how that depends on it. The same functions move the bodies after the step: what was solved is what
 * happens.
 *
 *     exponential:  R' = exp(h w) R         d theta = (s I + (1 - s) a a' + (1 - cos f)/f [a]x) h dw,    f a = h w,  s = sin f / f
 *     tangent:      q' = (1, b) q, b = h w/2, normalised                d theta = 2 (db + b x db) / (1 + b.b)
 */
#include <string.h>

#include "implicit/solve.h"

static void midpointOf(const pcMove* move, const double before[6], const double velocity[6], double out[6])
{
    for (int i = 0; i < 6; i++) out[i] = move->midpoint ? 0.5 * (before[i] + velocity[i]) : velocity[i];
}

static pcPose moveTangent(const pcPose* start, const double v[6], double h)
{
    pcPose moved;
    v3Store(moved.position, v3AddScaled(v3Load(start->position), h, v3Load(v)));
    const double* q = start->quaternion;
    v3 b = v3Scale(0.5 * h, v3Load(v + 3)), u = v3Load(q + 1), c = v3Add(v3AddScaled(u, q[0], b), v3Cross(b, u));
    double w = q[0] - v3Dot(b, u), scale = 1.0 / sqrt(w * w + v3Dot(c, c));
    moved.quaternion[0] = scale * w;
    v3Store(moved.quaternion + 1, v3Scale(scale, c));
    return moved;
}

pcPose pcMoveBody(const pcMove* move, const pcPose* start, const double before[6], const double velocity[6])
{
    double v[6];
    midpointOf(move, before, velocity, v);
    return move->turn == PC_TURN_TANGENT ? moveTangent(start, v, move->h) : pcPoseAdvance(start, v, move->h);
}

/* T = p I + q a a' + r [a]x */
static void fillT(double p, double q, double r, v3 a, double T[9])
{
    double k[3];
    v3Store(k, a);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) T[3 * i + j] = q * k[i] * k[j] + (i == j ? p : 0.0);
    T[1] -= r * k[2], T[2] += r * k[1], T[3] += r * k[2], T[5] -= r * k[0], T[6] -= r * k[1], T[7] += r * k[0];
}

static void turnSlope(const pcMove* move, v3 w, double T[9])
{
    double h = move->h, angle = h * v3Norm(w);
    if (move->turn == PC_TURN_TANGENT) {
        v3 b = v3Scale(0.5 * h, w);
        double p = h / (1.0 + v3Dot(b, b));
        fillT(p, 0.0, p, b, T);
    } else if (angle < 1e-4) { /* second order in the angle is 1e-8 here, of a derivative */
        fillT(h, 0.0, 0.5 * h * h, w, T);
    } else {
        double s = sin(angle) / angle;
        fillT(h * s, h * (1.0 - s), h * (1.0 - cos(angle)) / angle, v3Scale(h / angle, w), T);
    }
}

void pcPlaceStill(const pcPose* pose, const double velocity[6], pcPlace* out)
{
    memset(out, 0, sizeof *out);
    out->pose = *pose, out->at = v3Load(pose->position);
    out->v = v3Load(velocity), out->w = v3Load(velocity + 3);
    m3FromQuaternion(v4Load(pose->quaternion), &out->R);
}

void pcPlaceBody(const pcMove* move, const pcPose* start, const double before[6], const double velocity[6], pcPlace* out)
{
    double v[6], half = move->midpoint ? 0.5 : 1.0;
    pcPose end = pcMoveBody(move, start, before, velocity);
    pcPlaceStill(&end, velocity, out);
    midpointOf(move, before, velocity, v);
    turnSlope(move, v3Load(v + 3), out->T);
    for (int i = 0; i < 9; i++) out->T[i] *= half;
    out->move = half * move->h;
}
