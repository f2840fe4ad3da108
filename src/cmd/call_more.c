// SPDX-License-Identifier: MIT
// Further names that NumPy users type, each a few builders of the public header: arrays like others, stacks by
// direction, comparisons of whole arrays, norms and inverses of matrices, what goes around transforms.
#include "call.h"

#include <string.h>

static const weft_reduce last_axis = {.size = sizeof last_axis, .axes = (int[]){-1}, .naxes = 1};
static const weft_reduce last_two = {.size = sizeof last_two, .axes = (int[]){-2, -1}, .naxes = 2};
static const weft_reduce kept = {.size = sizeof kept, .axes = (int[]){-1}, .naxes = 1, .keepdims = true};

// ---- like another ---------------------------------------------------------------------------------------------
static weft_expr *filled(weft_expr *x, weft_expr *v) {
    return x && v ? weft_broadcast_to(weft_cast(v, weft_expr_dtype(x)), weft_expr_rank(x), weft_expr_dims(x)) : NULL;
}
static bool run_like(struct parser *p, struct call *c, struct value *out) {
    const bool full = c->row->name[0] == 'f';
    weft_expr *x = call_expr(p, c, 0), *v = full ? call_expr(p, c, 1) : weft_int(p->graph, c->row->name[0] == 'o');
    weft_dtype t;
    if (!x || !v) return false;
    if (call_given(c, K_DTYPE)) {
        if (!call_dtype(p, &c->kw[K_DTYPE], &t)) return false;
        v = weft_broadcast_to(weft_cast(v, t), weft_expr_rank(x), weft_expr_dims(x));
        return call_built(p, c, v, out);
    }
    return call_built(p, c, filled(x, v), out);
}

// ---- pieces ---------------------------------------------------------------------------------------------------
static weft_expr *transposed(weft_expr *x) { return weft_swap_axes(x, -2, -1); }
static weft_expr *left_to_right(weft_expr *x) { return weft_flip(x, 1); }
static weft_expr *up_to_down(weft_expr *x) { return weft_flip(x, 0); }
static weft_expr *quarter_turn(weft_expr *x) { return weft_swap_axes(weft_flip(x, 1), 0, 1); }

static weft_expr *at_least(weft_expr *x, int rank, bool behind) {
    while (x && weft_expr_rank(x) < rank)
        x = weft_expand_dims(x, behind ? -1 : 0);
    return x;
}
// vstack: along axis 0 of rows; hstack: along axis 1, vectors along 0; dstack: along axis 2; column_stack: vectors as columns
static bool run_stack(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x[CALL_ARGS];
    const char kind = c->row->name[0];
    int axis = kind == 'v' ? 0 : kind == 'd' ? 2 : 1;
    for (int i = 0; i < c->n; i++) {
        if (!(x[i] = call_expr(p, c, i))) return false;
        const int rank = weft_expr_rank(x[i]);
        if (kind == 'h' && rank < 2) axis = 0;
        x[i] = kind == 'h' ? at_least(x[i], 1, false) : kind == 'c' ? at_least(at_least(x[i], 1, false), 2, true) : at_least(x[i], 2, false);
        if (kind == 'd') x[i] = at_least(x[i], 3, true);
    }
    return call_built(p, c, weft_concat(c->n, x, axis), out);
}
// meshgrid(x, y): the rows of x for each of y, and the columns of y for each of x
static bool run_meshgrid(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x = weft_ravel(call_expr(p, c, 0)), *y = x ? weft_ravel(call_expr(p, c, 1)) : NULL;
    if (!x || !y) return false;
    const int64_t dims[2] = {weft_expr_dims(y)[0], weft_expr_dims(x)[0]};
    return call_several(p, c, out, 2, (weft_expr *[]){weft_broadcast_to(x, 2, dims), weft_broadcast_to(weft_expand_dims(y, 1), 2, dims)});
}

// ---- whole arrays ---------------------------------------------------------------------------------------------
static bool run_equal(struct parser *p, struct call *c, struct value *out) {
    weft_expr *a = call_expr(p, c, 0), *b = call_expr(p, c, 1);
    if (!a || !b) return false;
    bool same = weft_expr_rank(a) == weft_expr_rank(b);
    for (int i = 0; same && i < weft_expr_rank(a); i++)
        same = weft_expr_dims(a)[i] == weft_expr_dims(b)[i];
    return call_built(p, c, same ? weft_all(weft_equal(a, b), NULL) : weft_scalar(p->graph, WEFT_BOOL, &same), out);
}
static weft_expr *vecdot(weft_expr *a, weft_expr *b) { return weft_sum(weft_mul(weft_conj(a), b), &last_axis); }

