// SPDX-License-Identifier: MIT
// The interpreter tier against bodies run one element at a time (interp_model.h): every operation and
// type at every short length and odd address, in place, between guard pages; then random bodies, rows,
// columns, partial states and finishes.
#include "interp_model.h"
#include "jit/jit.h"

static enum kern_isa best_isa(void) { return kern_isa_detect(); }

// ---- bodies under construction ------------------------------------------------------------------------------
struct body {
    struct seg_op op[SEG_MAX_OPS];
    struct seg_section section[SEG_MAX_SECTIONS];
    struct nest_operand operand[256];
    struct seg s;
};
static void body_init(struct body *b, enum nest_mode mode) {
    b->s = (struct seg){.mode = mode, .section = b->section, .op = b->op, .operand = b->operand};
}
static void body_section(struct body *b, enum seg_kind kind) {
    b->section[b->s.nsection++] = (struct seg_section){(uint8_t)kind, 0, (uint16_t)b->s.nop, (uint16_t)b->s.nop};
}
static uint16_t body_operand(struct body *b, weft_dtype t, enum nest_class cls, bool out) {
    b->operand[b->s.noperand] = (struct nest_operand){.dtype = (uint8_t)t, .cls = (uint8_t)cls, .out = out};
    return (uint16_t)b->s.noperand++;
}
static uint16_t body_op(struct body *b, int op, weft_dtype in, weft_dtype res, uint16_t x, uint16_t y, uint16_t z) {
    b->op[b->s.nop] = (struct seg_op){(uint8_t)op, (uint8_t)res, (uint8_t)in, 0, {x, y, z}};
    b->s.nreduce += op == SEG_REDUCE;
    b->section[b->s.nsection - 1].end = (uint16_t)(b->s.nop + 1);
    return (uint16_t)b->s.nop++;
}
static uint16_t body_load(struct body *b, uint16_t operand) {
    const weft_dtype t = (weft_dtype)b->operand[operand].dtype;
    return body_op(b, SEG_LOAD, t, t, operand, 0, 0);
}
static void body_store(struct body *b, uint16_t v, uint16_t operand) {
    const weft_dtype t = (weft_dtype)b->operand[operand].dtype;
    body_op(b, SEG_STORE, t, t, v, operand, 0);
}
static uint16_t body_reduce(struct body *b, enum kern_red r, weft_dtype t, uint16_t v) {
    return body_op(b, SEG_REDUCE, t, kern_red_is_arg(r) ? WEFT_I64 : t, v, (uint16_t)r, 0);
}

struct form {
    struct interp_form *f;
    struct guard scratch;
    size_t size;
};
static struct form form_make(const struct seg *s, enum kern_isa isa) {
    struct form f = {0};
    f.f = interp_make(s, isa, &base_malloc, &f.size);
    cr_assert(f.f);
    f.size = (f.size + 63) / 64 * 64;
    f.scratch = guard_new(f.size);
    return f;
}
static void form_run(const struct form *f, struct tile *t) {
    t->scratch = guard_end(&f->scratch, f->size); // 64-byte aligned, and ends where nothing may be touched
    memset(t->scratch, 0xa5, f->size);
    interp_tile(f->f, t);
}
static void form_free(struct form *f) {
    interp_free(f->f, &base_malloc);
    guard_free(&f->scratch);
}

