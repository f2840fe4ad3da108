// SPDX-License-Identifier: MIT
// Batches of products, parts reported to epilogues, and the tile kernels one by one: those in
// assembly against the C recipe of the same instruction set.
#include "gemm_case.h"
#include "kernels/gemm/gemm.h"

#include <criterion/criterion.h>
#include <stdlib.h>

// ---- batches and parts
// ----------------------------------------------------------------------------------
struct seen {
    const struct kern_gemm *g;
    _Atomic int parts;
};

// An epilogue in place: changes the sign of what it is given, so a part given twice or early shows.
static void negate(void *ud, const struct kern_gemm_part *p) {
    struct seen *s = ud;
    s->parts++;
    unsigned char *c = (unsigned char *)s->g->c + p->batch * s->g->c_bs;
    for (int64_t i = p->row; i < p->row + p->rows; i++)
        for (int64_t j = p->col; j < p->col + p->cols; j++) {
            double x;
            memcpy(&x, c + i * s->g->c_rs + j * s->g->c_cs, 8);
            x = -x;
            memcpy(c + i * s->g->c_rs + j * s->g->c_cs, &x, 8);
        }
}

static void batch_of(int64_t count, const int64_t *shape, int threads) {
    const int64_t m = shape[0], n = shape[1], k = shape[2];
    double *a = malloc((size_t)(m * k) * 8), *b = malloc((size_t)(count * k * n) * 8);
    double *c = malloc((size_t)(count * m * n) * 8), *one = malloc((size_t)(m * n) * 8);
    for (int64_t i = 0; i < m * k; i++)
        a[i] = (double)test_random() / 4294967296.0;
    for (int64_t i = 0; i < count * k * n; i++)
        b[i] = (double)test_random() / 4294967296.0;
    const bool columns = count & 1; // C column-major: roles exchanged inside
    struct kern_gemm g = {.dtype = WEFT_F64,
                          .isa = kern_isa_detect(),
                          .m = m,
                          .n = n,
                          .k = k,
                          .a = a,
                          .a_rs = 8 * k,
                          .a_cs = 8,
                          .b = b,
                          .b_rs = 8 * n,
                          .b_cs = 8,
                          .c = c,
                          .c_rs = columns ? 8 : 8 * n,
                          .c_cs = columns ? 8 * m : 8,
                          .batch = count,
                          .a_bs = 0,
                          .b_bs = 8 * k * n,
                          .c_bs = 8 * m * n};
    struct seen s = {.g = &g};
    g.done = negate, g.done_ud = &s;
    gemm_execute(&g, threads, executor_threads);
    cr_assert_geq(s.parts, count);
    for (int64_t i = 0; i < count; i++) {
        struct kern_gemm alone = g;
        alone.batch = 0, alone.b = b + i * k * n, alone.c = one, alone.done = NULL;
        gemm_execute(&alone, 1, NULL);
        for (int64_t e = 0; e < m * n; e++)
            cr_assert(c[i * m * n + e] == -one[e], "product %d element %d", (int)i, (int)e);
    }
    free(a), free(b), free(c), free(one);
}
Test(gemm, batches_and_parts) {
    static const int64_t shapes[][3] = {{16, 16, 16}, {5, 3, 7},     {1, 1, 1},      {40, 70, 300},
                                        {200, 9, 20}, {9, 300, 513}, {130, 131, 132}};
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        for (int64_t count = 1; count <= 33; count += 8)
            for (int threads = 1; threads <= 3; threads++) {
                batch_of(count, shapes[i], threads);
                batch_of(count + 1, shapes[i], threads);
            }
}
Test(gemm, parts_of_large_products) {
    static const int64_t shapes[][3] = {{300, 500, 600}, {700, 40, 300}, {2060, 250, 30}};
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        for (int threads = 1; threads <= 3; threads++) {
            batch_of(1, shapes[i], threads);
            batch_of(2, shapes[i], threads);
        }
}

// ---- tiles
// ------------------------------------------------------------------------------------------------
enum { STEPS = 300, SIDE = 64 };
struct arena {
    unsigned char a[STEPS * SIDE * 8], b[STEPS * SIDE * 8], c[SIDE * SIDE * 8];
};

static void fill(unsigned char *p, size_t bytes, int size) {
    for (size_t i = 0; i < bytes; i += (size_t)size) {
        const double d = (double)test_random() / 4294967296.0 - 0.5;
        const float f = (float)d;
        memcpy(p + i, size == 8 ? (const void *)&d : &f, (size_t)size);
    }
}

// One shape of tile on both tables, for every count of columns its last vector can have.
static void compare_tile(const struct gemm_ops *x, const struct gemm_ops *y, int kind, int rows,
                         int vecs) {
    static struct arena m, want;
    const int size = x->size, at = (kind * x->mr + rows - 1) * x->nv + vecs - 1;
    for (int cols = (vecs - 1) * x->lanes + 1; cols <= vecs * x->lanes; cols++)
        for (int add = 0; add < 2; add++) {
            static const int64_t ks[] = {1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 127, 256};
            fill(m.a, sizeof m.a, size), fill(m.b, sizeof m.b, size), fill(m.c, sizeof m.c, size);
            want = m;
            struct gemm_tile t = {
                .k = test_pick(ks, COUNT_OF(ks)), .c_rs = SIDE * size, .cols = cols, .add = add};
            t.a_rs = kind == GEMM_PACKED ? size : 5 * size;
            t.a_cs = kind == GEMM_PACKED ? x->mr * size : 3 * size;
            t.b_rs = kind == GEMM_PACKED ? vecs * x->lanes * size : SIDE * size;
            t.a = want.a, t.b = want.b, t.c = want.c, t.next = want.a;
            x->tiles[at](&t);
            t.a = m.a, t.b = m.b, t.c = m.c, t.next = m.a;
            y->tiles[at](&t);
            cr_assert(!memcmp(m.c, want.c, sizeof m.c),
                      "kind %d, %d rows, %d vectors, %d columns, k %d", kind, rows, vecs, cols,
                      (int)t.k);
        }
}

static void compare(const struct gemm_ops *x, const struct gemm_ops *y) {
    cr_assert(x->mr == y->mr && x->nv == y->nv && x->lanes == y->lanes && x->size == y->size);
    for (int kind = GEMM_PACKED; kind <= GEMM_PART; kind++)
        for (int rows = 1; rows <= x->mr; rows++)
            for (int vecs = 1; vecs <= x->nv; vecs++)
                compare_tile(x, y, kind, rows, vecs);
}

Test(gemm, tiles_in_assembly_equal_their_recipe) {
#if defined(__x86_64__)
    if (kern_isa_detect() >= KERN_AVX2) {
        compare(&kern_gemm_f64_avx2, &kern_gemm_f64_avx2_asm);
        compare(&kern_gemm_f32_avx2, &kern_gemm_f32_avx2_asm);
    }
    if (kern_isa_detect() >= KERN_AVX512) {
        compare(&kern_gemm_f64_avx512, &kern_gemm_f64_avx512_asm);
        compare(&kern_gemm_f32_avx512, &kern_gemm_f32_avx512_asm);
    }
#endif
}
