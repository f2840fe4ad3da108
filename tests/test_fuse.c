// SPDX-License-Identifier: MIT
// Plans of known expressions: the number of passes, what is in them, and the whole text against
// tests/golden (FUSE_GOLDEN=write writes it anew, for a look at the difference).
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fuse/plan.h"

static struct ir_graph *g;
static char memory[1 << 20];
static size_t used;
static struct fuse_plan *plans[64]; // freed when the test ends
static int nplan;
static const weft_reduce last = {
    .size = sizeof last, .axes = (int[]){-1}, .naxes = 1, .keepdims = true};
static const weft_reduce first = {.size = sizeof first, .axes = (int[]){0}, .naxes = 1};

static void begin(void) {
    used = 0;
    g = ir_graph_new(NULL, 1u << 24);
}
static void finish(void) {
    while (nplan)
        fuse_plan_free(plans[--nplan]);
    ir_graph_free(g);
}
TestSuite(fuse, .init = begin, .fini = finish);

// Leaves differ in address only; nothing reads them.
static ir_ref leaf_of(weft_dtype t, int rank, const int64_t *dims, bool f_order) {
    weft_array a = {.dtype = t, .rank = rank, .data = memory + used++};
    int64_t step = (int64_t)dtype_size(t);
    for (int i = 0; i < rank; i++) {
        int k = f_order ? i : rank - 1 - i;
        a.dims[k] = dims[k];
        a.strides[k] = step;
        step *= dims[k];
    }
    return ir_from(g, &a);
}
#define DIMS(...)                                                                                  \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]) {                                     \
        __VA_ARGS__                                                                                \
    }
#define LEAF(...) leaf_of(WEFT_F64, DIMS(__VA_ARGS__), false)
#define F_LEAF(...) leaf_of(WEFT_F64, DIMS(__VA_ARGS__), true)
#define RESHAPE(x, ...) ir_reshape(g, x, DIMS(__VA_ARGS__))
#define ROOTS(...)                                                                                 \
    (int)(sizeof((ir_ref[]){__VA_ARGS__}) / sizeof(ir_ref)), (ir_ref[]) {                          \
        __VA_ARGS__                                                                                \
    }

static ir_ref op1(enum ir_op op, ir_ref a) {
    return ir_map(g, op, (ir_ref[3]){a});
}
static ir_ref op2(enum ir_op op, ir_ref a, ir_ref b) {
    return ir_map(g, op, (ir_ref[3]){a, b});
}
static ir_ref number(double v) {
    return ir_constant(g, WEFT_F64, &v, IR_WEAK_FLOAT);
}
static ir_ref add(ir_ref a, ir_ref b) {
    return op2(IR_add, a, b);
}
static ir_ref sub(ir_ref a, ir_ref b) {
    return op2(IR_sub, a, b);
}
static ir_ref mul(ir_ref a, ir_ref b) {
    return op2(IR_mul, a, b);
}

// ---- planning, with everything that can be said about any plan ----------------------------------
static struct fuse_plan *plan_with(const struct fuse_opts *o, int n, const ir_ref *roots) {
    struct base_err err = {0};
    struct fuse_plan *p = NULL;
    cr_assert_eq(ir_error(g)->status, WEFT_OK, "%s", ir_error(g)->text);
    cr_assert_eq(fuse_plan_make(g, n, roots, o, NULL, &err, &p), WEFT_OK, "%s", err.text);
    cr_assert(nplan < 64);
    plans[nplan++] = p;
    cr_assert(fuse_plan_check(g, p, &err), "%s", err.text);
    return p;
}
static struct fuse_plan *plan(int n, const ir_ref *roots) {
    return plan_with(NULL, n, roots);
}

static char *read_all(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *text = calloc(1, 1 << 16);
    size_t n = fread(text, 1, (1 << 16) - 1, f);
    text[n] = 0;
    fclose(f);
    return text;
}

