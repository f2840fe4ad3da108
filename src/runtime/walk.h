// SPDX-License-Identifier: MIT
// Inside the runtime room: how a step walks its memory. rt_program_finish makes one rt_walk per
// loop step (shape.c, then cut.c) and the overlap rules (bind.c); a run only adds addresses and
// threads to them.
#ifndef WEFT_RUNTIME_WALK_H
#define WEFT_RUNTIME_WALK_H

#include "runtime.h"

enum { RT_MAX_THREADS = 256, RT_LINE = 64 };

static inline int64_t round_up(int64_t x, int64_t to) {
    return (x + to - 1) / to * to;
}
static inline int64_t ceil_div(int64_t x, int64_t by) {
    return x / by + (x % by != 0);
}

// ---- the fixed part ---------------------------------------------------------------------------
enum walk_path {
    PATH_DIRECT, // code works on the operand's own memory
    PATH_PACK,   // through scratch: copied in before, or out after
    PATH_IOTA,   // generated into scratch
    PATH_ROWTMP, // lives in scratch
    PATH_GUARD,  // written to scratch, then or-ed into the guard
    PATH_GATHER, // packed element by element where an index array says
    PATH_INDEX   // that index array: code never sees it
};
struct walk_operand {
    uint8_t path, dtype, size, buffer;
    bool out, late, scalar;
    bool row_affine, col_affine; // one stride says it all; else the group's strides do
    uint32_t buf;
    uint8_t gmode;
    int index; // GATHER: the operand that has the index
    int64_t pick_step, pick_extent;
    int64_t offset, rstride, cstride;
    const int64_t *ostride; // per outer dim
    const int64_t *gstride; // per dim of the reduced group
    int64_t scratch, pitch; // place in the thread's scratch, bytes from row to row there
};
struct walk_reduce {
    enum kern_red kind;
    weft_dtype dtype;
    int64_t lanes;              // INNER; OUTER: the columns of a tile at most
    int64_t bytes;              // of one state, rounded up to a line
    int64_t tile, total, stack; // places in the thread's scratch
    int64_t piece;              // place in the states of one piece
};
// Dims of extent 1 are gone, and what can be one dim is one. MAP: the group is empty. INNER: the
// group is the columns. OUTER: the rows. A unit is what threads share: one row (MAP, INNER), one
// outer index (OUTER).
struct rt_walk {
    enum nest_mode mode;
    bool whole_rows, direct; // direct: no operand goes through scratch
    int nouter, ngroup;
    int64_t odim[NEST_DIMS], gdim[NEST_DIMS];
    int64_t outer, rows, cols; // totals
    int noperand, npacked, nreduce;
    struct walk_operand *operand;
    const int *packed;     // operands that are not direct
    int64_t *tile_rstride; // per operand, as tiles see it
    struct walk_reduce *reduce;
    // tiles
    int64_t tile_rows, tile_cols; // at most; reduced: whole, or a power of two of leaves
    int64_t weight;               // rough cycles per element
    bool tiled_run;               // the reduced run takes several tiles
    bool single;                  // the whole step is one tile, nothing packed
    bool stream;                  // outputs may be stored past the caches (stream.c)
    // chunks, when several threads are worth it
    int64_t nchunk; // 1: serial
    int64_t units, unit_step, col_step, col_chunks;
    int64_t pieces, piece; // > 1: the reduced run is cut for threads; elements of it in a piece
    int64_t piece_bytes;   // states of one piece
    // memory
    int64_t thread_bytes; // scratch of one thread, without the code's
    int64_t at_place, ptr_place, state_place;
    int64_t walker_place; // of a product's step: a walker is kept from part to part
};

// shape.c, cut.c: false when sizes overflow or there is no memory
weft_status rt_walk_shape(struct base_arena *a, const struct rt_step *t, struct rt_walk *w);
weft_status rt_walk_cut(struct rt_walk *w, const struct rt_step *t, const struct rt_env *env);

// ---- one run ----------------------------------------------------------------------------------
struct rt_run {
    const struct rt_program *program;
    struct rt_env *env;
    const struct rt_bind *bind;
    int threads;
    void *const *out; // after redirection
    uint8_t *base;    // the workspace
    _Atomic uint8_t *guard;
    _Atomic uint8_t *misses; // an index was out of range
    uint8_t *scratch, *shared; // threads' scratch, scratch_bytes apart; pieces or matrix product
    int64_t scratch_bytes;
};
// After so much work, on any thread: shall it end?
static inline bool rt_tick(const struct rt_run *run, int64_t cycles) {
    const struct rt_bind *b = run->bind;
    if (atomic_load_explicit(&run->env->cancels, memory_order_relaxed) != b->begun) return true;
    return b->control && rt_control_tick(b->control, cycles);
}
static inline bool rt_run_stopped(const struct rt_run *run) {
    return rt_is_stopped(run->env, run->bind->begun, run->bind->control);
}
struct kern_watch rt_watch(const struct rt_run *run); // for kernels
// control.c, for reports: the run's work, the end of a step, success. Without a report: nothing.
void rt_control_steps(const struct rt_run *run);
void rt_control_step(const struct rt_run *run, const struct rt_step *t);
void rt_control_end(const struct rt_run *run);
struct step_run {
    const struct rt_run *run;
    const struct rt_walk *walk;
    tile_fn *fn;
    const void *form;
    bool stream; // its outputs are stored past the caches
};
weft_status rt_step_run(struct rt_run *run, const struct rt_step *t);
// profile.c: all steps, each reported to fn when it has run
weft_status rt_profile_steps(struct rt_run *run, weft_profile_fn *fn);
struct step_run rt_step_open(const struct rt_run *run, const struct rt_step *t); // picks the tier
// One thread inside one step.
struct walker {
    const struct step_run *step;
    uint8_t *scratch;
    char **at; // per operand: address (IOTA: value) at the outer index
    void **ptr;
    void **state;
    int64_t outer;
    int64_t index[NEST_DIMS];
    struct tile tile;
};
struct block {
    int64_t row, rows, col, cols;
};

