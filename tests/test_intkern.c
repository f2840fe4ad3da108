// SPDX-License-Identifier: MIT
// floor_divide, remainder and integer pow on every row of the registry that runs here, against plain
// scalar definitions: all pairs of 8-bit integers, random and extreme pairs of the wider types, floats of
// every exponent gap with the signs of zeros; the cases with known answers; every length to 130 at any
// misalignment, in place, between guard pages.
#include <criterion/criterion.h>
#include <stdlib.h>

#include "guard.h"
#include "kernels/kern.h"

static uint64_t seed(void) {
    const char *s = getenv("WEFT_SEED");
    return s ? strtoull(s, NULL, 0) : 20240229u;
}

// ---- definitions --------------------------------------------------------------------------------------
__extension__ typedef __int128 wide;

static wide wide_of(weft_dtype t, const void *p) {
    int64_t s = 0;
    uint64_t u = 0;
    const size_t size = dtype_size(t);
    memcpy(&u, p, size);
    if (dtype_is_unsigned(t)) return (wide)u;
    s = (int64_t)(u << (64 - 8 * size)) >> (64 - 8 * size);
    return s;
}
static wide floor_quotient(wide a, wide b) {
    if (b == 0) return 0;
    wide q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
static wide power(wide a, wide e) {
    if (e < 0) return a == 1 ? 1 : a == -1 ? (e % 2 ? -1 : 1) : 0;
    uint64_t r = 1;
    for (int bit = 63; bit >= 0; bit--) { // from the top, unlike the kernel
        r *= r;
        if ((uint64_t)e >> bit & 1) r *= (uint64_t)a;
    }
    return (wide)r;
}
static void expect_int(enum kern_family f, weft_dtype t, const void *a, const void *b, void *out) {
    const wide x = wide_of(t, a), y = wide_of(t, b);
    wide r = f == KERN_F_pow ? power(x, y) : floor_quotient(x, y);
    if (f == KERN_F_remainder) r = y == 0 ? 0 : x - r * y;
    const uint64_t low = (uint64_t)r;
    memcpy(out, &low, dtype_size(t));
}
// Python's rules over the C library's exact remainder; F is float or double
#define EXPECT_FLOAT(F, fmod, floor, copysign)                                                     \
    static void expect_##F(enum kern_family f, const void *a, const void *b, void *out) {          \
        F x, y, m, d;                                                                              \
        memcpy(&x, a, sizeof x), memcpy(&y, b, sizeof y);                                          \
        m = fmod(x, y);                                                                            \
        d = (x - m) / y;                                                                           \
        if (m != 0 && (y < 0) != (m < 0)) m += y, d -= 1;                                          \
        if (m == 0) m = copysign(0, y);                                                            \
        d = d == 0 ? copysign(0, x / y) : d - floor(d) > (F)0.5 ? floor(d) + 1 : floor(d);         \
        if (y == 0) d = x / y;                                                                     \
        memcpy(out, f == KERN_F_remainder ? &m : &d, sizeof m);                                    \
    }
EXPECT_FLOAT(double, fmod, floor, copysign)
EXPECT_FLOAT(float, fmodf, floorf, copysignf)

static void expect(enum kern_family f, weft_dtype t, const void *a, const void *b, void *out) {
    if (t == WEFT_F64) {
        expect_double(f, a, b, out);
    } else if (t == WEFT_F32) {
        expect_float(f, a, b, out);
    } else {
        expect_int(f, t, a, b, out);
    }
}

// ---- rows ---------------------------------------------------------------------------------------------
static const struct kern_row *next_row(size_t *i) {
    size_t n;
    const struct kern_row *rows = kern_rows(&n);
    while (*i < n) {
        const struct kern_row *r = &rows[(*i)++];
        const bool ours = r->family == KERN_F_floor_divide || r->family == KERN_F_remainder ||
                          (r->family == KERN_F_pow && dtype_is_int(r->dtype));
        if (!ours) continue;
        if (r->isa <= kern_isa_detect()) return r;
        cr_log_info("%s: not on this processor", r->symbol);
    }
    return NULL;
}
Test(intkern, complete) {
    int found = 0;
    for (weft_dtype t = WEFT_I8; t <= WEFT_F64; t++) {
        if (!dtype_is_int(t) && !dtype_is_float(t)) continue;
        cr_assert(kern_find(KERN_F_floor_divide, t, KERN_BASE) && kern_find(KERN_F_remainder, t, KERN_BASE));
        cr_assert(!dtype_is_int(t) || kern_find(KERN_F_pow, t, KERN_BASE));
        found++;
    }
    cr_assert_eq(found, 10);
}

