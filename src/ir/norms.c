// SPDX-License-Identifier: MIT
// Functions made of reductions and elementwise operations: softmax and its logarithm, logsumexp,
// norms, spread, differences, the trapezoid rule. What they share is shared as nodes; the fuser
// makes one pass over each row of them.
#include "compose.h"

#include <math.h>

static weft_reduce over_axis(const int *axis, bool keepdims) {
    return (weft_reduce){
        .size = sizeof(weft_reduce), .axes = axis, .naxes = 1, .keepdims = keepdims};
}

// x less its maximum along axis, which makes exp safe
static ir_ref lowered(struct ir_graph *g, ir_ref x, const int *axis) {
    weft_reduce r = over_axis(axis, true);
    return put2(g, IR_sub, x, ir_reduce(g, IR_MAX, x, &r));
}

ir_ref ir_softmax(struct ir_graph *g, ir_ref x, int axis) {
    weft_reduce r = over_axis(&axis, true);
    ir_ref e = put1(g, IR_exp, lowered(g, as_float(g, x), &axis));
    return put2(g, IR_true_divide, e, ir_reduce(g, IR_SUM, e, &r));
}

ir_ref ir_log_softmax(struct ir_graph *g, ir_ref x, int axis) {
    weft_reduce r = over_axis(&axis, true);
    ir_ref d = lowered(g, as_float(g, x), &axis);
    return put2(g, IR_sub, d, put1(g, IR_log, ir_reduce(g, IR_SUM, put1(g, IR_exp, d), &r)));
}

// An infinite maximum is not taken off: exp(inf) and exp(-inf) are right as they are.
static ir_ref safe_maximum(struct ir_graph *g, ir_ref x, const weft_reduce *r) {
    ir_ref m = ir_reduce(g, IR_MAX, x, r);
    return put3(g, IR_where, put1(g, IR_isfinite, m), m, literal(g, 0));
}

ir_ref ir_logsumexp(struct ir_graph *g, ir_ref x, const weft_reduce *r) {
    weft_reduce keep = *r;
    keep.keepdims = true;
    x = as_float(g, x);
    ir_ref e = put1(g, IR_exp, put2(g, IR_sub, x, safe_maximum(g, x, &keep)));
    return put2(g, IR_add, put1(g, IR_log, ir_reduce(g, IR_SUM, e, r)), safe_maximum(g, x, r));
}

ir_ref ir_ptp(struct ir_graph *g, ir_ref x, const weft_reduce *r) {
    return put2(g, IR_sub, ir_reduce(g, IR_MAX, x, r), ir_reduce(g, IR_MIN, x, r));
}

// sum(where(in, (a * scale)^2, 0)); in false where `out` holds
static ir_ref sum_of_squares(struct ir_graph *g, ir_ref a, ir_ref in, ir_ref out, double scale, const weft_reduce *r) {
    ir_ref s = put1(g, IR_square, scale == 1 ? a : put2(g, IR_mul, a, literal(g, scale)));
    ir_ref zero = literal(g, 0);
    return ir_reduce(g, IR_SUM, in ? put3(g, IR_where, in, s, zero) : put3(g, IR_where, out, zero, s), r);
}

// J. L. Blue, ACM TOMS 4 (1978) 15-23, with the constants of LAPACK's dnrm2: large, ordinary and small numbers are squared
// apart, the first and last scaled, in one sweep. Where all are ordinary the value is sqrt(sum(a * a)). NaN is ordinary.
static ir_ref norm_f64(struct ir_graph *g, ir_ref a, const weft_reduce *r) {
    const double most = 0x1p486, least = 0x1p-511, down = 0x1p-538, up = 0x1p537;
    ir_ref large = put2(g, IR_greater, a, literal(g, most)), small = put2(g, IR_less, a, literal(g, least));
    ir_ref big = sum_of_squares(g, a, large, IR_NONE, down, r);
    ir_ref few = sum_of_squares(g, a, small, IR_NONE, up, r);
    ir_ref mid = sum_of_squares(g, a, IR_NONE, put2(g, IR_logical_or, large, small), 1, r);
    ir_ref d = literal(g, down), u = literal(g, up), zero = literal(g, 0);
    ir_ref part = put2(g, IR_mul, put2(g, IR_mul, mid, d), d);
    ir_ref beyond = put2(g, IR_true_divide, put1(g, IR_sqrt, put2(g, IR_add, big, part)), d);
    ir_ref alone = put2(g, IR_true_divide, put1(g, IR_sqrt, few), u);
    part = put2(g, IR_true_divide, put2(g, IR_true_divide, few, u), u);
    ir_ref usual = put1(g, IR_sqrt, put2(g, IR_add, mid, part));
    usual = put3(g, IR_where, put2(g, IR_equal, mid, zero), alone, usual);
    return put3(g, IR_where, put2(g, IR_greater, big, zero), beyond, usual);
}

