// SPDX-License-Identifier: MIT
// One node in, what can go wrong in it out, in the order in which it is told: division by zero before overflow.
// Numbers: a result that is not finite although every operand is. Where one result has many operands
// (reductions, products, calls) all of them count. Operations that only pass numbers on are not asked.
#include "checks.h"

static bool is_number(const struct ir_graph *g, ir_ref x) {
    return dtype_is_float((weft_dtype)ir_at(g, x)->dtype);
}
static ir_ref is_finite(struct ir_graph *g, ir_ref x) {
    return x && is_number(g, x) ? put1(g, IR_isfinite, x) : IR_NONE;
}
static ir_ref not_finite(struct ir_graph *g, ir_ref x) {
    return put1(g, IR_logical_not, put1(g, IR_isfinite, x));
}
static ir_ref all_of(struct ir_graph *g, ir_ref ok) {
    return ok ? ir_reduce(g, IR_ALL, ok, NULL) : IR_NONE;
}

// Its result is one of its operands, at most with another sign, or rounded to a whole number.
static bool passes_on(enum ir_op op) {
    switch (op) {
    case IR_where:
    case IR_minimum:
    case IR_maximum:
    case IR_fmin:
    case IR_fmax:
    case IR_neg:
    case IR_abs:
    case IR_sign:
    case IR_copysign:
    case IR_floor:
    case IR_ceil:
    case IR_trunc:
    case IR_round:
    case IR_frexp_mantissa:
    case IR_frexp_power: return true;
    default: return false;
    }
}

static ir_ref map_number(struct ir_graph *g, ir_ref node) {
    const struct ir_node *n = ir_at(g, node);
    if (passes_on((enum ir_op)n->op)) return IR_NONE;
    ir_ref wrong = not_finite(g, node);
    for (int i = 0; i < ir_ops[n->op].arity; i++)
        wrong = both_of(g, wrong, is_finite(g, n->in[i]));
    return wrong;
}

// Rows of a, columns of b: [..., m, 1] and [..., 1, n].
static ir_ref product_number(struct ir_graph *g, ir_ref node) {
    const struct ir_node *n = ir_at(g, node);
    const int rank = ir_at(g, n->in[0])->rank;
    ir_ref a = ir_put_run(g, IR_R_all, is_finite(g, n->in[0]), rank - 1, rank);
    ir_ref b = ir_put_run(g, IR_R_all, is_finite(g, n->in[1]), rank - 2, rank - 1);
    return both_of(g, not_finite(g, node), both_of(g, ir_expand_dims(g, a, rank - 1), ir_expand_dims(g, b, rank - 2)));
}

// Of a running total: all operands so far.
static ir_ref scan_number(struct ir_graph *g, ir_ref node) {
    const struct ir_node *n = ir_at(g, node);
    const int64_t *a = ir_attr(g, node);
    if (a[1] > IR_R_prod - IR_R_sum) return IR_NONE;
    const int64_t least[2] = {a[0], IR_R_min - IR_R_sum};
    ir_ref in[3] = {ir_cast(g, is_finite(g, n->in[0]), WEFT_U8)};
    ir_ref so_far = ir_cast(g, ir_call(g, IR_scan, in, least, 2), WEFT_BOOL);
    return both_of(g, not_finite(g, node), so_far);
}

// A call that computes, or another result of it: all of all operands.
static ir_ref call_number(struct ir_graph *g, ir_ref node) {
    const struct ir_node *n = ir_at(g, node);
    const ir_ref call = n->op == IR_result ? n->in[0] : node;
    const struct ir_node *c = ir_at(g, call);
    ir_ref wrong = not_finite(g, node);
    switch (c->op) {
    case IR_scan: return scan_number(g, node);
    case IR_sort:
    case IR_search:
    case IR_unique:
    case IR_histogram:
    case IR_compress: return IR_NONE;
    case IR_scatter:
        if (ir_attr(g, call)[1] != WEFT_SCATTER_ADD) return IR_NONE;
        break;
    default: break;
    }
    for (int i = 0; i < 3 && c->in[i]; i++)
        if (ir_elements(g, c->in[i])) wrong = both_of(g, wrong, all_of(g, is_finite(g, c->in[i])));
    return wrong;
}

