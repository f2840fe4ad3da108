// SPDX-License-Identifier: MIT
// asin, acos, atan, atan2 of f64.
//
// atan: t = |x| or 1/|x| in [0, 1], atan t = t (1 + t^2 P(t^2)) (minimax, relative error 2^-57.6), the digits
// lost in the quotient restored from its exact remainder, then the multiple of pi/2 added in two parts. atan2
// the same with t = min/max of the magnitudes. asin, acos: up to 1/2 directly, x + x^3 R(x^2) (2^-59.9);
// beyond through asin x = pi/2 - 2 asin s, s = sqrt((1 - x)/2), the square root's remainder restored likewise.
// Few registers, two operations at a time: asin as two chains, of the even and of the odd powers; atan in pairs of
// terms, which take off one another (chains would cost it 0.5 ULP).
// Measured maximum error, ULP: asin 0.654 at 0x1.0aa1a2fd8e696p-1, acos 0.644 at 0x1.1a5e941fa9cc9p-1, atan 0.830 at
// 0x1.f4ee0347e3cf8p-1, atan2 0.791 at 0x1.6dacbe9479977p+0, 0x1.722bfc48ef476p+0. Zeros keep their sign, subnormals are returned as they are;
// |x| > 1 gives NaN for asin and acos; atan2 has the special values of C's Annex F.
#include "itrig.h"

// ---- atan, atan2 ------------------------------------------------------------------------------------
// (atan t - t) / t^3 from z = t^2. The first two terms one by one: fewer roundings of their size.
RECIPE_FN double atan_poly(double z) {
    double w = z * z, p = fma64(z, 0x1.bbed95992aba7p-17, -0x1.3f3647754a54bp-13);
    p = fma64(w, p, fma64(z, 0x1.b3fac5754959p-11, -0x1.7a39969fb0f82p-9));
    p = fma64(w, p, fma64(z, 0x1.d7b923ef719a1p-8, -0x1.c78fcadaa256fp-7));
    p = fma64(w, p, fma64(z, 0x1.683cc85121c0bp-6, -0x1.e9fa0cc47886fp-6));
    p = fma64(w, p, fma64(z, 0x1.2c2e5c90683cap-5, -0x1.59a3ff0f91a35p-5));
    p = fma64(w, p, fma64(z, 0x1.82dad7943c62ep-5, -0x1.ae5e72bebef5p-5));
    p = fma64(w, p, fma64(z, 0x1.e1bba66bb85f4p-5, -0x1.110e5126f6eadp-4));
    p = fma64(w, p, fma64(z, 0x1.3b13669a2984fp-4, -0x1.745d11ae74c19p-4));
    p = fma64(w, p, fma64(z, 0x1.c71c717fcf76bp-4, -0x1.249249237f57dp-3));
    return fma64(z, fma64(z, p, 0x1.99999999955b4p-3), -0x1.5555555555526p-2);
}
// base + atan(t + tl), t of either sign. atan t = t (1 + z P(z)), the bracket summed as h + l.
RECIPE_FN double atan_from(struct dd64 base, double t, double tl) {
    double z = t * t, ze = fma64(t, t, -z), p = atan_poly(z);
    double h = fma64(z, p, 1.0), l = fma64(ze, p, fma64(z, p, 1.0 - h));
    double slope = fma64(z, fma64(z, 0.5, -1.0), 1.0); // 1/(1 + z), roughly
    double y = t * h, rest = fma64(t, l, fma64(t, h, -y));
    return sum3(base.hi, y, rest + fma64(tl, slope, base.lo));
}

RECIPE_FN double atan_one(double x) {
    double a = abs64(x), inv = -1.0 / a;
    int big = a > 1.0;
    double t = big ? inv : a;
    double tl = (big & (a < 0x1p60)) ? -inv * fma64(-inv, a, -1.0) : 0.0;
    struct dd64 base = {big ? HALF_PI_HI : 0.0, big ? HALF_PI_LO : 0.0};
    return sign64(atan_from(base, t, tl), x);
}
KERNEL1(atan, f64, atan_one)

