// SPDX-License-Identifier: MIT
// Every kernel between pages that cannot be touched: each operand and each result with its first byte behind such
// a page, then with its last byte before one, at every length around the vectors; the bits are those of the portable level.
// kernels.def is expanded here once more, and a row that nothing ran fails. Matrix tiles lie so in test_gemm,
// strips and generated code in test_interp and test_llvm, whole graphs in fuzz_graph.
#include <stdio.h>

#include "guard.h"
#include "kernels/copy/copy.h"
#include "kernels/reduce/reduce.h"

enum { ROOMS = 4, ROOM = 1 << 19, SIDES = 4 };
static struct guard room[ROOMS];
static uint64_t seed = 3;

static void rooms_open(void) {
    for (int i = 0; i < ROOMS; i++)
        room[i] = guard_new(ROOM);
}
static void rooms_close(void) {
    for (int i = 0; i < ROOMS; i++)
        guard_free(&room[i]);
}
TestSuite(guards, .init = rooms_open, .fini = rooms_close, .timeout = 600);

// Bit 0 of side: operands (room 0 and 1) at the end; bit 1: results (room 2 and 3).
static void *place(int i, int side, size_t bytes) {
    return side >> (i / 2) & 1 ? guard_end(&room[i], bytes) : room[i].base;
}
static void fill(weft_dtype t, void *p, int64_t n, int kind) {
    for (int64_t i = 0; i < n; i++)
        random_element(t, kind, &seed, (char *)p + (size_t)i * dtype_size(t));
}
static void same(weft_dtype t, const void *got, const void *want, int64_t n, const char *what, int64_t of) {
    const size_t size = dtype_size(t);
    for (int64_t i = 0; i < n; i++)
        cr_assert(same_element(t, (const char *)got + (size_t)i * size, (const char *)want + (size_t)i * size),
                  "%s on %s: element %lld of %lld, length %lld", what, dtype_name(t), (long long)i, (long long)n, (long long)of);
}

// ---- what there is ----------------------------------------------------------------------------------------
static struct listed {
    const char *symbol;
    enum kern_isa isa;
    bool ran;
} maps[] = {
#define KERN(family, dtype, isa, symbol, ulp) {#symbol, KERN_##isa, false},
#include "kernels/kernels.def"
    {NULL, KERN_ISA__N, false}},
  runs[] = {
#define RED(red, dtype, from, how, isa, symbol) {#symbol, KERN_##isa, false},
#include "kernels/kernels.def"
      {NULL, KERN_ISA__N, false}},
  bytes[] = {
#define BYTE(isa, symbol, vbmi) {#symbol, KERN_##isa, vbmi},
#include "kernels/kernels.def"
      {NULL, KERN_ISA__N, false}};

static void ran(struct listed *list, size_t i, const char *symbol) {
    cr_assert_str_eq(list[i].symbol, symbol);
    list[i].ran = true;
}
static void all_ran(const struct listed *list, size_t rows) {
    size_t n = 0;
    for (; list[n].symbol; n++)
        cr_assert(list[n].ran || list[n].isa > kern_isa_detect(), "%s has not been between guard pages", list[n].symbol);
    cr_assert_eq(n, rows, "%zu rows in kernels.def, %zu in the registry", n, rows);
}

// ---- maps ---------------------------------------------------------------------------------------------------
static void run_map(const struct kern_row *r, size_t n, int side) {
    static _Alignas(64) unsigned char a[8 * 1100], b[8 * 1100], want[8 * 1100];
    const size_t size = n * dtype_size(r->dtype);
    const int kind = (int)(n % 3);
    fill(r->dtype, a, (int64_t)n, kind), fill(r->dtype, b, (int64_t)n, kind);
    kern_find(r->family, r->dtype, KERN_BASE)->fn(want, a, b, n);
    void *x = place(0, side, size), *y = place(1, side, size), *out = place(2, side, size);
    if (size) memcpy(x, a, size), memcpy(y, b, size);
    r->fn(out, x, y, n);
    same(r->dtype, out, want, (int64_t)n, r->symbol, (int64_t)n);
    r->fn(y, x, y, n); // onto the second operand
    same(r->dtype, y, want, (int64_t)n, r->symbol, (int64_t)n);
}
Test(guards, maps) {
    static const size_t more[] = {191, 192, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025};
    size_t rows;
    const struct kern_row *r = kern_rows(&rows);
    for (size_t i = 0; i < rows; i++) {
        if (r[i].isa > kern_isa_detect()) continue;
        for (int side = 0; side < SIDES; side++) {
            for (size_t n = 0; n <= 130; n++)
                run_map(&r[i], n, side);
            for (size_t k = 0; k < COUNT_OF(more); k++)
                run_map(&r[i], more[k], side);
        }
        ran(maps, i, r[i].symbol);
    }
    all_ran(maps, rows);
}

