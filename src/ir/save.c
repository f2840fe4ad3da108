// SPDX-License-Identifier: MIT
// A graph as bytes: what some roots need, in order of first use, as docs/graph-format.md describes. Operations
// are written by name, so that the table may be reordered; numbers little-endian on every machine. What is
// not a computation does not travel: addresses, nodes that only stand for a shape, and the values of the
// caller's arrays, which become inputs of fixed extents. Equal graphs give equal bytes.
#include <stdio.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "file.h"

struct saver {
    const struct ir_graph *g;
    struct base_err *err;
    struct ir_order order;
    uint32_t *number;             // in the file, of a node of g; 0: none yet, else 1 more
    uint16_t index[IR_OP__N];     // of an operation's name, 1 more
    const char *string[IR_OP__N + 64];
    uint32_t strings, inputs, first, next; // first: of a node that is no input; next: of the next one
    uint32_t from;                // arrays that became inputs
    struct base_vec body_inputs, body_nodes;
};

static void put(struct base_vec *v, uint64_t value, int bytes) {
    unsigned char b[8];
    for (int i = 0; i < bytes; i++)
        b[i] = (unsigned char)(value >> (8 * i));
    vec_push(v, b, (size_t)bytes);
}

void ir_file_sum(const unsigned char *bytes, size_t size, unsigned char sum[16]) {
    const XXH64_hash_t head = XXH3_64bits(bytes, IR_FILE_SUM);
    const XXH128_hash_t h = XXH3_128bits_withSeed(bytes + IR_FILE_HEAD, size - IR_FILE_HEAD, head);
    for (int i = 0; i < 8; i++) {
        sum[i] = (unsigned char)(h.low64 >> (8 * i));
        sum[8 + i] = (unsigned char)(h.high64 >> (8 * i));
    }
}

static uint32_t string_of(struct saver *s, const char *name) {
    for (uint32_t i = 0; i < s->strings; i++)
        if (strcmp(s->string[i], name) == 0) return i;
    if (s->strings < COUNT_OF(s->string)) s->string[s->strings++] = name;
    return s->strings - 1;
}
static uint32_t name_of(struct saver *s, enum ir_op op) {
    if (!s->index[op]) s->index[op] = (uint16_t)(string_of(s, ir_ops[op].name) + 1);
    return s->index[op] - 1u;
}

// ---- inputs -----------------------------------------------------------------------------------
static void put_input(struct saver *s, const char *name, const weft_array *a) {
    const size_t n = MIN_OF(strlen(name), (size_t)IR_FILE_NAME_MAX);
    put(&s->body_inputs, a->dtype, 1);
    put(&s->body_inputs, (uint64_t)a->rank, 1);
    put(&s->body_inputs, n, 2);
    for (int i = 0; i < a->rank; i++)
        put(&s->body_inputs, (uint64_t)a->dims[i], 8);
    vec_push(&s->body_inputs, name, n);
    s->inputs++;
}

static void save_own_inputs(struct saver *s) {
    for (int i = 0; i < ir_input_count(s->g); i++) {
        const struct ir_input *in = ir_input_at(s->g, i);
        const struct ir_node *n = ir_at(s->g, in->node);
        const weft_dtype t = (weft_dtype)n->dtype;
        if (in->node < s->order.top) s->number[in->node] = s->next + 1;
        s->next++;
        if (in->part == 2) continue;
        weft_array a = {.dtype = in->part ? dtype_complex_of(t) : t, .rank = n->rank};
        if (n->rank) memcpy(a.dims, ir_dims(s->g, in->node), n->rank * sizeof *a.dims);
        put_input(s, in->name, &a);
    }
}

// An array of the caller. A complex one has two nodes, of which one may not be needed.
static const struct ir_leaf *leaf_of(const struct saver *s, ir_ref r) {
    return ir_leaf_at(s->g, (int)*ir_attr(s->g, r));
}
static void save_from(struct saver *s, ir_ref r) {
    const struct ir_leaf *l = leaf_of(s, r);
    char name[32];
    weft_array a = l->array;
    if (s->number[r]) return;
    snprintf(name, sizeof name, "from%u", s->from++);
    // of arrays that share memory in odd ways only one pair is a pair
    const bool pair = l->part && leaf_of(s, l->other)->other == r &&
                      !(l->other < s->order.top && s->number[l->other]);
    s->number[r] = s->next + 1 + (pair && l->part == 2);
    if (pair) a.dtype = dtype_complex_of(a.dtype);
    if (pair && l->other < s->order.top) s->number[l->other] = s->next + 1 + (l->part == 1);
    s->next += pair ? 2 : 1;
    put_input(s, name, &a);
}

// ---- nodes ------------------------------------------------------------------------------------
static void put_node(struct saver *s, const struct ir_again *n, const uint32_t *in) {
    struct base_vec *v = &s->body_nodes;
    int operands = 0;
    while (operands < 3 && n->in[operands])
        operands++;
    put(v, name_of(s, n->op), 2);
    put(v, n->dtype, 1);
    put(v, n->weak, 1);
    put(v, (uint64_t)operands, 2);
    put(v, (uint64_t)n->nattr, 2);
    put(v, 0, 4);
    for (int i = 0; i < operands; i++)
        put(v, in[i], 4);
    for (int i = 0; i < n->nattr; i++)
        put(v, (uint64_t)n->attr[i], 8);
    s->next++;
}

