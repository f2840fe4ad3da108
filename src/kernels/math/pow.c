// SPDX-License-Identifier: MIT
// pow, f64 and f32: x^y = e^(y log |x|), with the sign of an odd power.
//
// f64: an error of y log x is one of the result, up to 745 times larger than relative; so log x is
// had to 2^-67. On top of log.h: the table's rounding as a third column; r, r^2 / 2 and r^3 / 3 in
// head and tail, summed exactly from the largest; r^4 q(r), q of degree 8 (minimax, 2^-77). f32:
// the same path in plain doubles with shorter polynomials, 2^-40 for the logarithm and 2^-36 for
// the exponential. Zeros, infinities, NaN, subnormal x, and results outside the normal numbers
// leave the main line for a vector that holds one. They follow C Annex F: x^0 = 1^y = 1 even for
// NaN, (-1)^(+-inf) = 1, ...
// Largest errors seen: f64 0.536 ULP at 0x1.fd74db4c41d1ep-1, 0x1.31d91fea6c3e3p+15; f32 0.5005 at 0x1.8d4152p-7,
// 0x1.325204p+2.
#include "exp.h"
#include "log.h"

// What the table's -log c lacks.
static const double log_table_tail[16] = {-0x1.c2e015b709b48p-66, 0x1.f509745ea3bd6p-67,
                                          0x1.21a18acfe6f5cp-69,  0x1.732106ae2c67bp-67,
                                          -0x1.5d8c34b1ec33ap-67, -0x1.109425b026226p-69,
                                          -0x1.9233621471bdbp-68, -0x1.f1f7c3fd4c90fp-66,
                                          0x1.2c45db05a3c0ep-65,  0x0p0,
                                          0x1.73b7f0b936a93p-66,  -0x1.3eda97fa232b5p-68,
                                          0x1.5434c6bcf3d53p-67,  0x1.74c5b9ff393f9p-68,
                                          0x1.789c2e12c67f0p-67,  -0x1.1b440ffbac10ap-66};

// (log(1+r) - r + r^2/2 - r^3/3) / r^4
RECIPE_FN vd pow_q(vd r) {
    vd q = fma_d(r, -0x1.56048d274cc97p-4, 0x1.74fdd65e84164p-4);
    q = fma_d(r, q, -0x1.999974e667d54p-4);
    q = fma_d(r, q, 0x1.c71c56781058p-4);
    q = fma_d(r, q, -0x1.000000018bfeep-3);
    q = fma_d(r, q, 0x1.249249256e11fp-3);
    q = fma_d(r, q, -0x1.55555555554aap-3);
    q = fma_d(r, q, 0x1.999999999995ep-3);
    return fma_d(r, q, -0.25);
}

// log x + shift log 2 to 2^-67; x positive and normal
RECIPE_FN struct ddv pow_log(vd x, vd shift) {
    vu u = bits_d(x), d = u - LOG_OFF, i = d >> 48;
    vd k = from_u(((d + (1024ul << 52)) >> 52) | 0x4330000000000000u) - (0x1p52 + 1024) + shift;
    vd m = from_u(u - (d & 0xfff0000000000000u)), c = lut16_d(log_natural.c, i);
    vd w = fma_d(k, log_natural.two, lut16_d(log_natural.minus_log_c, i));
    vd wl = fma_d(k, log_natural.two_tail, lut16_d(log_table_tail, i));
    struct ddv p = prod_d(m, c), r = fast_sum_d(p.hi - 1.0, p.lo);
    struct ddv s = prod_d(r.hi, r.hi), t = prod_d(r.hi, s.hi);
    s.lo = fma_d(r.hi + r.hi, r.lo, s.lo);
    t.lo = t.lo + fma_d(r.hi, s.lo, r.lo * s.hi);
    struct ddv h = prod_d(t.hi, VD(0x1.5555555555555p-2));
    h.lo = fma_d(t.lo, 0x1.5555555555555p-2, fma_d(t.hi, 0x1.5555555555555p-56, h.lo));
    struct ddv a = fast_sum_d(w, r.hi), b = fast_sum_d(a.hi, -0.5 * s.hi),
               e = fast_sum_d(b.hi, h.hi);
    vd lo = fma_d(s.hi * s.hi, pow_q(r.hi), fma_d(-0.5, s.lo, wl) + r.lo);
    lo = lo + ((a.lo + b.lo) + (e.lo + h.lo));
    return fast_sum_d(e.hi, lo);
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
    vu u = bits_d(abs_d(x)), d = u - LOG_OFF, i = d >> 48;
    vd k = from_u(((d + (1024ul << 52)) >> 52) | 0x4330000000000000u) - (0x1p52 + 1024);
    vd r = fma_d(from_u(u - (d & 0xfff0000000000000u)), lut16_d(log_natural.c, i), -1.0);
    vd w = fma_d(k, 0x1.62e42fefa39efp-1, lut16_d(log_natural.minus_log_c, i));
    vd q = fma_d(r, 0x1.24ec9988c77f5p-3, -0x1.559de441bf65bp-3);
    q = fma_d(r, q, 0x1.99999018a34edp-3);
    q = fma_d(r, q, -0x1.fffffbe3948dbp-3);
    q = fma_d(r, q, 0x1.555555556a89fp-2);
    q = fma_d(r, q, -0.5);
    vd z = y * (w + fma_d(r * r, q, r)); // y log |x|
    vd zc = lt_d(z, -200.0, -200.0, lt_d(200.0, z, 200.0, z));
    vd m = fma_d(zc, EXP_16_LN2, EXP_MAGIC), t = fma_d(m - EXP_MAGIC, -EXP_LN2_16, zc);
    vd e = fma_d(t, 0x1.5555555555555p-5, 0x1.5555555555555p-3);
    e = fma_d(t, e, 0.5);
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