// ---- reductions of runs and columns -----------------------------------------------------------------------------
static int lanes_of(enum kern_red r, weft_dtype t) {
    return kern_red_is_arg(r) ? RED_ARG_LANES : kern_red_lanes(t);
}
static void run_red(const struct kern_red_row *w, int64_t n, int side) {
    const int lanes = lanes_of(w->red, w->dtype);
    const size_t state = kern_red_state(w->red, w->dtype, lanes), size = (size_t)n * dtype_size(w->from);
    void *x = place(0, side, size), *total = place(2, side, state), *stack = place(3, side, 64 * state);
    uint64_t got = 0, want = 0;
    fill(w->from, x, n, (int)(n % 3));
    w->run(w, total, x, n, 1000, stack);
    kern_red_fold(w->red, w->dtype, total, &got);
    const struct kern_red_row *steps = kern_red_find(w->red, w->dtype, w->from, KERN_BASE);
    steps->run(steps, total, x, n, 1000, stack);
    kern_red_fold(w->red, w->dtype, total, &want);
    same(kern_red_is_arg(w->red) ? WEFT_I64 : w->dtype, &got, &want, 1, w->symbol, n);
}
static void run_outer(const struct kern_red_row *w, int64_t rows, int64_t n, int side) {
    static _Alignas(64) unsigned char want[64 * 8], last[64 * 64 * 8];
    const int64_t size = (int64_t)dtype_size(w->dtype), rs = (n + rows % 3) * size;
    const size_t whole = rows ? (size_t)((rows - 1) * rs + n * size) : 0, state = kern_red_state(w->red, w->dtype, n);
    char *x = place(0, side, whole);
    void *total = place(2, side, state), *stack = place(3, side, 64 * state);
    for (int64_t e = 0; e < rows; e++)
        fill(w->dtype, x + e * rs, n, (int)(rows % 3));
    w->outer(w, total, x, rs, rows, n, stack);
    const struct kern_red_row *steps = kern_red_find(w->red, w->dtype, w->from, KERN_BASE);
    for (int64_t e = 0; e < rows; e++) { // leaf by leaf
        void *leaf = kern_red_slot(w->red, w->dtype, last, n, (uint64_t)(e / KERN_RED_ROWS));
        if (e % KERN_RED_ROWS == 0)
            kern_red_begin_row(steps->red, w->dtype, leaf, x + e * rs, n, e);
        else
            kern_red_row(steps->red, w->dtype, leaf, x + e * rs, n, e);
        if (e % KERN_RED_ROWS == KERN_RED_ROWS - 1 || e == rows - 1) kern_red_carry(w->red, w->dtype, last, n, (uint64_t)(e / KERN_RED_ROWS));
    }
    kern_red_flush(w->red, w->dtype, last, want, n, (uint64_t)((rows + KERN_RED_ROWS - 1) / KERN_RED_ROWS));
    same(w->dtype, total, want, n, w->symbol, rows);
}
Test(guards, reductions) {
    static const int64_t more[] = {511, 512, 513, 767, 1023, 1024, 1025, 2047, 2049, 4096, 9001, 33000};
    size_t rows;
    const struct kern_red_row *w = kern_red_rows(&rows);
    for (size_t i = 0; i < rows; i++) {
        if (w[i].isa > kern_isa_detect()) continue;
        for (int side = 0; side < SIDES; side++) {
            for (int64_t n = 0; n <= 270; n++)
                run_red(&w[i], n, side);
            for (size_t k = 0; k < COUNT_OF(more); k++)
                run_red(&w[i], more[k], side);
            for (int64_t n = 0; n <= 20 && !kern_red_is_arg(w[i].red) && w[i].from == w[i].dtype; n++)
                run_outer(&w[i], n, 1 + n * 7 % 41, side);
        }
        ran(runs, i, w[i].symbol);
    }
    all_ran(runs, rows);
}

