// SPDX-License-Identifier: MIT
// Elementwise operations: the type the operands meet in (NumPy 2, weak literals by NEP 50), casts
// to it, the common shape, folds, the node. After this file no operand of a MAP node hides a
// conversion.
#include "pair.h"

// What one call is about; in[i] from first on promote together (where's condition does not).
struct meeting {
    struct ir_blame who;
    enum ir_op op;
    int first;
    ir_ref in[3];
    weft_dtype type;
    enum ir_weak weak; // of the result: weak when all operands are
    int rank;          // of the result
    int64_t dims[WEFT_MAX_RANK];
};

static weft_dtype type_of(const struct ir_graph *g, ir_ref r) {
    return (weft_dtype)ir_at(g, r)->dtype;
}
static enum ir_weak weak_of(const struct ir_graph *g, ir_ref r) {
    return (enum ir_weak)ir_at(g, r)->weak;
}

// A strong type meets the weak ones: kinds bool < int < float, the strong one's precision.
static weft_dtype meet_weak(weft_dtype strong, weft_dtype weak) {
    if (dtype_is_complex(weak)) return dtype_is_float(strong) || dtype_is_complex(strong) ? dtype_complex_of(strong) : WEFT_C128;
    if (dtype_is_complex(strong)) return strong;
    if (dtype_is_float(weak)) return dtype_is_float(strong) ? strong : WEFT_F64;
    if (dtype_is_int(weak)) return strong == WEFT_BOOL ? weak : strong;
    return strong;
}

static void meet_types(const struct ir_graph *g, struct meeting *m) {
    weft_dtype of_strong[3], weak = WEFT_DTYPE__N;
    int n = 0;
    for (int i = m->first; i < m->who.n; i++) {
        weft_dtype t = type_of(g, m->in[i]);
        if (weak_of(g, m->in[i]))
            weak = weak == WEFT_DTYPE__N ? t : ir_promote(weak, t);
        else
            of_strong[n++] = t;
    }
    const weft_dtype strong = n ? ir_promote_n(n, of_strong) : WEFT_DTYPE__N;
    m->type = strong == WEFT_DTYPE__N ? weak
              : weak == WEFT_DTYPE__N ? strong
                                      : meet_weak(strong, weak);
}

enum ir_weak ir_weak_kind(weft_dtype t) {
    if (dtype_is_complex(t)) return IR_WEAK_COMPLEX;
    return t == WEFT_BOOL ? IR_WEAK_BOOL : dtype_is_float(t) ? IR_WEAK_FLOAT : IR_WEAK_INT;
}

// ---- rules ------------------------------------------------------------------------------------
static bool refuse(struct ir_graph *g, const struct meeting *m, const char *why) {
    return ir_fail_at(g, WEFT_EDTYPE, &m->who, "not defined for %s%s", dtype_name(m->type), why);
}

// bool where the table has no boolean meaning: i8, as NumPy, or an error.
static bool settle_bool(struct ir_graph *g, struct meeting *m) {
    switch (m->op) {
    case IR_sub: return refuse(g, m, "; use bitwise_xor or logical_xor");
    case IR_neg: return refuse(g, m, "; use bitwise_not or logical_not");
    case IR_sign: return refuse(g, m, "");
    case IR_floor_divide:
    case IR_remainder:
    case IR_pow:
    case IR_square:
    case IR_reciprocal:
    case IR_left_shift:
    case IR_right_shift: m->type = WEFT_I8; return true;
    default:
        if (ir_ops[m->op].rule == RULE_SHIFT) m->type = WEFT_U8;
        return true;
    }
}