// From now on the array's extents are those it had: what was built from them asked for no more.
static void fix_from(struct saver *s, ir_ref r) {
    const struct ir_node *n = ir_at(s->g, r);
    int64_t attr[1 + WEFT_MAX_RANK] = {string_of(s, "from")};
    if (!n->rank) return;
    memcpy(attr + 1, ir_dims(s->g, r), n->rank * sizeof *attr);
    const struct ir_again fixed = {.op = IR_fixed, .dtype = (weft_dtype)n->dtype, .nattr = 1 + n->rank,
                                   .attr = attr, .in = {r}};
    put_node(s, &fixed, (uint32_t[]){s->number[r] - 1});
    s->number[r] = s->next;
}

static weft_status put_checked(struct saver *s, ir_ref r, const struct ir_again *n) {
    const char *wrong = ir_admit(s->g, n);
    uint32_t in[3] = {0};
    if (wrong) return err_set(s->err, WEFT_EUNSUPPORTED, "save: %s: %s", ir_ops[n->op].name, wrong);
    for (int i = 0; i < 3; i++)
        if (n->in[i]) in[i] = s->number[n->in[i]] - 1;
    int64_t attr[IR_ATTRS];
    struct ir_again named = *n;
    if (n->op == IR_fixed) { // an address here, a name there
        memcpy(attr, n->attr, (size_t)n->nattr * sizeof *attr);
        attr[0] = string_of(s, (const char *)(intptr_t)n->attr[0]);
        named.attr = attr;
    }
    put_node(s, &named, in);
    s->number[r] = s->next;
    return WEFT_OK;
}

static weft_status save_node(struct saver *s, ir_ref r) {
    const struct ir_node *n = ir_at(s->g, r);
    const int64_t *attr = ir_attr(s->g, r), *origin = attr + 1 + n->rank;
    struct ir_again a = {.op = (enum ir_op)n->op, .dtype = (weft_dtype)n->dtype, .weak = (enum ir_weak)n->weak,
                         .nattr = n->nattr, .attr = attr, .in = {n->in[0], n->in[1], n->in[2]}};
    int64_t words[IR_ATTRS];
    if (n->op == IR_input || n->op == IR_from) return WEFT_OK;
    if (n->op == IR_broadcast_to && n->flags & IR_AUTO) { // matmul puts it in again
        s->number[r] = s->number[n->in[0]];
        return WEFT_OK;
    }
    if (n->op == IR_broadcast_to && n->flags & IR_EMPTY) { // the reduction that it stands for
        memcpy(words, origin + 2, 2 * sizeof *words);
        a = (struct ir_again){.op = (enum ir_op)origin[0], .dtype = (weft_dtype)n->dtype, .nattr = 2,
                              .attr = words, .in = {(ir_ref)origin[1]}};
    }
    if (n->op == IR_iota) { // its shape is its own
        words[0] = attr[0];
        memcpy(words + 1, ir_dims(s->g, r), n->rank * sizeof *words);
        a.nattr = 1 + n->rank;
        a.rank = n->rank;
        a.attr = words;
    }
    return put_checked(s, r, &a);
}

static weft_status save_all(struct saver *s) {
    save_own_inputs(s);
    for (uint32_t i = 0; i < s->order.count; i++)
        if (ir_at(s->g, s->order.ref[i])->op == IR_from) save_from(s, s->order.ref[i]);
    s->first = s->next;
    for (uint32_t i = 0; i < s->order.count; i++)
        if (ir_at(s->g, s->order.ref[i])->op == IR_from) fix_from(s, s->order.ref[i]);
    for (uint32_t i = 0; i < s->order.count; i++)
        TRY(save_node(s, s->order.ref[i]));
    return WEFT_OK;
}

// ---- the whole --------------------------------------------------------------------------------
static weft_status assemble(struct saver *s, int n, const ir_ref *roots, struct base_vec *out) {
    const size_t begin = out->size;
    vec_push(out, IR_FILE_MAGIC, 8);
    put(out, IR_FILE_VERSION, 4);
    put(out, 0, 4);
    put(out, 0, 8); // the size
    put(out, s->strings, 4);
    put(out, s->inputs, 4);
    put(out, s->next - s->first, 4);
    put(out, (uint64_t)n, 4);
    vec_push(out, NULL, 16);
    for (uint32_t i = 0; i < s->strings; i++) {
        const size_t bytes = strlen(s->string[i]);
        put(out, bytes, 1);
        vec_push(out, s->string[i], bytes);
    }
    vec_push(out, s->body_inputs.data, s->body_inputs.size);
    vec_push(out, s->body_nodes.data, s->body_nodes.size);
    for (int i = 0; i < n; i++)
        put(out, s->number[roots[i]] - 1, 4);
    if (out->failed || s->body_inputs.failed || s->body_nodes.failed)
        return err_set(s->err, WEFT_ENOMEM, "save: no memory");
    for (int i = 0; i < 8; i++)
        out->data[begin + IR_FILE_AT_SIZE + (size_t)i] = (unsigned char)((uint64_t)(out->size - begin) >> (8 * i));
    return WEFT_OK;
}

weft_status ir_save(const struct ir_graph *g, int n, const ir_ref *roots, struct base_vec *out,
                    struct base_err *err) {
    struct saver s = {.g = g, .err = err};
    weft_status st = ir_walk(g, n, roots, true, &s.order);
    if (st) return err_set(err, st, "save: %s", st == WEFT_ENOMEM ? "no memory" : "no such root");
    vec_init(&s.body_inputs, &g->alloc);
    vec_init(&s.body_nodes, &g->alloc);
    s.number = base_get_zero(&g->alloc, s.order.top * sizeof *s.number);
    st = s.number ? save_all(&s) : err_set(err, WEFT_ENOMEM, "save: no memory");
    if (!st) st = assemble(&s, n, roots, out);
    base_put(&g->alloc, s.number, s.order.top * sizeof *s.number);
    vec_free(&s.body_inputs);
    vec_free(&s.body_nodes);
    ir_order_free(g, &s.order);
    return st;
}
