// SPDX-License-Identifier: MIT
// What scatter does with an element that is there and one that comes: the meanings of add, minimum and maximum
// in ir/ops.def, type by type. Halves are combined in f32 and rounded once, complex numbers by parts.
#include "combine.h"

#include "../../half.h"

#define LOOP(name, T, expr)                                                                        \
    static void name(char *out, int64_t os, const char *v, int64_t vs, int64_t n) {                \
        for (int64_t i = 0; i < n; i++, out = call_at(out, os), v = call_at(v, vs)) {              \
            T a, b;                                                                                \
            memcpy(&a, out, sizeof a);                                                             \
            memcpy(&b, v, sizeof b);                                                               \
            a = (T)(expr);                                                                         \
            memcpy(out, &a, sizeof a);                                                             \
        }                                                                                          \
    }
#define INTS(t, T)                                                                                 \
    LOOP(add_##t, T, (uint64_t)a + (uint64_t)b)                                                    \
    LOOP(min_##t, T, a < b ? a : b)                                                                \
    LOOP(max_##t, T, a > b ? a : b)
INTS(i8, int8_t)
INTS(i16, int16_t)
INTS(i32, int32_t)
INTS(i64, int64_t)
INTS(u8, uint8_t)
INTS(u16, uint16_t)
INTS(u32, uint32_t)
INTS(u64, uint64_t)
LOOP(or_bool, uint8_t, (a != 0) | (b != 0))
LOOP(and_bool, uint8_t, (a != 0) & (b != 0))
LOOP(set_bool, uint8_t, b != 0)

// NaN propagates; of two zeros the one with the sign decides.
#define LESSER(a, b) ((a) != (a) ? (a) : (b) != (b) ? (b) : (a) == (b) ? (__builtin_signbit(a) ? (a) : (b)) : (a) < (b) ? (a) : (b))
#define GREATER(a, b) ((a) != (a) ? (a) : (b) != (b) ? (b) : (a) == (b) ? (__builtin_signbit(a) ? (b) : (a)) : (a) > (b) ? (a) : (b))
#define FLOATS(t, T)                                                                               \
    LOOP(add_##t, T, a + b)                                                                        \
    LOOP(min_##t, T, LESSER(a, b))                                                                 \
    LOOP(max_##t, T, GREATER(a, b))
FLOATS(f32, float)
FLOATS(f64, double)

#define HALF(t, from, to)                                                                          \
    static uint16_t lesser_##t(uint16_t x, uint16_t y) {                                           \
        const float a = from(x), b = from(y);                                                      \
        return a != a ? x : b != b ? y : a == b ? (__builtin_signbit(a) ? x : y) : a < b ? x : y;  \
    }                                                                                              \
    static uint16_t greater_##t(uint16_t x, uint16_t y) {                                          \
        const float a = from(x), b = from(y);                                                      \
        return a != a ? x : b != b ? y : a == b ? (__builtin_signbit(a) ? y : x) : a > b ? x : y;  \
    }                                                                                              \
    LOOP(add_##t, uint16_t, to(from(a) + from(b)))                                                 \
    LOOP(min_##t, uint16_t, lesser_##t(a, b))                                                      \
    LOOP(max_##t, uint16_t, greater_##t(a, b))
HALF(f16, half_from_f16, half_to_f16)
HALF(bf16, half_from_bf16, half_to_bf16)

#define PAIR(t, T)                                                                                 \
    static void add_##t(char *out, int64_t os, const char *v, int64_t vs, int64_t n) {             \
        for (int64_t i = 0; i < n; i++, out = call_at(out, os), v = call_at(v, vs)) {              \
            T a[2], b[2];                                                                          \
            memcpy(a, out, sizeof a);                                                              \
            memcpy(b, v, sizeof b);                                                                \
            a[0] += b[0];                                                                          \
            a[1] += b[1];                                                                          \
            memcpy(out, a, sizeof a);                                                              \
        }                                                                                          \
    }
PAIR(c64, float)
PAIR(c128, double)

#define SET(size)                                                                                  \
    static void set_##size(char *out, int64_t os, const char *v, int64_t vs, int64_t n) {          \
        for (int64_t i = 0; i < n; i++, out = call_at(out, os), v = call_at(v, vs))                \
            memcpy(out, v, size);                                                                  \
    }
SET(1)
SET(2)
SET(4)
SET(8)
SET(16)

combine_fn *combine_of(weft_scatter_op op, weft_dtype t) {
#define ROW(id, t) [id] = {NULL, add_##t, min_##t, max_##t}
    static combine_fn *const table[WEFT_DTYPE__N][4] = {
        [WEFT_BOOL] = {set_bool, or_bool, and_bool, or_bool},
        ROW(WEFT_I8, i8), ROW(WEFT_I16, i16), ROW(WEFT_I32, i32), ROW(WEFT_I64, i64),
        ROW(WEFT_U8, u8), ROW(WEFT_U16, u16), ROW(WEFT_U32, u32), ROW(WEFT_U64, u64),
        ROW(WEFT_F32, f32), ROW(WEFT_F64, f64), ROW(WEFT_F16, f16), ROW(WEFT_BF16, bf16),
        [WEFT_C64] = {NULL, add_c64, NULL, NULL},
        [WEFT_C128] = {NULL, add_c128, NULL, NULL},
    };
    combine_fn *fn = table[t][op];
    if (fn) return fn;
    switch (dtype_size(t)) {
    case 16: return set_16;
    case 8: return set_8;
    case 4: return set_4;
    case 2: return set_2;
    default: return set_1;
    }
}
