// SPDX-License-Identifier: MIT
// Introduces: views (transpose, slice, flip, broadcasting) that copy nothing, strided outputs, and an
// output that is also an input.
#include "check.h"

static double a[4][4], saved[4][4];

static void fill(void) {
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            a[i][k] = saved[i][k] = 10 * i + k;
}

// a += a.T, in place: every read sees the old values.
static void add_transpose(weft_graph *g) {
    weft_array aa = weft_dense(WEFT_F64, a, 2, (const int64_t[]){4, 4});
    fill();
    weft_expr *x = weft_from(g, &aa);
    must(weft_eval(weft_add(x, weft_transpose(x, NULL)), &aa, NULL), g);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            expect(a[i][k] == saved[i][k] + saved[k][i], "a += a.T");
    printf("a += a.T: a[0] is now %g %g %g %g\n", a[0][0], a[0][1], a[0][2], a[0][3]);
}

// Every second column of a, written through a strided output; the other columns stay.
static void strided_output(weft_graph *g) {
    weft_array aa = weft_dense(WEFT_F64, a, 2, (const int64_t[]){4, 4});
    weft_array even = weft_strided(WEFT_F64, a, 2, (const int64_t[]){4, 2},
                                   (const int64_t[]){4 * sizeof(double), 2 * sizeof(double)});
    fill();
    weft_expr *x = weft_slice(weft_from(g, &aa), 1, WEFT_NONE, WEFT_NONE, 2);
    must(weft_eval(weft_mul(x, weft_float(g, 100)), &even, NULL), g);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            expect(a[i][k] == saved[i][k] * (k % 2 ? 1 : 100), "a[:, ::2] *= 100");
}

// The anti-diagonal, reversed rows minus a row vector: views of views.
static void views_of_views(weft_graph *g) {
    double anti[4];
    weft_array aa = weft_dense(WEFT_F64, a, 2, (const int64_t[]){4, 4});
    weft_array out = weft_dense(WEFT_F64, anti, 1, (const int64_t[]){4});
    fill();
    weft_expr *flipped = weft_flip(weft_from(g, &aa), 1);
    weft_expr *first_row = weft_index(weft_from(g, &aa), 0, 0);
    must(weft_eval(weft_sub(weft_diagonal(flipped, 0, 0, 1), first_row), &out, NULL), g);
    for (int i = 0; i < 4; i++)
        expect(anti[i] == saved[i][3 - i] - saved[0][i], "diagonal of a[:, ::-1] - a[0]");
}

int main(void) {
    weft_ctx *ctx = NULL;
    must(weft_ctx_new(&ctx, NULL), NULL);
    weft_graph *g = weft_graph_new(ctx);
    add_transpose(g);
    strided_output(g);
    views_of_views(g);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    return 0;
}
