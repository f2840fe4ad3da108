// SPDX-License-Identifier: MIT
// The trigonometric and error-function kernels where test_math does not look: arguments next to multiples
// of pi/2 of every size, the known hard ones, the seams between the parts of each recipe, the tails down to
// the last subnormal; f32 densely against the f64 kernels (whose own error is invisible there); the same bits
// on every instruction set when huge and ordinary arguments share a block; special values.
#include <criterion/criterion.h>
#include <float.h>
#include <mpfr.h>
#include <stdlib.h>

#include "guard.h"
#include "mathref.h"

static uint64_t seed(void) {
    const char *s = getenv("WEFT_SEED");
    return s ? strtoull(s, NULL, 0) : 20240229u;
}
static double unit(uint64_t *state) { return (double)(next_random(state) >> 11) * 0x1p-53; }

static const enum kern_family trig[] = {KERN_F_sin, KERN_F_cos, KERN_F_tan};
static const enum kern_family unary[] = {KERN_F_sin,  KERN_F_cos,  KERN_F_tan, KERN_F_asin,    KERN_F_acos,
                                         KERN_F_atan, KERN_F_erf, KERN_F_erfc, KERN_F_gelu_erf};
static const weft_dtype types[] = {WEFT_F64, WEFT_F32};

static const struct kern_row *best(enum kern_family f, weft_dtype t) {
    const struct kern_row *r = kern_find(f, t, kern_isa_detect());
    cr_assert(r != NULL, "%s", mathref_name(f));
    return r;
}

// ---- batches of one type --------------------------------------------------------------------------------
enum { BATCH = 512 };
struct batch {
    _Alignas(64) double a[BATCH], b[BATCH], out[BATCH]; // or floats
    size_t n;
};
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
struct worst {
    double ulp, a, b, got;
};
static void judge(const struct kern_row *r, struct batch *s, struct worst *w) {
    r->fn(s->out, s->a, s->b, s->n);
    for (size_t i = 0; i < s->n; i++) {
        const double a = load(r->dtype, s->a, i), b = load(r->dtype, s->b, i);
        const double got = load(r->dtype, s->out, i), ulp = mathref_ulp(r->family, r->dtype, a, b, got);
        if (ulp > w->ulp) *w = (struct worst){ulp, a, b, got};
    }
    s->n = 0;
}
static void add(const struct kern_row *r, struct batch *s, double a, double b, struct worst *w) {
    store(r->dtype, s->a, s->n, a), store(r->dtype, s->b, s->n, b);
    if (++s->n == BATCH) judge(r, s, w);
}
static void finish(const struct kern_row *r, struct batch *s, struct worst *w) {
    if (s->n) judge(r, s, w);
    cr_log_info("%s: %.4f ULP at %a, %a", r->symbol, w->ulp, w->a, w->b);
    cr_expect(w->ulp <= r->ulp, "%s: %g ULP, allowed %g, at %a, %a: got %.17g, exactly %.17g", r->symbol,
              w->ulp, r->ulp, w->a, w->b, w->got, mathref_value(r->family, w->a, w->b));
}

// ---- next to multiples of pi/2 --------------------------------------------------------------------------
// the double nearest to k 2^e pi/2
static double multiple(uint64_t k, int e) {
    mpfr_t p;
    mpfr_init2(p, 1300);
    mpfr_const_pi(p, MPFR_RNDN);
    mpfr_mul_ui(p, p, k, MPFR_RNDN);
    mpfr_mul_2si(p, p, e - 1, MPFR_RNDN);
    const double v = mpfr_get_d(p, MPFR_RNDN);
    mpfr_clear(p);
    return v;
}
static double neighbour(weft_dtype t, double v, int steps) {
    if (t == WEFT_F32) v = (double)(float)v;
    for (int i = 0; i < abs(steps); i++) {
        const double to = steps < 0 ? -INFINITY : INFINITY;
        v = t == WEFT_F64 ? nextafter(v, to) : (double)nextafterf((float)v, (float)to);
    }
    return v;
}
static void near_multiples(weft_dtype t) {
    static struct batch s;
    uint64_t state = seed();
    for (size_t f = 0; f < COUNT_OF(trig); f++) {
        const struct kern_row *r = best(trig[f], t);
        struct worst w = {0};
        for (int k = 0; k < 3000; k++) {
            // every small multiple, then random ones of every size; the seam of the reductions is 2^20 or 2^45
            const uint64_t m = k < 1000 ? (uint64_t)k : next_random(&state) >> 11 | 1;
            const int wide = t == WEFT_F64 ? 970 : 74;
            const int e = k < 1000 ? 0 : (int)(next_random(&state) % (uint64_t)(52 + wide)) - 52;
            const double v = multiple(m, e);
            for (int d = -1; d <= 1; d++) add(r, &s, neighbour(t, k & 1 ? -v : v, d), 0, &w);
        }
        finish(r, &s, &w);
    }
    mathref_free();
}
Test(trig, near_multiples_f64) { near_multiples(WEFT_F64); }
Test(trig, near_multiples_f32) { near_multiples(WEFT_F32); }

