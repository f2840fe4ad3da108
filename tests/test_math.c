// SPDX-License-Identifier: MIT
// Every floating-point kernel of the registry: its error against MPFR, its special values, the same
// bits on every instruction set, and the same bits at every length, offset and place.
//
// The error is measured on the best row of the machine; the rows for other instruction sets are
// held to the same bits. Rows the processor cannot run are left out and logged.
#include <criterion/criterion.h>
#include <float.h>
#include <stdlib.h>

#include "guard.h"
#include "mathpick.h"
#include "mathref.h"

static uint64_t seed(void) {
    const char *s = getenv("WEFT_SEED");
    return s ? strtoull(s, NULL, 0) : 20240229u;
}

static void store(weft_dtype t, void *p, size_t i, double v) {
    if (t == WEFT_F64) {
        ((double *)p)[i] = v;
    } else {
        ((float *)p)[i] = (float)v;
    }
}
static double load(weft_dtype t, const void *p, size_t i) {
    return t == WEFT_F64 ? ((const double *)p)[i] : (double)((const float *)p)[i];
}

// Rows of real functions that run here; i counts on.
static const struct kern_row *next_row(size_t *i, weft_dtype t) {
    size_t n;
    const struct kern_row *rows = kern_rows(&n);
    while (*i < n) {
        const struct kern_row *r = &rows[(*i)++];
        if (r->dtype != t || !mathref_has(r->family)) continue;
        if (r->isa <= kern_isa_detect()) return r;
        cr_log_info("%s: not on this processor", r->symbol);
    }
    return NULL;
}
static bool is_best(const struct kern_row *r) {
    return r == kern_find(r->family, r->dtype, kern_isa_detect());
}

enum { BATCH = 512 };
struct batch {
    _Alignas(64) double a[BATCH], b[BATCH], out[BATCH]; // or floats
};

static void fill(struct batch *s, const struct kern_row *r, uint64_t *state) {
    for (size_t i = 0; i < BATCH; i++) {
        double a, b;
        mathpick(r, i, state, &a, &b);
        store(r->dtype, s->a, i, a);
        store(r->dtype, s->b, i, b);
    }
}

struct worst {
    double ulp, a, b, got;
};
static void judge(const struct kern_row *r, const struct batch *s, size_t n, struct worst *w) {
    for (size_t i = 0; i < n; i++) {
        const double a = load(r->dtype, s->a, i), b = load(r->dtype, s->b, i);
        const double got = load(r->dtype, s->out, i),
                     ulp = mathref_ulp(r->family, r->dtype, a, b, got);
        if (ulp > w->ulp) *w = (struct worst){ulp, a, b, got};
    }
}
static void report(const struct kern_row *r, const struct worst *w) {
    cr_log_info("%s: %.4f ULP at %a, %a", r->symbol, w->ulp, w->a, w->b);
    cr_expect(w->ulp <= r->ulp,
              "%s: %g ULP, allowed %g, at %a, %a (%.9g, %.9g): got %.17g, exactly %.17g", r->symbol,
              w->ulp, r->ulp, w->a, w->b, w->a, w->b, w->got, mathref_value(r->family, w->a, w->b));
}

// ---- the error
// ------------------------------------------------------------------------------------------
static void measure(weft_dtype t, int batches) {
    static struct batch s;
    uint64_t state = seed();
    const struct kern_row *r;
    int rows = 0;
    for (size_t i = 0; (r = next_row(&i, t));) {
        if (!is_best(r)) continue;
        struct worst w = {0};
        for (int k = 0; k < batches; k++) {
            fill(&s, r, &state);
            r->fn(s.out, s.a, s.b, BATCH);
            judge(r, &s, BATCH, &w);
        }
        report(r, &w);
        rows++;
    }
    cr_assert(rows > 0);
    mathref_free();
}
Test(math, error_f64) {
    measure(WEFT_F64, 60);
}
Test(math, error_f32) {
    measure(WEFT_F32, 50);
}

// Every 76003rd float in the order of bits, for unary functions.
Test(math, error_f32_stride) {
    static struct batch s;
    const struct kern_row *r;
    for (size_t i = 0; (r = next_row(&i, WEFT_F32));) {
        if (!is_best(r) || mathref_binary(r->family)) continue;
        struct worst w = {0};
        uint64_t bits = seed() % 76003;
        while (bits <= UINT32_MAX) {
            size_t n = 0;
            for (; n < BATCH && bits <= UINT32_MAX; n++, bits += 76003) {
                const uint32_t b = (uint32_t)bits;
                memcpy((float *)s.a + n, &b, sizeof b);
            }
            r->fn(s.out, s.a, s.b, n);
            judge(r, &s, n, &w);
        }
        report(r, &w);
    }
    mathref_free();
}

