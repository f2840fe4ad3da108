// SPDX-License-Identifier: MIT
// Inside the ir room: short words for building graphs out of graphs. Every one gives IR_NONE when an
// operand is IR_NONE, so that only the end of a composition needs looking at.
#ifndef WEFT_IR_COMPOSE_H
#define WEFT_IR_COMPOSE_H

#include "graph.h"

static inline ir_ref put1(struct ir_graph *g, enum ir_op op, ir_ref a) { return ir_map(g, op, &a); }
static inline ir_ref put2(struct ir_graph *g, enum ir_op op, ir_ref a, ir_ref b) {
    return ir_map(g, op, (ir_ref[]){a, b});
}
static inline ir_ref put3(struct ir_graph *g, enum ir_op op, ir_ref a, ir_ref b, ir_ref c) {
    return ir_map(g, op, (ir_ref[]){a, b, c});
}
static inline weft_dtype type_of_ref(const struct ir_graph *g, ir_ref r) {
    return (weft_dtype)ir_at(g, r)->dtype;
}
// Weak literals, and a number of a type (rounded to it, integers truncated).
static inline ir_ref literal(struct ir_graph *g, double v) {
    return ir_constant_of(g, WEFT_F64, ir_double_bits(v), IR_WEAK_FLOAT);
}
static inline ir_ref whole(struct ir_graph *g, int64_t v) {
    return ir_constant_of(g, WEFT_I64, (uint64_t)v, IR_WEAK_INT);
}
static inline ir_ref number_of(struct ir_graph *g, weft_dtype t, double v) {
    if (dtype_is_complex(t)) return ir_cast(g, literal(g, v), t);
    return ir_constant_of(g, t, ir_convert_bits(WEFT_F64, ir_double_bits(v), t), IR_STRONG);
}
// x as floating point: bool and integers as f64, literals as float literals
static inline ir_ref as_float(struct ir_graph *g, ir_ref x) {
    if (!x || dtype_is_float(type_of_ref(g, x)) || dtype_is_complex(type_of_ref(g, x))) return x;
    return ir_at(g, x)->weak ? put2(g, IR_mul, x, literal(g, 1)) : ir_cast(g, x, WEFT_F64);
}

#endif
