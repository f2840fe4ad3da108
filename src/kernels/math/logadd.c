// SPDX-License-Identifier: MIT
// logaddexp and logaddexp2, f64, and f32 through it: m + log_b(1 + b^d), m the larger operand, d the
// difference of the smaller one from it, both exact.
//
// b^d and the logarithm are had in head and tail to 2^-62, so that a result near 0, where the two terms
// cancel, is still good: its error is at most 1 ULP + 2^-62. Below b^d = 2^-1000 the logarithm is
// b^d itself (base 2: over log 2); it only counts where m is 0 or nearly so. An infinite m is the result.
#include "exp.h"
#include "log.h"

#define FAR -690.0 // natural exponents below it leave the main line
#define LN2_HEAD 0x1.62e42fefa39efp-1
#define LN2_TAIL 0x1.abc9e3b39803fp-56
#define LOG2_E 0x1.71547652b82fep0

struct operands {
    vd m;         // the larger; NaN if one is
    struct ddv d; // the smaller less the larger, at most 0
};
RECIPE_FN struct operands order(vd a, vd b) {
    vd m = lt_d(a, b, b, a), l = lt_d(a, b, a, b);
    struct ddv d = sum_d(l, -m);
    d.lo = le_d(-0x1p1000, d.hi, d.lo, 0.0);
    return (struct operands){eq_d(b, b, m, b), d};
}
// e^d with d kept in range
RECIPE_FN struct ddv power_dd(struct ddv d) {
    return exp_dd(exp_near2(lt_d(d.hi, FAR, FAR, d.hi), lt_d(d.hi, FAR, 0.0, d.lo)));
}
static __attribute__((noinline)) vd far_power(struct ddv d) {
    vd hi = lt_d(d.hi, -0x1p14, -0x1p14, d.hi);
    return exp_join(exp_split2(hi, lt_d(d.hi, -0x1p14, 0.0, d.lo)), hi);
}
// m + l; far: l where d is far
RECIPE_FN vd finish(struct operands o, struct ddv l) {
    struct ddv s = sum_d(o.m, l.hi);
    vd y = s.hi + (s.lo + l.lo);
    y = eq_d(abs_d(o.m), __builtin_inf(), o.m, y);
    return eq_d(o.m, o.m, y, o.m);
}

RECIPE_FN vd logaddexp_one(vd a, vd b) {
    struct operands o = order(a, b);
    struct ddv e = power_dd(o.d), l = log1p_dd(e.hi, e.lo);
    l.hi = lt_d(o.d.hi, -36.0, e.hi, l.hi); // keeps e.lo
    l.lo = lt_d(o.d.hi, -36.0, fma_d(-0.5 * e.hi, e.hi, e.lo), l.lo);
    if (any_lt_d(o.d.hi, FAR)) {
        l.hi = lt_d(o.d.hi, FAR, far_power(o.d), l.hi);
        l.lo = lt_d(o.d.hi, FAR, 0.0, l.lo);
    }
    return finish(o, l);
}
VKERNEL2(logaddexp, f64, logaddexp_one)
VKERNEL2_WIDE(logaddexp, logaddexp_one)

RECIPE_FN vd logaddexp2_one(vd a, vd b) {
    struct operands o = order(a, b);
    vd dh = lt_d(o.d.hi, -0x1p14, -0x1p14, o.d.hi), dl = lt_d(o.d.hi, -0x1p14, 0.0, o.d.lo);
    struct ddv d = prod_d(dh, VD(LN2_HEAD));
    d.lo = d.lo + fma_d(dh, LN2_TAIL, dl * LN2_HEAD);
    struct ddv e = power_dd(d);
    struct ddv l = log_join_base(log_split1p(e.hi, e.lo, &log_binary), &log_binary);
    if (any_lt_d(d.hi, FAR)) {
        l.hi = lt_d(d.hi, FAR, far_power(d) * LOG2_E, l.hi);
        l.lo = lt_d(d.hi, FAR, 0.0, l.lo);
    }
    return finish(o, l);
}
VKERNEL2(logaddexp2, f64, logaddexp2_one)
VKERNEL2_WIDE(logaddexp2, logaddexp2_one)