// ---- bytes ------------------------------------------------------------------------------------------------------
static void run_bytes(const struct kern_byte_row *r, size_t n, size_t entries, int side) {
    static uint8_t want[5000];
    uint8_t *index = place(0, side, n), *table = place(1, side, entries), *out = place(2, side, n);
    fill(WEFT_U8, index, (int64_t)n, 1), fill(WEFT_U8, table, (int64_t)entries, 1);
    kern_lookup_base(want, index, n, table, entries);
    kern_lookup_by(r, out, index, n, table, entries);
    same(WEFT_U8, out, want, (int64_t)n, r->symbol, (int64_t)entries);
    kern_lookup_by(r, index, index, n, table, entries);
    same(WEFT_U8, index, want, (int64_t)n, r->symbol, (int64_t)entries);
}
Test(guards, byte_tables) {
    size_t rows;
    const struct kern_byte_row *r = kern_byte_rows(&rows);
    for (size_t i = 0; i < rows; i++) {
        if (r[i].isa > kern_isa_detect()) continue;
        bytes[i].ran = !kern_byte_runs(&r[i], kern_isa_detect()); // needs an extension that is not here
        for (int side = 0; side < SIDES && kern_byte_runs(&r[i], kern_isa_detect()); side++) {
            for (size_t n = 0; n <= 4200; n += n < 260 ? 1 : 197)
                run_bytes(&r[i], n, n * 37 % 257, side);
            ran(bytes, i, r[i].symbol);
        }
    }
    all_ran(bytes, rows);
}

// ---- the steps of reductions and scans, at every level ------------------------------------------------------------
static red_find *const levels[][3] = {
    {kern_red_ints_base, kern_red_floats_base, kern_red_args_base},
#ifdef __x86_64__
    {kern_red_ints_avx2, kern_red_floats_avx2, kern_red_args_avx2},
    {kern_red_ints_avx512, kern_red_floats_avx512, kern_red_args_avx512},
#endif
};
struct step { // one kind of a level, and of the base level
    enum kern_red r;
    weft_dtype t;
    const struct red_kind *k, *base;
    char name[32];
};
static void same_state(const struct step *s, const void *got, const void *want, int64_t n, int64_t of) {
    same(s->t, got, want, n, s->name, of);
    const size_t at = (size_t)red_padded(n * (int64_t)dtype_size(s->t));
    if (kern_red_is_arg(s->r)) same(WEFT_I64, (const char *)got + at, (const char *)want + at, n, s->name, of);
}
static void run_leaf(const struct step *s, int64_t n, int side) {
    static _Alignas(64) unsigned char want[1024];
    const int lanes = lanes_of(s->r, s->t);
    const size_t state = kern_red_state(s->r, s->t, lanes), size = dtype_size(s->t);
    void *x = place(0, side, (size_t)n * size), *got = place(2, side, state);
    fill(s->t, x, n, (int)(n % 3));
    kern_red_identity(s->r, s->t, got, lanes), kern_red_identity(s->r, s->t, want, lanes);
    s->k->leaf(got, x, n, 7), s->base->leaf(want, x, n, 7);
    same_state(s, got, want, lanes, n);
    if (s->k->begin && n >= lanes) {
        s->k->begin(got, x, n);
        same_state(s, got, want, lanes, n);
    }
    uint64_t folded = 0;
    void *one = place(3, side, kern_red_is_arg(s->r) ? 8 : size);
    s->k->fold(got, one), s->base->fold(want, &folded);
    same(kern_red_is_arg(s->r) ? WEFT_I64 : s->t, one, &folded, 1, s->name, n);
    if (!s->k->take || !n) return;
    void *best = place(1, side, size); // an element that is there
    memcpy(best, (char *)x + (size_t)(n / 2) * size, size);
    kern_red_identity(s->r, s->t, got, lanes), kern_red_identity(s->r, s->t, want, lanes);
    s->k->take(got, best, x, n, 7), s->base->take(want, best, x, n, 7);
    same_state(s, got, want, lanes, n);
}
static void run_rows(const struct step *s, int64_t n, int side) {
    static _Alignas(64) unsigned char want[4096];
    const size_t state = kern_red_state(s->r, s->t, n), size = (size_t)n * dtype_size(s->t);
    void *x = place(0, side, size), *got = place(2, side, state);
    for (int e = 0; e < 3; e++) {
        fill(s->t, x, n, e);
        if (!e) kern_red_identity(s->r, s->t, got, n), kern_red_identity(s->r, s->t, want, n);
        s->k->row(got, x, n, e), s->base->row(want, x, n, e);
        same_state(s, got, want, n, n);
    }
    void *other = place(1, side, state);
    memcpy(other, want, state);
    s->k->combine(got, other, n), s->base->combine(want, other, n);
    same_state(s, got, want, n, n);
    if (!s->k->pair) return;
    const int64_t rs = n * (int64_t)dtype_size(s->t) + n % 3;
    char *rows = place(0, side, (size_t)(7 * rs) + size);
    for (int e = 0; e < 8; e++)
        fill(s->t, rows + e * rs, n, (int)(n % 3));
    s->k->pair(got, rows, rs, n), s->base->pair(want, rows, rs, n);
    same_state(s, got, want, n, n);
}
static void run_scan(const struct step *s, int64_t n, int side) {
    static unsigned char want[KERN_SCAN_RUN * 8];
    const size_t size = dtype_size(s->t);
    void *x = place(0, side, (size_t)n * size), *before = place(1, side, size);
    void *out = place(2, side, (size_t)n * size), *total = place(3, side, size);
    uint64_t all = 0;
    fill(s->t, x, n, (int)(n % 3)), fill(s->t, before, 1, 2);
    s->k->scan(out, x, n, before, total), s->base->scan(want, x, n, before, &all);
    same(s->t, out, want, n, s->name, n);
    if (n < KERN_SCAN_RUN) return;
    same(s->t, total, &all, 1, s->name, n);
    s->k->scan_total(x, total);
    same(s->t, total, &all, 1, s->name, n);
}
Test(guards, steps) {
    int kinds = 0;
    for (int i = 0; i < KERN_RED__N * WEFT_DTYPE__N * ((int)kern_isa_detect() + 1); i++) {
        struct step s = {.r = (enum kern_red)(i % KERN_RED__N), .t = (weft_dtype)(i / KERN_RED__N % WEFT_DTYPE__N)};
        const int level = i / (KERN_RED__N * WEFT_DTYPE__N);
        if (!kern_red_runs(s.r, s.t, s.t)) continue;
        const int which = kern_red_is_arg(s.r) ? 2 : dtype_is_float(s.t);
        s.k = levels[level][which](s.r, s.t), s.base = levels[0][which](s.r, s.t);
        snprintf(s.name, sizeof s.name, "reduction %d, level %d", (int)s.r, level);
        for (int side = 0; side < SIDES; side++)
            for (int64_t n = 0; n <= KERN_RED_RUN; n += n < 140 || n > 250 ? 1 : 5) {
                run_leaf(&s, n, side);
                if (n <= 140) run_rows(&s, n, side);
                if (s.k->scan) run_scan(&s, n, side);
            }
        kinds++;
    }
    cr_assert_geq(kinds, 100);
}
Test(guards, scans) { // whole scans, along the run and along rows
    static unsigned char want[8 * 1200];
    static const int64_t lengths[] = {0, 1, 15, 16, 17, 255, 256, 257, 511, 512, 513, 1100};
    for (int i = 0; i < KERN_ARGMIN * WEFT_DTYPE__N; i++) {
        const enum kern_red r = (enum kern_red)(i % KERN_ARGMIN);
        const weft_dtype t = (weft_dtype)(i / KERN_ARGMIN);
        if (!kern_red_runs(r, t, t)) continue;
        for (size_t k = 0; k < COUNT_OF(lengths) * SIDES; k++) {
            const int64_t n = lengths[k / SIDES];
            const size_t size = (size_t)n * dtype_size(t), state = kern_scan_row_state(t, n, 3);
            void *x = place(0, k % SIDES, size), *out = place(2, k % SIDES, size), *rows = place(3, k % SIDES, state);
            struct kern_scan s;
            fill(t, x, n, (int)(k % 3));
            kern_scan_begin(&s, r, t), kern_scan_next(&s, want, x, n);
            kern_scan_begin(&s, r, t), kern_scan_next(&s, out, x, n);
            same(t, out, want, n, "scan", n);
            if (n % KERN_SCAN_RUN == 0) kern_scan_begin(&s, r, t), kern_scan_skip(&s, x, n);
            for (int64_t e = 0; e < 3; e++)
                kern_scan_row(r, t, rows, out, x, n, e);
        }
    }
}

