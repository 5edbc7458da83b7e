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

PC_INLINE v4d v4Splat(double a) { return (v4d){a, a, a, a}; }
PC_INLINE v4d v4Load(const double* p)
{
    v4d a;
    __builtin_memcpy(&a, p, sizeof a);
    return a;
}
PC_INLINE void v4Store(double* p, v4d a) { __builtin_memcpy(p, &a, sizeof a); }
PC_INLINE v4d v4Select(v4i mask, v4d yes, v4d no) { return (v4d)(((v4i)yes & mask) | ((v4i)no & ~mask)); }
PC_INLINE v2d v2Select(v2i mask, v2d yes, v2d no) { return (v2d)(((v2i)yes & mask) | ((v2i)no & ~mask)); }
PC_INLINE v4i v4SelectInt(v4i mask, v4i yes, v4i no) { return (yes & mask) | (no & ~mask); }
PC_INLINE v4d v4Abs(v4d a) { return (v4d)((v4i)a & INT64_MAX); }
/* Lane i holds what lane x, y, z or w held; changes the sign of the lanes marked 1. */
#define v4Lanes(a, x, y, z, w) __builtin_shufflevector(a, a, x, y, z, w)
#define v4Flip(a, x, y, z, w) ((v4d)((v4i)(a) ^ (v4i){x ? INT64_MIN : 0, y ? INT64_MIN : 0, z ? INT64_MIN : 0, w ? INT64_MIN : 0}))
PC_INLINE v4d v4Max(v4d a, v4d b) { return v4Select(a > b, a, b); }

#endif
