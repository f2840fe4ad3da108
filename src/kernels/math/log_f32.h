// SPDX-License-Identifier: MIT
// The logarithm core in single precision: log.h with floats and a table made the other way round.
//
//     x = 2^k m,  0.698 <= m < 1.396,    log x = k log 2 - log c + log(1 + r),   r = m c - 1
//
// c has so few bits (a multiple of 1/16, or of 1/32 below 1) that r = m c - 1 is exact in one FMA,
// at the price of |r| < 0.0434; -log c and log 2 come in head and tail, the heads on a grid of
// 2^-17 (base 2: -16, base 10: -18), so that w = k log2_head + head is exact. log(1+r) = r + r^2
// q(r), q of degree 4 (2^-37).
#ifndef WEFT_KERN_MATH_LOG_F32_H
#define WEFT_KERN_MATH_LOG_F32_H

#include "vec.h"

static const float logs_c[16] = {0x1.6p0f,  0x1.5p0f,  0x1.5p0f,  0x1.4p0f, 0x1.3p0f,  0x1.2p0f,
                                 0x1.2p0f,  0x1.1p0f,  0x1.1p0f,  0x1p0f,   0x1.ep-1f, 0x1.dp-1f,
                                 0x1.bp-1f, 0x1.ap-1f, 0x1.9p-1f, 0x1.7p-1f};
struct logs_table {
    float head[16], tail[16]; // -log_b c
    float two, two_tail;      // log_b 2
    float inv, inv_tail;      // 1 / ln b
};
static const struct logs_table logs_natural = {
    {-0x1.4618p-2f, -0x1.1676p-2f, -0x1.1676p-2f, -0x1.c9p-3f, -0x1.5ff4p-3f, -0x1.e27p-4f,
     -0x1.e27p-4f, -0x1.f0ap-5f, -0x1.f0ap-5f, 0x0p0f, 0x1.0858p-4f, 0x1.9338p-4f, 0x1.5bf4p-3f,
     0x1.a94p-3f, 0x1.f99p-3f, 0x1.522ap-2f},
    {-0x1.78438cp-19f, 0x1.aa2a2cp-21f, 0x1.aa2a2cp-21f, 0x1.070cacp-20f, 0x1.f1eb0ep-20f,
     -0x1.db8abcp-22f, -0x1.db8abcp-22f, -0x1.86008cp-20f, -0x1.86008cp-20f, 0x0p0f,
     0x1.8b59e4p-20f, -0x1.0d1536p-19f, 0x1.ad50f6p-25f, -0x1.2c3752p-19f, 0x1.c6cb3cp-19f,
     0x1.c0e714p-19f},
    0x1.62e4p-1f,
    0x1.7f7d1cp-20f,
    0x1p0f,
    0x0p0f};
static const struct logs_table logs_binary = {
    {-0x1.d674p-2f, -0x1.91bcp-2f, -0x1.91bcp-2f, -0x1.49a8p-2f, -0x1.fbcp-3f, -0x1.5cp-3f,
     -0x1.5cp-3f, -0x1.664p-4f, -0x1.664p-4f, 0x0p0f, 0x1.7d6p-4f, 0x1.22d8p-3f, 0x1.f6p-3f,
     0x1.32cp-2f, 0x1.6cbp-2f, 0x1.e7ep-2f},
    {-0x1.3e032ep-18f, 0x1.5db83ap-20f, 0x1.5db83ap-20f, 0x1.ed0cbap-20f, -0x1.6b9026p-19f,
     -0x1.a39fbep-19f, -0x1.a39fbep-19f, 0x1.20a6dep-21f, 0x1.20a6dep-21f, 0x0p0f, 0x1.25b3eep-22f,
     0x1.6e155ap-18f, -0x1.3ab7cep-18f, -0x1.1c8f12p-22f, 0x1.ed0cbap-19f, -0x1.40358ep-19f},
    0x1p0f,
    0x0p0f,
    0x1.715476p0f,
    0x1.4ae0cp-26f};
