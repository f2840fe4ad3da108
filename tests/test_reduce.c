// SPDX-License-Identifier: MIT
// The reduction kernels against a tree written another way: recursively, one scalar operation at a
// time.
#include "guard.h"
#include "kernels/reduce/reduce.h"

union val {
    uint64_t u;
    int64_t i;
    double d;
    float f;
};

static const char *const red_names[] = {"sum",    "prod",   "min",       "max",
                                        "fmin",   "fmax",   "any",       "all",
                                        "argmin", "argmax", "nanargmin", "nanargmax"};
static bool defined(enum kern_red r, weft_dtype t) {
    return (r != KERN_ANY && r != KERN_ALL) || t == WEFT_BOOL;
}

static union val load(weft_dtype t, const void *p) {
    union val v = {0};
    memcpy(&v, p, dtype_size(t));
    if (t == WEFT_BOOL) v.u = v.u != 0;
    if (dtype_is_signed(t)) {
        const int drop = 64 - 8 * (int)dtype_size(t);
        v.i = (int64_t)(v.u << drop) >> drop;
    }
    return v;
}

static double number(weft_dtype t, union val v) {
    return t == WEFT_F32 ? (double)v.f : v.d;
}

static bool before(weft_dtype t, union val a, union val b) {
    if (dtype_is_float(t)) return number(t, a) < number(t, b);
    return dtype_is_signed(t) ? a.i < b.i : a.u < b.u;
}
static bool nan_is(weft_dtype t, union val a) {
    return dtype_is_float(t) && isnan(number(t, a));
}

// the lesser, zeros ordered; no NaN
static union val lesser(weft_dtype t, union val a, union val b) {
    if (before(t, a, b)) return a;
    if (before(t, b, a)) return b;
    return dtype_is_float(t) && signbit(number(t, a)) ? a : b;
}
static union val greater(weft_dtype t, union val a, union val b) {
    union val l = lesser(t, a, b);
    return l.u == a.u ? b : a;
}

static union val op(enum kern_red r, weft_dtype t, union val a, union val b) {
    const bool skip = r == KERN_FMIN || r == KERN_FMAX;
    union val v = {0};
    switch (r) {
    case KERN_SUM:
    case KERN_PROD:
        if (t == WEFT_BOOL)
            v.u = r == KERN_SUM ? a.u | b.u : a.u & b.u;
        else if (t == WEFT_F32)
            v.f = r == KERN_SUM ? a.f + b.f : a.f * b.f;
        else if (t == WEFT_F64)
            v.d = r == KERN_SUM ? a.d + b.d : a.d * b.d;
        else
            v.u = r == KERN_SUM ? a.u + b.u : a.u * b.u;
        return load(t, &v);
    case KERN_ANY: v.u = a.u | b.u; return v;
    case KERN_ALL: v.u = a.u & b.u; return v;
    default: break;
    }
    if (nan_is(t, a)) return skip ? b : a;
    if (nan_is(t, b)) return skip ? a : b;
    return r == KERN_MIN || r == KERN_FMIN ? lesser(t, a, b) : greater(t, a, b);
}

static union val neutral(enum kern_red r, weft_dtype t) {
    union val v;
    _Alignas(64) unsigned char state[64];
    kern_red_identity(r, t, state, 1);
    v = load(t, state);
    return v;
}

// One lane of leaves [lo, lo + n) of a run; leaf = elements of a leaf, step = lanes.
struct run {
    enum kern_red r;
    weft_dtype t;
    const unsigned char *x; // element e of the lane is at x + e * pitch
    int64_t count, leaf, lanes, pitch;
};
static union val leaf_lane(const struct run *run, int64_t t, int64_t lane) {
    union val v = neutral(run->r, run->t);
    for (int64_t e = t * run->leaf + lane; e < MIN_OF((t + 1) * run->leaf, run->count);
         e += run->lanes)
        v = op(run->r, run->t, v, load(run->t, run->x + e * run->pitch));
    return v;
}
static union val tree(const struct run *run, int64_t lo, int64_t n, int64_t lane) {
    if (n == 0) return neutral(run->r, run->t);
    if (n == 1) return leaf_lane(run, lo, lane);
    int64_t p = 1;
    while (p * 2 <= n)
        p *= 2;
    if (p == n) p /= 2;
    return op(run->r, run->t, tree(run, lo, p, lane), tree(run, lo + p, n - p, lane));
}
static union val model_inner(const struct run *run) {
    union val v[64];
    const int64_t leaves = (run->count + run->leaf - 1) / run->leaf;
    for (int64_t l = 0; l < run->lanes; l++)
        v[l] = tree(run, 0, leaves, l);
    for (int64_t w = run->lanes / 2; w > 0; w /= 2)
        for (int64_t l = 0; l < w; l++)
            v[l] = op(run->r, run->t, v[l], v[l + w]);
    return v[0];
}
static int64_t model_arg(const struct run *run) {
    const bool skip = run->r >= KERN_NANARGMIN,
               least = run->r == KERN_ARGMIN || run->r == KERN_NANARGMIN;
    int64_t best = -1;
    union val b = {0};
    for (int64_t e = 0; e < run->count; e++) {
        union val v = load(run->t, run->x + e * run->pitch);
        if (nan_is(run->t, v) && !skip) return e;
        if (nan_is(run->t, v)) continue;
        if (best >= 0 && !(least ? before(run->t, v, b) : before(run->t, b, v))) continue;
        best = e;
        b = v;
    }
    return best;
}

