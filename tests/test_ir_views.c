// SPDX-License-Identifier: MIT
// Views, reductions and products in the graph room. Views are read through ir_view_map, element by
// element, against values written out; reductions against the nodes they are made of.
#include "ir/ir.h"
#include "ir/graph.h"

#include <criterion/criterion.h>
#include <math.h>

static struct ir_graph *graph(void) {
    struct ir_graph *g = ir_graph_new(NULL, 0);
    cr_assert_not_null(g);
    return g;
}
static void done(struct ir_graph *g) {
    struct base_err e = {0};
    cr_expect(ir_check(g, &e), "%s", e.text);
    cr_expect_eq(ir_error(g)->status, WEFT_OK, "%s", ir_error(g)->text);
    ir_graph_free(g);
}
static ir_ref leaf(struct ir_graph *g, weft_dtype t, int rank, const int64_t *dims) {
    static char data[8];
    weft_array a = {.dtype = t, .rank = rank, .data = data};
    for (int i = 0; i < rank; i++)
        a.dims[i] = dims[i], a.strides[i] = 8 * (i + 1);
    return ir_from(g, &a);
}
#define DIMS(...)                                                                                  \
    (int)COUNT_OF(((int64_t[]){__VA_ARGS__})), (int64_t[]) { __VA_ARGS__ }
#define LEAF(g, t, ...) leaf(g, WEFT_##t, DIMS(__VA_ARGS__))
#define INPUT(g, t, ...) ir_input(g, "x", WEFT_##t, DIMS(__VA_ARGS__))
static void expect_text(struct ir_graph *g, ir_ref r, const char *want) {
    char got[200];
    cr_assert_neq(r, IR_NONE, "%s instead of %s", ir_error(g)->text, want);
    ir_type_text(g, r, got, sizeof got);
    cr_expect_str_eq(got, want, "%s is not %s", got, want);
}
static void expect_error(struct ir_graph *g, ir_ref r, weft_status s, const char *want) {
    cr_expect_eq(r, IR_NONE, "no error instead of: %s", want);
    cr_expect_eq(ir_error(g)->status, s, "%s: status %d", want, ir_error(g)->status);
    cr_expect_str_eq(ir_error(g)->text, want, "%s is not %s", ir_error(g)->text, want);
    err_clear(ir_error(g));
}

// The row-major number, in the leaf, of the element of r at index.
static int64_t source_of(struct ir_graph *g, ir_ref r, const int64_t *index) {
    int64_t at[WEFT_MAX_RANK], next[WEFT_MAX_RANK], off[WEFT_MAX_RANK],
        coef[WEFT_MAX_RANK * WEFT_MAX_RANK];
    memcpy(at, index, sizeof(int64_t) * ir_at(g, r)->rank);
    while (ir_ops[ir_at(g, r)->op].cls == IR_VIEW) {
        const struct ir_node *n = ir_at(g, r);
        ir_ref x = n->in[0];
        int in = ir_at(g, x)->rank;
        int64_t linear = 0;
        for (int k = 0; k < n->rank; k++)
            linear = linear * ir_dims(g, r)[k] + at[k];
        bool affine = ir_view_map(g, r, off, coef);
        cr_assert_eq(affine, n->op != IR_reshape);
        for (int j = in - 1; j >= 0; j--) {
            next[j] = affine ? off[j] : linear % ir_dims(g, x)[j];
            if (!affine) linear /= ir_dims(g, x)[j];
            for (int k = 0; affine && k < n->rank; k++)
                next[j] += coef[j * n->rank + k] * at[k];
            cr_assert(next[j] >= 0 && next[j] < ir_dims(g, x)[j]);
        }
        memcpy(at, next, sizeof at);
        r = x;
    }
    int64_t linear = 0;
    for (int k = 0; k < ir_at(g, r)->rank; k++)
        linear = linear * ir_dims(g, r)[k] + at[k];
    return linear;
}
static void expect_elements(struct ir_graph *g, ir_ref r, int64_t n, const int64_t *want) {
    int64_t index[WEFT_MAX_RANK];
    cr_assert_neq(r, IR_NONE, "%s", ir_error(g)->text);
    cr_assert_eq(ir_elements(g, r), n);
    for (int64_t e = 0; e < n; e++) {
        int64_t rest = e;
        for (int k = ir_at(g, r)->rank - 1; k >= 0; k--) {
            index[k] = rest % ir_dims(g, r)[k];
            rest /= ir_dims(g, r)[k];
        }
        cr_expect_eq(source_of(g, r, index), want[e], "element %d", (int)e);
    }
}
#define ELEMENTS(g, r, ...)                                                                        \
    expect_elements(g, r, (int64_t)COUNT_OF(((int64_t[]){__VA_ARGS__})), (int64_t[]){__VA_ARGS__})

