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

PC_INLINE double quaternionSquare(const double q[4]) { return (q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]); }

/* The rotation of a quaternion (w, u) of any length but zero: R = (1 - s u.u) I + s u u' + s w [u]x, s = 2 / (w w + u.u). Rows and columns
 * are the sum and the difference of its even and its odd part. (A square known from elsewhere would save little and lose a digit: R is
 * orthogonal to rounding only if s is that of this very quaternion.) Returns w w + u.u. */
PC_INLINE double m3FromQuaternion(v4d q, m3* out)
{
    const v4d zero = {0.0, 0.0, 0.0, 0.0};
    v4d parts = q * q, u = __builtin_shufflevector(q, zero, 1, 2, 3, 4);
    double uu = parts[1] + parts[2] + parts[3], square = parts[0] + uu, s = 2.0 / square;
    v4d su = u * s, odd = u * (s * q[0]), rest = {1.0 - s * uu, 0.0, 0.0, 0.0};
    v4d even0 = u * su[0] + rest, odd0 = v4Flip(v4Lanes(odd, 3, 2, 1, 3), 0, 1, 0, 0);
    v4d even1 = u * su[1] + v4Lanes(rest, 1, 0, 1, 1), odd1 = v4Flip(v4Lanes(odd, 2, 3, 0, 3), 0, 0, 1, 0);
    v4d even2 = u * su[2] + v4Lanes(rest, 1, 1, 0, 1), odd2 = v4Flip(v4Lanes(odd, 1, 0, 3, 3), 1, 0, 0, 0);
    out->row[0] = even0 + odd0, out->row[1] = even1 + odd1, out->row[2] = even2 + odd2;
    out->column[0] = even0 - odd0, out->column[1] = even1 - odd1, out->column[2] = even2 - odd2;
    return square;
}

/* conj(p) q: the rotation that takes body q's axes to body p's. */
PC_INLINE v4d quaternionBetween(const double p[4], const double q[4])
{
    v4d a = v4Load(q), b = v4Flip(v4Lanes(a, 1, 0, 3, 2), 1, 0, 1, 0);
    v4d c = v4Flip(v4Lanes(a, 2, 3, 0, 1), 1, 0, 0, 1), d = v4Flip(v4Lanes(a, 3, 2, 1, 0), 1, 1, 0, 0);
    return (a * p[0] - b * p[1]) - (c * p[2] + d * p[3]);
}

#endif
