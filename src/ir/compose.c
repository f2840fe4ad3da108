// SPDX-License-Identifier: MIT
// Elementwise functions made of others while the graph is built: activations, comparisons with
// tolerance, overflow tests, quotient and remainder together. In: operands; out: the node of the
// result. They fuse as what they are made of, and share what they have in common with the rest.
#include "compose.h"

#include <float.h>
#include <math.h>

// ---- small ones -------------------------------------------------------------------------------
ir_ref ir_positive(struct ir_graph *g, ir_ref x) {
    if (!x || type_of_ref(g, x) != WEFT_BOOL) return x;
    return ir_fail_at(g, WEFT_EDTYPE, &(struct ir_blame){"positive", 1, &x},
                      "not defined for bool");
}
ir_ref ir_rint(struct ir_graph *g, ir_ref x) {
    return put1(g, IR_round, as_float(g, x));
}
ir_ref ir_log_sigmoid(struct ir_graph *g, ir_ref x) {
    return put1(g, IR_neg, put1(g, IR_softplus, put1(g, IR_neg, as_float(g, x))));
}
ir_ref ir_relu(struct ir_graph *g, ir_ref x) {
    return put2(g, IR_maximum, x, whole(g, 0));
}
ir_ref ir_leaky_relu(struct ir_graph *g, ir_ref x, double slope) {
    ir_ref above = put2(g, IR_greater, x, whole(g, 0));
    return put3(g, IR_where, above, x, put2(g, IR_mul, x, literal(g, slope)));
}
ir_ref ir_scaled(struct ir_graph *g, ir_ref x, double factor) {
    return put2(g, IR_mul, as_float(g, x), literal(g, factor));
}
ir_ref ir_heaviside(struct ir_graph *g, ir_ref x, ir_ref at_zero) {
    ir_ref met = put2(g, IR_copysign, x, at_zero); // the float type that both meet in; nothing else of it is used
    if (!met) return IR_NONE;
    const weft_dtype t = type_of_ref(g, met);
    x = ir_cast(g, x, t), at_zero = ir_cast(g, at_zero, t);
    ir_ref y = put3(g, IR_where, put2(g, IR_equal, x, whole(g, 0)), at_zero, x); // NaN stays
    y = put3(g, IR_where, put2(g, IR_greater, x, whole(g, 0)), literal(g, 1), y);
    return put3(g, IR_where, put2(g, IR_less, x, whole(g, 0)), literal(g, 0), y);
}
// a at t = 0 and b at t = 1, exactly
ir_ref ir_lerp(struct ir_graph *g, ir_ref a, ir_ref b, ir_ref t) {
    ir_ref rest = put3(g, IR_fma, put1(g, IR_neg, as_float(g, t)), a, a);
    return put3(g, IR_fma, t, b, rest);
}
ir_ref ir_float_power(struct ir_graph *g, ir_ref a, ir_ref b) {
    return put2(g, IR_pow, ir_cast(g, a, WEFT_F64), ir_cast(g, b, WEFT_F64));
}
ir_ref ir_is_infinity(struct ir_graph *g, ir_ref x, bool negative) {
    return put2(g, IR_equal, x, literal(g, negative ? -INFINITY : INFINITY));
}

// ---- exponents --------------------------------------------------------------------------------
ir_ref ir_ldexp(struct ir_graph *g, ir_ref x, ir_ref n) {
    if (!x || !n || !(x = ir_strong(g, as_float(g, x)))) return IR_NONE;
    if (dtype_is_float(type_of_ref(g, n)))
        return ir_fail_at(g, WEFT_EDTYPE, &(struct ir_blame){"ldexp", 2, (ir_ref[]){x, n}},
                          "the exponents must be integers");
    return put2(g, IR_scale_by_power, x, ir_cast(g, n, type_of_ref(g, x)));
}
ir_ref ir_frexp_exponent(struct ir_graph *g, ir_ref x) {
    return ir_cast(g, put1(g, IR_frexp_power, x), WEFT_I32);
}

