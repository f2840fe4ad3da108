// SPDX-License-Identifier: MIT
// The public reductions as primitives over runs of adjacent axes. mean divides a sum by an extent;
// var and std go over the data twice; f32 means and variances are taken in f64; NaN modes become
// where and guard; an axis list with gaps is reduced run by run, the innermost first. Primitives
// over no elements become their identity here, so that later rooms never meet one; the node
// remembers what it stands for, because other extents of an input may make the run non-empty (see
// IR_EMPTY).
#include "pair.h"

#include <math.h>

struct reduction {
    enum ir_reduction what;
    const char *name;
    struct ir_blame who;
    ir_ref x;             // strong; of a complex operand, the part being reduced
    ir_ref nan_of;        // what decides whether an element is NaN: the operand
    weft_dtype type;      // of x
    uint64_t mask;        // axes that go
    bool keepdims, whole; // whole: all axes
    bool compensated;
    weft_nan nan;
    double ddof;
};

static const char *const names[] = {
    [IR_SUM] = "sum",       [IR_PROD] = "prod",
    [IR_MIN] = "min",       [IR_MAX] = "max",
    [IR_MEAN] = "mean",     [IR_VAR] = "var",
    [IR_STD] = "std",       [IR_ANY] = "any",
    [IR_ALL] = "all",       [IR_COUNT_NONZERO] = "count_nonzero",
    [IR_ARGMIN] = "argmin", [IR_ARGMAX] = "argmax",
};

int ir_axis(struct ir_graph *g, const char *name, ir_ref x, int axis) {
    int rank = ir_at(g, x)->rank;
    if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
    ir_fail_at(g, WEFT_EINVAL, &(struct ir_blame){name, 1, &x}, "axis %d is out of range", axis);
    return -1;
}

// ---- one run of adjacent axes -----------------------------------------------------------------
// What a run of no elements gives, or false when that is an error.
static bool identity_of(enum ir_op op, weft_dtype t, uint64_t *bits) {
    switch (op) {
    case IR_R_sum:
    case IR_R_any: *bits = 0; return true;
    case IR_R_prod: *bits = ir_convert_bits(WEFT_BOOL, 1, t); return true;
    case IR_R_all: *bits = 1; return true;
    default: return false;
    }
}

static ir_ref put_identity(struct ir_graph *g, struct ir_draft *d, int axis) {
    uint64_t bits;
    if (!identity_of(d->op, d->dtype, &bits))
        return ir_fail_at(g, WEFT_ESHAPE, &(struct ir_blame){ir_ops[d->op].name, 1, d->in},
                          "axis %d is empty and there is no identity", axis);
    bool fixed = !(ir_at(g, d->in[0])->flags & IR_DYN);
    if (fixed && d->rank == 0) return ir_constant_of(g, d->dtype, bits, IR_STRONG);
    struct ir_draft b = {.op = IR_broadcast_to, .dtype = d->dtype, .rank = d->rank};
    int64_t *tail = b.attr + 1 + d->rank;
    memcpy(b.dims, d->dims, sizeof b.dims);
    b.attr[0] = d->rank;
    memcpy(b.attr + 1, d->dims, (size_t)d->rank * sizeof *b.attr);
    b.nattr = 1 + d->rank;
    if (!fixed) {
        b.flags = IR_EMPTY | IR_DYN;
        memcpy(tail, (int64_t[]){d->op, d->in[0], d->attr[0], d->attr[1]}, 4 * sizeof *tail);
        b.nattr += 4;
    }
    b.in[0] = ir_constant_of(g, d->dtype, bits, IR_STRONG);
    return b.in[0] ? ir_put(g, &b) : IR_NONE;
}

static bool is_arg(enum ir_op op) { return op >= IR_R_argmin && op <= IR_R_nanargmax; }

