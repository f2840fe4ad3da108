// SPDX-License-Identifier: MIT
// What the machine refuses: the n-th allocation, for every n, in scripts that go through every family of the API in
// both tiers; memory that may be executed; threads; a small stack; a module that is broken. The answer is a status or the
// same bits more slowly, nothing leaks, and the context goes on. And no page is ever writable and executable.
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

TestSuite(faults, .timeout = 240);

// ---- an allocator that refuses one call -------------------------------------------------------------
struct hook {
    pthread_mutex_t lock;
    long calls, fail_at, live;
};
static void *hooked(void *ud, void *p, size_t old, size_t size) {
    struct hook *h = ud;
    (void)old;
    pthread_mutex_lock(&h->lock);
    const bool refuse = size && ++h->calls == h->fail_at;
    void *q = NULL;
    if (size == 0) free(p), h->live -= p != NULL;
    else if (!refuse && (q = realloc(p, size))) h->live += p == NULL;
    pthread_mutex_unlock(&h->lock);
    return q;
}

// ---- scripts: true when every call was WEFT_OK; a hash of all results ---------------------------------
enum { N = 8 };
static double xs[N * N], ys[N * N], zs[2 * N * N], out[4 * N * N];
static int32_t is[N];
static void fill(void) {
    for (int i = 0; i < N * N; i++) {
        xs[i] = (i * 29 % 64) * 0.125 - 3 + (i % (N + 1) ? 0 : 20);
        ys[i] = i % 7 + 0.5;
        zs[2 * i] = xs[i], zs[2 * i + 1] = ys[i];
    }
    for (int i = 0; i < N; i++)
        is[i] = (i * 3) % N;
}
struct script {
    weft_ctx *ctx;
    weft_graph *g;
    weft_expr *x, *y, *z, *i;
    uint64_t hash;
    bool ok;
};
static void hash_bytes(struct script *s, const void *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        s->hash = (s->hash ^ ((const unsigned char *)p)[i]) * 1099511628211u;
}
static void see(struct script *s, weft_expr *e) {
    weft_array o = weft_dense(weft_expr_dtype(e), out, weft_expr_rank(e), weft_expr_dims(e));
    const weft_status st = e ? weft_eval(e, &o, NULL) : weft_graph_status(s->g);
    if (st == WEFT_EUNSUPPORTED) return; // no LAPACK, no FFTW here
    s->ok &= st == WEFT_OK;
    if (st == WEFT_OK) hash_bytes(s, out, (size_t)weft_array_count(&o) * weft_dtype_size(o.dtype));
}

