// SPDX-License-Identifier: MIT
// The same bits whether results pass the caches by or not: every type, outputs that begin anywhere between guard
// pages, several outputs, casts, kernels at the end of the chain, other memory than contiguous, threads.
#include <stdlib.h>
#include <string.h>

#include "guard.h"
#include "weft/weft.h"

static void must(weft_graph *g, weft_status st) { cr_assert_eq(st, WEFT_OK, "%s", weft_graph_error(g)); }
static weft_array vec(double *p, int64_t n) { return weft_dense(WEFT_F64, p, 1, &n); }

enum { N = 20011 };

static weft_ctx *with_stream(const char *word, int threads) {
    weft_ctx *ctx = NULL;
    setenv("WEFT_STREAM", word, 1);
    setenv("WEFT_CACHE", "off", 1);
    weft_ctx_opts o = {.size = sizeof o, .backend = WEFT_BACKEND_JIT, .threads = threads};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    return ctx;
}

static void chains(weft_expr *x, weft_dtype t, weft_expr **r) {
    r[0] = weft_add(weft_mul(x, x), x);
    r[1] = weft_exp(weft_cast(x, t == WEFT_F64 ? WEFT_F64 : WEFT_F32));
    r[2] = weft_less(x, weft_mul(x, x));
}

static void evaluate(weft_ctx *ctx, weft_dtype t, const weft_array *x, const weft_array *outs) {
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *r[3];
    chains(weft_from(g, x), t, r);
    must(g, weft_eval_n(3, r, outs, NULL));
    for (int i = 0; i < 2; i++) must(g, weft_eval(r[i], &outs[i], NULL)); // alone too
    weft_graph_free(g);
}

static void one_type(weft_ctx *past, weft_ctx *not, weft_dtype t, size_t offset, int64_t step) {
    const int64_t n = N;
    const size_t size = weft_dtype_size(t);
    uint64_t seed = 5;
    struct guard in = guard_new((size_t)(n * step) * size + 64);
    weft_array x = weft_dense(t, (char *)in.base + (t == WEFT_BOOL ? 3u : 0u), 1, &n);
    x.strides[0] = (int64_t)size * step;
    for (int64_t i = 0; i < n; i++) {
        uint64_t v = t == WEFT_BOOL ? next_random(&seed) % 2 : next_random(&seed);
        memcpy((char *)x.data + i * x.strides[0], &v, size < 8 ? size : 8);
        if (size > 8) memset((char *)x.data + i * x.strides[0] + 8, 0, size - 8);
    }
    weft_array a[3], b[3];
    struct guard ga[3], gb[3];
    const weft_dtype types[3] = {t, t == WEFT_F64 ? WEFT_F64 : WEFT_F32, WEFT_BOOL};
    for (int k = 0; k < 3; k++) {
        const size_t es = weft_dtype_size(types[k]), room = (size_t)n * es + offset * es;
        ga[k] = guard_new(room), gb[k] = guard_new(room);
        a[k] = weft_dense(types[k], (char *)guard_end(&ga[k], room) , 1, &n);
        b[k] = weft_dense(types[k], (char *)guard_end(&gb[k], room) , 1, &n);
    }
    evaluate(past, t, &x, a);
    evaluate(not, t, &x, b);
    for (int k = 0; k < 3; k++) {
        cr_expect(!memcmp(ga[k].base, gb[k].base, ga[k].size), "%s, output %d, %d elements off", weft_dtype_name(t), k,
                  (int)offset);
        guard_free(&ga[k]), guard_free(&gb[k]);
    }
    guard_free(&in);
}

Test(stream, same_bits, .timeout = 120) {
    static const weft_dtype types[] = {WEFT_BOOL, WEFT_I8,  WEFT_I16, WEFT_I32, WEFT_I64,  WEFT_U8, WEFT_U16,
                                       WEFT_U32,  WEFT_U64, WEFT_F32, WEFT_F64, WEFT_F16, WEFT_BF16};
    for (int threads = 1; threads <= 2; threads++) {
        weft_ctx *past = with_stream("1", threads), *not = with_stream("off", threads);
        for (size_t i = 0; i < COUNT_OF(types); i++)
            for (size_t offset = 0; offset < 9; offset += offset > 1 ? 2u : 1u)
                one_type(past, not, types[i], offset, 1);
        for (size_t i = 0; i < COUNT_OF(types); i++)
            one_type(past, not, types[i], 1, 3);
        weft_ctx_free(past), weft_ctx_free(not);
    }
}

// Outputs that are inputs, lie beside them, or turn them: the ordinary rules of overlap.
Test(stream, outputs_over_inputs) {
    weft_ctx *past = with_stream("1", 2), *not = with_stream("off", 2);
    double *x[2];
    for (int k = 0; k < 2; k++) {
        x[k] = aligned_alloc(64, (N + 16) / 8 * 64);
        for (int i = 0; i < N; i++)
            x[k][i] = (i % 977) * 0.5;
        for (int64_t shift = -8; shift <= 8; shift += 4) {
            const int64_t n = N - 16;
            weft_graph *g = weft_graph_new(k ? past : not);
            weft_array in = vec(x[k] + 8, n), out = vec(x[k] + 8 + shift, n), back = in;
            back.data = x[k] + 8 + n - 1, back.strides[0] = -8;
            weft_expr *e = weft_from(g, &in);
            must(g, weft_eval(weft_sqrt(weft_add(weft_mul(e, weft_from(g, &back)), e)), &out, NULL));
            weft_graph_free(g);
        }
    }
    cr_expect(!memcmp(x[0], x[1], N * sizeof(double)));
    free(x[0]), free(x[1]);
    weft_ctx_free(past), weft_ctx_free(not);
}

static bool past_seen;
static void listen(void *ud, weft_log_level level, const char *text) {
    (void)ud, (void)level;
    past_seen |= strstr(text, "movnt") != NULL;
}

// Thin maps have such stores, long chains and reductions have not.
Test(stream, the_code_has_the_instructions) {
    weft_ctx *ctx = NULL;
    setenv("WEFT_DUMP", "asm", 1);
    setenv("WEFT_CACHE", "off", 1);
    weft_ctx_opts o = {.size = sizeof o, .backend = WEFT_BACKEND_JIT, .threads = 1, .log = listen};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    double x[8] = {1}, out[8];
    const int64_t n = 8;
    for (int length = 1; length <= 40; length += 39) {
        weft_graph *g = weft_graph_new(ctx);
        weft_array in = vec(x, n), to = vec(out, n);
        weft_expr *e = weft_from(g, &in), *y = e;
        for (int i = 0; i < length; i++)
            y = weft_add(weft_mul(y, e), weft_sqrt(y));
        past_seen = false;
        must(g, weft_eval(y, &to, NULL));
        weft_stats s;
        weft_ctx_stats(ctx, &s, sizeof s);
        if (s.llvm_major && s.isa >= WEFT_ISA_AVX2) cr_expect_eq(past_seen, length == 1, "%d", length);
        weft_graph_free(g);
    }
    weft_ctx_free(ctx);
}
