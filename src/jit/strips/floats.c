// SPDX-License-Identifier: MIT
// Strips of f32 and f64: the meanings of ops.def in loops, every operation rounded once as written (the
// build forbids contraction and reassociation). fma is one rounding everywhere: an instruction where the
// instruction set has it, else the C library's.
#include "meaning.h"

#define MEANING(flt, integer, boolean) flt
#define W uint64_t
#define T float
#define SFX f32
#include "type.inc"
#define W uint64_t
#define T double
#define SFX f64
#include "type.inc"

strip_table STRIP_JOIN(strip_float, KERN_VARIANT);
strip_fn *STRIP_JOIN(strip_float, KERN_VARIANT)(enum ir_op op, weft_dtype in) {
    return in == WEFT_F32 ? lookup_f32(op) : lookup_f64(op);
}
