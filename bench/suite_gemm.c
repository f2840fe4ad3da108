// SPDX-License-Identifier: MIT
// Matrix products beside OpenBLAS, BLIS (opened when present) and the FMA peak of this machine:
// squares, transposed and strided operands, small batches, a matrix times a vector, and products
// whose consumers run on the finished tile. Kernels are called as the runtime calls them, on the
// benchmark's own threads.
#include <dlfcn.h>
#include <stdio.h>

#include "way.h"

typedef void gemm_fn(const char *ta, const char *tb, const int *m, const int *n, const int *k,
                     const void *alpha, const void *a, const int *lda, const void *b,
                     const int *ldb, const void *beta, void *c, const int *ldc);
struct blas {
    const char *name, *path, *set_threads;
    gemm_fn *d, *s;
    void (*threads)(int n);
    bool tried;
};
static struct blas peers[2] = {
    {.name = "OpenBLAS", .path = "libopenblas.so.0", .set_threads = "openblas_set_num_threads"},
    {.name = "BLIS", .path = "libblis.so.4", .set_threads = "bli_thread_set_num_threads"}};

// Which kernels a library has chosen for this processor, or NULL when it does not say.
static const char *kernels_of(void *h) {
    const char *(*core)(void) = NULL, *(*name)(int) = NULL;
    int (*query)(void) = NULL, (*init)(void) = NULL;
    *(void **)&core = dlsym(h, "openblas_get_corename");
    if (core) return core();
    *(void **)&init = dlsym(h, "bli_init");
    *(void **)&query = dlsym(h, "bli_arch_query_id");
    *(void **)&name = dlsym(h, "bli_arch_string");
    if (!init || !query || !name) return NULL;
    init();
    return name(query());
}

