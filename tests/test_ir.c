// SPDX-License-Identifier: MIT
// Building graphs: the type operands meet in against NumPy's table, literals, shapes, the sentences
// of errors, folds, conversions of constants against the compiler's own.
#include "ir/ir.h"
#include "ir/graph.h"

#include <criterion/criterion.h>
#include <math.h>

static struct ir_graph *graph(void) {
    struct ir_graph *g = ir_graph_new(NULL, 0);
    cr_assert_not_null(g);
    return g;
}
// A leaf of some shape; rank counts the extents that follow.
static ir_ref leaf(struct ir_graph *g, weft_dtype t, int rank, const int64_t *dims) {
    static char data[8];
    weft_array a = {.dtype = t, .rank = rank, .data = data};
    int64_t stride = (int64_t)dtype_size(t);
    for (int i = rank - 1; i >= 0; i--) {
        a.dims[i] = dims[i];
        a.strides[i] = stride;
        stride *= dims[i];
    }
    return ir_from(g, &a);
}
#define LEAF(g, t, ...)                                                                            \
    leaf(g, WEFT_##t, (int)COUNT_OF(((int64_t[]){__VA_ARGS__})), (int64_t[]){__VA_ARGS__})
static ir_ref scalar(struct ir_graph *g, weft_dtype t) { return leaf(g, t, 0, NULL); }
static ir_ref lit_int(struct ir_graph *g, int64_t v) {
    return ir_constant(g, WEFT_I64, &v, IR_WEAK_INT);
}
static ir_ref lit_uint(struct ir_graph *g, uint64_t v) {
    return ir_constant(g, WEFT_U64, &v, IR_WEAK_INT);
}
static ir_ref lit_float(struct ir_graph *g, double v) {
    return ir_constant(g, WEFT_F64, &v, IR_WEAK_FLOAT);
}
static ir_ref lit_bool(struct ir_graph *g, bool v) {
    return ir_constant(g, WEFT_BOOL, &v, IR_WEAK_BOOL);
}
static ir_ref strong(struct ir_graph *g, double v) {
    return ir_constant(g, WEFT_F64, &v, IR_STRONG);
}
static ir_ref un(struct ir_graph *g, enum ir_op op, ir_ref a) { return ir_map(g, op, &a); }
static ir_ref bin(struct ir_graph *g, enum ir_op op, ir_ref a, ir_ref b) {
    return ir_map(g, op, (ir_ref[]){a, b});
}
static weft_dtype type(struct ir_graph *g, ir_ref r) {
    cr_assert_neq(r, IR_NONE, "%s", ir_error(g)->text);
    return (weft_dtype)ir_at(g, r)->dtype;
}
static void expect_text(struct ir_graph *g, ir_ref r, const char *want) {
    char got[200];
    cr_assert_neq(r, IR_NONE, "%s instead of %s", ir_error(g)->text, want);
    ir_type_text(g, r, got, sizeof got);
    cr_expect_str_eq(got, want);
}
static void expect_error(struct ir_graph *g, ir_ref r, weft_status s, const char *want) {
    cr_expect_eq(r, IR_NONE, "no error instead of: %s", want);
    cr_expect_eq(ir_error(g)->status, s, "%s: status %d", want, ir_error(g)->status);
    cr_expect_str_eq(ir_error(g)->text, want);
    err_clear(ir_error(g));
}
static void done(struct ir_graph *g) {
    struct base_err e = {0};
    cr_expect(ir_check(g, &e), "%s", e.text);
    cr_expect_eq(ir_error(g)->status, WEFT_OK, "%s", ir_error(g)->text);
    ir_graph_free(g);
}

// ---- promotion --------------------------------------------------------------------------------
enum {
    B = WEFT_BOOL,
    I8 = WEFT_I8,
    I16 = WEFT_I16,
    I32 = WEFT_I32,
    I64 = WEFT_I64,
    U8 = WEFT_U8,
    U16 = WEFT_U16,
    U32 = WEFT_U32,
    U64 = WEFT_U64,
    F32 = WEFT_F32,
    F64 = WEFT_F64,
    F16 = WEFT_F16,
    BF = WEFT_BF16,
    C64 = WEFT_C64,
    C128 = WEFT_C128,
    X = -1
};
// NumPy's result types (numpy.promote_types), rows and columns in the order of weft_dtype; bf16, which NumPy
// has not, as in ml_dtypes
static const int promoted[WEFT_DTYPE__N][WEFT_DTYPE__N] = {
    {B, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, F16, BF, C64, C128},
    {I8, I8, I16, I32, I64, I16, I32, I64, F64, F32, F64, F16, BF, C64, C128},
    {I16, I16, I16, I32, I64, I16, I32, I64, F64, F32, F64, F32, F32, C64, C128},
    {I32, I32, I32, I32, I64, I32, I32, I64, F64, F64, F64, F64, F64, C128, C128},
    {I64, I64, I64, I64, I64, I64, I64, I64, F64, F64, F64, F64, F64, C128, C128},
    {U8, I16, I16, I32, I64, U8, U16, U32, U64, F32, F64, F16, BF, C64, C128},
    {U16, I32, I32, I32, I64, U16, U16, U32, U64, F32, F64, F32, F32, C64, C128},
    {U32, I64, I64, I64, I64, U32, U32, U32, U64, F64, F64, F64, F64, C128, C128},
    {U64, F64, F64, F64, F64, U64, U64, U64, U64, F64, F64, F64, F64, C128, C128},
    {F32, F32, F32, F64, F64, F32, F32, F64, F64, F32, F64, F32, F32, C64, C128},
    {F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, C128, C128},
    {F16, F16, F32, F64, F64, F16, F32, F64, F64, F32, F64, F16, F32, C64, C128},
    {BF, BF, F32, F64, F64, BF, F32, F64, F64, F32, F64, F32, BF, C64, C128},
    {C64, C64, C64, C128, C128, C64, C64, C128, C128, C64, C128, C64, C64, C64, C128},
    {C128, C128, C128, C128, C128, C128, C128, C128, C128, C128, C128, C128, C128, C128, C128},
};

Test(ir, promotion_is_numpys) {
    struct ir_graph *g = graph();
    for (int a = 0; a < WEFT_DTYPE__N; a++) {
        for (int b = 0; b < WEFT_DTYPE__N; b++) {
            weft_dtype ta = (weft_dtype)a, tb = (weft_dtype)b;
            cr_expect_eq((int)ir_promote(ta, tb), promoted[a][b], "%s %s", dtype_name(ta),
                         dtype_name(tb));
            if (dtype_is_complex(ta) || dtype_is_complex(tb)) continue;
            ir_ref sum =
                bin(g, IR_add, leaf(g, ta, 1, (int64_t[]){3}), leaf(g, tb, 1, (int64_t[]){3}));
            cr_expect_eq((int)type(g, sum), promoted[a][b]);
        }
    }
    cr_expect_eq(ir_promote((weft_dtype)-1, WEFT_I8), WEFT_DTYPE__N);
    done(g);
}

// Types of results by rule: the operation, then for each dtype in order the result or X for
// WEFT_EDTYPE.
static const struct {
    enum ir_op op;
    int result[WEFT_BF16 + 1];
} unary_types[] = {
    {IR_neg, {X, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, F16, BF}},
    {IR_abs, {B, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, F16, BF}},
    {IR_sign, {X, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, F16, BF}},
    {IR_square, {I8, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, F16, BF}},
    {IR_reciprocal, {I8, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, F16, BF}},
    {IR_floor, {B, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, F16, BF}},
    {IR_round, {B, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, F16, BF}},
    {IR_sqrt, {F64, F64, F64, F64, F64, F64, F64, F64, F64, F32, F64, F16, BF}},
    {IR_exp, {F64, F64, F64, F64, F64, F64, F64, F64, F64, F32, F64, F16, BF}},
    {IR_logical_not, {B, B, B, B, B, B, B, B, B, B, B, B, B}},
    {IR_bitwise_not, {B, I8, I16, I32, I64, U8, U16, U32, U64, X, X, X, X}},
    {IR_isnan, {B, B, B, B, B, B, B, B, B, B, B, B, B}},
};
static const struct {
    enum ir_op op;
    int result[WEFT_BF16 + 1];
} same_types[] = {
    // both operands alike
    {IR_sub, {X, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, F16, BF}},
    {IR_mul, {B, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, F16, BF}},
    {IR_true_divide, {F64, F64, F64, F64, F64, F64, F64, F64, F64, F32, F64, F16, BF}},
    {IR_floor_divide, {I8, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, F16, BF}},
    {IR_remainder, {I8, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, F16, BF}},
    {IR_pow, {I8, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, F16, BF}},
    {IR_hypot, {F64, F64, F64, F64, F64, F64, F64, F64, F64, F32, F64, F16, BF}},
    {IR_minimum, {B, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, F16, BF}},
    {IR_less, {B, B, B, B, B, B, B, B, B, B, B, B, B}},
    {IR_logical_xor, {B, B, B, B, B, B, B, B, B, B, B, B, B}},
    {IR_bitwise_and, {B, I8, I16, I32, I64, U8, U16, U32, U64, X, X, X, X}},
    {IR_left_shift, {I8, I8, I16, I32, I64, U8, U16, U32, U64, X, X, X, X}},
};

static void expect_result(struct ir_graph *g, ir_ref r, int want, const char *name, weft_dtype t) {
    if (want == X) {
        cr_expect_eq(r, IR_NONE, "%s of %s", name, dtype_name(t));
        cr_expect_eq(ir_error(g)->status, WEFT_EDTYPE, "%s of %s: %s", name, dtype_name(t),
                     ir_error(g)->text);
        err_clear(ir_error(g));
    } else {
        cr_expect_eq((int)type(g, r), want, "%s of %s", name, dtype_name(t));
    }
}

Test(ir, types_by_rule) {
    struct ir_graph *g = graph();
    for (int t = 0; t <= WEFT_BF16; t++) {
        ir_ref x = leaf(g, (weft_dtype)t, 1, (int64_t[]){3}),
               y = leaf(g, (weft_dtype)t, 2, (int64_t[]){3, 1});
        for (size_t i = 0; i < COUNT_OF(unary_types); i++)
            expect_result(g, un(g, unary_types[i].op, x), unary_types[i].result[t],
                          ir_ops[unary_types[i].op].name, (weft_dtype)t);
        for (size_t i = 0; i < COUNT_OF(same_types); i++)
            expect_result(g, bin(g, same_types[i].op, x, y), same_types[i].result[t],
                          ir_ops[same_types[i].op].name, (weft_dtype)t);
    }
    done(g);
}

Test(ir, every_operation_of_the_table_builds) {
    struct ir_graph *g = graph();
    for (int op = IR_add; op < IR_cast; op++) {
        ir_ref x = LEAF(g, I32, 3), y = LEAF(g, I32, 2, 3), c = LEAF(g, BOOL, 3);
        ir_ref in[3] = {op == IR_where ? c : x, y, x};
        cr_expect_neq(ir_map(g, (enum ir_op)op, in), IR_NONE, "%s: %s", ir_ops[op].name,
                      ir_error(g)->text);
    }
    done(g);
}

// ---- literals ---------------------------------------------------------------------------------
Test(ir, literals_take_the_type_they_meet) {
    struct ir_graph *g = graph();
    static const int with_int[] = {I64, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, F16, BF};
    static const int with_float[] = {F64, F64, F64, F64, F64, F64, F64, F64, F64, F32, F64, F16, BF};
    static const int divided[] = {F64, F64, F64, F64, F64, F64, F64, F64, F64, F32, F64, F16, BF};
    for (int t = 0; t <= WEFT_BF16; t++) {
        ir_ref x = leaf(g, (weft_dtype)t, 1, (int64_t[]){3});
        cr_expect_eq((int)type(g, bin(g, IR_add, x, lit_int(g, 3))), with_int[t], "int with %d", t);
        cr_expect_eq((int)type(g, bin(g, IR_add, lit_float(g, 3), x)), with_float[t],
                     "float with %d", t);
        cr_expect_eq((int)type(g, bin(g, IR_mul, x, lit_bool(g, true))), t, "bool with %d", t);
        cr_expect_eq((int)type(g, bin(g, IR_true_divide, x, lit_int(g, 3))), divided[t],
                     "/ with %d", t);
    }
    // the literal has become a constant of the array's type
    ir_ref y = bin(g, IR_mul, LEAF(g, F32, 3), lit_float(g, 0.1));
    ir_ref c = ir_at(g, y)->in[1];
    float f;
    uint64_t bits = ir_constant_bits(g, c);
    memcpy(&f, &bits, sizeof f);
    cr_expect(ir_at(g, c)->op == IR_constant && ir_at(g, c)->dtype == WEFT_F32 && f == 0.1f &&
              !ir_at(g, c)->weak);
    // 0-d arrays and typed scalars are not weak
    cr_expect_eq(type(g, bin(g, IR_add, LEAF(g, F32, 3), scalar(g, WEFT_F64))), WEFT_F64);
    cr_expect_eq(type(g, bin(g, IR_add, LEAF(g, F32, 3), strong(g, 1.5))), WEFT_F64);
    done(g);
}

Test(ir, literals_with_literals_stay_weak) {
    struct ir_graph *g = graph();
    ir_ref sum = bin(g, IR_add, lit_float(g, 1), lit_float(g, 2));
    cr_expect_eq(type(g, sum), WEFT_F64);
    cr_expect_eq(type(g, bin(g, IR_mul, LEAF(g, F32, 3), sum)), WEFT_F32);
    cr_expect_eq(type(g, bin(g, IR_mul, LEAF(g, F32, 3), un(g, IR_exp, lit_int(g, 2)))), WEFT_F32);
    cr_expect_eq(
        type(g, bin(g, IR_mul, LEAF(g, I8, 3), bin(g, IR_add, lit_int(g, 100), lit_int(g, 27)))),
        WEFT_I8);
    expect_text(g, bin(g, IR_sub, lit_int(g, 3), lit_int(g, 5)), "literal -2");
    expect_text(g, bin(g, IR_floor_divide, lit_int(g, -7), lit_int(g, 2)), "literal -4");
    expect_text(g, bin(g, IR_remainder, lit_int(g, -7), lit_int(g, 2)), "literal 1");
    expect_text(g, bin(g, IR_pow, lit_int(g, 2), lit_int(g, 63)), "literal 9223372036854775808");
    expect_text(g, bin(g, IR_left_shift, lit_int(g, 1), lit_int(g, 40)), "literal 1099511627776");
    expect_text(g, un(g, IR_neg, lit_uint(g, (uint64_t)1 << 63)), "literal -9223372036854775808");
    expect_text(g, un(g, IR_neg, lit_float(g, 2.5)), "literal -2.5");
    expect_text(g, bin(g, IR_less, lit_int(g, -1), lit_uint(g, UINT64_MAX)), "literal True");
    expect_error(
        g, bin(g, IR_mul, lit_uint(g, UINT64_MAX), lit_int(g, 2)), WEFT_EDTYPE,
        "mul: literal 18446744073709551615 and literal 2: the result of these literals needs more "
        "than 64 bits");
    done(g);
}

Test(ir, literals_must_fit) {
    static const struct {
        weft_dtype t;
        int64_t least, most;
    } range[] = {{WEFT_I8, -128, 127}, {WEFT_I16, -32768, 32767}, {WEFT_I32, INT32_MIN, INT32_MAX},
                 {WEFT_U8, 0, 255},    {WEFT_U16, 0, 65535},      {WEFT_U32, 0, UINT32_MAX}};
    struct ir_graph *g = graph();
    for (size_t i = 0; i < COUNT_OF(range); i++) {
        ir_ref x = leaf(g, range[i].t, 1, (int64_t[]){3});
        cr_expect_neq(bin(g, IR_add, x, lit_int(g, range[i].least)), IR_NONE);
        cr_expect_neq(bin(g, IR_add, x, lit_int(g, range[i].most)), IR_NONE);
        cr_expect_eq(bin(g, IR_add, x, lit_int(g, range[i].most + 1)), IR_NONE);
        cr_expect_eq(ir_error(g)->status, WEFT_EDTYPE);
        err_clear(ir_error(g));
        cr_expect_eq(bin(g, IR_maximum, lit_int(g, range[i].least - 1), x), IR_NONE);
        err_clear(ir_error(g));
    }
    expect_error(g, bin(g, IR_add, LEAF(g, U64, 3), lit_int(g, -1)), WEFT_EDTYPE,
                 "add: u64[3] and literal -1: the literal does not fit u64");
    expect_error(g, bin(g, IR_mul, lit_int(g, 300), LEAF(g, I8, 2, 2)), WEFT_EDTYPE,
                 "mul: literal 300 and i8[2,2]: the literal does not fit i8");
    expect_error(
        g, bin(g, IR_pow, LEAF(g, I32, 4), lit_int(g, -1)), WEFT_EDTYPE,
        "pow: i32[4] and literal -1: an integer to a negative power; make the base floating point");
    cr_expect_eq(type(g, bin(g, IR_pow, LEAF(g, F32, 4), lit_int(g, -1))), WEFT_F32);
    done(g);
}

// A comparison with a literal outside the type is known, whatever the array holds.
Test(ir, comparisons_with_literals_are_exact) {
    static const struct {
        enum ir_op op;
        bool above, below;
    } rows[] = {// x op 300, x op -300 for i8
                {IR_less, true, false},    {IR_less_equal, true, false},
                {IR_greater, false, true}, {IR_greater_equal, false, true},
                {IR_equal, false, false},  {IR_not_equal, true, true}};
    struct ir_graph *g = graph();
    ir_ref x = LEAF(g, I8, 3);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (int side = 0; side < 2; side++) {
            ir_ref v = lit_int(g, side ? -300 : 300), r = bin(g, rows[i].op, x, v);
            bool want = side ? rows[i].below : rows[i].above;
            cr_expect_eq(ir_at(g, r)->op, want ? IR_equal : IR_not_equal);
            cr_expect(ir_at(g, r)->in[0] == x && ir_at(g, r)->in[1] == x);
        }
        ir_ref swapped = bin(g, rows[i].op, lit_int(g, -300), x); // -300 op x is x mirrored -300
        bool want =
            rows[i].op == IR_less || rows[i].op == IR_less_equal || rows[i].op == IR_not_equal;
        cr_expect_eq(ir_at(g, swapped)->op, want ? IR_equal : IR_not_equal);
    }
    cr_expect_eq(type(g, bin(g, IR_less, LEAF(g, U64, 3), lit_int(g, -1))), WEFT_BOOL);
    cr_expect_eq(type(g, bin(g, IR_less, LEAF(g, I64, 3), lit_uint(g, UINT64_MAX))), WEFT_BOOL);
    done(g);
}

