// SPDX-License-Identifier: MIT
// Builders of what needs elements in order, or counts them: sorts, ranks, quantiles, histograms; and scans.
// Quantiles are a sort, two reads and one weighted mean, so that they share the sort with whatever else asks
// for it (one node), and fuse with what follows.
#include <math.h>
#include <stdio.h>

#include "api.h"

// ---- scans -----------------------------------------------------------------------------------------------------
static weft_expr *scan(const char *name, weft_expr *x, int axis, enum ir_op op) {
    if (!x || (axis = api_axis(name, x, axis)) < 0) return NULL;
    const weft_dtype t = weft_expr_dtype(x);
    if (dtype_is_complex(t) && op == IR_R_sum)
        return weft_complex(scan(name, weft_real(x), axis, op), scan(name, weft_imag(x), axis, op));
    if (dtype_is_complex(t))
        return graph_fail(x->g, WEFT_EDTYPE, "scan: of complex numbers only cumsum is defined");
    if (op == IR_R_sum || op == IR_R_prod) {
        if (t == WEFT_BOOL || dtype_is_signed(t)) x = weft_cast(x, WEFT_I64);
        if (dtype_is_unsigned(t)) x = weft_cast(x, WEFT_U64);
    }
    if (dtype_is_half(t)) x = weft_cast(x, WEFT_F32);
    return api_call(IR_scan, &x, (int64_t[]){axis, op - IR_R_sum}, 2);
}
weft_expr *weft_cumsum(weft_expr *x, int axis) { return scan("cumsum", x, axis, IR_R_sum); }
weft_expr *weft_cumprod(weft_expr *x, int axis) { return scan("cumprod", x, axis, IR_R_prod); }
weft_expr *weft_cummax(weft_expr *x, int axis) {
    return x && weft_expr_dtype(x) == WEFT_BOOL ? weft_cast(scan("cummax", x, axis, IR_R_any), WEFT_BOOL)
                                                : scan("cummax", x, axis, IR_R_max);
}
weft_expr *weft_cummin(weft_expr *x, int axis) {
    return x && weft_expr_dtype(x) == WEFT_BOOL ? weft_cast(scan("cummin", x, axis, IR_R_all), WEFT_BOOL)
                                                : scan("cummin", x, axis, IR_R_min);
}

// ---- sorts -----------------------------------------------------------------------------------------------------
static weft_expr *sorted(weft_expr *x, int axis) {
    if (!x || (axis = api_axis("sort", x, axis)) < 0) return NULL;
    return api_call(IR_sort, &x, (int64_t[]){axis}, 1);
}

// Complex numbers: stable sorts by the least important key first, where each part is NaN last of all.
static weft_expr *complex_places(weft_expr *x, int axis) {
    weft_expr *re = weft_real(x), *im = weft_imag(x);
    weft_expr *nans = weft_add(weft_mul(weft_cast(weft_isnan(re), WEFT_U8), weft_int(x->g, 2)),
                               weft_cast(weft_isnan(im), WEFT_U8));
    weft_expr *at = weft_argsort(im, axis);
    at = weft_take_along_axis(at, weft_argsort(weft_take_along_axis(re, at, axis, WEFT_INDEX_CLIP), axis),
                              axis, WEFT_INDEX_CLIP);
    weft_expr *by = weft_take_along_axis(nans, at, axis, WEFT_INDEX_CLIP);
    return weft_take_along_axis(at, weft_argsort(by, axis), axis, WEFT_INDEX_CLIP);
}

static bool is_complex(weft_expr *x) {
    return x && dtype_is_complex(weft_expr_dtype(x));
}

weft_expr *weft_sort(weft_expr *x, int axis) {
    if (!is_complex(x)) return sorted(x, axis);
    return weft_take_along_axis(x, complex_places(x, axis), axis, WEFT_INDEX_CLIP);
}
weft_expr *weft_argsort(weft_expr *x, int axis) {
    return is_complex(x) ? complex_places(x, axis) : api_result(sorted(x, axis), 1);
}

weft_expr *weft_random_permutation(weft_graph *g, weft_stream s, int64_t n) {
    return weft_argsort(weft_random_bits(g, s, WEFT_U64, 1, &n), 0);
}