// ---- views ------------------------------------------------------------------------------------
Test(ir_views, slices_are_pythons) {
    struct ir_graph *g = graph();
    ir_ref x = LEAF(g, F64, 6);
    int64_t _ = WEFT_NONE;
    ELEMENTS(g, ir_slice(g, x, 0, 1, -1, 1), 1, 2, 3, 4);
    ELEMENTS(g, ir_slice(g, x, 0, _, _, -1), 5, 4, 3, 2, 1, 0);
    ELEMENTS(g, ir_slice(g, x, 0, _, _, 2), 0, 2, 4);
    ELEMENTS(g, ir_slice(g, x, -1, _, _, -2), 5, 3, 1);
    ELEMENTS(g, ir_slice(g, x, 0, 4, 1, -2), 4, 2);
    ELEMENTS(g, ir_slice(g, x, 0, -100, 100, 3), 0, 3);
    ELEMENTS(g, ir_slice(g, x, 0, 100, -100, -4), 5, 1);
    ELEMENTS(g, ir_slice(g, x, 0, -2, _, 1), 4, 5);
    ELEMENTS(g, ir_slice(g, x, 0, 0, _, INT64_MAX), 0);
    ELEMENTS(g, ir_slice(g, x, 0, _, _, INT64_MIN + 1), 5);
    ELEMENTS(g, ir_slice(g, ir_slice(g, x, 0, 1, _, 2), 0, _, _, -1), 5, 3, 1);
    expect_text(g, ir_slice(g, x, 0, 4, 2, 1), "f64[0]");
    expect_text(g, ir_slice(g, x, 0, 7, _, 1), "f64[0]");
    expect_text(g, ir_slice(g, LEAF(g, F64, 0), 0, _, _, -1), "f64[0]");
    cr_expect_eq(ir_slice(g, x, 0, 0, 6, 1), x);
    cr_expect_eq(ir_slice(g, x, 0, _, _, 1), x);
    expect_error(g, ir_slice(g, x, 0, 0, 6, 0), WEFT_EINVAL, "slice: f64[6]: the step is 0");
    expect_error(g, ir_slice(g, x, 1, 0, 6, 1), WEFT_EINVAL,
                 "slice: f64[6]: axis 1 is out of range");
    done(g);
}

Test(ir_views, slices_resolve_at_every_bound) {
    for (int64_t n = 0; n < 6; n++)
        for (int64_t start = -8; start <= 8; start++)
            for (int64_t stop = -8; stop <= 8; stop++)
                for (int64_t step = -3; step <= 3; step++) {
                    if (step == 0) continue;
                    int64_t first, count, seen = 0, low = step < 0 ? -1 : 0,
                                          high = step < 0 ? n - 1 : n;
                    ir_slice_resolve(n, start, stop, step, &first, &count);
                    int64_t a = start < 0 ? start + n : start, b = stop < 0 ? stop + n : stop;
                    a = a < low ? low : a > high ? high : a;
                    b = b < low ? low : b > high ? high : b;
                    for (int64_t i = a; step < 0 ? i > b : i < b; i += step) {
                        if (seen == 0) cr_assert_eq(first, i);
                        seen++;
                    }
                    cr_assert_eq(count, seen);
                }
}

