// SPDX-License-Identifier: MIT
// The thread pool. In: n calls of a body; out: all of them done, on at most so many threads. One
// operation at a time: whoever finds the pool taken, or is itself inside an operation, works alone,
// which is always correct.
//
// An operation is open or closed. Its state is one word, the gate: number of the operation, open
// bit, workers wanted, helpers inside. A helper enters by counting itself in while the gate is
// open, so the caller never waits for helpers that slept through: when no call is left it closes
// the gate and waits only for those inside. Each worker owns a run of the calls, takes them from an
// atomic counter, then helps others with theirs. Helpers poll a little for the next operation and
// then park on a condition variable.
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "walk.h"

enum {
    POLL_NS = 200000,   // a helper looks this long for the next operation before it parks
    SPIN = 2000,        // looks of the caller for the last helpers to finish before it sleeps
    RETRY_AFTER = 1024, // operations until the system is asked again for a thread it refused
    HELPER_STACK = 512 << 10
};
#define GATE_OPEN ((uint64_t)1 << 31)
#define GATE_INSIDE ((uint64_t)0xffff)
#define GATE_OP(g) ((uint32_t)((g) >> 32))
#define GATE_WORKERS(g) ((int)((g) >> 16 & 0x7fff))
_Static_assert(RT_MAX_THREADS <= 0x7fff, "workers fit in the gate");

struct run_of_calls {
    _Alignas(64) _Atomic int64_t next;
    int64_t end;
};
// Lives on the caller's stack; nobody is inside when the caller returns.
struct job {
    void (*body)(void *arg, int64_t i, int worker);
    void *arg;
    struct run_of_calls *run; // of each worker
    int workers;
};

struct helper {
    struct rt_pool *pool;
    pthread_t thread;
    int worker;
};

struct rt_pool {
    struct base_alloc alloc;
    void *raw; // what was allocated
    int threads, started; // started: helpers there are; written by the owner of busy
    int limit;            // helpers the system grants, for tests
    uint32_t op, retry_at;
    _Atomic int64_t worth;
    _Atomic uint32_t born; // generation of the process that the helpers live in; TAKING while a child takes over
    atomic_bool busy, stop;
    _Atomic int parked, waiting;
    pthread_mutex_t lock;
    pthread_cond_t opened, left;
    char apart[64]; // one cache line brings a helper the gate and what is behind it
    _Alignas(64) _Atomic uint64_t gate;
    struct job job;
    char apart_too[64];
    struct helper helper[];
};

// Counts forks down the line of children, so that asking whether the helpers are here is no system call.
static _Atomic uint32_t generation = 1;
#define TAKING 0u
static void in_child(void) {
    if (atomic_fetch_add(&generation, 1) == UINT32_MAX) atomic_store(&generation, 1);
}
static void count_forks(void) { pthread_atfork(NULL, NULL, in_child); }

static _Thread_local int inside; // this thread is in a body: nested work is serial

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// ---- the calls of one operation ---------------------------------------------------------------

static void share(struct job *j, struct run_of_calls *run, int64_t n, int workers) {
    j->run = run;
    j->workers = workers;
    for (int w = 0; w < workers; w++) {
        const int64_t each = n / workers, more = n % workers;
        const int64_t begin = each * w + MIN_OF(w, more);
        atomic_init(&j->run[w].next, begin);
        j->run[w].end = begin + each + (w < more);
    }
}

static void work(const struct job *j, int worker) {
    inside++;
    for (int k = 0; k < j->workers; k++) {
        struct run_of_calls *r = &j->run[(worker + k) % j->workers];
        while (atomic_load_explicit(&r->next, memory_order_relaxed) < r->end) {
            int64_t i = atomic_fetch_add_explicit(&r->next, 1, memory_order_relaxed);
            if (i < r->end) j->body(j->arg, i, worker);
        }
    }
    inside--;
}

// ---- helpers ----------------------------------------------------------------------------------

static bool is_news(uint64_t gate, const struct helper *h, uint32_t last) {
    return (gate & GATE_OPEN) && GATE_OP(gate) != last && h->worker < GATE_WORKERS(gate);
}

