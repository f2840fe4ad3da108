// SPDX-License-Identifier: MIT
// Inside the API room, the only one that sees every other: what its files share.
#ifndef WEFT_API_H
#define WEFT_API_H

#include <pthread.h>

#include "../fuse/plan.h"
#include "../ir/ir.h"
#include "../jit/jit.h"
#include "../runtime/runtime.h"

// ---- contexts (ctx.c) ----------------------------------------------------------------------------
struct plan_entry;
struct plan_cache { // plans.c
    pthread_mutex_t lock;
    struct plan_entry **bucket;
    size_t nbucket, count, bytes, limit;
    struct plan_entry *newest, *oldest;
    uint64_t made;
    _Atomic uint64_t hits;
};
struct weft_ctx {
    struct rt_env env;
    struct jit *jit;
    struct jit *check; // interpreter only, for WEFT_CHECK; else NULL
    struct plan_cache plans;
    pthread_mutex_t lock;       // guards what follows
    struct weft_workspace *spare; // recycled workspaces
    _Atomic(struct weft_workspace *) ready; // one of them, taken and given back without the lock
    struct base_alloc host;     // the host's allocator, behind the counting one
    unsigned dump;              // bits 1 << weft_dump_kind, from WEFT_DUMP
    _Atomic uint64_t allocs, alloc_bytes;
    uint32_t graph_nodes;       // at most in a graph; 0: the ir room's own limit
};
struct weft_workspace {
    weft_ctx *ctx;
    struct rt_workspace *rt;
    struct weft_workspace *next;
    // pointers and constants of one run, kept between runs: here, or where they are more in memory of their own
    uint64_t few[64];
    uint64_t *many;
    size_t nmany; // entries
};
size_t eval_room_bytes(int nleaf, int nout, int nconst); // of `many`
weft_workspace *ctx_borrow(weft_ctx *ctx); // NULL: no memory
void ctx_return(weft_ctx *ctx, weft_workspace *ws);
bool ctx_trim(weft_ctx *ctx); // frees recycled workspaces; whether they held anything
void ctx_log(weft_ctx *ctx, weft_log_level level, const char *fmt, ...) PRINTF_LIKE(3, 4);

// ---- environment variables (env.c) ----------------------------------------------------------------
struct env_settings {
    int threads;
    weft_isa isa;
    weft_backend backend;
    unsigned dump, names;
    bool check;
    uint32_t parallel; // WEFT_PARALLEL: nanoseconds; 0: not set
    int64_t stream;    // WEFT_STREAM: bytes, 0 for never; -1: not set
    const char *cache; // WEFT_CACHE: "off" or a directory; NULL: not set
};
void env_read(struct env_settings *s); // fields without a variable keep their value
bool env_cache_dir(const struct env_settings *s, char *path, size_t size); // false: none

// One evaluation from its beginning: what may stop it (control.c). control is for rt_bind or NULL.
struct api_watch {
    struct rt_control *control, own;
};
struct api_watch_opts {
    weft_token *token;
    weft_progress_fn *progress;
    void *progress_ud;
};
void watch_begin(struct api_watch *w, const struct api_watch_opts *o); // o NULL: nothing of its own
static inline uint64_t watch_epoch(const weft_ctx *ctx) {
    return atomic_load_explicit(&ctx->env.cancels, memory_order_relaxed);
}
// A run; when the budget for workspaces is spent, recycled ones are freed and it is tried again.
weft_status watch_run_again(weft_ctx *ctx, const struct rt_program *p, const struct rt_bind *b);
static inline weft_status watch_run(weft_ctx *ctx, const struct rt_program *p, const struct rt_bind *b) {
    const weft_status st = rt_program_run(p, &ctx->env, b);
    return st == WEFT_ELIMIT ? watch_run_again(ctx, p, b) : st;
}

// ---- graphs (graph.c) -------------------------------------------------------------------------------
struct weft_expr {
    weft_graph *g;
    ir_ref ref;
};
struct weft_graph {
    weft_ctx *ctx;
    struct ir_graph *ir;
    struct base_arena handles;    // of weft_expr
    struct base_vec by_ref;       // weft_expr * per node, or NULL
    struct base_err run;          // of the last evaluation
    struct base_vec key, leaves, consts; // scratch of evaluations
    struct shortcut *shortcut;    // shortcut.c: what was evaluated lately
    int nshortcut;
    struct base_vec owned;        // own.c: what to let go of when the expressions are gone
};
void graph_let_go(weft_graph *g);
weft_expr *graph_wrap(weft_graph *g, ir_ref r);
// Records a mistake that the ir room cannot see.
weft_expr *graph_fail(weft_graph *g, weft_status s, const char *what);

// A call over operands of one graph, and another output of it (index.c).
weft_expr *api_call(enum ir_op op, weft_expr *const *x, const int64_t *attr, int nattr);
weft_expr *api_result(weft_expr *call, int k);
int api_axis(const char *name, weft_expr *x, int axis);
weft_dtype api_meet(int n, weft_expr *const *x);

