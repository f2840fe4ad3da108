// SPDX-License-Identifier: MIT
// Elementwise functions in calls: arguments become expressions, one builder takes them. dtype=
// converts the operands first, as NumPy's ufuncs do.
#include "call.h"

bool call_map(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x[3] = {NULL, NULL, NULL};
    weft_dtype t = WEFT_F64;
    if (call_given(c, K_DTYPE) && !call_dtype(p, &c->kw[K_DTYPE], &t)) return false;
    for (int i = 0; i < c->n; i++) {
        x[i] = call_expr(p, c, i);
        if (x[i] && call_given(c, K_DTYPE)) x[i] = weft_cast(x[i], t);
        if (!x[i]) return false;
    }
    weft_expr *y = c->n == 1   ? c->row->one(x[0])
                   : c->n == 2 ? c->row->two(x[0], x[1])
                               : c->row->three(x[0], x[1], x[2]);
    return call_built(p, c, y, out);
}

static bool run_clip(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x = call_expr(p, c, 0);
    for (int i = 1; x && i < c->n; i++) {
        if (c->arg[i].kind == V_NONE) continue;
        weft_expr *bound = call_expr(p, c, i);
        if (!bound) return false;
        x = i == 1 ? weft_maximum(x, bound) : weft_minimum(x, bound);
    }
    return call_built(p, c, x, out);
}

bool call_cast(struct parser *p, struct call *c, struct value *out) {
    const struct value *v = call_has(c, K_DTYPE) ? &c->kw[K_DTYPE] : &c->arg[1];
    weft_dtype t = WEFT_F64;
    if (c->n == 1 && !call_has(c, K_DTYPE))
        return parse_fail(p, c->who->at, "%s wants a type, as in cast(x, f32)", c->row->name);
    weft_expr *x = call_expr(p, c, 0);
    return x && call_dtype(p, v, &t) && call_built(p, c, weft_cast(x, t), out);
}

// divmod(a, b), frexp(x), modf(x): two results in one pass
static bool run_pair(struct parser *p, struct call *c, struct value *out) {
    weft_expr *a = call_expr(p, c, 0), *b = c->n > 1 ? call_expr(p, c, 1) : NULL, *r[2] = {NULL, NULL};
    if (!a || (c->n > 1 && !b)) return false;
    switch (c->row->name[0]) {
    case 'd': r[0] = weft_divmod(a, b, &r[1]); break;
    case 'f': r[0] = weft_frexp_mantissa(a), r[1] = weft_frexp_exponent(a); break;
    default: // modf: the sign of a, and nothing left of an infinity
        r[1] = weft_trunc(weft_cast(a, weft_expr_dtype(weft_sqrt(a))));
        r[0] = weft_copysign(weft_where(weft_isinf(r[1]), weft_float(p->graph, 0), weft_sub(a, r[1])), a);
    }
    return call_several(p, c, out, 2, r);
}

