// SPDX-License-Identifier: MIT
// lgamma and tgamma, f64, and f32 through them.
//
// a = |x| is moved up to y = a + n >= 10 by the product p = a (a+1) ... (a+n-1), where Stirling's series
// holds: log gamma(y) = (y - 1/2) (log y - 1) + (log(2 pi) - 1)/2 + 1/(12 y) - ..., nine terms, the
// error below 2^-62. All of it in head and tail, so that lgamma = that - log p loses little, and tgamma = e^that / p.
// Near the zeros of lgamma at 1 and 2, for 0.7 <= a < 2.6, polynomials in a - 1 and a - 2 stand in (through
// Chebyshev points, 2^-57). Below zero gamma(x) = -1 / (a gamma(a) sin(pi a) / pi), whose sine is that of
// a - nint(a). Poles: lgamma inf; tgamma +-inf at +-0, NaN at the negative whole numbers.
//
// lgamma has zeros below -2 as well, where its terms cancel: the error there is at most 2^-56 of the larger term. The polynomials
// would add theirs to it, which is relative; below zero the words of Stirling's series are used alone.
#include "exp.h"
#include "log.h"
#include "sinpi.h"

#define TINY 0x1p-70 // gamma(x) = 1/x to the last bit
#define LARGE 0x1p52 // all numbers are whole from here on
#define BASE 10.0
#define LGAMMA_MAX 0x1.754d9278b51a7p+1014 // beyond: inf
#define TGAMMA_MAX 0x1.573fae561f647p+7

static const double near_one[] = {
    -0x1.9a4d55beab2d7p-2, 0x1.151322ac7d846p-2, -0x1.a8b9c17aa6165p-3, 0x1.5b40cb100c66fp-3,
    -0x1.2703a1dce96dcp-3, 0x1.010b36af6d4efp-3, -0x1.c806706d999e2p-4, 0x1.9a01e39274185p-4,
    -0x1.748c331596079p-4, 0x1.556ad447876cfp-4, -0x1.3b1d93ff7fd2bp-4, 0x1.24970d379919bp-4,
    -0x1.1113b5ea2d86ep-4, 0x1.fffd03264004fp-5, -0x1.e1cced7b09d77p-5, 0x1.c73cb32c52e1fp-5,
    -0x1.b0380a7c5414dp-5, 0x1.9a0123298ce4dp-5, -0x1.7f0a944c557bdp-5, 0x1.67f4f41cbc3bdp-5,
    -0x1.7495115c249c0p-5, 0x1.9dc7db68f0d08p-5, -0x1.8061a8fc33455p-5, 0x1.c6ef541b561aep-6,
    -0x1.e69e10e2bce1fp-8};
static const double near_two[] = {
    -0x1.13e001a557606p-4, 0x1.51322ac7d8484p-6, -0x1.e404fc218f63ap-8, 0x1.7add6eadb6a09p-9,
    -0x1.38ac5c2bf4bdbp-10, 0x1.0b36af864b977p-11, -0x1.d3fd4c7aba7e5p-13, 0x1.a127b0e7f6a20p-14,
    -0x1.78de5ac388abap-15, 0x1.580dd01446b2bp-16, -0x1.3cbcc5dfbb4fcp-17, 0x1.25979f8a34595p-18,
    -0x1.11adaa42d07e1p-19, 0x1.00611045c1815p-20, -0x1.e31c4c31aa620p-22, 0x1.c87061eb51832p-23,
    -0x1.a770ebde97d8dp-24, 0x1.89bf86109049fp-25, -0x1.b19b6fd3d1359p-26, 0x1.ef2c6eba8c56fp-27,
    -0x1.31a5a9779aa9dp-28};

// ---- words --------------------------------------------------------------------------------------
RECIPE_FN struct ddv add_dd(struct ddv a, struct ddv b) {
    struct ddv s = sum_d(a.hi, b.hi);
    return fast_sum_d(s.hi, s.lo + (a.lo + b.lo));
}
RECIPE_FN struct ddv mul_dd(struct ddv a, struct ddv b) {
    struct ddv p = prod_d(a.hi, b.hi);
    return fast_sum_d(p.hi, p.lo + fma_d(a.hi, b.lo, a.lo * b.hi));
}
RECIPE_FN struct ddv minus_dd(struct ddv a) { return (struct ddv){-a.hi, -a.lo}; }
// log(a.hi + a.lo): the table's c is scaled by the power of two that a.hi is free of, r takes in the
// leading part of a.lo.
RECIPE_FN struct ddv log_dd(struct ddv a) {
    vu d = bits_d(a.hi) - LOG_OFF, i = d >> 48;
    vd k = from_u(((d + (1024ul << 52)) >> 52) | 0x4330000000000000u) - (0x1p52 + 1024);
    vd c = from_u(bits_d(lut16_d(log_natural.c, i)) - (d & 0xfff0000000000000u));
    vd w = fma_d(k, log_natural.two, lut16_d(log_natural.minus_log_c, i));
    struct ddv p = prod_d(a.hi, c);
    struct ddv r = fast_sum_d(p.hi - 1.0, fma_d(a.lo, c, p.lo)); // the first is 0 or the larger
    return log_join((struct log_parts){w, k, r.hi, r.lo});
}
RECIPE_FN struct ddv select_dd(vd a, vd b, struct ddv x, struct ddv y) { // a < b ? x : y
    return (struct ddv){lt_d(a, b, x.hi, y.hi), lt_d(a, b, x.lo, y.lo)};
}

