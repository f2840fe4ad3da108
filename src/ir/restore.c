// SPDX-License-Identifier: MIT
// A graph out of bytes that anybody may have written. Nothing is believed: every number is read within the
// bytes there are, every operand is an earlier node, every record passes admit.c and then the emitter that a
// program would have called; so what comes to be is a graph that could have been built, or an error. A node
// costs the file at least IR_FILE_NODE bytes and the graph a bounded number of words; extents allocate nothing.
#include "file.h"

struct reader {
    struct ir_graph *g;
    const unsigned char *at, *end;
    enum ir_op *op;       // of each string, IR_OP__N: not an operation's name
    const char **fixed;   // the same string as a name for messages
    uint32_t strings, inputs, nodes, nroots;
    ir_ref *value;        // by number
    uint32_t values, room;
};

static bool refuse(struct reader *r, const char *what) {
    return ir_fail(r->g, WEFT_EINVAL, "graph file: %s", what);
}

static bool have(struct reader *r, size_t n) {
    return (size_t)(r->end - r->at) >= n || refuse(r, "it ends early");
}

// Of n <= 8 bytes that are there.
static uint64_t take(struct reader *r, int n) {
    uint64_t v = 0;
    for (int i = 0; i < n; i++)
        v |= (uint64_t)r->at[i] << (8 * i);
    r->at += n;
    return v;
}

static bool read_head(struct reader *r, size_t size) {
    if (size < IR_FILE_HEAD || memcmp(r->at, IR_FILE_MAGIC, 8) != 0) return refuse(r, "it is none");
    r->at += 8;
    const uint64_t version = take(r, 4), flags = take(r, 4);
    if (version != IR_FILE_VERSION || flags) return refuse(r, "it is of a version that is not known here");
    if (take(r, 8) != size) return refuse(r, "its size is not what it says");
    r->strings = (uint32_t)take(r, 4);
    r->inputs = (uint32_t)take(r, 4);
    r->nodes = (uint32_t)take(r, 4);
    r->nroots = (uint32_t)take(r, 4);
    r->at += 16;
    const size_t left = size - IR_FILE_HEAD;
    if (r->strings > IR_FILE_STRINGS_MAX || r->strings > left || r->inputs > left / IR_FILE_INPUT ||
        r->nodes > left / IR_FILE_NODE || r->nroots > left / 4 || !r->nroots)
        return refuse(r, "it counts more than it holds");
    return true;
}

// ---- names ------------------------------------------------------------------------------------
const char *ir_fixed_name(const char *name, size_t size) {
    static const char *const known[] = {"split", "roll", "pad", "tile", "repeat", "select",
                                        "nonzero", "topk", "quantile", "from"};
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (strlen(known[i]) == size && memcmp(known[i], name, size) == 0) return known[i];
    return "fixed";
}

static enum ir_op op_named(const char *name, size_t size) {
    for (int i = 1; i < IR_OP__N; i++)
        if (strlen(ir_ops[i].name) == size && memcmp(ir_ops[i].name, name, size) == 0) return (enum ir_op)i;
    return IR_OP__N;
}

static bool read_strings(struct reader *r) {
    for (uint32_t i = 0; i < r->strings; i++) {
        if (!have(r, 1)) return false;
        const size_t n = (size_t)take(r, 1);
        if (!have(r, n)) return false;
        r->op[i] = op_named((const char *)r->at, n);
        r->fixed[i] = ir_fixed_name((const char *)r->at, n);
        r->at += n;
    }
    return true;
}

// ---- inputs -----------------------------------------------------------------------------------
static bool put_value(struct reader *r, ir_ref ref) {
    if (!ref) return false;
    if (r->values >= r->room) return refuse(r, "it counts less than it holds");
    r->value[r->values++] = ref;
    return true;
}

static bool read_input(struct reader *r) {
    int64_t dims[WEFT_MAX_RANK];
    if (!have(r, IR_FILE_INPUT)) return false;
    const unsigned t = (unsigned)take(r, 1), rank = (unsigned)take(r, 1);
    const size_t n = (size_t)take(r, 2);
    if (t >= WEFT_DTYPE__N || rank > WEFT_MAX_RANK) return refuse(r, "an input of no type or of too many axes");
    if (!have(r, 8 * rank + n)) return false;
    for (unsigned i = 0; i < rank; i++)
        dims[i] = (int64_t)take(r, 8);
    char *name = arena_get(&r->g->names, n + 1); // ends in a zero
    if (!name) return ir_fail(r->g, WEFT_ENOMEM, "graph file: no memory for a name");
    if (memchr(r->at, 0, n)) return refuse(r, "a name with a zero in it");
    if (n) memcpy(name, r->at, n);
    r->at += n;
    const ir_ref in = ir_input(r->g, name, (weft_dtype)t, (int)rank, dims);
    if (!in || !dtype_is_complex((weft_dtype)t)) return put_value(r, in);
    return put_value(r, ir_at(r->g, in)->in[0]) && put_value(r, ir_at(r->g, in)->in[1]);
}

