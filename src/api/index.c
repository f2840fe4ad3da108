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

weft_expr *weft_concat(int n, weft_expr *const *x, int axis) {
    if (n < 1 || !x) return NULL;
    weft_expr *all = x[0];
    for (int i = 1; i < n; i++) {
        weft_graph *g = same_graph(all, x[i]);
        all = g ? graph_wrap(g, ir_join(g->ir, all->ref, x[i]->ref, axis)) : NULL;
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

static weft_expr *sorted(weft_expr *x, int axis, int output) {
    if (!x || (axis = api_axis("sort", x, axis)) < 0) return NULL;
    return api_result(api_call(IR_sort, &x, (int64_t[]){axis}, 1), output);
}
weft_expr *weft_sort(weft_expr *x, int axis) { return sorted(x, axis, 0); }
weft_expr *weft_argsort(weft_expr *x, int axis) { return sorted(x, axis, 1); }
