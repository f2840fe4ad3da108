// SPDX-License-Identifier: MIT
// Checked mode: every kind of fault in every integer type, just inside and just outside; places in
// broadcast and strided shapes; the order of faults; the same outputs as without; random graphs against a
// naive checker in 128-bit arithmetic; weft_eval, weft_eval_n, programs at other shapes; both tiers.
#include <math.h>

#include "cases.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
__extension__ typedef __int128 wide;

static weft_ctx *tier[2];
static void begin(void) {
    tier[0] = new_ctx(WEFT_BACKEND_INTERP, 1);
    tier[1] = new_ctx(WEFT_BACKEND_JIT, 2);
}
static void end(void) {
    weft_ctx_free(tier[0]);
    weft_ctx_free(tier[1]);
}
TestSuite(checked, .init = begin, .fini = end, .timeout = 120);

static weft_graph *watched(weft_ctx *ctx) {
    weft_graph *g = weft_graph_new(ctx);
    cr_assert_eq(weft_graph_check(g, true), WEFT_OK);
    return g;
}

// ---- integers -----------------------------------------------------------------------------------------
static bool is_signed(weft_dtype t) { return t >= WEFT_I8 && t <= WEFT_I64; }
static int width(weft_dtype t) { return 8 * (int)weft_dtype_size(t); }
static wide least(weft_dtype t) { return is_signed(t) ? -((wide)1 << (width(t) - 1)) : 0; }
static wide greatest(weft_dtype t) { return ((wide)1 << (width(t) - is_signed(t))) - 1; }
static bool fits(weft_dtype t, wide v) { return v >= least(t) && v <= greatest(t); }
static void put(weft_dtype t, void *p, int64_t i, wide v) {
    const uint64_t bits = (uint64_t)v;
    memcpy((char *)p + (size_t)i * weft_dtype_size(t), &bits, weft_dtype_size(t));
}
static wide get(weft_dtype t, const void *p, int64_t i) {
    uint64_t u = 0;
    memcpy(&u, (const char *)p + (size_t)i * weft_dtype_size(t), weft_dtype_size(t));
    if (is_signed(t) && u >> (width(t) - 1) & 1) return (wide)u - ((wide)1 << width(t));
    return (wide)u;
}

// Of two 64-bit numbers; what 127 bits do not hold is far outside anyway, and wraps as it should.
static bool product(wide a, wide b, wide *r) { return !__builtin_mul_overflow(a, b, r); }
static wide wrapping(wide a, wide b) {
    wide r;
    (void)product(a, b, &r);
    return r;
}

enum fault { NONE, ZERO, COUNT, RANGE, OVERFLOW };
static const char *const faults[] = {"", "integer division by zero", "shift count out of range", "cast out of range",
                                     "integer overflow"};

static wide power(wide a, wide n) { // saturates far outside of 64 bits
    wide r = 1;
    if (a == 0 || a == 1 || a == -1) return n == 0 ? 1 : a == -1 && n % 2 == 0 ? 1 : a;
    for (wide i = 0; i < n; i++) {
        if (r > ((wide)1 << 66) / (a < 0 ? -a : a) || -r > ((wide)1 << 66) / (a < 0 ? -a : a)) return (wide)1 << 70;
        r *= a;
    }
    return r;
}
static wide common(wide a, wide b) {
    a = a < 0 ? -a : a, b = b < 0 ? -b : b;
    while (b) {
        const wide r = a % b;
        a = b, b = r;
    }
    return a;
}

typedef weft_expr *binary(weft_expr *, weft_expr *);
static weft_expr *neg(weft_expr *a, weft_expr *b) { return (void)b, weft_neg(a); }
static weft_expr *absolute(weft_expr *a, weft_expr *b) { return (void)b, weft_abs(a); }
static weft_expr *square(weft_expr *a, weft_expr *b) { return (void)b, weft_square(a); }
static weft_expr *recip(weft_expr *a, weft_expr *b) { return (void)b, weft_reciprocal(a); }
enum { ADD, SUB, MUL, FLOORDIV, REM, POW, LCM, SHL, SHR, NEG, ABS, SQUARE, RECIP, MAXIMUM, ROTL, OPS };
static const struct {
    const char *name;
    binary *make;
} ops[OPS] = {{"add", weft_add}, {"sub", weft_sub}, {"mul", weft_mul}, {"floor_divide", weft_floor_divide},
              {"remainder", weft_remainder}, {"pow", weft_pow}, {"lcm", weft_lcm}, {"left_shift", weft_left_shift},
              {"right_shift", weft_right_shift}, {"neg", neg}, {"abs", absolute}, {"square", square},
              {"reciprocal", recip}, {"maximum", weft_maximum}, {"rotate_left", weft_rotate_left}};

