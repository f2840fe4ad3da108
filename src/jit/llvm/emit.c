// SPDX-License-Identifier: MIT
// The tile function: loops over rows, panels and leaves around the sections of a body.
//
// In: a checked body. Out: one function void(needs, tile) that serves every mode of its nest. Everything that
// varies (addresses, strides, extents, constants, kernels) comes through its two arguments, so the code
// refers to nothing outside itself. MAP: rows of [ROW] ELEM. INNER: rows; an ELEM section with reductions
// runs leaf by leaf, the counter combines leaves, the lanes fold. OUTER: panels of columns; leaves of
// rows; then FIN over the panel.
#include "gen.h"

#include <stddef.h>

static LLVMValueRef is_mode(struct gen *g, enum tile_mode m) {
    return LLVMBuildICmp(g->b, LLVMIntEQ, g->mode, LLVMConstInt(g->i32, m, 0), "");
}

static void rows_at(struct gen *g, LLVMValueRef r) {
    memset(g->row, 0, (size_t)g->s->nop * sizeof(LLVMValueRef));
    for (int i = 0; i < g->s->noperand; i++) {
        g->base[i] = g->addr[i];
        if (g->s->operand[i].late) continue;
        g->base[i] = gen_byte_at(g, g->addr[i], LLVMBuildMul(g->b, r, g->rstride[i], ""));
    }
}

static LLVMValueRef min_of(struct gen *g, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef less = LLVMBuildICmp(g->b, LLVMIntSLT, a, b, "");
    return LLVMBuildSelect(g->b, less, a, b, "");
}

static bool reduces(const struct gen *g, const struct seg_section *sec) {
    for (int i = sec->begin; i < sec->end; i++)
        if (g->s->op[i].op == SEG_REDUCE) return true;
    return false;
}

// ---- MAP ------------------------------------------------------------------------------------------------
static void emit_map(struct gen *g) {
    struct gen_loop l;
    gen_loop_head(g, &l, gen_i64(g, 0), g->rows);
    gen_loop_body(g, &l, gen_i64(g, 0));
    gen_loop_count(g, &l);
    rows_at(g, l.iv);
    for (int i = 0; i < g->s->nsection; i++) {
        const struct seg_section *sec = &g->s->section[i];
        if (sec->kind == SEG_ROW)
            gen_row_section(g, sec, NULL);
        else
            gen_span(g, sec, gen_i64(g, 0), g->cols);
    }
    gen_loop_next(g, &l, 1);
    gen_loop_end(g, &l);
}

// ---- reductions of either kind -------------------------------------------------------------------------------
static LLVMValueRef lanes_of(struct gen *g, const struct gen_red *r, LLVMValueRef panel) {
    return panel ? panel : gen_i64(g, r->lanes);
}

static void to_acc(struct gen *g, struct gen_red *r) {
    r->value_at = gen_scratch(g, r->acc);
    r->index_at = gen_scratch(g, r->acc + r->index);
}

static bool belongs(const struct gen_red *r, const struct seg_section *sec) {
    return !sec || (r->op >= sec->begin && r->op < sec->end);
}

// sec NULL: all reductions. panel NULL: the lanes of a leaf.
static void clear_all(struct gen *g, const struct seg_section *sec, LLVMValueRef panel) {
    for (int i = 0; i < g->nred; i++)
        if (belongs(&g->red[i], sec)) gen_red_clear(g, &g->red[i], lanes_of(g, &g->red[i], panel));
}

// when there are several leaves: pushes leaf `number`, makes room for the next
static void end_leaf(struct gen *g, const struct seg_section *sec, LLVMValueRef panel, LLVMValueRef many,
                     LLVMValueRef number) {
    LLVMBasicBlockRef push = gen_block_new(g, "push"), next = gen_block_new(g, "pushed");
    LLVMBuildCondBr(g->b, many, push, next);
    gen_at(g, push);
    for (int i = 0; i < g->nred; i++) {
        struct gen_red *r = &g->red[i];
        if (!belongs(r, sec)) continue;
        gen_red_push(g, r, lanes_of(g, r, panel), number);
        gen_red_clear(g, r, lanes_of(g, r, panel));
    }
    LLVMBuildBr(g->b, next);
    gen_at(g, next);
}

