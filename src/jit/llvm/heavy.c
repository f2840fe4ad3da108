// SPDX-License-Identifier: MIT
// Heavy operations: a section is cut into stages, loops over a strip of columns with kernel calls between.
//
// Heavy operations with a block kernel (block.c) count as light here: they are computed in the loops.
// In: a section. Out: for every instruction the stage that computes it and the strip that carries it to
// later stages, if any. A kernel runs between the stage that has its operands and the next one. Strips
// are L1-sized rows of tile.scratch, shared by values whose lives do not overlap; an operand that is
// loaded as it is needs none, since the kernel reads its memory. All stores wait for the last stage,
// so that any stage may load operands again.
#include "gen.h"

static bool needs_strip(const struct gen *g, const struct seg_section *sec, int v) {
    if (g->s->op[v].op == SEG_LOAD || g->s->op[v].op == SEG_REDUCE) {
        if (gen_is_scalar(g, sec, v)) return true;
        bool arg = g->s->op[v].op == SEG_REDUCE && g->red[g->red_of[v]].arg;
        return arg; // must be looked at before a kernel can read it
    }
    return true;
}

static int level_of(const struct gen *g, const struct seg_section *sec, int v) {
    return v >= sec->begin && v < sec->end && g->s->op[v].op != SEG_LOAD ? g->level[v] : 0;
}

static void find_levels(struct gen *g, const struct seg_section *sec) {
    g->nstage = 1;
    for (int i = sec->begin; i < sec->end; i++) {
        const struct seg_op *op = &g->s->op[i];
        int level = 0;
        for (int a = 0; a < gen_arity(op); a++)
            level = MAX_OF(level, level_of(g, sec, op->arg[a]));
        if (gen_on_strips(g, op)) level++;
        g->level[i] = (int16_t)level;
        g->nstage = MAX_OF(g->nstage, level + 1);
    }
}

// A kernel may write an output's memory when that store is all that the last stage would do.
static int find_direct(const struct gen *g, const struct seg_section *sec) {
    int last = g->nstage - 1, store = -1, call = -1;
    for (int i = sec->begin; i < sec->end; i++) {
        const struct seg_op *op = &g->s->op[i];
        if (op->op == SEG_STORE) {
            if (store >= 0) return -1;
            store = i;
        } else if (g->level[i] == last) {
            if (!gen_on_strips(g, op) || call >= 0) return -1;
            call = i;
        }
    }
    return store >= 0 && call >= 0 && g->s->op[store].arg[0] == call ? call : -1;
}

// ---- strips ---------------------------------------------------------------------------------------------
// Times: loop of stage s is 2s, the calls after it 2s + 1. A value is born in its loop or call and dies with
// its last reader.
struct life {
    int born, dies;
    bool used; // needs a strip at all
};

static void note_use(struct gen *g, const struct seg_section *sec, struct life *life, int user) {
    const struct seg_op *op = &g->s->op[user];
    bool heavy = gen_on_strips(g, op);
    int stage = op->op == SEG_STORE ? g->nstage - 1 : g->level[user];
    int when = heavy ? 2 * stage - 1 : 2 * stage;
    for (int a = 0; a < gen_arity(op); a++) {
        int v = op->arg[a];
        bool made = v >= sec->begin && v < sec->end && g->s->op[v].op != SEG_LOAD;
        bool by_kernel = heavy && needs_strip(g, sec, v);
        bool crosses = made && !gen_on_strips(g, &g->s->op[v]) && g->level[v] < stage && !heavy;
        bool called = made && gen_on_strips(g, &g->s->op[v]);
        if (!by_kernel && !crosses && !called) continue;
        life[v].used = true;
        life[v].dies = MAX_OF(life[v].dies, made ? when : 2 * g->nstage);
        life[v].born = !made ? -1 : called ? 2 * g->level[v] - 1 : 2 * g->level[v];
    }
}

static int free_slot(const int *busy_until, int n, int born) {
    for (int i = 0; i < n; i++)
        if (busy_until[i] < born) return i;
    return n;
}

// values in order of birth, so that the first free strip is as good as any
static void give_slots(struct gen *g, const struct life *life) {
    int *busy = ARENA_ARRAY(&g->arena, int, g->s->nop);
    if (!busy) {
        gen_fail(g, "no memory");
        return;
    }
    int n = 0;
    for (int t = -1; t < 2 * g->nstage; t++)
        for (int i = 0; i < g->s->nop; i++) {
            if (!life[i].used || life[i].born != t || i == g->direct) continue;
            int s = free_slot(busy, n, t);
            n = MAX_OF(n, s + 1);
            busy[s] = life[i].dies;
            g->slot[i] = (int16_t)s;
        }
    g->nslot = MAX_OF(g->nslot, n);
}

