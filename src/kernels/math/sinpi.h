// SPDX-License-Identifier: MIT
// sin(pi r) / (pi r) = 1 + r^2 (s1 + s2 r^2 + ...), |r| <= 1/2, as head and tail (polynomial through
// Chebyshev points, error 2^-58).
#ifndef WEFT_KERN_MATH_SINPI_H
#define WEFT_KERN_MATH_SINPI_H

#include "vec.h"

RECIPE_FN struct ddv sinpi_ratio(vd r) {
    struct ddv u = prod_d(r, r);
    vd q = fma_d(u.hi, 0x1.7060212ff90c1p-33, -0x1.f5d3585fae71cp-28);
    q = fma_d(u.hi, q, 0x1.0fc965c8ec9d7p-22);
    q = fma_d(u.hi, q, -0x1.d424985160627p-18);
    q = fma_d(u.hi, q, 0x1.374719fa42a19p-13);
    q = fma_d(u.hi, q, -0x1.33816aa46001cp-9);
    q = fma_d(u.hi, q, 0x1.ac6805cf3509dp-6);
    q = fma_d(u.hi, q, -0x1.86a8e4720db67p-3);
    q = fma_d(u.hi, q, 0x1.9f9cb402bc46cp-1);
    struct ddv v = fast_sum_d(VD(-0x1.a51a6625307d3p0), u.hi * q);
    v.lo = v.lo - 0x1.1873d4f5e66f7p-55;
    struct ddv w = prod_d(u.hi, v.hi);
    w.lo = w.lo + fma_d(u.hi, v.lo, u.lo * v.hi);
    struct ddv s = fast_sum_d(VD(1.0), w.hi);
    return fast_sum_d(s.hi, s.lo + w.lo);
}

#endif
