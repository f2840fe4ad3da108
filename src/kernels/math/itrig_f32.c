// SPDX-License-Identifier: MIT
// asin, acos, atan of f32, in single precision throughout.
//
// atan: t = |x| or -1/|x|, atan t = t + t z P(z), z = t^2 (minimax, 2^-28.5; tools/sollya/itrig.sollya, then moved
// by a few units each, in a search over every float from 0.8 to 1.25, such that the rounded steps miss least and atan 1 is
// the float next to pi/4), and the multiple of pi/2 added in two parts. asin, acos: up to 1/2 directly, t + t z R(z)
// (2^-27.6); beyond through asin x = pi/2 - 2 asin s, s = sqrt((1 - x)/2). What quotient and root lost is restored.
// Special values as in itrig_f64.c. Largest errors: docs/exhaustive.md (all inputs).
#include "vec.h"

#define PI_HI 0x1.921fb6p1f
#define PI_LO -0x1.777a5cp-24f
#define HALF_PI_HI 0x1.921fb6p0f
#define HALF_PI_LO -0x1.777a5cp-25f

// base + t + rest, where |base| >= |t| or base = 0, and rest is small
RECIPE_FN vs sum3(vs base, vs t, vs rest) {
    struct sdv s = fast_sum_s(base, t);
    return s.hi + (s.lo + rest);
}

// ---- atan -------------------------------------------------------------------------------------------
// Beyond 2^60 the result does not change. What the quotient lost is (n - t d) / d, -(n - t d) t where it is not 0,
// times the slope of the arc, about 1 - z/2. 1 + z P is summed as h + l, pi/4 being right because of it.
RECIPE_FN vs atan_one(vs x) {
    vs a = abs_s(x);
    a = lt_s(0x1p60f, a, 0x1p60f, a);
    vs n = lt_s(1.0f, a, -1.0f, a), d = lt_s(1.0f, a, a, 1.0f), t = n / d, z = t * t;
    vs hi = lt_s(1.0f, a, HALF_PI_HI, 0.0f), lo = lt_s(1.0f, a, HALF_PI_LO, 0.0f);
    lo = fma_s(fma_s(-t, d, n) * t, fma_s(z, 0.5f, -1.0f), lo);
    vs p = fma_s(z, -0x1.d5a076p-10f, 0x1.6551acp-7f);
    p = fma_s(z, p, -0x1.fe7d08p-6f);
    p = fma_s(z, p, 0x1.da9c12p-5f);
    p = fma_s(z, p, -0x1.5825e8p-4f);
    p = fma_s(z, p, 0x1.c0947p-4f);
    p = fma_s(z, p, -0x1.242116p-3f);
    p = fma_s(z, p, 0x1.9991e6p-3f);
    p = fma_s(z, p, -0x1.55553ep-2f);
    vs h = fma_s(z, p, 1.0f), l = fma_s(z, p, 1.0f - h), y = t * h;
    return sign_s(sum3(hi, y, fma_s(t, l, fma_s(t, h, -y)) + lo), x);
}
VKERNEL1(atan, f32, atan_one)

// ---- asin, acos -------------------------------------------------------------------------------------
// t + t z R(z) - t from z = t^2 <= 1/4, and tl
RECIPE_FN vs asin_rest(vs t, vs z, vs tl) {
    vs p = fma_s(z, 0x1.5959aap-5f, 0x1.8c415ap-6f);
    p = fma_s(z, p, 0x1.747b72p-5f);
    p = fma_s(z, p, 0x1.330206p-4f);
    p = fma_s(z, p, 0x1.5555c8p-3f);
    return fma_s(t * z, p, tl);
}
// what s = sqrt(z) lost: the remainder over 2 s, by an inverse good to 2 %
RECIPE_FN vs root_rest(vs s, vs z) {
    vs y = from_w(0x7e7311c7u - bits_s(s)); // 1/(2 s)
    vs two = fma_s(-2.0f * s, y, 2.0f);
    return fma_s(-s, s, z) * (y * two);
}
RECIPE_FN vs asin_one(vs x) {
    vs a = abs_s(x), z = lt_s(0.5f, a, fma_s(a, -0.5f, 0.5f), a * a), s = sqrt_s(z);
    vs t = lt_s(0.5f, a, s, a), tl = lt_s(0.5f, a, root_rest(s, z), 0.0f);
    vs rest = asin_rest(t, z, tl), m = lt_s(0.5f, a, -2.0f, 1.0f);
    vs hi = lt_s(0.5f, a, HALF_PI_HI, 0.0f), lo = lt_s(0.5f, a, HALF_PI_LO, 0.0f);
    return sign_s(sum3(hi, m * t, fma_s(m, rest, lo)), x);
}
VKERNEL1(asin, f32, asin_one)

RECIPE_FN vs acos_one(vs x) {
    vs a = abs_s(x), z = lt_s(0.5f, a, fma_s(a, -0.5f, 0.5f), a * a), s = sqrt_s(z);
    vs t = lt_s(0.5f, a, s, x), tl = lt_s(0.5f, a, root_rest(s, z), 0.0f);
    vs rest = asin_rest(t, z, tl), m = lt_s(0.5f, a, flip_s(VS(2.0f), x), -1.0f);
    vs hi = lt_s(x, 0.0f, PI_HI, 0.0f), lo = lt_s(x, 0.0f, PI_LO, 0.0f);
    hi = lt_s(0.5f, a, hi, HALF_PI_HI);
    lo = lt_s(0.5f, a, lo, HALF_PI_LO);
    return sum3(hi, m * t, fma_s(m, rest, lo));
}
VKERNEL1(acos, f32, acos_one)
