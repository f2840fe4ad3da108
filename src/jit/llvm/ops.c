// SPDX-License-Identifier: MIT
// One lowering per operation of ir/ops.def, over scalars (lanes 0) or vectors.
//
// In: operands as LLVM values of the operation's in_type. Out: its value, with the bits of the scalar
// meaning in ops.def (NaN payloads aside). What LLVM leaves undefined (wide shifts, conversions out of
// range) is computed only in lanes that a select then discards. Operations for which an instruction set
// has no instruction are either built from what it has or reported as unknown, never left to a C library.
#include "gen.h"

struct lower {
    struct gen *g;
    LLVMBuilderRef b;
    uint8_t op;
    weft_dtype dtype, in; // result, operands
    int lanes;
    LLVMValueRef x, y, z; // operands
};
typedef LLVMValueRef lower_fn(const struct lower *l);

static bool is_flt(const struct lower *l) { return dtype_is_float(l->in); }
static bool is_bool(const struct lower *l) { return l->in == WEFT_BOOL; }
static LLVMValueRef int_k(const struct lower *l, int64_t v) { return gen_int(l->g, l->in, l->lanes, v); }
static LLVMValueRef flt_k(const struct lower *l, double v) { return gen_flt(l->g, l->in, l->lanes, v); }
static LLVMValueRef select_of(const struct lower *l, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(l->b, c, a, b, "");
}
static LLVMValueRef fcmp(const struct lower *l, LLVMRealPredicate p, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildFCmp(l->b, p, a, b, "");
}
static LLVMValueRef icmp(const struct lower *l, LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildICmp(l->b, p, a, b, "");
}
static LLVMValueRef bits_of(const struct lower *l, LLVMValueRef v) {
    return LLVMBuildBitCast(l->b, v, gen_int_like(l->g, l->in, l->lanes), "");
}
static LLVMValueRef flt_of(const struct lower *l, LLVMValueRef bits) {
    return LLVMBuildBitCast(l->b, bits, gen_type(l->g, l->in, l->lanes), "");
}
static LLVMValueRef call1(const struct lower *l, const char *name, LLVMValueRef v) {
    return gen_call(l->g, name, gen_type(l->g, l->in, l->lanes), &v, 1);
}
static LLVMValueRef call2(const struct lower *l, const char *name, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef args[2] = {a, b};
    return gen_call(l->g, name, gen_type(l->g, l->in, l->lanes), args, 2);
}