// ---- every operation, type, length, address -------------------------------------------------------------------
enum { CANARY = 0x5c };

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
    body_store(&k->body, body_op(&k->body, op, in, out, v[0], v[1], v[2]), k->operand[3]);
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
        d->x[i] = (unsigned char *)guard_end(&d->in[i], (size_t)n * size) - (turn & 1 ? 3 * i + turn % 8 : 0);
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
static void op_compare(const struct op_case *k, const struct op_data *d, const unsigned char *got, int64_t n,
                       const char *how) {
    const size_t size = dtype_size(k->out);
    for (int64_t e = 0; e < n; e++)
        cr_assert(same_element(k->out, got + (size_t)e * size, d->want + (size_t)e * size),
                  "%s %s to %s, n %lld, element %lld, %s", model_ops[k->op].name, dtype_name(k->in),
                  dtype_name(k->out), (long long)n, (long long)e, how);
}
static void op_run(const struct op_case *k, const struct form *f, struct op_data *d, int64_t n, int turn) {
    const size_t bytes = (size_t)n * dtype_size(k->out);
    void *ptr[4] = {d->x[0], d->x[1], d->x[2]};
    const int64_t rstride[4] = {0};
    unsigned char *out = (unsigned char *)guard_end(&d->out, bytes) - (turn % 3 ? 16 + turn % 7 : 0);
    memset(d->out.base + d->out.size - bytes - 64, CANARY, bytes + 64);
    ptr[k->arity] = out;
    struct tile t = {.ptr = ptr, .rstride = rstride, .cols = n, .rows = 1};
    op_want(k, d, n);
    form_run(f, &t);
    op_compare(k, d, out, n, "apart");
    for (unsigned char *p = d->out.base + d->out.size - bytes - 64; p < d->out.base + d->out.size; p++)
        cr_assert((p >= out && p < out + bytes) || *p == CANARY, "%s wrote outside", model_ops[k->op].name);
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
    if (family == KERN_FAMILY__N || (model_ops[op].rule == MR_FLOAT && !dtype_is_float(in))) return false;
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
        for (int t = 0; t < WEFT_DTYPE__N; t++) {
            if (!model_ops[op].arity || !op_exists((enum ir_op)op, (weft_dtype)t)) continue;
            op_all_lengths((enum ir_op)op, (weft_dtype)t, gives_bool((enum ir_op)op) ? WEFT_BOOL : (weft_dtype)t, d);
            done++;
        }
    cr_assert(done > 250, "only %d", done);
    op_data_free(d);
}

Test(interp, every_cast) {
    struct op_data *d = op_data_new(1200);
    for (int in = 0; in < WEFT_DTYPE__N; in++)
        for (int out = 0; out < WEFT_DTYPE__N; out++)
            op_all_lengths(IR_cast, (weft_dtype)in, (weft_dtype)out, d);
    op_data_free(d);
}

// ---- all pairs of bytes ----------------------------------------------------------------------------------------
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
            if (model_ops[op].arity && op_exists((enum ir_op)op, types[i])) all_pairs((enum ir_op)op, types[i], d);
    op_data_free(d);
}

