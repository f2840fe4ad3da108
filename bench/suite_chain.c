// SPDX-License-Identifier: MIT
// Whole expressions through weft_run: fused beside unfused and interpreted weft, a hand-written
// loop where there is one, NumPy (with out= where it can), numexpr and numba, and the limit of the
// machine.
#include <math.h>
#include <stdio.h>

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
static int only_exp(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_exp(in[0]);
    return 1;
}
static int only_log(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_log(in[0]);
    return 1;
}
static int only_sqrt(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_sqrt(in[0]);
    return 1;
}
static int divide(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_true_divide(in[0], in[1]);
    return 1;
}
static int only_sin(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_sin(in[0]);
    return 1;
}
static int three(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_add(weft_mul(weft_exp(in[0]), weft_log(in[1])), weft_sin(in[0]));
    return 1;
}
static int add(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_add(in[0], in[1]);
    return 1;
}
static int add_row(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_add(in[0], weft_index(in[1], 0, 0));
    return 1;
}
static int add_transposed(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_add(in[0], weft_transpose(in[1], NULL));
    return 1;
}
static int sum(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_sum(in[0], NULL);
    return 1;
}
static int six(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_sum(in[0], NULL), r[1] = weft_min(in[0], NULL), r[2] = weft_max(in[0], NULL);
    r[3] = weft_argmax(in[0], NULL), r[4] = weft_mean(in[0], NULL), r[5] = weft_var(in[0], NULL);
    return 6;
}
static const weft_reduce last = {
    .size = sizeof last, .axes = (int[]){-1}, .naxes = 1, .keepdims = true};
static int softmax(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    weft_expr *e = weft_exp(weft_sub(in[0], weft_max(in[0], &last)));
    r[0] = weft_true_divide(e, weft_sum(e, &last));
    return 1;
}
static int layer_norm(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    weft_expr *m = weft_mean(in[0], &last), *v = weft_var(in[0], &last);
    r[0] = weft_true_divide(weft_sub(in[0], m), weft_sqrt(weft_add(v, weft_float(g, 1e-5))));
    return 1;
}

// ---- what is run ------------------------------------------------------------------------------
enum limit { COPY, LOAD, LOAD2, STREAM, SQRT };
struct chain {
    const char *name;
    way_build *build;
    int64_t rows; // 0: one dimension; otherwise [n / rows][rows]
    bool f32_too;
    enum limit limit;
    const char *numpy, *numexpr, *numba;
    // weft ways of a part of it, to be compared with the whole (NULL: none)
    const char *part_name;
    way_build *part[3];
    int64_t sizes[5];
};
#define NP_CHAIN "np.multiply(x,y,out=t);np.add(t,x,out=t);np.sqrt(t,out=out)"
static const struct chain chains[] = {
    {"sqrt(x*y+x)",
     chain3,
     0,
     true,
     SQRT,
     NP_CHAIN,
     "sqrt(x*y+x)",
     "np.sqrt(x[i]*y[i]+x[i])",
     NULL,
     {NULL},
     {1 << 10, 1 << 14, 1 << 18, 1 << 22}},
    {"exp(x*y+x)",
     exp_chain,
     0,
     true,
     COPY,
     "np.multiply(x,y,out=t);np.add(t,x,out=t);np.exp(t,out=out)",
     "exp(x*y+x)",
     "np.exp(x[i]*y[i]+x[i])",
     "exp(x) alone",
     {only_exp},
     {1 << 14, 1 << 18}},
    {"exp(x)*log(y)+sin(x)",
     three,
     0,
     true,
     COPY,
     "np.exp(x,out=out);np.log(y,out=t);np.multiply(out,t,out=out);np.sin(x,out=t);np.add(out,t,"
     "out=out)",
     "exp(x)*log(y)+sin(x)",
     "np.exp(x[i])*np.log(y[i])+np.sin(x[i])",
     "exp, log, sin alone",
     {only_exp, only_log, only_sin},
     {1 << 14, 1 << 18}},
    {"exp(x)", only_exp, 0, true, COPY, "np.exp(x,out=out)", NULL, NULL, NULL, {NULL}, {1 << 22}},
    {"log(x)", only_log, 0, true, COPY, "np.log(x,out=out)", NULL, NULL, NULL, {NULL}, {1 << 22}},
    {"sqrt(x)", only_sqrt, 0, true, SQRT, "np.sqrt(x,out=out)", NULL, NULL, NULL, {NULL}, {1 << 10, 1 << 14}},
    {"x/y", divide, 0, true, LOAD2, "np.divide(x,y,out=out)", NULL, NULL, NULL, {NULL}, {1 << 14}},
    {"x+y",
     add,
     0,
     false,
     LOAD2,
     "np.add(x,y,out=out)",
     "x+y",
     "x[i]+y[i]",
     NULL,
     {NULL},
     {1 << 10, 1 << 14, 1 << 18, 1 << 24}},
    {"x+row",
     add_row,
     1024,
     false,
     COPY,
     "np.add(x,y[0],out=out)",
     NULL,
     NULL,
     NULL,
     {NULL},
     {1 << 20}},
    {"x+y.T 512",
     add_transposed,
     512,
     false,
     COPY,
     "np.add(x,y.T,out=out)",
     NULL,
     NULL,
     "x+y",
     {add},
     {1 << 18}},
    {"x+y.T 2048",
     add_transposed,
     2048,
     false,
     COPY,
     "np.add(x,y.T,out=out)",
     NULL,
     NULL,
     "x+y",
     {add},
     {1 << 22}},
    {"sum,min,max,argmax,mean,var",
     six,
     0,
     true,
     LOAD,
     "x.sum();x.min();x.max();x.argmax();x.mean();x.var()",
     NULL,
     NULL,
     "sum alone",
     {sum},
     {1 << 18, 1 << 22}},
    {"softmax rows",
     softmax,
     1024,
     true,
     COPY,
     "np.subtract(x,x.max(-1,keepdims=True),out=out);np.exp(out,out=out);np.divide(out,out.sum(-1,"
     "keepdims=True),out=out)",
     NULL,
     NULL,
     "exp(x) alone",
     {only_exp},
     {1 << 16, 1 << 20}},
    {"layer norm rows",
     layer_norm,
     1024,
     true,
     COPY,
     "np.subtract(x,x.mean(-1,keepdims=True),out=out);np.divide(out,np.sqrt(x.var(-1,keepdims=True)"
     "+1e-5),out=out)",
     NULL,
     NULL,
     NULL,
     {NULL},
     {1 << 16, 1 << 20}},
};

