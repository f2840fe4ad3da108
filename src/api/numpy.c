// SPDX-License-Identifier: MIT
// Builders of what NumPy's users reach for and the operations make up: sets, signals, weighted means. In: expressions;
// out: a few public builders each, so that they fuse and reproduce as those do. NULL is passed on by them.
#include <math.h>

#include "api.h"

static bool same(weft_expr *a, weft_expr *b) {
    if (!a || !b || a->g == b->g) return a && b;
    graph_fail(a->g, WEFT_EINVAL, "operands belong to different graphs");
    return false;
}

static int64_t extent(weft_expr *x, int axis) {
    return weft_expr_dims(x)[axis < 0 ? axis + weft_expr_rank(x) : axis];
}

static bool is_line(weft_expr *x, const char *sentence) {
    return weft_expr_rank(x) == 1 || graph_fail(x->g, WEFT_ESHAPE, sentence);
}

static bool is_complex(weft_expr *x) {
    return x && dtype_is_complex(weft_expr_dtype(x));
}

// ---- scans -----------------------------------------------------------------------------------------------------
static weft_expr *begun(weft_expr *scan, int axis, int64_t with) {
    int64_t dims[WEFT_MAX_RANK];
    if (!scan || (axis = api_axis("cumulative", scan, axis)) < 0) return NULL;
    const int rank = weft_expr_rank(scan);
    for (int i = 0; i < rank; i++)
        dims[i] = i == axis ? 1 : extent(scan, i);
    weft_expr *first = weft_cast(weft_int(scan->g, with), weft_expr_dtype(scan));
    return weft_concat(2, (weft_expr *[]){weft_broadcast_to(first, rank, dims), scan}, axis);
}
weft_expr *weft_cumulative_sum(weft_expr *x, int axis, bool initial) {
    weft_expr *y = weft_cumsum(x, axis);
    return initial ? begun(y, axis, 0) : y;
}
weft_expr *weft_cumulative_prod(weft_expr *x, int axis, bool initial) {
    weft_expr *y = weft_cumprod(x, axis);
    return initial ? begun(y, axis, 1) : y;
}

static weft_expr *without_nan(weft_expr *x, int64_t instead) {
    if (!x || !dtype_is_float(weft_expr_dtype(x))) return x;
    return weft_where(weft_isnan(x), weft_int(x->g, instead), x);
}
weft_expr *weft_nancumsum(weft_expr *x, int axis) {
    return weft_cumsum(without_nan(x, 0), axis);
}
weft_expr *weft_nancumprod(weft_expr *x, int axis) {
    return weft_cumprod(without_nan(x, 1), axis);
}

// ---- sets ------------------------------------------------------------------------------------------------------
enum { FEW = 16 }; // elements that are compared with faster than sorted and searched

weft_expr *weft_isin(weft_expr *x, weft_expr *set) {
    const weft_reduce last = {.size = sizeof last, .axes = (int[]){-1}, .naxes = 1};
    if (!same(x, set) || !(set = weft_ravel(set))) return NULL;
    const int64_t n = extent(set, 0);
    if (n <= FEW || is_complex(x) || is_complex(set)) return weft_any(weft_equal(weft_expand_dims(x, -1), set), &last);
    const weft_dtype t = weft_result_type(weft_expr_dtype(x), weft_expr_dtype(set));
    weft_expr *s = weft_sort(weft_cast(set, t), 0);
    x = weft_cast(x, t);
    return weft_equal(weft_take(s, weft_searchsorted(s, x, false), 0, WEFT_INDEX_CLIP), x);
}