static enum fault judge(int op, weft_dtype t, wide a, wide b) {
#define FITS(v) (fits(t, v) ? NONE : OVERFLOW)
    wide r;
    switch (op) {
    case ADD: return FITS(a + b);
    case SUB: return FITS(a - b);
    case MUL: return product(a, b, &r) ? FITS(r) : OVERFLOW;
    case FLOORDIV: return b == 0 ? ZERO : b == -1 ? FITS(-a) : NONE;
    case REM: return b == 0 ? ZERO : NONE;
    case POW: return b < 0 ? (a == 0 ? ZERO : NONE) : FITS(power(a, b));
    case LCM: return a == 0 || b == 0 ? NONE : product((a < 0 ? -a : a) / common(a, b), b < 0 ? -b : b, &r) ? FITS(r) : OVERFLOW;
    case SHL:
    case SHR: return b < 0 || b >= width(t) ? COUNT : NONE;
    case NEG: return FITS(-a);
    case ABS: return FITS(a < 0 ? -a : a);
    case SQUARE: return product(a, a, &r) ? FITS(r) : OVERFLOW;
    case RECIP: return a == 0 ? ZERO : NONE;
    default: return NONE;
    }
}

// Values at which something happens: ends, powers, roots, small ones.
static int edge_values(weft_dtype t, wide *v) {
    int n = 0;
    for (int s = -1; s <= 1; s++)
        for (int k = -3; k <= 3; k++) {
            wide x = s < 0 ? least(t) + k : s ? greatest(t) + k : k;
            if (fits(t, x)) v[n++] = x;
        }
    for (int b = 2; b < width(t); b += b > 4 && b < width(t) / 2 - 2 ? 5 : b > width(t) / 2 + 1 && b < width(t) - 4 ? 7 : 1)
        for (int k = -1; k <= 1; k++)
            for (int s = -1; s <= 1; s += 2)
                if (fits(t, s * (((wide)1 << b) + k))) v[n++] = s * (((wide)1 << b) + k);
    const wide roots[] = {3037000499, 3037000500, 4294967295, 46340, 46341, 65535, 181, 182, 255, 11, 12, 15, 16, 2097151, 2097152, 1290, 1291, 1625, 1626};
    for (size_t i = 0; i < COUNT_OF(roots); i++)
        for (int s = -1; s <= 1; s += 2)
            if (fits(t, s * roots[i])) v[n++] = s * roots[i];
    return n;
}

enum { MOST = 600 };
static bool is_unary(int op) { return op >= NEG && op <= RECIP; }
static weft_expr *apply(int op, weft_graph *g, const weft_array *x, const weft_array *y, const int64_t *d) {
    if (is_unary(op)) return ops[op].make(weft_broadcast_to(weft_from(g, x), 2, d), NULL);
    return ops[op].make(weft_from(g, x), weft_broadcast_to(weft_from(g, y), 2, d));
}
static void same_as_plain(weft_ctx *ctx, int op, const weft_array *x, const weft_array *y, const weft_array *got) {
    static _Alignas(8) char plain[8 * MOST * MOST];
    weft_graph *h = weft_graph_new(ctx);
    weft_array other = weft_dense(got->dtype, plain, 2, got->dims);
    cr_assert_eq(weft_eval(apply(op, h, x, y, got->dims), &other, NULL), WEFT_OK);
    cr_expect_eq(memcmp(got->data, plain, (size_t)weft_array_count(got) * weft_dtype_size(got->dtype)), 0);
    weft_graph_free(h);
}

