// SPDX-License-Identifier: MIT
// The vocabulary of the scalar meanings in ops.def: helpers over a type T with unsigned partner W. An
// expanding file defines nothing; it declares a, b, c of the right type and pastes the expression. The
// interpreter's strips are these meanings in loops; machine code must match them bit for bit.
#ifndef WEFT_SCALAR_H
#define WEFT_SCALAR_H

#include <math.h>
#include <stdint.h>

// float and double by the type of the operand
#define SQRT(a) _Generic((a), float: __builtin_sqrtf, default: __builtin_sqrt)(a)
#define FABS(a) _Generic((a), float: __builtin_fabsf, default: __builtin_fabs)(a)
#define FLOOR(a) _Generic((a), float: __builtin_floorf, default: __builtin_floor)(a)
#define CEIL(a) _Generic((a), float: __builtin_ceilf, default: __builtin_ceil)(a)
#define TRUNC(a) _Generic((a), float: __builtin_truncf, default: __builtin_trunc)(a)
#define RINT(a) _Generic((a), float: __builtin_rintf, default: __builtin_rint)(a)
#define FMA(a, b, c) _Generic((a), float: __builtin_fmaf, default: __builtin_fma)(a, b, c)
#define COPYSIGN(a, b) _Generic((a), float: __builtin_copysignf, default: __builtin_copysign)(a, b)
#define SIGNBIT(a) (COPYSIGN((T)1, a) < 0)
#define FLT_INF __builtin_inff()

// IEEE 754-2019 minimum/maximum: NaN propagates (as a + b), zeros are ordered
#define FLT_MIN_(a, b) ((a) < (b) ? (a) : (b) < (a) ? (b) : (a) == (b) ? (SIGNBIT(a) ? (a) : (b)) : (a) + (b))
#define FLT_MAX_(a, b) ((a) > (b) ? (a) : (b) > (a) ? (b) : (a) == (b) ? (SIGNBIT(a) ? (b) : (a)) : (a) + (b))
#undef FLT_MIN
#undef FLT_MAX
#define FLT_MIN(a, b) FLT_MIN_(a, b)
#define FLT_MAX(a, b) FLT_MAX_(a, b)
// minimumNumber/maximumNumber: a NaN loses against a number
#define FLT_FMIN(a, b) ((a) != (a) ? (b) : (b) != (b) ? (a) : FLT_MIN_(a, b))
#define FLT_FMAX(a, b) ((a) != (a) ? (b) : (b) != (b) ? (a) : FLT_MAX_(a, b))
#define FLT_SIGN(a) ((a) > 0 ? (T)1 : (a) < 0 ? (T)-1 : (a) == 0 ? (T)0 : (a))

// integers: S = "T is signed" is ((T)-1 < 0); computed in W so that nothing overflows
#define INT_NEGATIVE(a) ((a) < (T)1 && (a) != 0)
#define INT_ABS(a) ((T)(INT_NEGATIVE(a) ? 0 - (W)(a) : (W)(a)))
#define INT_SIGN(a) ((T)(INT_NEGATIVE(a) ? (T)-1 : (a) != 0))
// only 1 and -1 have a non-zero truncated reciprocal
#define INT_RECIP(a) ((T)((a) == (T)1 || ((T)-1 < (T)1 && (a) == (T)-1) ? (a) : (T)0))
#define INT_BITS ((int)(8 * sizeof(T)))
#define INT_BAD_COUNT(b) (INT_NEGATIVE(b) || (W)(b) >= (W)INT_BITS)
#define INT_SHL(a, b) ((T)(INT_BAD_COUNT(b) ? 0 : (W)(a) << ((W)(b) & (W)(INT_BITS - 1))))
#define INT_SHR(a, b)                                                                              \
    ((T)(INT_BAD_COUNT(b) ? (INT_NEGATIVE(a) ? (T)-1 : (T)0)                                       \
                          : (T)((a) >> ((W)(b) & (W)(INT_BITS - 1)))))

