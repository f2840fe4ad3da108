// SPDX-License-Identifier: MIT
// The matrix: every elementwise operation and dtype, over lengths, offsets, strides, output layouts, thread
// counts, tiers, fused and unfused, first and later evaluations; every result must have the bits that the
// interpreter gives for a dense array, and no byte outside the output may change. (That those bits are
// right is shown by the tests of the strips, of the kernels and against NumPy.)
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "values.h"
#include "weft/weft.h"

typedef weft_expr *build1(weft_expr *);
typedef weft_expr *build2(weft_expr *, weft_expr *);
typedef weft_expr *build3(weft_expr *, weft_expr *, weft_expr *);
struct op {
    const char *name;
    int arity;
    build1 *f1;
    build2 *f2;
    build3 *f3;
};
#define FN_1(name) weft_##name, NULL, NULL
#define FN_2(name) NULL, weft_##name, NULL
#define FN_3(name) NULL, NULL, weft_##name
#define ROW_ARITH(arity, name) {#name, arity, FN_##arity(name)},
#define ROW_FLOAT(arity, name) {#name, arity, FN_##arity(name)},
#define ROW_INTS(arity, name) {#name, arity, FN_##arity(name)},
#define ROW_SHIFT(arity, name) {#name, arity, FN_##arity(name)},
#define ROW_COMPARE(arity, name) {#name, arity, FN_##arity(name)},
#define ROW_LOGIC(arity, name) {#name, arity, FN_##arity(name)},
#define ROW_PRED(arity, name) {#name, arity, FN_##arity(name)},
#define ROW_KEEP(arity, name) {#name, arity, FN_##arity(name)},
#define ROW_WHERE(arity, name) {#name, arity, FN_##arity(name)},
#define ROW_WORD(arity, name) {#name, arity, FN_##arity(name)},
#define ROW_CAST(arity, name)
static const struct op ops[] = {
#define MAP(name, arity, rule, ...) ROW_##rule(arity, name)
#include "ir/ops.def"
};
enum { NOPS = sizeof ops / sizeof ops[0], MAXLEN = 130, SPREAD = 3 };

static weft_ctx *ctx_of(weft_backend b, int threads) {
    weft_ctx *ctx = NULL;
    weft_ctx_opts o = {.size = sizeof o, .backend = b, .threads = threads};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    return ctx;
}
static weft_expr *apply(const struct op *op, weft_expr *const *x) {
    if (op->arity == 1) return op->f1(x[0]);
    if (op->arity == 2) return op->f2(x[0], x[1]);
    return op->f3(x[0], x[1], x[2]);
}

// ---- the reference: all combinations of special values, dense, interpreted --------------------------------
struct reference {
    weft_dtype in, out;
    int nv;           // values
    int64_t n;        // nv ** arity
    unsigned char *bits;
};

static bool make_reference(const struct op *op, weft_dtype t, struct reference *ref) {
    unsigned char table[64 * 8];
    ref->in = t;
    ref->nv = special_values(t, table, op->arity == 3 ? 12 : 40);
    ref->n = 1;
    for (int i = 0; i < op->arity; i++)
        ref->n *= ref->nv;
    size_t size = weft_dtype_size(t);
    weft_ctx *ctx = ctx_of(WEFT_BACKEND_INTERP, 1);
    weft_graph *g = weft_graph_new(ctx);
    unsigned char *data[3] = {0};
    weft_expr *x[3] = {0};
    for (int a = 0; a < op->arity; a++) {
        data[a] = malloc(size * (size_t)ref->n);
        for (int64_t i = 0; i < ref->n; i++) {
            int64_t k = i;
            for (int b = op->arity - 1; b > a; b--)
                k /= ref->nv;
            memcpy(data[a] + size * (size_t)i, table + size * (size_t)(k % ref->nv), size);
        }
        weft_array arr = weft_dense(t, data[a], 1, &ref->n);
        x[a] = weft_from(g, &arr);
    }
    weft_expr *f = apply(op, x);
    if (f) {
        ref->out = weft_expr_dtype(f);
        ref->bits = malloc(weft_dtype_size(ref->out) * (size_t)ref->n);
        weft_array out = weft_dense(ref->out, ref->bits, 1, &ref->n);
        weft_status st = weft_eval(f, &out, NULL);
        cr_assert_eq(st, WEFT_OK, "%s %s: %s", op->name, weft_dtype_name(t), weft_graph_error(g));
    } else {
        cr_assert_eq(weft_graph_status(g), WEFT_EDTYPE, "%s %s: %s", op->name, weft_dtype_name(t),
                     weft_graph_error(g));
    }
    for (int a = 0; a < op->arity; a++)
        free(data[a]);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    return f != NULL;
}