ir_ref ir_put_run(struct ir_graph *g, enum ir_op op, ir_ref x, int first, int last) {
    if (!x) return IR_NONE;
    const struct ir_node *n = ir_at(g, x);
    const int64_t *dims = ir_dims(g, x);
    struct ir_draft d = {.op = op, .nattr = 2, .attr = {first, last}, .in = {x}};
    d.dtype = is_arg(op) ? WEFT_I64 : (weft_dtype)n->dtype;
    int empty = -1;
    for (int i = 0; i < n->rank; i++) {
        if (i < first || i >= last)
            d.dims[d.rank++] = dims[i];
        else if (dims[i] == 0)
            empty = i;
    }
    return empty >= 0 ? put_identity(g, &d, empty) : ir_put(g, &d);
}

static ir_ref reduce_mask(struct ir_graph *g, enum ir_op op, ir_ref x, uint64_t mask) {
    while (x && mask) {
        int last = 64 - __builtin_clzll(mask), first = last - 1;
        while (first > 0 && mask >> (first - 1) & 1)
            first--;
        x = ir_put_run(g, op, x, first, last);
        mask &= ((uint64_t)1 << first) - 1;
    }
    return x;
}

ir_ref ir_extent(struct ir_graph *g, ir_ref x, uint64_t mask, double ddof) {
    if (!x) return IR_NONE;
    if (mask == 0) return ir_constant_of(g, WEFT_F64, ir_double_bits(fmax(1 - ddof, 0)), IR_STRONG);
    struct ir_draft d = {.op = IR_extent, .dtype = WEFT_F64, .nattr = 2, .in = {x}};
    d.attr[0] = (int64_t)mask;
    d.attr[1] = (int64_t)ir_double_bits(ddof);
    return ir_put(g, &d);
}

// ---- small words ------------------------------------------------------------------------------
static ir_ref unary(struct ir_graph *g, enum ir_op op, ir_ref a) { return ir_map(g, op, &a); }
static ir_ref binary(struct ir_graph *g, enum ir_op op, ir_ref a, ir_ref b) {
    return ir_map(g, op, (ir_ref[]){a, b});
}
static ir_ref pick(struct ir_graph *g, ir_ref cond, ir_ref a, ir_ref b) {
    return ir_map(g, IR_where, (ir_ref[]){cond, a, b});
}
static ir_ref number(struct ir_graph *g, weft_dtype t, double v) {
    return ir_constant_of(g, t, ir_convert_bits(WEFT_F64, ir_double_bits(v), t), IR_STRONG);
}

static ir_ref keep_axes(struct ir_graph *g, ir_ref x, uint64_t mask) {
    for (int axis = 0; x && mask >> axis; axis++)
        if (mask >> axis & 1) x = ir_expand_dims(g, x, axis);
    return x;
}

static bool skips(const struct reduction *r) { return r->nan == WEFT_NAN_SKIP; }
static ir_ref is_nan(struct ir_graph *g, const struct reduction *r) {
    return unary(g, IR_isnan, r->nan_of);
}

// Halves are reduced as f32, which is exact for all but sums and products; the result is rounded once.
static weft_dtype wide_type(weft_dtype t) { return dtype_is_half(t) ? WEFT_F32 : t; }
static ir_ref wide(struct ir_graph *g, const struct reduction *r) {
    return ir_cast(g, r->x, wide_type(r->type));
}

// x, or with a fill in place of each NaN when NaN is skipped
static ir_ref without_nan(struct ir_graph *g, const struct reduction *r, ir_ref x, double fill) {
    if (!x) return IR_NONE;
    return skips(r) ? pick(g, is_nan(g, r), number(g, (weft_dtype)ir_at(g, x)->dtype, fill), x) : x;
}

