// SPDX-License-Identifier: MIT
// Introduces: builders nest without checks, the graph keeps the first error as one sentence, and the
// context stays usable after every failure.
#include <string.h>

#include "check.h"

int main(void) {
    double xs[12] = {0}, os[12];
    weft_ctx *ctx = NULL;
    must(weft_ctx_new(&ctx, NULL), NULL);
    weft_graph *g = weft_graph_new(ctx);

    weft_array m = weft_dense(WEFT_F64, xs, 2, (const int64_t[]){3, 4});
    weft_array v = weft_dense(WEFT_F64, xs, 1, (const int64_t[]){5});
    weft_array out = weft_dense(WEFT_F64, os, 2, (const int64_t[]){3, 4});
    weft_expr *bad = weft_sqrt(weft_add(weft_mul(weft_from(g, &m), weft_from(g, &v)), weft_from(g, &m)));
    expect(bad == NULL, "an impossible expression is NULL");
    expect(weft_eval(bad, &out, NULL) == WEFT_EINVAL, "and evaluates to an error");
    printf("%s: %s\n", weft_status_text(weft_graph_status(g)), weft_graph_error(g));
    expect(weft_graph_status(g) == WEFT_ESHAPE, "the first error is the shape");
    expect(strstr(weft_graph_error(g), "f64[3,4]") != NULL, "the sentence names the types");

    weft_graph_reset(g); // forgets the error
    weft_array wrong = weft_dense(WEFT_F32, os, 2, (const int64_t[]){3, 4});
    weft_expr *fine = weft_exp(weft_from(g, &m));
    expect(weft_eval(fine, &wrong, NULL) == WEFT_EDTYPE, "an output of another type is refused");
    printf("%s: %s\n", weft_status_text(weft_graph_status(g)), weft_graph_error(g));
    must(weft_eval(fine, &out, NULL), g);
    expect(os[0] == 1 && os[11] == 1, "the graph works on");

    weft_graph_free(g);
    weft_ctx_free(ctx);
    return 0;
}
