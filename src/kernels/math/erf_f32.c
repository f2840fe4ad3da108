// SPDX-License-Identifier: MIT
// erf, erfc, gelu_erf (x Phi(x), Phi the normal distribution) of f32, through f64 arithmetic.
//
// erf: x P(x^2) up to 3.93, where it rounds to 1 (relative error 2^-29.5). erfc(y) = exp(-y^2) u h(u - 1),
// u = 2K/(y + K), K = 2.5, h of degree 11 (2^-32), and gelu_erf from the same tail at |x| / sqrt 2, as in
// erf_f64.c but with nothing carried in two parts: f64 has 29 bits to spare.
// Measured maximum error, ULP: erf 0.521 at -0x1.c5553ap-31, erfc 0.503 at 0x1.f205c4p+2, gelu_erf 0.503 at
// -0x1.d902p+0. Special values as in erf_f64.c.
#include "math.h"

RECIPE_FN float erf_one(float xf) {
    double x = (double)xf, a = abs64(x), y = a > 3.93 ? 3.93 : a, z = y * y;
    double z2 = z * z, z4 = z2 * z2, z8 = z4 * z4;
    double a0 = fma64(z, -0x1.81274349fac0ep-2, 0x1.20dd74fe4aaf5p+0);
    double b = fma64(z, -0x1.b82961cbf08cp-6, 0x1.ce2ecb040ef0bp-4);
    double c = fma64(z, -0x1.bfa6604f8a21ep-11, 0x1.56483e0de287cp-8);
    double d = fma64(z, -0x1.eca3c32d88dfbp-17, 0x1.f72c18bf9e60fp-14);
    double e = fma64(z, -0x1.39fe918b87fe6p-23, 0x1.a5d27ef44bb43p-20);
    double f = fma64(z, -0x1.aaee03320d65ap-31, 0x1.90376dfd2f322p-27);
    double g = fma64(z, -0x1.f8e1d7de1b63dp-40, 0x1.726d603bad21p-35);
    double h = fma64(z, -0x1.72b179230cc85p-50, 0x1.0237c99953489p-44);
    double i = fma64(z, -0x1.156de61bc676fp-63, 0x1.4ba2cb46b6dcp-56);
    double lo = fma64(z4, fma64(z2, d, c), fma64(z2, b, a0));
    double hi = fma64(z4, fma64(z2, h, g), fma64(z2, f, e));
    double p = fma64(z8, fma64(z8, i, hi), lo);
    return (float)sign64(y * p, x);
}
KERNEL1(erf, f32, erf_one)

// erfc(y) from y >= 0 and s = y^2; y at most 11
RECIPE_FN double tail(double y, double s) {
    double t = 5.0 / (y + 2.5) - 1.0, t2 = t * t, t4 = t2 * t2;
    double a = fma64(t, 0x1.4995dc8d566ffp-3, 0x1.afbb3f3b9ae1bp-3);
    double b = fma64(t, 0x1.1893f9efc5f26p-5, 0x1.73d8b06a91538p-4);
    double c = fma64(t, -0x1.b8191fb9b87adp-10, 0x1.73bdaadbcb9b7p-8);
    double d = fma64(t, 0x1.755edfb728ed6p-14, -0x1.f94047497566dp-11);
    double e = fma64(t, -0x1.dc75d458b13cp-17, 0x1.24df93061bb42p-13);
    double f = fma64(t, 0x1.6722362f533b3p-18, -0x1.45af1e60a3963p-16);
    double hi = fma64(t4, fma64(t2, f, e), fma64(t2, d, c));
    double g = (t + 1.0) * fma64(t4, hi, fma64(t2, b, a));
    double q = fma64(s, -0x1.71547652b82fep0, 0x1.8p52), k = q - 0x1.8p52;
    double r = fma64(k, -0x1.62e42fefa39efp-1, -s), r2 = r * r;
    double u = fma64(r, 0x1.5555557fbc5cdp-3, 0x1.0000004569a4ep-1);
    double v = fma64(r, 0x1.11109fa02468dp-7, 0x1.55547cb082476p-5);
    double w = fma64(r, 0x1.a189199798fa6p-13, 0x1.6d9904c0dd65ap-10);
    double p = fma64(r2, fma64(r2, fma64(r2, w, v), u), r);
    return fma64(g, p, g) * from64((bits64(q) + 1023) << 52);
}

RECIPE_FN float erfc_one(float xf) {
    double x = (double)xf, a = abs64(x), y = a > 11.0 ? 11.0 : a, v = tail(y, y * y);
    return (float)(x < 0.0 ? 2.0 - v : v);
}
KERNEL1(erfc, f32, erfc_one)

RECIPE_FN float gelu_erf_one(float xf) {
    double x = (double)xf, a = abs64(x), y = a > 15.0 ? 15.0 : a, half = 0.5 * y;
    double v = half * tail(y * 0x1.6a09e667f3bcdp-1, half * y); // |x| Phi(-|x|)
    double over = a > 15.0 ? a : y - v;
    return (float)(bits32(xf) >> 31 ? -v : over);
}
KERNEL1(gelu_erf, f32, gelu_erf_one)
