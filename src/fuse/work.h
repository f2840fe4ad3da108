// SPDX-License-Identifier: MIT
// What the files of this room share while a plan is being made. Dies with fuse_plan_make.
//
// Nodes are placed into clusters, users before operands. A cluster becomes one step. Its space F is
// a list of extents (none of them 1, but for a reduced run of one element); its run X, if it has
// one, is a stretch of F that is reduced. A value is a node seen from a cluster through a map from
// F to the node's index.
#ifndef WEFT_FUSE_WORK_H
#define WEFT_FUSE_WORK_H

#include <limits.h>

#include "plan.h"

// An index map, one row an axis of the node: [offset, coefficient of each axis of F]. A linear map
// has one row, which gives the row-major number of the element. Immutable. A value that is read as a
// whole (USE_WHOLE) may have axes of its own behind those of F: the axis that an index array walks,
// or all axes of an operand of a call.
struct fuse_map {
    int rank, nf;
    bool linear;
    int64_t w[];
};
static inline int map_rows(const struct fuse_map *m) {
    return m->linear ? 1 : m->rank;
}
static inline const int64_t *map_row(const struct fuse_map *m, int i) {
    return m->w + (int64_t)i * (m->nf + 1);
}

enum value_kind {
    V_PENDING, // asked for, its node not placed yet
    V_DIRECT,  // an element of a leaf, constant or iota
    V_OP,      // computed here
    V_REDUCE,  // reduced here
    V_SAME,    // a view: its operand's value
    V_TAKE,    // read from memory (arg 0) where an index array (arg 1) says
    V_LOAD     // read from where another step has put it
};
// From where a value is asked for: once per element of F, or once per element that the run leaves.
// USE_WHOLE: as memory, by something that is not straight-line code; never computed on the way.
enum { USE_ELEM = 1, USE_KEPT = 2, USE_WHOLE = 4 };

struct fuse_value {
    ir_ref node;
    uint32_t cluster; // as made; cluster_find gives the one it is in now
    const struct fuse_map *map;
    uint32_t next; // of the same node
    uint32_t link; // of the same cluster
    uint32_t arg[3];
    uint8_t kind, use;
    uint8_t nown;       // axes of its own behind those of F,
    const int64_t *own; // and their extents
};

// A place that a node's elements are stored to. An output that is a one-to-one view of the node has
// g, the map from the node's index to the output's.
struct fuse_sink {
    ir_ref node, shape; // shape: the node whose shape the place has
    const struct fuse_map *g;
    const int64_t *strides; // of a temporary that is not dense in C order; else NULL
    uint8_t buffer;         // NEST_OUT, NEST_TEMP, NEST_GUARD
    uint32_t buf, value;    // value: the one that is stored; 0 until placed
    uint32_t next;          // of the same node; later of the same cluster
};

struct fuse_cluster {
    uint32_t parent;
    bool matmul, run, done; // matmul: reads and writes arrays as a whole (a product, call or join)
    bool call, join;
    int nf, x0, x1; // F; the run is [x0, x1)
    int64_t *dim;
    // Steps run in decreasing height. min_src: least height of what it reads, INT_MAX when only
    // leaves.
    int height, min_src;
    uint32_t first, last; // values
    int nop, nheavy, weight, pending, nreduce;
    ir_ref node; // matmul: the product, call or join
    uint32_t whole[3], part[2]; // call, join: values of the operands; join: sinks of the parts
    // A product and the map that is computed on its parts while they are in cache are two clusters and
    // one step. product: the matmul cluster (0: none), seen: the product as the map's operand; host: of
    // a matmul cluster, the map. The map takes in no other pass and makes nothing for others from then on.
    uint32_t product, seen, host;
    struct fuse_access *place; // of the map: where the product's elements are, along F
    const char *why;
    uint32_t sinks;
    uint32_t scan; // ordering: the next value to look at
};

