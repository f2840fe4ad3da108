// SPDX-License-Identifier: MIT
// Sections as straight code: scalars of a row, and the loops over the columns of one stage.
//
// In: a section, a range of columns. Out: its values in vectors, its stores and steps of reductions. A
// range is covered by blocks of several independent vectors and then by single, partial ones through the
// same code. In a block every load comes before every store, so an output may be the very memory of
// an input. Accumulators stay in registers along blocks where a block is a whole round of lanes;
// otherwise, and always for outer reductions (a lane a column), they are updated in memory.
#include "gen.h"

#include <limits.h>

struct block {
    const struct seg_section *sec;
    int stage, parts;
    LLVMValueRef col;             // column of the first element
    const struct gen_tail *tail;  // one a part; NULL: whole vectors
    struct gen_acc *acc;          // accumulators in registers [reduction][GEN_PARTS], or NULL
    bool mixed;                   // the parts' instructions take turns
};

static bool in_section(const struct seg_section *sec, int i) { return i >= sec->begin && i < sec->end; }

bool gen_is_load(const struct gen *g, const struct seg_section *sec, int i) {
    const struct seg_op *op = &g->s->op[i];
    return op->op == SEG_LOAD && in_section(sec, i) && g->s->operand[op->arg[0]].cls == NEST_UNIT;
}

// The value is one for all columns: made in a ROW section, or loaded as a scalar here. (In FIN the
// results of reductions are vectors.)
bool gen_is_scalar(const struct gen *g, const struct seg_section *sec, int i) {
    const struct seg_op *op = &g->s->op[i];
    if (in_section(sec, i)) return op->op == SEG_LOAD && !gen_is_load(g, sec, i);
    return sec->kind != SEG_FIN || op->op != SEG_REDUCE;
}

// ---- values of a block --------------------------------------------------------------------------------------
static const struct gen_tail *tail_of(const struct block *k, int part) { return k->tail ? &k->tail[part] : NULL; }

static LLVMValueRef column(struct gen *g, const struct block *k, int part) {
    return part ? LLVMBuildAdd(g->b, k->col, gen_i64(g, (int64_t)part * g->lanes), "") : k->col;
}

// i64 results of an arg-reduction: a column that has seen nothing gives -1
static LLVMValueRef found(struct gen *g, LLVMValueRef v) {
    LLVMValueRef none = gen_int(g, WEFT_I64, g->lanes, INT64_MAX);
    LLVMValueRef empty = LLVMBuildICmp(g->b, LLVMIntEQ, v, none, "");
    return LLVMBuildSelect(g->b, empty, gen_int(g, WEFT_I64, g->lanes, -1), v, "");
}

static LLVMValueRef reduced(struct gen *g, const struct block *k, int i, int part) {
    const struct gen_red *r = &g->red[g->red_of[i]];
    LLVMValueRef at = LLVMBuildSub(g->b, column(g, k, part), g->span_from, "");
    weft_dtype t = r->arg ? WEFT_I64 : r->type;
    LLVMValueRef p = gen_elem_at(g, r->arg ? r->index_at : r->value_at, t, at);
    LLVMValueRef v = gen_load(g, p, t, g->lanes, tail_of(k, part));
    return r->arg ? found(g, v) : v;
}

static LLVMValueRef fetch(struct gen *g, const struct block *k, int i, int part) {
    const struct seg_op *op = &g->s->op[i];
    if (gen_is_load(g, k->sec, i)) {
        LLVMValueRef p = gen_elem_at(g, g->base[op->arg[0]], (weft_dtype)op->dtype, column(g, k, part));
        return gen_load(g, p, (weft_dtype)op->dtype, g->lanes, tail_of(k, part));
    }
    if (op->op == SEG_REDUCE) return reduced(g, k, i, part);
    return gen_load(g, gen_strip_at(g, i, column(g, k, part)), (weft_dtype)op->dtype, g->lanes, NULL);
}

static LLVMValueRef value_of(struct gen *g, const struct block *k, int i, int part) {
    if (gen_is_scalar(g, k->sec, i)) return g->splat[i];
    LLVMValueRef *v = &g->val[i * GEN_PARTS + part];
    if (*v) return *v;
    LLVMMetadataRef before = gen_here(g, i);
    *v = gen_label(g, i, part, fetch(g, k, i, part));
    gen_there(g, before);
    return *v;
}