Test(ir_views, axes_move_come_and_go) {
    struct ir_graph *g = graph();
    ir_ref x = LEAF(g, F64, 2, 3), y = LEAF(g, F64, 2, 3, 4);
    ELEMENTS(g, ir_transpose(g, x, NULL), 0, 3, 1, 4, 2, 5);
    expect_text(g, ir_transpose(g, y, (int[]){1, -1, 0}), "f64[3,4,2]");
    ELEMENTS(g, ir_swap_axes(g, LEAF(g, F64, 1, 2, 2), 1, -1), 0, 2, 1, 3);
    cr_expect_eq(ir_transpose(g, ir_transpose(g, y, NULL), NULL), y);
    cr_expect_eq(ir_transpose(g, ir_transpose(g, y, (int[]){1, 2, 0}), (int[]){2, 0, 1}), y);
    cr_expect_eq(ir_swap_axes(g, y, 1, 1), y);
    ELEMENTS(g, ir_expand_dims(g, x, 1), 0, 1, 2, 3, 4, 5);
    expect_text(g, ir_expand_dims(g, x, -1), "f64[2,3,1]");
    cr_expect_eq(ir_squeeze(g, ir_expand_dims(g, x, 0), 0), x);
    ELEMENTS(g, ir_squeeze(g, LEAF(g, F64, 2, 1, 2), 1), 0, 1, 2, 3);
    ELEMENTS(g, ir_index(g, x, 0, -1), 3, 4, 5);
    ELEMENTS(g, ir_index(g, x, 1, 1), 1, 4);
    ELEMENTS(g, ir_broadcast_to(g, LEAF(g, F64, 2, 1), DIMS(2, 2, 2)), 0, 0, 1, 1, 0, 0, 1, 1);
    cr_expect_eq(ir_broadcast_to(g, x, DIMS(2, 3)), x);
    ELEMENTS(g, ir_diagonal(g, LEAF(g, F64, 3, 3), 0, 0, 1), 0, 4, 8);
    ELEMENTS(g, ir_diagonal(g, LEAF(g, F64, 3, 4), 2, 0, 1), 2, 7);
    ELEMENTS(g, ir_diagonal(g, LEAF(g, F64, 3, 4), -1, 0, 1), 4, 9);
    ELEMENTS(g, ir_diagonal(g, LEAF(g, F64, 3, 4), -1, 1, 0), 1, 6, 11);
    ELEMENTS(g, ir_diagonal(g, LEAF(g, F64, 2, 2, 2), 0, 0, 2), 0, 5, 2, 7);
    expect_text(g, ir_diagonal(g, x, INT64_MIN, 0, 1), "f64[0]");
    expect_text(g, ir_diagonal(g, x, 3, 0, 1), "f64[0]");
    expect_error(g, ir_transpose(g, y, (int[]){0, 0, 1}), WEFT_EINVAL,
                 "transpose: f64[2,3,4]: axis 0 is given twice");
    expect_error(g, ir_squeeze(g, x, 0), WEFT_ESHAPE, "squeeze: f64[2,3]: axis 0 is 2, not 1");
    expect_error(g, ir_index(g, x, 1, 3), WEFT_ESHAPE,
                 "index: f64[2,3]: 3 is out of range for axis 1");
    expect_error(g, ir_index(g, x, 1, -4), WEFT_ESHAPE,
                 "index: f64[2,3]: -4 is out of range for axis 1");
    expect_error(g, ir_broadcast_to(g, x, DIMS(2, 4)), WEFT_ESHAPE,
                 "broadcast_to: f64[2,3]: axis 1 is 3, not 4 as in f64[2,4]");
    expect_error(g, ir_broadcast_to(g, x, DIMS(3)), WEFT_ESHAPE,
                 "broadcast_to: f64[2,3]: f64[3] has fewer axes");
    expect_error(g, ir_diagonal(g, x, 0, 1, -1), WEFT_EINVAL,
                 "diagonal: f64[2,3]: axis 1 is given twice");
    expect_error(g, ir_expand_dims(g, x, 4), WEFT_EINVAL,
                 "expand_dims: f64[2,3]: axis 4 is out of range");
    done(g);
}

