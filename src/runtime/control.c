// SPDX-License-Identifier: MIT
// Stopping and watching an evaluation. In: work done, in rough cycles, from any thread; out: whether to
// end, and reports on the caller's thread at a bounded rate. Work is counted per step and cut off at what
// the step was estimated at, so what is reported never falls and ends at the total, however rough the
// kernels' counts are. Evaluations without a token and a report have no rt_control and come here never.
#include <time.h>

#include "walk.h"

enum { REPORT_NS = 10000000 };

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void rt_control_begin(struct rt_control *c) {
    c->caller = pthread_self();
    c->before = c->step = c->total = 0;
    atomic_store(&c->stopped, false);
    atomic_store(&c->in_step, 0);
    c->next_ns = c->progress ? now_ns() + REPORT_NS : 0;
}

bool rt_control_stopped(struct rt_control *c) {
    if (atomic_load_explicit(&c->stopped, memory_order_relaxed)) return true;
    if (!c->token || !__atomic_load_n(c->token, __ATOMIC_RELAXED)) return false;
    atomic_store_explicit(&c->stopped, true, memory_order_relaxed);
    return true;
}

static void report(struct rt_control *c, uint64_t done) {
    const int64_t now = now_ns();
    if (now < c->next_ns) return;
    c->next_ns = now + REPORT_NS;
    if (!c->progress(c->progress_ud, done, c->total)) atomic_store(&c->stopped, true);
}

bool rt_control_tick(struct rt_control *c, int64_t cycles) {
    if (rt_control_stopped(c)) return true;
    if (!c->progress || !c->total) return false;
    const uint64_t more = (uint64_t)cycles;
    const uint64_t in = atomic_fetch_add_explicit(&c->in_step, more, memory_order_relaxed) + more;
    if (pthread_equal(c->caller, pthread_self())) report(c, c->before + MIN_OF(in, c->step));
    return rt_control_stopped(c);
}

// ---- one run ----------------------------------------------------------------------------------

// Rough cycles of a step; far below 2^64 / steps whatever the extents are.
static uint64_t work_of(const struct rt_step *t) {
    double n = 1;
    if (t->kind == RT_CALL) {
        n = 0;
        for (int i = 0; i < t->call.nin + t->call.nout; i++) {
            double all = 8;
            for (int d = 0; d < t->call.array[i].rank; d++)
                all *= (double)t->call.array[i].dim[d];
            n += all;
        }
    } else if (t->kind == RT_MATMUL) {
        n = (double)t->matmul.m * (double)t->matmul.n * (double)t->matmul.k / 8;
        for (int d = 0; d < t->matmul.nbatch; d++)
            n *= (double)t->matmul.batch[d];
    } else {
        for (int d = 0; d < t->nest.ndim; d++)
            n *= (double)t->nest.dim[d];
        n *= (double)t->walk->weight;
    }
    return n < 1 ? 1 : n > 0x1p40 ? (uint64_t)1 << 40 : (uint64_t)n;
}

void rt_control_steps(const struct rt_run *run) {
    struct rt_control *c = run->bind->control;
    if (!c || !c->progress) return;
    for (int i = 0; i < run->program->nstep; i++)
        c->total += work_of(&run->program->step[i]);
    if (!c->total) c->total = 1;
    c->step = run->program->nstep ? work_of(run->program->step) : 0;
}

void rt_control_step(const struct rt_run *run, const struct rt_step *t) {
    struct rt_control *c = run->bind->control;
    if (!c || !c->progress) return;
    const struct rt_program *p = run->program;
    c->before += c->step;
    c->step = t + 1 < p->step + p->nstep ? work_of(t + 1) : 0;
    atomic_store_explicit(&c->in_step, 0, memory_order_relaxed);
    report(c, c->before);
}

void rt_control_end(const struct rt_run *run) {
    struct rt_control *c = run->bind->control;
    if (c && c->progress) (void)c->progress(c->progress_ud, c->total, c->total);
}

static bool tick(void *ud, int64_t cycles) { return rt_tick(ud, cycles); }

struct kern_watch rt_watch(const struct rt_run *run) {
    return (struct kern_watch){tick, (void *)(uintptr_t)run};
}