// ---- known answers: the meanings themselves ---------------------------------------------------------------------
static uint64_t apply_bits(enum ir_op op, weft_dtype in, weft_dtype out, const void *x, const void *y) {
    uint64_t r = 0;
    strip_fn *f = strip_find(op, in, out, best_isa());
    cr_assert(f);
    f(&r, x, y, y, 1);
    return r;
}
#define F64(op, x, y) bits_f64(apply_bits(IR_##op, WEFT_F64, WEFT_F64, &(double){x}, &(double){y}))
#define I32(op, x, y) (int32_t)apply_bits(IR_##op, WEFT_I32, WEFT_I32, &(int32_t){x}, &(int32_t){y})
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
    cr_expect(isnan(F64(maximum, NAN, 1)) && isnan(F64(maximum, 1, NAN)) && isnan(F64(minimum, NAN, 1)));
    cr_expect(F64(fmax, NAN, 1) == 1 && F64(fmax, 1, NAN) == 1 && F64(fmin, NAN, 1) == 1);
    cr_expect(!signbit(F64(maximum, 0.0, -0.0)) && !signbit(F64(maximum, -0.0, 0.0)));
    cr_expect(signbit(F64(minimum, 0.0, -0.0)) && signbit(F64(minimum, -0.0, 0.0)));
    cr_expect(!TRUTH(less, NAN, 1) && !TRUTH(greater, NAN, 1) && !TRUTH(equal, NAN, NAN) && TRUTH(not_equal, NAN, NAN));
    cr_expect(!signbit(F64(add, -0.0, 0.0)) && signbit(F64(sub, -0.0, 0.0)) && signbit(F64(neg, 0.0, 0)));
    cr_expect(F64(true_divide, 5, 3) == 1.6666666666666667 && isinf(F64(true_divide, -236, 0.0)));
    cr_expect(signbit(F64(sqrt, -0.0, 0)) && isnan(F64(sqrt, -1, 0)));
    cr_expect(F64(round, 0.5, 0) == 0 && F64(round, 1.5, 0) == 2 && F64(round, 2.5, 0) == 2);
    cr_expect(signbit(F64(round, -0.5, 0)) && F64(round, -1.5, 0) == -2);
    cr_expect(isnan(F64(sign, NAN, 0)) && F64(sign, -INFINITY, 0) == -1 && !signbit(F64(sign, -0.0, 0)));
    cr_expect(F64(fma, -(1 - 0x1p-53), 1 + 0x1p-52) == 0x1p-53 * (1 + 0x1p-52)); // x*y + y
    cr_expect(I32(left_shift, 1, 32) == 0 && I32(left_shift, 1, 33) == 0 && I32(left_shift, 1, -1) == 0);
    cr_expect(I32(right_shift, -1, 40) == -1 && I32(right_shift, 5, 40) == 0 && I32(right_shift, -7, 1) == -4);
    cr_expect(I32(add, INT32_MAX, 1) == INT32_MIN && I32(neg, INT32_MIN, 0) == INT32_MIN);
    cr_expect(I32(abs, INT32_MIN, 0) == INT32_MIN && I32(reciprocal, 0, 0) == 0 && I32(reciprocal, -1, 0) == -1);
    cr_expect(to_int(WEFT_I32, NAN) == 0 && to_int(WEFT_I32, INFINITY) == INT32_MAX && to_int(WEFT_I32, 3e9) == INT32_MAX);
    cr_expect(to_int(WEFT_I32, -3e9) == INT32_MIN && to_int(WEFT_I32, 2147483648.0) == INT32_MAX);
    cr_expect(to_int(WEFT_I32, -2147483648.5) == INT32_MIN && to_int(WEFT_I64, 9.3e18) == INT64_MAX);
    cr_expect(to_int(WEFT_U8, -1) == 0 && to_int(WEFT_U8, 300) == 255 && to_int(WEFT_U32, 1e20) == UINT32_MAX);
    cr_expect(to_int(WEFT_BOOL, 0.1) == 1 && to_int(WEFT_BOOL, -0.0) == 0 && to_int(WEFT_BOOL, NAN) == 1);
    const uint64_t big[] = {UINT64_MAX, 0x8000000000000401u};
    cr_expect(bits_f64(apply_bits(IR_cast, WEFT_U64, WEFT_F64, &big[0], big)) == 18446744073709551616.0);
    cr_expect(bits_f64(apply_bits(IR_cast, WEFT_U64, WEFT_F64, &big[1], big)) == 9223372036854777856.0);
}

// ---- tiles of random bodies against the model ---------------------------------------------------------------------
struct memory {
    unsigned char *block;
    size_t size;
};
// Every operand in one block: rows of cols elements (one element for SCALAR), with gaps of canaries.
// alias[i] >= 0: output i lies exactly on input alias[i].
static size_t place_operands(const struct body *b, int64_t rows, int64_t cols, const int *alias, size_t *at,
                             int64_t *rstride) {
    size_t end = 64;
    for (int i = 0; i < b->s.noperand; i++) {
        const struct nest_operand *o = &b->operand[i];
        const size_t size = dtype_size((weft_dtype)o->dtype);
        if (alias && alias[i] >= 0) {
            at[i] = at[alias[i]];
            rstride[i] = rstride[alias[i]];
            continue;
        }
        rstride[i] = o->buffer == NEST_ROWTMP || o->buffer == NEST_CONST
                         ? 0
                         : (int64_t)((o->cls == NEST_UNIT ? (size_t)cols : 1) * size + 8 + (size_t)i % 3);
        at[i] = end + (size_t)i % 5;
        end = at[i] + (size_t)(rows ? rows : 1) * ((size_t)cols * size + 16) + 64;
    }
    return end;
}

struct trial {
    const struct body *b;
    const int *alias;
    int64_t rows, cols;
    int kind;  // of the values
    int64_t split; // > 0: also as partial runs of this length, which must be a multiple of a leaf
};