// A BLIS older than the processor takes portable C, six times slower: no rival. It is opened again with the
// kernels for AVX-512 that it has (number 0).
static void *open_library(const struct bench *b, const struct blas *p) {
    void *h = dlopen(p->path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    const char *kernels = h ? kernels_of(h) : NULL;
    if (kernels && !strcmp(kernels, "generic") && b->isa == KERN_AVX512 && !getenv("BLIS_ARCH_TYPE")) {
        dlclose(h);
        setenv("BLIS_ARCH_TYPE", "0", 1);
        h = dlopen(p->path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
        kernels = h ? kernels_of(h) : NULL;
    }
    if (kernels) printf("%s runs its %s kernels\n", p->name, kernels);
    return h;
}

static void open_blas(const struct bench *b, struct blas *p) {
    if (p->tried) return;
    p->tried = true;
    void *h = open_library(b, p);
    if (!h) return;
    *(void **)&p->d = dlsym(h, "dgemm_");
    *(void **)&p->s = dlsym(h, "sgemm_");
    *(void **)&p->threads = dlsym(h, p->set_threads);
    if (!p->threads) p->d = p->s = NULL;
}

enum form { NN, NT, TN, VIEW, BATCH, MV };
static const char *const form_names[] = {"A*B",          "A*B^T",          "A^T*B",
                                         "A*B of views", "1000 small A*B", "A*x"};

struct product {
    const struct bench *b;
    struct kern_gemm g;
    enum form form;
    int threads; // of the bench
    int workers; // worth using
    struct blas *blas;
    void *block[4];
    double peak_ns; // at the FMA peak
};

static double run_weft(void *ud, int64_t times) {
    const struct product *p = ud;
    const double begin = bench_now();
    for (int64_t i = 0; i < times; i++)
        kern_gemm_parallel(&p->g, p->workers, team_run, NULL);
    return bench_now() - begin;
}

// A row-major product is the column-major product of the exchanged operands.
static double run_blas(void *ud, int64_t times) {
    const struct product *p = ud;
    const struct kern_gemm *g = &p->g;
    const bool d = g->dtype == WEFT_F64, ta = p->form == TN, tb = p->form == NT;
    gemm_fn *fn = d ? p->blas->d : p->blas->s;
    if (!fn || p->form == VIEW) return -1;
    const int m = (int)g->m, n = (int)g->n, k = (int)g->k, lda = ta ? m : k, ldb = tb ? k : n;
    const double one = 1, zero = 0;
    const float onef = 1, zerof = 0;
    p->blas->threads(p->threads);
    const double begin = bench_now();
    for (int64_t t = 0; t < times; t++)
        for (int64_t i = 0; i < g->batch; i++)
            fn(tb ? "T" : "N", ta ? "T" : "N", &n, &m, &k, d ? (const void *)&one : &onef,
               (const char *)g->b + i * g->b_bs, &ldb, (const char *)g->a + i * g->a_bs, &lda,
               d ? (const void *)&zero : &zerof, (char *)g->c + i * g->c_bs, &n);
    return bench_now() - begin;
}

struct peak {
    const struct bench *b;
    double rate[64];
    bool single;
};
static void peak_body(void *arg, int64_t i) {
    struct peak *p = arg;
    p->rate[i] = limit_fma_rate(p->b->isa, p->single);
}
static double run_peak(void *ud, int64_t times) {
    const struct product *p = ud;
    struct peak k = {.b = p->b, .single = p->g.dtype == WEFT_F32};
    team_run(NULL, p->threads, peak_body, &k);
    double rate = 0;
    for (int i = 0; i < p->threads; i++)
        rate += k.rate[i];
    const struct kern_gemm *g = &p->g;
    if (rate <= 0) return -1;
    return 2.0 * (double)g->m * (double)g->n * (double)g->k * (double)g->batch / rate *
           (double)times;
}

static void *operand(int64_t count, size_t size) {
    char *p = bench_buffer((size_t)count * size);
    for (int64_t i = 0; i < count; i++) {
        const double x = (double)((uint64_t)i * 2654435761u % 1000) / 1000 - 0.5;
        if (size == 8)
            memcpy(p + 8 * i, &x, 8);
        else
            ((float *)(void *)p)[i] = (float)x;
    }
    return p;
}

static void prepare(struct product *p, weft_dtype t, int64_t m, int64_t n, int64_t k) {
    const int64_t z = (int64_t)dtype_size(t), wide = p->form == VIEW ? 2 : 1,
                  batch = p->form == BATCH ? 1000 : 1;
    struct kern_gemm g = {.dtype = t, .isa = p->b->isa, .m = m, .n = n, .k = k, .batch = batch};
    g.a_rs = p->form == TN ? z : z * k * wide, g.a_cs = p->form == TN ? z * m : z * wide;
    g.b_rs = p->form == NT ? z : z * n * wide, g.b_cs = p->form == NT ? z * k : z * wide;
    g.c_rs = z * n, g.c_cs = z;
    g.a_bs = z * m * k, g.b_bs = z * k * n, g.c_bs = z * m * n;
    p->block[0] = operand(m * k * wide * batch, (size_t)z),
    p->block[1] = operand(n * k * wide * batch, (size_t)z);
    p->block[2] = operand(m * n * batch, (size_t)z);
    g.a = p->block[0], g.b = p->block[1], g.c = p->block[2];
    p->workers = kern_gemm_threads(&g, p->threads);
    const size_t scratch = kern_gemm_scratch(&g, p->workers);
    p->block[3] = bench_buffer(scratch + 64);
    g.scratch = p->block[3];
    p->g = g;
}

static void bench_product(struct bench *b, enum form form, weft_dtype t, int64_t m, int64_t n) {
    const int64_t k = m;
    struct product p = {.b = b, .form = form, .threads = b->threads}, with[2];
    struct row r;
    bench_row_begin(&r, b, "gemm", form_names[form], t, m);
    if (!bench_wanted(b, &r)) return;
    prepare(&p, t, m, n, k);
    r.flop = 2.0 * (double)m * (double)n * (double)k * (double)p.g.batch;
    bench_add(&r, BENCH_WEFT, "weft", run_weft, &p);
    for (int i = 0; i < 2; i++) {
        open_blas(b, &peers[i]);
        with[i] = p, with[i].blas = &peers[i];
        if (peers[i].d) bench_add(&r, BENCH_PEER, peers[i].name, run_blas, &with[i]);
    }
    bench_add(&r, BENCH_LIMIT, "FMA peak", run_peak, &p);
    bench_measure(b, &r);
    for (int i = 0; i < 4; i++)
        free(p.block[i]);
}

// ---- products with what consumes them, through weft_run
// --------------------------------------------------
static int plain(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_matmul(in[0], in[1]);
    return 1;
}
static int bias_relu(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    r[0] = weft_maximum(weft_add(weft_matmul(in[0], in[1]), in[2]), weft_float(g, 0));
    return 1;
}
static int bias_sigmoid(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_sigmoid(weft_add(weft_matmul(in[0], in[1]), in[2]));
    return 1;
}
static int bias_gelu(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_gelu_erf(weft_add(weft_matmul(in[0], in[1]), in[2]));
    return 1;
}

static void bench_epilogue(struct bench *b, const char *name, way_build *build, weft_dtype t,
                           int64_t n) {
    const int64_t dims[2] = {n, n};
    const size_t size = dtype_size(t);
    void *x[3] = {operand(n * n, size), operand(n * n, size), operand(n, size)};
    const weft_array in[3] = {weft_dense(t, x[0], 2, dims), weft_dense(t, x[1], 2, dims),
                              weft_dense(t, x[2], 1, dims)};
    struct way_spec s = {
        .build = build, .inputs = 3, .in = in, .backend = WEFT_BACKEND_JIT, .threads = b->threads};
    struct way with, without, apart;
    struct row r;
    bench_row_begin(&r, b, "gemm", name, t, n);
    r.flop = 2.0 * (double)n * (double)n * (double)n;
    if (bench_wanted(b, &r)) {
        bool ok = way_open(&with, b, &s);
        s.unfused = true;
        ok = way_open(&apart, b, &s) && ok;
        s.unfused = false, s.build = plain;
        ok = way_open(&without, b, &s) && ok;
        if (ok) {
            bench_add(&r, BENCH_WEFT, "fused", way_run, &with);
            bench_add(&r, BENCH_PEER, "product alone", way_run, &without);
            bench_add(&r, BENCH_PEER, "unfused", way_run, &apart);
            bench_measure(b, &r);
        }
        way_close(&with), way_close(&without), way_close(&apart);
    }
    for (int i = 0; i < 3; i++)
        free(x[i]);
}

void suite_gemm(struct bench *b) {
    static const int64_t sizes[] = {16, 32, 64, 96, 128, 256, 512, 1024, 2048};
    for (int t = 0; t < 2; t++) {
        const weft_dtype type = t ? WEFT_F32 : WEFT_F64;
        for (size_t i = 0; i < COUNT_OF(sizes); i++)
            if (!b->quick || sizes[i] <= 512) bench_product(b, NN, type, sizes[i], sizes[i]);
        bench_product(b, NT, type, 512, 512);
        bench_product(b, TN, type, 512, 512);
        bench_product(b, VIEW, type, 512, 512);
        bench_product(b, BATCH, type, 16, 16);
        bench_product(b, MV, type, 1024, 1);
        bench_epilogue(b, "bias, relu", bias_relu, type, 256);
        bench_epilogue(b, "bias, relu", bias_relu, type, 1024);
        bench_epilogue(b, "bias, sigmoid", bias_sigmoid, type, 1024);
        bench_epilogue(b, "bias, gelu", bias_gelu, type, 1024);
    }
}
