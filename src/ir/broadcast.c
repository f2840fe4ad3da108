// SPDX-License-Identifier: MIT
// The shape operands share: aligned at the last axis, extents equal or 1. Extents of 1 are repeated
// (also zero times). The sentence of a mismatch names the axis of the result.
#include "graph.h"

// The usual case: operands whose dims are the same words.
static bool share_dims(const struct ir_graph *g, const struct ir_blame *who) {
    const struct ir_node *first = ir_at(g, who->in[0]);
    for (int i = 1; i < who->n; i++) {
        const struct ir_node *n = ir_at(g, who->in[i]);
        if (n->rank != first->rank || n->shape != first->shape) return false;
    }
    return true;
}

int ir_broadcast(struct ir_graph *g, const struct ir_blame *who, int64_t *dims) {
    int rank = 0;
    if (share_dims(g, who)) {
        rank = ir_at(g, who->in[0])->rank;
        if (rank) memcpy(dims, ir_dims(g, who->in[0]), (size_t)rank * sizeof *dims);
        return rank;
    }
    for (int i = 0; i < who->n; i++)
        rank = MAX_OF(rank, (int)ir_at(g, who->in[i])->rank);
    for (int axis = 0; axis < rank; axis++) {
        int64_t extent = 1;
        for (int i = 0; i < who->n; i++) {
            int own = axis - (rank - ir_at(g, who->in[i])->rank);
            int64_t e = own < 0 ? 1 : ir_dims(g, who->in[i])[own];
            if (e == 1 || e == extent) continue;
            if (extent != 1) {
                ir_fail_at(g, WEFT_ESHAPE, who, "axis %d is %lld and %lld", axis, (long long)extent,
                           (long long)e);
                return -1;
            }
            extent = e;
        }
        dims[axis] = extent;
    }
    return rank;
}
