// SPDX-License-Identifier: MIT
// The matrix product against the triple loop: every size to 40, every layout, every dtype, block
// edges, partitions, threads, special values, batches, the parts reported to epilogues, and tile
// against tile.
#include "gemm_case.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define CHECK(c, threads)                                                                          \
    do {                                                                                           \
        const char *bad_ = case_check(&(c), (threads));                                            \
        cr_assert(!*bad_, "%s", bad_);                                                             \
    } while (0)

static const weft_dtype all_types[] = {WEFT_BOOL, WEFT_I8,  WEFT_I16, WEFT_I32, WEFT_I64, WEFT_U8,
                                       WEFT_U16,  WEFT_U32, WEFT_U64, WEFT_F32, WEFT_F64};

// ---- every small size, exactly
// ---------------------------------------------------------------------- Sums of small integers are
// exact, so a plain loop in double is the oracle and any order would do.
static void exact(weft_dtype t, enum kern_isa isa, int64_t top, int64_t step) {
    enum { SIDE = 40 };
    static double a[SIDE * SIDE], b[SIDE * SIDE], want[SIDE * SIDE];
    static float af[SIDE * SIDE], bf[SIDE * SIDE];
    static double got[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        a[i] = (double)(test_random() % 17) - 8, af[i] = (float)a[i];
        b[i] = (double)(test_random() % 17) - 8, bf[i] = (float)b[i];
    }
    const bool wide = t == WEFT_F64;
    const int64_t z = wide ? 8 : 4;
    static _Alignas(64) unsigned char scratch[1 << 20];
    for (int64_t m = 1; m <= top; m += step)
        for (int64_t n = 1; n <= top; n += step) {
            memset(want, 0, sizeof want);
            for (int64_t k = 1; k <= top; k++) {
                for (int64_t i = 0; i < m; i++)
                    for (int64_t j = 0; j < n; j++)
                        want[i * n + j] += a[i * SIDE + k - 1] * b[(k - 1) * SIDE + j];
                if ((k - 1) % step) continue;
                struct kern_gemm g = {.dtype = t,
                                      .isa = isa,
                                      .m = m,
                                      .n = n,
                                      .k = k,
                                      .a = wide ? (void *)a : af,
                                      .a_rs = z * SIDE,
                                      .a_cs = z,
                                      .b = wide ? (void *)b : bf,
                                      .b_rs = z * SIDE,
                                      .b_cs = z,
                                      .c = got,
                                      .c_rs = z * n,
                                      .c_cs = z,
                                      .scratch = scratch};
                cr_assert_leq(kern_gemm_scratch(&g, 1), sizeof scratch);
                memset(got, 0xff, (size_t)(m * n * z));
                kern_gemm_run(&g);
                for (int64_t i = 0; i < m * n; i++) {
                    const double x = wide ? got[i] : (double)((float *)(void *)got)[i];
                    cr_assert(x == want[i], "%s %s %dx%dx%d element %d: %g, not %g", dtype_name(t),
                              kern_isa_name(isa), (int)m, (int)n, (int)k, (int)i, x, want[i]);
                }
            }
        }
}
Test(gemm, every_size_to_40_f64) {
    for (int isa = KERN_AVX2; isa <= (int)kern_isa_detect(); isa++)
        exact(WEFT_F64, (enum kern_isa)isa, 40, 1);
}
Test(gemm, every_size_to_40_f32) {
    for (int isa = KERN_AVX2; isa <= (int)kern_isa_detect(); isa++)
        exact(WEFT_F32, (enum kern_isa)isa, 40, 1);
}
Test(gemm, every_size_on_the_base_level) {
    exact(WEFT_F64, KERN_BASE, 13, 1);
    exact(WEFT_F32, KERN_BASE, 13, 1);
    exact(WEFT_F64, KERN_BASE, 40, 3);
}

// ---- layouts
// ------------------------------------------------------------------------------------------
static const int64_t edges[] = {1,  2,  3,  4,  5,  7,  8,  9,  12, 13, 15,
                                16, 17, 23, 24, 25, 31, 33, 47, 49, 65};

