// SPDX-License-Identifier: MIT
// Reductions in the fixed tree of kern.h: identities, steps, the binary counter and the fold of lanes.
//
// In: vectors of elements. Out: the same bits as kern_red_*, since every combination of two partial
// results happens between the same two and in the same order (older OP newer). States live in tile.scratch:
// one accumulator and GEN_LEVELS places of the counter for each reduction, padded so that the helpers
// work in whole vectors. Lanes that do not exist keep their accumulators. An arg-reduction carries
// the index beside the value; INT64_MAX marks a lane that has seen nothing.
#include "gen.h"

#include <stdio.h>

static enum ir_op op_of(enum kern_red k) {
    static const enum ir_op op[] = {[KERN_SUM] = IR_add,     [KERN_PROD] = IR_mul,
                                    [KERN_MIN] = IR_minimum, [KERN_MAX] = IR_maximum,
                                    [KERN_FMIN] = IR_fmin,   [KERN_FMAX] = IR_fmax,
                                    [KERN_ANY] = IR_add,     [KERN_ALL] = IR_mul};
    return op[k];
}
static bool wants_least(enum kern_red k) { return k == KERN_ARGMIN || k == KERN_NANARGMIN; }
static bool skips_nan(const struct gen_red *r) { return r->kind >= KERN_NANARGMIN && dtype_is_float(r->type); }

// ---- places ----------------------------------------------------------------------------------------------
static void plan_one(struct gen_red *r, int lanes) {
    r->lanes = lanes;
    r->index = ((size_t)lanes * dtype_size(r->type) + 63) & ~(size_t)63;
    r->bytes = r->index + (r->arg ? (size_t)lanes * 8 : 0);
}

void gen_red_plan(struct gen *g) {
    size_t total = SIZE_MAX;
    for (g->panel = GEN_PANEL; total > (384 << 10) && g->panel >= 64; g->panel /= 2) {
        total = 0;
        for (int i = 0; i < g->nred; i++) {
            struct gen_red *r = &g->red[i];
            bool inner = g->s->mode == NEST_INNER;
            plan_one(r, !inner ? g->panel : r->arg ? 32 : kern_red_lanes(r->type));
            total += r->bytes * (GEN_LEVELS + 1);
        }
    }
    g->panel *= 2;
    for (int i = 0; i < g->nred; i++) {
        g->red[i].acc = gen_scratch_take(g, g->red[i].bytes);
        g->red[i].stack = gen_scratch_take(g, g->red[i].bytes * GEN_LEVELS);
    }
}

// ---- one vector ---------------------------------------------------------------------------------------------
static LLVMValueRef identity_value(struct gen *g, const struct gen_red *r, int lanes) {
    weft_dtype t = r->type;
    bool f = dtype_is_float(t);
    double inf = (double)__builtin_inff();
    switch (r->kind) {
    case KERN_SUM: return f ? gen_flt(g, t, lanes, -0.0) : gen_int(g, t, lanes, 0);
    case KERN_PROD: return f ? gen_flt(g, t, lanes, 1.0) : gen_int(g, t, lanes, 1);
    case KERN_MIN: return f ? gen_flt(g, t, lanes, inf) : gen_int(g, t, lanes, gen_int_max(t));
    case KERN_MAX: return f ? gen_flt(g, t, lanes, -inf) : gen_int(g, t, lanes, gen_int_min(t));
    case KERN_FMIN:
        return f ? gen_flt(g, t, lanes, (double)__builtin_nanf("")) : gen_int(g, t, lanes, gen_int_max(t));
    case KERN_FMAX:
        return f ? gen_flt(g, t, lanes, (double)__builtin_nanf("")) : gen_int(g, t, lanes, gen_int_min(t));
    case KERN_ALL: return gen_int(g, t, lanes, 1);
    default: return LLVMConstNull(gen_type(g, t, lanes));
    }
}

static LLVMValueRef none(struct gen *g, int lanes) { return gen_int(g, WEFT_I64, lanes, INT64_MAX); }