// ---- arithmetic ----------------------------------------------------------------------------------------
static LLVMValueRef low_add(const struct lower *l) {
    if (is_flt(l)) return LLVMBuildFAdd(l->b, l->x, l->y, "");
    return is_bool(l) ? LLVMBuildOr(l->b, l->x, l->y, "") : LLVMBuildAdd(l->b, l->x, l->y, "");
}
static LLVMValueRef low_sub(const struct lower *l) {
    return is_flt(l) ? LLVMBuildFSub(l->b, l->x, l->y, "") : LLVMBuildSub(l->b, l->x, l->y, "");
}
static LLVMValueRef low_mul(const struct lower *l) {
    if (is_flt(l)) return LLVMBuildFMul(l->b, l->x, l->y, "");
    return is_bool(l) ? LLVMBuildAnd(l->b, l->x, l->y, "") : LLVMBuildMul(l->b, l->x, l->y, "");
}
static LLVMValueRef low_true_divide(const struct lower *l) {
    return LLVMBuildFDiv(l->b, l->x, l->y, "");
}
static LLVMValueRef low_copysign(const struct lower *l) {
    return call2(l, "llvm.copysign", l->x, l->y);
}
static LLVMValueRef low_fma(const struct lower *l) {
    LLVMValueRef args[3] = {l->x, l->y, l->z};
    return gen_call(l->g, "llvm.fma", gen_type(l->g, l->in, l->lanes), args, 3);
}
static LLVMValueRef low_where(const struct lower *l) { return select_of(l, l->x, l->y, l->z); }
static LLVMValueRef low_neg(const struct lower *l) {
    return is_flt(l) ? LLVMBuildFNeg(l->b, l->x, "") : LLVMBuildNeg(l->b, l->x, "");
}
static LLVMValueRef low_abs(const struct lower *l) {
    if (is_flt(l)) return call1(l, "llvm.fabs", l->x);
    if (!dtype_is_signed(l->in)) return l->x;
    LLVMValueRef below = icmp(l, LLVMIntSLT, l->x, int_k(l, 0));
    return select_of(l, below, LLVMBuildNeg(l->b, l->x, ""), l->x);
}
static LLVMValueRef low_sign(const struct lower *l) {
    if (is_flt(l)) {
        LLVMValueRef zero = flt_k(l, 0.0);
        LLVMValueRef r = select_of(l, fcmp(l, LLVMRealOEQ, l->x, zero), zero, l->x);
        r = select_of(l, fcmp(l, LLVMRealOLT, l->x, zero), flt_k(l, -1.0), r);
        return select_of(l, fcmp(l, LLVMRealOGT, l->x, zero), flt_k(l, 1.0), r);
    }
    LLVMValueRef r = select_of(l, icmp(l, LLVMIntNE, l->x, int_k(l, 0)), int_k(l, 1), int_k(l, 0));
    if (!dtype_is_signed(l->in)) return r;
    return select_of(l, icmp(l, LLVMIntSLT, l->x, int_k(l, 0)), int_k(l, -1), r);
}
static LLVMValueRef low_square(const struct lower *l) {
    if (is_flt(l)) return LLVMBuildFMul(l->b, l->x, l->x, "");
    return is_bool(l) ? l->x : LLVMBuildMul(l->b, l->x, l->x, "");
}
static LLVMValueRef low_sqrt(const struct lower *l) { return call1(l, "llvm.sqrt", l->x); }
static LLVMValueRef low_reciprocal(const struct lower *l) {
    if (is_flt(l)) return LLVMBuildFDiv(l->b, flt_k(l, 1.0), l->x, "");
    LLVMValueRef unit = icmp(l, LLVMIntEQ, l->x, int_k(l, 1));
    if (dtype_is_signed(l->in))
        unit = LLVMBuildOr(l->b, unit, icmp(l, LLVMIntEQ, l->x, int_k(l, -1)), "");
    return select_of(l, unit, l->x, int_k(l, 0));
}

// ---- least and greatest -------------------------------------------------------------------------------
// x < y ? x : y is what x86 has: the second operand when they are equal or unordered. Taken in both
// orders: for numbers the two agree but for the signs of zeros; with a NaN one of them is the NaN, so
// or-ing the bits gives a NaN; of two zeros or-ing finds -0 and and-ing +0.
static LLVMValueRef pick(const struct lower *l, bool least, LLVMValueRef x, LLVMValueRef y) {
    return select_of(l, fcmp(l, least ? LLVMRealOLT : LLVMRealOGT, x, y), x, y);
}
static LLVMValueRef flt_least(const struct lower *l, bool least) {
    if (l->g->t.minmax) return call2(l, least ? "llvm.minimum" : "llvm.maximum", l->x, l->y);
    LLVMValueRef p = bits_of(l, pick(l, least, l->x, l->y));
    LLVMValueRef q = bits_of(l, pick(l, least, l->y, l->x));
    if (least) return flt_of(l, LLVMBuildOr(l->b, p, q, ""));
    LLVMValueRef nan = flt_k(l, (double)__builtin_nanf(""));
    LLVMValueRef r = flt_of(l, LLVMBuildAnd(l->b, p, q, ""));
    return select_of(l, fcmp(l, LLVMRealUNO, l->x, l->y), nan, r);
}
static LLVMValueRef least_of(const struct lower *l, bool least) {
    if (is_bool(l))
        return least ? LLVMBuildAnd(l->b, l->x, l->y, "") : LLVMBuildOr(l->b, l->x, l->y, "");
    LLVMIntPredicate p = dtype_is_signed(l->in) ? (least ? LLVMIntSLT : LLVMIntSGT)
                                                : (least ? LLVMIntULT : LLVMIntUGT);
    return select_of(l, icmp(l, p, l->x, l->y), l->x, l->y);
}
static LLVMValueRef skip_nan(const struct lower *l, LLVMValueRef r) {
    r = select_of(l, fcmp(l, LLVMRealUNO, l->y, l->y), l->x, r);
    return select_of(l, fcmp(l, LLVMRealUNO, l->x, l->x), l->y, r);
}
static LLVMValueRef low_minimum(const struct lower *l) {
    return is_flt(l) ? flt_least(l, true) : least_of(l, true);
}
static LLVMValueRef low_maximum(const struct lower *l) {
    return is_flt(l) ? flt_least(l, false) : least_of(l, false);
}
static LLVMValueRef low_fmin(const struct lower *l) {
    return is_flt(l) ? skip_nan(l, flt_least(l, true)) : least_of(l, true);
}
static LLVMValueRef low_fmax(const struct lower *l) {
    return is_flt(l) ? skip_nan(l, flt_least(l, false)) : least_of(l, false);
}

