// SPDX-License-Identifier: MIT
// The interpreter's operations against their scalar meanings: every operation and type at every
// short length and odd address, in place, between guard pages, on every instruction set; all pairs
// of bytes; known answers.
#include "interp_body.h"

// ---- every operation, type, length, address
// -------------------------------------------------------------------
struct op_case {
    enum ir_op op;
    weft_dtype in, out;
    int arity;
    struct body body;
    uint16_t operand[4]; // inputs, then the output
};
static weft_dtype input_type(const struct op_case *k, int i) {
    return model_ops[k->op].rule == MR_WHERE && i == 0 ? WEFT_BOOL : k->in;
}
static void op_case_init(struct op_case *k, enum ir_op op, weft_dtype in, weft_dtype out) {
    uint16_t v[3] = {0};
    memset(k, 0, sizeof *k);
    k->op = op, k->in = in, k->out = out, k->arity = model_ops[op].arity;
    body_init(&k->body, NEST_MAP);
    body_section(&k->body, SEG_ELEM);
    for (int i = 0; i < k->arity; i++) {
        k->operand[i] = body_operand(&k->body, input_type(k, i), NEST_UNIT, false);
        v[i] = body_load(&k->body, k->operand[i]);
    }
    k->operand[3] = body_operand(&k->body, out, NEST_UNIT, true);
    body_store(&k->body, body_op(&k->body, (int)op, in, out, v[0], v[1], v[2]), k->operand[3]);
}

// n elements at odd addresses before a guard page, special values rotated by turn; result in want
struct op_data {
    struct guard in[3], out;
    unsigned char *x[3];
    unsigned char want[8 * 70000];
};
static void fill_inputs(const struct op_case *k, struct op_data *d, int64_t n, int turn) {
    uint64_t seed = (uint64_t)turn * 1000003u + (uint64_t)n;
    for (int i = 0; i < k->arity; i++) {
        const weft_dtype t = input_type(k, i);
        const size_t size = dtype_size(t);
        d->x[i] = (unsigned char *)guard_end(&d->in[i], (size_t)n * size) -
                  (turn & 1 ? 3 * i + turn % 8 : 0);
        for (int64_t e = 0; e < n; e++)
            random_element(t, (turn + i) % 5 == 4 ? 1 : 0, &seed, d->x[i] + (size_t)e * size);
    }
}
static void op_want(const struct op_case *k, struct op_data *d, int64_t n) {
    const struct seg_op *o = &k->body.op[k->arity];
    for (int64_t e = 0; e < n; e++) {
        unsigned char v[3][8] = {{0}};
        for (int i = 0; i < k->arity; i++) {
            const weft_dtype t = input_type(k, i);
            memcpy(v[i], d->x[i] + (size_t)e * dtype_size(t), dtype_size(t));
            if (t == WEFT_BOOL) v[i][0] = v[i][0] != 0;
        }
        model_apply(o, v[0], v[1], v[2], d->want + (size_t)e * dtype_size(k->out));
    }
}
static void op_compare(const struct op_case *k, const struct op_data *d, const unsigned char *got,
                       int64_t n, const char *how) {
    const size_t size = dtype_size(k->out);
    for (int64_t e = 0; e < n; e++)
        cr_assert(same_element(k->out, got + (size_t)e * size, d->want + (size_t)e * size),
                  "%s %s to %s, n %lld, element %lld, %s", model_ops[k->op].name, dtype_name(k->in),
                  dtype_name(k->out), (long long)n, (long long)e, how);
}
static void op_run(const struct op_case *k, const struct form *f, struct op_data *d, int64_t n,
                   int turn) {
    const size_t bytes = (size_t)n * dtype_size(k->out);
    void *ptr[4] = {d->x[0], d->x[1], d->x[2]};
    const int64_t rstride[4] = {0};
    unsigned char *out =
        (unsigned char *)guard_end(&d->out, bytes) - (turn % 3 ? 16 + turn % 7 : 0);
    memset(d->out.base + d->out.size - bytes - 64, CANARY, bytes + 64);
    ptr[k->arity] = out;
    struct tile t = {.ptr = ptr, .rstride = rstride, .cols = n, .rows = 1};
    op_want(k, d, n);
    form_run(f, &t);
    op_compare(k, d, out, n, "apart");
    for (unsigned char *p = d->out.base + d->out.size - bytes - 64; p < d->out.base + d->out.size;
         p++)
        cr_assert((p >= out && p < out + bytes) || *p == CANARY, "%s wrote outside",
                  model_ops[k->op].name);
    for (int i = 0; i < k->arity; i++) { // in place of each operand of that size
        if (dtype_size(input_type(k, i)) != dtype_size(k->out)) continue;
        unsigned char keep[8 * 200];
        const bool small = bytes <= sizeof keep;
        if (!small) break;
        memcpy(keep, d->x[i], bytes);
        ptr[k->arity] = d->x[i];
        form_run(f, &t);
        op_compare(k, d, d->x[i], n, "in place");
        memcpy(d->x[i], keep, bytes);
    }
}
static struct op_data *op_data_new(size_t elements) {
    struct op_data *d = malloc(sizeof *d);
    cr_assert(d);
    for (int i = 0; i < 3; i++)
        d->in[i] = guard_new(elements * 8 + 64);
    d->out = guard_new(elements * 8 + 128);
    return d;
}
static void op_data_free(struct op_data *d) {
    for (int i = 0; i < 3; i++)
        guard_free(&d->in[i]);
    guard_free(&d->out);
    free(d);
}

