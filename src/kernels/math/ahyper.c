// SPDX-License-Identifier: MIT
// asinh, acosh and atanh, f64, from log(1 + v), v in head and tail (log.h).
//
//     asinh |x| = log1p(|x| + x^2 / (1 + sqrt(1 + x^2)))        acosh x = log1p(t + sqrt(t (t +
//     2))), t = x - 1 atanh |x| = log1p(2 |x| / (1 - |x|)) / 2
//
// The square root of acosh and the quotient of atanh carry their remainders, since v there inherits
// their errors whole; so does the quotient of asinh. Beyond 2^500 the first two are
// log x + log 2. Odd functions take the sign of x at the end. acosh x < 1 and atanh |x| > 1 are
// NaN, atanh +-1 +-inf.
//
// Largest errors seen, in ULP: asinh 0.641 at 0x1.0093708615013p+0, acosh 0.518 at 0x1.000f3031368d6p+0, atanh
// 0.527 at 0x1.7a51339b8b672p-7.
#include "exp.h"
#include "log.h"

#define AHYPER_FAR 0x1p500

static __attribute__((noinline)) vd log_twice(vd x) {
    struct log_parts a = log_split(x, &log_natural);
    a.k = a.k + 1.0;
    a.w = a.w + log_natural.two; // exact as before
    struct ddv s = log_join(a);
    return s.hi + s.lo;
}

RECIPE_FN vd asinh_one(vd x) {
    vd a = abs_d(x);
    struct ddv s = prod_d(a, a), d = fast_sum_d(sqrt_d(1.0 + s.hi), VD(1.0));
    struct ddv q = div_dd(s, d), v = fast_sum_d(a, q.hi), l = log1p_dd(v.hi, v.lo + q.lo);
    vd y = l.hi + l.lo;
    if (any_lt_d(AHYPER_FAR, a)) y = lt_d(AHYPER_FAR, a, log_twice(a), y);
    return sign_d(lt_d(a, __builtin_inf(), abs_d(y), a + a), x);
}
VKERNEL1(asinh, f64, asinh_one)

RECIPE_FN vd acosh_one(vd x) {
    struct ddv t = fast_sum_d(x, VD(-1.0)), u = sum_d(t.hi, VD(2.0)), p = prod_d(t.hi, u.hi);
    p.lo = fma_d(t.hi, u.lo + t.lo, fma_d(t.lo, u.hi, p.lo));
    vd r = sqrt_d(p.hi);
    vd rl = (fma_d(-r, r, p.hi) + p.lo) * (0.5 / lt_d(0.0, r, r, 1.0));
    struct ddv v = sum_d(t.hi, r), l = log1p_dd(v.hi, v.lo + (t.lo + rl));
    vd y = l.hi + l.lo;
    if (any_lt_d(AHYPER_FAR, x)) y = lt_d(AHYPER_FAR, x, log_twice(x), y);
    y = lt_d(x, __builtin_inf(), y, x + x);
    return lt_d(x, 1.0, __builtin_nan(""), y);
}
VKERNEL1(acosh, f64, acosh_one)

RECIPE_FN vd atanh_one(vd x) {
    vd a = abs_d(x);
    struct ddv d = fast_sum_d(VD(1.0), -a), n = {2.0 * a, VD(0.0)};
    struct ddv q = div_dd(n, d), v = fast_sum_d(q.hi, q.lo), l = log1p_dd(v.hi, v.lo);
    vd y = abs_d(0.5 * (l.hi + l.lo));
    y = lt_d(a, 1.0, y, eq_d(a, 1.0, __builtin_inf(), __builtin_nan("")));
    return sign_d(y, x);
}
VKERNEL1(atanh, f64, atanh_one)
