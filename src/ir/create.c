// SPDX-License-Identifier: MIT
// Arrays out of nothing: constants, index arrays and random numbers, all of them expressions over
// iota and literals, so that they are made inside the pass that uses them and are never stored.
//
// Random numbers are functions of (key, offset + row-major index) through Philox4x32-10; what
// depends on their number only, such as shapes and threads, cannot change them.
#include "compose.h"

#include <math.h>

// ---- constants and indices --------------------------------------------------------------------
static ir_ref index_of(struct ir_graph *g, int64_t n) {
    return ir_iota(g, WEFT_I64, 1, &n, 0);
}

ir_ref ir_full(struct ir_graph *g, weft_dtype t, const void *value, int rank, const int64_t *dims) {
    return ir_broadcast_to(g, ir_constant(g, t, value, IR_STRONG), rank, dims);
}

static ir_ref make_eye(struct ir_graph *g, weft_dtype t, const int64_t dims[2], int64_t k) {
    ir_ref row = ir_iota(g, WEFT_I64, 2, dims, 0), col = ir_iota(g, WEFT_I64, 2, dims, 1);
    return ir_cast(g, put2(g, IR_equal, put2(g, IR_add, row, whole(g, k)), col), t);
}
ir_ref ir_eye(struct ir_graph *g, weft_dtype t, const int64_t dims[2], int64_t k) {
    IR_QUIETLY(g, make_eye(g, t, dims, k));
}

// start + i step; integer types in integers, floats in f64 with NumPy's step (start + step) - start
ir_ref ir_arange(struct ir_graph *g, weft_dtype t, const struct ir_range *r) {
    double n = ceil((r->stop - r->start) / r->step), delta = (r->start + r->step) - r->start;
    if (!(fabs(n) < 0x1p62)) return ir_fail(g, WEFT_EINVAL, "arange: no such range");
    ir_ref i = index_of(g, n > 0 ? (int64_t)n : 0);
    if (dtype_is_float(t)) {
        ir_ref x = put2(g, IR_mul, ir_cast(g, i, WEFT_F64), literal(g, delta));
        return ir_cast(g, put2(g, IR_add, x, literal(g, r->start)), t);
    }
    if (r->start != trunc(r->start) || r->step != trunc(r->step) || fabs(r->start) >= 0x1p63 ||
        fabs(r->step) >= 0x1p63)
        return ir_fail(g, WEFT_EINVAL, "arange: %s needs whole numbers", dtype_name(t));
    i = put2(g, IR_mul, i, whole(g, (int64_t)r->step));
    return ir_cast(g, put2(g, IR_add, i, whole(g, (int64_t)r->start)), t);
}

// As NumPy: i * ((stop - start) / div) + start, the last one stop itself.
static ir_ref spaced(struct ir_graph *g, const struct ir_space *s, ir_ref i) {
    double div = (double)(s->n - s->endpoint), delta = s->stop - s->start, step = delta / div;
    ir_ref y = ir_cast(g, i, WEFT_F64);
    if (div > 0 && step != 0) {
        y = put2(g, IR_mul, y, literal(g, step));
    } else {
        if (div > 0) y = put2(g, IR_true_divide, y, literal(g, div));
        y = put2(g, IR_mul, y, literal(g, delta));
    }
    y = put2(g, IR_add, y, literal(g, s->start));
    if (!s->endpoint || s->n < 2) return y;
    return put3(g, IR_where, put2(g, IR_equal, i, whole(g, s->n - 1)), literal(g, s->stop), y);
}

static bool space_fits(struct ir_graph *g, const struct ir_space *s, const char *name) {
    if (s->n >= 0) return true;
    return ir_fail(g, WEFT_ESHAPE, "%s: %lld numbers", name, (long long)s->n);
}

ir_ref ir_linspace(struct ir_graph *g, weft_dtype t, const struct ir_space *s) {
    if (!space_fits(g, s, "linspace")) return IR_NONE;
    ir_ref y = spaced(g, s, index_of(g, s->n));
    return ir_cast(g, dtype_is_float(t) ? y : put1(g, IR_floor, y), t);
}