struct gen_acc gen_red_identity(struct gen *g, const struct gen_red *r, int lanes) {
    return (struct gen_acc){identity_value(g, r, lanes), r->arg ? none(g, lanes) : NULL};
}

struct gen_acc gen_red_load(struct gen *g, const struct gen_red *r, LLVMValueRef at, int lanes) {
    struct gen_acc a = {gen_load(g, gen_elem_at(g, r->value_at, r->type, at), r->type, lanes, NULL), NULL};
    if (r->arg)
        a.index = gen_load(g, gen_elem_at(g, r->index_at, WEFT_I64, at), WEFT_I64, lanes, NULL);
    return a;
}

void gen_red_save(struct gen *g, const struct gen_red *r, struct gen_acc a, LLVMValueRef at, int lanes) {
    gen_store(g, a.value, gen_elem_at(g, r->value_at, r->type, at), r->type, lanes, NULL);
    if (r->arg) gen_store(g, a.index, gen_elem_at(g, r->index_at, WEFT_I64, at), WEFT_I64, lanes, NULL);
}

// a is better than b, both numbers or, where NaN wins, a alone is NaN
static LLVMValueRef is_better(struct gen *g, const struct gen_red *r, LLVMValueRef a, LLVMValueRef b) {
    bool least = wants_least(r->kind);
    if (!dtype_is_float(r->type)) {
        LLVMIntPredicate p = dtype_is_signed(r->type) ? (least ? LLVMIntSLT : LLVMIntSGT)
                                                      : (least ? LLVMIntULT : LLVMIntUGT);
        return LLVMBuildICmp(g->b, p, a, b, "");
    }
    LLVMValueRef c = LLVMBuildFCmp(g->b, least ? LLVMRealOLT : LLVMRealOGT, a, b, "");
    if (skips_nan(r)) return c;
    LLVMValueRef an = LLVMBuildFCmp(g->b, LLVMRealUNO, a, a, "");
    LLVMValueRef bn = LLVMBuildFCmp(g->b, LLVMRealORD, b, b, "");
    return LLVMBuildOr(g->b, c, LLVMBuildAnd(g->b, an, bn, ""), "");
}

static LLVMValueRef is_tie(struct gen *g, const struct gen_red *r, LLVMValueRef a, LLVMValueRef b) {
    if (!dtype_is_float(r->type)) return LLVMBuildICmp(g->b, LLVMIntEQ, a, b, "");
    LLVMValueRef c = LLVMBuildFCmp(g->b, LLVMRealOEQ, a, b, "");
    LLVMValueRef an = LLVMBuildFCmp(g->b, LLVMRealUNO, a, a, "");
    LLVMValueRef bn = LLVMBuildFCmp(g->b, LLVMRealUNO, b, b, "");
    return LLVMBuildOr(g->b, c, LLVMBuildAnd(g->b, an, bn, ""), "");
}

static struct gen_acc choose(struct gen *g, LLVMValueRef take, struct gen_acc yes, struct gen_acc no) {
    return (struct gen_acc){LLVMBuildSelect(g->b, take, yes.value, no.value, ""),
                            LLVMBuildSelect(g->b, take, yes.index, no.index, "")};
}

static struct gen_acc combine(struct gen *g, const struct gen_red *r, int lanes, struct gen_acc older,
                              struct gen_acc newer) {
    if (!r->arg)
        return (struct gen_acc){gen_op2(g, op_of(r->kind), r->type, lanes, older.value, newer.value), NULL};
    LLVMValueRef earlier = LLVMBuildICmp(g->b, LLVMIntSLT, newer.index, older.index, "");
    LLVMValueRef take = LLVMBuildAnd(g->b, is_tie(g, r, newer.value, older.value), earlier, "");
    take = LLVMBuildOr(g->b, take, is_better(g, r, newer.value, older.value), "");
    LLVMValueRef empty = LLVMBuildICmp(g->b, LLVMIntEQ, older.index, none(g, lanes), "");
    take = LLVMBuildOr(g->b, take, empty, "");
    LLVMValueRef full = LLVMBuildICmp(g->b, LLVMIntNE, newer.index, none(g, lanes), "");
    return choose(g, LLVMBuildAnd(g->b, take, full, ""), newer, older);
}

