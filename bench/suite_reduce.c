// SPDX-License-Identifier: MIT
// Reductions through weft_run beside NumPy, the limit being a loop that only loads. One row each
// for whole arrays in cache, in memory and for the two axes of a matrix.
#include <stdio.h>

#include "way.h"

#define ONE(name, call)                                                                            \
    static int name(weft_graph *g, weft_expr *const *in, weft_expr **r) {                          \
        (void)g;                                                                                   \
        r[0] = call;                                                                               \
        return 1;                                                                                  \
    }
static const weft_reduce skip = {.size = sizeof skip, .nan = WEFT_NAN_SKIP};
static const weft_reduce axis0 = {.size = sizeof axis0, .axes = (int[]){0}, .naxes = 1};
static const weft_reduce axis1 = {.size = sizeof axis1, .axes = (int[]){1}, .naxes = 1};
ONE(sum, weft_sum(in[0], NULL))
ONE(prod, weft_prod(in[0], NULL))
ONE(min, weft_min(in[0], NULL))
ONE(max, weft_max(in[0], NULL))
ONE(nansum, weft_sum(in[0], &skip))
ONE(nanmax, weft_max(in[0], &skip))
ONE(argmax, weft_argmax(in[0], NULL))
ONE(mean, weft_mean(in[0], NULL))
ONE(var, weft_var(in[0], NULL))
ONE(dot, weft_dot(in[0], in[1]))
ONE(count, weft_count_nonzero(in[0], NULL))
ONE(sum0, weft_sum(in[0], &axis0))
ONE(sum1, weft_sum(in[0], &axis1))
ONE(max0, weft_max(in[0], &axis0))
ONE(max1, weft_max(in[0], &axis1))
// All of one expression in one sweep.
static int six(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    weft_expr *x = in[0];
    (void)g;
    r[0] = weft_sum(x, NULL), r[1] = weft_min(x, NULL), r[2] = weft_max(x, NULL);
    r[3] = weft_argmax(x, NULL), r[4] = weft_mean(x, NULL), r[5] = weft_var(x, NULL);
    return 6;
}

static const struct work {
    const char *name;
    way_build *build;
    const char *numpy;
    int64_t side; // 0: one dimension of several sizes; otherwise a square
    bool two;     // reads both inputs
} works[] = {
    {"sum", sum, "x.sum()", 0, false},
    {"prod", prod, "x.prod()", 0, false},
    {"min", min, "x.min()", 0, false},
    {"max", max, "x.max()", 0, false},
    {"nansum", nansum, "np.nansum(x)", 0, false},
    {"nanmax", nanmax, "np.nanmax(x)", 0, false},
    {"argmax", argmax, "x.argmax()", 0, false},
    {"mean", mean, "x.mean()", 0, false},
    {"var", var, "x.var()", 0, false},
    {"sum min max argmax mean var", six,
     "(x.sum(),x.min(),x.max(),x.argmax(),x.mean(),x.var())", 0, false},
    {"dot", dot, "np.dot(x,y)", 0, true},
    {"count_nonzero", count, "np.count_nonzero(x)", 0, false},
    {"sum axis 0", sum0, "x.sum(0)", 1024, false},
    {"sum axis 1", sum1, "x.sum(1)", 1024, false},
    {"max axis 0", max0, "x.max(0)", 1024, false},
    {"max axis 1", max1, "x.max(1)", 1024, false},
};

static void bench_work(struct bench *b, const struct work *w, weft_dtype t, int64_t n) {
    const size_t size = dtype_size(t), bytes = (size_t)n * size;
    char *x = bench_buffer(bytes + 4096), *y = bench_buffer(bytes + 4096), setup[200];
    for (int64_t i = 0; i < n; i++) {
        const double v = 1.0 + ((double)((i * 7919) % 1000) - 499.5) * 1e-9; // products stay finite
        if (size == 8)
            memcpy(x + 8 * i, &v, 8), memcpy(y + 8 * i, &v, 8);
        else
            ((float *)(void *)x)[i] = ((float *)(void *)y)[i] = (float)v;
    }
    const int64_t dims[2] = {w->side ? w->side : n, w->side};
    const int rank = w->side ? 2 : 1;
    const weft_array in[2] = {weft_dense(t, x, rank, dims), weft_dense(t, y, rank, dims)};
    const struct way_spec s = {.build = w->build,
                               .inputs = 2,
                               .in = in,
                               .backend = WEFT_BACKEND_JIT,
                               .threads = b->threads};
    struct way way;
    struct numpy_job job;
    struct limit_arrays limit = {.b = b, .x = x, .y = y, .bytes = bytes, .threads = b->threads};
    struct row r;
    bench_row_begin(&r, b, "reduce", w->name, t, n);
    if (bench_wanted(b, &r) && way_open(&way, b, &s)) {
        bench_add(&r, BENCH_WEFT, "weft", way_run, &way);
        snprintf(
            setup, sizeof setup,
            "x=(1+np.random.default_rng(1).uniform(-5e-7,5e-7,%lld)).astype('%s')%s\ny=x.copy()",
            (long long)n, size == 8 ? "f8" : "f4", w->side ? ".reshape(1024,1024)" : "");
        if (numpy_job(b, &job, "numpy", setup, w->numpy, 1))
            bench_add(&r, BENCH_PEER, "NumPy", numpy_time, &job);
        bench_add(&r, BENCH_LIMIT, w->two ? "2 reads" : "1 read", w->two ? limit_load2 : limit_load,
                  &limit);
        bench_measure(b, &r);
        way_close(&way);
    }
    free(x), free(y);
}

void suite_reduce(struct bench *b) {
    static const int64_t sizes[] = {1 << 10, 1 << 12, 1 << 18, 1 << 22};
    for (size_t w = 0; w < COUNT_OF(works); w++)
        for (int t = 0; t < 2; t++)
            for (size_t i = 0; i < COUNT_OF(sizes); i++) {
                const int64_t n = works[w].side ? works[w].side * works[w].side : sizes[i];
                if ((works[w].side && i) || (b->quick && i > 2)) continue;
                bench_work(b, &works[w], t ? WEFT_F32 : WEFT_F64, n);
            }
}