static void golden(const struct fuse_plan *p, const char *name) {
    char path[512];
    struct base_vec v;
    snprintf(path, sizeof path, "%s/%s.txt", GOLDEN_DIR, name);
    vec_init(&v, NULL);
    fuse_plan_dump(g, p, &v);
    const char *mode = getenv("FUSE_GOLDEN");
    if (mode && !strcmp(mode, "write")) {
        FILE *f = fopen(path, "wb");
        cr_assert(f && fwrite(v.data, 1, v.size, f) == v.size && !fclose(f), "cannot write %s",
                  path);
    }
    char *want = read_all(path);
    cr_assert(want && !strcmp(want, (char *)v.data), "%s differs; the plan is now\n%s", path,
              (char *)v.data);
    free(want);
    vec_free(&v);
}

static int sections(const struct fuse_step *s, int kind) {
    int n = 0;
    for (int i = 0; i < s->seg.nsection; i++)
        n += s->seg.section[i].kind == kind;
    return n;
}
static int count_op(const struct fuse_step *s, int op) {
    int n = 0;
    for (int i = 0; i < s->seg.nop; i++)
        n += s->seg.op[i].op == op;
    return n;
}
// Plans, asserts the number of passes and the golden text; the first step is returned for a closer
// look.
static const struct fuse_step *expect(const char *name, int passes, int n, const ir_ref *roots) {
    struct fuse_plan *p = plan(n, roots);
    cr_assert_eq(p->passes, passes, "%s: %d passes, expected %d", name, p->passes, passes);
    golden(p, name);
    return &p->step[0];
}

// ---- one pass -----------------------------------------------------------------------------------
Test(fuse, chain) {
    ir_ref x = LEAF(1000, 1000), y = LEAF(1000, 1000);
    const struct fuse_step *s = expect("chain", 1, ROOTS(op1(IR_sqrt, add(mul(x, y), x))));
    static const int ops[] = {SEG_LOAD, SEG_LOAD, IR_mul, IR_add, IR_sqrt, SEG_STORE};
    cr_assert_eq(s->seg.nsection, 1);
    cr_assert_eq(s->seg.nop, 6);
    for (int i = 0; i < 6; i++)
        cr_assert_eq(s->seg.op[i].op, ops[i]);
    cr_assert_eq(s->nest.dim[s->nest.ndim - 1], 1000000);
}

Test(fuse, f_order_is_as_flat_as_c_order) {
    ir_ref x = F_LEAF(1000, 2000), y = F_LEAF(1000, 2000);
    weft_array out = {.dtype = WEFT_F64, .rank = 2, .dims = {1000, 2000}, .strides = {8, 8000}};
    ir_ref root = add(x, y);
    struct fuse_plan *p = plan_with(&(struct fuse_opts){.outs = &out}, 1, &root);
    cr_assert_eq(p->step[0].nest.dim[p->step[0].nest.ndim - 1], 2000000);
}

Test(fuse, temporaries_follow_their_inputs) {
    ir_ref x = F_LEAF(1000, 2000), y = x;
    weft_array out = {.dtype = WEFT_F64, .rank = 2, .dims = {1000, 2000}, .strides = {8, 8000}};
    for (int i = 0; i < 1000; i++)
        y = add(y, y);
    struct fuse_plan *p = plan_with(&(struct fuse_opts){.outs = &out}, 1, &y);
    cr_assert_gt(p->nstep, 1);
    for (int i = 0; i < p->nstep; i++)
        cr_assert_eq(p->step[i].nest.dim[p->step[i].nest.ndim - 1], 2000000);
}

static ir_ref softmax(ir_ref x, const weft_reduce *r) {
    ir_ref e = op1(IR_exp, sub(x, ir_reduce(g, IR_MAX, x, r)));
    return op2(IR_true_divide, e, ir_reduce(g, IR_SUM, e, r));
}

Test(fuse, softmax_rows) {
    const struct fuse_step *s = expect("softmax", 1, ROOTS(softmax(LEAF(64, 1024), &last)));
    cr_assert_eq(s->nest.mode, NEST_INNER);
    cr_assert_eq(sections(s, SEG_ELEM), 3);
    cr_assert_eq(count_op(s, IR_exp), 1, "exp is carried, not repeated");
}