// ---- one cell of the matrix -----------------------------------------------------------------------------------
enum layout { UNIT, STEP2, REVERSED, ZERO, COLUMN, LAYOUT__N };
enum form { PLAIN, CHAIN, UNFUSED, FORM__N };
struct cell {
    int64_t n;
    int offset;              // elements, and one odd byte for the wide ones at 7
    enum layout in[3], out;
    enum form form;
    int rot;
};

struct placed {
    unsigned char *block;
    size_t size;
    weft_array array;
};

// An array of n elements in some layout inside a block of canaries.
static struct placed place(weft_dtype t, const struct cell *c, enum layout l) {
    int64_t es = (int64_t)weft_dtype_size(t), n = c->n;
    int64_t stride = l == STEP2 ? 2 * es : l == REVERSED ? -es : l == ZERO ? 0 : l == COLUMN ? SPREAD * es : es;
    struct placed p = {.size = (size_t)((SPREAD * n + 24) * es + 64)};
    p.block = aligned_alloc(64, (p.size + 63) & ~(size_t)63);
    memset(p.block, 0xA5, p.size);
    unsigned char *at = p.block + 8 * es + c->offset * es + (c->offset == 7 ? 1 : 0);
    if (l == REVERSED) at += (n - 1) * es;
    p.array = weft_strided(t, at, 1, &n, &stride);
    return p;
}

static bool equal_bits(weft_dtype t, const void *a, const void *b) {
    size_t size = weft_dtype_size(t);
    if (memcmp(a, b, size) == 0) return true;
    return is_nan(t, a) && is_nan(t, b);
}

static void check_output(const char *what, const struct placed *p, const struct reference *ref,
                         const int64_t *which) {
    size_t es = weft_dtype_size(ref->out);
    unsigned char *mine = calloc(1, p->size);
    for (int64_t i = 0; i < p->array.dims[0]; i++) {
        unsigned char *at = (unsigned char *)p->array.data + i * p->array.strides[0];
        const unsigned char *want = ref->bits + es * (size_t)which[i];
        if (!equal_bits(ref->out, at, want)) {
            uint64_t got = 0, exp = 0;
            memcpy(&got, at, es);
            memcpy(&exp, want, es);
            cr_assert(false, "%s: element %ld (combination %ld): got %#lx, expected %#lx", what, (long)i,
                      (long)which[i], (unsigned long)got, (unsigned long)exp);
        }
        memset(mine + (at - p->block), 1, es);
    }
    for (size_t i = 0; i < p->size; i++)
        cr_assert(mine[i] || p->block[i] == 0xA5, "%s: byte %ld outside the output changed", what,
                  (long)(p->block + i - (unsigned char *)p->array.data));
    free(mine);
}

static void run_cell(weft_ctx *ctx, const struct op *op, const struct reference *ref,
                     const struct cell *c, const char *tier) {
    unsigned char table[64 * 8];
    static const int step[3] = {7, 5, 3};
    size_t es = weft_dtype_size(ref->in);
    special_values(ref->in, table, op->arity == 3 ? 12 : 40);
    weft_graph *g = weft_graph_new(ctx);
    struct placed in[3] = {0}, mask = {0};
    weft_expr *x[3] = {0};
    int64_t which[MAXLEN] = {0};
    if (c->form != PLAIN) {
        mask = place(WEFT_BOOL, c, UNIT);
        memset(mask.array.data, 1, (size_t)c->n);
    }
    for (int a = 0; a < op->arity; a++) {
        in[a] = place(ref->in, c, c->in[a]);
        for (int64_t i = 0; i < c->n; i++) {
            int64_t j = c->in[a] == ZERO ? 0 : i;
            int64_t v = (j * step[a] + c->rot * (a + 1)) % ref->nv;
            memcpy((unsigned char *)in[a].array.data + j * in[a].array.strides[0], table + es * (size_t)v, es);
            which[i] = which[i] * ref->nv + v;
        }
        x[a] = weft_from(g, &in[a].array);
        if (c->form != PLAIN) x[a] = weft_where(weft_from(g, &mask.array), x[a], x[(a + 1) % op->arity] ? x[0] : x[a]);
    }
    struct placed out = place(ref->out, c, c->out);
    weft_eval_opts eo = {.size = sizeof eo, .unfused = c->form == UNFUSED};
    weft_expr *f = apply(op, x);
    char what[256];
    snprintf(what, sizeof what, "%s %s %s n=%ld offset=%d in=%d,%d,%d out=%d form=%d rot=%d", tier, op->name,
             weft_dtype_name(ref->in), (long)c->n, c->offset, c->in[0], c->in[1], c->in[2], c->out, c->form,
             c->rot);
    for (int again = 0; again < 2; again++) {
        weft_status st = weft_eval(f, &out.array, &eo);
        cr_assert_eq(st, WEFT_OK, "%s: %s", what, weft_graph_error(g));
        check_output(what, &out, ref, which);
    }
    weft_graph_free(g);
    for (int a = 0; a < op->arity; a++)
        free(in[a].block);
    free(mask.block);
    free(out.block);
}

