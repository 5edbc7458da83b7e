/* Poses: where a body will be, and where a part of it is. */
#ifndef PC_BASE_POSE_H
#define PC_BASE_POSE_H

#include "pcontact/types.h"

/* Moved by h v, v linear and angular: the rotation by the exact exponential of h omega, the quaternion normalised. */
pcPose pcPoseAdvance(const pcPose* pose, const double velocity[6], double h);

/* The pose in the world of what is placed at `inner` in the frame `outer`. */
pcPose pcPoseCompose(const pcPose* outer, const pcPose* inner);

#endif