// ---- one block -----------------------------------------------------------------------------------------------
static void compute(struct gen *g, const struct block *k, int i, int part) {
    const struct seg_op *op = &g->s->op[i];
    LLVMValueRef args[3] = {NULL, NULL, NULL};
    for (int a = 0; a < gen_arity(op); a++)
        args[a] = value_of(g, k, op->arg[a], part);
    LLVMMetadataRef before = gen_here(g, i);
    g->val[i * GEN_PARTS + part] = gen_label(g, i, part, gen_op(g, op, g->lanes, args));
    gen_there(g, before);
}

static void reduce(struct gen *g, const struct block *k, int i, int part) {
    const struct gen_red *r = &g->red[g->red_of[i]];
    LLVMValueRef x = value_of(g, k, g->s->op[i].arg[0], part), col = column(g, k, part);
    LLVMValueRef index = g->index;
    if (g->s->mode == NEST_INNER) index = LLVMBuildAdd(g->b, index, col, "");
    if (k->acc) {
        struct gen_acc *a = &k->acc[g->red_of[i] * GEN_PARTS + part % (r->lanes / g->lanes)];
        *a = gen_red_step(g, r, g->lanes, *a, x, index, tail_of(k, part));
        gen_label(g, i, part, a->value);
        return;
    }
    LLVMValueRef at = g->s->mode == NEST_INNER ? LLVMBuildAnd(g->b, col, gen_i64(g, r->lanes - 1), "")
                                               : LLVMBuildSub(g->b, col, g->span_from, "");
    struct gen_acc a = gen_red_load(g, r, at, g->lanes);
    a = gen_red_step(g, r, g->lanes, a, x, index, tail_of(k, part));
    gen_label(g, i, part, a.value);
    gen_red_save(g, r, a, at, g->lanes);
}

static void store(struct gen *g, const struct block *k, int i, int part, bool past) {
    const struct seg_op *op = &g->s->op[i];
    LLVMValueRef p = gen_elem_at(g, g->base[op->arg[1]], (weft_dtype)op->dtype, column(g, k, part));
    LLVMValueRef v = value_of(g, k, op->arg[0], part);
    LLVMMetadataRef before = gen_here(g, i);
    if (past && gen_streams((weft_dtype)op->dtype, g->lanes))
        gen_store_past(g, v, p, (weft_dtype)op->dtype, g->lanes);
    else
        gen_store(g, v, p, (weft_dtype)op->dtype, g->lanes, tail_of(k, part));
    gen_there(g, before);
}

static void stores(struct gen *g, const struct block *k, bool past) {
    for (int p = 0; p < k->parts; p++)
        for (int i = k->sec->begin; i < k->sec->end; i++)
            if (g->s->op[i].op == SEG_STORE) store(g, k, i, p, past);
}

// A branch a block, always the same way within a tile, to stores past the caches or to plain ones.
static void stores_either_way(struct gen *g, const struct block *k) {
    LLVMBasicBlockRef past = gen_block_new(g, "past"), plain = gen_block_new(g, "plain");
    LLVMBasicBlockRef after = gen_block_new(g, "stored");
    for (int p = 0; p < k->parts; p++) // whatever is fetched first here must be seen by both
        for (int i = k->sec->begin; i < k->sec->end; i++)
            if (g->s->op[i].op == SEG_STORE) value_of(g, k, g->s->op[i].arg[0], p);
    LLVMBuildCondBr(g->b, g->stream, past, plain);
    gen_at(g, past);
    stores(g, k, true);
    LLVMBuildBr(g->b, after);
    gen_at(g, plain);
    stores(g, k, false);
    LLVMBuildBr(g->b, after);
    gen_at(g, after);
}

static bool is_light(const struct gen *g, const struct seg_op *op) {
    return op->op < SEG_LOAD && !gen_on_strips(g, op);
}

// results of arg-reductions that a kernel reads: looked at, then kept in a strip
static void keep_found(struct gen *g, const struct block *k, int part) {
    for (int i = 0; i < k->sec->begin; i++)
        if (g->s->op[i].op == SEG_REDUCE && g->slot[i] >= 0 && !gen_is_scalar(g, k->sec, i))
            gen_store(g, value_of(g, k, i, part), gen_strip_at(g, i, column(g, k, part)), WEFT_I64, g->lanes,
                      NULL);
}

