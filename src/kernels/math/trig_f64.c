// SPDX-License-Identifier: MIT
// sin, cos, tan of f64.
//
// sin x = (-1)^n sin r with r = x - n pi in [-pi/2, pi/2]; cos x = (-1)^n sin r with r = x - (n - 1/2) pi;
// tan x = T / (1 - T^2/4), T = 2 tan(r/2), r = x - n pi/2, or minus the reciprocal for odd n. Up to 2^20 the
// multiple of pi is subtracted in three parts (53 + 30 + 53 bits of pi) exactly enough for r = hi + lo to have
// 58 good bits beyond hi's last; beyond, huge_angle does it from the digits of 1/pi. The odd polynomials are
// minimax (relative error 2^-61.5 and 2^-64.5) and their first terms are carried as hi + lo. What is added to a
// product that bears the sign is written as a subtraction of +0 where it vanishes: so zeros keep their sign.
// Measured maximum error, ULP: sin 0.515 at 0x1.92017d7c77942p+0, cos 0.517 at 0x1.9adaa1438c051p-21,
// tan 0.514 at 0x1.d774cd9dd298cp+5.
// NaN and infinities give NaN, zeros keep their sign, subnormals are returned as they are (cos: 1).
#include "trig_huge.h"

#define PI1 0x1.921fb54442d18p1 // pi = PI1 + PI2 + PI3, 53, 30 and 53 bits
#define PI2 0x1.1a62633p-53
#define PI3 0x1.45c06e0e68948p-85
#define INV_PI 0x1.45f306dc9c883p-2
#define NEAR 0x1p20

// x - k pi for a k that is a multiple of 1/2, |x| <= NEAR. k PI1 is subtracted exactly except for k = 1/2
// and x < 1; k PI2 is exact; what the subtractions lose goes into lo.
RECIPE_FN struct ddv reduce(vd x, vd k) {
    vd a = fma_d(-k, PI1, x);
    vd hi = fma_d(-k, PI2, a);
    vd lo = fma_d(-k, PI2, a - hi);
    return (struct ddv){hi, fma_d(-k, PI3, lo)};
}
// r and q of the huge ones among x
RECIPE_FN void patch(struct ddv *r, vd *q, vd x, struct angle h) {
    vd a = abs_d(x);
    r->hi = lt_d(NEAR, a, h.hi, r->hi);
    r->lo = lt_d(NEAR, a, h.lo, r->lo);
    *q = lt_d(NEAR, a, h.q, *q);
}
RECIPE_FN vd huge_or_2(vd x) { return lt_d(NEAR, abs_d(x), x, 2.0); }

// sin(r.hi + r.lo), |r| <= pi/2 and a little more. 1 + S1 r^2 + S2 r^4 + ... is summed as h + l.
RECIPE_FN vd sine(struct ddv r) {
    vd r2 = r.hi * r.hi, e2 = fma_d(r.hi, r.hi, -r2), r4 = r2 * r2;
    const double s1 = -0x1.5555555555555p-3, s2 = 0x1.11111111110c8p-7;
    vd p = fma_d(r2, 0x1.71de3a52a1514p-19, -0x1.a01a01a014d7ap-13);
    vd q = fma_d(r2, 0x1.6123cd2aba2ecp-33, -0x1.ae6454d4e1942p-26);
    vd s = fma_d(r2, 0x1.8833fcaa0d7bfp-49, -0x1.ae438f7ea3cf7p-41);
    p = fma_d(r4, fma_d(r4, s, q), p);
    vd t = fma_d(r2, p, s2), tl = fma_d(r2, p, s2 - t);
    vd u = fma_d(r2, t, s1), ul = fma_d(r2, t, s1 - u);
    vd h = fma_d(r2, u, 1.0), l = fma_d(r2, u, 1.0 - h);
    l = fma_d(r2, fma_d(r2, tl, ul), l);
    l = fma_d(e2, fma_d(r2, 2 * s2, s1), l);
    vd slope = fma_d(r2, fma_d(r2, 0x1.2fbd1dp-5, -0x1.fc6ff3p-2), 1.0); // cos r, 3 digits
    return fma_d(r.hi, h, -fma_d(-r.hi, l, -(r.lo * slope)));
}
RECIPE_FN vd turned(vd y, vd q) { return from_u(bits_d(y) ^ (bits_d(q) << 63)); }

