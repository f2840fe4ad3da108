// SPDX-License-Identifier: MIT
// What the adapters' examples share: one evaluation that is worth several threads, and its answer on one thread. C and C++.
#ifndef WEFT_ADAPTER_WORKLOAD_H
#define WEFT_ADAPTER_WORKLOAD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

enum { WORKLOAD_ROWS = 1000, WORKLOAD_COLS = 700 };

// softmax of tanh(a) along rows, and the sum of all: a chain, two reductions, one large output.
static inline weft_status workload_run(weft_ctx *ctx, const float *a, float *out, double *sum) {
    const int64_t dims[2] = {WORKLOAD_ROWS, WORKLOAD_COLS};
    const int axis = 1;
    weft_reduce rows;
    memset(&rows, 0, sizeof rows);
    rows.size = sizeof rows;
    rows.axes = &axis;
    rows.naxes = 1;
    rows.keepdims = true;
    weft_graph *g = weft_graph_new(ctx);
    if (!g) return WEFT_ENOMEM;
    weft_array in = weft_dense(WEFT_F32, (void *)(uintptr_t)a, 2, dims);
    weft_array outs[2] = {weft_dense(WEFT_F32, out, 2, dims), weft_dense(WEFT_F64, sum, 0, NULL)};
    weft_expr *x = weft_tanh(weft_from(g, &in));
    weft_expr *e = weft_exp(weft_sub(x, weft_max(x, &rows)));
    weft_expr *roots[2] = {weft_true_divide(e, weft_sum(e, &rows)), weft_sum(weft_cast(x, WEFT_F64), NULL)};
    weft_status st = weft_eval_n(2, roots, outs, NULL);
    if (st) fprintf(stderr, "weft: %s\n", weft_graph_error(g));
    weft_graph_free(g);
    return st;
}

// Compares a context that uses the executor, counted, with one that uses one thread; 0 when all is well.
static struct {
    weft_executor host;
    unsigned calls;
} workload_counted;
static void workload_for(void *ud, int64_t n, void (*body)(void *arg, int64_t i), void *arg) {
    (void)ud;
    workload_counted.calls++;
    workload_counted.host.parallel_for(workload_counted.host.ud, n, body, arg);
}

static inline int workload_compare(const char *name, weft_executor host) {
    const size_t n = (size_t)WORKLOAD_ROWS * WORKLOAD_COLS, bytes = n * sizeof(float);
    float *a = (float *)malloc(bytes), *one = (float *)malloc(bytes), *many = (float *)malloc(bytes);
    double sums[2] = {0, 1};
    weft_executor counted;
    memset(&counted, 0, sizeof counted);
    counted.threads = host.threads;
    counted.parallel_for = workload_for;
    workload_counted.host = host;
    weft_ctx *ctx[2] = {NULL, NULL};
    weft_ctx_opts opts;
    memset(&opts, 0, sizeof opts);
    opts.size = sizeof opts;
    opts.threads = 1;
    int bad = weft_ctx_new(&ctx[0], &opts) != WEFT_OK;
    opts.threads = 0;
    opts.ignore_env = true;
    opts.executor = &counted;
    bad |= weft_ctx_new(&ctx[1], &opts) != WEFT_OK || !a || !one || !many;
    for (size_t i = 0; !bad && i < n; i++)
        a[i] = (float)((double)(i % 1013) / 300 - 1.5);
    bad = bad || workload_run(ctx[0], a, one, &sums[0]);
    for (int turn = 0; !bad && turn < 5; turn++) // interpreted first, later perhaps as machine code
        bad = workload_run(ctx[1], a, many, &sums[1]) || memcmp(one, many, bytes) || memcmp(&sums[0], &sums[1], sizeof sums[0]);
    printf("%s: %d threads, %u calls, %s\n", name, host.threads, workload_counted.calls,
           bad ? "NOT the bits of one thread" : "the bits of one thread");
    if (host.threads > 1 && !workload_counted.calls) bad = 1;
    weft_ctx_free(ctx[1]);
    weft_ctx_free(ctx[0]);
    free(a), free(one), free(many);
    return bad;
}

#endif
