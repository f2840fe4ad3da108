// SPDX-License-Identifier: MIT
// The small words of emission: types, constants, loops, helper functions.
//
// Nothing here knows a body. No instruction built here or elsewhere carries nsw, nuw, exact or a fast-math
// flag: the C builder sets none by default and nobody adds any, which is what keeps wrap-around and IEEE
// semantics intact. Loops are tested at the bottom, behind one guard.
#include "gen.h"

#include <stdio.h>

void gen_fail(struct gen *g, const char *fmt, ...) {
    if (g->failed) return;
    g->failed = true;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(g->err, g->err_size, fmt, ap);
    va_end(ap);
}

// ---- types ------------------------------------------------------------------------------------------
LLVMTypeRef gen_vec(LLVMTypeRef t, int lanes) {
    return lanes ? LLVMVectorType(t, (unsigned)lanes) : t;
}

LLVMTypeRef gen_type(struct gen *g, weft_dtype t, int lanes) {
    LLVMTypeRef e;
    if (t == WEFT_F64)
        e = LLVMDoubleTypeInContext(g->ctx);
    else if (t == WEFT_F32)
        e = LLVMFloatTypeInContext(g->ctx);
    else if (t == WEFT_BOOL)
        e = g->i1;
    else
        e = LLVMIntTypeInContext(g->ctx, (unsigned)dtype_size(t) * 8);
    return gen_vec(e, lanes);
}

LLVMTypeRef gen_int_like(struct gen *g, weft_dtype t, int lanes) {
    return gen_vec(LLVMIntTypeInContext(g->ctx, (unsigned)dtype_size(t) * 8), lanes);
}

// ---- constants ----------------------------------------------------------------------------------------
LLVMValueRef gen_all(LLVMValueRef constant, int lanes) {
    if (!lanes) return constant;
    LLVMValueRef each[64];
    for (int i = 0; i < lanes; i++)
        each[i] = constant;
    return LLVMConstVector(each, (unsigned)lanes);
}

LLVMValueRef gen_int(struct gen *g, weft_dtype t, int lanes, int64_t v) {
    LLVMTypeRef e = t == WEFT_BOOL ? g->i1 : gen_int_like(g, t, 0);
    unsigned long long bits = (unsigned long long)v;
    if (t == WEFT_BOOL)
        bits &= 1;
    else if (dtype_size(t) < 8)
        bits &= (1ull << (dtype_size(t) * 8)) - 1;
    return gen_all(LLVMConstInt(e, bits, 0), lanes);
}

LLVMValueRef gen_flt(struct gen *g, weft_dtype t, int lanes, double v) {
    return gen_all(LLVMConstReal(gen_type(g, t, 0), v), lanes);
}

LLVMValueRef gen_i64(struct gen *g, int64_t v) {
    return LLVMConstInt(g->i64, (unsigned long long)v, 0);
}

LLVMValueRef gen_count(struct gen *g, LLVMTypeRef t, int lanes) {
    (void)g;
    LLVMValueRef each[64];
    for (int i = 0; i < lanes; i++)
        each[i] = LLVMConstInt(t, (unsigned long long)i, 0);
    return LLVMConstVector(each, (unsigned)lanes);
}

int64_t gen_int_min(weft_dtype t) {
    return dtype_is_signed(t) ? (int64_t)(~0ull << (dtype_size(t) * 8 - 1)) : 0;
}

int64_t gen_int_max(weft_dtype t) {
    if (t == WEFT_BOOL) return 1;
    return (int64_t)(~0ull >> (64 - dtype_size(t) * 8 + (dtype_is_signed(t) ? 1 : 0)));
}

LLVMValueRef gen_splat(struct gen *g, LLVMValueRef scalar, int lanes) {
    if (!lanes) return scalar;
    LLVMTypeRef t = LLVMVectorType(LLVMTypeOf(scalar), (unsigned)lanes);
    LLVMValueRef v = LLVMBuildInsertElement(g->b, LLVMGetPoison(t), scalar,
                                            LLVMConstInt(g->i32, 0, 0), "");
    LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(g->i32, (unsigned)lanes));
    return LLVMBuildShuffleVector(g->b, v, LLVMGetPoison(t), zeros, "");
}

LLVMValueRef gen_call(struct gen *g, const char *intrinsic, LLVMTypeRef over, LLVMValueRef *args, int n) {
    unsigned id = LLVMLookupIntrinsicID(intrinsic, strlen(intrinsic));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->mod, id, &over, 1);
    LLVMTypeRef t = LLVMIntrinsicGetType(g->ctx, id, &over, 1);
    return LLVMBuildCall2(g->b, t, f, args, (unsigned)n, "");
}

// ---- control flow ---------------------------------------------------------------------------------------
LLVMBasicBlockRef gen_block_new(struct gen *g, const char *name) {
    return LLVMAppendBasicBlockInContext(g->ctx, g->fn, name);
}