Test(fuse, layer_norm) {
    ir_ref x = LEAF(64, 1024), gamma = LEAF(1024), beta = LEAF(1024);
    ir_ref d = sub(x, ir_reduce(g, IR_MEAN, x, &last));
    ir_ref s = op1(IR_sqrt, add(ir_reduce(g, IR_VAR, x, &last), number(1e-5)));
    expect("layer_norm", 1, ROOTS(add(mul(op2(IR_true_divide, d, s), gamma), beta)));
}

Test(fuse, log_sum_exp) {
    ir_ref x = LEAF(64, 1024), m = ir_reduce(g, IR_MAX, x, &last);
    ir_ref s = ir_reduce(g, IR_SUM, op1(IR_exp, sub(x, m)), &last);
    expect("log_sum_exp", 1, ROOTS(add(op1(IR_log, s), m)));
}

Test(fuse, several_reductions_of_one_expression) {
    ir_ref x = LEAF(4096, 100), y = LEAF(4096, 100), xy = mul(x, y);
    const struct fuse_step *s =
        expect("siblings", 1,
               ROOTS(ir_reduce(g, IR_SUM, xy, NULL), ir_reduce(g, IR_MIN, xy, NULL),
                     ir_reduce(g, IR_MAX, xy, NULL), ir_reduce(g, IR_ARGMAX, xy, NULL),
                     mul(xy, number(2))));
    cr_assert_eq(s->seg.nreduce, 4);
    cr_assert_eq(count_op(s, SEG_LOAD), 3, "x, y and the constant");
}

Test(fuse, mean_of_columns) {
    const struct fuse_step *s =
        expect("mean_columns", 1, ROOTS(ir_reduce(g, IR_MEAN, LEAF(500, 300), &first)));
    cr_assert_eq(s->nest.mode, NEST_OUTER);
    cr_assert_eq(sections(s, SEG_FIN), 1);
}

Test(fuse, views) {
    ir_ref x = LEAF(200, 300), y = LEAF(300, 200);
    expect("transposed", 1, ROOTS(add(ir_transpose(g, x, NULL), y)));
    expect("reversed", 1, ROOTS(ir_slice(g, x, 1, WEFT_NONE, WEFT_NONE, -1)));
    expect("diagonal", 1, ROOTS(op1(IR_exp, ir_diagonal(g, x, 1, 0, 1))));
    expect("slices", 1,
           ROOTS(add(ir_slice(g, x, 0, 1, WEFT_NONE, 1), ir_slice(g, x, 0, WEFT_NONE, -1, 1))));
    ir_ref flat = RESHAPE(add(mul(x, number(2)), number(1)), 60000);
    expect("reshaped", 1, ROOTS(add(RESHAPE(flat, 60, 1000), RESHAPE(y, 60, 1000))));
    expect("reshaped_sum", 1,
           ROOTS(RESHAPE(
               ir_reduce(g, IR_SUM, LEAF(6, 4, 50),
                         &(weft_reduce){.size = sizeof last, .axes = (int[]){2}, .naxes = 1}),
               24)));
}

Test(fuse, where_and_iota) {
    ir_ref x = LEAF(40, 50), i = ir_iota(g, WEFT_F64, DIMS(40, 50), 1);
    ir_ref cond = op2(IR_greater, x, i);
    expect("where_iota", 1,
           ROOTS(ir_map(g, IR_where, (ir_ref[3]){cond, op1(IR_sqrt, x), number(0)})));
}

Test(fuse, roots_share_a_pass) {
    ir_ref x = LEAF(40, 50), e = op1(IR_exp, x);
    const struct fuse_step *s = expect("two_roots", 1, ROOTS(add(e, number(1)), mul(e, e), e));
    cr_assert_eq(count_op(s, IR_exp), 1);
}

// ---- several passes -----------------------------------------------------------------------------
Test(fuse, variance_of_everything) {
    expect("variance", 2, ROOTS(ir_reduce(g, IR_VAR, LEAF(1000000), NULL)));
    cr_assert_eq(plan(ROOTS(ir_reduce(g, IR_VAR, LEAF(100, 1000), &last)))->passes, 1,
                 "rows that fit: one pass");
}

