// SPDX-License-Identifier: MIT
// Views as index arithmetic: in[j] = off[j] + sum over k of coef[j][k] * out[k]. Every view but
// reshape is of this form, so that chains of views compose by multiplying; reshape keeps the
// row-major number of an element instead, which the caller handles.
#include "ir.h"

struct map {
    int64_t *off, *coef;
    int rank; // of the output
};
static void set(const struct map *m, int in, int out, int64_t c) {
    m->coef[in * m->rank + out] = c;
}

static void map_slice(const struct ir_graph *g, ir_ref view, const struct map *m) {
    const int64_t *a = ir_attr(g, view);
    int64_t first, count;
    int axis = (int)a[0];
    ir_slice_resolve(ir_dims(g, ir_at(g, view)->in[0])[axis], a[1], a[2], a[3], &first, &count);
    for (int i = 0; i < m->rank; i++)
        set(m, i, i, i == axis ? a[3] : 1);
    m->off[axis] = first;
}

static void map_broadcast(const struct ir_graph *g, ir_ref view, const struct map *m) {
    ir_ref x = ir_at(g, view)->in[0];
    int more = m->rank - ir_at(g, x)->rank;
    for (int i = 0; i < ir_at(g, x)->rank; i++)
        set(m, i, i + more, ir_dims(g, x)[i] != 1);
}

static void map_diagonal(const struct ir_graph *g, ir_ref view, const struct map *m) {
    const int64_t *a = ir_attr(g, view);
    int row = (int)a[1], col = (int)a[2], k = 0;
    for (int i = 0; i <= m->rank; i++)
        if (i != row && i != col) set(m, i, k++, 1);
    set(m, row, m->rank - 1, 1);
    set(m, col, m->rank - 1, 1);
    if (ir_dims(g, view)[m->rank - 1] == 0)
        return; // an offset past the end has nothing to point at
    m->off[a[0] < 0 ? row : col] = a[0] < 0 ? -a[0] : a[0];
}

bool ir_view_map(const struct ir_graph *g, ir_ref view, int64_t *off, int64_t *coef) {
    const struct ir_node *n = ir_at(g, view);
    int rank = n->rank, in = ir_at(g, n->in[0])->rank;
    struct map m = {off, coef, rank};
    memset(off, 0, (size_t)in * sizeof *off);
    memset(coef, 0, (size_t)(in * rank) * sizeof *coef);
    int axis = (int)*ir_attr(g, view);
    switch (n->op) {
    case IR_transpose:
        for (int i = 0; i < rank; i++)
            set(&m, (int)ir_attr(g, view)[i], i, 1);
        return true;
    case IR_expand_dims:
        for (int i = 0; i < in; i++)
            set(&m, i, i < axis ? i : i + 1, 1);
        return true;
    case IR_squeeze:
        for (int i = 0; i < rank; i++)
            set(&m, i < axis ? i : i + 1, i, 1);
        return true;
    case IR_guard:
    case IR_trim:
    case IR_fixed:
        for (int i = 0; i < rank; i++)
            set(&m, i, i, 1);
        return true;
    case IR_windows:
        for (int i = 0; i < in; i++)
            set(&m, i, i, 1);
        set(&m, axis, rank - 1, 1);
        return true;
    case IR_slice: map_slice(g, view, &m); return true;
    case IR_broadcast_to: map_broadcast(g, view, &m); return true;
    case IR_diagonal: map_diagonal(g, view, &m); return true;
    default: return false;
    }
}
