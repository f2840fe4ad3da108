// SPDX-License-Identifier: MIT
// Products of arrays of any rank, made of the public builders: views that bring the axes together, one
// matrix product (or one multiplication and a sum, which fuse), and a view back. No arithmetic of its own, so the
// order of every sum is that of matmul or of a reduction.
#include <stdarg.h>
#include <stdio.h>

#include "api.h"

static bool ready(weft_expr *a, weft_expr *b) {
    if (!a || !b) return false;
    if (a->g == b->g) return true;
    graph_fail(a->g, WEFT_EINVAL, "operands belong to different graphs");
    return false;
}

static weft_expr *refuse(weft_expr *x, weft_status s, const char *fmt, ...) PRINTF_LIKE(3, 4);
static weft_expr *refuse(weft_expr *x, weft_status s, const char *fmt, ...) {
    char text[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return graph_fail(x->g, s, text);
}

static int64_t extent(const weft_expr *x, int axis) { return weft_expr_dims(x)[axis]; }

static int64_t product(const weft_expr *x, const int *axes, int n) {
    int64_t p = 1;
    for (int i = 0; i < n; i++)
        p *= extent(x, axes[i]);
    return p;
}

// ---- tensordot --------------------------------------------------------------------------------
struct side {
    weft_expr *x;
    int summed[WEFT_MAX_RANK], rest[WEFT_MAX_RANK];
    int nsummed, nrest;
};

static bool split_axes(struct side *s, int n, const int *axes) {
    const int rank = weft_expr_rank(s->x);
    bool taken[WEFT_MAX_RANK] = {false};
    s->nsummed = s->nrest = 0;
    for (int i = 0; i < n; i++) {
        const int a = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (a < 0 || a >= rank || taken[a])
            return refuse(s->x, WEFT_EINVAL, "tensordot: axis %d is %s", axes[i],
                          a < 0 || a >= rank ? "out of range" : "named twice");
        taken[a] = true;
        s->summed[s->nsummed++] = a;
    }
    for (int a = 0; a < rank; a++)
        if (!taken[a]) s->rest[s->nrest++] = a;
    return true;
}

// The operand as a matrix: rest x summed, or summed x rest.
static weft_expr *as_matrix(const struct side *s, bool rest_first) {
    int perm[WEFT_MAX_RANK], n = 0;
    for (int pass = 0; pass < 2; pass++) {
        const bool rest = (pass == 0) == rest_first;
        for (int i = 0; i < (rest ? s->nrest : s->nsummed); i++)
            perm[n++] = rest ? s->rest[i] : s->summed[i];
    }
    const int64_t r = product(s->x, s->rest, s->nrest), k = product(s->x, s->summed, s->nsummed);
    return weft_reshape(weft_transpose(s->x, perm), 2, (int64_t[]){rest_first ? r : k, rest_first ? k : r});
}

weft_expr *weft_tensordot(weft_expr *a, weft_expr *b, int n, const int *axes_a, const int *axes_b) {
    struct side l = {.x = a}, r = {.x = b};
    int64_t dims[2 * WEFT_MAX_RANK];
    int rank = 0;
    if (!ready(a, b)) return NULL;
    if (n < 0 || n > WEFT_MAX_RANK || (n && (!axes_a || !axes_b)))
        return refuse(a, WEFT_EINVAL, "tensordot: %d axes", n);
    if (!split_axes(&l, n, axes_a) || !split_axes(&r, n, axes_b)) return NULL;
    for (int i = 0; i < n; i++)
        if (extent(a, l.summed[i]) != extent(b, r.summed[i]))
            return refuse(a, WEFT_ESHAPE, "tensordot: axis %d of the first is %lld, axis %d of the second %lld",
                          l.summed[i], (long long)extent(a, l.summed[i]), r.summed[i],
                          (long long)extent(b, r.summed[i]));
    if (l.nrest + r.nrest > WEFT_MAX_RANK)
        return refuse(a, WEFT_ESHAPE, "tensordot: the result has %d axes", l.nrest + r.nrest);
    for (int i = 0; i < l.nrest; i++)
        dims[rank++] = extent(a, l.rest[i]);
    for (int i = 0; i < r.nrest; i++)
        dims[rank++] = extent(b, r.rest[i]);
    return weft_reshape(weft_matmul(as_matrix(&l, true), as_matrix(&r, false)), rank, dims);
}

// ---- its kin ----------------------------------------------------------------------------------
weft_expr *weft_inner(weft_expr *a, weft_expr *b) {
    if (!ready(a, b)) return NULL;
    const int ra = weft_expr_rank(a), rb = weft_expr_rank(b);
    if (!ra || !rb) return weft_mul(a, b);
    if (extent(a, ra - 1) != extent(b, rb - 1))
        return refuse(a, WEFT_ESHAPE, "inner: the last extents are %lld and %lld", (long long)extent(a, ra - 1),
                      (long long)extent(b, rb - 1));
    if (ra == 1 && rb == 1) return weft_dot(a, b);
    return weft_tensordot(a, b, 1, (int[]){-1}, (int[]){-1});
}

weft_expr *weft_outer(weft_expr *a, weft_expr *b) {
    if (!ready(a, b)) return NULL;
    return weft_mul(weft_expand_dims(weft_ravel(a), 1), weft_expand_dims(weft_ravel(b), 0));
}

weft_expr *weft_vdot(weft_expr *a, weft_expr *b) {
    if (!ready(a, b)) return NULL;
    return weft_dot(weft_conj(weft_ravel(a)), weft_ravel(b));
}

weft_expr *weft_trace(weft_expr *x, int64_t offset, int axis1, int axis2) {
    const weft_reduce last = {.size = sizeof last, .axes = (int[]){-1}, .naxes = 1};
    return weft_sum(weft_diagonal(x, offset, axis1, axis2), &last);
}

// Axes of a and b one by one beside each other, then each pair as one.
weft_expr *weft_kron(weft_expr *a, weft_expr *b) {
    int64_t da[WEFT_MAX_RANK], db[WEFT_MAX_RANK], dims[WEFT_MAX_RANK];
    if (!ready(a, b)) return NULL;
    const int ra = weft_expr_rank(a), rb = weft_expr_rank(b), rank = MAX_OF(ra, rb);
    if (2 * rank > WEFT_MAX_RANK)
        return refuse(a, WEFT_ESHAPE, "kron: more than %d axes", WEFT_MAX_RANK / 2);
    for (int i = 0; i < rank; i++) {
        const int64_t ea = i < rank - ra ? 1 : extent(a, i - (rank - ra));
        const int64_t eb = i < rank - rb ? 1 : extent(b, i - (rank - rb));
        da[2 * i] = ea, da[2 * i + 1] = 1;
        db[2 * i] = 1, db[2 * i + 1] = eb;
        if (__builtin_mul_overflow(ea, eb, &dims[i])) return refuse(a, WEFT_ESHAPE, "kron: axis %d overflows", i);
    }
    weft_expr *p = weft_mul(weft_reshape(a, 2 * rank, da), weft_reshape(b, 2 * rank, db));
    return weft_reshape(p, rank, dims);
}

// NumPy's order: squares of x, multiplied together from the low bit of n on; the cube in two products.
weft_expr *weft_matrix_power(weft_expr *x, int64_t n) {
    if (!x) return NULL;
    const int rank = weft_expr_rank(x);
    if (rank < 2 || extent(x, rank - 1) != extent(x, rank - 2))
        return refuse(x, WEFT_ESHAPE, "matrix_power: the last two axes are not of a square");
    if (n < 0) {
        if (n == INT64_MIN) return refuse(x, WEFT_EINVAL, "matrix_power: the power is too negative");
        return weft_matrix_power(weft_inv(x), -n);
    }
    if (n == 0) {
        const int64_t side = extent(x, rank - 1);
        weft_expr *one = weft_eye(x->g, weft_expr_dtype(x), side, side, 0);
        return weft_broadcast_to(one, rank, weft_expr_dims(x));
    }
    if (n == 3) return weft_matmul(weft_matmul(x, x), x);
    weft_expr *square = NULL, *out = NULL;
    for (; n > 0; n >>= 1) {
        square = square ? weft_matmul(square, square) : x;
        if (n & 1) out = out ? weft_matmul(out, square) : square;
    }
    return out;
}

// ---- cross ------------------------------------------------------------------------------------
// Component k along axis, or NULL for the third of a vector of two.
static weft_expr *component(weft_expr *x, int axis, int k) {
    return k < weft_expr_dims(x)[axis] ? weft_index(x, axis, k) : NULL;
}
static weft_expr *times(weft_expr *a, weft_expr *b) { return a && b ? weft_mul(a, b) : NULL; }
static weft_expr *less(weft_expr *a, weft_expr *b) {
    if (a && b) return weft_sub(a, b);
    return a ? a : b ? weft_neg(b) : NULL;
}

weft_expr *weft_cross(weft_expr *a, weft_expr *b, int axis) {
    if (!ready(a, b)) return NULL;
    const int ra = weft_expr_rank(a), rb = weft_expr_rank(b);
    const int ka = axis < 0 ? axis + ra : axis, kb = axis < 0 ? axis + rb : axis;
    if (ka < 0 || ka >= ra || kb < 0 || kb >= rb)
        return refuse(a, WEFT_EINVAL, "cross: axis %d is out of range", axis);
    if (extent(a, ka) < 2 || extent(a, ka) > 3 || extent(b, kb) < 2 || extent(b, kb) > 3)
        return refuse(a, WEFT_ESHAPE, "cross: vectors have 2 or 3 elements, not %lld and %lld",
                      (long long)extent(a, ka), (long long)extent(b, kb));
    weft_expr *x[3], *y[3], *out[3];
    for (int i = 0; i < 3; i++)
        x[i] = component(a, ka, i), y[i] = component(b, kb, i);
    weft_expr *z = less(times(x[0], y[1]), times(x[1], y[0]));
    if (!x[2] && !y[2]) return z;
    out[0] = less(times(x[1], y[2]), times(x[2], y[1]));
    out[1] = less(times(x[2], y[0]), times(x[0], y[2]));
    out[2] = z;
    return weft_stack(3, out, axis < 0 ? -1 : axis);
}
