// SPDX-License-Identifier: MIT
// The graph: calls in, canonical typed nodes out. Building is canonicalising: each emit checks, infers
// dtype and shape, folds, interns (hash-consing) and appends; operands always precede their users, so a
// plain loop over the node array is a topological order. Nodes are immutable and named by 32-bit refs.
// Knows no plan, no memory layout beyond the leaves' own descriptions, no LLVM.
#ifndef WEFT_IR_H
#define WEFT_IR_H

#include "../base.h"

typedef uint32_t ir_ref; // index into the node array; IR_NONE = no node
#define IR_NONE 0u

enum ir_op {
    IR_NOP, // node 0
#define LEAF(name, doc) IR_##name,
#include "ops.def"
#define MAP(name, ...) IR_##name,
#include "ops.def"
#define REDUCE(name, ...) IR_R_##name,
#include "ops.def"
#define VIEW(name, doc) IR_##name,
#include "ops.def"
#define PAIR(name, ...) IR_##name,
#include "ops.def"
#define CONTRACT(name, doc) IR_##name,
#include "ops.def"
#define WHOLE(name, ...) IR_##name,
#include "ops.def"
    IR_OP__N
};
enum ir_class {
    IR_LEAF, IR_MAP, IR_REDUCE, IR_VIEW, IR_PAIR, IR_CONTRACT, IR_GATHER, IR_JOIN, IR_RESULT, IR_CALL
};
enum ir_rule {
    RULE_NONE, RULE_ARITH, RULE_FLOAT, RULE_INTS, RULE_SHIFT, RULE_COMPARE, RULE_LOGIC, RULE_PRED,
    RULE_KEEP, RULE_WHERE, RULE_CAST, RULE_WORD
};
struct ir_op_info {
    const char *name; // public name ("add", "sum", "reshape")
    uint8_t arity, cls, rule;
    bool heavy;       // calls a kernel for some types
    const char *doc;
};
extern const struct ir_op_info ir_ops[IR_OP__N];

// Of 0-d constants, and of elementwise nodes over nothing but weak operands. Only building reads it.
enum ir_weak { IR_STRONG, IR_WEAK_BOOL, IR_WEAK_INT, IR_WEAK_FLOAT, IR_WEAK_COMPLEX };

// Flags of a node; later rooms need none of them.
enum {
    IR_DYN = 1,  // its shape follows from an input's, so another set of extents may change it
    IR_AUTO = 2, // a broadcast_to put in by matmul: remade, not copied, by ir_replay
    IR_EMPTY = 4, // a broadcast_to that stands for a reduction of no elements: likewise
    IR_PLAIN = 8, // set by ir_mark_plain; says nothing about the value and is no part of equality
    // Of graphs that are watched (ir_watch), likewise no part of equality:
    IR_QUIET = 16, // inside a composition that is looked at as a whole, or means to wrap
    IR_RAISED = 32 // an index mode WEFT_INDEX_RAISE that ir_replay_unguarded has made CLIP
};

// Attributes, by op (int64 words at ir_attr(g, node)); "as given" so that ir_replay can re-infer:
//   from: [leaf index]              input: [input index]            constant: [bits of the value]
//   iota: [axis]                    extent: [mask of operand axes, bits of double ddof]
//     an extent's operand lends its shape only: its value is not needed, so traversals stop at leaves
//   R_*: [first axis, last axis + 1] of the operand, adjacent, at least one axis
//   reshape: [rank, dims as given, maybe one -1]     transpose: [perm...]
//   slice: [axis, start, stop, step] as given (WEFT_NONE allowed)
//   broadcast_to: [rank, dims] (IR_EMPTY: then [op, operand, first, last] of the reduction)
//   expand_dims, squeeze: [axis]    diagonal: [offset, axis1, axis2]
//   windows: [axis, size]           trim: [axis]    fixed: [name's address, dims]
//   take, take_along_axis: [axis, weft_index_mode]  join: [axis]    result: [number]
//   guard: [ir_reason]              matmul, MAP: none. Axes in attributes are never negative
//   CALL: as the rule of the operation says (call.c)
// A reduced run is never empty: reductions over nothing become constants or errors here.
struct ir_node {
    uint8_t op, dtype, rank, weak;
    uint16_t nattr;
    uint16_t flags;
    ir_ref in[3];   // IR_NONE where absent. MAP operands broadcast right-aligned, as NumPy; no casts hidden
    uint32_t shape; // first of rank words in the shape pool
    uint32_t attr;  // first of nattr words in the attribute pool
};

