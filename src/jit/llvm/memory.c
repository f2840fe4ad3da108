// SPDX-License-Identifier: MIT
// Loads and stores of vectors, whole and partial, at any alignment.
//
// A partial access touches the bytes of the lanes that exist and no other. Where the instruction set has
// masks for the lane size it is one masked instruction; elsewhere lanes go one by one through a padded
// vector on the stack. Memory of bool is a byte that is "not 0" when read and 0 or 1 when written.
#include "gen.h"

LLVMValueRef gen_byte_at(struct gen *g, LLVMValueRef p, LLVMValueRef bytes) {
    return LLVMBuildGEP2(g->b, g->i8, p, &bytes, 1, "");
}

LLVMValueRef gen_elem_at(struct gen *g, LLVMValueRef p, weft_dtype t, LLVMValueRef i) {
    return LLVMBuildGEP2(g->b, gen_int_like(g, t, 0), p, &i, 1, "");
}

size_t gen_scratch_take(struct gen *g, size_t bytes) {
    size_t at = g->scratch_used;
    g->scratch_used = at + ((bytes + 63) & ~(size_t)63);
    return at;
}

LLVMValueRef gen_scratch(struct gen *g, size_t offset) {
    return gen_byte_at(g, g->scratch, gen_i64(g, (int64_t)offset));
}

void gen_tail_make(struct gen *g, struct gen_tail *t, LLVMValueRef left, int lanes) {
    LLVMValueRef w = gen_i64(g, lanes);
    LLVMValueRef few = LLVMBuildICmp(g->b, LLVMIntSLT, left, w, "");
    t->rem = LLVMBuildSelect(g->b, few, left, w, "rem");
    // compared in lanes of the vector's own width, so that the mask is one instruction
    unsigned bits = (unsigned)(g->t.vector * 8 / lanes);
    LLVMTypeRef e = LLVMIntTypeInContext(g->ctx, bits);
    LLVMValueRef n = bits < 64 ? LLVMBuildTrunc(g->b, t->rem, e, "") : t->rem;
    t->mask = LLVMBuildICmp(g->b, LLVMIntULT, gen_count(g, e, lanes), gen_splat(g, n, lanes), "mask");
}

static bool has_masks(const struct gen *g, weft_dtype t) {
    return g->t.masks || (g->t.masks32 && dtype_size(t) >= 4);
}

static LLVMTypeRef memory_type(struct gen *g, weft_dtype t, int lanes) {
    return t == WEFT_BOOL ? gen_vec(g->i8, lanes) : gen_type(g, t, lanes);
}

// The intrinsic named and its type: LLVM 22 dropped the alignment operand, earlier versions have it.
static LLVMValueRef masked_call(struct gen *g, const char *name, LLVMTypeRef *over, LLVMValueRef *args,
                                int n, int align_at) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->mod, id, over, 2);
    LLVMTypeRef t = LLVMIntrinsicGetType(g->ctx, id, over, 2);
    if ((int)LLVMCountParamTypes(t) == n) return LLVMBuildCall2(g->b, t, f, args, (unsigned)n, "");
    LLVMValueRef with[5];
    for (int i = 0, k = 0; k <= n; k++)
        with[k] = k == align_at ? LLVMConstInt(g->i32, 1, 0) : args[i++];
    return LLVMBuildCall2(g->b, t, f, with, (unsigned)n + 1, "");
}

static LLVMValueRef masked_load(struct gen *g, LLVMValueRef p, LLVMTypeRef mt, const struct gen_tail *m) {
    LLVMTypeRef over[2] = {mt, g->ptr};
    LLVMValueRef args[3] = {p, m->mask, LLVMConstNull(mt)};
    return masked_call(g, "llvm.masked.load", over, args, 3, 1);
}

static void masked_store(struct gen *g, LLVMValueRef v, LLVMValueRef p, const struct gen_tail *m) {
    LLVMTypeRef over[2] = {LLVMTypeOf(v), g->ptr};
    LLVMValueRef args[3] = {v, p, m->mask};
    masked_call(g, "llvm.masked.store", over, args, 3, 2);
}

