// SPDX-License-Identifier: MIT
// What compiling costs: chains of 1 to 1000 operations, 1 to 64 outputs, graphs of 10 000 nodes.
// Each figure is the median over fresh contexts in a process where LLVM is loaded already; stages:
// building the graph; planning (with canonical key, and the thread that compiles); LLVM IR; LLVM's code generation;
// placing the code. "code" is the last three. The first row says what bringing LLVM in costs.
#include <math.h>
#include <stdio.h>

#include "way.h"

enum { TURNS = 7, OUTS_MAX = 64 };
enum { BUILD, PLAN, CODE, IR, EMIT, PLACE, STAGES };
static const char *const stage_name[STAGES] = {"build", "plan", "code", "code: IR", "code: generation", "code: placing"};

struct stages {
    double ns[STAGES];
    int llvm;
};

// a chain of n operations that folding cannot shorten, over two inputs
static weft_expr *chain_of(weft_expr *x, weft_expr *y, int64_t n, int salt) {
    weft_expr *v = x;
    for (int64_t i = 0; i < n; i++) {
        switch ((i + salt) % 4) {
        case 0: v = weft_mul(v, y); break;
        case 1: v = weft_add(v, x); break;
        case 2: v = weft_maximum(v, y); break;
        default: v = weft_sub(v, y);
        }
    }
    return v;
}

static bool measure(const struct bench *b, int64_t ops, int outs, weft_backend backend,
                    struct stages *s) {
    double data[2] = {1, 2}, result[OUTS_MAX];
    const int64_t one = 1;
    weft_ctx *ctx = NULL;
    const weft_ctx_opts o = {
        .size = sizeof o, .isa = b->cap, .threads = 1, .backend = backend, .ignore_env = true};
    if (weft_ctx_new(&ctx, &o)) return false;
    weft_graph *g = weft_graph_new(ctx);
    const double begin = bench_now();
    const weft_array a[2] = {weft_dense(WEFT_F64, data, 1, &one),
                             weft_dense(WEFT_F64, data + 1, 1, &one)};
    weft_expr *x = weft_from(g, &a[0]), *y = weft_from(g, &a[1]), *root[OUTS_MAX];
    weft_array out[OUTS_MAX];
    for (int i = 0; i < outs; i++) {
        root[i] = chain_of(x, y, ops, i);
        out[i] = weft_dense(WEFT_F64, result + i, 1, &one);
    }
    const double built = bench_now();
    const weft_status st = weft_eval_n(outs, root, out, NULL);
    const double done = bench_now();
    weft_stats stats;
    weft_ctx_stats(ctx, &stats, sizeof stats);
    s->ns[BUILD] = built - begin;
    s->ns[CODE] = (double)stats.compile_ns;
    s->ns[PLAN] = done - built - s->ns[CODE];
    s->ns[IR] = (double)stats.compile_ir_ns;
    s->ns[EMIT] = (double)stats.compile_emit_ns;
    s->ns[PLACE] = s->ns[CODE] - s->ns[IR] - s->ns[EMIT];
    s->llvm = stats.llvm_major;
    if (st) fprintf(stderr, "weft-bench: compile: %s\n", weft_graph_error(g));
    weft_graph_free(g);
    weft_ctx_free(ctx);
    return !st;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double fixed(void *ud, int64_t times) {
    return *(double *)ud * (double)times;
}

static void print_stage(struct bench *b, const char *name, int64_t nodes, double *ns) {
    struct row r;
    bench_row_begin(&r, b, "compile", name, WEFT_F64, nodes);
    r.threads = 1, r.elements = 0;
    bench_add(&r, BENCH_WEFT, "weft", fixed, ns);
    const int rounds = b->rounds;
    b->rounds = 1;
    bench_measure(b, &r);
    b->rounds = rounds;
}

static void bench_compile(struct bench *b, int64_t ops, int outs, weft_backend backend) {
    double ns[STAGES][TURNS];
    struct stages s = {0};
    char name[80];
    snprintf(name, sizeof name, "build plan code, %lld ops, %d outputs", (long long)ops, outs);
    if (b->filter && !strstr(name, b->filter)) return; // measuring is all the work here
    for (int i = 0; i < TURNS; i++) {
        if (!measure(b, ops, outs, backend, &s)) return;
        for (int k = 0; k < STAGES; k++)
            ns[k][i] = s.ns[k];
    }
    for (int k = 0; k < (backend == WEFT_BACKEND_INTERP ? CODE : STAGES); k++) {
        qsort(ns[k], TURNS, sizeof(double), ascending);
        snprintf(name, sizeof name, k >= CODE ? "%s, %lld ops, %d outputs, LLVM %d" : "%s, %lld ops, %d outputs",
                 stage_name[k], (long long)ops, outs, s.llvm);
        print_stage(b, name, ops * outs, &ns[k][TURNS / 2]);
    }
}

static void bench_numba(struct bench *b) {
    struct numpy_job j;
    struct row r;
    struct stages s;
    bench_row_begin(&r, b, "compile", "sqrt(x*y+x) beside numba", WEFT_F64, 3);
    r.threads = 1, r.elements = 0;
    if (!bench_wanted(b, &r) || !measure(b, 3, 1, WEFT_BACKEND_JIT, &s)) return;
    const int rounds = b->rounds;
    double whole = s.ns[BUILD] + s.ns[PLAN] + s.ns[CODE];
    b->rounds = 3;
    bench_add(&r, BENCH_WEFT, "weft", fixed, &whole);
    if (numpy_job(b, &j, "numpy",
                  "import numba\ndef f(x,y,o):\n for i in range(o.size):\n  "
                  "o[i]=np.sqrt(x[i]*y[i]+x[i])\nt=(numba.float64[::1],)*3",
                  "numba.njit(f).compile(t)", 1))
        bench_add(&r, BENCH_PEER, "numba", numpy_time, &j);
    bench_measure(b, &r);
    b->rounds = rounds;
}

void suite_compile(struct bench *b) {
    static const int64_t ops[] = {1, 3, 10, 30, 100, 200, 1000};
    static const int outs[] = {2, 8, 64};
    struct stages s;
    double begin = bench_now();
    if (!measure(b, 3, 1, WEFT_BACKEND_JIT, &s)) return;
    report_figure(b, "compile", "first compilation of the process, LLVM brought in",
                  bench_now() - begin, "ns");
    for (size_t i = 0; i < COUNT_OF(ops); i++)
        bench_compile(b, ops[i], 1, WEFT_BACKEND_JIT);
    for (size_t i = 0; i < COUNT_OF(outs); i++)
        bench_compile(b, 10, outs[i], WEFT_BACKEND_JIT);
    static const int64_t nodes[] = {1000, 10000, 100000};
    for (size_t i = 0; i < COUNT_OF(nodes); i++)
        bench_compile(b, nodes[i], 1, WEFT_BACKEND_INTERP);
    bench_compile(b, 10000, 1, WEFT_BACKEND_JIT);
    bench_numba(b);
}
