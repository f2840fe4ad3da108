// SPDX-License-Identifier: MIT
// The one traversal of whole graphs: post-order depth first from the roots, operands from left to
// right. Its order is the canonical numbering that keys, replays, dumps and plans share. An
// explicit stack, since graphs are as deep as users make them; scratch of its own, so that threads
// may walk one graph at once.
#include "graph.h"

// Operand i of r in the traversal, IR_NONE past the last.
static ir_ref child_of(const struct ir_graph *g, ir_ref r, uint32_t i, bool shapes) {
    const struct ir_node *n = ir_at(g, r);
    if (n->op == IR_extent && !shapes) return IR_NONE;
    if (i < 3 && n->in[i]) return n->in[i];
    if (i == 1 && shapes && (n->flags & IR_EMPTY)) return (ir_ref)ir_attr(g, r)[1 + n->rank + 1];
    return IR_NONE;
}

static void visit(const struct ir_graph *g, ir_ref root, bool shapes, struct ir_order *o) {
    uint32_t depth = 0;
    if (o->number[root]) return;
    o->stack[depth++] = (struct ir_frame){root, 0};
    while (depth) {
        struct ir_frame *top = &o->stack[depth - 1];
        ir_ref child = child_of(g, top->ref, top->next++, shapes);
        if (child && o->number[child]) continue;
        if (child) { // never on the stack already: a node cannot be its own operand
            o->stack[depth++] = (struct ir_frame){child, 0};
            continue;
        }
        o->ref[o->count++] = top->ref;
        o->number[top->ref] = o->count;
        depth--;
    }
}

// One block for the three arrays; none for a small graph.
static bool make_room(const struct ir_graph *g, ir_ref top, struct ir_order *o) {
    size_t each = sizeof(struct ir_frame) + sizeof *o->ref + sizeof *o->number;
    o->top = top + 1;
    o->count = 0;
    o->block = o->top <= IR_SMALL ? o->small : base_get(&g->alloc, o->top * each);
    if (!o->block) return false;
    o->stack = (struct ir_frame *)o->block;
    o->ref = (ir_ref *)(o->stack + o->top);
    o->number = o->ref + o->top;
    memset(o->number, 0, o->top * sizeof *o->number);
    return true;
}

weft_status ir_walk(const struct ir_graph *g, int n, const ir_ref *roots, bool shapes,
                    struct ir_order *out) {
    ir_ref top = 0;
    for (int i = 0; i < n; i++) {
        if (!roots[i] || roots[i] >= ir_count(g)) return WEFT_EINVAL;
        top = MAX_OF(top, roots[i]);
    }
    if (!make_room(g, top, out)) return WEFT_ENOMEM;
    for (int i = 0; i < n; i++)
        visit(g, roots[i], shapes, out);
    return WEFT_OK;
}

weft_status ir_numbers(const struct ir_graph *g, int n, const ir_ref *roots, uint32_t *number) {
    struct ir_order o;
    TRY(ir_walk(g, n, roots, true, &o));
    memset(number, 0, ir_count(g) * sizeof *number);
    for (uint32_t i = 0; i < o.count; i++)
        number[o.ref[i]] = o.number[o.ref[i]];
    ir_order_free(g, &o);
    return WEFT_OK;
}

void ir_order_free(const struct ir_graph *g, struct ir_order *o) {
    size_t each = sizeof(struct ir_frame) + sizeof *o->ref + sizeof *o->number;
    if (o->block != o->small) base_put(&g->alloc, o->block, o->top * each);
}