// one instruction of one part, but for the stores to operands and what a block kernel computes
static void part_value(struct gen *g, const struct block *k, int i, int part) {
    const struct seg_op *op = &g->s->op[i];
    if (op->op == SEG_STORE && k->stage == g->nstage - 1) value_of(g, k, op->arg[0], part);
    if (g->level[i] != k->stage) return;
    bool block = gen_block_of(g, op) != NULL;
    if (is_light(g, op) && !block) compute(g, k, i, part);
    if (op->op == SEG_REDUCE) {
        LLVMMetadataRef before = gen_here(g, i);
        reduce(g, k, i, part);
        gen_there(g, before);
    }
    if (is_light(g, op) && g->slot[i] >= 0)
        gen_store(g, g->val[i * GEN_PARTS + part], gen_strip_at(g, i, column(g, k, part)), (weft_dtype)op->dtype,
                  g->lanes, NULL);
}

static void block_values(struct gen *g, const struct block *k, int i) {
    const struct seg_op *op = &g->s->op[i];
    LLVMValueRef in[2][GEN_PARTS];
    for (int a = 0; a < gen_arity(op); a++)
        for (int p = 0; p < k->parts; p++)
            in[a][p] = value_of(g, k, op->arg[a], p);
    LLVMMetadataRef before = gen_here(g, i);
    gen_block(g, op, in, k->parts, k->tail, &g->val[i * GEN_PARTS]);
    for (int p = 0; p < k->parts; p++)
        gen_label(g, i, p, g->val[i * GEN_PARTS + p]);
    gen_there(g, before);
}

static bool calls_blocks(const struct gen *g, const struct seg_section *sec, int stage) {
    for (int i = sec->begin; i < sec->end; i++)
        if (g->level[i] == stage && gen_block_of(g, &g->s->op[i])) return true;
    return false;
}

// Part by part, which keeps few values alive; where block kernels are called, instruction by instruction, and in
// long bodies too: a processor looks ahead a few hundred instructions, so only mixed parts overlap there.
static void values(struct gen *g, const struct block *k) {
    for (int p = 0; p < k->parts && k->stage == 0; p++)
        keep_found(g, k, p);
    if (!k->mixed && !calls_blocks(g, k->sec, k->stage)) {
        for (int p = 0; p < k->parts; p++)
            for (int i = k->sec->begin; i < k->sec->end; i++)
                part_value(g, k, i, p);
        return;
    }
    for (int i = k->sec->begin; i < k->sec->end; i++) {
        if (g->level[i] == k->stage && gen_block_of(g, &g->s->op[i])) block_values(g, k, i);
        for (int p = 0; p < k->parts; p++)
            part_value(g, k, i, p);
    }
}

static void emit_block(struct gen *g, const struct block *k) {
    // what was computed for another block is not visible here
    memset(g->val, 0, (size_t)g->s->nop * GEN_PARTS * sizeof(LLVMValueRef));
    values(g, k);
    if (k->stage != g->nstage - 1) return;
    if (g->stream && !k->tail)
        stores_either_way(g, k);
    else
        stores(g, k, false);
}

// ---- the loops of a stage --------------------------------------------------------------------------------------
struct shape {
    int parts;      // of the blocks
    bool registers; // accumulators in registers along them
    bool mixed;     // parts in turns
};

// Registers that two parts want, at most, if instructions run in their order: a value is alive from its
// making, a loaded one from its first use, scalars (which the parts share) all the time.
static int wanted_by_two(struct gen *g, const struct seg_section *sec) {
    int *left = ARENA_ARRAY(&g->arena, int, g->s->nop), *seen = ARENA_ARRAY(&g->arena, int, g->s->nop);
    int scalars = 0, alive = 0, most = 0;
    if (!left || !seen) return INT_MAX;
    for (int i = sec->begin; i < sec->end; i++)
        for (int a = 0; a < gen_arity(&g->s->op[i]); a++)
            scalars += left[g->s->op[i].arg[a]]++ == 0 && gen_is_scalar(g, sec, g->s->op[i].arg[a]);
    for (int i = sec->begin; i < sec->end; i++) {
        const struct seg_op *op = &g->s->op[i];
        for (int a = 0; a < gen_arity(op); a++) {
            int v = op->arg[a];
            if (gen_is_scalar(g, sec, v)) continue;
            alive += seen[v]++ == 0 && gen_is_load(g, sec, v);
            most = MAX_OF(most, alive);
            alive -= --left[v] == 0;
        }
        alive += is_light(g, op) && left[i] > 0;
        most = MAX_OF(most, alive);
    }
    return scalars + 2 * most;
}

