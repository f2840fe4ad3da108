// SPDX-License-Identifier: MIT
// A program that depends on an installed weft and on nothing of its source tree; also compiled as C++. It
// checks numbers with its own loop and says which tier ran. Argument: the tier expected, jit or interp.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/weft.h>

enum { N = 10007 };
static double xs[N], ys[N], os[N];

static int wrong(const char *what) {
    fprintf(stderr, "consumer: %s\n", what);
    return 1;
}

int main(int argc, char **argv) {
    const int64_t n = N;
    weft_ctx *ctx = NULL;
    weft_ctx_opts opts;
    memset(&opts, 0, sizeof opts);
    opts.size = sizeof opts;
    opts.backend = WEFT_BACKEND_JIT;
    if (weft_ctx_new(&ctx, &opts)) return wrong("no context");
    for (int i = 0; i < N; i++) {
        xs[i] = 0.25 * i;
        ys[i] = 1.0 / (1 + i);
    }
    weft_graph *g = weft_graph_new(ctx);
    weft_array xa = weft_dense(WEFT_F64, xs, 1, &n), ya = weft_dense(WEFT_F64, ys, 1, &n);
    weft_array out = weft_dense(WEFT_F64, os, 1, &n);
    weft_expr *x = weft_from(g, &xa), *y = weft_from(g, &ya);
    if (weft_eval(weft_sqrt(weft_add(weft_mul(x, y), x)), &out, NULL)) return wrong(weft_graph_error(g));
    for (int i = 0; i < N; i++) {
        const double product = xs[i] * ys[i];
        if (os[i] != sqrt(product + xs[i])) return wrong("a value is not what the loop gives");
    }
    weft_stats s;
    weft_ctx_stats(ctx, &s, sizeof s);
    const char *tier = s.runs_jit ? "jit" : "interp";
    printf("weft %s: %s\n", weft_version(), tier);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    return argc > 1 && strcmp(argv[1], tier) != 0 ? wrong("ran in another tier than expected") : 0;
}