static bool reaches_float(struct ir_graph *g, ir_ref r) {
    if (!r) return false;
    if (dtype_is_float((weft_dtype)ir_at(g, r)->dtype)) return true;
    return reaches_float(g, ir_at(g, r)->in[0]) || reaches_float(g, ir_at(g, r)->in[1]);
}
Test(ir, signed_with_u64_compares_without_floats) {
    struct ir_graph *g = graph();
    for (int op = IR_equal; op <= IR_greater_equal; op++) {
        for (int t = WEFT_I8; t <= WEFT_I64; t++) {
            ir_ref s = leaf(g, (weft_dtype)t, 1, (int64_t[]){3}), u = LEAF(g, U64, 2, 1);
            ir_ref a = bin(g, (enum ir_op)op, s, u), b = bin(g, (enum ir_op)op, u, s);
            expect_text(g, a, "bool[2,3]");
            expect_text(g, b, "bool[2,3]");
            cr_expect_not(reaches_float(g, a) || reaches_float(g, b));
        }
    }
    done(g);
}

// ---- shapes and sentences ---------------------------------------------------------------------
Test(ir, broadcasting) {
    struct ir_graph *g = graph();
    expect_text(g, bin(g, IR_add, LEAF(g, F64, 1, 1), LEAF(g, F64, 0, 1)), "f64[0,1]");
    expect_text(g, bin(g, IR_add, LEAF(g, F64, 3, 1, 0), LEAF(g, F64, 1, 4, 1)), "f64[3,4,0]");
    expect_text(g, bin(g, IR_add, scalar(g, WEFT_F64), LEAF(g, F64, 0, 2, 2)), "f64[0,2,2]");
    expect_text(g, bin(g, IR_add, scalar(g, WEFT_F64), scalar(g, WEFT_I8)), "f64");
    expect_text(
        g,
        ir_map(g, IR_where, (ir_ref[]){LEAF(g, I8, 4, 1), LEAF(g, F32, 3), LEAF(g, I16, 2, 1, 1)}),
        "f32[2,4,3]");
    expect_error(g, bin(g, IR_add, LEAF(g, F64, 2, 1), LEAF(g, F64, 0, 1)), WEFT_ESHAPE,
                 "add: f64[2,1] and f64[0,1]: axis 0 is 2 and 0");
    expect_error(g, bin(g, IR_mul, LEAF(g, F64, 3, 4), LEAF(g, I32, 5)), WEFT_ESHAPE,
                 "mul: f64[3,4] and i32[5]: axis 1 is 4 and 5");
    expect_error(
        g, ir_map(g, IR_where, (ir_ref[]){LEAF(g, BOOL, 3), LEAF(g, F64, 1), LEAF(g, F64, 4)}),
        WEFT_ESHAPE, "where: bool[3] and f64[1] and f64[4]: axis 0 is 3 and 4");
    expect_error(g, bin(g, IR_bitwise_and, LEAF(g, F64, 3), LEAF(g, I8, 3)), WEFT_EDTYPE,
                 "bitwise_and: f64[3] and i8[3]: not defined for f64; only for bool and integers");
    expect_error(g, bin(g, IR_sub, LEAF(g, BOOL, 3), LEAF(g, BOOL, 3)), WEFT_EDTYPE,
                 "sub: bool[3] and bool[3]: not defined for bool; use bitwise_xor or logical_xor");
    done(g);
}

