// SPDX-License-Identifier: MIT
// The library through its public header: views and aliasing, shapes, the graph engine's promises
// (compile counts, no allocation, deep chains), matrix products, and behaviour towards the host process.
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
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
TestSuite(views, .init = begin, .fini = end, .timeout = 120);
TestSuite(engine, .init = begin, .fini = end, .timeout = 120);
TestSuite(product, .init = begin, .fini = end, .timeout = 120);
TestSuite(process, .init = begin, .fini = end, .timeout = 120);

#define EACH_TIER(g)                                                                               \
    for (int tier_ = 0; tier_ < 2; tier_++)                                                        \
        for (weft_graph *g = weft_graph_new(tiers[tier_]); g; weft_graph_free(g), g = NULL)

static void must(weft_graph *g, weft_status st) { cr_assert_eq(st, WEFT_OK, "%s", weft_graph_error(g)); }
static weft_array vec(double *p, int64_t n) { return weft_dense(WEFT_F64, p, 1, &n); }

// ---- aliasing ---------------------------------------------------------------------------------------------
Test(views, output_is_input) {
    EACH_TIER(g) {
        double x[2] = {1, 1};
        weft_array a = vec(x, 2);
        weft_expr *e = weft_from(g, &a);
        must(g, weft_eval(weft_sub(e, weft_mul(e, weft_float(g, 0.001))), &a, NULL)); // V1
        cr_expect(x[0] == 0.999 && x[1] == 0.999);
    }
}

Test(views, add_own_transpose) {
    static const int64_t sizes[] = {8, 100, 513};
    EACH_TIER(g) {
        for (int s = 0; s < 3; s++) {
            int64_t n = sizes[s];
            double *x = malloc(8 * (size_t)(n * n));
            for (int64_t i = 0; i < n * n; i++)
                x[i] = (double)i;
            weft_array a = weft_dense(WEFT_F64, x, 2, DIMS(n, n));
            weft_expr *e = weft_from(g, &a);
            must(g, weft_eval(weft_add(e, weft_transpose(e, NULL)), &a, NULL)); // V2
            for (int64_t i = 0; i < n; i++)
                for (int64_t k = 0; k < n; k++)
                    cr_assert_eq(x[i * n + k], (double)(i * n + k + k * n + i));
            free(x);
        }
    }
}

Test(views, shifted_overlap) {
    EACH_TIER(g) {
        for (int64_t n = 10; n < 100000; n *= 21) {
            double *x = malloc(8 * (size_t)n);
            for (int dir = 0; dir < 2; dir++) {
                for (int64_t i = 0; i < n; i++)
                    x[i] = (double)i;
                weft_array lo = vec(x, n - 1), hi = vec(x + 1, n - 1);
                weft_expr *e = weft_add(weft_from(g, dir ? &hi : &lo), weft_int(g, 0));
                must(g, weft_eval(e, dir ? &lo : &hi, NULL)); // V3
                for (int64_t i = 0; i < n; i++)
                    cr_assert_eq(x[i], (double)(dir ? (i == n - 1 ? i : i + 1) : (i ? i - 1 : 0)), "dir %d i %ld", dir, (long)i);
            }
            free(x);
        }
    }
}

Test(views, two_roots_one_in_place) {
    EACH_TIER(g) {
        double x[50], y[50], old[50];
        for (int i = 0; i < 50; i++)
            x[i] = old[i] = i + 1;
        weft_array xa = vec(x, 50), ya = vec(y, 50);
        weft_expr *e = weft_log(weft_from(g, &xa));
        double want[50];
        eval_into("log", g, e, want);
        must(g, weft_eval_n(2, (weft_expr *[]){e, e}, (weft_array[]){ya, xa}, NULL)); // V6
        for (int i = 0; i < 50; i++)
            cr_assert(x[i] == want[i] && y[i] == want[i]);
        must(g, weft_eval_n(2, (weft_expr *[]){weft_add(weft_from(g, &xa), weft_from(g, &ya)), weft_neg(weft_from(g, &xa))},
                            (weft_array[]){xa, ya}, NULL));
        for (int i = 0; i < 50; i++)
            cr_assert(x[i] == 2 * want[i] && y[i] == -want[i]);
    }
}

