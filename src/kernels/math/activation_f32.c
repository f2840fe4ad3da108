// SPDX-License-Identifier: MIT
// sigmoid, silu, softplus and gelu_tanh, f32: the methods of activation.c in floats.
//
// sigmoid(v) = 1 / (1 + e^-v); silu = v sigmoid(v); gelu_tanh = x sigmoid(v), v = x (A + B x^2) in head and
// tail; softplus = max(v, 0) + log(1 + e^-|v|). Results near
// the subnormal numbers are computed 2^64 times larger.
//
// Largest errors seen, in ULP: sigmoid 0.517 at -0x1.f135d4p+5, silu 0.521 at -0x1.fa7c1ap+5, softplus 0.603 at
// -0x1.ef4096p+3, gelu_tanh 0.634 at -0x1.44270cp+3.
#include "exp_f32.h"
#include "log_f32.h"

#define SIGMOID_FAR 60.0f // sigmoid(-v) = e^-v and sigmoid(v) = 1 to the last bit from 17 on

// sigmoid(v) = y + y rho from e^-v = s + s p: with 1 + s = h + hl and g = hl + s p, y = 1 / (h + g) and rho =
// 1 - y (h + g).
struct sigmoid {
    vs y, rho;
};
RECIPE_FN struct sigmoid sigmoid_of(struct exps_near e) {
    vs big = lt_s(1.0f, e.s, e.s, 1.0f), small = lt_s(e.s, 1.0f, e.s, 1.0f);
    vs h = big + small, g = fma_s(e.s, e.p, small - (h - big));
    vs y = 1.0f / (h + g);
    return (struct sigmoid){y, fma_s(-y, g, fma_s(-y, h, 1.0f))};
}
// x sigmoid(v)
RECIPE_FN vs times_sigmoid(vs x, struct sigmoid s) {
    struct sdv w = prod_s(x, s.y);
    return w.hi + fma_s(w.hi, s.rho, w.lo);
}

// f e^(v + vl) for v < -SIGMOID_FAR, rounded twice at most
static __attribute__((noinline)) vs far_exp_times(vs f, vs v, vs vl) {
    vs c = lt_s(v, -120.0f, -120.0f, v);
    struct exps_parts e = exps_split2(c, lt_s(v, -120.0f, 0.0f, vl));
    vs g = f * exps_power(e.scale + (64u << 23));
    return fma_s(g, e.head, g * e.tail) * 0x1p-64f;
}

RECIPE_FN vs sigmoid_one(vs x) {
    vs c = lt_s(SIGMOID_FAR, x, SIGMOID_FAR, x);
    struct sigmoid s = sigmoid_of(exps_near(-c));
    vs y = fma_s(s.y, s.rho, s.y);
    if (any_lt_s(x, -SIGMOID_FAR)) y = lt_s(x, -SIGMOID_FAR, exps_join(exps_split(x), x), y);
    return y;
}
VKERNEL1(sigmoid, f32, sigmoid_one)

RECIPE_FN vs silu_one(vs x) {
    vs c = lt_s(SIGMOID_FAR, x, SIGMOID_FAR, x);
    vs y = lt_s(SIGMOID_FAR, x, x, times_sigmoid(c, sigmoid_of(exps_near(-c))));
    if (any_lt_s(x, -SIGMOID_FAR)) {
        vs f = lt_s(x, -120.0f, -120.0f, x); // -inf times 0
        y = lt_s(x, -SIGMOID_FAR, far_exp_times(f, x, VS(0.0f)), y);
    }
    return sign_s(abs_s(y), x); // zeros and what underflows keep the sign of x
}
VKERNEL1(silu, f32, silu_one)

RECIPE_FN vs softplus_one(vs x) {
    vs t = abs_s(x);
    struct sdv e = exps_dd(exps_near2(-lt_s(SIGMOID_FAR, t, SIGMOID_FAR, t), VS(0.0f)));
    struct sdv l = log1ps_dd(e.hi, e.lo), s = sum_s(lt_s(0.0f, x, x, 0.0f), l.hi);
    vs y = s.hi + (s.lo + l.lo);
    y = lt_s(x, -16.0f, e.hi + fma_s(-0.5f * e.hi, e.hi, e.lo), y); // keeps e.lo
    y = lt_s(SIGMOID_FAR, x, x, y);
    if (any_lt_s(x, -SIGMOID_FAR)) y = lt_s(x, -SIGMOID_FAR, exps_join(exps_split(x), x), y);
    return y;
}
VKERNEL1(softplus, f32, softplus_one)

// A = 2 sqrt(2/pi), B = 0.044715f A
#define GELU_A 0x1.988454p0f
#define GELU_A_TAIL -0x1.857936p-25f
#define GELU_B 0x1.2444f2p-4f
#define GELU_B_TAIL 0x1.49b16ap-29f

RECIPE_FN struct sdv gelu_argument(vs x) {
    struct sdv s = prod_s(x, x), b = prod_s(s.hi, VS(GELU_B));
    b.lo = fma_s(s.lo, GELU_B, fma_s(s.hi, GELU_B_TAIL, b.lo));
    struct sdv t = sum_s(VS(GELU_A), b.hi);
    t.lo = t.lo + (b.lo + GELU_A_TAIL);
    struct sdv v = prod_s(x, t.hi);
    return (struct sdv){v.hi, fma_s(x, t.lo, v.lo)};
}
RECIPE_FN vs gelu_tanh_one(vs x) {
    vs c = lt_s(x, -12.0f, -12.0f, lt_s(12.0f, x, 12.0f, x)); // beyond: 0 and x
    struct sdv v = gelu_argument(c);
    vs far = VS(SIGMOID_FAR), u = lt_s(far, v.hi, far, v.hi), ul = lt_s(far, v.hi, 0.0f, v.lo);
    vs y = lt_s(12.0f, x, x, times_sigmoid(c, sigmoid_of(exps_near2(-u, -ul))));
    if (any_lt_s(v.hi, -SIGMOID_FAR)) y = lt_s(v.hi, -SIGMOID_FAR, far_exp_times(c, v.hi, v.lo), y);
    return sign_s(abs_s(y), x); // zeros and what underflows keep the sign of x
}
VKERNEL1(gelu_tanh, f32, gelu_tanh_one)