// ---- sine -----------------------------------------------------------------------------------------
RECIPE_FN vd sin_one(vd x) {
    vd q = fma_d(x, INV_PI, TRIG_MAGIC), k = q - TRIG_MAGIC;
    struct ddv r = reduce(x, k);
    if (any_lt_d(NEAR, abs_d(x))) patch(&r, &q, x, huge_angle(huge_or_2(x), 0.0, 1.0));
    return turned(sine(r), q);
}
VKERNEL1(sin, f64, sin_one)

// ---- cosine ---------------------------------------------------------------------------------------
RECIPE_FN vd cos_one(vd x) {
    vd a = abs_d(x), q = fma_d(a, INV_PI, 0.5) + TRIG_MAGIC, k = (q - TRIG_MAGIC) - 0.5;
    struct ddv r = reduce(a, k);
    vd b = fma_d(-k, PI1, a); // again, for what it lost when k = 1/2 and x < 1
    r.lo = r.lo + (a - fma_d(k, PI1, b));
    if (any_lt_d(NEAR, a)) patch(&r, &q, a, huge_angle(huge_or_2(a), 0.5, 1.0));
    return turned(sine(r), q);
}
VKERNEL1(cos, f64, cos_one)

// ---- tangent --------------------------------------------------------------------------------------
// 2 tan(r/2) as hi + lo, |r| <= pi/4 and a little more
RECIPE_FN struct ddv twice_tan_half(struct ddv r) {
    vd r2 = r.hi * r.hi, e2 = fma_d(r.hi, r.hi, -r2), r4 = r2 * r2, r8 = r4 * r4;
    const double t1 = 0x1.5555555555555p-4;
    vd a = fma_d(r2, 0x1.ba1ba1b9fb0aap-11, 0x1.1111111111222p-7);
    vd b = fma_d(r2, 0x1.226e31b147aeap-17, 0x1.664f489161ad1p-14);
    vd c = fma_d(r2, 0x1.7d878d2dd39ep-24, 0x1.d6d4f0e9569f4p-21);
    vd d = fma_d(r2, 0x1.d4f7b6eb49ce2p-31, 0x1.370c2f75b1323p-27);
    d = fma_d(r4, 0x1.1fd854d2e6844p-33, d);
    vd p = fma_d(r8, fma_d(r4, d, c), fma_d(r4, b, a));
    vd h = fma_d(r2, t1, 1.0), l = fma_d(r2, t1, 1.0 - h);
    l = fma_d(r4, p, fma_d(e2, t1, l));
    vd t = r.hi * h, w = fma_d(-r.hi, h, t); // t - w is the sum
    w = w + fma_d(-r.hi, l, -(r.lo * fma_d(r2, 0.2734375, 1.0)));
    vd s = t - w;
    return (struct ddv){s, (t - s) - w};
}

RECIPE_FN vd odd_sign(vd q) { return from_u(bits_d(q) << 63 | 0x3ff0000000000000u); } // -1 or 1
// tan(r), or -cot(r) where the low bit of q is set: one division, its remainder added back
RECIPE_FN vd tangent(struct ddv r, vd q) {
    struct ddv t = twice_tan_half(r), d;
    vd t2 = t.hi * t.hi, t2l = fma_d(t.hi, t.hi, -t2);
    t2l = fma_d(t.hi + t.hi, t.lo, t2l);
    d.hi = fma_d(t2, -0.25, 1.0);
    d.lo = fma_d(t2, -0.25, 1.0 - d.hi);
    d.lo = fma_d(t2l, -0.25, d.lo);
    vd o = odd_sign(q), nh = lt_d(o, 0.0, d.hi, t.hi), nl = lt_d(o, 0.0, d.lo, t.lo);
    vd dh = lt_d(o, 0.0, t.hi, d.hi), dl = lt_d(o, 0.0, t.lo, d.lo);
    vd inv = 1.0 / dh, y = nh * inv;
    vd over = fma_d(y, dh, -nh) + fma_d(y, dl, -nl);
    return flip_d(fma_d(-over, inv, y), o);
}

RECIPE_FN vd tan_one(vd x) {
    vd q = fma_d(x, INV_PI, 0.5 * TRIG_MAGIC), k = q - 0.5 * TRIG_MAGIC; // multiples of 1/2
    struct ddv r = reduce(x, k);
    if (any_lt_d(NEAR, abs_d(x))) patch(&r, &q, x, huge_angle(huge_or_2(x), 0.0, 2.0));
    return tangent(r, q);
}
VKERNEL1(tan, f64, tan_one)