// Arguments known to be closest to a multiple of pi/2 for their size, or to be hard for other reasons.
static const double hard[] = {
    0x1.6ac5b262ca1ffp+849 /* 6381956970095103 * 2^797 */, 0x1.921fb54442d18p+0, 0x1.921fb54442d18p+1,
    0x1.2d97c7f3321d2p+2, 0x1.fffffffffffffp+1023, 0x1p+1023, 0x1p+20, 0x1.0000000000001p+20, 0x1.fffffffffffffp+19,
    0x1p+45, 0x1.000002p+45, 0x1.fffffep+44, 0x1.fffffep+127, 1e22, 0x1.ac5b262ca1ffp+843, 0x1.0p-1022, 0x1p-1074,
    0x1.921fb6p+0, 0x1.921fb6p+1, 0x1.2d97c8p+2, 0x1.921fb6p-1, 0x1.921fb54442d18p-1, 0x1p-26, 0x1p-27, 0x1p-12,
    0x1.6a09e667f3bcdp-1, 0.5, 1.0, 2.0, 0x1.fffffffffffffp-1, 0x1.fffffffffffffp-2, 0x1.0000000000001p-1,
    355.0, 710.0, 103993.0, 104348.0, 208341.0, 312689.0, 833719.0, 1146408.0, 4272943.0, 5419351.0,
    80143857.0, 165707065.0, 245850922.0, 411557987.0, 1068966896.0, 2549491779.0, 6167950454.0, 14885392687.0,
};
Test(trig, hard_arguments) {
    static struct batch s;
    for (size_t j = 0; j < COUNT_OF(types) * COUNT_OF(trig); j++) {
        const struct kern_row *r = best(trig[j / 2], types[j % 2]);
        struct worst w = {0};
        for (size_t i = 0; i < COUNT_OF(hard); i++) {
            if (r->dtype == WEFT_F32 && hard[i] > (double)FLT_MAX) continue;
            for (int d = -2; d <= 2; d++) {
                const double v = neighbour(r->dtype, hard[i], d);
                add(r, &s, v, 0, &w), add(r, &s, -v, 0, &w);
            }
        }
        finish(r, &s, &w);
    }
    mathref_free();
}

static void every_size(weft_dtype t, int low, int high) {
    static struct batch s;
    uint64_t state = seed() + 1;
    for (size_t f = 0; f < COUNT_OF(trig); f++) {
        const struct kern_row *r = best(trig[f], t);
        struct worst w = {0};
        for (int e = low; e <= high; e++)
            for (int k = 0; k < 16; k++) add(r, &s, ldexp(1.0 + unit(&state), e) * (k & 1 ? -1 : 1), 0, &w);
        finish(r, &s, &w);
    }
    mathref_free();
}
Test(trig, every_size_f64) { every_size(WEFT_F64, -60, 1023); }
Test(trig, every_size_f32) { every_size(WEFT_F32, -130, 126); }