static void run_on(const struct trial *k, struct form *f, struct memory mem, const size_t *at, const int64_t *rs) {
    void *ptr[256];
    for (int i = 0; i < k->b->s.noperand; i++)
        ptr[i] = mem.block + at[i];
    struct tile t = {.ptr = ptr, .rstride = rs, .cols = k->cols, .rows = k->rows};
    if (f) form_run(f, &t);
    else model_run(&k->b->s, &t);
}

// NaN payloads may differ: outputs are compared element by element, everything else bit by bit.
static void compare_memory(const struct trial *k, struct memory got, struct memory want, const size_t *at,
                           const int64_t *rs, const char *how) {
    for (int i = 0; i < k->b->s.noperand; i++) {
        const struct nest_operand *o = &k->b->operand[i];
        const weft_dtype type = (weft_dtype)o->dtype;
        const int64_t n = o->cls == NEST_UNIT ? k->cols : 1, rows = o->late ? 1 : k->rows;
        for (int64_t e = 0; o->out && e < rows * n; e++) {
            const size_t p = at[i] + (size_t)(e / n * rs[i]) + (size_t)(e % n) * dtype_size(type);
            cr_assert(same_element(type, got.block + p, want.block + p), "%s: operand %d, row %lld of %lld, column %lld of %lld",
                      how, i, (long long)(e / n), (long long)k->rows, (long long)(e % n), (long long)k->cols);
            memcpy(got.block + p, want.block + p, dtype_size(type));
        }
    }
    cr_assert(memcmp(got.block, want.block, got.size) == 0, "%s: something else was written", how);
}

// Pieces of the reduced run as PARTIAL tiles, their states pushed in order, then FINISH.
static void run_split(const struct trial *k, struct form *f, struct memory mem, const size_t *at, const int64_t *rs) {
    const struct seg *s = &k->b->s;
    const bool outer = s->mode == NEST_OUTER;
    const int64_t run = outer ? k->rows : k->cols;
    void *ptr[256], *state[SEG_MAX_SECTIONS];
    unsigned char *stack[SEG_MAX_SECTIONS];
    int nred = 0;
    uint64_t pieces = 0;
    const struct seg_op *red[SEG_MAX_SECTIONS];
    for (int i = 0; i < s->nop; i++)
        if (s->op[i].op == SEG_REDUCE) red[nred++] = &s->op[i];
    for (int i = 0; i < nred; i++) {
        state[i] = aligned_alloc(64, (size_t)k->cols * 16 + 4096 - ((size_t)k->cols * 16) % 64);
        stack[i] = aligned_alloc(64, ((size_t)k->cols * 16 + 4096 - ((size_t)k->cols * 16) % 64) * 16);
    }
    for (int64_t e = 0; e < run; e += k->split, pieces++) {
        const int64_t n = MIN_OF(k->split, run - e);
        for (int i = 0; i < s->noperand; i++) {
            const struct nest_operand *o = &k->b->operand[i];
            const int64_t step = outer ? rs[i] : o->cls == NEST_UNIT ? (int64_t)dtype_size((weft_dtype)o->dtype) : 0;
            ptr[i] = mem.block + at[i] + (o->late ? 0 : e * step);
        }
        struct tile t = {.ptr = ptr, .rstride = rs, .cols = outer ? k->cols : n, .rows = outer ? n : 1,
                         .first = e, .mode = TILE_PARTIAL, .state = state};
        form_run(f, &t);
        for (int i = 0; i < nred; i++) {
            const enum kern_red r = (enum kern_red)red[i]->arg[1];
            const weft_dtype type = (weft_dtype)red[i]->in_type;
            const int64_t lanes = outer ? k->cols : kern_red_is_arg(r) ? 32 : kern_red_lanes(type);
            kern_red_push(r, type, stack[i], state[i], lanes, pieces);
        }
    }
    for (int i = 0; i < nred; i++) {
        const enum kern_red r = (enum kern_red)red[i]->arg[1];
        const weft_dtype type = (weft_dtype)red[i]->in_type;
        const int64_t lanes = outer ? k->cols : kern_red_is_arg(r) ? 32 : kern_red_lanes(type);
        kern_red_flush(r, type, stack[i], state[i], lanes, pieces);
    }
    for (int i = 0; i < s->noperand; i++)
        ptr[i] = mem.block + at[i];
    struct tile t = {.ptr = ptr, .rstride = rs, .cols = k->cols, .rows = k->rows, .mode = TILE_FINISH, .state = state};
    form_run(f, &t);
    for (int i = 0; i < nred; i++) {
        free(state[i]);
        free(stack[i]);
    }
}

