// SPDX-License-Identifier: MIT
// One element at a time, from docs/numerics.md and weft.h, without a line of weft's own arithmetic.
// Numbers are held in long double (exact for every float type and every 64-bit integer) or int64_t;
// what is computed is computed in the type of the operation, halves in f32. The functions with an
// error bound are compared with MPFR (mathref.h).
#include <assert.h>

#include "fuzz.h"
#include "mathref.h"

// ---- types
// -------------------------------------------------------------------------------------------
bool is_half(weft_dtype t) {
    return t == WEFT_F16 || t == WEFT_BF16;
}
bool is_float(weft_dtype t) {
    return t == WEFT_F32 || t == WEFT_F64 || is_half(t);
}
bool is_complex(weft_dtype t) {
    return t == WEFT_C64 || t == WEFT_C128;
}
bool is_signed(weft_dtype t) {
    return t >= WEFT_I8 && t <= WEFT_I64;
}
bool is_int(weft_dtype t) {
    return t >= WEFT_I8 && t <= WEFT_U64;
}
weft_dtype real_of(weft_dtype t) {
    return t == WEFT_C64 ? WEFT_F32 : t == WEFT_C128 ? WEFT_F64 : t;
}
static int bits_of(weft_dtype t) {
    static const int bits[] = {8, 8, 16, 32, 64, 8, 16, 32, 64, 32, 64, 16, 16, 64, 128};
    return bits[t];
}

// The float type an integer type of so many bits needs beside a half: 8 bits fit, 16 want f32, more
// f64.
static weft_dtype float_for(weft_dtype i, weft_dtype f) {
    int b = i == WEFT_BOOL ? 0 : bits_of(i);
    if (f == WEFT_F64 || b >= 32) return WEFT_F64;
    return b == 16 ? WEFT_F32 : f;
}
static weft_dtype promote_int(weft_dtype a, weft_dtype b) {
    if (a == WEFT_BOOL) return b;
    if (b == WEFT_BOOL) return a;
    if (is_signed(a) == is_signed(b)) return bits_of(a) >= bits_of(b) ? a : b;
    weft_dtype s = is_signed(a) ? a : b, u = is_signed(a) ? b : a;
    if (bits_of(s) > bits_of(u)) return s;
    return u == WEFT_U64 ? WEFT_F64 : (weft_dtype)(WEFT_I8 + (u - WEFT_U8) + 1);
}
static weft_dtype promote_float(weft_dtype a, weft_dtype b) {
    if (a == b) return a;
    if (a == WEFT_F64 || b == WEFT_F64) return WEFT_F64;
    return WEFT_F32;
}
weft_dtype promote(weft_dtype a, weft_dtype b) {
    if (is_complex(a) || is_complex(b)) {
        weft_dtype f = promote(real_of(a), real_of(b));
        return f == WEFT_F64 || (is_int(f) && bits_of(f) >= 32) ? WEFT_C128 : WEFT_C64;
    }
    if (is_float(a) && is_float(b)) return promote_float(a, b);
    if (is_float(a)) return float_for(b, a);
    if (is_float(b)) return float_for(a, b);
    return promote_int(a, b);
}

// ---- halves
// --------------------------------------------------------------------------------------------
struct format {
    int digits, least; // of the significand; exponent of the least normal number
    long double most;
};
static const struct format f16 = {11, -14, 65504.0L}, bf16 = {8, -126, 0x1.fep127L};