void gen_stage_plan(struct gen *g, const struct seg_section *sec) {
    find_levels(g, sec);
    for (int i = 0; i < g->s->nop; i++)
        g->slot[i] = -1;
    g->direct = -1;
    if (g->nstage == 1) return;
    g->direct = find_direct(g, sec);
    struct life *life = ARENA_ARRAY(&g->arena, struct life, g->s->nop);
    if (!life) {
        gen_fail(g, "no memory");
        return;
    }
    for (int i = sec->begin; i < sec->end; i++)
        note_use(g, sec, life, i);
    give_slots(g, life);
}

// Strips come first in scratch. They have room for a whole vector at their end.
LLVMValueRef gen_strip_at(struct gen *g, int value, LLVMValueRef col) {
    LLVMValueRef strip = gen_scratch(g, (size_t)g->slot[value] * GEN_STRIP * 8);
    LLVMValueRef at = LLVMBuildSub(g->b, col, g->strip_from, "");
    return gen_elem_at(g, strip, (weft_dtype)g->s->op[value].dtype, at);
}

// ---- calls ------------------------------------------------------------------------------------------------
int gen_need(struct gen *g, struct llvm_need want) {
    struct llvm_code *c = g->out;
    for (int i = 0; i < c->nneed; i++)
        if (!memcmp(&c->need[i], &want, sizeof want)) return i;
    if (c->nneed == (int)COUNT_OF(c->need)) {
        gen_fail(g, "more than %d different kernels in one pass", c->nneed);
        return 0;
    }
    c->need[c->nneed] = want;
    return c->nneed++;
}

LLVMValueRef gen_kernel_address(struct gen *g, const struct seg_op *op, bool block) {
    struct llvm_need want = {(uint8_t)gen_op_family(op->op), op->in_type, block, 0, 0};
    LLVMValueRef at = gen_byte_at(g, g->needs, gen_i64(g, 8 * gen_need(g, want)));
    return LLVMBuildLoad2(g->b, g->ptr, at, "kernel");
}

void gen_kernel(struct gen *g, const struct seg_op *op, LLVMValueRef out, LLVMValueRef a, LLVMValueRef b,
                LLVMValueRef n) {
    LLVMTypeRef types[4] = {g->ptr, g->ptr, g->ptr, g->i64};
    LLVMTypeRef t = LLVMFunctionType(LLVMVoidTypeInContext(g->ctx), types, 4, 0);
    LLVMValueRef args[4] = {out, a, b, n};
    LLVMBuildCall2(g->b, t, gen_kernel_address(g, op, false), args, 4, "");
}

static LLVMValueRef operand_of_kernel(struct gen *g, const struct seg_section *sec, int v) {
    if (needs_strip(g, sec, v)) return gen_strip_at(g, v, g->strip_from);
    const struct seg_op *op = &g->s->op[v];
    if (op->op == SEG_LOAD)
        return gen_elem_at(g, g->base[op->arg[0]], (weft_dtype)op->dtype, g->strip_from);
    const struct gen_red *r = &g->red[g->red_of[v]];
    return gen_elem_at(g, r->value_at, r->type, LLVMBuildSub(g->b, g->strip_from, g->span_from, ""));
}

static LLVMValueRef target_of_kernel(struct gen *g, const struct seg_section *sec, int i) {
    if (i != g->direct) return gen_strip_at(g, i, g->strip_from);
    for (int k = sec->begin; k < sec->end; k++) {
        const struct seg_op *op = &g->s->op[k];
        if (op->op == SEG_STORE)
            return gen_elem_at(g, g->base[op->arg[1]], (weft_dtype)op->dtype, g->strip_from);
    }
    return NULL;
}

static void calls_after(struct gen *g, const struct seg_section *sec, int stage, LLVMValueRef n) {
    for (int i = sec->begin; i < sec->end; i++) {
        const struct seg_op *op = &g->s->op[i];
        if (!gen_on_strips(g, op) || g->level[i] != stage + 1) continue;
        if (g->slot[i] < 0 && i != g->direct) continue; // nobody reads it
        LLVMValueRef a = operand_of_kernel(g, sec, op->arg[0]);
        LLVMValueRef b = gen_arity(op) == 2 ? operand_of_kernel(g, sec, op->arg[1]) : a;
        LLVMMetadataRef before = gen_here(g, i);
        gen_kernel(g, op, target_of_kernel(g, sec, i), a, b, n);
        gen_there(g, before);
    }
}

