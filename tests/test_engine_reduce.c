// SPDX-License-Identifier: MIT
// Reductions through the public header give the same bits whichever way they go: whole runs by one kernel,
// fused leaf by leaf, strided, as a row of two, several in one sweep, in both tiers, on one to three
// threads. And compensated sums against exact ones.
#include <math.h>

#include "cases.h"

#define COUNT(a) (int)(sizeof(a) / sizeof((a)[0]))
enum { MOST = 70001, CTX = 5 };
static weft_ctx *ctx[CTX]; // the first, interpreted on one thread, is what the others are held to
static void begin(void) {
    for (int i = 0; i < CTX; i++)
        ctx[i] = new_ctx(i == 0 || i == 4 ? WEFT_BACKEND_INTERP : WEFT_BACKEND_JIT, i == 4 ? 3 : i == 0 ? 1 : i);
}
static void end(void) {
    for (int i = 0; i < CTX; i++)
        weft_ctx_free(ctx[i]);
}
TestSuite(reductions, .init = begin, .fini = end, .timeout = PATIENCE * 600);

static uint64_t next(uint64_t *s) {
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return *s >> 17;
}
static void put(weft_dtype t, void *at, double v) {
    const float f = (float)v;
    const int64_t i = (int64_t)v;
    if (t == WEFT_F64)
        memcpy(at, &v, 8);
    else if (t == WEFT_F32)
        memcpy(at, &f, 4);
    else
        memcpy(at, &i, weft_dtype_size(t));
}
// kind 0: ordinary; 1: with a NaN and zeros of both signs (floats); 2: many equal
static void fill(weft_dtype t, int kind, int64_t n, char *x) {
    uint64_t s = (uint64_t)(n * 31 + kind);
    const size_t size = weft_dtype_size(t);
    for (int64_t i = 0; i < n; i++) {
        const double r = (double)(next(&s) % 2001) / 1000 - 1;
        double v = t == WEFT_F64 || t == WEFT_F32 ? r * exp2((double)(next(&s) % 20)) : r * 100;
        if (t == WEFT_BOOL) v = next(&s) % 3 == 0;
        if (kind == 2) v = (double)(next(&s) % 2);
        if (kind == 1 && i % 7 == 0) v = i % 2 ? -0.0 : 0.0;
        put(t, x + (size_t)i * size, v);
    }
    if (kind == 1 && (t == WEFT_F32 || t == WEFT_F64)) put(t, x + (size_t)(n * 2 / 3) * size, NAN);
}

enum { SUM, PROD, MIN, MAX, NANMAX, NANSUM, ARGMAX, NANARGMIN, MEAN, ANY, ALL, COUNT, WAYS };
static weft_expr *build(int what, weft_expr *x, const int *axis) {
    weft_reduce r = along(axis, false), skip = r;
    skip.nan = WEFT_NAN_SKIP;
    switch (what) {
    case SUM: return weft_sum(x, &r);
    case PROD: return weft_prod(x, &r);
    case MIN: return weft_min(x, &r);
    case MAX: return weft_max(x, &r);
    case NANMAX: return weft_max(x, &skip);
    case NANSUM: return weft_sum(x, &skip);
    case ARGMAX: return weft_argmax(x, &r);
    case NANARGMIN: return weft_argmin(x, &skip);
    case MEAN: return weft_mean(x, &r);
    case ANY: return weft_any(x, &r);
    case ALL: return weft_all(x, &r);
    default: return weft_count_nonzero(x, &r);
    }
}

static char data[MOST * 8], twice[2 * MOST * 16], unit[8];

