// SPDX-License-Identifier: MIT
// The cost rule of the tiers as docs/architecture.md states it, to the run: when a body is compiled, and that results do
// not show it. A body of 6 instructions over a million elements costs 1.5 ms a run by the rule's estimate; compiling
// it, with LLVM still to come, is put at 17.36 ms.
#include "cases.h"

enum { N = 1000000, RUNS_BEFORE = 11 };

static weft_ctx *quiet(weft_backend backend, int threads) {
    weft_ctx *ctx = NULL;
    weft_ctx_opts o = {.size = sizeof o, .backend = backend, .threads = threads, .ignore_env = true};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    return ctx;
}
static weft_stats stats_of(weft_ctx *ctx) {
    weft_stats s;
    weft_ctx_stats(ctx, &s, sizeof s);
    return s;
}
static double *numbers(double scale) {
    double *x = malloc(N * sizeof *x);
    for (int i = 0; i < N; i++)
        x[i] = (i % 1000) * scale;
    return x;
}
static void run(weft_ctx *ctx, double *x, double *y, double *out, int64_t n) {
    weft_graph *g = weft_graph_new(ctx);
    weft_array a = vec(x, n), b = vec(y, n), o = vec(out, n);
    weft_expr *e = weft_from(g, &a);
    must(g, weft_eval(weft_sqrt(weft_add(weft_mul(e, weft_from(g, &b)), e)), &o, NULL));
    weft_graph_free(g);
}

Test(tiers, a_body_is_compiled_once_interpreting_has_cost_as_much, .timeout = 60) {
    double *x = numbers(0.5), *y = numbers(0.25), *out = malloc(N * sizeof *out), *want = malloc(N * sizeof *want);
    weft_ctx *ctx = quiet(WEFT_BACKEND_AUTO, 1), *interp = quiet(WEFT_BACKEND_INTERP, 1);
    run(interp, x, y, want, N);
    for (int i = 0; i < RUNS_BEFORE; i++) {
        run(ctx, x, y, out, N);
        weft_ctx_wait(ctx);
        weft_stats s = stats_of(ctx);
        cr_assert(!s.compiles && !s.runs_jit && s.runs_interp == (uint64_t)i + 1 && s.llvm_major == 0, "run %d", i);
    }
    run(ctx, x, y, out, N); // pays for it, and may see it come
    cr_expect(!memcmp(out, want, N * sizeof *out));
    weft_ctx_wait(ctx);
    weft_stats s = stats_of(ctx);
    cr_assert(s.compiles <= 1);
    if (s.llvm_major) { // there is LLVM here
        cr_assert_eq(s.compiles, 1);
        run(ctx, x, y, out, N);
        cr_expect_eq(stats_of(ctx).runs_jit, s.runs_jit + 1);
        cr_expect(!memcmp(out, want, N * sizeof *out));
    }
    weft_ctx_free(ctx), weft_ctx_free(interp);
    free(x), free(y), free(out), free(want);
}

// Compilation overtakes a loop of evaluations at some moment, maybe inside one: every result has the same bits.
Test(tiers, the_switch_is_invisible, .timeout = 60) {
    double *x = numbers(0.125), *y = numbers(3), *out = malloc(N * sizeof *out), *want = malloc(N * sizeof *want);
    weft_ctx *interp = quiet(WEFT_BACKEND_INTERP, 1);
    run(interp, x, y, want, N);
    for (int threads = 1; threads <= 2; threads++) {
        weft_ctx *ctx = quiet(WEFT_BACKEND_AUTO, threads);
        for (int i = 0; i < 40; i++) {
            memset(out, 0xff, N * sizeof *out);
            run(ctx, x, y, out, N);
            cr_assert(!memcmp(out, want, N * sizeof *out), "run %d", i);
        }
        weft_ctx_free(ctx);
    }
    weft_ctx_free(interp);
    free(x), free(y), free(out), free(want);
}

Test(tiers, small_work_never_brings_llvm_in) {
    double x[64] = {4}, y[64] = {0.5}, out[64];
    weft_ctx *ctx = quiet(WEFT_BACKEND_AUTO, 1);
    for (int i = 0; i < 1000; i++)
        run(ctx, x, y, out, 64);
    weft_ctx_wait(ctx);
    weft_stats s = stats_of(ctx);
    cr_expect(s.runs_interp == 1000 && !s.compiles && s.llvm_major == 0);
    weft_ctx_free(ctx);
}