// n elements of t, one by one
static void copy_lanes(struct gen *g, LLVMValueRef to, LLVMValueRef from, weft_dtype t, LLVMValueRef n) {
    LLVMTypeRef e = gen_int_like(g, t, 0);
    struct gen_loop l;
    gen_loop_head(g, &l, gen_i64(g, 0), n);
    gen_loop_body(g, &l, gen_i64(g, 0));
    gen_loop_count(g, &l);
    LLVMValueRef v = LLVMBuildLoad2(g->b, e, gen_elem_at(g, from, t, l.iv), "");
    LLVMSetAlignment(v, 1);
    LLVMSetAlignment(LLVMBuildStore(g->b, v, gen_elem_at(g, to, t, l.iv)), 1);
    gen_loop_next(g, &l, 1);
    gen_loop_end(g, &l);
}

static LLVMValueRef pad(struct gen *g) {
    if (!g->pad) g->pad = gen_alloca(g, LLVMArrayType(g->i8, 64), 64);
    return g->pad;
}

static LLVMValueRef plain_load(struct gen *g, LLVMValueRef p, LLVMTypeRef mt) {
    LLVMValueRef v = LLVMBuildLoad2(g->b, mt, p, "");
    LLVMSetAlignment(v, 1);
    return v;
}

LLVMValueRef gen_load(struct gen *g, LLVMValueRef p, weft_dtype t, int lanes, const struct gen_tail *m) {
    LLVMTypeRef mt = memory_type(g, t, lanes);
    LLVMValueRef v;
    if (!m) {
        v = plain_load(g, p, mt);
    } else if (has_masks(g, t)) {
        v = masked_load(g, p, mt, m);
    } else {
        LLVMSetAlignment(LLVMBuildStore(g->b, LLVMConstNull(mt), pad(g)), 1);
        copy_lanes(g, pad(g), p, t, m->rem);
        v = plain_load(g, pad(g), mt);
    }
    if (t == WEFT_BOOL) v = LLVMBuildICmp(g->b, LLVMIntNE, v, LLVMConstNull(mt), "");
    return v;
}

void gen_store(struct gen *g, LLVMValueRef v, LLVMValueRef p, weft_dtype t, int lanes,
               const struct gen_tail *m) {
    if (t == WEFT_BOOL) v = LLVMBuildZExt(g->b, v, memory_type(g, t, lanes), "");
    if (!m) {
        LLVMSetAlignment(LLVMBuildStore(g->b, v, p), 1);
    } else if (has_masks(g, t)) {
        masked_store(g, v, p, m);
    } else {
        LLVMSetAlignment(LLVMBuildStore(g->b, v, pad(g)), 1);
        copy_lanes(g, p, pad(g), t, m->rem);
    }
}

// Half a line at least: less at a time fills the buffers of such stores worse than it saves.
bool gen_streams(weft_dtype t, int lanes) { return (size_t)lanes * dtype_size(t) >= 32; }

void gen_store_past(struct gen *g, LLVMValueRef v, LLVMValueRef p, weft_dtype t, int lanes) {
    if (t == WEFT_BOOL) v = LLVMBuildZExt(g->b, v, memory_type(g, t, lanes), "");
    LLVMValueRef s = LLVMBuildStore(g->b, v, p);
    LLVMSetAlignment(s, (unsigned)((size_t)lanes * dtype_size(t)));
    LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(g->i32, 1, 0));
    LLVMValueRef node = LLVMMetadataAsValue(g->ctx, LLVMMDNodeInContext2(g->ctx, &one, 1));
    LLVMSetMetadata(s, LLVMGetMDKindIDInContext(g->ctx, "nontemporal", 11), node);
}

// bytes is a multiple of the element size, which is all we know: words, then single bytes
void gen_copy(struct gen *g, LLVMValueRef to, LLVMValueRef from, LLVMValueRef bytes) {
    LLVMValueRef whole = LLVMBuildAnd(g->b, bytes, gen_i64(g, -8), "");
    LLVMTypeRef unit[2] = {g->i64, g->i8};
    LLVMValueRef begin[2] = {gen_i64(g, 0), whole}, end[2] = {whole, bytes};
    for (int i = 0; i < 2; i++) {
        struct gen_loop l;
        gen_loop_head(g, &l, begin[i], end[i]);
        gen_loop_body(g, &l, begin[i]);
        gen_loop_count(g, &l);
        LLVMValueRef v = plain_load(g, gen_byte_at(g, from, l.iv), unit[i]);
        LLVMSetAlignment(LLVMBuildStore(g->b, v, gen_byte_at(g, to, l.iv)), 1);
        gen_loop_next(g, &l, i ? 1 : 8);
        gen_loop_end(g, &l);
    }
}
