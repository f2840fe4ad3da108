// SPDX-License-Identifier: MIT
// Exponents and neighbours: scale_by_power (ldexp), frexp_mantissa, frexp_power, nextafter; f64 and f32.
//
// All are exact but scale_by_power, which rounds once, where the result is subnormal. It multiplies
// by three powers of two; only the last product can round: a step down keeps a mantissa's length above the
// least exponent, and what a step loses all the same would end as zero.
#include "math.h"

// ---- a 2^n --------------------------------------------------------------------------------------
// UP, DOWN: exponents of a step either way; MAGIC adds and leaves the integer in the low bits
#define SCALE(t, T, U, bits, from, UP, DOWN, MAGIC, FRACTION, LIMIT)                               \
    RECIPE_FN T power_##t(T n) { /* 2^n of a normal number */                                      \
        return from((bits(n + MAGIC) + (UP)) << FRACTION);                                         \
    }                                                                                              \
    RECIPE_FN T scale_##t(T x, T b) {                                                              \
        T n = b < -LIMIT ? -LIMIT : b > LIMIT ? LIMIT : b, y = x;                                  \
        n = (n + MAGIC) - MAGIC;                                                                   \
        for (int i = 0; i < 2; i++) {                                                              \
            T step = n > UP ? (T)UP : n < 1 - UP ? (T)DOWN : (T)0;                                 \
            y = y * power_##t(step);                                                               \
            n = n - step;                                                                          \
        }                                                                                          \
        n = n > UP ? (T)UP : n < 1 - UP ? (T)(1 - UP) : n;                                         \
        y = y * power_##t(n);                                                                      \
        return b == b ? y : x + b;                                                                 \
    }
SCALE(f64, double, uint64_t, bits64, from64, 1023, -969, 0x1.8p52, 52, 3000)
SCALE(f32, float, uint32_t, bits32, from32, 127, -102, 0x1.8p23f, 23, 400)
KERNEL2(scale_by_power, f64, scale_f64)
KERNEL2(scale_by_power, f32, scale_f32)

// ---- a = m 2^e, 1/2 <= |m| < 1 ------------------------------------------------------------------
// Zeros, infinities and NaN are their own mantissa, their exponent is 0.
RECIPE_FN int plain64(double x) { return (int)(abs64(x) > 0) & (int)(abs64(x) < (double)INFINITY); }
RECIPE_FN int plain32(float x) { return (int)(abs32(x) > 0) & (int)(abs32(x) < INFINITY); }

RECIPE_FN double mantissa_f64(double x) {
    double n = abs64(x) < 0x1p-1022 ? x * 0x1p54 : x;
    double m = from64((bits64(n) & 0x800fffffffffffffu) | 0x3fe0000000000000u);
    return plain64(x) ? m : x;
}
RECIPE_FN float mantissa_f32(float x) {
    float n = abs32(x) < 0x1p-126f ? x * 0x1p25f : x;
    float m = from32((bits32(n) & 0x807fffffu) | 0x3f000000u);
    return plain32(x) ? m : x;
}
RECIPE_FN double exponent_f64(double x) {
    int small = abs64(x) < 0x1p-1022;
    double n = small ? x * 0x1p54 : x;
    double e = from64((bits64(n) << 1 >> 53) | 0x4330000000000000u) - (0x1p52 + 1022);
    return plain64(x) ? (small ? e - 54 : e) : 0;
}
RECIPE_FN float exponent_f32(float x) {
    int small = abs32(x) < 0x1p-126f;
    float n = small ? x * 0x1p25f : x;
    float e = from32((bits32(n) << 1 >> 24) | 0x4b000000u) - (0x1p23f + 126);
    return plain32(x) ? (small ? e - 25 : e) : 0;
}
KERNEL1(frexp_mantissa, f64, mantissa_f64)
KERNEL1(frexp_mantissa, f32, mantissa_f32)
KERNEL1(frexp_power, f64, exponent_f64)
KERNEL1(frexp_power, f32, exponent_f32)

// ---- neighbours ---------------------------------------------------------------------------------
// Away from zero the bits count up. Zero's neighbours are the least numbers.
RECIPE_FN double next_f64(double x, double y) {
    uint64_t u = bits64(x), away = (x < y) == (x > 0);
    double next = from64(away ? u + 1 : u - 1);
    next = x == 0 ? sign64(0x1p-1074, y) : next;
    next = x == y ? y : next;
    return ((x == x) & (y == y)) ? next : x + y;
}
RECIPE_FN float next_f32(float x, float y) {
    uint32_t u = bits32(x), away = (x < y) == (x > 0);
    float next = from32(away ? u + 1 : u - 1);
    next = x == 0 ? sign32(0x1p-149f, y) : next;
    next = x == y ? y : next;
    return ((x == x) & (y == y)) ? next : x + y;
}
KERNEL2(nextafter, f64, next_f64)
KERNEL2(nextafter, f32, next_f32)
