// SPDX-License-Identifier: MIT
// A program's promise about memory against what the allocator hook saw, exactly: in a fresh workspace, in one
// that was reserved by the promise, at one thread and at two, on both sides of the size from which blocks are
// aligned to huge pages.
#include <stdatomic.h>

#include "cases.h"

static atomic_size_t now, peak, calls;
static void *counted(void *ud, void *ptr, size_t old, size_t size) {
    (void)ud;
    void *p = size ? realloc(ptr, size) : NULL;
    if (!size) free(ptr);
    if (size && !p) return NULL;
    if (size) atomic_fetch_add(&calls, 1);
    const size_t held = atomic_fetch_add(&now, size - (ptr ? old : 0)) + size - (ptr ? old : 0);
    if (held > atomic_load(&peak)) atomic_store(&peak, held);
    return p;
}

typedef weft_expr *build(weft_graph *g, weft_expr *x, weft_expr *y);
static const int last = 1, first = 0;
static weft_expr *chain(weft_graph *g, weft_expr *x, weft_expr *y) {
    (void)g;
    return weft_sqrt(weft_add(weft_mul(x, y), x));
}
static weft_expr *sum_all(weft_graph *g, weft_expr *x, weft_expr *y) {
    (void)g;
    return weft_sum(weft_mul(x, y), NULL);
}
static weft_expr *sum_rows(weft_graph *g, weft_expr *x, weft_expr *y) {
    (void)g;
    weft_reduce r = along(&first, false);
    return weft_sum(weft_mul(x, y), &r);
}
static weft_expr *centred(weft_graph *g, weft_expr *x, weft_expr *y) {
    (void)g;
    weft_reduce r = along(&first, true);
    return weft_mul(weft_sub(x, weft_mean(x, &r)), y);
}
static weft_expr *product(weft_graph *g, weft_expr *x, weft_expr *y) {
    (void)g;
    return weft_matmul(x, weft_transpose(y, NULL));
}
static weft_expr *product_map(weft_graph *g, weft_expr *x, weft_expr *y) {
    return weft_maximum(weft_matmul(x, weft_transpose(y, NULL)), weft_float(g, 0));
}
static weft_expr *product_sum(weft_graph *g, weft_expr *x, weft_expr *y) {
    weft_reduce r = along(&last, false);
    return weft_sum(weft_exp(weft_neg(product(g, x, y))), &r);
}
static weft_expr *softmax(weft_graph *g, weft_expr *x, weft_expr *y) {
    (void)g, (void)y;
    return weft_softmax(x, 1);
}
static weft_expr *softmax_columns(weft_graph *g, weft_expr *x, weft_expr *y) {
    (void)g, (void)y;
    return weft_softmax(x, 0);
}
static weft_expr *sorted(weft_graph *g, weft_expr *x, weft_expr *y) {
    (void)g;
    return weft_sort(weft_add(x, y), 1);
}
static weft_expr *sorted_columns(weft_graph *g, weft_expr *x, weft_expr *y) {
    (void)g, (void)y;
    return weft_sort(x, 0);
}
static weft_expr *spectrum(weft_graph *g, weft_expr *x, weft_expr *y) {
    (void)g, (void)y;
    weft_fft_opts o = {.size = sizeof o, .axis = 1};
    return weft_abs(weft_rfft(x, &o));
}
static const struct {
    const char *name;
    build *build;
    bool may_miss; // needs a library that may not be there
} works[] = {{"chain", chain, false}, {"sum", sum_all, false}, {"sum of rows", sum_rows, false},
             {"centred", centred, false}, {"product", product, false}, {"product and map", product_map, false},
             {"product, map and sum", product_sum, false}, {"softmax", softmax, false},
             {"softmax of columns", softmax_columns, false}, {"sort", sorted, false},
             {"sort of columns", sorted_columns, false}, {"fft", spectrum, true}};

static void fill_out(weft_array *o, weft_expr *e) {
    *o = weft_dense(weft_expr_dtype(e), NULL, weft_expr_rank(e), weft_expr_dims(e));
    o->data = calloc((size_t)weft_array_count(o) + 1, 16);
}