// ---- special values
// ---------------------------------------------------------------------------------------
static const double edges[] = {0.0,
                               1.0,
                               0.5,
                               2.0,
                               3.0,
                               1.5,
                               10.0,
                               100.0,
                               1000.0,
                               1e-10,
                               1e-16,
                               1e-20,
                               0x1p-53,
                               0x1p-54,
                               0x1p-24,
                               0x1p-25,
                               INFINITY,
                               DBL_MAX,
                               DBL_MIN,
                               5e-324,
                               1e-310,
                               FLT_MAX,
                               FLT_MIN,
                               1e-45,
                               1e-40,
                               1023.0,
                               1024.0,
                               1022.0,
                               1074.0,
                               1075.0,
                               1075.5,
                               127.0,
                               128.0,
                               126.0,
                               149.0,
                               150.0,
                               150.5,
                               709.5,
                               709.782712893384,
                               709.79,
                               710.0,
                               710.4758600739439,
                               710.47586007394398,
                               708.39641853226408,
                               708.3964185322641,
                               708.4,
                               745.13,
                               745.1332191019411,
                               745.2,
                               745.14,
                               800.0,
                               88.5,
                               88.72283,
                               88.72284,
                               87.5,
                               87.33654,
                               87.33655,
                               87.4,
                               89.0,
                               89.41598,
                               89.41599,
                               103.97,
                               103.98,
                               103.9,
                               20.0,
                               22.0,
                               50.0,
                               1e4,
                               8.0,
                               9.0,
                               10.5,
                               36.5,
                               37.5,
                               16.5,
                               17.5,
                               0x1p52,
                               0x1p53,
                               0x1p24,
                               9007199254740993.0,
                               1e300,
                               1e30,
                               1e22,
                               3.141592653589793,
                               1.5707963267948966,
                               0.7853981633974483,
                               0.9999999999999999,
                               1.0000000000000002,
                               0.99999994,
                               1.0000001,
                               0.3333333333333333,
                               1.0 / 3.0,
                               7.0,
                               0.6931471805599453,
                               0.021660849392498290,
                               0.02166085,
                               0.9791666,
                               1.0208333,
                               0x1.6ap0,
                               0x1.6ap-1};

static void try_edges(const struct kern_row *r, double around) {
    static struct batch s;
    struct worst w = {0};
    size_t n = 0;
    const bool two = mathref_binary(r->family);
    for (size_t j = 0; j < (two ? 2 * COUNT_OF(edges) : 6); j++) {
        double a = around, b = two ? (j & 1 ? -edges[j / 2] : edges[j / 2]) : NAN;
        if (!two && j / 2) {
            const double to = j / 2 == 1 ? INFINITY : -INFINITY;
            a = r->dtype == WEFT_F64 ? nextafter(a, to) : (double)nextafterf((float)a, (float)to);
        }
        if (!two && (j & 1)) a = -a;
        store(r->dtype, s.a, n, a);
        store(r->dtype, s.b, n, b);
        n++;
    }
    store(r->dtype, s.a, n, around), store(r->dtype, s.b, n++, NAN);
    store(r->dtype, s.a, n, NAN), store(r->dtype, s.b, n++, around);
    store(r->dtype, s.a, n, NAN), store(r->dtype, s.b, n++, NAN);
    r->fn(s.out, s.a, s.b, n);
    judge(r, &s, n, &w);
    cr_expect(w.ulp <= r->ulp, "%s: %g ULP at %a, %a: got %.17g, exactly %.17g", r->symbol, w.ulp,
              w.a, w.b, w.got, mathref_value(r->family, w.a, w.b));
}
static void edges_of(weft_dtype t) {
    const struct kern_row *r;
    for (size_t i = 0; (r = next_row(&i, t));)
        for (size_t j = 0; is_best(r) && j < COUNT_OF(edges); j++) {
            try_edges(r, edges[j]);
            if (mathref_binary(r->family)) try_edges(r, -edges[j]);
        }
    mathref_free();
}
Test(math, edges_f64) {
    edges_of(WEFT_F64);
}
Test(math, edges_f32) {
    edges_of(WEFT_F32);
}

