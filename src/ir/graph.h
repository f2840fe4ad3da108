// SPDX-License-Identifier: MIT
// Inside the graph room: how nodes are kept and put in. The emitters of map.c, reduce.c, view.c and
// matmul.c check and infer; ir_put is the only way a node comes to be.
#ifndef WEFT_IR_GRAPH_H
#define WEFT_IR_GRAPH_H

#include "ir.h"

// Items in chunks of a fixed size: addresses hold while the pool grows.
struct ir_pool {
    unsigned char **chunk;
    uint32_t nchunk, cap; // chunks held, room in the directory
    uint32_t count;       // items handed out
    uint16_t item;        // bytes of one
    uint8_t shift;        // a chunk has 1 << shift items
};
static inline void *ir_pool_at(const struct ir_pool *p, uint32_t i) {
    uint32_t in_chunk = i & ((1u << p->shift) - 1);
    return p->chunk[i >> p->shift] + (size_t)in_chunk * p->item;
}
// Room for n items in one chunk; the index of the first in *at. They count once count is raised.
bool ir_pool_room(struct ir_pool *p, const struct base_alloc *alloc, uint32_t n, uint32_t *at);

struct ir_slot {
    ir_ref ref;
    uint32_t hash;
};

struct ir_graph {
    struct base_alloc alloc;
    struct base_err err;
    struct base_arena names;
    uint32_t max_nodes;
    struct ir_pool nodes, words, leaves, inputs;
    // Hash-consing. A slot is in use when back[slot.ref] is its number: slots of an earlier life of
    // the graph fail that test, so a reset does not touch the table.
    struct ir_pool back;
    struct ir_slot *table;
    uint32_t slots; // a power of two, or 0
    // repeat.c: building the same again. Nodes from count up to last_count are the last life's.
    uint32_t last_count;
    bool parted;        // this life differs from the last
    bool moved;         // a leaf or constant has another value than its slot was made for
    ir_ref overwritten; // the least node written over since it was asked for, or IR_NONE
    // checks.c
    bool watched;
    int quiet;             // depth of compositions that are not looked into
    struct base_vec notes; // of struct ir_note
};
// A complex operation: part of its result, and the parts of its operands.
struct ir_note {
    enum ir_op op;
    ir_ref part, in[6];
};
// The value of an expression that builds, without looking into what it builds.
#define IR_QUIETLY(g, call)                                                                        \
    do {                                                                                           \
        (g)->quiet++;                                                                              \
        const ir_ref quiet_ = (call);                                                              \
        (g)->quiet--;                                                                              \
        return quiet_;                                                                             \
    } while (0)
void ir_note_pair(struct ir_graph *g, enum ir_op op, ir_ref result, const ir_ref *in);
enum { IR_NOTES = IR_PLAIN | IR_QUIET | IR_RAISED }; // flags that are no part of equality
// A node was asked for: a quiet one that is asked for aloud is not quiet any more.
static inline void ir_heard(struct ir_graph *g, ir_ref r, bool made) {
    if (!g->watched || !r) return;
    struct ir_node *n = (struct ir_node *)ir_pool_at(&g->nodes, r);
    if (!g->quiet)
        n->flags &= (uint16_t)~IR_QUIET;
    else if (made)
        n->flags |= IR_QUIET;
}

// The accessors of ir.h without the call: emitters live on them.
extern const int64_t ir_no_words[1];
static inline const struct ir_node *ir_node_of(const struct ir_graph *g, ir_ref r) {
    return (const struct ir_node *)ir_pool_at(&g->nodes, r);
}
static inline const int64_t *ir_dims_of(const struct ir_graph *g, ir_ref r) {
    const struct ir_node *n = ir_node_of(g, r);
    return n->rank ? (const int64_t *)ir_pool_at(&g->words, n->shape) : ir_no_words;
}
static inline const int64_t *ir_attr_of(const struct ir_graph *g, ir_ref r) {
    const struct ir_node *n = ir_node_of(g, r);
    return n->nattr ? (const int64_t *)ir_pool_at(&g->words, n->attr) : ir_no_words;
}
#define ir_at(g, r) ir_node_of(g, r)
#define ir_dims(g, r) ir_dims_of(g, r)
#define ir_attr(g, r) ir_attr_of(g, r)

enum { IR_ATTRS = WEFT_MAX_RANK + 8 };
// A node about to be put.
struct ir_draft {
    enum ir_op op;
    weft_dtype dtype;
    enum ir_weak weak;
    int rank, nattr;
    unsigned flags; // IR_AUTO, IR_EMPTY, IR_DYN; IR_DYN of operands is added
    ir_ref in[3];
    const weft_array *leaf; // from only
    int64_t dims[WEFT_MAX_RANK];
    int64_t attr[IR_ATTRS];
};
// All but dims and attr zeroed: what is not counted by rank and nattr is not read.
static inline void ir_draft_begin(struct ir_draft *d, enum ir_op op, weft_dtype t) {
    memset(d, 0, offsetof(struct ir_draft, dims));
    d->op = op;
    d->dtype = t;
}
// The node equal to the draft, found or made. Checks that the shape's bytes can be counted. The draft
// is used up.
ir_ref ir_put(struct ir_graph *g, struct ir_draft *d);

