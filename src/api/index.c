// SPDX-License-Identifier: MIT
// Builders of what reads through an index or puts arrays side by side. Each checks what the graph room cannot
// see and calls its emitters; what is made of other expressions is made here of the public builders, which
// pass NULL on.
#include <stdio.h>

#include "api.h"

static weft_graph *same_graph(weft_expr *a, weft_expr *b) {
    if (!a || !b) return NULL;
    if (a->g == b->g) return a->g;
    graph_fail(a->g, WEFT_EINVAL, "operands belong to different graphs");
    return NULL;
}

static int64_t elements_of(weft_expr *x) {
    return ir_elements(x->g->ir, x->ref);
}

static bool same_but(weft_expr *a, weft_expr *b, int axis) {
    bool same = weft_expr_rank(a) == weft_expr_rank(b);
    for (int i = 0; same && i < weft_expr_rank(a); i++)
        same = i == axis || weft_expr_dims(a)[i] == weft_expr_dims(b)[i];
    return same;
}

weft_expr *weft_take(weft_expr *x, weft_expr *index, int axis, weft_index_mode mode) {
    weft_graph *g = same_graph(x, index);
    return g ? graph_wrap(g, ir_take(g->ir, x->ref, index->ref, axis, (int)mode)) : NULL;
}
weft_expr *weft_take_along_axis(weft_expr *x, weft_expr *index, int axis, weft_index_mode mode) {
    weft_graph *g = same_graph(x, index);
    return g ? graph_wrap(g, ir_take_along(g->ir, x->ref, index->ref, axis, (int)mode)) : NULL;
}
weft_expr *weft_sliding_windows(weft_expr *x, int axis, int64_t size) {
    return x ? graph_wrap(x->g, ir_windows(x->g->ir, x->ref, axis, size)) : NULL;
}

// What all of them meet in, at once (ir_promote_n); WEFT_DTYPE__N when one is NULL or of another graph.
weft_dtype api_meet(int n, weft_expr *const *x) {
    weft_dtype all = WEFT_DTYPE__N, kinds[WEFT_DTYPE__N];
    bool seen[WEFT_DTYPE__N] = {false};
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (!same_graph(x[0], x[i])) return all;
        const weft_dtype t = weft_expr_dtype(x[i]);
        if (!seen[t]) kinds[count++] = t;
        seen[t] = true;
    }
    return ir_promote_n(count, kinds);
}

weft_expr *weft_concat(int n, weft_expr *const *x, int axis) {
    if (n < 1 || !x) return NULL;
    const weft_dtype t = api_meet(n, x);
    if (n == 1 || t == WEFT_DTYPE__N) return n == 1 ? x[0] : NULL;
    weft_expr *all = weft_cast(x[0], t);
    for (int i = 1; i < n; i++) {
        weft_expr *next = weft_cast(x[i], t);
        all = all && next ? graph_wrap(all->g, ir_join(all->g->ir, all->ref, next->ref, axis)) : NULL;
    }
    return all;
}

// ---- calls -------------------------------------------------------------------------------------------------
weft_expr *api_call(enum ir_op op, weft_expr *const *x, const int64_t *attr, int nattr) {
    ir_ref in[3] = {IR_NONE, IR_NONE, IR_NONE};
    for (int i = 0; i < ir_ops[op].arity; i++) {
        if (!x[i] || !same_graph(x[0], x[i])) return NULL;
        in[i] = x[i]->ref;
    }
    return graph_wrap(x[0]->g, ir_call(x[0]->g->ir, op, in, attr, nattr));
}
weft_expr *api_result(weft_expr *call, int k) {
    return call ? graph_wrap(call->g, ir_result(call->g->ir, call->ref, k)) : NULL;
}
// The axis counted from the front, or -1 after recording the error.
int api_axis(const char *name, weft_expr *x, int axis) {
    const int rank = weft_expr_rank(x);
    if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
    char text[80];
    snprintf(text, sizeof text, "%s: axis %d is out of range for rank %d", name, axis, rank);
    graph_fail(x->g, WEFT_EINVAL, text);
    return -1;
}