enum form { FUSED, PLAIN, STRIDED, ROWS, FORMS };
// The result in the first 8 bytes of out (ROWS: the second row is the same data).
static bool run(weft_ctx *c, int what, enum form form, weft_dtype t, int64_t n, uint64_t out[2]) {
    static const int last = 1;
    const int64_t size = (int64_t)weft_dtype_size(t), two[2] = {2, n};
    weft_array x = weft_dense(t, data, 1, &n), one = weft_dense(t, unit, 0, NULL);
    weft_graph *g = weft_graph_new(c);
    if (form == STRIDED) {
        for (int64_t i = 0; i < n; i++)
            memcpy(twice + 2 * i * size, data + i * size, (size_t)size);
        x = weft_dense(t, twice, 1, &n);
        x.strides[0] = 2 * size;
    }
    if (form == ROWS) {
        memcpy(twice, data, (size_t)(n * size));
        memcpy(twice + n * size, data, (size_t)(n * size));
        x = weft_dense(t, twice, 2, two);
    }
    weft_expr *e = weft_from(g, &x);
    if (form == FUSED) e = t == WEFT_BOOL ? weft_logical_and(e, weft_from(g, &one)) : weft_mul(e, weft_from(g, &one));
    weft_expr *f = build(what, e, form == ROWS ? &last : NULL);
    cr_assert(f, "%s", weft_graph_error(g));
    weft_array o = weft_dense(weft_expr_dtype(f), out, weft_expr_rank(f), weft_expr_dims(f));
    out[0] = out[1] = 0;
    const weft_status st = weft_eval(f, &o, NULL);
    if (form == ROWS && st == WEFT_OK) {
        const size_t es = weft_dtype_size(weft_expr_dtype(f));
        uint64_t a = 0, b = 0;
        memcpy(&a, out, es);
        memcpy(&b, (char *)out + es, es);
        cr_assert(same_bits(weft_expr_dtype(f), &a, &b), "rows differ");
        out[0] = a;
    }
    cr_assert(st == WEFT_OK || what == NANARGMIN, "%s", weft_graph_error(g));
    weft_graph_free(g);
    return st == WEFT_OK;
}

static weft_dtype type_of(int what, weft_dtype t) {
    if (what == ARGMAX || what == NANARGMIN || what == COUNT) return WEFT_I64;
    if (what == ANY || what == ALL) return WEFT_BOOL;
    if (what == MEAN) return t == WEFT_F32 ? t : WEFT_F64;
    if (what > PROD && what != NANSUM) return t;
    return t == WEFT_F32 || t == WEFT_F64 ? t : WEFT_I64;
}

static void check(weft_dtype t, int what, int64_t n, int kind) {
    uint64_t want[2], got[2];
    fill(t, kind, n, data);
    put(t, unit, 1);
    const bool fine = run(ctx[0], what, FUSED, t, n, want);
    for (int c = 0; c < CTX; c++)
        for (int form = 0; form < FORMS; form++) {
            const bool ok = run(ctx[c], what, (enum form)form, t, n, got);
            cr_assert(ok == fine && (!ok || same_bits(type_of(what, t), got, want)),
                      "%s reduction %d n %lld kind %d context %d form %d: %llx, not %llx", weft_dtype_name(t),
                      what, (long long)n, kind, c, form, (unsigned long long)got[0],
                      (unsigned long long)want[0]);
        }
}

Test(reductions, every_way_gives_the_same_bits) {
    static const weft_dtype types[] = {WEFT_F64, WEFT_F32, WEFT_BOOL, WEFT_I8, WEFT_U16, WEFT_I32};
    static const int64_t sizes[] = {1, 9, 255, 256, 257, 1000, 4095, 4097, 9000, MOST};
    for (int t = 0; t < COUNT(types); t++)
        for (int what = 0; what < WAYS; what++)
            for (int i = 0; i < COUNT(sizes); i++)
                check(types[t], what, sizes[i], (i + what) % 3);
}