enum { BATCH = 4096 };
struct batch {
    _Alignas(64) unsigned char a[BATCH * 8], b[BATCH * 8], out[BATCH * 8];
};
static void check(const struct kern_row *r, struct batch *s, size_t n) {
    const size_t w = dtype_size(r->dtype);
    r->fn(s->out, s->a, s->b, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t want = 0, got = 0, a = 0, b = 0;
        expect(r->family, r->dtype, s->a + i * w, s->b + i * w, &want);
        if (same_element(r->dtype, &want, s->out + i * w)) continue;
        memcpy(&got, s->out + i * w, w), memcpy(&a, s->a + i * w, w), memcpy(&b, s->b + i * w, w);
        cr_assert(false, "%s(%#lx, %#lx): %#lx, not %#lx", r->symbol, a, b, got, want);
    }
}

// ---- all pairs of bytes -------------------------------------------------------------------------------
Test(intkern, all_bytes) {
    static struct batch s;
    const struct kern_row *r;
    int rows = 0;
    for (size_t i = 0; (r = next_row(&i));) {
        if (dtype_size(r->dtype) != 1) continue;
        for (unsigned a = 0; a < 256; a += 16) {
            for (unsigned k = 0; k < 4096; k++) s.a[k] = (unsigned char)(a + k / 256), s.b[k] = (unsigned char)k;
            check(r, &s, 4096);
        }
        rows++;
    }
    cr_assert_geq(rows, 6);
}

// ---- integers at random -------------------------------------------------------------------------------
static uint64_t random_int(uint64_t *state) {
    const uint64_t r = next_random(state), kind = next_random(state) % 4;
    if (kind == 0) return special_int[r % COUNT_OF(special_int)];
    if (kind == 1) return r;
    const uint64_t low = r >> (next_random(state) % 64);
    return kind == 2 ? low : ~low;
}
Test(intkern, random_integers) {
    static struct batch s;
    uint64_t state = seed();
    const struct kern_row *r;
    for (size_t i = 0; (r = next_row(&i));) {
        if (!dtype_is_int(r->dtype)) continue;
        const size_t w = dtype_size(r->dtype);
        for (int k = 0; k < 60; k++) {
            for (size_t e = 0; e < BATCH; e++) {
                uint64_t a = random_int(&state), b = random_int(&state);
                if (e % 4 == 0) a = b * (next_random(&state) >> (next_random(&state) % 64)) - e / 4 % 3 + 1;
                memcpy(s.a + e * w, &a, w), memcpy(s.b + e * w, &b, w);
            }
            check(r, &s, BATCH);
        }
    }
}
// all pairs of the extreme values of every width
Test(intkern, extreme_integers) {
    static struct batch s;
    const struct kern_row *r;
    const size_t m = COUNT_OF(special_int);
    for (size_t i = 0; (r = next_row(&i));) {
        if (!dtype_is_int(r->dtype)) continue;
        const size_t w = dtype_size(r->dtype);
        for (size_t e = 0; e < m * m; e++) {
            memcpy(s.a + e * w, &special_int[e / m], w);
            memcpy(s.b + e * w, &special_int[e % m], w);
        }
        check(r, &s, m * m);
    }
}

// ---- floats -------------------------------------------------------------------------------------------
static double unit(uint64_t *state) { return (double)(next_random(state) >> 11) * 0x1p-53; }
// pairs: any bits; quotients near integers of every size; subnormals; small integers; special values
static void random_pair(weft_dtype t, uint64_t *state, double *a, double *b) {
    const uint64_t kind = next_random(state) % 6, r = next_random(state);
    const int top = t == WEFT_F64 ? 1023 : 127, low = t == WEFT_F64 ? 1074 : 149;
    *a = 2.0 * unit(state) - 1.0, *b = 2.0 * unit(state) - 1.0;
    if (kind == 0) {
        *a = ldexp(*a, (int)(r % (uint64_t)(2 * top)) - top);
        *b = ldexp(*b, (int)(next_random(state) % (uint64_t)(2 * top)) - top);
    } else if (kind == 1) {
        *a = *b * floor(ldexp(unit(state), (int)(r % 60)));
        if (t == WEFT_F32) *b = (double)(float)*b, *a = (double)((float)*b * (float)(r % 4096));
        if (r >> 40 & 1) *a = nextafter(*a, (r >> 41 & 1) ? INFINITY : -INFINITY);
    } else if (kind == 2) {
        *a = ldexp((double)(int64_t)(r % 4001) - 2000.0, -low);
        *b = ldexp((double)(int64_t)(next_random(state) % 101) - 50.0, -low);
    } else if (kind == 3) {
        *a = (double)(int64_t)(r % 401) - 200.0, *b = (double)(int64_t)(next_random(state) % 41) - 20.0;
    } else if (kind == 4) {
        *a = special_f64[r % COUNT_OF(special_f64)];
        *b = special_f64[next_random(state) % COUNT_OF(special_f64)];
    }
}
static void store_float(weft_dtype t, void *p, double v) {
    const float f = (float)v;
    memcpy(p, t == WEFT_F64 ? (const void *)&v : (const void *)&f, dtype_size(t));
}
Test(intkern, random_floats) {
    static struct batch s;
    uint64_t state = seed();
    const struct kern_row *r;
    for (size_t i = 0; (r = next_row(&i));) {
        if (!dtype_is_float(r->dtype)) continue;
        const size_t w = dtype_size(r->dtype);
        for (int k = 0; k < 60; k++) {
            for (size_t e = 0; e < BATCH; e++) {
                double a, b;
                random_pair(r->dtype, &state, &a, &b);
                store_float(r->dtype, s.a + e * w, a), store_float(r->dtype, s.b + e * w, b);
            }
            check(r, &s, BATCH);
        }
    }
}

