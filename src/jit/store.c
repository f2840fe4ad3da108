// SPDX-License-Identifier: MIT
// In: bodies, and their machine code; out: records under names, and code mapped from them. The key of a record says
// everything that the code depends on: the body as its emitters see it, architecture and level, the version and
// the sources of this library, the LLVM it was built for, the form of the record. It is kept and compared
// whole; the name is only its hash. So a record of another version is never found rather than found and
// refused. What is found but not believed counts, and is replaced once the body has been compiled.
#define XXH_INLINE_ALL
#include "store.h"

#include <stdatomic.h>
#include <stdio.h>
#include <xxhash.h>

#include "weft_code_id.h"

#ifndef WEFT_LLVM_MAJOR
#define WEFT_LLVM_MAJOR 0
#endif
#if defined(__x86_64__)
#define ARCHITECTURE "x86-64 psABI level"
#elif defined(__aarch64__)
#define ARCHITECTURE "aarch64 neon"
#else
#define ARCHITECTURE "other"
#endif

struct store {
    struct base_alloc alloc;
    enum kern_isa isa;
    weft_code_store at;
    struct disk *disk; // when `at` is ours
    _Atomic uint64_t hits, misses, refused, writes, bytes;
};

struct store *store_new(struct rt_env *env, const struct jit_opts *opts) {
    struct store *s = base_get_zero(&env->alloc, sizeof *s);
    if (!s) return NULL;
    s->alloc = env->alloc;
    s->isa = env->isa;
    if (opts->code_store.get) {
        s->at = opts->code_store;
        return s;
    }
    if (opts->code_dir) s->disk = disk_new(env, opts->code_dir, opts->disk_bytes);
    if (s->disk) {
        s->at = (weft_code_store){s->disk, disk_get, disk_put};
        return s;
    }
    base_put(&env->alloc, s, sizeof *s);
    return NULL;
}

void store_free(struct store *s) {
    if (!s) return;
    struct base_alloc alloc = s->alloc;
    disk_free(s->disk);
    base_put(&alloc, s, sizeof *s);
}

// ---- keys ----------------------------------------------------------------------------------------------------
static void write_key(const struct store *s, const struct seg *seg, struct base_vec *key) {
    vec_init(key, &s->alloc);
    vec_printf(key, "weft " WEFT_VERSION " " WEFT_CODE_ID " LLVM %d " ARCHITECTURE " %s %d-bit, record %d\n",
               WEFT_LLVM_MAJOR, kern_isa_name(s->isa), (int)sizeof(void *) * 8, RECORD_VERSION);
    const int32_t counts[5] = {(int32_t)seg->mode, seg->nsection, seg->nop, seg->noperand, seg->nreduce};
    vec_push(key, counts, sizeof counts);
    for (int i = 0; i < seg->noperand; i++) {
        const struct nest_operand *o = &seg->operand[i];
        const uint8_t seen[4] = {o->dtype, o->cls, o->out, o->late};
        vec_push(key, seen, sizeof seen);
    }
    vec_push(key, seg->section, sizeof *seg->section * (size_t)seg->nsection);
    vec_push(key, seg->op, sizeof *seg->op * (size_t)seg->nop);
}

static void name_of(const struct base_vec *key, char name[DISK_NAME + 1]) {
    XXH128_hash_t h = XXH3_128bits(key->data, key->size);
    snprintf(name, DISK_NAME + 1, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
}

// ---- loading -------------------------------------------------------------------------------------------------
// The bytes under a name, to be freed with base_put(room); NULL: none.
static unsigned char *fetch(struct store *s, const char *name, size_t *size, size_t *room) {
    *room = 8192;
    for (int tries = 0; tries < 3; tries++) {
        unsigned char *p = base_get(&s->alloc, *room);
        *size = p ? s->at.get(s->at.ud, name, p, *room) : 0;
        if (*size && *size <= *room) return p;
        base_put(&s->alloc, p, *room);
        if (!*size || *size > RECORD_MAX) return NULL;
        *room = *size;
    }
    return NULL;
}

static tile_fn *believe(struct store *s, const struct record *r, const struct base_vec *key, struct jit_map *map,
                        struct llvm_code *code) {
    if (r->key_size != key->size || memcmp(r->key, key->data, key->size) != 0) return NULL;
    tile_fn *fn = map_code(map, r->code, r->code_size, r->entry);
    if (!fn) return NULL;
    *code = (struct llvm_code){.fn = fn, .scratch = r->scratch, .bytes = map->size, .nneed = r->nneed,
                               .image_size = r->code_size, .entry = r->entry};
    memcpy(code->need, r->need, sizeof r->need);
    atomic_fetch_add(&s->bytes, r->code_size);
    return fn;
}

tile_fn *store_load(struct store *s, const struct seg *seg, struct jit_map *map, struct llvm_code *code) {
    struct base_vec key;
    char name[DISK_NAME + 1];
    size_t size, room;
    tile_fn *fn = NULL;
    write_key(s, seg, &key);
    if (!key.failed) {
        name_of(&key, name);
        unsigned char *bytes = fetch(s, name, &size, &room);
        struct record r;
        if (bytes && !record_parse(bytes, size, &r)) fn = believe(s, &r, &key, map, code);
        if (bytes && !fn) atomic_fetch_add(&s->refused, 1);
        if (bytes) base_put(&s->alloc, bytes, room);
        atomic_fetch_add(fn ? &s->hits : &s->misses, 1);
    }
    vec_free(&key);
    return fn;
}

// ---- keeping -------------------------------------------------------------------------------------------------
bool store_keep(struct store *s, const struct seg *seg, const struct llvm_code *code, int llvm_major) {
    struct base_vec key;
    char name[DISK_NAME + 1];
    size_t size;
    bool kept = false;
    if (llvm_major != WEFT_LLVM_MAJOR || !code->image) return false;
    write_key(s, seg, &key);
    if (!key.failed) {
        struct record r = {.key = key.data, .key_size = key.size, .code = code->image, .code_size = code->image_size,
                           .entry = code->entry, .scratch = code->scratch, .nneed = code->nneed};
        memcpy(r.need, code->need, sizeof r.need);
        unsigned char *bytes = record_make(&r, &s->alloc, &size);
        name_of(&key, name);
        kept = bytes && s->at.put(s->at.ud, name, bytes, size);
        if (bytes) base_put(&s->alloc, bytes, size);
    }
    vec_free(&key);
    atomic_fetch_add(&s->writes, kept);
    return kept;
}

bool store_has(struct store *s, const struct seg *seg) {
    struct base_vec key;
    char name[DISK_NAME + 1];
    size_t size = 0, room;
    struct record r;
    write_key(s, seg, &key);
    unsigned char *bytes = NULL;
    if (!key.failed) {
        name_of(&key, name);
        bytes = fetch(s, name, &size, &room);
    }
    bool has = bytes && !record_parse(bytes, size, &r) && r.key_size == key.size && !memcmp(r.key, key.data, key.size);
    if (bytes) base_put(&s->alloc, bytes, room);
    vec_free(&key);
    return has;
}

void store_read_stats(struct store *s, struct store_stats *out) {
    *out = (struct store_stats){0};
    if (!s) return;
    *out = (struct store_stats){atomic_load(&s->hits), atomic_load(&s->misses), atomic_load(&s->refused),
                                atomic_load(&s->writes), atomic_load(&s->bytes)};
}
