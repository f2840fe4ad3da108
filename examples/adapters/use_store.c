// SPDX-License-Identifier: MIT
// Introduces: a host's own cache of machine code. What one context compiles a second one runs without LLVM.
#include "store.h"
#include "workload.h"

static float in[WORKLOAD_ROWS * WORKLOAD_COLS], out[2][WORKLOAD_ROWS * WORKLOAD_COLS];

static weft_status run(struct weft_store *store, float *to, weft_stats *stats) {
    const weft_code_store calls = {store, weft_store_get, weft_store_put};
    weft_ctx_opts opts = {.size = sizeof opts, .backend = WEFT_BACKEND_JIT, .code_store = &calls, .threads = 1};
    weft_ctx *ctx = NULL;
    double sum;
    weft_status st = weft_ctx_new(&ctx, &opts);
    if (!st) st = workload_run(ctx, in, to, &sum);
    weft_ctx_stats(ctx, stats, sizeof *stats);
    weft_ctx_free(ctx);
    return st;
}

int main(void) {
    struct weft_store store = {.lock = PTHREAD_MUTEX_INITIALIZER};
    weft_stats first = {0}, second = {0};
    for (int i = 0; i < WORKLOAD_ROWS * WORKLOAD_COLS; i++)
        in[i] = (float)(i % 100) / 50;
    if (run(&store, out[0], &first)) return 1;
    if (!first.llvm_major) {
        printf("LLVM is not here: there is no machine code to keep\n");
        return store.puts != 0;
    }
    setenv("WEFT_JIT_MODULE", "/nowhere/libweft-jit.so", 1); // the second context cannot compile
    if (run(&store, out[1], &second)) return 1;
    printf("first: %llu compiled, %u records kept; second: %llu compiled, %llu steps of machine code, %u records found\n",
           (unsigned long long)first.compiles, store.puts, (unsigned long long)second.compiles,
           (unsigned long long)second.runs_jit, store.hits);
    const bool bad = !store.puts || !store.hits || second.compiles || second.llvm_major || !second.runs_jit ||
                     memcmp(out[0], out[1], sizeof out[0]) != 0;
    weft_store_free(&store);
    return bad;
}
