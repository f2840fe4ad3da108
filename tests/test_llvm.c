// SPDX-License-Identifier: MIT
// Machine code against meanings: every operation and type at every instruction set of this machine, all
// column counts to 130, misaligned, beside guard pages, in place; reductions against the tree; random
// bodies; and what the engine promises (sentences, memory that goes, no symbol from outside).
#include "llvm_run.h"

#include <stdio.h>
#include <time.h>

static const char *const isa_names[] = {"base", "avx2", "avx512"};
#define FOR_EACH_ISA(isa)                                                                          \
    for (enum kern_isa isa = KERN_BASE; isa <= kern_isa_detect(); isa++)

static int op_operand(struct body *b, enum ir_op op, weft_dtype in, int a) {
    weft_dtype t = op == IR_where && a == 0 ? WEFT_BOOL : in;
    return body_operand(b, t, NEST_UNIT, false, false);
}

// load each operand, one operation, store
static void one_op_body(struct body *b, enum ir_op op, weft_dtype dtype, weft_dtype in) {
    int v[3] = {0, 0, 0}, n = body_arity(op);
    body_begin(b, NEST_MAP);
    body_section(b, SEG_ELEM);
    for (int a = 0; a < n; a++)
        v[a] = body_load(b, op_operand(b, op, in, a));
    int r = body_op(b, op, dtype, in, v[0], v[1], v[2]);
    body_store(b, r, body_operand(b, dtype, NEST_UNIT, true, false));
}

static bool to_bool(enum ir_op op) {
    enum ir_rule r = body_rule(op);
    return r == RULE_COMPARE || r == RULE_LOGIC || r == RULE_PRED;
}

static void all_columns(struct bench *c, struct body *b, const char *what, uint64_t *seed) {
    const struct seg *s = body_seg(b);
    struct stage st;
    stage_open(&st, s->noperand, c->code.scratch);
    for (int cols = 1; cols <= 130; cols++) {
        struct shape sh = {1 + cols % 3, cols, 0, cols % 8, -1, -1};
        run_both(c, &st, s, &sh, what, seed);
        int out = s->noperand - 1; // in place: the output is the first operand of its type
        for (int i = 0; i < out; i++)
            if (s->operand[i].dtype == s->operand[out].dtype) {
                sh.alias_in = i, sh.alias_out = out;
                run_both(c, &st, s, &sh, what, seed);
                break;
            }
    }
    stage_close(&st);
}

static void check_op(struct llvm_engine *e, enum kern_isa isa, enum ir_op op, weft_dtype dtype, weft_dtype in) {
    static struct body b;
    struct bench c;
    char what[80];
    uint64_t seed = (uint64_t)op * 1000 + in * 20u + dtype;
    snprintf(what, sizeof what, "op %d %s to %s at %s", op, dtype_name(in), dtype_name(dtype), isa_names[isa]);
    one_op_body(&b, op, dtype, in);
    code_make(&c, e, body_seg(&b), isa);
    all_columns(&c, &b, what, &seed);
    code_drop(&c);
}

static void check_all_ops(enum kern_isa isa, bool heavy) {
    struct llvm_engine *e = engine_at(isa);
    int checked = 0;
    for (int op = IR_add; op < IR_cast; op++)
        for (int in = 0; in < WEFT_DTYPE__N; in++) {
            if (!body_defined((enum ir_op)op, (weft_dtype)in) || body_heavy((enum ir_op)op) != heavy) continue;
            if (heavy && !kern_find(body_family((enum ir_op)op), (weft_dtype)in, isa)) continue;
            if (op == IR_fma && isa == KERN_BASE && kern_isa_detect() != KERN_BASE) continue;
            check_op(e, isa, (enum ir_op)op, to_bool((enum ir_op)op) ? WEFT_BOOL : (weft_dtype)in, (weft_dtype)in);
            checked++;
        }
    cr_assert(checked > (heavy ? 0 : 200), "%d", checked);
    weft_jit_module()->close(e);
}

#define AT_ISA(isa)                                                                                \
    if (kern_isa_detect() < (isa)) cr_skip_test("this processor has no %s", isa_names[isa])

Test(llvm, ops_base) { check_all_ops(KERN_BASE, false); }
Test(llvm, ops_avx2) {
    AT_ISA(KERN_AVX2);
    check_all_ops(KERN_AVX2, false);
}
Test(llvm, ops_avx512) {
    AT_ISA(KERN_AVX512);
    check_all_ops(KERN_AVX512, false);
}
Test(llvm, heavy_ops) {
    FOR_EACH_ISA(isa) check_all_ops(isa, true);
}
Test(llvm, casts) {
    FOR_EACH_ISA(isa) {
        struct llvm_engine *e = engine_at(isa);
        for (int from = 0; from < WEFT_DTYPE__N; from++)
            for (int to = 0; to < WEFT_DTYPE__N; to++)
                check_op(e, isa, IR_cast, (weft_dtype)to, (weft_dtype)from);
        weft_jit_module()->close(e);
    }
}