ir_ref ir_logspace(struct ir_graph *g, weft_dtype t, const struct ir_space *s, double base) {
    if (!space_fits(g, s, "logspace")) return IR_NONE;
    ir_ref y = spaced(g, s, index_of(g, s->n));
    return ir_cast(g, put2(g, IR_pow, number_of(g, WEFT_F64, base), y), t);
}

// Powers of ten between the logarithms of the ends; the ends are as given.
ir_ref ir_geomspace(struct ir_graph *g, weft_dtype t, const struct ir_space *s) {
    if (!space_fits(g, s, "geomspace")) return IR_NONE;
    if (!(s->start * s->stop > 0) && !(s->start > 0 && s->stop > 0) &&
        !(s->start < 0 && s->stop < 0))
        return ir_fail(g, WEFT_EINVAL, "geomspace: the ends must be both above or both below 0");
    struct ir_space logs = {log10(fabs(s->start)), log10(fabs(s->stop)), s->n, s->endpoint};
    ir_ref i = index_of(g, s->n);
    ir_ref y = put2(g, IR_pow, number_of(g, WEFT_F64, 10), spaced(g, &logs, i));
    if (s->start < 0) y = put1(g, IR_neg, y);
    y = put3(g, IR_where, put2(g, IR_equal, i, whole(g, 0)), literal(g, s->start), y);
    if (s->endpoint && s->n > 1)
        y = put3(g, IR_where, put2(g, IR_equal, i, whole(g, s->n - 1)), literal(g, s->stop), y);
    return ir_cast(g, y, t);
}

static ir_ref make_triangle(struct ir_graph *g, ir_ref x, int64_t k, bool lower) {
    if (!x || !(x = ir_strong(g, x))) return IR_NONE;
    int rank = ir_at(g, x)->rank;
    if (rank < 2)
        return ir_fail_at(g, WEFT_ESHAPE, &(struct ir_blame){lower ? "tril" : "triu", 1, &x},
                          "needs two axes");
    const int64_t dims[2] = {ir_dims(g, x)[rank - 2], ir_dims(g, x)[rank - 1]};
    ir_ref row = ir_iota(g, WEFT_I64, 2, dims, 0), col = ir_iota(g, WEFT_I64, 2, dims, 1);
    row = put2(g, IR_add, row, whole(g, k));
    ir_ref kept = put2(g, lower ? IR_greater_equal : IR_less_equal, row, col);
    return put3(g, IR_where, kept, x, number_of(g, type_of_ref(g, x), 0));
}
ir_ref ir_triangle(struct ir_graph *g, ir_ref x, int64_t k, bool lower) {
    IR_QUIETLY(g, make_triangle(g, x, k, lower));
}

// ---- random numbers ---------------------------------------------------------------------------
// Words of 64 or 32 bits, one per element, as u64.
static ir_ref words(struct ir_graph *g, enum ir_op op, const struct ir_stream *s) {
    int64_t n = 1;
    for (int i = 0; i < s->rank; i++)
        if (s->dims[i] < 0 || __builtin_mul_overflow(n, s->dims[i], &n))
            return ir_fail(g, WEFT_ESHAPE, "random: axis %d has extent %lld", i,
                           (long long)s->dims[i]);
    ir_ref at = ir_iota(g, WEFT_U64, 1, &n, 0);
    at = put2(g, IR_add, at, ir_constant_of(g, WEFT_U64, s->offset, IR_STRONG));
    ir_ref w = put2(g, op, at, ir_constant_of(g, WEFT_U64, s->key, IR_STRONG));
    return s->rank == 1 ? w : ir_reshape(g, w, s->rank, s->dims);
}

static bool wide(weft_dtype t) {
    return dtype_size(t) == 8;
}
static ir_ref words_for(struct ir_graph *g, weft_dtype t, const struct ir_stream *s) {
    return words(g, wide(t) ? IR_random_word : IR_random_half, s);
}

