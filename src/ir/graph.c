// SPDX-License-Identifier: MIT
// The graph's storage. Drafts come in, refs go out; equal drafts give the same ref (hash-consing),
// so no later pass looks for common subexpressions. Invariants: operands precede their users;
// addresses hold until reset, because everything lives in chunks; a refused allocation leaves the
// graph as it was, with WEFT_ENOMEM recorded. Nodes share the dims of an operand of the same shape:
// a chain costs no words.
#include "graph.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdio.h>

enum { FIRST_SLOTS = 128, DEFAULT_MAX_NODES = 1 << 28 };

const struct ir_op_info ir_ops[IR_OP__N] = {
    [IR_NOP] = {"nop", 0, IR_LEAF, RULE_NONE, false, "nothing"},
#define LEAF(name, doc) [IR_##name] = {#name, 0, IR_LEAF, RULE_NONE, false, doc},
#include "ops.def"
#define LIGHT false
#define HEAVY true
#define MAP(name, arity, rule, kernel, flt, integer, boolean, doc)                                 \
    [IR_##name] = {#name, arity, IR_MAP, RULE_##rule, kernel, doc},
#include "ops.def"
#undef LIGHT
#undef HEAVY
#define REDUCE(name, kernel, doc) [IR_R_##name] = {#name, 1, IR_REDUCE, RULE_NONE, false, doc},
#include "ops.def"
#define VIEW(name, doc)                                                                            \
    [IR_##name] = {#name, 1 + (IR_##name == IR_guard || IR_##name == IR_trim), IR_VIEW, RULE_NONE, false, doc},
#include "ops.def"
#define PAIR(name, arity, doc) [IR_##name] = {#name, arity, IR_PAIR, RULE_NONE, false, doc},
#include "ops.def"
#define CONTRACT(name, doc) [IR_##name] = {#name, 2, IR_CONTRACT, RULE_NONE, true, doc},
#include "ops.def"
#define WHOLE(name, arity, cls, doc) [IR_##name] = {#name, arity, IR_##cls, RULE_NONE, false, doc},
#include "ops.def"
};

// ---- pools ------------------------------------------------------------------------------------
static size_t chunk_bytes(const struct ir_pool *p) { return (size_t)p->item << p->shift; }

static bool add_chunk(struct ir_pool *p, const struct base_alloc *alloc) {
    if (p->nchunk == p->cap) {
        uint32_t cap = p->cap ? p->cap * 2 : 8;
        void *dir = base_resize(alloc, p->chunk, p->cap * sizeof *p->chunk, cap * sizeof *p->chunk);
        if (!dir) return false;
        p->chunk = dir;
        p->cap = cap;
    }
    void *chunk = base_get(alloc, chunk_bytes(p));
    if (!chunk) return false;
    p->chunk[p->nchunk++] = chunk;
    return true;
}

bool ir_pool_room(struct ir_pool *p, const struct base_alloc *alloc, uint32_t n, uint32_t *at) {
    uint32_t per = 1u << p->shift, left = per - (p->count & (per - 1));
    uint32_t first = p->count + (n > left ? left : 0);
    if (first > UINT32_MAX - per) return false;
    if ((first >> p->shift) >= p->nchunk && !add_chunk(p, alloc)) return false;
    *at = first;
    return true;
}

static void free_pool(struct ir_pool *p, const struct base_alloc *alloc) {
    for (uint32_t i = 0; i < p->nchunk; i++)
        base_put(alloc, p->chunk[i], chunk_bytes(p));
    base_put(alloc, p->chunk, p->cap * sizeof *p->chunk);
}

// ---- graphs -----------------------------------------------------------------------------------
static void rewind_graph(struct ir_graph *g) {
    *(struct ir_node *)ir_pool_at(&g->nodes, 0) = (struct ir_node){.op = IR_NOP};
    *(uint32_t *)ir_pool_at(&g->back, 0) = UINT32_MAX;
    g->last_count = g->nodes.count;
    g->parted = g->moved = false;
    g->nodes.count = g->back.count = 1;
    g->words.count = g->leaves.count = g->inputs.count = 0;
    g->quiet = 0;
    vec_clear(&g->notes);
    err_clear(&g->err);
}

struct ir_graph *ir_graph_new(const struct base_alloc *alloc, uint32_t max_nodes) {
    struct base_alloc a = alloc ? *alloc : base_malloc;
    struct ir_graph *g = base_get_zero(&a, sizeof *g);
    if (!g) return NULL;
    g->alloc = a;
    g->max_nodes = max_nodes ? max_nodes : DEFAULT_MAX_NODES;
    arena_init(&g->names, &a);
    vec_init(&g->notes, &a);
    g->nodes = (struct ir_pool){.item = sizeof(struct ir_node), .shift = 8};
    g->back = (struct ir_pool){.item = sizeof(uint32_t), .shift = 10};
    g->words = (struct ir_pool){.item = sizeof(int64_t), .shift = 10};
    g->leaves = (struct ir_pool){.item = sizeof(struct ir_leaf), .shift = 3};
    g->inputs = (struct ir_pool){.item = sizeof(struct ir_input), .shift = 5};
    if (!add_chunk(&g->nodes, &a) || !add_chunk(&g->back, &a)) {
        ir_graph_free(g);
        return NULL;
    }
    rewind_graph(g);
    return g;
}

void ir_graph_reset(struct ir_graph *g) {
    arena_reset(&g->names);
    rewind_graph(g);
}

void ir_graph_free(struct ir_graph *g) {
    if (!g) return;
    struct base_alloc a = g->alloc;
    free_pool(&g->nodes, &a);
    free_pool(&g->back, &a);
    free_pool(&g->words, &a);
    free_pool(&g->leaves, &a);
    free_pool(&g->inputs, &a);
    base_put(&a, g->table, g->slots * sizeof *g->table);
    arena_free(&g->names);
    vec_free(&g->notes);
    base_put(&a, g, sizeof *g);
}

struct base_err *ir_error(struct ir_graph *g) {
    return &g->err;
}
uint32_t ir_count(const struct ir_graph *g) { return g->nodes.count; }
const int64_t ir_no_words[1];
// in parentheses, so that the macros of graph.h stay out
const struct ir_node *(ir_at)(const struct ir_graph *g, ir_ref r) { return ir_node_of(g, r); }
const int64_t *(ir_dims)(const struct ir_graph *g, ir_ref r) { return ir_dims_of(g, r); }
const int64_t *(ir_attr)(const struct ir_graph *g, ir_ref r) { return ir_attr_of(g, r); }

int64_t ir_elements(const struct ir_graph *g, ir_ref r) {
    const int64_t *dims = ir_dims(g, r);
    int64_t count = 1;
    for (int i = 0; i < ir_at(g, r)->rank; i++)
        count *= dims[i];
    return count;
}
int ir_leaf_count(const struct ir_graph *g) { return (int)g->leaves.count; }
int ir_input_count(const struct ir_graph *g) { return (int)g->inputs.count; }
const struct ir_leaf *ir_leaf_at(const struct ir_graph *g, int i) {
    return i >= 0 && i < ir_leaf_count(g) ? ir_pool_at(&g->leaves, (uint32_t)i) : NULL;
}
const struct ir_input *ir_input_at(const struct ir_graph *g, int i) {
    return i >= 0 && i < ir_input_count(g) ? ir_pool_at(&g->inputs, (uint32_t)i) : NULL;
}

// ---- hash-consing -----------------------------------------------------------------------------
static uint32_t hash_draft(const struct ir_draft *d) {
    const uint32_t head[8] = {(uint32_t)d->op,   (uint32_t)d->dtype, (uint32_t)d->weak, d->flags,
                              (uint32_t)d->rank, d->in[0],           d->in[1],          d->in[2]};
    uint64_t h = XXH3_64bits(head, sizeof head);
    if (d->rank) h = XXH3_64bits_withSeed(d->dims, (size_t)d->rank * sizeof *d->dims, h);
    if (d->leaf) {
        const uint64_t at = (uint64_t)(uintptr_t)d->leaf->data;
        h = XXH3_64bits_withSeed(d->leaf->strides, (size_t)d->rank * sizeof(int64_t), h ^ at);
    } else if (d->nattr) {
        h = XXH3_64bits_withSeed(d->attr, (size_t)d->nattr * sizeof *d->attr, h);
    }
    return (uint32_t)(h ^ h >> 32);
}

static bool same_words(const int64_t *a, const int64_t *b, int n) {
    return n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

bool ir_is_draft(const struct ir_graph *g, ir_ref r, const struct ir_draft *d) {
    const struct ir_node *n = ir_at(g, r);
    if (n->op != d->op || n->dtype != d->dtype || n->rank != d->rank || n->weak != d->weak ||
        (n->flags & ~IR_NOTES) != (int)d->flags || memcmp(n->in, d->in, sizeof n->in) != 0 ||
        !same_words(ir_dims(g, r), d->dims, d->rank))
        return false;
    if (!d->leaf) return n->nattr == d->nattr && same_words(ir_attr(g, r), d->attr, d->nattr);
    const weft_array *a = &ir_leaf_at(g, (int)*ir_attr(g, r))->array;
    return a->data == d->leaf->data && same_words(a->strides, d->leaf->strides, d->rank);
}

static bool slot_used(const struct ir_graph *g, uint32_t s) {
    ir_ref r = g->table[s].ref;
    return r && r < g->nodes.count && *(uint32_t *)ir_pool_at(&g->back, r) == s;
}

static bool grow_table(struct ir_graph *g) {
    uint32_t slots = g->slots ? g->slots * 2 : FIRST_SLOTS;
    if (slots == 0) return false;
    struct ir_slot *table = base_get_zero(&g->alloc, slots * sizeof *table);
    if (!table) return false;
    for (ir_ref r = 1; r < g->nodes.count; r++) {
        uint32_t *back = ir_pool_at(&g->back, r);
        struct ir_slot old = g->table[*back];
        uint32_t s = old.hash & (slots - 1);
        while (table[s].ref)
            s = (s + 1) & (slots - 1);
        table[s] = old;
        *back = s;
    }
    base_put(&g->alloc, g->table, g->slots * sizeof *g->table);
    g->table = table;
    g->slots = slots;
    return true;
}

// ---- putting ----------------------------------------------------------------------------------
static bool bytes_countable(const struct ir_draft *d) {
    int64_t bytes = (int64_t)dtype_size(d->dtype);
    for (int i = 0; i < d->rank; i++)
        if (bytes_over(&bytes, d->dims[i])) return false;
    return true;
}

static bool put_words(struct ir_graph *g, const int64_t *w, int n, uint32_t *at) {
    *at = 0;
    if (n == 0) return true;
    if (!ir_pool_room(&g->words, &g->alloc, (uint32_t)n, at)) return false;
    memcpy(ir_pool_at(&g->words, *at), w, (size_t)n * sizeof *w);
    g->words.count = *at + (uint32_t)n;
    return true;
}

static bool put_dims(struct ir_graph *g, const struct ir_draft *d, uint32_t *at) {
    for (int i = 0; i < 3 && d->in[i]; i++) {
        if (ir_at(g, d->in[i])->rank != d->rank) continue;
        if (!same_words(ir_dims(g, d->in[i]), d->dims, d->rank)) continue;
        *at = ir_at(g, d->in[i])->shape;
        return true;
    }
    return put_words(g, d->dims, d->rank, at);
}

// The leaf's own record; its number becomes the attribute.
static bool put_leaf(struct ir_graph *g, struct ir_draft *d) {
    uint32_t at;
    if (!d->leaf) return true;
    if (!ir_pool_room(&g->leaves, &g->alloc, 1, &at)) return false;
    *(struct ir_leaf *)ir_pool_at(&g->leaves, at) = (struct ir_leaf){.array = *d->leaf};
    d->attr[0] = at;
    d->nattr = 1;
    return true;
}

static ir_ref append(struct ir_graph *g, struct ir_draft *d, uint32_t hash, uint32_t slot) {
    uint32_t ref, back, shape, attr;
    ir_part(g);
    if (!ir_pool_room(&g->nodes, &g->alloc, 1, &ref) ||
        !ir_pool_room(&g->back, &g->alloc, 1, &back) || !put_leaf(g, d) ||
        !put_dims(g, d, &shape) || !put_words(g, d->attr, d->nattr, &attr))
        return ir_fail(g, WEFT_ENOMEM, "%s: no memory for the graph", ir_ops[d->op].name);
    *(struct ir_node *)ir_pool_at(&g->nodes, ref) =
        (struct ir_node){.op = (uint8_t)d->op,
                         .dtype = (uint8_t)d->dtype,
                         .rank = (uint8_t)d->rank,
                         .weak = (uint8_t)d->weak,
                         .nattr = (uint16_t)d->nattr,
                         .flags = (uint16_t)d->flags,
                         .in = {d->in[0], d->in[1], d->in[2]},
                         .shape = shape,
                         .attr = attr};
    *(uint32_t *)ir_pool_at(&g->back, back) = slot;
    g->table[slot] = (struct ir_slot){ref, hash};
    g->nodes.count = g->back.count = ref + 1;
    if (d->leaf) g->leaves.count++;
    return ref;
}

static ir_ref put(struct ir_graph *g, struct ir_draft *d) {
    for (int i = 0; i < 3 && d->in[i]; i++)
        d->flags |= ir_at(g, d->in[i])->flags & IR_DYN;
    const ir_ref again = ir_repeat(g, d);
    if (again) return again;
    if (!bytes_countable(d)) {
        char text[160];
        ir_dims_text(d->dtype, d->rank, d->dims, text, sizeof text);
        return ir_fail(g, WEFT_ESHAPE, "%s: the size of %s overflows", ir_ops[d->op].name, text);
    }
    if (g->slots <= g->nodes.count * 2 && !grow_table(g))
        return ir_fail(g, WEFT_ENOMEM, "%s: no memory for the graph", ir_ops[d->op].name);
    uint32_t hash = hash_draft(d), s = hash & (g->slots - 1);
    for (; slot_used(g, s); s = (s + 1) & (g->slots - 1))
        if (g->table[s].hash == hash && ir_is_draft(g, g->table[s].ref, d)) return g->table[s].ref;
    if (g->nodes.count > g->max_nodes)
        return ir_fail(g, WEFT_ELIMIT, "%s: the graph has %u nodes, its limit is %u", ir_ops[d->op].name,
                       g->nodes.count - 1, g->max_nodes);
    return append(g, d, hash, s);
}

ir_ref ir_put(struct ir_graph *g, struct ir_draft *d) {
    const ir_ref end = g->nodes.count, r = put(g, d);
    ir_heard(g, r, r == end);
    return r;
}
