// SPDX-License-Identifier: MIT
// Names for bodies: what a profile, a debugger or perf shows. In: a body; out: its operations in order of
// execution, with one separator, cut after a few; the number of all of them then ends the name. A function of
// the body alone, so that equal code has one name wherever it comes from.
#include <stdio.h>

#include "code.h"

enum { NAME_OPS = 8 };

const char *jit_op_name(const struct seg_op *op) {
    if (op->op == SEG_LOAD) return "load";
    if (op->op == SEG_STORE) return "store";
    if (op->op == SEG_REDUCE) return ir_ops[IR_R_sum + op->arg[1]].name;
    return op->op < IR_OP__N ? ir_ops[op->op].name : "?";
}

static bool is_work(const struct seg_op *op) { return op->op != SEG_LOAD && op->op != SEG_STORE; }

void jit_seg_name(const struct seg *s, char separator, char *buf, size_t size) {
    int n = 0, all = 0;
    size_t at = 0;
    buf[0] = 0;
    for (int i = 0; i < s->nop; i++)
        all += is_work(&s->op[i]);
    for (int i = 0; i < s->nop && n < (all > NAME_OPS ? NAME_OPS - 1 : NAME_OPS) && at < size; i++) {
        if (!is_work(&s->op[i])) continue;
        const char before[2] = {n++ ? separator : 0, 0};
        at += (size_t)snprintf(buf + at, size - at, "%s%s", before, jit_op_name(&s->op[i]));
    }
    if (!all) snprintf(buf, size, "copy");
    if (all > n && at < size) snprintf(buf + at, size - at, "%c%d_ops", separator, all);
}

void jit_step_name(const struct fuse_step *s, char *buf, size_t size) {
    size_t n = 0;
    if (s->kind == FUSE_CALL) n = (size_t)snprintf(buf, size, "%s", ir_ops[s->call.op].name);
    if (s->kind == FUSE_MATMUL) n = (size_t)snprintf(buf, size, s->nest.noperand ? "matmul " : "matmul");
    if (s->kind == FUSE_LOOP || s->nest.noperand) jit_seg_name(&s->seg, ' ', buf + n, size - n);
}
