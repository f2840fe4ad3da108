// SPDX-License-Identifier: MIT
// The one traversal of whole graphs: post-order depth first from the roots, operands from left to
// right. Its order is the canonical numbering that keys, replays, dumps and plans share. An
// explicit stack, since graphs are as deep as users make them; scratch of its own, so that threads
// may walk one graph at once.
#include "graph.h"

struct frame {
    ir_ref ref;
    uint32_t next; // operand to visit next
};

// Operand i of r in the traversal, IR_NONE past the last.
static ir_ref child_of(const struct ir_graph *g, ir_ref r, uint32_t i, bool shapes) {
    const struct ir_node *n = ir_at(g, r);
    if (n->op == IR_extent && !shapes) return IR_NONE;
    if (i < 3 && n->in[i]) return n->in[i];
    if (i == 1 && shapes && (n->flags & IR_EMPTY)) return (ir_ref)ir_attr(g, r)[1 + n->rank + 1];
    return IR_NONE;
}

static bool visit(const struct ir_graph *g, ir_ref root, bool shapes, struct ir_order *o,
                  struct base_vec *stack) {
    if (o->number[root]) return true;
    if (!vec_push(stack, &(struct frame){root, 0}, sizeof(struct frame))) return false;
    while (stack->size) {
        struct frame *top = &VEC_AT(stack, struct frame, VEC_LEN(stack, struct frame) - 1);
        ir_ref child = child_of(g, top->ref, top->next++, shapes);
        if (child && o->number[child]) continue;
        if (child) {
            if (!vec_push(stack, &(struct frame){child, 0}, sizeof(struct frame))) return false;
            continue;
        }
        if (!vec_push(&o->refs, &top->ref, sizeof top->ref)) return false;
        o->number[top->ref] = (uint32_t)VEC_LEN(&o->refs, ir_ref);
        stack->size -= sizeof(struct frame);
    }
    return true;
}

weft_status ir_walk(const struct ir_graph *g, int n, const ir_ref *roots, bool shapes,
                    struct ir_order *out) {
    struct base_vec stack;
    ir_ref top = 0;
    *out = (struct ir_order){0};
    vec_init(&out->refs, &g->alloc);
    vec_init(&stack, &g->alloc);
    for (int i = 0; i < n; i++) {
        if (!roots[i] || roots[i] >= ir_count(g)) return WEFT_EINVAL;
        top = MAX_OF(top, roots[i]);
    }
    out->top = top + 1;
    out->number = base_get_zero(&g->alloc, out->top * sizeof *out->number);
    bool ok = out->number != NULL;
    for (int i = 0; ok && i < n; i++)
        ok = visit(g, roots[i], shapes, out, &stack);
    vec_free(&stack);
    if (ok) return WEFT_OK;
    ir_order_free(g, out);
    return WEFT_ENOMEM;
}

void ir_order_free(const struct ir_graph *g, struct ir_order *o) {
    vec_free(&o->refs);
    base_put(&g->alloc, o->number, o->top * sizeof *o->number);
    *o = (struct ir_order){0};
    vec_init(&o->refs, &g->alloc);
}
