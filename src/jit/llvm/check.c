// SPDX-License-Identifier: MIT
// What the emitters take for granted about a body, tested before any of them runs.
//
// In: a body from another room. Out: true, or a sentence that names the instruction. LLVM ends the process
// when it is handed nonsense, so nonsense must not reach it: references, visibility, types and places are
// all looked at here, and only here.
#include "gen.h"

static bool bad(struct gen *g, int i, const char *why) {
    gen_fail(g, "instruction %d of the body (code %d): %s", i, g->s->op[i].op, why);
    return false;
}

static enum ir_rule rule_of(uint8_t op) {
#define ARITH RULE_ARITH
#define FLOAT RULE_FLOAT
#define INTS RULE_INTS
#define SHIFT RULE_SHIFT
#define COMPARE RULE_COMPARE
#define LOGIC RULE_LOGIC
#define PRED RULE_PRED
#define KEEP RULE_KEEP
#define WHERE RULE_WHERE
#define CAST RULE_CAST
#define WORD RULE_WORD
    static const uint8_t rule[IR_OP__N] = {
#define MAP(name, arity, rule, ...) [IR_##name] = rule,
#include "../../ir/ops.def"
    };
    return (enum ir_rule)rule[op];
}

static bool types_fit(const struct seg_op *op) {
    weft_dtype t = (weft_dtype)op->dtype, in = (weft_dtype)op->in_type;
    if (rule_of(op->op) != RULE_CAST && !(dtype_is_computed(t) && dtype_is_computed(in))) return false;
    if (gen_op_heavy(op) && (in == WEFT_BOOL || t != in)) return false;
    switch (rule_of(op->op)) {
    case RULE_FLOAT: return t == in && dtype_is_float(in);
    case RULE_INTS: return t == in && !dtype_is_float(in);
    case RULE_SHIFT: return t == in && dtype_is_int(in);
    case RULE_COMPARE:
    case RULE_PRED: return t == WEFT_BOOL;
    case RULE_LOGIC: return t == WEFT_BOOL && in == WEFT_BOOL;
    case RULE_CAST: return !dtype_is_complex(t) && !dtype_is_complex(in) &&
                           (!(dtype_is_half(t) || dtype_is_half(in)) || gen_half_castable(in, t));
    case RULE_WORD: return t == WEFT_U64 && in == WEFT_U64;
    default: return t == in;
    }
}

static const struct seg_section *section_of(const struct seg *s, int i) {
    for (int k = 0; k < s->nsection; k++)
        if (i >= s->section[k].begin && i < s->section[k].end) return &s->section[k];
    return NULL;
}

static weft_dtype value_type(const struct seg_op *op) { return (weft_dtype)op->dtype; }

static bool value_visible(const struct seg *s, const struct seg_section *at, int user, int v) {
    if (v >= user || s->op[v].op == SEG_STORE) return false;
    const struct seg_section *of = section_of(s, v);
    bool reduced = s->op[v].op == SEG_REDUCE;
    if (of == at) return !reduced;
    if (at->kind == SEG_FIN) return reduced;
    return of->kind == SEG_ROW || (reduced && s->mode == NEST_INNER);
}

static bool check_map(struct gen *g, const struct seg_section *at, int i) {
    const struct seg_op *op = &g->s->op[i];
    if (!gen_op_known(g, op)) return bad(g, i, "the operation has no machine code at this instruction set");
    if (!types_fit(op)) return bad(g, i, "the operation is not defined for these types");
    for (int a = 0; a < gen_arity(op); a++) {
        if (!value_visible(g->s, at, i, op->arg[a])) return bad(g, i, "it uses a value it cannot see");
        weft_dtype want = op->op == IR_where && a == 0 ? WEFT_BOOL : (weft_dtype)op->in_type;
        if (value_type(&g->s->op[op->arg[a]]) != want) return bad(g, i, "an operand has another type");
    }
    return true;
}

static bool check_operand(struct gen *g, const struct seg_section *at, int i, int operand, bool out) {
    const struct seg *s = g->s;
    if (operand >= s->noperand) return bad(g, i, "there is no such operand");
    const struct nest_operand *o = &s->operand[operand];
    if (o->dtype != s->op[i].dtype) return bad(g, i, "the operand has another type");
    bool row = at->kind == SEG_ROW;
    if (row && o->cls != NEST_SCALAR) return bad(g, i, "a row section touches a vector");
    if (out && !row && o->cls != NEST_UNIT) return bad(g, i, "a vector is stored to a scalar");
    if (at->kind == SEG_FIN && !o->late && s->op[i].op == SEG_STORE)
        return bad(g, i, "a result of columns goes to an operand that has rows");
    return true;
}

static bool check_reduce(struct gen *g, const struct seg_section *at, int i) {
    const struct seg_op *op = &g->s->op[i];
    if (at->kind != SEG_ELEM || g->s->mode == NEST_MAP) return bad(g, i, "a reduction has no place here");
    if (op->arg[1] >= KERN_RED__N) return bad(g, i, "there is no such reduction");
    enum kern_red k = (enum kern_red)op->arg[1];
    if (!dtype_is_computed((weft_dtype)op->in_type)) return bad(g, i, "the reduction is not defined for its type");
    if (op->dtype != (kern_red_is_arg(k) ? WEFT_I64 : op->in_type)) return bad(g, i, "its result has another type");
    if ((k == KERN_ANY || k == KERN_ALL) && op->in_type != WEFT_BOOL) return bad(g, i, "it needs bool");
    if (!value_visible(g->s, at, i, op->arg[0])) return bad(g, i, "it uses a value it cannot see");
    if (g->s->op[op->arg[0]].dtype != op->in_type) return bad(g, i, "its operand has another type");
    return true;
}

static bool check_op(struct gen *g, const struct seg_section *at, int i) {
    const struct seg_op *op = &g->s->op[i];
    if (op->dtype >= WEFT_DTYPE__N) return bad(g, i, "there is no such type");
    if (op->op == SEG_LOAD) return check_operand(g, at, i, op->arg[0], false);
    if (op->op == SEG_STORE) {
        if (!value_visible(g->s, at, i, op->arg[0])) return bad(g, i, "it uses a value it cannot see");
        if (g->s->op[op->arg[0]].dtype != op->dtype) return bad(g, i, "the value has another type");
        return check_operand(g, at, i, op->arg[1], true);
    }
    if (op->in_type >= WEFT_DTYPE__N) return bad(g, i, "there is no such type");
    return op->op == SEG_REDUCE ? check_reduce(g, at, i) : check_map(g, at, i);
}

bool gen_check(struct gen *g) {
    const struct seg *s = g->s;
    if (s->nop < 0 || s->nop > SEG_MAX_OPS || s->nsection < 0 || s->nsection > SEG_MAX_SECTIONS) {
        gen_fail(g, "the body is too large: %d instructions in %d sections", s->nop, s->nsection);
        return false;
    }
    int at = 0;
    for (int k = 0; k < s->nsection; k++) {
        const struct seg_section *sec = &s->section[k];
        if (sec->begin != at || sec->end < sec->begin || sec->end > s->nop || sec->kind > SEG_FIN ||
            (sec->kind == SEG_FIN && s->mode != NEST_OUTER)) {
            gen_fail(g, "section %d of the body does not fit", k);
            return false;
        }
        at = sec->end;
        for (int i = sec->begin; i < sec->end; i++)
            if (!check_op(g, sec, i)) return false;
    }
    if (at != s->nop) gen_fail(g, "the sections do not cover the body");
    return !g->failed;
}