static bool op_exists(enum ir_op op, weft_dtype in) {
    if (op == IR_cast) return false;
    if (model_find(op, in)) return true;
    const int family = model_ops[op].family;
    if (family == KERN_FAMILY__N || (model_ops[op].rule == MR_FLOAT && !dtype_is_float(in)))
        return false;
    return kern_find((enum kern_family)family, in, KERN_BASE) != NULL;
}
static void op_all_lengths(enum ir_op op, weft_dtype in, weft_dtype out, struct op_data *d) {
    struct op_case *k = malloc(sizeof *k);
    op_case_init(k, op, in, out);
    for (int isa = KERN_BASE; isa <= (int)best_isa(); isa++) {
        struct form f = form_make(&k->body.s, (enum kern_isa)isa);
        for (int64_t n = 0; n <= 130; n++) {
            fill_inputs(k, d, n, (int)n);
            op_run(k, &f, d, n, (int)n);
        }
        fill_inputs(k, d, 1100, isa);
        op_run(k, &f, d, 1100, isa);
        form_free(&f);
    }
    free(k);
}

Test(interp, every_operation_and_type) {
    struct op_data *d = op_data_new(1200);
    int done = 0;
    for (int op = 0; op < IR_OP__N; op++)
        for (int t = 0; t < DTYPE_COMPUTED__N; t++) {
            if (!model_ops[op].arity || !op_exists((enum ir_op)op, (weft_dtype)t)) continue;
            op_all_lengths((enum ir_op)op, (weft_dtype)t,
                           gives_bool((enum ir_op)op) ? WEFT_BOOL : (weft_dtype)t, d);
            done++;
        }
    cr_assert(done > 250, "only %d", done);
    op_data_free(d);
}

Test(interp, every_cast) {
    struct op_data *d = op_data_new(1200);
    for (int in = 0; in < DTYPE_COMPUTED__N; in++)
        for (int out = 0; out < DTYPE_COMPUTED__N; out++)
            op_all_lengths(IR_cast, (weft_dtype)in, (weft_dtype)out, d);
    op_data_free(d);
}

// ---- all pairs of bytes
// ----------------------------------------------------------------------------------------
static void all_pairs(enum ir_op op, weft_dtype t, struct op_data *d) {
    enum { N = 65536 };
    struct op_case *k = malloc(sizeof *k);
    op_case_init(k, op, t, gives_bool(op) ? WEFT_BOOL : t);
    for (int i = 0; i < k->arity; i++) {
        d->x[i] = guard_end(&d->in[i], N);
        for (int e = 0; e < N; e++)
            d->x[i][e] = (unsigned char)(i == 0 ? e : i == 1 ? e >> 8 : e * 7);
    }
    for (int isa = KERN_BASE; isa <= (int)best_isa(); isa++) {
        struct form f = form_make(&k->body.s, (enum kern_isa)isa);
        op_run(k, &f, d, N, 0);
        form_free(&f);
    }
    free(k);
}
Test(interp, all_pairs_of_bytes) {
    static const weft_dtype types[] = {WEFT_BOOL, WEFT_I8, WEFT_U8};
    struct op_data *d = op_data_new(70000);
    for (int op = 0; op < IR_OP__N; op++)
        for (size_t i = 0; i < COUNT_OF(types); i++)
            if (model_ops[op].arity && op_exists((enum ir_op)op, types[i]))
                all_pairs((enum ir_op)op, types[i], d);
    op_data_free(d);
}