// ---- nodes ------------------------------------------------------------------------------------
static bool read_operands(struct reader *r, struct ir_again *n, unsigned operands) {
    for (unsigned i = 0; i < operands; i++) {
        const uint64_t number = take(r, 4);
        if (number >= r->values) return refuse(r, "an operand that does not precede its user");
        n->in[i] = r->value[number];
    }
    return true;
}

static bool name_fixed(struct reader *r, int64_t *attr) {
    if (attr[0] < 0 || attr[0] >= r->strings) return refuse(r, "a name that is not there");
    attr[0] = (int64_t)(intptr_t)r->fixed[attr[0]];
    return true;
}

static bool admit_and_put(struct reader *r, struct ir_again *n, int64_t *attr) {
    const char *wrong = ir_admit(r->g, n);
    if (wrong) return ir_fail(r->g, WEFT_EINVAL, "graph file: %s: %s", ir_ops[n->op].name, wrong);
    if (n->op == IR_fixed && !name_fixed(r, attr)) return false;
    if (n->op == IR_iota) {
        n->rank = n->nattr - 1;
        n->dims = attr + 1;
    }
    return put_value(r, ir_put_again(r->g, n));
}

static bool read_node(struct reader *r) {
    int64_t attr[IR_ATTRS];
    if (!have(r, IR_FILE_NODE)) return false;
    const uint64_t name = take(r, 2), t = take(r, 1), weak = take(r, 1), operands = take(r, 2),
                   nattr = take(r, 2), spare = take(r, 4);
    if (name >= r->strings || r->op[name] >= IR_OP__N) return refuse(r, "an operation that is not known here");
    if (t >= WEFT_DTYPE__N || weak > IR_WEAK_COMPLEX) return refuse(r, "a node of no type");
    if (operands > 3 || nattr > IR_ATTRS || spare) return refuse(r, "a node of too many words");
    if (!have(r, 4 * operands + 8 * nattr)) return false;
    struct ir_again n = {.op = r->op[name], .dtype = (weft_dtype)t, .weak = (enum ir_weak)weak,
                         .nattr = (int)nattr, .attr = attr};
    if (!read_operands(r, &n, (unsigned)operands)) return false;
    for (uint64_t i = 0; i < nattr; i++)
        attr[i] = (int64_t)take(r, 8);
    if (n.op == IR_iota) n.rank = n.nattr - 1;
    return admit_and_put(r, &n, attr);
}

static bool read_roots(struct reader *r, struct base_vec *roots) {
    if (!have(r, 4 * (size_t)r->nroots)) return false;
    for (uint32_t i = 0; i < r->nroots; i++) {
        const uint64_t number = take(r, 4);
        if (number >= r->values) return refuse(r, "a root that is not there");
        vec_push(roots, &r->value[number], sizeof(ir_ref));
    }
    if (roots->failed) return ir_fail(r->g, WEFT_ENOMEM, "graph file: no memory for the roots");
    return r->at == r->end || refuse(r, "something follows its end");
}

static bool read_body(struct reader *r, struct base_vec *roots) {
    struct base_err unsound = {WEFT_OK, ""};
    if (!read_strings(r)) return false;
    for (uint32_t i = 0; i < r->inputs; i++)
        if (!read_input(r)) return false;
    for (uint32_t i = 0; i < r->nodes; i++)
        if (!read_node(r)) return false;
    if (!read_roots(r, roots)) return false;
    if (ir_check(r->g, &unsound)) return true; // what admit.c and the emitters promise
    return ir_fail(r->g, WEFT_EINVAL, "graph file: %s", unsound.text);
}

weft_status ir_restore(struct ir_graph *g, const unsigned char *bytes, size_t size, struct base_vec *roots) {
    struct reader r = {.g = g, .at = bytes, .end = bytes + size};
    if (g->err.status || !read_head(&r, size)) return g->err.status;
    r.room = r.inputs * 2 + r.nodes;
    const size_t strings = r.strings * (sizeof *r.op + sizeof *r.fixed), values = r.room * sizeof *r.value;
    r.fixed = base_get(&g->alloc, strings);
    r.value = base_get(&g->alloc, values);
    if (r.fixed && r.value) {
        r.op = (enum ir_op *)(void *)(r.fixed + r.strings);
        read_body(&r, roots);
    } else {
        ir_fail(g, WEFT_ENOMEM, "graph file: no memory");
    }
    base_put(&g->alloc, r.fixed, strings);
    base_put(&g->alloc, r.value, values);
    return g->err.status;
}