// The greatest are the least of the array read backwards, read backwards: so ties keep their order.
weft_expr *weft_topk(weft_expr *x, int64_t k, int axis, bool least, weft_expr **places) {
    if (places) *places = NULL;
    if (!x || (axis = api_axis("topk", x, axis)) < 0) return NULL;
    const int64_t n = weft_expr_dims(x)[axis];
    if (k < 0 || k > n) return graph_fail(x->g, WEFT_ESHAPE, "topk: more than there are");
    if (is_complex(x)) return graph_fail(x->g, WEFT_EDTYPE, "topk: not defined for complex numbers");
    x = graph_wrap(x->g, ir_fixed(x->g->ir, "topk", x->ref));
    weft_expr *s = sorted(least ? x : weft_flip(x, axis), axis);
    weft_expr *at = api_result(s, 1);
    if (!least) {
        s = weft_flip(s, axis);
        at = weft_sub(weft_int(x->g, n - 1), weft_flip(at, axis));
    }
    if (places) *places = weft_slice(at, axis, 0, k, 1);
    return weft_slice(s, axis, 0, k, 1);
}

static bool meet(weft_expr **a, weft_expr **b) {
    if (!*a || !*b) return false;
    if ((*a)->g != (*b)->g) {
        graph_fail((*a)->g, WEFT_EINVAL, "operands belong to different graphs");
        return false;
    }
    const weft_dtype t = weft_result_type(weft_expr_dtype(*a), weft_expr_dtype(*b));
    if (dtype_is_complex(t)) {
        graph_fail((*a)->g, WEFT_EDTYPE, "search: complex numbers are sorted, but not searched for");
        return false;
    }
    *a = weft_cast(*a, t);
    *b = weft_cast(*b, t);
    return *a && *b;
}

weft_expr *weft_searchsorted(weft_expr *at, weft_expr *v, bool right) {
    if (!meet(&at, &v)) return NULL;
    return api_call(IR_search, (weft_expr *[]){at, v}, (int64_t[]){right}, 1);
}
weft_expr *weft_digitize(weft_expr *x, weft_expr *bins, bool right) {
    return weft_searchsorted(bins, x, !right);
}

static weft_expr *part_of(weft_expr *u, int k) {
    weft_expr *p = api_result(u, k), *count = api_result(u, 1);
    return p && count ? graph_wrap(p->g, ir_trim(p->g->ir, p->ref, count->ref, 0)) : NULL;
}

weft_expr *weft_unique(weft_expr *x, weft_unique_parts *parts) {
    if (parts) *parts = (weft_unique_parts){NULL, NULL, NULL};
    if (!x) return NULL;
    if (is_complex(x)) return graph_fail(x->g, WEFT_EDTYPE, "unique: not defined for complex numbers");
    weft_expr *s = sorted(weft_ravel(x), 0), *at = api_result(s, 1);
    weft_expr *u = s && at ? api_call(IR_unique, (weft_expr *[]){s, at}, NULL, 0) : NULL;
    if (parts && u) {
        parts->index = part_of(u, 2);
        parts->count = part_of(u, 3);
        parts->inverse = api_result(u, 4);
    }
    return part_of(u, 0);
}

// ---- quantiles -------------------------------------------------------------------------------------------------
struct quantile {
    weft_expr *x; // the run as the last axis
    int rank;     // axes that stay, in their order; and where the reduced ones were
    bool gone[WEFT_MAX_RANK];
    const weft_reduce *r;
};

static bool gather_run(weft_expr *x, const weft_reduce *r, struct quantile *q) {
    static const weft_reduce all = {.size = sizeof all};
    const int rank = weft_expr_rank(x);
    int perm[WEFT_MAX_RANK], n = 0;
    int64_t dims[WEFT_MAX_RANK + 1], run = 1;
    *q = (struct quantile){.r = r ? r : &all};
    if (q->r->size != sizeof *r)
        return graph_fail(x->g, WEFT_EINVAL, "quantile: size is not sizeof(weft_reduce)");
    for (int i = 0; q->r->axes && i < q->r->naxes; i++) {
        const int axis = api_axis("quantile", x, q->r->axes[i]);
        if (axis < 0) return false;
        if (q->gone[axis]) return graph_fail(x->g, WEFT_EINVAL, "quantile: an axis is given twice");
        q->gone[axis] = true;
    }
    for (int i = 0; i < rank; i++) {
        if (!q->r->axes) q->gone[i] = true;
        if (q->gone[i]) continue;
        dims[q->rank++] = weft_expr_dims(x)[i];
        perm[n++] = i;
    }
    for (int i = 0; i < rank; i++)
        if (q->gone[i]) {
            run *= weft_expr_dims(x)[i];
            perm[n++] = i;
        }
    dims[q->rank] = run;
    x = graph_wrap(x->g, ir_fixed(x->g->ir, "quantile", x->ref));
    q->x = weft_reshape(weft_transpose(x, perm), q->rank + 1, dims);
    return q->x != NULL;
}

