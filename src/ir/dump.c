// SPDX-License-Identifier: MIT
// The graph as text, one node a line in order of first use, and as a graph for graphviz. Addresses
// and refs do not appear: equal computations have equal dumps.
#include "graph.h"

static void dump_words(struct base_vec *out, const int64_t *w, int n) {
    vec_printf(out, "[");
    for (int i = 0; i < n; i++) {
        if (w[i] == WEFT_NONE)
            vec_printf(out, "%s_", i ? "," : "");
        else
            vec_printf(out, "%s%lld", i ? "," : "", (long long)w[i]);
    }
    vec_printf(out, "]");
}

static void dump_extent(const struct ir_graph *g, ir_ref r, struct base_vec *out) {
    uint64_t mask = (uint64_t)ir_attr(g, r)[0];
    int64_t axes[WEFT_MAX_RANK];
    int n = 0;
    for (int i = 0; i < WEFT_MAX_RANK; i++)
        if (mask >> i & 1) axes[n++] = i;
    vec_printf(out, " axes");
    dump_words(out, axes, n);
    vec_printf(out, " = %.17g", ir_extent_value(g, r));
}

// What the node's attributes say, after its operands.
static void dump_attributes(const struct ir_graph *g, ir_ref r, struct base_vec *out) {
    const struct ir_node *n = ir_at(g, r);
    const int64_t *a = ir_attr(g, r);
    char text[40];
    switch (n->op) {
    case IR_from:
        if (!n->rank) return;
        vec_printf(out, " strides");
        dump_words(out, ir_leaf_at(g, (int)*a)->array.strides, n->rank);
        return;
    case IR_input:
        vec_printf(out, " %lld \"%s\"", (long long)*a, ir_input_at(g, (int)*a)->name);
        return;
    case IR_constant:
        ir_value_text((weft_dtype)n->dtype, (uint64_t)*a, text, sizeof text);
        vec_printf(out, " %s%s", text, n->weak ? " weak" : "");
        return;
    case IR_extent: dump_extent(g, r, out); return;
    case IR_reshape:
    case IR_broadcast_to:
        vec_printf(out, " ");
        dump_words(out, a + 1, n->op == IR_reshape ? (int)a[0] : n->rank);
        return;
    case IR_fixed: return;
    case IR_guard: vec_printf(out, " \"%s\"", ir_guard_text(g, r)); return;
    default: break;
    }
    if (n->nattr == 0) return;
    vec_printf(out, ir_ops[n->op].cls == IR_REDUCE ? " axes" : " ");
    if (ir_ops[n->op].cls != IR_REDUCE) {
        dump_words(out, a, n->nattr);
        return;
    }
    int64_t axes[WEFT_MAX_RANK];
    for (int64_t i = a[0]; i < a[1]; i++)
        axes[i - a[0]] = i;
    dump_words(out, axes, (int)(a[1] - a[0]));
}

void ir_attr_dump(const struct ir_graph *g, ir_ref r, struct base_vec *out) {
    dump_attributes(g, r, out);
}

static void dump_node(const struct ir_graph *g, ir_ref r, const struct ir_order *o,
                      struct base_vec *out) {
    const struct ir_node *n = ir_at(g, r);
    char type[700];
    ir_dims_text((weft_dtype)n->dtype, n->rank, ir_dims(g, r), type, sizeof type);
    vec_printf(out, "%%%u = %s", o->number[r], ir_ops[n->op].name);
    for (int i = 0; i < 3 && n->in[i]; i++)
        vec_printf(out, " %%%u", o->number[n->in[i]]);
    dump_attributes(g, r, out);
    vec_printf(out, " : %s\n", type);
}

void ir_dump(const struct ir_graph *g, int n, const ir_ref *roots, struct base_vec *out) {
    struct ir_order o;
    if (ir_walk(g, n, roots, true, &o)) {
        out->failed = true;
        return;
    }
    for (uint32_t i = 0; i < o.count; i++)
        dump_node(g, o.ref[i], &o, out);
    vec_printf(out, "return");
    for (int i = 0; i < n; i++)
        vec_printf(out, " %%%u", o.number[roots[i]]);
    vec_printf(out, "\n");
    ir_order_free(g, &o);
}

void ir_dot_dump(const struct ir_graph *g, int n, const ir_ref *roots, struct base_vec *out) {
    static const char *const shapes[] = {[IR_LEAF] = "box",
                                         [IR_MAP] = "ellipse",
                                         [IR_REDUCE] = "invtrapezium",
                                         [IR_VIEW] = "parallelogram",
                                         [IR_CONTRACT] = "hexagon",
                                         [IR_GATHER] = "house",
                                         [IR_JOIN] = "cds",
                                         [IR_RESULT] = "note",
                                         [IR_CALL] = "component"};
    struct ir_order o;
    char type[700];
    if (ir_walk(g, n, roots, true, &o)) {
        out->failed = true;
        return;
    }
    vec_printf(out, "digraph weft {\n  rankdir=TB;\n  node [fontname=\"monospace\"];\n");
    for (uint32_t k = 0; k < o.count; k++) {
        ir_ref r = o.ref[k];
        const struct ir_node *x = ir_at(g, r);
        ir_dims_text((weft_dtype)x->dtype, x->rank, ir_dims(g, r), type, sizeof type);
        vec_printf(out, "  n%u [shape=%s label=\"%s\\n%s\"];\n", k + 1, shapes[ir_ops[x->op].cls],
                   ir_ops[x->op].name, type);
        for (int i = 0; i < 3 && x->in[i]; i++)
            vec_printf(out, "  n%u -> n%u%s;\n", o.number[x->in[i]], k + 1,
                       x->op == IR_extent ? " [style=dotted]" : "");
    }
    for (int i = 0; i < n; i++)
        vec_printf(out, "  out%d [shape=plaintext];\n  n%u -> out%d;\n", i, o.number[roots[i]], i);
    vec_printf(out, "}\n");
    ir_order_free(g, &o);
}