static long double round_to(const struct format *f, long double x) {
    if (x == 0 || !isfinite(x)) return x;
    int e;
    frexpl(x, &e);
    if (--e < f->least) e = f->least;
    long double quantum = ldexpl(1, e - f->digits + 1), r = rintl(x / quantum) * quantum;
    return copysignl(fabsl(r) > f->most ? (long double)INFINITY : r, x);
}
static uint16_t encode(const struct format *f, long double x) {
    int top = f->digits - 1, width = 15 - top; // bits of fraction, of exponent
    uint16_t sign = signbit(x) ? 0x8000 : 0, all = (uint16_t)(((1 << width) - 1) << top);
    if (isnan(x)) return (uint16_t)(all | 1 << (top - 1));
    x = fabsl(round_to(f, x));
    if (isinf(x)) return sign | all;
    if (x < ldexpl(1, f->least)) return (uint16_t)(sign | (uint16_t)ldexpl(x, top - f->least));
    int e;
    long double m = frexpl(x, &e); // 1/2 <= m < 1
    return (uint16_t)(sign | (e - f->least) << top | ((int)ldexpl(m, top + 1) - (1 << top)));
}
static long double decode(const struct format *f, uint16_t b) {
    int top = f->digits - 1, width = 15 - top, e = b >> top & ((1 << width) - 1),
        m = b & ((1 << top) - 1);
    long double x = e == (1 << width) - 1 ? (m ? (long double)NAN : (long double)INFINITY)
                    : e                   ? ldexpl(m + (1 << top), e - 1 + f->least - top)
                                          : ldexpl(m, f->least - top);
    return b >> 15 ? -x : x;
}

// ---- elements
// -------------------------------------------------------------------------------------------
static long double load_float(weft_dtype t, const void *p) {
    float f;
    double d;
    uint16_t h;
    if (t == WEFT_F32) return memcpy(&f, p, 4), f;
    if (t == WEFT_F64) return memcpy(&d, p, 8), d;
    memcpy(&h, p, 2);
    return decode(t == WEFT_F16 ? &f16 : &bf16, h);
}
static void store_float(weft_dtype t, void *p, long double v) {
    float f = (float)v;
    double d = (double)v;
    if (t == WEFT_F32)
        memcpy(p, &f, 4);
    else if (t == WEFT_F64)
        memcpy(p, &d, 8);
    else
        memcpy(p, &(uint16_t){encode(t == WEFT_F16 ? &f16 : &bf16, v)}, 2);
}
struct num num_load(weft_dtype t, const void *p) {
    struct num v = {0, 0, 0};
    weft_dtype part = real_of(t);
    if (is_float(part)) {
        v.f = load_float(part, p);
        if (is_complex(t)) v.g = load_float(part, (const char *)p + weft_dtype_size(part));
        return v;
    }
    memcpy(&v.i, p, weft_dtype_size(t)); // little endian
    if (t == WEFT_BOOL) v.i = v.i != 0;
    int drop = 64 - bits_of(t);
    if (is_signed(t)) v.i = (int64_t)((uint64_t)v.i << drop) >> drop;
    return v;
}
void num_store(weft_dtype t, void *p, struct num v) {
    weft_dtype part = real_of(t);
    if (!is_float(part)) {
        memcpy(p, &v.i, weft_dtype_size(t));
        return;
    }
    store_float(part, p, v.f);
    if (is_complex(t)) store_float(part, (char *)p + weft_dtype_size(part), v.g);
}
static struct num narrow(weft_dtype t, struct num v) {
    unsigned char b[16];
    num_store(t, b, v);
    return num_load(t, b);
}
struct num num_at(const struct tensor *a, int64_t i) {
    return num_load(a->s.t, a->data + (size_t)i * weft_dtype_size(a->s.t));
}
bool num_is_nan(weft_dtype t, struct num v) {
    return is_float(real_of(t)) && (isnan(v.f) || (is_complex(t) && isnan(v.g)));
}
static long double whole(weft_dtype t, struct num v) {
    return t == WEFT_U64 ? (long double)(uint64_t)v.i : (long double)v.i;
}
struct num num_cast(weft_dtype to, weft_dtype from, struct num v) {
    struct num r = {0, 0, 0};
    bool real = is_float(real_of(from));
    if (to == WEFT_BOOL) {
        r.i = real ? v.f != 0 || (is_complex(from) && v.g != 0) : v.i != 0;
    } else if (is_float(real_of(to))) {
        r.f = real ? v.f : whole(from, v);
        r.g = is_complex(from) ? v.g : 0;
    } else if (!real) {
        r.i = v.i;
    } else if (!isnan(v.f)) {
        long double lo = is_signed(to) ? -ldexpl(1, bits_of(to) - 1) : 0,
                    hi = ldexpl(1, bits_of(to) - is_signed(to)) - 1, x = truncl(v.f);
        x = x < lo ? lo : x > hi ? hi : x;
        r.i = x >= 0x1p63L ? (int64_t)(uint64_t)x : (int64_t)x;
    }
    return narrow(to, r);
}

