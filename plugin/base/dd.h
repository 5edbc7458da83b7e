/*
 * Doubled precision: a number is the unevaluated sum hi + lo of two doubles, about 32 digits. Used where the answer is
 * right only if cancellation is (thin bodies, degenerate rays). Error-free sums after Knuth, products after Dekker and Veltkamp;
 * needs strict IEEE arithmetic (no contraction, no fast-math).
 */
#ifndef PC_BASE_DD_H
#define PC_BASE_DD_H

#include "base/vec.h"

typedef struct dd {
    double hi, lo;
} dd;

PC_INLINE dd ddOf(double a) { return (dd){a, 0.0}; }
PC_INLINE double ddRound(dd a) { return a.hi + a.lo; }
PC_INLINE dd ddQuickSum(double a, double b) /* |a| >= |b| */
{
    double s = a + b;
    return (dd){s, b - (s - a)};
}
PC_INLINE dd ddTwoSum(double a, double b)
{
    double s = a + b, t = s - a;
    return (dd){s, (a - (s - t)) + (b - t)};
}
PC_INLINE dd ddTwoProduct(double a, double b)
{
    const double split = 134217729.0; /* 2^27 + 1 */
    double p = a * b, c = split * a, d = split * b;
    double ah = c - (c - a), al = a - ah, bh = d - (d - b), bl = b - bh;
    return (dd){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}
PC_INLINE dd ddNeg(dd a) { return (dd){-a.hi, -a.lo}; }
PC_INLINE dd ddAdd(dd a, dd b)
{
    dd s = ddTwoSum(a.hi, b.hi), t = ddTwoSum(a.lo, b.lo);
    s = ddQuickSum(s.hi, s.lo + t.hi);
    return ddQuickSum(s.hi, s.lo + t.lo);
}
PC_INLINE dd ddSub(dd a, dd b) { return ddAdd(a, ddNeg(b)); }
PC_INLINE dd ddMul(dd a, dd b)
{
    dd p = ddTwoProduct(a.hi, b.hi);
    return ddQuickSum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
PC_INLINE dd ddScale(double s, dd a) { return ddMul(ddOf(s), a); }
PC_INLINE dd ddDiv(dd a, dd b)
{
    double q = a.hi / b.hi;
    dd rest = ddSub(a, ddMul(ddOf(q), b));
    double q2 = rest.hi / b.hi;
    rest = ddSub(rest, ddMul(ddOf(q2), b));
    return ddAdd(ddQuickSum(q, q2), ddOf(rest.hi / b.hi));
}
PC_INLINE bool ddLess(dd a, dd b) { return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo); }
PC_INLINE bool ddPositive(dd a) { return a.hi > 0.0 || (a.hi == 0.0 && a.lo > 0.0); }

typedef struct dd3 {
    dd x, y, z;
} dd3;

PC_INLINE dd3 dd3Of(v3 a) { return (dd3){ddOf(a.x), ddOf(a.y), ddOf(a.z)}; }
PC_INLINE v3 dd3Round(dd3 a) { return (v3){ddRound(a.x), ddRound(a.y), ddRound(a.z)}; }
PC_INLINE dd3 dd3Sub(dd3 a, dd3 b) { return (dd3){ddSub(a.x, b.x), ddSub(a.y, b.y), ddSub(a.z, b.z)}; }
PC_INLINE dd3 dd3Add(dd3 a, dd3 b) { return (dd3){ddAdd(a.x, b.x), ddAdd(a.y, b.y), ddAdd(a.z, b.z)}; }
PC_INLINE dd3 dd3Scale(dd s, dd3 a) { return (dd3){ddMul(s, a.x), ddMul(s, a.y), ddMul(s, a.z)}; }
PC_INLINE dd dd3Dot(dd3 a, dd3 b) { return ddAdd(ddAdd(ddMul(a.x, b.x), ddMul(a.y, b.y)), ddMul(a.z, b.z)); }
PC_INLINE dd3 dd3Cross(dd3 a, dd3 b)
{
    return (dd3){ddSub(ddMul(a.y, b.z), ddMul(a.z, b.y)), ddSub(ddMul(a.z, b.x), ddMul(a.x, b.z)), ddSub(ddMul(a.x, b.y), ddMul(a.y, b.x))};
}
/* The difference of two points given in doubles, exactly. */
PC_INLINE dd3 dd3Difference(v3 a, v3 b) { return (dd3){ddTwoSum(a.x, -b.x), ddTwoSum(a.y, -b.y), ddTwoSum(a.z, -b.z)}; }

#endif