// All pairs in one evaluation: the first fault in row-major order; then those before it have none.
static void one_by_one(weft_ctx *ctx, int op, weft_dtype t, const wide *v, int n) {
    static _Alignas(8) char a[8 * MOST], b[8 * MOST], out[8 * MOST * MOST];
    for (int i = 0; i < n; i++)
        put(t, a, i, v[i]), put(t, b, i, v[i]);
    static uint8_t verdict[MOST * MOST];
    for (int i = 0; i < n * n; i++)
        verdict[i] = (uint8_t)judge(op, t, v[i / n], v[i % n]);
    int64_t row = 0, rows = n;
    while (row < rows) { // from the row of the last fault on
        const int64_t da[2] = {rows - row, 1}, db[1] = {n}, d[2] = {rows - row, n};
        weft_array x = weft_dense(t, a + (size_t)row * weft_dtype_size(t), 2, da), y = weft_dense(t, b, 1, db);
        weft_graph *g = watched(ctx);
        weft_expr *e = apply(op, g, &x, &y, d);
        weft_array to = weft_dense(t, out, 2, d);
        const weft_status st = weft_eval(e, &to, NULL);
        int64_t at = 0;
        enum fault f = NONE, kind = NONE;
        for (enum fault k = ZERO; k <= OVERFLOW && !f; k++) // by kind first
            for (at = 0; at < d[0] * n && !f; at++)
                if (verdict[row * n + at] == k) f = k;
        kind = f;
        char want[200] = "";
        if (kind)
            snprintf(want, sizeof want, "%s: %s at [%lld,%lld] of %s[%lld,%lld]", ops[op].name, faults[kind],
                     (long long)((at - 1) / n), (long long)((at - 1) % n), weft_dtype_name(t), (long long)d[0], (long long)n);
        cr_assert_str_eq(weft_graph_error(g), want, "got '%s', expected '%s'", weft_graph_error(g), want);
        cr_expect_eq(st, kind ? WEFT_ECHECK : WEFT_OK);
        if (!row) same_as_plain(ctx, op, &x, &y, &to);
        weft_graph_free(g);
        if (!kind) break;
        row += (at - 1) / n + 1 + n / 12; // the rows behind it get their turn
    }
}

Test(checked, integer_operations) {
    for (weft_dtype t = WEFT_I8; t <= WEFT_U64; t++) {
        wide v[MOST];
        const int n = edge_values(t, v);
        for (int op = 0; op < OPS; op++)
            one_by_one(tier[(op + (int)t) % 2], op, t, v, n);
    }
}

Test(checked, casts) {
    for (weft_dtype s = WEFT_I8; s <= WEFT_U64; s++)
        for (weft_dtype t = WEFT_I8; t <= WEFT_U64; t++) {
            wide v[MOST];
            char a[8 * MOST], out[8 * MOST];
            const int n = edge_values(s, v);
            for (int i = 0; i < n; i++) { // one value among ones that fit
                const int64_t d[1] = {5};
                for (int k = 0; k < 5; k++)
                    put(s, a, k, k == 3 ? v[i] : 1);
                weft_graph *g = watched(tier[i % 2]);
                weft_array x = weft_dense(s, a, 1, d), to = weft_dense(t, out, 1, d);
                const weft_status st = weft_eval(weft_cast(weft_from(g, &x), t), &to, NULL);
                cr_expect_eq(st, fits(t, v[i]) ? WEFT_OK : WEFT_ECHECK, "%s to %s, value %d", weft_dtype_name(s), weft_dtype_name(t), i);
                char want[100];
                snprintf(want, sizeof want, "cast: cast out of range at [3] of %s[5]", weft_dtype_name(t));
                if (st) cr_expect_str_eq(weft_graph_error(g), want);
                weft_graph_free(g);
            }
        }
}

Test(checked, casts_from_floats) {
    for (weft_dtype t = WEFT_I8; t <= WEFT_U64; t++) {
        const double top = ldexp(1, width(t) - is_signed(t)), low = is_signed(t) ? -top : 0;
        const struct { double v; bool ok; } rows[] = {
            {0, true}, {-0.0, true}, {-0.999, true}, {nextafter(top, 0), true}, {top, false}, {-1, is_signed(t)},
            {low, true}, {nextafter(low - 1, low), true}, {width(t) < 54 ? low - 1 : nextafter(low, -INFINITY) - 1, false},
            {NAN, false}, {INFINITY, false}, {-INFINITY, false}, {top / 2 + 0.5, true}, {1e300, false}};
        for (size_t i = 0; i < COUNT_OF(rows); i++)
            for (int f32 = 0; f32 < 2; f32++) {
                float s[2] = {1, (float)rows[i].v};
                double d[2] = {1, rows[i].v};
                if (f32 && (double)s[1] != d[1] && !isnan(d[1])) continue;
                if (i == 7 && width(t) == 64) continue; // low - 1 is low
                char out[16];
                const int64_t n = 2;
                weft_graph *g = watched(tier[i % 2]);
                weft_array x = weft_dense(f32 ? WEFT_F32 : WEFT_F64, f32 ? (void *)s : d, 1, &n), to = weft_dense(t, out, 1, &n);
                cr_expect_eq(weft_eval(weft_cast(weft_from(g, &x), t), &to, NULL), rows[i].ok ? WEFT_OK : WEFT_ECHECK,
                             "%.17g to %s", rows[i].v, weft_dtype_name(t));
                weft_graph_free(g);
            }
    }
}

