// SPDX-License-Identifier: MIT
// The table of kernels: kernels.def expanded into rows, and the choice among them.
//
// In: a family, a dtype and an instruction set. Out: the row to call, or NULL. The table is
// constant data; the choice is a scan, made once per context and operation, never per call. Among
// the rows that may run the highest instruction set wins, and among equals the earliest row, so
// that an assembly kernel listed before its C recipe is preferred and the recipe stays reachable as
// its oracle.
#include "kern.h"

#define KERN(family, dtype, isa, symbol, ulp) extern kern_map symbol;
#include "kernels.def"
#define KERN_BLOCK(family, dtype, isa, symbol, block, ulp) extern const struct kern_block block;
#include "kernels.def"

enum { // dtypes as kernels.def spells them
    KERN_T_i8 = WEFT_I8,
    KERN_T_i16 = WEFT_I16,
    KERN_T_i32 = WEFT_I32,
    KERN_T_i64 = WEFT_I64,
    KERN_T_u8 = WEFT_U8,
    KERN_T_u16 = WEFT_U16,
    KERN_T_u32 = WEFT_U32,
    KERN_T_u64 = WEFT_U64,
    KERN_T_f32 = WEFT_F32,
    KERN_T_f64 = WEFT_F64
};

static const struct kern_row rows[] = {
#define KERN(family, dtype, isa, symbol, ulp)                                                      \
    {KERN_F_##family, (weft_dtype)KERN_T_##dtype, KERN_##isa, #symbol, symbol, ulp, NULL},
#define KERN_BLOCK(family, dtype, isa, symbol, block, ulp)                                         \
    {KERN_F_##family, (weft_dtype)KERN_T_##dtype, KERN_##isa, #symbol, symbol, ulp, &block},
#include "kernels.def"
    {KERN_FAMILY__N, WEFT_DTYPE__N, KERN_ISA__N, NULL, NULL, 0.0, NULL}, // ends the table, never returned
};

const struct kern_row *kern_rows(size_t *n) {
    *n = COUNT_OF(rows) - 1;
    return rows;
}

const struct kern_row *kern_find(enum kern_family f, weft_dtype t, enum kern_isa isa) {
    const struct kern_row *best = NULL;
    for (size_t i = 0; i + 1 < COUNT_OF(rows); i++) {
        const struct kern_row *r = &rows[i];
        if (r->family != f || r->dtype != t || r->isa > isa) continue;
        if (!best || r->isa > best->isa) best = r;
    }
    return best;
}

const struct kern_block *kern_block_find(enum kern_family f, weft_dtype t, enum kern_isa isa) {
    const struct kern_row *r = kern_find(f, t, isa);
    return r && r->isa == isa ? r->block : NULL;
}
