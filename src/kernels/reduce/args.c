// SPDX-License-Identifier: MIT
// Arg-reductions of every dtype: the index of the best element, the first of ties; zeros of either sign
// tie, a NaN wins over all numbers or, where skipped, is never taken.
//
// The result does not depend on the order of combining, so a leaf takes the shortest way: its best value
// first (plain lanes without indices), then the first place where it stands, kept in lane 0. KEEP(x, v)
// is the better of two values: one comparison that lets a NaN in and never out again, or the reverse.
#include "reduce.h"

#define NAN_IS(x) 0
#define SKIP 0
#define T uint8_t
#define SFX b8
#define IN(x) ((T)((x) != 0))
#include "argpair.inc"
#define T int8_t
#define SFX i8
#include "argpair.inc"
#define T int16_t
#define SFX i16
#include "argpair.inc"
#define T int32_t
#define SFX i32
#include "argpair.inc"
#define T int64_t
#define SFX i64
#include "argpair.inc"
#define T uint8_t
#define SFX u8
#include "argpair.inc"
#define T uint16_t
#define SFX u16
#include "argpair.inc"
#define T uint32_t
#define SFX u32
#include "argpair.inc"
#define T uint64_t
#define SFX u64
#include "argpair.inc"
#undef NAN_IS
#define NAN_IS(x) ((x) != (x))
#define T float
#define SFX f32
#include "argpair.inc"
#define T double
#define SFX f64
#include "argpair.inc"
#undef SKIP
#define SKIP 1
#define T float
#define SFX f32
#include "argpair.inc"
#define T double
#define SFX f64
#include "argpair.inc"

#define ROW(name, skipping)                                                                        \
    {[WEFT_BOOL] = RED_ARG_KIND(name, b8), [WEFT_I8] = RED_ARG_KIND(name, i8),                           \
     [WEFT_I16] = RED_ARG_KIND(name, i16),   [WEFT_I32] = RED_ARG_KIND(name, i32),                         \
     [WEFT_I64] = RED_ARG_KIND(name, i64),   [WEFT_U8] = RED_ARG_KIND(name, u8),                           \
     [WEFT_U16] = RED_ARG_KIND(name, u16),   [WEFT_U32] = RED_ARG_KIND(name, u32),                         \
     [WEFT_U64] = RED_ARG_KIND(name, u64),   [WEFT_F32] = RED_ARG_KIND(skipping, f32),                     \
     [WEFT_F64] = RED_ARG_KIND(skipping, f64)}
static const struct red_kind kinds[4][WEFT_DTYPE__N] = {
    ROW(argmin, argmin), ROW(argmax, argmax), ROW(argmin, nanargmin), ROW(argmax, nanargmax)};

red_find RED_JOIN2(kern_red_args, KERN_VARIANT);
const struct red_kind *RED_JOIN2(kern_red_args, KERN_VARIANT)(enum kern_red r, weft_dtype t) {
    return &kinds[r - KERN_ARGMIN][t];
}