Test(ir, sizes_that_overflow_are_errors) {
    struct ir_graph *g = graph();
    int64_t big[3] = {1000000000, 1000000000, 1000000000};
    expect_error(g, ir_input(g, "x", WEFT_F64, 3, big), WEFT_ESHAPE,
                 "input: the size of f64[1000000000,1000000000,1000000000] overflows");
    cr_expect_eq(ir_input_count(g), 0);
    expect_error(g, ir_input(g, "x", WEFT_F64, 2, big), WEFT_ESHAPE,
                 "input: the size of f64[1000000000,1000000000] overflows");
    cr_expect_neq(ir_input(g, "x", WEFT_F64, 2, (int64_t[]){1000000000, 100000000}), IR_NONE);
    ir_ref col = ir_iota(g, WEFT_I64, 2, (int64_t[]){(int64_t)1 << 40, 1}, 0);
    ir_ref row = ir_iota(g, WEFT_I64, 2, (int64_t[]){1, (int64_t)1 << 40}, 1);
    expect_error(g, bin(g, IR_add, col, row), WEFT_ESHAPE,
                 "add: the size of i64[1099511627776,1099511627776] overflows");
    expect_error(g, ir_input(g, "n", WEFT_F64, 2, (int64_t[]){3, -1}), WEFT_ESHAPE,
                 "input: axis 1 has extent -1");
    expect_error(g, ir_input(g, "n", WEFT_F64, 33, big), WEFT_EINVAL,
                 "input: rank 33 is not in 0..32");
    expect_error(g, ir_input(g, "n", (weft_dtype)99, 0, NULL), WEFT_EINVAL,
                 "input: no such dtype (99)");
    weft_array far = {WEFT_F64, 2, &far, {3, 1 << 20}, {8, INT64_MAX / 1024}};
    expect_error(g, ir_from(g, &far), WEFT_ESHAPE, "from: the strides of axis 1 reach too far");
    weft_array none = {WEFT_F64, 1, NULL, {3}, {8}};
    expect_error(g, ir_from(g, &none), WEFT_EINVAL, "from: data is NULL");
    none.dims[0] = 0;
    cr_expect_neq(ir_from(g, &none), IR_NONE);
    done(g);
}

