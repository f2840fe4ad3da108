// SPDX-License-Identifier: MIT
// Indexing, assembly, order and scans in calls, by their NumPy names. What NumPy takes as a list of arrays is
// given one after the other (concatenate(a, b, axis=1)); modes are words (mode=clip, side=right).
#include "call.h"

#include <string.h>

static bool read_axis(struct parser *p, struct call *c, int i, int *axis, bool *flat) {
    *flat = c->n <= i && !call_given(c, K_AXIS);
    return call_axis(p, c, i, K_AXIS, axis);
}

static int word(struct call *c, enum keyword k) {
    return call_has(c, k) ? (int)c->kw[k].u : 0;
}

// take(x, i, axis): without an axis of the flattened array
static bool run_take(struct parser *p, struct call *c, struct value *out) {
    int axis = 0;
    bool flat;
    weft_expr *x = call_expr(p, c, 0), *i = call_expr(p, c, 1);
    if (!x || !i || !read_axis(p, c, 2, &axis, &flat)) return false;
    const bool along = strcmp(c->row->name, "take_along_axis") == 0;
    const weft_index_mode mode = (weft_index_mode)word(c, K_MODE);
    if (along && flat) axis = -1;
    if (!along && flat) x = weft_ravel(x);
    return call_built(p, c, along ? weft_take_along_axis(x, i, axis, mode) : weft_take(x, i, axis, mode),
                      out);
}

// scatter(x, i, v, axis=0), scatter_add, ..., put_along_axis
static bool run_scatter(struct parser *p, struct call *c, struct value *out) {
    static const char *const ends[] = {[WEFT_SCATTER_ADD] = "_add", [WEFT_SCATTER_MIN] = "_min",
                                       [WEFT_SCATTER_MAX] = "_max"};
    weft_scatter_opts o = {.size = sizeof o, .mode = (weft_index_mode)word(c, K_MODE)};
    weft_expr *x = call_expr(p, c, 0), *i = call_expr(p, c, 1), *v = call_expr(p, c, 2);
    if (!x || !i || !v || !call_axis(p, c, 3, K_AXIS, &o.axis)) return false;
    for (int k = 1; k <= WEFT_SCATTER_MAX; k++)
        if (strstr(c->row->name, ends[k])) o.op = (weft_scatter_op)k;
    const bool along = c->row->name[0] == 'p';
    return call_built(p, c, along ? weft_scatter_along_axis(x, i, v, &o) : weft_scatter(x, i, v, &o),
                      out);
}

static bool run_put(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x = call_expr(p, c, 0), *i = call_expr(p, c, 1), *v = call_expr(p, c, 2);
    if (!x || !i || !v) return false;
    return call_built(p, c, weft_put(x, i, v, (weft_index_mode)word(c, K_MODE)), out);
}

// concatenate(a, b, ..., axis=0) and stack
static bool run_join(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x[CALL_ARGS];
    int axis = 0;
    for (int i = 0; i < c->n; i++)
        if (!(x[i] = call_expr(p, c, i))) return false;
    if (!call_axis(p, c, CALL_ARGS, K_AXIS, &axis)) return false;
    const bool stack = c->row->name[0] == 's';
    return call_built(p, c, stack ? weft_stack(c->n, x, axis) : weft_concat(c->n, x, axis), out);
}

static bool run_roll(struct parser *p, struct call *c, struct value *out) {
    int axis = 0;
    bool flat;
    int64_t shift = 0;
    weft_expr *x = call_expr(p, c, 0);
    if (!x || !value_int(p, &c->arg[1], "a shift", &shift) || !read_axis(p, c, 2, &axis, &flat))
        return false;
    weft_expr *y = weft_roll(flat ? weft_ravel(x) : x, shift, axis);
    if (flat && y) y = weft_reshape(y, weft_expr_rank(x), weft_expr_dims(x));
    return call_built(p, c, y, out);
}

// pad(x, n) or pad(x, (before, after)), on every axis
static bool run_pad(struct parser *p, struct call *c, struct value *out) {
    int64_t before[WEFT_MAX_RANK], after[WEFT_MAX_RANK], b = 0, a = 0;
    weft_expr *x = call_expr(p, c, 0);
    const struct value *w = &c->arg[1];
    if (!x) return false;
    if (w->kind == V_TUPLE && w->tuple->n == 2) {
        b = w->tuple->item[0];
        a = w->tuple->item[1];
    } else {
        if (!value_int(p, w, "a width", &b)) return false;
        a = b;
    }
    for (int i = 0; i < weft_expr_rank(x); i++) {
        before[i] = b;
        after[i] = a;
    }
    weft_padding o = {sizeof o, before, after, (weft_pad_mode)word(c, K_MODE), NULL};
    if (call_has(c, K_VALUE) && !(o.value = value_expr(p, &c->kw[K_VALUE]))) return false;
    return call_built(p, c, weft_pad(x, &o), out);
}

