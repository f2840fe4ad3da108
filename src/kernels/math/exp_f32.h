// SPDX-License-Identifier: MIT
// The exponential core in single precision: exp.h with floats.
//
//     e^x = 2^k 2^(i/16) e^r,   n = 16k + i = nint(16 x / ln 2),   |r| <= ln 2 / 32
//
// x - n L1 is exact here too: a multiple of 2^-28 (or of x's own unit) below 2^-5. e^r - 1 = r +
// r^2 q(r), q of degree 1 (error 2^-29.2 of the result), or 2 (2^-36.5) where the result is e^x
// - 1.
#ifndef WEFT_KERN_MATH_EXP_F32_H
#define WEFT_KERN_MATH_EXP_F32_H

#include "vec.h"

static const float exps_head[16] = {0x1p0f,        0x1.0b5586p0f, 0x1.172b84p0f, 0x1.2387a6p0f,
                                    0x1.306fep0f,  0x1.3dea64p0f, 0x1.4bfdaep0f, 0x1.5ab07ep0f,
                                    0x1.6a09e6p0f, 0x1.7a1148p0f, 0x1.8ace54p0f, 0x1.9c4918p0f,
                                    0x1.ae89fap0f, 0x1.c199bep0f, 0x1.d5818ep0f, 0x1.ea4afap0f};
static const float exps_tail[16] = {
    0x0p0f,           0x1.9f3122p-25f,  -0x1.c15742p-27f, 0x1.ceac48p-25f,
    0x1.4636e2p-25f,  0x1.824684p-25f,  -0x1.593abcp-25f, -0x1.5bd5ecp-27f,
    0x1.9fcef4p-26f,  -0x1.829fdp-25f,  0x1.15506ep-27f,  0x1.51f848p-27f,
    -0x1.a94b14p-26f, -0x1.3d56b2p-27f, -0x1.822dbcp-27f, 0x1.52486cp-27f};

static const float exps_base[16] = {0x1p0f, 0x1.fb5586p-1f, 0x1.f72b84p-1f, 0x1.f387a6p-1f, 0x1.f06fep-1f, 0x1.edea64p-1f, 0x1.ebfdaep-1f, 0x1.eab07ep-1f, 0x1.ea09e6p-1f, 0x1.ea1148p-1f, 0x1.eace54p-1f, 0x1.ec4918p-1f, 0x1.ee89fap-1f, 0x1.f199bep-1f, 0x1.f5818ep-1f, 0x1.fa4afap-1f};
static const float exps_rest[16] = {0x0p0f, 0x1.8d96d4p-25f, -0x1.9c0c22p-27f, 0x1.964904p-25f, 0x1.125002p-25f, 0x1.370be4p-25f, -0x1.0a355p-25f, -0x1.00d8acp-27f, 0x1.26055cp-26f, -0x1.05cb44p-25f, 0x1.67a1cap-28f, 0x1.a3b5e4p-28f, -0x1.f9c304p-27f, -0x1.6961b4p-28f, -0x1.a5217cp-28f, 0x1.61428ep-28f};

#define EXPS_MAGIC 0x1.8p23f
#define EXPS_16_LN2 0x1.715476p4f
#define EXPS_LN2_16 0x1.62e43p-5f
#define EXPS_LN2_16_TAIL -0x1.05c61p-33f

#define EXPS_MAX 0x1.62e42ep6f  // log of the largest float; above: inf
#define EXPS_MIN -0x1.5d589ep6f // log of 2^-126, or the float above it
#define EXPS_ZERO -0x1.ap6f     // below log of 2^-150: here the result is 0 at the latest

RECIPE_FN vw exps_scale(vw n) {
    return (n & ~15u) << 19;
}
RECIPE_FN vs exps_scaled(vs x, vw scale) {
    return from_w(bits_s(x) + scale);
}
RECIPE_FN vs exps_power(vw scale) {
    return from_w(0x3f800000u + scale);
} // 2^k

// e^x = 2^k (head + tail)
struct exps_parts {
    vs head, tail;
    vw scale;
};
RECIPE_FN struct exps_parts exps_split(vs x) {
    vs m = fma_s(x, EXPS_16_LN2, EXPS_MAGIC), nf = m - EXPS_MAGIC;
    vw n = bits_s(m);
    vs r = fma_s(nf, -EXPS_LN2_16, x);
    r = fma_s(nf, -EXPS_LN2_16_TAIL, r);
    vs head = lut16_s(exps_head, n);
    vs p = fma_s(r * r, fma_s(r, 0x1.555764p-3f, 0x1.000222p-1f), r);
    return (struct exps_parts){head, fma_s(head, p, lut16_s(exps_tail, n)), exps_scale(n)};
}
// The same for e^(x + xl), |xl| small, and with the longer polynomial
RECIPE_FN struct exps_parts exps_split2(vs x, vs xl) {
    vs m = fma_s(x, EXPS_16_LN2, EXPS_MAGIC), nf = m - EXPS_MAGIC;
    vw n = bits_s(m);
    vs r = fma_s(nf, -EXPS_LN2_16, x);
    r = r + fma_s(nf, -EXPS_LN2_16_TAIL, xl);
    vs head = lut16_s(exps_head, n);
    vs q = fma_s(r, fma_s(r, 0x1.555698p-5f, 0x1.5556ep-3f), 0.5f);
    return (struct exps_parts){head, fma_s(head, fma_s(r * r, q, r), lut16_s(exps_tail, n)),
                               exps_scale(n)};
}

