// SPDX-License-Identifier: MIT
// Two slow evaluators for tests of planning: a graph node by node, and a plan exactly as written
// (its nests, its code, its buffers). They share the meaning of one operation on one element and
// nothing else.
#ifndef FUSE_EVAL_H
#define FUSE_EVAL_H

#include "fuse/plan.h"

union scalar {
    double f;
    int64_t i;
};
union scalar scalar_load(int dtype, const void *p);
void scalar_store(int dtype, void *p, union scalar v);

// Leaves' data: of from nodes their own arrays; of inputs these (data and strides).
struct eval_world {
    const struct ir_graph *g;
    int nroot;
    const ir_ref *roots;
    const weft_array *inputs;
};
// Dense values of every node that the roots need, by node (NULL: not needed). Free with eval_free.
void **eval_graph(const struct eval_world *w);
void eval_free(const struct eval_world *w, void **values);
// Runs the plan into outs; guards: one bool each.
void eval_plan(const struct eval_world *w, const struct fuse_plan *p, const weft_array *outs,
               uint8_t *guards);

#endif
