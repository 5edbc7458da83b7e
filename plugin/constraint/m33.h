/* 3 x 3 matrices, row-major. */
#ifndef PC_CONSTRAINT_M33_H
#define PC_CONSTRAINT_M33_H

#include "base/vec.h"

PC_INLINE v3 m33Times(const double m[9], v3 a)
{
    return v3Make(m[0] * a.x + m[1] * a.y + m[2] * a.z, m[3] * a.x + m[4] * a.y + m[5] * a.z, m[6] * a.x + m[7] * a.y + m[8] * a.z);
}

/* x of m x = b, by Cramer's rule. */
PC_INLINE v3 m33Solve(const double m[9], v3 b)
{
    v3 c0 = {m[0], m[3], m[6]}, c1 = {m[1], m[4], m[7]}, c2 = {m[2], m[5], m[8]}, c12 = v3Cross(c1, c2);
    double determinant = v3Dot(c0, c12);
    return v3Make(v3Dot(b, c12) / determinant, v3Dot(c0, v3Cross(b, c2)) / determinant, v3Dot(c0, v3Cross(c1, b)) / determinant);
}

/* m += s (a b' + b a') / 2 */
PC_INLINE void m33AddSymmetric(double m[9], double s, v3 a, v3 b)
{
    const double p[3] = {a.x, a.y, a.z}, q[3] = {b.x, b.y, b.z};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) m[3 * i + k] += 0.5 * s * (p[i] * q[k] + q[i] * p[k]);
}

/* Of a symmetric matrix, symmetric to the last bit. */
PC_INLINE void m33Invert(const double m[9], double out[9])
{
    for (int k = 0; k < 3; k++) {
        v3 column = m33Solve(m, v3Make(k == 0, k == 1, k == 2));
        out[k] = column.x, out[3 + k] = column.y, out[6 + k] = column.z;
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < i; k++) out[3 * i + k] = out[3 * k + i] = 0.5 * (out[3 * i + k] + out[3 * k + i]);
}

#endif
