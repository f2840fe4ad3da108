/* SPDX-License-Identifier: MIT
 *
 * Keeping hold of evaluations: stopping them, watching them, bounding what they may use, and checking what
 * they compute. Included by weft/weft.h; docs/control.md and docs/checked.md tell the whole story.
 */
#ifndef WEFT_CONTROL_H
#define WEFT_CONTROL_H

#ifndef WEFT_WEFT_H
#error "include weft/weft.h"
#endif

/* ---- stopping ------------------------------------------------------------------------------------
 *
 * A stopped evaluation returns WEFT_ECANCELED, usually within 10 ms. Its outputs hold unspecified values, which
 * may be parts of the result; graph, program, workspace and context are as usable as before, and the
 * next evaluation gives its usual bits. What looks whether it should stop: every pass over memory
 * between tiles, matrix products between slivers, sorts, scans, searches, scatters and selections
 * between blocks, batches of decompositions between matrices, transforms between lines, and a wait for
 * the compiler. What does not: one call of LAPACK or FFTW, one compilation (it ends in the background),
 * planning, and a host's allocator, executor or callbacks. */

/* Stops all evaluations that have begun in ctx: calls of weft_eval*, weft_compile and weft_run* that have
 * been entered and have not returned. One that begins later runs as if this had not been called, so
 * there is nothing to reset; with nothing running it does nothing. An evaluation whose work is done when
 * the call comes may still return WEFT_OK.
 * Any thread; also from a signal handler (one atomic addition, no lock, no errno). The context must stay
 * alive. NULL: WEFT_EINVAL. */
WEFT_API weft_status weft_cancel(weft_ctx *ctx);

/* Stops what it was given to: a finer weft_cancel. Fill it with zeros and keep it alive while an
 * evaluation has it. One token may be given to many evaluations. A cancelled token stays so: evaluations
 * given it stop at once, until it is reset. */
struct weft_token {
    uint32_t cancelled; /* only through the functions here */
};
WEFT_API void weft_token_cancel(weft_token *t); /* any thread, signal handlers; one atomic store */
WEFT_API void weft_token_reset(weft_token *t);
WEFT_API bool weft_token_cancelled(const weft_token *t);

/* weft_progress_fn, of weft_eval_opts and weft_run_opts: called on the thread that called the evaluation,
 * at most every 10 ms, with done <= total; total is a rough count of cycles, the same in every call of
 * one evaluation, and done never falls. When the evaluation has succeeded, and only then, the last call
 * has done == total (its answer is ignored), so a short evaluation calls it once. false stops the
 * evaluation. It must not use the evaluation's graph or workspace, nor free anything the evaluation uses;
 * other evaluations are allowed and find no helper threads. A host's executor that runs nothing on the
 * calling thread makes calls between passes only. NULL costs nothing. */

/* weft_run with everything that can be said about one run. size must be sizeof(weft_run_opts); NULL or
 * zero fields are defaults, opts itself may be NULL. */
typedef struct weft_run_opts {
    size_t size;
    weft_workspace *workspace; /* default: one that the context recycles */
    int threads;               /* 0: as the context; otherwise an upper limit for this run */
    weft_token *token;
    weft_progress_fn *progress;
    void *progress_ud;
    char *err; /* receives a sentence, or "", in at most err_size bytes */
    size_t err_size;
} weft_run_opts;
WEFT_API weft_status weft_run_with(const weft_program *p, const weft_array *inputs, const weft_array *outs,
                                   const weft_run_opts *opts);

/* ---- budgets --------------------------------------------------------------------------------------
 *
 * Fields of weft_ctx_opts; each is WEFT_ELIMIT with a sentence that has the limit and what was asked for.
 *   workspace_bytes  Bytes held by all workspaces of the context at once, recycled ones included (they are
 *                    released before an evaluation is refused). Found before anything is written. Not
 *                    counted: results of weft_eval_new, graphs, plans.
 *   graph_nodes      Nodes of one graph. The builder that would make one more fails, as for any error.
 *   compile_ms       Time in the machine-code compiler over the life of the context. Once it is spent, what
 *                    is not compiled yet stays interpreted: the same bits more slowly, whatever the backend,
 *                    with one line to the log and weft_stats.compile_refusals. A compilation under way is
 *                    finished, so the budget can be exceeded by one.
 *   code_cache_bytes Machine code and plans kept: the least recently used are dropped, nothing fails. */

/* ---- checked mode --------------------------------------------------------------------------------- */

/* On: every evaluation and every program compiled from g also looks for
 *   - integer overflow: add, sub, mul, square, neg, abs, pow, lcm, floor_divide (least // -1); sums, products,
 *     scans and matrix products whose exact result does not fit their type,
 *   - integer division by zero: floor_divide, remainder, reciprocal, 0 to a negative power,
 *   - shift counts below 0 or not below the width,
 *   - casts to an integer type that does not hold the value, NaN included,
 *   - indices out of range where the mode is WEFT_INDEX_RAISE,
 *   - a NaN or an infinity that an operation makes out of finite operands,
 * and, when it met one, returns WEFT_ECHECK with a sentence that names the operation, the types and the
 * logical index: the first one, by operation in the order in which the results use them, then by kind,
 * then by row-major index in the operation's result. Which that is depends on neither threads, tier nor
 * layout. The outputs hold what they would without checks. Costs time only while on.
 * Only for a graph without expressions: new, or just reset, which keeps the mode; otherwise WEFT_EINVAL. */
WEFT_API weft_status weft_graph_check(weft_graph *g, bool on);

#endif