// The elements of u, a result of unique, where mask holds: behind the actual extent nothing does.
static weft_expr *those(weft_expr *u, weft_expr *mask) {
    if (!same(u, mask)) return NULL;
    const int64_t n = extent(u, 0);
    weft_expr *there = weft_less(weft_iota(u->g, WEFT_I64, 1, &n, 0), weft_count_of(u));
    return weft_compress(weft_logical_and(mask, there), u, 0);
}
weft_expr *weft_union1d(weft_expr *a, weft_expr *b) {
    if (!same(a, b)) return NULL;
    return weft_unique(weft_concat(2, (weft_expr *[]){weft_ravel(a), weft_ravel(b)}, 0), NULL);
}
weft_expr *weft_intersect1d(weft_expr *a, weft_expr *b) {
    if (!same(a, b)) return NULL;
    const weft_dtype t = weft_result_type(weft_expr_dtype(a), weft_expr_dtype(b));
    weft_expr *u = weft_unique(weft_cast(a, t), NULL);
    return those(u, weft_isin(u, b));
}
weft_expr *weft_setdiff1d(weft_expr *a, weft_expr *b) {
    if (!same(a, b)) return NULL;
    weft_expr *u = weft_unique(a, NULL);
    return those(u, weft_logical_not(weft_isin(u, b)));
}
weft_expr *weft_setxor1d(weft_expr *a, weft_expr *b) {
    weft_expr *u = weft_union1d(a, b);
    return u ? those(u, weft_logical_not(weft_logical_and(weft_isin(u, a), weft_isin(u, b)))) : NULL;
}

weft_expr *weft_argwhere(weft_expr *x) {
    weft_expr *at[WEFT_MAX_RANK], *count = NULL;
    if (!x) return NULL;
    const int rank = weft_expr_rank(x);
    if (!rank) return graph_fail(x->g, WEFT_ESHAPE, "argwhere: one number has no axes");
    for (int i = 0; i < rank; i++)
        if (!(at[i] = weft_nonzero(x, i))) return NULL;
    if (!(count = weft_count_of(at[0]))) return NULL;
    weft_expr *all = weft_stack(rank, at, 1);
    return all ? graph_wrap(x->g, ir_trim(x->g->ir, all->ref, count->ref, 0)) : NULL;
}

weft_expr *weft_lexsort(int n, weft_expr *const *keys, int axis) {
    if (n < 1 || !keys || !keys[0]) return NULL;
    weft_expr *at = weft_argsort(keys[0], axis);
    for (int k = 1; k < n && at; k++) { // the least important first: later sorts are stable
        if (!same(keys[0], keys[k])) return NULL;
        if (weft_expr_rank(keys[k]) != weft_expr_rank(keys[0]))
            return graph_fail(at->g, WEFT_ESHAPE, "lexsort: shapes differ");
        for (int d = 0; d < weft_expr_rank(keys[0]); d++)
            if (extent(keys[k], d) != extent(keys[0], d)) return graph_fail(at->g, WEFT_ESHAPE, "lexsort: shapes differ");
        weft_expr *by = weft_take_along_axis(keys[k], at, axis, WEFT_INDEX_CLIP);
        at = weft_take_along_axis(at, weft_argsort(by, axis), axis, WEFT_INDEX_CLIP);
    }
    return at;
}

// ---- signals -----------------------------------------------------------------------------------------------------
// sum of a[i + k] v[k], a the longer one, with as many zeros around a as the mode asks for.
static weft_expr *slide(weft_expr *a, weft_expr *v, weft_overlap mode) {
    const weft_reduce last = {.size = sizeof last, .axes = (int[]){-1}, .naxes = 1};
    const weft_dtype t = weft_result_type(weft_expr_dtype(a), weft_expr_dtype(v));
    const int64_t m = extent(v, 0), all = mode == WEFT_OVERLAP_VALID ? 0 : m - 1;
    const int64_t before = mode == WEFT_OVERLAP_SAME ? m / 2 : all;
    const int64_t after = mode == WEFT_OVERLAP_SAME ? all - before : all;
    a = weft_cast(a, t), v = weft_cast(v, t);
    if (!a) return NULL;
    a = weft_pad(a, &(weft_padding){.size = sizeof(weft_padding), .before = &before, .after = &after});
    return weft_cast(weft_sum(weft_mul(weft_sliding_windows(a, 0, m), v), &last), t);
}