// ---- totals ---------------------------------------------------------------------------------------------
static weft_graph *under_way;
// Outcome of an expression over one array, and the sentence.
static weft_status outcome(weft_ctx *ctx, weft_expr *(*make)(weft_expr *), const weft_array *x, char *text, size_t size) {
    static _Alignas(16) char out[1 << 16];
    weft_graph *g = under_way = watched(ctx);
    weft_expr *e = make(weft_from(g, x));
    cr_assert(e, "%s", weft_graph_error(g));
    weft_array to = weft_dense(weft_expr_dtype(e), out, weft_expr_rank(e), weft_expr_dims(e));
    cr_assert_leq(weft_array_count(&to) * 8, (int64_t)sizeof out);
    const weft_status st = weft_eval(e, &to, NULL);
    snprintf(text, size, "%s", weft_graph_error(g));
    weft_graph_free(g);
    return st;
}
#define EXPECT(ctx, make, x, want)                                                                 \
    do {                                                                                           \
        char got_[400];                                                                            \
        const weft_status st_ = outcome(ctx, make, x, got_, sizeof got_);                          \
        cr_expect_str_eq(got_, want, "got '%s', expected '%s'", got_, want);                       \
        cr_expect_eq(st_, *(want) ? WEFT_ECHECK : WEFT_OK);                                        \
    } while (0)

static weft_expr *sum_all(weft_expr *x) { return weft_sum(x, NULL); }
static weft_expr *sum_last(weft_expr *x) { const int a = 1; const weft_reduce r = along(&a, false); return weft_sum(x, &r); }
static weft_expr *sum_first(weft_expr *x) { const int a = 0; const weft_reduce r = along(&a, false); return weft_sum(x, &r); }
static weft_expr *prod_all(weft_expr *x) { return weft_prod(x, NULL); }
static weft_expr *cumsum0(weft_expr *x) { return weft_cumsum(x, 0); }
static weft_expr *cumprod0(weft_expr *x) { return weft_cumprod(x, 0); }
static weft_expr *mean_all(weft_expr *x) { return weft_mean(x, NULL); }
static weft_expr *times_itself(weft_expr *x) { return weft_matmul(x, x); }

Test(checked, totals) {
    for (int k = 0; k < 2; k++) {
        weft_ctx *c = tier[k];
        int64_t top[4] = {INT64_MAX, 1, -1, 0}, in[3] = {INT64_MAX - 5, 2, 3}, low[3] = {INT64_MIN, 1, -1};
        weft_array x = weft_dense(WEFT_I64, top, 1, DIMS(4));
        EXPECT(c, sum_all, &x, ""); // wraps on the way in some orders, the sum fits
        EXPECT(c, cumsum0, &x, "scan: integer overflow at [1] of i64[4]");
        x = weft_dense(WEFT_I64, top, 1, DIMS(2));
        EXPECT(c, sum_all, &x, "sum: integer overflow at [] of i64");
        x = weft_dense(WEFT_I64, in, 1, DIMS(3));
        EXPECT(c, sum_all, &x, "");
        x = weft_dense(WEFT_I64, low, 1, DIMS(3));
        EXPECT(c, sum_all, &x, "");
        low[1] = -1;
        EXPECT(c, sum_all, &x, "sum: integer overflow at [] of i64");
        EXPECT(c, mean_all, &x, "");
        uint64_t u[4] = {UINT64_MAX - 1, 1, 0, 0};
        x = weft_dense(WEFT_U64, u, 1, DIMS(4));
        EXPECT(c, sum_all, &x, "");
        u[3] = 1;
        EXPECT(c, sum_all, &x, "sum: integer overflow at [] of u64");
        int8_t small[3] = {127, 127, 127};
        x = weft_dense(WEFT_I8, small, 1, DIMS(3));
        EXPECT(c, sum_all, &x, ""); // sums are 64 bits wide
        int32_t p[4] = {1 << 30, 1 << 30, 4, -2};
        x = weft_dense(WEFT_I32, p, 1, DIMS(2));
        EXPECT(c, prod_all, &x, "");
        x = weft_dense(WEFT_I32, p, 1, DIMS(3));
        EXPECT(c, prod_all, &x, ""); // 2^62
        p[2] = 8;
        EXPECT(c, prod_all, &x, "prod: integer overflow at [] of i64"); // 2^63
        EXPECT(c, cumprod0, &x, "scan: integer overflow at [2] of i64[3]");
        p[2] = -8;
        EXPECT(c, prod_all, &x, "");
        EXPECT(c, cumprod0, &x, "");
        int64_t big[200];
        for (int i = 0; i < 200; i++)
            big[i] = INT64_MAX;
        big[150] = 0;
        x = weft_dense(WEFT_I64, big, 1, DIMS(200));
        EXPECT(c, prod_all, &x, ""); // 0, though f64 passes through infinity
        // rows and columns
        int64_t m[6] = {1, 2, INT64_MAX, INT64_MAX, 5, 3};
        x = weft_dense(WEFT_I64, m, 2, DIMS(3, 2));
        EXPECT(c, sum_last, &x, "sum: integer overflow at [1] of i64[3]");
        EXPECT(c, sum_first, &x, "sum: integer overflow at [0] of i64[2]");
        // no memory, many terms: 2^40 times 2^22 is within, 2^41 times beyond
        int64_t one = (int64_t)1 << 22;
        weft_array wide_one = weft_strided(WEFT_I64, &one, 1, DIMS((int64_t)1 << 20), DIMS(0));
        EXPECT(c, sum_all, &wide_one, "");
        one = (int64_t)1 << 43;
        EXPECT(c, sum_all, &wide_one, "sum: integer overflow at [] of i64");
        one--;
        EXPECT(c, sum_all, &wide_one, "");
    }
}

