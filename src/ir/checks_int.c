// SPDX-License-Identifier: MIT
// What can go wrong with integers, as expressions that are true where it does: exact, without a false alarm.
// Elementwise operations are tested by the known identities of two's complement (Warren, Hacker's Delight,
// 2-13). A total (sum, product, scan, scatter, matrix product) is what it is modulo 2^w: its exact value
// T and the result r differ by a multiple of 2^w, so an f64 total f of the same terms, whose error is far below
// 2^(w-1), tells: T is not r exactly when |f - r| > 2^(w-1).
#include <math.h>

#include "checks.h"

static weft_dtype type_of(const struct ir_graph *g, ir_ref r) {
    return (weft_dtype)ir_at(g, r)->dtype;
}
static int width_of(weft_dtype t) {
    return 8 * (int)dtype_size(t);
}
static ir_ref least_k(struct ir_graph *g, weft_dtype t) {
    return int_k(g, t, (uint64_t)1 << (width_of(t) - 1));
}
static ir_ref zero_k(struct ir_graph *g, weft_dtype t) {
    return int_k(g, t, 0);
}
static ir_ref is_equal(struct ir_graph *g, ir_ref a, ir_ref b) {
    return put2(g, IR_equal, a, b);
}
static weft_dtype unsigned_of(weft_dtype t) {
    return dtype_is_signed(t) ? (weft_dtype)(t - WEFT_I8 + WEFT_U8) : t;
}

ir_ref ir_zero_fault(struct ir_graph *g, ir_ref node) {
    const struct ir_node *n = ir_at(g, node);
    const weft_dtype t = (weft_dtype)n->dtype;
    const ir_ref a = n->in[0], b = n->in[1];
    switch (n->op) {
    case IR_floor_divide:
    case IR_remainder: return is_equal(g, b, zero_k(g, t));
    case IR_reciprocal: return is_equal(g, a, zero_k(g, t));
    case IR_pow:
        if (!dtype_is_signed(t)) return IR_NONE;
        return both_of(g, is_equal(g, a, zero_k(g, t)), put2(g, IR_less, b, zero_k(g, t)));
    default: return IR_NONE;
    }
}

ir_ref ir_count_fault(struct ir_graph *g, ir_ref node) {
    const struct ir_node *n = ir_at(g, node);
    const weft_dtype t = (weft_dtype)n->dtype;
    const ir_ref b = n->in[1];
    if (n->op != IR_left_shift && n->op != IR_right_shift) return IR_NONE;
    ir_ref wrong = put2(g, IR_greater_equal, b, int_k(g, t, (uint64_t)width_of(t)));
    return dtype_is_signed(t) ? either(g, wrong, put2(g, IR_less, b, zero_k(g, t))) : wrong;
}

// Powers from the second on are either 2^63 (2^64) or at least 3e-10 of it away, so the f64 power,
// whose error is below 1e-12 there, decides with a margin between. What is negative may be the least.
static ir_ref power_overflows(struct ir_graph *g, ir_ref a, ir_ref b, weft_dtype t) {
    const bool is_signed = dtype_is_signed(t);
    const double limit = ldexp(1, width_of(t) - is_signed);
    ir_ref size = put2(g, IR_pow, put1(g, IR_abs, ir_cast(g, a, WEFT_F64)), ir_cast(g, b, WEFT_F64));
    ir_ref over = put2(g, IR_greater_equal, size, f64_k(g, limit * (1 - 1e-11)));
    if (is_signed) {
        ir_ref odd = ir_cast(g, put2(g, IR_bitwise_and, b, int_k(g, t, 1)), WEFT_BOOL);
        ir_ref negative = both_of(g, odd, put2(g, IR_less, a, zero_k(g, t)));
        ir_ref below = put2(g, IR_greater_equal, size, f64_k(g, limit * (1 + 1e-11)));
        over = put3(g, IR_where, negative, below, over);
    }
    return both_of(g, over, put2(g, IR_greater_equal, b, int_k(g, t, 2)));
}

// |a| / gcd * |b| in the unsigned type, where the least integer has its magnitude.
static ir_ref multiple_overflows(struct ir_graph *g, ir_ref a, ir_ref b, weft_dtype t) {
    const weft_dtype u = unsigned_of(t);
    ir_ref x = ir_cast(g, put1(g, IR_abs, a), u), y = ir_cast(g, put1(g, IR_abs, b), u);
    ir_ref common = put2(g, IR_maximum, put2(g, IR_gcd, x, y), int_k(g, u, 1));
    ir_ref part = put2(g, IR_floor_divide, x, common), over = ir_overflows(g, IR_mul, part, y);
    if (u == t) return over;
    ir_ref most = int_k(g, u, ((uint64_t)1 << (width_of(t) - 1)) - 1);
    return either(g, over, put2(g, IR_greater, put2(g, IR_mul, part, y), most));
}

ir_ref ir_overflow_fault(struct ir_graph *g, ir_ref node) {
    const struct ir_node *n = ir_at(g, node);
    const weft_dtype t = (weft_dtype)n->dtype;
    const ir_ref a = n->in[0], b = n->in[1];
    const bool is_signed = dtype_is_signed(t);
    switch (n->op) {
    case IR_add:
    case IR_sub:
    case IR_mul: return ir_overflows(g, (enum ir_op)n->op, a, b);
    case IR_square: return ir_overflows(g, IR_mul, a, a);
    case IR_neg: return is_signed ? is_equal(g, a, least_k(g, t)) : put2(g, IR_not_equal, a, zero_k(g, t));
    case IR_abs: return is_signed ? is_equal(g, a, least_k(g, t)) : IR_NONE;
    case IR_pow: return power_overflows(g, a, b, t);
    case IR_lcm: return multiple_overflows(g, a, b, t);
    case IR_floor_divide:
        if (!is_signed) return IR_NONE;
        return both_of(g, is_equal(g, a, least_k(g, t)), is_equal(g, b, int_k(g, t, UINT64_MAX)));
    default: return IR_NONE;
    }
}

