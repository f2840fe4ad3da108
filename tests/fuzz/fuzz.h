// SPDX-License-Identifier: MIT
// The graph fuzzer: one seed is one case, a plain description of leaves, nodes and outputs that
// knows nothing of weft. build.c makes weft's expressions (or the command's text) from it; naive*.c
// give its values element by element from docs/numerics.md, knowing nothing of fusion; run.c
// evaluates it in every way and compares; shrink.c makes a failing case small.
#ifndef FUZZ_H
#define FUZZ_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/weft.h"

enum kind {
#define K(name, operands, text) K_##name,
#include "kinds.def"
#define MAP(name, ...) M_##name,
#include "ir/ops.def"
    KIND__N
};
enum rule { ARITH, FLOAT, INTS, SHIFT, COMPARE, LOGIC, PRED, KEEP, WHERE, WORD, CAST };
struct map_row {
    const char *name;
    int arity;
    enum rule rule;
    bool heavy, no_float, no_int, no_bool; // heavy: KERN for floats
};
extern const struct map_row map_rows[]; // of M_ kinds, by kind - K_COUNT
#define MAP_FIRST (M_add)
static inline bool is_map(int kind) {
    return kind >= MAP_FIRST;
}
static inline const struct map_row *map_of(int kind) {
    return &map_rows[kind - MAP_FIRST];
}

enum { RANK = 8, LEAVES = 10, NODES = 56, ROOTS = 4, PARAMS = 24, BLOCKS = LEAVES + ROOTS };

// ---- a case
// ---------------------------------------------------------------------------------------
struct shape {
    weft_dtype t;
    int rank;
    int64_t dims[RANK];
};
int64_t shape_count(const struct shape *s);
struct leaf {
    struct shape s;
    int64_t strides[RANK], at; // bytes; of the first element in the block
    int block;
};
struct block {
    int64_t size;
    unsigned char *bytes; // what it holds before each evaluation
    bool at_end;          // against the page behind it; else behind the page before it
};
struct node {
    int kind, in[3];
    int64_t p[PARAMS];
};
struct root {
    int node, block; // block of the output: a leaf's, or one of its own
    int64_t strides[RANK], at;
};
struct fcase {
    uint64_t seed;
    int nblock, nleaf, nnode, nroot; // nodes come after their operands; leaves are nodes too
    struct block block[BLOCKS];
    struct leaf leaf[LEAVES];
    struct node node[NODES];
    struct root root[ROOTS];
    struct shape shape[NODES]; // of each node, as weft says
    bool large;
};
void case_free(struct fcase *c);
void case_copy(struct fcase *to, const struct fcase *from);
int kind_arity(int kind);
const char *kind_name(int kind);

// ---- chance
// ---------------------------------------------------------------------------------------
struct chance {
    uint64_t s;
};
uint64_t chance_next(struct chance *c);
int64_t below(struct chance *c, int64_t n);
bool one_in(struct chance *c, int n);

// ---- make.c: a case from a seed; false when it came to nothing
// ------------------------------------------
bool make_case(struct fcase *c, weft_ctx *ctx, uint64_t seed);

// ---- build.c
// --------------------------------------------------------------------------------------
struct built {
    weft_graph *g;
    weft_expr *x[NODES];
    int ninput, input_leaf[LEAVES]; // of programs
};
// arrays: of each leaf. program: most leaves are inputs.
weft_expr *build_node(const struct node *n, weft_graph *g, weft_expr *const *x);
bool build_case(const struct fcase *c, const weft_array *arrays, bool program, struct built *b);
// The command's expression and its values; leaves are names x0, x1, ...
void text_case(const struct fcase *c, FILE *f);