// ---- random numbers: Philox4x32-10 (Salmon and others, 2011)
// ----------------------------------------------
static void philox(uint32_t c[4], uint64_t key) {
    uint32_t k[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    for (int round = 0; round < 10; round++) {
        uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k[0], (uint32_t)b,
                            (uint32_t)(a >> 32) ^ c[3] ^ k[1], (uint32_t)a};
        memcpy(c, next, sizeof next);
        k[0] += 0x9E3779B9u, k[1] += 0xBB67AE85u;
    }
}
uint64_t philox_word(uint64_t at, uint64_t key, bool half) {
    uint64_t block = half ? at / 4 : at / 2;
    uint32_t c[4] = {(uint32_t)block, (uint32_t)(block >> 32), 0, 0};
    philox(c, key);
    return half ? c[at % 4] : c[2 * (at % 2)] | (uint64_t)c[2 * (at % 2) + 1] << 32;
}
uint64_t philox_below(uint64_t bits, uint64_t bound) {
    if (!bound) return 0;
    uint64_t x = bits;
    unsigned __int128 m = (unsigned __int128)x * bound;
    for (uint32_t attempt = 1; (uint64_t)m < (0 - bound) % bound; attempt++) {
        uint32_t c[4] = {(uint32_t)bits, (uint32_t)(bits >> 32), attempt, 0};
        philox(c, bound);
        x = c[0] | (uint64_t)c[1] << 32;
        m = (unsigned __int128)x * bound;
    }
    return (uint64_t)(m >> 64);
}