static bool settle_type(struct ir_graph *g, struct meeting *m) {
    switch (ir_ops[m->op].rule) {
    case RULE_FLOAT:
        if (m->op == IR_nextafter && dtype_is_half(m->type)) return refuse(g, m, "");
        if (!dtype_is_float(m->type)) m->type = WEFT_F64;
        return true;
    case RULE_LOGIC: m->type = WEFT_BOOL; return true;
    case RULE_WORD:
        if (dtype_is_float(m->type)) return refuse(g, m, "; only for bool and integers");
        m->type = WEFT_U64;
        return true;
    case RULE_INTS:
    case RULE_SHIFT:
        if (dtype_is_float(m->type)) return refuse(g, m, "; only for bool and integers");
        return ir_ops[m->op].rule == RULE_INTS || m->type != WEFT_BOOL || settle_bool(g, m);
    case RULE_ARITH:
    case RULE_KEEP: return m->type != WEFT_BOOL || settle_bool(g, m);
    default: return true;
    }
}

// An integer literal must fit the integer type it takes.
static bool literal_fits(const struct ir_graph *g, ir_ref x, weft_dtype t) {
    if (!ir_is_constant(g, x) || weak_of(g, x) != IR_WEAK_INT || !dtype_is_int(t)) return true;
    return ir_int_fits(ir_int_value(type_of(g, x), ir_constant_bits(g, x)), t);
}

static bool cast_operands(struct ir_graph *g, struct meeting *m) {
    for (int i = 0; i < m->who.n; i++) {
        weft_dtype t = i < m->first ? WEFT_BOOL : m->type;
        if (!literal_fits(g, m->in[i], t) && !m->weak)
            return ir_fail_at(g, WEFT_EDTYPE, &m->who, "the literal does not fit %s",
                              dtype_name(t));
        ir_ref x = m->weak && type_of(g, m->in[i]) == t ? m->in[i] : ir_cast(g, m->in[i], t);
        if (!x) return false;
        m->in[i] = x;
    }
    return true;
}

// ---- comparisons that no common type can make -------------------------------------------------
// less for greater, ...: the operation with its operands exchanged
static enum ir_op mirrored(enum ir_op op) {
    switch (op) {
    case IR_less: return IR_greater;
    case IR_less_equal: return IR_greater_equal;
    case IR_greater: return IR_less;
    case IR_greater_equal: return IR_less_equal;
    default: return op;
    }
}

// Is "small op large" true when small < large for sure?
static bool true_below(enum ir_op op) {
    return op == IR_less || op == IR_less_equal || op == IR_not_equal;
}

// An integer array against a literal outside its type: every answer is known, but its shape is the
// array's, at whatever extents the graph runs later: x == x or x != x of integers.
static ir_ref compare_outside(struct ir_graph *g, struct meeting *m, int literal) {
    ir_ref x = m->in[!literal];
    ir_wide v = ir_int_value(type_of(g, m->in[literal]), ir_constant_bits(g, m->in[literal]));
    enum ir_op op = literal == 1 ? m->op : mirrored(m->op); // x op v
    bool truth = v > 0 ? true_below(op) : true_below(mirrored(op));
    return ir_map(g, truth ? IR_equal : IR_not_equal, (ir_ref[]){x, x});
}

// Signed against u64: below zero the answer is known, elsewhere the signed one is exact as u64.
static ir_ref make_signed_u64(struct ir_graph *g, enum ir_op op, ir_ref s, ir_ref u) {
    ir_ref zero = ir_constant_of(g, type_of(g, s), 0, IR_STRONG);
    ir_ref below = ir_map(g, true_below(op) ? IR_less : IR_greater_equal, (ir_ref[]){s, zero});
    ir_ref rest = ir_map(g, op, (ir_ref[]){ir_cast(g, s, WEFT_U64), u});
    return ir_map(g, true_below(op) ? IR_logical_or : IR_logical_and, (ir_ref[]){below, rest});
}
static ir_ref compare_signed_u64(struct ir_graph *g, enum ir_op op, ir_ref s, ir_ref u) {
    IR_QUIETLY(g, make_signed_u64(g, op, s, u)); // casts what is below zero, and does not use it
}

