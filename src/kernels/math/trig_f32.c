// SPDX-License-Identifier: MIT
// sin, cos, tan of f32, through f64 arithmetic.
//
// The method of trig_f64.c with r as one double: up to 2^45 the two parts of pi (106 bits) leave r with a
// relative error near 2^-53, so five terms of the sine and eight of the tangent (minimax, 2^-35 and
// 2^-33.4; tools/sollya/trig.sollya) give results that are rounded once and almost always correctly. Beyond
// 2^45 huge_angle takes over.
// Measured maximum error, ULP: sin 0.5004 at -0x1.6c1316p+5, cos 0.5004 at -0x1.45d7ccp+47, tan 0.522 at -0x1.b8d3c4p+100.
// NaN and infinities give NaN, zeros keep their sign, subnormals are returned as they are (cos: 1).
#include "trig_huge.h"

#define PI1 0x1.921fb54442d18p1
#define PI2 0x1.1a62633145c07p-53
#define INV_PI 0x1.45f306dc9c883p-2
#define NEAR 0x1p45

RECIPE_FN vd reduce(vd x, vd k) { return fma_d(-k, PI2, fma_d(-k, PI1, x)); }
RECIPE_FN bool any_huge(vd x) { return any_lt_d(NEAR, abs_d(x)); }
// r and q of the huge ones among x
RECIPE_FN void patch(vd *r, vd *q, vd x, double half, double unit) {
    vd a = abs_d(x);
    struct angle h = huge_angle(lt_d(NEAR, a, x, 2.0), half, unit);
    *r = lt_d(NEAR, a, h.hi, *r);
    *q = lt_d(NEAR, a, h.q, *q);
}

// |r| <= pi/2 and a little more; turned over where the low bit of q is set
RECIPE_FN vd sine(vd r, vd q) {
    vd z = r * r, p = fma_d(z, -0x1.9a6853929bcbp-26, 0x1.71707de25d8a5p-19);
    p = fma_d(z, p, -0x1.a017d98f225e8p-13);
    p = fma_d(z, p, 0x1.11110c49ce28ep-7);
    p = fma_d(z, p, -0x1.5555554768accp-3);
    vd y = r * fma_d(z, p, 1.0);
    return from_u(bits_d(y) ^ (bits_d(q) << 63));
}

RECIPE_FN vd sin_one(vd x) {
    vd q = fma_d(x, INV_PI, TRIG_MAGIC), r = reduce(x, q - TRIG_MAGIC);
    if (any_huge(x)) patch(&r, &q, x, 0.0, 1.0);
    return sine(r, q);
}
VKERNEL1_WIDE(sin, sin_one)

RECIPE_FN vd cos_one(vd x) {
    vd a = abs_d(x), q = fma_d(a, INV_PI, 0.5) + TRIG_MAGIC;
    vd r = reduce(a, (q - TRIG_MAGIC) - 0.5);
    if (any_huge(a)) patch(&r, &q, a, 0.5, 1.0);
    return sine(r, q);
}
VKERNEL1_WIDE(cos, cos_one)

// tan(r), or -cot(r) where the low bit of q is set, |r| <= pi/4 and a little more
RECIPE_FN vd tangent(vd r, vd q) {
    vd z = r * r, p = fma_d(z, 0x1.0b65f44045528p-9, -0x1.3725a26042908p-11);
    p = fma_d(z, p, 0x1.471105c533353p-8);
    p = fma_d(z, p, 0x1.1108a21b09fb9p-7);
    p = fma_d(z, p, 0x1.683173e9e081fp-6);
    p = fma_d(z, p, 0x1.b9ff1ecf36edbp-5);
    p = fma_d(z, p, 0x1.11117887895a4p-3);
    p = fma_d(z, p, 0x1.55555456556f8p-2);
    vd t = r * fma_d(z, p, 1.0);
    vd odd = from_u(bits_d(q) << 63 | 0x3ff0000000000000u); // -1 or 1
    return flip_d(lt_d(odd, 0.0, 1.0, t) / lt_d(odd, 0.0, t, 1.0), odd);
}
RECIPE_FN vd tan_one(vd x) {
    vd q = fma_d(x, INV_PI, 0.5 * TRIG_MAGIC), r = reduce(x, q - 0.5 * TRIG_MAGIC);
    if (any_huge(x)) patch(&r, &q, x, 0.0, 2.0);
    return tangent(r, q);
}
VKERNEL1_WIDE(tan, tan_one)