// True: there is an operation this helper has not seen. False: the pool ends.
static bool poll_gate(struct helper *h, uint32_t last, bool *found) {
    struct rt_pool *p = h->pool;
    const int64_t until = now_ns() + POLL_NS;
    *found = false;
    do {
        for (int i = 0; i < 32; i++) {
            if (is_news(atomic_load(&p->gate), h, last)) return *found = true;
            relax();
        }
        if (atomic_load(&p->stop)) return false;
    } while (now_ns() < until);
    return true;
}

static bool park(struct helper *h, uint32_t last) {
    struct rt_pool *p = h->pool;
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->parked,
                     1); // before the look at the gate: the caller looks in the other order
    while (!atomic_load(&p->stop) && !is_news(atomic_load(&p->gate), h, last))
        pthread_cond_wait(&p->opened, &p->lock);
    atomic_fetch_sub(&p->parked, 1);
    pthread_mutex_unlock(&p->lock);
    return !atomic_load(&p->stop);
}

static void leave(struct rt_pool *p) {
    atomic_fetch_sub(&p->gate, 1);
    if (!atomic_load(&p->waiting)) return;
    pthread_mutex_lock(&p->lock);
    pthread_cond_signal(&p->left);
    pthread_mutex_unlock(&p->lock);
}

// Counts itself in unless the operation closed meanwhile, and works.
static void take_part(struct helper *h, uint32_t *last) {
    struct rt_pool *p = h->pool;
    uint64_t gate = atomic_load(&p->gate);
    while (is_news(gate, h, *last)) {
        if (!atomic_compare_exchange_weak(&p->gate, &gate, gate + 1)) continue;
        *last = GATE_OP(gate);
        const struct job j = p->job; // unchanged while somebody is inside
        work(&j, h->worker);
        leave(p);
        return;
    }
}

static void *help(void *arg) {
    struct helper *h = arg;
    uint32_t last = 0;
    bool found;
    rt_fp_enter(); // for good: nothing of the host runs here
    while (poll_gate(h, last, &found) && (found || park(h, last)))
        take_part(h, &last);
    return NULL;
}

// Signals are the host's affair, but for faults: a fault belongs to the thread that made it.
static void block_signals(sigset_t *old) {
    sigset_t all;
    sigfillset(&all);
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    for (size_t i = 0; i < COUNT_OF(faults); i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, old);
}

static bool start_helper(struct rt_pool *p) {
    struct helper *h = &p->helper[p->started];
    *h = (struct helper){.pool = p, .worker = p->started + 1};
    pthread_attr_t attr;
    if (p->started >= p->limit || pthread_attr_init(&attr)) return false;
    pthread_attr_setstacksize(&attr, HELPER_STACK + (size_t)PTHREAD_STACK_MIN);
    sigset_t old;
    block_signals(&old);
    const bool ok = pthread_create(&h->thread, &attr, help, h) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (!ok) return false;
#ifdef __linux__
    char name[16];
    snprintf(name, sizeof name, "weft-%d", h->worker);
    pthread_setname_np(h->thread, name);
#endif
    p->started++;
    return true;
}

// As many helpers as wanted or as the system gives.
static int start_helpers(struct rt_pool *p, int want) {
    while (p->started < want && (int32_t)(p->op - p->retry_at) >= 0)
        if (!start_helper(p)) p->retry_at = p->op + RETRY_AFTER;
    return MIN_OF(p->started, want);
}

// ---- operations -------------------------------------------------------------------------------

static void open_gate(struct rt_pool *p, const struct job *j) {
    p->op = p->op + 1 ? p->op + 1 : 1;
    p->job = *j;
    atomic_store(&p->gate, (uint64_t)p->op << 32 | GATE_OPEN | (uint64_t)j->workers << 16);
    if (!atomic_load(&p->parked)) return;
    pthread_mutex_lock(&p->lock);
    pthread_cond_broadcast(&p->opened);
    pthread_mutex_unlock(&p->lock);
}

static void close_gate(struct rt_pool *p) {
    atomic_fetch_and(&p->gate, ~GATE_OPEN);
    for (int i = 0; i < SPIN; i++) {
        if (!(atomic_load(&p->gate) & GATE_INSIDE)) return;
        relax();
    }
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->waiting, 1);
    while (atomic_load(&p->gate) & GATE_INSIDE)
        pthread_cond_wait(&p->left, &p->lock);
    atomic_store(&p->waiting, 0);
    pthread_mutex_unlock(&p->lock);
}

