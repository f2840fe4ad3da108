// SPDX-License-Identifier: MIT
// What the tests through the public API share: a context per tier, arrays from lists, one-line evaluation.
#ifndef TESTS_CASES_H
#define TESTS_CASES_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"
#include "weft/weft.h"

#define LIST(...) {__VA_ARGS__}
#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

static inline weft_ctx *new_ctx(weft_backend b, int threads) {
    weft_ctx *ctx = NULL;
    weft_ctx_opts o = {.size = sizeof o, .backend = b, .threads = threads};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    return ctx;
}

static inline bool same_bits(weft_dtype t, const void *a, const void *b) {
    return memcmp(a, b, weft_dtype_size(t)) == 0 || (is_nan(t, a) && is_nan(t, b));
}

static inline void print_value(weft_dtype t, const void *p, char *out, size_t size) {
    int64_t i = 0;
    if (t == WEFT_F64)
        snprintf(out, size, "%.17g", *(const double *)p);
    else if (t == WEFT_F32)
        snprintf(out, size, "%.9g", (double)*(const float *)p);
    else {
        memcpy(&i, p, weft_dtype_size(t));
        snprintf(out, size, "%lld (%#llx)", (long long)i, (unsigned long long)i);
    }
}

static inline void want_bits(const char *id, weft_dtype t, const void *got, const void *want, int64_t n) {
    size_t es = weft_dtype_size(t);
    for (int64_t i = 0; i < n; i++) {
        const char *g = (const char *)got + es * (size_t)i, *w = (const char *)want + es * (size_t)i;
        char gt[64], wt[64];
        print_value(t, g, gt, sizeof gt);
        print_value(t, w, wt, sizeof wt);
        cr_expect(same_bits(t, g, w), "%s[%ld]: got %s, expected %s", id, (long)i, gt, wt);
    }
}

// Evaluates f (of any shape) into dense memory that must hold it.
static inline void eval_into(const char *id, weft_graph *g, weft_expr *f, void *out) {
    cr_assert(f != NULL, "%s: %s", id, weft_graph_error(g));
    weft_array o = weft_dense(weft_expr_dtype(f), out, weft_expr_rank(f), weft_expr_dims(f));
    weft_status st = weft_eval(f, &o, NULL);
    cr_assert_eq(st, WEFT_OK, "%s: %s", id, weft_graph_error(g));
}

static inline weft_reduce along(const int *axis, bool keep) {
    return (weft_reduce){.size = sizeof(weft_reduce), .axes = axis, .naxes = axis ? 1 : 0, .keepdims = keep};
}

// For files that keep a context per tier in `tiers`.
#define EACH_TIER(g)                                                                               \
    for (int tier_ = 0; tier_ < 2; tier_++)                                                        \
        for (weft_graph *g = weft_graph_new(tiers[tier_]); g; weft_graph_free(g), g = NULL)

static inline void must(weft_graph *g, weft_status st) { cr_assert_eq(st, WEFT_OK, "%s", weft_graph_error(g)); }
static inline weft_array vec(double *p, int64_t n) { return weft_dense(WEFT_F64, p, 1, &n); }

#endif
