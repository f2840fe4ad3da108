// SPDX-License-Identifier: MIT
// The code cache: canonical body bytes in, one shared entry out. The bytes hold everything that code
// depends on (operation stream, operand types and classes) and nothing that it does not (extents,
// strides, constants, addresses), so any size is one compile. Bounded in bytes: what no program uses is
// dropped oldest first, its machine code really freed. One mutex; an entry's native code is published
// with a release store, so running never locks.
#define XXH_INLINE_ALL
#include <stdio.h>
#include <xxhash.h>

#include "code.h"

static size_t block_size(const struct seg *s) {
    return sizeof(struct nest_operand) * (size_t)s->noperand +
           sizeof(struct seg_section) * (size_t)s->nsection + sizeof(struct seg_op) * (size_t)s->nop;
}

// Copies the body into one block: operands (only what code sees), sections, instructions. The block is
// both the owner of the entry's seg and, zero-filled elsewhere, its key.
static unsigned char *copy_body(struct jit *j, const struct seg *s, struct seg *out) {
    size_t size = block_size(s);
    unsigned char *block = base_get_zero(&j->env->alloc, size + 1);
    if (!block) return NULL;
    struct nest_operand *operand = (void *)block;
    struct seg_section *section = (void *)(operand + s->noperand);
    struct seg_op *op = (void *)(section + s->nsection);
    for (int i = 0; i < s->noperand; i++) {
        operand[i].dtype = s->operand[i].dtype;
        operand[i].cls = s->operand[i].cls;
        operand[i].out = s->operand[i].out;
        operand[i].late = s->operand[i].late;
    }
    memcpy(section, s->section, sizeof *section * (size_t)s->nsection);
    memcpy(op, s->op, sizeof *op * (size_t)s->nop);
    *out = *s;
    out->node = NULL;
    out->operand = operand;
    out->section = section;
    out->op = op;
    return block;
}

static bool same_shape(const struct seg *a, const struct seg *b) {
    return a->mode == b->mode && a->nsection == b->nsection && a->nop == b->nop &&
           a->noperand == b->noperand && a->nreduce == b->nreduce;
}

// ---- use order and hash chains (lock held) ------------------------------------------------------------
static void unlink_use(struct jit *j, struct jit_entry *e) {
    *(e->newer ? &e->newer->older : &j->newest) = e->older;
    *(e->older ? &e->older->newer : &j->oldest) = e->newer;
}
static void link_newest(struct jit *j, struct jit_entry *e) {
    e->newer = NULL;
    e->older = j->newest;
    *(j->newest ? &j->newest->newer : &j->oldest) = e;
    j->newest = e;
}

static bool grow_buckets(struct jit *j) {
    size_t n = j->nbucket ? j->nbucket * 2 : 256;
    struct jit_entry **b = base_get_zero(&j->env->alloc, n * sizeof *b);
    if (!b) return j->nbucket > 0; // a crowded table still works
    for (size_t i = 0; i < j->nbucket; i++)
        for (struct jit_entry *e = j->bucket[i], *next; e; e = next) {
            next = e->next;
            e->next = b[e->hash[0] & (n - 1)];
            b[e->hash[0] & (n - 1)] = e;
        }
    base_put(&j->env->alloc, j->bucket, j->nbucket * sizeof *b);
    j->bucket = b;
    j->nbucket = n;
    return true;
}

static void destroy(struct jit *j, struct jit_entry *e) {
    announce_gone(e->announced);
    map_free(&e->map);
    if (e->native.handle) j->llvm->release(j->engine, e->native.handle);
    if (e->code.interp_form)
        interp_free((struct interp_form *)(uintptr_t)e->code.interp_form, &j->env->alloc);
    base_put(&j->env->alloc, e->key, e->key_size + 1);
    base_put(&j->env->alloc, e, sizeof *e);
}

static void drop(struct jit *j, struct jit_entry *e) {
    struct jit_entry **p = &j->bucket[e->hash[0] & (j->nbucket - 1)];
    while (*p != e)
        p = &(*p)->next;
    *p = e->next;
    unlink_use(j, e);
    j->nentry--;
    j->bytes -= e->bytes;
    j->runs_native += atomic_load(&e->code.runs_native);
    j->runs_interp += atomic_load(&e->code.runs_interp);
    destroy(j, e);
}

void code_trim(struct jit *j) {
    for (struct jit_entry *e = j->oldest, *newer; e && j->bytes > j->opts.cache_bytes; e = newer) {
        newer = e->newer;
        if (e->refs) continue;
        j->evictions++;
        drop(j, e);
    }
}

static struct jit_entry *find(struct jit *j, const uint64_t hash[2], const unsigned char *key,
                              size_t size, const struct seg *s) {
    if (!j->nbucket) return NULL;
    for (struct jit_entry *e = j->bucket[hash[0] & (j->nbucket - 1)]; e; e = e->next)
        if (e->hash[0] == hash[0] && e->hash[1] == hash[1] && e->key_size == size &&
            same_shape(&e->seg, s) && memcmp(e->key, key, size) == 0)
            return e;
    return NULL;
}