// ---- seams and tails ------------------------------------------------------------------------------------
static const struct {
    enum kern_family family;
    double from, to; // f64; f32 is cut to its own range by the functions themselves
} ranges[] = {
#define R(f, from, to) {KERN_F_##f, from, to},
    R(sin, 1.3, 1.58) R(sin, -4, 4) R(sin, 1048570, 1048582) R(cos, -0.6, 0.6) R(cos, 0.9, 1.1) R(cos, -4, 4)
    R(cos, 1048570, 1048582) R(tan, 0.7, 0.8) R(tan, -2, 2) R(tan, 1048570, 1048582)
    R(asin, 0.49, 0.51) R(asin, -1, 1) R(asin, 0.999, 1) R(acos, 0.49, 0.51) R(acos, -0.51, -0.49)
    R(acos, -1, 1) R(acos, 0.999, 1) R(acos, -1, -0.999) R(atan, 0.9, 1.1) R(atan, -1, 1) R(atan, -10, 10)
    R(erf, -1, 1) R(erf, 0.8, 0.83) R(erf, 0.8, 1.2) R(erf, 5.8, 6.1) R(erf, 3.8, 4) R(erf, -6, 6)
    R(erfc, -6.5, 0) R(erfc, 0, 1) R(erfc, 1, 10.3) R(erfc, 10, 26.4) R(erfc, 26.3, 27.4) R(erfc, 27.9, 28.1)
    R(gelu_erf, -1, 0) R(gelu_erf, -0.01, 0) R(gelu_erf, -15, -1) R(gelu_erf, -37.5, -14) R(gelu_erf, -39, -37.3)
    R(gelu_erf, 0, 1) R(gelu_erf, 0, 9) R(gelu_erf, 14.9, 15.1) R(gelu_erf, 39.9, 40.1)
#undef R
};
static void seams(weft_dtype t, int each) {
    static struct batch s;
    uint64_t state = seed() + 2;
    for (size_t i = 0; i < COUNT_OF(ranges); i++) {
        const struct kern_row *r = best(ranges[i].family, t);
        struct worst w = {0};
        for (int k = 0; k < each; k++)
            add(r, &s, ranges[i].from + (ranges[i].to - ranges[i].from) * unit(&state), 0, &w);
        finish(r, &s, &w);
    }
    mathref_free();
}
Test(trig, seams_f64) { seams(WEFT_F64, 8000); }
Test(trig, seams_f32) { seams(WEFT_F32, 4000); }

// magnitudes and ratios of every size, ratios near 1, results that underflow
Test(trig, atan2) {
    static struct batch s;
    uint64_t state = seed() + 3;
    for (size_t j = 0; j < COUNT_OF(types); j++) {
        const struct kern_row *r = best(KERN_F_atan2, types[j]);
        const int top = types[j] == WEFT_F64 ? 1023 : 127, low = types[j] == WEFT_F64 ? -1074 : -149;
        struct worst w = {0};
        for (int k = 0; k < 60000; k++) {
            int e = low + (int)(next_random(&state) % (uint64_t)(top - low + 1)), gap = 0;
            if (k % 3 == 1) gap = (int)(next_random(&state) % 130) - 65;
            if (k % 3 == 2) gap = (int)(next_random(&state) % 4500) - 2250;
            int g = e + gap > top ? top : e + gap < low ? low : e + gap;
            double a = ldexp(1.0 + unit(&state), e), b = ldexp(1.0 + unit(&state), g);
            add(r, &s, k & 1 ? a : -a, k & 2 ? b : -b, &w);
        }
        finish(r, &s, &w);
    }
    mathref_free();
}