// True when the comparison needed one of these; *out is its node (or IR_NONE after an error).
static bool compare_exactly(struct ir_graph *g, struct meeting *m, ir_ref *out) {
    weft_dtype a = type_of(g, m->in[0]), b = type_of(g, m->in[1]);
    bool wa = weak_of(g, m->in[0]), wb = weak_of(g, m->in[1]);
    for (int i = 0; i < 2; i++) {
        if (wa == wb || literal_fits(g, m->in[i], m->type)) continue;
        *out = compare_outside(g, m, i);
        return true;
    }
    if (wa || wb) return false;
    if (dtype_is_signed(a) && b == WEFT_U64)
        *out = compare_signed_u64(g, m->op, m->in[0], m->in[1]);
    else if (dtype_is_signed(b) && a == WEFT_U64)
        *out = compare_signed_u64(g, mirrored(m->op), m->in[1], m->in[0]);
    else
        return false;
    return true;
}

// ---- the emitters -----------------------------------------------------------------------------
static bool is_rounding(enum ir_op op) {
    return op == IR_floor || op == IR_ceil || op == IR_trunc || op == IR_round;
}

static bool negative_power(struct ir_graph *g, const struct meeting *m, ir_ref exponent) {
    if (m->op != IR_pow || !dtype_is_int(m->type)) return false;
    if (!ir_is_constant(g, exponent) || weak_of(g, exponent) != IR_WEAK_INT) return false;
    return ir_int_value(type_of(g, exponent), ir_constant_bits(g, exponent)) < 0;
}

static weft_dtype result_type(const struct meeting *m) {
    int rule = ir_ops[m->op].rule;
    return rule == RULE_COMPARE || rule == RULE_LOGIC || rule == RULE_PRED ? WEFT_BOOL : m->type;
}

ir_ref ir_put_map(struct ir_graph *g, enum ir_op op, weft_dtype t, enum ir_weak weak,
                  const ir_ref *in) {
    struct ir_draft d;
    struct ir_blame who = {ir_ops[op].name, ir_ops[op].arity, in};
    ir_draft_begin(&d, op, t);
    d.weak = weak;
    d.rank = ir_broadcast(g, &who, d.dims);
    if (d.rank < 0) return IR_NONE;
    for (int i = 0; i < who.n; i++)
        d.in[i] = in[i];
    return ir_put(g, &d);
}

// Types settled and operands cast, or false after an error. Shapes are looked at first, so that a
// sentence about them shows the types as the caller gave them.
static bool settle(struct ir_graph *g, struct meeting *m) {
    m->rank = ir_broadcast(g, &m->who, m->dims);
    if (m->rank < 0 || !settle_type(g, m)) return false;
    if (negative_power(g, m, m->in[1]))
        return ir_fail_at(g, WEFT_EDTYPE, &m->who,
                          "an integer to a negative power; make the base floating point");
    return cast_operands(g, m);
}

static ir_ref put_settled(struct ir_graph *g, const struct meeting *m, weft_dtype t) {
    struct ir_draft d;
    ir_draft_begin(&d, m->op, t);
    d.weak = m->weak;
    d.rank = m->rank;
    memcpy(d.dims, m->dims, (size_t)m->rank * sizeof *d.dims);
    for (int i = 0; i < m->who.n; i++)
        d.in[i] = m->in[i];
    return ir_put(g, &d);
}

// Halves are stored, never computed with: the operands become f32, so does the operation, and its result
// is rounded back at once.
static ir_ref put_half(struct ir_graph *g, struct meeting *m) {
    weft_dtype half = m->type;
    m->type = WEFT_F32;
    m->weak = IR_STRONG;
    for (int i = m->first; i < m->who.n; i++)
        if (!(m->in[i] = ir_cast(g, m->in[i], WEFT_F32))) return IR_NONE;
    weft_dtype t = result_type(m);
    ir_ref r = put_settled(g, m, t);
    return t == WEFT_F32 ? ir_cast(g, r, half) : r;
}

