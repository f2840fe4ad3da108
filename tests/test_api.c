// SPDX-License-Identifier: MIT
// The library through its public header: aliasing, shapes and matrix products, in both tiers.
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
TestSuite(views, .init = begin, .fini = end, .timeout = PATIENCE * 120);
TestSuite(product, .init = begin, .fini = end, .timeout = PATIENCE * 120);

// ---- roots ------------------------------------------------------------------------------------------------
// A root that is NULL or of another graph, before, between and behind good ones: a status, a sentence, and nothing
// is lost. (A fuzzer found a crash where the first was NULL and no builder had failed.)
Test(views, roots_that_are_none) {
    EACH_TIER(g) {
        weft_graph *other = weft_graph_new(tiers[tier_]);
        double v = 2, o[3] = {0};
        weft_expr *good = weft_float(g, 3), *foreign = weft_float(other, v);
        weft_array out[3];
        for (int i = 0; i < 3; i++)
            out[i] = weft_dense(WEFT_F64, &o[i], 0, NULL);
        for (int bad = 0; bad < 6; bad++) {
            weft_expr *root[3] = {good, good, good};
            weft_program *p = NULL;
            weft_report *report = NULL;
            char *text = NULL;
            void *bytes = NULL;
            size_t size = 0;
            root[bad % 3] = bad < 3 ? NULL : foreign;
            cr_expect_eq(weft_eval_n(3, root, out, NULL), WEFT_EINVAL, "eval_n %d", bad);
            cr_expect(weft_graph_error(bad == 3 ? other : g)[0] != 0, "no sentence, %d", bad);
            cr_expect_eq(weft_compile(3, root, &p), WEFT_EINVAL, "compile %d", bad);
            cr_expect_eq(weft_prewarm(3, root), WEFT_EINVAL, "prewarm %d", bad);
            cr_expect_eq(weft_dump(3, root, WEFT_DUMP_PLAN, WEFT_ISA_BEST, &text), WEFT_EINVAL, "dump %d", bad);
            cr_expect_eq(weft_graph_save(3, root, &bytes, &size), WEFT_EINVAL, "save %d", bad);
            cr_expect_eq(weft_report_new(3, root, false, WEFT_ISA_BEST, &report), WEFT_EINVAL, "report %d", bad);
            cr_expect(!p && !text && !bytes && !report);
        }
        weft_expr *all[3] = {good, good, good};
        must(g, weft_eval_n(3, all, out, NULL));
        cr_expect(o[0] == 3 && o[2] == 3);
        weft_graph_free(other);
    }
}

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

// Plans are found by the outputs' strides too: graphs of their own, so that no graph remembers the plan itself.
Test(views, one_expression_into_outputs_of_all_strides) {
    static const int64_t steps[] = {8, 16, -8, 24, 8, -16};
    for (int t = 0; t < 2; t++)
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            weft_graph *g = weft_graph_new(tiers[t]);
            double x[6] = {0, 1, 2, 3, 4, 5}, out[18];
            weft_array a = vec(x, 6);
            const int64_t step = steps[s] / 8, first = step < 0 ? -5 * step : 0;
            weft_array o = weft_strided(WEFT_F64, out + first, 1, DIMS(6), DIMS(steps[s]));
            for (int i = 0; i < 18; i++)
                out[i] = -1;
            must(g, weft_eval(weft_mul(weft_int(g, 3), weft_from(g, &a)), &o, NULL));
            for (int i = 0; i < 6; i++) {
                cr_expect_eq(out[first + i * step], 3 * i, "step %d", (int)step);
                out[first + i * step] = -1;
            }
            for (int i = 0; i < 18; i++)
                cr_expect_eq(out[i], -1, "step %d writes at %d", (int)step, i);
            weft_graph_free(g);
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
