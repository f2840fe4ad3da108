// SPDX-License-Identifier: MIT
// What every later room relies on, checked from the nodes alone: operands precede, arities, dtypes
// by the rule of the operation, shapes that follow from the operands, runs that are not empty,
// sizes that can be counted. Run between stages in development builds; a false answer is our own
// bug.
#include "graph.h"

struct check {
    const struct ir_graph *g;
    struct base_err *err;
    ir_ref r;
};

static bool wrong(const struct check *c, const char *what) {
    err_set(c->err, WEFT_EINVAL, "node %u (%s): %s", c->r, ir_ops[ir_at(c->g, c->r)->op].name,
            what);
    return false;
}
static weft_dtype type_of(const struct check *c, int i) {
    return (weft_dtype)ir_at(c->g, ir_at(c->g, c->r)->in[i])->dtype;
}

static bool check_operands(const struct check *c) {
    const struct ir_node *n = ir_at(c->g, c->r);
    int arity = n->op == IR_extent ? 1 : ir_ops[n->op].arity;
    for (int i = 0; i < 3; i++) {
        if (i >= arity && n->in[i]) return wrong(c, "has an operand too many");
        if (i < arity && (!n->in[i] || n->in[i] >= c->r))
            return wrong(c, "has an operand that does not precede it");
    }
    return true;
}

static bool check_sizes(const struct check *c) {
    const struct ir_node *n = ir_at(c->g, c->r);
    const int64_t *dims = ir_dims(c->g, c->r);
    int64_t bytes = (int64_t)dtype_size((weft_dtype)n->dtype);
    if (n->rank > WEFT_MAX_RANK) return wrong(c, "has too many axes");
    for (int i = 0; i < n->rank; i++) {
        if (dims[i] < 0) return wrong(c, "has a negative extent");
        if (bytes_over(&bytes, dims[i])) return wrong(c, "is too large");
    }
    return true;
}

// ---- elementwise ------------------------------------------------------------------------------
static bool class_fits(int rule, weft_dtype t) {
    switch (rule) {
    case RULE_FLOAT: return dtype_is_float(t);
    case RULE_INTS: return !dtype_is_float(t);
    case RULE_SHIFT: return dtype_is_int(t);
    case RULE_LOGIC: return t == WEFT_BOOL;
    case RULE_WORD: return t == WEFT_U64;
    default: return true;
    }
}

static bool check_map_types(const struct check *c) {
    const struct ir_node *n = ir_at(c->g, c->r);
    int rule = ir_ops[n->op].rule, first = n->op == IR_where;
    weft_dtype t = type_of(c, first);
    if (first && type_of(c, 0) != WEFT_BOOL) return wrong(c, "has a condition that is not bool");
    for (int i = first; i < ir_ops[n->op].arity; i++)
        if (type_of(c, i) != t) return wrong(c, "has operands of different types");
    if (rule == RULE_CAST) return n->dtype != t || wrong(c, "changes nothing");
    if (!dtype_is_computed(t)) return wrong(c, "computes in a type that is only stored");
    if (!class_fits(rule, t)) return wrong(c, "has operands of a type it is not defined for");
    bool truth = rule == RULE_COMPARE || rule == RULE_LOGIC || rule == RULE_PRED;
    return n->dtype == (truth ? WEFT_BOOL : t) || wrong(c, "has a result of the wrong type");
}

static bool check_pair(const struct check *c) {
    weft_dtype t = type_of(c, 0), own = (weft_dtype)ir_at(c->g, c->r)->dtype;
    if (ir_at(c->g, c->r)->op != IR_complex) return wrong(c, "is not for graphs");
    return (t == type_of(c, 1) && dtype_is_complex(own) && dtype_real_of(own) == t) ||
           wrong(c, "has parts of the wrong type");
}

