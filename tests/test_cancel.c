// SPDX-License-Identifier: MIT
// Cancelling and progress: every kind of long work is stopped from another thread, at 1 and 2 threads in both
// tiers, and everything is usable afterwards. Latency is the best of a few attempts, since the machine may
// be busy with something else; that it is cancelled at all is asked of every attempt.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
enum { SIDE = 1400, LONG = 1 << 23 };
static double *big; // LONG numbers
static double *out; // as many

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
static void nap_ms(double ms) {
    const struct timespec t = {(time_t)(ms / 1e3), (long)((ms - 1e3 * (double)(long)(ms / 1e3)) * 1e6)};
    nanosleep(&t, NULL);
}

static void begin(void) {
    big = malloc(LONG * sizeof *big);
    out = malloc(LONG * sizeof *out);
    uint64_t s = 1;
    for (int i = 0; i < LONG; i++) {
        s = s * 6364136223846793005u + 1442695040888963407u;
        big[i] = (double)(s >> 20) * 0x1p-40;
        out[i] = 0;
    }
}
static void end(void) {
    free(big);
    free(out);
}
TestSuite(cancel, .init = begin, .fini = end, .timeout = 120);

// ---- work that takes long -------------------------------------------------------------------------
struct work {
    weft_expr *x;
    weft_array to;
};
typedef struct work make_fn(weft_graph *g);

