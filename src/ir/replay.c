// SPDX-License-Identifier: MIT
// The same computation in another graph, only what the roots need, with other extents of the inputs
// if asked. Nodes are put again one by one in order of first use (again.c), so that a shape that does
// not fit is the same sentence. Types are settled: they do not depend on extents. Nodes that stood
// for a shape (IR_AUTO, IR_EMPTY) are made anew.
#include "pair.h"

struct replay {
    const struct ir_graph *src;
    struct ir_graph *dst;
    const int64_t *const *input_dims;
    ir_ref *image; // of each src node
    ir_ref *input; // of each input of src
    bool unguarded;
};

static ir_ref replay_input(struct replay *p, int i) {
    const struct ir_input *in = ir_input_at(p->src, i);
    const struct ir_node *n = ir_at(p->src, in->node);
    const int64_t *dims = p->input_dims ? p->input_dims[i] : NULL;
    ir_ref r = ir_input(p->dst, in->name, (weft_dtype)n->dtype, n->rank,
                        dims ? dims : ir_dims(p->src, in->node));
    return ir_mark_part(p->dst, r, in->part);
}

// What stood for a shape: matmul puts in what it needs, an empty run is a reduction again.
static bool stands_for_shape(struct replay *p, ir_ref r, ir_ref *out) {
    const struct ir_node *n = ir_at(p->src, r);
    const int64_t *origin = ir_attr(p->src, r) + 1 + n->rank;
    if (n->op != IR_broadcast_to || !(n->flags & (IR_AUTO | IR_EMPTY))) return false;
    *out = n->flags & IR_AUTO ? p->image[n->in[0]]
                              : ir_put_run(p->dst, (enum ir_op)origin[0], p->image[origin[1]],
                                           (int)origin[2], (int)origin[3]);
    return true;
}

// The attribute that is an index mode and says WEFT_INDEX_RAISE; NULL: none does.
static const int64_t *raising(const struct ir_graph *g, ir_ref r) {
    const int64_t *a = ir_attr(g, r);
    switch (ir_at(g, r)->op) {
    case IR_take:
    case IR_take_along_axis: return a[1] == WEFT_INDEX_RAISE ? &a[1] : NULL;
    case IR_scatter: return a[2] == WEFT_INDEX_RAISE ? &a[2] : NULL;
    default: return NULL;
    }
}

static void add_flags(struct ir_graph *g, ir_ref r, unsigned flags) {
    if (r && flags) ((struct ir_node *)ir_pool_at(&g->nodes, r))->flags |= (uint16_t)flags;
}

// Indices brought inside, with a note that they should have been there.
static ir_ref put_inside(struct replay *p, struct ir_again *a, const int64_t *mode) {
    int64_t attr[IR_ATTRS];
    memcpy(attr, a->attr, (size_t)a->nattr * sizeof *attr);
    attr[mode - a->attr] = WEFT_INDEX_CLIP;
    a->attr = attr;
    const ir_ref r = ir_put_again(p->dst, a);
    add_flags(p->dst, r, IR_RAISED);
    return r;
}

static ir_ref replay_node(struct replay *p, ir_ref r) {
    const struct ir_node *n = ir_at(p->src, r);
    const int64_t *attr = ir_attr(p->src, r);
    ir_ref shape;
    if (n->op == IR_from) return ir_from(p->dst, &ir_leaf_at(p->src, (int)*attr)->array);
    if (n->op == IR_input) return p->input[*attr];
    if (stands_for_shape(p, r, &shape)) return shape;
    struct ir_again a = {.op = (enum ir_op)n->op, .dtype = (weft_dtype)n->dtype,
                         .weak = (enum ir_weak)n->weak, .rank = n->rank, .nattr = n->nattr,
                         .dims = ir_dims(p->src, r), .attr = attr};
    for (int i = 0; i < 3; i++)
        a.in[i] = p->image[n->in[i]];
    if (p->unguarded && n->op == IR_guard) return a.in[0];
    const int64_t *mode = p->unguarded ? raising(p->src, r) : NULL;
    return mode ? put_inside(p, &a, mode) : ir_put_again(p->dst, &a);
}

static weft_status replay_all(struct replay *p, const struct ir_order *o) {
    for (int i = 0; i < ir_input_count(p->src); i++)
        if (!(p->input[i] = replay_input(p, i))) return p->dst->err.status;
    for (uint32_t i = 0; i < o->count; i++) {
        ir_ref r = o->ref[i];
        if (!(p->image[r] = replay_node(p, r))) return p->dst->err.status;
        add_flags(p->dst, p->image[r], ir_at(p->src, r)->flags & (IR_QUIET | IR_RAISED));
    }
    return WEFT_OK;
}

// Notes about nodes that the roots need; operands that they do not need have no say.
static weft_status replay_notes(struct replay *p, uint32_t top) {
    for (size_t i = 0; i < VEC_LEN(&p->src->notes, struct ir_note); i++) {
        struct ir_note n = VEC_AT(&p->src->notes, struct ir_note, i);
        n.part = n.part < top ? p->image[n.part] : IR_NONE;
        if (!n.part) continue;
        for (size_t k = 0; k < COUNT_OF(n.in); k++)
            n.in[k] = n.in[k] < top ? p->image[n.in[k]] : IR_NONE;
        vec_push(&p->dst->notes, &n, sizeof n);
    }
    return p->dst->notes.failed ? err_set(&p->dst->err, WEFT_ENOMEM, "replay: no memory") : WEFT_OK;
}

static weft_status replay(const struct replay *how, int n, const ir_ref *roots, ir_ref *out) {
    struct replay p = *how;
    const struct ir_graph *src = p.src;
    struct ir_graph *dst = p.dst;
    struct ir_order o;
    dst->watched = src->watched;
    if (ir_count(dst) != 1)
        return err_set(&dst->err, WEFT_EINVAL, "replay: the graph is not empty");
    weft_status s = ir_walk(src, n, roots, true, &o);
    if (s)
        return err_set(&dst->err, s, "replay: %s", s == WEFT_ENOMEM ? "no memory" : "no such root");
    size_t inputs = (size_t)ir_input_count(src);
    p.image = base_get_zero(&dst->alloc, o.top * sizeof *p.image);
    p.input = base_get_zero(&dst->alloc, inputs * sizeof *p.input);
    if (p.image && p.input)
        s = replay_all(&p, &o) ? dst->err.status : replay_notes(&p, o.top);
    else
        s = err_set(&dst->err, WEFT_ENOMEM, "replay: no memory");
    for (int i = 0; i < n && !s; i++)
        out[i] = p.image[roots[i]];
    base_put(&dst->alloc, p.image, o.top * sizeof *p.image);
    base_put(&dst->alloc, p.input, inputs * sizeof *p.input);
    ir_order_free(src, &o);
    return s;
}

weft_status ir_replay(const struct ir_graph *src, int n, const ir_ref *roots,
                      const int64_t *const *input_dims, struct ir_graph *dst, ir_ref *out) {
    return replay(&(struct replay){.src = src, .dst = dst, .input_dims = input_dims}, n, roots, out);
}

weft_status ir_replay_unguarded(const struct ir_graph *src, int n, const ir_ref *roots, struct ir_graph *dst,
                                ir_ref *out) {
    return replay(&(struct replay){.src = src, .dst = dst, .unguarded = true}, n, roots, out);
}