Test(checked, matrix_products) {
    for (int k = 0; k < 2; k++) {
        weft_ctx *c = tier[k];
        int8_t a[4] = {11, 1, 6, 1};
        weft_array x = weft_dense(WEFT_I8, a, 2, DIMS(2, 2)); // [0,0] is 121 + 6 = 127
        EXPECT(c, times_itself, &x, "");
        a[2] = 7;
        EXPECT(c, times_itself, &x, "matmul: integer overflow at [0,0] of i8[2,2]");
        int32_t b[4] = {46340, 1, 88047, 1}; // 46340^2 + 88047 = 2^31 - 1
        b[2] = (int32_t)(INT32_MAX - (int64_t)46340 * 46340);
        x = weft_dense(WEFT_I32, b, 2, DIMS(2, 2));
        EXPECT(c, times_itself, &x, "matmul: integer overflow at [1,0] of i32[2,2]"); // 88047 * 46340
        b[0] = 2, b[1] = -1, b[2] = 1;
        EXPECT(c, times_itself, &x, "");
        uint32_t u[4] = {65535, 1, 131070, 1};
        x = weft_dense(WEFT_U32, u, 2, DIMS(2, 2));
        EXPECT(c, times_itself, &x, "matmul: integer overflow at [1,0] of u32[2,2]");
        int64_t l[4] = {3037000499, 1, 0, 1};
        x = weft_dense(WEFT_I64, l, 2, DIMS(2, 2));
        EXPECT(c, times_itself, &x, "");
        l[0] = 3037000500;
        EXPECT(c, times_itself, &x, "matmul: integer overflow at [0,0] of i64[2,2]");
        l[0] = INT64_MAX, l[1] = INT64_MAX, l[2] = -INT64_MAX, l[3] = 1; // 0 out of 2^126: no false alarm
        weft_graph *g = watched(c);
        weft_array row = weft_dense(WEFT_I64, l, 2, DIMS(1, 2)), col = weft_strided(WEFT_I64, l, 2, DIMS(2, 1), DIMS(16, 8));
        int64_t out;
        weft_array to = weft_dense(WEFT_I64, &out, 2, DIMS(1, 1));
        cr_expect_eq(weft_eval(weft_matmul(weft_from(g, &row), weft_from(g, &col)), &to, NULL), WEFT_OK);
        weft_graph_free(g);
        double f[4] = {1e200, 1, 1, 1};
        x = weft_dense(WEFT_F64, f, 2, DIMS(2, 2));
        EXPECT(c, times_itself, &x, "matmul: a NaN or an infinity out of finite operands at [0,0] of f64[2,2]");
        f[0] = INFINITY;
        EXPECT(c, times_itself, &x, "");
    }
}

