// SPDX-License-Identifier: MIT
// asin, acos, atan, atan2 of f32, through f64 arithmetic.
//
// The methods of itrig_f64.c with shorter polynomials (relative error 2^-31 and 2^-31.7) and nothing carried
// in two parts: f64 has 29 bits to spare. Special values as there. Measured maximum error, ULP: asin 0.505 at
// -0x1.2db064p-1, acos 0.504 at 0x1.d34d94p-1, atan 0.507 at 0x1.fbcd1cp-4, atan2 0.507.
#include "itrig.h"

RECIPE_FN double atan_poly(double z) {
    double z2 = z * z, z4 = z2 * z2;
    double a = fma64(z, 0x1.9997e0308d673p-3, -0x1.55555104052c5p-2);
    double b = fma64(z, 0x1.c4f1e169dbe94p-4, -0x1.247373801a368p-3);
    double c = fma64(z, 0x1.1422c79a896f9p-4, -0x1.68e6fe5938699p-4);
    double d = fma64(z, 0x1.714b1bc02e61fp-6, -0x1.6e19a18795e91p-5);
    double e = fma64(z, 0x1.23f92f28a78f3p-10, -0x1.df970ad26c093p-8);
    double hi = fma64(z4, e, fma64(z2, d, c));
    return fma64(z4, hi, fma64(z2, b, a));
}

RECIPE_FN float atan_one(float xf) {
    double x = (double)xf, a = abs64(x);
    int big = a > 1.0;
    double t = (big ? -1.0 : a) / (big ? a : 1.0), z = t * t;
    double y = (big ? HALF_PI_HI : 0.0) + fma64(t * z, atan_poly(z), t);
    return (float)sign64(y, x);
}
KERNEL1(atan, f32, atan_one)

RECIPE_FN float atan2_one(float yf, float xf) {
    double y = (double)yf, x = (double)xf, a = abs64(y), b = abs64(x);
    int swap = a > b, left = (int)(bits32(xf) >> 31);
    double n = swap ? b : a, d = swap ? a : b;
    int both_inf = (n == (double)INFINITY) & (d == (double)INFINITY);
    n = both_inf ? 1.0 : n;
    d = (both_inf | (d == 0.0)) ? 1.0 : d;
    double t = n / d, z = t * t, p = fma64(t * z, atan_poly(z), t);
    double base = swap ? HALF_PI_HI : left ? PI_HI : 0.0;
    return (float)sign64(base + (swap != left ? -p : p), y);
}
KERNEL2(atan2, f32, atan2_one)

RECIPE_FN double asin_poly(double z) {
    double z2 = z * z;
    double a = fma64(z, 0x1.33387c9d34b84p-4, 0x1.55554c5fb049bp-3);
    double b = fma64(z, 0x1.0491a13d065ffp-5, 0x1.6caed2156bccbp-5);
    double c = fma64(z, 0x1.3355c1d85742fp-5, 0x1.d91fa33709eb7p-7);
    return fma64(z2, fma64(z2, c, b), a);
}

RECIPE_FN float asin_one(float xf) {
    double x = (double)xf, a = abs64(x);
    int big = a > 0.5;
    double z = big ? fma64(a, -0.5, 0.5) : a * a, s = __builtin_sqrt(z), t = big ? s : a;
    double p = fma64(t * z, asin_poly(z), t);
    return (float)sign64(big ? fma64(p, -2.0, HALF_PI_HI) : p, x);
}
KERNEL1(asin, f32, asin_one)

RECIPE_FN float acos_one(float xf) {
    double x = (double)xf, a = abs64(x);
    int big = a > 0.5, left = x < 0.0;
    double z = big ? fma64(a, -0.5, 0.5) : a * a, s = __builtin_sqrt(z), t = big ? s : x;
    double p = fma64(t * z, asin_poly(z), t), m = big ? (left ? -2.0 : 2.0) : -1.0;
    return (float)fma64(p, m, big ? (left ? PI_HI : 0.0) : HALF_PI_HI);
}
KERNEL1(acos, f32, acos_one)
