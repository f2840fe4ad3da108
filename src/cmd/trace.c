// SPDX-License-Identifier: MIT
// What was written: a node for each name, literal, operator and call of the text, with the type its result has.
// The parser builds while it reads and the library folds while it is built, so this is the only place where the
// expression is still what its author typed. Kept for `weft explain --html` alone.
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

static int add(struct trace *t) {
    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 32;
        struct trace_node *grown = cmd_alloc((size_t)t->cap * sizeof *grown);
        if (t->n) memcpy(grown, t->at, (size_t)t->n * sizeof *grown);
        free(t->at);
        t->at = grown;
    }
    memset(&t->at[t->n], 0, sizeof t->at[0]);
    return t->n++;
}

static void type_text(const weft_expr *x, char *buf, size_t size) {
    size_t at = (size_t)snprintf(buf, size, "%s", weft_dtype_name(weft_expr_dtype(x)));
    const int rank = weft_expr_rank(x);
    for (int i = 0; i < rank && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%c%lld%s", i ? ',' : '[', (long long)weft_expr_dims(x)[i],
                               i + 1 == rank ? "]" : "");
}

static int literal(struct trace *t, const struct value *v) {
    const int i = add(t);
    struct trace_node *n = &t->at[i];
    n->leaf = true;
    snprintf(n->type, sizeof n->type, "literal");
    if (v->kind == V_INT)
        snprintf(n->label, sizeof n->label, "%s%llu", v->negative ? "-" : "", (unsigned long long)v->u);
    else if (v->kind == V_BOOL)
        snprintf(n->label, sizeof n->label, v->truth ? "True" : "False");
    else
        snprintf(n->label, sizeof n->label, "%.6g%s", v->f, v->kind == V_IMAGINARY ? "j" : "");
    return i;
}

// The node of an operand, made now when it is a number; -1 for what is no value (axes, types).
static int node_of(struct trace *t, const struct value *v) {
    if (v->node) return v->node - 1;
    const bool number = v->kind == V_INT || v->kind == V_FLOAT || v->kind == V_IMAGINARY || v->kind == V_BOOL;
    return number ? literal(t, v) : -1;
}

int trace_built(struct parser *p, const char *label, size_t len, const struct value *from, int n,
                const struct value *out) {
    struct trace *t = p->trace_ud;
    int in[COUNT_OF(((struct trace_node *)0)->in)], nin = 0;
    if (!label) {
        const int k = t->nroot < (int)COUNT_OF(t->root) ? node_of(t, out) : -1;
        if (k >= 0) t->root[t->nroot++] = k;
        return 0;
    }
    if (out->kind != V_EXPR && out->kind != V_MANY) return out->node;
    for (int i = 0; i < n && nin < (int)COUNT_OF(in); i++)
        if ((in[nin] = node_of(t, &from[i])) >= 0) nin++;
    const int k = add(t);
    struct trace_node *node = &t->at[k];
    const int most = (int)sizeof node->label - 4;
    if ((int)len > most)
        snprintf(node->label, sizeof node->label, "%.*s...", most, label);
    else
        snprintf(node->label, sizeof node->label, "%.*s", (int)len, label);
    type_text(out->kind == V_MANY ? out->many.item[0] : out->expr, node->type, sizeof node->type);
    node->leaf = n == 0;
    node->nin = nin;
    memcpy(node->in, in, (size_t)nin * sizeof *in);
    return k + 1;
}

void trace_free(struct trace *t) {
    free(t->at);
    *t = (struct trace){.at = NULL};
}