// several reductions of one operand take turns over pieces
Test(reductions, several_in_one_sweep) {
    static const int all[] = {SUM, MIN, MAX, ARGMAX, MEAN};
    static const int64_t sizes[] = {300, 4096, 4097, 20000, MOST};
    for (int s = 0; s < COUNT(sizes); s++)
        for (int c = 0; c < CTX; c++) {
            const int64_t n = sizes[s];
            fill(WEFT_F64, s % 3, n, data);
            weft_graph *g = weft_graph_new(ctx[c]);
            weft_array x = weft_dense(WEFT_F64, data, 1, &n), o[COUNT(all)];
            weft_expr *e = weft_from(g, &x), *f[COUNT(all)];
            uint64_t got[COUNT(all)], want[2];
            for (int i = 0; i < COUNT(all); i++) {
                f[i] = build(all[i], e, NULL);
                o[i] = weft_dense(weft_expr_dtype(f[i]), &got[i], 0, NULL);
            }
            must(g, weft_eval_n(COUNT(all), f, o, NULL));
            weft_graph_free(g);
            for (int i = 0; i < COUNT(all); i++) {
                put(WEFT_F64, unit, 1);
                run(ctx[0], all[i], FUSED, WEFT_F64, n, want);
                cr_assert(same_bits(type_of(all[i], WEFT_F64), &got[i], want), "reduction %d n %lld context %d",
                          all[i], (long long)n, c);
            }
        }
}

// ---- compensated sums -------------------------------------------------------------------------------
static double compensated(weft_ctx *c, weft_dtype t, void *x, int64_t n, bool mean) {
    weft_graph *g = weft_graph_new(c);
    weft_array a = weft_dense(t, x, 1, &n);
    weft_reduce r = {.size = sizeof r, .compensated = true};
    weft_expr *f = mean ? weft_mean(weft_from(g, &a), &r) : weft_sum(weft_from(g, &a), &r);
    double v = 0;
    float s = 0;
    eval_into("compensated", g, f, t == WEFT_F32 ? (void *)&s : (void *)&v);
    weft_graph_free(g);
    return t == WEFT_F32 ? (double)s : v;
}
Test(reductions, compensated_sums_are_exact) {
    static double x[20000];
    uint64_t s = 5;
    for (int c = 0; c < CTX; c++) {
        // huge terms that cancel: what is left is the sum of the small ones
        double small = 0;
        for (int i = 0; i < 20000; i += 2) {
            x[i] = (i % 4 ? -1 : 1) * 1e12;
            x[i + 1] = (double)(next(&s) % 1024) / 1024;
            small += x[i + 1]; // exact
        }
        cr_assert(compensated(ctx[c], WEFT_F64, x, 20000, false) == small);
        cr_assert(compensated(ctx[c], WEFT_F64, x, 20000, true) == small / 20000);
        for (int i = 0; i < 20000; i++)
            x[i] = 0.1;
        cr_assert(compensated(ctx[c], WEFT_F64, x, 20000, false) == (double)(20000 * (long double)0.1));
        for (int i = 0; i < 20000; i++)
            x[i] = -0.0;
        cr_assert(signbit(compensated(ctx[c], WEFT_F64, x, 20000, false)));
        cr_assert(compensated(ctx[c], WEFT_F64, x, 0, false) == 0);
        x[7] = INFINITY;
        cr_assert(compensated(ctx[c], WEFT_F64, x, 20000, false) == INFINITY);
        x[9] = -INFINITY;
        cr_assert(isnan(compensated(ctx[c], WEFT_F64, x, 20000, false)));
        x[7] = x[9] = 1e308;
        x[11] = -1e308; // the sum of the magnitudes overflows: the plain sum
        cr_assert(compensated(ctx[c], WEFT_F64, x, 12, false) == 1e308);
        x[7] = 5e-324, x[9] = 5e-324, x[11] = -5e-324;
        cr_assert(compensated(ctx[c], WEFT_F64, x, 12, false) == 5e-324);
        float f[3] = {1e8f, 1, -1e8f};
        cr_assert(compensated(ctx[c], WEFT_F32, f, 3, false) == 1);
    }
}