void gen_at(struct gen *g, LLVMBasicBlockRef b) {
    LLVMPositionBuilderAtEnd(g->b, b);
}

// The counter is a vector of one lane, which becomes a plain register: loop strength reduction leaves
// vectors alone, and would take a third of the time of code generation to find what is already there.
static LLVMTypeRef counter_type(struct gen *g) { return LLVMVectorType(g->i64, 1); }
static LLVMValueRef counter_of(struct gen *g, LLVMValueRef i) {
    LLVMValueRef none = LLVMGetPoison(counter_type(g));
    return LLVMBuildInsertElement(g->b, none, i, LLVMConstInt(g->i32, 0, 0), "");
}
static LLVMValueRef count_in(struct gen *g, LLVMValueRef counter, const char *name) {
    return LLVMBuildExtractElement(g->b, counter, LLVMConstInt(g->i32, 0, 0), name);
}

void gen_loop_head(struct gen *g, struct gen_loop *l, LLVMValueRef from, LLVMValueRef to) {
    LLVMBasicBlockRef enter = gen_block_new(g, "enter");
    l->exit = gen_block_new(g, "exit");
    l->to = to;
    LLVMValueRef any = LLVMBuildICmp(g->b, LLVMIntSLT, from, to, "");
    LLVMBuildCondBr(g->b, any, enter, l->exit);
    gen_at(g, enter);
}

void gen_loop_body(struct gen *g, struct gen_loop *l, LLVMValueRef from) {
    LLVMValueRef begin = counter_of(g, from);
    l->pre = LLVMGetInsertBlock(g->b);
    l->body = gen_block_new(g, "loop");
    LLVMBuildBr(g->b, l->body);
    gen_at(g, l->body);
    l->counter = LLVMBuildPhi(g->b, counter_type(g), "");
    LLVMAddIncoming(l->counter, &begin, &l->pre, 1);
    l->iv = NULL;
}

LLVMValueRef gen_loop_count(struct gen *g, struct gen_loop *l) {
    l->iv = count_in(g, l->counter, "i");
    return l->iv;
}

void gen_loop_next(struct gen *g, struct gen_loop *l, int64_t step) {
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(g->b), leave = gen_block_new(g, "leave");
    LLVMValueRef by = counter_of(g, gen_i64(g, step));
    LLVMValueRef next = LLVMBuildAdd(g->b, l->counter, by, "");
    LLVMAddIncoming(l->counter, &next, &latch, 1);
    LLVMValueRef more = LLVMBuildICmp(g->b, LLVMIntSLT, count_in(g, next, ""), l->to, "");
    LLVMBuildCondBr(g->b, more, l->body, leave);
    gen_at(g, leave);
}

void gen_loop_end(struct gen *g, struct gen_loop *l) {
    LLVMBuildBr(g->b, l->exit);
    LLVMMoveBasicBlockAfter(l->exit, LLVMGetInsertBlock(g->b));
    gen_at(g, l->exit);
}

LLVMValueRef gen_alloca(struct gen *g, LLVMTypeRef t, unsigned align) {
    LLVMBasicBlockRef at = LLVMGetInsertBlock(g->b);
    LLVMValueRef first = LLVMGetFirstInstruction(g->entry);
    if (first)
        LLVMPositionBuilderBefore(g->b, first);
    else
        gen_at(g, g->entry);
    LLVMValueRef a = LLVMBuildAlloca(g->b, t, "");
    LLVMSetAlignment(a, align);
    gen_at(g, at);
    return a;
}

// ---- functions of the module that the tile function calls -------------------------------------------------
LLVMValueRef gen_helper_begin(struct gen *g, const char *name, int nptr, int nint, struct gen_saved *s) {
    LLVMTypeRef args[8];
    for (int i = 0; i < nptr + nint; i++)
        args[i] = i < nptr ? g->ptr : g->i64;
    LLVMTypeRef t = LLVMFunctionType(LLVMVoidTypeInContext(g->ctx), args, (unsigned)(nptr + nint), 0);
    *s = (struct gen_saved){g->fn, LLVMGetInsertBlock(g->b), g->entry, NULL};
    if (g->scope) s->here = LLVMGetCurrentDebugLocation2(g->b);
    gen_there(g, NULL);
    g->fn = LLVMAddFunction(g->mod, name, t);
    LLVMSetLinkage(g->fn, LLVMInternalLinkage);
    g->entry = gen_block_new(g, "entry");
    gen_at(g, g->entry);
    return g->fn;
}

void gen_helper_end(struct gen *g, struct gen_saved *s) {
    LLVMBuildRetVoid(g->b);
    g->fn = s->fn;
    g->entry = s->entry;
    gen_at(g, s->at);
    gen_there(g, s->here);
}
