// SPDX-License-Identifier: MIT
// Calls: operations over whole arrays that one precompiled function does. In: operands and
// attributes; out: a node that is the call and its first output; further outputs are nodes of their
// own that name the call and a number. What they are is the operation's rule, asked again whenever
// a graph is replayed, so that a rule is the only place that knows a call's shapes.
#include "call.h"

struct known {
    ir_rule_fn *rule;
    int nout;
};
static const struct known *find(enum ir_op op) {
    static const struct known table[IR_OP__N] = {
        [IR_sort] = {ir_rule_sort, 2},           [IR_search] = {ir_rule_search, 1},
        [IR_unique] = {ir_rule_unique, 5},       [IR_histogram] = {ir_rule_histogram, 1},
        [IR_scan] = {ir_rule_scan, 1},           [IR_scatter] = {ir_rule_scatter, 1},
        [IR_compress] = {ir_rule_compress, 2},   [IR_cholesky] = {ir_rule_cholesky, 1},
        [IR_solve] = {ir_rule_solve, 1},         [IR_triangular] = {ir_rule_solve, 1},
        [IR_lu] = {ir_rule_lu, 2},               [IR_qr] = {ir_rule_qr, 2},
        [IR_eigh] = {ir_rule_eigh, 2},           [IR_svd] = {ir_rule_svd, 3},
        [IR_fft] = {ir_rule_fft, 2},             [IR_rfft] = {ir_rule_rfft, 2},
        [IR_irfft] = {ir_rule_irfft, 1},         [IR_unpack_bits] = {ir_rule_unpack_bits, 1},
    };
    return &table[op];
}

int ir_call_outputs(enum ir_op op) {
    return find(op)->nout;
}

static bool ask(struct ir_graph *g, enum ir_op op, const ir_ref *in, const int64_t *attr, int nattr,
                struct ir_shape *out) {
    struct ir_ask r = {g, op, in, attr, nattr, {ir_ops[op].name, 0, in}};
    while (r.who.n < 3 && in[r.who.n])
        r.who.n++;
    return find(op)->rule(&r, out);
}

static void use_shape(struct ir_draft *d, const struct ir_shape *s) {
    d->dtype = s->dtype;
    d->rank = s->rank;
    if (s->rank) memcpy(d->dims, s->dims, (size_t)s->rank * sizeof *d->dims);
}

ir_ref ir_call(struct ir_graph *g, enum ir_op op, const ir_ref *in, const int64_t *attr,
               int nattr) {
    struct ir_shape out[IR_MAX_OUT];
    struct ir_draft d;
    ir_draft_begin(&d, op, WEFT_F64);
    for (int i = 0; i < 3; i++) {
        d.in[i] = i < ir_ops[op].arity && in[i] ? ir_strong(g, in[i]) : IR_NONE;
        if (i < ir_ops[op].arity && !d.in[i]) return IR_NONE;
    }
    if (!ask(g, op, d.in, attr, nattr, out)) return IR_NONE;
    use_shape(&d, &out[0]);
    d.nattr = nattr;
    if (nattr) memcpy(d.attr, attr, (size_t)nattr * sizeof *attr);
    return ir_put(g, &d);
}

ir_ref ir_result(struct ir_graph *g, ir_ref call, int k) {
    struct ir_shape out[IR_MAX_OUT];
    if (!call || k == 0) return call;
    const struct ir_node *n = ir_at(g, call);
    if (!ask(g, (enum ir_op)n->op, n->in, ir_attr(g, call), n->nattr, out)) return IR_NONE;
    struct ir_draft d;
    ir_draft_begin(&d, IR_result, out[k].dtype);
    use_shape(&d, &out[k]);
    d.in[0] = call;
    d.attr[d.nattr++] = k;
    return ir_put(g, &d);
}