// ---- the reductions ---------------------------------------------------------------------------
// ---- compensated sums -------------------------------------------------------------------------
// Error-free extraction (Rump, Ogita and Oishi 2008): (x + s) - s is x rounded to the grid of s, and what
// is left is exact too. With s at four times the sum of |x| the parts on the grid add up without any
// rounding, in whatever order; a second grid does the same for what was left, and what is left
// then is summed as usual. The three totals are joined by an exact two-sum. So the error is one rounding and about
// n^2 2^-150 times the sum of |x|. Where s is not finite (infinities, NaN, sums near the
// overflow) or 0 (only zeros, or nothing), the plain sum is the answer.
struct split {
    ir_ref high, low;
};
static struct split split_at(struct ir_graph *g, ir_ref x, ir_ref s) {
    ir_ref high = binary(g, IR_sub, binary(g, IR_add, x, s), s);
    return (struct split){high, binary(g, IR_sub, x, high)};
}

static ir_ref sum_of(struct ir_graph *g, ir_ref x, uint64_t mask) {
    return reduce_mask(g, IR_R_sum, x, mask);
}

// a + b + c, where a + b is much larger than c
static ir_ref join(struct ir_graph *g, ir_ref a, ir_ref b, ir_ref c) {
    ir_ref sum = binary(g, IR_add, a, b), part = binary(g, IR_sub, sum, a);
    ir_ref lost = binary(g, IR_add, binary(g, IR_sub, a, binary(g, IR_sub, sum, part)),
                         binary(g, IR_sub, b, part));
    return binary(g, IR_add, sum, binary(g, IR_add, lost, c));
}

static ir_ref compensated_sum(struct ir_graph *g, ir_ref x, uint64_t mask) {
    ir_ref four = number(g, WEFT_F64, 4), zero = number(g, WEFT_F64, 0);
    ir_ref grid = binary(g, IR_mul, sum_of(g, unary(g, IR_abs, x), mask), four);
    ir_ref count = binary(g, IR_mul, ir_extent(g, x, mask, 0), number(g, WEFT_F64, 0x1p-50));
    ir_ref finer = binary(g, IR_mul, grid, count);
    struct split one = split_at(g, x, keep_axes(g, grid, mask));
    struct split two = split_at(g, one.low, keep_axes(g, finer, mask));
    ir_ref exact = join(g, sum_of(g, one.high, mask), sum_of(g, two.high, mask), sum_of(g, two.low, mask));
    ir_ref fine = binary(g, IR_logical_and, unary(g, IR_isfinite, grid), binary(g, IR_greater, grid, zero));
    return pick(g, fine, exact, sum_of(g, x, mask));
}

// A float sum in f64, compensated or not.
static ir_ref sum_f64(struct ir_graph *g, const struct reduction *r) {
    ir_ref x = without_nan(g, r, ir_cast(g, r->x, WEFT_F64), 0);
    if (!x) return IR_NONE;
    return r->compensated ? compensated_sum(g, x, r->mask) : sum_of(g, x, r->mask);
}

static ir_ref total(struct ir_graph *g, const struct reduction *r) {
    if (r->compensated && r->what == IR_SUM) return ir_cast(g, sum_f64(g, r), r->type);
    weft_dtype t = dtype_is_unsigned(r->type) ? WEFT_U64
                   : dtype_is_float(r->type)  ? wide_type(r->type)
                                              : WEFT_I64;
    ir_ref x = ir_cast(g, r->x, t);
    if (!x) return IR_NONE;
    bool sum = r->what == IR_SUM;
    x = reduce_mask(g, sum ? IR_R_sum : IR_R_prod, without_nan(g, r, x, sum ? 0 : 1), r->mask);
    return dtype_is_half(r->type) ? ir_cast(g, x, r->type) : x;
}

static ir_ref extreme(struct ir_graph *g, const struct reduction *r) {
    bool least = r->what == IR_MIN;
    enum ir_op op = least ? (skips(r) ? IR_R_nanmin : IR_R_min) : skips(r) ? IR_R_nanmax : IR_R_max;
    return ir_cast(g, reduce_mask(g, op, wide(g, r), r->mask), r->type);
}

static ir_ref count_true(struct ir_graph *g, ir_ref b, uint64_t mask) {
    return reduce_mask(g, IR_R_sum, ir_cast(g, b, WEFT_I64), mask);
}