// ---- rounding to integers ---------------------------------------------------------------------------------
// Without instructions: below 2^52 (2^23) adding and taking away that power leaves the nearest integer;
// the direction is then mended by 1. Signs come from x, so that -0.3 rounds up to -0.
static LLVMValueRef round_by_adding(const struct lower *l, enum ir_op how) {
    LLVMValueRef big = flt_k(l, l->in == WEFT_F64 ? 0x1p52 : 0x1p23);
    LLVMValueRef one = flt_k(l, 1.0), zero = flt_k(l, 0.0);
    LLVMValueRef a = call1(l, "llvm.fabs", l->x);
    LLVMValueRef r = LLVMBuildFSub(l->b, LLVMBuildFAdd(l->b, a, big, ""), big, "");
    if (how == IR_trunc) {
        LLVMValueRef over = fcmp(l, LLVMRealOGT, r, a);
        r = LLVMBuildFSub(l->b, r, select_of(l, over, one, zero), "");
    }
    r = call2(l, "llvm.copysign", r, l->x);
    if (how == IR_floor) {
        LLVMValueRef over = fcmp(l, LLVMRealOGT, r, l->x);
        r = LLVMBuildFSub(l->b, r, select_of(l, over, one, zero), "");
    } else if (how == IR_ceil) {
        LLVMValueRef under = fcmp(l, LLVMRealOLT, r, l->x);
        r = LLVMBuildFAdd(l->b, r, select_of(l, under, one, zero), "");
        r = call2(l, "llvm.copysign", r, l->x);
    }
    return select_of(l, fcmp(l, LLVMRealOLT, a, big), r, l->x);
}
static LLVMValueRef low_round(const struct lower *l) {
    if (!is_flt(l)) return l->x;
    if (!l->g->t.round) return round_by_adding(l, (enum ir_op)l->op);
    return call1(l, l->op == IR_floor   ? "llvm.floor"
                    : l->op == IR_ceil  ? "llvm.ceil"
                    : l->op == IR_trunc ? "llvm.trunc"
                                        : "llvm.roundeven", l->x);
}

// ---- comparisons, logic, bits -------------------------------------------------------------------------------
static LLVMValueRef low_compare(const struct lower *l) {
    static const struct {
        LLVMRealPredicate f;
        LLVMIntPredicate s, u;
    } how[] = {{LLVMRealOEQ, LLVMIntEQ, LLVMIntEQ},   {LLVMRealUNE, LLVMIntNE, LLVMIntNE},
               {LLVMRealOLT, LLVMIntSLT, LLVMIntULT}, {LLVMRealOLE, LLVMIntSLE, LLVMIntULE},
               {LLVMRealOGT, LLVMIntSGT, LLVMIntUGT}, {LLVMRealOGE, LLVMIntSGE, LLVMIntUGE}};
    int i = l->op - IR_equal;
    if (is_flt(l)) return fcmp(l, how[i].f, l->x, l->y);
    return icmp(l, dtype_is_signed(l->in) ? how[i].s : how[i].u, l->x, l->y);
}
static LLVMValueRef low_and(const struct lower *l) { return LLVMBuildAnd(l->b, l->x, l->y, ""); }
static LLVMValueRef low_or(const struct lower *l) { return LLVMBuildOr(l->b, l->x, l->y, ""); }
static LLVMValueRef low_xor(const struct lower *l) { return LLVMBuildXor(l->b, l->x, l->y, ""); }
static LLVMValueRef low_not(const struct lower *l) { return LLVMBuildNot(l->b, l->x, ""); }