// ---- conversions --------------------------------------------------------------------------------------
static ir_ref float_range(struct ir_graph *g, ir_ref x, weft_dtype t) {
    const int w = width_of(t);
    const bool is_signed = dtype_is_signed(t);
    ir_ref wide = ir_cast(g, x, WEFT_F64);
    ir_ref above = put2(g, IR_greater_equal, wide, f64_k(g, ldexp(1, w - is_signed)));
    // truncated, so what is above least - 1 fits; f64 has that number for all but 64 bits
    ir_ref below = w == 64 && is_signed ? put2(g, IR_less, wide, f64_k(g, -0x1p63))
                                        : put2(g, IR_less_equal, wide, f64_k(g, is_signed ? -ldexp(1, w - 1) - 1 : -1));
    return either(g, either(g, above, below), put1(g, IR_isnan, wide));
}

ir_ref ir_range_fault(struct ir_graph *g, ir_ref x, weft_dtype t) {
    const weft_dtype s = type_of(g, x);
    if (!dtype_is_int(t) || s == WEFT_BOOL) return IR_NONE;
    if (dtype_is_float(s)) return float_range(g, x, t);
    const int from = width_of(s) - dtype_is_signed(s), to = width_of(t) - dtype_is_signed(t); // bits of magnitude
    ir_ref below = IR_NONE, above = IR_NONE;
    if (dtype_is_signed(s) && (!dtype_is_signed(t) || from > to)) {
        const uint64_t least = dtype_is_signed(t) ? 0 - ((uint64_t)1 << to) : 0;
        below = put2(g, IR_less, x, int_k(g, s, least));
    }
    if (from > to) above = put2(g, IR_greater, x, int_k(g, s, ((uint64_t)1 << to) - 1));
    return either(g, below, above);
}

// ---- totals -----------------------------------------------------------------------------------------------
static ir_ref apart(struct ir_graph *g, ir_ref exact, ir_ref result, weft_dtype t) {
    ir_ref distance = put1(g, IR_abs, put2(g, IR_sub, exact, ir_cast(g, result, WEFT_F64)));
    return put2(g, IR_greater, distance, f64_k(g, ldexp(1, width_of(t) - 1)));
}

// Products of 32 bits and less are summed modulo 2^64 first, which f64 can tell from their exact sum; that
// fits the type or not. For 64 bits f64 may be too coarse: E bounds its error, and where E is large only what
// is beyond doubt is told.
static ir_ref product_overflows(struct ir_graph *g, ir_ref node) {
    const struct ir_node *n = ir_at(g, node);
    const weft_dtype t = (weft_dtype)n->dtype;
    const ir_ref a = ir_cast(g, n->in[0], WEFT_F64), b = ir_cast(g, n->in[1], WEFT_F64);
    ir_ref f = ir_matmul(g, a, b);
    if (dtype_size(t) < 8) {
        ir_ref r = ir_matmul(g, ir_cast(g, n->in[0], WEFT_I64), ir_cast(g, n->in[1], WEFT_I64));
        return either(g, apart(g, f, r, WEFT_I64), ir_range_fault(g, r, t));
    }
    const int rank = ir_at(g, n->in[0])->rank;
    const double terms = (double)ir_dims(g, n->in[0])[rank - 1];
    ir_ref error = put2(g, IR_mul, ir_matmul(g, put1(g, IR_abs, a), put1(g, IR_abs, b)),
                        f64_k(g, (terms + 2) * 0x1p-52));
    ir_ref sure = put2(g, IR_greater, put1(g, IR_abs, f), put2(g, IR_add, error, f64_k(g, 0x1p64)));
    return both_of(g, apart(g, f, node, t), either(g, put2(g, IR_less, error, f64_k(g, 0x1p62)), sure));
}

ir_ref ir_total_fault(struct ir_graph *g, ir_ref node) {
    const struct ir_node *n = ir_at(g, node);
    const weft_dtype t = (weft_dtype)n->dtype;
    const int64_t *attr = ir_attr(g, node);
    if (!dtype_is_int(t)) return IR_NONE;
    ir_ref wide[3] = {IR_NONE, n->in[1], IR_NONE};
    switch (n->op) {
    case IR_R_sum:
    case IR_R_prod:
        wide[0] = ir_cast(g, n->in[0], WEFT_F64);
        return apart(g, ir_put_run(g, (enum ir_op)n->op, wide[0], (int)attr[0], (int)attr[1]), node, t);
    case IR_scan:
        if (attr[1] > IR_R_prod - IR_R_sum) return IR_NONE;
        wide[0] = ir_cast(g, n->in[0], WEFT_F64);
        wide[1] = IR_NONE;
        return apart(g, ir_call(g, IR_scan, wide, attr, n->nattr), node, t);
    case IR_scatter:
        if (attr[1] != WEFT_SCATTER_ADD) return IR_NONE;
        wide[0] = ir_cast(g, n->in[0], WEFT_F64);
        wide[2] = ir_cast(g, n->in[2], WEFT_F64);
        return apart(g, ir_call(g, IR_scatter, wide, attr, n->nattr), node, t);
    case IR_matmul: return product_overflows(g, node);
    default: return IR_NONE;
    }
}