static void end_leaves(struct gen *g, const struct seg_section *sec, LLVMValueRef panel, LLVMValueRef many,
                       LLVMValueRef count) {
    LLVMBasicBlockRef flush = gen_block_new(g, "flush"), next = gen_block_new(g, "flushed");
    LLVMBuildCondBr(g->b, many, flush, next);
    gen_at(g, flush);
    for (int i = 0; i < g->nred; i++)
        if (belongs(&g->red[i], sec))
            gen_red_flush(g, &g->red[i], lanes_of(g, &g->red[i], panel), count);
    LLVMBuildBr(g->b, next);
    gen_at(g, next);
}

static LLVMValueRef leaf_count(struct gen *g, LLVMValueRef n, int64_t leaf) {
    LLVMValueRef up = LLVMBuildAdd(g->b, n, gen_i64(g, leaf - 1), "");
    return LLVMBuildSDiv(g->b, up, gen_i64(g, leaf), "");
}

// Where state k of the tile has its values and indices, for n lanes from lane `from` of `all`.
static void state_of(struct gen *g, int k, LLVMValueRef all, LLVMValueRef from, LLVMValueRef at[2]) {
    const struct gen_red *r = &g->red[k];
    LLVMValueRef size = gen_i64(g, (int64_t)dtype_size(r->type));
    LLVMValueRef p = LLVMBuildLoad2(g->b, g->ptr, gen_byte_at(g, g->state, gen_i64(g, 8 * k)), "state");
    LLVMValueRef pad = LLVMBuildAdd(g->b, LLVMBuildMul(g->b, all, size, ""), gen_i64(g, 63), "");
    pad = LLVMBuildAnd(g->b, pad, gen_i64(g, -64), "");
    at[0] = gen_elem_at(g, p, r->type, from);
    at[1] = gen_elem_at(g, gen_byte_at(g, p, pad), WEFT_I64, from);
}

static void save_state(struct gen *g, int k, LLVMValueRef all, LLVMValueRef from, LLVMValueRef n) {
    const struct gen_red *r = &g->red[k];
    LLVMValueRef at[2];
    state_of(g, k, all, from, at);
    LLVMValueRef size = gen_i64(g, (int64_t)dtype_size(r->type));
    gen_copy(g, at[0], gen_scratch(g, r->acc), LLVMBuildMul(g->b, n, size, ""));
    if (r->arg)
        gen_copy(g, at[1], gen_scratch(g, r->acc + r->index), LLVMBuildMul(g->b, n, gen_i64(g, 8), ""));
}

// ---- INNER --------------------------------------------------------------------------------------------------
static void inner_span_leaves(struct gen *g, const struct seg_section *sec) {
    LLVMValueRef leaf = gen_i64(g, KERN_RED_RUN), zero = gen_i64(g, 0);
    LLVMValueRef many = LLVMBuildICmp(g->b, LLVMIntSGT, g->cols, leaf, "many");
    clear_all(g, sec, NULL);
    struct gen_loop l;
    gen_loop_head(g, &l, zero, g->cols);
    gen_loop_body(g, &l, zero);
    gen_loop_count(g, &l);
    gen_span(g, sec, l.iv, min_of(g, LLVMBuildAdd(g->b, l.iv, leaf, ""), g->cols));
    end_leaf(g, sec, NULL, many, LLVMBuildSDiv(g->b, l.iv, leaf, ""));
    gen_loop_next(g, &l, KERN_RED_RUN);
    gen_loop_end(g, &l);
    end_leaves(g, sec, NULL, many, leaf_count(g, g->cols, KERN_RED_RUN));
}

static int count_reductions(const struct gen *g, const struct seg_section *sec) {
    int n = 0;
    for (int i = 0; i < g->nred; i++)
        n += belongs(&g->red[i], sec);
    return n;
}