// Why a guard stops: IR_FAILED (no reason given), or one of the others plus an ir_reduction.
enum ir_reason { IR_FAILED, IR_NAN_MET = 16, IR_ALL_NAN = 32 };

// A leaf array (weft_from): only what the caller gave.
struct ir_leaf {
    weft_array array;
    ir_ref other; // of a complex array, which is two leaves: the other part; else IR_NONE
    int part;     // 1 real, 2 imaginary
};
struct ir_input {
    char *name;
    ir_ref node;
    int part; // of a complex input, which is two: 1 real, 2 imaginary; 0: a real input
};

struct ir_graph; // opaque outside src/ir. Addresses of nodes, dims and attributes hold until reset
struct ir_graph *ir_graph_new(const struct base_alloc *alloc, uint32_t max_nodes); // NULL: no memory
void ir_graph_reset(struct ir_graph *g); // keeps memory
void ir_graph_free(struct ir_graph *g);
struct base_err *ir_error(struct ir_graph *g);

uint32_t ir_count(const struct ir_graph *g); // nodes are 1..count-1 (0 is the nop)
// The node of a leaf when it is built again as in the graph's last life, IR_NONE otherwise; checks nothing that
// was checked then.
ir_ref ir_repeat_from(struct ir_graph *g, const weft_array *a);
// The least node that does not mean any more what it meant when this was last asked, addresses of leaves
// and values of constants aside; IR_NONE when all do. A reset alone changes no node.
ir_ref ir_overwritten(struct ir_graph *g);
const struct ir_node *ir_at(const struct ir_graph *g, ir_ref r);
const int64_t *ir_dims(const struct ir_graph *g, ir_ref r);
const int64_t *ir_attr(const struct ir_graph *g, ir_ref r);
int64_t ir_elements(const struct ir_graph *g, ir_ref r);
const struct ir_leaf *ir_leaf_at(const struct ir_graph *g, int i); // NULL past the end
const struct ir_input *ir_input_at(const struct ir_graph *g, int i);
int ir_leaf_count(const struct ir_graph *g);
int ir_input_count(const struct ir_graph *g);