static ir_ref number_fault(struct ir_graph *g, ir_ref node) {
    const struct ir_node *n = ir_at(g, node);
    if (!is_number(g, node)) return IR_NONE;
    switch (ir_ops[n->op].cls) {
    case IR_MAP: return map_number(g, node);
    case IR_CONTRACT: return product_number(g, node);
    case IR_CALL:
    case IR_RESULT: return call_number(g, node);
    case IR_REDUCE: {
        const int64_t *a = ir_attr(g, node);
        if (n->op != IR_R_sum && n->op != IR_R_prod) return IR_NONE;
        return both_of(g, not_finite(g, node),
                       ir_put_run(g, IR_R_all, is_finite(g, n->in[0]), (int)a[0], (int)a[1]));
    }
    default: return IR_NONE;
    }
}

static ir_ref index_fault(struct ir_graph *g, ir_ref node) {
    const struct ir_node *n = ir_at(g, node);
    const ir_ref index = n->in[1];
    const int64_t extent = ir_dims(g, n->in[0])[ir_attr(g, node)[0]];
    const weft_dtype t = (weft_dtype)ir_at(g, index)->dtype, wide = t == WEFT_U64 ? t : WEFT_I64;
    ir_ref i = ir_cast(g, index, wide);
    ir_ref above = put2(g, IR_greater_equal, i, int_k(g, wide, (uint64_t)extent));
    return t == WEFT_U64 ? above : either(g, above, put2(g, IR_less, i, int_k(g, wide, 0 - (uint64_t)extent)));
}

// The operation whose rounding to a half this cast is: halves are computed in f32.
static const char *name_of(const struct ir_graph *g, ir_ref node) {
    const struct ir_node *n = ir_at(g, node), *x = ir_at(g, n->in[0]);
    const bool rounds = n->op == IR_cast && dtype_is_half((weft_dtype)n->dtype) && x->dtype == WEFT_F32;
    const bool computes = ir_ops[x->op].cls == IR_MAP && x->op != IR_cast;
    return ir_ops[rounds && computes ? x->op : n->op == IR_result ? x->op : n->op].name;
}

// A part of a complex number that some operation made.
static void pair_suspects(struct ir_checker *c, ir_ref node) {
    struct ir_graph *g = c->g;
    for (size_t i = 0; i < VEC_LEN(&g->notes, struct ir_note); i++) {
        const struct ir_note *n = &VEC_AT(&g->notes, struct ir_note, i);
        if (n->part != node || !is_number(g, node)) continue;
        ir_ref wrong = not_finite(g, node);
        for (size_t k = 0; k < COUNT_OF(n->in); k++) {
            if (!n->in[k] || ir_at(g, n->in[k])->rank > ir_at(g, node)->rank) continue;
            wrong = both_of(g, wrong, is_finite(g, n->in[k]));
        }
        ir_suspect(c, &(struct ir_suspect){.node = node, .fault = IR_FAULT_NUMBER, .name = ir_ops[n->op].name}, wrong);
    }
}

void ir_checks_of(struct ir_checker *c, ir_ref node) {
    struct ir_graph *g = c->g;
    const struct ir_node *n = ir_at(g, node);
    struct ir_suspect s = {.node = node, .name = name_of(g, node)};
    pair_suspects(c, node);
    if (n->flags & IR_RAISED) {
        const struct ir_suspect at = {.node = n->in[1], .fault = IR_FAULT_INDEX, .name = s.name};
        ir_suspect(c, &at, index_fault(g, node));
    }
    if ((n->flags & IR_QUIET) || ir_elements(g, node) == 0) return;
    if (ir_ops[n->op].cls == IR_MAP && dtype_is_int((weft_dtype)n->dtype)) {
        s.fault = IR_FAULT_ZERO, ir_suspect(c, &s, ir_zero_fault(g, node));
        s.fault = IR_FAULT_COUNT, ir_suspect(c, &s, ir_count_fault(g, node));
        s.fault = IR_FAULT_RANGE;
        if (n->op == IR_cast) ir_suspect(c, &s, ir_range_fault(g, n->in[0], (weft_dtype)n->dtype));
        s.fault = IR_FAULT_OVERFLOW, ir_suspect(c, &s, ir_overflow_fault(g, node));
    }
    s.fault = IR_FAULT_OVERFLOW, ir_suspect(c, &s, ir_total_fault(g, node));
    s.fault = IR_FAULT_NUMBER, ir_suspect(c, &s, number_fault(g, node));
}
