// SPDX-License-Identifier: MIT
// Block kernels: heavy operations computed in registers, inside the loop of a stage.
//
// In: vectors of all parts of a block. Out: as many results. A block kernel (kern.h) takes a fixed number of
// vectors in fixed registers and keeps all but a declared few, so it is called through inline assembly,
// its address loaded from the table of kernels like that of any other. The operands are
// regrouped to whole vectors of the function's own type; places that stay empty and lanes beyond a row's
// end repeat an element that exists, so that they take no rare path of their own.
#include "gen.h"

#include <stdio.h>

enum { MAX_VECTORS = 4 };

const struct kern_block *gen_block_of(const struct gen *g, const struct seg_op *op) {
    if (!g->block || !gen_op_heavy(op)) return NULL;
    const struct kern_block *b = g->block(gen_op_family(op->op), (weft_dtype)op->in_type, g->isa);
    return b && b->vectors <= MAX_VECTORS ? b : NULL;
}

bool gen_on_strips(const struct gen *g, const struct seg_op *op) {
    return gen_op_heavy(op) && !gen_block_of(g, op);
}

static int kernel_lanes(const struct gen *g, const struct seg_op *op) {
    return g->t.vector / (int)dtype_size((weft_dtype)op->in_type);
}

int gen_block_parts(const struct gen *g, const struct seg_op *op) {
    const struct kern_block *b = gen_block_of(g, op);
    return b ? b->vectors * kernel_lanes(g, op) / g->lanes : 0;
}

// ---- vectors ----------------------------------------------------------------------------------------------
// lanes from .. from + n - 1 of a and b one after the other
static LLVMValueRef lanes_from(struct gen *g, LLVMValueRef a, LLVMValueRef b, int from, int n) {
    LLVMValueRef index[64];
    for (int i = 0; i < n; i++)
        index[i] = LLVMConstInt(g->i32, (unsigned)(from + i), 0);
    return LLVMBuildShuffleVector(g->b, a, b, LLVMConstVector(index, (unsigned)n), "");
}

static LLVMValueRef alive(struct gen *g, LLVMValueRef v, LLVMValueRef first, const struct gen_tail *tail) {
    if (!tail) return v;
    LLVMValueRef zero = LLVMConstInt(g->i32, 0, 0);
    LLVMValueRef any = LLVMBuildExtractElement(g->b, first, zero, "");
    return LLVMBuildSelect(g->b, tail->mask, v, gen_splat(g, any, g->lanes), "");
}

// parts of g->lanes elements to vectors of `wide` elements, which is as many or twice as many
static int regroup(struct gen *g, LLVMValueRef *in, int parts, int wide, LLVMValueRef *out) {
    int each = wide / g->lanes, n = 0;
    for (int p = 0; p < parts; p += each, n++)
        out[n] = each == 1 ? in[p] : lanes_from(g, in[p], in[p + 1 < parts ? p + 1 : p], 0, wide);
    return n;
}

// ---- the call ------------------------------------------------------------------------------------------------
static void constraints(const struct gen *g, const struct kern_block *b, char *s, size_t size) {
    const char *r = g->t.vector == 64 ? "zmm" : "ymm";
    int values = b->vectors * b->operands, n = 0;
    for (int i = 0; i < values; i++)
        n += snprintf(s + n, size - (size_t)n, "={%s%d},", r, i);
    n += snprintf(s + n, size - (size_t)n, "r");
    for (int i = 0; i < values; i++)
        n += snprintf(s + n, size - (size_t)n, ",%d", i);
    for (int i = values; i < b->registers; i++)
        n += snprintf(s + n, size - (size_t)n, ",~{%s%d}", r, i);
    for (int i = 0; i < 8 && g->t.vector == 64; i++)
        n += snprintf(s + n, size - (size_t)n, ",~{k%d}", i);
    snprintf(s + n, size - (size_t)n, ",~{rax},~{rcx},~{r11},~{flags},~{dirflag},~{fpsr}");
}

// v: operands x vectors values; the results replace the first
static void call(struct gen *g, const struct seg_op *op, const struct kern_block *b, LLVMValueRef *v) {
    LLVMTypeRef types[2 * MAX_VECTORS + 1];
    LLVMValueRef args[2 * MAX_VECTORS + 1];
    char text[24], rules[640];
    int values = b->vectors * b->operands;
    args[0] = gen_kernel_address(g, op, true);
    types[0] = g->ptr;
    for (int i = 0; i < values; i++) {
        args[i + 1] = v[i];
        types[i + 1] = LLVMTypeOf(v[i]);
    }
    LLVMTypeRef result = LLVMStructTypeInContext(g->ctx, types + 1, (unsigned)values, 0);
    LLVMTypeRef t = LLVMFunctionType(result, types, (unsigned)values + 1, 0);
    int length = snprintf(text, sizeof text, "callq *${%d}", values);
    constraints(g, b, rules, sizeof rules);
    LLVMValueRef f = LLVMGetInlineAsm(t, text, (size_t)length, rules, strlen(rules), 0, 0,
                                      LLVMInlineAsmDialectATT, 0);
    LLVMValueRef got = LLVMBuildCall2(g->b, t, f, args, (unsigned)values + 1, "");
    for (int i = 0; i < b->vectors; i++)
        v[i] = LLVMBuildExtractValue(g->b, got, (unsigned)i, "");
}

// in[operand][part] to out[part]
void gen_block(struct gen *g, const struct seg_op *op, LLVMValueRef in[2][GEN_PARTS], int parts,
               const struct gen_tail *tail, LLVMValueRef *out) {
    const struct kern_block *b = gen_block_of(g, op);
    int wide = kernel_lanes(g, op), each = wide / g->lanes, n = 0;
    LLVMValueRef vec[2][GEN_PARTS], v[2 * MAX_VECTORS];
    for (int a = 0; a < b->operands; a++) {
        LLVMValueRef first = in[a][0];
        for (int p = 0; p < parts; p++)
            in[a][p] = alive(g, in[a][p], first, tail ? &tail[p] : NULL);
        n = regroup(g, in[a], parts, wide, vec[a]);
    }
    for (int at = 0; at < n; at += b->vectors) {
        for (int a = 0; a < b->operands; a++)
            for (int i = 0; i < b->vectors; i++)
                v[a * b->vectors + i] = vec[a][at + i < n ? at + i : at];
        call(g, op, b, v);
        for (int i = 0; i < b->vectors && at + i < n; i++)
            for (int k = 0; k < each && (at + i) * each + k < parts; k++)
                out[(at + i) * each + k] = each == 1 ? v[i] : lanes_from(g, v[i], v[i], k * g->lanes, g->lanes);
    }
}
