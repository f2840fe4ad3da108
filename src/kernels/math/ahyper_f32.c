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
#define HALF_INVERSE 0x7e730000u // less the bits of r: those of 1 / (2 r), within 6 %

static __attribute__((noinline)) vs log_twice(vs x) {
    struct logs_parts a = logs_split(x, 1.0f, &logs_natural);
    struct sdv s = logs_join(a);
    return s.hi + s.lo;
}

// asinh where |x| is small enough to square, and log 2|x| elsewhere
RECIPE_FN vs asinh_one(vs x) {
    vs a = abs_s(x);
    struct sdv p = prod_s(a, a), d = fast_sum_s(sqrt_s(1.0f + p.hi), VS(1.0f));
    vs inv = 1.0f / d.hi, q = p.hi * inv, rest = fma_s(-q, d.lo, fma_s(-q, d.hi, p.hi) + p.lo);
    struct sdv v = fast_sum_s(a, q), l = log1ps_dd(v.hi, fma_s(rest, inv, v.lo));
    vs y = l.hi + l.lo;
    if (any_eq_s(lt_s(a, AHYPER_FAR, 1.0f, 0.0f), 0.0f))
        y = lt_s(a, AHYPER_FAR, y, lt_s(a, __builtin_inff(), log_twice(a), a + a));
    return sign_s(y, x);
}
VKERNEL1(asinh, f32, asinh_one)

// The root's remainder is divided by twice the root, of which three bits will do.
RECIPE_FN vs acosh_one(vs x) {
    vs t = x - 1.0f;
    struct sdv u = fast_sum_s(x, VS(1.0f)), p = prod_s(t, u.hi);
    p.lo = fma_s(t, u.lo, p.lo);
    vs r = sqrt_s(p.hi), half = from_w(HALF_INVERSE - bits_s(r));
    struct sdv v = fast_sum_s(r, t);
    v.lo = fma_s(fma_s(-r, r, p.hi) + p.lo, half, v.lo);
    struct sdv l = log1ps_dd(v.hi, v.lo);
    vs y = l.hi + l.lo;
    vs fine = le_s(1.0f, x, lt_s(x, AHYPER_FAR, 1.0f, 0.0f), 0.0f);
    if (any_eq_s(fine, 0.0f)) {
        y = lt_s(x, AHYPER_FAR, y, lt_s(x, __builtin_inff(), log_twice(x), x + x));
        y = lt_s(x, 1.0f, __builtin_nanf(""), y);
    }
    return y;
}
VKERNEL1(acosh, f32, acosh_one)

RECIPE_FN vs atanh_one(vs x) {
    vs a = abs_s(x);
    struct sdv d = fast_sum_s(VS(1.0f), -a);
    vs n = a + a, inv = 1.0f / d.hi, q = n * inv;
    vs rest = fma_s(-q, d.lo, fma_s(-q, d.hi, n));
    struct sdv l = log1ps_dd(q, rest * inv);
    vs y = 0.5f * (l.hi + l.lo);
    if (any_eq_s(lt_s(a, 1.0f, 1.0f, 0.0f), 0.0f))
        y = lt_s(a, 1.0f, y, eq_s(a, 1.0f, __builtin_inff(), __builtin_nanf("")));
    return sign_s(y, x);
}
VKERNEL1(atanh, f32, atanh_one)