// How many elements count, minus ddof, as f64: known from the shape unless NaN is skipped.
static ir_ref divisor(struct ir_graph *g, const struct reduction *r, double ddof) {
    if (!skips(r)) return ir_extent(g, r->x, r->mask, ddof);
    ir_ref n = count_true(g, unary(g, IR_logical_not, is_nan(g, r)), r->mask);
    return binary(g, IR_sub, ir_cast(g, n, WEFT_F64), number(g, WEFT_F64, ddof));
}

static ir_ref mean_f64(struct ir_graph *g, const struct reduction *r) {
    return binary(g, IR_true_divide, sum_f64(g, r), divisor(g, r, 0));
}

static ir_ref variance_f64(struct ir_graph *g, const struct reduction *r) {
    ir_ref mean = keep_axes(g, mean_f64(g, r), r->mask);
    ir_ref apart = binary(g, IR_sub, ir_cast(g, r->x, WEFT_F64), mean);
    if (!apart) return IR_NONE;
    ir_ref sum =
        reduce_mask(g, IR_R_sum, unary(g, IR_square, without_nan(g, r, apart, 0)), r->mask);
    ir_ref n = divisor(g, r, r->ddof), v = binary(g, IR_true_divide, sum, n);
    if (!skips(r)) return v;
    ir_ref some = binary(g, IR_greater, n, number(g, WEFT_F64, 0));
    return pick(g, some, v, number(g, WEFT_F64, NAN));
}

static ir_ref moment(struct ir_graph *g, const struct reduction *r) {
    ir_ref v = r->what == IR_MEAN ? mean_f64(g, r) : variance_f64(g, r);
    if (r->what == IR_STD) v = unary(g, IR_sqrt, v);
    return dtype_is_float(r->type) ? ir_cast(g, v, r->type) : v;
}

static ir_ref truth(struct ir_graph *g, const struct reduction *r) {
    ir_ref b = ir_cast(g, r->x, WEFT_BOOL);
    if (skips(r) && r->what != IR_ALL) // a NaN is true: all() may keep it
        b = binary(g, IR_logical_and, b, unary(g, IR_logical_not, is_nan(g, r)));
    if (r->what == IR_COUNT_NONZERO) return count_true(g, b, r->mask);
    return reduce_mask(g, r->what == IR_ANY ? IR_R_any : IR_R_all, b, r->mask);
}

static ir_ref place(struct ir_graph *g, const struct reduction *r) {
    static const enum ir_op ops[2][2] = {{IR_R_argmax, IR_R_argmin},
                                         {IR_R_nanargmax, IR_R_nanargmin}};
    bool one = r->mask && !(r->mask & (r->mask - 1));
    if (!one && !r->whole)
        return ir_fail_at(g, WEFT_EINVAL, &r->who, "takes one axis or all of them");
    ir_ref at = r->mask ? reduce_mask(g, ops[skips(r)][r->what == IR_ARGMIN], wide(g, r), r->mask)
                        : ir_constant_of(g, WEFT_I64, 0, IR_STRONG);
    if (!skips(r)) return at;
    return ir_guard(g, at, reduce_mask(g, IR_R_all, is_nan(g, r), r->mask),
                    IR_ALL_NAN + (int)r->what);
}

// ---- complex operands -------------------------------------------------------------------------
static ir_ref lower(struct ir_graph *g, const struct reduction *r);

// var(z) is var(re) + var(im), real.
static ir_ref spread_of_parts(struct ir_graph *g, const struct reduction *r, const struct reduction *im) {
    ir_ref v = binary(g, IR_add, variance_f64(g, r), variance_f64(g, im));
    if (r->what == IR_STD) v = unary(g, IR_sqrt, v);
    return ir_cast(g, v, r->type);
}