// again.c: a node as it is put a second time. The operands are of g; dims matter to iota only.
struct ir_again {
    enum ir_op op;
    weft_dtype dtype;
    enum ir_weak weak;
    int rank, nattr;
    const int64_t *dims, *attr;
    ir_ref in[3];
};
ir_ref ir_put_again(struct ir_graph *g, const struct ir_again *n);
// admit.c: NULL when the record is what an emitter could have made of those operands, so that later rooms
// may rely on it; otherwise what is wrong with it. Shapes are left to the emitters.
const char *ir_admit(const struct ir_graph *g, const struct ir_again *n);
enum ir_weak ir_weak_kind(weft_dtype t);

// repeat.c: the draft's node when this life repeats the last one, or IR_NONE; what append must do first
ir_ref ir_repeat(struct ir_graph *g, const struct ir_draft *d);
ir_ref ir_repeat_map(struct ir_graph *g, enum ir_op op, const ir_ref *in, int arity);
void ir_mark_plain(struct ir_graph *g, ir_ref r, const ir_ref *in, int arity); // if r is just op over in
void ir_part(struct ir_graph *g);
bool ir_is_draft(const struct ir_graph *g, ir_ref r, const struct ir_draft *d);

// Records the first error; IR_NONE.
ir_ref ir_fail(struct ir_graph *g, weft_status s, const char *fmt, ...) PRINTF_LIKE(3, 4);
// "name: type and type: detail"; absent operands are left out.
struct ir_blame {
    const char *name;
    int n;
    const ir_ref *in;
};
ir_ref ir_fail_at(struct ir_graph *g, weft_status s, const struct ir_blame *who, const char *fmt,
                  ...) PRINTF_LIKE(4, 5);
// "f64[3,4]"; "2.5"
void ir_dims_text(weft_dtype t, int rank, const int64_t *dims, char *buf, size_t size);
void ir_value_text(weft_dtype t, uint64_t bits, char *buf, size_t size);
bool ir_dtype_valid(weft_dtype t);

// const.c: values of constants
bool ir_is_constant(const struct ir_graph *g, ir_ref r);
ir_ref ir_constant_of(struct ir_graph *g, weft_dtype t, uint64_t bits, enum ir_weak weak);
uint64_t ir_convert_bits(weft_dtype from, uint64_t bits, weft_dtype to);
uint64_t ir_double_bits(double v);
// The value of an integer constant, exactly.
__extension__ typedef __int128 ir_wide;
ir_wide ir_int_value(weft_dtype t, uint64_t bits);
bool ir_int_fits(ir_wide v, weft_dtype t);
// The operand with its weakness gone, at its stand-alone type.
ir_ref ir_strong(struct ir_graph *g, ir_ref x);

// map.c, broadcast.c
// Puts a MAP node over operands that already have their types.
ir_ref ir_put_map(struct ir_graph *g, enum ir_op op, weft_dtype t, enum ir_weak weak,
                  const ir_ref *in);
// The common shape of n operands into dims; its rank or -1 after recording the error.
int ir_broadcast(struct ir_graph *g, const struct ir_blame *who, int64_t *dims);

// fold.c
// A node that is bit for bit op over in (of their final types, result type t), or IR_NONE.
ir_ref ir_fold_map(struct ir_graph *g, enum ir_op op, weft_dtype t, const ir_ref *in);
// op over weak literals, when it can be done exactly; IR_NONE otherwise. *failed: an error was
// recorded.
ir_ref ir_fold_weak(struct ir_graph *g, enum ir_op op, const ir_ref *in, bool *failed);

// reduce.c, view.c, matmul.c
ir_ref ir_put_run(struct ir_graph *g, enum ir_op op, ir_ref x, int first, int last);
ir_ref ir_extent(struct ir_graph *g, ir_ref x, uint64_t mask, double ddof);
ir_ref ir_put_matmul(struct ir_graph *g, ir_ref a, ir_ref b);
ir_ref ir_put_broadcast(struct ir_graph *g, struct ir_draft *d); // op, in[0], rank, dims, flags set
// axis in -rank..rank-1 to 0..rank-1, or -1 after recording the error
int ir_axis(struct ir_graph *g, const char *name, ir_ref x, int axis);

// walk.c: what the roots need, in order of first use
struct ir_frame { // of the traversal's stack
    ir_ref ref;
    uint32_t next; // operand to visit next
};
enum { IR_SMALL = 64 };
struct ir_order {
    ir_ref *ref;      // count of them
    uint32_t *number; // of a node: 1 + its place in ref, 0 when not needed
    uint32_t count, top;
    struct ir_frame *stack;
    void *block;
    struct ir_frame small[2 * IR_SMALL]; // the block of a graph of up to IR_SMALL nodes
};
// shapes: also what is needed for shapes only. The status is WEFT_ENOMEM or WEFT_EINVAL (a bad
// root).
weft_status ir_walk(const struct ir_graph *g, int n, const ir_ref *roots, bool shapes,
                    struct ir_order *out);
void ir_order_free(const struct ir_graph *g, struct ir_order *o);

#endif