Test(fuse, centred_columns) {
    ir_ref x = LEAF(500, 300);
    const struct fuse_step *s =
        expect("centred", 2, ROOTS(sub(x, ir_reduce(g, IR_MEAN, x, &first))));
    cr_assert_eq(count_op(s, IR_true_divide), 1, "the division ends the first pass");
}

// ---- what is made of other operations (ir/compose.c, create.c, norms.c)
// --------------------------
Test(fuse, softmax_function) {
    expect("softmax", 1, ROOTS(ir_softmax(g, LEAF(64, 1024), -1)));
}
Test(fuse, random_in_a_chain) {
    struct ir_stream s = {.key = 7, .rank = 2, .dims = (int64_t[]){64, 1000}};
    ir_ref u = ir_random_uniform(g, WEFT_F64, &s);
    expect("random_chain", 1, ROOTS(add(mul(u, LEAF(64, 1000)), number(1))));
}
Test(fuse, differences) {
    expect("diff", 1, ROOTS(ir_diff(g, LEAF(50, 1000), 1, -1)));
}
Test(fuse, masked_row_sums) {
    ir_ref mask = leaf_of(WEFT_BOOL, DIMS(64, 1024), false);
    ir_ref kept = ir_map(g, IR_where, (ir_ref[]){mask, LEAF(64, 1024), number(0)});
    expect("masked_sum", 1,
           ROOTS(ir_reduce(
               g, IR_SUM, kept,
               &(weft_reduce){.size = sizeof(weft_reduce), .axes = (int[]){1}, .naxes = 1})));
}
Test(fuse, both_results_of_a_division) {
    ir_ref rest, q = ir_divmod(g, LEAF(64, 1024), LEAF(64, 1024), &rest);
    cr_assert_eq(plan(ROOTS(q, rest))->passes, 1);
}

Test(fuse, softmax_of_a_long_array) {
    expect("softmax_long", 3, ROOTS(softmax(LEAF(10000000), NULL)));
}

Test(fuse, matmul_bias_relu) {
    ir_ref a = LEAF(64, 128), b = F_LEAF(128, 32), bias = LEAF(32);
    ir_ref r = op2(IR_maximum, add(ir_matmul(g, a, b), bias), number(0));
    expect("matmul_relu", 1, ROOTS(r));
    expect("matmul_views", 2,
           ROOTS(ir_matmul(g, ir_transpose(g, op1(IR_exp, LEAF(128, 64)), NULL), b)));
    struct fuse_plan *p = plan(ROOTS(ir_matmul(g, a, b)));
    cr_assert_eq(p->nstep, 1);
    cr_assert_eq(p->workspace_bytes, 0);
}

Test(fuse, maps_follow_their_product) {
    ir_ref x = LEAF(64, 128), w = LEAF(128, 32), bias = LEAF(32), r = LEAF(64, 32);
    ir_ref p = ir_matmul(g, x, w);
    ir_ref z = add(p, bias), half = mul(z, number(0.5));
    expect("matmul_gelu", 1,
           ROOTS(mul(half, add(op1(IR_erf, mul(z, number(0.7071067811865476))), number(1)))));
    expect("matmul_residual", 1, ROOTS(add(r, mul(p, number(0.5)))));
    expect("matmul_cast", 1, ROOTS(ir_cast(g, add(p, bias), WEFT_F32)));
    expect("matmul_outputs", 1, ROOTS(p, op1(IR_exp, p), op1(IR_neg, add(p, bias))));
    expect("matmul_turned", 1, ROOTS(op1(IR_exp, ir_transpose(g, p, NULL))));
    expect("matmul_layers", 2,
           ROOTS(op1(IR_tanh, ir_matmul(g, op1(IR_tanh, add(p, bias)), LEAF(32, 16)))));
}

