// SPDX-License-Identifier: MIT
// pow of the integer types: exact modulo 2^n. A negative exponent gives 0, except that 1 to any power is
// 1 and -1 is 1 or -1 by parity.
//
// Square and multiply, a block of elements at a time: all elements of a block take the number of steps
// of its largest exponent, so that each step is one vector loop; finished elements multiply by one.
#include "../math/math.h"

enum { BLOCK = 128 };

// T the element type, U its unsigned type, P an unsigned type of at least 32 bits: products of shorter
// types would otherwise be promoted to int, which may overflow.
#define POW_KERNEL(t, T, U, P, NEGATIVE)                                                           \
    typedef T loose_##t __attribute__((aligned(1), may_alias));                                    \
    static U prepare_##t(U *base, U *left, const loose_##t *x, const loose_##t *y, size_t n) {     \
        U any = 0;                                                                                 \
        for (size_t i = 0; i < n; i++) {                                                           \
            T b = x[i], e = y[i];                                                                  \
            int minus = NEGATIVE(e), unit = (b == 1) | (b == (T)-1);                               \
            base[i] = (U)((minus & !unit) ? (T)0 : b);                                             \
            left[i] = (U)(minus ? (unit ? (T)(e & 1) : (T)1) : e);                                 \
            any |= left[i];                                                                        \
        }                                                                                          \
        return any;                                                                                \
    }                                                                                              \
    static void block_##t(loose_##t *z, const loose_##t *x, const loose_##t *y, size_t n) {        \
        U base[BLOCK], left[BLOCK], power[BLOCK];                                                  \
        U any = prepare_##t(base, left, x, y, n);                                                  \
        for (size_t i = 0; i < n; i++) power[i] = 1;                                               \
        for (; any; any = (U)(any >> 1)) {                                                         \
            for (size_t i = 0; i < n; i++) {                                                       \
                U b = base[i], e = left[i], by = e & 1 ? b : (U)1;                                 \
                power[i] = (U)((P)power[i] * (P)by);                                               \
                base[i] = (U)((P)b * (P)b);                                                        \
                left[i] = (U)(e >> 1);                                                             \
            }                                                                                      \
        }                                                                                          \
        memcpy(z, power, n * sizeof *z);                                                           \
    }                                                                                              \
    kern_map KERN_NAME(pow_##t);                                                                   \
    void KERN_NAME(pow_##t)(void *out, const void *a, const void *b, size_t n) {                   \
        loose_##t *z = out;                                                                        \
        const loose_##t *x = a, *y = b;                                                            \
        for (size_t i = 0; i < n; i += BLOCK)                                                      \
            block_##t(z + i, x + i, y + i, MIN_OF(n - i, (size_t)BLOCK));                          \
    }
#define IS_NEGATIVE(e) ((e) < 0)
#define NEVER(e) 0

POW_KERNEL(i8, int8_t, uint8_t, uint32_t, IS_NEGATIVE)
POW_KERNEL(i16, int16_t, uint16_t, uint32_t, IS_NEGATIVE)
POW_KERNEL(i32, int32_t, uint32_t, uint32_t, IS_NEGATIVE)
POW_KERNEL(i64, int64_t, uint64_t, uint64_t, IS_NEGATIVE)
POW_KERNEL(u8, uint8_t, uint8_t, uint32_t, NEVER)
POW_KERNEL(u16, uint16_t, uint16_t, uint32_t, NEVER)
POW_KERNEL(u32, uint32_t, uint32_t, uint32_t, NEVER)
POW_KERNEL(u64, uint64_t, uint64_t, uint64_t, NEVER)