Test(ir, an_error_is_recorded_once_and_passes_through) {
    struct ir_graph *g = graph();
    ir_ref bad = bin(g, IR_mul, LEAF(g, F64, 3), LEAF(g, F64, 4));
    cr_expect_eq(bin(g, IR_add, bad, LEAF(g, F64, 3)), IR_NONE);
    cr_expect_eq(ir_reduce(g, IR_STD, bad, NULL), IR_NONE);
    cr_expect_eq(ir_matmul(g, bad, LEAF(g, F64, 3)), IR_NONE);
    cr_expect_eq(ir_slice(g, bad, 0, 0, 1, 0), IR_NONE);
    cr_expect_eq(ir_guard(g, bad, bad, 0), IR_NONE);
    cr_expect_str_eq(ir_error(g)->text, "mul: f64[3] and f64[4]: axis 0 is 3 and 4");
    ir_graph_reset(g);
    done(g);
}

// ---- folds ------------------------------------------------------------------------------------
Test(ir, folds_keep_every_bit) {
    struct ir_graph *g = graph();
    ir_ref x = LEAF(g, F64, 3), i = LEAF(g, I32, 3), b = LEAF(g, BOOL, 3), y = LEAF(g, F64, 4, 3);
    cr_expect_eq(bin(g, IR_mul, x, lit_int(g, 1)), x);
    cr_expect_eq(bin(g, IR_mul, lit_float(g, 1), x), x);
    cr_expect_eq(bin(g, IR_true_divide, x, lit_float(g, 1)), x);
    cr_expect_eq(bin(g, IR_sub, x, lit_float(g, 0)), x);
    cr_expect_eq(bin(g, IR_add, x, lit_float(g, -0.0)), x);
    cr_expect_eq(bin(g, IR_add, lit_float(g, -0.0), x), x);
    cr_expect_neq(bin(g, IR_add, x, lit_float(g, 0)), x, "-0 + 0 is +0");
    cr_expect_neq(bin(g, IR_sub, x, lit_float(g, -0.0)), x);
    cr_expect_neq(bin(g, IR_sub, lit_float(g, 0), x), un(g, IR_neg, x));
    cr_expect_neq(bin(g, IR_true_divide, lit_float(g, 1), x), x);
    cr_expect_eq(ir_at(g, bin(g, IR_mul, x, lit_int(g, 0)))->op, IR_mul, "inf * 0 is NaN");
    cr_expect_eq(ir_at(g, bin(g, IR_sub, x, x))->op, IR_sub, "inf - inf is NaN");
    cr_expect_eq(ir_at(g, bin(g, IR_equal, x, x))->op, IR_equal, "NaN differs from itself");
    cr_expect_eq(bin(g, IR_add, i, lit_int(g, 0)), i);
    cr_expect_eq(bin(g, IR_sub, i, lit_int(g, 0)), i);
    cr_expect_neq(bin(g, IR_sub, lit_int(g, 0), i), i);
    cr_expect_eq(bin(g, IR_floor_divide, i, lit_int(g, 1)), i);
    cr_expect_eq(bin(g, IR_bitwise_and, i, lit_int(g, -1)), i);
    cr_expect_eq(bin(g, IR_bitwise_or, lit_int(g, 0), i), i);
    cr_expect_eq(bin(g, IR_bitwise_xor, i, lit_int(g, 0)), i);
    cr_expect_eq(bin(g, IR_left_shift, i, lit_int(g, 0)), i);
    cr_expect_neq(bin(g, IR_left_shift, lit_int(g, 0), i), i);
    cr_expect_eq(bin(g, IR_logical_and, b, lit_bool(g, true)), b);
    cr_expect_neq(bin(g, IR_logical_and, i, lit_bool(g, true)), i);
    cr_expect_eq(un(g, IR_neg, un(g, IR_neg, x)), x);
    cr_expect_eq(un(g, IR_neg, un(g, IR_neg, i)), i);
    cr_expect_eq(un(g, IR_logical_not, un(g, IR_logical_not, b)), b);
    cr_expect_neq(un(g, IR_logical_not, un(g, IR_logical_not, i)), i);
    cr_expect_eq(un(g, IR_floor, i), i);
    cr_expect_eq(un(g, IR_abs, LEAF(g, U8, 3)), LEAF(g, U8, 3));
    cr_expect_eq(bin(g, IR_pow, x, lit_int(g, 2)), un(g, IR_square, x));
    cr_expect_eq(ir_map(g, IR_where, (ir_ref[]){lit_bool(g, true), x, x}), x);
    cr_expect_eq(ir_map(g, IR_where, (ir_ref[]){lit_bool(g, false), lit_int(g, 7), y}), y);
    cr_expect_eq(ir_at(g, ir_map(g, IR_where, (ir_ref[]){lit_bool(g, true), x, y}))->op, IR_where,
                 "y lends its shape");
    done(g);
}

