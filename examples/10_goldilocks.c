// SPDX-License-Identifier: MIT
// Introduces: 64-bit modular arithmetic with mul_hi. The Goldilocks field, p = 2^64 - 2^32 + 1: products, the
// S-box x^7 of the permutation Tip5, and inverses x^(p-2), each one expression over u64 arrays, so that all
// of the 73 products of an inverse happen in registers. Checked against 128-bit arithmetic, which is also
// timed as a loop.
#include <string.h>

#include "check.h"

enum { N = 1 << 16, ROUNDS = 5 };
__extension__ typedef unsigned __int128 wide;
static const uint64_t p = 0xffffffff00000001u;
static uint64_t xs[N], ys[N], out[N];
static weft_graph *g;

// ---- the graph ------------------------------------------------------------------------------------------
static weft_expr *number(uint64_t v) { return weft_scalar(g, WEFT_U64, &v); }

// With hi = hh 2^32 + hl: lo + hi 2^64 = lo + hl (2^32 - 1) - hh, since 2^64 = 2^32 - 1 and 2^96 = -1
// modulo p. A borrow or carry out of 64 bits is 2^64 = 2^32 - 1 too many or too few.
static weft_expr *reduced(weft_expr *lo, weft_expr *hi) {
    weft_expr *low = number(0xffffffff), *half = number(32), *zero = number(0);
    weft_expr *hh = weft_right_shift(hi, half), *hl = weft_bitwise_and(hi, low);
    weft_expr *t = weft_sub(lo, hh);
    t = weft_sub(t, weft_where(weft_less(lo, hh), low, zero));
    weft_expr *u = weft_sub(weft_left_shift(hl, half), hl), *r = weft_add(t, u);
    return weft_add(r, weft_where(weft_less(r, u), low, zero));
}
// Numbers below 2^64 stand for their residues; only canonical() makes them less than p.
static weft_expr *times(weft_expr *a, weft_expr *b) {
    return reduced(weft_mul(a, b), weft_mul_hi(a, b));
}
static weft_expr *canonical(weft_expr *a) {
    weft_expr *m = number(p);
    return weft_where(weft_less(a, m), a, weft_sub(a, m));
}

static weft_expr *seventh(weft_expr *x) {
    weft_expr *x2 = times(x, x), *x3 = times(x2, x), *x4 = times(x2, x2);
    return times(x3, x4);
}

// a^(2^n) b
static weft_expr *square_times(weft_expr *a, int n, weft_expr *b) {
    for (int i = 0; i < n; i++)
        a = times(a, a);
    return times(a, b);
}
// p - 2 = (2^31 - 1) 2^33 + 2^32 - 1; ones(n) = x^(2^n - 1)
static weft_expr *inverse(weft_expr *x) {
    weft_expr *ones2 = square_times(x, 1, x), *ones3 = square_times(ones2, 1, x);
    weft_expr *ones6 = square_times(ones3, 3, ones3), *ones12 = square_times(ones6, 6, ones6);
    weft_expr *ones24 = square_times(ones12, 12, ones12), *ones30 = square_times(ones24, 6, ones6);
    weft_expr *ones31 = square_times(ones30, 1, x), *ones32 = square_times(ones31, 1, x);
    return square_times(ones31, 33, ones32);
}

// ---- the loop -------------------------------------------------------------------------------------------
static uint64_t times_of(uint64_t a, uint64_t b) { return (uint64_t)((wide)a * b % p); }
// Without a division, as fast scalar code does it.
static uint64_t times_fast(uint64_t a, uint64_t b) {
    wide w = (wide)a * b;
    uint64_t lo = (uint64_t)w, hi = (uint64_t)(w >> 64), hh = hi >> 32, hl = hi & 0xffffffff;
    uint64_t t = lo - hh - (lo < hh ? 0xffffffff : 0), u = (hl << 32) - hl, r = t + u;
    r += r < u ? 0xffffffff : 0;
    return r >= p ? r - p : r;
}
static uint64_t power_of(uint64_t x, uint64_t n, uint64_t (*mul)(uint64_t, uint64_t)) {
    uint64_t r = 1;
    for (int i = 63; i >= 0; i--) {
        r = mul(r, r);
        if (n >> i & 1) r = mul(r, x);
    }
    return r;
}
static uint64_t seventh_of(uint64_t x) {
    uint64_t x2 = times_fast(x, x), x3 = times_fast(x2, x), x4 = times_fast(x2, x2);
    return times_fast(x3, x4);
}
static uint64_t square_times_of(uint64_t a, int n, uint64_t b) {
    for (int i = 0; i < n; i++)
        a = times_fast(a, a);
    return times_fast(a, b);
}
static uint64_t inverse_of(uint64_t x) {
    uint64_t ones2 = square_times_of(x, 1, x), ones3 = square_times_of(ones2, 1, x);
    uint64_t ones6 = square_times_of(ones3, 3, ones3), ones12 = square_times_of(ones6, 6, ones6);
    uint64_t ones24 = square_times_of(ones12, 12, ones12), ones30 = square_times_of(ones24, 6, ones6);
    uint64_t ones31 = square_times_of(ones30, 1, x), ones32 = square_times_of(ones31, 1, x);
    return square_times_of(ones31, 33, ones32);
}