// The buf of a product's place that is not chosen yet.
#define SINK_OPEN UINT32_MAX

// Limits of one body; longer chains are cut: from CHAIN_OPS on where a single value crosses, since compiling
// grows faster than the body and one temporary is cheap, from MAX_OPS on anywhere. Weight: 2 for an
// operand in memory, 1 for a constant.
// Heavy: kernel calls, which cost the compiler a hundred times what an operation does.
enum { CHAIN_OPS = 192, MAX_OPS = 2048, MAX_HEAVY = 96, MAX_WEIGHT = 128, MAX_REDUCE = 16, MAX_LOOK = 64 };

struct fuse_work {
    const struct ir_graph *g;
    const struct fuse_opts *opts;
    const struct base_alloc *alloc;
    int nroot;
    const ir_ref *roots;
    struct fuse_plan *plan;
    struct base_arena arena; // scratch
    bool failed;             // no memory
    uint32_t count;
    uint32_t *head;   // per node: values
    uint32_t *pins;   // per node: sinks
    uint32_t *slot;   // per node: the sink it is read from
    uint32_t *result; // per call or result: the next result node of the call
    const char **why; // per node that goes through memory: the reason
    uint32_t *number; // per leaf or constant: its canonical number
    uint8_t *cost;    // per node: light operations to recompute it, saturating
    uint8_t *fanin;   // likewise arrays read; 128 and more: it ends a reduction or a product
    struct base_vec value, sink, cluster, temp;
    uint32_t *local; // per value: its number in the body being made
    uint32_t *order; // clusters in order of execution
    int norder;
    size_t row_bytes;
};
static inline struct fuse_value *value_at(struct fuse_work *w, uint32_t i) {
    return &VEC_AT(&w->value, struct fuse_value, i);
}
static inline struct fuse_sink *sink_at(struct fuse_work *w, uint32_t i) {
    return &VEC_AT(&w->sink, struct fuse_sink, i);
}
static inline struct fuse_cluster *cluster_at(struct fuse_work *w, uint32_t i) {
    return &VEC_AT(&w->cluster, struct fuse_cluster, i);
}
static inline bool is_loop_op(const struct fuse_work *w, ir_ref r, int cls) {
    return ir_ops[ir_at(w->g, r)->op].cls == cls;
}

// ---- map.c: index maps --------------------------------------------------------------------------
// NULL: not expressible, or (w->failed) no memory.
struct fuse_map *map_new(struct fuse_work *w, int rank, int nf, bool linear);
bool map_same(const struct fuse_map *a, const struct fuse_map *b);
// Element of dims = element of the cluster's space; full: all of F, else what the run leaves.
const struct fuse_map *map_identity(struct fuse_work *w, const struct fuse_cluster *c, ir_ref shape,
                                    bool full);
bool map_is_identity(struct fuse_work *w, const struct fuse_cluster *c, const struct fuse_map *m,
                     ir_ref shape, bool full);
// The map of operand i of node n (elementwise or view) that is seen through m over a space of fdim.
const struct fuse_map *map_operand(struct fuse_work *w, const int64_t *fdim,
                                   const struct fuse_map *m, ir_ref n, int i);
// Element i, j, ... of shape = element i, j, ... of a space with the same axes.
const struct fuse_map *map_axis_by_axis(struct fuse_work *w, ir_ref shape);
const struct fuse_map *map_compose(struct fuse_work *w, const struct fuse_map *g,
                                   const struct fuse_map *m);
// The same map over a space with a run put in at x0.
const struct fuse_map *map_widen(struct fuse_work *w, const struct fuse_map *m, int x0, int x1);
// m as bytes in an array of these strides: offset and a stride per axis of F. False: not
// expressible.
bool map_address(struct fuse_work *w, const struct fuse_map *m, const int64_t *dims,
                 const int64_t *strides, int64_t *offset, int64_t *stride);
