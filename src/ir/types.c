// SPDX-License-Identifier: MIT
// Facts about pairs of types: what they meet in (NumPy 2's table; bf16 as ml_dtypes has it) and which
// conversions a casting rule allows. Out of the enumeration in, WEFT_DTYPE__N or false out.
#include "graph.h"

static bool is_wide_float(weft_dtype t) { return t == WEFT_F32 || t == WEFT_F64; }

// A float with an integer: integers of one byte fit everywhere, of two bytes f32.
static weft_dtype float_with_int(weft_dtype f, size_t bytes) {
    if (bytes == 1 || f == WEFT_F64) return f;
    return bytes == 2 ? WEFT_F32 : WEFT_F64;
}

static weft_dtype promote_floats(weft_dtype a, weft_dtype b) {
    if (is_wide_float(a) && is_wide_float(b)) return WEFT_F64;
    return is_wide_float(a) ? a : is_wide_float(b) ? b : WEFT_F32;
}

static weft_dtype promote_ints(weft_dtype a, weft_dtype b) {
    static const weft_dtype above[9] = {
        [1] = WEFT_I16, [2] = WEFT_I32, [4] = WEFT_I64, [8] = WEFT_F64};
    if (dtype_is_unsigned(a) && dtype_is_signed(b)) return promote_ints(b, a);
    size_t na = dtype_size(a), nb = dtype_size(b);
    if (na > nb) return a;
    return dtype_is_signed(a) == dtype_is_signed(b) ? b : above[nb];
}

weft_dtype ir_promote(weft_dtype a, weft_dtype b) {
    if (!ir_dtype_valid(a) || !ir_dtype_valid(b)) return WEFT_DTYPE__N;
    if (dtype_is_complex(a) || dtype_is_complex(b))
        return dtype_complex_of(ir_promote(dtype_real_of(a), dtype_real_of(b)));
    if (a == b || b == WEFT_BOOL) return a;
    if (a == WEFT_BOOL) return b;
    if (dtype_is_float(a) && dtype_is_float(b)) return promote_floats(a, b);
    if (dtype_is_float(a)) return float_with_int(a, dtype_size(b));
    if (dtype_is_float(b)) return float_with_int(b, dtype_size(a));
    return promote_ints(a, b);
}

// NumPy's order of types by which one speaks for a sequence: halves, numbered late there, before all others.
static int voice_of(weft_dtype t) {
    if (dtype_is_half(t)) return 32;
    if (dtype_is_complex(t) || dtype_is_float(t)) return 16 * dtype_is_complex(t) + (int)dtype_size(t);
    return 0; // integers and bool: any order gives the same
}

// The pairwise table is not associative: i16 with u16 is i32, which meets f32 in f64, yet f32 holds both. So the
// foremost type meets each of the others first; what comes of that is of one kind, where order does not matter.
weft_dtype ir_promote_n(int n, const weft_dtype *t) {
    weft_dtype first = WEFT_DTYPE__N;
    for (int i = 0; i < n; i++) {
        if (!ir_dtype_valid(t[i])) return WEFT_DTYPE__N;
        if (!i || voice_of(t[i]) > voice_of(first)) first = t[i];
    }
    weft_dtype all = first;
    for (int i = 0; i < n; i++)
        all = ir_promote(all, ir_promote(first, t[i]));
    return all;
}

// NumPy's ladder of kinds.
static int kind_of(weft_dtype t) {
    if (t == WEFT_BOOL) return 0;
    if (dtype_is_unsigned(t)) return 1;
    return dtype_is_signed(t) ? 2 : dtype_is_float(t) ? 3 : 4;
}

bool ir_can_cast(weft_dtype from, weft_dtype to, weft_casting casting) {
    if (!ir_dtype_valid(from) || !ir_dtype_valid(to)) return false;
    bool safe = ir_promote(from, to) == to;
    switch (casting) {
    case WEFT_CAST_NO:
    case WEFT_CAST_EQUIV: return from == to;
    case WEFT_CAST_SAFE: return safe;
    case WEFT_CAST_SAME_KIND: return safe || kind_of(from) <= kind_of(to);
    case WEFT_CAST_UNSAFE: return true;
    default: return false;
    }
}