// ---- naive*.c
// ---------------------------------------------------------------------------------------
enum weak { STRONG, WEAK_INT, WEAK_FLOAT };
struct tensor {
    struct shape s;
    int64_t n;
    unsigned char *data; // dense
    enum weak weak;
};
enum verdict {
    EXACT,   // these bits, NaN as NaN
    BOUNDED, // checked by naive_bound
    UNKNOWN  // no model: what weft gave is taken
};
struct naive {
    const struct fcase *c;
    struct tensor v[NODES];
    enum verdict verdict[NODES];
    bool nan_met[NODES], index_bad[NODES]; // evaluation of the node must, or may, say so
};
// One node from its operands' values in w->v. The shape is inferred here too.
void naive_node(struct naive *w, int i);
// For BOUNDED nodes: whether have is within the stated bound of the exact values; else where it is
// not.
bool naive_bound(const struct naive *w, int i, const struct tensor *have, int64_t *where);
void naive_free(void); // all tensors

// scalars: numbers wide enough for every type; u64 is kept as the bits of i
struct num {
    long double f, g;
    int64_t i;
};
struct num num_load(weft_dtype t, const void *p);
void num_store(weft_dtype t, void *p, struct num v); // rounds once
struct num num_cast(weft_dtype to, weft_dtype from, struct num v);
struct num num_at(const struct tensor *a, int64_t i);
bool num_is_nan(weft_dtype t, struct num v);
// One elementwise operation on operands of type t (where: of the last two); exact ones only.
struct num num_map(int kind, weft_dtype t, const struct num *x);
bool map_exact(int kind, weft_dtype t);
bool map_bound(int kind, weft_dtype t, const struct num *x, struct num got);
weft_dtype promote(weft_dtype a, weft_dtype b);
bool is_float(weft_dtype t), is_complex(weft_dtype t), is_half(weft_dtype t),
    is_signed(weft_dtype t), is_int(weft_dtype t);
weft_dtype real_of(weft_dtype t);

struct tensor tensor_new(weft_dtype t, int rank, const int64_t *dims);
struct tensor naive_map(int kind, int n, const struct tensor *x,
                        enum verdict *v); // broadcasting, promotion
struct tensor naive_cast(const struct tensor *x, weft_dtype t);
struct tensor naive_number(weft_dtype t, double v);
struct tensor naive_view(const struct node *n, const struct tensor *x); // views and assembly
bool naive_reduce(struct naive *w, int i);                              // reductions, scans
bool naive_product(struct naive *w, int i);
bool naive_place(struct naive *w, int i); // indexing and order
struct tensor tree_sum(const struct tensor *x, uint64_t mask,
                       bool prod); // in x's type; keeps no axes
int reduce_axes(const struct node *n, int rank, uint64_t *mask);
void unravel(int64_t l, const struct shape *s, int64_t *at);
int64_t ravel_at(const int64_t *at, const struct shape *s);
uint64_t philox_word(uint64_t at, uint64_t key, bool half);
uint64_t philox_below(uint64_t bits, uint64_t bound);

// ---- run.c
// ------------------------------------------------------------------------------------------ How
// the roots are evaluated. context: a row of run.c's table; naive: every node by itself, against
// the model.
struct way {
    int context, threads;
    bool unfused, program, naive;
};
struct failure {
    char text[400], how[160];
    int kind; // so that shrinking keeps to one fault: compared by hundreds
    int node; // where it showed, or -1
    struct way way;
};
void run_open(void); // contexts
// Ends the process (SIGPROF, SIGALRM) after so many seconds of its CPU time, or when it waits ten
// times as long.
void run_limit(int seconds);
weft_ctx *run_context(void);
// Evaluates c in several ways (only one, when given); true when all agree, otherwise what and how
// are told.
bool run_case(struct fcase *c, const struct way *only, struct failure *f);
// Options of the command for a way.
void way_options(const struct way *w, FILE *f);
extern int run_all;                                          // every way instead of some
bool bits_equal(weft_dtype t, const void *a, const void *b); // NaN as NaN
unsigned char *block_memory(int i, const struct block *b);
// Dense values of every node into memory[i], in the interpreter, one by one; false when that is
// refused.
bool run_values(struct fcase *c, unsigned char *const *memory);

// ---- shrink.c
// ----------------------------------------------------------------------------------------- Makes c
// small while it fails in the same way (in children, within so many seconds); then writes its
// arrays into folder and tells the command's line.
void shrink_case(struct fcase *c, struct failure *f, double seconds);
void tell_case(const struct fcase *c, const struct failure *f, const char *folder);

#endif