// Random shapes in random layouts, C's memory compared byte for byte, every operand against a guard
// page.
Test(gemm, any_layout_any_dtype) {
    for (int round = 0; round < 6000; round++) {
        const struct gemm_case c = {
            .dtype = all_types[(size_t)round % COUNT_OF(all_types)],
            .m = test_pick(edges, COUNT_OF(edges)),
            .n = test_pick(edges, COUNT_OF(edges)),
            .k = test_pick(edges, COUNT_OF(edges)),
            .a_layout = (int)(test_random() % LAYOUTS),
            .b_layout = (int)(test_random() % LAYOUTS),
            .c_layout = (int)(test_random() % C_LAYOUTS),
            .filling = FRACTIONS,
        };
        CHECK(c, 1);
    }
}

// Every transposition and sign of the strides of all three operands.
Test(gemm, transposed_and_reversed) {
    for (int code = 0; code < 512; code++) {
        const struct gemm_case c = {.dtype = code & 1 ? WEFT_F32 : WEFT_F64,
                                    .m = 37,
                                    .n = 41,
                                    .k = 29,
                                    .a_layout = code & 7,
                                    .b_layout = code >> 3 & 7,
                                    .c_layout = code >> 6,
                                    .filling = FRACTIONS};
        CHECK(c, 1);
    }
}

// ---- the edges of the blocks
// --------------------------------------------------------------------------
Test(gemm, k_blocks) {
    static const int64_t ks[] = {255, 256, 257, 511, 512, 513, 767, 769};
    for (size_t i = 0; i < COUNT_OF(ks); i++)
        for (int layout = 0; layout < 8; layout++) {
            const struct gemm_case c = {.dtype = layout & 4 ? WEFT_F32 : WEFT_F64,
                                        .m = 17 + layout,
                                        .n = 50 - layout,
                                        .k = ks[i],
                                        .a_layout = layout & 1,
                                        .b_layout = layout >> 1 & 1,
                                        .c_layout = layout & 1,
                                        .filling = FRACTIONS};
            CHECK(c, 1);
        }
}
Test(gemm, column_groups) {
    static const int64_t ns[] = {239, 240, 241, 479, 481, 720, 721, 959, 961};
    for (size_t i = 0; i < COUNT_OF(ns); i++)
        for (int t = 0; t < 4; t++) {
            const struct gemm_case c = {.dtype = all_types[10 - t],
                                        .m = 41 + t,
                                        .n = ns[i],
                                        .k = 259,
                                        .b_layout = t & 1,
                                        .filling = FRACTIONS};
            CHECK(c, 1);
        }
}
Test(gemm, chunks_of_rows_and_columns) {
    static const int64_t shapes[][3] = {{2047, 100, 257}, {2049, 97, 256}, {4097, 100, 9},
                                        {9, 15361, 3},    {33, 15359, 5},  {40, 31000, 2}};
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        for (int tall = 0; tall < 2; tall++) {
            const struct gemm_case c = {.dtype = tall ? WEFT_F32 : WEFT_F64,
                                        .m = shapes[i][0],
                                        .n = shapes[i][1],
                                        .k = shapes[i][2],
                                        .c_layout = tall,
                                        .filling = FRACTIONS};
            CHECK(c, 1);
        }
}

// ---- one row or column
Test(gemm, vectors) {
    static const int64_t ks[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 300, 2047, 2049};
    static const int64_t ms[] = {1, 2, 3, 7, 8, 9, 15, 17, 33, 64, 255, 257, 300};
    for (int round = 0; round < 2500; round++) {
        const bool column = round & 1;
        const int64_t m = test_pick(ms, COUNT_OF(ms));
        const struct gemm_case c = {.dtype = round & 2 ? WEFT_F32 : WEFT_F64,
                                    .m = column ? m : 1,
                                    .n = column ? 1 : m,
                                    .k = test_pick(ks, round % 8 ? COUNT_OF(ks) - 2 : COUNT_OF(ks)),
                                    .a_layout = (int)(test_random() % LAYOUTS),
                                    .b_layout = (int)(test_random() % LAYOUTS),
                                    .c_layout = (int)(test_random() % C_LAYOUTS),
                                    .filling = FRACTIONS};
        CHECK(c, round % 5 ? 1 : 3);
    }
}
Test(gemm, long_vectors) {
    for (int code = 0; code < 32; code++) {
        const struct gemm_case c = {.dtype = code & 1 ? WEFT_F32 : WEFT_F64,
                                    .m = code & 2 ? 1 : 37,
                                    .n = code & 2 ? 37 : 1,
                                    .k = 4096 + 8 * (code >> 4) + 3,
                                    .a_layout = code >> 2 & 1,
                                    .b_layout = code >> 3 & 1,
                                    .filling = FRACTIONS};
        CHECK(c, 1 + code % 3);
    }
}