struct gen_acc gen_red_step(struct gen *g, const struct gen_red *r, int lanes, struct gen_acc acc,
                            LLVMValueRef x, LLVMValueRef index, const struct gen_tail *m) {
    if (!r->arg) {
        struct gen_acc n = combine(g, r, lanes, acc, (struct gen_acc){x, NULL});
        if (m) n.value = LLVMBuildSelect(g->b, m->mask, n.value, acc.value, "");
        return n;
    }
    // a lane sees its elements in order: a tie never takes over
    LLVMValueRef at = gen_splat(g, index, lanes);
    if (g->s->mode == NEST_INNER) at = LLVMBuildAdd(g->b, at, gen_count(g, g->i64, lanes), "");
    LLVMValueRef empty = LLVMBuildICmp(g->b, LLVMIntEQ, acc.index, none(g, lanes), "");
    LLVMValueRef take = LLVMBuildOr(g->b, is_better(g, r, x, acc.value), empty, "");
    if (skips_nan(r)) take = LLVMBuildAnd(g->b, take, LLVMBuildFCmp(g->b, LLVMRealORD, x, x, ""), "");
    if (m) take = LLVMBuildAnd(g->b, take, m->mask, "");
    return choose(g, take, (struct gen_acc){x, at}, acc);
}

// ---- states in memory -----------------------------------------------------------------------------------------
static int helper_lanes(const struct gen *g, const struct gen_red *r) {
    return g->t.vector / (r->arg ? 8 : (int)dtype_size(r->type));
}

// a view of r whose accumulator is the state at p
static struct gen_red state_at(struct gen *g, const struct gen_red *r, LLVMValueRef p) {
    struct gen_red s = *r;
    s.value_at = p;
    s.index_at = gen_byte_at(g, p, gen_i64(g, (int64_t)r->index));
    return s;
}

enum walk { CLEAR, COPY, COMBINE }; // to = identity; to = from; to = from OP to
static void walk_state(struct gen *g, enum walk how, const struct gen_red *to, const struct gen_red *from,
                       LLVMValueRef n) {
    int w = helper_lanes(g, to);
    struct gen_loop l;
    gen_loop_head(g, &l, gen_i64(g, 0), n);
    gen_loop_body(g, &l, gen_i64(g, 0));
    gen_loop_count(g, &l);
    struct gen_acc a = how == CLEAR ? gen_red_identity(g, to, w) : gen_red_load(g, from, l.iv, w);
    if (how == COMBINE) a = combine(g, to, w, a, gen_red_load(g, to, l.iv, w));
    gen_red_save(g, to, a, l.iv, w);
    gen_loop_next(g, &l, w);
    gen_loop_end(g, &l);
}

void gen_red_clear(struct gen *g, struct gen_red *r, LLVMValueRef n) {
    if (g->s->mode == NEST_OUTER) {
        walk_state(g, CLEAR, r, NULL, n);
        return;
    }
    int w = helper_lanes(g, r); // a fixed few vectors: no loop
    for (int i = 0; i < r->lanes; i += w)
        gen_red_save(g, r, gen_red_identity(g, r, w), gen_i64(g, i), w);
}

static LLVMValueRef level_at(struct gen *g, const struct gen_red *r, LLVMValueRef stack, LLVMValueRef level) {
    return gen_byte_at(g, stack, LLVMBuildMul(g->b, level, gen_i64(g, (int64_t)r->bytes), ""));
}

