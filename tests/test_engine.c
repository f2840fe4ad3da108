// SPDX-License-Identifier: MIT
// The graph engine through the public header: deep and wide graphs, one compile for many, no allocation in
// the steady state, refused memory, bounded caches; in both tiers.
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cases.h"

static weft_ctx *tiers[2];
static void begin(void) {
    tiers[0] = new_ctx(WEFT_BACKEND_INTERP, 2);
    tiers[1] = new_ctx(WEFT_BACKEND_JIT, 2);
}
static void end(void) {
    weft_ctx_free(tiers[0]);
    weft_ctx_free(tiers[1]);
}
TestSuite(engine, .init = begin, .fini = end, .timeout = PATIENCE * 120);

static void *deep_chain(void *arg) {
    weft_ctx *ctx = arg;
    int64_t n = 3;
    double x[3] = {0.1, 0.2, 0.3}, out[3];
    weft_array a = weft_dense(WEFT_F64, x, 1, &n), o = weft_dense(WEFT_F64, out, 1, &n);
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *e = weft_from(g, &a);
    for (int i = 0; i < 100000; i++)
        e = weft_sin(e);
    if (weft_eval(e, &o, NULL)) return "evaluation failed";
    double s = 0.1;
    for (int i = 0; i < 100000; i++)
        s = sin(s);
    if (fabs(out[0] - s) > 1e-12) return "wrong value";
    weft_graph_free(g);
    g = weft_graph_new(ctx); // built and never evaluated
    e = weft_from(g, &a);
    for (int i = 0; i < 100000; i++)
        e = weft_sin(e);
    weft_graph_free(g);
    return NULL;
}

static void on_stack(size_t bytes, void *(*f)(void *), void *arg) {
    pthread_attr_t attr;
    pthread_t t;
    void *verdict = NULL;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, bytes);
    cr_assert_eq(pthread_create(&t, &attr, f, arg), 0);
    pthread_join(t, &verdict);
    pthread_attr_destroy(&attr);
    cr_expect(verdict == NULL, "%s", (const char *)verdict);
}

Test(engine, deep_chains) { // G1
    for (int t = 0; t < 2; t++) {
        on_stack(8 << 20, deep_chain, tiers[t]);
        on_stack(256 << 10, deep_chain, tiers[t]);
    }
}

