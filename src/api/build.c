// SPDX-License-Identifier: MIT
// The public builders: each takes handles apart, checks that they are of one graph, calls one emitter and
// wraps the node. The elementwise ones expand from the operation table.
#include "api.h"

static weft_graph *graph_of(weft_expr *const *x, int n) {
    for (int i = 0; i < n; i++)
        if (!x[i]) return NULL;
    for (int i = 1; i < n; i++)
        if (x[i]->g != x[0]->g) {
            graph_fail(x[0]->g, WEFT_EINVAL, "operands belong to different graphs");
            return NULL;
        }
    return x[0]->g;
}

static weft_expr *build_map(enum ir_op op, weft_expr *const *x, int n) {
    ir_ref in[3] = {IR_NONE, IR_NONE, IR_NONE};
    weft_graph *g = graph_of(x, n);
    if (!g) return NULL;
    for (int i = 0; i < n; i++)
        in[i] = x[i]->ref;
    return graph_wrap(g, ir_map(g->ir, op, in));
}

#define BUILD_1(name)                                                                              \
    weft_expr *weft_##name(weft_expr *a) { return build_map(IR_##name, (weft_expr *[]){a}, 1); }
#define BUILD_2(name)                                                                              \
    weft_expr *weft_##name(weft_expr *a, weft_expr *b) {                                           \
        return build_map(IR_##name, (weft_expr *[]){a, b}, 2);                                     \
    }
#define BUILD_3(name)                                                                              \
    weft_expr *weft_##name(weft_expr *a, weft_expr *b, weft_expr *c) {                             \
        return build_map(IR_##name, (weft_expr *[]){a, b, c}, 3);                                  \
    }
// cast takes a type instead of an operand; every other rule builds by its arity
#define RULE_ARITH(arity, name) BUILD_##arity(name)
#define RULE_FLOAT(arity, name) BUILD_##arity(name)
#define RULE_INTS(arity, name) BUILD_##arity(name)
#define RULE_SHIFT(arity, name) BUILD_##arity(name)
#define RULE_COMPARE(arity, name) BUILD_##arity(name)
#define RULE_LOGIC(arity, name) BUILD_##arity(name)
#define RULE_PRED(arity, name) BUILD_##arity(name)
#define RULE_KEEP(arity, name) BUILD_##arity(name)
#define RULE_WHERE(arity, name) BUILD_##arity(name)
#define RULE_CAST(arity, name)
#define RULE_WORD(arity, name) BUILD_##arity(name)
#define MAP(name, arity, rule, ...) RULE_##rule(arity, name)
#include "../ir/ops.def"

#define PAIR(name, arity, doc) BUILD_##arity(name)
#include "../ir/ops.def"

weft_expr *weft_cast(weft_expr *x, weft_dtype t) {
    return x ? graph_wrap(x->g, ir_cast(x->g->ir, x->ref, t)) : NULL;
}
weft_expr *weft_clip(weft_expr *x, weft_expr *lo, weft_expr *hi) {
    weft_graph *g = graph_of((weft_expr *[]){x, lo, hi}, 3);
    return g ? graph_wrap(g, ir_clip(g->ir, x->ref, lo->ref, hi->ref)) : NULL;
}

// ---- leaves -------------------------------------------------------------------------------------------
weft_expr *weft_from(weft_graph *g, const weft_array *a) {
    if (!g) return NULL;
    if (!a) return graph_fail(g, WEFT_EINVAL, "from: no array");
    const ir_ref again = ir_repeat_from(g->ir, a);
    if (again) return graph_wrap(g, again);
    if (rt_array_check(a, "from", ir_error(g->ir))) return NULL;
    return graph_wrap(g, ir_from(g->ir, a));
}
weft_expr *weft_input(weft_graph *g, const char *name, weft_dtype t, int rank, const int64_t *dims) {
    if (!g) return NULL;
    if (rank < 0 || rank > WEFT_MAX_RANK || (rank && !dims))
        return graph_fail(g, WEFT_EINVAL, "input: bad rank");
    weft_array a = weft_dense(t, NULL, rank, dims);
    if (rt_array_check(&a, "input", ir_error(g->ir))) return NULL;
    return graph_wrap(g, ir_input(g->ir, name ? name : "", t, rank, dims));
}
static weft_expr *literal(weft_graph *g, weft_dtype t, const void *v, enum ir_weak weak) {
    return g ? graph_wrap(g, ir_constant(g->ir, t, v, weak)) : NULL;
}
weft_expr *weft_float(weft_graph *g, double v) { return literal(g, WEFT_F64, &v, IR_WEAK_FLOAT); }
weft_expr *weft_int(weft_graph *g, int64_t v) { return literal(g, WEFT_I64, &v, IR_WEAK_INT); }
weft_expr *weft_uint(weft_graph *g, uint64_t v) {
    if (v <= INT64_MAX) return weft_int(g, (int64_t)v);
    return literal(g, WEFT_U64, &v, IR_WEAK_INT);
}
weft_expr *weft_truth(weft_graph *g, bool v) { return literal(g, WEFT_BOOL, &v, IR_WEAK_BOOL); }
weft_expr *weft_imaginary(weft_graph *g, double v) {
    return g ? graph_wrap(g, ir_imaginary(g->ir, v)) : NULL;
}
weft_expr *weft_scalar(weft_graph *g, weft_dtype t, const void *value) {
    if (!g) return NULL;
    if (!value || !dtype_size(t)) return graph_fail(g, WEFT_EINVAL, "scalar: no value or bad type");
    return literal(g, t, value, IR_STRONG);
}
weft_expr *weft_iota(weft_graph *g, weft_dtype t, int rank, const int64_t *dims, int axis) {
    if (!g) return NULL;
    if (rank < 1 || rank > WEFT_MAX_RANK || !dims)
        return graph_fail(g, WEFT_EINVAL, "iota: rank must be 1 to 32");
    weft_array a = weft_dense(t, NULL, rank, dims);
    if (rt_array_check(&a, "iota", ir_error(g->ir))) return NULL;
    return graph_wrap(g, ir_iota(g->ir, t, rank, dims, axis));
}

