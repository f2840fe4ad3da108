// SPDX-License-Identifier: MIT
// A run that is listened to. In: a run ready for its steps, and the host's function; out: the steps run in order,
// each reported once it has ended. A file of its own, so that a run nobody listens to stays as it is: one load
// and one comparison a run.
#include <time.h>

#include "walk.h"

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static const char *kind_of(const struct rt_step *t) {
    static const char *const mode[] = {"map", "inner", "outer"};
    return t->kind == RT_MATMUL ? "matmul" : t->kind == RT_CALL ? "call" : mode[t->nest.mode];
}

static weft_tier tier_of(const struct rt_step *t) {
    if (t->kind != RT_LOOP) return WEFT_TIER_KERNEL;
    return atomic_load_explicit(&t->code->native, memory_order_acquire) ? WEFT_TIER_JIT : WEFT_TIER_INTERP;
}

static int threads_of(const struct rt_run *run, const struct rt_step *t) {
    if (t->kind == RT_MATMUL) return rt_matmul_threads(&t->matmul, run->env, run->threads);
    if (t->kind == RT_CALL) return run->threads;
    return (int)MAX_OF((int64_t)1, MIN_OF(t->walk->nchunk, (int64_t)run->threads));
}

static weft_isa isa_of(enum kern_isa isa) {
#ifdef __aarch64__
    (void)isa;
    return WEFT_ISA_NEON;
#else
    return isa == KERN_AVX512 ? WEFT_ISA_AVX512 : isa == KERN_AVX2 ? WEFT_ISA_AVX2 : WEFT_ISA_SCALAR;
#endif
}

weft_status rt_profile_steps(struct rt_run *run, weft_profile_fn *fn) {
    const struct rt_program *p = run->program;
    for (int i = 0; i < p->nstep; i++) {
        const struct rt_step *t = &p->step[i];
        weft_profile_step s = {.name = t->name ? t->name : "", .kind = kind_of(t), .step = i, .steps = p->nstep};
        s.bytes_read = t->bytes_read;
        s.bytes_written = t->bytes_written;
        s.tier = tier_of(t);
        s.threads = threads_of(run, t);
        s.isa = isa_of(run->env->isa);
        const uint64_t begin = now_ns();
        TRY(rt_step_run(run, t));
        s.ns = now_ns() - begin;
        fn(run->env->profile_ud, &s, sizeof s);
    }
    return WEFT_OK;
}
