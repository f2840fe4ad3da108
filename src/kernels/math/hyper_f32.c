// SPDX-License-Identifier: MIT
// expm1 and tanh, f32, by the method of hyper.c in floats: from E = e^|x| - 1 in head and tail.
//
// Odd functions take the sign of x at the end, which gives -0 as well. expm1 is e^x above 88 and -1 below
// -32; tanh is 1 from 10 on. NaN gives NaN.
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
    struct sdv e = expm1s_dd(2.0f * lt_s(10.0f, t, 10.0f, t), true), d = sum_s(e.hi, VS(2.0f));
    d.lo = d.lo + e.lo;
    struct sdv q = div_sd(e, d);
    return sign_s(q.hi + q.lo, x);
}
VKERNEL1(tanh, f32, tanh_one)