// ---- names ------------------------------------------------------------------------------------
static const struct row rows[] = {
    CALL(divmod, run_pair, 2, 2, 0),
    CALL(frexp, run_pair, 1, 1, 0),
    CALL(modf, run_pair, 1, 1, 0),
    TWO(add, add),
    TWO(sub, sub),
    TWO(subtract, sub),
    TWO(mul, mul),
    TWO(multiply, mul),
    TWO(true_divide, true_divide),
    TWO(divide, true_divide),
    TWO(div, true_divide),
    TWO(floor_divide, floor_divide),
    TWO(remainder, remainder),
    TWO(mod, remainder),
    TWO(pow, pow),
    TWO(power, pow),
    TWO(hypot, hypot),
    TWO(atan2, atan2),
    TWO(arctan2, atan2),
    TWO(copysign, copysign),
    TWO(minimum, minimum),
    TWO(maximum, maximum),
    TWO(fmin, fmin),
    TWO(fmax, fmax),
    THREE(fma, fma),
    THREE(where, where),
    TWO(complex, complex),
    ONE(real, real),
    ONE(imag, imag),
    ONE(conj, conj),
    ONE(conjugate, conj),
    ONE(angle, angle),
    CALL(clip, run_clip, 2, 3, 0),
    ONE(neg, neg),
    ONE(negative, neg),
    ONE(abs, abs),
    ONE(absolute, abs),
    ONE(fabs, abs),
    ONE(sign, sign),
    ONE(square, square),
    ONE(sqrt, sqrt),
    ONE(reciprocal, reciprocal),
    ONE(floor, floor),
    ONE(ceil, ceil),
    ONE(trunc, trunc),
    ONE(fix, trunc),
    ONE(round, round),
    ONE(rint, rint),
    ONE(around, round),
    ONE(exp, exp),
    ONE(exp2, exp2),
    ONE(expm1, expm1),
    ONE(log, log),
    ONE(log2, log2),
    ONE(log10, log10),
    ONE(log1p, log1p),
    ONE(sin, sin),
    ONE(cos, cos),
    ONE(tan, tan),
    ONE(asin, asin),
    ONE(arcsin, asin),
    ONE(acos, acos),
    ONE(arccos, acos),
    ONE(atan, atan),
    ONE(arctan, atan),
    ONE(sinh, sinh),
    ONE(cosh, cosh),
    ONE(tanh, tanh),
    ONE(asinh, asinh),
    ONE(arcsinh, asinh),
    ONE(acosh, acosh),
    ONE(arccosh, acosh),
    ONE(atanh, atanh),
    ONE(arctanh, atanh),
    ONE(cbrt, cbrt),
    ONE(sigmoid, sigmoid),
    ONE(erf, erf),
    TWO(equal, equal),
    TWO(not_equal, not_equal),
    TWO(less, less),
    TWO(less_equal, less_equal),
    TWO(greater, greater),
    TWO(greater_equal, greater_equal),
    TWO(logical_and, logical_and),
    TWO(logical_or, logical_or),
    TWO(logical_xor, logical_xor),
    ONE(logical_not, logical_not),
    TWO(bitwise_and, bitwise_and),
    TWO(bitwise_or, bitwise_or),
    TWO(bitwise_xor, bitwise_xor),
    ONE(bitwise_not, bitwise_not),
    ONE(invert, bitwise_not),
    ONE(bitwise_invert, bitwise_not),
    TWO(left_shift, left_shift),
    TWO(bitwise_left_shift, left_shift),
    TWO(bitwise_right_shift, right_shift),
    TWO(right_shift, right_shift),
    ONE(isnan, isnan),
    ONE(isinf, isinf),
    ONE(isfinite, isfinite),
    ONE(signbit, signbit),
    ONE(positive, positive),
    ONE(erfc, erfc),
    ONE(silu, silu),
    ONE(softplus, softplus),
    ONE(log_sigmoid, log_sigmoid),
    ONE(gelu, gelu_erf),
    ONE(gelu_erf, gelu_erf),
    ONE(gelu_tanh, gelu_tanh),
    ONE(relu, relu),
    TWO(logaddexp, logaddexp),
    TWO(logaddexp2, logaddexp2),
    ONE(lgamma, lgamma),
    ONE(gammaln, lgamma),
    ONE(tgamma, tgamma),
    ONE(gamma, tgamma),
    ONE(sinc, sinc),
    ONE(ndtri, ndtri),
    ONE(deg2rad, deg2rad),
    ONE(radians, deg2rad),
    ONE(rad2deg, rad2deg),
    ONE(degrees, rad2deg),
    TWO(nextafter, nextafter),
    TWO(ldexp, ldexp),
    TWO(scale_by_power, scale_by_power),
    ONE(frexp_mantissa, frexp_mantissa),
    ONE(frexp_exponent, frexp_exponent),
    ONE(frexp_power, frexp_power),
    TWO(heaviside, heaviside),
    THREE(lerp, lerp),
    TWO(fmod, fmod),
    TWO(float_power, float_power),
    TWO(rotate_left, rotate_left),
    TWO(rotate_right, rotate_right),
    TWO(mul_hi, mul_hi),
    ONE(popcount, popcount),
    ONE(bitwise_count, bitwise_count),
    ONE(leading_zeros, leading_zeros),
    ONE(trailing_zeros, trailing_zeros),
    ONE(byte_swap, byte_swap),
    ONE(byteswap, byte_swap),
    TWO(gcd, gcd),
    TWO(lcm, lcm),
    TWO(add_overflows, add_overflows),
    TWO(sub_overflows, sub_overflows),
    TWO(mul_overflows, mul_overflows),
    ONE(isposinf, isposinf),
    ONE(isneginf, isneginf),
    TWO(random_word, random_word),
    TWO(random_half, random_half),
    TWO(random_below, random_below),
    CALL(cast, call_cast, 1, 2, KW(DTYPE)),
    CALL(astype, call_cast, 1, 2, KW(DTYPE)),
    TWO(matmul, matmul),
    TWO(dot, dot),
};
const struct rows call_maps = {rows, COUNT_OF(rows)};
