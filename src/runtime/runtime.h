// SPDX-License-Identifier: MIT
// Program and data in, numbers out: binding, overlap, workspace, threads, the walk over tiles. Produces no
// code and knows no graph; whichever tier made a step's code, it is called through tile_fn.
#ifndef WEFT_RUNTIME_H
#define WEFT_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>

#include "../kernels/kern.h"
#include "../nest.h"

// ---- what a context lends to a run ------------------------------------------------------------
struct rt_pool;
struct rt_env {
    struct base_alloc alloc;
    weft_log_fn *log;
    void *log_ud;
    enum kern_isa isa;
    int threads;                // most threads an evaluation may use, >= 1
    bool own_executor;          // false: exec is the host's
    weft_executor exec;         // host's
    struct rt_pool *pool;       // own, started on first need
    _Atomic(weft_profile_fn *) profile; // hears of every step, or NULL
    void *profile_ud;
    _Atomic uint64_t cancels;   // how often all evaluations under way were told to stop
    uint32_t parallel_ns;       // work of one thread, as estimated, that several share; 0: measured
    int64_t stream_bytes;       // maps that touch more store past the caches; 0: none does
    int64_t workspace_limit;    // bytes of all workspaces; 0: none
    _Atomic int64_t workspace_held;
};

// ---- stopping and watching (control.c) ----------------------------------------------------------
// What one evaluation asks for beyond the context's word: a token that stops it, and reports.
struct rt_control {
    const uint32_t *token;      // not 0: stop; NULL: none
    bool (*progress)(void *ud, uint64_t done, uint64_t total); // NULL: none
    void *progress_ud;
    pthread_t caller;
    atomic_bool stopped;        // seen once, it stays
    uint64_t total, before, step; // rough cycles: of the run, of finished steps, of this step
    _Atomic uint64_t in_step;
    int64_t next_ns;            // no report before
};
void rt_control_begin(struct rt_control *c); // what the caller did not set
bool rt_control_stopped(struct rt_control *c);
bool rt_control_tick(struct rt_control *c, int64_t cycles); // the same after so much work, and reports

// ---- threads ----------------------------------------------------------------------------------
// CPUs this process may use: affinity mask and cgroup quota, at least 1.
int rt_cpu_count(void);
// CPUs the cgroup quota grants (rounded up), 0 when unlimited. root is "" but in tests.
int rt_cpu_quota(const char *root);
struct rt_pool *rt_pool_new(const struct base_alloc *a, int threads); // no thread yet; NULL: no memory
void rt_pool_free(struct rt_pool *p);                                 // joins
int rt_pool_started(struct rt_pool *p);                               // helper threads there are now
// Where work begins to be worth sharing, in rough cycles: kept with the pool, 0 until measured. And the word for
// an environment, which measures at the first asking (worth.c).
_Atomic int64_t *rt_pool_worth(struct rt_pool *p);
int64_t rt_worth_cycles(const struct rt_env *env);
void rt_pool_limit(struct rt_pool *p, int helpers); // as if the system refused more; for tests
// body(arg, i, worker) for i in 0..n-1 with worker in 0..threads-1 (no two calls with one worker number at
// once). Runs of i are owned by workers, then stolen. The caller works too. Serial when n or threads is
// 1, when the pool is busy with another host thread, inside a forked child, or when no thread starts.
void rt_parallel(struct rt_env *env, int threads, int64_t n,
                 void (*body)(void *arg, int64_t i, int worker), void *arg);

// ---- floating-point environment ---------------------------------------------------------------
struct rt_fp { uint64_t saved; };
struct rt_fp rt_fp_enter(void);      // default rounding, no flush to zero, exceptions masked
void rt_fp_leave(struct rt_fp saved);

// ---- workspace --------------------------------------------------------------------------------
// One block, 64-byte aligned (2 MiB-aligned with huge-page advice when large), grown only on need.
struct rt_workspace;
// Its bytes count in the budget of env, which may be NULL: WEFT_ELIMIT beyond it.
struct rt_workspace *rt_workspace_new(const struct base_alloc *a, struct rt_env *env);
weft_status rt_workspace_reserve(struct rt_workspace *w, size_t bytes);
size_t rt_workspace_bytes(const struct rt_workspace *w);
// What the allocator is asked for when so many bytes are reserved: alignment costs up to 2 MiB. The other way:
// reserves what costs at most `cost`. And what the workspace holds now, counted like this.
size_t rt_workspace_cost(size_t bytes);
weft_status rt_workspace_hold(struct rt_workspace *w, size_t cost);
size_t rt_workspace_held(const struct rt_workspace *w);
void rt_workspace_free(struct rt_workspace *w);

