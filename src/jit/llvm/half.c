// SPDX-License-Identifier: MIT
// f16 and bf16 in machine code: values are i16, and all that is done with them is conversion. Where the
// instruction set converts f16, LLVM is handed the conversion; elsewhere, and for bf16 always, it is the
// integer arithmetic of half.h step by step, so that no conversion function of a compiler's library is ever
// called. f64 goes through an f32 rounded to odd, which leaves one rounding in all.
#include "gen.h"

struct half {
    struct gen *g;
    LLVMBuilderRef b;
    int lanes;
};

static LLVMValueRef k32(const struct half *h, uint32_t v) {
    return gen_int(h->g, WEFT_U32, h->lanes, (int64_t)v);
}
static LLVMValueRef bits_of(const struct half *h, LLVMValueRef f) {
    return LLVMBuildBitCast(h->b, f, gen_type(h->g, WEFT_U32, h->lanes), "");
}
static LLVMValueRef float_of(const struct half *h, LLVMValueRef u) {
    return LLVMBuildBitCast(h->b, u, gen_type(h->g, WEFT_F32, h->lanes), "");
}
static LLVMValueRef band(const struct half *h, LLVMValueRef u, uint32_t m) {
    return LLVMBuildAnd(h->b, u, k32(h, m), "");
}
static LLVMValueRef add(const struct half *h, LLVMValueRef u, uint32_t v) {
    return LLVMBuildAdd(h->b, u, k32(h, v), "");
}
static LLVMValueRef shr(const struct half *h, LLVMValueRef u, uint32_t n) {
    return LLVMBuildLShr(h->b, u, k32(h, n), "");
}
static LLVMValueRef shl(const struct half *h, LLVMValueRef u, uint32_t n) {
    return LLVMBuildShl(h->b, u, k32(h, n), "");
}
static LLVMValueRef bor(const struct half *h, LLVMValueRef u, uint32_t m) {
    return LLVMBuildOr(h->b, u, k32(h, m), "");
}
static LLVMValueRef above(const struct half *h, LLVMValueRef u, uint32_t v) {
    return LLVMBuildICmp(h->b, LLVMIntUGT, u, k32(h, v), "");
}
static LLVMValueRef pick(const struct half *h, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(h->b, c, a, b, "");
}
static LLVMValueRef widen(const struct half *h, LLVMValueRef x) {
    return LLVMBuildZExt(h->b, x, gen_type(h->g, WEFT_U32, h->lanes), "");
}
static LLVMValueRef narrow(const struct half *h, LLVMValueRef u) {
    return LLVMBuildTrunc(h->b, u, gen_type(h->g, WEFT_U16, h->lanes), "");
}
static LLVMTypeRef half_type(const struct half *h) {
    return gen_vec(LLVMHalfTypeInContext(h->g->ctx), h->lanes);
}

// ---- to f32 ---------------------------------------------------------------------------------------------
static LLVMValueRef from_f16(const struct half *h, LLVMValueRef x) {
    LLVMTypeRef f32 = gen_type(h->g, WEFT_F32, h->lanes);
    if (h->g->t.half) return LLVMBuildFPExt(h->b, LLVMBuildBitCast(h->b, x, half_type(h), ""), f32, "");
    LLVMValueRef u = widen(h, x), rest = shl(h, band(h, u, 0x7fff), 13);
    LLVMValueRef scaled = LLVMBuildFMul(h->b, float_of(h, rest), gen_flt(h->g, WEFT_F32, h->lanes, 0x1p112), "");
    LLVMValueRef v = bits_of(h, scaled);
    v = pick(h, above(h, rest, 0x0f7fffff), bor(h, v, 0x7f800000), v);
    v = pick(h, above(h, rest, 0x0f800000), bor(h, v, 0x400000), v);
    return float_of(h, LLVMBuildOr(h->b, v, shl(h, band(h, u, 0x8000), 16), ""));
}
static LLVMValueRef from_bf16(const struct half *h, LLVMValueRef x) {
    LLVMValueRef u = shl(h, widen(h, x), 16);
    return float_of(h, pick(h, above(h, band(h, u, 0x7fffffff), 0x7f800000), bor(h, u, 0x400000), u));
}