// Both parts of a complex expression done alike.
static bool is_complex(weft_expr *x) {
    return x && dtype_is_complex(weft_expr_dtype(x));
}

// ---- scatter -------------------------------------------------------------------------------------------------
static weft_expr *scattered(weft_expr *x, weft_expr *index, weft_expr *values,
                            const weft_scatter_opts *o, bool along) {
    if (!same_graph(x, index) || !same_graph(x, values)) return NULL;
    if (!o || o->size != sizeof *o || (unsigned)o->op > WEFT_SCATTER_MAX)
        return graph_fail(x->g, WEFT_EINVAL, "scatter: not a weft_scatter_opts");
    const int axis = api_axis("scatter", x, o->axis);
    weft_expr *would = NULL; // what a take would read has the shape of what is put
    if (axis >= 0) would = along ? weft_take_along_axis(x, index, axis, o->mode) : weft_take(x, index, axis, o->mode);
    if (!would) return NULL;
    const int rank = weft_expr_rank(would);
    values = weft_broadcast_to(weft_cast(values, weft_expr_dtype(x)), rank, weft_expr_dims(would));
    if (along) index = weft_broadcast_to(index, rank, weft_expr_dims(would));
    if (along && !same_but(x, would, axis))
        return graph_fail(x->g, WEFT_ESHAPE, "scatter: the index is wider than the array");
    const int64_t attr[] = {axis, o->op, o->mode, along};
    if (is_complex(x)) {
        if (o->op > WEFT_SCATTER_ADD)
            return graph_fail(x->g, WEFT_EDTYPE, "scatter: complex numbers have no order");
        weft_expr *re[3] = {weft_real(x), index, weft_real(values)};
        weft_expr *im[3] = {weft_imag(x), index, weft_imag(values)};
        return weft_complex(api_call(IR_scatter, re, attr, 4), api_call(IR_scatter, im, attr, 4));
    }
    return api_call(IR_scatter, (weft_expr *[]){x, index, values}, attr, 4);
}
weft_expr *weft_scatter(weft_expr *x, weft_expr *index, weft_expr *values,
                        const weft_scatter_opts *opts) {
    return scattered(x, index, values, opts, false);
}
weft_expr *weft_scatter_along_axis(weft_expr *x, weft_expr *index, weft_expr *values,
                                   const weft_scatter_opts *opts) {
    return scattered(x, index, values, opts, true);
}

// values[i % n] for the i of where, an i64 expression.
static weft_expr *in_turn(weft_expr *values, weft_expr *where) {
    return weft_take(weft_ravel(values), where, 0, WEFT_INDEX_WRAP);
}

static weft_expr *back_to_shape(weft_expr *flat, weft_expr *x) {
    return weft_reshape(flat, weft_expr_rank(x), weft_expr_dims(x));
}

static weft_expr *places_of(weft_expr *x) {
    const int64_t n = x ? elements_of(x) : 0;
    return x ? weft_iota(x->g, WEFT_I64, 1, &n, 0) : NULL;
}

weft_expr *weft_put(weft_expr *x, weft_expr *index, weft_expr *values, weft_index_mode mode) {
    if (!same_graph(x, index) || !same_graph(x, values)) return NULL;
    if (!elements_of(values)) // nothing to put, as NumPy
        return x;
    index = weft_ravel(index);
    const weft_scatter_opts o = {sizeof o, 0, WEFT_SCATTER_SET, mode};
    weft_expr *v = in_turn(values, places_of(index));
    return back_to_shape(weft_scatter(weft_ravel(x), index, v, &o), x);
}

weft_expr *weft_putmask(weft_expr *x, weft_expr *mask, weft_expr *values) {
    if (!same_graph(x, mask) || !same_graph(x, values)) return NULL;
    if (!elements_of(values)) return x;
    weft_expr *v = weft_cast(in_turn(values, places_of(x)), weft_expr_dtype(x));
    weft_expr *m = weft_broadcast_to(mask, weft_expr_rank(x), weft_expr_dims(x));
    return weft_where(m, back_to_shape(v, x), x);
}

