// SPDX-License-Identifier: MIT
// Strips of signed integers: the meanings of ops.def in loops, computed in unsigned types so that they
// wrap without undefined behaviour.
#include "meaning.h"

#define MEANING(flt, integer, boolean) integer
#define W uint32_t
#define T int8_t
#define SFX i8
#include "type.inc"
#define W uint32_t
#define T int16_t
#define SFX i16
#include "type.inc"
#define W uint32_t
#define T int32_t
#define SFX i32
#include "type.inc"
#define W uint64_t
#define T int64_t
#define SFX i64
#include "type.inc"

strip_table STRIP_JOIN(strip_signed, KERN_VARIANT);
strip_fn *STRIP_JOIN(strip_signed, KERN_VARIANT)(enum ir_op op, weft_dtype in) {
    switch (in) {
    case WEFT_I8: return lookup_i8(op);
    case WEFT_I16: return lookup_i16(op);
    case WEFT_I32: return lookup_i32(op);
    case WEFT_I64: return lookup_i64(op);
    default: return NULL;
    }
}
