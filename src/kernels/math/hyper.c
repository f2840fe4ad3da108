// SPDX-License-Identifier: MIT
// expm1, tanh, sinh and cosh, f64, from e^|x| - 1 = E in head and tail (exp.h).
//
//     tanh = E / (E + 2)     sinh = (E + E / (E + 1)) / 2     cosh = (e^|x| + e^-|x|) / 2
//
// The quotients are corrected by their remainder, so that only the last rounding counts. Odd
// functions take the sign of x at the end, which gives -0 as well. Beyond 709 and 708 sinh and cosh are
// e^|x| / 2 and expm1 is e^x; tanh is 1 from 20 on, expm1 -1 below -64.
//
// Largest errors seen, in ULP: expm1 0.515 at 0x1.6b1f73f57c63p-6, tanh 0.517 at -0x1.6596b2013d732p-7, sinh
// 0.519 at -0x1.71e6e026e671p-6, cosh 0.535 at 0x1.f2a37537a86e2p+4.
#include "exp.h"

RECIPE_FN vd expm1_one(vd x) {
    struct ddv e = expm1_dd(lt_d(x, -64.0, -64.0, x), false);
    vd y = sign_d(e.hi, x);
    if (any_lt_d(709.0, x)) y = lt_d(709.0, x, exp_join(exp_split(x), x), y);
    return y;
}
VKERNEL1(expm1, f64, expm1_one)

RECIPE_FN vd tanh_one(vd x) {
    vd t = abs_d(x);
    struct ddv e = expm1_dd(2.0 * lt_d(20.0, t, 20.0, t), true);
    vd two = VD(2.0), big = lt_d(two, e.hi, e.hi, two);
    struct ddv d = fast_sum_d(big, lt_d(e.hi, two, e.hi, two));
    d.lo = d.lo + e.lo;
    return sign_d(ratio_dd(e, d), x);
}
VKERNEL1(tanh, f64, tanh_one)

// e^t / 2 for t > 708
RECIPE_FN vd half_exp(vd t) {
    struct exp_parts e = exp_split(t);
    vd y = exp_scaled(e.head + e.tail, e.scale - (1ul << 52));
    return lt_d(0x1.633ce8fb9f87dp9, t, __builtin_inf(), y);
}

RECIPE_FN vd sinh_one(vd x) {
    vd t = abs_d(x);
    struct ddv e = expm1_dd(lt_d(709.0, t, 709.0, t), true);
    struct ddv d = fast_sum_d(VD(1.0), e.hi); // exact as long as it matters
    d.lo = d.lo + e.lo;
    struct ddv q = div_dd(e, d), s = fast_sum_d(e.hi, q.hi);
    vd y = 0.5 * (s.hi + (s.lo + (e.lo + q.lo)));
    if (any_lt_d(709.0, t)) y = lt_d(709.0, t, half_exp(t), y);
    return sign_d(y, x);
}
VKERNEL1(sinh, f64, sinh_one)

RECIPE_FN vd cosh_one(vd x) {
    vd t = abs_d(x);
    struct ddv e = exp_dd(exp_near(lt_d(708.0, t, 708.0, t)));
    vd inv = 1.0 / e.hi, rest = fma_d(-inv, e.lo, fma_d(-inv, e.hi, 1.0)) * inv;
    struct ddv s = fast_sum_d(e.hi, inv);
    vd y = 0.5 * (s.hi + (s.lo + (e.lo + rest)));
    if (any_lt_d(708.0, t)) y = lt_d(708.0, t, half_exp(t), y);
    return y;
}
VKERNEL1(cosh, f64, cosh_one)