static struct jit_entry *create(struct jit *j, unsigned char *key, const struct seg *s) {
    struct jit_entry *e = base_get_zero(&j->env->alloc, sizeof *e);
    if (!e) return NULL;
    e->key = key;
    e->key_size = block_size(s);
    e->seg = *s;
    e->bytes = sizeof *e + e->key_size;
    e->code.interp = interp_tile;
    e->code.interp_form =
        interp_make(&e->seg, j->env->isa, &j->env->alloc, &e->code.interp_scratch);
    if (!e->code.interp_form) {
        base_put(&j->env->alloc, e, sizeof *e);
        return NULL;
    }
    return e;
}

static struct jit_entry *get_locked(struct jit *j, unsigned char *key, const struct seg *mine,
                                    const uint64_t hash[2], bool *used) {
    struct jit_entry *e = find(j, hash, key, block_size(mine), mine);
    if (e) {
        j->hits++;
        unlink_use(j, e);
        link_newest(j, e);
        return e;
    }
    j->misses++;
    if (j->nentry >= j->nbucket && !grow_buckets(j)) return NULL;
    e = create(j, key, mine);
    if (!e) return NULL;
    *used = true;
    memcpy(e->hash, hash, sizeof e->hash);
    e->next = j->bucket[hash[0] & (j->nbucket - 1)];
    j->bucket[hash[0] & (j->nbucket - 1)] = e;
    link_newest(j, e);
    j->nentry++;
    j->bytes += e->bytes;
    return e;
}

struct jit_entry *code_get(struct jit *j, const struct seg *s) {
    struct seg mine;
    unsigned char *key = copy_body(j, s, &mine);
    if (!key) return NULL;
    size_t size = block_size(s);
    XXH128_hash_t h = XXH3_128bits_withSeed(key, size, (uint64_t)s->mode);
    uint64_t hash[2] = {h.low64, h.high64};
    bool used = false;
    pthread_mutex_lock(&j->lock);
    struct jit_entry *e = get_locked(j, key, &mine, hash, &used);
    if (e) {
        e->refs++;
        code_trim(j);
    }
    pthread_mutex_unlock(&j->lock);
    if (!used) base_put(&j->env->alloc, key, size + 1);
    return e;
}

void code_put(struct jit *j, struct jit_entry *e) {
    pthread_mutex_lock(&j->lock);
    e->refs--;
    code_trim(j);
    pthread_mutex_unlock(&j->lock);
}

// ---- the room's life ------------------------------------------------------------------------------------
struct jit *jit_new(struct rt_env *env, const struct jit_opts *opts) {
    struct jit *j = base_get_zero(&env->alloc, sizeof *j);
    if (!j) return NULL;
    j->env = env;
    j->opts = *opts;
    j->queue_end = &j->queue;
    if (opts->backend != WEFT_BACKEND_INTERP) j->store = store_new(env, opts);
    j->opts.code_dir = NULL;
    pthread_mutex_init(&j->lock, NULL);
    pthread_mutex_init(&j->loading, NULL);
    pthread_cond_init(&j->changed, NULL);
    return j;
}

void jit_set_names(struct jit *j, unsigned names) {
    pthread_mutex_lock(&j->lock);
    j->names = names;
    pthread_mutex_unlock(&j->lock);
}

void jit_free(struct jit *j) {
    if (!j) return;
    compile_stop(j);
    while (j->oldest)
        drop(j, j->oldest);
    load_close(j);
    store_free(j->store);
    base_put(&j->env->alloc, j->bucket, j->nbucket * sizeof *j->bucket);
    pthread_mutex_destroy(&j->lock);
    pthread_mutex_destroy(&j->loading);
    pthread_cond_destroy(&j->changed);
    base_put(&j->env->alloc, j, sizeof *j);
}

void jit_stats(struct jit *j, weft_stats *out) {
    pthread_mutex_lock(&j->lock);
    out->compiles = j->compiles;
    out->compile_ns = j->compile_ns;
    out->compile_ir_ns = j->ir_ns;
    out->compile_emit_ns = j->emit_ns;
    out->code_hits = j->hits;
    out->code_misses = j->misses;
    out->code_evictions = j->evictions;
    out->code_bytes = j->bytes;
    struct store_stats kept;
    store_read_stats(j->store, &kept);
    out->disk_hits = kept.hits;
    out->disk_misses = kept.misses;
    out->disk_refused = kept.refused;
    out->disk_writes = kept.writes;
    out->disk_bytes = kept.bytes;
    out->compile_refusals = j->refusals;
    out->llvm_major = j->llvm ? j->llvm->major : 0;
    out->runs_jit = j->runs_native;
    out->runs_interp = j->runs_interp;
    for (struct jit_entry *e = j->newest; e; e = e->older) {
        out->runs_jit += atomic_load(&e->code.runs_native);
        out->runs_interp += atomic_load(&e->code.runs_interp);
    }
    pthread_mutex_unlock(&j->lock);
}