// ---- integers
// ---------------------------------------------------------------------------------------------
static uint64_t low_bits(weft_dtype t, int64_t a) {
    int w = bits_of(t);
    return w == 64 ? (uint64_t)a : (uint64_t)a & (((uint64_t)1 << w) - 1);
}
static int64_t floor_div(weft_dtype t, int64_t a, int64_t b, bool rest) {
    if (b == 0) return 0;
    if (!is_signed(t))
        return (int64_t)(rest ? (uint64_t)a % (uint64_t)b : (uint64_t)a / (uint64_t)b);
    __int128 q = (__int128)a / b, r = (__int128)a % b;
    if (r != 0 && (r < 0) != (b < 0)) q--, r += b;
    return rest ? (int64_t)r : (int64_t)(uint64_t)q;
}
static int64_t power(weft_dtype t, int64_t a, int64_t b) {
    if (is_signed(t) && b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
    uint64_t r = 1, x = (uint64_t)a;
    for (uint64_t n = (uint64_t)b; n; n >>= 1, x *= x)
        if (n & 1) r *= x;
    return (int64_t)r;
}
static uint64_t magnitude(weft_dtype t, int64_t a) {
    return is_signed(t) && a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
}
static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t r = a % b;
        a = b, b = r;
    }
    return a;
}
static int64_t shift(weft_dtype t, bool left, int64_t a, int64_t b) {
    int w = bits_of(t);
    bool bad = (is_signed(t) && b < 0) || (uint64_t)b >= (uint64_t)w;
    if (left) return bad ? 0 : (int64_t)((uint64_t)a << b);
    if (!is_signed(t)) return bad ? 0 : (int64_t)((uint64_t)a >> b);
    return bad ? (a < 0 ? -1 : 0) : a >> b;
}
static int64_t rotate(weft_dtype t, int64_t a, int64_t by) {
    int w = bits_of(t), n = (int)((uint64_t)by & (uint64_t)(w - 1));
    uint64_t u = low_bits(t, a);
    return n ? (int64_t)(u << n | u >> (w - n)) : (int64_t)u;
}
static int64_t high_half(weft_dtype t, int64_t a, int64_t b) {
    if (!is_signed(t))
        return (int64_t)(uint64_t)(((unsigned __int128)(uint64_t)a * (uint64_t)b) >> bits_of(t));
    return (int64_t)(((__int128)a * b) >> bits_of(t));
}
static int64_t count_bits(int kind, weft_dtype t, int64_t a) {
    uint64_t u = low_bits(t, a);
    int w = bits_of(t), n = 0;
    if (kind == M_popcount)
        for (int k = 0; k < w; k++)
            n += (int)(u >> k & 1);
    if (kind == M_leading_zeros)
        while (n < w && !(u >> (w - 1 - n) & 1))
            n++;
    if (kind == M_trailing_zeros)
        while (n < w && !(u >> n & 1))
            n++;
    return n;
}
static int64_t swap_bytes(weft_dtype t, int64_t a) {
    int64_t r = 0;
    for (int k = 0; k < bits_of(t) / 8; k++)
        r = (int64_t)((uint64_t)r << 8 | ((uint64_t)a >> 8 * k & 255));
    return r;
}
static bool int_less(weft_dtype t, int64_t a, int64_t b) {
    return is_signed(t) ? a < b : (uint64_t)a < (uint64_t)b;
}

static int64_t int_map(int kind, weft_dtype t, int64_t a, int64_t b) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    bool neg = is_signed(t) && a < 0;
    switch (kind) {
    case M_add: return (int64_t)(x + y);
    case M_sub: return (int64_t)(x - y);
    case M_mul: return (int64_t)(x * y);
    case M_floor_divide: return floor_div(t, a, b, false);
    case M_remainder: return floor_div(t, a, b, true);
    case M_pow: return power(t, a, b);
    case M_minimum:
    case M_fmin: return int_less(t, a, b) ? a : b;
    case M_maximum:
    case M_fmax: return int_less(t, a, b) ? b : a;
    case M_neg: return (int64_t)(0 - x);
    case M_abs: return (int64_t)(neg ? 0 - x : x);
    case M_sign: return neg ? -1 : a != 0;
    case M_square: return (int64_t)(x * x);
    case M_reciprocal: return a == 1 || (is_signed(t) && a == -1) ? a : 0;
    case M_bitwise_and: return a & b;
    case M_bitwise_or: return a | b;
    case M_bitwise_xor: return a ^ b;
    case M_bitwise_not: return ~a;
    case M_left_shift:
    case M_right_shift: return shift(t, kind == M_left_shift, a, b);
    case M_rotate_left: return rotate(t, a, b);
    case M_rotate_right: return rotate(t, a, (int64_t)(0 - y));
    case M_mul_hi: return high_half(t, a, b);
    case M_popcount:
    case M_leading_zeros:
    case M_trailing_zeros: return count_bits(kind, t, a);
    case M_byte_swap: return swap_bytes(t, a);
    case M_gcd: return (int64_t)common_divisor(magnitude(t, a), magnitude(t, b));
    case M_lcm:
        x = magnitude(t, a), y = magnitude(t, b);
        return x && y ? (int64_t)(x / common_divisor(x, y) * y) : 0;
    case M_random_word:
    case M_random_half: return (int64_t)philox_word(x, y, kind == M_random_half);
    case M_random_below: return (int64_t)philox_below(x, y);
    case M_equal: return a == b;
    case M_not_equal: return a != b;
    case M_less: return int_less(t, a, b);
    case M_less_equal: return !int_less(t, b, a);
    case M_greater: return int_less(t, b, a);
    case M_greater_equal: return !int_less(t, a, b);
    case M_isfinite: return 1;
    case M_isnan:
    case M_isinf: return 0;
    case M_signbit: return neg;
    default: return a; // floor, ceil, trunc, round
    }
}
static int64_t bool_map(int kind, int64_t a, int64_t b) {
    switch (kind) {
    case M_add:
    case M_maximum:
    case M_fmax:
    case M_logical_or:
    case M_bitwise_or: return a | b;
    case M_mul:
    case M_minimum:
    case M_fmin:
    case M_logical_and:
    case M_bitwise_and: return a & b;
    case M_logical_xor:
    case M_bitwise_xor: return a ^ b;
    case M_logical_not:
    case M_bitwise_not: return !a;
    default: return int_map(kind, WEFT_BOOL, a, b);
    }
}