// clang-format off
#define INF INFINITY
static const struct {
    enum kern_family family;
    weft_dtype dtype;
    double a, b, want;
} exact[] = {
#define CASE(f, t, a, b, want) {KERN_F_##f, WEFT_##t, a, b, want},
#define BOTH(f, a, b, want) CASE(f, F64, a, b, want) CASE(f, F32, a, b, want)
    BOTH(pow, 0.0, 0.0, 1.0) BOTH(pow, NAN, 0.0, 1.0) BOTH(pow, 1.0, NAN, 1.0) BOTH(pow, -1.0, INF, 1.0)
    BOTH(pow, -1.0, -INF, 1.0) BOTH(pow, -2.0, 3.0, -8.0) BOTH(pow, -8.0, 1.0 / 3.0, NAN)
    BOTH(pow, -0.0, 3.0, -0.0) BOTH(pow, -INF, -3.0, -0.0) BOTH(pow, 0.0, -1.0, INF)
    BOTH(pow, -0.0, -1.0, -INF) BOTH(pow, 0.5, INF, 0.0) BOTH(pow, 10.0, -INF, 0.0) BOTH(pow, -INF, 0.5, INF)
    BOTH(pow, -INF, 3.0, -INF) BOTH(pow, -0.0, 0.5, 0.0) BOTH(pow, INF, -2.0, 0.0) BOTH(pow, 2.0, -1.0, 0.5)
    CASE(pow, F64, 2.0, -1074.0, 5e-324) CASE(pow, F64, 5e-324, 1.0, 5e-324) CASE(pow, F64, 2.0, 1023.0, 0x1p1023)
    CASE(pow, F64, 2.0, 1024.0, INF) CASE(pow, F32, 2.0, -149.0, 0x1p-149) CASE(pow, F32, 3.0, 4.0, 81.0)
    BOTH(log, 0.0, 0, -INF) BOTH(log, -0.0, 0, -INF) BOTH(log, -1.0, 0, NAN) BOTH(log, INF, 0, INF) BOTH(log, 1.0, 0, 0.0)
    CASE(log, F64, 5e-324, 0, -744.4400719213812) CASE(log, F64, 1e-310, 0, -713.8013788281542)
    BOTH(log2, 8.0, 0, 3.0) CASE(log2, F64, 5e-324, 0, -1074.0) CASE(log2, F32, 0x1p-149, 0, -149.0)
    BOTH(log10, 1000.0, 0, 3.0) CASE(log10, F64, 1e22, 0, 22.0) CASE(log10, F64, 1e15, 0, 15.0)
    CASE(exp, F64, 709.782712893384, 0, 1.7976931348622732e308) CASE(exp, F64, 709.79, 0, INF)
    CASE(exp, F64, -745.13, 0, 5e-324) CASE(exp, F64, -745.2, 0, 0.0) BOTH(exp, -INF, 0, 0.0) BOTH(exp, 0.0, 0, 1.0)
    CASE(exp, F32, 88.72284, 0, INF) CASE(exp, F32, -103.98, 0, 0.0) CASE(exp, F32, -103.97, 0, 0x1p-149)
    BOTH(exp2, -3.0, 0, 0.125) CASE(exp2, F64, -1074.0, 0, 5e-324) CASE(exp2, F32, -149.0, 0, 0x1p-149)
    CASE(expm1, F64, 1e-16, 0, 1e-16) CASE(log1p, F64, -1e-16, 0, -1e-16) BOTH(expm1, -0.0, 0, -0.0)
    BOTH(log1p, -0.0, 0, -0.0) BOTH(log1p, -1.0, 0, -INF) BOTH(log1p, -2.0, 0, NAN) BOTH(expm1, -800.0, 0, -1.0)
    CASE(expm1, F64, 709.782712893384, 0, 1.7976931348622732e308) BOTH(expm1, 710.0, 0, INF)
    CASE(expm1, F32, -88.0, 0, -1.0) CASE(expm1, F32, 89.0, 0, INF) BOTH(expm1, -INF, 0, -1.0)
    BOTH(tanh, 50.0, 0, 1.0) BOTH(tanh, -1e4, 0, -1.0) BOTH(tanh, INF, 0, 1.0) BOTH(tanh, -0.0, 0, -0.0)
    CASE(tanh, F64, 1e-10, 0, 1e-10) BOTH(sigmoid, 1000.0, 0, 1.0) BOTH(sigmoid, -1000.0, 0, 0.0)
    BOTH(sigmoid, INF, 0, 1.0) BOTH(sigmoid, -INF, 0, 0.0) BOTH(sigmoid, 0.0, 0, 0.5)
    BOTH(sinh, -0.0, 0, -0.0) BOTH(sinh, -INF, 0, -INF) BOTH(cosh, -INF, 0, INF) BOTH(cosh, 0.0, 0, 1.0)
    BOTH(asinh, -0.0, 0, -0.0) BOTH(asinh, -INF, 0, -INF) BOTH(acosh, 1.0, 0, 0.0) BOTH(acosh, 0.5, 0, NAN)
    BOTH(acosh, INF, 0, INF) BOTH(atanh, 1.0, 0, INF) BOTH(atanh, -1.0, 0, -INF) BOTH(atanh, 1.5, 0, NAN)
    BOTH(atanh, -0.0, 0, -0.0) BOTH(cbrt, -27.0, 0, -3.0) BOTH(cbrt, -0.0, 0, -0.0) BOTH(cbrt, -INF, 0, -INF)
    BOTH(hypot, 3.0, -4.0, 5.0) BOTH(hypot, INF, NAN, INF) BOTH(hypot, NAN, -INF, INF) BOTH(hypot, -0.0, 0.0, 0.0)
    CASE(hypot, F64, 5e-324, 0.0, 5e-324) CASE(hypot, F64, 3e307, 4e307, 5e307) CASE(hypot, F64, DBL_MAX, DBL_MAX, INF)
    BOTH(softplus, -INF, 0, 0.0) BOTH(softplus, INF, 0, INF) BOTH(silu, 0.0, 0, 0.0) BOTH(silu, -INF, 0, -0.0)
    BOTH(silu, INF, 0, INF) BOTH(gelu_tanh, -INF, 0, -0.0) BOTH(gelu_tanh, INF, 0, INF) BOTH(gelu_tanh, 0.0, 0, 0.0)
    BOTH(atan2, 0.0, 0.0, 0.0) BOTH(atan2, -0.0, 0.0, -0.0) CASE(atan2, F64, 0.0, -0.0, 3.141592653589793)
    CASE(atan2, F64, -0.0, -0.0, -3.141592653589793)
#undef CASE
#undef BOTH
};
// clang-format on