Test(views, negative_outer_stride) {
    enum { A = 300, B = 1000 };
    static double img[A][B][2], out[A][B];
    for (int i = 0; i < A * B * 2; i++)
        (&img[0][0][0])[i] = i;
    EACH_TIER(g) {
        weft_array a = weft_dense(WEFT_F64, img, 3, DIMS(A, B, 2));
        weft_expr *e = weft_index(weft_flip(weft_from(g, &a), 0), 2, 0);
        eval_into("V7", g, weft_sub(e, weft_float(g, 0.25)), out);
        for (int i = 0; i < A; i++)
            for (int k = 0; k < B; k++)
                cr_assert_eq(out[i][k], img[A - 1 - i][k][0] - 0.25);
    }
}

Test(views, strided_outputs) {
    EACH_TIER(g) {
        double x[6] = {0, 1, 2, 3, 4, 5}, out[6], gaps[12];
        weft_array a = vec(x, 6), rev = weft_strided(WEFT_F64, out + 5, 1, DIMS(6), DIMS(-8));
        weft_expr *e = weft_mul(weft_int(g, 2), weft_flip(weft_from(g, &a), 0));
        must(g, weft_eval(e, &rev, NULL)); // V8
        for (int i = 0; i < 6; i++)
            cr_expect_eq(out[i], 2 * i);
        for (int i = 0; i < 12; i++)
            gaps[i] = -1;
        weft_array even = weft_strided(WEFT_F64, gaps, 1, DIMS(6), DIMS(16));
        must(g, weft_eval(weft_mul(weft_int(g, 2), weft_from(g, &a)), &even, NULL));
        for (int i = 0; i < 12; i++)
            cr_expect_eq(gaps[i], i % 2 ? -1 : i);
    }
}

Test(views, outputs_that_overlap) {
    EACH_TIER(g) {
        double x[8] = {0}, out[8];
        weft_array a = vec(x, 4), zero = weft_strided(WEFT_F64, out, 1, DIMS(4), DIMS(0));
        weft_array close = weft_strided(WEFT_F64, out, 2, DIMS(2, 2), DIMS(8, 8));
        weft_array m = weft_dense(WEFT_F64, x, 2, DIMS(2, 2));
        weft_expr *e = weft_neg(weft_from(g, &a)), *f = weft_neg(weft_from(g, &m));
        cr_expect_eq(weft_eval(e, &zero, NULL), WEFT_EALIAS); // V12
        cr_expect_eq(weft_eval(f, &close, NULL), WEFT_EALIAS);
        weft_array lo = vec(out, 4), mid = vec(out + 2, 4);
        cr_expect_eq(weft_eval_n(2, (weft_expr *[]){e, e}, (weft_array[]){lo, mid}, NULL), WEFT_EALIAS);
        weft_array even = weft_strided(WEFT_F64, out, 1, DIMS(4), DIMS(16));
        weft_array odd = weft_strided(WEFT_F64, out + 1, 1, DIMS(4), DIMS(16));
        must(g, weft_eval_n(2, (weft_expr *[]){e, e}, (weft_array[]){even, odd}, NULL)); // interleaved is fine
    }
}