static void try_body(const struct trial *k, struct form *f, uint64_t seed) {
    size_t at[256];
    int64_t rs[256];
    struct memory got, want;
    got.size = want.size = place_operands(k->b, k->rows, k->cols, k->alias, at, rs);
    got.block = malloc(got.size);
    want.block = malloc(got.size);
    memset(want.block, CANARY, want.size);
    for (int i = 0; i < k->b->s.noperand; i++) {
        const struct nest_operand *o = &k->b->operand[i];
        const int64_t n = o->cls == NEST_UNIT ? k->cols : 1;
        for (int64_t e = 0; !o->out && e < MAX_OF(k->rows, 1) * n; e++)
            random_element((weft_dtype)o->dtype, k->kind, &seed,
                           want.block + at[i] + (size_t)(e / n * rs[i]) + (size_t)(e % n) * dtype_size((weft_dtype)o->dtype));
    }
    memcpy(got.block, want.block, got.size);
    struct memory again = {malloc(got.size), got.size};
    memcpy(again.block, want.block, got.size);
    run_on(k, NULL, want, at, rs);
    run_on(k, f, got, at, rs);
    compare_memory(k, got, want, at, rs, "full");
    if (k->split) {
        run_split(k, f, again, at, rs);
        compare_memory(k, again, want, at, rs, "split");
    }
    free(again.block);
    free(got.block);
    free(want.block);
}

// A random MAP body over f64, i32 and bool with several outputs, some on top of inputs.
static const weft_dtype pool_types[] = {WEFT_F64, WEFT_I32, WEFT_BOOL};
struct pool {
    uint16_t v[3][SEG_MAX_OPS];
    int n[3];
};
static void pool_add(struct pool *p, int type, uint16_t v) { p->v[type][p->n[type]++] = v; }
static uint16_t pool_pick(const struct pool *p, int type, uint64_t *seed) {
    const int recent = MIN_OF(p->n[type], 12); // mostly near ones, so that lifetimes vary
    const uint64_t r = next_random(seed);
    return p->v[type][r % 4 ? p->n[type] - 1 - (int)((r >> 8) % (uint64_t)recent) : (int)((r >> 8) % (uint64_t)p->n[type])];
}
static void random_op(struct body *b, struct pool *p, uint64_t *seed) {
    static const enum ir_op arith[] = {IR_add, IR_sub, IR_mul, IR_minimum, IR_maximum};
    static const enum ir_op compare[] = {IR_less, IR_equal, IR_greater_equal};
    static const enum ir_op logic[] = {IR_logical_and, IR_logical_xor, IR_logical_or};
    const int t = (int)(next_random(seed) % 2);
    const weft_dtype type = pool_types[t];
    const uint16_t x = pool_pick(p, t, seed), y = pool_pick(p, t, seed), c = pool_pick(p, 2, seed);
    switch (next_random(seed) % 8) {
    case 0: pool_add(p, 2, body_op(b, (int)compare[next_random(seed) % 3], type, WEFT_BOOL, x, y, 0)); break;
    case 1: pool_add(p, 2, body_op(b, (int)logic[next_random(seed) % 3], WEFT_BOOL, WEFT_BOOL, c, pool_pick(p, 2, seed), 0)); break;
    case 2: pool_add(p, t, body_op(b, IR_where, type, type, c, x, y)); break;
    case 3: pool_add(p, t, body_op(b, IR_cast, pool_types[1 - t], type, pool_pick(p, 1 - t, seed), 0, 0)); break;
    case 4: pool_add(p, 0, body_op(b, IR_fma, WEFT_F64, WEFT_F64, pool_pick(p, 0, seed), pool_pick(p, 0, seed), pool_pick(p, 0, seed))); break;
    default: pool_add(p, t, body_op(b, (int)arith[next_random(seed) % 5], type, type, x, y, 0)); break;
    }
}
static void random_body(struct body *b, int *alias, uint64_t seed, int nops) {
    struct pool p = {0};
    uint16_t in[3][3];
    memset(b, 0, sizeof *b);
    body_init(b, NEST_MAP);
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < 3; i++)
            in[t][i] = body_operand(b, pool_types[t], i == 2 ? NEST_SCALAR : NEST_UNIT, false);
    body_section(b, SEG_ROW);
    for (int t = 0; t < 3; t++)
        pool_add(&p, t, body_load(b, in[t][2]));
    pool_add(&p, 0, body_op(b, IR_mul, WEFT_F64, WEFT_F64, p.v[0][0], p.v[0][0], 0));
    body_section(b, SEG_ELEM);
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < 2; i++)
            pool_add(&p, t, body_load(b, in[t][i]));
    for (int i = 0; i < nops; i++)
        random_op(b, &p, &seed);
    memset(alias, 0xff, 256 * sizeof *alias);
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < 2; i++) {
            const uint16_t out = body_operand(b, pool_types[t], NEST_UNIT, true);
            // stored: the newest value, an old one, or (swapped) a loaded one
            const uint16_t v = seed % 3 == 2 ? p.v[t][1 + (1 - i) + (t == 0)] : pool_pick(&p, t, &seed);
            if (next_random(&seed) % 2) alias[out] = in[t][i];
            body_store(b, v, out);
            if (i == 0 && next_random(&seed) % 2) random_op(b, &p, &seed); // stores between operations
        }
}
Test(interp, random_bodies_in_place) {
    struct body *b = malloc(sizeof *b);
    int alias[256];
    for (uint64_t seed = 1; seed <= 300; seed++) {
        random_body(b, alias, seed * 77, seed % 50 == 0 ? 2000 : 1 + (int)(seed % 60));
        struct form f = form_make(&b->s, (enum kern_isa)(seed % ((uint64_t)best_isa() + 1)));
        static const int64_t cols[] = {1, 3, 17, 64, 130, 511, 513, 1500};
        for (int i = 0; i < (b->s.nop > 200 ? 3 : 8); i++) {
            struct trial k = {b, alias, 1 + i % 3, cols[i], (int)(seed % 3), 0};
            try_body(&k, &f, seed);
        }
        form_free(&f);
    }
    free(b);
}