static void maps(struct script *s) {
    see(s, weft_where(weft_less(s->x, s->y), weft_exp(weft_neg(s->x)), weft_pow(s->y, weft_float(s->g, 2.5))));
    see(s, weft_floor_divide(weft_cast(s->x, WEFT_I32), weft_int(s->g, 3)));
    see(s, weft_cast(weft_tanh(s->x), WEFT_F16));
    see(s, weft_exp(weft_true_divide(s->z, weft_imaginary(s->g, 2))));
}
static void reductions(struct script *s) {
    see(s, weft_std(s->x, NULL));
    see(s, weft_sum(s->y, &(weft_reduce){.size = sizeof(weft_reduce), .axes = (int[]){0}, .naxes = 1, .compensated = true}));
    see(s, weft_argmax(s->x, NULL));
    see(s, weft_softmax(s->x, 1));
}
static void views(struct script *s) {
    see(s, weft_transpose(weft_slice(s->x, 0, WEFT_NONE, WEFT_NONE, -2), NULL));
    see(s, weft_concat(2, (weft_expr *[]){s->x, weft_neg(s->y)}, 1));
    see(s, weft_take(s->x, s->i, 1, WEFT_INDEX_RAISE));
    see(s, weft_roll(weft_add(s->x, s->y), 3, 0));
    see(s, weft_diagonal(s->x, 1, 0, 1));
}
static void calls(struct script *s) {
    see(s, weft_sort(s->x, 1));
    see(s, weft_cumsum(s->y, 0));
    see(s, weft_solve(s->x, s->y));
    see(s, weft_fft(s->z, NULL));
    see(s, weft_median(s->x, NULL));
    see(s, weft_matmul(s->x, weft_exp(weft_neg(s->y))));
    see(s, weft_random_normal(s->g, (weft_stream){1, 2}, WEFT_F64, 1, DIMS(N)));
}
static void storeys(struct script *s) {
    weft_array a = weft_dense(WEFT_F64, out, 2, DIMS(N, N)), b = weft_dense(WEFT_F64, out + N * N, 0, NULL), made = {.data = NULL};
    weft_expr *f = weft_mul(s->x, s->y), *sum = weft_sum(f, NULL);
    s->ok &= !weft_eval_n(2, (weft_expr *[]){f, sum}, (weft_array[]){a, b}, NULL);
    weft_expr *kept = weft_select(s->x, weft_greater(s->x, s->y));
    const weft_status st = weft_eval_new(kept, &made, NULL);
    s->ok &= st == WEFT_OK;
    if (!st) hash_bytes(s, made.data, (size_t)weft_array_count(&made) * 8);
    weft_array_free(s->ctx, &made);
    char *text = NULL;
    for (int k = WEFT_DUMP_IR; k <= WEFT_DUMP_PLAN; k++) {
        s->ok &= !weft_dump(1, &sum, (weft_dump_kind)k, WEFT_ISA_BEST, &text);
        weft_text_free(s->ctx, text);
    }
    s->ok &= !weft_explain(1, &sum, &text);
    weft_text_free(s->ctx, text);
    weft_graph_reset(s->g);
    s->x = weft_from(s->g, &(weft_array){.dtype = WEFT_F64, .rank = 1, .data = xs, .dims = {N}, .strides = {8}});
    see(s, weft_sqrt(weft_abs(s->x)));
}
static void programs(struct script *s) {
    weft_program *p = NULL;
    weft_workspace *ws = NULL;
    weft_expr *in = weft_input(s->g, "in", WEFT_F64, 1, DIMS(N)), *f = weft_sqrt(weft_add(in, weft_float(s->g, 20)));
    weft_array a = vec(xs, N), o = vec(out, N), a2 = vec(xs, N / 2), o2 = vec(out + N, N / 2);
    s->ok &= !weft_compile(1, &f, &p) && !weft_workspace_new(s->ctx, &ws) && !weft_workspace_reserve(ws, 10000);
    if (s->ok) s->ok &= !weft_run(p, ws, &a, &o, NULL, 0) && !weft_run(p, NULL, &a2, &o2, NULL, 0);
    if (s->ok) hash_bytes(s, out, 8 * (N + N / 2));
    weft_workspace_free(ws);
    weft_program_free(p);
}
static void files(struct script *s) {
    weft_expr *in = weft_input(s->g, "in", WEFT_C128, 2, DIMS(N, N)), *f[2] = {weft_add(in, s->x), weft_sort(s->y, 0)}, *again[2];
    void *bytes = NULL;
    size_t size = 0;
    weft_graph *h = weft_graph_new(s->ctx);
    s->ok &= h && !weft_graph_save(2, f, &bytes, &size) && !weft_graph_load(h, bytes, size, 2, again, NULL);
    if (s->ok) hash_bytes(s, bytes, size);
    weft_bytes_free(s->ctx, bytes, size);
    weft_graph_free(h);
}
static void (*const scripts[])(struct script *) = {maps, reductions, views, calls, storeys, programs, files};
enum { SCRIPTS = sizeof scripts / sizeof scripts[0] };

