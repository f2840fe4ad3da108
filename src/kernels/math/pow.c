// SPDX-License-Identifier: MIT
// pow, f64 and f32: x^y = e^(y log |x|), with the sign of an odd power.
//
// f64: an error of y log x is one of the result, up to 745 times larger than relative; so log x is had to 2^-65.
//
//     x = 2^k m,  0.703 <= m < 1.406,   log x = k log 2 - log c + log(1 + r),   r = m c - 1
//
// c, one of 16 near 1/m, has so few bits that r is exact in one FMA, |r| < 0.0343; -log c and log 2 come in head (a
// multiple of 2^-43) and tail. log(1 + r) = r + r^2 (-1/2 + r/3 + r^2 q(r)): the bracket in head and tail, its
// product with r^2 exact, q of degree 8 (minimax, 2^-70). f32: the same path in plain doubles with shorter
// polynomials, 2^-36 for the logarithm and 2^-28 for the exponential. Zeros, infinities, NaN, subnormal x, and
// results outside the normal numbers leave the main line for a vector that holds one. They follow C Annex F:
// x^0 = 1^y = 1 even for NaN, (-1)^(+-inf) = 1, ...
// Largest errors seen: f64 0.536 ULP at 0x1.fd74db4c41d1ep-1, 0x1.31d91fea6c3e3p+15; f32 0.5005 at 0x1.8d4152p-7,
// 0x1.325204p+2.
#include "exp.h"
#include "log.h"

static const double pow_c[16] = {0x1.6p0,   0x1.58p0, 0x1.48p0,  0x1.38p0, 0x1.3p0,   0x1.28p0,
                                 0x1.18p0,  0x1.1p0,  0x1.08p0,  0x1p0,    0x1.ep-1,  0x1.c8p-1,
                                 0x1.bp-1,  0x1.98p-1, 0x1.88p-1, 0x1.7p-1};
static const double pow_head[16] = { // -log c
    -0x1.4618bc21c6p-2, -0x1.2e8e2bae12p-2, -0x1.fb9186d5e4p-3, -0x1.9525a9cf45p-3,
    -0x1.5ff3070a79p-3, -0x1.29552f81ffp-3, -0x1.6f0d28ae56p-4, -0x1.f0a30c0118p-5,
    -0x1.f829b0e78p-6,  0x0p0,              0x1.08598b59e4p-4,  0x1.da72763844p-4,
    0x1.5bf406b544p-3,  0x1.d1037f2656p-3,  0x1.1178e8227e8p-2, 0x1.522ae0738ap-2};
static const double pow_tail[16] = {
    0x1.3d82f484c84ccp-46,  0x1.67b1e99b72bd8p-45,  0x1.d572aab993c87p-47,  -0x1.ad1d904c1d4e3p-45,
    -0x1.e9e439f105039p-46, -0x1.48d301771c408p-45, -0x1.69737c93373dap-45, 0x1.d599e83368e91p-45,
    -0x1.980267c7e09e4p-45, 0x0p0,                  -0x1.7e5dd7009902cp-46, 0x1.a89401fa71733p-46,
    -0x1.27023eb68981cp-46, -0x1.84a7e75b6f6e4p-47, -0x1.c210e63a5f01cp-45, 0x1.ebe708164c759p-45};
#define POW_OFF 0x3fe6800000000000u // bits of the least m
#define THIRD 0x1.5555555555555p-2
#define THIRD_TAIL 0x1.5555555555555p-56

// (log(1+r) - r + r^2/2 - r^3/3) / r^4
RECIPE_FN vd pow_q(vd r) {
    vd q = fma_d(r, -0x1.563fab380cc2fp-4, 0x1.753431cae9d7cp-4);
    q = fma_d(r, q, -0x1.999957fadb84cp-4);
    q = fma_d(r, q, 0x1.c71c40e0b02c9p-4);
    q = fma_d(r, q, -0x1.00000003b27c3p-3);
    q = fma_d(r, q, 0x1.24924926a12c6p-3);
    q = fma_d(r, q, -0x1.5555555555332p-3);
    q = fma_d(r, q, 0x1.99999999998dap-3);
    return fma_d(r, q, -0x1p-2);
}

// x = 2^k m; i chooses c
struct pow_parts {
    vd k, r;
    vu i;
};
RECIPE_FN struct pow_parts pow_reduce(vd x) {
    vu u = bits_d(x), d = u - POW_OFF, i = d >> 48;
    vd k = from_u(((d + (1024ul << 52)) >> 52) | 0x4330000000000000u) - (0x1p52 + 1024);
    vd m = from_u(u - (d & 0xfff0000000000000u));
    return (struct pow_parts){k, fma_d(m, lut16_d(pow_c, i), -1.0), i};
}

// log x + shift log 2 to 2^-65, the tail below 2^-33 of the head; x positive and normal
RECIPE_FN struct ddv pow_log(vd x, vd shift) {
    struct pow_parts a = pow_reduce(x);
    vd k = a.k + shift, r = a.r;
    vd w = fma_d(k, log_natural.two, lut16_d(pow_head, a.i));
    vd wl = fma_d(k, log_natural.two_tail, lut16_d(pow_tail, a.i));
    struct ddv s = prod_d(r, r);
    vd b = r * THIRD, bl = fma_d(r, THIRD_TAIL, fma_d(r, THIRD, -b));
    bl = fma_d(s.hi, pow_q(r), bl);
    struct ddv h = fast_sum_d(VD(-0.5), b), p = prod_d(s.hi, h.hi);
    p.lo = fma_d(s.lo, h.hi, fma_d(s.hi, h.lo + bl, p.lo));
    struct ddv v = fast_sum_d(w, r), e = fast_sum_d(v.hi, p.hi);
    return (struct ddv){e.hi, (v.lo + e.lo) + (p.lo + wl)};
}