// Ways of a part run one after the other.
struct parts {
    struct way way[3];
    int n;
};
static double run_parts(void *ud, int64_t times) {
    struct parts *p = ud;
    double ns = 0;
    for (int i = 0; i < p->n; i++)
        ns += way_run(&p->way[i], times);
    return ns;
}

struct setting {
    struct bench *b;
    const struct chain *c;
    weft_dtype t;
    int64_t n;
    weft_array in[2];
    char *block[2];
    struct way fused, unfused, interp;
    struct parts parts;
    struct numpy_job numpy, numexpr, numba;
    struct limit_arrays limit;
    void *limit_out;
};

static void make_inputs(struct setting *s) {
    const size_t size = weft_dtype_size(s->t);
    const int64_t dims[2] = {s->c->rows ? s->n / s->c->rows : s->n, s->c->rows};
    for (int k = 0; k < 2; k++) {
        s->block[k] = bench_buffer((size_t)s->n * size + 4096);
        char *p = s->block[k] + k * 1344;
        for (int64_t i = 0; i < s->n; i++) {
            const double v = 0.1 + (double)((i * (k ? 7919 : 104729)) % 1000) * 1e-3;
            if (size == 8)
                memcpy(p + 8 * i, &v, 8);
            else
                ((float *)(void *)p)[i] = (float)v;
        }
        s->in[k] = weft_dense(s->t, p, s->c->rows ? 2 : 1, dims);
    }
    s->limit_out = bench_buffer((size_t)s->n * size);
}

static void add_python(struct setting *s, struct row *r) {
    char setup[320], shape[48];
    snprintf(shape, sizeof shape, s->c->rows ? "(%lld,%lld)" : "%lld",
             (long long)(s->c->rows ? s->n / s->c->rows : s->n), (long long)s->c->rows);
    snprintf(setup, sizeof setup,
             "g=np.random.default_rng(1)\nx=g.uniform(.1,1.1,%s).astype('%s')\ny=g.uniform(.1,1.1,%"
             "s).astype('%s')\n"
             "t=np.zeros_like(x)\nout=np.zeros_like(x)",
             shape, s->t == WEFT_F64 ? "f8" : "f4", shape, s->t == WEFT_F64 ? "f8" : "f4");
    struct bench *b = s->b;
    if (s->c->numpy && numpy_job(b, &s->numpy, "numpy", setup, s->c->numpy, 1))
        bench_add(r, BENCH_PEER, "NumPy", numpy_time, &s->numpy);
    if (s->c->numexpr && numpy_job(b, &s->numexpr, "numexpr", setup, s->c->numexpr, b->threads))
        bench_add(r, BENCH_PEER, "numexpr", numpy_time, &s->numexpr);
    if (s->c->numba && numpy_job(b, &s->numba, "numba", setup, s->c->numba, b->threads))
        bench_add(r, BENCH_PEER, "numba", numpy_time, &s->numba);
}

