// SPDX-License-Identifier: MIT
// expm1, tanh, sinh and cosh, f32, by the method of hyper.c in floats: from E = e^|x| - 1 in head
// and tail.
//
// Odd functions take the sign of x at the end, which gives -0 as well. expm1 is e^x above 88 and -1
// below -32; tanh is 1 from 10 on; sinh and cosh are e^|x| / 2 above 88 and 87. NaN gives NaN.
// Largest errors: tanh 0.5187 ULP at 0x1.61895ep-7 (of all arguments); seen: expm1 0.509 at 0x1.e11bfp-7,
// sinh 0.511 at -0x1.a37feap-7, cosh 0.531 at 0x1.fd7bfcp+3.
#include "exp_f32.h"

RECIPE_FN vs expm1_one(vs x) {
    struct sdv e = expm1s_dd(lt_s(x, -32.0f, -32.0f, x), false);
    vs y = sign_s(e.hi, x);
    if (any_lt_s(88.0f, x)) y = lt_s(88.0f, x, exps_join(exps_split(x), x), y);
    return y;
}
VKERNEL1(expm1, f32, expm1_one)

RECIPE_FN vs tanh_one(vs x) {
    vs t = abs_s(x);
    struct sdv e = expm1s_dd(2.0f * lt_s(10.0f, t, 10.0f, t), true);
    vs two = VS(2.0f), big = lt_s(two, e.hi, e.hi, two);
    struct sdv d = fast_sum_s(big, lt_s(e.hi, two, e.hi, two));
    d.lo = d.lo + e.lo;
    return sign_s(ratio_sd(e, d), x);
}
VKERNEL1(tanh, f32, tanh_one)

// e^t / 2 for t > 87
RECIPE_FN vs half_exp(vs t) {
    struct exps_parts e = exps_split(t);
    vs y = exps_scaled(e.head + e.tail, e.scale - (1u << 23));
    return lt_s(0x1.65a9f8p6f, t, __builtin_inff(), y);
}

RECIPE_FN vs sinh_one(vs x) {
    vs t = abs_s(x);
    struct sdv e = expm1s_dd(lt_s(88.0f, t, 88.0f, t), true);
    struct sdv d = fast_sum_s(VS(1.0f), e.hi); // exact as long as it matters
    d.lo = d.lo + e.lo;
    struct sdv q = div_sd(e, d), s = fast_sum_s(e.hi, q.hi);
    vs y = 0.5f * (s.hi + (s.lo + (e.lo + q.lo)));
    if (any_lt_s(88.0f, t)) y = lt_s(88.0f, t, half_exp(t), y);
    return sign_s(y, x);
}
VKERNEL1(sinh, f32, sinh_one)

RECIPE_FN vs cosh_one(vs x) {
    vs t = abs_s(x);
    struct sdv e = exps_dd(exps_near2(lt_s(87.0f, t, 87.0f, t), VS(0.0f)));
    vs inv = 1.0f / e.hi, rest = fma_s(-inv, e.lo, fma_s(-inv, e.hi, 1.0f)) * inv;
    struct sdv s = fast_sum_s(e.hi, inv);
    vs y = 0.5f * (s.hi + (s.lo + (e.lo + rest)));
    if (any_lt_s(87.0f, t)) y = lt_s(87.0f, t, half_exp(t), y);
    return y;
}
VKERNEL1(cosh, f32, cosh_one)