// ---- plans (plans.c) ----------------------------------------------------------------------------------
// A program and the order of its leaves and constants, shared by reference.
struct plan_request {
    const struct ir_graph *g;
    int n;
    const ir_ref *roots;
    const weft_array *outs;              // shapes and strides; NULL: dense
    const int64_t *const *in_strides;    // of inputs, or NULL
    bool unfused;
};
// ---- complex numbers at the edge (pairs.c) ----------------------------------------------------------------
// A request whose complex roots have become two real ones each, written into the arrays of pairs.
struct pairs {
    struct plan_request request;
    ir_ref *roots;
    weft_array *outs; // NULL: nothing was complex
    size_t bytes;
    weft_array few_outs[2];
    ir_ref few_roots[2];
};
// WEFT_ENOMEM. p->request refers into p, which must stay where it is.
weft_status pairs_expand(struct ir_graph *g, const struct base_alloc *a, const struct plan_request *q,
                         struct pairs *p);
void pairs_free(const struct base_alloc *a, struct pairs *p);
weft_array pairs_part(const weft_array *a, int which);      // 0, 1; of a real array: itself
weft_array pairs_dense(const struct ir_graph *g, ir_ref r); // r's type and shape, no data
// Inputs as the caller counts them; and what the graph's input k is of them.
struct pair_input {
    int number;
    size_t offset; // of its first element in the caller's array
    const char *name;
    weft_array declared; // the caller's
};
int pairs_inputs(const struct ir_graph *g);
struct pair_input pairs_input(const struct ir_graph *g, int k);

weft_status plan_build(weft_ctx *ctx, const struct plan_request *q, struct jit *jit,
                       struct base_err *err, struct rt_program **out);
weft_status plans_get(weft_ctx *ctx, const struct plan_request *q, const struct base_vec *key,
                      struct base_err *err, struct plan_entry **out);
struct rt_program *plans_program(struct plan_entry *e);
void plans_put(weft_ctx *ctx, struct plan_entry *e);
void plans_hold(weft_ctx *ctx, struct plan_entry *e); // once more
void plans_init(weft_ctx *ctx, size_t limit);
void plans_free(weft_ctx *ctx);

// ---- checked mode (checked.c) ------------------------------------------------------------------------------
struct checked {
    struct ir_graph *g;
    struct ir_checks checks;
    int nroot;
    weft_array *outs; // 0-d, without data
};
weft_status checked_make(weft_ctx *ctx, const struct plan_request *q, struct base_err *err, struct checked **out);
void checked_free(weft_ctx *ctx, struct checked *c);
struct plan_request checked_request(const struct checked *c, const struct plan_request *q);
// found: 8 bytes a root. True: WEFT_ECHECK and a sentence in err.
bool checked_verdict(const struct checked *c, const int64_t *found, struct base_err *err);
bool checked_ends(weft_status st);

// Plans that a graph has used lately, found without a key and without a lock while its nodes stay what they
// were. A shortcut holds its plan.
struct shortcut {
    struct plan_entry *entry;
    int n, nleaf, nconst;
    bool unfused;
    ir_ref top;                   // the greatest node it needs
    int64_t *strides;             // of the outputs, end to end; the block that holds the refs too
    ir_ref *roots;                // then leaves, then constants, in the order of the plan
    size_t bytes;                 // of the block
};
struct shortcut *shortcut_find(weft_graph *g, const struct plan_request *q);
// Remembers what was just planned; g->leaves and g->consts are those of its key. Takes a hold of its own;
// without memory nothing is remembered.
void shortcut_add(weft_graph *g, const struct plan_request *q, struct plan_entry *e);
void shortcut_free(weft_graph *g);

// ---- looking inside (look.c)
// LLVM IR or assembly of a plan, values named after the nodes of the request's dump.
weft_status look_code(weft_ctx *ctx, const struct plan_request *q, const struct fuse_plan *plan, weft_dump_kind kind,
                      weft_isa isa, struct base_vec *out, struct base_err *err);

// ---- evaluation (eval.c) ----------------------------------------------------------------------------------
// Shape, dtype and form of an output for root r; sentence in err.
weft_status eval_check_out(const struct ir_graph *g, ir_ref r, const weft_array *out, int i,
                           struct base_err *err);
// Room for nleaf + nout pointers and nconst constants inside ws.
weft_status eval_room(weft_workspace *ws, int nleaf, int nout, int nconst, struct rt_bind *b);
// The graph of the roots that are there; NULL: every root failed while it was built.
weft_graph *eval_graph(int n, weft_expr *const *x);
// WEFT_EINVAL: one of them is NULL or of another graph than g.
weft_status eval_roots(const weft_graph *g, int n, weft_expr *const *x, ir_ref *roots);

#endif