// The table itself, on every row that runs here; NaN operands alone must give NaN but for pow and
// hypot.
Test(math, special_values) {
    for (size_t i = 0; i < COUNT_OF(exact); i++) {
        const struct kern_row *r;
        int rows = 0;
        for (size_t j = 0; (r = next_row(&j, exact[i].dtype));) {
            if (r->family != exact[i].family) continue;
            double a, b, got, want = exact[i].want;
            store(r->dtype, &a, 0, exact[i].a);
            store(r->dtype, &b, 0, exact[i].b);
            r->fn(&got, &a, &b, 1);
            got = load(r->dtype, &got, 0);
            if (r->dtype == WEFT_F32) want = (double)(float)want;
            cr_expect(isnan(want) ? isnan(got) : got == want && !signbit(got) == !signbit(want),
                      "%s(%.17g, %.17g): %.17g, not %.17g", r->symbol, exact[i].a, exact[i].b, got,
                      want);
            rows++;
        }
        cr_assert(rows > 0 || exact[i].family == KERN_F_atan2);
    }
}

// ---- the same bits
// ----------------------------------------------------------------------------------------
static void compare_all(weft_dtype t, int batches) {
    static struct batch s, other;
    uint64_t state = seed() + 1;
    const struct kern_row *r, *q;
    const size_t width = dtype_size(t);
    for (size_t i = 0; (r = next_row(&i, t));) {
        if (r->isa != KERN_BASE) continue;
        for (int k = 0; k < batches; k++) {
            fill(&s, r, &state);
            for (size_t e = 0; k == 0 && e < COUNT_OF(edges); e++)
                store(t, s.a, e, e & 1 ? edges[e] : -edges[e]);
            r->fn(s.out, s.a, s.b, BATCH);
            for (size_t j = 0; (q = next_row(&j, t));) {
                if (q->family != r->family || q == r) continue;
                q->fn(other.out, s.a, s.b, BATCH);
                for (size_t e = 0; e < BATCH; e++)
                    cr_assert(
                        same_element(t, (char *)s.out + e * width, (char *)other.out + e * width),
                        "%s and %s differ at %a, %a: %a, %a", r->symbol, q->symbol, load(t, s.a, e),
                        load(t, s.b, e), load(t, s.out, e), load(t, other.out, e));
            }
        }
    }
}
Test(math, same_bits_f64) {
    compare_all(WEFT_F64, 40);
}
Test(math, same_bits_f32) {
    compare_all(WEFT_F32, 40);
}

