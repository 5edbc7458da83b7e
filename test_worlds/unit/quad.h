/* Small vectors and rotations in quadruple precision, for the judges of the metric. */
#ifndef PC_UNIT_QUAD_H
#define PC_UNIT_QUAD_H

#include <math.h>

#include "certificate.h"

static inline pcQuad dot3(const pcQuad a[3], const pcQuad b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Spelled out, so that a compiler that warns of promotions has nothing to say. */
static inline pcQuad quad(double x) { return (pcQuad)x; }

static inline pcQuad quadAbs(pcQuad x) { return x < 0 ? -x : x; }

/* Good to double precision, which is all that scales and error bounds need. */
static inline double length3(const pcQuad a[3])
{
    double x = (double)a[0], y = (double)a[1], z = (double)a[2];
    return hypot(hypot(x, y), z);
}

/* y = R x and y = R' x. */
static inline void rotate(const pcQuad r[9], const pcQuad x[3], pcQuad y[3])
{
    for (int i = 0; i < 3; i++) y[i] = dot3(r + 3 * i, x);
}

static inline void rotateBack(const pcQuad r[9], const pcQuad x[3], pcQuad y[3])
{
    for (int i = 0; i < 3; i++) y[i] = r[i] * x[0] + r[3 + i] * x[1] + r[6 + i] * x[2];
}

/* R = I + 2 / (q.q) (w [v]x + [v]x [v]x): the quaternion need not be unit. */
static inline void rotationOf(const double quaternion[4], pcQuad r[9])
{
    pcQuad w = quad(quaternion[0]), x = quad(quaternion[1]), y = quad(quaternion[2]), z = quad(quaternion[3]);
    pcQuad s = 2 / (w * w + x * x + y * y + z * z);
    pcQuad xx = s * x * x, yy = s * y * y, zz = s * z * z, xy = s * x * y, xz = s * x * z, yz = s * y * z;
    pcQuad wx = s * w * x, wy = s * w * y, wz = s * w * z;
    r[0] = 1 - (yy + zz), r[1] = xy - wz, r[2] = xz + wy;
    r[3] = xy + wz, r[4] = 1 - (xx + zz), r[5] = yz - wx;
    r[6] = xz - wy, r[7] = yz + wx, r[8] = 1 - (xx + yy);
}

#endif
