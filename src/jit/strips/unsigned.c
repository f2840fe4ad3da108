// SPDX-License-Identifier: MIT
// Strips of unsigned integers: the meanings of ops.def in loops.
#include "meaning.h"

#define MEANING(flt, integer, boolean) integer
#define W uint32_t
#define T uint8_t
#define SFX u8
#include "type.inc"
#define W uint32_t
#define T uint16_t
#define SFX u16
#include "type.inc"
#define W uint32_t
#define T uint32_t
#define SFX u32
#include "type.inc"
#define W uint64_t
#define T uint64_t
#define SFX u64
#include "type.inc"

strip_table STRIP_JOIN(strip_unsigned, KERN_VARIANT);
strip_fn *STRIP_JOIN(strip_unsigned, KERN_VARIANT)(enum ir_op op, weft_dtype in) {
    switch (in) {
    case WEFT_U8: return lookup_u8(op);
    case WEFT_U16: return lookup_u16(op);
    case WEFT_U32: return lookup_u32(op);
    case WEFT_U64: return lookup_u64(op);
    default: return NULL;
    }
}
