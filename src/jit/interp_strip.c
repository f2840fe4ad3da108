// SPDX-License-Identifier: MIT
// From an operation, its types and an instruction set to the strip loop that does it. The loops of
// each instruction set come from the same sources (strips/*.c) and give the same bits; a level that
// the build does not have is served by the base.
#include "strips/strip.h"

struct variant {
    strip_table *by_bool, *by_signed, *by_unsigned, *by_float;
    strip_casts *casts, *halves;
};
#define VARIANT(level)                                                                             \
    {                                                                                              \
        strip_bool_##level, strip_signed_##level, strip_unsigned_##level, strip_float_##level,     \
            strip_cast_##level, strip_half_##level                                                                     \
    }
static const struct variant variants[] = {
    VARIANT(base),
#ifdef __x86_64__
    VARIANT(avx2),
    VARIANT(avx512),
#endif
};

strip_fn *strip_find(enum ir_op op, weft_dtype in, weft_dtype out, enum kern_isa isa) {
    const struct variant *v = (size_t)isa < COUNT_OF(variants) ? &variants[isa] : &variants[0];
    if (op == IR_cast && (dtype_is_half(in) || dtype_is_half(out))) return v->halves(in, out);
    if (!dtype_is_computed(in)) return NULL;
    if (op == IR_cast) return v->casts(in, out);
    if (in == WEFT_BOOL) return v->by_bool(op, in);
    if (dtype_is_float(in)) return v->by_float(op, in);
    return dtype_is_signed(in) ? v->by_signed(op, in) : v->by_unsigned(op, in);
}
