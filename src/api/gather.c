// SPDX-License-Identifier: MIT
// Reading and writing at several index arrays. In: an array and an index array for some of its axes; out: a take or a
// scatter along one axis, that of the row-major places of the indexed axes. Neighbouring axes become one by a
// reshape; of others the whole array does, and the places go over the axes that are left, too. Each index array is
// looked at in its own shape and along its own axis, so that the sentence about one outside says which it was.
#include <stdio.h>

#include "api.h"

struct places {
    weft_expr *x; // its extents fixed
    int n, rank;  // of the index arrays together
    weft_expr *index[WEFT_MAX_RANK]; // by rising axis
    int axis[WEFT_MAX_RANK];
    int64_t dims[WEFT_MAX_RANK];
    weft_index_mode mode;
    bool neighbours;
};

static weft_expr *refuse(weft_expr *x, weft_status s, const char *what) {
    return graph_fail(x->g, s, what);
}

static weft_expr *small(weft_graph *g, int64_t v) {
    return weft_scalar(g, WEFT_I64, &v);
}

// The index arrays in the order of their axes; NULL after an error.
static weft_expr *read_places(weft_expr *x, const weft_places *at, struct places *p) {
    uint64_t seen = 0;
    const int rank = weft_expr_rank(x);
    if (!at || at->size != sizeof *at || (unsigned)at->mode > WEFT_INDEX_WRAP || at->n < 1 || !at->index)
        return refuse(x, WEFT_EINVAL, "gather: not a weft_places");
    if (at->n > rank) return refuse(x, WEFT_ESHAPE, "gather: more index arrays than axes");
    *p = (struct places){.n = at->n, .mode = at->mode};
    for (int k = 0; k < at->n; k++) {
        const int axis = api_axis("gather", x, at->axes ? at->axes[k] : k);
        weft_expr *i = at->index[k];
        if (axis < 0 || !i) return NULL;
        if (i->g != x->g) return refuse(x, WEFT_EINVAL, "operands belong to different graphs");
        if (seen >> axis & 1) return refuse(x, WEFT_EINVAL, "gather: an axis is given twice");
        if (!dtype_is_int(weft_expr_dtype(i))) return refuse(x, WEFT_EDTYPE, "gather: an index is an integer");
        seen |= (uint64_t)1 << axis;
        int to = k;
        for (; to > 0 && p->axis[to - 1] > axis; to--)
            p->axis[to] = p->axis[to - 1], p->index[to] = p->index[to - 1];
        p->axis[to] = axis, p->index[to] = i;
    }
    p->neighbours = p->axis[p->n - 1] - p->axis[0] == p->n - 1;
    return p->x = graph_wrap(x->g, ir_fixed(x->g->ir, "gather", x->ref));
}

// The shape in which the index arrays meet.
static bool meet_shapes(struct places *p) {
    char text[96];
    for (int k = 0; k < p->n; k++)
        if (weft_expr_rank(p->index[k]) > p->rank) p->rank = weft_expr_rank(p->index[k]);
    for (int d = 0; d < p->rank; d++)
        p->dims[d] = 1;
    for (int k = 0; k < p->n; k++) {
        const int r = weft_expr_rank(p->index[k]);
        for (int d = 0; d < r; d++) {
            const int64_t have = weft_expr_dims(p->index[k])[d];
            int64_t *all = &p->dims[p->rank - r + d];
            if (*all != 1 && have != 1 && have != *all) {
                snprintf(text, sizeof text, "gather: axis %d of the index arrays is %lld and %lld", p->rank - r + d,
                         (long long)*all, (long long)have);
                return refuse(p->x, WEFT_ESHAPE, text);
            }
            if (have != 1) *all = have;
        }
    }
    const int most = weft_expr_rank(p->x) - (p->neighbours ? p->n : 0) + p->rank;
    return most <= WEFT_MAX_RANK || refuse(p->x, WEFT_ESHAPE, "gather: too many axes for one expression");
}

// 0 for each index inside the axis, an error for others: what a take from zeros along that axis gives.
static weft_expr *checked(const struct places *p, int k) {
    int64_t dims[WEFT_MAX_RANK];
    const int axis = p->axis[k];
    weft_expr *i = p->index[k];
    for (int d = 0; d < axis; d++)
        dims[d] = 1;
    dims[axis] = weft_expr_dims(p->x)[axis];
    weft_expr *zeros = weft_broadcast_to(small(p->x->g, 0), axis + 1, dims);
    return weft_reshape(weft_take(zeros, i, axis, WEFT_INDEX_RAISE), weft_expr_rank(i), weft_expr_dims(i));
}