// ---- emitters: all return IR_NONE after recording the first error; IR_NONE operands give IR_NONE -----
ir_ref ir_from(struct ir_graph *g, const weft_array *a);
ir_ref ir_input(struct ir_graph *g, const char *name, weft_dtype t, int rank, const int64_t *dims);
ir_ref ir_constant(struct ir_graph *g, weft_dtype t, const void *value, enum ir_weak weak);
ir_ref ir_iota(struct ir_graph *g, weft_dtype t, int rank, const int64_t *dims, int axis);
ir_ref ir_map(struct ir_graph *g, enum ir_op op, const ir_ref *in); // any MAP op but cast: promotes, casts
ir_ref ir_cast(struct ir_graph *g, ir_ref x, weft_dtype t);
// A complex node is two real ones: 0 the real part, 1 the imaginary part, each in the shape of x (x itself
// when it is real). Plans are made of parts; IR_complex is not for later rooms.
ir_ref ir_pair_part(struct ir_graph *g, ir_ref x, int which);
ir_ref ir_pair_root(struct ir_graph *g, ir_ref x, int which); // the same where extents are settled
ir_ref ir_imaginary(struct ir_graph *g, double v); // a weak literal
ir_ref ir_clip(struct ir_graph *g, ir_ref x, ir_ref lo, ir_ref hi);
// The public reductions, lowered to primitives: mean, var, std, count_nonzero, skip and raise modes,
// axis lists with gaps (innermost run first), keepdims (as expand_dims).
enum ir_reduction {
    IR_SUM, IR_PROD, IR_MIN, IR_MAX, IR_MEAN, IR_VAR, IR_STD, IR_ANY, IR_ALL, IR_COUNT_NONZERO,
    IR_ARGMIN, IR_ARGMAX
};
ir_ref ir_reduce(struct ir_graph *g, enum ir_reduction what, ir_ref x, const weft_reduce *r);
// ---- compositions: what weft.h says about the function of the same name (compose.c) -------------------
struct ir_tolerance { double relative, absolute; bool equal_nan; };
ir_ref ir_positive(struct ir_graph *g, ir_ref x);
ir_ref ir_rint(struct ir_graph *g, ir_ref x);
ir_ref ir_log_sigmoid(struct ir_graph *g, ir_ref x);
ir_ref ir_relu(struct ir_graph *g, ir_ref x);
ir_ref ir_leaky_relu(struct ir_graph *g, ir_ref x, double slope);
ir_ref ir_scaled(struct ir_graph *g, ir_ref x, double factor); // as floating point
ir_ref ir_heaviside(struct ir_graph *g, ir_ref x, ir_ref at_zero);
ir_ref ir_lerp(struct ir_graph *g, ir_ref a, ir_ref b, ir_ref t);
ir_ref ir_float_power(struct ir_graph *g, ir_ref a, ir_ref b);
ir_ref ir_is_infinity(struct ir_graph *g, ir_ref x, bool negative);
ir_ref ir_ldexp(struct ir_graph *g, ir_ref x, ir_ref n);
ir_ref ir_frexp_exponent(struct ir_graph *g, ir_ref x);
ir_ref ir_isclose(struct ir_graph *g, ir_ref a, ir_ref b, const struct ir_tolerance *t);
ir_ref ir_nan_to_num(struct ir_graph *g, ir_ref x, const double to[3]); // NaN, inf, -inf
ir_ref ir_bitwise_count(struct ir_graph *g, ir_ref x);
ir_ref ir_overflows(struct ir_graph *g, enum ir_op op, ir_ref a, ir_ref b); // IR_add, IR_sub, IR_mul
ir_ref ir_add_carry(struct ir_graph *g, ir_ref a, ir_ref b, ir_ref carry, ir_ref *carry_out);
ir_ref ir_divmod(struct ir_graph *g, ir_ref a, ir_ref b, ir_ref *rest);
ir_ref ir_fmod(struct ir_graph *g, ir_ref a, ir_ref b);
// ---- creation and random numbers (create.c)
struct ir_range { double start, stop, step; };
struct ir_space { double start, stop; int64_t n; bool endpoint; };
struct ir_stream { uint64_t key, offset; int rank; const int64_t *dims; };
ir_ref ir_full(struct ir_graph *g, weft_dtype t, const void *value, int rank, const int64_t *dims);
ir_ref ir_eye(struct ir_graph *g, weft_dtype t, const int64_t dims[2], int64_t k);
ir_ref ir_arange(struct ir_graph *g, weft_dtype t, const struct ir_range *r);
ir_ref ir_linspace(struct ir_graph *g, weft_dtype t, const struct ir_space *s);
ir_ref ir_logspace(struct ir_graph *g, weft_dtype t, const struct ir_space *s, double base);
ir_ref ir_geomspace(struct ir_graph *g, weft_dtype t, const struct ir_space *s);
ir_ref ir_triangle(struct ir_graph *g, ir_ref x, int64_t k, bool lower);
ir_ref ir_random_bits(struct ir_graph *g, weft_dtype t, const struct ir_stream *s);
ir_ref ir_random_uniform(struct ir_graph *g, weft_dtype t, const struct ir_stream *s);
ir_ref ir_random_normal(struct ir_graph *g, weft_dtype t, const struct ir_stream *s);
ir_ref ir_random_integers(struct ir_graph *g, weft_dtype t, const struct ir_stream *s,
                          const int64_t ends[2]); // from, below
// ---- made of reductions (norms.c)
struct ir_steps { double dx; int axis; };
ir_ref ir_softmax(struct ir_graph *g, ir_ref x, int axis);
ir_ref ir_log_softmax(struct ir_graph *g, ir_ref x, int axis);
ir_ref ir_logsumexp(struct ir_graph *g, ir_ref x, const weft_reduce *r);
ir_ref ir_ptp(struct ir_graph *g, ir_ref x, const weft_reduce *r);
ir_ref ir_norm(struct ir_graph *g, ir_ref x, double order, const weft_reduce *r);
ir_ref ir_diff(struct ir_graph *g, ir_ref x, int n, int axis);
ir_ref ir_trapezoid(struct ir_graph *g, ir_ref y, ir_ref x, const struct ir_steps *s); // x may be IR_NONE