void rt_walk_run(const struct rt_run *run, const struct rt_step *t);
void rt_walker_open(struct walker *k, const struct step_run *s, int worker);
void rt_walker_seek(struct walker *k, int64_t outer);
struct block rt_block_of(const struct walk_operand *o, const struct block *b); // late: no rows, ...
void rt_walker_tile(struct walker *k, const struct block *b, enum tile_mode mode);
// Tile by tile; false: told to stop, the rest is left out.
bool rt_walker_block(struct walker *k, const struct block *b);
// partial.c: the block's reduced run tile by tile and its end (false likewise); and the step cut in pieces
bool rt_partial_block(struct walker *k, const struct block *b);
void rt_partial_run(const struct step_run *s);
// pack.c
void rt_pack(const struct rt_walk *w, const struct walk_operand *o, const char *at,
             const struct block *b, void *scratch);
void rt_unpack(const struct rt_walk *w, const struct walk_operand *o, char *at,
               const struct block *b, const void *scratch);
void rt_copy_array(const struct rt_run *run, const weft_array *shape, void *to, const void *from);
// stream.c: whether a walk is one whose outputs pass the caches by; whether this run of it may; a block of it
void rt_stream_plan(struct rt_walk *w, const struct rt_step *t, const struct rt_env *env);
bool rt_stream_allowed(const struct step_run *s);
bool rt_stream_block(struct walker *k, const struct block *b);
// transpose.c: to[r][c] = from[c][r] for the first rows and cols it says; to dense along c, from
// along r
struct rt_done {
    int64_t rows, cols;
};
struct rt_done rt_transpose(size_t size, int64_t rows, int64_t cols, char *to, int64_t to_rs,
                            const char *from, int64_t from_cs);
// gather.c: a block of operand k into its scratch; and what was wrong, once misses is set
void rt_gather(struct walker *k, int operand, const struct block *b);
weft_status rt_gather_blame(const struct rt_run *run, const struct rt_step *t);
// call.c: -1 when it cannot be expressed
int64_t rt_call_bytes(const struct nest_call *c, const struct rt_env *env, int threads);
weft_status rt_call_run(const struct rt_run *run, const struct nest_call *c);
// pack.c: places in the flattened group of dims
struct place {
    int64_t index[NEST_DIMS], offset;
};
void rt_place_at(const struct rt_walk *w, const int64_t *stride, int64_t e, struct place *p);
// n elements further, not beyond the end of the last dim
void rt_place_next(const struct rt_walk *w, const int64_t *stride, int64_t n, struct place *p);
// matmul.c
int64_t rt_matmul_bytes(const struct rt_matmul *m, const struct rt_env *env, int threads);
int rt_matmul_threads(const struct rt_matmul *m, const struct rt_env *env, int most);
void rt_matmul_run(const struct rt_run *run, const struct rt_step *t);
void *rt_operand_base(const struct rt_run *run, uint8_t buffer, uint32_t buf);

// ---- overlap ----------------------------------------------------------------------------------
struct rt_range {
    int64_t low, high;
};               // bytes from the data pointer; low == high: no element
struct rt_twin { // the output may lie delta bytes from the leaf, element on element
    int out, leaf;
    int64_t delta;
};
// What the steps of a program ask for, at the most: workspace of a run with so many threads.
struct rt_needs {
    int threads;
    int64_t scratch_bytes, shared_bytes; // of one thread, with the interpreter's; shared by all
};
struct rt_bounds {
    const struct rt_range *leaf, *out;
    const int *last_read, *first_write; // step numbers; -1 and nstep: never
    int ntwin;
    const struct rt_twin *twin;
    struct rt_needs serial, parallel; // with one thread; with as many as the environment has
    int most;                         // that number
};
struct rt_range rt_array_range(const weft_array *a);
weft_status rt_bounds_make(struct rt_program *p);
bool rt_out_is_redirected(const struct rt_program *p, const struct rt_bind *b, int out);
weft_status rt_outs_check(const struct rt_program *p, const struct rt_bind *b);

uint8_t *rt_workspace_data(const struct rt_workspace *w);

#endif
