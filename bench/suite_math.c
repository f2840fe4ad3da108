// SPDX-License-Identifier: MIT
// Elementary functions as array kernels: every float row of the kernel registry that is in use at
// the instruction set under test, beside the C recipe it reproduces (compiled for the same
// instruction set), NumPy, glibc's libmvec and SLEEF. The limit is one load
// and one store per element in cache (for sqrt: the hardware square root); the cycles an element
// are those of docs/performance.md.
#include <dlfcn.h>
#include <stdio.h>

#include "bench.h"

struct call {
    const struct kern_row *row;
    void *out;
    const void *a, *b;
    size_t n;
};
static double run_kernel(void *ud, int64_t times) {
    const struct call *c = ud;
    const double begin = bench_now();
    for (int64_t i = 0; i < times; i++)
        c->row->fn(c->out, c->a, c->b, c->n);
    return bench_now() - begin;
}

// ---- arguments a function meets in use
// ------------------------------------------------------------------
struct domain {
    const char *name, *numpy; // numpy: expression of x (and y), "" : NumPy has none
    double lo, hi;
};
static const struct domain domains[] = {
    {"exp", "np.exp(x, out=out)", -20, 20},
    {"exp2", "np.exp2(x, out=out)", -20, 20},
    {"expm1", "np.expm1(x, out=out)", -20, 20},
    {"log", "np.log(x, out=out)", 1e-3, 1e3},
    {"log2", "np.log2(x, out=out)", 1e-3, 1e3},
    {"log10", "np.log10(x, out=out)", 1e-3, 1e3},
    {"log1p", "np.log1p(x, out=out)", 1e-3, 1e3},
    {"sin", "np.sin(x, out=out)", -30, 30},
    {"cos", "np.cos(x, out=out)", -30, 30},
    {"tan", "np.tan(x, out=out)", -30, 30},
    {"asin", "np.arcsin(x, out=out)", -1, 1},
    {"acos", "np.arccos(x, out=out)", -1, 1},
    {"atan", "np.arctan(x, out=out)", -30, 30},
    {"atan2", "np.arctan2(x, y, out=out)", -30, 30},
    {"sinh", "np.sinh(x, out=out)", -10, 10},
    {"cosh", "np.cosh(x, out=out)", -10, 10},
    {"tanh", "np.tanh(x, out=out)", -5, 5},
    {"asinh", "np.arcsinh(x, out=out)", -30, 30},
    {"acosh", "np.arccosh(x, out=out)", 1, 30},
    {"atanh", "np.arctanh(x, out=out)", -0.999, 0.999},
    {"pow", "np.power(x, y, out=out)", 0.01, 20},
    {"hypot", "np.hypot(x, y, out=out)", -30, 30},
    {"cbrt", "np.cbrt(x, out=out)", -30, 30},
    {"sigmoid",
     "np.divide(1, np.add(1, np.exp(np.negative(x, out=out), out=out), out=out), out=out)", -20,
     20},
    {"gelu_tanh", "out[:] = 0.5*x*(1+np.tanh(0.7978845608028654*(x+0.044715*x*x*x)))", -5, 5},
    {"gelu_erf", "", -5, 5},
    {"silu", "np.divide(x, np.add(1, np.exp(np.negative(x, out=out), out=out), out=out), out=out)",
     -20, 20},
    {"softplus", "np.logaddexp(x, 0, out=out)", -20, 20},
    {"erf", "", -4, 4},
    {"erfc", "", -4, 4},
    {"remainder", "np.remainder(x, y, out=out)", -30, 30},
    {"floor_divide", "np.floor_divide(x, y, out=out)", -30, 30},
};

static const struct domain *domain_of(enum kern_family f) {
    static const char *const names[] = {
#define F(name) [KERN_F_##name] = #name,
        KERN_FAMILIES(F)
#undef F
    };
    for (size_t i = 0; i < COUNT_OF(domains); i++)
        if (!strcmp(domains[i].name, names[f])) return &domains[i];
    return NULL;
}

static void fill(void *p, weft_dtype t, size_t n, const struct domain *d) {
    uint64_t s = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < n; i++) {
        s = s * 6364136223846793005u + 1442695040888963407u;
        const double v = d->lo + (d->hi - d->lo) * (double)(s >> 11) * 0x1p-53;
        if (t == WEFT_F64)
            ((double *)p)[i] = v;
        else
            ((float *)p)[i] = (float)v;
    }
}

