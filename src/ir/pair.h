// SPDX-License-Identifier: MIT
// Complex numbers inside the graph room: a node of c64 or c128 is always IR_complex over two real nodes,
// made where a complex array, input or constant enters. What later rooms see is real: roots are taken apart
// (ir_part) before a plan is made.
#ifndef WEFT_IR_PAIR_H
#define WEFT_IR_PAIR_H

#include "graph.h"

struct ir_pair {
    ir_ref re, im;
};
static inline bool ir_is_complex(const struct ir_graph *g, ir_ref x) {
    return dtype_is_complex((weft_dtype)ir_at(g, x)->dtype);
}
// The node of re + im i, of one real type and shapes that broadcast.
ir_ref ir_pair_join(struct ir_graph *g, struct ir_pair p);
// Both parts in the shape of x, which is complex.
struct ir_pair ir_pair_whole(struct ir_graph *g, ir_ref x);
// Both parts of any x as real type t; a part may lack axes that the other has. Real x: 0 as im.
struct ir_pair ir_pair_take(struct ir_graph *g, ir_ref x, weft_dtype t);

// Says that a real input is part 1 or 2 of a complex one.
ir_ref ir_mark_part(struct ir_graph *g, ir_ref input, int part);

// What a map gives when an operand is complex, or the operation is about complex numbers.
struct ir_pair_call {
    enum ir_op op;
    weft_dtype type;   // the complex type the operands meet in
    const ir_ref *in;  // where: the condition first
    enum ir_weak weak; // all operands are
};
ir_ref ir_pair_map(struct ir_graph *g, const struct ir_pair_call *call);
ir_ref ir_pair_cast(struct ir_graph *g, ir_ref x, weft_dtype t); // from or to complex
ir_ref ir_pair_product(struct ir_graph *g, ir_ref x, uint64_t mask); // over the axes of mask, which go
ir_ref ir_pair_matmul(struct ir_graph *g, ir_ref a, ir_ref b);

// The words complex formulas are written in: one real type.
struct ir_cx {
    struct ir_graph *g;
    weft_dtype t;
};
ir_ref ir_cx_k(const struct ir_cx *c, double v);
ir_ref ir_cx_1(const struct ir_cx *c, enum ir_op op, ir_ref a);
ir_ref ir_cx_2(const struct ir_cx *c, enum ir_op op, ir_ref a, ir_ref b);
ir_ref ir_cx_pick(const struct ir_cx *c, ir_ref cond, ir_ref a, ir_ref b);
struct ir_pair ir_cx_mul(const struct ir_cx *c, struct ir_pair a, struct ir_pair b);
struct ir_pair ir_cx_div(const struct ir_cx *c, struct ir_pair a, struct ir_pair b);
// Functions of one complex argument, in f64; false: there is none.
bool ir_cx_function(const struct ir_cx *c, enum ir_op op, struct ir_pair z, struct ir_pair *out);
struct ir_pair ir_cx_pow(const struct ir_cx *c, struct ir_pair z, struct ir_pair w);

// In an emitter over x: a complex x has it done to both parts.
#define IR_BY_PARTS(g, x, call)                                                                    \
    do {                                                                                           \
        if ((x) && ir_is_complex(g, x)) {                                                          \
            struct ir_pair parts_ = ir_pair_whole(g, x), made_;                                    \
            (x) = parts_.re;                                                                       \
            made_.re = (call);                                                                     \
            (x) = parts_.im;                                                                       \
            made_.im = (call);                                                                     \
            return ir_pair_join(g, made_);                                                         \
        }                                                                                          \
    } while (0)

#endif
