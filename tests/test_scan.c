// SPDX-License-Identifier: MIT
// Scan kernels against the order of kern.h written another way, one scalar combination at a time; cut in
// pieces as threads would; on every instruction set; in place; at the end of a page.
#include "guard.h"
#include "kernels/reduce/reduce.h"

static bool scans(enum kern_red r, weft_dtype t) {
    if (t > WEFT_F64) return false; // halves are scanned as f32, complex numbers by parts
    return !kern_red_is_arg(r) && ((r != KERN_ANY && r != KERN_ALL) || t == WEFT_BOOL);
}

// ---- the model --------------------------------------------------------------------------------------
enum { MOST = 9000 };
struct model {
    enum kern_red r;
    weft_dtype t;
    const unsigned char *x;
    int64_t n;
};
static uint64_t op(const struct model *m, uint64_t a, uint64_t b) {
    kern_red_combine(m->r, m->t, &a, &b, 1);
    return a;
}
static uint64_t element(const struct model *m, int64_t i) {
    uint64_t v = 0, one = 0;
    memcpy(&one, m->x + (size_t)i * dtype_size(m->t), dtype_size(m->t));
    kern_red_identity(m->r, m->t, &v, 1);
    return m->t == WEFT_BOOL ? op(m, v, one) : one;
}
// element i of a row's scan, after steps up to s: combines what lies s apart
static uint64_t doubled(const struct model *m, int64_t i, int s) {
    if (s == 0) return element(m, i);
    const uint64_t here = doubled(m, i, s / 2);
    return i % KERN_SCAN_ROW < s ? here : op(m, doubled(m, i - s, s / 2), here);
}
static uint64_t scanned[MOST]; // scanned rows, filled once per model
static uint64_t row_scan(const struct model *m, int64_t i) {
    (void)m;
    return scanned[i];
}
// within its block
static uint64_t block_scan(const struct model *m, int64_t i) {
    const int64_t block = i / KERN_SCAN_RUN * KERN_SCAN_RUN, row = i / KERN_SCAN_ROW * KERN_SCAN_ROW;
    if (row == block) return row_scan(m, i);
    uint64_t rows = row_scan(m, block + KERN_SCAN_ROW - 1);
    for (int64_t k = block + KERN_SCAN_ROW; k < row; k += KERN_SCAN_ROW)
        rows = op(m, rows, row_scan(m, k + KERN_SCAN_ROW - 1));
    return op(m, rows, row_scan(m, i));
}
// total of 2^level blocks from block b on
static uint64_t subtree(const struct model *m, int64_t b, int level) {
    if (level == 0) return block_scan(m, (b + 1) * KERN_SCAN_RUN - 1);
    return op(m, subtree(m, b, level - 1), subtree(m, b + ((int64_t)1 << (level - 1)), level - 1));
}
static uint64_t before(const struct model *m, int64_t blocks) {
    uint64_t all = 0;
    int64_t from = 0;
    for (int level = 40; level >= 0; level--) {
        if (!(blocks >> level & 1)) continue;
        const uint64_t part = subtree(m, from, level);
        all = from ? op(m, all, part) : part;
        from += (int64_t)1 << level;
    }
    return all;
}
static void model_scan(const struct model *m, unsigned char *out) {
    uint64_t first = 0;
    for (int64_t i = 0; i < m->n; i++)
        scanned[i] = doubled(m, i, KERN_SCAN_ROW / 2);
    for (int64_t i = 0; i < m->n; i++) {
        if (i % KERN_SCAN_RUN == 0) first = before(m, i / KERN_SCAN_RUN);
        uint64_t v = block_scan(m, i);
        if (i >= KERN_SCAN_RUN) v = op(m, first, v);
        memcpy(out + (size_t)i * dtype_size(m->t), &v, dtype_size(m->t));
    }
}

// ---- the kernels ------------------------------------------------------------------------------------
static unsigned char want[MOST * 8], got[MOST * 8];

