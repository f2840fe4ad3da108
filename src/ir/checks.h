// SPDX-License-Identifier: MIT
// Inside the ir room: checked mode while its graph is being made.
#ifndef WEFT_IR_CHECKS_H
#define WEFT_IR_CHECKS_H

#include "compose.h"

struct ir_checker {
    struct ir_graph *g;
    struct base_vec groups, suspects;
};
// wrong: bool that broadcasts to the node's shape, true where the fault is; IR_NONE: cannot be. Called in the
// order in which faults are told. group and code of what are filled in.
void ir_suspect(struct ir_checker *c, const struct ir_suspect *what, ir_ref wrong);
// checks_of.c: all that can go wrong in one node
void ir_checks_of(struct ir_checker *c, ir_ref node);
// checks_int.c: of integer nodes, over operands of their own type; IR_NONE: nothing
ir_ref ir_zero_fault(struct ir_graph *g, ir_ref node);     // divides by zero
ir_ref ir_overflow_fault(struct ir_graph *g, ir_ref node); // elementwise operations
ir_ref ir_count_fault(struct ir_graph *g, ir_ref node);    // shifts
ir_ref ir_range_fault(struct ir_graph *g, ir_ref x, weft_dtype t); // x does not fit integer type t
ir_ref ir_total_fault(struct ir_graph *g, ir_ref node);    // sums, products, scans, scatters, matrix products

// A constant of an integer type from the low bits of v.
static inline ir_ref int_k(struct ir_graph *g, weft_dtype t, uint64_t v) {
    const unsigned bits = 8 * (unsigned)dtype_size(t);
    return ir_constant_of(g, t, bits < 64 ? v & (((uint64_t)1 << bits) - 1) : v, IR_STRONG);
}
static inline ir_ref f64_k(struct ir_graph *g, double v) { return number_of(g, WEFT_F64, v); }
static inline ir_ref either(struct ir_graph *g, ir_ref a, ir_ref b) {
    return !a ? b : !b ? a : put2(g, IR_logical_or, a, b);
}
static inline ir_ref both_of(struct ir_graph *g, ir_ref a, ir_ref b) {
    return !a ? b : !b ? a : put2(g, IR_logical_and, a, b);
}

#endif
