// SPDX-License-Identifier: MIT
// Folds at emit. Only what keeps every bit: identities of integers and bool, the few that IEEE 754
// allows (x*1, x/1, x-(+0), x+(-0), double negation), the square written as a power, and exact
// arithmetic on integer literals. x+0, x*0, x-x and the like change bits for some x and stay.
#include "graph.h"

static weft_dtype type_of(const struct ir_graph *g, ir_ref r) {
    return (weft_dtype)ir_at(g, r)->dtype;
}

// ---- identities with one constant -------------------------------------------------------------
enum neutral { NEVER, PLUS_ZERO, MINUS_ZERO, ONE, ALL_ONES };

static uint64_t neutral_bits(enum neutral which, weft_dtype t) {
    switch (which) {
    case MINUS_ZERO: return ir_convert_bits(WEFT_F64, (uint64_t)1 << 63, t);
    case ONE: return ir_convert_bits(WEFT_BOOL, 1, t);
    case ALL_ONES: return t == WEFT_BOOL ? 1 : UINT64_MAX >> (64 - 8 * dtype_size(t));
    default: return 0;
    }
}

// The constant that leaves the other operand as it is: as second, and as first operand.
static void neutral_of(enum ir_op op, weft_dtype t, enum neutral out[2]) {
    bool flt = dtype_is_float(t), truth = t == WEFT_BOOL;
    out[0] = out[1] = NEVER;
    switch (op) {
    case IR_add:
    case IR_bitwise_or:
    case IR_bitwise_xor:
    case IR_logical_or:
    case IR_logical_xor: out[0] = out[1] = flt ? MINUS_ZERO : PLUS_ZERO; break;
    case IR_sub:
    case IR_left_shift:
    case IR_right_shift: out[1] = PLUS_ZERO; break;
    case IR_mul: out[0] = out[1] = truth ? ALL_ONES : ONE; break;
    case IR_true_divide: out[1] = ONE; break;
    case IR_floor_divide: out[1] = flt ? NEVER : ONE; break;
    case IR_bitwise_and:
    case IR_logical_and: out[0] = out[1] = ALL_ONES; break;
    case IR_pow: out[1] = ONE; break;
    default: break;
    }
}

static ir_ref drop_neutral(const struct ir_graph *g, enum ir_op op, const ir_ref *in) {
    weft_dtype t = type_of(g, in[0]);
    enum neutral which[2];
    neutral_of(op, t, which);
    for (int i = 1; i >= 0; i--) {
        if (which[i] == NEVER || !ir_is_constant(g, in[i])) continue;
        if (ir_constant_bits(g, in[i]) == neutral_bits(which[i], t)) return in[!i];
    }
    return IR_NONE;
}

// ---- unary ------------------------------------------------------------------------------------
static bool is_involution(enum ir_op op) {
    return op == IR_neg || op == IR_bitwise_not || op == IR_logical_not;
}
static bool is_idempotent(enum ir_op op) {
    return op == IR_abs || op == IR_floor || op == IR_ceil || op == IR_trunc || op == IR_round;
}

static ir_ref fold_unary(struct ir_graph *g, enum ir_op op, weft_dtype t, ir_ref x) {
    const struct ir_node *n = ir_at(g, x);
    if (is_involution(op) && n->op == op && type_of(g, n->in[0]) == t) return n->in[0];
    if (is_idempotent(op) && n->op == op) return x;
    if (op == IR_square && t == WEFT_BOOL) return x;
    if (op == IR_abs && (t == WEFT_BOOL || dtype_is_unsigned(t))) return x;
    if (op == IR_neg && n->op == IR_constant && dtype_is_float(t))
        return ir_constant_of(g, t, ir_constant_bits(g, x) ^ (uint64_t)1 << (8 * dtype_size(t) - 1),
                              (enum ir_weak)n->weak);
    return IR_NONE;
}

// ---- where, pow -------------------------------------------------------------------------------
static bool same_shape(const struct ir_graph *g, ir_ref a, ir_ref b) {
    size_t rank = ir_at(g, a)->rank;
    return rank == ir_at(g, b)->rank &&
           (rank == 0 || memcmp(ir_dims(g, a), ir_dims(g, b), rank * sizeof(int64_t)) == 0);
}

// The dropped side must not lend its extents, now or when inputs have others.
static ir_ref fold_where(const struct ir_graph *g, const ir_ref *in) {
    if (!ir_is_constant(g, in[0])) return IR_NONE;
    bool truth = ir_constant_bits(g, in[0]) != 0;
    ir_ref kept = in[truth ? 1 : 2], dropped = in[truth ? 2 : 1];
    bool fixed = !((ir_at(g, kept)->flags | ir_at(g, dropped)->flags) & IR_DYN);
    if (ir_at(g, dropped)->rank == 0 || (fixed && same_shape(g, kept, dropped))) return kept;
    return IR_NONE;
}

// NumPy squares too; the product is rounded once, within the bound of pow, and far cheaper.
static ir_ref fold_pow(struct ir_graph *g, weft_dtype t, const ir_ref *in) {
    if (!ir_is_constant(g, in[1])) return IR_NONE;
    if (ir_constant_bits(g, in[1]) != ir_convert_bits(WEFT_I64, 2, t)) return IR_NONE;
    return ir_map(g, IR_square, in);
}