// ---- the kernels, whole and cut
// ---------------------------------------------------------------------------
static _Alignas(64) unsigned char stack[64 * 1024], lanes[1024], total[4096], part[256 * 1024];

static int lanes_of(enum kern_red r, weft_dtype t) {
    return kern_red_is_arg(r) ? RED_ARG_LANES : kern_red_lanes(t);
}

// leaves [lo, hi) flushed into out
static void run_leaves(const struct run *run, int64_t lo, int64_t hi, void *out) {
    const int L = lanes_of(run->r, run->t);
    for (int64_t t = lo; t < hi; t++) {
        const int64_t first = t * KERN_RED_RUN, n = MIN_OF(run->count - first, KERN_RED_RUN);
        kern_red_identity(run->r, run->t, lanes, L);
        kern_red_leaf(run->r, run->t, lanes, run->x + first * run->pitch, n, first);
        kern_red_push(run->r, run->t, stack, lanes, L, (uint64_t)(t - lo));
    }
    kern_red_flush(run->r, run->t, stack, out, L, (uint64_t)(hi - lo));
}
static void check_result(const struct run *run, const void *state, const char *how) {
    uint64_t got = 0;
    kern_red_fold(run->r, run->t, state, &got);
    if (kern_red_is_arg(run->r)) {
        const int64_t want = model_arg(run);
        cr_assert((int64_t)got == want, "%s %s n=%lld %s: %lld, not %lld", red_names[run->r],
                  dtype_name(run->t), (long long)run->count, how, (long long)got, (long long)want);
        return;
    }
    const union val want = model_inner(run);
    cr_assert(same_element(run->t, &got, &want.u), "%s %s n=%lld %s: %llx, not %llx",
              red_names[run->r], dtype_name(run->t), (long long)run->count, how,
              (unsigned long long)got, (unsigned long long)want.u);
}
static void check_run(const struct run *run) {
    const int64_t leaves = (run->count + KERN_RED_RUN - 1) / KERN_RED_RUN;
    run_leaves(run, 0, leaves, total);
    check_result(run, total, "whole");
    for (int64_t cut = 1; cut < leaves; cut *= 2) { // pieces of cut leaves, pushed in turn
        const size_t bytes = kern_red_state(run->r, run->t, lanes_of(run->r, run->t));
        int64_t pieces = 0;
        for (int64_t t = 0; t < leaves; t += cut, pieces++)
            run_leaves(run, t, MIN_OF(t + cut, leaves), part + (size_t)pieces * bytes);
        for (int64_t i = 0; i < pieces; i++)
            kern_red_push(run->r, run->t, stack, part + (size_t)i * bytes, lanes_of(run->r, run->t),
                          (uint64_t)i);
        kern_red_flush(run->r, run->t, stack, total, lanes_of(run->r, run->t), (uint64_t)pieces);
        check_result(run, total, "cut");
    }
}

static const int64_t odd_lengths[] = {255,  256,   257,   511,   512,   1000, 1023,
                                      1024, 1025,  2047,  2048,  2049,  3072, 5000,
                                      7168, 32767, 32768, 32769, 33793, 40000};

// all lengths below 200 at the end of a page, then the odd ones; special, random and moderate
// values
static void check_lengths(enum kern_red r, weft_dtype t, struct guard *g) {
    uint64_t seed = (uint64_t)r * 100 + t;
    const size_t size = dtype_size(t);
    for (int64_t i = 0; i < 200 + (int64_t)COUNT_OF(odd_lengths); i++) {
        const int64_t n = i < 200 ? i : odd_lengths[i - 200];
        for (int kind = 0; kind < 3; kind++) {
            if (i >= 200 && kind != (i + (int)r + (int)t) % 3) continue; // long runs: one of them
            struct run run = {
                r, t, guard_end(g, (size_t)n * size), n, KERN_RED_RUN, 0, (int64_t)size};
            run.lanes = lanes_of(r, t);
            for (int64_t e = 0; e < n; e++)
                random_element(t, kind, &seed, (void *)(uintptr_t)(run.x + e * run.pitch));
            check_run(&run);
        }
    }
}