Test(ir, casts_fold_when_the_value_cannot_differ) {
    struct ir_graph *g = graph();
    ir_ref f = LEAF(g, F32, 3), i = LEAF(g, I32, 3), b = LEAF(g, BOOL, 3);
    cr_expect_eq(ir_cast(g, f, WEFT_F32), f);
    cr_expect_eq(ir_cast(g, ir_cast(g, f, WEFT_F64), WEFT_F32), f);
    cr_expect_eq(ir_cast(g, ir_cast(g, i, WEFT_F64), WEFT_I32), i);
    cr_expect_eq(ir_cast(g, ir_cast(g, b, WEFT_F32), WEFT_BOOL), b);
    cr_expect_eq(ir_cast(g, ir_cast(g, i, WEFT_I64), WEFT_I8), ir_cast(g, i, WEFT_I8));
    cr_expect_eq(ir_at(g, ir_cast(g, ir_cast(g, i, WEFT_F32), WEFT_I32))->op, IR_cast,
                 "f32 rounds i32");
    cr_expect_neq(ir_cast(g, ir_cast(g, i, WEFT_F64), WEFT_I8), ir_cast(g, i, WEFT_I8),
                  "floats saturate, integers wrap");
    cr_expect_neq(ir_cast(g, ir_cast(g, i, WEFT_I8), WEFT_I32), i);
    done(g);
}