RECIPE_FN double atan2_one(double y, double x) {
    double a = abs64(y), b = abs64(x);
    int swap = a > b, left = (int)(bits64(x) >> 63);
    double n = swap ? b : a, d = swap ? a : b;
    int both_inf = (n == (double)INFINITY) & (d == (double)INFINITY);
    n = both_inf ? 1.0 : n;
    d = (both_inf | (d == 0.0)) ? 1.0 : d;
    double t = n / d;
    // the quotient's remainder, away from overflow and underflow; a tiny quotient needs none
    double scale = d < 0x1p-500 ? 0x1p560 : d > 0x1p500 ? 0x1p-560 : 1.0, ds = d * scale;
    double tl = t > 0x1p-60 ? fma64(-t, ds, n * scale) * rough_inverse(ds) : 0.0;
    int minus = swap != left;
    double hi = left ? PI_HI : 0.0, lo = left ? PI_LO : 0.0;
    struct dd64 base = {swap ? HALF_PI_HI : hi, swap ? HALF_PI_LO : lo};
    return sign64(atan_from(base, minus ? -t : t, minus ? -tl : tl), y);
}
KERNEL2(atan2, f64, atan2_one)

// ---- asin, acos -------------------------------------------------------------------------------------
// (asin t - t) / t^3 from z = t^2 <= 1/4
RECIPE_FN double asin_poly(double z) {
    double w = z * z;
    double p = fma64(w, 0x1.0b45e9f8e6b15p-5, 0x1.639a895132223p-6);
    double q = fma64(w, -0x1.57fad0e39eaf7p-6, 0x1.e5fbe8857f6f5p-9);
    p = fma64(w, p, 0x1.613c1e6f4a2fp-7);
    q = fma64(w, q, 0x1.75859dacf6aedp-7);
    p = fma64(w, p, 0x1.ca1f8af1f1d9ap-7);
    q = fma64(w, q, 0x1.1c49f077d5b5ap-6);
    p = fma64(w, p, 0x1.6e8bdedebf9e1p-6);
    q = fma64(w, q, 0x1.f1c71a95002fbp-6);
    p = fma64(w, p, 0x1.6db6db721247bp-5);
    q = fma64(w, q, 0x1.333333332e133p-4);
    p = fma64(w, p, 0x1.5555555555577p-3);
    return fma64(z, q, p);
}
// sqrt(z) and what it lost
RECIPE_FN struct dd64 root(double z) {
    double s = __builtin_sqrt(z);
    return (struct dd64){s, fma64(-s, s, z) * 0.5 * rough_inverse(s)};
}

RECIPE_FN double asin_one(double x) {
    double a = abs64(x);
    int big = a > 0.5;
    double z = big ? fma64(a, -0.5, 0.5) : a * a;
    struct dd64 s = root(z);
    double t = big ? s.hi : a, tl = big ? s.lo : 0.0;
    double rest = fma64(t * z, asin_poly(z), tl), m = big ? -2.0 : 1.0;
    double y = sum3(big ? HALF_PI_HI : 0.0, m * t, fma64(m, rest, big ? HALF_PI_LO : 0.0));
    return sign64(y, x);
}
KERNEL1(asin, f64, asin_one)

RECIPE_FN double acos_one(double x) {
    double a = abs64(x);
    int big = a > 0.5, left = x < 0.0;
    double z = big ? fma64(a, -0.5, 0.5) : a * a;
    struct dd64 s = root(z);
    double t = big ? s.hi : x, tl = big ? s.lo : 0.0;
    double rest = fma64(t * z, asin_poly(z), tl), m = big ? (left ? -2.0 : 2.0) : -1.0;
    double hi = left ? PI_HI : 0.0, lo = left ? PI_LO : 0.0;
    return sum3(big ? hi : HALF_PI_HI, m * t, fma64(m, rest, big ? lo : HALF_PI_LO));
}
KERNEL1(acos, f64, acos_one)
