// SPDX-License-Identifier: MIT
// What a call costs: weft_run at 16 elements beside the loop alone, and the whole lazy cycle
// (reset, build, look up, run) at 1024 elements beside weft_run. NumPy at the same sizes.
#include <stdio.h>

#include "way.h"

static int chain3(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_sqrt(weft_add(weft_mul(in[0], in[1]), in[0]));
    return 1;
}

static void bench_call(struct bench *b, int64_t n, bool cycle) {
    double *x = bench_buffer((size_t)n * 8), *y = bench_buffer((size_t)n * 8),
           *o = bench_buffer((size_t)n * 8);
    for (int64_t i = 0; i < n; i++)
        x[i] = 1 + (double)i, y[i] = 2;
    const weft_array in[2] = {weft_dense(WEFT_F64, x, 1, &n), weft_dense(WEFT_F64, y, 1, &n)};
    const struct way_spec spec = {
        .build = chain3, .inputs = 2, .in = in, .backend = WEFT_BACKEND_JIT, .threads = b->threads};
    struct way run, whole;
    struct numpy_job numpy;
    struct limit_arrays hand = {
        .b = b, .x = x, .y = y, .out = o, .bytes = (size_t)n * 8, .threads = 1};
    struct row r;
    char setup[160];
    bench_row_begin(&r, b, "call", cycle ? "lazy cycle sqrt(x*y+x)" : "weft_run sqrt(x*y+x)",
                    WEFT_F64, n);
    bench_need(way_open(&run, b, &spec) && way_open(&whole, b, &spec),
               "the chain cannot be made ready");
    bench_add(&r, BENCH_WEFT, "weft", cycle ? way_cycle : way_run, cycle ? &whole : &run);
    if (cycle) bench_add(&r, BENCH_PEER, "weft_run", way_run, &run);
    bench_add(&r, BENCH_PEER, "by hand", limit_hand_chain, &hand);
    snprintf(setup, sizeof setup, "x=np.linspace(1,2,%lld)\ny=x.copy()\nt=x.copy()\nout=x.copy()",
             (long long)n);
    if (numpy_job(b, &numpy, "numpy", setup,
                  "np.multiply(x,y,out=t);np.add(t,x,out=t);np.sqrt(t,out=out)", 1))
        bench_add(&r, BENCH_PEER, "NumPy", numpy_time, &numpy);
    bench_add(&r, BENCH_LIMIT, "hardware sqrt", limit_sqrt_f64, &hand);
    bench_measure(b, &r);
    way_close(&run), way_close(&whole);
    free(x), free(y), free(o);
}

void suite_call(struct bench *b) {
    static const int64_t sizes[] = {16, 64, 256, 1024, 4096};
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        bench_call(b, sizes[i], false);
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        bench_call(b, sizes[i], true);
}