// ---- constants against the compiler's conversions ---------------------------------------------
static double read_float(weft_dtype t, uint64_t bits) {
    float f;
    double d;
    memcpy(&f, &bits, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return t == WEFT_F32 ? (double)f : d;
}
static uint64_t float_bits(float f) {
    uint64_t bits = 0;
    memcpy(&bits, &f, sizeof f);
    return bits;
}

Test(ir, constants_convert_as_the_machine_does) {
    uint64_t s = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 200000; i++) {
        s ^= s << 13, s ^= s >> 7, s ^= s << 17;
        uint64_t bits = s >> (s % 3 == 0 ? s % 60 : 0);
        if (i % 4 == 0)
            bits = (bits & ~((uint64_t)0x7ff << 52)) | (uint64_t)(896 + s % 260)
                                                           << 52; // near f32's range
        double d = read_float(WEFT_F64, bits);
        if (isnan(d)) continue;
        cr_assert_eq(ir_convert_bits(WEFT_F64, bits, WEFT_F32), float_bits((float)d), "%a", d);
        cr_assert_eq(ir_convert_bits(WEFT_I64, bits, WEFT_F64),
                     ir_double_bits((double)(int64_t)bits));
        cr_assert_eq(ir_convert_bits(WEFT_U64, bits, WEFT_F64), ir_double_bits((double)bits));
        cr_assert_eq(ir_convert_bits(WEFT_I64, bits, WEFT_F32), float_bits((float)(int64_t)bits));
        cr_assert_eq(ir_convert_bits(WEFT_U64, bits, WEFT_F32), float_bits((float)bits));
        float f = (float)d;
        cr_assert_eq(ir_convert_bits(WEFT_F32, float_bits(f), WEFT_F64), ir_double_bits((double)f));
        if (fabs(d) < 0x1p31)
            cr_assert_eq(ir_convert_bits(WEFT_F64, bits, WEFT_I32), (uint32_t)(int32_t)d, "%a", d);
    }
}

