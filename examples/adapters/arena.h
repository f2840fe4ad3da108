// SPDX-License-Identifier: MIT
// weft in a block of memory of the host's: an allocator that never leaves it. First fit over a list of free
// pieces kept in address order, neighbours joined; sizes are told by weft, so pieces in use need no header. A lock,
// since any thread of the context may ask. When the block is full weft returns WEFT_ENOMEM and goes on being usable.
#ifndef WEFT_ADAPTER_ARENA_H
#define WEFT_ADAPTER_ARENA_H

#include <pthread.h>
#include <string.h>

#include <weft/weft.h>

struct weft_piece { // a free one; lives in the memory it describes
    struct weft_piece *next;
    size_t size;
};
struct weft_arena {
    pthread_mutex_t lock;
    struct weft_piece *free;
    unsigned char *base;
    size_t size, used, most; // bytes: of the block, in use now, in use at once at most
};

enum { WEFT_ARENA_UNIT = 64 }; // pieces are multiples of a cache line, and so aligned

static inline size_t weft_arena_round(size_t size) { return (size + WEFT_ARENA_UNIT - 1) / WEFT_ARENA_UNIT * WEFT_ARENA_UNIT; }

// block is aligned to a cache line and stays until the context has been freed.
static inline void weft_arena_init(struct weft_arena *a, void *block, size_t size) {
    *a = (struct weft_arena){.base = (unsigned char *)block, .size = size / WEFT_ARENA_UNIT * WEFT_ARENA_UNIT};
    pthread_mutex_init(&a->lock, NULL);
    a->free = (struct weft_piece *)block;
    *a->free = (struct weft_piece){NULL, a->size};
}

static inline void *weft_arena_take(struct weft_arena *a, size_t size) {
    size = weft_arena_round(size);
    for (struct weft_piece **at = &a->free; *at; at = &(*at)->next) {
        struct weft_piece *p = *at;
        if (p->size < size) continue;
        if (p->size == size) {
            *at = p->next;
        } else {
            struct weft_piece *rest = (struct weft_piece *)(void *)((unsigned char *)p + size);
            *rest = (struct weft_piece){p->next, p->size - size};
            *at = rest;
        }
        a->used += size;
        a->most = a->used > a->most ? a->used : a->most;
        return p;
    }
    return NULL;
}

static inline void weft_arena_give(struct weft_arena *a, void *ptr, size_t size) {
    size = weft_arena_round(size);
    struct weft_piece *p = (struct weft_piece *)ptr, *before = NULL, *after = a->free;
    while (after && after < p) {
        before = after;
        after = after->next;
    }
    *p = (struct weft_piece){after, size};
    if (after && (unsigned char *)p + size == (unsigned char *)after) *p = (struct weft_piece){after->next, size + after->size};
    if (!before) {
        a->free = p;
    } else if ((unsigned char *)before + before->size == (unsigned char *)p) {
        *before = (struct weft_piece){p->next, before->size + p->size};
    } else {
        before->next = p;
    }
    a->used -= size;
}

// The hook: weft_ctx_opts.alloc, with the arena as alloc_ud.
static void *weft_arena_alloc(void *ud, void *ptr, size_t old_size, size_t size) {
    struct weft_arena *a = (struct weft_arena *)ud;
    pthread_mutex_lock(&a->lock);
    void *got = ptr;
    if (!ptr || !size || weft_arena_round(size) != weft_arena_round(old_size)) {
        got = size ? weft_arena_take(a, size) : NULL;
        if (got && ptr) memcpy(got, ptr, old_size < size ? old_size : size);
        if (ptr && (got || !size)) weft_arena_give(a, ptr, old_size);
    }
    pthread_mutex_unlock(&a->lock);
    return got;
}

#endif
