// SPDX-License-Identifier: MIT
// A whole run. In: a finished program and addresses; out: the outputs written, or a status and
// nothing written. What can fail comes first: overlap of outputs, then one workspace for everything
// (temporaries, guards, every thread's scratch, states or matrix product, redirected outputs). Then
// the steps, in order. The smallest run is one walk of one tile on this thread, so nothing here is
// done per element or per operand.
#include <errno.h>

#include "walk.h"

// ---- finishing --------------------------------------------------------------------------------

static weft_status finish_loop(struct rt_program *p, struct rt_step *t, const struct rt_env *env) {
    struct rt_walk *w = ARENA_NEW(&p->arena, struct rt_walk);
    if (!w) return WEFT_ENOMEM;
    t->walk = w;
    w->nreduce = t->nreduce;
    w->reduce = ARENA_ARRAY(&p->arena, struct walk_reduce, t->nreduce + 1);
    if (!w->reduce) return WEFT_ENOMEM;
    for (int i = 0; i < t->nreduce; i++) {
        w->reduce[i].kind = (enum kern_red)t->reduce[i].kind;
        w->reduce[i].dtype = (weft_dtype)t->reduce[i].dtype;
    }
    TRY(rt_walk_shape(&p->arena, t, w));
    return rt_walk_cut(w, t, env);
}

static bool is_memory(const struct seg *s, int operand) {
    const uint8_t b = s->operand[operand].buffer;
    return b == NEST_LEAF || b == NEST_OUT || b == NEST_TEMP;
}
static bool is_loaded(const struct seg *s, int value) {
    return s->op[value].op == SEG_LOAD && is_memory(s, s->op[value].arg[0]);
}

// Unused arguments are 0 and count as uses of value 0, since arities are not known here: on the
// safe side.
static bool uses_loaded(const struct seg *s, const struct seg_op *o) {
    if (o->op == SEG_LOAD) return is_memory(s, o->arg[0]);
    if (o->op == SEG_STORE || o->op == SEG_REDUCE) return is_loaded(s, o->arg[0]);
    return is_loaded(s, o->arg[0]) || is_loaded(s, o->arg[1]) || is_loaded(s, o->arg[2]);
}

bool rt_seg_stores_last(const struct seg *s) {
    bool stored = false;
    for (int i = 0; i < s->nop; i++) {
        const struct seg_op *o = &s->op[i];
        if (stored && uses_loaded(s, o)) return false;
        stored |= o->op == SEG_STORE && is_memory(s, o->arg[1]);
    }
    return true;
}

// ---- memory -----------------------------------------------------------------------------------

struct layout {
    int64_t guard, scratch, scratch_bytes, shared, out, extra, total;
};

static int most_threads(const struct rt_env *env) {
    return MAX_OF(1, MIN_OF(env->threads, RT_MAX_THREADS));
}

static void add_needs(const struct rt_step *t, const struct rt_env *env, int threads,
                      struct rt_needs *n) {
    const struct rt_walk *w = t->walk;
    if (w)
        n->scratch_bytes =
            MAX_OF(n->scratch_bytes, w->thread_bytes + (int64_t)t->code->interp_scratch);
    if (t->kind == RT_MATMUL) {
        n->shared_bytes = MAX_OF(n->shared_bytes, rt_matmul_bytes(&t->matmul, env, threads));
        if (w) n->threads = MAX_OF(n->threads, rt_matmul_threads(&t->matmul, env, threads));
        return;
    }
    if (t->kind == RT_CALL) {
        n->shared_bytes = MAX_OF(n->shared_bytes, rt_call_bytes(&t->call, env, threads));
        return;
    }
    if (threads == 1) return;
    n->threads = (int)MAX_OF((int64_t)n->threads, MIN_OF(w->nchunk, (int64_t)threads));
    if (w->pieces > 1) n->shared_bytes = MAX_OF(n->shared_bytes, w->piece_bytes * w->nchunk);
}

static struct rt_needs needs_of(const struct rt_program *p, const struct rt_env *env, int threads) {
    struct rt_needs n = {.threads = 1};
    for (int i = 0; i < p->nstep; i++)
        add_needs(&p->step[i], env, threads, &n);
    return n;
}