// push(stack, acc, n, number)
static void make_push(struct gen *g, struct gen_red *r, const char *name) {
    struct gen_saved saved;
    r->push = gen_helper_begin(g, name, 2, 2, &saved);
    LLVMValueRef stack = LLVMGetParam(r->push, 0), n = LLVMGetParam(r->push, 2);
    struct gen_red acc = state_at(g, r, LLVMGetParam(r->push, 1));
    LLVMBasicBlockRef pre = LLVMGetInsertBlock(g->b), head = gen_block_new(g, "head");
    LLVMBasicBlockRef more = gen_block_new(g, "more"), place = gen_block_new(g, "place");
    LLVMBuildBr(g->b, head);
    gen_at(g, head);
    LLVMValueRef level = LLVMBuildPhi(g->b, g->i64, ""), bits = LLVMBuildPhi(g->b, g->i64, "");
    LLVMValueRef begin[2] = {gen_i64(g, 0), LLVMGetParam(r->push, 3)};
    LLVMAddIncoming(level, &begin[0], &pre, 1);
    LLVMAddIncoming(bits, &begin[1], &pre, 1);
    struct gen_red at = state_at(g, r, level_at(g, r, stack, level));
    LLVMValueRef odd = LLVMBuildTrunc(g->b, bits, g->i1, "");
    LLVMBuildCondBr(g->b, odd, more, place);
    gen_at(g, more);
    walk_state(g, COMBINE, &acc, &at, n);
    LLVMValueRef up = LLVMBuildAdd(g->b, level, gen_i64(g, 1), "");
    LLVMValueRef rest = LLVMBuildLShr(g->b, bits, gen_i64(g, 1), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(g->b);
    LLVMAddIncoming(level, &up, &latch, 1);
    LLVMAddIncoming(bits, &rest, &latch, 1);
    LLVMBuildBr(g->b, head);
    gen_at(g, place);
    walk_state(g, COPY, &at, &acc, n);
    gen_helper_end(g, &saved);
}

static LLVMValueRef lowest_bit(struct gen *g, LLVMValueRef v) {
    LLVMValueRef args[2] = {v, LLVMConstInt(g->i1, 1, 0)};
    return gen_call(g, "llvm.cttz", g->i64, args, 2);
}
static LLVMValueRef without_lowest(struct gen *g, LLVMValueRef v) {
    return LLVMBuildAnd(g->b, v, LLVMBuildSub(g->b, v, gen_i64(g, 1), ""), "");
}

// flush(stack, acc, n, count): the newest state is that of the lowest bit
static void make_flush(struct gen *g, struct gen_red *r, const char *name) {
    struct gen_saved saved;
    r->flush = gen_helper_begin(g, name, 2, 2, &saved);
    LLVMValueRef stack = LLVMGetParam(r->flush, 0), n = LLVMGetParam(r->flush, 2);
    LLVMValueRef count = LLVMGetParam(r->flush, 3), zero = gen_i64(g, 0);
    struct gen_red acc = state_at(g, r, LLVMGetParam(r->flush, 1));
    LLVMBasicBlockRef empty = gen_block_new(g, "empty"), some = gen_block_new(g, "some");
    LLVMBasicBlockRef head = gen_block_new(g, "head"), more = gen_block_new(g, "more");
    LLVMBasicBlockRef done = gen_block_new(g, "done");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, count, zero, ""), empty, some);
    gen_at(g, empty);
    walk_state(g, CLEAR, &acc, NULL, n);
    LLVMBuildBr(g->b, done);
    gen_at(g, some);
    struct gen_red newest = state_at(g, r, level_at(g, r, stack, lowest_bit(g, count)));
    walk_state(g, COPY, &acc, &newest, n);
    LLVMValueRef rest = without_lowest(g, count);
    LLVMBasicBlockRef pre = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, head);
    gen_at(g, head);
    LLVMValueRef bits = LLVMBuildPhi(g->b, g->i64, "");
    LLVMAddIncoming(bits, &rest, &pre, 1);
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, bits, zero, ""), done, more);
    gen_at(g, more);
    struct gen_red at = state_at(g, r, level_at(g, r, stack, lowest_bit(g, bits)));
    walk_state(g, COMBINE, &acc, &at, n);
    rest = without_lowest(g, bits);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(g->b);
    LLVMAddIncoming(bits, &rest, &latch, 1);
    LLVMBuildBr(g->b, head);
    gen_at(g, done);
    gen_helper_end(g, &saved);
}