static ir_ref lower_complex(struct ir_graph *g, const struct reduction *whole) {
    struct reduction re = *whole, im;
    struct ir_pair p = ir_pair_whole(g, whole->x);
    re.type = dtype_real_of(whole->type);
    re.x = p.re;
    im = re;
    im.x = p.im;
    switch (whole->what) {
    case IR_SUM:
    case IR_MEAN: p.re = lower(g, &re), p.im = lower(g, &im); return ir_pair_join(g, p);
    case IR_PROD:
        return ir_pair_product(g, skips(whole) ? pick(g, is_nan(g, whole), number(g, re.type, 1), whole->x) : whole->x,
                               whole->mask);
    case IR_VAR:
    case IR_STD: return spread_of_parts(g, &re, &im);
    case IR_ANY:
    case IR_ALL:
    case IR_COUNT_NONZERO: return truth(g, whole);
    default:
        return ir_fail_at(g, WEFT_EDTYPE, &whole->who, "%s have no order", dtype_name(whole->type));
    }
}

static ir_ref lower(struct ir_graph *g, const struct reduction *r) {
    if (dtype_is_complex(r->type)) return lower_complex(g, r);
    switch (r->what) {
    case IR_SUM:
    case IR_PROD: return total(g, r);
    case IR_MIN:
    case IR_MAX: return extreme(g, r);
    case IR_MEAN:
    case IR_VAR:
    case IR_STD: return moment(g, r);
    case IR_ARGMIN:
    case IR_ARGMAX: return place(g, r);
    default: return truth(g, r);
    }
}

static bool read_axes(struct ir_graph *g, struct reduction *r, const weft_reduce *opts) {
    int rank = ir_at(g, r->x)->rank;
    uint64_t all = ((uint64_t)1 << rank) - 1;
    if (!opts || !opts->axes) {
        r->mask = all;
    } else if (opts->naxes < 0) {
        return ir_fail_at(g, WEFT_EINVAL, &r->who, "%d axes", opts->naxes);
    } else {
        for (int i = 0; i < opts->naxes; i++) {
            int axis = ir_axis(g, r->name, r->x, opts->axes[i]);
            if (axis < 0) return false;
            if (r->mask >> axis & 1)
                return ir_fail_at(g, WEFT_EINVAL, &r->who, "axis %d is given twice", axis);
            r->mask |= (uint64_t)1 << axis;
        }
    }
    r->whole = r->mask == all;
    return true;
}

ir_ref ir_reduce(struct ir_graph *g, enum ir_reduction what, ir_ref x, const weft_reduce *opts) {
    if (!x || !(x = ir_strong(g, x))) return IR_NONE;
    struct reduction r = {.what = what, .name = names[what], .x = x};
    r.type = (weft_dtype)ir_at(g, x)->dtype;
    r.nan_of = x;
    r.who = (struct ir_blame){r.name, 1, &r.nan_of};
    if (!read_axes(g, &r, opts)) return IR_NONE;
    if (opts) {
        if ((unsigned)opts->nan > WEFT_NAN_RAISE)
            return ir_fail_at(g, WEFT_EINVAL, &r.who, "no such NaN mode (%d)", (int)opts->nan);
        if (!isfinite(opts->ddof)) return ir_fail_at(g, WEFT_EINVAL, &r.who, "ddof is not finite");
        r.keepdims = opts->keepdims;
        r.nan = dtype_is_float(r.type) || dtype_is_complex(r.type) ? opts->nan : WEFT_NAN_PROPAGATE;
        r.ddof = opts->ddof;
        r.compensated = opts->compensated && dtype_is_float(r.type);
    }
    ir_ref v = lower(g, &r);
    if (r.keepdims) v = keep_axes(g, v, r.mask);
    if (r.nan != WEFT_NAN_RAISE || !v) return v;
    uint64_t all = ((uint64_t)1 << ir_at(g, x)->rank) - 1;
    return ir_guard(g, v, reduce_mask(g, IR_R_any, is_nan(g, &r), all), IR_NAN_MET + (int)what);
}
