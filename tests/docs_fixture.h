// SPDX-License-Identifier: MIT
// What a C fragment of the documentation may take for granted: a context, a graph, a few arrays and expressions. A
// fragment that leaves an error in its graph fails.
#ifndef TESTS_DOCS_FIXTURE_H
#define TESTS_DOCS_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

enum { FIXTURE_N = 1024 };
__attribute__((unused)) static double xs[FIXTURE_N], ys[FIXTURE_N], os[FIXTURE_N];
__attribute__((unused)) static int64_t n = FIXTURE_N;
__attribute__((unused)) static weft_ctx *ctx;
__attribute__((unused)) static weft_graph *g;
__attribute__((unused)) static weft_array xa, ya, out;
__attribute__((unused)) static weft_expr *x, *y, *f;
__attribute__((unused)) static weft_status st;
__attribute__((unused)) static bool fixture_may_fail; // set by fragments that show errors

static void fixture_begin(void) {
    for (int i = 0; i < FIXTURE_N; i++) {
        xs[i] = i * 0.25;
        ys[i] = 1.0 / (i + 1);
    }
    if (weft_ctx_new(&ctx, NULL)) exit(1);
    g = weft_graph_new(ctx);
    xa = weft_dense(WEFT_F64, xs, 1, &n);
    ya = weft_dense(WEFT_F64, ys, 1, &n);
    out = weft_dense(WEFT_F64, os, 1, &n);
    x = weft_from(g, &xa);
    y = weft_from(g, &ya);
    f = weft_sqrt(weft_add(weft_mul(x, y), x));
}

static int fixture_end(void) {
    int bad = !fixture_may_fail && weft_graph_status(g) != WEFT_OK;
    if (bad) fprintf(stderr, "%s\n", weft_graph_error(g));
    weft_graph_free(g);
    weft_ctx_free(ctx);
    return bad;
}

#endif