static weft_expr *overlap(weft_expr *a, weft_expr *v, weft_overlap mode, bool turned) {
    if (!same(a, v) || !is_line(a, "convolve: an operand is not 1-d") || !is_line(v, "convolve: an operand is not 1-d"))
        return NULL;
    if ((unsigned)mode > WEFT_OVERLAP_VALID) return graph_fail(a->g, WEFT_EINVAL, "convolve: no such mode");
    if (!extent(a, 0) || !extent(v, 0)) return graph_fail(a->g, WEFT_ESHAPE, "convolve: an operand is empty");
    a = graph_wrap(a->g, ir_fixed(a->g->ir, "convolve", a->ref));
    v = graph_wrap(v->g, ir_fixed(v->g->ir, "convolve", v->ref));
    if (!a || !v) return NULL;
    if (extent(a, 0) >= extent(v, 0)) return slide(a, turned ? weft_flip(v, 0) : v, mode);
    return turned ? slide(v, weft_flip(a, 0), mode) : weft_flip(slide(v, a, mode), 0);
}
weft_expr *weft_convolve(weft_expr *a, weft_expr *v, weft_overlap mode) {
    return overlap(a, v, mode, true);
}
weft_expr *weft_correlate(weft_expr *a, weft_expr *v, weft_overlap mode) {
    return overlap(a, is_complex(v) ? weft_conj(v) : v, mode, false);
}

weft_expr *weft_interp(weft_expr *x, weft_expr *xp, weft_expr *fp) {
    if (!same(x, xp) || !same(x, fp) || !is_line(xp, "interp: the places are not 1-d") || !is_line(fp, "interp: the values are not 1-d"))
        return NULL;
    const int64_t n = extent(xp, 0);
    if (n < 1 || extent(fp, 0) != n) return graph_fail(x->g, WEFT_ESHAPE, "interp: as many values as places, one or more");
    if (is_complex(x) || is_complex(xp) || is_complex(fp))
        return graph_fail(x->g, WEFT_EDTYPE, "interp: not defined for complex numbers");
    weft_graph *g = x->g;
    xp = graph_wrap(g, ir_fixed(g->ir, "interp", xp->ref));
    x = weft_cast(x, WEFT_F64), xp = weft_cast(xp, WEFT_F64), fp = weft_cast(fp, WEFT_F64);
    weft_expr *k = weft_sub(weft_searchsorted(xp, x, true), weft_int(g, 1)), *k1 = weft_add(k, weft_int(g, 1));
    weft_expr *x0 = weft_take(xp, k, 0, WEFT_INDEX_CLIP), *x1 = weft_take(xp, k1, 0, WEFT_INDEX_CLIP);
    weft_expr *f0 = weft_take(fp, k, 0, WEFT_INDEX_CLIP), *f1 = weft_take(fp, k1, 0, WEFT_INDEX_CLIP);
    weft_expr *slope = weft_true_divide(weft_sub(f1, f0), weft_sub(x1, x0));
    weft_expr *y = weft_add(weft_mul(slope, weft_sub(x, x0)), f0);
    weft_expr *inside = weft_logical_and(weft_greater_equal(k, weft_int(g, 0)), weft_less(k, weft_int(g, n - 1)));
    y = weft_where(weft_logical_and(inside, weft_not_equal(x, x0)), y, f0); // f0 is the end's outside
    return weft_where(weft_isnan(x), x, y);
}

