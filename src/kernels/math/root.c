// SPDX-License-Identifier: MIT
// cbrt and hypot, f64 and f32.
//
// cbrt: y ~ a^(-1/3) from the bits of a by one integer multiplication (3.3 %), then by a polynomial in
// e = 1 - a y^3 (f64 2^-22, f32 2^-13). c = a y^2 is the root to as many bits; its residual R = c^3 - a, had from
// exact products, corrects it: c - R y^2 (1/3 + 4/9 e'), e' = 1 - c y, so that the last addition rounds an almost
// exact value. The result is never subnormal; small arguments are scaled out of line.
//
// hypot: x^2 + y^2 in head and tail, the root corrected by its remainder over 2 h, of which three bits will
// do: they come from the bits of h. Operands outside 2^-400..2^500 (f32: 2^-50..2^60) go out of line, scaled
// or (f32) in doubles; an infinite operand wins over a NaN.
//
// Largest errors seen, in ULP: cbrt 0.5004, f32 0.503; hypot 0.53.
#include "vec.h"

#define CBRT_START 0x553ee94b8525d400u
#define CBRT_LEAST 0x1p-960
// a from 2^-960 up, finite
RECIPE_FN vd cbrt_near(vd a) {
    vd y = from_u(CBRT_START - (bits_d(a) >> 32) * 0x55555555u);
    vd e = fma_d(-(y * a), y * y, 1.0);
    vd p = fma_d(e, 0x1.2aa26def3be93p-3, 0x1.64b59aab040b1p-3);
    p = fma_d(e, p, 0x1.c7191f93d4844p-3);
    p = fma_d(e, p, 0x1.5554de342075dp-2);
    y = fma_d(y * e, p, y);
    vd y2 = y * y, c = a * y2;
    e = fma_d(-c, y, 1.0);
    struct ddv s = prod_d(c, c);
    vd rest = fma_d(s.lo, c, fma_d(s.hi, c, -a));
    return fma_d(-rest, y2 * fma_d(e, 0x1.c71c71c71c71cp-2, 0x1.5555555555555p-2), c);
}
static __attribute__((noinline)) vd cbrt_rare(vd a, vd y) {
    y = lt_d(a, CBRT_LEAST, cbrt_near(a * 0x1p216) * 0x1p-72, y);
    return eq_d(a, 0.0, a, lt_d(a, __builtin_inf(), y, a + a));
}
RECIPE_FN vd cbrt_one(vd x) {
    vd a = abs_d(x), y = cbrt_near(a);
    vd fine = le_d(CBRT_LEAST, a, lt_d(a, __builtin_inf(), 1.0, 0.0), 0.0);
    if (any_eq_d(fine, 0.0)) y = cbrt_rare(a, y);
    return sign_d(y, x);
}
VKERNEL1(cbrt, f64, cbrt_one)

#define CBRTS_START 0x1.5287d4p30f // bits, as a number
#define CBRTS_LEAST 0x1p-90f
RECIPE_FN vs cbrts_near(vs a) {
    vs y = from_w(int_s(fma_s(number_s(bits_s(a)), -0x1.555556p-2f, CBRTS_START)));
    vs e = fma_s(-(y * a), y * y, 1.0f);
    y = fma_s(y * e, fma_s(e, 0x1.ca442ep-3f, 0x1.564716p-2f), y);
    vs y2 = y * y, c = a * y2;
    e = fma_s(-c, y, 1.0f);
    struct sdv s = prod_s(c, c);
    vs rest = fma_s(s.lo, c, fma_s(s.hi, c, -a));
    return fma_s(-rest, y2 * fma_s(e, 0x1.c71c72p-2f, 0x1.555556p-2f), c);
}
static __attribute__((noinline)) vs cbrts_rare(vs a, vs y) {
    y = lt_s(a, CBRTS_LEAST, cbrts_near(a * 0x1p72f) * 0x1p-24f, y);
    return eq_s(a, 0.0f, a, lt_s(a, __builtin_inff(), y, a + a));
}
RECIPE_FN vs cbrts_one(vs x) {
    vs a = abs_s(x), y = cbrts_near(a);
    vs fine = le_s(CBRTS_LEAST, a, lt_s(a, __builtin_inff(), 1.0f, 0.0f), 0.0f);
    if (any_eq_s(fine, 0.0f)) y = cbrts_rare(a, y);
    return sign_s(y, x);
}
VKERNEL1(cbrt, f32, cbrts_one)