Test(ir_views, reshape) {
    struct ir_graph *g = graph();
    ir_ref x = LEAF(g, F64, 2, 3, 4);
    expect_text(g, ir_reshape(g, x, DIMS(4, -1)), "f64[4,6]");
    ELEMENTS(g, ir_transpose(g, ir_reshape(g, LEAF(g, F64, 6), DIMS(2, 3)), NULL), 0, 3, 1, 4, 2,
             5);
    ELEMENTS(g, ir_reshape(g, ir_transpose(g, LEAF(g, F64, 2, 3), NULL), DIMS(6)), 0, 3, 1, 4, 2,
             5);
    cr_expect_eq(ir_reshape(g, ir_reshape(g, x, DIMS(24)), DIMS(2, 3, 4)), x);
    cr_expect_eq(ir_reshape(g, ir_reshape(g, x, DIMS(24)), DIMS(6, 4)),
                 ir_reshape(g, x, DIMS(6, 4)));
    expect_text(g, ir_reshape(g, LEAF(g, F64, 1), 0, NULL), "f64");
    expect_text(g, ir_reshape(g, LEAF(g, F64, 0, 3), DIMS(-1)), "f64[0]");
    expect_error(g, ir_reshape(g, x, DIMS(5, -1)), WEFT_ESHAPE,
                 "reshape: f64[2,3,4]: 24 elements do not make f64[5,-1]");
    expect_error(g, ir_reshape(g, x, DIMS(5, 5)), WEFT_ESHAPE,
                 "reshape: f64[2,3,4]: 24 elements do not make f64[5,5]");
    expect_error(g, ir_reshape(g, LEAF(g, F64, 0, 3), DIMS(0, -1)), WEFT_ESHAPE,
                 "reshape: f64[0,3]: 0 elements do not make f64[0,-1]");
    expect_error(g, ir_reshape(g, x, DIMS(-1, -1)), WEFT_ESHAPE,
                 "reshape: f64[2,3,4]: more than one -1");
    expect_error(g, ir_reshape(g, x, DIMS(-2, 3)), WEFT_ESHAPE,
                 "reshape: f64[2,3,4]: a negative extent");
    expect_error(g, ir_reshape(g, x, DIMS(INT64_MAX, INT64_MAX)), WEFT_ESHAPE,
                 "reshape: f64[2,3,4]: 24 elements do not make "
                 "f64[9223372036854775807,9223372036854775807]");
    // what fits by chance stays when the extents may change
    ir_ref in = INPUT(g, F64, 2, 3);
    cr_expect_neq(ir_reshape(g, in, DIMS(2, 3)), in);
    cr_expect_neq(ir_slice(g, in, 0, 0, 2, 1), in);
    cr_expect_neq(ir_broadcast_to(g, in, DIMS(2, 3)), in);
    done(g);
}

Test(ir_views, views_of_constants_fold) {
    struct ir_graph *g = graph();
    double two = 2;
    ir_ref c = ir_constant(g, WEFT_F64, &two, IR_WEAK_FLOAT),
           s = ir_constant(g, WEFT_F64, &two, IR_STRONG);
    ir_ref b = ir_broadcast_to(g, c, DIMS(2, 3));
    cr_expect_eq(ir_at(g, b)->in[0], s);
    cr_expect_eq(ir_transpose(g, b, NULL), ir_broadcast_to(g, s, DIMS(3, 2)));
    cr_expect_eq(ir_reshape(g, b, DIMS(6)), ir_broadcast_to(g, s, DIMS(6)));
    cr_expect_eq(ir_index(g, ir_index(g, b, 0, 1), 0, 2), s);
    cr_expect_eq(ir_reshape(g, c, 0, NULL), s);
    expect_text(g, ir_expand_dims(g, c, 0), "f64[1]");
    done(g);
}