// ---- log gamma of positive numbers --------------------------------------------------------------
struct stirling {
    struct ddv log, p; // of y; the product
};
RECIPE_FN struct stirling stirling_of(vd a) {
    struct ddv p = {VD(1.0), VD(0.0)}, y = {a, VD(0.0)};
    for (int i = 0; i < 10; i++) {
        struct ddv up = sum_d(y.hi, VD(1.0)), q = mul_dd(p, y);
        up.lo = up.lo + y.lo;
        p = select_dd(y.hi, VD(BASE), q, p);
        y = select_dd(y.hi, VD(BASE), fast_sum_d(up.hi, up.lo), y);
    }
    vd v = 1.0 / y.hi, w = v * v;
    vd s = fma_d(w, 0x1.6fe96381e068p-3, -0x1.e4286cb0f5398p-6);
    s = fma_d(w, s, 0x1.a41a41a41a41ap-8);
    s = fma_d(w, s, -0x1.f6ab0d9993c7dp-10);
    s = fma_d(w, s, 0x1.b951e2b18ff23p-11);
    s = fma_d(w, s, -0x1.3813813813814p-11);
    s = fma_d(w, s, 0x1.a01a01a01a01ap-11);
    s = fma_d(w, s, -0x1.6c16c16c16c17p-9);
    s = fma_d(w, s, 0x1.5555555555555p-4);
    struct ddv half = fast_sum_d(y.hi, VD(-0.5));
    half.lo = half.lo + y.lo;
    struct ddv less = {VD(-1.0), VD(0.0)}, l = mul_dd(half, add_dd(log_dd(y), less));
    l = add_dd(l, (struct ddv){VD(0x1.acfe390c97d69p-2), VD(0x1.3494bc9001442p-56)}); // log(2 pi)/2 - 1/2
    l = add_dd(l, (struct ddv){v * s, VD(0.0)});
    return (struct stirling){l, p};
}

// z (c0 + c1 z + z^2 (c2 + z q(z))), the first two in head and tail
RECIPE_FN struct ddv around(vd z, struct ddv c0, struct ddv c1, double c2, vd q) {
    struct ddv u = fast_sum_d(VD(c2), z * q), p = prod_d(z, u.hi);
    struct ddv v = fast_sum_d(c1.hi, p.hi), w = prod_d(z, v.hi), s, y;
    w.lo = w.lo + z * (v.lo + (c1.lo + fma_d(z, u.lo, p.lo)));
    s = sum_d(c0.hi, w.hi);
    y = prod_d(z, s.hi);
    return fast_sum_d(y.hi, fma_d(z, s.lo + (w.lo + c0.lo), y.lo));
}
RECIPE_FN vd horner(vd z, const double *c, int n) {
    vd q = VD(c[n - 1]);
    for (int i = n - 2; i >= 0; i--)
        q = fma_d(z, q, c[i]);
    return q;
}
static __attribute__((noinline)) struct ddv near_zero(vd a) {
    vd z = a - 1.0, t = a - 2.0;
    struct ddv one = around(
        z, (struct ddv){VD(-0x1.2788cfc6fb619p-1), VD(0x1.6ca667bda9446p-58)},
        (struct ddv){VD(0x1.a51a6625307d3p-1), VD(0x1.1a96c82fbb8ecp-56)},
        near_one[0],
        horner(z, near_one + 1, COUNT_OF(near_one) - 1));
    struct ddv two = around(
        t, (struct ddv){VD(0x1.b0ee6072093cep-2), VD(0x1.6cb02604c9689p-58)},
        (struct ddv){VD(0x1.4a34cc4a60fa6p-2), VD(0x1.183f2baf8d60ap-56)},
        near_two[0],
        horner(t, near_two + 1, COUNT_OF(near_two) - 1));
    return select_dd(a, VD(1.5), one, two);
}