static bool run_tile(struct parser *p, struct call *c, struct value *out) {
    int64_t times[CALL_ARGS];
    weft_expr *x = call_expr(p, c, 0);
    int n = x ? call_list(p, c, times) : -1;
    return n >= 0 && call_built(p, c, weft_tile(x, n, times), out);
}

typedef weft_expr *counted_fn(weft_expr *x, int64_t n, int axis);
static weft_expr *windows(weft_expr *x, int64_t n, int axis) {
    return weft_sliding_windows(x, axis, n);
}
static weft_expr *partition(weft_expr *x, int64_t n, int axis) { // sorted is partitioned at every place
    (void)n;
    return weft_sort(x, axis);
}
static weft_expr *argpartition(weft_expr *x, int64_t n, int axis) {
    (void)n;
    return weft_argsort(x, axis);
}
static weft_expr *topk(weft_expr *x, int64_t n, int axis) {
    return weft_topk(x, n, axis, false, NULL);
}
static const struct {
    const char *name;
    counted_fn *fn;
    bool flat; // without an axis: of the flattened array
} counted[] = {
    {"repeat", weft_repeat, true},       {"sliding_window_view", windows, true},
    {"partition", partition, false},     {"argpartition", argpartition, false},
    {"topk", topk, false},
};

// name(x, n, axis)
static bool run_counted(struct parser *p, struct call *c, struct value *out) {
    int axis = -1;
    size_t k = 0;
    bool flat;
    int64_t n = 0;
    weft_expr *x = call_expr(p, c, 0);
    if (!x || !value_int(p, &c->arg[1], "a number", &n) || !read_axis(p, c, 2, &axis, &flat))
        return false;
    while (strcmp(counted[k].name, c->row->name) != 0)
        k++;
    return call_built(p, c, counted[k].fn(flat && counted[k].flat ? weft_ravel(x) : x, n, axis), out);
}

// sort and its kin: the last axis unless told; scans: the flattened array
static bool run_line(struct parser *p, struct call *c, struct value *out) {
    static weft_expr *(*const fn[])(weft_expr *, int) = {weft_sort,    weft_argsort, weft_cumsum,
                                                         weft_cumprod, weft_cummax,  weft_cummin};
    static const char *const name[] = {"sort", "argsort", "cumsum", "cumprod", "cummax", "cummin"};
    int axis = -1;
    size_t k = 0;
    bool flat;
    weft_expr *x = call_expr(p, c, 0);
    if (!x || !read_axis(p, c, 1, &axis, &flat)) return false;
    while (strcmp(name[k], c->row->name) != 0)
        k++;
    return call_built(p, c, fn[k](flat && k >= 2 ? weft_ravel(x) : x, axis), out);
}

static bool run_search(struct parser *p, struct call *c, struct value *out) {
    weft_expr *a = call_expr(p, c, 0), *v = call_expr(p, c, 1);
    bool right = word(c, K_SIDE) == 1;
    if (!a || !v || (call_has(c, K_RIGHT) && !call_truth(p, &c->kw[K_RIGHT], &right))) return false;
    const bool digitize = c->row->name[0] == 'd';
    return call_built(p, c, digitize ? weft_digitize(a, v, right) : weft_searchsorted(a, v, right), out);
}

static bool run_unique(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x = call_expr(p, c, 0);
    return x && call_built(p, c, weft_unique(x, NULL), out);
}

// compress(mask, x, axis), extract(mask, x)
static bool run_compress(struct parser *p, struct call *c, struct value *out) {
    int axis = 0;
    bool flat;
    weft_expr *mask = call_expr(p, c, 0), *x = call_expr(p, c, 1);
    if (!mask || !x || !read_axis(p, c, 2, &axis, &flat)) return false;
    if (c->row->name[0] == 'e')
        return call_built(p, c, weft_select(weft_ravel(x), weft_ravel(mask)), out);
    return call_built(p, c, weft_compress(mask, flat ? weft_ravel(x) : x, axis), out);
}

