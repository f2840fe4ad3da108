// SPDX-License-Identifier: MIT
// Introduces: a context, a graph, leaves, a chain of operations, one evaluation in one pass.
#include <math.h>

#include "check.h"

enum { N = 1000 };

int main(void) {
    static double xs[N], ys[N], os[N];
    int64_t n = N;
    for (int i = 0; i < N; i++) {
        xs[i] = i * 0.5;
        ys[i] = 1.0 / (i + 1);
    }
    weft_ctx *ctx = NULL;
    must(weft_ctx_new(&ctx, NULL), NULL);
    weft_graph *g = weft_graph_new(ctx);

    weft_array xa = weft_dense(WEFT_F64, xs, 1, &n);
    weft_array ya = weft_dense(WEFT_F64, ys, 1, &n);
    weft_array out = weft_dense(WEFT_F64, os, 1, &n);
    weft_expr *x = weft_from(g, &xa);
    weft_expr *y = weft_from(g, &ya);
    weft_expr *f = weft_sqrt(weft_add(weft_mul(x, y), x)); // nothing has been computed yet

    must(weft_eval(f, &out, NULL), g);
    for (int i = 0; i < N; i++)
        expect(os[i] == sqrt(xs[i] * ys[i] + xs[i]), "sqrt(x*y+x)");
    printf("sqrt(x*y+x): %g %g %g ... %g\n", os[0], os[1], os[2], os[N - 1]);

    char *plan = NULL;
    must(weft_dump(1, &f, WEFT_DUMP_PLAN, WEFT_ISA_BEST, &plan), g);
    printf("%s", plan);
    weft_text_free(ctx, plan);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    return 0;
}