// Into the shape that a reduction has.
static weft_expr *settle(const struct quantile *q, weft_expr *y, int rank) {
    for (int i = 0; q->r->keepdims && i < rank; i++)
        if (q->gone[i]) y = weft_expand_dims(y, i);
    return y;
}

// Hyndman and Fan, "Sample quantiles in statistical packages", 1996: the place of q among n, as NumPy.
static weft_expr *place_of(weft_expr *n, double q, weft_quantile_method m) {
    static const double alpha[] = {[WEFT_QUANTILE_HAZEN] = 0.5,
                                   [WEFT_QUANTILE_WEIBULL] = 0,
                                   [WEFT_QUANTILE_MEDIAN_UNBIASED] = 1.0 / 3,
                                   [WEFT_QUANTILE_NORMAL_UNBIASED] = 3.0 / 8};
    weft_graph *g = n->g;
    weft_expr *one = weft_float(g, 1);
    if (m < WEFT_QUANTILE_HAZEN) return weft_mul(weft_sub(n, one), weft_float(g, q));
    const double a = alpha[m];
    weft_expr *at = weft_add(weft_mul(n, weft_float(g, q)), weft_float(g, a + q * (1 - a - a)));
    return weft_sub(at, one);
}

// The elements at the whole places lo and hi of each line, lerped as NumPy does.
static weft_expr *between(const struct quantile *q, weft_expr *s, weft_expr *at, weft_expr *last,
                          weft_quantile_method m) {
    weft_graph *g = s->g;
    const weft_dtype t = weft_expr_dtype(s);
    weft_expr *zero = weft_float(g, 0);
    if (m == WEFT_QUANTILE_LOWER) at = weft_floor(at);
    if (m == WEFT_QUANTILE_HIGHER) at = weft_ceil(at);
    if (m == WEFT_QUANTILE_NEAREST) at = weft_round(at);
    if (m == WEFT_QUANTILE_MIDPOINT)
        at = weft_mul(weft_add(weft_floor(at), weft_ceil(at)), weft_float(g, 0.5));
    at = weft_maximum(weft_minimum(at, last), zero);
    weft_expr *lo = weft_floor(at);
    weft_expr *part = weft_cast(weft_sub(at, lo), t);
    weft_expr *hi = weft_minimum(weft_add(lo, weft_float(g, 1)), weft_maximum(last, zero));
    weft_expr *ilo = weft_expand_dims(weft_cast(lo, WEFT_I64), -1);
    weft_expr *ihi = weft_expand_dims(weft_cast(hi, WEFT_I64), -1);
    weft_expr *a, *b;
    if (weft_expr_rank(lo) == 0) { // the same place in every line
        a = weft_take(s, weft_cast(lo, WEFT_I64), -1, WEFT_INDEX_CLIP);
        b = weft_take(s, weft_cast(hi, WEFT_I64), -1, WEFT_INDEX_CLIP);
    } else {
        a = weft_squeeze(weft_take_along_axis(s, ilo, -1, WEFT_INDEX_CLIP), -1);
        b = weft_squeeze(weft_take_along_axis(s, ihi, -1, WEFT_INDEX_CLIP), -1);
    }
    (void)q;
    weft_expr *d = weft_sub(b, a), *one = weft_float(g, 1);
    weft_expr *up = weft_add(a, weft_mul(d, part));
    weft_expr *down = weft_sub(b, weft_mul(d, weft_sub(one, part)));
    weft_expr *mean = weft_where(weft_greater_equal(part, weft_float(g, 0.5)), down, up);
    return weft_where(weft_equal(a, b), a, mean); // two infinities have no difference
}

