// SPDX-License-Identifier: MIT
// Views: the elements of one array in another shape or order. Checks, result shapes, the folds that
// hold at every extent, and the index arithmetic (input index = offset + sum of coefficient *
// output index) that later rooms compose. Attributes are kept as given, so that a replay infers
// shapes anew; shapes that inputs may change (IR_DYN) are never folded away because they happen to
// fit.
#include "pair.h"

#include <stdio.h>

static ir_ref fail(struct ir_graph *g, const char *name, ir_ref x, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
static ir_ref fail(struct ir_graph *g, const char *name, ir_ref x, const char *fmt, ...) {
    char text[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return ir_fail_at(g, WEFT_ESHAPE, &(struct ir_blame){name, 1, &x}, "%s", text);
}

static struct ir_draft view_of(const struct ir_graph *g, enum ir_op op, ir_ref x) {
    const struct ir_node *n = ir_at(g, x);
    struct ir_draft d = {.op = op, .dtype = (weft_dtype)n->dtype, .rank = n->rank, .in = {x}};
    memcpy(d.dims, ir_dims(g, x), n->rank * sizeof *d.dims);
    return d;
}

static void set_attr(struct ir_draft *d, const int64_t *w, int n) {
    if (n) memcpy(d->attr + d->nattr, w, (size_t)n * sizeof *w);
    d->nattr += n;
}

// The constant that x repeats everywhere, or IR_NONE.
static ir_ref uniform(const struct ir_graph *g, ir_ref x) {
    const struct ir_node *n = ir_at(g, x);
    if (n->flags & IR_DYN) return IR_NONE;
    if (n->op == IR_broadcast_to) x = n->in[0];
    return ir_is_constant(g, x) ? x : IR_NONE;
}

// Any view of a constant is that constant in the view's shape.
static ir_ref put_view(struct ir_graph *g, struct ir_draft *d) {
    ir_ref c = d->flags ? IR_NONE : uniform(g, d->in[0]); // flagged: remade by replay, stays apart
    if (!c || (d->op == IR_broadcast_to && d->in[0] == c)) return ir_put(g, d);
    if (d->rank == 0) return c;
    struct ir_draft b = {.op = IR_broadcast_to, .dtype = d->dtype, .rank = d->rank, .in = {c}};
    memcpy(b.dims, d->dims, sizeof b.dims);
    set_attr(&b, (int64_t[]){d->rank}, 1);
    set_attr(&b, d->dims, d->rank);
    return ir_put(g, &b);
}

static bool fixed_shape(const struct ir_graph *g, ir_ref x, int rank, const int64_t *dims) {
    const struct ir_node *n = ir_at(g, x);
    if (n->rank != rank) return false;
    if (rank == 0) return true;
    return !(n->flags & IR_DYN) && memcmp(ir_dims(g, x), dims, (size_t)rank * sizeof *dims) == 0;
}

// ---- reshape ----------------------------------------------------------------------------------
static bool check_dims(struct ir_graph *g, const char *name, ir_ref x, int rank,
                       const int64_t *dims) {
    if (rank < 0 || rank > WEFT_MAX_RANK)
        return fail(g, name, x, "rank %d is not in 0..%d", rank, WEFT_MAX_RANK);
    return !rank || dims || fail(g, name, x, "no extents");
}

// The dims with -1 filled in; false after an error.
static bool fill_dims(struct ir_graph *g, ir_ref x, int rank, const int64_t *dims, int64_t *out) {
    int64_t known = 1, total = ir_elements(g, x);
    int open = -1;
    bool over = false;
    for (int i = 0; i < rank; i++) {
        out[i] = dims[i];
        if (dims[i] < -1 || (dims[i] == -1 && open >= 0))
            return fail(g, "reshape", x, "%s",
                        dims[i] == -1 ? "more than one -1" : "a negative extent");
        if (dims[i] == -1)
            open = i;
        else
            over |= __builtin_mul_overflow(known, dims[i], &known);
    }
    if (open >= 0 && !over && known > 0 && total % known == 0) {
        out[open] = total / known;
        return true;
    }
    if (open < 0 && !over && known == total) return true;
    char text[120];
    ir_dims_text((weft_dtype)ir_at(g, x)->dtype, rank, dims, text, sizeof text);
    return fail(g, "reshape", x, "%lld elements do not make %s", (long long)total, text);
}

ir_ref ir_reshape(struct ir_graph *g, ir_ref x, int rank, const int64_t *dims) {
    IR_BY_PARTS(g, x, ir_reshape(g, x, rank, dims));
    if (!x || !(x = ir_strong(g, x)) || !check_dims(g, "reshape", x, rank, dims)) return IR_NONE;
    struct ir_draft d = view_of(g, IR_reshape, x);
    if (!fill_dims(g, x, rank, dims, d.dims)) return IR_NONE;
    d.rank = rank;
    set_attr(&d, (int64_t[]){rank}, 1);
    set_attr(&d, dims, rank);
    if (fixed_shape(g, x, rank, d.dims) || (rank == 1 && dims[0] == -1 && ir_at(g, x)->rank == 1))
        return x;
    if (ir_at(g, x)->op == IR_reshape) return ir_reshape(g, ir_at(g, x)->in[0], rank, dims);
    return put_view(g, &d);
}

// ---- transpose --------------------------------------------------------------------------------
static bool read_perm(struct ir_graph *g, ir_ref x, const int *perm, int64_t *out) {
    int rank = ir_at(g, x)->rank;
    uint64_t seen = 0;
    for (int i = 0; i < rank; i++) {
        int axis = perm ? ir_axis(g, "transpose", x, perm[i]) : rank - 1 - i;
        if (axis < 0) return false;
        if (seen >> axis & 1)
            return ir_fail_at(g, WEFT_EINVAL, &(struct ir_blame){"transpose", 1, &x},
                              "axis %d is given twice", axis);
        seen |= (uint64_t)1 << axis;
        out[i] = axis;
    }
    return true;
}

static ir_ref permute(struct ir_graph *g, ir_ref x, const int64_t *perm) {
    struct ir_draft d = view_of(g, IR_transpose, x);
    const struct ir_node *n = ir_at(g, x);
    bool same = true;
    if (n->op == IR_transpose) d.in[0] = n->in[0];
    for (int i = 0; i < d.rank; i++) {
        d.dims[i] = ir_dims(g, x)[perm[i]];
        d.attr[i] = n->op == IR_transpose ? ir_attr(g, x)[perm[i]] : perm[i];
        same &= d.attr[i] == i;
    }
    d.nattr = d.rank;
    return same ? d.in[0] : put_view(g, &d);
}

ir_ref ir_transpose(struct ir_graph *g, ir_ref x, const int *perm) {
    IR_BY_PARTS(g, x, ir_transpose(g, x, perm));
    int64_t p[WEFT_MAX_RANK];
    if (!x || !(x = ir_strong(g, x)) || !read_perm(g, x, perm, p)) return IR_NONE;
    return permute(g, x, p);
}

ir_ref ir_swap_axes(struct ir_graph *g, ir_ref x, int a, int b) {
    IR_BY_PARTS(g, x, ir_swap_axes(g, x, a, b));
    int64_t p[WEFT_MAX_RANK];
    if (!x || !(x = ir_strong(g, x))) return IR_NONE;
    a = ir_axis(g, "swap_axes", x, a);
    b = a < 0 ? -1 : ir_axis(g, "swap_axes", x, b);
    if (b < 0) return IR_NONE;
    for (int i = 0; i < ir_at(g, x)->rank; i++)
        p[i] = i == a ? b : i == b ? a : i;
    return permute(g, x, p);
}

// ---- slices -----------------------------------------------------------------------------------
static int64_t clamp(int64_t i, int64_t low, int64_t high) {
    return i < low ? low : i > high ? high : i;
}

void ir_slice_resolve(int64_t extent, int64_t start, int64_t stop, int64_t step, int64_t *first,
                      int64_t *count) {
    bool back = step < 0;
    int64_t low = back ? -1 : 0, high = back ? extent - 1 : extent;
    if (start == WEFT_NONE)
        start = back ? high : low;
    else
        start = clamp(start < 0 ? start + extent : start, low, high);
    if (stop == WEFT_NONE)
        stop = back ? low : high;
    else
        stop = clamp(stop < 0 ? stop + extent : stop, low, high);
    uint64_t span = back ? (uint64_t)(start - stop) : (uint64_t)(stop - start);
    uint64_t stride = back ? 0 - (uint64_t)step : (uint64_t)step;
    bool any = back ? start > stop : stop > start;
    *first = any ? start : 0;
    *count = any ? (int64_t)((span - 1) / stride + 1) : 0;
}

ir_ref ir_slice(struct ir_graph *g, ir_ref x, int axis, int64_t start, int64_t stop, int64_t step) {
    IR_BY_PARTS(g, x, ir_slice(g, x, axis, start, stop, step));
    if (!x || !(x = ir_strong(g, x)) || (axis = ir_axis(g, "slice", x, axis)) < 0) return IR_NONE;
    if (step == 0)
        return ir_fail_at(g, WEFT_EINVAL, &(struct ir_blame){"slice", 1, &x}, "the step is 0");
    if (step == WEFT_NONE) step = 1;
    if (step == 1 && (start == WEFT_NONE || start == 0) && stop == WEFT_NONE) return x;
    struct ir_draft d = view_of(g, IR_slice, x);
    int64_t extent = d.dims[axis], first;
    ir_slice_resolve(extent, start, stop, step, &first, &d.dims[axis]);
    if (!(ir_at(g, x)->flags & IR_DYN) && d.dims[axis] == extent && (step == 1 || extent == 0))
        return x;
    set_attr(&d, (int64_t[]){axis, start, stop, step}, 4);
    return put_view(g, &d);
}

ir_ref ir_index(struct ir_graph *g, ir_ref x, int axis, int64_t i) {
    IR_BY_PARTS(g, x, ir_index(g, x, axis, i));
    if (!x || !(x = ir_strong(g, x)) || (axis = ir_axis(g, "index", x, axis)) < 0) return IR_NONE;
    int64_t extent = ir_dims(g, x)[axis];
    if (i < -extent || i >= extent)
        return fail(g, "index", x, "%lld is out of range for axis %d", (long long)i, axis);
    x = ir_slice(g, x, axis, i, i == -1 ? WEFT_NONE : i + 1, 1);
    return ir_squeeze(g, x, axis);
}

// ---- axes of extent 1, broadcasting, diagonals ------------------------------------------------
ir_ref ir_expand_dims(struct ir_graph *g, ir_ref x, int axis) {
    IR_BY_PARTS(g, x, ir_expand_dims(g, x, axis));
    if (!x || !(x = ir_strong(g, x))) return IR_NONE;
    struct ir_draft d = view_of(g, IR_expand_dims, x);
    if (d.rank == WEFT_MAX_RANK)
        return fail(g, "expand_dims", x, "the rank is %d already", WEFT_MAX_RANK);
    if (axis < -d.rank - 1 || axis > d.rank)
        return ir_fail_at(g, WEFT_EINVAL, &(struct ir_blame){"expand_dims", 1, &x},
                          "axis %d is out of range", axis);
    if (axis < 0) axis += d.rank + 1;
    memmove(d.dims + axis + 1, d.dims + axis, (size_t)(d.rank - axis) * sizeof *d.dims);
    d.dims[axis] = 1;
    d.rank++;
    set_attr(&d, (int64_t[]){axis}, 1);
    return put_view(g, &d);
}

ir_ref ir_squeeze(struct ir_graph *g, ir_ref x, int axis) {
    IR_BY_PARTS(g, x, ir_squeeze(g, x, axis));
    if (!x || !(x = ir_strong(g, x)) || (axis = ir_axis(g, "squeeze", x, axis)) < 0) return IR_NONE;
    struct ir_draft d = view_of(g, IR_squeeze, x);
    if (d.dims[axis] != 1)
        return fail(g, "squeeze", x, "axis %d is %lld, not 1", axis, (long long)d.dims[axis]);
    if (ir_at(g, x)->op == IR_expand_dims && *ir_attr(g, x) == axis) return ir_at(g, x)->in[0];
    d.rank--;
    memmove(d.dims + axis, d.dims + axis + 1, (size_t)(d.rank - axis) * sizeof *d.dims);
    set_attr(&d, (int64_t[]){axis}, 1);
    return put_view(g, &d);
}

static bool check_repeat(struct ir_graph *g, ir_ref x, int rank, const int64_t *dims) {
    int more = rank - ir_at(g, x)->rank;
    char text[120];
    ir_dims_text((weft_dtype)ir_at(g, x)->dtype, rank, dims, text, sizeof text);
    if (more < 0) return fail(g, "broadcast_to", x, "%s has fewer axes", text);
    for (int i = 0; i < rank; i++) {
        int64_t own = i < more ? 1 : ir_dims(g, x)[i - more];
        if (dims[i] >= 0 && (own == 1 || own == dims[i])) continue;
        return fail(g, "broadcast_to", x, "axis %d is %lld, not %lld as in %s", i, (long long)own,
                    (long long)dims[i], text);
    }
    return true;
}

ir_ref ir_put_broadcast(struct ir_graph *g, struct ir_draft *d) {
    d->nattr = 0;
    set_attr(d, (int64_t[]){d->rank}, 1);
    set_attr(d, d->dims, d->rank);
    return put_view(g, d);
}

ir_ref ir_broadcast_to(struct ir_graph *g, ir_ref x, int rank, const int64_t *dims) {
    IR_BY_PARTS(g, x, ir_broadcast_to(g, x, rank, dims));
    if (!x || !(x = ir_strong(g, x)) || !check_dims(g, "broadcast_to", x, rank, dims))
        return IR_NONE;
    if (!check_repeat(g, x, rank, dims)) return IR_NONE;
    if (fixed_shape(g, x, rank, dims)) return x;
    const struct ir_node *n = ir_at(g, x);
    if (n->op == IR_broadcast_to && !(n->flags & (IR_AUTO | IR_EMPTY)))
        return ir_broadcast_to(g, n->in[0], rank, dims);
    struct ir_draft d = view_of(g, IR_broadcast_to, x);
    d.rank = rank;
    if (rank) memcpy(d.dims, dims, (size_t)rank * sizeof *dims);
    return ir_put_broadcast(g, &d);
}

ir_ref ir_diagonal(struct ir_graph *g, ir_ref x, int64_t offset, int axis1, int axis2) {
    IR_BY_PARTS(g, x, ir_diagonal(g, x, offset, axis1, axis2));
    if (!x || !(x = ir_strong(g, x))) return IR_NONE;
    axis1 = ir_axis(g, "diagonal", x, axis1);
    axis2 = axis1 < 0 ? -1 : ir_axis(g, "diagonal", x, axis2);
    if (axis2 < 0) return IR_NONE;
    if (axis1 == axis2)
        return ir_fail_at(g, WEFT_EINVAL, &(struct ir_blame){"diagonal", 1, &x},
                          "axis %d is given twice", axis1);
    struct ir_draft d = view_of(g, IR_diagonal, x);
    int64_t rows = d.dims[axis1], cols = d.dims[axis2], count = 0;
    if (offset >= 0 && offset < cols)
        count = MIN_OF(rows, cols - offset);
    else if (offset < 0 && offset > -rows)
        count = MIN_OF(rows + offset, cols);
    int k = 0;
    for (int i = 0; i < d.rank; i++)
        if (i != axis1 && i != axis2) d.dims[k++] = d.dims[i];
    d.dims[k++] = count;
    d.rank = k;
    set_attr(&d, (int64_t[]){offset, axis1, axis2}, 3);
    return put_view(g, &d);
}

ir_ref ir_windows(struct ir_graph *g, ir_ref x, int axis, int64_t size) {
    IR_BY_PARTS(g, x, ir_windows(g, x, axis, size));
    if (!x || !(x = ir_strong(g, x)) || (axis = ir_axis(g, "windows", x, axis)) < 0) return IR_NONE;
    struct ir_draft d = view_of(g, IR_windows, x);
    if (d.rank == WEFT_MAX_RANK)
        return fail(g, "windows", x, "the rank is %d already", WEFT_MAX_RANK);
    if (size < 1 || size > d.dims[axis])
        return fail(g, "windows", x, "a window of %lld does not fit axis %d", (long long)size, axis);
    d.dims[axis] -= size - 1;
    d.dims[d.rank++] = size;
    set_attr(&d, (int64_t[]){axis, size}, 2);
    return put_view(g, &d);
}

ir_ref ir_trim(struct ir_graph *g, ir_ref x, ir_ref count, int axis) {
    IR_BY_PARTS(g, x, ir_trim(g, x, count, axis));
    if (!x || !count || !(x = ir_strong(g, x)) || !(count = ir_strong(g, count))) return IR_NONE;
    if ((axis = ir_axis(g, "trim", x, axis)) < 0) return IR_NONE;
    const struct ir_blame who = {"trim", 2, (ir_ref[]){x, count}};
    if (ir_at(g, count)->rank || ir_at(g, count)->dtype != WEFT_I64)
        return ir_fail_at(g, WEFT_EINVAL, &who, "the count is one i64");
    struct ir_draft d = view_of(g, IR_trim, x);
    d.in[1] = count;
    set_attr(&d, (int64_t[]){axis}, 1);
    return ir_put(g, &d);
}

ir_ref ir_fixed(struct ir_graph *g, const char *name, ir_ref x) {
    IR_BY_PARTS(g, x, ir_fixed(g, name, x));
    if (!x || !(ir_at(g, x)->flags & IR_DYN)) return x;
    struct ir_draft d = view_of(g, IR_fixed, x);
    d.attr[d.nattr++] = (int64_t)(intptr_t)name;
    set_attr(&d, d.dims, d.rank);
    return ir_put(g, &d);
}

ir_ref ir_guard(struct ir_graph *g, ir_ref value, ir_ref failed, int why) {
    IR_BY_PARTS(g, value, ir_guard(g, value, failed, why));
    if (!value || !failed || !(value = ir_strong(g, value))) return IR_NONE;
    int rank = ir_at(g, failed)->rank;
    if (rank && !(failed = ir_put_run(g, IR_R_any, failed, 0, rank))) return IR_NONE;
    struct ir_draft d = view_of(g, IR_guard, value);
    d.in[1] = failed;
    set_attr(&d, (int64_t[]){why}, 1);
    return ir_put(g, &d);
}

const char *ir_guard_text(const struct ir_graph *g, ir_ref guard) {
#define TEXTS(s)                                                                                   \
    {                                                                                              \
        [IR_SUM] = "sum: " s, [IR_PROD] = "prod: " s, [IR_MIN] = "min: " s, [IR_MAX] = "max: " s,  \
        [IR_MEAN] = "mean: " s, [IR_VAR] = "var: " s, [IR_STD] = "std: " s, [IR_ANY] = "any: " s,  \
        [IR_ALL] = "all: " s, [IR_COUNT_NONZERO] = "count_nonzero: " s,                            \
        [IR_ARGMIN] = "argmin: " s, [IR_ARGMAX] = "argmax: " s                                     \
    }
    static const char *const met[] = TEXTS("there is a NaN among the elements");
    static const char *const all[] = TEXTS("a slice is all NaN");
    int64_t why = *ir_attr(g, guard);
    if (why >= IR_ALL_NAN && why <= IR_ALL_NAN + IR_ARGMAX) return all[why - IR_ALL_NAN];
    if (why >= IR_NAN_MET && why <= IR_NAN_MET + IR_ARGMAX) return met[why - IR_NAN_MET];
    return "guard: the check failed";
}