// ---- bits ---------------------------------------------------------------------------------------
// the operand's bits in W, zeros above them
#define INT_U(a) ((W)(a) & (W)((W)-1 >> (8 * sizeof(W) - 8 * sizeof(T))))
#define INT_ROTL_(u, n) ((T)((u) << (n) | (u) >> (((W)INT_BITS - (n)) & (W)(INT_BITS - 1))))
#define INT_ROTR_(u, n) ((T)((u) >> (n) | (u) << (((W)INT_BITS - (n)) & (W)(INT_BITS - 1))))
#define INT_ROTL(a, b) INT_ROTL_(INT_U(a), ((W)(b) & (W)(INT_BITS - 1)))
#define INT_ROTR(a, b) INT_ROTR_(INT_U(a), ((W)(b) & (W)(INT_BITS - 1)))
#define INT_WIDE(u, f) (sizeof(W) == 8 ? f##_64((uint64_t)(u)) : f##_32((uint32_t)(u)))
#define INT_POPCOUNT(a) ((T)INT_WIDE(INT_U(a), scalar_ones))
#define INT_CLZ(a) ((T)((W)INT_BITS - INT_WIDE(INT_WIDE(INT_U(a), scalar_smear), scalar_ones)))
#define INT_CTZ(a) ((T)INT_WIDE(INT_U(~(W)(a) & ((W)(a) - 1)), scalar_ones))
#define INT_BSWAP(a) ((T)(scalar_swap((uint64_t)(W)(a)) >> (64 - 8 * sizeof(T))))
#define INT_SIGNED_T ((T)-1 < (T)1)
#define INT_PRODUCT(a, b) ((uint64_t)(int64_t)(a) * (uint64_t)(int64_t)(b))
#define INT_MUL_HI(a, b)                                                                           \
    ((T)(sizeof(T) < 8                                                                             \
             ? (INT_SIGNED_T ? (uint64_t)((int64_t)INT_PRODUCT(a, b) >> (INT_BITS & 63))           \
                             : INT_PRODUCT(a, b) >> (INT_BITS & 63))                               \
             : scalar_mul_hi((uint64_t)(a), (uint64_t)(b)) -                                       \
                   (INT_NEGATIVE(a) ? (uint64_t)(b) : 0) - (INT_NEGATIVE(b) ? (uint64_t)(a) : 0)))

static inline uint32_t scalar_ones_32(uint32_t u) {
    u = u - (u >> 1 & 0x55555555u);
    u = (u & 0x33333333u) + (u >> 2 & 0x33333333u);
    return ((u + (u >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}
static inline uint64_t scalar_ones_64(uint64_t u) {
    u = u - (u >> 1 & 0x5555555555555555u);
    u = (u & 0x3333333333333333u) + (u >> 2 & 0x3333333333333333u);
    return ((u + (u >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56;
}
static inline uint32_t scalar_smear_32(uint32_t u) {
    u |= u >> 1, u |= u >> 2, u |= u >> 4, u |= u >> 8;
    return u | u >> 16;
}
static inline uint64_t scalar_smear_64(uint64_t u) {
    u |= u >> 1, u |= u >> 2, u |= u >> 4, u |= u >> 8, u |= u >> 16;
    return u | u >> 32;
}
static inline uint64_t scalar_swap(uint64_t u) { return __builtin_bswap64(u); }
// In halves of 32 bits: vectors have no wider product.
static inline uint64_t scalar_mul_hi(uint64_t a, uint64_t b) {
    uint64_t al = a & 0xffffffffu, ah = a >> 32, bl = b & 0xffffffffu, bh = b >> 32;
    uint64_t m = ah * bl + (al * bl >> 32), n = al * bh + (m & 0xffffffffu); // none overflows
    return ah * bh + (m >> 32) + (n >> 32);
}

#endif