// ---- shapes -----------------------------------------------------------------------------------------------
Test(views, broadcasting) {
    EACH_TIER(g) {
        double x[24];
        for (int i = 0; i < 24; i++)
            x[i] = i;
        weft_array a11 = weft_dense(WEFT_F64, x, 2, DIMS(1, 1)), a01 = weft_dense(WEFT_F64, x, 2, DIMS(0, 1));
        weft_array a021 = weft_dense(WEFT_F64, x, 3, DIMS(0, 2, 2));
        weft_array a310 = weft_dense(WEFT_F64, x, 3, DIMS(3, 1, 0)), b = weft_dense(WEFT_F64, x, 3, DIMS(1, 4, 1));
        weft_expr *e = weft_add(weft_from(g, &a11), weft_from(g, &a01)); // V10
        cr_assert(e && weft_expr_dims(e)[0] == 0 && weft_expr_dims(e)[1] == 1);
        eval_into("V10", g, e, x);
        e = weft_add(weft_float(g, 1), weft_from(g, &a021));
        cr_assert(e && weft_expr_rank(e) == 3 && weft_expr_dims(e)[0] == 0);
        e = weft_mul(weft_from(g, &a310), weft_from(g, &b));
        cr_assert(e && weft_expr_dims(e)[0] == 3 && weft_expr_dims(e)[1] == 4 && weft_expr_dims(e)[2] == 0);
        eval_into("V10", g, e, x);
        weft_array a21 = weft_dense(WEFT_F64, x, 2, DIMS(2, 1));
        cr_expect_null(weft_add(weft_from(g, &a21), weft_from(g, &a01)));
        cr_expect_eq(weft_graph_status(g), WEFT_ESHAPE);
        weft_graph_reset(g);
        double p = 3, q = 4, r = 0;
        weft_array pa = weft_dense(WEFT_F64, &p, 0, NULL), qa = weft_dense(WEFT_F64, &q, 0, NULL);
        eval_into("V11", g, weft_mul(weft_from(g, &pa), weft_from(g, &qa)), &r);
        cr_expect_eq(r, 12);
    }
}

Test(views, broadcast_error) {
    EACH_TIER(g) {
        double x[4] = {0};
        weft_array a = weft_dense(WEFT_F64, x, 2, DIMS(2, 1)), b = weft_dense(WEFT_F64, x, 2, DIMS(3, 1));
        cr_expect_null(weft_add(weft_from(g, &a), weft_from(g, &b)));
        cr_expect_eq(weft_graph_status(g), WEFT_ESHAPE);
        cr_expect(strstr(weft_graph_error(g), "f64[2,1]") && strstr(weft_graph_error(g), "add"), "%s", weft_graph_error(g));
    }
}

Test(views, f_order_output) {
    enum { R = 37, C = 53 };
    EACH_TIER(g) {
        static double x[R][C], y[R][C], out[C][R];
        for (int i = 0; i < R * C; i++)
            (&x[0][0])[i] = i, (&y[0][0])[i] = 1.0 / (i + 1);
        weft_array a = weft_dense(WEFT_F64, x, 2, DIMS(R, C)), b = weft_dense(WEFT_F64, y, 2, DIMS(R, C));
        weft_array o = weft_strided(WEFT_F64, out, 2, DIMS(R, C), DIMS(8, 8 * R));
        must(g, weft_eval(weft_sub(weft_mul(weft_from(g, &a), weft_from(g, &b)), weft_from(g, &a)), &o, NULL)); // V14
        for (int i = 0; i < R; i++)
            for (int k = 0; k < C; k++)
                cr_assert_eq(out[k][i], x[i][k] * y[i][k] - x[i][k]);
    }
}