weft_status rt_program_finish(struct rt_program *p, const struct rt_env *env) {
    for (int i = 0; i < p->nstep; i++) {
        struct rt_step *t = &p->step[i];
        if (t->kind == RT_LOOP || t->code) TRY(finish_loop(p, t, env));
        if (t->kind == RT_MATMUL && rt_matmul_bytes(&t->matmul, env, env->threads) < 0)
            return WEFT_ESHAPE;
        if (t->kind == RT_CALL && rt_call_bytes(&t->call, env, env->threads) < 0)
            return WEFT_ESHAPE;
    }
    TRY(rt_bounds_make(p));
    p->bounds->most = most_threads(env);
    p->bounds->serial = needs_of(p, env, 1);
    p->bounds->parallel = needs_of(p, env, p->bounds->most);
    return WEFT_OK;
}

// Machine code comes when it comes, and may want more scratch than the interpreter.
static int64_t native_bytes(const struct rt_program *p) {
    int64_t most = 0;
    for (int i = 0; i < p->nstep; i++) {
        struct rt_code *c = p->step[i].code;
        if (!c || !atomic_load_explicit(&c->native, memory_order_acquire)) continue;
        most = MAX_OF(most, p->step[i].walk->thread_bytes + (int64_t)c->native_scratch);
    }
    return most;
}

static void lay_out(const struct rt_program *p, const struct rt_env *env, int threads,
                    int64_t extra, struct layout *l) {
    const struct rt_bounds *b = p->bounds;
    const struct rt_needs n = threads == 1         ? b->serial
                              : threads == b->most ? b->parallel
                                                   : needs_of(p, env, threads);
    l->scratch_bytes = round_up(MAX_OF(n.scratch_bytes, native_bytes(p)), RT_LINE);
    l->guard = round_up(p->temp_total, RT_LINE);
    l->scratch = round_up(l->guard + p->nguard + 1, RT_LINE);
    l->shared = l->scratch + l->scratch_bytes * n.threads;
    l->out = round_up(l->shared + n.shared_bytes, RT_LINE);
    l->extra = extra ? round_up(l->out + p->nout * (int64_t)sizeof(void *), RT_LINE) : l->out;
    l->total = l->extra + extra;
}

int64_t rt_program_bytes(const struct rt_program *p, const struct rt_env *env) {
    struct layout l;
    lay_out(p, env, most_threads(env), 0, &l);
    return l.total;
}

// ---- redirected outputs -----------------------------------------------------------------------

static int64_t span_of(const struct rt_program *p, int out) {
    const struct rt_range r = p->bounds->out[out];
    return round_up(r.high - r.low, RT_LINE);
}

// Bytes for outputs that cannot be written in place; -1 when they cannot be expressed.
static int64_t count_extra(const struct rt_program *p, const struct rt_bind *b) {
    int64_t bytes = 0;
    for (int i = 0; i < p->nout; i++) {
        if (!rt_out_is_redirected(p, b, i)) continue;
        if (span_of(p, i) > BASE_MAX_BYTES - bytes) return -1;
        bytes += span_of(p, i);
    }
    return bytes;
}

// A redirected output keeps its strides, so only its address changes.
static void redirect(struct rt_run *run, const struct layout *l) {
    const struct rt_program *p = run->program;
    void **out = (void **)(void *)(run->base + l->out);
    int64_t at = l->extra;
    for (int i = 0; i < p->nout; i++) {
        out[i] = run->bind->out[i];
        if (!rt_out_is_redirected(p, run->bind, i)) continue;
        out[i] = (void *)((uintptr_t)(run->base + at) - (uintptr_t)p->bounds->out[i].low);
        at += span_of(p, i);
    }
    run->out = out;
}

static void copy_redirected(const struct rt_run *run) {
    for (int i = 0; i < run->program->nout; i++)
        if (run->out[i] != run->bind->out[i])
            rt_copy_array(run, &run->program->out[i], run->bind->out[i], run->out[i]);
}

// ---- the run ----------------------------------------------------------------------------------

static weft_status check_guards(const struct rt_run *run) {
    const struct rt_program *p = run->program;
    for (int i = 0; i < p->nguard; i++)
        if (atomic_load_explicit(&run->guard[i], memory_order_relaxed))
            return err_set(run->bind->err, WEFT_ENAN, "%s", p->guard_text[i]);
    return WEFT_OK;
}

