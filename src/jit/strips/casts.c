// SPDX-License-Identifier: MIT
// Strips of cast between all pairs of types. Integers to integers wrap; integers to floats round once (C
// says so, also for u64 and i64 to f32); floats to integers truncate and saturate, NaN gives 0; to bool is
// "not 0"; from bool reads any non-zero byte as 1, so bool to bool normalises what came from memory.
#include "strip.h"

#pragma GCC diagnostic ignored "-Wtype-limits"

#define FROM_FLOAT 0
#define IN(a) ((a) != 0)
#define S uint8_t
#define FROM b8
#include "casts_from.inc"
#undef IN
#define IN(a) (a)
#define S int8_t
#define FROM i8
#include "casts_from.inc"
#define S int16_t
#define FROM i16
#include "casts_from.inc"
#define S int32_t
#define FROM i32
#include "casts_from.inc"
#define S int64_t
#define FROM i64
#include "casts_from.inc"
#define S uint8_t
#define FROM u8
#include "casts_from.inc"
#define S uint16_t
#define FROM u16
#include "casts_from.inc"
#define S uint32_t
#define FROM u32
#include "casts_from.inc"
#define S uint64_t
#define FROM u64
#include "casts_from.inc"
#undef FROM_FLOAT
#define FROM_FLOAT 1
#define HALF_EPSILON 0x1p-24
#define S float
#define FROM f32
#include "casts_from.inc"
#undef HALF_EPSILON
#define HALF_EPSILON 0x1p-53
#define S double
#define FROM f64
#include "casts_from.inc"

strip_casts STRIP_JOIN(strip_cast, KERN_VARIANT);
strip_fn *STRIP_JOIN(strip_cast, KERN_VARIANT)(weft_dtype in, weft_dtype out) {
    static strip_fn *const *const rows[WEFT_DTYPE__N] = {
        [WEFT_BOOL] = casts_b8, [WEFT_I8] = casts_i8,   [WEFT_I16] = casts_i16, [WEFT_I32] = casts_i32,
        [WEFT_I64] = casts_i64, [WEFT_U8] = casts_u8,   [WEFT_U16] = casts_u16, [WEFT_U32] = casts_u32,
        [WEFT_U64] = casts_u64, [WEFT_F32] = casts_f32, [WEFT_F64] = casts_f64};
    return rows[in][out];
}