static weft_expr *leaf(weft_graph *g, int rank, const int64_t *dims) {
    weft_array a = weft_dense(WEFT_F64, big, rank, dims);
    return weft_from(g, &a);
}
static weft_expr *huge(weft_graph *g) { // 2^40 elements in no memory
    const int64_t one[2] = {1, LONG / 8}, dims[2] = {(int64_t)1 << 20, LONG / 8};
    return weft_broadcast_to(leaf(g, 2, one), 2, dims);
}
static struct work whole(weft_expr *x) {
    return (struct work){x, weft_dense(weft_expr_dtype(x), out, weft_expr_rank(x), weft_expr_dims(x))};
}
static struct work map(weft_graph *g) { // one tile in principle: a direct chain of heavy operations
    const int64_t n = LONG;
    weft_expr *x = leaf(g, 1, &n);
    for (int i = 0; i < 40; i++)
        x = weft_add(weft_pow(weft_abs(x), weft_float(g, 0.9)), weft_atan2(x, weft_float(g, 2)));
    return whole(x);
}
static struct work reduce_all(weft_graph *g) { return whole(weft_sum(weft_sqrt(huge(g)), NULL)); }
static struct work reduce_inner(weft_graph *g) {
    const int64_t dims[2] = {3, (int64_t)1 << 40};
    const int64_t one[2] = {3, 1};
    int axis = 1;
    return whole(weft_sum(weft_broadcast_to(leaf(g, 2, one), 2, dims),
                          &(weft_reduce){.size = sizeof(weft_reduce), .naxes = 1, .axes = &axis}));
}
static struct work reduce_outer(weft_graph *g) {
    int axis = 0;
    return whole(weft_max(weft_mul(huge(g), weft_float(g, 3)), &(weft_reduce){.size = sizeof(weft_reduce), .naxes = 1, .axes = &axis}));
}
static struct work arg(weft_graph *g) { return whole(weft_argmax(huge(g), NULL)); }
static struct work transposed(weft_graph *g) {
    const int64_t dims[2] = {4096, LONG / 4096};
    weft_expr *x = leaf(g, 2, dims);
    for (int i = 0; i < 40; i++)
        x = weft_sin(weft_add(weft_transpose(weft_reshape(x, 2, dims), NULL), weft_float(g, 1)));
    return whole(x);
}
static struct work product(weft_graph *g) {
    const int64_t dims[2] = {SIDE, SIDE};
    weft_expr *x = leaf(g, 2, dims);
    for (int i = 0; i < 30; i++)
        x = weft_matmul(x, leaf(g, 2, dims));
    return whole(x);
}
static struct work int_product(weft_graph *g) {
    const int64_t dims[2] = {SIDE, SIDE};
    weft_expr *x = weft_cast(leaf(g, 2, dims), WEFT_I32);
    for (int i = 0; i < 20; i++)
        x = weft_matmul(x, x);
    return whole(x);
}
static struct work batch(weft_graph *g) {
    const int64_t one[3] = {1, 8, 8}, dims[3] = {(int64_t)1 << 17, 8, 8};
    weft_expr *x = weft_broadcast_to(leaf(g, 3, one), 3, dims);
    for (int i = 0; i < 60; i++)
        x = weft_matmul(x, x);
    return whole(x);
}
static struct work sorted(weft_graph *g) {
    const int64_t n = LONG;
    return whole(weft_sort(leaf(g, 1, &n), 0));
}
static struct work places(weft_graph *g) {
    const int64_t n = LONG;
    return whole(weft_argsort(leaf(g, 1, &n), 0));
}
static struct work many_lines(weft_graph *g) {
    const int64_t dims[2] = {LONG / 16, 16};
    weft_expr *x = leaf(g, 2, dims);
    for (int i = 0; i < 20; i++)
        x = weft_sort(weft_neg(x), 1);
    return whole(x);
}
static struct work scan(weft_graph *g) {
    const int64_t n = LONG;
    weft_expr *x = leaf(g, 1, &n);
    for (int i = 0; i < 20; i++)
        x = weft_cumsum(x, 0);
    return whole(x);
}
static struct work scan_rows(weft_graph *g) {
    const int64_t dims[2] = {LONG / 32, 32};
    weft_expr *x = leaf(g, 2, dims);
    for (int i = 0; i < 20; i++)
        x = weft_cumsum(x, 0);
    return whole(x);
}
static struct work search(weft_graph *g) {
    const int64_t n = LONG;
    return whole(weft_searchsorted(leaf(g, 1, &n), leaf(g, 1, &n), false));
}
static struct work scatter(weft_graph *g) {
    const int64_t n = LONG;
    weft_expr *index = weft_cast(weft_mul(leaf(g, 1, &n), weft_float(g, 1000)), WEFT_I64);
    weft_expr *x = leaf(g, 1, &n);
    const weft_scatter_opts o = {sizeof o, 0, WEFT_SCATTER_ADD, WEFT_INDEX_WRAP};
    for (int i = 0; i < 8; i++)
        x = weft_scatter(x, index, leaf(g, 1, &n), &o);
    return whole(x);
}
static struct work chosen(weft_graph *g) {
    const int64_t n = LONG;
    weft_expr *x = leaf(g, 1, &n);
    for (int i = 0; i < 20; i++)
        x = weft_compress(weft_less(x, weft_float(g, 0.9)), x, 0);
    return whole(x);
}
static const struct {
    const char *name;
    make_fn *make;
} kinds[] = {{"map", map}, {"reduce_all", reduce_all}, {"reduce_inner", reduce_inner},
             {"reduce_outer", reduce_outer}, {"argmax", arg}, {"transposed", transposed},
             {"product", product}, {"int_product", int_product},
             {"batch", batch}, {"sort", sorted}, {"argsort", places}, {"many_lines", many_lines},
             {"scan", scan}, {"scan_rows", scan_rows}, {"search", search}, {"scatter", scatter},
             {"compress", chosen}};

// ---- from another thread --------------------------------------------------------------------------
struct canceller {
    weft_ctx *ctx;
    weft_token *token; // instead of the context
    double after_ms, at;
};
static void *cancel_later(void *arg_) {
    struct canceller *c = arg_;
    nap_ms(c->after_ms);
    c->at = now_ms();
    if (c->token)
        weft_token_cancel(c->token);
    else
        weft_cancel(c->ctx);
    return NULL;
}

static weft_status stopped_eval(const struct work *w, struct canceller *c, double *late) {
    pthread_t t;
    const weft_eval_opts o = {.size = sizeof o, .token = c->token};
    pthread_create(&t, NULL, cancel_later, c);
    const weft_status st = weft_eval(w->x, &w->to, &o);
    const double end_at = now_ms();
    pthread_join(t, NULL);
    *late = end_at - c->at;
    return st;
}