// TINY <= a <= LGAMMA_MAX; good to 2^-62 of the greater term, and of the result but near its zeros
RECIPE_FN struct ddv lgamma_dd(vd a) {
    struct stirling s = stirling_of(a);
    return add_dd(s.log, minus_dd(log_dd(s.p)));
}
// good to an ulp also there
RECIPE_FN struct ddv lgamma_at_zeros(vd a, struct ddv l) {
    vd inside = lt_d(a, 0.7, 0.0, lt_d(a, 2.6, 1.0, 0.0));
    if (!any_eq_d(inside, 1.0)) return l;
    return select_dd(VD(0.5), inside, near_zero(a), l);
}

// a |sin(pi a)| / pi for TINY <= a < LARGE; 0 at whole numbers
RECIPE_FN struct ddv sine_term(vd a) {
    vd r = a - rint_d(a);
    struct ddv s = sinpi_ratio(r), ar = prod_d(a, abs_d(r));
    return mul_dd(s, ar);
}

// ---- lgamma -------------------------------------------------------------------------------------
static __attribute__((noinline)) vd log_of_tiny(vd a) { // -log a, a >= 0
    struct ddv l = log_dd((struct ddv){lt_d(0.0, a, a, 1.0) * 0x1p200, VD(0.0)});
    l = add_dd(l, (struct ddv){VD(-0x1.1542457337d43p+7), VD(-(-0x1.e3948c376279dp-49))}); // 200 log 2
    return eq_d(a, 0.0, __builtin_inf(), -(l.hi + l.lo));
}
static __attribute__((noinline)) vd lgamma_below(vd a, struct ddv l) {
    vd c = lt_d(a, LARGE, a, 0.5);
    struct ddv t = sine_term(c), y = minus_dd(add_dd(l, log_dd(t)));
    vd whole = eq_d(rint_d(a), a, 1.0, 0.0);
    return eq_d(whole, 1.0, __builtin_inf(), y.hi + y.lo);
}
RECIPE_FN vd lgamma_one(vd x) {
    vd a = abs_d(x), c = lt_d(a, TINY, TINY, lt_d(LGAMMA_MAX, a, 1.0, a));
    struct ddv l = lgamma_dd(c), above = lgamma_at_zeros(c, l);
    vd y = lt_d(LGAMMA_MAX, a, __builtin_inf(), above.hi + above.lo);
    if (any_lt_d(x, 0.0)) y = lt_d(x, 0.0, lgamma_below(c, l), y);
    if (any_lt_d(a, TINY)) y = lt_d(a, TINY, log_of_tiny(a), y);
    return eq_d(x, x, y, x + x);
}
VKERNEL1(lgamma, f64, lgamma_one)
VKERNEL1_WIDE(lgamma, lgamma_one)

// ---- tgamma -------------------------------------------------------------------------------------
// e^l n / d for -900 < l < 710
RECIPE_FN vd exp_ratio(struct ddv l, struct ddv n, struct ddv d) {
    struct exp_parts e = exp_split2(l.hi, l.lo);
    struct ddv q = div_dd(mul_dd(fast_sum_d(e.head, e.tail), n), d);
    vu shift = bits_d(lt_d(l.hi, -600.0, from_u(VU(400ul << 52)), lt_d(600.0, l.hi, from_u(VU(-400ul << 52)), 0.0)));
    return (q.hi + q.lo) * exp_power(e.scale + shift) * exp_power(0 - shift);
}
static __attribute__((noinline)) vd tgamma_below(vd a, vd c, struct stirling s) {
    vd n = rint_d(a), r = a - n, h = 0.5 * n;
    vd y = exp_ratio(minus_dd(s.log), s.p, sine_term(c));
    y = flip_d(y, lt_d(r, 0.0, 1.0, -1.0));
    y = flip_d(y, eq_d(rint_d(h), h, 1.0, -1.0));
    return eq_d(r, 0.0, __builtin_nan(""), y);
}
RECIPE_FN vd tgamma_one(vd x) {
    vd a = abs_d(x), c = lt_d(a, TINY, TINY, lt_d(200.5, a, 200.5, a));
    struct stirling s = stirling_of(c);
    vd y = exp_ratio(s.log, (struct ddv){VD(1.0), VD(0.0)}, s.p);
    y = lt_d(TGAMMA_MAX, x, __builtin_inf(), y);
    if (any_lt_d(x, 0.0)) y = lt_d(x, 0.0, tgamma_below(a, c, s), y);
    if (any_lt_d(a, TINY)) y = lt_d(a, TINY, 1.0 / x, y);
    y = eq_d(x, -__builtin_inf(), __builtin_nan(""), y);
    return eq_d(x, x, y, x + x);
}
VKERNEL1(tgamma, f64, tgamma_one)
VKERNEL1_WIDE(tgamma, tgamma_one)
