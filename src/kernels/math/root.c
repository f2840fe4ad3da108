// SPDX-License-Identifier: MIT
// cbrt and hypot, f64 and f32.
//
// cbrt: |x| = 8^q z, 1 <= z < 8, z = 2^r m. y ~ m^(-1/3) 2^(-r/3) by a cubic (2^-11), one step of
// third order (2^-32), c = z y^2, and one Newton step whose residual c^3 - z is had from exact
// products, so that the last addition rounds an almost exact value. The result is never subnormal;
// a subnormal x is scaled. hypot: x^2 + y^2 in head and tail, the root corrected by its remainder;
// operands outside 2^-400..2^500 are scaled out of line, where an infinite operand wins over a NaN.
// The f32 forms are plain doubles, in which neither squares nor subnormal floats need care.
// Largest errors seen, in ULP: cbrt 0.5004 at 0x1.d8560d46183aap-7, f32 0.503 at 0x1.ffd91p-1; hypot 0.5001.
#include "vec.h"

static const double cbrt_scale[16] = {1.0, 0x1.965fea53d6e3dp-1, 0x1.428a2f98d728bp-1};

struct cbrt_parts {
    vd z, y; // z^(-1/3) ~ y, to 2^-32
    vu q;
};
RECIPE_FN struct cbrt_parts cbrt_split(vd a) {
    vu u = bits_d(a);
    vd k = from_u((u >> 52) | 0x4330000000000000u) - 0x1p52;
    vd third = VD(0x1.5555555555555p-2), t = fma_d(k, third, -third) + 0x1.8p52; // floor(k / 3)
    vu q = bits_d(t) - (0x4338000000000000u + 341);
    vd r = k - 3.0 * (t - 0x1.8p52);
    vd m = from_u((u & 0x000fffffffffffffu) | 0x3ff0000000000000u);
    vd z = from_u(u - ((q + q + q) << 52));
    vd y = fma_d(m, -0x1.991545e670b8bp-5, 0x1.45621f98e4d92p-2);
    y = fma_d(m, y, -0x1.9eb31e901a9abp-1);
    y = fma_d(m, y, 0x1.8ab91b7f08394p0) * lut16_d(cbrt_scale, bits_d(r + 0x1p52));
    vd e = fma_d(-z * y, y * y, 1.0);
    y = fma_d(y * e, fma_d(e, 0x1.c71c71c71c71cp-3, 0x1.5555555555555p-2), y);
    return (struct cbrt_parts){z, y, q};
}

RECIPE_FN vd cbrt_one(vd x) {
    vd a = abs_d(x), n = lt_d(a, 0x1p-1022, a * 0x1p54, a);
    struct cbrt_parts p = cbrt_split(n);
    vd y2 = p.y * p.y, c = p.z * y2;
    struct ddv s = prod_d(c, c);
    vd rest = fma_d(s.hi, c, -p.z) + s.lo * c;
    c = fma_d(rest, y2 * -0x1.5555555555555p-2, c);
    vd y = from_u(bits_d(c) + (p.q << 52));
    y = lt_d(a, 0x1p-1022, y * 0x1p-18, y);
    y = eq_d(a, 0.0, a, lt_d(a, __builtin_inf(), y, a + a));
    return sign_d(y, x);
}
VKERNEL1(cbrt, f64, cbrt_one)

RECIPE_FN vd cbrt_wide_one(vd x) {
    vd a = abs_d(x);
    struct cbrt_parts p = cbrt_split(a);
    vd y = from_u(bits_d(p.z * (p.y * p.y)) + (p.q << 52));
    y = eq_d(a, 0.0, a, lt_d(a, __builtin_inf(), y, a + a));
    return sign_d(y, x);
}
VKERNEL1_WIDE(cbrt, cbrt_wide_one)

// a >= b >= 0
RECIPE_FN vd hypot_near(vd a, vd b) {
    struct ddv p = prod_d(a, a), q = prod_d(b, b), s = fast_sum_d(p.hi, q.hi);
    vd h = sqrt_d(s.hi), lo = s.lo + (p.lo + q.lo);
    return fma_d(fma_d(-h, h, s.hi) + lo, 0.5 / h, h);
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

RECIPE_FN vd hypot_wide_one(vd x, vd y) {
    vd h = sqrt_d(fma_d(x, x, y * y));
    return eq_d(abs_d(x), __builtin_inf(), __builtin_inf(),
                eq_d(abs_d(y), __builtin_inf(), __builtin_inf(), h));
}
VKERNEL2_WIDE(hypot, hypot_wide_one)