static bool check_map_shape(const struct check *c) {
    const struct ir_node *n = ir_at(c->g, c->r);
    int64_t want[WEFT_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < ir_ops[n->op].arity; i++)
        rank = MAX_OF(rank, (int)ir_at(c->g, n->in[i])->rank);
    for (int i = 0; i < rank; i++)
        want[i] = 1;
    for (int k = 0; k < ir_ops[n->op].arity; k++) {
        const int64_t *dims = ir_dims(c->g, n->in[k]);
        int own = ir_at(c->g, n->in[k])->rank;
        for (int i = 0; i < own; i++) {
            int64_t *w = &want[i + rank - own];
            if (dims[i] != 1 && *w != 1 && *w != dims[i])
                return wrong(c, "has operands that do not broadcast");
            if (dims[i] != 1) *w = dims[i];
        }
    }
    bool same = rank == n->rank &&
                (!rank || !memcmp(want, ir_dims(c->g, c->r), (size_t)rank * sizeof *want));
    return same || wrong(c, "has not the shape of its operands");
}

// ---- the rest ---------------------------------------------------------------------------------
static bool check_reduce(const struct check *c) {
    const struct ir_node *n = ir_at(c->g, c->r);
    const int64_t *a = ir_attr(c->g, c->r), *dims = ir_dims(c->g, n->in[0]);
    int rank = ir_at(c->g, n->in[0])->rank, k = 0;
    if (n->nattr != 2 || a[0] < 0 || a[1] <= a[0] || a[1] > rank)
        return wrong(c, "has no proper run");
    for (int i = 0; i < rank; i++) {
        if (i >= a[0] && i < a[1]) {
            if (dims[i] == 0) return wrong(c, "has an empty run");
        } else if (k >= n->rank || ir_dims(c->g, c->r)[k++] != dims[i]) {
            return wrong(c, "has not the shape of the axes that stay");
        }
    }
    bool arg = n->op >= IR_R_argmin && n->op <= IR_R_nanargmax,
         logic = n->op == IR_R_any || n->op == IR_R_all;
    bool total = n->op == IR_R_sum || n->op == IR_R_prod;
    if (n->dtype != (arg ? WEFT_I64 : type_of(c, 0)))
        return wrong(c, "has a result of the wrong type");
    if (logic && n->dtype != WEFT_BOOL) return wrong(c, "is not of bool");
    if (total && dtype_size((weft_dtype)n->dtype) < 8 && n->dtype != WEFT_F32)
        return wrong(c, "accumulates in a narrow type");
    return k == n->rank || wrong(c, "has an axis too many");
}

// Every element of the result must come from inside the operand.
static bool check_affine(const struct check *c) {
    const struct ir_node *n = ir_at(c->g, c->r);
    int in = ir_at(c->g, n->in[0])->rank;
    int64_t off[WEFT_MAX_RANK], coef[WEFT_MAX_RANK * WEFT_MAX_RANK];
    if (!ir_view_map(c->g, c->r, off, coef)) return wrong(c, "has no index arithmetic");
    const int64_t *dims = ir_dims(c->g, c->r), *own = ir_dims(c->g, n->in[0]);
    if (ir_elements(c->g, c->r) == 0) return true;
    for (int j = 0; j < in; j++) {
        int64_t low = off[j], high = off[j];
        for (int k = 0; k < n->rank; k++) {
            int64_t reach = coef[j * n->rank + k] * (dims[k] - 1);
            *(reach < 0 ? &low : &high) += reach;
        }
        if (low < 0 || high >= own[j]) return wrong(c, "reads outside its operand");
    }
    return true;
}

static bool check_view(const struct check *c) {
    const struct ir_node *n = ir_at(c->g, c->r);
    if (n->dtype != type_of(c, 0)) return wrong(c, "changes the type");
    if (n->op == IR_guard && type_of(c, 1) != WEFT_BOOL)
        return wrong(c, "has a check that is not bool");
    if (n->op == IR_guard && ir_at(c->g, n->in[1])->rank)
        return wrong(c, "has a check that is not 0-d");
    if (n->op == IR_reshape)
        return ir_elements(c->g, c->r) == ir_elements(c->g, n->in[0]) ||
               wrong(c, "changes the number of elements");
    return check_affine(c);
}

