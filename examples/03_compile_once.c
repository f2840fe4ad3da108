// SPDX-License-Identifier: MIT
// Introduces: named inputs, a program compiled once and run over many arrays of any length.
#include <math.h>

#include "check.h"

enum { MAX = 1000 };

int main(void) {
    static double xs[MAX], ys[MAX], os[MAX];
    weft_ctx *ctx = NULL;
    must(weft_ctx_new(&ctx, NULL), NULL);
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *x = weft_input(g, "x", WEFT_F64, 1, (const int64_t[]){100});
    weft_expr *y = weft_input(g, "y", WEFT_F64, 1, (const int64_t[]){100});
    weft_expr *f = weft_hypot(x, weft_mul(y, weft_float(g, 2)));
    weft_program *p = NULL;
    must(weft_compile(1, &f, &p), g);
    weft_graph_free(g); // the program has what it needs

    for (int i = 0; i < MAX; i++) {
        xs[i] = 3 * i;
        ys[i] = 2 * i;
    }
    for (int64_t n = 1; n <= MAX; n++) {
        weft_array in[2] = {weft_dense(WEFT_F64, xs, 1, &n), weft_dense(WEFT_F64, ys, 1, &n)};
        weft_array out = weft_dense(WEFT_F64, os, 1, &n);
        char why[256];
        if (weft_run(p, NULL, in, &out, why, sizeof why)) {
            fprintf(stderr, "weft: %s\n", why);
            return 1;
        }
        for (int64_t i = 0; i < n; i++)
            expect(os[i] == 5.0 * (double)i, "hypot(3i, 4i)");
    }
    weft_stats s;
    weft_ctx_stats(ctx, &s, sizeof s);
    printf("1000 lengths, %llu compilation(s)\n", (unsigned long long)s.compiles);
    expect(s.compiles <= 1, "one compile for any size");
    weft_program_free(p);
    weft_ctx_free(ctx);
    return 0;
}