static void check_same(const struct model *m, const unsigned char *have, const char *how) {
    const size_t size = dtype_size(m->t);
    for (int64_t i = 0; i < m->n; i++)
        cr_assert(same_element(m->t, have + (size_t)i * size, want + (size_t)i * size),
                  "reduction %d of %s, n %lld, element %lld, %s", (int)m->r, dtype_name(m->t),
                  (long long)m->n, (long long)i, how);
}

// pieces of `blocks` blocks: their totals first, then each from the state joined up to it
static void scan_pieces(const struct model *m, int64_t blocks, unsigned char *out) {
    const int64_t piece = blocks * KERN_SCAN_RUN, size = (int64_t)dtype_size(m->t);
    struct kern_scan at, part, own;
    kern_scan_begin(&at, m->r, m->t);
    for (int64_t i = 0; i < m->n; i += piece) {
        const int64_t take = MIN_OF(piece, m->n - i);
        own = at;
        kern_scan_next(&own, out + i * size, m->x + i * size, take);
        if (take < piece) break;
        kern_scan_begin(&part, m->r, m->t);
        kern_scan_skip(&part, m->x + i * size, piece);
        kern_scan_join(&at, &part);
    }
}

static void check_one(struct guard *g, enum kern_red r, weft_dtype t, int64_t n, int kind) {
    const size_t size = dtype_size(t);
    unsigned char *x = guard_end(g, (size_t)n * size);
    uint64_t seed = (uint64_t)(n * 37 + r * 5 + t);
    for (int64_t i = 0; i < n; i++)
        random_element(t, kind, &seed, x + (size_t)i * size);
    const struct model m = {r, t, x, n};
    model_scan(&m, want);
    struct kern_scan s;
    kern_scan_begin(&s, r, t);
    kern_scan_next(&s, got, x, n);
    check_same(&m, got, "whole");
    for (int64_t blocks = 1; blocks <= 8; blocks *= 2) {
        scan_pieces(&m, blocks, got);
        check_same(&m, got, "in pieces");
    }
    kern_scan_begin(&s, r, t); // in place; all data is gone after it
    kern_scan_next(&s, x, x, n);
    check_same(&m, x, "in place");
}

Test(scan, matches_the_order) {
    struct guard g = guard_new(MOST * 8);
    static const int64_t more[] = {511, 512, 513, 767, 768, 1024, 1100, 2047, 2048, 2049, 4095, 8961};
    for (int r = 0; r < KERN_RED__N; r++)
        for (int t = 0; t < WEFT_DTYPE__N; t++) {
            if (!scans((enum kern_red)r, (weft_dtype)t)) continue;
            for (int64_t n = 0; n <= 300; n += n < 40 || n > 250 ? 1 : 7)
                check_one(&g, (enum kern_red)r, (weft_dtype)t, n, (int)(n % 3));
            for (size_t i = 0; i < COUNT_OF(more); i++)
                check_one(&g, (enum kern_red)r, (weft_dtype)t, more[i], (int)(i % 3));
        }
    guard_free(&g);
}

static red_find *const levels[][2] = {
    {kern_red_ints_base, kern_red_floats_base},
#ifdef __x86_64__
    {kern_red_ints_avx2, kern_red_floats_avx2},
    {kern_red_ints_avx512, kern_red_floats_avx512},
#endif
};
Test(scan, all_instruction_sets_agree) {
    uint64_t seed = 5;
    for (int i = 0; i < 4000; i++) {
        const enum kern_red r = (enum kern_red)(i % KERN_RED__N);
        const weft_dtype t = (weft_dtype)(i / KERN_RED__N % WEFT_DTYPE__N);
        if (!scans(r, t)) continue;
        const size_t size = dtype_size(t);
        const int64_t n = i % 5 ? KERN_SCAN_RUN : (int64_t)(next_random(&seed) % KERN_SCAN_RUN);
        unsigned char x[KERN_SCAN_RUN * 8 + 8], *at = x + i % 8;
        for (int64_t k = 0; k < n; k++)
            random_element(t, i / 7 % 3, &seed, at + (size_t)k * size);
        uint64_t first = 0, total[2] = {0, 0}, only = 0;
        random_element(t, 2, &seed, &first);
        if (t == WEFT_BOOL) first = first != 0;
        for (int level = 0; level <= (int)kern_isa_detect(); level++) {
            const struct red_kind *k = levels[level][dtype_is_float(t)](r, t);
            unsigned char *out = level ? got : want;
            k->scan(out, at, n, &first, &total[level > 0]);
            if (n < KERN_SCAN_RUN) continue;
            k->scan_total(at, &only);
            cr_assert(same_element(t, &only, &total[level > 0]) && same_element(t, &only, &total[0]));
        }
        if (kern_isa_detect() > KERN_BASE)
            check_same(&(struct model){r, t, at, n}, got, "another instruction set");
    }
}

