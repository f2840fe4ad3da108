// SPDX-License-Identifier: MIT
// gcd and lcm of the integer types, on absolute values; results wrap to the type (gcd(MIN, MIN) is MIN,
// lcm wraps as products do); gcd(0, x) is |x|, lcm(0, x) is 0.
//
// The binary algorithm: common twos are counted first, then the smaller of two odd numbers is taken from the
// larger and its twos dropped. One step per turn for an element, no division but the one of lcm.
#include "../math/math.h"

RECIPE_FN uint64_t gcd_of(uint64_t a, uint64_t b) {
    if (a == 0 || b == 0) return a | b;
    int twos = __builtin_ctzll(a | b);
    a >>= __builtin_ctzll(a);
    while (b) {
        b >>= __builtin_ctzll(b);
        uint64_t low = MIN_OF(a, b);
        b = MAX_OF(a, b) - low;
        a = low;
    }
    return a << twos;
}
RECIPE_FN uint64_t lcm_of(uint64_t a, uint64_t b) {
    return a && b ? a / gcd_of(a, b) * b : 0;
}
RECIPE_FN uint64_t magnitude(int64_t a) { return a < 0 ? 0 - (uint64_t)a : (uint64_t)a; }
RECIPE_FN uint64_t itself(uint64_t a) { return a; }

#define GCD_KERNEL(family, t, T, size)                                                             \
    kern_map KERN_NAME(family##_##t);                                                              \
    void KERN_NAME(family##_##t)(void *out, const void *a, const void *b, size_t n) {              \
        typedef T loose __attribute__((aligned(1), may_alias));                                    \
        loose *z = out;                                                                            \
        const loose *x = a, *y = b;                                                                \
        for (size_t i = 0; i < n; i++)                                                             \
            z[i] = (T)family##_of(size(x[i]), size(y[i]));                                         \
    }
#define GCD_KERNELS(t, T, size) GCD_KERNEL(gcd, t, T, size) GCD_KERNEL(lcm, t, T, size)
GCD_KERNELS(i8, int8_t, magnitude)
GCD_KERNELS(i16, int16_t, magnitude)
GCD_KERNELS(i32, int32_t, magnitude)
GCD_KERNELS(i64, int64_t, magnitude)
GCD_KERNELS(u8, uint8_t, itself)
GCD_KERNELS(u16, uint16_t, itself)
GCD_KERNELS(u32, uint32_t, itself)
GCD_KERNELS(u64, uint64_t, itself)