// ---- known answers ------------------------------------------------------------------------------------
#define INF INFINITY
static const struct {
    enum kern_family family;
    double a, b, want;
} floats[] = {
#define DIV(a, b, want) {KERN_F_floor_divide, a, b, want},
#define MOD(a, b, want) {KERN_F_remainder, a, b, want},
    DIV(1, 0.1, 9) DIV(1, -INF, -1) DIV(-1, INF, -1) DIV(INF, 3, NAN) DIV(12, 0, INF) DIV(-12, 0, -INF)
    DIV(0, 0, NAN) DIV(-0.0, 3, -0.0) DIV(0, 1, 0) DIV(0, -1, -0.0) DIV(7, -2, -4) DIV(-7, -2, 3) DIV(-1, 3, -1)
    DIV(5, INF, 0) DIV(NAN, 1, NAN) DIV(1, NAN, NAN) DIV(-1e-20, 1, -1) DIV(1e-20, 1, 0) DIV(12, -0.0, -INF)
    MOD(5.5, INF, 5.5) MOD(-5.5, INF, INF) MOD(5.5, -INF, -INF) MOD(-1, 1, 0.0) MOD(1, -1, -0.0) MOD(-0.0, 1, 0.0)
    MOD(3, 0, NAN) MOD(0, 0, NAN) MOD(INF, 2, NAN) MOD(-7, 3, 2) MOD(7, -3, -2) MOD(-1e-20, 1, 1) MOD(NAN, 1, NAN)
};
static void float_case(const struct kern_row *r, size_t k) {
    uint64_t a = 0, b = 0, want = 0, got = 0;
    store_float(r->dtype, &a, floats[k].a), store_float(r->dtype, &b, floats[k].b);
    store_float(r->dtype, &want, floats[k].want);
    r->fn(&got, &a, &b, 1);
    cr_expect(same_element(r->dtype, &got, &want), "%s(%g, %g): bits %#lx, not %#lx", r->symbol, floats[k].a,
              floats[k].b, got, want);
}
static void exact_case(const struct kern_row *r, double a, double b, double want) {
    uint64_t x = 0, y = 0, w = 0, got = 0;
    store_float(r->dtype, &x, a), store_float(r->dtype, &y, b), store_float(r->dtype, &w, want);
    r->fn(&got, &x, &y, 1);
    cr_expect(same_element(r->dtype, &got, &w), "%s(%g, %g): bits %#lx, not %#lx", r->symbol, a, b, got, w);
}
Test(intkern, known_floats) {
    const struct kern_row *r;
    for (size_t i = 0; (r = next_row(&i));) {
        if (!dtype_is_float(r->dtype)) continue;
        for (size_t k = 0; k < COUNT_OF(floats); k++)
            if (floats[k].family == r->family) float_case(r, k);
        if (r->family != KERN_F_remainder) continue;
        if (r->dtype == WEFT_F32) exact_case(r, 1e20, 3, 2);
        if (r->dtype == WEFT_F64) exact_case(r, 1, 0.1, 0.09999999999999995);
        if (r->dtype == WEFT_F64) exact_case(r, 0x1.fffffffffffffp1023, 0x0.0000000000003p-1022, 0x1p-1073);
    }
}