static bool run_nonzero(struct parser *p, struct call *c, struct value *out) {
    int axis = 0;
    bool flat;
    weft_expr *x = call_expr(p, c, 0);
    if (!x || !read_axis(p, c, 1, &axis, &flat)) return false;
    flat &= c->row->name[0] == 'f' || weft_expr_rank(x) == 1;
    return call_built(p, c, flat ? weft_flatnonzero(x) : weft_nonzero(x, axis), out);
}

static bool read_number(struct parser *p, const struct value *v, double *out) {
    if (v->kind == V_INT)
        *out = v->negative ? -(double)v->u : (double)v->u;
    else if (v->kind == V_FLOAT)
        *out = v->f;
    else
        return parse_fail(p, v->at, "a number should be here");
    return true;
}

// median(x, axis), quantile(x, q, axis), percentile; nan...: NaN is skipped
static bool run_quantile(struct parser *p, struct call *c, struct value *out) {
    const bool median = strstr(c->row->name, "median") != NULL;
    weft_reduce r = {.size = sizeof r, .nan = c->row->nan};
    int axes[WEFT_MAX_RANK], at = median ? 1 : 2;
    double q = 0.5;
    weft_expr *x = call_expr(p, c, 0);
    if (!x || (!median && c->n < 2)) return x && parse_fail(p, c->who->at, "a quantile wants q");
    if (!median && !read_number(p, &c->arg[1], &q)) return false;
    if (strstr(c->row->name, "percentile")) q /= 100;
    const struct value *axis = c->n > at ? &c->arg[at] : call_has(c, K_AXIS) ? &c->kw[K_AXIS] : NULL;
    if (axis && !call_axes(p, axis, &r, axes)) return false;
    if (call_has(c, K_KEEPDIMS) && !call_truth(p, &c->kw[K_KEEPDIMS], &r.keepdims)) return false;
    return call_built(p, c, weft_quantile(x, q, (weft_quantile_method)word(c, K_METHOD), &r), out);
}

// histogram(x, edges) or histogram(x, n, lo, hi); bin_edges(n, lo, hi)
static bool run_histogram(struct parser *p, struct call *c, struct value *out) {
    const int first = c->row->name[0] == 'h';
    int64_t n = 0;
    double lo = 0, hi = 0;
    weft_expr *x = first ? call_expr(p, c, 0) : NULL, *edges;
    if (first && !x) return false;
    if (first && c->n == 2) {
        edges = call_expr(p, c, 1);
        return edges && call_built(p, c, weft_histogram(x, edges), out);
    }
    if (c->n != first + 3) return parse_fail(p, c->who->at, "bins are edges, or n, lo, hi");
    if (!value_int(p, &c->arg[first], "a number of bins", &n) ||
        !read_number(p, &c->arg[first + 1], &lo) || !read_number(p, &c->arg[first + 2], &hi))
        return false;
    edges = weft_bin_edges(p->graph, n, lo, hi);
    return call_built(p, c, first ? weft_histogram(x, edges) : edges, out);
}

// bincount(x, length, weights), one_hot(x, depth)
static bool run_bins(struct parser *p, struct call *c, struct value *out) {
    int64_t n = 0;
    weft_dtype t = WEFT_F32;
    weft_expr *x = call_expr(p, c, 0), *weights = NULL;
    if (!x || !value_int(p, &c->arg[1], "a number", &n)) return false;
    if (c->row->name[0] == 'o') {
        if (call_given(c, K_DTYPE) && !call_dtype(p, &c->kw[K_DTYPE], &t)) return false;
        return call_built(p, c, weft_one_hot(x, n, t), out);
    }
    if (c->n == 3 && !(weights = call_expr(p, c, 2))) return false;
    return call_built(p, c, weft_bincount(x, weights, n), out);
}

// unpack_bits(bytes, skip, count): bits of bytes, least significant first
static bool run_bits(struct parser *p, struct call *c, struct value *out) {
    int64_t skip = 0, count = 0;
    weft_expr *x = call_expr(p, c, 0);
    return x && value_int(p, &c->arg[1], "a number of bits", &skip) &&
           value_int(p, &c->arg[2], "a number of bits", &count) &&
           call_built(p, c, weft_unpack_bits(x, skip, count), out);
}

static bool run_moveaxis(struct parser *p, struct call *c, struct value *out) {
    int from = 0, to = 0;
    weft_expr *x = call_expr(p, c, 0);
    return x && value_index(p, &c->arg[1], "an axis", &from) &&
           value_index(p, &c->arg[2], "an axis", &to) &&
           call_built(p, c, weft_moveaxis(x, from, to), out);
}