// Several reductions take turns over pieces that stay in cache.
static void inner_pieces(struct gen *g, const struct seg_section *sec) {
    LLVMValueRef piece = gen_i64(g, GEN_PIECE), zero = gen_i64(g, 0);
    LLVMValueRef many = LLVMBuildICmp(g->b, LLVMIntSGT, g->cols, piece, "many");
    struct gen_loop l;
    gen_loop_head(g, &l, zero, g->cols);
    gen_loop_body(g, &l, zero);
    gen_loop_count(g, &l);
    LLVMValueRef n = min_of(g, LLVMBuildSub(g->b, g->cols, l.iv, ""), piece);
    for (int i = 0; i < g->nred; i++)
        if (belongs(&g->red[i], sec)) gen_run_call(g, &g->red[i], l.iv, n, g->run_stack);
    end_leaf(g, sec, NULL, many, LLVMBuildSDiv(g->b, l.iv, piece, ""));
    gen_loop_next(g, &l, GEN_PIECE);
    gen_loop_end(g, &l);
    end_leaves(g, sec, NULL, many, leaf_count(g, g->cols, GEN_PIECE));
}

// A row of one leaf at most is reduced in place, a longer one by calls.
static void inner_runs(struct gen *g, const struct seg_section *sec) {
    LLVMBasicBlockRef brief = gen_block_new(g, "brief"), longer = gen_block_new(g, "long");
    LLVMBasicBlockRef after = gen_block_new(g, "lanes");
    LLVMValueRef zero = gen_i64(g, 0);
    LLVMValueRef one = LLVMBuildICmp(g->b, LLVMIntSLE, g->cols, gen_i64(g, KERN_RED_RUN), "");
    LLVMBuildCondBr(g->b, one, brief, longer);
    gen_at(g, brief);
    clear_all(g, sec, NULL);
    gen_span(g, sec, zero, g->cols);
    LLVMBuildBr(g->b, after);
    gen_at(g, longer);
    if (count_reductions(g, sec) > 1)
        inner_pieces(g, sec);
    else
        for (int i = 0; i < g->nred; i++)
            if (belongs(&g->red[i], sec)) gen_run_call(g, &g->red[i], zero, g->cols, g->red[i].stack);
    LLVMBuildBr(g->b, after);
    gen_at(g, after);
}

static void inner_leaves(struct gen *g, const struct seg_section *sec) {
    if (gen_only_reduces(g, sec))
        inner_runs(g, sec);
    else
        inner_span_leaves(g, sec);
}

static void inner_results(struct gen *g, const struct seg_section *sec) {
    for (int i = 0; i < g->nred; i++) {
        const struct gen_red *r = &g->red[i];
        if (belongs(r, sec))
            g->row[r->op] = gen_load(g, r->slot, r->arg ? WEFT_I64 : r->type, 0, NULL);
    }
}

// The only ELEM section of its body: a tile may do the lanes only, or only what follows them.
static void inner_by_mode(struct gen *g, const struct seg_section *sec, LLVMBasicBlockRef row_done) {
    LLVMBasicBlockRef run = gen_block_new(g, "run"), partial = gen_block_new(g, "partial");
    LLVMBasicBlockRef full = gen_block_new(g, "full"), finish = gen_block_new(g, "finish");
    LLVMBasicBlockRef after = gen_block_new(g, "reduced");
    LLVMValueRef zero = gen_i64(g, 0), at[2];
    LLVMBuildCondBr(g->b, is_mode(g, TILE_FINISH), finish, run);
    gen_at(g, run);
    inner_leaves(g, sec);
    LLVMBuildCondBr(g->b, is_mode(g, TILE_PARTIAL), partial, full);
    gen_at(g, partial);
    for (int i = 0; i < g->nred; i++) {
        LLVMValueRef lanes = gen_i64(g, g->red[i].lanes);
        save_state(g, i, lanes, zero, lanes);
    }
    LLVMBuildBr(g->b, row_done);
    gen_at(g, full);
    for (int i = 0; i < g->nred; i++)
        gen_red_fold(g, &g->red[i], g->red[i].value_at, g->red[i].index_at);
    LLVMBuildBr(g->b, after);
    gen_at(g, finish);
    for (int i = 0; i < g->nred; i++) {
        state_of(g, i, gen_i64(g, g->red[i].lanes), zero, at);
        gen_red_fold(g, &g->red[i], at[0], at[1]);
    }
    LLVMBuildBr(g->b, after);
    gen_at(g, after);
}

static void inner_section(struct gen *g, const struct seg_section *sec, bool single, LLVMBasicBlockRef row_done) {
    if (!reduces(g, sec)) {
        gen_span(g, sec, gen_i64(g, 0), g->cols);
        return;
    }
    if (single) {
        inner_by_mode(g, sec, row_done);
    } else {
        inner_leaves(g, sec);
        for (int i = 0; i < g->nred; i++)
            if (belongs(&g->red[i], sec))
                gen_red_fold(g, &g->red[i], g->red[i].value_at, g->red[i].index_at);
    }
    inner_results(g, sec);
}