Test(interp, swap_of_two_arrays) {
    struct body *b = calloc(1, sizeof *b);
    int alias[256];
    memset(alias, 0xff, sizeof alias);
    body_init(b, NEST_MAP);
    body_section(b, SEG_ELEM);
    const uint16_t x = body_operand(b, WEFT_F32, NEST_UNIT, false), y = body_operand(b, WEFT_F32, NEST_UNIT, false);
    const uint16_t ox = body_operand(b, WEFT_F32, NEST_UNIT, true), oy = body_operand(b, WEFT_F32, NEST_UNIT, true);
    const uint16_t vx = body_load(b, x), vy = body_load(b, y);
    body_store(b, vy, ox);
    body_store(b, vx, oy);
    alias[ox] = x, alias[oy] = y;
    struct form f = form_make(&b->s, best_isa());
    for (int64_t n = 1; n < 2000; n = n * 2 + 1) {
        struct trial k = {b, alias, 2, n, 2, 0};
        try_body(&k, &f, (uint64_t)n);
    }
    form_free(&f);
    free(b);
}

// ---- reductions --------------------------------------------------------------------------------------------------
// square of x + c and x itself into a reduction, result stored with a scalar added (not for arg)
static void reduce_body(struct body *b, enum nest_mode mode, enum kern_red r, weft_dtype t) {
    memset(b, 0, sizeof *b);
    const bool arg = kern_red_is_arg(r), outer = mode == NEST_OUTER;
    body_init(b, mode);
    const uint16_t x = body_operand(b, t, NEST_UNIT, false), c = body_operand(b, t, NEST_SCALAR, false);
    const uint16_t w = body_operand(b, t, outer ? NEST_UNIT : NEST_SCALAR, false);
    const enum nest_class cls = outer ? NEST_UNIT : NEST_SCALAR;
    const uint16_t out = body_operand(b, arg ? WEFT_I64 : t, cls, true), out2 = body_operand(b, t, cls, true);
    b->operand[w].late = b->operand[out].late = b->operand[out2].late = outer;
    body_section(b, SEG_ROW);
    const uint16_t vc = body_load(b, c);
    const uint16_t vs = t == WEFT_BOOL ? body_op(b, IR_logical_not, t, t, vc, 0, 0) : body_op(b, IR_add, t, t, vc, vc, 0);
    body_section(b, SEG_ELEM);
    const uint16_t vx = body_load(b, x);
    const uint16_t q = body_op(b, t == WEFT_BOOL ? IR_logical_xor : IR_add, t, t, vx, vs, 0);
    const enum kern_red second = t == WEFT_BOOL ? KERN_ANY : KERN_MAX;
    const uint16_t v1 = body_reduce(b, r, t, q), v2 = body_reduce(b, second, t, vx);
    body_section(b, outer ? SEG_FIN : SEG_ROW);
    body_store(b, v1, out);
    const uint16_t vw = body_load(b, w);
    body_store(b, body_op(b, t == WEFT_BOOL ? IR_logical_and : IR_maximum, t, t, v2, vw, 0), out2);
}