weft_expr *weft_place(weft_expr *x, weft_expr *mask, weft_expr *values) {
    if (!same_graph(x, mask) || !same_graph(x, values)) return NULL;
    if (!elements_of(values)) return x;
    weft_expr *m = weft_not_equal(weft_broadcast_to(mask, weft_expr_rank(x), weft_expr_dims(x)),
                                  weft_scalar(x->g, WEFT_BOOL, &(uint8_t){0}));
    weft_expr *rank = weft_sub(weft_cumsum(weft_ravel(m), 0), weft_int(x->g, 1));
    weft_expr *v = weft_cast(in_turn(values, rank), weft_expr_dtype(x));
    return weft_where(m, back_to_shape(v, x), x);
}

// ---- results whose extent depends on values ----------------------------------------------------------------------
static weft_expr *trimmed(weft_expr *x, weft_expr *count, int axis) {
    return x && count ? graph_wrap(x->g, ir_trim(x->g->ir, x->ref, count->ref, axis)) : NULL;
}

weft_expr *weft_count_of(weft_expr *x) {
    if (!x) return NULL;
    const struct ir_node *n = ir_at(x->g->ir, x->ref);
    if (n->op == IR_complex) n = ir_at(x->g->ir, n->in[0]);
    return n->op == IR_trim ? graph_wrap(x->g, n->in[1]) : NULL;
}

weft_expr *weft_compress(weft_expr *mask, weft_expr *x, int axis) {
    if (!same_graph(x, mask) || (axis = api_axis("compress", x, axis)) < 0) return NULL;
    mask = weft_cast(mask, WEFT_BOOL);
    if (is_complex(x))
        return weft_complex(weft_compress(mask, weft_real(x), axis), weft_compress(mask, weft_imag(x), axis));
    weft_expr *c = api_call(IR_compress, (weft_expr *[]){mask, x}, (int64_t[]){axis}, 1);
    return trimmed(c, api_result(c, 1), axis);
}

weft_expr *weft_select(weft_expr *x, weft_expr *mask) {
    if (!same_graph(x, mask)) return NULL;
    const int k = weft_expr_rank(mask), rank = weft_expr_rank(x);
    int64_t dims[WEFT_MAX_RANK + 1] = {1};
    bool fits = k >= 1 && k <= rank;
    for (int i = 0; fits && i < k; i++) {
        fits = weft_expr_dims(mask)[i] == weft_expr_dims(x)[i];
        dims[0] *= weft_expr_dims(x)[i];
    }
    if (!fits) return graph_fail(x->g, WEFT_ESHAPE, "select: the mask does not have the first extents");
    for (int i = k; i < rank; i++)
        dims[1 + i - k] = weft_expr_dims(x)[i];
    x = graph_wrap(x->g, ir_fixed(x->g->ir, "select", x->ref));
    return weft_compress(weft_ravel(mask), weft_reshape(x, rank - k + 1, dims), 0);
}

weft_expr *weft_flatnonzero(weft_expr *x) {
    return x ? weft_compress(weft_ravel(x), places_of(x), 0) : NULL;
}

weft_expr *weft_nonzero(weft_expr *x, int axis) {
    if (!x || (axis = api_axis("nonzero", x, axis)) < 0) return NULL;
    weft_expr *x1 = graph_wrap(x->g, ir_fixed(x->g->ir, "nonzero", x->ref));
    weft_expr *at = weft_flatnonzero(x1);
    int64_t inner = 1;
    for (int i = axis + 1; i < weft_expr_rank(x); i++)
        inner *= weft_expr_dims(x)[i];
    weft_expr *i = weft_floor_divide(at, weft_int(x->g, inner));
    if (axis) i = weft_remainder(i, weft_int(x->g, weft_expr_dims(x)[axis]));
    return trimmed(i, weft_count_of(at), 0);
}