// ---- floating point: once in float, once in double
// -----------------------------------------------------------
#define FLOAT_OPS(T, F, name)                                                                      \
    static T name##_extreme(bool most, T a, T b) {                                                 \
        if (isnan(a) || isnan(b)) return a + b;                                                    \
        if (a == b) return (signbit(a) != 0) == most ? b : a;                                      \
        return (a > b) == most ? a : b;                                                            \
    }                                                                                              \
    static T name##_rest(T a, T b) {                                                               \
        T r = fmod##F(a, b);                                                                       \
        if (b == 0 || isnan(r)) return r;                                                          \
        if (r == 0) return copysign##F(0, b);                                                      \
        return (b < 0) != (r < 0) ? r + b : r;                                                     \
    }                                                                                              \
    static T name##_floor_divide(T a, T b) {                                                       \
        if (b == 0) return a / b;                                                                  \
        T r = fmod##F(a, b), q = (a - r) / b;                                                      \
        if (r != 0 && (b < 0) != (r < 0)) q -= 1;                                                  \
        if (q == 0) return copysign##F(0, a / b);                                                  \
        T f = floor##F(q);                                                                         \
        return q - f > (T)0.5 ? f + 1 : f;                                                         \
    }                                                                                              \
    static T name##_map(int kind, T a, T b, T c) {                                                 \
        int e = 0;                                                                                 \
        switch (kind) {                                                                            \
        case M_add: return a + b;                                                                  \
        case M_sub: return a - b;                                                                  \
        case M_mul: return a * b;                                                                  \
        case M_true_divide: return a / b;                                                          \
        case M_floor_divide: return name##_floor_divide(a, b);                                     \
        case M_remainder: return name##_rest(a, b);                                                \
        case M_copysign: return copysign##F(a, b);                                                 \
        case M_minimum: return name##_extreme(false, a, b);                                        \
        case M_maximum: return name##_extreme(true, a, b);                                         \
        case M_fmin: return isnan(a) ? b : isnan(b) ? a : name##_extreme(false, a, b);             \
        case M_fmax: return isnan(a) ? b : isnan(b) ? a : name##_extreme(true, a, b);              \
        case M_fma: return fma##F(a, b, c);                                                        \
        case M_neg: return -a;                                                                     \
        case M_abs: return fabs##F(a);                                                             \
        case M_sign: return isnan(a) ? a : (T)((a > 0) - (a < 0));                                 \
        case M_square: return a * a;                                                               \
        case M_sqrt: return sqrt##F(a);                                                            \
        case M_reciprocal: return 1 / a;                                                           \
        case M_floor: return floor##F(a);                                                          \
        case M_ceil: return ceil##F(a);                                                            \
        case M_trunc: return trunc##F(a);                                                          \
        case M_round: return rint##F(a);                                                           \
        case M_nextafter: return nextafter##F(a, b);                                               \
        case M_frexp_mantissa: return frexp##F(a, &e);                                             \
        case M_frexp_power: return isfinite(a) ? (frexp##F(a, &e), (T)e) : 0;                      \
        case M_equal: return a == b;                                                               \
        case M_not_equal: return a != b;                                                           \
        case M_less: return a < b;                                                                 \
        case M_less_equal: return a <= b;                                                          \
        case M_greater: return a > b;                                                              \
        case M_greater_equal: return a >= b;                                                       \
        case M_isnan: return (T)(isnan(a) != 0);                                                   \
        case M_isinf: return (T)(isinf(a) != 0);                                                   \
        case M_isfinite: return (T)(isfinite(a) != 0);                                             \
        case M_signbit: return signbit(a) != 0;                                                    \
        default: assert(!"an operation without a meaning"); return 0;                              \
        }                                                                                          \
    }
