// SPDX-License-Identifier: MIT
// The same computation in another graph, only what the roots need, with other extents of the inputs
// if asked. Nodes are put again one by one in order of first use, each through the function that
// inferred its shape the first time, so that a shape that does not fit is the same sentence. Types
// are settled: they do not depend on extents. Nodes that stood for a shape (IR_AUTO, IR_EMPTY) are
// made anew.
#include "pair.h"

struct replay {
    const struct ir_graph *src;
    struct ir_graph *dst;
    const int64_t *const *input_dims;
    ir_ref *image; // of each src node
    ir_ref *input; // of each input of src
};

static ir_ref replay_input(struct replay *p, int i) {
    const struct ir_input *in = ir_input_at(p->src, i);
    const struct ir_node *n = ir_at(p->src, in->node);
    const int64_t *dims = p->input_dims ? p->input_dims[i] : NULL;
    ir_ref r = ir_input(p->dst, in->name, (weft_dtype)n->dtype, n->rank,
                        dims ? dims : ir_dims(p->src, in->node));
    return ir_mark_part(p->dst, r, in->part);
}

static ir_ref replay_leaf(struct replay *p, ir_ref r, const ir_ref *in) {
    const struct ir_graph *s = p->src;
    const struct ir_node *n = ir_at(s, r);
    const int64_t *a = ir_attr(s, r);
    weft_dtype t = (weft_dtype)n->dtype;
    double ddof;
    switch (n->op) {
    case IR_from: return ir_from(p->dst, &ir_leaf_at(s, (int)*a)->array);
    case IR_input: return p->input[*a];
    case IR_constant: return ir_constant_of(p->dst, t, (uint64_t)*a, (enum ir_weak)n->weak);
    case IR_iota: return ir_iota(p->dst, t, n->rank, ir_dims(s, r), (int)*a);
    default:
        memcpy(&ddof, &a[1], sizeof ddof);
        return ir_extent(p->dst, in[0], (uint64_t)a[0], ddof);
    }
}

static ir_ref replay_broadcast(struct replay *p, ir_ref r, ir_ref x) {
    const struct ir_node *n = ir_at(p->src, r);
    const int64_t *a = ir_attr(p->src, r), *origin = a + 1 + n->rank;
    if (n->flags & IR_AUTO) return x; // matmul puts in what it needs
    if (n->flags & IR_EMPTY)
        return ir_put_run(p->dst, (enum ir_op)origin[0], p->image[origin[1]], (int)origin[2],
                          (int)origin[3]);
    return ir_broadcast_to(p->dst, x, n->rank, a + 1);
}

// What was built from extents does not fit others.
static ir_ref replay_fixed(struct replay *p, ir_ref r, ir_ref x) {
    const int64_t *a = ir_attr(p->src, r);
    const char *name = (const char *)(intptr_t)a[0];
    const int rank = ir_at(p->src, r)->rank;
    if (rank && memcmp(a + 1, ir_dims(p->dst, x), (size_t)rank * sizeof *a) != 0)
        return ir_fail_at(p->dst, WEFT_ESHAPE, &(struct ir_blame){name, 1, &x},
                          "was built for other extents");
    return ir_fixed(p->dst, name, x);
}

static ir_ref replay_whole(struct replay *p, ir_ref r, const ir_ref *in) {
    const struct ir_node *n = ir_at(p->src, r);
    const int64_t *a = ir_attr(p->src, r);
    switch (n->op) {
    case IR_take: return ir_take(p->dst, in[0], in[1], (int)a[0], (int)a[1]);
    case IR_take_along_axis: return ir_take_along(p->dst, in[0], in[1], (int)a[0], (int)a[1]);
    case IR_join: return ir_join(p->dst, in[0], in[1], (int)a[0]);
    case IR_result: return ir_result(p->dst, in[0], (int)a[0]);
    default: return ir_call(p->dst, (enum ir_op)n->op, in, a, n->nattr);
    }
}