// ---- tolerance and replacement ----------------------------------------------------------------
static ir_ref make_isclose(struct ir_graph *g, ir_ref a, ir_ref b, const struct ir_tolerance *t) {
    ir_ref x = as_float(g, a), y = as_float(g, b);
    ir_ref apart = put1(g, IR_abs, put2(g, IR_sub, x, y));
    ir_ref room = put2(g, IR_mul, literal(g, t->relative), put1(g, IR_abs, y));
    ir_ref near = put2(g, IR_less_equal, apart, put2(g, IR_add, literal(g, t->absolute), room));
    near = put2(g, IR_logical_and, near, put1(g, IR_isfinite, y));
    near = put2(g, IR_logical_or, near, put2(g, IR_equal, a, b));
    if (!t->equal_nan) return near;
    ir_ref nans = put2(g, IR_logical_and, put1(g, IR_isnan, x), put1(g, IR_isnan, y));
    return put2(g, IR_logical_or, near, nans);
}
ir_ref ir_isclose(struct ir_graph *g, ir_ref a, ir_ref b, const struct ir_tolerance *t) {
    IR_QUIETLY(g, make_isclose(g, a, b, t));
}

static double largest(weft_dtype t) {
    switch (t) {
    case WEFT_F32: return (double)FLT_MAX;
    case WEFT_F16: return 65504;
    case WEFT_BF16: return 0x1.fep127;
    default: return DBL_MAX;
    }
}

ir_ref ir_nan_to_num(struct ir_graph *g, ir_ref x, const double to[3]) {
    if (!x || !(x = ir_strong(g, x))) return x;
    weft_dtype t = type_of_ref(g, x);
    if (dtype_is_complex(t)) // each part for itself
        return put2(g, IR_complex, ir_nan_to_num(g, put1(g, IR_real, x), to), ir_nan_to_num(g, put1(g, IR_imag, x), to));
    if (!dtype_is_float(t)) return x;
    double high = to[1] == INFINITY ? largest(t) : to[1];
    double low = to[2] == -INFINITY ? -largest(t) : to[2];
    ir_ref y = put3(g, IR_where, put1(g, IR_isnan, x), number_of(g, t, to[0]), x);
    y = put3(g, IR_where, ir_is_infinity(g, x, false), number_of(g, t, high), y);
    return put3(g, IR_where, ir_is_infinity(g, x, true), number_of(g, t, low), y);
}

// ---- integers ---------------------------------------------------------------------------------
static ir_ref make_bitwise_count(struct ir_graph *g, ir_ref x) {
    return ir_cast(g, put1(g, IR_popcount, put1(g, IR_abs, x)), WEFT_U8);
}
ir_ref ir_bitwise_count(struct ir_graph *g, ir_ref x) {
    IR_QUIETLY(g, make_bitwise_count(g, x));
}

// Two operands in the integer type in which they meet; false after an error.
static bool meet(struct ir_graph *g, const char *name, ir_ref in[2], weft_dtype *t) {
    ir_ref sum = put2(g, IR_add, in[0], in[1]);
    if (!sum) return false;
    *t = type_of_ref(g, sum);
    if (!dtype_is_int(*t))
        return ir_fail_at(g, WEFT_EDTYPE, &(struct ir_blame){name, 2, in}, "only for integers");
    in[0] = ir_cast(g, in[0], *t);
    in[1] = ir_cast(g, in[1], *t);
    return in[0] && in[1];
}
static ir_ref below_zero(struct ir_graph *g, ir_ref x) {
    return put2(g, IR_less, x, whole(g, 0));
}
static ir_ref differ(struct ir_graph *g, ir_ref a, ir_ref b) {
    return put2(g, IR_bitwise_xor, a, b);
}

// Signed: the sign of the result is neither operand's (sub: it is not a's, and b's is not a's).
static ir_ref sum_overflows(struct ir_graph *g, bool sub, const ir_ref in[2], bool is_signed) {
    ir_ref a = in[0], b = in[1], s = put2(g, sub ? IR_sub : IR_add, a, b);
    if (!is_signed) return sub ? put2(g, IR_less, a, b) : put2(g, IR_less, s, a);
    ir_ref other = sub ? differ(g, a, b) : differ(g, b, s);
    return below_zero(g, put2(g, IR_bitwise_and, differ(g, a, s), other));
}