FLOAT_OPS(float, f, single)
FLOAT_OPS(double, , wide)

static long double float_map(int kind, weft_dtype t, const struct num *x) {
    if (kind == M_scale_by_power) { // exact in long double, so rounded once by the store
        long double n = x[1].f < -5000 ? -5000 : x[1].f > 5000 ? 5000 : x[1].f;
        return scalbnl(x[0].f, (int)n);
    }
    if (t == WEFT_F64) return wide_map(kind, (double)x[0].f, (double)x[1].f, (double)x[2].f);
    return single_map(kind, (float)x[0].f, (float)x[1].f, (float)x[2].f);
}

// ---- complex numbers
// ----------------------------------------------------------------------------------------- In the
// type of the parts. A real operand has no imaginary part: the caller says which are.
static long double part_op(weft_dtype t, int kind, long double a, long double b) {
    struct num x[3] = {{a, 0, 0}, {b, 0, 0}, {0, 0, 0}};
    return float_map(kind, real_of(t), x);
}
static struct num complex_product(weft_dtype t, struct num a, struct num b) {
    long double ac = part_op(t, M_mul, a.f, b.f), bd = part_op(t, M_mul, a.g, b.g),
                ad = part_op(t, M_mul, a.f, b.g), bc = part_op(t, M_mul, a.g, b.f);
    return (struct num){part_op(t, M_sub, ac, bd), part_op(t, M_add, ad, bc), 0};
}
static struct num complex_map(int kind, weft_dtype t, const struct num *x) {
    struct num a = x[0], b = x[1], r = {0, 0, 0};
    switch (kind) {
    case M_add:
    case M_sub: return (struct num){part_op(t, kind, a.f, b.f), part_op(t, kind, a.g, b.g), 0};
    case M_mul: return complex_product(t, a, b);
    case M_square: return complex_product(t, a, a);
    case M_neg: return (struct num){-a.f, -a.g, 0};
    case M_equal: r.i = a.f == b.f && a.g == b.g; return r;
    case M_not_equal: r.i = a.f != b.f || a.g != b.g; return r;
    case M_isnan: r.i = isnan(a.f) || isnan(a.g); return r;
    case M_isinf: r.i = isinf(a.f) || isinf(a.g); return r;
    default: r.i = isfinite(a.f) && isfinite(a.g); return r; // isfinite
    }
}
static bool complex_exact(int kind) {
    switch (kind) {
    case M_add:
    case M_sub:
    case M_mul:
    case M_square:
    case M_neg:
    case M_equal:
    case M_not_equal:
    case M_isnan:
    case M_isinf:
    case M_isfinite: return true;
    default: return map_of(kind)->rule == LOGIC || kind == M_where;
    }
}