// Index array k as i64 within its axis of n elements, whatever the mode.
static weft_expr *within(const struct places *p, int k) {
    weft_graph *g = p->x->g;
    weft_expr *i = p->index[k];
    const int64_t n = weft_expr_dims(p->x)[p->axis[k]];
    if (!n) return weft_cast(i, WEFT_I64); // nothing to be within; the take says so when there are indices
    if (p->mode == WEFT_INDEX_RAISE) {
        weft_expr *ok = checked(p, k);
        i = weft_cast(i, WEFT_I64);
        return weft_add(weft_where(weft_less(i, small(g, 0)), weft_add(i, small(g, n)), i), ok);
    }
    if (weft_expr_dtype(i) == WEFT_U64) { // beyond what i64 can say
        const uint64_t end = (uint64_t)n - (p->mode == WEFT_INDEX_CLIP);
        weft_expr *e = weft_scalar(g, WEFT_U64, &end);
        return weft_cast(p->mode == WEFT_INDEX_CLIP ? weft_minimum(i, e) : weft_remainder(i, e), WEFT_I64);
    }
    i = weft_cast(i, WEFT_I64);
    return p->mode == WEFT_INDEX_CLIP ? weft_clip(i, small(g, 0), small(g, n - 1)) : weft_remainder(i, small(g, n));
}

static int64_t product(int64_t a, int64_t b) { // of extents: where it overflows another one is 0
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

// Row-major places among the indexed axes (neighbours), or among all: then behind the axes of the index arrays come
// those that are left.
static weft_expr *places_of(const struct places *p) {
    const int rank = weft_expr_rank(p->x), left = p->neighbours ? 0 : rank - p->n;
    const int64_t *dims = weft_expr_dims(p->x);
    weft_graph *g = p->x->g;
    weft_expr *sum = NULL;
    int64_t stride = 1;
    const int first = p->neighbours ? p->axis[0] : 0, last = p->neighbours ? p->axis[p->n - 1] : rank - 1;
    for (int d = last, k = p->n - 1, l = left - 1; d >= first; d--) {
        const bool indexed = k >= 0 && p->axis[k] == d;
        weft_expr *i = indexed ? within(p, k) : weft_iota(g, WEFT_I64, 1, &dims[d], 0);
        for (int e = indexed ? left : left - 1 - l; i && e > 0; e--) // axes behind
            i = weft_expand_dims(i, -1);
        indexed ? k-- : l--;
        i = weft_mul(i, small(g, stride));
        sum = sum ? weft_add(sum, i) : i;
        if (!sum) return NULL;
        stride = product(stride, dims[d]);
    }
    return sum;
}

// x with the indexed axes as one, at *axis; and the index array of a take along it that gathers.
static weft_expr *prepared(struct places *p, int *axis, weft_expr **index) {
    int64_t dims[WEFT_MAX_RANK] = {1}, all[WEFT_MAX_RANK];
    if (!meet_shapes(p)) return NULL;
    int rank = !p->neighbours, r = p->rank;
    memcpy(all, p->dims, sizeof all);
    for (int d = 0, k = 0; d < weft_expr_rank(p->x); d++) {
        const int64_t have = weft_expr_dims(p->x)[d];
        const bool indexed = k < p->n && p->axis[k] == d;
        k += indexed;
        if (!p->neighbours) {
            dims[0] = product(dims[0], have);
            if (!indexed) all[r++] = have;
        } else if (indexed && k > 1) {
            dims[rank - 1] = product(dims[rank - 1], have);
        } else {
            dims[rank++] = have;
        }
    }
    *axis = p->neighbours ? p->axis[0] : 0;
    *index = weft_broadcast_to(places_of(p), r, all);
    return *index ? weft_reshape(p->x, rank, dims) : NULL;
}

weft_expr *weft_gather(weft_expr *x, const weft_places *at) {
    struct places p;
    int axis = 0;
    weft_expr *index;
    if (!x || !read_places(x, at, &p)) return NULL;
    weft_expr *flat = prepared(&p, &axis, &index);
    return flat ? weft_take(flat, index, axis, WEFT_INDEX_CLIP) : NULL;
}

weft_expr *weft_scatter_n(weft_expr *x, const weft_places *at, weft_expr *values, weft_scatter_op op) {
    struct places p;
    int axis = 0;
    weft_expr *index;
    if (!x || !values || !read_places(x, at, &p)) return NULL;
    weft_expr *flat = prepared(&p, &axis, &index);
    if (!flat) return NULL;
    const weft_scatter_opts o = {sizeof o, axis, op, WEFT_INDEX_CLIP};
    return weft_reshape(weft_scatter(flat, index, values, &o), weft_expr_rank(x), weft_expr_dims(x));
}