// A call; a loop; or a product and the map on it.
static weft_status do_step(struct rt_run *run, const struct rt_step *t) {
    if (t->kind == RT_CALL) return rt_call_run(run, &t->call);
    if (t->kind == RT_MATMUL)
        rt_matmul_run(run, t);
    else
        rt_walk_run(run, t);
    if (!t->nest.ngather || !atomic_load_explicit(run->misses, memory_order_relaxed)) return WEFT_OK;
    return rt_gather_blame(run, t);
}

// Out of the way of runs that nobody stops or watches.
static __attribute__((noinline)) weft_status step_ended(const struct rt_run *run, const struct rt_step *t,
                                                        weft_status st) {
    if (rt_run_stopped(run)) return err_set(run->bind->err, WEFT_ECANCELED, "the evaluation was cancelled");
    rt_control_step(run, t);
    return st;
}

weft_status rt_step_run(struct rt_run *run, const struct rt_step *t) {
    const weft_status st = do_step(run, t);
    const struct rt_bind *b = run->bind;
    const uint64_t news = atomic_load_explicit(&run->env->cancels, memory_order_relaxed) ^ b->begun;
    return news | (uint64_t)(uintptr_t)b->control ? step_ended(run, t, st) : st;
}

static weft_status finish_run(const struct rt_run *run, int64_t extra) {
    if (extra) copy_redirected(run);
    if (extra && rt_run_stopped(run))
        return err_set(run->bind->err, WEFT_ECANCELED, "the evaluation was cancelled");
    TRY(check_guards(run));
    if (run->bind->control) rt_control_end(run);
    return WEFT_OK;
}

static weft_status run_steps(struct rt_run *run, const struct layout *l, int64_t extra) {
    const struct rt_program *p = run->program;
    run->guard = (_Atomic uint8_t *)(run->base + l->guard);
    run->scratch = run->base + l->scratch;
    run->scratch_bytes = l->scratch_bytes;
    run->shared = run->base + l->shared;
    run->misses = run->guard + p->nguard;
    for (int i = 0; i <= p->nguard; i++)
        atomic_store_explicit(&run->guard[i], 0, memory_order_relaxed);
    if (extra) redirect(run, l);
    if (run->bind->control) rt_control_steps(run);
    weft_profile_fn *heard = atomic_load_explicit(&run->env->profile, memory_order_acquire);
    if (heard && !run->bind->unheard)
        TRY(rt_profile_steps(run, heard));
    else
        for (int i = 0; i < p->nstep; i++)
            TRY(rt_step_run(run, &p->step[i]));
    return extra || p->nguard || run->bind->control ? finish_run(run, extra) : WEFT_OK;
}

static weft_status run_in(struct rt_run *run, struct rt_workspace *ws) {
    const struct rt_bind *b = run->bind;
    if (run->program->nout > 1) TRY(rt_outs_check(run->program, b));
    const int64_t extra = count_extra(run->program, b);
    struct layout l;
    lay_out(run->program, run->env, run->threads, MAX_OF(extra, 0), &l);
    const weft_status st = extra < 0 ? WEFT_ENOMEM : rt_workspace_reserve(ws, (size_t)l.total);
    if (st == WEFT_ELIMIT)
        return err_set(b->err, st, "a workspace of %lld bytes is needed, the context's limit for all is %lld",
                       (long long)l.total, (long long)run->env->workspace_limit);
    if (st)
        return err_set(b->err, WEFT_ENOMEM, "no memory for a workspace of %lld bytes",
                       (long long)l.total);
    run->base = rt_workspace_data(ws);
    return run_steps(run, &l, extra);
}

weft_status rt_program_run(const struct rt_program *p, struct rt_env *env,
                           const struct rt_bind *bind) {
    const int saved_errno = errno;
    const int most = most_threads(env);
    struct rt_run run = {.program = p,
                         .env = env,
                         .bind = bind,
                         .out = bind->out,
                         .threads = bind->threads > 0 ? MIN_OF(bind->threads, most) : most};
    struct rt_workspace *own = bind->ws ? NULL : rt_workspace_new(&env->alloc, env);
    weft_status st = WEFT_ENOMEM;
    if (bind->ws || own) {
        const struct rt_fp fp = rt_fp_enter();
        st = run_in(&run, own ? own : bind->ws);
        rt_fp_leave(fp);
    } else {
        err_set(bind->err, st, "no memory for a workspace");
    }
    rt_workspace_free(own);
    errno = saved_errno;
    return st;
}