// (e^r - 1 - r) / r^2, the longer polynomial
RECIPE_FN vs exps_q(vs r) {
    return fma_s(r, fma_s(r, 0x1.555698p-5f, 0x1.5556ep-3f), 0.5f);
}
// s = 2^k 2^(i/16), to the rounding of the table; the low bits of n are 16k + i
RECIPE_FN vs exps_step(vw n) {
    return from_w(bits_s(lut16_s(exps_base, n)) + (n << 19));
}
// e^(x + xl) = s + s p, |x| < 87, |xl| small
struct exps_near {
    vs s, p;
};
RECIPE_FN struct exps_near exps_near(vs x) {
    vs m = fma_s(x, EXPS_16_LN2, EXPS_MAGIC), nf = m - EXPS_MAGIC;
    vs r = fma_s(nf, -EXPS_LN2_16, x);
    r = fma_s(nf, -EXPS_LN2_16_TAIL, r);
    vs p = fma_s(r * r, fma_s(r, 0x1.555764p-3f, 0x1.000222p-1f), r);
    return (struct exps_near){exps_step(bits_s(m)), p + lut16_s(exps_rest, bits_s(m))};
}
// the same with the longer polynomial
RECIPE_FN struct exps_near exps_near2(vs x, vs xl) {
    vs m = fma_s(x, EXPS_16_LN2, EXPS_MAGIC), nf = m - EXPS_MAGIC;
    vs r = fma_s(nf, -EXPS_LN2_16, x);
    r = r + fma_s(nf, -EXPS_LN2_16_TAIL, xl);
    vs p = fma_s(r * r, exps_q(r), r);
    return (struct exps_near){exps_step(bits_s(m)), p + lut16_s(exps_rest, bits_s(m))};
}
// as head and tail
RECIPE_FN struct sdv exps_dd(struct exps_near e) {
    vs y = fma_s(e.s, e.p, e.s);
    return (struct sdv){y, fma_s(e.s, e.p, e.s - y)};
}

// e^x - 1 as head and tail, -32 <= x <= 88; plus tells that x >= 0
RECIPE_FN struct sdv expm1s_dd(vs x, bool plus) {
    vs m = fma_s(x, EXPS_16_LN2, EXPS_MAGIC), nf = m - EXPS_MAGIC;
    vs r0 = fma_s(nf, -EXPS_LN2_16, x);
    vs r = fma_s(nf, -EXPS_LN2_16_TAIL, r0), rl = fma_s(nf, -EXPS_LN2_16_TAIL, r0 - r);
    vs s = exps_step(bits_s(m)), rest = lut16_s(exps_rest, bits_s(m));
    struct sdv p = prod_s(s, r);
    struct sdv b = plus ? fast_sum_s(s, VS(-1.0f)) : sum_s(s, VS(-1.0f));
    struct sdv t = fast_sum_s(b.hi, p.hi); // b.hi is 0 or the larger
    vs c = fma_s(rest, r, rl) + rest, lo = fma_s(s, fma_s(r * r, exps_q(r), c), p.lo);
    return fast_sum_s(t.hi, (t.lo + b.lo) + lo);
}

// (n.hi + n.lo) / (d.hi + d.lo) as a quotient and its correction
RECIPE_FN struct sdv div_sd(struct sdv n, struct sdv d) {
    vs inv = 1.0f / d.hi, q = n.hi * inv;
    vs rest = fma_s(-q, d.hi, n.hi) + fma_s(-q, d.lo, n.lo);
    return (struct sdv){q, rest * inv};
}

// and rounded to one number
RECIPE_FN vs ratio_sd(struct sdv n, struct sdv d) {
    vs inv = 1.0f / d.hi, q = n.hi * inv;
    return fma_s(fma_s(-q, d.hi, n.hi) + fma_s(-q, d.lo, n.lo), inv, q);
}

// 2^k (head + tail) where the result is subnormal, rounded once (see exp.h)
RECIPE_FN vs exps_join_tiny(struct exps_parts e) {
    vs up = from_w(0x7e800000u + e.scale); // 2^(k+126)
    vs sum = e.head + e.tail, err = e.tail - (sum - e.head);
    vs s = sum * up, one = 1.0f + s;
    vs lo = ((1.0f - one) + s) + err * up;
    vs tiny = ((one + lo) - 1.0f) * 0x1p-126f;
    return lt_s(s, 1.0f, tiny, exps_scaled(sum, e.scale));
}
// 2^k (head + tail) where x is its logarithm, from 0 to inf; a NaN x is kept
RECIPE_FN vs exps_join(struct exps_parts e, vs x) {
    vs y = exps_scaled(e.head + e.tail, e.scale);
    y = lt_s(EXPS_MAX, x, __builtin_inff(), y);
    if (any_lt_s(x, EXPS_MIN)) {
        y = lt_s(x, EXPS_MIN, exps_join_tiny(e), y);
        y = lt_s(x, EXPS_ZERO, 0.0f, y);
    }
    return eq_s(x, x, y, x + x);
}
#endif