Test(views, hostile_shapes) {
    EACH_TIER(g) {
        double x = 0;
        weft_array a = weft_dense(WEFT_F64, &x, 2, DIMS(1000000000, 1000000000));
        cr_expect_null(weft_from(g, &a)); // V19: the byte size overflows
        cr_expect_eq(weft_graph_status(g), WEFT_ESHAPE);
        weft_graph_reset(g);
        weft_array neg = weft_dense(WEFT_F64, &x, 1, DIMS(-1));
        cr_expect_null(weft_from(g, &neg));
        weft_graph_reset(g);
        int64_t big[] = {1LL << 32, 1LL << 32, 4};
        weft_array wrap = weft_dense(WEFT_U8, &x, 3, big);
        cr_expect_null(weft_from(g, &wrap));
        weft_graph_reset(g);
        weft_array rank = {.dtype = WEFT_F64, .rank = 33, .data = &x};
        cr_expect_null(weft_from(g, &rank));
        weft_graph_reset(g);
        weft_array one = weft_dense(WEFT_F64, &x, 0, NULL);
        cr_expect_null(weft_broadcast_to(weft_from(g, &one), 2, DIMS(1LL << 40, 1LL << 40)));
        cr_expect_eq(weft_graph_status(g), WEFT_ESHAPE);
    }
}

Test(views, sums_over_axes) {
    EACH_TIER(g) {
        double x[3][4][5], t[5][4][3], a[4], b[4];
        for (int i = 0; i < 60; i++)
            (&x[0][0][0])[i] = i * i;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++)
                for (int k = 0; k < 5; k++)
                    t[k][j][i] = x[i][j][k];
        weft_reduce r = {.size = sizeof r, .axes = (int[]){0, 2}, .naxes = 2};
        weft_array xa = weft_dense(WEFT_F64, x, 3, DIMS(3, 4, 5)), ta = weft_dense(WEFT_F64, t, 3, DIMS(5, 4, 3));
        eval_into("R23", g, weft_sum(weft_from(g, &xa), &r), a);
        eval_into("R23", g, weft_sum(weft_transpose(weft_from(g, &ta), NULL), &r), b);
        for (int j = 0; j < 4; j++) {
            double s = 0;
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 5; k++)
                    s += x[i][j][k];
            cr_expect(a[j] == s && b[j] == s);
        }
        weft_reduce twice = {.size = sizeof twice, .axes = (int[]){0, -3}, .naxes = 2};
        cr_expect_null(weft_sum(weft_from(g, &xa), &twice));
        cr_expect_eq(weft_graph_status(g), WEFT_EINVAL);
    }
}

Test(views, layouts_give_the_same_sums) {
    enum { R = 301, C = 257 };
    static float x[R][C], t[C][R];
    for (int i = 0; i < R; i++)
        for (int k = 0; k < C; k++)
            x[i][k] = t[k][i] = sinf((float)(i * C + k)) * 1e3f;
    float want[2][R + C] = {{0}};
    for (int layout = 0; layout < 4; layout++)
        for (int axis = 0; axis < 2; axis++)
            EACH_TIER(g) {
                float got[R + C];
                weft_reduce r = along(&axis, false);
                weft_array d = weft_dense(WEFT_F32, x, 2, DIMS(R, C));
                weft_array f = weft_strided(WEFT_F32, t, 2, DIMS(R, C), DIMS(4, 4 * R));
                weft_expr *e = weft_from(g, layout & 1 ? &f : &d);
                if (layout & 2) e = weft_flip(weft_flip(e, 0), 0);
                eval_into("R22", g, weft_sum(e, &r), got);
                size_t n = sizeof(float) * (axis ? R : C);
                if (layout == 0 && want[axis][0] == 0) memcpy(want[axis], got, n);
                cr_expect_eq(memcmp(want[axis], got, n), 0, "axis %d layout %d", axis, layout);
            }
}

// ---- the engine ---------------------------------------------------------------------------------------------
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
    on_stack(8 << 20, deep_chain, tiers[0]);
    on_stack(256 << 10, deep_chain, tiers[0]);
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
    if (clock_s() - start > 3) return "10 000 operations took more than 3 s";
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

// ---- products -------------------------------------------------------------------------------------------------
Test(product, nothing_to_add) { // M1, M2
    EACH_TIER(g) {
        double a[1] = {0}, out[6] = {NAN, NAN, NAN, NAN, NAN, NAN};
        weft_array x = weft_dense(WEFT_F64, a, 2, DIMS(2, 0)), y = weft_dense(WEFT_F64, a, 2, DIMS(0, 3));
        eval_into("M1", g, weft_matmul(weft_from(g, &x), weft_from(g, &y)), out);
        for (int i = 0; i < 6; i++)
            cr_expect_eq(out[i], 0);
    }
}