// ---- numbers ----------------------------------------------------------------------------------------------
static weft_expr *root(weft_expr *x) { return weft_sqrt(x); }
static weft_expr *half_sum(weft_expr *x) { return weft_add(weft_cast(x, WEFT_F16), weft_cast(x, WEFT_F16)); }
static weft_expr *chosen(weft_expr *x) { return weft_where(weft_isnan(x), weft_float(under_way, 0), x); }
static weft_expr *close_to(weft_expr *x) { return weft_isclose(x, weft_neg(x), 1e-5, 1e-8, false); }
static weft_expr *complex_square(weft_expr *x) {
    weft_expr *z = weft_add(x, weft_mul(x, weft_imaginary(under_way, 1)));
    return weft_mul(z, z);
}
static weft_expr *complex_inverse(weft_expr *x) {
    return weft_true_divide(x, weft_mul(x, weft_imaginary(under_way, 1)));
}
Test(checked, numbers) {
    for (int k = 0; k < 2; k++) {
        weft_ctx *c = tier[k];
        double d[6] = {4, NAN, INFINITY, 9, -1, 1};
        weft_array x = weft_dense(WEFT_F64, d, 2, DIMS(2, 3));
        EXPECT(c, root, &x, "sqrt: a NaN or an infinity out of finite operands at [1,1] of f64[2,3]");
        d[4] = -INFINITY; // NaN out of an infinity
        EXPECT(c, root, &x, "");
        EXPECT(c, chosen, &x, "");
        EXPECT(c, sum_all, &x, "");
        double big[3] = {1e308, 1e308, 1};
        x = weft_dense(WEFT_F64, big, 1, DIMS(3));
        EXPECT(c, sum_all, &x, "sum: a NaN or an infinity out of finite operands at [] of f64");
        EXPECT(c, cumsum0, &x, "scan: a NaN or an infinity out of finite operands at [1] of f64[3]");
        EXPECT(c, close_to, &x, ""); // what is inside is not looked into
        EXPECT(c, complex_inverse, &x, "");
        EXPECT(c, complex_square, &x, "mul: a NaN or an infinity out of finite operands at [0] of f64[3]");
        big[0] = INFINITY;
        EXPECT(c, cumsum0, &x, "");
        float h[2] = {1, 40000};
        x = weft_dense(WEFT_F32, h, 1, DIMS(2));
        EXPECT(c, half_sum, &x, "add: a NaN or an infinity out of finite operands at [1] of f16[2]");
        float z[2] = {0, 2};
        x = weft_dense(WEFT_F32, z, 1, DIMS(2));
        EXPECT(c, complex_inverse, &x, "true_divide: a NaN or an infinity out of finite operands at [0] of f32[2]");
    }
}

// ---- indices ------------------------------------------------------------------------------------------------
Test(checked, indices) {
    for (int k = 0; k < 2; k++) {
        double x[4] = {1, 2, 3, 4}, out[4], before[4] = {7, 7, 7, 7};
        memcpy(out, before, sizeof out);
        int64_t i[4] = {-4, 3, 4, -5};
        weft_array a = weft_dense(WEFT_F64, x, 1, DIMS(4)), ix = weft_dense(WEFT_I64, i, 2, DIMS(2, 2));
        weft_array to = weft_dense(WEFT_F64, out, 2, DIMS(2, 2));
        for (int mode = 0; mode < 3; mode++) {
            weft_graph *g = watched(tier[k]);
            weft_expr *e = weft_take(weft_from(g, &a), weft_from(g, &ix), 0, (weft_index_mode)mode);
            cr_expect_eq(weft_eval(e, &to, NULL), mode ? WEFT_OK : WEFT_ECHECK);
            if (!mode) cr_expect_str_eq(weft_graph_error(g), "take: index out of range at [1,0] of i64[2,2]");
            weft_graph_free(g);
        }
        weft_graph *g = watched(tier[k]); // an operation before it comes first
        weft_expr *late = weft_take(weft_log(weft_sub(weft_from(g, &a), weft_float(g, 1))), weft_from(g, &ix), 0, WEFT_INDEX_RAISE);
        cr_expect_eq(weft_eval(late, &to, NULL), WEFT_ECHECK);
        cr_expect_str_eq(weft_graph_error(g), "log: a NaN or an infinity out of finite operands at [0] of f64[4]");
        weft_graph_free(g);
    }
}

// ---- order, places, modes -------------------------------------------------------------------------------------
Test(checked, the_first_of_many) {
    enum { ROWS = 300, COLS = 700 };
    int32_t *a = calloc(ROWS * COLS, sizeof *a), *out = calloc(ROWS * COLS, sizeof *out);
    weft_array x = weft_strided(WEFT_I32, a, 2, DIMS(COLS, ROWS), DIMS(4, 4 * COLS)); // turned
    weft_array to = weft_dense(WEFT_I32, out, 2, DIMS(COLS, ROWS));
    for (int threads = 1; threads <= 2; threads++)
        for (int k = 0; k < 2; k++) {
            weft_ctx *c = new_ctx(k ? WEFT_BACKEND_JIT : WEFT_BACKEND_INTERP, threads);
            a[5 * COLS + 600] = a[250 * COLS + 30] = a[7 * COLS + 30] = INT32_MAX;
            weft_graph *g = watched(c);
            weft_expr *e = weft_from(g, &x);
            weft_expr *f = weft_mul(weft_add(e, weft_int(g, 1)), e); // both overflow: the addition comes first
            cr_expect_eq(weft_eval(f, &to, NULL), WEFT_ECHECK);
            cr_expect_str_eq(weft_graph_error(g), "add: integer overflow at [30,7] of i32[700,300]");
            weft_expr *s = weft_sum(weft_add(e, weft_int(g, 1)), NULL); // fused away, looked at all the same
            int64_t total;
            weft_array one = weft_dense(WEFT_I64, &total, 0, NULL);
            cr_expect_eq(weft_eval(s, &one, NULL), WEFT_ECHECK);
            weft_expr *both[2] = {weft_sub(e, weft_int(g, 5)), s};
            weft_array outs[2] = {to, one};
            cr_expect_eq(weft_eval_n(2, both, outs, NULL), WEFT_ECHECK);
            cr_expect_str_eq(weft_graph_error(g), "add: integer overflow at [30,7] of i32[700,300]");
            cr_expect_eq(weft_eval(both[0], &to, NULL), WEFT_OK);
            cr_expect_str_eq(weft_graph_error(g), "");
            weft_graph_free(g);
            weft_ctx_free(c);
        }
    free(a);
    free(out);
}