// Counts as unsigned numbers: negative ones are too large like the others.
static LLVMValueRef low_left_shift(const struct lower *l) {
    int64_t bits = (int64_t)dtype_size(l->in) * 8;
    LLVMValueRef fits = icmp(l, LLVMIntULT, l->y, int_k(l, bits));
    LLVMValueRef n = LLVMBuildAnd(l->b, l->y, int_k(l, bits - 1), "");
    return select_of(l, fits, LLVMBuildShl(l->b, l->x, n, ""), int_k(l, 0));
}
static LLVMValueRef low_right_shift(const struct lower *l) {
    int64_t bits = (int64_t)dtype_size(l->in) * 8;
    LLVMValueRef fits = icmp(l, LLVMIntULT, l->y, int_k(l, bits));
    if (dtype_is_signed(l->in)) // all sign bits: what any larger count leaves
        return LLVMBuildAShr(l->b, l->x, select_of(l, fits, l->y, int_k(l, bits - 1)), "");
    LLVMValueRef n = LLVMBuildAnd(l->b, l->y, int_k(l, bits - 1), "");
    return select_of(l, fits, LLVMBuildLShr(l->b, l->x, n, ""), int_k(l, 0));
}

static LLVMValueRef call3(const struct lower *l, const char *name, LLVMValueRef a, LLVMValueRef b,
                          LLVMValueRef c) {
    LLVMValueRef args[3] = {a, b, c};
    return gen_call(l->g, name, gen_type(l->g, l->in, l->lanes), args, 3);
}
static LLVMValueRef low_rotate_left(const struct lower *l) {
    return call3(l, "llvm.fshl", l->x, l->x, l->y); // the count is taken modulo the width
}
static LLVMValueRef low_rotate_right(const struct lower *l) {
    return call3(l, "llvm.fshr", l->x, l->x, l->y);
}
static LLVMValueRef low_popcount(const struct lower *l) { return call1(l, "llvm.ctpop", l->x); }
static LLVMValueRef count_zeros(const struct lower *l, const char *name) {
    return call2(l, name, l->x, LLVMConstInt(l->g->i1, 0, 0)); // 0 is defined: the width
}
static LLVMValueRef low_leading_zeros(const struct lower *l) { return count_zeros(l, "llvm.ctlz"); }
static LLVMValueRef low_trailing_zeros(const struct lower *l) {
    return count_zeros(l, "llvm.cttz");
}
static LLVMValueRef low_byte_swap(const struct lower *l) {
    return dtype_size(l->in) == 1 ? l->x : call1(l, "llvm.bswap", l->x);
}

// In halves of 32 bits: left to itself, LLVM takes 128-bit vectors apart into scalars.
static LLVMValueRef mul_hi_64(const struct lower *l) {
    LLVMBuilderRef b = l->b;
    LLVMValueRef half = int_k(l, 32), low = int_k(l, 0xffffffff);
    LLVMValueRef xl = LLVMBuildAnd(b, l->x, low, ""), xh = LLVMBuildLShr(b, l->x, half, "");
    LLVMValueRef yl = LLVMBuildAnd(b, l->y, low, ""), yh = LLVMBuildLShr(b, l->y, half, "");
    LLVMValueRef ll = LLVMBuildLShr(b, LLVMBuildMul(b, xl, yl, ""), half, "");
    LLVMValueRef m = LLVMBuildAdd(b, LLVMBuildMul(b, xh, yl, ""), ll, "");
    LLVMValueRef n = LLVMBuildAdd(b, LLVMBuildMul(b, xl, yh, ""), LLVMBuildAnd(b, m, low, ""), "");
    LLVMValueRef r = LLVMBuildAdd(b, LLVMBuildMul(b, xh, yh, ""), LLVMBuildLShr(b, m, half, ""), "");
    r = LLVMBuildAdd(b, r, LLVMBuildLShr(b, n, half, ""), "");
    if (!dtype_is_signed(l->in)) return r;
    LLVMValueRef sx = LLVMBuildAShr(b, l->x, int_k(l, 63), ""), sy = LLVMBuildAShr(b, l->y, int_k(l, 63), "");
    r = LLVMBuildSub(b, r, LLVMBuildAnd(b, sx, l->y, ""), "");
    return LLVMBuildSub(b, r, LLVMBuildAnd(b, sy, l->x, ""), "");
}
static LLVMValueRef low_mul_hi(const struct lower *l) {
    if (dtype_size(l->in) == 8) return mul_hi_64(l);
    bool s = dtype_is_signed(l->in);
    LLVMTypeRef one = LLVMIntTypeInContext(l->g->ctx, (unsigned)dtype_size(l->in) * 16);
    LLVMTypeRef wide = l->lanes ? gen_vec(one, l->lanes) : one;
    LLVMValueRef x = s ? LLVMBuildSExt(l->b, l->x, wide, "") : LLVMBuildZExt(l->b, l->x, wide, "");
    LLVMValueRef y = s ? LLVMBuildSExt(l->b, l->y, wide, "") : LLVMBuildZExt(l->b, l->y, wide, "");
    LLVMValueRef bits = LLVMConstInt(one, dtype_size(l->in) * 8, 0);
    if (l->lanes) bits = gen_all(bits, l->lanes);
    LLVMValueRef p = LLVMBuildLShr(l->b, LLVMBuildMul(l->b, x, y, ""), bits, "");
    return LLVMBuildTrunc(l->b, p, gen_type(l->g, l->in, l->lanes), "");
}