static void emit_inner(struct gen *g) {
    int elem = 0;
    for (int i = 0; i < g->s->nsection; i++)
        elem += g->s->section[i].kind == SEG_ELEM;
    for (int i = 0; i < g->nred; i++) {
        to_acc(g, &g->red[i]);
        g->red[i].slot = gen_alloca(g, g->i64, 8);
    }
    g->index = g->first;
    LLVMValueRef store_if = NULL;
    if (elem == 1) store_if = LLVMBuildNot(g->b, is_mode(g, TILE_PARTIAL), "");
    LLVMBasicBlockRef row_done = gen_block_new(g, "row_done");
    struct gen_loop l;
    gen_loop_head(g, &l, gen_i64(g, 0), g->rows);
    gen_loop_body(g, &l, gen_i64(g, 0));
    gen_loop_count(g, &l);
    rows_at(g, l.iv);
    for (int i = 0; i < g->s->nsection; i++) {
        const struct seg_section *sec = &g->s->section[i];
        if (sec->kind == SEG_ROW)
            gen_row_section(g, sec, store_if);
        else
            inner_section(g, sec, elem == 1, row_done);
    }
    LLVMBuildBr(g->b, row_done);
    gen_at(g, row_done);
    gen_loop_next(g, &l, 1);
    gen_loop_end(g, &l);
}

// ---- OUTER --------------------------------------------------------------------------------------------------
static void outer_row(struct gen *g, LLVMValueRef r, LLVMValueRef to, LLVMValueRef last_panel) {
    rows_at(g, r);
    g->index = LLVMBuildAdd(g->b, g->first, r, "");
    for (int i = 0; i < g->s->nsection; i++) {
        const struct seg_section *sec = &g->s->section[i];
        if (sec->kind == SEG_ROW)
            gen_row_section(g, sec, last_panel);
        else if (sec->kind == SEG_ELEM)
            gen_span(g, sec, g->span_from, to);
    }
}

static void outer_leaves(struct gen *g, LLVMValueRef to, LLVMValueRef n, LLVMValueRef last_panel) {
    LLVMValueRef leaf = gen_i64(g, KERN_RED_ROWS), zero = gen_i64(g, 0);
    LLVMValueRef many = LLVMBuildICmp(g->b, LLVMIntSGT, g->rows, leaf, "many");
    struct gen_loop l, r;
    clear_all(g, NULL, n);
    gen_loop_head(g, &l, zero, g->rows);
    gen_loop_body(g, &l, zero);
    gen_loop_count(g, &l);
    gen_loop_head(g, &r, l.iv, min_of(g, LLVMBuildAdd(g->b, l.iv, leaf, ""), g->rows));
    gen_loop_body(g, &r, l.iv);
    gen_loop_count(g, &r);
    outer_row(g, r.iv, to, last_panel);
    gen_loop_next(g, &r, 1);
    gen_loop_end(g, &r);
    end_leaf(g, NULL, n, many, LLVMBuildSDiv(g->b, l.iv, leaf, ""));
    gen_loop_next(g, &l, KERN_RED_ROWS);
    gen_loop_end(g, &l);
    end_leaves(g, NULL, n, many, leaf_count(g, g->rows, KERN_RED_ROWS));
}

static void outer_fin(struct gen *g, LLVMValueRef to) {
    memset(g->row, 0, (size_t)g->s->nop * sizeof(LLVMValueRef));
    memcpy(g->base, g->addr, (size_t)g->s->noperand * sizeof(LLVMValueRef));
    for (int i = 0; i < g->s->nsection; i++)
        if (g->s->section[i].kind == SEG_FIN) gen_span(g, &g->s->section[i], g->span_from, to);
}