// A map that needs more of the product than the part at hand is a pass of its own, and so is one that
// depends on another reader.
Test(fuse, maps_that_cannot_follow) {
    ir_ref p = ir_matmul(g, LEAF(64, 128), LEAF(128, 64));
    cr_assert_eq(plan(ROOTS(add(p, ir_transpose(g, p, NULL))))->nstep, 2);
    cr_assert_eq(plan(ROOTS(mul(p, ir_reduce(g, IR_SUM, p, &first))))->nstep, 3);
    cr_assert_eq(plan(ROOTS(ir_reduce(g, IR_SUM, p, &last)))->nstep, 2);
    ir_ref q = ir_matmul(g, LEAF(64, 32), LEAF(32, 64));
    cr_assert_eq(plan(ROOTS(op1(IR_exp, add(p, q))))->nstep, 2, "one of two products leads");
    ir_ref alone = op1(IR_exp, p);
    cr_assert_eq(plan_with(&(struct fuse_opts){.unfused = true}, 1, &alone)->nstep, 2);
}

Test(fuse, rows_that_are_repeated_are_stored) {
    ir_ref x = LEAF(1000, 300), b = LEAF(300);
    struct fuse_plan *p = plan(ROOTS(mul(x, op1(IR_exp, b))));
    cr_assert_eq(p->nstep, 2, "300 exponentials, not 300000");
}

Test(fuse, nan_guard) {
    weft_reduce r = {.size = sizeof r, .nan = WEFT_NAN_RAISE};
    struct fuse_plan *p = plan(ROOTS(ir_reduce(g, IR_SUM, LEAF(1000), &r)));
    cr_assert_eq(p->nguard, 1);
    cr_assert_eq(p->passes, 1, "the check rides along");
    golden(p, "guard");
}

Test(fuse, unfused) {
    ir_ref x = LEAF(100, 100);
    ir_ref root = op1(IR_sqrt, add(mul(x, x), ir_transpose(g, x, NULL)));
    struct fuse_plan *p = plan_with(&(struct fuse_opts){.unfused = true}, 1, &root);
    cr_assert_eq(p->nstep, 3, "views and casts make no step");
}

Test(fuse, nothing_to_do) {
    struct fuse_plan *p = plan(ROOTS(add(LEAF(0, 3), number(1)), op1(IR_exp, LEAF(2, 0))));
    cr_assert_eq(p->nstep, 0);
    cr_assert_eq(p->passes, 0);
}

// ---- code depends on the logical body only ------------------------------------------------------
static void same_code(ir_ref a, ir_ref b) {
    struct fuse_plan *p = plan(1, &a), *q = plan(1, &b);
    const struct seg *s = &p->step[0].seg, *t = &q->step[0].seg;
    cr_assert_eq(s->nop, t->nop);
    cr_assert_eq(s->noperand, t->noperand);
    cr_assert_arr_eq(s->op, t->op, (size_t)s->nop * sizeof *s->op);
    for (int i = 0; i < s->noperand; i++) {
        cr_assert_eq(s->operand[i].cls, t->operand[i].cls);
        cr_assert_eq(s->operand[i].late, t->operand[i].late);
    }
}

Test(fuse, extents_strides_and_constants_share_code) {
    ir_ref x = LEAF(100, 100), y = LEAF(7, 9), z = F_LEAF(33, 5);
    same_code(add(mul(x, number(2)), x), add(mul(y, number(3)), y));
    same_code(add(mul(x, number(2)), x), add(mul(z, number(4)), z));
    same_code(ir_reduce(g, IR_SUM, x, &last), ir_reduce(g, IR_SUM, z, &last));
    ir_ref late = LEAF(100, 100), early = LEAF(100, 100); // numbering of nodes does not matter
    ir_ref q = op1(IR_sqrt, early), p = op1(IR_exp, late);
    ir_ref r = op1(IR_exp, LEAF(100, 100)), s = op1(IR_sqrt, LEAF(100, 100));
    same_code(add(p, q), add(r, s));
}

// ---- size ---------------------------------------------------------------------------------------
static double milliseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static ir_ref doubled(int times) {
    ir_ref x = LEAF(1000);
    for (int i = 0; i < times; i++)
        x = add(x, x);
    return x;
}

