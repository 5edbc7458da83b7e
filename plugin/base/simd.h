/*
 * Four doubles at a time, by the compiler's vector extension: two SSE2 registers on any x86-64, one AVX register where PC_SIMD
 * functions are cloned for it, plain code elsewhere. No fused multiply-add is ever formed, so every clone gives the same bits.
 * Never pass or return one by value except to an inlined function: a clone and its callee would disagree about where it is. (Built with
 * -Wno-psabi, because the compiler warns of the inlined ones too.)
 */
#ifndef PC_BASE_SIMD_H
#define PC_BASE_SIMD_H

#include <stdint.h>

#include "base/vec.h"

typedef double v4d __attribute__((vector_size(32)));
typedef int64_t v4i __attribute__((vector_size(32)));
typedef double v2d __attribute__((vector_size(16)));
typedef int64_t v2i __attribute__((vector_size(16)));

/* Sanitizers cannot see through the loader's choice of a clone (it runs before they start). */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define PC_SIMD __attribute__((target_clones("avx2", "default")))
#else
#define PC_SIMD
#endif

/* Before a loop whose count is known: written out, so that what is indexed by it stays in registers. */
#define PC_PRAGMA(text) _Pragma(#text)
#define PC_UNROLL(count) PC_PRAGMA(GCC unroll count)

PC_INLINE v4d v4Splat(double a) { return (v4d){a, a, a, a}; }
PC_INLINE v4d v4Load(const double* p)
{
    v4d a;
    __builtin_memcpy(&a, p, sizeof a);
    return a;
}
PC_INLINE void v4Store(double* p, v4d a) { __builtin_memcpy(p, &a, sizeof a); }
PC_INLINE v2d v2Load(const double* p)
{
    v2d a;
    __builtin_memcpy(&a, p, sizeof a);
    return a;
}
PC_INLINE void v2Store(double* p, v2d a) { __builtin_memcpy(p, &a, sizeof a); }
PC_INLINE v4d v4Select(v4i mask, v4d yes, v4d no) { return (v4d)(((v4i)yes & mask) | ((v4i)no & ~mask)); }
PC_INLINE v2d v2Select(v2i mask, v2d yes, v2d no) { return (v2d)(((v2i)yes & mask) | ((v2i)no & ~mask)); }
PC_INLINE v4i v4SelectInt(v4i mask, v4i yes, v4i no) { return (yes & mask) | (no & ~mask); }
PC_INLINE v4d v4Abs(v4d a) { return (v4d)((v4i)a & INT64_MAX); }
/* Lane i holds what lane x, y, z or w held; changes the sign of the lanes marked 1. */
#define v4Lanes(a, x, y, z, w) __builtin_shufflevector(a, a, x, y, z, w)
#define v4Flip(a, x, y, z, w) ((v4d)((v4i)(a) ^ (v4i){x ? INT64_MIN : 0, y ? INT64_MIN : 0, z ? INT64_MIN : 0, w ? INT64_MIN : 0}))
/* Four rows become four columns. */
PC_INLINE void v4Turn(v4d x[4])
{
    v4d a = __builtin_shufflevector(x[0], x[1], 0, 4, 2, 6), b = __builtin_shufflevector(x[0], x[1], 1, 5, 3, 7);
    v4d c = __builtin_shufflevector(x[2], x[3], 0, 4, 2, 6), d = __builtin_shufflevector(x[2], x[3], 1, 5, 3, 7);
    x[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5), x[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    x[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7), x[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}
/* Six numbers of each of four rows: by columns. */
PC_INLINE void v4TurnSix(const double* const row[4], v4d x[6])
{
    v4d last[4];
    for (int r = 0; r < 4; r++) x[r] = v4Load(row[r]), last[r] = v4Load(row[r] + 2);
    v4Turn(x), v4Turn(last);
    x[4] = last[2], x[5] = last[3];
}
PC_INLINE v4d v4Max(v4d a, v4d b) { return v4Select(a > b, a, b); }

#endif