static double clock_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *long_chain(void *arg) {
    weft_ctx *ctx = arg;
    int64_t n = 1000;
    static double x[1000], out[1000], want[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = want[i] = i * 1e-3;
    double start = clock_s();
    weft_array a = weft_dense(WEFT_F64, x, 1, &n), o = weft_dense(WEFT_F64, out, 1, &n);
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *e = weft_from(g, &a), *first = e;
    for (int i = 0; i < 10000; i++)
        e = i % 3 == 0 ? weft_add(e, first) : i % 3 == 1 ? weft_mul(e, weft_float(g, 0.5)) : weft_abs(e);
    if (weft_eval(e, &o, NULL)) return "evaluation failed";
    weft_graph_free(g);
    if (clock_s() - start > 3 * PATIENCE) return "10 000 operations took more than 3 s";
    for (int k = 0; k < 10000; k++)
        for (int i = 0; i < 1000; i++)
            want[i] = k % 3 == 0 ? want[i] + x[i] : k % 3 == 1 ? want[i] * 0.5 : fabs(want[i]);
    return memcmp(out, want, sizeof out) ? "wrong bits" : NULL;
}
Test(engine, ten_thousand_operations) {
    for (int t = 0; t < 2; t++)
        on_stack(256 << 10, long_chain, tiers[t]);
}

Test(engine, doubling) { // G2
    EACH_TIER(g) {
        double x = 1, out;
        weft_array a = weft_dense(WEFT_F64, &x, 0, NULL);
        weft_expr *e = weft_from(g, &a);
        for (int i = 0; i < 60; i++)
            e = weft_add(e, e);
        eval_into("G2", g, e, &out);
        cr_expect_eq(out, 1152921504606846976.0);
    }
}

Test(engine, many_inputs) { // G4
    EACH_TIER(g) {
        static double x[6131][3];
        double out[3];
        static const int counts[] = {200, 6131};
        for (int k = 0; k < 2; k++) {
            weft_expr *e = NULL;
            for (int i = 0; i < counts[k]; i++) {
                x[i][0] = x[i][1] = x[i][2] = i;
                weft_array a = vec(x[i], 3);
                e = e ? weft_add(e, weft_from(g, &a)) : weft_from(g, &a);
            }
            eval_into("G4", g, e, out);
            cr_expect_eq(out[2], (double)(counts[k] - 1) * counts[k] / 2);
        }
    }
}

static weft_stats stats_of(weft_ctx *ctx) {
    weft_stats s;
    weft_ctx_stats(ctx, &s, sizeof s);
    return s;
}

Test(engine, one_compile_for_constants_and_lengths) { // G7, G8
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_JIT, 1);
    if (!stats_of(ctx).llvm_major) { // not loaded yet: try it
        double x = 1, o;
        weft_graph *g = weft_graph_new(ctx);
        weft_array a = vec(&x, 1);
        eval_into("probe", g, weft_neg(weft_from(g, &a)), &o);
        weft_graph_free(g);
    }
    if (!stats_of(ctx).llvm_major) {
        printf("skipped: no LLVM here, so nothing compiles\n");
        weft_ctx_free(ctx);
        cr_skip_test("no LLVM");
    }
    uint64_t before = stats_of(ctx).compiles;
    static double x[1000], out[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = i;
    for (int k = 0; k < 100; k++) {
        weft_graph *g = weft_graph_new(ctx);
        weft_array a = vec(x, 10);
        eval_into("G7", g, weft_mul(weft_from(g, &a), weft_float(g, 2.0 + k)), out);
        cr_assert_eq(out[9], 9 * (2.0 + k));
        weft_graph_free(g);
    }
    for (int64_t n = 1; n <= 1000; n++) {
        weft_graph *g = weft_graph_new(ctx);
        weft_array a = vec(x, n);
        eval_into("lengths", g, weft_mul(weft_from(g, &a), weft_float(g, 3)), out);
        for (int64_t i = 0; i < n; i++)
            cr_assert_eq(out[i], 3.0 * (double)i);
        weft_graph_free(g);
    }
    cr_expect_eq(stats_of(ctx).compiles, before + 1, "%lu compiles", (unsigned long)(stats_of(ctx).compiles - before));
    for (int64_t n = 1; n <= 4; n++) {
        static const double want[] = {10, 30, 60, 100};
        double v[] = {10, 20, 30, 40}, s;
        weft_graph *g = weft_graph_new(ctx);
        weft_array a = vec(v, n);
        eval_into("G8", g, weft_sum(weft_from(g, &a), NULL), &s);
        cr_expect_eq(s, want[n - 1]);
        weft_graph_free(g);
    }
    weft_ctx_free(ctx);
}

Test(engine, growing_loop) { // G10
    EACH_TIER(g) {
        double a[4] = {0}, y[2][4] = {{1, 2, 3, 4}}, out[4];
        weft_array aa = vec(a, 4), ya = weft_dense(WEFT_F64, y, 2, DIMS(2, 4));
        weft_expr *e = weft_from(g, &aa);
        for (int i = 0; i < 10000; i++)
            e = weft_add(e, weft_index(weft_from(g, &ya), 0, 0));
        eval_into("G10", g, e, out);
        cr_expect_eq(out[3], 40000);
    }
}

Test(engine, dead_nodes_are_not_evaluated) { // G12
    EACH_TIER(g) {
        double x[4] = {1, 2, 3, 4}, out[4];
        weft_array freed = weft_dense(WEFT_F64, (void *)16, 1, DIMS(4)), a = vec(x, 4);
        weft_expr *dead = weft_sqrt(weft_from(g, &freed));
        cr_assert_not_null(dead);
        eval_into("G12", g, weft_neg(weft_from(g, &a)), out);
        cr_expect_eq(out[3], -4);
    }
}

struct hook {
    _Atomic long calls, live;
    _Atomic long fail_at; // 0: never
};
static void *hooked(void *ud, void *p, size_t old_size, size_t size) {
    struct hook *h = ud;
    (void)old_size;
    if (size == 0) {
        if (p) atomic_fetch_sub(&h->live, 1);
        free(p);
        return NULL;
    }
    long n = atomic_fetch_add(&h->calls, 1) + 1;
    if (h->fail_at && n >= h->fail_at) return NULL;
    void *q = realloc(p, size);
    if (q && !p) atomic_fetch_add(&h->live, 1);
    return q;
}

Test(engine, no_allocation_in_the_steady_state) {
    for (int b = WEFT_BACKEND_INTERP; b <= WEFT_BACKEND_JIT; b++) {
        struct hook h = {0};
        weft_ctx *ctx = NULL;
        weft_ctx_opts o = {.size = sizeof o, .alloc = hooked, .alloc_ud = &h, .threads = 2, .backend = (weft_backend)b};
        cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
        enum { R = 700, C = 900 };
        static double x[R][C], t[C][R], out[R][C], mean[C];
        weft_graph *g = weft_graph_new(ctx);
        weft_expr *xe = weft_input(g, "x", WEFT_F64, 2, DIMS(R, C)), *te = weft_input(g, "t", WEFT_F64, 2, DIMS(C, R));
        int zero = 0;
        weft_reduce r = along(&zero, false);
        weft_expr *m = weft_mean(xe, &r);
        weft_expr *roots[] = {weft_exp(weft_sub(weft_add(xe, weft_transpose(te, NULL)), m)), m};
        weft_program *p = NULL;
        must(g, weft_compile(2, roots, &p));
        weft_workspace *ws = NULL;
        cr_assert_eq(weft_workspace_new(ctx, &ws), WEFT_OK);
        cr_assert_eq(weft_workspace_reserve(ws, weft_program_workspace_size(p)), WEFT_OK);
        weft_array in[] = {weft_dense(WEFT_F64, x, 2, DIMS(R, C)), weft_dense(WEFT_F64, t, 2, DIMS(C, R))};
        weft_array outs[] = {weft_dense(WEFT_F64, out, 2, DIMS(R, C)), weft_dense(WEFT_F64, mean, 1, DIMS(C))};
        cr_assert_eq(weft_run(p, ws, in, outs, NULL, 0), WEFT_OK);
        long before = h.calls;
        size_t held = weft_workspace_bytes(ws);
        for (int i = 0; i < 20; i++)
            cr_assert_eq(weft_run(p, ws, in, outs, NULL, 0), WEFT_OK);
        cr_expect_eq(h.calls, before, "%ld allocations", h.calls - before);
        cr_expect_eq(weft_workspace_bytes(ws), held);
        weft_workspace_free(ws);
        weft_program_free(p);
        weft_graph_free(g);
        weft_ctx_free(ctx);
        cr_expect_eq(h.live, 0, "%ld blocks leaked", h.live);
    }
}

// A script over much of the API; true when all went well.
static bool script(weft_ctx *ctx) {
    double x[40], y[40], o1[40], o2;
    for (int i = 0; i < 40; i++)
        x[i] = i, y[i] = 40 - i;
    weft_graph *g = weft_graph_new(ctx);
    if (!g) return false;
    weft_array xa = weft_dense(WEFT_F64, x, 2, DIMS(8, 5)), ya = weft_dense(WEFT_F64, y, 2, DIMS(5, 8));
    weft_array oa = weft_dense(WEFT_F64, o1, 2, DIMS(8, 5)), ob = weft_dense(WEFT_F64, &o2, 0, NULL);
    weft_expr *e = weft_exp(weft_neg(weft_add(weft_from(g, &xa), weft_transpose(weft_from(g, &ya), NULL))));
    weft_expr *s = weft_sum(weft_matmul(e, weft_from(g, &ya)), NULL);
    bool ok = !weft_eval_n(2, (weft_expr *[]){e, s}, (weft_array[]){oa, ob}, NULL);
    ok &= !weft_eval(weft_reshape(weft_std(e, NULL), 0, NULL), &ob, NULL);
    char *text = NULL;
    if (!weft_dump(1, &s, WEFT_DUMP_PLAN, WEFT_ISA_BEST, &text)) weft_text_free(ctx, text);
    else ok = false;
    weft_program *p = NULL;
    weft_expr *in = weft_input(g, "in", WEFT_F64, 1, DIMS(40)), *f = weft_sqrt(in);
    weft_array ia = vec(x, 40), oc = vec(o1, 40), i2 = vec(x, 20), o3 = vec(o1, 20);
    ok &= !weft_compile(1, &f, &p);
    if (p) {
        ok &= !weft_run(p, NULL, &ia, &oc, NULL, 0);
        ok &= !weft_run(p, NULL, &i2, &o3, NULL, 0);
    }
    weft_program_free(p);
    weft_graph_free(g);
    return ok;
}

Test(engine, allocation_failures) { // G15
    for (int b = WEFT_BACKEND_INTERP; b <= WEFT_BACKEND_JIT; b++)
        for (long k = 1;; k += b == WEFT_BACKEND_JIT ? 7 : 1) {
            struct hook h = {.fail_at = k};
            weft_ctx *ctx = NULL;
            weft_ctx_opts o = {.size = sizeof o, .alloc = hooked, .alloc_ud = &h, .threads = 2, .backend = (weft_backend)b};
            weft_status st = weft_ctx_new(&ctx, &o);
            cr_assert(st == WEFT_OK || st == WEFT_ENOMEM);
            bool done = false;
            if (!st) {
                done = script(ctx);
                h.fail_at = 0;
                cr_assert(script(ctx), "the context works after failure at call %ld", k);
                weft_ctx_free(ctx);
            }
            cr_assert_eq(h.live, 0, "failure at call %ld leaks %ld blocks", k, h.live);
            if (done) break;
        }
}

Test(engine, caches_stay_bounded) { // G14, shortened
    weft_ctx *ctx = NULL;
    weft_ctx_opts o = {.size = sizeof o, .backend = WEFT_BACKEND_INTERP, .code_cache_bytes = 1 << 20, .threads = 1};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    uint64_t bytes = 0;
    for (int i = 0; i < 20000; i++) {
        double x[4] = {1, 2, 3, 4}, out[4];
        weft_array a = vec(x, 4);
        weft_graph *g = weft_graph_new(ctx);
        weft_expr *e = weft_from(g, &a);
        for (int bits = i, k = 0; k < 15; k++, bits >>= 1)
            e = bits & 1 ? weft_neg(weft_add(e, weft_float(g, 1))) : weft_mul(e, weft_float(g, 0.5));
        eval_into("G14", g, e, out);
        weft_graph_free(g);
        if (i == 5000) bytes = stats_of(ctx).alloc_bytes;
    }
    cr_expect(stats_of(ctx).alloc_bytes < bytes + (1 << 19), "%lu then %lu bytes", (unsigned long)bytes,
              (unsigned long)stats_of(ctx).alloc_bytes);
    cr_expect(stats_of(ctx).code_evictions > 0);
    weft_ctx_free(ctx);
}

static int entries(const char *dir) {
    int n = 0;
    DIR *d = opendir(dir);
    while (d && readdir(d))
        n++;
    if (d) closedir(d);
    return n;
}
static int mappings(void) {
    int n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    for (int c; f && (c = fgetc(f)) != EOF;)
        n += c == '\n';
    if (f) fclose(f);
    return n;
}

// Machine code that was dropped is unmapped: the process has no more mappings and files after 160 different
// bodies than after 80.
Test(engine, dropped_code_is_unmapped) { // G14
    weft_ctx *ctx = NULL;
    weft_ctx_opts o = {.size = sizeof o, .backend = WEFT_BACKEND_JIT, .code_cache_bytes = 48 << 10, .threads = 1};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    int maps = 0, files = 0;
    for (int i = 0; i < 160; i++) {
        double x[4] = {1, 2, 3, 4}, out[4];
        weft_array a = vec(x, 4);
        weft_graph *g = weft_graph_new(ctx);
        weft_expr *e = weft_from(g, &a), *first = e;
        for (int bits = i, k = 0; k < 8; k++, bits >>= 1)
            e = bits & 1 ? weft_sub(first, e) : weft_mul(e, first);
        eval_into("G14", g, e, out);
        weft_graph_free(g);
        if (i == 80) maps = mappings(), files = entries("/proc/self/fd");
    }
    cr_expect(mappings() <= maps + 8, "%d then %d mappings", maps, mappings());
    cr_expect_eq(entries("/proc/self/fd"), files);
    cr_expect(stats_of(ctx).code_bytes <= 48 << 10, "%lu bytes of code", (unsigned long)stats_of(ctx).code_bytes);
    weft_ctx_free(ctx);
}