static weft_expr *quantile(weft_expr *x, double at, weft_quantile_method m, const weft_reduce *r) {
    struct quantile q;
    if (!x) return NULL;
    const int rank = weft_expr_rank(x);
    const weft_dtype t = weft_expr_dtype(x);
    if (!(at >= 0 && at <= 1) || (unsigned)m > WEFT_QUANTILE_NORMAL_UNBIASED)
        return graph_fail(x->g, WEFT_EINVAL, "quantile: q is in 0 to 1");
    if (dtype_is_complex(t))
        return graph_fail(x->g, WEFT_EDTYPE, "quantile: complex numbers have no order");
    if (!dtype_is_float(t)) x = weft_cast(x, WEFT_F64);
    if (!x || !gather_run(x, r, &q)) return NULL;
    const int64_t n = weft_expr_dims(q.x)[q.rank];
    weft_graph *g = x->g;
    const double nan = NAN;
    weft_expr *none = weft_cast(weft_scalar(g, WEFT_F64, &nan), weft_expr_dtype(x));
    if (n == 0) return settle(&q, weft_broadcast_to(none, q.rank, weft_expr_dims(q.x)), rank);
    weft_expr *s = sorted(q.x, -1), *count;
    weft_expr *bad = weft_isnan(weft_index(s, -1, n - 1));
    const bool skip = q.r->nan == WEFT_NAN_SKIP;
    if (skip) {
        weft_expr *fine = weft_cast(weft_logical_not(weft_isnan(q.x)), WEFT_F64);
        count = weft_sum(fine, &(weft_reduce){.size = sizeof(weft_reduce), .axes = (int[]){-1}, .naxes = 1});
        bad = weft_equal(count, weft_float(g, 0));
    } else {
        count = weft_scalar(g, WEFT_F64, &(double){(double)n});
    }
    if (!count) return NULL;
    weft_expr *last = weft_sub(count, weft_float(g, 1));
    weft_expr *y = between(&q, s, place_of(count, at, m), last, m);
    return settle(&q, weft_where(bad, none, y), rank);
}

weft_expr *weft_quantile(weft_expr *x, double q, weft_quantile_method method, const weft_reduce *r) {
    return quantile(x, q, method, r);
}
weft_expr *weft_median(weft_expr *x, const weft_reduce *r) {
    return quantile(x, 0.5, WEFT_QUANTILE_LINEAR, r);
}

// ---- counts ----------------------------------------------------------------------------------------------------
weft_expr *weft_bin_edges(weft_graph *g, int64_t n, double lo, double hi) {
    if (!g) return NULL;
    if (n < 1 || n == INT64_MAX || !isfinite(lo) || !isfinite(hi) || lo > hi)
        return graph_fail(g, WEFT_EINVAL, "bin_edges: one bin or more, from lo up to hi");
    if (lo == hi) lo -= 0.5, hi += 0.5; // as numpy.histogram
    const int64_t points = n + 1;
    weft_expr *i = weft_iota(g, WEFT_F64, 1, &points, 0);
    weft_expr *e = weft_add(weft_mul(i, weft_scalar(g, WEFT_F64, &(double){(hi - lo) / (double)n})),
                            weft_scalar(g, WEFT_F64, &lo));
    weft_expr *end = weft_equal(i, weft_scalar(g, WEFT_F64, &(double){(double)n}));
    return weft_where(end, weft_scalar(g, WEFT_F64, &hi), e);
}

weft_expr *weft_histogram(weft_expr *x, weft_expr *edges) {
    if (!meet(&x, &edges)) return NULL;
    if (dtype_is_complex(weft_expr_dtype(x)))
        return graph_fail(x->g, WEFT_EDTYPE, "histogram: complex numbers have no order");
    return api_call(IR_histogram, (weft_expr *[]){x, edges}, NULL, 0);
}

weft_expr *weft_bincount(weft_expr *x, weft_expr *weights, int64_t length) {
    if (!x) return NULL;
    if (length < 0) return graph_fail(x->g, WEFT_EINVAL, "bincount: a negative length");
    const weft_scatter_opts o = {sizeof o, 0, WEFT_SCATTER_ADD, WEFT_INDEX_RAISE};
    weft_expr *one = weft_scalar(x->g, WEFT_I64, &(int64_t){1});
    weft_expr *v = weights ? weft_cast(weft_ravel(weights), WEFT_F64) : one;
    weft_expr *zero = weft_scalar(x->g, weights ? WEFT_F64 : WEFT_I64, &(int64_t){0});
    // from the front only: a count of -1 is a mistake, not the last bin
    weft_expr *i = weft_ravel(x);
    if (!dtype_is_unsigned(weft_expr_dtype(x)))
        i = weft_where(weft_less(i, weft_int(x->g, 0)), weft_int(x->g, INT64_MIN), weft_cast(i, WEFT_I64));
    return weft_scatter(weft_broadcast_to(zero, 1, &length), i, v, &o);
}
