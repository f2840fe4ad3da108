// SPDX-License-Identifier: MIT
// Strips of bool: bytes of 0 and 1 in, bytes of 0 and 1 out. The type is a plain byte, since a loop over
// _Bool would test every element.
#include "meaning.h"

#define MEANING(flt, integer, boolean) boolean
#define W uint32_t
#define T uint8_t
#define SFX b8
#include "type.inc"

strip_table STRIP_JOIN(strip_bool, KERN_VARIANT);
strip_fn *STRIP_JOIN(strip_bool, KERN_VARIANT)(enum ir_op op, weft_dtype in) {
    return in == WEFT_BOOL ? lookup_b8(op) : NULL;
}
