// SPDX-License-Identifier: MIT
// Options in, a context out: the host's allocator behind a counter, the machine's level, the caches, and
// a shelf of workspaces that evaluations borrow. Everything global to a use of weft lives here; the
// process itself is left alone.
#include <stdio.h>

#include "api.h"

static void *counting_alloc(void *ud, void *p, size_t old_size, size_t size) {
    weft_ctx *ctx = ud;
    void *q = base_resize(&ctx->host, p, old_size, size);
    if (size && !q) return NULL;
    if (size) atomic_fetch_add_explicit(&ctx->allocs, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&ctx->alloc_bytes, size - (p ? old_size : 0), memory_order_relaxed);
    return q;
}

void ctx_log(weft_ctx *ctx, weft_log_level level, const char *fmt, ...) {
    char line[1024];
    if (!ctx->env.log) return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    ctx->env.log(ctx->env.log_ud, level, line);
}

static weft_status set_up(weft_ctx *ctx, const weft_ctx_opts *o) {
    struct env_settings s = {.threads = o->threads, .isa = o->isa, .backend = o->backend, .stream = -1, .parallel = o->parallel_ns};
    if (o->stream_bytes) s.stream = MAX_OF(o->stream_bytes, 0);
    if (!o->ignore_env) {
        struct env_settings e = {.stream = -1};
        env_read(&e);
        if (!s.threads) s.threads = e.threads;
        if (s.isa == WEFT_ISA_BEST) s.isa = e.isa;
        if (s.backend == WEFT_BACKEND_AUTO) s.backend = e.backend;
        s.dump = e.dump;
        s.check = e.check;
        s.names = e.names;
        s.cache = e.cache;
        if (s.stream < 0) s.stream = e.stream;
        if (!s.parallel) s.parallel = e.parallel;
    }
    size_t bound = o->code_cache_bytes ? o->code_cache_bytes : (size_t)64 << 20;
    struct rt_env *env = &ctx->env;
    env->isa = kern_isa_capped(s.isa);
    env->own_executor = !o->executor;
    if (o->executor) env->exec = *o->executor;
    env->threads = s.threads ? s.threads : o->executor ? o->executor->threads : rt_cpu_count();
    if (env->threads < 1) env->threads = 1;
    env->parallel_ns = s.parallel;
    env->stream_bytes = s.stream >= 0 ? s.stream : (int64_t)kern_cache_sizes().l3;
    ctx->dump = s.dump;
    if (env->own_executor && !(env->pool = rt_pool_new(&env->alloc, env->threads))) return WEFT_ENOMEM;
    char dir[4096];
    struct jit_opts jo = {.backend = s.backend, .cache_bytes = bound,
                          .compile_ns = (uint64_t)o->compile_ms * 1000000};
    jo.disk_bytes = o->code_dir_bytes ? o->code_dir_bytes : (size_t)64 << 20;
    if (o->code_store) jo.code_store = *o->code_store;
    if (o->code_dir && o->code_dir[0])
        jo.code_dir = o->code_dir;
    else if (!o->code_dir && !o->ignore_env && env_cache_dir(&s, dir, sizeof dir))
        jo.code_dir = dir;
    if (!(ctx->jit = jit_new(env, &jo))) return WEFT_ENOMEM;
    jit_set_names(ctx->jit, s.names);
    jo.backend = WEFT_BACKEND_INTERP;
    if (s.check && !(ctx->check = jit_new(env, &jo))) return WEFT_ENOMEM;
    plans_init(ctx, bound / 4);
    return WEFT_OK;
}

// A program built against an earlier header gives a shorter struct: what it does not know is default.
static bool take_opts(weft_ctx_opts *o, const weft_ctx_opts *given) {
    *o = (weft_ctx_opts){.size = sizeof *o};
    if (!given) return true;
    if (given->size < offsetof(weft_ctx_opts, code_dir) || given->size > sizeof *o) return false;
    memcpy(o, given, given->size);
    return true;
}

weft_status weft_ctx_new(weft_ctx **out, const weft_ctx_opts *opts) {
    weft_ctx_opts filled;
    const weft_ctx_opts *const o = &filled;
    if (!out) return WEFT_EINVAL;
    *out = NULL;
    if (!take_opts(&filled, opts) || o->threads < 0 || (unsigned)o->isa > WEFT_ISA_NEON ||
        (unsigned)o->backend > WEFT_BACKEND_JIT)
        return WEFT_EINVAL;
    if (o->code_store && (!o->code_store->get || !o->code_store->put)) return WEFT_EINVAL;
    if (o->executor && (!o->executor->parallel_for || o->executor->threads < 1)) return WEFT_EINVAL;
    struct base_alloc host = {o->alloc, o->alloc_ud};
    weft_ctx *ctx = base_get_zero(&host, sizeof *ctx);
    if (!ctx) return WEFT_ENOMEM;
    ctx->host = host;
    ctx->env.alloc = (struct base_alloc){counting_alloc, ctx};
    ctx->env.log = o->log;
    ctx->env.log_ud = o->log_ud;
    ctx->env.workspace_limit = (int64_t)MIN_OF(o->workspace_bytes, (size_t)BASE_MAX_BYTES);
    ctx->graph_nodes = o->graph_nodes;
    pthread_mutex_init(&ctx->lock, NULL);
    pthread_mutex_init(&ctx->plans.lock, NULL);
    weft_status st = set_up(ctx, o);
    if (st) {
        weft_ctx_free(ctx);
        return st;
    }
    *out = ctx;
    return WEFT_OK;
}