Test(product, exact_small) { // M9, M2
    static const int64_t sizes[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33};
    EACH_TIER(g) {
        for (int im = 0; im < 12; im++)
            for (int in = 0; in < 12; in++)
                for (int ik = 0; ik < 12; ik += 1 + (im + in) % 3) {
                    int64_t m = sizes[im], n = sizes[in], k = sizes[ik];
                    static float a[33 * 33], b[33 * 33], c[33 * 33];
                    for (int i = 0; i < 33 * 33; i++)
                        a[i] = (float)(i % 13 - 6), b[i] = (float)(i % 7 - 3), c[i] = NAN;
                    weft_array x = weft_dense(WEFT_F32, a, 2, DIMS(m, k)), y = weft_dense(WEFT_F32, b, 2, DIMS(k, n));
                    eval_into("M9", g, weft_matmul(weft_from(g, &x), weft_from(g, &y)), c);
                    for (int64_t i = 0; i < m; i++)
                        for (int64_t j = 0; j < n; j++) {
                            float s = 0;
                            for (int64_t l = 0; l < k; l++)
                                s += a[i * k + l] * b[l * n + j];
                            cr_assert_eq(c[i * n + j], s);
                        }
                }
    }
}

Test(product, overlap_and_views) { // M5, M6
    EACH_TIER(g) {
        double a[16], old[16], want[16];
        for (int i = 0; i < 16; i++)
            a[i] = old[i] = i - 5;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                want[4 * i + j] = 0;
                for (int k = 0; k < 4; k++)
                    want[4 * i + j] += old[4 * i + k] * old[4 * j + k];
            }
        weft_array x = weft_dense(WEFT_F64, a, 2, DIMS(4, 4));
        weft_expr *e = weft_from(g, &x);
        must(g, weft_eval(weft_matmul(e, weft_transpose(e, NULL)), &x, NULL));
        cr_expect_eq(memcmp(a, want, sizeof a), 0);
        double rev[16], plain[16], copy[16];
        weft_array d = weft_dense(WEFT_F64, old, 2, DIMS(4, 4));
        for (int i = 0; i < 16; i++)
            copy[i] = old[4 * (3 - i / 4) + 3 - i % 4];
        weft_array c = weft_dense(WEFT_F64, copy, 2, DIMS(4, 4));
        weft_expr *v = weft_flip(weft_flip(weft_from(g, &d), 0), 1);
        eval_into("M6", g, weft_matmul(v, weft_from(g, &d)), rev);
        eval_into("M6", g, weft_matmul(weft_from(g, &c), weft_from(g, &d)), plain);
        cr_expect_eq(memcmp(rev, plain, sizeof rev), 0);
        double row[4] = {1, 2, 3, 4}, r1[16], r2[16], full[16];
        for (int i = 0; i < 16; i++)
            full[i] = row[i % 4];
        weft_array z = weft_strided(WEFT_F64, row, 2, DIMS(4, 4), DIMS(0, 8)), f = weft_dense(WEFT_F64, full, 2, DIMS(4, 4));
        eval_into("M6", g, weft_matmul(weft_from(g, &z), weft_from(g, &d)), r1);
        eval_into("M6", g, weft_matmul(weft_from(g, &f), weft_from(g, &d)), r2);
        cr_expect_eq(memcmp(r1, r2, sizeof r1), 0);
    }
}

