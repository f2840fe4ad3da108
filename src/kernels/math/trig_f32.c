// SPDX-License-Identifier: MIT
// sin, cos, tan of f32, through f64 arithmetic.
//
// The method of trig_f64.c with r as one double: up to 2^45 the two parts of pi (106 bits) leave r with a
// relative error near 2^-53, so five terms of the sine and seven of the tangent (minimax, 2^-35 and
// 2^-29.5) give results that are rounded once and almost always correctly. Beyond 2^45 the integers of
// huge_angle take over.
// Measured maximum error, ULP: sin 0.5004 at -0x1.6c1316p+5, cos 0.5004 at -0x1.45d7ccp+47, tan 0.522 at -0x1.b8d3c4p+100.
// NaN and infinities give NaN, zeros keep their sign, subnormals are returned as they are (cos: 1).
#include "math.h"
#include "trig_huge.h"

#define PI1 0x1.921fb54442d18p1
#define PI2 0x1.1a62633145c07p-53
#define INV_PI 0x1.45f306dc9c883p-2
#define NEAR 0x1p45f
#define SIGN_BIT 0x8000000000000000u

RECIPE_FN int is_huge(float x) {
    float a = abs32(x);
    return (a > NEAR) & (a < (float)INFINITY);
}
RECIPE_FN double reduce(double x, double k) { return fma64(-k, PI2, fma64(-k, PI1, x)); }
// the magnitude of y with its sign turned over for an odd low bit of n and for a negative x
RECIPE_FN float signed_by(double y, uint64_t n, double x) {
    return (float)from64(bits64(y) ^ (n << 63) ^ (bits64(x) & SIGN_BIT));
}

// |r| <= pi/2 and a little more
RECIPE_FN double sine(double r) {
    double r2 = r * r, r4 = r2 * r2;
    double p = fma64(r2, 0x1.11110c43cb4cap-7, -0x1.5555554752a2ep-3);
    double q = fma64(r2, 0x1.717039c1819e5p-19, -0x1.a017d78972defp-13);
    q = fma64(r4, -0x1.9a622f82b0bb3p-26, q);
    return fma64(r * r2, fma64(r4, q, p), r);
}

RECIPE_FN float sin_one(float xf) {
    double x = (double)xf, a = abs64(x), q = fma64(a, INV_PI, 0x1.8p52);
    return signed_by(sine(reduce(a, q - 0x1.8p52)), bits64(q), x);
}
static float sin_huge(float x) {
    struct angle r = huge_angle(abs64((double)x), 0, 0);
    return signed_by(sine(r.hi), r.odd, (double)x);
}
KERNEL1_RARE(sin, f32, sin_one, is_huge, sin_huge)

RECIPE_FN float cos_one(float xf) {
    double a = abs64((double)xf), q = fma64(a, INV_PI, 0.5) + 0x1.8p52;
    return signed_by(sine(reduce(a, (q - 0x1.8p52) - 0.5)), bits64(q), 0.0);
}
static float cos_huge(float x) {
    struct angle r = huge_angle(abs64((double)x), 1, 0);
    return signed_by(sine(r.hi), r.odd, 0.0);
}
KERNEL1_RARE(cos, f32, cos_one, is_huge, cos_huge)

// tan(r), or cot(r) when n is odd, |r| <= pi/4 and a little more
RECIPE_FN double tangent(double r, uint64_t n) {
    double r2 = r * r, r4 = r2 * r2;
    double p = fma64(r2, 0x1.110d7d6dd4e3p-3, 0x1.5555609548e52p-2);
    double q = fma64(r2, 0x1.5c8ff8683fdb2p-6, 0x1.badedd064e114p-5);
    double s = fma64(r2, 0x1.083938d1634b5p-14, 0x1.63bc3836bdc4fp-7);
    s = fma64(r4, 0x1.1faf235fc42cfp-8, s);
    double t = fma64(r * r2, fma64(r4, fma64(r4, s, q), p), r);
    uint64_t odd = n & 1u;
    return (odd ? 1.0 : t) / (odd ? t : 1.0);
}
RECIPE_FN float tan_one(float xf) {
    double x = (double)xf, a = abs64(x), q = fma64(a, INV_PI, 0x1.8p51); // multiples of 1/2
    return signed_by(tangent(reduce(a, q - 0x1.8p51), bits64(q)), bits64(q), x);
}
static float tan_huge(float x) {
    struct angle r = huge_angle(abs64((double)x), 0, 1);
    return signed_by(tangent(r.hi, r.odd), r.odd, (double)x);
}
KERNEL1_RARE(tan, f32, tan_one, is_huge, tan_huge)
