// SPDX-License-Identifier: MIT
// Reductions of bool and integers. In: strips of one dtype; out: lanes, see lanes.inc.
//
// Sums and products wrap, so they are computed on the unsigned type of the width and serve both signs.
// A bool in memory is any byte: it counts as "not 0" and states hold 0 or 1; on bool, sum and maximum are
// or, product and minimum are and. FMIN and FMAX are MIN and MAX, as there is no NaN.
#include "reduce.h"

#define L 64
#define T uint8_t
#define SFX b8
#define RED any
#define IN(x) ((T)((x) != 0))
#define OUT(v) (v)
#define OP(a, b) ((T)((a) | (b)))
#include "lanes.inc"
#define RED all
#define IN(x) ((T)((x) != 0))
#define OUT(v) (v)
#define OP(a, b) ((T)((a) & (b)))
#include "lanes.inc"
#undef T
#undef SFX

#define SIGNED 1
#define T int8_t
#define SFX i8
#include "int.inc"
#define SIGNED 1
#define T int16_t
#define SFX i16
#include "int.inc"
#define SIGNED 1
#define T int32_t
#define SFX i32
#include "int.inc"
#define SIGNED 0
#define T uint8_t
#define SFX u8
#include "int.inc"
#define SIGNED 0
#define T uint16_t
#define SFX u16
#include "int.inc"
#define SIGNED 0
#define T uint32_t
#define SFX u32
#include "int.inc"
#undef L
#define L 32
#define SIGNED 1
#define T int64_t
#define SFX i64
#include "int.inc"
#define SIGNED 0
#define T uint64_t
#define SFX u64
#include "int.inc"

#define WRAPPING(name)                                                                             \
    {[WEFT_I8] = RED_KIND(name, u8),   [WEFT_U8] = RED_KIND(name, u8),                             \
     [WEFT_I16] = RED_KIND(name, u16), [WEFT_U16] = RED_KIND(name, u16),                           \
     [WEFT_I32] = RED_KIND(name, u32), [WEFT_U32] = RED_KIND(name, u32),                           \
     [WEFT_I64] = RED_KIND(name, u64), [WEFT_U64] = RED_KIND(name, u64)}
#define ORDERED(name, truth)                                                                       \
    {[WEFT_BOOL] = RED_KIND(truth, b8),                                                          \
     [WEFT_I8] = RED_KIND(name, i8),   [WEFT_U8] = RED_KIND(name, u8),                             \
     [WEFT_I16] = RED_KIND(name, i16), [WEFT_U16] = RED_KIND(name, u16),                           \
     [WEFT_I32] = RED_KIND(name, i32), [WEFT_U32] = RED_KIND(name, u32),                           \
     [WEFT_I64] = RED_KIND(name, i64), [WEFT_U64] = RED_KIND(name, u64)}

static const struct red_kind wrapping[2][WEFT_DTYPE__N] = {WRAPPING(sum), WRAPPING(prod)};
static const struct red_kind ordered[2][WEFT_DTYPE__N] = {ORDERED(min, all), ORDERED(max, any)};
static const struct red_kind truth[2] = {RED_KIND(any, b8), RED_KIND(all, b8)};

red_find RED_JOIN2(kern_red_ints, KERN_VARIANT);
const struct red_kind *RED_JOIN2(kern_red_ints, KERN_VARIANT)(enum kern_red r, weft_dtype t) {
    switch (r) {
    case KERN_SUM: return t == WEFT_BOOL ? &truth[0] : &wrapping[0][t];
    case KERN_PROD: return t == WEFT_BOOL ? &truth[1] : &wrapping[1][t];
    case KERN_MIN:
    case KERN_FMIN: return &ordered[0][t];
    case KERN_MAX:
    case KERN_FMAX: return &ordered[1][t];
    case KERN_ANY: return t == WEFT_BOOL ? &truth[0] : NULL;
    case KERN_ALL: return t == WEFT_BOOL ? &truth[1] : NULL;
    default: return NULL;
    }
}
