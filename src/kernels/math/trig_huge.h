// SPDX-License-Identifier: MIT
// Reduction of huge angles, exact for every finite argument: shared by the trigonometric recipes.
//
// In: a finite x >= 2^12. Out: x = (n + half + f) pi / (quarter ? 2 : 1), |f| <= 1/2, the parity of n and
// f * pi (or f * pi / 2) as hi + lo. Method (Payne and Hanek): x is an integer m times 2^e; of 1/pi only the bits of
// weight 2^-e to 2^(-e-191) matter modulo 2, and their product with m is taken in 192-bit integers. The
// smallest |f| of a double is about 2^-62, so at least 76 bits of f are good. Integer work only, until the
// end: the same in every build.
#ifndef WEFT_KERN_TRIG_HUGE_H
#define WEFT_KERN_TRIG_HUGE_H

#include "math.h"

struct angle {
    double hi, lo;
    uint64_t odd; // parity of n
};
struct u192 {
    uint64_t hi, mid, lo;
};
__extension__ typedef unsigned __int128 trig_u128;

// binary digits of 1/pi, after one word of zeros for exponents below zero
static const uint64_t inv_pi_bits[] = {
    0x0000000000000000u, 0x517cc1b727220a94u, 0xfe13abe8fa9a6ee0u, 0x6db14acc9e21c820u,
    0xff28b1d5ef5de2b0u, 0xdb92371d2126e970u, 0x0324977504e8c90eu, 0x7f0ef58e5894d39fu,
    0x74411afa975da242u, 0x74ce38135a2fbf20u, 0x9cc8eb1cc1a99cfau, 0x4e422fc5defc941du,
    0x8ffc4bffef02cc07u, 0xf79788c5ad05368fu, 0xb69b3f6793e584dbu, 0xa7a31fb34f2ff516u,
    0xba93dd63f5f2f8bdu, 0x9e839cfbc5294975u, 0x35fdafd88fc6ae84u, 0x2b0198237e3db5d5u,
};

static inline uint64_t high_bits(uint64_t a, uint64_t b, unsigned shift) {
    return shift ? a << shift | b >> (64 - shift) : a;
}
static inline struct u192 shift_left(struct u192 v, unsigned shift) {
    return (struct u192){high_bits(v.hi, v.mid, shift), high_bits(v.mid, v.lo, shift),
                         v.lo << shift};
}

// x / pi modulo 2, scaled by 2^191
static inline struct u192 turns_of(double x) {
    uint64_t u = bits64(x), m = (u & 0xfffffffffffffu) | 0x10000000000000u;
    unsigned at = (unsigned)(u >> 52) - 1075u + 63u;
    const uint64_t *w = inv_pi_bits + at / 64;
    unsigned s = at % 64;
    trig_u128 lo = (trig_u128)m * high_bits(w[2], w[3], s);
    trig_u128 mid = (trig_u128)m * high_bits(w[1], w[2], s) + (uint64_t)(lo >> 64);
    uint64_t hi = m * high_bits(w[0], w[1], s) + (uint64_t)(mid >> 64);
    return (struct u192){hi, (uint64_t)mid, (uint64_t)lo};
}

static inline struct u192 negated(struct u192 v) {
    struct u192 r = {~v.hi, ~v.mid, ~v.lo + 1u};
    r.mid += r.lo == 0;
    r.hi += r.lo == 0 && r.mid == 0;
    return r;
}

// v / 2^192 as an exact 53-bit leading part and a rounded rest
static inline struct dd64 fraction_of(struct u192 v) {
    unsigned zeros = 0;
    if (v.hi == 0) {
        v = (struct u192){v.mid, v.lo, 0};
        zeros = 64;
    }
    unsigned s = v.hi ? (unsigned)__builtin_clzll(v.hi) : 63u;
    v = shift_left(v, s);
    double scale = from64((uint64_t)(1023u - zeros - s) << 52);
    double hi = (double)(v.hi >> 11) * 0x1p-53;
    double lo = (double)(v.hi << 53 | v.mid >> 11) * 0x1p-117;
    return (struct dd64){hi * scale, lo * scale};
}

// half: measure from odd multiples of pi/2 (cosine); quarter: in units of pi/2 (tangent)
static __attribute__((noinline)) struct angle huge_angle(double x, int half, int quarter) {
    struct u192 v = turns_of(x);
    if (quarter) v = shift_left(v, 1);
    if (half) v.hi += (uint64_t)1 << 62;
    uint64_t odd = (v.hi >> 63 ^ v.hi >> 62) & 1u; // integer part, rounded to nearest
    v = shift_left(v, 1);                          // the fraction, as a signed number
    int minus = (int)(v.hi >> 63);
    struct dd64 f = fraction_of(minus ? negated(v) : v);
    double unit = quarter ? 0x1.921fb54442d18p0 : 0x1.921fb54442d18p1;
    double rest = quarter ? 0x1.1a62633145c07p-54 : 0x1.1a62633145c07p-53;
    struct dd64 p = two_prod(f.hi, unit);
    p = fast_two_sum(p.hi, p.lo + fma64(f.hi, rest, f.lo * unit));
    return (struct angle){minus ? -p.hi : p.hi, minus ? -p.lo : p.lo, odd};
}

#endif
