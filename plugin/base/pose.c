#include "base/pose.h"

#include "base/rotation.h"

static void quaternionTimes(const double p[4], const double q[4], double out[4])
{
    v3 a = v3Load(p + 1), b = v3Load(q + 1), c = v3AddScaled(v3AddScaled(v3Cross(a, b), p[0], b), q[0], a);
    out[0] = p[0] * q[0] - v3Dot(a, b);
    v3Store(out + 1, c);
}

static void quaternionNormalise(double q[4])
{
    double scale = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) q[i] *= scale;
}

pcPose pcPoseAdvance(const pcPose* pose, const double velocity[6], double h)
{
    pcPose moved;
    v3 turn = v3Scale(0.5 * h, v3Load(velocity + 3));
    double angle = v3Norm(turn), sinc = angle > 1e-8 ? sin(angle) / angle : 1.0, q[4] = {cos(angle)};
    v3Store(q + 1, v3Scale(sinc, turn));
    v3Store(moved.position, v3AddScaled(v3Load(pose->position), h, v3Load(velocity)));
    quaternionTimes(q, pose->quaternion, moved.quaternion);
    quaternionNormalise(moved.quaternion);
    return moved;
}

static bool isIdentity(const pcPose* pose)
{
    const double *x = pose->position, *q = pose->quaternion;
    return x[0] == 0.0 && x[1] == 0.0 && x[2] == 0.0 && q[0] == 1.0 && q[1] == 0.0 && q[2] == 0.0 && q[3] == 0.0;
}

/* Most shapes are where their bodies are: the same bits for less. */
pcPose pcPoseCompose(const pcPose* outer, const pcPose* inner)
{
    pcPose pose = *outer;
    m3 R;
    if (isIdentity(inner)) {
        quaternionNormalise(pose.quaternion);
        return pose;
    }
    m3FromQuaternion(v4Load(outer->quaternion), &R);
    v3Store(pose.position, v3Add(v3Load(outer->position), m3Mul(&R, v3Load(inner->position))));
    quaternionTimes(outer->quaternion, inner->quaternion, pose.quaternion);
    quaternionNormalise(pose.quaternion);
    return pose;
}