uint64_t map_axes(const struct fuse_map *m, const int64_t *fdim, const int64_t *dims);

// ---- cluster.c: clusters and values -------------------------------------------------------------
uint32_t cluster_find(struct fuse_work *w, uint32_t c);
uint32_t cluster_new(struct fuse_work *w, int nf, const int64_t *dim, int height, const char *why);
// The space of a node, or of a reduction's operand with its run. dim: room for WEFT_MAX_RANK + 1.
int space_of(struct fuse_work *w, ir_ref n, int64_t *dim);
int space_of_reduce(struct fuse_work *w, ir_ref n, int64_t *dim, int *x0, int *x1);
uint32_t value_ask(struct fuse_work *w, uint32_t cluster, ir_ref node, const struct fuse_map *map,
                   unsigned use);
// As value_ask, of an array as a whole.
struct fuse_whole {
    const struct fuse_map *map;
    int nown;
    const int64_t *own; // in the arena or the graph
};
uint32_t value_ask_whole(struct fuse_work *w, uint32_t cluster, ir_ref node,
                         const struct fuse_whole *as);
bool value_same(const struct fuse_value *a, const struct fuse_value *b); // but for the cluster
enum { SPACE_MAX = 2 * WEFT_MAX_RANK + 2 };
// The extents of all axes of the value's map: F's, then its own. buf: SPACE_MAX of them.
const int64_t *value_space(struct fuse_work *w, const struct fuse_value *v, int64_t *buf);
uint32_t value_final(struct fuse_work *w, uint32_t value);
void value_settle(struct fuse_work *w, uint32_t value, enum value_kind kind); // no longer pending
bool cluster_fits(struct fuse_work *w, uint32_t c, ir_ref n);
bool cluster_merge(struct fuse_work *w, uint32_t a, uint32_t b); // when allowed
bool cluster_widen(struct fuse_work *w, uint32_t c, int nf, const int64_t *dim, int x0, int x1);
// Merges the clusters that see node n alike, and drops double values.
void cluster_gather(struct fuse_work *w, ir_ref n);
uint32_t sink_new(struct fuse_work *w, ir_ref node, ir_ref shape, const struct fuse_map *g,
                  int buffer, uint32_t buf);

// ---- place.c, reduce.c: which cluster computes a node -------------------------------------------
void place_all(struct fuse_work *w);
void place_reduce(struct fuse_work *w, ir_ref n);
void place_matmul(struct fuse_work *w, ir_ref n);
void place_call(struct fuse_work *w, ir_ref n);
void place_result(struct fuse_work *w, ir_ref n);
void place_join(struct fuse_work *w, ir_ref n);
// Gathers in the value's cluster, which must be able to. really as in inline_value.
bool inline_take(struct fuse_work *w, uint32_t value, bool really);
bool reduce_can_join(struct fuse_work *w, uint32_t c, ir_ref n, const struct fuse_map *m,
                     unsigned use);
// All sinks of n are stored by the value home; values that wait for n will read one of them.
void place_stores(struct fuse_work *w, ir_ref n, uint32_t home);
void place_readers(struct fuse_work *w, ir_ref n, uint32_t home); // the second half of it
uint32_t temp_new(struct fuse_work *w, ir_ref n);
uint32_t sink_temp(struct fuse_work *w, ir_ref n);
// The one place of a node that is made as a whole; other sinks of the node are copied from it.
uint32_t sink_main(struct fuse_work *w, ir_ref n, const char *why);
int count_pending(struct fuse_work *w, ir_ref n);
bool sink_serves(struct fuse_work *w, ir_ref n, uint32_t sink);
int height_above(struct fuse_work *w, ir_ref n, uint32_t but);
bool home_fits(struct fuse_work *w, ir_ref n, uint32_t value);
bool inline_value(struct fuse_work *w, uint32_t value, bool really);
// Bytes of a node's elements where they are read from or stored to.
bool value_address(struct fuse_work *w, const struct fuse_value *v, int64_t *offset,
                   int64_t *stride);