Test(ir_views, thirty_two_axes) {
    struct ir_graph *g = graph();
    ir_ref x = LEAF(g, I8, 5);
    for (int i = 1; i < WEFT_MAX_RANK; i++)
        x = ir_expand_dims(g, x, 0);
    cr_expect_eq(ir_at(g, x)->rank, WEFT_MAX_RANK);
    ELEMENTS(g, ir_transpose(g, x, NULL), 0, 1, 2, 3, 4);
    cr_expect_eq(ir_at(g, ir_reduce(g, IR_SUM, x, NULL))->rank, 0);
    weft_reduce keep = {.size = sizeof keep, .keepdims = true};
    cr_expect_eq(ir_at(g, ir_reduce(g, IR_VAR, x, &keep))->rank, WEFT_MAX_RANK);
    cr_expect_eq(ir_expand_dims(g, x, 0), IR_NONE);
    err_clear(ir_error(g));
    done(g);
}

// ---- reductions -------------------------------------------------------------------------------
static ir_ref reduce(struct ir_graph *g, enum ir_reduction what, ir_ref x, int n, const int *axes,
                     bool keep) {
    weft_reduce r = {.size = sizeof r, .axes = axes, .naxes = n, .keepdims = keep};
    return ir_reduce(g, what, x, &r);
}
#define REDUCE_OVER(g, what, x, keep, ...)                                                         \
    reduce(g, what, x, (int)COUNT_OF(((int[]){__VA_ARGS__})), (int[]){__VA_ARGS__}, keep)

enum {
    B = WEFT_BOOL,
    I64 = WEFT_I64,
    U64 = WEFT_U64,
    F32 = WEFT_F32,
    F64 = WEFT_F64,
    S = -1
}; // S: as x
static const struct {
    enum ir_reduction what;
    int truth, sign, unsign, f32, f64;
} reduced[] = {{IR_SUM, I64, I64, U64, F32, F64},
               {IR_PROD, I64, I64, U64, F32, F64},
               {IR_MIN, B, S, S, F32, F64},
               {IR_MAX, B, S, S, F32, F64},
               {IR_MEAN, F64, F64, F64, F32, F64},
               {IR_VAR, F64, F64, F64, F32, F64},
               {IR_STD, F64, F64, F64, F32, F64},
               {IR_ANY, B, B, B, B, B},
               {IR_ALL, B, B, B, B, B},
               {IR_COUNT_NONZERO, I64, I64, I64, I64, I64},
               {IR_ARGMIN, I64, I64, I64, I64, I64},
               {IR_ARGMAX, I64, I64, I64, I64, I64}};

Test(ir_views, types_and_shapes_of_reductions) {
    struct ir_graph *g = graph();
    for (size_t i = 0; i < COUNT_OF(reduced); i++) {
        for (int t = 0; t <= WEFT_BF16; t++) {
            weft_dtype d = (weft_dtype)t;
            ir_ref x = leaf(g, d, 3, (int64_t[]){2, 3, 4});
            int want = d == WEFT_BOOL       ? reduced[i].truth
                       : d == WEFT_F32      ? reduced[i].f32
                       : dtype_is_half(d)   ? (reduced[i].f32 == WEFT_F32 ? t : reduced[i].f32)
                       : d == WEFT_F64      ? reduced[i].f64
                       : dtype_is_signed(d) ? reduced[i].sign
                                            : reduced[i].unsign;
            for (int nan = 0; nan <= WEFT_NAN_RAISE; nan++) {
                weft_reduce r = {
                    .size = sizeof r, .axes = (int[]){-2}, .naxes = 1, .nan = (weft_nan)nan};
                ir_ref y = ir_reduce(g, reduced[i].what, x, &r);
                cr_assert_neq(y, IR_NONE, "%s", ir_error(g)->text);
                cr_expect_eq(ir_at(g, y)->dtype, want == S ? t : want, "reduction %zu of %s", i,
                             dtype_name(d));
                cr_expect(ir_at(g, y)->rank == 2 && ir_dims(g, y)[0] == 2 && ir_dims(g, y)[1] == 4);
                r.keepdims = true;
                y = ir_reduce(g, reduced[i].what, x, &r);
                cr_expect(ir_at(g, y)->rank == 3 && ir_dims(g, y)[1] == 1);
                r.axes = NULL;
                r.keepdims = false;
                cr_expect_eq(ir_at(g, ir_reduce(g, reduced[i].what, x, &r))->rank, 0);
                ir_ref s = ir_reduce(g, reduced[i].what, leaf(g, d, 0, NULL), &r);
                cr_expect(s && ir_at(g, s)->rank == 0 &&
                          ir_at(g, s)->dtype == (want == S ? t : want));
            }
        }
    }
    done(g);
}