// ---- same bits however the work is cut
// -------------------------------------------------------------------
Test(gemm, any_partition_gives_the_same_bits) {
    for (int round = 0; round < 40; round++) {
        const struct gemm_case c = {.dtype = round & 1 ? WEFT_F32 : WEFT_F64,
                                    .m = 70,
                                    .n = 90,
                                    .k = 300,
                                    .a_layout = round % 8,
                                    .b_layout = round / 2 % 8,
                                    .c_layout = round / 3 % 8,
                                    .filling = FRACTIONS};
        struct gemm_operands o;
        operands_make(&o, &c);
        for (int64_t i = 0, rows; i < c.m; i += rows) {
            rows = 2 + (int64_t)(test_random() % 30); // one row would be a vector
            rows = c.m - i - rows < 2 ? c.m - i : rows;
            for (int64_t j = 0, cols; j < c.n; j += cols) {
                cols = 2 + (int64_t)(test_random() % 40);
                cols = c.n - j - cols < 2 ? c.n - j : cols;
                const enum kern_isa isa =
                    (enum kern_isa)(test_random() % ((unsigned)kern_isa_detect() + 1));
                struct kern_gemm g = operands_gemm(&o, isa);
                g.a = o.a.origin + i * g.a_rs;
                g.b = o.b.origin + j * g.b_cs;
                g.c = o.c.origin + i * g.c_rs + j * g.c_cs;
                g.m = rows, g.n = cols;
                gemm_execute(&g, 1, NULL);
            }
        }
        const struct kern_gemm g = operands_gemm(&o, KERN_BASE);
        const char *bad = operands_differ(&o, &g);
        cr_assert(!*bad, "in parts: %s", bad);
        operands_free(&o);
    }
}

Test(gemm, any_number_of_threads_gives_the_same_bits) {
    static kern_gemm_for *const executors[] = {executor_serial, executor_reversed,
                                               executor_threads};
    static const int64_t shapes[][3] = {{300, 500, 600}, {64, 64, 64}, {1000, 30, 300},
                                        {20, 1200, 520}, {3, 5, 2000}, {2100, 60, 257}};
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        const struct gemm_case c = {.dtype = i & 1 ? WEFT_F32 : WEFT_F64,
                                    .m = shapes[i][0],
                                    .n = shapes[i][1],
                                    .k = shapes[i][2],
                                    .a_layout = (int)i & 1,
                                    .b_layout = (int)i >> 1,
                                    .filling = FRACTIONS};
        struct gemm_operands o;
        operands_make(&o, &c);
        for (int threads = 1; threads <= 5; threads++)
            for (size_t e = 0; e < COUNT_OF(executors); e++) {
                struct kern_gemm g = operands_gemm(&o, kern_isa_detect());
                operands_reset(&o);
                gemm_execute(&g, threads, executors[e]);
                const char *bad = operands_differ(&o, &g);
                cr_assert(!*bad, "%d threads: %s", threads, bad);
            }
        operands_free(&o);
    }
}

Test(gemm, thread_count_is_between_1_and_max) {
    struct kern_gemm g = {.dtype = WEFT_F64, .isa = kern_isa_detect(), .m = 2, .n = 2, .k = 2};
    cr_assert_eq(kern_gemm_threads(&g, 8), 1);
    g.m = g.n = g.k = 4000;
    cr_assert_eq(kern_gemm_threads(&g, 8), 8);
    g.m = g.n = g.k = INT64_C(1) << 40; // no overflow
    cr_assert_eq(kern_gemm_threads(&g, 3), 3);
    g.m = 0;
    cr_assert_eq(kern_gemm_threads(&g, 3), 1);
}

