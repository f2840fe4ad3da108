// SPDX-License-Identifier: MIT
// sin, cos, tan of f64.
//
// sin x = (-1)^n sin r with r = x - n pi in [-pi/2, pi/2]; cos x = (-1)^n sin r with r = x - (n - 1/2) pi;
// tan x = T / (1 - T^2/4), T = 2 tan(r/2), r = x - n pi/2, or minus the reciprocal for odd n. Up to 2^20 the
// multiple of pi is subtracted in three parts (53 + 30 + 53 bits of pi) exactly enough for r = hi + lo to have
// 58 good bits beyond hi's last; beyond, huge_angle does it with integers. The odd polynomials are minimax
// (relative error 2^-61.5 and 2^-64.5) and their first terms are carried as hi + lo.
// Measured maximum error, ULP: sin 0.515 at 0x1.92017d7c77942p+0, cos 0.517 at 0x1.9adaa1438c051p-21,
// tan 0.514 at 0x1.d774cd9dd298cp+5.
// NaN and infinities give NaN, zeros keep their sign, subnormals are returned as they are (cos: 1).
#include "math.h"
#include "trig_huge.h"

#define PI1 0x1.921fb54442d18p1 // pi = PI1 + PI2 + PI3, 53, 30 and 53 bits
#define PI2 0x1.1a62633p-53
#define PI3 0x1.45c06e0e68948p-85
#define INV_PI 0x1.45f306dc9c883p-2
#define NEAR 0x1p20
#define SIGN_BIT 0x8000000000000000u

RECIPE_FN int is_huge(double x) {
    double a = abs64(x);
    return (a > NEAR) & (a < (double)INFINITY);
}

// x - k pi for a k that is a multiple of 1/2, |x| <= NEAR. k PI1 is subtracted exactly except for k = 1/2
// and x < 1; k PI2 is exact; what the subtractions lose goes into lo.
RECIPE_FN struct dd64 reduce(double x, double k) {
    double a = fma64(-k, PI1, x);
    double hi = fma64(-k, PI2, a);
    double lo = fma64(-k, PI2, a - hi);
    return (struct dd64){hi, fma64(-k, PI3, lo)};
}

// sin(r.hi + r.lo), |r| <= pi/2 and a little more. 1 + S1 r^2 + S2 r^4 + ... is summed as h + l.
RECIPE_FN double sine(struct dd64 r) {
    double r2 = r.hi * r.hi, e2 = fma64(r.hi, r.hi, -r2), r4 = r2 * r2;
    const double s1 = -0x1.5555555555555p-3, s2 = 0x1.11111111110c8p-7;
    double p = fma64(r2, 0x1.71de3a52a1514p-19, -0x1.a01a01a014d7ap-13);
    double q = fma64(r2, 0x1.6123cd2aba2ecp-33, -0x1.ae6454d4e1942p-26);
    double s = fma64(r2, 0x1.8833fcaa0d7bfp-49, -0x1.ae438f7ea3cf7p-41);
    p = fma64(r4, fma64(r4, s, q), p);
    double t = fma64(r2, p, s2), tl = fma64(r2, p, s2 - t);
    double u = fma64(r2, t, s1), ul = fma64(r2, t, s1 - u);
    double h = fma64(r2, u, 1.0), l = fma64(r2, u, 1.0 - h);
    l = fma64(r2, fma64(r2, tl, ul), l);
    l = fma64(e2, fma64(r2, 2 * s2, s1), l);
    double slope = fma64(r2, fma64(r2, 0x1.2fbd1dp-5, -0x1.fc6ff3p-2), 1.0); // cos r, 3 digits
    return fma64(r.hi, h, fma64(r.hi, l, r.lo * slope));
}

// ---- sine -----------------------------------------------------------------------------------------
RECIPE_FN double sin_one(double x) {
    double a = abs64(x), q = fma64(a, INV_PI, 0x1.8p52), k = q - 0x1.8p52;
    double y = sine(reduce(a, k));
    return from64(bits64(y) ^ (bits64(q) << 63) ^ (bits64(x) & SIGN_BIT));
}
static double sin_huge(double x) {
    struct angle r = huge_angle(abs64(x), 0, 0);
    double y = sine((struct dd64){r.hi, r.lo});
    return from64(bits64(y) ^ (r.odd << 63) ^ (bits64(x) & SIGN_BIT));
}
KERNEL1_RARE(sin, f64, sin_one, is_huge, sin_huge)