static void make_empty(struct rt_pool *p) {
    p->started = 0;
    p->retry_at = p->op;
    atomic_store(&p->gate, 0);
    atomic_store(&p->parked, 0);
    atomic_store(&p->waiting, 0);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->opened, NULL);
    pthread_cond_init(&p->left, NULL);
    atomic_store(&p->busy, false);
}

// After fork the helpers are gone and the locks may be held by nobody: the child begins anew.
static bool is_ours(struct rt_pool *p) {
    const uint32_t now = atomic_load_explicit(&generation, memory_order_relaxed);
    uint32_t owner = atomic_load(&p->born);
    if (owner == now) return true;
    if (owner == TAKING || !atomic_compare_exchange_strong(&p->born, &owner, TAKING)) return false;
    make_empty(p);
    atomic_store(&p->born, now);
    return true;
}

static bool pool_run(struct rt_pool *p, struct job *j, struct run_of_calls *run, int64_t n, int workers) {
    if (!is_ours(p) || atomic_exchange(&p->busy, true)) return false;
    workers = 1 + start_helpers(p, MIN_OF(workers, p->threads) - 1);
    if (workers > 1) {
        share(j, run, n, workers);
        open_gate(p, j);
        work(j, 0);
        close_gate(p);
    }
    atomic_store(&p->busy, false);
    return workers > 1;
}

// The host's executor: one call per worker number, so no two calls share one.
static void run_worker(void *arg, int64_t worker) {
    struct rt_fp fp = rt_fp_enter();
    work(arg, (int)worker);
    rt_fp_leave(fp);
}

void rt_parallel(struct rt_env *env, int threads, int64_t n,
                 void (*body)(void *arg, int64_t i, int worker), void *arg) {
    const int64_t most = MIN_OF(n, RT_MAX_THREADS);
    const int workers = (int)MIN_OF(most, (int64_t)MIN_OF(threads, env->threads));
    if (workers > 1 && !inside) {
        struct job j = {.body = body, .arg = arg};
        struct run_of_calls run[RT_MAX_THREADS];
        if (!env->own_executor) {
            share(&j, run, n, workers);
            env->exec.parallel_for(env->exec.ud, workers, run_worker, &j);
            return;
        }
        if (env->pool && pool_run(env->pool, &j, run, n, workers)) return;
    }
    for (int64_t i = 0; i < n; i++)
        body(arg, i, 0);
}

// ---- life -------------------------------------------------------------------------------------

static size_t pool_bytes(int threads) {
    return sizeof(struct rt_pool) + sizeof(struct helper) * (size_t)threads + RT_LINE;
}

struct rt_pool *rt_pool_new(const struct base_alloc *a, int threads) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, count_forks);
    threads = MAX_OF(1, MIN_OF(threads, RT_MAX_THREADS));
    void *raw = base_get_zero(a, pool_bytes(threads));
    if (!raw) return NULL;
    struct rt_pool *p = (void *)(((uintptr_t)raw + RT_LINE - 1) & ~(uintptr_t)(RT_LINE - 1));
    p->raw = raw;
    p->alloc = *a;
    p->threads = threads;
    p->limit = INT_MAX;
    make_empty(p);
    atomic_store(&p->born, atomic_load(&generation));
    return p;
}

void rt_pool_free(struct rt_pool *p) {
    if (!p) return;
    if (atomic_load(&p->born) == atomic_load(&generation)) {
        pthread_mutex_lock(&p->lock);
        atomic_store(&p->stop, true);
        pthread_cond_broadcast(&p->opened);
        pthread_mutex_unlock(&p->lock);
        for (int i = 0; i < p->started; i++)
            pthread_join(p->helper[i].thread, NULL);
        pthread_cond_destroy(&p->left);
        pthread_cond_destroy(&p->opened);
        pthread_mutex_destroy(&p->lock);
    }
    struct base_alloc alloc = p->alloc;
    base_put(&alloc, p->raw, pool_bytes(p->threads));
}

int rt_pool_started(struct rt_pool *p) {
    return p->started;
}
_Atomic int64_t *rt_pool_worth(struct rt_pool *p) { return &p->worth; }
void rt_pool_limit(struct rt_pool *p, int helpers) {
    p->limit = helpers;
}
