// SPDX-License-Identifier: MIT
// sin(pi r) / (pi r) = 1 + r^2 (s1 + r^2 (s2 + r^2 q)), |r| <= 1/2, as head and tail to 2^-61: s1 and s2 are those of
// the series and have tails, q is a polynomial in r^2 through Chebyshev points (error 2^-63 of the whole).
#ifndef WEFT_KERN_MATH_SINPI_H
#define WEFT_KERN_MATH_SINPI_H

#include "vec.h"

RECIPE_FN struct ddv sinpi_ratio(vd r) {
    struct ddv u = prod_d(r, r);
    vd q = fma_d(u.hi, 0x1.722dfbe63f752p-33, -0x1.f5e23a9ccf62dp-28);
    q = fma_d(u.hi, q, 0x1.0fc97f0aa1ce9p-22);
    q = fma_d(u.hi, q, -0x1.d42498ac6be09p-18);
    q = fma_d(u.hi, q, 0x1.374719faa08bep-13);
    q = fma_d(u.hi, q, -0x1.33816aa460713p-9);
    q = fma_d(u.hi, q, 0x1.ac6805cf350a6p-6);
    q = fma_d(u.hi, q, -0x1.86a8e4720db67p-3);
    struct ddv t = fast_sum_d(VD(0x1.9f9cb402bc46cp-1), u.hi * q), ut = prod_d(u.hi, t.hi);
    t.lo = t.lo + 0x1.487acd8cd312cp-55;
    ut.lo = ut.lo + fma_d(u.hi, t.lo, u.lo * t.hi);
    struct ddv v = fast_sum_d(VD(-0x1.a51a6625307d3p0), ut.hi);
    v.lo = v.lo + (ut.lo - 0x1.1873d8912200cp-55);
    struct ddv w = prod_d(u.hi, v.hi);
    w.lo = w.lo + fma_d(u.hi, v.lo, u.lo * v.hi);
    struct ddv s = fast_sum_d(VD(1.0), w.hi);
    return fast_sum_d(s.hi, s.lo + w.lo);
}

#endif
