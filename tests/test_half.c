// SPDX-License-Identifier: MIT
// f16 and bf16 through the public header, in both tiers and at every instruction set: conversions to and from
// every type are rounded once (against a search for the nearest value, which knows nothing of bit tricks),
// operations are the f32 operations rounded once, fused or not, and reductions are what numerics.md says.
#include "cases.h"

enum { NCTX = 6, INF16 = 0x7c00, INFBF = 0x7f80 };
static weft_ctx *ctxs[NCTX];

static void begin(void) {
    static const weft_isa isa[] = {WEFT_ISA_SCALAR, WEFT_ISA_AVX2, WEFT_ISA_BEST};
    for (int i = 0; i < NCTX; i++) {
        weft_ctx_opts o = {.size = sizeof o, .threads = 1, .isa = isa[i / 2]};
        o.backend = i % 2 ? WEFT_BACKEND_JIT : WEFT_BACKEND_INTERP;
        cr_assert_eq(weft_ctx_new(&ctxs[i], &o), WEFT_OK);
    }
}
static void end(void) {
    for (int i = 0; i < NCTX; i++) {
        weft_stats s;
        weft_ctx_stats(ctxs[i], &s, sizeof s);
        if (i % 2 && s.llvm_major) cr_expect_eq(s.runs_interp, 0, "interpreted at isa %d", (int)s.isa);
        weft_ctx_free(ctxs[i]);
    }
}
TestSuite(half, .init = begin, .fini = end, .timeout = PATIENCE * 300);
#define EACH_CTX(g)                                                                                \
    for (int c_ = 0; c_ < NCTX; c_++)                                                              \
        for (weft_graph *g = weft_graph_new(ctxs[c_]); g; weft_graph_free(g), g = NULL)

static const weft_dtype halves[2] = {WEFT_F16, WEFT_BF16};

// ---- what the values are ------------------------------------------------------------------------------
static uint16_t inf_of(weft_dtype t) { return t == WEFT_F16 ? INF16 : INFBF; }
static double decode(weft_dtype t, uint16_t h) {
    int frac = t == WEFT_F16 ? 10 : 7, bias = t == WEFT_F16 ? 15 : 127;
    int e = (h & 0x7fff) >> frac, m = h & ((1 << frac) - 1);
    double v = e ? ldexp(m + (1 << frac), e - bias - frac) : ldexp(m, 1 - bias - frac);
    if ((h & 0x7fff) > inf_of(t)) v = NAN;
    if ((h & 0x7fff) == inf_of(t)) v = INFINITY;
    return h & 0x8000 ? -v : v;
}
// What infinity would be if the exponents went on: the value that decides about overflow.
static double ladder(weft_dtype t, int i) {
    return i < inf_of(t) ? decode(t, (uint16_t)i) : t == WEFT_F16 ? 0x1p16 : 0x1p128;
}
static uint16_t encode(weft_dtype t, long double v) {
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    if (v != v) return 0x7fff;
    if (v < 0) v = -v;
    int lo = 0, hi = inf_of(t);
    if (v >= ladder(t, hi)) return sign | inf_of(t);
    while (hi - lo > 1) { // ladder(lo) <= v < ladder(hi)
        int mid = (lo + hi) / 2;
        *(v >= ladder(t, mid) ? &lo : &hi) = mid;
    }
    long double middle = ((long double)ladder(t, lo) + ladder(t, hi)) / 2;
    return sign | (uint16_t)(v < middle || (v == middle && lo % 2 == 0) ? lo : hi);
}
static bool nan_of(weft_dtype t, uint16_t h) { return (h & 0x7fff) > inf_of(t); }
static bool same(weft_dtype t, uint16_t a, uint16_t b) { return a == b || (nan_of(t, a) && nan_of(t, b)); }

// ---- conversions ----------------------------------------------------------------------------------------
static uint16_t all[65536];
static void fill_all(void) {
    for (int i = 0; i < 65536; i++)
        all[i] = (uint16_t)i;
}