// ---- special values
// ------------------------------------------------------------------------------------------
static void same_class(const struct gemm_operands *o, int64_t i, int64_t j, enum kern_isa isa) {
    double want;
    float narrow;
    const unsigned char *p = o->image + (o->c.origin + i * o->c.rs + j * o->c.cs - o->c.low);
    memcpy(&narrow, p, 4);
    if (o->c.dtype == WEFT_F64)
        memcpy(&want, p, 8);
    else
        want = (double)narrow;
    const double got = view_get(&o->c, i, j);
    cr_assert(isnan(want) ? isnan(got) : got == want && signbit(got) == signbit(want),
              "%s on %s [%d,%d]: %g, not %g", dtype_name(o->c.dtype), kern_isa_name(isa), (int)i,
              (int)j, got, want);
}

static const double specials[] = {0.0, -0.0, NAN,   INFINITY, -INFINITY,
                                  1.0, -1.0, 1e300, 1e-300,   5e-324};

Test(gemm, special_values) {
    for (int round = 0; round < 300; round++) {
        const struct gemm_case c = {.dtype = round & 1 ? WEFT_F32 : WEFT_F64,
                                    .m = 1 + round % 19,
                                    .n = 1 + round % 53,
                                    .k = 1 + round % 7,
                                    .a_layout = round & 1,
                                    .b_layout = round >> 1 & 1};
        struct gemm_operands o;
        operands_make(&o, &c);
        for (int which = 0; which < 2; which++) {
            struct view *v = which ? &o.b : &o.a;
            for (int64_t i = 0; i < v->rows; i++)
                for (int64_t j = 0; j < v->cols; j++) {
                    const double d = specials[test_random() % COUNT_OF(specials)];
                    const float f = (float)d;
                    memcpy(v->origin + i * v->rs + j * v->cs,
                           v->dtype == WEFT_F64 ? (const void *)&d : &f, dtype_size(v->dtype));
                }
        }
        operands_specify(&o);
        for (int isa = 0; isa <= (int)kern_isa_detect(); isa++) {
            struct kern_gemm g = operands_gemm(&o, (enum kern_isa)isa);
            gemm_execute(&g, 1, NULL);
            for (int64_t i = 0; i < c.m; i++)
                for (int64_t j = 0; j < c.n; j++)
                    same_class(&o, i, j, (enum kern_isa)isa);
        }
        operands_free(&o);
    }
}

Test(gemm, zero_times_nan_is_nan_and_minus_zero_sums_to_zero) {
    for (int isa = 0; isa <= (int)kern_isa_detect(); isa++) {
        const double a[] = {0.0, -0.0}, b[] = {NAN, 1.0};
        double c[2] = {7, 7};
        _Alignas(64) unsigned char scratch[4096];
        struct kern_gemm g = {.dtype = WEFT_F64,
                              .isa = (enum kern_isa)isa,
                              .m = 1,
                              .n = 1,
                              .k = 1,
                              .a = &a[0],
                              .b = &b[0],
                              .c = &c[0],
                              .scratch = scratch};
        cr_assert_leq(kern_gemm_scratch(&g, 1), sizeof scratch);
        kern_gemm_run(&g);
        g.a = &a[1], g.b = &b[1], g.c = &c[1];
        kern_gemm_run(&g);
        cr_assert(isnan(c[0]));
        cr_assert(c[1] == 0 && !signbit(c[1]));
    }
}

// ---- nothing to do
// ---------------------------------------------------------------------------------------------
Test(gemm, empty_sizes) {
    for (size_t t = 0; t < COUNT_OF(all_types); t++)
        for (int layout = 0; layout < C_LAYOUTS; layout++) {
            const struct gemm_case no_k = {
                .dtype = all_types[t], .m = 9, .n = 13, .k = 0, .c_layout = layout};
            CHECK(no_k, 1);
            CHECK(no_k, 2);
            const struct gemm_case no_m = {
                .dtype = all_types[t], .m = 0, .n = 13, .k = 5, .c_layout = layout};
            CHECK(no_m, 2);
            const struct gemm_case no_n = {
                .dtype = all_types[t], .m = 3, .n = 0, .k = 5, .c_layout = layout};
            CHECK(no_n, 1);
        }
    struct kern_gemm g = {.dtype = WEFT_F64, .isa = kern_isa_detect()}; // no memory at all
    cr_assert_eq(kern_gemm_scratch(&g, 1), 0);
    kern_gemm_run(&g);
}