static void usable(weft_ctx *ctx) {
    double x[5] = {1, 2, 3, 4, 5}, y[5] = {0};
    const int64_t n = 5;
    weft_graph *g = weft_graph_new(ctx);
    weft_array a = weft_dense(WEFT_F64, x, 1, &n), b = weft_dense(WEFT_F64, y, 1, &n);
    weft_expr *e = weft_from(g, &a);
    cr_expect_eq(weft_eval(weft_mul(e, e), &b, NULL), WEFT_OK);
    cr_expect_eq(y[4], 25);
    weft_graph_free(g);
}

static void each_kind(weft_backend backend, int threads) {
    weft_ctx *ctx = new_ctx(backend, threads);
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        double best = 1e9;
        weft_token token = {0};
        for (int attempt = 0; attempt < 40 && best > 10; attempt++) {
            weft_graph *g = weft_graph_new(ctx);
            const struct work w = kinds[k].make(g);
            cr_assert(w.x, "%s: %s", kinds[k].name, weft_graph_error(g));
            struct canceller c = {ctx, attempt % 2 ? &token : NULL, 8 + 3 * (attempt % 12), 0};
            double late;
            weft_token_reset(&token);
            const weft_status st = stopped_eval(&w, &c, &late);
            if (st == WEFT_OK && late < 0) { // it was done before
                weft_graph_free(g);
                cr_assert_lt(attempt, 39, "%s is too short", kinds[k].name);
                continue;
            }
            cr_expect_eq(st, WEFT_ECANCELED, "%s, %d threads: %s, %s", kinds[k].name, threads,
                         weft_status_text(st), weft_graph_error(g));
            if (late < best) best = late;
            weft_graph_free(g);
        }
        cr_expect_leq(best, 10, "%s, backend %d, %d threads: stopped after %.1f ms", kinds[k].name,
                      (int)backend, threads, best);
        if (getenv("WEFT_SHOW")) printf("%-14s backend %d threads %d: %.2f ms\n", kinds[k].name, (int)backend, threads, best);
        usable(ctx);
    }
    weft_ctx_free(ctx);
}
Test(cancel, every_kind_of_work) { // one after the other: tests beside each other would be each other's load
    each_kind(WEFT_BACKEND_JIT, 2);
    each_kind(WEFT_BACKEND_INTERP, 1);
}

// ---- what a cancel hits ------------------------------------------------------------------------------
Test(cancel, what_begins_later_runs) {
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_AUTO, 2);
    cr_expect_eq(weft_cancel(NULL), WEFT_EINVAL);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(weft_cancel(ctx), WEFT_OK);
    usable(ctx);
    weft_ctx_free(ctx);
}

Test(cancel, a_cancelled_token_stops_at_once_until_reset) {
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_AUTO, 1);
    weft_graph *g = weft_graph_new(ctx);
    weft_token token = {0};
    weft_token_cancel(&token);
    cr_expect(weft_token_cancelled(&token));
    const struct work w = map(g);
    weft_eval_opts o = {.size = sizeof o, .token = &token};
    const double at = now_ms();
    cr_expect_eq(weft_eval(w.x, &w.to, &o), WEFT_ECANCELED);
    cr_expect_str_eq(weft_graph_error(g), "the evaluation was cancelled");
    cr_expect_eq(weft_graph_status(g), WEFT_ECANCELED);
    cr_expect_lt(now_ms() - at, 500);
    weft_token_reset(&token);
    const int64_t n = 5;
    weft_array to = weft_dense(WEFT_F64, out, 1, &n);
    cr_expect_eq(weft_eval(weft_add(leaf(g, 1, &n), weft_float(g, 1)), &to, &o), WEFT_OK);
    cr_expect_eq(out[3], big[3] + 1);
    weft_graph_free(g);
    weft_ctx_free(ctx);
}