static unsigned next(unsigned *s) { return *s = *s * 1664525u + 1013904223u, *s >> 16; }

// All lengths, each with a few random cells; then a cross of offsets, strides and outputs at one length.
static void run_op(weft_ctx *const *ctx, int nctx, const char *const *tier, int iop) {
    for (int t = 0; t < (WEFT_F64 + 1); t++) {
        struct reference ref = {0};
        unsigned seed = (unsigned)(iop * 31 + t + 1);
        if (!make_reference(&ops[iop], (weft_dtype)t, &ref)) continue;
        for (int64_t n = 1; n <= MAXLEN; n++)
            for (int k = 0; k < nctx; k++) {
                struct cell c = {.n = n, .offset = (int)(next(&seed) % 8), .rot = (int)(next(&seed) % 64)};
                for (int a = 0; a < 3; a++)
                    c.in[a] = (enum layout)(next(&seed) % LAYOUT__N);
                c.out = (enum layout)(next(&seed) % 3);
                c.form = (enum form)(next(&seed) % FORM__N);
                run_cell(ctx[k], &ops[iop], &ref, &c, tier[k]);
            }
        for (int i = 0; i < 8 * LAYOUT__N * 3; i++) {
            struct cell c = {.n = 37, .offset = i % 8, .rot = i};
            for (int a = 0; a < 3; a++)
                c.in[a] = (enum layout)((i / 8 + a * (i % 3)) % LAYOUT__N);
            c.out = (enum layout)(i / 8 / LAYOUT__N);
            run_cell(ctx[i % nctx], &ops[iop], &ref, &c, tier[i % nctx]);
        }
        free(ref.bits);
    }
}

#define SHARDS 8
static void run_shard(int shard) {
    static const char *const tier[] = {"interp", "jit", "jit3"};
    weft_ctx *ctx[3] = {ctx_of(WEFT_BACKEND_INTERP, 2), ctx_of(WEFT_BACKEND_JIT, 1), ctx_of(WEFT_BACKEND_JIT, 3)};
    for (int i = shard; i < NOPS; i += SHARDS)
        run_op(ctx, 3, tier, i);
    for (int k = 0; k < 3; k++)
        weft_ctx_free(ctx[k]);
}
#define SHARD(k)                                                                                   \
    Test(matrix, shard_##k, .timeout = PATIENCE * 600) { run_shard(k); }
SHARD(0)
SHARD(1)
SHARD(2)
SHARD(3)
SHARD(4)
SHARD(5)
SHARD(6)
SHARD(7)

// Long arrays, where threads really share the work, and every length around the vector blocks.
Test(matrix, long_arrays, .timeout = PATIENCE * 600) {
    weft_ctx *one = ctx_of(WEFT_BACKEND_INTERP, 1), *three = ctx_of(WEFT_BACKEND_JIT, 3);
    static const int64_t lengths[] = {1023, 1024, 1025, 65537, 300001};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        int64_t n = lengths[k];
        double *x = malloc(8 * (size_t)n), *y = malloc(8 * (size_t)n), *a = malloc(8 * (size_t)n),
               *b = malloc(8 * (size_t)n);
        for (int64_t i = 0; i < n; i++) {
            x[i] = (double)((i * 7919) % 10007) / 97 - 50;
            y[i] = (double)((i * 104729) % 9973) / 31 + 0.01;
        }
        for (int which = 0; which < 2; which++) {
            weft_graph *g = weft_graph_new(which ? three : one);
            weft_array xa = weft_dense(WEFT_F64, x, 1, &n), ya = weft_dense(WEFT_F64, y, 1, &n);
            weft_array out = weft_dense(WEFT_F64, which ? b : a, 1, &n);
            weft_expr *p = weft_from(g, &xa), *q = weft_from(g, &ya);
            weft_expr *f = weft_add(weft_sin(weft_mul(p, q)), weft_log(weft_add(weft_sqrt(q), weft_exp(p))));
            cr_assert_eq(weft_eval(f, &out, NULL), WEFT_OK, "%s", weft_graph_error(g));
            weft_graph_free(g);
        }
        cr_assert_eq(memcmp(a, b, 8 * (size_t)n), 0, "length %ld", (long)n);
        free(x), free(y), free(a), free(b);
    }
    weft_ctx_free(one);
    weft_ctx_free(three);
}