// ---- checks and times -----------------------------------------------------------------------------------
static void fill(void) {
    static const uint64_t edges[] = {0, 1, 2, 0xffffffff, 0x100000000, 0xffffffff00000000, 0xffffffffffffffff,
                                     0x8000000000000000, 0xfffffffe00000001, 0xfffffffeffffffff};
    uint64_t s = 88172645463325252u, n = sizeof edges / sizeof *edges;
    for (uint64_t i = 0; i < N; i++) {
        s ^= s << 13, s ^= s >> 7, s ^= s << 17;
        xs[i] = i < n * n ? edges[i / n] : s;
        ys[i] = i < n * n ? edges[i % n] : s * 0x9e3779b97f4a7c15u;
    }
}
static void run(weft_expr *x) {
    const int64_t n = N;
    weft_array o = weft_dense(WEFT_U64, out, 1, &n);
    must(weft_eval(canonical(x), &o, NULL), g);
}

static void check_all(weft_expr *x, weft_expr *y) {
    run(times(x, y));
    for (int i = 0; i < N; i++)
        expect(out[i] == times_of(xs[i], ys[i]) && out[i] == times_fast(xs[i], ys[i]), "products");
    run(seventh(x));
    for (int i = 0; i < N; i++)
        expect(out[i] == power_of(xs[i], 7, times_of), "seventh powers");
    run(inverse(x));
    for (int i = 0; i < N; i++) {
        expect(times_of(out[i], xs[i]) == (xs[i] % p != 0), "inverses");
        expect(i % 64 || out[i] == power_of(xs[i], p - 2, times_of), "powers of p - 2");
    }
}

static void time_one(const char *name, weft_expr *x, uint64_t (*loop)(uint64_t)) {
    double best = 1e9, best_loop = 1e9;
    uint64_t differ = 0;
    for (int r = 0; r < ROUNDS; r++) {
        double t0 = seconds();
        run(x);
        double t1 = seconds();
        for (int i = 0; i < N; i++)
            differ |= loop(xs[i]) ^ out[i];
        double t2 = seconds();
        best = t1 - t0 < best ? t1 - t0 : best;
        best_loop = t2 - t1 < best_loop ? t2 - t1 : best_loop;
    }
    expect(differ == 0, name);
    printf("%-12s %8.2f ns each with weft, %8.2f in a scalar loop (%.1fx)\n", name, best / N * 1e9,
           best_loop / N * 1e9, best_loop / best);
}

static void with(weft_backend backend, bool timed) {
    weft_ctx *ctx = NULL;
    const int64_t n = N;
    weft_ctx_opts opts = {.size = sizeof opts, .threads = 1, .backend = backend};
    must(weft_ctx_new(&ctx, &opts), NULL);
    g = weft_graph_new(ctx);
    weft_array xa = weft_dense(WEFT_U64, xs, 1, &n), ya = weft_dense(WEFT_U64, ys, 1, &n);
    weft_expr *x = weft_from(g, &xa), *y = weft_from(g, &ya);
    check_all(x, y);
    if (timed) time_one("x^7", seventh(x), seventh_of);
    if (timed) time_one("inverse", inverse(x), inverse_of);
    weft_graph_free(g);
    weft_ctx_free(ctx);
}

int main(void) {
    fill();
    with(WEFT_BACKEND_INTERP, false);
    with(WEFT_BACKEND_JIT, true); // compiles first, interprets where there is no LLVM
    return 0;
}