struct pow_result {
    struct exp_parts e;
    vd z; // y log x
};
RECIPE_FN struct pow_result pow_split(vd x, vd shift, vd y) {
    struct ddv l = pow_log(x, shift), z = prod_d(y, l.hi);
    z.lo = fma_d(y, l.lo, z.lo);
    return (struct pow_result){exp_split2(z.hi, z.lo), z.hi};
}

// The sign of x^y and whether it is a number at all: z >= 0 is |x|^y
static __attribute__((noinline)) vd pow_sign(vd z, vd x, vd y) {
    vd h = 0.5 * y, odd = eq_d(rint_d(h), h, 0.0, -0.0); // y even or odd, if it is an integer
    vd with = flip_d(z, odd);
    vd ends = eq_d(x, 0.0, z, eq_d(x, -__builtin_inf(), z, __builtin_nan("")));
    vd negative = eq_d(rint_d(y), y, with, ends);
    return lt_d(sign_d(VD(1.0), x), 0.0, negative, z);
}

// |x|^y for the operands the main line does not take
static __attribute__((noinline)) vd pow_rare(vd x, vd y) {
    const double inf = __builtin_inf();
    vd a = abs_d(x), tiny = lt_d(a, 0x1p-1022, 1.0, 0.0);
    vd n = eq_d(tiny, 1.0, a * 0x1p54, a);
    vd yc = lt_d(y, -0x1p80, -0x1p80, lt_d(0x1p80, y, 0x1p80, y)); // keeps products finite
    struct ddv l = pow_log(lt_d(0.0, n, lt_d(n, inf, n, 1.0), 1.0), -54.0 * tiny),
               p = prod_d(yc, l.hi);
    vd far = lt_d(800.0, abs_d(p.hi), 1.0, 0.0);
    p.lo = eq_d(far, 1.0, 0.0, fma_d(yc, l.lo, p.lo));
    p.hi = eq_d(far, 1.0, lt_d(p.hi, 0.0, -800.0, 800.0), p.hi);
    struct exp_parts e = exp_split2(p.hi, p.lo);
    vd z = exp_scaled(e.head + e.tail, e.scale - (1ul << 52)) * 2.0; // k may be 1024
    z = lt_d(p.hi, -708.0, exp_join_tiny(e), z);
    z = lt_d(p.hi, -746.0, 0.0, lt_d(710.0, p.hi, inf, z));
    vd low = lt_d(y, 0.0, inf, 0.0),
       high = lt_d(y, 0.0, 0.0, inf); // small and large numbers to the y
    z = eq_d(a, 0.0, low, eq_d(a, inf, high, z));
    z = eq_d(abs_d(y), inf, lt_d(a, 1.0, low, high), z);
    z = eq_d(a, 1.0, 1.0, z);
    return eq_d(x, x, eq_d(y, y, z, y + y), x + x);
}

RECIPE_FN vd pow_one(vd x, vd y) {
    vd a = abs_d(x);
    struct pow_result p = pow_split(a, VD(0.0), y);
    vd z = exp_scaled(p.e.head + p.e.tail, p.e.scale);
    vd fine = lt_d(abs_d(p.z), 708.0, 1.0, 0.0);
    fine = le_d(0x1p-1022, a, lt_d(a, __builtin_inf(), fine, 0.0), 0.0);
    bool rare = any_eq_d(fine, 0.0);
    if (rare) z = eq_d(fine, 0.0, pow_rare(x, y), z);
    if (any_lt_d(x, 0.0) || rare) z = pow_sign(z, x, y);
    if (rare) z = eq_d(y, 0.0, 1.0, eq_d(x, 1.0, 1.0, z));
    return z;
}
VKERNEL2(pow, f64, pow_one)

// ---- f32 through doubles
// --------------------------------------------------------------------------------
RECIPE_FN vd pow_wide_one(vd x, vd y) {
    struct pow_parts l = pow_reduce(abs_d(x));
    vd r = l.r, w = fma_d(l.k, 0x1.62e42fefa39efp-1, lut16_d(pow_head, l.i));
    vd q = fma_d(r, -0x1.55dd386c66382p-3, 0x1.9a087f2e072a2p-3);
    q = fma_d(r, q, -0x1.ffffece119613p-3);
    q = fma_d(r, q, 0x1.55555121f13c3p-2);
    q = fma_d(r, q, -0x1.000000001c85dp-1);
    vd z = y * (w + fma_d(r * r, q, r)); // y log |x|
    vd zc = lt_d(z, -200.0, -200.0, lt_d(200.0, z, 200.0, z));
    vd m = fma_d(zc, EXP_16_LN2, EXP_MAGIC), t = fma_d(m - EXP_MAGIC, -EXP_LN2_16, zc);
    vd e = fma_d(t, 0x1.55576290c493cp-3, 0x1.0001484520b78p-1);
    vu n = bits_d(m);
    vd head = lut16_d(exp_head, n);
    e = exp_scaled(fma_d(head, fma_d(t * t, e, t), head), exp_scale(n));
    vd a = abs_d(x),
       fine = lt_d(0.0, a, lt_d(a, __builtin_inf(), lt_d(abs_d(y), 0x1p128, 1.0, 0.0), 0.0), 0.0);
    bool rare = any_eq_d(fine, 0.0);
    if (rare) e = eq_d(fine, 0.0, pow_rare(x, y), e);
    if (any_lt_d(x, 0.0) || rare) e = pow_sign(e, x, y);
    if (rare) e = eq_d(y, 0.0, 1.0, eq_d(x, 1.0, 1.0, e));
    return e;
}
VKERNEL2_WIDE(pow, pow_wide_one)