ir_ref ir_fold_map(struct ir_graph *g, enum ir_op op, weft_dtype t, const ir_ref *in) {
    if (ir_ops[op].arity == 1) return fold_unary(g, op, t, in[0]);
    if (op == IR_where) return fold_where(g, in);
    if (ir_ops[op].arity != 2) return IR_NONE;
    ir_ref kept = drop_neutral(g, op, in);
    return kept || op != IR_pow ? kept : fold_pow(g, t, in);
}

// ---- integer literals -------------------------------------------------------------------------
static ir_wide floor_div(ir_wide a, ir_wide b) {
    if (b == 0) return 0;
    ir_wide q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

static bool power(ir_wide base, ir_wide n, ir_wide *out) {
    ir_wide r = 1;
    bool over = false;
    for (; n > 0 && !over; n >>= 1) {
        if (n & 1) over |= __builtin_mul_overflow(r, base, &r);
        if (n > 1) over |= __builtin_mul_overflow(base, base, &base);
    }
    *out = r;
    return !over;
}

enum literal_fold { NOT_FOLDED, FOLDED, TOO_LARGE };

static enum literal_fold shift_literal(enum ir_op op, ir_wide a, ir_wide n, ir_wide *r) {
    if (n < 0) return NOT_FOLDED;
    if (op == IR_right_shift)
        *r = n > 64 ? (a < 0 ? -1 : 0) : a >> n;
    else if (a == 0)
        *r = 0;
    else if (n > 63 || __builtin_mul_overflow(a, (ir_wide)1 << n, r))
        return TOO_LARGE;
    return FOLDED;
}

static enum literal_fold fold_ints(enum ir_op op, ir_wide a, ir_wide b, ir_wide *r) {
    switch (op) {
    case IR_add: *r = a + b; return FOLDED; // 65 bits at most
    case IR_sub: *r = a - b; return FOLDED;
    case IR_mul: return __builtin_mul_overflow(a, b, r) ? TOO_LARGE : FOLDED;
    case IR_square: return __builtin_mul_overflow(a, a, r) ? TOO_LARGE : FOLDED;
    case IR_floor_divide: *r = floor_div(a, b); return FOLDED;
    case IR_remainder: *r = b ? a - b * floor_div(a, b) : 0; return FOLDED;
    case IR_pow: return b < 0 ? NOT_FOLDED : power(a, b, r) ? FOLDED : TOO_LARGE;
    case IR_minimum:
    case IR_fmin: *r = MIN_OF(a, b); return FOLDED;
    case IR_maximum:
    case IR_fmax: *r = MAX_OF(a, b); return FOLDED;
    case IR_neg: *r = -a; return FOLDED;
    case IR_abs: *r = a < 0 ? -a : a; return FOLDED;
    case IR_sign: *r = (a > 0) - (a < 0); return FOLDED;
    case IR_bitwise_and: *r = a & b; return FOLDED;
    case IR_bitwise_or: *r = a | b; return FOLDED;
    case IR_bitwise_xor: *r = a ^ b; return FOLDED;
    case IR_bitwise_not: *r = ~a; return FOLDED;
    case IR_left_shift:
    case IR_right_shift: return shift_literal(op, a, b, r);
    default: return NOT_FOLDED;
    }
}

static bool compare_ints(enum ir_op op, ir_wide a, ir_wide b) {
    switch (op) {
    case IR_equal: return a == b;
    case IR_not_equal: return a != b;
    case IR_less: return a < b;
    case IR_less_equal: return a <= b;
    case IR_greater: return a > b;
    default: return a >= b;
    }
}

ir_ref ir_fold_weak(struct ir_graph *g, enum ir_op op, const ir_ref *in, bool *failed) {
    int n = ir_ops[op].arity;
    ir_wide v[2] = {0, 0}, r;
    *failed = false;
    if (n > 2) return IR_NONE;
    for (int i = 0; i < n; i++) {
        if (!ir_is_constant(g, in[i]) || ir_at(g, in[i])->weak != IR_WEAK_INT) return IR_NONE;
        v[i] = ir_int_value(type_of(g, in[i]), ir_constant_bits(g, in[i]));
    }
    if (ir_ops[op].rule == RULE_COMPARE)
        return ir_constant_of(g, WEFT_BOOL, compare_ints(op, v[0], v[1]), IR_WEAK_BOOL);
    enum literal_fold done = fold_ints(op, v[0], v[1], &r);
    if (done == NOT_FOLDED) return IR_NONE;
    weft_dtype t = done == FOLDED && ir_int_fits(r, WEFT_I64) ? WEFT_I64 : WEFT_U64;
    if (done == FOLDED && ir_int_fits(r, t)) return ir_constant_of(g, t, (uint64_t)r, IR_WEAK_INT);
    *failed = true;
    struct ir_blame who = {ir_ops[op].name, n, in};
    return ir_fail_at(g, WEFT_EDTYPE, &who, "the result of these literals needs more than 64 bits");
}
