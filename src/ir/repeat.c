// SPDX-License-Identifier: MIT
// Graphs that are built again as before: a loop resets its graph and builds the same expression
// over other buffers. A reset forgets nodes by lowering their count, so the node that the last life
// put next still lies there; when the draft is that node but for the address of a leaf or the value
// of a constant, it is taken as it is: nothing is hashed, searched or copied. The first draft that
// differs parts this life from the last, and from there on nodes are put as usual. Whoever
// remembers something about nodes (the shortcuts of the API room) asks which of them have been
// written over since.
#include "graph.h"

// Whether node r is the draft, address of a leaf and value of a constant aside.
static bool same_form(const struct ir_graph *g, ir_ref r, const struct ir_draft *d) {
    const struct ir_node *n = ir_at(g, r);
    const size_t rank = (size_t)d->rank * sizeof(int64_t),
                 attr = (size_t)d->nattr * sizeof(int64_t);
    if (n->op != d->op || n->dtype != d->dtype || n->rank != d->rank || n->weak != d->weak ||
        (n->flags & ~IR_NOTES) != (int)d->flags || memcmp(n->in, d->in, sizeof n->in) != 0 ||
        (rank && memcmp(ir_dims(g, r), d->dims, rank) != 0))
        return false;
    if (d->leaf) {
        const uint32_t leaf = (uint32_t)*ir_attr(g, r);
        if (leaf != g->leaves.count) return false;
        const struct ir_leaf *l = ir_pool_at(&g->leaves, leaf);
        return !rank || memcmp(l->array.strides, d->leaf->strides, rank) == 0;
    }
    if (n->nattr != d->nattr) return false;
    return d->op == IR_constant || !attr || memcmp(ir_attr(g, r), d->attr, attr) == 0;
}

// An equal leaf or constant among the nodes, when its slot no longer leads to it.
static ir_ref find_moved(const struct ir_graph *g, const struct ir_draft *d) {
    enum { FEW = 64 };
    const uint32_t end = g->nodes.count < FEW ? g->nodes.count : FEW;
    if (!g->moved || !(d->leaf || d->op == IR_constant)) return IR_NONE;
    for (ir_ref r = 1; r < end; r++)
        if (ir_is_draft(g, r, d)) return r;
    return IR_NONE;
}

static void take_values(struct ir_graph *g, ir_ref r, const struct ir_draft *d) {
    if (d->leaf) {
        struct ir_leaf *l = ir_pool_at(&g->leaves, g->leaves.count++);
        g->moved |= l->array.data != d->leaf->data;
        l->array.data = d->leaf->data;
        l->other = IR_NONE;
        l->part = 0;
    } else if (d->op == IR_constant && d->nattr) {
        int64_t *attr = ir_pool_at(&g->words, ir_at(g, r)->attr);
        g->moved |= memcmp(attr, d->attr, (size_t)d->nattr * sizeof *attr) != 0;
        memcpy(attr, d->attr, (size_t)d->nattr * sizeof *attr);
    }
}

// Takes node r, if its slot still leads to it.
static ir_ref take(struct ir_graph *g, ir_ref r) {
    const uint32_t slot = *(uint32_t *)ir_pool_at(&g->back, r);
    if (slot >= g->slots || g->table[slot].ref != r) return IR_NONE;
    g->nodes.count = g->back.count = r + 1;
    return r;
}

ir_ref ir_repeat(struct ir_graph *g, const struct ir_draft *d) {
    const ir_ref r = g->nodes.count;
    if (g->parted) return find_moved(g, d);
    const ir_ref found = find_moved(g, d);
    if (found) return found;
    if (r >= g->last_count || d->op == IR_input || !same_form(g, r, d)) return IR_NONE;
    if (!take(g, r)) return IR_NONE;
    take_values(g, r, d);
    return r;
}

// An elementwise node depends on nothing but its operation and operands when no operand is a
// constant and none had to be cast: such a node is marked, and taken without inferring its type and
// shape again.
ir_ref ir_repeat_map(struct ir_graph *g, enum ir_op op, const ir_ref *in, int arity) {
    const ir_ref r = g->nodes.count;
    if (g->parted || r >= g->last_count) return IR_NONE;
    const struct ir_node *n = ir_at(g, r);
    if (n->op != op || !(n->flags & IR_PLAIN)) return IR_NONE;
    for (int i = 0; i < arity; i++)
        if (n->in[i] != in[i]) return IR_NONE;
    if (g->watched) return IR_NONE; // the long way notes what this one does not
    return take(g, r);
}

void ir_mark_plain(struct ir_graph *g, ir_ref r, const ir_ref *in, int arity) {
    struct ir_node *n = ir_pool_at(&g->nodes, r);
    for (int i = 0; i < arity; i++)
        if (n->in[i] != in[i] || ir_is_constant(g, in[i])) return;
    n->flags |= IR_PLAIN;
}

// Whether one of the leaves of this life lies at data already; when there are many, it may.
static bool is_known(const struct ir_graph *g, const void *data) {
    enum { FEW = 16 };
    if (g->leaves.count > FEW) return true;
    for (uint32_t i = 0; i < g->leaves.count; i++)
        if (((const struct ir_leaf *)ir_pool_at(&g->leaves, i))->array.data == data) return true;
    return false;
}

// A leaf of the form that the last life's had passes the checks that one has passed.
ir_ref ir_repeat_from(struct ir_graph *g, const weft_array *a) {
    const ir_ref r = g->nodes.count;
    if (g->parted || r >= g->last_count || !a->data) return IR_NONE;
    const struct ir_node *n = ir_at(g, r);
    if (n->op != IR_from || n->dtype != a->dtype || n->rank != a->rank ||
        (uint32_t)*ir_attr(g, r) != g->leaves.count)
        return IR_NONE;
    struct ir_leaf *l = ir_pool_at(&g->leaves, g->leaves.count);
    for (int i = 0; i < a->rank; i++)
        if (l->array.dims[i] != a->dims[i] || l->array.strides[i] != a->strides[i]) return IR_NONE;
    const bool moved = l->array.data != a->data;
    if ((moved || g->moved) && is_known(g, a->data)) return IR_NONE;
    if (!take(g, r)) return IR_NONE;
    l->array.data = a->data;
    l->other = IR_NONE;
    l->part = 0;
    g->moved |= moved;
    g->leaves.count++;
    return r;
}

// The words of the nodes taken so far are kept; new ones go behind them.
void ir_part(struct ir_graph *g) {
    const ir_ref r = g->nodes.count;
    uint32_t end = 0;
    if (!g->overwritten || r < g->overwritten) g->overwritten = r;
    if (g->parted) return;
    for (ir_ref k = 1; k < r; k++) {
        const struct ir_node *n = ir_at(g, k);
        if (n->rank) end = MAX_OF(end, n->shape + n->rank);
        if (n->nattr) end = MAX_OF(end, n->attr + n->nattr);
    }
    g->words.count = end;
    g->parted = true;
}

ir_ref ir_overwritten(struct ir_graph *g) {
    const ir_ref r = g->overwritten;
    g->overwritten = IR_NONE;
    return r;
}