// results of the panel: in the accumulators, or in the state of a tile that only finishes
static void outer_results(struct gen *g, LLVMBasicBlockRef full, LLVMBasicBlockRef finish,
                          LLVMBasicBlockRef after) {
    for (int i = 0; i < g->nred; i++) {
        struct gen_red *r = &g->red[i];
        LLVMValueRef acc[2], state[2], phi[2];
        gen_at(g, full);
        acc[0] = gen_scratch(g, r->acc);
        acc[1] = gen_scratch(g, r->acc + r->index);
        gen_at(g, finish);
        state_of(g, i, g->cols, g->span_from, state);
        gen_at(g, after);
        for (int k = 0; k < 2; k++) {
            phi[k] = LLVMBuildPhi(g->b, g->ptr, "");
            LLVMAddIncoming(phi[k], &acc[k], &full, 1);
            LLVMAddIncoming(phi[k], &state[k], &finish, 1);
        }
        r->value_at = phi[0], r->index_at = phi[1];
    }
    LLVMBasicBlockRef from[2] = {full, finish};
    for (int k = 0; k < 2; k++) {
        gen_at(g, from[k]);
        LLVMBuildBr(g->b, after);
    }
    gen_at(g, after);
}

static void outer_panel(struct gen *g, LLVMValueRef to, LLVMValueRef n, LLVMBasicBlockRef done) {
    LLVMBasicBlockRef run = gen_block_new(g, "run"), partial = gen_block_new(g, "partial");
    LLVMBasicBlockRef full = gen_block_new(g, "full"), finish = gen_block_new(g, "finish");
    LLVMBasicBlockRef after = gen_block_new(g, "fin");
    LLVMValueRef last = LLVMBuildICmp(g->b, LLVMIntSGE, to, g->cols, "");
    LLVMBuildCondBr(g->b, is_mode(g, TILE_FINISH), finish, run);
    gen_at(g, run);
    for (int i = 0; i < g->nred; i++)
        to_acc(g, &g->red[i]);
    if (gen_only_reduces_columns(g))
        gen_columns_call(g, &g->red[0], n);
    else
        outer_leaves(g, to, n, last);
    LLVMBuildCondBr(g->b, is_mode(g, TILE_PARTIAL), partial, full);
    gen_at(g, partial);
    for (int i = 0; i < g->nred; i++)
        save_state(g, i, g->cols, g->span_from, n);
    LLVMBuildBr(g->b, done);
    outer_results(g, full, finish, after);
    outer_fin(g, to);
    LLVMBuildBr(g->b, done);
}

static void emit_outer(struct gen *g) {
    LLVMBasicBlockRef done = gen_block_new(g, "panel_done");
    struct gen_loop l;
    gen_loop_head(g, &l, gen_i64(g, 0), g->cols);
    gen_loop_body(g, &l, gen_i64(g, 0));
    gen_loop_count(g, &l);
    g->span_from = l.iv;
    LLVMValueRef to = min_of(g, LLVMBuildAdd(g->b, l.iv, gen_i64(g, g->panel), ""), g->cols);
    outer_panel(g, to, LLVMBuildSub(g->b, to, l.iv, ""), done);
    gen_at(g, done);
    gen_loop_next(g, &l, g->panel);
    gen_loop_end(g, &l);
}

// ---- the function ----------------------------------------------------------------------------------------------
static LLVMValueRef field(struct gen *g, LLVMValueRef tile, LLVMTypeRef t, size_t offset, const char *name) {
    return LLVMBuildLoad2(g->b, t, gen_byte_at(g, tile, gen_i64(g, (int64_t)offset)), name);
}

// Bodies that wait for memory, where it pays to store past the caches.
static bool is_thin(const struct gen *g) {
    int work = 0;
    for (int i = 0; i < g->s->nop; i++)
        work += g->s->op[i].op < SEG_LOAD;
    return g->s->mode == NEST_MAP && work <= 32;
}

static void load_tile(struct gen *g) {
    LLVMValueRef tile = LLVMGetParam(g->fn, 1);
    g->needs = LLVMGetParam(g->fn, 0);
    g->cols = field(g, tile, g->i64, offsetof(struct tile, cols), "cols");
    g->rows = field(g, tile, g->i64, offsetof(struct tile, rows), "rows");
    g->first = field(g, tile, g->i64, offsetof(struct tile, first), "first");
    g->mode = field(g, tile, g->i32, offsetof(struct tile, mode), "mode");
    g->state = field(g, tile, g->ptr, offsetof(struct tile, state), "states");
    g->scratch = field(g, tile, g->ptr, offsetof(struct tile, scratch), "scratch");
    if (is_thin(g)) {
        LLVMValueRef word = field(g, tile, g->i32, offsetof(struct tile, stream), "stream");
        g->stream = LLVMBuildICmp(g->b, LLVMIntNE, word, LLVMConstInt(g->i32, 0, 0), "");
    }
    LLVMValueRef ptrs = field(g, tile, g->ptr, offsetof(struct tile, ptr), "ptrs");
    LLVMValueRef strides = field(g, tile, g->ptr, offsetof(struct tile, rstride), "rstrides");
    for (int i = 0; i < g->s->noperand; i++) {
        g->addr[i] = field(g, ptrs, g->ptr, (size_t)i * 8, "");
        if (!g->s->operand[i].late) g->rstride[i] = field(g, strides, g->i64, (size_t)i * 8, "");
    }
}

