// SPDX-License-Identifier: MIT
// From how much work on several threads share a step. In: what a hand-over to the pool's helpers takes, measured
// when a plan first has to know; out: rough cycles, as steps are weighed (walk.h).
//
// A helper learns of an operation after half a hand-over, reads what it is about from another core's cache, and the
// caller waits for it at the end. Measured over chains of roots, exponentials and sums, two threads are even with one
// at about six hand-overs of one thread's work, and never behind above. The estimate counts about five times the
// cycles that vector code takes from the first cache.
#include <stdlib.h>
#include <time.h>

#include "walk.h"

enum {
    TRIES = 15,
    HANDOVERS = 6,     // of work
    CYCLES_A_NS = 17,  // of the estimate
    USUAL_CYCLES = 64 << 10,                        // where nothing is measured: a host's executor
    LEAST_CYCLES = 32 << 10, MOST_CYCLES = 1 << 20  // what a busy machine may tell
};

static void nothing(void *arg, int64_t i, int worker) { (void)arg, (void)i, (void)worker; }

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    int64_t x, y;
    memcpy(&x, a, sizeof x), memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

// The median of some, after the first has started the helpers and the second woken them.
static int64_t handover_ns(struct rt_env *env) {
    int64_t ns[TRIES];
    for (int i = -2; i < TRIES; i++) {
        const int64_t begin = now_ns();
        rt_parallel(env, env->threads, env->threads, nothing, NULL);
        if (i >= 0) ns[i] = now_ns() - begin;
    }
    qsort(ns, TRIES, sizeof *ns, ascending);
    return ns[TRIES / 2];
}

int64_t rt_worth_cycles(const struct rt_env *env) {
    if (env->parallel_ns) return (int64_t)env->parallel_ns * CYCLES_A_NS;
    if (!env->own_executor || !env->pool) return USUAL_CYCLES;
    _Atomic int64_t *known = rt_pool_worth(env->pool);
    int64_t worth = atomic_load_explicit(known, memory_order_relaxed);
    if (worth) return worth;
    struct rt_env measured = *env;
    worth = handover_ns(&measured) * HANDOVERS * CYCLES_A_NS;
    worth = MAX_OF(LEAST_CYCLES, MIN_OF(worth, MOST_CYCLES));
    atomic_store_explicit(known, worth, memory_order_relaxed);
    return worth;
}
