// SPDX-License-Identifier: MIT
// The benchmark's own threads, for limits and for kernels called without a context: helpers that
// poll for a while and then sleep, so that idle ones do not burn the next contender's cores.
#include <pthread.h>
#include <stdatomic.h>

#include "bench.h"

enum { HELPERS_MAX = 255, POLLS = 20000 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    void (*body)(void *arg, int64_t i);
    void *arg;
    int64_t n;
    atomic_int round, busy;
    int helpers;
} team = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

struct start {
    int64_t id;
    int seen;
};
static struct start starts[HELPERS_MAX + 1];

static void *helper(void *arg) {
    const struct start s = *(struct start *)arg;
    int seen = s.seen;
    for (;;) {
        for (int i = 0; i < POLLS && atomic_load(&team.round) == seen; i++)
            relax();
        pthread_mutex_lock(&team.lock);
        while (atomic_load(&team.round) == seen)
            pthread_cond_wait(&team.wake, &team.lock);
        seen = atomic_load(&team.round);
        pthread_mutex_unlock(&team.lock);
        if (s.id < team.n) team.body(team.arg, s.id);
        atomic_fetch_sub(&team.busy, 1);
    }
    return NULL;
}

void team_run(void *ud, int64_t n, void (*body)(void *arg, int64_t i), void *arg) {
    (void)ud;
    bench_need(n <= HELPERS_MAX, "too many threads");
    while (team.helpers < n - 1) {
        pthread_t t;
        struct start *s = &starts[++team.helpers];
        *s = (struct start){team.helpers, atomic_load(&team.round)};
        bench_need(pthread_create(&t, NULL, helper, s) == 0, "no thread can be started");
        pthread_detach(t);
    }
    pthread_mutex_lock(&team.lock);
    team.body = body, team.arg = arg, team.n = n;
    atomic_store(&team.busy, team.helpers);
    atomic_fetch_add(&team.round, 1);
    pthread_cond_broadcast(&team.wake);
    pthread_mutex_unlock(&team.lock);
    body(arg, 0);
    while (atomic_load(&team.busy))
        relax();
}