Test(product, minus_zero) { // M8: accumulation starts from +0
    EACH_TIER(g) {
        double a[2] = {-0.0, 1}, b = 1, out[2];
        weft_array x = weft_dense(WEFT_F64, a, 2, DIMS(2, 1)), y = weft_dense(WEFT_F64, &b, 2, DIMS(1, 1));
        eval_into("M8", g, weft_matmul(weft_from(g, &x), weft_from(g, &y)), out);
        cr_expect(out[0] == 0 && !signbit(out[0]) && out[1] == 1);
    }
}

Test(product, same_bits_at_every_thread_count) { // M10, R22
    enum { M = 257, K = 700, N = 131, L = 400000 };
    static double a[M * K], b[K * N], c[3][M * N], v[L];
    double s[3];
    for (int i = 0; i < M * K; i++)
        a[i] = sin(i);
    for (int i = 0; i < K * N; i++)
        b[i] = cos(i);
    for (int i = 0; i < L; i++)
        v[i] = sin(i) * exp(sin(3.0 * i));
    for (int t = 0; t < 3; t++) {
        static const int counts[] = {1, 2, 7};
        weft_ctx *ctx = new_ctx(WEFT_BACKEND_JIT, counts[t]);
        weft_graph *g = weft_graph_new(ctx);
        weft_array x = weft_dense(WEFT_F64, a, 2, DIMS(M, K)), y = weft_dense(WEFT_F64, b, 2, DIMS(K, N)), w = vec(v, L);
        eval_into("M10", g, weft_matmul(weft_from(g, &x), weft_from(g, &y)), c[t]);
        eval_into("R22", g, weft_sum(weft_from(g, &w), NULL), &s[t]);
        weft_graph_free(g);
        weft_ctx_free(ctx);
    }
    cr_expect(!memcmp(c[0], c[1], sizeof c[0]) && !memcmp(c[0], c[2], sizeof c[0]));
    cr_expect(!memcmp(&s[0], &s[1], 8) && !memcmp(&s[0], &s[2], 8));
}

// ---- the host process -----------------------------------------------------------------------------------------
// The data is the same whatever the rounding mode of the caller: integers.
static bool small_work(weft_ctx *ctx, double *result) {
    static double x[5000];
    for (int i = 0; i < 5000; i++)
        x[i] = (i % 256) * 0.015625;
    weft_graph *g = weft_graph_new(ctx);
    weft_array a = vec(x, 5000), o = weft_dense(WEFT_F64, result, 0, NULL);
    weft_expr *e = weft_from(g, &a);
    bool ok = !weft_eval(weft_sum(weft_true_divide(weft_exp(weft_neg(e)), weft_add(e, weft_float(g, 3))), NULL), &o, NULL);
    weft_graph_free(g);
    return ok;
}

Test(process, floating_point_environment) { // X1
    for (int t = 0; t < 2; t++) {
        double plain = 0, rounded = 0;
        cr_assert(small_work(tiers[t], &plain));
        static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
        for (int m = 0; m < 3; m++) {
            fesetround(modes[m]);
            feclearexcept(FE_ALL_EXCEPT);
            errno = 77;
            bool ok = small_work(tiers[t], &rounded);
            int mode = fegetround(), e = errno, flags = fetestexcept(FE_ALL_EXCEPT);
            fesetround(FE_TONEAREST);
            cr_expect(ok && mode == modes[m] && e == 77 && flags == 0, "mode %d errno %d flags %#x", mode, e, flags);
            cr_expect_eq(memcmp(&plain, &rounded, 8), 0, "rounding mode %d changes the result", m);
        }
    }
}