#define MIN64 INT64_MIN
static const struct {
    enum kern_family family;
    weft_dtype dtype;
    int64_t a, b, want;
} ints[] = {
#define INT(f, t, a, b, want) {KERN_F_##f, WEFT_##t, (int64_t)(a), b, (int64_t)(want)},
    INT(floor_divide, I32, -7, 2, -4) INT(floor_divide, I32, 7, -2, -4) INT(floor_divide, I32, -7, -2, 3)
    INT(floor_divide, I32, 7, 2, 3) INT(floor_divide, I32, -1, 3, -1) INT(remainder, I32, -7, 2, 1)
    INT(remainder, I32, 7, -2, -1) INT(remainder, I32, -7, -2, -1) INT(remainder, I32, -1, 5, 4)
    INT(floor_divide, I8, -128, -1, -128) INT(remainder, I8, -128, -1, 0)
    INT(floor_divide, I16, -32768, -1, -32768) INT(remainder, I16, -32768, -1, 0)
    INT(floor_divide, I32, INT32_MIN, -1, INT32_MIN) INT(remainder, I32, INT32_MIN, -1, 0)
    INT(floor_divide, I64, MIN64, -1, MIN64) INT(remainder, I64, MIN64, -1, 0)
    INT(floor_divide, I8, 5, 0, 0) INT(remainder, I16, -5, 0, 0) INT(floor_divide, I32, -5, 0, 0)
    INT(remainder, I64, 5, 0, 0) INT(floor_divide, I64, 0, 0, 0) INT(remainder, U32, 5, 0, 0)
    INT(floor_divide, U32, 4294967295u, 2, 2147483647) INT(floor_divide, U64, MIN64, 3, 3074457345618258602)
    INT(remainder, U64, MIN64, 10, 8) INT(floor_divide, U32, 4294967295u, 1, 4294967295u)
    INT(pow, I64, 0, -1, 0) INT(pow, I64, 2, -2, 0) INT(pow, I64, 10000, 10000, 0) INT(pow, I64, 1, -5, 1)
    INT(pow, I64, -1, -5, -1) INT(pow, I64, -1, -4, 1) INT(pow, I32, 3, 40, 689956897) INT(pow, U8, 3, 5, 243)
    INT(pow, U8, 3, 6, 217) INT(pow, I64, 0, 0, 1) INT(pow, I8, -2, 7, -128) INT(pow, U64, -1, 2, 1)
};
Test(intkern, known_integers) {
    for (size_t k = 0; k < COUNT_OF(ints); k++) {
        const struct kern_row *r;
        int rows = 0;
        for (size_t i = 0; (r = next_row(&i));) {
            if (r->family != ints[k].family || r->dtype != ints[k].dtype) continue;
            int64_t got = 0;
            r->fn(&got, &ints[k].a, &ints[k].b, 1);
            cr_expect(memcmp(&got, &ints[k].want, dtype_size(r->dtype)) == 0, "%s(%ld, %ld): %ld, not %ld",
                      r->symbol, ints[k].a, ints[k].b, got, ints[k].want);
            rows++;
        }
        cr_assert(rows > 0);
    }
}

// ---- places -------------------------------------------------------------------------------------------
static void try_place(const struct kern_row *r, const struct batch *s, struct guard g[3], size_t n) {
    const size_t w = dtype_size(r->dtype), bytes = n * w;
    unsigned char *a = guard_end(&g[0], bytes + n % 9), *b = guard_end(&g[1], bytes + n % 5);
    unsigned char *o = guard_end(&g[2], bytes + n % 7);
    memcpy(a, s->a, bytes), memcpy(b, s->b, bytes);
    memset(g[2].base, 0x5a, g[2].size);
    r->fn(o, a, b, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t want = 0;
        expect(r->family, r->dtype, s->a + i * w, s->b + i * w, &want);
        cr_assert(same_element(r->dtype, &want, o + i * w), "%s: element %zu of %zu", r->symbol, i, n);
    }
    for (unsigned char *p = g[2].base; p < g[2].base + g[2].size; p++)
        cr_assert((p >= o && p < o + bytes) || *p == 0x5a, "%s: writes outside, n %zu", r->symbol, n);
    r->fn(a, a, b, n);
    cr_assert(dtype_is_float(r->dtype) || memcmp(a, o, bytes) == 0, "%s: in place, n %zu", r->symbol, n);
    for (size_t i = 0; i < n; i++)
        cr_assert(same_element(r->dtype, a + i * w, o + i * w), "%s: in place, %zu of %zu", r->symbol, i, n);
    memcpy(a, s->a, bytes);
    r->fn(b, a, b, n);
    for (size_t i = 0; i < n; i++)
        cr_assert(same_element(r->dtype, b + i * w, o + i * w), "%s: onto b, %zu of %zu", r->symbol, i, n);
}
Test(intkern, places) {
    static struct batch s;
    struct guard g[3] = {guard_new(2048), guard_new(2048), guard_new(2048)};
    uint64_t state = seed() + 1;
    const struct kern_row *r;
    for (size_t i = 0; (r = next_row(&i));) {
        const size_t w = dtype_size(r->dtype);
        for (size_t e = 0; e < 130; e++) {
            random_element(r->dtype, e % 3 == 0 ? 0 : 2, &state, s.a + e * w);
            random_element(r->dtype, e % 5 == 0 ? 0 : 2, &state, s.b + e * w);
        }
        for (size_t n = 0; n <= 130; n++) try_place(r, &s, g, n);
    }
    for (int i = 0; i < 3; i++) guard_free(&g[i]);
}