weft_status weft_cancel(weft_ctx *ctx) {
    if (!ctx) return WEFT_EINVAL;
    atomic_fetch_add_explicit(&ctx->env.cancels, 1, memory_order_relaxed);
    return WEFT_OK;
}

static void free_workspace(weft_workspace *ws) {
    rt_workspace_free(ws->rt);
    base_put(&ws->ctx->env.alloc, ws->many, ws->nmany * sizeof *ws->many);
    base_put(&ws->ctx->env.alloc, ws, sizeof *ws);
}

void weft_ctx_free(weft_ctx *ctx) {
    if (!ctx) return;
    plans_free(ctx);
    jit_free(ctx->jit);
    jit_free(ctx->check);
    rt_pool_free(ctx->env.pool);
    weft_workspace *ready = atomic_load(&ctx->ready);
    if (ready) free_workspace(ready);
    for (weft_workspace *ws = ctx->spare, *next; ws; ws = next) {
        next = ws->next;
        free_workspace(ws);
    }
    pthread_mutex_destroy(&ctx->lock);
    pthread_mutex_destroy(&ctx->plans.lock);
    struct base_alloc host = ctx->host;
    base_put(&host, ctx, sizeof *ctx);
}

void weft_ctx_stats(weft_ctx *ctx, weft_stats *out, size_t size) {
    weft_stats s = {0};
    if (!out) return;
    if (!ctx) {
        memset(out, 0, MIN_OF(size, sizeof s));
        return;
    }
    jit_stats(ctx->jit, &s);
    pthread_mutex_lock(&ctx->plans.lock);
    s.plans = ctx->plans.made;
    s.plan_hits = ctx->plans.hits;
    pthread_mutex_unlock(&ctx->plans.lock);
    s.allocs = atomic_load(&ctx->allocs);
    s.alloc_bytes = atomic_load(&ctx->alloc_bytes);
    s.threads = ctx->env.threads;
    s.isa = ctx->env.isa == KERN_AVX512 ? WEFT_ISA_AVX512
            : ctx->env.isa == KERN_AVX2 ? WEFT_ISA_AVX2
                                        : WEFT_ISA_SCALAR;
#ifdef __aarch64__
    s.isa = WEFT_ISA_NEON;
#endif
    memcpy(out, &s, MIN_OF(size, sizeof s));
}

void weft_ctx_wait(weft_ctx *ctx) {
    if (ctx) jit_wait(ctx->jit);
}

// ---- workspaces --------------------------------------------------------------------------------------
static weft_workspace *make_workspace(weft_ctx *ctx) {
    weft_workspace *ws = base_get_zero(&ctx->env.alloc, sizeof *ws);
    if (!ws) return NULL;
    ws->ctx = ctx;
    ws->rt = rt_workspace_new(&ctx->env.alloc, &ctx->env);
    if (ws->rt) return ws;
    base_put(&ctx->env.alloc, ws, sizeof *ws);
    return NULL;
}

weft_workspace *ctx_borrow(weft_ctx *ctx) {
    weft_workspace *first = atomic_exchange_explicit(&ctx->ready, NULL, memory_order_acquire);
    if (first) return first;
    pthread_mutex_lock(&ctx->lock);
    weft_workspace *ws = ctx->spare;
    if (ws) ctx->spare = ws->next;
    pthread_mutex_unlock(&ctx->lock);
    return ws ? ws : make_workspace(ctx);
}

void ctx_return(weft_ctx *ctx, weft_workspace *ws) {
    weft_workspace *none = NULL;
    if (atomic_compare_exchange_strong_explicit(&ctx->ready, &none, ws, memory_order_release, memory_order_relaxed))
        return;
    pthread_mutex_lock(&ctx->lock);
    ws->next = ctx->spare;
    ctx->spare = ws;
    pthread_mutex_unlock(&ctx->lock);
}

// Gives back what recycled workspaces hold, for an evaluation that the budget has no room for.
bool ctx_trim(weft_ctx *ctx) {
    weft_workspace *ws = atomic_exchange_explicit(&ctx->ready, NULL, memory_order_acquire);
    pthread_mutex_lock(&ctx->lock);
    if (ws) ws->next = ctx->spare;
    ws = ws ? ws : ctx->spare;
    ctx->spare = NULL;
    pthread_mutex_unlock(&ctx->lock);
    bool any = false;
    for (weft_workspace *next; ws; ws = next) {
        next = ws->next;
        any |= rt_workspace_held(ws->rt) > 0;
        free_workspace(ws);
    }
    return any;
}

weft_status weft_workspace_new(weft_ctx *ctx, weft_workspace **out) {
    if (!ctx || !out) return WEFT_EINVAL;
    *out = make_workspace(ctx);
    return *out ? WEFT_OK : WEFT_ENOMEM;
}
weft_status weft_workspace_reserve(weft_workspace *ws, size_t bytes) {
    if (!ws) return WEFT_EINVAL;
    const weft_status st = rt_workspace_hold(ws->rt, bytes);
    return st == WEFT_ELIMIT && ctx_trim(ws->ctx) ? rt_workspace_hold(ws->rt, bytes) : st;
}
size_t weft_workspace_bytes(const weft_workspace *ws) {
    return ws ? rt_workspace_held(ws->rt) + ws->nmany * sizeof *ws->many : 0;
}
void weft_workspace_free(weft_workspace *ws) {
    if (ws) free_workspace(ws);
}
