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
#define HALF_INVERSE 0x7fce600000000000u // less the bits of r: those of 1 / (2 r), within 6 %

static __attribute__((noinline)) vd log_twice(vd x) {
    struct log_parts a = log_split(x, &log_natural);
    a.k = a.k + 1.0;
    a.w = a.w + log_natural.two; // exact as before
    struct ddv s = log_join(a);
    return s.hi + s.lo;
}

// asinh where |x| is small enough to square, and log 2|x| elsewhere
RECIPE_FN vd asinh_one(vd x) {
    vd a = abs_d(x);
    struct ddv p = prod_d(a, a), d = fast_sum_d(sqrt_d(1.0 + p.hi), VD(1.0));
    vd inv = 1.0 / d.hi, q = p.hi * inv, rest = fma_d(-q, d.lo, fma_d(-q, d.hi, p.hi) + p.lo);
    struct ddv v = fast_sum_d(a, q), l = log1p_dd(v.hi, fma_d(rest, inv, v.lo));
    vd y = l.hi + l.lo;
    if (any_eq_d(lt_d(a, AHYPER_FAR, 1.0, 0.0), 0.0))
        y = lt_d(a, AHYPER_FAR, y, lt_d(a, __builtin_inf(), log_twice(a), a + a));
    return sign_d(y, x);
}
VKERNEL1(asinh, f64, asinh_one)

// The root's remainder is divided by twice the root, of which three bits will do.
RECIPE_FN vd acosh_one(vd x) {
    vd t = x - 1.0;
    struct ddv u = fast_sum_d(x, VD(1.0)), p = prod_d(t, u.hi);
    p.lo = fma_d(t, u.lo, p.lo);
    vd r = sqrt_d(p.hi), half = from_u(HALF_INVERSE - bits_d(r));
    struct ddv v = fast_sum_d(r, t);
    v.lo = fma_d(fma_d(-r, r, p.hi) + p.lo, half, v.lo);
    struct ddv l = log1p_dd(v.hi, v.lo);
    vd y = l.hi + l.lo;
    vd fine = le_d(1.0, x, lt_d(x, AHYPER_FAR, 1.0, 0.0), 0.0);
    if (any_eq_d(fine, 0.0)) {
        y = lt_d(x, AHYPER_FAR, y, lt_d(x, __builtin_inf(), log_twice(x), x + x));
        y = lt_d(x, 1.0, __builtin_nan(""), y);
    }
    return y;
}
VKERNEL1(acosh, f64, acosh_one)

RECIPE_FN vd atanh_one(vd x) {
    vd a = abs_d(x);
    struct ddv d = fast_sum_d(VD(1.0), -a);
    vd n = a + a, inv = 1.0 / d.hi, q = n * inv;
    vd rest = fma_d(-q, d.lo, fma_d(-q, d.hi, n));
    struct ddv l = log1p_dd(q, rest * inv);
    vd y = 0.5 * (l.hi + l.lo);
    if (any_eq_d(lt_d(a, 1.0, 1.0, 0.0), 0.0))
        y = lt_d(a, 1.0, y, eq_d(a, 1.0, __builtin_inf(), __builtin_nan("")));
    return sign_d(y, x);
}
VKERNEL1(atanh, f64, atanh_one)