static ir_ref make_random_bits(struct ir_graph *g, weft_dtype t, const struct ir_stream *s) {
    if (dtype_is_float(t) || !ir_dtype_valid(t))
        return ir_fail(g, WEFT_EDTYPE, "random_bits: only for bool and integers");
    ir_ref w = words_for(g, t, s);
    return t == WEFT_BOOL ? ir_cast(g, put2(g, IR_bitwise_and, w, whole(g, 1)), t)
                          : ir_cast(g, w, t);
}
ir_ref ir_random_bits(struct ir_graph *g, weft_dtype t, const struct ir_stream *s) {
    IR_QUIETLY(g, make_random_bits(g, t, s));
}

static bool float_only(struct ir_graph *g, const char *name, weft_dtype t) {
    if (ir_dtype_valid(t) && dtype_is_float(t)) return true;
    return ir_fail(g, WEFT_EDTYPE, "%s: only for floating point", name);
}
// The upper bits of words as numbers: they are less than 2^63 (2^31), so signed ones convert.
static ir_ref upper_bits(struct ir_graph *g, weft_dtype t, ir_ref w, int dropped) {
    w = put2(g, IR_right_shift, w, whole(g, dropped));
    return ir_cast(g, ir_cast(g, w, wide(t) ? WEFT_I64 : WEFT_I32), wide(t) ? WEFT_F64 : WEFT_F32);
}

static ir_ref make_random_uniform(struct ir_graph *g, weft_dtype t, const struct ir_stream *s) {
    if (!float_only(g, "random_uniform", t)) return IR_NONE;
    int bits = t == WEFT_F64 ? 53 : t == WEFT_F32 ? 24 : t == WEFT_F16 ? 11 : 8; // none rounds to 1
    ir_ref x = upper_bits(g, t, words_for(g, t, s), (wide(t) ? 64 : 32) - bits);
    return ir_cast(g, put2(g, IR_mul, x, literal(g, ldexp(1, -bits))), t);
}
ir_ref ir_random_uniform(struct ir_graph *g, weft_dtype t, const struct ir_stream *s) {
    IR_QUIETLY(g, make_random_uniform(g, t, s));
}

// One bit is the sign, the rest m: the quantile of (m + 1/2) / 2^64 (2^32), at most 1/2.
static ir_ref make_random_normal(struct ir_graph *g, weft_dtype t, const struct ir_stream *s) {
    if (!float_only(g, "random_normal", t)) return IR_NONE;
    ir_ref w = words_for(g, t, s), p = upper_bits(g, t, w, 1);
    p = put2(g, IR_mul, p, literal(g, wide(t) ? 0x1p-64 : 0x1p-32));
    p = put2(g, IR_add, p, literal(g, wide(t) ? 0x1p-65 : 0x1p-33));
    ir_ref z = put1(g, IR_ndtri, p), odd = put2(g, IR_bitwise_and, w, whole(g, 1));
    return ir_cast(g, put3(g, IR_where, ir_cast(g, odd, WEFT_BOOL), z, put1(g, IR_neg, z)), t);
}
ir_ref ir_random_normal(struct ir_graph *g, weft_dtype t, const struct ir_stream *s) {
    IR_QUIETLY(g, make_random_normal(g, t, s));
}

static ir_ref make_random_integers(struct ir_graph *g, weft_dtype t, const struct ir_stream *s,
                          const int64_t ends[2]) {
    if (!ir_dtype_valid(t) || !dtype_is_int(t))
        return ir_fail(g, WEFT_EDTYPE, "random_integers: only for integers");
    if (ends[0] >= ends[1] || !ir_int_fits(ends[0], t) || !ir_int_fits((ir_wide)ends[1] - 1, t))
        return ir_fail(g, WEFT_EINVAL, "random_integers: no such range of %s", dtype_name(t));
    uint64_t count = (uint64_t)ends[1] - (uint64_t)ends[0];
    ir_ref w = words(g, IR_random_word, s);
    w = put2(g, IR_random_below, w, ir_constant_of(g, WEFT_U64, count, IR_STRONG));
    w = put2(g, IR_add, w, ir_constant_of(g, WEFT_U64, (uint64_t)ends[0], IR_STRONG));
    return ir_cast(g, w, t);
}
ir_ref ir_random_integers(struct ir_graph *g, weft_dtype t, const struct ir_stream *s,
                          const int64_t ends[2]) {
    IR_QUIETLY(g, make_random_integers(g, t, s, ends));
}
