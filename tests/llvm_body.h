// SPDX-License-Identifier: MIT
// Bodies built by hand, and what they mean: an evaluator that goes element by element through the scalar
// meanings of ir/ops.def, with the tree of reductions written as the contract states it.
#ifndef WEFT_TESTS_LLVM_BODY_H
#define WEFT_TESTS_LLVM_BODY_H

#include "ir/ir.h"
#include "kernels/kern.h"
#include "nest.h"

enum { BODY_OPS = 512, BODY_OPERANDS = 64, BODY_SECTIONS = 8 };
struct body {
    struct seg seg;
    struct seg_op op[BODY_OPS];
    struct seg_section section[BODY_SECTIONS];
    struct nest_operand operand[BODY_OPERANDS];
};
void body_begin(struct body *b, enum nest_mode mode);
void body_section(struct body *b, enum seg_kind kind);
int body_operand(struct body *b, weft_dtype t, enum nest_class cls, bool out, bool late);
int body_load(struct body *b, int operand);
int body_op(struct body *b, enum ir_op op, weft_dtype dtype, weft_dtype in, int x, int y, int z);
void body_store(struct body *b, int value, int operand);
int body_reduce(struct body *b, int value, enum kern_red r);
const struct seg *body_seg(struct body *b); // valid until the body changes
int body_arity(enum ir_op op);
enum ir_rule body_rule(enum ir_op op);
bool body_heavy(enum ir_op op);
enum kern_family body_family(enum ir_op op);
bool body_defined(enum ir_op op, weft_dtype in); // the operation has a meaning for operands of this type

// One operation on single elements in memory.
void ref_op(const struct seg_op *op, const void *x, const void *y, const void *z, void *out);
// The tile, in mode TILE_FULL.
void ref_tile(const struct seg *s, const struct tile *t);

#endif