Test(reduce, inner_matches_the_tree) {
    struct guard g = guard_new(sizeof(double) * 40000);
    for (int r = 0; r < KERN_RED__N; r++)
        for (int t = 0; t < DTYPE_COMPUTED__N; t++)
            if (defined((enum kern_red)r, (weft_dtype)t))
                check_lengths((enum kern_red)r, (weft_dtype)t, &g);
    guard_free(&g);
}

// ---- outer: rows
// -------------------------------------------------------------------------------------------
static void outer_state(const struct run *run, int64_t cols, void *out) {
    const int64_t leaves = (run->count + KERN_RED_ROWS - 1) / KERN_RED_ROWS;
    for (int64_t t = 0; t < leaves; t++) {
        kern_red_identity(run->r, run->t, part, cols);
        for (int64_t e = t * KERN_RED_ROWS; e < MIN_OF((t + 1) * KERN_RED_ROWS, run->count); e++)
            kern_red_row(run->r, run->t, part, run->x + e * run->pitch, cols, e);
        kern_red_push(run->r, run->t, stack, part, cols, (uint64_t)t);
    }
    kern_red_flush(run->r, run->t, stack, out, cols, (uint64_t)leaves);
}
static void check_outer(enum kern_red r, weft_dtype t, int64_t rows, int64_t cols) {
    static unsigned char data[600 * 67 * 8];
    static _Alignas(64) unsigned char columns[67 * 8];
    const size_t size = dtype_size(t);
    uint64_t seed = (uint64_t)(rows * 1000 + cols * 10 + r);
    for (int64_t i = 0; i < rows * cols; i++)
        random_element(t, (int)(cols % 3), &seed, data + (size_t)i * size);
    struct run run = {r, t, data, rows, KERN_RED_ROWS, 1, cols * (int64_t)size};
    outer_state(&run, cols, total);
    if (kern_red_is_arg(r)) kern_red_columns(r, t, total, columns, cols);
    for (int64_t c = 0; c < cols; c++) {
        run.x = data + (size_t)c * size;
        const int64_t leaves = (rows + KERN_RED_ROWS - 1) / KERN_RED_ROWS;
        if (kern_red_is_arg(r)) {
            const int64_t want = model_arg(&run);
            cr_assert(memcmp(&want, columns + 8 * c, 8) == 0, "%s %s rows %lld column %lld",
                      red_names[r], dtype_name(t), (long long)rows, (long long)c);
        } else {
            union val want = tree(&run, 0, leaves, 0);
            cr_assert(same_element(t, total + (size_t)c * size, &want),
                      "%s %s rows %lld column %lld", red_names[r], dtype_name(t), (long long)rows,
                      (long long)c);
        }
    }
}

Test(reduce, outer_matches_the_tree) {
    static const int64_t rows[] = {0, 1, 2, 31, 32, 33, 64, 65, 96, 100, 257, 600};
    static const int64_t cols[] = {1, 2, 3, 7, 8, 9, 16, 31, 64, 67};
    for (int r = 0; r < KERN_RED__N; r++)
        for (int t = 0; t < DTYPE_COMPUTED__N; t++)
            for (size_t i = 0; i < COUNT_OF(rows) * COUNT_OF(cols); i++)
                if (defined((enum kern_red)r, (weft_dtype)t))
                    check_outer((enum kern_red)r, (weft_dtype)t, rows[i / COUNT_OF(cols)],
                                cols[i % COUNT_OF(cols)]);
}