Test(scan, f32_does_not_stall) {
    const int64_t n = (int64_t)1 << 25;
    float *x = malloc((size_t)n * sizeof *x);
    cr_assert(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = 1;
    struct kern_scan s;
    kern_scan_begin(&s, KERN_SUM, WEFT_F32);
    kern_scan_next(&s, x, x, n);
    cr_expect(x[n - 1] == 33554432.0f);
    cr_expect(x[0] == 1 && x[16777215] == 16777216.0f && x[255] == 256 && x[256] == 257);
    free(x);
}

// ---- along rows -------------------------------------------------------------------------------------
static uint64_t chained(const struct model *m, int64_t from, int64_t to) {
    uint64_t v = element(m, from);
    for (int64_t e = from + 1; e < to; e++)
        v = op(m, v, element(m, e));
    return v;
}
static uint64_t rows_of(const struct model *m, int64_t block, int64_t blocks) {
    if (blocks == 1) return chained(m, block * KERN_SCAN_ROWS, (block + 1) * KERN_SCAN_ROWS);
    return op(m, rows_of(m, block, blocks / 2), rows_of(m, block + blocks / 2, blocks / 2));
}
static uint64_t row_value(const struct model *m, int64_t e) {
    const int64_t blocks = e / KERN_SCAN_ROWS;
    const uint64_t own = chained(m, blocks * KERN_SCAN_ROWS, e + 1);
    uint64_t all = 0;
    int64_t from = 0;
    for (int64_t size = (int64_t)1 << 40; size; size /= 2) {
        if (!(blocks & size)) continue;
        const uint64_t part = rows_of(m, from, size);
        all = from ? op(m, all, part) : part;
        from += size;
    }
    return from ? op(m, all, own) : own;
}
Test(scan, rows_match_the_order) {
    enum { ROWS = 700, COLS = 5 };
    static unsigned char x[ROWS * COLS * 8], column[ROWS * 8];
    static _Alignas(64) unsigned char state[64 * 32];
    uint64_t seed = 11;
    for (int i = 0; i < KERN_RED__N * WEFT_DTYPE__N; i++) {
        const enum kern_red r = (enum kern_red)(i % KERN_RED__N);
        const weft_dtype t = (weft_dtype)(i / KERN_RED__N);
        if (!scans(r, t)) continue;
        const size_t size = dtype_size(t);
        for (int64_t k = 0; k < ROWS * COLS; k++)
            random_element(t, i % 3, &seed, x + (size_t)k * size);
        cr_assert(kern_scan_row_state(t, COLS, ROWS) <= sizeof state);
        for (int64_t e = 0; e < ROWS; e++)
            kern_scan_row(r, t, state, got + (size_t)(e * COLS) * size, x + (size_t)(e * COLS) * size,
                          COLS, e);
        for (int64_t k = 0; k < ROWS; k++)
            memcpy(column + (size_t)k * size, x + (size_t)(k * COLS + i % COLS) * size, size);
        const struct model m = {r, t, column, ROWS};
        for (int64_t e = 0; e < ROWS; e++) {
            const uint64_t v = row_value(&m, e);
            cr_assert(same_element(t, &v, got + (size_t)(e * COLS + i % COLS) * size),
                      "reduction %d of %s, row %lld", (int)r, dtype_name(t), (long long)e);
        }
    }
}