// ---- matrices -------------------------------------------------------------------------------------------------
static weft_expr *matrix_norm(weft_expr *x) { return weft_sqrt(weft_sum(weft_square(weft_abs(x)), &last_two)); }
static bool run_pinv(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x = call_expr(p, c, 0), *u = NULL, *s = NULL, *vt = NULL;
    if (x) weft_svd(x, false, &u, &s, &vt);
    if (!u || !s || !vt) return call_built(p, c, NULL, out);
    weft_expr *large = weft_greater(s, weft_mul(weft_max(s, &kept), weft_float(p->graph, 1e-15)));
    weft_expr *inverse = weft_where(large, weft_reciprocal(s), weft_float(p->graph, 0));
    return call_built(p, c, weft_matmul(weft_mul(transposed(vt), weft_expand_dims(inverse, -2)), transposed(u)), out);
}
static bool run_rank(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x = call_expr(p, c, 0), *s = NULL;
    if (x) weft_svd(x, false, NULL, &s, NULL);
    if (!s) return call_built(p, c, NULL, out);
    const int64_t *d = weft_expr_dims(x) + weft_expr_rank(x) - 2;
    const double eps = weft_expr_dtype(s) == WEFT_F32 ? 0x1p-23 : 0x1p-52;
    weft_expr *least = weft_mul(weft_max(s, &kept), weft_float(p->graph, eps * (double)(d[0] > d[1] ? d[0] : d[1])));
    return call_built(p, c, weft_count_nonzero(weft_greater(s, least), &last_axis), out);
}

// ---- sets, signals, statistics ---------------------------------------------------------------------------------
static bool run_argwhere(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x = call_expr(p, c, 0);
    return x && call_built(p, c, weft_argwhere(x), out);
}
// cumulative_sum(x, axis, include_initial) and its kin; without an axis of the flattened array
static bool run_cumulative(struct parser *p, struct call *c, struct value *out) {
    int axis = 0;
    bool first = false;
    const bool sum = strstr(c->row->name, "sum") != NULL, nan = c->row->name[0] == 'n';
    weft_expr *x = call_expr(p, c, 0);
    if (!x || !call_axis(p, c, 1, K_AXIS, &axis)) return false;
    if (c->n < 2 && !call_given(c, K_AXIS)) x = weft_ravel(x);
    if (call_has(c, K_INITIAL) && !call_truth(p, &c->kw[K_INITIAL], &first)) return false;
    if (nan) return call_built(p, c, (sum ? weft_nancumsum : weft_nancumprod)(x, axis), out);
    return call_built(p, c, (sum ? weft_cumulative_sum : weft_cumulative_prod)(x, axis, first), out);
}
// lexsort(k0, k1, ..., axis=-1): the last key is the first that counts
static bool run_lexsort(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x[CALL_ARGS];
    int axis = -1;
    for (int i = 0; i < c->n; i++)
        if (!(x[i] = call_expr(p, c, i))) return false;
    return call_axis(p, c, CALL_ARGS, K_AXIS, &axis) && call_built(p, c, weft_lexsort(c->n, x, axis), out);
}
// convolve(a, v, 'full'), correlate(a, v, 'valid')
static bool run_overlap(struct parser *p, struct call *c, struct value *out) {
    static const char *const words[] = {"full", "same", "valid"};
    const bool convolve = c->row->name[2] == 'n';
    int mode = convolve ? WEFT_OVERLAP_FULL : WEFT_OVERLAP_VALID;
    weft_expr *a = call_expr(p, c, 0), *v = a ? call_expr(p, c, 1) : NULL;
    if (!v) return false;
    if (c->n > 2) {
        const struct value *w = &c->arg[2];
        for (mode = 0; mode < 3; mode++)
            if (w->kind == V_TEXT && w->len == strlen(words[mode]) && !memcmp(p->text + w->at + 1, words[mode], w->len)) break;
        if (mode == 3) return parse_fail(p, w->at, "the mode is 'full', 'same' or 'valid'");
    }
    return call_built(p, c, (convolve ? weft_convolve : weft_correlate)(a, v, (weft_overlap)mode), out);
}
// gradient(x, dx=1, axis): without an axis x has one
static bool run_gradient(struct parser *p, struct call *c, struct value *out) {
    double dx = 1;
    int axis = 0;
    weft_expr *x = call_expr(p, c, 0);
    if (!x || (c->n > 1 && !call_number(p, &c->arg[1], &dx)) || !call_axis(p, c, 2, K_AXIS, &axis)) return false;
    if (c->n < 3 && !call_given(c, K_AXIS) && weft_expr_rank(x) != 1)
        return parse_fail(p, c->who->at, "gradient wants an axis of an array of rank %d", weft_expr_rank(x));
    return call_built(p, c, weft_gradient(x, dx, axis), out);
}
// average(x, weights, axis)
static bool run_average(struct parser *p, struct call *c, struct value *out) {
    weft_reduce r = {.size = sizeof r};
    int axes[WEFT_MAX_RANK];
    weft_expr *x = call_expr(p, c, 0), *w = x && c->n > 1 ? call_expr(p, c, 1) : NULL;
    const struct value *axis = c->n > 2 ? &c->arg[2] : call_has(c, K_AXIS) ? &c->kw[K_AXIS] : NULL;
    if (!x || (c->n > 1 && !w) || (axis && !call_axes(p, axis, &r, axes))) return false;
    return call_built(p, c, weft_average(x, w, &r), out);
}
static bool run_cov(struct parser *p, struct call *c, struct value *out) {
    double ddof = 1;
    weft_expr *x = call_expr(p, c, 0);
    if (!x || (call_has(c, K_DDOF) && !call_number(p, &c->kw[K_DDOF], &ddof))) return false;
    return call_built(p, c, weft_cov(x, ddof), out);
}
static weft_expr *flat_diff(weft_expr *x) { return weft_diff(weft_ravel(x), 1, 0); }