// ---- f32 densely ----------------------------------------------------------------------------------------
// The error of y in ULP of f32, the f64 kernel's value taken as exact (it is within 2^-29 of that ULP).
static double error_f32(double exact, float y) {
    int e;
    if (isnan(exact) || isnan(y)) return isnan(exact) && isnan(y) ? 0 : HUGE_VAL;
    if (exact == 0 || isinf(exact)) return exact == (double)y && !signbit(exact) == !signbit(y) ? 0 : HUGE_VAL;
    if (!signbit(exact) != !signbit(y)) return HUGE_VAL;
    frexp(exact, &e);
    e = MAX_OF(e, -125) - 24;
    return fabs(ldexp((double)y - exact, -e));
}
Test(trig, dense_f32) {
    enum { STEP = 997 };
    static float x[BATCH], y[BATCH];
    static double wide[BATCH], exact[BATCH];
    for (size_t f = 0; f < COUNT_OF(unary); f++) {
        const struct kern_row *r = best(unary[f], WEFT_F32), *q = best(unary[f], WEFT_F64);
        struct worst w = {0};
        for (uint64_t bits = seed() % STEP; bits <= UINT32_MAX;) {
            size_t n = 0;
            for (; n < BATCH && bits <= UINT32_MAX; n++, bits += STEP) {
                const uint32_t b = (uint32_t)bits;
                memcpy(&x[n], &b, sizeof b);
                wide[n] = (double)x[n];
            }
            r->fn(y, x, x, n);
            q->fn(exact, wide, wide, n);
            for (size_t i = 0; i < n; i++) {
                const double e = error_f32(exact[i], y[i]);
                if (e > w.ulp) w = (struct worst){e, wide[i], exact[i], (double)y[i]};
            }
        }
        cr_log_info("%s: %.5f ULP at %a", r->symbol, w.ulp, w.a);
        cr_expect(w.ulp <= r->ulp, "%s: %g ULP, allowed %g, at %a: %a, not %a", r->symbol, w.ulp, r->ulp, w.a,
                  w.got, w.b);
    }
}

// ---- the same bits, huge and ordinary arguments mixed ---------------------------------------------------
static double mixed(weft_dtype t, uint64_t *state, size_t i) {
    const int top = t == WEFT_F64 ? 1000 : 120;
    const double u = 1.0 + unit(state), sign = next_random(state) & 1 ? 1.0 : -1.0;
    if (i % 61 == 60) return special_f64[next_random(state) % COUNT_OF(special_f64)];
    if (i % 7 == 0 || i % 200 > 150) return sign * ldexp(u, (int)(next_random(state) % (uint64_t)top));
    return sign * ldexp(u, (int)(next_random(state) % 30) - 20);
}
Test(trig, same_bits) {
    static struct batch s, other;
    uint64_t state = seed() + 4;
    size_t rows;
    const struct kern_row *all = kern_rows(&rows);
    for (size_t j = 0; j < rows; j++) {
        const struct kern_row *r = &all[j], *base = kern_find(r->family, r->dtype, KERN_BASE);
        bool ours = r->family == KERN_F_atan2;
        for (size_t f = 0; f < COUNT_OF(unary); f++) ours |= r->family == unary[f];
        if (!ours || r->isa > kern_isa_detect()) continue;
        for (int k = 0; k < 30; k++) {
            for (size_t i = 0; i < BATCH; i++) {
                store(r->dtype, s.a, i, mixed(r->dtype, &state, i));
                store(r->dtype, s.b, i, mixed(r->dtype, &state, i + 13));
            }
            base->fn(s.out, s.a, s.b, BATCH);
            r->fn(other.out, s.a, s.b, BATCH);
            r->fn(s.a, s.a, s.b, BATCH);
            const size_t w = dtype_size(r->dtype);
            for (size_t i = 0; i < BATCH; i++) {
                const char *want = (const char *)s.out + i * w;
                cr_assert(same_element(r->dtype, want, (const char *)other.out + i * w), "%s: element %zu", r->symbol, i);
                cr_assert(same_element(r->dtype, want, (const char *)s.a + i * w), "%s: in place, %zu", r->symbol, i);
            }
        }
    }
}

