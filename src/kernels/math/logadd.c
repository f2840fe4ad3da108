// SPDX-License-Identifier: MIT
// logaddexp and logaddexp2, f64, and f32 through it: m + log_b(1 + b^d), m the larger operand, d
// the difference of the smaller one from it, both exact.
//
// b^d and the logarithm are had in head and tail to 2^-62, so that a result near 0, where the two
// terms cancel, is still good: its error is at most 1 ULP + 2^-62. Below b^d = 2^-52 the logarithm
// is b^d - b^2d / 2 (base 2: over log 2), and further out b^d; it only counts where m is 0 or
// nearly so, and then with all its bits. An infinite m is the result.
#include "exp.h"
#include "log.h"

#define NEAR -36.0 // natural exponents below it: two terms of the logarithm are exact enough
#define FAR -690.0 // they leave the main line
#define LN2_HEAD 0x1.62e42fefa39efp-1
#define LN2_TAIL 0x1.abc9e3b39803fp-56
#define LOG2_E 0x1.71547652b82fep0
#define LOG2_E_TAIL 0x1.777d0ffda0d24p-56
#define LN2_200 0x1.1542457337d43p+7 // 200 log 2
#define LN2_200_TAIL -0x1.e3948c376279dp-49

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
// e^d to 2^-62, with d kept in range: as exp.h, but what the rounding of r and of its sum with the
// series loses is kept
RECIPE_FN struct ddv power_dd(struct ddv d) {
    vd x = lt_d(d.hi, FAR, FAR, d.hi), xl = lt_d(d.hi, FAR, 0.0, d.lo);
    vd m = fma_d(x, EXP_16_LN2, EXP_MAGIC), nf = m - EXP_MAGIC;
    vu n = bits_d(m);
    struct ddv r = sum_d(fma_d(nf, -EXP_LN2_16, x), fma_d(nf, -EXP_LN2_16_TAIL, xl));
    vd s = exp_step(n), rest = lut16_d(exp_rest, n);
    struct ddv p = prod_d(s, r.hi), t = fast_sum_d(s, p.hi);
    vd series = fma_d(r.hi * r.hi, exp_q(r.hi), fma_d(rest, r.hi, rest + r.lo));
    return fast_sum_d(t.hi, fma_d(s, series, t.lo + p.lo));
}
// e^d - e^2d / 2
RECIPE_FN struct ddv two_terms(struct ddv e) {
    return (struct ddv){e.hi, fma_d(-0.5 * e.hi, e.hi, e.lo)};
}
RECIPE_FN struct ddv select_dd(vd x, double limit, struct ddv below, struct ddv other) {
    return (struct ddv){lt_d(x, limit, below.hi, other.hi), lt_d(x, limit, below.lo, other.lo)};
}
// l log2(e)
RECIPE_FN struct ddv to_binary(struct ddv l) {
    struct ddv p = prod_d(l.hi, VD(LOG2_E));
    p.lo = p.lo + fma_d(l.lo, LOG2_E, l.hi * LOG2_E_TAIL);
    return p;
}
// m + l
RECIPE_FN vd finish(vd m, struct ddv l) {
    struct ddv s = sum_d(m, l.hi);
    vd y = s.hi + (s.lo + l.lo);
    y = eq_d(abs_d(m), __builtin_inf(), m, y);
    return eq_d(m, m, y, m);
}
// m + e^d (base 2: over log 2) for d below FAR, where it counts beside the smallest m alone: both
// times 2^200
static __attribute__((noinline)) vd finish_far(vd m, struct ddv d, bool binary) {
    struct ddv up = sum_d(lt_d(d.hi, -1000.0, -1000.0, d.hi), VD(LN2_200));
    up.lo = up.lo + (LN2_200_TAIL + lt_d(d.hi, -1000.0, 0.0, d.lo));
    struct ddv e = power_dd(up);
    vd y = finish(m * 0x1p200, binary ? to_binary(e) : e) * 0x1p-200;
    return lt_d(0x1p-900, abs_d(m), m, y);
}

RECIPE_FN vd logaddexp_one(vd a, vd b) {
    struct operands o = order(a, b);
    struct ddv e = power_dd(o.d), l = log1p_dd(e.hi, e.lo);
    vd y = finish(o.m, select_dd(o.d.hi, NEAR, two_terms(e), l));
    return any_lt_d(o.d.hi, FAR) ? lt_d(o.d.hi, FAR, finish_far(o.m, o.d, false), y) : y;
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
    vd y = finish(o.m, select_dd(d.hi, NEAR, to_binary(two_terms(e)), l));
    return any_lt_d(d.hi, FAR) ? lt_d(d.hi, FAR, finish_far(o.m, d, true), y) : y;
}
VKERNEL2(logaddexp2, f64, logaddexp2_one)
VKERNEL2_WIDE(logaddexp2, logaddexp2_one)