// ---- hypot: a >= b >= 0
#define HYPOT_HALF 0x7fce600000000000u // less the bits of h: those of 1 / (2 h), within 6 %
RECIPE_FN vd hypot_near(vd a, vd b) {
    struct ddv p = prod_d(a, a), q = prod_d(b, b), s = fast_sum_d(p.hi, q.hi);
    vd h = sqrt_d(s.hi), rest = fma_d(-h, h, s.hi) + (s.lo + (p.lo + q.lo));
    return fma_d(rest, from_u(HYPOT_HALF - bits_d(h)), h);
}
static __attribute__((noinline)) vd hypot_far(vd a, vd b) {
    vd up = lt_d(a, 1.0, 0x1p600, 0x1p-600), down = lt_d(a, 1.0, 0x1p-600, 0x1p600);
    vd h = hypot_near(a * up, b * up) * down;
    h = eq_d(a, 0.0, 0.0, h);
    h = eq_d(a, a, eq_d(b, b, h, b + b), a + a);
    return eq_d(a, __builtin_inf(), a, eq_d(b, __builtin_inf(), b, h));
}
RECIPE_FN vd hypot_one(vd x, vd y) {
    vd a = abs_d(x), b = abs_d(y), big = lt_d(a, b, b, a), small = lt_d(a, b, a, b);
    vd h = hypot_near(big, small);
    vd fine = lt_d(big, 0x1p500, le_d(0x1p-400, big, eq_d(small, small, 1.0, 0.0), 0.0), 0.0);
    if (any_eq_d(fine, 0.0)) h = eq_d(fine, 0.0, hypot_far(big, small), h);
    return h;
}
VKERNEL2(hypot, f64, hypot_one)

#define HYPOTS_HALF 0x7e730000u
RECIPE_FN vs hypots_near(vs a, vs b) {
    struct sdv p = prod_s(a, a), q = prod_s(b, b), s = fast_sum_s(p.hi, q.hi);
    vs h = sqrt_s(s.hi), rest = fma_s(-h, h, s.hi) + (s.lo + (p.lo + q.lo));
    return fma_s(rest, from_w(HYPOTS_HALF - bits_s(h)), h);
}
RECIPE_FN vd hypot_wide(vd x, vd y) {
    vd h = sqrt_d(fma_d(x, x, y * y));
    return eq_d(x, __builtin_inf(), __builtin_inf(), eq_d(y, __builtin_inf(), __builtin_inf(), h));
}
static __attribute__((noinline)) vs hypots_far(vs a, vs b) {
    return narrow(hypot_wide(widen_lo(a), widen_lo(b)),
                  VEC_BYTES ? hypot_wide(widen_hi(a), widen_hi(b)) : VD(0.0));
}
RECIPE_FN vs hypots_one(vs x, vs y) {
    vs a = abs_s(x), b = abs_s(y), big = lt_s(a, b, b, a), small = lt_s(a, b, a, b);
    vs h = hypots_near(big, small);
    vs fine = lt_s(big, 0x1p60f, le_s(0x1p-50f, big, eq_s(small, small, 1.0f, 0.0f), 0.0f), 0.0f);
    if (any_eq_s(fine, 0.0f)) h = eq_s(fine, 0.0f, hypots_far(a, b), h);
    return h;
}
VKERNEL2(hypot, f32, hypots_one)