// ---- one-vector functions of glibc's libmvec and SLEEF, looped by us
// ---------------------------------------
#if defined(__x86_64__)
#include <immintrin.h>
typedef __m512d vec_d(__m512d);
typedef __m512 vec_s(__m512);
typedef __m512d vec_d2(__m512d, __m512d);
struct vec_call {
    void *fn;
    struct call *c;
};
__attribute__((target("avx512f"))) static double run_vec_d(void *ud, int64_t times) {
    const struct vec_call *v = ud;
    vec_d *fn;
    if (!v->fn) return -1;
    memcpy(&fn, &v->fn, sizeof fn);
    const double begin = bench_now();
    for (int64_t k = 0; k < times; k++)
        for (size_t i = 0; i + 8 <= v->c->n; i += 8)
            _mm512_storeu_pd((double *)v->c->out + i,
                             fn(_mm512_loadu_pd((const double *)v->c->a + i)));
    return bench_now() - begin;
}
__attribute__((target("avx512f"))) static double run_vec_s(void *ud, int64_t times) {
    const struct vec_call *v = ud;
    vec_s *fn;
    if (!v->fn) return -1;
    memcpy(&fn, &v->fn, sizeof fn);
    const double begin = bench_now();
    for (int64_t k = 0; k < times; k++)
        for (size_t i = 0; i + 16 <= v->c->n; i += 16)
            _mm512_storeu_ps((float *)v->c->out + i,
                             fn(_mm512_loadu_ps((const float *)v->c->a + i)));
    return bench_now() - begin;
}
static void *symbol(const char *library, const char *name) {
    void *h = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    return h ? dlsym(h, name) : NULL;
}
static void add_vector_peers(struct row *r, const struct bench *b, struct vec_call v[2],
                             struct call *c, const char *name) {
    const bool d = c->row->dtype == WEFT_F64;
    char sym[64];
    if (b->isa != KERN_AVX512) return;
    snprintf(sym, sizeof sym, d ? "_ZGVeN8v_%s" : "_ZGVeN16v_%sf", name);
    v[0] = (struct vec_call){symbol("libmvec.so.1", sym), c};
    snprintf(sym, sizeof sym, d ? "Sleef_%sd8_u10avx512f" : "Sleef_%sf16_u10avx512f", name);
    v[1] = (struct vec_call){symbol("libsleef.so.3", sym), c};
    if (v[0].fn) bench_add(r, BENCH_PEER, "libmvec", d ? run_vec_d : run_vec_s, &v[0]);
    if (v[1].fn) bench_add(r, BENCH_PEER, "SLEEF", d ? run_vec_d : run_vec_s, &v[1]);
}
#else
struct vec_call {
    int none;
};
static void add_vector_peers(struct row *r, const struct bench *b, struct vec_call v[2],
                             struct call *c, const char *name) {
    (void)r, (void)b, (void)v, (void)c, (void)name;
}
#endif

// The C recipe of an assembly row at the same instruction set.
static const struct kern_row *recipe_of(const struct kern_row *row) {
    size_t n;
    const struct kern_row *rows = kern_rows(&n);
    for (size_t i = 0; row->block && i < n; i++)
        if (rows[i].family == row->family && rows[i].dtype == row->dtype &&
            rows[i].isa == row->isa && !rows[i].block)
            return &rows[i];
    return NULL;
}

static void bench_one(struct bench *b, const struct kern_row *row, const struct domain *d,
                      size_t n) {
    const size_t size = dtype_size(row->dtype), bytes = n * size;
    struct call c = {row, bench_buffer(bytes), bench_buffer(bytes), bench_buffer(bytes), n};
    struct call recipe = {recipe_of(row), c.out, c.a, c.b, n};
    struct vec_call vec[2];
    struct numpy_job job;
    struct row r;
    char setup[256];
    fill((void *)(uintptr_t)c.a, row->dtype, n, d);
    fill((void *)(uintptr_t)c.b, row->dtype, n, d);
    bench_row_begin(&r, b, "math", d->name, row->dtype, (int64_t)n);
    if (bench_wanted(b, &r)) {
        bench_add(&r, BENCH_WEFT, "weft", run_kernel, &c);
        if (recipe.row) bench_add(&r, BENCH_PEER, "C recipe", run_kernel, &recipe);
        snprintf(setup, sizeof setup,
                 "t=np.%s\nx=np.random.default_rng(1).uniform(%g,%g,%zu).astype(t)\ny=x[::-1].copy("
                 ")\nout=np.empty_like(x)",
                 size == 8 ? "float64" : "float32", d->lo, d->hi, n);
        if (d->numpy[0] && numpy_job(b, &job, "numpy", setup, d->numpy, 1))
            bench_add(&r, BENCH_PEER, "NumPy", numpy_time, &job);
        add_vector_peers(&r, b, vec, &c, d->name);
        struct limit_arrays l = {.b = b, .x = c.a, .out = c.out, .bytes = bytes, .threads = 1};
        bench_add(&r, BENCH_LIMIT, "load+store", limit_copy, &l);
        bench_measure(b, &r);
    }
    bench_free(c.out, bytes);
    bench_free((void *)(uintptr_t)c.a, bytes);
    bench_free((void *)(uintptr_t)c.b, bytes);
}

void suite_math(struct bench *b) {
    static const size_t sizes[] = {1 << 10, 1 << 14};
    for (int f = 0; f < KERN_FAMILY__N; f++)
        for (int t = 0; t < 2; t++) {
            const struct kern_row *row =
                kern_find((enum kern_family)f, t ? WEFT_F32 : WEFT_F64, b->isa);
            const struct domain *d = domain_of((enum kern_family)f);
            for (size_t i = b->quick ? 1 : 0; row && d && i < COUNT_OF(sizes); i++)
                bench_one(b, row, d, sizes[i]);
        }
}