Test(half, every_value_to_every_type) {
    enum { N = 65536 };
    static double d[N];
    static float f[N];
    static uint16_t back[N];
    static unsigned char bytes[8 * N];
    fill_all();
    EACH_CTX(g) for (int k = 0; k < 2; k++) {
        weft_dtype t = halves[k];
        weft_array a = weft_dense(t, all, 1, DIMS(N));
        weft_expr *x = weft_from(g, &a);
        eval_into("f32", g, weft_cast(x, WEFT_F32), f);
        eval_into("f64", g, weft_cast(x, WEFT_F64), d);
        for (int i = 0; i < N; i++) {
            double w = decode(t, (uint16_t)i);
            cr_assert(isnan(w) ? isnan(d[i]) && isnan(f[i])
                               : d[i] == w && f[i] == w && !signbit(d[i]) == !signbit(w) && !signbit(f[i]) == !signbit(w),
                      "%s %04x: %g", weft_dtype_name(t), (unsigned)i, d[i]);
        }
        for (weft_dtype to = WEFT_BOOL; to <= WEFT_U64; to++) { // as f64 does, which is tested elsewhere
            static unsigned char want[8 * N];
            weft_array da = weft_dense(WEFT_F64, d, 1, DIMS(N));
            eval_into("int", g, weft_cast(x, to), bytes);
            eval_into("int", g, weft_cast(weft_from(g, &da), to), want);
            cr_assert(!memcmp(bytes, want, N * weft_dtype_size(to)), "%s to %s", weft_dtype_name(t),
                      weft_dtype_name(to));
        }
        weft_array fa = weft_dense(WEFT_F32, f, 1, DIMS(N)), da = weft_dense(WEFT_F64, d, 1, DIMS(N));
        eval_into("back", g, weft_cast(weft_from(g, &fa), t), back);
        for (int i = 0; i < N; i++)
            cr_assert(same(t, back[i], (uint16_t)i));
        eval_into("back", g, weft_cast(weft_from(g, &da), t), back);
        for (int i = 0; i < N; i++)
            cr_assert(same(t, back[i], (uint16_t)i));
        weft_dtype other = halves[!k];
        eval_into("other", g, weft_cast(x, other), back);
        for (int i = 0; i < N; i++)
            cr_assert(same(other, back[i], encode(other, decode(t, (uint16_t)i))), "%04x", (unsigned)i);
    }
}

