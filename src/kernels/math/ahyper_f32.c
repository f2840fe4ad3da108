// SPDX-License-Identifier: MIT
// asinh, acosh and atanh, f32: the methods of ahyper.c in floats, from log(1 + v), v in head and
// tail.
//
//     asinh |x| = log1p(|x| + x^2 / (1 + sqrt(1 + x^2)))        acosh x = log1p(t + sqrt(t (t +
//     2))), t = x - 1 atanh |x| = log1p(2 |x| / (1 - |x|)) / 2
//
// Beyond 2^60 the first two are log x + log 2. acosh x < 1 and atanh |x| > 1 are NaN, atanh +-1
// +-inf.
// Largest errors seen, in ULP: asinh 0.647 at -0x1.fc286ep+2, acosh 0.523 at 0x1.000f2ep+0, atanh 0.531 at
// -0x1.90e7bap-7.
#include "exp_f32.h"
#include "log_f32.h"

#define AHYPER_FAR 0x1p60f

static __attribute__((noinline)) vs log_twice(vs x) {
    struct logs_parts a = logs_split(x, 1.0f, &logs_natural);
    struct sdv s = logs_join(a);
    return s.hi + s.lo;
}

RECIPE_FN vs asinh_one(vs x) {
    vs a = abs_s(x);
    struct sdv s = prod_s(a, a), d = fast_sum_s(sqrt_s(1.0f + s.hi), VS(1.0f));
    struct sdv q = div_sd(s, d), v = fast_sum_s(a, q.hi), l = log1ps_dd(v.hi, v.lo + q.lo);
    vs y = l.hi + l.lo;
    if (any_lt_s(AHYPER_FAR, a)) y = lt_s(AHYPER_FAR, a, log_twice(a), y);
    return sign_s(lt_s(a, __builtin_inff(), abs_s(y), a + a), x);
}
VKERNEL1(asinh, f32, asinh_one)

RECIPE_FN vs acosh_one(vs x) {
    struct sdv t = fast_sum_s(x, VS(-1.0f)), u = sum_s(t.hi, VS(2.0f)), p = prod_s(t.hi, u.hi);
    p.lo = fma_s(t.hi, u.lo + t.lo, fma_s(t.lo, u.hi, p.lo));
    vs r = sqrt_s(p.hi);
    vs rl = (fma_s(-r, r, p.hi) + p.lo) * (0.5f / lt_s(0.0f, r, r, 1.0f));
    struct sdv v = sum_s(t.hi, r), l = log1ps_dd(v.hi, v.lo + (t.lo + rl));
    vs y = l.hi + l.lo;
    if (any_lt_s(AHYPER_FAR, x)) y = lt_s(AHYPER_FAR, x, log_twice(x), y);
    y = lt_s(x, __builtin_inff(), y, x + x);
    return lt_s(x, 1.0f, __builtin_nanf(""), y);
}
VKERNEL1(acosh, f32, acosh_one)

RECIPE_FN vs atanh_one(vs x) {
    vs a = abs_s(x);
    struct sdv d = fast_sum_s(VS(1.0f), -a), n = {2.0f * a, VS(0.0f)};
    struct sdv q = div_sd(n, d), v = fast_sum_s(q.hi, q.lo), l = log1ps_dd(v.hi, v.lo);
    vs y = abs_s(0.5f * (l.hi + l.lo));
    y = lt_s(a, 1.0f, y, eq_s(a, 1.0f, __builtin_inff(), __builtin_nanf("")));
    return sign_s(y, x);
}
VKERNEL1(atanh, f32, atanh_one)