// In place: the fault is found in what the input was, and the output is what it is without checks.
Test(checked, in_place) {
    for (int k = 0; k < 2; k++) {
        int32_t a[3] = {1, INT32_MAX, 3};
        weft_array x = weft_dense(WEFT_I32, a, 1, DIMS(3));
        weft_graph *g = watched(tier[k]);
        weft_expr *e = weft_from(g, &x);
        cr_expect_eq(weft_eval(weft_add(e, e), &x, NULL), WEFT_ECHECK);
        cr_expect_str_eq(weft_graph_error(g), "add: integer overflow at [1] of i32[3]");
        cr_expect(a[0] == 2 && a[1] == -2 && a[2] == 6);
        weft_graph_free(g);
    }
}

Test(checked, the_mode_is_for_empty_graphs) {
    weft_graph *g = weft_graph_new(tier[0]);
    weft_expr *one = weft_int(g, 1);
    cr_expect_eq(weft_graph_check(g, true), WEFT_EINVAL);
    weft_graph_reset(g);
    cr_expect_eq(weft_graph_check(g, true), WEFT_OK);
    uint8_t v = 255, out;
    for (int life = 0; life < 3; life++) { // a reset keeps it
        weft_expr *x = weft_scalar(g, WEFT_U8, &v);
        weft_array to = weft_dense(WEFT_U8, &out, 0, NULL), leaf = weft_dense(WEFT_U8, &v, 0, NULL);
        cr_expect_eq(weft_eval(weft_add(weft_from(g, &leaf), x), &to, NULL), WEFT_ECHECK);
        cr_expect_eq(out, 254);
        weft_graph_reset(g);
    }
    cr_expect_eq(weft_graph_check(g, false), WEFT_OK);
    weft_array to = weft_dense(WEFT_U8, &out, 0, NULL), leaf = weft_dense(WEFT_U8, &v, 0, NULL);
    weft_expr *e = weft_from(g, &leaf);
    cr_expect_eq(weft_eval(weft_add(e, e), &to, NULL), WEFT_OK);
    cr_expect_eq(weft_graph_check(NULL, true), WEFT_EINVAL);
    (void)one;
    weft_graph_free(g);
}

Test(checked, programs) {
    for (int k = 0; k < 2; k++) {
        weft_graph *g = watched(tier[k]);
        weft_expr *x = weft_input(g, "x", WEFT_I16, 2, DIMS(2, 3)), *y = weft_input(g, "y", WEFT_I16, 1, DIMS(3));
        weft_expr *roots[2] = {weft_mul(x, y), weft_floor_divide(x, y)};
        weft_program *p = NULL;
        cr_assert_eq(weft_compile(2, roots, &p), WEFT_OK, "%s", weft_graph_error(g));
        weft_graph_free(g);
        int16_t a[20], b[5], o1[20], o2[20];
        char err[200];
        for (int rows = 1; rows <= 4; rows++)
            for (int turn = 0; turn < 4; turn++) {
                for (int i = 0; i < 20; i++)
                    a[i] = 100;
                for (int i = 0; i < 5; i++)
                    b[i] = 2;
                weft_array in[2] = {weft_dense(WEFT_I16, a, 2, DIMS(rows, 5)), weft_dense(WEFT_I16, b, 1, DIMS(5))};
                weft_array out[2] = {weft_dense(WEFT_I16, o1, 2, DIMS(rows, 5)), weft_dense(WEFT_I16, o2, 2, DIMS(rows, 5))};
                char want[200] = "";
                if (turn & 1) b[3] = 0;
                if (turn & 2) a[5 * rows - 4] = 20000;
                if (turn & 1) snprintf(want, sizeof want, "floor_divide: integer division by zero at [0,3] of i16[%d,5]", rows);
                if (turn & 2) snprintf(want, sizeof want, "mul: integer overflow at [%d,1] of i16[%d,5]", rows - 1, rows);
                cr_expect_eq(weft_run(p, NULL, in, out, err, sizeof err), turn ? WEFT_ECHECK : WEFT_OK, "%s", err);
                cr_expect_str_eq(err, want, "got '%s', expected '%s'", err, want);
                cr_expect_eq(o1[0], 200);
                cr_expect_eq(o2[0], 50);
            }
        weft_program_free(p);
    }
}

