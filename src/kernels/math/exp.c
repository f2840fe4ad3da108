// SPDX-License-Identifier: MIT
// exp and exp2, f64. The method is that of exp.h; exp2 reduces exactly: r = x - n/16.
//
// Largest errors seen: 0.544 ULP, exp at -0x1.90c78470a534ap+2, exp2 at -0x1.0c6f075e0157p+1.
// Specials: NaN gives NaN, +inf and overflow +inf, -inf and underflow +0; subnormal results are
// rounded once, out of line.
#include "exp.h"

#define EXP_NEAR 708.0
RECIPE_FN vd exp_one(vd x) {
    struct exp_near e = exp_near(x);
    vd y = fma_d(e.s, e.p, e.s), t = abs_d(x);
    if (all_lt_d(t, EXP_NEAR)) return y;
    return lt_d(t, EXP_NEAR, y, exp_join(exp_split(x), x));
}
VKERNEL1(exp, f64, exp_one)

// 2^r = 1 + r q(r), |r| <= 1/32
RECIPE_FN vd exp2_q(vd r) {
    vd q = fma_d(r, 0x1.ffcdadae226e8p-17, 0x1.430a1c79c1c95p-13);
    q = fma_d(r, q, 0x1.5d87fe7827596p-10);
    q = fma_d(r, q, 0x1.3b2ab6fb41d43p-7);
    q = fma_d(r, q, 0x1.c6b08d704a0c2p-5);
    q = fma_d(r, q, 0x1.ebfbdff82c59p-3);
    return fma_d(r, q, 0x1.62e42fefa39efp-1);
}
RECIPE_FN vd exp2_near(vd x) {
    vd m = x + 0x1.8p48, r = x - (m - 0x1.8p48);
    vd s = exp_step(bits_d(m)), p = fma_d(r, exp2_q(r), lut16_d(exp_rest, bits_d(m)));
    return fma_d(s, p, s);
}
RECIPE_FN vd exp2_far(vd x) {
    vd m = x + 0x1.8p48, r = x - (m - 0x1.8p48);
    vu n = bits_d(m);
    vd head = lut16_d(exp_head, n);
    struct exp_parts e = {head, fma_d(head, r * exp2_q(r), lut16_d(exp_tail, n)), exp_scale(n)};
    vd y = exp_scaled(e.head + e.tail, e.scale);
    y = le_d(1024.0, x, __builtin_inf(), y);
    y = lt_d(x, -1022.0, exp_join_tiny(e), y);
    y = lt_d(x, -1076.0, 0.0, y);
    return eq_d(x, x, y, x + x);
}
#define EXP2_NEAR 1021.0
RECIPE_FN vd exp2_one(vd x) {
    vd y = exp2_near(x), t = abs_d(x);
    if (all_lt_d(t, EXP2_NEAR)) return y;
    return lt_d(t, EXP2_NEAR, y, exp2_far(x));
}
VKERNEL1(exp2, f64, exp2_one)