// What a complex operation is made of may overflow where its result does not: it is looked at as a whole.
static ir_ref map_pair(struct ir_graph *g, const struct ir_pair_call *call) {
    g->quiet++;
    const ir_ref r = ir_pair_map(g, call);
    g->quiet--;
    if (g->watched) ir_note_pair(g, call->op, r, call->in);
    return r;
}

ir_ref ir_map(struct ir_graph *g, enum ir_op op, const ir_ref *in) {
    struct meeting m; // dims not zeroed
    const ir_ref again = ir_repeat_map(g, op, in, ir_ops[op].arity);
    if (again) return again;
    m.op = op;
    m.first = op == IR_where;
    m.who = (struct ir_blame){ir_ops[op].name, ir_ops[op].arity, in};
    m.weak = IR_STRONG;
    bool all_weak = true, failed = false;
    for (int i = 0; i < m.who.n; i++) {
        if (!in[i]) return IR_NONE;
        m.in[i] = in[i];
        all_weak &= weak_of(g, in[i]) != IR_STRONG;
    }
    if (all_weak) {
        ir_ref folded = ir_fold_weak(g, op, in, &failed);
        if (folded || failed) return folded;
    }
    meet_types(g, &m);
    ir_ref out = IR_NONE;
    if (ir_ops[op].cls == IR_PAIR || (dtype_is_complex(m.type) && ir_ops[op].rule != RULE_LOGIC))
        return map_pair(g, &(struct ir_pair_call){op, m.type, in, all_weak ? IR_WEAK_COMPLEX : IR_STRONG});
    if (ir_ops[op].rule == RULE_COMPARE && compare_exactly(g, &m, &out)) return out;
    if (is_rounding(op) && !dtype_is_float(m.type)) return in[0];
    if (all_weak) m.weak = ir_weak_kind(m.type);
    if (!settle(g, &m)) return IR_NONE;
    weft_dtype t = result_type(&m);
    if (all_weak) m.weak = ir_weak_kind(t);
    ir_ref folded = ir_fold_map(g, op, t, m.in);
    if (folded && (weak_of(g, folded) == m.weak)) return folded;
    if (dtype_is_half(m.type)) return put_half(g, &m);
    out = put_settled(g, &m, t);
    if (out) ir_mark_plain(g, out, in, m.who.n);
    return out;
}

// Three operands of one operation: what x and lo meet in must not decide alone what hi meets.
ir_ref ir_clip(struct ir_graph *g, ir_ref x, ir_ref lo, ir_ref hi) {
    if (!x || !lo || !hi) return IR_NONE;
    if (!weak_of(g, x) && !weak_of(g, lo) && !weak_of(g, hi))
        x = ir_cast(g, x, ir_promote_n(3, (weft_dtype[]){type_of(g, x), type_of(g, lo), type_of(g, hi)}));
    return ir_map(g, IR_minimum, (ir_ref[]){ir_map(g, IR_maximum, (ir_ref[]){x, lo}), hi});
}

// Every value of a is a value of b.
static bool lossless(weft_dtype a, weft_dtype b) {
    if (a == b || a == WEFT_BOOL) return true;
    if (b == WEFT_BOOL || (dtype_is_float(a) && !dtype_is_float(b))) return false;
    if (dtype_is_float(b)) return ir_promote(a, b) == b && (a != WEFT_I64 && a != WEFT_U64);
    return ir_promote(a, b) == b;
}

// cast(cast(y, mid), t) as one cast where the value cannot differ: y fits mid, and the way from mid
// to t is the way from y to t (integers wrap, floats saturate, so mid must not change the way). Halves
// go their own ways through f32 and f64, which must stay.
static ir_ref skip_cast(const struct ir_graph *g, ir_ref x, weft_dtype t) {
    if (ir_at(g, x)->op != IR_cast) return x;
    ir_ref y = ir_at(g, x)->in[0];
    weft_dtype from = type_of(g, y), mid = type_of(g, x);
    if (!lossless(from, mid)) return x;
    if (dtype_is_half(from)) return from == t ? y : x;
    if (dtype_is_half(t) && !dtype_is_float(from)) return x;
    if (from != t && dtype_is_int(from) && dtype_is_float(mid) && dtype_is_int(t)) return x;
    return y;
}