// ---- special values -------------------------------------------------------------------------------------
#define INF INFINITY
#define PI 3.141592653589793
static const struct {
    enum kern_family family;
    double a, b, want;
} special[] = {
#define S(f, a, want) {KERN_F_##f, a, 0, want},
#define A2(a, b, want) {KERN_F_atan2, a, b, want},
    S(sin, 0.0, 0.0) S(sin, -0.0, -0.0) S(sin, INF, NAN) S(sin, -INF, NAN) S(cos, 0.0, 1.0) S(cos, -0.0, 1.0)
    S(cos, INF, NAN) S(cos, 5e-324, 1.0) S(tan, 0.0, 0.0) S(tan, -0.0, -0.0) S(tan, INF, NAN) S(sin, 0x1p-149, 0x1p-149)
    S(tan, -0x1p-149, -0x1p-149) S(asin, 0.0, 0.0) S(asin, -0.0, -0.0) S(asin, 1.0, PI / 2) S(asin, -1.0, -PI / 2)
    S(asin, 1.5, NAN) S(asin, -INF, NAN) S(asin, 0x1p-149, 0x1p-149) S(acos, 1.0, 0.0) S(acos, -1.0, PI)
    S(acos, 0.0, PI / 2) S(acos, -0.0, PI / 2) S(acos, -1.5, NAN) S(acos, INF, NAN) S(atan, 0.0, 0.0)
    S(atan, -0.0, -0.0) S(atan, INF, PI / 2) S(atan, -INF, -PI / 2) S(atan, 1.0, PI / 4) S(atan, -0x1p-149, -0x1p-149)
    S(erf, 0.0, 0.0) S(erf, -0.0, -0.0) S(erf, INF, 1.0) S(erf, -INF, -1.0) S(erf, 7.0, 1.0) S(erfc, 0.0, 1.0)
    S(erfc, -0.0, 1.0) S(erfc, INF, 0.0) S(erfc, -INF, 2.0) S(erfc, 30.0, 0.0) S(erfc, -7.0, 2.0)
    S(gelu_erf, 0.0, 0.0) S(gelu_erf, -0.0, -0.0) S(gelu_erf, INF, INF) S(gelu_erf, -INF, -0.0)
    S(gelu_erf, -50.0, -0.0) S(gelu_erf, 50.0, 50.0)
    S(sin, NAN, NAN) S(cos, NAN, NAN) S(tan, NAN, NAN) S(asin, NAN, NAN) S(acos, NAN, NAN) S(atan, NAN, NAN)
    S(erf, NAN, NAN) S(erfc, NAN, NAN) S(gelu_erf, NAN, NAN) S(gelu_erf, -NAN, NAN)
    A2(0.0, 0.0, 0.0) A2(0.0, -0.0, PI) A2(-0.0, 0.0, -0.0) A2(-0.0, -0.0, -PI) A2(0.0, 3.0, 0.0) A2(-0.0, 3.0, -0.0)
    A2(0.0, -3.0, PI) A2(-0.0, -3.0, -PI) A2(2.0, 0.0, PI / 2) A2(-2.0, -0.0, -PI / 2) A2(1.0, INF, 0.0)
    A2(-1.0, INF, -0.0) A2(1.0, -INF, PI) A2(-1.0, -INF, -PI) A2(INF, 5.0, PI / 2) A2(-INF, -5.0, -PI / 2)
    A2(INF, INF, PI / 4) A2(-INF, INF, -PI / 4) A2(INF, -INF, 3 * PI / 4) A2(-INF, -INF, -3 * PI / 4)
    A2(NAN, 1.0, NAN) A2(1.0, NAN, NAN) A2(INF, NAN, NAN) A2(NAN, -INF, NAN) A2(0.0, NAN, NAN) A2(NAN, 0.0, NAN)
    A2(1.0, 1.0, PI / 4) A2(0x1p-149, -INF, PI) A2(0x1p-149, INF, 0.0) A2(0x1p-149, 0x1p-149, PI / 4)
#undef S
#undef A2
};
static void try_special(const struct kern_row *r, size_t k) {
    double a, b, got, want = special[k].want;
    store(r->dtype, &a, 0, special[k].a), store(r->dtype, &b, 0, special[k].b);
    r->fn(&got, &a, &b, 1);
    got = load(r->dtype, &got, 0);
    if (r->dtype == WEFT_F32) want = (double)(float)want;
    cr_expect(isnan(want) ? isnan(got) : got == want && !signbit(got) == !signbit(want),
              "%s(%.17g, %.17g): %.17g, not %.17g", r->symbol, special[k].a, special[k].b, got, want);
}
Test(trig, special_values) {
    size_t rows, tried = 0;
    const struct kern_row *all = kern_rows(&rows);
    for (size_t k = 0; k < COUNT_OF(special); k++)
        for (size_t j = 0; j < rows; j++) {
            if (all[j].family != special[k].family || all[j].isa > kern_isa_detect()) continue;
            try_special(&all[j], k);
            tried++;
        }
    cr_assert_geq(tried, 2 * COUNT_OF(special));
}