static bool run_script(weft_ctx *ctx, int which, uint64_t *hash) {
    struct script s = {.ctx = ctx, .g = weft_graph_new(ctx), .hash = 14695981039346656037u, .ok = true};
    if (!s.g) return false;
    weft_array x = weft_dense(WEFT_F64, xs, 2, DIMS(N, N)), y = weft_dense(WEFT_F64, ys, 2, DIMS(N, N));
    weft_array z = weft_dense(WEFT_C128, zs, 2, DIMS(N, N)), i = weft_dense(WEFT_I32, is, 1, DIMS(N));
    s.x = weft_from(s.g, &x), s.y = weft_from(s.g, &y), s.z = weft_from(s.g, &z), s.i = weft_from(s.g, &i);
    scripts[which](&s);
    weft_graph_free(s.g);
    *hash = s.hash;
    return s.ok;
}

static bool one_failure(weft_backend b, int which, long n, uint64_t want) {
    struct hook h = {.lock = PTHREAD_MUTEX_INITIALIZER, .fail_at = n};
    weft_ctx *ctx = NULL;
    weft_ctx_opts o = {.size = sizeof o, .alloc = hooked, .alloc_ud = &h, .threads = 1, .backend = b, .ignore_env = true};
    uint64_t hash = 0;
    bool reached = true;
    const weft_status st = weft_ctx_new(&ctx, &o);
    cr_assert(st == WEFT_OK || st == WEFT_ENOMEM);
    if (!st) {
        const bool ok = run_script(ctx, which, &hash);
        if (ok) cr_assert_eq(hash, want, "script %d, allocation %ld: other bits", which, n);
        reached = h.calls >= n;
        h.fail_at = 0;
        cr_assert(run_script(ctx, which, &hash), "script %d fails after the failure of allocation %ld", which, n);
        cr_assert_eq(hash, want, "script %d, after allocation %ld: other bits", which, n);
        weft_ctx_free(ctx);
    }
    cr_assert_eq(h.live, 0, "script %d, allocation %ld: %ld blocks leak", which, n, h.live);
    return reached;
}

static void every_allocation(weft_backend b, long step) {
    fill();
    for (int k = 0; k < SCRIPTS; k++) {
        uint64_t want = 0;
        weft_ctx *ctx = new_ctx(WEFT_BACKEND_INTERP, 1);
        cr_assert(run_script(ctx, k, &want), "script %d", k);
        weft_ctx_free(ctx);
        for (long n = 1; one_failure(b, k, n, want); n += n < 8 ? 1 : step)
            continue;
    }
}
Test(faults, every_allocation_interpreted) { every_allocation(WEFT_BACKEND_INTERP, 1); }
Test(faults, allocations_compiled) { every_allocation(WEFT_BACKEND_JIT, 41); }

// ---- writable or executable, never both ------------------------------------------------------------------
static int both_ways(void) {
    int n = 0;
    char line[512];
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *rights = strchr(line, ' ');
        if (rights && rights[2] == 'w' && rights[3] == 'x') n++;
    }
    if (f) fclose(f);
    return n;
}
struct watch {
    _Atomic bool stop;
    _Atomic int worst, looks;
};
static void *watch_maps(void *arg) {
    struct watch *w = arg;
    while (!w->stop) {
        const int n = both_ways();
        if (n > w->worst) w->worst = n;
        w->looks++;
    }
    return NULL;
}
// Every call that makes memory executable is in this process: mmap and mprotect are the only ways, so the looks of
// a thread between them are looks at what lasts.
Test(faults, no_page_is_writable_and_executable) {
    fill();
    struct watch w = {0};
    pthread_t t;
    const int before = both_ways(); // of the test's own libraries
    cr_assert_eq(pthread_create(&t, NULL, watch_maps, &w), 0);
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_JIT, 1);
    for (int i = 0; i < 60; i++) {
        weft_graph *g = weft_graph_new(ctx);
        weft_array a = vec(xs, N), o = vec(out, N);
        weft_expr *e = weft_from(g, &a), *first = e;
        for (int bits = i, k = 0; k < 6; k++, bits >>= 1)
            e = bits & 1 ? weft_sub(first, e) : weft_mul(e, first);
        must(g, weft_eval(e, &o, NULL));
        weft_graph_free(g);
    }
    weft_stats s;
    weft_ctx_stats(ctx, &s, sizeof s);
    weft_ctx_free(ctx);
    w.stop = true;
    pthread_join(t, NULL);
    cr_expect_gt((int)w.looks, 1);
    cr_expect_eq((int)w.worst, before, "%d pages", (int)w.worst - before);
    printf("%llu compilations, %d looks at the memory map\n", (unsigned long long)s.compiles, (int)w.looks);
}

