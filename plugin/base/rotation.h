/* Rotations, four lanes wide: a product with a vector is three multiplications of whole rows or columns. */
#ifndef PC_BASE_ROTATION_H
#define PC_BASE_ROTATION_H

#include "base/simd.h"

/* Both ways round, so that neither the matrix nor its transpose needs sums across lanes. The fourth lanes are zero. */
typedef struct m3 {
    v4d row[3], column[3];
} m3;

PC_INLINE v3 v3OfLanes(v4d a) { return (v3){a[0], a[1], a[2]}; }
PC_INLINE v4d v3ToLanes(v3 a) { return (v4d){a.x, a.y, a.z, 0.0}; }

PC_INLINE v3 m3Mul(const m3* m, v3 a) { return v3OfLanes(m->column[0] * a.x + m->column[1] * a.y + m->column[2] * a.z); }
PC_INLINE v3 m3TMul(const m3* m, v3 a) { return v3OfLanes(m->row[0] * a.x + m->row[1] * a.y + m->row[2] * a.z); } /* transposed */

/* The rotation of a quaternion (w, u) of any length but zero: R = (1 - s u.u) I + s u u' + s w [u]x, s = 2 / (w w + u.u). */
PC_INLINE void m3FromQuaternion(const double q[4], m3* out)
{
    double w = q[0], x = q[1], y = q[2], z = q[3], uu = x * x + y * y + z * z, s = 2.0 / (w * w + uu), sw = s * w, rest = 1.0 - s * uu;
    v4d u = {x, y, z, 0.0};
    v4d even0 = u * (s * x) + (v4d){rest, 0.0, 0.0, 0.0}, odd0 = (v4d){0.0, -z, y, 0.0} * sw;
    v4d even1 = u * (s * y) + (v4d){0.0, rest, 0.0, 0.0}, odd1 = (v4d){z, 0.0, -x, 0.0} * sw;
    v4d even2 = u * (s * z) + (v4d){0.0, 0.0, rest, 0.0}, odd2 = (v4d){-y, x, 0.0, 0.0} * sw;
    out->row[0] = even0 + odd0, out->row[1] = even1 + odd1, out->row[2] = even2 + odd2;
    out->column[0] = even0 - odd0, out->column[1] = even1 - odd1, out->column[2] = even2 - odd2;
}

/* conj(p) q: the rotation that takes body q's axes to body p's. */
PC_INLINE void quaternionBetween(const double p[4], const double q[4], double out[4])
{
    v4d a = v4Load(q), b = {-q[1], q[0], -q[3], q[2]}, c = {-q[2], q[3], q[0], -q[1]}, d = {-q[3], -q[2], q[1], q[0]};
    v4Store(out, a * p[0] - b * p[1] - c * p[2] - d * p[3]);
}

#endif
