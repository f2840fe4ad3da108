// SPDX-License-Identifier: MIT
// floor_divide and remainder of the integer types: quotient towards minus infinity, remainder with the
// divisor's sign, x // 0 = 0, x % 0 = 0, MIN // -1 = MIN, MIN % -1 = 0; nothing traps.
//
// There is no vector division of integers, but the truncated quotient of two n-bit integers is the truncated
// floating quotient when the format has more than 2n bits to spare for it: a quotient that is not an integer
// is at least 1/|b| away from one, more than one rounding can bridge. So 8 and 16 bits divide in f32, 32 bits
// in f64, and 64 bits use the machine's instruction. Divisors that would trap or overflow are replaced first
// and their results selected.
#include "../math/math.h"

// ---- truncated quotients, for divisors that are neither 0 nor the one that overflows ---------------------
RECIPE_FN int32_t quot_small(int32_t a, int32_t b) { return (int32_t)((float)a / (float)b); }
RECIPE_FN int32_t quot_i32(int32_t a, int32_t b) { return (int32_t)((double)a / (double)b); }
RECIPE_FN int64_t quot_i64(int64_t a, int64_t b) { return a / b; }

RECIPE_FN double f64_of_u32(uint32_t a) {
    return (double)(int32_t)(a ^ 0x80000000u) + 0x1p31; // vectors convert signed integers only
}
// b >= 2, so that the quotient fits in 31 bits
RECIPE_FN uint32_t quot_u32(uint32_t a, uint32_t b) {
    return (uint32_t)(int32_t)(f64_of_u32(a) / f64_of_u32(b));
}
RECIPE_FN uint64_t quot_u64(uint64_t a, uint64_t b) { return a / b; }

// ---- one element ------------------------------------------------------------------------------------
// W: where the work is done, signed; -1 is taken as 1 and the result negated, which wraps where it must.
#define SIGNED_ONE(t, T, W, UW, quot)                                                              \
    RECIPE_FN T div_##t(T a, T b) {                                                                \
        W d = ((b == 0) | (b == -1)) ? 1 : b, q = quot(a, d), r = a - q * d;                       \
        q -= (r != 0) & ((r ^ d) < 0);                                                             \
        q = b == -1 ? (W)((UW)0 - (UW)a) : q;                                                      \
        return (T)(b == 0 ? 0 : q);                                                                \
    }                                                                                              \
    RECIPE_FN T mod_##t(T a, T b) {                                                                \
        W d = ((b == 0) | (b == -1)) ? 1 : b, r = a - quot(a, d) * d;                              \
        return (T)(((r != 0) & ((r ^ d) < 0)) ? r + d : r);                                        \
    }
SIGNED_ONE(i8, int8_t, int32_t, uint32_t, quot_small)
SIGNED_ONE(i16, int16_t, int32_t, uint32_t, quot_small)
SIGNED_ONE(i32, int32_t, int32_t, uint32_t, quot_i32)
SIGNED_ONE(i64, int64_t, int64_t, uint64_t, quot_i64)

// Divisors 0 and 1 are taken as 2 and their results selected.
#define UNSIGNED_ONE(t, T, W, quot)                                                                \
    RECIPE_FN T div_##t(T a, T b) {                                                                \
        W d = b <= 1 ? 2 : b, q = quot(a, d);                                                      \
        q = b == 1 ? (W)a : q;                                                                     \
        return (T)(b == 0 ? 0 : q);                                                                \
    }                                                                                              \
    RECIPE_FN T mod_##t(T a, T b) {                                                                \
        W d = b <= 1 ? 2 : b, r = (W)(a - quot(a, d) * d);                                         \
        return (T)(b <= 1 ? 0 : r);                                                                \
    }
UNSIGNED_ONE(u8, uint8_t, int32_t, quot_small)
UNSIGNED_ONE(u16, uint16_t, int32_t, quot_small)
UNSIGNED_ONE(u32, uint32_t, uint32_t, quot_u32)
UNSIGNED_ONE(u64, uint64_t, uint64_t, quot_u64)

// ---- arrays, of any alignment -----------------------------------------------------------------------
#define DIVMOD_KERNEL(family, t, T, one)                                                           \
    kern_map KERN_NAME(family##_##t);                                                              \
    void KERN_NAME(family##_##t)(void *out, const void *a, const void *b, size_t n) {              \
        typedef T loose __attribute__((aligned(1), may_alias));                                    \
        loose *z = out;                                                                            \
        const loose *x = a, *y = b;                                                                \
        MAP_INDEPENDENT for (size_t i = 0; i < n; i++) z[i] = one(x[i], y[i]);                     \
    }
#define DIVMOD_KERNELS(t, T)                                                                       \
    DIVMOD_KERNEL(floor_divide, t, T, div_##t)                                                     \
    DIVMOD_KERNEL(remainder, t, T, mod_##t)
DIVMOD_KERNELS(i8, int8_t)
DIVMOD_KERNELS(i16, int16_t)
DIVMOD_KERNELS(i32, int32_t)
DIVMOD_KERNELS(i64, int64_t)
DIVMOD_KERNELS(u8, uint8_t)
DIVMOD_KERNELS(u16, uint16_t)
DIVMOD_KERNELS(u32, uint32_t)
DIVMOD_KERNELS(u64, uint64_t)