// ---- a small stack ------------------------------------------------------------------------------------------
enum { DEEP = 10000 };
static void *deep_graph(void *arg) {
    weft_ctx *ctx = arg;
    static double got[N];
    weft_graph *g = weft_graph_new(ctx);
    weft_array a = vec(xs, N), o = vec(got, N);
    weft_expr *x = weft_from(g, &a), *e = x;
    for (int i = 0; i < DEEP; i++)
        e = i % 2 ? weft_mul(e, weft_float(g, 0.5)) : weft_add(e, x);
    const weft_status st = weft_eval(e, &o, NULL);
    weft_graph_free(g);
    return st ? NULL : got;
}
Test(faults, a_stack_of_64_KiB) {
    fill();
    static double want[N];
    memcpy(want, xs, sizeof want);
    for (int k = 0; k < N; k++)
        for (int i = 0; i < DEEP; i++)
            want[k] = i % 2 ? want[k] * 0.5 : want[k] + xs[k];
    for (int b = WEFT_BACKEND_INTERP; b <= WEFT_BACKEND_JIT; b++) {
        weft_ctx *ctx = new_ctx((weft_backend)b, 2);
        pthread_attr_t attr;
        pthread_t t;
        void *got = NULL;
        pthread_attr_init(&attr);
        cr_assert_eq(pthread_attr_setstacksize(&attr, 64 << 10), 0);
        cr_assert_eq(pthread_create(&t, &attr, deep_graph, ctx), 0);
        pthread_join(t, &got);
        pthread_attr_destroy(&attr);
        cr_assert_not_null(got, "backend %d", b);
        cr_expect_eq(memcmp(got, want, sizeof want), 0, "backend %d", b);
        weft_ctx_free(ctx);
    }
}

// ---- a module that is none --------------------------------------------------------------------------------------
static void count_line(void *ud, weft_log_level level, const char *line) {
    (void)level, (void)line;
    ++*(_Atomic int *)ud;
}
Test(faults, a_broken_module_is_no_module) {
    fill();
    static const char *const content[] = {"", "not a library", "\177ELF\2\1\1 and no more"};
    for (size_t k = 0; k < sizeof content / sizeof *content; k++) {
        char path[] = "/tmp/weft-module-XXXXXX";
        const int fd = mkstemp(path);
        cr_assert(fd >= 0 && write(fd, content[k], strlen(content[k])) == (ssize_t)strlen(content[k]));
        close(fd);
        setenv("WEFT_JIT_MODULE", path, 1);
        _Atomic int lines = 0;
        weft_ctx *ctx = NULL;
        weft_ctx_opts o = {.size = sizeof o, .backend = WEFT_BACKEND_JIT, .log = count_line, .log_ud = &lines, .threads = 1};
        uint64_t hash = 0, want = 0;
        cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
        cr_expect(run_script(ctx, 0, &hash));
        weft_ctx *plain = new_ctx(WEFT_BACKEND_INTERP, 1);
        cr_expect(run_script(plain, 0, &want));
        cr_expect_eq(hash, want);
        cr_expect_leq((int)lines, 1, "%d lines", (int)lines); // 0: LLVM is linked in
        weft_ctx_free(plain);
        weft_ctx_free(ctx);
        unlink(path);
    }
    unsetenv("WEFT_JIT_MODULE");
}
