// SPDX-License-Identifier: MIT
// Sections that only reduce operands as they are in memory, or widened: calls of the precompiled reductions.
//
// In: an ELEM section of a row. Out: its reductions' lanes in their accumulators. A row of at most one leaf
// is reduced here, without a call, like any other section. Longer ones go to kern_red_run: whole where
// there is one reduction, otherwise in pieces that stay in cache while each takes its turn. A piece is a
// power of two of leaves, so the counter takes pieces for leaves. The kernel's row comes through the table of
// needs, and its first member is the function to call.
#include "gen.h"

static const struct seg_op *load_behind(const struct gen *g, int value) {
    const struct seg_op *op = &g->s->op[value];
    return op->op == IR_cast ? &g->s->op[op->arg[0]] : op;
}

static bool runs(struct gen *g, const struct seg_section *sec, const struct seg_op *reduce) {
    int value = reduce->arg[0];
    if (value < sec->begin) return false;
    if (g->s->op[value].op == IR_cast) value = g->s->op[value].arg[0];
    if (value < sec->begin || !gen_is_load(g, sec, value)) return false;
    return kern_red_runs((enum kern_red)reduce->arg[1], (weft_dtype)reduce->in_type,
                         (weft_dtype)g->s->op[value].dtype);
}

// One reduction of an operand's rows as they are, column by column.
bool gen_only_reduces_columns(const struct gen *g) {
    if (g->s->mode != NEST_OUTER || g->nred != 1 || g->red[0].arg) return false;
    const struct seg_op *reduce = &g->s->op[g->red[0].op];
    for (int i = 0; i < g->s->nsection; i++) {
        const struct seg_section *sec = &g->s->section[i];
        if (sec->kind == SEG_FIN) continue;
        if (sec->kind != SEG_ELEM || sec->end - sec->begin != 2) return false;
        if (&g->s->op[sec->end - 1] != reduce || reduce->arg[0] != sec->begin) return false;
        if (!gen_is_load(g, sec, sec->begin)) return false;
    }
    const weft_dtype from = (weft_dtype)load_behind(g, reduce->arg[0])->dtype;
    return g->red[0].type == from && kern_red_runs((enum kern_red)reduce->arg[1], from, from);
}

bool gen_only_reduces(struct gen *g, const struct seg_section *sec) {
    if (g->s->mode != NEST_INNER || sec->kind != SEG_ELEM) return false;
    for (int i = sec->begin; i < sec->end; i++) {
        const struct seg_op *op = &g->s->op[i];
        bool fine = op->op == SEG_REDUCE ? runs(g, sec, op)
                    : op->op == SEG_LOAD ? gen_is_load(g, sec, i)
                                         : op->op == IR_cast;
        if (!fine) return false;
    }
    return true;
}

// member: 0 run, 1 outer
static LLVMValueRef kernel_row(struct gen *g, const struct gen_red *r, const struct seg_op *load, int member,
                               LLVMValueRef *fn) {
    struct llvm_need want = {KERN_FAMILY__N, (uint8_t)r->type, false, (uint8_t)r->kind, load->dtype};
    LLVMValueRef at = gen_byte_at(g, g->needs, gen_i64(g, 8 * gen_need(g, want)));
    LLVMValueRef row = LLVMBuildLoad2(g->b, g->ptr, at, "reduction");
    *fn = LLVMBuildLoad2(g->b, g->ptr, gen_byte_at(g, row, gen_i64(g, 8 * member)), "run");
    return row;
}

void gen_run_call(struct gen *g, const struct gen_red *r, LLVMValueRef col, LLVMValueRef n, size_t stack) {
    const struct seg_op *load = load_behind(g, g->s->op[r->op].arg[0]);
    LLVMTypeRef types[6] = {g->ptr, g->ptr, g->ptr, g->i64, g->i64, g->ptr};
    LLVMTypeRef t = LLVMFunctionType(LLVMVoidTypeInContext(g->ctx), types, 6, 0);
    LLVMValueRef f, row = kernel_row(g, r, load, 0, &f);
    LLVMValueRef x = gen_elem_at(g, g->base[load->arg[0]], (weft_dtype)load->dtype, col);
    LLVMValueRef first = LLVMBuildAdd(g->b, g->index, col, "");
    LLVMValueRef args[6] = {row, gen_scratch(g, r->acc), x, n, first, gen_scratch(g, stack)};
    LLVMBuildCall2(g->b, t, f, args, 6, "");
}

void gen_columns_call(struct gen *g, const struct gen_red *r, LLVMValueRef n) {
    const struct seg_op *load = load_behind(g, g->s->op[r->op].arg[0]);
    const int from = load->arg[0];
    LLVMTypeRef types[7] = {g->ptr, g->ptr, g->ptr, g->i64, g->i64, g->i64, g->ptr};
    LLVMTypeRef t = LLVMFunctionType(LLVMVoidTypeInContext(g->ctx), types, 7, 0);
    LLVMValueRef f, row = kernel_row(g, r, load, 1, &f);
    LLVMValueRef x = gen_elem_at(g, g->addr[from], (weft_dtype)load->dtype, g->span_from);
    LLVMValueRef args[7] = {row, gen_scratch(g, r->acc), x, g->rstride[from], g->rows, n,
                            gen_scratch(g, r->stack)};
    LLVMBuildCall2(g->b, t, f, args, 7, "");
}