// ---- reductions -----------------------------------------------------------------------------------------
static weft_expr *reduce(enum ir_reduction what, weft_expr *x, const weft_reduce *r) {
    static const weft_reduce all = {.size = sizeof all};
    if (!x) return NULL;
    if (r && r->size != sizeof *r)
        return graph_fail(x->g, WEFT_EINVAL, "reduce: size is not sizeof(weft_reduce)");
    return graph_wrap(x->g, ir_reduce(x->g->ir, what, x->ref, r ? r : &all));
}
#define REDUCTION(name, what)                                                                      \
    weft_expr *weft_##name(weft_expr *x, const weft_reduce *r) { return reduce(what, x, r); }
REDUCTION(sum, IR_SUM)
REDUCTION(prod, IR_PROD)
REDUCTION(min, IR_MIN)
REDUCTION(max, IR_MAX)
REDUCTION(mean, IR_MEAN)
REDUCTION(var, IR_VAR)
REDUCTION(std, IR_STD)
REDUCTION(any, IR_ANY)
REDUCTION(all, IR_ALL)
REDUCTION(count_nonzero, IR_COUNT_NONZERO)
REDUCTION(argmin, IR_ARGMIN)
REDUCTION(argmax, IR_ARGMAX)

weft_expr *weft_matmul(weft_expr *a, weft_expr *b) {
    weft_graph *g = graph_of((weft_expr *[]){a, b}, 2);
    return g ? graph_wrap(g, ir_matmul(g->ir, a->ref, b->ref)) : NULL;
}
weft_expr *weft_dot(weft_expr *a, weft_expr *b) {
    weft_graph *g = graph_of((weft_expr *[]){a, b}, 2);
    return g ? graph_wrap(g, ir_dot(g->ir, a->ref, b->ref)) : NULL;
}

// ---- views ------------------------------------------------------------------------------------------------
#define VIEW_OF(x, call) ((x) ? graph_wrap((x)->g, call) : NULL)
weft_expr *weft_reshape(weft_expr *x, int rank, const int64_t *dims) {
    return VIEW_OF(x, ir_reshape(x->g->ir, x->ref, rank, dims));
}
weft_expr *weft_ravel(weft_expr *x) {
    return VIEW_OF(x, ir_reshape(x->g->ir, x->ref, 1, (const int64_t[]){-1}));
}
weft_expr *weft_transpose(weft_expr *x, const int *perm) {
    return VIEW_OF(x, ir_transpose(x->g->ir, x->ref, perm));
}
weft_expr *weft_swap_axes(weft_expr *x, int a, int b) {
    return VIEW_OF(x, ir_swap_axes(x->g->ir, x->ref, a, b));
}
weft_expr *weft_slice(weft_expr *x, int axis, int64_t start, int64_t stop, int64_t step) {
    return VIEW_OF(x, ir_slice(x->g->ir, x->ref, axis, start, stop, step));
}
weft_expr *weft_index(weft_expr *x, int axis, int64_t i) {
    return VIEW_OF(x, ir_index(x->g->ir, x->ref, axis, i));
}
weft_expr *weft_flip(weft_expr *x, int axis) {
    return VIEW_OF(x, ir_slice(x->g->ir, x->ref, axis, WEFT_NONE, WEFT_NONE, -1));
}
weft_expr *weft_squeeze(weft_expr *x, int axis) {
    return VIEW_OF(x, ir_squeeze(x->g->ir, x->ref, axis));
}
weft_expr *weft_expand_dims(weft_expr *x, int axis) {
    return VIEW_OF(x, ir_expand_dims(x->g->ir, x->ref, axis));
}
weft_expr *weft_broadcast_to(weft_expr *x, int rank, const int64_t *dims) {
    return VIEW_OF(x, ir_broadcast_to(x->g->ir, x->ref, rank, dims));
}
weft_expr *weft_diagonal(weft_expr *x, int64_t offset, int axis1, int axis2) {
    return VIEW_OF(x, ir_diagonal(x->g->ir, x->ref, offset, axis1, axis2));
}