static void check(size_t w, const int64_t dims[2], int threads, weft_backend backend) {
    weft_ctx *ctx = NULL;
    weft_ctx_opts opts = {.size = sizeof opts, .alloc = counted, .threads = threads, .backend = backend, .ignore_env = true};
    cr_assert_eq(weft_ctx_new(&ctx, &opts), WEFT_OK);
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *x = weft_input(g, "x", WEFT_F64, 2, dims), *y = weft_input(g, "y", WEFT_F64, 2, dims);
    weft_expr *e = works[w].build(g, x, y);
    weft_program *p = NULL;
    weft_workspace *ws[2] = {NULL, NULL};
    weft_array out, in[2];
    cr_assert_eq(weft_compile(1, &e, &p), WEFT_OK, "%s", weft_graph_error(g));
    fill_out(&out, e);
    fill_out(&in[0], x), fill_out(&in[1], y);
    const size_t promise = weft_program_workspace_size(p);
    char why[256];
    for (int reserved = 0; reserved < 2; reserved++) {
        cr_assert(!weft_workspace_new(ctx, &ws[reserved]));
        if (reserved) {
            cr_assert(!weft_workspace_reserve(ws[1], promise));
            cr_expect_eq(weft_workspace_bytes(ws[1]), promise, "%s: reserved %zu of %zu", works[w].name,
                         weft_workspace_bytes(ws[1]), promise);
        }
        const size_t before = atomic_load(&now), asked = atomic_load(&calls);
        atomic_store(&peak, before);
        weft_status st = weft_run(p, ws[reserved], in, &out, why, sizeof why);
        if (st == WEFT_EUNSUPPORTED && works[w].may_miss) break;
        cr_assert_eq(st, WEFT_OK, "%s: %s", works[w].name, why);
        const size_t seen = atomic_load(&peak) - before;
        cr_expect_eq(seen, reserved ? 0 : promise, "%s, %ldx%ld, %d threads%s: %zu promised, %zu seen", works[w].name,
                     (long)dims[0], (long)dims[1], threads, reserved ? ", reserved" : "", promise, seen);
        cr_expect(!reserved || atomic_load(&calls) == asked);
        cr_expect_eq(weft_workspace_bytes(ws[reserved]), promise);
    }
    weft_workspace_free(ws[0]), weft_workspace_free(ws[1]);
    free(out.data), free(in[0].data), free(in[1].data);
    weft_program_free(p);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    cr_assert_eq(atomic_load(&now), 0, "%s: %zu bytes stay", works[w].name, atomic_load(&now));
}

Test(memory, the_promise_is_what_the_allocator_saw, .timeout = 120) {
    for (size_t w = 0; w < sizeof works / sizeof *works; w++)
        for (int threads = 1; threads <= 2; threads++) {
            check(w, DIMS(40, 30), threads, WEFT_BACKEND_JIT);
            check(w, DIMS(40, 30), threads, WEFT_BACKEND_INTERP);
            check(w, DIMS(700, 700), threads, WEFT_BACKEND_INTERP);
        }
}
Test(memory, and_of_large_blocks, .timeout = 120) {
    for (size_t w = 0; w < sizeof works / sizeof *works; w++)
        check(w, DIMS(1100, 1000), 2, WEFT_BACKEND_INTERP); // temporaries of 8.8 MB: aligned to huge pages
}

// More arrays and constants than a workspace has room for pointers to.
Test(memory, many_inputs) {
    enum { MANY = 90 };
    weft_ctx *ctx = NULL;
    weft_ctx_opts opts = {.size = sizeof opts, .alloc = counted, .threads = 1, .ignore_env = true, .backend = WEFT_BACKEND_INTERP};
    cr_assert_eq(weft_ctx_new(&ctx, &opts), WEFT_OK);
    weft_graph *g = weft_graph_new(ctx);
    weft_array in[MANY], out;
    double data[MANY], result = 0;
    weft_expr *e = NULL;
    for (int i = 0; i < MANY; i++) {
        char name[8];
        snprintf(name, sizeof name, "x%d", i);
        weft_expr *x = weft_input(g, name, WEFT_F64, 1, DIMS(1));
        data[i] = i;
        in[i] = vec(&data[i], 1);
        e = e ? weft_add(e, x) : x;
    }
    weft_program *p = NULL;
    weft_workspace *ws = NULL;
    cr_assert_eq(weft_compile(1, &e, &p), WEFT_OK);
    cr_assert(!weft_workspace_new(ctx, &ws));
    out = vec(&result, 1);
    const size_t before = atomic_load(&now);
    atomic_store(&peak, before);
    cr_assert_eq(weft_run(p, ws, in, &out, NULL, 0), WEFT_OK);
    cr_expect_eq(atomic_load(&peak) - before, weft_program_workspace_size(p));
    cr_expect_eq(weft_workspace_bytes(ws), weft_program_workspace_size(p));
    cr_expect(result == MANY * (MANY - 1) / 2);
    weft_workspace_free(ws);
    weft_program_free(p);
    weft_graph_free(g);
    weft_ctx_free(ctx);
}
