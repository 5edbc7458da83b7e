/* Small vectors, rotations and poses in double precision. Everything is by value and inlined: the metric calls these millions of times. */
#ifndef PC_BASE_VEC_H
#define PC_BASE_VEC_H

#include <math.h>
#include <stdbool.h>

#include "pcontact/types.h"

#define PC_INLINE static inline __attribute__((always_inline, unused))

/* Half an ulp of 1: the relative error of one rounded operation. */
#define PC_ROUND 1.1102230246251565e-16

typedef struct v3 {
    double x, y, z;
} v3;

/* Rows of a rotation: m3 * v has components row . v. */
typedef struct m3 {
    v3 row[3];
} m3;

/* One instruction each, where fmin and fmax are library calls because of what they promise for NaN: here a NaN in b is returned. */
PC_INLINE double smaller(double a, double b) { return a < b ? a : b; }
PC_INLINE double larger(double a, double b) { return a > b ? a : b; }

PC_INLINE v3 v3Make(double x, double y, double z) { return (v3){x, y, z}; }
PC_INLINE v3 v3Load(const double* p) { return (v3){p[0], p[1], p[2]}; }
PC_INLINE void v3Store(double* p, v3 a) { p[0] = a.x, p[1] = a.y, p[2] = a.z; }
PC_INLINE v3 v3Add(v3 a, v3 b) { return (v3){a.x + b.x, a.y + b.y, a.z + b.z}; }
PC_INLINE v3 v3Sub(v3 a, v3 b) { return (v3){a.x - b.x, a.y - b.y, a.z - b.z}; }
PC_INLINE v3 v3Neg(v3 a) { return (v3){-a.x, -a.y, -a.z}; }
PC_INLINE v3 v3Scale(double s, v3 a) { return (v3){s * a.x, s * a.y, s * a.z}; }
PC_INLINE v3 v3AddScaled(v3 a, double s, v3 b) { return (v3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
PC_INLINE double v3Dot(v3 a, v3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
PC_INLINE v3 v3Cross(v3 a, v3 b) { return (v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
PC_INLINE double v3Norm(v3 a) { return sqrt(v3Dot(a, a)); }
PC_INLINE double v3Size(v3 a) { return fabs(a.x) + fabs(a.y) + fabs(a.z); } /* >= its length, at no square root */
PC_INLINE double v3Max(v3 a) { return larger(fabs(a.x), larger(fabs(a.y), fabs(a.z))); }
PC_INLINE bool v3Finite(v3 a) { return (a.x - a.x) + (a.y - a.y) + (a.z - a.z) == 0.0; }

PC_INLINE v3 m3Mul(m3 m, v3 a) { return (v3){v3Dot(m.row[0], a), v3Dot(m.row[1], a), v3Dot(m.row[2], a)}; }
PC_INLINE v3 m3TMul(m3 m, v3 a) /* transposed */
{
    return (v3){m.row[0].x * a.x + m.row[1].x * a.y + m.row[2].x * a.z, m.row[0].y * a.x + m.row[1].y * a.y + m.row[2].y * a.z,
                m.row[0].z * a.x + m.row[1].z * a.y + m.row[2].z * a.z};
}

/* The rotation of a quaternion w x y z of any length but zero: R = I + 2/(q.q) (w [u]x + [u]x^2), u = (x, y, z). */
PC_INLINE m3 m3FromQuaternion(const double q[4])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double s = 2.0 / (w * w + x * x + y * y + z * z);
    double sx = s * x, sy = s * y, sz = s * z;
    double wx = w * sx, wy = w * sy, wz = w * sz;
    double xx = x * sx, xy = x * sy, xz = x * sz, yy = y * sy, yz = y * sz, zz = z * sz;
    return (m3){{{1.0 - (yy + zz), xy - wz, xz + wy}, {xy + wz, 1.0 - (xx + zz), yz - wx}, {xz - wy, yz + wx, 1.0 - (xx + yy)}}};
}

/* conj(p) q: the rotation that takes body q's axes to body p's. */
PC_INLINE void quaternionBetween(const double p[4], const double q[4], double out[4])
{
    out[0] = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
    out[1] = p[0] * q[1] - p[1] * q[0] - p[2] * q[3] + p[3] * q[2];
    out[2] = p[0] * q[2] + p[1] * q[3] - p[2] * q[0] - p[3] * q[1];
    out[3] = p[0] * q[3] - p[1] * q[2] + p[2] * q[1] - p[3] * q[0];
}

/* The world position of a point given in body axes. */
PC_INLINE v3 poseApply(const pcPose* pose, m3 rotation, v3 local) { return v3Add(v3Load(pose->position), m3Mul(rotation, local)); }

#endif