Test(ir, constants_saturate) {
    static const struct {
        double v;
        weft_dtype t;
        int64_t want;
    } rows[] = {{NAN, WEFT_I32, 0},
                {INFINITY, WEFT_I32, INT32_MAX},
                {3e9, WEFT_I32, INT32_MAX},
                {-3e9, WEFT_I32, INT32_MIN},
                {2147483648.0, WEFT_I32, INT32_MAX},
                {-2147483648.5, WEFT_I32, INT32_MIN},
                {-1.0, WEFT_U8, 0},
                {300, WEFT_U8, 255},
                {1e20, WEFT_U32, UINT32_MAX},
                {-0.9, WEFT_I8, 0},
                {127.9, WEFT_I8, 127},
                {-128.9, WEFT_I8, -128},
                {1e300, WEFT_I64, INT64_MAX},
                {-INFINITY, WEFT_I64, INT64_MIN},
                {0x1p62, WEFT_I64, (int64_t)1 << 62},
                {1e-320, WEFT_I64, 0},
                {0.1, WEFT_BOOL, 1},
                {-0.0, WEFT_BOOL, 0},
                {NAN, WEFT_BOOL, 1}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t bits = ir_convert_bits(WEFT_F64, ir_double_bits(rows[i].v), rows[i].t);
        cr_expect_eq((int64_t)ir_int_value(rows[i].t, bits), rows[i].want, "%g to %s", rows[i].v,
                     dtype_name(rows[i].t));
    }
    cr_expect_eq(ir_convert_bits(WEFT_F64, ir_double_bits(0x1p63 + 2048), WEFT_U64),
                 ((uint64_t)1 << 63) + 2048);
    cr_expect_eq(ir_convert_bits(WEFT_F64, ir_double_bits(1e30), WEFT_U64), UINT64_MAX);
    cr_expect_eq(ir_convert_bits(WEFT_I32, 256, WEFT_BOOL), 1);
    cr_expect_eq(ir_convert_bits(WEFT_I32, 0x1ff, WEFT_I8), 0xff);
    cr_expect_eq(ir_convert_bits(WEFT_I8, 0xff, WEFT_U64), UINT64_MAX);
    cr_expect(
        isnan(read_float(WEFT_F32, ir_convert_bits(WEFT_F64, ir_double_bits(NAN), WEFT_F32))));
}