static const char *dump(struct ir_graph *g, ir_ref r) {
    static struct base_vec out;
    vec_free(&out);
    vec_init(&out, NULL);
    ir_dump(g, 1, &r, &out);
    cr_assert_not(out.failed);
    return (const char *)out.data;
}

Test(ir_views, reductions_are_made_of_primitives) {
    struct ir_graph *g = graph();
    ir_ref x = LEAF(g, F32, 4, 5, 6);
    cr_expect_str_eq(
        dump(g, REDUCE_OVER(g, IR_SUM, x, false, 2, 0)), // gaps: the innermost run first
        "%1 = from strides[8,16,24] : f32[4,5,6]\n"
        "%2 = sum %1 axes[2] : f32[4,5]\n"
        "%3 = sum %2 axes[0] : f32[5]\n"
        "return %3\n");
    cr_expect_str_eq(dump(g, REDUCE_OVER(g, IR_MEAN, x, true, 1, 2)), // adjacent axes: one run
                     "%1 = from strides[8,16,24] : f32[4,5,6]\n"
                     "%2 = cast %1 : f64[4,5,6]\n"
                     "%3 = sum %2 axes[1,2] : f64[4]\n"
                     "%4 = extent %1 axes[1,2] = 30 : f64\n"
                     "%5 = true_divide %3 %4 : f64[4]\n"
                     "%6 = cast %5 : f32[4]\n"
                     "%7 = expand_dims %6 [1] : f32[4,1]\n"
                     "%8 = expand_dims %7 [2] : f32[4,1,1]\n"
                     "return %8\n");
    weft_reduce skip = {.size = sizeof skip, .nan = WEFT_NAN_SKIP};
    cr_expect_str_eq(dump(g, ir_reduce(g, IR_ARGMAX, x, &skip)),
                     "%1 = from strides[8,16,24] : f32[4,5,6]\n"
                     "%2 = nanargmax %1 axes[0,1,2] : i64\n"
                     "%3 = isnan %1 : bool[4,5,6]\n"
                     "%4 = all %3 axes[0,1,2] : bool\n"
                     "%5 = guard %2 %4 \"argmax: a slice is all NaN\" : i64\n"
                     "return %5\n");
    weft_reduce raise = {.size = sizeof raise, .nan = WEFT_NAN_RAISE};
    cr_expect_str_eq(dump(g, ir_reduce(g, IR_PROD, x, &raise)),
                     "%1 = from strides[8,16,24] : f32[4,5,6]\n"
                     "%2 = prod %1 axes[0,1,2] : f32\n"
                     "%3 = isnan %1 : bool[4,5,6]\n"
                     "%4 = any %3 axes[0,1,2] : bool\n"
                     "%5 = guard %2 %4 \"prod: there is a NaN among the elements\" : f32\n"
                     "return %5\n");
    cr_expect_str_eq(dump(g, ir_reduce(g, IR_COUNT_NONZERO, LEAF(g, I8, 3), NULL)),
                     "%1 = from strides[8] : i8[3]\n"
                     "%2 = cast %1 : bool[3]\n"
                     "%3 = cast %2 : i64[3]\n"
                     "%4 = sum %3 axes[0] : i64\n"
                     "return %4\n");
    done(g);
}