// ---- known answers: the meanings themselves
// ---------------------------------------------------------------------
static uint64_t apply_bits(enum ir_op op, weft_dtype in, weft_dtype out, const void *x,
                           const void *y) {
    uint64_t r = 0;
    strip_fn *f = strip_find(op, in, out, best_isa());
    cr_assert(f);
    f(&r, x, y, y, 1);
    return r;
}
#define F64(op, x, y) bits_f64(apply_bits(IR_##op, WEFT_F64, WEFT_F64, &(double){x}, &(double){y}))
#define I32(op, x, y)                                                                              \
    (int32_t) apply_bits(IR_##op, WEFT_I32, WEFT_I32, &(int32_t){x}, &(int32_t){y})
#define TRUTH(op, x, y) (apply_bits(IR_##op, WEFT_F64, WEFT_BOOL, &(double){x}, &(double){y}) != 0)
static double bits_f64(uint64_t u) {
    double d;
    memcpy(&d, &u, 8);
    return d;
}
static int64_t to_int(weft_dtype t, double x) {
    const uint64_t u = apply_bits(IR_cast, WEFT_F64, t, &x, &x);
    return dtype_size(t) == 4 && dtype_is_signed(t) ? (int32_t)u : (int64_t)u;
}

Test(interp, known_answers) {
    cr_expect(isnan(F64(maximum, NAN, 1)) && isnan(F64(maximum, 1, NAN)) &&
              isnan(F64(minimum, NAN, 1)));
    cr_expect(F64(fmax, NAN, 1) == 1 && F64(fmax, 1, NAN) == 1 && F64(fmin, NAN, 1) == 1);
    cr_expect(!signbit(F64(maximum, 0.0, -0.0)) && !signbit(F64(maximum, -0.0, 0.0)));
    cr_expect(signbit(F64(minimum, 0.0, -0.0)) && signbit(F64(minimum, -0.0, 0.0)));
    cr_expect(!TRUTH(less, NAN, 1) && !TRUTH(greater, NAN, 1) && !TRUTH(equal, NAN, NAN) &&
              TRUTH(not_equal, NAN, NAN));
    cr_expect(!signbit(F64(add, -0.0, 0.0)) && signbit(F64(sub, -0.0, 0.0)) &&
              signbit(F64(neg, 0.0, 0)));
    cr_expect(F64(true_divide, 5, 3) == 1.6666666666666667 && isinf(F64(true_divide, -236, 0.0)));
    cr_expect(signbit(F64(sqrt, -0.0, 0)) && isnan(F64(sqrt, -1, 0)));
    cr_expect(F64(round, 0.5, 0) == 0 && F64(round, 1.5, 0) == 2 && F64(round, 2.5, 0) == 2);
    cr_expect(signbit(F64(round, -0.5, 0)) && F64(round, -1.5, 0) == -2);
    cr_expect(isnan(F64(sign, NAN, 0)) && F64(sign, -INFINITY, 0) == -1 &&
              !signbit(F64(sign, -0.0, 0)));
    cr_expect(F64(fma, -(1 - 0x1p-53), 1 + 0x1p-52) == 0x1p-53 * (1 + 0x1p-52)); // x*y + y
    cr_expect(I32(left_shift, 1, 32) == 0 && I32(left_shift, 1, 33) == 0 &&
              I32(left_shift, 1, -1) == 0);
    cr_expect(I32(right_shift, -1, 40) == -1 && I32(right_shift, 5, 40) == 0 &&
              I32(right_shift, -7, 1) == -4);
    cr_expect(I32(add, INT32_MAX, 1) == INT32_MIN && I32(neg, INT32_MIN, 0) == INT32_MIN);
    cr_expect(I32(abs, INT32_MIN, 0) == INT32_MIN && I32(reciprocal, 0, 0) == 0 &&
              I32(reciprocal, -1, 0) == -1);
    cr_expect(to_int(WEFT_I32, NAN) == 0 && to_int(WEFT_I32, INFINITY) == INT32_MAX &&
              to_int(WEFT_I32, 3e9) == INT32_MAX);
    cr_expect(to_int(WEFT_I32, -3e9) == INT32_MIN && to_int(WEFT_I32, 2147483648.0) == INT32_MAX);
    cr_expect(to_int(WEFT_I32, -2147483648.5) == INT32_MIN &&
              to_int(WEFT_I64, 9.3e18) == INT64_MAX);
    cr_expect(to_int(WEFT_U8, -1) == 0 && to_int(WEFT_U8, 300) == 255 &&
              to_int(WEFT_U32, 1e20) == UINT32_MAX);
    cr_expect(to_int(WEFT_BOOL, 0.1) == 1 && to_int(WEFT_BOOL, -0.0) == 0 &&
              to_int(WEFT_BOOL, NAN) == 1);
    const uint64_t big[] = {UINT64_MAX, 0x8000000000000401u};
    cr_expect(bits_f64(apply_bits(IR_cast, WEFT_U64, WEFT_F64, &big[0], big)) ==
              18446744073709551616.0);
    cr_expect(bits_f64(apply_bits(IR_cast, WEFT_U64, WEFT_F64, &big[1], big)) ==
              9223372036854777856.0);
}
