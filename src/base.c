// SPDX-License-Identifier: MIT
// What every room stands on: memory through the host's hook, arenas that die at once, vectors whose
// failure is sticky, and the first-error record. No room-specific knowledge; no global state.
#include "base.h"

#include <stdio.h>
#include <stdlib.h>

static void *libc_alloc(void *ud, void *p, size_t old_size, size_t size) {
    (void)ud, (void)old_size;
    if (size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, size);
}
const struct base_alloc base_malloc = {libc_alloc, NULL};

void *base_resize(const struct base_alloc *a, void *p, size_t old, size_t size) {
    return a->fn ? a->fn(a->ud, p, old, size) : libc_alloc(NULL, p, old, size);
}
void *base_get(const struct base_alloc *a, size_t size) {
    return base_resize(a, NULL, 0, size ? size : 1);
}
void *base_get_zero(const struct base_alloc *a, size_t size) {
    void *p = base_get(a, size);
    if (p) memset(p, 0, size);
    return p;
}
void base_put(const struct base_alloc *a, void *p, size_t size) {
    if (p) base_resize(a, p, size ? size : 1, 0);
}

// ---- arena ----------------------------------------------------------------------------------------
struct base_block {
    struct base_block *next;
    size_t cap, used;
    _Alignas(16) unsigned char bytes[];
};
enum { ARENA_BLOCK = 16 << 10 };

void arena_init(struct base_arena *a, const struct base_alloc *alloc) {
    *a = (struct base_arena){.alloc = alloc ? *alloc : base_malloc};
}

static struct base_block *grow_arena(struct base_arena *a, size_t size) {
    size_t cap = a->head ? MIN_OF(a->head->cap * 2, (size_t)1 << 20) : ARENA_BLOCK;
    cap = MAX_OF(cap, size);
    if (cap > SIZE_MAX / 2) return NULL;
    struct base_block *b = base_get(&a->alloc, sizeof *b + cap);
    if (!b) return NULL;
    b->next = a->head;
    b->cap = cap;
    b->used = 0;
    a->head = b;
    return b;
}

void *arena_get(struct base_arena *a, size_t size) {
    if (size > SIZE_MAX / 4) return NULL;
    size = (size + 15) & ~(size_t)15;
    if (a->limit && a->used + size > a->limit) return NULL;
    struct base_block *b = a->head;
    if (!b || b->cap - b->used < size) b = grow_arena(a, size);
    if (!b) return NULL;
    void *p = b->bytes + b->used;
    b->used += size;
    a->used += size;
    memset(p, 0, size);
    return p;
}

void *base_arena_array(struct base_arena *a, size_t size, size_t n) {
    size_t total;
    return mul_over(size, n, &total) ? NULL : arena_get(a, total);
}

void *arena_copy(struct base_arena *a, const void *p, size_t size) {
    void *q = arena_get(a, size);
    if (q && size) memcpy(q, p, size);
    return q;
}

static void free_blocks(struct base_arena *a, struct base_block *b) {
    while (b) {
        struct base_block *next = b->next;
        base_put(&a->alloc, b, sizeof *b + b->cap);
        b = next;
    }
}

void arena_reset(struct base_arena *a) {
    if (a->head) {
        free_blocks(a, a->head->next);
        a->head->next = NULL;
        a->head->used = 0;
    }
    a->used = 0;
}

void arena_free(struct base_arena *a) {
    free_blocks(a, a->head);
    a->head = NULL;
    a->used = 0;
}

// ---- vector ---------------------------------------------------------------------------------------
void vec_init(struct base_vec *v, const struct base_alloc *alloc) {
    *v = (struct base_vec){.alloc = alloc ? *alloc : base_malloc};
}

static bool reserve(struct base_vec *v, size_t more) {
    if (v->failed) return false;
    size_t need;
    if (add_over(v->size, more, &need)) return !(v->failed = true);
    if (need <= v->cap) return true;
    size_t cap = MAX_OF(need, v->cap ? v->cap * 2 : 64);
    unsigned char *p = base_resize(&v->alloc, v->data, v->cap, cap);
    if (!p) return !(v->failed = true);
    v->data = p;
    v->cap = cap;
    return true;
}

void *vec_push(struct base_vec *v, const void *item, size_t size) {
    if (!reserve(v, size)) return NULL;
    void *p = v->data + v->size;
    if (item)
        memcpy(p, item, size);
    else
        memset(p, 0, size);
    v->size += size;
    return p;
}

void vec_vprintf(struct base_vec *v, const char *fmt, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n >= 0 && reserve(v, (size_t)n + 1)) {
        vsnprintf((char *)v->data + v->size, (size_t)n + 1, fmt, again);
        v->size += (size_t)n; // the NUL stays behind the end
    }
    va_end(again);
}

void vec_printf(struct base_vec *v, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vec_vprintf(v, fmt, ap);
    va_end(ap);
}

void vec_clear(struct base_vec *v) {
    v->size = 0;
    v->failed = false;
}

void vec_free(struct base_vec *v) {
    base_put(&v->alloc, v->data, v->cap);
    v->data = NULL;
    v->size = v->cap = 0;
}

// ---- errors -----------------------------------------------------------------------------------------
weft_status err_set(struct base_err *e, weft_status s, const char *fmt, ...) {
    if (!e || e->status) return s;
    e->status = s;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    return s;
}

void err_clear(struct base_err *e) {
    e->status = WEFT_OK;
    e->text[0] = 0;
}

// ---- dtypes -----------------------------------------------------------------------------------------
static const struct {
    const char *name;
    size_t size;
} dtypes[WEFT_DTYPE__N] = {
    [WEFT_BOOL] = {"bool", 1}, [WEFT_I8] = {"i8", 1},   [WEFT_I16] = {"i16", 2},
    [WEFT_I32] = {"i32", 4},   [WEFT_I64] = {"i64", 8}, [WEFT_U8] = {"u8", 1},
    [WEFT_U16] = {"u16", 2},   [WEFT_U32] = {"u32", 4}, [WEFT_U64] = {"u64", 8},
    [WEFT_F32] = {"f32", 4},   [WEFT_F64] = {"f64", 8}, [WEFT_F16] = {"f16", 2},
    [WEFT_BF16] = {"bf16", 2}, [WEFT_C64] = {"c64", 8}, [WEFT_C128] = {"c128", 16},
};
size_t dtype_size(weft_dtype t) { return (unsigned)t < WEFT_DTYPE__N ? dtypes[t].size : 0; }
const char *dtype_name(weft_dtype t) { return (unsigned)t < WEFT_DTYPE__N ? dtypes[t].name : "?"; }