// The limit that binds: arithmetic for the square root in cache, traffic beyond.
static void add_limits(struct setting *s, struct row *r) {
    const size_t bytes = (size_t)s->n * weft_dtype_size(s->t);
    const bool beyond = 3 * bytes > kern_cache_sizes().l3 / 2;
    s->limit = (struct limit_arrays){.b = s->b,
                                     .x = s->in[0].data,
                                     .y = s->in[1].data,
                                     .out = s->limit_out,
                                     .bytes = bytes,
                                     .threads = s->b->threads};
    bench_fn *square = s->t == WEFT_F64 ? limit_sqrt_f64 : limit_sqrt_f32;
    switch (s->c->limit) {
    case SQRT:
        bench_add(r, BENCH_LIMIT, "hardware sqrt", square, &s->limit);
        if (beyond) bench_add(r, BENCH_LIMIT, "2 reads, streamed write", limit_stream, &s->limit);
        break;
    case LOAD2:
        bench_add(r, BENCH_LIMIT, beyond ? "2 reads, streamed write" : "2 reads",
                  beyond ? limit_stream : limit_load2, &s->limit);
        break;
    case LOAD: bench_add(r, BENCH_LIMIT, "1 read", limit_load, &s->limit); break;
    default: bench_add(r, BENCH_LIMIT, "1 read, 1 write", limit_copy, &s->limit);
    }
}

static bool open_ways(struct setting *s) {
    const int inputs = 2;
    struct way_spec spec = {.build = s->c->build,
                            .inputs = inputs,
                            .in = s->in,
                            .backend = WEFT_BACKEND_JIT,
                            .threads = s->b->threads};
    bool ok = way_open(&s->fused, s->b, &spec);
    spec.unfused = true;
    ok = ok && way_open(&s->unfused, s->b, &spec);
    spec.unfused = false, spec.backend = WEFT_BACKEND_INTERP;
    ok = ok && way_open(&s->interp, s->b, &spec);
    spec.backend = WEFT_BACKEND_JIT;
    for (int i = 0; ok && i < 3 && s->c->part[i]; i++) {
        spec.build = s->c->part[i];
        ok = way_open(&s->parts.way[i], s->b, &spec);
        s->parts.n = i + 1;
    }
    return ok;
}

static void bench_chain(struct bench *b, const struct chain *c, weft_dtype t, int64_t n) {
    struct setting s = {.b = b, .c = c, .t = t, .n = n};
    struct row r;
    bench_row_begin(&r, b, "chain", c->name, t, n);
    if (!bench_wanted(b, &r)) return;
    make_inputs(&s);
    if (open_ways(&s)) {
        bench_add(&r, BENCH_WEFT, "fused", way_run, &s.fused);
        bench_add(&r, BENCH_PEER, "unfused", way_run, &s.unfused);
        bench_add(&r, BENCH_PEER, "interpreted", way_run, &s.interp);
        if (s.parts.n) bench_add(&r, BENCH_PEER, c->part_name, run_parts, &s.parts);
        add_python(&s, &r);
        add_limits(&s, &r);
        if (c->build == chain3 && t == WEFT_F64)
            bench_add(&r, BENCH_PEER, "by hand", limit_hand_chain, &s.limit);
        bench_measure(b, &r);
    }
    way_close(&s.fused), way_close(&s.unfused), way_close(&s.interp);
    for (int i = 0; i < s.parts.n; i++)
        way_close(&s.parts.way[i]);
    free(s.block[0]), free(s.block[1]), free(s.limit_out);
}

void suite_chain(struct bench *b) {
    for (size_t k = 0; k < COUNT_OF(chains); k++)
        for (size_t i = 0; i < COUNT_OF(chains[k].sizes) && chains[k].sizes[i]; i++) {
            if (b->quick && i > 1) continue;
            bench_chain(b, &chains[k], WEFT_F64, chains[k].sizes[i]);
            if (chains[k].f32_too) bench_chain(b, &chains[k], WEFT_F32, chains[k].sizes[i]);
        }
}
