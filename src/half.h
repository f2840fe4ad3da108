// SPDX-License-Identifier: MIT
// f16 and bf16 as bits: conversions that round once, to nearest even, with subnormals, infinities and
// NaN (quiet, the upper bits of the payload kept). Branches are selections, so that loops over them
// become vectors. They rely on the default floating-point environment, as everything in a run does.
// Machine code for processors without conversion instructions is the same arithmetic.
#ifndef WEFT_HALF_H
#define WEFT_HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t half_bits_of(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}
static inline float half_float_of(uint32_t u) {
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

// The exponents of f16 moved into place are those of f32 less 112: a product puts them right, also for
// subnormals. Infinities and NaN then need the rest of the exponent.
static inline float half_from_f16(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = (uint32_t)(h & 0x7fff) << 13;
    uint32_t u = half_bits_of(half_float_of(rest) * 0x1p112f);
    uint32_t nan = rest > 0x0f800000 ? 0x7fc00000 : 0x7f800000;
    return half_float_of(sign | (rest >= 0x0f800000 ? u | nan : u));
}

// Below 2^-14 adding 0.5, whose last bit is the least f16, rounds; above, adding to the bits does.
static inline uint16_t half_to_f16(float f) {
    uint32_t u = half_bits_of(f), sign = u >> 16 & 0x8000, x = u & 0x7fffffff;
    uint32_t small = half_bits_of(half_float_of(x) + 0.5f) - 0x3f000000;
    uint32_t normal = (x + 0xfff + (x >> 13 & 1) - 0x38000000) >> 13;
    uint32_t r = x < 0x38800000 ? small : normal;
    r = x >= 0x477ff000 ? 0x7c00 : r;
    r = x > 0x7f800000 ? 0x7e00 | (x >> 13 & 0x3ff) : r;
    return (uint16_t)(sign | r);
}

static inline float half_from_bf16(uint16_t h) {
    uint32_t u = (uint32_t)h << 16;
    return half_float_of((u & 0x7fffffff) > 0x7f800000 ? u | 0x400000 : u);
}
static inline uint16_t half_to_bf16(float f) {
    uint32_t u = half_bits_of(f);
    uint32_t r = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    return (uint16_t)((u & 0x7fffffff) > 0x7f800000 ? u >> 16 | 0x40 : r);
}

// f64 to f32 rounded to odd: towards zero, then the last bit set when anything was lost. Rounding that to a
// half gives what rounding the f64 once would.
static inline float half_odd(double d) {
    float f = (float)d;
    uint32_t u = half_bits_of(f);
    u -= fabs((double)f) > fabs(d);
    return half_float_of(u | ((double)f != d));
}
static inline uint16_t half_f64_to_f16(double d) { return half_to_f16(half_odd(d)); }
static inline uint16_t half_f64_to_bf16(double d) { return half_to_bf16(half_odd(d)); }

#endif