bool sink_address(struct fuse_work *w, const struct fuse_sink *s, const struct fuse_map *m,
                  int64_t *offset, int64_t *stride);
bool array_address(struct fuse_work *w, ir_ref leaf, const struct fuse_map *m, int64_t *offset,
                   int64_t *stride);

// ---- axes.c, body.c: a cluster as a nest and a body ---------------------------------------------
// Something that a cluster reads or writes, before the nest is known.
struct fuse_access {
    struct nest_operand o; // strides filled at the end
    int64_t stride[WEFT_MAX_RANK + 1];
    uint64_t axes;  // of F that matter to it
    uint32_t value; // read: the value; written: the value that is stored
    ir_ref node;
    uint32_t sink;    // written: where
    int gather;       // 1 + the access that has its index, 0: not gathered
    bool kept;        // written once per element that the run leaves
    int16_t index[2]; // number of its operand, plain and late; -1: none yet
};
struct fuse_axes {
    int nf;
    const int64_t *dim;
    enum nest_mode mode;
    uint64_t cols, run;   // masks over F
    int ngroup;           // nest dims as groups of axes
    int inner[NEST_DIMS]; // innermost axis of each group, -1: an extent of 1 put in
    int64_t extent[NEST_DIMS];
    int nouter, nrow, ncol;
};
void axes_choose(struct fuse_work *w, const struct fuse_cluster *c, struct fuse_access *a, int n,
                 struct fuse_axes *x);
// Gives temporaries that a map stores the order of axes that its other operands have.
bool axes_lay_out(struct fuse_work *w, const struct fuse_cluster *c, struct fuse_access *a, int n);
// The same for the map on a product's parts: outer dims, rows and columns are the product's. axis: of
// F, for each axis of the product; -1: an extent of 1. Returns whether rows and columns are exchanged.
bool axes_follow(const struct fuse_cluster *c, const struct fuse_access *a, int n, const int *axis,
                 struct fuse_axes *x);
bool body_make(struct fuse_work *w, uint32_t cluster, struct fuse_step *s);
void matmul_make(struct fuse_work *w, uint32_t cluster, struct fuse_step *s);
bool call_make(struct fuse_work *w, uint32_t cluster, struct fuse_step *s);
bool gather_read(struct fuse_work *w, uint32_t value, struct fuse_access *a); // two accesses
bool gather_describe(struct fuse_work *w, uint32_t value, struct nest_gather *t);
void describe_leaf(struct fuse_work *w, const struct fuse_value *v, struct nest_operand *o);
// The axis of F for each axis of the product, -1 for an extent of 1. False: some element is seen
// more than once, or not at all.
bool matmul_axes(struct fuse_work *w, const struct fuse_cluster *c, const struct fuse_map *m,
                 ir_ref n, int *axis);
// follow.c: the value by which a map sees the product it will follow, or 0; what that does to the map.
uint32_t matmul_follower(struct fuse_work *w, ir_ref n);
int matmul_attach(struct fuse_work *w, ir_ref n, uint32_t seen);
// Where the product of the map's cluster is written: its own memory, or in place of the last output.
bool matmul_place(struct fuse_work *w, struct fuse_cluster *c, struct fuse_access *a, int n);
// Adds the product to the step of its map.
void matmul_lead(struct fuse_work *w, uint32_t cluster, struct fuse_step *s);
// ---- roots.c, steps.c, memory.c -----------------------------------------------------------------
// uses: per node, by how many live nodes and roots it is used.
void roots_add(struct fuse_work *w, int root, const uint32_t *uses);
void roots_guards(struct fuse_work *w, const uint32_t *uses);
bool steps_order(struct fuse_work *w);
bool steps_make(struct fuse_work *w);
bool memory_plan(struct fuse_work *w);

#endif