// Another context's evaluation, and one with another token, are not hit.
Test(cancel, others_go_on) {
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_AUTO, 1), *other = new_ctx(WEFT_BACKEND_AUTO, 1);
    weft_graph *g = weft_graph_new(ctx);
    const int64_t n = LONG;
    weft_expr *x = leaf(g, 1, &n);
    for (int i = 0; i < 6; i++)
        x = weft_sin(x);
    weft_array to = weft_dense(WEFT_F64, out, 1, &n);
    struct canceller c = {.ctx = other, .after_ms = 5};
    pthread_t t;
    pthread_create(&t, NULL, cancel_later, &c);
    cr_expect_eq(weft_eval(x, &to, NULL), WEFT_OK);
    pthread_join(t, NULL);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    weft_ctx_free(other);
}

// The same bits after a run that was stopped, in the same workspace.
Test(cancel, programs_and_workspaces_stay_usable) {
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_AUTO, 2);
    weft_graph *g = weft_graph_new(ctx);
    const int64_t n = LONG / 4;
    weft_expr *in = weft_input(g, "x", WEFT_F64, 1, &n), *x = in;
    for (int i = 0; i < 4; i++)
        x = weft_cumsum(weft_sin(weft_add(x, in)), 0);
    weft_program *p = NULL;
    weft_workspace *ws = NULL;
    cr_assert_eq(weft_compile(1, &x, &p), WEFT_OK);
    cr_assert_eq(weft_workspace_new(ctx, &ws), WEFT_OK);
    weft_array a = weft_dense(WEFT_F64, big, 1, &n), b = weft_dense(WEFT_F64, out, 1, &n);
    weft_array d = weft_dense(WEFT_F64, out + n, 1, &n);
    char err[100];
    cr_assert_eq(weft_run(p, NULL, &a, &d, err, sizeof err), WEFT_OK, "%s", err);
    for (int i = 0; i < 6; i++) {
        weft_token token = {0};
        struct canceller c = {.ctx = ctx, .token = i % 2 ? &token : NULL, .after_ms = 1 + 3 * i};
        weft_run_opts o = {.size = sizeof o, .workspace = ws, .token = &token, .threads = 1 + i % 2,
                           .err = err, .err_size = sizeof err};
        pthread_t t;
        pthread_create(&t, NULL, cancel_later, &c);
        const weft_status st = weft_run_with(p, &a, &b, &o);
        pthread_join(t, NULL);
        cr_expect(st == WEFT_OK || st == WEFT_ECANCELED);
        if (st) cr_expect_str_eq(err, "the evaluation was cancelled");
        weft_token_reset(&token);
        cr_assert_eq(weft_run_with(p, &a, &b, &o), WEFT_OK, "%s", err);
        cr_expect_eq(memcmp(out, out + n, (size_t)n * 8), 0);
        cr_expect_eq(err[0], 0);
    }
    weft_run_opts bad = {0};
    cr_expect_eq(weft_run_with(p, &a, &b, &bad), WEFT_EINVAL);
    weft_program_free(p);
    weft_workspace_free(ws);
    weft_graph_free(g);
    weft_ctx_free(ctx);
}

static weft_ctx *interrupted;
static void on_signal(int s) {
    (void)s;
    weft_cancel(interrupted);
}
Test(cancel, from_a_signal_handler) {
    interrupted = new_ctx(WEFT_BACKEND_INTERP, 1);
    struct sigaction sa = {.sa_handler = on_signal};
    sigaction(SIGALRM, &sa, NULL);
    weft_graph *g = weft_graph_new(interrupted);
    const struct work w = reduce_all(g);
    ualarm(20000, 0);
    cr_expect_eq(weft_eval(w.x, &w.to, NULL), WEFT_ECANCELED);
    weft_graph_free(g);
    usable(interrupted);
    weft_ctx_free(interrupted);
}