// ---- any element
// ------------------------------------------------------------------------------------------------
bool map_exact(int kind, weft_dtype t) {
    if (is_complex(t)) return complex_exact(kind);
    if (!is_float(t)) return true;
    switch (kind) {
    case M_floor_divide:
    case M_remainder:
    case M_scale_by_power:
    case M_frexp_mantissa:
    case M_frexp_power: return true;
    case M_nextafter: return !is_half(t);
    default: return !map_of(kind)->heavy;
    }
}
struct num num_map(int kind, weft_dtype t, const struct num *x) {
    struct num r = {0, 0, 0};
    enum rule rule = map_of(kind)->rule;
    if (kind == M_where) return x[0].i ? x[1] : x[2];
    if (is_complex(t)) {
        r = complex_map(kind, t, x);
        return rule == COMPARE || rule == PRED ? r : narrow(t, r);
    }
    if (t == WEFT_BOOL)
        r.i = bool_map(kind, x[0].i, x[1].i);
    else if (!is_float(t))
        r.i = int_map(kind, t, x[0].i, x[1].i);
    else
        r.f = float_map(kind, t, x);
    if (rule == COMPARE || rule == PRED || rule == LOGIC) {
        if (is_float(t)) r.i = r.f != 0;
        return narrow(WEFT_BOOL, r);
    }
    return narrow(t, r);
}

// ---- functions with a bound
// ----------------------------------------------------------------------------------------
static double stated(int kind, bool f64) { // docs/numerics.md, Accuracy
    switch (kind) {
    case M_log: return f64 ? 0.53 : 0.6;
    case M_sin:
    case M_cos: return f64 ? 0.55 : 0.6;
    case M_exp: return f64 ? 0.56 : 0.6;
    case M_exp2:
    case M_expm1:
    case M_log2:
    case M_log10:
    case M_log1p:
    case M_tan: return 0.6;
    case M_pow: return f64 ? 0.65 : 1;
    case M_tanh:
    case M_softplus: return 0.75;
    case M_erf: return f64 ? 0.8 : 1;
    case M_ndtri: return f64 ? 4 : 0.51;
    default: return 1;
    }
}
static int family(int kind) {
    switch (kind) {
#define F(name)                                                                                    \
    case M_##name: return KERN_F_##name;
        KERN_FAMILIES(F)
#undef F
    default: return -1;
    }
}
// lgamma has zeros and logaddexp cancels: the bound is absolute there.
static bool near_zero(int kind, const struct num *x, long double got) {
    double exact = mathref_value((enum kern_family)family(kind), (double)x[0].f, (double)x[1].f);
    long double largest = fmaxl(fabsl(x[0].f), fabsl(x[1].f));
    if (kind == M_lgamma)
        return x[0].f < -2 && fabsl(got - exact) <= ldexpl(fabsl(x[0].f) * 4 + 64, -50);
    if (kind != M_logaddexp && kind != M_logaddexp2) return false;
    return fabsl(got - exact) <= ldexpl(fmaxl(largest, 1), -50);
}
bool map_bound(int kind, weft_dtype t, const struct num *x, struct num got) {
    int f = family(kind);
    if (fabsl(x[0].f) > 50 && (kind == M_erf || kind == M_erfc || kind == M_gelu_erf))
        return true; // MPFR takes seconds
    if (f < 0 || !mathref_has((enum kern_family)f)) return true;
    double a = (double)x[0].f, b = (double)x[1].f;
    if (!is_half(t)) {
        double ulp = mathref_ulp((enum kern_family)f, t, a, b, (double)got.f);
        return ulp <= stated(kind, t == WEFT_F64) || near_zero(kind, x, got.f);
    }
    long double exact = mathref_value((enum kern_family)f, a, b),
                slack = fabsl(exact) * 0x1p-22L + 0x1p-149L;
    if (isnan(exact)) return isnan(got.f);
    if (!isfinite(exact)) return got.f == exact;
    struct num lo = narrow(t, (struct num){exact - slack, 0, 0}),
               hi = narrow(t, (struct num){exact + slack, 0, 0});
    return (got.f >= lo.f && got.f <= hi.f) || near_zero(kind, x, got.f);
}