// ---- predicates ---------------------------------------------------------------------------------------------
static LLVMValueRef always(const struct lower *l, int64_t v) {
    return gen_int(l->g, WEFT_BOOL, l->lanes, v);
}
static LLVMValueRef low_isnan(const struct lower *l) {
    return is_flt(l) ? fcmp(l, LLVMRealUNO, l->x, l->x) : always(l, 0);
}
static LLVMValueRef low_isinf(const struct lower *l) {
    if (!is_flt(l)) return always(l, 0);
    return fcmp(l, LLVMRealOEQ, call1(l, "llvm.fabs", l->x), flt_k(l, (double)__builtin_inff()));
}
static LLVMValueRef low_isfinite(const struct lower *l) {
    if (!is_flt(l)) return always(l, 1);
    return fcmp(l, LLVMRealOLT, call1(l, "llvm.fabs", l->x), flt_k(l, (double)__builtin_inff()));
}
static LLVMValueRef low_signbit(const struct lower *l) {
    if (is_flt(l)) return icmp(l, LLVMIntSLT, bits_of(l, l->x), LLVMConstNull(gen_int_like(l->g, l->in, l->lanes)));
    return dtype_is_signed(l->in) ? icmp(l, LLVMIntSLT, l->x, int_k(l, 0)) : always(l, 0);
}