Test(fuse, linear_in_nodes) {
    ir_ref x = doubled(60);
    struct fuse_plan *p = plan(1, &x);
    cr_assert_eq(p->nstep, 1);
    cr_assert_eq(p->step[0].seg.nop, 62);
    ir_ref small = doubled(10000), large = doubled(100000);
    double t0 = milliseconds();
    p = plan(1, &small);
    double t1 = milliseconds();
    cr_assert_eq(p->nstep, (10000 + 191) / 192);
    cr_assert_eq(p->workspace_bytes, 2 * 8000, "two buffers take turns");
    struct fuse_plan *q = plan(1, &large);
    double t2 = milliseconds();
    cr_assert_lt(t1 - t0, 1000.0, "10 000 nodes take %f ms", t1 - t0);
    cr_assert_lt(t2 - t1, 40 * MAX_OF(t1 - t0, 10.0), "100 000 nodes take %f ms, 10 000 %f",
                 t2 - t1, t1 - t0);
    cr_assert_eq(q->nstep, (100000 + 191) / 192);
}

Test(fuse, many_inputs) {
    static const int counts[] = {200, 6131};
    for (int k = 0; k < 2; k++) {
        ir_ref s = LEAF(100);
        for (int i = 1; i < counts[k]; i++)
            s = add(s, LEAF(100));
        struct fuse_plan *p = plan(1, &s);
        cr_assert_leq(p->nstep, counts[k] / 60 + 1);
        for (int i = 0; i < p->nstep; i++)
            cr_assert_leq(p->step[i].nest.noperand, 66);
    }
}

// ---- no memory ----------------------------------------------------------------------------------
struct meter {
    long left, held;
};
static void *metered(void *ud, void *p, size_t old, size_t size) {
    struct meter *m = ud;
    if (size && m->left-- <= 0) return NULL;
    m->held += (size != 0) - (p != NULL);
    (void)old;
    if (size) return realloc(p, size);
    free(p);
    return NULL;
}

Test(fuse, every_refused_allocation) {
    ir_ref x = LEAF(64, 32), m = ir_matmul(g, softmax(x, &last), LEAF(32, 16));
    ir_ref roots[] = {add(m, number(1)), ir_reduce(g, IR_MEAN, m, &first),
                      RESHAPE(ir_transpose(g, x, NULL), 64, 32)};
    for (long n = 0;; n++) {
        struct meter meter = {n, 0};
        struct base_alloc alloc = {metered, &meter};
        struct base_err err = {0};
        struct fuse_plan *p = NULL;
        weft_status st = fuse_plan_make(g, 3, roots, NULL, &alloc, &err, &p);
        cr_assert(st == WEFT_OK || (st == WEFT_ENOMEM && !p && err.text[0]),
                  "allocation %ld: status %d", n, st);
        fuse_plan_free(p);
        cr_assert_eq(meter.held, 0, "allocation %ld: %ld blocks leaked", n, meter.held);
        if (!st) break;
        cr_assert_lt(n, 10000);
    }
}

Test(fuse, json) {
    ir_ref x = LEAF(10, 20);
    struct fuse_plan *p = plan(ROOTS(ir_reduce(g, IR_SUM, mul(x, x), &first)));
    struct base_vec v;
    vec_init(&v, NULL);
    fuse_plan_json(g, p, &v);
    cr_assert_str_eq(
        (char *)v.data,
        "{\"passes\":1,\"bytes_read\":1600,\"bytes_written\":160,\"workspace_bytes\":0,\"steps\":["
        "{\"kind\":\"outer\",\"space\":[10,20],\"reads\":[\"leaf0 f64 unit\"],\"writes\":[\"out0 "
        "f64 unit\"],"
        "\"ops\":2,\"bytes_read\":1600,\"bytes_written\":160,\"why\":\"root\",\"makes\":["
                     "{\"op\":\"sum\",\"type\":\"f64[20]\",\"why\":\"root\","
                     "\"because\":\"It is a result: the caller wants it in memory.\"}]}],\"temporaries\":[]}\n");
    vec_free(&v);
}