Test(process, fork_after_use) { // X2
    for (int t = 0; t < 2; t++) {
        double before = 0, after = 0;
        cr_assert(small_work(tiers[t], &before));
        pid_t child = fork();
        if (child == 0) {
            double mine = 0;
            alarm(20);
            _exit(small_work(tiers[t], &mine) && memcmp(&mine, &before, 8) == 0 ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", status);
        cr_expect(small_work(tiers[t], &after) && !memcmp(&before, &after, 8));
    }
}

static void *own_context(void *arg) {
    double mine = 0;
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_INTERP, 2);
    bool ok = small_work(ctx, &mine);
    weft_ctx_free(ctx);
    return ok && !memcmp(&mine, arg, 8) ? NULL : "wrong";
}
struct shared {
    weft_ctx *ctx;
    weft_program *p;
    _Atomic int bad;
};
static void *shared_program(void *arg) {
    struct shared *s = arg;
    static _Thread_local double x[3000], out[3000];
    weft_workspace *ws = NULL;
    if (weft_workspace_new(s->ctx, &ws)) return atomic_fetch_add(&s->bad, 1), NULL;
    for (int64_t n = 2800; n < 3000; n += 7) {
        for (int i = 0; i < n; i++)
            x[i] = (double)(i + n);
        weft_array in = vec(x, n), o = vec(out, n);
        if (weft_run(s->p, ws, &in, &o, NULL, 0)) atomic_fetch_add(&s->bad, 1);
        for (int i = 0; i < n; i++)
            if (out[i] != sqrt(x[i] * x[i] + x[i])) atomic_fetch_add(&s->bad, 1);
    }
    weft_workspace_free(ws);
    return NULL;
}

Test(process, many_host_threads) { // X4
    enum { T = 32 };
    pthread_t t[T];
    double want = 0;
    cr_assert(small_work(tiers[0], &want));
    for (int i = 0; i < T; i++)
        cr_assert_eq(pthread_create(&t[i], NULL, own_context, &want), 0);
    for (int i = 0; i < T; i++) {
        void *verdict = NULL;
        pthread_join(t[i], &verdict);
        cr_expect_null(verdict);
    }
    for (int k = 0; k < 2; k++) {
        struct shared s = {.ctx = tiers[k]};
        weft_graph *g = weft_graph_new(tiers[k]);
        weft_expr *x = weft_input(g, "x", WEFT_F64, 1, DIMS(3000)), *f = weft_sqrt(weft_add(weft_mul(x, x), x));
        must(g, weft_compile(1, &f, &s.p));
        for (int i = 0; i < T; i++)
            cr_assert_eq(pthread_create(&t[i], NULL, shared_program, &s), 0);
        for (int i = 0; i < T; i++)
            pthread_join(t[i], NULL);
        cr_expect_eq(s.bad, 0);
        weft_program_free(s.p);
        weft_graph_free(g);
    }
}

static void say_once(void *ud, weft_log_level level, const char *line) {
    (void)level, (void)line;
    (*(int *)ud)++;
}
Test(process, without_llvm) {
    int lines = 0;
    double want = 0, got = 0;
    cr_assert(small_work(tiers[0], &want));
    setenv("WEFT_JIT_MODULE", "/nonexistent/libweft-jit.so", 1);
    weft_ctx *ctx = NULL;
    weft_ctx_opts o = {.size = sizeof o, .backend = WEFT_BACKEND_JIT, .log = say_once, .log_ud = &lines, .threads = 1};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    for (int i = 0; i < 5; i++)
        cr_assert(small_work(ctx, &got));
    cr_expect_eq(memcmp(&want, &got, 8), 0);
    weft_ctx_free(ctx);
    unsetenv("WEFT_JIT_MODULE");
    if (lines != 1) cr_expect_eq(lines, 0, "%d lines", lines); // linked in statically: nothing to say
}

Test(process, background_tier_gives_the_same_bits) {
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_AUTO, 2);
    double want = 0, got = 0;
    cr_assert(small_work(tiers[0], &want));
    for (int i = 0; i < 3000; i++) {
        cr_assert(small_work(ctx, &got));
        cr_assert_eq(memcmp(&want, &got, 8), 0, "run %d", i);
    }
    weft_ctx_wait(ctx);
    cr_assert(small_work(ctx, &got));
    cr_expect_eq(memcmp(&want, &got, 8), 0);
    weft_ctx_free(ctx);
}