// A wait for the compiler ends too; compiling itself goes on behind. Planning is not waiting: its time is
// measured first.
static weft_expr *long_body(weft_graph *g) {
    const int64_t n = 100;
    weft_expr *x = weft_input(g, "x", WEFT_F64, 1, &n);
    for (int i = 0; i < 1500; i++)
        x = weft_add(weft_mul(x, weft_float(g, i)), i % 3 ? weft_sqrt(weft_abs(x)) : x);
    return x;
}
static weft_status timed_compile(weft_ctx *ctx, double *ms) {
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *x = long_body(g);
    weft_program *p = NULL;
    const double at = now_ms();
    const weft_status st = weft_compile(1, &x, &p);
    *ms = now_ms() - at;
    cr_expect(st == WEFT_OK ? p != NULL : p == NULL);
    weft_program_free(p);
    weft_graph_free(g);
    return st;
}
Test(cancel, waiting_for_the_compiler) {
    weft_ctx *plain = new_ctx(WEFT_BACKEND_INTERP, 1);
    double best = 1e9, plan, whole_ms;
    timed_compile(plain, &plan);
    weft_ctx_free(plain);
    for (int attempt = 0; attempt < 15 && best > 20; attempt++) {
        weft_ctx *ctx = new_ctx(WEFT_BACKEND_JIT, 1);
        struct canceller c = {.ctx = ctx, .after_ms = plan + 20 * attempt};
        pthread_t t;
        pthread_create(&t, NULL, cancel_later, &c);
        const weft_status st = timed_compile(ctx, &whole_ms);
        const double late = now_ms() - c.at;
        pthread_join(t, NULL);
        usable(ctx);
        weft_ctx_free(ctx);
        if (st == WEFT_OK) { // no LLVM, or a fast one: there was nothing to wait for
            cr_expect_lt(whole_ms, 3 * plan + 300);
            best = 0;
        } else {
            cr_expect_eq(st, WEFT_ECANCELED);
            if (late < best) best = late;
        }
    }
    cr_expect_leq(best, 20, "stopped after %.1f ms", best);
}

// ---- progress ---------------------------------------------------------------------------------------
struct reports {
    pthread_t thread;
    int calls, stop_at;
    uint64_t done, total;
    double last;
    bool ok;
};
static bool take_report(void *ud, uint64_t done, uint64_t total) {
    struct reports *r = ud;
    const double at = now_ms();
    r->ok &= pthread_equal(r->thread, pthread_self()) && done <= total && done >= r->done;
    r->ok &= !r->total || r->total == total;
    r->ok &= done == total || r->last <= 0 || at - r->last > 9;
    r->done = done;
    r->total = total;
    r->last = at;
    return ++r->calls != r->stop_at;
}

// Longer than a few reports, compiled and on a fast machine too.
static weft_expr *turns(weft_expr *x) {
    for (int i = 0; i < 24; i++)
        x = weft_sin(weft_tan(x));
    return x;
}

Test(cancel, progress) {
    for (int threads = 1; threads <= 2; threads++) {
        weft_ctx *ctx = new_ctx(WEFT_BACKEND_AUTO, threads);
        for (size_t k = 0; k < 3; k++) {
            weft_graph *g = weft_graph_new(ctx);
            struct reports r = {.thread = pthread_self(), .ok = true};
            weft_eval_opts o = {.size = sizeof o, .progress = take_report, .progress_ud = &r};
            const int64_t n = LONG / 2, square[2] = {SIDE, SIDE};
            const struct work w = whole(k == 0   ? turns(leaf(g, 1, &n))
                                        : k == 1 ? weft_sort(leaf(g, 1, &n), 0)
                                                 : weft_matmul(leaf(g, 2, square), leaf(g, 2, square)));
            cr_assert_eq(weft_eval(w.x, &w.to, &o), WEFT_OK);
            cr_expect(r.ok, "kind %zu", k);
            cr_expect_geq(r.calls, 2);
            cr_expect_eq(r.done, r.total);
            r = (struct reports){.thread = pthread_self(), .ok = true, .stop_at = 1};
            cr_expect_eq(weft_eval(w.x, &w.to, &o), WEFT_ECANCELED);
            cr_expect_eq(r.calls, 1);
            weft_graph_free(g);
        }
        usable(ctx);
        weft_ctx_free(ctx);
    }
}