// split(x, n, k, axis): part k of n
static bool run_split(struct parser *p, struct call *c, struct value *out) {
    int axis = 0;
    int64_t n = 0, k = 0;
    weft_expr *x = call_expr(p, c, 0);
    return x && value_int(p, &c->arg[1], "a number of parts", &n) &&
           value_int(p, &c->arg[2], "a part", &k) && call_axis(p, c, 3, K_AXIS, &axis) &&
           call_built(p, c, weft_split(x, axis, n, k), out);
}

// ---- names ------------------------------------------------------------------------------------
#define QUANTILE(name, least, most, nan)                                                           \
    { #name, run_quantile, least, most, KW(AXIS) | KW(KEEPDIMS) | KW(METHOD), {.one = NULL}, nan }
static const struct row rows[] = {
    CALL(take, run_take, 2, 3, KW(AXIS) | KW(MODE)),
    CALL(take_along_axis, run_take, 2, 3, KW(AXIS) | KW(MODE)),
    CALL(scatter, run_scatter, 3, 4, KW(AXIS) | KW(MODE)),
    CALL(scatter_add, run_scatter, 3, 4, KW(AXIS) | KW(MODE)),
    CALL(scatter_min, run_scatter, 3, 4, KW(AXIS) | KW(MODE)),
    CALL(scatter_max, run_scatter, 3, 4, KW(AXIS) | KW(MODE)),
    CALL(put_along_axis, run_scatter, 3, 4, KW(AXIS) | KW(MODE)),
    CALL(put, run_put, 3, 3, KW(MODE)),
    THREE(putmask, putmask),
    THREE(place, place),
    CALL(concatenate, run_join, 1, CALL_ARGS, KW(AXIS)),
    CALL(concat, run_join, 1, CALL_ARGS, KW(AXIS)),
    CALL(stack, run_join, 1, CALL_ARGS, KW(AXIS)),
    CALL(split, run_split, 3, 4, KW(AXIS)),
    CALL(roll, run_roll, 2, 3, KW(AXIS)),
    CALL(pad, run_pad, 2, 2, KW(MODE) | KW(VALUE)),
    CALL(tile, run_tile, 2, CALL_ARGS, 0),
    CALL(repeat, run_counted, 2, 3, KW(AXIS)),
    CALL(sliding_window_view, run_counted, 2, 3, KW(AXIS)),
    CALL(partition, run_counted, 2, 3, KW(AXIS)),
    CALL(argpartition, run_counted, 2, 3, KW(AXIS)),
    CALL(topk, run_counted, 2, 3, KW(AXIS)),
    CALL(moveaxis, run_moveaxis, 3, 3, 0),
    CALL(sort, run_line, 1, 2, KW(AXIS)),
    CALL(argsort, run_line, 1, 2, KW(AXIS)),
    CALL(cumsum, run_line, 1, 2, KW(AXIS)),
    CALL(cumprod, run_line, 1, 2, KW(AXIS)),
    CALL(cummax, run_line, 1, 2, KW(AXIS)),
    CALL(cummin, run_line, 1, 2, KW(AXIS)),
    CALL(searchsorted, run_search, 2, 2, KW(SIDE)),
    CALL(digitize, run_search, 2, 2, KW(RIGHT)),
    CALL(unique, run_unique, 1, 1, 0),
    CALL(compress, run_compress, 2, 3, KW(AXIS)),
    CALL(extract, run_compress, 2, 2, 0),
    CALL(nonzero, run_nonzero, 1, 2, KW(AXIS)),
    CALL(flatnonzero, run_nonzero, 1, 1, 0),
    CALL(histogram, run_histogram, 2, 4, 0),
    CALL(bin_edges, run_histogram, 3, 3, 0),
    CALL(bincount, run_bins, 2, 3, 0),
    CALL(one_hot, run_bins, 2, 2, KW(DTYPE)),
    CALL(unpack_bits, run_bits, 3, 3, 0),
    QUANTILE(median, 1, 2, WEFT_NAN_PROPAGATE),
    QUANTILE(quantile, 2, 3, WEFT_NAN_PROPAGATE),
    QUANTILE(percentile, 2, 3, WEFT_NAN_PROPAGATE),
    QUANTILE(nanmedian, 1, 2, WEFT_NAN_SKIP),
    QUANTILE(nanquantile, 2, 3, WEFT_NAN_SKIP),
    QUANTILE(nanpercentile, 2, 3, WEFT_NAN_SKIP),
};
const struct rows call_indexing = {rows, COUNT_OF(rows)};