// ---- random graphs against a naive checker -----------------------------------------------------------------------
enum { LEN = 7, NODES = 14 };
static uint64_t seed;
static uint64_t dice(uint64_t n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % n;
}
struct naive {
    weft_dtype t;
    wide v[LEN];
    weft_expr *e;
};
static wide wrapped(weft_dtype t, wide v) {
    char b[8];
    put(t, b, 0, v);
    return get(t, b, 0);
}
static wide floored(wide a, wide b) { return a / b - (a % b && (a < 0) != (b < 0)); }
static wide value_of(int op, weft_dtype t, wide a, wide b) {
    wide r = 0;
    switch (op) {
    case ADD: r = a + b; break;
    case SUB: r = a - b; break;
    case MUL: r = wrapping(a, b); break;
    case FLOORDIV: r = b ? floored(a, b) : 0; break;
    case REM: r = b ? a - b * floored(a, b) : 0; break;
    case NEG: r = -a; break;
    case ABS: r = a < 0 ? -a : a; break;
    case SQUARE: r = wrapping(a, a); break;
    case MAXIMUM: r = a > b ? a : b; break;
    default: break;
    }
    return wrapped(t, r);
}

Test(checked, random_graphs) {
    static const int pool[] = {ADD, SUB, MUL, FLOORDIV, REM, NEG, ABS, SQUARE, MAXIMUM};
    int hits = 0;
    for (int round = 0; round < 400; round++) {
        seed = (uint64_t)round + 17;
        const weft_dtype t = (weft_dtype)(WEFT_I8 + (int)dice(8));
        struct naive x[NODES];
        char data[3][8 * LEN], out[8 * LEN], want[200] = "";
        weft_graph *g = watched(tier[round % 16 == 0]);
        for (int k = 0; k < 3; k++) {
            x[k].t = t;
            for (int i = 0; i < LEN; i++) {
                x[k].v[i] = dice(3) ? wrapped(t, (wide)dice(12) - (is_signed(t) ? 4 : 0)) : wrapped(t, (wide)dice(1u << 30) * (wide)dice(1u << 30));
                put(t, data[k], i, x[k].v[i]);
            }
            weft_array a = weft_dense(t, data[k], 1, DIMS(LEN));
            x[k].e = weft_from(g, &a);
        }
        int last = ADD;
        for (int n = 3; n < NODES; n++) { // each over the last one, so all are needed and in this order
            int op = pool[dice(COUNT_OF(pool))];
            const int b = (int)dice((uint64_t)n);
            if (op == NEG && last == NEG) op = ADD; // neg(neg(x)) is x: what is folded away is not looked at
            if (op != MAXIMUM && (op != ABS || is_signed(t))) last = op; // those may be their operand
            x[n].t = t;
            x[n].e = ops[op].make(x[n - 1].e, x[b].e);
            for (int i = 0; i < LEN; i++)
                x[n].v[i] = value_of(op, t, x[n - 1].v[i], x[b].v[i]);
            for (enum fault f = ZERO; f <= OVERFLOW; f++)
                for (int i = 0; i < LEN && !*want; i++)
                    if (judge(op, t, x[n - 1].v[i], x[b].v[i]) == f)
                        snprintf(want, sizeof want, "%s: %s at [%d] of %s[%d]", ops[op].name, faults[f], i, weft_dtype_name(t), LEN);
        }
        weft_array to = weft_dense(t, out, 1, DIMS(LEN));
        const weft_status st = weft_eval(x[NODES - 1].e, &to, NULL);
        cr_expect_eq(st, *want ? WEFT_ECHECK : WEFT_OK, "round %d: '%s', expected '%s'", round, weft_graph_error(g), want);
        cr_expect_str_eq(weft_graph_error(g), want, "round %d: '%s', expected '%s'", round, weft_graph_error(g), want);
        for (int i = 0; i < LEN; i++)
            cr_expect(get(t, out, i) == x[NODES - 1].v[i], "round %d", round);
        hits += *want != 0;
        weft_graph_free(g);
    }
    cr_expect(hits > 100 && hits < 395, "%d of 400 had a fault", hits);
}
