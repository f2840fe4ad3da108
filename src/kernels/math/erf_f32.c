// SPDX-License-Identifier: MIT
// erf, erfc, gelu_erf (x Phi(x), Phi the normal distribution) of f32, through f64 arithmetic.
//
// erf: x P(x^2) up to 3.93, where it rounds to 1 (relative error 2^-29.5). erfc(y) = exp(-y^2) u h(u - 1),
// u = 2K/(y + K), K = 2.5, h of degree 11 (2^-32), and gelu_erf from the same tail at |x| / sqrt 2, as in
// erf_f64.c but with nothing carried in two parts: f64 has 29 bits to spare. Polynomials run as two chains, of
// the even and of the odd powers: few registers, and two operations at a time.
// Measured maximum error, ULP: erf 0.521 at -0x1.c5553ap-31, erfc 0.503 at 0x1.f205c4p+2, gelu_erf 0.503 at
// -0x1.d902p+0. Special values as in erf_f64.c.
#include "vec.h"

#define BIASED 0x1.80000000003ffp52 // adding it rounds to an integer k; its bits << 52 are 2^k

RECIPE_FN vd erf_one(vd x) {
    vd a = abs_d(x), y = lt_d(3.93, a, 3.93, a), z = y * y, w = z * z;
    vd p = fma_d(w, 0x1.4ba2cb46b6dcp-56, 0x1.0237c99953489p-44);
    vd q = fma_d(w, -0x1.156de61bc676fp-63, -0x1.72b179230cc85p-50);
    p = fma_d(w, p, 0x1.726d603bad21p-35);
    q = fma_d(w, q, -0x1.f8e1d7de1b63dp-40);
    p = fma_d(w, p, 0x1.90376dfd2f322p-27);
    q = fma_d(w, q, -0x1.aaee03320d65ap-31);
    p = fma_d(w, p, 0x1.a5d27ef44bb43p-20);
    q = fma_d(w, q, -0x1.39fe918b87fe6p-23);
    p = fma_d(w, p, 0x1.f72c18bf9e60fp-14);
    q = fma_d(w, q, -0x1.eca3c32d88dfbp-17);
    p = fma_d(w, p, 0x1.56483e0de287cp-8);
    q = fma_d(w, q, -0x1.bfa6604f8a21ep-11);
    p = fma_d(w, p, 0x1.ce2ecb040ef0bp-4);
    q = fma_d(w, q, -0x1.b82961cbf08cp-6);
    p = fma_d(w, p, 0x1.20dd74fe4aaf5p+0);
    q = fma_d(w, q, -0x1.81274349fac0ep-2);
    return sign_d(y * fma_d(z, q, p), x);
}
VKERNEL1_WIDE(erf, erf_one)

// erfc(y) from y >= 0 and s = y^2; y at most 11
RECIPE_FN vd tail(vd y, vd s) {
    vd t = 5.0 / (y + 2.5) - 1.0, w = t * t;
    vd p = fma_d(w, -0x1.45af1e60a3963p-16, 0x1.24df93061bb42p-13);
    vd q = fma_d(w, 0x1.6722362f533b3p-18, -0x1.dc75d458b13cp-17);
    p = fma_d(w, p, -0x1.f94047497566dp-11);
    q = fma_d(w, q, 0x1.755edfb728ed6p-14);
    p = fma_d(w, p, 0x1.73bdaadbcb9b7p-8);
    q = fma_d(w, q, -0x1.b8191fb9b87adp-10);
    p = fma_d(w, p, 0x1.73d8b06a91538p-4);
    q = fma_d(w, q, 0x1.1893f9efc5f26p-5);
    p = fma_d(w, p, 0x1.afbb3f3b9ae1bp-3);
    q = fma_d(w, q, 0x1.4995dc8d566ffp-3);
    vd g = (t + 1.0) * fma_d(t, q, p);
    vd k = fma_d(s, -0x1.71547652b82fep0, BIASED);
    vd r = -fma_d(k - BIASED, 0x1.62e42fefa39efp-1, s), r2 = r * r;
    p = fma_d(r2, 0x1.6d9904c0dd65ap-10, 0x1.55547cb082476p-5);
    q = fma_d(r2, 0x1.a189199798fa6p-13, 0x1.11109fa02468dp-7);
    p = fma_d(r2, p, 0x1.0000004569a4ep-1);
    q = fma_d(r2, q, 0x1.5555557fbc5cdp-3);
    p = fma_d(r2, fma_d(r, q, p), r);
    return fma_d(g, p, g) * from_u(bits_d(k) << 52);
}

RECIPE_FN vd erfc_one(vd x) {
    vd a = abs_d(x), y = lt_d(11.0, a, 11.0, a), v = tail(y, y * y);
    return lt_d(x, 0.0, 2.0 - v, v);
}
VKERNEL1_WIDE(erfc, erfc_one)

RECIPE_FN vd gelu_erf_one(vd x) {
    vd a = abs_d(x), y = lt_d(15.0, a, 15.0, a), half = 0.5 * y;
    vd v = half * tail(y * 0x1.6a09e667f3bcdp-1, half * y); // |x| Phi(-|x|)
    return lt_d(sign_d(VD(1.0), x), 0.0, -v, a - v);
}
VKERNEL1_WIDE(gelu_erf, gelu_erf_one)
