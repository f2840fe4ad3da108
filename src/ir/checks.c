// SPDX-License-Identifier: MIT
// Checked mode: a graph in, the same graph with what looks for faults in it out. Every node that the
// roots need is asked what could go wrong in it (checks_of.c), which gives bool arrays in the node's shape.
// Those of one shape are a group: at each element the least number among what went wrong there, then the
// least number of all and its first place. So the first fault is the least (node, kind), then the least
// index, whatever the cut and the order of execution; and it fuses with what it looks at.
#include <stdio.h>

#include "checks.h"

enum { GROUP_MOST = 256 };

// ---- noting while the graph is built ------------------------------------------------------------
bool ir_watch(struct ir_graph *g, bool on) {
    if (ir_count(g) != 1) return false;
    g->watched = on;
    return true;
}
bool ir_is_watched(const struct ir_graph *g) {
    return g->watched;
}

void ir_note_pair(struct ir_graph *g, enum ir_op op, ir_ref result, const ir_ref *in) {
    struct ir_note n = {.op = op};
    int count = 0;
    if (!result) return;
    for (int i = 0; i < ir_ops[op].arity; i++) {
        const struct ir_node *x = ir_at(g, in[i]);
        const bool both = x->op == IR_complex;
        n.in[count++] = both ? x->in[0] : in[i];
        if (both) n.in[count++] = x->in[1];
    }
    const struct ir_node *r = ir_at(g, result);
    for (int i = 0; i < (r->op == IR_complex ? 2 : 1); i++) {
        n.part = r->op == IR_complex ? r->in[i] : result;
        vec_push(&g->notes, &n, sizeof n);
    }
    if (g->notes.failed) ir_fail(g, WEFT_ENOMEM, "%s: no memory for the graph", ir_ops[op].name);
}

// ---- groups ---------------------------------------------------------------------------------------
struct group {
    ir_ref node; // whose shape it has
    ir_ref code; // of an element
    int count;   // suspects so far
    int next;    // group of the same shape before it, or -1
};

static bool same_shape(const struct ir_graph *g, ir_ref a, ir_ref b) {
    const int rank = ir_at(g, a)->rank;
    return rank == ir_at(g, b)->rank &&
           (!rank || memcmp(ir_dims(g, a), ir_dims(g, b), (size_t)rank * sizeof(int64_t)) == 0);
}

// The open group of the node's shape; suspects come in order, so numbers in a group rise.
static int find_group(struct ir_checker *c, ir_ref node) {
    const int n = (int)VEC_LEN(&c->groups, struct group);
    for (int i = n - 1; i >= 0; i--) {
        const struct group *x = &VEC_AT(&c->groups, struct group, i);
        if (x->count < GROUP_MOST && same_shape(c->g, x->node, node)) return i;
    }
    const struct group fresh = {.node = node};
    return vec_push(&c->groups, &fresh, sizeof fresh) ? n : -1;
}

static ir_ref code_constant(struct ir_graph *g, int code) {
    return ir_constant_of(g, WEFT_I32, (uint64_t)(uint32_t)code, IR_STRONG);
}

void ir_suspect(struct ir_checker *c, const struct ir_suspect *what, ir_ref wrong) {
    struct ir_graph *g = c->g;
    const struct ir_node *n = ir_at(g, what->node);
    if (!wrong || ir_elements(g, what->node) == 0) return;
    if (ir_is_constant(g, wrong) && !ir_constant_bits(g, wrong)) return;
    wrong = ir_broadcast_to(g, wrong, n->rank, ir_dims(g, what->node));
    struct ir_suspect s = *what;
    s.group = find_group(c, what->node);
    if (s.group < 0 || !wrong) return;
    struct group *x = &VEC_AT(&c->groups, struct group, s.group);
    s.code = x->count++;
    // numbers rise, so what is there already stays
    ir_ref before = x->code ? x->code : code_constant(g, IR_NO_FAULT);
    ir_ref mine = ir_map(g, IR_where, (ir_ref[]){wrong, code_constant(g, s.code), code_constant(g, IR_NO_FAULT)});
    x->code = x->code ? ir_map(g, IR_minimum, (ir_ref[]){before, mine}) : mine;
    vec_push(&c->suspects, &s, sizeof s);
}

static void end_groups(struct ir_checker *c, struct base_vec *roots) {
    for (size_t i = 0; i < VEC_LEN(&c->groups, struct group); i++) {
        const ir_ref code = VEC_AT(&c->groups, struct group, i).code;
        const ir_ref pair[2] = {ir_reduce(c->g, IR_MIN, code, NULL), ir_reduce(c->g, IR_ARGMIN, code, NULL)};
        vec_push(roots, pair, sizeof pair);
    }
}

weft_status ir_checks_make(struct ir_graph *g, int n, const ir_ref *roots, struct ir_checks *out) {
    struct ir_order o;
    struct ir_checker c = {.g = g};
    memset(out, 0, sizeof *out);
    vec_init(&out->suspects, &g->alloc), vec_init(&out->roots, &g->alloc);
    vec_init(&c.groups, &g->alloc), vec_init(&c.suspects, &g->alloc);
    weft_status s = ir_walk(g, n, roots, false, &o);
    if (s) return err_set(&g->err, s, "checks: no memory");
    for (uint32_t i = 0; i < o.count && !g->err.status; i++)
        ir_checks_of(&c, o.ref[i]);
    ir_order_free(g, &o);
    if (!g->err.status) end_groups(&c, &out->roots);
    if (c.groups.failed || c.suspects.failed || out->roots.failed)
        err_set(&g->err, WEFT_ENOMEM, "checks: no memory");
    out->suspects = c.suspects;
    out->ngroup = (int)VEC_LEN(&c.groups, struct group);
    vec_free(&c.groups);
    out->nsuspect = (int)VEC_LEN(&out->suspects, struct ir_suspect);
    out->suspect = (struct ir_suspect *)(void *)out->suspects.data;
    out->root = (ir_ref *)(void *)out->roots.data;
    if (g->err.status) ir_checks_free(out);
    return g->err.status;
}

void ir_checks_free(struct ir_checks *c) {
    vec_free(&c->suspects);
    vec_free(&c->roots);
    c->nsuspect = c->ngroup = 0;
}

// ---- the sentence -----------------------------------------------------------------------------------
void ir_checks_text(const struct ir_graph *g, const struct ir_suspect *s, int64_t place, char *buf, size_t size) {
    static const char *const faults[] = {
        [IR_FAULT_NUMBER] = "a NaN or an infinity out of finite operands",
        [IR_FAULT_INDEX] = "index out of range",
        [IR_FAULT_ZERO] = "integer division by zero",
        [IR_FAULT_COUNT] = "shift count out of range",
        [IR_FAULT_RANGE] = "cast out of range",
        [IR_FAULT_OVERFLOW] = "integer overflow",
    };
    char type[200], at[300] = "";
    int64_t index[WEFT_MAX_RANK];
    size_t used = 0;
    const int rank = ir_at(g, s->node)->rank;
    for (int d = rank - 1; d >= 0; d--) {
        index[d] = place % ir_dims(g, s->node)[d];
        place /= ir_dims(g, s->node)[d];
    }
    for (int d = 0; d < rank && used < sizeof at; d++)
        used += (size_t)snprintf(at + used, sizeof at - used, "%s%lld", d ? "," : "", (long long)index[d]);
    ir_type_text(g, s->node, type, sizeof type);
    snprintf(buf, size, "%s: %s at [%s] of %s", s->name, faults[s->fault], at, type);
}