Test(interp, reductions_of_rows_and_columns) {
    struct body *b = malloc(sizeof *b);
    static const int64_t runs[] = {1, 2, 31, 32, 33, 64, 100, 1023, 1024, 1025, 3000, 5121};
    for (int r = 0; r < KERN_RED__N; r++)
        for (int t = 0; t < WEFT_DTYPE__N; t++) {
            if ((r == KERN_ANY || r == KERN_ALL) && t != WEFT_BOOL) continue;
            reduce_body(b, NEST_INNER, (enum kern_red)r, (weft_dtype)t);
            struct form f = form_make(&b->s, best_isa());
            for (size_t i = 0; i < COUNT_OF(runs); i++) {
                struct trial k = {b, NULL, 1, runs[i], ((int)i + r) % 3, 1024 << (i % 3)};
                try_body(&k, &f, i);
                k.rows = 3, k.split = 0;
                if (runs[i] < 1100) try_body(&k, &f, i + 100);
            }
            form_free(&f);
            reduce_body(b, NEST_OUTER, (enum kern_red)r, (weft_dtype)t);
            f = form_make(&b->s, best_isa());
            static const int64_t cols[] = {33, 1, 5, 600, 64, 3, 130, 2};
            for (size_t i = 0; i < COUNT_OF(cols); i++) {
                struct trial k = {b, NULL, i < 7 ? runs[i] : 300, cols[i], ((int)i + r) % 3, 32 << (i % 3)};
                try_body(&k, &f, i);
            }
            form_free(&f);
        }
    free(b);
}

// softmax: three sections over a row, exp (as a polynomial of its own) kept in row scratch
static void softmax_body(struct body *b, weft_dtype t) {
    memset(b, 0, sizeof *b);
    body_init(b, NEST_INNER);
    const uint16_t x = body_operand(b, t, NEST_UNIT, false), one = body_operand(b, t, NEST_SCALAR, false);
    const uint16_t tmp = body_operand(b, t, NEST_UNIT, true), out = body_operand(b, t, NEST_UNIT, true);
    b->operand[tmp].buffer = NEST_ROWTMP;
    b->operand[one].buffer = NEST_CONST;
    body_section(b, SEG_ROW);
    const uint16_t k = body_load(b, one);
    body_section(b, SEG_ELEM);
    const uint16_t greatest = body_reduce(b, KERN_MAX, t, body_load(b, x));
    body_section(b, SEG_ROW);
    const uint16_t shift = body_op(b, IR_add, t, t, greatest, k, 0);
    body_section(b, SEG_ELEM);
    const uint16_t d = body_op(b, IR_sub, t, t, body_load(b, x), shift, 0);
    const uint16_t e = body_op(b, IR_sqrt, t, t, body_op(b, IR_abs, t, t, d, 0, 0), 0, 0);
    body_store(b, e, tmp);
    const uint16_t sum = body_reduce(b, KERN_SUM, t, e);
    body_section(b, SEG_ROW);
    const uint16_t inverse = body_op(b, IR_reciprocal, t, t, sum, 0, 0);
    body_section(b, SEG_ELEM);
    body_store(b, body_op(b, IR_mul, t, t, body_load(b, tmp), inverse, 0), out);
}
Test(interp, softmax_of_rows) {
    struct body *b = malloc(sizeof *b);
    int alias[256];
    memset(alias, 0xff, sizeof alias);
    for (int t = WEFT_F32; t <= WEFT_F64; t++) {
        softmax_body(b, (weft_dtype)t);
        struct form f = form_make(&b->s, best_isa());
        for (int64_t n = 1; n < 5000; n += 1 + n / 3)
            for (int place = 0; place < 2; place++) {
                alias[3] = place ? 0 : -1; // the last section alone writes the output
                struct trial k = {b, alias, 1 + n % 3, n, n % 2 ? 2 : 0, 0};
                try_body(&k, &f, (uint64_t)n);
            }
        form_free(&f);
    }
    free(b);
}