static const struct logs_table logs_decimal = {
    {-0x1.1b3ep-3f, -0x1.e3bcp-4f, -0x1.e3bcp-4f, -0x1.8cfp-4f, -0x1.31b4p-4f, -0x1.a308p-5f,
     -0x1.a308p-5f, -0x1.af6p-6f, -0x1.af6p-6f, 0x0p0f, 0x1.cb4p-6f, 0x1.5e38p-5f, 0x1.2e3cp-4f,
     0x1.715cp-4f, 0x1.b72p-4f, 0x1.25bap-3f},
    {-0x1.c7b254p-21f, -0x1.ab0e1ap-24f, -0x1.ab0e1ap-24f, -0x1.838864p-20f, 0x1.f54772p-21f,
     -0x1.4eb05p-20f, -0x1.4eb05p-20f, 0x1.b53fc6p-24f, 0x1.b53fc6p-24f, 0x0p0f, -0x1.c0cc9ep-20f,
     0x1.66b7eap-21f, -0x1.8bf488p-20f, 0x1.0ce368p-20f, 0x1.cd1716p-20f, 0x1.042b5ep-20f},
    0x1.3441p-2f,
    0x1.a84fbcp-21f,
    0x1.bcb7b2p-2f,
    -0x1.5b235ep-27f};

#define LOGS_OFF 0x3f32aa00u // bits of the least m
#define LOGS_MIN 0x1p-126f

// log(x + xl) = w + wl + log(1 + r + rl), b-logarithms but for r
struct logs_parts {
    vs w, wl, r, rl;
};
// x alone, times 2^shift
RECIPE_FN struct logs_parts logs_split(vs x, float shift, const struct logs_table *t) {
    vw u = bits_s(x), d = u - LOGS_OFF, i = d >> 19;
    vs k = from_w(((d + (128u << 23)) >> 23) | 0x4b000000u) - (0x1p23f + 128.0f - shift);
    vs m = from_w(u - (d & 0xff800000u));
    vs w = fma_s(k, t->two, lut16_s(t->head, i)), wl = fma_s(k, t->two_tail, lut16_s(t->tail, i));
    return (struct logs_parts){w, wl, fma_s(m, lut16_s(logs_c, i), -1.0f), VS(0.0f)};
}
// log(1 + x + xl), |xl| at most about an ulp of x, natural: c scaled instead of u = 1 + x. -1 < x < 2^100
RECIPE_FN struct logs_parts logs_split1p(vs x, vs xl) {
    const struct logs_table *t = &logs_natural;
    vs u = 1.0f + x, more = lt_s(x, 1.0f, 1.0f, x), less = lt_s(x, 1.0f, x, 1.0f);
    vs ul = (less - (u - more)) + xl;
    vw d = bits_s(u) - LOGS_OFF, i = d >> 19;
    vs k = from_w(((d + (128u << 23)) >> 23) | 0x4b000000u) - (0x1p23f + 128.0f);
    vs c = from_w(bits_s(lut16_s(logs_c, i)) - (d & 0xff800000u));
    vs w = fma_s(k, t->two, lut16_s(t->head, i)), wl = fma_s(k, t->two_tail, lut16_s(t->tail, i));
    struct sdv r = fast_sum_s(fma_s(u, c, -1.0f), ul * c); // the first is 0 or the larger
    return (struct logs_parts){w, wl, r.hi, r.lo};
}

// (log(1+r) - r) / r^2
RECIPE_FN vs logs_q(vs r) {
    vs q = fma_s(r, -0x1.560f88p-3f, 0x1.9a2236p-3f);
    q = fma_s(r, q, -0x1.ffffe2p-3f);
    q = fma_s(r, q, 0x1.555552p-2f);
    return fma_s(r, q, -0.5f);
}

// The sum of the parts, natural logarithm, rl left out
RECIPE_FN struct sdv logs_join(struct logs_parts a) {
    struct sdv s = fast_sum_s(a.w, a.r);
    return (struct sdv){s.hi, fma_s(a.r * a.r, logs_q(a.r), s.lo + a.wl)};
}
// and in another base
RECIPE_FN struct sdv logs_join_base(struct logs_parts a, const struct logs_table *t) {
    struct sdv p = prod_s(a.r, VS(t->inv)), s = fast_sum_s(a.w, p.hi);
    vs lo = s.lo + (a.wl + fma_s(a.r, t->inv_tail, p.lo));
    return (struct sdv){s.hi, fma_s(a.r * a.r * logs_q(a.r), t->inv, lo)};
}
// log(1 + x + xl), |xl| at most about an ulp of x; -1 < x < 2^100
RECIPE_FN struct sdv log1ps_dd(vs x, vs xl) {
    struct logs_parts a = logs_split1p(x, xl);
    a.wl = a.wl + a.rl;
    return logs_join(a);
}
#define LOG1PS_FAR 0x1p100f // from here on log x

RECIPE_FN vs logs_far(vs x) { // x from 1 to inf, or NaN
    struct sdv s = logs_join(logs_split(x, 0.0f, &logs_natural));
    return lt_s(x, __builtin_inff(), s.hi + s.lo, x + x);
}
#endif
