// SPDX-License-Identifier: MIT
// The canonical bytes of what roots need: two graphs with equal bytes may share a plan. Nodes in
// order of first use, operands as numbers in that order; of leaves the shape and strides, not the
// address; of constants the type, not the value; an extent is a constant whose value the shape
// gives, so its operand is not walked. Weakness is not in it: it has done its work when a node
// exists.
#include "graph.h"

// Eight-byte words, so that equal keys are equal memory and nothing is padded.
enum { NODE_WORDS = 2 + 2 * WEFT_MAX_RANK + 8 };
struct words {
    int n;
    int64_t w[NODE_WORDS];
};
static void put_all(struct words *w, const int64_t *v, int n) {
    if (n) memcpy(w->w + w->n, v, (size_t)n * sizeof *v);
    w->n += n;
}

static void key_attributes(const struct ir_graph *g, ir_ref r, struct words *w) {
    const struct ir_node *n = ir_at(g, r);
    switch (n->op) {
    case IR_from:
        put_all(w, ir_dims(g, r), n->rank);
        put_all(w, ir_leaf_at(g, (int)*ir_attr(g, r))->array.strides, n->rank);
        return;
    case IR_input: put_all(w, ir_dims(g, r), n->rank); return;
    case IR_iota:
        put_all(w, ir_dims(g, r), n->rank);
        put_all(w, ir_attr(g, r), n->nattr);
        return;
    case IR_constant:
    case IR_fixed:
    case IR_extent: return;
    case IR_broadcast_to: // the rest of the attributes is not about the value
        put_all(w, ir_attr(g, r), 1 + n->rank);
        return;
    default: put_all(w, ir_attr(g, r), n->nattr); return;
    }
}

static void key_node(const struct ir_graph *g, ir_ref r, const struct ir_order *o,
                     struct base_vec *key) {
    const struct ir_node *n = ir_at(g, r);
    enum ir_op op = n->op == IR_extent ? IR_constant : (enum ir_op)n->op;
    struct words w;
    int64_t in[3] = {0, 0, 0};
    if (ir_ops[op].cls != IR_LEAF)
        for (int i = 0; i < 3; i++)
            in[i] = o->number[n->in[i]]; // number[0] is 0
    w.n = 1;
    w.w[0] = (int64_t)op | (int64_t)n->dtype << 8 | (int64_t)n->rank << 16 | in[0] << 32;
    if (in[1]) w.w[w.n++] = in[1] | in[2] << 32;
    key_attributes(g, r, &w);
    vec_push(key, w.w, (size_t)w.n * sizeof *w.w);
}

static void list(const struct ir_graph *g, ir_ref r, struct base_vec *leaves,
                 struct base_vec *consts) {
    enum ir_op op = (enum ir_op)ir_at(g, r)->op;
    if (leaves && (op == IR_from || op == IR_input)) vec_push(leaves, &r, sizeof r);
    if (consts && (op == IR_constant || op == IR_extent)) vec_push(consts, &r, sizeof r);
}

weft_status ir_key(const struct ir_graph *g, int n, const ir_ref *roots, struct base_vec *key,
                   struct base_vec *leaves, struct base_vec *consts) {
    struct ir_order o;
    TRY(ir_walk(g, n, roots, false, &o));
    const int64_t counts[2] = {n, o.count};
    vec_push(key, counts, sizeof counts);
    for (uint32_t i = 0; i < o.count; i++) {
        key_node(g, o.ref[i], &o, key);
        list(g, o.ref[i], leaves, consts);
    }
    for (int i = 0; i < n; i++) {
        int64_t root = o.number[roots[i]];
        vec_push(key, &root, sizeof root);
    }
    ir_order_free(g, &o);
    bool failed = key->failed || (leaves && leaves->failed) || (consts && consts->failed);
    return failed ? WEFT_ENOMEM : WEFT_OK;
}
