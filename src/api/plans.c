// SPDX-License-Identifier: MIT
// The plan cache of a context: the canonical bytes of a graph with its shapes and strides in, a shared
// program out. Addresses and constants are not in the key, so evaluating the same expression over other
// buffers or with another constant plans nothing. Bounded in bytes; least recently used first.
#define XXH_INLINE_ALL
#include <stdio.h>
#include <xxhash.h>

#include "api.h"

struct plan_entry {
    struct plan_entry *next, *newer, *older;
    uint64_t hash;
    size_t key_size, bytes;
    unsigned char *key;
    struct rt_program *program;
    int refs;
};

void plans_init(weft_ctx *ctx, size_t limit) { ctx->plans.limit = limit; }

static void unlink_use(struct plan_cache *c, struct plan_entry *e) {
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
}
static void link_newest(struct plan_cache *c, struct plan_entry *e) {
    e->newer = NULL;
    e->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

static void destroy(weft_ctx *ctx, struct plan_entry *e) {
    if (e->program) jit_program_free(ctx->jit, e->program);
    base_put(&ctx->env.alloc, e->key, e->key_size);
    base_put(&ctx->env.alloc, e, sizeof *e);
}

static void drop(weft_ctx *ctx, struct plan_entry *e) {
    struct plan_cache *c = &ctx->plans;
    struct plan_entry **p = &c->bucket[e->hash & (c->nbucket - 1)];
    while (*p != e)
        p = &(*p)->next;
    *p = e->next;
    unlink_use(c, e);
    c->count--;
    c->bytes -= e->bytes;
    destroy(ctx, e);
}

static void trim(weft_ctx *ctx) {
    struct plan_cache *c = &ctx->plans;
    for (struct plan_entry *e = c->oldest, *newer; e && c->bytes > c->limit; e = newer) {
        newer = e->newer;
        if (!e->refs) drop(ctx, e);
    }
}

static bool grow(weft_ctx *ctx) {
    struct plan_cache *c = &ctx->plans;
    size_t n = c->nbucket ? c->nbucket * 2 : 256;
    struct plan_entry **b = base_get_zero(&ctx->env.alloc, n * sizeof *b);
    if (!b) return c->nbucket > 0;
    for (size_t i = 0; i < c->nbucket; i++)
        for (struct plan_entry *e = c->bucket[i], *next; e; e = next) {
            next = e->next;
            e->next = b[e->hash & (n - 1)];
            b[e->hash & (n - 1)] = e;
        }
    base_put(&ctx->env.alloc, c->bucket, c->nbucket * sizeof *b);
    c->bucket = b;
    c->nbucket = n;
    return true;
}

static struct plan_entry *find(struct plan_cache *c, uint64_t hash, const struct base_vec *key) {
    if (!c->nbucket) return NULL;
    for (struct plan_entry *e = c->bucket[hash & (c->nbucket - 1)]; e; e = e->next)
        if (e->hash == hash && e->key_size == key->size && !memcmp(e->key, key->data, key->size))
            return e;
    return NULL;
}

// ---- planning -------------------------------------------------------------------------------------------
static void log_lines(weft_ctx *ctx, char *text) {
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        ctx_log(ctx, WEFT_LOG_INFO, "%.*s", (int)(end - line), line);
        if (*end) end++;
    }
}

// WEFT_DUMP: what a new plan is made of, to the log.
static void dump_new(weft_ctx *ctx, const struct plan_request *q, const struct fuse_plan *plan) {
    struct base_vec text;
    vec_init(&text, &ctx->env.alloc);
    if (ctx->dump & 1u << WEFT_DUMP_IR) ir_dump(q->g, q->n, q->roots, &text);
    if (ctx->dump & 1u << WEFT_DUMP_DOT) ir_dot_dump(q->g, q->n, q->roots, &text);
    if (ctx->dump & 1u << WEFT_DUMP_PLAN) fuse_plan_dump(q->g, plan, &text);
    for (unsigned kind = WEFT_DUMP_LLVM; kind <= WEFT_DUMP_ASM; kind++)
        if (ctx->dump & 1u << kind) look_code(ctx, q, plan, (weft_dump_kind)kind, WEFT_ISA_BEST, &text, NULL);
    if (text.data && !text.failed) log_lines(ctx, (char *)text.data);
    vec_free(&text);
}

// Tells the program the arrays it was made for: the runtime judges overlap by them.
static weft_status describe(const struct plan_request *q, const struct fuse_plan *plan,
                            struct rt_program *p) {
    weft_array *leaf = ARENA_ARRAY(&p->arena, weft_array, plan->nleaf + 1);
    weft_array *out = ARENA_ARRAY(&p->arena, weft_array, q->n + 1);
    if (!leaf || !out) return WEFT_ENOMEM;
    for (int i = 0; i < plan->nleaf; i++) {
        ir_ref r = plan->leaf[i];
        const struct ir_node *n = ir_at(q->g, r);
        int k = (int)ir_attr(q->g, r)[0];
        if (n->op == IR_from)
            leaf[i] = ir_leaf_at(q->g, k)->array;
        else if (q->in_strides && q->in_strides[k])
            leaf[i] = weft_strided((weft_dtype)n->dtype, NULL, n->rank, ir_dims(q->g, r), q->in_strides[k]);
        else
            leaf[i] = weft_dense((weft_dtype)n->dtype, NULL, n->rank, ir_dims(q->g, r));
    }
    for (int i = 0; i < q->n; i++) {
        const struct ir_node *n = ir_at(q->g, q->roots[i]);
        out[i] = q->outs ? q->outs[i]
                         : weft_dense((weft_dtype)n->dtype, NULL, n->rank, ir_dims(q->g, q->roots[i]));
    }
    p->leaf = leaf;
    p->out = out;
    return WEFT_OK;
}