// ---- programs ---------------------------------------------------------------------------------
// Code of one body in both tiers. Owned by the jit room, shared by programs; native appears later.
struct rt_code {
    tile_fn *interp;
    const void *interp_form;
    size_t interp_scratch;
    _Atomic(tile_fn *) native;  // store-release after native_form and native_scratch
    const void *native_form;
    size_t native_scratch;      // both scratch sizes are known before the first run
    _Atomic uint64_t runs_native, runs_interp;
};

struct rt_reduce { uint8_t kind, dtype; };  // enum kern_red and operand dtype, in order of seg reductions

enum rt_kind { RT_LOOP, RT_MATMUL, RT_CALL };
struct rt_matmul {
    weft_dtype dtype;
    int nbatch;
    int64_t batch[WEFT_MAX_RANK];
    int64_t m, n, k;
    struct nest_operand a, b, c;
    bool turned;                // rows of the step's nest are the product's columns
};
struct rt_step {
    enum rt_kind kind;          // MATMUL with code: a map on each part of the product (fuse/plan.h)
    bool whole_rows;            // INNER with several ELEM sections: PARTIAL is not allowed
    struct nest nest;
    int nreduce;
    const struct rt_reduce *reduce;
    struct rt_code *code;
    const char *name;           // its operations, for people
    int64_t bytes_read, bytes_written; // as planned
    struct rt_matmul matmul;
    struct nest_call call;      // op is a kern_call_op
    int cost;                   // rough cycles per element, for deciding on threads
    // An output may coincide with an input element for element when code never reads the input after
    // storing there: set by the builder from rt_seg_stores_last. false is always correct (a copy).
    bool stores_last;
    struct rt_walk *walk;       // filled by rt_program_finish
};
// In every section nothing that was loaded is used after the first store to memory, and no later section
// loads: then it does not matter whether a tier reads a loaded value at its load or at its use.
bool rt_seg_stores_last(const struct seg *s);
struct rt_program {
    struct base_arena arena;
    int nstep;
    struct rt_step *step;
    int ntemp;
    const int64_t *temp_offset, *temp_bytes;
    int64_t temp_total;         // bytes of temporaries in the workspace
    int nleaf, nout, nconst, nguard;
    const weft_dtype *const_dtype;
    // shapes and strides the program was made for; data is ignored. Binding checks nothing but overlap:
    // the caller found the program by these.
    const weft_array *leaf, *out;
    const char *const *guard_text;
    struct rt_bounds *bounds;   // filled by rt_program_finish
};
// The last act of building a program: fixes how every step walks its memory, what is packed, where it is
// cut for threads, and which overlaps are harmless. Everything above must be set, code included.
// WEFT_ENOMEM; WEFT_ESHAPE when scratch sizes overflow.
weft_status rt_program_finish(struct rt_program *p, const struct rt_env *env);
// Workspace a run with at most env->threads threads needs: temporaries, scratch, partial states, matmul.
int64_t rt_program_bytes(const struct rt_program *p, const struct rt_env *env);

struct rt_bind {
    void *const *leaf;          // data of each leaf
    void *const *out;           // data of each output
    const uint64_t *constant;   // 8 bytes each, the value in the first dtype_size bytes
    struct rt_workspace *ws;
    int threads;                // 0: env's
    bool unheard;               // the profile does not hear of it
    struct base_err *err;
    uint64_t begun;             // env's cancels when the evaluation began
    struct rt_control *control; // or NULL
};
// Whether the evaluation shall stop: also for waits before its run.
static inline bool rt_is_stopped(const struct rt_env *env, uint64_t begun, struct rt_control *c) {
    return atomic_load_explicit(&env->cancels, memory_order_relaxed) != begun ||
           (c && rt_control_stopped(c));
}
// Runs. WEFT_EALIAS, WEFT_ENOMEM (before anything is written), WEFT_EINDEX and what calls return (the
// outputs are unspecified then), WEFT_ECANCELED (likewise), WEFT_ENAN (afterwards). Allocates only when
// the workspace must grow. Outputs may overlap leaves in any way; not themselves nor each other.
weft_status rt_program_run(const struct rt_program *p, struct rt_env *env, const struct rt_bind *bind);

// ---- arrays (also used by api.c) --------------------------------------------------------------
// Every shape fact checked with 64-bit arithmetic: rank, extents, byte size; sentence in err.
weft_status rt_array_check(const weft_array *a, const char *what, struct base_err *err);
bool rt_array_overlaps_itself(const weft_array *a);
bool rt_arrays_overlap(const weft_array *a, const weft_array *b); // shares a byte (exact or conservative)

#endif