Test(ir_views, variance_subtracts_the_mean_first) {
    struct ir_graph *g = graph();
    weft_reduce r = {.size = sizeof r, .axes = (int[]){1}, .naxes = 1, .ddof = 1.5};
    cr_expect_str_eq(dump(g, ir_reduce(g, IR_STD, LEAF(g, F64, 2, 3), &r)),
                     "%1 = from strides[8,16] : f64[2,3]\n"
                     "%2 = sum %1 axes[1] : f64[2]\n"
                     "%3 = extent %1 axes[1] = 3 : f64\n"
                     "%4 = true_divide %2 %3 : f64[2]\n"
                     "%5 = expand_dims %4 [1] : f64[2,1]\n"
                     "%6 = sub %1 %5 : f64[2,3]\n"
                     "%7 = square %6 : f64[2,3]\n"
                     "%8 = sum %7 axes[1] : f64[2]\n"
                     "%9 = extent %1 axes[1] = 1.5 : f64\n"
                     "%10 = true_divide %8 %9 : f64[2]\n"
                     "%11 = sqrt %10 : f64[2]\n"
                     "return %11\n");
    r.ddof = 4;
    ir_ref v = ir_reduce(g, IR_VAR, LEAF(g, F64, 2, 3), &r);
    cr_expect_eq(ir_extent_value(g, ir_at(g, v)->in[1]), 0, "a divisor below 0 is 0, as NumPy");
    done(g);
}

Test(ir_views, reductions_of_nothing) {
    struct ir_graph *g = graph();
    ir_ref x = LEAF(g, F32, 0, 3), y = LEAF(g, F32, 3, 0), i = LEAF(g, I8, 0);
    static const struct {
        enum ir_reduction what;
        double want;
    } rows[] = {{IR_SUM, 0}, {IR_PROD, 1}, {IR_ANY, 0}, {IR_ALL, 1}, {IR_COUNT_NONZERO, 0}};
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        ir_ref r = ir_reduce(g, rows[k].what, i, NULL);
        cr_assert_neq(r, IR_NONE, "%s", ir_error(g)->text);
        cr_expect(ir_is_constant(g, r));
        uint64_t bits =
            ir_convert_bits((weft_dtype)ir_at(g, r)->dtype, ir_constant_bits(g, r), WEFT_F64);
        cr_expect_eq(bits, ir_double_bits(rows[k].want), "reduction %zu", k);
    }
    expect_text(g, REDUCE_OVER(g, IR_SUM, x, false, 0), "f32[3]");
    expect_text(g, REDUCE_OVER(g, IR_MEAN, x, true, 0), "f32[1,3]");
    expect_text(g, REDUCE_OVER(g, IR_MAX, x, false, 1), "f32[0]");
    expect_text(g, REDUCE_OVER(g, IR_ARGMAX, y, false, 0), "i64[0]");
    expect_error(g, REDUCE_OVER(g, IR_MAX, x, false, 0), WEFT_ESHAPE,
                 "max: f32[0,3]: axis 0 is empty and there is no identity");
    expect_error(g, ir_reduce(g, IR_ARGMIN, i, NULL), WEFT_ESHAPE,
                 "argmin: i8[0]: axis 0 is empty and there is no identity");
    expect_error(g, ir_reduce(g, IR_MIN, y, NULL), WEFT_ESHAPE,
                 "min: f32[3,0]: axis 1 is empty and there is no identity");
    done(g);
}

