// SPDX-License-Identifier: MIT
// sigmoid, silu, softplus and gelu_tanh, f64.
//
// sigmoid(v) = 1 / (1 + e^-v); the quotient and its correction are kept apart until the last operation. silu =
// v sigmoid(v); gelu_tanh = x sigmoid(v), v = x (A + B x^2) in head and tail, since an error of v is
// one of the result where v is large; softplus = max(v, 0) + log(1 + e^-|v|). Results near the subnormal
// numbers are computed 2^200 times larger.
//
// Largest errors seen, in ULP: sigmoid 0.520 at -0x1.24cab2c99f1edp+8, silu 0.662 at -0x1.65b33db8c4777p+9
// (a subnormal number rounded twice), softplus 0.606 at -0x1.1da2b2d8329ddp+5, gelu_tanh 0.611 at
// -0x1.52de6abd88504p+4.
#include "exp.h"
#include "log.h"

#define SIGMOID_FAR 600.0 // sigmoid(-v) = e^-v and sigmoid(v) = 1 to the last bit from 37 on

// sigmoid(v) = y + y rho from e^-v = s + s p: with 1 + s = h + hl and g = hl + s p, y = 1 / (h + g) and rho =
// 1 - y (h + g).
struct sigmoid {
    vd y, rho;
};
RECIPE_FN struct sigmoid sigmoid_of(struct exp_near e) {
    vd big = lt_d(1.0, e.s, e.s, 1.0), small = lt_d(e.s, 1.0, e.s, 1.0);
    vd h = big + small, g = fma_d(e.s, e.p, small - (h - big));
    vd y = 1.0 / (h + g);
    return (struct sigmoid){y, fma_d(-y, g, fma_d(-y, h, 1.0))};
}
// x sigmoid(v)
RECIPE_FN vd times_sigmoid(vd x, struct sigmoid s) {
    struct ddv w = prod_d(x, s.y);
    return w.hi + fma_d(w.hi, s.rho, w.lo);
}

// f e^(v + vl) for v < -SIGMOID_FAR, rounded twice at most
static __attribute__((noinline)) vd far_exp_times(vd f, vd v, vd vl) {
    vd c = lt_d(v, -800.0, -800.0, v);
    struct exp_parts e = exp_split2(c, lt_d(v, -800.0, 0.0, vl));
    vd g = f * exp_power(e.scale + (200ul << 52));
    return fma_d(g, e.head, g * e.tail) * 0x1p-200;
}

RECIPE_FN vd sigmoid_one(vd x) {
    vd c = lt_d(SIGMOID_FAR, x, SIGMOID_FAR, x);
    struct sigmoid s = sigmoid_of(exp_near(-c));
    vd y = fma_d(s.y, s.rho, s.y);
    if (any_lt_d(x, -SIGMOID_FAR)) y = lt_d(x, -SIGMOID_FAR, exp_join(exp_split(x), x), y);
    return y;
}
VKERNEL1(sigmoid, f64, sigmoid_one)

RECIPE_FN vd silu_one(vd x) {
    vd c = lt_d(SIGMOID_FAR, x, SIGMOID_FAR, x);
    vd y = lt_d(SIGMOID_FAR, x, x, times_sigmoid(c, sigmoid_of(exp_near(-c))));
    if (any_lt_d(x, -SIGMOID_FAR)) {
        vd f = lt_d(x, -800.0, -800.0, x); // -inf times 0
        y = lt_d(x, -SIGMOID_FAR, far_exp_times(f, x, VD(0.0)), y);
    }
    return sign_d(abs_d(y), x); // zeros and what underflows keep the sign of x
}
VKERNEL1(silu, f64, silu_one)

RECIPE_FN vd softplus_one(vd x) {
    vd t = abs_d(x);
    struct ddv e = exp_dd(exp_near(-lt_d(SIGMOID_FAR, t, SIGMOID_FAR, t)));
    struct ddv l = log1p_dd(e.hi, e.lo), s = sum_d(lt_d(0.0, x, x, 0.0), l.hi);
    vd y = s.hi + (s.lo + l.lo);
    y = lt_d(x, -36.0, e.hi + fma_d(-0.5 * e.hi, e.hi, e.lo), y); // keeps e.lo
    y = lt_d(SIGMOID_FAR, x, x, y);
    if (any_lt_d(x, -SIGMOID_FAR)) y = lt_d(x, -SIGMOID_FAR, exp_join(exp_split(x), x), y);
    return y;
}
VKERNEL1(softplus, f64, softplus_one)

// A = 2 sqrt(2/pi), B = 0.044715 A
#define GELU_A 0x1.9884533d43651p0
#define GELU_A_TAIL -0x1.cbc0d30ebfd15p-54
#define GELU_B 0x1.2444f2a4d8b4bp-4
#define GELU_B_TAIL -0x1.6c843a29d1c7p-61

RECIPE_FN struct ddv gelu_argument(vd x) {
    struct ddv s = prod_d(x, x), b = prod_d(s.hi, VD(GELU_B));
    b.lo = fma_d(s.lo, GELU_B, fma_d(s.hi, GELU_B_TAIL, b.lo));
    struct ddv t = sum_d(VD(GELU_A), b.hi);
    t.lo = t.lo + (b.lo + GELU_A_TAIL);
    struct ddv v = prod_d(x, t.hi);
    return (struct ddv){v.hi, fma_d(x, t.lo, v.lo)};
}
RECIPE_FN vd gelu_tanh_one(vd x) {
    vd c = lt_d(x, -30.0, -30.0, lt_d(30.0, x, 30.0, x)); // beyond: 0 and x
    struct ddv v = gelu_argument(c);
    vd far = VD(SIGMOID_FAR), u = lt_d(far, v.hi, far, v.hi), ul = lt_d(far, v.hi, 0.0, v.lo);
    vd y = lt_d(30.0, x, x, times_sigmoid(c, sigmoid_of(exp_near2(-u, -ul))));
    if (any_lt_d(v.hi, -SIGMOID_FAR)) y = lt_d(v.hi, -SIGMOID_FAR, far_exp_times(c, v.hi, v.lo), y);
    return sign_d(abs_d(y), x); // zeros and what underflows keep the sign of x
}
VKERNEL1(gelu_tanh, f64, gelu_tanh_one)
