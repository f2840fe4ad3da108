// SPDX-License-Identifier: MIT
// Whole tiles by the interpreter against the same bodies run one element at a time: random bodies
// whose outputs lie on inputs, reductions of rows and columns whole and in pieces, several
// sections.
#include "interp_body.h"

// ---- tiles of random bodies against the model
// ---------------------------------------------------------------------
struct memory {
    unsigned char *block;
    size_t size;
};
// Every operand in one block: rows of cols elements (one element for SCALAR), with gaps of
// canaries. alias[i] >= 0: output i lies exactly on input alias[i].
static size_t place_operands(const struct body *b, int64_t rows, int64_t cols, const int *alias,
                             size_t *at, int64_t *rstride) {
    size_t end = 64;
    for (int i = 0; i < b->s.noperand; i++) {
        const struct nest_operand *o = &b->operand[i];
        const size_t size = dtype_size((weft_dtype)o->dtype);
        if (alias && alias[i] >= 0) {
            at[i] = at[alias[i]];
            rstride[i] = rstride[alias[i]];
            continue;
        }
        rstride[i] =
            o->buffer == NEST_ROWTMP || o->buffer == NEST_CONST
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
    int kind;      // of the values
    int64_t split; // > 0: also as partial runs of this length, which must be a multiple of a leaf
};

static void run_on(const struct trial *k, struct form *f, struct memory mem, const size_t *at,
                   const int64_t *rs) {
    void *ptr[256];
    for (int i = 0; i < k->b->s.noperand; i++)
        ptr[i] = mem.block + at[i];
    struct tile t = {.ptr = ptr, .rstride = rs, .cols = k->cols, .rows = k->rows};
    if (f)
        form_run(f, &t);
    else
        model_run(&k->b->s, &t);
}

// NaN payloads may differ: outputs are compared element by element, everything else bit by bit.
static void compare_memory(const struct trial *k, struct memory got, struct memory want,
                           const size_t *at, const int64_t *rs, const char *how) {
    for (int i = 0; i < k->b->s.noperand; i++) {
        const struct nest_operand *o = &k->b->operand[i];
        const weft_dtype type = (weft_dtype)o->dtype;
        const int64_t n = o->cls == NEST_UNIT ? k->cols : 1, rows = o->late ? 1 : k->rows;
        for (int64_t e = 0; o->out && e < rows * n; e++) {
            const size_t p = at[i] + (size_t)(e / n * rs[i]) + (size_t)(e % n) * dtype_size(type);
            cr_assert(same_element(type, got.block + p, want.block + p),
                      "%s: operand %d, row %lld of %lld, column %lld of %lld", how, i,
                      (long long)(e / n), (long long)k->rows, (long long)(e % n),
                      (long long)k->cols);
            memcpy(got.block + p, want.block + p, dtype_size(type));
        }
    }
    cr_assert(memcmp(got.block, want.block, got.size) == 0, "%s: something else was written", how);
}

// Pieces of the reduced run as PARTIAL tiles, their states pushed in order, then FINISH.
static void run_split(const struct trial *k, struct form *f, struct memory mem, const size_t *at,
                      const int64_t *rs) {
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
        stack[i] =
            aligned_alloc(64, ((size_t)k->cols * 16 + 4096 - ((size_t)k->cols * 16) % 64) * 16);
    }
    for (int64_t e = 0; e < run; e += k->split, pieces++) {
        const int64_t n = MIN_OF(k->split, run - e);
        for (int i = 0; i < s->noperand; i++) {
            const struct nest_operand *o = &k->b->operand[i];
            const int64_t step = outer                 ? rs[i]
                                 : o->cls == NEST_UNIT ? (int64_t)dtype_size((weft_dtype)o->dtype)
                                                       : 0;
            ptr[i] = mem.block + at[i] + (o->late ? 0 : e * step);
        }
        struct tile t = {.ptr = ptr,
                         .rstride = rs,
                         .cols = outer ? k->cols : n,
                         .rows = outer ? n : 1,
                         .first = e,
                         .mode = TILE_PARTIAL,
                         .state = state};
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
    struct tile t = {.ptr = ptr,
                     .rstride = rs,
                     .cols = k->cols,
                     .rows = k->rows,
                     .mode = TILE_FINISH,
                     .state = state};
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
                           want.block + at[i] + (size_t)(e / n * rs[i]) +
                               (size_t)(e % n) * dtype_size((weft_dtype)o->dtype));
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
static void pool_add(struct pool *p, int type, uint16_t v) {
    p->v[type][p->n[type]++] = v;
}
static uint16_t pool_pick(const struct pool *p, int type, uint64_t *seed) {
    const int recent = MIN_OF(p->n[type], 12); // mostly near ones, so that lifetimes vary
    const uint64_t r = next_random(seed);
    return p->v[type][r % 4 ? p->n[type] - 1 - (int)((r >> 8) % (uint64_t)recent)
                            : (int)((r >> 8) % (uint64_t)p->n[type])];
}
static void random_op(struct body *b, struct pool *p, uint64_t *seed) {
    static const enum ir_op arith[] = {IR_add, IR_sub, IR_mul, IR_minimum, IR_maximum};
    static const enum ir_op compare[] = {IR_less, IR_equal, IR_greater_equal};
    static const enum ir_op logic[] = {IR_logical_and, IR_logical_xor, IR_logical_or};
    const int t = (int)(next_random(seed) % 2);
    const weft_dtype type = pool_types[t];
    const uint16_t x = pool_pick(p, t, seed), y = pool_pick(p, t, seed), c = pool_pick(p, 2, seed);
    switch (next_random(seed) % 8) {
    case 0:
        pool_add(p, 2, body_op(b, (int)compare[next_random(seed) % 3], type, WEFT_BOOL, x, y, 0));
        break;
    case 1:
        pool_add(p, 2,
                 body_op(b, (int)logic[next_random(seed) % 3], WEFT_BOOL, WEFT_BOOL, c,
                         pool_pick(p, 2, seed), 0));
        break;
    case 2: pool_add(p, t, body_op(b, IR_where, type, type, c, x, y)); break;
    case 3:
        pool_add(p, t,
                 body_op(b, IR_cast, pool_types[1 - t], type, pool_pick(p, 1 - t, seed), 0, 0));
        break;
    case 4:
        pool_add(p, 0,
                 body_op(b, IR_fma, WEFT_F64, WEFT_F64, pool_pick(p, 0, seed),
                         pool_pick(p, 0, seed), pool_pick(p, 0, seed)));
        break;
    default:
        pool_add(p, t, body_op(b, (int)arith[next_random(seed) % 5], type, type, x, y, 0));
        break;
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
            const uint16_t v =
                seed % 3 == 2 ? p.v[t][1 + (1 - i) + (t == 0)] : pool_pick(&p, t, &seed);
            if (next_random(&seed) % 2) alias[out] = in[t][i];
            body_store(b, v, out);
            if (i == 0 && next_random(&seed) % 2)
                random_op(b, &p, &seed); // stores between operations
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
    const uint16_t x = body_operand(b, WEFT_F32, NEST_UNIT, false),
                   y = body_operand(b, WEFT_F32, NEST_UNIT, false);
    const uint16_t ox = body_operand(b, WEFT_F32, NEST_UNIT, true),
                   oy = body_operand(b, WEFT_F32, NEST_UNIT, true);
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

// an input that is loaded, and stored elsewhere, after the value that goes on top of it is made
Test(interp, late_load_of_an_overwritten_input) {
    struct body *b = calloc(1, sizeof *b);
    int alias[256];
    memset(alias, 0xff, sizeof alias);
    body_init(b, NEST_MAP);
    body_section(b, SEG_ELEM);
    const uint16_t x = body_operand(b, WEFT_I16, NEST_UNIT, false),
                   z = body_operand(b, WEFT_I16, NEST_UNIT, false);
    const uint16_t o1 = body_operand(b, WEFT_I16, NEST_UNIT, true),
                   o2 = body_operand(b, WEFT_I16, NEST_UNIT, true);
    body_store(b, body_op(b, IR_neg, WEFT_I16, WEFT_I16, body_load(b, x), 0, 0), o1);
    body_store(b, body_load(b, z), o2);
    alias[o1] = z;
    struct form f = form_make(&b->s, best_isa());
    struct trial k = {b, alias, 3, 700, 1, 0};
    try_body(&k, &f, 9);
    form_free(&f);
    free(b);
}

// ---- reductions
// --------------------------------------------------------------------------------------------------
// square of x + c and x itself into a reduction, result stored with a scalar added (not for arg)
static void reduce_body(struct body *b, enum nest_mode mode, enum kern_red r, weft_dtype t) {
    memset(b, 0, sizeof *b);
    const bool arg = kern_red_is_arg(r), outer = mode == NEST_OUTER;
    body_init(b, mode);
    const uint16_t x = body_operand(b, t, NEST_UNIT, false),
                   c = body_operand(b, t, NEST_SCALAR, false);
    const uint16_t w = body_operand(b, t, outer ? NEST_UNIT : NEST_SCALAR, false);
    const enum nest_class cls = outer ? NEST_UNIT : NEST_SCALAR;
    const uint16_t out = body_operand(b, arg ? WEFT_I64 : t, cls, true),
                   out2 = body_operand(b, t, cls, true);
    b->operand[w].late = b->operand[out].late = b->operand[out2].late = outer;
    body_section(b, SEG_ROW);
    const uint16_t vc = body_load(b, c);
    const uint16_t vs = t == WEFT_BOOL ? body_op(b, IR_logical_not, t, t, vc, 0, 0)
                                       : body_op(b, IR_add, t, t, vc, vc, 0);
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
        for (int t = 0; t < DTYPE_COMPUTED__N; t++) {
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
                struct trial k = {
                    b, NULL, i < 7 ? runs[i] : 300, cols[i], ((int)i + r) % 3, 32 << (i % 3)};
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
    const uint16_t x = body_operand(b, t, NEST_UNIT, false),
                   one = body_operand(b, t, NEST_SCALAR, false);
    const uint16_t tmp = body_operand(b, t, NEST_UNIT, true),
                   out = body_operand(b, t, NEST_UNIT, true);
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
    const uint16_t x = body_operand(b, WEFT_F32, NEST_UNIT, false),
                   n = body_operand(b, WEFT_F64, NEST_SCALAR, false);
    const uint16_t out = body_operand(b, WEFT_F64, NEST_UNIT, true);
    b->operand[out].late = true;
    b->operand[n].buffer = NEST_CONST;
    body_section(b, SEG_ROW);
    const uint16_t vn = body_load(b, n),
                   inverse = body_op(b, IR_reciprocal, WEFT_F64, WEFT_F64, vn, 0, 0);
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
    const uint16_t x = body_operand(b, WEFT_I64, NEST_UNIT, false),
                   out = body_operand(b, WEFT_I64, NEST_UNIT, true);
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
