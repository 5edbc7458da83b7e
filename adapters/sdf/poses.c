/* Poses as SDF writes them: x y z, then turned about x, y and z of the frame that it is given in, in this order. */
#include <math.h>

#include "adapters/sdf/scene.h"
#include "base/pose.h"

pcPose pcScenePose(const double v[6])
{
    pcPose pose = {.position = {v[0], v[1], v[2]}};
    double c[3], s[3];
    for (int k = 0; k < 3; k++) c[k] = cos(v[3 + k] / 2), s[k] = sin(v[3 + k] / 2);
    pose.quaternion[0] = c[0] * c[1] * c[2] + s[0] * s[1] * s[2];
    pose.quaternion[1] = s[0] * c[1] * c[2] - c[0] * s[1] * s[2];
    pose.quaternion[2] = c[0] * s[1] * c[2] + s[0] * c[1] * s[2];
    pose.quaternion[3] = c[0] * c[1] * s[2] - s[0] * s[1] * c[2];
    return pose;
}

void pcScenePoseNumbers(const pcPose* pose, double out[6])
{
    const double *q = pose->quaternion, w = q[0], x = q[1], y = q[2], z = q[3];
    for (int k = 0; k < 3; k++) out[k] = pose->position[k];
    out[3] = atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y));
    out[4] = asin(fmax(-1.0, fmin(1.0, 2.0 * (w * y - z * x))));
    out[5] = atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z));
}

pcPose pcScenePoseInverse(const pcPose* pose)
{
    const double* q = pose->quaternion;
    pcPose turn = {.quaternion = {q[0], -q[1], -q[2], -q[3]}}, move = {.quaternion = {1, 0, 0, 0}};
    for (int k = 0; k < 3; k++) move.position[k] = -pose->position[k];
    return pcPoseCompose(&turn, &move);
}