// n elements that end at a guard page, at every length to 130 and offsets before it, also in place.
static void try_place(const struct kern_row *r, const struct batch *s, struct guard g[3], size_t n,
                      size_t gap) {
    const size_t width = dtype_size(r->dtype), bytes = n * width;
    unsigned char *a = guard_end(&g[0], bytes + gap), *b = guard_end(&g[1], bytes + gap / 3);
    unsigned char *o = guard_end(&g[2], bytes + gap / 2);
    if (bytes) memcpy(a, s->a, bytes), memcpy(b, s->b, bytes);
    memset(g[2].base, 0x5a, g[2].size);
    r->fn(o, a, b, n);
    for (size_t i = 0; i < n; i++)
        cr_assert(same_element(r->dtype, o + i * width, (const char *)s->out + i * width),
                  "%s: element %zu of %zu, gap %zu", r->symbol, i, n, gap);
    for (unsigned char *p = g[2].base; p < g[2].base + g[2].size; p++)
        if (p < o || p >= o + bytes)
            cr_assert(*p == 0x5a, "%s: writes outside, n %zu", r->symbol, n);
    r->fn(a, a, b, n);
    for (size_t i = 0; i < n; i++)
        cr_assert(same_element(r->dtype, a + i * width, (const char *)s->out + i * width),
                  "%s: in place, element %zu of %zu", r->symbol, i, n);
    if (bytes) memcpy(a, s->a, bytes);
    r->fn(b, a, b, n);
    for (size_t i = 0; i < n; i++)
        cr_assert(same_element(r->dtype, b + i * width, (const char *)s->out + i * width),
                  "%s: onto the second operand, element %zu of %zu", r->symbol, i, n);
}
static void places(weft_dtype t) {
    static struct batch s;
    struct guard g[3] = {guard_new(2048), guard_new(2048), guard_new(2048)};
    uint64_t state = seed() + 2;
    const struct kern_row *r;
    for (size_t i = 0; (r = next_row(&i, t));) {
        const size_t width = dtype_size(t);
        fill(&s, r, &state);
        for (size_t e = 0; e < 130; e++) // one at a time: the reference
            r->fn((char *)s.out + e * width, (char *)s.a + e * width, (char *)s.b + e * width, 1);
        for (size_t n = 0; n <= 130; n++)
            try_place(r, &s, g, n, (n * 7 % 9) * width + (n % 5 == 4 ? 3 : 0));
    }
    for (int i = 0; i < 3; i++)
        guard_free(&g[i]);
}
Test(math, places_f64) {
    places(WEFT_F64);
}
Test(math, places_f32) {
    places(WEFT_F32);
}

// ---- the registry
// -----------------------------------------------------------------------------------------
Test(math, registry) {
    size_t n;
    const struct kern_row *rows = kern_rows(&n);
    for (size_t i = 0; i < n; i++) {
        const struct kern_row *r = kern_find(rows[i].family, rows[i].dtype, rows[i].isa);
        cr_assert(r && r->fn && r->isa == rows[i].isa && r <= &rows[i], "%s", rows[i].symbol);
        cr_assert(kern_find(rows[i].family, rows[i].dtype, KERN_BASE), "%s: no base row",
                  rows[i].symbol);
    }
    cr_assert(!kern_find(KERN_F_exp, WEFT_I32, KERN_AVX512));
    cr_assert(kern_isa_capped(WEFT_ISA_SCALAR) == KERN_BASE);
    cr_assert(kern_isa_capped(WEFT_ISA_BEST) == kern_isa_detect());
    cr_assert(kern_isa_capped(WEFT_ISA_AVX2) <= KERN_AVX2);
    const struct kern_cache c = kern_cache_sizes();
    cr_assert(c.l1d >= 4096 && c.l2 >= c.l1d && c.l3 > 0);
}