static bool check_matmul(const struct check *c) {
    const struct ir_node *n = ir_at(c->g, c->r);
    int rank = n->rank;
    if (type_of(c, 0) != n->dtype || type_of(c, 1) != n->dtype) return wrong(c, "has mixed types");
    if (rank < 2 || ir_at(c->g, n->in[0])->rank != rank || ir_at(c->g, n->in[1])->rank != rank)
        return wrong(c, "has operands of another rank");
    const int64_t *d = ir_dims(c->g, c->r), *a = ir_dims(c->g, n->in[0]),
                  *b = ir_dims(c->g, n->in[1]);
    for (int i = 0; i < rank - 2; i++)
        if (d[i] != a[i] || d[i] != b[i]) return wrong(c, "has different batch axes");
    bool fits =
        a[rank - 1] == b[rank - 2] && d[rank - 2] == a[rank - 2] && d[rank - 1] == b[rank - 1];
    return fits || wrong(c, "has extents that do not fit");
}

static bool check_whole(const struct check *c) {
    const struct ir_node *n = ir_at(c->g, c->r);
    const int64_t *a = ir_attr(c->g, c->r);
    if (n->op == IR_result) {
        const enum ir_op call = (enum ir_op)ir_at(c->g, n->in[0])->op;
        return (ir_ops[call].cls == IR_CALL && a[0] > 0 && a[0] < ir_call_outputs(call)) ||
               wrong(c, "is no output of its call");
    }
    if (ir_ops[n->op].cls == IR_CALL) return true; // its rule made it
    const int axis_rank = ir_at(c->g, n->in[0])->rank;
    if (n->dtype != type_of(c, 0)) return wrong(c, "changes the type");
    if (a[0] < 0 || a[0] >= axis_rank) return wrong(c, "has no such axis");
    if (n->op == IR_join && n->dtype != type_of(c, 1)) return wrong(c, "has mixed types");
    return n->op == IR_join || dtype_is_int(type_of(c, 1)) ||
           wrong(c, "has an index that is not an integer");
}

static bool check_leaf(const struct check *c) {
    const struct ir_node *n = ir_at(c->g, c->r);
    const int64_t *a = ir_attr(c->g, c->r);
    switch (n->op) {
    case IR_from: return ir_leaf_at(c->g, (int)a[0]) || wrong(c, "has no array");
    case IR_input: {
        const struct ir_input *in = ir_input_at(c->g, (int)a[0]);
        return (in && in->node == c->r) || wrong(c, "is not the input it says");
    }
    case IR_constant: return n->rank == 0 || wrong(c, "has axes");
    case IR_extent: return (n->rank == 0 && n->dtype == WEFT_F64) || wrong(c, "is not a number");
    case IR_iota: return a[0] < n->rank || wrong(c, "has no such axis");
    default: return wrong(c, "is no operation");
    }
}

static bool check_node(const struct check *c) {
    const struct ir_node *n = ir_at(c->g, c->r);
    if (n->op == IR_NOP || n->op >= IR_OP__N || !ir_dtype_valid((weft_dtype)n->dtype))
        return err_set(c->err, WEFT_EINVAL, "node %u is not a node", c->r), false;
    if (!check_operands(c) || !check_sizes(c)) return false;
    if (ir_ops[n->op].cls != IR_PAIR && dtype_is_complex((weft_dtype)n->dtype))
        return wrong(c, "is complex and no pair");
    switch (ir_ops[n->op].cls) {
    case IR_LEAF: return check_leaf(c);
    case IR_MAP: return check_map_types(c) && check_map_shape(c);
    case IR_PAIR: return check_pair(c) && check_map_shape(c);
    case IR_REDUCE: return check_reduce(c);
    case IR_VIEW: return check_view(c);
    case IR_CONTRACT: return check_matmul(c);
    default: return check_whole(c);
    }
}

bool ir_check(const struct ir_graph *g, struct base_err *err) {
    for (ir_ref r = 1; r < ir_count(g); r++)
        if (!check_node(&(struct check){g, err, r})) return false;
    return true;
}