static uint64_t next(uint64_t *s) {
    *s += 0x9e3779b97f4a7c15u;
    uint64_t z = (*s ^ *s >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// All midpoints between neighbours with both signs, the values beside them, and random bits.
static int hard_doubles(weft_dtype t, double *d, int n) {
    static const double step[] = {0, 0x1p-52, -0x1p-53, 0x1p-30, -0x1p-30, 0x1p-24, -0x1p-25};
    uint64_t seed = 7;
    int k = 0;
    for (int i = 0; i < inf_of(t) && k + 14 < n; i += i < 40 || i > inf_of(t) - 40 ? 1 : 37) {
        double middle = (ladder(t, i) + ladder(t, i + 1)) / 2;
        for (size_t s = 0; s < sizeof step / sizeof *step; s++) {
            d[k++] = middle * (1 + step[s]);
            d[k++] = -middle * (1 + step[s]);
        }
    }
    while (k < n) {
        uint64_t u = next(&seed);
        memcpy(&d[k++], &u, sizeof u);
        if (k < n) d[k] = ldexp((double)(u >> 11), (int)(u % 60) - 85 - (t == WEFT_BF16 ? (int)(u % 200) - 100 : 0)), k++;
    }
    return n;
}

Test(half, floats_round_once) {
    enum { N = 60001 };
    static double d[N];
    static float f[N];
    static uint16_t out[N], wd[N], wf[N];
    for (int k = 0; k < 2; k++) {
        weft_dtype t = halves[k];
        hard_doubles(t, d, N);
        for (int i = 0; i < N; i++) {
            f[i] = (float)d[i];
            wd[i] = encode(t, (long double)d[i]);
            wf[i] = encode(t, (long double)f[i]);
        }
        EACH_CTX(g) {
            weft_array fa = weft_dense(WEFT_F32, f, 1, DIMS(N)), da = weft_dense(WEFT_F64, d, 1, DIMS(N));
            eval_into("f32", g, weft_cast(weft_from(g, &fa), t), out);
            for (int i = 0; i < N; i++)
                cr_assert(same(t, out[i], wf[i]), "%s(f32 %a): %04x, not %04x", weft_dtype_name(t), (double)f[i], out[i], wf[i]);
            eval_into("f64", g, weft_cast(weft_from(g, &da), t), out);
            for (int i = 0; i < N; i++)
                cr_assert(same(t, out[i], wd[i]), "%s(f64 %a): %04x, not %04x", weft_dtype_name(t), d[i], out[i], wd[i]);
        }
    }
}

Test(half, literals_round_once) {
    enum { N = 3000 };
    static double d[N];
    weft_graph *g = weft_graph_new(ctxs[0]);
    for (int k = 0; k < 2; k++) {
        hard_doubles(halves[k], d, N);
        for (int i = 0; i < N; i++) {
            uint16_t out;
            eval_into("literal", g, weft_cast(weft_float(g, d[i]), halves[k]), &out);
            cr_assert(same(halves[k], out, encode(halves[k], (long double)d[i])), "%a", d[i]);
            if (i % 100 == 0) weft_graph_reset(g);
        }
    }
    weft_graph_free(g);
}

Test(half, integers_round_once) {
    enum { N = 20000 };
    static int64_t v[N];
    static unsigned char in[8 * N];
    static uint16_t out[N];
    uint64_t seed = 3;
    for (int i = 0; i < N; i++) { // near midpoints of bf16 at every size, and others
        int bit = 10 + (int)(next(&seed) % 53);
        uint64_t top = 1 + 2 * (next(&seed) & 127) + 256, low = next(&seed) % 5;
        v[i] = (int64_t)((top << (bit > 9 ? bit - 9 : 0)) + low - 2);
        if (i % 3 == 0) v[i] = (int64_t)(next(&seed) >> (next(&seed) % 64));
        if (i % 2) v[i] = (int64_t)(0 - (uint64_t)v[i]);
    }
    v[0] = INT64_MIN, v[1] = INT64_MAX, v[2] = -1, v[3] = 65519, v[4] = 65520, v[5] = (1ll << 62) + (1ll << 54) + 1;
    EACH_CTX(g) for (int k = 0; k < 2; k++) for (weft_dtype from = WEFT_BOOL; from <= WEFT_U64; from++) {
        size_t size = weft_dtype_size(from);
        for (int i = 0; i < N; i++)
            memcpy(in + size * (size_t)i, &v[i], size);
        weft_array a = weft_dense(from, in, 1, DIMS(N));
        eval_into("int", g, weft_cast(weft_from(g, &a), halves[k]), out);
        for (int i = 0; i < N; i++) {
            int64_t w = v[i];
            int bits = (int)(64 - 8 * size);
            long double x = from == WEFT_BOOL   ? (w & 255) != 0
                            : from >= WEFT_U8 ? (long double)((uint64_t)w << bits >> bits)
                                              : (long double)((int64_t)((uint64_t)w << bits) >> bits);
            uint16_t want = encode(halves[k], x);
            cr_assert_eq(out[i], want, "%s to %s: %Lg: %04x, not %04x", weft_dtype_name(from),
                         weft_dtype_name(halves[k]), x, out[i], want);
        }
    }
}

// ---- operations -----------------------------------------------------------------------------------------
static const struct {
    const char *name;
    weft_expr *(*two)(weft_expr *, weft_expr *);
} binary[] = {{"add", weft_add},         {"sub", weft_sub},           {"mul", weft_mul},
              {"div", weft_true_divide}, {"minimum", weft_minimum},   {"maximum", weft_maximum},
              {"fmin", weft_fmin},       {"remainder", weft_remainder}, {"floor_divide", weft_floor_divide},
              {"copysign", weft_copysign}, {"hypot", weft_hypot},     {"pow", weft_pow}},
  compared[] = {{"equal", weft_equal}, {"not_equal", weft_not_equal}, {"less", weft_less},
                {"less_equal", weft_less_equal}, {"logical_and", weft_logical_and}};
static const struct {
    const char *name;
    weft_expr *(*one)(weft_expr *);
} unary[] = {{"neg", weft_neg}, {"abs", weft_abs}, {"sqrt", weft_sqrt}, {"square", weft_square}, {"floor", weft_floor},
             {"round", weft_round}, {"reciprocal", weft_reciprocal}, {"sign", weft_sign}, {"exp", weft_exp},
             {"log", weft_log}, {"sin", weft_sin}, {"tanh", weft_tanh}};

enum { PAIRS = 251 * 251 };
static uint16_t pa[PAIRS], pb[PAIRS];
static void fill_pairs(weft_dtype t) {
    uint16_t v[251];
    uint64_t seed = 99;
    static const double some[] = {0, 1, 2, 0.5, 3, 1.5, 65504, 2048, 2049, 0x1p-24, 0x1p-14, 0x1p-15, 0.1, 1e-3, INFINITY, NAN};
    for (int i = 0; i < 251; i++) {
        v[i] = (uint16_t)next(&seed);
        if (i < 32) v[i] = (uint16_t)(encode(t, (long double)some[i / 2]) ^ (i % 2 ? 0x8000 : 0));
    }
    for (int i = 0; i < PAIRS; i++)
        pa[i] = v[i / 251], pb[i] = v[i % 251];
}

// The f32 operation by weft itself over widened operands, then one rounding by the oracle.
Test(half, operations_are_f32_rounded_once) {
    static float fa[PAIRS], fb[PAIRS], fr[PAIRS];
    static uint16_t out[PAIRS];
    static unsigned char truth[PAIRS], want[PAIRS];
    for (int k = 0; k < 2; k++) {
        weft_dtype t = halves[k];
        fill_pairs(t);
        for (int i = 0; i < PAIRS; i++)
            fa[i] = (float)decode(t, pa[i]), fb[i] = (float)decode(t, pb[i]);
        weft_array a = weft_dense(t, pa, 1, DIMS(PAIRS)), b = weft_dense(t, pb, 1, DIMS(PAIRS));
        weft_array wa = weft_dense(WEFT_F32, fa, 1, DIMS(PAIRS)), wb = weft_dense(WEFT_F32, fb, 1, DIMS(PAIRS));
        EACH_CTX(g) {
            weft_expr *x = weft_from(g, &a), *y = weft_from(g, &b), *p = weft_from(g, &wa), *q = weft_from(g, &wb);
            for (size_t o = 0; o < sizeof binary / sizeof *binary + sizeof unary / sizeof *unary; o++) {
                bool two = o < sizeof binary / sizeof *binary;
                size_t u = two ? 0 : o - sizeof binary / sizeof *binary;
                const char *name = two ? binary[o].name : unary[u].name;
                weft_expr *r = two ? binary[o].two(x, y) : unary[u].one(x);
                cr_assert(r && weft_expr_dtype(r) == t, "%s: %s", name, weft_graph_error(g));
                eval_into(name, g, r, out);
                eval_into(name, g, two ? binary[o].two(p, q) : unary[u].one(p), fr);
                for (int i = 0; i < PAIRS; i++)
                    cr_assert(same(t, out[i], encode(t, (long double)fr[i])), "%s %s(%04x, %04x): %04x, f32 %a",
                              weft_dtype_name(t), name, pa[i], pb[i], out[i], (double)fr[i]);
            }
            for (size_t o = 0; o < sizeof compared / sizeof *compared; o++) {
                eval_into(compared[o].name, g, compared[o].two(x, y), truth);
                eval_into(compared[o].name, g, compared[o].two(p, q), want);
                cr_assert(!memcmp(truth, want, PAIRS), "%s", compared[o].name);
            }
        }
    }
}

// Exactly rounded operations against exact arithmetic: f64 holds sums and products of halves.
Test(half, arithmetic_is_exactly_rounded) {
    static uint16_t out[PAIRS];
    for (int k = 0; k < 2; k++) {
        weft_dtype t = halves[k];
        fill_pairs(t);
        weft_array a = weft_dense(t, pa, 1, DIMS(PAIRS)), b = weft_dense(t, pb, 1, DIMS(PAIRS));
        weft_graph *g = weft_graph_new(ctxs[5]);
        weft_expr *x = weft_from(g, &a), *y = weft_from(g, &b);
        for (int o = 0; o < 4; o++) {
            eval_into(binary[o].name, g, binary[o].two(x, y), out);
            for (int i = 0; i < PAIRS; i++) {
                long double p = decode(t, pa[i]), q = decode(t, pb[i]);
                long double w = o == 0 ? p + q : o == 1 ? p - q : o == 2 ? p * q : p / q;
                // below the normal numbers of f32 there are two roundings, as documented
                if (k == 1 && w != 0 && fabsl(w) < 0x1p-126L) continue;
                cr_assert(same(t, out[i], encode(t, w)), "%s %s(%04x, %04x): %04x", weft_dtype_name(t), binary[o].name,
                          pa[i], pb[i], out[i]);
            }
        }
        weft_graph_free(g);
    }
}

// A chain, in place, over views, with literals: fused, unfused and interpreted give the same bits.
Test(half, chains_keep_their_bits) {
    enum { R = 37, C = 53 };
    static uint16_t m[R * C], first[R * C], out[R * C];
    uint64_t seed;
    for (int k = 0; k < 2; k++) {
        weft_dtype t = halves[k];
        bool have = false;
        EACH_CTX(g) for (int unfused = 0; unfused < 2; unfused++) {
            seed = 5;
            for (int i = 0; i < R * C; i++)
                m[i] = encode(t, (long double)((int)(next(&seed) % 2000) - 1000) / 64);
            weft_array a = weft_dense(t, m, 2, DIMS(R, C)), o = weft_dense(t, out, 2, DIMS(C, R));
            weft_expr *x = weft_transpose(weft_from(g, &a), NULL), *f = weft_flip(x, 1);
            weft_expr *e = weft_where(weft_less(x, f), weft_add(weft_mul(x, weft_float(g, 0.1)), f),
                                      weft_sqrt(weft_abs(weft_sub(x, weft_int(g, 3)))));
            cr_assert_eq(weft_expr_dtype(e), t);
            weft_eval_opts opts = {.size = sizeof opts, .unfused = unfused};
            must(g, weft_eval(e, &o, &opts));
            if (!have) memcpy(first, out, sizeof first), have = true;
            cr_assert(!memcmp(first, out, sizeof first), "context %d unfused %d", c_, unfused);
            weft_array view = weft_strided(t, m, 2, DIMS(C, R), DIMS(2, 2 * C));
            must(g, weft_eval(e, &view, &opts)); // over its own input
            for (int r = 0; r < R; r++)
                for (int c = 0; c < C; c++)
                    cr_assert_eq(m[r * C + c], first[c * R + r]);
        }
        // one step against the oracle: 0.1 is a half before it multiplies
        double tenth = decode(t, encode(t, 0.1L));
        cr_expect(tenth != 0.1);
    }
}

// ---- reductions -----------------------------------------------------------------------------------------
Test(half, reductions) {
    enum { N = 100001 };
    static uint16_t v[N];
    static float f[N];
    uint64_t seed = 11;
    for (int k = 0; k < 2; k++) {
        weft_dtype t = halves[k];
        for (int i = 0; i < N; i++) {
            v[i] = encode(t, (long double)((int)(next(&seed) % 4001) - 1500) / 1024);
            f[i] = (float)decode(t, v[i]);
        }
        weft_array a = weft_dense(t, v, 1, DIMS(N)), w = weft_dense(WEFT_F32, f, 1, DIMS(N));
        EACH_CTX(g) {
            weft_expr *x = weft_from(g, &a), *y = weft_from(g, &w);
            weft_expr *(*const red[])(weft_expr *, const weft_reduce *) = {weft_sum, weft_min, weft_max, weft_prod};
            for (int r = 0; r < 4; r++) { // f32 accumulates, one rounding
                uint16_t got;
                float want;
                weft_expr *e = red[r](x, NULL);
                cr_assert_eq(weft_expr_dtype(e), t);
                eval_into("reduce", g, e, &got);
                eval_into("reduce", g, red[r](y, NULL), &want);
                cr_expect(same(t, got, encode(t, (long double)want)), "%d: %04x, f32 %a", r, got, (double)want);
            }
            weft_expr *(*const moment[])(weft_expr *, const weft_reduce *) = {weft_mean, weft_var, weft_std};
            for (int r = 0; r < 3; r++) { // f64 accumulates, one rounding
                uint16_t got;
                double want;
                eval_into("moment", g, moment[r](x, NULL), &got);
                eval_into("moment", g, moment[r](weft_cast(y, WEFT_F64), NULL), &want);
                cr_expect(same(t, got, encode(t, (long double)want)), "%d: %04x, f64 %a", r, got, want);
            }
            int64_t at[2], want[2];
            eval_into("argmax", g, weft_argmax(x, NULL), &at[0]);
            eval_into("argmax", g, weft_argmax(y, NULL), &want[0]);
            eval_into("count", g, weft_count_nonzero(x, NULL), &at[1]);
            eval_into("count", g, weft_count_nonzero(y, NULL), &want[1]);
            cr_expect(at[0] == want[0] && at[1] == want[1]);
        }
    }
}

Test(half, special_reductions_and_matmul) {
    EACH_CTX(g) for (int k = 0; k < 2; k++) {
        weft_dtype t = halves[k];
        uint16_t big[600], nan[3], got, m[6], want[4], out[4];
        for (int i = 0; i < 600; i++)
            big[i] = encode(t, 100); // 60000: stalls in f16 sums of f16
        weft_array a = weft_dense(t, big, 1, DIMS(600));
        eval_into("sum", g, weft_sum(weft_from(g, &a), NULL), &got);
        cr_expect_eq(got, encode(t, 60000));
        nan[0] = encode(t, 2), nan[1] = 0x7fff, nan[2] = encode(t, 1);
        weft_array na = weft_dense(t, nan, 1, DIMS(3));
        weft_reduce skip = {.size = sizeof skip, .nan = WEFT_NAN_SKIP};
        eval_into("max", g, weft_max(weft_from(g, &na), NULL), &got);
        cr_expect(nan_of(t, got));
        eval_into("nanmax", g, weft_max(weft_from(g, &na), &skip), &got);
        cr_expect_eq(got, encode(t, 2));
        eval_into("nansum", g, weft_sum(weft_from(g, &na), &skip), &got);
        cr_expect_eq(got, encode(t, 3));
        for (int i = 0; i < 6; i++)
            m[i] = encode(t, i + 1);
        weft_array ma = weft_dense(t, m, 2, DIMS(2, 3));
        weft_expr *x = weft_from(g, &ma);
        eval_into("matmul", g, weft_matmul(x, weft_transpose(x, NULL)), out);
        static const int product[] = {14, 32, 32, 77};
        for (int i = 0; i < 4; i++)
            want[i] = encode(t, product[i]);
        cr_expect(!memcmp(out, want, sizeof want));
        uint16_t index[5];
        eval_into("iota", g, weft_iota(g, t, 1, DIMS(5), 0), index);
        for (int i = 0; i < 5; i++)
            cr_expect_eq(index[i], encode(t, i));
    }
}
