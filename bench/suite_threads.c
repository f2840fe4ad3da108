// SPDX-License-Identifier: MIT
// Threads: the same expression with one thread and with all, per size, so that crossover and
// speed-up can be read off; and what handing work to the helpers costs, beside libgomp and
// pthreadpool (opened when present).
#include <dlfcn.h>
#include <stdio.h>

#include "runtime/runtime.h"
#include "way.h"

static int chain3(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_sqrt(weft_add(weft_mul(in[0], in[1]), in[0]));
    return 1;
}
static int exp_chain(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_exp(weft_add(weft_mul(in[0], in[1]), in[0]));
    return 1;
}
static int total(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_sum(in[0], NULL);
    return 1;
}
static const struct {
    const char *name;
    way_build *build;
} works[] = {{"sqrt(x*y+x)", chain3}, {"exp(x*y+x)", exp_chain}, {"sum(x)", total}};

static void bench_work(struct bench *b, size_t w, int64_t n) {
    double *x = bench_buffer((size_t)n * 8), *y = bench_buffer((size_t)n * 8);
    for (int64_t i = 0; i < n; i++)
        x[i] = (double)(i % 1000) * 1e-3, y[i] = (double)(i % 777) * 1e-3;
    const weft_array in[2] = {weft_dense(WEFT_F64, x, 1, &n), weft_dense(WEFT_F64, y, 1, &n)};
    struct way_spec spec = {.build = works[w].build,
                            .inputs = 2,
                            .in = in,
                            .backend = WEFT_BACKEND_JIT,
                            .threads = b->max_threads};
    struct way all, one;
    struct row r;
    bench_row_begin(&r, b, "threads", works[w].name, WEFT_F64, n);
    r.threads = b->max_threads;
    bool ok = way_open(&all, b, &spec);
    spec.threads = 1;
    ok = way_open(&one, b, &spec) && ok;
    if (ok) {
        bench_add(&r, BENCH_WEFT, "all threads", way_run, &all);
        bench_add(&r, BENCH_PEER, "one thread", way_run, &one);
        bench_measure(b, &r);
    }
    way_close(&all), way_close(&one);
    free(x), free(y);
}

// ---- the hand-over alone: every thread is given nothing to do
// ---------------------------------------------
struct dispatch {
    struct rt_env env;
    int threads;
    void *lib, *pool;
};
static void nothing(void *arg, int64_t i, int worker) {
    (void)arg, (void)i, (void)worker;
}
static void nothing_omp(void *arg) {
    (void)arg;
}
static void nothing_1d(void *arg, size_t i) {
    (void)arg, (void)i;
}
static double run_own(void *ud, int64_t times) {
    struct dispatch *d = ud;
    const double begin = bench_now();
    for (int64_t i = 0; i < times; i++)
        rt_parallel(&d->env, d->threads, d->threads, nothing, NULL);
    return bench_now() - begin;
}
typedef void omp_fn(void (*fn)(void *), void *data, unsigned threads, unsigned flags);
static double run_omp(void *ud, int64_t times) {
    struct dispatch *d = ud;
    omp_fn *fn;
    void *sym = d->lib ? dlsym(d->lib, "GOMP_parallel") : NULL;
    if (!sym) return -1;
    memcpy(&fn, &sym, sizeof fn);
    const double begin = bench_now();
    for (int64_t i = 0; i < times; i++)
        fn(nothing_omp, NULL, (unsigned)d->threads, 0);
    return bench_now() - begin;
}
typedef void *pool_make(size_t threads);
typedef void pool_1d(void *pool, void (*fn)(void *, size_t), void *arg, size_t n, uint32_t flags);
static double run_pool(void *ud, int64_t times) {
    struct dispatch *d = ud;
    pool_1d *fn;
    void *sym = d->pool ? dlsym(d->lib, "pthreadpool_parallelize_1d") : NULL;
    if (!sym) return -1;
    memcpy(&fn, &sym, sizeof fn);
    const double begin = bench_now();
    for (int64_t i = 0; i < times; i++)
        fn(d->pool, nothing_1d, NULL, (size_t)d->threads, 0);
    return bench_now() - begin;
}

static void bench_dispatch(struct bench *b) {
    struct dispatch own = {.threads = b->max_threads}, omp = own, pool = own;
    struct row r;
    own.env = (struct rt_env){
        .alloc = base_malloc, .isa = b->isa, .threads = b->max_threads, .own_executor = true};
    own.env.pool = rt_pool_new(&own.env.alloc, b->max_threads);
    bench_need(own.env.pool != NULL, "no memory");
    omp.lib = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
    pool.lib = dlopen("libpthreadpool.so.0", RTLD_NOW | RTLD_LOCAL);
    void *sym = pool.lib ? dlsym(pool.lib, "pthreadpool_create") : NULL;
    if (sym) {
        pool_make *make;
        memcpy(&make, &sym, sizeof make);
        pool.pool = make((size_t)b->max_threads);
    }
    bench_row_begin(&r, b, "threads", "hand-over of nothing", WEFT_F64, b->max_threads);
    r.threads = b->max_threads, r.elements = 0;
    bench_add(&r, BENCH_WEFT, "own pool", run_own, &own);
    bench_add(&r, BENCH_PEER, "libgomp", run_omp, &omp);
    bench_add(&r, BENCH_PEER, "pthreadpool", run_pool, &pool);
    bench_measure(b, &r);
    rt_pool_free(own.env.pool);
}

void suite_threads(struct bench *b) {
    if (b->max_threads < 2) {
        printf("threads  one CPU: nothing to compare\n");
        return;
    }
    bench_dispatch(b);
    for (size_t w = 0; w < COUNT_OF(works); w++)
        for (int64_t n = 1 << 10; n <= (b->quick ? 1 << 18 : 1 << 22); n *= 4)
            bench_work(b, w, n);
}