// Squares of narrower numbers are exact, or nearly so, and never leave the range in f64.
static ir_ref norm_2(struct ir_graph *g, ir_ref a, const weft_reduce *r) {
    const weft_dtype t = type_of_ref(g, a);
    if (t == WEFT_F64) return norm_f64(g, a, r);
    ir_ref s = put1(g, IR_square, ir_cast(g, a, WEFT_F64));
    return ir_cast(g, put1(g, IR_sqrt, ir_reduce(g, IR_SUM, s, r)), t);
}

ir_ref ir_norm(struct ir_graph *g, ir_ref x, double order, const weft_reduce *r) {
    if (isnan(order)) return ir_fail(g, WEFT_EINVAL, "norm: the order is NaN");
    x = as_float(g, x);
    ir_ref a = put1(g, IR_abs, x);
    if (!a) return IR_NONE;
    if (isinf(order)) return ir_reduce(g, order > 0 ? IR_MAX : IR_MIN, a, r);
    if (order == 0) return ir_cast(g, ir_reduce(g, IR_COUNT_NONZERO, x, r), type_of_ref(g, x));
    if (order == 1) return ir_reduce(g, IR_SUM, a, r);
    if (order == 2) return norm_2(g, a, r);
    ir_ref sum = ir_reduce(g, IR_SUM, put2(g, IR_pow, a, literal(g, order)), r);
    return put2(g, IR_pow, sum, literal(g, 1 / order));
}

// ---- along an axis ----------------------------------------------------------------------------
// x without its first (last) element along axis
static ir_ref without(struct ir_graph *g, ir_ref x, int axis, bool first) {
    return ir_slice(g, x, axis, first ? 1 : WEFT_NONE, first ? WEFT_NONE : -1, 1);
}

ir_ref ir_diff(struct ir_graph *g, ir_ref x, int n, int axis) {
    if (!x || !(x = ir_strong(g, x)) || (axis = ir_axis(g, "diff", x, axis)) < 0) return IR_NONE;
    if (n < 0) return ir_fail(g, WEFT_EINVAL, "diff: %d times", n);
    enum ir_op op = type_of_ref(g, x) == WEFT_BOOL ? IR_not_equal : IR_sub;
    for (; x && n > 0 && ir_dims(g, x)[axis] > 0; n--)
        x = put2(g, op, without(g, x, axis, true), without(g, x, axis, false));
    return x;
}

// A vector stands along axis of y.
static ir_ref along(struct ir_graph *g, ir_ref x, int axis, int rank) {
    if (!x || ir_at(g, x)->rank != 1) return x;
    for (int i = axis + 1; x && i < rank; i++)
        x = ir_expand_dims(g, x, -1);
    return x;
}

ir_ref ir_trapezoid(struct ir_graph *g, ir_ref y, ir_ref x, const struct ir_steps *s) {
    if (!y || !(y = ir_strong(g, y))) return IR_NONE;
    int axis = ir_axis(g, "trapezoid", y, s->axis), rank = ir_at(g, y)->rank;
    if (axis < 0) return IR_NONE;
    ir_ref step = literal(g, s->dx);
    if (x) step = along(g, ir_diff(g, x, 1, ir_at(g, x)->rank == 1 ? 0 : axis), axis, rank);
    ir_ref sum = put2(g, IR_add, without(g, y, axis, true), without(g, y, axis, false));
    weft_reduce r = over_axis(&axis, false);
    ir_ref area = put2(g, IR_true_divide, put2(g, IR_mul, step, sum), literal(g, 2));
    return ir_reduce(g, IR_SUM, area, &r);
}
