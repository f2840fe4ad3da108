// SPDX-License-Identifier: MIT
// One node put a second time: a record of what it was (operation, settled type, attributes as given, operands)
// comes in and goes through the emitter that inferred its shape the first time. Replays take the records from a
// graph, loading takes them from a file after admit.c has looked at them; here nothing is doubted but shapes.
#include "pair.h"

static ir_ref leaf_again(struct ir_graph *g, const struct ir_again *n) {
    double ddof;
    switch (n->op) {
    case IR_constant: return ir_constant_of(g, n->dtype, (uint64_t)n->attr[0], n->weak);
    case IR_iota: return ir_iota(g, n->dtype, n->rank, n->dims, (int)n->attr[0]);
    default:
        memcpy(&ddof, &n->attr[1], sizeof ddof);
        return ir_extent(g, n->in[0], (uint64_t)n->attr[0], ddof);
    }
}

// What was built from extents does not fit others.
static ir_ref fixed_again(struct ir_graph *g, const struct ir_again *n) {
    const char *name = (const char *)(intptr_t)n->attr[0];
    const int rank = ir_at(g, n->in[0])->rank;
    if (rank != n->nattr - 1 ||
        (rank && memcmp(n->attr + 1, ir_dims(g, n->in[0]), (size_t)rank * sizeof *n->attr) != 0))
        return ir_fail_at(g, WEFT_ESHAPE, &(struct ir_blame){name, 1, n->in},
                          "was built for other extents");
    return ir_fixed(g, name, n->in[0]);
}

static ir_ref whole_again(struct ir_graph *g, const struct ir_again *n) {
    const int64_t *a = n->attr;
    switch (n->op) {
    case IR_take: return ir_take(g, n->in[0], n->in[1], (int)a[0], (int)a[1]);
    case IR_take_along_axis: return ir_take_along(g, n->in[0], n->in[1], (int)a[0], (int)a[1]);
    case IR_join: return ir_join(g, n->in[0], n->in[1], (int)a[0]);
    case IR_result: return ir_result(g, n->in[0], (int)a[0]);
    default: return ir_call(g, n->op, n->in, a, n->nattr);
    }
}

static ir_ref view_again(struct ir_graph *g, const struct ir_again *n) {
    const int64_t *a = n->attr;
    const ir_ref x = n->in[0];
    int perm[WEFT_MAX_RANK];
    switch (n->op) {
    case IR_reshape: return ir_reshape(g, x, (int)a[0], a + 1);
    case IR_transpose:
        for (int i = 0; i < n->nattr; i++)
            perm[i] = (int)a[i];
        return ir_transpose(g, x, perm);
    case IR_slice: return ir_slice(g, x, (int)a[0], a[1], a[2], a[3]);
    case IR_expand_dims: return ir_expand_dims(g, x, (int)a[0]);
    case IR_squeeze: return ir_squeeze(g, x, (int)a[0]);
    case IR_broadcast_to: return ir_broadcast_to(g, x, (int)a[0], a + 1);
    case IR_diagonal: return ir_diagonal(g, x, a[0], (int)a[1], (int)a[2]);
    case IR_windows: return ir_windows(g, x, (int)a[0], a[1]);
    case IR_trim: return ir_trim(g, x, n->in[1], (int)a[0]);
    case IR_fixed: return fixed_again(g, n);
    default: return ir_guard(g, x, n->in[1], (int)a[0]);
    }
}

ir_ref ir_put_again(struct ir_graph *g, const struct ir_again *n) {
    switch (ir_ops[n->op].cls) {
    case IR_LEAF: return leaf_again(g, n);
    case IR_PAIR:
    case IR_MAP: return ir_put_map(g, n->op, n->dtype, n->weak, n->in);
    case IR_REDUCE: return ir_put_run(g, n->op, n->in[0], (int)n->attr[0], (int)n->attr[1]);
    case IR_VIEW: return view_again(g, n);
    case IR_CONTRACT: return ir_put_matmul(g, n->in[0], n->in[1]);
    default: return whole_again(g, n);
    }
}