// ---- parts of pairs -------------------------------------------------------------------------------------------------
static void run_pairs(kern_pick_fn *pick, kern_pick_fn *spread, size_t size, size_t n, int side) {
    const size_t wide = n ? (2 * n - 1) * size : 0;
    unsigned char *from = place(0, side, wide), *to = place(2, side, n * size), *back = place(3, side, wide);
    fill(WEFT_U8, from, (int64_t)wide, 1), memset(back, 0x77, wide);
    pick(size, to, from, (int64_t)n), spread(size, back, to, (int64_t)n);
    for (size_t i = 0; i < wide; i++)
        cr_assert(back[i] == (i / size % 2 ? 0x77 : from[i]), "byte %zu, %zu elements of %zu bytes", i, n, size);
}
Test(guards, pairs) {
    static kern_pick_fn *const by[][2] = {{kern_pick_base, kern_spread_base},
#ifdef __x86_64__
                                          {kern_pick_avx2, kern_spread_avx2},
                                          {kern_pick_avx512, kern_spread_avx512},
#endif
    };
    for (int level = 0; level <= (int)kern_isa_detect(); level++)
        for (int side = 0; side < SIDES; side++)
            for (size_t n = 0; n < 140; n++)
                for (size_t size = 4; size <= 8; size += 4)
                    run_pairs(by[level][0], by[level][1], size, n, side);
}