static ir_ref replay_view(struct replay *p, ir_ref r, const ir_ref *in) {
    const struct ir_node *n = ir_at(p->src, r);
    const int64_t *a = ir_attr(p->src, r);
    int perm[WEFT_MAX_RANK];
    switch (n->op) {
    case IR_reshape: return ir_reshape(p->dst, in[0], (int)a[0], a + 1);
    case IR_transpose:
        for (int i = 0; i < n->rank; i++)
            perm[i] = (int)a[i];
        return ir_transpose(p->dst, in[0], perm);
    case IR_slice: return ir_slice(p->dst, in[0], (int)a[0], a[1], a[2], a[3]);
    case IR_expand_dims: return ir_expand_dims(p->dst, in[0], (int)a[0]);
    case IR_squeeze: return ir_squeeze(p->dst, in[0], (int)a[0]);
    case IR_broadcast_to: return replay_broadcast(p, r, in[0]);
    case IR_diagonal: return ir_diagonal(p->dst, in[0], a[0], (int)a[1], (int)a[2]);
    case IR_windows: return ir_windows(p->dst, in[0], (int)a[0], a[1]);
    case IR_trim: return ir_trim(p->dst, in[0], in[1], (int)a[0]);
    case IR_fixed: return replay_fixed(p, r, in[0]);
    default: return ir_guard(p->dst, in[0], in[1], (int)a[0]);
    }
}

static ir_ref replay_node(struct replay *p, ir_ref r) {
    const struct ir_node *n = ir_at(p->src, r);
    ir_ref in[3];
    for (int i = 0; i < 3; i++)
        in[i] = p->image[n->in[i]];
    const int64_t *a = ir_attr(p->src, r);
    switch (ir_ops[n->op].cls) {
    case IR_LEAF: return replay_leaf(p, r, in);
    case IR_PAIR:
    case IR_MAP:
        return ir_put_map(p->dst, (enum ir_op)n->op, (weft_dtype)n->dtype, (enum ir_weak)n->weak,
                          in);
    case IR_REDUCE: return ir_put_run(p->dst, (enum ir_op)n->op, in[0], (int)a[0], (int)a[1]);
    case IR_VIEW: return replay_view(p, r, in);
    case IR_CONTRACT: return ir_put_matmul(p->dst, in[0], in[1]);
    default: return replay_whole(p, r, in);
    }
}

static weft_status replay_all(struct replay *p, const struct ir_order *o) {
    for (int i = 0; i < ir_input_count(p->src); i++)
        if (!(p->input[i] = replay_input(p, i))) return p->dst->err.status;
    for (uint32_t i = 0; i < o->count; i++) {
        ir_ref r = o->ref[i];
        if (!(p->image[r] = replay_node(p, r))) return p->dst->err.status;
    }
    return WEFT_OK;
}

weft_status ir_replay(const struct ir_graph *src, int n, const ir_ref *roots,
                      const int64_t *const *input_dims, struct ir_graph *dst, ir_ref *out) {
    struct ir_order o;
    if (ir_count(dst) != 1)
        return err_set(&dst->err, WEFT_EINVAL, "replay: the graph is not empty");
    weft_status s = ir_walk(src, n, roots, true, &o);
    if (s)
        return err_set(&dst->err, s, "replay: %s", s == WEFT_ENOMEM ? "no memory" : "no such root");
    struct replay p = {.src = src, .dst = dst, .input_dims = input_dims};
    size_t inputs = (size_t)ir_input_count(src);
    p.image = base_get_zero(&dst->alloc, o.top * sizeof *p.image);
    p.input = base_get_zero(&dst->alloc, inputs * sizeof *p.input);
    if (p.image && p.input)
        s = replay_all(&p, &o);
    else
        s = err_set(&dst->err, WEFT_ENOMEM, "replay: no memory");
    for (int i = 0; i < n && !s; i++)
        out[i] = p.image[roots[i]];
    base_put(&dst->alloc, p.image, o.top * sizeof *p.image);
    base_put(&dst->alloc, p.input, inputs * sizeof *p.input);
    ir_order_free(src, &o);
    return s;
}