ir_ref ir_matmul(struct ir_graph *g, ir_ref a, ir_ref b);
ir_ref ir_dot(struct ir_graph *g, ir_ref a, ir_ref b);
ir_ref ir_reshape(struct ir_graph *g, ir_ref x, int rank, const int64_t *dims);
ir_ref ir_transpose(struct ir_graph *g, ir_ref x, const int *perm);
ir_ref ir_swap_axes(struct ir_graph *g, ir_ref x, int a, int b);
ir_ref ir_slice(struct ir_graph *g, ir_ref x, int axis, int64_t start, int64_t stop, int64_t step);
ir_ref ir_index(struct ir_graph *g, ir_ref x, int axis, int64_t i);
ir_ref ir_expand_dims(struct ir_graph *g, ir_ref x, int axis);
ir_ref ir_squeeze(struct ir_graph *g, ir_ref x, int axis);
ir_ref ir_broadcast_to(struct ir_graph *g, ir_ref x, int rank, const int64_t *dims);
ir_ref ir_diagonal(struct ir_graph *g, ir_ref x, int64_t offset, int axis1, int axis2);
// The windows of size elements along axis, its position and, as the last axis, the place inside.
ir_ref ir_windows(struct ir_graph *g, ir_ref x, int axis, int64_t size);
// x as it is, of whose axis only the first count (a 0-d i64) elements are meant: for whoever can
// return an array of that extent.
ir_ref ir_trim(struct ir_graph *g, ir_ref x, ir_ref count, int axis);
// x, which may have no other extents than now when the graph is replayed: for what is built from
// extents. name has static storage.
ir_ref ir_fixed(struct ir_graph *g, const char *name, ir_ref x);
// mode: weft_index_mode.
ir_ref ir_take(struct ir_graph *g, ir_ref x, ir_ref index, int axis, int mode);
ir_ref ir_take_along(struct ir_graph *g, ir_ref x, ir_ref index, int axis, int mode);
ir_ref ir_join(struct ir_graph *g, ir_ref a, ir_ref b, int axis);
// ---- calls (call.c): one precompiled function over whole arrays. Types and shapes of the outputs are
// the operation's rule over operands and attributes, which a replay asks again.
enum { IR_MAX_OUT = 5 };
struct ir_shape {
    weft_dtype dtype;
    int rank;
    int64_t dims[WEFT_MAX_RANK];
};
ir_ref ir_call(struct ir_graph *g, enum ir_op op, const ir_ref *in, const int64_t *attr, int nattr);
ir_ref ir_result(struct ir_graph *g, ir_ref call, int k); // output k; 0 is the call itself
int ir_call_outputs(enum ir_op op);
// failed: bool of any shape here; the emitter reduces it (any), so that a guard node's second operand is 0-d.
ir_ref ir_guard(struct ir_graph *g, ir_ref value, ir_ref failed, int why);
const char *ir_guard_text(const struct ir_graph *g, ir_ref guard); // "argmax: a slice is all NaN"

// ---- views as arithmetic: in index = off + sum coef * out index, per input axis -----------------------
// Fills off[rank of operand] and coef[rank of operand * rank of node] (row-major, zeroed by the callee)
// for every VIEW but reshape. For reshape returns false: the row-major linear index is what is kept.
bool ir_view_map(const struct ir_graph *g, ir_ref view, int64_t *off, int64_t *coef);
// A slice's start (resolved), step and extent for the operand's axis extent.
void ir_slice_resolve(int64_t extent, int64_t start, int64_t stop, int64_t step, int64_t *first,
                      int64_t *count);

// ---- whole graphs --------------------------------------------------------------------------------------
// "Order of first use" is post-order depth first: root 0 to n-1, operands from left to right, each node
// once, after its operands.
// Copies what the roots need into dst (which must be empty): all inputs, so that they keep their numbers,
// then the nodes in order of first use. input_dims[i], when not NULL, replaces the shape of input i
// (input_dims may be NULL); all shapes are inferred anew. New roots in out. WEFT_E* with text in dst.
// What an extent's operand needs is copied too, though nothing reads it: live is what ir_key walks.
// src is only read, so that threads may replay one graph at the same time.
weft_status ir_replay(const struct ir_graph *src, int n, const ir_ref *roots,
                      const int64_t *const *input_dims, struct ir_graph *dst, ir_ref *out);