static struct shape shape_of(struct gen *g, const struct seg_section *sec, int stage) {
    int work = 0, round = 0, accs = 0, whole = 1; // whole: parts of one call of a block kernel
    for (int i = sec->begin; i < sec->end; i++) {
        const struct seg_op *op = &g->s->op[i];
        bool here = g->level[i] == stage || (op->op == SEG_STORE && stage == g->nstage - 1);
        work += here && !gen_on_strips(g, op);
        if (here) whole = MAX_OF(whole, gen_block_parts(g, op));
        if (op->op != SEG_REDUCE || !here) continue;
        const struct gen_red *r = &g->red[g->red_of[i]];
        round = MAX_OF(round, r->lanes / g->lanes);
        accs += r->lanes / g->lanes * (r->arg ? 2 : 1);
    }
    if (round && g->s->mode == NEST_INNER) {
        bool fits = round <= GEN_PARTS && round * work <= 160 && accs <= g->t.registers * 3 / 4;
        return fits ? (struct shape){round, true, false} : (struct shape){whole, false, false};
    }
    if (work <= 32 || whole > 1) return (struct shape){MAX_OF(whole, work <= 12 ? 4 : work <= 32 ? 2 : 1), false, false};
    bool two = g->nstage == 1 && g->s->mode == NEST_MAP && wanted_by_two(g, sec) <= g->t.registers;
    return (struct shape){two ? 2 : 1, false, two};
}

// phis for the accumulators of the stage's reductions, loaded from memory before the loop
struct carried {
    struct gen_acc begin[GEN_PARTS], phi[GEN_PARTS];
    int n;
};
static bool steps_here(struct gen *g, const struct gen_red *r, const struct seg_section *sec, int stage) {
    return in_section(sec, r->op) && g->level[r->op] == stage;
}

static LLVMValueRef phi_from(struct gen *g, LLVMValueRef v, LLVMBasicBlockRef from) {
    if (!v) return NULL;
    LLVMValueRef p = LLVMBuildPhi(g->b, LLVMTypeOf(v), "acc");
    LLVMAddIncoming(p, &v, &from, 1);
    return p;
}

static void carry_load(struct gen *g, const struct gen_red *r, struct carried *c) {
    c->n = r->lanes / g->lanes;
    for (int i = 0; i < c->n; i++)
        c->begin[i] = gen_red_load(g, r, gen_i64(g, (int64_t)i * g->lanes), g->lanes);
}
static void carry_phi(struct gen *g, struct carried *c, LLVMBasicBlockRef pre, struct gen_acc *acc) {
    for (int i = 0; i < c->n; i++) {
        c->phi[i].value = phi_from(g, c->begin[i].value, pre);
        c->phi[i].index = phi_from(g, c->begin[i].index, pre);
        acc[i] = c->phi[i];
    }
}
static void carry_next(struct carried *c, LLVMBasicBlockRef latch, struct gen_acc *acc) {
    for (int i = 0; i < c->n; i++) {
        LLVMAddIncoming(c->phi[i].value, &acc[i].value, &latch, 1);
        if (acc[i].index) LLVMAddIncoming(c->phi[i].index, &acc[i].index, &latch, 1);
    }
}

static void block_loop(struct gen *g, struct block *k, LLVMValueRef from, LLVMValueRef to, bool registers) {
    struct gen_loop l;
    struct carried *c = registers ? ARENA_ARRAY(&g->arena, struct carried, g->nred) : NULL;
    k->acc = registers ? ARENA_ARRAY(&g->arena, struct gen_acc, g->nred * GEN_PARTS) : NULL;
    if (registers && (!c || !k->acc)) {
        gen_fail(g, "no memory");
        return;
    }
    gen_loop_head(g, &l, from, to);
    for (int i = 0; registers && i < g->nred; i++)
        if (steps_here(g, &g->red[i], k->sec, k->stage)) carry_load(g, &g->red[i], &c[i]);
    gen_loop_body(g, &l, from);
    for (int i = 0; registers && i < g->nred; i++)
        carry_phi(g, &c[i], l.pre, &k->acc[i * GEN_PARTS]);
    k->col = gen_loop_count(g, &l);
    emit_block(g, k);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(g->b);
    gen_loop_next(g, &l, (int64_t)k->parts * g->lanes);
    for (int i = 0; registers && i < g->nred; i++) {
        carry_next(&c[i], latch, &k->acc[i * GEN_PARTS]);
        for (int p = 0; p < c[i].n; p++)
            gen_red_save(g, &g->red[i], k->acc[i * GEN_PARTS + p], gen_i64(g, (int64_t)p * g->lanes), g->lanes);
    }
    gen_loop_end(g, &l);
}