static bool get_tables(struct gen *g) {
    size_t nop = (size_t)g->s->nop, nval = nop * GEN_PARTS, nopnd = (size_t)g->s->noperand;
    struct base_arena *a = &g->arena;
    g->row = ARENA_ARRAY(a, LLVMValueRef, nop);
    g->splat = ARENA_ARRAY(a, LLVMValueRef, nop);
    g->val = ARENA_ARRAY(a, LLVMValueRef, nval);
    g->level = ARENA_ARRAY(a, int16_t, nop);
    g->slot = ARENA_ARRAY(a, int16_t, nop);
    g->red_of = ARENA_ARRAY(a, int, nop);
    g->addr = ARENA_ARRAY(a, LLVMValueRef, nopnd);
    g->rstride = ARENA_ARRAY(a, LLVMValueRef, nopnd);
    g->base = ARENA_ARRAY(a, LLVMValueRef, nopnd);
    g->red = ARENA_ARRAY(a, struct gen_red, nop);
    bool ok = g->row && g->splat && g->val && g->level && g->slot && g->red_of && g->addr && g->rstride &&
              g->base && g->red;
    if (!ok) gen_fail(g, "no memory");
    return ok;
}

static void find_reductions(struct gen *g) {
    for (int i = 0; i < g->s->nop; i++) {
        const struct seg_op *op = &g->s->op[i];
        if (op->op != SEG_REDUCE) continue;
        enum kern_red k = (enum kern_red)op->arg[1];
        g->red_of[i] = g->nred;
        g->red[g->nred++] = (struct gen_red){
            .op = i, .kind = k, .type = (weft_dtype)op->in_type, .arg = kern_red_is_arg(k)};
    }
}

// Strips lie at the start of scratch; how many there are is known before anything is emitted.
static void plan_scratch(struct gen *g) {
    for (int i = 0; i < g->s->nsection; i++)
        if (g->s->section[i].kind != SEG_ROW) gen_stage_plan(g, &g->s->section[i]);
    gen_scratch_take(g, (size_t)g->nslot * GEN_STRIP * 8);
    gen_red_plan(g);
    g->run_stack = gen_scratch_take(g, GEN_PIECE_STATES);
    g->out->scratch = g->scratch_used;
}

bool gen_tile(struct gen *g, const char *name) {
    if (!gen_check(g) || !get_tables(g)) return false;
    g->i1 = LLVMInt1TypeInContext(g->ctx);
    g->i8 = LLVMInt8TypeInContext(g->ctx);
    g->i32 = LLVMInt32TypeInContext(g->ctx);
    g->i64 = LLVMInt64TypeInContext(g->ctx);
    g->ptr = LLVMPointerTypeInContext(g->ctx, 0);
    find_reductions(g);
    plan_scratch(g);
    LLVMTypeRef args[2] = {g->ptr, g->ptr};
    LLVMTypeRef t = LLVMFunctionType(LLVMVoidTypeInContext(g->ctx), args, 2, 0);
    g->fn = LLVMAddFunction(g->mod, name, t);
    gen_label_begin(g);
    g->entry = gen_block_new(g, "entry");
    gen_at(g, g->entry);
    load_tile(g);
    if (g->s->mode == NEST_MAP)
        emit_map(g);
    else if (g->s->mode == NEST_INNER)
        emit_inner(g);
    else
        emit_outer(g);
    LLVMBuildRetVoid(g->b);
    for (LLVMValueRef f = LLVMGetFirstFunction(g->mod); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) gen_attributes(g, f);
    return !g->failed;
}