// What the dump says of a node behind its operands.
void ir_attr_dump(const struct ir_graph *g, ir_ref r, struct base_vec *out);
// number[r], r in 0..ir_count-1: what the dump calls node r (1, 2, ...); 0: no root needs it.
weft_status ir_numbers(const struct ir_graph *g, int n, const ir_ref *roots, uint32_t *number);
// ---- checked mode (checks.c) ----------------------------------------------------------------------------
// From now on builders note what checks need. Only for a graph without nodes; a reset keeps it.
bool ir_watch(struct ir_graph *g, bool on);
bool ir_is_watched(const struct ir_graph *g);
// ir_replay without guards and with indices brought inside: nothing in it fails for its values.
weft_status ir_replay_unguarded(const struct ir_graph *src, int n, const ir_ref *roots, struct ir_graph *dst,
                                ir_ref *out);
enum ir_fault { IR_FAULT_NUMBER, IR_FAULT_INDEX, IR_FAULT_ZERO, IR_FAULT_COUNT, IR_FAULT_RANGE, IR_FAULT_OVERFLOW };
struct ir_suspect { // one thing looked for, in the order in which they are told
    ir_ref node;
    uint8_t fault;
    int group, code; // where it is looked for, what that gives
    const char *name;
};
enum { IR_NO_FAULT = INT32_MAX };
struct ir_checks {
    int nsuspect, ngroup;
    struct ir_suspect *suspect; // in base_alloc of the vectors below
    ir_ref *root;               // two a group: i32 least code or IR_NO_FAULT, i64 place in row-major order
    struct base_vec suspects, roots;
};
// Adds what looks for faults in all that the roots need. WEFT_ENOMEM, WEFT_ELIMIT.
weft_status ir_checks_make(struct ir_graph *g, int n, const ir_ref *roots, struct ir_checks *out);
void ir_checks_free(struct ir_checks *c);
// "add: integer overflow at [1,2] of i32[3,4]"
void ir_checks_text(const struct ir_graph *g, const struct ir_suspect *s, int64_t place, char *buf, size_t size);

// Canonical bytes of what the roots need: structure, dtypes, leaf shapes and strides, attributes; not the
// leaves' addresses and not the constants' values. Two graphs with equal bytes may share a plan; the
// leaves and constants correspond in the order in which fuse_plan numbers them (order of first use).
// leaves/consts (may be NULL) receive refs in that order: leaves are from and input nodes, consts are
// constant and extent nodes (an extent's operand is not walked).
weft_status ir_key(const struct ir_graph *g, int n, const ir_ref *roots, struct base_vec *key,
                   struct base_vec *leaves, struct base_vec *consts);
// The value bytes of a constant or extent: an element of its dtype in the first bytes, then zeros.
uint64_t ir_constant_bits(const struct ir_graph *g, ir_ref r);
double ir_extent_value(const struct ir_graph *g, ir_ref r);

// ---- files (docs/graph-format.md) ----------------------------------------------------------------------
// Appends the bytes of what the roots need, without the checksum's value. Arrays of the caller become inputs
// behind the graph's own. WEFT_ENOMEM; WEFT_EUNSUPPORTED with a sentence in err: a node that cannot be loaded.
weft_status ir_save(const struct ir_graph *g, int n, const ir_ref *roots, struct base_vec *out,
                    struct base_err *err);
// Puts what bytes describe into g, which need not be empty, and appends its roots (ir_ref). Trusts nothing but
// the checksum, which is the caller's. The first error in g, whose nodes are whole in any case.
weft_status ir_restore(struct ir_graph *g, const unsigned char *bytes, size_t size, struct base_vec *roots);
enum { IR_FILE_HEAD = 56, IR_FILE_SUM = 40 }; // bytes of the header, and where in it the checksum begins
// The 16 bytes of the checksum over the size >= IR_FILE_HEAD bytes of a file.
void ir_file_sum(const unsigned char *bytes, size_t size, unsigned char sum[16]);

void ir_dump(const struct ir_graph *g, int n, const ir_ref *roots, struct base_vec *out); // text
void ir_dot_dump(const struct ir_graph *g, int n, const ir_ref *roots, struct base_vec *out);
// Every invariant a later room relies on; false with a sentence in err.
bool ir_check(const struct ir_graph *g, struct base_err *err);

weft_dtype ir_promote(weft_dtype a, weft_dtype b);
weft_dtype ir_promote_n(int n, const weft_dtype *t); // not a fold of the above
bool ir_can_cast(weft_dtype from, weft_dtype to, weft_casting casting);
// "f64[3,4]" into buf.
void ir_type_text(const struct ir_graph *g, ir_ref r, char *buf, size_t size);

#endif
