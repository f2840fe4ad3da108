// SPDX-License-Identifier: MIT
// Introduces: reductions with axes and keepdims, and a step of several loops: the softmax of each row in
// one pass over the matrix.
#include <math.h>
#include <string.h>

#include "check.h"

enum { R = 64, C = 1000 };
static float xs[R][C], os[R][C];

int main(void) {
    for (int i = 0; i < R; i++)
        for (int k = 0; k < C; k++)
            xs[i][k] = sinf((float)(i * 31 + k * 17)) * 20;
    weft_ctx *ctx = NULL;
    must(weft_ctx_new(&ctx, NULL), NULL);
    weft_graph *g = weft_graph_new(ctx);
    weft_array xa = weft_dense(WEFT_F32, xs, 2, (const int64_t[]){R, C});
    weft_array out = weft_dense(WEFT_F32, os, 2, (const int64_t[]){R, C});
    int last = -1;
    weft_reduce rows = {.size = sizeof rows, .axes = &last, .naxes = 1, .keepdims = true};

    weft_expr *x = weft_from(g, &xa);
    weft_expr *e = weft_exp(weft_sub(x, weft_max(x, &rows)));
    weft_expr *softmax = weft_true_divide(e, weft_sum(e, &rows));
    must(weft_eval(softmax, &out, NULL), g);

    char *plan = NULL;
    must(weft_explain(1, &softmax, &plan), g);
    printf("%.60s...\n", plan);
    expect(strstr(plan, "\"passes\": 1") != NULL || strstr(plan, "\"passes\":1") != NULL, "one pass");
    weft_text_free(ctx, plan);
    for (int i = 0; i < R; i++) {
        double sum = 0;
        for (int k = 0; k < C; k++)
            sum += os[i][k];
        expect(fabs(sum - 1) < 1e-5, "each row sums to 1");
    }
    weft_graph_free(g);
    weft_ctx_free(ctx);
    return 0;
}