// mean of columns with the count as a constant read in the ROW section, also of no rows at all
Test(interp, mean_of_columns) {
    struct body *b = calloc(1, sizeof *b);
    body_init(b, NEST_OUTER);
    const uint16_t x = body_operand(b, WEFT_F32, NEST_UNIT, false), n = body_operand(b, WEFT_F64, NEST_SCALAR, false);
    const uint16_t out = body_operand(b, WEFT_F64, NEST_UNIT, true);
    b->operand[out].late = true;
    b->operand[n].buffer = NEST_CONST;
    body_section(b, SEG_ROW);
    const uint16_t vn = body_load(b, n), inverse = body_op(b, IR_reciprocal, WEFT_F64, WEFT_F64, vn, 0, 0);
    body_section(b, SEG_ELEM);
    const uint16_t wide = body_op(b, IR_cast, WEFT_F32, WEFT_F64, body_load(b, x), 0, 0);
    const uint16_t sum = body_reduce(b, KERN_SUM, WEFT_F64, wide);
    body_section(b, SEG_FIN);
    body_store(b, body_op(b, IR_mul, WEFT_F64, WEFT_F64, sum, inverse, 0), out);
    struct form f = form_make(&b->s, best_isa());
    for (int64_t cols = 1; cols < 1500; cols = cols * 3 + 1)
        for (int64_t rows = 1; rows < 600; rows = rows * 2 + 1) {
            struct trial k = {b, NULL, rows, cols, 2, 64};
            try_body(&k, &f, (uint64_t)(rows + cols));
        }
    float data[4] = {0};
    double count = 4, result[4] = {7, 7, 7, 7};
    void *ptr[] = {data, &count, result};
    const int64_t rs[] = {16, 0, 0};
    struct tile t = {.ptr = ptr, .rstride = rs, .cols = 4, .rows = 0};
    form_run(&f, &t);
    for (int i = 0; i < 4; i++)
        cr_expect(result[i] == 0 && !signbit(result[i]));
    form_free(&f);
    free(b);
}

// a body at the limit, whose values all stay alive to the end
Test(interp, largest_body) {
    struct body *b = calloc(1, sizeof *b);
    body_init(b, NEST_MAP);
    body_section(b, SEG_ELEM);
    const uint16_t x = body_operand(b, WEFT_I64, NEST_UNIT, false), out = body_operand(b, WEFT_I64, NEST_UNIT, true);
    uint16_t v[2047];
    v[0] = body_load(b, x);
    for (int i = 1; i < 2047; i++)
        v[i] = body_op(b, IR_add, WEFT_I64, WEFT_I64, v[i - 1], v[0], 0);
    uint16_t mixed = v[0];
    for (int i = 2046; i >= 1; i--)
        mixed = body_op(b, i % 2 ? IR_mul : IR_bitwise_xor, WEFT_I64, WEFT_I64, mixed, v[i], 0);
    body_store(b, mixed, out);
    cr_assert(b->s.nop == 4094);
    struct form f = form_make(&b->s, best_isa());
    struct trial k = {b, NULL, 2, 300, 1, 0};
    try_body(&k, &f, 5);
    form_free(&f);
    free(b);
}