// blocks that end beyond the range
static void tail_loop(struct gen *g, struct block *k, LLVMValueRef from, LLVMValueRef to) {
    struct gen_loop l;
    struct gen_tail tail[GEN_PARTS];
    gen_loop_head(g, &l, from, to);
    gen_loop_body(g, &l, from);
    k->col = gen_loop_count(g, &l);
    k->tail = tail;
    LLVMValueRef left = LLVMBuildSub(g->b, to, l.iv, "");
    for (int p = 0; p < k->parts; p++) {
        gen_tail_make(g, &tail[p], left, g->lanes);
        left = LLVMBuildSub(g->b, left, tail[p].rem, "");
    }
    emit_block(g, k);
    gen_loop_next(g, &l, (int64_t)k->parts * g->lanes);
    gen_loop_end(g, &l);
}

// from is a multiple of every count of lanes when reductions are in memory or registers (INNER)
void gen_stage(struct gen *g, const struct seg_section *sec, int stage, LLVMValueRef from, LLVMValueRef to) {
    struct shape s = shape_of(g, sec, stage);
    struct block k = {.sec = sec, .stage = stage, .parts = s.parts, .mixed = s.mixed};
    int64_t step = (int64_t)s.parts * g->lanes;
    LLVMValueRef n = LLVMBuildSub(g->b, to, from, "");
    LLVMValueRef whole = LLVMBuildAnd(g->b, n, gen_i64(g, -step), "");
    LLVMValueRef mid = LLVMBuildAdd(g->b, from, whole, "");
    block_loop(g, &k, from, mid, s.registers);
    bool together = calls_blocks(g, sec, stage); // a call costs the same for one part and for all
    if (!g->t.masks && s.parts > 1 && !together) { // partial vectors are slow here: whole ones as far as they go
        whole = LLVMBuildAnd(g->b, n, gen_i64(g, -g->lanes), "");
        LLVMValueRef end = LLVMBuildAdd(g->b, from, whole, "");
        k.parts = 1;
        block_loop(g, &k, mid, end, false);
        mid = end;
    }
    k = (struct block){sec, stage, together ? s.parts : 1, NULL, NULL, NULL, false};
    tail_loop(g, &k, mid, to);
}

// ---- ROW sections -------------------------------------------------------------------------------------------------
static void row_heavy(struct gen *g, int i) {
    const struct seg_op *op = &g->s->op[i];
    weft_dtype t = (weft_dtype)op->dtype;
    for (int a = 0; a < 3; a++)
        if (!g->one[a]) g->one[a] = gen_alloca(g, g->i64, 8);
    for (int a = 0; a < gen_arity(op); a++)
        gen_store(g, g->row[op->arg[a]], g->one[a + 1], t, 0, NULL);
    gen_kernel(g, op, g->one[0], g->one[1], gen_arity(op) == 2 ? g->one[2] : g->one[1], gen_i64(g, 1));
    g->row[i] = gen_load(g, g->one[0], t, 0, NULL);
}

static void row_value(struct gen *g, int i) {
    const struct seg_op *op = &g->s->op[i];
    LLVMMetadataRef before = gen_here(g, i);
    if (op->op == SEG_LOAD) {
        g->row[i] = gen_load(g, g->base[op->arg[0]], (weft_dtype)op->dtype, 0, NULL);
    } else if (gen_op_heavy(op)) {
        row_heavy(g, i);
    } else {
        LLVMValueRef args[3] = {NULL, NULL, NULL};
        for (int a = 0; a < gen_arity(op); a++)
            args[a] = g->row[op->arg[a]];
        g->row[i] = gen_op(g, op, 0, args);
    }
    gen_label(g, i, 0, g->row[i]);
    gen_there(g, before);
}

// Stores come last, and only where store_if (NULL: always) holds: a tile that is finished elsewhere, or
// will pass here again, must not write over what it still reads.
void gen_row_section(struct gen *g, const struct seg_section *sec, LLVMValueRef store_if) {
    int stores = 0;
    for (int i = sec->begin; i < sec->end; i++)
        if (g->s->op[i].op == SEG_STORE)
            stores++;
        else
            row_value(g, i);
    if (!stores) return;
    LLVMBasicBlockRef yes = NULL, after = NULL;
    if (store_if) {
        yes = gen_block_new(g, "store");
        after = gen_block_new(g, "stored");
        LLVMBuildCondBr(g->b, store_if, yes, after);
        gen_at(g, yes);
    }
    for (int i = sec->begin; i < sec->end; i++) {
        const struct seg_op *op = &g->s->op[i];
        if (op->op == SEG_STORE)
            gen_store(g, g->row[op->arg[0]], g->base[op->arg[1]], (weft_dtype)op->dtype, 0, NULL);
    }
    if (!store_if) return;
    LLVMBuildBr(g->b, after);
    gen_at(g, after);
}
