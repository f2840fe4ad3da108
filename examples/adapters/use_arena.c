// SPDX-License-Identifier: MIT
// Introduces: a host's own memory. Everything weft allocates lies in one block; the program counts every call of malloc
// and shows that there is none, that a full block is a status, and that all comes back.
#include <errno.h>

#include "arena.h"
#include "workload.h"

// The C library's allocator behind a count: these definitions are the ones that libweft finds, too.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t align, size_t size);
static _Atomic unsigned elsewhere;

void *malloc(size_t size) {
    elsewhere++;
    return __libc_malloc(size);
}
void *calloc(size_t n, size_t size) {
    elsewhere++;
    return __libc_calloc(n, size);
}
void *realloc(void *p, size_t size) {
    elsewhere++;
    return __libc_realloc(p, size);
}
void *aligned_alloc(size_t align, size_t size) {
    elsewhere++;
    return __libc_memalign(align, size);
}
int posix_memalign(void **p, size_t align, size_t size) {
    elsewhere++;
    return (*p = __libc_memalign(align, size)) ? 0 : ENOMEM;
}

static _Alignas(64) unsigned char block[4 << 20]; // 4 MiB
static float in[WORKLOAD_ROWS * WORKLOAD_COLS], out[WORKLOAD_ROWS * WORKLOAD_COLS];

static int wrong(const char *what) {
    fprintf(stderr, "not as expected: %s\n", what);
    return 1;
}

// Interpreted, on the calling thread: LLVM has an allocator of its own, threads have stacks.
static int in_arena(size_t size, weft_status want) {
    struct weft_arena arena;
    weft_arena_init(&arena, block, size);
    weft_ctx_opts opts = {.size = sizeof opts, .alloc = weft_arena_alloc, .alloc_ud = &arena, .threads = 1,
                          .backend = WEFT_BACKEND_INTERP, .ignore_env = true};
    weft_ctx *ctx = NULL;
    double sum = 1;
    elsewhere = 0;
    weft_status st = weft_ctx_new(&ctx, &opts);
    for (int turn = 0; !st && turn < 3; turn++)
        st = workload_run(ctx, in, out, &sum);
    weft_stats stats = {0};
    weft_ctx_stats(ctx, &stats, sizeof stats);
    const unsigned calls = elsewhere;
    const size_t used = arena.used;
    weft_ctx_free(ctx);
    printf("a block of %zu KiB: %s; at most %zu KiB used, %zu KiB at the end, %u calls of malloc\n", size >> 10,
           weft_status_text(st), arena.most >> 10, used >> 10, calls);
    if (st != want) return wrong("the status");
    if (!st && (sum != 0 || out[0] != 1.0f / WORKLOAD_COLS)) return wrong("the values");
    if (calls) return wrong("memory was taken elsewhere");
    if (!st && (stats.alloc_bytes > used || stats.alloc_bytes == 0)) return wrong("what weft says it holds");
    if (arena.used || arena.free != (void *)block || arena.free->size != arena.size) return wrong("not all came back");
    return 0;
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0); // no buffer of the C library's between two counts
    setvbuf(stderr, NULL, _IONBF, 0);
    if (in_arena(sizeof block, WEFT_OK)) return 1;
    if (in_arena(4096, WEFT_ENOMEM)) return 1;
    return in_arena(sizeof block, WEFT_OK);
}