static LLVMValueRef half(struct gen *g, LLVMValueRef v, int w, bool upper) {
    if (w == 1) return LLVMBuildExtractElement(g->b, v, LLVMConstInt(g->i32, upper, 0), "");
    LLVMValueRef mask[64];
    for (int i = 0; i < w; i++)
        mask[i] = LLVMConstInt(g->i32, (unsigned)(upper ? w + i : i), 0);
    return LLVMBuildShuffleVector(g->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(mask, (unsigned)w), "");
}

// fold(values, indices, out): lanes combine by halves
static void make_fold(struct gen *g, struct gen_red *r, const char *name) {
    struct gen_saved saved;
    r->fold = gen_helper_begin(g, name, 3, 0, &saved);
    struct gen_red at = *r;
    at.value_at = LLVMGetParam(r->fold, 0);
    at.index_at = LLVMGetParam(r->fold, 1);
    struct gen_acc a = gen_red_load(g, &at, gen_i64(g, 0), r->lanes);
    for (int w = r->lanes / 2; w >= 1; w /= 2) {
        struct gen_acc lo = {half(g, a.value, w, false), NULL}, hi = {half(g, a.value, w, true), NULL};
        if (r->arg) {
            lo.index = half(g, a.index, w, false);
            hi.index = half(g, a.index, w, true);
        }
        a = combine(g, r, w == 1 ? 0 : w, lo, hi);
    }
    LLVMValueRef to = LLVMGetParam(r->fold, 2);
    if (r->arg) {
        LLVMValueRef empty = LLVMBuildICmp(g->b, LLVMIntEQ, a.index, none(g, 0), "");
        gen_store(g, LLVMBuildSelect(g->b, empty, gen_i64(g, -1), a.index, ""), to, WEFT_I64, 0, NULL);
    } else {
        gen_store(g, a.value, to, r->type, 0, NULL);
    }
    gen_helper_end(g, &saved);
}

// Helpers are shared by reductions of one kind and type: their states look alike.
static void need_helpers(struct gen *g, struct gen_red *r) {
    if (r->push) return;
    for (struct gen_red *o = g->red; o < r; o++) {
        if (o->kind != r->kind || o->type != r->type || !o->push) continue;
        r->push = o->push, r->flush = o->flush, r->fold = o->fold;
        return;
    }
    char name[32];
    int i = (int)(r - g->red);
    snprintf(name, sizeof name, "push%d", i);
    make_push(g, r, name);
    snprintf(name, sizeof name, "flush%d", i);
    make_flush(g, r, name);
    if (g->s->mode != NEST_INNER) return;
    snprintf(name, sizeof name, "fold%d", i);
    make_fold(g, r, name);
}

static void call_helper(struct gen *g, LLVMValueRef f, LLVMValueRef *args, int n) {
    LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, args, (unsigned)n, "");
}

void gen_red_push(struct gen *g, struct gen_red *r, LLVMValueRef n, LLVMValueRef number) {
    need_helpers(g, r);
    LLVMValueRef args[4] = {gen_scratch(g, r->stack), gen_scratch(g, r->acc), n, number};
    call_helper(g, r->push, args, 4);
}

void gen_red_flush(struct gen *g, struct gen_red *r, LLVMValueRef n, LLVMValueRef count) {
    need_helpers(g, r);
    LLVMValueRef args[4] = {gen_scratch(g, r->stack), gen_scratch(g, r->acc), n, count};
    call_helper(g, r->flush, args, 4);
}

void gen_red_fold(struct gen *g, struct gen_red *r, LLVMValueRef values, LLVMValueRef indices) {
    need_helpers(g, r);
    LLVMValueRef args[3] = {values, indices, r->slot};
    call_helper(g, r->fold, args, 3);
}