Test(ir_views, reductions_refuse) {
    struct ir_graph *g = graph();
    ir_ref x = LEAF(g, F64, 2, 3, 4);
    expect_error(g, REDUCE_OVER(g, IR_SUM, x, false, 3), WEFT_EINVAL,
                 "sum: f64[2,3,4]: axis 3 is out of range");
    expect_error(g, REDUCE_OVER(g, IR_VAR, x, false, 1, -2), WEFT_EINVAL,
                 "var: f64[2,3,4]: axis 1 is given twice");
    expect_error(g, REDUCE_OVER(g, IR_ARGMAX, x, false, 0, 1), WEFT_EINVAL,
                 "argmax: f64[2,3,4]: takes one axis or all of them");
    cr_expect_neq(REDUCE_OVER(g, IR_ARGMAX, x, false, 2, 0, 1), IR_NONE);
    weft_reduce r = {.size = sizeof r, .ddof = NAN};
    expect_error(g, ir_reduce(g, IR_VAR, x, &r), WEFT_EINVAL,
                 "var: f64[2,3,4]: ddof is not finite");
    r = (weft_reduce){.size = sizeof r, .nan = (weft_nan)7};
    expect_error(g, ir_reduce(g, IR_VAR, x, &r), WEFT_EINVAL,
                 "var: f64[2,3,4]: no such NaN mode (7)");
    cr_expect_eq(reduce(g, IR_SUM, x, 0, (int[]){0}, false), x, "over no axes");
    done(g);
}

// ---- products ---------------------------------------------------------------------------------
Test(ir_views, products_have_numpys_shapes) {
    struct ir_graph *g = graph();
    ir_ref v = LEAF(g, F64, 4), w = LEAF(g, F32, 3), m = LEAF(g, F64, 3, 4), n = LEAF(g, I8, 4, 5);
    ir_ref batch = LEAF(g, F32, 2, 1, 3, 4), many = LEAF(g, F64, 7, 4, 5);
    expect_text(g, ir_matmul(g, m, n), "f64[3,5]");
    expect_text(g, ir_matmul(g, m, v), "f64[3]");
    expect_text(g, ir_matmul(g, w, m), "f64[4]");
    expect_text(g, ir_matmul(g, v, v), "f64");
    expect_text(g, ir_matmul(g, batch, many), "f64[2,7,3,5]");
    expect_text(g, ir_matmul(g, batch, v), "f64[2,1,3]");
    expect_text(g, ir_matmul(g, v, many), "f64[7,5]");
    expect_text(g, ir_matmul(g, LEAF(g, BOOL, 3, 0), LEAF(g, BOOL, 0, 2)), "bool[3,2]");
    expect_text(g, ir_dot(g, batch, many), "f64[2,1,3,7,5]");
    expect_text(g, ir_dot(g, batch, n), "f32[2,1,3,5]");
    expect_text(g, ir_dot(g, v, many), "f64[7,5]");
    expect_text(g, ir_dot(g, LEAF(g, I32, 4), LEAF(g, I32, 4)), "i32");
    expect_text(g, ir_dot(g, LEAF(g, BOOL, 4), LEAF(g, BOOL, 4)), "bool");
    expect_text(g, ir_dot(g, leaf(g, WEFT_F64, 0, NULL), n), "f64[4,5]");
    expect_error(g, ir_matmul(g, m, m), WEFT_ESHAPE,
                 "matmul: f64[3,4] and f64[3,4]: inner extents are 4 and 3");
    expect_error(g, ir_matmul(g, v, w), WEFT_ESHAPE,
                 "matmul: f64[4] and f32[3]: inner extents are 4 and 3");
    expect_error(g, ir_dot(g, v, w), WEFT_ESHAPE,
                 "dot: f64[4] and f32[3]: inner extents are 4 and 3");
    expect_error(g, ir_matmul(g, leaf(g, WEFT_F64, 0, NULL), m), WEFT_ESHAPE,
                 "matmul: f64 and f64[3,4]: an operand has no axes; use mul");
    expect_error(g, ir_matmul(g, LEAF(g, F64, 2, 3, 4), LEAF(g, F64, 5, 4, 3)), WEFT_ESHAPE,
                 "matmul: f64[2,3,4] and f64[5,4,3]: batch axis 0 is 2 and 5");
    done(g);
}
