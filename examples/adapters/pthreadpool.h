// SPDX-License-Identifier: MIT
// weft on a pthreadpool (the pool of XNNPACK and its kin). The pool is the host's and outlives the context.
#ifndef WEFT_ADAPTER_PTHREADPOOL_H
#define WEFT_ADAPTER_PTHREADPOOL_H

#include <pthreadpool.h>

#include <weft/weft.h>

struct weft_pthreadpool_call {
    void (*body)(void *arg, int64_t i);
    void *arg;
};

static void weft_pthreadpool_task(void *context, size_t i) {
    const struct weft_pthreadpool_call *c = (const struct weft_pthreadpool_call *)context;
    c->body(c->arg, (int64_t)i);
}

// A pthreadpool serves one caller at a time and makes others wait, so evaluations of several host threads take turns.
static void weft_pthreadpool_for(void *ud, int64_t n, void (*body)(void *arg, int64_t i), void *arg) {
    struct weft_pthreadpool_call c = {body, arg};
    pthreadpool_parallelize_1d((pthreadpool_t)ud, weft_pthreadpool_task, &c, (size_t)n, 0);
}

static inline weft_executor weft_pthreadpool_executor(pthreadpool_t pool) {
    return (weft_executor){pool, (int)pthreadpool_get_threads_count(pool), weft_pthreadpool_for};
}

#endif
