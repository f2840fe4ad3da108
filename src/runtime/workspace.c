// SPDX-License-Identifier: MIT
// One block of memory for the intermediates of a run. In: how many bytes; out: a block of at least
// that many, 64-byte aligned, its contents unspecified. It only grows, and growing keeps nothing: a
// run asks once, before it starts. Large blocks are aligned to huge pages and the kernel is advised
// so: intermediates are swept front to back by several threads, where address translation is the
// first thing to hurt.
#include <sys/mman.h>

#include "walk.h"

enum { HUGE = 2 << 20, LARGE = 8 << 20 };

struct rt_workspace {
    struct base_alloc alloc;
    struct rt_env *env; // whose budget counts, or NULL
    void *raw;
    size_t raw_size;
    uint8_t *data;
    size_t size;
};

struct rt_workspace *rt_workspace_new(const struct base_alloc *a, struct rt_env *env) {
    struct rt_workspace *w = base_get_zero(a, sizeof *w);
    if (!w) return NULL;
    w->alloc = *a;
    w->env = env && env->workspace_limit ? env : NULL;
    return w;
}

// bytes more than before, within the budget; fewer always are.
static bool count(struct rt_workspace *w, int64_t bytes) {
    if (!w->env) return true;
    const int64_t held = atomic_fetch_add(&w->env->workspace_held, bytes) + bytes;
    if (bytes <= 0 || held <= w->env->workspace_limit) return true;
    atomic_fetch_sub(&w->env->workspace_held, bytes);
    return false;
}

static void drop(struct rt_workspace *w) {
    count(w, -(int64_t)w->size);
    base_put(&w->alloc, w->raw, w->raw_size);
    w->raw = NULL;
    w->data = NULL;
    w->raw_size = w->size = 0;
}

static size_t whole_lines(size_t bytes) {
    return (bytes + 63) & ~(size_t)63;
}
static size_t align_of(size_t lines) {
    return lines >= LARGE ? HUGE : 64;
}

size_t rt_workspace_cost(size_t bytes) {
    const size_t lines = whole_lines(bytes);
    return lines ? lines + align_of(lines) - 1 : 0;
}

weft_status rt_workspace_hold(struct rt_workspace *w, size_t cost) {
    if (cost <= w->raw_size) return WEFT_OK;
    if (cost >= LARGE + HUGE - 1) return rt_workspace_reserve(w, cost - (HUGE - 1));
    return rt_workspace_reserve(w, MIN_OF(cost - MIN_OF(cost, 63), LARGE - 64));
}

weft_status rt_workspace_reserve(struct rt_workspace *w, size_t bytes) {
    if (bytes <= w->size) return WEFT_OK;
    if (bytes > (size_t)BASE_MAX_BYTES) return WEFT_ENOMEM;
    bytes = whole_lines(bytes);
    const size_t align = align_of(bytes), raw_size = rt_workspace_cost(bytes);
    drop(w);
    if (!count(w, (int64_t)bytes)) return WEFT_ELIMIT;
    w->raw = base_get(&w->alloc, raw_size);
    if (!w->raw) {
        count(w, -(int64_t)bytes);
        return WEFT_ENOMEM;
    }
    w->raw_size = raw_size;
    w->data = (uint8_t *)(((uintptr_t)w->raw + align - 1) & ~(uintptr_t)(align - 1));
    w->size = bytes;
#ifdef MADV_HUGEPAGE
    if (align == HUGE) (void)madvise(w->data, bytes & ~(size_t)(HUGE - 1), MADV_HUGEPAGE);
#endif
    return WEFT_OK;
}

size_t rt_workspace_bytes(const struct rt_workspace *w) {
    return w->size;
}
size_t rt_workspace_held(const struct rt_workspace *w) {
    return w->raw_size;
}
uint8_t *rt_workspace_data(const struct rt_workspace *w) {
    return w->data;
}

void rt_workspace_free(struct rt_workspace *w) {
    if (!w) return;
    struct base_alloc alloc = w->alloc;
    drop(w);
    base_put(&alloc, w, sizeof *w);
}