// An integer of 8 bytes as f64 such that rounding that to a half is the only rounding: what f64 cannot
// hold is first cut to a multiple of 2^20 and made odd there when anything was lost.
static ir_ref make_sticky(struct ir_graph *g, ir_ref x) {
    weft_dtype t = type_of(g, x);
    const uint64_t unit = 1 << 20;
    ir_ref low = ir_constant_of(g, t, unit - 1, IR_STRONG), high = ir_constant_of(g, t, 0 - unit, IR_STRONG);
    ir_ref zero = ir_constant_of(g, t, 0, IR_STRONG), one = ir_constant_of(g, t, unit, IR_STRONG);
    ir_ref lost = ir_map(g, IR_not_equal, (ir_ref[]){ir_map(g, IR_bitwise_and, (ir_ref[]){x, low}), zero});
    ir_ref cut = ir_map(g, IR_bitwise_and, (ir_ref[]){x, high});
    ir_ref odd = ir_map(g, IR_bitwise_or, (ir_ref[]){cut, ir_map(g, IR_where, (ir_ref[]){lost, one, zero})});
    ir_ref limit = ir_constant_of(g, t, (uint64_t)1 << 52, IR_STRONG);
    ir_ref size = ir_map(g, IR_abs, &x); // of the least integer: negative, and a power of two
    ir_ref big = ir_map(g, IR_greater, (ir_ref[]){size, limit});
    return ir_cast(g, ir_map(g, IR_where, (ir_ref[]){big, odd, x}), WEFT_F64);
}
static ir_ref sticky_f64(struct ir_graph *g, ir_ref x) {
    IR_QUIETLY(g, make_sticky(g, x));
}

// x, which is none, to a half: through a type from which one rounding gives what one rounding of x
// would. f32 does for integers up to 2^24, and for f16 always: beyond, all are infinite.
static ir_ref narrow(struct ir_graph *g, ir_ref x, weft_dtype t) {
    weft_dtype from = type_of(g, x);
    if (dtype_is_half(from) || (dtype_is_int(from) && (t == WEFT_F16 || dtype_size(from) <= 2)) ||
        from == WEFT_BOOL)
        x = ir_cast(g, x, WEFT_F32);
    else if (dtype_is_int(from))
        x = dtype_size(from) == 8 ? sticky_f64(g, x) : ir_cast(g, x, WEFT_F64);
    return x ? ir_put_map(g, IR_cast, t, IR_STRONG, (ir_ref[]){x}) : IR_NONE;
}

static ir_ref put_cast(struct ir_graph *g, ir_ref x, weft_dtype t) {
    if (dtype_is_half(t)) return narrow(g, x, t);
    if (dtype_is_half(type_of(g, x)) && t != WEFT_F32) x = ir_cast(g, x, WEFT_F32);
    return x ? ir_put_map(g, IR_cast, t, IR_STRONG, (ir_ref[]){x}) : IR_NONE;
}

ir_ref ir_cast(struct ir_graph *g, ir_ref x, weft_dtype t) {
    if (!x) return IR_NONE;
    if (!ir_dtype_valid(t)) return ir_fail(g, WEFT_EINVAL, "cast: no such dtype (%d)", (int)t);
    weft_dtype from = type_of(g, x);
    if (ir_is_constant(g, x) && !dtype_is_complex(t))
        return ir_constant_of(g, t, ir_convert_bits(from, ir_constant_bits(g, x), t), IR_STRONG);
    if (from == t) return x;
    if (dtype_is_complex(from) || dtype_is_complex(t)) return ir_pair_cast(g, x, t);
    ir_ref y = skip_cast(g, x, t);
    return y == x ? put_cast(g, x, t) : ir_cast(g, y, t);
}