// ---- every instruction set, every step, any alignment
// ------------------------------------------------------
static red_find *const levels[][3] = {
    {kern_red_ints_base, kern_red_floats_base, kern_red_args_base},
#ifdef __x86_64__
    {kern_red_ints_avx2, kern_red_floats_avx2, kern_red_args_avx2},
    {kern_red_ints_avx512, kern_red_floats_avx512, kern_red_args_avx512},
#endif
};
static const struct red_kind *kind_at(int level, enum kern_red r, weft_dtype t) {
    return levels[level][kern_red_is_arg(r) ? 2 : dtype_is_float(t)](r, t);
}
static void step(const struct red_kind *k, enum kern_red r, weft_dtype t, const unsigned char *x,
                 int64_t n, unsigned char *out) {
    const int L = lanes_of(r, t);
    _Alignas(64) unsigned char a[1024], b[1024];
    kern_red_identity(r, t, a, L);
    kern_red_identity(r, t, b, L);
    k->leaf(a, x, n, 5);
    k->row(b, x, MIN_OF(n, L), 1029);
    k->combine(a, b, L);
    k->fold(a, out);
    if (!kern_red_is_arg(r)) memcpy(out, a, kern_red_state(r, t, L));
}
static void check_levels(enum kern_red r, weft_dtype t) {
    static unsigned char x[1024 * 8 + 64];
    static _Alignas(64) unsigned char want[1024], got[1024];
    const int best = (int)kern_isa_detect();
    uint64_t seed = 7;
    for (int trial = 0; trial < 100; trial++) {
        const int64_t n = trial < 60 ? trial + 1 : 1024 - trial;
        unsigned char *at = x + trial % 17;
        for (int64_t i = 0; i < n; i++)
            random_element(t, trial % 3, &seed, at + (size_t)i * dtype_size(t));
        memset(want, 0, sizeof want);
        step(kind_at(0, r, t), r, t, at, n, want);
        for (int level = 1; level <= best; level++) {
            memset(got, 0, sizeof got);
            step(kind_at(level, r, t), r, t, at, n, got);
            for (size_t i = 0; i < (kern_red_is_arg(r) ? 1 : (size_t)lanes_of(r, t)); i++)
                cr_assert(kern_red_is_arg(r)
                              ? memcmp(got, want, 8) == 0
                              : same_element(t, got + i * dtype_size(t), want + i * dtype_size(t)),
                          "%s %s level %d n %lld lane %zu", red_names[r], dtype_name(t), level,
                          (long long)n, i);
        }
    }
}
Test(reduce, all_instruction_sets_agree) {
    for (int r = 0; r < KERN_RED__N; r++)
        for (int t = 0; t < DTYPE_COMPUTED__N; t++)
            if (defined((enum kern_red)r, (weft_dtype)t))
                check_levels((enum kern_red)r, (weft_dtype)t);
}

// ---- known answers
// -----------------------------------------------------------------------------------------
static double reduce_f32(enum kern_red r, const float *x, int64_t n) {
    struct run run = {r, WEFT_F32, (const unsigned char *)x, n, KERN_RED_RUN, 64, 4};
    float v;
    run_leaves(&run, 0, (n + KERN_RED_RUN - 1) / KERN_RED_RUN, total);
    kern_red_fold(r, WEFT_F32, total, &v);
    return (double)v;
}
static double sum_f32(const float *x, int64_t n) {
    return reduce_f32(KERN_SUM, x, n);
}

Test(reduce, f32_sums_do_not_stall) {
    const int64_t n = (int64_t)1 << 25;
    float *x = malloc((size_t)n * sizeof *x);
    cr_assert(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = 1;
    cr_expect(sum_f32(x, 20000000) == 20000000.0);
    cr_expect(sum_f32(x, n) == 33554432.0);
    for (int64_t i = 0; i < 10000000; i++)
        x[i] = 0.1f;
    cr_expect(sum_f32(x, 10000000) == 1000000.0); // the f32 nearest to the sum
    free(x);
}

Test(reduce, f32_sum_keeps_its_bound) {
    enum { N = 1 << 22 };
    float *x = malloc(N * sizeof *x);
    cr_assert(x);
    uint64_t seed = 3;
    for (int64_t i = 0; i < N; i++)
        random_element(WEFT_F32, 2, &seed, x + i);
    for (int64_t n = 1; n <= N; n = n * 3 + 1) {
        long double exact = 0, size = 0;
        for (int64_t i = 0; i < n; i++) {
            exact += (long double)x[i];
            size += fabsl((long double)x[i]);
        }
        const double factor = 3 + 6 + ceil(fmax(0, log2((double)n / KERN_RED_RUN)));
        const long double bound = (long double)factor * 0x1p-24L * size;
        cr_expect(fabsl((long double)sum_f32(x, n) - exact) <= bound, "n = %lld", (long long)n);
    }
    free(x);
}

Test(reduce, zeros_and_nan) {
    float x[150];
    for (int n = 1; n <= 150; n++) {
        for (int i = 0; i < n; i++)
            x[i] = -0.0f;
        cr_assert(signbit(sum_f32(x, n)) && sum_f32(x, n) == 0);
        for (int at = 0; at < n; at++) {
            for (int i = 0; i < n; i++)
                x[i] = (float)(i % 7) / 10;
            x[at] = NAN;
            cr_assert(isnan(reduce_f32(KERN_MAX, x, n)) && isnan(reduce_f32(KERN_MIN, x, n)));
            cr_assert(n == 1 || !isnan(reduce_f32(KERN_FMAX, x, n)));
        }
    }
    x[0] = x[1] = -INFINITY;
    cr_expect(reduce_f32(KERN_MAX, x, 2) == -INFINITY);
    x[0] = 0.0f, x[1] = -0.0f;
    cr_expect(signbit(reduce_f32(KERN_MIN, x, 2)) && !signbit(reduce_f32(KERN_MAX, x, 2)));
    x[0] = x[1] = NAN;
    cr_expect(isnan(reduce_f32(KERN_FMAX, x, 2)));
}