static ir_ref make_overflows(struct ir_graph *g, enum ir_op op, ir_ref a, ir_ref b) {
    ir_ref in[2] = {a, b};
    weft_dtype t;
    const char *name = op == IR_add   ? "add_overflows"
                       : op == IR_sub ? "sub_overflows"
                                      : "mul_overflows";
    if (!meet(g, name, in, &t)) return IR_NONE;
    if (op != IR_mul) return sum_overflows(g, op == IR_sub, in, dtype_is_signed(t));
    ir_ref high = put2(g, IR_mul_hi, in[0], in[1]), fill = whole(g, 0);
    if (dtype_is_signed(t)) // the sign of the low half, in all bits
        fill = put2(g, IR_right_shift, ir_map(g, IR_mul, in),
                    whole(g, 8 * (int64_t)dtype_size(t) - 1));
    return put2(g, IR_not_equal, high, fill);
}
ir_ref ir_overflows(struct ir_graph *g, enum ir_op op, ir_ref a, ir_ref b) {
    IR_QUIETLY(g, make_overflows(g, op, a, b));
}

static ir_ref make_add_carry(struct ir_graph *g, ir_ref a, ir_ref b, ir_ref carry, ir_ref *carry_out) {
    ir_ref in[2] = {a, b};
    weft_dtype t;
    *carry_out = IR_NONE;
    if (!carry || !meet(g, "add_carry", in, &t)) return IR_NONE;
    if (dtype_is_signed(t))
        return ir_fail_at(g, WEFT_EDTYPE, &(struct ir_blame){"add_carry", 2, in},
                          "only for unsigned integers");
    ir_ref s = ir_map(g, IR_add, in);
    ir_ref one = ir_cast(g, ir_cast(g, carry, WEFT_BOOL), t), sum = put2(g, IR_add, s, one);
    *carry_out = put2(g, IR_logical_or, put2(g, IR_less, s, in[0]), put2(g, IR_less, sum, s));
    return sum;
}
ir_ref ir_add_carry(struct ir_graph *g, ir_ref a, ir_ref b, ir_ref carry, ir_ref *carry_out) {
    IR_QUIETLY(g, make_add_carry(g, a, b, carry, carry_out));
}

// Integers divide once: a - q b is 0 where b is, as the remainder is defined.
ir_ref ir_divmod(struct ir_graph *g, ir_ref a, ir_ref b, ir_ref *rest) {
    ir_ref q = put2(g, IR_floor_divide, a, b);
    *rest = IR_NONE;
    if (!q) return IR_NONE;
    weft_dtype t = type_of_ref(g, q);
    if (dtype_is_float(t)) {
        *rest = put2(g, IR_remainder, a, b);
        return q;
    }
    ir_ref d = ir_cast(g, b, t), x = ir_cast(g, a, t);
    g->quiet++; // least // -1 wraps, and what is computed from it wraps back
    ir_ref r = put2(g, IR_sub, x, put2(g, IR_mul, q, d));
    g->quiet--;
    *rest = put3(g, IR_where, put2(g, IR_equal, d, whole(g, 0)), whole(g, 0), r);
    return q;
}

// C's, with the sign of a. The remainder of magnitudes is exact; integers: where the floored
// remainder has not a's sign, b is taken off again.
ir_ref ir_fmod(struct ir_graph *g, ir_ref a, ir_ref b) {
    ir_ref r = put2(g, IR_remainder, a, b);
    if (!r) return IR_NONE;
    weft_dtype t = type_of_ref(g, r);
    ir_ref x = ir_cast(g, a, t), y = ir_cast(g, b, t);
    if (dtype_is_float(t)) {
        r = put2(g, IR_remainder, put1(g, IR_abs, x), put1(g, IR_abs, y));
        return put2(g, IR_copysign, r, x);
    }
    if (dtype_is_unsigned(t)) return r;
    ir_ref wrong = put2(g, IR_logical_and, put2(g, IR_not_equal, r, whole(g, 0)),
                        below_zero(g, differ(g, r, x)));
    return put3(g, IR_where, wrong, put2(g, IR_sub, r, y), r);
}