// ---- cosine ---------------------------------------------------------------------------------------
RECIPE_FN double cos_one(double x) {
    double a = abs64(x), q = fma64(a, INV_PI, 0.5) + 0x1.8p52, k = (q - 0x1.8p52) - 0.5;
    struct dd64 r = reduce(a, k);
    double b = fma64(-k, PI1, a); // again, for what it lost when k = 1/2 and x < 1
    r.lo += a - fma64(k, PI1, b);
    double y = sine(r);
    return from64(bits64(y) ^ (bits64(q) << 63));
}
static double cos_huge(double x) {
    struct angle r = huge_angle(abs64(x), 1, 0);
    double y = sine((struct dd64){r.hi, r.lo});
    return from64(bits64(y) ^ (r.odd << 63));
}
KERNEL1_RARE(cos, f64, cos_one, is_huge, cos_huge)

// ---- tangent --------------------------------------------------------------------------------------
// 2 tan(r/2) as hi + lo, |r| <= pi/4 and a little more
RECIPE_FN struct dd64 twice_tan_half(struct dd64 r) {
    double r2 = r.hi * r.hi, e2 = fma64(r.hi, r.hi, -r2), r4 = r2 * r2, r8 = r4 * r4;
    const double t1 = 0x1.5555555555555p-4;
    double a = fma64(r2, 0x1.ba1ba1b9fb0aap-11, 0x1.1111111111222p-7);
    double b = fma64(r2, 0x1.226e31b147aeap-17, 0x1.664f489161ad1p-14);
    double c = fma64(r2, 0x1.7d878d2dd39ep-24, 0x1.d6d4f0e9569f4p-21);
    double d = fma64(r2, 0x1.d4f7b6eb49ce2p-31, 0x1.370c2f75b1323p-27);
    d = fma64(r4, 0x1.1fd854d2e6844p-33, d);
    double p = fma64(r8, fma64(r4, d, c), fma64(r4, b, a));
    double h = fma64(r2, t1, 1.0), l = fma64(r2, t1, 1.0 - h);
    l = fma64(r4, p, fma64(e2, t1, l));
    double t = r.hi * h, tl = fma64(r.hi, h, -t);
    return fast_two_sum(t, tl + fma64(r.hi, l, r.lo * fma64(r2, 0.2734375, 1.0)));
}

// tan(r), or cot(r) when odd: one division, its remainder added back
RECIPE_FN double tangent(struct dd64 r, uint64_t odd) {
    struct dd64 t = twice_tan_half(r), d, n;
    double t2 = t.hi * t.hi, t2l = fma64(t.hi, t.hi, -t2);
    t2l = fma64(t.hi + t.hi, t.lo, t2l);
    d.hi = fma64(t2, -0.25, 1.0);
    d.lo = fma64(t2, -0.25, 1.0 - d.hi);
    d.lo = fma64(t2l, -0.25, d.lo);
    n.hi = odd ? d.hi : t.hi;
    n.lo = odd ? d.lo : t.lo;
    d.hi = odd ? t.hi : d.hi;
    d.lo = odd ? t.lo : d.lo;
    double inv = 1.0 / d.hi, q = n.hi * inv;
    double rest = fma64(-q, d.hi, n.hi) + fma64(-q, d.lo, n.lo);
    return fma64(rest, inv, q);
}

RECIPE_FN double tan_one(double x) {
    double a = abs64(x), q = fma64(a, INV_PI, 0x1.8p51), k = q - 0x1.8p51; // multiples of 1/2
    uint64_t odd = bits64(q) & 1u;
    double y = tangent(reduce(a, k), odd);
    return from64(bits64(y) ^ (odd << 63) ^ (bits64(x) & SIGN_BIT));
}
static double tan_huge(double x) {
    struct angle r = huge_angle(abs64(x), 0, 1);
    double y = tangent((struct dd64){r.hi, r.lo}, r.odd);
    return from64(bits64(y) ^ (r.odd << 63) ^ (bits64(x) & SIGN_BIT));
}
KERNEL1_RARE(tan, f64, tan_one, is_huge, tan_huge)
