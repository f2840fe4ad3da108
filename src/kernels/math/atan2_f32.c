// SPDX-License-Identifier: MIT
// atan2 of f32, through f64 arithmetic: the quotient and the arc need no second part there.
//
// t = min/max of the magnitudes, atan t = t (1 + z P(z)), z = t^2 (minimax, relative error 2^-31), its sign turned
// and a multiple of pi/2 added where y is the larger or x negative. The quotient of two infinities is 1, of two
// zeros 0: so the special values of C's Annex F come out. Measured maximum error: 0.507 ULP.
#include "vec.h"

#define PI 0x1.921fb54442d18p1
#define FAR 0x1p500 // beyond every float: infinity as a number, its inverse for zero

RECIPE_FN vd arc(vd z) {
    vd p = fma_d(z, 0x1.23f92f28a78f3p-10, -0x1.df970ad26c093p-8);
    p = fma_d(z, p, 0x1.714b1bc02e61fp-6);
    p = fma_d(z, p, -0x1.6e19a18795e91p-5);
    p = fma_d(z, p, 0x1.1422c79a896f9p-4);
    p = fma_d(z, p, -0x1.68e6fe5938699p-4);
    p = fma_d(z, p, 0x1.c4f1e169dbe94p-4);
    p = fma_d(z, p, -0x1.247373801a368p-3);
    p = fma_d(z, p, 0x1.9997e0308d673p-3);
    return fma_d(z, p, -0x1.55555104052c5p-2);
}
RECIPE_FN vd atan2_one(vd y, vd x) {
    vd a = abs_d(y), b = abs_d(x), n = lt_d(b, a, b, a), d = lt_d(b, a, a, b);
    n = lt_d(FAR, n, FAR, n);
    d = lt_d(FAR, d, FAR, d);
    d = lt_d(d, 1 / FAR, 1 / FAR, d);
    vd side = sign_d(VD(1.0), x), base = lt_d(side, 0.0, PI, 0.0);
    base = lt_d(b, a, 0.5 * PI, base);
    side = lt_d(b, a, -side, side);
    vd t = n / d, z = t * t, p = fma_d(t * z, arc(z), t);
    return sign_d(base + flip_d(p, side), y);
}
VKERNEL2_WIDE(atan2, atan2_one)
