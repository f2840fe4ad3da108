// SPDX-License-Identifier: MIT
// The logarithm core in single precision.
//
//     x = 2^k m,  0.703 <= m < 1.406,    log x = k log 2 - log c + log(1 + r),   r = m c - 1
//
// c, one of 16 near 1/m, has so few bits that r is exact in one FMA, |r| < 0.0343; -log c and log 2 come in head and
// tail, the heads on a grid of 2^-17 (base 2: -16, base 10: -18), so that w = k log2_head + head is exact.
// log_b(1+r) = r / ln b + r^2 q(r), q of degree 3 for each base (2^-35 at the ends). w + r / ln b is one FMA; what it
// lacks is had by a second one, since its difference from w has at most 24 bits.
#ifndef WEFT_KERN_MATH_LOG_F32_H
#define WEFT_KERN_MATH_LOG_F32_H

#include "vec.h"

static const float logs_c[16] = {
    0x1.6p0f, 0x1.58p0f, 0x1.48p0f, 0x1.38p0f, 0x1.3p0f, 0x1.28p0f, 0x1.18p0f, 0x1.1p0f, 0x1.08p0f,
    0x1p0f, 0x1.ep-1f, 0x1.c8p-1f, 0x1.bp-1f, 0x1.98p-1f, 0x1.88p-1f, 0x1.7p-1f};
struct logs_table {
    float head[16], tail[16]; // -log_b c
    float two, two_tail;      // log_b 2
    float inv, inv_tail;      // 1 / ln b
    float q[4];
};
static const struct logs_table logs_natural = {
    {-0x1.4618p-2f, -0x1.2e8ep-2f, -0x1.fb9p-3f, -0x1.9524p-3f, -0x1.5ff4p-3f, -0x1.2954p-3f,
     -0x1.6f1p-4f, -0x1.f0ap-5f, -0x1.f82p-6f, 0x0p0f, 0x1.0858p-4f, 0x1.da7p-4f, 0x1.5bf4p-3f,
     0x1.d104p-3f, 0x1.1178p-2f, 0x1.522ap-2f},
    {-0x1.78438cp-19f, -0x1.5d708ep-21f, -0x1.86d5e4p-19f, -0x1.a9cf46p-19f, 0x1.f1eb0ep-20f,
     -0x1.2f82p-19f, 0x1.6ba8d4p-19f, -0x1.86008cp-20f, -0x1.361cfp-19f, 0x0p0f, 0x1.8b59e4p-20f,
     0x1.3b1c22p-19f, 0x1.ad50f6p-25f, -0x1.01b354p-20f, 0x1.d044fcp-19f, 0x1.c0e714p-19f},
    0x1.62e4p-1f,
    0x1.7f7d1cp-20f,
    1.0f,
    0.0f,
    {-0x1.fffffep-2f, 0x1.55554ep-2f, -0x1.0033ecp-2f, 0x1.9a2386p-3f}};
static const struct logs_table logs_binary = {
    {-0x1.d674p-2f, -0x1.b48p-2f, -0x1.6e24p-2f, -0x1.244p-2f, -0x1.fbcp-3f, -0x1.acf8p-3f,
     -0x1.08c8p-3f, -0x1.664p-4f, -0x1.6bap-5f, 0x0p0f, 0x1.7d6p-4f, 0x1.564p-3f, 0x1.f6p-3f,
     0x1.4f7p-2f, 0x1.8a88p-2f, 0x1.e7ep-2f},
    {-0x1.3e032ep-18f, 0x1.408c78p-18f, 0x1.e3263p-18f, -0x1.eac382p-20f, -0x1.6b9026p-19f,
     0x1.0e9258p-18f, 0x1.3b992cp-18f, 0x1.20a6dep-21f, -0x1.a6eb1ep-18f, 0x0p0f, 0x1.25b3eep-22f,
     -0x1.1eb002p-18f, -0x1.3ab7cep-18f, -0x1.134c4ep-20f, 0x1.80abfcp-18f, -0x1.40358ep-19f},
    1.0f,
    0.0f,
    0x1.715476p0f,
    0x1.4ae0cp-26f,
    {-0x1.715474p-1f, 0x1.ec7094p-2f, -0x1.71a71ep-2f, 0x1.27d6dep-2f}};
static const struct logs_table logs_decimal = {
    {-0x1.1b3ep-3f, -0x1.06ccp-3f, -0x1.b8ep-4f, -0x1.5fe8p-4f, -0x1.31b4p-4f, -0x1.0244p-4f,
     -0x1.3edp-5f, -0x1.af6p-6f, -0x1.b5ep-7f, 0x0p0f, 0x1.cb4p-6f, 0x1.9c18p-5f, 0x1.2e3cp-4f,
     0x1.93e8p-4f, 0x1.db1p-4f, 0x1.25bap-3f},
    {-0x1.c7b254p-21f, 0x1.4c2c9ep-22f, 0x1.b2c54cp-20f, -0x1.222bd4p-26f, 0x1.f54772p-21f,
     0x1.73e0f8p-20f, -0x1.199a5ep-21f, 0x1.b53fc6p-24f, -0x1.211d62p-20f, 0x0p0f,
     -0x1.c0cc9ep-20f, 0x1.7abfp-21f, -0x1.8bf488p-20f, -0x1.0f81ep-23f, 0x1.ed766ap-20f,
     0x1.042b5ep-20f},
    0x1.3441p-2f,
    0x1.a84fbcp-21f,
    0x1.bcb7b2p-2f,
    -0x1.5b235ep-27f,
    {-0x1.bcb7bp-3f, 0x1.287a7p-3f, -0x1.bd0e3cp-4f, 0x1.643ccep-4f}};

#define LOGS_OFF 0x3f340000u // bits of the least m
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

// (log_b(1+r) - r / ln b) / r^2
RECIPE_FN vs logs_q(vs r, const struct logs_table *t) {
    vs q = fma_s(r, t->q[3], t->q[2]);
    q = fma_s(r, q, t->q[1]);
    return fma_s(r, q, t->q[0]);
}

// The sum of the parts, natural logarithm, rl left out
RECIPE_FN struct sdv logs_join(struct logs_parts a) {
    struct sdv s = fast_sum_s(a.w, a.r);
    return (struct sdv){s.hi, fma_s(a.r * a.r, logs_q(a.r, &logs_natural), s.lo + a.wl)};
}
// and in another base
RECIPE_FN struct sdv logs_join_base(struct logs_parts a, const struct logs_table *t) {
    vs hi = fma_s(a.r, t->inv, a.w), lo = fma_s(a.r, t->inv, a.w - hi);
    lo = lo + fma_s(a.r, t->inv_tail, a.wl);
    return (struct sdv){hi, fma_s(a.r * a.r, logs_q(a.r, t), lo)};
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