weft_status plan_build(weft_ctx *ctx, const struct plan_request *q, struct jit *jit,
                       struct base_err *err, struct rt_program **out) {
    struct fuse_opts fo = {.unfused = q->unfused, .in_strides = q->in_strides, .outs = q->outs};
    struct fuse_plan *plan = NULL;
    *out = NULL;
#ifdef WEFT_DEV
    if (!ir_check(q->g, err)) return WEFT_EINVAL;
#endif
    TRY(fuse_plan_make(q->g, q->n, q->roots, &fo, &ctx->env.alloc, err, &plan));
    weft_status st = WEFT_OK;
#ifdef WEFT_DEV
    if (!fuse_plan_check(q->g, plan, err)) st = WEFT_EINVAL;
#endif
    if (!st && ctx->dump && ctx->env.log) dump_new(ctx, q, plan);
    if (!st) st = jit_program_make(jit, plan, q->g, err, out);
    if (!st) st = describe(q, plan, *out);
    if (!st) st = rt_program_finish(*out, &ctx->env);
    fuse_plan_free(plan);
    if (st && *out) {
        jit_program_free(jit, *out);
        *out = NULL;
    }
    return st ? err_set(err, st, "no memory for a plan") : WEFT_OK;
}

static weft_status insert(weft_ctx *ctx, uint64_t hash, const struct base_vec *key,
                          struct rt_program *p, struct plan_entry **out) {
    struct plan_cache *c = &ctx->plans;
    struct plan_entry *e = base_get_zero(&ctx->env.alloc, sizeof *e);
    unsigned char *copy = base_get(&ctx->env.alloc, key->size);
    if (!e || !copy || (c->count >= c->nbucket && !grow(ctx))) {
        base_put(&ctx->env.alloc, e, sizeof *e);
        base_put(&ctx->env.alloc, copy, key->size);
        return WEFT_ENOMEM;
    }
    memcpy(copy, key->data, key->size);
    *e = (struct plan_entry){.hash = hash, .key = copy, .key_size = key->size, .program = p};
    e->bytes = sizeof *e + key->size + p->arena.used;
    e->next = c->bucket[hash & (c->nbucket - 1)];
    c->bucket[hash & (c->nbucket - 1)] = e;
    link_newest(c, e);
    c->count++;
    c->bytes += e->bytes;
    c->made++;
    *out = e;
    return WEFT_OK;
}

static struct plan_entry *take(struct plan_cache *c, struct plan_entry *e) {
    e->refs++;
    unlink_use(c, e);
    link_newest(c, e);
    return e;
}

weft_status plans_get(weft_ctx *ctx, const struct plan_request *q, const struct base_vec *key,
                      struct base_err *err, struct plan_entry **out) {
    struct plan_cache *c = &ctx->plans;
    uint64_t hash = XXH3_64bits(key->data, key->size);
    pthread_mutex_lock(&c->lock);
    struct plan_entry *e = find(c, hash, key);
    if (e) {
        atomic_fetch_add_explicit(&c->hits, 1, memory_order_relaxed);
        *out = take(c, e);
    }
    pthread_mutex_unlock(&c->lock);
    if (e) return WEFT_OK;
    struct rt_program *p;
    TRY(plan_build(ctx, q, ctx->jit, err, &p));
    pthread_mutex_lock(&c->lock);
    weft_status st = WEFT_OK;
    e = find(c, hash, key); // another thread may have planned the same meanwhile
    if (!e) {
        st = insert(ctx, hash, key, p, &e);
        if (!st) p = NULL;
    }
    if (!st) *out = take(c, e);
    trim(ctx);
    pthread_mutex_unlock(&c->lock);
    if (p) jit_program_free(ctx->jit, p);
    return st ? err_set(err, st, "no memory for a plan") : WEFT_OK;
}

struct rt_program *plans_program(struct plan_entry *e) { return e->program; }

void plans_put(weft_ctx *ctx, struct plan_entry *e) {
    pthread_mutex_lock(&ctx->plans.lock);
    e->refs--;
    trim(ctx);
    pthread_mutex_unlock(&ctx->plans.lock);
}

void plans_hold(weft_ctx *ctx, struct plan_entry *e) {
    pthread_mutex_lock(&ctx->plans.lock);
    e->refs++;
    pthread_mutex_unlock(&ctx->plans.lock);
}

void plans_free(weft_ctx *ctx) {
    struct plan_cache *c = &ctx->plans;
    while (c->oldest)
        drop(ctx, c->oldest);
    base_put(&ctx->env.alloc, c->bucket, c->nbucket * sizeof *c->bucket);
}
