// SPDX-License-Identifier: MIT
// Peak memory beyond operands and results: what the allocator hook saw during weft_run, the plan's
// promise (weft_program_workspace_size), and NumPy's peak for the same work as its allocator
// reports it. The promise must hold: the row says so when it does not.
#include <stdatomic.h>
#include <stdio.h>

#include "way.h"

struct ledger {
    atomic_size_t now, peak;
};
static void *counted(void *ud, void *ptr, size_t old, size_t size) {
    struct ledger *l = ud;
    void *p = NULL;
    if (size == 0) {
        free(ptr);
    } else if (!ptr) {
        p = aligned_alloc(64, (size + 63) & ~(size_t)63);
        old = 0;
    } else {
        p = realloc(ptr, size);
    }
    if (size && !p) return NULL;
    const size_t now = atomic_fetch_add(&l->now, size - old) + size - old;
    size_t peak = atomic_load(&l->peak);
    while (now > peak && !atomic_compare_exchange_weak(&l->peak, &peak, now)) {
    }
    return p;
}

static int chain3(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_sqrt(weft_add(weft_mul(in[0], in[1]), in[0]));
    return 1;
}
static int deviation(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_std(weft_mul(in[0], in[1]), NULL);
    return 1;
}
static int product(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    weft_expr *p = weft_matmul(in[0], weft_transpose(in[1], NULL));
    r[0] = weft_maximum(p, weft_float(g, 0));
    return 1;
}
static int centred(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    const weft_reduce first = {
        .size = sizeof first, .axes = (int[]){0}, .naxes = 1, .keepdims = true};
    r[0] = weft_mul(weft_sub(in[0], weft_mean(in[0], &first)), in[1]);
    return 1;
}

static int softmax(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_softmax(weft_mul(in[0], in[1]), 1);
    return 1;
}
static int total(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_sum(weft_mul(in[0], in[1]), NULL);
    return 1;
}
static int sorted(weft_graph *g, weft_expr *const *in, weft_expr **r) {
    (void)g;
    r[0] = weft_sort(weft_add(in[0], in[1]), 1);
    return 1;
}

static const struct {
    const char *name;
    way_build *build;
    const char *numpy;
    const char *numexpr; // where it can say it
} works[] = {
    {"sqrt(x*y+x)", chain3, "np.sqrt(x*y+x)", "sqrt(x*y+x)"},
    {"std(x*y)", deviation, "(x*y).std()", NULL},
    {"maximum(x@y.T,0)", product, "np.maximum(x@y.T,0)", NULL},
    {"(x-mean(x,0))*y", centred, "(x-x.mean(0,keepdims=True))*y", NULL},
    {"softmax(x*y,1)", softmax, "(lambda e: e/e.sum(1,keepdims=True))(np.exp(x*y-(x*y).max(1,keepdims=True)))", NULL},
    {"sum(x*y)", total, "(x*y).sum()", "sum(x*y)"},
    {"sort(x+y,1)", sorted, "np.sort(x+y,axis=1)", NULL},
};

// numexpr's blocks come from malloc, which tracemalloc does not see: the growth of the process in a fresh child,
// beside the result.
static void numexpr_peak(struct bench *b, const char *what, const char *text) {
    struct numpy_job j;
    char statement[256], name[120];
    if (!text) return;
    snprintf(statement, sizeof statement, "peak[0]=measure(lambda: ne.evaluate('%s'))", text);
    if (!numpy_job(b, &j, "numexpr",
                   "import resource, numexpr as ne\nx=np.ones((1024,1024))\ny=np.ones((1024,1024))\npeak=[0]\n"
                   "def measure(f):\n b=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n r=f()\n "
                   "p=(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss-b)*1024-getattr(r,'nbytes',0)\n"
                   " global last\n last=max(p,0)\n return p",
                   statement, 1))
        return;
    numpy_time(&j, 1);
    snprintf(name, sizeof name, "%s numexpr, beside the result", what);
    report_figure(b, "memory", name, numpy_value(&j, "last"), "bytes");
}

void suite_memory(struct bench *b) {
    enum { SIDE = 1024 };
    const int64_t dims[2] = {SIDE, SIDE};
    const size_t bytes = (size_t)SIDE * SIDE * 8;
    double *x = bench_buffer(bytes), *y = bench_buffer(bytes);
    const weft_array in[2] = {weft_dense(WEFT_F64, x, 2, dims), weft_dense(WEFT_F64, y, 2, dims)};
    for (size_t i = 0; i < COUNT_OF(works); i++) {
        struct ledger ledger = {0};
        struct way w;
        char name[120], statement[256];
        struct numpy_job j;
        const struct way_spec spec = {.build = works[i].build,
                                      .inputs = 2,
                                      .in = in,
                                      .backend = WEFT_BACKEND_JIT,
                                      .threads = b->threads,
                                      .alloc = counted,
                                      .alloc_ud = &ledger};
        bench_need(way_open(&w, b, &spec), "an expression cannot be made ready");
        const double promise = (double)weft_program_workspace_size(w.program);
        weft_workspace *fresh = NULL;
        bench_need(!weft_workspace_new(w.ctx, &fresh), "no memory");
        atomic_store(&ledger.peak, atomic_load(&ledger.now));
        const double before = (double)atomic_load(&ledger.now);
        bench_need(!weft_run(w.program, fresh, in, w.out, NULL, 0), "a run failed");
        const double seen = (double)atomic_load(&ledger.peak) - before;
        snprintf(name, sizeof name, "%s workspace promised", works[i].name);
        report_figure(b, "memory", name, promise, "bytes");
        snprintf(name, sizeof name, "%s allocated while running%s", works[i].name,
                 seen != promise ? " (NOT AS PROMISED)" : "");
        report_figure(b, "memory", name, seen, "bytes");
        weft_workspace_free(fresh);
        // the child answers with bytes where it usually answers with nanoseconds
        snprintf(statement, sizeof statement, "peak[0]=measure(lambda: %s)", works[i].numpy);
        if (numpy_job(
                b, &j, "numpy",
                "import tracemalloc\nx=np.ones((1024,1024))\ny=np.ones((1024,1024))\npeak=[0]\n"
                "def measure(f):\n tracemalloc.start()\n r=f()\n "
                "p=tracemalloc.get_traced_memory()[1]-getattr(r,'nbytes',0)\n"
                " tracemalloc.stop()\n global last\n last=p\n return p",
                statement, 1)) {
            numpy_time(&j, 1);
            snprintf(name, sizeof name, "%s NumPy, beside the result", works[i].name);
            report_figure(b, "memory", name, numpy_value(&j, "last"), "bytes");
        }
        numexpr_peak(b, works[i].name, works[i].numexpr);
        way_close(&w);
    }
    free(x), free(y);
}
