// SPDX-License-Identifier: MIT
// exp and exp2, f32. The method is that of exp_f32.h; exp2 reduces exactly: r = x - n/16.
//
// Specials: NaN gives NaN, +inf and overflow +inf, -inf and underflow +0; subnormal results are
// rounded once, out of line.
// Largest errors: exp 0.5641 ULP at 0x1.1feb66p+4 (of all arguments), exp2 0.552 at -0x1.fc4fe8p-6 (seen).
#include "exp_f32.h"

#define EXPS_NEAR 87.0f
RECIPE_FN vs exp_one(vs x) {
    struct exps_near e = exps_near(x);
    vs y = fma_s(e.s, e.p, e.s), t = abs_s(x);
    if (all_lt_s(t, EXPS_NEAR)) return y;
    return lt_s(t, EXPS_NEAR, y, exps_join(exps_split(x), x));
}
VKERNEL1(exp, f32, exp_one)

// 2^r = 1 + r (c1 + r (c2 + r c3)), |r| <= 1/32
RECIPE_FN vs exp2_q(vs r) {
    return fma_s(r, fma_s(r, 0x1.c6ae1cp-5f, 0x1.ebfff4p-3f), 0x1.62e43p-1f);
}
RECIPE_FN vs exp2_near(vs x) {
    vs m = x + 0x1.8p19f, r = x - (m - 0x1.8p19f);
    vs s = exps_step(bits_s(m)), p = fma_s(r, exp2_q(r), lut16_s(exps_rest, bits_s(m)));
    return fma_s(s, p, s);
}
RECIPE_FN vs exp2_far(vs x) {
    vs m = x + 0x1.8p19f, r = x - (m - 0x1.8p19f);
    vw n = bits_s(m);
    vs head = lut16_s(exps_head, n);
    struct exps_parts e = {head, fma_s(head, r * exp2_q(r), lut16_s(exps_tail, n)), exps_scale(n)};
    vs y = exps_scaled(e.head + e.tail, e.scale);
    y = le_s(128.0f, x, __builtin_inff(), y);
    y = lt_s(x, -126.0f, exps_join_tiny(e), y);
    y = lt_s(x, -151.0f, 0.0f, y);
    return eq_s(x, x, y, x + x);
}
#define EXP2S_NEAR 125.0f
RECIPE_FN vs exp2_one(vs x) {
    vs y = exp2_near(x), t = abs_s(x);
    if (all_lt_s(t, EXP2S_NEAR)) return y;
    return lt_s(t, EXP2S_NEAR, y, exp2_far(x));
}
VKERNEL1(exp2, f32, exp2_one)