// ---- casts -----------------------------------------------------------------------------------------------------
// Truncation, then the lanes in which it is not defined: NaN gives 0, the rest the nearest limit.
static LLVMValueRef flt_to_int(const struct lower *l) {
    struct gen *g = l->g;
    weft_dtype t = l->dtype;
    LLVMTypeRef to = gen_type(g, t, l->lanes);
    double limit = 2.0 * (double)((uint64_t)1 << (dtype_size(t) * 8 - (dtype_is_signed(t) ? 2 : 1)));
    LLVMValueRef high = fcmp(l, LLVMRealOGE, l->x, flt_k(l, limit));
    LLVMValueRef max = gen_int(g, t, l->lanes, gen_int_max(t)), zero = gen_int(g, t, l->lanes, 0);
    if (!dtype_is_signed(t)) {
        LLVMValueRef r = LLVMBuildFPToUI(l->b, l->x, to, "");
        r = select_of(l, high, max, r);
        return select_of(l, fcmp(l, LLVMRealOGT, l->x, flt_k(l, 0.0)), r, zero);
    }
    LLVMValueRef r = LLVMBuildFPToSI(l->b, l->x, to, "");
    LLVMValueRef low = fcmp(l, LLVMRealOLT, l->x, flt_k(l, -limit));
    r = select_of(l, low, gen_int(g, t, l->lanes, gen_int_min(t)), r);
    r = select_of(l, high, max, r);
    return select_of(l, fcmp(l, LLVMRealUNO, l->x, l->x), zero, r);
}
static LLVMValueRef to_flt(const struct lower *l) {
    LLVMTypeRef to = gen_type(l->g, l->dtype, l->lanes);
    if (is_flt(l))
        return l->dtype == WEFT_F32 ? LLVMBuildFPTrunc(l->b, l->x, to, "")
                                    : LLVMBuildFPExt(l->b, l->x, to, "");
    if (is_bool(l))
        return select_of(l, l->x, gen_flt(l->g, l->dtype, l->lanes, 1.0),
                         gen_flt(l->g, l->dtype, l->lanes, 0.0));
    return dtype_is_signed(l->in) ? LLVMBuildSIToFP(l->b, l->x, to, "")
                                  : LLVMBuildUIToFP(l->b, l->x, to, "");
}
static LLVMValueRef low_cast(const struct lower *l) {
    if (l->in == l->dtype) return l->x;
    if (dtype_is_half(l->in) || dtype_is_half(l->dtype))
        return gen_half_cast(l->g, l->in, l->dtype, l->lanes, l->x);
    if (l->dtype == WEFT_BOOL)
        return is_flt(l) ? fcmp(l, LLVMRealUNE, l->x, flt_k(l, 0.0))
                         : icmp(l, LLVMIntNE, l->x, int_k(l, 0));
    if (dtype_is_float(l->dtype)) return to_flt(l);
    if (is_flt(l)) return flt_to_int(l);
    LLVMTypeRef to = gen_type(l->g, l->dtype, l->lanes);
    if (dtype_size(l->dtype) < dtype_size(l->in)) return LLVMBuildTrunc(l->b, l->x, to, "");
    if (dtype_size(l->dtype) == dtype_size(l->in) && !is_bool(l)) return l->x;
    return dtype_is_signed(l->in) ? LLVMBuildSExt(l->b, l->x, to, "")
                                  : LLVMBuildZExt(l->b, l->x, to, "");
}

// ---- the table ----------------------------------------------------------------------------------------------------
#define low_equal low_compare
#define low_not_equal low_compare
#define low_less low_compare
#define low_less_equal low_compare
#define low_greater low_compare
#define low_greater_equal low_compare
#define low_logical_and low_and
#define low_logical_or low_or
#define low_logical_xor low_xor
#define low_logical_not low_not
#define low_bitwise_and low_and
#define low_bitwise_or low_or
#define low_bitwise_xor low_xor
#define low_bitwise_not low_not
#define low_floor low_round
#define low_ceil low_round
#define low_trunc low_round

#define FN_LIGHT(name) low_##name
#define FN_HEAVY(name) NULL
#define FAMILY_LIGHT(name) KERN_FAMILY__N
#define FAMILY_HEAVY(name) KERN_F_##name
static const struct {
    uint8_t arity, family;
    lower_fn *lower;
} table[IR_OP__N] = {
#define MAP(name, arity, rule, kernel, ...) [IR_##name] = {arity, FAMILY_##kernel(name), FN_##kernel(name)},
#include "../../ir/ops.def"
};

int gen_arity(const struct seg_op *op) {
    if (op->op == SEG_LOAD) return 0;
    if (op->op == SEG_STORE || op->op == SEG_REDUCE) return 1;
    return op->op < IR_OP__N ? table[op->op].arity : 0;
}

enum kern_family gen_op_family(uint8_t op) {
    return (enum kern_family)table[op].family;
}

bool gen_op_heavy(const struct seg_op *op) {
    return op->op < IR_OP__N && table[op->op].arity && !table[op->op].lower;
}

bool gen_op_known(const struct gen *g, const struct seg_op *op) {
    if (op->op >= IR_OP__N || !table[op->op].arity) return false;
    return op->op != IR_fma || g->t.fma;
}

LLVMValueRef gen_op(struct gen *g, const struct seg_op *op, int lanes, LLVMValueRef *args) {
    struct lower l = {g, g->b, op->op, (weft_dtype)op->dtype, (weft_dtype)op->in_type, lanes,
                      args[0], args[1], args[2]};
    return table[op->op].lower(&l);
}

LLVMValueRef gen_op2(struct gen *g, enum ir_op op, weft_dtype t, int lanes, LLVMValueRef a,
                     LLVMValueRef b) {
    struct lower l = {g, g->b, (uint8_t)op, t, t, lanes, a, b, NULL};
    return table[op].lower(&l);
}
