/* Small vectors in double precision. Everything is by value and inlined: the metric calls these millions of times. */
#ifndef PC_BASE_VEC_H
#define PC_BASE_VEC_H

#include <math.h>
#include <stdbool.h>

#define PC_INLINE static inline __attribute__((always_inline, unused))

/* Half an ulp of 1: the relative error of one rounded operation. */
#define PC_ROUND 1.1102230246251565e-16

typedef struct v3 {
    double x, y, z;
} v3;

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

/* Any unit vectors u, v that make (axis, u, v) orthonormal, without a root or a case distinction; axis is unit. */
PC_INLINE void v3Complete(v3 axis, v3* u, v3* v)
{
    double sign = copysign(1.0, axis.z), a = -1.0 / (sign + axis.z), b = axis.x * axis.y * a;
    *u = v3Make(1.0 + sign * axis.x * axis.x * a, sign * b, -sign * axis.x);
    *v = v3Make(b, sign + axis.y * axis.y * a, -axis.y);
}

#endif