// ---- around transforms ----------------------------------------------------------------------------------------
static bool run_shift(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x = call_expr(p, c, 0);
    const bool back = c->row->name[0] == 'i';
    for (int d = 0, rank = x ? weft_expr_rank(x) : 0; x && d < rank; d++)
        x = weft_roll(x, back ? -(weft_expr_dims(x)[d] / 2) : weft_expr_dims(x)[d] / 2, d);
    return call_built(p, c, x, out);
}
// fftfreq(n, d=1.0), rfftfreq
static bool run_frequencies(struct parser *p, struct call *c, struct value *out) {
    int64_t n = 0;
    double d = 1;
    if (!value_int(p, &c->arg[0], "a number of elements", &n) || (c->n > 1 && !call_number(p, &c->arg[1], &d))) return false;
    if (n < 1) return parse_fail(p, c->who->at, "%s of no elements", c->row->name);
    const bool real = c->row->name[0] == 'r';
    const int64_t count = real ? n / 2 + 1 : n;
    weft_expr *k = weft_iota(p->graph, WEFT_I64, 1, &count, 0);
    if (!real) k = weft_where(weft_less(k, weft_int(p->graph, (n + 1) / 2)), k, weft_sub(k, weft_int(p->graph, n)));
    return call_built(p, c, weft_mul(k, weft_float(p->graph, 1 / ((double)n * d))), out);
}

// ---- names ------------------------------------------------------------------------------------
#define ONE_OF(name, fn)                                                                           \
    { #name, call_map, 1, 1, KW(DTYPE), {.one = fn }, 0 }
#define TWO_OF(name, fn)                                                                           \
    { #name, call_map, 2, 2, KW(DTYPE), {.two = fn }, 0 }
static const struct row rows[] = {
    CALL(zeros_like, run_like, 1, 1, KW(DTYPE)),
    CALL(ones_like, run_like, 1, 1, KW(DTYPE)),
    CALL(empty_like, run_like, 1, 1, KW(DTYPE)),
    CALL(full_like, run_like, 2, 2, KW(DTYPE)),
    ONE_OF(matrix_transpose, transposed),
    ONE_OF(fliplr, left_to_right),
    ONE_OF(flipud, up_to_down),
    ONE_OF(rot90, quarter_turn),
    CALL(vstack, run_stack, 1, CALL_ARGS, 0),
    CALL(hstack, run_stack, 1, CALL_ARGS, 0),
    CALL(dstack, run_stack, 1, CALL_ARGS, 0),
    CALL(column_stack, run_stack, 1, CALL_ARGS, 0),
    CALL(meshgrid, run_meshgrid, 2, 2, 0),
    CALL(array_equal, run_equal, 2, 2, 0),
    TWO(isin, isin),
    TWO(union1d, union1d),
    TWO(intersect1d, intersect1d),
    TWO(setdiff1d, setdiff1d),
    TWO(setxor1d, setxor1d),
    CALL(argwhere, run_argwhere, 1, 1, 0),
    CALL(cumulative_sum, run_cumulative, 1, 2, KW(AXIS) | KW(INITIAL)),
    CALL(cumulative_prod, run_cumulative, 1, 2, KW(AXIS) | KW(INITIAL)),
    CALL(nancumsum, run_cumulative, 1, 2, KW(AXIS)),
    CALL(nancumprod, run_cumulative, 1, 2, KW(AXIS)),
    CALL(lexsort, run_lexsort, 1, CALL_ARGS, KW(AXIS)),
    CALL(convolve, run_overlap, 2, 3, 0),
    CALL(correlate, run_overlap, 2, 3, 0),
    THREE(interp, interp),
    CALL(gradient, run_gradient, 1, 3, KW(AXIS)),
    CALL(average, run_average, 1, 3, KW(AXIS)),
    CALL(cov, run_cov, 1, 1, KW(DDOF)),
    ONE(corrcoef, corrcoef),
    ONE_OF(ediff1d, flat_diff),
    TWO_OF(vecdot, vecdot),
    ONE_OF(matrix_norm, matrix_norm),
    CALL(pinv, run_pinv, 1, 1, 0),
    CALL(matrix_rank, run_rank, 1, 1, 0),
    CALL(fftshift, run_shift, 1, 1, 0),
    CALL(ifftshift, run_shift, 1, 1, 0),
    CALL(fftfreq, run_frequencies, 1, 2, 0),
    CALL(rfftfreq, run_frequencies, 1, 2, 0),
};
const struct rows call_more = {rows, COUNT_OF(rows)};