// ---- spans --------------------------------------------------------------------------------------------------
static int section_lanes(const struct gen *g, const struct seg_section *sec) {
    size_t widest = 1;
    for (int i = sec->begin; i < sec->end; i++) {
        const struct seg_op *op = &g->s->op[i];
        widest = MAX_OF(widest, dtype_size((weft_dtype)op->dtype));
        if (op->op < SEG_LOAD || op->op == SEG_REDUCE)
            widest = MAX_OF(widest, dtype_size((weft_dtype)op->in_type));
    }
    return g->t.vector / (int)widest;
}

static void splat_scalars(struct gen *g, const struct seg_section *sec) {
    memset(g->splat, 0, (size_t)g->s->nop * sizeof(LLVMValueRef));
    for (int i = sec->begin; i < sec->end; i++) {
        const struct seg_op *op = &g->s->op[i];
        for (int a = 0; a < gen_arity(op); a++) {
            int v = op->arg[a];
            if (!gen_is_scalar(g, sec, v) || g->splat[v]) continue;
            const struct seg_op *from = &g->s->op[v];
            LLVMValueRef s = g->row[v];
            if (v >= sec->begin)
                s = gen_label(g, v, 0, gen_load(g, g->base[from->arg[0]], (weft_dtype)from->dtype, 0, NULL));
            g->splat[v] = gen_splat(g, s, g->lanes);
        }
    }
}

// strips of scalars that kernels read: the same for every strip of the span
static void fill_scalars(struct gen *g, LLVMValueRef from) {
    g->strip_from = from;
    for (int v = 0; v < g->s->nop; v++) {
        if (!g->splat[v] || g->slot[v] < 0) continue;
        struct gen_loop l;
        LLVMValueRef end = LLVMBuildAdd(g->b, from, gen_i64(g, GEN_STRIP), "");
        gen_loop_head(g, &l, from, end);
        gen_loop_body(g, &l, from);
        gen_loop_count(g, &l);
        gen_store(g, g->splat[v], gen_strip_at(g, v, l.iv), (weft_dtype)g->s->op[v].dtype, g->lanes, NULL);
        gen_loop_next(g, &l, g->lanes);
        gen_loop_end(g, &l);
    }
}

static bool has_work(const struct gen *g, const struct seg_section *sec, int stage) {
    bool last = stage == g->nstage - 1;
    for (int i = 0; i < sec->end; i++) {
        const struct seg_op *op = &g->s->op[i];
        if (i < sec->begin) { // an index result on its way into a strip
            if (!stage && op->op == SEG_REDUCE && g->slot[i] >= 0) return true;
        } else if (op->op == SEG_STORE) {
            if (last && g->direct < 0) return true;
        } else if (op->op != SEG_LOAD && !gen_on_strips(g, op) && g->level[i] == stage) {
            return true;
        }
    }
    return false;
}

void gen_span(struct gen *g, const struct seg_section *sec, LLVMValueRef from, LLVMValueRef to) {
    gen_stage_plan(g, sec);
    g->lanes = section_lanes(g, sec);
    splat_scalars(g, sec);
    if (g->nstage == 1) {
        gen_stage(g, sec, 0, from, to);
        return;
    }
    fill_scalars(g, from);
    struct gen_loop l;
    gen_loop_head(g, &l, from, to);
    gen_loop_body(g, &l, from);
    gen_loop_count(g, &l);
    g->strip_from = l.iv;
    LLVMValueRef end = LLVMBuildAdd(g->b, l.iv, gen_i64(g, GEN_STRIP), "");
    LLVMValueRef more = LLVMBuildICmp(g->b, LLVMIntSLT, end, to, "");
    end = LLVMBuildSelect(g->b, more, end, to, "");
    LLVMValueRef n = LLVMBuildSub(g->b, end, l.iv, "");
    for (int s = 0; s < g->nstage; s++) {
        if (has_work(g, sec, s)) gen_stage(g, sec, s, l.iv, end);
        calls_after(g, sec, s, n);
    }
    gen_loop_next(g, &l, GEN_STRIP);
    gen_loop_end(g, &l);
}
