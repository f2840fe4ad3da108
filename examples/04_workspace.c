// SPDX-License-Identifier: MIT
// Introduces: the workspace (intermediates in memory you hold) and the allocator hook, which shows that a
// compiled program in a loop allocates nothing.
#include "check.h"

static long calls;

static void *counting(void *ud, void *p, size_t old_size, size_t size) {
    (void)ud, (void)old_size;
    if (size == 0) {
        free(p);
        return NULL;
    }
    calls++;
    return realloc(p, size);
}

enum { M = 300, K = 200, N = 100 };
static double a[M][K], b[K][N], out[M][N];

int main(void) {
    weft_ctx_opts opts = {.size = sizeof opts, .alloc = counting};
    weft_ctx *ctx = NULL;
    must(weft_ctx_new(&ctx, &opts), NULL);
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *x = weft_input(g, "a", WEFT_F64, 2, (const int64_t[]){M, K});
    weft_expr *y = weft_input(g, "b", WEFT_F64, 2, (const int64_t[]){K, N});
    weft_expr *f = weft_sqrt(weft_abs(weft_matmul(weft_mul(x, x), y))); // x*x and the product need room
    weft_program *p = NULL;
    must(weft_compile(1, &f, &p), g);

    weft_workspace *ws = NULL;
    must(weft_workspace_new(ctx, &ws), NULL);
    must(weft_workspace_reserve(ws, weft_program_workspace_size(p)), NULL);
    for (int i = 0; i < M * K; i++)
        (&a[0][0])[i] = i % 7;
    for (int i = 0; i < K * N; i++)
        (&b[0][0])[i] = i % 5 - 2;
    weft_array in[2] = {weft_dense(WEFT_F64, a, 2, (const int64_t[]){M, K}),
                        weft_dense(WEFT_F64, b, 2, (const int64_t[]){K, N})};
    weft_array o = weft_dense(WEFT_F64, out, 2, (const int64_t[]){M, N});
    must(weft_run(p, ws, in, &o, NULL, 0), NULL);

    long before = calls;
    for (int i = 0; i < 100; i++)
        must(weft_run(p, ws, in, &o, NULL, 0), NULL);
    printf("workspace %zu bytes, %ld allocations in 100 runs\n", weft_workspace_bytes(ws),
           calls - before);
    expect(calls == before, "no allocation in the steady state");

    weft_workspace_free(ws);
    weft_program_free(p);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    return 0;
}
