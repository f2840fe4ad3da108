// SPDX-License-Identifier: MIT
// Which tier runs when. A step starts in the interpreter. Each run adds what it is estimated to cost
// there; once a body has cost as much as compiling it would, it is compiled on the background thread and
// the runtime picks the machine code up between two tiles. So a loop over small arrays compiles after a
// while, a large array at once, and no evaluation ever waits. WEFT_BACKEND_JIT compiles before running.
#include "code.h"

enum {
    INTERP_PS_PER_OP = 250,    // interpreted, per element and operation, picoseconds
    COMPILE_NS_BASE = 2000000, // compiling a body: this much,
    COMPILE_NS_PER_OP = 60000, // and this much per operation
    LOAD_NS = 15000000         // bringing LLVM into the process, once
};

static uint64_t interp_ns(const struct rt_step *t, const struct seg *s) {
    double n = 1;
    for (int i = 0; i < t->nest.ndim; i++)
        n *= (double)t->nest.dim[i];
    return (uint64_t)(n * s->nop * INTERP_PS_PER_OP / 1000.0) + 1;
}

static uint64_t compile_cost_ns(const struct jit *j, const struct seg *s) {
    return COMPILE_NS_BASE + (uint64_t)COMPILE_NS_PER_OP * (uint64_t)s->nop + (j->engine ? 0 : LOAD_NS);
}

// Lock held.
static weft_status decide(struct jit *j, const struct rt_step *t, const struct rt_bind *bind) {
    struct jit_entry *e = (struct jit_entry *)(void *)t->code;
    if (e->state == CODE_READY || e->state == CODE_FAILED) return WEFT_OK;
    if (j->opts.backend == WEFT_BACKEND_JIT) return compile_now(j, e, bind);
    if (compile_look_up(j, e)) return WEFT_OK;
    e->spent_ns += interp_ns(t, &e->seg);
    if (e->spent_ns > compile_cost_ns(j, &e->seg)) compile_later(j, e);
    return WEFT_OK;
}

weft_status jit_program_prepare(struct jit *j, struct rt_program *p, const struct rt_bind *bind) {
    if (j->opts.backend == WEFT_BACKEND_INTERP) return WEFT_OK;
    bool cold = false;
    for (int i = 0; i < p->nstep && !cold; i++) {
        struct rt_code *c = p->step[i].code;
        cold = c && !atomic_load_explicit(&c->native, memory_order_acquire);
    }
    if (!cold) return WEFT_OK; // the steady state takes no lock
    weft_status st = WEFT_OK;
    pthread_mutex_lock(&j->lock);
    for (int i = 0; i < p->nstep && !st; i++)
        if (p->step[i].code) st = decide(j, &p->step[i], bind);
    pthread_mutex_unlock(&j->lock);
    return st;
}

weft_status jit_program_compile(struct jit *j, struct rt_program *p, const struct rt_bind *bind) {
    if (j->opts.backend == WEFT_BACKEND_INTERP) return WEFT_OK;
    weft_status st = WEFT_OK;
    pthread_mutex_lock(&j->lock);
    for (int i = 0; i < p->nstep && !st; i++)
        if (p->step[i].code)
            st = compile_now(j, (struct jit_entry *)(void *)p->step[i].code, bind);
    pthread_mutex_unlock(&j->lock);
    return st;
}

weft_status jit_program_keep(struct jit *j, struct rt_program *p, struct base_err *err) {
    if (j->opts.backend == WEFT_BACKEND_INTERP) return err_set(err, WEFT_EUNSUPPORTED, "the context only interprets");
    if (!j->store) return err_set(err, WEFT_EUNSUPPORTED, "the context keeps no machine code (docs/cache.md)");
    int missing = 0;
    pthread_mutex_lock(&j->lock);
    for (int i = 0; i < p->nstep; i++)
        if (p->step[i].code) missing += !compile_keep(j, (struct jit_entry *)(void *)p->step[i].code);
    pthread_mutex_unlock(&j->lock);
    if (!missing) return WEFT_OK;
    return err_set(err, WEFT_EUNSUPPORTED, "machine code of %d of %d steps could not be kept", missing, p->nstep);
}

weft_status jit_dump_step(struct jit *j, const struct fuse_step *s, const struct jit_look *how, struct base_vec *out,
                          struct base_err *err) {
    struct llvm_engine *engine = load_engine(j);
    if (!engine) return err_set(err, WEFT_EUNSUPPORTED, "LLVM is not available: %s", j->llvm_error);
    static const enum kern_isa levels[] = {
        [WEFT_ISA_SCALAR] = KERN_BASE, [WEFT_ISA_AVX2] = KERN_AVX2, [WEFT_ISA_AVX512] = KERN_AVX512,
        [WEFT_ISA_NEON] = KERN_BASE};
    enum kern_isa level = how->isa == WEFT_ISA_BEST ? j->env->isa : levels[how->isa];
    const size_t bytes = sizeof(uint32_t) * (size_t)(s->seg.nop + 1);
    struct seg seg = s->seg;
    uint32_t *node = base_get(&j->env->alloc, bytes);
    char sentence[256] = "", *text = NULL;
    if (!node) return err_set(err, WEFT_ENOMEM, "no memory for the dump");
    for (int i = 0; i < seg.nop; i++)
        node[i] = how->number[s->seg.node[i]];
    seg.node = node;
    bool ok = j->llvm->dump(engine, &seg, how->kind == WEFT_DUMP_ASM ? LLVM_DUMP_ASM : LLVM_DUMP_IR, level, &text,
                            sentence, sizeof sentence);
    base_put(&j->env->alloc, node, bytes);
    if (!ok) return err_set(err, WEFT_EUNSUPPORTED, "%s", sentence);
    vec_printf(out, "%s", text);
    base_put(&base_malloc, text, 1);
    return out->failed ? err_set(err, WEFT_ENOMEM, "no memory for the dump") : WEFT_OK;
}

weft_status jit_dump(struct jit *j, const struct fuse_plan *plan, const uint32_t *number, weft_dump_kind kind,
                     weft_isa isa, struct base_vec *out, struct base_err *err) {
    const struct jit_look how = {kind, isa, number};
    for (int i = 0; i < plan->nstep; i++) {
        if (!plan->step[i].nest.noperand) continue;
        vec_printf(out, "; step %d\n", i);
        TRY(jit_dump_step(j, &plan->step[i], &how, out, err));
    }
    return out->failed ? err_set(err, WEFT_ENOMEM, "no memory for the dump") : WEFT_OK;
}