weft_expr *weft_gradient(weft_expr *x, double dx, int axis) {
    if (!x || (axis = api_axis("gradient", x, axis)) < 0) return NULL;
    if (extent(x, axis) < 2) return graph_fail(x->g, WEFT_ESHAPE, "gradient: an axis of 2 elements or more");
    if (!dtype_is_float(weft_expr_dtype(x)) && !is_complex(x)) x = weft_cast(x, WEFT_F64);
    if (!x || !(x = graph_wrap(x->g, ir_fixed(x->g->ir, "gradient", x->ref)))) return NULL;
    const int64_t n = extent(x, axis);
    weft_expr *step = weft_float(x->g, dx), *two = weft_float(x->g, 2 * dx);
    weft_expr *first = weft_sub(weft_slice(x, axis, 1, 2, 1), weft_slice(x, axis, 0, 1, 1));
    weft_expr *last = weft_sub(weft_slice(x, axis, n - 1, n, 1), weft_slice(x, axis, n - 2, n - 1, 1));
    weft_expr *mid = weft_sub(weft_slice(x, axis, 2, n, 1), weft_slice(x, axis, 0, n - 2, 1));
    return weft_concat(3, (weft_expr *[]){weft_true_divide(first, step), weft_true_divide(mid, two), weft_true_divide(last, step)}, axis);
}

// ---- statistics ----------------------------------------------------------------------------------------------------
weft_expr *weft_average(weft_expr *x, weft_expr *weights, const weft_reduce *r) {
    if (!weights) return weft_mean(x, r);
    if (!same(x, weights)) return NULL;
    if (weft_expr_rank(weights) == 1 && r && r->axes && r->naxes == 1) { // along that axis
        const int axis = api_axis("average", x, r->axes[0]);
        if (axis < 0) return NULL;
        for (int d = axis + 1; weights && d < weft_expr_rank(x); d++)
            weights = weft_expand_dims(weights, -1);
    }
    const int rank = weft_expr_rank(x);
    weft_expr *w = weft_broadcast_to(weights, rank, weft_expr_dims(x));
    weft_expr *wx = weft_mul(x, w);
    const weft_dtype t = wx ? weft_expr_dtype(wx) : WEFT_F64;
    if (wx && !dtype_is_float(t) && !dtype_is_complex(t)) wx = weft_cast(wx, WEFT_F64), w = weft_cast(w, WEFT_F64);
    return weft_true_divide(weft_sum(wx, r), weft_sum(w, r));
}

weft_expr *weft_cov(weft_expr *x, double ddof) {
    const weft_reduce kept = {.size = sizeof kept, .axes = (int[]){-1}, .naxes = 1, .keepdims = true};
    if (!x) return NULL;
    if (weft_expr_rank(x) > 2 || !weft_expr_rank(x)) return graph_fail(x->g, WEFT_ESHAPE, "cov: a matrix or a vector");
    if (weft_expr_rank(x) == 1) x = weft_expand_dims(x, 0);
    if (x && !is_complex(x)) x = weft_cast(x, WEFT_F64);
    if (!x || !(x = graph_wrap(x->g, ir_fixed(x->g->ir, "cov", x->ref)))) return NULL;
    weft_expr *d = weft_sub(x, weft_mean(x, &kept)), *other = is_complex(d) ? weft_conj(d) : d;
    const double n = (double)extent(x, 1) - ddof;
    weft_expr *c = weft_true_divide(weft_matmul(d, weft_swap_axes(other, 0, 1)), weft_float(x->g, n > 0 ? n : 0));
    return c && extent(c, 0) == 1 ? weft_reshape(c, 0, NULL) : c;
}

weft_expr *weft_corrcoef(weft_expr *x) {
    weft_expr *c = weft_cov(x, 1);
    if (!c || !weft_expr_rank(c)) return c ? weft_true_divide(c, c) : NULL;
    weft_expr *s = weft_sqrt(weft_real(weft_diagonal(c, 0, 0, 1)));
    c = weft_true_divide(weft_true_divide(c, weft_expand_dims(s, 1)), s);
    if (is_complex(c)) return c;
    return c ? weft_clip(c, weft_float(c->g, -1), weft_float(c->g, 1)) : NULL;
}