// ---- from f32 -------------------------------------------------------------------------------------------
static LLVMValueRef to_f16(const struct half *h, LLVMValueRef f) {
    LLVMTypeRef i16 = gen_type(h->g, WEFT_U16, h->lanes);
    if (h->g->t.half) return LLVMBuildBitCast(h->b, LLVMBuildFPTrunc(h->b, f, half_type(h), ""), i16, "");
    LLVMValueRef u = bits_of(h, f), x = band(h, u, 0x7fffffff);
    LLVMValueRef half = gen_flt(h->g, WEFT_F32, h->lanes, 0.5);
    LLVMValueRef small = add(h, bits_of(h, LLVMBuildFAdd(h->b, float_of(h, x), half, "")), 0u - 0x3f000000u);
    LLVMValueRef odd = band(h, shr(h, x, 13), 1);
    LLVMValueRef normal = shr(h, LLVMBuildAdd(h->b, add(h, x, 0xfff - 0x38000000u), odd, ""), 13);
    LLVMValueRef r = pick(h, above(h, x, 0x387fffff), normal, small);
    r = pick(h, above(h, x, 0x477fefff), k32(h, 0x7c00), r);
    r = pick(h, above(h, x, 0x7f800000), bor(h, band(h, shr(h, x, 13), 0x3ff), 0x7e00), r);
    return narrow(h, LLVMBuildOr(h->b, r, band(h, shr(h, u, 16), 0x8000), ""));
}
static LLVMValueRef to_bf16(const struct half *h, LLVMValueRef f) {
    LLVMValueRef u = bits_of(h, f), top = shr(h, u, 16);
    LLVMValueRef r = shr(h, LLVMBuildAdd(h->b, add(h, u, 0x7fff), band(h, top, 1), ""), 16);
    LLVMValueRef nan = above(h, band(h, u, 0x7fffffff), 0x7f800000);
    return narrow(h, pick(h, nan, bor(h, top, 0x40), r));
}

// f64 to f32 rounded to odd
static LLVMValueRef odd_f32(const struct half *h, LLVMValueRef d) {
    struct gen *g = h->g;
    LLVMTypeRef f64 = gen_type(g, WEFT_F64, h->lanes), u32 = gen_type(g, WEFT_U32, h->lanes);
    LLVMValueRef f = LLVMBuildFPTrunc(h->b, d, gen_type(g, WEFT_F32, h->lanes), "");
    LLVMValueRef back = LLVMBuildFPExt(h->b, f, f64, "");
    LLVMValueRef size[2] = {gen_call(g, "llvm.fabs", f64, &back, 1), gen_call(g, "llvm.fabs", f64, &d, 1)};
    LLVMValueRef over = LLVMBuildFCmp(h->b, LLVMRealOGT, size[0], size[1], "");
    LLVMValueRef lost = LLVMBuildFCmp(h->b, LLVMRealUNE, back, d, "");
    LLVMValueRef u = LLVMBuildSub(h->b, bits_of(h, f), LLVMBuildZExt(h->b, over, u32, ""), "");
    return float_of(h, LLVMBuildOr(h->b, u, LLVMBuildZExt(h->b, lost, u32, ""), ""));
}

bool gen_half_castable(weft_dtype in, weft_dtype out) {
    return dtype_is_half(in) ? out == WEFT_F32 : dtype_is_half(out) && (in == WEFT_F32 || in == WEFT_F64);
}

LLVMValueRef gen_half_cast(struct gen *g, weft_dtype in, weft_dtype out, int lanes, LLVMValueRef x) {
    const struct half h = {g, g->b, lanes};
    if (in == WEFT_F16) return from_f16(&h, x);
    if (in == WEFT_BF16) return from_bf16(&h, x);
    if (in == WEFT_F64) x = odd_f32(&h, x);
    return out == WEFT_F16 ? to_f16(&h, x) : to_bf16(&h, x);
}
